//! Memory as it was, to be compared with what it is. Where much of it has been the same before, its pages are watched from then on
//! (`memory::tracking`), and only those are compared that may have changed.

use super::Obstacle;
use crate::memory::buffer::Buffer;
use crate::memory::tracking::Watch;
use crate::memory::{limits, safe_copy};
use crate::speculation::race::Helpers;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// What was in memory.
pub struct Content {
    /// Where: first byte, and one past the last.
    pub ranges: Vec<(u64, u64)>,
    /// What, one range after the other.
    pub bytes: Buffer,
    /// Ranges that are read together, and where in `bytes` the first of them begins.
    blocks: Vec<(std::ops::Range<usize>, usize)>,
    watching: Mutex<Watching>,
}

/// Whether its pages are watched.
enum Watching {
    /// Not yet: so many times in a row it was the same.
    Waits(u32),
    /// Since it was last compared.
    Watched(Watch),
    /// That can't be, or doesn't pay.
    Never,
}

impl Content {
    /// Small ranges are read together: each reading is a system call. So little at once that what was read is still in the
    /// processor's cache when it is compared.
    const BLOCK: u64 = 64 << 10;
    /// Bytes from which several threads are worth it.
    const MUCH: u64 = 1 << 20;
    /// Bytes from which watching is worth it (`docs/measurements/2026-11-25-tracking.md`).
    const WATCHED: u64 = 1 << 20;
    /// So many times in a row it has to have been the same before: what that has cost is about what the program will lose if it stores to all of it next.
    const PATIENCE: u32 = 4;
    /// One of so many pages that have changed and it isn't: the first store to a watched page costs as much as comparing thirty.
    const CHANGED: u64 = 32;

    /// Of long ranges, each block is one.
    pub fn in_blocks(ranges: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
        if ranges.iter().all(|(lo, hi)| hi - lo <= Self::BLOCK) {
            return ranges;
        }
        let block = Self::BLOCK as usize;
        let blocks =
            |(lo, hi): (u64, u64)| (lo..hi).step_by(block).map(move |lo| (lo, hi.min(lo + Self::BLOCK)));
        ranges.into_iter().flat_map(blocks).collect()
    }

    /// What is there now; an error where some of it isn't there. The ranges are in their order.
    pub fn of(ranges: Vec<(u64, u64)>, helpers: Helpers<'_>) -> Result<Content, Obstacle> {
        Content::copy(ranges, helpers, None)
    }

    /// The same, or [`Obstacle::Endless`] where it can't be had so soon.
    pub fn of_by(
        deadline: Instant,
        ranges: Vec<(u64, u64)>,
        helpers: Helpers<'_>,
    ) -> Result<Content, Obstacle> {
        Content::copy(ranges, helpers, Some(deadline))
    }

    fn copy(
        ranges: Vec<(u64, u64)>,
        helpers: Helpers<'_>,
        deadline: Option<Instant>,
    ) -> Result<Content, Obstacle> {
        let total = ranges.iter().map(|(lo, hi)| hi - lo).sum();
        if !limits::fits(total) {
            return Err(Obstacle::Memory);
        }
        let ranges = Self::in_blocks(ranges);
        let mut blocks: Vec<(std::ops::Range<usize>, usize)> = Vec::new();
        let mut at = 0;
        for (index, (lo, hi)) in ranges.iter().enumerate() {
            match blocks.last_mut() {
                Some((block, _)) if hi - ranges[block.start].0 <= Self::BLOCK => block.end = index + 1,
                _ => blocks.push((index..index + 1, at)),
            }
            at += (hi - lo) as usize;
        }
        let mut content = Content {
            ranges,
            bytes: Buffer::new(total).map_err(|_| Obstacle::Memory)?,
            blocks,
            watching: Mutex::new(Watching::Waits(0)),
        };
        // As an address: all threads write to it, each to blocks of its own.
        let to = content.bytes.as_mut_ptr() as u64;
        let is_late = AtomicBool::new(false);
        let read = content.each(helpers, None, &|at, found| {
            if deadline.is_some_and(|deadline| Instant::now() > deadline) {
                is_late.store(true, Ordering::Relaxed);
                return false;
            }
            // SAFETY: the buffer has room for all ranges, one after the other, and this one's part is nobody else's.
            unsafe {
                std::ptr::copy_nonoverlapping(found.as_ptr(), (to + at as u64) as *mut u8, found.len())
            };
            true
        });
        match (read, is_late.into_inner()) {
            (true, _) => Ok(content),
            (false, true) => Err(Obstacle::Endless),
            (false, false) => Err(Obstacle::NotThere),
        }
    }

