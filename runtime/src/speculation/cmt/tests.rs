use super::*;
use crate::abi::{
    Info, PG_ADD, PG_FAIL_RANGE, PG_FAIL_RAW, PG_FAIL_WAW, PG_LOOP_SPREADS, PG_LOOP_STORES_ONCE,
    PG_SITE_COVERED, PG_SITE_LOGGED, PG_SITE_STORE, PG_U64, ResultInfo, Site,
};
use crate::device::Specialisation;
use crate::device::scripted::Scripted;
use crate::speculation::protocol::Caller;
use std::collections::BTreeMap;

/// Tells what is copied to it, and whether the worker might have started by then. It runs nothing.
struct Told {
    caller: Caller<Box<Report>>,
    next: u64,
    started: bool,
    copied: Vec<(Vec<u64>, bool)>,
}

impl Scripted for Told {
    fn allocate(&mut self, bytes: u64) -> Result<DevicePtr, DeviceError> {
        self.next += bytes.next_multiple_of(4096) + 4096;
        Ok(DevicePtr(self.next - bytes.next_multiple_of(4096)))
    }
    fn copy_in(
        &mut self,
        pieces: &[(u64, u64, DevicePtr)],
        _: &[(u64, u64, DevicePtr)],
    ) -> Result<(), DeviceError> {
        self.started |= self.caller.has_permission();
        self.copied.push((pieces.iter().map(|(host, ..)| *host).collect(), self.started));
        Ok(())
    }
}

/// A job for arrays that lie like this.
pub(super) fn job(seat: Seat<Box<Report>>, kind: Kind, placement: Placement) -> Job {
    Job {
        info: Arc::new(Facts::of(&crate::abi::nothing())),
        loop_key: 0,
        object: Code::ForGood,
        kind,
        trip: [1; crate::abi::PG_MAX_DIMS],
        placement,
        bases: Vec::new(),
        values: Vec::new(),
        results: Vec::new(),
        method: LogMethod::None,
        best_method: LogMethod::None,
        guesses: Guesses::None,
        may_guess_range: false,
        may_join: false,
        portion: 0,
        may_portion: false,
        many_writers: false,
        has_seams: false,
        in_order: false,
        stores_once: false,
        groups: GroupChoice::Off,
        pinned: Vec::new(),
        basis: None,
        written: None,
        filled: Filled::default(),
        schedule: None,
        by_turns: None,
        patience: None,
        tenants: Arc::default(),
        returning: None,
        prepares: false,
        follows: false,
        seat,
    }
}

#[test]
fn the_worker_starts_when_what_it_may_change_is_copied() {
    let region = |lo| Region { lo, size: 4096, ..Region::default() };
    let (written, read) = (1 << 20, 1 << 21);
    for recorded_store in [false, true] {
        let (caller, seat) = protocol::sides();
        let job = job(
            seat,
            Kind::Threads,
            Placement {
                regions: vec![region(read), region(written)],
                read: vec![true, true],
                written: vec![false, true],
                snapshot: vec![false, false],
                recorded_store,
                ..Placement::default()
            },
        );
        let mut residency = Residency::default();
        let mut taken = Taken { residency: &mut residency, pointers: Vec::new() };
        let mut device = Told { caller, next: 1 << 30, started: false, copied: Vec::new() };
        let end = drive(&mut device, &job, &mut Report::default(), &mut taken, &mut Vec::new());
        assert!(matches!(end, Err(DeviceError::Kernel(_))));
        // Where it isn't certain what is written, everything counts.
        let wanted = [(vec![written], false), (vec![read], !recorded_store)];
        assert_eq!(device.copied, wanted, "{recorded_store}");
        let starts = device.caller.has_permission();
        assert!(device.started || starts, "{recorded_store}");
    }
}

