//! The threads device: all cores of the host.
//!
//! As a [`Device`] it works on memory of its own, so that a machine without a GPU exercises the whole road of transfers,
//! translation, logs, checks and discarding. [`run_in_place`] is the other use of the same cores: a loop that is proven
//! parallel runs on the program's memory, split over the threads, with nothing to check.
//!
//! Both run on the threads of a [`Pool`]. What floating-point exception flags the loop raised there is handed back, so
//! that the caller's thread ends up with those that it would have raised itself.

use super::pool::Pool;
use super::{Device, DeviceError, DevicePtr, Launch, LogMethod, Outcome, Specialisation};
use crate::abi::{self, Entry, Info, PG_LOOP_FREE_CALLS, RawLaunch, Value};
use crate::errno;
use crate::floating_point::{self, Flushing};
use crate::memory::private_copies::PrivateCopies;
use crate::memory::safe_copy;
use crate::speculation::inspector::levels::Schedule;
use crate::speculation::{commit, parts};
use std::alloc::{Layout, alloc, dealloc};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Alignment of every allocation.
const ALIGNMENT: usize = 256;

/// What others may change or see of the device while it works.
#[derive(Debug)]
pub struct Width {
    /// Threads for the next launch, at least 1.
    pub threads: AtomicUsize,
    /// Floating-point exception flags that loops have raised; whoever commits a result takes them.
    pub raised: AtomicU32,
}

impl Width {
    /// So many threads.
    pub fn new(threads: usize) -> Width {
        Width { threads: AtomicUsize::new(threads.max(1)), raised: AtomicU32::new(0) }
    }
}

/// The device; see the module.
pub struct ThreadsDevice {
    pool: Pool,
    width: Arc<Width>,
    allocations: HashMap<u64, Layout>,
}

impl ThreadsDevice {
    /// A device on the pool's threads.
    pub fn new(pool: Pool, width: Arc<Width>) -> ThreadsDevice {
        ThreadsDevice { pool, width, allocations: HashMap::new() }
    }

    fn threads(&self) -> usize {
        self.width.threads.load(Ordering::Relaxed)
    }

    /// Runs `work` on all threads; it takes its portions from a counter of its own.
    fn on_all(&self, work: &(dyn Fn() + Sync)) {
        self.pool.run(self.threads(), work);
    }
}

/// Iterations in a portion of work: enough portions to balance, large enough to be worth taking.
fn portion(n: u64, threads: usize) -> u64 {
    (n / (threads as u64 * 8)).clamp(1, 1 << 20)
}

/// What the length of portions of iterations has to be a multiple of: where a call gives other bits in a vector than alone,
/// vectors have to begin at the same iterations however many threads there are. No vector of today's machines is longer. Loops
/// inside others run as a whole in any case.
pub fn vectors(info: &Info) -> u64 {
    if info.has(PG_LOOP_FREE_CALLS) && info.n_dims == 1 { 64 } else { 1 }
}

