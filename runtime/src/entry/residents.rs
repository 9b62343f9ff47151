//! Which arrays of an entry stay on the device behind it (`memory::coherence`), and what has to be known for that: nobody else runs this entry, it is proven, and what it
//! stores follows from its numbers.

use super::{Declined, Engine, Plan, Visit, lock};
use crate::abi::*;
use crate::device::LogMethod;
use crate::memory::coherence::again::Again;
use crate::memory::coherence::journal::Step;
use crate::memory::coherence::{self, Tenant, Use};
use crate::memory::placement::Placement;
use crate::memory::tracking::{Range, common, merged};
use crate::memory::writable;
use crate::policy::staying::Advice;
use crate::policy::{self, Situation};
use crate::speculation::cmt::Kind;
use crate::speculation::predicate::Footprint;
use crate::speculation::race::Rule;
use crate::speculation::written::{Ranges, Rows, covered_of};
use std::sync::Arc;

/// What becomes of an entry's arrays behind it.
#[derive(Default)]
pub(super) struct Stay {
    /// Those that stay on the device.
    pub tenants: Arc<Vec<Tenant>>,
    /// Where there are any: what comes back all the same, by region.
    pub returning: Option<Vec<(usize, Ranges)>>,
    /// What it would take to run the loop again.
    pub step: Option<Step<Again>>,
    /// Whether nobody need wait for the device.
    pub follows: bool,
}

impl Engine {
    /// The same situation, if arrays that come again and again needn't be copied each time.
    pub(super) fn hopeful(&self, visit: &Visit<'_>, plan: &Plan, situation: Situation) -> Situation {
        let is_one = visit.history.comes_often() && self.may_leave_arrays(visit.info, plan);
        Situation { bytes: if is_one { 0 } else { situation.bytes }, ..situation }
    }

    /// Leaves an entry's arrays on the GPU, where that is expected to pay for the program's loops. `Err`: it goes on like any other, with its plan.
    ///
    /// # Safety
    /// The visit's entry is as [`Engine::enter`] asks for.
    pub(super) unsafe fn stay(
        &self,
        visit: &mut Visit<'_>,
        plan: Plan,
        situation: &Situation,
    ) -> Result<Result<(), Declined>, Plan> {
        if !visit.history.comes_often() || !self.may_leave_arrays(visit.info, &plan) {
            return Err(plan);
        }
        let Some(expected) = policy::fastest_ns(&visit.history, situation) else { return Err(plan) };
        let moving = policy::moving_ns(situation.bytes);
        let is_busy = self.cmt.busy(Kind::Cuda);
        if lock(&self.staying).asks_for_earlier()
            && let Some(saved) = self.saved_by_staying()
        {
            lock(&self.staying).know_earlier(saved);
        }
        let advice =
            lock(&self.staying).advise(visit.the_loop.key(), moving, expected, self.passed(), is_busy);
        // A trial would have everything copied there and back for nothing.
        if advice == Advice::Stay && lock(&self.staying).begins() && !coherence::is_allowed() {
            lock(&self.staying).give_up();
            return Err(plan);
        }
        match advice {
            Advice::Elsewhere => Err(plan),
            Advice::Prepare => {
                // SAFETY: promised by the caller, here and below.
                if let Ok(again) = unsafe { self.plan(visit) } {
                    // SAFETY: as above.
                    unsafe { self.prepare(visit, again) };
                }
                Err(plan)
            }
            Advice::Stay => {
                // What came back since the last entry is part of what staying costs, and what system calls took longer. Whoever waited for it waited for all loops before, too.
                let fetching = coherence::fetching_ns();
                if fetching != 0 {
                    lock(&self.staying).has_answered();
                }
                let before = fetching + coherence::interception::calling_ns();
                // SAFETY: as above.
                let done =
                    unsafe { self.speculate_by(visit, plan, None, Kind::Cuda, Rule::DeviceUnlessItFails) };
                let mut took = visit.started.elapsed().as_nanos() as f64 + before as f64;
                if done.is_err() {
                    took += policy::worker_ns(&visit.history, situation);
                }
                // That is in it already.
                coherence::fetching_ns();
                if !lock(&self.staying).took(expected, took, self.passed(), visit.record.follows) {
                    coherence::bring_home();
                    lock(&self.staying).took_home(coherence::fetching_ns() as f64);
                }
                Ok(done)
            }
        }
    }

    /// Whether arrays of an entry may stay on a device, as far as its loop and its check say. Otherwise whatever there is has to be the program's before anybody
    /// looks at its memory: threads of ours can't wait for it.
    pub(super) fn may_leave_arrays(&self, info: &Info, plan: &Plan) -> bool {
        const NOT: u32 = PG_LOOP_PART | PG_LOOP_PRIVATIZED | PG_LOOP_DOUBTED | PG_LOOP_FREE_CALLS;
        let are_affine = info.sites().iter().all(|site| site.has(PG_SITE_HAS_AFFINE));
        self.config.staying
            && plan.proven
            && !plan.forced
            && !plan.snapshot
            && plan.schedule.is_none()
            && plan.basis.is_none()
            && info.inspect.is_none()
            && info.flags & NOT == 0
            && are_affine
    }