/// Notes when it is asked for a kernel and when it runs one, in which two iterations have met.
struct Refuting {
    seat: Seat<Box<Report>>,
    is_stopped: bool,
    said: Vec<(&'static str, bool)>,
}

impl Scripted for Refuting {
    fn allocate(&mut self, _: u64) -> Result<DevicePtr, DeviceError> {
        Ok(DevicePtr(1 << 30))
    }
    fn prepare(&mut self, kernel: Specialisation) -> Result<Specialisation, DeviceError> {
        self.said.push(("prepares", self.seat.is_in_code()));
        Ok(kernel)
    }
    fn run(&mut self, _: &mut Launch<'_>) -> Result<Outcome, DeviceError> {
        self.said.push(("runs", self.seat.is_in_code()));
        if self.is_stopped {
            self.seat.stop().store(crate::device::TOLD_TO_STOP, Ordering::Relaxed);
        }
        Ok(Outcome { fail: PG_FAIL_WAW, ..Outcome::default() })
    }
}

/// Whoever has won waits for what runs the library's code, not for kernels to be compiled, nor for code that isn't the library's.
#[test]
fn only_code_of_the_library_is_waited_for() {
    for (kind, is_stopped) in
        [(Kind::Threads, false), (Kind::Threads, true), (Kind::Cuda, false), (Kind::Cuda, true)]
    {
        let (_caller, seat) = protocol::sides();
        let mut device = Refuting { seat: seat.clone(), is_stopped, said: Vec::new() };
        let job = Job {
            method: LogMethod::Stamp,
            guesses: Guesses::Numbers,
            ..job(seat, kind, Placement::default())
        };
        let mut residency = Residency::default();
        let mut taken = Taken { residency: &mut residency, pointers: Vec::new() };
        let mut report = Report::default();
        drive(&mut device, &job, &mut report, &mut taken, &mut Vec::new()).unwrap();
        let attempt = [("prepares", false), ("runs", kind == Kind::Threads)];
        // Nobody wants another attempt at a result that nobody wants.
        let attempts = if is_stopped { 1 } else { 2 };
        let mut wanted = attempt.repeat(attempts);
        if kind == Kind::Cuda {
            // Ahead of the last copies.
            wanted.insert(0, ("prepares", false));
        }
        assert_eq!(device.said, wanted, "{kind:?} {is_stopped}");
        assert_eq!(report.outcome.fail, if is_stopped { PG_FAIL_STOPPED } else { PG_FAIL_WAW });
        assert_eq!((report.guess_held, device.seat.is_in_code()), (Some(false), false));
    }
}

/// Memory of one word for each pointer. Each run changes the array, and what it says comes from a list.
struct Changing {
    words: BTreeMap<u64, u32>,
    next: u64,
    fails: Vec<u32>,
    /// Of those that have met writers: how many stores too many were counted, and cells.
    surplus: u64,
    written: u64,
    /// What each run has found in the array, with its log, its guess, and whether its stores were joined.
    found: Vec<(u32, LogMethod, Guess, bool)>,
    /// How many stores of an iteration each might put away.
    seams: Vec<u8>,
}

impl Scripted for Changing {
    fn allocate(&mut self, _: u64) -> Result<DevicePtr, DeviceError> {
        self.next += 1 << 20;
        Ok(DevicePtr(self.next))
    }
    fn copy_in(
        &mut self,
        pieces: &[(u64, u64, DevicePtr)],
        _: &[(u64, u64, DevicePtr)],
    ) -> Result<(), DeviceError> {
        self.words.extend(pieces.iter().map(|(.., place)| (place.0, 1)));
        Ok(())
    }
    fn duplicate(&mut self, from: DevicePtr, to: DevicePtr) {
        self.words.insert(to.0, self.words[&from.0]);
    }
    fn run(&mut self, launch: &mut Launch<'_>) -> Result<Outcome, DeviceError> {
        let array = self.words.get_mut(&launch.regions[0].dev).unwrap();
        self.found.push((*array, launch.method(), launch.kernel.guess, launch.kernel.joined));
        self.seams.push(launch.kernel.seams);
        *array += 1;
        Ok(Outcome {
            fail: self.fails.remove(0),
            stores: self.surplus + self.written,
            cells: self.written,
            ..Outcome::default()
        })
    }
}

/// What a loop of such accesses has tried in turn, where runs fail like this.
fn changed(
    method: LogMethod,
    kind: Kind,
    sites: &[Site],
    has_seams: bool,
    fails: Vec<u32>,
    (surplus, written): (u64, u64),
) -> (Changing, Report) {
    let info = Info {
        flags: PG_LOOP_STORES_ONCE | PG_LOOP_SPREADS,
        n_bases: 1,
        n_sites: sites.len() as u32,
        sites: sites.as_ptr(),
        ..crate::abi::nothing()
    };
    let placement = Placement {
        regions: vec![Region { lo: 1 << 20, size: 4096, ..Region::default() }],
        anchors: vec![1 << 20],
        read: vec![true],
        written: vec![true],
        snapshot: vec![false],
        cells: 512,
        log_shift: 3,
        ..Placement::default()
    };
    let (_caller, seat) = protocol::sides();
    let job = Job {
        info: Arc::new(Facts::of(&info)),
        method,
        guesses: Guesses::All,
        may_guess_range: true,
        may_join: true,
        has_seams,
        bases: vec![1 << 20],
        written: Some(Vec::new()),
        ..job(seat, kind, placement)
    };
    let mut residency = Residency::default();
    let mut taken = Taken { residency: &mut residency, pointers: Vec::new() };
    let mut device = Changing {
        words: BTreeMap::new(),
        next: 1 << 30,
        fails,
        surplus,
        written,
        found: Vec::new(),
        seams: Vec::new(),
    };
    let mut report = Report::default();
    drive(&mut device, &job, &mut report, &mut taken, &mut Vec::new()).unwrap();
    (device, report)
}

/// What a run has changed whose guess was wrong is as it was before the next one, whatever that guess was.
#[test]
fn a_refuted_guess_leaves_nothing_behind() {
    let site = |flags| Site { base: 0, width: 8, flags, line: 1, slot: 0 };
    let (store, load) = (PG_SITE_STORE, PG_SITE_LOGGED);
    let proper = |method| (1, method, Guess::None, false);
    let joined = (1, LogMethod::Bitmap, Guess::None, true);
    let (stamp, bitmap) = (LogMethod::Stamp, LogMethod::Bitmap);
    for (method, kind, sites, fail, wanted) in [
        // By bits, by numbers, and by a range.
        (stamp, Kind::Threads, vec![site(store)], PG_FAIL_WAW, [proper(bitmap), proper(stamp)]),
        (
            stamp,
            Kind::Threads,
            vec![site(store), site(load)],
            PG_FAIL_WAW | PG_FAIL_RAW,
            [(1, stamp, Guess::Counting, false), proper(stamp)],
        ),
        (
            bitmap,
            Kind::Cuda,
            vec![site(store), site(load)],
            PG_FAIL_RAW,
            [(1, bitmap, Guess::Range, false), proper(bitmap)],
        ),
        // Neighbours, where no load is covered. Readers may be nothing to numbers; two writers are two to them, too.
        (stamp, Kind::Cuda, vec![site(store), site(load)], PG_FAIL_WAW, [joined, proper(stamp)]),
        (
            stamp,
            Kind::Cuda,
            vec![site(store), site(load)],
            PG_FAIL_RAW,
            [joined, (1, stamp, Guess::Counting, false)],
        ),
        // What follows from a value that another one has stored may be anything.
        (
            stamp,
            Kind::Cuda,
            vec![site(store), site(load)],
            PG_FAIL_RANGE,
            [joined, (1, stamp, Guess::Counting, false)],
        ),
        (stamp, Kind::Cuda, vec![site(store)], PG_FAIL_WAW, [joined, proper(stamp)]),
        (
            stamp,
            Kind::Cuda,
            vec![site(store), site(PG_SITE_COVERED)],
            PG_FAIL_WAW,
            [proper(bitmap), proper(stamp)],
        ),
    ] {
        // More than there could be between rows.
        let (device, report) = changed(method, kind, &sites, false, vec![fail, 0], (1 << 40, 1));
        assert_eq!(device.found, wanted);
        let held = [report.guess_held, report.range_held, report.joined_held];
        assert!(held.contains(&Some(false)), "{held:?}");
    }
}

/// Says of each run what a list has: what failed, how many stores and cells were counted, and whether it was the small launch that has ended it. Its array is changed by each.
struct Launching {
    words: BTreeMap<u64, u32>,
    next: u64,
    outcomes: Vec<(u32, u64, u64, bool)>,
    /// What each run has found in the array, its log, most iterations of its launches, and whether a small one comes first.
    found: Vec<(u32, LogMethod, u64, bool)>,
    /// Bytes of each piece of memory.
    sizes: BTreeMap<u64, u64>,
}

impl Scripted for Launching {
    fn allocate(&mut self, bytes: u64) -> Result<DevicePtr, DeviceError> {
        self.next += 1 << 40;
        self.sizes.insert(self.next, bytes);
        Ok(DevicePtr(self.next))
    }
    fn copy_in(
        &mut self,
        pieces: &[(u64, u64, DevicePtr)],
        _: &[(u64, u64, DevicePtr)],
    ) -> Result<(), DeviceError> {
        self.words.extend(pieces.iter().map(|(.., place)| (place.0, 1)));
        Ok(())
    }
    fn duplicate(&mut self, from: DevicePtr, to: DevicePtr) {
        self.words.insert(to.0, self.words[&from.0]);
    }
    fn run(&mut self, launch: &mut Launch<'_>) -> Result<Outcome, DeviceError> {
        let array = self.words.get_mut(&launch.regions[0].dev).unwrap();
        self.found.push((*array, launch.method(), launch.portion, launch.probes));
        let is_bitmap = launch.method() == LogMethod::Bitmap;
        assert_eq!(launch.kernel.joined, is_bitmap);
        for log in [launch.wr, launch.rd].into_iter().filter(|_| is_bitmap) {
            assert_eq!(self.sizes[&log.0], 4 * words_of(launch));
        }
        // Rows of a tile are no run of iterations.
        assert!(launch.portion == 0 || launch.kernel.tile.is_none() && launch.kernel.across.is_none());
        *array += 1;
        let (fail, stores, cells, is_probe) = self.outcomes.remove(0);
        Ok(Outcome { fail, stores, cells, is_probe, ..Outcome::default() })
    }
}

/// Words of one of its logs.
fn words_of(launch: &Launch<'_>) -> u64 {
    match launch.portion {
        0 => launch.log_words,
        _ => launch.log_words.next_multiple_of(4) * launch.bitmaps(),
    }
}

/// Where cells have several writers, a loop is launched in as many portions, or in smaller ones, as long as that pays, and each attempt begins with what was there.
#[test]
fn writers_far_apart_are_launched_one_after_the_other() {
    const N: u64 = 1 << 25;
    const CELLS: u64 = 1 << 26;
    let (waw, raw, range) = (PG_FAIL_WAW, PG_FAIL_RAW, PG_FAIL_RANGE);
    let site = |flags| Site { base: 0, width: 8, flags, line: 1, slot: 0 };
    let (bitmap, stamp) = (LogMethod::Bitmap, LogMethod::Stamp);
    let joined = (1, bitmap, 0, false);
    let tried = |portion| (1, bitmap, portion, true);
    let proper = (1, stamp, 0, false);
    let eight = (waw, N, N / 8, false);
    let held = (0, 0, 0, false);
    for (known, outcomes, wanted, says) in [
        (0, vec![eight, held], vec![joined, tried(N / 8)], (Some(true), N / 8)),
        // No iteration of a launch may be one too many.
        (
            0,
            vec![(waw, N, N / 8 - 1, false), held],
            vec![joined, tried(N.div_ceil(9))],
            (Some(true), N.div_ceil(9)),
        ),
        // The first iterations have met; later ones, who try half as many.
        (0, vec![eight, (waw, 90, 89, true), held], vec![joined, tried(N / 8), proper], (Some(false), 0)),
        (
            0,
            vec![eight, (raw, N, N, false), held],
            vec![joined, tried(N / 8), tried(N / 16)],
            (Some(true), N / 16),
        ),
        (
            0,
            vec![eight, (waw, N, N - 1, false), (waw | raw, N, N - 1, false), held],
            vec![joined, tried(N / 8), tried(N / 16), proper],
            (Some(false), 0),
        ),
        // What launches took too long would be so many.
        (0, vec![(waw, N, N / 40, false), held], vec![joined, proper], (None, 0)),
        // Of neighbours, and readers alone.
        (0, vec![(raw, N, N, false), held], vec![joined, (1, stamp, 0, false)], (None, 0)),
        // It is known from earlier entries.
        (N / 8, vec![held], vec![(1, bitmap, N / 8, false)], (Some(true), N / 8)),
        // One launch would be what was refuted.
        (2 * N, vec![held], vec![proper], (None, 0)),
        (N, vec![held], vec![proper], (None, 0)),
        (1 << 19, vec![held], vec![proper], (None, 0)),
        (
            N / 8,
            vec![(waw, N, N - 1, false), held],
            vec![(1, bitmap, N / 8, false), proper],
            (Some(false), 0),
        ),
        (N / 8, vec![(raw, N, N, false), held], vec![(1, bitmap, N / 8, false), proper], (Some(false), 0)),
        (N / 8, vec![(range, N, N, false), held], vec![(1, bitmap, N / 8, false), proper], (Some(false), 0)),
    ] {
        let sites = [site(PG_SITE_STORE), site(PG_SITE_LOGGED)];
        let info = Info {
            flags: PG_LOOP_STORES_ONCE,
            n_bases: 1,
            n_sites: sites.len() as u32,
            sites: sites.as_ptr(),
            ..crate::abi::nothing()
        };
        let placement = Placement {
            regions: vec![Region { lo: 1 << 20, size: 8 * CELLS, ..Region::default() }],
            anchors: vec![1 << 20],
            read: vec![true],
            written: vec![true],
            snapshot: vec![false],
            cells: CELLS,
            log_shift: 3,
            tile: Some((0, 1)),
            across: Some(2),
            ..Placement::default()
        };
        let (_caller, seat) = protocol::sides();
        let mut trip = [1; crate::abi::PG_MAX_DIMS];
        trip[0] = N as i64;
        let job = Job {
            info: Arc::new(Facts::of(&info)),
            trip,
            method: stamp,
            guesses: Guesses::None,
            may_join: known == 0,
            portion: known,
            may_portion: true,
            bases: vec![1 << 20],
            written: Some(Vec::new()),
            ..job(seat, Kind::Cuda, placement)
        };
        let mut residency = Residency::default();
        let mut taken = Taken { residency: &mut residency, pointers: Vec::new() };
        let mut device = Launching {
            words: BTreeMap::new(),
            next: 1 << 50,
            outcomes,
            found: Vec::new(),
            sizes: BTreeMap::new(),
        };
        let mut report = Report::default();
        drive(&mut device, &job, &mut report, &mut taken, &mut Vec::new()).unwrap();
        assert_eq!(device.found, wanted);
        assert_eq!((report.portion_held, report.portion), says, "{wanted:?}");
        assert_eq!(report.joined_held, (known == 0).then_some(false));
    }
}

/// The last iterations come first where cells have many writers, by what was counted in this entry or the last one that told, and where nothing asks for another order.
#[test]
fn where_cells_have_many_writers_the_last_iterations_come_first() {
    const N: u64 = 1 << 20;
    let waw = PG_FAIL_WAW;
    let refuted = |cells| (waw, N, cells, false);
    let (many, few) = (N / 16, N / 16 + 1);
    let held = |cells| (0, N, cells, false);
    // log2 of a cell's bytes, what is known of earlier entries, whether stores may be joined, results, whether loads are noted, what runs find, which run is backwards, and what is known then.
    let cases = [
        (3, false, true, 0, false, vec![refuted(many), held(many)], vec![false, true], Some(true)),
        (3, false, true, 0, false, vec![refuted(few), held(few)], vec![false, false], Some(false)),
        (3, true, true, 0, false, vec![refuted(few), held(few)], vec![false, false], Some(false)),
        (3, true, false, 0, false, vec![held(many)], vec![true], Some(true)),
        (3, true, false, 0, false, vec![held(few)], vec![true], Some(false)),
        (3, false, false, 0, false, vec![held(many)], vec![false], Some(true)),
        (3, true, false, 1, false, vec![held(many)], vec![false], Some(true)),
        (3, true, false, 0, true, vec![held(many)], vec![false], None),
        // Narrow cells.
        (2, false, true, 0, false, vec![refuted(N / 64), held(N / 64)], vec![false, true], Some(true)),
        (
            2,
            false,
            true,
            0,
            false,
            vec![refuted(N / 64 + 1), held(N / 64 + 1)],
            vec![false, false],
            Some(false),
        ),
    ];
    // Stores again and again; side by side along the outer loop, and the inner one.
    let known = || (3, true, false, 0, false, vec![held(many)], vec![false], Some(true));
    let in_line = (3, true, false, 0, false, vec![held(many)], vec![true], Some(true));
    let others = [(known(), 0, 1), (known(), PG_LOOP_STORES_ONCE, 2), (in_line, PG_LOOP_STORES_ONCE, 1)];
    let all = cases.into_iter().map(|case| (case, PG_LOOP_STORES_ONCE, 1)).chain(others);
    for ((log_shift, known, may_join, n_results, is_noted, outcomes, wanted, says), flags, n_dims) in all {
        let mut sites = vec![Site { base: 0, width: 1 << log_shift, flags: PG_SITE_STORE, line: 1, slot: 0 }];
        if is_noted {
            sites.push(Site { base: 0, width: 1 << log_shift, flags: PG_SITE_LOGGED, line: 1, slot: 0 });
        }
        let results = [ResultInfo { op: PG_ADD, ty: PG_U64, how: 0, with: 0 }];
        let info = Info {
            flags,
            n_dims,
            n_bases: 1,
            n_sites: sites.len() as u32,
            sites: sites.as_ptr(),
            n_results,
            results: results.as_ptr(),
            ..crate::abi::nothing()
        };
        let placement = Placement {
            regions: vec![Region { lo: 1 << 20, size: 8 * N, ..Region::default() }],
            anchors: vec![1 << 20],
            read: vec![is_noted],
            written: vec![true],
            snapshot: vec![false],
            cells: N,
            log_shift,
            tile: Some((0, 1)),
            across: Some(2),
            ..Placement::default()
        };
        let (_caller, seat) = protocol::sides();
        let mut trip = [1; crate::abi::PG_MAX_DIMS];
        trip[0] = N as i64;
        let job = Job {
            info: Arc::new(Facts::of(&info)),
            trip,
            method: LogMethod::Stamp,
            guesses: Guesses::None,
            may_join,
            many_writers: known,
            bases: vec![1 << 20],
            results: vec![Value(0); n_results as usize],
            written: Some(Vec::new()),
            ..job(seat, Kind::Cuda, placement)
        };
        let mut residency = Residency::default();
        let mut taken = Taken { residency: &mut residency, pointers: Vec::new() };
        let mut device = Backwards { next: 1 << 50, outcomes, found: Vec::new() };
        let mut report = Report::default();
        drive(&mut device, &job, &mut report, &mut taken, &mut Vec::new()).unwrap();
        assert_eq!(device.found, wanted, "{log_shift} {known} {may_join} {n_results} {is_noted}");
        assert_eq!(report.many_writers, says, "{log_shift} {known} {may_join} {n_results} {is_noted}");
    }
}

/// Says of each run what a list has: what failed, and how many stores and cells were counted; and tells whether its last iterations came first.
struct Backwards {
    next: u64,
    outcomes: Vec<(u32, u64, u64, bool)>,
    found: Vec<bool>,
}

impl Scripted for Backwards {
    /// Who may hold values back.
    fn name(&self) -> &'static str {
        "cuda"
    }
    fn allocate(&mut self, _: u64) -> Result<DevicePtr, DeviceError> {
        self.next += 1 << 40;
        Ok(DevicePtr(self.next))
    }
    fn run(&mut self, launch: &mut Launch<'_>) -> Result<Outcome, DeviceError> {
        let kernel = launch.kernel;
        // Rows of a tile have an order of their own.
        assert!(
            !kernel.backwards || kernel.tile.is_none() && kernel.across.is_none() && kernel.buffered != 0
        );
        self.found.push(kernel.backwards);
        let (fail, stores, cells, is_probe) = self.outcomes.remove(0);
        Ok(Outcome { fail, stores, cells, is_probe, ..Outcome::default() })
    }
}

