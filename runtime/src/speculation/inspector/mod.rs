//! Inspection: which iterations touch the same memory, found out before the loop runs, by executing its address slice.
//!
//! Generated code runs the slice, stores nothing, and shows each access that takes part in an unresolved pair
//! ([`RawInspector`]). There are two who watch it. [`marks`] only asks whether any two iterations meet: several threads mark what
//! their iterations touch, with a bit for each cell of memory, and compare. [`levels`] asks who has to wait for whom: it takes
//! many times as long, and finds wavefronts where iterations do meet.
//!
//! Why the slice touches what the loop would touch: every value in it is the loop's own as long as nothing that it has loaded is
//! memory that an earlier store of the loop would have changed. Where it runs in source order, it ends at the first such load,
//! before the value is used, so it never loads from an address that the loop wouldn't load from. Where several threads run
//! it, this is looked at in the end: the first iteration in source order that loads something else than the loop would loads it from
//! where an earlier iteration stores, and up to there all addresses are right, so that store is seen. Until then wrong values may
//! be under way; nothing is loaded from memory that isn't there, and loops that don't end are ended.
//! Where the loop would fault, an inspection ends before it loads: the program must have stored what it stores until then.
//!
//! A run under logs that found no conflict shows the same as an inspection that found iterations independent: the logs have seen
//! every access of unresolved pairs, at the addresses that an inspection would have been shown ([`learn`]).
//!
//! An answer is remembered with everything that it followed from: the trip counts, the values that the slice uses, and the
//! content of all memory that fed it. It is used again only after these have been compared ([`Memo::still_holds`]). What a device that
//! relied on it has seen of the addresses goes with it ([`seen`]).

pub mod levels;
pub mod marks;
pub mod seen;

use super::race::Helpers;
use crate::abi::*;
use crate::floating_point;
use crate::memory::buffer::Buffer;
use crate::memory::{limits, safe_copy};
use levels::Schedule;
use seen::{Basis, Seen};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// log2 of the bytes that are mapped together.
const SYSTEM_PAGE_SHIFT: u32 = 12;
/// More pieces of stored memory than this are better told by a device's write log.
pub const MOST_PIECES: usize = 1 << 16;

/// What an inspection has shown for one entry.
#[derive(Clone, Debug)]
pub enum Finding {
    /// No two iterations touch a common cell that one of them stores to.
    Independent,
    /// They can run level by level.
    Levels(Arc<Schedule>),
    /// They depend on each other nearly one by one.
    Chain,
}

/// Why there is no finding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Obstacle {
    /// The loop stores to what decides its addresses.
    FeedsItself,
    /// Too little memory for the bookkeeping.
    Memory,
    /// The loop will come to memory that isn't there: until then it has to have stored what it stores.
    NotThere,
    /// The loop stores to what its bounds or addresses were read from when it was entered.
    ChangesPin,
    /// Iterations meet, or it takes an order to tell.
    Meet,
    /// The slice took far longer than its loop.
    Endless,
}

impl Obstacle {
    /// For traces.
    pub fn words(self) -> &'static str {
        match self {
            Obstacle::FeedsItself => "it stores to what decides its addresses",
            Obstacle::Memory => "too little memory to inspect it",
            Obstacle::ChangesPin => "it stores to what its bounds or addresses are read from",
            Obstacle::NotThere => "it comes to memory that isn't there",
            Obstacle::Meet => "its iterations meet",
            Obstacle::Endless => "its inspection took too long",
        }
    }
}

/// A finding with what it followed from.
pub struct Memo {
    /// How denormal numbers were treated: comparisons depend on it.
    flushing: bool,
    trip: [i64; PG_MAX_DIMS],
    values: Vec<Value>,
    pins: Vec<(u64, u64)>,
    memory: Arc<Vec<Content>>,
    /// No other finding has it.
    pub number: u64,
    /// What a run on a device that relied on it has seen.
    seen: Option<Arc<Seen>>,
    /// What was found.
    pub finding: Finding,
    /// What the loop stores through the sites with `PG_SITE_INSPECTED`, byte for byte, as ranges of addresses in their order; `None`:
    /// not known.
    pub stored: Option<Arc<Vec<(u64, u64)>>>,
}

