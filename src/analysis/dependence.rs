//! The dependence test, by distances where that is enough ([`distances`]) and on integer sets (isl): can two iterations that differ in a merged dimension touch a common byte?
//!
//! For two accesses with one base whose byte offsets are linear with constant coefficients, the pairs of iterations that meet
//! are a set of integer points, with the unknown numbers of loop entry as parameters. Empty for all parameters: the accesses
//! are independent. Otherwise the set of short trip counts decides whether the dependence is certain in any run worth
//! considering or depends on numbers that a predicate can look at.
//!
//! isl stops after a bounded number of operations for each loop; the answers are "depends" from then on. Source: dependence
//! analysis over polyhedra as in isl's manual; the chapter's section 4.4.1 asks for symbolic data dependence testing.

mod distances;

use crate::c::hir::LoopId;
use crate::loops::linear::{self, Linear};
use crate::loops::plan::Bound;
use isl_rs::{Context, Options, Set};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Bound on isl's work for all questions about one loop: about a tenth of a second. What is left open after that is for
/// predicates and inspections.
const MAX_OPERATIONS: u64 = 250_000;
/// isl's name for saying nothing of its errors.
const ON_ERROR_CONTINUE: i32 = 1;
/// A dependence that exists within so many iterations is taken for certain.
const SHORT: i64 = 16;

/// Range of a loop's distance from its first value, and its step.
#[derive(Clone, Debug)]
pub struct Range {
    /// The loop.
    pub id: LoopId,
    /// Lowest and highest distance; `None`: unknown.
    pub range: Option<(Linear, Linear)>,
    /// Step; distances are its multiples. 1 where unknown.
    pub step: i64,
}

/// One access.
#[derive(Clone, Debug)]
pub struct Access<'a> {
    /// Byte offset from the base.
    pub offset: &'a Linear,
    /// Bytes.
    pub width: i64,
    /// Loops inside the dimensions around it, outermost first.
    pub inner: &'a [Range],
}

/// What is known of two accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dependence {
    /// No two different iterations meet.
    None,
    /// They do, in any run that is long enough to matter.
    Certain,
    /// It depends on numbers known at entry, or the question was too hard.
    Depends,
}

thread_local! {
    /// isl's state, which counts its operations.
    static CONTEXT: RefCell<Option<Context>> = const { RefCell::new(None) };
}

/// Runs the analysis of one loop, whose questions share one limit of what they may cost.
pub fn about_one_loop<T>(analysis: impl FnOnce() -> T) -> T {
    CONTEXT.take();
    analysis()
}

fn new_context() -> Context {
    let context = Context::alloc();
    context.set_max_operations(MAX_OPERATIONS);
    // A question that is too hard is no error of ours to print.
    Options::set_on_error(&context, ON_ERROR_CONTINUE).ok();
    context
}

/// Which pairs of iterations are asked for, the first access's and the second one's.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    /// Any two that differ.
    Different,
    /// The first at or before the second, in source order.
    NotAfter,
    /// The first before the second, in source order.
    Before,
}

struct Text {
    names: BTreeMap<Bound, String>,
    /// What the names of extremes mean.
    definitions: Vec<String>,
}

impl Text {
    fn new() -> Text {
        Text { names: BTreeMap::new(), definitions: Vec::new() }
    }
    /// A bound as an isl expression; `None` if it is no sum of multiples of parameters and of extremes of such sums.
    fn bound(&mut self, bound: &Bound) -> Option<String> {
        let (terms, sum) = linear::sum_of_terms(bound)?;
        let mut text = sum.to_string();
        for (term, factor) in terms {
            let name = match (self.names.get(&term), &term) {
                (Some(known), _) => known.clone(),
                (None, Bound::Value(_)) => self.name(term),
                // A name of its own: what it stands for is said once, and not wherever it occurs.
                (None, Bound::Min(a, b) | Bound::Max(a, b)) => {
                    let relation = if matches!(term, Bound::Min(..)) { "<=" } else { ">=" };
                    let (a, b) = (self.bound(a)?, self.bound(b)?);
                    let name = self.name(term);
                    self.definitions.push(format!(
                        "{name} {relation} {a} and {name} {relation} {b} and ({name} = {a} or {name} = {b})"
                    ));
                    name
                }
                _ => return None,
            };
            let _ = write!(text, " + {factor}*{name}");
        }
        Some(text)
    }
    fn name(&mut self, term: Bound) -> String {
        let name = format!("p{}", self.names.len());
        self.names.insert(term, name.clone());
        name
    }
    /// What `name` being at least (`at_most`: at most) a linear form means, as a constraint.
    fn end(&mut self, name: &str, at_most: bool, form: &Linear, prefix: char) -> Option<String> {
        let end = self.linear(form, prefix)?;
        Some(if at_most { format!("{name} <= {end}") } else { format!("{end} <= {name}") })
    }
    /// A linear form whose loop distances are called `prefix` + loop number.
    fn linear(&mut self, form: &Linear, prefix: char) -> Option<String> {
        let mut text = self.bound(&form.constant)?;
        for (id, coefficient) in &form.terms {
            let c = linear::as_constant(coefficient)?;
            let _ = write!(text, " + {c}*{prefix}{}", id.0);
        }
        Some(text)
    }
}

