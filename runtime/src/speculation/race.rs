//! The race: the sequential loop on the calling thread against a device. The first to finish wins.
//!
//! Why it is safe. The device works on copies; what the worker may overwrite has been copied before the worker starts. So
//! neither sees the other's stores. The worker runs iterations in source order on the program's memory: wherever it stops,
//! at the end of a strip, memory holds what the sequential program would hold there. When the device wins, the calling
//! thread waits for the worker (which is itself) to stop, and stores what the loop wrote: the same values as the worker
//! stored already, and the rest. When the device fails or loses, nothing of it was ever visible.
//!
//! A device's thread that dies before it has copied what the worker may overwrite reports nothing more, so it can't win. Nor can one
//! whose result lies where the program may not store: the program's own fault comes where the program has it.

use super::cmt::{Cmt, Event, Job, Report};
use super::parts::{self, Running};
use crate::abi::{Entry, Info, Value};
use crate::device::TOLD_TO_STOP;
use crate::device::pool::Pool;
use crate::floating_point::FloatingPoint;
use crossbeam_channel::Receiver;
use std::cell::Cell;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

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

/// Who won, and what the device had to say.
#[derive(Default)]
pub struct Finish {
    /// Whether the device's result stands.
    pub device_won: bool,
    /// Iterations of dimension 0 that the worker did, and the nanoseconds that they took.
    pub worker_iterations: u64,
    /// See `worker_iterations`.
    pub worker_ns: u64,
    /// The device's result was right, but would have been stored where the program may not store.
    pub is_unwritable: bool,
    /// The device's report, where it came in time.
    pub report: Option<Box<Report>>,
    /// [`Rule::Monitor`]: where the report will come.
    pub pending: Option<Receiver<Event>>,
}

/// The pool that a commit may use, and how many of its threads.
pub type Helpers<'a> = (&'a Pool, usize);

fn succeeded(report: Option<&Report>, info: &Info) -> bool {
    // A job that was stopped reports no scalars.
    report.is_some_and(|r| {
        r.error.is_none() && r.outcome.fail == 0 && r.results.len() >= info.n_results as usize
    })
}

/// Waits for the report. `None`: the device's thread is gone.
fn await_report(events: &Receiver<Event>) -> Option<Box<Report>> {
    loop {
        match events.recv() {
            Ok(Event::Done(report)) => return Some(report),
            Ok(Event::WorkerMayStart) => {}
            Err(_) => return None,
        }
    }
}

/// How long a monitored run may go on when the loop is over, and how many times the loop's own time besides.
const PATIENCE: Duration = Duration::from_millis(200);
/// See [`PATIENCE`].
const PATIENCE_FACTOR: u32 = 20;

/// Operations between two looks of the worker at whether it should stop: some tens of microseconds.
const STRIP: u64 = 100_000;

/// Iterations of dimension 0 in one strip of the worker.
fn strip(info: &Info, entry: &Entry) -> i64 {
    let inner = entry.trip[1..].iter().fold(1u64, |n, trip| n.saturating_mul(trip.unsigned_abs()));
    (STRIP / info.work.saturating_mul(inner).max(1)).max(1) as i64
}

