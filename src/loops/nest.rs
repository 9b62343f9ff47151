//! Walking the typed tree: all loops of a function, all expressions of a statement, and whether a loop can be left or
//! entered in ways that a device can't follow; and the walk of whoever changes a tree ([`Change`]).
//!
//! Nothing here decides; it only finds.

use super::reason::{Advice, Kind, Reason};
use crate::c::hir::*;
use std::collections::BTreeSet;

/// Calls `visit` for each statement below and including `statement`, outermost first.
pub fn statements<'a>(statement: &'a Stmt, visit: &mut dyn FnMut(&'a Stmt)) {
    visit(statement);
    match &statement.kind {
        StmtKind::Block(list) => list.iter().for_each(|s| statements(s, visit)),
        StmtKind::If { then, otherwise, .. } => {
            statements(then, visit);
            if let Some(otherwise) = otherwise {
                statements(otherwise, visit);
            }
        }
        StmtKind::Loop(l) => {
            l.init.iter().for_each(|s| statements(s, visit));
            statements(&l.body, visit);
        }
        StmtKind::Switch { body, .. } | StmtKind::Case { body, .. } | StmtKind::Label { body, .. } => {
            statements(body, visit);
        }
        _ => {}
    }
}

/// The expressions that stand directly in a statement, in order of evaluation.
pub fn direct_expressions(statement: &Stmt) -> Vec<&Expr> {
    match &statement.kind {
        StmtKind::Expr(e) | StmtKind::Return(Some(e)) => vec![e],
        StmtKind::Declare { init: Some(Init::Scalar(e)), .. } => vec![e],
        StmtKind::Declare { init: Some(Init::Members(list)), .. } => list.iter().map(|(_, e)| e).collect(),
        StmtKind::If { cond, .. } | StmtKind::Switch { cond, .. } => vec![cond],
        StmtKind::Loop(l) => l.cond.iter().chain(l.step.iter()).collect(),
        _ => Vec::new(),
    }
}

/// Calls `visit` for each expression below and including `expr`.
pub fn expressions<'a>(expr: &'a Expr, visit: &mut dyn FnMut(&'a Expr)) {
    visit(expr);
    match &expr.kind {
        ExprKind::Load(p) | ExprKind::AddressOf(p) | ExprKind::IncDec { place: p, .. } => {
            place_expressions(p, visit)
        }
        ExprKind::Unary(_, e) | ExprKind::Cast(e) => expressions(e, visit),
        ExprKind::Binary(_, a, b)
        | ExprKind::LogicalAnd(a, b)
        | ExprKind::LogicalOr(a, b)
        | ExprKind::Comma(a, b)
        | ExprKind::PtrAdd { pointer: a, index: b, .. }
        | ExprKind::PtrDiff { left: a, right: b, .. } => {
            expressions(a, visit);
            expressions(b, visit);
        }
        ExprKind::Conditional(a, b, c) => {
            expressions(a, visit);
            expressions(b, visit);
            expressions(c, visit);
        }
        ExprKind::Assign(p, e)
        | ExprKind::AssignOp { place: p, value: e, .. }
        | ExprKind::PtrAssign { place: p, index: e, .. } => {
            place_expressions(p, visit);
            expressions(e, visit);
        }
        ExprKind::Call { callee, args } => {
            if let Callee::Pointer(e) = callee {
                expressions(e, visit);
            }
            args.iter().for_each(|e| expressions(e, visit));
        }
        _ => {}
    }
}

/// The expressions inside a place.
pub fn place_expressions<'a>(place: &'a Place, visit: &mut dyn FnMut(&'a Expr)) {
    match &place.kind {
        PlaceKind::Deref(e) => expressions(e, visit),
        PlaceKind::Field { base, .. } => place_expressions(base, visit),
        _ => {}
    }
}

/// What is done to the expressions and places of a tree, outermost first. Where a method says no, nothing inside of what it was
/// given is visited.
pub trait Change {
    /// May change an expression.
    fn expression(&mut self, _: &mut Expr) -> bool {
        true
    }
    /// May change a place. `accessed`: it is read or written itself, not only a part of it or its address.
    fn place(&mut self, _: &mut Place, _accessed: bool) -> bool {
        true
    }
}

/// Gives places identities of their own, from this one on.
pub struct Numbered<'a>(pub &'a mut u32);

impl Change for Numbered<'_> {
    fn place(&mut self, place: &mut Place, _: bool) -> bool {
        place.id = PlaceId(*self.0);
        *self.0 += 1;
        true
    }
}

