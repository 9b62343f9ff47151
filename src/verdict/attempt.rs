//! One attempt at a loop, with so many merged dimensions: from its accesses and scalars to a plan and the check that it needs, or to the
//! reason why there is none. Which attempts are made, and which of them is taken, is decided in the module above.

use super::Judged;
use super::leaving;
use super::pins::{Changing, access_note, keep, mark_pins};
use crate::analysis::dependence::Range;
use crate::analysis::pairs::{self, Pairs, Steps};
use crate::analysis::slice;
use crate::c::hir::*;
use crate::c::pragma::Wish;
use crate::loops::access::{Accesses, contraction, contraction_behind};
use crate::loops::alias;
use crate::loops::carried::{self, Prelude};
use crate::loops::counted::{Counted, counted};
use crate::loops::nest;
use crate::loops::options::AnalysisOptions;
use crate::loops::plan::*;
use crate::loops::privatization;
use crate::loops::reason::{Advice, Kind, Reason};
use crate::loops::reductions;
use crate::loops::scalars;
use crate::loops::updates;
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn attempt(
    unit: &TranslationUnit,
    options: &AnalysisOptions,
    function: usize,
    l: &LoopStmt,
    heads: &[Counted],
    body: &Stmt,
    wish: Option<Wish>,
) -> Result<Judged, Reason> {
    let as_asked = |prelude: &Prelude, reads_early, has_early: &mut bool| {
        attempt_with(unit, options, function, l, heads, body, prelude.clone(), wish, reads_early, has_early)
    };
    // What is read early may be what the loop stores to. Where it doesn't help, it stays where it is; and where nobody checks that it isn't stored to.
    let with = |prelude: Prelude| {
        let mut has_early = false;
        if wish == Some(Wish::Unchecked) {
            return as_asked(&prelude, false, &mut has_early);
        }
        let judged = as_asked(&prelude, true, &mut has_early);
        let is_settled = match &judged {
            Ok(judged) => judged.1.cost() <= Check::Predicate.cost(),
            // What meets for certain meets wherever its address is read.
            Err(reason) => reason.kind == Kind::CarriedDependence,
        };
        if !has_early || is_settled {
            return judged;
        }
        let in_place = as_asked(&prelude, false, &mut has_early);
        match (&judged, &in_place) {
            (Ok(early), Ok(other)) if early.1.cost() < other.1.cost() => judged,
            // A table whose address is known is one table less to be read, wherever its rows are accessed.
            (Ok(early), Ok(other)) if early.1.cost() == other.1.cost() && has_rows(early) => judged,
            (Ok(_), Err(_)) => judged,
            _ => in_place,
        }
    };
    let mut prelude = match heads {
        [head] => carried::find(unit, head, l, body),
        _ => Prelude::default(),
    };
    // The compiler may compute alike expressions in different ways where it is free to: what is computed anew could be
    // something else than what the iteration before has left.
    let computes = |s: &Stmt| {
        let mut found = false;
        nest::all_expressions(s, &mut |e| {
            found |= matches!(e.kind, ExprKind::Binary(..) | ExprKind::Call { .. })
                && unit.types.as_float(e.ty.ty).is_some();
        });
        found
    };
    if (options.reassociate || options.contraction) && prelude.statements.iter().any(computes) {
        prelude = Prelude::default();
    }
    // What computing a scalar anew meets is no reason that helps; that the scalar is carried is one.
    match prelude.variables.is_empty() {
        true => with(prelude),
        false => with(prelude).or_else(|_| with(Prelude::default())),
    }
}

fn has_rows(judged: &Judged) -> bool {
    judged.3.sites.iter().any(|site| site.row.is_some())
}