/// Where few stores of cells with several writers were counted, one of them may have ended a row: that is tried once, and first where it has held.
#[test]
fn what_rows_leave_to_each_other_is_tried_if_it_may_be_enough() {
    let site = |flags| Site { base: 0, width: 8, flags, line: 1, slot: 0 };
    let (store, load) = (PG_SITE_STORE, PG_SITE_LOGGED);
    let one = || vec![site(store), site(load)];
    let all = PG_FAIL_WAW | PG_FAIL_RAW;
    for (sites, has_seams, fails, surplus, written, wanted, holds) in [
        (one(), false, vec![0], 0, 1, vec![(true, 0)], Some((true, false))),
        (one(), false, vec![PG_FAIL_WAW, 0], 1, 1, vec![(true, 0), (true, 1)], Some((true, true))),
        (one(), true, vec![0], 0, 1, vec![(true, 1)], Some((true, true))),
        // More than one for each row; with a reader that no seam helps against; in vain.
        (one(), false, vec![PG_FAIL_WAW, 0], 2, 1, vec![(true, 0), (false, 0)], Some((false, false))),
        (one(), false, vec![all, 0], 1, 1, vec![(true, 0), (false, 0)], Some((false, false))),
        (
            one(),
            false,
            vec![PG_FAIL_WAW, PG_FAIL_WAW, 0],
            1,
            1,
            vec![(true, 0), (true, 1), (false, 0)],
            Some((false, false)),
        ),
        (one(), true, vec![PG_FAIL_WAW, 0], 1, 1, vec![(true, 1), (false, 0)], Some((false, false))),
        // Where many iterations store to a cell, unless nothing is noted.
        (one(), false, vec![PG_FAIL_WAW, 0], 1, 0, vec![(true, 0), (false, 0)], Some((false, false))),
        (
            vec![site(store)],
            false,
            vec![PG_FAIL_WAW, 0],
            1,
            0,
            vec![(true, 0), (true, 1)],
            Some((true, true)),
        ),
        // Each store of the text may be left, but no more than there is room for.
        (
            vec![site(store); 2],
            false,
            vec![PG_FAIL_WAW, 0],
            2,
            1,
            vec![(true, 0), (true, 2)],
            Some((true, true)),
        ),
        (
            vec![site(store); 5],
            false,
            vec![PG_FAIL_WAW, 0],
            2,
            1,
            vec![(true, 0), (false, 0)],
            Some((false, false)),
        ),
    ] {
        let (device, report) =
            changed(LogMethod::Stamp, Kind::Cuda, &sites, has_seams, fails, (surplus, written));
        let runs: Vec<(bool, u8)> =
            device.found.iter().zip(&device.seams).map(|((.., joined), seams)| (*joined, *seams)).collect();
        assert_eq!(runs, wanted);
        // Each finds what was there.
        assert!(device.found.iter().all(|(array, ..)| *array == 1), "{:?}", device.found);
        assert_eq!(report.joined_held.map(|held| (held, report.has_seams)), holds);
    }
}

