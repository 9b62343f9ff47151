//! What a loop wrote of its arrays: known from the text and the entry's numbers, or from an inspection, or read off a write log.

use super::predicate::{Footprint, RegularRows};
use crate::abi::*;
use crate::device::CELLS_OF_WORD;
use crate::memory::placement::Placement;
use crate::memory::tracking::merged;
use std::collections::BTreeMap;

/// Ranges of addresses that don't overlap, none of them empty, in their order.
pub type Ranges = Vec<(u64, u64)>;

/// Rows of equal length, all of whose bytes are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rows {
    /// By the text and the entry's numbers; no address is negative.
    Regular(RegularRows),
    /// By what an inspection has seen.
    Listed {
        /// Where each begins.
        starts: Vec<u64>,
        /// Bytes.
        length: u64,
    },
}

impl Rows {
    /// Gives `found` each of them, from its first byte to one past its last, until it wants no more.
    fn each(&self, mut found: impl FnMut(u64, u64) -> Option<()>) -> Option<()> {
        match self {
            Rows::Regular(rows) => {
                let length = rows.length();
                rows.starts().try_for_each(|start| found(start as u64, (start + length) as u64))
            }
            Rows::Listed { starts, length } => {
                starts.iter().try_for_each(|start| found(*start, start.checked_add(*length)?))
            }
        }
    }

    /// Gives `found` what they cover of a range.
    fn within(&self, (lo, hi): (u64, u64), mut found: impl FnMut((u64, u64))) {
        match self {
            Rows::Regular(rows) => {
                rows.within((lo.into(), hi.into()), &mut |from, to| found((from as u64, to as u64)));
            }
            Rows::Listed { starts, length } => starts
                .iter()
                .map(|start| (lo.max(*start), hi.min(start.saturating_add(*length))))
                .filter(|(from, to)| from < to)
                .for_each(found),
        }
    }
}

/// Rows shorter than this, in bytes, are better told by a write log ...
const SHORTEST_ROW: i128 = 64;
/// ... and so are more than this.
const MOST_ROWS: usize = 1 << 16;

/// The rows that the loop's stores write completely, if that is true of every store; those of one store lie within the hull
/// of its base, so within one region. `inspected`: what an inspection of this entry has seen stored (`inspector::Memo::stored`).
/// `None`: the write log is needed to know what was written.
///
/// # Safety
/// `entry` was filled in by generated code for `info` and is alive.
pub unsafe fn written_rows(
    info: &Info,
    entry: &Entry,
    inspected: Option<&[(u64, u64)]>,
) -> Option<Vec<Rows>> {
    // SAFETY: promised by the caller.
    let (bases, accesses) = unsafe { (entry.bases(info), entry.accesses(info)) };
    let mut all: Vec<Rows> = Vec::new();
    for (number, site) in info.sites().iter().enumerate().filter(|(_, s)| s.has(PG_SITE_STORE)) {
        if inspected.is_some() && site.has(PG_SITE_INSPECTED) {
            continue;
        }
        let base = bases.get(site.base as usize)?;
        let whole = PG_SITE_HAS_AFFINE | PG_SITE_UNCONDITIONAL | PG_SITE_EXACT;
        if site.flags & whole != whole || base.dynamic != 0 {
            return None;
        }
        let rows = Footprint::new(base, &accesses[number]).rows(&entry.trip, SHORTEST_ROW, MOST_ROWS)?;
        let (lo, hi) = rows.hull();
        if lo < 0 || hi > i128::from(u64::MAX) {
            return None;
        }
        let rows = Rows::Regular(rows);
        if !all.contains(&rows) {
            all.push(rows);
        }
    }
    let mut by_length: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for (lo, hi) in inspected.into_iter().flatten() {
        by_length.entry(hi - lo).or_default().push(*lo);
    }
    all.extend(by_length.into_iter().map(|(length, starts)| Rows::Listed { starts, length }));
    Some(all)
}

/// What rows cover of each region that they lie in, by its number; `None` if some row lies in none.
pub fn covered(rows: &[Rows], placement: &Placement) -> Option<Vec<(usize, Ranges)>> {
    let mut by_region: Vec<Ranges> = vec![Ranges::new(); placement.regions.len()];
    // There may be tens of thousands, most of them in the region of the one before.
    let mut index = 0;
    let lies_in = |index: usize, address: u64| {
        let region = placement.regions.get(index);
        region.is_some_and(|region| address >= region.lo && address - region.lo < region.size)
    };
    for rows in rows {
        rows.each(|start, end| {
            let mut from = start;
            // What an inspection has seen stored goes on where one array ends and the next begins.
            while from < end {
                if !lies_in(index, from) {
                    index = placement.region_of(from)?;
                }
                let region = &placement.regions[index];
                let to = end.min(region.lo + region.size);
                by_region[index].push((from, to));
                from = to;
            }
            Some(())
        })?;
    }
    let merged = |mut ranges: Ranges| {
        ranges.sort_unstable();
        let mut parts: Ranges = Vec::new();
        for (lo, hi) in ranges {
            match parts.last_mut() {
                Some(last) if lo <= last.1 => last.1 = last.1.max(hi),
                _ => parts.push((lo, hi)),
            }
        }
        parts
    };
    let stored = by_region.into_iter().enumerate().filter(|(_, ranges)| !ranges.is_empty());
    Some(stored.map(|(index, ranges)| (index, merged(ranges))).collect())
}

