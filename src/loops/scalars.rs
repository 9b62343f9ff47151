//! Roles of scalar variables in a loop: private, reduction, induction, or carried from one iteration to the next.
//!
//! A structured walk over one iteration finds which variables are read before they are written on some path, and which are
//! written on every path. Source: scalar privatization and reduction recognition as in the chapter's section 4.4.1.

use super::plan::{Bound, ReductionOp, ScalarRole};
use super::reason::{AccessNote, Advice, Kind, Reason};
use super::{leaving, nest, reductions};
use crate::c::hir::*;
use std::collections::{BTreeMap, BTreeSet};

/// What one iteration does to scalar variables.
#[derive(Default, Debug)]
struct Flow {
    /// Read while not yet written in this iteration, on some path.
    exposed: BTreeSet<VarId>,
    /// Written somewhere.
    written: BTreeSet<VarId>,
    /// Written on every path to the iteration's end; `None` before any end was seen.
    at_end: Option<BTreeSet<VarId>>,
}

/// `None`: this point is not reached.
type State = Option<BTreeSet<VarId>>;

fn meet(a: State, b: State) -> State {
    match (a, b) {
        (None, s) | (s, None) => s,
        (Some(a), Some(b)) => Some(a.intersection(&b).copied().collect()),
    }
}

/// Whether a place is a scalar variable that lives in no memory that a pointer can reach.
pub fn is_scalar(unit: &TranslationUnit, place: &Place) -> Option<VarId> {
    let PlaceKind::Var(v) = place.kind else { return None };
    let variable = unit.var(v);
    let scalar = matches!(
        unit.types.kind(variable.ty.ty),
        TypeKind::Int(_) | TypeKind::Enum(_) | TypeKind::Float(_) | TypeKind::Pointer(_)
    );
    (scalar && matches!(variable.storage, Storage::Local | Storage::Param) && !variable.address_taken)
        .then_some(v)
}

impl Flow {
    fn expr(&mut self, unit: &TranslationUnit, e: &Expr, state: &mut State) {
        match &e.kind {
            ExprKind::Load(p) => self.place(unit, p, state, true),
            ExprKind::AddressOf(p) => self.place(unit, p, state, false),
            ExprKind::Assign(p, value) => {
                self.place(unit, p, state, false);
                self.expr(unit, value, state);
                self.write(unit, p, state);
            }
            ExprKind::AssignOp { place, value, .. } => {
                self.place(unit, place, state, true);
                self.expr(unit, value, state);
                self.write(unit, place, state);
            }
            ExprKind::PtrAssign { place, index, .. } => {
                self.place(unit, place, state, true);
                self.expr(unit, index, state);
                self.write(unit, place, state);
            }
            ExprKind::IncDec { place, .. } => {
                self.place(unit, place, state, true);
                self.write(unit, place, state);
            }
            ExprKind::LogicalAnd(a, b) | ExprKind::LogicalOr(a, b) => {
                self.expr(unit, a, state);
                let before = state.clone();
                self.expr(unit, b, state);
                *state = meet(before, state.take());
            }
            ExprKind::Conditional(c, a, b) => {
                self.expr(unit, c, state);
                let mut other = state.clone();
                self.expr(unit, a, state);
                self.expr(unit, b, &mut other);
                *state = meet(state.take(), other);
            }
            ExprKind::Unary(_, a) | ExprKind::Cast(a) => self.expr(unit, a, state),
            ExprKind::Binary(_, a, b)
            | ExprKind::Comma(a, b)
            | ExprKind::PtrAdd { pointer: a, index: b, .. }
            | ExprKind::PtrDiff { left: a, right: b, .. } => {
                self.expr(unit, a, state);
                self.expr(unit, b, state);
            }
            ExprKind::Call { args, callee } => {
                if let Callee::Pointer(f) = callee {
                    self.expr(unit, f, state);
                }
                args.iter().for_each(|a| self.expr(unit, a, state));
            }
            _ => {}
        }
    }

    fn place(&mut self, unit: &TranslationUnit, p: &Place, state: &mut State, reads: bool) {
        if let Some(v) = is_scalar(unit, p) {
            if reads && state.as_ref().is_some_and(|s| !s.contains(&v)) {
                self.exposed.insert(v);
            }
            return;
        }
        match &p.kind {
            PlaceKind::Deref(e) => self.expr(unit, e, state),
            PlaceKind::Field { base, .. } => self.place(unit, base, state, reads),
            _ => {}
        }
    }

