//! How many turns of inner loops each iteration has, as an inspection comes by them, and the order of iterations that follows from that: the
//! lanes of a GPU's warp run some iterations side by side, and all of them take as long as the longest. Which iterations are alike is all that
//! such an order says. Whether they may run in another order than the program's is for others to know: an [`Order`] is made where they are
//! independent, and used where nobody could tell in which order a device runs them.
//!
//! What was noted may be wrong, and costs time then. Nothing else hangs on it: an order has every iteration once, whatever was noted, and says
//! for how many it is.

use super::levels::Schedule;
use super::{Obstacle, Zero, zeros};
use crate::memory::safe_copy;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Numbers of turns that are told apart one by one; above them as many for each doubling as [`PARTS`] says.
const FEW: u32 = 1 << 10;
/// See [`FEW`].
const PARTS: u32 = 256;
/// One past the highest [`kind`].
const KINDS: usize = (FEW + 22 * PARTS) as usize;

/// Iterations of which there may be an order. Where there are more, a GPU has enough of them to do without.
const MOST: u64 = 1 << 20;

/// Iterations that a warp runs side by side, as far as it is known here.
const SIDE_BY_SIDE: usize = 8;
/// An order is worth something where lanes that wait for the longest iteration of theirs take longer by such a part.
const WORTH: u64 = 4;
/// Where iterations have fewer turns than that on average, it costs more than it gains, ...
const LEAST_TURNS: u64 = 32;
/// ... unless lanes that wait take so many times as long.
const MUCH: u64 = 4;

// SAFETY: a number.
unsafe impl Zero for AtomicU32 {}

/// The numbers of turns of all iterations, which several threads note.
pub struct Noted {
    turns: Box<[AtomicU32]>,
    /// Whether any order is worth something: for tests.
    always: bool,
}

impl Noted {
    /// For so many iterations. `None`: they are too many, or there is no memory for it.
    pub fn new(iterations: u64, always: bool) -> Option<Noted> {
        let turns = if iterations <= MOST { zeros(iterations as usize) } else { Err(Obstacle::Memory) };
        Some(Noted { turns: turns.ok()?, always })
    }

    /// An iteration has so many.
    pub fn note(&self, iteration: u64, turns: u32) {
        if let Some(noted) = self.turns.get(iteration as usize) {
            noted.store(turns, Ordering::Relaxed);
        }
    }

    /// How many an iteration has.
    pub fn of(&self, iteration: u64) -> u32 {
        self.turns.get(iteration as usize).map_or(0, |turns| turns.load(Ordering::Relaxed))
    }

    /// What was noted.
    #[cfg(test)]
    pub(super) fn all(&self) -> Vec<u32> {
        self.turns.iter().map(|turns| turns.load(Ordering::Relaxed)).collect()
    }

    /// The order by what was noted; `None`: it isn't worth anything, or there is no memory for it.
    pub fn order(&self) -> Option<Order> {
        let of = |noted: &AtomicU32| u64::from(noted.load(Ordering::Relaxed));
        let all: u64 = self.turns.iter().map(of).sum();
        // What lanes take that wait for the longest iteration of theirs.
        let longest = |some: &[AtomicU32]| some.iter().map(of).max().unwrap_or(0) * some.len() as u64;
        let taken: u64 = self.turns.chunks(SIDE_BY_SIDE).map(longest).sum();
        let are_short = all < LEAST_TURNS * self.turns.len() as u64;
        let pays = all != 0 && if are_short { taken >= MUCH * all } else { taken - all >= all / WORTH };
        let turns = |iteration: usize| self.turns[iteration].load(Ordering::Relaxed);
        if pays || self.always { Order::by(self.turns.len(), turns) } else { None }
    }
}

/// What stands together in an order: the same for numbers of turns that are nearly the same, and greater for greater ones.
fn kind(turns: u32) -> usize {
    let kind = match turns.checked_ilog2() {
        Some(log2) if turns >= FEW => {
            FEW + (log2 - FEW.ilog2()) * PARTS + (turns >> (log2 - PARTS.ilog2())) % PARTS
        }
        _ => turns,
    };
    kind as usize
}

/// An order of all iterations, those with most turns first, in source order where they are alike.
#[derive(Debug)]
pub struct Order {
    /// No other order has it.
    pub number: u64,
    /// Turns of all iterations.
    pub all: u64,
    /// Turns of the longest one.
    pub longest: u32,
    level: Schedule,
}

