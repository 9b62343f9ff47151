//! How the two sides of a race agree: the calling thread, whose loop it is ([`Caller`], [`play`]), and the thread that drives the device
//! ([`Seat`]). All that they share is here, and nothing else is, so that a model checker can go through it (`tests/protocol.rs` compiles
//! this very file against `loom`; `docs/measurements/2026-11-25-race.md`).
//!
//! ```text
//!   calling thread                                    driving thread
//!   take the turn, hand over the job ---------------> copy what the loop may write
//!   wait                        <-- WorkerMayStart -- its copies are its own from here on
//!   work, strip by strip                              copy the rest, make the kernel, ask now and then: unwanted?
//!     told? at the end of each                        enter the code: in_code = true; fence; unwanted? then leave it
//!                                                     ... run (polls `stop`) ...   in_code = false
//!                                                     give the turn back
//!     yes <----------------------------- worker_stop  if it has succeeded
//!   wait for the report         <-------- Done -----  the last that it does
//!   commit, or go on where it stopped
//!   no, and the loop is over:
//!     stop = told; fence; wait while in_code          never enters the code again
//!     return; the program may unload its library
//! ```
//!
//! What holds, whoever is how fast:
//! - Only the calling thread stores into the program's memory, and it does one of two things: it keeps what its worker did, or, with the worker at rest,
//!   commits what a report brought. Never both, never twice.
//! - The device reads nothing that the worker may store to once the worker may start.
//! - The calling thread waits for permission, for a report that its rule asks for or that is on its way, and for code to be left that has been
//!   told to stop. It waits for nothing else of a job that has lost: not for its copies, not for its kernel to be compiled.
//! - The loop's code is the only thing of the program's object that a job touches, and only while `in_code` is set. Once the calling thread has said
//!   stop and seen it unset, it is never set again. Whose code is its own (a GPU's kernels) never sets it.
//! - A driving thread that dies drops its end of the channel: whoever waits goes on without it.

use super::sync::{Arc, AtomicBool, AtomicU32, Ordering, Receiver, Sender, channel, fence, receive_awake, yield_now};

/// In [`Shared::stop`]: the result isn't wanted any more.
pub const TOLD_TO_STOP: u32 = 1;

/// Who may win.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// First come, first served.
    FirstWins,
    /// The worker is held back; the device's result stands unless it fails.
    DeviceUnlessItFails,
    /// The same, but where the device fails nothing has happened.
    DeviceOrNothing,
    /// The worker's result stands; the device is waited for all the same, for what it has to say.
    WorkerAlways,
    /// The worker's result stands; the device goes on behind the program's back, and its report is looked at later.
    Monitor,
}

/// Progress of a job.
pub enum Event<R> {
    /// The device has its own copy of everything that the worker may overwrite.
    WorkerMayStart,
    /// It is over.
    Done(R),
}

/// Whether a driving thread has a job, maybe an abandoned one.
#[derive(Default)]
pub struct Turn(AtomicBool);

impl Turn {
    /// Takes it, if nobody has it.
    pub fn take(&self) -> bool {
        !self.0.swap(true, Ordering::AcqRel)
    }
    /// The job is over, or was never begun.
    pub fn give_back(&self) {
        self.0.store(false, Ordering::Release);
    }
    /// Whether somebody has it.
    pub fn is_taken(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// What both sides of one race look at.
struct Shared {
    /// Not 0: the device is to give up. Kernels poll it.
    stop: Arc<AtomicU32>,
    /// The job is inside of code that belongs to the program's object.
    in_code: AtomicBool,
    /// The device has succeeded, its report comes: the worker may stop.
    worker_stop: AtomicU32,
}

/// The driving thread's side.
pub struct Seat<R> {
    shared: Arc<Shared>,
    events: Sender<Event<R>>,
}

impl<R> Clone for Seat<R> {
    fn clone(&self) -> Seat<R> {
        Seat { shared: self.shared.clone(), events: self.events.clone() }
    }
}

/// The calling thread's side.
pub struct Caller<R> {
    shared: Arc<Shared>,
    events: Receiver<Event<R>>,
    /// Whether reports are waited for without sleeping, at first.
    is_awake: bool,
}

/// Both sides of a race.
pub fn sides<R>() -> (Caller<R>, Seat<R>) {
    let (sender, events) = channel();
    let shared = Arc::new(Shared {
        stop: Arc::new(AtomicU32::new(0)),
        in_code: AtomicBool::new(false),
        worker_stop: AtomicU32::new(0),
    });
    (Caller { shared: shared.clone(), events, is_awake: false }, Seat { shared, events: sender })
}

impl<R> Seat<R> {
    /// The word that kernels poll and others may set.
    pub fn stop(&self) -> &Arc<AtomicU32> {
        &self.shared.stop
    }

    /// Whether nobody wants the result any more.
    pub fn is_unwanted(&self) -> bool {
        self.shared.stop.load(Ordering::Relaxed) != 0
    }

    /// Whether it is inside of code of the program's object.
    #[cfg(test)]
    pub fn is_in_code(&self) -> bool {
        self.shared.in_code.load(Ordering::Relaxed)
    }

    /// The device has its own copy of everything that the worker may overwrite.
    pub fn let_worker_start(&self) {
        let _ = self.events.send(Event::WorkerMayStart);
    }

    /// Runs code of the program's object. `None`: it isn't wanted any more, and may be gone.
    pub fn in_code<T>(&self, code: impl FnOnce() -> T) -> Option<T> {
        struct Leave<'a>(&'a AtomicBool);
        impl Drop for Leave<'_> {
            fn drop(&mut self) {
                // What the code has read comes before what the calling thread does next.
                self.0.store(false, Ordering::Release);
            }
        }
        self.shared.in_code.store(true, Ordering::Relaxed);
        let _leave = Leave(&self.shared.in_code);
        // Each side says its own first and looks at the other's then: one of them sees the other.
        fence(Ordering::SeqCst);
        (!self.is_unwanted()).then(code)
    }