#[expect(clippy::too_many_arguments)]
fn attempt_with(
    unit: &TranslationUnit,
    options: &AnalysisOptions,
    function: usize,
    l: &LoopStmt,
    heads: &[Counted],
    body: &Stmt,
    prelude: Prelude,
    wish: Option<Wish>,
    reads_early: bool,
    has_early: &mut bool,
) -> Result<Judged, Reason> {
    let owner = &unit.functions[function];
    let inductions: Vec<(VarId, bool)> = heads.iter().map(|h| (h.iv, h.iv_local)).collect();
    if inductions.iter().map(|(v, _)| v).collect::<BTreeSet<_>>().len() != heads.len() {
        return Err("two of its loops share an induction variable".into());
    }
    let mut accesses = Accesses::collect(unit, options, heads, l, &prelude, body, reads_early)?;
    *has_early = !accesses.early.is_empty();
    let given = scalars::Given {
        inductions: &inductions,
        secondary: &accesses.secondary,
        carried: &prelude.variables,
        reassociate: options.reassociate,
    };
    let roles = scalars::roles(unit, owner, l, body, &given)?;
    let is_extreme = |role: &ScalarRole| {
        let extremes = [ReductionOp::Min, ReductionOp::Max];
        match role {
            ScalarRole::Reduction { op, .. } => extremes.contains(op),
            role => matches!(role, ScalarRole::Extreme { .. }),
        }
    };
    let guards =
        |(v, role): (&VarId, &ScalarRole)| is_extreme(role) && reductions::guards_loads(unit, body, *v);
    if roles.iter().any(guards) {
        (accesses.may_abort, accesses.may_trap) = (true, true);
    }
    let stays_open = |v: &VarId| !matches!(roles.get(v), Some(ScalarRole::Accumulation { .. }));
    if let Some((_, line)) = accesses.fusable.iter().find(|(v, _)| stays_open(v)) {
        return Err(contraction(*line));
    }
    let is_last = |role: &ScalarRole| matches!(role, ScalarRole::Private { last_value: true });
    if let Some((v, _)) = roles.iter().find(|(v, role)| is_last(role) && accesses.holds_product(**v)) {
        return Err(contraction_behind(&unit.var(*v).name));
    }
    let gives_something =
        accesses.sites.iter().any(|s| s.is_store) || roles.values().any(ScalarRole::is_result);
    if !gives_something && !accesses.has_ways_out {
        return Err(Reason::new(Kind::NothingKept, "it computes nothing that is kept"));
    }
    // Two places that are one variable: an inner dimension's bounds may not depend on what the nest assigns; that was
    // checked when its head was noted. A reduction variable may not be read by an address.
    let (dims, steps) = distances(unit, heads, body, &accesses);
    for head in &heads[1..] {
        if pairs::ignores_dimension(&accesses, head.id) {
            return Err("a merged dimension would store to one place".into());
        }
    }
    accesses.updates = updates::find(unit, body);
    accesses.updates.retain(|place, _| accesses.site_of.contains_key(place));
    let privatization = match options.privatizes {
        true => privatization::find(unit, &mut accesses, body)?,
        false => Privatization::default(),
    };
    let pairs = match pairs::resolve(unit, &mut accesses, &dims, &steps, wish.is_some()) {
        Pairs::Dependent(a, b) => {
            let text = |s: usize| (&accesses.forms[s].text, accesses.sites[s].span.line);
            let ((ta, la), (tb, lb)) = (text(a), text(b));
            let role = if accesses.sites[b].is_store { "the store" } else { "the load" };
            let text = format!(
                "the store to {ta} in line {la} and {role} of {tb} in line {lb} meet in different iterations"
            );
            let notes = [access_note(&accesses, a), access_note(&accesses, b)];
            return Err(Reason::new(Kind::CarriedDependence, text).about(notes));
        }
        // They are what the programmer vouches for.
        Pairs::Unresolved(_) if wish == Some(Wish::Unchecked) => {
            accesses.sites.iter_mut().for_each(|site| (site.logged, site.covered) = (false, false));
            Vec::new()
        }
        Pairs::Unresolved(pairs) => pairs,
    };
    if accesses.sites.len() > 4096 || accesses.invariants.len() > 256 {
        return Err(Reason::new(Kind::TooLarge, "it is too large"));
    }
    let cells: Vec<&Cell> = unit.cells(l.id).iter().filter(|cell| roles.contains_key(&cell.var)).collect();
    let (kept, meeting) = keep(unit, options, &mut accesses, &cells, &dims, &steps)?;
    // Every iteration is tested against the bounds, so independent iterations leave them alone. After the places that are kept:
    // their addresses may have been read from memory, too.
    let changing = match wish {
        Some(Wish::Unchecked) => Changing::default(),
        _ => mark_pins(unit, options, &mut accesses),
    };
    let base = |site: SiteId| accesses.sites[site.0 as usize].base;
    let unresolved = |check| {
        // Arrays that are different things are told apart at run time; that leaves what is done to one of them.
        let of_check = pairs.iter().filter(|pair| pair.check == check && !pair.is_anti);
        let pair = of_check.min_by_key(|pair| base(pair.a) != base(pair.b))?;
        Some(unresolved_reason(&accesses, pair))
    };
    let predicate = (Verdict::PossiblyParallel, Check::Predicate);
    // What is computed in parts needs the iterations of a part together. A slice is a function of its own, in which the compiler
    // may compute otherwise than in the body where it is free to.
    let in_parts = roles.values().any(ScalarRole::is_in_parts);
    let has_slice = !changing.unplaced.is_empty() || pairs.iter().any(|pair| pair.check == Check::Logs);
    let given = slice::Given {
        pairs: &pairs,
        watched: &changing.unplaced,
        sites: &accesses.sites,
        site_of: &accesses.site_of,
        invariant_places: &accesses.invariant_places,
        private: &accesses.private,
    };
    let mut slice = has_slice.then(|| slice::find(unit, body, &given));
    let whole = slice::deciding(unit, body, &given);
    if let Some(slice) = &mut slice {
        slice.decides_all = slice::decides_all(whole.as_ref(), slice);
        if let (true, Some(whole)) = (slice.decides_all, &whole) {
            slice::show_all(unit, body, &given, whole, slice);
        }
    }
    let asked =
        leaving::Asked { unit, options, accesses: &accesses, roles: &roles, dims: &dims, steps: &steps };
    let search = leaving::search(&asked, body, &given)?;
    // What iterations combine has another value wherever a part of them begins: an inspection has none of them, a device's threads each their own.
    let is_combined = |v: &VarId| {
        roles.get(v).is_some_and(|role| role.is_result() && !matches!(role, ScalarRole::Private { .. }))
    };
    let can_follow = |slice: &&Inspection| {
        let is_free = slice.computes_floats && (options.reassociate || options.contraction);
        prelude.variables.is_empty()
            && !is_free
            && !slice.is_refused
            && !slice.variables.iter().any(is_combined)
    };
    // An inspection executes a part of the body only.
    let inspects = slice.as_ref().filter(can_follow).is_some() && !in_parts;
    let (changing, unplaced) = (changing.first, changing.unplaced);
    let ((verdict, check), reason) = if let Some(reason) = changing.clone().filter(|_| !unplaced.is_empty()) {
        // Nothing but an inspection sees whether such stores leave the bounds alone.
        if !inspects {
            return Err(reason);
        }
        ((Verdict::PossiblyParallel, Check::Inspector), reason)
    } else if let Some(reason) = unresolved(Check::Logs) {
        let check = if inspects { Check::Inspector } else { Check::Logs };
        ((Verdict::PossiblyParallel, check), reason)
    } else if let Some(reason) = unresolved(Check::Predicate) {
        (predicate, reason)
    } else if let Some(mut reason) = changing {
        if meeting.is_some() || !accesses.assumptions.is_empty() {
            // There is more to look at, at entry.
            reason.advice.clear();
        }
        (predicate, reason)
    } else if let Some(reason) = meeting {
        (predicate, reason)
    } else if !accesses.assumptions.is_empty() {
        let reason = Reason::new(Kind::WrapAround, "index arithmetic must not wrap around");
        let signed = !options.wrapping && accesses.assumptions.iter().all(|a| !a.kind.signed());
        (predicate, reason.settled_by(signed.then_some(Advice::SignedIndex)))
    } else {
        let reason = match wish {
            Some(Wish::Unchecked) => {
                Reason::new(Kind::Asserted, "`#pragma paragon independent unchecked` stands in front of it")
            }
            _ if !pairs.is_empty() => {
                let pair = &pairs[0];
                let load = access_note(&accesses, pair.b.0 as usize);
                let text = format!(
                    "iterations are independent once {} in line {} is loaded as it was before the loop",
                    load.text, load.span.line
                );
                let notes = [access_note(&accesses, pair.a.0 as usize), load];
                Reason::new(Kind::Snapshot, text).about(notes)
            }
            _ if !accesses.updates.is_empty() => Reason::new(
                Kind::Independent,
                "where iterations meet, they update memory in ways that commute",
            ),
            _ => Reason::new(Kind::Independent, "no two iterations touch the same memory"),
        };
        ((Verdict::Parallel, Check::None), reason)
    };
    if accesses.free_calls && (in_parts || check == Check::Logs) {
        let why = match in_parts {
            true => {
                "it accumulates what functions of libm give, whose bits are free, and the sum is to be the same everywhere"
            }
            false => "the bits of its calls of libm are free, and only loops that are proven may show others",
        };
        return Err(Reason::new(Kind::UnknownCall, why));
    }
    let (mut verdict, mut check, mut reason, mut pairs) = (verdict, check, reason, pairs.clone());
    if search.is_some() {
        let line = leaving::line_of(body);
        if check == Check::None {
            (verdict, check) = (Verdict::PossiblyParallel, Check::Predicate);
            reason.kind = Kind::Searched;
        }
        let text = &reason.text;
        reason.text =
            format!("it may be left early in line {line}: how far it comes is found out first; then {text}");
    }
    let search = search.map(|(slice, apart)| {
        pairs.extend(apart);
        slice
    });
    let keeps_pointers = keeps_pointers(unit, options, &accesses);
    let deciding = whole.filter(|whole| check != Check::Inspector && can_follow(&whole));
    let scalars: BTreeMap<VarId, ScalarRole> = roles;
    let live_ins: Vec<VarId> =
        accesses.live_ins.iter().copied().filter(|v| !scalars.contains_key(v)).collect();
    let inspection = slice.filter(|_| check == Check::Inspector);
    let plan = LoopPlan {
        loop_id: l.id,
        function,
        dims: dimensions(heads, &accesses),
        starts: heads.iter().flat_map(|h| h.starts.iter().cloned()).collect(),
        moved_by_test: accesses.moved_by_test,
        scalars,
        live_ins,
        invariants: accesses.invariants,
        early: accesses.early,
        invariant_places: accesses.invariant_places,
        prelude,
        private: accesses.private,
        bases: accesses.bases,
        sites: accesses.sites,
        site_of: accesses.site_of,
        pairs,
        updates: accesses.updates,
        inspection,
        deciding,
        search,
        pinned: accesses.pinned,
        held: (!kept.is_empty()).then(|| Box::new(l.clone())),
        kept,
        interchange: None,
        parts: Vec::new(),
        keeps_pointers,
        privatization,
        assumptions: accesses.assumptions,
        asserted: unit.wish(l).is_some(),
        may_abort: accesses.may_abort,
        may_trap: accesses.may_trap,
        // What is only searched has nothing to do on a device.
        cuda_exact: !accesses.calls_libm && gives_something,
        free_calls: accesses.free_calls,
        work: accesses.work.max(1),
        touches: accesses.touches,
        has_long_loops: accesses.has_long_loops,
    };
    Ok((verdict, check, reason, Box::new(plan)))
}

