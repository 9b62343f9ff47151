//! What loops have done since all that they have stored was last in the program's memory, too: enough to do it once more without the device that has done it. So a device that
//! is lost takes nothing with it.
//!
//! Under a page that is kept from the program its memory stays as it was when the device was given what is there. From that the loops can be run again, on the program's own
//! memory and in their order, if each finds what it has loaded:
//! - what it loads from pages that are kept lies under them, or has been stored by a loop before it;
//! - what it loads from elsewhere is copied when it is handed over ([`Step::given`]);
//! - what lay under a page that has come home since, and that a loop has loaded, is saved before something else takes its place ([`Journal::save`]).
//!
//! What other processes see must not be stored to again, not even for a moment. Where a loop does that, or where all of it would take too much memory, the journal ends
//! ([`Journal::give_up`]), until all that was stored is in the program's memory again: then nothing is lost by a device's end, and another one begins. It only notes;
//! [`super::places`] says when.

use crate::memory::tracking::{Range, merged, without};
use std::sync::Arc;

/// Most bytes of all that is noted.
const MOST: u64 = 64 << 20;
/// Most of them that are saved while pages come home, to begin with and later; and so few that it doesn't matter.
const MOST_SAVED: u64 = 16 << 20;
const LITTLE_SAVED: u64 = 64 << 10;
/// Where loops are so many, it takes next to no time to bring their results home in between.
const MANY: usize = 1024;
/// Loops that come by turns are compared with so many before them.
const LATELY: usize = 4;

/// A loop that a device has run, and what is known of its accesses; `L` is what it takes to run it again.
#[derive(Debug, PartialEq)]
pub struct Done<L> {
    /// The loop, with its numbers.
    pub again: L,
    /// What it may load.
    pub loads: Vec<Range>,
    /// What it may store to.
    pub stores: Vec<Range>,
    /// Where its code is: something of each piece of memory.
    pub code: Vec<Range>,
}

/// One of them in its turn.
#[derive(Debug)]
pub struct Step<L> {
    /// The loop. Those of a time loop have it in common.
    pub done: Arc<Done<L>>,
    /// What it loads that is in no page that is kept, and where.
    pub given: Vec<(u64, Vec<u8>)>,
}

/// What lay under pages, and belongs there before a step is run again.
#[derive(Debug)]
pub struct Saved {
    /// The step, by number.
    pub before: usize,
    /// Where.
    pub at: u64,
    /// What.
    pub bytes: Vec<u8>,
}

/// See the module.
#[derive(Debug)]
pub struct Journal<L> {
    steps: Vec<Step<L>>,
    saved: Vec<Saved>,
    /// All that its loops may load or store to, and their code, in order and apart.
    reach: Vec<Range>,
    /// Of steps and what they are given; of what is saved.
    bytes: (u64, u64),
    most_saved: u64,
    has_ended: bool,
}

impl<L> Journal<L> {
    /// With nothing in it.
    pub const fn new() -> Journal<L> {
        Journal {
            steps: Vec::new(),
            saved: Vec::new(),
            reach: Vec::new(),
            bytes: (0, 0),
            most_saved: MOST_SAVED,
            has_ended: false,
        }
    }

    /// Whether all that loops have done since it was begun can be done again.
    pub fn is_whole(&self) -> bool {
        !self.has_ended
    }

    /// The steps, from the first on.
    pub fn steps(&self) -> &[Step<L>] {
        &self.steps
    }

    /// What was saved.
    pub fn saved(&self) -> &[Saved] {
        &self.saved
    }

    /// Whether who runs its loops again needs some of a range.
    pub fn reaches(&self, (lo, hi): Range) -> bool {
        let first = self.reach.partition_point(|(_, end)| *end <= lo);
        self.reach.get(first).is_some_and(|(begin, _)| *begin < hi)
    }

    /// What of some ranges none of its loops may load or store to.
    pub fn unreached(&self, ranges: &[Range]) -> Vec<Range> {
        without(ranges, &self.reach)
    }

    /// Whether something has been noted.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty() && !self.has_ended
    }

    /// Whether it is about to end only because there have been so many loops.
    pub fn is_long(&self) -> bool {
        !self.has_ended && self.steps.len() >= MANY && self.bytes.0 > MOST / 2
    }

    /// One of the last steps that was the same loop with the same numbers, or this one.
    pub fn shared(&self, done: Done<L>) -> Arc<Done<L>>
    where
        L: PartialEq,
    {
        let lately = self.steps.iter().rev().take(LATELY);
        lately
            .map(|step| &step.done)
            .find(|other| ***other == done)
            .cloned()
            .unwrap_or_else(|| Arc::new(done))
    }

    /// A loop has been run on a device. `None`: nobody knows all that it would take to run it again. Its number.
    pub fn note(&mut self, step: Option<Step<L>>) -> Option<usize> {
        let Some(step) = step.filter(|_| !self.has_ended) else {
            self.give_up();
            return None;
        };
        let given: usize = step.given.iter().map(|(_, bytes)| bytes.len() + size_of::<Saved>()).sum();
        // Who is alone with it has it for himself.
        let own = match Arc::strong_count(&step.done) {
            1 => size_of::<Done<L>>() + 1024,
            _ => 0,
        };
        self.bytes.0 += (given + own + size_of::<Step<L>>()) as u64;
        if self.bytes.0 > MOST || self.steps.try_reserve(1).is_err() {
            self.give_up();
            return None;
        }
        if own != 0 {
            let Done { loads, stores, code, .. } = &*step.done;
            let new = self.unreached(&merged([loads, stores, code].into_iter().flatten().copied()));
            if !new.is_empty() {
                self.reach = merged(self.reach.drain(..).chain(new));
            }
        }
        self.steps.push(step);
        Some(self.steps.len() - 1)
    }

    /// Whether so many bytes can be saved.
    pub fn has_room(&self, bytes: u64) -> bool {
        self.bytes.1 + bytes + size_of::<Saved>() as u64 <= self.most_saved
    }

    /// Something else is about to take the place of what lies under pages, and of what a loop has loaded from there. `None`: there is no memory for that.
    pub fn save(&mut self, before: usize, at: u64, bytes: Option<Vec<u8>>) {
        let Some(bytes) = bytes.filter(|_| !self.has_ended) else { return self.give_up() };
        let has_room = self.has_room(bytes.len() as u64);
        self.bytes.1 += (bytes.len() + size_of::<Saved>()) as u64;
        if !has_room || self.saved.try_reserve(1).is_err() {
            // A program that looks at all of it again and again needn't pay for it each time.
            self.most_saved = (self.most_saved / 2).max(LITTLE_SAVED);
            return self.give_up();
        }
        self.saved.push(Saved { before, at, bytes });
    }

    /// What has been done can't be done again.
    pub fn give_up(&mut self) {
        self.clear();
        self.has_ended = true;
    }

    /// All that was stored is in the program's memory: it begins anew.
    pub fn begin(&mut self) {
        if self.bytes.1 != 0 {
            self.most_saved = (2 * self.most_saved).min(MOST_SAVED);
        }
        self.clear();
        self.has_ended = false;
    }

    fn clear(&mut self) {
        self.steps.clear();
        self.saved.clear();
        self.reach.clear();
        self.bytes = (0, 0);
    }
}

