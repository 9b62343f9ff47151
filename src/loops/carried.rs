//! Scalars that an iteration takes over from the one before, and that could be computed anew (wrap-around variables): in
//! `for (...) { d[i] = x[i] - last; last = x[i]; }` each iteration may load `x[i - 1]` instead.
//!
//! A scalar counts if a body assigns it once, in every iteration, a value without side effects, of the induction variable,
//! of what the loop doesn't change, of memory, and of other scalars of which the same can be said; and if something reads it
//! before. The result is statements that come in front of an iteration: each gives such a scalar what it held at entry, in
//! the first iteration, and otherwise the value of the iteration before. Their loads are accesses like any other: that no
//! other iteration stores there is tested as for all of them. So this module need not know what the loop stores.

use super::counted::Counted;
use super::nest;
use super::scalars::is_scalar;
use crate::c::hir::*;
use std::collections::BTreeSet;

/// How many iterations back a value may come from.
const FARTHEST: i64 = 3;
/// Expressions that what comes in front of an iteration may have.
const LARGEST: usize = 200;

/// What comes in front of an iteration.
#[derive(Clone, Debug, Default)]
pub struct Prelude {
    /// Assignments to `variables`; they don't use each other's results.
    pub statements: Vec<Stmt>,
    /// The scalars.
    pub variables: BTreeSet<VarId>,
    /// Occurrences that stand for a scalar's value at entry.
    pub at_entry: Vec<(PlaceId, VarId)>,
}

/// Finds the scalars of a loop that stands for itself. Places are numbered downwards from the highest number: no other
/// occurrence in a unit has these.
pub fn find(unit: &TranslationUnit, head: &Counted, l: &LoopStmt, body: &Stmt) -> Prelude {
    let nothing = Prelude::default();
    let leaves = {
        let mut leaves = false;
        nest::statements(body, &mut |s| {
            leaves |= matches!(
                s.kind,
                StmtKind::Continue | StmtKind::Break | StmtKind::Return(_) | StmtKind::Leave(_)
            );
        });
        leaves
    };
    if leaves || head.control.is_some() || head.kind.size() < 4 {
        return nothing;
    }
    let mut finder = Finder {
        unit,
        head,
        statements: Vec::new(),
        written: nest::set_in_turns(l),
        declared: BTreeSet::new(),
        next_place: u32::MAX - 1,
        room: LARGEST,
        at_entry: Vec::new(),
    };
    flatten(body, &mut finder.statements);
    nest::statements(&l.body, &mut |s| {
        if let StmtKind::Declare { var, .. } = &s.kind {
            finder.declared.insert(*var);
        }
    });
    let mut prelude = nothing;
    for (at, v) in finder.candidates() {
        let Some(value) = finder.before_start(v, 0) else { continue };
        let span = finder.statements[at].span;
        let place = finder.place(v, span);
        let ty = QualType { ty: unit.var(v).ty.ty, quals: Quals::default() };
        let assign = Expr { kind: ExprKind::Assign(place, Box::new(value)), ty, span };
        prelude.statements.push(Stmt { kind: StmtKind::Expr(assign), span });
        prelude.variables.insert(v);
    }
    // Some belong to values that were given up.
    let mut used = BTreeSet::new();
    prelude.statements.iter().for_each(|s| {
        nest::all_expressions(s, &mut |e| {
            if let ExprKind::Load(place) = &e.kind {
                used.insert(place.id);
            }
        });
    });
    prelude.at_entry = finder.at_entry.into_iter().filter(|(place, _)| used.contains(place)).collect();
    let known = prelude.at_entry.iter().all(|(_, v)| prelude.variables.contains(v));
    if known { prelude } else { Prelude::default() }
}

/// The statements of a body that every iteration comes to, in order.
fn flatten<'a>(s: &'a Stmt, out: &mut Vec<&'a Stmt>) {
    match &s.kind {
        StmtKind::Block(list) => list.iter().for_each(|s| flatten(s, out)),
        _ => out.push(s),
    }
}

struct Finder<'a> {
    unit: &'a TranslationUnit,
    head: &'a Counted,
    statements: Vec<&'a Stmt>,
    /// Variables that the loop assigns.
    written: BTreeSet<VarId>,
    /// Variables that it declares: they carry nothing, and have no name outside of it.
    declared: BTreeSet<VarId>,
    next_place: u32,
    room: usize,
    at_entry: Vec<(PlaceId, VarId)>,
}