    /// Whether it is the same now.
    pub fn is_there(&self, helpers: Helpers<'_>) -> bool {
        let mut watching = self.watching.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever watches does so before it is looked at.
        if let Watching::Waits(Self::PATIENCE..) = *watching {
            let is_worth = self.bytes.len() as u64 >= Self::WATCHED;
            let watch = if is_worth { Watch::begin(&self.hulls()) } else { None };
            *watching = watch.map_or(Watching::Never, Watching::Watched);
            let same = self.compare(helpers, None);
            if !same {
                *watching = Watching::Waits(0);
            }
            return same;
        }
        let changed = match &*watching {
            Watching::Watched(watch) => watch.changed(),
            Watching::Waits(_) | Watching::Never => None,
        };
        let same = self.compare(helpers, changed.as_deref());
        let few = |changed: &[(u64, u64)]| {
            changed.iter().map(|(lo, hi)| hi - lo).sum::<u64>() <= self.bytes.len() as u64 / Self::CHANGED
        };
        let next = match (&*watching, same) {
            (Watching::Never, _) => Watching::Never,
            (_, false) => Watching::Waits(0),
            (Watching::Waits(times), true) => Watching::Waits(times + 1),
            (Watching::Watched(_), true) if changed.as_deref().is_some_and(few) => return true,
            (Watching::Watched(_), true) => Watching::Never,
        };
        *watching = next;
        same
    }

    /// The same of what lies where memory may have changed; `None`: of everything.
    fn compare(&self, helpers: Helpers<'_>, changed: Option<&[(u64, u64)]>) -> bool {
        self.each(helpers, changed, &|at, found| self.bytes[at..at + found.len()] == *found)
    }

    /// First address of each block, and one past the last.
    fn hulls(&self) -> Vec<(u64, u64)> {
        let hull = |(block, _): &(std::ops::Range<usize>, usize)| {
            (self.ranges[block.start].0, self.ranges[block.end - 1].1)
        };
        self.blocks.iter().map(hull).collect()
    }

