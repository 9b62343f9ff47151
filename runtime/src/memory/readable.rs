//! Which of the program's memory may be read, as the system lists it at one moment. To ask page by page takes as long as to read them; a list is made once. It
//! holds as long as nobody maps or unmaps anything, which is the caller's to know.

use super::safe_copy;
use std::fs;

/// Memory that may be read, in ascending ranges without gaps between their pages.
#[derive(Default)]
pub struct Readable {
    ranges: Vec<(u64, u64)>,
}

impl Readable {
    /// As it is now. Files aren't in it: what lies behind a file's end is mapped, and faults.
    pub fn now() -> Readable {
        Readable::of(&fs::read_to_string("/proc/self/maps").unwrap_or_default())
    }

    fn of(maps: &str) -> Readable {
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for (lo, hi) in maps.lines().filter_map(anonymous) {
            match ranges.last_mut() {
                Some((_, end)) if *end == lo => *end = hi,
                _ => ranges.push((lo, hi)),
            }
        }
        Readable { ranges }
    }

    /// Whether bytes are there, from the first to one past the last. What isn't in the list is asked for.
    pub fn has(&self, (lo, hi): (u64, u64)) -> bool {
        let before = self.ranges.partition_point(|(start, _)| *start <= lo);
        let found = before.checked_sub(1).map(|at| self.ranges[at]);
        lo >= hi || found.is_some_and(|(_, end)| hi <= end) || safe_copy::are_there(&[(lo, hi)])
    }
}

/// The range of a line, if it may be read and belongs to no file.
fn anonymous(line: &str) -> Option<(u64, u64)> {
    let mut fields = line.split_ascii_whitespace();
    let (range, permissions, inode) = (fields.next()?, fields.next()?, fields.nth(2)?);
    // The kernel's own pages are there without being anybody's.
    let is_kernels = fields.next().is_some_and(|name| name.starts_with("[v"));
    let (lo, hi) = range.split_once('-')?;
    let number = |text| u64::from_str_radix(text, 16).ok();
    (permissions.starts_with('r') && inode == "0" && !is_kernels).then_some((number(lo)?, number(hi)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read() {
        let maps = "55d0-55d4 r--p 00000000 fe:00 1234   /bin/some\n55d8-55e0 rw-p 00000000 00:00 0\n55e0-55f0 rw-p 00000000 00:00 0   [heap]\n\
                    7f00-7f10 ---p 00000000 00:00 0\n7f10-7f20 rw-p 00000000 00:00 0\n7fff-8000 r--p 00000000 00:00 0   [vvar]\nnonsense\n";
        assert_eq!(Readable::of(maps).ranges, [(0x55d8, 0x55f0), (0x7f10, 0x7f20)]);
    }

    #[test]
    fn what_is_there_is_known() {
        let some = vec![1u8; 1 << 20];
        let readable = Readable::now();
        let (lo, hi) = (some.as_ptr() as u64, some.as_ptr() as u64 + some.len() as u64);
        assert!(
            readable.has((lo, hi)) && readable.ranges.iter().any(|(start, end)| *start <= lo && hi <= *end)
        );
        assert!(readable.has((lo, lo)) && !readable.has((8, 16)) && !readable.has((1 << 60, 1 << 61)));
        // Constants lie in a file.
        static TEXT: [u8; 9] = *b"constants";
        let at = TEXT.as_ptr() as u64;
        assert!(readable.has((at, at + 9)));
    }
}
