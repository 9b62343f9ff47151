//! Stores whose places an entry knows, all of them: the same in each iteration, without a condition, so that all iterations together fill rows of
//! an array. A bitmap has their bits from the entry, before the loop begins, and no iteration notes them.
//!
//! What a kernel would note comes to the same. Each iteration makes such a store exactly once, at an address that its strides say; so the bits of all
//! are the rows' cells, and as many cells are counted as all iterations write, not as many as the rows have: where two iterations write one cell, more is counted than
//! there are bits, as if each had noted its own, and so it is where other stores, which iterations note, meet a row. A run that doesn't make all of
//! these stores has given up, and nothing of it counts. Doubted loops note what they store: they are run to refute what strides say.

use super::predicate::Footprint;
use crate::abi::{
    Entry, Info, PG_LOOP_DOUBTED, PG_LOOP_UPDATES, PG_MAX_DIMS, PG_NO_LOG, PG_SITE_EXACT, PG_SITE_HAS_AFFINE,
    PG_SITE_PRIVATE, PG_SITE_STORE, PG_SITE_UNCONDITIONAL, PG_SITE_WHOLE_STEPS,
};
use crate::memory::placement::Placement;

/// Dimensions along which rows follow each other: one more goes along a row.
pub const DIMS: usize = PG_MAX_DIMS - 1;

/// Rows of cells of a log, each without a gap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CellRows {
    /// The first cell of the first one.
    pub first: u64,
    /// Cells of each.
    pub length: u64,
    /// Along each dimension: how many there are, and how many cells one lies behind the other.
    pub dims: [(u64, u64); DIMS],
}

impl CellRows {
    /// How many.
    pub fn count(&self) -> u64 {
        self.dims.iter().map(|(count, _)| count).product()
    }
}

/// What an entry knows of its stores.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Filled {
    /// A bit for each of the first 64 bases: all stores through it are known.
    pub bases: u64,
    /// Their cells: one for each store.
    pub rows: Vec<CellRows>,
    /// How many cells iterations would have counted for them.
    pub cells: u64,
}

/// Shorter rows are better noted: a word of the log would hold several.
const SHORTEST: u64 = 64;
/// As many stores as one kernel enters.
pub const MOST: usize = 8;

impl Filled {
    /// Of this entry, whose arrays lie like that; nothing where it would be less than `least` cells, which take no longer to note.
    ///
    /// # Safety
    /// `entry` was filled in by generated code for `info` and is alive.
    pub unsafe fn of(info: &Info, entry: &Entry, placement: &Placement, least: u64) -> Filled {
        // SAFETY: promised by the caller.
        let (bases, accesses) = unsafe { (entry.bases(info), entry.accesses(info)) };
        let mut filled = Filled::default();
        let iterations = entry.trip.iter().try_fold(1u64, |n, trip| n.checked_mul(u64::try_from(*trip).ok()?));
        let Some(n) = iterations.filter(|n| *n != 0 && !info.has(PG_LOOP_DOUBTED | PG_LOOP_UPDATES)) else {
            return filled;
        };
        for number in 0..bases.len().min(64) {
            let stores = || {
                let all = info.sites().iter().zip(accesses);
                all.filter(move |(site, _)| site.base as usize == number && site.has(PG_SITE_STORE))
            };
            let whole = PG_SITE_HAS_AFFINE | PG_SITE_UNCONDITIONAL | PG_SITE_EXACT | PG_SITE_WHOLE_STEPS;
            let is_known = placement.bounded >> number & 1 != 0
                && bases[number].dynamic == 0
                && stores().all(|(site, _)| site.flags & (whole | PG_SITE_PRIVATE) == whole);
            let rows: Option<Vec<CellRows>> = stores()
                .map(|(_, access)| rows_of(&Footprint::new(&bases[number], access), &entry.trip, placement))
                .collect();
            let Some(rows) = rows.filter(|rows| is_known && !rows.is_empty()) else { continue };
            if filled.rows.len() + rows.len() > MOST {
                continue;
            }
            let widths = stores().map(|(site, _)| u64::from(site.width) >> placement.log_shift).sum::<u64>();
            let Some(cells) = n.checked_mul(widths) else { continue };
            filled.bases |= 1 << number;
            filled.rows.extend(rows);
            filled.cells += cells;
        }
        if filled.cells < least { Filled::default() } else { filled }
    }
}

/// The cells of what a store's windows cover together, if they make long rows in one region. The windows are aligned.
fn rows_of(store: &Footprint, trip: &[i64; PG_MAX_DIMS], placement: &Placement) -> Option<CellRows> {
    let (lo, hi) = store.total(trip);
    let (lo, hi) = (u64::try_from(lo).ok()?, u64::try_from(hi).ok()?);
    let region = &placement.regions[placement.region_of(lo)?];
    if hi > region.lo + region.size || region.log == PG_NO_LOG {
        return None;
    }
    let shift = placement.log_shift;
    let cell = 1u64 << shift;
    let moving = store.stride.iter().zip(trip).filter(|(_, trip)| **trip > 1);
    let mut dims: Vec<(u64, u64)> = moving
        .map(|(stride, trip)| Some((u64::try_from(*trip).ok()?, u64::try_from(stride.abs()).ok()?)))
        .collect::<Option<_>>()?;
    dims.sort_unstable_by_key(|(_, stride)| *stride);
    let mut length = u64::try_from(store.hi - store.lo).ok()?;
    if [lo, length].into_iter().chain(dims.iter().map(|(_, stride)| *stride)).any(|bytes| bytes % cell != 0) {
        return None;
    }
    let mut rows = CellRows { first: 0, length: 0, dims: [(1, 0); DIMS] };
    let mut next = 0;
    for (count, stride) in dims {
        if next == 0 && stride == length {
            length = length.checked_mul(count)?;
            continue;
        }
        *rows.dims.get_mut(next)? = (count, stride >> shift);
        next += 1;
    }
    rows.first = region.log + ((lo - (region.lo & !63)) >> shift);
    rows.length = length >> shift;
    // All iterations at one place make no rows. So many words a kernel numbers in 32 bits.
    let makes_rows = rows.dims[..next].iter().all(|(_, step)| *step != 0);
    let words = rows.dims.iter().try_fold(rows.length / 32 + 2, |words, (count, _)| words.checked_mul(*count))?;
    (rows.length >= SHORTEST && makes_rows && words <= u64::from(u32::MAX)).then_some(rows)
}
