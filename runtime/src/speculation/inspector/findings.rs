//! What is remembered of all loops, and how much: copies of what decides about addresses are as large as the program's index arrays, and each loop may have several. What a finding
//! is, and when it holds, [`Memo`] says.
//!
//! Loops that go by the same arrays share the copies. All together stay below [`limits::to_remember`], unless there is but one; whoever has not been used for longest has to go.

use super::{COMPARED, Content, Memo, Remembered};
use crate::memory::limits;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Findings that are kept for each loop: programs swap arrays, and go through levels, colours and blocks again and again.
const OF_LOOP: usize = 16;

/// Findings of the same entry that are kept with different contents of the same memory: what has changed in place so often seldom becomes again what it was.
const OF_PLACE: usize = 3;

/// See the module.
#[derive(Default)]
pub struct Findings {
    /// By loop ([`crate::abi::Loop::key`]); those that were used last come last.
    of_loops: HashMap<usize, Vec<Memo>>,
    /// How often one has been used.
    uses: u64,
}

impl Findings {
    /// Whether a finding of the loop `holds`. It is the latest then.
    pub fn any(&mut self, the_loop: usize, holds: impl FnMut(&Memo) -> bool) -> bool {
        let Some(own) = self.of_loops.get_mut(&the_loop) else { return false };
        let Some(number) = own.iter().position(holds) else { return false };
        let mut found = own.remove(number);
        self.uses += 1;
        found.used = self.uses;
        own.push(found);
        true
    }

    /// The loop's finding that was kept or held last.
    pub fn latest(&self, the_loop: usize) -> Option<&Memo> {
        self.of_loops.get(&the_loop)?.last()
    }

    /// The finding with that number, if it is still there.
    pub fn numbered(&mut self, the_loop: usize, number: u64) -> Option<&mut Memo> {
        self.of_loops.get_mut(&the_loop)?.iter_mut().find(|memo| memo.number == number)
    }

    /// Keeps one that is new, as the latest of its loop.
    pub fn keep(&mut self, the_loop: usize, finding: Memo) {
        self.keep_within(the_loop, finding, limits::to_remember());
    }

    fn keep_within(&mut self, the_loop: usize, mut finding: Memo, most: u64) {
        if let Some(memory) = self.same_memory(&finding) {
            finding.memory = memory;
        }
        self.uses += 1;
        finding.used = self.uses;
        let number = finding.number;
        let own = self.of_loops.entry(the_loop).or_default();
        while own.iter().filter(|memo| memo.is_of_place(&finding)).count() >= OF_PLACE {
            let oldest = own.iter().position(|memo| memo.is_of_place(&finding));
            oldest.map(|oldest| own.remove(oldest));
        }
        if own.len() >= OF_LOOP {
            own.remove(0);
        }
        own.push(finding);
        while self.bytes() > most && self.forget_one(number) {}
    }

    /// Forgets the one that has not been used for longest, but for that with this number. False: there is no other.
    fn forget_one(&mut self, but: u64) -> bool {
        let oldest = |(the_loop, own): (&usize, &Vec<Memo>)| {
            own.iter().find(|memo| memo.number != but).map(|memo| (memo.used, *the_loop, memo.number))
        };
        let Some((_, the_loop, number)) = self.of_loops.iter().filter_map(oldest).min() else { return false };
        if let Some(own) = self.of_loops.get_mut(&the_loop) {
            own.retain(|memo| memo.number != number);
        }
        true
    }

    /// What all findings follow from, without those that have it in common with another: that which was used last comes first.
    pub fn memory(&self) -> Vec<Remembered> {
        let mut all: Vec<&Memo> = self.of_loops.values().flatten().collect();
        all.sort_unstable_by_key(|memo| std::cmp::Reverse(memo.used));
        let mut seen = HashSet::new();
        all.retain(|memo| seen.insert(Arc::as_ptr(&memo.memory)));
        all.into_iter().map(|memo| Remembered(memo.memory.clone())).collect()
    }

    /// A copy of the same bytes of the same memory that another finding has.
    fn same_memory(&self, finding: &Memo) -> Option<Arc<Vec<Content>>> {
        let of_place = |memory: &Remembered| {
            memory.0.len() == finding.memory.len()
                && memory.0.iter().zip(&*finding.memory).all(|(a, b)| a.ranges == b.ranges)
        };
        let is_same =
            |memory: &Remembered| memory.0.iter().zip(&*finding.memory).all(|(a, b)| *a.bytes == *b.bytes);
        self.memory().into_iter().filter(of_place).take(COMPARED).find(is_same).map(|memory| memory.0)
    }