    fn write(&mut self, unit: &TranslationUnit, p: &Place, state: &mut State) {
        if let Some(v) = is_scalar(unit, p) {
            self.written.insert(v);
            if let Some(s) = state {
                s.insert(v);
            }
        }
    }

    /// `continues`: where a `continue` of the innermost loop leads; `breaks`: the same for `break`.
    fn stmt(
        &mut self,
        unit: &TranslationUnit,
        s: &Stmt,
        state: &mut State,
        continues: &mut State,
        breaks: &mut State,
    ) {
        match &s.kind {
            StmtKind::Expr(e) => self.expr(unit, e, state),
            StmtKind::Declare { var, init } => match init {
                Some(Init::Scalar(e)) => {
                    self.expr(unit, e, state);
                    self.written.insert(*var);
                    if let Some(s) = state {
                        s.insert(*var);
                    }
                }
                Some(Init::Members(list)) => list.iter().for_each(|(_, e)| self.expr(unit, e, state)),
                _ => {
                    // A fresh variable has no value: what it held in another iteration is gone.
                    if let Some(s) = state {
                        s.remove(var);
                    }
                }
            },
            StmtKind::Block(list) => list.iter().for_each(|s| self.stmt(unit, s, state, continues, breaks)),
            StmtKind::If { cond, then, otherwise } => {
                self.expr(unit, cond, state);
                let mut other = state.clone();
                self.stmt(unit, then, state, continues, breaks);
                if let Some(otherwise) = otherwise {
                    self.stmt(unit, otherwise, &mut other, continues, breaks);
                }
                *state = meet(state.take(), other);
            }
            StmtKind::Loop(l) => {
                l.init.iter().for_each(|s| self.stmt(unit, s, state, continues, breaks));
                self.turns(unit, l, state);
            }
            StmtKind::Return(value) => {
                if let Some(value) = value {
                    self.expr(unit, value, state);
                }
                *state = None;
            }
            StmtKind::Leave(_) => *state = None,
            StmtKind::Break => {
                *breaks = meet(breaks.take(), state.take());
            }
            StmtKind::Continue => {
                *continues = meet(continues.take(), state.take());
            }
            _ => {}
        }
    }

    /// The turns of a loop, from its condition (for `do`: its body) to its end.
    fn turns(&mut self, unit: &TranslationUnit, l: &LoopStmt, state: &mut State) {
        if l.keyword != LoopKeyword::Do
            && let Some(cond) = &l.cond
        {
            self.expr(unit, cond, state);
        }
        let skipped = state.clone();
        let (mut inner_continues, mut inner_breaks) = (None, None);
        self.stmt(unit, &l.body, state, &mut inner_continues, &mut inner_breaks);
        *state = meet(state.take(), inner_continues);
        if let Some(step) = &l.step {
            self.expr(unit, step, state);
        }
        if l.keyword == LoopKeyword::Do {
            if let Some(cond) = &l.cond {
                self.expr(unit, cond, state);
            }
            *state = meet(state.take(), inner_breaks);
        } else {
            // The body may not run at all; and what a `for` without condition does is left by `break` only.
            *state = meet(meet(skipped, state.take()), inner_breaks);
        }
    }

    /// Follows what is executed after the loop `whole`, if that stands in `s`: whether it does.
    fn after(
        &mut self,
        unit: &TranslationUnit,
        s: &Stmt,
        whole: LoopId,
        state: &mut State,
        continues: &mut State,
        breaks: &mut State,
    ) -> bool {
        match &s.kind {
            StmtKind::Loop(l) if l.id == whole => {
                *state = Some(BTreeSet::new());
                true
            }
            StmtKind::Block(list) => {
                let mut found = false;
                for s in list {
                    match found {
                        true => self.stmt(unit, s, state, continues, breaks),
                        false => found = self.after(unit, s, whole, state, continues, breaks),
                    }
                }
                found
            }
            StmtKind::If { then, otherwise, .. } => {
                self.after(unit, then, whole, state, continues, breaks)
                    || otherwise
                        .as_ref()
                        .is_some_and(|s| self.after(unit, s, whole, state, continues, breaks))
            }
            StmtKind::Loop(l) => {
                let (mut inner_continues, mut inner_breaks) = (None, None);
                if !self.after(unit, &l.body, whole, state, &mut inner_continues, &mut inner_breaks) {
                    return false;
                }
                // The turn that it stands in ends; there may be others, in which it is a loop like any other.
                *state = meet(state.take(), inner_continues);
                if let Some(step) = &l.step {
                    self.expr(unit, step, state);
                }
                if l.keyword == LoopKeyword::Do
                    && let Some(cond) = &l.cond
                {
                    self.expr(unit, cond, state);
                }
                let last = state.clone();
                self.turns(unit, l, state);
                *state = meet(meet(last, state.take()), inner_breaks);
                true
            }
            _ => false,
        }
    }
}