impl Device for ThreadsDevice {
    fn name(&self) -> &'static str {
        "threads"
    }

    fn allocate(&mut self, bytes: u64) -> Result<DevicePtr, DeviceError> {
        let size = usize::try_from(bytes.max(1)).map_err(|_| DeviceError::OutOfMemory(bytes))?;
        let layout = Layout::from_size_align(size, ALIGNMENT).map_err(|_| DeviceError::OutOfMemory(bytes))?;
        // SAFETY: the layout has a size of at least one.
        let pointer = unsafe { alloc(layout) } as u64;
        if pointer == 0 {
            return Err(DeviceError::OutOfMemory(bytes));
        }
        self.allocations.insert(pointer, layout);
        Ok(DevicePtr(pointer))
    }

    fn free(&mut self, pointer: DevicePtr) {
        if let Some(layout) = self.allocations.remove(&pointer.0) {
            // SAFETY: allocated above with this layout, and removed from the table.
            unsafe { dealloc(pointer.0 as *mut u8, layout) };
        }
    }

    fn copy_in(
        &mut self,
        pieces: &[(u64, u64, DevicePtr)],
        instead: &[(u64, u64, DevicePtr)],
    ) -> Result<(), DeviceError> {
        pieces.iter().chain(instead).try_for_each(|(host, bytes, to)| {
            // SAFETY: the target range lies within an allocation of ours.
            unsafe { safe_copy::read_on(&self.pool, self.threads(), *host, *bytes, to.0 as *mut u8) }
        })
    }

    fn copy_out(&mut self, pieces: &mut [(DevicePtr, &mut [u8])]) -> Result<(), DeviceError> {
        for (from, to) in pieces {
            // SAFETY: the source range lies within an allocation of ours.
            unsafe { std::ptr::copy_nonoverlapping(from.0 as *const u8, to.as_mut_ptr(), to.len()) };
        }
        Ok(())
    }

    fn duplicate(&mut self, from: DevicePtr, to: DevicePtr, bytes: u64) -> Result<(), DeviceError> {
        // Memory of ours is the process's own like any other.
        self.copy_in(&[(from.0, bytes, to)], &[])
    }

    fn fill(&mut self, to: DevicePtr, word: u32, bytes: u64) -> Result<(), DeviceError> {
        const PART: u64 = 1 << 20;
        let next = AtomicU64::new(0);
        let set = || {
            loop {
                let at = next.fetch_add(PART, Ordering::Relaxed);
                if at >= bytes {
                    return;
                }
                let words = (PART.min(bytes - at) / 4) as usize;
                // SAFETY: the range lies within an allocation of ours, aligned to words; parts are disjoint.
                unsafe {
                    let start = (to.0 + at) as *mut u32;
                    if word == 0 {
                        start.write_bytes(0, words);
                    } else {
                        (0..words).for_each(|i| start.add(i).write(word));
                    }
                }
            }
        };
        if bytes <= PART {
            set()
        } else {
            self.on_all(&set)
        }
        Ok(())
    }

    fn threads(&self) -> u64 {
        self.width.threads.load(Ordering::Relaxed) as u64
    }

    fn prepare(
        &mut self,
        _info: &Info,
        _loop_key: usize,
        kernel: Specialisation,
    ) -> Result<Specialisation, DeviceError> {
        Ok(kernel)
    }

    fn run(&mut self, launch: &mut Launch<'_>) -> Result<Outcome, DeviceError> {
        let flags = [AtomicU32::new(0), AtomicU32::new(0)];
        let total = AtomicU64::new(0);
        let whole = RawLaunch {
            regions: launch.regions.as_ptr() as u64,
            anchors: launch.anchors.as_ptr() as u64,
            bases: launch.bases.as_ptr() as u64,
            values: launch.values.as_ptr() as u64,
            results: launch.results.as_mut_ptr() as u64,
            flags: flags[0].as_ptr() as u64,
            stop: launch.stop.as_ptr() as u64,
            total: total.as_ptr() as u64,
            end: launch.n,
            ..launch.raw()
        };
        self.width.raised.store(0, Ordering::Relaxed);
        let started = Instant::now();
        let device = launch.info.device.ok_or_else(|| DeviceError::Kernel("none was generated".into()))?;
        for (first, count) in launch.portions() {
            let order = launch.schedule.map_or(0, |schedule| schedule.order[first..].as_ptr() as u64);
            let raw = RawLaunch { order, end: count, ..whole };
            let next = AtomicU64::new(0);
            let step = portion(count, self.threads());
            self.on_all(&|| {
                let raised = Flushing::off().raised_by(|| {
                    loop {
                        let begin = next.fetch_add(step, Ordering::Relaxed);
                        if begin >= count || flags[0].load(Ordering::Relaxed) != 0 {
                            return;
                        }
                        // SAFETY: generated code for this loop; every table in `raw` outlives the call, addresses in the
                        // regions are ours, and the code checks every address against them.
                        let errno = errno::left_by(|| unsafe {
                            device(&raw const raw, begin, (begin + step).min(count));
                        });
                        if errno != 0 {
                            flags[0].fetch_or(abi::PG_FAIL_ARITHMETIC, Ordering::Relaxed);
                        }
                    }
                });
                self.width.raised.fetch_or(raised, Ordering::Relaxed);
            });
        }
        let mut outcome = Outcome { execute_ns: started.elapsed().as_nanos() as u64, ..Outcome::default() };
        outcome.fail = flags[0].load(Ordering::Relaxed);
        outcome.iteration = flags[1].load(Ordering::Relaxed);
        outcome.conflicts = u64::from(outcome.fail & (abi::PG_FAIL_WAW | abi::PG_FAIL_RAW) != 0);
        if outcome.fail == 0 && launch.method().detects() && !launch.settles {
            let started = Instant::now();
            self.check(launch, total.load(Ordering::Relaxed), &mut outcome);
            outcome.check_ns = started.elapsed().as_nanos() as u64;
        }
        Ok(outcome)
    }
}

