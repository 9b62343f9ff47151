//! Values of structs (`a[i] = b[i]`, `struct point p = old[i]`, `(struct point){x, y}`, functions that take or give them) as values of their members: what comes
//! after knows numbers and pointers only.
//!
//! [`spell_out`] comes before functions are inlined, and puts a variable where a compound literal stands; [`copy`] comes behind, and copies member by member
//! inside of loops; bit-fields by their containers ([`super::bit_fields`]). Nothing is done where the order of what a statement does would matter, or where copies of members would not be one of the whole:
//! in unions without a member that fills them, for bit-fields without containers and for large structs. These stay as they are, and with them the loop.

use super::access::describe;
use super::hoist::has_effects;
use super::nest;
use super::scalars::is_scalar;
use crate::c::containers::{Container, containers};
use crate::c::hir::*;
use std::collections::BTreeMap;

/// Values that a copy may consist of.
const MOST: usize = 32;

/// Puts variables in the place of compound literals.
pub fn spell_out(unit: &mut TranslationUnit) {
    if unit.literals.is_empty() {
        return;
    }
    each_body(unit, |rewriter, body| {
        rewriter.literals = true;
        rewriter.boxed(body)
    });
}

/// Copies structs by their members in all loops.
pub fn copy(unit: &mut TranslationUnit) {
    each_body(unit, |rewriter, body| rewriter.loops(body));
}

fn each_body(unit: &mut TranslationUnit, change: impl Fn(&mut Rewriter, Stmt) -> Stmt) {
    for number in 0..unit.functions.len() {
        let empty = Stmt { kind: StmtKind::Empty, span: Span::default() };
        let body = std::mem::replace(&mut unit.functions[number].body, empty);
        let body = change(&mut Rewriter { unit, literals: false, own: BTreeMap::new() }, body);
        unit.functions[number].body = body;
    }
}

/// A step from an object into it.
#[derive(Clone, Copy, Debug)]
enum Step {
    Member(RecordId, u32),
    Element(u64),
}

/// A simple value within an object: how many bytes into it, and the way there. Without a way there it is what lies between members, or has bit-fields, as a number of this type.
#[derive(Clone, Debug)]
struct Piece {
    offset: u64,
    ty: QualType,
    way: Option<Vec<Step>>,
}

/// The values that an object of type `ty` consists of; `None` if these wouldn't be all of it.
fn pieces(types: &Types, ty: QualType) -> Option<Vec<Piece>> {
    let (mut found, mut way) = (Vec::new(), Vec::new());
    collect(types, ty, 0, &mut way, &mut found)?;
    Some(found)
}

fn collect(
    types: &Types,
    ty: QualType,
    offset: u64,
    way: &mut Vec<Step>,
    found: &mut Vec<Piece>,
) -> Option<()> {
    if ty.quals.is_volatile || ty.quals.is_atomic || found.len() >= MOST {
        return None;
    }
    let mut inside = |step: Step, ty: QualType, offset: u64| {
        way.push(step);
        let fits = collect(types, ty, offset, way, found);
        way.pop();
        fits
    };
    match types.kind(ty.ty) {
        TypeKind::Array(element, ArrayLen::Known(length)) => {
            let size = types.size_of(element.ty)?;
            (0..*length).try_for_each(|k| inside(Step::Element(k), *element, offset + k * size))
        }
        TypeKind::Record(id) => {
            let record = types.record(*id);
            let fields = record.fields.as_ref()?;
            let members = fields.iter().zip(0..).filter(|(field, _)| field.bits.is_none());
            let mut members = members.map(|(field, number)| (field, Step::Member(*id, number)));
            if record.is_union {
                let fills = |ty: QualType| {
                    let all = pieces(types, ty)?;
                    Some(gaps(types, &all, record.size).is_empty())
                };
                let (field, step) = members.find(|(field, _)| fills(field.ty) == Some(true))?;
                return inside(step, field.ty, offset);
            }
            members.try_for_each(|(field, step)| inside(step, field.ty, offset + field.offset))?;
            for container in containers(record)? {
                let ty = types.find_int(container.kind())?;
                let ty = QualType { ty, quals: Quals::default() };
                found.push(Piece { offset: offset + container.offset, ty, way: None });
            }
            found.sort_by_key(|piece| piece.offset);
            Some(())
        }
        TypeKind::Int(kind) | TypeKind::Enum(kind) if kind.size() > 8 => None,
        TypeKind::Float(FloatKind::LongDouble | FloatKind::Float128) => None,
        TypeKind::Int(_) | TypeKind::Enum(_) | TypeKind::Float(_) | TypeKind::Pointer(_) => {
            found.push(Piece { offset, ty, way: Some(way.clone()) });
            Some(())
        }
        _ => None,
    }
}

