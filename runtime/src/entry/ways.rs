//! Where a loop runs, whose check is settled: what is asked for, or what is expected to be fastest; and proven loops in place. Runs on
//! copies are `speculation`'s.

use super::{Declined, Engine, MAX_ITERATIONS, Plan, Visit, lock};
use crate::abi::*;
use crate::config::{DeviceChoice, RaceChoice};
use crate::device::threads::{self, Share};
use crate::floating_point;
use crate::history::{self, Category, Way};
use crate::memory::coherence;
use crate::memory::placement;
use crate::memory::private_copies::PrivateCopies;
use crate::memory::snapshot::Snapshot;
use crate::policy::{self, Situation};
use crate::speculation::cmt::{CudaState, Kind};
use crate::speculation::parts;
use crate::speculation::race::Rule;
use std::time::{Duration, Instant};

/// A loop without a function for the threads device, which the compiler leaves out where it can't pay.
const UNCHECKED: &str = "checked threads can't pay here: no code was generated for them";

/// Why a loop has run on the calling thread.
const MEASURED: &str = "measured on the calling thread";

/// Whether the calling thread may run a loop by its worker's code, whose inner loops nobody can tell the length of: that code has the program's order, and takes for constant
/// what no store changes.
fn may_be_timed(info: &Info, plan: &Plan) -> bool {
    info.has(PG_LOOP_LONG_LOOPS)
        && !info.has(PG_LOOP_PART)
        && (plan.proven || plan.rest.unplaced.is_none() && !info.has(PG_LOOP_REORDERED))
}

impl Engine {
    /// What the policy asks about an entry that is proven.
    pub(super) fn situation(&self, visit: &Visit<'_>) -> Situation {
        self.situation_of(visit.info, visit.iterations)
    }

    /// How long ago the first loop was entered.
    pub(super) fn passed(&self) -> Duration {
        self.vain.passed()
    }

    /// Whether nothing is to be thought about yet: who is to tell that the program goes on for longer than this loop takes? A part of a loop that is
    /// distributed has no way back to the loop as it stood.
    pub(super) fn is_early(&self, visit: &Visit<'_>) -> bool {
        let is_guess = visit.info.has(PG_LOOP_LONG_LOOPS);
        !self.config.at_once
            && !visit.info.has(PG_LOOP_PART)
            && policy::is_early(&visit.history, &self.situation(visit), is_guess, self.passed())
    }

