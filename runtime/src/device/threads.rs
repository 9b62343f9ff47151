//! The threads device: all cores of the host.
//!
//! As a [`Device`] it works on memory of its own, so that a machine without a GPU exercises the whole road of transfers,
//! translation, logs, checks and discarding. [`run_in_place`] is the other use of the same cores: a loop that is proven
//! parallel runs on the program's memory, split over the threads, with nothing to check.
//!
//! Threads are started for each launch: tens of microseconds, which a loop worth entering does not notice, and no idle
//! thread of ours is left behind in the program. They block all signals and take the starting thread's floating-point
//! environment; [`run_in_place`] hands their sticky exception flags back to the caller.

use super::{Device, DeviceError, DevicePtr, Launch, LogMethod, Outcome};
use crate::abi::{self, Entry, Info, RawLaunch, Value};
use crate::memory::safe_copy;
use crate::speculation::commit;
use std::alloc::{Layout, alloc, dealloc};
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

/// Alignment of every allocation.
const ALIGNMENT: usize = 256;

/// The device; see the module.
pub struct ThreadsDevice {
    threads: usize,
    allocations: HashMap<u64, Layout>,
}

impl ThreadsDevice {
    /// A device with so many threads.
    pub fn new(threads: usize) -> ThreadsDevice {
        ThreadsDevice { threads: threads.max(1), allocations: HashMap::new() }
    }

    /// Runs `work` once on each thread, the calling one among them, and waits.
    fn on_all(&self, work: &(dyn Fn() + Sync)) {
        on_threads(self.threads, work);
    }
}

/// Runs `work` on `threads` threads, the calling one among them, and waits. Where a thread can't be started the others do
/// its share: `work` takes its portions from a common counter.
fn on_threads(threads: usize, work: &(dyn Fn() + Sync)) {
    with_signals_blocked(|unblock| {
        std::thread::scope(|scope| {
            for _ in 1..threads {
                if std::thread::Builder::new().name("paragon".into()).spawn_scoped(scope, work).is_err() {
                    break;
                }
            }
            unblock();
            work();
        });
    });
}

/// Runs `start` with all signals blocked in the calling thread, so that threads started meanwhile block them; `start`
/// calls its argument when that is over.
fn with_signals_blocked(start: impl FnOnce(&dyn Fn())) {
    // SAFETY: plain signal-mask calls on local variables.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        let mut old: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut old);
        start(&|| {
            libc::pthread_sigmask(libc::SIG_SETMASK, &old, std::ptr::null_mut());
        });
    }
}

/// The SSE control and status register.
pub fn read_mxcsr() -> u32 {
    let mut value = 0u32;
    // SAFETY: stores 32 bits into a local variable.
    unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &mut value, options(nostack)) };
    value
}

/// Adds sticky exception flags (the low six bits) to the calling thread's register.
fn add_sticky_flags(flags: u32) {
    let value = read_mxcsr() | (flags & 0x3f);
    // SAFETY: only sticky flags change; the value was read from the register.
    unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &value, options(nostack, readonly)) };
}

/// Iterations in a portion of work: enough portions to balance, large enough to be worth taking.
fn portion(n: u64, threads: usize) -> u64 {
    (n / (threads as u64 * 8)).clamp(1, 1 << 20)
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

    fn copy_in(&mut self, host: u64, bytes: u64, to: DevicePtr) -> Result<(), DeviceError> {
        let failed = Mutex::new(None);
        let next = AtomicU64::new(0);
        const PART: u64 = 4 << 20;
        let copy = || {
            loop {
                let at = next.fetch_add(PART, Ordering::Relaxed);
                if at >= bytes {
                    return;
                }
                // SAFETY: the target range lies within an allocation of ours; parts are disjoint.
                let copied =
                    unsafe { safe_copy::read(host + at, PART.min(bytes - at), (to.0 + at) as *mut u8) };
                if let Err(e) = copied {
                    *failed.lock().unwrap_or_else(|p| p.into_inner()) = Some(e);
                }
            }
        };
        if bytes <= PART {
            copy()
        } else {
            self.on_all(&copy)
        }
        failed.into_inner().unwrap_or_else(|p| p.into_inner()).map_or(Ok(()), Err)
    }

    fn copy_out(&mut self, from: DevicePtr, to: &mut [u8]) -> Result<(), DeviceError> {
        // SAFETY: the source range lies within an allocation of ours.
        unsafe { std::ptr::copy_nonoverlapping(from.0 as *const u8, to.as_mut_ptr(), to.len()) };
        Ok(())
    }

    fn fill(&mut self, to: DevicePtr, word: u32, bytes: u64) -> Result<(), DeviceError> {
        // SAFETY: the range lies within an allocation of ours, aligned to words.
        unsafe { std::slice::from_raw_parts_mut(to.0 as *mut u32, (bytes / 4) as usize) }.fill(word);
        Ok(())
    }

    fn prepare(&mut self, _info: &Info, _method: LogMethod) -> Result<(), DeviceError> {
        Ok(())
    }

    fn run(&mut self, launch: &mut Launch<'_>) -> Result<Outcome, DeviceError> {
        let flags = [AtomicU32::new(0), AtomicU32::new(0)];
        let total = AtomicU64::new(0);
        let raw = RawLaunch {
            n: launch.n,
            trip: launch.trip,
            regions: launch.regions.as_ptr() as u64,
            anchors: launch.anchors.as_ptr() as u64,
            bases: launch.bases.as_ptr() as u64,
            values: launch.values.as_ptr() as u64,
            results: launch.results.as_mut_ptr() as u64,
            flags: flags.as_ptr() as u64,
            stop: launch.stop.as_ptr() as u64,
            wr: launch.wr.0,
            rd: launch.rd.0,
            total: total.as_ptr() as u64,
            n_regions: launch.regions.len() as u32,
            n_bases: launch.bases.len() as u32,
            log_shift: launch.log_shift,
            log_method: launch.method as u32,
        };
        let next = AtomicU64::new(0);
        let step = portion(launch.n, self.threads);
        let started = Instant::now();
        let device = launch.info.device;
        self.on_all(&|| {
            loop {
                let begin = next.fetch_add(step, Ordering::Relaxed);
                if begin >= raw.n || flags[0].load(Ordering::Relaxed) != 0 {
                    return;
                }
                // SAFETY: generated code for this loop; every table in `raw` outlives the call, addresses in the
                // regions are ours, and the code checks every address against them.
                unsafe { device(&raw, begin, (begin + step).min(raw.n)) };
            }
        });
        let mut outcome = Outcome { execute_ns: started.elapsed().as_nanos() as u64, ..Outcome::default() };
        outcome.fail = flags[0].load(Ordering::Relaxed);
        outcome.iteration = flags[1].load(Ordering::Relaxed);
        outcome.conflicts = u64::from(outcome.fail & (abi::PG_FAIL_WAW | abi::PG_FAIL_RAW) != 0);
        let logged = matches!(launch.method, LogMethod::Atomic | LogMethod::Reduction);
        if outcome.fail == 0 && logged {
            let started = Instant::now();
            self.check(launch, total.load(Ordering::Relaxed), &mut outcome);
            outcome.check_ns = started.elapsed().as_nanos() as u64;
        }
        Ok(outcome)
    }
}

