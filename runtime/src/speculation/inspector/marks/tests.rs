use super::known::{joined, meet};
use super::marker::{Cells, next, poll};
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
        (bytes.as_ptr() as u64 + 128).next_multiple_of(1 << PAGE_SHIFT) - 128
    })
}

/// Where nobody asks how many iterations were looked at.
static LOOKED_AT: AtomicU64 = AtomicU64::new(0);

fn shared(shift: u32) -> Shared<'static> {
    Shared {
        shift,
        pins: Vec::new(),
        stop: AtomicBool::new(false),
        obstacle: Mutex::new(None),
        bytes: AtomicU64::new(0),
        deadline: Instant::now() + Duration::from_secs(1000),
        looked_at: &LOOKED_AT,
        arrays: Vec::new(),
        turns: None,
        for_once: None,
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
    fn touch(&mut self, marker: &mut Marker<'_>, (site, byte, width, how): Touch) -> Result<(), Obstacle> {
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
    marked_by(&shared(shift), known, threads)
}

fn marked_by(shared: &Shared, known: &Known, threads: &[Vec<Vec<Touch>>]) -> Result<Marked, Obstacle> {
    let mut markers = Vec::new();
    for iterations in threads {
        let mut marker = Marker::new(shared, known, SITES)?;
        let mut shown = Shown { windows: BTreeMap::new() };
        for iteration in iterations {
            shown.next(&mut marker)?;
            iteration.iter().try_for_each(|touch| shown.touch(&mut marker, *touch))?;
        }
        marker.next()?;
        markers.push(marker);
    }
    together(&markers, shared, known, (&Pool::default(), 2))
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
        for_once: bool,
    ) {
        let all: Vec<&Vec<Touch>> = threads.iter().flatten().collect();
        let range = (memory() + known, memory() + known + length);
        let stored = if length == 0 { Vec::new() } else { vec![range] };
        let stores = all.iter().any(|iteration| iteration.iter().any(|touch| touch.3 & PG_TOUCH_STORE != 0));
        let only_stored = (!stores).then_some(if length == 0 { (0, 0) } else { range });
        // Of loads only.
        let lasting = loads & 0b1100_1111;
        let known = Known { lasting, stored, only_stored, ..Known::default() };
        let shared = Shared { for_once: only_stored.filter(|_| for_once), ..shared(2) };
        if marked_by(&shared, &known, &threads).is_ok() {
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
fn what_is_looked_at_once_has_its_windows_where_memory_is_and_nothing_is_stored() {
    const PAGE: u64 = 1 << SYSTEM_PAGE_SHIFT;
    let pages = |pages: u64, kind: i32, at: u64| {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | if at == 0 { 0 } else { libc::MAP_FIXED };
        // SAFETY: new memory, or in the middle of what is this test's own.
        unsafe { libc::mmap(at as *mut libc::c_void, (pages * PAGE) as usize, kind, flags, -1, 0) as u64 }
    };
    let start = pages(80, libc::PROT_READ | libc::PROT_WRITE, 0);
    // Page 70 isn't there.
    pages(1, libc::PROT_NONE, start + 70 * PAGE);
    let stored = (start + 10 * PAGE + 100, start + 12 * PAGE);
    let shared = Shared { for_once: Some(stored), ..shared(2) };
    let known = Known { lasting: 1, only_stored: Some(stored), stored: vec![stored], ..Known::default() };
    let window = |at: u64| {
        let mut marker = Marker::new(&shared, &known, SITES).unwrap();
        let fed = marker.touch(0, start + at, FEED | 4 << PG_TOUCH_WIDTH);
        fed.map(|()| (marker.raw.first.wrapping_sub(start), marker.raw.first - start + marker.raw.length))
    };
    // An access begins in its window, and ends where memory does, or what is stored begins.
    assert_eq!(window(9 * PAGE + 8), Ok((9 * PAGE, 10 * PAGE + 100 - 3)));
    assert_eq!(window(10 * PAGE + 96), Ok((10 * PAGE, 10 * PAGE + 100 - 3)));
    assert_eq!(window(12 * PAGE), Ok((12 * PAGE, (12 + marker::AHEAD) * PAGE - 3)));
    assert_eq!(window(12 * PAGE + 4000), Ok((12 * PAGE, (12 + marker::AHEAD) * PAGE - 3)));
    assert_eq!(window(68 * PAGE + 4), Ok((68 * PAGE, 70 * PAGE - 3)));
    assert_eq!(window(69 * PAGE + 4), Ok((69 * PAGE, 70 * PAGE - 3)));
    assert_eq!(window(70 * PAGE + 4), Err(Obstacle::NotThere));
    assert_eq!(window(70 * PAGE - 2), Err(Obstacle::NotThere));
    // What lies on both sides of its end is what is stored.
    let across = window(10 * PAGE + 98);
    assert!(across.is_ok_and(|(first, end)| end - first <= FED_PIECE), "{across:?}");
    // SAFETY: nobody else has it.
    unsafe { libc::munmap(start as *mut libc::c_void, (80 * PAGE) as usize) };
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
    assert!(list as u64 >= 16 * words && bytes(&marker) - dense >= list as u64, "{list} {}", bytes(&marker));
    // The iteration looks up what it has stored to.
    let before = bytes(&marker);
    marker.touch(0, memory(), STORE | 4 << PG_TOUCH_WIDTH).unwrap();
    assert!(bytes(&marker) - before >= 16 * words);
}

/// Long enough for one access.
const SOON: Duration = Duration::from_millis(100);

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
    // In an iteration that shows a lot of accesses, too, or comes to other memory.
    let (shared, address) = (Shared { deadline: Instant::now() + SOON, ..self::shared(2) }, memory());
    let mut one = Marker::new(&shared, &Known::default(), SITES).unwrap();
    let mut show = |address| one.touch(0, address, LOAD | 4 << PG_TOUCH_WIDTH).is_ok();
    assert!(show(address));
    std::thread::sleep(SOON);
    let shown = (0..=CLOCK_EVERY_SHOWN).take_while(|_| show(address)).count() as u32;
    assert_eq!(shown, CLOCK_EVERY_SHOWN - 2);
    assert!(show(address) && !show(address + (1 << PAGE_SHIFT)));
    // The first reason counts.
    let shared = super::tests::shared(2);
    let mut marker = Marker::new(&shared, &Known::default(), SITES).unwrap();
    shared.fail(Obstacle::Meet);
    // SAFETY: as above.
    assert_eq!(unsafe { next((&raw mut marker).cast()) }, 1);
    assert_eq!(*shared.obstacle.lock().unwrap(), Some(Obstacle::Meet));
}

#[test]
fn no_byte_of_a_pin_is_stored_to() {
    let pin = memory() + 64;
    for (byte, width, is_hit) in [(60, 4, false), (60, 8, true), (61, 4, true), (67, 1, true), (68, 4, false)]
    {
        for how in [STORE, UPDATE, OTHER] {
            let shared = Shared { pins: vec![(pin, pin + 4)], ..shared(0) };
            let mut marker = Marker::new(&shared, &Known::default(), SITES).unwrap();
            let stored = marker.touch(0, memory() + byte, how | width << PG_TOUCH_WIDTH);
            assert_eq!(stored.err(), is_hit.then_some(Obstacle::ChangesPin), "{byte} {width}");
        }
    }
}

/// Whether all of a thread's iterations are seen to lie inside of these arrays, a site's each, beside those of another thread that has none.
fn are_inside(known: &Known, arrays: &[(u64, u64)], iterations: &[Vec<Touch>]) -> bool {
    let arrays = arrays.iter().map(|(lo, hi)| (memory() + lo, hi - lo - 3)).collect();
    let shared = Shared { arrays, ..shared(2) };
    let mut marker = Marker::new(&shared, known, SITES).unwrap();
    let mut shown = Shown { windows: BTreeMap::new() };
    for iteration in iterations {
        shown.next(&mut marker).unwrap();
        iteration.iter().for_each(|touch| shown.touch(&mut marker, *touch).unwrap());
    }
    marker.next().unwrap();
    let idle = Marker::new(&shared, known, SITES).unwrap();
    together(&[marker, idle], &shared, known, (&Pool::default(), 1)).unwrap().are_inside
}

#[test]
fn nothing_outside_of_its_array_goes_unseen() {
    // Stores through site 1 lie in front of what site 0 loads; site 2 is only seen.
    let arrays = [(400, 800), (0, 200), (1000, 1400)];
    let far = Known { lasting: 0b1, only_stored: Some((memory(), memory() + 200)), ..Known::default() };
    let lasting = Known { lasting: 0b1, ..Known::default() };
    for known in [Known::default(), lasting, far] {
        for how in [LOAD, FEED] {
            let inside = vec![
                (0, 400, 4, how),
                (0, 796, 4, how),
                (2, 1396, 4, PG_TOUCH_SEEN),
                (2, 1000, 4, PG_TOUCH_SEEN),
            ];
            assert!(are_inside(&known, &arrays, &[inside.clone(), inside.clone()]));
            assert!(are_inside(&known, &arrays, &[inside.clone(), vec![(1, 196, 4, STORE)]]));
            for outside in [
                (0, 396, 4, how),
                (0, 397, 4, how),
                (0, 797, 4, how),
                (0, 800, 4, how),
                (0, 5000, 4, how),
                (1, 200, 4, STORE),
                (2, 996, 4, PG_TOUCH_SEEN),
                (2, 1397, 4, PG_TOUCH_SEEN),
                (2, 9000, 4, PG_TOUCH_SEEN),
                // A site that nobody knows an array of.
                (3, 8000, 4, PG_TOUCH_SEEN),
            ] {
                // Alone, behind its neighbours in one iteration, and in a later one.
                assert!(!are_inside(&known, &arrays, &[vec![outside]]), "{outside:?}");
                let mut behind = inside.clone();
                behind.push(outside);
                assert!(!are_inside(&known, &arrays, &[behind]), "{outside:?}");
                assert!(
                    !are_inside(&known, &arrays, &[inside.clone(), vec![outside], inside.clone()]),
                    "{outside:?}"
                );
            }
        }
    }
    // Where nobody asks, nobody knows.
    assert!(!are_inside(&Known::default(), &[], &[vec![(0, 400, 4, LOAD)]]));
}

/// Whatever was shown or not because its neighbours were, what a site has come to is known: in whole pieces, but nothing outside of its array.
#[test]
fn all_that_is_reached_is_known() {
    const PIECES: u64 = 1 << PAGE_SHIFT;
    let mut state = 7u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for round in 0..400 {
        let (lo, hi) = (8 * random(2000), PIECES - 256 - 8 * random(2000));
        let arrays = vec![(memory() + lo, hi - lo - 7), (memory() + lo, hi - lo - 7)];
        let shared = Shared { arrays: arrays.clone(), ..shared(2) };
        let how = [PG_TOUCH_SEEN, LOAD, FEED][round % 3];
        let lasting = Known { lasting: 0b11, ..Known::default() };
        let known = if round % 2 == 0 { lasting } else { Known::default() };
        let (from, span) = (lo + random(hi - lo - 64), 1 + random([300, 100_000, hi - lo][round % 3]));
        let place = |at: u64| (from + at % span).min(hi - 8) & !7;
        // Each thread has a half of what there is, in either order.
        let half =
            |thread: usize, at: u64| at / 2 + if (thread + round).is_multiple_of(2) { 0 } else { span / 2 };
        let threads: Vec<Vec<Vec<Touch>>> = (0..2)
            .map(|thread| {
                let mut touch = || (0, place(half(thread, random(span))), 8, how);
                (0..3).map(|_| (0..20).map(|_| touch()).collect()).collect()
            })
            .collect();
        let Marked { are_inside, reached, .. } = marked_by(&shared, &known, &threads).unwrap();
        let touched = threads.iter().flatten().flatten().map(|(_, byte, ..)| memory() + byte);
        let (first, last) = (touched.clone().min().unwrap(), touched.max().unwrap());
        let piece = |at: u64| arrays[0].0 + ((at - arrays[0].0) & !(REACHED_PIECE - 1));
        assert!(are_inside, "{round}");
        assert_eq!(reached[0].0, piece(first), "{round}");
        assert_eq!(reached[0].1, (piece(last) + REACHED_PIECE).min(arrays[0].0 + arrays[0].1), "{round}");
        assert_eq!(reached[1], NOWHERE, "{round}");
    }
}

#[test]
fn what_is_only_seen_meets_nobody() {
    let iterations =
        vec![vec![(0, 64, 4, PG_TOUCH_SEEN), (1, 64, 4, STORE)], vec![(0, 64, 4, PG_TOUCH_SEEN)]];
    assert!(
        marked(2, &Known::default(), &[iterations.clone(), vec![vec![(0, 64, 4, PG_TOUCH_SEEN)]]]).is_ok()
    );
}

#[test]
fn turns_are_those_of_their_iterations() {
    let noted = Arc::new(Noted::new(9, true).unwrap());
    let shared = Shared { turns: Some(noted.clone()), ..shared(2) };
    let mut marker = Marker::new(&shared, &Known::default(), 1).unwrap();
    // Parts come in any order, and a slice counts from where it was called.
    for (first, turns) in [(6, &[3, 0, 70_000][..]), (0, &[7]), (1, &[1, 0, 0, 2, 5])] {
        marker.begin(first);
        for turns in turns {
            // SAFETY: the first field of a marker that nobody else uses.
            assert_eq!(unsafe { marker::next((&raw mut marker).cast()) }, 0);
            marker.raw.turns += turns;
        }
        marker.note_turns();
    }
    assert_eq!(noted.all(), [7, 1, 0, 0, 2, 5, 3, 0, 70_000]);
    // Nobody counts more of them than there are.
    marker.begin(8);
    for _ in 0..3 {
        // SAFETY: as above.
        assert_eq!(unsafe { marker::next((&raw mut marker).cast()) }, 0);
    }
    marker.note_turns();
    assert_eq!(noted.all().len(), 9);
}
