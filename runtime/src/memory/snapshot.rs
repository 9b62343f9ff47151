//! Copies of arrays as they were before a loop, for loops that run in place: loads whose only dependences are anti dependences
//! are made from them, so that no iteration has to wait for another one's load.
//!
//! Devices work on copies in any case, and keep a second one (`Placement::snapshot`). Which loads these are, and that a
//! snapshot has all that they would find, the compiler and `speculation::predicate` have shown.

use super::{limits, safe_copy};
use crate::abi::{Access, Base, Entry, Info, PG_MAX_DIMS, PG_SITE_SNAPSHOT};
use crate::device::DeviceError;
use crate::device::pool::Pool;
use crate::speculation::predicate::Footprint;

/// What some accesses of a base may touch in all iterations: where it begins, and how many bytes. An error, if that is no range of addresses.
pub fn touched<'a>(
    base: &Base,
    accesses: impl Iterator<Item = &'a Access>,
    trip: &[i64; PG_MAX_DIMS],
) -> Result<Option<(u64, u64)>, DeviceError> {
    let totals = accesses.map(|access| Footprint::new(base, access).total(trip));
    let Some((lo, hi)) = totals.reduce(|(a, b), (c, d)| (a.min(c), b.max(d))) else { return Ok(None) };
    let no_range = |_| DeviceError::HostMemory(base.pointer, 0);
    let (lo, hi) = (u64::try_from(lo).map_err(no_range)?, u64::try_from(hi).map_err(no_range)?);
    Ok(Some((lo, hi.saturating_sub(lo))))
}

/// An entry whose loads from snapshots find them.
pub struct Snapshot {
    /// The entry, with `bases` instead of its own.
    entry: Entry,
    /// They lead into `copies`.
    _bases: Box<[Base]>,
    _copies: Vec<Vec<u8>>,
}

impl Snapshot {
    /// Copies what the loads may touch. No memory, or memory that isn't there, is an error.
    ///
    /// # Safety
    /// `entry` was filled in by generated code for `info` and is alive for as long as the snapshot.
    pub unsafe fn take(
        pool: &Pool,
        threads: usize,
        info: &Info,
        entry: &Entry,
    ) -> Result<Snapshot, DeviceError> {
        // SAFETY: promised by the caller.
        let (bases, accesses) = unsafe { (entry.bases(info), entry.accesses(info)) };
        let mut bases: Box<[Base]> = bases.into();
        let mut copies = Vec::new();
        for (number, base) in bases.iter_mut().enumerate() {
            let sites = info.sites().iter().zip(accesses);
            let own = sites.filter(|(site, _)| site.base as usize == number && site.has(PG_SITE_SNAPSHOT));
            let Some((lo, bytes)) = touched(base, own.map(|(_, access)| access), &entry.trip)? else {
                continue;
            };
            let none = || DeviceError::OutOfMemory(bytes);
            if !limits::fits(2 * bytes) {
                return Err(none());
            }
            let mut copy: Vec<u8> = Vec::new();
            copy.try_reserve_exact(usize::try_from(bytes).map_err(|_| none())? + 128).map_err(|_| none())?;
            // The same place within a cache line, so that alignment is the same.
            let room = copy.as_mut_ptr() as u64;
            let start = room.next_multiple_of(64) + (lo & 63);
            // SAFETY: there is room for so many bytes behind it.
            unsafe { safe_copy::read_on(pool, threads, lo, bytes, start as *mut u8)? };
            base.snapshot = start.wrapping_sub(lo);
            copies.push(copy);
        }
        let entry = Entry { bases: bases.as_mut_ptr(), ..*entry };
        Ok(Snapshot { entry, _bases: bases, _copies: copies })
    }

    /// The entry whose loads find the snapshot.
    pub fn entry(&self) -> &Entry {
        &self.entry
    }
}
