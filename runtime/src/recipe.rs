//! From the numbers that a loop hands over to an entry: trip counts, bases, and where accesses go, by the tables of
//! `struct __pg_recipe`.
//!
//! An object's own code only gathers numbers, because every function more is the user's time at every compilation. All
//! arithmetic on them is here and notices overflow: an entry whose numbers don't fit is refused, and the loop runs as it
//! stood. Not here: whether iterations are independent (`speculation::predicate`), and where a loop runs (`entry`).

use crate::abi::*;

/// An entry's tables, which live as long as the loop is entered.
pub struct Prepared {
    trip: [i64; PG_MAX_DIMS],
    bases: Vec<Base>,
    accesses: Vec<Access>,
    pins: Vec<Pin>,
}

/// How many numbers a loop hands over.
pub fn numbers(info: &Info) -> usize {
    (info.n_values + info.n_results + info.n_dims + info.n_pins) as usize
}

/// Trip count of one dimension from its first value and its limit; `None`: none, or its variable would wrap.
fn trips(dim: &Dim, first: i64, limit: i64) -> Option<i64> {
    if dim.is_unsigned != 0 && (first < 0 || limit < 0) {
        return None;
    }
    let span = if dim.step > 0 { limit.checked_sub(first)? } else { first.checked_sub(limit)? };
    if span < 0 || dim.step == 0 {
        return None;
    }
    let size = dim.step.checked_abs()?;
    let trip = match dim.relation {
        PG_LT | PG_GT => span / size + i64::from(span % size != 0),
        PG_LE | PG_GE => (span / size).checked_add(1)?,
        PG_NE if span % size == 0 => span / size,
        _ => return None,
    };
    let end = trip.checked_mul(dim.step)?.checked_add(first)?;
    (trip > 0 && (dim.low..=dim.high).contains(&end)).then_some(trip)
}

/// Carries out terms. `None`: refused.
fn carry_out(terms: &[Term], numbers: &mut [Value], accesses: &mut [Access]) -> Option<()> {
    let mut stack: Vec<i64> = Vec::with_capacity(8);
    let mut rest = terms;
    while let [term, behind @ ..] = rest {
        rest = behind;
        if term.op != PG_TERM_MAY_FAIL {
            one_term(term, &mut stack, numbers, accesses)?;
            continue;
        }
        let (optional, behind) = behind.split_at_checked(usize::try_from(term.operand).ok()?)?;
        rest = behind;
        let depth = stack.len();
        let _ = optional.iter().try_for_each(|term| one_term(term, &mut stack, numbers, accesses));
        stack.truncate(depth);
    }
    Some(())
}

fn one_term(term: &Term, stack: &mut Vec<i64>, numbers: &mut [Value], accesses: &mut [Access]) -> Option<()> {
    let number = |numbers: &[Value], index: u32| numbers.get(index as usize).map(|value| value.0 as i64);
    let operand = term.operand;
    let index = u32::try_from(operand).unwrap_or(u32::MAX);
    match term.op {
        PG_TERM_CONSTANT => stack.push(operand),
        PG_TERM_SIGNED => stack.push(number(numbers, index)?),
        PG_TERM_UNSIGNED => stack.push(number(numbers, index).filter(|value| *value >= 0)?),
        PG_TERM_ADD | PG_TERM_MUL | PG_TERM_MIN | PG_TERM_MAX => {
            let (b, a) = (stack.pop()?, stack.pop()?);
            stack.push(match term.op {
                PG_TERM_ADD => a.checked_add(b)?,
                PG_TERM_MUL => a.checked_mul(b)?,
                PG_TERM_MIN => a.min(b),
                _ => a.max(b),
            });
        }
        PG_TERM_ACCESS => {
            let access = accesses.get_mut(index as usize / 8)?;
            let value = stack.pop()?;
            match index as usize % 8 {
                4 => access.lo = value,
                5 => access.hi = value,
                6 => access.first = value,
                7 => access.end = value,
                dim => access.stride[dim] = value,
            }
        }
        PG_TERM_NUMBER => numbers.get_mut(index as usize)?.0 = stack.pop()? as u64,
        PG_TERM_AT_LEAST => drop(stack.pop().filter(|value| *value >= operand)?),
        PG_TERM_AT_MOST => drop(stack.pop().filter(|value| *value <= operand)?),
        _ => return None,
    }
    Some(())
}

