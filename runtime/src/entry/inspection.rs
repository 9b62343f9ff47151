//! When a loop's addresses are looked at before it runs, and what follows from what is found there. How that is done is
//! `speculation::inspector`'s.

use super::{Declined, Engine, MAX_ITERATIONS, Plan, Visit, lock};
use crate::abi::{InspectFn, PG_LOOP_DOUBTED, PG_LOOP_SHOWS_ALL, PG_LOOP_UPDATES};
use crate::config::{DeviceChoice, GroupChoice, RaceChoice};
use crate::device::LogMethod;
use crate::history::{Inspector, Way};
use crate::memory::placement;
use crate::policy::{self, Situation};
use crate::speculation::cmt::CudaState;
use crate::speculation::inspector::seen::Seeing;
use crate::speculation::inspector::{Finding, Memo, Obstacle as Uninspected, levels, marks};
use crate::speculation::parts;
use crate::speculation::predicate::Rest;
use std::time::{Duration, Instant};

/// An inspection that is asked for may take so long, unless somebody says otherwise.
const LONGEST_INSPECTION: Duration = Duration::from_secs(30);

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
        visit.history.worth_inspecting(policy::worker_ns(&visit.history, &situation));
        let started = Instant::now();
        let key = visit.the_loop.key();
        let mut findings = lock(&self.findings);
        let helpers = (&self.pool, self.config.threads);
        let answers = |memo: &Memo| !matches!(memo.finding, Finding::Addresses);
        // SAFETY: promised by the caller, here and below.
        let holds = |memo: &Memo| unsafe { memo.still_holds(info, visit.entry, helpers) };
        if findings.any(key, |memo| answers(memo) && holds(memo)) {
            visit.history.finding_held();
        } else if !self.config.inspections {
            return Ok(());
        } else {
            // SAFETY: as above.
            match unsafe { self.inspect_anew(visit, &plan.rest, slice, &situation) } {
                Ok(Some(memo)) => findings.keep(key, memo),
                Ok(None) => return Ok(()),
                Err(obstacle) => {
                    visit.record.inspection = obstacle.words();
                    visit.record.inspect_ns = started.elapsed().as_nanos() as u64;
                    return Ok(());
                }
            }
        }
        let memo = findings.latest(key);
        let finding = memo.map(|memo| memo.finding.clone());
        plan.stored = memo.and_then(|memo| memo.stored.clone());
        plan.by_turns = memo.and_then(|memo| memo.order.clone());
        plan.basis = memo.map(|memo| memo.basis(started));
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
        let placement = unsafe { placement::place(visit.info, visit.entry, &table, LogMethod::None) }.ok()?;
        // SAFETY: as above.
        unsafe { Seeing::of(visit.info, visit.entry, &placement, self.config.groups == GroupChoice::Always) }
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
    ) -> Result<Option<Memo>, Uninspected> {
        let asked = self.config.race != RaceChoice::Auto;
        let helpers = (&self.pool, self.config.threads);
        // SAFETY: promised by the caller, here and below.
        let mut seeing = unsafe { self.seeing(visit) };
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
                        let (pairs, seeing) = (&rest.pairs, seeing.take());
                        marks::inspect(visit.info, visit.entry, slice, pairs, seeing, helpers, patience)
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
}