/// Variables whose value after a loop may be read: on some way from there they are read before they are assigned.
fn live_after(unit: &TranslationUnit, body: &Stmt, whole: &LoopStmt) -> BTreeSet<VarId> {
    let mut structured = true;
    nest::statements(body, &mut |s| {
        structured &= !matches!(
            s.kind,
            StmtKind::Switch { .. } | StmtKind::Case { .. } | StmtKind::Label { .. } | StmtKind::Goto(_)
        );
    });
    let mut flow = Flow::default();
    if structured && flow.after(unit, body, whole.id, &mut None, &mut None, &mut None) {
        flow.exposed
    } else {
        read_outside(body, whole)
    }
}

/// Why a loop's scalars keep its iterations from being independent.
pub type Carried = Reason;

/// What is known of a loop's scalars before their roles are.
pub struct Given<'a> {
    /// The induction variables of its merged dimensions, and whether the loop itself declares them.
    pub inductions: &'a [(VarId, bool)],
    /// Those that move beside them, by how much in each iteration.
    pub secondary: &'a BTreeMap<VarId, Bound>,
    /// Those that have their value of the iteration before when an iteration starts.
    pub carried: &'a BTreeSet<VarId>,
    /// Whether floating-point arithmetic may be reordered.
    pub reassociate: bool,
}