/// Whether an object of this type can be copied by its members.
pub fn by_members(types: &Types, ty: QualType) -> bool {
    pieces(types, ty).is_some()
}

/// Whether some container in an object is as asked.
fn has_container(types: &Types, ty: QualType, is_one: fn(&Container) -> bool) -> bool {
    match types.kind(ty.ty) {
        TypeKind::Array(element, _) => has_container(types, *element, is_one),
        TypeKind::Record(id) => {
            let record = types.record(*id);
            containers(record).iter().flatten().any(is_one)
                || record.fields.iter().flatten().any(|field| has_container(types, field.ty, is_one))
        }
        _ => false,
    }
}

/// The bytes of an object of this size that no piece has.
fn gaps(types: &Types, pieces: &[Piece], size: u64) -> Vec<std::ops::Range<u64>> {
    let mut gaps = Vec::new();
    let mut at = 0;
    for piece in pieces {
        if piece.offset > at {
            gaps.push(at..piece.offset);
        }
        at = piece.offset + types.size_of(piece.ty.ty).unwrap_or(0);
    }
    if at < size {
        gaps.push(at..size);
    }
    gaps
}

struct Rewriter<'a> {
    unit: &'a mut TranslationUnit,
    /// Whether it is compound literals that are changed, instead of copies.
    literals: bool,
    /// The variables that the innermost loop around declares, and whether a list of braces gives them less than all they have: the rest is zero, also between members.
    own: BTreeMap<VarId, bool>,
}

/// What becomes of what lies between members when a struct is copied.
enum Gaps {
    /// It is copied: the compiler does so between places in memory, and who compares or writes bytes sees it.
    Copied,
    /// It is left: in variables that the compiler takes apart it is nowhere.
    Left,
}

/// Structs of so many members at most are taken apart.
const TAKEN_APART: usize = 12;

/// Whether a compiler takes a variable of this type apart: a struct of nothing but numbers, pointers and such structs. One with bit-fields is copied as a whole, with what lies between.
fn is_taken_apart(types: &Types, ty: QualType) -> bool {
    fn count(types: &Types, ty: QualType, left: &mut usize) -> bool {
        match types.kind(ty.ty) {
            TypeKind::Array(..) => false,
            TypeKind::Record(id) => {
                let record = types.record(*id);
                let fields = record.fields.as_deref().unwrap_or_default();
                let mut fields = fields.iter();
                !record.is_union && fields.all(|field| field.bits.is_none() && count(types, field.ty, left))
            }
            _ => {
                let fits = *left > 0;
                *left = left.saturating_sub(1);
                fits
            }
        }
    }
    let mut left = TAKEN_APART;
    matches!(types.kind(ty.ty), TypeKind::Record(_)) && count(types, ty, &mut left)
}

