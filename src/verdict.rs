//! From facts to a verdict with its reason: one report for every loop of a translation unit.
//!
//! A loop is tried with as many merged dimensions as its nest allows, then with fewer; the cheapest check wins, and among equal
//! ones the most dimensions. When anything is not understood the loop is sequential, with the reason.

mod alternatives;
mod attempt;
mod leaving;
mod pins;
mod pragmas;

pub use pragmas::{PragmaError, misplaced_pragmas};

use crate::analysis::dependence;
use crate::c::hir::*;
use crate::c::pragma::Wish;
use crate::loops::access::{contraction_around, sum_anywhere};
use crate::loops::cells;
use crate::loops::counted::counted;
use crate::loops::leaving as early_ends;
use crate::loops::libm;
use crate::loops::linear;
use crate::loops::nest;
use crate::loops::options::AnalysisOptions;
use crate::loops::plan::*;
use crate::loops::reason::{Advice, Kind, Reason};
use alternatives::{distributed, interchanged, privatized};
use attempt::attempt;
use std::collections::BTreeSet;
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
                None => dependence::about_one_loop(|| match unit.by_members.get(&l.id) {
                    None => in_any_form(unit, options, number, l),
                    // Where variables can't stand for members, the loop is tried as it stands.
                    Some(by_members) => in_any_form(unit, options, number, by_members)
                        .map(|mut judged| {
                            judged.3.held.get_or_insert_with(|| Box::new(by_members.clone()));
                            judged
                        })
                        .or_else(|why| in_any_form(unit, options, number, l).map_err(|_| why)),
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

type Judged = (Verdict, Check, Reason, Box<LoopPlan>);

/// A loop as it stands, with variables for its places, or in another form, whichever is good enough.
fn in_any_form(
    unit: &TranslationUnit,
    options: &AnalysisOptions,
    function: usize,
    l: &LoopStmt,
) -> Result<Judged, Reason> {
    let is_known = |callee: &Callee| libm::computes(unit, options, callee);
    if let Some(marked) = early_ends::marked(unit, l, &is_known) {
        // Other orders and several loops come to other ends.
        match with_cells(unit, options, function, &marked) {
            Ok(mut judged) => {
                judged.3.held.get_or_insert_with(|| Box::new(marked));
                return Ok(judged);
            }
            Err(why) if early_ends::marked(unit, l, &|_| true).is_some() => return Err(why),
            // It is left only in that it does what isn't known: that is the reason.
            Err(_) => {}
        }
    }
    let judged = with_cells(unit, options, function, l);
    if !may_gain(&judged) {
        return judged;
    }
    let held = cells::held(unit, l);
    interchanged(unit, options, function, held.as_ref().unwrap_or(l))
        .or_else(|| distributed(unit, options, function, l))
        .or_else(|| privatized(unit, options, function, l, &judged))
        .map_or(judged, Ok)
}

/// A loop with variables for its places, or as it stands.
fn with_cells(
    unit: &TranslationUnit,
    options: &AnalysisOptions,
    function: usize,
    l: &LoopStmt,
) -> Result<Judged, Reason> {
    match cells::held(unit, l) {
        None => judge(unit, options, function, l),
        // Where its places can't be kept in variables, the loop is tried without.
        Some(held) => judge(unit, options, function, &held)
            .or_else(|why| judge(unit, options, function, l).map_err(|_| why)),
    }
}

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
            found |= l.is_copy && !l.is_block && is_short(l) != Some(true);
        }
    });
    found
}
