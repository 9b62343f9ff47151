//! What happens when a program enters a loop: from the numbers of this entry to a result, or to "run it as it stood".
//!
//! [`Engine::enter`] is the whole story in order: is this a situation that we serve at all; can the iterations be proven
//! independent, and if not, how are they checked; where do the arrays lie; where should it run; run; remember.

use crate::abi::*;
use crate::config::{Config, DeviceChoice, RaceChoice};
use crate::device::{LogMethod, threads};
use crate::history::{self, Category, History};
use crate::memory::allocations::Allocations;
use crate::memory::placement::{self, Placement};
use crate::speculation::cmt::{Cmt, CudaState, Job, Kind};
use crate::speculation::predicate::{self, Obstacle};
use crate::speculation::{commit, race};
use crate::trace::{Record, Trace};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, TryLockError};
use std::time::Instant;

/// Most iterations that a log cell can tell apart.
const MAX_ITERATIONS: u64 = u32::MAX as u64 - 2;
/// Splitting a loop over threads costs about this many nanoseconds.
const SPLIT_COST_NS: f64 = 60_000.0;
/// MXCSR and x87 control word as a program finds them.
const DEFAULT_MXCSR: u32 = 0x1f80;
const DEFAULT_X87: u16 = 0x037f;

/// The runtime of one process.
pub struct Engine {
    config: Config,
    trace: Trace,
    process: u32,
    allocations: Mutex<Allocations>,
    histories: Mutex<HashMap<usize, History>>,
    /// Held while a loop is entered: a second thread, a signal handler or a nested loop runs as it stood.
    active: AtomicBool,
    cmt: OnceLock<Option<Cmt>>,
}

/// Whether something was decided here, or why not.
type Declined = String;

struct Active<'a>(&'a AtomicBool);

impl Drop for Active<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|p| p.into_inner())
}

/// Rounding, masks and flushing are the default.
fn default_floating_point() -> bool {
    let mut x87 = 0u16;
    // SAFETY: stores 16 bits into a local variable.
    unsafe { std::arch::asm!("fnstcw [{}]", in(reg) &mut x87, options(nostack)) };
    threads::read_mxcsr() & !0x3f == DEFAULT_MXCSR && x87 == DEFAULT_X87
}

/// How this entry is checked.
struct Plan {
    method: LogMethod,
    proven: bool,
    dense: Option<Vec<(u64, u64)>>,
}

impl Engine {
    /// A runtime by the environment's wishes.
    pub fn new(config: Config) -> Engine {
        Engine {
            trace: Trace::open(config.trace.as_deref()),
            config,
            process: std::process::id(),
            allocations: Mutex::default(),
            histories: Mutex::default(),
            active: AtomicBool::new(false),
            cmt: OnceLock::new(),
        }
    }

    /// Whether loops may run elsewhere at all.
    pub fn serves(&self) -> bool {
        self.config.device != DeviceChoice::Off
    }

    /// Records an allocation or a named object. Never waits: a signal handler may be calling.
    pub fn record(&self, start: u64, bytes: u64) {
        match self.allocations.try_lock() {
            Ok(mut table) => table.insert(start, bytes),
            Err(TryLockError::Poisoned(table)) => table.into_inner().insert(start, bytes),
            Err(TryLockError::WouldBlock) => {}
        }
    }

    /// Forgets an allocation.
    pub fn forget(&self, start: u64) {
        if let Ok(mut table) = self.allocations.try_lock() {
            table.remove(start);
        }
    }

    fn cmt(&self) -> Option<&Cmt> {
        self.cmt.get_or_init(|| Cmt::start(self.config.threads)).as_ref()
    }

