//! Counted loops: `for` statements whose trip count is known at entry.
//!
//! The induction variable is an integer of at most 64 bits that is set once, compared with a value that does not change, and
//! moved by a constant. Everything else is not counted, with the reason.

use super::nest;
use super::plan::Relation;
use crate::c::hir::*;
use crate::c::types::plain;

/// What a counted loop's head says.
#[derive(Clone, Debug)]
pub struct Counted {
    /// The loop.
    pub id: LoopId,
    /// Its induction variable.
    pub iv: VarId,
    /// Whether it is declared in the loop's first clause.
    pub iv_local: bool,
    /// Its type.
    pub kind: IntKind,
    /// First value, of the variable's type.
    pub first: Expr,
    /// What is added each time.
    pub step: i64,
    /// What it is compared with.
    pub limit: Expr,
    /// How.
    pub relation: Relation,
    /// Type in which the comparison is made.
    pub compare: IntKind,
    /// What else the step does (`i++, p++`).
    pub other_steps: Vec<Expr>,
}

/// Strips conversions that keep the value of an integer variable, given that it is not negative where the whole expression is
/// unsigned: that, and that the variable never wraps, is checked at entry when the trip count is computed.
fn strip<'a>(types: &Types, expr: &'a Expr) -> &'a Expr {
    let is_unsigned = types.as_int(expr.ty.ty).is_some_and(|kind| !kind.signed());
    let mut expr = expr;
    while let ExprKind::Cast(inner) = &expr.kind {
        let (Some(outer), Some(from)) = (types.as_int(expr.ty.ty), types.as_int(inner.ty.ty)) else { break };
        let is_wide = outer.size() > from.size() && (outer.signed() || !from.signed())
            || outer.size() == from.size() && outer.signed() == from.signed();
        let is_positive = is_unsigned && outer.size() >= from.size() && !outer.signed();
        if outer == IntKind::Bool || !is_wide && !is_positive {
            break;
        }
        expr = inner;
    }
    expr
}

fn loaded_variable(types: &Types, expr: &Expr) -> Option<VarId> {
    match &strip(types, expr).kind {
        ExprKind::Load(Place { kind: PlaceKind::Var(v), .. }) => Some(*v),
        _ => None,
    }
}

