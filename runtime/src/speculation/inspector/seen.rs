//! What a run with checks has seen of the addresses that a finding determines: that all of them lie in their arrays, aligned. A later run of
//! the same addresses needs no check. Loops that need no finding have something like one for this alone ([`Finding::Addresses`](super::Finding)).
//!
//! Why they are the same. Where [`PG_LOOP_SLICE_DECIDES`] is set, every address that isn't affine, and whether there is an access at all,
//! follows from the trip counts, the pointers, the values and the memory that the finding was remembered with, and the loop stores nowhere in
//! the arrays which that memory is part of. The trip counts and values have been compared when the finding was used again; the pointers are compared
//! here. The memory is not only compared: a device gets it from the copy that was remembered ([`Basis::remembered`]), in the run that sees and in the runs that
//! rely on it. Where the arrays lie is compared here, too, since being inside is a matter of both. What is affine has been placed by what it
//! reaches, whatever an earlier run has seen.
//!
//! That holds for iterations that come to their end. One that leaves an inner loop because the run is over, or has failed, goes on with
//! values that the loop hadn't finished: from then on none of its accesses happens (`__pg_ctx.left`).
//!
//! An inspection sees the same ([`Seeing`]), so that the first run has no checks either. It is shown all accesses whose addresses aren't affine, as the
//! source makes them, by the same integer operations as a device's; where a device may compute otherwise (it gives up at a division by zero or a number that
//! is none, and goes on with some value) the compiler says that not all is shown ([`PG_LOOP_SHOWS_ALL`]). Accesses that aren't shown, because a neighbour was, lie
//! in a window that ends where the array does. That they are aligned follows from their bases ([`PG_SITE_WHOLE_ELEMENTS`]). The memory that the slice has loaded is copied behind
//! the inspection, and the calling thread does nothing in between: only another thread could change it meanwhile, where the loop itself would read it at the same time, a data race.
//! Whichever value it finds then is one that the program might have read; that the same value leads out of its array is all that is not looked at. A run that relies on a
//! checked run has no such gap, because both load from the copy.
//!
//! Where all of them lie is seen by inspections only ([`Reached`]): then a device is given no more of an array than that.
//!
//! What it doesn't say is whether loads which lanes make ahead of turns meet what these turns hold (`kernel/lent.h`): which turns are made
//! ahead depends on which iterations a warp has, and that differs from launch to launch. So they are looked at always.

use super::Content;
use crate::abi::{
    Base, Entry, Info, PG_LOOP_SHOWS_ALL, PG_LOOP_SLICE_DECIDES, PG_SITE_HAS_AFFINE, PG_SITE_ONLY_SEEN,
    PG_SITE_WHOLE_ELEMENTS, Site,
};
use crate::memory::placement::Placement;
use std::sync::{Arc, Weak};
use std::time::Instant;

/// Pieces of remembered memory that a device is given, at most.
const MOST_PIECES: usize = 1 << 18;

/// What a run has seen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Seen {
    /// First byte and size of each array.
    regions: Vec<(u64, u64)>,
    anchors: Vec<u64>,
    bases: Vec<u64>,
}

impl Seen {
    /// What a run that was checked and didn't fail has seen.
    pub fn new(placement: &Placement, bases: &[u64]) -> Seen {
        let regions = placement.regions.iter().map(|region| (region.lo, region.size)).collect();
        Seen { regions, anchors: placement.anchors.clone(), bases: bases.to_vec() }
    }
}

/// Bytes of an array that an inspection takes for reached where one of them is. Their first one lies in its line of memory as the array's does: so a device's copies
/// of several arrays still have elements with one subscript in corresponding places of lines, which lanes that load both count on
/// (`kernel/warps.h`); without that csr_forward took 7% longer.
pub(super) const REACHED_PIECE: u64 = 1 << 16;
/// What a site has come to that wasn't shown anything.
pub(super) const NOWHERE: (u64, u64) = (u64::MAX, 0);

/// What of their arrays accesses come to whose addresses aren't affine, as an inspection has been shown them: all of these, as [`Seen`] has it, so that a device
/// needs no more of an array that nothing stores to.
#[derive(PartialEq, Eq, Debug)]
pub struct Reached {
    bases: Vec<u64>,
    /// For each site the first byte, and one past the last; `None`: it comes to nothing, unless its addresses are affine, which nobody is shown.
    sites: Vec<Option<(u64, u64)>>,
}

impl Reached {
    /// Of an entry with these arrays; `starts` are first bytes of accesses, and one past the last of these.
    pub(super) fn new(info: &Info, seen: &Seen, starts: &[(u64, u64)]) -> Reached {
        let bytes = |(site, (lo, hi)): (&Site, &(u64, u64))| {
            (lo < hi).then(|| (*lo, (hi - 1).saturating_add(site.width.into())))
        };
        Reached { bases: seen.bases.clone(), sites: info.sites().iter().zip(starts).map(bytes).collect() }
    }

