//! The conflict-management threads (the chapter, section 4.5.2): threads of ours that drive the devices, one for each, so
//! that a driver that takes its time holds up nobody else.
//!
//! Each takes a [`Job`], which owns all that it needs (the loop's entry lives on the caller's stack and may be gone before
//! a slow device has stopped), copies data in, runs the kernel and its check, copies the written elements back into
//! buffers of ours, and reports. It never stores into the program's memory: only the calling thread does, in `commit`.
//!
//! Order matters: what the loop may write is copied first, and only then may the worker start, because the worker
//! stores into the very memory that is copied. Where it isn't certain what the loop writes (an extent that is only
//! recorded may be stale), everything is copied first.

pub mod ahead;
mod attempt;
mod copies;
mod inbox;
mod kernel;
mod serving;

use super::commit::{Fetch, Pieces};
use super::facts::Facts;
use super::filled::Filled;
use super::inspector::levels::Schedule;
use super::inspector::seen::{Basis, Seen};
use super::inspector::turns::Order;
use super::parts;
use super::protocol::{self, Seat, Turn};
use super::watch::Watch;
use super::written::{self, Rows, Written};
use crate::abi::{PG_FAIL_STOPPED, PG_FAIL_TIME, Region, Value};
use crate::config::GroupChoice;
use crate::device::cuda::Gpu;
use crate::device::pool::Pool;
use crate::device::threads::{ThreadsDevice, Width};
use crate::device::{Device, DeviceError, DevicePtr, Guess, Launch, LogMethod, Outcome, TIME_IS_UP};
use crate::leaving::{self, is_leaving};
use crate::memory::coherence::Tenant;
use crate::memory::coherence::mailbox::{self, Letter};
use crate::memory::placement::Placement;
use crate::memory::residency::Residency;
use crate::objects::Code;
use crate::own_threads;
use ahead::Ahead;
use attempt::{Attempt, Logs, may_buffer};
use copies::{Taken, allocate, by_logs, copy_in, move_in, undo};
use inbox::Outbox;
use kernel::{kernel_for, needs_no_checks};
use serving::{Message, serve, serve_cuda};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// How long a GPU may be at work without having told how far it is. It is asked to end launches long before that
/// (`device::cuda::pace`); what lasts so long is an iteration that ends late or never.
const LONGEST_LAUNCH: Duration = Duration::from_millis(70);

/// Which device a job is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Kind {
    Threads,
    Cuda,
}

/// Ways in which stamps may guess first that each cell has one writer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Guesses {
    /// That was wrong before.
    #[default]
    None,
    /// Bits have told before that it is wrong, or that an iteration meets itself.
    NoBits,
    /// By bits where nobody asks which iteration it was, otherwise by numbers.
    All,
    /// By numbers in any case: for tests.
    Numbers,
    /// Only that cells have one writer each, or several that lanes run side by side: for tests.
    Joined,
    /// That, and if it is wrong the same of each of several launches, however many they are: for tests.
    Launches,
    /// Only that iterations meet cells in order: for tests.
    InOrder,
    /// Nothing, and what stands in cells with several writers is settled by a second run, as where values can't be held back: for tests.
    Twice,
}

