//! Programs that nobody has written: loops on a device and accesses of the program's in between, against one memory that knows nothing of places.

use super::*;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// Where the program's memory begins, and its pages.
const BEGIN: u64 = 0x10_0000;
const PAGES: u64 = 40;
const END: u64 = BEGIN + PAGES * PAGE;

/// Numbers that look random.
struct Random(Cell<u64>);

impl Random {
    fn below(&self, n: u64) -> u64 {
        let next =
            self.0.get().wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0.set(next);
        (next >> 33) % n
    }
}

/// A system with the program's memory and a device's, which refuses some of what is asked of it.
struct Machine {
    host: RefCell<Vec<u8>>,
    access: RefCell<Vec<Access>>,
    device: RefCell<Vec<u8>>,
    random: Random,
    refuses: bool,
    refused: Cell<bool>,
    obliges: Cell<bool>,
    fetched: Cell<u64>,
    /// After so many fetches the device is lost; what it has then is anything, and so is where it was told to put it.
    dies_after: Cell<u64>,
    /// Loops that were run again.
    again: Cell<u64>,
}

/// What loops do here: they load some bytes of a range, or none, and one that is nobody's but the program's, and store what follows from them and from where it is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Work {
    loaded: Option<Range>,
    own: u64,
    written: Range,
    step: u64,
    value: u8,
}

impl Work {
    fn run(&self, load: impl Fn(u64) -> u8, mut store: impl FnMut(u64, u8)) {
        let mut sum = self.value.wrapping_add(load(self.own));
        if let Some((lo, hi)) = self.loaded {
            sum = (lo..hi)
                .step_by(61)
                .fold(sum, |sum, address| sum.wrapping_mul(3).wrapping_add(load(address)));
        }
        for address in (self.written.0..self.written.1).step_by(self.step as usize) {
            store(address, sum.wrapping_add(address as u8));
        }
    }
    fn stores(&self) -> Vec<Range> {
        merged([self.written].into_iter())
    }
}

fn at(address: u64) -> usize {
    (address - BEGIN) as usize
}

impl Hands<Work> for Machine {
    fn allow(&self, (lo, hi): Range, access: Access) -> bool {
        assert!(lo % PAGE == 0 && hi % PAGE == 0 && lo < hi, "{lo:x} {hi:x}");
        // But not twice in a row, not where there is no other way, and only what would be more pieces of memory.
        let pages = at(lo) / PAGE as usize..at(hi) / PAGE as usize;
        let parts = {
            let now = self.access.borrow();
            // Pages that are what the others become aren't parted from them.
            let is_one =
                |a: usize| now.get(a).is_some_and(|one| now.get(a + 1) == Some(one) && *one != access);
            pages.start != 0 && is_one(pages.start - 1) || is_one(pages.end - 1)
        };
        let refuses =
            self.refuses && parts && !self.obliges.get() && self.random.below(4) == 0 && !self.refused.get();
        self.refused.set(refuses);
        if refuses {
            // The kernel may have come as far as to the middle.
            let middle = pages.start + pages.len() / 2;
            self.access.borrow_mut()[pages.start..middle].fill(access);
            return false;
        }
        self.access.borrow_mut()[pages].fill(access);
        true
    }

    fn fetch(&self, _: Kind, from: DevicePtr, (lo, hi): Range) -> bool {
        if !self.is_there() {
            self.host.borrow_mut()[at(lo)..at(lo + (hi - lo) / 2)].fill(0xa5);
            return false;
        }
        let pages = at(lo) / PAGE as usize..at(hi).div_ceil(PAGE as usize);
        assert!(self.access.borrow()[pages].iter().all(|access| *access == Access::All));
        let from = from.0 as usize;
        self.host.borrow_mut()[at(lo)..at(hi)]
            .copy_from_slice(&self.device.borrow()[from..from + (hi - lo) as usize]);
        self.fetched.set(self.fetched.get() + (hi - lo));
        true
    }

    fn answers(&self, _: Kind, _: DevicePtr) -> bool {
        self.is_there()
    }