impl ThreadsDevice {
    /// The checking kernel (the chapter, figures 4.5c and 4.6b): a cell with a writer and a reader that is not that
    /// writer, of bitmaps a bit in both; where writes are counted also more of them than written cells; of stamps a reader behind the
    /// first writer, or that writer where there is another one. A guess has one writer only.
    fn check(&self, launch: &Launch<'_>, total: u64, outcome: &mut Outcome) {
        let words = launch.log_words as usize;
        let method = launch.method();
        let log = |log: DevicePtr, words: usize| match log.0 {
            0 => None,
            // SAFETY: an allocation of ours with so many words, and the launch is over.
            at => Some(unsafe { std::slice::from_raw_parts(at as *const u32, words) }),
        };
        let of_cell = if method == LogMethod::Stamp { launch.stamp_words as usize } else { 1 };
        let (Some(wr), rd) = (log(launch.wr, words * of_cell), log(launch.rd, words)) else { return };
        let (distinct, meetings, example) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU32::new(0));
        let next = AtomicU64::new(0);
        const PART: usize = 1 << 16;
        let scan = || {
            loop {
                let begin = next.fetch_add(PART as u64, Ordering::Relaxed) as usize;
                if begin >= words {
                    return;
                }
                let (mut written, mut met) = (0u64, 0u64);
                let part = begin..(begin + PART).min(words);
                if launch.written.0 != 0 {
                    for cells in part.clone().step_by(32) {
                        let cell = |cell: usize| u32::from(wr[cell * of_cell] != 0) << (cell % 32);
                        let word = (cells..(cells + 32).min(words)).map(cell).sum();
                        let place = (launch.written.0 as *mut u32).wrapping_add(cells / 32);
                        // SAFETY: an allocation of ours with a bit for each cell; parts begin with a word, so it is this thread's.
                        unsafe { place.write(word) };
                    }
                }
                for word in part {
                    let (w, r) = (wr[word * of_cell], rd.map_or(0, |rd| rd[word]));
                    if method == LogMethod::Stamp {
                        let stamp = |number: u32| wr[word * of_cell + number as usize];
                        let (first, r) = match launch.stamp_words {
                            abi::PG_STAMP_WORDS_READ => {
                                (!stamp(abi::PG_STAMP_FIRST), stamp(abi::PG_STAMP_READER))
                            }
                            abi::PG_GUESS_WORDS_READ => (w, stamp(abi::PG_GUESS_READER)),
                            _ => (w, 0),
                        };
                        // Where the first writer is known unsettled, not written.
                        let is_known = launch.stamp_words == abi::PG_STAMP_WORDS_READ;
                        written += u64::from(w != 0 && (!is_known || first != w));
                        if w != 0 && (r > first || r == first && first != w) {
                            met += 1;
                            example.store(r - 1, Ordering::Relaxed);
                        }
                        continue;
                    }
                    if method == LogMethod::Bitmap {
                        written += u64::from(w.count_ones());
                        met += u64::from((w & r).count_ones());
                        continue;
                    }
                    written += u64::from(w != 0);
                    if w != 0 && r != 0 && r != w {
                        met += 1;
                        example.store(w - 1, Ordering::Relaxed);
                    }
                }
                distinct.fetch_add(written, Ordering::Relaxed);
                meetings.fetch_add(met, Ordering::Relaxed);
            }
        };
        if words <= PART {
            scan()
        } else {
            self.on_all(&scan)
        }
        let meetings = meetings.into_inner();
        outcome.conflicts += meetings;
        if meetings != 0 {
            outcome.fail |= abi::PG_FAIL_RAW;
            outcome.iteration = example.into_inner();
        }
        let counted = distinct.into_inner();
        outcome.unsettled = launch.unsettled(total, counted);
        if launch.counts() && total != counted {
            outcome.fail |= abi::PG_FAIL_WAW;
            outcome.conflicts += 1;
        }
    }
}

