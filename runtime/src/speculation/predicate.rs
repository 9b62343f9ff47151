//! The entry predicate: with the numbers of this entry, can two *different* iterations touch a common byte through two
//! given accesses?
//!
//! An access touches `pointer + sum(stride[d]*k[d]) + [lo, hi)` in iteration `k`. The answer "independent" is proven;
//! "unknown" may be wrong. All arithmetic is in 128 bits: strides and trip counts are 64-bit numbers, so no product or sum
//! of a few of them wraps.
//!
//! Three sufficient conditions, cheap first. (1) The total ranges are disjoint. (2) Mixed radix, for equal strides: if
//! each stride, in ascending order, is at least the window plus all that smaller strides can add up to, then different
//! iterations are at least a window apart (the argument of a positional number system; with windows shifted against each
//! other, the window is the farthest distance at which they still meet). (3) Residues: modulo the greatest common divisor
//! of all strides both accesses stay in their window, and these don't meet. Where only one dimension has several iterations
//! the question is then answered exactly.

use super::rows::{self, Reach};
use crate::abi::{
    Access, Base, Entry, Info, PG_LOOP_DOUBTED, PG_LOOP_PRIVATIZED, PG_LOOP_REORDERED, PG_MAX_DIMS,
    PG_PAIR_ANTI, PG_PAIR_APART, PG_SITE_EXACT, PG_SITE_HAS_AFFINE, PG_SITE_HAS_WINDOW,
    PG_SITE_MAY_CHANGE_PIN, PG_SITE_MAY_TOUCH_KEPT, PG_SITE_SNAPSHOT, PG_SITE_UNCONDITIONAL, Pin, Site,
};
use std::sync::Arc;

/// One access with its entry-time numbers.
#[derive(Clone, Copy, Debug)]
pub struct Footprint {
    /// Absolute address of the window's first byte in iteration zero.
    pub lo: i128,
    /// One past the window's last byte.
    pub hi: i128,
    /// Bytes per iteration of each dimension.
    pub stride: [i128; PG_MAX_DIMS],
    /// What all iterations together stay in, where that is known to be less than strides and window say.
    pub hull: Option<(i128, i128)>,
}

impl Footprint {
    /// Of an access whose addresses are known to lie somewhere: they are affine, or it has a window. What is in a window may be touched or not.
    pub fn of(site: &Site, base: &Base, access: &Access) -> Option<Footprint> {
        let is_known = site.has(PG_SITE_HAS_AFFINE) || site.has(PG_SITE_HAS_WINDOW) && access.lo < access.hi;
        (is_known && base.dynamic == 0).then(|| Footprint::new(base, access))
    }

    /// From the entry's tables.
    pub fn new(base: &Base, access: &Access) -> Footprint {
        Footprint {
            lo: base.pointer as i128 + access.lo as i128,
            hi: base.pointer as i128 + access.hi as i128,
            stride: access.stride.map(i128::from),
            hull: (access.first < access.end).then(|| {
                (base.pointer as i128 + access.first as i128, base.pointer as i128 + access.end as i128)
            }),
        }
    }

    /// All that any iteration touches: first byte and one past the last.
    pub fn total(&self, trip: &[i64; PG_MAX_DIMS]) -> (i128, i128) {
        let (mut lo, mut hi) = (self.lo, self.hi);
        if let Some(hull) = self.hull {
            return hull;
        }
        for (stride, trip) in self.stride.iter().zip(trip) {
            let reach = stride * (*trip as i128 - 1).max(0);
            lo += reach.min(0);
            hi += reach.max(0);
        }
        (lo, hi)
    }

    /// If the iterations together touch rows, each without a gap and at least `shortest` bytes long, and there are at most
    /// `most` of them: these (given that each iteration touches its whole window).
    pub fn rows(&self, trip: &[i64; PG_MAX_DIMS], shortest: i128, most: usize) -> Option<RegularRows> {
        let moving = self.stride.iter().zip(trip).filter(|(_, t)| **t > 1);
        let mut dims: Vec<(i128, i128)> = moving.map(|(s, t)| (*s, *t as i128)).collect();
        dims.sort_unstable_by_key(|(stride, _)| stride.abs());
        let (mut first, mut length) = (self.lo, self.hi - self.lo);
        let joined = dims.iter().take_while(|(stride, trip)| {
            let goes_on = stride.abs() == length;
            if goes_on {
                first += (stride * (trip - 1)).min(0);
                length *= trip;
            }
            goes_on
        });
        let joined = joined.count();
        dims.drain(..joined);
        let count = dims.iter().try_fold(1i128, |all, (_, trip)| all.checked_mul(*trip))?;
        let may = dims.is_empty() || length >= shortest && count <= most as i128;
        may.then_some(RegularRows { first, dims, length })
    }
}