/// The roles of all variables that `body` assigns and that are declared outside of it. `whole` is the loop statement that a
/// plan is made for.
pub fn roles(
    unit: &TranslationUnit,
    function: &Function,
    whole: &LoopStmt,
    body: &Stmt,
    given: &Given,
) -> Result<BTreeMap<VarId, ScalarRole>, Carried> {
    let Given { inductions, secondary, reassociate, .. } = *given;
    let mut flow = Flow::default();
    let mut state: State =
        Some(inductions.iter().map(|(v, _)| *v).chain(given.carried.iter().copied()).collect());
    let (mut continues, mut breaks) = (None, None);
    flow.stmt(unit, body, &mut state, &mut continues, &mut breaks);
    flow.at_end = meet(state, continues);
    let mut declared = BTreeSet::new();
    nest::statements(body, &mut |s| {
        if let StmtKind::Declare { var, .. } = &s.kind {
            declared.insert(*var);
        }
    });
    let mut live =
        live_after(unit, unit.bodies_by_members.get(&function.var).unwrap_or(&function.body), whole);
    if may_read_unseen(unit, function, whole) {
        live.extend(flow.written.difference(&declared));
        live.extend(inductions.iter().map(|(v, _)| v));
    }
    if !unit.members.is_empty() {
        let read = read_outside(&function.body, whole);
        live.extend(unit.members.iter().filter(|(_, of)| read.contains(of)).map(|(member, _)| member));
    }
    // Whoever goes on with the iteration that leaves begins with what its ways out read.
    let mut sees_all = false;
    for out in leaving::ways_out(body) {
        nest::all_expressions(out, &mut |e| {
            if let ExprKind::Load(place) | ExprKind::AddressOf(place) = &e.kind {
                live.extend(nest::root_variable(place));
            }
            if let Some((place, true, true)) = nest::accessed_place(e) {
                live.extend(nest::root_variable(place));
            }
        });
        nest::statements(out, &mut |s| sees_all |= hides(unit, s));
    }
    let is_left = leaving::has_ways_out(body);
    if sees_all {
        live.extend(flow.written.difference(&declared));
    }
    // What the loop itself declares, in first clauses too, is gone after it; and so is its name.
    let (mut own, mut unset) = (BTreeSet::new(), BTreeSet::new());
    let mut note = |s: &Stmt| {
        if let StmtKind::Declare { var, init } = &s.kind {
            own.insert(*var);
            if init.is_none() && !declared.contains(var) {
                unset.insert(*var);
            }
        }
    };
    whole.init.iter().for_each(|first| nest::statements(first, &mut note));
    nest::statements(&whole.body, &mut note);
    live.retain(|v| !own.contains(v));
    if let Some(v) = unset.iter().find(|v| flow.exposed.contains(v) || secondary.contains_key(v)) {
        let text = format!("{} may be read before it has a value", unit.var(*v).name);
        return Err(Reason::new(Kind::UninitialisedScalar, text));
    }
    let mut roles = BTreeMap::new();
    for (number, (iv, local)) in inductions.iter().enumerate() {
        let live_out = is_left && number == 0 || !local && live.contains(iv);
        roles.insert(*iv, ScalarRole::Induction { dim: number, live_out });
    }
    for (v, step) in secondary {
        roles.insert(*v, ScalarRole::Secondary { step: step.clone() });
    }
    let outside: Vec<VarId> =
        flow.written.iter().copied().filter(|v| !declared.contains(v) && !roles.contains_key(v)).collect();
    // Extremes first: they say what becomes of the variables that are assigned beside them.
    for &v in outside.iter().filter(|v| flow.exposed.contains(v)) {
        let number = is_exact(unit, v) || is_accumulable(unit, v);
        let Some(found) = reductions::extreme(unit, body, v).filter(|_| number) else { continue };
        if found.companions.is_empty() && reductions::reduction(unit, body, v).is_some() && is_exact(unit, v)
        {
            continue;
        }
        if found.companions.iter().all(|c| outside.contains(c) && !roles.contains_key(c)) {
            roles.insert(v, ScalarRole::Extreme { taking: found.taking });
            roles.extend(found.companions.iter().map(|c| (*c, ScalarRole::Companion { of: v })));
        }
    }
    for v in outside {
        if roles.contains_key(&v) {
            continue;
        }
        let name = &unit.var(v).name;
        if !flow.exposed.contains(&v) {
            // The calling thread hands a carried value on as it hands on the last one.
            let last_value = live.contains(&v) || given.carried.contains(&v);
            if last_value && !flow.at_end.as_ref().is_some_and(|s| s.contains(&v)) {
                let text = format!("{name} is used after the loop, and not every iteration assigns it");
                return Err(Reason::new(Kind::ConditionalLastValue, text).about(accesses_of(unit, body, v)));
            }
            roles.insert(v, ScalarRole::Private { last_value });
            continue;
        }
        let ty = unit.var(v).ty.ty;
        let role = match (reductions::reduction(unit, body, v), unit.types.as_int(ty)) {
            (Some(op), Some(kind)) if is_exact(unit, v) => ScalarRole::Reduction { op, kind },
            (Some(op @ (ReductionOp::Add | ReductionOp::Mul)), None) if is_accumulable(unit, v) => {
                if !reassociate {
                    let text = format!(
                        "a floating-point value is accumulated in {name}: the order of its additions is part of the result \
                         (-fparagon-reassoc or -ffast-math give it free)"
                    );
                    let apart = (op == ReductionOp::Add).then(|| Advice::SumApart(name.clone()));
                    return Err(Reason::new(Kind::FloatingPointOrder, text)
                        .about(accesses_of(unit, body, v))
                        .settled_by(apart.into_iter().chain([Advice::Reassociate])));
                }
                ScalarRole::Accumulation { op }
            }
            _ => return Err(carried(unit, body, v)),
        };
        roles.insert(v, role);
    }
    // A variable declared inside that is read before it is written carries garbage, not a value of another iteration;
    // such code is not touched.
    if let Some(v) = flow.exposed.iter().find(|v| declared.contains(v)) {
        return Err(uninitialised(unit, *v));
    }
    Ok(roles)
}

fn carried(unit: &TranslationUnit, body: &Stmt, v: VarId) -> Carried {
    let text = format!("{} carries a value from one iteration to the next", unit.var(v).name);
    Reason::new(Kind::CarriedScalar, text).about(accesses_of(unit, body, v))
}

fn uninitialised(unit: &TranslationUnit, v: VarId) -> Carried {
    let name = &unit.var(v).name;
    Reason::new(Kind::UninitialisedScalar, format!("{name} may be read before it has a value"))
        .settled_by([Advice::Initialise(name.clone())])
}