    /// A loop is entered. True: it is complete, and the entry's results are the scalars after it. False: nothing has
    /// happened.
    ///
    /// # Safety
    /// `the_loop` is a loop of a loaded object, and `entry` was filled in by its generated code and is alive.
    pub unsafe fn enter(&self, the_loop: &Loop, entry: &mut Entry) -> bool {
        if std::process::id() != self.process || self.active.swap(true, Ordering::AcqRel) {
            return false;
        }
        let _active = Active(&self.active);
        // SAFETY: info is static data of a loaded object; objects with loops are not unloaded while the program runs them.
        let Some(info) = (unsafe { entry.info.as_ref::<'static>() }) else { return false };
        if info.abi != PG_ABI_VERSION {
            return false;
        }
        let started = Instant::now();
        let mut record = Record::new(info);
        let mut history = *lock(&self.histories).entry(std::ptr::from_ref(the_loop) as usize).or_default();
        // SAFETY: promised by the caller.
        let result = unsafe { self.decide(the_loop, info, entry, &mut history, &mut record) };
        lock(&self.histories).insert(std::ptr::from_ref(the_loop) as usize, history);
        if let Err(why) = &result {
            record.why.clone_from(why);
        }
        if self.trace.enabled() {
            record.total_ns = started.elapsed().as_nanos() as u64;
            self.trace.write(&record);
        }
        result.is_ok()
    }

    /// See [`Engine::enter`]; `Err` says why the loop runs as it stood.
    unsafe fn decide(
        &self,
        the_loop: &Loop,
        info: &'static Info,
        entry: &mut Entry,
        history: &mut History,
        record: &mut Record,
    ) -> Result<(), Declined> {
        let forced = self.config.race != RaceChoice::Auto;
        let n =
            entry.trip.iter().try_fold(1u64, |n, t| u64::try_from(*t).ok().and_then(|t| n.checked_mul(t)));
        let Some(n) = n.filter(|n| (1..=MAX_ITERATIONS).contains(n)) else {
            return Err("too many iterations to tell apart".into());
        };
        record.trip = n;
        if !default_floating_point() {
            return Err("the floating-point environment is not the default one".into());
        }
        let resting = !history.enter();
        if resting && !forced {
            return Err("conflicts were found before".into());
        }
        // SAFETY: promised by the caller, here and below.
        let plan = unsafe { self.plan(info, entry)? };
        record.log = ["none", "mark", "atomic", "reduction"][plan.method as usize];
        let kind = self.choose(info, n, history)?;

        let in_place =
            kind == Kind::Threads && plan.proven && self.config.in_place && !info.has(PG_LOOP_MAY_ABORT);
        if in_place && self.config.race != RaceChoice::Worker {
            record.log = "none";
            // SAFETY: promised by the caller; the loop is proven parallel for this entry.
            return unsafe { self.in_place(the_loop, info, entry, history, record) };
        }
        // SAFETY: promised by the caller.
        unsafe { self.speculate(the_loop, info, entry, history, record, plan, kind, n) }
    }

    /// How the entry is checked: by proof where there is one, otherwise by logs.
    unsafe fn plan(&self, info: &Info, entry: &Entry) -> Result<Plan, Declined> {
        let lines = |a: u32, b: u32| {
            let line = |s: u32| info.sites().get(s as usize).map_or(0, |s| s.line);
            (line(a), line(b))
        };
        // SAFETY: promised by the caller.
        let proof = unsafe { predicate::prove(info, entry) };
        let logs = |method| Plan { method, proven: false, dense: None };
        match (proof, self.config.log) {
            (_, Some(method)) if info.n_pairs != 0 => Ok(logs(method)),
            (Ok(true), _) => {
                // SAFETY: promised by the caller.
                let dense = unsafe { commit::dense_ranges(info, entry) };
                let method = if dense.is_some() { LogMethod::None } else { LogMethod::Mark };
                Ok(Plan { method, proven: true, dense })
            }
            (Ok(false), _) => Ok(logs(LogMethod::Atomic)),
            (Err(Obstacle::Pair(a, b)), _) => {
                let (a, b) = lines(a, b);
                Err(format!("the accesses in lines {a} and {b} may meet in different iterations"))
            }
            (Err(Obstacle::Pin(store, _)), _) => Err(format!(
                "the store in line {} may change what the loop depends on",
                lines(store, store).0
            )),
        }
    }

    /// Threads or CUDA.
    fn choose(&self, info: &Info, n: u64, history: &History) -> Result<Kind, Declined> {
        let exact = info.has(PG_LOOP_CUDA_EXACT);
        match self.config.device {
            DeviceChoice::Off => Err("switched off".into()),
            DeviceChoice::Threads => Ok(Kind::Threads),
            DeviceChoice::Cuda => {
                if !exact {
                    return Err("CUDA would not give the same bits".into());
                }
                let cmt = self.cmt().ok_or("no thread could be started")?;
                match cmt.cuda_state() {
                    CudaState::Ready => Ok(Kind::Cuda),
                    CudaState::Absent => Err("no usable CUDA device".into()),
                    // The driver takes its time: meanwhile the loop runs, unless the device is to be waited for.
                    _ if self.config.race == RaceChoice::Device => Ok(Kind::Cuda),
                    _ => {
                        cmt.open_cuda();
                        Err("the CUDA driver is being initialised".into())
                    }
                }
            }
            DeviceChoice::Auto => {
                let _ = history;
                let Some(cmt) = self.cmt() else { return Ok(Kind::Threads) };
                if exact && cmt.cuda_state() == CudaState::Unknown {
                    cmt.open_cuda();
                }
                // Work that outweighs the copies by far goes to the GPU; streaming over host data does not.
                let heavy = info.work.saturating_mul(n) > 200_000_000 && info.work >= 64;
                let cuda = exact && heavy && cmt.cuda_state() == CudaState::Ready;
                Ok(if cuda { Kind::Cuda } else { Kind::Threads })
            }
        }
    }

    /// A proven loop on the program's own memory: a sample on the calling thread, then all threads.
    unsafe fn in_place(
        &self,
        the_loop: &Loop,
        info: &Info,
        entry: &mut Entry,
        history: &mut History,
        record: &mut Record,
    ) -> Result<(), Declined> {
        let forced = self.config.race == RaceChoice::Device;
        if self.config.threads < 2 && !forced {
            history::switch_off(the_loop);
            return Err("only one core is available".into());
        }
        // SAFETY: promised by the caller, here and below.
        let mut results: Vec<Value> = unsafe { entry.results(info) }.to_vec();
        let trip = entry.trip[0];
        let mut first = 0;
        if !forced {
            first = (trip / 16).clamp(1, trip);
            let started = Instant::now();
            // SAFETY: iterations in source order, as the program would run them.
            unsafe { (info.direct)(entry, results.as_mut_ptr(), 0, first, std::ptr::null()) };
            let ns = started.elapsed().as_nanos() as u64;
            history.worker_took(first as u64, ns);
            record.worker_iterations = first as u64;
            let rest = ns as f64 / first as f64 * (trip - first) as f64;
            if rest * (1.0 - 1.0 / self.config.threads as f64) < SPLIT_COST_NS {
                // SAFETY: as above.
                unsafe { (info.direct)(entry, results.as_mut_ptr(), first, trip, std::ptr::null()) };
                record.worker_iterations = trip as u64;
                record.decision = "worker";
                record.why = "too short to be split".into();
                history.paid(false, the_loop);
                // SAFETY: the entry's results have as many elements.
                unsafe { std::ptr::copy_nonoverlapping(results.as_ptr(), entry.results, results.len()) };
                return Ok(());
            }
        }
        let started = Instant::now();
        // SAFETY: the loop is proven parallel for this entry.
        unsafe { threads::run_in_place(info, entry, first, self.config.threads, &mut results) };
        // SAFETY: the entry's results have as many elements.
        unsafe { std::ptr::copy_nonoverlapping(results.as_ptr(), entry.results, results.len()) };
        record.execute_ns = started.elapsed().as_nanos() as u64;
        record.decision = "threads";
        record.device = "threads";
        record.why = "proven parallel, in place".into();
        if !forced {
            history.device_took((trip - first) as u64, record.execute_ns);
            history.paid(history.device_ns < 0.95 * history.worker_ns, the_loop);
        }
        Ok(())
    }

    /// A loop on copies of its arrays, raced by the sequential loop.
    #[allow(clippy::too_many_arguments)]
    unsafe fn speculate(
        &self,
        the_loop: &Loop,
        info: &'static Info,
        entry: &mut Entry,
        history: &mut History,
        record: &mut Record,
        plan: Plan,
        kind: Kind,
        n: u64,
    ) -> Result<(), Declined> {
        let cmt = self.cmt().ok_or("no thread could be started")?;
        if cmt.busy() && self.config.race == RaceChoice::Auto {
            return Err("the device is still busy with an earlier loop".into());
        }
        while cmt.busy() {
            std::thread::yield_now();
        }
        // The first invocation of a logged loop is monitored (the chapter, 4.5.1): the same run on copies, beside the worker,
        // whose result always stands.
        let monitored = !plan.proven
            && history.category == Category::Unknown
            && self.config.monitor
            && self.config.race == RaceChoice::Auto;
        let kind = if monitored { Kind::Threads } else { kind };
        let placement: Placement = {
            let allocations = lock(&self.allocations);
            // SAFETY: promised by the caller.
            unsafe { placement::place(info, entry, &allocations, plan.method)? }
        };
        let (events, inbox) = crossbeam_channel::unbounded();
        // SAFETY: promised by the caller.
        let (bases, values, pins) = unsafe { (entry.bases(info), entry.values(info), entry.pins(info)) };
        let job = Job {
            info,
            kind,
            trip: entry.trip,
            bases: bases.iter().map(|b| b.pointer).collect(),
            values: values.to_vec(),
            results: info.results().iter().map(commit::identity).collect(),
            method: plan.method,
            pinned: placement.pinned_cells(pins),
            dense: plan.dense,
            placement,
            stop: Arc::new(AtomicU32::new(0)),
            worker_stop: Arc::new(AtomicU32::new(0)),
            events,
        };
        let choice = if monitored { RaceChoice::Worker } else { self.config.race };
        let started = Instant::now();
        // SAFETY: promised by the caller.
        let finish = unsafe { race::run(cmt, info, entry, job, inbox, choice) }
            .ok_or("the device did not take the loop")?;
        let elapsed = started.elapsed().as_nanos() as u64;
        history.worker_took(finish.worker_iterations, finish.worker_ns);
        record.worker_iterations = finish.worker_iterations;
        record.device = if kind == Kind::Cuda { "cuda" } else { "threads" };
        record.decision = if finish.device_won { record.device } else { "worker" };
        let mut gain = finish.device_won;
        match &finish.report {
            None => record.why = "the sequential loop was faster".into(),
            Some(report) => {
                record.execute_ns = report.outcome.execute_ns;
                record.check_ns = report.outcome.check_ns;
                record.bytes_in = report.bytes_in;
                record.bytes_out = report.bytes_out;
                record.copy_in_ns = report.copy_in_ns;
                record.copy_out_ns = report.copy_out_ns;
                record.fail = failure_words(report.outcome.fail);
                record.conflicts = report.outcome.conflicts;
                let conflict = report.outcome.fail & (PG_FAIL_WAW | PG_FAIL_RAW) != 0;
                record.why = match (&report.error, report.outcome.fail) {
                    (Some(error), _) => error.to_string(),
                    (None, 0) if finish.device_won => "the device was faster, or was waited for".into(),
                    (None, 0) => "the sequential loop was faster".into(),
                    (None, _) if conflict => format!("conflict, iteration {}", report.outcome.iteration),
                    (None, _) => "the device gave up".into(),
                };
                if conflict {
                    history.conflict();
                } else if report.error.is_none() && report.outcome.fail == 0 {
                    history.clean();
                    gain |= monitored;
                }
                if finish.device_won {
                    history.device_took(entry.trip[0] as u64, elapsed);
                }
            }
        }
        if monitored {
            record.why = format!("monitored: {}", record.why);
        }
        if self.config.race == RaceChoice::Auto && history.category != Category::Sequential {
            history.paid(gain, the_loop);
        }
        let _ = n;
        Ok(())
    }
}
