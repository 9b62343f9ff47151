//! Which arrays a kernel's blocks collect the updates of, in memory that a block's threads share (`kernel/collected.h`), and where in it each
//! has its slots.
//!
//! An array may have slots where nothing is made to it but updates of one operation and one width, through whatever base
//! ([`Placement::updated_alone`]): then nobody can tell when they are made, as long as they are by the end of the kernel. What lies in the way of that,
//! a load of the same array or an update of another kind, leaves all updates of the array where they are.
//!
//! [`Placement::updated_alone`]: crate::memory::placement::Placement::updated_alone

use crate::abi::{Info, PG_MUL, PG_SITE_STORE, Region};
use crate::device::cuda::BLOCK;
use std::collections::BTreeMap;

/// `struct __pg_collection`: where a base has its slots.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Slots {
    /// The first word of the room.
    pub first: u32,
    /// Bytes of the array that have slots, from its beginning on.
    pub bytes: u32,
    /// Whether what they come to is handed over for this base, of those that have the array in common.
    pub hands_over: bool,
}

/// The rooms of a launch's blocks.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Rooms {
    /// One for each base.
    pub slots: Vec<Slots>,
    /// A bit for each of the first 64 bases that have slots.
    pub bases: u64,
    /// Those of arrays that have more elements than slots.
    pub part: u64,
    /// Those whose slots tell by their values whether they were updated.
    pub tell: u64,
    /// What a block needs.
    pub bytes: u32,
}

/// Bytes of a block's shared memory that turns take which stage or lend (`kernel/room.h`).
pub const OF_TURNS: u64 = 144 * BLOCK as u64;

/// Most threads of a block. The fewer blocks there are, the less is handed over (`docs/measurements/2026-11-25-histogram.md`).
pub const THREADS: u32 = 1024;

/// An array with less than this part of its elements in slots has none.
const LEAST_PART: u64 = 2;

/// What is known of an array whose updates may be collected.
struct Array {
    width: u64,
    operation: u32,
    bases: u64,
    /// The most that an element's updates add, if that is known.
    most: Option<u64>,
}

impl Array {
    /// Whether slots tell by their values whether they were updated: their sums never come back to zero, because slots have 32 bits, even of narrower
    /// elements. Wider ones need no more either.
    fn tells(&self) -> bool {
        self.most.is_some_and(|most| most <= u64::from(u32::MAX))
    }

    /// Words of so many slots, and of the bits that say which of them were updated.
    fn words(&self, slots: u64) -> u64 {
        match (self.tells(), self.width) {
            (true, _) => slots,
            (false, 8) => 2 * slots + slots.div_ceil(32),
            (false, _) => slots + slots.div_ceil(32),
        }
    }

    /// How many slots have room in so many words.
    fn slots_in(&self, words: u64) -> u64 {
        words / self.words(32) * 32
    }
}