/// Runs the loop to its end, one way or the other; results are stored into the entry. `None`: the device could not take
/// the job, and nothing has happened.
///
/// # Safety
/// `entry` was filled in by generated code for `info`, is alive, and the calling thread stands in its loop's entry.
#[allow(clippy::too_many_arguments)]
pub unsafe fn run(
    cmt: &Cmt,
    helpers: Helpers<'_>,
    info: &Info,
    entry: &mut Entry,
    job: Job,
    events: Receiver<Event>,
    rule: Rule,
    fp: &mut FloatingPoint,
) -> Option<Finish> {
    let (stop, worker_stop, running) = (job.stop.clone(), job.worker_stop.clone(), job.running.clone());
    // SAFETY: promised by the caller.
    let at_entry: Vec<Value> = unsafe { entry.results(info) }.to_vec();
    let patience = job
        .patience
        .filter(|_| matches!(rule, Rule::DeviceUnlessItFails | Rule::DeviceOrNothing | Rule::WorkerAlways));
    if !cmt.submit(job) {
        return None;
    }
    // The worker waits, or will: it ends nothing.
    patience.map(|patience| cmt.watch.stop_after(patience, &stop));
    let mut finish = Finish::default();
    let may_win = matches!(rule, Rule::FirstWins | Rule::DeviceUnlessItFails | Rule::DeviceOrNothing);

    // The worker's permission, or the end of a device that is to win.
    let mut report = match rule {
        Rule::DeviceUnlessItFails | Rule::DeviceOrNothing => await_report(&events),
        _ => match events.recv() {
            Ok(Event::Done(report)) => Some(report),
            Ok(Event::WorkerMayStart) | Err(_) => None,
        },
    };
    let is_unwritable = Cell::new(false);
    let may_commit = |report: Option<&Report>| {
        let Some(report) = report.filter(|report| succeeded(Some(report), info)) else { return false };
        is_unwritable.set(!report.pieces.is_writable(helpers.0, helpers.1));
        !is_unwritable.get()
    };
    if rule == Rule::DeviceOrNothing && !may_commit(report.as_deref()) {
        return Some(Finish { is_unwritable: is_unwritable.get(), report, ..finish });
    }
    let mut state = Running::new(info, &at_entry);
    if !(may_win && may_commit(report.as_deref())) {
        let started = Instant::now();
        let trip = entry.trip[0];
        let strip = strip(info, entry);
        let mut work = |from: i64, listening: bool| {
            let mut at = from;
            while at < trip && !(listening && worker_stop.load(Ordering::Relaxed) != 0) {
                let end = at.saturating_add(strip).min(trip);
                // SAFETY: generated code for this entry, which is alive; iterations run in source order on memory that
                // the program has handed to its loop.
                unsafe { state.run(info, entry, at, end) };
                at = end;
            }
            trip - at
        };
        let mut left = fp.program(|| work(0, may_win));
        finish.worker_ns = started.elapsed().as_nanos() as u64;
        finish.worker_iterations = (trip - left) as u64;
        if left != 0 && report.is_none() {
            // Told to stop: the device has succeeded and its report is on the way.
            report = await_report(&events);
        }
        if left != 0 && !may_commit(report.as_deref()) {
            // The device's thread died in between, or the loop comes to memory that it may not write: go on where the worker
            // stopped.
            left = fp.program(|| work(trip - left, false));
            finish.worker_iterations = trip as u64;
        }
        if left == 0 {
            // SAFETY: the entry's results have as many elements.
            unsafe { std::ptr::copy_nonoverlapping(state.results().as_ptr(), entry.results, at_entry.len()) };
            match rule {
                Rule::WorkerAlways if report.is_none() => report = await_report(&events),
                // A device that takes so much longer would not pay, whatever it has to say.
                Rule::Monitor
                    if report.is_none()
                        && cmt.watch.stop_after(PATIENCE + started.elapsed() * PATIENCE_FACTOR, &stop) =>
                {
                    finish.pending = Some(events);
                }
                _ => {
                    // Nothing that the device still does can matter; its kernel must not outlive the entry, because its
                    // code may be unloaded next.
                    stop.store(TOLD_TO_STOP, Ordering::SeqCst);
                    while running.load(Ordering::SeqCst) {
                        std::thread::yield_now();
                    }
                    report = report.or_else(|| {
                        events.try_iter().find_map(|event| match event {
                            Event::Done(report) => Some(report),
                            Event::WorkerMayStart => None,
                        })
                    });
                }
            }
            finish.is_unwritable = is_unwritable.get();
            finish.report = report;
            return Some(finish);
        }
    }
    if let Some(done) = &report {
        // SAFETY: the loop wrote these elements, the check has passed, and the worker has stopped.
        unsafe { done.pieces.store(helpers.0, helpers.1) };
        fp.add(done.raised);
        let results = fp.program(|| parts::conclude(info, &entry.trip, &at_entry, &done.results));
        // SAFETY: the entry's results have as many elements.
        unsafe { std::ptr::copy_nonoverlapping(results.as_ptr(), entry.results, results.len()) };
        finish.device_won = true;
    }
    finish.report = report;
    Some(finish)
}