/// What some finding followed from.
pub struct Remembered(Arc<Vec<Content>>);

impl Memo {
    /// Bytes that are kept for it, besides what it followed from.
    fn own_bytes(&self) -> u64 {
        let order = match &self.finding {
            Finding::Levels(schedule) => 4 * schedule.order.len(),
            Finding::Independent | Finding::Chain => 0,
        };
        let stored = self.stored.as_ref().map_or(0, |stored| 16 * stored.len());
        (order + stored) as u64
    }

    /// Bytes that are kept for some of them; what they have in common is kept once.
    pub fn bytes(findings: &[Memo]) -> u64 {
        let memory = |content: &Content| (content.bytes.len() + 16 * content.ranges.len()) as u64;
        let is_first = |number: usize| {
            !findings[..number].iter().any(|other| Arc::ptr_eq(&other.memory, &findings[number].memory))
        };
        let own = findings.iter().map(Memo::own_bytes);
        let of = |number: usize| findings[number].memory.iter().map(memory).sum::<u64>();
        own.sum::<u64>() + (0..findings.len()).filter(|number| is_first(*number)).map(of).sum::<u64>()
    }

    /// What it followed from, for findings that follow from the same.
    pub fn memory(&self) -> Remembered {
        Remembered(self.memory.clone())
    }

    /// What the addresses of a run that relies on it follow from.
    pub fn basis(&self) -> Basis {
        Basis { number: self.number, memory: self.memory.clone(), seen: self.seen.clone() }
    }

    /// Keeps what such a run has seen.
    pub fn saw(&mut self, seen: Seen) {
        self.seen = Some(Arc::new(seen));
    }

    /// Whether an inspection of this entry would find the same. Looked at with the help of so many threads.
    ///
    /// # Safety
    /// `entry` was filled in by generated code for `info`.
    pub unsafe fn still_holds(&self, info: &Info, entry: &Entry, helpers: Helpers<'_>) -> bool {
        // SAFETY: promised by the caller.
        let (values, pins) = unsafe { (key_values(info, entry), pinned(info, entry)) };
        let same = self.trip == entry.trip && self.values == values && self.pins == pins;
        if self.flushing != floating_point::is_flushing() || !same {
            return false;
        }
        self.memory.iter().all(|content| content.is_there(helpers))
    }

    /// What was found for an entry, and all that it followed from; `memory` is what fed the slice.
    ///
    /// # Safety
    /// `entry` was filled in by generated code for `info`, and is alive.
    unsafe fn new(
        info: &Info,
        entry: &Entry,
        memory: Vec<Content>,
        finding: Finding,
        stored: Option<Vec<(u64, u64)>>,
    ) -> Memo {
        // SAFETY: promised by the caller.
        let (values, pins) = unsafe { (key_values(info, entry), pinned(info, entry)) };
        let (flushing, stored) = (floating_point::is_flushing(), stored.map(Arc::new));
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let (number, memory) = (NEXT.fetch_add(1, Ordering::Relaxed), Arc::new(memory));
        Memo { flushing, trip: entry.trip, values, pins, memory, number, seen: None, finding, stored }
    }
}

