use super::*;
use crate::abi::Info;
use crate::device::{Launch, Outcome, Specialisation};

/// Memory of the host's that plays a device's.
struct Host {
    room: u64,
    /// Allocations, and how many bytes of them there may be.
    memory: HashMap<u64, Vec<u8>>,
    most: u64,
}

impl Device for Host {
    fn name(&self) -> &'static str {
        "host"
    }
    fn allocate(&mut self, bytes: u64) -> Result<DevicePtr, DeviceError> {
        let taken: u64 = self.memory.values().map(|memory| memory.len() as u64).sum();
        if taken + bytes > self.most {
            return Err(DeviceError::OutOfMemory(bytes));
        }
        let memory = vec![0xa5; bytes as usize];
        let start = memory.as_ptr() as u64;
        self.memory.insert(start, memory);
        Ok(DevicePtr(start))
    }
    fn threads(&self) -> u64 {
        1
    }
    fn room_for_residents(&self) -> u64 {
        self.room
    }
    fn free(&mut self, pointer: DevicePtr) {
        assert!(self.memory.remove(&pointer.0).is_some(), "freed twice, or never allocated");
    }
    fn copy_in(
        &mut self,
        pieces: &[(u64, u64, DevicePtr)],
        instead: &[(u64, u64, DevicePtr)],
    ) -> Result<(), DeviceError> {
        for (from, bytes, to) in pieces.iter().chain(instead) {
            // SAFETY: memory of the test's, and an allocation.
            unsafe { std::ptr::copy_nonoverlapping(*from as *const u8, to.0 as *mut u8, *bytes as usize) };
        }
        Ok(())
    }
    fn copy_out(&mut self, _: &mut [(DevicePtr, &mut [u8])]) -> Result<(), DeviceError> {
        unreachable!()
    }
    fn duplicate(&mut self, _: DevicePtr, _: DevicePtr, _: u64) -> Result<(), DeviceError> {
        unreachable!()
    }
    fn fill(&mut self, _: DevicePtr, _: u32, _: u64) -> Result<(), DeviceError> {
        unreachable!()
    }
    fn prepare(&mut self, _: &Info, _: usize, kernel: Specialisation) -> Result<Specialisation, DeviceError> {
        Ok(kernel)
    }
    fn run(&mut self, _: &mut Launch<'_>) -> Result<Outcome, DeviceError> {
        unreachable!()
    }
}

impl Host {
    fn new() -> Host {
        Host { room: u64::MAX / 2, memory: HashMap::new(), most: u64::MAX / 2 }
    }
}

/// Pages of the test's own.
struct Memory {
    start: u64,
    bytes: u64,
}

impl Memory {
    fn new(bytes: u64) -> Memory {
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: new memory.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes as usize, access, kind, -1, 0) };
        assert_ne!(start, libc::MAP_FAILED);
        let memory = Memory { start: start as u64, bytes };
        for at in 0..bytes {
            memory.store(at, (at * 7 + at / 251) as u8);
        }
        memory
    }
    fn store(&self, at: u64, value: u8) {
        assert!(at < self.bytes);
        // SAFETY: inside of it.
        unsafe { std::ptr::write_volatile((self.start + at) as *mut u8, value) }
    }
    fn now(&self) -> Vec<u8> {
        // SAFETY: all of it, copied.
        unsafe { std::slice::from_raw_parts(self.start as *const u8, self.bytes as usize) }.to_vec()
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: ours, once.
        unsafe { libc::munmap(self.start as *mut libc::c_void, self.bytes as usize) };
    }
}

/// Whether memory can be watched here.
fn can_watch() -> bool {
    tracking::allow(true);
    let memory = Memory::new(LEAST);
    let can = Watch::begin(&[(memory.start, memory.start + LEAST)]).is_some();
    if !can {
        eprintln!("SKIPPED: this system can't watch memory");
    }
    can
}

fn placement(arrays: &[(u64, u64)]) -> Placement {
    let region = |(lo, size): &(u64, u64)| Region { lo: *lo, size: *size, ..Region::default() };
    Placement {
        regions: arrays.iter().map(region).collect(),
        read: vec![true; arrays.len()],
        written: vec![false; arrays.len()],
        ..Placement::default()
    }
}

/// What a job does with a copy: bytes copied, and what is on the device then. Copies that don't stay are given back.
fn job(
    residency: &mut Residency,
    device: &mut Host,
    placement: &Placement,
    basis: Option<&Basis>,
) -> Vec<(u64, Option<Vec<u8>>)> {
    let mut regions = placement.regions.clone();
    let remembered = basis.map_or_else(Vec::new, Basis::remembered);
    let lent = residency.lend(device, placement, &mut regions, |lo| lo % 8, basis, &remembered);
    let mut came: Vec<(u64, Option<Vec<u8>>)> = regions.iter().map(|region| (region.size, None)).collect();
    for one in &lent {
        let region = regions[one.region];
        let place = |at: u64| DevicePtr(region.dev + region.lo % 8 + (at - region.lo));
        let pieces: Vec<_> = one.anew.iter().map(|(lo, hi)| (*lo, hi - lo, place(*lo))).collect();
        let instead = one.anew.iter().flat_map(|(lo, hi)| Basis::pieces(&remembered, *lo, hi - lo));
        let instead: Vec<_> = instead.map(|(at, bytes, from)| (from, bytes, place(at))).collect();
        device.copy_in(&pieces, &instead).unwrap();
        let first = (region.lo % 8) as usize;
        let all = &device.memory[&region.dev][first..first + region.size as usize];
        came[one.region] = (pieces.iter().map(|(_, bytes, _)| bytes).sum(), Some(all.to_vec()));
    }
    residency.keep(lent, basis, &remembered);
    came
}

