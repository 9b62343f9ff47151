//! Where the arrays of a loop entry lie: from bases and accesses to disjoint host ranges, each an array on the device.
//!
//! In this order (design: proof before guess): the hull of a base's affine accesses, and of windows, where they lie inside of what
//! is known of the array or nothing is; the extent of a named object; the
//! recorded allocation that its pointer leads into, or of these what an inspection has seen the accesses come to, where nothing stores to it. For accesses without a base, the pointers that the loop will load are
//! read here and the allocations that they lead into are placed as well; what is missed is caught by the device's
//! range checks. So it is where an array isn't recorded that the loop only loads from: it is small, or not of a unit of ours, and what lies around its pointer is placed ([`surroundings`]).
//! A store that can't be placed is an error, never a guess.

use super::allocations::Allocations;
use super::{mappings, safe_copy};
use crate::abi::{
    Access, Base, Entry, Info, PG_MAX_DIMS, PG_NO_LOG, PG_RECORD_MINIMUM, PG_SITE_COVERED, PG_SITE_FEEDS,
    PG_SITE_HAS_AFFINE, PG_SITE_LOADS_POINTER, PG_SITE_LOGGED, PG_SITE_SNAPSHOT, PG_SITE_STORE,
    PG_SITE_UNCONDITIONAL, PG_SITE_UPDATE, PG_SITE_WHOLE_STEPS, Pin, Region, Site,
};
use crate::device::{CELLS_OF_WORD, LogMethod};
use crate::speculation::predicate::{Footprint, Rest};
use crate::speculation::rows::Reach;

#[cfg(test)]
mod tests;

/// More separate arrays than this are not copied one by one.
const MAX_REGIONS: usize = 4096;

/// The arrays of one entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// Sorted, disjoint; `dev` is still 0, `log` is set.
    pub regions: Vec<Region>,
    /// For each region, whether the loop may write there.
    pub written: Vec<bool>,
    /// For each region, whether the loop may read there.
    pub read: Vec<bool>,
    /// For each region, whether the device keeps a copy of it as it was before the loop.
    pub snapshot: Vec<bool>,
    /// Whether some store's reach is only as sure as a recorded allocation.
    pub recorded_store: bool,
    /// Whether some pointer leads nowhere, so that an iteration which follows it all the same gives up.
    pub leaves_out: bool,
    /// For each base, an address in its array; 0 for dynamic bases.
    pub anchors: Vec<u64>,
    /// A bit for each of the first 64 bases: all its accesses are affine, so that its array is what they reach, and aligned.
    /// No access through it needs to be checked.
    pub bounded: u64,
    /// The same for all bases that have an array: those of their accesses that are affine are aligned. What else goes through them lies
    /// where only a run can tell.
    pub aligned: u64,
    /// For nests without results: the dimension along which most accesses of neighbouring iterations lie side by side, and the
    /// innermost other one. Where threads of a device go along the first, their accesses are coalesced.
    pub tile: Option<(u8, u8)>,
    /// Of three dimensions with a tile the third one, if what neighbours along it load is as often the same as along the tile's y.
    pub across: Option<u8>,
    /// Cells in each log.
    pub cells: u64,
    /// log2 of the bytes of a cell.
    pub log_shift: u32,
}

