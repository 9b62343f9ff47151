//! Counted loops: those whose trip count is known at entry, however they are written.
//!
//! The plain form is a `for` statement: its induction variable is an integer of at most 64 bits that is set once, compared with
//! a value that does not change, and moved by a constant. In the others (`while (n--)`, `do { ... } while (++i < n)`,
//! `for (p = a; p < end; p++)`, `for (; i < n;) a[i++] = 0`) the variable that the test looks at, the control variable,
//! becomes one of those that move beside a counter of our own. Everything else is not counted, with the reason.

use super::plan::{Relation, Start};
use super::reason::{Advice, Kind, Reason};
use super::{leaving, nest};
use crate::c::constant::fold;
use crate::c::hir::*;
use crate::c::types::plain;
use std::collections::{BTreeMap, BTreeSet};

/// What a counted loop's head says.
#[derive(Clone, Debug)]
pub struct Counted {
    /// The loop.
    pub id: LoopId,
    /// Its induction variable; with `control`, a counter of ours that the program doesn't have.
    pub iv: VarId,
    /// Whether it is declared in the loop's first clause, or not by the program at all.
    pub iv_local: bool,
    /// Type of what is compared with the limit; pointers are compared as unsigned numbers.
    pub kind: IntKind,
    /// What the first test compares, of that type, in terms of what variables hold before the loop.
    pub first: Expr,
    /// The same value in terms of what variables hold when the first iteration begins.
    pub first_inside: Expr,
    /// What is added each time (bytes for pointers).
    pub step: i64,
    /// What it is compared with, in terms of what variables hold before the loop.
    pub limit: Expr,
    /// How.
    pub relation: Relation,
    /// What else the step does (`i++, p++`).
    pub other_steps: Vec<Expr>,
    /// What else the first clause sets.
    pub starts: Vec<Start>,
    /// The variable of the program that the test looks at, where that isn't `iv`.
    pub control: Option<Control>,
    /// How far that moves, where it is no constant.
    pub by: Option<Stride>,
}

/// A step that is known at loop entry only.
#[derive(Clone, Debug)]
pub struct Stride {
    /// Its size, in terms of scalars that the loop doesn't change. The loop is counted if it is positive.
    pub size: Expr,
    /// Whether it is subtracted.
    pub down: bool,
}

/// See [`Counted::control`].
#[derive(Clone, Copy, Debug)]
pub struct Control {
    /// The variable.
    pub var: VarId,
    /// Whether the test in front of each iteration moves it; else the iteration or its end does.
    pub before: bool,
}

impl Counted {
    /// Whether the loop can be one of several dimensions that are merged: nothing but its induction variable moves.
    pub fn may_merge(&self) -> bool {
        self.other_steps.is_empty() && self.starts.is_empty() && self.control.is_none()
    }

    /// Whether the test compares the very numbers that the variable counts through. One below zero that is compared without a sign is a
    /// large one: such a loop may have no turn where the numbers say some, or go on where they say it ends. Merged dimensions ask at
    /// entry; whoever relies on an inner loop's turns asks here.
    pub fn compares_numbers(&self, unit: &TranslationUnit) -> bool {
        let is_unsigned = unit.types.as_int(self.limit.ty.ty).is_some_and(|kind| !kind.signed());
        let stays_positive = self.step > 0 && fold(&unit.types, &self.first).is_some_and(|first| first >= 0);
        !is_unsigned || !self.kind.signed() || stays_positive
    }
}

