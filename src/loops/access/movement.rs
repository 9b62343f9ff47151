//! Scalars that every iteration moves by the same amount, however many assignments do it: a walk over one iteration in which
//! each scalar is what some scalar held at the iteration's start, plus an amount.
//!
//! An amount is a number that is known at loop entry. A scalar counts if its own value comes out, with the same amount on
//! every path; inner loops count if they are entered with a known number of turns, and every turn moves it alike. Arithmetic
//! is modulo the size of the variable's type, in the text and in the sum; a signed variable that is moved in another type
//! (`count += 1u`) may wrap around and is noted as converted. What is not understood holds nothing known. Amounts behind a condition or in an inner loop are computed from scalars and constants alone: memory may only be read
//! early if the first iteration reads it anyway.

use super::*;

/// What a scalar holds at a point of an iteration.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Held {
    /// The scalar whose value at the iteration's start it is ...
    origin: VarId,
    /// ... plus this.
    offset: Bound,
}

/// Scalars that have been assigned, with what they hold; `None`: not known.
type Values = BTreeMap<VarId, Option<Held>>;

/// How far scalars are moved.
#[derive(Default, Debug)]
pub(super) struct Movements {
    /// By an iteration's body.
    pub body: BTreeMap<VarId, Bound>,
    /// By one turn of an inner loop, and by all of them.
    pub inner: BTreeMap<(LoopId, VarId), (Bound, Bound)>,
}

fn own(v: VarId) -> Held {
    Held { origin: v, offset: constant(0) }
}