/// Rows of equal length, none with a gap, that lie in up to as many dimensions as nests have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegularRows {
    /// Where the row begins that all dimensions begin with.
    first: i128,
    /// How far it is from one to the next, and how many there are: the longest way last.
    dims: Vec<(i128, i128)>,
    /// Bytes of each.
    length: i128,
}

impl RegularRows {
    /// Bytes of each.
    pub fn length(&self) -> i128 {
        self.length
    }

    /// The only one, if it is the only one.
    pub fn only(&self) -> Option<(i128, i128)> {
        self.dims.is_empty().then_some((self.first, self.first + self.length))
    }

    /// From the first byte of any to one past the last.
    pub fn hull(&self) -> (i128, i128) {
        let (lo, hi) = reach(&self.dims, self.length);
        (self.first + lo, self.first + hi)
    }

    /// Where each begins.
    pub fn starts(&self) -> impl Iterator<Item = i128> {
        let mut turns = vec![0; self.dims.len()];
        let mut next = Some(self.first);
        std::iter::from_fn(move || {
            let start = next?;
            let mut following = start;
            next = None;
            for ((stride, count), turn) in self.dims.iter().zip(&mut turns) {
                if *turn + 1 < *count {
                    *turn += 1;
                    next = Some(following + stride);
                    break;
                }
                following -= stride * *turn;
                *turn = 0;
            }
            Some(start)
        })
    }

    /// Gives `found` what the rows cover between two addresses, row by row: as many steps as there are such rows, however many others there are.
    pub fn within(&self, (lo, hi): (i128, i128), found: &mut impl FnMut(i128, i128)) {
        within(self.first, &self.dims, self.length, (lo, hi), found);
    }
}

/// From where to where rows of these dimensions are, from the beginning of the first.
fn reach(dims: &[(i128, i128)], length: i128) -> (i128, i128) {
    let ends = |(lo, hi): (i128, i128), (stride, count): &(i128, i128)| {
        let end = stride * (count - 1);
        (lo + end.min(0), hi + end.max(0))
    };
    dims.iter().fold((0, length), ends)
}

/// See [`RegularRows::within`].
fn within(
    first: i128,
    dims: &[(i128, i128)],
    length: i128,
    (lo, hi): (i128, i128),
    found: &mut impl FnMut(i128, i128),
) {
    let Some(((stride, count), inner)) = dims.split_last() else {
        let (from, to) = (first.max(lo), (first + length).min(hi));
        if from < to {
            found(from, to);
        }
        return;
    };
    // Turn t is from `first + t * stride + begin` to that with `end`.
    let (begin, end) = reach(inner, length);
    let turns = match *stride {
        0 => 0..*count,
        stride => {
            // The least that is more than lo, and the first that is not less than hi, in the direction of the stride.
            let (behind, before) = (lo - first - end, hi - first - begin);
            let (least, most) = match stride > 0 {
                true => (behind.div_euclid(stride) + 1, -(-before).div_euclid(stride)),
                false => ((-before).div_euclid(-stride) + 1, -behind.div_euclid(-stride)),
            };
            least.clamp(0, *count)..most.clamp(0, *count)
        }
    };
    for turn in turns {
        within(first + stride * turn, inner, length, (lo, hi), found);
    }
}

pub(super) fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a.abs() } else { gcd(b, a % b) }
}

/// What numbers say about two accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// No two different iterations touch a common byte, one through each access.
    Independent,
    /// Two different iterations do, if each touches all of its windows.
    Dependent,
    /// Neither is shown.
    Unknown,
}

/// Asks for two accesses; the cheap conditions first.
pub fn judge(a: &Footprint, b: &Footprint, trip: &[i64; PG_MAX_DIMS]) -> Answer {
    if independent(a, b, trip) {
        return Answer::Independent;
    }
    match meet_in_one_dimension(a, b, trip) {
        Some(true) => Answer::Dependent,
        Some(false) => Answer::Independent,
        None => Answer::Unknown,
    }
}

/// Whether no iteration at all touches through the one what any touches through the other.
fn apart(a: &Footprint, b: &Footprint, trip: &[i64; PG_MAX_DIMS]) -> bool {
    let ((a_lo, a_hi), (b_lo, b_hi)) = (a.total(trip), b.total(trip));
    a_hi <= b_lo || b_hi <= a_lo
}

