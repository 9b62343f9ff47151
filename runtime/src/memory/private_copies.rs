//! Copies of arrays for each thread, for loops that run in place and whose iterations use some arrays as room of their own: they
//! store to an element before they load it, and all to the same ones.
//!
//! What a thread's iterations leave in its copy nobody looks at. The last iteration runs on the array itself, so that it is left as
//! the program would leave it. That these accesses can't tell a copy from the array, and that no other access of the loop touches
//! it, the compiler and `speculation::predicate` have shown.

use super::snapshot::touched;
use super::{limits, safe_copy};
use crate::abi::{Base, Entry, Info, PG_SITE_PRIVATE};
use crate::device::DeviceError;
use crate::device::pool::Pool;

/// The copies of all threads.
pub struct PrivateCopies {
    /// An entry's bases for each thread, which lead into `_memory`.
    bases: Vec<Box<[Base]>>,
    _memory: Vec<Vec<u8>>,
}

impl PrivateCopies {
    /// Copies what the loop may touch of these arrays, for so many threads. No memory, or memory that isn't there, is an error.
    ///
    /// # Safety
    /// `entry` was filled in by generated code for `info` and is alive.
    pub unsafe fn make(
        pool: &Pool,
        threads: usize,
        info: &Info,
        entry: &Entry,
    ) -> Result<PrivateCopies, DeviceError> {
        // SAFETY: promised by the caller.
        let (at_entry, accesses) = unsafe { (entry.bases(info), entry.accesses(info)) };
        let mut bases: Vec<Box<[Base]>> = (0..threads.max(1)).map(|_| at_entry.into()).collect();
        let mut memory = Vec::new();
        for (number, base) in at_entry.iter().enumerate() {
            let sites = info.sites().iter().zip(accesses);
            let own = sites.filter(|(site, _)| site.base as usize == number && site.has(PG_SITE_PRIVATE));
            let Some((lo, bytes)) = touched(base, own.map(|(_, access)| access), &entry.trip)? else {
                continue;
            };
            // Whole cache lines of its own, and the array's place within a line, so that alignment is the same.
            let room = bytes.checked_next_multiple_of(64).and_then(|room| room.checked_add(128));
            let all = room.and_then(|room| room.checked_mul(bases.len() as u64));
            let none = || DeviceError::OutOfMemory(bytes);
            let (room, all) = room.zip(all).ok_or_else(none)?;
            if !limits::fits(all.saturating_mul(2)) {
                return Err(none());
            }
            let mut copies: Vec<u8> = Vec::new();
            copies.try_reserve_exact(usize::try_from(all).map_err(|_| none())? + 64).map_err(|_| none())?;
            let first = (copies.as_mut_ptr() as u64).next_multiple_of(64) + (lo & 63);
            for (thread, own) in bases.iter_mut().enumerate() {
                let start = first + thread as u64 * room;
                // SAFETY: there is room for so many bytes behind it.
                unsafe { safe_copy::read_on(pool, threads, lo, bytes, start as *mut u8)? };
                own[number].snapshot = start.wrapping_sub(lo);
            }
            memory.push(copies);
        }
        Ok(PrivateCopies { bases, _memory: memory })
    }

    /// The entry whose accesses find the copies of thread `thread`; `None`: there are not so many.
    pub fn entry(&self, entry: &Entry, thread: usize) -> Option<Entry> {
        // Generated code only reads them.
        Some(Entry { bases: self.bases.get(thread)?.as_ptr().cast_mut(), ..*entry })
    }
}
