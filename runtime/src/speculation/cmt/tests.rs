use super::*;
use crate::device::cuda::staging::GAP;

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

#[test]
fn the_worker_starts_when_what_it_may_change_is_copied() {
    let region = |lo| Region { lo, size: 4096, ..Region::default() };
    let (written, read) = (1 << 20, 1 << 21);
    for recorded_store in [false, true] {
        let (events, inbox) = unbounded();
        let job = Job {
            info: Box::leak(Box::new(crate::abi::nothing())),
            loop_key: 0,
            object: None,
            kind: Kind::Threads,
            trip: [1; crate::abi::PG_MAX_DIMS],
            placement: Placement {
                regions: vec![region(read), region(written)],
                read: vec![true, true],
                written: vec![false, true],
                snapshot: vec![false, false],
                recorded_store,
                ..Placement::default()
            },
            bases: Vec::new(),
            values: Vec::new(),
            results: Vec::new(),
            method: LogMethod::None,
            best_method: LogMethod::None,
            guesses: Guesses::None,
            may_guess_range: false,
            in_order: false,
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
        };
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
