//! What rows say, held against all bytes that iterations touch; and what keeps them from being apart.

use super::*;
use crate::abi::{PG_SITE_HAS_AFFINE, PG_SITE_LOADS_POINTER, nothing};
use std::collections::{BTreeMap, BTreeSet};

const LOAD: u32 = 0;
const STORE: u32 = PG_SITE_STORE;
const SLOT: u32 = PG_SITE_LOADS_POINTER | PG_SITE_WHOLE_ELEMENTS;
const SLOT_LOAD: u32 = PG_SITE_HAS_AFFINE | SLOT;

fn access(stride: [i64; 2], lo: i64, hi: i64) -> Access {
    Access { stride: [stride[0], stride[1], 0, 0], lo, hi, ..Access::default() }
}

/// A loop whose sites are given with their accesses; a site without a slot is at this address.
struct Case {
    sites: Vec<Site>,
    accesses: Vec<Access>,
    at: Vec<u64>,
    trip: [i64; PG_MAX_DIMS],
    pinned: Vec<(i128, i128)>,
    tables: Vec<Vec<u64>>,
}

impl Case {
    fn new(trip: [i64; 2]) -> Case {
        let trip = [trip[0], trip[1], 1, 1];
        Case {
            sites: Vec::new(),
            accesses: Vec::new(),
            at: Vec::new(),
            trip,
            pinned: Vec::new(),
            tables: Vec::new(),
        }
    }

    fn site(&mut self, flags: u32, slot: Option<usize>, at: u64, access: Access) -> usize {
        let width = if flags & PG_SITE_LOADS_POINTER != 0 { 8 } else { (access.hi - access.lo) as u32 };
        let (width, slot) = (width, slot.map_or(0, |slot| slot as u32 + 1));
        self.sites.push(Site { base: 0, width, flags, line: 0, slot });
        self.accesses.push(access);
        self.at.push(at);
        self.sites.len() - 1
    }

    fn read(&self) -> Option<Rows> {
        self.read_so_many(u64::MAX)
    }

    fn read_so_many(&self, most: u64) -> Option<Rows> {
        let info = Info { sites: self.sites.as_ptr(), n_sites: self.sites.len() as u32, ..nothing() };
        let print = |number: usize| {
            let base = Base { pointer: self.at[number], ..Base::default() };
            self.sites[number].slot().is_none().then(|| Footprint::new(&base, &self.accesses[number]))
        };
        let prints: Vec<Option<Footprint>> = (0..self.sites.len()).map(print).collect();
        let of = Accesses {
            info: &info,
            accesses: &self.accesses,
            prints: &prints,
            trip: &self.trip,
            pinned: &self.pinned,
        };
        Rows::read(&of, most)
    }

    /// Where a site's windows begin in an iteration.
    fn begins(&self, number: usize, iteration: [i64; 2], words: &BTreeMap<u64, u64>) -> Vec<u64> {
        let access = &self.accesses[number];
        let moved = access.stride[0] * iteration[0] + access.stride[1] * iteration[1] + access.lo;
        let from = match self.sites[number].slot() {
            None => vec![self.at[number]],
            Some(slot) => {
                let slot = slot as usize;
                let length = self.accesses[slot].hi - self.accesses[slot].lo;
                let slots = self.begins(slot, iteration, words).into_iter();
                slots.flat_map(|at| (0..length / 8).map(move |n| words[&(at + 8 * n as u64)])).collect()
            }
        };
        from.into_iter().filter(|at| *at != 0).map(|at| at.wrapping_add_signed(moved)).collect()
    }

    fn bytes(&self, number: usize, iteration: [i64; 2], words: &BTreeMap<u64, u64>) -> BTreeSet<u64> {
        let length = (self.accesses[number].hi - self.accesses[number].lo) as u64;
        let begins = self.begins(number, iteration, words).into_iter();
        begins.flat_map(|at| at..at + length).collect()
    }
}

/// Numbers that only look random.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }
    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize]
    }
}

