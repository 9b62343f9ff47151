//! Orders of rows by their lengths where accesses are logged: nothing has been inspected there, so the lengths alone are counted
//! (`speculation::inspector::lengths`), once for entries with the same numbers, and looked at again now and then.

use super::{Engine, Visit, lock};
use crate::config::{GroupChoice, InspectionChoice, RaceChoice};
use crate::memory::placement::Placement;
use crate::speculation::inspector::lengths::{Lengths, When, may_count};
use crate::speculation::inspector::turns::Order;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Orders that are kept for each loop: programs go through levels, colours and blocks again and again.
const KEPT: usize = 16;

/// What is copied to a GPU in a nanosecond is this many bytes at most. To count takes no longer than a half of what copies do.
const BYTES_IN_NS: u64 = 50;

/// An entry of so many bytes may gain a nanosecond: an eighth of what a GPU takes to load them.
const BYTES_FOR_GAIN: u64 = 16_000;

/// It may take so long where any order is to be made: for tests.
const LONGEST: Duration = Duration::from_secs(10);

impl Engine {
    /// The order of an entry's iterations by their numbers of turns, where it is worth something to a GPU, and to count them takes little
    /// beside the copies of its arrays.
    ///
    /// # Safety
    /// The visit's entry is as [`Engine::enter`] asks for.
    pub(super) unsafe fn order_by_lengths(
        &self,
        visit: &mut Visit<'_>,
        placement: &Placement,
    ) -> Option<Arc<Order>> {
        let (info, always) = (visit.info, self.config.groups == GroupChoice::Always);
        if self.config.inspections == InspectionChoice::Off || !may_count(info) {
            return None;
        }
        let read = placement.regions.iter().zip(&placement.read).filter(|(_, is_read)| **is_read);
        let arrays: Vec<(u64, u64)> = read.map(|(region, _)| (region.lo, region.lo + region.size)).collect();
        let when = When {
            at_once: always || self.config.race != RaceChoice::Auto,
            gain: Duration::from_nanos(placement.bytes() / BYTES_FOR_GAIN),
            most: if always { LONGEST } else { Duration::from_nanos(placement.bytes() / BYTES_IN_NS / 2) },
            always,
        };
        let (started, helpers) = (Instant::now(), (&self.pool, self.config.threads));
        let mut known = lock(&self.lengths);
        let known = known.entry(visit.the_loop.key()).or_default();
        // SAFETY: promised by the caller, here and below.
        let at = known.iter().position(|lengths| unsafe { lengths.is_for(info, visit.entry) });
        let mut lengths = match at {
            Some(at) => known.remove(at),
            // SAFETY: as above.
            None => unsafe { Lengths::new(info, visit.entry) },
        };
        // SAFETY: as above.
        if unsafe { lengths.enter(info, visit.entry, &arrays, helpers, when) } {
            visit.record.inspect_ns += started.elapsed().as_nanos() as u64;
        }
        let order = lengths.order.clone();
        known.push(lengths);
        if known.len() > KEPT {
            known.remove(0);
        }
        order
    }
}