    /// The same for an entry whose finding holds: its addresses are the same if its bases are. By sites.
    pub fn of(&self, bases: &[Base]) -> Option<&[Option<(u64, u64)>]> {
        let is_same = bases.iter().map(|base| base.pointer).eq(self.bases.iter().copied());
        is_same.then_some(&self.sites)
    }
}

/// What an inspection is to see besides: whether all that it is shown lies in its array.
pub struct Seeing {
    /// For each site: what begins at the first address, or less than so many bytes behind it, lies in its array.
    pub(super) inside: Vec<(u64, u64)>,
    /// What it has seen if so.
    pub(super) seen: Seen,
    /// Whether it is to leave an order of iterations whatever that is worth: for tests.
    pub(super) sorts_always: bool,
}

impl Seeing {
    /// Of an entry whose arrays lie there. `None`: it can't be shown all addresses, or they aren't known to be aligned.
    ///
    /// # Safety
    /// `entry` was filled in by generated code for `info`, and is alive.
    pub unsafe fn of(
        info: &Info,
        entry: &Entry,
        placement: &Placement,
        sorts_always: bool,
    ) -> Option<Seeing> {
        if !info.has(PG_LOOP_SHOWS_ALL) || info.n_sites > u64::BITS {
            return None;
        }
        // SAFETY: promised by the caller.
        let bases: Vec<u64> = unsafe { entry.bases(info) }.iter().map(|base| base.pointer).collect();
        // What is affine is aligned where placement says so.
        let is_aligned = |site: &Site| {
            let at = |base: &u64| {
                u64::from(site.width).is_power_of_two() && base.is_multiple_of(site.width.into())
            };
            site.has(PG_SITE_HAS_AFFINE)
                || site.has(PG_SITE_WHOLE_ELEMENTS) && bases.get(site.base as usize).is_some_and(at)
        };
        let inside = |site: &Site| {
            let anchor = placement.anchors.get(site.base as usize).filter(|anchor| **anchor != 0);
            let region =
                anchor.and_then(|anchor| placement.region_of(*anchor)).map(|index| &placement.regions[index]);
            region.map_or((0, 0), |region| (region.lo, (region.size + 1).saturating_sub(site.width.into())))
        };
        info.sites().iter().all(is_aligned).then(|| Seeing {
            inside: info.sites().iter().map(inside).collect(),
            seen: Seen::new(placement, &bases),
            sorts_always,
        })
    }
}

/// Sites that are only shown to see where they lie, a bit for each of the first 64.
pub(super) fn only_seen(info: &Info) -> u64 {
    let sites = info.sites().iter().take(u64::BITS as usize).enumerate();
    sites.filter(|(_, site)| site.has(PG_SITE_ONLY_SEEN)).fold(0, |mask, (number, _)| mask | 1 << number)
}

/// What a run's addresses follow from.
#[derive(Clone)]
pub struct Basis {
    /// [`Memo::number`](super::Memo::number).
    pub number: u64,
    /// Before it was found to be what memory holds.
    pub since: Instant,
    pub(super) memory: Arc<Vec<Content>>,
    pub(super) seen: Option<Arc<Seen>>,
    /// [`Memo::reached`](super::Memo::reached).
    pub reached: Option<Arc<Reached>>,
}

/// Which finding's memory it is, whether that is still there or not.
#[derive(Clone, Debug)]
pub struct Identity(Weak<Vec<Content>>);

impl PartialEq for Identity {
    fn eq(&self, other: &Identity) -> bool {
        self.0.ptr_eq(&other.0)
    }
}

impl Basis {
    /// Tells its memory from other memory that findings follow from, as long as anybody has this. Findings that have it in common have one.
    pub fn identity(&self) -> Identity {
        Identity(Arc::downgrade(&self.memory))
    }

    /// What follows from these ranges, as they are now.
    #[cfg(test)]
    pub fn of(ranges: &[&[(u64, u64)]]) -> Basis {
        let pool = crate::device::pool::Pool::default();
        let content = |ranges: &&[(u64, u64)]| Content::of(ranges.to_vec(), (&pool, 1)).unwrap();
        let since = Instant::now();
        Basis {
            number: 0,
            since,
            memory: Arc::new(ranges.iter().map(content).collect()),
            seen: None,
            reached: None,
        }
    }

    /// The same, where a run has seen that of its addresses.
    #[cfg(test)]
    pub fn with(self, seen: Seen) -> Basis {
        Basis { seen: Some(Arc::new(seen)), ..self }
    }

    /// Whether memory is as it is remembered.
    #[cfg(test)]
    pub fn holds(&self) -> bool {
        let pool = crate::device::pool::Pool::default();
        self.memory.iter().all(|content| content.is_there((&pool, 1)))
    }

    /// Whether a run of the loop on copies of these arrays can take from it what decides its addresses.
    pub fn serves(&self, info: &Info, placement: &Placement) -> bool {
        let pieces = |content: &Content| content.ranges.chunk_by(|a, b| a.1 == b.0).count();
        info.has(PG_LOOP_SLICE_DECIDES)
            && placement.fed(info).is_some()
            && self.memory.iter().map(pieces).sum::<usize>() <= MOST_PIECES
    }