impl Placement {
    /// The region that contains `address`.
    pub fn region_of(&self, address: u64) -> Option<usize> {
        let after = self.regions.partition_point(|r| r.lo <= address);
        let index = after.checked_sub(1)?;
        (address - self.regions[index].lo < self.regions[index].size).then_some(index)
    }
    /// Whether what accesses reach, by sites, lies in the region of their base.
    pub fn holds(&self, info: &Info, reached: &[Option<(u64, u64)>]) -> bool {
        let lies_there = |(site, (lo, hi)): (&Site, (u64, u64))| {
            let region = self.region_of_base(site.base).map(|index| &self.regions[index]);
            region.is_some_and(|region| region.lo <= lo && hi <= region.lo + region.size)
        };
        let reached = info.sites().iter().zip(reached).filter_map(|(site, its)| Some((site, (*its)?)));
        reached.into_iter().all(lies_there)
    }
    /// Bases whose array nothing stores to.
    pub fn kept(&self) -> u64 {
        let is_kept = |base: &u32| self.region_of_base(*base).is_some_and(|region| !self.written[region]);
        (0..self.anchors.len().min(64) as u32).filter(is_kept).fold(0, |mask, base| mask | 1 << base)
    }
    /// Of the first 64 bases those to whose array nothing but updates of one operation and one width is made, through whatever base: a bit for each.
    pub fn updated_alone(&self, info: &Info) -> u64 {
        let mut kinds: Vec<Option<Option<(u32, u32)>>> = vec![None; self.regions.len()];
        let mut found = 0;
        for site in info.sites() {
            // What has no base may come to any array.
            let Some(region) = self.region_of_base(site.base) else { return 0 };
            let kind = site.has(PG_SITE_UPDATE).then_some((site.operation(), site.width));
            let kind = kind.filter(|_| site.base < 64);
            kinds[region] = match kinds[region] {
                Some(known) if known != kind => Some(None),
                _ => Some(kind),
            };
        }
        for base in 0..self.anchors.len().min(64) as u32 {
            if self.region_of_base(base).is_some_and(|region| matches!(kinds[region], Some(Some(_)))) {
                found |= 1 << base;
            }
        }
        found
    }
    /// Whether all that the loop stores are such updates, and no load of what it stores to is noted: then logs hold no iteration's number.
    pub fn is_nameless(&self, info: &Info, alone: u64) -> bool {
        let mut stores = info.sites().iter().filter(|site| site.has(PG_SITE_STORE));
        stores.all(|site| site.base < 64 && alone >> site.base & 1 != 0) && !self.has_logged_readers(info)
    }
    /// First and one past the last log cell of `[lo, hi)` in region `index`.
    pub fn cells_of(&self, index: usize, lo: u64, hi: u64) -> (u64, u64) {
        let region = &self.regions[index];
        let origin = region.lo & !63;
        (
            region.log + ((lo - origin) >> self.log_shift),
            region.log + ((hi - 1 - origin) >> self.log_shift) + 1,
        )
    }
    /// Sum of the regions' sizes, those of snapshots included.
    pub fn bytes(&self) -> u64 {
        let snapshots = self.regions.iter().zip(&self.snapshot).filter(|(_, taken)| **taken);
        self.regions.iter().chain(snapshots.map(|(region, _)| region)).map(|r| r.size).sum()
    }
    /// Asks for snapshots of what loads want to see as it was before the loop, where it can change.
    pub fn take_snapshots(&mut self, info: &Info) {
        for site in info.sites().iter().filter(|site| site.has(PG_SITE_SNAPSHOT)) {
            if let Some(index) = self.region_of_base(site.base) {
                self.snapshot[index] |= self.written[index];
            }
        }
    }
    /// The region that all accesses through a base stay in; the device checks that they do. `None` for dynamic bases.
    pub fn region_of_base(&self, base: u32) -> Option<usize> {
        self.anchors.get(base as usize).filter(|a| **a != 0).and_then(|a| self.region_of(*a))
    }
    /// Whether some load must be logged: one that takes part in an unresolved pair, in an array that the loop stores to.
    pub fn has_logged_readers(&self, info: &Info) -> bool {
        self.has_logged_readers_but(info, 0)
    }
    /// The same without the loads through some bases, a bit for each of the first 64.
    pub fn has_logged_readers_but(&self, info: &Info, bases: u64) -> bool {
        noted_loads(info, bases).any(|s| self.region_of_base(s.base).is_none_or(|index| self.written[index]))
    }
    /// How many arrays there are that the loop stores to and whose loads are noted; `None` where nobody knows what array a load is of.
    pub fn arrays_with_logged_readers_but(&self, info: &Info, bases: u64) -> Option<usize> {
        let mut found = vec![false; self.regions.len()];
        for site in noted_loads(info, bases) {
            let index = self.region_of_base(site.base)?;
            found[index] = self.written[index];
        }
        Some(found.into_iter().filter(|found| *found).count())
    }
    /// The same for stamps, to which a load is one that its iteration also stores to.
    pub fn has_stamped_readers(&self, info: &Info) -> bool {
        self.has_logged_readers(info) || info.sites().iter().any(|s| s.has(PG_SITE_COVERED))
    }
    /// The memory that the loads lie in which decide what an inspection is shown, as ranges in their order; `None` where it isn't known,
    /// or the loop stores there.
    pub fn fed(&self, info: &Info) -> Option<Vec<(u64, u64)>> {
        let mut feeds = vec![false; self.regions.len()];
        for site in info.sites().iter().filter(|site| site.has(PG_SITE_FEEDS)) {
            let index = self.region_of_base(site.base).filter(|index| !self.written[*index])?;
            feeds[index] = true;
        }
        let regions = self.regions.iter().zip(feeds).filter(|(_, feeds)| *feeds);
        Some(regions.map(|(region, _)| (region.lo, region.lo + region.size)).collect())
    }
    /// Whether what predicates left over is settled by where the arrays lie: accesses to different regions can't meet on
    /// a device, which checks that each access stays in its base's region. (In place nothing checks that.)
    pub fn settles(&self, info: &Info, rest: &Rest) -> bool {
        let region = |site: u32| info.sites().get(site as usize).and_then(|s| self.region_of_base(s.base));
        let apart = |a: u32, b: u32| region(a).zip(region(b)).is_some_and(|(a, b)| a != b);
        rest.pairs.iter().all(|(a, b)| apart(*a, *b))
    }
    /// Log cells that pinned memory occupies, as (first, one past the last).
    pub fn pinned_cells(&self, pins: &[Pin]) -> Vec<(u64, u64)> {
        let mut out = Vec::new();
        for pin in pins {
            for (index, region) in self.regions.iter().enumerate() {
                let lo = pin.address.max(region.lo);
                let hi = pin.address.saturating_add(pin.width.into()).min(region.lo + region.size);
                if lo < hi && region.log != PG_NO_LOG {
                    out.push(self.cells_of(index, lo, hi));
                }
            }
        }
        out
    }
}

