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
//! relied on it has seen of the addresses goes with it ([`seen`]). An answer that is asked for once, at each entry again ([`marks::Terms`]), isn't remembered: then it isn't known either what it
//! followed from, only that this was there and lies apart from all that is stored.

mod content;
pub mod findings;
pub mod lengths;
pub mod levels;
pub mod marks;
pub mod seen;
pub mod turns;

use super::race::Helpers;
use crate::abi::*;
use crate::floating_point;
use content::Content;
use levels::Schedule;
use seen::{Basis, Reached, Seen};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use turns::Order;

/// log2 of the bytes that are mapped together.
const SYSTEM_PAGE_SHIFT: u32 = 12;
/// More pieces of stored memory than this are better told by a device's write log.
pub const MOST_PIECES: usize = 1 << 16;

/// So many copies of what was in some memory are looked at for one of what is there now.
const COMPARED: usize = 4;

/// What an inspection has shown for one entry.
#[derive(Clone, Debug)]
pub enum Finding {
    /// No two iterations touch a common cell that one of them stores to.
    Independent,
    /// They can run level by level.
    Levels(Arc<Schedule>),
    /// They depend on each other nearly one by one.
    Chain,
    /// Nobody has asked: what is remembered are the addresses of a loop that is settled without them.
    Addresses,
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

/// What an inspection has come to.
pub struct Inspected {
    /// What it has found.
    pub memo: Memo,
    /// Whether that may be remembered. If not, the memo doesn't have what it followed from, and says something about this entry only.
    pub is_to_keep: bool,
    /// How long it took, without copying what it followed from.
    pub took: Duration,
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
    /// When it was used last, as [`findings::Findings`] counts.
    used: u64,
    /// What a run on a device that relied on it has seen.
    seen: Option<Arc<Seen>>,
    /// What was found.
    pub finding: Finding,
    /// What the loop stores through the sites with `PG_SITE_INSPECTED`, byte for byte, as ranges of addresses in their order; `None`:
    /// not known.
    pub stored: Option<Arc<Vec<(u64, u64)>>>,
    /// What it has been shown to come to, where that was asked for.
    pub reached: Option<Arc<Reached>>,
    /// Of independent iterations: the order by their numbers of turns, where that was seen and is worth something.
    pub order: Option<Arc<Order>>,
}

/// What some finding followed from.
pub struct Remembered(Arc<Vec<Content>>);

impl Remembered {
    /// Bytes that are kept for it.
    fn bytes(&self) -> u64 {
        self.0.iter().map(|content| (content.bytes.len() + 16 * content.ranges.len()) as u64).sum()
    }

    /// Whether it is what was in these ranges, which are in blocks, and no more.
    fn is_of(&self, ranges: &[(u64, u64)]) -> bool {
        matches!(&**self.0, [content] if content.ranges == ranges)
    }

    /// Whether it is there now.
    fn is_there(&self, helpers: Helpers<'_>) -> bool {
        self.0.iter().all(|content| content.is_there(helpers))
    }
}

impl Memo {
    /// Bytes that are kept for it, besides what it followed from.
    fn own_bytes(&self) -> u64 {
        let order = match &self.finding {
            Finding::Levels(schedule) => 4 * schedule.order.len(),
            Finding::Independent | Finding::Chain | Finding::Addresses => 0,
        };
        let stored = self.stored.as_ref().map_or(0, |stored| 16 * stored.len());
        let by_turns = self.order.as_ref().map_or(0, |order| 4 * order.as_level().order.len());
        (order + stored + by_turns) as u64
    }

    /// Whether another one is of the same entry, and of what was in the same memory, at another time.
    fn is_of_place(&self, other: &Memo) -> bool {
        let entry = |memo: &Memo| (memo.flushing, memo.trip);
        let memory = || self.memory.iter().zip(&*other.memory);
        entry(self) == entry(other)
            && (&self.values, &self.pins) == (&other.values, &other.pins)
            && self.memory.len() == other.memory.len()
            && memory().all(|(content, other)| content.ranges == other.ranges)
    }

    /// What the addresses of a run that relies on it follow from; since before it was compared, or made, for that run.
    pub fn basis(&self, since: Instant) -> Basis {
        let (memory, seen) = (self.memory.clone(), self.seen.clone());
        Basis { number: self.number, since, memory, seen, reached: self.reached.clone() }
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
        Memo {
            flushing,
            trip: entry.trip,
            values,
            pins,
            memory,
            number,
            used: 0,
            seen: None,
            finding,
            stored,
            reached: None,
            order: None,
        }
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
    let fed = Content::in_blocks(fed);
    let known = known.iter().filter(|memory| memory.is_of(&fed)).take(COMPARED);
    memo.memory = match known.into_iter().find(|memory| memory.is_there(helpers)) {
        Some(Remembered(memory)) => memory.clone(),
        None => Arc::new(vec![Content::of(fed, helpers)?]),
    };
    Ok(Some(memo))
}

/// What the addresses of an entry follow from whose iterations nobody needs to ask about. `fed`: the memory that decides about them; the loop
/// stores nowhere there.
///
/// # Safety
/// `entry` was filled in by generated code for `info`, and is alive.
pub unsafe fn addresses(
    info: &Info,
    entry: &Entry,
    fed: Vec<(u64, u64)>,
    helpers: Helpers<'_>,
) -> Result<Memo, Obstacle> {
    let memory = if fed.is_empty() { Vec::new() } else { vec![Content::of(fed, helpers)?] };
    // SAFETY: promised by the caller.
    Ok(unsafe { Memo::new(info, entry, memory, Finding::Addresses, None) })
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
    fn what_ranges_hold_is_known_by_what_another_finding_followed_from() {
        let mut memory: Vec<u8> = vec![3; 200_000];
        let (start, pool) = (memory.as_ptr() as u64, Pool::default());
        let fed = Content::in_blocks(vec![(start, start + 150_000), (start + 160_000, start + 160_008)]);
        let known = Remembered(Arc::new(vec![Content::of(fed.clone(), (&pool, 1)).unwrap()]));
        assert!(known.is_of(&fed) && !known.is_of(&fed[..1]));
        assert!(known.is_there((&pool, 1)));
        memory[149_999] ^= 1;
        assert!(!known.is_there((&pool, 1)));
    }
}