/// What a run under logs has shown that found no conflict, on a device that has copies of all arrays: its iterations are independent,
/// because the accesses of all unresolved pairs were logged, at the addresses that the slice computes. `fed`: the memory that decides about
/// these; the loop stores nowhere there. `written`: all that the run has stored, where every store is one that inspections are shown. `known`: what
/// earlier findings followed from; a loop that goes through levels or colours has whole arrays in common with them. `Ok(None)`: nothing is shown.
///
/// # Safety
/// `entry` was filled in by generated code for `info`, is alive, and is the run's.
pub unsafe fn learn(
    info: &Info,
    entry: &Entry,
    fed: Vec<(u64, u64)>,
    written: Option<Vec<(u64, u64)>>,
    known: &[Remembered],
    helpers: Helpers<'_>,
) -> Result<Option<Memo>, Obstacle> {
    // SAFETY: promised by the caller, here and below. What bounds and bases were read from a log doesn't look at.
    if info.has(PG_LOOP_UPDATES) || info.inspect.is_none() || !unsafe { entry.pins(info) }.is_empty() {
        return Ok(None);
    }
    let mut memo = {
        let nothing = Vec::new();
        // SAFETY: as above.
        unsafe { Memo::new(info, entry, nothing, Finding::Independent, written) }
    };
    memo.memory = match known.iter().find(|Remembered(memory)| is_all_of(memory, &fed, helpers)) {
        Some(Remembered(memory)) => memory.clone(),
        None => Arc::new(vec![Content::of(fed, helpers)?]),
    };
    Ok(Some(memo))
}

/// Whether that is what these ranges hold now, and no more.
fn is_all_of(memory: &[Content], ranges: &[(u64, u64)], helpers: Helpers<'_>) -> bool {
    matches!(memory, [content] if content.ranges == Content::in_blocks(ranges.to_vec()) && content.is_there(helpers))
}

/// What was in memory.
struct Content {
    /// Where: first byte, and one past the last.
    ranges: Vec<(u64, u64)>,
    /// What, one range after the other.
    bytes: Buffer,
    /// Ranges that are read together, and where in `bytes` the first of them begins.
    blocks: Vec<(std::ops::Range<usize>, usize)>,
}

impl Content {
    /// Small ranges are read together: each reading is a system call. So little at once that what was read is still in the
    /// processor's cache when it is compared.
    const BLOCK: u64 = 64 << 10;
    /// Bytes from which several threads are worth it.
    const MUCH: u64 = 1 << 20;

    /// What is there now; an error where some of it isn't there. The ranges are in their order.
    fn of(ranges: Vec<(u64, u64)>, helpers: Helpers<'_>) -> Result<Content, Obstacle> {
        let total = ranges.iter().map(|(lo, hi)| hi - lo).sum();
        if !limits::fits(total) {
            return Err(Obstacle::Memory);
        }
        let ranges = Self::in_blocks(ranges);
        let mut blocks: Vec<(std::ops::Range<usize>, usize)> = Vec::new();
        let mut at = 0;
        for (index, (lo, hi)) in ranges.iter().enumerate() {
            match blocks.last_mut() {
                Some((block, _)) if hi - ranges[block.start].0 <= Self::BLOCK => block.end = index + 1,
                _ => blocks.push((index..index + 1, at)),
            }
            at += (hi - lo) as usize;
        }
        let mut content =
            Content { ranges, bytes: Buffer::new(total).map_err(|_| Obstacle::Memory)?, blocks };
        // As an address: all threads write to it, each to blocks of its own.
        let to = content.bytes.as_mut_ptr() as u64;
        let read = content.each(helpers, &|at, found| {
            // SAFETY: the buffer has room for all ranges, one after the other, and this one's part is nobody else's.
            unsafe {
                std::ptr::copy_nonoverlapping(found.as_ptr(), (to + at as u64) as *mut u8, found.len())
            };
            true
        });
        if read { Ok(content) } else { Err(Obstacle::NotThere) }
    }

    /// Of long ranges, each block is one.
    fn in_blocks(ranges: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
        if ranges.iter().all(|(lo, hi)| hi - lo <= Self::BLOCK) {
            return ranges;
        }
        let block = Self::BLOCK as usize;
        let blocks =
            |(lo, hi): (u64, u64)| (lo..hi).step_by(block).map(move |lo| (lo, hi.min(lo + Self::BLOCK)));
        ranges.into_iter().flat_map(blocks).collect()
    }

    /// Whether it is the same now.
    fn is_there(&self, helpers: Helpers<'_>) -> bool {
        self.each(helpers, &|at, found| self.bytes[at..at + found.len()] == *found)
    }