/// The loads that logs note, without those through some bases.
fn noted_loads(info: &Info, bases: u64) -> impl Iterator<Item = &Site> {
    let is_one_of = move |base: u32| bases.checked_shr(base).unwrap_or(0) & 1 != 0;
    let loads = info.sites().iter().filter(|site| site.has(PG_SITE_LOGGED) && !site.has(PG_SITE_STORE));
    loads.filter(move |site| !is_one_of(site.base))
}

/// About how many bytes a device would be given, as far as affine accesses and named objects tell.
///
/// # Safety
/// `entry` was filled in by generated code for `info` and is alive.
pub unsafe fn rough_bytes(info: &Info, entry: &Entry) -> u64 {
    // SAFETY: promised by the caller.
    let (bases, accesses) = unsafe { (entry.bases(info), entry.accesses(info)) };
    let mut reach = vec![0u64; bases.len()];
    for (site, access) in info.sites().iter().zip(accesses) {
        let Some(base) = bases.get(site.base as usize) else { continue };
        if leads_nowhere(base) && !site.has(PG_SITE_UNCONDITIONAL) {
            continue;
        }
        let object = base.object_hi.saturating_sub(base.object_lo);
        let bytes = match Footprint::of(site, base, access) {
            Some(footprint) => {
                let (lo, hi) = footprint.total(&entry.trip);
                let bytes = u64::try_from(hi - lo).unwrap_or(0);
                if site.has(PG_SITE_HAS_AFFINE) || object == 0 { bytes } else { bytes.min(object) }
            }
            None => object,
        };
        let most = &mut reach[site.base as usize];
        *most = bytes.max(*most);
    }
    reach.iter().fold(0, |sum, bytes| sum.saturating_add(*bytes))
}

/// Whether a base is no address that a program's array could have: none at all, or what the compiler has given for one that can't be read
/// (`PG_NOWHERE`).
fn leads_nowhere(base: &Base) -> bool {
    const FIRST_PAGE: u64 = 4096;
    const USERS: std::ops::Range<u64> = FIRST_PAGE..1 << 47;
    base.dynamic == 0 && base.object_hi <= base.object_lo && !USERS.contains(&base.pointer)
}

/// Whether an affine access is aligned to its width in every iteration.
fn is_aligned(base: &Base, site: &Site, access: &Access) -> bool {
    let width = u64::from(site.width.max(1));
    let start = base.pointer.wrapping_add(access.lo as u64);
    site.has(PG_SITE_WHOLE_STEPS) && width.is_power_of_two() && start.is_multiple_of(width)
}

