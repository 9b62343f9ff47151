//! What happens when a program enters a loop: from the numbers of this entry to a result, or to "run it as it stood".
//!
//! [`Engine::enter`] is the whole story in order: is this a situation that we serve at all; can the iterations be proven
//! independent, and if not, how are they checked ([`inspection`]); where should it run ([`ways`]), and what is made ready for that ([`ahead`]); where do the arrays lie, run,
//! remember ([`speculation`], [`addresses`]); what of them stays there ([`residents`]); how far a loop comes that may be left early ([`search`]); what earlier runs know of it ([`remembered`]). Several loops for one are [`distributed`].

mod addresses;
mod ahead;
mod distributed;
mod every_log;
mod inspection;
mod lengths;
mod remembered;
mod residents;
mod search;
mod speculation;
mod vain;
mod ways;

use crate::abi::*;
use crate::cache_folder;
use crate::config::{Config, DeviceChoice, RaceChoice};
use crate::device::LogMethod;
use crate::device::pool::Pool;
use crate::floating_point::{self, FloatingPoint};
use crate::history::{self, History};
use crate::leaving;
use crate::memory::allocations::Allocations;
use crate::memory::{coherence, limits, programs_allocator, reserve, tracking};
use crate::own_threads;
use crate::policy::staying::Staying;
use crate::policy::{self, Opening};
use crate::process::Process;
use crate::signals::{self, Deferred};
use crate::speculation::cmt::{Cmt, Kind};
use crate::speculation::facts::Known;
use crate::speculation::inspector::findings::Findings;
use crate::speculation::inspector::lengths::Lengths;
use crate::speculation::inspector::levels::Schedule;
use crate::speculation::inspector::seen::Basis;
use crate::speculation::inspector::turns::Order;
use crate::speculation::monitor::{self, Pending, Progress};
use crate::speculation::parts;
use crate::speculation::predicate::{self, Obstacle, Rest};
use crate::trace::{Record, Trace};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Instant;

/// Most iterations that a log cell can tell apart.
const MAX_ITERATIONS: u64 = PG_UPDATES as u64 - 2;

/// The runtime of one process.
pub struct Engine {
    config: Config,
    trace: Trace,
    process: Process,
    /// The signals that were blocked when the runtime was loaded.
    signals: u64,
    allocations: Mutex<Allocations>,
    /// By loop ([`Loop::key`]); where entries run under all log methods, each of them has its own.
    histories: Mutex<HashMap<(usize, Option<LogMethod>), History>>,
    pending: Mutex<Option<Pending>>,
    /// What inspections have found.
    findings: Mutex<Findings>,
    /// What was counted where nothing was inspected, by loop; the latest come last.
    lengths: Mutex<HashMap<usize, Vec<Lengths>>>,
    /// Tables of loops, for jobs.
    facts: Known,
    active: Active,
    pool: Pool,
    cmt: Cmt,
    opening: Opening,
    staying: Mutex<Staying>,
    vain: vain::Vain,
    remembered: remembered::Remembered,
    searches: search::Searches,
}

/// Why a loop runs as it stood.
type Declined = String;

/// What they do about them would not be what the program knows: see [`signals`].
const HANDLES_FAULTS: &str = "the program handles faults itself";
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

/// How this entry is checked.
#[derive(Clone)]
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
    /// An order of independent iterations, for a GPU.
    by_turns: Option<Arc<Order>>,
    /// What an inspection has seen them store: [`Memo::stored`](crate::speculation::inspector::Memo::stored).
    stored: Option<Arc<Vec<(u64, u64)>>>,
    /// What that inspection has followed from.
    basis: Option<Box<Basis>>,
}