impl<'a> Finder<'a> {
    /// The scalars that are assigned once, by a statement that is nothing else, and read before: with that statement.
    fn candidates(&self) -> Vec<(usize, VarId)> {
        let mut found = Vec::new();
        for (at, s) in self.statements.iter().enumerate() {
            if let StmtKind::Expr(Expr { kind: ExprKind::Assign(place, _), .. }) = &s.kind
                && let Some(v) = is_scalar(self.unit, place)
                && v != self.head.iv
                && !self.declared.contains(&v)
                && self.assignment(v).is_some()
                && self.statements[..at].iter().any(|s| reads(s, v))
                && !matches!(self.unit.types.kind(place.ty.ty), TypeKind::Pointer(_))
            {
                found.push((at, v));
            }
        }
        found
    }

    /// The only assignment of a scalar, if every iteration executes it: where, and the value.
    fn assignment(&self, v: VarId) -> Option<(usize, &'a Expr)> {
        let mut all = 0;
        let mut found = None;
        for (at, s) in self.statements.iter().enumerate() {
            nest::all_expressions(s, &mut |e| {
                if let Some((place, _, true)) = nest::accessed_place(e) {
                    all += usize::from(nest::root_variable(place) == Some(v));
                }
            });
            match &s.kind {
                StmtKind::Expr(Expr { kind: ExprKind::Assign(place, value), .. }) if matches!(place.kind, PlaceKind::Var(x) if x == v) =>
                {
                    found = Some((at, &**value));
                }
                StmtKind::Declare { var, init: Some(Init::Scalar(value)) } if *var == v => {
                    all += 1;
                    found = Some((at, value));
                }
                _ => {}
            }
        }
        found.filter(|_| all == 1)
    }

    fn place(&mut self, v: VarId, span: Span) -> Place {
        self.next_place -= 1;
        Place { id: PlaceId(self.next_place), kind: PlaceKind::Var(v), ty: self.unit.var(v).ty, span }
    }

    fn int(&self, e: &Expr) -> QualType {
        QualType { ty: e.ty.ty, quals: Quals::default() }
    }

    /// The induction variable `back` iterations ago.
    fn earlier(&mut self, load: &Expr, back: i64) -> Option<Expr> {
        if back == 0 {
            return Some(load.clone());
        }
        let distance = self.head.step.checked_mul(back)?;
        let ty = self.int(load);
        let amount = Expr { kind: ExprKind::Int(i128::from(distance)), ty, span: load.span };
        let place = self.place(self.head.iv, load.span);
        let load = Expr { kind: ExprKind::Load(place), ty, span: load.span };
        let kind = ExprKind::Binary(BinOp::Sub, Box::new(load), Box::new(amount));
        Some(Expr { kind, ty, span: self.head.first.span })
    }

    /// What a scalar held at the start of the iteration `back` iterations ago.
    fn before_start(&mut self, v: VarId, back: i64) -> Option<Expr> {
        if back >= FARTHEST {
            return None;
        }
        let (at, value) = self.assignment(v)?;
        let ago = self.value(value, at, back + 1)?;
        let span = value.span;
        let ty = QualType { ty: self.unit.var(v).ty.ty, quals: Quals::default() };
        let place = self.place(v, span);
        self.at_entry.push((place.id, v));
        let entry = Expr { kind: ExprKind::Load(place), ty, span };
        // That iteration is the first one.
        let iv = self.head.iv;
        let counter = QualType { ty: self.unit.var(iv).ty.ty, quals: Quals::default() };
        let place = self.place(iv, span);
        let now = Expr { kind: ExprKind::Load(place), ty: counter, span };
        let then = self.earlier(&now, back)?;
        let first = self.head.first.clone();
        if first.ty.ty != then.ty.ty || !self.is_plain(&first) {
            return None;
        }
        let first = self.value(&first, 0, 0)?;
        let int = QualType { ty: self.unit.types.find_int(IntKind::Int)?, quals: Quals::default() };
        let is_first =
            Expr { kind: ExprKind::Binary(BinOp::Eq, Box::new(then), Box::new(first)), ty: int, span };
        let kind = ExprKind::Conditional(Box::new(is_first), Box::new(entry), Box::new(ago));
        Some(Expr { kind, ty, span })
    }

    /// Whether an expression is made of scalars that the loop doesn't change, and of numbers.
    fn is_plain(&self, e: &Expr) -> bool {
        let mut plain = true;
        nest::expressions(e, &mut |e| {
            plain &= match &e.kind {
                ExprKind::Load(place) => {
                    is_scalar(self.unit, place).is_some_and(|v| !self.written.contains(&v))
                }
                ExprKind::Int(_) | ExprKind::Cast(_) | ExprKind::Unary(..) => true,
                ExprKind::Binary(op, ..) => matches!(op, BinOp::Add | BinOp::Sub | BinOp::Mul),
                _ => false,
            };
        });
        plain
    }

