//! A loop on copies of its arrays, raced by the calling thread: where the arrays lie, how it is logged, and what its end means for its
//! future.

use super::residents::Stay;
use super::{Declined, Engine, MAX_ITERATIONS, Plan, Visit, lock};
use crate::abi::*;
use crate::config::{GroupChoice, RaceChoice};
use crate::device::LogMethod;
use crate::device::pool::may_stay_awake;
use crate::history::{self, Category, Way};
use crate::memory::allocations::Allocations;
use crate::memory::coherence;
use crate::memory::coherence::again::Again;
use crate::memory::coherence::journal::Step;
use crate::memory::placement::{self, Placement};
use crate::memory::{limits, safe_copy};
use crate::objects::Code;
use crate::speculation::cmt::{Guesses, Job, Kind, Report};
use crate::speculation::filled::Filled;
use crate::speculation::inspector;
use crate::speculation::monitor::{self, Pending};
use crate::speculation::parts;
use crate::speculation::protocol::{self, Caller, Seat};
use crate::speculation::race::{self, Finish, Rule};
use crate::speculation::written::{Rows, written_rows};
use std::sync::{Arc, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

/// How long a thread that is just being started is waited for, and where a device was asked for.
const PATIENCE: Duration = Duration::from_millis(2);
/// See [`PATIENCE`].
const PATIENCE_WHERE_ASKED: Duration = Duration::from_secs(5);

/// A log's words are counted in 32 bits on devices, those of bitmaps in 31.
const MAX_LOG_WORDS: u64 = u32::MAX as u64;

/// Where the arrays lie, and what is written completely, where that is known.
pub(super) struct Placed {
    placement: Placement,
    written: Option<Vec<Rows>>,
}

impl Placed {
    pub(super) fn placement(&self) -> &Placement {
        &self.placement
    }
}

/// A job, the calling thread's side of it, the memory of what decides its addresses, where a run shows them, and what it would take to run it again, where its results stay.
struct Hand {
    job: Job,
    caller: Caller<Box<Report>>,
    fed: Option<Vec<(u64, u64)>>,
    step: Option<Step<Again>>,
}

impl Engine {
    /// A loop on copies of its arrays under the race that `PARAGON_RACE` asks for.
    ///
    /// # Safety
    /// The visit's entry is as [`Engine::enter`] asks for.
    pub(super) unsafe fn speculate(
        &self,
        visit: &mut Visit<'_>,
        plan: Plan,
        kind: Kind,
    ) -> Result<(), Declined> {
        let rule = match self.config.race {
            RaceChoice::Auto => Rule::FirstWins,
            RaceChoice::Device if self.tries_all_logs() => Rule::DeviceOrNothing,
            RaceChoice::Device => Rule::DeviceUnlessItFails,
            RaceChoice::Worker => Rule::WorkerAlways,
        };
        // SAFETY: promised by the caller.
        unsafe { self.speculate_by(visit, plan, None, kind, rule) }
    }

    /// The allocations that are known. `None`: the table is in use for long.
    pub(super) fn known_allocations(&self) -> Option<MutexGuard<'_, Allocations>> {
        (0..1000).find_map(|_| match self.allocations.try_lock() {
            Ok(table) => Some(table),
            Err(TryLockError::Poisoned(table)) => Some(table.into_inner()),
            // Perhaps the very thread that we interrupt holds it: never wait for good.
            Err(TryLockError::WouldBlock) => {
                std::thread::yield_now();
                None
            }
        })
    }

    /// Places the entry's arrays, and settles how it is instrumented.
    ///
    /// # Safety
    /// The visit's entry is as [`Engine::enter`] asks for.
    pub(super) unsafe fn place(&self, visit: &Visit<'_>, plan: &mut Plan) -> Result<Placed, Declined> {
        let (info, entry) = (visit.info, &*visit.entry);
        let table = self.known_allocations().ok_or("the table of allocations is in use")?;
        // SAFETY: promised by the caller, here and below.
        let bases = unsafe { entry.bases(info) };
        let reached = plan.basis.as_ref().and_then(|basis| basis.reached.clone());
        let reached = reached.as_ref().and_then(|reached| reached.of(bases));
        // SAFETY: as above.
        let place =
            |method| unsafe { placement::place(info, entry, &table, method, plan.rest.rows(), reached) };
        let mut placement = place(plan.method)?;
        let mut settled =
            plan.proven || !plan.forced && !plan.rest.is_empty() && placement.settles(info, &plan.rest);
        if info.has(PG_LOOP_DOUBTED) {
            plan.claimed |= settled;
            settled = false;
        }
        let mut written = None;
        if settled {
            // SAFETY: as above.
            written = unsafe { written_rows(info, entry, plan.stored.as_deref().map(Vec::as_slice)) };
            plan.method = if written.is_some() { LogMethod::None } else { LogMethod::Mark };
            placement = place(plan.method)?;
        }
        if plan.snapshot {
            placement.take_snapshots(info);
        }
        if !limits::fits(2 * placement.bytes() + 12 * placement.cells) {
            return Err("too little free memory for copies of its arrays".into());
        }
        Ok(Placed { placement, written })
    }

    /// What a loop is logged by, now that it is known where its arrays are and where it will run; and by what, if that finds conflicts
    /// which may be none. Doubted loops keep to the method that never mistakes what an iteration does to its own elements for a conflict,
    /// nor an anti or output dependence for none.
    ///
    /// # Safety
    /// The visit's entry is as [`Engine::enter`] asks for.
    pub(super) unsafe fn log_method(
        &self,
        visit: &Visit<'_>,
        plan: &Plan,
        placement: &Placement,
        kind: Kind,
    ) -> (LogMethod, LogMethod) {
        if plan.claimed {
            return (LogMethod::Atomic, LogMethod::Atomic);
        }
        let info = visit.info;
        // SAFETY: promised by the caller.
        let pins = unsafe { visit.entry.pins(info) };
        let knows_updates = info.has(PG_LOOP_UPDATES);
        let wants_better = visit.history.wants_better_log();
        // Where bits are of updates of one kind alone, nobody need ask which kind it was.
        let has_mixed = || {
            let alone = placement.updated_alone(info);
            let mut updates = info.sites().iter().filter(|site| site.has(PG_SITE_UPDATE));
            kind != Kind::Cuda || updates.any(|site| site.base >= 64 || alone >> site.base & 1 == 0)
        };
        let may_be_bitmap = info.has(PG_LOOP_STORES_ONCE)
            && !(knows_updates && has_mixed())
            && !wants_better
            && placement.pinned_cells(pins).is_empty();
        let best = if knows_updates { LogMethod::Atomic } else { LogMethod::Stamp };
        match visit.log {
            Some(LogMethod::Bitmap) if !may_be_bitmap => (LogMethod::Atomic, LogMethod::Atomic),
            Some(LogMethod::Stamp) => (best, best),
            // One that takes an iteration which meets itself for two.
            Some(LogMethod::Bitmap) => (LogMethod::Bitmap, LogMethod::Atomic),
            Some(asked) => (asked, asked),
            None if wants_better => (best, best),
            // A bit for each cell instead of a word: a GPU hardly notices.
            None if may_be_bitmap && kind == Kind::Cuda => (LogMethod::Bitmap, best),
            // Plain stores are enough where only writers are logged.
            None if !placement.has_logged_readers(info) => (LogMethod::Reduction, best),
            None => (LogMethod::Atomic, best),
        }
    }

    /// What bitmaps have of the loop's stores from the entry, where the device is one that enters it.
    ///
    /// # Safety
    /// The visit's entry is as [`Engine::enter`] asks for.
    unsafe fn filled(&self, visit: &Visit<'_>, placement: &Placement, kind: Kind) -> Filled {
        /// Fewer cells take no longer to note than a kernel to be launched that enters them.
        const LEAST: u64 = 1 << 18;
        let least = match self.config.groups {
            _ if kind != Kind::Cuda => return Filled::default(),
            GroupChoice::Off => u64::MAX,
            GroupChoice::Always => 0,
            GroupChoice::Auto => LEAST,
        };
        // SAFETY: promised by the caller.
        unsafe { Filled::of(visit.info, visit.entry, placement, least) }
    }

    /// Has a loop's kernel for a GPU made, while it runs elsewhere. Where that isn't possible nothing happens.
    ///
    /// # Safety
    /// The visit's entry is as [`Engine::enter`] asks for.
    pub(super) unsafe fn prepare(&self, visit: &mut Visit<'_>, plan: Plan) {
        // SAFETY: promised by the caller.
        if let Ok(hand) = unsafe { self.hand(visit, plan, None, Kind::Cuda, Rule::FirstWins) } {
            self.cmt.submit(Job { prepares: true, ..hand.job });
        }
    }

    /// A loop on copies of its arrays, raced by the sequential loop.
    ///
    /// # Safety
    /// The visit's entry is as [`Engine::enter`] asks for.
    pub(super) unsafe fn speculate_by(
        &self,
        visit: &mut Visit<'_>,
        plan: Plan,
        placed: Option<Placed>,
        kind: Kind,
        rule: Rule,
    ) -> Result<(), Declined> {
        // SAFETY: promised by the caller.
        let Hand { job, caller, fed, step } = unsafe { self.hand(visit, plan, placed, kind, rule)? };
        let (info, way) = (visit.info, if kind == Kind::Cuda { Way::Cuda } else { Way::Threads });
        let (logged, tenants) = (job.method.detects(), job.tenants.clone());
        let started = Instant::now();
        if job.follows {
            return self.follow(visit, job, step);
        }
        let helpers = (&self.pool, self.config.threads);
        // SAFETY: as above.
        let finish =
            unsafe { race::run(&self.cmt, helpers, info, visit.entry, job, caller, rule, &mut visit.fp) }
                .ok_or("the device did not take the loop")?;
        if let (true, Some(report)) = (finish.device_won, &finish.report) {
            coherence::settle(kind, &tenants, &report.found, step);
            visit.record.stays = !tenants.is_empty();
        }
        let elapsed = started.elapsed().as_nanos() as u64;
        if let (Some(fed), true, Some(report)) = (fed, finish.device_won, &finish.report)
            && visit.history.wants_lesson()
        {
            // Where other stores than an inspection's go the finding doesn't say: next time they may go elsewhere.
            let is_all = info.sites().iter().all(|s| !s.has(PG_SITE_STORE) || s.has(PG_SITE_INSPECTED));
            let written = report.pieces.ranges(inspector::MOST_PIECES).filter(|_| is_all);
            let key = visit.the_loop.key();
            let known = lock(&self.findings).memory();
            // SAFETY: as above; the device has run this entry without conflict.
            let lesson = unsafe { inspector::learn(info, visit.entry, fed, written, &known, helpers) };
            if let Ok(Some(memo)) = lesson {
                lock(&self.findings).keep(key, memo);
            }
        }
        if let Some((number, seen)) = finish.report.as_deref().and_then(|report| report.seen.clone()) {
            let mut findings = lock(&self.findings);
            if let Some(memo) = findings.numbered(visit.the_loop.key(), number) {
                memo.saw(seen);
            }
        }
        let is_complete = finish.device_won || rule != Rule::DeviceOrNothing;
        self.remember(visit, finish, way, rule, logged, elapsed);
        if is_complete { Ok(()) } else { Err(visit.record.why.clone()) }
    }

    /// Leaves a loop to the GPU, whose thread comes to it when it is done with those before. All that the loop stores stays there, so whoever wants it waits for it then; and where
    /// it fails, it is run again with all behind it.
    fn follow(&self, visit: &mut Visit<'_>, job: Job, step: Option<Step<Again>>) -> Result<(), Declined> {
        let (kind, tenants, started) = (job.kind, job.tenants.clone(), Instant::now());
        let found: Vec<_> = tenants.iter().filter_map(|tenant| tenant.found).collect();
        if !self.cmt.follow(job) {
            return Err("the device did not take the loop".into());
        }
        coherence::settle(kind, &tenants, &found, step);
        let elapsed = started.elapsed().as_nanos() as u64;
        self.has_gained(visit.history.gpu_won(visit.iterations, elapsed));
        let record = &mut visit.record;
        (record.stays, record.follows) = (true, true);
        record.decision = record.device;
        record.why = "nobody waits for the device".into();
        Ok(())
    }

    /// What is handed over to a device's thread for an entry, and the calling thread's side of it.
    ///
    /// # Safety
    /// The visit's entry is as [`Engine::enter`] asks for.
    unsafe fn hand(
        &self,
        visit: &mut Visit<'_>,
        mut plan: Plan,
        placed: Option<Placed>,
        kind: Kind,
        rule: Rule,
    ) -> Result<Hand, Declined> {
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
        let patience = if asked { PATIENCE_WHERE_ASKED } else { PATIENCE };
        if !self.cmt.is_ready(kind, patience) {
            return Err("the device's thread is not ready".into());
        }
        while self.cmt.busy(kind) {
            std::thread::yield_now();
        }
        let placed = match placed {
            Some(placed) => placed,
            // SAFETY: promised by the caller, here and below.
            None => unsafe { self.place(visit, &mut plan)? },
        };
        let (logged, placement) = (plan.logged(), &placed.placement);
        // SAFETY: as above.
        let best_method = unsafe { self.logs(visit, &mut plan, placement, kind)? };
        // Of loads from snapshots logs say nothing, nor do stamps of anti and output dependences; where logs are asked for, nothing
        // replaces them.
        let shows =
            logged && plan.method != LogMethod::Stamp && !plan.claimed && !plan.forced && !plan.snapshot;
        let fed = placement.fed(visit.info).filter(|_| shows);
        visit.record.claimed = plan.claimed;
        visit.record.snapshot = plan.snapshot;
        let info = visit.info;
        visit.record.log = LogMethod::NAMES[plan.method as usize];
        visit.record.device = if kind == Kind::Cuda { "cuda" } else { "threads" };
        // One core is the worker's, unless it is held back.
        let workers = usize::from(!matches!(rule, Rule::DeviceUnlessItFails | Rule::DeviceOrNothing));
        self.cmt.set_threads(self.config.threads.saturating_sub(workers));
        let (mut caller, seat) = protocol::sides();
        let basis = match plan.basis.take().map(|basis| *basis).filter(|_| plan.proven) {
            None if kind == Kind::Cuda && !logged => {
                // SAFETY: as above.
                unsafe { self.addresses(visit, placement) }
            }
            basis => basis,
        };
        let object = match (rule, kind) {
            // Nobody waits for it.
            (Rule::Monitor, Kind::Threads) => Code::kept(std::ptr::from_ref(info) as usize),
            (_, Kind::Cuda) => Code::ForGood,
            _ => Code::ForItsEntry,
        };
        // SAFETY: as above.
        let Stay { tenants, returning, step, follows } =
            unsafe { self.tenants(visit, &plan, placement, placed.written.as_deref(), (kind, rule)) };
        if !tenants.is_empty() && may_stay_awake() {
            caller.stay_awake();
        }
        // What stays isn't copied from anywhere else.
        let basis = basis.filter(|basis| tenants.is_empty() || basis.remembered().is_empty());
        plan.basis = basis.map(Box::new);
        // SAFETY: as above.
        let job = unsafe { self.job(visit, plan, placed, best_method, (kind, object), seat) };
        Ok(Hand { job: Job { follows, tenants, returning, ..job }, caller, fed, step })
    }

    /// What a loop is logged by on a device: the plan's method from now on. Answers the one that a better log would have.
    ///
    /// # Safety
    /// The visit's entry is as [`Engine::enter`] asks for.
    pub(super) unsafe fn logs(
        &self,
        visit: &Visit<'_>,
        plan: &mut Plan,
        placement: &Placement,
        kind: Kind,
    ) -> Result<LogMethod, Declined> {
        let mut best_method = plan.method;
        if plan.logged() {
            // SAFETY: promised by the caller.
            (plan.method, best_method) = unsafe { self.log_method(visit, plan, placement, kind) };
        }
        // Another copy of everything, and four words for each cell, of which a bit comes back.
        let of_stamps = 3 * placement.bytes() + 17 * placement.cells;
        if plan.method == LogMethod::Stamp && !limits::fits(of_stamps) {
            return Err("too little free memory for copies of its arrays".into());
        }
        let is_bitmap = matches!(plan.method, LogMethod::Mark | LogMethod::Bitmap);
        if plan.method.words(placement.cells) > MAX_LOG_WORDS >> u32::from(is_bitmap) {
            return Err("its arrays have more elements than logs have room for".into());
        }
        Ok(best_method)
    }

    /// The job of an entry, of which nothing stays.
    ///
    /// # Safety
    /// The visit's entry is as [`Engine::enter`] asks for.
    pub(super) unsafe fn job(
        &self,
        visit: &mut Visit<'_>,
        plan: Plan,
        Placed { placement, written }: Placed,
        best_method: LogMethod,
        (kind, object): (Kind, Code),
        seat: Seat<Box<Report>>,
    ) -> Job {
        let info = visit.info;
        // Bits don't know whose they are.
        let may_sort_bits = kind == Kind::Cuda
            && plan.method == LogMethod::Bitmap
            && plan.schedule.is_none()
            && !plan.snapshot;
        let by_lengths = match may_sort_bits {
            // SAFETY: promised by the caller, here and below.
            true => unsafe { self.order_by_lengths(visit, &placement) },
            false => None,
        };
        // SAFETY: as above.
        let (bases, values, pins) =
            unsafe { (visit.entry.bases(info), visit.entry.values(info), visit.entry.pins(info)) };
        // SAFETY: as above.
        let filled = unsafe { self.filled(visit, &placement, kind) };
        // Whatever asks for iterations in their order, or could.
        let may_sort =
            kind == Kind::Cuda && plan.proven && !plan.logged() && !plan.snapshot && plan.schedule.is_none();
        Job {
            info: self.facts.of(visit.the_loop.key(), info),
            loop_key: visit.the_loop.key(),
            object,
            kind,
            trip: visit.entry.trip,
            bases: bases.iter().map(|b| b.pointer).collect(),
            values: values.to_vec(),
            results: parts::launch_results(info, &visit.entry.trip),
            method: plan.method,
            best_method,
            guesses: self.config.guesses.unwrap_or(visit.history.guesses()),
            may_guess_range: match self.config.guesses {
                Some(guesses) => guesses != Guesses::None,
                None => visit.history.may_guess_range(),
            },
            in_order: match self.config.guesses {
                Some(guesses) => guesses == Guesses::InOrder,
                None => visit.history.meets_in_order(),
            },
            stores_once: match self.config.guesses {
                Some(guesses) => guesses == Guesses::InOrder,
                None => visit.history.may_store_once(),
            },
            may_join: match self.config.guesses {
                Some(guesses @ (Guesses::Joined | Guesses::Launches)) => {
                    guesses == Guesses::Joined || visit.history.may_join()
                }
                Some(_) => false,
                None => visit.history.may_join(),
            },
            portion: match self.config.guesses {
                None | Some(Guesses::Launches) => visit.history.portion(),
                Some(_) => 0,
            },
            may_portion: match self.config.guesses {
                None | Some(Guesses::Launches) => visit.history.may_portion(),
                Some(_) => false,
            },
            many_writers: visit.history.has_many_writers(),
            has_seams: visit.history.has_seams(),
            groups: self.config.groups,
            patience: self.config.patience,
            prepares: false,
            follows: false,
            tenants: Arc::default(),
            returning: None,
            by_turns: by_lengths.or(plan.by_turns.filter(|_| may_sort)),
            schedule: plan.schedule,
            pinned: placement.pinned_cells(pins),
            basis: plan
                .basis
                .filter(|basis| kind == Kind::Cuda && basis.serves(info, &placement))
                .map(|basis| *basis),
            written,
            filled,
            placement,
            seat,
        }
    }

    /// What a finished race means for the loop's future, and for its record.
    pub(super) fn remember(
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
        // A good part of them is as good as all, and newer than what was measured before.
        match finish.worker_iterations.saturating_mul(4) >= visit.entry.trip[0].max(0) as u64 {
            true => history.worker_took(finish.worker_iterations * inner, finish.worker_ns),
            false => history.worker_began(finish.worker_iterations * inner, finish.worker_ns),
        }
        record.worker_iterations = finish.worker_iterations;
        record.decision = if finish.device_won { record.device } else { "worker" };
        record.why = if finish.device_won { "the device was faster" } else { "the worker was faster" }.into();
        if matches!(rule, Rule::DeviceUnlessItFails | Rule::DeviceOrNothing) && finish.device_won {
            record.why = "the device was waited for".into();
        }
        if rule == Rule::WorkerAlways {
            record.why = "the worker always wins".into();
        }
        if let Some(report) = &finish.report {
            record.execute_ns = report.outcome.execute_ns;
            record.check_ns = report.outcome.check_ns;
            record.bytes_in = report.bytes_in;
            record.unchecked = report.unchecked;
            (record.group, record.deep) = (report.group, report.deep);
            (record.spread, record.sorted) = (report.spread, report.sorted);
            record.backwards = report.backwards;
            record.bytes_out = report.bytes_out;
            record.copy_in_ns = report.copy_in_ns;
            record.copy_out_ns = report.copy_out_ns;
            record.fail = failure_words(report.outcome.fail);
            record.conflicts = report.outcome.conflicts;
            record.settled = report.outcome.unsettled;
            record.guess = report
                .portion_held
                .or(report.guess_held)
                .or(report.joined_held)
                .or(report.range_held)
                .or(report.order_held)
                .map_or("", |held| if held { "held" } else { "refuted" });
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
            if let (Way::Cuda, false, Some(report)) = (way, logged, &finish.report) {
                history.kernel_took(visit.iterations, report.outcome.execute_ns);
            }
            if way == Way::Cuda {
                self.has_gained(history.gpu_won(visit.iterations, elapsed));
            }
            // What stays isn't copied, and says nothing about entries whose arrays are.
            if !record.stays {
                history.way_took(way, visit.iterations, elapsed);
            }
            let (iterations, all) = (visit.iterations, visit.started.elapsed().as_nanos() as u64);
            Self::note_inspection(visit, iterations, all);
        }
        let (history, record) = (&mut visit.history, &mut visit.record);
        if rule == Rule::Monitor {
            record.why = format!("monitored: {}", record.why);
        }
        if let Some(events) = finish.pending {
            record.why = "monitored: the report is still to come".into();
            *lock(&self.pending) = Some(Pending::new(visit.the_loop.key(), events));
        } else if rule == Rule::FirstWins && history.category != Category::Sequential {
            history.paid(finish.device_won, visit.the_loop, visit.entry.trip[0]);
        }
    }
}