impl Rewriter<'_> {
    /// A statement with all that is to be changed in it, as one.
    fn boxed(&mut self, s: Stmt) -> Stmt {
        let span = s.span;
        let mut out = Vec::new();
        self.one(s, &mut out);
        match out.len() {
            1 => out.remove(0),
            _ => Stmt { kind: StmtKind::Block(out), span },
        }
    }

    /// A statement outside of loops: only the loops in it are changed.
    fn loops(&mut self, mut s: Stmt) -> Stmt {
        s.kind = match s.kind {
            StmtKind::Loop(mut l) => {
                let empty = Stmt { kind: StmtKind::Empty, span: s.span };
                let body = std::mem::replace(&mut *l.body, empty);
                *l.body = self.of_loop(body);
                StmtKind::Loop(l)
            }
            kind => inside(kind, &mut |s| self.loops(s)),
        };
        s
    }

    /// The body of a loop.
    fn of_loop(&mut self, body: Stmt) -> Stmt {
        let mut own = BTreeMap::new();
        nest::statements(&body, &mut |s| {
            if let StmtKind::Declare { var, init } = &s.kind {
                let ty = self.unit.var(*var).ty;
                let all = pieces(&self.unit.types, ty);
                let in_part = match init {
                    Some(Init::Members(list)) => {
                        let given = list.iter().filter_map(|(_, e)| pieces(&self.unit.types, e.ty));
                        all.is_none_or(|all| all.len() > given.map(|own| own.len()).sum())
                    }
                    _ => false,
                };
                own.insert(*var, in_part);
            }
        });
        let outer = std::mem::replace(&mut self.own, own);
        let body = self.boxed(body);
        self.own = outer;
        body
    }

    fn one(&mut self, s: Stmt, out: &mut Vec<Stmt>) {
        let span = s.span;
        let mut before = Vec::new();
        let kind = match s.kind {
            StmtKind::Expr(Expr { kind: ExprKind::Assign(to, value), ty, .. })
                if !self.literals && self.is_record(ty) =>
            {
                match self.assigned(&to, &value, span) {
                    Some(mut list) => return out.append(&mut list),
                    None => StmtKind::Expr(Expr { kind: ExprKind::Assign(to, value), ty, span }),
                }
            }
            StmtKind::Expr(mut e) if self.literals => {
                match &mut e.kind {
                    ExprKind::Assign(to, value) => self.name_literals(Some(to), value, &mut before),
                    _ => self.name_literals(None, &mut e, &mut before),
                }
                StmtKind::Expr(e)
            }
            StmtKind::Return(Some(mut e)) if self.literals => {
                self.name_literals(None, &mut e, &mut before);
                StmtKind::Return(Some(e))
            }
            StmtKind::Declare { var, init: Some(init) } => {
                let is_record = self.is_record(self.unit.var(var).ty);
                match (init, self.literals) {
                    (Init::Scalar(value), true) if self.literal(&value).is_some() && is_record => {
                        let list = self.literal(&value).unwrap_or_default();
                        StmtKind::Declare { var, init: Some(Init::Members(self.nested(list))) }
                    }
                    (Init::Scalar(mut value), true) => {
                        self.name_literals(None, &mut value, &mut before);
                        StmtKind::Declare { var, init: Some(Init::Scalar(value)) }
                    }
                    (Init::Members(list), true) => {
                        StmtKind::Declare { var, init: Some(Init::Members(self.nested(list))) }
                    }
                    (Init::Scalar(value), false) if is_record => {
                        let to = self.variable_place(var, span);
                        match self.given(&to, &value) {
                            Some(list) => StmtKind::Declare { var, init: Some(Init::Members(list)) },
                            None => match self.assigned(&to, &value, span) {
                                Some(mut list) => {
                                    out.push(Stmt { kind: StmtKind::Declare { var, init: None }, span });
                                    return out.append(&mut list);
                                }
                                None => StmtKind::Declare { var, init: Some(Init::Scalar(value)) },
                            },
                        }
                    }
                    (Init::Members(list), false) => {
                        let to = self.variable_place(var, span);
                        StmtKind::Declare { var, init: Some(Init::Members(self.flat(&to, list))) }
                    }
                    (init, _) => StmtKind::Declare { var, init: Some(init) },
                }
            }
            StmtKind::Loop(mut l) if !self.literals => {
                let empty = Stmt { kind: StmtKind::Empty, span };
                let body = std::mem::replace(&mut *l.body, empty);
                *l.body = self.of_loop(body);
                StmtKind::Loop(l)
            }
            StmtKind::Block(list) => {
                let mut inner = Vec::with_capacity(list.len());
                list.into_iter().for_each(|s| self.one(s, &mut inner));
                StmtKind::Block(inner)
            }
            kind => inside(kind, &mut |s| self.boxed(s)),
        };
        // What is declared for one statement is nobody else's.
        out.append(&mut before);
        out.push(Stmt { kind, span });
    }

    fn is_record(&self, ty: QualType) -> bool {
        matches!(self.unit.types.kind(ty.ty), TypeKind::Record(_))
    }

    // ---- Compound literals.

    /// What a compound literal gives, if an expression is the value of one.
    fn literal(&self, e: &Expr) -> Option<Vec<(u64, Expr)>> {
        let ExprKind::Opaque(_) = &e.kind else { return None };
        self.unit.literals.get(&(e.span.start, e.span.end)).cloned()
    }

    /// The literals among the members of another one belong to it.
    fn nested(&self, list: Vec<(u64, Expr)>) -> Vec<(u64, Expr)> {
        let mut flat = Vec::with_capacity(list.len());
        for (at, e) in list {
            match self.literal(&e) {
                Some(inner) => flat.extend(self.nested(inner).into_iter().map(|(more, e)| (at + more, e))),
                None => flat.push((at, e)),
            }
        }
        flat
    }

    /// Declares variables for what is the whole of a value, or an argument of the call that is it. `to`: what is assigned.
    fn name_literals(&mut self, to: Option<&Place>, value: &mut Expr, before: &mut Vec<Stmt>) {
        // What assigns has no order of its own against what is assigned.
        if to.is_some_and(|to| !is_pure(to)) {
            return;
        }
        let reads = to.is_some_and(|to| reads_memory(self.unit, to));
        if let Some(list) = self.literal(value) {
            let list = self.nested(list);
            if !reads || !list.iter().any(|(_, e)| has_effects(e)) {
                self.declare(value, list, before);
            }
            return;
        }
        // Literals among what calls are given come before all of them.
        let (mut calls, mut calm) = (0, true);
        nest::expressions(value, &mut |e| {
            calls += usize::from(matches!(e.kind, ExprKind::Call { .. }));
            calm &= match e.kind {
                ExprKind::Opaque(_) => self.literal(e).is_some(),
                _ => !nest::accessed_place(e).is_some_and(|(.., writes)| writes),
            };
        });
        if calm {
            self.name_arguments(value, calls == 1 && !reads, before);
        }
    }

    /// Declares variables for the arguments of calls. `alone`: there is one call, and whatever it is given is computed before it.
    fn name_arguments(&mut self, e: &mut Expr, alone: bool, before: &mut Vec<Stmt>) {
        match &mut e.kind {
            ExprKind::Cast(inner) => self.name_arguments(inner, alone, before),
            ExprKind::Call { args, .. } => {
                for argument in args {
                    let Some(list) = self.literal(argument) else {
                        self.name_arguments(argument, alone, before);
                        continue;
                    };
                    let list = self.nested(list);
                    let fits =
                        |(_, e): &(u64, Expr)| !has_effects(e) && (alone || !loads_memory(self.unit, e));
                    if list.iter().all(fits) {
                        self.declare(argument, list, before);
                    }
                }
            }
            _ => {}
        }
    }

    /// A variable with these members for a value.
    fn declare(&mut self, value: &mut Expr, list: Vec<(u64, Expr)>, before: &mut Vec<Stmt>) {
        let var = self.unit.new_variable("a compound literal", value.ty, value.span);
        before.push(Stmt {
            kind: StmtKind::Declare { var, init: Some(Init::Members(list)) },
            span: value.span,
        });
        value.kind = ExprKind::Load(self.variable_place(var, value.span));
    }

    // ---- Copies.

    /// `to = value` by members.
    fn assigned(&mut self, to: &Place, value: &Expr, span: Span) -> Option<Vec<Stmt>> {
        let mut list = Vec::new();
        match &value.kind {
            ExprKind::Load(from) if from.ty.ty == to.ty.ty => self.copied(to, from, span, &mut list)?,
            ExprKind::Conditional(cond, then, otherwise) if is_pure(to) && !has_effects(cond) => {
                let mut branch = |value: &Expr| {
                    let list = self.assigned(to, value, span)?;
                    Some(Box::new(Stmt { kind: StmtKind::Block(list), span }))
                };
                let (then, otherwise) = (branch(then)?, branch(otherwise)?);
                let kind = StmtKind::If { cond: (**cond).clone(), then, otherwise: Some(otherwise) };
                list.push(Stmt { kind, span });
            }
            _ => return None,
        }
        Some(list)
    }

    fn copied(&mut self, to: &Place, from: &Place, span: Span, out: &mut Vec<Stmt>) -> Option<()> {
        let mut all = pieces(&self.unit.types, from.ty)?;
        pieces(&self.unit.types, to.ty)?;
        if let Gaps::Copied = self.gaps(to, from, &all)? {
            self.add_gaps(&mut all, from.ty);
        }
        if all.len() > MOST {
            return None;
        }
        // Where an object lies is found once, before any of its members changes.
        let mut behind = Vec::new();
        let mut found = |place: &Place| {
            if let Some((pointer, is_before)) = stepped(self.unit, place) {
                let list = if is_before { &mut *out } else { &mut behind };
                list.push(Stmt { kind: StmtKind::Expr(pointer.clone()), span });
                let ExprKind::IncDec { place: variable, .. } = &pointer.kind else { return None };
                let variable = Expr { kind: ExprKind::Load(self.again(variable)), ..pointer.clone() };
                return Some(self.unit.new_place(PlaceKind::Deref(Box::new(variable)), place.ty, place.span));
            }
            is_pure(place).then(|| match reads_memory(self.unit, place) {
                true => self.found(place, out),
                false => place.clone(),
            })
        };
        let (to, from) = (found(to)?, found(from)?);
        for piece in &all {
            let value = self.part(&from, piece);
            let ty = QualType { ty: piece.ty.ty, quals: Quals::default() };
            let value = Expr { kind: ExprKind::Load(value), ty, span };
            let kind = ExprKind::Assign(self.part(&to, piece), Box::new(value));
            out.push(Stmt { kind: StmtKind::Expr(Expr { kind, ty, span }), span });
        }
        out.append(&mut behind);
        Some(())
    }

    /// What a copy of the whole gives each member of a variable.
    fn given(&mut self, to: &Place, value: &Expr) -> Option<Vec<(u64, Expr)>> {
        let ExprKind::Load(from) = &value.kind else { return None };
        if !is_pure(from) {
            return None;
        }
        let all = pieces(&self.unit.types, from.ty)?;
        let Gaps::Left = self.gaps(to, from, &all)? else { return None };
        let mut one = |piece: &Piece| {
            let ty = QualType { ty: piece.ty.ty, quals: Quals::default() };
            (piece.offset, Expr { kind: ExprKind::Load(self.part(from, piece)), ty, span: value.span })
        };
        Some(all.iter().map(&mut one).collect())
    }

    /// Members that are structs themselves by theirs.
    fn flat(&mut self, to: &Place, list: Vec<(u64, Expr)>) -> Vec<(u64, Expr)> {
        let mut flat = Vec::with_capacity(list.len());
        for (at, e) in list {
            match self.is_record(e.ty).then(|| self.given(to, &e)).flatten() {
                Some(inner) => flat.extend(inner.into_iter().map(|(more, e)| (at + more, e))),
                None => flat.push((at, e)),
            }
        }
        flat
    }

    /// What becomes of what lies between the members of a struct that consists of `all`; `None` where nobody can say.
    fn gaps(&self, to: &Place, from: &Place, all: &[Piece]) -> Option<Gaps> {
        let types = &self.unit.types;
        let has_gaps = !gaps(types, all, types.size_of(from.ty.ty)?).is_empty();
        if !has_gaps && !has_container(types, from.ty, |container| !container.is_full) {
            return Some(Gaps::Left);
        }
        let mut is_copied = true;
        for place in [to, from] {
            let Some(v) = nest::root_variable(place) else { continue };
            let variable = self.unit.var(v);
            if !matches!(variable.storage, Storage::Local | Storage::Param) {
                continue;
            }
            match self.own.get(&v) {
                // Of another one than this iteration's: it lies somewhere.
                None if variable.address_taken => {}
                Some(in_part) if !in_part && is_taken_apart(types, variable.ty) => is_copied = false,
                _ => return None,
            }
        }
        Some(if is_copied { Gaps::Copied } else { Gaps::Left })
    }

    /// Adds what lies between members.
    fn add_gaps(&mut self, all: &mut Vec<Piece>, ty: QualType) {
        let size = self.unit.types.size_of(ty.ty).unwrap_or(0);
        for gap in gaps(&self.unit.types, all, size) {
            let mut at = gap.start;
            while at < gap.end {
                let kinds = [IntKind::ULong, IntKind::UInt, IntKind::UShort, IntKind::UChar];
                let fits = |kind: &IntKind| at % kind.size() == 0 && at + kind.size() <= gap.end;
                let kind = kinds.into_iter().find(fits).unwrap_or(IntKind::UChar);
                let ty = self.unit.types.intern(TypeKind::Int(kind));
                all.push(Piece { offset: at, ty: QualType { ty, quals: Quals::default() }, way: None });
                at += kind.size();
            }
        }
    }

    /// A pointer variable for where an object lies.
    fn found(&mut self, place: &Place, out: &mut Vec<Stmt>) -> Place {
        let span = place.span;
        let at = self.address(place);
        let name = format!("(&{})", describe(self.unit, place));
        let var = self.unit.new_variable(&name, at.ty, span);
        let ty = at.ty;
        out.push(Stmt { kind: StmtKind::Declare { var, init: Some(Init::Scalar(at)) }, span });
        let pointer = Expr { kind: ExprKind::Load(self.variable_place(var, span)), ty, span };
        self.unit.new_place(PlaceKind::Deref(Box::new(pointer)), place.ty, span)
    }

    fn address(&mut self, place: &Place) -> Expr {
        let ty = self.pointer_to(place.ty);
        match self.again(place) {
            Place { kind: PlaceKind::Deref(pointer), .. } if pointer.ty.ty == ty.ty => *pointer,
            place => Expr { span: place.span, kind: ExprKind::AddressOf(place), ty },
        }
    }

    fn pointer_to(&mut self, ty: QualType) -> QualType {
        QualType { ty: self.unit.types.intern(TypeKind::Pointer(ty)), quals: Quals::default() }
    }

    /// A place once more.
    fn again(&mut self, place: &Place) -> Place {
        let kind = ExprKind::AddressOf(place.clone());
        let mut whole = Expr { kind, ty: place.ty, span: place.span };
        nest::change_expression(&mut whole, &mut nest::Numbered(&mut self.unit.n_places));
        match whole.kind {
            ExprKind::AddressOf(place) => place,
            _ => place.clone(),
        }
    }

    /// A piece of the object at a place.
    fn part(&mut self, whole: &Place, piece: &Piece) -> Place {
        let span = whole.span;
        let mut place = self.again(whole);
        let Some(way) = &piece.way else {
            let TypeKind::Record(record) = *self.unit.types.kind(place.ty.ty) else {
                unreachable!("only structs have something between their members")
            };
            let base = Box::new(place);
            let kind = PlaceKind::Field { base, record, field: NO_FIELD, offset: piece.offset, bits: None };
            return self.unit.new_place(kind, piece.ty, span);
        };
        for step in way {
            place = match *step {
                Step::Member(record, field) => {
                    let fields = self.unit.types.record(record).fields.as_ref();
                    let Some(found) = fields.and_then(|fields| fields.get(field as usize)).cloned() else {
                        unreachable!("the way leads through members that are there")
                    };
                    let kind = PlaceKind::Field {
                        base: Box::new(place),
                        record,
                        field,
                        offset: found.offset,
                        bits: None,
                    };
                    self.unit.new_place(kind, found.ty, span)
                }
                Step::Element(k) => {
                    let TypeKind::Array(element, _) = *self.unit.types.kind(place.ty.ty) else {
                        unreachable!("the way leads through elements that are there")
                    };
                    let size = self.unit.types.size_of(element.ty).unwrap_or(1);
                    let ty = self.pointer_to(element);
                    let first = Expr { kind: ExprKind::AddressOf(place), ty, span };
                    let pointer = self.element(first, k, size);
                    self.unit.new_place(PlaceKind::Deref(Box::new(pointer)), element, span)
                }
            };
        }
        place
    }

    fn element(&mut self, pointer: Expr, index: u64, stride: u64) -> Expr {
        let (ty, span) = (pointer.ty, pointer.span);
        let long = self.unit.types.intern(TypeKind::Int(IntKind::Long));
        let long = QualType { ty: long, quals: Quals::default() };
        let index = Expr { kind: ExprKind::Int(index.into()), ty: long, span };
        Expr {
            kind: ExprKind::PtrAdd { pointer: Box::new(pointer), index: Box::new(index), stride },
            ty,
            span,
        }
    }

    // ---- Small things.

    fn variable_place(&mut self, var: VarId, span: Span) -> Place {
        let ty = self.unit.var(var).ty;
        self.unit.new_place(PlaceKind::Var(var), ty, span)
    }
}

