//! Kernels that are compiled before a GPU's thread asks for them, for loops that are expected to run there: while the driver is being opened, and while the
//! GPU is busy with another loop. So a loop waits for its driver and for its kernels at the same time, and loops don't wait for each other's.
//!
//! What is wanted is a job as it would be handed over now, of which nothing is done but the kernel that it would ask for. It is an expectation: by the
//! time that the loop is entered again it may ask for another one, which the GPU's thread has compiled as ever. Threads of ours do it, of low priority, which are
//! started when the driver says what GPU it is; they end with the process, which waits for what they are compiling ([`leaving`]).

use super::{Job, make_ready};
use crate::device::cuda::Outline;
use crate::leaving::{self, Working};
use crate::own_threads;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A loop is wanted again after so long, if it hasn't come to its kernel by then: it may ask for another one. To find that out takes a few tenths of a
/// millisecond.
const AGAIN: Duration = Duration::from_millis(250);
/// Cores for each thread that compiles.
const CORES_OF_COMPILER: usize = 4;
/// How much less than the program's threads they may have of a core that both want.
const NICE: i32 = 5;
/// Loops that are remembered; programs that load libraries again and again have more.
const MOST: usize = 1024;

/// How a loop's entry is checked, as far as kernels differ by it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Form {
    /// [`crate::abi::Loop::key`].
    pub loop_key: usize,
    /// Whether its iterations are known to be independent.
    pub is_proven: bool,
    /// Whether they run by levels.
    pub has_levels: bool,
}

/// A kernel to be made.
pub struct Wanted {
    /// Whose.
    pub form: Form,
    /// As it would be handed over.
    pub job: Job,
    /// Whether its addresses are expected to need no checks.
    pub unchecked: bool,
    /// Whether the loop asks for it only once it was inspected: all others are made first.
    pub is_foreseen: bool,
    /// What it may be worth, in nanoseconds: the dearest one is made first.
    pub worth: f64,
    /// Before that nothing is done: a program that ends soon would have to wait.
    pub not_before: Instant,
}

impl Wanted {
    /// Which of the two comes first: the greater one.
    fn is_worth(&self, other: &Wanted) -> Ordering {
        other.is_foreseen.cmp(&self.is_foreseen).then(self.worth.total_cmp(&other.worth))
    }
}

/// How far a form's kernels are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Progress {
    Wanted,
    UnderWay,
    Done(Instant),
}

