//! How many turns the first inner loop of an iteration has, before the iteration is run: rows of like lengths are given to the lanes of one
//! warp (`kernel/sorted.h`). Only what can be told from memory that nothing stores to, and without leaving anything behind: a text of
//! its own, which says the same whenever it is run.

use super::inner::Turns;
use super::{Printer, Purpose, variable};
use crate::c::hir::*;
use crate::loops::nest;
use crate::loops::plan::*;
use crate::loops::scalars::is_scalar;
use std::collections::BTreeSet;

/// What tells how many turns an iteration has.
pub struct Measured {
    /// Variables that the text sets: type and name.
    pub locals: Vec<(&'static str, String)>,
    /// What the iteration does up to its loop.
    pub text: String,
    /// The number of turns, of an unsigned type.
    pub turns: String,
    /// Whether nothing stores to what all that loads.
    pub kept: String,
}

/// The text for one iteration of a loop, if it comes to an inner loop first whose turns are counted before it.
pub(super) fn measured(unit: &TranslationUnit, plan: &LoopPlan, body: &Stmt) -> Option<Measured> {
    let mut before: Vec<&Stmt> = plan.prelude.statements.iter().collect();
    let first = first_loop(body, &mut before)?;
    let mut printer = Printer::new(unit, plan, Purpose::Iterations);
    let innermost = plan.dims[plan.dims.len() - 1].loop_id;
    let (mut is_known, mut kept) = (true, BTreeSet::new());
    let mut look = |e: &Expr| match printer.kept(e) {
        Some(condition) if leaves_nothing(unit, plan, e) => _ = kept.insert(condition),
        _ => is_known = false,
    };
    before.iter().copied().chain(&first.init).for_each(|s| nest::all_expressions(s, &mut look));
    first.cond.iter().for_each(|cond| nest::expressions(cond, &mut look));
    if !is_known || !before.iter().all(|s| goes_on(plan, s)) {
        return None;
    }
    let mut text = String::new();
    for s in before.into_iter().chain(&first.init) {
        printer.statement(s, innermost, &mut text).ok()?;
    }
    let turns = printer.turns(first)?;
    text.push_str(&turns.before);
    kept.insert(turns.kept);
    let Turns { cond, limit, unsigned, iv, .. } = turns;
    Some(Measured {
        locals: printer.locals,
        text,
        turns: format!("({cond}) ? ({unsigned})({limit}) - ({unsigned})({}) : 0", variable(iv)),
        kept: kept.into_iter().collect::<Vec<_>>().join(" && "),
    })
}

/// The loop that an iteration comes to first, and the statements before it.
fn first_loop<'a>(s: &'a Stmt, before: &mut Vec<&'a Stmt>) -> Option<&'a LoopStmt> {
    match &s.kind {
        StmtKind::Loop(l) => return Some(l),
        StmtKind::Block(list) => return list.iter().find_map(|s| first_loop(s, before)),
        _ => before.push(s),
    }
    None
}

/// Whether the next statement is done after a statement, whatever happens.
fn goes_on(plan: &LoopPlan, s: &Stmt) -> bool {
    match &s.kind {
        StmtKind::Empty | StmtKind::Declaration | StmtKind::Expr(_) => true,
        StmtKind::Declare { var, .. } => !plan.private.contains_key(var),
        _ => false,
    }
}

/// Whether an expression, but for those in it, sets nothing but variables that each iteration has to itself.
fn leaves_nothing(unit: &TranslationUnit, plan: &LoopPlan, e: &Expr) -> bool {
    let is_own = |v: VarId| match plan.scalars.get(&v) {
        None | Some(ScalarRole::Private { last_value: false } | ScalarRole::Secondary { .. }) => true,
        Some(_) => false,
    };
    match nest::accessed_place(e) {
        Some((place, _, true)) => is_scalar(unit, place).is_some_and(is_own),
        _ => !matches!(e.kind, ExprKind::Call { .. } | ExprKind::Opaque(_)),
    }
}
