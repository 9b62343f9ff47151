//! Extents of arrays that were allocated, or named at file scope, in translation units that Paragon compiled.
//!
//! A record may be stale: memory can be freed where we don't see it. That is harmless, because an extent is only ever used
//! to decide what to copy (by copies that can't fault) and to bound speculative addresses; what is committed is what
//! the loop's own stores wrote. A new record replaces every older one that it overlaps.

use std::collections::BTreeMap;

/// Recorded extents: start to one past the end.
#[derive(Default, Debug)]
pub struct Allocations {
    extents: BTreeMap<u64, u64>,
}

impl Allocations {
    /// Records `[start, start + bytes)`.
    pub fn insert(&mut self, start: u64, bytes: u64) {
        let Some(end) = start.checked_add(bytes) else { return };
        if start == 0 || bytes == 0 {
            return;
        }
        let overlapped: Vec<u64> =
            self.extents.range(..end).rev().take_while(|(_, e)| **e > start).map(|(s, _)| *s).collect();
        for s in overlapped {
            self.extents.remove(&s);
        }
        self.extents.insert(start, end);
    }
    /// Forgets the record that starts at `start`.
    pub fn remove(&mut self, start: u64) {
        self.extents.remove(&start);
    }
    /// The extent that contains `address`.
    pub fn find(&self, address: u64) -> Option<(u64, u64)> {
        self.extents.range(..=address).next_back().filter(|(_, e)| **e > address).map(|(s, e)| (*s, *e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newer_records_replace_what_they_overlap() {
        let mut a = Allocations::default();
        a.insert(100, 50);
        a.insert(200, 50);
        assert_eq!(a.find(149), Some((100, 150)));
        assert_eq!(a.find(150), None);
        a.insert(140, 70);
        assert_eq!(a.find(100), None);
        assert_eq!(a.find(249), None);
        assert_eq!(a.find(140), Some((140, 210)));
        a.remove(140);
        assert_eq!(a.find(150), None);
        a.insert(u64::MAX - 4, 100);
        assert_eq!(a.find(u64::MAX - 2), None);
    }
}