/// The merged dimensions of a nest as ranges, and the steps of all loops in it.
pub(super) fn distances(
    unit: &TranslationUnit,
    heads: &[Counted],
    body: &Stmt,
    accesses: &Accesses,
) -> (Vec<Range>, Steps) {
    let mut steps: Steps = accesses.distances.clone();
    nest::statements(body, &mut |s| {
        if let StmtKind::Loop(inner) = &s.kind
            && let Ok(head) = counted(unit, inner)
        {
            steps.insert(head.id, head.step);
        }
    });
    let range = |h: &Counted| Range {
        id: h.id,
        range: accesses.dimension_range(h.id),
        step: accesses.distances[&h.id],
    };
    (heads.iter().map(range).collect(), steps)
}

/// The same for the plan.
pub(super) fn dimensions(heads: &[Counted], accesses: &Accesses) -> Vec<Dim> {
    let dim = |h: &Counted| Dim {
        loop_id: h.id,
        iv: h.iv,
        is_counter: h.control.is_some(),
        iv_local: h.iv_local,
        iv_kind: Some(h.kind),
        first: h.first.clone(),
        step: h.step,
        distance: accesses.distances[&h.id],
        limit: h.limit.clone(),
        relation: h.relation,
    };
    heads.iter().map(dim).collect()
}

