//! Whether any two iterations meet: several threads run the slice for parts of the iterations, and each marks what its iterations touch,
//! one bit for each cell of memory. Two iterations of one thread that meet are seen at once, those of different threads when the
//! marks are compared. The answer is yes or no; who has to wait for whom is for [`super::levels`].
//!
//! Within an iteration, accesses don't meet. So what it stores to is kept in a list until it ends, and so is what it loads: of
//! a cell that it stores to as well, that says enough.
//!
//! Most accesses need not be looked at one by one. Affine ones are not shown at all: the runtime knows the memory that they reach,
//! all iterations together ([`Known`]). Loads from arrays that the loop doesn't store to by the same name are taken for some
//! cells more than they load ([`Known::lasting`]). Where such a shortcut makes iterations meet, the slice runs once more without any.

use super::{Content, Finding, MOST_PIECES, Memo, Obstacle, SYSTEM_PAGE_SHIFT, cell_shift, pinned, zeros};
use crate::abi::*;
use crate::floating_point::Flushing;
use crate::memory::{limits, safe_copy};
use crate::speculation::predicate::Footprint;
use crate::speculation::race::Helpers;
use rustc_hash::FxHashMap;
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// log2 of the bytes of memory that a page of marks is for: so much that scattered accesses find their page in a core's cache, so little
/// that a loop of a few iterations has little to clear and to compare.
const PAGE_SHIFT: u32 = 18;
/// log2 of the pages that one table leads to.
const TABLE_SHIFT: u32 = 12;
/// log2 of the bytes of memory that a program has.
const ADDRESS_BITS: u32 = 47;
/// Bytes of bookkeeping after which it is asked whether there is memory for more.
const CHECKED_EVERY: u64 = 16 << 20;
/// Bytes of memory that feed the slice that are remembered together: so few that they are hardly anybody else's.
const FED_PIECE: u64 = 64;
/// Loads of one iteration that are noted at once.
const MOST_LOADS: usize = 1 << 16;
/// Iterations after which the clock is looked at.
const CLOCK_EVERY: u32 = 1 << 12;
/// Estimated operations of a loop from which helpers are worth waking.
const ALONE: u64 = 200_000;

/// Stores of one iteration up to which nobody needs an index of them.
const FEW_STORES: usize = 8;

/// What the planes of a page say of its cells.
#[derive(Clone, Copy)]
enum Plane {
    /// An iteration stores there.
    Stored,
    /// An iteration loads from there that does not store there.
    Loaded,
    /// The value there feeds the slice. Whoever stores there ends the inspection, so nothing else is said of such loads.
    Fed,
    /// A store that is in no pair stores there.
    Other,
    /// An iteration updates it.
    Updated,
}
const PLANES: usize = 5;

/// Marks of a page of memory.
#[derive(Default)]
struct Page {
    number: u64,
    /// By [`Plane`]; empty where nothing is marked.
    planes: [Box<[u64]>; PLANES],
    /// Which of the system's pages in it were found to be there: a bit each; empty: none.
    mapped: Box<[u64]>,
}

impl Page {
    /// The marks of 64 cells.
    fn word(&self, plane: Plane, word: u32) -> u64 {
        self.planes[plane as usize].get(word as usize).copied().unwrap_or(0)
    }
}

/// Cells that lie in one word of marks: page, word, and a bit for each.
type Cells = (u32, u32, u64);

/// What all threads of an inspection have in common.
struct Shared {
    /// log2 of the bytes of a cell.
    shift: u32,
    /// Memory that has to stay as it is: first byte and one past the last.
    pins: Vec<(u64, u64)>,
    /// Somebody has found a reason to end.
    stop: AtomicBool,
    /// The first that was found.
    obstacle: Mutex<Option<Obstacle>>,
    /// Of bookkeeping.
    bytes: AtomicU64,
    deadline: Instant,
}

impl Shared {
    /// Ends everybody's part.
    fn fail(&self, obstacle: Obstacle) {
        self.obstacle.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(obstacle);
        self.stop.store(true, Ordering::Release);
    }

    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }
}

/// One thread's part of an inspection. Generated code sees its first field only.
#[repr(C)]
struct Marker<'a> {
    raw: RawInspector,
    shared: &'a Shared,
    /// The parts of the address space that there are tables for, hardly ever more than a few; for each page in a table its number (+ 1).
    tops: Vec<u64>,
    tables: Vec<Box<[u32]>>,
    pages: Vec<Page>,
    /// For each site the page that was asked for last: accesses stay on a page for long.
    recent: Vec<(u64, u32)>,
    /// What the current iteration stores to, and what it loads from that it hasn't stored to.
    stores: Vec<Cells>,
    loads: Vec<Cells>,
    /// The first `indexed` stores by page and word: where they are many, and somebody asks.
    index: FxHashMap<(u32, u32), u64>,
    indexed: usize,
    /// Where nothing that is shown stores anything: the memory that known accesses store to, from the first byte to the last. Loads
    /// that lie elsewhere need no marks.
    only_stored: Option<(u64, u64)>,
    /// The kind (+ 1) of updates there are.
    kind: u32,
    /// Whether some store covers a part of a cell only.
    ragged: bool,
    iterations: u32,
    /// Bookkeeping that [`Shared::bytes`] doesn't have yet.
    bytes: u64,
}