    fn load(&self, (lo, hi): Range) -> Option<Vec<u8>> {
        Some(self.host.borrow()[at(lo)..at(hi)].to_vec())
    }

    fn store(&self, address: u64, bytes: &[u8]) -> bool {
        self.host.borrow_mut()[at(address)..at(address) + bytes.len()].copy_from_slice(bytes);
        true
    }

    fn run_again(&self, _: Kind, done: &Done<Work>) -> bool {
        self.again.set(self.again.get() + 1);
        let mut host = self.host.borrow_mut();
        let before = host.clone();
        done.again.run(|address| before[at(address)], |address, value| host[at(address)] = value);
        true
    }

    fn has_recovered(&self, _: Kind) {}

    fn lost(&self, why: &str) -> ! {
        panic!("{why}")
    }
}

impl Machine {
    fn is_there(&self) -> bool {
        let left = self.dies_after.get().saturating_sub(1);
        self.dies_after.set(left);
        if left == 0 {
            self.device.borrow_mut().fill(0x5a);
        }
        left != 0
    }
    fn new(seed: u64) -> Machine {
        let random = Random(Cell::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1));
        let host: Vec<u8> = (0..PAGES * PAGE).map(|_| random.below(256) as u8).collect();
        let device = (0..4 * PAGES * PAGE).map(|_| random.below(256) as u8).collect();
        Machine {
            host: RefCell::new(host),
            access: RefCell::new(vec![Access::All; PAGES as usize]),
            device: RefCell::new(device),
            refuses: seed.is_multiple_of(3),
            refused: Cell::new(false),
            obliges: Cell::new(false),
            random,
            fetched: Cell::new(0),
            dies_after: Cell::new(u64::MAX),
            again: Cell::new(0),
        }
    }

    /// A range of addresses; many begin or end where pages do.
    fn range(&self, (lo, hi): Range) -> Range {
        let one = || {
            let address = lo + self.random.below(hi - lo + 1);
            match self.random.below(3) {
                0 => (address & !(PAGE - 1)).clamp(lo, hi),
                _ => address,
            }
        };
        let (a, b) = (one(), one());
        (a.min(b), a.max(b))
    }

    /// The program loads or stores; it may be told first that it can't.
    fn touches(&self, places: &mut Places<Work>, address: u64, stores: bool) {
        let may = match self.access.borrow()[at(address) / PAGE as usize] {
            Access::All => true,
            Access::Load => !stores,
            Access::Nothing => false,
        };
        assert_eq!(places.fault(self, address, stores), !may, "{address:x}");
        let now = self.access.borrow()[at(address) / PAGE as usize];
        assert!(now == Access::All || now == Access::Load && !stores);
    }

    /// A loop on the device, on a range of a place, of which some is surely the program's alone.
    fn runs(
        &self,
        places: &mut Places<Work>,
        truth: &mut [u8],
        number: usize,
        (range, sure): (Range, Range),
        work: Work,
    ) {
        let stored = work.written.0 < work.written.1;
        let covered =
            if stored && work.loaded.is_none() && work.step == 1 { work.stores() } else { Vec::new() };
        let place = places.get(number);
        let missing: Vec<Range> = place.missing(range).collect();
        let missing = without(&missing, &covered);
        let outside = place.left_outside(range, sure);
        for (lo, hi) in missing.iter().copied() {
            let to = place.address(lo).0 as usize;
            self.device.borrow_mut()[to..to + (hi - lo) as usize]
                .copy_from_slice(&self.host.borrow()[at(lo)..at(hi)]);
        }
        // What it loads is what is there.
        let begin = place.address(range.0).0 as usize;
        let there = self.device.borrow()[begin..begin + (range.1 - range.0) as usize].to_vec();
        let same = |(lo, hi): Range| {
            there[(lo - range.0) as usize..(hi - range.0) as usize] == truth[at(lo)..at(hi)]
        };
        assert!(without(&[range], &covered).into_iter().all(same), "{work:?}");
        let given = outside.iter().copied().chain([(work.own, work.own + 1)]);
        let given = given.map(|(lo, hi)| (lo, self.host.borrow()[at(lo)..at(hi)].to_vec())).collect();
        let loads = work.loaded.into_iter().chain([(work.own, work.own + 1)]).collect();
        let stores = if stored { vec![range] } else { Vec::new() };
        let done = Done { again: work, loads, stores, code: Vec::new() };
        let before = truth.to_vec();
        work.run(
            |address| before[at(address)],
            |address, value| {
                truth[at(address)] = value;
                self.device.borrow_mut()[place.address(address).0 as usize] = value;
                if outside.iter().any(|(lo, hi)| (*lo..*hi).contains(&address)) {
                    self.host.borrow_mut()[at(address)] = value;
                }
            },
        );
        let done = places.journal().shared(done);
        places.note(Some(Step { done, given }));
        places.settle(self, number, range, sure, stored);
        places.settled(number, &missing, &covered);
        places.shorten(self);
    }
}

