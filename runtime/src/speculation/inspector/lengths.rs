//! Only how many turns iterations have, where nobody inspects their addresses: their slice is asked for nothing else (`counts` in
//! `struct __pg_inspector`), so innermost loops that stand in no other one but the loop itself, and whose heads tell their turns, are counted, not run. What they come to is an order for a GPU
//! ([`turns`](super::turns)), which is used without being looked at again: whatever it was made of, it has every iteration once.
//!
//! What the slice loads is memory of the entry's arrays, which has been looked at before: a page that isn't there ends it, as does an
//! address outside of them, which the loop may have once it has stored something.

use super::key_values;
use super::turns::{Noted, Order};
use crate::abi::*;
use crate::floating_point::Flushing;
use crate::memory::safe_copy;
use crate::speculation::race::Helpers;
use std::ffi::c_int;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, Instant};

/// Bytes of memory that are looked at together, for whether they are there: from one address that so many divide to the next.
const PIECE: u64 = 1 << 14;
/// Iterations that are worth another thread.
const OF_THREAD: i64 = 1 << 13;
/// Iterations after which the clock is looked at.
const CLOCK_EVERY: u64 = 1 << 8;
/// Nanoseconds that an iteration takes, as it is expected, with all that is done once.
const EXPECTED_NS: u64 = 30;

/// Places of an entry that are looked at again, ...
const PLACES: u64 = 8;
/// ... so many iterations at each.
const OF_PLACE: u64 = 4;
/// Entries after which that is done.
const LOOKS_EVERY: u32 = 16;

/// One thread's part. Generated code sees its first field only.
#[repr(C)]
struct Counter<'a> {
    raw: RawInspector,
    /// From which address to which the slice may load.
    arrays: &'a [(u64, u64)],
    /// Pieces that are there, as their first addresses.
    there: Vec<u64>,
    scratch: Vec<u8>,
    note: &'a dyn Fn(u64, u32),
    deadline: Instant,
    /// Of the iterations that are counted together: the first one, the one that is, and how many turns there were before it.
    first: u64,
    current: u64,
    before: u32,
    is_over: bool,
}

