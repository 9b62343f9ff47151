//! What is known of values at a point of an iteration: what scalars were assigned last ([`Known`]), and what the conditions say
//! under which the point is reached ([`Fact`]).
//!
//! Only of expressions over scalars: memory may hold something else when it is loaded again, because on a device another iteration may have
//! stored there meanwhile. Nothing is known at an iteration's start, nor of what an inner loop assigns, in it and behind it, but what
//! its own turn has assigned so far.

use super::ranges::Range;
use super::*;

/// Numbers of [`Bound::Value`] from here on are those of [`Values::candidates`].
pub(super) const CANDIDATES: usize = 1 << 24;
/// Conditions that are remembered at a time.
const MOST_FACTS: usize = 32;

/// What a scalar holds.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Known {
    Number(Range),
    /// A pointer: its base, its byte offset over loops and unknowns, and what that needs.
    Address(BaseId, Linear, Vec<Assumption>),
}

/// One end of a range.
#[derive(Clone, Debug)]
pub(super) struct End {
    bound: Option<Bound>,
    needs: Vec<Assumption>,
    /// By types and constants.
    number: i128,
}

/// What a condition says of an expression over scalars.
#[derive(Clone, Debug)]
pub(super) struct Fact {
    about: Expr,
    low: Option<End>,
    high: Option<End>,
    number: usize,
}

/// All of it.
#[derive(Default)]
pub(super) struct Values {
    pub(super) known: BTreeMap<VarId, Known>,
    pub(super) facts: Vec<Fact>,
    /// Ends of all values that are only known to lie between two numbers.
    pub(super) unknowns: Vec<(Bound, Bound)>,
    /// Numbers of the entry that are handed over only if a window is made of them.
    pub(super) candidates: Vec<Expr>,
    /// While addresses are computed by ranges: what these need.
    pub(super) collecting: Option<Vec<Assumption>>,
    /// See `ranges`.
    pub(super) steps: usize,
    /// Whether what comes in front of the first iteration's body is looked at, which other iterations don't come to.
    pub(super) in_prelude: bool,
    next_fact: usize,
}

/// What was known before a branch.
pub(super) struct Before {
    known: BTreeMap<VarId, Known>,
    next_fact: usize,
}

fn mentions(e: &Expr, v: VarId) -> bool {
    let mut found = false;
    nest::expressions(e, &mut |e| {
        found |= nest::accessed_place(e).is_some_and(|(place, ..)| nest::root_variable(place) == Some(v));
    });
    found
}

/// Whether a statement is never left at its end.
fn leaves(s: &Stmt) -> bool {
    match &s.kind {
        StmtKind::Break | StmtKind::Continue | StmtKind::Leave(_) => true,
        StmtKind::Block(list) => list.last().is_some_and(leaves),
        _ => false,
    }
}

