//! Numbers that are known at entry, as sums of products of the invariants, so that what two of them have in common cancels out.

use super::invariant;
use crate::codegen::types;
use crate::loops::plan::Bound;
use std::collections::BTreeMap;

/// Factors of products: indices of invariants, sorted.
type Product = Vec<usize>;

/// A sum of products, each with how often it is there. No product is there zero times.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Polynomial(BTreeMap<Product, i64>);

impl Polynomial {
    /// `None`: it is the least or the largest of some numbers, or too large.
    pub fn of(number: &Bound) -> Option<Polynomial> {
        match number {
            Bound::Const(value) => Polynomial::default().plus(&Product::new(), *value),
            Bound::Value(index) => Polynomial::default().plus(&vec![*index], 1),
            Bound::Add(a, b) => {
                let mut sum = Polynomial::of(a)?;
                for (product, times) in Polynomial::of(b)?.0 {
                    sum = sum.plus(&product, times)?;
                }
                Some(sum)
            }
            Bound::Mul(a, b) => {
                let (a, b) = (Polynomial::of(a)?, Polynomial::of(b)?);
                let mut sum = Polynomial::default();
                for (left, many) in &a.0 {
                    for (right, times) in &b.0 {
                        let mut product = [left.as_slice(), right].concat();
                        product.sort_unstable();
                        sum = sum.plus(&product, many.checked_mul(*times)?)?;
                    }
                }
                Some(sum)
            }
            Bound::Min(..) | Bound::Max(..) => None,
        }
    }

    fn plus(mut self, product: &Product, times: i64) -> Option<Polynomial> {
        let sum = self.0.remove(product).unwrap_or(0).checked_add(times)?;
        if sum != 0 {
            self.0.insert(product.clone(), sum);
        }
        Some(self)
    }

    /// The product with a number.
    pub fn times(&self, by: i64) -> Option<Polynomial> {
        let mut result = Polynomial::default();
        for (product, times) in &self.0 {
            result = result.plus(product, times.checked_mul(by)?)?;
        }
        Some(result)
    }

    /// The difference.
    pub fn minus(&self, other: &Polynomial) -> Option<Polynomial> {
        let mut result = self.clone();
        for (product, times) in &other.0 {
            result = result.plus(product, times.checked_neg()?)?;
        }
        Some(result)
    }

    /// Whether it is zero, whatever the invariants are.
    pub fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// As kernels compute it, modulo 2^64.
    pub fn text(&self) -> String {
        let product = |(factors, times): (&Product, &i64)| {
            let factors: String =
                factors.iter().map(|index| format!(" * (__pg_u64)(__pg_i64){}", invariant(*index))).collect();
            format!("(__pg_u64){}{factors}", types::literal(*times))
        };
        let products: Vec<String> = self.0.iter().map(product).collect();
        if products.is_empty() { "(__pg_u64)0".into() } else { format!("({})", products.join(" + ")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_common_cancels_out() {
        let value = |index| Bound::Value(index);
        let add = |a, b| Bound::Add(Box::new(a), Box::new(b));
        let mul = |a, b| Bound::Mul(Box::new(a), Box::new(b));
        // 8 * n * (n + 1) + 8, and the same without a row of n.
        let place = add(mul(Bound::Const(8), mul(value(0), add(value(0), Bound::Const(1)))), Bound::Const(8));
        let above = add(mul(Bound::Const(-8), value(0)), place.clone());
        let (place, above) = (Polynomial::of(&place).unwrap(), Polynomial::of(&above).unwrap());
        let row = Polynomial::of(&mul(value(0), Bound::Const(8))).unwrap();
        assert_eq!(place.minus(&above), Some(row.clone()));
        assert_eq!(row.text(), "((__pg_u64)(__extension__ 8LL) * (__pg_u64)(__pg_i64)__pg_same0)");
        assert_eq!(row.times(-2).unwrap().minus(&row).unwrap(), row.times(-3).unwrap());
        assert!(place.minus(&place).unwrap().is_zero() && !place.is_zero());
        // Products are the same in any order.
        let (ab, ba) = (mul(value(1), value(2)), mul(value(2), value(1)));
        assert_eq!(Polynomial::of(&ab), Polynomial::of(&ba));
        assert_eq!(Polynomial::of(&Bound::Min(Box::new(value(0)), Box::new(value(1)))), None);
        assert_eq!(Polynomial::of(&mul(Bound::Const(i64::MAX), Bound::Const(2))), None);
    }
}
