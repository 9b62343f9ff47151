use super::*;
use crate::abi::{PG_LOOP_SPREADS, PG_LOOP_STORES_ONCE, PG_SITE_LOGGED, PG_SITE_STORE, Site};
use crate::device::cuda::staging::GAP;
use std::collections::BTreeMap;

/// Tells what is copied to it, and whether the worker might have started by then. It runs nothing.
struct Told {
    inbox: Receiver<Event>,
    next: u64,
    started: bool,
    copied: Vec<(Vec<u64>, bool)>,
}

impl Device for Told {
    fn name(&self) -> &'static str {
        "told"
    }
    fn allocate(&mut self, bytes: u64) -> Result<DevicePtr, DeviceError> {
        self.next += bytes.next_multiple_of(4096) + 4096;
        Ok(DevicePtr(self.next - bytes.next_multiple_of(4096)))
    }
    fn threads(&self) -> u64 {
        1
    }
    fn free(&mut self, _: DevicePtr) {}
    fn copy_in(
        &mut self,
        pieces: &[(u64, u64, DevicePtr)],
        _: &[(u64, u64, DevicePtr)],
    ) -> Result<(), DeviceError> {
        self.started |= self.inbox.try_iter().any(|event| matches!(event, Event::WorkerMayStart));
        self.copied.push((pieces.iter().map(|(host, ..)| *host).collect(), self.started));
        Ok(())
    }
    fn copy_out(&mut self, _: &mut [(DevicePtr, &mut [u8])]) -> Result<(), DeviceError> {
        Ok(())
    }
    fn duplicate(&mut self, _: DevicePtr, _: DevicePtr, _: u64) -> Result<(), DeviceError> {
        Ok(())
    }
    fn fill(&mut self, _: DevicePtr, _: u32, _: u64) -> Result<(), DeviceError> {
        Ok(())
    }
    fn prepare(&mut self, _: &Info, _: usize, kernel: Specialisation) -> Result<Specialisation, DeviceError> {
        Ok(kernel)
    }
    fn run(&mut self, _: &mut Launch<'_>) -> Result<Outcome, DeviceError> {
        Err(DeviceError::Kernel("it runs nothing".into()))
    }
}

/// A job of threads without logs or guesses.
fn job_of(info: Info, placement: Placement, events: Sender<Event>) -> Job {
    Job {
        info: Box::leak(Box::new(info)),
        loop_key: 0,
        object: None,
        kind: Kind::Threads,
        trip: [1; crate::abi::PG_MAX_DIMS],
        placement,
        bases: Vec::new(),
        values: Vec::new(),
        results: Vec::new(),
        method: LogMethod::None,
        best_method: LogMethod::None,
        guesses: Guesses::None,
        may_guess_range: false,
        groups: GroupChoice::Off,
        pinned: Vec::new(),
        basis: None,
        written: None,
        schedule: None,
        stop: Arc::default(),
        patience: None,
        running: Arc::default(),
        worker_stop: Arc::default(),
        events,
    }
}

#[test]
fn the_worker_starts_when_what_it_may_change_is_copied() {
    let region = |lo| Region { lo, size: 4096, ..Region::default() };
    let (written, read) = (1 << 20, 1 << 21);
    for recorded_store in [false, true] {
        let (events, inbox) = unbounded();
        let placement = Placement {
            regions: vec![region(read), region(written)],
            read: vec![true, true],
            written: vec![false, true],
            snapshot: vec![false, false],
            recorded_store,
            ..Placement::default()
        };
        let job = job_of(crate::abi::nothing(), placement, events);
        let mut residency = Residency::default();
        let mut taken = Taken { residency: &mut residency, pointers: Vec::new() };
        let mut device = Told { inbox, next: 1 << 30, started: false, copied: Vec::new() };
        let end = drive(&mut device, &job, &mut Report::default(), &mut taken);
        assert!(matches!(end, Err(DeviceError::Kernel(_))));
        // Where it isn't certain what is written, everything counts.
        let wanted = [(vec![written], false), (vec![read], !recorded_store)];
        assert_eq!(device.copied, wanted, "{recorded_store}");
        let starts = device.inbox.try_iter().any(|event| matches!(event, Event::WorkerMayStart));
        assert!(device.started || starts, "{recorded_store}");
    }
}