#[test]
fn what_stays_is_what_a_new_copy_would_be() {
    if !can_watch() {
        return;
    }
    const PAGE: u64 = 4096;
    let (mut stayed, mut copied) = (0, 0);
    for seed in 0..40u64 {
        let mut state = seed + 1;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let memory = Memory::new(LEAST + 8 * PAGE);
        let (lo, size) = (memory.start + 1000, LEAST + 5 * PAGE);
        let placement = placement(&[(lo, size)]);
        let (mut residency, mut device, mut findings) = (Residency::default(), Host::new(), Vec::new());
        for step in 0..40 {
            if random(3) == 0 {
                memory.store(random(memory.bytes), random(256) as u8);
            }
            // A job relies on nothing, on a finding that still holds, or on a new one.
            let basis: Option<Basis> = match random(3) {
                0 => None,
                1 => {
                    findings.retain(Basis::holds);
                    findings.get(random(4) as usize).cloned()
                }
                _ => {
                    let first = lo + 8 * random(size / 16);
                    let range = (first, first + 1 + random(9 * PAGE));
                    findings.insert(0, Basis::of(&[&[range, (lo + size - 100, lo + size - 50)]]));
                    findings.first().cloned()
                }
            };
            // Another thread stores to what has just been compared.
            if let Some((first, end, _)) =
                basis.as_ref().map(Basis::remembered).filter(|_| random(2) == 0).map(|all| all[0])
            {
                memory.store(first - memory.start + random(end - first), random(256) as u8);
            }
            let mut expected = memory.now()[1000..1000 + size as usize].to_vec();
            let remembered = basis.as_ref().map_or_else(Vec::new, Basis::remembered);
            for (at, bytes, from) in Basis::pieces(&remembered, lo, size) {
                // SAFETY: memory of the basis.
                let was = unsafe { std::slice::from_raw_parts(from as *const u8, bytes as usize) };
                expected[(at - lo) as usize..][..bytes as usize].copy_from_slice(was);
            }
            let came = job(&mut residency, &mut device, &placement, basis.as_ref());
            let [(bytes, now)] = &came[..] else { unreachable!() };
            if let Some(now) = now {
                assert!(*now == expected, "{seed} {step}");
                (stayed, copied) = (stayed + 1, copied + bytes);
            }
        }
    }
    assert!(stayed > 1000 && copied < stayed * LEAST / 4, "{stayed} {copied}");
}

#[test]
fn an_array_stays_once_it_was_copied_often() {
    if !can_watch() {
        return;
    }
    let memory = Memory::new(2 * LEAST);
    let placement = placement(&[(memory.start, LEAST), (memory.start + LEAST, LEAST - 8)]);
    let (mut residency, mut device) = (Residency::default(), Host::new());
    let mut entry = |written: bool| {
        let mut placement = placement.clone();
        placement.written[0] = written;
        job(&mut residency, &mut device, &placement, None)
    };
    for _ in 0..PATIENCE {
        assert!(entry(false).iter().all(|(_, now)| now.is_none()));
    }
    assert!(matches!(entry(false)[..], [(LEAST, Some(_)), (_, None)]), "the second one is too small");
    assert!(matches!(entry(false)[..], [(0, Some(_)), (_, None)]));
    // What the loop stores to isn't lent; what is commited then, the watch tells.
    assert!(entry(true)[0].1.is_none());
    memory.store(5000, 1);
    assert!(matches!(entry(false)[0], (4096, Some(_))));
    // Most of it changes: it has to be copied as often again as it was, twice over.
    (0..LEAST).step_by(4096).for_each(|at| memory.store(at, 2));
    for _ in 0..2 * PATIENCE {
        assert!(entry(false)[0].1.is_none());
    }
    assert!(matches!(entry(false)[0], (LEAST, Some(_))));
}

