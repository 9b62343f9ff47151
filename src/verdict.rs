//! From facts to a verdict with its reason: one report for every loop of a translation unit.
//!
//! A loop is tried with as many merged dimensions as its nest allows, then with fewer; the cheapest check wins, and among equal
//! ones the most dimensions. When anything is not understood the loop is sequential, with the reason.

use crate::analysis::dependence::Range;
use crate::analysis::pairs::{self, Pairs, Steps};
use crate::c::hir::*;
use crate::loops::access::{Accesses, describe, fused};
use crate::loops::alias;
use crate::loops::cells;
use crate::loops::counted::{Counted, counted};
use crate::loops::nest;
use crate::loops::options::AnalysisOptions;
use crate::loops::plan::*;
use crate::loops::scalars;
use std::collections::{BTreeMap, BTreeSet};

/// A report for each loop of the unit, by line.
pub fn classify(unit: &TranslationUnit, options: &AnalysisOptions) -> Vec<LoopReport> {
    let mut reports = Vec::new();
    for (number, function) in unit.functions.iter().enumerate() {
        // Loops inside one that is parallel without a condition need no plan of their own.
        let mut settled: BTreeSet<LoopId> = BTreeSet::new();
        for found in nest::loops(function) {
            let l = found.the_loop;
            let mut report = LoopReport {
                id: Some(l.id),
                file: file_name(unit, l.keyword_span.file),
                line: l.keyword_span.line,
                function: unit.var(function.var).name.clone(),
                verdict: Verdict::Sequential,
                check: Check::None,
                reason: String::new(),
                plan: None,
            };
            let judged = match &function.fixed {
                Some(reason) => Err(format!("the function has {reason}")),
                None => match cells::held(unit, l) {
                    None => judge(unit, options, number, l),
                    // Where its places can't be kept in variables, the loop is tried as it stands.
                    Some(held) => judge(unit, options, number, &held)
                        .or_else(|why| judge(unit, options, number, l).map_err(|_| why)),
                },
            };
            match judged {
                Ok((verdict, check, reason, plan)) => {
                    (report.verdict, report.check, report.reason) = (verdict, check, reason);
                    if verdict == Verdict::Parallel {
                        settled.insert(l.id);
                    }
                    let inside = found.outer.iter().any(|o| settled.contains(o));
                    if !inside && !function.extern_inline {
                        report.plan = Some(plan);
                    }
                }
                Err(reason) => report.reason = reason,
            }
            reports.push(report);
        }
    }
    for refused in &unit.refused {
        for (file, line) in &refused.loops {
            reports.push(LoopReport {
                id: None,
                file: file_name(unit, *file),
                line: *line,
                function: refused.name.clone(),
                verdict: Verdict::Sequential,
                check: Check::None,
                reason: format!("the function was not understood: {}", refused.reason),
                plan: None,
            });
        }
    }
    reports.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
    reports
}

fn file_name(unit: &TranslationUnit, file: u32) -> String {
    unit.files.get(file as usize).cloned().unwrap_or_default()
}

type Judged = (Verdict, Check, String, Box<LoopPlan>);