/// Its kernels can't be made, for a reason. It counts what was taken, and given back.
struct Unable {
    caller: Caller<Box<Report>>,
    why: Vec<DeviceError>,
    prepared: usize,
    runs: Vec<u8>,
    copies: usize,
}

impl Scripted for Unable {
    fn allocate(&mut self, _: u64) -> Result<DevicePtr, DeviceError> {
        Ok(DevicePtr(1 << 30))
    }
    fn copy_in(
        &mut self,
        _: &[(u64, u64, DevicePtr)],
        _: &[(u64, u64, DevicePtr)],
    ) -> Result<(), DeviceError> {
        self.copies += 1;
        Ok(())
    }
    fn prepare(&mut self, kernel: Specialisation) -> Result<Specialisation, DeviceError> {
        self.prepared += 1;
        match self.why.pop() {
            Some(error) => Err(error),
            None => Ok(kernel),
        }
    }
    fn run(&mut self, launch: &mut Launch<'_>) -> Result<Outcome, DeviceError> {
        self.runs.push(launch.kernel.buffered);
        Ok(Outcome::default())
    }
}

/// A kernel that can't be made ahead of the last copies ends the job there, the worker being under way; one that there is no memory for is asked for again.
#[test]
fn what_cannot_be_made_ready_holds_up_nobody() {
    let region = |lo| Region { lo, size: 4096, ..Region::default() };
    let placement = || Placement {
        regions: vec![region(1 << 20), region(1 << 21)],
        read: vec![true, true],
        written: vec![true, false],
        snapshot: vec![false, false],
        ..Placement::default()
    };
    let no_memory = || DeviceError::OutOfMemory(1);
    for (why, is_error, prepared, copies) in [
        (vec![DeviceError::Kernel("refused".into())], true, 1, 1),
        (vec![DeviceError::Lost("gone".into())], true, 1, 1),
        (vec![no_memory()], false, 2, 2),
        (vec![no_memory(), no_memory()], true, 2, 2),
    ] {
        let (caller, seat) = protocol::sides();
        let job = Job { written: Some(Vec::new()), ..job(seat, Kind::Cuda, placement()) };
        let mut residency = Residency::default();
        let mut taken = Taken { residency: &mut residency, pointers: Vec::new() };
        let mut device = Unable { caller, why, prepared: 0, runs: Vec::new(), copies: 0 };
        let mut report = Report::default();
        let end = drive(&mut device, &job, &mut report, &mut taken, &mut Vec::new());
        assert_eq!((end.is_err(), device.prepared, device.copies), (is_error, prepared, copies), "{end:?}");
        assert_eq!(device.runs.len(), usize::from(!is_error));
        assert!(device.caller.has_permission(), "the worker waits for nobody");
        // Whoever drives frees all of these.
        assert_eq!(taken.pointers.len(), 2);
    }
}