#[test]
fn copies_give_way_to_what_is_needed() {
    if !can_watch() {
        return;
    }
    let memory = Memory::new(4 * LEAST);
    let array = |n: u64| placement(&[(memory.start + n * LEAST, LEAST)]);
    let (mut residency, mut device) = (Residency::default(), Host::new());
    device.room = 3 * LEAST;
    for n in 0..3 {
        for _ in 0..=PATIENCE {
            job(&mut residency, &mut device, &array(n), None);
        }
    }
    let is_there = |residency: &Residency, n: u64| {
        residency.residents.iter().any(|resident| resident.key.0 == memory.start + n * LEAST)
    };
    assert!((0..3).all(|n| is_there(&residency, n)));
    // The one used first goes when another one comes.
    job(&mut residency, &mut device, &array(0), None);
    for _ in 0..=PATIENCE {
        job(&mut residency, &mut device, &array(3), None);
    }
    assert!(!is_there(&residency, 1) && [0, 2, 3].iter().all(|n| is_there(&residency, *n)));
    assert_eq!(device.memory.len(), 3);
    // Where the device has no memory left, jobs come first; but not at the cost of what they have themselves.
    device.most = 4 * LEAST;
    residency.now += 1;
    assert!(allocate(&mut device, &mut residency, 2 * LEAST).is_ok());
    assert!(residency.residents.len() == 1 && is_there(&residency, 3));
    assert!(matches!(allocate(&mut device, &mut residency, 4 * LEAST), Err(DeviceError::OutOfMemory(_))));
    assert!(residency.residents.is_empty() && device.memory.len() == 1);
    // A copy that is wanted by a job whose arrays don't fit stays none.
    device.room = 0;
    assert!(job(&mut residency, &mut device, &array(0), None)[0].1.is_none());
}

#[test]
fn what_came_after_the_comparison_is_not_trusted() {
    if !can_watch() {
        return;
    }
    let memory = Memory::new(LEAST);
    let placement = placement(&[(memory.start, LEAST)]);
    let (mut residency, mut device) = (Residency::default(), Host::new());
    let range = (memory.start + 9000, memory.start + 9100);
    let basis = Basis::of(&[&[range]]);
    let expected = memory.now();
    // Another thread stores to it, and another one's entries have all of it copied, before the one that has compared it comes to the device.
    memory.store(9050, !expected[9050]);
    for _ in 0..=PATIENCE {
        job(&mut residency, &mut device, &placement, None);
    }
    for _ in 0..2 {
        let came = job(&mut residency, &mut device, &placement, Some(&basis));
        assert!(matches!(&came[..], [(_, Some(now))] if *now == expected));
    }
    let came = job(&mut residency, &mut device, &placement, None);
    assert!(matches!(&came[..], [(_, Some(now))] if *now == memory.now()));
}

#[test]
fn what_may_not_be_read_is_not_there() {
    if !can_watch() {
        return;
    }
    let memory = Memory::new(3 * LEAST);
    let array = placement(&[(memory.start + 8, 3 * LEAST - 16)]);
    let (mut residency, mut device) = (Residency::default(), Host::new());
    let mut entry = || job(&mut residency, &mut device, &array, None)[0].1.is_some();
    // SAFETY: memory of the test's.
    let allow = |at: u64, access| unsafe {
        assert_eq!(libc::mprotect((memory.start + at) as *mut libc::c_void, 4096, access), 0);
    };
    (0..PATIENCE).for_each(|_| assert!(!entry()));
    assert!(entry() && entry());
    allow(LEAST, libc::PROT_READ);
    assert!(entry());
    allow(LEAST, libc::PROT_READ | libc::PROT_WRITE);
    for at in [0, LEAST, 3 * LEAST - 4096] {
        let mut entries = 0;
        while !entry() {
            entries += 1;
            assert!(entries <= 8 * PATIENCE);
        }
        allow(at, libc::PROT_NONE);
        assert!(!entry(), "{at}");
        allow(at, libc::PROT_READ | libc::PROT_WRITE);
    }
}

#[test]
fn not_many_copies_of_one_array_stay() {
    if !can_watch() {
        return;
    }
    let memory = Memory::new(2 * LEAST);
    let (mut residency, mut device) = (Residency::default(), Host::new());
    for n in 0..MOST as u64 + 8 {
        for _ in 0..=PATIENCE {
            job(&mut residency, &mut device, &placement(&[(memory.start, LEAST + 8 * n)]), None);
        }
    }
    assert_eq!((residency.residents.len(), device.memory.len()), (MOST, MOST));
    let many: Vec<(u64, u64)> = (0..2).map(|n| (memory.start + n * LEAST, LEAST)).collect();
    (0..=PATIENCE).for_each(|_| drop(job(&mut residency, &mut device, &placement(&many), None)));
    assert_eq!((residency.residents.len(), device.memory.len()), (MOST, MOST));
}

#[test]
fn who_was_not_copied_waits_longer() {
    if !can_watch() {
        return;
    }
    let memory = Memory::new(LEAST);
    let array = placement(&[(memory.start, LEAST)]);
    let (mut residency, mut device) = (Residency::default(), Host::new());
    let mut begun = Vec::new();
    for entry in 1..=100 {
        let lent = residency.lend(&mut device, &array, &mut array.regions.clone(), |_| 0, None, &[]);
        begun.extend(lent.iter().map(|_| entry));
        // The worker was faster.
        residency.give_up(lent).into_iter().for_each(|pointer| device.free(pointer));
    }
    assert_eq!(begun, [11, 32, 73]);
    // There is no memory.
    device.most = 0;
    for _ in 0..100 {
        residency.lend(&mut device, &array, &mut array.regions.clone(), |_| 0, None, &[]);
    }
    assert!(residency.met.values().all(|met| met.patience == 16 * PATIENCE && met.times < 100));
}
