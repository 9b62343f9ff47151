//! Value ranges: between which numbers an integer expression lies where no linear form says what it is (`clamp(x + dx, 0, n - 1)`,
//! `k & mask`, a narrow type).
//!
//! Arithmetic is taken as C and devices do it: what may wrap around is anything that its type holds, unless numbers at entry
//! exclude that, which a range then *needs*. Signed overflow is no exception, because a device that speculates computes with values that the program
//! never has. What holds of a value by its type and by constants alone (`least`, `most`) never depends on such a need.
//!
//! What variables hold at a point of an iteration, and what conditions say of them, is in `facts`; what becomes of a range, in
//! `windows`.

use super::*;

/// Nested definitions and operands that are followed.
const DEEPEST: usize = 24;
/// Expressions that are looked at for one range: conditions are looked at for each of their arms.
const MOST_STEPS: usize = 2000;
/// Ranges this wide or wider say nothing about a subscript.
pub(super) const WIDEST: i128 = 1 << 31;
/// What a number of the entry fits that isn't negative.
const NOT_NEGATIVE: IntKind = IntKind::ULongLong;
/// Operations in a bound beyond which it isn't worth its computation at entry.
const LARGEST_BOUND: usize = 64;

/// Between which numbers a value lies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Range {
    /// The value itself, over loops and unknowns (see [`Accesses::unknown`]).
    pub(super) exact: Option<Linear>,
    /// Numbers of the entry that it is at least and at most, where they are known.
    pub(super) low: Option<Bound>,
    /// See `low`.
    pub(super) high: Option<Bound>,
    /// What `exact`, `low` and `high` rely on.
    pub(super) needs: Vec<Assumption>,
    /// The same by types and constants, whatever the entry's numbers are.
    pub(super) least: i128,
    /// See `least`.
    pub(super) most: i128,
}

impl Range {
    /// Known by constants.
    pub(super) fn between(least: i128, most: i128) -> Range {
        Range { exact: None, low: None, high: None, needs: Vec::new(), least, most }
    }

    /// Whatever the type holds. Of `_Bool`, memory may hold more on a device.
    pub(super) fn of_type(kind: IntKind) -> Range {
        let (least, most) = limits(kind);
        Range::between(least, most)
    }

    fn of_truth() -> Range {
        Range::between(0, 1)
    }

    /// Its ends as numbers of the entry.
    pub(super) fn side(&self, of_highest: bool) -> Option<Bound> {
        let (known, by_type) = if of_highest { (&self.high, self.most) } else { (&self.low, self.least) };
        known.clone().or_else(|| Some(constant(narrow(by_type)?)))
    }

    /// Whether its value is one number that is known at entry.
    fn is_point(&self) -> bool {
        self.exact.as_ref().is_some_and(|form| form.terms.is_empty())
    }

    pub(super) fn need(&mut self, others: &[Assumption]) {
        for other in others {
            if !self.needs.contains(other) {
                self.needs.push(other.clone());
            }
        }
    }
}

/// A number that is no mere end of a wide type.
pub(super) fn narrow(value: i128) -> Option<i64> {
    i64::try_from(value).ok().filter(|_| value.abs() < WIDEST)
}

pub(super) fn limits(kind: IntKind) -> (i128, i128) {
    let bits = 8 * kind.size().min(8) as u32;
    match kind.signed() {
        true => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        false => (0, (1i128 << bits) - 1),
    }
}

fn operations(bound: &Bound) -> usize {
    match bound {
        Bound::Const(_) | Bound::Value(_) => 1,
        Bound::Add(a, b) | Bound::Mul(a, b) | Bound::Min(a, b) | Bound::Max(a, b) => {
            1 + operations(a) + operations(b)
        }
    }
}

fn small(bound: Bound) -> Option<Bound> {
    (operations(&bound) <= LARGEST_BOUND).then_some(bound)
}