/// Gives every loop that needs one a counter of ours.
pub fn add_counters(unit: &mut TranslationUnit) {
    let mut wanted = Vec::new();
    for function in &unit.functions {
        nest::statements(&function.body, &mut |s| {
            let StmtKind::Loop(l) = &s.kind else { return };
            let mut form = |l: &LoopStmt| {
                let form = other_form(unit, l).ok().filter(|_| plain_form(unit, l).is_err());
                form.is_some_and(|form| {
                    wanted.push((l.id, form.control.var, form.counted.by.is_some()));
                    true
                })
            };
            // One of several conditions may be what counts.
            let _ = form(l) || leaving::counting(l).iter().any(|l| plain_form(unit, l).is_ok() || form(l));
        });
    }
    for (id, control, strides) in wanted {
        let TranslationUnit { types, variables, functions, .. } = unit;
        let model = &variables[control.0 as usize];
        let ty = match types.as_int(model.ty.ty) {
            // What is counted is turns.
            Some(_) if strides => types.intern(TypeKind::Int(IntKind::Long)),
            Some(_) => model.ty.ty,
            None => types.intern(TypeKind::Int(IntKind::ULong)),
        };
        let counter = VarId(variables.len() as u32);
        variables.push(Variable {
            name: format!("a counter of loop {}", id.0),
            ty: plain(ty),
            storage: Storage::Local,
            address_taken: false,
            is_extern: false,
            is_internal: false,
            span: model.span,
        });
        for function in functions {
            set_counter(&mut function.body, id, counter);
        }
    }
}

fn set_counter(s: &mut Stmt, id: LoopId, counter: VarId) {
    match &mut s.kind {
        StmtKind::Block(list) => list.iter_mut().for_each(|s| set_counter(s, id, counter)),
        StmtKind::If { then, otherwise, .. } => {
            set_counter(then, id, counter);
            if let Some(otherwise) = otherwise {
                set_counter(otherwise, id, counter);
            }
        }
        StmtKind::Loop(l) if l.id == id => l.counter = Some(counter),
        StmtKind::Loop(l) => set_counter(&mut l.body, id, counter),
        StmtKind::Switch { body, .. } | StmtKind::Case { body, .. } | StmtKind::Label { body, .. } => {
            set_counter(body, id, counter);
        }
        _ => {}
    }
}

/// Reads a loop's head.
pub fn counted(unit: &TranslationUnit, l: &LoopStmt) -> Result<Counted, Reason> {
    let plain = match l.keyword {
        LoopKeyword::For => plain_form(unit, l),
        _ => Err(Obstacle::from("")),
    };
    plain.or_else(|why| {
        let looks_plain = l.keyword == LoopKeyword::For && !l.init.is_empty() && l.step.is_some();
        let counted = other_form(unit, l).and_then(|form| {
            let counter = l.counter.ok_or("it has no counter")?;
            Ok(form.counted_by(unit, counter)?)
        });
        counted.map_err(|other| {
            let Obstacle { text, advice } = if looks_plain { why } else { other };
            Reason::new(Kind::NotCounted, format!("not a counted loop: {text}")).settled_by(advice)
        })
    })
}

/// Why a head can't be read in one form, and what would change that.
struct Obstacle {
    text: String,
    advice: Option<Advice>,
}

impl From<String> for Obstacle {
    fn from(text: String) -> Obstacle {
        Obstacle { text, advice: None }
    }
}

impl From<&str> for Obstacle {
    fn from(text: &str) -> Obstacle {
        text.to_owned().into()
    }
}

/// A pointer as a number of type `ty`; numbers stay as they are.
fn as_number(unit: &TranslationUnit, e: Expr, ty: QualType) -> Expr {
    match unit.types.pointee(e.ty.ty) {
        Some(_) => Expr { span: e.span, ty, kind: ExprKind::Cast(Box::new(e)) },
        None => e,
    }
}

/// Variables that the loop assigns after its first clause, with how often.
fn assigned(l: &LoopStmt) -> BTreeMap<VarId, usize> {
    let mut found = BTreeMap::new();
    let mut note = |e: &Expr| {
        if let Some((place, _, true)) = nest::accessed_place(e)
            && let Some(v) = nest::root_variable(place)
        {
            *found.entry(v).or_default() += 1;
        }
    };
    nest::turn_expressions(l, &mut note);
    found
}

fn writes(e: &Expr) -> bool {
    let mut writes = false;
    nest::expressions(e, &mut |e| {
        writes |= nest::accessed_place(e).is_some_and(|(_, _, writes)| writes);
        writes |= matches!(e.kind, ExprKind::Call { .. } | ExprKind::Opaque(_));
    });
    writes
}