#[test]
fn never_lies() {
    let mut numbers = Numbers(88_172_645_463_325_252);
    let (mut apart, mut independent) = (0, 0);
    for _ in 0..60_000 {
        // Tables of tables, tables, and what they lead to.
        let (mut outer, mut inner, data) = (vec![0u64; 24], vec![0u64; 48], vec![0u64; 96]);
        let start = |list: &[u64]| list.as_ptr() as u64;
        let (pitch, is_regular) = (numbers.of(&[8, 16, 24]), numbers.below(3) != 0);
        for (number, slot) in inner.iter_mut().enumerate() {
            *slot = match is_regular {
                true => start(&data) + 64 + (number as u64 * pitch) % 640,
                false => start(&data) + 64 + numbers.below(640),
            };
            if numbers.below(24) == 0 {
                *slot = 0;
            }
        }
        for (number, slot) in outer.iter_mut().enumerate() {
            *slot =
                start(&inner) + 64 + 8 * if is_regular { number as u64 % 6 * 4 } else { numbers.below(24) };
        }
        let mut words = BTreeMap::new();
        for list in [&outer, &inner] {
            words.extend((0..).zip(list.iter()).map(|(n, word)| (start(list) + 8 * n, *word)));
        }
        let trip = [numbers.below(4) as i64 + 1, numbers.below(3) as i64 + 1];
        let mut case = Case::new(trip);
        let slots = |numbers: &mut Numbers| {
            let lo = numbers.of(&[0, 8]);
            let stride = [numbers.of(&[0, 8, 8, 16, -8]), numbers.of(&[0, 0, 8])];
            access(stride, lo, lo + numbers.of(&[8, 8, 16]))
        };
        for _ in 0..2 {
            let is_deep = numbers.below(3) == 0;
            let at = if is_deep { start(&outer) + 64 } else { start(&inner) + 64 };
            let mut slot = case.site(SLOT_LOAD, None, at, slots(&mut numbers));
            // Or to the inner table itself.
            if is_deep && numbers.below(4) != 0 {
                let stride = [numbers.of(&[0, 8]), numbers.of(&[0, 8])];
                slot = case.site(SLOT, Some(slot), 0, access(stride, 0, numbers.of(&[8, 16])));
            }
            let lo = numbers.below(9) as i64 - 4;
            let stride = [numbers.of(&[0, 0, 8, 4, -8]), numbers.of(&[0, 8, 4])];
            let flags = numbers.of(&[LOAD, STORE]);
            case.site(flags, Some(slot), 0, access(stride, lo, lo + numbers.of(&[1, 4, 8, 12])));
        }
        if numbers.below(3) == 0 {
            let at =
                numbers.of(&[start(&data) + 700, start(&data) + 64, start(&inner) + 100, start(&outer) + 64]);
            let flags = numbers.of(&[PG_SITE_HAS_AFFINE, PG_SITE_HAS_AFFINE | STORE]);
            case.site(flags, None, at, access([numbers.of(&[0, 8]), 0], 0, 8));
        }
        if numbers.below(4) == 0 {
            let at = i128::from(start(&data) + numbers.below(768));
            case.pinned.push((at, at + 4));
        }
        let Some(rows) = case.read() else { continue };
        apart += 1;
        let iterations: Vec<[i64; 2]> =
            (0..trip[0]).flat_map(|i| (0..trip[1]).map(move |j| [i, j])).collect();
        let touched: Vec<Vec<BTreeSet<u64>>> = (0..case.sites.len())
            .map(|site| iterations.iter().map(|at| case.bytes(site, *at, &words)).collect())
            .collect();
        let tables: BTreeSet<u64> = (0..case.sites.len())
            .filter(|site| case.sites[*site].has(PG_SITE_LOADS_POINTER))
            .flat_map(|site| touched[site].iter().flatten().copied())
            .chain(case.pinned.iter().flat_map(|(lo, hi)| *lo as u64..*hi as u64))
            .collect();
        let is_tables = |site: usize| touched[site].iter().flatten().any(|at| tables.contains(at));
        for a in (0..case.sites.len()).filter(|site| case.sites[*site].has(STORE)) {
            if case.sites[a].slot().is_some() {
                assert!(!is_tables(a), "a table or a pin is stored to");
            }
            for b in 0..case.sites.len() {
                if case.sites[a].slot().is_none() && case.sites[b].slot().is_none() {
                    continue;
                }
                if rows.judge(a as u32, b as u32) != Answer::Independent {
                    continue;
                }
                independent += 1;
                for (number, x) in touched[a].iter().enumerate() {
                    for (other, y) in touched[b].iter().enumerate().filter(|(other, _)| *other != number) {
                        let meets = x.intersection(y).next();
                        assert!(meets.is_none(), "{:?} {:?}", iterations[number], iterations[other]);
                    }
                }
            }
        }
    }
    // It isn't silence that makes it true.
    assert!(apart > 10_000 && independent > 15_000, "{apart} {independent}");
}

/// `for i, j: v[i][j] = ... u[i][j] ...` over tables as given, rows of so many bytes.
fn sweep(v: &[u64], u: &[u64], length: i64) -> (Case, usize, usize) {
    let mut case = Case::new([v.len() as i64, length / 8]);
    case.tables = if v.as_ptr() == u.as_ptr() { vec![v.into()] } else { vec![v.into(), u.into()] };
    let [v, u] = [0, case.tables.len() - 1].map(|table| case.tables[table].as_ptr() as u64);
    let load = case.site(SLOT_LOAD, None, u, access([8, 0], 0, 8));
    let load = case.site(LOAD, Some(load), 0, access([0, 8], 0, 8));
    let store = case.site(SLOT_LOAD, None, v, access([8, 0], 0, 8));
    let store = case.site(STORE, Some(store), 0, access([0, 8], 0, 8));
    (case, store, load)
}