/// Whether a number is never more than another one, as far as their forms tell.
fn never_more(a: &Bound, b: &Bound, depth: usize) -> bool {
    let apart = linear::neg(b).and_then(|b| linear::add(a, &b));
    if apart.as_ref().and_then(linear::as_constant).is_some_and(|apart| apart <= 0) {
        return true;
    }
    if depth == 0 {
        return false;
    }
    // One of the extremes in a sum replaced by what it is taken of.
    let with = |sum: &Bound, one: &Bound, of: &Bound| linear::add(&linear::add(sum, &linear::neg(one)?)?, of);
    let extremes = |sum: &Bound| -> Vec<Bound> {
        let terms = linear::sum_of_terms(sum).map(|(terms, _)| terms).unwrap_or_default();
        let of_one = terms.into_iter().filter(|(_, factor)| *factor == 1).map(|(term, _)| term);
        of_one.filter(|term| matches!(term, Bound::Min(..) | Bound::Max(..))).collect()
    };
    let more = |of: &Bound, one: &Bound| with(b, one, of).is_some_and(|b| never_more(a, &b, depth - 1));
    let less = |of: &Bound, one: &Bound| with(a, one, of).is_some_and(|a| never_more(&a, b, depth - 1));
    extremes(b).iter().any(|one| match one {
        Bound::Max(p, q) => more(p, one) || more(q, one),
        Bound::Min(p, q) => more(p, one) && more(q, one),
        _ => false,
    }) || extremes(a).iter().any(|one| match one {
        Bound::Min(p, q) => less(p, one) || less(q, one),
        Bound::Max(p, q) => less(p, one) && less(q, one),
        _ => false,
    })
}

/// Extremes within each other that are looked through.
const LOOKED_THROUGH: usize = 2;

/// The smaller of two numbers, without asking at entry where their forms tell.
pub(super) fn least_of(a: Bound, b: Bound) -> Option<Bound> {
    match (never_more(&a, &b, LOOKED_THROUGH), never_more(&b, &a, LOOKED_THROUGH)) {
        (true, _) => Some(a),
        (_, true) => Some(b),
        _ => small(linear::min(a, b)),
    }
}

/// The larger one.
pub(super) fn greatest_of(a: Bound, b: Bound) -> Option<Bound> {
    match (never_more(&b, &a, LOOKED_THROUGH), never_more(&a, &b, LOOKED_THROUGH)) {
        (true, _) => Some(a),
        (_, true) => Some(b),
        _ => small(linear::max(a, b)),
    }
}

/// What two ranges have in common as one that holds of either.
pub(super) fn either(a: &Range, b: &Range) -> Range {
    if a == b {
        return a.clone();
    }
    let mut joined = Range::between(a.least.min(b.least), a.most.max(b.most));
    joined.exact = a.exact.clone().filter(|_| a.exact == b.exact);
    joined.low = a.side(false).zip(b.side(false)).and_then(|(a, b)| least_of(a, b));
    joined.high = a.side(true).zip(b.side(true)).and_then(|(a, b)| greatest_of(a, b));
    joined.need(&a.needs);
    joined.need(&b.needs);
    joined
}

/// The smallest number of ones in a row that covers a number.
fn ones(value: i128) -> i128 {
    if value <= 0 { 0 } else { (1i128 << (128 - value.leading_zeros())) - 1 }
}