/// The test. `dims` are the merged dimensions.
pub fn test(dims: &[Range], a: &Access, b: &Access) -> Dependence {
    let mut question = Question::new(dims, a, b, Order::Different);
    match question.none_meet(false) {
        Some(true) => Dependence::None,
        Some(false) if is_exact(dims, a, b) => Dependence::Certain,
        // Only if no parameter enters the accesses themselves: otherwise it depends on them.
        Some(false) if offsets_agree(a, b) && question.none_meet(true) == Some(false) => Dependence::Certain,
        _ => Dependence::Depends,
    }
}

/// Whether a load, where it meets a store at all, does so in earlier iterations than the store's: then only anti dependences
/// join them, and the load finds what was there before the loop, whatever is known at entry.
pub fn comes_first(dims: &[Range], load: &Access, store: &Access) -> bool {
    Question::new(dims, store, load, Order::NotAfter).none_meet(false) == Some(true)
}

/// Whether some iteration may touch through the first access what a later one touches through the second.
pub fn may_come_before(dims: &[Range], a: &Access, b: &Access) -> bool {
    Question::new(dims, a, b, Order::Before).none_meet(false) != Some(true)
}

/// Whether all bounds of all loops, and where the accesses begin, are numbers.
fn is_exact(dims: &[Range], a: &Access, b: &Access) -> bool {
    let is_number = |l: &Linear| {
        linear::sum_of_terms(&l.constant).is_some_and(|(terms, _)| terms.is_empty())
            && l.terms.values().all(|factor| linear::as_constant(factor).is_some())
    };
    let ranges = dims.iter().chain(a.inner).chain(b.inner);
    let mut ends = ranges.map(|range| range.range.as_ref());
    ends.all(|ends| ends.is_some_and(|(low, high)| is_number(low) && is_number(high)))
        && is_number(a.offset)
        && is_number(b.offset)
}

/// Whether the offsets differ by a constant for equal distances.
fn offsets_agree(a: &Access, b: &Access) -> bool {
    let difference = b.offset.negated().and_then(|n| a.offset.plus(&n));
    difference.is_some_and(|d| linear::as_constant(&d.constant).is_some())
}

/// Whether two accesses meet in iterations that come in some order.
struct Question<'a> {
    dims: &'a [Range],
    a: &'a Access<'a>,
    b: &'a Access<'a>,
    order: Order,
    /// What isl is told, if it is asked, and if that can be told.
    described: Option<Option<Description>>,
}