/// One run of a loop on a device.
pub struct Job {
    /// The loop.
    pub info: Arc<Facts>,
    /// [`crate::abi::Loop::key`].
    pub loop_key: usize,
    /// How long the loop's code stays.
    pub object: Code,
    /// Where.
    pub kind: Kind,
    /// Iterations of each dimension.
    pub trip: [i64; crate::abi::PG_MAX_DIMS],
    /// The arrays.
    pub placement: Placement,
    /// Pointers of the bases.
    pub bases: Vec<u64>,
    /// Live-ins and invariants.
    pub values: Vec<Value>,
    /// What reductions start from: [`parts::launch_results`].
    pub results: Vec<Value>,
    /// Instrumentation.
    pub method: LogMethod,
    /// See [`Report::best_method`].
    pub best_method: LogMethod,
    /// What stamps may guess first.
    pub guesses: Guesses,
    /// Whether bitmaps may guess first that nothing is stored between the first and the last cell that is loaded.
    pub may_guess_range: bool,
    /// Whether iterations seem to meet the cells of arrays in order.
    pub in_order: bool,
    /// Whether no two lanes of a GPU seem to store to one cell where they do.
    pub stores_once: bool,
    /// Whether stamps may guess first that a cell's writers are run by lanes side by side.
    pub may_join: bool,
    /// Whether a cell's writers seem to lie on both sides of a row's end then.
    pub has_seams: bool,
    /// Iterations of launches in which no two have met, where an earlier run was carried out by several for that; 0: none was.
    pub portion: u64,
    /// Whether that may be tried.
    pub may_portion: bool,
    /// Whether cells seem to have many writers.
    pub many_writers: bool,
    /// Whether iterations may be run together.
    pub groups: GroupChoice,
    /// Log cells of pinned memory.
    pub pinned: Vec<(u64, u64)>,
    /// What its addresses follow from, where that has been found before, and everything that decides them is to come from there.
    pub basis: Option<Basis>,
    /// What is written completely, where that is all that is written.
    pub written: Option<Vec<Rows>>,
    /// What bitmaps have of it from the entry.
    pub filled: Filled,
    /// The order of iterations that depend on each other.
    pub schedule: Option<Arc<Schedule>>,
    /// An order of iterations that don't: by their numbers of turns.
    pub by_turns: Option<Arc<Order>>,
    /// How long a device may be at work, where the user has said so.
    pub patience: Option<Duration>,
    /// Arrays that stay on the device behind the loop, with what of them it has already.
    pub tenants: Arc<Vec<Tenant>>,
    /// Whether nothing is to be done but to have its kernel made.
    pub prepares: bool,
    /// Whether nobody waits for it ([`Cmt::follow`]).
    pub follows: bool,
    /// Where there are any: what has to come back of what is written, by region.
    pub returning: Option<Vec<(usize, written::Ranges)>>,
    /// Where it is told to stop, and progress is reported.
    pub seat: Seat<Box<Report>>,
}

impl Job {
    /// Iterations of all dimensions together.
    fn iterations(&self) -> u64 {
        self.trip.iter().try_fold(1u64, |n, t| n.checked_mul(*t as u64)).unwrap_or(u64::MAX)
    }
}

/// Progress of a job.
pub type Event = protocol::Event<Box<Report>>;

/// What came of a job.
#[derive(Default)]
pub struct Report {
    /// Set when the device could not do it.
    pub error: Option<DeviceError>,
    /// What the launch and its check said.
    pub outcome: Outcome,
    /// After success: what the loop wrote.
    pub pieces: Pieces,
    /// After success: where each of [`Job::tenants`] is, as [`Tenant::found`] says it.
    pub found: Vec<(DevicePtr, u64)>,
    /// After success: reductions (partials over all iterations) and last values.
    pub results: Vec<Value>,
    /// Floating-point exception flags that the loop raised.
    pub raised: u32,
    /// Bytes and nanoseconds of copies.
    pub bytes_in: u64,
    /// What accesses were logged by.
    pub method: LogMethod,
    /// What they would be logged by if other logs find conflicts.
    pub best_method: LogMethod,
    /// How often a device has begun with it: each time but the first from copies of what was there.
    pub attempts: u32,
    /// Whether each cell had one writer, where stamps have guessed so.
    pub guess_held: Option<bool>,
    /// Whether nothing was stored between what was loaded, where bitmaps have guessed so.
    pub range_held: Option<bool>,
    /// Whether no conflict was found that groups of cells have in common, where stamps have relied on the order of iterations.
    pub order_held: Option<bool>,
    /// Whether no two lanes have stored to one cell, where it was guessed so and they have.
    pub once_held: Option<bool>,
    /// Whether each cell's writers were run by lanes side by side, and nobody loaded what another one stored, where stamps have guessed so.
    pub joined_held: Option<bool>,
    /// Where that held: whether some may have lain on both sides of a row's end.
    pub has_seams: bool,
    /// Whether no two iterations of one launch have met, and how many it had at most, where several have carried out a loop because others do.
    pub portion_held: Option<bool>,
    /// See `portion_held`.
    pub portion: u64,
    /// Whether cells have many writers, where stores have been counted.
    pub many_writers: Option<bool>,
    /// Whether each cell was stored to by one lane, once, where stamps have relied on the order of iterations.
    pub stored_once: Option<bool>,
    /// Whether iterations have met cells in order.
    pub in_order: Option<bool>,
    /// What [`crate::trace::Record::group`] says.
    pub group: (u8, u8),
    /// What a checked run on [`Job::basis`] has seen, with the finding's number.
    pub seen: Option<(u64, Seen)>,
    /// What [`crate::trace::Record::unchecked`] says.
    pub unchecked: bool,
    /// What [`crate::trace::Record::deep`] says.
    pub deep: bool,
    /// What [`crate::trace::Record::spread`] says.
    pub spread: u8,
    /// What [`crate::trace::Record::backwards`] says.
    pub backwards: bool,
    /// What [`crate::trace::Record::sorted`] says.
    pub sorted: bool,
    /// See `bytes_in`.
    pub bytes_out: u64,
    /// See `bytes_in`.
    pub copy_in_ns: u64,
    /// See `bytes_in`.
    pub copy_out_ns: u64,
}

