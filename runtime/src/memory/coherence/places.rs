//! Which pages of the program's memory are where: a state for each page of the arrays that loops on a device have used. Nothing here knows signals or devices; what
//! has to be done to memory is somebody else's ([`Hands`]).
//!
//! All of it may run in a signal handler that has interrupted the program anywhere, but for [`Places::enter`], [`Places::note`], [`Places::settle`] and [`Places::sweep`]. Memory that
//! is allocated or freed there is the runtime's own ([`crate::memory::own`]), never the program's allocator's.

use super::journal::{Done, Journal, Step};
use crate::device::DevicePtr;
use crate::memory::tracking::{Range, common, merged, without};
use crate::speculation::cmt::Kind;

/// Bytes of a page, the unit of everything here. Where the system's are larger nothing stays ([`super::is_possible`]).
pub const PAGE: u64 = 4096;

/// Pages that are opened at once, at first: so many take hardly longer to come back than one does.
const FIRST_OPENED: usize = 16;
/// The same where the program goes on and on: twice as many each time, up to 4 MiB.
const MOST_OPENED: usize = 1024;

/// So much of what lies under pages is saved before everything comes home: to copy more takes longer than it is worth.
const MOST_SAVED: u64 = 4 << 20;

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
pub trait Hands<L> {
    /// Lets the program do so much with some pages. False: the system won't, and nothing has changed, or some of it.
    fn allow(&self, pages: Range, access: Access) -> bool;
    /// Copies from a device into the program's memory, which may be stored to. False: the device is lost, and there may be anything.
    fn fetch(&self, kind: Kind, from: DevicePtr, to: Range) -> bool;
    /// Whether a device still has what is in its memory. Nothing of the program's changes.
    fn answers(&self, kind: Kind, memory: DevicePtr) -> bool;
    /// What is in the program's memory; pages may be loaded from. `None`: there is no memory for it, or it can't be had.
    fn load(&self, range: Range) -> Option<Vec<u8>>;
    /// Stores to the program's memory, all of which may be stored to. False: not to this.
    fn store(&self, at: u64, bytes: &[u8]) -> bool;
    /// Runs a loop on the program's memory. False: that can't be done.
    fn run_again(&self, kind: Kind, done: &Done<L>) -> bool;
    /// All that a device had has been computed once more.
    fn has_recovered(&self, kind: Kind);
    /// Ends the process: what only a device had can't be had any more.
    fn lost(&self, why: &str) -> !;
}

/// Why a page doesn't come back.
enum Trouble {
    /// The system has no room for so many pieces of memory, and all has to come back, which needs fewer.
    Pieces,
    /// The device is lost.
    Gone,
}

/// Said where there is no way.
const REFUSED: &str = "the system lets nobody have the memory of an array again";
/// The same where a device is lost.
const GONE: &str = "its device doesn't answer";

/// Of the bytes under a page, as somebody has to have them who runs the loops of the journal again.
type Base = u32;
/// They are nobody's: old, or the program's own.
const NO_BASE: Base = 0;
/// They are what the journal begins with, which no loop has loaded so far.
const UNREAD: Base = 1;

