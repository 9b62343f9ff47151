//! When a loop's addresses are looked at before it runs, and what follows from what is found there. How that is done is
//! `speculation::inspector`'s.

use super::{Declined, Engine, MAX_ITERATIONS, Plan, Visit, lock};
use crate::abi::{InspectFn, PG_LOOP_DOUBTED, PG_LOOP_LONG_LOOPS, PG_LOOP_SHOWS_ALL, PG_LOOP_UPDATES};
use crate::config::{DeviceChoice, GroupChoice, InspectionChoice, RaceChoice};
use crate::device::LogMethod;
use crate::history::{Inspector, Way};
use crate::memory::placement;
use crate::policy::{self, Situation};
use crate::speculation::cmt::CudaState;
use crate::speculation::inspector::marks::Terms;
use crate::speculation::inspector::seen::{Seeing, Seen};
use crate::speculation::inspector::{Finding, Inspected, Memo, Obstacle as Uninspected, levels, marks};
use crate::speculation::parts;
use crate::speculation::predicate::Rest;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

/// An inspection that is asked for may take so long, unless somebody says otherwise.
const LONGEST_INSPECTION: Duration = Duration::from_secs(30);

/// What is looked at again at each entry may take so many times as long as it has.
const LONGER_THAN_EXPECTED: f64 = 4.0;

/// Whether threads in place are expected to be the fastest that an entry can have.
fn is_for_threads(visit: &Visit<'_>, situation: &Situation) -> bool {
    policy::choose(&visit.history, situation) == Some(Way::InPlace)
}