#[derive(Default)]
struct State {
    wanted: Vec<Wanted>,
    progress: HashMap<Form, Progress>,
    /// Nothing is wanted any more.
    is_over: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

/// See the module.
#[derive(Clone, Default)]
pub struct Ahead(Arc<Shared>);

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next one whose time has come. `None`: there will be none.
    fn next(&self) -> Option<Wanted> {
        let mut state = self.lock();
        loop {
            if state.is_over || leaving::is_leaving() {
                return None;
            }
            let now = Instant::now();
            let due = state.wanted.iter().enumerate().filter(|(_, wanted)| wanted.not_before <= now);
            if let Some((at, _)) = due.max_by(|a, b| a.1.is_worth(b.1)) {
                let wanted = state.wanted.swap_remove(at);
                state.progress.insert(wanted.form, Progress::UnderWay);
                return Some(wanted);
            }
            let first = state.wanted.iter().map(|wanted| wanted.not_before).min();
            state = match first {
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(at) => {
                    let waited = self.changed.wait_timeout(state, at.saturating_duration_since(now));
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    /// Makes kernels until nothing is wanted any more.
    fn work(&self, seat: usize, mut make: impl FnMut(&Wanted)) {
        while let Some(wanted) = self.next() {
            let Some(_working) = Working::begin(seat, None) else { return };
            // What has become of it the GPU's thread finds out.
            let _ = catch_unwind(AssertUnwindSafe(|| make(&wanted)));
            self.lock().progress.insert(wanted.form, Progress::Done(Instant::now()));
        }
    }
}

impl Ahead {
    /// Whether a form's kernel is worth asking for.
    pub fn wants(&self, form: Form) -> bool {
        let state = self.0.lock();
        !state.is_over
            && match state.progress.get(&form) {
                None => true,
                Some(Progress::Done(when)) => when.elapsed() >= AGAIN,
                Some(Progress::Wanted | Progress::UnderWay) => false,
            }
    }

    /// Asks for a kernel.
    pub fn want(&self, wanted: Wanted) {
        let mut state = self.0.lock();
        if state.is_over {
            return;
        }
        if state.progress.len() >= MOST && !state.progress.contains_key(&wanted.form) {
            state.progress.clear();
        }
        state.progress.insert(wanted.form, Progress::Wanted);
        state.wanted.push(wanted);
        self.0.changed.notify_one();
    }

    /// Whether a form's kernel is still to be made: whoever asked for it now would wait.
    pub fn is_pending(&self, form: Form) -> bool {
        let state = self.0.lock();
        !state.is_over && matches!(state.progress.get(&form), Some(Progress::Wanted | Progress::UnderWay))
    }

    /// The driver has said what GPU it is: from now on kernels are made. Only the GPU's thread calls it, so that the threads are started while the driver is
    /// opened, and have whatever that thread may do.
    pub(super) fn begin(&self, outline: &Outline) {
        if self.0.lock().is_over {
            return;
        }
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
        let begin = |number: usize| {
            let (shared, mut outline) = (self.0.clone(), outline.clone());
            own_threads::start(own_threads::FOR_KERNELS, move || {
                give_way();
                shared.work(leaving::GPU + 1 + number, |wanted| {
                    // Who asks for the kernel is told what is wrong with it.
                    let _ = make_ready(&mut outline, &wanted.job, wanted.unchecked);
                });
            })
        };
        let threads = (cores / CORES_OF_COMPILER).clamp(1, leaving::COMPILERS);
        if (0..threads).filter(|number| begin(*number)).count() == 0 {
            // Nothing that is wanted would ever be made.
            self.end();
        }
    }

    /// No GPU will want anything any more.
    pub fn end(&self) {
        let mut state = self.0.lock();
        state.is_over = true;
        state.wanted.clear();
        self.0.changed.notify_all();
    }
}

/// The calling thread leaves cores to whoever wants them.
fn give_way() {
    // SAFETY: the calling thread, by its number, and no other.
    unsafe {
        let thread = libc::syscall(libc::SYS_gettid);
        libc::setpriority(libc::PRIO_PROCESS, thread as libc::id_t, NICE);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Kind;
    use super::super::tests::job;
    use super::*;
    use crate::memory::placement::Placement;
    use crate::speculation::protocol;
    use std::sync::mpsc::channel;

    fn wanted(loop_key: usize, is_foreseen: bool, worth: f64, not_before: Instant) -> Wanted {
        let form = Form { loop_key, is_proven: true, has_levels: false };
        let (_, seat) = protocol::sides();
        Wanted {
            form,
            job: job(seat, Kind::Cuda, Placement::default()),
            unchecked: false,
            is_foreseen,
            worth,
            not_before,
        }
    }

    #[test]
    fn what_is_wanted_is_made_once_in_its_turn_and_not_before_its_time() {
        let _alone = leaving::alone();
        let (ahead, now) = (Ahead::default(), Instant::now());
        let later = now + Duration::from_millis(200);
        let forms = [(1, false, 9.0, later), (2, true, 8.0, now), (3, false, 3.0, now), (4, false, 2.0, now)];
        let forms = forms.map(|(key, is_foreseen, worth, not_before)| {
            let wanted = wanted(key, is_foreseen, worth, not_before);
            let form = wanted.form;
            assert!(ahead.wants(form));
            ahead.want(wanted);
            assert!(!ahead.wants(form) && ahead.is_pending(form));
            form
        });
        let ((begun, begins), (goes_on, may_go_on)) = (channel(), channel());
        let shared = ahead.0.clone();
        let thread = std::thread::spawn(move || {
            shared.work(leaving::COMPILERS, |wanted| {
                begun.send((wanted.form.loop_key, Instant::now())).unwrap();
                may_go_on.recv().unwrap();
            });
        });
        // The dearest one first, of those whose time has come.
        for first in [3, 4] {
            assert_eq!(begins.recv().unwrap().0, first);
            goes_on.send(()).unwrap();
        }
        assert_eq!(begins.recv().unwrap().0, 2);
        assert!(ahead.is_pending(forms[1]) && !ahead.wants(forms[1]) && !ahead.is_pending(forms[2]));
        goes_on.send(()).unwrap();
        let (key, when) = begins.recv().unwrap();
        assert!(key == 1 && when >= later);
        // It was made; if the loop doesn't come to it, it is asked for again, later.
        assert!(!ahead.is_pending(forms[1]) && !ahead.wants(forms[1]));
        std::thread::sleep(AGAIN);
        assert!(ahead.wants(forms[1]));
        ahead.end();
        goes_on.send(()).unwrap();
        thread.join().unwrap();
        ahead.want(wanted(5, false, 1.0, now));
        assert!(forms.into_iter().all(|form| !ahead.wants(form) && !ahead.is_pending(form)));
    }
}