impl Report {
    /// Whether its result may stand.
    pub fn has_succeeded(&self) -> bool {
        self.error.is_none() && self.outcome.fail == 0
    }
}

/// Whether CUDA can be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum CudaState {
    /// Nobody has asked yet.
    Unknown = 0,
    /// The driver is being initialised.
    Opening = 1,
    /// Ready.
    Ready = 2,
    /// No driver, no device, or it was lost.
    Absent = 3,
}

/// What a driving thread and its clients share.
#[derive(Default)]
struct Driver {
    /// A job is under way, maybe an abandoned one.
    turn: Turn,
    /// The thread takes jobs. What it needs of the loader of libraries it has by then: whoever waits for it may hold that up, in a
    /// library's constructor.
    ready: AtomicBool,
    /// Where jobs go; empty until the thread has been started, `None` if it couldn't be.
    jobs: OnceLock<Option<Outbox<Message>>>,
}

/// So many jobs may be waiting that nobody waits for. Whoever has one more waits until there is room: letters need some, too.
pub const MOST_FOLLOWING: usize = MESSAGES / 2;

/// Room for a job, and for what the calling thread may want beside it: so nobody who sends something has to have memory for it.
const MESSAGES: usize = 64;

/// The handle that calling threads hold.
pub struct Cmt {
    pool: Pool,
    width: Arc<Width>,
    threads: Arc<Driver>,
    cuda: Arc<Driver>,
    cuda_state: Arc<AtomicU8>,
    gpu: Gpu,
    /// Has kernels made before they are needed.
    pub ahead: Ahead,
    /// Ends jobs that nobody waits for.
    pub watch: Watch,
}

impl Cmt {
    /// A handle; threads are started when first needed. Kernels are made ahead until somebody says [`Ahead::end`].
    pub fn new(pool: Pool, threads: usize, gpu: Gpu) -> Cmt {
        Cmt {
            pool,
            width: Arc::new(Width::new(threads)),
            threads: Arc::default(),
            cuda: Arc::default(),
            cuda_state: Arc::new(AtomicU8::new(CudaState::Unknown as u8)),
            gpu,
            ahead: Ahead::default(),
            watch: Watch::default(),
        }
    }

    fn driver(&self, kind: Kind) -> &Arc<Driver> {
        match kind {
            Kind::Threads => &self.threads,
            Kind::Cuda => &self.cuda,
        }
    }

    /// Whether a job is still under way (an abandoned one, after the worker has won).
    pub fn busy(&self, kind: Kind) -> bool {
        self.driver(kind).turn.is_taken()
    }

    /// Whether CUDA can be used.
    pub fn cuda_state(&self) -> CudaState {
        match self.cuda_state.load(Ordering::Acquire) {
            0 => CudaState::Unknown,
            1 => CudaState::Opening,
            2 => CudaState::Ready,
            _ => CudaState::Absent,
        }
    }

    /// Initialises CUDA in the background, if nobody has asked for that yet.
    pub fn open_cuda(&self) {
        leaving::arrange_first();
        if self.start(Kind::Cuda).is_none() {
            self.cuda_state.store(CudaState::Absent as u8, Ordering::Release);
        }
    }