/// See [`LoopPlan::keeps_pointers`]. The text of a loop knows pointers by their width, so nothing else that it loads may have that.
fn keeps_pointers(unit: &TranslationUnit, options: &AnalysisOptions, accesses: &Accesses) -> bool {
    let places = || accesses.sites.iter().zip(accesses.forms.iter().map(|form| &form.place));
    let is_wide = |place: &Place| {
        matches!(unit.types.kind(place.ty.ty),
            TypeKind::Int(kind) | TypeKind::Enum(kind) if kind.size() == 8 && !kind.signed())
    };
    let mut loaded = places().filter(|(site, _)| !site.is_store);
    let pointers = || places().filter(|(site, _)| site.loads_pointer).map(|(_, place)| place);
    let leaves_alone = |stored: &Place| {
        pointers().all(|pointer| !alias::may_change(unit, options.strict_aliasing, stored, pointer))
    };
    accesses.sites.iter().any(|site| site.row.is_some())
        && !loaded.any(|(_, place)| is_wide(place))
        && places().filter(|(site, _)| site.is_store).all(|(_, stored)| leaves_alone(stored))
}

pub(super) fn unresolved_reason(accesses: &Accesses, pair: &Pair) -> Reason {
    let (a, b) = (access_note(accesses, pair.a.0 as usize), access_note(accesses, pair.b.0 as usize));
    let text = if pair.a == pair.b {
        format!("the store to {} in line {} may hit one element in several iterations", a.text, a.span.line)
    } else {
        format!(
            "{} in line {} and {} in line {} may be the same memory in different iterations",
            a.text, a.span.line, b.text, b.span.line
        )
    };
    Reason::new(Kind::UnresolvedPair, text).about([a, b])
}
