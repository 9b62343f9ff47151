//! The plain questions, answered without isl, which takes a millisecond for each: two accesses whose offsets move alike meet where
//! the distances of their iterations make up for what their constants differ by. The distances of each loop are an interval, so that
//! what is asked is whether a sum of multiples of a few bounded integers comes to lie in a window of a few bytes.
//!
//! Numbers that nobody knows before entry are dealt with from both sides. Without a bound where one of them stands there are more
//! distances than there may be: where none of those meet, nothing does. With some number for each there are distances that
//! certainly may be: where one of those meets, something does. Between the two, and where iterations of one loop bound those of
//! another, isl is asked. Source: exact tests on distance vectors, as in Maydan, Hennessy and Lam, "Efficient and exact data
//! dependence analysis", PLDI 1991; what the other unknowns can still add bounds each one, as in Banerjee's inequalities (Dependence
//! Analysis for Supercomputing, 1988).

use super::{Access, Order, Range, SHORT};
use crate::c::hir::LoopId;
use crate::loops::linear::{self, Linear};
use crate::loops::plan::Bound;

/// Steps of a search after which isl is asked.
const MAX_STEPS: usize = 4096;

/// What numbers that nobody knows are taken for, one after the other: all alike, and apart from each other in both directions, for
/// bounds and offsets that are differences of two.
const GUESSES: [Guess; 3] = [
    Guess { first: 4096, next: 0 },
    Guess { first: 4096, next: 4096 },
    Guess { first: 1 << 20, next: -4096 },
];

/// A number for each unknown one.
#[derive(Clone, Copy)]
struct Guess {
    first: i128,
    next: i128,
}

/// How the numbers of the entry are taken.
#[derive(Clone, Copy)]
enum Numbers {
    /// They may be anything.
    Any,
    /// As guessed.
    Guessed(Guess),
}

/// Whether no two iterations in `order` meet (`is_short`: none within so few iterations that any run has them); `None`: another has to say.
pub(super) fn none_meet(
    dims: &[Range],
    a: &Access,
    b: &Access,
    order: Order,
    is_short: bool,
) -> Option<bool> {
    let question = |numbers| {
        let space = Space { dims, a, b, is_short, numbers };
        let system = space.system()?;
        let mut is_empty = true;
        for restricted in alternatives(order, dims, &system) {
            is_empty &= !restricted.has_solution()?;
        }
        Some((is_empty, system.is_exact))
    };
    // Where nothing can be told of too many, fewer may still be found to meet.
    match question(Numbers::Any) {
        Some((true, _)) => return Some(true),
        Some((false, true)) => return Some(false),
        _ => {}
    }
    let meets = |guess| matches!(question(Numbers::Guessed(guess)), Some((false, true)));
    GUESSES.into_iter().any(meets).then_some(false)
}

/// One distance, or one loop's own iterations: how many bytes each step moves the first access against the second, and the
/// interval of steps. `None`: without an end.
#[derive(Clone, Copy, Debug)]
struct Unknown {
    bytes: i128,
    low: Option<i128>,
    high: Option<i128>,
}

impl Unknown {
    fn is_empty(&self) -> bool {
        self.low.zip(self.high).is_some_and(|(low, high)| low > high)
    }
    /// What is left of it within `low..=high`.
    fn within(self, low: Option<i128>, high: Option<i128>) -> Unknown {
        let low = [self.low, low].into_iter().flatten().max();
        let high = [self.high, high].into_iter().flatten().min();
        Unknown { low, high, ..self }
    }
    /// Its contributions, if they are bounded.
    fn reach(&self) -> Option<(i128, i128)> {
        let (at_low, at_high) = (self.bytes.checked_mul(self.low?)?, self.bytes.checked_mul(self.high?)?);
        Some((at_low.min(at_high), at_low.max(at_high)))
    }
}

/// Who meets: those whose contributions, together, are at least `low` and at most `high`. Those of the dimensions come first.
#[derive(Clone, Debug)]
struct System {
    unknowns: Vec<Unknown>,
    low: i128,
    high: i128,
    /// Whether each of its solutions stands for two iterations that there are.
    is_exact: bool,
}

/// What a system is made of.
struct Space<'a> {
    dims: &'a [Range],
    a: &'a Access<'a>,
    b: &'a Access<'a>,
    is_short: bool,
    numbers: Numbers,
}