/// Lets a thread's marker do something for generated code. Not 0: everybody's part is over.
///
/// # Safety
/// `raw` is what [`mark`] lends to generated code, and nobody else uses it meanwhile.
unsafe fn answer(
    raw: *mut RawInspector,
    work: impl FnOnce(&mut Marker<'_>) -> Result<(), Obstacle>,
) -> c_int {
    // SAFETY: generated code hands over what it was given: the first field of the marker that `mark` lends it.
    let marker = unsafe { &mut *raw.cast::<Marker<'_>>() };
    if let Err(obstacle) = work(marker) {
        marker.shared.fail(obstacle);
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
    unsafe { answer(raw, |marker| marker.touch(site, address, how)) }
}

/// See `struct __pg_inspector`.
///
/// # Safety
/// See `touch`.
unsafe extern "C" fn next(raw: *mut RawInspector) -> c_int {
    // SAFETY: promised by the caller.
    unsafe { answer(raw, |marker| marker.next()) }
}

/// See `struct __pg_inspector`.
///
/// # Safety
/// See `touch`.
unsafe extern "C" fn poll(raw: *mut RawInspector) -> c_int {
    // SAFETY: promised by the caller.
    unsafe { answer(raw, |marker| marker.look_at_clock()) }
}

/// For so many elements at least a list makes room.
const FEWEST: usize = 64;

/// Puts one more into a list. No memory is an obstacle, not the end of the process.
fn push<T>(list: &mut Vec<T>, element: T) -> Result<(), Obstacle> {
    if list.len() == list.capacity() {
        list.try_reserve(list.capacity().max(FEWEST)).map_err(|_| Obstacle::Memory)?;
    }
    list.push(element);
    Ok(())
}

impl<'a> Marker<'a> {
    fn new(shared: &'a Shared, known: &Known, sites: u32) -> Result<Marker<'a>, Obstacle> {
        Ok(Marker {
            raw: RawInspector {
                touch,
                next,
                poll,
                known: known.sites,
                first: 0,
                length: 0,
                lasting: known.lasting,
            },
            shared,
            tops: Vec::new(),
            tables: Vec::new(),
            pages: Vec::new(),
            recent: vec![(u64::MAX, 0); sites as usize],
            stores: Vec::new(),
            loads: Vec::new(),
            index: FxHashMap::default(),
            indexed: 0,
            only_stored: known.only_stored,
            kind: 0,
            ragged: false,
            iterations: 0,
            bytes: 0,
        })
    }

    /// Counts memory that has been taken. Too much of it is an obstacle.
    fn took(&mut self, bytes: usize) -> Result<(), Obstacle> {
        self.bytes += bytes as u64;
        if self.bytes < CHECKED_EVERY {
            return Ok(());
        }
        let own = std::mem::take(&mut self.bytes);
        let all = self.shared.bytes.fetch_add(own, Ordering::Relaxed) + own;
        if limits::fits(all) { Ok(()) } else { Err(Obstacle::Memory) }
    }

    fn look_at_clock(&self) -> Result<(), Obstacle> {
        match self.shared.is_over() || Instant::now() > self.shared.deadline {
            // Whoever has ended it for another reason has said so before.
            true => Err(Obstacle::Endless),
            false => Ok(()),
        }
    }

    /// The number of a page's marks; the page is that of memory.
    fn page(&mut self, number: u64) -> Result<u32, Obstacle> {
        let (top, within) = (number >> TABLE_SHIFT, (number & ((1 << TABLE_SHIFT) - 1)) as usize);
        let table = self.tops.iter().position(|known| *known == top);
        if let Some(table) = table
            && let Some(page) = self.tables[table][within].checked_sub(1)
        {
            return Ok(page);
        }
        self.new_page(number, table, within)
    }

    #[cold]
    fn new_page(&mut self, number: u64, table: Option<usize>, within: usize) -> Result<u32, Obstacle> {
        if number >> (ADDRESS_BITS - PAGE_SHIFT) != 0 {
            // No program has memory there.
            return Err(Obstacle::NotThere);
        }
        let table = match table {
            Some(table) => table,
            None => {
                push(&mut self.tables, zeros(1 << TABLE_SHIFT)?)?;
                push(&mut self.tops, number >> TABLE_SHIFT)?;
                self.took(4 << TABLE_SHIFT)?;
                self.tables.len() - 1
            }
        };
        push(&mut self.pages, Page { number, ..Page::default() })?;
        self.took(size_of::<Page>())?;
        let page = self.pages.len() as u32;
        self.tables[table][within] = page;
        Ok(page - 1)
    }

    fn set(&mut self, plane: Plane, (page, word, cells): Cells) -> Result<(), Obstacle> {
        if let Some(word) = self.pages[page as usize].planes[plane as usize].get_mut(word as usize) {
            *word |= cells;
            return Ok(());
        }
        let words = 1 << (PAGE_SHIFT - self.shared.shift - 6);
        let mut new: Box<[u64]> = zeros(words)?;
        new[word as usize] = cells;
        self.pages[page as usize].planes[plane as usize] = new;
        self.took(8 * words)
    }

    fn touch(&mut self, site: u32, address: u64, how: u32) -> Result<(), Obstacle> {
        let shift = self.shared.shift;
        let width = u64::from(how >> PG_TOUCH_WIDTH & 0xff).max(1);
        let last = address.checked_add(width - 1).ok_or(Obstacle::NotThere)?;
        let is = |flag: u32| how & flag != 0;
        let lasts = site < u64::BITS && self.raw.lasting >> site & 1 != 0;
        // An iteration that does the same again does nothing new.
        (self.raw.first, self.raw.length) = (address, 1);
        if is(PG_TOUCH_STORE | PG_TOUCH_UPDATE) {
            if self.shared.pins.iter().any(|(lo, hi)| address < *hi && *lo <= last) {
                return Err(Obstacle::ChangesPin);
            }
            self.ragged |= (address | width) & ((1 << shift) - 1) != 0;
        } else if is(PG_TOUCH_FEEDS) {
            // Unless it stores there in between.
            self.raw.length = 0;
        } else if let Some((lo, hi)) = self.only_stored
            && lasts
        {
            let (from, to) = if address < lo { (0, lo) } else { (hi, 1 << ADDRESS_BITS) };
            if from <= address && last < to {
                (self.raw.first, self.raw.length) = (from, (to - from).saturating_sub(width - 1));
                return Ok(());
            }
        }
        let (first_cell, last_cell) = (address >> shift, last >> shift);
        let mut from = u64::MAX << (first_cell & 63);
        let mut to = u64::MAX >> (63 - (last_cell & 63));
        if first_cell >> 6 != last_cell >> 6 {
            // No access has more cells than a word.
            self.touch_word(site, (first_cell >> 6, from), address, how)?;
            return self.touch_word(site, (last_cell >> 6, to), last, how);
        }
        if lasts {
            // All cells of a piece of memory instead, so that its neighbours need not be shown.
            let piece = if is(PG_TOUCH_FEEDS) { FED_PIECE } else { 64 << shift };
            let begin = address & !(piece - 1);
            if last - begin < piece {
                let cells = u64::MAX >> (64 - (piece >> shift).min(64));
                from = cells << (begin >> shift & 63);
                to = from;
                (self.raw.first, self.raw.length) = (begin, piece - (width - 1));
            }
        }
        self.touch_word(site, (first_cell >> 6, from & to), address, how)
    }

    /// A part of an access, in cells of one word; `address` lies in it.
    fn touch_word(
        &mut self,
        site: u32,
        (word, cells): (u64, u64),
        address: u64,
        how: u32,
    ) -> Result<(), Obstacle> {
        let words = PAGE_SHIFT - self.shared.shift - 6;
        let number = word >> words;
        let word = (word & ((1 << words) - 1)) as u32;
        let page = match self.recent.get(site as usize) {
            Some((recent, page)) if *recent == number => *page,
            _ => {
                let page = self.page(number)?;
                if let Some(recent) = self.recent.get_mut(site as usize) {
                    *recent = (number, page);
                }
                page
            }
        };
        let place = (page, word, cells);
        let is = |flag: u32| how & flag != 0;
        match (is(PG_TOUCH_STORE | PG_TOUCH_UPDATE), is(PG_TOUCH_MEETS)) {
            (true, true) if is(PG_TOUCH_UPDATE) => self.update(place, how >> PG_TOUCH_KIND),
            (true, true) => self.store(place),
            (true, false) => self.set(Plane::Other, place),
            (false, _) if is(PG_TOUCH_FEEDS) => self.feed(place, address),
            (false, true) if self.raw.lasting >> site.min(63) & 1 != 0 => self.set(Plane::Loaded, place),
            (false, true) => self.load(place),
            (false, false) => Ok(()),
        }
    }

    /// The value there is wanted: it has to be there, and to be what the loop would find.
    fn feed(&mut self, place: Cells, address: u64) -> Result<(), Obstacle> {
        let page = &mut self.pages[place.0 as usize];
        if page.word(Plane::Fed, place.1) & place.2 == place.2 {
            return Ok(());
        }
        let part = (address & ((1 << PAGE_SHIFT) - 1)) >> SYSTEM_PAGE_SHIFT;
        let is_mapped = |word: &u64| word >> (part & 63) & 1 != 0;
        if !page.mapped.get(part as usize >> 6).is_some_and(is_mapped) {
            let mut byte = 0u8;
            // SAFETY: one byte, into one byte of ours.
            if unsafe { safe_copy::read(address, 1, &raw mut byte) }.is_err() {
                return Err(Obstacle::NotThere);
            }
            if page.mapped.is_empty() {
                page.mapped = zeros(1 << (PAGE_SHIFT - SYSTEM_PAGE_SHIFT - 6))?;
            }
            page.mapped[part as usize >> 6] |= 1 << (part & 63);
        }
        let changed = [Plane::Stored, Plane::Other, Plane::Updated].map(|plane| page.word(plane, place.1));
        if changed.iter().any(|changed| changed & place.2 != 0) {
            return Err(Obstacle::FeedsItself);
        }
        self.set(Plane::Fed, place)
    }

    /// Whether the current iteration stores to all of these cells.
    fn owns(&mut self, (page, word, cells): Cells) -> Result<bool, Obstacle> {
        let own = if self.stores.len() <= FEW_STORES {
            let here = self.stores.iter().filter(|store| (store.0, store.1) == (page, word));
            here.fold(0, |own, store| own | store.2)
        } else {
            let new = &self.stores[self.indexed..];
            let room = self.index.capacity();
            self.index.try_reserve(new.len()).map_err(|_| Obstacle::Memory)?;
            for (page, word, cells) in new {
                *self.index.entry((*page, *word)).or_default() |= cells;
            }
            self.indexed = self.stores.len();
            self.took((self.index.capacity() - room) * 2 * size_of::<Cells>())?;
            self.index.get(&(page, word)).copied().unwrap_or(0)
        };
        Ok(cells & !own == 0)
    }

    fn store(&mut self, (number, word, cells): Cells) -> Result<(), Obstacle> {
        let page = &self.pages[number as usize];
        let stored = page.word(Plane::Stored, word) & cells;
        let new = cells & !stored;
        if page.word(Plane::Loaded, word) & new != 0 || stored != 0 && !self.owns((number, word, stored))? {
            return Err(Obstacle::Meet);
        }
        if new == 0 {
            return Ok(());
        }
        self.set(Plane::Stored, (number, word, new))?;
        // Neighbours are stored to one after the other.
        if let Some(last) = self.stores[self.indexed..].last_mut()
            && (last.0, last.1) == (number, word)
        {
            last.2 |= new;
            return Ok(());
        }
        if self.stores.len() == self.stores.capacity() {
            self.took(self.stores.capacity().max(FEWEST) * size_of::<Cells>())?;
        }
        push(&mut self.stores, (number, word, new))
    }

    fn load(&mut self, (number, word, cells): Cells) -> Result<(), Obstacle> {
        let page = &self.pages[number as usize];
        let rest = cells & !page.word(Plane::Loaded, word);
        if rest == 0 {
            return Ok(());
        }
        let stored = page.word(Plane::Stored, word) & rest;
        if stored != 0 && !self.owns((number, word, stored))? {
            return Err(Obstacle::Meet);
        }
        let rest = (number, word, rest & !stored);
        if self.loads.len() == MOST_LOADS {
            // If this iteration stores to one of them later, it is taken for another that does.
            self.end_loads()?;
        }
        push(&mut self.loads, rest)
    }

    /// Updates of one kind commute.
    fn update(&mut self, place: Cells, kind: u32) -> Result<(), Obstacle> {
        if self.kind != 0 && self.kind != kind + 1 {
            return Err(Obstacle::Meet);
        }
        self.kind = kind + 1;
        self.set(Plane::Updated, place)
    }

    fn end_loads(&mut self) -> Result<(), Obstacle> {
        let mut loads = std::mem::take(&mut self.loads);
        for (number, word, cells) in loads.drain(..) {
            // When it was loaded, no iteration before had stored to it.
            let rest = cells & !self.pages[number as usize].word(Plane::Stored, word);
            if rest != 0 {
                self.set(Plane::Loaded, (number, word, rest))?;
            }
        }
        self.loads = loads;
        Ok(())
    }

    /// In front of each iteration, and behind the last.
    fn next(&mut self) -> Result<(), Obstacle> {
        self.end_loads()?;
        self.stores.clear();
        if self.indexed != 0 {
            self.index.clear();
            self.indexed = 0;
        }
        self.iterations = self.iterations.wrapping_add(1);
        if self.shared.is_over() || self.iterations.is_multiple_of(CLOCK_EVERY) {
            self.look_at_clock()?;
        }
        Ok(())
    }
}

/// What need not be looked at access by access. By default, all of it is.
#[derive(Clone, Default, Debug, PartialEq, Eq)]
struct Known {
    /// Affine accesses, of which it is known what all iterations together touch: a bit for each site.
    sites: u64,
    /// Loads that need not be told from those of their neighbours.
    lasting: u64,
    /// Where nothing that is shown stores anything: the memory that known accesses store to, from the first byte to the last. Loads
    /// that lie elsewhere need no marks.
    only_stored: Option<(u64, u64)>,
    /// What they store to, every byte of it, and what they load from, perhaps.
    stored: Vec<(u64, u64)>,
    loaded: Vec<(u64, u64)>,
    /// What they load and the slice uses.
    fed: Vec<(u64, u64)>,
}

fn meet(a: (u64, u64), b: (u64, u64)) -> bool {
    a.0 < b.1 && b.0 < a.1
}

impl Known {
    /// Those of an entry; `open` are the pairs of sites that predicates have left open.
    ///
    /// # Safety
    /// `entry` was filled in by generated code for `info`, and is alive.
    unsafe fn of(info: &Info, entry: &Entry, open: &[(u32, u32)]) -> Known {
        // Whether a store is an update isn't a fact of its site.
        if info.has(PG_LOOP_UPDATES) {
            return Known::default();
        }
        // SAFETY: promised by the caller.
        let (bases, accesses) = unsafe { (entry.bases(info), entry.accesses(info)) };
        let reach = |(number, site): (usize, &Site)| {
            let base = bases.get(site.base as usize)?;
            let shown = site.has(PG_SITE_INSPECTED) || site.has(PG_SITE_FEEDS);
            if !shown || !site.has(PG_SITE_HAS_AFFINE) || site.has(PG_SITE_PRIVATE) || base.dynamic != 0 {
                return None;
            }
            let print = Footprint::new(base, accesses.get(number)?);
            let (lo, hi) = if site.has(PG_SITE_STORE) {
                if !site.has(PG_SITE_UNCONDITIONAL) || !site.has(PG_SITE_EXACT) {
                    return None;
                }
                let (starts, length) = print.rows(&entry.trip, 1, 1)?;
                let start = *starts.first().filter(|_| starts.len() == 1)?;
                (start, start + length)
            } else {
                print.total(&entry.trip)
            };
            Some((u64::try_from(lo).ok()?, u64::try_from(hi).ok().filter(|hi| *hi >> ADDRESS_BITS == 0)?))
        };
        let mut reaches: Vec<Option<(u64, u64)>> =
            info.sites().iter().enumerate().take(u64::BITS as usize).map(reach).collect();
        let is = |number: usize, flag: u32| info.sites().get(number).is_some_and(|site| site.has(flag));
        let feeding = (0..reaches.len()).filter(|n| is(*n, PG_SITE_FEEDS)).flat_map(|load| {
            (0..reaches.len()).filter(|n| is(*n, PG_SITE_STORE)).map(move |store| (store, load))
        });
        // What may meet, or change what the slice loads, is shown: all iterations together say too little.
        let pairs: Vec<(usize, usize)> =
            open.iter().map(|(a, b)| (*a as usize, *b as usize)).chain(feeding).collect();
        for (a, b) in pairs {
            let of = |number: usize| reaches.get(number).copied().flatten();
            if of(a).zip(of(b)).is_some_and(|(a, b)| meet(a, b)) {
                (reaches[a], reaches[b]) = (None, None);
            }
        }
        let mut known = Known::default();
        for (number, reach) in reaches.into_iter().enumerate() {
            let Some(reach) = reach else { continue };
            known.sites |= 1 << number;
            match (is(number, PG_SITE_STORE), is(number, PG_SITE_FEEDS)) {
                (true, _) => known.stored.push(reach),
                (_, true) => known.fed.push(reach),
                _ => known.loaded.push(reach),
            }
        }
        for ranges in [&mut known.stored, &mut known.loaded, &mut known.fed] {
            *ranges = joined(std::mem::take(ranges));
        }
        let shown_stores = || {
            let sites = info.sites().iter().enumerate();
            sites.filter(|(number, site)| {
                site.has(PG_SITE_STORE)
                    && site.has(PG_SITE_INSPECTED)
                    && (*number >= 64 || known.sites >> number & 1 == 0)
            })
        };
        for (number, site) in info.sites().iter().enumerate().take(u64::BITS as usize) {
            let meets_own = shown_stores().any(|(_, store)| store.base == site.base);
            known.lasting |= u64::from(!site.has(PG_SITE_STORE) && !meets_own) << number;
        }
        if shown_stores().next().is_none() {
            let stored = known.stored.first().zip(known.stored.last()).map_or((0, 0), |(a, b)| (a.0, b.1));
            known.only_stored = Some(stored);
        }
        known
    }
}

/// Ranges in their order, those that touch joined.
fn joined(mut ranges: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    ranges.sort_unstable();
    ranges.dedup_by(|next, last| {
        let touches = next.0 <= last.1;
        if touches {
            last.1 = last.1.max(next.1);
        }
        touches
    });
    ranges
}

/// What all marks together say.
#[derive(Debug, PartialEq, Eq)]
struct Marked {
    /// The memory that fed the slice, as ranges of addresses in their order; without [`Known::fed`].
    fed: Vec<(u64, u64)>,
    /// The memory that is stored to; `None` where that isn't known to the byte, or is in too many pieces.
    stored: Option<Vec<(u64, u64)>>,
}

/// The marks of all threads for one page of memory, put together; a word for each 64 cells.
struct Together {
    number: u64,
    shift: u32,
    stored: Vec<u64>,
    loaded: Vec<u64>,
    fed: Vec<u64>,
    changed: Vec<u64>,
}

impl Together {
    fn new(shift: u32) -> Result<Together, Obstacle> {
        let words = || safe_copy::buffer(1 << (PAGE_SHIFT - shift - 6)).map_err(|_| Obstacle::Memory);
        Ok(Together {
            number: 0,
            shift,
            stored: words()?,
            loaded: words()?,
            fed: words()?,
            changed: words()?,
        })
    }

    /// The marks of a page.
    fn put(&mut self, pages: &[&Page]) -> Result<(), Obstacle> {
        for words in [&mut self.stored, &mut self.loaded, &mut self.fed, &mut self.changed] {
            words.fill(0);
        }
        let mut met = 0;
        for page in pages {
            self.number = page.number;
            let add = |to: &mut [u64], plane: Plane| {
                let from = &page.planes[plane as usize];
                let twice = to.iter().zip(from).fold(0, |twice, (a, b)| twice | a & b);
                to.iter_mut().zip(from).for_each(|(to, from)| *to |= from);
                twice
            };
            met |= add(&mut self.stored, Plane::Stored);
            add(&mut self.loaded, Plane::Loaded);
            add(&mut self.fed, Plane::Fed);
            add(&mut self.changed, Plane::Updated);
        }
        // So far only updates are changes.
        for ((stored, loaded), updated) in self.stored.iter().zip(&self.loaded).zip(&self.changed) {
            met |= stored & (loaded | updated) | updated & loaded;
        }
        if met != 0 {
            return Err(Obstacle::Meet);
        }
        for page in pages {
            let others = &page.planes[Plane::Other as usize];
            self.changed.iter_mut().zip(others).for_each(|(to, from)| *to |= from);
        }
        self.changed.iter_mut().zip(&self.stored).for_each(|(to, from)| *to |= from);
        match self.changed.iter().zip(&self.fed).any(|(changed, fed)| changed & fed != 0) {
            true => Err(Obstacle::FeedsItself),
            false => Ok(()),
        }
    }

    /// Whether a cell is marked there that has a byte of one of these ranges, which are in their order.
    fn marked(&self, words: &[u64], ranges: &[(u64, u64)]) -> bool {
        let page = (self.number << PAGE_SHIFT, (self.number + 1) << PAGE_SHIFT);
        let first = ranges.partition_point(|range| range.1 <= page.0);
        ranges[first..].iter().take_while(|range| range.0 < page.1).any(|range| {
            let cell = |address: u64| ((address - page.0) >> self.shift) as usize;
            let (from, to) = (cell(range.0.max(page.0)), cell(range.1.min(page.1) - 1));
            (from >> 6..=to >> 6).any(|index| {
                let mut word = words[index];
                if index == from >> 6 {
                    word &= u64::MAX << (from & 63);
                }
                if index == to >> 6 {
                    word &= u64::MAX >> (63 - (to & 63));
                }
                word != 0
            })
        })
    }

    /// Whether known accesses have nothing to do with what is marked.
    fn leaves_alone(&self, known: &Known) -> bool {
        let read = !known.loaded.is_empty() || !known.fed.is_empty();
        let hit = !known.stored.is_empty()
            && [&self.changed, &self.loaded, &self.fed].iter().any(|words| self.marked(words, &known.stored))
            || read && (self.marked(&self.changed, &known.loaded) || self.marked(&self.changed, &known.fed));
        !hit
    }

    /// What is marked, as ranges of addresses in their order.
    fn ranges(&self, words: &[u64]) -> Vec<(u64, u64)> {
        let mut out: Vec<(u64, u64)> = Vec::new();
        let mut begin = None;
        let address = |cell: usize| (self.number << PAGE_SHIFT) + ((cell as u64) << self.shift);
        for (index, word) in words.iter().enumerate() {
            let mut bit = 0;
            while bit < 64 {
                let rest = if begin.is_some() { !(word >> bit) } else { word >> bit };
                // Where the word ends, shifted bits are zero, so the complement has ones there.
                let skip = rest.trailing_zeros().min(64 - bit);
                bit += skip;
                if bit == 64 {
                    break;
                }
                let cell = index * 64 + bit as usize;
                match begin.take() {
                    Some(first) => out.push((address(first), address(cell))),
                    None => begin = Some(cell),
                }
            }
        }
        out.extend(begin.map(|first| (address(first), address(words.len() * 64))));
        out
    }
}

/// Puts the marks of all threads together.
fn together(
    markers: &[Marker<'_>],
    shared: &Shared,
    known: &Known,
    (pool, threads): Helpers<'_>,
) -> Result<Marked, Obstacle> {
    let kinds: Vec<u32> = markers.iter().map(|marker| marker.kind).filter(|kind| *kind != 0).collect();
    if kinds.iter().any(|kind| *kind != kinds[0]) {
        return Err(Obstacle::Meet);
    }
    let mut pages: Vec<&Page> = markers.iter().flat_map(|marker| &marker.pages).collect();
    pages.sort_unstable_by_key(|page| page.number);
    let same: Vec<&[&Page]> = pages.chunk_by(|a, b| a.number == b.number).collect();
    const PORTION: usize = 16;
    type Ranges = Vec<(u64, u64)>;
    type Found = Vec<(usize, Ranges, Ranges)>;
    let (taken, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let found: Mutex<Result<Found, Obstacle>> = Mutex::new(Ok(Vec::new()));
    let work = || {
        let mut words = Together::new(shared.shift);
        while !failed.load(Ordering::Relaxed) {
            let first = taken.fetch_add(PORTION, Ordering::Relaxed);
            let Some(part) = same.get(first..).filter(|rest| !rest.is_empty()) else { return };
            for (index, pages) in part.iter().take(PORTION).enumerate() {
                let result = words.as_mut().map_err(|obstacle| *obstacle).and_then(|words| {
                    words.put(pages)?;
                    match words.leaves_alone(known) {
                        true => Ok((first + index, words.ranges(&words.changed), words.ranges(&words.fed))),
                        false => Err(Obstacle::Meet),
                    }
                });
                let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                match (result, found.as_mut()) {
                    (Ok(result), Ok(list)) => list.push(result),
                    (Err(obstacle), _) => {
                        *found = Err(obstacle);
                        failed.store(true, Ordering::Relaxed);
                    }
                    (Ok(_), Err(_)) => {}
                }
            }
        }
    };
    pool.run(if same.len() <= PORTION { 1 } else { threads }, &work);
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner)?;
    found.sort_unstable_by_key(|(index, ..)| *index);
    let is_ragged = markers.iter().any(|marker| marker.ragged);
    let pieces = found.iter().map(|(_, stored, _)| stored.len()).sum::<usize>();
    let stored = (!is_ragged && pieces <= 2 * MOST_PIECES).then(|| {
        joined(found.iter().flat_map(|(_, stored, _)| stored).chain(&known.stored).copied().collect())
    });
    let fed = joined(found.iter().flat_map(|(.., fed)| fed).copied().collect());
    Ok(Marked { fed, stored: stored.filter(|stored| stored.len() <= MOST_PIECES) })
}

/// An entry, for several threads: they only look at it.
#[derive(Clone, Copy)]
struct Common<'a>(&'a Entry);

// SAFETY: its pointers lead to tables that nobody changes while the loop is entered.
unsafe impl Sync for Common<'_> {}
// SAFETY: as above.
unsafe impl Send for Common<'_> {}

impl Common<'_> {
    fn get(&self) -> *const Entry {
        self.0
    }
}

/// Runs the slice, and puts together what is marked.
///
/// # Safety
/// As for [`inspect`].
unsafe fn mark(
    info: &Info,
    entry: &Entry,
    slice: InspectFn,
    shared: &Shared,
    known: &Known,
    (pool, threads): Helpers<'_>,
) -> Result<Marked, Obstacle> {
    let trip = entry.trip[0];
    let inner = entry.trip[1..].iter().fold(1u64, |n, trip| n.saturating_mul(trip.unsigned_abs()));
    let work = trip.unsigned_abs().saturating_mul(inner).saturating_mul(info.work);
    let threads = if work < ALONE { 1 } else { threads };
    // Some portions for each thread, in case they differ; long, so that threads don't mark each others' pages.
    let portion = (trip / (threads as i64 * 4)).max(1);
    let (flushing, taken) = (Flushing::of_caller(), AtomicI64::new(0));
    let markers: Mutex<Vec<Marker<'_>>> = Mutex::new(Vec::new());
    let entry = Common(entry);
    pool.run(threads, &|| {
        let portions = || Some(taken.fetch_add(portion, Ordering::Relaxed)).filter(|first| *first < trip);
        let Some(mut begin) = portions() else { return };
        let marked = Marker::new(shared, known, info.n_sites).and_then(|mut marker| {
            flushing.raised_by(|| {
                while !shared.is_over() {
                    let end = trip.min(begin.saturating_add(portion));
                    // SAFETY: what the slice loads has been looked at before, see the module above, and it hands the marker
                    // back to its functions only; its first field is what the pointer leads to, and nobody else uses it
                    // meanwhile.
                    unsafe { slice(entry.get(), (&raw mut marker).cast(), begin, end) };
                    begin = match portions() {
                        Some(begin) => begin,
                        None => break,
                    };
                }
            });
            marker.next()?;
            Ok(marker)
        });
        match marked {
            Ok(marker) => markers.lock().unwrap_or_else(PoisonError::into_inner).push(marker),
            Err(obstacle) => shared.fail(obstacle),
        }
    });
    if let Some(obstacle) = *shared.obstacle.lock().unwrap_or_else(PoisonError::into_inner) {
        return Err(obstacle);
    }
    let markers = markers.into_inner().unwrap_or_else(PoisonError::into_inner);
    together(&markers, shared, known, (pool, threads))
}

/// Inspects one entry, in no more than about so much time: it should take a time like the loop's own. `open`: the pairs of sites
/// that predicates have left open. An error says nothing of the loop: [`super::levels`] may find what is so.
///
/// # Safety
/// `entry` was filled in by generated code for `info`, and the loop would run now: its first test is true.
pub unsafe fn inspect(
    info: &Info,
    entry: &Entry,
    slice: InspectFn,
    open: &[(u32, u32)],
    helpers: Helpers<'_>,
    patience: Duration,
) -> Result<Memo, Obstacle> {
    // SAFETY: promised by the caller, here and below.
    let (known, pins) = unsafe { (Known::of(info, entry, open), pinned(info, entry)) };
    let deadline = Instant::now() + patience;
    let marked = |known: &Known| {
        let shared = Shared {
            shift: cell_shift(info),
            pins: pins.clone(),
            stop: AtomicBool::new(false),
            obstacle: Mutex::new(None),
            bytes: AtomicU64::new(0),
            deadline,
        };
        // SAFETY: as above.
        unsafe { mark(info, entry, slice, &shared, known, helpers) }
    };
    let mut memory = Vec::new();
    // Loads that are known are not looked at one by one, so their memory has to be there.
    let mut result = match Content::of(known.fed.clone(), helpers) {
        Ok(content) => {
            memory.push(content);
            marked(&known)
        }
        Err(obstacle) => Err(obstacle),
    };
    if matches!(result, Err(Obstacle::Meet | Obstacle::FeedsItself | Obstacle::NotThere))
        && known != Known::default()
    {
        memory.clear();
        result = marked(&Known::default());
    }
    let Marked { fed, stored } = result?;
    memory.push(Content::of(fed, helpers)?);
    // SAFETY: as above.
    Ok(unsafe { Memo::new(info, entry, memory, Finding::Independent, stored) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::pool::Pool;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    const LOAD: u32 = PG_TOUCH_MEETS;
    const STORE: u32 = PG_TOUCH_MEETS | PG_TOUCH_STORE;
    const FEED: u32 = PG_TOUCH_MEETS | PG_TOUCH_FEEDS;
    const UPDATE: u32 = STORE | PG_TOUCH_UPDATE;
    const OTHER: u32 = PG_TOUCH_STORE;

    /// What an iteration does: site, byte, width, and how.
    type Touch = (u32, u64, u32, u32);
    const SITES: u32 = 12;

    /// Memory that is there, across the end of a page of marks.
    fn memory() -> u64 {
        static START: std::sync::OnceLock<u64> = std::sync::OnceLock::new();
        *START.get_or_init(|| {
            let bytes: &'static [u8] = vec![0u8; 2 << PAGE_SHIFT].leak();
            (bytes.as_ptr() as u64).next_multiple_of(1 << PAGE_SHIFT) - 128
        })
    }

    fn shared(shift: u32) -> Shared {
        Shared {
            shift,
            pins: Vec::new(),
            stop: AtomicBool::new(false),
            obstacle: Mutex::new(None),
            bytes: AtomicU64::new(0),
            deadline: Instant::now() + Duration::from_secs(1000),
        }
    }

    /// What generated code does with an access.
    struct Shown {
        windows: BTreeMap<u32, (u64, u64)>,
    }

    impl Shown {
        fn next(&mut self, marker: &mut Marker<'_>) -> Result<(), Obstacle> {
            marker.next()?;
            self.windows.retain(|site, _| marker.raw.lasting >> site & 1 != 0);
            Ok(())
        }
        fn touch(
            &mut self,
            marker: &mut Marker<'_>,
            (site, byte, width, how): Touch,
        ) -> Result<(), Obstacle> {
            let (first, length) = self.windows.get(&site).copied().unwrap_or((0, 0));
            let address = memory() + byte;
            if address.wrapping_sub(first) >= length {
                marker.touch(site, address, how | width << PG_TOUCH_WIDTH)?;
                self.windows.insert(site, (marker.raw.first, marker.raw.length));
            }
            Ok(())
        }
    }

    /// The marks of threads, each with the iterations that it has in turn.
    fn marked(shift: u32, known: &Known, threads: &[Vec<Vec<Touch>>]) -> Result<Marked, Obstacle> {
        let shared = shared(shift);
        let mut markers = Vec::new();
        for iterations in threads {
            let mut marker = Marker::new(&shared, known, SITES)?;
            let mut shown = Shown { windows: BTreeMap::new() };
            for iteration in iterations {
                shown.next(&mut marker)?;
                iteration.iter().try_for_each(|touch| shown.touch(&mut marker, *touch))?;
            }
            marker.next()?;
            markers.push(marker);
        }
        together(&markers, &shared, known, (&Pool::default(), 2))
    }

    /// The bytes that an iteration touches in one of these ways.
    fn bytes(iteration: &[Touch], is: impl Fn(u32) -> bool) -> BTreeSet<u64> {
        let touched = iteration.iter().filter(|touch| is(touch.3));
        touched.flat_map(|(_, byte, width, _)| *byte..byte + u64::from(*width)).collect()
    }

    /// Whether no two iterations meet, and nothing that is stored feeds the slice.
    fn is_independent(iterations: &[&Vec<Touch>]) -> bool {
        let changes = |how: u32| how & PG_TOUCH_STORE != 0;
        let all = |is: &dyn Fn(u32) -> bool| -> BTreeSet<u64> {
            iterations.iter().flat_map(|iteration| bytes(iteration, is)).collect()
        };
        if !all(&|how| how & PG_TOUCH_FEEDS != 0).is_disjoint(&all(&changes)) {
            return false;
        }
        let stores = |how: u32| how & (PG_TOUCH_MEETS | PG_TOUCH_UPDATE) == PG_TOUCH_MEETS && changes(how);
        let updates = |how: u32| how & PG_TOUCH_UPDATE != 0;
        let touches = |how: u32| how & PG_TOUCH_MEETS != 0;
        iterations.iter().enumerate().all(|(i, a)| {
            iterations.iter().enumerate().filter(|(j, _)| *j != i).all(|(_, b)| {
                bytes(a, stores).is_disjoint(&bytes(b, touches))
                    && bytes(a, updates).is_disjoint(&bytes(b, |how| touches(how) && !updates(how)))
            })
        })
    }

    /// A site always does the same, and as wide.
    fn touches(hows: &'static [u32]) -> impl Strategy<Value = Touch> {
        (0..2 * hows.len(), 0u64..64)
            .prop_map(|(site, element)| (site as u32, element * 4, 4 << (site % 2), hows[site / 2]))
    }

    /// Iterations of some threads, most of which have little to do with each other.
    fn threads(hows: &'static [u32]) -> impl Strategy<Value = Vec<Vec<Vec<Touch>>>> {
        let iteration = prop::collection::vec(touches(hows), 0..4);
        prop::collection::vec(prop::collection::vec(iteration, 0..4), 1..4)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]
        #[test]
        fn marks_say_what_is_so(threads in threads(&[LOAD, LOAD, STORE, FEED, OTHER])) {
            let all: Vec<&Vec<Touch>> = threads.iter().flatten().collect();
            let found = marked(2, &Known::default(), &threads);
            prop_assert_eq!(found.is_ok(), is_independent(&all), "{:?}", found);
            if let Ok(found) = found {
                let ranges = |is: &dyn Fn(u32) -> bool| {
                    let bytes: BTreeSet<u64> = all.iter().flat_map(|iteration| bytes(iteration, is)).collect();
                    joined(bytes.into_iter().map(|byte| (memory() + byte, memory() + byte + 1)).collect())
                };
                prop_assert_eq!(found.fed, ranges(&|how| how & PG_TOUCH_FEEDS != 0));
                prop_assert_eq!(found.stored, Some(ranges(&|how| how & PG_TOUCH_STORE != 0)));
            }
        }
        #[test]
        fn what_an_iteration_updates_and_loads_is_given_up(threads in threads(&[LOAD, STORE, UPDATE])) {
            let all: Vec<&Vec<Touch>> = threads.iter().flatten().collect();
            if marked(2, &Known::default(), &threads).is_ok() {
                prop_assert!(is_independent(&all));
            }
        }
        #[test]
        fn shortcuts_never_lie(
            threads in threads(&[LOAD, LOAD, STORE, FEED]), loads in 0u64..256, known in 0u64..300, length in 0u64..40,
        ) {
            let all: Vec<&Vec<Touch>> = threads.iter().flatten().collect();
            let range = (memory() + known, memory() + known + length);
            let stored = if length == 0 { Vec::new() } else { vec![range] };
            let stores = all.iter().any(|iteration| iteration.iter().any(|touch| touch.3 & PG_TOUCH_STORE != 0));
            let only_stored = (!stores).then_some(if length == 0 { (0, 0) } else { range });
            // Of loads only.
            let lasting = loads & 0b1100_1111;
            let known = Known { lasting, stored, only_stored, ..Known::default() };
            if marked(2, &known, &threads).is_ok() {
                prop_assert!(is_independent(&all));
                let hit = |touch: &&Touch| {
                    let begin = memory() + touch.1;
                    meet((begin, begin + u64::from(touch.2)), range) && length != 0
                };
                prop_assert!(!all.iter().flat_map(|iteration| iteration.iter()).any(|touch| hit(&touch)));
            }
        }
    }

    #[test]
    fn iterations_with_many_stores_know_their_own() {
        let many = |first: u64, how: &[u32]| -> Vec<Touch> {
            (first..first + 40)
                .flat_map(|e| (0..).zip(how).map(move |(site, how)| (site, e * 4, 4, *how)))
                .collect()
        };
        let independent = |threads: &[Vec<Vec<Touch>>]| marked(2, &Known::default(), threads).is_ok();
        assert!(independent(&[vec![many(0, &[LOAD, STORE, LOAD, STORE]), many(40, &[STORE, LOAD])]]));
        assert!(!independent(&[vec![many(0, &[STORE]), many(39, &[STORE])]]));
        assert!(!independent(&[vec![many(0, &[STORE]), many(39, &[LOAD])]]));
        assert!(!independent(&[vec![many(0, &[STORE])], vec![many(39, &[LOAD, STORE])]]));
        assert!(!independent(&[vec![many(0, &[LOAD]), many(39, &[STORE])]]));
    }

    #[test]
    fn updates_of_one_kind_commute() {
        let update = |kind: u32| vec![(0, 0, 4, UPDATE | kind << PG_TOUCH_KIND)];
        let independent = |threads: &[Vec<Vec<Touch>>]| marked(2, &Known::default(), threads).is_ok();
        assert!(independent(&[vec![update(1), update(1)], vec![update(1)]]));
        assert!(!independent(&[vec![update(1)], vec![update(2)]]));
        assert!(!independent(&[vec![update(1), update(2)]]));
    }

    #[test]
    fn nothing_is_loaded_from_where_nothing_is() {
        let shared = shared(2);
        let mut marker = Marker::new(&shared, &Known::default(), SITES).unwrap();
        for address in [0, 64, 1 << ADDRESS_BITS, u64::MAX - 7, u64::MAX] {
            let fed = marker.touch(0, address, FEED | 4 << PG_TOUCH_WIDTH);
            assert_eq!(fed, Err(Obstacle::NotThere), "{address:x}");
        }
        assert_eq!(marker.touch(0, memory(), FEED | 4 << PG_TOUCH_WIDTH), Ok(()));
    }

    #[test]
    fn what_an_iteration_stores_takes_memory_that_is_counted() {
        let shared = shared(2);
        let mut marker = Marker::new(&shared, &Known::default(), SITES).unwrap();
        let bytes = |marker: &Marker<'_>| marker.bytes + shared.bytes.load(Ordering::Relaxed);
        let words = 1 << 15;
        let mut store = |address: u64| marker.touch(0, address, STORE | 4 << PG_TOUCH_WIDTH).unwrap();
        // Neighbours are one entry; marks take a bit for each of them.
        (0..words).for_each(|n| store(memory() + 4 * n));
        let dense = bytes(&marker);
        assert!(dense < 4 * words, "{dense}");
        let mut store = |address: u64| marker.touch(0, address, STORE | 4 << PG_TOUCH_WIDTH).unwrap();
        (words..2 * words).for_each(|n| store(memory() + 4 * 64 * n));
        let list = marker.stores.capacity() * size_of::<Cells>();
        assert!(
            list as u64 >= 16 * words && bytes(&marker) - dense >= list as u64,
            "{list} {}",
            bytes(&marker)
        );
        // The iteration looks up what it has stored to.
        let before = bytes(&marker);
        marker.touch(0, memory(), STORE | 4 << PG_TOUCH_WIDTH).unwrap();
        assert!(bytes(&marker) - before >= 16 * words);
    }

    #[test]
    fn an_end_is_heard_by_all() {
        let shared = Shared { deadline: Instant::now(), ..shared(2) };
        let mut marker = Marker::new(&shared, &Known::default(), SITES).unwrap();
        // SAFETY: the marker is ours alone.
        assert_eq!(unsafe { poll((&raw mut marker).cast()) }, 1);
        assert_eq!(*shared.obstacle.lock().unwrap(), Some(Obstacle::Endless));
        let mut other = Marker::new(&shared, &Known::default(), SITES).unwrap();
        // SAFETY: as above.
        assert_eq!(unsafe { next((&raw mut other).cast()) }, 1);
        // The first reason counts.
        let shared = super::tests::shared(2);
        let mut marker = Marker::new(&shared, &Known::default(), SITES).unwrap();
        shared.fail(Obstacle::Meet);
        // SAFETY: as above.
        assert_eq!(unsafe { next((&raw mut marker).cast()) }, 1);
        assert_eq!(*shared.obstacle.lock().unwrap(), Some(Obstacle::Meet));
    }
}
