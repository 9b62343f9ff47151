//! Which pages of the program's memory are where: a state for each page of the arrays that loops on a device have used. Nothing here knows signals or devices; what
//! has to be done to memory is somebody else's ([`Hands`]).
//!
//! All of it may run in a signal handler that has interrupted the program anywhere, but for [`Places::enter`], [`Places::settle`] and [`Places::sweep`]: so nothing else
//! allocates or frees memory.

use crate::device::DevicePtr;
use crate::memory::tracking::{Range, without};
use crate::speculation::cmt::Kind;

/// Bytes of a page, the unit of everything here. Where the system's are larger nothing stays ([`super::is_possible`]).
pub const PAGE: u64 = 4096;

/// Pages that are opened at once, at first: so many take hardly longer to come back than one does.
const FIRST_OPENED: usize = 16;
/// The same where the program goes on and on: twice as many each time, up to 4 MiB.
const MOST_OPENED: usize = 1024;

/// Where the bytes of a page are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum State {
    /// In the program's memory; what a device has of it is old.
    Host,
    /// In both; the program may load, and has to say so before it stores.
    Both,
    /// On the device only.
    Away,
}

/// What the program may do with a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Access {
    Nothing,
    Load,
    All,
}

impl State {
    fn access(self) -> Access {
        match self {
            State::Host => Access::All,
            State::Both => Access::Load,
            State::Away => Access::Nothing,
        }
    }
}

/// Who does what has to be done. All of it is called where the module says.
pub trait Hands {
    /// Lets the program do so much with some pages. False: the system won't, and nothing has changed, or some of it.
    fn allow(&self, pages: Range, access: Access) -> bool;
    /// Copies from a device into the program's memory, which may be stored to. It ends the process where that can't be done: nobody else has these bytes.
    fn fetch(&self, kind: Kind, from: DevicePtr, to: Range);
}

/// An array on a device, as far as loops there have used it.
#[derive(Debug)]
pub struct Place {
    /// The device.
    pub kind: Kind,
    /// Its memory there.
    pub memory: DevicePtr,
    /// Where the program's address `span.0` is in it.
    pub at: u64,
    /// What it has room for. Neighbours may have the first and the last page in common; it is nobody's but the program's then, because none of them has all of it.
    pub span: Range,
    /// Whether that is whole pages in which nothing else lies.
    pub is_apart: bool,
    /// Of this it is known that it may be kept from the program.
    pub known: Range,
    /// Of the pages that have anything of the span in them.
    states: Vec<State>,
    /// The page behind those that were opened last, and how many these were.
    opened: (usize, usize),
}

impl Place {
    /// A place whose pages are all the program's.
    pub fn new(kind: Kind, memory: DevicePtr, at: u64, span: Range) -> Place {
        let pages = (span.1.div_ceil(PAGE) - span.0 / PAGE) as usize;
        Place {
            kind,
            memory,
            at,
            span,
            is_apart: false,
            known: (span.0, span.0),
            states: vec![State::Host; pages],
            opened: (0, 0),
        }
    }

    /// Where an address of the program's is on the device.
    pub fn address(&self, address: u64) -> DevicePtr {
        DevicePtr(self.at + (address - self.span.0))
    }

    /// The pages that have anything of a range in them, as numbers.
    fn pages(&self, (lo, hi): Range) -> std::ops::Range<usize> {
        let (lo, hi) = (lo.max(self.span.0), hi.min(self.span.1));
        if lo >= hi {
            return 0..0;
        }
        let first = self.span.0 / PAGE;
        (lo / PAGE - first) as usize..(hi.div_ceil(PAGE) - first) as usize
    }

    /// Those that lie in a range as a whole.
    fn whole_pages(&self, (lo, hi): Range) -> std::ops::Range<usize> {
        let (lo, hi) = (lo.max(self.span.0).div_ceil(PAGE), hi.min(self.span.1) / PAGE);
        let first = self.span.0 / PAGE;
        if lo >= hi { 0..0 } else { (lo - first) as usize..(hi - first) as usize }
    }

    fn range(&self, pages: &std::ops::Range<usize>) -> Range {
        let begin = self.span.0 & !(PAGE - 1);
        (begin + pages.start as u64 * PAGE, begin + pages.end as u64 * PAGE)
    }

    /// All pages that have anything of it in them.
    fn hull(&self) -> Range {
        (self.span.0 & !(PAGE - 1), self.span.1.next_multiple_of(PAGE))
    }

    /// From one page on, and before `end`, those that are in its state, by number.
    fn run(&self, at: usize, end: usize) -> Option<(std::ops::Range<usize>, State)> {
        let rest = self.states.get(at..end)?;
        let first = *rest.first()?;
        Some((at..at + count_of(rest, first), first))
    }

