//! The threads that loops are split over: started when first needed, asleep between loops, gone after some idle seconds.
//!
//! A [`Pool::run`] offers its work to so many helpers and takes part itself. Whatever the helpers don't take up in time
//! the caller does alone, so two loops at once, or a system that gives no more threads, cost speed and nothing else. How they begin:
//! [`own_threads`].

use crate::own_threads;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// An idle helper ends after this time: a program should not carry sleeping threads of ours for the rest of its life.
const IDLE: Duration = Duration::from_secs(5);

type Work = dyn Fn() + Sync;

/// Whether a thread may wait without sleeping: not where that would take a processor from the one that it waits for.
pub fn may_stay_awake() -> bool {
    const ENOUGH: usize = 4;
    static MAY: OnceLock<bool> = OnceLock::new();
    *MAY.get_or_init(|| {
        std::thread::available_parallelism().is_ok_and(|processors| processors.get() >= ENOUGH)
    })
}

#[derive(Clone, Copy)]
struct Ticket {
    work: *const Work,
    run: u64,
}

// SAFETY: the work behind the pointer is `Sync`, and `Pool::run` does not return before every helper has let go of it.
unsafe impl Send for Ticket {}

#[derive(Default)]
struct State {
    tickets: VecDeque<Ticket>,
    /// Runs whose work helpers are inside of, one entry per helper.
    inside: Vec<u64>,
    /// Runs a helper of which panicked.
    panicked: Vec<u64>,
    runs: u64,
    /// All that haven't ended, those included that are on their way.
    helpers: usize,
    /// Helpers that were started and haven't come yet: on a busy machine a thread takes as long to begin as many short loops take to run.
    on_their_way: usize,
    idle: usize,
}

impl State {
    /// How many helpers to start where a run wants so many and its tickets lie here. More than two runs have no more than two: the processors are the same.
    fn missing(&self, wanted: usize) -> usize {
        const RUNS: usize = 2;
        let coming = self.idle + self.on_their_way;
        let may = (RUNS * wanted).saturating_sub(self.helpers);
        self.tickets.len().saturating_sub(coming).min(wanted).min(may)
    }
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// Tickets have come.
    offered: Condvar,
    /// A helper has let go.
    left: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn help(&self) {
        let mut state = self.lock();
        state.on_their_way -= 1;
        loop {
            let Some(ticket) = state.tickets.pop_front() else {
                state.idle += 1;
                let (woken, wait) =
                    self.offered.wait_timeout(state, IDLE).unwrap_or_else(PoisonError::into_inner);
                state = woken;
                state.idle -= 1;
                if wait.timed_out() && state.tickets.is_empty() {
                    state.helpers -= 1;
                    return;
                }
                continue;
            };
            state.inside.push(ticket.run);
            drop(state);
            // SAFETY: `run` keeps the work alive until no helper is inside.
            let work = unsafe { &*ticket.work };
            let end = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
            state = self.lock();
            if end.is_err() {
                state.panicked.push(ticket.run);
            }
            if let Some(at) = state.inside.iter().position(|run| *run == ticket.run) {
                state.inside.swap_remove(at);
            }
            self.left.notify_all();
        }
    }
}

/// See the module.
#[derive(Clone, Default)]
pub struct Pool {
    shared: Arc<Shared>,
}

/// Withdraws a run's tickets and waits for its helpers, also when the caller's own share panics.
struct Finish<'a> {
    shared: &'a Shared,
    run: u64,
}

impl Drop for Finish<'_> {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.tickets.retain(|t| t.run != self.run);
        while state.inside.contains(&self.run) {
            state = self.shared.left.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Pool {
    /// Runs `work` on the calling thread and on up to `threads - 1` helpers, and waits for all of them. `work` must take
    /// its portions from a common counter, because nobody promises how many helpers come.
    pub fn run(&self, threads: usize, work: &(dyn Fn() + Sync)) {
        if threads <= 1 {
            return work();
        }
        let wanted = threads - 1;
        // SAFETY: only the lifetime changes; `Finish` below outlasts every use.
        let erased: *const Work = unsafe { std::mem::transmute::<&(dyn Fn() + Sync), &'static Work>(work) };
        let (run, missing) = {
            let mut state = self.shared.lock();
            state.runs += 1;
            let run = state.runs;
            state.tickets.extend((0..wanted).map(|_| Ticket { work: erased, run }));
            let missing = state.missing(wanted);
            state.helpers += missing;
            state.on_their_way += missing;
            (run, missing)
        };
        let finish = Finish { shared: &self.shared, run };
        for _ in 0..wanted - missing {
            self.shared.offered.notify_one();
        }
        if missing != 0 {
            self.start(missing);
        }
        work();
        drop(finish);
        let mut state = self.shared.lock();
        if let Some(at) = state.panicked.iter().position(|r| *r == run) {
            state.panicked.swap_remove(at);
            drop(state);
            panic!("a helper panicked");
        }
    }

    /// Starts helpers.
    fn start(&self, count: usize) {
        for started in 0..count {
            let shared = self.shared.clone();
            if !own_threads::start(own_threads::HELPER, move || shared.help()) {
                let mut state = self.shared.lock();
                state.helpers -= count - started;
                state.on_their_way -= count - started;
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn helpers_on_their_way_are_not_started_again() {
        let work: &'static Work = &|| {};
        let mut state = State { helpers: 3, on_their_way: 2, idle: 1, ..State::default() };
        state.tickets.extend((0..3).map(|run| Ticket { work, run }));
        assert_eq!((state.missing(3), state.missing(4)), (0, 0));
        // One of them is busy elsewhere, or all are.
        state.on_their_way = 1;
        assert_eq!(state.missing(3), 1);
        (state.on_their_way, state.idle) = (0, 0);
        assert_eq!(state.missing(3), 3);
        // A third run finds what there is.
        state.helpers = 6;
        assert_eq!((state.missing(3), state.missing(4)), (0, 2));
    }

    #[test]
    fn loops_that_follow_each_other_have_no_more_helpers_than_one() {
        let pool = Pool::default();
        // The first are over before a helper has begun.
        for _ in 0..500 {
            pool.run(4, &|| {});
            let state = pool.shared.lock();
            assert!(state.helpers <= 3, "{}", state.helpers);
        }
        let all_came = || {
            let state = pool.shared.lock();
            state.on_their_way == 0 && state.idle == state.helpers
        };
        while !all_came() {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn all_portions_are_done_once_also_by_several_callers() {
        let pool = Pool::default();
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let (next, sum) = (AtomicU64::new(0), AtomicU64::new(0));
                        pool.run(4, &|| {
                            loop {
                                let at = next.fetch_add(1, Ordering::Relaxed);
                                if at >= 50 {
                                    return;
                                }
                                sum.fetch_add(at, Ordering::Relaxed);
                            }
                        });
                        assert_eq!(sum.into_inner(), 49 * 50 / 2);
                    }
                });
            }
        });
    }
}