/// What a loop's first clause sets, each in terms of what variables held before.
fn starts(unit: &TranslationUnit, l: &LoopStmt) -> Result<Vec<Start>, String> {
    let mut starts: Vec<Start> = Vec::new();
    let mut set: BTreeSet<VarId> = BTreeSet::new();
    for statement in &l.init {
        match &statement.kind {
            StmtKind::Declare { var, init: Some(Init::Scalar(value)) } => {
                starts.push(Start { var: *var, value: value.clone(), declared: true });
            }
            // Declared only: it has no value that the loop could begin with.
            StmtKind::Declare { init: None, .. } | StmtKind::Declaration | StmtKind::Empty => {}
            StmtKind::Expr(e) => {
                let mut parts = Vec::new();
                comma_parts(e, &mut parts);
                for part in parts {
                    match part.kind {
                        ExprKind::Assign(Place { kind: PlaceKind::Var(var), .. }, value) => {
                            let value = set_inside(*value, &mut starts);
                            starts.push(Start { var, value, declared: false });
                        }
                        _ => return Err("its first clause does more than set variables".into()),
                    }
                }
            }
            _ => return Err("its first clause does more than set variables".into()),
        }
    }
    for number in 0..starts.len() {
        let (known, rest) = starts.split_at_mut(number);
        let start = &mut rest[0];
        let ty = unit.var(start.var).ty;
        if writes(&start.value) || !set.insert(start.var) {
            return Err("its first clause does more than set variables".into());
        }
        let value = substitute(&start.value, known);
        start.value = Expr { ty: plain(ty.ty), ..value };
    }
    let later = |e: &Expr| mentions(e, &set);
    if starts.iter().any(|start| later(&start.value)) {
        return Err("its first clause sets a variable that it has used before".into());
    }
    Ok(starts)
}

/// What a variable is set to, where others are set on the way there (`i = j = 0`): the last one first.
fn set_inside(value: Expr, starts: &mut Vec<Start>) -> Expr {
    match value.kind {
        ExprKind::Assign(Place { kind: PlaceKind::Var(var), .. }, inner) => {
            let inner = set_inside(*inner, starts);
            starts.push(Start { var, value: inner.clone(), declared: false });
            inner
        }
        ExprKind::Cast(inner) => Expr { kind: ExprKind::Cast(Box::new(set_inside(*inner, starts))), ..value },
        _ => value,
    }
}

/// Whether an expression names one of these variables.
pub(super) fn mentions(e: &Expr, variables: &BTreeSet<VarId>) -> bool {
    let mut found = false;
    nest::expressions(e, &mut |e| {
        if let ExprKind::Load(place) | ExprKind::AddressOf(place) = &e.kind {
            found |= nest::root_variable(place).is_some_and(|v| variables.contains(&v));
        }
    });
    found
}

/// An expression with what its variables were set to.
pub(super) fn substitute(e: &Expr, starts: &[Start]) -> Expr {
    struct Values<'a>(&'a [Start]);
    impl nest::Change for Values<'_> {
        fn expression(&mut self, e: &mut Expr) -> bool {
            let ExprKind::Load(Place { kind: PlaceKind::Var(v), .. }) = &e.kind else { return true };
            let start = self.0.iter().find(|start| start.var == *v);
            if let Some(start) = start {
                *e = start.value.clone();
            }
            start.is_none()
        }
    }
    let mut e = e.clone();
    nest::change_expression(&mut e, &mut Values(starts));
    e
}

