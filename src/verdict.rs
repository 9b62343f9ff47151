//! From facts to a verdict with its reason: one report for every loop of a translation unit.
//!
//! A loop is tried with as many merged dimensions as its nest allows, then with fewer; the cheapest check wins, and among equal
//! ones the most dimensions. When anything is not understood the loop is sequential, with the reason.

use crate::analysis::dependence::{self, Range};
use crate::analysis::distribution;
use crate::analysis::pairs::{self, Pairs, Steps};
use crate::analysis::slice;
use crate::c::hir::*;
use crate::c::pragma::Wish;
use crate::loops::access::{
    Accesses, contraction, contraction_around, contraction_behind, describe, sum_anywhere,
};
use crate::loops::alias;
use crate::loops::carried::{self, Prelude};
use crate::loops::cells;
use crate::loops::counted::{Counted, counted};
use crate::loops::interchange;
use crate::loops::linear;
use crate::loops::nest;
use crate::loops::options::AnalysisOptions;
use crate::loops::plan::*;
use crate::loops::privatization;
use crate::loops::reason::{AccessNote, Advice, Kind, Reason};
use crate::loops::reductions;
use crate::loops::scalars;
use crate::loops::updates;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// A report for each loop of the unit, by line.
pub fn classify(unit: &TranslationUnit, options: &AnalysisOptions) -> Vec<LoopReport> {
    let mut reports = Vec::new();
    // Under the licence accumulations have no bits of their own anyway.
    let fused = if options.contraction && !options.reassociate { sum_anywhere(unit) } else { None };
    for (number, function) in unit.functions.iter().enumerate() {
        // Loops inside one that is parallel without a condition need no plan of their own.
        let mut settled: BTreeSet<LoopId> = BTreeSet::new();
        let mut planned: BTreeSet<LoopId> = BTreeSet::new();
        for found in nest::loops(function) {
            let l = found.the_loop;
            let started = Instant::now();
            let judged = match &function.fixed {
                _ if unit.wish(l) == Some(Wish::Forbid) => {
                    let text = "`#pragma paragon forbid` stands in front of it";
                    Err(Reason::new(Kind::Forbidden, text))
                }
                Some(reason) => Err(Reason::new(Kind::FunctionFixed, format!("the function has {reason}"))),
                None => dependence::about_one_loop(|| {
                    let held = cells::held(unit, l);
                    let judged = match &held {
                        None => judge(unit, options, number, l),
                        // Where its places can't be kept in variables, the loop is tried as it stands.
                        Some(held) => judge(unit, options, number, held)
                            .or_else(|why| judge(unit, options, number, l).map_err(|_| why)),
                    };
                    if !may_gain(&judged) {
                        return judged;
                    }
                    interchanged(unit, options, number, held.as_ref().unwrap_or(l))
                        .or_else(|| distributed(unit, options, number, l))
                        .or_else(|| privatized(unit, options, number, l, &judged))
                        .map_or(judged, Ok)
                }),
            };
            let judged = match fused {
                Some(line) => judged.and(Err(contraction_around(line))),
                None => judged,
            };
            let mut report = sequential(unit, l.keyword_span, &unit.var(function.var).name);
            report.id = Some(l.id);
            report.took = started.elapsed();
            // Whether the loop around it runs elsewhere or as it stood must not show in a sum.
            let keeps_order = found.outer.iter().any(|o| planned.contains(o));
            match judged {
                Ok((.., plan)) if plan.is_ordered() && keeps_order => {
                    let text = "the loop around it is what runs elsewhere, and sums in it keep their order";
                    report.reason = Reason::new(Kind::FloatingPointOrder, text);
                }
                Ok((verdict, check, reason, plan)) => {
                    (report.verdict, report.check, report.reason) = (verdict, check, reason);
                    // Where an entry shows that another order is of no use, the loops inside are tried as they stand; the same where
                    // copies of its arrays would take too much, or are asked for on a device.
                    let always = plan.interchange.is_none()
                        && plan.parts.is_empty()
                        && plan.privatization.bases.is_empty();
                    if verdict == Verdict::Parallel && always {
                        settled.insert(l.id);
                    }
                    let inside = found.outer.iter().any(|o| settled.contains(o));
                    if !inside && !function.extern_inline {
                        planned.insert(l.id);
                        report.plan = Some(plan);
                    }
                }
                Err(mut reason) => {
                    reason.advice.retain(|advice| !(keeps_order && *advice == Advice::Reassociate));
                    report.reason = reason;
                }
            }
            reports.push(report);
        }
    }
    for refused in &unit.refused {
        for keyword in &refused.loops {
            let text = format!("the function was not understood: {}", refused.reason);
            let reason = Reason::new(Kind::NotUnderstood, text);
            reports.push(LoopReport { reason, ..sequential(unit, *keyword, &refused.name) });
        }
    }
    reports.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
    reports
}

