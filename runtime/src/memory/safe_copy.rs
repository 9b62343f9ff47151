//! Reading the program's memory without the risk of a fault: the kernel copies, and says so when a page is not there.
//!
//! What a loop *may* touch is sometimes more than it does touch (a conditional access, a stale extent), so the memory in
//! between need not be mapped.

use super::mappings;
use crate::device::DeviceError;
use crate::device::pool::Pool;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Most bytes asked for in one call.
const CHUNK: u64 = 1 << 30;
/// The system's.
const PAGE: u64 = 1 << 12;

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

/// Copies bytes to the program's address `host`. False: some of it can't be stored to; the rest may have been.
///
/// # Safety
/// Nobody but the program has what lies there.
pub unsafe fn write(host: u64, bytes: &[u8]) -> bool {
    let mut done = 0;
    while done < bytes.len() {
        let length = (bytes.len() - done).min(CHUNK as usize);
        // SAFETY: the local side is a part of `bytes`; the remote side may be anything.
        let copied = unsafe {
            let local = libc::iovec { iov_base: bytes.as_ptr().add(done).cast_mut().cast(), iov_len: length };
            let remote = libc::iovec { iov_base: (host + done as u64) as *mut libc::c_void, iov_len: length };
            libc::process_vm_writev(libc::getpid(), &local, 1, &remote, 1, 0)
        };
        if copied <= 0 {
            return false;
        }
        done += copied as usize;
    }
    true
}

/// The same as [`read`] on several threads, where it is much.
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

/// Whether memory holds these bytes; memory that isn't there holds none. Looked at by several threads, where it is much.
pub fn equals(pool: &Pool, threads: usize, host: u64, bytes: &[u8]) -> bool {
    // So little that what was copied is still in the processor's cache when it is compared.
    const PART: usize = 64 << 10;
    const MUCH: usize = 1 << 20;
    let (next, differs) = (AtomicU64::new(0), AtomicBool::new(false));
    let compare = || {
        let mut now = vec![0u8; PART.min(bytes.len())];
        while !differs.load(Ordering::Relaxed) {
            let at = next.fetch_add(PART as u64, Ordering::Relaxed);
            let Some(part) = bytes.get(at as usize..).filter(|rest| !rest.is_empty()) else { return };
            let part = &part[..PART.min(part.len())];
            // SAFETY: the buffer has room for a part.
            let read = unsafe { read(host + at, part.len() as u64, now.as_mut_ptr()) };
            if read.is_err() || now[..part.len()] != *part {
                differs.store(true, Ordering::Relaxed);
            }
        }
    };
    pool.run(if bytes.len() <= MUCH { 1 } else { threads }, &compare);
    !differs.into_inner()
}

/// Whether memory is there, from the first byte of each range to its last: one byte of each of the system's pages is read.
pub fn are_there(ranges: &[(u64, u64)]) -> bool {
    /// Pages that one call asks for.
    const TOGETHER: usize = 64;
    let mut found = [0u8; TOGETHER];
    let mut remote = [libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 1 }; TOGETHER];
    ranges.iter().all(|(lo, hi)| {
        let mut next = *lo;
        while next < *hi {
            let mut count = 0;
            while count < TOGETHER && next < *hi {
                remote[count].iov_base = next as *mut libc::c_void;
                count += 1;
                next = (next / PAGE + 1) * PAGE;
            }
            let local = libc::iovec { iov_base: found.as_mut_ptr().cast(), iov_len: count };
            // SAFETY: there is room for a byte of each; the remote side may be anything.
            let copied = unsafe {
                libc::process_vm_readv(libc::getpid(), &local, 1, remote.as_ptr(), count as u64, 0)
            };
            if copied != count as isize {
                return false;
            }
        }
        true
    })
}

/// The memory around an address that is there without a gap and nowhere else: pages that have something of the `reach` bytes in front of it and of those from it on. What hasn't
/// been touched yet isn't: to ask for it could take a file's space, or wait for who serves a program's faults (`userfaultfd`). Nor is what others have, or other addresses
/// lead to, since what is stored there would be stored here, too. `None`: the address itself isn't there, or the system doesn't tell.
pub fn around(address: u64, reach: u64) -> Option<(u64, u64)> {
    // Pages, counted from address 0 on.
    let (first, own) = (address.saturating_sub(reach) / PAGE, address / PAGE);
    let end = address.checked_add(reach)?.checked_next_multiple_of(PAGE)? / PAGE;
    let known = pagemap(first, end)?;
    let kind = |page: &u64| known[(page - first) as usize];
    // From its own page on, as far as pages are what they have to be.
    let around_own = |may: &dyn Fn(&u64) -> bool| {
        let last = (own..end).take_while(may).last()?;
        let first = (first..own).rev().take_while(may).last().unwrap_or(own);
        Some((first * PAGE, (last + 1) * PAGE))
    };
    let is_alike = |page: &u64| kind(page).is_some() && kind(page) == kind(&own);
    let mut found = around_own(&is_alike)?;
    if !are_there(&[found]) {
        found = around_own(&|page| is_alike(page) && are_there(&[(page * PAGE, (page + 1) * PAGE)]))?;
    }
    let is_own = kind(&own) == Some(Kind::Anonymous) || mappings::is_private(found);
    is_own.then_some(found)
}