/// The same, or that they touch different parts of one array, in different iterations and in one: members of structs.
fn separate(a: &Footprint, b: &Footprint, trip: &[i64; PG_MAX_DIMS]) -> bool {
    let move_alike = (0..PG_MAX_DIMS).all(|d| trip[d] <= 1 || a.stride[d] == b.stride[d]);
    let are_beside = a.hi <= b.lo || b.hi <= a.lo;
    apart(a, b, trip) || move_alike && are_beside && independent(a, b, trip)
}

/// The sufficient conditions.
fn independent(a: &Footprint, b: &Footprint, trip: &[i64; PG_MAX_DIMS]) -> bool {
    if apart(a, b, trip) {
        return true;
    }
    let mut active = [0; PG_MAX_DIMS];
    let mut n_active = 0;
    for d in (0..PG_MAX_DIMS).filter(|&d| trip[d] > 1) {
        active[n_active] = d;
        n_active += 1;
    }
    let active = &active[..n_active];
    if active.is_empty() {
        return true;
    }
    // Windows x apart (b shifted by x against a) meet exactly if lo - hi < x < hi - lo, crosswise.
    let window = (a.hi - b.lo).max(b.hi - a.lo).max(a.hi - a.lo).max(b.hi - b.lo);
    if active.iter().all(|&d| a.stride[d] == b.stride[d]) {
        let mut dims = [(0i128, 0i128); PG_MAX_DIMS];
        for (dim, &d) in dims.iter_mut().zip(active) {
            *dim = (a.stride[d].abs(), trip[d] as i128);
        }
        let dims = &mut dims[..n_active];
        dims.sort_unstable();
        let mut reach = window;
        let mut separated = true;
        for (stride, trip) in dims.iter().copied() {
            if stride < reach {
                separated = false;
                break;
            }
            reach += stride * (trip - 1);
        }
        if separated {
            return true;
        }
    }
    let modulus = active.iter().fold(0, |g, &d| gcd(gcd(g, a.stride[d]), b.stride[d]));
    if modulus > 0 && a.hi - a.lo <= modulus && b.hi - b.lo <= modulus {
        // b's window begins `shift` after a's, modulo the divisor.
        let shift = (b.lo - a.lo).rem_euclid(modulus);
        if shift >= a.hi - a.lo && shift + (b.hi - b.lo) <= modulus {
            return true;
        }
    }
    false
}

/// The exact answer where only one dimension has several iterations: whether two different ones meet. `None`: see
/// [`meetings`].
fn meet_in_one_dimension(a: &Footprint, b: &Footprint, trip: &[i64; PG_MAX_DIMS]) -> Option<bool> {
    meetings(a, b, trip, &mut |Meeting { first: (k, l), step: (move_k, move_l), times }| {
        // The two are one iteration always, never, or for one of these times.
        match move_k == move_l {
            true => k != l,
            false => times > 0 || k != l,
        }
    })
}

/// Whether a load, where it meets a store at all, does so in earlier iterations than the store's. Three sufficient conditions:
/// they never meet; both move by the same strides, one way in the order of the iterations, and the load is ahead within an
/// iteration; or, where one dimension at most has several iterations, the exact answer.
pub fn comes_first(load: &Footprint, store: &Footprint, trip: &[i64; PG_MAX_DIMS]) -> bool {
    if apart(load, store, trip) {
        return true;
    }
    if (0..PG_MAX_DIMS).all(|d| trip[d] <= 1 || load.stride[d] == store.stride[d]) {
        let (up, down) = directions(&load.stride, trip);
        if up && load.lo >= store.hi || down && load.hi <= store.lo {
            return true;
        }
    }
    let not_before =
        meetings(load, store, trip, &mut |Meeting { first: (k, l), step: (move_k, move_l), times }| {
            // How far the load is behind goes one way, so it is farthest behind at one of the ends.
            k >= l || k + times * move_k >= l + times * move_l
        });
    not_before == Some(false)
}

/// Whether an access with these strides never goes back from one iteration to the next, and never forward: each dimension moves
/// on by at least what all dimensions inside it can add up to, and all go one way.
fn directions(stride: &[i128; PG_MAX_DIMS], trip: &[i64; PG_MAX_DIMS]) -> (bool, bool) {
    let (mut up, mut down, mut reach) = (true, true, 0);
    for (stride, trip) in stride.iter().zip(trip).rev().filter(|(_, trip)| **trip > 1) {
        let outpaces = stride.abs() >= reach;
        (up, down) = (up && outpaces && *stride >= 0, down && outpaces && *stride <= 0);
        reach += stride.abs() * (i128::from(*trip) - 1);
    }
    (up, down)
}

