//! Reading the program's memory without the risk of a fault: the kernel copies, and says so when a page is not there.
//!
//! What a loop *may* touch is sometimes more than it does touch (a conditional access, a stale extent), so the memory in
//! between need not be mapped.

use crate::device::DeviceError;
use crate::device::pool::Pool;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Most bytes asked for in one call.
const CHUNK: u64 = 1 << 30;

/// Copies `bytes` from the program's address `host` to `to`.
///
/// # Safety
/// `to` leads to `bytes` writable bytes of ours.
pub unsafe fn read(host: u64, bytes: u64, to: *mut u8) -> Result<(), DeviceError> {
    let mut done = 0u64;
    while done < bytes {
        let length = (bytes - done).min(CHUNK) as usize;
        // SAFETY: `to + done` stays within what the caller promised; the remote side may be anything.
        let copied = unsafe {
            let local = libc::iovec { iov_base: to.add(done as usize).cast(), iov_len: length };
            let remote = libc::iovec { iov_base: (host + done) as *mut libc::c_void, iov_len: length };
            libc::process_vm_readv(libc::getpid(), &local, 1, &remote, 1, 0)
        };
        if copied <= 0 {
            return Err(DeviceError::HostMemory(host + done, bytes - done));
        }
        done += copied as u64;
    }
    Ok(())
}

/// The same on several threads, where it is much.
///
/// # Safety
/// As for [`read`].
pub unsafe fn read_on(
    pool: &Pool,
    threads: usize,
    host: u64,
    bytes: u64,
    to: *mut u8,
) -> Result<(), DeviceError> {
    const PART: u64 = 4 << 20;
    let (failed, next, to) = (Mutex::new(None), AtomicU64::new(0), to as u64);
    let copy = || {
        loop {
            let at = next.fetch_add(PART, Ordering::Relaxed);
            if at >= bytes {
                return;
            }
            // SAFETY: promised by the caller; parts are disjoint.
            if let Err(error) = unsafe { read(host + at, PART.min(bytes - at), (to + at) as *mut u8) } {
                *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            }
        }
    };
    pool.run(if bytes <= PART { 1 } else { threads }, &copy);
    failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

/// Whether the system lets us read our own memory in this way; some sandboxes don't.
pub fn permitted() -> bool {
    static PERMITTED: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *PERMITTED.get_or_init(|| {
        let (source, mut target) = (0x5au8, 0u8);
        // SAFETY: one byte each.
        unsafe { read(&raw const source as u64, 1, &raw mut target) }.is_ok() && target == source
    })
}

/// A buffer of ours of `count` zeros; no memory is an error, not the end of the process.
pub fn buffer<T: Clone + Default>(count: u64) -> Result<Vec<T>, DeviceError> {
    let none = || DeviceError::OutOfMemory(count.saturating_mul(size_of::<T>() as u64));
    let count = usize::try_from(count).map_err(|_| none())?;
    let mut out = Vec::new();
    out.try_reserve_exact(count).map_err(|_| none())?;
    out.resize(count, T::default());
    Ok(out)
}

/// The 8-byte words of `[lo, hi)` (aligned inwards), or an error where memory is missing.
pub fn words(lo: u64, hi: u64) -> Result<Vec<u64>, DeviceError> {
    let lo = lo.checked_add(7).map_or(u64::MAX, |v| v & !7);
    let count = hi.saturating_sub(lo) / 8;
    let mut out: Vec<u64> = buffer(count)?;
    // SAFETY: `out` has exactly `count * 8` bytes.
    unsafe { read(lo, count * 8, out.as_mut_ptr().cast())? };
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unmapped_memory_is_an_error() {
        let source = [1u8, 2, 3, 4];
        let mut target = [0u8; 4];
        // SAFETY: four bytes each.
        unsafe { read(source.as_ptr() as u64, 4, target.as_mut_ptr()).unwrap() };
        assert_eq!(source, target);
        // SAFETY: the target has room; the source is the zero page, never mapped.
        assert!(unsafe { read(64, 4, target.as_mut_ptr()) }.is_err());
    }
}