    /// Reads all ranges anew and looks at each, with its place in `bytes`; false as soon as one of them isn't there, or `look` says so.
    fn each(&self, (pool, threads): Helpers<'_>, look: &(dyn Fn(usize, &[u8]) -> bool + Sync)) -> bool {
        let (taken, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
        let threads = if self.bytes.len() as u64 <= Self::MUCH { 1 } else { threads };
        pool.run(threads, &|| {
            let mut now = vec![0u8; Self::BLOCK as usize];
            while !failed.load(Ordering::Relaxed) {
                let Some(block) = self.blocks.get(taken.fetch_add(1, Ordering::Relaxed)) else { return };
                if !self.block(block, &mut now, look) {
                    failed.store(true, Ordering::Relaxed);
                }
            }
        });
        !failed.into_inner()
    }

    /// The same for a block, with room for it.
    fn block(
        &self,
        (block, at): &(std::ops::Range<usize>, usize),
        now: &mut [u8],
        look: &(dyn Fn(usize, &[u8]) -> bool + Sync),
    ) -> bool {
        let (ranges, mut at) = (&self.ranges[block.clone()], *at);
        let (lo, hi) = (ranges[0].0, ranges[ranges.len() - 1].1);
        // SAFETY: a block has no more bytes than there is room for.
        let together = unsafe { safe_copy::read(lo, hi - lo, now.as_mut_ptr()) }.is_ok();
        ranges.iter().all(|range| {
            let length = (range.1 - range.0) as usize;
            let first = (range.0 - lo) as usize;
            // Something between the ranges may not be there.
            if !together {
                // SAFETY: as above.
                let alone = unsafe { safe_copy::read(range.0, length as u64, now[first..].as_mut_ptr()) };
                if alone.is_err() {
                    return false;
                }
            }
            let same = look(at, &now[first..first + length]);
            at += length;
            same
        })
    }
}

/// The values that an inspection's outcome depends on.
///
/// # Safety
/// `entry` was filled in by generated code for `info`, and is alive.
unsafe fn key_values(info: &Info, entry: &Entry) -> Vec<Value> {
    // SAFETY: promised by the callers.
    let values = unsafe { entry.values(info) };
    info.keys().iter().filter_map(|slot| values.get(*slot as usize).copied()).collect()
}

/// What no store of the inspected loop may hit, because its bounds or addresses were read from there.
///
/// # Safety
/// `entry` was filled in by generated code for `info` and is alive.
unsafe fn pinned(info: &Info, entry: &Entry) -> Vec<(u64, u64)> {
    // SAFETY: promised by the caller.
    let pins = unsafe { entry.pins(info) };
    let range = |pin: &Pin| (pin.address, pin.address.saturating_add(pin.width.into()));
    pins.iter().filter(|pin| pin.kept == 0).map(range).collect()
}

/// What all zeros are a value of.
///
/// # Safety
/// They are.
unsafe trait Zero {}
// SAFETY: numbers.
unsafe impl Zero for u32 {}
// SAFETY: numbers.
unsafe impl Zero for u64 {}

/// `count` zeros, which take no memory before they are used. Panics and aborts must not happen where generated code is calling.
fn zeros<T: Zero>(count: usize) -> Result<Box<[T]>, Obstacle> {
    let layout = std::alloc::Layout::array::<T>(count).ok().filter(|layout| layout.size() != 0);
    let layout = layout.ok_or(Obstacle::Memory)?;
    // SAFETY: the layout has a size.
    let start = unsafe { std::alloc::alloc_zeroed(layout) }.cast::<T>();
    if start.is_null() {
        return Err(Obstacle::Memory);
    }
    // SAFETY: allocated with the layout of such a slice; all zeros are a value of it.
    Ok(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(start, count)) })
}