    /// How many threads the threads device uses for its next job.
    pub fn set_threads(&self, threads: usize) {
        self.width.threads.store(threads.max(1), Ordering::Relaxed);
    }

    /// Waits until the device's thread takes jobs, at most so long. False: it doesn't yet.
    pub fn is_ready(&self, kind: Kind, at_most: Duration) -> bool {
        if self.start(kind).is_none() {
            return false;
        }
        let (driver, started) = (self.driver(kind), Instant::now());
        while !driver.ready.load(Ordering::Acquire) {
            if started.elapsed() > at_most {
                return false;
            }
            std::thread::yield_now();
        }
        true
    }

    /// Gives the device's thread a job. False if it is busy or can't be had.
    pub fn submit(&self, job: Job) -> bool {
        let kind = job.kind;
        if kind == Kind::Cuda {
            leaving::arrange_first();
        }
        let Some(jobs) = self.start(kind) else { return false };
        let driver = self.driver(kind);
        if !driver.turn.take() {
            return false;
        }
        if jobs.send(Message::Job(Box::new(job))).is_err() {
            driver.turn.give_back();
            return false;
        }
        true
    }

    /// Gives the device's thread a job that nobody waits for, behind those that it has. It needs nothing of the program's memory, and all that it stores stays on the device. Where it
    /// fails, so does all that is asked of the device afterwards, until somebody has seen to it ([`mailbox::has_failed`]). False: it can't be had.
    pub fn follow(&self, job: Job) -> bool {
        let kind = job.kind;
        if kind == Kind::Cuda {
            leaving::arrange_first();
        }
        let Some(jobs) = self.start(kind) else { return false };
        let mut looks = 0u32;
        while jobs.len() >= MOST_FOLLOWING {
            looks += 1;
            // Soon, or the processor is somebody else's.
            if looks.is_multiple_of(256) { std::thread::yield_now() } else { std::hint::spin_loop() }
        }
        jobs.send(Message::Following(Box::new(job))).is_ok()
    }

    /// The device's thread, started if need be.
    fn start(&self, kind: Kind) -> Option<&Outbox<Message>> {
        let driver = self.driver(kind);
        let start = || {
            let (jobs, inbox) = inbox::channel(MESSAGES);
            let (driver, state) = (driver.clone(), self.cuda_state.clone());
            let (pool, width) = (self.pool.clone(), self.width.clone());
            let started = match kind {
                Kind::Threads => own_threads::start(own_threads::FOR_THREADS, move || {
                    let mut device = ThreadsDevice::new(pool, width.clone());
                    let mut residency = Residency::default();
                    serve(kind, &driver, &inbox, |message| match message {
                        Message::Job(job) | Message::Following(job) => {
                            Some(run(Some(&mut device), &mut residency, *job, &width))
                        }
                        Message::Settle => None,
                        Message::Letter(letter) => {
                            mailbox::answer(Some(&mut device), kind, letter);
                            None
                        }
                    });
                }),
                Kind::Cuda => {
                    state.store(CudaState::Opening as u8, Ordering::Release);
                    let (ahead, gpu) = (self.ahead.clone(), self.gpu);
                    own_threads::start(own_threads::FOR_CUDA, move || {
                        serve_cuda(&driver, &inbox, &state, &ahead, (&pool, gpu), &width);
                    })
                }
            };
            started.then(|| {
                let bell = jobs.clone();
                let ring = move |letter| match letter {
                    Letter::Fetch | Letter::Again => bell.send(Message::Letter(letter)).is_ok(),
                    // Who has no time for that has more to do, and is asked again.
                    Letter::Free(_) => bell.try_send(Message::Letter(letter)).is_ok(),
                };
                mailbox::serve_by(kind, Box::new(ring));
                jobs
            })
        };
        driver.jobs.get_or_init(start).as_ref()
    }
}