impl Plan {
    /// Whether accesses are logged, so that the run is a guess.
    fn logged(&self) -> bool {
        self.method.detects()
    }
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
    /// The log method that is forced.
    log: Option<LogMethod>,
    /// What waits meanwhile.
    signals: &'a Deferred,
    stays: bool,
    /// What [`Loop::stays`] becomes; none: this entry has shown nothing about it.
    is_slower_elsewhere: Option<u32>,
    /// Whether a GPU that nobody has opened yet is expected to be fastest: then it is no loss that nothing else is.
    hopes_for_gpu: bool,
    /// When it began.
    started: Instant,
    /// Nanoseconds of inspections that the history knows by themselves.
    inspection_ns: u64,
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
        own_threads::look_ahead();
        cache_folder::settle();
        tracking::allow(config.tracking);
        let pool = Pool::default();
        let cmt = Cmt::new(pool.clone(), config.threads, config.gpu);
        if !config.ahead {
            cmt.ahead.end();
        }
        Engine {
            trace: Trace::open(config.trace.as_deref()),
            process: Process::this(),
            signals,
            allocations: Mutex::default(),
            histories: Mutex::default(),
            pending: Mutex::default(),
            findings: Mutex::default(),
            lengths: Mutex::default(),
            facts: Known::default(),
            active: Active::default(),
            cmt,
            pool,
            opening: Opening::default(),
            staying: Mutex::default(),
            vain: vain::Vain::default(),
            remembered: remembered::Remembered::default(),
            searches: search::Searches::default(),
            config,
        }
    }

    /// Whether loops may run elsewhere at all.
    pub fn serves(&self) -> bool {
        self.config.device != DeviceChoice::Off
    }

    /// Records an allocation or a named object. Never waits: a signal handler may be calling.
    pub fn record(&self, start: u64, bytes: u64) {
        if reserve::is_in_use() {
            return;
        }
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

    /// The program is about to end: all memory is its own again.
    pub fn end(&self) {
        if !self.process.is_this() || coherence::is_empty() {
            return;
        }
        coherence::bring_home();
        let (bytes_back, run_again) = (coherence::fetched(), coherence::run_again());
        if self.trace.enabled() {
            let why = "the program ends".into();
            self.trace.write(&Record { decision: "none", why, bytes_back, run_again, ..Record::default() });
        }
    }

    /// Whether this is a process and a moment in which loops may run elsewhere.
    fn may_enter(&self, signals: &Deferred) -> bool {
        self.serves()
            && self.process.is_this()
            && !leaving::is_leaving()
            && !reserve::is_in_use()
            && !self.in_signal_handler(signals.blocked_before())
    }

    /// Whether the program may have only so much memory, or allocates by functions of its own that know of no threads. Then the loop is left alone for good, and nothing else is noted of
    /// it: there may be no memory for that.
    fn is_limited(&self, the_loop: &Loop, info: &'static Info) -> bool {
        let why = match (limits::are_set(), programs_allocator::bears_threads()) {
            (true, _) => "the memory that the program may have is limited",
            (_, false) => "the program has a malloc of its own, and knows of no threads",
            _ => return false,
        };
        history::switch_off(the_loop);
        if self.trace.enabled() {
            let why = why.into();
            self.trace.write(&Record { decision: "sequential", why, ..Record::new(info) });
        }
        true
    }

    /// Whether we stand in a signal handler, as far as one can tell: handlers run with their own signal blocked.
    /// `blocked`: those that were before the runtime was entered, a bit for each.
    pub fn in_signal_handler(&self, blocked: u64) -> bool {
        blocked & !self.signals != 0
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
        if !the_loop.is_served(info, entry) {
            return false;
        }
        if !parts::is_ordered(info) {
            if !self.serves() {
                history::switch_off(the_loop);
            }
            return false;
        }
        // What a store may change here, the body takes for constant.
        // Pairs don't matter to whoever runs in order, so few rows are looked at: of no loop whose order counts the compiler leaves it to rows whether stores do that.
        // SAFETY: promised by the caller, here and below.
        match unsafe { predicate::prove(info, entry, 0) } {
            Err(obstacle) if obstacle.is_final() => return false,
            Ok(rest) if rest.unplaced.is_some() => return false,
            _ => {}
        }
        // SAFETY: as above.
        unsafe { run_all(info, entry, errno, Some(signals)) };
        true
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
        if !the_loop.is_served(info, entry) {
            return false;
        }
        if self.is_limited(the_loop, info) {
            return false;
        }
        if info.search.is_some() {
            // SAFETY: promised by the caller.
            return unsafe { self.enter_behind_search(the_loop, info, entry, errno, signals) };
        }
        // SAFETY: as above.
        unsafe { self.enter_here(the_loop, info, entry, errno, signals) }
    }

    /// An entry whose iterations are all executed.
    ///
    /// # Safety
    /// As for [`Engine::enter`]; `info` is the entry's.
    unsafe fn enter_here(
        &self,
        the_loop: &Loop,
        info: &'static Info,
        entry: &mut Entry,
        errno: &mut i32,
        signals: &Deferred,
    ) -> bool {
        if !self.tries_all_logs() {
            let log = self.config.logs[0];
            // SAFETY: promised by the caller, here and below.
            return unsafe { self.enter_under(log, the_loop, info, entry, errno, signals) }.is_some();
        }
        coherence::bring_home();
        // SAFETY: as above.
        unsafe { self.enter_under_all(the_loop, info, entry, errno, signals) }
    }

    /// The same, under a log method. `None`: nothing has happened. Otherwise: whether it was logged.
    ///
    /// # Safety
    /// As for [`Engine::enter`]; `info` is the entry's.
    unsafe fn enter_under(
        &self,
        log: Option<LogMethod>,
        the_loop: &Loop,
        info: &'static Info,
        entry: &mut Entry,
        errno: &mut i32,
        signals: &Deferred,
    ) -> Option<bool> {
        let now = Instant::now();
        // To find out how far it comes is a part of what an entry costs.
        let started = now.checked_sub(self.searches.took()).unwrap_or(now);
        self.collect_monitored();
        let key = (the_loop.key(), log.filter(|_| self.tries_all_logs()));
        let mut visit = Visit {
            the_loop,
            info,
            entry,
            history: *lock(&self.histories).entry(key).or_default(),
            record: if self.trace.enabled() { Record::new(info) } else { Record::default() },
            fp: FloatingPoint::enter(*errno),
            iterations: 0,
            log,
            signals,
            stays: false,
            is_slower_elsewhere: Some(0),
            hopes_for_gpu: false,
            started,
            inspection_ns: 0,
        };
        // SAFETY: no requirements.
        let thread = unsafe { libc::pthread_self() } as u64;
        visit.history.came_back(thread, started);
        let before = visit.history;
        // SAFETY: promised by the caller.
        let result = unsafe { self.decide(&mut visit) };
        let has_decided = visit.history.has_decided_since(&before);
        if result.is_ok() {
            *errno = visit.fp.errno();
        }
        if let Some(stays) = visit.is_slower_elsewhere {
            the_loop.stays.store(stays, Ordering::Relaxed);
        }
        if result.is_err() {
            visit.history.stands(thread, visit.iterations);
        }
        lock(&self.histories).insert(key, visit.history);
        self.keep_for_later_runs(has_decided);
        if self.trace.enabled() {
            if let Err(why) = &result {
                visit.record.decision = "sequential";
                visit.record.why.clone_from(why);
            }
            visit.record.bytes_back = coherence::fetched();
            visit.record.run_again = coherence::run_again();
            visit.record.total_ns = started.elapsed().as_nanos() as u64;
            self.searches.tell(&mut visit.record);
            self.trace.write(&visit.record);
        }
        let logged = !["", "none", "mark"].contains(&visit.record.log);
        result.is_ok().then_some(logged)
    }

    /// Looks whether a monitored run has finished meanwhile.
    fn collect_monitored(&self) {
        let mut pending = lock(&self.pending);
        if let Some(run) = pending.as_ref()
            && let Progress::Finished(report) = run.progress()
        {
            if let (Some(report), Some(history)) =
                (report, lock(&self.histories).get_mut(&(run.the_loop, None)))
            {
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
        self.vain.saw(visit.the_loop, visit.entry.trip[0]);
        if !floating_point::is_default() {
            return Err("the floating-point environment is not the default one".into());
        }
        let asked = self.config.race != RaceChoice::Auto;
        if !asked && visit.history.is_too_small(visit.entry.trip[0]) {
            visit.history.overrated(visit.the_loop);
            visit.is_slower_elsewhere = None;
            return Err("it has not paid before".into());
        }
        let paused = !visit.history.enter() && !asked;
        if paused && visit.info.inspect.is_none() {
            if visit.history.hopeless() {
                history::switch_off(visit.the_loop);
            }
            return Err("conflicts were found before".into());
        }
        let is_guess = visit.info.has(PG_LOOP_LONG_LOOPS);
        let n_pairs = visit.info.n_pairs;
        if !asked && n_pairs >= policy::MANY_PAIRS && self.is_early(visit) {
            return Err(Self::stays_early(visit));
        }
        if !asked && !policy::deserves_proof(&visit.history, &self.situation(visit), n_pairs, is_guess) {
            match visit.history.at_most_ns() {
                Some(_) => visit.history.paid(false, visit.the_loop, visit.entry.trip[0]),
                None => self.came_to_nothing(visit),
            }
            return Err("to prove that its iterations are independent would take too long".into());
        }
        let proving = Instant::now();
        // SAFETY: promised by the caller, here and below.
        let planned = unsafe { self.plan(visit) };
        visit.history.proof_took(proving.elapsed().as_nanos() as u64);
        let mut plan = match planned {
            Ok(plan) => plan,
            Err(why) => {
                if !asked {
                    self.came_to_nothing(visit);
                }
                return Err(why);
            }
        };
        if !asked && signals::handles_faults(visit.info) {
            visit.history.paid(false, visit.the_loop, visit.entry.trip[0]);
            return Err(HANDLES_FAULTS.into());
        }
        if !self.may_leave_arrays(visit.info, &plan) {
            coherence::bring_home();
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
            if visit.history.hopeless() && visit.record.inspection == "chain" {
                history::switch_off(visit.the_loop);
            }
            return Err("conflicts were found before".into());
        }
        let in_place = plan.proven
            && (plan.schedule.is_none() || visit.info.n_dims == 1)
            && !plan.forced
            && self.config.in_place
            && !self.tries_all_logs()
            && self.config.device != DeviceChoice::Cuda
            && self.config.race != RaceChoice::Worker
            && !visit.info.has(PG_LOOP_MAY_TRAP)
            && !visit.info.has(PG_LOOP_UPDATES);
        if visit.info.has(PG_LOOP_PRIVATIZED) && !(in_place && plan.proven && plan.schedule.is_none()) {
            if self.config.device == DeviceChoice::Cuda || !self.config.in_place {
                history::switch_off(visit.the_loop);
            } else if !asked {
                self.came_to_nothing(visit);
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

    /// Notes that an entry has come to nothing before anybody asked whether the loop would pay anywhere. It may be another one's turn the next time, with other addresses; where too much was
    /// looked at in vain, it doesn't get one with so few iterations.
    fn came_to_nothing(&self, visit: &mut Visit<'_>) {
        if self.vain.is_overdrawn() {
            visit.history.paid(false, visit.the_loop, visit.entry.trip[0]);
        }
    }

    /// The account of what is looked at in vain, if an entry counts there. What was asked for doesn't, nor a loop whose order of iterations is a part of its results, nor any where data is
    /// elsewhere, which may have to be brought home for the loop; then the clock isn't asked either, which may be a system call.
    pub fn account(&self, info: &Info) -> Option<&vain::Vain> {
        let is_free = self.config.race != RaceChoice::Auto
            || self.config.at_once
            || parts::is_ordered(info)
            || coherence::interception::is_armed();
        (!is_free).then_some(&self.vain)
    }

    /// How the entry is checked: by proof where there is one, otherwise by logs.
    ///
    /// # Safety
    /// The visit's entry is as [`Engine::enter`] asks for.
    unsafe fn plan(&self, visit: &Visit<'_>) -> Result<Plan, Declined> {
        let (info, entry, log) = (visit.info, &*visit.entry, visit.log);
        let most_rows = match self.config.race {
            RaceChoice::Auto => {
                let is_guess = info.has(PG_LOOP_LONG_LOOPS);
                policy::rows_worth_reading(&visit.history, &self.situation(visit), is_guess)
            }
            _ => u64::MAX,
        };
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
            by_turns: None,
            stored: None,
            basis: None,
        };
        // SAFETY: promised by the caller.
        let proof = unsafe { predicate::prove(info, entry, most_rows) };
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
            if doubted || log.is_some() {
                return Err("it needs private arrays, which can't be logged".into());
            }
            if proof.as_ref().is_ok_and(|rest| !rest.is_empty() || rest.snapshot) {
                return Err("its iterations are not proven independent, and it needs private arrays".into());
            }
        }
        let is_refuted = info.has(PG_LOOP_REORDERED) && proof.is_err();
        if let (Some(method), true, false) = (log, info.n_pairs != 0, is_pin || is_refuted || doubted) {
            let Rest { snapshot, rows, .. } = proof.unwrap_or_default();
            return Ok(Plan { snapshot, ..logs(method, Rest { rows, ..Rest::default() }, true) });
        }
        match proof {
            // A loop that the compiler wants to see logged is logged, whatever its pairs say.
            Ok(rest) if rest.is_empty() && !(info.check == PG_CHECK_LOGS && info.n_pairs == 0) => {
                Ok(match doubted {
                    // What an iteration updates and accesses otherwise, too, is a conflict to logs, and none to predicates.
                    true => {
                        Plan { claimed: !info.has(PG_LOOP_UPDATES), ..logs(LogMethod::Atomic, rest, true) }
                    }
                    false => {
                        let snapshot = rest.snapshot;
                        Plan { proven: true, snapshot, ..logs(LogMethod::None, rest, false) }
                    }
                })
            }
            Ok(rest) => Ok(logs(log.unwrap_or(LogMethod::Atomic), rest, false)),
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
}