/// Puts statements in the place of expressions that are statements, where there are others for them.
fn replace_expressions(mut s: Stmt, with: &mut dyn FnMut(&Expr) -> Option<StmtKind>) -> Stmt {
    let mut boxed = |s: Box<Stmt>| Box::new(replace_expressions(*s, with));
    s.kind = match s.kind {
        StmtKind::Block(list) => {
            StmtKind::Block(list.into_iter().map(|s| replace_expressions(s, with)).collect())
        }
        StmtKind::If { cond, then, otherwise } => {
            StmtKind::If { cond, then: boxed(then), otherwise: otherwise.map(boxed) }
        }
        StmtKind::Switch { cond, body } => StmtKind::Switch { cond, body: boxed(body) },
        StmtKind::Case { value, body } => StmtKind::Case { value, body: boxed(body) },
        StmtKind::Label { name, body } => StmtKind::Label { name, body: boxed(body) },
        StmtKind::Loop(mut l) => {
            l.body = boxed(l.body);
            StmtKind::Loop(l)
        }
        StmtKind::Expr(e) => with(&e).unwrap_or(StmtKind::Expr(e)),
        other => other,
    };
    s
}

/// The same in all functions; `is_one`: whether there is another one for an expression, perhaps.
pub fn replace_everywhere(
    unit: &mut TranslationUnit,
    is_one: &dyn Fn(&TranslationUnit, &Expr) -> bool,
    with: &mut dyn FnMut(&mut TranslationUnit, &Expr) -> Option<StmtKind>,
) {
    for number in 0..unit.functions.len() {
        let mut has_some = false;
        all_expressions(&unit.functions[number].body, &mut |e| has_some = has_some || is_one(unit, e));
        if has_some {
            let empty = Stmt { kind: StmtKind::Empty, span: Span::default() };
            let body = std::mem::replace(&mut unit.functions[number].body, empty);
            unit.functions[number].body = replace_expressions(body, &mut |e| with(unit, e));
        }
    }
}

/// Changes all that stands in a statement.
pub fn change_statement(s: &mut Stmt, change: &mut dyn Change) {
    match &mut s.kind {
        StmtKind::Expr(e)
        | StmtKind::Return(Some(e))
        | StmtKind::Declare { init: Some(Init::Scalar(e)), .. } => change_expression(e, change),
        StmtKind::Declare { init: Some(Init::Members(list)), .. } => {
            list.iter_mut().for_each(|(_, e)| change_expression(e, change));
        }
        StmtKind::Block(list) => list.iter_mut().for_each(|s| change_statement(s, change)),
        StmtKind::If { cond, then, otherwise } => {
            change_expression(cond, change);
            change_statement(then, change);
            if let Some(otherwise) = otherwise {
                change_statement(otherwise, change);
            }
        }
        StmtKind::Loop(l) => change_loop(l, change),
        StmtKind::Switch { cond, body } => {
            change_expression(cond, change);
            change_statement(body, change);
        }
        StmtKind::Case { body, .. } | StmtKind::Label { body, .. } => change_statement(body, change),
        _ => {}
    }
}

/// Changes all that stands in a loop.
pub fn change_loop(l: &mut LoopStmt, change: &mut dyn Change) {
    l.init.iter_mut().for_each(|s| change_statement(s, change));
    l.cond.iter_mut().chain(&mut l.step).for_each(|e| change_expression(e, change));
    change_statement(&mut l.body, change);
}

/// Changes an expression, and all that stands in it.
pub fn change_expression(e: &mut Expr, change: &mut dyn Change) {
    if !change.expression(e) {
        return;
    }
    match &mut e.kind {
        ExprKind::Load(p) | ExprKind::IncDec { place: p, .. } => change_place(p, true, change),
        ExprKind::AddressOf(p) => change_place(p, false, change),
        ExprKind::Unary(_, a) | ExprKind::Cast(a) => change_expression(a, change),
        ExprKind::Binary(_, a, b)
        | ExprKind::LogicalAnd(a, b)
        | ExprKind::LogicalOr(a, b)
        | ExprKind::Comma(a, b)
        | ExprKind::PtrAdd { pointer: a, index: b, .. }
        | ExprKind::PtrDiff { left: a, right: b, .. } => {
            change_expression(a, change);
            change_expression(b, change);
        }
        ExprKind::Conditional(a, b, c) => {
            [a, b, c].into_iter().for_each(|e| change_expression(e, change));
        }
        ExprKind::Assign(p, value)
        | ExprKind::AssignOp { place: p, value, .. }
        | ExprKind::PtrAssign { place: p, index: value, .. } => {
            change_place(p, true, change);
            change_expression(value, change);
        }
        ExprKind::Call { callee, args } => {
            if let Callee::Pointer(e) = callee {
                change_expression(e, change);
            }
            args.iter_mut().for_each(|e| change_expression(e, change));
        }
        ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Str(_)
        | ExprKind::Function(_)
        | ExprKind::Opaque(_) => {}
    }
}