/// Reads a loop's head.
pub fn counted(unit: &TranslationUnit, l: &LoopStmt) -> Result<Counted, String> {
    let types = &unit.types;
    if l.keyword != LoopKeyword::For {
        return Err("not a counted loop: only for statements are counted".into());
    }
    let cond = l.cond.as_ref().ok_or("not a counted loop: it has no condition")?;
    let step = l.step.as_ref().ok_or("not a counted loop: it has no step")?;
    // The last thing that the first clause sets is the induction variable; other settings are not supported.
    let (iv, iv_local, first) = match &l.init[..] {
        [Stmt { kind: StmtKind::Declare { var, init: Some(Init::Scalar(value)) }, .. }] => {
            (*var, true, value.clone())
        }
        [Stmt { kind: StmtKind::Expr(Expr { kind: ExprKind::Assign(place, value), .. }), .. }] => {
            match place.kind {
                PlaceKind::Var(v) => (v, false, (**value).clone()),
                _ => return Err("not a counted loop: what it sets first is no variable".into()),
            }
        }
        [] => return Err("not a counted loop: it sets no variable first".into()),
        _ => return Err("not a counted loop: it sets several variables".into()),
    };
    let variable = unit.var(iv);
    let name = &variable.name;
    let kind = types
        .as_int(variable.ty.ty)
        .filter(|k| k.size() <= 8 && *k != IntKind::Bool)
        .ok_or_else(|| format!("not a counted loop: {name} is no integer variable"))?;
    if !matches!(variable.storage, Storage::Local | Storage::Param) || variable.address_taken {
        return Err(format!("not a counted loop: {name} may be changed through memory"));
    }
    if variable.ty.quals.is_volatile || variable.ty.quals.is_atomic {
        return Err(format!("not a counted loop: {name} is volatile or atomic"));
    }
    let mut other_steps = Vec::new();
    comma_parts(step, &mut other_steps);
    let moves: Vec<i64> = other_steps.iter().filter_map(|part| step_of(types, part, iv)).collect();
    let [step] = moves[..] else {
        return Err(format!("not a counted loop: {name} does not move by a constant"));
    };
    other_steps.retain(|part| step_of(types, part, iv).is_none());
    let ExprKind::Binary(op, left, right) = &cond.kind else {
        return Err("not a counted loop: its condition is no comparison".into());
    };
    let (limit, flipped) =
        match (loaded_variable(types, left) == Some(iv), loaded_variable(types, right) == Some(iv)) {
            (true, false) => (right, false),
            (false, true) => (left, true),
            _ => return Err(format!("not a counted loop: {name} is not compared with a limit")),
        };
    let relation = match (op, flipped) {
        (BinOp::Lt, false) | (BinOp::Gt, true) => Relation::Lt,
        (BinOp::Le, false) | (BinOp::Ge, true) => Relation::Le,
        (BinOp::Gt, false) | (BinOp::Lt, true) => Relation::Gt,
        (BinOp::Ge, false) | (BinOp::Le, true) => Relation::Ge,
        (BinOp::Ne, _) => Relation::Ne,
        _ => return Err("not a counted loop: its condition is no comparison that counting ends".into()),
    };
    let compare = types.as_int(left.ty.ty).ok_or("not a counted loop: its comparison is not of integers")?;
    let upward = matches!(relation, Relation::Lt | Relation::Le);
    let downward = matches!(relation, Relation::Gt | Relation::Ge);
    if upward && step < 0 || downward && step > 0 {
        return Err(format!("not a counted loop: {name} moves away from its limit"));
    }
    let mut changed = false;
    nest::all_expressions(&l.body, &mut |e| {
        if let Some((place, _, true)) = nest::accessed_place(e) {
            changed |= nest::root_variable(place) == Some(iv);
        }
    });
    for part in &other_steps {
        nest::expressions(part, &mut |e| {
            if let Some((place, _, true)) = nest::accessed_place(e) {
                changed |= nest::root_variable(place) == Some(iv);
            }
        });
    }
    nest::expressions(cond, &mut |e| changed |= nest::accessed_place(e).is_some_and(|(_, _, writes)| writes));
    if changed {
        return Err(format!("not a counted loop: {name} is changed in its body or condition"));
    }
    Ok(Counted {
        id: l.id,
        iv,
        iv_local,
        kind,
        first: Expr { ty: plain(variable.ty.ty), ..first },
        step,
        limit: (**limit).clone(),
        relation,
        compare,
        other_steps,
    })
}

fn comma_parts(e: &Expr, parts: &mut Vec<Expr>) {
    match &e.kind {
        ExprKind::Comma(a, b) => {
            comma_parts(a, parts);
            comma_parts(b, parts);
        }
        ExprKind::Cast(inner) if matches!(inner.kind, ExprKind::Comma(..)) => comma_parts(inner, parts),
        _ => parts.push(e.clone()),
    }
}

/// The constant that a step expression adds to `iv`.
fn step_of(types: &Types, step: &Expr, iv: VarId) -> Option<i64> {
    let is_iv = |p: &Place| matches!(p.kind, PlaceKind::Var(v) if v == iv);
    let number = |e: &Expr| crate::c::constant::fold(types, e).and_then(|v| i64::try_from(v).ok());
    let result = match &step.kind {
        ExprKind::IncDec { place, amount, .. } if is_iv(place) => Some(*amount),
        ExprKind::AssignOp { op: BinOp::Add, place, value, .. } if is_iv(place) => number(value),
        ExprKind::AssignOp { op: BinOp::Sub, place, value, .. } if is_iv(place) => {
            number(value)?.checked_neg()
        }
        ExprKind::Assign(place, value) if is_iv(place) => {
            let mut value = &**value;
            let size = types.as_int(place.ty.ty)?.size();
            while let ExprKind::Cast(inner) = &value.kind {
                // Nothing of the sum may get lost on the way to the variable.
                types.as_int(value.ty.ty).filter(|kind| *kind != IntKind::Bool && kind.size() >= size)?;
                value = inner;
            }
            match &value.kind {
                ExprKind::Binary(BinOp::Add, a, b) if loaded_variable(types, a) == Some(iv) => number(b),
                ExprKind::Binary(BinOp::Add, a, b) if loaded_variable(types, b) == Some(iv) => number(a),
                ExprKind::Binary(BinOp::Sub, a, b) if loaded_variable(types, a) == Some(iv) => {
                    number(b)?.checked_neg()
                }
                _ => None,
            }
        }
        _ => None,
    };
    result.filter(|s| *s != 0 && s.abs() <= 1 << 30)
}