impl Accesses<'_> {
    /// What an iteration's body moves. Nothing in it may leave an iteration or an inner loop early.
    pub(super) fn movements(&mut self, body: &Stmt) -> Movements {
        let (mut movements, mut values) = (Movements::default(), Values::new());
        self.moved_by_statement(body, true, &mut values, &mut movements);
        movements.body = moved(values);
        movements
    }

    /// What the parts of a step move.
    pub(super) fn moved_by_steps(&mut self, steps: &[Expr]) -> BTreeMap<VarId, Bound> {
        let mut values = Values::new();
        steps.iter().for_each(|step| self.moved_by_expression(step, true, &mut values));
        moved(values)
    }

    /// `certain`: every iteration comes there.
    fn moved_by_statement(
        &mut self,
        s: &Stmt,
        certain: bool,
        values: &mut Values,
        movements: &mut Movements,
    ) {
        match &s.kind {
            StmtKind::Expr(e) => self.moved_by_expression(e, certain, values),
            StmtKind::Declare { var, init } => {
                let held = match init {
                    Some(Init::Scalar(e)) => {
                        self.moved_by_expression(e, certain, values);
                        self.held(e, *var, certain, values).filter(|_| !writes(e))
                    }
                    _ => None,
                };
                values.insert(*var, held);
            }
            StmtKind::Block(list) => {
                list.iter().for_each(|s| self.moved_by_statement(s, certain, values, movements));
            }
            StmtKind::If { cond, then, otherwise } => {
                self.moved_by_expression(cond, certain, values);
                let mut others = values.clone();
                self.moved_by_statement(then, false, values, movements);
                if let Some(otherwise) = otherwise {
                    self.moved_by_statement(otherwise, false, &mut others, movements);
                }
                let keys: BTreeSet<VarId> = values.keys().chain(others.keys()).copied().collect();
                for v in keys {
                    let (a, b) = (values_at(values, v), values_at(&others, v));
                    values.insert(v, a.filter(|a| Some(a) == b.as_ref()));
                }
            }
            StmtKind::Loop(l) => {
                l.init.iter().for_each(|s| self.moved_by_statement(s, certain, values, movements));
                let mut turn = Values::new();
                let head = crate::loops::counted::counted(self.unit, l).ok();
                if let Some(cond) = &l.cond {
                    self.moved_by_expression(cond, false, &mut turn);
                }
                self.moved_by_statement(&l.body, false, &mut turn, movements);
                if let Some(step) = &l.step {
                    self.moved_by_expression(step, false, &mut turn);
                }
                let turns = head.and_then(|head| self.turns(&head));
                let assigned: Vec<VarId> = turn.keys().copied().collect();
                let per_turn = moved(turn);
                for v in assigned {
                    let all = per_turn.get(&v).zip(turns.as_ref()).and_then(|(by, turns)| {
                        let all = linear::mul(by, turns)?;
                        movements.inner.insert((l.id, v), (by.clone(), all.clone()));
                        Some(all)
                    });
                    let held = values_at(values, v).zip(all).and_then(|(held, all)| held.plus(&all));
                    values.insert(v, held);
                }
            }
            _ => {}
        }
    }

    /// How many turns an inner loop has.
    fn turns(&mut self, head: &Counted) -> Option<Bound> {
        let is_plain = head.control.is_none() && head.relation == Relation::Lt && head.step == 1;
        if !is_plain || !head.compares_numbers(self.unit) {
            return None;
        }
        let (first, limit) = (self.entry_amount(&head.first, false)?, self.entry_amount(&head.limit, false)?);
        let distance = linear::add(&limit, &linear::neg(&first)?)?;
        Some(linear::max(constant(0), distance))
    }

    /// An integer that is known at loop entry. `certain`: every iteration computes it.
    fn entry_amount(&mut self, e: &Expr, certain: bool) -> Option<Bound> {
        if !certain && !self.is_entry_value(e) {
            return None;
        }
        self.linear(e, 0).filter(|form| form.terms.is_empty()).map(|form| form.constant)
    }

    fn moved_by_expression(&mut self, e: &Expr, certain: bool, values: &mut Values) {
        let mut written: BTreeMap<VarId, usize> = BTreeMap::new();
        nest::expressions(e, &mut |e| {
            if let Some((place, _, true)) = nest::accessed_place(e)
                && let Some(v) = is_scalar(self.unit, place)
            {
                *written.entry(v).or_default() += 1;
            }
        });
        if written.is_empty() {
            return;
        }
        let mut unconditional = Vec::new();
        nest::unconditional_parts(e, &mut unconditional);
        let before = values.clone();
        for v in written.keys() {
            values.insert(*v, None);
        }
        let alone = written.values().sum::<usize>() == 1;
        for update in unconditional {
            let Some((place, _, true)) = nest::accessed_place(update) else { continue };
            let Some(v) = is_scalar(self.unit, place).filter(|v| written[v] == 1) else { continue };
            let held = match &update.kind {
                // What is assigned may depend on when the others happen.
                ExprKind::Assign(_, value) if alone => self.held(value, v, certain, &before),
                ExprKind::Assign(..) => None,
                _ => match self.added(update, certain) {
                    Some(amount) => values_at(&before, v).and_then(|held| held.plus(&amount)),
                    None => None,
                },
            };
            values.insert(v, held);
        }
    }

    /// What an assignment adds to its scalar (bytes for pointers).
    pub(super) fn added(&mut self, update: &Expr, certain: bool) -> Option<Bound> {
        match &update.kind {
            ExprKind::IncDec { place, amount, .. } => self.may_move(place).then(|| constant(*amount)),
            ExprKind::PtrAssign { place, index, stride } if self.may_move(place) => {
                linear::mul(&self.entry_amount(index, certain)?, &constant(i64::try_from(*stride).ok()?))
            }
            ExprKind::AssignOp { op: op @ (BinOp::Add | BinOp::Sub), place, value, compute } => {
                let (computed, own) =
                    (self.unit.types.as_int(compute.ty)?, self.unit.types.as_int(place.ty.ty)?);
                if !self.may_move(place) {
                    return None;
                }
                if computed != own {
                    self.converted.extend(is_scalar(self.unit, place));
                }
                let amount = self.entry_amount(value, certain)?;
                if *op == BinOp::Sub { linear::neg(&amount) } else { Some(amount) }
            }
            _ => None,
        }
    }

    /// Whether a scalar's type can be counted in.
    fn may_move(&self, place: &Place) -> bool {
        let kind = self.unit.types.as_int(place.ty.ty);
        let counts = kind.is_some_and(|k| k.size() <= 8 && k != IntKind::Bool)
            || self.unit.types.pointee(place.ty.ty).is_some();
        counts && !place.ty.quals.is_volatile && !place.ty.quals.is_atomic
    }

    /// A value for the scalar `to`, if it is another one's (or its own) plus an amount in the same type.
    fn held(&mut self, e: &Expr, to: VarId, certain: bool, values: &Values) -> Option<Held> {
        let types = &self.unit.types;
        match &e.kind {
            ExprKind::Load(place) if self.may_move(place) => {
                let v = is_scalar(self.unit, place).filter(|v| self.written.contains(v))?;
                let (from, into) = (self.unit.var(v).ty.ty, self.unit.var(to).ty.ty);
                let is_same = types.kind(from) == types.kind(into);
                let size = |ty| types.as_int(ty).filter(|k| *k != IntKind::Bool).map(IntKind::size);
                if !is_same && (size(from).is_none() || size(from) != size(into)) {
                    return None;
                }
                if !is_same || self.converted.contains(&v) {
                    self.converted.insert(to);
                }
                values_at(values, v)
            }
            ExprKind::Cast(inner) => {
                let wide =
                    |ty: QualType| types.as_int(ty.ty).filter(|k| *k != IntKind::Bool).map(|k| k.size());
                // Nothing of the sum may get lost on the way.
                let size = wide(self.unit.var(to).ty)?;
                wide(inner.ty)?;
                if wide(e.ty)? < size {
                    return None;
                }
                if types.as_int(inner.ty.ty) != types.as_int(self.unit.var(to).ty.ty) {
                    self.converted.insert(to);
                }
                self.held(inner, to, certain, values)
            }
            ExprKind::Binary(op @ (BinOp::Add | BinOp::Sub), a, b) => {
                types.as_int(e.ty.ty)?;
                let held = self.held(a, to, certain, values);
                let (held, amount) = match held {
                    Some(held) => (held, self.entry_amount(b, certain)?),
                    None if *op == BinOp::Add => {
                        (self.held(b, to, certain, values)?, self.entry_amount(a, certain)?)
                    }
                    None => return None,
                };
                held.plus(&if *op == BinOp::Sub { linear::neg(&amount)? } else { amount })
            }
            ExprKind::PtrAdd { pointer, index, stride } => {
                let held = self.held(pointer, to, certain, values)?;
                let amount = self.entry_amount(index, certain)?;
                held.plus(&linear::mul(&amount, &constant(i64::try_from(*stride).ok()?))?)
            }
            _ => None,
        }
    }
}

impl Held {
    fn plus(&self, amount: &Bound) -> Option<Held> {
        Some(Held { origin: self.origin, offset: linear::add(&self.offset, amount)? })
    }
}

fn values_at(values: &Values, v: VarId) -> Option<Held> {
    values.get(&v).cloned().unwrap_or_else(|| Some(own(v)))
}

/// The scalars that hold their own value of the start, plus an amount.
fn moved(values: Values) -> BTreeMap<VarId, Bound> {
    values
        .into_iter()
        .filter_map(|(v, held)| held.filter(|held| held.origin == v).map(|held| (v, held.offset)))
        .collect()
}

fn writes(e: &Expr) -> bool {
    let mut found = false;
    nest::expressions(e, &mut |e| {
        found |= nest::accessed_place(e).is_some_and(|(_, _, writes)| writes);
    });
    found
}
