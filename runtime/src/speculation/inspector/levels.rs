//! Who has to wait for whom: the slice runs in source order on the calling thread, and every iteration gets a level, one more than the
//! highest level of an earlier iteration that it has to wait for, because both touch a cell of memory and one of them stores to
//! it (J. Saltz et al., "Run-time parallelization and scheduling of loops", IEEE Transactions on Computers 40(5), 1991). If all
//! are on the first level, the iterations are independent and run without logs. If there are a few levels with many
//! iterations each, the levels run one after the other as wavefronts.

use super::seen::only_seen;
use super::{
    Content, Finding, MOST_PIECES, Memo, Obstacle, SYSTEM_PAGE_SHIFT, Zero, cell_shift, pinned, zeros,
};
use crate::abi::*;
use crate::memory::{limits, safe_copy};
use crate::speculation::race::Helpers;
use rustc_hash::FxHashMap;
use std::ffi::c_int;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// log2 of the bytes that one table of cells covers. Where accesses are scattered, finding their tables is what takes time:
/// the index of tables stays in a core's cache up to some gigabytes.
const PAGE_SHIFT: u32 = 16;
/// Bytes of bookkeeping after which it is asked whether there is memory for more.
const CHECKED_EVERY: u64 = 16 << 20;
/// Iterations on a level, on average, from which wavefronts may pay.
const WIDE: u64 = 8;
/// Levels that are in any case waited for before a loop is given up as a chain.
const PATIENCE: u32 = 256;
/// Iterations, and accesses that are shown, after which the clock is looked at.
const CLOCK_EVERY: usize = 1 << 8;
const CLOCK_EVERY_SHOWN: u32 = 1 << 12;

/// Set in [`Cell::stored`] as soon as an iteration stores there: the current one, or one that no other meets.
const PENDING: u32 = 1 << 31;
/// Set in [`Cell::loaded`] where the value feeds the slice.
const FED: u32 = 1 << 31;

/// What is known of a few bytes of memory.
#[derive(Clone, Copy, Default)]
struct Cell {
    /// Level of the last iteration that stores there, 0 for none; and [`PENDING`].
    stored: u32,
    /// Highest level of an iteration that loads from there since; and [`FED`].
    loaded: u32,
}

/// What is known of updates since the last store.
#[derive(Clone, Copy, Default)]
struct Updates {
    /// Highest level of an iteration that updates the cell.
    level: u32,
    /// By what kind of update: those of one kind commute.
    kind: u32,
}

// SAFETY: numbers.
unsafe impl Zero for Cell {}
// SAFETY: numbers.
unsafe impl Zero for Updates {}

/// The cells of a page.
struct Table {
    cells: Box<[Cell]>,
    /// Which of the system's pages in it were found to be there: a bit each.
    mapped: u64,
    /// Nothing, where there are none.
    updates: Box<[Updates]>,
}

/// An order in which iterations that depend on each other can run: all of a level at once, level by level.
#[derive(Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Iterations of the merged space, by level, in source order within a level.
    pub order: Vec<u32>,
    /// Where levels end in `order`.
    pub ends: Vec<usize>,
}

impl Schedule {
    /// The levels, each a part of `order`.
    pub fn levels(&self) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        begins.zip(self.ends.iter().copied()).map(|(begin, end)| begin..end)
    }

    /// By counting: `levels[k]` is the level of iteration `k`, from 1 to `highest`.
    fn new(levels: &[u32], highest: u32) -> Option<Schedule> {
        let mut ends: Vec<usize> = safe_copy::buffer(u64::from(highest)).ok()?;
        let mut order: Vec<u32> = safe_copy::buffer(levels.len() as u64).ok()?;
        for level in levels {
            ends[*level as usize - 1] += 1;
        }
        let mut begin = 0;
        for end in &mut ends {
            begin += std::mem::replace(end, begin);
        }
        // Each end is where its level begins until its iterations have been put in.
        for (k, level) in levels.iter().enumerate() {
            let place = &mut ends[*level as usize - 1];
            order[*place] = k as u32;
            *place += 1;
        }
        Some(Schedule { order, ends })
    }
}

/// Why the slice is left before its end.
enum Stop {
    Obstacle(Obstacle),
    Chain,
}

impl From<Obstacle> for Stop {
    fn from(obstacle: Obstacle) -> Stop {
        Stop::Obstacle(obstacle)
    }
}

