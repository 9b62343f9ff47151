use super::super::tests::job;
use super::super::*;
use super::*;
use crate::abi::{Info, Site, nothing};
use crate::device::cuda::staging::GAP;

/// What a loop reaches first of an array that stays begins a line, but for what it lies within an element, and all of the array finds room.
#[test]
fn what_stays_begins_lines_where_its_loop_does() {
    let mut device = ThreadsDevice::new(Pool::default(), Arc::new(Width::new(1)));
    let cases =
        [(0x10000, 0x10010), (0x10000, 0x10000), (0x10010, 0x10010), (0x10004, 0x1402c), (0x10000, 0x1fffc)];
    for ((lo, first), width) in cases.into_iter().flat_map(|case| [(case, 4), (case, 8)]) {
        let hi = 0x20000;
        let site = [Site { base: 0, width, flags: 0, line: 1, slot: 0 }];
        let info = Info { sites: site.as_ptr(), n_sites: 1, ..nothing() };
        let regions = vec![Region { lo: first, size: hi - first, ..Region::default() }];
        let placement = Placement {
            regions: regions.clone(),
            written: vec![true],
            read: vec![true],
            ..Placement::default()
        };
        let mut tenant = Tenant::new(None, None, (lo, hi), false);
        tenant.regions = vec![0];
        let (_caller, seat) = protocol::sides();
        let (info, tenants) = (Arc::new(Facts::of(&info)), Arc::new(vec![tenant]));
        let job = Job { info, tenants, ..job(seat, Kind::Threads, placement) };
        let (mut regions, mut report, mut residency) = (regions, Report::default(), Residency::default());
        let mut taken = Taken { residency: &mut residency, pointers: Vec::new() };
        let saved = &mut Vec::new();
        move_in(&mut device, &job, &mut regions, &mut report, &mut taken, saved).unwrap();
        let (memory, at) = report.found[0];
        assert_eq!(regions[0].dev, at + (first - lo), "{lo:x} {first:x}");
        let within = first % u64::from(width);
        assert_eq!((regions[0].dev - memory.0) % 128, within, "{lo:x} {first:x} {width}");
        assert!(at - memory.0 < 128, "{lo:x} {first:x} {width}");
        taken.pointers.into_iter().for_each(|pointer| device.free(pointer));
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
        let (_, seat) = protocol::sides();
        let job = job(seat, Kind::Threads, placement.clone());
        allocate(&mut device, &job, &mut regions, |lo| lo % 8, &mut taken).unwrap();
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