/// The report of a loop that stays as it stands, still without the reason.
fn sequential(unit: &TranslationUnit, keyword: Span, function: &str) -> LoopReport {
    LoopReport {
        id: None,
        file: unit.files.get(keyword.file as usize).cloned().unwrap_or_default(),
        line: keyword.line,
        span: keyword,
        function: function.to_owned(),
        verdict: Verdict::Sequential,
        check: Check::None,
        reason: Reason::from(""),
        plan: None,
        took: Duration::ZERO,
    }
}

/// A pragma that can't apply.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PragmaError {
    /// The pragma.
    pub span: Span,
    /// What it is told.
    pub message: String,
    /// The accesses that show why.
    pub accesses: Vec<AccessNote>,
}

/// The pragmas that can't apply, given what became of the loops.
pub fn misplaced_pragmas(unit: &TranslationUnit, reports: &[LoopReport]) -> Vec<PragmaError> {
    let mut errors = Vec::new();
    for (number, pragma) in unit.pragmas.iter().enumerate() {
        let mut fail = |message: String, accesses: &[AccessNote]| {
            errors.push(PragmaError { span: pragma.span, message, accesses: accesses.to_vec() });
        };
        let wish = match &pragma.wish {
            Ok(wish) => *wish,
            Err(problem) => {
                fail(format!("`#pragma paragon`: {problem}"), &[]);
                continue;
            }
        };
        if !pragma.is_at_loop {
            fail(format!("`#pragma paragon {wish}` stands in front of no loop"), &[]);
            continue;
        }
        if unit.pragmas[..number]
            .iter()
            .any(|other| other.before == pragma.before && other.wish != pragma.wish)
        {
            fail(format!("`#pragma paragon {wish}` contradicts the one before it"), &[]);
            continue;
        }
        if wish == Wish::Forbid {
            continue;
        }
        match reports.iter().find(|report| report.span.start == pragma.before) {
            // That they are independent is nothing that anybody has to check, then.
            Some(report) if report.reason.kind == Kind::NothingKept => {}
            Some(report) if report.verdict == Verdict::Sequential => {
                let why = match report.reason.kind {
                    Kind::CarriedDependence | Kind::CarriedScalar | Kind::FloatingPointOrder => {
                        "the iterations are not independent"
                    }
                    _ => "the loop can't be run in parallel",
                };
                let reason = &report.reason;
                fail(format!("`#pragma paragon {wish}`: {why}: {reason}"), &reason.accesses);
            }
            Some(_) => {}
            None => fail(format!("`#pragma paragon {wish}`: the loop stands in what is not understood"), &[]),
        }
    }
    errors
}

type Judged = (Verdict, Check, Reason, Box<LoopPlan>);

