//! `PARAGON_LOG=all`: an entry that a device is asked to run (`PARAGON_RACE=device`) is run once for each log method, each time from the same
//! memory, and all that come to an end have to leave the same there. For tests, where opening a GPU for each method would take longer than
//! all that is tested.
//!
//! Between two runs the memory that the loop may store to becomes again what it was, so no other thread may use it meanwhile. Only what
//! a device has done is ever taken back: it keeps to the arrays that are known, which the loop itself may not. So where all of them fail, the
//! loop runs as it stood. Where its arrays aren't known, the entry runs once, as without such a wish; and once under one method after the other,
//! when there have been many.

use super::{Engine, lock};
use crate::abi::{Entry, Info, Loop, Value};
use crate::config::RaceChoice;
use crate::device::LogMethod;
use crate::memory::{placement, safe_copy};
use crate::signals::Deferred;
use crate::speculation::predicate;
use crate::trace;

/// From so many runs of a loop on, each entry is one.
const MANY: u64 = 200;

/// What an entry may change, as it is at some moment.
#[derive(PartialEq, Eq)]
struct Image {
    memory: Vec<(u64, Vec<u8>)>,
    results: Vec<Value>,
}

impl Image {
    /// What these ranges of memory hold, each so many bytes from an address, and the results. `None`: some of it isn't there.
    fn take(ranges: &[(u64, u64)], results: &[Value]) -> Option<Image> {
        let copy = |(from, bytes): &(u64, u64)| {
            let mut copy = safe_copy::buffer::<u8>(*bytes).ok()?;
            // SAFETY: the buffer has so many bytes.
            unsafe { safe_copy::read(*from, *bytes, copy.as_mut_ptr()) }.ok()?;
            Some((*from, copy))
        };
        let memory = ranges.iter().map(copy).collect::<Option<_>>()?;
        Some(Image { memory, results: results.to_vec() })
    }

    /// Makes memory this again. What holds it isn't touched: the program may not be allowed to store there.
    ///
    /// # Safety
    /// All of it is there; what differs may be stored to, and nobody else uses it.
    unsafe fn put_back(&self) {
        for (from, bytes) in &self.memory {
            for (place, byte) in (*from..).zip(bytes) {
                let place = place as *mut u8;
                // SAFETY: promised by the caller.
                unsafe {
                    if place.read_volatile() != *byte {
                        place.write_volatile(*byte);
                    }
                }
            }
        }
    }
}

impl Engine {
    /// Whether entries run under several log methods.
    pub(super) fn tries_all_logs(&self) -> bool {
        self.config.logs.len() > 1 && self.config.race == RaceChoice::Device
    }

    /// The log methods that a loop's next entry runs under: all, and in turn where it has been entered often, as inner loops are.
    fn logs_of_entry(&self, the_loop: &Loop) -> &'static [Option<LogMethod>] {
        let (key, all) = (the_loop.key(), self.config.logs);
        let histories = lock(&self.histories);
        let runs: u64 = all.iter().filter_map(|log| histories.get(&(key, *log))).map(|h| h.entries).sum();
        let next = (runs % all.len() as u64) as usize;
        if runs < MANY { all } else { &all[next..=next] }
    }

    /// The memory that a loop may store to: how many bytes from which addresses; `None` where it isn't known.
    ///
    /// # Safety
    /// As for [`Engine::enter`].
    unsafe fn stored_ranges(&self, info: &Info, entry: &Entry) -> Option<Vec<(u64, u64)>> {
        let table = self.known_allocations()?;
        // SAFETY: promised by the caller, here and below.
        let rest = unsafe { predicate::prove(info, entry, u64::MAX) }.unwrap_or_default();
        // Between rows lies what others use meanwhile, the allocator first of all: that must not become what it was.
        if rest.rows().is_some() {
            return None;
        }
        // SAFETY: as above.
        let placement = unsafe { placement::place(info, entry, &table, LogMethod::Mark, None, None) }.ok()?;
        let regions = placement.regions.iter().zip(&placement.written);
        Some(
            regions
                .filter(|(_, is_written)| **is_written)
                .map(|(region, _)| (region.lo, region.size))
                .collect(),
        )
    }

    /// See [`Engine::enter`].
    ///
    /// # Safety
    /// As for [`Engine::enter`]; `info` is the entry's.
    pub(super) unsafe fn enter_under_all(
        &self,
        the_loop: &Loop,
        info: &'static Info,
        entry: &mut Entry,
        errno: &mut i32,
        signals: &Deferred,
    ) -> bool {
        // SAFETY: promised by the caller, here and below.
        let ranges = unsafe { self.stored_ranges(info, entry) };
        let take = |entry: &Entry| {
            // SAFETY: as above.
            ranges.as_ref().and_then(|ranges| Image::take(ranges, unsafe { entry.results(info) }))
        };
        // Stores into the entry's results, of which there are as many.
        let put_back = |image: &Image, entry: &Entry| {
            // SAFETY: promised by the caller; what differs is what the runs before have stored.
            unsafe {
                image.put_back();
                let results = &image.results;
                std::ptr::copy_nonoverlapping(results.as_ptr(), entry.results, results.len());
            }
        };
        let (before, errno_before) = (take(entry), *errno);
        let mut first: Option<(Option<LogMethod>, Image)> = None;
        for log in self.logs_of_entry(the_loop) {
            if let (Some(before), true) = (&before, first.is_some()) {
                put_back(before, entry);
            }
            let mut own = errno_before;
            // SAFETY: as above.
            let Some(logged) = (unsafe { self.enter_under(*log, the_loop, info, entry, &mut own, signals) })
            else {
                continue;
            };
            *errno = own;
            let Some(after) = before.as_ref().and_then(|_| take(entry)) else { return true };
            match &first {
                None => first = Some((*log, after)),
                Some((earlier, expected)) if *expected != after => {
                    let (file, line) = (info.file(), info.line);
                    trace::complain(&format!(
                        "paragon: {file}:{line}: {log:?} leaves something else than {earlier:?}"
                    ));
                }
                Some(_) => {}
            }
            // Then no other method would be asked.
            if !logged && (log.is_some() || info.n_pairs == 0) {
                break;
            }
        }
        if let Some((_, image)) = &first {
            put_back(image, entry);
        }
        first.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_put_back() {
        let mut memory = [1u8, 2, 3, 4, 5];
        let start = memory.as_mut_ptr();
        let take = |result: u64| Image::take(&[(start as u64, 2), (start as u64 + 3, 2)], &[Value(result)]);
        let before = take(7).unwrap();
        // SAFETY: ours, all of it.
        unsafe {
            for (place, byte) in [(1, 20), (2, 30), (4, 50)] {
                start.add(place).write(byte);
            }
            let after = take(7).unwrap();
            assert!(before != after && before != take(8).unwrap());
            before.put_back();
            assert!(before == take(7).unwrap());
            after.put_back();
            assert!(after == take(7).unwrap());
        }
        // What lies between isn't the loop's.
        assert_eq!(memory, [1, 20, 30, 4, 50]);
        // Nothing is mapped there.
        assert!(Image::take(&[(0x1000, 8)], &[]).is_none());
    }

    #[test]
    fn what_may_not_be_stored_to_is_left_alone() {
        static CONSTANT: [u8; 64] = [3; 64];
        let image = Image::take(&[(CONSTANT.as_ptr() as u64, 64)], &[]).unwrap();
        // SAFETY: nothing differs, so nothing is stored.
        unsafe { image.put_back() };
    }
}