#[test]
fn nobody_lies_between_what_is_copied_together() {
    let mut device = ThreadsDevice::new(Pool::default(), Arc::new(Width::new(1)));
    for seed in 0..300u64 {
        let random = |n: u64, below: u64| {
            ((seed * 1000 + n).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31) >> 20) % below
        };
        let mut placement = Placement::default();
        let mut lo = 1 << 20;
        for n in 0..12 + random(0, 30) {
            // Some so small that a gap is wider than they are, some that get memory of their own.
            let size = 1 + random(10 * n + 1, [40, 200, 5000, 3 << 20][random(10 * n + 2, 4) as usize]);
            placement.regions.push(Region { lo, size, ..Region::default() });
            placement.written.push(random(10 * n + 3, 2) == 0);
            placement.read.push(random(10 * n + 4, 3) != 0);
            lo += size + random(10 * n + 5, 9);
        }
        let (mut regions, mut residency) = (placement.regions.clone(), Residency::default());
        let mut taken = Taken { residency: &mut residency, pointers: Vec::new() };
        allocate(&mut device, &placement, &mut regions, |lo| lo % 8, &mut taken).unwrap();
        let mut by_place: Vec<usize> = (0..regions.len()).collect();
        by_place.sort_by_key(|index| regions[*index].dev);
        for two in by_place.windows(2) {
            let (a, b) = (&regions[two[0]], &regions[two[1]]);
            assert!(a.dev + a.size <= b.dev && a.dev % 8 == a.lo % 8, "{seed}");
        }
        for now in [0, 1] {
            let copied: Vec<usize> =
                by_place.iter().copied().filter(|i| turn(&placement, *i) == Some(now)).collect();
            for two in copied.windows(2) {
                let (end, next) = (regions[two[0]].dev + regions[two[0]].size, regions[two[1]].dev);
                let between = regions.iter().filter(|r| r.dev >= end && r.dev < next).count();
                assert!(next - end > GAP || between == 0, "{seed}");
            }
        }
        taken.pointers.into_iter().for_each(|pointer| device.free(pointer));
    }
}

/// Memory of one word for each pointer. Each run changes the array, and what it says comes from a list.
struct Changing {
    words: BTreeMap<u64, u32>,
    next: u64,
    fails: Vec<u32>,
    /// What each run has found in the array, with its log and its guess.
    found: Vec<(u32, LogMethod, Guess)>,
}

impl Device for Changing {
    fn name(&self) -> &'static str {
        "changing"
    }
    fn allocate(&mut self, _: u64) -> Result<DevicePtr, DeviceError> {
        self.next += 1 << 20;
        Ok(DevicePtr(self.next))
    }
    fn threads(&self) -> u64 {
        1
    }
    fn free(&mut self, _: DevicePtr) {}
    fn copy_in(
        &mut self,
        pieces: &[(u64, u64, DevicePtr)],
        _: &[(u64, u64, DevicePtr)],
    ) -> Result<(), DeviceError> {
        self.words.extend(pieces.iter().map(|(.., place)| (place.0, 1)));
        Ok(())
    }
    fn copy_out(&mut self, _: &mut [(DevicePtr, &mut [u8])]) -> Result<(), DeviceError> {
        Ok(())
    }
    fn duplicate(&mut self, from: DevicePtr, to: DevicePtr, _: u64) -> Result<(), DeviceError> {
        self.words.insert(to.0, self.words[&from.0]);
        Ok(())
    }
    fn fill(&mut self, _: DevicePtr, _: u32, _: u64) -> Result<(), DeviceError> {
        Ok(())
    }
    fn prepare(&mut self, _: &Info, _: usize, kernel: Specialisation) -> Result<Specialisation, DeviceError> {
        Ok(kernel)
    }
    fn run(&mut self, launch: &mut Launch<'_>) -> Result<Outcome, DeviceError> {
        let array = self.words.get_mut(&launch.regions[0].dev).unwrap();
        self.found.push((*array, launch.method(), launch.kernel.guess));
        *array += 1;
        Ok(Outcome { fail: self.fails.remove(0), ..Outcome::default() })
    }
}

/// What a run has changed whose guess was wrong is as it was before the next one, whatever that guess was.
#[test]
fn a_refuted_guess_leaves_nothing_behind() {
    let site = |flags| Site { base: 0, width: 8, flags, line: 1 };
    let (store, load) = (PG_SITE_STORE, PG_SITE_LOGGED);
    let proper = |method| (1, method, Guess::None);
    let (stamp, bitmap) = (LogMethod::Stamp, LogMethod::Bitmap);
    for (method, kind, sites, fail, wanted) in [
        // By bits, by numbers, and by a range.
        (stamp, Kind::Threads, vec![site(store)], PG_FAIL_WAW, [proper(bitmap), proper(stamp)]),
        (
            stamp,
            Kind::Threads,
            vec![site(store), site(load)],
            PG_FAIL_WAW | PG_FAIL_RAW,
            [(1, stamp, Guess::Counting), proper(stamp)],
        ),
        (
            bitmap,
            Kind::Cuda,
            vec![site(store), site(load)],
            PG_FAIL_RAW,
            [(1, bitmap, Guess::Range), proper(bitmap)],
        ),
    ] {
        let sites = Vec::leak(sites);
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
        let (events, _inbox) = unbounded();
        let job = Job {
            kind,
            method,
            guesses: Guesses::All,
            may_guess_range: true,
            bases: vec![1 << 20],
            written: Some(Vec::new()),
            ..job_of(info, placement, events)
        };
        let mut residency = Residency::default();
        let mut taken = Taken { residency: &mut residency, pointers: Vec::new() };
        let mut device =
            Changing { words: BTreeMap::new(), next: 1 << 30, fails: vec![fail, 0], found: Vec::new() };
        let mut report = Report::default();
        drive(&mut device, &job, &mut report, &mut taken).unwrap();
        assert_eq!(device.found, wanted);
        assert_eq!(report.guess_held.or(report.range_held), Some(false));
    }
}