fn judge(
    unit: &TranslationUnit,
    options: &AnalysisOptions,
    function: usize,
    l: &LoopStmt,
) -> Result<Judged, Reason> {
    let head = counted(unit, l)?;
    if let Some(reason) = nest::unsupported_control(&l.body) {
        return Err(reason);
    }
    if let Some(inner) = forbidden_inside(unit, &l.body) {
        let text = format!("`#pragma paragon forbid` stands in front of the loop in line {inner}");
        return Err(Reason::new(Kind::Forbidden, text));
    }
    let mut heads = vec![head];
    let mut bodies: Vec<&Stmt> = vec![&l.body];
    while heads.len() < MAX_DIMS && heads[heads.len() - 1].may_merge() {
        let Some(inner) = nest::perfect(bodies[bodies.len() - 1]) else { break };
        let Ok(head) = counted(unit, inner) else { break };
        // What leaves the inner loop alone would skip iterations of the merged one.
        if !head.may_merge() || nest::unsupported_control(&inner.body).is_some() {
            break;
        }
        heads.push(head);
        bodies.push(&inner.body);
    }
    let asserted = unit.wish(l);
    // A snapshot costs a copy.
    let cost = |judged: &Judged| (judged.1.cost(), judged.3.needs_snapshot());
    let mut best: Option<Judged> = None;
    let mut own = None;
    for depth in (1..=heads.len()).rev() {
        // What is said of the loop is not said of those inside it: they are only merged where that is proven.
        let wish = asserted.filter(|_| depth == 1);
        match attempt(unit, options, function, l, &heads[..depth], bodies[depth - 1], wish) {
            Ok(judged) => {
                let merges = asserted.is_none() || depth == 1 || judged.1 == Check::None;
                if merges && best.as_ref().is_none_or(|b| cost(&judged) < cost(b)) {
                    best = Some(judged);
                }
            }
            // The reason for the loop itself, not for a merged nest, is what helps.
            Err(why) if depth == 1 => own = Some(why),
            Err(_) => {}
        }
    }
    let Some(mut best) = best else {
        let mut reason = own.unwrap_or_else(|| Reason::from(""));
        // What only another option stands in the way of is found out by trying.
        let helps = |advice: &Advice| {
            let mut options = AnalysisOptions { explains: false, ..options.clone() };
            match advice {
                Advice::Reassociate | Advice::SumApart(_) => options.reassociate = true,
                Advice::NoContraction => options.contraction = false,
                _ => return true,
            }
            judge(unit, &options, function, l).is_ok()
        };
        if options.explains {
            reason.advice.retain(helps);
        }
        return Err(reason);
    };
    let is_guess = best.1.cost() >= Check::Inspector.cost();
    // A guess about the whole would keep the called function's loops, which may be better known, from running.
    if is_guess && asserted.is_none() && has_copied_loop(unit, &l.body) {
        let text = format!("{}, and a function that it calls has loops of its own to try", best.2);
        return Err(Reason { kind: Kind::InnerLoopsFirst, text, ..best.2 }
            .settled_by(own.is_none().then_some(Advice::AssertIndependent)));
    }
    if is_guess && own.is_none() {
        best.2.advice.push(Advice::AssertUnchecked);
    }
    Ok(best)
}

/// Whether a loop as it stands is so bad that another order of its nest may be better: it is sequential, would be a guess, or
/// has a predicate that can't hold.
fn may_gain(judged: &Result<Judged, Reason>) -> bool {
    match judged {
        Err(_) => true,
        Ok((_, check, _, plan)) => check.cost() >= Check::Inspector.cost() || never_holds(plan),
    }
}