impl Accesses<'_> {
    /// Whether an expression has the same value each time as long as no scalar is assigned.
    fn is_of_scalars(&self, e: &Expr) -> bool {
        let mut fine = true;
        nest::expressions(e, &mut |e| {
            fine &= match &e.kind {
                ExprKind::Load(place) => is_scalar(self.unit, place).is_some(),
                ExprKind::Int(_)
                | ExprKind::Cast(_)
                | ExprKind::Unary(..)
                | ExprKind::Binary(..)
                | ExprKind::Conditional(..)
                | ExprKind::LogicalAnd(..)
                | ExprKind::LogicalOr(..) => true,
                _ => false,
            }
        });
        fine
    }

    /// What a condition says where it holds, or where it doesn't.
    pub(super) fn facts_of(&mut self, cond: &Expr, holds: bool, depth: usize) -> Vec<Fact> {
        let mut facts = Vec::new();
        self.note_facts(cond, holds, depth, &mut facts);
        facts
    }

    fn note_facts(&mut self, cond: &Expr, holds: bool, depth: usize, facts: &mut Vec<Fact>) {
        if self.values.facts.len() + facts.len() >= MOST_FACTS {
            return;
        }
        match &cond.kind {
            ExprKind::Unary(UnOp::Not, inner) => self.note_facts(inner, !holds, depth, facts),
            ExprKind::LogicalAnd(a, b) if holds => {
                self.note_facts(a, true, depth, facts);
                self.note_facts(b, true, depth, facts);
            }
            ExprKind::LogicalOr(a, b) if !holds => {
                self.note_facts(a, false, depth, facts);
                self.note_facts(b, false, depth, facts);
            }
            // Whether it is zero, and no more, is kept by conversions of truth values.
            ExprKind::Cast(inner) if self.is_truth(inner) && self.unit.types.as_int(cond.ty.ty).is_some() => {
                self.note_facts(inner, holds, depth, facts);
            }
            ExprKind::Binary(BinOp::Ne, a, b) if self.is_truth(a) && matches!(b.kind, ExprKind::Int(0)) => {
                self.note_facts(a, holds, depth, facts);
            }
            ExprKind::Binary(op, a, b) => {
                use BinOp::*;
                let op = match (op, holds) {
                    (Lt, true) | (Ge, false) => Lt,
                    (Le, true) | (Gt, false) => Le,
                    (Gt, true) | (Le, false) => Gt,
                    (Ge, true) | (Lt, false) => Ge,
                    (Eq, true) | (Ne, false) => Eq,
                    _ => return,
                };
                let (Some(x), Some(y)) = (self.range(a, depth + 1), self.range(b, depth + 1)) else { return };
                let end = |range: &Range, of_highest: bool, by: i64| End {
                    bound: range.side(of_highest).and_then(|b| linear::add(&b, &constant(by))),
                    needs: range.needs.clone(),
                    number: (if of_highest { range.most } else { range.least }).saturating_add(by.into()),
                };
                let below = |by| (end(&x, false, by), end(&y, true, -by));
                let above = |by: i64| (end(&y, false, by), end(&x, true, -by));
                match op {
                    Lt | Le => {
                        let (low, high) = below(i64::from(op == Lt));
                        self.note_fact(a, None, Some(high), facts);
                        self.note_fact(b, Some(low), None, facts);
                    }
                    Gt | Ge => {
                        let (low, high) = above(i64::from(op == Gt));
                        self.note_fact(a, Some(low), None, facts);
                        self.note_fact(b, None, Some(high), facts);
                    }
                    _ => {
                        let (low_b, high_b) = below(0);
                        let (low_a, high_a) = above(0);
                        self.note_fact(a, Some(low_a), Some(high_b), facts);
                        self.note_fact(b, Some(low_b), Some(high_a), facts);
                    }
                }
            }
            _ => {}
        }
    }

    /// Whether an expression is 0 or 1.
    fn is_truth(&self, e: &Expr) -> bool {
        use BinOp::*;
        match &e.kind {
            ExprKind::Binary(Lt | Le | Gt | Ge | Eq | Ne, ..)
            | ExprKind::LogicalAnd(..)
            | ExprKind::LogicalOr(..)
            | ExprKind::Unary(UnOp::Not, _) => true,
            ExprKind::Cast(inner) => self.is_truth(inner) && self.unit.types.as_int(e.ty.ty).is_some(),
            _ => false,
        }
    }

    fn note_fact(&mut self, about: &Expr, low: Option<End>, high: Option<End>, facts: &mut Vec<Fact>) {
        if matches!(about.kind, ExprKind::Int(_)) || !self.is_of_scalars(about) {
            return;
        }
        self.values.next_fact += 1;
        let number = self.values.next_fact;
        facts.push(Fact { about: about.clone(), low: low.clone(), high: high.clone(), number });
        let ExprKind::Cast(inner) = &about.kind else { return };
        let types = &self.unit.types;
        let (Some(to), Some(from)) = (types.as_int(about.ty.ty), types.as_int(inner.ty.ty)) else { return };
        let Some(value) = self.range(inner, 1) else { return };
        let (least, most) = ranges::limits(to);
        if to != IntKind::Bool && least <= value.least && value.most <= most {
            self.note_fact(inner, low, high, facts);
        } else if from.signed() && !to.signed() && from.size() <= to.size() && from.size() >= 4 {
            // What isn't negative as a signed number of that size is the same number; everything negative is more than any of these.
            let Some(mut high) = high else { return };
            let (_, most) = ranges::limits(from);
            if high.number > most {
                let Some(bound) = high.bound.clone() else { return };
                high.needs.push(Assumption { lo: bound.clone(), hi: bound, kind: from });
                high.number = most;
                // By constants, nothing follows then.
                let zero = End {
                    bound: Some(constant(0)),
                    needs: high.needs.clone(),
                    number: ranges::limits(from).0,
                };
                self.note_fact(inner, Some(zero), Some(high), facts);
                return;
            }
            let zero = End { bound: Some(constant(0)), needs: high.needs.clone(), number: 0 };
            self.note_fact(inner, Some(zero), Some(high), facts);
        }
    }

    /// A range, as far as conditions say more of its expression.
    pub(super) fn with_facts(&mut self, e: &Expr, range: Range) -> Range {
        let facts: Vec<Fact> =
            self.values.facts.iter().filter(|fact| same(&fact.about, e)).cloned().collect();
        facts.iter().fold(range, |range, fact| self.narrowed(range, fact))
    }

    fn narrowed(&mut self, range: Range, fact: &Fact) -> Range {
        let mut new = range.clone();
        new.least = fact.low.as_ref().map_or(range.least, |end| range.least.max(end.number));
        new.most = fact.high.as_ref().map_or(range.most, |end| range.most.min(end.number));
        // What is known at entry isn't known better by a condition.
        if range.exact.as_ref().is_some_and(|form| form.terms.is_empty()) {
            return new;
        }
        let (low, high) = (range.side(false), range.side(true));
        let mut improves = false;
        if let Some(end) = &fact.low
            && let Some(bound) = &end.bound
        {
            let better = match &low {
                Some(low) => ranges::greatest_of(low.clone(), bound.clone()),
                None => Some(bound.clone()),
            };
            if better.is_some() && better != low {
                (new.low, improves) = (better, true);
                new.need(&end.needs);
            }
        }
        if let Some(end) = &fact.high
            && let Some(bound) = &end.bound
        {
            let better = match &high {
                Some(high) => ranges::least_of(high.clone(), bound.clone()),
                None => Some(bound.clone()),
            };
            if better.is_some() && better != high {
                (new.high, improves) = (better, true);
                new.need(&end.needs);
            }
        }
        if improves {
            new.exact = None;
        }
        new
    }

    /// A condition holds from here on, or doesn't.
    pub(super) fn learn(&mut self, cond: &Expr, holds: bool) {
        if value_changes_something(cond) {
            return;
        }
        self.values.steps = 0;
        for fact in self.facts_of(cond, holds, 1) {
            let assigned = match &fact.about.kind {
                ExprKind::Load(place) => is_scalar(self.unit, place).filter(|v| {
                    let is_counter = self.inner.iter().chain(&self.dims).any(|level| level.iv == *v);
                    self.written.contains(v) && !is_counter && !self.secondary.contains_key(v)
                }),
                _ => None,
            };
            let Some(v) = assigned else {
                self.values.facts.push(fact);
                continue;
            };
            if let Some(range) = self.range(&fact.about, 1) {
                let range = self.narrowed(range, &fact);
                self.values.known.insert(v, Known::Number(range));
            }
        }
    }

    /// A scalar is assigned: what was known of it is over.
    pub(super) fn forget(&mut self, v: VarId) {
        self.values.known.remove(&v);
        self.values.facts.retain(|fact| !mentions(&fact.about, v));
    }

    /// The same of all that a loop assigns.
    pub(super) fn forget_assigned(&mut self, l: &LoopStmt) {
        let mut assigned = self.assigned_in_turns(l);
        let mut note = |e: &Expr| {
            if let Some((place, _, true)) = nest::accessed_place(e) {
                assigned.extend(is_scalar(self.unit, place));
            }
        };
        l.init.iter().for_each(|s| nest::all_expressions(s, &mut note));
        let mut declare = |s: &Stmt| {
            if let StmtKind::Declare { var, .. } = s.kind {
                assigned.insert(var);
            }
        };
        nest::statements(&l.body, &mut declare);
        assigned.into_iter().for_each(|v| self.forget(v));
    }

    /// A scalar now holds the value of an expression.
    pub(super) fn remember(&mut self, v: VarId, value: Option<&Expr>) {
        let range = value.filter(|_| !self.values.in_prelude).and_then(|value| self.range(value, 0));
        self.forget(v);
        if let Some(range) = range {
            self.values.known.insert(v, Known::Number(range));
        }
    }

    /// In front of a branch.
    pub(super) fn before_branch(&self) -> Before {
        Before { known: self.values.known.clone(), next_fact: self.values.next_fact }
    }

    /// At the end of a branch that may not have been taken, or of the first of two: goes back to what was known before it, but for facts about
    /// what it has assigned. Gives what is known at its end.
    pub(super) fn leave_branch(&mut self, before: &Before) -> BTreeMap<VarId, Known> {
        self.values.facts.retain(|fact| fact.number <= before.next_fact);
        std::mem::replace(&mut self.values.known, before.known.clone())
    }

    /// Behind two branches, the second of which has just been walked: what is known at the ends of both.
    pub(super) fn join(&mut self, other: BTreeMap<VarId, Known>) {
        let own = std::mem::take(&mut self.values.known);
        self.values.known = own
            .into_iter()
            .filter_map(|(v, known)| {
                let joined = match (known, other.get(&v)?) {
                    (Known::Number(a), Known::Number(b)) => Known::Number(ranges::either(&a, b)),
                    (known, other) => Some(known).filter(|known| known == other)?,
                };
                Some((v, joined))
            })
            .collect();
    }

    /// Behind both branches of an `if`, the second of which has just been walked.
    pub(super) fn behind_branches(
        &mut self,
        before: &Before,
        at_end: BTreeMap<VarId, Known>,
        then: &Stmt,
        otherwise: Option<&Stmt>,
    ) {
        match (leaves(then), otherwise.is_some_and(leaves)) {
            // What holds where it isn't left goes on holding.
            (true, _) => {}
            (false, true) => {
                self.leave_branch(before);
                self.values.known = at_end;
            }
            (false, false) => {
                self.values.facts.retain(|fact| fact.number <= before.next_fact);
                self.join(at_end);
            }
        }
    }
}
