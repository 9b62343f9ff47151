//! What happens when a program enters a loop: from the numbers of this entry to a result, or to "run it as it stood".
//!
//! [`Engine::enter`] is the whole story in order: is this a situation that we serve at all; can the iterations be proven
//! independent, and if not, how are they checked; where should it run; where do the arrays lie; run; remember.

use crate::abi::*;
use crate::config::{Config, DeviceChoice, RaceChoice};
use crate::device::LogMethod;
use crate::device::{
    pool::Pool,
    threads::{self, Share},
};
use crate::floating_point::{self, FloatingPoint};
use crate::history::{self, Category, History, Inspector, Way};
use crate::leaving;
use crate::memory::allocations::Allocations;
use crate::memory::placement::{self, Placement};
use crate::memory::private_copies::PrivateCopies;
use crate::memory::snapshot::Snapshot;
use crate::memory::{limits, safe_copy};
use crate::policy::{self, Opening, Situation};
use crate::signals::{self, Deferred};
use crate::speculation::cmt::{Cmt, CudaState, Job, Kind};
use crate::speculation::commit;
use crate::speculation::inspector::levels::Schedule;
use crate::speculation::inspector::{self, Finding, Memo, Obstacle as Uninspected, levels, marks};
use crate::speculation::monitor::{self, Pending, Progress};
use crate::speculation::parts;
use crate::speculation::predicate::{self, Obstacle, Rest};
use crate::speculation::race::{self, Finish, Rule};
use crate::trace::{Record, Trace};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// Findings that are kept for each loop: programs swap arrays, and go through levels, colours and blocks again and again.
const KEPT_FINDINGS: usize = 16;
/// What all of them together may take, unless it is one.
const KEPT_FINDINGS_BYTES: u64 = 1 << 30;

/// A distributed loop is worth it where it takes this part of the time that its parts would take on the calling thread: as it
/// stands it loads what several of them use once.
const DISTRIBUTED: f64 = 0.6;

/// An inspection that is asked for may take so long, unless somebody says otherwise.
const LONGEST_INSPECTION: Duration = Duration::from_secs(30);

/// Most iterations that a log cell can tell apart.
const MAX_ITERATIONS: u64 = PG_UPDATES as u64 - 2;
/// A log's words are counted in 32 bits on devices.
const MAX_LOG_WORDS: u64 = u32::MAX as u64;

/// The runtime of one process.
pub struct Engine {
    config: Config,
    trace: Trace,
    process: u32,
    /// The signals that were blocked when the runtime was loaded.
    signals: u64,
    allocations: Mutex<Allocations>,
    histories: Mutex<HashMap<usize, History>>,
    pending: Mutex<Option<Pending>>,
    /// What inspections have found, by loop; the latest come last.
    findings: Mutex<HashMap<usize, Vec<Memo>>>,
    active: Active,
    pool: Pool,
    cmt: Cmt,
    opening: Opening,
}

/// Why a loop runs as it stood.
type Declined = String;

/// What they do about them would not be what the program knows: see [`signals`].
const HANDLES_FAULTS: &str = "the program handles faults itself";
/// A loop without a function for the threads device, which the compiler leaves out where it can't pay.
const UNCHECKED: &str = "checked threads can't pay here: no code was generated for them";

/// The entry under way: a second thread, a signal handler or a nested loop runs as it stood.
#[derive(Default)]
struct Active {
    /// The thread whose it is; 0: there is none.
    thread: AtomicU64,
    /// Where that thread's stack stood.
    frame: AtomicUsize,
}

impl Active {
    /// Takes it. An entry of the same thread from deeper down its stack is over, though nobody has said so: a fault's handler has
    /// left it by `siglongjmp`.
    fn take(&self) -> Option<Entered<'_>> {
        let mark = 0u8;
        let frame = (&raw const mark) as usize;
        // SAFETY: always succeeds.
        let own = unsafe { libc::pthread_self() } as u64;
        match self.thread.compare_exchange(0, own, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => {}
            // Only this thread would change it.
            Err(thread) if thread == own && self.frame.load(Ordering::Relaxed) <= frame => {}
            Err(_) => return None,
        }
        self.frame.store(frame, Ordering::Relaxed);
        Some(Entered(self))
    }
}

struct Entered<'a>(&'a Active);

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.0.thread.store(0, Ordering::Release);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs all iterations on the calling thread, in source order. With `signals` a handler may leave them.
///
/// # Safety
/// As for [`Engine::enter`]; nothing that the loop depends on may change while it runs.
unsafe fn run_all(info: &Info, entry: &mut Entry, errno: &mut i32, signals: Option<&Deferred>) {
    let mut fp = FloatingPoint::enter(*errno);
    // SAFETY: promised by the caller, here and below.
    let mut running = parts::Running::new(info, unsafe { entry.results(info) });
    // SAFETY: as above; as the program would run them.
    let mut run = || unsafe { running.run(info, entry, 0, entry.trip[0]) };
    fp.program(|| match signals {
        Some(signals) => signals.lifted(run),
        None => run(),
    });
    *errno = fp.errno();
    let results = running.results();
    // SAFETY: the entry's results have as many elements.
    unsafe { std::ptr::copy_nonoverlapping(results.as_ptr(), entry.results, results.len()) };
}

/// Keeps a finding, the latest.
fn keep(findings: &mut Vec<Memo>, finding: Memo) {
    findings.push(finding);
    while findings.len() > KEPT_FINDINGS
        || findings.len() > 1 && findings.iter().map(Memo::bytes).sum::<u64>() > KEPT_FINDINGS_BYTES
    {
        findings.remove(0);
    }
}

/// How this entry is checked.
struct Plan {
    method: LogMethod,
    /// Nothing needs to be checked while it runs.
    proven: bool,
    /// What predicates left open.
    rest: Rest,
    /// The log method was asked for: nothing replaces it.
    forced: bool,
    /// The iterations are independent by proof, and are logged to see that refuted.
    claimed: bool,
    /// They are once loads find what was in memory before the loop.
    snapshot: bool,
    /// They depend on each other, and this order keeps the dependences.
    schedule: Option<Arc<Schedule>>,
    /// What an inspection has seen them store: [`Memo::stored`].
    stored: Option<Arc<Vec<(u64, u64)>>>,
}