    /// The arrays that stay. Where there are none, all memory is the program's afterwards.
    ///
    /// # Safety
    /// The visit's entry is as [`Engine::enter`] asks for.
    pub(super) unsafe fn tenants(
        &self,
        visit: &Visit<'_>,
        plan: &Plan,
        placement: &Placement,
        written: Option<&[Rows]>,
        (kind, rule): (Kind, Rule),
    ) -> Stay {
        // SAFETY: promised by the caller.
        let found = unsafe { self.find_tenants(visit, plan, placement, written, kind, rule) };
        found.unwrap_or_else(|| {
            coherence::bring_home();
            Stay::default()
        })
    }

    /// See [`Engine::tenants`].
    ///
    /// # Safety
    /// As for that.
    unsafe fn find_tenants(
        &self,
        visit: &Visit<'_>,
        plan: &Plan,
        placement: &Placement,
        written: Option<&[Rows]>,
        kind: Kind,
        rule: Rule,
    ) -> Option<Stay> {
        let info = visit.info;
        let is_waited_for = rule == Rule::DeviceUnlessItFails;
        if !is_waited_for || plan.method != LogMethod::None || !self.may_leave_arrays(info, plan) {
            return None;
        }
        let rows = written?;
        // SAFETY: promised by the caller.
        let uses = unsafe { uses(visit, placement) };
        let extent = |address| self.known_allocations().and_then(|table| table.find(address));
        // SAFETY: as above.
        let named = unsafe { visit.entry.bases(info) };
        let extent = |address: u64| {
            let object = named.iter().find(|base| (base.object_lo..base.object_hi).contains(&address));
            object.map(|base| (base.object_lo, base.object_hi)).or_else(|| extent(address))
        };
        let tenants =
            coherence::lay_out(kind, &uses, info.widest(), extent, |ranges| covered_of(rows, ranges))?;
        let stored = uses.iter().filter(|one| one.stored).map(|Use { region, range, .. }| {
            let tenant = tenants.iter().find(|tenant| tenant.regions.contains(region));
            let wanted = tenant.map_or_else(|| vec![*range], |tenant| common(&tenant.outside, &[*range]));
            (*region, covered_of(rows, &wanted))
        });
        let returning: Vec<(usize, Ranges)> = stored.filter(|(_, ranges)| !ranges.is_empty()).collect();
        // Once the device has run the loop there is no way back: all that is stored here has to be such as the program may store to.
        let all: Vec<Range> = returning.iter().flat_map(|(_, ranges)| ranges.iter().copied()).collect();
        let may = writable::is_writable(&self.pool, self.config.threads, all.into_iter());
        if !may {
            return None;
        }
        // SAFETY: as above.
        let step = unsafe { coherence::step(info, visit.entry, &uses, &tenants) };
        let follows = self.config.following
            && kind == Kind::Cuda
            && info.n_results == 0
            && returning.is_empty()
            // Where it sets `errno`, a division traps, or there is no array to come to, that is seen before anything else happens.
            && !info.has(PG_LOOP_MAY_ABORT)
            && !placement.leaves_out
            && coherence::may_follow(kind, &uses, &tenants, step.as_ref());
        Some(Stay { tenants: Arc::new(tenants), returning: Some(returning), step, follows })
    }
}

/// What the loop uses of each region, and what of that the program itself would touch in any case.
///
/// # Safety
/// As for [`Engine::tenants`].
unsafe fn uses(visit: &Visit<'_>, placement: &Placement) -> Vec<Use> {
    const CERTAIN: u32 = PG_SITE_HAS_AFFINE | PG_SITE_UNCONDITIONAL | PG_SITE_EXACT;
    let info = visit.info;
    // SAFETY: promised by the caller.
    let (bases, accesses) = unsafe { (visit.entry.bases(info), visit.entry.accesses(info)) };
    let mut sure: Vec<Vec<Range>> = vec![Vec::new(); placement.regions.len()];
    for (site, access) in
        info.sites().iter().zip(accesses).filter(|(site, _)| site.flags & CERTAIN == CERTAIN)
    {
        let Some(base) = bases.get(site.base as usize).filter(|base| base.dynamic == 0) else { continue };
        let (lo, hi) = Footprint::new(base, access).total(&visit.entry.trip);
        let (Ok(lo), Ok(hi)) = (u64::try_from(lo), u64::try_from(hi)) else { continue };
        if let Some(region) = placement.region_of(lo).filter(|_| lo < hi) {
            sure[region].push((lo, hi));
        }
    }
    let uses = placement.regions.iter().enumerate().map(|(index, region)| {
        let range = (region.lo, region.lo + region.size);
        // Between two of them may lie what only some runs of the program touch.
        let pieces = merged(sure[index].iter().copied());
        let longest = pieces.into_iter().max_by_key(|(lo, hi)| hi - lo).unwrap_or((range.0, range.0));
        let sure = (longest.0.max(range.0), longest.1.min(range.1).max(longest.0.max(range.0)));
        Use { region: index, range, sure, stored: placement.written[index], loaded: placement.read[index] }
    });
    uses.collect()
}