/// Runs one job on a device and frees what it took there.
fn run(device: Option<&mut dyn Device>, residency: &mut Residency, job: Job, width: &Width) -> Report {
    let mut report = Report { method: job.method, best_method: job.best_method, ..Report::default() };
    let Some(device) = device else {
        report.error = Some(DeviceError::Lost("no usable device".into()));
        return report;
    };
    let mut taken = Taken { residency, pointers: Vec::new() };
    let mut saved = Vec::new();
    let result = drive(device, &job, &mut report, &mut taken, &mut saved);
    report.error = result.err();
    if report.has_succeeded() {
        taken.pointers.retain(|pointer| report.found.iter().all(|(memory, _)| memory != pointer));
    } else if let Err(error) = undo(device, &saved) {
        report.error = Some(error);
    }
    for pointer in taken.pointers {
        device.free(pointer);
    }
    if job.kind == Kind::Threads {
        report.raised = width.raised.load(Ordering::Relaxed);
    }
    report
}

/// Has the kernel made that a job begins with. `unchecked`: its addresses need no checks.
fn make_ready(device: &mut dyn Device, job: &Job, unchecked: bool) -> Result<(), DeviceError> {
    let n = job.iterations();
    let attempt = Attempt::first(job, n, may_buffer(device, job, n));
    match kernel_for(device, job, attempt, n, unchecked) {
        // What becomes of that is for the launch, which asks again: another attempt may take less.
        Err(DeviceError::OutOfMemory(_)) => Ok(()),
        kernel => kernel.map(|_| ()),
    }
}