impl Engine {
    /// Where predicates leave something open, inspects the addresses that the iterations will touch, or uses what an earlier
    /// inspection has found.
    ///
    /// # Safety
    /// The visit's entry is as [`Engine::enter`] asks for.
    pub(super) unsafe fn inspect(&self, visit: &mut Visit<'_>, plan: &mut Plan) -> Result<(), Declined> {
        let info = visit.info;
        let Some(slice) = info.inspect.filter(|_| !plan.proven && !plan.forced) else { return Ok(()) };
        let asked = self.config.race != RaceChoice::Auto;
        let situation = self.situation(visit);
        if visit.iterations > MAX_ITERATIONS
            || !asked && (self.is_early(visit) || !policy::deserves_inspection(&visit.history, &situation))
        {
            return Ok(());
        }
        visit.stay();
        visit.history.worth_inspecting(policy::at_least_ns(
            &visit.history,
            &situation,
            visit.info.has(PG_LOOP_LONG_LOOPS),
        ));
        let started = Instant::now();
        let key = visit.the_loop.key();
        let mut findings = lock(&self.findings);
        let helpers = (&self.pool, self.config.threads);
        let answers = |memo: &Memo| !matches!(memo.finding, Finding::Addresses);
        // SAFETY: promised by the caller, here and below.
        let holds = |memo: &Memo| unsafe { memo.still_holds(info, visit.entry, helpers) };
        let mut for_once = None;
        if !self.is_inspected_anew(visit, &situation)
            && findings.any(key, |memo| answers(memo) && holds(memo))
        {
            visit.history.finding_held();
        } else if self.config.inspections == InspectionChoice::Off {
            return Ok(());
        } else {
            // SAFETY: as above.
            match unsafe { self.inspect_anew(visit, &plan.rest, slice, &situation) } {
                Ok(Some(Inspected { mut memo, is_to_keep: true, .. })) => {
                    // SAFETY: as above.
                    unsafe { self.narrow(visit, &mut memo) };
                    findings.keep(key, memo);
                }
                Ok(Some(Inspected { memo, .. })) => for_once = Some(memo),
                Ok(None) => return Ok(()),
                Err(obstacle) => {
                    visit.record.inspection = obstacle.words();
                    visit.record.inspect_ns = started.elapsed().as_nanos() as u64;
                    return Ok(());
                }
            }
        }
        let kept = findings.latest(key).filter(|_| for_once.is_none());
        let memo = for_once.as_ref().or(kept);
        let finding = memo.map(|memo| memo.finding.clone());
        plan.stored = memo.and_then(|memo| memo.stored.clone());
        plan.by_turns = memo.and_then(|memo| memo.order.clone());
        plan.basis = kept.map(|memo| Box::new(memo.basis(started)));
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
            Some(Finding::Chain | Finding::Addresses) | None => {
                visit.record.inspection = "chain";
                // Anti and output dependences make chains, too, which stamps let a GPU run all at once.
                let may_stamp = !asked
                    && situation.open[Way::Cuda as usize]
                    && visit.log.is_none()
                    && !info.has(PG_LOOP_UPDATES | PG_LOOP_DOUBTED);
                if may_stamp {
                    visit.history.met();
                    return Ok(());
                }
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

    /// Whether the loop's iterations are looked at again, instead of comparing what an earlier inspection has found with what is there: that takes less time, and no device is expected to
    /// want to know what its addresses follow from.
    fn is_inspected_anew(&self, visit: &Visit<'_>, situation: &Situation) -> bool {
        match self.config.race {
            _ if self.config.inspections == InspectionChoice::Anew => true,
            RaceChoice::Auto => {
                visit.history.is_inspected_anew() == Some(true) && is_for_threads(visit, situation)
            }
            _ => false,
        }
    }

    /// Notes what an inspection has saved where iterations have run elsewhere because of it, which took so long with all that was looked at.
    pub(super) fn note_inspection(visit: &mut Visit<'_>, iterations: u64, took_ns: u64) {
        let is_by_inspection = matches!(visit.record.inspection, "independent" | "levels");
        let worker_ns = visit.history.worker_ns * iterations as f64;
        if is_by_inspection && worker_ns > 0.0 {
            let took_ns = took_ns.saturating_sub(visit.inspection_ns);
            visit.history.inspection_saved(took_ns as f64, worker_ns);
        }
    }

    /// What an inspection may see for a GPU besides: whether all addresses lie in their arrays, so that it need not look itself. `None`: it can't, or
    /// no GPU is going to ask.
    ///
    /// # Safety
    /// As for [`Engine::inspect`].
    unsafe fn seeing(&self, visit: &Visit<'_>) -> Option<Seeing> {
        let asks = match self.config.race {
            RaceChoice::Auto => self.situation(visit).open[Way::Cuda as usize],
            _ => self.cmt.cuda_state() != CudaState::Absent,
        };
        let may = matches!(self.config.device, DeviceChoice::Auto | DeviceChoice::Cuda);
        if !asks || !may || !visit.info.has(PG_LOOP_SHOWS_ALL) {
            return None;
        }
        let table = self.known_allocations()?;
        // SAFETY: promised by the caller, here and below.
        let placement =
            unsafe { placement::place(visit.info, visit.entry, &table, LogMethod::None, None, None) }.ok()?;
        // SAFETY: as above.
        unsafe { Seeing::of(visit.info, visit.entry, &placement, self.config.groups == GroupChoice::Always) }
    }

    /// What an inspection has seen of whole arrays it has seen of those parts of them, too, that a device will be given because of it: if all that was reached lies in
    /// them. Otherwise a device is given whole arrays.
    ///
    /// # Safety
    /// As for [`Engine::inspect`].
    unsafe fn narrow(&self, visit: &Visit<'_>, memo: &mut Memo) {
        let Some(reached) = memo.reached.clone() else { return };
        // SAFETY: promised by the caller, here and below.
        let bases = unsafe { visit.entry.bases(visit.info) };
        let Some(sites) = reached.of(bases) else { return };
        let placed = self.known_allocations().and_then(|table| {
            let (info, sites) = (visit.info, Some(sites));
            // SAFETY: as above.
            unsafe { placement::place(info, visit.entry, &table, LogMethod::None, None, sites) }.ok()
        });
        match placed.filter(|placement| placement.holds(visit.info, sites)) {
            Some(placement) => {
                let pointers: Vec<u64> = bases.iter().map(|base| base.pointer).collect();
                memo.saw(Seen::new(&placement, &pointers));
            }
            None => memo.reached = None,
        }
    }

    /// Makes the inspections that are asked for, or that cost little: first whether iterations meet, then, if so, in what order they
    /// can run. `None`: none was made.
    ///
    /// # Safety
    /// As for [`Engine::inspect`].
    pub(super) unsafe fn inspect_anew(
        &self,
        visit: &mut Visit<'_>,
        rest: &Rest,
        slice: InspectFn,
        situation: &Situation,
    ) -> Result<Option<Inspected>, Uninspected> {
        let asked = self.config.race != RaceChoice::Auto;
        let for_once = match self.config.inspections {
            InspectionChoice::Anew => true,
            _ => {
                !asked && visit.history.is_inspected_anew() != Some(false) && is_for_threads(visit, situation)
            }
        };
        let helpers = (&self.pool, self.config.threads);
        // SAFETY: promised by the caller, here and below.
        let mut seeing = unsafe { self.seeing(visit) };
        let (mut outcome, mut is_made) = (Ok(None), false);
        for inspector in [Inspector::Marks, Inspector::Levels] {
            let expected = policy::inspection_ns(inspector, &visit.history, situation);
            let may_take = match inspector == Inspector::Marks && self.is_inspected_anew(visit, situation) {
                // It has paid before.
                true => LONGER_THAN_EXPECTED * expected,
                false => {
                    let worker_ns = policy::worker_ns(&visit.history, situation);
                    visit.history.inspection_may_take(inspector, worker_ns)
                }
            };
            if !asked && expected > may_take {
                continue;
            }
            let patience = match asked {
                true => self.config.patience.unwrap_or(LONGEST_INSPECTION),
                false => Duration::from_nanos(may_take as u64),
            };
            let (started, looked_at) = (Instant::now(), AtomicU64::new(0));
            // SAFETY: promised by the caller; the program would load all this now.
            let found = unsafe {
                match inspector {
                    Inspector::Marks => {
                        let (pairs, seeing) = (&rest.pairs, seeing.take());
                        let terms = Terms { for_once, patience, looked_at: &looked_at };
                        let (info, entry) = (visit.info, &*visit.entry);
                        marks::inspect(info, entry, slice, pairs, seeing, terms, helpers)
                    }
                    Inspector::Levels => {
                        let (info, entry) = (visit.info, &*visit.entry);
                        let found = levels::inspect(info, entry, slice, helpers, patience, &looked_at);
                        found.map(|memo| Inspected { memo, is_to_keep: true, took: started.elapsed() })
                    }
                }
            };
            match &found {
                Ok(Inspected { is_to_keep: false, took, .. }) => {
                    let took = took.as_nanos() as u64;
                    let is_cheap = policy::is_cheap(took as f64, &visit.history, situation);
                    visit.history.inspected_for_once(inspector, visit.iterations, took, is_cheap);
                }
                found => {
                    let took = started.elapsed().as_nanos() as u64;
                    visit.inspection_ns += took;
                    let had_no_time = matches!(found, Err(Uninspected::Endless));
                    let is_made_anew = visit.history.is_inspected_anew() == Some(true);
                    match (had_no_time, is_made_anew) {
                        (true, true) => visit.history.inspection_overran(inspector, visit.iterations, took),
                        (true, false) => {
                            let part = looked_at.into_inner() as f64 / visit.entry.trip[0].max(1) as f64;
                            visit.history.inspection_unfinished(inspector, visit.iterations, took, part);
                        }
                        (false, _) => visit.history.inspected(inspector, visit.iterations, took),
                    }
                    // Whoever had too little time may have more the next time.
                    if inspector == Inspector::Marks && for_once && !had_no_time {
                        visit.history.inspections_are_remembered();
                    }
                }
            }
            is_made = true;
            let done = found.is_ok();
            outcome = found.map(Some);
            if done {
                break;
            }
        }
        let says_how = |inspected: &Inspected| !matches!(inspected.memo.finding, Finding::Chain);
        if is_made && !outcome.as_ref().is_ok_and(|inspected| inspected.as_ref().is_some_and(says_how)) {
            visit.history.inspected_in_vain();
        }
        outcome
    }
}
