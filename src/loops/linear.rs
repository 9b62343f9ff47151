//! Numbers known at loop entry ([`Bound`]), and linear forms over the induction variables of a nest.
//!
//! A [`Linear`] is `constant + sum(coefficient * x)`, where each `x` is how far an induction variable has moved from its first
//! value, and coefficients and constant are [`Bound`]s. Building them simplifies, so that equal forms compare equal in
//! the cases that matter.

use super::plan::Bound;
use crate::c::hir::LoopId;
use std::collections::BTreeMap;

/// The constant `value`.
pub fn constant(value: i64) -> Bound {
    Bound::Const(value)
}

/// The number, if it is one.
pub fn as_constant(bound: &Bound) -> Option<i64> {
    match bound {
        Bound::Const(v) => Some(*v),
        _ => None,
    }
}

/// `a + b`; sums are kept as sorted terms, so that `a - a` vanishes.
pub fn add(a: &Bound, b: &Bound) -> Option<Bound> {
    let mut terms = BTreeMap::new();
    let mut sum = 0i64;
    collect(a, 1, &mut terms, &mut sum)?;
    collect(b, 1, &mut terms, &mut sum)?;
    Some(rebuild(terms, sum))
}

/// `a * b`.
pub fn mul(a: &Bound, b: &Bound) -> Option<Bound> {
    match (as_constant(a), as_constant(b)) {
        (Some(x), Some(y)) => Some(constant(x.checked_mul(y)?)),
        (Some(0), _) | (_, Some(0)) => Some(constant(0)),
        (Some(1), _) => Some(b.clone()),
        (_, Some(1)) => Some(a.clone()),
        (Some(c), _) => scale(b, c),
        (_, Some(c)) => scale(a, c),
        _ => {
            let (a, b) = if a <= b { (a, b) } else { (b, a) };
            Some(Bound::Mul(Box::new(a.clone()), Box::new(b.clone())))
        }
    }
}

fn scale(a: &Bound, factor: i64) -> Option<Bound> {
    let mut terms = BTreeMap::new();
    let mut sum = 0i64;
    collect(a, factor, &mut terms, &mut sum)?;
    Some(rebuild(terms, sum))
}

/// `-a`.
pub fn neg(a: &Bound) -> Option<Bound> {
    mul(a, &constant(-1))
}

/// The smaller one.
pub fn min(a: Bound, b: Bound) -> Bound {
    match (as_constant(&a), as_constant(&b)) {
        (Some(x), Some(y)) => constant(x.min(y)),
        _ if a == b => a,
        _ => Bound::Min(Box::new(a), Box::new(b)),
    }
}

/// The larger one.
pub fn max(a: Bound, b: Bound) -> Bound {
    match (as_constant(&a), as_constant(&b)) {
        (Some(x), Some(y)) => constant(x.max(y)),
        _ if a == b => a,
        _ => Bound::Max(Box::new(a), Box::new(b)),
    }
}

/// `bound` as a sum of constant multiples of indivisible terms.
pub fn sum_of_terms(bound: &Bound) -> Option<(BTreeMap<Bound, i64>, i64)> {
    let mut terms = BTreeMap::new();
    let mut sum = 0i64;
    collect(bound, 1, &mut terms, &mut sum)?;
    Some((terms, sum))
}

fn collect(bound: &Bound, factor: i64, terms: &mut BTreeMap<Bound, i64>, sum: &mut i64) -> Option<()> {
    match bound {
        Bound::Const(v) => *sum = sum.checked_add(v.checked_mul(factor)?)?,
        Bound::Add(a, b) => {
            collect(a, factor, terms, sum)?;
            collect(b, factor, terms, sum)?;
        }
        Bound::Mul(a, b) => match (as_constant(a), as_constant(b)) {
            (Some(c), _) => collect(b, factor.checked_mul(c)?, terms, sum)?,
            (_, Some(c)) => collect(a, factor.checked_mul(c)?, terms, sum)?,
            _ => add_term(bound, factor, terms)?,
        },
        other => add_term(other, factor, terms)?,
    }
    Some(())
}

fn add_term(term: &Bound, factor: i64, terms: &mut BTreeMap<Bound, i64>) -> Option<()> {
    let old = terms.get(term).copied().unwrap_or(0);
    match old.checked_add(factor)? {
        0 => terms.remove(term),
        new => terms.insert(term.clone(), new),
    };
    Some(())
}