/// The way of a job through a device.
fn drive(
    device: &mut dyn Device,
    job: &Job,
    report: &mut Report,
    taken: &mut Taken<'_>,
    saved: &mut Vec<(DevicePtr, DevicePtr, u64)>,
) -> Result<(), DeviceError> {
    let n = job.iterations();
    let started = Instant::now();
    let mut regions: Vec<Region> = job.placement.regions.clone();
    // Elements stay aligned. No more than that: where the first one that the loop reaches begins a line of the device's memory,
    // threads side by side touch as few lines as can be.
    let widest = job.info.widest();
    let within = |lo: u64| lo % widest;
    let remembered = job.basis.as_ref().map_or_else(Vec::new, Basis::remembered);
    let may_buffer = may_buffer(device, job, n);
    let mut attempt = Attempt::first(job, n, may_buffer);
    let mut make_kernel = |device: &mut dyn Device| make_ready(device, job, needs_no_checks(job));
    if job.prepares {
        report.outcome.fail = PG_FAIL_STOPPED;
        return make_kernel(device);
    }
    move_in(device, job, &mut regions, report, taken, saved)?;
    // What stays where it is needs no other copy, which would be copied to it as far as that had changed.
    let lent =
        taken.residency.lend(device, &job.placement, &mut regions, within, job.basis.as_ref(), &remembered);
    let copied = allocate(device, job, &mut regions, within, taken)
        .and_then(|()| copy_in(device, job, &regions, &remembered, &lent, report, &mut make_kernel));
    match copied {
        Ok(true) => taken.residency.keep(lent, job.basis.as_ref(), &remembered),
        _ => taken.pointers.extend(taken.residency.give_up(lent)),
    }
    copied?;
    let placement = &job.placement;
    if given_up(job) {
        report.outcome.fail = PG_FAIL_STOPPED;
        return Ok(());
    }
    // What is made again, or asked for what was there before.
    let mut keeps = job.method == LogMethod::Stamp || attempt.guess == Guess::Range;
    let mut copies = Vec::new();
    for (index, region) in regions.iter_mut().enumerate() {
        // Where the loop only stores, nobody asks what was there.
        let is_kept = keeps && placement.written[index] && placement.read[index];
        if !is_kept && !placement.snapshot[index] {
            continue;
        }
        let pointer = match taken.allocate(device, region.size + 64) {
            // Bits need no copies, but room of their own.
            Err(DeviceError::OutOfMemory(_))
                if attempt.guess == Guess::Range && !placement.snapshot[index] =>
            {
                attempt = Attempt::proper(job, may_buffer);
                keeps = false;
                taken.give_back(device, &std::mem::take(&mut copies));
                continue;
            }
            pointer => pointer?,
        };
        let copy = pointer.0 + within(region.lo);
        device.duplicate(DevicePtr(region.dev), DevicePtr(copy), region.size)?;
        if placement.snapshot[index] {
            region.snapshot = copy;
        } else {
            copies.push(pointer);
        }
        if is_kept {
            region.before = copy;
        }
    }
    if !keeps {
        regions.iter_mut().for_each(|region| region.before = region.dev);
    }
    let logs = loop {
        let logs = match run_once(device, job, attempt, &regions, n, started, report, taken) {
            // Stamps may take less than bits of many launches.
            Err(DeviceError::OutOfMemory(_)) if attempt.portion != 0 => {
                attempt = Attempt::in_order(job, may_buffer);
                continue;
            }
            // Entries with values are larger than those without.
            Err(DeviceError::OutOfMemory(_)) if attempt.buffered != 0 => {
                attempt = Attempt::proper(job, false);
                continue;
            }
            Err(DeviceError::OutOfMemory(_)) if attempt.seams != 0 => {
                attempt = Attempt::in_order(job, may_buffer);
                continue;
            }
            result => result?,
        };
        if let Some(next) = attempt.after(job, n, may_buffer, report) {
            if given_up(job) {
                // Nor is another attempt wanted, whose kernel may have to be compiled first.
                report.outcome.fail = PG_FAIL_STOPPED;
                return Ok(());
            }
            attempt = next;
            logs.free(device, taken);
            continue;
        }
        if report.outcome.fail != 0 {
            return Ok(());
        }
        attempt.stands(job, n, report);
        break logs;
    };
    if let (Some(basis), false) = (&job.basis, report.unchecked) {
        report.seen = Some((basis.number, Seen::new(placement, &job.bases)));
    }
    if given_up(job) {
        report.outcome.fail = PG_FAIL_STOPPED;
        return Ok(());
    }
    let started = Instant::now();
    let written: Vec<(usize, Written)> = match (&job.returning, &job.written) {
        (Some(ranges), _) => {
            ranges.iter().map(|(index, ranges)| (*index, Written::Ranges(ranges.clone()))).collect()
        }
        (None, Some(rows)) => written::covered(rows, &job.placement)
            .ok_or_else(|| DeviceError::Kernel("what is written lies in no array".into()))?
            .into_iter()
            .map(|(index, ranges)| (index, Written::Ranges(ranges)))
            .collect(),
        (None, None) => {
            let bits = if attempt.method.is_bitmap() { logs.writers } else { logs.written };
            by_logs(device, &job.placement, bits, report)?
        }
    };
    let mut pieces = Pieces::new(written)?;
    let place = |fetch: &Fetch| {
        let region = &regions[fetch.region];
        DevicePtr(region.dev + (fetch.address - region.lo))
    };
    let places: Vec<DevicePtr> = pieces.fetches().iter().map(place).collect();
    let mut wanted: Vec<_> = places.into_iter().zip(pieces.buffers()).collect();
    device.copy_out(&mut wanted)?;
    report.bytes_out += wanted.iter().map(|(_, to)| to.len() as u64).sum::<u64>();
    report.pieces = pieces;
    report.copy_out_ns = started.elapsed().as_nanos() as u64;
    Ok(())
}

/// Whether nobody wants a job's result any more.
fn given_up(job: &Job) -> bool {
    job.seat.is_unwanted() || is_leaving()
}

/// Launches a job's loop. `None`: it isn't wanted any more.
fn launched(
    device: &mut dyn Device,
    job: &Job,
    launch: &mut Launch<'_>,
) -> Option<Result<Outcome, DeviceError>> {
    if is_leaving() {
        return None;
    }
    match job.kind {
        Kind::Threads => job.seat.in_code(|| device.run(launch)),
        Kind::Cuda if job.seat.is_unwanted() => None,
        // Its code is its own: the calling thread needn't wait for it.
        Kind::Cuda => Some(begun_behind(device, job, launch).and_then(|is_begun| match is_begun {
            true => Ok(Outcome::default()),
            false => device.run(launch),
        })),
    }
}

/// Whether a job's loop has been begun behind others; nobody knows yet what has come of it.
fn begun_behind(device: &mut dyn Device, job: &Job, launch: &Launch<'_>) -> Result<bool, DeviceError> {
    if job.follows && !needs_no_checks(job) { device.run_behind(launch) } else { Ok(false) }
}

