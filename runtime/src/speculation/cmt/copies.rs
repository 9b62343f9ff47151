//! A job's arrays on its device: the memory that it takes there, what is copied in, and where it is to be found what the loop has written. Which of them stay there behind the job is decided by
//! who has handed it over (`memory::coherence`).

use super::{Job, Kind, Report, given_up};
use crate::abi::{PG_NO_LOG, Region};
use crate::device::{Device, DeviceError, DevicePtr, LogMethod};
use crate::memory::coherence::Tenant;
use crate::memory::residency::{self, Lent, Residency};
use crate::memory::tracking::Range;
use crate::memory::{placement::Placement, safe_copy};
use crate::speculation::inspector::seen::Basis;
use crate::speculation::written::{Cells, Written};

/// What stays on a device is what it was before the job: from where it was saved, to where it is, so many bytes.
pub(super) fn undo(
    device: &mut dyn Device,
    saved: &[(DevicePtr, DevicePtr, u64)],
) -> Result<(), DeviceError> {
    saved.iter().try_for_each(|(copy, place, bytes)| device.duplicate(*copy, *place, *bytes))
}

/// A device's memory that a job has taken for itself.
pub(super) struct Taken<'a> {
    /// What may make room.
    pub(super) residency: &'a mut Residency,
    pub(super) pointers: Vec<DevicePtr>,
}

impl Taken<'_> {
    pub(super) fn allocate(&mut self, device: &mut dyn Device, bytes: u64) -> Result<DevicePtr, DeviceError> {
        let pointer = residency::allocate(device, self.residency, bytes)?;
        self.pointers.push(pointer);
        Ok(pointer)
    }
    pub(super) fn give_back(&mut self, device: &mut dyn Device, some: &[DevicePtr]) {
        self.pointers.retain(|pointer| {
            if some.contains(pointer) {
                device.free(*pointer);
            }
            !some.contains(pointer)
        });
    }
}

/// Bytes of a line of the device's memory.
const LINE: u64 = 128;

/// How far behind the beginning of a line an array has to lie that begins at `lo`, so that what a loop reaches first of it, at `first`, begins one, too: where it is
/// stored to, threads side by side then touch as few lines as can be. Elements of so many bytes stay aligned as they are; of others, which later loops may come
/// with, [`lay_out`](crate::memory::coherence::lay_out) asks.
fn behind_line(lo: u64, first: u64, widest: u64) -> u64 {
    lo.wrapping_sub(first & !(widest - 1)) % LINE
}

/// Gives the arrays that stay their places, and saves what may be needed again if the loop fails.
pub(super) fn move_in(
    device: &mut dyn Device,
    job: &Job,
    regions: &mut [Region],
    report: &mut Report,
    taken: &mut Taken<'_>,
    saved: &mut Vec<(DevicePtr, DevicePtr, u64)>,
) -> Result<(), DeviceError> {
    for tenant in job.tenants.iter() {
        let (lo, hi) = tenant.span;
        let (memory, at) = match tenant.found {
            Some(found) => found,
            None => {
                let memory = taken.allocate(device, hi - lo + 2 * LINE)?;
                let reached = tenant.regions.iter().map(|region| regions[*region].lo);
                (memory, memory.0 + behind_line(lo, reached.min().unwrap_or(lo), job.info.widest()))
            }
        };
        report.found.push((memory, at));
        for region in &tenant.regions {
            let region = &mut regions[*region];
            region.dev = at + (region.lo - lo);
        }
        // What is new is still in the program's memory.
        // Loops that nobody waits for are run again in any case.
        let saves = tenant.found.is_some() && !job.follows;
        for (first, end) in tenant.in_place.iter().filter(|_| saves) {
            let copy = taken.allocate(device, end - first)?;
            let place = DevicePtr(at + (first - lo));
            device.duplicate(place, copy, end - first)?;
            saved.push((copy, place, end - first));
        }
    }
    Ok(())
}

/// Copies a job's arrays to the device: all of them, but of those that were lent only what isn't there. False: the job was given up in between.
pub(super) fn copy_in(
    device: &mut dyn Device,
    job: &Job,
    regions: &[Region],
    remembered: &[(u64, u64, u64)],
    lent: &[Lent],
    report: &mut Report,
    make_ready: &mut dyn FnMut(&mut dyn Device) -> Result<(), DeviceError>,
) -> Result<bool, DeviceError> {
    let placement = &job.placement;
    let mut is_complete = true;
    for (now, last) in [(0, false), (1, true)] {
        // While the worker runs, and ahead of the copies that it doesn't wait for: so these are still under way when the loop is launched, and the GPU
        // doesn't wait for the host.
        if last && job.kind == Kind::Cuda && !placement.recorded_store && !given_up(job) {
            make_ready(device)?;
        }
        // What the loop only stores to need not be there: what it stored is all that is ever taken from it.
        // But for what stays, of which it has to be known what it is all over: it is copied first, whoever uses it.
        let is_copied =
            |index: &usize| tenant_of(job, *index).is_none() && turn(placement, *index) == Some(now);
        let wanted = (0..regions.len()).filter(is_copied);
        let parts = wanted.flat_map(|index| {
            let region = regions[index];
            let part = move |(lo, hi): Range| Region {
                lo,
                size: hi - lo,
                dev: region.dev + (lo - region.lo),
                ..region
            };
            match lent.iter().find(|lent| lent.region == index) {
                Some(lent) => lent.anew.iter().copied().map(part).collect(),
                None => vec![region],
            }
        });
        let staying = job.tenants.iter().zip(&report.found).filter(|_| now == 0);
        let missing = staying.flat_map(|(tenant, (_, at))| {
            let part = move |(lo, hi): &Range| Region {
                lo: *lo,
                size: hi - lo,
                dev: at + (lo - tenant.span.0),
                ..Region::default()
            };
            tenant.missing.iter().map(part)
        });
        let mut parts: Vec<Region> = parts.chain(missing).collect();
        parts.sort_unstable_by_key(|part| part.dev);
        let pieces: Vec<_> = parts.iter().map(|r| (r.lo, r.size, DevicePtr(r.dev))).collect();
        let mut instead: Vec<_> = parts.iter().flat_map(|part| kept_of(remembered, part)).collect();
        instead.sort_unstable_by_key(|(.., place)| place.0);
        if !given_up(job) {
            device.copy_in(&pieces, &instead)?;
            report.bytes_in += pieces.iter().map(|(_, bytes, _)| bytes).sum::<u64>();
        } else {
            is_complete = false;
        }
        if last == placement.recorded_store {
            job.seat.let_worker_start();
        }
    }
    Ok(is_complete)
}