/// Shares a block's room, in bytes, out among the arrays of `bases`, a bit for each of the first 64: the smallest ones first, each as a whole; what is left the first one
/// has a part of that doesn't fit, if that isn't too small a part. `n`: how many iterations there are.
pub fn rooms(info: &Info, regions: &[Region], anchors: &[u64], bases: u64, room: u64, n: u64) -> Rooms {
    let region_of = |base: usize| {
        let anchor = *anchors.get(base)?;
        let after = regions.partition_point(|region| region.lo <= anchor);
        let index = after.checked_sub(1).filter(|_| anchor != 0)?;
        (anchor - regions[index].lo < regions[index].size).then_some(index)
    };
    let mut arrays: BTreeMap<usize, Array> = BTreeMap::new();
    for site in info.sites().iter().filter(|site| site.base < 64 && bases >> site.base & 1 != 0) {
        let Some(region) = region_of(site.base as usize) else { continue };
        let (width, operation) = (u64::from(site.width), site.operation());
        let array = arrays.entry(region).or_insert(Array { width, operation, bases: 0, most: Some(0) });
        array.bases |= 1 << site.base;
        if site.has(PG_SITE_STORE) {
            let step = Some(u64::from(site.step())).filter(|step| *step != 0);
            array.most = array.most.zip(step).and_then(|(most, step)| most.checked_add(step.checked_mul(n)?));
        }
    }
    let mut rooms = Rooms { slots: vec![Slots::default(); anchors.len()], ..Rooms::default() };
    let mut order: Vec<_> = arrays.into_iter().collect();
    order.sort_by_key(|(region, _)| (regions[*region].size, *region));
    let mut next = 0;
    for (region, array) in order {
        let elements = regions[region].size / array.width;
        // An operation in one piece isn't as wide as a product of 64 bits, whose words lie apart.
        let is_product = array.operation == PG_MUL && array.width == 8;
        if elements == 0 || !regions[region].lo.is_multiple_of(array.width) || is_product {
            continue;
        }
        let left = (room / 4).saturating_sub(next);
        let slots = if array.words(elements) <= left { elements } else { array.slots_in(left) };
        if slots * LEAST_PART < elements {
            break;
        }
        for base in (0..64usize).filter(|base| array.bases >> base & 1 != 0) {
            rooms.slots[base] = Slots {
                first: next as u32,
                bytes: (slots * array.width) as u32,
                hands_over: base == array.bases.trailing_zeros() as usize,
            };
        }
        rooms.bases |= array.bases;
        rooms.tell |= if array.tells() { array.bases } else { 0 };
        next += array.words(slots);
        if slots < elements {
            rooms.part |= array.bases;
            break;
        }
    }
    rooms.bytes = (next * 4) as u32;
    rooms
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::{PG_ADD, PG_OPERATION_OF_SITE, PG_SITE_UPDATE, PG_STEP_OF_SITE, PG_XOR, Site, nothing};

    /// Arrays (operation, width, what each iteration adds, bytes), and which of them each base is of.
    fn shared(arrays: &[(u32, u32, u32, u64)], bases: &[usize], room: u64, n: u64) -> Rooms {
        let lo = |array: usize| (1 << 32) + ((array as u64) << 28);
        let regions: Vec<Region> = (arrays.iter().enumerate())
            .map(|(array, (.., size))| Region { lo: lo(array), size: *size, ..Region::default() })
            .collect();
        let anchors: Vec<u64> = bases.iter().map(|array| lo(*array)).collect();
        let sites: Vec<Site> = (bases.iter().enumerate())
            .map(|(base, array)| {
                let (operation, width, step, _) = arrays[*array];
                let kind = operation << PG_OPERATION_OF_SITE | step << PG_STEP_OF_SITE;
                Site {
                    base: base as u32,
                    width,
                    flags: PG_SITE_STORE | PG_SITE_UPDATE | kind,
                    line: 1,
                    slot: 0,
                }
            })
            .collect();
        let info = Info {
            sites: sites.as_ptr(),
            n_sites: sites.len() as u32,
            n_bases: bases.len() as u32,
            ..nothing()
        };
        rooms(&info, &regions, &anchors, (1 << bases.len()) - 1, room, n)
    }

    #[test]
    fn arrays_have_slots_as_long_as_there_is_room() {
        // Four bytes for each slot and a word of bits; 8 bytes where values have 64; no bits where sums tell.
        let all =
            shared(&[(PG_XOR, 4, 0, 400), (PG_XOR, 8, 0, 80), (PG_ADD, 1, 1, 10)], &[0, 1, 2], 1 << 17, 9);
        assert_eq!((all.bases, all.part, all.tell), (0b111, 0, 0b100));
        // The smallest first.
        let first: Vec<_> = all.slots.iter().map(|slots| (slots.first, slots.bytes)).collect();
        assert_eq!(first, [(10 + 21, 400), (10, 80), (0, 10)]);
        assert_eq!(all.bytes, 4 * (10 + 21 + 104));
        // What lies behind the first array that doesn't fit has none; of that one a part, in whole words of bits.
        let part = shared(&[(PG_XOR, 4, 0, 4000), (PG_XOR, 4, 0, 8000)], &[0, 1], 4 * 700, 9);
        assert_eq!((part.bases, part.part), (0b01, 0b01));
        assert_eq!((part.slots[0].bytes, part.bytes), (4 * 672, 4 * 693));
        assert_eq!(shared(&[(PG_XOR, 4, 0, 4000)], &[0], 4 * 500, 9).bases, 0);
        assert_eq!(shared(&[(PG_XOR, 4, 0, 4000)], &[0], 0, 9).bases, 0);
        // No operation in one piece is as wide.
        assert_eq!(shared(&[(PG_MUL, 8, 0, 80), (PG_MUL, 4, 0, 80)], &[0, 1], 1 << 17, 9).bases, 0b10);
    }

    #[test]
    fn bases_of_one_array_have_its_slots_in_common() {
        let two = shared(&[(PG_ADD, 4, 1, 400)], &[0, 0], 1 << 17, 1 << 31);
        let slots = |hands_over| Slots { first: 0, bytes: 400, hands_over };
        assert_eq!(two.slots, [slots(true), slots(false)]);
        // Both add: in 2^31 iterations a slot comes back to zero.
        assert_eq!((two.bases, two.tell), (0b11, 0));
        assert_eq!(shared(&[(PG_ADD, 4, 1, 400)], &[0, 0], 1 << 17, (1 << 31) - 1).tell, 0b11);
        assert_eq!(shared(&[(PG_ADD, 4, 0, 400)], &[0], 1 << 17, 2).tell, 0);
        assert_eq!(shared(&[(PG_ADD, 4, 3, 400)], &[0], 1 << 17, u64::from(u32::MAX) / 3 + 1).tell, 0);
    }

    #[test]
    fn what_was_chosen_is_where_it_was() {
        let arrays = [(PG_XOR, 4, 0, 4000), (PG_XOR, 4, 0, 400), (PG_XOR, 2, 0, 4000)];
        let all = shared(&arrays, &[0, 1, 2], 4 * 800, 9);
        assert_eq!(all.bases, 0b011);
        // As a launch asks again, for those that have slots.
        assert_eq!(shared(&arrays[..2], &[0, 1], 4 * 800, 9).slots, all.slots[..2]);
    }
}