/// The first place that assigns a variable, and the first that reads it.
fn accesses_of(unit: &TranslationUnit, body: &Stmt, v: VarId) -> Vec<AccessNote> {
    let (mut store, mut load) = (None, None);
    nest::all_expressions(body, &mut |e| {
        if let Some((place, reads, writes)) = nest::accessed_place(e)
            && matches!(place.kind, PlaceKind::Var(x) if x == v)
        {
            let note = |is_store| AccessNote { text: unit.var(v).name.clone(), is_store, span: place.span };
            if writes {
                store.get_or_insert(note(true));
            }
            if reads {
                load.get_or_insert(note(false));
            }
        }
    });
    store.into_iter().chain(load).collect()
}

/// Variables that are read somewhere in the function outside of the loop.
fn read_outside(body: &Stmt, whole: &LoopStmt) -> BTreeSet<VarId> {
    fn walk(s: &Stmt, whole: LoopId, out: &mut BTreeSet<VarId>) {
        if let StmtKind::Loop(l) = &s.kind
            && l.id == whole
        {
            return;
        }
        for e in nest::direct_expressions(s) {
            nest::expressions(e, &mut |e| {
                if let ExprKind::Load(p) | ExprKind::AddressOf(p) = &e.kind
                    && let Some(v) = nest::root_variable(p)
                {
                    out.insert(v);
                }
                if let Some((p, true, true)) = nest::accessed_place(e)
                    && let Some(v) = nest::root_variable(p)
                {
                    out.insert(v);
                }
            });
        }
        match &s.kind {
            StmtKind::Block(list) => list.iter().for_each(|s| walk(s, whole, out)),
            StmtKind::If { then, otherwise, .. } => {
                walk(then, whole, out);
                if let Some(otherwise) = otherwise {
                    walk(otherwise, whole, out);
                }
            }
            StmtKind::Loop(l) => {
                l.init.iter().for_each(|s| walk(s, whole, out));
                walk(&l.body, whole, out);
            }
            StmtKind::Switch { body, .. } | StmtKind::Case { body, .. } | StmtKind::Label { body, .. } => {
                walk(body, whole, out);
            }
            _ => {}
        }
    }
    let mut out = BTreeSet::new();
    walk(body, whole.id, &mut out);
    out
}

/// Whether a statement evaluates something whose expressions the typed tree doesn't have.
pub fn hides(unit: &TranslationUnit, s: &Stmt) -> bool {
    let mut hides = match &s.kind {
        StmtKind::Opaque(_) | StmtKind::Declare { init: Some(Init::Aggregate), .. } => true,
        StmtKind::Declare { var, .. } => has_unseen_length(unit, unit.var(*var).ty.ty),
        _ => false,
    };
    for e in nest::direct_expressions(s) {
        nest::expressions(e, &mut |e| {
            let place = match &e.kind {
                ExprKind::Load(p) | ExprKind::AddressOf(p) => Some(p),
                _ => nest::accessed_place(e).map(|(p, ..)| p),
            };
            let mut opaque = matches!(e.kind, ExprKind::Opaque(_));
            let mut place = place;
            while let Some(p) = place {
                opaque |= matches!(p.kind, PlaceKind::Opaque(_));
                place = if let PlaceKind::Field { base, .. } = &p.kind { Some(base) } else { None };
            }
            hides |= opaque;
        });
    }
    hides
}

/// Whether something whose expressions the typed tree doesn't have (the initialiser of an aggregate, a compound literal, a
/// statement expression, the length of an array) may be evaluated after the loop: it may read any variable. It is not
/// evaluated after the loop if it stands before it, outside of all loops around it, unless there are jumps.
fn may_read_unseen(unit: &TranslationUnit, function: &Function, whole: &LoopStmt) -> bool {
    let mut jumps = false;
    nest::statements(&function.body, &mut |s| {
        jumps |= matches!(s.kind, StmtKind::Goto(_) | StmtKind::Label { .. });
    });
    let holds = |s: &Stmt| {
        let mut holds = false;
        nest::statements(s, &mut |inner| {
            holds |= matches!(&inner.kind, StmtKind::Loop(l) if l.id == whole.id);
        });
        holds
    };
    /// `again`: whether what stands before the loop may be evaluated after it.
    fn walk(
        unit: &TranslationUnit,
        s: &Stmt,
        whole: LoopId,
        holds: &dyn Fn(&Stmt) -> bool,
        again: bool,
        passed: &mut bool,
    ) -> bool {
        if matches!(&s.kind, StmtKind::Loop(l) if l.id == whole) {
            *passed = true;
            return false;
        }
        let again = again || matches!(s.kind, StmtKind::Loop(_)) && holds(s);
        if (again || *passed) && hides(unit, s) {
            return true;
        }
        let mut inside = |s: &Stmt| walk(unit, s, whole, holds, again, passed);
        match &s.kind {
            StmtKind::Block(list) => list.iter().any(inside),
            StmtKind::If { then, otherwise, .. } => {
                inside(then) || otherwise.as_ref().is_some_and(|s| inside(s))
            }
            StmtKind::Loop(l) => l.init.iter().any(&mut inside) || inside(&l.body),
            StmtKind::Switch { body, .. } | StmtKind::Case { body, .. } | StmtKind::Label { body, .. } => {
                inside(body)
            }
            _ => false,
        }
    }
    walk(unit, &function.body, whole.id, &holds, jumps, &mut false)
}