fn plain_form(unit: &TranslationUnit, l: &LoopStmt) -> Result<Counted, Obstacle> {
    let types = &unit.types;
    let cond = l.cond.as_ref().ok_or("it has no condition")?;
    let step = l.step.as_ref().ok_or("it has no step")?;
    let mut starts = starts(unit, l)?;
    let ExprKind::Binary(_, left, right) = &cond.kind else {
        return Err("its condition is no comparison".into());
    };
    let is_start = |v: &VarId| starts.iter().any(|start| start.var == *v);
    let compared = [left, right].map(|side| loaded_variable(types, side).filter(is_start));
    let iv = compared.into_iter().flatten().next().ok_or("it compares nothing that its first clause sets")?;
    let test = test(unit, cond, iv)?;
    let kind = number_kind(unit, iv)?;
    let stays_private = stays_private(unit, iv);
    if types.pointee(unit.var(iv).ty.ty).is_some() || test.moves.is_some() {
        return Err("its variable is no integer that its step moves".into());
    }
    let name = &unit.var(iv).name;
    let mut other_steps = Vec::new();
    comma_parts(step, &mut other_steps);
    let moves: Vec<i64> = other_steps.iter().filter_map(|part| step_of(types, part, iv)).collect();
    let [step] = moves[..] else { return Err(format!("{name} does not move by a constant").into()) };
    // Whoever takes the loop for a counted one takes the variable for what it is in the body.
    let mut moved = other_steps.iter().skip_while(|part| step_of(types, part, iv).is_none()).skip(1);
    if moved.any(|part| mentions(part, &BTreeSet::from([iv]))) {
        return Err(format!("its step uses {name} after it has moved it").into());
    }
    other_steps.retain(|part| step_of(types, part, iv).is_none());
    let assigned = assigned(l);
    if assigned.get(&iv) != Some(&1) {
        return Err(format!("{name} is changed in its body or condition").into());
    }
    test.ends(name, step)?;
    let limit = limit_before(unit, &test.limit, &starts, &assigned)?;
    stays_private?;
    let own = starts.iter().position(|start| start.var == iv).ok_or("its variable is not set first")?;
    let Start { value: first, declared: iv_local, .. } = starts.remove(own);
    Ok(Counted {
        id: l.id,
        iv,
        iv_local,
        kind,
        first_inside: first.clone(),
        first,
        step,
        limit,
        relation: test.relation,
        other_steps,
        starts,
        control: None,
        by: None,
    })
}

/// A limit in terms of what variables held before the loop.
fn limit_before(
    unit: &TranslationUnit,
    limit: &Expr,
    starts: &[Start],
    assigned: &BTreeMap<VarId, usize>,
) -> Result<Expr, Obstacle> {
    let moving = assigned.keys().copied().collect();
    if mentions(limit, &moving) {
        return Err("its limit changes".into());
    }
    if writes(limit) {
        let mut called = None;
        nest::expressions(limit, &mut |e| {
            if let ExprKind::Call { callee, .. } = &e.kind {
                called = match callee {
                    Callee::Named(v) => Some(unit.var(*v).name.clone()),
                    Callee::Builtin(name) => Some(name.clone()),
                    Callee::Pointer(_) => None,
                };
            }
        });
        return Err(match called {
            Some(name) => Obstacle {
                text: format!("{name} is called for its limit in each iteration"),
                advice: Some(Advice::CallBefore(name)),
            },
            None => "its limit changes".into(),
        });
    }
    Ok(substitute(limit, starts))
}

/// Type of a control variable as a number; pointers count as unsigned ones.
fn number_kind(unit: &TranslationUnit, v: VarId) -> Result<IntKind, String> {
    let (types, variable) = (&unit.types, unit.var(v));
    let kind = match types.pointee(variable.ty.ty) {
        Some(_) => Some(IntKind::ULong),
        None => types.as_int(variable.ty.ty).filter(|k| k.size() <= 8 && *k != IntKind::Bool),
    };
    let name = &variable.name;
    let kind = kind.ok_or_else(|| format!("{name} is no integer or pointer variable"))?;
    if variable.ty.quals.is_volatile || variable.ty.quals.is_atomic {
        return Err(format!("{name} is volatile or atomic"));
    }
    Ok(kind)
}

