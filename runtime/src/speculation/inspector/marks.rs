//! Whether any two iterations meet: several threads run the slice for parts of the iterations, and each marks what its iterations touch,
//! one bit for each cell of memory. Two iterations of one thread that meet are seen at once, those of different threads when the
//! marks are compared. The answer is yes or no; who has to wait for whom is for [`super::levels`].
//!
//! Within an iteration, accesses don't meet. So what it stores to is kept in a list until it ends, and so is what it loads: of
//! a cell that it stores to as well, that says enough.
//!
//! Most accesses need not be looked at one by one. Affine ones are not shown at all: the runtime knows the memory that they reach,
//! all iterations together ([`Known`]). Loads from arrays that the loop doesn't store to by the same name are taken for some
//! cells more than they load ([`Known::lasting`]). Where such a shortcut makes iterations meet, the slice runs once more without any.

mod known;
mod marker;
mod together;

use super::seen::{NOWHERE, REACHED_PIECE, Reached, Seeing, only_seen};
use super::turns::Noted;
use super::{
    Content, Finding, Inspected, MOST_PIECES, Memo, Obstacle, SYSTEM_PAGE_SHIFT, cell_shift, pinned, zeros,
};
use crate::abi::*;
use crate::floating_point::Flushing;
use crate::memory::{limits, safe_copy};
use crate::speculation::predicate::Footprint;
use crate::speculation::race::Helpers;
use known::Known;
use marker::{Marker, Page, Shared};
use rustc_hash::FxHashMap;
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use together::{Marked, together};

/// log2 of the bytes of memory that a page of marks is for: so much that scattered accesses find their page in a core's cache, so little
/// that a loop of a few iterations has little to clear and to compare.
const PAGE_SHIFT: u32 = 18;
/// log2 of the pages that one table leads to.
const TABLE_SHIFT: u32 = 12;
/// log2 of the bytes of memory that a program has.
const ADDRESS_BITS: u32 = 47;
/// Bytes of bookkeeping after which it is asked whether there is memory for more.
const CHECKED_EVERY: u64 = 16 << 20;
/// Bytes of memory that feed the slice that are remembered together: so few that they are hardly anybody else's.
const FED_PIECE: u64 = 64;
/// Loads of one iteration that are noted at once.
const MOST_LOADS: usize = 1 << 16;
/// Iterations, and accesses that are shown, after which the clock is looked at. An iteration may show hundreds of thousands.
const CLOCK_EVERY: u32 = 1 << 8;
const CLOCK_EVERY_SHOWN: u32 = 1 << 12;
/// Estimated operations of a loop from which helpers are worth waking.
const ALONE: u64 = 200_000;

/// On what terms an entry is inspected.
#[derive(Clone, Copy)]
pub struct Terms<'a> {
    /// What was found is asked about for this entry only: what it followed from need not be known, where that makes it faster.
    pub for_once: bool,
    /// In no more than about so much time: it should take a time like the loop's own.
    pub patience: Duration,
    /// Where it is counted how many iterations of dimension 0 were looked at, before it came to an end: twice, if it was looked at twice.
    pub looked_at: &'a AtomicU64,
}

/// An entry, for several threads: they only look at it.
#[derive(Clone, Copy)]
struct Common<'a>(&'a Entry);

// SAFETY: its pointers lead to tables that nobody changes while the loop is entered.
unsafe impl Sync for Common<'_> {}
// SAFETY: as above.
unsafe impl Send for Common<'_> {}

impl Common<'_> {
    fn get(&self) -> *const Entry {
        self.0
    }
}

