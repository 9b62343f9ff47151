//! Whether the program could store to memory. A loop whose result comes from elsewhere stores it all at once, after the loop; where the
//! program itself would have come to grief in the middle, at memory that it may not write, the loop has to run as it stood. Asking
//! changes no byte, and lets no signal handler of the program's see anything.

use crate::device::pool::Pool;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// `MADV_POPULATE_WRITE`: makes pages ready to be written as a store would, without one (Linux 5.14).
const POPULATE_WRITE: libc::c_int = 23;

fn page_size() -> u64 {
    // SAFETY: no preconditions.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as u64 }
}

fn populate(lo: u64, hi: u64) -> bool {
    loop {
        // SAFETY: whatever lies there, no byte of it changes, and memory that isn't there is an error.
        if unsafe { libc::madvise(lo as *mut libc::c_void, (hi - lo) as usize, POPULATE_WRITE) } == 0 {
            return true;
        }
        if std::io::Error::last_os_error().kind() != std::io::ErrorKind::Interrupted {
            return false;
        }
    }
}

/// Whether the system can be asked; older ones have a list of what is mapped.
fn can_be_asked() -> bool {
    static CAN: OnceLock<bool> = OnceLock::new();
    *CAN.get_or_init(|| {
        let mut own = vec![0u8; 2 * page_size() as usize];
        let lo = (own.as_mut_ptr() as u64).next_multiple_of(page_size());
        populate(lo, lo + page_size())
    })
}

/// What is mapped for writing, in ascending order; neighbours are one.
fn mapped() -> Option<Vec<(u64, u64)>> {
    let text = std::fs::read_to_string("/proc/self/maps").ok()?;
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for line in text.lines() {
        let (range, rest) = line.split_once(' ')?;
        let (lo, hi) = range.split_once('-')?;
        if rest.as_bytes().get(1) != Some(&b'w') {
            continue;
        }
        let (lo, hi) = (u64::from_str_radix(lo, 16).ok()?, u64::from_str_radix(hi, 16).ok()?);
        match ranges.last_mut() {
            Some(last) if last.1 == lo => last.1 = hi,
            _ => ranges.push((lo, hi)),
        }
    }
    Some(ranges)
}

/// Whether the program may store to all of these ranges of addresses, none of them empty, in ascending order. Pages that nobody has used
/// yet are made ready by several threads, where they are many.
pub fn is_writable(pool: &Pool, threads: usize, ranges: impl Iterator<Item = (u64, u64)>) -> bool {
    const PART: u64 = 4 << 20;
    let page = page_size();
    let mut pages: Vec<(u64, u64)> = Vec::new();
    for (lo, hi) in ranges {
        let (lo, hi) = (lo & !(page - 1), hi.next_multiple_of(page));
        match pages.last_mut() {
            Some(last) if (last.0..=last.1).contains(&lo) => last.1 = last.1.max(hi),
            _ => pages.push((lo, hi)),
        }
    }
    if !can_be_asked() {
        return mapped().is_some_and(|mapped| lie_within(&pages, &mapped));
    }
    let bytes: u64 = pages.iter().map(|(lo, hi)| hi - lo).sum();
    if bytes <= PART {
        return pages.into_iter().all(|(lo, hi)| populate(lo, hi));
    }
    let parts: Vec<(u64, u64)> = pages
        .into_iter()
        .flat_map(|(lo, hi)| (lo..hi).step_by(PART as usize).map(move |from| (from, hi.min(from + PART))))
        .collect();
    let (next, refused) = (AtomicUsize::new(0), AtomicBool::new(false));
    pool.run(threads, &|| {
        while let Some((lo, hi)) = parts.get(next.fetch_add(1, Ordering::Relaxed)) {
            if refused.load(Ordering::Relaxed) || !populate(*lo, *hi) {
                refused.store(true, Ordering::Relaxed);
                return;
            }
        }
    });
    !refused.into_inner()
}

/// Whether each of some ranges lies in one of others.
fn lie_within(ranges: &[(u64, u64)], others: &[(u64, u64)]) -> bool {
    ranges.iter().all(|(lo, hi)| {
        let after = others.partition_point(|other| other.0 <= *lo);
        after.checked_sub(1).is_some_and(|at| *hi <= others[at].1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_may_not_be_written_is_told() {
        let page = page_size();
        let none = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let (read, write) = (libc::PROT_READ, libc::PROT_READ | libc::PROT_WRITE);
        // SAFETY: a mapping of our own, whose pages nobody else knows.
        let start = unsafe {
            let start = libc::mmap(std::ptr::null_mut(), 4 * page as usize, write, none, -1, 0);
            assert_ne!(start, libc::MAP_FAILED);
            start.cast::<u8>().write(7);
            for (number, protection) in [(1, read), (3, libc::PROT_NONE)] {
                let at = start.cast::<u8>().add(number * page as usize).cast();
                assert_eq!(libc::mprotect(at, page as usize, protection), 0);
            }
            start as u64
        };
        let pool = Pool::default();
        let may = |ranges: &[(u64, u64)]| is_writable(&pool, 3, ranges.iter().copied());
        let mapped = mapped().unwrap();
        for (ranges, expected) in [
            (&[(start, start + 1)][..], true),
            (&[(start + page - 1, start + page)], true),
            (&[(start + page - 1, start + page + 1)], false),
            (&[(start + 2 * page, start + 3 * page)], true),
            (&[(start + 2 * page, start + 3 * page + 1)], false),
            // What lies between need not be.
            (&[(start, start + 8), (start + 2 * page, start + 2 * page + 8)], true),
            (&[(start, start + 8), (start + page, start + page + 8)], false),
            (&[(page, 2 * page)], false),
            (&[], true),
        ] {
            assert_eq!(may(ranges), expected, "{ranges:?} of {start:x}");
            let pages: Vec<_> =
                ranges.iter().map(|(lo, hi)| (lo & !(page - 1), hi.next_multiple_of(page))).collect();
            assert_eq!(lie_within(&pages, &mapped), expected, "{ranges:?} of {start:x}");
        }
        // So much that it is asked for in parts.
        let mut much = vec![1u8; 20 << 20];
        let lo = (much.as_mut_ptr() as u64).next_multiple_of(page);
        assert!(may(&[(lo, lo + (19 << 20))]));
        assert!(!may(&[(lo, lo + (19 << 20)), (u64::MAX / 2, u64::MAX / 2 + (6 << 20))]));
        assert!(much.iter().all(|byte| *byte == 1));
        // SAFETY: it is still there.
        assert_eq!(unsafe { (start as *const u8).read() }, 7);
    }
}
