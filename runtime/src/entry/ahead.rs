//! What an entry asks for before its loop can run on a GPU: that the driver is opened, and that the kernels are compiled which the loop will want there
//! (`speculation::cmt::ahead`). Both go on beside the program, at the same time, for all of its loops.

use super::{Engine, MAX_ITERATIONS, Plan, Visit};
use crate::abi::{PG_LOOP_PRIVATIZED, PG_LOOP_SHOWS_ALL, PG_SITE_INSPECTED, PG_SITE_STORE};
use crate::config::{DeviceChoice, InspectionChoice};
use crate::device::LogMethod;
use crate::history::Way;
use crate::leaving;
use crate::memory::safe_copy;
use crate::objects::Code;
use crate::policy::{self, Situation};
use crate::speculation::cmt::ahead::{Form, Wanted};
use crate::speculation::cmt::{CudaState, Kind};
use crate::speculation::protocol;
use std::sync::Arc;
use std::time::Instant;

impl Engine {
    /// Opens the driver, if this entry makes that worth it.
    pub(super) fn open_if_due(&self, visit: &Visit<'_>, plan: &Plan, situation: Situation) {
        let is_due = || {
            self.opening.is_due(
                &visit.history,
                &self.hopeful(visit, plan, situation),
                self.openings_in_vain(),
                self.passed(),
            )
        };
        if situation.open[Way::Cuda as usize]
            && self.cmt.cuda_state() == CudaState::Unknown
            && (self.config.device == DeviceChoice::Cuda || is_due())
        {
            self.opens();
            self.cmt.open_cuda();
        }
    }

    /// How the entry is checked, as far as kernels differ by it.
    pub(super) fn form(visit: &Visit<'_>, plan: &Plan) -> Form {
        Form { loop_key: visit.the_loop.key(), is_proven: plan.proven, has_levels: plan.schedule.is_some() }
    }

    /// Has the kernels compiled that an entry like this one is expected to run by, where it is expected to run on a GPU: the one that it would ask for, and
    /// the one that it may ask for once it was inspected. `situation`: with the GPU among the ways that are open, whether it is ready or not.
    ///
    /// # Safety
    /// The visit's entry is as [`Engine::enter`] asks for.
    pub(super) unsafe fn want_kernels(&self, visit: &mut Visit<'_>, plan: &Plan, situation: &Situation) {
        let info = visit.info;
        if !self.config.ahead
            || self.cmt.cuda_state() == CudaState::Absent
            || visit.iterations > MAX_ITERATIONS
            || info.has(PG_LOOP_PRIVATIZED)
            || plan.rest.unplaced.is_some() && !plan.proven
            || !safe_copy::permitted()
        {
            return;
        }
        let history = visit.history;
        let pays = |logged: bool| policy::deserves_kernels(&history, &Situation { logged, ..*situation });
        let is_inspected = !plan.proven
            && !plan.forced
            && self.config.inspections != InspectionChoice::Off
            && info.inspect.is_some();
        if pays(plan.logged()) {
            // SAFETY: promised by the caller, here and below.
            unsafe { self.want_kernel(visit, plan, situation, false) };
        }
        if is_inspected && pays(false) {
            // SAFETY: as above.
            unsafe { self.want_kernel(visit, plan, situation, true) };
        }
    }

    /// The same, for one of them. `is_foreseen`: for iterations that an inspection will have found independent.
    ///
    /// # Safety
    /// As for [`Engine::want_kernels`].
    unsafe fn want_kernel(
        &self,
        visit: &mut Visit<'_>,
        plan: &Plan,
        situation: &Situation,
        is_foreseen: bool,
    ) {
        let form = Form { is_proven: plan.proven || is_foreseen, ..Engine::form(visit, plan) };
        if !self.cmt.ahead.wants(form) {
            return;
        }
        let (info, mut plan) = (visit.info, plan.clone());
        if is_foreseen {
            (plan.proven, plan.method) = (true, LogMethod::None);
            // It finds what the stores that it is shown store.
            let finds_all = info.sites().iter().all(|s| !s.has(PG_SITE_STORE) || s.has(PG_SITE_INSPECTED));
            plan.stored = finds_all.then(Arc::default);
        }
        // SAFETY: promised by the caller, here and below.
        let Ok(placed) = (unsafe { self.place(visit, &mut plan) }) else { return };
        // SAFETY: as above.
        let Ok(best_method) = (unsafe { self.logs(visit, &mut plan, placed.placement(), Kind::Cuda) }) else {
            return;
        };
        // SAFETY: as above.
        let bases: Vec<u64> = unsafe { visit.entry.bases(info) }.iter().map(|base| base.pointer).collect();
        let seen = plan.basis.as_ref().is_some_and(|basis| basis.has_seen(placed.placement(), &bases));
        let unchecked = seen || is_foreseen && info.has(PG_LOOP_SHOWS_ALL);
        let (_, seat) = protocol::sides();
        // Nobody is given what addresses follow from.
        plan.basis = None;
        // SAFETY: as above.
        let job = unsafe { self.job(visit, plan, placed, best_method, (Kind::Cuda, Code::ForGood), seat) };
        leaving::arrange_first();
        let not_before = Instant::now() + policy::until_kernels_are_due(self.passed());
        let worth = policy::worker_ns(&visit.history, situation);
        self.cmt.ahead.want(Wanted { form, job, unchecked, is_foreseen, worth, not_before });
    }
}