    /// Reads all ranges anew, or those near where memory may have changed, and looks at each, with its place in `bytes`; false as soon as one of them isn't
    /// there, or `look` says so.
    fn each(
        &self,
        (pool, threads): Helpers<'_>,
        changed: Option<&[(u64, u64)]>,
        look: &(dyn Fn(usize, &[u8]) -> bool + Sync),
    ) -> bool {
        let concerns = |block: &&(std::ops::Range<usize>, usize)| {
            let (lo, hi) = (self.ranges[block.0.start].0, self.ranges[block.0.end - 1].1);
            changed.is_none_or(|changed| {
                let next = changed.partition_point(|(_, end)| *end <= lo);
                changed.get(next).is_some_and(|(first, _)| *first < hi)
            })
        };
        let blocks: Vec<&(std::ops::Range<usize>, usize)> = self.blocks.iter().filter(concerns).collect();
        if blocks.is_empty() {
            return true;
        }
        let (taken, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
        let is_little =
            self.bytes.len() as u64 <= Self::MUCH || blocks.len() as u64 <= Self::MUCH / Self::BLOCK;
        let threads = if is_little { 1 } else { threads };
        pool.run(threads, &|| {
            let mut now = vec![0u8; Self::BLOCK as usize];
            while !failed.load(Ordering::Relaxed) {
                let Some(block) = blocks.get(taken.fetch_add(1, Ordering::Relaxed)) else { return };
                if !self.block(block, &mut now, look) {
                    failed.store(true, Ordering::Relaxed);
                }
            }
        });
        !failed.into_inner()
    }

    /// The same for a block, with room for it.
    fn block(
        &self,
        (block, at): &(std::ops::Range<usize>, usize),
        now: &mut [u8],
        look: &(dyn Fn(usize, &[u8]) -> bool + Sync),
    ) -> bool {
        let (ranges, mut at) = (&self.ranges[block.clone()], *at);
        let (lo, hi) = (ranges[0].0, ranges[ranges.len() - 1].1);
        // SAFETY: a block has no more bytes than there is room for.
        let together = unsafe { safe_copy::read(lo, hi - lo, now.as_mut_ptr()) }.is_ok();
        ranges.iter().all(|range| {
            let length = (range.1 - range.0) as usize;
            let first = (range.0 - lo) as usize;
            // Something between the ranges may not be there.
            if !together {
                // SAFETY: as above.
                let alone = unsafe { safe_copy::read(range.0, length as u64, now[first..].as_mut_ptr()) };
                if alone.is_err() {
                    return false;
                }
            }
            let same = look(at, &now[first..first + length]);
            at += length;
            same
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::SYSTEM_PAGE_SHIFT;
    use super::*;
    use crate::device::pool::Pool;
    use std::time::Duration;

    #[test]
    fn content_is_compared_range_by_range() {
        let memory: Vec<u8> = (0..1_000_000u32).map(|i| (i * 7 + i / 251) as u8).collect();
        let (start, pool) = (memory.as_ptr() as u64, Pool::default());
        let mut memory = memory;
        let at = |lo: u64, hi: u64| (start + lo, start + hi);
        // Small ones side by side, one longer than a block, one far away.
        let ranges = vec![
            at(0, 8),
            at(12, 16),
            at(40, 41),
            at(5_000, 205_000),
            at(205_001, 205_002),
            at(999_990, 1_000_000),
        ];
        for threads in [1, 3] {
            let content = Content::of(ranges.clone(), (&pool, threads)).unwrap();
            assert_eq!(content.bytes.len(), 8 + 4 + 1 + 200_000 + 1 + 10);
            assert!(content.is_there((&pool, threads)));
            for changed in
                [0, 7, 8, 11, 12, 15, 16, 40, 41, 4_999, 5_000, 70_536, 204_999, 205_000, 205_001, 999_999]
            {
                memory[changed] ^= 1;
                let part = ranges.iter().any(|(lo, hi)| (*lo..*hi).contains(&(start + changed as u64)));
                assert_eq!(content.is_there((&pool, threads)), !part, "{changed}");
                memory[changed] ^= 1;
            }
        }
        assert!(Content::of(vec![(64, 72)], (&pool, 1)).is_err());
        // Who has no time left is told so, and nothing about the memory.
        let by = |deadline| Content::of_by(deadline, ranges.clone(), (&pool, 3)).err();
        assert_eq!(by(Instant::now() + Duration::from_secs(1000)), None);
        assert_eq!(by(Instant::now()), Some(Obstacle::Endless));
    }

    #[test]
    fn what_lies_between_ranges_need_not_be_there() {
        let page = 1usize << SYSTEM_PAGE_SHIFT;
        // SAFETY: new memory, of which one page is given back.
        let start = unsafe {
            let (access, kind) =
                (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
            let start = libc::mmap(std::ptr::null_mut(), 3 * page, access, kind, -1, 0);
            assert_ne!(start, libc::MAP_FAILED);
            assert_eq!(libc::munmap(start.byte_add(page), page), 0);
            start as u64
        };
        let ranges = vec![(start, start + 4), (start + 2 * page as u64, start + 2 * page as u64 + 4)];
        let pool = Pool::default();
        let content = Content::of(ranges, (&pool, 1)).unwrap();
        assert!(content.is_there((&pool, 1)));
        // SAFETY: the memory of above.
        unsafe { *((start + 2 * page as u64 + 3) as *mut u8) = 1 };
        assert!(!content.is_there((&pool, 1)));
    }

    #[test]
    fn what_is_watched_is_compared_where_it_may_have_changed() {
        use crate::memory::tracking;
        tracking::allow(true);
        let pool = Pool::default();
        let bytes = 4 * Content::WATCHED as usize;
        let mut memory: Vec<u8> = (0..bytes).map(|i| (i * 7 + i / 251) as u8).collect();
        let start = memory.as_ptr() as u64;
        let ranges = vec![(start + 5, start + 100), (start + 200, start + bytes as u64 - 3)];
        for threads in [1, 3] {
            let mut content = Content::of(ranges.clone(), (&pool, threads)).unwrap();
            let is_watched =
                |content: &Content| matches!(*content.watching.lock().unwrap(), Watching::Watched(_));
            let settles = |content: &Content| {
                for _ in 0..Content::PATIENCE {
                    assert!(content.is_there((&pool, threads)) && !is_watched(content));
                }
                assert!(content.is_there((&pool, threads)));
            };
            settles(&content);
            if !is_watched(&content) {
                eprintln!("SKIPPED: this system can't watch memory");
                return;
            }
            // What hasn't changed isn't looked at: what is remembered of it could be anything.
            let far = bytes / 2;
            content.bytes[far] ^= 1;
            assert!(content.is_there((&pool, threads)));
            content.bytes[far] ^= 1;
            // The same bytes stored again are the same.
            memory[1000] = std::hint::black_box(memory[1000]);
            assert!(content.is_there((&pool, threads)) && is_watched(&content));
            for at in [5, 99, 200, 4096, far, bytes - 4] {
                memory[at] ^= 1;
                assert!(!content.is_there((&pool, threads)), "{at}");
                memory[at] ^= 1;
                settles(&content);
                assert!(is_watched(&content), "{at}");
            }
            memory[150] ^= 1;
            assert!(content.is_there((&pool, threads)));
            // Where much is stored again and again watching isn't worth it.
            for at in (0..bytes).step_by(1024) {
                memory[at] = std::hint::black_box(memory[at]);
            }
            assert!(content.is_there((&pool, threads)) && !is_watched(&content));
            assert!(content.is_there((&pool, threads)));
            memory[far] ^= 1;
            assert!(!content.is_there((&pool, threads)));
            memory[far] ^= 1;
        }
    }
}