    /// What is remembered, in pieces, in their order and apart: first byte in the program's memory, one past the last, and where they are kept.
    pub fn remembered(&self) -> Vec<(u64, u64, u64)> {
        let mut known = Vec::new();
        for content in self.memory.iter() {
            let mut from = content.bytes.as_ptr() as u64;
            for run in content.ranges.chunk_by(|a, b| a.1 == b.0) {
                let (first, end) = (run[0].0, run[run.len() - 1].1);
                known.push((first, end, from));
                from += end - first;
            }
        }
        known.sort_unstable();
        let mut at = 0;
        known.retain_mut(|(first, end, from)| {
            // What is remembered twice is given once.
            let skipped = at.max(*first) - *first;
            (*first, *from) = (*first + skipped, *from + skipped);
            at = at.max(*end);
            *first < *end
        });
        known
    }

    /// The part of [`Basis::remembered`] that lies in an array: first byte, how many, and where they are kept.
    pub fn pieces(
        remembered: &[(u64, u64, u64)],
        lo: u64,
        size: u64,
    ) -> impl Iterator<Item = (u64, u64, u64)> {
        let hi = lo + size;
        let begin = remembered.partition_point(|(_, end, _)| *end <= lo);
        let inside = remembered[begin..].iter().take_while(move |(first, ..)| *first < hi);
        inside.map(move |&(first, end, from)| {
            let at = first.max(lo);
            (at, end.min(hi) - at, from + (at - first))
        })
    }

    /// Whether an earlier run has seen the same addresses in the same arrays.
    pub fn has_seen(&self, placement: &Placement, bases: &[u64]) -> bool {
        self.seen.as_deref().is_some_and(|seen| *seen == Seen::new(placement, bases))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::Region;

    #[test]
    fn what_is_remembered_is_given_once() {
        let mut memory: Vec<u8> = (0..300_000u32).map(|i| (i % 251) as u8).collect();
        let lo = memory.as_ptr() as u64;
        let at = |from: u64, to: u64| (lo + from, lo + to);
        let kept =
            Basis::of(&[&[at(10, 20), at(20, 25), at(1000, 200_000)], &[at(15, 40), at(199_990, 200_010)]]);
        let before = memory.clone();
        memory.iter_mut().for_each(|byte| *byte ^= 0xff);
        let is_kept = |at: u64| (10..40).contains(&at) || (1000..200_010).contains(&at);
        for (first, size) in
            [(0, 300_000), (12, 3), (39, 2), (17, 1), (40, 960), (199_995, 100), (200_010, 5)]
        {
            let mut given = vec![false; size as usize];
            for (place, bytes, from) in Basis::pieces(&kept.remembered(), lo + first, size) {
                for byte in 0..bytes {
                    let at = place + byte - lo;
                    // SAFETY: memory of the basis.
                    assert_eq!(unsafe { *((from + byte) as *const u8) }, before[at as usize], "{first} {at}");
                    assert!(!std::mem::replace(&mut given[(at - first) as usize], true), "{first} {at}");
                }
            }
            for (at, given) in (first..).zip(given) {
                assert_eq!(given, is_kept(at), "{first} {at}");
            }
        }
    }

    #[test]
    fn what_was_reached_counts_for_the_same_bases_only() {
        let site = |width| Site { base: 0, width, flags: 0, line: 1, slot: 0 };
        let sites = [site(4), site(8), site(4)];
        let info = Info { n_sites: 3, sites: sites.as_ptr(), ..crate::abi::nothing() };
        let seen = Seen::new(&Placement::default(), &[4096, 8200]);
        let reached = Reached::new(&info, &seen, &[(100, 101), (200, 300), NOWHERE]);
        let bases = |pointers: [u64; 2]| pointers.map(|pointer| Base { pointer, ..Base::default() });
        let expected = [Some((100, 104)), Some((200, 307)), None];
        assert_eq!(reached.of(&bases([4096, 8200])), Some(&expected[..]));
        assert_eq!(reached.of(&bases([4096, 8208])), None);
        assert_eq!(reached.of(&bases([4096, 8200])[..1]), None);
    }

    #[test]
    fn what_was_seen_counts_for_the_same_arrays_only() {
        let region = |lo, size| Region { lo, size, ..Region::default() };
        let placement = Placement {
            regions: vec![region(4096, 64), region(8192, 64)],
            anchors: vec![4096, 8192],
            ..Placement::default()
        };
        let mut basis = Basis::of(&[]);
        assert!(!basis.has_seen(&placement, &[4096, 8200]));
        basis.seen = Some(Arc::new(Seen::new(&placement, &[4096, 8200])));
        assert!(basis.has_seen(&placement, &[4096, 8200]));
        assert!(!basis.has_seen(&placement, &[4096, 8192]));
        let smaller = Placement { regions: vec![region(4096, 64), region(8192, 60)], ..placement.clone() };
        assert!(!basis.has_seen(&smaller, &[4096, 8200]));
        let elsewhere = Placement { anchors: vec![4096, 4096], ..placement };
        assert!(!basis.has_seen(&elsewhere, &[4096, 8200]));
    }
}