/// Whether nothing but the loop's own text changes a control variable.
fn stays_private(unit: &TranslationUnit, v: VarId) -> Result<(), Obstacle> {
    let variable = unit.var(v);
    if matches!(variable.storage, Storage::Local | Storage::Param) && !variable.address_taken {
        return Ok(());
    }
    let name = &variable.name;
    let text = format!("{name} may be changed through memory");
    Err(Obstacle { text, advice: Some(Advice::LocalCounter(name.clone())) })
}

/// What a loop's condition compares a variable with.
struct Test {
    limit: Expr,
    relation: Relation,
    /// What the test itself adds to the variable, and whether it compares the value of before.
    moves: Option<(i64, bool)>,
}

impl Test {
    /// Whether steps lead to the limit.
    fn ends(&self, name: &str, step: i64) -> Result<(), String> {
        let upward = matches!(self.relation, Relation::Lt | Relation::Le);
        let downward = matches!(self.relation, Relation::Gt | Relation::Ge);
        if upward && step < 0 || downward && step > 0 {
            return Err(format!("{name} moves away from its limit"));
        }
        Ok(())
    }
}

/// The variable that a side of a comparison is, with what moves it there.
fn tested<'a>(types: &Types, e: &'a Expr) -> Option<(VarId, &'a Expr)> {
    let mut e = strip(types, e);
    while let ExprKind::Cast(inner) = &e.kind
        && types.pointee(e.ty.ty).is_some()
        && types.pointee(inner.ty.ty).is_some()
    {
        e = inner;
    }
    match nest::accessed_place(e)? {
        (Place { kind: PlaceKind::Var(v), .. }, ..) => Some((*v, e)),
        _ => None,
    }
}

/// Reads a condition as a comparison of `v`.
fn test(unit: &TranslationUnit, cond: &Expr, v: VarId) -> Result<Test, String> {
    let types = &unit.types;
    let (limit, side, relation) = match &cond.kind {
        ExprKind::Binary(op, left, right) if !matches!(op, BinOp::And | BinOp::Or | BinOp::Xor) => {
            let own = |e| tested(types, e).filter(|(w, _)| *w == v);
            let (limit, side, flipped) = match (own(left), own(right)) {
                (Some((_, side)), None) => (&**right, side, false),
                (None, Some((_, side))) => (&**left, side, true),
                _ => return Err(format!("{} is not compared with a limit", unit.var(v).name)),
            };
            let relation = match op {
                BinOp::Ne => Relation::Ne,
                _ => Relation::of_order(*op, flipped)
                    .ok_or("its condition is no comparison that counting ends")?,
            };
            (limit.clone(), side, relation)
        }
        // A number is compared with 0.
        _ => {
            let (_, side) =
                tested(types, cond).filter(|(w, _)| *w == v).ok_or("its condition is no comparison")?;
            types.as_int(cond.ty.ty).ok_or("its condition is no comparison")?;
            let zero = Expr { kind: ExprKind::Int(0), ty: plain(cond.ty.ty), span: cond.span };
            (zero, side, Relation::Ne)
        }
    };
    if types.as_int(limit.ty.ty).is_none() && types.pointee(limit.ty.ty).is_none() {
        return Err("its comparison is not of integers or pointers".into());
    }
    let moves = match &side.kind {
        ExprKind::Load(_) => None,
        ExprKind::IncDec { post, .. } => Some((step_of(types, side, v), *post)),
        _ => Some((step_of(types, side, v), false)),
    };
    let moves = match moves {
        Some((step, post)) => Some((step.ok_or("its condition does more than count")?, post)),
        None => None,
    };
    Ok(Test { limit, relation, moves })
}

/// A loop that is counted by a counter of ours.
struct OtherForm {
    control: Control,
    /// All but its first value and limit, which are of the control variable's type still.
    counted: Counted,
    /// How far the value that the first test compares is ahead of the variable's first value.
    ahead: i64,
}