/// They belong there before this step.
fn base_of(step: usize) -> Base {
    (step as Base).saturating_add(UNREAD + 1)
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
    /// Of the same pages, what lies under them.
    bases: Vec<Base>,
    /// Whether any of that is [`UNREAD`].
    has_unread: bool,
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
            bases: vec![NO_BASE; pages],
            has_unread: false,
            opened: (0, 0),
        }
    }

    /// Whether there is something under its pages of which it isn't known yet whether loops load it.
    pub fn has_unread(&self) -> bool {
        self.has_unread
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

    /// Whether nothing changes behind a loop that uses a range, and stores to it or not: no page of it becomes another's.
    pub fn is_settled(&self, range: Range, stored: bool) -> bool {
        let states = &self.states[self.pages(range)];
        if stored { count_of(states, State::Away) == states.len() } else { !states.contains(&State::Host) }
    }

    /// What of a range that a loop uses has to be in the program's memory behind it, because it is in pages that stay the program's: those of which the device
    /// doesn't have all, and that don't lie in `sure` as a whole.
    pub fn left_outside(&self, range: Range, sure: Range) -> Vec<Range> {
        let inner = self.range(&self.whole_pages(sure));
        let missing: Vec<Range> = self.missing(range).collect();
        if inner.0 < inner.1 { without(&missing, &[inner]) } else { missing }
    }

    /// Sets pages to what they are, and lets the program do with them no more than that allows. False: the system won't, and the program may do everything with them.
    fn set<L>(&mut self, hands: &dyn Hands<L>, pages: std::ops::Range<usize>, state: State) -> bool {
        let range = self.range(&pages);
        if range.0 < range.1 && !hands.allow(range, state.access()) {
            // It may have come as far as to the middle, and who is refused something that is the program's would end it.
            if !hands.allow(range, Access::All) {
                hands.lost(REFUSED);
            }
            return false;
        }
        self.states[pages].fill(state);
        true
    }

    /// Brings pages back, so that the program may do so much with them.
    fn open<L>(
        &mut self,
        hands: &dyn Hands<L>,
        journal: &mut Journal<L>,
        pages: std::ops::Range<usize>,
        stores: bool,
    ) -> Result<(), Trouble> {
        let mut at = pages.start;
        while let Some((run, state)) = self.run(at, pages.end) {
            at = run.end;
            let wanted = if stores { State::Host } else { State::Both };
            match state {
                State::Host => {}
                State::Both if !stores => {}
                _ => {
                    if !hands.allow(self.range(&run), Access::All) {
                        return Err(Trouble::Pieces);
                    }
                    self.save(hands, journal, run.clone())?;
                    if state == State::Away {
                        let range = self.range(&run);
                        if !hands.fetch(self.kind, self.address(range.0), range) {
                            return Err(Trouble::Gone);
                        }
                    }
                    self.states[run.clone()].fill(State::Host);
                    if wanted == State::Both {
                        // Otherwise they are the program's.
                        self.set(hands, run, wanted);
                    }
                }
            }
        }
        Ok(())
    }

    /// Something else takes the place of what lies under pages, which may be loaded from.
    fn save<L>(
        &mut self,
        hands: &dyn Hands<L>,
        journal: &mut Journal<L>,
        pages: std::ops::Range<usize>,
    ) -> Result<(), Trouble> {
        let mut at = pages.start;
        while at < pages.end {
            let base = self.bases[at];
            let run = at..at + self.bases[at..pages.end].iter().take_while(|other| **other == base).count();
            at = run.end;
            if base > UNREAD && journal.is_whole() {
                let range = self.range(&run);
                // A device that is lost already has to be noticed before the journal ends.
                if !journal.has_room(range.1 - range.0) && !hands.answers(self.kind, self.memory) {
                    return Err(Trouble::Gone);
                }
                journal.save((base - base_of(0)) as usize, range.0, hands.load(range));
            }
            self.bases[run].fill(NO_BASE);
        }
        Ok(())
    }

    /// The journal begins anew: what the device has is what lies under its pages.
    fn begin(&mut self) {
        self.has_unread = false;
        for (state, base) in self.states.iter().zip(&mut self.bases) {
            *base = if *state == State::Both { UNREAD } else { NO_BASE };
            self.has_unread |= *state == State::Both;
        }
    }

    /// Sets what lies under those of some pages that no loop had loaded so far.
    fn mark(&mut self, pages: std::ops::Range<usize>, base: Base) {
        self.bases[pages].iter_mut().filter(|now| **now == UNREAD).for_each(|now| *now = base);
    }

    /// What lies under its pages before steps of the journal, by step.
    fn under(&self) -> Vec<(usize, Range)> {
        let (mut all, mut at) = (Vec::new(), 0);
        while let Some(base) = self.bases.get(at).copied() {
            let run = at..at + self.bases[at..].iter().take_while(|other| **other == base).count();
            at = run.end;
            if base > UNREAD {
                all.push(((base - base_of(0)) as usize, self.range(&run)));
            }
        }
        all
    }

    /// Whether some of it is on the device only.
    fn is_away(&self) -> bool {
        count_of(&self.states, State::Host) < self.states.len() && self.states.contains(&State::Away)
    }

    /// All its pages are the program's; `Pieces`: not all of them, because the system would have to part what is one piece of memory, and can't.
    /// `saves`: what lies under them is saved before.
    fn bring_home<L>(
        &mut self,
        hands: &dyn Hands<L>,
        journal: &mut Journal<L>,
        saves: bool,
    ) -> Result<(), Trouble> {
        let (mut at, mut end) = (0, Ok(()));
        // What lies between them may be anything: pages that the program has made read-only, or given back.
        while let Some(kept) = self.kept(at) {
            at = kept.end;
            if !hands.allow(self.range(&kept), Access::All) {
                end = Err(Trouble::Pieces);
                continue;
            }
            if saves {
                self.save(hands, journal, kept.clone())?;
            }
            let mut from = kept.start;
            while let Some((run, state)) = self.run(from, kept.end) {
                from = run.end;
                let range = self.range(&run);
                if state == State::Away && !hands.fetch(self.kind, self.address(range.0), range) {
                    return Err(Trouble::Gone);
                }
            }
            self.states[kept].fill(State::Host);
        }
        end
    }

    /// From one page on, the first ones side by side that the program may not do everything with.
    fn kept(&self, at: usize) -> Option<std::ops::Range<usize>> {
        let begin = at + count_of(&self.states[at..], State::Host);
        let count = self.states[begin..].iter().take_while(|state| **state != State::Host).count();
        (count != 0).then_some(begin..begin + count)
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
#[derive(Debug)]
pub struct Places<L> {
    all: Vec<Place>,
    journal: Journal<L>,
}

impl<L> Places<L> {
    /// None.
    pub const fn new() -> Places<L> {
        Places { all: Vec::new(), journal: Journal::new() }
    }

    /// What loops have done since nothing was on a device only.
    pub fn journal(&self) -> &Journal<L> {
        &self.journal
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

    /// A device has run a loop, whose accesses are settled next: place by place by [`Places::settle`], then by [`Places::settled`]. `None`: nobody knows what it takes to run it
    /// again.
    pub fn note(&mut self, step: Option<Step<L>>) {
        self.journal.note(step);
    }

    /// Behind a loop that is noted, and what of a place it uses is settled: `missing` was copied to the device, `covered` is what it has stored to without having loaded it.
    pub fn settled(&mut self, number: usize, missing: &[Range], covered: &[Range]) {
        let Some(last) = self.journal.steps().len().checked_sub(1) else { return };
        let place = &mut self.all[number];
        for range in missing {
            let pages = place.pages(*range);
            for at in pages {
                // What has stayed the program's was given to the loop.
                if place.states[at] != State::Host {
                    place.bases[at] = base_of(last);
                }
            }
        }
        if !place.has_unread {
            return;
        }
        let Done { loads, stores, .. } = &*self.journal.steps()[last].done;
        for range in loads {
            place.mark(place.pages(*range), base_of(0));
        }
        for range in covered {
            place.mark(place.whole_pages(*range), NO_BASE);
        }
        for range in stores {
            place.mark(place.pages(*range), base_of(0));
        }
        place.has_unread = place.bases.contains(&UNREAD);
    }

    /// Behind [`Places::settled`] of all places: keeps the journal short.
    pub fn shorten(&mut self, hands: &dyn Hands<L>) {
        if self.journal.is_long() {
            self.touch(hands, (0, u64::MAX), false);
        }
    }

    /// Begins the journal anew where nothing is on a device only.
    fn begin(&mut self) {
        if self.journal.is_empty() || self.all.iter().any(Place::is_away) {
            return;
        }
        self.all.iter_mut().for_each(Place::begin);
        self.journal.begin();
    }

    /// Behind a loop that has used a range, all of which the device has had, and stored to it or not: what of it is the device's now. Of the program's pages only those
    /// change that lie in `sure` as a whole.
    pub fn settle(&mut self, hands: &dyn Hands<L>, number: usize, range: Range, sure: Range, stored: bool) {
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
            if changed.start >= changed.end || place.set(hands, changed.clone(), state) {
                continue;
            }
            if !stored {
                // What the loop has loaded from there the program may change now.
                self.journal.give_up();
                continue;
            }
            let range = place.range(&changed);
            if !hands.fetch(place.kind, place.address(range.0), range) {
                hands.lost(GONE);
            }
            place.states[changed.clone()].fill(State::Host);
            place.bases[changed].fill(NO_BASE);
            self.journal.give_up();
        }
    }

    /// The program has tried to load or to store at an address and may not. True: now it may.
    pub fn fault(&mut self, hands: &dyn Hands<L>, address: u64, stores: bool) -> bool {
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
        match place.open(hands, &mut self.journal, begin..end, stores) {
            Ok(()) => self.begin(),
            Err(Trouble::Pieces) => self.bring_home(hands),
            Err(Trouble::Gone) => self.recover(hands),
        }
        true
    }

    /// The system is about to load from a range or to store to it.
    pub fn touch(&mut self, hands: &dyn Hands<L>, range: Range, stores: bool) {
        let journal = &mut self.journal;
        let opened = self.all.iter_mut().try_for_each(|place| {
            let pages = place.pages(range);
            place.open(hands, journal, pages, stores)
        });
        match opened {
            Ok(()) => self.begin(),
            Err(Trouble::Pieces) => self.bring_home(hands),
            Err(Trouble::Gone) => self.recover(hands),
        }
    }

    /// Whether a range has anything in common with a place.
    pub fn keep(&self, (lo, hi): Range) -> bool {
        self.all.iter().map(Place::hull).any(|(first, end)| first < hi && lo < end)
    }

    /// Whether there is a page that the program may not do everything with.
    pub fn keeps_any(&self) -> bool {
        self.all.iter().any(|place| place.kept(0).is_some())
    }

    /// All pages are the program's.
    pub fn bring_home(&mut self, hands: &dyn Hands<L>) {
        // What lies under much isn't saved; so a device that doesn't answer has to be noticed before any of it is overwritten.
        let under: u64 = self.all.iter().flat_map(Place::under).map(|(_, (lo, hi))| hi - lo).sum();
        let saves = under <= MOST_SAVED;
        let is_lost = |kind: Kind| {
            let away = self.all.iter().find(|place| place.kind == kind && place.is_away());
            away.is_some_and(|place| !hands.answers(kind, place.memory))
        };
        if [Kind::Cuda, Kind::Threads].into_iter().any(is_lost) {
            return self.recover(hands);
        }
        // Neighbours' pages may be one piece of memory, which need not be parted once some of them are home.
        let mut before = usize::MAX;
        loop {
            let mut is_all = true;
            for place in &mut self.all {
                match place.bring_home(hands, &mut self.journal, saves) {
                    Ok(()) => {}
                    Err(Trouble::Pieces) => is_all = false,
                    Err(Trouble::Gone) if saves => return self.recover(hands),
                    Err(Trouble::Gone) => hands.lost(GONE),
                }
            }
            if is_all {
                break;
            }
            let is_kept = |state: &&State| **state != State::Host;
            let left = self.all.iter().map(|place| place.states.iter().filter(is_kept).count()).sum();
            if left >= before {
                hands.lost(REFUSED);
            }
            before = left;
        }
        self.begin();
    }

    /// A device doesn't answer any more, which has taken with it all that only it had: the loops that have stored it are run again. All pages are the program's afterwards.
    fn recover(&mut self, hands: &dyn Hands<L>) {
        if !self.journal.is_whole() {
            hands.lost(GONE);
        }
        let mut kept: Vec<Range> = Vec::new();
        for place in &self.all {
            let runs = std::iter::successors(place.kept(0), |run| place.kept(run.end));
            kept.extend(runs.map(|run| place.range(&run)));
        }
        // As above.
        while !kept.is_empty() {
            let before = kept.len();
            kept.retain(|range| !hands.allow(*range, Access::All));
            if kept.len() == before {
                hands.lost(REFUSED);
            }
        }
        let steps = self.journal.steps();
        let length = |bytes: &[u8]| bytes.len() as u64;
        let given =
            steps.iter().flat_map(|step| step.given.iter().map(|(at, bytes)| (*at, at + length(bytes))));
        let saved = self.journal.saved().iter().map(|saved| (saved.at, saved.at + length(&saved.bytes)));
        let stored = steps.iter().flat_map(|step| step.done.stores.iter().copied());
        // All that changes now, and has to be again what it is: the program has it.
        let mut away = Vec::new();
        let mut found = Vec::new();
        for place in &self.all {
            let runs = place.runs(0..place.states.len());
            away.extend(runs.filter(|(_, state)| *state == State::Away).map(|(run, _)| place.range(&run)));
            found.extend(place.under());
        }
        let touched = merged(given.chain(saved).chain(stored));
        let changes = without(&touched, &merged(away.into_iter()));
        let had = |range: &Range| hands.load(*range).map(|bytes| (range.0, bytes));
        let Some(now) = changes.iter().map(had).collect::<Option<Vec<_>>>() else { hands.lost(GONE) };
        // What lies where it belongs before a step, but may not lie there any more after those in front of it.
        let mut under: Vec<(usize, u64, Vec<u8>)> = Vec::new();
        for (step, range) in found.into_iter().filter(|(step, _)| *step != 0) {
            for range in common(&[range], &touched) {
                let Some(bytes) = hands.load(range) else { hands.lost(GONE) };
                under.push((step, range.0, bytes));
            }
        }
        let under = under.iter().map(|(step, at, bytes)| (*step, *at, bytes));
        let saved = self.journal.saved().iter().map(|saved| (saved.before, saved.at, &saved.bytes));
        let mut before: Vec<(usize, u64, &Vec<u8>)> = under.chain(saved).collect();
        before.sort_by_key(|(step, ..)| *step);
        let mut before = before.into_iter().peekable();
        let kind = self.all.first().map_or(Kind::Cuda, |place| place.kind);
        for (number, step) in steps.iter().enumerate() {
            let lain = std::iter::from_fn(|| before.next_if(|(step, ..)| *step == number));
            let lain = lain.map(|(_, at, bytes)| (at, bytes));
            let given = step.given.iter().map(|(at, bytes)| (*at, bytes));
            let is_there = lain.chain(given).all(|(at, bytes)| hands.store(at, bytes));
            if !is_there || !hands.run_again(kind, &step.done) {
                hands.lost(GONE);
            }
        }
        if !now.iter().all(|(at, bytes)| hands.store(*at, bytes)) {
            hands.lost(GONE);
        }
        self.all.iter_mut().for_each(|place| place.states.fill(State::Host));
        self.begin();
        [Kind::Cuda, Kind::Threads].into_iter().for_each(|kind| hands.has_recovered(kind));
    }

    /// Forgets all places, whose pages are the program's: their memory on devices, to be freed.
    pub fn sweep(&mut self) -> Vec<(Kind, DevicePtr)> {
        debug_assert!(self.all.iter().all(|place| place.states.iter().all(|state| *state == State::Host)));
        self.journal.begin();
        self.all.drain(..).map(|place| (place.kind, place.memory)).collect()
    }
}

impl<L> Default for Places<L> {
    fn default() -> Places<L> {
        Places::new()
    }
}

#[cfg(test)]
mod tests;
