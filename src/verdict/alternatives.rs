//! What becomes of a loop that is bad as it stands: another order of its nest, several loops one after the other, or copies of its arrays.
//! Each alternative is judged like any loop, by numbers at entry at the latest.

use super::attempt::{dimensions, distances};
use super::pins::mark_pins;
use super::{Judged, judge, never_holds};
use crate::analysis::distribution;
use crate::c::hir::*;
use crate::loops::access::{Accesses, describe};
use crate::loops::carried::Prelude;
use crate::loops::counted::{Counted, counted};
use crate::loops::interchange;
use crate::loops::options::AnalysisOptions;
use crate::loops::plan::*;
use crate::loops::privatization;
use crate::loops::reason::{Advice, Kind, Reason};
use crate::loops::scalars;
use std::collections::{BTreeMap, BTreeSet};

/// The best of the nest's other orders that numbers at entry prove at the latest; see `loops::interchange`.
pub(super) fn interchanged(
    unit: &TranslationUnit,
    options: &AnalysisOptions,
    function: usize,
    l: &LoopStmt,
) -> Option<Judged> {
    let options = AnalysisOptions { explains: false, ..options.clone() };
    let judged = interchange::orders(unit, l).into_iter().filter_map(|order| {
        let (verdict, check, reason, mut plan) = judge(unit, &options, function, &order.nest).ok()?;
        let is_provable = check.cost() <= Check::Predicate.cost() && !never_holds(&plan);
        if !is_provable || !interchange::keeps_results(&plan) {
            return None;
        }
        let kind = match reason.kind {
            Kind::Independent => Kind::Interchanged,
            other => other,
        };
        let text = format!("with the loop in line {} outermost: {}", order.needs.line, reason.text);
        // What a pragma says is said of the loop as it stands.
        let advice = reason.advice.into_iter();
        let advice = advice.filter(|a| !matches!(a, Advice::AssertIndependent | Advice::AssertUnchecked));
        let reason = Reason { kind, text, advice: advice.collect(), accesses: reason.accesses };
        plan.sites.iter_mut().for_each(|site| site.may_use_snapshot = false);
        plan.held = Some(Box::new(order.nest));
        plan.interchange = Some(order.needs);
        Some((verdict, check, reason, plan))
    });
    judged.min_by_key(|(_, check, ..)| check.cost())
}

/// The loop as several loops one after the other, each of which is proven by numbers at entry at the latest; see
/// `analysis::distribution`.
pub(super) fn distributed(
    unit: &TranslationUnit,
    options: &AnalysisOptions,
    function: usize,
    l: &LoopStmt,
) -> Option<Judged> {
    let options = &AnalysisOptions { explains: false, ..options.clone() };
    let statements = distribution::take_apart(unit, l)?;
    let heads = [counted(unit, l).ok().filter(Counted::may_merge)?];
    let mut accesses =
        Accesses::collect(unit, options, &heads, l, &Prelude::default(), &l.body, true).ok()?;
    // What such a variable is set to moves from iteration to iteration, and so would the addresses at entry.
    if !accesses.secondary.is_empty() {
        return None;
    }
    let changing = mark_pins(unit, options, &mut accesses);
    if !changing.unplaced.is_empty() {
        return None;
    }
    let (dims, steps) = distances(unit, &heads, &l.body, &accesses);
    let found = distribution::find(unit, &accesses, &dims, &steps, statements)?;
    let mut parts: Vec<(BTreeSet<usize>, Judged)> = Vec::new();
    let as_it_stands = |statements: &BTreeSet<usize>| {
        let part = found.part(statements);
        let mut judged = judge(unit, options, function, &part).ok().filter(is_proven_part)?;
        judged.3.held.get_or_insert_with(|| Box::new(part));
        Some(judged)
    };
    'groups: for group in &found.groups {
        // Into an earlier part, if it needn't wait for those in between and that part stays parallel.
        for number in (0..parts.len()).rev() {
            let (own, judged) = &parts[number];
            if judged.3.interchange.is_none() {
                let both: BTreeSet<usize> = own.union(group).copied().collect();
                if let Some(better) = as_it_stands(&both) {
                    parts[number] = (both, better);
                    continue 'groups;
                }
            }
            if found.comes_before(own, group) {
                break;
            }
        }
        let other_order = || interchanged(unit, options, function, &found.part(group)).filter(is_proven_part);
        parts.push((group.clone(), as_it_stands(group).or_else(other_order)?));
    }
    // What goes wrong in one of them would have done so before the other one began.
    let may_fail = |plan: &LoopPlan| plan.may_abort || !plan.cuda_exact;
    let is_known = |pin: &Pinned| accesses.pinned.iter().any(|own| scalars::same(&own.address, &pin.address));
    let fits = parts.len() > 1
        && parts.iter().filter(|(_, judged)| may_fail(&judged.3)).count() <= 1
        && parts.iter().flat_map(|(_, judged)| &judged.3.pinned).all(is_known);
    if !fits {
        return None;
    }
    let (groups, parts): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
    let pairs = found.conditions(&groups);
    let is_certain = pairs.is_empty() && changing.first.is_none() && accesses.assumptions.is_empty();
    let (verdict, check) = match is_certain && parts.iter().all(|part| part.1 == Check::None) {
        true => (Verdict::Parallel, Check::None),
        false => (Verdict::PossiblyParallel, Check::Predicate),
    };
    let words: Vec<&str> = parts.iter().map(|part| &part.2.text[..]).collect();
    let text = format!("split into {} loops, one after the other: {}", parts.len(), words.join("; then: "));
    let reason = Reason::new(Kind::Distributed, text);
    let Counted { iv, iv_local, .. } = heads[0];
    let is_set_before = |v: &VarId| !parts.iter().any(|part| part.3.scalars.contains_key(v));
    let plan = LoopPlan {
        loop_id: l.id,
        function,
        dims: dimensions(&heads, &accesses),
        starts: Vec::new(),
        moved_by_test: None,
        scalars: BTreeMap::from([(iv, ScalarRole::Induction { dim: 0, live_out: !iv_local })]),
        live_ins: accesses.live_ins.iter().copied().filter(is_set_before).collect(),
        invariants: accesses.invariants,
        early: accesses.early,
        invariant_places: accesses.invariant_places,
        prelude: Prelude::default(),
        private: accesses.private,
        bases: accesses.bases,
        sites: accesses.sites,
        site_of: accesses.site_of,
        pairs,
        updates: BTreeMap::new(),
        inspection: None,
        deciding: None,
        search: None,
        pinned: accesses.pinned,
        kept: Vec::new(),
        held: None,
        interchange: None,
        parts: Vec::new(),
        keeps_pointers: false,
        privatization: Privatization::default(),
        assumptions: accesses.assumptions,
        asserted: false,
        may_abort: false,
        may_trap: false,
        cuda_exact: true,
        free_calls: false,
        work: accesses.work.max(1),
        touches: accesses.touches,
        has_long_loops: accesses.has_long_loops,
    };
    let part = |(verdict, check, _, plan): Judged| Part { verdict, check, plan: *plan };
    let plan = LoopPlan { parts: parts.into_iter().map(part).collect(), ..plan };
    Some((verdict, check, reason, Box::new(plan)))
}

