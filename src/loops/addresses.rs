//! Variables whose address only functions have that are copied to where they are called, or that move bytes (`memcpy(&bits, &number, sizeof bits)`): where nothing is
//! left of their addresses they are variables like any other.
//!
//! What counts as an address is what the text says ([`TranslationUnit::addresses`]). Some expressions the typed tree doesn't have; a variable whose address is taken in
//! one of these is left alone.

use super::libm;
use super::nest;
use super::options::AnalysisOptions;
use crate::c::hir::*;
use std::collections::{BTreeMap, BTreeSet};

/// The variables whose addresses the tree has all.
pub struct Seen(BTreeSet<VarId>);

impl Seen {
    /// Before anything is changed.
    pub fn of(unit: &TranslationUnit) -> Seen {
        let mut found: BTreeMap<VarId, BTreeSet<u32>> = BTreeMap::new();
        for function in &unit.functions {
            addresses(&function.body, &mut |v, span| {
                found.entry(v).or_default().insert(span.start);
            });
        }
        let is_local = |v: VarId| matches!(unit.var(v).storage, Storage::Local | Storage::Param);
        let all = unit.addresses.iter().filter(|(v, taken)| {
            is_local(**v) && !unit.unseen.contains(v) && found.get(v).is_some_and(|found| found == *taken)
        });
        Seen(all.map(|(v, _)| *v).collect())
    }

    /// Forgets of variables that their address was taken where nothing is left of that.
    pub fn settle(&mut self, unit: &mut TranslationUnit) {
        let mut left = BTreeSet::new();
        for function in &unit.functions {
            addresses(&function.body, &mut |v, _| left.extend([v]));
        }
        for v in self.0.iter().filter(|v| !left.contains(v)) {
            unit.variables[v.0 as usize].address_taken = false;
        }
    }
}

/// Calls `visit` for each variable whose address stands below a statement, or that of a part of it.
fn addresses(body: &Stmt, visit: &mut dyn FnMut(VarId, Span)) {
    nest::all_expressions(body, &mut |e| {
        if let ExprKind::AddressOf(place) = &e.kind
            && let Some(v) = nest::root_variable(place)
        {
            visit(v, e.span);
        }
    });
}

/// Replaces calls of `memcpy` that copy a number or pointer to another one of the same size.
pub fn copy_bytes(unit: &mut TranslationUnit, options: &AnalysisOptions) {
    for number in 0..unit.functions.len() {
        let mut calls = 0;
        nest::all_expressions(&unit.functions[number].body, &mut |e| {
            calls += usize::from(copied(unit, options, e).is_some());
        });
        if calls == 0 {
            continue;
        }
        let empty = Stmt { kind: StmtKind::Empty, span: Span::default() };
        let body = std::mem::replace(&mut unit.functions[number].body, empty);
        let body = statement(unit, options, body);
        unit.functions[number].body = body;
    }
}

fn statement(unit: &mut TranslationUnit, options: &AnalysisOptions, mut s: Stmt) -> Stmt {
    let mut boxed = |s: Box<Stmt>| Box::new(statement(unit, options, *s));
    s.kind = match s.kind {
        StmtKind::Block(list) => {
            StmtKind::Block(list.into_iter().map(|s| statement(unit, options, s)).collect())
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
        StmtKind::Expr(e) => match copied(unit, options, &e) {
            Some((to, from)) => StmtKind::Block(by_union(unit, to, from, e.span)),
            None => StmtKind::Expr(e),
        },
        other => other,
    };
    s
}

/// What a call copies as a whole, and where to.
fn copied(unit: &TranslationUnit, options: &AnalysisOptions, e: &Expr) -> Option<(Place, Place)> {
    let mut call = e;
    while let ExprKind::Cast(inner) = &call.kind {
        call = inner;
    }
    let ExprKind::Call { callee, args } = &call.kind else { return None };
    let [to, from, size] = args.as_slice() else { return None };
    let size = crate::c::constant::fold(&unit.types, size)?;
    if !libm::is_library(unit, options, callee, "memcpy") {
        return None;
    }
    let place = |e: &Expr| {
        let mut e = e;
        while let ExprKind::Cast(inner) = &e.kind {
            e = inner;
        }
        let ExprKind::AddressOf(place) = &e.kind else { return None };
        let is_number = match unit.types.kind(place.ty.ty) {
            TypeKind::Int(kind) => kind.size() <= 8 && *kind != IntKind::Bool,
            TypeKind::Float(kind) => matches!(kind, FloatKind::Float | FloatKind::Double),
            _ => false,
        };
        let is_plain = !place.ty.quals.is_volatile && !place.ty.quals.is_atomic;
        let is_variable = matches!(place.kind, PlaceKind::Var(_));
        let fits = is_number && is_plain && is_variable;
        (fits && unit.types.size_of(place.ty.ty).map(i128::from) == Some(size)).then(|| place.clone())
    };
    Some((place(to)?, place(from)?))
}

/// Statements that store what is in one place in another one, as the same bytes.
fn by_union(unit: &mut TranslationUnit, to: Place, from: Place, span: Span) -> Vec<Stmt> {
    let (mut ty_to, mut ty_from) = (to.ty, from.ty);
    (ty_to.quals, ty_from.quals) = (Quals::default(), Quals::default());
    let size = unit.types.size_of(ty_to.ty).unwrap_or(0);
    let field = |ty| Field { name: None, ty, offset: 0, bits: None };
    let record = unit.types.add_record(Record {
        tag: None,
        alias: None,
        is_union: true,
        fields: Some(vec![field(ty_to), field(ty_from)]),
        size,
        align: size,
    });
    let ty = QualType { ty: unit.types.intern(TypeKind::Record(record)), quals: Quals::default() };
    unit.variables.push(Variable {
        name: "the bytes that are copied".to_owned(),
        ty,
        storage: Storage::Local,
        address_taken: false,
        is_extern: false,
        span,
    });
    let var = VarId(unit.variables.len() as u32 - 1);
    let mut place = |kind: PlaceKind, ty: QualType| {
        unit.n_places += 1;
        Place { id: PlaceId(unit.n_places - 1), kind, ty, span }
    };
    let mut member = |field: u32, member: QualType| {
        let base = Box::new(place(PlaceKind::Var(var), ty));
        place(PlaceKind::Field { base, record, field, offset: 0, bits: None }, member)
    };
    let (bytes, whole) = (member(1, ty_from), member(0, ty_to));
    let load = |place: Place, ty: QualType| Box::new(Expr { kind: ExprKind::Load(place), ty, span });
    let assign = |to: Place, value: Box<Expr>, ty: QualType| {
        let kind = ExprKind::Assign(to, value);
        Stmt { kind: StmtKind::Expr(Expr { kind, ty, span }), span }
    };
    vec![
        Stmt { kind: StmtKind::Declare { var, init: None }, span },
        assign(bytes, load(from, ty_from), ty_from),
        assign(to, load(whole, ty_to), ty_to),
    ]
}

/// The variable that a pointer of this type leads to whose address is written out (`*&v`).
pub fn pointed(pointer: &Expr, ty: QualType) -> Option<Place> {
    let ExprKind::AddressOf(place) = &pointer.kind else { return None };
    (matches!(place.kind, PlaceKind::Var(_)) && place.ty.ty == ty.ty).then(|| place.clone())
}

/// Whether an expression is the address of a variable, which is not null.
pub fn is_address(e: &Expr) -> bool {
    matches!(&e.kind, ExprKind::AddressOf(Place { kind: PlaceKind::Var(_), .. }))
}