/// Changes the statements inside of one that is no block.
pub fn inside(kind: StmtKind, change: &mut dyn FnMut(Stmt) -> Stmt) -> StmtKind {
    match kind {
        StmtKind::Block(list) => StmtKind::Block(list.into_iter().map(change).collect()),
        StmtKind::If { cond, then, otherwise } => StmtKind::If {
            cond,
            then: Box::new(change(*then)),
            otherwise: otherwise.map(|s| Box::new(change(*s))),
        },
        StmtKind::Switch { cond, body } => StmtKind::Switch { cond, body: Box::new(change(*body)) },
        StmtKind::Case { value, body } => StmtKind::Case { value, body: Box::new(change(*body)) },
        StmtKind::Label { name, body } => StmtKind::Label { name, body: Box::new(change(*body)) },
        StmtKind::Loop(mut l) => {
            let empty = Stmt { kind: StmtKind::Empty, span: l.body.span };
            *l.body = change(std::mem::replace(&mut *l.body, empty));
            StmtKind::Loop(l)
        }
        other => other,
    }
}

/// Whether finding a place changes nothing, and may be done again.
pub fn is_pure(place: &Place) -> bool {
    fn is_known(place: &Place) -> bool {
        let mut known = match &place.kind {
            PlaceKind::Opaque(_) => false,
            PlaceKind::Field { base, .. } => is_known(base),
            PlaceKind::Var(_) | PlaceKind::Deref(_) => true,
        };
        nest::place_expressions(place, &mut |e| {
            known &= match &e.kind {
                ExprKind::Load(p) | ExprKind::AddressOf(p) => {
                    let is_opaque = |mut p: &Place| loop {
                        match &p.kind {
                            PlaceKind::Opaque(_) => return true,
                            PlaceKind::Field { base, .. } => p = base,
                            _ => return false,
                        }
                    };
                    !is_opaque(p) && !p.ty.quals.is_volatile && !p.ty.quals.is_atomic
                }
                _ => true,
            };
        });
        known
    }
    let mut effects = false;
    nest::place_expressions(place, &mut |e| effects |= has_effects(e));
    is_known(place) && !effects && !place.ty.quals.is_volatile && !place.ty.quals.is_atomic
}