/// Runs the slice, and puts together what is marked.
///
/// # Safety
/// As for [`inspect`].
unsafe fn mark(
    info: &Info,
    entry: &Entry,
    slice: InspectFn,
    shared: &Shared<'_>,
    known: &Known,
    (pool, threads): Helpers<'_>,
) -> Result<Marked, Obstacle> {
    let trip = entry.trip[0];
    let inner = entry.trip[1..].iter().fold(1u64, |n, trip| n.saturating_mul(trip.unsigned_abs()));
    let work = trip.unsigned_abs().saturating_mul(inner).saturating_mul(info.work);
    let threads = if work < ALONE { 1 } else { threads };
    // Some portions for each thread, in case they differ; long, so that threads don't mark each others' pages.
    let portion = (trip / (threads as i64 * 4)).max(1);
    let (flushing, taken) = (Flushing::of_caller(), AtomicI64::new(0));
    let markers: Mutex<Vec<Marker<'_>>> = Mutex::new(Vec::new());
    let entry = Common(entry);
    pool.run(threads, &|| {
        let portions = || Some(taken.fetch_add(portion, Ordering::Relaxed)).filter(|first| *first < trip);
        let Some(mut begin) = portions() else { return };
        let marked = Marker::new(shared, known, info.n_sites).and_then(|mut marker| {
            flushing.raised_by(|| {
                while !shared.is_over() {
                    let end = trip.min(begin.saturating_add(portion));
                    marker.begin(begin);
                    // SAFETY: what the slice loads has been looked at before, see the module above, and it hands the marker
                    // back to its functions only; its first field is what the pointer leads to, and nobody else uses it
                    // meanwhile.
                    unsafe { slice(entry.get(), (&raw mut marker).cast(), begin, end) };
                    marker.note_turns();
                    begin = match portions() {
                        Some(begin) => begin,
                        None => break,
                    };
                }
            });
            shared.looked_at.fetch_add(u64::from(marker.iterations), Ordering::Relaxed);
            marker.next()?;
            Ok(marker)
        });
        match marked {
            Ok(marker) => markers.lock().unwrap_or_else(PoisonError::into_inner).push(marker),
            Err(obstacle) => shared.fail(obstacle),
        }
    });
    if let Some(obstacle) = *shared.obstacle.lock().unwrap_or_else(PoisonError::into_inner) {
        return Err(obstacle);
    }
    let markers = markers.into_inner().unwrap_or_else(PoisonError::into_inner);
    if Instant::now() > shared.deadline {
        return Err(Obstacle::Endless);
    }
    together(&markers, shared, known, (pool, threads))
}

/// Inspects one entry. `open`: the pairs of sites that predicates have left open. `seeing`: what it may see besides. An error says nothing of the loop: [`super::levels`] may find what is so.
///
/// # Safety
/// `entry` was filled in by generated code for `info`, and the loop would run now: its first test is true.
pub unsafe fn inspect(
    info: &Info,
    entry: &Entry,
    slice: InspectFn,
    open: &[(u32, u32)],
    seeing: Option<Seeing>,
    Terms { for_once, patience, looked_at }: Terms<'_>,
    helpers: Helpers<'_>,
) -> Result<Inspected, Obstacle> {
    let started = Instant::now();
    let unseen = if seeing.is_some() { 0 } else { only_seen(info) };
    let everything = Known { unseen, ..Known::default() };
    // SAFETY: promised by the caller, here and below.
    let (known, pins) = unsafe { (Known::of(info, entry, open), pinned(info, entry)) };
    let known = Known { unseen, ..known };
    let deadline = started + patience;
    // Only a GPU asks, whose lanes run such iterations side by side; and it may run them in any order.
    let may_sort = info.n_dims == 1 && info.n_results == 0 && info.has(PG_LOOP_SPREADS);
    let asks = seeing.as_ref().filter(|_| may_sort);
    let turns =
        asks.and_then(|seeing| Noted::new(entry.trip[0].unsigned_abs(), seeing.sorts_always)).map(Arc::new);
    let marked = |known: &Known| {
        let shared = Shared {
            shift: cell_shift(info),
            pins: pins.clone(),
            stop: AtomicBool::new(false),
            obstacle: Mutex::new(None),
            bytes: AtomicU64::new(0),
            deadline,
            looked_at,
            arrays: seeing.as_ref().map_or_else(Vec::new, |seeing| seeing.inside.clone()),
            turns: turns.clone(),
            for_once: known.only_stored.filter(|_| for_once),
        };
        // SAFETY: as above.
        unsafe { mark(info, entry, slice, &shared, known, helpers) }
    };
    let mut used = &known;
    // Loads that are known are not looked at one by one, so their memory has to be there.
    let mut result = match safe_copy::are_there_on(helpers.0, helpers.1, &known.fed) {
        true => marked(&known),
        false => Err(Obstacle::NotThere),
    };
    if matches!(result, Err(Obstacle::Meet | Obstacle::FeedsItself | Obstacle::NotThere))
        && known != everything
    {
        used = &everything;
        result = marked(&everything);
    }
    let Marked { fed, stored, are_inside, reached } = result?;
    let took = started.elapsed();
    let is_to_keep = !for_once || used.only_stored.is_none();
    let mut memory = Vec::new();
    if is_to_keep {
        memory.push(Content::of_by(deadline, used.fed.clone(), helpers)?);
        memory.push(Content::of_by(deadline, fed, helpers)?);
    }
    // SAFETY: as above.
    let mut memo = unsafe { Memo::new(info, entry, memory, Finding::Independent, stored) };
    memo.order = turns.and_then(|turns| turns.order()).map(Arc::new);
    if let Some(seeing) = seeing.filter(|_| are_inside) {
        memo.reached = Some(Arc::new(Reached::new(info, &seeing.seen, &reached)));
        memo.saw(seeing.seen);
    }
    Ok(Inspected { memo, is_to_keep, took })
}

#[cfg(test)]
mod tests;
