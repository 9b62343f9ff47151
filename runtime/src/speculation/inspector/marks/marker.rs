//! One thread's part of an inspection: what its iterations touch, as marks in pages; and those two of them that meet.

use super::*;

/// Pages of the system's that are looked at together.
pub(super) const AHEAD: u64 = 32;
/// Stores of one iteration up to which nobody needs an index of them.
pub(super) const FEW_STORES: usize = 8;

/// What the planes of a page say of its cells.
#[derive(Clone, Copy)]
pub(super) enum Plane {
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
pub(super) const PLANES: usize = 5;

/// Marks of a page of memory.
#[derive(Default)]
pub(super) struct Page {
    pub(super) number: u64,
    /// By [`Plane`]; empty where nothing is marked.
    pub(super) planes: [Box<[u64]>; PLANES],
    /// Which of the system's pages in it were found to be there: a bit each; empty: none.
    pub(super) mapped: Box<[u64]>,
}

impl Page {
    /// The marks of 64 cells.
    pub(super) fn word(&self, plane: Plane, word: u32) -> u64 {
        self.planes[plane as usize].get(word as usize).copied().unwrap_or(0)
    }
}

/// Cells that lie in one word of marks: page, word, and a bit for each.
pub(super) type Cells = (u32, u32, u64);

/// What all threads of an inspection have in common.
pub(super) struct Shared<'a> {
    /// log2 of the bytes of a cell.
    pub(super) shift: u32,
    /// Memory that has to stay as it is: first byte and one past the last.
    pub(super) pins: Vec<(u64, u64)>,
    /// Somebody has found a reason to end.
    pub(super) stop: AtomicBool,
    /// The first that was found.
    pub(super) obstacle: Mutex<Option<Obstacle>>,
    /// Of bookkeeping.
    pub(super) bytes: AtomicU64,
    pub(super) deadline: Instant,
    /// [`Terms::looked_at`].
    pub(super) looked_at: &'a AtomicU64,
    /// [`Seeing::inside`]; empty: nobody asks.
    pub(super) arrays: Vec<(u64, u64)>,
    /// Where numbers of turns are noted.
    pub(super) turns: Option<Arc<Noted>>,
    /// [`Known::only_stored`], where nobody asks what feeds the slice: what lies elsewhere only has to be there.
    pub(super) for_once: Option<(u64, u64)>,
}

impl Shared<'_> {
    /// Ends everybody's part.
    pub(super) fn fail(&self, obstacle: Obstacle) {
        self.obstacle.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(obstacle);
        self.stop.store(true, Ordering::Release);
    }

    pub(super) fn is_over(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }
}

/// One thread's part of an inspection. Generated code sees its first field only.
#[repr(C)]
pub(super) struct Marker<'a> {
    pub(super) raw: RawInspector,
    pub(super) shared: &'a Shared<'a>,
    /// The parts of the address space that there are tables for, hardly ever more than a few; for each page in a table its number (+ 1).
    pub(super) tops: Vec<u64>,
    pub(super) tables: Vec<Box<[u32]>>,
    pub(super) pages: Vec<Page>,
    /// For each site the page that was asked for last: accesses stay on a page for long.
    pub(super) recent: Vec<(u64, u32)>,
    /// What the current iteration stores to, and what it loads from that it hasn't stored to.
    pub(super) stores: Vec<Cells>,
    pub(super) loads: Vec<Cells>,
    /// The first `indexed` stores by page and word: where they are many, and somebody asks.
    pub(super) index: FxHashMap<(u32, u32), u64>,
    pub(super) indexed: usize,
    /// Where nothing that is shown stores anything: the memory that known accesses store to, from the first byte to the last. Loads
    /// that lie elsewhere need no marks.
    pub(super) only_stored: Option<(u64, u64)>,
    /// The kind (+ 1) of updates there are.
    pub(super) kind: u32,
    /// Whether some store covers a part of a cell only.
    pub(super) ragged: bool,
    /// Where accesses have to begin, see [`Seeing::inside`]; empty: nobody asks, or one doesn't.
    pub(super) arrays: &'a [(u64, u64)],
    /// For each site what it has come to of its array, as first bytes of accesses: [`Reached`]. Nothing, where nobody asks.
    pub(super) reaches: Vec<(u64, u64)>,
    /// Iterations, and accesses that were shown, so far.
    pub(super) iterations: u32,
    pub(super) shown: u32,
    /// Of the part of the iterations that is under way: the first one, the one that is, and how many turns there were before it.
    pub(super) first: u64,
    pub(super) current: u64,
    pub(super) turns_before: u32,
    /// Bookkeeping that [`Shared::bytes`] doesn't have yet.
    pub(super) bytes: u64,
}