/// A cell that is touched: table, cell, and how.
type Pending = (u32, u32, u32);

/// One inspection under way. Generated code sees its first field only.
#[repr(C)]
struct Inspector {
    raw: RawInspector,
    /// log2 of the bytes of a cell.
    shift: u32,
    /// Memory that has to stay as it is: first byte and one past the last.
    pins: Vec<(u64, u64)>,
    /// Where the tables of cells of each page are.
    pages: FxHashMap<u64, usize>,
    tables: Vec<Table>,
    /// For each site the page that was asked for last, with its table: accesses stay on a page for long.
    recent: Vec<(u64, usize)>,
    /// Cells that the current iteration touches: table, cell, and how.
    pending: Vec<Pending>,
    /// For each site the iteration that it was shown in last, and what it touched there: in loops inside, many come to one place again and again.
    latest: Vec<(usize, Pending)>,
    /// The current iteration's level so far.
    level: u32,
    /// Levels of the iterations before it.
    levels: Vec<u32>,
    highest: u32,
    bytes: u64,
    checked: u64,
    /// Whether some store covers a part of a cell only.
    ragged: bool,
    deadline: Instant,
    /// Accesses that were shown so far.
    shown: u32,
    stopped: Option<Stop>,
}

/// Lets the inspector do something for generated code. Not 0: the inspection is over.
///
/// # Safety
/// `raw` is what [`inspect`] lends to generated code.
unsafe fn answer(raw: *mut RawInspector, work: impl FnOnce(&mut Inspector) -> Result<(), Stop>) -> c_int {
    // SAFETY: generated code hands over what it was given: the first field of the inspector that `inspect` lends it.
    let inspector = unsafe { &mut *raw.cast::<Inspector>() };
    if let Err(stop) = work(inspector) {
        inspector.stopped.get_or_insert(stop);
        return 1;
    }
    0
}

/// See `struct __pg_inspector`.
///
/// # Safety
/// As for [`answer`], here and below.
unsafe extern "C" fn touch(raw: *mut RawInspector, site: u32, address: u64, how: u32) -> c_int {
    // SAFETY: promised by the caller.
    unsafe { answer(raw, |inspector| inspector.touch(site, address, how)) }
}

/// See `struct __pg_inspector`.
///
/// # Safety
/// See `touch`.
unsafe extern "C" fn next(raw: *mut RawInspector) -> c_int {
    // SAFETY: promised by the caller.
    unsafe { answer(raw, Inspector::next) }
}

/// See `struct __pg_inspector`. In source order every value is the loop's own, so inner loops end; but nobody may wait for long.
///
/// # Safety
/// See `touch`.
unsafe extern "C" fn poll(raw: *mut RawInspector) -> c_int {
    // SAFETY: promised by the caller.
    unsafe { answer(raw, |inspector| inspector.look_at_clock()) }
}

impl Inspector {
    fn new(shift: u32, sites: usize, pins: Vec<(u64, u64)>, patience: Duration) -> Inspector {
        Inspector {
            raw: RawInspector {
                touch,
                next,
                poll,
                known: 0,
                first: 0,
                length: 0,
                lasting: 0,
                turns: 0,
                counts: 0,
            },
            shift,
            pins,
            pages: FxHashMap::default(),
            tables: Vec::new(),
            recent: vec![(u64::MAX, 0); sites],
            pending: Vec::new(),
            latest: vec![(usize::MAX, (0, 0, 0)); sites],
            level: 0,
            levels: Vec::new(),
            highest: 0,
            bytes: 0,
            checked: 0,
            ragged: false,
            deadline: Instant::now() + patience,
            shown: 0,
            stopped: None,
        }
    }

    /// Makes room for one more in a list.
    fn grow<T>(&mut self, list: impl FnOnce(&mut Self) -> &mut Vec<T>) -> Result<(), Stop> {
        let none = || Stop::Obstacle(Obstacle::Memory);
        let list = list(self);
        if list.len() < list.capacity() {
            return Ok(());
        }
        let more = list.capacity().max(1024);
        list.try_reserve_exact(more).map_err(|_| none())?;
        self.took((more * size_of::<T>()) as u64)
    }