/// # Safety
/// `raw` is what [`Counter::count`] lends to generated code, and nobody else uses it meanwhile; here and below.
unsafe extern "C" fn touch(raw: *mut RawInspector, _: u32, address: u64, how: u32) -> c_int {
    // SAFETY: generated code hands over what it was given: a counter's first field.
    let counter = unsafe { &mut *raw.cast::<Counter<'_>>() };
    if how & PG_TOUCH_FEEDS == 0 {
        // It isn't loaded, and nobody asks whom it meets.
        (counter.raw.first, counter.raw.length) = (0, u64::MAX);
        return 0;
    }
    let width = u64::from(how >> PG_TOUCH_WIDTH & 0xff).max(1);
    counter.is_over |= !counter.may_load(address, width);
    c_int::from(counter.is_over)
}

/// # Safety
/// See `touch`.
unsafe extern "C" fn next(raw: *mut RawInspector) -> c_int {
    // SAFETY: as above.
    let counter = unsafe { &mut *raw.cast::<Counter<'_>>() };
    counter.note_turns();
    if counter.current.is_multiple_of(CLOCK_EVERY) {
        counter.look_at_clock();
    }
    c_int::from(counter.is_over)
}

/// # Safety
/// See `touch`.
unsafe extern "C" fn poll(raw: *mut RawInspector) -> c_int {
    // SAFETY: as above.
    let counter = unsafe { &mut *raw.cast::<Counter<'_>>() };
    counter.look_at_clock();
    c_int::from(counter.is_over)
}

impl<'a> Counter<'a> {
    fn new(arrays: &'a [(u64, u64)], note: &'a dyn Fn(u64, u32), deadline: Instant) -> Counter<'a> {
        let raw = RawInspector {
            touch,
            next,
            poll,
            known: 0,
            first: 0,
            length: 0,
            lasting: u64::MAX,
            turns: 0,
            counts: 1,
        };
        let (there, scratch) = (Vec::new(), vec![0; PIECE as usize]);
        Counter {
            raw,
            arrays,
            there,
            scratch,
            note,
            deadline,
            first: 0,
            current: 0,
            before: 0,
            is_over: false,
        }
    }

    fn look_at_clock(&mut self) {
        self.is_over |= Instant::now() > self.deadline;
    }

    /// Whether what lies there may be loaded. What may be from then on without being asked for is the piece that it lies in.
    fn may_load(&mut self, address: u64, width: u64) -> bool {
        let Some(end) = address.checked_add(width) else { return false };
        let Some((lo, hi)) = self.arrays.iter().find(|(lo, hi)| *lo <= address && end <= *hi) else {
            return false;
        };
        let (first, last) = (address & !(PIECE - 1), (end - 1) & !(PIECE - 1));
        let (from, to) = (first.max(*lo), (first + PIECE).min(*hi));
        let (next_from, next_to) = (last.max(*lo), (last + PIECE).min(*hi));
        if !self.is_there(from, to) || last != first && !self.is_there(next_from, next_to) {
            return false;
        }
        (self.raw.first, self.raw.length) = (from, (to - from + 1).saturating_sub(width));
        true
    }

    /// Whether a piece of an array is there, from one address to another.
    fn is_there(&mut self, from: u64, to: u64) -> bool {
        let place = match self.there.binary_search(&from) {
            Ok(_) => return true,
            Err(place) => place,
        };
        // SAFETY: a buffer with room for a piece.
        let read = unsafe { safe_copy::read(from, to - from, self.scratch.as_mut_ptr()) };
        if read.is_ok() {
            self.there.insert(place, from);
        }
        read.is_ok()
    }

    /// In front of each iteration, and behind the last: how many turns the one before had.
    fn note_turns(&mut self) {
        if self.current != self.first {
            (self.note)(self.current - 1, self.raw.turns.wrapping_sub(self.before));
        }
        self.before = self.raw.turns;
        self.current += 1;
    }

    /// Counts some iterations. False: it has come to an end before.
    ///
    /// # Safety
    /// `entry` was filled in by the generated code that `slice` is of, and is alive.
    unsafe fn count(&mut self, entry: *const Entry, slice: InspectFn, begin: i64, end: i64) -> bool {
        (self.first, self.current) = (begin as u64, begin as u64);
        (self.raw.turns, self.before) = (0, 0);
        // SAFETY: promised by the caller; what it loads is looked at before. It hands the counter back to its functions only, whose first field is
        // what the pointer leads to, and nobody else uses it meanwhile.
        unsafe { slice(entry, std::ptr::from_mut(self).cast(), begin, end) };
        if !self.is_over {
            self.note_turns();
        }
        !self.is_over
    }
}

/// An entry, for several threads: they only look at it.
#[derive(Clone, Copy)]
struct Common(*const Entry);

// SAFETY: its pointers lead to tables that nobody changes while the loop is entered.
unsafe impl Sync for Common {}

impl Common {
    fn get(&self) -> *const Entry {
        self.0
    }
}

/// What is counted for entries with the same numbers.
pub struct Lengths {
    trip: [i64; PG_MAX_DIMS],
    values: Vec<Value>,
    /// The order, where it was counted and is worth something.
    pub order: Option<Arc<Order>>,
    is_counted: bool,
    /// How many turns those had that are [`looked_at`] again.
    some: Vec<u32>,
    /// Entries since it began, or was counted.
    entries: u32,
}

/// When turns are counted.
#[derive(Clone, Copy, Debug)]
pub struct When {
    /// At once; else when entries would have gained as much as it takes.
    pub at_once: bool,
    /// What an entry may gain by an order.
    pub gain: Duration,
    /// Not where it is expected to take longer.
    pub most: Duration,
    /// Whether any order is worth something: for tests.
    pub always: bool,
}

/// The iterations that are looked at again, of so many.
fn looked_at(iterations: u64) -> impl Iterator<Item = Range<u64>> {
    let last = iterations.saturating_sub(OF_PLACE);
    let firsts = (0..PLACES).map(move |place| (iterations * (2 * place + 1) / (2 * PLACES)).min(last));
    firsts.map(move |first| first..(first + OF_PLACE).min(iterations))
}

/// Whether turns can be counted at all: of iterations that stand for themselves, by loops whose lanes a GPU may run side by side.
pub fn may_count(info: &Info) -> bool {
    info.n_dims == 1 && info.n_results == 0 && info.has(PG_LOOP_SPREADS) && info.inspect.is_some()
}

impl Lengths {
    /// Of an entry that is the first one with its numbers.
    ///
    /// # Safety
    /// `entry` was filled in by generated code for `info`, and is alive; here and below.
    pub unsafe fn new(info: &Info, entry: &Entry) -> Lengths {
        // SAFETY: promised by the caller.
        let values = unsafe { key_values(info, entry) };
        Lengths { trip: entry.trip, values, order: None, is_counted: false, some: Vec::new(), entries: 0 }
    }

    /// Whether these are the lengths of an entry with the same numbers.
    ///
    /// # Safety
    /// See [`Lengths::new`].
    pub unsafe fn is_for(&self, info: &Info, entry: &Entry) -> bool {
        // SAFETY: promised by the caller.
        self.trip == entry.trip && self.values == unsafe { key_values(info, entry) }
    }

    /// An entry with its numbers: counts turns if it is time to, and looks now and then whether what was counted is still so. True: it has counted.
    /// `arrays`: from which address to which the slice may load.
    ///
    /// # Safety
    /// See [`Lengths::new`].
    pub unsafe fn enter(
        &mut self,
        info: &Info,
        entry: &Entry,
        arrays: &[(u64, u64)],
        (pool, threads): Helpers<'_>,
        when: When,
    ) -> bool {
        let Some(slice) = info.inspect.filter(|_| may_count(info)) else { return false };
        let trip = entry.trip[0];
        self.entries = self.entries.saturating_add(1);
        if self.is_counted {
            let looks = self.entries.is_multiple_of(LOOKS_EVERY) && !self.some.is_empty();
            // SAFETY: promised by the caller, here and below.
            let now = || unsafe { found(slice, entry, trip, arrays) };
            if !looks || now().is_some_and(|now| are_alike(&self.some, &now)) {
                return false;
            }
            (self.is_counted, self.order, self.entries) = (false, None, 1);
        }
        let expected = Duration::from_nanos(trip.unsigned_abs().saturating_mul(EXPECTED_NS));
        let has_earned = when.at_once || when.gain.saturating_mul(self.entries - 1) >= expected;
        if !has_earned || !when.always && expected > when.most {
            return false;
        }
        (self.is_counted, self.entries) = (true, 0);
        let threads = (threads as i64).min(trip / OF_THREAD).max(1) as usize;
        // SAFETY: as above.
        let noted =
            unsafe { counted(slice, entry, trip, arrays, (pool, threads), when.most * 4, when.always) };
        self.order = noted.as_ref().and_then(Noted::order).map(Arc::new);
        let of_each = |noted: Noted| looked_at(trip.unsigned_abs()).flatten().map(|k| noted.of(k)).collect();
        self.some = noted.map_or_else(Vec::new, of_each);
        true
    }
}

/// Counts the turns of all iterations, on so many threads. `None`: it takes longer than `most`, or something isn't there. Loops of the slice may be
/// endless, because what a counted one would have set is missing behind it: all of them come to `poll`.
///
/// # Safety
/// `entry` was filled in by the generated code that `slice` is of, and is alive.
unsafe fn counted(
    slice: InspectFn,
    entry: *const Entry,
    trip: i64,
    arrays: &[(u64, u64)],
    (pool, threads): Helpers<'_>,
    most: Duration,
    always: bool,
) -> Option<Noted> {
    let noted = Noted::new(trip.unsigned_abs(), always)?;
    let (deadline, is_over, taken) = (Instant::now() + most, AtomicBool::new(false), AtomicI64::new(0));
    let portion = (trip / threads as i64 + 1).max(1);
    let (flushing, common) = (Flushing::of_caller(), Common(entry));
    pool.run(threads, &|| {
        let note = |iteration: u64, turns: u32| noted.note(iteration, turns);
        let mut counter = Counter::new(arrays, &note, deadline);
        flushing.raised_by(|| {
            loop {
                let begin = taken.fetch_add(portion, Ordering::Relaxed);
                if begin >= trip || is_over.load(Ordering::Relaxed) {
                    return;
                }
                // SAFETY: promised by the caller.
                if !unsafe { counter.count(common.get(), slice, begin, trip.min(begin + portion)) } {
                    is_over.store(true, Ordering::Relaxed);
                }
            }
        });
    });
    (!is_over.into_inner()).then_some(noted)
}

/// Counts those that are looked at again.
///
/// # Safety
/// As for [`counted`].
unsafe fn found(slice: InspectFn, entry: *const Entry, trip: i64, arrays: &[(u64, u64)]) -> Option<Vec<u32>> {
    let found = std::cell::RefCell::new(Vec::new());
    let note = |_: u64, turns: u32| found.borrow_mut().push(turns);
    let mut counter = Counter::new(arrays, &note, Instant::now() + Duration::from_millis(1));
    let mut is_complete = false;
    Flushing::of_caller().raised_by(|| {
        is_complete = looked_at(trip.unsigned_abs()).all(|Range { start, end }| {
            // SAFETY: promised by the caller.
            unsafe { counter.count(entry, slice, start as i64, end as i64) }
        });
    });
    is_complete.then_some(found.into_inner())
}

/// Whether most of some numbers of turns are about the same: what isn't costs time, and to count all of them anew does, too.
fn are_alike(were: &[u32], are: &[u32]) -> bool {
    let differs = |(was, is): (&u32, &u32)| was.abs_diff(*is) > (*was).max(*is) / 4;
    were.len() == are.len() && were.iter().zip(are).filter(|pair| differs(*pair)).count() * 4 <= are.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::pool::Pool;

    const FEEDS: u32 = PG_TOUCH_FEEDS | 4 << PG_TOUCH_WIDTH;

    /// What stands for an entry: where rows end.
    struct Rows(*const i32);

    /// As generated code has it, with loops that are counted.
    ///
    /// # Safety
    /// `entry` is a [`Rows`], whose memory has as many ends as the loop has iterations; `raw` is the inspector's.
    unsafe extern "C" fn slice(entry: *const Entry, raw: *mut RawInspector, begin: i64, end: i64) {
        // SAFETY: the tests' own.
        unsafe {
            let ends = (*entry.cast::<Rows>()).0;
            let mut turns = 0u32;
            for k in begin..end {
                (*raw).turns = turns;
                if ((*raw).next)(raw) != 0 {
                    return;
                }
                for (site, place) in [(0, k), (1, k + 1)] {
                    if ((*raw).touch)(raw, site, ends.offset(place as isize) as u64, FEEDS) != 0 {
                        return;
                    }
                }
                assert_eq!((*raw).counts, 1);
                // What is only shown may be anywhere.
                for how in [PG_TOUCH_STORE, PG_TOUCH_SEEN, PG_TOUCH_MEETS] {
                    assert_eq!(((*raw).touch)(raw, 2, 8, how | 8 << PG_TOUCH_WIDTH), 0);
                }
                turns = turns.wrapping_add((*ends.offset(k as isize + 1) - *ends.offset(k as isize)) as u32);
            }
            (*raw).turns = turns;
        }
    }

    fn count(ends: &[i32], arrays: &[(u64, u64)], threads: usize) -> Option<Vec<u32>> {
        let (rows, pool) = (Rows(ends.as_ptr()), Pool::default());
        let entry = (&raw const rows).cast();
        let trip = ends.len() as i64 - 1;
        // SAFETY: the slice is of such an entry.
        let noted =
            unsafe { counted(slice, entry, trip, arrays, (&pool, threads), Duration::from_secs(1000), true) };
        noted.map(|noted| noted.all())
    }

    fn ends(rows: usize) -> (Vec<i32>, Vec<u32>) {
        let lengths: Vec<u32> = (0..rows as u32).map(|row| row.wrapping_mul(2_654_435_761) >> 22).collect();
        let mut ends = vec![0];
        lengths.iter().for_each(|length| ends.push(ends[ends.len() - 1] + *length as i32));
        (ends, lengths)
    }

    fn array(ends: &[i32]) -> (u64, u64) {
        let range = ends.as_ptr_range();
        (range.start as u64, range.end as u64)
    }

    #[test]
    fn every_row_is_counted() {
        for (rows, threads) in [(1, 1), (1, 3), (4999, 1), (50_000, 1), (50_000, 4)] {
            let (ends, lengths) = ends(rows);
            assert_eq!(count(&ends, &[(1, 5), array(&ends)], threads), Some(lengths), "{rows} {threads}");
        }
    }

    #[test]
    fn nothing_is_loaded_outside_of_arrays() {
        let (ends, _) = ends(4999);
        let (lo, hi) = array(&ends);
        for arrays in [&[][..], &[(lo, hi - 1)], &[(lo + 1, hi)], &[(lo, lo + 4000), (lo + 4000, hi - 4)]] {
            assert_eq!(count(&ends, arrays, 1), None, "{arrays:?}");
        }
        // Side by side they are one to nobody.
        assert!(count(&ends, &[(lo, lo + 4000), (lo + 4000, hi)], 1).is_some());
    }

    #[test]
    fn memory_that_is_not_there_is_not_loaded() {
        let (there, all) = (2 * PIECE, 5 * PIECE as usize);
        // SAFETY: a mapping of ours, of which what comes behind two whole pieces is given back.
        let (memory, start) = unsafe {
            let how = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let memory =
                libc::mmap(std::ptr::null_mut(), all, libc::PROT_READ | libc::PROT_WRITE, how, -1, 0);
            let start = (memory as u64).next_multiple_of(PIECE);
            let end = memory as u64 + all as u64;
            let behind = start + there;
            assert_eq!(libc::munmap(behind as *mut libc::c_void, (end - behind) as usize), 0);
            (memory, start)
        };
        let rows = Rows(start as *const i32);
        let count = |trip: u64| {
            let (entry, array) = ((&raw const rows).cast(), (start, start + 3 * PIECE));
            let helpers = (&Pool::default(), 1);
            // SAFETY: the slice is of such an entry, and what it may load is looked at.
            unsafe { counted(slice, entry, trip as i64, &[array], helpers, Duration::from_secs(1000), true) }
        };
        assert!(count(there / 4 - 1).is_some());
        assert!(count(there / 4).is_none());
        // SAFETY: ours.
        unsafe { libc::munmap(memory, (start + there) as usize - memory as usize) };
    }

    #[test]
    fn some_are_looked_at_again() {
        for rows in [1, 3, 5, 4999] {
            let (ends, lengths) = ends(rows);
            let rows = Rows(ends.as_ptr());
            let (entry, trip) = ((&raw const rows).cast(), lengths.len() as i64);
            // SAFETY: as above.
            let now = unsafe { found(slice, entry, trip, &[array(&ends)]) }.unwrap();
            let were: Vec<u32> = looked_at(trip as u64).flatten().map(|row| lengths[row as usize]).collect();
            assert_eq!(now, were);
            assert!(are_alike(&were, &now));
            // SAFETY: as above.
            assert!(unsafe { found(slice, entry, trip, &[]) }.is_none());
        }
        assert!(are_alike(&[100, 100, 100, 100], &[100, 90, 110, 300]));
        assert!(!are_alike(&[100, 100, 100, 100], &[100, 90, 30, 300]));
        assert!(!are_alike(&[100, 100, 100, 100], &[100, 100, 100]));
    }
}
