//! What an entry's addresses follow from, where nothing but their checks asks for it: the loop is settled by proof or by where its arrays lie. A
//! device's run that has it needs no checks once an earlier one has passed them (`speculation::inspector::seen` has the argument).
//!
//! Where memory decides, a copy of it is kept and compared at each entry. That takes the host a hundred times as long as checks of loads that are made
//! once take a GPU, so it is only done where the loop uses again and again what it has loaded there, whoever asks for the GPU. Where only numbers decide
//! (trip counts, clamped subscripts), it costs nothing.

use super::{Engine, Visit, lock};
use crate::abi::PG_LOOP_SLICE_DECIDES;
use crate::memory::placement::Placement;
use crate::policy;
use crate::speculation::inspector::seen::Basis;
use crate::speculation::inspector::{self, Finding, Memo};
use std::time::Instant;

impl Engine {
    /// What the addresses of an entry follow from that isn't logged: what is remembered, or is from now on. `None`: it isn't known, or isn't worth
    /// remembering.
    ///
    /// # Safety
    /// The visit's entry is as [`Engine::enter`] asks for.
    pub(super) unsafe fn addresses(&self, visit: &mut Visit<'_>, placement: &Placement) -> Option<Basis> {
        let info = visit.info;
        if !info.has(PG_LOOP_SLICE_DECIDES) {
            return None;
        }
        let fed = placement.fed(info)?;
        let bytes = fed.iter().map(|(lo, hi)| hi - lo).sum();
        if !policy::deserves_comparison(&visit.history, visit.iterations, bytes) {
            return None;
        }
        let started = Instant::now();
        let helpers = (&self.pool, self.config.threads);
        let mut findings = lock(&self.findings);
        let key = visit.the_loop.key();
        // An inspection that has met a chain has not seen all.
        let has_all = |memo: &Memo| !matches!(memo.finding, Finding::Chain);
        // SAFETY: promised by the caller, here and below.
        let holds = |memo: &Memo| unsafe { memo.still_holds(info, visit.entry, helpers) };
        if findings.any(key, |memo| has_all(memo) && holds(memo)) {
            visit.history.finding_held();
        } else if !visit.history.wants_lesson() {
            return None;
        } else {
            // SAFETY: as above.
            findings.keep(key, unsafe { inspector::addresses(info, visit.entry, fed, helpers) }.ok()?);
        }
        visit.record.inspect_ns += started.elapsed().as_nanos() as u64;
        findings.latest(key).map(|memo| memo.basis(started))
    }
}