    /// The job is over. The turn goes back first, because the calling thread may be at its next loop at once.
    pub fn end(&self, turn: &Turn, report: R, has_succeeded: bool) {
        turn.give_back();
        if has_succeeded {
            self.shared.worker_stop.store(1, Ordering::Release);
        }
        let _ = self.events.send(Event::Done(report));
    }
}

/// What the calling thread does in a race.
pub trait Side<R> {
    /// Runs the loop on the program's memory, in source order, from where it has stopped before, until it is over or `is_told` says so at the end of a
    /// strip. Whether it is over.
    fn work(&mut self, is_told: &dyn Fn() -> bool) -> bool;
    /// Whether a report's result is right and may be stored.
    fn may_commit(&mut self, report: &R) -> bool;
    /// Stores what the loop wrote. The worker has stopped.
    fn commit(&mut self, report: &R);
    /// The worker's result stands.
    fn keep(&mut self);
    /// Whether somebody ends the job, by its stop word, that is left behind.
    fn may_leave_behind(&mut self, stop: &Arc<AtomicU32>) -> bool;
}

/// How a race has ended.
pub struct End<R> {
    /// Whether the device's result stands.
    pub device_won: bool,
    /// The device's report, where it came in time.
    pub report: Option<R>,
    /// [`Rule::Monitor`]: where the report will come.
    pub pending: Option<Receiver<Event<R>>>,
}

impl<R> Caller<R> {
    /// The word that ends the job.
    pub fn stop(&self) -> &Arc<AtomicU32> {
        &self.shared.stop
    }

    /// The report is expected soon.
    pub fn stay_awake(&mut self) {
        self.is_awake = true;
    }

    /// Waits for the report. `None`: the device's thread is gone.
    fn await_report(&self) -> Option<R> {
        loop {
            let event = if self.is_awake { receive_awake(&self.events) } else { self.events.recv() };
            match event {
                Ok(Event::Done(report)) => return Some(report),
                Ok(Event::WorkerMayStart) => {}
                Err(_) => return None,
            }
        }
    }

    /// Waits until the worker may start. The report, if that comes instead.
    fn await_permission(&self) -> Option<R> {
        match self.events.recv() {
            Ok(Event::Done(report)) => Some(report),
            Ok(Event::WorkerMayStart) | Err(_) => None,
        }
    }

    /// Whether the worker's permission has come since the last look.
    #[cfg(test)]
    pub fn has_permission(&self) -> bool {
        std::iter::from_fn(|| self.events.try_recv().ok()).any(|event| matches!(event, Event::WorkerMayStart))
    }

    /// Nothing that the device still does can matter; the object's code must not be used beyond the entry, because it may be unloaded next.
    fn discard(&self) {
        self.shared.stop.store(TOLD_TO_STOP, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        while self.shared.in_code.load(Ordering::Acquire) {
            yield_now();
        }
    }

    /// The report, if it is there.
    fn report_so_far(&self) -> Option<R> {
        while let Ok(event) = self.events.try_recv() {
            if let Event::Done(report) = event {
                return Some(report);
            }
        }
        None
    }
}

/// The calling thread's part of a race whose job has been handed over.
pub fn play<R>(rule: Rule, caller: Caller<R>, side: &mut impl Side<R>) -> End<R> {
    let may_win = matches!(rule, Rule::FirstWins | Rule::DeviceUnlessItFails | Rule::DeviceOrNothing);
    // The worker's permission, or the end of a device that is to win.
    let mut report = match rule {
        Rule::DeviceUnlessItFails | Rule::DeviceOrNothing => caller.await_report(),
        _ => caller.await_permission(),
    };
    let mut device_won = may_win && report.as_ref().is_some_and(|report| side.may_commit(report));
    if !device_won {
        if rule == Rule::DeviceOrNothing {
            return End { device_won, report, pending: None };
        }
        let is_told = || may_win && caller.shared.worker_stop.load(Ordering::Relaxed) != 0;
        let mut is_over = side.work(&is_told);
        if !is_over {
            // Told to stop: the device has succeeded and its report is on the way, if it isn't here.
            report = report.or_else(|| caller.await_report());
            device_won = report.as_ref().is_some_and(|report| side.may_commit(report));
            // Its thread died in between, or the loop comes to memory that it may not write: go on where the worker stopped.
            is_over = !device_won && side.work(&|| false);
        }
        debug_assert!(is_over != device_won);
    }
    if device_won {
        if let Some(report) = &report {
            side.commit(report);
        }
        return End { device_won, report, pending: None };
    }
    side.keep();
    match rule {
        Rule::WorkerAlways => report = report.or_else(|| caller.await_report()),
        Rule::Monitor if report.is_none() && side.may_leave_behind(caller.stop()) => {
            return End { device_won, report, pending: Some(caller.events) };
        }
        _ => {
            caller.discard();
            report = report.or_else(|| caller.report_so_far());
        }
    }
    End { device_won, report, pending: None }
}
