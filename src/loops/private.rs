//! Arrays and structs that a loop's body declares: each iteration has its own, so that no access of them is one of memory that
//! iterations share. Generated code gives them to each iteration as local arrays; what is left of a place in one is a byte
//! offset, which devices check against the size.
//!
//! That holds only for objects whose addresses stay in the places that lead to their elements (`loops::access` refuses all
//! other uses), and whose elements are never read before the iteration has written them: what is there then is what the
//! stack held, which in the program is often what an earlier iteration left. [`unwritten`] shows it, byte by byte, along all
//! paths. Loops with constant bounds are followed turn by turn; behind an index that isn't known there a store counts for
//! nothing, and a load for all of the object.
//!
//! Scalars whose address is taken, by what a called function is given say, are such objects, too.

use super::counted::counted;
use super::nest;
use super::plan::Relation;
use super::reason::{Advice, Kind, Reason};
use super::scalars::is_scalar;
use crate::c::constant::wrap;
use crate::c::hir::*;
use std::collections::BTreeMap;
use std::ops::Range;

/// Bytes that one iteration may have in all: thousands of them are on a GPU at a time, and each has its own.
const LARGEST: u64 = 4096;

/// Statements that are followed turn by turn; loops after that are followed once.
const STEPS: usize = 100_000;

/// Turns of a loop that is followed turn by turn.
const TURNS: usize = LARGEST as usize;

/// The objects of a body with their sizes.
pub type Objects = BTreeMap<VarId, u64>;

/// The objects that a body declares.
pub fn find(unit: &TranslationUnit, body: &Stmt) -> Result<Objects, Reason> {
    let mut found = Objects::new();
    let mut problem: Option<Reason> = None;
    nest::statements(body, &mut |s| {
        let StmtKind::Declare { var, .. } = &s.kind else { return };
        let variable = unit.var(*var);
        let place =
            Place { id: PlaceId(u32::MAX), kind: PlaceKind::Var(*var), ty: variable.ty, span: s.span };
        if is_scalar(unit, &place).is_some() {
            return;
        }
        let name = &variable.name;
        let unsupported = |text: String| Reason::new(Kind::UnsupportedType, text);
        let why = match unit.types.kind(variable.ty.ty) {
            _ if variable.ty.quals.is_volatile || variable.ty.quals.is_atomic => {
                Reason::new(Kind::VolatileAccess, format!("it has the volatile or atomic variable {name}"))
            }
            TypeKind::Array(_, ArrayLen::Variable(_)) => {
                unsupported(format!("the length of its local array {name} is not constant"))
            }
            TypeKind::Opaque { .. } | TypeKind::Void | TypeKind::Function { .. } => {
                unsupported(format!("it has the local variable {name}, whose type is not supported"))
            }
            _ => match unit.types.size_of(variable.ty.ty).filter(|size| *size != 0) {
                Some(size) => {
                    found.insert(*var, size);
                    return;
                }
                None => unsupported(format!("the size of its local variable {name} is not known")),
            },
        };
        problem.get_or_insert(why);
    });
    if let Some(why) = problem {
        return Err(why);
    }
    let total = found.values().fold(0u64, |total, size| total.saturating_add(*size));
    if let Some((largest, _)) = found.iter().max_by_key(|(_, size)| **size).filter(|_| total > LARGEST) {
        let name = &unit.var(*largest).name;
        let text = format!("its local variables, {name} say, take more than {LARGEST} bytes");
        return Err(Reason::new(Kind::TooLarge, text));
    }
    Ok(found)
}

/// A place in an object: the byte offset is a constant and indices times the sizes of what they count.
pub struct Part<'e> {
    /// The object.
    pub var: VarId,
    /// The constant; `None`: too large to be one.
    pub constant: Option<i64>,
    /// The indices.
    pub indices: Vec<(&'e Expr, u64)>,
}