/// Whether iterations near each other meet wherever they come to the accesses of some pair, so that no number at entry can tell
/// them apart. (That they come there is not known: a loop around the accesses may be empty.)
fn never_holds(plan: &LoopPlan) -> bool {
    let constant = |bound: &Bound| match bound {
        Bound::Const(value) => Some(i128::from(*value)),
        _ => None,
    };
    let site = |id: SiteId| &plan.sites[id.0 as usize];
    // A snapshot settles anti dependences.
    plan.pairs.iter().filter(|pair| !pair.is_anti).any(|pair| {
        let (a, b) = (site(pair.a), site(pair.b));
        let (Some(x), Some(y)) = (&a.affine, &b.affine) else { return false };
        // The very places of the iteration before.
        if pair.a == pair.b && x.strides.contains(&Bound::Const(0)) {
            return true;
        }
        let one_base = a.base == b.base && !matches!(plan.bases[a.base.0 as usize], Base::Dynamic);
        let ([stride], true) = (&x.strides[..], one_base && x.strides == y.strides) else { return false };
        // How far an end of one window is behind the other's: numbers of the entry may be in both.
        let from = |a: &Bound, b: &Bound| constant(&linear::add(a, &linear::neg(b)?)?);
        let Some(stride) = constant(stride).map(|s| s * i128::from(plan.dims[0].distance)) else {
            return false;
        };
        let soon = |meet: &dyn Fn(i128) -> bool| (1..SHORT).any(|k| meet(k * stride) || meet(-k * stride));
        // However long the loops inside are: the first bytes of both, where their ends don't move.
        let firsts = (x.hull.is_none() && y.hull.is_none()).then(|| from(&x.lo, &y.lo)).flatten();
        if firsts
            .is_some_and(|behind| soon(&|by| behind - by < b.width.into() && by - behind < a.width.into()))
        {
            return true;
        }
        let (Some(x_behind_y), Some(y_behind_x)) = (from(&x.lo, &y.hi), from(&y.lo, &x.hi)) else {
            return false;
        };
        soon(&|by| x_behind_y < by && y_behind_x < -by)
    })
}