/// What rows cover of some ranges, in their order and apart.
pub fn covered_of(rows: &[Rows], ranges: &[(u64, u64)]) -> Ranges {
    let mut parts = Ranges::new();
    for (rows, range) in rows.iter().flat_map(|rows| ranges.iter().map(move |range| (rows, range))) {
        rows.within(*range, |part| parts.push(part));
    }
    merged(parts.into_iter())
}

/// What was written of a region.
#[derive(Debug)]
pub enum Written {
    /// Just that.
    Ranges(Ranges),
    /// By a write log.
    Cells(Cells),
}

/// The cells of a region: a bit for each.
#[derive(Debug)]
pub struct Cells {
    words: Vec<u32>,
    /// Where the first cell begins: at most 63 bytes in front of the region.
    origin: u64,
    /// log2 of the bytes of a cell.
    shift: u32,
    /// The region.
    lo: u64,
    hi: u64,
}

impl Cells {
    /// The cells of a region, whose bits `words` has from the cell on in which the region begins or, up to 63 bytes, before.
    pub fn new(placement: &Placement, index: usize, words: Vec<u32>) -> Cells {
        let Region { lo, size, .. } = placement.regions[index];
        Cells { words, origin: lo & !63, shift: placement.log_shift, lo, hi: lo + size }
    }

    /// The first cell from this one on, and before `end`, that was written, or was not; else `end`.
    fn next(&self, cell: usize, end: usize, written: bool) -> usize {
        const CELLS: usize = CELLS_OF_WORD as usize;
        let flipped = |word: &u32| if written { *word } else { !*word };
        let (number, bit) = (cell / CELLS, cell % CELLS);
        let words = &self.words[..end.div_ceil(CELLS).min(self.words.len())];
        let Some(first) = words.get(number) else { return end };
        let rest = flipped(first) >> bit;
        let found = match rest {
            0 => words[number + 1..]
                .iter()
                .position(|word| flipped(word) != 0)
                .map(|after| number + 1 + after)
                .map_or(end, |found| found * CELLS + flipped(&words[found]).trailing_zeros() as usize),
            rest => cell + rest.trailing_zeros() as usize,
        };
        found.min(end)
    }

    fn cell_of(&self, address: u64) -> usize {
        ((address - self.origin) >> self.shift) as usize
    }

    /// The first range from `from` on that begins before `to`; it ends there at the latest. Where its end isn't `wanted`, it may end sooner.
    fn range(&self, from: u64, to: u64, wants_end: bool) -> Option<(u64, u64)> {
        let (from, to) = (from.max(self.lo), to.min(self.hi));
        if from >= to {
            return None;
        }
        let end = self.cell_of(to - 1) + 1;
        let start = self.next(self.cell_of(from), end, true);
        if start == end {
            return None;
        }
        let behind = if wants_end { self.next(start, end, false) } else { start + 1 };
        let address = |cell: usize| self.origin + ((cell as u64) << self.shift);
        Some((address(start).max(from), address(behind).min(to)))
    }
}

/// Bytes of a page. Where pages are larger, some are told more than once.
const PAGE: u64 = 4096;

impl Written {
    /// From where to where anything can be written.
    pub fn hull(&self) -> (u64, u64) {
        match self {
            Written::Ranges(ranges) => {
                ranges.first().zip(ranges.last()).map_or((0, 0), |(first, last)| (first.0, last.1))
            }
            Written::Cells(cells) => (cells.lo, cells.hi),
        }
    }

    fn next(&self, from: u64, to: u64, wants_end: bool) -> Option<(u64, u64)> {
        match self {
            Written::Ranges(_) => {
                let (lo, hi) = *self.listed(from).first()?;
                Some((lo.max(from), hi.min(to))).filter(|(lo, hi)| lo < hi)
            }
            Written::Cells(cells) => cells.range(from, to, wants_end),
        }
    }

    /// The first address from `from` on, and before `to`, that was written.
    pub fn first(&self, from: u64, to: u64) -> Option<u64> {
        self.next(from, to, false).map(|(lo, _)| lo)
    }

    /// What was written between two addresses, in its order.
    pub fn ranges(&self, from: u64, to: u64) -> impl Iterator<Item = (u64, u64)> {
        let (listed, mut at) = (self.listed(from), from);
        let mut listed = listed.iter();
        std::iter::from_fn(move || match self {
            Written::Ranges(_) => {
                let (lo, hi) = *listed.next()?;
                Some((lo.max(from), hi.min(to))).filter(|(lo, hi)| lo < hi)
            }
            Written::Cells(_) => {
                let range = self.next(at, to, true)?;
                at = range.1;
                Some(range)
            }
        })
    }