fn judge(
    unit: &TranslationUnit,
    options: &AnalysisOptions,
    function: usize,
    l: &LoopStmt,
) -> Result<Judged, String> {
    let head = counted(unit, l)?;
    if let Some(reason) = nest::unsupported_control(&l.body) {
        return Err(format!("it {reason}"));
    }
    let mut heads = vec![head];
    let mut bodies: Vec<&Stmt> = vec![&l.body];
    while heads.len() < MAX_DIMS && heads[heads.len() - 1].may_merge() {
        let Some(inner) = perfect(bodies[bodies.len() - 1]) else { break };
        let Ok(head) = counted(unit, inner) else { break };
        // What leaves the inner loop alone would skip iterations of the merged one.
        if !head.may_merge() || nest::unsupported_control(&inner.body).is_some() {
            break;
        }
        heads.push(head);
        bodies.push(&inner.body);
    }
    let mut best: Option<Judged> = None;
    let mut reason = None;
    for depth in (1..=heads.len()).rev() {
        match attempt(unit, options, function, l, &heads[..depth], bodies[depth - 1]) {
            Ok(judged) => {
                if best.as_ref().is_none_or(|b| judged.1.cost() < b.1.cost()) {
                    best = Some(judged);
                }
            }
            // The reason for the loop itself, not for a merged nest, is what helps.
            Err(why) => reason = Some(why),
        }
    }
    let best = best.ok_or_else(|| reason.unwrap_or_default())?;
    // A guess about the whole would keep the called function's loops, which may be better known, from running.
    if best.1 == Check::Logs && has_copied_loop(unit, &l.body) {
        return Err(format!("{}, and a function that it calls has loops of its own to try", best.2));
    }
    Ok(best)
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

/// The loop that is all of a body.
fn perfect(body: &Stmt) -> Option<&LoopStmt> {
    match &body.kind {
        StmtKind::Loop(l) => Some(l),
        StmtKind::Block(list) => {
            let mut rest = list.iter().filter(|s| !matches!(s.kind, StmtKind::Empty));
            let only = rest.next()?;
            if rest.next().is_some() { None } else { perfect(only) }
        }
        _ => None,
    }
}

fn attempt(
    unit: &TranslationUnit,
    options: &AnalysisOptions,
    function: usize,
    l: &LoopStmt,
    heads: &[Counted],
    body: &Stmt,
) -> Result<Judged, String> {
    let owner = &unit.functions[function];
    let inductions: Vec<(VarId, bool)> = heads.iter().map(|h| (h.iv, h.iv_local)).collect();
    if inductions.iter().map(|(v, _)| v).collect::<BTreeSet<_>>().len() != heads.len() {
        return Err("two of its loops share an induction variable".into());
    }
    let mut accesses = Accesses::collect(unit, options, heads, l, body)?;
    let roles = scalars::roles(unit, owner, l, body, &inductions, &accesses.secondary, options.reassociate)?;
    let stays_open = |v: &VarId| !matches!(roles.get(v), Some(ScalarRole::Accumulation { .. }));
    if let Some((_, line)) = accesses.fusable.iter().find(|(v, _)| stays_open(v)) {
        return Err(fused(*line));
    }
    let gives_something =
        accesses.sites.iter().any(|s| s.is_store) || roles.values().any(ScalarRole::is_result);
    if !gives_something {
        return Err("it computes nothing that is kept".into());
    }
    // Two places that are one variable: an inner dimension's bounds may not depend on what the nest assigns; that was
    // checked when its head was noted. A reduction variable may not be read by an address.
    let mut steps: Steps = accesses.distances.clone();
    nest::statements(body, &mut |s| {
        if let StmtKind::Loop(inner) = &s.kind
            && let Ok(head) = counted(unit, inner)
        {
            steps.insert(head.id, head.step);
        }
    });
    let dims: Vec<Range> = heads
        .iter()
        .map(|h| Range { id: h.id, range: accesses.dimension_range(h.id), step: accesses.distances[&h.id] })
        .collect();
    for head in &heads[1..] {
        if pairs::ignores_dimension(&accesses, head.id) {
            return Err("a merged dimension would store to one place".into());
        }
    }
    let pairs = match pairs::resolve(unit, &mut accesses, &dims, &steps) {
        Pairs::Dependent(a, b) => {
            let text = |s: usize| (&accesses.forms[s].text, accesses.sites[s].span.line);
            let ((ta, la), (tb, lb)) = (text(a), text(b));
            let role = if accesses.sites[b].is_store { "the store" } else { "the load" };
            return Err(format!(
                "the store to {ta} in line {la} and {role} of {tb} in line {lb} meet in different iterations"
            ));
        }
        Pairs::Unresolved(pairs) => pairs,
    };
    if accesses.sites.len() > 4096 || accesses.invariants.len() > 256 {
        return Err("it is too large".into());
    }
    mark_pins(unit, options, &mut accesses)?;
    let pins_are_safe = accesses.sites.iter().all(|s| !s.may_change_pin);
    let cells: Vec<&Cell> = l.cells.iter().filter(|cell| roles.contains_key(&cell.var)).collect();
    let (kept, kept_are_safe) = keep(unit, options, &mut accesses, &cells, &dims, &steps)?;
    let worst = pairs.iter().map(|p| p.check).max_by_key(|c| c.cost());
    let (verdict, check, reason) = match worst {
        Some(Check::Logs) => {
            let pair = pairs.iter().find(|p| p.check == Check::Logs);
            (Verdict::PossiblyParallel, Check::Logs, unresolved_reason(&accesses, pair))
        }
        Some(_) => (Verdict::PossiblyParallel, Check::Predicate, unresolved_reason(&accesses, pairs.first())),
        None if !pins_are_safe => (
            Verdict::PossiblyParallel,
            Check::Predicate,
            "a store may change a value that the loop's bounds or addresses depend on".to_string(),
        ),
        None if !kept_are_safe => (
            Verdict::PossiblyParallel,
            Check::Predicate,
            format!(
                "nothing else may be the same memory as {}, which is kept in a variable",
                kept.first().map(|kept| describe(unit, &kept.place)).unwrap_or_default()
            ),
        ),
        None if !accesses.assumptions.is_empty() => {
            (Verdict::PossiblyParallel, Check::Predicate, "index arithmetic must not wrap around".to_string())
        }
        None => (Verdict::Parallel, Check::None, "no two iterations touch the same memory".to_string()),
    };
    let scalars: BTreeMap<VarId, ScalarRole> = roles;
    let live_ins: Vec<VarId> =
        accesses.live_ins.iter().copied().filter(|v| !scalars.contains_key(v)).collect();
    let plan = LoopPlan {
        loop_id: l.id,
        function,
        dims: heads
            .iter()
            .map(|h| Dim {
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
            })
            .collect(),
        starts: heads.iter().flat_map(|h| h.starts.iter().cloned()).collect(),
        moved_by_test: accesses.moved_by_test,
        scalars,
        live_ins,
        invariants: accesses.invariants,
        invariant_places: accesses.invariant_places,
        bases: accesses.bases,
        sites: accesses.sites,
        site_of: accesses.site_of,
        pairs,
        pinned: accesses.pinned,
        held: (!kept.is_empty()).then(|| Box::new(l.clone())),
        kept,
        assumptions: accesses.assumptions,
        may_abort: accesses.may_abort,
        cuda_exact: true,
        work: accesses.work.max(1),
        touches: accesses.touches,
    };
    Ok((verdict, check, reason, Box::new(plan)))
}

/// Finds the stores that may change a pinned word. Where nothing is known of their addresses the loop has to stay as it is.
fn mark_pins(
    unit: &TranslationUnit,
    options: &AnalysisOptions,
    accesses: &mut Accesses,
) -> Result<(), String> {
    for index in 0..accesses.sites.len() {
        let (site, form) = (&accesses.sites[index], &accesses.forms[index]);
        if !site.is_store {
            continue;
        }
        let hit = accesses.pinned.iter().find_map(|pin| {
            let ExprKind::AddressOf(read) = &pin.address.kind else { return Some("a value".to_string()) };
            let distinct = match (&accesses.bases[site.base.0 as usize], nest::root_variable(read)) {
                (Base::Object { var, size }, Some(root)) => {
                    root != *var && *size != 0 && !unit.var(root).is_extern && !unit.var(*var).is_extern
                }
                _ => false,
            };
            let may = !distinct && alias::may_change(unit, options.strict_aliasing, &form.place, read);
            may.then(|| describe(unit, read))
        });
        let Some(what) = hit else { continue };
        if site.affine.is_none() || matches!(accesses.bases[site.base.0 as usize], Base::Dynamic) {
            let (text, line) = (&form.text, site.span.line);
            return Err(format!(
                "the store to {text} in line {line} may change {what}, on which the loop's bounds or addresses depend"
            ));
        }
        accesses.sites[index].may_change_pin = true;
    }
    Ok(())
}

/// Sees to it that nothing else in the loop touches the places that it keeps in variables: at compile time, or by
/// addresses at entry (then the second answer is false).
fn keep(
    unit: &TranslationUnit,
    options: &AnalysisOptions,
    accesses: &mut Accesses,
    cells: &[&Cell],
    dims: &[Range],
    steps: &Steps,
) -> Result<(Vec<Kept>, bool), String> {
    let mut kept: Vec<Kept> = Vec::new();
    let mut found = Vec::new();
    let mut safe = true;
    let n_bases = accesses.bases.len();
    let apart = |a: &Place, b: &Place| {
        let objects = nest::root_variable(a).zip(nest::root_variable(b));
        objects.is_some_and(|(a, b)| a != b && !unit.var(a).is_extern && !unit.var(b).is_extern)
            || !alias::may_change(unit, options.strict_aliasing, a, b)
    };
    for cell in cells {
        let name = describe(unit, &cell.place);
        let Some((base, offset, pin)) = accesses.keep(&cell.place)? else {
            return Err(format!("{name} carries a value from one iteration to the next"));
        };
        let width = accesses.pinned[pin].width;
        // The entry looks at all of these in any case.
        for pinned in accesses.pinned.iter().filter(|pinned| !pinned.is_kept) {
            safe &= matches!(&pinned.address.kind, ExprKind::AddressOf(other) if apart(&cell.place, other));
        }
        for ((other_base, other_offset, other_width), other) in found.iter().zip(&kept) {
            safe &= apart(&cell.place, &other.place)
                || *other_base == base
                    && pairs::never_meet(dims, (&offset, width, &[]), (other_offset, *other_width, &[]));
        }
        for index in 0..accesses.sites.len() {
            let (site, form) = (&accesses.sites[index], &accesses.forms[index]);
            let other = &accesses.bases[site.base.0 as usize];
            let own = &accesses.bases[base.0 as usize];
            if pairs::distinct(unit, own, other) || apart(&cell.place, &form.place) {
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
            if site.affine.is_none() || matches!(other, Base::Dynamic) {
                let (text, line) = (&form.text, site.span.line);
                return Err(format!(
                    "{name} is combined with a value in every iteration, and {text} in line {line} may be the same memory"
                ));
            }
            accesses.sites[index].may_touch_kept = true;
            safe = false;
        }
        found.push((base, offset, width));
        kept.push(Kept { var: cell.var, pin, place: cell.place.clone() });
    }
    // No access of the loop goes through a base of theirs alone.
    accesses.bases.truncate(n_bases);
    Ok((kept, safe))
}

fn unresolved_reason(accesses: &Accesses, pair: Option<&Pair>) -> String {
    let Some(pair) = pair else { return String::new() };
    let text = |s: SiteId| (&accesses.forms[s.0 as usize].text, accesses.sites[s.0 as usize].span.line);
    let ((ta, la), (tb, lb)) = (text(pair.a), text(pair.b));
    if pair.a == pair.b {
        format!("the store to {ta} in line {la} may hit one element in several iterations")
    } else {
        format!("{ta} in line {la} and {tb} in line {lb} may be the same memory in different iterations")
    }
}