impl Space<'_> {
    fn system(&self) -> Option<System> {
        let (a, b) = (self.a, self.b);
        let mut is_exact = true;
        let mut unknowns = Vec::new();
        // What stands in an offset are loops around it.
        for access in [a, b] {
            let is_around = |id: &LoopId| self.dims.iter().chain(access.inner).any(|range| range.id == *id);
            if !access.offset.terms.keys().all(is_around) {
                return None;
            }
        }
        let coefficient = |offset: &Linear, range: &Range| match offset.terms.get(&range.id) {
            Some(factor) => linear::as_constant(factor).map(i128::from),
            None => Some(0),
        };
        for dim in self.dims {
            let (of_a, of_b) = (coefficient(a.offset, dim)?, coefficient(b.offset, dim)?);
            if of_a != of_b {
                return None;
            }
            let most = self.is_short.then(|| i128::from(SHORT) - 1);
            let counts = self.counts(dim, &mut is_exact)?.within(Some(0), most);
            unknowns.push(distance(counts, of_a.checked_mul(dim.step.into())?)?);
        }
        let same = |x: &Range, y: &Range| x.id == y.id && x.step == y.step && x.range == y.range;
        for (own, other, is_first) in [(a, b, true), (b, a, false)] {
            for range in own.inner {
                if self.dims.iter().any(|dim| dim.id == range.id) {
                    return None;
                }
                let counts = self.counts(range, &mut is_exact)?;
                let bytes = coefficient(own.offset, range)?.checked_mul(range.step.into())?;
                let partner = other.inner.iter().find(|it| it.id == range.id);
                if partner.is_some_and(|it| same(it, range))
                    && coefficient(other.offset, range)?.checked_mul(range.step.into())? == bytes
                {
                    if is_first {
                        unknowns.push(distance(counts, bytes)?);
                    }
                } else if partner.is_some_and(|it| !same(it, range)) {
                    return None;
                } else {
                    unknowns.push(Unknown { bytes: if is_first { bytes } else { -bytes }, ..counts });
                }
            }
        }
        // From where the second access begins to where the first one does, where nothing has moved.
        let apart = linear::add(&a.offset.constant, &linear::neg(&b.offset.constant)?)?;
        let apart = self.value(&apart)?;
        let (low, high) = (1 - i128::from(a.width), i128::from(b.width) - 1);
        Some(System { unknowns, low: low.checked_sub(apart)?, high: high.checked_sub(apart)?, is_exact })
    }

    /// A loop's counts of steps that its bounds allow.
    fn counts(&self, range: &Range, is_exact: &mut bool) -> Option<Unknown> {
        let mut ends = [None, None];
        if let Some((low, high)) = &range.range {
            for (end, form) in ends.iter_mut().zip([low, high]) {
                if !form.terms.is_empty() {
                    *is_exact = false;
                } else if is_expressible(&form.constant) {
                    *end = self.value(&form.constant);
                    *is_exact &= end.is_some();
                }
            }
        }
        let step = i128::from(range.step);
        let [low, high] = match step {
            0 => return None,
            1.. => [ends[0].map(|low| div_ceil(low, step)), ends[1].map(|high| high.div_euclid(step))],
            _ => [ends[1].map(|high| div_ceil(-high, -step)), ends[0].map(|low| (-low).div_euclid(-step))],
        };
        Some(Unknown { bytes: 0, low, high })
    }

    /// A number of the entry, if it is one.
    fn value(&self, bound: &Bound) -> Option<i128> {
        let (terms, sum) = linear::sum_of_terms(bound)?;
        let mut total = i128::from(sum);
        for (term, factor) in terms {
            let value = match (&term, self.numbers) {
                (Bound::Value(number), Numbers::Guessed(guess)) => {
                    guess.first.checked_add(guess.next.checked_mul(i128::try_from(*number).ok()?)?)?
                }
                (Bound::Min(a, b), _) => self.value(a)?.min(self.value(b)?),
                (Bound::Max(a, b), _) => self.value(a)?.max(self.value(b)?),
                _ => return None,
            };
            total = total.checked_add(value.checked_mul(factor.into())?)?;
        }
        Some(total)
    }
}

/// Whether isl can be told of a bound: what it isn't told of is no bound there, and none here.
fn is_expressible(bound: &Bound) -> bool {
    linear::sum_of_terms(bound).is_some_and(|(terms, _)| {
        terms.keys().all(|term| match term {
            Bound::Value(_) => true,
            Bound::Min(a, b) | Bound::Max(a, b) => is_expressible(a) && is_expressible(b),
            _ => false,
        })
    })
}

/// How far two counts may be apart, as an unknown of its own.
fn distance(counts: Unknown, bytes: i128) -> Option<Unknown> {
    let most = match counts.low.zip(counts.high) {
        Some((low, high)) => Some(high.checked_sub(low)?),
        None => None,
    };
    // No counts, no distance: not even none.
    let least = most.map(|most| if most < 0 { 1 } else { -most });
    Some(Unknown { bytes, low: least, high: most })
}