    /// All such runs of some pages, in their order.
    fn runs(&self, pages: std::ops::Range<usize>) -> impl Iterator<Item = (std::ops::Range<usize>, State)> {
        let mut at = pages.start;
        std::iter::from_fn(move || {
            let run = self.run(at, pages.end)?;
            at = run.0.end;
            Some(run)
        })
    }

    /// What of a range the device has to be given: all that is in pages whose bytes it doesn't have.
    pub fn missing(&self, range: Range) -> impl Iterator<Item = Range> {
        let runs = self.runs(self.pages(range)).filter(|(_, state)| *state == State::Host);
        runs.map(move |(pages, _)| {
            let (lo, hi) = self.range(&pages);
            (lo.max(range.0), hi.min(range.1))
        })
    }

    /// What of a range that a loop uses has to be in the program's memory behind it, because it is in pages that stay the program's: those of which the device
    /// doesn't have all, and that don't lie in `sure` as a whole.
    pub fn left_outside(&self, range: Range, sure: Range) -> Vec<Range> {
        let inner = self.range(&self.whole_pages(sure));
        let missing: Vec<Range> = self.missing(range).collect();
        if inner.0 < inner.1 { without(&missing, &[inner]) } else { missing }
    }

    /// Sets pages to what they are, and lets the program do with them no more than that allows. False: the system won't, and the program may do everything with them.
    fn set(&mut self, hands: &dyn Hands, pages: std::ops::Range<usize>, state: State) -> bool {
        let range = self.range(&pages);
        if range.0 < range.1 && !hands.allow(range, state.access()) {
            // It may have come as far as to the middle, and who is refused something that is the program's would end it.
            if !hands.allow(range, Access::All) {
                super::lost("the system lets nobody have the memory of an array again");
            }
            return false;
        }
        self.states[pages].fill(state);
        true
    }

    /// Brings pages back, so that the program may do so much with them. False: the system has no room for so many pieces of memory, and all has to come back, which
    /// needs fewer.
    fn open(&mut self, hands: &dyn Hands, pages: std::ops::Range<usize>, stores: bool) -> bool {
        let mut at = pages.start;
        while let Some((run, state)) = self.run(at, pages.end) {
            at = run.end;
            let wanted = if stores { State::Host } else { State::Both };
            match state {
                State::Host => {}
                State::Both if !stores => {}
                _ => {
                    if !hands.allow(self.range(&run), Access::All) {
                        return false;
                    }
                    if state == State::Away {
                        let range = self.range(&run);
                        hands.fetch(self.kind, self.address(range.0), range);
                    }
                    self.states[run.clone()].fill(State::Host);
                    if wanted == State::Both {
                        // Otherwise they are the program's.
                        self.set(hands, run, wanted);
                    }
                }
            }
        }
        true
    }

    /// All its pages are the program's; false: not all of them, because the system would have to part what is one piece of memory, and can't.
    fn bring_home(&mut self, hands: &dyn Hands) -> bool {
        let (mut at, mut is_all) = (0, true);
        // What lies between them may be anything: pages that the program has made read-only, or given back.
        loop {
            let begin = at + count_of(&self.states[at..], State::Host);
            if begin == self.states.len() {
                break;
            }
            let count = self.states[begin..].iter().take_while(|state| **state != State::Host).count();
            let end = begin + count;
            at = end;
            if !hands.allow(self.range(&(begin..end)), Access::All) {
                is_all = false;
                continue;
            }
            let mut from = begin;
            while let Some((run, state)) = self.run(from, end) {
                from = run.end;
                if state == State::Away {
                    let range = self.range(&run);
                    hands.fetch(self.kind, self.address(range.0), range);
                }
            }
            self.states[begin..end].fill(State::Host);
        }
        is_all
    }
}

/// How many states are this one before the first that isn't. There may be tens of thousands, and whoever enters a loop waits; so they are compared in blocks, in each of
/// which nothing depends on the one before.
fn count_of(states: &[State], same: State) -> usize {
    const BLOCK: usize = 64;
    let is_same = |block: &&[State]| block.iter().fold(true, |all, state| all & (*state == same));
    let blocks = states.chunks_exact(BLOCK).take_while(is_same).count();
    let rest = &states[blocks * BLOCK..];
    blocks * BLOCK + rest.iter().position(|state| *state != same).unwrap_or(rest.len())
}

/// All places: disjoint.
#[derive(Debug, Default)]
pub struct Places {
    all: Vec<Place>,
}