/// A first entry takes the kernel without checks only where an inspection has seen just these arrays, and of them those that are aligned. Such a kernel is launched behind nothing that may fail.
#[test]
fn what_was_seen_elsewhere_is_checked() {
    use crate::speculation::inspector::seen::{Basis, Seen};
    let region = |lo, size| Region { lo, size, ..Region::default() };
    let arrays = |regions: Vec<Region>, anchors: Vec<u64>| Placement {
        read: vec![true; regions.len()],
        written: vec![false; regions.len()],
        snapshot: vec![false; regions.len()],
        regions,
        anchors,
        // The third one is bounded, the second one isn't aligned.
        bounded: 0b100,
        aligned: 0b101,
        ..Placement::default()
    };
    let (a, b, c) = (1 << 20, 1 << 21, 1 << 22);
    let placement = || arrays(vec![region(a, 4096), region(b, 4096), region(c, 4096)], vec![a, b, c]);
    let bases = vec![a, b + 8, c];
    let info = Info { n_bases: 3, ..crate::abi::nothing() };
    /// Notes the kernel that it is asked for, and how often one is launched behind others.
    struct Noting(Vec<Specialisation>, u32);
    impl Scripted for Noting {
        fn allocate(&mut self, _: u64) -> Result<DevicePtr, DeviceError> {
            Ok(DevicePtr(1 << 30))
        }
        fn prepare(&mut self, kernel: Specialisation) -> Result<Specialisation, DeviceError> {
            self.0.push(kernel);
            Ok(kernel)
        }
        fn run(&mut self, _: &mut Launch<'_>) -> Result<Outcome, DeviceError> {
            Ok(Outcome::default())
        }
        fn run_behind(&mut self, _: &Launch<'_>) -> Result<bool, DeviceError> {
            self.1 += 1;
            Ok(true)
        }
    }
    let seen = || Some(Seen::new(&placement(), &bases));
    let larger = arrays(vec![region(a, 4096), region(b, 4096), region(c, 8192)], vec![a, b, c]);
    let swapped = arrays(placement().regions, vec![b, a, c]);
    let cases = [
        (seen(), placement(), bases.clone(), true),
        (None, placement(), bases.clone(), false),
        (seen(), placement(), vec![a, b, c], false),
        (seen(), larger, bases.clone(), false),
        (seen(), swapped, bases.clone(), false),
    ];
    let twice = cases.into_iter().flat_map(|case| [(case.clone(), false), (case, true)]);
    for ((seen, placement, its_bases, is_unchecked), follows) in twice {
        let (_caller, seat) = protocol::sides();
        let basis = seen.into_iter().fold(Basis::of(&[]), Basis::with);
        let job = Job {
            info: Arc::new(Facts::of(&info)),
            bases: its_bases,
            basis: Some(basis),
            written: Some(Vec::new()),
            follows,
            ..job(seat, Kind::Cuda, placement)
        };
        let mut residency = Residency::default();
        let mut taken = Taken { residency: &mut residency, pointers: Vec::new() };
        let (mut device, mut report) = (Noting(Vec::new(), 0), Report::default());
        drive(&mut device, &job, &mut report, &mut taken, &mut Vec::new()).unwrap();
        let inside: Vec<u64> = device.0.iter().map(|kernel| kernel.inside).collect();
        // What is made ready ahead is what is launched.
        assert_eq!(inside, [if is_unchecked { 0b001 } else { 0 }; 2]);
        assert_eq!(device.1, u32::from(follows && !is_unchecked));
        assert_eq!((report.unchecked, report.seen.is_some()), (is_unchecked, !is_unchecked));
    }
}

