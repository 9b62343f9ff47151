//! The race: the sequential loop on the calling thread against a device. The first to finish wins.
//!
//! Why it is safe. The device works on copies; what the worker may overwrite has been copied before the worker starts. So
//! neither sees the other's stores. The worker runs iterations in source order on the program's memory: wherever it stops,
//! at the end of a strip, memory holds what the sequential program would hold there. When the device wins, the calling
//! thread waits for the worker (which is itself) to stop, and stores what the loop wrote: the same values as the worker
//! stored already, and the rest. When the device fails or loses, nothing of it was ever visible.

use super::cmt::{Cmt, Event, Job, Report};
use super::commit;
use crate::abi::{Entry, Info, PG_LAST, Value};
use crate::config::RaceChoice;
use crossbeam_channel::Receiver;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Who won, and what the device had to say.
pub struct Finish {
    /// Whether the device's result stands.
    pub device_won: bool,
    /// Iterations of dimension 0 that the worker did, and the nanoseconds that they took.
    pub worker_iterations: u64,
    /// See `worker_iterations`.
    pub worker_ns: u64,
    /// The device's report, where it came in time.
    pub report: Option<Box<Report>>,
}

/// Runs the loop to its end, one way or the other; results are stored into the entry. `None`: the device could not take
/// the job, and nothing has happened.
///
/// # Safety
/// `entry` was filled in by generated code for `info`, is alive, and the calling thread stands in its loop's entry.
pub unsafe fn run(
    cmt: &Cmt,
    info: &Info,
    entry: &mut Entry,
    job: Job,
    events: Receiver<Event>,
    choice: RaceChoice,
) -> Option<Finish> {
    let (stop, worker_stop) = (job.stop.clone(), job.worker_stop.clone());
    // SAFETY: promised by the caller.
    let at_entry: Vec<Value> = unsafe { entry.results(info) }.to_vec();
    if !cmt.submit(job) {
        return None;
    }
    let mut report: Option<Box<Report>> = None;
    let mut finish = Finish { device_won: false, worker_iterations: 0, worker_ns: 0, report: None };

    // The worker's permission, or the end of a device that is to win.
    let mut may_start = false;
    while report.is_none() && (!may_start || choice == RaceChoice::Device) {
        match events.recv() {
            Ok(Event::WorkerMayStart) => may_start = true,
            Ok(Event::Done(done)) => report = Some(done),
            Err(_) => break,
        }
    }
    let succeeded = |report: &Option<Box<Report>>| {
        report.as_ref().is_some_and(|r| r.error.is_none() && r.outcome.fail == 0 && !r.results_missing(info))
    };
    let mut results = at_entry.clone();
    if choice == RaceChoice::Worker || !succeeded(&report) {
        let started = Instant::now();
        let flag =
            if choice == RaceChoice::Worker { std::ptr::null() } else { worker_stop.as_ptr().cast_const() };
        // SAFETY: generated code for this entry, which is alive; iterations run in source order on memory that the
        // program has handed to its loop.
        let left = unsafe { (info.direct)(entry, results.as_mut_ptr(), 0, entry.trip[0], flag) };
        finish.worker_ns = started.elapsed().as_nanos() as u64;
        finish.worker_iterations = (entry.trip[0] - left) as u64;
        if left == 0 {
            // Nothing that the device still does can matter.
            stop.store(1, Ordering::Release);
            while let Ok(event) = events.try_recv() {
                if let Event::Done(done) = event {
                    report = Some(done);
                }
            }
            // SAFETY: the entry's results have as many elements.
            unsafe { std::ptr::copy_nonoverlapping(results.as_ptr(), entry.results, results.len()) };
            finish.report = report;
            return Some(finish);
        }
        // Told to stop: the device has succeeded and its report is on the way.
        while report.is_none() {
            match events.recv() {
                Ok(Event::Done(done)) => report = Some(done),
                Ok(Event::WorkerMayStart) => {}
                Err(_) => break,
            }
        }
        if !succeeded(&report) {
            // The thread died between setting the flag and reporting: go on where the worker stopped.
            let done = entry.trip[0] - left;
            // SAFETY: as above.
            unsafe { (info.direct)(entry, results.as_mut_ptr(), done, entry.trip[0], std::ptr::null()) };
            // SAFETY: as above.
            unsafe { std::ptr::copy_nonoverlapping(results.as_ptr(), entry.results, results.len()) };
            finish.worker_iterations = entry.trip[0] as u64;
            finish.report = report;
            return Some(finish);
        }
    }
    if let Some(done) = &report {
        // SAFETY: the loop wrote these elements, the check has passed, and the worker has stopped.
        unsafe { done.pieces.store() };
        for (number, result) in info.results().iter().enumerate() {
            results[number] = if result.op == PG_LAST {
                done.results[number]
            } else {
                commit::combine(result, at_entry[number], done.results[number])
            };
        }
        // SAFETY: as above.
        unsafe { std::ptr::copy_nonoverlapping(results.as_ptr(), entry.results, results.len()) };
        finish.device_won = true;
    }
    finish.report = report;
    Some(finish)
}

impl Report {
    /// Whether the scalars given back are not all here (the job was stopped before they were copied).
    fn results_missing(&self, info: &Info) -> bool {
        self.results.len() != info.n_results as usize
    }
}