    fn took(&mut self, bytes: u64) -> Result<(), Stop> {
        self.bytes += bytes;
        if self.bytes < self.checked + CHECKED_EVERY {
            return Ok(());
        }
        self.checked = self.bytes;
        match limits::fits(self.bytes) {
            true => Ok(()),
            false => Err(Stop::Obstacle(Obstacle::Memory)),
        }
    }

    /// The table of a page.
    fn table(&mut self, site: u32, page: u64) -> Result<usize, Stop> {
        if let Some((recent, table)) = self.recent.get(site as usize)
            && *recent == page
        {
            return Ok(*table);
        }
        let table = match self.pages.get(&page) {
            Some(table) => *table,
            None => {
                // Memory takes longer than accesses: one iteration may come to hundreds of pages.
                self.look_at_clock()?;
                let none = |_| Stop::Obstacle(Obstacle::Memory);
                let cells = 1 << (PAGE_SHIFT - self.shift);
                let table = Table { cells: zeros(cells)?, mapped: 0, updates: Box::default() };
                self.pages.try_reserve(1).map_err(none)?;
                self.grow(|i| &mut i.tables)?;
                self.took((cells * size_of::<Cell>()) as u64 + 64)?;
                self.tables.push(table);
                self.pages.insert(page, self.tables.len() - 1);
                self.tables.len() - 1
            }
        };
        if let Some(recent) = self.recent.get_mut(site as usize) {
            *recent = (page, table);
        }
        Ok(table)
    }

    fn touch(&mut self, site: u32, address: u64, how: u32) -> Result<(), Stop> {
        self.shown = self.shown.wrapping_add(1);
        if self.shown.is_multiple_of(CLOCK_EVERY_SHOWN) {
            self.look_at_clock()?;
        }
        let width = u64::from(how >> PG_TOUCH_WIDTH & 0xff).max(1);
        let kind = how >> PG_TOUCH_KIND;
        let is = |flag: u32| how & flag != 0;
        let (stores, feeds) = (is(PG_TOUCH_STORE), is(PG_TOUCH_FEEDS));
        let (updates, meets) = (is(PG_TOUCH_UPDATE), is(PG_TOUCH_MEETS));
        let end = address.saturating_add(width);
        if (stores || updates) && self.pins.iter().any(|(lo, hi)| address < *hi && *lo < end) {
            return Err(Stop::Obstacle(Obstacle::ChangesPin));
        }
        self.ragged |= (stores || updates) && (address | width) & ((1 << self.shift) - 1) != 0;
        let last = address.saturating_add(width - 1) >> self.shift;
        let per_page = PAGE_SHIFT - self.shift;
        for number in address >> self.shift..=last {
            let table = self.table(site, number >> per_page)?;
            let index = (number & ((1 << per_page) - 1)) as usize;
            let table_of_page = &mut self.tables[table];
            if updates && table_of_page.updates.is_empty() {
                table_of_page.updates = zeros(table_of_page.cells.len())?;
                let bytes = size_of_val(&*table_of_page.updates) as u64;
                self.took(bytes)?;
            }
            let table_of_page = &mut self.tables[table];
            let updated = table_of_page.updates.get(index).copied().unwrap_or_default();
            let cell = &mut table_of_page.cells[index];
            if feeds {
                let part = 1 << ((number << self.shift & ((1 << PAGE_SHIFT) - 1)) >> SYSTEM_PAGE_SHIFT);
                if table_of_page.mapped & part == 0 {
                    let mut byte = 0u8;
                    let first = address.max(number << self.shift);
                    // SAFETY: one byte, into one byte of ours.
                    if unsafe { safe_copy::read(first, 1, &raw mut byte) }.is_err() {
                        return Err(Stop::Obstacle(Obstacle::NotThere));
                    }
                    table_of_page.mapped |= part;
                }
                if cell.stored != 0 {
                    return Err(Stop::Obstacle(Obstacle::FeedsItself));
                }
                cell.loaded |= FED;
            }
            let (stored, loaded) = (cell.stored & !PENDING, cell.loaded & !FED);
            if stores || updates {
                cell.stored |= PENDING;
            }
            let after = match (stores, updates) {
                (_, true) if updated.kind == kind => stored.max(loaded),
                (true, _) | (_, true) => stored.max(loaded).max(updated.level),
                (false, false) => stored.max(updated.level),
            };
            if !meets {
                continue;
            }
            self.level = self.level.max(after + 1);
            // There are fewer tables than pages.
            let now = (self.levels.len(), (table as u32, index as u32, how));
            // The same once more is nothing new, whatever came between: its level is the iteration's in any case.
            let is_known = self
                .latest
                .get_mut(site as usize)
                .is_some_and(|latest| std::mem::replace(latest, now) == now);
            if !is_known {
                self.grow(|i| &mut i.pending)?;
                self.pending.push(now.1);
            }
        }
        Ok(())
    }