impl Places {
    /// None.
    pub const fn new() -> Places {
        Places { all: Vec::new() }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The place that has room for all of a range, by number; `Err`: there is one that has room for a part of it.
    pub fn of(&self, (lo, hi): Range) -> Result<Option<usize>, usize> {
        let found = self.all.iter().position(|place| place.span.0 < hi && lo < place.span.1);
        match found {
            Some(number) if self.all[number].span.0 <= lo && hi <= self.all[number].span.1 => {
                Ok(Some(number))
            }
            Some(number) => Err(number),
            None => Ok(None),
        }
    }

    /// One of them.
    pub fn get(&self, number: usize) -> &Place {
        &self.all[number]
    }

    /// One of them.
    pub fn get_mut(&mut self, number: usize) -> &mut Place {
        &mut self.all[number]
    }

    /// Takes a place in; its number.
    pub fn enter(&mut self, place: Place) -> usize {
        self.all.push(place);
        self.all.len() - 1
    }

    /// Behind a loop that has used a range, all of which the device has had, and stored to it or not: what of it is the device's now. Of the program's pages only those
    /// change that lie in `sure` as a whole.
    pub fn settle(&mut self, hands: &dyn Hands, number: usize, range: Range, sure: Range, stored: bool) {
        let place = &mut self.all[number];
        let state = if stored { State::Away } else { State::Both };
        let (pages, inner) = (place.pages(range), place.whole_pages(sure));
        let mut at = pages.start;
        while let Some((run, was)) = place.run(at, pages.end) {
            at = run.end;
            let changed = match was {
                State::Host => run.start.max(inner.start)..run.end.min(inner.end),
                // The device has all of it, wherever it was stored to.
                State::Both if stored => run,
                _ => continue,
            };
            if changed.start >= changed.end || place.set(hands, changed.clone(), state) || !stored {
                continue;
            }
            let range = place.range(&changed);
            hands.fetch(place.kind, place.address(range.0), range);
            place.states[changed].fill(State::Host);
        }
    }

    /// The program has tried to load or to store at an address and may not. True: now it may.
    pub fn fault(&mut self, hands: &dyn Hands, address: u64, stores: bool) -> bool {
        // Of neighbours with a page in common none keeps it.
        let is_its = |place: &&mut Place| (place.span.0..place.span.1).contains(&address);
        let Some(place) = self.all.iter_mut().find(is_its) else { return false };
        let page = place.pages((address, address + 1)).start;
        let is_kept = match place.states[page] {
            State::Host => false,
            State::Both => stores,
            State::Away => true,
        };
        if !is_kept {
            return false;
        }
        // Who goes on where the last ones ended is given more and more.
        let (next, before) = place.opened;
        let count = if next == page { (2 * before).clamp(FIRST_OPENED, MOST_OPENED) } else { FIRST_OPENED };
        let begin = if next == page { page } else { page - page % FIRST_OPENED };
        let end = (begin + count).min(place.states.len());
        let state = place.states[page];
        // Neighbours in another state are none of it.
        let before = place.states[begin..page].iter().rposition(|other| *other != state);
        let behind = place.states[page..end].iter().position(|other| *other != state);
        let begin = before.map_or(begin, |before| begin + before + 1);
        let end = behind.map_or(end, |behind| page + behind);
        place.opened = (end, end - begin);
        if !place.open(hands, begin..end, stores) {
            self.bring_home(hands);
        }
        true
    }

    /// The system is about to load from a range or to store to it.
    pub fn touch(&mut self, hands: &dyn Hands, range: Range, stores: bool) {
        let mut open = |place: &mut Place| place.open(hands, place.pages(range), stores);
        if !self.all.iter_mut().all(&mut open) {
            self.bring_home(hands);
        }
    }

    /// Whether a range has anything in common with a place.
    pub fn keep(&self, (lo, hi): Range) -> bool {
        self.all.iter().map(Place::hull).any(|(first, end)| first < hi && lo < end)
    }

    /// All pages are the program's.
    pub fn bring_home(&mut self, hands: &dyn Hands) {
        // Neighbours' pages may be one piece of memory, which need not be parted once some of them are home.
        let mut before = usize::MAX;
        while self.all.iter_mut().map(|place| place.bring_home(hands)).filter(|is_home| !is_home).count() != 0
        {
            let is_kept = |state: &&State| **state != State::Host;
            let left = self.all.iter().map(|place| place.states.iter().filter(is_kept).count()).sum();
            if left >= before {
                super::lost("the system lets nobody have the memory of an array again");
            }
            before = left;
        }
    }

    /// Forgets all places, whose pages are the program's: their memory on devices, to be freed.
    pub fn sweep(&mut self) -> Vec<(Kind, DevicePtr)> {
        debug_assert!(self.all.iter().all(|place| place.states.iter().all(|state| *state == State::Host)));
        self.all.drain(..).map(|place| (place.kind, place.memory)).collect()
    }
}

#[cfg(test)]
mod tests;