/// Iterations of two accesses that meet: `first`, and so many `times` more those that are `step` on.
struct Meeting {
    first: (i128, i128),
    step: (i128, i128),
    times: i128,
}

/// Whether some of the iterations that meet are as `asked`, where only one dimension has several iterations. All distances at
/// which the windows overlap are tried, each a linear Diophantine equation in the two iterations. `None`: too many, or numbers
/// beyond 128 bits.
fn meetings(
    a: &Footprint,
    b: &Footprint,
    trip: &[i64; PG_MAX_DIMS],
    asked: &mut dyn FnMut(Meeting) -> bool,
) -> Option<bool> {
    let mut active = (0..PG_MAX_DIMS).filter(|&d| trip[d] > 1);
    let (dim, None) = (active.next()?, active.next()) else { return None };
    let (step_a, step_b, last) = (a.stride[dim], b.stride[dim], i128::from(trip[dim]) - 1);
    // `step_a * k - step_b * l` is one of these where iteration k of the one meets iteration l of the other.
    let (low, high) = (b.lo - a.hi + 1, b.hi - a.lo - 1);
    if step_a == 0 && step_b == 0 {
        // Any two iterations do.
        return Some(low <= 0 && 0 <= high);
    }
    let (divisor, x, y) = bezout(step_a, step_b);
    let (from, to) = (-floor_of_quotient(-low, divisor), floor_of_quotient(high, divisor));
    if to - from >= 64 {
        return None;
    }
    for multiple in from..=to {
        // All solutions: k = k0 + t * move_k, l = l0 + t * move_l.
        let (k0, l0) = (x.checked_mul(multiple)?, y.checked_mul(multiple)?.checked_neg()?);
        let (move_k, move_l) = (step_b / divisor, step_a / divisor);
        let (mut t_low, mut t_high) = (i128::MIN, i128::MAX);
        let mut possible = true;
        for (start, step) in [(k0, move_k), (l0, move_l)] {
            let (to_first, to_last) = (start.checked_neg()?, last.checked_sub(start)?);
            let (least, most) = if step > 0 { (to_first, to_last) } else { (to_last, to_first) };
            if step == 0 {
                possible &= (0..=last).contains(&start);
            } else {
                t_low = t_low.max(-floor_of_quotient(-least, step));
                t_high = t_high.min(floor_of_quotient(most, step));
            }
        }
        if !possible || t_low > t_high {
            continue;
        }
        let first = (k0 + t_low * move_k, l0 + t_low * move_l);
        if asked(Meeting { first, step: (move_k, move_l), times: t_high - t_low }) {
            return Some(true);
        }
    }
    Some(false)
}

fn floor_of_quotient(a: i128, b: i128) -> i128 {
    let towards_zero = a / b;
    towards_zero - i128::from(a % b != 0 && (a < 0) != (b < 0))
}

/// The greatest common divisor of two numbers, not both zero, and factors with which they make it up.
fn bezout(a: i128, b: i128) -> (i128, i128, i128) {
    let (mut old, mut now) = ((a, 1, 0), (b, 0, 1));
    while now.0 != 0 {
        let times = old.0 / now.0;
        let next = (old.0 - times * now.0, old.1 - times * now.1, old.2 - times * now.2);
        (old, now) = (now, next);
    }
    if old.0 < 0 { (-old.0, -old.1, -old.2) } else { old }
}

/// What keeps an entry from being run elsewhere at all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Obstacle {
    /// Two sites (indices) meet in different iterations for certain.
    Pair(u32, u32),
    /// An access (site) may hit memory that must stay as it is, or that is kept (pin).
    Pin(u32, u32),
    /// Memory that is kept (pin) is also something else that the loop relies on (pin).
    Kept(u32, u32),
    /// Two accesses (sites) that may have nothing in common, in no iterations, may have something.
    Apart(u32, u32),
}

impl Obstacle {
    /// Whether not even the calling thread may run generated code: it would miss a change.
    pub fn is_final(&self) -> bool {
        matches!(self, Obstacle::Pin(..) | Obstacle::Kept(..))
    }
}