    /// Of a list the ranges that end behind an address. There may be tens of thousands: who wants all of them in turn looks for the first one only.
    fn listed(&self, from: u64) -> &[(u64, u64)] {
        match self {
            Written::Ranges(ranges) => &ranges[ranges.partition_point(|(_, hi)| *hi <= from)..],
            Written::Cells(_) => &[],
        }
    }

    /// Ranges that lie in all pages in which anything was written, and in no others.
    pub fn by_pages(&self) -> impl Iterator<Item = (u64, u64)> {
        let (mut at, end) = self.hull();
        let mut listed = self.listed(at).iter();
        std::iter::from_fn(move || {
            let range = match self {
                Written::Ranges(_) => *listed.next()?,
                Written::Cells(_) => {
                    let first = self.first(at, end)?;
                    (first, end.min((first / PAGE + 1) * PAGE))
                }
            };
            at = range.1;
            Some(range)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_written_is_told() {
        let mut placement = Placement { log_shift: 2, ..Placement::default() };
        placement.regions.push(Region { lo: 1000, size: 16, ..Region::default() });
        placement.written.push(true);
        // 1000 & !63 = 960: ten cells before the region begins.
        let written = Written::Cells(Cells::new(&placement, 0, vec![1 << 3 | 1 << 11 | 1 << 13]));
        let ranges = |from, to| written.ranges(from, to).collect::<Ranges>();
        assert_eq!(ranges(0, u64::MAX), vec![(1004, 1008), (1012, 1016)]);
        assert_eq!(ranges(1006, 1014), vec![(1006, 1008), (1012, 1014)]);
        assert_eq!(ranges(1008, 1012), vec![]);
        assert_eq!(written.first(1000, 1016), Some(1004));
    }

    #[test]
    fn runs_of_bits_are_those_of_words() {
        for seed in 0..200u64 {
            let random = |n: u64| (seed * 977 + n).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29) >> 60;
            let words: Vec<u32> = (0..96).map(|n| u32::from(random(n / (1 + seed % 40)) < 8)).collect();
            let bits: Vec<u32> = words
                .chunks(32)
                .map(|chunk| chunk.iter().rev().fold(0, |word, written| word << 1 | written))
                .collect();
            let cells = Cells { words: bits, origin: 0, shift: 0, lo: 0, hi: 96 };
            for (cell, end) in (0..=96).flat_map(|end| (0..=end).map(move |cell| (cell, end))) {
                for written in [false, true] {
                    let rest = &words[cell..end];
                    let wanted = rest.iter().position(|word| (*word != 0) == written).unwrap_or(rest.len());
                    assert_eq!(cells.next(cell, end, written), cell + wanted, "{seed} {cell} {end}");
                }
            }
        }
    }

    #[test]
    fn ranges_end_where_arrays_do() {
        let mut placement = Placement::default();
        for (lo, size) in [(1000, 16), (1016, 8), (2000, 100)] {
            placement.regions.push(Region { lo, size, ..Region::default() });
        }
        let rows = |starts: &[u64], length| [Rows::Listed { starts: starts.to_vec(), length }];
        let ranges = |starts: &[u64], length| -> Option<Ranges> {
            Some(
                covered(&rows(starts, length), &placement)?
                    .into_iter()
                    .flat_map(|(_, parts)| parts)
                    .collect(),
            )
        };
        assert_eq!(ranges(&[1004], 16), Some(vec![(1004, 1016), (1016, 1020)]));
        // What lies between two rows is nobody's.
        assert_eq!(ranges(&[2000, 2009, 2017], 8), Some(vec![(2000, 2008), (2009, 2025)]));
        assert_eq!(ranges(&[1004, 2000], 8), Some(vec![(1004, 1012), (2000, 2008)]));
        assert_eq!(ranges(&[1000, 1008], 8), Some(vec![(1000, 1016)]));
        // Behind the last array, and in none.
        assert_eq!(ranges(&[1020], 8), None);
        assert_eq!(ranges(&[900], 8), None);
    }

    #[test]
    fn pages_are_those_of_what_was_written() {
        let written: Ranges = vec![(5000, 5001), (5100, 5200), (9000, 21000), (40960, 40961)];
        let pages = |ranges: &mut dyn Iterator<Item = (u64, u64)>| {
            let mut all = std::collections::BTreeSet::new();
            ranges.for_each(|(lo, hi)| all.extend(lo / PAGE..=(hi - 1) / PAGE));
            all
        };
        let expected = pages(&mut written.iter().copied());
        for shift in 0..4 {
            let mut placement = Placement { log_shift: shift, ..Placement::default() };
            placement.regions.push(Region { lo: 4997, size: 40_000, ..Region::default() });
            let mut words = vec![0u32; 2000];
            for (lo, hi) in &written {
                for address in *lo..*hi {
                    let cell = (address - (4997 & !63)) >> shift;
                    words[cell as usize / 32] |= 1 << (cell % 32);
                }
            }
            let cells = Written::Cells(Cells::new(&placement, 0, words));
            assert_eq!(pages(&mut cells.by_pages()), expected, "{shift}");
        }
        assert_eq!(pages(&mut Written::Ranges(written.clone()).by_pages()), expected);
    }
}