/// Tells what is copied, and where to; it has room for what may stay.
struct Roomy {
    next: u64,
    copied: Vec<(u64, u64, DevicePtr)>,
}

impl Scripted for Roomy {
    fn allocate(&mut self, bytes: u64) -> Result<DevicePtr, DeviceError> {
        self.next += bytes.next_multiple_of(4096) + 4096;
        Ok(DevicePtr(self.next - bytes.next_multiple_of(4096)))
    }
    fn room_for_residents(&self) -> u64 {
        1 << 30
    }
    fn copy_in(
        &mut self,
        pieces: &[(u64, u64, DevicePtr)],
        _: &[(u64, u64, DevicePtr)],
    ) -> Result<(), DeviceError> {
        self.copied.extend(pieces);
        Ok(())
    }
}

/// An array that has had a copy elsewhere on the device comes to its new place as a whole, though nothing of it has changed.
#[test]
fn what_is_to_stay_is_taken_from_no_other_copy() {
    crate::memory::tracking::allow(true);
    let array = vec![1u8; 3 << 20];
    let (lo, bytes) = ((array.as_ptr() as u64).next_multiple_of(4096), 2u64 << 20);
    let placement = Placement {
        regions: vec![Region { lo, size: bytes, ..Region::default() }],
        anchors: vec![lo],
        read: vec![true],
        written: vec![false],
        snapshot: vec![false],
        ..Placement::default()
    };
    let (mut residency, mut device) = (Residency::default(), Roomy { next: 1 << 30, copied: Vec::new() });
    let mut enter = |tenants: Vec<Tenant>| {
        let (_caller, seat) = protocol::sides();
        let job = Job { tenants: Arc::new(tenants), ..job(seat, Kind::Cuda, placement.clone()) };
        let mut taken = Taken { residency: &mut residency, pointers: Vec::new() };
        device.copied.clear();
        let _ = drive(&mut device, &job, &mut Report::default(), &mut taken, &mut Vec::new());
        device.copied.clone()
    };
    let again = (0..20).map(|_| enter(Vec::new())).last().unwrap();
    let place = DevicePtr(1 << 20);
    let mut tenant = Tenant::new(None, Some((place, place.0)), (lo, lo + bytes), false);
    (tenant.regions, tenant.missing) = (vec![0], vec![(lo, lo + bytes)]);
    assert_eq!(enter(vec![tenant]), [(lo, bytes, place)], "before: {again:?}");
    // Where memory can be watched the copy is still there.
    assert_eq!(enter(Vec::new()).is_empty(), again.is_empty());
}