impl<L> Default for Journal<L> {
    fn default() -> Journal<L> {
        Journal::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(journal: &Journal<u32>, again: u32, given: usize) -> Option<Step<u32>> {
        let done = journal.shared(Done { again, loads: vec![(0, 8)], stores: Vec::new(), code: Vec::new() });
        Some(Step { done, given: vec![(0, vec![7; given])] })
    }

    #[test]
    fn loops_that_come_by_turns_are_noted_once() {
        let mut journal = Journal::new();
        for number in 0..100_000 {
            let next = step(&journal, number % 3, 0);
            assert_eq!(journal.note(next), Some(number as usize));
        }
        assert!(journal.bytes.0 < MOST / 4 && !journal.is_long());
        let others = (0..100).filter(|number| {
            step(&journal, 3 + number, 0).is_some_and(|step| Arc::strong_count(&step.done) == 1)
        });
        assert_eq!(others.count(), 100);
    }

    #[test]
    fn it_knows_what_its_loops_need() {
        let mut journal = Journal::new();
        let note = |journal: &mut Journal<u32>, again, loads, stores, code| {
            let done = journal.shared(Done { again, loads, stores, code });
            assert!(journal.note(Some(Step { done, given: Vec::new() })).is_some());
        };
        note(&mut journal, 0, vec![(100, 200)], vec![(400, 500)], vec![(9, 10)]);
        note(&mut journal, 1, vec![(150, 300)], vec![], vec![(9, 10), (600, 601)]);
        note(&mut journal, 0, vec![(100, 200)], vec![(400, 500)], vec![(9, 10)]);
        for (range, reaches) in [
            ((0, 9), false),
            ((0, 10), true),
            ((10, 100), false),
            ((299, 300), true),
            ((300, 400), false),
            ((300, 700), true),
            ((499, 600), true),
            ((500, 600), false),
            ((601, u64::MAX), false),
        ] {
            assert_eq!(journal.reaches(range), reaches, "{range:?}");
        }
        assert_eq!(journal.unreached(&[(0, 8), (50, 450)]), [(0, 8), (50, 100), (300, 400)]);
        journal.begin();
        assert!(!journal.reaches((0, u64::MAX)));
    }

    #[test]
    fn it_ends_where_it_would_be_too_large_and_begins_again() {
        let mut journal = Journal::new();
        let (mut steps, given) = (0, (MOST / 8) as usize);
        while journal.is_whole() {
            let next = step(&journal, 0, given);
            steps += u32::from(journal.note(next).is_some());
        }
        assert_eq!(steps, 7);
        assert!(journal.steps().is_empty() && !journal.is_empty());
        let next = step(&journal, 0, 0);
        assert_eq!(journal.note(next), None);
        journal.begin();
        assert!(journal.is_whole() && journal.is_empty());
        // A loop of which not all is known.
        assert_eq!((journal.note(None), journal.is_whole()), (None, false));
    }

    #[test]
    fn it_is_long_where_many_loops_were_given_much() {
        let mut journal = Journal::new();
        while !journal.is_long() {
            let next = step(&journal, 0, (MOST as usize / 2) / MANY + 1);
            assert!(journal.note(next).is_some());
        }
        assert_eq!(journal.steps().len(), MANY);
    }

    #[test]
    fn who_looks_at_all_of_it_again_and_again_pays_less_and_less() {
        let mut journal = Journal::<u32>::new();
        let page = || Some(vec![0; 1 << 20]);
        let saved_before_it_ends = |journal: &mut Journal<u32>| {
            let mut count = 0;
            while journal.is_whole() {
                journal.save(0, 0, page());
                count += 1;
            }
            journal.begin();
            count
        };
        let counts: Vec<u32> = (0..12).map(|_| saved_before_it_ends(&mut journal)).collect();
        assert_eq!((counts[0], counts[1], counts[11]), (16, 8, 1));
        // Who looks at less is worth more again.
        for _ in 0..20 {
            journal.save(0, 0, Some(vec![0; 64]));
            journal.begin();
        }
        assert_eq!(saved_before_it_ends(&mut journal), 16);
        journal.save(0, 0, None);
        assert!(!journal.is_whole());
    }
}