impl<'a> Question<'a> {
    fn new(dims: &'a [Range], a: &'a Access, b: &'a Access, order: Order) -> Question<'a> {
        Question { dims, a, b, order, described: None }
    }

    /// Whether no two of them do, where `is_short` within so few iterations that any run worth considering has them. `None`: the
    /// question was too hard.
    fn none_meet(&mut self, is_short: bool) -> Option<bool> {
        let Question { dims, a, b, order, .. } = *self;
        distances::none_meet(dims, a, b, order, is_short).or_else(|| {
            let described = self.described.get_or_insert_with(|| describe(dims, a, b, order));
            described.as_ref()?.is_empty(is_short)
        })
    }
}

/// Two iterations that meet, in isl's language.
struct Description {
    /// Parameters and variables.
    header: String,
    constraints: String,
    /// Which of two iterations comes first: the alternatives.
    asked: Vec<String>,
    /// What short trips add.
    short: String,
}

impl Description {
    /// Whether there are none. The alternatives are asked one by one: their union is much more work to isl than they are.
    fn is_empty(&self, is_short: bool) -> Option<bool> {
        let Description { header, constraints, asked, short } = self;
        let short = if is_short { short } else { "true" };
        CONTEXT.with_borrow_mut(|context| {
            let context = context.get_or_insert_with(new_context);
            for asked in asked {
                let text = format!("{header}{constraints} and {short} and {asked} }}");
                if !Set::read_from_str(context, &text).ok()?.is_empty().ok()? {
                    return Some(false);
                }
            }
            Some(true)
        })
    }
}

fn describe(dims: &[Range], a: &Access, b: &Access, order: Order) -> Option<Description> {
    let mut text = Text::new();
    let mut variables = Vec::new();
    let mut constraints = Vec::new();
    let mut short = vec!["true".to_string()];
    for (prefix, access) in [('x', a), ('y', b)] {
        for (is_dim, level) in dims.iter().map(|d| (true, d)).chain(access.inner.iter().map(|i| (false, i))) {
            let name = format!("{prefix}{}", level.id.0);
            let count = format!("{prefix}c{}", level.id.0);
            constraints.push(format!("{name} = {}*{count}", level.step));
            for at_most in [false, true] {
                let end = level.range.as_ref().map(|(lo, hi)| if at_most { hi } else { lo });
                constraints.extend(end.and_then(|end| text.end(&name, at_most, end, prefix)));
            }
            if is_dim {
                constraints.push(format!("0 <= {count}"));
                short.push(format!("{count} < {SHORT}"));
            }
            variables.push(name);
            variables.push(count);
        }
    }
    let asked: Vec<String> = match order {
        Order::Different => dims
            .iter()
            .flat_map(|dim| ["<", ">"].map(|relation| format!("x{0} {relation} y{0}", dim.id.0)))
            .collect(),
        Order::NotAfter | Order::Before => {
            // By iterations, which go up where distances go down.
            let equal = |dims: &[Range]| -> String {
                dims.iter().map(|dim| format!("xc{0} = yc{0} and ", dim.id.0)).collect()
            };
            let less = dims
                .iter()
                .enumerate()
                .map(|(level, dim)| format!("({}xc{1} < yc{1})", equal(&dims[..level]), dim.id.0));
            let same = (order == Order::NotAfter).then(|| format!("({}true)", equal(dims)));
            less.chain(same).collect()
        }
    };
    let (at_a, at_b) = (text.linear(a.offset, 'x')?, text.linear(b.offset, 'y')?);
    constraints.push(format!("{at_a} < {at_b} + {}", b.width));
    constraints.push(format!("{at_b} < {at_a} + {}", a.width));
    constraints.append(&mut text.definitions);
    let params: Vec<&str> = text.names.values().map(String::as_str).collect();
    let header = format!("[{}] -> {{ [{}] : ", params.join(", "), variables.join(", "));
    let (constraints, short) = (constraints.join(" and "), short.join(" and "));
    Some(Description { header, constraints, asked, short })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loops::linear::constant;

    fn form(coefficients: &[(u32, i64)], offset: Bound) -> Linear {
        Linear {
            constant: offset,
            terms: coefficients.iter().map(|(id, c)| (LoopId(*id), constant(*c))).collect(),
        }
    }

    fn upto(id: u32, last: Bound) -> Range {
        Range { id: LoopId(id), range: Some((Linear::number(constant(0)), Linear::number(last))), step: 1 }
    }

    fn ask(dims: &[Range], a: Linear, b: Linear) -> Dependence {
        let access = |offset| Access { offset, width: 4, inner: &[] };
        about_one_loop(|| test(dims, &access(&a), &access(&b)))
    }

    #[test]
    fn a_transposed_store_depends_on_the_size() {
        // a[j][i] with rows of 256 elements: columns meet the next row only where n exceeds 256.
        let n = linear::max(constant(0), linear::add(&Bound::Value(0), &constant(-1)).unwrap());
        let nest = [upto(0, n.clone()), upto(1, n)];
        let store = || form(&[(0, 8), (1, 2048)], constant(0));
        assert_eq!(ask(&nest, store(), store()), Dependence::Depends);
        let small = [upto(0, constant(255)), upto(1, constant(255))];
        assert_eq!(ask(&small, store(), store()), Dependence::None);
        let unknown = [Range { range: None, ..small[0].clone() }, small[1].clone()];
        assert_eq!(ask(&unknown, store(), store()), Dependence::Depends);
    }

    #[test]
    fn strides_by_trying() {
        let offsets: Vec<i64> = (-20..=20).collect();
        for (coefficient, step, width_a, width_b) in
            [(4, 1, 4, 4), (4, 1, 8, 1), (-3, 2, 2, 4), (6, -1, 1, 1), (8, 1, 1, 8), (2, 3, 4, 2)]
        {
            for offset in &offsets {
                let dims = [Range { step, range: None, ..upto(0, Bound::Value(0)) }];
                let (a, b) =
                    (form(&[(0, coefficient)], constant(0)), form(&[(0, coefficient)], constant(*offset)));
                let access = |offset, width| Access { offset, width, inner: &[] };
                let meet = (-40..=40).filter(|d| *d != 0).any(|d: i64| {
                    let at = coefficient * step * d;
                    at < offset + width_b && *offset < at + width_a
                });
                let (a, b) = (access(&a, width_a), access(&b, width_b));
                let plain = |order| distances::none_meet(&dims, &a, &b, order, false);
                assert_eq!(plain(Order::Different), Some(!meet));
                // The first access's iteration is `d` before the second one's.
                let not_after = (0..=40).any(|d: i64| {
                    let at = coefficient * step * -d;
                    at < offset + width_b && *offset < at + width_a
                });
                assert_eq!(plain(Order::NotAfter), Some(!not_after));
                let before = (1..=40).any(|d: i64| {
                    let at = coefficient * step * -d;
                    at < offset + width_b && *offset < at + width_a
                });
                assert_eq!(plain(Order::Before), Some(!before));
                // The same by isl, in a second dimension of one iteration.
                let nest = [dims[0].clone(), upto(1, constant(0))];
                assert_eq!(about_one_loop(|| may_come_before(&nest, &a, &b)), before);
            }
        }
    }

    #[test]
    fn loads_that_come_first() {
        let n = || Bound::Value(0);
        let first = |dims: &[Range], load: &Linear, store: &Linear, inner: &[Range]| {
            let access = |offset, inner| Access { offset, width: 4, inner };
            about_one_loop(|| comes_first(dims, &access(load, inner), &access(store, &[])))
        };
        let dims = [upto(0, n())];
        let back = [Range {
            range: Some((
                Linear::number(linear::mul(&n(), &constant(-1)).unwrap()),
                Linear::number(constant(0)),
            )),
            step: -1,
            ..upto(0, n())
        }];
        let at = |offset| form(&[(0, 4)], constant(offset));
        for (offset, up, down) in [(4, true, false), (-4, false, true), (0, false, false), (2, false, false)]
        {
            assert_eq!(first(&dims, &at(offset), &at(0), &[]), up, "{offset}");
            assert_eq!(first(&back, &at(offset), &at(0), &[]), down, "{offset}");
            // The same by isl: a second dimension keeps the plain case away.
            let nest = [dims[0].clone(), upto(1, constant(0))];
            assert_eq!(first(&nest, &at(offset), &at(0), &[]), up, "{offset}");
        }
        // Rows below: b[k][j] with k > i against b[i][j].
        let below = Range { range: Some((Linear::number(constant(0)), Linear::number(n()))), ..upto(2, n()) };
        let row = |terms: &[(u32, i64)], offset| form(terms, constant(offset));
        let store = row(&[(0, 400), (1, 4)], 0);
        let nest = [upto(0, n()), upto(1, constant(99))];
        let rows = [(0, 400), (1, 4), (2, 400)];
        assert!(first(&nest, &row(&rows, 400), &store, std::slice::from_ref(&below)));
        // From row i on: the iteration itself would be among them.
        assert!(!first(&nest, &row(&rows, 0), &store, &[below]));
        // The next column, the column before in the next row and in the row before.
        for (offset, comes_first) in [(4, true), (396, true), (-396, false), (-4, false)] {
            assert_eq!(first(&nest, &row(&[(0, 400), (1, 4)], offset), &store, &[]), comes_first, "{offset}");
        }
    }

    #[test]
    fn every_kind_of_answer() {
        let n = Bound::Value(0);
        let k = linear::mul(&Bound::Value(1), &constant(4)).unwrap();
        let dims = [upto(0, n.clone())];
        let a = || form(&[(0, 4)], constant(0));
        assert_eq!(ask(&dims, a(), a()), Dependence::None);
        for (distances, answer) in
            [([1, 2, 3, 15], Dependence::Certain), ([16, 32, 33, 1000], Dependence::Depends)]
        {
            for distance in distances {
                assert_eq!(ask(&dims, a(), form(&[(0, 4)], constant(-4 * distance))), answer);
            }
        }
        assert_eq!(ask(&dims, a(), form(&[(0, 4)], k)), Dependence::Depends);
        assert_eq!(ask(&dims, a(), form(&[], constant(8))), Dependence::Certain);
        assert_eq!(ask(&dims, form(&[(0, 8)], constant(0)), form(&[(0, 8)], constant(4))), Dependence::None);
        assert_eq!(ask(&dims, form(&[(0, 8)], constant(0)), form(&[(0, 8)], constant(2))), Dependence::None);
        assert_eq!(
            ask(&dims, form(&[(0, 2)], constant(0)), form(&[(0, 2)], constant(0))),
            Dependence::Certain
        );
        // Rows of a 100-wide matrix, both dimensions merged.
        let nest = [upto(0, n.clone()), upto(1, constant(99))];
        let c = || form(&[(0, 400), (1, 4)], constant(0));
        assert_eq!(ask(&nest, c(), c()), Dependence::None);
        // One element more than a row holds: the dependence exists, but not within short trips.
        let wide = [upto(0, n), upto(1, constant(100))];
        assert_eq!(ask(&wide, c(), c()), Dependence::Depends);
    }

    /// A number below `limit`, another one each time.
    fn any(state: &mut u64, limit: u64) -> u64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) % limit
    }

    fn one_of<T: Clone>(state: &mut u64, list: &[T]) -> T {
        list[any(state, list.len() as u64) as usize].clone()
    }

    fn any_range(state: &mut u64, id: u32) -> Range {
        let value = |number, plus| linear::add(&Bound::Value(number), &constant(plus)).unwrap();
        let difference = linear::add(&value(1, 0), &linear::neg(&value(0, 0)).unwrap()).unwrap();
        let highs = [
            constant(0),
            constant(1),
            constant(4),
            constant(11),
            constant(-1),
            value(0, 0),
            value(0, -3),
            value(1, 0),
            linear::max(constant(0), value(1, -1)),
            linear::min(constant(5), value(0, 0)),
            difference,
            linear::mul(&value(0, 0), &value(1, 0)).unwrap(),
        ];
        let (low, high) = (one_of(state, &[0, 0, 0, 1, -2]), one_of(state, &highs));
        let step = one_of(state, &[1, 1, 1, 2, 3, -1, -2]);
        let (low, high) = (Linear::number(constant(low)), Linear::number(high));
        let ends = if step > 0 { (low, high) } else { (high.negated().unwrap(), low.negated().unwrap()) };
        Range { id: LoopId(id), range: (any(state, 12) > 0).then_some(ends), step }
    }

    /// Answers without isl against isl's, for questions of all kinds.
    #[test]
    fn plain_answers_are_those_of_isl() {
        let (mut state, mut answered, mut plain) = (7, [0, 0], 0);
        for _ in 0..1200 {
            let state = &mut state;
            let dims: Vec<Range> = (0..1 + any(state, 3) as u32).map(|id| any_range(state, id)).collect();
            let inner: Vec<Range> = (0..any(state, 3) as u32).map(|id| any_range(state, 10 + id)).collect();
            let mut own: Vec<Range> = inner[..any(state, inner.len() as u64 + 1) as usize].to_vec();
            if any(state, 8) == 0 {
                own.push(any_range(state, 20));
            }
            let factors = [0, 4, 8, 8, 24, 80, 400, -8, -80, 12, 1];
            let mut terms = Vec::new();
            for range in dims.iter().chain(&inner) {
                terms.push((range.id.0, one_of(state, &factors)));
            }
            let mut of_b = terms.clone();
            of_b.extend(own.iter().filter(|range| range.id.0 == 20).map(|range| (range.id.0, 8)));
            of_b.retain(|(id, _)| dims.iter().chain(&own).any(|range| range.id.0 == *id));
            if any(state, 6) == 0 {
                of_b.last_mut().unwrap().1 = one_of(state, &factors);
            }
            let starts = [0, 0, 8, -8, 16, 80, 84, 4, 400, 404, 1000, 3];
            let mut start = || {
                let number = constant(one_of(state, &starts));
                match any(state, 8) {
                    0 => linear::add(&number, &linear::mul(&Bound::Value(2), &constant(8)).unwrap()).unwrap(),
                    _ => number,
                }
            };
            let (offset_a, offset_b) = (form(&terms, start()), form(&of_b, start()));
            let widths = [4, 8, 8, 1, 16];
            let a = Access { offset: &offset_a, width: one_of(state, &widths), inner: &inner };
            let b = Access { offset: &offset_b, width: one_of(state, &widths), inner: &own };
            let order = one_of(state, &[Order::Different, Order::NotAfter, Order::Before]);
            let is_short = any(state, 2) == 0;
            let Some(answer) = distances::none_meet(&dims, &a, &b, order, is_short) else { continue };
            plain += 1;
            let by_isl = about_one_loop(|| describe(&dims, &a, &b, order)?.is_empty(is_short));
            if let Some(by_isl) = by_isl {
                assert_eq!(answer, by_isl, "{dims:#?} {a:#?} {b:#?} {is_short}");
                answered[usize::from(answer)] += 1;
            }
        }
        // Most are plain, and of both kinds.
        assert!(plain > 800 && answered.iter().all(|n| *n > 200), "{plain} {answered:?}");
    }
}