    /// The device that `PARAGON_DEVICE` asks for, under a race whose winner is fixed: then it is waited for.
    pub(super) fn asked_kind(&self, info: &Info, in_place: bool) -> Result<Kind, Declined> {
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
    pub(super) unsafe fn run_where_it_pays(
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
        self.remember_earlier_runs(visit, &situation, plan.proven)?;
        // In place a sample says it, and the rest is shared.
        let may_run_elsewhere =
            !situation.open[Way::InPlace as usize] && situation.open.iter().any(|is_open| *is_open);
        let wants_time = policy::wants_time(&visit.history, &situation)
            || info.inspect.is_some()
                && !plan.proven
                && policy::wants_time_before_inspection(&visit.history, &self.situation(visit));
        if may_run_elsewhere && may_be_timed(info, &plan) && wants_time {
            // SAFETY: promised by the caller, here and below.
            unsafe { self.run_timed(visit) };
            // What has just been seen to be long need not come again for that.
            if self.config.ahead {
                self.open_if_due(visit, &plan, situation);
            }
            if may_use_cuda {
                // SAFETY: as above.
                unsafe { self.want_kernels(visit, &plan, &situation) };
            }
            return Ok(());
        }
        self.open_if_due(visit, &plan, situation);
        visit.hopes_for_gpu = may_use_cuda
            && matches!(self.cmt.cuda_state(), CudaState::Unknown | CudaState::Opening)
            && policy::is_worth_waiting_for_gpu(&visit.history, &self.hopeful(visit, &plan, situation));
        if self.cmt.cuda_state() == CudaState::Ready && may_use_cuda {
            // SAFETY: promised by the caller.
            match unsafe { self.stay(visit, plan, &situation) } {
                Ok(done) => return done,
                Err(given_back) => plan = given_back,
            }
        }
        let state = self.cmt.cuda_state();
        situation.open[Way::Cuda as usize] &= state == CudaState::Ready;
        // A driver that is not opened for this loop is no reason to ask again.
        let undecided = may_use_cuda && state == CudaState::Opening;
        if undecided || may_use_cuda && state == CudaState::Ready && self.cmt.busy(Kind::Cuda) {
            let hopeful = Situation { open: [situation.open[0], situation.open[1], true], ..situation };
            // SAFETY: promised by the caller.
            unsafe { self.want_kernels(visit, &plan, &hopeful) };
        }
        // Even without logs nothing would pay: it need not be known where the arrays lie.
        if policy::choose(&visit.history, &situation).is_none() {
            let is_in_doubt = situation.open[Way::InPlace as usize] && visit.history.wants_whole_entry();
            if is_in_doubt && plan.schedule.is_none() {
                // SAFETY: promised by the caller.
                unsafe { self.run_timed(visit) };
                return Ok(());
            }
            return Err(self.stays(visit, &plan, undecided));
        }
        if self.is_early(visit) {
            return Err(Self::stays_early(visit));
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
        let is_waited_for = self.cmt.ahead.is_pending(Engine::form(visit, &plan))
            && policy::ends_before_its_kernel_is_made(&visit.history, &situation);
        let mut way = policy::choose(&visit.history, &situation);
        if way == Some(Way::Cuda) && (is_waited_for || self.cmt.busy(Kind::Cuda)) {
            way = policy::instead_of_gpu(&visit.history, &situation).or(way);
        }
        let kind = match way {
            // SAFETY: promised by the caller; the loop is proven parallel for this entry.
            Some(Way::InPlace) => return unsafe { self.run_in_place(visit, &plan) },
            Some(Way::Threads) => Kind::Threads,
            // Whoever waited for it would keep the GPU from other loops.
            Some(Way::Cuda) if is_waited_for => {
                visit.is_slower_elsewhere = None;
                return Err("its kernel is being compiled".into());
            }
            Some(Way::Cuda) => Kind::Cuda,
            None => return Err(self.stays(visit, &plan, undecided)),
        };
        // SAFETY: promised by the caller.
        unsafe { self.speculate_by(visit, plan, placed, kind, Rule::FirstWins) }
    }

    /// A whole loop on the calling thread, in source order, to have its time.
    ///
    /// # Safety
    /// The visit's entry is as [`Engine::enter`] asks for, and what its loop depends on stays the same while it runs.
    unsafe fn run_timed(&self, visit: &mut Visit<'_>) {
        visit.stay();
        let (info, entry) = (visit.info, &*visit.entry);
        // SAFETY: promised by the caller, here and below.
        let mut running = parts::Running::new(info, unsafe { entry.results(info) });
        // What it is to be compared with has it there, too.
        coherence::bring_home();
        let started = Instant::now();
        visit.fp.program(|| {
            // SAFETY: all iterations, as the program would run them.
            unsafe { running.run(info, entry, 0, entry.trip[0]) };
        });
        visit.history.worker_took(visit.iterations, started.elapsed().as_nanos() as u64);
        let results = running.results();
        // SAFETY: the entry's results have as many elements.
        unsafe { std::ptr::copy_nonoverlapping(results.as_ptr(), entry.results, results.len()) };
        visit.record.worker_iterations = entry.trip[0] as u64;
        visit.record.log = "none";
        visit.record.decision = "worker";
        visit.record.why = MEASURED.into();
    }

    /// What a loop is told that comes when nothing is to be thought about yet.
    pub(super) fn stays_early(visit: &mut Visit<'_>) -> Declined {
        // What is inside is no longer.
        visit.is_slower_elsewhere = Some(1);
        "so short a loop stays, so early in the program".into()
    }

    /// What a loop is told that would not be faster elsewhere.
    pub(super) fn stays(&self, visit: &mut Visit<'_>, plan: &Plan, undecided: bool) -> Declined {
        let is_slower = Some(if plan.proven { 1 } else { 2 });
        if undecided {
            // Where the driver is about to be ready, loops inside of this one may find it so, if this one isn't over by then.
            if policy::ends_before_the_driver_opens(&visit.history, &self.situation(visit)) {
                visit.is_slower_elsewhere = is_slower;
            }
            return "the CUDA driver is not ready".into();
        }
        visit.is_slower_elsewhere = is_slower;
        // A loop that only logs keep from running elsewhere may earn an inspection yet.
        let hopes = visit.info.inspect.is_some()
            && !plan.proven
            && policy::deserves_inspection(&visit.history, &self.situation(visit));
        match (visit.hopes_for_gpu, hopes) {
            (true, _) => {}
            (false, true) => self.came_to_nothing(visit),
            (false, false) => visit.history.paid(false, visit.the_loop, visit.entry.trip[0]),
        }
        "the sequential loop is expected to be fastest".into()
    }

    /// A proven loop on the program's own memory: at first a sample on the calling thread, then all threads. By level, if
    /// there is a schedule; with a snapshot, if one is needed.
    ///
    /// # Safety
    /// The visit's entry is as [`Engine::enter`] asks for. The loop is proven parallel for this entry, or the schedule says in
    /// which order its iterations may run.
    pub(super) unsafe fn run_in_place(&self, visit: &mut Visit<'_>, plan: &Plan) -> Result<(), Declined> {
        visit.stay();
        // All threads are to have it.
        coherence::bring_home();
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
            let took = sampled.as_nanos() as u64;
            match first == trip {
                true => visit.history.worker_took(visit.iterations, took),
                false => visit.history.worker_began(first as u64 * inner, took),
            }
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
        let mut elsewhere = None;
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
            let iterations = (trip - first) as u64 * inner;
            visit.history.way_took(Way::InPlace, iterations, all);
            elsewhere = Some((iterations, all));
        }
        // SAFETY: the entry's results have as many elements.
        unsafe { std::ptr::copy_nonoverlapping(results.as_ptr(), entry.results, results.len()) };
        if let Some((iterations, all)) = elsewhere {
            Self::note_inspection(visit, iterations, all);
        }
        visit.record.log = "none";
        if first == trip {
            visit.record.decision = "worker";
            visit.record.why = MEASURED.into();
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
            let is_open = visit.hopes_for_gpu || visit.history.wants_whole_entry();
            let pays = each < 0.95 * visit.history.worker_ns || is_open;
            visit.history.paid(pays, visit.the_loop, trip);
        }
        Ok(())
    }
}