impl OtherForm {
    fn counted_by(self, unit: &TranslationUnit, counter: VarId) -> Result<Counted, String> {
        let OtherForm { control, counted, ahead } = self;
        let ty = unit.var(counter).ty;
        if let Some(by) = counted.by.clone() {
            let span = counted.limit.span;
            let first = Expr { kind: ExprKind::Int(0), ty, span };
            return Ok(Counted {
                iv: counter,
                kind: IntKind::Long,
                limit: turns(unit, &counted, &by, ty).ok_or("its step is not understood")?,
                first_inside: first.clone(),
                first,
                step: 1,
                relation: Relation::Lt,
                control: Some(control),
                ..counted
            });
        }
        let value = |e, ahead| {
            let (e, span) = (as_number(unit, e, ty), counted.limit.span);
            let ahead = Box::new(Expr { kind: ExprKind::Int(i128::from(ahead)), ty, span });
            match ahead.kind {
                ExprKind::Int(0) => e,
                _ => Expr { kind: ExprKind::Binary(BinOp::Add, Box::new(e), ahead), ty, span },
            }
        };
        // The test of the first iteration has moved the variable itself, but not what the first clause says.
        let is_set = counted.starts.iter().any(|start| start.var == control.var);
        let behind = if control.before && !is_set { counted.step } else { 0 };
        let first = value(counted.first, ahead);
        let first_inside = value(counted.first_inside, ahead - behind);
        let limit = as_number(unit, counted.limit, ty);
        Ok(Counted { iv: counter, first, first_inside, limit, control: Some(control), ..counted })
    }
}

/// How many turns a loop has whose step is no constant, as a number of the (signed, wide) type `ty`; 0 where that is not known.
fn turns(unit: &TranslationUnit, head: &Counted, by: &Stride, ty: QualType) -> Option<Expr> {
    let span = head.limit.span;
    let int = QualType { ty: unit.types.find_int(IntKind::Int)?, quals: Quals::default() };
    let cast = |e: &Expr, ty: QualType| match e.ty.ty == ty.ty {
        true => e.clone(),
        false => Expr { kind: ExprKind::Cast(Box::new(e.clone())), ty, span },
    };
    let number = |value, ty| Expr { kind: ExprKind::Int(value), ty, span };
    let binary =
        |op, a: Expr, b: Expr, ty| Expr { kind: ExprKind::Binary(op, Box::new(a), Box::new(b)), ty, span };
    let both = |a, b| Expr { kind: ExprKind::LogicalAnd(Box::new(a), Box::new(b)), ty: int, span };
    let (op, strict) = match (head.relation, by.down) {
        (Relation::Lt, false) => (BinOp::Lt, 1),
        (Relation::Le, false) => (BinOp::Le, 0),
        (Relation::Gt, true) => (BinOp::Gt, 1),
        (Relation::Ge, true) => (BinOp::Ge, 0),
        _ => return None,
    };
    // As the loop's own test compares them.
    let first = cast(&head.first, head.limit.ty);
    let (from, to) = (cast(&first, ty), cast(&head.limit, ty));
    let distance = if by.down { binary(BinOp::Sub, from, to, ty) } else { binary(BinOp::Sub, to, from, ty) };
    let distance = binary(BinOp::Sub, distance, number(strict, ty), ty);
    let whole = binary(BinOp::Div, distance.clone(), cast(&by.size, ty), ty);
    let turns = binary(BinOp::Add, whole, number(1, ty), ty);
    // A distance that doesn't fit is negative.
    let starts = binary(op, first, head.limit.clone(), int);
    let moves = binary(BinOp::Gt, cast(&by.size, ty), number(0, ty), int);
    let fits = binary(BinOp::Ge, distance, number(0, ty), int);
    let mut known = both(both(starts, moves), fits);
    // Compared as a number without a sign, one below zero is larger than all others: the variable must not come there.
    let has_sign = unit.types.as_int(head.limit.ty.ty).is_some_and(|kind| kind.signed());
    if head.kind.signed() && !has_sign {
        let moved = binary(BinOp::Mul, turns.clone(), cast(&by.size, ty), ty);
        let own = cast(&head.first, ty);
        let last = binary(if by.down { BinOp::Sub } else { BinOp::Add }, own.clone(), moved, ty);
        let zero = || number(0, ty);
        known = both(known, both(binary(BinOp::Ge, own, zero(), int), binary(BinOp::Ge, last, zero(), int)));
    }
    let kind = ExprKind::Conditional(Box::new(known), Box::new(turns), Box::new(number(0, ty)));
    Some(Expr { kind, ty, span })
}