fn are_independent(case: &Case, a: usize, b: usize) -> Option<bool> {
    case.read().map(|rows| rows.judge(a as u32, b as u32) == Answer::Independent)
}

#[test]
fn rows_are_one_array_where_they_are_apart() {
    let memory = vec![0u64; 64];
    let start = memory.as_ptr() as u64;
    let rows = |first: u64, pitch: u64| -> Vec<u64> { (0..4).map(|n| start + first + n * pitch).collect() };
    let (case, store, load) = sweep(&rows(0, 64), &rows(256, 64), 64);
    assert_eq!(are_independent(&case, store, load), Some(true));
    assert_eq!(are_independent(&case, store, store), Some(true));
    // Backwards is as good; a byte in common isn't.
    let down: Vec<u64> = rows(0, 64).into_iter().rev().collect();
    assert_eq!(are_independent(&sweep(&down, &rows(256, 64), 64).0, store, store), Some(true));
    let (case, ..) = sweep(&rows(0, 63), &rows(256, 64), 64);
    assert_eq!(are_independent(&case, store, store), None);
    let (case, ..) = sweep(&rows(0, 64), &rows(255, 64), 64);
    assert_eq!(are_independent(&case, store, load), None);
    // What is only loaded may be one row for all.
    let (case, ..) = sweep(&rows(0, 64), &rows(256, 0), 64);
    assert_eq!(are_independent(&case, store, load), Some(true));
    // Two slots for one row aren't one slot.
    let (case, ..) = sweep(&rows(0, 0), &rows(256, 64), 64);
    assert_eq!(are_independent(&case, store, store), None);
    // One table: each iteration finds what it stores itself, or what its neighbour stores.
    let v = rows(0, 64);
    let (mut case, store, load) = sweep(&v, &v, 64);
    assert_eq!(are_independent(&case, store, load), Some(true));
    case.accesses[load].lo -= 8;
    case.accesses[load].hi -= 8;
    assert_eq!(are_independent(&case, store, load), None, "the row's first access is in the row before");
    (case.accesses[load].lo, case.accesses[load].hi, case.trip[1]) = (8, 16, 7);
    assert_eq!(are_independent(&case, store, load), Some(false));
    case.trip[1] = 1;
    assert_eq!(are_independent(&case, store, load), Some(true));
}

#[test]
fn members_of_what_pointers_lead_to_are_told_apart() {
    let bodies = vec![0u64; 64];
    let slots: Vec<u64> = (0..8).map(|n| bodies.as_ptr() as u64 + 64 * n).collect();
    let mut case = Case::new([8, 1]);
    let own = case.site(SLOT_LOAD, None, slots.as_ptr() as u64, access([8, 0], 0, 8));
    // An inner loop goes through all.
    let all = case.site(SLOT_LOAD, None, slots.as_ptr() as u64, access([0, 0], 0, 64));
    let place = case.site(LOAD, Some(all), 0, access([0, 0], 0, 24));
    let force = case.site(STORE, Some(own), 0, access([0, 0], 24, 48));
    assert_eq!(are_independent(&case, force, place), Some(true));
    case.accesses[place].hi = 25;
    assert_eq!(are_independent(&case, force, place), Some(false));
}

#[test]
fn tables_stay_as_they_are() {
    let memory = vec![0u64; 64];
    let start = memory.as_ptr() as u64;
    let table: Vec<u64> = (0..4).map(|n| start + 64 * n).collect();
    let source: Vec<u64> = table.iter().map(|row| row + 256).collect();
    let (mut case, store, load) = sweep(&table, &source, 64);
    let written = case.site(PG_SITE_HAS_AFFINE | STORE, None, start + 248, access([0, 0], 0, 8));
    assert_eq!(are_independent(&case, store, written), None, "it is the end of a row");
    // What is stored in no row, and whatever else is only loaded.
    let outside = [0u64; 4];
    case.at[written] = outside.as_ptr() as u64;
    assert_eq!(are_independent(&case, store, written), Some(true));
    assert_eq!(are_independent(&case, load, written), Some(true));
    // A slot that is stored to, if only in the iteration that follows it.
    case.at[written] = case.tables[0].as_ptr() as u64 + 24;
    assert_eq!(are_independent(&case, store, written), None);
    case.at[written] = outside.as_ptr() as u64;
    let pin = i128::from(start + 63);
    case.pinned = vec![(pin, pin + 1)];
    assert_eq!(are_independent(&case, store, load), None);
    case.pinned = vec![(pin - 64, pin - 63)];
    assert_eq!(are_independent(&case, store, load), Some(true));
    // A row that lies in the table.
    let mut own = [0u64; 8];
    own[0] = own.as_ptr() as u64;
    let (mut case, ..) = sweep(&own[..1], &source[..1], 64);
    case.at[2] = own.as_ptr() as u64;
    assert_eq!(are_independent(&case, store, load), None);
}