/// Runs a job's loop, whose arrays are on the device, and settles what several iterations have stored to. What came of it is in the report, with the time
/// of the attempts before.
#[allow(clippy::too_many_arguments)]
fn run_once(
    device: &mut dyn Device,
    job: &Job,
    attempt: Attempt,
    regions: &[Region],
    n: u64,
    started: Instant,
    report: &mut Report,
    taken: &mut Taken<'_>,
) -> Result<Logs, DeviceError> {
    let before = std::mem::take(&mut report.outcome);
    report.unchecked = needs_no_checks(job);
    let kernel = kernel_for(device, job, attempt, n, report.unchecked)?;
    if device.name() == "cuda" {
        (report.group, report.deep) = (kernel.group, kernel.deep);
        (report.spread, report.sorted) = (kernel.spread, kernel.sorted);
        report.backwards = kernel.backwards;
    }
    let logs = Logs::new(device, job, attempt, n, taken)?;
    // What an attempt before has stored to is made again.
    let restore = |device: &mut dyn Device| {
        let mut changed = regions.iter().filter(|region| region.before != region.dev);
        changed.try_for_each(|region| {
            device.duplicate(DevicePtr(region.before), DevicePtr(region.dev), region.size)
        })
    };
    // What an attempt has left that has come to nothing, for whatever reason.
    if report.attempts != 0 {
        restore(device)?;
    } else {
        report.copy_in_ns = started.elapsed().as_nanos() as u64;
    }
    report.attempts += 1;
    let mut results = job.results.clone();
    let by_turns = job.by_turns.as_deref().filter(|_| kernel.sorted);
    let mut launch = Launch {
        info: &job.info,
        loop_key: job.loop_key,
        n,
        trip: job.trip.map(|t| t as u64),
        regions,
        anchors: &job.placement.anchors,
        bases: &job.bases,
        values: &job.values,
        results: &mut results,
        wr: logs.writers,
        rd: logs.readers,
        written: logs.written,
        log_words: logs.words,
        stamp_words: logs.stamp_words,
        log_shift: job.placement.log_shift,
        settles: false,
        portion: attempt.portion,
        probes: attempt.probes,
        method: attempt.method,
        kernel,
        filled: &job.filled,
        schedule: match &by_turns {
            Some(order) => Some(order.as_level()),
            None => job.schedule.as_deref(),
        },
        kept_as: by_turns.map(|order| order.number),
        longest: by_turns.map(|order| order.longest),
        stop: job.seat.stop(),
        limit: job.patience.unwrap_or(LONGEST_LAUNCH),
        n_parts: parts::count(&job.info, &job.trip),
        block: parts::block(&job.info, &job.trip) as u64,
    };
    let Some(outcome) = launched(device, job, &mut launch) else {
        report.outcome.fail = PG_FAIL_STOPPED;
        return Ok(logs);
    };
    let mut outcome = outcome?;
    if outcome.fail == 0 && outcome.unsettled != 0 && attempt.buffered == 0 {
        // Whose value stands of those that several iterations have stored to a cell is not known yet.
        restore(device)?;
        launch.settles = true;
        launch.results.copy_from_slice(&job.results);
        let Some(settled) = launched(device, job, &mut launch) else {
            report.outcome.fail = PG_FAIL_STOPPED;
            return Ok(logs);
        };
        let Outcome { fail, iteration, conflicts, execute_ns, .. } = settled?;
        let execute_ns = outcome.execute_ns + execute_ns;
        outcome = Outcome { fail, iteration, conflicts, execute_ns, ..outcome };
    }
    outcome.execute_ns += before.execute_ns;
    outcome.check_ns += before.check_ns;
    report.outcome = outcome;
    if report.outcome.fail == PG_FAIL_STOPPED && job.seat.stop().load(Ordering::Relaxed) == TIME_IS_UP {
        report.outcome.fail = PG_FAIL_TIME;
    }
    if report.outcome.fail == 0 {
        report.results = results;
    }
    Ok(logs)
}

#[cfg(test)]
mod tests;