    fn look_at_clock(&self) -> Result<(), Stop> {
        if Instant::now() > self.deadline { Err(Stop::Obstacle(Obstacle::Endless)) } else { Ok(()) }
    }

    /// In front of each iteration, and behind the last.
    fn next(&mut self) -> Result<(), Stop> {
        if self.levels.len().is_multiple_of(CLOCK_EVERY) {
            self.look_at_clock()?;
        }
        if self.level != 0 {
            self.finish()?;
        }
        self.level = 1;
        Ok(())
    }

    /// The current iteration's accesses are those of its level from now on.
    fn finish(&mut self) -> Result<(), Stop> {
        let level = self.level;
        for (table, index, how) in self.pending.drain(..) {
            let (table, index) = (&mut self.tables[table as usize], index as usize);
            let cell = &mut table.cells[index];
            if how & PG_TOUCH_UPDATE != 0 {
                let (updates, kind) = (&mut table.updates[index], how >> PG_TOUCH_KIND);
                if updates.kind != kind {
                    // For all that comes later, what was updated in another way is stored to.
                    cell.stored = cell.stored.max((cell.stored & PENDING) | updates.level);
                }
                *updates = Updates { level: updates.level.max(level), kind };
            } else if how & PG_TOUCH_STORE != 0 {
                // Whoever has loaded from there is on a lower level, and so before every later store.
                *cell = Cell { stored: level, loaded: cell.loaded & FED };
                if let Some(updates) = table.updates.get_mut(index) {
                    *updates = Updates::default();
                }
            } else {
                cell.loaded = (cell.loaded & FED) | (cell.loaded & !FED).max(level);
            }
        }
        self.highest = self.highest.max(level);
        self.grow(|i| &mut i.levels)?;
        self.levels.push(level);
        let chain = self.highest > PATIENCE && u64::from(self.highest) * 4 > self.levels.len() as u64;
        if chain || self.highest >= PENDING - 1 { Err(Stop::Chain) } else { Ok(()) }
    }

    /// The memory that fed the slice, as ranges of addresses.
    fn fed(&self) -> Vec<(u64, u64)> {
        self.ranges(|cell| cell.loaded & FED != 0, usize::MAX).unwrap_or_default()
    }

    /// The memory that the loop stores to through all that is shown to it; `None` where that isn't known to the byte, or is in too
    /// many pieces.
    fn stored(&self) -> Option<Vec<(u64, u64)>> {
        if self.ragged { None } else { self.ranges(|cell| cell.stored != 0, MOST_PIECES) }
    }

    /// Memory of which something is true, as ranges of addresses in their order; `None` if these are more than `most`.
    fn ranges(&self, is_part: impl Fn(&Cell) -> bool, most: usize) -> Option<Vec<(u64, u64)>> {
        let mut pages: Vec<_> = self.pages.iter().collect();
        pages.sort_unstable();
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for (page, table) in pages {
            for (index, cell) in self.tables[*table].cells.iter().enumerate() {
                if !is_part(cell) {
                    continue;
                }
                let lo = (page << PAGE_SHIFT) + ((index as u64) << self.shift);
                let hi = lo + (1 << self.shift);
                if let Some(last) = ranges.last_mut().filter(|last| last.1 == lo) {
                    last.1 = hi;
                } else if ranges.len() == most {
                    return None;
                } else {
                    ranges.push((lo, hi));
                }
            }
        }
        Some(ranges)
    }
}