impl Accesses<'_> {
    /// A range whose value is a linear form.
    fn exactly(&self, form: Linear, (least, most): (i128, i128), needs: Vec<Assumption>) -> Range {
        let mut range = Range { needs, ..Range::between(least, most) };
        if let Some((low, high)) = self.ends(&form)
            && let (Some(low), Some(high)) = (small(low), small(high))
        {
            // What needs something is no fact of types and constants.
            if range.needs.is_empty() {
                let number = |bound: &Bound| linear::as_constant(bound).map(i128::from);
                if let (Some(low), Some(high)) = (number(&low), number(&high))
                    && low <= high
                {
                    (range.least, range.most) = (least.max(low), most.min(high));
                }
            }
            (range.low, range.high) = (Some(low), Some(high));
            range.exact = Some(form);
        }
        range
    }

    /// A value that is only known to lie between two numbers: like the distance of a loop, but one that nobody takes for having all
    /// values in between.
    pub(super) fn unknown(&mut self, low: Bound, high: Bound) -> Linear {
        let number = self.values.unknowns.len() as u32;
        self.values.unknowns.push((low, high));
        let zero = Linear::number(constant(0));
        Linear::induction(LoopId(u32::MAX - number), &zero).unwrap_or(zero)
    }

    /// Lowest and highest value over all unknowns: forms over loops.
    pub(super) fn over_unknowns(&self, form: &Linear) -> Option<(Linear, Linear)> {
        let (mut low, mut high) = (form.clone(), form.clone());
        for id in form.terms.keys() {
            let Some((from, to)) = self.values.unknowns.get((u32::MAX - id.0) as usize) else { continue };
            let (from, to) = (Linear::number(from.clone()), Linear::number(to.clone()));
            low = low.without(*id, &from, &to)?.0;
            high = high.without(*id, &from, &to)?.1;
        }
        Some((low, high))
    }

    /// Lowest and highest value over all unknowns and loops.
    fn ends(&self, form: &Linear) -> Option<(Bound, Bound)> {
        let (low, high) = self.over_unknowns(form)?;
        Some((self.extremes(&low)?.0, self.extremes(&high)?.1))
    }

    /// A range's value as a form.
    pub(super) fn form_of(&mut self, range: &Range) -> Option<Linear> {
        if let Some(form) = &range.exact {
            return Some(form.clone());
        }
        Some(self.unknown(range.side(false)?, range.side(true)?))
    }

    /// What a computed value is once its type holds it.
    fn fitted(&self, range: Range, kind: IntKind) -> Range {
        let (low, high) = limits(kind);
        if low <= range.least && range.most <= high {
            return range;
        }
        let plain = Range::of_type(kind);
        let (Some(lo), Some(hi)) = (&range.low, &range.high) else { return plain };
        let number = |bound: &Bound| linear::as_constant(bound).map(i128::from);
        let mut range = Range { least: low, most: high, ..range.clone() };
        match (number(lo), number(hi)) {
            (Some(lo), Some(hi)) if low <= lo && lo <= hi && hi <= high => range,
            (Some(_), Some(_)) => plain,
            // What is cut down to a byte or two is meant to wrap around.
            _ if kind.size() < 4 => plain,
            _ => {
                range.need(&[Assumption { lo: lo.clone(), hi: hi.clone(), kind }]);
                range
            }
        }
    }

    /// The range of an integer expression of at most 64 bits.
    pub(super) fn range(&mut self, e: &Expr, depth: usize) -> Option<Range> {
        let kind = self.unit.types.as_int(e.ty.ty).filter(|k| k.size() <= 8)?;
        if depth == 0 {
            self.values.steps = 0;
        }
        self.values.steps += 1;
        if depth > DEEPEST || self.values.steps > MOST_STEPS {
            return Some(Range::of_type(kind));
        }
        let range = match &e.kind {
            ExprKind::Int(value) => {
                let form = i64::try_from(*value).ok().map(|value| Linear::number(constant(value)));
                match form {
                    Some(form) => self.exactly(form, (*value, *value), Vec::new()),
                    None => Range::between(*value, *value),
                }
            }
            ExprKind::Load(place) => self.range_of_load(e, place, kind),
            ExprKind::Cast(inner) => match (kind, self.range(inner, depth + 1)) {
                (IntKind::Bool, _) => Range::of_truth(),
                (_, Some(range)) => self.fitted(range, kind),
                (_, None) => Range::of_type(kind),
            },
            ExprKind::Unary(UnOp::Not, _) | ExprKind::LogicalAnd(..) | ExprKind::LogicalOr(..) => {
                Range::of_truth()
            }
            ExprKind::Unary(op, a) => {
                let range = self.range(a, depth + 1)?;
                match op {
                    UnOp::Neg => self.difference(Range::between(0, 0), range, kind),
                    UnOp::BitNot if kind.signed() => self.difference(Range::between(-1, -1), range, kind),
                    _ => Range::of_type(kind),
                }
            }
            ExprKind::Binary(op, a, b) => match (self.range(a, depth + 1), self.range(b, depth + 1)) {
                (Some(a), Some(b)) => self.combined(*op, a, b, kind),
                _ if matches!(op, BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge | BinOp::Eq | BinOp::Ne) => {
                    Range::of_truth()
                }
                _ => Range::of_type(kind),
            },
            ExprKind::Conditional(cond, a, b) => {
                let is_pure = !value_changes_something(e);
                let mut arm = |value: &Expr, holds: bool| {
                    let before = self.values.facts.len();
                    if is_pure {
                        let facts = self.facts_of(cond, holds, depth + 1);
                        self.values.facts.extend(facts);
                    }
                    let range = self.range(value, depth + 1);
                    self.values.facts.truncate(before);
                    range
                };
                let (a, b) = (arm(a, true)?, arm(b, false)?);
                either(&a, &b)
            }
            ExprKind::Comma(_, value) => self.range(value, depth + 1)?,
            // The value may have been made of what the variable held before (`k = k + 1`).
            ExprKind::Assign(place, _) if let Some(v) = is_scalar(self.unit, place) => {
                match self.values.known.get(&v) {
                    Some(facts::Known::Number(range)) => range.clone(),
                    _ => Range::of_type(kind),
                }
            }
            ExprKind::Assign(_, value) => {
                let range = self.range(value, depth + 1)?;
                self.fitted(range, kind)
            }
            _ => Range::of_type(kind),
        };
        Some(self.with_facts(e, range))
    }

    fn range_of_load(&mut self, e: &Expr, place: &Place, kind: IntKind) -> Range {
        let by_type = limits(kind);
        let Some(v) = is_scalar(self.unit, place) else {
            return match self.invariant_places.get(&place.id) {
                Some(value) => self.exactly(Linear::number(Bound::Value(*value)), by_type, Vec::new()),
                None => Range::of_type(kind),
            };
        };
        if self.secondary.contains_key(&v) {
            let assumed = self.assumptions.len();
            let form = self.secondary_number(e, kind);
            let mut needs = self.assumptions.split_off(assumed);
            let Some(form) = form else { return Range::of_type(kind) };
            // That it doesn't wrap around, it needs in any case.
            if let Some((lo, hi)) = self.ends(&form) {
                needs.push(Assumption { lo, hi, kind });
            }
            return self.exactly(form, by_type, needs);
        }
        if let Some(level) = self.inner.iter().chain(&self.dims).find(|l| l.iv == v) {
            return match Linear::induction(level.id, &level.first) {
                Some(form) => self.exactly(form, by_type, Vec::new()),
                None => Range::of_type(kind),
            };
        }
        if let Some(facts::Known::Number(range)) = self.values.known.get(&v) {
            return range.clone();
        }
        if self.written.contains(&v) {
            return Range::of_type(kind);
        }
        let value = self.candidate(e);
        self.exactly(Linear::number(value), by_type, Vec::new())
    }

    /// A number of the entry that nobody hands over unless a window is made of it.
    fn candidate(&mut self, e: &Expr) -> Bound {
        if let Some(index) = self.invariants.iter().position(|known| same(known, e)) {
            return Bound::Value(index);
        }
        let list = &mut self.values.candidates;
        let index = list.iter().position(|known| same(known, e)).unwrap_or_else(|| {
            list.push(e.clone());
            list.len() - 1
        });
        Bound::Value(facts::CANDIDATES + index)
    }

    fn difference(&mut self, a: Range, b: Range, kind: IntKind) -> Range {
        let mut range = Range::between(a.least.saturating_sub(b.most), a.most.saturating_sub(b.least));
        let minus = |a: Option<Bound>, b: Option<Bound>| small(linear::add(&a?, &linear::neg(&b?)?)?);
        range.low = minus(a.side(false), b.side(true));
        range.high = minus(a.side(true), b.side(false));
        range.need(&a.needs);
        range.need(&b.needs);
        let forms = self.form_of(&a).zip(self.form_of(&b));
        let range = match forms.and_then(|(a, b)| a.plus(&b.negated()?)) {
            Some(form) => self.exactly(form, (range.least, range.most), range.needs),
            None => range,
        };
        self.fitted(range, kind)
    }

    fn sum(&mut self, a: Range, b: Range, kind: IntKind) -> Range {
        let mut range = Range::between(a.least.saturating_add(b.least), a.most.saturating_add(b.most));
        let plus = |a: Option<Bound>, b: Option<Bound>| small(linear::add(&a?, &b?)?);
        range.low = plus(a.side(false), b.side(false));
        range.high = plus(a.side(true), b.side(true));
        range.need(&a.needs);
        range.need(&b.needs);
        let forms = self.form_of(&a).zip(self.form_of(&b));
        let range = match forms.and_then(|(a, b)| a.plus(&b)) {
            Some(form) => self.exactly(form, (range.least, range.most), range.needs),
            None => range,
        };
        self.fitted(range, kind)
    }

    fn product(&mut self, a: Range, b: Range, kind: IntKind) -> Range {
        let corners = [
            a.least.saturating_mul(b.least),
            a.least.saturating_mul(b.most),
            a.most.saturating_mul(b.least),
            a.most.saturating_mul(b.most),
        ];
        let [first, rest @ ..] = corners;
        let (least, most) = rest.iter().fold((first, first), |(l, m), c| (l.min(*c), m.max(*c)));
        let mut needs = a.needs.clone();
        needs.extend(b.needs.iter().filter(|need| !a.needs.contains(need)).cloned());
        let form = match (a.is_point() || b.is_point(), self.form_of(&a), self.form_of(&b)) {
            (true, Some(a), Some(b)) => a.product(&b),
            (false, Some(_), Some(_)) => self.corners(&a, &b),
            _ => None,
        };
        let range = match form {
            Some(form) => self.exactly(form, (least, most), needs),
            None => Range::between(least, most),
        };
        self.fitted(range, kind)
    }

    /// The product of two values neither of which is known at entry.
    fn corners(&mut self, a: &Range, b: &Range) -> Option<Linear> {
        let (a, b) = ([a.side(false)?, a.side(true)?], [b.side(false)?, b.side(true)?]);
        let (mut low, mut high): (Option<Bound>, Option<Bound>) = (None, None);
        for a in &a {
            for b in &b {
                let corner = linear::mul(a, b)?;
                low = Some(low.map_or(Some(corner.clone()), |low| least_of(low, corner.clone()))?);
                high = Some(high.map_or(Some(corner.clone()), |high| greatest_of(high, corner))?);
            }
        }
        Some(self.unknown(low?, high?))
    }

    /// The range of an operation on two values, of type `kind`.
    fn combined(&mut self, op: BinOp, a: Range, b: Range, kind: IntKind) -> Range {
        let count =
            (b.least == b.most).then_some(b.least).filter(|c| (0..8 * kind.size() as i128).contains(c));
        match op {
            BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge | BinOp::Eq | BinOp::Ne => Range::of_truth(),
            BinOp::Add => self.sum(a, b, kind),
            BinOp::Sub => self.difference(a, b, kind),
            BinOp::Mul => self.product(a, b, kind),
            BinOp::Shl => match count {
                Some(count) if count < 62 => {
                    let factor = 1i64 << count;
                    let factor = self.exactly(
                        Linear::number(constant(factor)),
                        (factor.into(), factor.into()),
                        Vec::new(),
                    );
                    self.product(a, factor, kind)
                }
                _ => Range::of_type(kind),
            },
            BinOp::Shr => match count {
                Some(count) => Range::between(a.least >> count, a.most >> count),
                // Whatever a machine makes of counts that are too large.
                None => Range::between(a.least.min(0), a.most.max(0)),
            },
            BinOp::Div if b.least >= 1 && b.least == b.most => {
                Range::between(a.least / b.least, a.most / b.least)
            }
            BinOp::Rem => self.remainder(a, b, kind),
            BinOp::And => self.masked(&[a, b], kind),
            BinOp::Or | BinOp::Xor if a.least >= 0 && b.least >= 0 => {
                Range::between(0, ones(a.most.max(b.most)))
            }
            _ => Range::of_type(kind),
        }
    }

    /// `a % b`. By zero, devices give up and go on with any number.
    fn remainder(&mut self, a: Range, b: Range, kind: IntKind) -> Range {
        let mut range = Range::of_type(kind);
        if b.least >= 1 {
            let most = b.most - 1;
            range = Range::between(if a.least >= 0 { 0 } else { -most }, if a.most <= 0 { 0 } else { most });
        }
        let one_less = |bound: Bound| linear::add(&bound, &constant(-1));
        let Some((low, high)) = b.low.clone().and_then(one_less).zip(b.high.clone().and_then(one_less))
        else {
            return range;
        };
        range.need(&b.needs);
        if b.least < 1 {
            range.need(&[Assumption { lo: low, hi: high.clone(), kind: NOT_NEGATIVE }]);
        }
        let is_positive = a.least >= 0;
        let below = match (is_positive, a.low.clone().zip(a.high.clone())) {
            (true, _) => Some(constant(0)),
            // From where it is counted, as a rule.
            (false, Some((lo, hi))) => {
                range.need(&a.needs);
                range.need(&[Assumption { lo, hi, kind: NOT_NEGATIVE }]);
                Some(constant(0))
            }
            (false, None) => linear::neg(&high),
        };
        (range.low, range.high) = (below, small(high));
        range
    }

    /// `a & b`: not negative, and not more than one of them that isn't negative.
    fn masked(&mut self, operands: &[Range; 2], kind: IntKind) -> Range {
        let mut range = Range::of_type(kind);
        for operand in operands.iter().filter(|operand| operand.least >= 0) {
            range.least = 0;
            range.most = range.most.min(operand.most);
        }
        if range.least == 0 && narrow(range.most).is_some() {
            return range;
        }
        let Some(mask) = operands.iter().find(|operand| operand.is_point()) else { return range };
        let (Some(lo), Some(hi)) = (mask.low.clone(), mask.high.clone()) else { return range };
        range.need(&mask.needs);
        if mask.least < 0 {
            range.need(&[Assumption { lo, hi: hi.clone(), kind: NOT_NEGATIVE }]);
        }
        (range.low, range.high) = (Some(constant(0)), Some(hi));
        range
    }
}