/// The best of the nest's other orders that numbers at entry prove at the latest; see `loops::interchange`.
fn interchanged(
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
fn distributed(
    unit: &TranslationUnit,
    options: &AnalysisOptions,
    function: usize,
    l: &LoopStmt,
) -> Option<Judged> {
    let options = &AnalysisOptions { explains: false, ..options.clone() };
    let statements = distribution::take_apart(unit, l)?;
    let heads = [counted(unit, l).ok().filter(Counted::may_merge)?];
    let mut accesses = Accesses::collect(unit, options, &heads, l, &Prelude::default(), &l.body).ok()?;
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
        pinned: accesses.pinned,
        kept: Vec::new(),
        held: None,
        interchange: None,
        parts: Vec::new(),
        privatization: Privatization::default(),
        assumptions: accesses.assumptions,
        asserted: false,
        may_abort: false,
        cuda_exact: true,
        free_calls: false,
        work: accesses.work.max(1),
        touches: accesses.touches,
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
fn privatized(
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

/// The line of a loop in a body that has to stay as it stands, so that nothing around it can be run elsewhere.
fn forbidden_inside(unit: &TranslationUnit, body: &Stmt) -> Option<u32> {
    let mut line = None;
    nest::statements(body, &mut |s| {
        if let StmtKind::Loop(l) = &s.kind
            && unit.wish(l) == Some(Wish::Forbid)
        {
            line.get_or_insert(l.keyword_span.line);
        }
    });
    line
}

/// Iterations up to which a loop is not worth being run for itself.
const SHORT: i128 = 64;

/// Whether a loop of a function that is called stands in a body, and may be long.
fn has_copied_loop(unit: &TranslationUnit, body: &Stmt) -> bool {
    let end = |e: &Expr| crate::c::constant::fold(&unit.types, e);
    let is_short = |l: &LoopStmt| {
        let head = counted(unit, l).ok()?;
        let distance = (end(&head.limit)? - end(&head.first)?).abs();
        Some(distance / i128::from(head.step).abs() <= SHORT)
    };
    let mut found = false;
    nest::statements(body, &mut |s| {
        if let StmtKind::Loop(l) = &s.kind {
            found |= l.is_copy && is_short(l) != Some(true);
        }
    });
    found
}

fn attempt(
    unit: &TranslationUnit,
    options: &AnalysisOptions,
    function: usize,
    l: &LoopStmt,
    heads: &[Counted],
    body: &Stmt,
    wish: Option<Wish>,
) -> Result<Judged, Reason> {
    let with = |prelude| attempt_with(unit, options, function, l, heads, body, prelude, wish);
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
) -> Result<Judged, Reason> {
    let owner = &unit.functions[function];
    let inductions: Vec<(VarId, bool)> = heads.iter().map(|h| (h.iv, h.iv_local)).collect();
    if inductions.iter().map(|(v, _)| v).collect::<BTreeSet<_>>().len() != heads.len() {
        return Err("two of its loops share an induction variable".into());
    }
    let mut accesses = Accesses::collect(unit, options, heads, l, &prelude, body)?;
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
    accesses.may_abort |=
        roles.iter().any(|(v, role)| is_extreme(role) && reductions::guards_loads(unit, body, *v));
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
    if !gives_something {
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
    }
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
        pinned: accesses.pinned,
        held: (!kept.is_empty()).then(|| Box::new(l.clone())),
        kept,
        interchange: None,
        parts: Vec::new(),
        privatization,
        assumptions: accesses.assumptions,
        asserted: unit.wish(l).is_some(),
        may_abort: accesses.may_abort,
        cuda_exact: !accesses.calls_libm,
        free_calls: accesses.free_calls,
        work: accesses.work.max(1),
        touches: accesses.touches,
    };
    Ok((verdict, check, reason, Box::new(plan)))
}

/// The merged dimensions of a nest as ranges, and the steps of all loops in it.
fn distances(
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
fn dimensions(heads: &[Counted], accesses: &Accesses) -> Vec<Dim> {
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

/// The stores that may change a pinned word.
#[derive(Default)]
struct Changing {
    /// What is to be said of the first, or of the first unplaced one.
    first: Option<Reason>,
    /// Those of whose addresses nothing is known before they are computed.
    unplaced: BTreeSet<SiteId>,
}

/// Finds the stores that may change a pinned word.
fn mark_pins(unit: &TranslationUnit, options: &AnalysisOptions, accesses: &mut Accesses) -> Changing {
    let mut first: Option<Reason> = None;
    let mut unplaced = BTreeSet::new();
    let mut read_places = BTreeSet::new();
    for index in 0..accesses.sites.len() {
        let (site, form) = (&accesses.sites[index], &accesses.forms[index]);
        if !site.is_store {
            continue;
        }
        // What else may be a place that is kept, `keep` has looked at.
        let hits = accesses.pinned.iter().filter(|pin| !pin.is_kept).filter_map(|pin| {
            let ExprKind::AddressOf(read) = &pin.address.kind else { return Some(None) };
            let distinct = match (&accesses.bases[site.base.0 as usize], nest::root_variable(read)) {
                (Base::Object { var, size }, Some(root)) => {
                    root != *var && *size != 0 && !unit.var(root).is_extern && !unit.var(*var).is_extern
                }
                _ => false,
            };
            let may = !distinct && alias::may_change(unit, options.strict_aliasing, &form.place, read);
            may.then_some(Some(read))
        });
        let hits: Vec<Option<&Place>> = hits.collect();
        let Some(read) = hits.first() else { continue };
        read_places.extend(hits.iter().map(|read| read.map(|read| describe(unit, read))));
        let is_unknown =
            site.affine.is_none() || matches!(accesses.bases[site.base.0 as usize], Base::Dynamic);
        if first.is_none() || is_unknown && unplaced.is_empty() {
            let what = read.map_or("a value".to_string(), |read| describe(unit, read));
            let (text, line) = (&form.text, site.span.line);
            let text = format!(
                "the store to {text} in line {line} may change {what}, on which the loop's bounds or addresses depend"
            );
            let read = read.map(|read| AccessNote { text: what, is_store: false, span: read.span });
            let notes = [access_note(accesses, index)].into_iter().chain(read);
            first = Some(Reason::new(Kind::BoundsMayChange, text).about(notes));
        }
        if is_unknown {
            unplaced.insert(SiteId(index as u32));
        }
        accesses.sites[index].may_change_pin = true;
    }
    // Where there are several, one copy is not enough.
    if let (Some(reason), [Some(only)]) = (&mut first, &read_places.iter().collect::<Vec<_>>()[..]) {
        reason.advice.push(Advice::CopyToLocal(only.clone()));
    }
    Changing { first, unplaced }
}

/// Sees to it that nothing else in the loop touches the places that it keeps in variables: at compile time, or by
/// addresses at entry (then the second answer says so).
fn keep(
    unit: &TranslationUnit,
    options: &AnalysisOptions,
    accesses: &mut Accesses,
    cells: &[&Cell],
    dims: &[Range],
    steps: &Steps,
) -> Result<(Vec<Kept>, Option<Reason>), Reason> {
    let mut kept: Vec<Kept> = Vec::new();
    let mut found = Vec::new();
    let mut safe = true;
    let n_bases = accesses.bases.len();
    let types_apart = |a: &Place, b: &Place| !alias::may_change(unit, options.strict_aliasing, a, b);
    let objects_apart = |a: &Place, b: &Place| {
        let objects = nest::root_variable(a).zip(nest::root_variable(b));
        objects.is_some_and(|(a, b)| a != b && !unit.var(a).is_extern && !unit.var(b).is_extern)
    };
    for cell in cells {
        let name = describe(unit, &cell.place);
        let Some((base, offset, pin)) = accesses.keep(&cell.place)? else {
            let text = format!("{name} carries a value from one iteration to the next");
            return Err(Reason::new(Kind::CarriedScalar, text));
        };
        let width = accesses.pinned[pin].width;
        // The entry looks at all of these in any case.
        for pinned in accesses.pinned.iter().filter(|pinned| !pinned.is_kept) {
            safe &= matches!(
                &pinned.address.kind,
                ExprKind::AddressOf(other) if objects_apart(&cell.place, other) || types_apart(&cell.place, other)
            );
        }
        for ((other_base, other_offset, other_width), other) in found.iter().zip(&kept) {
            safe &= objects_apart(&cell.place, &other.place)
                || *other_base == base
                    && pairs::never_meet(dims, (&offset, width, &[]), (other_offset, *other_width, &[]));
        }
        for index in 0..accesses.sites.len() {
            let (site, form) = (&accesses.sites[index], &accesses.forms[index]);
            let other = &accesses.bases[site.base.0 as usize];
            let own = &accesses.bases[base.0 as usize];
            if pairs::distinct(unit, own, other) || objects_apart(&cell.place, &form.place) {
                continue;
            }
            let inner = pairs::inner(form, steps);
            if site.base == base
                && form.offset.as_ref().is_some_and(|at| {
                    pairs::never_meet(dims, (&offset, width, &[]), (at, site.width, &inner))
                })
            {
                continue;
            }
            // Where types tell them apart, the entry looks all the same if it can: that costs nothing. With a window it could cost the
            // entry, because that may turn out to be unknown, or wide. Of two stores types tell nothing: allocated memory becomes what is
            // stored there last, and the place is stored behind all of them.
            let types_apart = !site.is_store && types_apart(&cell.place, &form.place);
            let is_dynamic = matches!(other, Base::Dynamic);
            if types_apart && (site.affine.is_none() || is_dynamic) {
                continue;
            }
            // A window is compared with the place at entry like an affine access.
            if site.affine.is_none() && site.window.is_none() || is_dynamic {
                let (text, line) = (&form.text, site.span.line);
                let text = format!(
                    "{name} carries a value from one iteration to the next, and {text} in line {line} may be it"
                );
                return Err(Reason::new(Kind::UnresolvedPair, text).about([access_note(accesses, index)]));
            }
            accesses.sites[index].may_touch_kept = true;
            safe &= types_apart;
        }
        found.push((base, offset, width));
        kept.push(Kept { var: cell.var, pin, place: cell.place.clone() });
    }
    // No access of the loop goes through a base of theirs alone.
    accesses.bases.truncate(n_bases);
    let reason = kept.first().filter(|_| !safe).map(|kept| {
        let text = format!("nothing else may be the same memory as {}", describe(unit, &kept.place));
        Reason::new(Kind::UnresolvedPair, text)
    });
    Ok((kept, reason))
}

fn access_note(accesses: &Accesses, site: usize) -> AccessNote {
    let (site, form) = (&accesses.sites[site], &accesses.forms[site]);
    AccessNote { text: form.text.clone(), is_store: site.is_store, span: site.span }
}

fn unresolved_reason(accesses: &Accesses, pair: &Pair) -> Reason {
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