/// The step that finding a place takes, where it does nothing else (`*p++`), and whether that comes before.
fn stepped<'e>(unit: &TranslationUnit, place: &'e Place) -> Option<(&'e Expr, bool)> {
    let PlaceKind::Deref(pointer) = &place.kind else { return None };
    let ExprKind::IncDec { place: variable, post, .. } = &pointer.kind else { return None };
    let is_plain = |quals: Quals| !quals.is_volatile && !quals.is_atomic;
    let fine = is_scalar(unit, variable).is_some() && is_plain(variable.ty.quals) && is_plain(place.ty.quals);
    fine.then_some((&**pointer, !post))
}

/// Whether where a place is depends on memory that a copy could change.
fn reads_memory(unit: &TranslationUnit, place: &Place) -> bool {
    let mut found = false;
    nest::place_expressions(place, &mut |e| found |= loads_memory(unit, e));
    found
}

/// Whether an expression reads memory.
pub fn loads_memory(unit: &TranslationUnit, e: &Expr) -> bool {
    let mut found = false;
    nest::expressions(e, &mut |e| {
        found |= matches!(&e.kind, ExprKind::Load(p) if is_scalar(unit, p).is_none());
    });
    found
}

#[cfg(test)]
mod tests {
    use crate::compile::judged;
    use crate::loops::options::AnalysisOptions;