/// Finds the object that a place is part of, as far as its text says; whose it is isn't asked.
pub fn part<'e>(types: &Types, place: &'e Place) -> Option<Part<'e>> {
    match &place.kind {
        PlaceKind::Var(v) => Some(Part { var: *v, constant: Some(0), indices: Vec::new() }),
        PlaceKind::Deref(pointer) => pointed(types, pointer),
        PlaceKind::Field { base, offset, .. } => {
            let mut part = part(types, base)?;
            part.constant = part.constant.and_then(|at| at.checked_add(i64::try_from(*offset).ok()?));
            Some(part)
        }
        PlaceKind::Opaque(_) => None,
    }
}

fn pointed<'e>(types: &Types, pointer: &'e Expr) -> Option<Part<'e>> {
    match &pointer.kind {
        ExprKind::AddressOf(place) => part(types, place),
        ExprKind::PtrAdd { pointer, index, stride } => {
            let mut part = pointed(types, pointer)?;
            part.indices.push((index, *stride));
            Some(part)
        }
        // Another type would find other bytes there than were stored.
        ExprKind::Cast(inner) => {
            let (to, from) = (types.pointee(pointer.ty.ty)?, types.pointee(inner.ty.ty)?);
            (to.ty == from.ty).then(|| pointed(types, inner)).flatten()
        }
        _ => None,
    }
}

/// The object of a body that a place is part of.
pub fn object(types: &Types, objects: &Objects, place: &Place) -> Option<VarId> {
    if objects.is_empty() {
        return None;
    }
    part(types, place).map(|part| part.var).filter(|v| objects.contains_key(v))
}

/// Why a body may read something of its objects that it hasn't written, if so.
pub fn unwritten(unit: &TranslationUnit, objects: &Objects, body: &Stmt) -> Option<Reason> {
    if objects.is_empty() {
        return None;
    }
    let mut flow = Flow { unit, objects, known: BTreeMap::new(), steps: 0, found: None };
    flow.statement(body, &mut Some(BTreeMap::new()), &mut None, &mut None);
    let (v, line) = flow.found?;
    let name = &unit.var(v).name;
    let text = format!("an element of {name} may be read before it has a value, in line {line}");
    Some(Reason::new(Kind::UninitialisedScalar, text).settled_by([Advice::Initialise(name.clone())]))
}

/// The bytes of an object that have been written.
#[derive(Clone, PartialEq, Debug)]
struct Bytes(Vec<u64>);

impl Bytes {
    fn new(size: u64, written: bool) -> Bytes {
        Bytes(vec![if written { u64::MAX } else { 0 }; size.div_ceil(64) as usize])
    }
    fn set(&mut self, at: u64, written: bool) {
        if let Some(word) = self.0.get_mut((at / 64) as usize) {
            *word = *word & !(1 << (at % 64)) | u64::from(written) << (at % 64);
        }
    }
    fn has(&self, at: u64) -> bool {
        self.0.get((at / 64) as usize).is_some_and(|word| word >> (at % 64) & 1 == 1)
    }
    fn both(&mut self, other: &Bytes) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a &= b);
    }
}

/// Marks the bytes that values of a type occupy as not written; what is between them nobody reads.
fn clear_values(types: &Types, ty: TypeId, at: u64, bytes: &mut Bytes) {
    match types.kind(ty) {
        TypeKind::Array(element, ArrayLen::Known(length)) => {
            let size = types.size_of(element.ty).unwrap_or(0);
            (0..*length).for_each(|k| clear_values(types, element.ty, at + k * size, bytes));
        }
        TypeKind::Record(id) => {
            for field in types.record(*id).fields.iter().flatten() {
                clear_values(types, field.ty.ty, at + field.offset, bytes);
            }
        }
        _ => {
            let size = types.size_of(ty).unwrap_or(0);
            (at..at + size).for_each(|at| bytes.set(at, false));
        }
    }
}

/// `None`: this point is not reached.
type State = Option<BTreeMap<VarId, Bytes>>;