/// The smallest width of a loop's accesses in pairs, as log2, for cells: 8 bytes at most.
fn cell_shift(info: &Info) -> u32 {
    let widths = info.pairs().iter().flat_map(|pair| [pair.a, pair.b]);
    let width = widths.filter_map(|s| info.sites().get(s as usize)).map(|s| s.width).min().unwrap_or(1);
    width.max(1).ilog2().min(3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::pool::Pool;

    #[test]
    fn content_is_compared_range_by_range() {
        let memory: Vec<u8> = (0..1_000_000u32).map(|i| (i * 7 + i / 251) as u8).collect();
        let (start, pool) = (memory.as_ptr() as u64, Pool::default());
        let mut memory = memory;
        let at = |lo: u64, hi: u64| (start + lo, start + hi);
        // Small ones side by side, one longer than a block, one far away.
        let ranges = vec![
            at(0, 8),
            at(12, 16),
            at(40, 41),
            at(5_000, 205_000),
            at(205_001, 205_002),
            at(999_990, 1_000_000),
        ];
        for threads in [1, 3] {
            let content = Content::of(ranges.clone(), (&pool, threads)).unwrap();
            assert_eq!(content.bytes.len(), 8 + 4 + 1 + 200_000 + 1 + 10);
            assert!(content.is_there((&pool, threads)));
            for changed in
                [0, 7, 8, 11, 12, 15, 16, 40, 41, 4_999, 5_000, 70_536, 204_999, 205_000, 205_001, 999_999]
            {
                memory[changed] ^= 1;
                let part = ranges.iter().any(|(lo, hi)| (*lo..*hi).contains(&(start + changed as u64)));
                assert_eq!(content.is_there((&pool, threads)), !part, "{changed}");
                memory[changed] ^= 1;
            }
        }
        assert!(Content::of(vec![(64, 72)], (&pool, 1)).is_err());
    }

    #[test]
    fn what_findings_have_in_common_is_kept_once() {
        let mut memory: Vec<u8> = vec![3; 200_000];
        let (start, pool) = (memory.as_ptr() as u64, Pool::default());
        let fed = vec![(start, start + 150_000), (start + 160_000, start + 160_008)];
        let remember =
            |fed: &[(u64, u64)]| Remembered(Arc::new(vec![Content::of(fed.to_vec(), (&pool, 1)).unwrap()]));
        let memo = |Remembered(memory): &Remembered| Memo {
            flushing: false,
            trip: [1; PG_MAX_DIMS],
            values: Vec::new(),
            pins: Vec::new(),
            memory: memory.clone(),
            number: 0,
            seen: None,
            finding: Finding::Independent,
            stored: Some(Arc::new(vec![(8, 16)])),
        };
        let (first, second) = (remember(&fed), remember(&fed));
        let one = Memo::bytes(&[memo(&first)]);
        assert_eq!(Memo::bytes(&[memo(&first), memo(&first), memo(&first)]), one + 2 * 16);
        assert_eq!(Memo::bytes(&[memo(&first), memo(&second), memo(&first)]), 2 * one + 16);
        assert!(is_all_of(&first.0, &fed, (&pool, 1)));
        assert!(!is_all_of(&first.0, &fed[..1], (&pool, 1)));
        memory[149_999] ^= 1;
        assert!(!is_all_of(&first.0, &fed, (&pool, 1)));
    }

    #[test]
    fn what_lies_between_ranges_need_not_be_there() {
        let page = 1usize << SYSTEM_PAGE_SHIFT;
        // SAFETY: new memory, of which one page is given back.
        let start = unsafe {
            let (access, kind) =
                (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
            let start = libc::mmap(std::ptr::null_mut(), 3 * page, access, kind, -1, 0);
            assert_ne!(start, libc::MAP_FAILED);
            assert_eq!(libc::munmap(start.byte_add(page), page), 0);
            start as u64
        };
        let ranges = vec![(start, start + 4), (start + 2 * page as u64, start + 2 * page as u64 + 4)];
        let pool = Pool::default();
        let content = Content::of(ranges, (&pool, 1)).unwrap();
        assert!(content.is_there((&pool, 1)));
        // SAFETY: the memory of above.
        unsafe { *((start + 2 * page as u64 + 3) as *mut u8) = 1 };
        assert!(!content.is_there((&pool, 1)));
    }
}