#[test]
fn inner_tables_are_apart_though_they_are_only_loaded() {
    let (data, mut inner) = (vec![0u64; 64], vec![0u64; 8]);
    for (number, slot) in inner.iter_mut().enumerate() {
        *slot = data.as_ptr() as u64 + 64 * number as u64;
    }
    let at = |number: usize| inner.as_ptr() as u64 + 8 * number as u64;
    let cube = |outer: &[u64]| {
        let mut case = Case::new([outer.len() as i64, 2]);
        let slot = case.site(SLOT_LOAD, None, outer.as_ptr() as u64, access([8, 0], 0, 8));
        let slot = case.site(SLOT, Some(slot), 0, access([0, 8], 0, 8));
        let store = case.site(STORE, Some(slot), 0, access([0, 0], 0, 64));
        are_independent(&case, store, store)
    };
    assert_eq!(cube(&[at(0), at(2), at(6)]), Some(true));
    assert_eq!(cube(&[at(0), at(1), at(6)]), None, "the second slot of the first is the first of the second");
    assert_eq!(cube(&[at(0) + 1, at(2), at(6)]), None, "its slots are nowhere");
    assert_eq!(cube(&[at(0), 0, at(6)]), Some(true), "whoever comes to the second one faults");
}

#[test]
fn inner_tables_are_not_stored_to() {
    let data = vec![0u64; 64];
    let inner: Vec<u64> = (0..8).map(|n| data.as_ptr() as u64 + 64 * n).collect();
    let outer: Vec<u64> = (0..4).map(|n| inner.as_ptr() as u64 + 16 * n).collect();
    let mut case = Case::new([4, 1]);
    // `t[i][1] = ...; t[i][0][k] = ...`
    let table = case.site(SLOT_LOAD, None, outer.as_ptr() as u64, access([8, 0], 0, 8));
    let made = case.site(STORE, Some(table), 0, access([0, 0], 8, 16));
    let slot = case.site(SLOT, Some(table), 0, access([0, 0], 0, 8));
    let store = case.site(STORE, Some(slot), 0, access([0, 0], 0, 64));
    assert_eq!(are_independent(&case, store, made), Some(true));
    // The same slot, which the iteration makes and then follows, or the end of it.
    for lo in [0, 7] {
        (case.accesses[made].lo, case.accesses[made].hi) = (lo, lo + 8);
        assert_eq!(are_independent(&case, store, store), None);
    }
    case.sites[made].flags = LOAD;
    (case.accesses[made].lo, case.accesses[made].hi) = (0, 8);
    assert_eq!(are_independent(&case, store, store), Some(true));
    // That of the next row, where rows have some of it in common.
    (case.accesses[made].lo, case.accesses[made].hi, case.sites[made].flags) = (16, 24, STORE);
    assert_eq!(are_independent(&case, store, store), None);
}

#[test]
fn what_is_not_known_is_no_proof() {
    let memory = vec![0u64; 4096];
    let table: Vec<u64> = (0..300).map(|n| memory.as_ptr() as u64 + 8 * n).collect();
    let (mut case, store, load) = sweep(&table, &table, 8);
    assert_eq!(are_independent(&case, store, load), Some(true));
    assert!(case.read_so_many(299).is_none());
    assert!(case.read_so_many(300).is_some());
    // Few are always looked at.
    case.trip[0] = FEW as i64;
    assert!(case.read_so_many(0).is_some());
    // A table that isn't there.
    case.at[0] = 64;
    assert_eq!(are_independent(&case, store, load), None);
    case.at[0] = case.tables[0].as_ptr() as u64 + 4;
    assert_eq!(are_independent(&case, store, load), None, "slots are whole words");
    case.at[0] = case.tables[0].as_ptr() as u64;
    case.accesses[load].lo = 8;
    assert_eq!(are_independent(&case, store, load), Some(true), "the loop has no such load");
    case.accesses[load].lo = 0;
    assert_eq!(are_independent(&case, store, load), Some(true));
    // An inner loop goes through members of packed structs, some of which lie across words.
    case.sites[0].flags &= !PG_SITE_WHOLE_ELEMENTS;
    assert_eq!(are_independent(&case, store, load), None);
    case.sites[0].flags |= PG_SITE_WHOLE_ELEMENTS;
    // An accident of numbers: offsets that leave the address space.
    (case.accesses[load].lo, case.accesses[load].hi) = (i64::MIN, i64::MIN + 8);
    assert_eq!(are_independent(&case, store, load), None);
}