impl ThreadsDevice {
    /// The checking kernel (the chapter, figures 4.5c and 4.6b): a cell with a writer and a reader that is not that
    /// writer; for the reduction method also more counted writes than written cells.
    fn check(&self, launch: &Launch<'_>, total: u64, outcome: &mut Outcome) {
        let cells = launch.cells as usize;
        // SAFETY: both logs are allocations of ours with `cells` words, and the launch is over.
        let (wr, rd) = unsafe {
            (
                std::slice::from_raw_parts(launch.wr.0 as *const u32, cells),
                std::slice::from_raw_parts(launch.rd.0 as *const u32, cells),
            )
        };
        let (distinct, meetings, example) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU32::new(0));
        let next = AtomicU64::new(0);
        const PART: usize = 1 << 16;
        let scan = || {
            loop {
                let begin = next.fetch_add(PART as u64, Ordering::Relaxed) as usize;
                if begin >= cells {
                    return;
                }
                let (mut written, mut met) = (0u64, 0u64);
                for cell in begin..(begin + PART).min(cells) {
                    let (w, r) = (wr[cell], rd[cell]);
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
        if cells <= PART {
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
        if launch.method == LogMethod::Reduction && total != distinct.into_inner() {
            outcome.fail |= abi::PG_FAIL_WAW;
            outcome.conflicts += 1;
        }
    }
}

/// Runs all iterations of a proven loop on the program's own memory, split over `threads` threads by dimension 0, and
/// combines the scalars given back into `results` (in: values at entry).
///
/// # Safety
/// `entry` was filled in by generated code for `info`, is alive, and the loop has been proven parallel for it.
pub unsafe fn run_in_place(info: &Info, entry: &Entry, first: i64, threads: usize, results: &mut [Value]) {
    struct Shared<'a>(&'a Entry);
    // SAFETY: generated code only reads the entry, and threads store to different memory, since the loop is parallel.
    unsafe impl Sync for Shared<'_> {}
    impl Shared<'_> {
        fn entry(&self) -> *const Entry {
            self.0
        }
    }
    let shared = Shared(entry);
    let end = entry.trip[0];
    let step = portion((end - first).max(0) as u64, threads) as i64;
    let next = AtomicU64::new(0);
    let sticky = AtomicU32::new(0);
    let combined: Mutex<(Vec<Value>, Vec<Value>)> = {
        let identities: Vec<Value> = info.results().iter().map(commit::identity).collect();
        Mutex::new((identities, results.to_vec()))
    };
    on_threads(threads, &|| {
        let mut partial: Vec<Value> = info.results().iter().map(commit::identity).collect();
        let mut last: Option<Vec<Value>> = None;
        loop {
            let begin = first + next.fetch_add(step as u64, Ordering::Relaxed) as i64;
            if begin >= end {
                break;
            }
            let stop = (begin + step).min(end);
            // SAFETY: as this function's contract says.
            unsafe { (info.direct)(shared.entry(), partial.as_mut_ptr(), begin, stop, std::ptr::null()) };
            if stop == end {
                last = Some(partial.clone());
            }
        }
        let mut all = combined.lock().unwrap_or_else(|p| p.into_inner());
        for (number, result) in info.results().iter().enumerate() {
            if result.op == abi::PG_LAST {
                if let Some(last) = &last {
                    all.1[number] = last[number];
                }
            } else {
                all.0[number] = commit::combine(result, all.0[number], partial[number]);
            }
        }
        sticky.fetch_or(read_mxcsr() & 0x3f, Ordering::Relaxed);
    });
    add_sticky_flags(sticky.into_inner());
    let (partials, lasts) = combined.into_inner().unwrap_or_else(|p| p.into_inner());
    for (number, result) in info.results().iter().enumerate() {
        results[number] = if result.op == abi::PG_LAST {
            lasts[number]
        } else {
            commit::combine(result, results[number], partials[number])
        };
    }
}