/// A program that nobody has written, from a number. How many loops were run again, if its device is one that is lost some time.
fn one_memory_is_seen(seed: u64, dies: bool) -> u64 {
    let machine = Machine::new(seed);
    if dies {
        machine.dies_after.set(1 + machine.random.below(20));
    }
    let mut truth = machine.host.borrow().clone();
    let mut places = Places::new();
    // Neighbours share a page.
    let middle = BEGIN + PAGE * 19 + 1000;
    let first = BEGIN + 100;
    for (span, memory) in [((first, middle), 0u64), ((middle, END - 77), 2 * PAGES * PAGE)] {
        places.enter(Place::new(Kind::Cuda, DevicePtr(memory), memory + span.0 % 64, span));
    }
    for step in 0..60 {
        let random = &machine.random;
        match random.below(8) {
            0..4 if machine.dies_after.get() == 0 => {
                let (lo, hi) = machine.range((BEGIN, END));
                places.touch(&machine, (lo, hi), true);
                assert!(machine.host.borrow()[at(lo)..at(hi)] == truth[at(lo)..at(hi)], "{seed} {step}");
            }
            0..4 => {
                // A loop, which stores to some of what it uses, all of which is surely the program's, or a part.
                let number = random.below(2) as usize;
                let range = machine.range(places.get(number).span);
                if range.0 == range.1 {
                    continue;
                }
                let sure = if random.below(2) == 0 { range } else { machine.range(range) };
                let stored = random.below(3) != 0;
                let loaded = !stored || random.below(2) == 0;
                let written = match random.below(3) {
                    _ if !stored => (range.0, range.0),
                    0 => range,
                    _ => machine.range(range),
                };
                let work = Work {
                    loaded: loaded.then_some(range),
                    own: BEGIN + random.below(100),
                    written,
                    step: [1, 1, 2, 3][random.below(4) as usize],
                    value: random.below(256) as u8,
                };
                machine.runs(&mut places, &mut truth, number, (range, sure), work);
            }
            4 => {
                for address in [random.below(PAGES * PAGE), random.below(PAGES * PAGE)] {
                    machine.touches(&mut places, BEGIN + address, false);
                    assert_eq!(
                        machine.host.borrow()[address as usize],
                        truth[address as usize],
                        "{seed} {step}"
                    );
                }
            }
            5 => {
                // One after the other.
                let (lo, hi) = machine.range((BEGIN, END));
                let stores = random.below(2) == 0;
                for address in (lo..hi).step_by(PAGE as usize / 2) {
                    machine.touches(&mut places, address, stores);
                    assert_eq!(machine.host.borrow()[at(address)], truth[at(address)], "{seed} {step}");
                    if stores {
                        (truth[at(address)], machine.host.borrow_mut()[at(address)]) = (step, step);
                    }
                }
            }
            6 => {
                // All of it now and then, which is where a journal begins.
                let is_all = random.below(3) == 0;
                let (lo, hi) = if is_all { (BEGIN, END) } else { machine.range((BEGIN, END)) };
                let stores = !is_all && random.below(2) == 0;
                places.touch(&machine, (lo, hi), stores);
                for address in lo..hi {
                    let access = machine.access.borrow()[at(address) / PAGE as usize];
                    assert!(access == Access::All || access == Access::Load && !stores, "{seed} {step}");
                }
                assert!(machine.host.borrow()[at(lo)..at(hi)] == truth[at(lo)..at(hi)], "{seed} {step}");
                if stores {
                    truth[at(lo)..at(hi)].fill(step);
                    machine.host.borrow_mut()[at(lo)..at(hi)].fill(step);
                }
            }
            _ => {
                if random.below(4) == 0 {
                    machine.obliges.set(true);
                    places.bring_home(&machine);
                    machine.obliges.set(false);
                    assert!(*machine.host.borrow() == truth, "{seed} {step}");
                    assert!(machine.access.borrow().iter().all(|access| *access == Access::All));
                }
            }
        }
    }
    machine.obliges.set(true);
    places.bring_home(&machine);
    assert!(*machine.host.borrow() == truth, "{seed}");
    assert_eq!(places.sweep().len(), 2);
    machine.again.get()
}