    const TYPES: &str = "typedef struct { float x, y; } pair; struct tree { pair first[2]; union { double real; long whole; }; char tag; struct tree *up; };\n\
        struct bits { int low : 3, high : 7; }; struct full { unsigned char low : 3, high : 5; short more; }; struct with_long { long double wide; }; struct moving { volatile int now; };\n\
        struct large { int all[40]; }; struct leaf { char tag; double real; }; pair some(int); double sqrt(double);\n\
        static pair sum(pair a, pair b) { pair s = {a.x + b.x, a.y + b.y}; return s; }\n\
        static pair half(pair a) { if (a.x < 0) return (pair){0}; a.x /= 2; a.y /= 2; return a; }\n\
        static pair kept; static pair keeping(pair a) { kept = a; return a; }\n";

    /// Whether the one loop of `void f(int n, pair *a, pair *b, int *k, struct tree *t, ...)` has a plan, and how many places it accesses.
    fn accesses(body: &str) -> Option<usize> {
        let head = "void f(int n, pair *a, const pair *b, int *k, struct tree *t, const struct tree *u, struct bits *c, struct with_long *w, struct moving *m, struct large *l, struct leaf *e, struct full *g)";
        let text = format!("{TYPES}{head}\n{{ {body} }}\n");
        let (_, reports) = judged(&text, &AnalysisOptions::default());
        assert_eq!(reports.len(), 1, "{body}");
        reports[0].plan.as_deref().map(|plan| plan.sites.len())
    }