/// What is left to be checked after all predicates have been evaluated. Nothing: the entry's iterations are independent.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Rest {
    /// Pairs of sites that may meet as far as numbers can tell.
    pub pairs: Vec<(u32, u32)>,
    /// Whether the iterations are only independent if loads that can be made from a snapshot are.
    pub snapshot: bool,
    /// A store (site) of which only an inspection can tell whether it leaves pinned memory alone. Until then nothing but the
    /// program's own loop may run.
    pub unplaced: Option<u32>,
    /// Where the rows of tables of pointers are, if it took these to find out that nothing is left: all that is accessed without a base.
    pub rows: Option<Arc<Vec<Reach>>>,
}

impl Rest {
    /// See `rows`.
    pub fn rows(&self) -> Option<&[Reach]> {
        self.rows.as_ref().map(|rows| &rows[..])
    }
    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty() && self.unplaced.is_none()
    }
}

/// Evaluates all pairs of the entry that predicates can decide, and its pins. For that it looks at so many rows of tables of pointers, if there are any.
///
/// # Safety
/// `entry` was filled in by generated code for `info` and is alive.
pub unsafe fn prove(info: &Info, entry: &Entry, most_rows: u64) -> Result<Rest, Obstacle> {
    // SAFETY: promised by the caller.
    let (bases, accesses, pins) = unsafe { (entry.bases(info), entry.accesses(info), entry.pins(info)) };
    let footprint = |site: u32| -> Option<Footprint> {
        let facts = info.sites().get(site as usize)?;
        let base = bases.get(facts.base as usize)?;
        Footprint::of(facts, base, &accesses[site as usize])
    };
    let range = |pin: &Pin| (pin.address as i128, pin.address as i128 + i128::from(pin.width));
    let meet = |a: (i128, i128), b: (i128, i128)| a.0 < b.1 && b.0 < a.1;
    let touching = PG_SITE_MAY_CHANGE_PIN | PG_SITE_MAY_TOUCH_KEPT;
    let mut rest = Rest::default();
    // What rows may settle, if they are apart: the first store behind a table that may change a pin, and pairs.
    let (mut unplaced_row, mut in_rows) = (None, Vec::new());
    for (number, site) in info.sites().iter().enumerate().filter(|(_, s)| s.flags & touching != 0) {
        let Some(print) = footprint(number as u32) else {
            if site.slot().is_some() && !site.has(PG_SITE_MAY_TOUCH_KEPT) {
                unplaced_row.get_or_insert(number as u32);
                continue;
            }
            if info.inspect.is_none() || site.has(PG_SITE_MAY_TOUCH_KEPT) {
                return Err(Obstacle::Pin(number as u32, 0));
            }
            rest.unplaced = Some(number as u32);
            continue;
        };
        for (index, pin) in pins.iter().enumerate() {
            let flag = if pin.kept != 0 { PG_SITE_MAY_TOUCH_KEPT } else { PG_SITE_MAY_CHANGE_PIN };
            if site.has(flag) && meet(print.total(&entry.trip), range(pin)) {
                // Not all of a window is touched.
                if pin.kept == 0 && !site.has(PG_SITE_HAS_AFFINE) && info.inspect.is_some() {
                    rest.unplaced = Some(number as u32);
                    continue;
                }
                return Err(Obstacle::Pin(number as u32, index as u32));
            }
        }
    }
    // Where nobody looks at rows any more, such a store may do so, and without an inspection nobody else tells.
    let unless_pinned = |obstacle: Obstacle| match unplaced_row {
        Some(store) if info.inspect.is_none() => Obstacle::Pin(store, 0),
        _ => obstacle,
    };
    // What is kept changes, so it must be nothing that has to stay as it is, nor be kept twice.
    for (index, kept) in pins.iter().enumerate().filter(|(_, pin)| pin.kept != 0) {
        let other =
            pins.iter().enumerate().find(|(other, pin)| *other != index && meet(range(pin), range(kept)));
        if let Some((other, _)) = other {
            return Err(Obstacle::Kept(index as u32, other as u32));
        }
    }
    // Whether every iteration touches all of a site's window.
    let happens = |site: u32| {
        let facts = info.sites().get(site as usize);
        facts.is_some_and(|facts| facts.has(PG_SITE_UNCONDITIONAL) && facts.has(PG_SITE_EXACT))
    };
    let has_snapshot = |site: u32| info.sites().get(site as usize).is_some_and(|s| s.has(PG_SITE_SNAPSHOT));
    // Of such a loop nothing may be left, so the first pair that is ends it.
    let needs_all = info.has(PG_LOOP_REORDERED | PG_LOOP_PRIVATIZED);
    // A conflict that reads of a snapshot would not have, and whether it is certain.
    let mut anti: Option<(bool, u32, u32)> = None;
    // Pairs are many, and each site is in many of them.
    let prints: Vec<Option<Footprint>> = (0..info.n_sites).map(footprint).collect();
    let footprint = |site: u32| prints.get(site as usize).copied().flatten();
    for pair in info.pairs() {
        if pair.check & PG_PAIR_APART != 0 {
            let prints = footprint(pair.a).zip(footprint(pair.b));
            if prints.is_none_or(|(a, b)| !separate(&a, &b, &entry.trip)) {
                return Err(unless_pinned(Obstacle::Apart(pair.a, pair.b)));
            }
            continue;
        }
        let (answer, certain) = match (footprint(pair.a), footprint(pair.b)) {
            (Some(a), Some(b)) => (judge(&a, &b, &entry.trip), happens(pair.a) && happens(pair.b)),
            _ => (Answer::Unknown, false),
        };
        let certain = certain && answer == Answer::Dependent;
        let in_row = |site: u32| info.sites().get(site as usize).is_some_and(|s| s.slot().is_some());
        let is_placed = |site: u32| in_row(site) || footprint(site).is_some();
        match answer {
            Answer::Independent => {}
            _ if (in_row(pair.a) || in_row(pair.b)) && is_placed(pair.a) && is_placed(pair.b) => {
                in_rows.push((pair.a, pair.b));
            }
            _ if has_snapshot(pair.b) => {
                rest.pairs.push((pair.a, pair.b));
                anti = anti.max(Some((certain, pair.a, pair.b)));
            }
            _ if certain => return Err(unless_pinned(Obstacle::Pair(pair.a, pair.b))),
            _ => {
                rest.pairs.push((pair.a, pair.b));
                if needs_all {
                    rest.unplaced = rest.unplaced.or(unplaced_row);
                    return match (unplaced_row, info.inspect) {
                        (Some(store), None) => Err(Obstacle::Pin(store, 0)),
                        _ => Ok(rest),
                    };
                }
            }
        }
    }
    if unplaced_row.is_some() || !in_rows.is_empty() {
        let pinned: Vec<(i128, i128)> = pins.iter().map(range).collect();
        let of = rows::Accesses { info, accesses, prints: &prints, trip: &entry.trip, pinned: &pinned };
        // Where something else is left, nobody knows whether that leaves the tables alone.
        let seen = if rest.is_empty() && anti.is_none() { rows::Rows::read(&of, most_rows) } else { None };
        let is_settled =
            |seen: &rows::Rows| in_rows.iter().all(|(a, b)| seen.judge(*a, *b) == Answer::Independent);
        if let Some(seen) = seen.filter(is_settled) {
            rest.rows = Some(Arc::new(seen.reaches()));
        } else {
            if let (Some(store), None) = (unplaced_row, info.inspect) {
                return Err(Obstacle::Pin(store, 0));
            }
            rest.pairs.append(&mut in_rows);
            rest.unplaced = rest.unplaced.or(unplaced_row);
        }
    }
    let Some((certain, a, b)) = anti else { return Ok(rest) };
    // All of these loads are then made from the snapshot, whether they meet a store in another iteration or not.
    let finds_all = info.pairs().iter().filter(|pair| has_snapshot(pair.b)).all(|pair| {
        let prints = footprint(pair.a).zip(footprint(pair.b));
        pair.check & PG_PAIR_ANTI != 0 || prints.is_some_and(|(a, b)| comes_first(&b, &a, &entry.trip))
    });
    // Logs know nothing of snapshots, so nothing else may be left to them.
    let only = rest.pairs.iter().all(|(_, b)| has_snapshot(*b));
    match finds_all && only && rest.unplaced.is_none() && !info.has(PG_LOOP_DOUBTED) {
        true => Ok(Rest { snapshot: true, ..Rest::default() }),
        false if certain => Err(unless_pinned(Obstacle::Pair(a, b))),
        false => Ok(rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Whether two iterations that are `asked` for touch a common byte.
    fn meet(
        a: &Footprint,
        b: &Footprint,
        trip: &[i64; PG_MAX_DIMS],
        asked: impl Fn((i64, i64), (i64, i64)) -> bool,
    ) -> bool {
        let mut iterations = Vec::new();
        for i in 0..trip[0] {
            for j in 0..trip[1] {
                iterations.push((i, j));
            }
        }
        let at = |f: &Footprint, (i, j): (i64, i64)| {
            let o = f.stride[0] * i as i128 + f.stride[1] * j as i128;
            (f.lo + o, f.hi + o)
        };
        iterations.iter().any(|&x| {
            iterations.iter().any(|&y| {
                let ((al, ah), (bl, bh)) = (at(a, x), at(b, y));
                asked(x, y) && al < bh && bl < ah
            })
        })
    }

    fn brute_force(a: &Footprint, b: &Footprint, trip: &[i64; PG_MAX_DIMS]) -> bool {
        !meet(a, b, trip, |x, y| x != y)
    }

    fn print(lo: i128, width: i128, s0: i128, s1: i128) -> Footprint {
        Footprint { lo, hi: lo + width, stride: [s0, s1, 0, 0], hull: None }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]
        #[test]
        fn never_lies(
            lo in -40i128..40, w in 1i128..12, v in 1i128..12,
            s0 in -24i128..24, s1 in -24i128..24, same in any::<bool>(), r0 in -24i128..24, r1 in -24i128..24,
            t0 in 1i64..7, t1 in 1i64..7,
        ) {
            let a = print(0, w, s0, s1);
            let b = if same { print(lo, v, s0, s1) } else { print(lo, v, r0, r1) };
            let trip = [t0, t1, 1, 1];
            match judge(&a, &b, &trip) {
                Answer::Independent => prop_assert!(brute_force(&a, &b, &trip)),
                Answer::Dependent => prop_assert!(!brute_force(&a, &b, &trip)),
                Answer::Unknown => prop_assert!(t0 > 1 && t1 > 1),
            }
        }
        #[test]
        fn loads_come_first_where_they_do(
            lo in -40i128..40, w in 1i128..12, v in 1i128..12,
            s0 in -24i128..24, s1 in -24i128..24, same in any::<bool>(), r0 in -24i128..24, r1 in -24i128..24,
            t0 in 1i64..9, t1 in 1i64..3,
        ) {
            let load = print(0, w, s0, s1);
            let store = if same { print(lo, v, s0, s1) } else { print(lo, v, r0, r1) };
            let trip = [t0, t1, 1, 1];
            let truth = !meet(&load, &store, &trip, |load, store| load >= store);
            match comes_first(&load, &store, &trip) {
                true => prop_assert!(truth),
                // One dimension is enough for the exact answer, and two where both move alike and one way.
                false => prop_assert!(!truth || t0 == 1 || t1 > 1),
            }
        }
        #[test]
        fn what_is_separate_has_nothing_in_common(
            lo in -40i128..40, w in 1i128..12, v in 1i128..12,
            s0 in -24i128..24, s1 in -24i128..24, same in any::<bool>(), r0 in -24i128..24, r1 in -24i128..24,
            t0 in 1i64..7, t1 in 1i64..7,
        ) {
            let a = print(0, w, s0, s1);
            let b = if same { print(lo, v, s0, s1) } else { print(lo, v, r0, r1) };
            let trip = [t0, t1, 1, 1];
            if separate(&a, &b, &trip) {
                prop_assert!(!meet(&a, &b, &trip, |_, _| true));
            }
        }
        #[test]
        fn planted_distances_are_seen(distance in prop::sample::select(vec![1i128, 31, 32, 33, 1000]), offset in 0i128..4) {
            // store a[i], load a[i - distance] shifted by `offset` bytes: iterations meet.
            let store = print(0, 4, 4, 0);
            let load = print(-4 * distance + offset, 4, 4, 0);
            prop_assert_eq!(judge(&store, &load, &[2000, 1, 1, 1]), Answer::Dependent);
            prop_assert_eq!(judge(&store, &load, &[distance as i64, 1, 1, 1]) == Answer::Independent, offset == 0 || distance == 1);
        }
    }

    #[test]
    fn common_shapes_are_proven() {
        let n = 1000i128;
        // rows: c[i*n + j] over (i, j)
        let c = print(0, 4, 4 * n, 4);
        assert!(independent(&c, &c, &[1000, 1000, 1, 1]));
        // a row as the window
        let row = print(0, 4 * n, 4 * n, 0);
        assert!(independent(&row, &row, &[1000, 1, 1, 1]));
        // columns
        let column = print(0, 4 * n * 999 + 4, 4, 0);
        assert!(!independent(&column, &column, &[1000, 1, 1, 1]));
        // even elements stored, odd elements read
        assert!(independent(&print(0, 4, 8, 0), &print(4, 4, 8, 0), &[1000, 1, 1, 1]));
        // a tile of a wider matrix, walked backwards
        let tile = print(0, 8, -8 * 4096, 8);
        assert!(independent(&tile, &tile, &[64, 64, 1, 1]));
        // one address in all iterations
        assert!(!independent(&print(0, 4, 0, 0), &print(0, 4, 0, 0), &[2, 1, 1, 1]));
        // members of one element: apart in each iteration and in different ones
        assert!(separate(&print(0, 4, 16, 0), &print(4, 4, 16, 0), &[1000, 1, 1, 1]));
        assert!(!separate(&print(0, 4, 16, 0), &print(2, 4, 16, 0), &[1000, 1, 1, 1]));
        // an in-place read of the same element is no dependence between iterations
        assert!(independent(&print(0, 4, 4, 0), &print(0, 4, 4, 0), &[1000, 1, 1, 1]));
    }

    #[test]
    fn rows_without_gaps() {
        let rows = |footprint: Footprint, trip| {
            let rows = footprint.rows(&trip, 8, 4)?;
            Some((rows.starts().collect::<Vec<_>>(), rows.length()))
        };
        assert_eq!(rows(print(0, 4, 4, 0), [10, 1, 1, 1]), Some((vec![0], 40)));
        assert_eq!(rows(print(0, 4, -4, 0), [10, 1, 1, 1]), Some((vec![-36], 40)));
        assert_eq!(rows(print(0, 4, 8, 0), [10, 1, 1, 1]), None);
        assert_eq!(rows(print(0, 4, 40, 4), [3, 10, 1, 1]), Some((vec![0], 120)));
        assert_eq!(rows(print(0, 4, 44, 4), [3, 10, 1, 1]), Some((vec![0, 44, 88], 40)));
        assert_eq!(rows(print(0, 4, -44, -4), [3, 10, 1, 1]), Some((vec![-36, -80, -124], 40)));
        assert_eq!(rows(print(0, 4, 44, 4), [5, 10, 1, 1]), None);
        // Rows that overlap, and one that every iteration is.
        assert_eq!(rows(print(0, 4, 8, 4), [3, 10, 1, 1]), Some((vec![0, 8, 16], 40)));
        assert_eq!(rows(print(0, 8, 0, 0), [3, 10, 1, 1]).map(|(_, length)| length), None);
    }

    proptest! {
        #[test]
        fn rows_are_what_is_touched(strides in prop::array::uniform2(-40i128..40), trip in prop::array::uniform2(1i64..6)) {
            let footprint = Footprint { lo: 1000, hi: 1004, stride: [strides[0], strides[1], 0, 0], hull: None };
            if let Some(rows) = footprint.rows(&[trip[0], trip[1], 1, 1], 1, 64) {
                let mut touched = std::collections::BTreeSet::new();
                for i in 0..i128::from(trip[0]) {
                    for j in 0..i128::from(trip[1]) {
                        touched.extend((0..4).map(|byte| 1000 + strides[0] * i + strides[1] * j + byte));
                    }
                }
                let said: std::collections::BTreeSet<i128> =
                    rows.starts().flat_map(|start| start..start + rows.length()).collect();
                prop_assert_eq!(&touched, &said);
                prop_assert_eq!(Some(rows.hull()), said.first().zip(said.last()).map(|(lo, hi)| (*lo, hi + 1)));
            }
        }

        #[test]
        fn rows_between_two_addresses_are_found(
            strides in prop::array::uniform3(-60i128..60),
            counts in prop::array::uniform3(1i128..6),
            length in 1i128..20,
            lo in 600i128..1400,
            size in 1i128..200,
        ) {
            let dims = strides.into_iter().zip(counts).collect();
            let rows = RegularRows { first: 1000, dims, length };
            let parts = |(first, end): (i128, i128)| {
                let (from, to) = (first.max(lo), end.min(lo + size));
                (from < to).then_some((from, to))
            };
            let mut expected: Vec<_> = rows.starts().filter_map(|start| parts((start, start + length))).collect();
            let mut found = Vec::new();
            rows.within((lo, lo + size), &mut |from, to| found.push((from, to)));
            expected.sort_unstable();
            found.sort_unstable();
            prop_assert_eq!(found, expected);
            let inside = (1000, 1000 + length);
            let only = RegularRows { first: 1000, dims: Vec::new(), length }.only();
            prop_assert_eq!(only, Some(inside));
            if counts.iter().any(|count| *count > 1) {
                prop_assert_eq!(rows.only(), None);
            }
        }
    }
}