    /// Bytes that are kept for all of them; what they have in common is kept once.
    fn bytes(&self) -> u64 {
        let own: u64 = self.of_loops.values().flatten().map(Memo::own_bytes).sum();
        own + self.memory().iter().map(Remembered::bytes).sum::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Finding;
    use super::*;
    use crate::abi::PG_MAX_DIMS;
    use crate::device::pool::Pool;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// A finding that follows from what is in `memory` now.
    fn memo(memory: &[u8], trip: i64) -> Memo {
        static NEXT: AtomicU64 = AtomicU64::new(1 << 40);
        let (start, pool) = (memory.as_ptr() as u64, Pool::default());
        let content = Content::of(vec![(start, start + memory.len() as u64)], (&pool, 1)).unwrap();
        Memo {
            flushing: false,
            trip: [trip; PG_MAX_DIMS],
            values: Vec::new(),
            pins: Vec::new(),
            memory: Arc::new(vec![content]),
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            used: 0,
            seen: None,
            finding: Finding::Independent,
            stored: Some(Arc::new(vec![(8, 16)])),
            reached: None,
            order: None,
        }
    }

    const PLENTY: u64 = 1 << 40;

    fn counts(findings: &Findings, loops: std::ops::Range<usize>) -> Vec<usize> {
        loops.map(|key| findings.of_loops.get(&key).map_or(0, Vec::len)).collect()
    }

    #[test]
    fn what_findings_have_in_common_is_kept_once() {
        let (mut memory, mut findings) = (vec![3u8; 200_000], Findings::default());
        findings.keep_within(0, memo(&memory, 0), PLENTY);
        let one = findings.bytes();
        assert!(one > 200_000);
        // Other entries of the same loop, and other loops.
        for (key, trip) in [(0, 1), (1, 0), (2, 0)] {
            findings.keep_within(key, memo(&memory, trip), PLENTY);
        }
        assert_eq!((findings.bytes(), findings.memory().len()), (one + 3 * 16, 1));
        // Other bytes, or another place, are something else.
        memory[199_999] ^= 1;
        findings.keep_within(3, memo(&memory, 0), PLENTY);
        findings.keep_within(4, memo(&memory[1..], 0), PLENTY);
        assert_eq!(findings.memory().len(), 3);
    }

    #[test]
    fn what_changes_in_place_is_kept_a_few_times() {
        let (mut memory, mut findings) = (vec![0u8; 1000], Findings::default());
        for turn in 0..10 {
            memory[5] = turn;
            findings.keep_within(0, memo(&memory, 0), PLENTY);
        }
        assert_eq!(counts(&findings, 0..1), [OF_PLACE]);
        let last = |memo: &Memo| memo.memory[0].bytes[5];
        assert_eq!(findings.of_loops[&0].iter().map(last).collect::<Vec<_>>(), [7, 8, 9]);
        // Entries with other numbers are other entries, of which there are more.
        for trip in 1..40 {
            findings.keep_within(0, memo(&memory, trip), PLENTY);
        }
        assert_eq!(counts(&findings, 0..1), [OF_LOOP]);
    }

    #[test]
    fn all_loops_together_have_a_bound() {
        let memory: Vec<u8> = vec![0; 100_000];
        let mut findings = Findings::default();
        // Six places that have nothing in common, of which four fit.
        let part = |key: usize| &memory[key * 10_000..(key + 1) * 10_000];
        let most = 45_000;
        for key in 0..4 {
            findings.keep_within(key, memo(part(key), 0), most);
        }
        assert_eq!(counts(&findings, 0..6), [1, 1, 1, 1, 0, 0]);
        assert!(findings.any(0, |_| true) && !findings.any(0, |_| false) && !findings.any(7, |_| true));
        findings.keep_within(4, memo(part(4), 0), most);
        findings.keep_within(5, memo(part(5), 0), most);
        assert_eq!(counts(&findings, 0..6), [1, 0, 0, 1, 1, 1]);
        assert!(findings.bytes() <= most);
        // What is larger than all that may be kept is kept alone.
        findings.keep_within(1, memo(&memory, 0), most);
        let number = findings.latest(1).unwrap().number;
        assert_eq!(counts(&findings, 0..6), [0, 1, 0, 0, 0, 0]);
        assert!(findings.numbered(1, number).is_some() && findings.numbered(0, number).is_none());
    }
}