/// Whose a page is that is there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The process's.
    Anonymous,
    /// A file's, or one that processes share.
    OfFile,
}

/// What the system says of some pages, without touching them: `None` of those that aren't there. (`Documentation/admin-guide/mm/pagemap.rst` of Linux.)
fn pagemap(first: u64, end: u64) -> Option<Vec<Option<Kind>>> {
    const IS_PRESENT: u64 = 1 << 63;
    const IS_SWAPPED: u64 = 1 << 62;
    const IS_OF_FILE: u64 = 1 << 61;
    const ENTRY: usize = size_of::<u64>();
    let mut entries = vec![0u8; (end - first) as usize * ENTRY];
    let file = File::open("/proc/self/pagemap").ok()?;
    file.read_exact_at(&mut entries, first * ENTRY as u64).ok()?;
    let kind = |entry: &[u8]| {
        let bits = u64::from_ne_bytes(entry.try_into().ok()?);
        let kind = if bits & IS_OF_FILE != 0 { Kind::OfFile } else { Kind::Anonymous };
        (bits & (IS_PRESENT | IS_SWAPPED) != 0).then_some(kind)
    };
    Some(entries.chunks_exact(ENTRY).map(kind).collect())
}

/// The same on several threads, where it is much.
pub fn are_there_on(pool: &Pool, threads: usize, ranges: &[(u64, u64)]) -> bool {
    const PART: u64 = 1 << 20;
    let split = |(lo, hi): &(u64, u64)| {
        let (lo, hi) = (*lo, *hi);
        (lo..hi).step_by(PART as usize).map(move |from| (from, hi.min(from + PART)))
    };
    let parts: Vec<(u64, u64)> = ranges.iter().flat_map(split).collect();
    let (next, is_missing) = (AtomicUsize::new(0), AtomicBool::new(false));
    let look = || {
        while !is_missing.load(Ordering::Relaxed) {
            let Some(part) = parts.get(next.fetch_add(1, Ordering::Relaxed)) else { return };
            if !are_there(&[*part]) {
                is_missing.store(true, Ordering::Relaxed);
            }
        }
    };
    pool.run(if parts.len() < 8 { 1 } else { threads }, &look);
    !is_missing.into_inner()
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

/// The 8-byte words of ranges of whole words, which need not be aligned, one range behind the other; or an error where memory is missing.
pub fn words_of(ranges: &[(u64, u64)]) -> Result<Vec<u64>, DeviceError> {
    /// Ranges that one call reads: the system's limit.
    const TOGETHER: usize = 1024;
    let bytes = |ranges: &[(u64, u64)]| ranges.iter().map(|(lo, hi)| hi.saturating_sub(*lo)).sum::<u64>();
    let mut out: Vec<u64> = buffer(bytes(ranges) / 8)?;
    let mut to = out.as_mut_ptr().cast::<u8>();
    let mut left = size_of_val(&out[..]) as u64;
    for ranges in ranges.chunks(TOGETHER) {
        let wanted = bytes(ranges).min(left);
        let remote: Vec<libc::iovec> = (ranges.iter())
            .map(|(lo, hi)| libc::iovec {
                iov_base: *lo as *mut libc::c_void,
                iov_len: hi.saturating_sub(*lo) as usize,
            })
            .collect();
        let local = libc::iovec { iov_base: to.cast(), iov_len: wanted as usize };
        // SAFETY: `wanted` bytes are left of the buffer behind `to`; the remote side may be anything.
        let copied = unsafe {
            libc::process_vm_readv(libc::getpid(), &local, 1, remote.as_ptr(), remote.len() as u64, 0)
        };
        if copied < 0 || copied as u64 != wanted {
            let at = ranges.first().map_or(0, |(lo, _)| *lo);
            return Err(DeviceError::HostMemory(at, wanted));
        }
        // SAFETY: as many bytes as were left, at most.
        to = unsafe { to.add(wanted as usize) };
        left -= wanted;
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparison_sees_every_byte() {
        let bytes: Vec<u8> = (0..3_000_001u32).map(|i| (i * 7 + i / 251) as u8).collect();
        let mut memory = bytes.clone();
        let pool = Pool::default();
        let same = |memory: &[u8], threads| equals(&pool, threads, memory.as_ptr() as u64, &bytes);
        for threads in [1, 3] {
            assert!(same(&memory, threads));
            for at in [0, 1, (64 << 10) - 1, 64 << 10, 2_000_000, 3_000_000] {
                memory[at] ^= 1;
                assert!(!same(&memory, threads), "{at}");
                memory[at] ^= 1;
            }
        }
        assert!(equals(&pool, 2, 0x1000, &[]));
        // Nothing is mapped there.
        assert!(!equals(&pool, 2, 0x1000, &bytes));
    }

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

    #[test]
    fn surroundings_end_where_nothing_is() {
        const PAGES: u64 = 40;
        let (length, none) = ((PAGES * PAGE) as usize, std::ptr::null_mut());
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: fresh memory, of ours alone.
        let start =
            unsafe { libc::mmap(none, length, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) } as u64;
        let touch = |pages: std::ops::Range<u64>| {
            // SAFETY: as above.
            pages.for_each(|page| unsafe { ((start + page * PAGE) as *mut u8).write(1) });
        };
        touch(0..PAGES);
        let at = |page: u64| start + page * PAGE;
        // What is in front of all that and behind it isn't known: two pages of it shut.
        for shut in [0, PAGES - 1] {
            // SAFETY: as above.
            assert_eq!(unsafe { libc::mprotect(at(shut) as *mut _, PAGE as usize, libc::PROT_NONE) }, 0);
        }
        assert_eq!(around(at(20) + 5, 16 * PAGE), Some((at(4), at(37))));
        assert_eq!(around(at(20), 16 * PAGE), Some((at(4), at(36))));
        assert_eq!(around(at(20) + 5, 30 * PAGE), Some((at(1), at(PAGES - 1))));
        assert_eq!(around(at(1), 3 * PAGE), Some((at(1), at(4))));
        assert_eq!(around(at(PAGES - 2) + 4095, 3 * PAGE), Some((at(PAGES - 5), at(PAGES - 1))));
        for nowhere in [at(0) + 8, at(PAGES - 1), 8, u64::MAX - 8] {
            assert_eq!(around(nowhere, 2 * PAGE), None);
        }
        // What isn't touched stays so.
        // SAFETY: as above.
        unsafe { libc::madvise(at(10) as *mut _, PAGE as usize, libc::MADV_DONTNEED) };
        assert_eq!(around(at(12), 4 * PAGE), Some((at(11), at(16))));
        assert_eq!(around(at(10), 4 * PAGE), None);
        touch(10..11);
        assert_eq!(around(at(12), 4 * PAGE), Some((at(8), at(16))));
        // SAFETY: as above.
        unsafe { libc::munmap(start as *mut _, length) };
    }

    #[test]
    fn what_others_have_is_nobodys_surroundings() {
        const LENGTH: usize = 8 * PAGE as usize;
        let mapped = |how: libc::c_int| {
            let all = libc::PROT_READ | libc::PROT_WRITE;
            // SAFETY: fresh memory, of ours alone; and a file without a name.
            unsafe {
                let file = libc::memfd_create(c"test".as_ptr(), 0);
                assert_eq!(libc::ftruncate(file, LENGTH as i64), 0);
                let start = libc::mmap(std::ptr::null_mut(), LENGTH, all, how, file, 0) as u64;
                (0..8).for_each(|page| _ = ((start + page * PAGE) as *const u8).read_volatile());
                let found = around(start + 4 * PAGE, 2 * PAGE).map(|(lo, hi)| (lo - start, hi - start));
                libc::munmap(start as *mut _, LENGTH);
                libc::close(file);
                found
            }
        };
        assert_eq!(mapped(libc::MAP_SHARED), None);
        assert_eq!(mapped(libc::MAP_PRIVATE), Some((2 * PAGE, 6 * PAGE)));
        // Literals are of a file.
        let text = "a constant".as_ptr() as u64;
        // SAFETY: a byte of it.
        unsafe { (text as *const u8).read_volatile() };
        assert!(around(text, 64 << 10).is_some_and(|(lo, hi)| lo <= text && text < hi));
    }
}
