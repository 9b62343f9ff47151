//! Stores whose places an entry knows, all of them: the same in each iteration, without a condition, so that all iterations together fill rows of
//! an array. A bitmap has their bits from the entry, behind the loop, and no iteration notes them.
//!
//! What a kernel would note comes to the same. Each iteration makes such a store exactly once, at an address that its strides say; so the bits of all
//! are the rows' cells, and as many cells are counted as all iterations write, not as many as the rows have: where two iterations write one cell, more is counted than
//! there are bits, as if each had noted its own, and so it is where other stores, which iterations note, meet a row. A run that doesn't make all of
//! these stores has given up, and nothing of it counts. Doubted loops note what they store: they are run to refute what strides say.

use super::predicate::Footprint;
use crate::abi::{
    Access, Entry, Info, PG_LOOP_DOUBTED, PG_LOOP_UPDATES, PG_MAX_DIMS, PG_NO_LOG, PG_SITE_EXACT,
    PG_SITE_HAS_AFFINE, PG_SITE_LOGGED, PG_SITE_PRIVATE, PG_SITE_STORE, PG_SITE_UNCONDITIONAL,
    PG_SITE_WHOLE_STEPS, Site,
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
    /// Whether they are all stores of the loop.
    pub is_all: bool,
    /// A bit for each of the first 64 bases: whatever is loaded through it that logs would note, the same iteration stores to the very place. Another one
    /// that stores there shows by their number.
    pub covered: u64,
}

/// Shorter rows are better noted: a word of the log would hold several.
const SHORTEST: u64 = 64;
/// Among more accesses than this no loads are looked for that find what their iteration stores: each is compared with all stores.
const MOST_SITES: usize = 128;
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
        let iterations =
            entry.trip.iter().try_fold(1u64, |n, trip| n.checked_mul(u64::try_from(*trip).ok()?));
        let Some(n) = iterations.filter(|n| *n != 0 && !info.has(PG_LOOP_DOUBTED | PG_LOOP_UPDATES)) else {
            return filled;
        };
        let sites = || info.sites().iter().zip(accesses);
        for (number, its) in bases.iter().enumerate().take(64) {
            let stores =
                || sites().filter(move |(site, _)| site.base as usize == number && site.has(PG_SITE_STORE));
            let is_known = placement.bounded >> number & 1 != 0
                && its.dynamic == 0
                && stores().all(|(site, _)| is_certain(site) && site.has(PG_SITE_WHOLE_STEPS));
            let rows: Option<Vec<CellRows>> = stores()
                .map(|(_, access)| rows_of(&Footprint::new(its, access), &entry.trip, placement))
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
        if filled.cells < least {
            filled = Filled::default();
        }
        let has = |bases: u64, site: &Site| bases.checked_shr(site.base).unwrap_or(0) & 1 != 0;
        let mut stores = info.sites().iter().filter(|site| site.has(PG_SITE_STORE));
        filled.is_all = stores.all(|site| has(filled.bases, site));
        let asked = if info.sites().len() > MOST_SITES { 0 } else { 64 };
        for (number, its) in bases.iter().enumerate().take(asked) {
            let mut loads = sites().filter(|(site, _)| {
                site.base as usize == number && site.has(PG_SITE_LOGGED) && !site.has(PG_SITE_STORE)
            });
            let covers = |(load, place): (&Site, &Access)| {
                let is_own = |(store, other): (&Site, &Access)| {
                    let base = bases.get(store.base as usize).filter(|base| base.dynamic == 0);
                    base.is_some_and(|base| {
                        let (load, store) = (Footprint::new(its, place), Footprint::new(base, other));
                        (load.lo, load.hi) == (store.lo, store.hi)
                            && (0..PG_MAX_DIMS)
                                .all(|dim| entry.trip[dim] <= 1 || load.stride[dim] == store.stride[dim])
                    })
                };
                load.has(PG_SITE_HAS_AFFINE)
                    && load.has(PG_SITE_EXACT)
                    && sites().filter(|(site, _)| site.has(PG_SITE_STORE) && is_certain(site)).any(is_own)
            };
            if its.dynamic == 0 && loads.all(covers) {
                filled.covered |= 1 << number;
            }
        }
        filled
    }
}

