//! How far a loop comes that may be left before its trip count is up: the first iteration that leaves it, found by several threads which execute what
//! decides that (`search` in `struct __pg_info`) over some iterations at a time, in their order. Nothing is stored.
//!
//! Behind the iteration that leaves, the program may have nothing there: an array ends with what is looked for. So nobody reads a page that isn't there, or
//! that somebody else could take away meanwhile. Where such a page begins the search ends, as if the loop were left there; the program's own text goes on.
//! Not here: whether a search pays (`policy`), and what becomes of the iterations up to there (`entry`).

use super::predicate::Footprint;
use crate::abi::{Entry, Info, PG_MAX_DIMS, SearchFn};
use crate::device::pool::Pool;
use crate::floating_point::Flushing;
use crate::memory::readable::Readable;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// From so many bytes on the list of what may be read is made, which may have thousands of lines; less is asked for page by page.
const LISTED: u64 = 2 << 20;

/// So long the calling thread looks by itself, at least ...
const LEAST: Duration = Duration::from_micros(10);
/// ... and so long a thread before it asks for more.
const TOGETHER: Duration = Duration::from_micros(30);

/// Most iterations of a chunk: numbers of iterations don't overflow.
const MOST: i64 = 1 << 40;

/// Bytes that a search may read: from the first to one past the last.
pub type Bytes = (u64, u64);

/// What a search reads.
pub struct Places {
    prints: Vec<Footprint>,
    trip: [i64; PG_MAX_DIMS],
}

impl Places {
    /// Of an entry. `None`: it isn't known.
    ///
    /// # Safety
    /// `entry` was filled in by generated code for `info` and is alive.
    pub unsafe fn of(info: &Info, entry: &Entry) -> Option<Places> {
        // SAFETY: promised by the caller.
        let (bases, accesses) = unsafe { (entry.bases(info), entry.accesses(info)) };
        let print = |site: &u32| {
            let facts = info.sites().get(*site as usize)?;
            Footprint::of(facts, bases.get(facts.base as usize)?, accesses.get(*site as usize)?)
        };
        let prints = info.searched().iter().map(print).collect::<Option<_>>()?;
        Some(Places { prints, trip: entry.trip })
    }

    /// What loads read that don't move with dimension 0, in any iteration. `None`: no addresses.
    fn read_in_all(&self) -> Option<Vec<Bytes>> {
        self.bytes(0, 1, &|print| print.stride[0] == 0)
    }

    /// What the others read in iterations `begin` to `end` of dimension 0, at most.
    fn read_in(&self, begin: i64, end: i64) -> Option<Vec<Bytes>> {
        self.bytes(begin, end, &|print| print.stride[0] != 0)
    }

    /// What each reads in the first iteration.
    pub fn first(&self) -> Option<Vec<Bytes>> {
        self.bytes(0, 1, &|_| true)
    }

    /// What each reads in all iterations.
    pub fn all(&self) -> Option<Vec<Bytes>> {
        self.bytes(0, self.trip[0], &|_| true)
    }

    fn bytes(&self, begin: i64, end: i64, which: &dyn Fn(&Footprint) -> bool) -> Option<Vec<Bytes>> {
        let some = |print: &Footprint| {
            let moved = print.stride[0] * i128::from(begin);
            let mut part = Footprint { lo: print.lo + moved, hi: print.hi + moved, hull: None, ..*print };
            let mut trip = self.trip;
            trip[0] = end - begin;
            let (mut lo, mut hi) = part.total(&trip);
            part.hull = print.hull;
            if let Some((first, last)) = part.hull {
                (lo, hi) = (lo.max(first), hi.min(last));
            }
            // An iteration without a turn of some inner loop reads nothing.
            let hi = hi.max(lo);
            Some((u64::try_from(lo).ok()?, u64::try_from(hi).ok()?))
        };
        self.prints.iter().filter(|print| which(print)).map(some).collect()
    }
}

/// How a search goes about it.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// Iterations that the calling thread looks at first, if that takes it long enough to be measured; otherwise more.
    pub alone: i64,
    /// Iterations that a thread looks at before it asks for more; `None`: by what the first ones have taken.
    pub chunk: Option<i64>,
    /// Threads.
    pub threads: usize,
    /// Whether all that may be read belongs to arrays that are known as a whole. Elsewhere pages may be kept from everybody that the system lists as readable (`MADV_GUARD_INSTALL`, which
    /// stacks and allocators have), so each is asked for.
    pub are_arrays: bool,
}