/// Makes an entry's tables of `numbers`; the numbers that a recipe computes are stored there. `None`: refused.
pub fn prepare(info: &Info, numbers: &mut [Value]) -> Option<Prepared> {
    let after_results = (info.n_values + info.n_results) as usize;
    let after_limits = after_results + info.n_dims as usize;
    let number = |numbers: &[Value], index: u32| numbers.get(index as usize).map(|value| value.0 as i64);
    if info.dims().len() != info.n_dims as usize || info.n_dims == 0 {
        return None;
    }
    let mut trip = [1; PG_MAX_DIMS];
    for (which, dim) in info.dims().iter().enumerate() {
        let (first, limit) = (number(numbers, dim.first)?, numbers.get(after_results + which)?.0 as i64);
        *trip.get_mut(which)? = trips(dim, first, limit)?;
    }
    let mut accesses = info.known_accesses().to_vec();
    carry_out(info.terms(), numbers, &mut accesses)?;
    let bases = info.origins().iter().map(|origin| {
        let address = numbers.get(origin.number as usize).map_or(0, |value| value.0);
        match origin.kind {
            PG_FROM_POINTER => Base { pointer: address, ..Base::default() },
            PG_FROM_OBJECT => Base {
                pointer: address,
                object_lo: address,
                object_hi: address.wrapping_add(origin.size),
                dynamic: 0,
                snapshot: 0,
            },
            _ => Base { dynamic: 1, ..Base::default() },
        }
    });
    let bases = bases.collect();
    let addresses = numbers.get(after_limits..)?;
    let pins = info.pin_widths().iter().zip(addresses);
    let pins = pins.map(|(width, address)| Pin {
        address: address.0,
        width: width & !PG_PIN_KEPT,
        kept: width & PG_PIN_KEPT,
    });
    let pins = pins.collect();
    Some(Prepared { trip, bases, accesses, pins })
}

impl Prepared {
    /// The entry. Its tables are this value's and `numbers`', which has to hold what [`numbers`](fn@numbers) says.
    pub fn entry(&mut self, info: &Info, numbers: &mut [Value]) -> Entry {
        let (values, results) = numbers.split_at_mut(info.n_values as usize);
        Entry {
            info,
            trip: self.trip,
            values: values.as_mut_ptr(),
            results: results.as_mut_ptr(),
            bases: self.bases.as_mut_ptr(),
            accesses: self.accesses.as_mut_ptr(),
            pins: self.pins.as_mut_ptr(),
        }
    }

    /// Trip counts of all dimensions.
    pub fn trip(&self) -> [i64; PG_MAX_DIMS] {
        self.trip
    }

