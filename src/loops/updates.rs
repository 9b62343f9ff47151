//! Updates of memory by an operation that is associative and commutative on wrapping integers: `h[f(i)] += v`,
//! `table[k].bits |= m`, `count[x]++`. Updates of one kind may happen in any order, if each is made in one piece; so two of
//! them never keep iterations apart, whatever they hit.
//!
//! Not here: accumulated scalars (`loops::scalars`), and floating-point values, whose sums depend on the order: in pieces that
//! are atomic but in no order they would differ from run to run.

use crate::c::constant::fold;
use crate::c::hir::*;
use crate::loops::nest;
use crate::loops::plan::{ReductionOp, Update};
use crate::loops::scalars::{is_scalar, same_place};
use std::collections::BTreeMap;

/// What an update combines the old value with.
pub enum Operand<'a> {
    /// An expression's value; negated, where the statement subtracts it.
    Value {
        /// Of an integer type, at least as wide as the place's after promotion.
        value: &'a Expr,
        /// See above.
        negated: bool,
    },
    /// A constant (`++` and `--`).
    Constant(i64),
}

/// The parts of an update.
pub struct Parts<'a> {
    /// What is updated, where it is stored to.
    pub place: &'a Place,
    /// Where its old value is loaded.
    pub load: PlaceId,
    /// By what operation.
    pub op: ReductionOp,
    /// With what.
    pub operand: Operand<'a>,
}

/// The updates of a body, by the place that they store to.
pub fn find(unit: &TranslationUnit, body: &Stmt) -> BTreeMap<PlaceId, Update> {
    let mut found = BTreeMap::new();
    let mut has_loops = false;
    nest::statements(body, &mut |s| {
        has_loops |= matches!(s.kind, StmtKind::Loop(_));
        if let StmtKind::Expr(e) = &s.kind
            && let Some(parts) = parts(unit, e)
        {
            let step = step(unit, &parts);
            found.insert(parts.place.id, Update { op: parts.op, load: parts.load, step });
        }
    });
    if has_loops {
        found.values_mut().for_each(|update| update.step = 0);
    }
    found
}

/// What an update adds, if that is always the same small positive number; otherwise 0.
fn step(unit: &TranslationUnit, parts: &Parts) -> u8 {
    let number = match &parts.operand {
        Operand::Constant(number) => Some(i128::from(*number)),
        Operand::Value { value, negated: false } => fold(&unit.types, value),
        Operand::Value { .. } => None,
    };
    let number = number.filter(|number| parts.op == ReductionOp::Add && (1..=127).contains(number));
    number.map_or(0, |number| number as u8)
}

/// Takes a statement's expression apart, if it is an update of memory.
pub fn parts<'a>(unit: &TranslationUnit, e: &'a Expr) -> Option<Parts<'a>> {
    let parts = match &e.kind {
        ExprKind::Cast(inner) if matches!(unit.types.kind(e.ty.ty), TypeKind::Void) => {
            return self::parts(unit, inner);
        }
        ExprKind::AssignOp { op, place, value, compute } => {
            unit.types.as_int(compute.ty)?;
            let (op, negated) = operation(*op)?;
            Parts { place, load: place.id, op, operand: Operand::Value { value, negated } }
        }
        ExprKind::IncDec { place, amount, .. } => {
            Parts { place, load: place.id, op: ReductionOp::Add, operand: Operand::Constant(*amount) }
        }
        ExprKind::Assign(place, value) => {
            // `h[k] = h[k] + v`: conversions around it, and wider arithmetic, only drop bits that are never carried down.
            let size = unit.types.as_int(place.ty.ty)?.size();
            let mut value: &Expr = value;
            while let ExprKind::Cast(inner) = &value.kind {
                integer(unit, value).filter(|kind| kind.size() >= size)?;
                value = inner;
            }
            integer(unit, value).filter(|kind| kind.size() >= size)?;
            let ExprKind::Binary(op, a, b) = &value.kind else { return None };
            let (op, negated) = operation(*op)?;
            let (load, value) = match (loads(unit, a, place), loads(unit, b, place)) {
                (Some(load), None) => (load, b),
                (None, Some(load)) if !negated => (load, a),
                _ => return None,
            };
            Parts { place, load, op, operand: Operand::Value { value, negated } }
        }
        _ => return None,
    };
    let plain = |place: &Place| {
        let mut plain = is_scalar(unit, place).is_none();
        nest::place_expressions(place, &mut |e| {
            plain &= !nest::accessed_place(e).is_some_and(|(_, _, writes)| writes);
            plain &= !matches!(e.kind, ExprKind::Call { .. });
        });
        plain
    };
    let operand_is_integer = match &parts.operand {
        Operand::Value { value, .. } => integer(unit, value).is_some(),
        Operand::Constant(_) => true,
    };
    let kind = unit.types.as_int(parts.place.ty.ty)?;
    let is_field = matches!(parts.place.kind, PlaceKind::Field { bits: Some(_), .. });
    (kind != IntKind::Bool && operand_is_integer && !is_field && plain(parts.place)).then_some(parts)
}

/// Integers but `_Bool`, which keeps only whether there is a bit.
fn integer(unit: &TranslationUnit, e: &Expr) -> Option<IntKind> {
    unit.types.as_int(e.ty.ty).filter(|kind| *kind != IntKind::Bool)
}

fn operation(op: BinOp) -> Option<(ReductionOp, bool)> {
    Some(match op {
        BinOp::Add => (ReductionOp::Add, false),
        BinOp::Sub => (ReductionOp::Add, true),
        BinOp::Mul => (ReductionOp::Mul, false),
        BinOp::And => (ReductionOp::And, false),
        BinOp::Or => (ReductionOp::Or, false),
        BinOp::Xor => (ReductionOp::Xor, false),
        _ => return None,
    })
}

/// The load, where an expression is the value of a place, at most widened or of another sign.
fn loads(unit: &TranslationUnit, e: &Expr, place: &Place) -> Option<PlaceId> {
    match &e.kind {
        ExprKind::Load(p) if same_place(p, place) => Some(p.id),
        ExprKind::Cast(inner) => {
            let (to, from) = (integer(unit, e)?, integer(unit, inner)?);
            if to.size() >= from.size() { loads(unit, inner, place) } else { None }
        }
        _ => None,
    }
}
