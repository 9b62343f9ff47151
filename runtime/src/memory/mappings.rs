//! What the system's list of mappings (`/proc/self/maps`) says of a range of the program's memory at one moment. To read the list takes 50 microseconds and more, so it isn't for what is asked at
//! each entry. Whether memory can be read is asked of [`readable`](super::readable) and [`safe_copy`](super::safe_copy).

use super::tracking::Range;
use std::fs;

/// Whether nobody but the program sees what is stored to a range.
pub fn is_private(range: Range) -> bool {
    are_all(range, |access, _, _| access.ends_with('p'))
}

/// Whether all of a range is mapped, and its mappings are such ones: what the system says of their access, their file and their name.
pub fn are_all((lo, hi): Range, is_one: impl Fn(&str, &str, &str) -> bool) -> bool {
    let Ok(maps) = fs::read_to_string("/proc/self/maps") else { return false };
    let mut at = lo;
    for line in maps.lines() {
        let mut fields = line.split_ascii_whitespace();
        let bounds = fields.next().and_then(|bounds| bounds.split_once('-'));
        let bounds = bounds.and_then(|(lo, hi)| {
            Some((u64::from_str_radix(lo, 16).ok()?, u64::from_str_radix(hi, 16).ok()?))
        });
        let Some((first, end)) = bounds else { return false };
        if end <= at {
            continue;
        }
        if at < first {
            return false;
        }
        let (access, file) = (fields.next().unwrap_or(""), fields.nth(2).unwrap_or(""));
        if !is_one(access, file, fields.next().unwrap_or("")) {
            return false;
        }
        at = end;
        if hi <= at {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_memory_and_gaps_are_not_private() {
        const PAGE: u64 = 4096;
        let mapped = |length: u64, how: libc::c_int| {
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let how = how | libc::MAP_ANONYMOUS;
            // SAFETY: fresh memory, of ours alone.
            unsafe { libc::mmap(std::ptr::null_mut(), length as usize, access, how, -1, 0) as u64 }
        };
        let (private, shared) = (mapped(4 * PAGE, libc::MAP_PRIVATE), mapped(PAGE, libc::MAP_SHARED));
        assert!(is_private((private, private + 4 * PAGE)) && is_private((private + 5, private + 6)));
        assert!(!is_private((shared, shared + 1)) && !is_private((64, 128)));
        // SAFETY: as above.
        unsafe { libc::munmap((private + PAGE) as *mut _, PAGE as usize) };
        assert!(
            !is_private((private, private + 4 * PAGE)) && !is_private((private + PAGE, private + 2 * PAGE))
        );
        assert!(
            is_private((private, private + PAGE)) && is_private((private + 2 * PAGE, private + 4 * PAGE))
        );
        for (start, length) in [(private, 4 * PAGE), (shared, PAGE)] {
            // SAFETY: as above.
            unsafe { libc::munmap(start as *mut _, length as usize) };
        }
    }
}