/// Changes a place, and all that stands in it.
pub fn change_place(p: &mut Place, accessed: bool, change: &mut dyn Change) {
    if !change.place(p, accessed) {
        return;
    }
    match &mut p.kind {
        PlaceKind::Deref(e) => change_expression(e, change),
        PlaceKind::Field { base, .. } => change_place(base, false, change),
        PlaceKind::Var(_) | PlaceKind::Opaque(_) => {}
    }
}

/// All expressions below a statement.
pub fn all_expressions<'a>(statement: &'a Stmt, visit: &mut dyn FnMut(&'a Expr)) {
    statements(statement, &mut |s| direct_expressions(s).into_iter().for_each(|e| expressions(e, visit)));
}

/// All expressions of a loop's turns: of its body, its condition and its last clause.
pub fn turn_expressions<'a>(l: &'a LoopStmt, visit: &mut dyn FnMut(&'a Expr)) {
    all_expressions(&l.body, visit);
    l.cond.iter().chain(&l.step).for_each(|e| expressions(e, visit));
}

/// All expressions of a loop.
pub fn loop_expressions<'a>(l: &'a LoopStmt, visit: &mut dyn FnMut(&'a Expr)) {
    l.init.iter().for_each(|s| all_expressions(s, visit));
    turn_expressions(l, visit);
}

/// The variables that a loop's turns assign or declare.
pub fn set_in_turns(l: &LoopStmt) -> BTreeSet<VarId> {
    let mut set = BTreeSet::new();
    statements(&l.body, &mut |s| {
        if let StmtKind::Declare { var, .. } = &s.kind {
            set.insert(*var);
        }
    });
    turn_expressions(l, &mut |e| {
        if let Some((place, _, true)) = accessed_place(e) {
            set.extend(root_variable(place));
        }
    });
    set
}

/// The variable that a place is, without any dereference: `v`, `v.a.b`.
pub fn root_variable(place: &Place) -> Option<VarId> {
    match &place.kind {
        PlaceKind::Var(v) => Some(*v),
        PlaceKind::Field { base, .. } => root_variable(base),
        _ => None,
    }
}

/// Whether a place, or what it is a part of, isn't understood: what is evaluated to find it may do anything.
pub fn is_opaque(place: &Place) -> bool {
    match &place.kind {
        PlaceKind::Opaque(_) => true,
        PlaceKind::Field { base, .. } => is_opaque(base),
        PlaceKind::Var(_) | PlaceKind::Deref(_) => false,
    }
}

/// The place that an expression reads or writes directly.
pub fn accessed_place(expr: &Expr) -> Option<(&Place, bool, bool)> {
    match &expr.kind {
        ExprKind::Load(p) => Some((p, true, false)),
        ExprKind::Assign(p, _) => Some((p, false, true)),
        ExprKind::AssignOp { place, .. }
        | ExprKind::PtrAssign { place, .. }
        | ExprKind::IncDec { place, .. } => Some((place, true, true)),
        _ => None,
    }
}

/// The assignments to variables that every iteration makes exactly once: not under a condition, not in an inner loop.
pub fn unconditional_updates<'a>(s: &'a Stmt, out: &mut Vec<&'a Expr>) {
    match &s.kind {
        StmtKind::Block(list) => list.iter().for_each(|s| unconditional_updates(s, out)),
        StmtKind::Expr(e)
        | StmtKind::Declare { init: Some(Init::Scalar(e)), .. }
        | StmtKind::If { cond: e, .. } => unconditional_parts(e, out),
        StmtKind::Declare { init: Some(Init::Members(list)), .. } => {
            list.iter().for_each(|(_, e)| unconditional_parts(e, out));
        }
        _ => {}
    }
}