#[test]
fn nobody_sees_anything_but_one_memory() {
    for seed in 0..400 {
        assert_eq!(one_memory_is_seen(seed, false), 0);
    }
}

#[test]
fn nor_where_the_device_is_lost() {
    // Without those whose system refuses something, where journals end.
    let again: u64 = (0..600).filter(|seed| seed % 3 != 0).map(|seed| one_memory_is_seen(seed, true)).sum();
    assert!(again > 1000, "{again}");
}

/// A journal that has hardly any room left ends for what comes home, but not for what a lost device can't bring.
#[test]
fn a_device_that_is_lost_is_noticed_before_the_journal_ends() {
    let machine = Machine { refuses: false, ..Machine::new(2) };
    let mut places = Places::new();
    while places.journal.has_room(PAGES * PAGE) {
        places.journal.save(0, BEGIN, Some(vec![0; 1 << 24]));
        places.journal.begin();
    }
    let span = (BEGIN, END);
    places.enter(Place::new(Kind::Cuda, DevicePtr(0), 0, span));
    let work = Work { loaded: Some(span), own: BEGIN, written: span, step: 1, value: 5 };
    let mut truth = machine.host.borrow().clone();
    let before = truth.clone();
    work.run(|address| before[at(address)], |address, value| truth[at(address)] = value);
    let done =
        places.journal().shared(Done { again: work, loads: vec![span], stores: vec![span], code: vec![] });
    places.note(Some(Step { done, given: Vec::new() }));
    places.settle(&machine, 0, span, span, true);
    places.settled(0, &[span], &[]);
    machine.dies_after.set(1);
    // The system wants all of it at once.
    places.touch(&machine, span, false);
    assert!(*machine.host.borrow() == truth);
    assert_eq!(machine.again.get(), 1);
}

/// What lies under a page is asked for by those who have loaded it, however the page is stored to afterwards.
#[test]
fn what_was_loaded_is_kept_though_it_is_stored_to_as_a_whole() {
    let machine = Machine { refuses: false, ..Machine::new(1) };
    let mut truth = machine.host.borrow().clone();
    let mut places = Places::new();
    let spans = [(BEGIN + PAGE, BEGIN + 2 * PAGE), (BEGIN + 20 * PAGE, BEGIN + 21 * PAGE)];
    let work = |loaded, written, value| Work { loaded, own: BEGIN, written, step: 1, value };
    for (number, span) in spans.into_iter().enumerate() {
        places.enter(Place::new(Kind::Cuda, DevicePtr(number as u64 * PAGE), number as u64 * PAGE, span));
        machine.runs(&mut places, &mut truth, number, (span, span), work(None, span, 3));
    }
    // A journal begins, with a loop from one array to the other.
    places.touch(&machine, (BEGIN, END), false);
    let again = work(Some(spans[0]), spans[1], 5);
    let before = truth.clone();
    again.run(
        |address| before[at(address)],
        |address, value| {
            truth[at(address)] = value;
            machine.device.borrow_mut()[places.get(1).address(address).0 as usize] = value;
        },
    );
    let done = Arc::new(Done { again, loads: vec![spans[0]], stores: vec![spans[1]], code: Vec::new() });
    places.note(Some(Step { done, given: vec![(BEGIN, vec![machine.host.borrow()[0]])] }));
    for (number, stored) in [(0, false), (1, true)] {
        places.settle(&machine, number, spans[number], spans[number], stored);
        places.settled(number, &[], &[]);
    }
    machine.runs(&mut places, &mut truth, 0, (spans[0], spans[0]), work(None, spans[0], 7));
    machine.touches(&mut places, spans[0].0, false);
    machine.dies_after.set(1);
    machine.touches(&mut places, spans[1].0, false);
    assert_eq!(machine.again.get(), 2);
    assert!(*machine.host.borrow() == truth);
}