/// What of a region is remembered, and has to be on the device as it was.
fn kept_of(remembered: &[(u64, u64, u64)], region: &Region) -> impl Iterator<Item = (u64, u64, DevicePtr)> {
    let Region { lo, size, dev, .. } = *region;
    let pieces = Basis::pieces(remembered, lo, size);
    pieces.map(move |(place, bytes, from)| (from, bytes, DevicePtr(dev + (place - lo))))
}

/// The array that stays in which a region lies.
fn tenant_of(job: &Job, region: usize) -> Option<&Tenant> {
    job.tenants.iter().find(|tenant| tenant.regions.contains(&region))
}

/// Which of the copies to the device a region is copied with: what may be written first. `None`: with none, because nothing reads it.
pub(super) fn turn(placement: &Placement, region: usize) -> Option<u8> {
    placement.read[region].then(|| u8::from(!placement.written[region]))
}

/// Gives each region its place on the device, `within(lo)` bytes behind a boundary of its lines. Regions that share an allocation lie in it by
/// [`turn`]: pieces of one copy that are near each other become one, and nobody else's may lie between them.
pub(super) fn allocate(
    device: &mut dyn Device,
    job: &Job,
    regions: &mut [Region],
    within: impl Fn(u64) -> u64,
    taken: &mut Taken<'_>,
) -> Result<(), DeviceError> {
    /// Regions up to this size ...
    const SMALL: u64 = 1 << 20;
    /// ... share one allocation where they are more than this, as the rows of a matrix that were allocated one by one.
    const MANY: usize = 16;
    let placement = &job.placement;
    let room = |region: &Region| (region.size + 64).next_multiple_of(LINE);
    let is_small = |index: &usize| regions[*index].dev == 0 && regions[*index].size <= SMALL;
    let mut sharing: Vec<usize> = (0..regions.len()).filter(is_small).collect();
    if sharing.len() <= MANY {
        sharing.clear();
    }
    sharing.sort_by_key(|index| turn(placement, *index).unwrap_or(u8::MAX));
    if !sharing.is_empty() {
        let block = taken.allocate(device, sharing.iter().map(|index| room(&regions[*index])).sum())?;
        let mut next = block.0;
        for index in sharing {
            regions[index].dev = next;
            next += room(&regions[index]);
        }
    }
    for (index, region) in regions.iter_mut().enumerate() {
        if region.dev == 0 {
            region.dev = taken.allocate(device, region.size + 64)?.0;
        }
        if tenant_of(job, index).is_none() {
            region.dev += within(region.lo);
        }
        region.snapshot = region.dev;
        region.before = region.dev;
    }
    Ok(())
}

/// What was written of each region that may be, by the bits that the device has for all cells.
pub(super) fn by_logs(
    device: &mut dyn Device,
    placement: &Placement,
    bits: DevicePtr,
    report: &mut Report,
) -> Result<Vec<(usize, Written)>, DeviceError> {
    let mut logs: Vec<(usize, Vec<u32>)> = Vec::new();
    let mut wanted = Vec::new();
    for (index, region) in placement.regions.iter().enumerate().filter(|(i, _)| placement.written[*i]) {
        if region.log == PG_NO_LOG {
            return Err(DeviceError::Kernel("a written array has no log".into()));
        }
        let (first, end) = placement.cells_of(index, region.lo & !63, region.lo + region.size);
        let first = LogMethod::Mark.words(first);
        logs.push((index, safe_copy::buffer(LogMethod::Mark.words(end) - first)?));
        wanted.push(DevicePtr(bits.0 + first * 4));
    }
    let as_bytes = |(_, log): &mut (usize, Vec<u32>)| {
        // SAFETY: a vector of words seen as its bytes.
        unsafe { std::slice::from_raw_parts_mut(log.as_mut_ptr().cast::<u8>(), log.len() * 4) }
    };
    let mut wanted: Vec<_> = wanted.into_iter().zip(logs.iter_mut().map(as_bytes)).collect();
    device.copy_out(&mut wanted)?;
    report.bytes_out += wanted.iter().map(|(_, log)| log.len() as u64).sum::<u64>();
    let told = |(index, log)| (index, Written::Cells(Cells::new(placement, index, log)));
    Ok(logs.into_iter().map(told).collect())
}

#[cfg(test)]
mod tests;