/// A step by something that the loop doesn't change.
fn stride(
    unit: &TranslationUnit,
    part: &Expr,
    v: VarId,
    assigned: &BTreeMap<VarId, usize>,
) -> Option<Stride> {
    let ExprKind::AssignOp { op: op @ (BinOp::Add | BinOp::Sub), place, value, compute } = &part.kind else {
        return None;
    };
    let types = &unit.types;
    let counts = |ty: QualType| types.as_int(ty.ty).is_some_and(|k| k.size() <= 8 && k != IntKind::Bool);
    if !matches!(place.kind, PlaceKind::Var(x) if x == v)
        || !counts(place.ty)
        || !counts(*compute)
        || !counts(value.ty)
    {
        return None;
    }
    let mut plain = true;
    nest::expressions(value, &mut |e| {
        plain &= match &e.kind {
            ExprKind::Load(place) => super::scalars::is_scalar(unit, place)
                .is_some_and(|v| !assigned.contains_key(&v) && !place.ty.quals.is_volatile),
            ExprKind::Int(_) | ExprKind::Cast(_) => counts(e.ty),
            ExprKind::Binary(op, ..) => matches!(op, BinOp::Add | BinOp::Sub | BinOp::Mul),
            _ => false,
        };
    });
    plain.then(|| Stride { size: (**value).clone(), down: *op == BinOp::Sub })
}