    #[test]
    fn structs_are_copied_member_by_member() {
        for (body, wanted) in [
            ("for (int i = 0; i < n; i++) a[i] = b[i];", 4),
            ("for (int i = 0; i < n; i++) *a++ = *b++;", 4),
            ("for (int i = 0; i < n; i++) *++a = b[i];", 4),
            // The index is read once.
            ("for (int i = 0; i < n; i++) a[i] = b[k[i]];", 5),
            ("for (int i = 0; i < n; i++) { pair p = b[i]; p.x *= 2; a[i] = p; }", 4),
            ("for (int i = 0; i < n; i++) a[i] = i & 1 ? b[i] : b[n - i];", 8),
            ("for (int i = 0; i < n; i++) { pair p = i & 1 ? b[i] : a[i]; a[i] = p; }", 6),
            ("for (int i = 0; i < n; i++) a[i] = (pair){b[i].y, i};", 3),
            ("for (int i = 0; i < n; i++) a[i] = (pair){.y = sqrt(i)};", 2),
            (
                "for (int i = 0; i < n; i++) { pair p[2] = {b[i], (pair){1, 2}}; a[i] = p[0]; a[n + i] = p[1]; }",
                6,
            ),
            ("for (int i = 0; i < n; i++) a[i] = sum(b[i], (pair){1, 2});", 4),
            ("for (int i = 0; i < n; i++) a[i] = half(sum(half(b[i]), half((pair){i, 2})));", 4),
            // Four floats, the union's first member, a tag, seven bytes behind it, a pointer.
            ("for (int i = 0; i < n; i++) t[i] = u[i];", 2 * (4 + 1 + 1 + 3 + 1)),
            // A container, and two bytes behind it.
            ("for (int i = 0; i < n; i++) c[i] = c[i + n];", 4),
            // From a variable that is taken apart, which has nothing to be known of behind the tag.
            ("for (int i = 0; i < n; i++) { struct leaf v = e[i]; v.real = 0; e[n + i] = v; }", 4),
        ] {
            assert_eq!(accesses(body), Some(wanted), "{body}");
        }
    }