/// Whether a type has a length that is computed where the type is written.
fn has_unseen_length(unit: &TranslationUnit, ty: TypeId) -> bool {
    match unit.types.kind(ty) {
        TypeKind::Array(_, ArrayLen::Variable(_)) => true,
        TypeKind::Array(inner, _) | TypeKind::Pointer(inner) => has_unseen_length(unit, inner.ty),
        _ => false,
    }
}

/// Whether reductions of a variable are exact in any order: an integer.
fn is_exact(unit: &TranslationUnit, v: VarId) -> bool {
    unit.types.as_int(unit.var(v).ty.ty).is_some_and(|kind| kind.size() <= 8 && kind != IntKind::Bool)
}

/// Whether sums and products in a variable can be accumulated in parts: `float` and `double`.
fn is_accumulable(unit: &TranslationUnit, v: VarId) -> bool {
    matches!(unit.types.as_float(unit.var(v).ty.ty), Some(FloatKind::Float | FloatKind::Double))
}

/// Whether two expressions without side effects are written alike (and so have the same value at the same moment).
/// Conversions count: a minimum of values that were compared in another type is none.
pub fn same(a: &Expr, b: &Expr) -> bool {
    if a.ty.ty != b.ty.ty {
        return false;
    }
    match (&a.kind, &b.kind) {
        (ExprKind::Int(x), ExprKind::Int(y)) => x == y,
        (ExprKind::Float(x), ExprKind::Float(y)) => x == y,
        (ExprKind::Load(x), ExprKind::Load(y)) | (ExprKind::AddressOf(x), ExprKind::AddressOf(y)) => {
            same_place(x, y)
        }
        (ExprKind::Cast(x), ExprKind::Cast(y)) => same(x, y),
        (ExprKind::Unary(o, x), ExprKind::Unary(p, y)) => o == p && same(x, y),
        (ExprKind::Conditional(a, b, c), ExprKind::Conditional(d, e, f)) => {
            same(a, d) && same(b, e) && same(c, f)
        }
        (ExprKind::LogicalAnd(a, b), ExprKind::LogicalAnd(c, d))
        | (ExprKind::LogicalOr(a, b), ExprKind::LogicalOr(c, d)) => same(a, c) && same(b, d),
        // The functions that loops may call compute their results of nothing but their arguments.
        (ExprKind::Call { callee: f, args: a }, ExprKind::Call { callee: g, args: b }) => {
            let one = match (f, g) {
                (Callee::Named(f), Callee::Named(g)) => f == g,
                (Callee::Builtin(f), Callee::Builtin(g)) => f == g,
                _ => false,
            };
            one && a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (ExprKind::Binary(o, a, b), ExprKind::Binary(p, c, d)) => o == p && same(a, c) && same(b, d),
        (
            ExprKind::PtrAdd { pointer: a, index: b, stride: s },
            ExprKind::PtrAdd { pointer: c, index: d, stride: t },
        ) => s == t && same(a, c) && same(b, d),
        _ => false,
    }
}

/// See [`same`].
pub fn same_place(a: &Place, b: &Place) -> bool {
    match (&a.kind, &b.kind) {
        (PlaceKind::Var(x), PlaceKind::Var(y)) => x == y,
        (PlaceKind::Deref(x), PlaceKind::Deref(y)) => same(x, y),
        (
            PlaceKind::Field { base: x, offset: o, bits: b, .. },
            PlaceKind::Field { base: y, offset: p, bits: c, .. },
        ) => o == p && b == c && same_place(x, y),
        _ => false,
    }
}
