//! Places in memory that a loop reads and writes at an address that it doesn't change (`s->sum += a[i]`, `c[0]`, a global
//! variable): kept in a variable while the loop runs, they are reductions like any other.
//!
//! [`find`] gives each such place a variable, [`held`] makes the loop that uses the variables. That nothing else in the loop
//! meets the places is not known here: `verdict` and the entry see to it. The variable starts with the operation's identity
//! and is combined with the place after the loop, if it has changed by then: so nothing is touched that the loop would not
//! touch.

use super::access::describe;
use super::scalars::{is_scalar, same_place};
use super::{nest, private, reductions};
use crate::c::hir::*;
use std::collections::BTreeSet;

/// More places than this in one loop are left as they are.
const MOST: usize = 16;

/// Gives the places of all loops their variables.
pub fn find(unit: &mut TranslationUnit) {
    let mut found = Vec::new();
    for function in &unit.functions {
        for found_loop in nest::loops(function) {
            let l = found_loop.the_loop;
            let mut places = places_of(unit, l);
            // What leads to a place may be a member, and a variable where that stands for it.
            let others =
                unit.by_members.get(&l.id).map_or_else(Vec::new, |by_members| places_of(unit, by_members));
            for place in others {
                if !places.iter().any(|known| is_one(known, &place)) {
                    places.push(place);
                }
            }
            if !places.is_empty() {
                found.push((l.id, places));
            }
        }
    }
    for (id, places) in found {
        let mut cells = Vec::new();
        for place in places {
            let var = unit.new_variable(&describe(unit, &place), place.ty, place.span);
            cells.push(Cell { var, place });
        }
        unit.cells.insert(id, cells);
    }
}

/// One occurrence of each place that the loop assigns and that could be kept in a variable.
fn places_of(unit: &TranslationUnit, l: &LoopStmt) -> Vec<Place> {
    let mut written = BTreeSet::new();
    let mut assigned: Vec<&Place> = Vec::new();
    nest::all_expressions(&l.body, &mut |e| {
        if let Some((place, _, true)) = nest::accessed_place(e) {
            written.extend(nest::root_variable(place));
            if is_scalar(unit, place).is_none() && !assigned.iter().any(|known| is_one(known, place)) {
                assigned.push(place);
            }
        }
    });
    if assigned.is_empty() {
        return Vec::new();
    }
    let mut in_head = Vec::new();
    let mut note = |e: &Expr| {
        if let Some((place, _, writes)) = nest::accessed_place(e) {
            in_head.push(place.clone());
            if writes {
                written.extend(nest::root_variable(place));
            }
        }
    };
    l.cond.iter().chain(&l.step).for_each(|e| nest::expressions(e, &mut note));
    l.init.iter().for_each(|s| nest::all_expressions(s, &mut note));
    let mut own = BTreeSet::new();
    let mut declared = |s: &Stmt| {
        if let StmtKind::Declare { var, .. } = s.kind {
            written.insert(var);
            own.insert(var);
        }
    };
    nest::statements(&l.body, &mut declared);
    l.init.iter().for_each(|s| nest::statements(s, &mut declared));
    // What each iteration has for itself carries nothing.
    let is_own =
        |place: &Place| private::part(&unit.types, place).is_some_and(|part| own.contains(&part.var));
    let eligible = |place: &&Place| {
        is_plain_number(unit, place)
            && !is_own(place)
            && has_fixed_address(unit, place, &written)
            && !in_head.iter().any(|other| is_one(other, place))
    };
    assigned.into_iter().filter(eligible).take(MOST).cloned().collect()
}

/// Whether two occurrences are one place, read as one type: members of a union may lie at one address.
fn is_one(a: &Place, b: &Place) -> bool {
    a.ty.ty == b.ty.ty && same_place(a, b)
}

fn is_plain_number(unit: &TranslationUnit, place: &Place) -> bool {
    let types = &unit.types;
    let mut whole = place;
    loop {
        if whole.ty.quals.is_volatile || whole.ty.quals.is_atomic {
            return false;
        }
        match &whole.kind {
            PlaceKind::Field { bits: None, base, .. } => whole = base,
            PlaceKind::Var(v) if unit.var(*v).storage == Storage::ThreadLocal => return false,
            PlaceKind::Var(_) | PlaceKind::Deref(_) => break,
            _ => return false,
        }
    }
    match (types.as_int(place.ty.ty), types.as_float(place.ty.ty)) {
        (Some(kind), _) => kind.size() <= 8 && kind != IntKind::Bool,
        (_, float) => matches!(float, Some(FloatKind::Float | FloatKind::Double)),
    }
}