/// Inspects one entry, in no more than about so much time. `looked_at`: where it is counted how many iterations of dimension 0 were looked at, before it came to an end.
///
/// # Safety
/// `entry` was filled in by generated code for `info`, and the loop would run now: its first test is true.
pub unsafe fn inspect(
    info: &Info,
    entry: &Entry,
    inspect: InspectFn,
    helpers: Helpers<'_>,
    patience: Duration,
    looked_at: &AtomicU64,
) -> Result<Memo, Obstacle> {
    // SAFETY: promised by the caller.
    let pins = unsafe { pinned(info, entry) };
    let mut inspector = Inspector::new(cell_shift(info), info.n_sites as usize, pins, patience);
    inspector.raw.known = only_seen(info);
    // SAFETY: the slice loads what the loop would load, and hands the inspector back to its functions only; its first
    // field is what the pointer leads to, and nobody else uses it meanwhile.
    unsafe { inspect(entry, (&raw mut inspector).cast(), 0, entry.trip[0]) };
    if inspector.stopped.is_none()
        && let Err(stop) = inspector.next()
    {
        inspector.stopped.get_or_insert(stop);
    }
    let iterations = inspector.levels.len() as u64;
    looked_at.store(iterations, Ordering::Relaxed);
    let finding = match (inspector.stopped.take(), inspector.highest) {
        (Some(Stop::Obstacle(obstacle)), _) => return Err(obstacle),
        (Some(Stop::Chain), _) => Finding::Chain,
        (None, ..=1) => Finding::Independent,
        (None, highest) if u64::from(highest) * WIDE > iterations => Finding::Chain,
        (None, highest) => {
            let schedule = Schedule::new(&inspector.levels, highest).ok_or(Obstacle::Memory)?;
            Finding::Levels(Arc::new(schedule))
        }
    };
    let memory = vec![Content::of_by(inspector.deadline, inspector.fed(), helpers)?];
    // SAFETY: promised by the caller.
    Ok(unsafe { Memo::new(info, entry, memory, finding, inspector.stored()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOAD: u32 = PG_TOUCH_MEETS | 8 << PG_TOUCH_WIDTH;
    const STORE: u32 = LOAD | PG_TOUCH_STORE;
    const FEED: u32 = PG_TOUCH_FEEDS | LOAD;

    fn inspector(shift: u32, sites: usize, pins: Vec<(u64, u64)>) -> Inspector {
        Inspector::new(shift, sites, pins, Duration::from_secs(1000))
    }

    /// Memory that is there: the address of a page of cells, with another behind it.
    fn memory() -> u64 {
        let bytes: &'static [u8] = vec![0u8; 3 << PAGE_SHIFT].leak();
        (bytes.as_ptr() as u64).next_multiple_of(1 << PAGE_SHIFT)
    }

    /// Levels of iterations that touch these elements of 8 bytes.
    fn levels(iterations: &[&[(u64, u32)]]) -> Option<Vec<u32>> {
        let (mut inspector, memory) = (inspector(3, 1, Vec::new()), memory());
        for iteration in iterations {
            inspector.next().ok()?;
            for (element, how) in *iteration {
                inspector.touch(0, memory + 65536 - 16 + element * 8, *how).ok()?;
            }
        }
        inspector.next().ok()?;
        Some(inspector.levels)
    }

    #[test]
    fn levels_keep_all_kinds_of_dependences() {
        // Flow, output, anti; own accesses don't count.
        assert_eq!(levels(&[&[(0, STORE)], &[(0, LOAD), (1, STORE)], &[(2, STORE)]]), Some(vec![1, 2, 1]));
        assert_eq!(levels(&[&[(0, STORE)], &[(0, STORE)], &[(0, STORE)]]), Some(vec![1, 2, 3]));
        assert_eq!(levels(&[&[(0, LOAD)], &[(0, LOAD)], &[(0, STORE)]]), Some(vec![1, 1, 2]));
        assert_eq!(
            levels(&[&[(0, LOAD), (0, STORE), (0, LOAD)], &[(1, LOAD), (1, STORE)]]),
            Some(vec![1, 1])
        );
        // A store is after loads that came after an earlier store.
        let late =
            levels(&[&[(0, STORE)], &[(0, LOAD)], &[(0, LOAD), (1, STORE)], &[(1, LOAD)], &[(0, STORE)]]);
        assert_eq!(late, Some(vec![1, 2, 2, 3, 3]));
    }

    #[test]
    fn a_long_iteration_ends_when_its_time_is_up() {
        let (mut inspector, address) = (inspector(3, 1, Vec::new()), memory());
        assert!(inspector.touch(0, address, LOAD).is_ok());
        inspector.deadline = Instant::now();
        let mut show = |address| inspector.touch(0, address, LOAD).is_ok();
        let shown = (0..=CLOCK_EVERY_SHOWN).take_while(|_| show(address)).count() as u32;
        assert_eq!(shown, CLOCK_EVERY_SHOWN - 2);
        assert!(show(address), "the next time it is asked is far away");
        assert!(!show(address + (1 << PAGE_SHIFT)), "but not for more memory");
    }

    #[test]
    fn what_is_touched_again_is_noted_once() {
        let (mut inspector, memory) = (inspector(3, 3, Vec::new()), memory());
        for _ in 0..2 {
            inspector.next().ok().unwrap();
            for turn in 0..1000 {
                inspector.touch(0, memory, LOAD).ok().unwrap();
                inspector.touch(1, memory + 8, STORE).ok().unwrap();
                inspector.touch(2, memory + 16 + turn / 100 * 8, LOAD).ok().unwrap();
            }
            assert_eq!(inspector.pending.len(), 2 + 10);
        }
        inspector.next().ok().unwrap();
        assert_eq!(inspector.levels, [1, 2]);
    }

    #[test]
    fn levels_are_those_of_all_pairs() {
        let mut seed = 7u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        let memory = memory();
        for _ in 0..300 {
            let mut inspector = inspector(3, 2, Vec::new());
            let mut iterations: Vec<Vec<(u64, bool)>> = Vec::new();
            for _ in 0..30 {
                let accesses = (0..random(12)).map(|_| (random(20), random(3) == 0)).collect();
                iterations.push(accesses);
            }
            for iteration in &iterations {
                inspector.next().ok().unwrap();
                for (element, stores) in iteration {
                    let how = if *stores { STORE } else { LOAD };
                    inspector.touch(u32::from(*stores), memory + element * 8, how).ok().unwrap();
                }
            }
            inspector.next().ok().unwrap();
            let meet = |a: &[(u64, bool)], b: &[(u64, bool)]| {
                a.iter().any(|(x, stores)| b.iter().any(|(y, also)| x == y && (*stores || *also)))
            };
            let mut wanted: Vec<u32> = Vec::new();
            for (number, iteration) in iterations.iter().enumerate() {
                let before = (0..number).filter(|earlier| meet(&iterations[*earlier], iteration));
                wanted.push(before.map(|earlier| wanted[earlier]).max().unwrap_or(0) + 1);
            }
            assert_eq!(inspector.levels, wanted);
        }
    }

    #[test]
    fn updates_commute_with_each_other_only() {
        const UPDATE: u32 = LOAD | PG_TOUCH_UPDATE;
        assert_eq!(levels(&[&[(0, UPDATE)], &[(0, UPDATE)], &[(0, UPDATE)]]), Some(vec![1, 1, 1]));
        const OTHER: u32 = UPDATE | 3 << PG_TOUCH_KIND;
        assert_eq!(
            levels(&[&[(0, UPDATE)], &[(0, OTHER)], &[(0, OTHER)], &[(0, UPDATE)]]),
            Some(vec![1, 2, 2, 3])
        );
        assert_eq!(levels(&[&[(0, UPDATE)], &[(0, LOAD)], &[(0, UPDATE)]]), Some(vec![1, 2, 3]));
        assert_eq!(levels(&[&[(0, STORE)], &[(0, UPDATE)], &[(0, STORE)]]), Some(vec![1, 2, 3]));
        assert_eq!(levels(&[&[(0, UPDATE)], &[(0, FEED)]]), None);
    }

    #[test]
    fn pinned_memory_is_left_alone() {
        let mut inspector = inspector(3, 1, vec![(65540, 65544)]);
        inspector.next().ok().unwrap();
        let byte = PG_TOUCH_STORE | 1 << PG_TOUCH_WIDTH;
        // Whether it takes part in a pair or not; loads may be anywhere.
        for (address, how, is_hit) in [
            (65539, byte, false),
            (65536, PG_TOUCH_STORE | 4 << PG_TOUCH_WIDTH, false),
            (65536, STORE, true),
            (65536, LOAD, false),
            (65536, LOAD | PG_TOUCH_UPDATE, true),
            (65543, byte, true),
            (65543, byte | PG_TOUCH_MEETS, true),
            (65544, byte, false),
        ] {
            let stopped = inspector.touch(0, address, how);
            let hit = matches!(stopped, Err(Stop::Obstacle(Obstacle::ChangesPin)));
            assert_eq!((hit, stopped.is_err()), (is_hit, is_hit), "{address} {how}");
        }
    }

    #[test]
    fn what_is_stored_is_known_to_the_byte() {
        let stored = |shift: u32, touched: &[(u64, u32)]| {
            let (mut inspector, memory) = (inspector(shift, 1, Vec::new()), memory());
            for (address, how) in touched {
                inspector.next().ok().unwrap();
                inspector.touch(0, memory + address, *how).ok().unwrap();
            }
            inspector.next().ok().unwrap();
            let ranges = inspector.stored()?;
            Some(ranges.into_iter().map(|(lo, hi)| (lo - memory, hi - memory)).collect::<Vec<_>>())
        };
        const UPDATE: u32 = LOAD | PG_TOUCH_UPDATE;
        let alone = STORE & !PG_TOUCH_MEETS;
        let touched = [(65536, STORE), (64, UPDATE), (65528, alone), (8, LOAD), (72, STORE), (72, LOAD)];
        assert_eq!(stored(3, &touched), Some(vec![(64, 80), (65528, 65544)]));
        assert_eq!(stored(2, &[(64, STORE), (80, STORE)]), Some(vec![(64, 72), (80, 88)]));
        assert_eq!(stored(3, &[(8, LOAD)]), Some(vec![]));
        // A part of a cell.
        assert_eq!(stored(3, &[(64, PG_TOUCH_STORE | 4 << PG_TOUCH_WIDTH)]), None);
        assert_eq!(stored(3, &[(68, STORE)]), None);
        // Too many pieces.
        let many: Vec<(u64, u32)> = (0..=MOST_PIECES as u64).map(|n| (n * 2, STORE)).collect();
        assert_eq!(stored(0, &many[..100]).map(|ranges| ranges.len()), Some(1));
        let bytes: Vec<(u64, u32)> =
            many.iter().map(|(at, _)| (*at, PG_TOUCH_STORE | 1 << PG_TOUCH_WIDTH)).collect();
        assert_eq!(stored(0, &bytes), None);
        assert_eq!(stored(0, &bytes[1..]).map(|ranges| ranges.len()), Some(MOST_PIECES));
    }

    #[test]
    fn parts_of_an_access_count_each() {
        let mut inspector = inspector(0, 1, Vec::new());
        let byte = PG_TOUCH_MEETS | PG_TOUCH_STORE | 1 << PG_TOUCH_WIDTH;
        inspector.next().ok().unwrap();
        inspector.touch(0, 65532, STORE).ok().unwrap();
        inspector.next().ok().unwrap();
        inspector.touch(0, 65539, byte).ok().unwrap();
        inspector.next().ok().unwrap();
        inspector.touch(0, 65540, byte).ok().unwrap();
        inspector.next().ok().unwrap();
        assert_eq!(inspector.levels, [1, 2, 1]);
    }

    #[test]
    fn a_value_that_the_loop_would_have_changed_ends_it() {
        assert_eq!(levels(&[&[(0, STORE)], &[(0, FEED)]]), None);
        assert_eq!(levels(&[&[(0, STORE), (0, FEED)]]), None);
        let alone = |how| how & !PG_TOUCH_MEETS;
        assert_eq!(levels(&[&[(0, alone(STORE)), (0, alone(FEED))]]), None);
        assert_eq!(levels(&[&[(0, FEED), (0, STORE)], &[(1, FEED)]]), Some(vec![1, 1]));
    }

    #[test]
    fn schedules_are_by_level_and_in_source_order() {
        let schedule = Schedule::new(&[1, 2, 1, 3, 2], 3).unwrap();
        assert_eq!(schedule.order, [0, 2, 1, 4, 3]);
        assert_eq!(schedule.levels().collect::<Vec<_>>(), [0..2, 2..4, 4..5]);
    }

    #[test]
    fn memory_that_fed_it_is_known() {
        let (mut inspector, memory) = (inspector(2, 2, Vec::new()), memory());
        inspector.next().ok().unwrap();
        let feed = PG_TOUCH_FEEDS | 4 << PG_TOUCH_WIDTH;
        for address in [65532, 65536, 65544, 4, 65540] {
            inspector.touch(1, memory + address, feed).ok().unwrap();
        }
        assert_eq!(inspector.fed(), [(4, 8), (65532, 65548)].map(|(lo, hi)| (memory + lo, memory + hi)));
        assert!(inspector.touch(1, 64, feed).is_err(), "the zero page is never there");
    }
}