impl Plan {
    /// Whether accesses are logged, so that the run is a guess.
    fn logged(&self) -> bool {
        self.method.detects()
    }
}

/// Where the arrays lie, and what is written completely, where that is known.
struct Placed {
    placement: Placement,
    written: Option<Vec<commit::Rows>>,
}

/// One entry on its way.
struct Visit<'a> {
    the_loop: &'a Loop,
    info: &'static Info,
    entry: &'a mut Entry,
    history: History,
    record: Record,
    fp: FloatingPoint,
    /// Iterations of the merged space.
    iterations: u64,
    /// What waits meanwhile.
    signals: &'a Deferred,
    stays: bool,
    /// When it began.
    started: Instant,
}

impl Visit<'_> {
    /// From here on it may take longer.
    fn stay(&mut self) {
        if !std::mem::replace(&mut self.stays, true) {
            self.signals.only_handled();
        }
    }
}

impl Engine {
    /// A runtime by the environment's wishes. `signals`: those that were blocked when it was loaded, a bit for each.
    pub fn new(config: Config, signals: u64) -> Engine {
        leaving::arrange();
        let pool = Pool::default();
        Engine {
            trace: Trace::open(config.trace.as_deref()),
            process: std::process::id(),
            signals,
            allocations: Mutex::default(),
            histories: Mutex::default(),
            pending: Mutex::default(),
            findings: Mutex::default(),
            active: Active::default(),
            cmt: Cmt::new(pool.clone(), config.threads),
            pool,
            opening: Opening::default(),
            config,
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

    /// Whether this is a process and a moment in which loops may run elsewhere.
    fn may_enter(&self, signals: &Deferred) -> bool {
        self.serves()
            && std::process::id() == self.process
            && !leaving::is_leaving()
            && !self.in_signal_handler(signals)
    }

    /// Whether we stand in a signal handler, as far as one can tell: handlers run with their own signal blocked.
    fn in_signal_handler(&self, signals: &Deferred) -> bool {
        signals.blocked_before() & !self.signals != 0
    }

    /// A loop is entered. True: it is complete, and the entry's results are the scalars after it. False: nothing has
    /// happened. `errno` is the program's.
    ///
    /// # Safety
    /// `the_loop` is a loop of a loaded object, and `entry` was filled in by its generated code and is alive.
    pub unsafe fn enter(
        &self,
        the_loop: &Loop,
        entry: &mut Entry,
        errno: &mut i32,
        signals: &Deferred,
    ) -> bool {
        // SAFETY: promised by the caller.
        unsafe {
            self.enter_elsewhere(the_loop, entry, errno, signals)
                || self.run_in_order(the_loop, entry, errno, signals)
        }
    }

    /// A loop that runs nowhere else, on the calling thread: only where the order of the iterations is part of a result,
    /// which must be the same wherever it runs.
    ///
    /// # Safety
    /// As for [`Engine::enter`].
    unsafe fn run_in_order(
        &self,
        the_loop: &Loop,
        entry: &mut Entry,
        errno: &mut i32,
        signals: &Deferred,
    ) -> bool {
        // SAFETY: info is static data of a loaded object.
        let Some(info) = (unsafe { entry.info.as_ref::<'static>() }) else { return false };
        if info.abi != PG_ABI_VERSION {
            return false;
        }
        if !parts::is_ordered(info) {
            if !self.serves() {
                history::switch_off(the_loop);
            }
            return false;
        }
        // What a store may change here, the body takes for constant.
        // SAFETY: promised by the caller, here and below.
        match unsafe { predicate::prove(info, entry) } {
            Err(obstacle) if obstacle.is_final() => return false,
            Ok(rest) if rest.unplaced.is_some() => return false,
            _ => {}
        }
        // SAFETY: as above.
        unsafe { run_all(info, entry, errno, Some(signals)) };
        true
    }

    /// A loop that is distributed is entered: the loop itself, then its parts. True: all of them are complete. False: nothing
    /// has happened.
    ///
    /// # Safety
    /// As for [`Engine::enter`], for each of them.
    pub unsafe fn enter_parts(
        &self,
        entries: &mut [(&Loop, Entry)],
        errno: &mut i32,
        signals: &Deferred,
    ) -> bool {
        let Some(((whole, own), parts)) = entries.split_first_mut() else { return false };
        if !self.serves() {
            history::switch_off(whole);
        }
        if !self.may_enter(signals) || !floating_point::is_default() {
            return false;
        }
        // SAFETY: promised by the caller, here and below.
        let may = match unsafe { own.info.as_ref() } {
            Some(info) if self.config.race == RaceChoice::Auto && signals::handles_faults(info) => {
                Err(HANDLES_FAULTS.into())
            }
            // SAFETY: as above.
            _ => unsafe { self.may_distribute(own, parts) },
        };
        if let Err(why) = may {
            if self.config.race == RaceChoice::Auto {
                let key = std::ptr::from_ref::<Loop>(whole) as usize;
                let mut histories = lock(&self.histories);
                let history = histories.entry(key).or_default();
                match history.is_too_small(own.trip[0]) {
                    true => history.overrated(whole),
                    false => history.paid(false, whole, own.trip[0]),
                }
            }
            // SAFETY: as above.
            if let Some(info) = unsafe { own.info.as_ref() }.filter(|_| self.trace.enabled()) {
                let trip = own.trip[0].max(0) as u64;
                self.trace.write(&Record { why, trip, ..Record::new(info) });
            }
            return false;
        }
        // What one part has stored the others have to follow.
        signals.only_handled();
        let started = Instant::now();
        let mut worker_ns = Some(0.0);
        for (part, entry) in parts {
            // SAFETY: as above.
            let Some(info) = (unsafe { entry.info.as_ref::<'static>() }) else { continue };
            let is_off = self.is_off(part, entry);
            // From the first part on there is no way back to the loop as it stood, whatever happens here.
            // SAFETY: as above.
            let elsewhere = !is_off
                && crate::without_panic(|| unsafe { self.enter_elsewhere(part, entry, errno, signals) })
                    == Some(true);
            let iterations = entry.trip.iter().map(|trip| *trip as f64).product::<f64>();
            let key = std::ptr::from_ref::<Loop>(part) as usize;
            if !elsewhere {
                let started = Instant::now();
                // SAFETY: as above.
                unsafe { run_all(info, entry, errno, None) };
                let took = started.elapsed().as_nanos() as u64;
                lock(&self.histories).entry(key).or_default().worker_took(iterations as u64, took);
            }
            let each = lock(&self.histories).get(&key).map_or(0.0, |history| history.worker_ns);
            worker_ns = worker_ns.filter(|_| each > 0.0).map(|sum| sum + each * iterations);
        }
        let took = started.elapsed().as_nanos() as f64;
        if let (Some(worker_ns), RaceChoice::Auto) = (worker_ns, self.config.race) {
            let key = std::ptr::from_ref::<Loop>(whole) as usize;
            let mut histories = lock(&self.histories);
            histories.entry(key).or_default().paid(took < DISTRIBUTED * worker_ns, whole, own.trip[0]);
        }
        true
    }

    /// Whether a part of a distributed loop, which no guard stands in front of, has shown that it doesn't pay.
    fn is_off(&self, part: &Loop, entry: &Entry) -> bool {
        let key = std::ptr::from_ref(part) as usize;
        part.threshold.load(Ordering::Relaxed) == i64::MAX
            || lock(&self.histories).get(&key).is_some_and(|history| history.is_too_small(entry.trip[0]))
    }

    /// Whether a distributed loop gives what it gives as it stands, and all of its parts are proven. `Err` says why not.
    ///
    /// # Safety
    /// As for [`Engine::enter_parts`].
    unsafe fn may_distribute(&self, own: &Entry, parts: &[(&Loop, Entry)]) -> Result<(), Declined> {
        let proven = |entry: &Entry| {
            // SAFETY: promised by the caller; info is static data of a loaded object.
            let info = unsafe { entry.info.as_ref() }?;
            // SAFETY: promised by the caller.
            unsafe { predicate::prove(info, entry) }.ok().filter(Rest::is_empty)
        };
        let asked = self.config.race != RaceChoice::Auto;
        if !asked && parts.iter().all(|(part, entry)| self.is_off(part, entry)) {
            return Err("none of its parts has been faster elsewhere".into());
        }
        let held = proven(own).is_some_and(|rest| !rest.snapshot)
            && parts.iter().all(|(_, entry)| proven(entry).is_some());
        if !held {
            return Err(
                "its parts are not proven independent, or not proven to leave each other alone".into()
            );
        }
        Ok(())
    }

    /// See [`Engine::enter`].
    ///
    /// # Safety
    /// As for [`Engine::enter`].
    unsafe fn enter_elsewhere(
        &self,
        the_loop: &Loop,
        entry: &mut Entry,
        errno: &mut i32,
        signals: &Deferred,
    ) -> bool {
        if !self.may_enter(signals) {
            return false;
        }
        let Some(_entered) = self.active.take() else { return false };
        // SAFETY: info is static data of a loaded object; while its loop is entered the object stays loaded.
        let Some(info) = (unsafe { entry.info.as_ref::<'static>() }) else { return false };
        if info.abi != PG_ABI_VERSION {
            return false;
        }
        let started = Instant::now();
        self.collect_monitored();
        let key = std::ptr::from_ref(the_loop) as usize;
        let mut visit = Visit {
            the_loop,
            info,
            entry,
            history: *lock(&self.histories).entry(key).or_default(),
            record: if self.trace.enabled() { Record::new(info) } else { Record::default() },
            fp: FloatingPoint::enter(*errno),
            iterations: 0,
            signals,
            stays: false,
            started,
        };
        // SAFETY: promised by the caller.
        let result = unsafe { self.decide(&mut visit) };
        if result.is_ok() {
            *errno = visit.fp.errno();
        }
        lock(&self.histories).insert(key, visit.history);
        if self.trace.enabled() {
            if let Err(why) = &result {
                visit.record.decision = "sequential";
                visit.record.why.clone_from(why);
            }
            visit.record.total_ns = started.elapsed().as_nanos() as u64;
            self.trace.write(&visit.record);
        }
        result.is_ok()
    }

    /// Looks whether a monitored run has finished meanwhile.
    fn collect_monitored(&self) {
        let mut pending = lock(&self.pending);
        if let Some(run) = pending.as_ref()
            && let Progress::Finished(report) = run.progress()
        {
            if let (Some(report), Some(history)) = (report, lock(&self.histories).get_mut(&run.the_loop)) {
                monitor::conclude(history, &report);
            }
            *pending = None;
        }
    }

    /// See [`Engine::enter`]; `Err` says why the loop runs as it stood.
    ///
    /// # Safety
    /// The visit's entry is as [`Engine::enter`] asks for.
    unsafe fn decide(&self, visit: &mut Visit<'_>) -> Result<(), Declined> {
        let iterations = visit
            .entry
            .trip
            .iter()
            .try_fold(1u64, |n, t| u64::try_from(*t).ok().and_then(|t| n.checked_mul(t)))
            .filter(|n| *n != 0)
            .ok_or("the iteration space is empty or too large")?;
        visit.iterations = iterations;
        visit.record.trip = iterations;
        if !floating_point::is_default() {
            return Err("the floating-point environment is not the default one".into());
        }
        let asked = self.config.race != RaceChoice::Auto;
        if !asked && visit.history.is_too_small(visit.entry.trip[0]) {
            visit.history.overrated(visit.the_loop);
            return Err("it has not paid before".into());
        }
        let paused = !visit.history.enter() && !asked;
        if paused && visit.info.inspect.is_none() {
            if visit.history.hopeless() {
                history::switch_off(visit.the_loop);
            }
            return Err("conflicts were found before".into());
        }
        // SAFETY: promised by the caller, here and below.
        let mut plan = unsafe { self.plan(visit.info, visit.entry)? };
        if !asked && signals::handles_faults(visit.info) {
            visit.history.paid(false, visit.the_loop, visit.entry.trip[0]);
            return Err(HANDLES_FAULTS.into());
        }
        // SAFETY: as above.
        unsafe { self.inspect(visit, &mut plan)? };
        if let (Some(store), false) = (plan.rest.unplaced, plan.proven || plan.claimed) {
            if !asked && !policy::deserves_inspection(&visit.history, &self.situation(visit)) {
                visit.history.paid(false, visit.the_loop, visit.entry.trip[0]);
            }
            let line = visit.info.sites().get(store as usize).map_or(0, |site| site.line);
            return Err(format!(
                "only an inspection can tell whether the access in line {line} changes its bounds"
            ));
        }
        if paused && !plan.proven {
            return Err("conflicts were found before".into());
        }
        let in_place = plan.proven
            && (plan.schedule.is_none() || visit.info.n_dims == 1)
            && !plan.forced
            && self.config.in_place
            && self.config.device != DeviceChoice::Cuda
            && self.config.race != RaceChoice::Worker
            && !visit.info.has(PG_LOOP_MAY_ABORT)
            && !visit.info.has(PG_LOOP_UPDATES);
        if visit.info.has(PG_LOOP_PRIVATIZED) && !(in_place && plan.proven && plan.schedule.is_none()) {
            if self.config.device == DeviceChoice::Cuda || !self.config.in_place {
                history::switch_off(visit.the_loop);
            }
            return Err("it needs private arrays, which only threads in place have".into());
        }
        // Levels are in pieces of any length.
        if visit.info.has(PG_LOOP_FREE_CALLS) && !(in_place && plan.schedule.is_none() || plan.claimed) {
            if !asked {
                visit.history.paid(false, visit.the_loop, visit.entry.trip[0]);
            }
            return Err(
                "the bits of its calls are those of vectors, which only threads in place compute".into()
            );
        }
        // Threads of ours take over how the caller treats denormal numbers; a GPU could not, and a race isn't worth it.
        if floating_point::is_flushing() && !(in_place && self.config.threads >= 2) {
            return Err("the floating-point environment is not the default one".into());
        }
        if asked {
            let kind = match floating_point::is_flushing() {
                true => Kind::Threads,
                false => self.asked_kind(visit.info, in_place)?,
            };
            if in_place && kind == Kind::Threads {
                // SAFETY: as above.
                return unsafe { self.run_in_place(visit, &plan) };
            }
            // SAFETY: as above.
            return unsafe { self.speculate(visit, plan, kind) };
        }
        // SAFETY: as above.
        unsafe { self.run_where_it_pays(visit, plan, in_place) }
    }

    /// How the entry is checked: by proof where there is one, otherwise by logs.
    ///
    /// # Safety
    /// `entry` was filled in by generated code for `info`, and is alive.
    unsafe fn plan(&self, info: &Info, entry: &Entry) -> Result<Plan, Declined> {
        let line = |s: u32| info.sites().get(s as usize).map_or(0, |s| s.line);
        let doubted = info.has(PG_LOOP_DOUBTED);
        let logs = |method, rest, forced| Plan {
            method,
            proven: false,
            rest,
            forced,
            claimed: false,
            snapshot: false,
            schedule: None,
            stored: None,
        };
        // SAFETY: promised by the caller.
        let proof = unsafe { predicate::prove(info, entry) };
        let is_pin = match &proof {
            Ok(rest) => rest.unplaced.is_some(),
            Err(obstacle) => obstacle.is_final(),
        };
        // Not even the worker has the program's order, so nothing could tell what iterations that meet would have given.
        if info.has(PG_LOOP_REORDERED) && proof.as_ref().is_ok_and(|rest| !rest.is_empty() || rest.snapshot) {
            return Err(
                "its iterations are not proven independent, and their order is not the program's".into()
            );
        }
        // Only threads in place have copies, and logs would take the array itself for what iterations meet in.
        if info.has(PG_LOOP_PRIVATIZED) {
            if doubted || self.config.log.is_some() {
                return Err("it needs private arrays, which can't be logged".into());
            }
            if proof.as_ref().is_ok_and(|rest| !rest.is_empty() || rest.snapshot) {
                return Err("its iterations are not proven independent, and it needs private arrays".into());
            }
        }
        let is_refuted = info.has(PG_LOOP_REORDERED) && proof.is_err();
        if let (Some(method), true, false) =
            (self.config.log, info.n_pairs != 0, is_pin || is_refuted || doubted)
        {
            let snapshot = proof.is_ok_and(|rest| rest.snapshot);
            return Ok(Plan { snapshot, ..logs(method, Rest::default(), true) });
        }
        match proof {
            // A loop that the compiler wants to see logged is logged, whatever its pairs say.
            Ok(rest) if rest.is_empty() && !(info.check == PG_CHECK_LOGS && info.n_pairs == 0) => {
                Ok(match doubted {
                    true => Plan { claimed: true, ..logs(LogMethod::Atomic, rest, true) },
                    false => {
                        let snapshot = rest.snapshot;
                        Plan { proven: true, snapshot, ..logs(LogMethod::None, rest, false) }
                    }
                })
            }
            Ok(rest) => Ok(logs(self.config.log.unwrap_or(LogMethod::Atomic), rest, false)),
            Err(Obstacle::Pair(a, b)) => Err(format!(
                "the accesses in lines {} and {} may meet in different iterations",
                line(a),
                line(b)
            )),
            Err(Obstacle::Pin(store, _)) => {
                Err(format!("the access in line {} may meet what the loop depends on", line(store)))
            }
            Err(Obstacle::Apart(a, b)) => Err(format!(
                "what each thread would have a copy of, in line {}, may be what the access in line {} touches",
                line(a),
                line(b)
            )),
            Err(Obstacle::Kept(..)) => {
                Err("a place that the loop accumulates in is something else that it depends on".into())
            }
        }
    }

    /// Where predicates leave something open, inspects the addresses that the iterations will touch, or uses what an earlier
    /// inspection has found.
    ///
    /// # Safety
    /// The visit's entry is as [`Engine::enter`] asks for.
    unsafe fn inspect(&self, visit: &mut Visit<'_>, plan: &mut Plan) -> Result<(), Declined> {
        let info = visit.info;
        let Some(slice) = info.inspect.filter(|_| !plan.proven && !plan.forced) else { return Ok(()) };
        let asked = self.config.race != RaceChoice::Auto;
        let situation = self.situation(visit);
        if visit.iterations > MAX_ITERATIONS
            || !asked && !policy::deserves_inspection(&visit.history, &situation)
        {
            return Ok(());
        }
        visit.stay();
        visit.history.worth_inspecting(policy::worker_ns(&visit.history, &situation));
        let started = Instant::now();
        let key = std::ptr::from_ref(visit.the_loop) as usize;
        let mut findings = lock(&self.findings);
        let memos = findings.entry(key).or_default();
        let helpers = (&self.pool, self.config.threads);
        // SAFETY: promised by the caller, here and below.
        let held = memos.iter().position(|memo| unsafe { memo.still_holds(info, visit.entry, helpers) });
        if let Some(number) = held {
            let memo = memos.remove(number);
            memos.push(memo);
            visit.history.finding_held();
        } else if !self.config.inspections {
            return Ok(());
        } else {
            // SAFETY: as above.
            match unsafe { self.inspect_anew(visit, &plan.rest, slice, &situation) } {
                Ok(Some(memo)) => keep(memos, memo),
                Ok(None) => return Ok(()),
                Err(obstacle) => {
                    visit.record.inspection = obstacle.words();
                    visit.record.inspect_ns = started.elapsed().as_nanos() as u64;
                    return Ok(());
                }
            }
        }
        let finding = memos.last().map(|memo| memo.finding.clone());
        plan.stored = memos.last().and_then(|memo| memo.stored.clone());
        drop(findings);
        visit.record.inspect_ns = started.elapsed().as_nanos() as u64;
        match finding {
            Some(Finding::Independent) => visit.record.inspection = "independent",
            Some(Finding::Levels(_)) if parts::has_parts(info) => {
                return Err("the order of its sums is not that of levels".into());
            }
            Some(Finding::Levels(schedule)) => {
                visit.record.inspection = "levels";
                visit.record.levels = schedule.ends.len() as u64;
                plan.schedule = Some(schedule);
            }
            Some(Finding::Chain) | None => {
                visit.record.inspection = "chain";
                if !asked {
                    visit.history.paid(false, visit.the_loop, visit.entry.trip[0]);
                }
                return Err("its iterations depend on each other".into());
            }
        }
        match (info.has(PG_LOOP_DOUBTED), &plan.schedule) {
            (false, _) => plan.proven = true,
            // What an iteration updates and accesses otherwise, too, is a conflict to logs, and none to an inspection.
            (true, None) if info.has(PG_LOOP_UPDATES) => {}
            (true, None) => (plan.claimed, plan.forced) = (true, true),
            // Logs know no levels: what is doubted runs as it stood.
            (true, Some(_)) => return Err("levels can't be doubted".into()),
        }
        Ok(())
    }

    /// Makes the inspections that are asked for, or that cost little: first whether iterations meet, then, if so, in what order they
    /// can run. `None`: none was made.
    ///
    /// # Safety
    /// As for [`Engine::inspect`].
    unsafe fn inspect_anew(
        &self,
        visit: &mut Visit<'_>,
        rest: &Rest,
        slice: InspectFn,
        situation: &Situation,
    ) -> Result<Option<Memo>, Uninspected> {
        let asked = self.config.race != RaceChoice::Auto;
        let helpers = (&self.pool, self.config.threads);
        let mut outcome = Ok(None);
        for inspector in [Inspector::Marks, Inspector::Levels] {
            let may_take = visit.history.inspection_may_take(inspector);
            if !asked && policy::inspection_ns(inspector, &visit.history, situation) > may_take {
                continue;
            }
            let patience = match asked {
                true => self.config.patience.unwrap_or(LONGEST_INSPECTION),
                false => Duration::from_nanos(may_take as u64),
            };
            let started = Instant::now();
            // SAFETY: promised by the caller; the program would load all this now.
            let found = unsafe {
                match inspector {
                    Inspector::Marks => {
                        marks::inspect(visit.info, visit.entry, slice, &rest.pairs, helpers, patience)
                    }
                    Inspector::Levels => levels::inspect(visit.info, visit.entry, slice, helpers, patience),
                }
            };
            visit.history.inspected(inspector, visit.iterations, started.elapsed().as_nanos() as u64);
            let done = found.is_ok();
            outcome = found.map(Some);
            if done {
                break;
            }
        }
        outcome
    }

    /// What the policy asks about an entry that is proven.
    fn situation(&self, visit: &Visit<'_>) -> Situation {
        Situation {
            iterations: visit.iterations,
            work: visit.info.work,
            bytes: 0,
            threads: self.config.threads,
            logged: false,
            snapshot: false,
            portions: 1,
            open: [
                self.config.threads >= 2 && !visit.info.has(PG_LOOP_MAY_ABORT | PG_LOOP_UPDATES),
                false,
                self.cmt.cuda_state() == CudaState::Ready,
            ],
        }
    }

    /// The device that `PARAGON_DEVICE` asks for, under a race whose winner is fixed: then it is waited for.
    fn asked_kind(&self, info: &Info, in_place: bool) -> Result<Kind, Declined> {
        let exact = info.has(PG_LOOP_CUDA_EXACT);
        let threads = || match in_place || info.device.is_some() {
            true => Ok(Kind::Threads),
            false => Err(UNCHECKED.to_string()),
        };
        let cuda = |otherwise: Result<Kind, Declined>| {
            self.cmt.open_cuda();
            while self.cmt.cuda_state() == CudaState::Opening {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            if self.cmt.cuda_state() == CudaState::Ready { Ok(Kind::Cuda) } else { otherwise }
        };
        match self.config.device {
            DeviceChoice::Off => Err("switched off".into()),
            DeviceChoice::Threads => threads(),
            DeviceChoice::Cuda if !exact => Err("CUDA would not give the same bits".into()),
            DeviceChoice::Cuda => cuda(Err("no usable CUDA device".into())),
            DeviceChoice::Auto if exact => cuda(threads()),
            DeviceChoice::Auto => threads(),
        }
    }

    /// The ordinary case: nobody has asked for anything in particular.
    ///
    /// # Safety
    /// The visit's entry is as [`Engine::enter`] asks for.
    unsafe fn run_where_it_pays(
        &self,
        visit: &mut Visit<'_>,
        mut plan: Plan,
        in_place: bool,
    ) -> Result<(), Declined> {
        let info = visit.info;
        let choice = self.config.device;
        let several = self.config.threads >= 2;
        let exact = info.has(PG_LOOP_CUDA_EXACT);
        if choice == DeviceChoice::Cuda && !exact {
            history::switch_off(visit.the_loop);
            return Err("CUDA would not give the same bits".into());
        }
        let may_use_cuda = choice != DeviceChoice::Threads
            && exact
            && visit.iterations <= MAX_ITERATIONS
            && !floating_point::is_flushing();
        let mut situation = Situation {
            // SAFETY: promised by the caller.
            bytes: unsafe { placement::rough_bytes(info, visit.entry) },
            snapshot: plan.snapshot,
            portions: plan.schedule.as_ref().map_or(1, |schedule| schedule.ends.len() as u64),
            open: [
                in_place && several,
                choice != DeviceChoice::Cuda
                    && several
                    && !floating_point::is_flushing()
                    && info.device.is_some()
                    && visit.iterations <= MAX_ITERATIONS,
                may_use_cuda,
            ],
            ..self.situation(visit)
        };
        if may_use_cuda
            && self.cmt.cuda_state() == CudaState::Unknown
            && (choice == DeviceChoice::Cuda || self.opening.is_due(&visit.history, &situation))
        {
            self.cmt.open_cuda();
        }
        let state = self.cmt.cuda_state();
        situation.open[Way::Cuda as usize] &= state == CudaState::Ready;
        // A driver that is not opened for this loop is no reason to ask again.
        let undecided = may_use_cuda && state == CudaState::Opening;
        // Even without logs nothing would pay: it need not be known where the arrays lie.
        if policy::choose(&visit.history, &situation).is_none() {
            return Err(self.stays(visit, &plan, undecided));
        }
        // What predicates left open may be settled by where the arrays lie; then nothing is logged.
        let placed = match plan.proven {
            true => None,
            // SAFETY: promised by the caller.
            false => Some(unsafe { self.place(visit, &mut plan)? }),
        };
        situation.logged = plan.logged();

        // The first invocation of a logged loop is monitored, where there are threads for that. A GPU is only woken for
        // what may pay.
        if plan.logged()
            && visit.history.category == Category::Unknown
            && self.config.monitor
            && several
            && info.device.is_some()
        {
            if lock(&self.pending).is_some() {
                return Err("another loop is being monitored".into());
            }
            // SAFETY: promised by the caller.
            return unsafe { self.speculate_by(visit, plan, placed, Kind::Threads, Rule::Monitor) };
        }
        let kind = match policy::choose(&visit.history, &situation) {
            // SAFETY: promised by the caller; the loop is proven parallel for this entry.
            Some(Way::InPlace) => return unsafe { self.run_in_place(visit, &plan) },
            Some(Way::Threads) => Kind::Threads,
            Some(Way::Cuda) => Kind::Cuda,
            None => return Err(self.stays(visit, &plan, undecided)),
        };
        // SAFETY: promised by the caller.
        unsafe { self.speculate_by(visit, plan, placed, kind, Rule::FirstWins) }
    }

    /// What a loop is told that would not be faster elsewhere.
    fn stays(&self, visit: &mut Visit<'_>, plan: &Plan, undecided: bool) -> Declined {
        if undecided {
            return "the CUDA driver is not ready".into();
        }
        // A loop that only logs keep from running elsewhere may earn an inspection yet.
        let hopes = visit.info.inspect.is_some()
            && !plan.proven
            && policy::deserves_inspection(&visit.history, &self.situation(visit));
        if !hopes {
            visit.history.paid(false, visit.the_loop, visit.entry.trip[0]);
        }
        "the sequential loop is expected to be fastest".into()
    }

    /// A proven loop on the program's own memory: at first a sample on the calling thread, then all threads. By level, if
    /// there is a schedule; with a snapshot, if one is needed.
    ///
    /// # Safety
    /// The visit's entry is as [`Engine::enter`] asks for. The loop is proven parallel for this entry, or the schedule says in
    /// which order its iterations may run.
    unsafe fn run_in_place(&self, visit: &mut Visit<'_>, plan: &Plan) -> Result<(), Declined> {
        visit.stay();
        let (info, schedule) = (visit.info, plan.schedule.as_deref());
        let entry = &*visit.entry;
        let asked = self.config.race != RaceChoice::Auto;
        let trip = entry.trip[0];
        let inner = visit.iterations / trip as u64;
        // SAFETY: promised by the caller, here and below.
        let mut running = parts::Running::new(info, unsafe { entry.results(info) });
        let mut first = 0;
        let mut sampled = Duration::ZERO;
        let samples_all =
            policy::is_short(&visit.history, &self.situation(visit)) && visit.history.wants_worker();
        if !asked && (samples_all || visit.history.worker_ns == 0.0) && schedule.is_none() {
            first = if samples_all { trip } else { (trip / 64).clamp(1, trip) };
            if parts::has_parts(info) {
                first = (first as u64).next_multiple_of(parts::block(info, &entry.trip) as u64) as i64;
            } else {
                first = (first as u64).next_multiple_of(threads::vectors(info)) as i64;
            }
            first = first.min(trip);
            let started = Instant::now();
            visit.fp.program(|| {
                // SAFETY: iterations in source order, as the program would run them.
                unsafe { running.run(info, entry, 0, first) };
            });
            sampled = started.elapsed();
            visit.history.worker_took(first as u64 * inner, sampled.as_nanos() as u64);
            visit.record.worker_iterations = first as u64;
        }
        let started = Instant::now();
        // Loads of the iterations that are left find nothing that those before have stored, so it isn't too late.
        let snapshot = match plan.snapshot && first < trip {
            // SAFETY: as above.
            true => match unsafe { Snapshot::take(&self.pool, self.config.threads, info, entry) } {
                Ok(snapshot) => Some(snapshot),
                Err(_) => {
                    // SAFETY: as for the sample.
                    visit.fp.program(|| unsafe { running.run(info, entry, first, trip) });
                    first = trip;
                    None
                }
            },
            false => None,
        };
        let entry = snapshot.as_ref().map_or(entry, Snapshot::entry);
        let copies = match info.has(PG_LOOP_PRIVATIZED) && first < trip {
            // SAFETY: as above.
            true => match unsafe { PrivateCopies::make(&self.pool, self.config.threads, info, entry) } {
                Ok(copies) => Some(copies),
                Err(_) => {
                    // SAFETY: as for the sample.
                    visit.fp.program(|| unsafe { running.run(info, entry, first, trip) });
                    first = trip;
                    None
                }
            },
            false => None,
        };
        let mut results = running.results().to_vec();
        if first < trip {
            let share = match (schedule, &copies) {
                (Some(schedule), _) => Share::ByLevel(schedule),
                (None, Some(copies)) => Share::WithCopies(first, copies),
                (None, None) => Share::From(first),
            };
            // SAFETY: the loop is proven parallel for this entry, with copies where it needs any.
            let raised = unsafe {
                threads::run_in_place(&self.pool, info, entry, share, self.config.threads, &mut results)
            };
            visit.fp.add(raised.flags);
            if let Some(errno) = raised.errno.value() {
                visit.fp.fail(errno);
            }
            visit.record.execute_ns = started.elapsed().as_nanos() as u64;
            // What had to be found out before that is part of what it costs.
            let all = visit.started.elapsed().saturating_sub(sampled).as_nanos() as u64;
            visit.history.way_took(Way::InPlace, (trip - first) as u64 * inner, all);
        }
        // SAFETY: the entry's results have as many elements.
        unsafe { std::ptr::copy_nonoverlapping(results.as_ptr(), entry.results, results.len()) };
        visit.record.log = "none";
        if first == trip {
            visit.record.decision = "worker";
            visit.record.why = "measured on the calling thread".into();
            return Ok(());
        }
        visit.record.decision = "threads";
        visit.record.device = "threads";
        visit.record.snapshot = snapshot.is_some();
        visit.record.privatized = copies.is_some();
        visit.record.why = match (visit.record.inspection, schedule) {
            (_, Some(_)) => "level by level, in place",
            ("", None) => "proven parallel, in place",
            _ => "inspected, in place",
        }
        .into();
        if let Some(each) = visit.history.known_ns(Way::InPlace).filter(|_| !asked) {
            visit.history.paid(each < 0.95 * visit.history.worker_ns, visit.the_loop, trip);
        }
        Ok(())
    }

    /// A loop on copies of its arrays under the race that `PARAGON_RACE` asks for.
    ///
    /// # Safety
    /// The visit's entry is as [`Engine::enter`] asks for.
    unsafe fn speculate(&self, visit: &mut Visit<'_>, plan: Plan, kind: Kind) -> Result<(), Declined> {
        let rule = match self.config.race {
            RaceChoice::Auto => Rule::FirstWins,
            RaceChoice::Device => Rule::DeviceUnlessItFails,
            RaceChoice::Worker => Rule::WorkerAlways,
        };
        // SAFETY: promised by the caller.
        unsafe { self.speculate_by(visit, plan, None, kind, rule) }
    }

    /// Places the entry's arrays, and settles how it is instrumented.
    ///
    /// # Safety
    /// The visit's entry is as [`Engine::enter`] asks for.
    unsafe fn place(&self, visit: &Visit<'_>, plan: &mut Plan) -> Result<Placed, Declined> {
        let (info, entry) = (visit.info, &*visit.entry);
        let table = (0..1000)
            .find_map(|_| match self.allocations.try_lock() {
                Ok(table) => Some(table),
                Err(TryLockError::Poisoned(table)) => Some(table.into_inner()),
                // Perhaps the very thread that we interrupt holds it: never wait for good.
                Err(TryLockError::WouldBlock) => {
                    std::thread::yield_now();
                    None
                }
            })
            .ok_or("the table of allocations is in use")?;
        // SAFETY: promised by the caller, here and below.
        let mut placement = unsafe { placement::place(info, entry, &table, plan.method)? };
        let mut settled =
            plan.proven || !plan.forced && !plan.rest.is_empty() && placement.settles(info, &plan.rest);
        if info.has(PG_LOOP_DOUBTED) {
            plan.claimed |= settled;
            settled = false;
        }
        let mut written = None;
        if settled {
            // SAFETY: as above.
            written = unsafe { commit::written_rows(info, entry, plan.stored.as_deref().map(Vec::as_slice)) };
            plan.method = if written.is_some() { LogMethod::None } else { LogMethod::Mark };
            // SAFETY: as above.
            placement = unsafe { placement::place(info, entry, &table, plan.method)? };
        }
        if plan.snapshot {
            placement.take_snapshots(info);
        }
        if !limits::fits(2 * placement.bytes() + 12 * placement.cells) {
            return Err("too little free memory for copies of its arrays".into());
        }
        Ok(Placed { placement, written })
    }

    /// What a loop is logged by, now that it is known where its arrays are and where it will run. Doubted loops keep to the method that
    /// never mistakes what an iteration does to its own elements for a conflict.
    ///
    /// # Safety
    /// The visit's entry is as [`Engine::enter`] asks for.
    unsafe fn log_method(
        &self,
        visit: &Visit<'_>,
        plan: &Plan,
        placement: &Placement,
        kind: Kind,
    ) -> LogMethod {
        if plan.claimed {
            return LogMethod::Atomic;
        }
        let info = visit.info;
        // SAFETY: promised by the caller.
        let pins = unsafe { visit.entry.pins(info) };
        let may_be_bitmap = info.has(PG_LOOP_STORES_ONCE)
            && !info.has(PG_LOOP_UPDATES)
            && visit.history.may_use_bitmap()
            && placement.pinned_cells(pins).is_empty();
        match self.config.log {
            Some(LogMethod::Bitmap) if !may_be_bitmap => LogMethod::Atomic,
            Some(asked) => asked,
            // A bit for each cell instead of a word: a GPU hardly notices.
            None if may_be_bitmap && kind == Kind::Cuda => LogMethod::Bitmap,
            // Plain stores are enough where only writers are logged.
            None if !placement.has_logged_readers(info) => LogMethod::Reduction,
            None => LogMethod::Atomic,
        }
    }

    /// A loop on copies of its arrays, raced by the sequential loop.
    ///
    /// # Safety
    /// The visit's entry is as [`Engine::enter`] asks for.
    unsafe fn speculate_by(
        &self,
        visit: &mut Visit<'_>,
        mut plan: Plan,
        placed: Option<Placed>,
        kind: Kind,
        rule: Rule,
    ) -> Result<(), Declined> {
        if visit.info.has(PG_LOOP_PRIVATIZED) {
            return Err("it needs private arrays, which only threads in place have".into());
        }
        if visit.iterations > MAX_ITERATIONS {
            return Err("too many iterations to tell apart".into());
        }
        if !safe_copy::permitted() {
            history::switch_off(visit.the_loop);
            return Err("the system does not let a process copy its own memory safely".into());
        }
        visit.stay();
        let asked = self.config.race != RaceChoice::Auto;
        if self.cmt.busy(kind) && !asked {
            return Err("the device is still busy with an earlier loop".into());
        }
        while self.cmt.busy(kind) {
            std::thread::yield_now();
        }
        let Placed { placement, written } = match placed {
            Some(placed) => placed,
            // SAFETY: promised by the caller, here and below.
            None => unsafe { self.place(visit, &mut plan)? },
        };
        let logged = plan.logged();
        if logged {
            // SAFETY: as above.
            plan.method = unsafe { self.log_method(visit, &plan, &placement, kind) };
        }
        if plan.method.words(placement.cells) > MAX_LOG_WORDS {
            return Err("its arrays have more elements than logs have room for".into());
        }
        // Of loads from snapshots logs say nothing; where logs are asked for, nothing replaces them.
        let shows = logged && !plan.claimed && !plan.forced && !plan.snapshot;
        let fed = placement.fed(visit.info).filter(|_| shows);
        visit.record.claimed = plan.claimed;
        visit.record.snapshot = plan.snapshot;
        let (info, way) = (visit.info, if kind == Kind::Cuda { Way::Cuda } else { Way::Threads });
        visit.record.log = LogMethod::NAMES[plan.method as usize];
        visit.record.device = if kind == Kind::Cuda { "cuda" } else { "threads" };
        // One core is the worker's, unless it is held back.
        let workers = usize::from(rule != Rule::DeviceUnlessItFails);
        self.cmt.set_threads(self.config.threads.saturating_sub(workers));
        let (events, inbox) = crossbeam_channel::unbounded();
        // SAFETY: as above.
        let (bases, values, pins) =
            unsafe { (visit.entry.bases(info), visit.entry.values(info), visit.entry.pins(info)) };
        let job = Job {
            info,
            kind,
            trip: visit.entry.trip,
            bases: bases.iter().map(|b| b.pointer).collect(),
            values: values.to_vec(),
            results: parts::launch_results(info, &visit.entry.trip),
            method: plan.method,
            groups: self.config.groups,
            patience: self.config.patience,
            schedule: plan.schedule,
            pinned: placement.pinned_cells(pins),
            written,
            placement,
            stop: Arc::new(AtomicU32::new(0)),
            running: Arc::new(AtomicBool::new(false)),
            worker_stop: Arc::new(AtomicU32::new(0)),
            events,
        };
        let started = Instant::now();
        let helpers = (&self.pool, self.config.threads);
        // SAFETY: as above.
        let finish =
            unsafe { race::run(&self.cmt, helpers, info, visit.entry, job, inbox, rule, &mut visit.fp) }
                .ok_or("the device did not take the loop")?;
        let elapsed = started.elapsed().as_nanos() as u64;
        if let (Some(fed), true, Some(report)) = (fed, finish.device_won, &finish.report)
            && visit.history.wants_lesson()
        {
            // Where other stores than an inspection's go the finding doesn't say: next time they may go elsewhere.
            let is_all = info.sites().iter().all(|s| !s.has(PG_SITE_STORE) || s.has(PG_SITE_INSPECTED));
            let written = report.pieces.ranges(inspector::MOST_PIECES).filter(|_| is_all);
            // SAFETY: as above; the device has run this entry without conflict.
            if let Ok(Some(memo)) = unsafe { inspector::learn(info, visit.entry, fed, written, helpers) } {
                let key = std::ptr::from_ref(visit.the_loop) as usize;
                keep(lock(&self.findings).entry(key).or_default(), memo);
            }
        }
        self.remember(visit, finish, way, rule, logged, elapsed);
        Ok(())
    }

    /// What a finished race means for the loop's future, and for its record.
    fn remember(
        &self,
        visit: &mut Visit<'_>,
        finish: Finish,
        way: Way,
        rule: Rule,
        logged: bool,
        elapsed: u64,
    ) {
        let (history, record) = (&mut visit.history, &mut visit.record);
        let inner = visit.iterations / visit.entry.trip[0].max(1) as u64;
        history.worker_took(finish.worker_iterations * inner, finish.worker_ns);
        record.worker_iterations = finish.worker_iterations;
        record.decision = if finish.device_won { record.device } else { "worker" };
        record.why = if finish.device_won { "the device was faster" } else { "the worker was faster" }.into();
        if rule == Rule::DeviceUnlessItFails && finish.device_won {
            record.why = "the device was waited for".into();
        }
        if rule == Rule::WorkerAlways {
            record.why = "the worker always wins".into();
        }
        if let Some(report) = &finish.report {
            record.execute_ns = report.outcome.execute_ns;
            record.check_ns = report.outcome.check_ns;
            record.bytes_in = report.bytes_in;
            (record.group, record.deep) = (report.group, report.deep);
            record.bytes_out = report.bytes_out;
            record.copy_in_ns = report.copy_in_ns;
            record.copy_out_ns = report.copy_out_ns;
            record.fail = failure_words(report.outcome.fail);
            record.conflicts = report.outcome.conflicts;
            let met = report.outcome.fail & (PG_FAIL_WAW | PG_FAIL_RAW) != 0;
            if finish.is_unwritable {
                record.why = "it stores where the program may not".into();
            } else if met && report.method == LogMethod::Bitmap {
                // Bits don't say who it was, or whether they were two.
                record.why = "a conflict".into();
            } else if met {
                record.why = format!("a conflict, iteration {}", report.outcome.iteration);
            } else if let Some(error) = &report.error {
                record.why = error.to_string();
            } else if report.outcome.fail == PG_FAIL_TIME {
                record.why = "the device took too long".into();
            } else if report.outcome.fail & !PG_FAIL_STOPPED != 0 {
                record.why = "the device gave up".into();
            }
            if logged {
                monitor::conclude(history, report);
            }
        }
        if finish.device_won {
            history.way_took(way, visit.iterations, elapsed);
        }
        if rule == Rule::Monitor {
            record.why = format!("monitored: {}", record.why);
        }
        if let Some(events) = finish.pending {
            record.why = "monitored: the report is still to come".into();
            *lock(&self.pending) = Some(Pending::new(std::ptr::from_ref(visit.the_loop) as usize, events));
        } else if rule == Rule::FirstWins && history.category != Category::Sequential {
            history.paid(finish.device_won, visit.the_loop, visit.entry.trip[0]);
        }
    }
}