fn div_ceil(a: i128, b: i128) -> i128 {
    -(-a).div_euclid(b)
}

/// The system once for each way in which iterations may be in order.
fn alternatives<'a>(
    order: Order,
    dims: &'a [Range],
    system: &'a System,
) -> impl Iterator<Item = System> + use<'a> {
    let with = |limits: &[(usize, Option<i128>, Option<i128>)]| {
        let mut system = system.clone();
        for (at, low, high) in limits {
            system.unknowns[*at] = system.unknowns[*at].within(*low, *high);
        }
        system
    };
    let mut found = Vec::new();
    for at in 0..dims.len() {
        match order {
            Order::Different => {
                found.push(with(&[(at, None, Some(-1))]));
                found.push(with(&[(at, Some(1), None)]));
            }
            Order::NotAfter | Order::Before => {
                let mut limits: Vec<_> = (0..at).map(|outer| (outer, Some(0), Some(0))).collect();
                limits.push((at, None, Some(-1)));
                found.push(with(&limits));
            }
        }
    }
    if order == Order::NotAfter {
        let equal: Vec<_> = (0..dims.len()).map(|at| (at, Some(0), Some(0))).collect();
        found.push(with(&equal));
    }
    found.into_iter()
}

impl System {
    /// Whether there is a solution; `None`: nobody has found out.
    fn has_solution(mut self) -> Option<bool> {
        if self.low > self.high || self.unknowns.iter().any(Unknown::is_empty) {
            return Some(false);
        }
        self.unknowns.retain(|unknown| unknown.bytes != 0);
        self.gather_unbounded()?;
        // What reaches furthest with a step leaves the fewest choices.
        self.unknowns
            .sort_by_key(|unknown| (unknown.reach().is_some(), std::cmp::Reverse(unknown.bytes.abs())));
        // What those behind each of them can add.
        let mut reaches: Vec<(i128, i128)> = vec![(0, 0)];
        for unknown in self.unknowns.iter().skip(1).rev() {
            let ((low, high), (least, most)) = (*reaches.last()?, unknown.reach()?);
            reaches.push((low.checked_add(least)?, high.checked_add(most)?));
        }
        reaches.reverse();
        search(&self.unknowns, &reaches, (self.low, self.high), &mut 0)
    }

    /// Makes one of all that have no ends: with one of them that has none in both directions, they reach what their common divisor
    /// divides, and nothing else.
    fn gather_unbounded(&mut self) -> Option<()> {
        let (unbounded, bounded): (Vec<Unknown>, Vec<Unknown>) =
            self.unknowns.iter().partition(|unknown| unknown.reach().is_none());
        let is_free = |unknown: &Unknown| unknown.low.is_none() && unknown.high.is_none();
        if unbounded.len() > 1 {
            if !unbounded.iter().any(is_free) {
                return None;
            }
            let bytes = unbounded.iter().fold(0, |divisor, unknown| common_divisor(divisor, unknown.bytes));
            self.unknowns = bounded;
            self.unknowns.push(Unknown { bytes, low: None, high: None });
        }
        Some(())
    }
}

fn common_divisor(a: i128, b: i128) -> i128 {
    if b == 0 { a.abs() } else { common_divisor(b, a % b) }
}

/// Whether some of the unknowns' contributions come to `low..=high`; `reaches` is what those behind each can add.
fn search(
    unknowns: &[Unknown],
    reaches: &[(i128, i128)],
    (low, high): (i128, i128),
    steps: &mut usize,
) -> Option<bool> {
    let [unknown, rest @ ..] = unknowns else { return Some(low <= 0 && 0 <= high) };
    let (least, most) = reaches[0];
    let (from, to) = (low.checked_sub(most)?, high.checked_sub(least)?);
    let size = unknown.bytes.abs();
    let (first, last) = (div_ceil(from, size), to.div_euclid(size));
    let (first, last) = if unknown.bytes > 0 { (first, last) } else { (-last, -first) };
    let fits = unknown.within(Some(first), Some(last));
    let (Some(first), Some(last)) = (fits.low, fits.high) else { return None };
    let mut turn = first;
    while turn <= last {
        *steps += 1;
        if *steps > MAX_STEPS {
            return None;
        }
        let by = unknown.bytes.checked_mul(turn)?;
        if search(rest, &reaches[1..], (low.checked_sub(by)?, high.checked_sub(by)?), steps)? {
            return Some(true);
        }
        turn += 1;
    }
    Some(false)
}