    /// After the loop, or so many iterations of it: induction variables, and what moved with them, get the values that they then have.
    pub fn conclude(&self, info: &Info, trip: [i64; PG_MAX_DIMS], numbers: &mut [Value]) {
        for (dim, trip) in info.dims().iter().zip(trip) {
            if let Some(value) = numbers.get_mut(dim.first as usize) {
                value.0 = value.0.wrapping_add((trip as u64).wrapping_mul(dim.step as u64));
            }
        }
        for index in info.moved() {
            let step = numbers.get(*index as usize + 1).map_or(0, |value| value.0);
            if let Some(value) = numbers.get_mut(*index as usize) {
                value.0 = value.0.wrapping_add((trip[0] as u64).wrapping_mul(step));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn dim(relation: u32, step: i64, low: i64, high: i64) -> Dim {
        Dim { first: 0, relation, is_unsigned: 0, step, low, high }
    }

    /// The loop itself, counted.
    fn counted(dim: &Dim, first: i64, limit: i64) -> Option<i64> {
        let (mut value, mut trip) = (first, 0);
        loop {
            let goes_on = match dim.relation {
                PG_LT => value < limit,
                PG_LE => value <= limit,
                PG_GT => value > limit,
                PG_GE => value >= limit,
                _ => value != limit,
            };
            if !goes_on {
                return (trip > 0).then_some(trip);
            }
            trip += 1;
            value += dim.step;
            if !(dim.low..=dim.high).contains(&value) {
                return None;
            }
        }
    }

    proptest! {
        #[test]
        fn trip_counts_are_those_of_the_loop(
            relation in PG_LT..=PG_NE, step in -5i64..=5, first in -128i64..=127, limit in -128i64..=127
        ) {
            let dim = dim(relation, step, -128, 127);
            let right_way = (step > 0) == (relation <= PG_LE) || relation == PG_NE;
            prop_assume!(step != 0 && right_way);
            prop_assert_eq!(trips(&dim, first, limit), counted(&dim, first, limit));
        }
    }

    #[test]
    fn trip_counts_at_the_ends_of_the_numbers() {
        let wide = |relation, step| dim(relation, step, i64::MIN, i64::MAX);
        assert_eq!(trips(&wide(PG_LT, 1), i64::MIN, i64::MAX), None);
        assert_eq!(trips(&wide(PG_LE, 1), 0, i64::MAX), None);
        assert_eq!(trips(&wide(PG_LT, i64::MAX), 0, 1), Some(1));
        assert_eq!(trips(&wide(PG_GT, i64::MIN), 0, -1), None);
        assert_eq!(trips(&wide(PG_LT, 0), 0, 1), None);
        let unsigned = Dim { is_unsigned: 1, ..wide(PG_LT, 1) };
        assert_eq!(trips(&unsigned, -1, 5), None);
        assert_eq!(trips(&unsigned, 0, -1), None);
        assert_eq!(trips(&unsigned, 2, 5), Some(3));
    }

    /// One dimension, one base, one access; `for (i = v0; i < limit; i++) p[v2 * i]`.
    fn prepared(terms: &[Term], numbers: &mut [Value]) -> Option<Prepared> {
        let dims = [dim(PG_LT, 1, i64::MIN, i64::MAX)];
        let origins = [Origin { kind: PG_FROM_OBJECT, number: 1, size: 40 }];
        let accesses = [Access::default()];
        let recipe = Recipe {
            dims: dims.as_ptr(),
            origins: origins.as_ptr(),
            accesses: accesses.as_ptr(),
            pins: std::ptr::null(),
            terms: terms.as_ptr(),
            moved: std::ptr::null(),
            n_terms: terms.len() as u32,
            n_moved: 0,
        };
        let info = Info {
            check: PG_CHECK_PREDICATE,
            n_values: 3,
            n_bases: 1,
            n_sites: 1,
            recipe: &raw const recipe,
            ..nothing()
        };
        let made = prepare(&info, numbers)?;
        made.conclude(&info, made.trip, numbers);
        Some(made)
    }

    fn term(op: u32, operand: i64) -> Term {
        Term { op, operand }
    }

    fn four(values: [i64; 4]) -> [Value; 4] {
        values.map(|value| Value(value as u64))
    }

    #[test]
    fn terms_compute_accesses_and_refuse_overflow() {
        let terms = [
            term(PG_TERM_SIGNED, 2),
            term(PG_TERM_CONSTANT, 8),
            term(PG_TERM_MUL, 0),
            term(PG_TERM_ACCESS, 0),
            term(PG_TERM_UNSIGNED, 0),
            term(PG_TERM_CONSTANT, 8),
            term(PG_TERM_ADD, 0),
            term(PG_TERM_ACCESS, 5),
        ];
        let mut numbers = four([2, 1000, 3, 7]);
        let made = prepared(&terms, &mut numbers).unwrap();
        assert_eq!(made.trip, [5, 1, 1, 1]);
        assert_eq!(made.accesses, [Access { stride: [24, 0, 0, 0], hi: 10, ..Access::default() }]);
        assert_eq!(made.bases, [Base { pointer: 1000, object_lo: 1000, object_hi: 1040, ..Base::default() }]);
        assert_eq!(numbers[0], Value(7));
        assert!(prepared(&terms, &mut four([2, 0, i64::MAX / 4, 7])).is_none(), "the product overflows");
        assert!(prepared(&terms, &mut four([-2, 0, 3, 7])).is_none(), "2^63 and more");
        assert!(prepared(&terms, &mut four([7, 0, 3, 7])).is_none(), "no iteration");
    }

    #[test]
    fn what_may_fail_refuses_nothing_but_itself() {
        // The window of an access: twice a number, which has to be at most 3.
        let window = |fails: i64| {
            [
                term(PG_TERM_CONSTANT, 7),
                term(PG_TERM_MAY_FAIL, fails),
                term(PG_TERM_SIGNED, 2),
                term(PG_TERM_AT_MOST, 3),
                term(PG_TERM_SIGNED, 2),
                term(PG_TERM_SIGNED, 2),
                term(PG_TERM_ADD, 0),
                term(PG_TERM_ACCESS, 5),
                term(PG_TERM_ACCESS, 0),
            ]
        };
        for (value, hi) in [(3, 6), (4, 0), (i64::MIN, 0)] {
            let made = prepared(&window(6), &mut four([0, 0, value, 1])).unwrap();
            assert_eq!(made.accesses, [Access { stride: [7, 0, 0, 0], hi, ..Access::default() }]);
        }
        assert!(prepared(&window(8), &mut four([0, 0, 3, 1])).is_none(), "more terms than there are");
        assert!(prepared(&window(-1), &mut four([0, 0, 3, 1])).is_none());
    }

    #[test]
    fn terms_check_ranges_and_broken_ones_are_refused() {
        let within = [
            term(PG_TERM_SIGNED, 2),
            term(PG_TERM_AT_LEAST, -3),
            term(PG_TERM_SIGNED, 2),
            term(PG_TERM_AT_MOST, 3),
        ];
        for (value, fits) in [(-4, false), (-3, true), (3, true), (4, false)] {
            assert_eq!(prepared(&within, &mut four([0, 0, value, 1])).is_some(), fits);
        }
        let lesser = [
            term(PG_TERM_CONSTANT, 5),
            term(PG_TERM_SIGNED, 2),
            term(PG_TERM_MIN, 0),
            term(PG_TERM_CONSTANT, 4),
            term(PG_TERM_MAX, 0),
            term(PG_TERM_NUMBER, 1),
        ];
        for (value, result) in [(9, 5), (5, 5), (4, 4), (1, 4)] {
            let mut numbers = four([0, 0, value, 1]);
            prepared(&lesser, &mut numbers).unwrap();
            assert_eq!(numbers[1], Value(result));
        }
        for broken in [
            term(PG_TERM_ADD, 0),
            term(PG_TERM_ACCESS, 0),
            term(PG_TERM_SIGNED, 4),
            term(PG_TERM_SIGNED, -1),
            term(99, 0),
        ] {
            assert!(prepared(&[broken], &mut four([0, 0, 0, 1])).is_none());
        }
        assert!(
            prepared(&[term(PG_TERM_CONSTANT, 0), term(PG_TERM_ACCESS, 8)], &mut four([0, 0, 0, 1]))
                .is_none()
        );
    }
}