/// Reads a head in all other forms.
fn other_form(unit: &TranslationUnit, l: &LoopStmt) -> Result<OtherForm, Obstacle> {
    let types = &unit.types;
    let cond = l.cond.as_ref().ok_or("it has no condition")?;
    let starts = starts(unit, l)?;
    let assigned = assigned(l);
    // The side of the condition that the loop changes.
    let sides: Vec<&Expr> = match &cond.kind {
        ExprKind::Binary(_, left, right) => vec![left, right],
        _ => vec![cond],
    };
    let mut changing = sides.into_iter().filter_map(|side| tested(types, side).map(|(v, _)| v));
    let v =
        changing.find(|v| assigned.contains_key(v)).ok_or("its condition compares nothing that it counts")?;
    let (kind, name) = (number_kind(unit, v)?, &unit.var(v).name);
    let test = test(unit, cond, v)?;
    if assigned.get(&v) != Some(&1) {
        return Err(format!("{name} is changed in several places").into());
    }
    let mut other_steps = Vec::new();
    if let Some(step) = &l.step {
        comma_parts(step, &mut other_steps);
    }
    let in_step = other_steps.iter().position(|part| step_of(types, part, v).is_some());
    let is_do = l.keyword == LoopKeyword::Do;
    let is_set = starts.iter().any(|start| start.var == v);
    let by = match test.moves {
        None if in_step.is_none() && is_set && l.keyword == LoopKeyword::For => {
            let found = other_steps.iter().position(|part| stride(unit, part, v, &assigned).is_some());
            found.and_then(|part| stride(unit, &other_steps.remove(part), v, &assigned))
        }
        _ => None,
    };
    let (step, ahead, before) = match (test.moves, in_step) {
        _ if by.is_some() => (1, 0, false),
        // The first test comes after the first iteration: what a test before that would have compared.
        (Some((step, post)), _) if is_do => (step, if post { -step } else { 0 }, false),
        (Some((step, post)), _) => (step, if post { 0 } else { step }, true),
        (None, Some(part)) => {
            let part = other_steps.remove(part);
            (step_of(types, &part, v).ok_or("its step does more than count")?, 0, false)
        }
        (None, None) => {
            let mut leaves = false;
            nest::statements(&l.body, &mut |s| {
                leaves |= matches!(s.kind, StmtKind::Continue | StmtKind::Break)
            });
            let mut updates = Vec::new();
            nest::unconditional_updates(&l.body, &mut updates);
            let update = updates.into_iter().find_map(|update| step_of(types, update, v));
            let step = update.filter(|_| !leaves);
            (step.ok_or_else(|| format!("{name} does not move by a constant in every iteration"))?, 0, false)
        }
    };
    match &by {
        Some(by) => test.ends(name, if by.down { -1 } else { 1 })?,
        None => test.ends(name, step)?,
    }
    if by.is_some() && test.relation == Relation::Ne {
        return Err("its step, which is no constant, may lead past its limit".into());
    }
    let limit = limit_before(unit, &test.limit, &starts, &assigned)?;
    stays_private(unit, v)?;
    let at_start = match starts.iter().find(|start| start.var == v) {
        Some(start) => start.value.clone(),
        None => {
            let (ty, span) = (plain(unit.var(v).ty.ty), cond.span);
            let place = Place { id: PlaceId(u32::MAX), kind: PlaceKind::Var(v), ty, span };
            Expr { kind: ExprKind::Load(place), ty, span }
        }
    };
    let counted = Counted {
        id: l.id,
        iv: v,
        iv_local: true,
        kind,
        first_inside: at_start.clone(),
        first: at_start,
        step,
        limit,
        relation: test.relation,
        other_steps,
        starts,
        control: None,
        by,
    };
    Ok(OtherForm { control: Control { var: v, before }, counted, ahead })
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
        ExprKind::PtrAssign { place, index, stride } if is_iv(place) => {
            number(index)?.checked_mul(i64::try_from(*stride).ok()?)
        }
        ExprKind::Assign(place, value) if is_iv(place) && types.pointee(place.ty.ty).is_some() => {
            match &value.kind {
                ExprKind::PtrAdd { pointer, index, stride } if matches!(&pointer.kind, ExprKind::Load(p) if is_iv(p)) => {
                    number(index)?.checked_mul(i64::try_from(*stride).ok()?)
                }
                _ => None,
            }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c::dialect::Dialect;
    use crate::compile::STAGES;

    #[test]
    fn steps_know_the_variable_before_it_moves() {
        for (head, is_plain) in [
            ("k = 0; k < n; k++", true),
            ("k = 0; k < n; k++, s++", true),
            ("k = 0; k < n; s += a[k], k++", true),
            ("k = 0; k < n; k++, s += a[k]", false),
            ("k = 0; k < n; s++, k += 2, b[k] = s", false),
            ("k = n; k > 0; --k, s = k", false),
        ] {
            let text =
                format!("void f(int n, const int *a, int *b, int s) {{ int k; for ({head}) b[k] = s; }}");
            let unit = (STAGES.unwrap().lower)(&text, &Dialect::default()).unwrap();
            let loops = nest::loops(&unit.functions[0]);
            assert_eq!(plain_form(&unit, loops[0].the_loop).is_ok(), is_plain, "{head}");
        }
    }

    #[test]
    fn a_first_clause_may_set_several_variables_at_once() {
        for (first, set) in [
            ("k = i = 0", Some(2)),
            ("k = i = c = n, s = 1", Some(4)),
            ("k = i = s", Some(2)),
            // What it held before; twice; memory.
            ("k = i = k + 1", None),
            ("k = i = 0, i = 1", None),
            ("k = b[0] = 0", None),
            ("k = i++", None),
        ] {
            let text = format!(
                "void f(int n, int *b, int s) {{ int k, i; unsigned char c; for ({first}; k < n; k++) b[k] = s; }}"
            );
            let unit = (STAGES.unwrap().lower)(&text, &Dialect::default()).unwrap();
            let loops = nest::loops(&unit.functions[0]);
            let found = starts(&unit, loops[0].the_loop);
            assert_eq!(found.ok().map(|starts| starts.len()), set, "{first}");
        }
    }
}