#[test]
fn little_comes_back_for_little_and_much_for_much() {
    let machine = Machine { refuses: false, ..Machine::new(1) };
    let mut places = Places::new();
    let span = (BEGIN, END);
    places.enter(Place::new(Kind::Cuda, DevicePtr(0), 0, span));
    places.settle(&machine, 0, span, span, true);
    assert!(machine.access.borrow().iter().all(|access| *access == Access::Nothing));
    places.fault(&machine, BEGIN + 5 * PAGE, false);
    assert_eq!(machine.fetched.get(), FIRST_OPENED as u64 * PAGE);
    // What was only loaded needn't be given to the device again.
    assert_eq!(places.get(0).missing(span).count(), 0);
    places.fault(&machine, BEGIN + 20 * PAGE, true);
    assert_eq!(places.get(0).missing(span).count(), 1);
    // Behind where the last one ended.
    let before = machine.fetched.get();
    places.fault(&machine, BEGIN + FIRST_OPENED as u64 * 2 * PAGE, true);
    assert_eq!(machine.fetched.get() - before, (PAGES - 2 * FIRST_OPENED as u64) * PAGE);
    assert!(!places.fault(&machine, BEGIN + 20 * PAGE, true) && !places.fault(&machine, END, false));
    assert!(places.keep((END - 1, END)) && !places.keep((END, END + 1)) && !places.keep((BEGIN - 1, BEGIN)));
}

#[test]
fn places_are_found_by_what_they_have_room_for() {
    let mut places = Places::<Work>::new();
    places.enter(Place::new(Kind::Cuda, DevicePtr(0), 0, (BEGIN, BEGIN + 100)));
    assert_eq!(places.of((BEGIN + 1, BEGIN + 100)), Ok(Some(0)));
    assert_eq!(places.of((BEGIN + 100, BEGIN + 200)), Ok(None));
    assert_eq!(places.of((BEGIN + 99, BEGIN + 101)), Err(0));
    assert_eq!(places.of((BEGIN - 1, BEGIN + 1)), Err(0));
}

/// Pages of the program's between those that are kept stay as the program has made them.
#[test]
fn what_lies_between_is_left_alone() {
    let machine = Machine { refuses: false, ..Machine::new(7) };
    let mut places = Places::new();
    let span = (BEGIN, BEGIN + 8 * PAGE);
    let number = places.enter(Place::new(Kind::Cuda, DevicePtr(0), 0, span));
    let (first, last) = ((BEGIN, BEGIN + 2 * PAGE), (BEGIN + 4 * PAGE, BEGIN + 8 * PAGE));
    machine.access.borrow_mut()[2..4].fill(Access::Load);
    places.settle(&machine, number, first, first, true);
    places.settle(&machine, number, last, last, true);
    places.settle(&machine, number, (last.0, last.0 + PAGE), last, false);
    assert!(places.fault(&machine, last.0, false));
    places.bring_home(&machine);
    let (own, kept) = (Access::Load, Access::All);
    assert_eq!(machine.access.borrow()[..8], [kept, kept, own, own, kept, kept, kept, kept]);
    assert_eq!(machine.host.borrow()[..2 * PAGE as usize], machine.device.borrow()[..2 * PAGE as usize]);
}
