//! Memory of ours for what comes back from a device, until it is committed. It is as large as the program's arrays and used once for each
//! entry, so what the system does for new memory would take longer than the copies: such buffers are on huge pages, nobody clears
//! them, whoever copies into them touches them first, and some are kept for the next entry.

use super::limits;
use crate::device::DeviceError;
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError};

/// From here on, memory is worth being kept, and on huge pages.
const LARGE: usize = 4 << 20;
static KEPT_BUFFERS: Mutex<Vec<Mapping>> = Mutex::new(Vec::new());

/// Memory that nobody else uses.
#[derive(Debug)]
struct Mapping {
    start: *mut u8,
    bytes: usize,
}

// SAFETY: it belongs to no thread, and its owner is alone with it.
unsafe impl Send for Mapping {}
// SAFETY: shared, it is only read.
unsafe impl Sync for Mapping {}

impl Mapping {
    fn new(bytes: usize) -> Option<Mapping> {
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: new memory, at an address that the system chooses.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, kind, -1, 0) };
        if start == libc::MAP_FAILED {
            return None;
        }
        if bytes >= LARGE {
            // SAFETY: our own memory; where there are no huge pages, nothing happens.
            unsafe { libc::madvise(start, bytes, libc::MADV_HUGEPAGE) };
        }
        Some(Mapping { start: start.cast(), bytes })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped by `new`, and nobody uses it any more.
        unsafe { libc::munmap(self.start.cast(), self.bytes) };
    }
}

/// So many bytes, of no particular value at first.
#[derive(Debug, Default)]
pub struct Buffer {
    /// `None` when it is gone, and where there are none.
    memory: Option<Mapping>,
    length: usize,
}

impl Buffer {
    /// A buffer of `length` bytes; no memory is an error, not the end of the process.
    pub fn new(length: u64) -> Result<Buffer, DeviceError> {
        let none = DeviceError::OutOfMemory(length);
        let Ok(length) = usize::try_from(length) else { return Err(none) };
        let memory = match Buffer::kept(length) {
            Some(memory) => memory,
            None => Mapping::new(length.max(1)).ok_or(none)?,
        };
        Ok(Buffer { memory: Some(memory), length })
    }

    fn kept(length: usize) -> Option<Mapping> {
        if length < LARGE {
            return None;
        }
        let mut kept = KEPT_BUFFERS.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |memory: &Mapping| memory.bytes >= length && memory.bytes / 2 <= length;
        kept.iter().position(fits).map(|number| kept.swap_remove(number))
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let Some(memory) = self.memory.take().filter(|memory| memory.bytes >= LARGE) else { return };
        let mut kept = KEPT_BUFFERS.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push(memory);
        while kept.iter().map(|memory| memory.bytes as u64).sum::<u64>() > limits::to_keep() {
            // The oldest first: sizes change with what the program does.
            kept.remove(0);
        }
    }
}

impl Deref for Buffer {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        let start = self.memory.as_ref().map_or(std::ptr::dangling(), |memory| memory.start.cast_const());
        // SAFETY: mapped memory has a value, and there are so many bytes; it lives as long as the buffer.
        unsafe { std::slice::from_raw_parts(start, self.length) }
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        let start = self.memory.as_ref().map_or(std::ptr::dangling_mut(), |memory| memory.start);
        // SAFETY: as above, and nobody else has it.
        unsafe { std::slice::from_raw_parts_mut(start, self.length) }
    }
}

#[cfg(test)]
impl From<&[u8]> for Buffer {
    fn from(bytes: &[u8]) -> Buffer {
        let mut buffer = Buffer::new(bytes.len() as u64).expect("no memory");
        buffer.copy_from_slice(bytes);
        buffer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_buffers_are_used_again() {
        let mut first = Buffer::new(40 << 20).unwrap();
        first[(40 << 20) - 1] = 7;
        let start = first.as_ptr();
        drop(first);
        let second = Buffer::new(30 << 20).unwrap();
        assert_eq!((second.as_ptr(), second.len()), (start, 30 << 20));
        // Neither one that is in use nor one that is much too large.
        assert_ne!(Buffer::new(30 << 20).unwrap().as_ptr(), start);
        drop(second);
        assert_ne!(Buffer::new(5 << 20).unwrap().as_ptr(), start);
        let empty = Buffer::new(0).unwrap();
        assert!(empty.is_empty());
        assert!(matches!(Buffer::new(1 << 60), Err(DeviceError::OutOfMemory(_))));
    }
}