/// The accesses of variables in an expression that its evaluation makes in any case.
pub fn unconditional_parts<'a>(e: &'a Expr, out: &mut Vec<&'a Expr>) {
    match &e.kind {
        ExprKind::LogicalAnd(a, _) | ExprKind::LogicalOr(a, _) | ExprKind::Conditional(a, ..) => {
            unconditional_parts(a, out)
        }
        ExprKind::Unary(_, a) | ExprKind::Cast(a) => unconditional_parts(a, out),
        ExprKind::Binary(_, a, b)
        | ExprKind::Comma(a, b)
        | ExprKind::PtrAdd { pointer: a, index: b, .. }
        | ExprKind::PtrDiff { left: a, right: b, .. } => {
            unconditional_parts(a, out);
            unconditional_parts(b, out);
        }
        ExprKind::Call { args, .. } => args.iter().for_each(|a| unconditional_parts(a, out)),
        _ => {
            let Some((place, ..)) = accessed_place(e) else { return };
            let mut place = place;
            while let PlaceKind::Field { base, .. } = &place.kind {
                place = base;
            }
            match &place.kind {
                PlaceKind::Deref(pointer) => unconditional_parts(pointer, out),
                _ => out.push(e),
            }
            match &e.kind {
                ExprKind::Assign(_, value)
                | ExprKind::AssignOp { value, .. }
                | ExprKind::PtrAssign { index: value, .. } => unconditional_parts(value, out),
                _ => {}
            }
        }
    }
}

/// The loop statement with its surrounding loops, outermost first.
pub struct Found<'a> {
    /// The loop.
    pub the_loop: &'a LoopStmt,
    /// Loops around it.
    pub outer: Vec<LoopId>,
}

/// All loops of a function in source order; those that stand in its text.
pub fn loops(function: &Function) -> Vec<Found<'_>> {
    fn walk<'a>(statement: &'a Stmt, outer: &mut Vec<LoopId>, out: &mut Vec<Found<'a>>) {
        match &statement.kind {
            StmtKind::Block(list) => list.iter().for_each(|s| walk(s, outer, out)),
            StmtKind::If { then, otherwise, .. } => {
                walk(then, outer, out);
                if let Some(otherwise) = otherwise {
                    walk(otherwise, outer, out);
                }
            }
            StmtKind::Loop(l) => {
                if !l.is_copy {
                    out.push(Found { the_loop: l, outer: outer.clone() });
                }
                outer.push(l.id);
                walk(&l.body, outer, out);
                outer.pop();
            }
            StmtKind::Switch { body, .. } | StmtKind::Case { body, .. } | StmtKind::Label { body, .. } => {
                walk(body, outer, out);
            }
            _ => {}
        }
    }
    let mut out = Vec::new();
    walk(&function.body, &mut Vec::new(), &mut out);
    out
}

/// The loop that is all of a body.
pub fn perfect(body: &Stmt) -> Option<&LoopStmt> {
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

/// Why a loop's body can't be run elsewhere as a piece, if so: ways in and out, and statements that a device has no answer
/// to. `break` and `continue` of inner loops are fine, `continue` of the loop itself too.
pub fn unsupported_control(body: &Stmt) -> Option<Reason> {
    fn walk(statement: &Stmt, inner: bool) -> Option<Reason> {
        let line = statement.span.line;
        match &statement.kind {
            StmtKind::Block(list) => list.iter().find_map(|s| walk(s, inner)),
            StmtKind::If { then, otherwise, .. } => {
                walk(then, inner).or_else(|| otherwise.as_ref().and_then(|s| walk(s, inner)))
            }
            StmtKind::Loop(l) => {
                if l.init.iter().any(|s| matches!(s.kind, StmtKind::Block(_))) {
                    return Some("it has an inner loop that starts in an unusual way".into());
                }
                walk(&l.body, true)
            }
            StmtKind::Break if !inner => {
                Some(Reason::new(Kind::EarlyExit, format!("it leaves the loop early in line {line}")))
            }
            StmtKind::Return(_) => {
                Some(Reason::new(Kind::EarlyExit, format!("it returns from inside the loop in line {line}")))
            }
            StmtKind::Goto(_) => Some(format!("it jumps in line {line}").into()),
            StmtKind::Label { .. } => Some(format!("it has a label in line {line}").into()),
            StmtKind::Switch { .. } | StmtKind::Case { .. } => {
                let reason = Reason::from(format!("it has a switch in line {line}"));
                Some(reason.settled_by([Advice::IfForSwitch]))
            }
            StmtKind::Opaque(what) => Some(format!("it has {what} in line {line}").into()),
            _ => None,
        }
    }
    walk(body, false)
}