    #[test]
    fn what_would_not_be_a_copy_stays() {
        for body in [
            // Nor where bit-fields keep a variable together.
            "for (int i = 0; i < n; i++) { struct bits v = c[i]; c[i + n] = v; }",
            "for (int i = 0; i < n; i++) { struct full v = g[i]; v.low = i; g[i + n] = v; }",
            "for (int i = 0; i < n; i++) w[i] = w[i + n];",
            "for (int i = 0; i < n; i++) m[i] = m[i + n];",
            "for (int i = 0; i < n; i++) l[i] = l[i + n];",
            "for (int i = 0; i < n; i++) a[i] = some(i);",
            "for (int i = 0; i < n; i++) a[i] = (kept = b[i]);",
            // What lies between members is zero, or where nobody can say.
            "for (int i = 0; i < n; i++) e[i] = (struct leaf){.real = i};",
            "for (int i = 0; i < n; i++) { struct leaf v = {1}; e[i] = v; }",
            "struct leaf v; v.tag = 1; v.real = 2; for (int i = 0; i < n; i++) e[i] = v;",
            "for (int i = 0; i < n; i++) { struct tree v = u[i]; v.up = 0; t[i] = v; }",
            "for (int i = 0; i < n; i++) { union { struct leaf leaf; long words[2]; } v; v.leaf = e[i]; k[i] = v.words[0]; }",
            // What the one does the other one could see.
            "for (int i = 0; i < n; i++) a[i] = sum(keeping(b[i]), (pair){kept.x, 2});",
            "for (int i = 0; i < n; i++) a[i] = sum(half(b[i]), (pair){kept.x, 2});",
            "for (int i = 0; i < n; i++) a[(int)kept.x] = (pair){some(i).x, 2};",
            "int j = 0; for (int i = 0; i < n; i++) a[j++] = (pair){i, 2};",
        ] {
            assert_eq!(accesses(body), None, "{body}");
        }
    }
}