/// Which iterations of dimension 0 run in place.
#[derive(Clone, Copy)]
pub enum Share<'a> {
    /// From this one on, all at once.
    From(i64),
    /// From this one on, all at once, each thread on its own copies of some arrays; whoever runs the last iteration runs it on the
    /// arrays themselves.
    WithCopies(i64, &'a PrivateCopies),
    /// All, level by level. Only for loops of one dimension.
    ByLevel(&'a Schedule),
}

/// What iterations leave behind besides memory and results.
#[derive(Clone, Copy, Default, Debug)]
pub struct Raised {
    /// Floating-point exception flags.
    pub flags: u32,
    /// `errno`.
    pub errno: errno::Last,
}

/// Calls its last argument for each run of ascending iterations at the places from the first to before the second argument.
type Runs<'a> = &'a (dyn Fn(u64, u64, &mut dyn FnMut(i64, i64)) + Sync);

/// Runs iterations of a proven loop on the program's own memory, split over `threads` threads by dimension 0, and goes on
/// with the scalars given back from `results`, which are those after the iterations before. Returns the floating-point
/// exception flags that they raised, and `errno`. Where results are computed in parts, the first iteration begins a block, there is no
/// schedule, and threads take whole blocks: who runs which one can't be seen in the result.
///
/// # Safety
/// `entry` was filled in by generated code for `info`, is alive, and the loop has been proven parallel for it; by level, if
/// a schedule is given.
pub unsafe fn run_in_place(
    pool: &Pool,
    info: &Info,
    entry: &Entry,
    share: Share<'_>,
    threads: usize,
    results: &mut [Value],
) -> Raised {
    struct Shared<'a>(&'a Entry, Option<&'a PrivateCopies>);
    // SAFETY: generated code only reads the entry, and threads store to different memory, since the loop is parallel.
    unsafe impl Sync for Shared<'_> {}
    impl Shared<'_> {
        /// The entry for iterations of a thread that has these copies. The last one leaves what the program finds after the loop.
        fn entry(&self, copies: Option<usize>, is_last: bool) -> Option<Entry> {
            match self.1 {
                Some(own) if !is_last => own.entry(self.0, copies?),
                _ => Some(*self.0),
            }
        }
    }
    let copies = match share {
        Share::WithCopies(_, copies) => Some(copies),
        Share::From(_) | Share::ByLevel(_) => None,
    };
    let shared = Shared(entry, copies);
    let flushing = Flushing::of_caller();
    let end = entry.trip[0];
    let in_parts = parts::has_parts(info);
    let sticky = AtomicU32::new(0);
    let failed: Mutex<errno::Last> = Mutex::default();
    // What iterations from the first of these numbers on gave; together they are all iterations.
    let done: Mutex<Vec<(i64, Vec<Value>)>> = Mutex::default();
    let identities: Vec<Value> = info.results().iter().map(commit::identity).collect();
    // All threads take portions of `count` places; what is at a place, `iterations` says, in runs of ascending ones.
    let at_once = |count: u64, iterations: Runs<'_>| {
        let step = match in_parts {
            true => parts::block(info, &entry.trip) as u64,
            false => portion(count, threads).next_multiple_of(vectors(info)),
        };
        let next = AtomicU64::new(0);
        let thread = AtomicUsize::new(0);
        pool.run(threads, &|| {
            let number = thread.fetch_add(1, Ordering::Relaxed);
            let mut own: Vec<(i64, Vec<Value>)> = Vec::new();
            let mut own_failed = errno::Last::default();
            let raised = flushing.raised_by(|| {
                let mut running = parts::Running::new(info, &identities);
                let mut last = None;
                loop {
                    let begin = next.fetch_add(step, Ordering::Relaxed);
                    if begin >= count {
                        break;
                    }
                    iterations(begin, count.min(begin.saturating_add(step)), &mut |begin, stop| {
                        // There are as many copies as threads.
                        let entry = shared.entry(Some(number), stop == end).expect("a thread without copies");
                        // SAFETY: as this function's contract says.
                        let run = || unsafe { running.run(info, &entry, begin, stop) };
                        own_failed.add(begin, errno::left_by(run));
                        if in_parts {
                            own.push((begin, running.results().to_vec()));
                            running = parts::Running::new(info, &identities);
                        } else {
                            last = last.max(Some(begin));
                        }
                    });
                }
                own.extend(last.map(|begin| (begin, running.results().to_vec())));
            });
            sticky.fetch_or(raised, Ordering::Relaxed);
            failed.lock().unwrap_or_else(PoisonError::into_inner).join(own_failed);
            done.lock().unwrap_or_else(PoisonError::into_inner).append(&mut own);
        });
    };
    match share {
        Share::From(first) | Share::WithCopies(first, _) => {
            at_once((end - first).max(0) as u64, &|begin, stop, run| {
                run(first + begin as i64, first + stop as i64);
            })
        }
        Share::ByLevel(schedule) => {
            for level in schedule.levels() {
                let level = &schedule.order[level];
                at_once(level.len() as u64, &|begin, stop, run| {
                    let portion = &level[begin as usize..stop as usize];
                    for ascending in portion.chunk_by(|a, b| *b == a + 1) {
                        run(i64::from(ascending[0]), i64::from(ascending[ascending.len() - 1]) + 1);
                    }
                });
            }
        }
    }
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(begin, _)| *begin);
    let raised = floating_point::raised_by(|| {
        done.iter().for_each(|(_, block)| parts::go_on(info, results, block));
    });
    let errno = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    Raised { flags: sticky.into_inner() | raised, errno }
}