/// Fewer iterations than this along a dimension don't fill the threads that go together.
const TILE_WIDTH: i64 = 32;
/// Iterations of the second dimension in one block.
pub const TILE_HEIGHT: u32 = 8;
/// Most blocks in directions y and z.
const MOST_BLOCKS: i64 = 65535;

/// See [`Placement::tile`].
fn tile(info: &Info, trip: &[i64; PG_MAX_DIMS], accesses: &[Access]) -> Option<(u8, u8)> {
    let dims = info.n_dims as usize;
    if !(2..=PG_MAX_DIMS).contains(&dims) || info.n_results != 0 {
        return None;
    }
    // Side by side is best; the same element for all is nearly as good.
    let score = |dim: usize| -> u32 {
        let sites = info.sites().iter().zip(accesses).filter(|(site, _)| site.has(PG_SITE_HAS_AFFINE));
        sites
            .map(|(site, access)| match access.stride[dim].unsigned_abs() {
                stride if stride == u64::from(site.width) => 3,
                0 => 2,
                _ => 0,
            })
            .sum()
    };
    let x = (0..dims).filter(|dim| trip[*dim] >= TILE_WIDTH).max_by_key(|dim| (score(*dim), *dim))?;
    let y = (0..dims).rev().find(|dim| *dim != x)?;
    let others = (0..dims).filter(|dim| ![x, y].contains(dim));
    let blocks = others.map(|dim| trip[dim]).try_fold(1i64, i64::checked_mul)?;
    let fits = blocks <= MOST_BLOCKS
        && (i64::from(TILE_HEIGHT)..=MOST_BLOCKS * i64::from(TILE_HEIGHT)).contains(&trip[y]);
    fits.then_some((x as u8, y as u8))
}

/// See [`Placement::across`].
fn across(info: &Info, tile: Option<(u8, u8)>, accesses: &[Access]) -> Option<u8> {
    /// So near neighbours are iterations that a device may run together.
    const NEAR: u64 = 4;
    /// More loads would take longer to compare at each entry than it saves.
    const MOST: usize = 32;
    let (x, y) = tile.filter(|_| info.n_dims == 3)?;
    let third = (0..3).find(|dim| ![x, y].contains(dim))?;
    let loads: Vec<(u32, Access)> = (info.sites().iter().zip(accesses))
        .filter(|(site, _)| site.has(PG_SITE_HAS_AFFINE) && !site.has(PG_SITE_STORE))
        .map(|(site, access)| (site.base, *access))
        .collect();
    if loads.len() > MOST {
        return None;
    }
    // Loads that find what another one, or the same one, finds some iterations on.
    let in_common = |dim: u8| {
        let is_same = |(base, load): &(u32, Access), (other_base, other): &(u32, Access)| {
            let (stride, apart) = (load.stride[usize::from(dim)].unsigned_abs(), load.lo.abs_diff(other.lo));
            let moves = match stride {
                0 => apart == 0,
                _ => apart != 0 && apart.is_multiple_of(stride) && apart / stride < NEAR,
            };
            base == other_base && load.stride == other.stride && moves
        };
        loads.iter().filter(|load| loads.iter().any(|other| is_same(load, other))).count()
    };
    let along_third = in_common(third);
    (along_third != 0 && along_third >= in_common(y)).then_some(third)
}

/// First byte and one past the last, if there are any.
type Range = Option<(i128, i128)>;

