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
pub use super::protocol::Rule;
use super::protocol::{self, Caller, End, Side};
use crate::abi::{Entry, Info, Value};
use crate::device::pool::Pool;
use crate::floating_point::FloatingPoint;
use crossbeam_channel::Receiver;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::{Duration, Instant};

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

fn succeeded(report: &Report, info: &Info) -> bool {
    // A job that was stopped reports no scalars.
    report.has_succeeded() && report.results.len() >= info.n_results as usize
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

/// The calling thread, in its loop's entry.
struct Standing<'a> {
    cmt: &'a Cmt,
    helpers: Helpers<'a>,
    info: &'a Info,
    entry: &'a mut Entry,
    fp: &'a mut FloatingPoint,
    /// What results start from.
    at_entry: Vec<Value>,
    state: Running,
    /// Iterations of dimension 0 in one strip of the worker.
    strip: i64,
    /// Those that the worker has done.
    done: i64,
    /// When the worker has started.
    started: Option<Instant>,
    worker_ns: u64,
    is_unwritable: bool,
    /// Whether the library with the loop's code stays as long as the job does.
    stays: bool,
    /// Whether arrays have changed on the device, where they stay, so that there is no way back: what is stored here has been seen to be the program's to store to.
    is_settled: bool,
}

impl Standing<'_> {
    fn give_back(&mut self, results: &[Value]) {
        // SAFETY: the entry's results have as many elements.
        unsafe { std::ptr::copy_nonoverlapping(results.as_ptr(), self.entry.results, self.at_entry.len()) };
    }
}

impl Side<Box<Report>> for Standing<'_> {
    fn work(&mut self, is_told: &dyn Fn() -> bool) -> bool {
        let started = Instant::now();
        self.started.get_or_insert(started);
        let (trip, strip) = (self.entry.trip[0], self.strip);
        let (info, entry, state, done) = (self.info, &*self.entry, &mut self.state, &mut self.done);
        self.fp.program(|| {
            while *done < trip && !is_told() {
                let end = done.saturating_add(strip).min(trip);
                // SAFETY: generated code for this entry, which is alive; iterations run in source order on memory that
                // the program has handed to its loop.
                unsafe { state.run(info, entry, *done, end) };
                *done = end;
            }
        });
        self.worker_ns += started.elapsed().as_nanos() as u64;
        self.done >= trip
    }

    fn may_commit(&mut self, report: &Box<Report>) -> bool {
        let right = succeeded(report, self.info);
        self.is_unwritable =
            right && !self.is_settled && !report.pieces.is_writable(self.helpers.0, self.helpers.1);
        right && !self.is_unwritable
    }

    fn commit(&mut self, report: &Box<Report>) {
        // SAFETY: the loop wrote these elements, the check has passed, and the worker has stopped.
        unsafe { report.pieces.store(self.helpers.0, self.helpers.1) };
        self.fp.add(report.raised);
        let (info, trip, at_entry) = (self.info, &self.entry.trip, &self.at_entry);
        let results = self.fp.program(|| parts::conclude(info, trip, at_entry, &report.results));
        self.give_back(&results);
    }

    fn keep(&mut self) {
        let results = self.state.results().to_vec();
        self.give_back(&results);
    }

    fn may_leave_behind(&mut self, stop: &Arc<AtomicU32>) -> bool {
        // A device that takes so much longer would not pay, whatever it has to say.
        let taken = self.started.map_or(Duration::ZERO, |started| started.elapsed());
        self.stays && self.cmt.watch.stop_after(PATIENCE + taken * PATIENCE_FACTOR, stop)
    }
}

/// Runs the loop to its end, one way or the other; results are stored into the entry. `None`: the device could not take
/// the job, and nothing has happened. `caller` is the other side of the job's.
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
    caller: Caller<Box<Report>>,
    rule: Rule,
    fp: &mut FloatingPoint,
) -> Option<Finish> {
    // SAFETY: promised by the caller.
    let at_entry: Vec<Value> = unsafe { entry.results(info) }.to_vec();
    let patience = job
        .patience
        .filter(|_| matches!(rule, Rule::DeviceUnlessItFails | Rule::DeviceOrNothing | Rule::WorkerAlways));
    let (stays, is_settled) = (job.object.stays(), !job.tenants.is_empty());
    if !cmt.submit(job) {
        return None;
    }
    // The worker waits, or will: it ends nothing.
    patience.map(|patience| cmt.watch.stop_after(patience, caller.stop()));
    let mut standing = Standing {
        cmt,
        helpers,
        info,
        strip: strip(info, entry),
        entry,
        fp,
        state: Running::new(info, &at_entry),
        at_entry,
        done: 0,
        started: None,
        worker_ns: 0,
        is_unwritable: false,
        stays,
        is_settled,
    };
    let End { device_won, report, pending } = protocol::play(rule, caller, &mut standing);
    Some(Finish {
        device_won,
        worker_iterations: standing.done as u64,
        worker_ns: standing.worker_ns,
        is_unwritable: standing.is_unwritable,
        report,
        pending,
    })
}