fn meet(a: State, b: State) -> State {
    match (a, b) {
        (None, s) | (s, None) => s,
        (Some(mut a), Some(b)) => {
            a.retain(|v, _| b.contains_key(v));
            a.iter_mut().for_each(|(v, bytes)| bytes.both(&b[v]));
            Some(a)
        }
    }
}

struct Flow<'a> {
    unit: &'a TranslationUnit,
    objects: &'a Objects,
    /// Variables of the loops that are followed turn by turn.
    known: BTreeMap<VarId, i128>,
    steps: usize,
    /// The first object that is read too early, and the line.
    found: Option<(VarId, u32)>,
}

impl Flow<'_> {
    /// The value of an integer expression in this turn.
    fn value(&self, e: &Expr) -> Option<i128> {
        let kind = self.unit.types.as_int(e.ty.ty)?;
        let value = match &e.kind {
            ExprKind::Int(value) => *value,
            ExprKind::Load(place) => *self.known.get(&is_scalar(self.unit, place)?)?,
            ExprKind::Cast(inner) => self.value(inner)?,
            ExprKind::Unary(UnOp::Neg, a) => self.value(a)?.checked_neg()?,
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.value(a)?, self.value(b)?);
                match op {
                    BinOp::Add => a.checked_add(b)?,
                    BinOp::Sub => a.checked_sub(b)?,
                    BinOp::Mul => a.checked_mul(b)?,
                    BinOp::Div => a.checked_div(b)?,
                    BinOp::Rem => a.checked_rem(b)?,
                    _ => return None,
                }
            }
            _ => return None,
        };
        wrap(value, kind)
    }

    /// The bytes of an object that a place is, where they are known; none that are outside of the object.
    fn bytes(&self, part: &Part, ty: TypeId) -> Option<Option<Range<u64>>> {
        let mut at = i128::from(part.constant?);
        for (index, stride) in &part.indices {
            at = at.checked_add(self.value(index)?.checked_mul(i128::from(*stride))?)?;
        }
        let size = self.unit.types.size_of(ty)?;
        let inside = |at: u64| {
            let end = at.checked_add(size)?;
            (end <= self.objects[&part.var]).then_some(at..end)
        };
        Some(u64::try_from(at).ok().and_then(inside))
    }

    fn part<'e>(&self, place: &'e Place) -> Option<Part<'e>> {
        part(&self.unit.types, place).filter(|part| self.objects.contains_key(&part.var))
    }

    fn reads(&mut self, place: &Place, state: &State) {
        let (Some(part), Some(state)) = (self.part(place), state) else { return };
        let range = self.bytes(&part, place.ty.ty).unwrap_or(Some(0..self.objects[&part.var]));
        let bytes = state.get(&part.var);
        if !range.zip(bytes).is_some_and(|(mut range, bytes)| range.all(|at| bytes.has(at))) {
            self.found.get_or_insert((part.var, place.span.line));
        }
    }

    fn writes(&mut self, place: &Place, state: &mut State) {
        if let (Some(part), Some(state)) = (self.part(place), state)
            && let Some(Some(range)) = self.bytes(&part, place.ty.ty)
            && let Some(bytes) = state.get_mut(&part.var)
        {
            range.for_each(|at| bytes.set(at, true));
        }
    }

    fn place(&mut self, place: &Place, state: &mut State) {
        match &place.kind {
            PlaceKind::Deref(e) => self.expression(e, state),
            PlaceKind::Field { base, .. } => self.place(base, state),
            _ => {}
        }
    }

    fn expression(&mut self, e: &Expr, state: &mut State) {
        match &e.kind {
            ExprKind::Load(place) => {
                self.place(place, state);
                self.reads(place, state);
            }
            ExprKind::AddressOf(place) => self.place(place, state),
            ExprKind::Assign(place, value) => {
                self.place(place, state);
                self.expression(value, state);
                self.writes(place, state);
            }
            ExprKind::AssignOp { place, value, .. } | ExprKind::PtrAssign { place, index: value, .. } => {
                self.place(place, state);
                self.expression(value, state);
                self.reads(place, state);
                self.writes(place, state);
            }
            ExprKind::IncDec { place, .. } => {
                self.place(place, state);
                self.reads(place, state);
                self.writes(place, state);
            }
            ExprKind::LogicalAnd(a, b) | ExprKind::LogicalOr(a, b) => {
                self.expression(a, state);
                let before = state.clone();
                self.expression(b, state);
                *state = meet(before, state.take());
            }
            ExprKind::Conditional(c, a, b) => {
                self.expression(c, state);
                let mut other = state.clone();
                self.expression(a, state);
                self.expression(b, &mut other);
                *state = meet(state.take(), other);
            }
            ExprKind::Unary(_, a) | ExprKind::Cast(a) => self.expression(a, state),
            ExprKind::Binary(_, a, b)
            | ExprKind::Comma(a, b)
            | ExprKind::PtrAdd { pointer: a, index: b, .. }
            | ExprKind::PtrDiff { left: a, right: b, .. } => {
                self.expression(a, state);
                self.expression(b, state);
            }
            ExprKind::Call { callee, args } => {
                if let Callee::Pointer(f) = callee {
                    self.expression(f, state);
                }
                args.iter().for_each(|a| self.expression(a, state));
            }
            _ => {}
        }
    }

    fn declare(&mut self, v: VarId, init: Option<&Init>, state: &mut State) {
        let size = self.objects.get(&v).copied();
        // A fresh object has no value, and has none yet where its own is computed.
        if let (Some(state), Some(size)) = (state.as_mut(), size) {
            let mut bytes = Bytes::new(size, true);
            clear_values(&self.unit.types, self.unit.var(v).ty.ty, 0, &mut bytes);
            state.insert(v, bytes);
        }
        match init {
            None => return,
            Some(Init::Scalar(e)) => self.expression(e, state),
            Some(Init::Members(list)) => list.iter().for_each(|(_, e)| self.expression(e, state)),
            Some(Init::Aggregate) => {}
        }
        if let (Some(state), Some(size)) = (state, size) {
            state.insert(v, Bytes::new(size, true));
        }
    }

    /// `continues`: where a `continue` of the innermost loop leads; `breaks`: the same for `break`.
    fn statement(&mut self, s: &Stmt, state: &mut State, continues: &mut State, breaks: &mut State) {
        self.steps += 1;
        match &s.kind {
            StmtKind::Expr(e) => self.expression(e, state),
            StmtKind::Declare { var, init } => self.declare(*var, init.as_ref(), state),
            StmtKind::Block(list) => list.iter().for_each(|s| self.statement(s, state, continues, breaks)),
            StmtKind::If { cond, then, otherwise } => {
                self.expression(cond, state);
                let mut other = state.clone();
                self.statement(then, state, continues, breaks);
                if let Some(otherwise) = otherwise {
                    self.statement(otherwise, &mut other, continues, breaks);
                }
                *state = meet(state.take(), other);
            }
            StmtKind::Loop(l) => {
                l.init.iter().for_each(|s| self.statement(s, state, continues, breaks));
                match self.turns(l) {
                    Some((iv, values)) => self.turn_by_turn(l, iv, &values, state),
                    None => self.any_turns(l, state),
                }
            }
            StmtKind::Break => *breaks = meet(breaks.take(), state.take()),
            StmtKind::Continue => *continues = meet(continues.take(), state.take()),
            StmtKind::Leave(_) => *state = None,
            _ => {}
        }
    }

    /// The values of a loop's variable, turn by turn, where its bounds are constant.
    fn turns(&self, l: &LoopStmt) -> Option<(VarId, Vec<i128>)> {
        let head = counted(self.unit, l)
            .ok()
            .filter(|head| head.control.is_none() && head.compares_numbers(self.unit))?;
        if l.keyword != LoopKeyword::For || self.steps > STEPS {
            return None;
        }
        let (mut value, limit) = (self.value(&head.first)?, self.value(&head.limit)?);
        let mut values = Vec::new();
        let goes_on = |value: i128| match head.relation {
            Relation::Lt => value < limit,
            Relation::Le => value <= limit,
            Relation::Gt => value > limit,
            Relation::Ge => value >= limit,
            Relation::Ne => value != limit,
        };
        while goes_on(value) {
            let stays = |kind| wrap(value, kind) == Some(value);
            let own = self.unit.types.as_int(self.unit.var(head.iv).ty.ty)?;
            if values.len() == TURNS || !stays(head.kind) || !stays(own) {
                return None;
            }
            values.push(value);
            value += i128::from(head.step);
        }
        Some((head.iv, values))
    }

    fn turn_by_turn(&mut self, l: &LoopStmt, iv: VarId, values: &[i128], state: &mut State) {
        let mut breaks = None;
        for value in values {
            self.known.insert(iv, *value);
            let mut continues = None;
            l.cond.iter().for_each(|e| self.expression(e, state));
            self.statement(&l.body, state, &mut continues, &mut breaks);
            *state = meet(state.take(), continues);
            l.step.iter().for_each(|e| self.expression(e, state));
        }
        self.known.remove(&iv);
        l.cond.iter().for_each(|e| self.expression(e, state));
        *state = meet(state.take(), breaks);
    }

    /// A loop with any number of turns: in each at least what was written before the loop is written.
    fn any_turns(&mut self, l: &LoopStmt, state: &mut State) {
        if l.keyword != LoopKeyword::Do {
            l.cond.iter().for_each(|e| self.expression(e, state));
        }
        let skipped = state.clone();
        let (mut continues, mut breaks) = (None, None);
        self.statement(&l.body, state, &mut continues, &mut breaks);
        *state = meet(state.take(), continues);
        l.step.iter().for_each(|e| self.expression(e, state));
        if l.keyword == LoopKeyword::Do {
            l.cond.iter().for_each(|e| self.expression(e, state));
            *state = meet(state.take(), breaks);
        } else {
            *state = meet(meet(skipped, state.take()), breaks);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::compile::judged;
    use crate::loops::options::AnalysisOptions;
    use crate::loops::plan::Verdict;

    /// Whether the loop with this body may run elsewhere; the first one, if there are others in it.
    fn runs(body: &str) -> bool {
        let text = format!(
            "struct v {{ double x; int n; }};\nextern void see(const void *);\ndouble *seen;\n\
             static void set(double *to, double x) {{ to[0] = x; to[1] = -x; }}\n\
             void f(int n, int m, double *restrict out, const double *restrict a, const int *restrict k)\n{{\n\
             for (int i = 0; i < n; i++) {{ {body} }}\n}}\n"
        );
        let (_, reports) = judged(&text, &AnalysisOptions::default());
        reports[0].verdict != Verdict::Sequential
    }

    #[test]
    fn what_an_iteration_has_for_itself() {
        for body in [
            "double t[2] = {a[i], 1}; out[i] = t[k[i]];",
            "double t[2] = {0}; t[k[i]] = a[i]; out[i] = t[1];",
            "double t[3]; for (int j = 0; j < 3; j++) t[j] = a[i]; out[i] = t[k[i]];",
            "double t[3]; for (int j = 2; j >= 0; j--) t[j] = a[i]; out[i] = t[k[i]];",
            "double t[4]; for (int j = 0; j < 4; j += 2) { t[j] = a[i]; t[j + 1] = 0; } out[i] = t[k[i]];",
            "double t[2][3]; for (int j = 0; j < 2; j++) for (int l = 0; l < 3; l++) t[j][l] = a[i]; out[i] = t[1][k[i]];",
            "double t[3]; t[0] = a[i]; for (int j = 1; j < 3; j++) t[j] = t[j - 1] * 2; out[i] = t[2];",
            "struct v v; v.n = k[i]; v.x = a[i]; out[i] = v.n + v.x;",
            "struct v v = {a[i]}; out[i] = v.x + v.n;",
            "struct v v[2]; v[0].n = 1; v[0].x = v[1].x = a[i]; v[1].n = 2; out[i] = v[k[i]].x;",
            "struct v v = {1, a[i]}, w; w = v; out[i] = w.x;",
            "double t[2]; set(t, a[i]); out[i] = t[0] * t[1];",
            "double t[2]; if (k[i]) t[0] = a[i]; else t[0] = 1; out[i] = t[0];",
            "double t[2]; do { t[0] = a[i]; } while (k[i] < 0); out[i] = t[0];",
            "double x; set(&x - 0, 1.0); x = a[i]; out[i] = x;",
            "for (int j = 0; j < m; j++) { double t[2] = {a[j], 1}; out[i] = t[1]; }",
        ] {
            assert!(runs(body), "{body}");
        }
        for body in [
            // Read before it is written.
            "double t[2]; out[i] = t[k[i]]; t[0] = 1;",
            "double t[2]; t[0] = a[i]; out[i] = t[k[i]];",
            "double t[2]; t[k[i]] = a[i]; out[i] = t[k[i]];",
            "double t[3]; for (int j = 0; j < m; j++) t[j] = a[i]; out[i] = t[0];",
            "double t[3]; for (int j = 0; j < 3; j++) { if (k[i] == j) break; t[j] = a[i]; } out[i] = t[2];",
            "double t[3]; for (int j = 0; j < 3; j++) if (k[i] > j) t[j] = a[i]; out[i] = t[2];",
            "double t[3]; for (int j = 0; j < 3; j++) { t[j] = t[j + 1 - 1]; } out[i] = t[2];",
            "double t[2]; if (k[i]) t[0] = a[i]; out[i] = t[0];",
            "double t[2]; k[i] && (t[0] = a[i]); out[i] = t[0];",
            "struct v v; v.x = a[i]; out[i] = v.n;",
            "double t[2] = {a[i], 1}; out[i] = 0; { double s[1]; out[i] = s[0] + t[0]; }",
            "for (int j = 0; j < m; j++) { double t[2]; if (j) out[i] = t[0]; t[0] = a[j]; }",
            "double t[2]; t[0] = t[1] = 0; t[2] = 1; out[i] = t[2];",
            // Its address is used.
            "double t[2] = {0}; see(t); out[i] = t[0];",
            "double t[2] = {0}; seen = t; out[i] = t[0];",
            "double t[2] = {0}, *p = t; out[i] = *p;",
            "double t[2] = {0}; out[i] = t == out;",
            "double t[2] = {0}; out[i] = *(k[i] ? t : out);",
            "double t[2] = {a[i]}; out[i] = ((int *)t)[1];",
            // What it is.
            "double t[m]; t[0] = a[i]; out[i] = t[0];",
            "double t[600] = {0}; out[i] = t[k[i]];",
            "volatile double t[2] = {0}; out[i] = t[0];",
            "volatile struct v v = {0}; out[i] = v.x;",
            "long double t[2] = {0}; out[i] = t[0];",
            "const double *p[2] = {a, out}; out[i] = p[k[i]][i];",
            "struct { char c; double x; } __attribute__((packed)) v = {1, a[i]}; out[i] = v.x;",
            // All of it is copied, also what lies between members, which is zero here.
            "struct v v = {0}, w; w = v; out[i] = w.x;",
            "struct v v, w; v.x = a[i]; w = v; out[i] = w.x;",
            "int j = 0; double t[2] = {a[j++], a[j++]}; out[i] = t[0];",
        ] {
            assert!(!runs(body), "{body}");
        }
    }
}