/// Whether a place is found by nothing but constants, variables that the loop doesn't assign, and addresses.
fn has_fixed_address(unit: &TranslationUnit, place: &Place, written: &BTreeSet<VarId>) -> bool {
    let mut fixed = true;
    nest::place_expressions(place, &mut |e| {
        fixed &= match &e.kind {
            ExprKind::Load(p) => {
                let v = is_scalar(unit, p).or_else(|| nest::root_variable(p));
                let quals = p.ty.quals;
                !quals.is_volatile && !quals.is_atomic && v.is_some_and(|v| !written.contains(&v))
            }
            ExprKind::Int(_) | ExprKind::AddressOf(_) | ExprKind::PtrAdd { .. } | ExprKind::Cast(_) => true,
            ExprKind::Binary(op, ..) => matches!(op, BinOp::Add | BinOp::Sub | BinOp::Mul),
            ExprKind::Unary(UnOp::Neg, _) => true,
            _ => false,
        };
    });
    fixed
}

/// The loop with variables for those of its places that it only combines by one operation, or replaces by what compares
/// with them in one way. `None`: it has no such place.
pub fn held(unit: &TranslationUnit, l: &LoopStmt) -> Option<LoopStmt> {
    let cells = unit.cells(l.id);
    if cells.is_empty() {
        return None;
    }
    let whole = replaced(l, cells);
    let mut kept = BTreeSet::new();
    for cell in cells {
        if reductions::reduction(unit, &whole.body, cell.var).is_some() {
            kept.insert(cell.var);
        } else if let Some(extreme) = reductions::extreme(unit, &whole.body, cell.var)
            && (is_always_there(unit, &cell.place) || surely_reads(&whole.body, cell.var) == Some(true))
        {
            // What the place holds is asked for at entry, where the loop would have asked for it first thing.
            kept.insert(cell.var);
            kept.extend(extreme.companions);
        }
    }
    let cells: Vec<Cell> = cells.iter().filter(|cell| kept.contains(&cell.var)).cloned().collect();
    (!cells.is_empty()).then(|| replaced(l, &cells))
}

/// Whether a place is part of a named object that is there: a weak one that nobody defines is not.
fn is_always_there(unit: &TranslationUnit, place: &Place) -> bool {
    let is_there = |place: &Place| nest::root_variable(place).is_none_or(|v| !unit.replaceable.contains(&v));
    let mut named = is_there(place);
    nest::place_expressions(place, &mut |e| {
        named &= match &e.kind {
            ExprKind::Load(_) => false,
            ExprKind::AddressOf(of) => is_there(of),
            _ => true,
        }
    });
    named
}

/// Whether each iteration reads `v`. `None`: it may have been left before that.
fn surely_reads(s: &Stmt, v: VarId) -> Option<bool> {
    fn evaluates(e: &Expr, v: VarId) -> bool {
        match &e.kind {
            ExprKind::Load(place) => matches!(place.kind, PlaceKind::Var(x) if x == v),
            ExprKind::LogicalAnd(a, _) | ExprKind::LogicalOr(a, _) | ExprKind::Conditional(a, ..) => {
                evaluates(a, v)
            }
            ExprKind::Unary(_, a) | ExprKind::Cast(a) | ExprKind::Assign(_, a) => evaluates(a, v),
            ExprKind::Binary(_, a, b) => evaluates(a, v) || evaluates(b, v),
            _ => false,
        }
    }
    let mut leaves = false;
    nest::statements(s, &mut |s| {
        leaves |= matches!(s.kind, StmtKind::Continue | StmtKind::Break | StmtKind::Leave(_));
    });
    match &s.kind {
        StmtKind::Block(list) => {
            for s in list {
                match surely_reads(s, v) {
                    Some(false) => {}
                    answer => return answer,
                }
            }
            Some(false)
        }
        StmtKind::Expr(e) | StmtKind::If { cond: e, .. } if evaluates(e, v) => Some(true),
        _ => (!leaves).then_some(false),
    }
}

/// The loop with variables instead of places.
fn replaced(l: &LoopStmt, cells: &[Cell]) -> LoopStmt {
    let mut l = l.clone();
    nest::change_statement(&mut l.body, &mut Variables(cells));
    l
}

/// Puts variables in the place of those cells that are accessed. An address is no access.
struct Variables<'a>(&'a [Cell]);

impl nest::Change for Variables<'_> {
    fn place(&mut self, p: &mut Place, accessed: bool) -> bool {
        let cell = self.0.iter().find(|cell| accessed && is_one(&cell.place, p));
        if let Some(cell) = cell {
            p.kind = PlaceKind::Var(cell.var);
        }
        cell.is_none()
    }
}