/// From the first byte of both to the last.
fn joined(a: Range, b: Range) -> Range {
    match (a, b) {
        (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
        (a, b) => a.or(b),
    }
}

/// Of an array that nothing stores to, a device gets what is reached if that is no more than such a part of it: arrays that are the same at each entry may still be there.
const WORTH_NARROWING: (u128, u128) = (7, 8);
/// Bytes of an array that stand for none of it.
const NOTHING: u64 = 64;

/// An array that the loop only loads from and of which nobody knows where it begins and ends.
struct Unrecorded {
    base: usize,
    line: u32,
    /// What is known to be reached of it.
    hull: Range,
    /// Whether that is all.
    is_all: bool,
}

/// What is placed of such an array: all that is reached, if it is known; else the memory around its pointer as well, as far as an array can be that is too small to be recorded, up to what
/// the loop may store to. In what is stored to there is nothing of it: around it lies what is anybody's, who may change it meanwhile. `None`: there is no such place, or its memory isn't the process's
/// own, so that stores elsewhere may be stores to it, which inspections don't see either.
fn surroundings(array: &Unrecorded, pointer: u64, stored: &[(u64, u64)]) -> Option<(u64, u64)> {
    let mut around = None;
    if !array.is_all {
        let (mut lo, mut hi) = safe_copy::around(pointer, PG_RECORD_MINIMUM)?;
        for (first, end) in stored {
            match (*end <= pointer, pointer < *first) {
                (true, _) => lo = lo.max(*end),
                (_, true) => hi = hi.min(*first),
                _ => return None,
            }
        }
        around = Some((lo.into(), hi.into()));
    }
    let (lo, hi) = joined(array.hull, around)?;
    let (lo, hi) = (u64::try_from(lo).ok()?, u64::try_from(hi).ok()?);
    let is_apart = |(first, end): &(u64, u64)| hi <= *first || *end <= lo;
    let is_own = !array.is_all || mappings::is_private((lo, hi));
    (is_own && stored.iter().all(is_apart)).then_some((lo, hi))
}

/// Whether all of a window may be read; of a long one that isn't asked.
fn is_there(lo: i128, hi: i128) -> bool {
    let ends = u64::try_from(lo).ok().zip(u64::try_from(hi).ok());
    hi - lo > i128::from(2 * PG_RECORD_MINIMUM) || ends.is_some_and(|ends| safe_copy::are_there(&[ends]))
}

fn no_extent(line: u32) -> String {
    format!("the array accessed in line {line} has no known extent")
}

/// Ranges that have something in common become one; in their order.
fn merged(mut ranges: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    ranges.sort_unstable();
    let mut merged: Vec<(u64, u64)> = Vec::new();
    for (lo, hi) in ranges {
        match merged.last_mut() {
            Some(last) if lo < last.1 => last.1 = last.1.max(hi),
            _ => merged.push((lo, hi)),
        }
    }
    merged
}

/// Places all arrays of the entry, or says which access can't be placed. `rows`: where all accesses without a base are, if that is known ([`Rest::rows`]).
/// `reached`: what accesses come to, by sites, as an inspection has seen it ([`Reached`](crate::speculation::inspector::seen::Reached)).
///
/// # Safety
/// `entry` was filled in by generated code for `info` and is alive.
pub unsafe fn place(
    info: &Info,
    entry: &Entry,
    allocations: &Allocations,
    method: LogMethod,
    rows: Option<&[Reach]>,
    reached: Option<&[Option<(u64, u64)>]>,
) -> Result<Placement, String> {
    // SAFETY: promised by the caller.
    let (bases, accesses) = unsafe { (entry.bases(info), entry.accesses(info)) };
    let sites = info.sites();
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    let mut anchors = vec![0u64; bases.len()];
    let mut pointer_ranges: Vec<(u64, u64)> = Vec::new();
    let mut dynamic = false;
    let (mut recorded_store, mut leaves_out) = (false, false);
    let (mut bounded, mut aligned) = (0u64, 0u64);
    let mut unrecorded: Vec<Unrecorded> = Vec::new();
    for (number, base) in bases.iter().enumerate() {
        let own: Vec<usize> = (0..sites.len()).filter(|&s| sites[s].base as usize == number).collect();
        if own.is_empty() {
            anchors[number] = base.pointer;
            bounded |= 1u64.checked_shl(number as u32).unwrap_or(0);
            continue;
        }
        if base.dynamic != 0 {
            dynamic = rows.is_none();
            recorded_store |= dynamic && own.iter().any(|&s| sites[s].has(PG_SITE_STORE));
            continue;
        }
        // An array that is left out (`if (mask) a[i] *= mask[i]`). Whoever comes there all the same gives up: without an array no access through the base is inside of it.
        if leads_nowhere(base) && own.iter().all(|&site| !sites[site].has(PG_SITE_UNCONDITIONAL)) {
            leaves_out = true;
            continue;
        }
        let (mut hull, mut seen): (Range, Range) = (None, None);
        let mut unknown = None;
        let is_stored = own.iter().any(|&s| sites[s].has(PG_SITE_STORE));
        // What loops store to stays the whole array, by which it is known again.
        let reached = reached.filter(|_| !is_stored);
        let mut windows_aligned = true;
        let extent = || {
            let object = (base.object_hi > base.object_lo).then_some((base.object_lo, base.object_hi));
            object.or_else(|| allocations.find(base.pointer))
        };
        // A window that isn't inside of its array says less than the array's extent; nor where memory ends.
        let within = |(lo, hi): (i128, i128)| match extent() {
            Some((first, end)) => i128::from(first) <= lo && hi <= i128::from(end),
            None => is_stored || is_there(lo, hi),
        };
        for &site in &own {
            let reach = Footprint::of(&sites[site], base, &accesses[site]).map(|f| f.total(&entry.trip));
            if let Some((lo, hi)) =
                reach.filter(|reach| sites[site].has(PG_SITE_HAS_AFFINE) || within(*reach))
            {
                windows_aligned &=
                    sites[site].has(PG_SITE_HAS_AFFINE) || is_aligned(base, &sites[site], &accesses[site]);
                // An inner loop without a turn: there is no access.
                if lo >= hi {
                    continue;
                }
                hull = joined(hull, Some((lo, hi)));
            } else {
                unknown = Some(sites[site].line);
                let its = reached.and_then(|reached| reached.get(site).copied()).flatten();
                seen = joined(seen, its.map(|(lo, hi)| (lo.into(), hi.into())));
                recorded_store |= sites[site].has(PG_SITE_STORE) && base.object_hi <= base.object_lo;
            }
        }
        let may_be =
            |s: &usize| !sites[*s].has(PG_SITE_HAS_AFFINE) || is_aligned(base, &sites[*s], &accesses[*s]);
        let are_aligned = number < 64 && own.iter().all(may_be);
        match (unknown, extent()) {
            (Some(_), Some(extent)) => {
                let whole = joined(hull, Some((extent.0.into(), extent.1.into())));
                let size = |range: Range| range.map_or(0, |(lo, hi)| (hi - lo).unsigned_abs());
                let (most, of) = WORTH_NARROWING;
                // Where nothing happens at all the device is given something all the same: the array has a place.
                let begin = (extent.0.into(), i128::from(extent.1.min(extent.0 + NOTHING)));
                let used = reached.and_then(|_| joined(hull, seen)).or(reached.map(|_| begin));
                hull = used
                    .filter(|used| within(*used))
                    .filter(|used| size(Some(*used)) * of <= size(whole) * most)
                    .or(whole);
            }
            (Some(line), None) => {
                // Around it lie other words that look like pointers.
                let is_table = rows.is_none() && own.iter().any(|&s| sites[s].has(PG_SITE_LOADS_POINTER));
                if is_table {
                    return Err(no_extent(line));
                }
                let all = joined(hull, seen).filter(|_| reached.is_some());
                let is_all = all.is_some();
                unrecorded.push(Unrecorded { base: number, line, hull: all.or(hull), is_all });
                aligned |= u64::from(are_aligned).checked_shl(number as u32).unwrap_or(0);
                continue;
            }
            _ => {}
        }
        let Some((lo, hi)) = hull else { continue };
        if lo <= 0 || hi > i64::MAX as i128 || lo >= hi {
            return Err(format!("the accesses in line {} leave the address space", sites[own[0]].line));
        }
        ranges.push((lo as u64, hi as u64));
        anchors[number] = lo as u64;
        if are_aligned {
            aligned |= 1 << number;
            bounded |= u64::from(unknown.is_none() && windows_aligned) << number;
        }
        if own.iter().any(|&s| sites[s].has(PG_SITE_LOADS_POINTER)) {
            pointer_ranges.push((lo as u64, hi as u64));
        }
    }
    if dynamic {
        // Pointers to pointers: follow what is there now, level by level.
        let mut seen = std::collections::BTreeSet::new();
        let mut level = 0;
        while !pointer_ranges.is_empty() && level < 4 {
            let mut next = Vec::new();
            for (lo, hi) in pointer_ranges {
                let words = safe_copy::words(lo, hi).map_err(|e| e.to_string())?;
                for extent in words.into_iter().filter_map(|w| allocations.find(w)) {
                    if seen.insert(extent) {
                        ranges.push(extent);
                        next.push(extent);
                    }
                }
            }
            // Only as deep as the loop loads pointers through pointers.
            let deeper = sites.iter().any(|s| {
                s.has(PG_SITE_LOADS_POINTER) && bases.get(s.base as usize).is_some_and(|b| b.dynamic != 0)
            });
            pointer_ranges = if deeper { next } else { Vec::new() };
            level += 1;
        }
    }
    ranges.extend(rows.into_iter().flatten().map(|row| (row.lo, row.hi)));
    // What the sites of a region do there; those without a base may come to any, unless it is known where their rows are.
    let has_rows = |(lo, hi): (u64, u64), is_store: bool| {
        rows.is_none_or(|rows| {
            let rows = &rows[rows.partition_point(|row| row.lo < lo)..];
            rows.iter().take_while(|row| row.lo < hi).any(|row| row.is_stored || !is_store)
        })
    };
    let here = |site: &Site, anchors: &[u64], (lo, hi): (u64, u64)| {
        let base = site.base as usize;
        match bases.get(base) {
            Some(base) if base.dynamic != 0 => has_rows((lo, hi), site.has(PG_SITE_STORE)),
            Some(_) => (lo..hi).contains(&anchors[base]),
            None => true,
        }
    };
    let is_written = |anchors: &[u64], region: &(u64, u64)| {
        sites.iter().any(|site| site.has(PG_SITE_STORE) && here(site, anchors, *region))
    };
    let mut arrays = merged(ranges);
    let stored: Vec<(u64, u64)> =
        arrays.iter().copied().filter(|array| is_written(&anchors, array)).collect();
    for array in &unrecorded {
        let place = surroundings(array, bases[array.base].pointer, &stored);
        let place = place.ok_or_else(|| no_extent(array.line))?;
        anchors[array.base] = place.0;
        arrays.push(place);
    }
    let arrays = merged(arrays);
    if arrays.len() > MAX_REGIONS {
        return Err(format!("it may reach {} separate arrays, more than are worth copying", arrays.len()));
    }
    let written: Vec<bool> = arrays.iter().map(|array| is_written(&anchors, array)).collect();
    for array in &unrecorded {
        let mut places = arrays.iter().zip(&written);
        if places.any(|((lo, hi), written)| *written && (*lo..*hi).contains(&anchors[array.base])) {
            return Err(no_extent(array.line));
        }
    }
    let tile = tile(info, &entry.trip, accesses);
    let across = across(info, tile, accesses);
    let mut placement = Placement {
        anchors,
        recorded_store,
        leaves_out,
        bounded,
        aligned,
        tile,
        across,
        ..Placement::default()
    };
    // Cells are as wide as what is noted allows. What is loaded where nothing is stored isn't.
    let watched =
        |flags: u32| flags & PG_SITE_STORE != 0 || (method.detects() && flags & PG_SITE_LOGGED != 0);
    let has_log = |site: &Site| {
        let mut regions = arrays.iter().zip(&written);
        regions.any(|(region, written)| *written && here(site, &placement.anchors, *region))
    };
    let widths =
        sites.iter().filter(|s| watched(s.flags) && has_log(s)).fold(0u32, |widths, s| widths | s.width);
    placement.log_shift = if widths == 0 { 0 } else { widths.trailing_zeros() };
    for ((lo, hi), written) in arrays.into_iter().zip(written) {
        let loads = |site: &&Site| !site.has(PG_SITE_STORE);
        let read = sites.iter().filter(loads).any(|site| here(site, &placement.anchors, (lo, hi)));
        // Where nothing is stored, no conflict can be: reads there need no log.
        let log = if written && method != LogMethod::None {
            // In bitmaps, an array's cells begin with a word.
            let first = placement.cells.next_multiple_of(CELLS_OF_WORD);
            placement.cells = first + ((hi - (lo & !63)) >> placement.log_shift) + 1;
            first
        } else {
            PG_NO_LOG
        };
        placement.regions.push(Region { lo, size: hi - lo, log, ..Region::default() });
        placement.snapshot.push(false);
        placement.written.push(written);
        placement.read.push(read);
    }
    Ok(placement)
}