/// What came of one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Found {
    /// Iterations of dimension 0 in front of the one that leaves the loop; all of them where none does.
    pub iterations: i64,
    /// Iterations that the calling thread has looked at first, and for how long.
    pub alone: (i64, Duration),
    /// Floating-point flags that the iterations up to the one that leaves have raised.
    pub flags: u32,
}

/// The first iteration that leaves a loop. `None`: it isn't one of those that the calling thread has looked at first, and with how long these took it wasn't to go on.
///
/// # Safety
/// `entry` was filled in by generated code for `info` and is alive, `search` is the loop's, `places` are the entry's, and no thread but the calling one may unmap memory that lies
/// there: no other than ours is the program's, or what is read belongs to objects that the loop reads itself.
pub unsafe fn first_to_leave(
    entry: &Entry,
    search: SearchFn,
    places: &Places,
    terms: Terms,
    goes_on: &dyn Fn(i64, Duration) -> bool,
    pool: &Pool,
) -> Option<Found> {
    let trip = entry.trip[0];
    let left = AtomicI64::new(trip);
    let sizes = places.all().into_iter().flatten().map(|(lo, hi)| hi - lo);
    let is_much = sizes.fold(0, u64::saturating_add) > LISTED;
    let readable = if is_much && terms.are_arrays { Readable::now() } else { Readable::default() };
    let are_there = |bytes: Vec<Bytes>| bytes.into_iter().all(|bytes| readable.has(bytes));
    // What raised flags, by where it ends.
    let raised = Mutex::new(Vec::new());
    let flushing = Flushing::of_caller();
    // A pointer that threads of ours may have: nobody changes the entry meanwhile.
    struct Shared<'a>(&'a Entry);
    // SAFETY: its tables are only read.
    unsafe impl Sync for Shared<'_> {}
    let shared = Shared(entry);
    let look = |begin: i64, all: i64| {
        let shared = &shared;
        let is_there = |end| places.read_in(begin, end).is_some_and(are_there);
        let mut end = all;
        while end > begin && !is_there(end) {
            end = begin + (end - begin) / 2;
        }
        let mut at = begin;
        if begin < end {
            // SAFETY: what these iterations read is there; the rest is promised by the caller.
            let flags = flushing.raised_by(|| at = unsafe { search(shared.0, &raw const left, begin, end) });
            let at_end = (at >= end && flags != 0).then_some((end, flags));
            raised.lock().unwrap_or_else(PoisonError::into_inner).extend(at_end);
        }
        if at < all {
            left.fetch_min(at.max(begin), Ordering::Relaxed);
        }
    };
    let mut alone = terms.alone.clamp(1, trip);
    let started = Instant::now();
    match places.read_in_all().is_some_and(are_there) {
        true => look(0, alone),
        false => left.store(0, Ordering::Relaxed),
    }
    let mut took = started.elapsed();
    // Nobody knows beforehand what an iteration of that takes.
    while terms.chunk.is_none() && took < LEAST && alone < left.load(Ordering::Relaxed) {
        let end = alone.saturating_mul(2).min(trip);
        look(alone, end);
        alone = end;
        took = started.elapsed();
    }
    let next = AtomicI64::new(alone);
    let measured = || (alone as f64 * TOGETHER.as_nanos() as f64 / took.as_nanos().max(1) as f64) as i64;
    let chunk = terms.chunk.unwrap_or_else(measured).clamp(1, MOST);
    let work = || {
        loop {
            let begin = next.fetch_add(chunk, Ordering::Relaxed);
            if begin >= left.load(Ordering::Relaxed) {
                return;
            }
            look(begin, begin.saturating_add(chunk).min(trip));
        }
    };
    if alone < left.load(Ordering::Relaxed) {
        if !goes_on(alone, took) {
            return None;
        }
        pool.run(terms.threads, &work);
    }
    let iterations = left.load(Ordering::Relaxed);
    let raised = raised.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut flags =
        raised.iter().filter(|(end, _)| *end <= iterations).fold(0, |all, (_, flags)| all | flags);
    // Those that come before the one that leaves, beside it, once more.
    let begin = if iterations < alone { 0 } else { alone + (iterations - alone) / chunk * chunk };
    if begin < iterations && iterations < trip {
        let nobody = AtomicI64::new(i64::MAX);
        flags |= flushing.raised_by(|| {
            // SAFETY: as above; the program would execute these iterations, too.
            let _ = unsafe { search(entry, &raw const nobody, begin, iterations) };
        });
    }
    Some(Found { iterations, alone: (alone.min(iterations), took), flags })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::{Access, Base, PG_SITE_HAS_AFFINE, Site, Value, nothing};

    /// Leaves where a byte is not zero.
    ///
    /// # Safety
    /// The entry is that of `found`.
    unsafe extern "C" fn search(entry: *const Entry, left: *const AtomicI64, begin: i64, end: i64) -> i64 {
        // SAFETY: the entry of `found`, and its bytes.
        unsafe {
            let bytes = (*(*entry).bases).pointer as *const u8;
            for at in begin..end {
                if (*left).load(Ordering::Relaxed) <= begin {
                    return end;
                }
                if *bytes.add(at as usize) != 0 {
                    return at;
                }
            }
        }
        end
    }

    fn found(bytes: &[u8], trip: i64, terms: Terms) -> Found {
        let sites = [Site { base: 0, width: 1, flags: PG_SITE_HAS_AFFINE, line: 0, slot: 0 }];
        let searched = [0u32];
        let info = crate::abi::Info {
            n_sites: 1,
            n_bases: 1,
            sites: sites.as_ptr(),
            search: Some(search),
            searched: searched.as_ptr(),
            n_searched: 1,
            ..nothing()
        };
        let mut bases = [Base { pointer: bytes.as_ptr() as u64, ..Base::default() }];
        let mut accesses = [Access { stride: [1, 0, 0, 0], lo: 0, hi: 1, first: 0, end: 0 }];
        let mut value = [Value(0)];
        let entry = Entry {
            info: &raw const info,
            trip: [trip, 1, 1, 1],
            values: value.as_mut_ptr(),
            results: std::ptr::null_mut(),
            bases: bases.as_mut_ptr(),
            accesses: accesses.as_mut_ptr(),
            pins: std::ptr::null_mut(),
        };
        // SAFETY: tables of this function's, which outlive the search.
        unsafe {
            let places = Places::of(&info, &entry).unwrap();
            first_to_leave(&entry, search, &places, terms, &|_, _| true, &Pool::default()).unwrap()
        }
    }

    #[test]
    fn the_first_of_several_is_found() {
        for size in [1usize, 2, 7, 100, 1000] {
            for (alone, chunk) in [(1, 1), (3, 7), (1000, 10), (10, 1000)] {
                let terms =
                    Terms { alone, chunk: (chunk < 1000).then_some(chunk), threads: 4, are_arrays: true };
                let mut bytes = vec![0u8; size];
                assert_eq!(found(&bytes, size as i64, terms).iterations, size as i64);
                for first in (0..size).rev().step_by(1 + size / 20) {
                    bytes[first] = 1;
                    assert_eq!(
                        found(&bytes, size as i64, terms).iterations,
                        first as i64,
                        "{size} {alone} {chunk}"
                    );
                }
            }
        }
    }

    #[test]
    fn what_is_not_there_is_not_read() {
        const PAGE: usize = 4096;
        // SAFETY: fresh memory of which the second half is taken away.
        let bytes = unsafe {
            let start = libc::mmap(
                std::ptr::null_mut(),
                4 * PAGE,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            );
            assert_ne!(start, libc::MAP_FAILED);
            assert_eq!(libc::mprotect(start.add(2 * PAGE), 2 * PAGE, libc::PROT_NONE), 0);
            std::slice::from_raw_parts(start.cast::<u8>(), 2 * PAGE)
        };
        let terms = Terms { alone: 100, chunk: Some(64), threads: 3, are_arrays: false };
        let end = found(bytes, 4 * PAGE as i64, terms).iterations;
        // It ends in the last piece that is there as a whole, or behind the half of what is there of the next one.
        assert!((2 * PAGE as i64 - 64..=2 * PAGE as i64).contains(&end), "{end}");
        // What is found before that counts.
        // The same by the list.
        let many =
            found(bytes, 4 << 20, Terms { alone: 1, chunk: Some(1 << 20), threads: 2, are_arrays: true })
                .iterations;
        assert!(many <= 2 * PAGE as i64 && many > 0, "{many}");
        // SAFETY: the first half may be stored to, and nobody reads it meanwhile.
        unsafe { bytes.as_ptr().cast_mut().add(5000).write(1) };
        assert_eq!(found(bytes, 4 * PAGE as i64, terms).iterations, 5000);
    }
}