    /// The value that an expression of the statement at `at` had `back` iterations ago.
    fn value(&mut self, e: &Expr, at: usize, back: i64) -> Option<Expr> {
        self.room = self.room.checked_sub(1)?;
        if let ExprKind::Load(place) = &e.kind
            && let Some(v) = is_scalar(self.unit, place)
        {
            if place.ty.quals.is_volatile || place.ty.quals.is_atomic {
                return None;
            }
            if v == self.head.iv {
                return self.earlier(e, back);
            }
            if !self.written.contains(&v) {
                let place = self.place(v, e.span);
                return Some(Expr { kind: ExprKind::Load(place), ty: e.ty, span: e.span });
            }
            let (assigned, value) = self.assignment(v)?;
            return match assigned < at {
                true => self.value(value, assigned, back),
                false => self.before_start(v, back),
            };
        }
        let kind = match &e.kind {
            ExprKind::Int(_) | ExprKind::Float(_) => e.kind.clone(),
            ExprKind::Load(place) => ExprKind::Load(self.place_value(place, at, back)?),
            ExprKind::AddressOf(place) => ExprKind::AddressOf(self.place_value(place, at, back)?),
            ExprKind::Unary(op, a) => ExprKind::Unary(*op, Box::new(self.value(a, at, back)?)),
            ExprKind::Cast(a) => ExprKind::Cast(Box::new(self.value(a, at, back)?)),
            ExprKind::Binary(op, a, b) if !matches!(op, BinOp::Div | BinOp::Rem) || !self.is_int(e) => {
                ExprKind::Binary(*op, Box::new(self.value(a, at, back)?), Box::new(self.value(b, at, back)?))
            }
            ExprKind::PtrAdd { pointer, index, stride } => ExprKind::PtrAdd {
                pointer: Box::new(self.value(pointer, at, back)?),
                index: Box::new(match self.is_induction(index) {
                    true => self.signed_index(index, back)?,
                    false => self.value(index, at, back)?,
                }),
                stride: *stride,
            },
            _ => return None,
        };
        Some(Expr { kind, ty: e.ty, span: e.span })
    }

    fn is_induction(&self, e: &Expr) -> bool {
        matches!(&e.kind, ExprKind::Load(Place { kind: PlaceKind::Var(v), .. }) if *v == self.head.iv)
    }

    /// The induction variable `back` iterations ago as an index. In the first iterations that is no value of an unsigned
    /// type (it isn't used then, but the whole range of a subscript is looked at).
    fn signed_index(&mut self, load: &Expr, back: i64) -> Option<Expr> {
        if self.head.kind.signed() {
            return self.earlier(load, back);
        }
        let ty = QualType { ty: self.unit.types.find_int(IntKind::Long)?, quals: Quals::default() };
        let span = load.span;
        let kind = ExprKind::Int(i128::from(self.head.step.checked_mul(back)?));
        let amount = Box::new(Expr { kind, ty, span });
        let load = Box::new(self.earlier(load, 0)?);
        let wide = Box::new(Expr { kind: ExprKind::Cast(load), ty, span });
        Some(Expr { kind: ExprKind::Binary(BinOp::Sub, wide, amount), ty, span })
    }

    fn is_int(&self, e: &Expr) -> bool {
        self.unit.types.as_int(e.ty.ty).is_some()
    }

    fn place_value(&mut self, place: &Place, at: usize, back: i64) -> Option<Place> {
        let kind = match &place.kind {
            PlaceKind::Var(v) if is_scalar(self.unit, place).is_none() && !self.declared.contains(v) => {
                PlaceKind::Var(*v)
            }
            PlaceKind::Deref(e) => PlaceKind::Deref(Box::new(self.value(e, at, back)?)),
            PlaceKind::Field { base, record, field, offset, bits: None } => PlaceKind::Field {
                base: Box::new(self.place_value(base, at, back)?),
                record: *record,
                field: *field,
                offset: *offset,
                bits: None,
            },
            _ => return None,
        };
        self.next_place -= 1;
        Some(Place { id: PlaceId(self.next_place), kind, ty: place.ty, span: place.span })
    }
}

fn reads(s: &Stmt, v: VarId) -> bool {
    let mut found = false;
    nest::all_expressions(s, &mut |e| {
        if let Some((place, true, _)) = nest::accessed_place(e) {
            found |= nest::root_variable(place) == Some(v);
        }
    });
    found
}