impl Order {
    /// By counting. Every iteration has one place: those of its kind begin where those of the kinds before it end, and follow each other.
    pub(crate) fn by(count: usize, turns: impl Fn(usize) -> u32) -> Option<Order> {
        let place_of = |iteration: usize| KINDS - 1 - kind(turns(iteration));
        let mut places: Vec<usize> = safe_copy::buffer(KINDS as u64).ok()?;
        let mut order: Vec<u32> = safe_copy::buffer(count as u64).ok()?;
        for iteration in 0..count {
            places[place_of(iteration)] += 1;
        }
        let mut begin = 0;
        for place in &mut places {
            begin += std::mem::replace(place, begin);
        }
        for iteration in 0..count {
            let place = &mut places[place_of(iteration)];
            order[*place] = iteration as u32;
            *place += 1;
        }
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let all = (0..count).map(|iteration| u64::from(turns(iteration))).sum();
        let longest = (0..count).map(&turns).max().unwrap_or(0);
        Some(Order { number, all, longest, level: Schedule { order, ends: vec![count] } })
    }

    /// Whether it is one of so many iterations.
    pub fn is_of(&self, iterations: u64) -> bool {
        self.level.order.len() as u64 == iterations
    }

    /// As one level, because no iteration waits for another.
    pub fn as_level(&self) -> &Schedule {
        &self.level
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noted(turns: &[u32]) -> Noted {
        let noted = Noted::new(turns.len() as u64, false).unwrap();
        turns.iter().enumerate().for_each(|(iteration, turns)| noted.note(iteration as u64, *turns));
        noted
    }

    /// Numbers that don't follow from each other.
    fn numbers(count: usize) -> impl Iterator<Item = u32> {
        let next = |seed: &u64| {
            Some(seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407))
        };
        std::iter::successors(Some(7), next).map(|seed| (seed >> 32) as u32).take(count)
    }

    #[test]
    fn kinds_are_in_the_order_of_turns() {
        assert_eq!(
            [0, 1, 1023, 1024, 1027, 1028, 2047, 2048].map(kind),
            [0, 1, 1023, 1024, 1024, 1025, 1279, 1280]
        );
        assert_eq!(kind(u32::MAX), KINDS - 1);
        let mut some: Vec<u32> =
            numbers(5000).flat_map(|number| [number, number >> 10, number >> 20]).collect();
        some.sort_unstable();
        assert!(some.windows(2).all(|pair| kind(pair[0]) <= kind(pair[1])));
    }

    #[test]
    fn orders_have_every_iteration_once_and_the_longest_first() {
        for shift in [0, 12, 22, 28] {
            let turns: Vec<u32> = numbers(4999).map(|number| number >> shift).collect();
            let order = Order::by(turns.len(), |iteration| turns[iteration]).unwrap();
            assert!(order.is_of(4999) && !order.is_of(4998) && !order.is_of(5000));
            let Schedule { order, ends } = order.as_level();
            assert_eq!(ends[..], [4999]);
            let mut all = order.clone();
            all.sort_unstable();
            assert!(all.iter().copied().eq(0..4999));
            let kinds: Vec<usize> = order.iter().map(|iteration| kind(turns[*iteration as usize])).collect();
            assert!(kinds.is_sorted_by(|a, b| a >= b));
            // Alike: in source order.
            assert!(
                order
                    .windows(2)
                    .zip(kinds.windows(2))
                    .all(|(two, kinds)| kinds[0] != kinds[1] || two[0] < two[1])
            );
        }
    }

    #[test]
    fn what_is_alike_or_short_has_no_order() {
        assert!(noted(&[300; 500]).order().is_none());
        assert!(noted(&Vec::from_iter((0..500).map(|k| 300 + k % 60))).order().is_none());
        assert!(noted(&Vec::from_iter((0..500).map(|k| k % 33))).order().is_none());
        assert!(noted(&[0; 500]).order().is_none());
        // Short ones, but for a few.
        assert!(
            noted(&Vec::from_iter((0..500).map(|k| if k % 250 == 3 { 3000 } else { k % 16 })))
                .order()
                .is_some()
        );
        assert!(
            noted(&Vec::from_iter((0..500).map(|k| if k % 16 == 0 { 2000 } else { k % 16 })))
                .order()
                .is_some()
        );
        assert!(noted(&Vec::from_iter(numbers(500).map(|number| number % 655))).order().is_some());
        // Sorted by the program.
        assert!(noted(&Vec::from_iter(0..500)).order().is_none());
        assert!(Noted::new(5, true).unwrap().order().is_some());
        assert!(Noted::new(MOST + 1, true).is_none());
    }
}