/// Lets a thread's marker do something for generated code. Not 0: everybody's part is over.
///
/// # Safety
/// `raw` is what [`mark`] lends to generated code, and nobody else uses it meanwhile.
pub(super) unsafe fn answer(
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
pub(super) unsafe extern "C" fn next(raw: *mut RawInspector) -> c_int {
    // SAFETY: promised by the caller.
    unsafe {
        answer(raw, |marker| {
            marker.note_turns();
            marker.next()
        })
    }
}

/// See `struct __pg_inspector`.
///
/// # Safety
/// See `touch`.
pub(super) unsafe extern "C" fn poll(raw: *mut RawInspector) -> c_int {
    // SAFETY: promised by the caller.
    unsafe { answer(raw, |marker| marker.look_at_clock()) }
}

/// For so many elements at least a list makes room.
pub(super) const FEWEST: usize = 64;

/// Puts one more into a list. No memory is an obstacle, not the end of the process.
pub(super) fn push<T>(list: &mut Vec<T>, element: T) -> Result<(), Obstacle> {
    if list.len() == list.capacity() {
        list.try_reserve(list.capacity().max(FEWEST)).map_err(|_| Obstacle::Memory)?;
    }
    list.push(element);
    Ok(())
}

impl<'a> Marker<'a> {
    pub(super) fn new(shared: &'a Shared<'_>, known: &Known, sites: u32) -> Result<Marker<'a>, Obstacle> {
        Ok(Marker {
            raw: RawInspector {
                touch,
                next,
                poll,
                known: known.sites | known.unseen,
                first: 0,
                length: 0,
                lasting: known.lasting,
                turns: 0,
                counts: 0,
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
            arrays: &shared.arrays,
            reaches: vec![NOWHERE; shared.arrays.len()],
            iterations: 0,
            shown: 0,
            first: 0,
            current: 0,
            turns_before: 0,
            bytes: 0,
        })
    }

    /// Counts memory that has been taken. Too much of it is an obstacle.
    pub(super) fn took(&mut self, bytes: usize) -> Result<(), Obstacle> {
        self.bytes += bytes as u64;
        if self.bytes < CHECKED_EVERY {
            return Ok(());
        }
        let own = std::mem::take(&mut self.bytes);
        let all = self.shared.bytes.fetch_add(own, Ordering::Relaxed) + own;
        if limits::fits(all) { Ok(()) } else { Err(Obstacle::Memory) }
    }

    pub(super) fn look_at_clock(&self) -> Result<(), Obstacle> {
        match self.shared.is_over() || Instant::now() > self.shared.deadline {
            // Whoever has ended it for another reason has said so before.
            true => Err(Obstacle::Endless),
            false => Ok(()),
        }
    }

    /// The number of a page's marks; the page is that of memory.
    pub(super) fn page(&mut self, number: u64) -> Result<u32, Obstacle> {
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
    pub(super) fn new_page(
        &mut self,
        number: u64,
        table: Option<usize>,
        within: usize,
    ) -> Result<u32, Obstacle> {
        if number >> (ADDRESS_BITS - PAGE_SHIFT) != 0 {
            // No program has memory there.
            return Err(Obstacle::NotThere);
        }
        // Memory takes longer than accesses: one iteration may come to hundreds of pages.
        self.look_at_clock()?;
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

    pub(super) fn set(&mut self, plane: Plane, (page, word, cells): Cells) -> Result<(), Obstacle> {
        if let Some(word) = self.pages[page as usize].planes[plane as usize].get_mut(word as usize) {
            *word |= cells;
            return Ok(());
        }
        // As for a page itself.
        self.look_at_clock()?;
        let words = 1 << (PAGE_SHIFT - self.shared.shift - 6);
        let mut new: Box<[u64]> = zeros(words)?;
        new[word as usize] = cells;
        self.pages[page as usize].planes[plane as usize] = new;
        self.took(8 * words)
    }

    pub(super) fn touch(&mut self, site: u32, address: u64, how: u32) -> Result<(), Obstacle> {
        self.shown = self.shown.wrapping_add(1);
        if self.shown.is_multiple_of(CLOCK_EVERY_SHOWN) {
            self.look_at_clock()?;
        }
        // Those of which nobody asks more than whether they lie inside need not be shown again, wherever one has been outside.
        let inside = match self.arrays.get(site as usize) {
            Some((first, length)) if address.wrapping_sub(*first) < *length => Some((*first, *length)),
            _ => {
                self.arrays = &[];
                None
            }
        };
        let reach = inside.map(|array| self.reach(site, address, array));
        if how & PG_TOUCH_SEEN != 0 {
            (self.raw.first, self.raw.length) = reach.map_or((0, u64::MAX), |(lo, hi)| (lo, hi - lo));
            return Ok(());
        }
        self.note(site, address, how)?;
        // Who isn't shown has to lie in what is known to be reached, and so inside, too.
        if let Some((lo, hi)) = reach.filter(|_| self.raw.length > 1) {
            let end = self.raw.first.saturating_add(self.raw.length).min(hi);
            self.raw.first = self.raw.first.max(lo);
            self.raw.length = end.saturating_sub(self.raw.first);
        }
        Ok(())
    }

    /// What a site has come to of its array, with this address: in pieces of the array, so that their neighbours need not be shown.
    fn reach(&mut self, site: u32, address: u64, (first, length): (u64, u64)) -> (u64, u64) {
        let lo = first + ((address - first) & !(REACHED_PIECE - 1));
        let hi = lo.saturating_add(REACHED_PIECE).min(first + length);
        let Some(reach) = self.reaches.get_mut(site as usize) else { return (address, address + 1) };
        *reach = (reach.0.min(lo), reach.1.max(hi));
        *reach
    }

    /// Marks what an access touches.
    #[inline(always)]
    fn note(&mut self, site: u32, address: u64, how: u32) -> Result<(), Obstacle> {
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
            if let Some(stored) = self.shared.for_once
                && lasts
                && self.is_apart(address, last, stored)?
            {
                return Ok(());
            }
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

    /// Whether a load whose value is wanted comes from where nothing is stored. If so it is there, and its neighbours need not be shown.
    fn is_apart(&mut self, address: u64, last: u64, (lo, hi): (u64, u64)) -> Result<bool, Obstacle> {
        let (from, to) = if address < lo { (0, lo) } else { (hi, 1 << ADDRESS_BITS) };
        if address < from || last >= to {
            return Ok(false);
        }
        let begin = address >> SYSTEM_PAGE_SHIFT << SYSTEM_PAGE_SHIFT;
        let end_of = |pages: u64| begin.saturating_add(pages << SYSTEM_PAGE_SHIFT).min(to);
        let is_there = |end: u64| last < end && safe_copy::are_there(&[(address, end)]);
        // Neighbours further down are on this page.
        let Some(end) = [AHEAD, 2, 1].into_iter().map(end_of).find(|end| is_there(*end)) else {
            return Err(Obstacle::NotThere);
        };
        let first = begin.max(from);
        (self.raw.first, self.raw.length) = (first, (end - first).saturating_sub(last - address));
        Ok(true)
    }

    /// A part of an access, in cells of one word; `address` lies in it.
    pub(super) fn touch_word(
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
    pub(super) fn feed(&mut self, place: Cells, address: u64) -> Result<(), Obstacle> {
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
    pub(super) fn owns(&mut self, (page, word, cells): Cells) -> Result<bool, Obstacle> {
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

    pub(super) fn store(&mut self, (number, word, cells): Cells) -> Result<(), Obstacle> {
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

    pub(super) fn load(&mut self, (number, word, cells): Cells) -> Result<(), Obstacle> {
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
    pub(super) fn update(&mut self, place: Cells, kind: u32) -> Result<(), Obstacle> {
        if self.kind != 0 && self.kind != kind + 1 {
            return Err(Obstacle::Meet);
        }
        self.kind = kind + 1;
        self.set(Plane::Updated, place)
    }

    pub(super) fn end_loads(&mut self) -> Result<(), Obstacle> {
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

    /// Iterations of dimension 0 come next that begin there.
    pub(super) fn begin(&mut self, first: i64) {
        (self.first, self.current) = (first as u64, first as u64);
        (self.raw.turns, self.turns_before) = (0, 0);
    }

    /// In front of each iteration of a part, and behind the last: how many turns the one before had.
    pub(super) fn note_turns(&mut self) {
        let Some(noted) = &self.shared.turns else { return };
        if self.current != self.first {
            noted.note(self.current - 1, self.raw.turns.wrapping_sub(self.turns_before));
        }
        self.turns_before = self.raw.turns;
        self.current += 1;
    }

    /// In front of each iteration, and behind the last.
    pub(super) fn next(&mut self) -> Result<(), Obstacle> {
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