fn rebuild(terms: BTreeMap<Bound, i64>, sum: i64) -> Bound {
    let mut result: Option<Bound> = None;
    for (term, factor) in terms {
        let piece = if factor == 1 { term } else { Bound::Mul(Box::new(constant(factor)), Box::new(term)) };
        result = Some(match result {
            None => piece,
            Some(r) => Bound::Add(Box::new(r), Box::new(piece)),
        });
    }
    match result {
        None => constant(sum),
        Some(r) if sum == 0 => r,
        Some(r) => Bound::Add(Box::new(r), Box::new(constant(sum))),
    }
}

/// See the module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Linear {
    /// Value where no induction variable has moved.
    pub constant: Bound,
    /// Coefficients, none of them the constant 0.
    pub terms: BTreeMap<LoopId, Bound>,
}

impl Linear {
    /// A number.
    pub fn number(constant: Bound) -> Linear {
        Linear { constant, terms: BTreeMap::new() }
    }
    /// `constant + x`, for the induction variable of `id` with first value `first`.
    pub fn induction(id: LoopId, first: &Linear) -> Option<Linear> {
        let mut result = first.clone();
        let one = constant(1);
        let old = result.terms.get(&id).cloned().unwrap_or(constant(0));
        result.set(id, add(&old, &one)?);
        Some(result)
    }
    fn set(&mut self, id: LoopId, coefficient: Bound) {
        if as_constant(&coefficient) == Some(0) {
            self.terms.remove(&id);
        } else {
            self.terms.insert(id, coefficient);
        }
    }
    /// Sum.
    pub fn plus(&self, other: &Linear) -> Option<Linear> {
        let mut result =
            Linear { constant: add(&self.constant, &other.constant)?, terms: self.terms.clone() };
        for (id, coefficient) in &other.terms {
            let old = result.terms.get(id).cloned().unwrap_or(constant(0));
            result.set(*id, add(&old, coefficient)?);
        }
        Some(result)
    }
    /// Product with a number.
    pub fn times(&self, factor: &Bound) -> Option<Linear> {
        let mut result = Linear::number(mul(&self.constant, factor)?);
        for (id, coefficient) in &self.terms {
            result.set(*id, mul(coefficient, factor)?);
        }
        Some(result)
    }
    /// Product, where one side is a number.
    pub fn product(&self, other: &Linear) -> Option<Linear> {
        if other.terms.is_empty() {
            self.times(&other.constant)
        } else if self.terms.is_empty() {
            other.times(&self.constant)
        } else {
            None
        }
    }
    /// Negation.
    pub fn negated(&self) -> Option<Linear> {
        self.times(&constant(-1))
    }
    /// Lowest and highest value when the variable of `id` ranges over `lo ..= hi` from its first value: its term replaced
    /// by the extreme that its coefficient's sign picks. `lo` and `hi` are linear themselves.
    pub fn without(&self, id: LoopId, lo: &Linear, hi: &Linear) -> Option<(Linear, Linear)> {
        let Some(coefficient) = self.terms.get(&id) else { return Some((self.clone(), self.clone())) };
        let mut rest = self.clone();
        rest.terms.remove(&id);
        let (at_lo, at_hi) = (rest.plus(&lo.times(coefficient)?)?, rest.plus(&hi.times(coefficient)?)?);
        match as_constant(coefficient) {
            Some(c) if c >= 0 => Some((at_lo, at_hi)),
            Some(_) => Some((at_hi, at_lo)),
            // The sign shows only at entry; both ends must then be numbers.
            None if at_lo.terms.is_empty() && at_hi.terms.is_empty() => Some((
                Linear::number(min(at_lo.constant.clone(), at_hi.constant.clone())),
                Linear::number(max(at_lo.constant, at_hi.constant)),
            )),
            None if at_lo.terms == at_hi.terms => Some((
                Linear {
                    constant: min(at_lo.constant.clone(), at_hi.constant.clone()),
                    terms: at_lo.terms.clone(),
                },
                Linear { constant: max(at_lo.constant, at_hi.constant), terms: at_hi.terms },
            )),
            None => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_cancel() {
        let n = Bound::Value(0);
        let m = Bound::Value(1);
        let sum = add(&add(&n, &m).unwrap(), &mul(&n, &constant(-1)).unwrap()).unwrap();
        assert_eq!(sum, m);
        assert_eq!(mul(&n, &m), mul(&m, &n));
        assert_eq!(add(&constant(3), &constant(-3)), Some(constant(0)));
        assert_eq!(add(&constant(i64::MAX), &constant(1)), None);
    }
}