/// Whether a part of a distributed loop can be proven by numbers at entry at the latest, and gives back nothing but memory.
fn is_proven_part(judged: &Judged) -> bool {
    let (_, check, _, plan) = judged;
    let is_own = |role: &ScalarRole| {
        matches!(role, ScalarRole::Induction { .. } | ScalarRole::Private { last_value: false })
    };
    check.cost() <= Check::Predicate.cost()
        && !never_holds(plan)
        && plan.scalars.values().all(is_own)
        && plan.prelude.statements.is_empty()
        && plan.prelude.variables.is_empty()
        && plan.starts.is_empty()
        && plan.moved_by_test.is_none()
        && plan.updates.is_empty()
        && plan.inspection.is_none()
        && plan.kept.is_empty()
}

/// The loop with copies of its arrays for each thread, where numbers at entry prove that at the latest; see
/// `loops::privatization`. `judged`: what it is without them.
pub(super) fn privatized(
    unit: &TranslationUnit,
    options: &AnalysisOptions,
    function: usize,
    l: &LoopStmt,
    judged: &Result<Judged, Reason>,
) -> Option<Judged> {
    let may_help = match judged {
        Ok(_) => true,
        // The loop with variables for its places has an obstacle of its own.
        Err(why) => matches!(
            why.kind,
            Kind::CarriedDependence
                | Kind::CarriedScalar
                | Kind::FloatingPointOrder
                | Kind::ConditionalLastValue
        ),
    };
    if !may_help || unit.wish(l).is_some() {
        return None;
    }
    let options = AnalysisOptions { explains: false, privatizes: true, ..options.clone() };
    let (mut verdict, mut check, mut reason, plan) = judge(unit, &options, function, l).ok()?;
    let is_provable = check.cost() <= Check::Predicate.cost() && !never_holds(&plan);
    if !is_provable || !privatization::keeps_results(&plan) {
        return None;
    }
    if check == Check::None && !plan.privatization.separate.is_empty() {
        (verdict, check) = (Verdict::PossiblyParallel, Check::Predicate);
    }
    if matches!(reason.kind, Kind::Independent | Kind::WrapAround) {
        let names: BTreeSet<String> =
            plan.privatization.bases.iter().map(|base| base_name(unit, &plan, *base)).collect();
        let names = names.into_iter().collect::<Vec<_>>().join(" and ");
        let text = format!(
            "iterations are independent once each thread has a copy of {names}, which they write before they read it"
        );
        reason = Reason::new(Kind::Privatized, text);
    }
    reason.advice.retain(|a| !matches!(a, Advice::AssertIndependent | Advice::AssertUnchecked));
    Some((verdict, check, reason, plan))
}

/// What a base is called.
fn base_name(unit: &TranslationUnit, plan: &LoopPlan, base: BaseId) -> String {
    match &plan.bases[base.0 as usize] {
        Base::Object { var, .. } | Base::Pointer { var } => unit.var(*var).name.clone(),
        Base::Invariant { value } => match &plan.invariants[*value].kind {
            ExprKind::Load(place) => describe(unit, place),
            _ => "an array".into(),
        },
        Base::Dynamic => "an array".into(),
    }
}
