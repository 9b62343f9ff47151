//! Parts of expressions that are to stand in front of the statements in which they stand: calls that are replaced by bodies
//! ([`super::inline`]), statement expressions ([`super::full_expressions`]). What a condition decides about comes under that condition.
//!
//! Here is only the way to them, in which nothing changes its place but what is taken out. Whether something may be taken out, its user knows.

use super::nest;
use super::scalars::is_scalar;
use crate::c::hir::*;

/// What takes parts out of expressions.
pub trait Hoist {
    /// The unit that is changed.
    fn unit(&mut self) -> &mut TranslationUnit;
    /// May put what a call or an opaque expression does behind `before`, and its value where it stood. `alone`: it is all that its statement
    /// does, perhaps converted or assigned to a variable.
    fn replace(&mut self, e: &mut Expr, alone: bool, before: &mut Vec<Stmt>);
}

/// Visits what may be taken out of an expression, innermost first.
pub fn take(hoist: &mut dyn Hoist, e: &mut Expr, alone: bool, before: &mut Vec<Stmt>) {
    match &mut e.kind {
        ExprKind::Unary(_, a) => take(hoist, a, false, before),
        ExprKind::Cast(a) => take(hoist, a, alone, before),
        ExprKind::Binary(_, a, b)
        | ExprKind::PtrAdd { pointer: a, index: b, .. }
        | ExprKind::PtrDiff { left: a, right: b, .. } => {
            take(hoist, a, false, before);
            take(hoist, b, false, before);
        }
        // What is evaluated in any case comes first; what may not be, under the condition.
        ExprKind::Conditional(a, ..) | ExprKind::LogicalAnd(a, _) | ExprKind::LogicalOr(a, _) => {
            take(hoist, a, false, before);
            take_in_branches(hoist, e, before);
        }
        ExprKind::Load(place) | ExprKind::AddressOf(place) | ExprKind::IncDec { place, .. } => {
            take_in_place(hoist, place, before);
        }
        ExprKind::Assign(place, value) => {
            take_in_place(hoist, place, before);
            take(hoist, value, alone, before);
        }
        ExprKind::AssignOp { place, value, .. } | ExprKind::PtrAssign { place, index: value, .. } => {
            take_in_place(hoist, place, before);
            take(hoist, value, alone, before);
        }
        ExprKind::Call { callee: Callee::Named(_) | Callee::Builtin(_), args } => {
            args.iter_mut().for_each(|argument| take(hoist, argument, false, before));
            hoist.replace(e, alone, before);
        }
        ExprKind::Opaque(_) => hoist.replace(e, alone, before),
        _ => {}
    }
}

/// Takes out of what is evaluated under a condition: that becomes a branch, and the whole a variable.
fn take_in_branches(hoist: &mut dyn Hoist, e: &mut Expr, before: &mut Vec<Stmt>) {
    let (ty, span) = (QualType { quals: Quals::default(), ..e.ty }, e.span);
    let int = |value: i128| Expr { kind: ExprKind::Int(value), ty, span };
    let not = |e: Expr| Expr { kind: ExprKind::Unary(UnOp::Not, Box::new(e)), ty, span };
    let (cond, branches) = match &e.kind {
        ExprKind::Conditional(c, a, b) => ((**c).clone(), [(**a).clone(), (**b).clone()]),
        ExprKind::LogicalAnd(a, b) => ((**a).clone(), [not(not((**b).clone())), int(0)]),
        ExprKind::LogicalOr(a, b) => (not((**a).clone()), [not(not((**b).clone())), int(1)]),
        _ => return,
    };
    let mut taken = false;
    let branches = branches.map(|mut value| {
        let mut list = Vec::new();
        take(hoist, &mut value, false, &mut list);
        taken |= !list.is_empty();
        (list, value)
    });
    let unit = hoist.unit();
    if !taken || matches!(unit.types.kind(ty.ty), TypeKind::Void) {
        return;
    }
    let var = unit.new_variable("a conditional value", ty, span);
    let [then, otherwise] = branches.map(|(mut list, value)| {
        let kind = ExprKind::Assign(unit.new_place(PlaceKind::Var(var), ty, span), Box::new(value));
        list.push(Stmt { kind: StmtKind::Expr(Expr { kind, ty, span }), span });
        Box::new(Stmt { kind: StmtKind::Block(list), span })
    });
    before.push(Stmt { kind: StmtKind::Declare { var, init: None }, span });
    before.push(Stmt { kind: StmtKind::If { cond, then, otherwise: Some(otherwise) }, span });
    let place = unit.new_place(PlaceKind::Var(var), ty, span);
    *e = Expr { kind: ExprKind::Load(place), ty, span };
}

fn take_in_place(hoist: &mut dyn Hoist, place: &mut Place, before: &mut Vec<Stmt>) {
    match &mut place.kind {
        PlaceKind::Deref(e) => take(hoist, e, false, before),
        PlaceKind::Field { base, .. } => take_in_place(hoist, base, before),
        _ => {}
    }
}

/// Whether evaluating it changes anything.
pub fn has_effects(e: &Expr) -> bool {
    let mut found = false;
    nest::expressions(e, &mut |e| {
        found |= match &e.kind {
            ExprKind::Call { .. } | ExprKind::Opaque(_) => true,
            ExprKind::AddressOf(place) => nest::is_opaque(place),
            _ => nest::accessed_place(e).is_some_and(|(place, _, writes)| writes || nest::is_opaque(place)),
        };
    });
    found
}

/// Whether a value is the same wherever it stands among statements that assign none of its variables.
pub fn is_stable(unit: &TranslationUnit, e: &Expr) -> bool {
    let mut stable = true;
    nest::expressions(e, &mut |e| {
        stable &= match &e.kind {
            ExprKind::Load(place) => is_scalar(unit, place).is_some(),
            ExprKind::AddressOf(place) => !nest::is_opaque(place),
            ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::PtrAdd { .. }
            | ExprKind::Cast(_) => true,
            _ => false,
        };
    });
    stable
}