/// Whether each iteration makes an access, once, where its strides say.
fn is_certain(site: &Site) -> bool {
    let whole = PG_SITE_HAS_AFFINE | PG_SITE_UNCONDITIONAL | PG_SITE_EXACT;
    site.flags & (whole | PG_SITE_PRIVATE) == whole
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
    let words =
        rows.dims.iter().try_fold(rows.length / 32 + 2, |words, (count, _)| words.checked_mul(*count))?;
    (rows.length >= SHORTEST && makes_rows && words <= u64::from(u32::MAX)).then_some(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::Region;

    /// A region of bytes and its log.
    fn placement(lo: u64, size: u64, log: u64, log_shift: u32) -> Placement {
        Placement {
            regions: vec![Region { lo, size, log, ..Region::default() }],
            log_shift,
            ..Placement::default()
        }
    }

    fn store(lo: i128, width: i128, stride: [i128; PG_MAX_DIMS]) -> Footprint {
        Footprint { lo, hi: lo + width, stride, hull: None }
    }

    /// The cells of all stores, each as often as it is stored to.
    fn cells_of_all(store: &Footprint, trip: &[i64; PG_MAX_DIMS], placement: &Placement) -> Vec<u64> {
        let mut places = vec![store.lo];
        for (stride, trip) in store.stride.iter().zip(trip) {
            places =
                (0..i128::from(*trip)).flat_map(|k| places.iter().map(move |at| at + k * stride)).collect();
        }
        let origin = placement.regions[0].lo & !63;
        let cells = ((store.hi - store.lo) as u64) >> placement.log_shift;
        let first = |at: i128| placement.regions[0].log + ((at as u64 - origin) >> placement.log_shift);
        let mut all: Vec<u64> = places.into_iter().flat_map(|at| first(at)..first(at) + cells).collect();
        all.sort_unstable();
        all
    }

    fn cells_of_rows(rows: &CellRows) -> Vec<u64> {
        let mut starts = vec![rows.first];
        for (count, step) in rows.dims {
            starts = (0..count).flat_map(|k| starts.iter().map(move |at| at + k * step)).collect();
        }
        let mut all: Vec<u64> = starts.into_iter().flat_map(|at| at..at + rows.length).collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn rows_are_what_all_iterations_store() {
        let array = placement(1 << 20 | 24, 1 << 18, 4096, 2);
        let middle = (1 << 20) + (1 << 17);
        for (store, trip) in [
            // All of an array, its inside, planes with gaps, and the same backwards.
            (store(middle, 4, [4, 0, 0, 0]), [1000, 1, 1, 1]),
            (store(middle, 4, [400, 4, 0, 0]), [20, 100, 1, 1]),
            (store(middle, 4, [400, 4, 0, 0]), [20, 98, 1, 1]),
            (store(middle, 4, [4000, 400, 4, 0]), [5, 8, 98, 1]),
            (store(middle, 8, [-8, 4000, -20_000, 0]), [98, 5, 3, 1]),
            (store(middle, 8, [20_000, 4000, 800, 8]), [2, 3, 4, 97]),
            // Rows that overlap.
            (store(middle, 4, [40, 4, 0, 0]), [20, 98, 1, 1]),
        ] {
            let rows = rows_of(&store, &trip, &array).unwrap();
            assert_eq!(cells_of_rows(&rows), cells_of_all(&store, &trip, &array), "{store:?}");
            let n: u64 = trip.iter().product::<i64>() as u64;
            assert_eq!(rows.length * rows.count(), n * ((store.hi - store.lo) as u64 >> 2));
        }
    }

    #[test]
    fn what_is_no_row_is_noted() {
        let array = placement(1 << 20, 1 << 18, 0, 3);
        let at = (1 << 20) + 1024;
        let is_known = |store, trip| rows_of(&store, &trip, &array).is_some();
        assert!(is_known(store(at, 8, [8, 0, 0, 0]), [64, 1, 1, 1]));
        // Short rows; elements apart; all at one place; misaligned; beyond the array; without a log.
        assert!(!is_known(store(at, 8, [8, 0, 0, 0]), [63, 1, 1, 1]));
        assert!(!is_known(store(at, 8, [16, 0, 0, 0]), [1000, 1, 1, 1]));
        assert!(!is_known(store(at, 8, [0, 8, 0, 0]), [10, 1000, 1, 1]));
        assert!(!is_known(store(at + 4, 8, [8, 0, 0, 0]), [1000, 1, 1, 1]));
        assert!(!is_known(store(at, 8, [8004, 8, 0, 0]), [2, 1000, 1, 1]));
        assert!(!is_known(store(at, 8, [8, 0, 0, 0]), [1 << 15, 1, 1, 1]));
        let unlogged = placement(1 << 20, 1 << 18, PG_NO_LOG, 3);
        assert!(rows_of(&store(at, 8, [8, 0, 0, 0]), &[64, 1, 1, 1], &unlogged).is_none());
    }
}
