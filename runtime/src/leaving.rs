//! The end of the process. The GPU's driver and compiler tear themselves down in exit handlers of their own, and must not be inside of a
//! call then: so before any of these handlers runs, their work is stopped and waited for.
//!
//! Handlers run in the reverse order of their registration, and both libraries register theirs when they are loaded and whenever they
//! like. Destructors of the exiting thread's own variables run before all handlers, so there the wait is arranged for in each thread
//! that gives the GPU work ([`arrange_first`]). They can't tell whether the thread exits or only ends: the main thread is taken to exit (one
//! that only ends, which is rare, loses speed), others wait in any case, which is not for long, because loops that nobody waits for are
//! stopped. For threads that never gave the GPU work our handler is registered again each time after one of the libraries was loaded.

use crate::device::TOLD_TO_STOP;
use crate::process::Process;
use crate::stacks;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// So long the process waits at most, whoever asks. To compile a kernel takes a second or two where all cores are busy, and a library that is torn down
/// meanwhile ends the process by a fault.
const PATIENCE: Duration = Duration::from_secs(10);

static LEAVING: AtomicBool = AtomicBool::new(false);
/// When the process has begun to end.
static SINCE: OnceLock<Instant> = OnceLock::new();
static PROCESS: OnceLock<Process> = OnceLock::new();
/// A thread for each: the GPU's first, then those that compile kernels ahead of it.
static SEATS: [Seat; 1 + COMPILERS] = [const { Seat::new() }; 1 + COMPILERS];

/// Most threads that compile kernels ahead.
pub const COMPILERS: usize = 4;
/// The seat of the GPU's thread; those of the others follow.
pub const GPU: usize = 0;

/// What is known of one of the threads that may be inside of the libraries.
struct Seat {
    is_working: AtomicBool,
    /// How often [`Working::begin`] was called.
    times: AtomicU32,
    /// The stop word of the job that it is at.
    under_way: Mutex<Option<Arc<AtomicU32>>>,
}

impl Seat {
    const fn new() -> Seat {
        Seat { is_working: AtomicBool::new(false), times: AtomicU32::new(0), under_way: Mutex::new(None) }
    }
}

/// Whether the process is about to end: devices take no more work.
pub fn is_leaving() -> bool {
    LEAVING.load(Ordering::SeqCst)
}

/// While it lives the process doesn't end. Only threads that have a seat have one, each its own.
pub struct Working(&'static Seat);

impl Working {
    /// `None`: it is ending already. `stop` becomes [`TOLD_TO_STOP`] when it is about to.
    pub fn begin(seat: usize, stop: Option<Arc<AtomicU32>>) -> Option<Working> {
        let seat = SEATS.get(seat)?;
        *seat.under_way.lock().unwrap_or_else(PoisonError::into_inner) = stop;
        seat.times.fetch_add(1, Ordering::SeqCst);
        seat.is_working.store(true, Ordering::SeqCst);
        let working = Working(seat);
        // Whoever leaves says so first and looks whether we are working then; one of the two sees the other.
        (!is_leaving()).then_some(working)
    }

    /// It is at something else from now on, which `stop` tells to stop.
    pub fn is_at(&mut self, stop: Arc<AtomicU32>) {
        *self.0.under_way.lock().unwrap_or_else(PoisonError::into_inner) = Some(stop);
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        *self.0.under_way.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.0.is_working.store(false, Ordering::SeqCst);
    }
}

extern "C" fn leave() {
    // A program may exit wherever it likes, on a small stack of its own, too.
    stacks::with_room(&mut leave_here);
}

fn leave_here() {
    // Handlers of the program's that run later may want what a device has, which is torn down by then.
    crate::end();
    LEAVING.store(true, Ordering::SeqCst);
    wait(true);
}

/// Waits until what is under way has ended. `stops`: it is told to.
fn wait(stops: bool) {
    // A child after fork has only the thread that called it.
    if !PROCESS.get().is_some_and(Process::is_this) {
        return;
    }
    let started = if stops { *SINCE.get_or_init(Instant::now) } else { Instant::now() };
    let times = SEATS.each_ref().map(|seat| seat.times.load(Ordering::SeqCst));
    let is_at_it = |(seat, times): (&Seat, &u32)| {
        seat.is_working.load(Ordering::SeqCst) && seat.times.load(Ordering::SeqCst) == *times
    };
    while SEATS.iter().zip(&times).any(is_at_it) && started.elapsed() < PATIENCE {
        for seat in SEATS.iter().filter(|_| stops) {
            if let Ok(Some(stop)) = seat.under_way.try_lock().as_deref() {
                stop.store(TOLD_TO_STOP, Ordering::SeqCst);
            }
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Arranges for the wait at exit, before all handlers that have been registered so far.
pub fn arrange() {
    PROCESS.get_or_init(Process::this);
    // SAFETY: registers a function of this library, which is never unloaded.
    unsafe { libc::atexit(leave) };
}

/// Arranges for the wait when the calling thread exits, before all handlers.
pub fn arrange_first() {
    struct First;
    impl Drop for First {
        fn drop(&mut self) {
            // SAFETY: no preconditions.
            match unsafe { libc::syscall(libc::SYS_gettid) } == i64::from(std::process::id()) {
                true => leave(),
                false => wait(false),
            }
        }
    }
    thread_local! {
        static FIRST: First = const { First };
    }
    // A destructor is arranged for when the variable is first looked at.
    let _ = FIRST.try_with(|_| ());
}

/// For tests, one of which leaves: while one has it, no other one does.
#[cfg(test)]
pub fn alone() -> std::sync::MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_leaves_waits_for_who_works_and_nobody_begins_afterwards() {
        let _alone = alone();
        PROCESS.get_or_init(Process::this);
        let stop = Arc::new(AtomicU32::new(0));
        let working = Working::begin(GPU, Some(stop.clone())).expect("nobody leaves");
        let compiling = Working::begin(COMPILERS, None).expect("nobody leaves");
        let left = Arc::new(AtomicBool::new(false));
        let leaver = std::thread::spawn({
            let left = left.clone();
            move || {
                leave();
                left.store(true, Ordering::SeqCst);
            }
        });
        while stop.load(Ordering::SeqCst) != TOLD_TO_STOP {
            std::thread::yield_now();
        }
        assert!(is_leaving() && !left.load(Ordering::SeqCst));
        drop(working);
        // The other one is waited for, too.
        std::thread::sleep(Duration::from_millis(50));
        assert!(!left.load(Ordering::SeqCst));
        drop(compiling);
        leaver.join().unwrap();
        assert!((0..=COMPILERS).all(|seat| Working::begin(seat, None).is_none()));
        assert!(SEATS.iter().all(|seat| !seat.is_working.load(Ordering::SeqCst)));
        LEAVING.store(false, Ordering::SeqCst);
    }
}
