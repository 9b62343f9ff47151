//! Large pieces of memory that the C library's `malloc` has mapped for one caller: whole pages, in which nothing lies but that piece and what the library notes in front of
//! it. So all of them may be kept away with the array, and its first and last page need not be copied forth and back because somebody else's bytes are in them.

use super::places::PAGE;
use crate::memory::safe_copy;
use crate::memory::tracking::Range;

/// What stands in front of a piece: how far it is from the mapping's begin, and how long it is, with bits.
const NOTED: u64 = 16;
/// The bits of a length, and the only one of them that such a piece has.
const BITS: u64 = 7;
const IS_MAPPED: u64 = 2;

/// The pages that belong to what was recorded as an allocation. `None`: it isn't one of these. A record may be old, so what stands in front of it has to agree with it in
/// where it begins and, to a page, where it ends.
pub fn pages_of((lo, hi): Range) -> Option<Range> {
    let begin = lo.checked_sub(NOTED).filter(|begin| begin.is_multiple_of(PAGE))?;
    let [before, noted] = safe_copy::words(begin, lo).ok()?[..] else { return None };
    let length = noted & !BITS;
    let end = begin.checked_add(length)?;
    let agrees = before == 0
        && noted & BITS == IS_MAPPED
        && length.is_multiple_of(PAGE)
        && hi <= end
        && end - hi < PAGE + NOTED;
    agrees.then_some((begin, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_mapped_for_one_caller_has_pages_of_its_own() {
        for bytes in [64u64 << 20, (64 << 20) + 1, (64 << 20) - 16, (64 << 20) - 24] {
            // SAFETY: plain allocation.
            let memory = unsafe { libc::malloc(bytes as usize) };
            let lo = memory as u64;
            let (begin, end) = pages_of((lo, lo + bytes)).expect("large pieces are mapped");
            assert!(begin.is_multiple_of(PAGE) && end.is_multiple_of(PAGE));
            assert!(begin + NOTED == lo && end >= lo + bytes && end < lo + bytes + PAGE + NOTED);
            // Another's record.
            assert_eq!(pages_of((lo, lo + bytes + 2 * PAGE)), None);
            assert_eq!(pages_of((lo, lo + bytes - 2 * PAGE)), None);
            assert_eq!(pages_of((lo + PAGE, lo + bytes)), None);
            // SAFETY: allocated above.
            unsafe { libc::free(memory) };
            assert_eq!(pages_of((lo, lo + bytes)), None);
        }
        let mut small = vec![0u8; 1000];
        let lo = small.as_mut_ptr() as u64;
        assert_eq!(pages_of((lo, lo + 1000)), None);
        assert_eq!(pages_of((8, 100)), None);
        assert_eq!(pages_of((NOTED, PAGE)), None);
    }
}
