//! Where arrays lie, and what is refused.

use super::*;
use crate::abi::{
    DeviceFn, DirectFn, PG_ABI_VERSION, PG_ADD, PG_OPERATION_OF_SITE, PG_OR, PG_SITE_HAS_WINDOW, RawLaunch,
    Value,
};

/// # Safety
/// It does nothing.
unsafe extern "C" fn direct(_: *const Entry, _: *mut Value, _: i64, _: i64) {}
/// # Safety
/// It does nothing.
unsafe extern "C" fn device(_: *const RawLaunch, _: u64, _: u64) {}

const STORE: u32 = PG_SITE_STORE | PG_SITE_LOGGED;
const AFFINE: u32 = PG_SITE_HAS_AFFINE;

fn base(pointer: u64) -> Base {
    Base { pointer, ..Base::default() }
}
fn site(base: u32, width: u32, flags: u32) -> Site {
    Site { base, width, flags, line: base + 1, slot: 0 }
}
fn access(stride: i64, lo: i64, hi: i64) -> Access {
    Access { stride: [stride, 0, 0, 0], lo, hi, ..Access::default() }
}

/// A loop of so many dimensions.
fn info(sites: &[Site], n_bases: u32, n_dims: u32) -> Info {
    Info {
        abi: PG_ABI_VERSION,
        verdict: 2,
        check: 3,
        flags: 0,
        file: std::ptr::null(),
        function: std::ptr::null(),
        line: 1,
        n_dims,
        n_values: 0,
        n_results: 0,
        n_bases,
        n_sites: sites.len() as u32,
        n_pairs: 0,
        n_pins: 0,
        work: 1,
        sites: sites.as_ptr(),
        pairs: std::ptr::null(),
        results: std::ptr::null(),
        cuda_body: std::ptr::null(),
        direct: direct as DirectFn,
        device: Some(device as DeviceFn),
        recipe: std::ptr::null(),
        inspect: None,
        keys: std::ptr::null(),
        n_keys: 0,
        search: None,
        searched: std::ptr::null(),
        n_searched: 0,
    }
}

/// Places a loop of 100 iterations.
fn placed(
    sites: &[Site],
    bases: &mut [Base],
    accesses: &mut [Access],
    known: &[(u64, u64)],
) -> Result<Placement, String> {
    placed_by(sites, bases, accesses, known, None)
}

/// The same, where accesses have been seen to come to this.
fn placed_by(
    sites: &[Site],
    bases: &mut [Base],
    accesses: &mut [Access],
    known: &[(u64, u64)],
    reached: Option<&[Option<(u64, u64)>]>,
) -> Result<Placement, String> {
    let mut allocations = Allocations::default();
    known.iter().for_each(|(lo, size)| allocations.insert(*lo, *size));
    let info = info(sites, bases.len() as u32, 1);
    let entry = Entry {
        info: &raw const info,
        trip: [100, 1, 1, 1],
        values: std::ptr::null_mut(),
        results: std::ptr::null_mut(),
        bases: bases.as_mut_ptr(),
        accesses: accesses.as_mut_ptr(),
        pins: std::ptr::null_mut(),
    };
    // SAFETY: all tables are alive and as long as `info` says.
    unsafe { place(&info, &entry, &allocations, LogMethod::Atomic, None, reached) }
}

#[test]
fn hulls_are_exact_and_only_stored_arrays_have_logs() {
    let sites = [site(0, 8, STORE | AFFINE), site(1, 4, PG_SITE_LOGGED | AFFINE)];
    let mut accesses = [access(-8, 0, 8), access(4, -4, 8)];
    let p = placed(&sites, &mut [base(0x20000), base(0x10010)], &mut accesses, &[]).unwrap();
    let ranges: Vec<(u64, u64)> = p.regions.iter().map(|r| (r.lo, r.size)).collect();
    assert_eq!(ranges, [(0x1000c, 99 * 4 + 12), (0x20000 - 99 * 8, 800)]);
    assert_eq!((p.written.clone(), p.read.clone()), (vec![false, true], vec![true, false]));
    assert_eq!(p.kept(), 0b10);
    assert_eq!(p.regions[0].log, PG_NO_LOG);
    // As wide as what is stored: the narrower loads are from where nobody stores.
    assert_eq!((p.regions[1].log, p.log_shift), (0, 3));
    // Cells begin at the 64 bytes that the region begins in, and cover all of it.
    let (first, end) = p.cells_of(1, p.regions[1].lo, 0x20008);
    assert_eq!(first, (0x20000 - 99 * 8) % 64 / 8);
    assert!(end <= p.cells);
    assert!(!p.recorded_store);
    let p = placed(&sites, &mut [base(0x20000), base(0x20000)], &mut accesses, &[]).unwrap();
    assert_eq!((p.regions.len(), p.log_shift), (1, 2));
    // What has no base may come to any array.
    let mut anywhere = [base(0x20000), Base { dynamic: 1, ..base(0) }];
    assert_eq!(placed(&sites, &mut anywhere, &mut accesses, &[]).unwrap().log_shift, 2);
}

#[test]
fn overlapping_arrays_are_one_and_touching_ones_are_two() {
    let sites = [site(0, 4, STORE | AFFINE), site(1, 4, AFFINE), site(2, 4, STORE | AFFINE)];
    let mut accesses = [access(4, 0, 4), access(4, 0, 4), access(4, 0, 4)];
    let mut bases = [base(0x1000), base(0x1000 + 200), base(0x1000 + 600)];
    let p = placed(&sites, &mut bases, &mut accesses, &[]).unwrap();
    assert_eq!(p.regions.iter().map(|r| r.size).collect::<Vec<_>>(), [600, 400]);
    // The two regions' cells are different ones although they may share a line.
    assert!(p.cells_of(0, 0x1000 + 596, 0x1000 + 600).1 <= p.cells_of(1, 0x1000 + 600, 0x1000 + 604).0);
}

#[test]
fn arrays_that_are_only_updated_are_known() {
    let update = |base, width, operation: u32| {
        [STORE, 0].map(|flags| {
            site(base, width, flags | AFFINE | PG_SITE_UPDATE | operation << PG_OPERATION_OF_SITE)
        })
    };
    let alone = |sites: &[Site], pointers: &[u64]| {
        let mut bases: Vec<Base> =
            pointers.iter().map(|p| Base { dynamic: u64::from(*p == 0), ..base(*p) }).collect();
        let mut accesses = vec![access(4, 0, 4); sites.len()];
        let p = placed(sites, &mut bases, &mut accesses, &[]).unwrap();
        let info = info(sites, bases.len() as u32, 1);
        let alone = p.updated_alone(&info);
        (alone, p.is_nameless(&info, alone))
    };
    let (x, y) = (0x1000, 0x8000);
    let (add, or) = (PG_ADD, PG_OR);
    assert_eq!(alone(&[update(0, 4, add), update(1, 4, add)].concat(), &[x, y]), (0b11, true));
    // Two bases of one array, whose updates are of one kind, or not.
    assert_eq!(alone(&[update(0, 4, add), update(1, 4, add)].concat(), &[x, x + 4]), (0b11, true));
    assert_eq!(alone(&[update(0, 4, add), update(1, 4, or)].concat(), &[x, x + 4]), (0, false));
    assert_eq!(alone(&[update(0, 4, add), update(1, 2, add)].concat(), &[x, x + 4]), (0, false));
    // Something else is loaded or stored there; or elsewhere; or may be anywhere.
    let load = [site(1, 4, AFFINE)];
    assert_eq!(alone(&[&update(0, 4, add)[..], &load].concat(), &[x, x + 4]), (0, false));
    assert_eq!(alone(&[&update(0, 4, add)[..], &load].concat(), &[x, y]), (0b01, true));
    let store = [site(1, 4, STORE | AFFINE)];
    assert_eq!(alone(&[&update(0, 4, add)[..], &store].concat(), &[x, y]), (0b01, false));
    assert_eq!(alone(&[&update(0, 4, add)[..], &load].concat(), &[x, 0]), (0, false));
}

#[test]
fn what_has_no_extent_is_refused() {
    let sites = [site(0, 4, STORE)];
    let mut accesses = [Access::default()];
    let why = placed(&sites, &mut [base(0x5010)], &mut accesses, &[(0x6000, 100)]).unwrap_err();
    assert_eq!(why, "the array accessed in line 1 has no known extent");
    let p = placed(&sites, &mut [base(0x5010)], &mut accesses, &[(0x5000, 100)]).unwrap();
    assert_eq!((p.regions[0].lo, p.regions[0].size), (0x5000, 100));
    assert!(p.recorded_store);
    let mut named = [Base { object_lo: 0x5008, object_hi: 0x5018, ..base(0x5010) }];
    let p = placed(&sites, &mut named, &mut accesses, &[(0x5000, 100)]).unwrap();
    assert_eq!((p.regions[0].lo, p.regions[0].size), (0x5008, 16));
    assert!(!p.recorded_store);
    // Where an inner loop has no turn, nothing is accessed.
    let p = placed(&[site(0, 4, AFFINE)], &mut [base(0x5010)], &mut [access(0, 8, 4)], &[]).unwrap();
    assert!(p.regions.is_empty() && p.bounded == 0);
    let far = placed(&[site(0, 4, AFFINE)], &mut [base(0x1010)], &mut [access(-64, 0, 4)], &[]);
    assert_eq!(far.unwrap_err(), "the accesses in line 1 leave the address space");
}

/// Of an array that isn't recorded a device gets what lies around its pointer, up to what the loop stores to; unless it may store there itself.
#[test]
fn what_is_not_recorded_is_placed_with_its_surroundings() {
    const REACH: u64 = PG_RECORD_MINIMUM;
    let memory = vec![1u8; 1 << 20];
    let middle = (memory.as_ptr() as u64 + (1 << 19)).next_multiple_of(4096);
    let pointer = middle + 8;
    let around = (middle - REACH, middle + REACH + 4096);
    let tried = |flags: [u32; 3], bases: &mut [Base], lows: [i64; 3], reached: Option<(u64, u64)>| {
        let sites = [site(0, 4, flags[0]), site(1, 4, flags[1]), site(0, 4, flags[2])];
        let mut accesses = lows.map(|lo| access(4, lo, lo + 4));
        let reached = [reached, None, None];
        let reached = reached[0].is_some().then_some(&reached[..]);
        let p = placed_by(&sites, bases, &mut accesses, &[], reached)?;
        let own = p.region_of_base(0).unwrap();
        assert!(
            !p.written[own]
                && p.read[own]
                && p.kept() & 1 != 0
                && (p.bounded | p.aligned) & 1 == p.aligned & 1
        );
        assert_eq!(p.regions[own].log, PG_NO_LOG);
        Ok::<_, String>((p.regions[own].lo, p.regions[own].lo + p.regions[own].size))
    };
    let refused = Err("the array accessed in line 1 has no known extent".into());
    let (loads, stores) = ([0, AFFINE | STORE, AFFINE], [STORE, AFFINE | STORE, AFFINE]);
    let at = |stored: u64| [base(pointer), base(stored)];
    let far = 1 << 40;
    assert_eq!(tried(loads, &mut at(far), [0; 3], None), Ok(around));
    assert_eq!(tried(stores, &mut at(far), [0; 3], None), refused);
    // 400 bytes that are stored to, in front of it and behind it; where it lies itself; and only in part.
    assert_eq!(tried(loads, &mut at(pointer - 400), [0; 3], None), Ok((pointer, around.1)));
    assert_eq!(tried(loads, &mut at(pointer + 400), [0; 3], None), Ok((around.0, pointer + 400)));
    assert_eq!(tried(loads, &mut at(pointer + 396), [0; 3], None), refused);
    assert_eq!(tried(loads, &mut at(pointer - 8), [0; 3], None), refused);
    // What is affine of it may lie farther off, but not beyond what is stored to.
    assert_eq!(tried(loads, &mut at(far), [0, 0, 1 << 17], None), Ok((around.0, pointer + (1 << 17) + 400)));
    assert_eq!(tried(loads, &mut at(pointer + (1 << 16)), [0, 0, 1 << 17], None), refused);
    // Inspections know better.
    let seen = (pointer + 4096, pointer + 8192);
    assert_eq!(tried([0, AFFINE | STORE, 0], &mut at(far), [0; 3], Some(seen)), Ok(seen));
    assert_eq!(tried(loads, &mut at(far), [0; 3], Some(seen)), Ok((pointer, seen.1)));
    assert_eq!(tried(loads, &mut at(pointer + 4500), [0; 3], Some(seen)), refused);
    // Unless it is others' as well.
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let how = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
    // SAFETY: fresh memory, of ours alone.
    let shared = unsafe { libc::mmap(std::ptr::null_mut(), 1 << 14, access, how, -1, 0) } as u64;
    let of_others = tried([0, AFFINE | STORE, 0], &mut at(far), [0; 3], Some((shared, shared + 4096)));
    // SAFETY: as above.
    unsafe { libc::munmap(shared as *mut _, 1 << 14) };
    assert_eq!(of_others, refused);
    // Nothing is there; a table of pointers, of which other words may be some; stores that may come to any array.
    assert_eq!(tried(loads, &mut [base(1 << 44), base(far)], [0; 3], None), refused);
    assert_eq!(tried([PG_SITE_LOADS_POINTER, AFFINE | STORE, 0], &mut at(far), [0; 3], None), refused);
    let anywhere = Base { dynamic: 1, ..base(0) };
    assert_eq!(tried([0, STORE, 0], &mut [base(pointer), anywhere], [0; 3], None), refused);
    assert_eq!(tried([0, 0, 0], &mut [base(pointer), anywhere], [0; 3], None), Ok(around));
}

/// Of an array that nothing stores to a device gets what an inspection has seen, unless that is nearly all of it, or lies elsewhere.
#[test]
fn what_is_not_reached_is_left_out() {
    let placed = |flags: [u32; 2], lows: [i64; 2], reached: [Option<(u64, u64)>; 2]| {
        let sites = [site(0, 4, flags[0]), site(0, 4, flags[1])];
        let mut accesses = lows.map(|lo| access(4, lo, lo + 4));
        let (mut bases, known) = ([base(0x10010)], [(0x10000, 0x10000)]);
        let p = placed_by(&sites, &mut bases, &mut accesses, &known, Some(&reached)).unwrap();
        assert_eq!(p.bounded, 0);
        assert_eq!(p.region_of_base(0), Some(0));
        (p.regions[0].lo, p.regions[0].lo + p.regions[0].size)
    };
    let (some, whole) = (Some((0x14000, 0x15000)), (0x10000, 0x20000));
    assert_eq!(placed([0, 0], [0, 0], [some, None]), (0x14000, 0x15000));
    assert_eq!(placed([0, 0], [0, 0], [some, Some((0x18000, 0x18004))]), (0x14000, 0x18004));
    // With what another one reaches by its address, from 0x11010 on.
    assert_eq!(placed([0, AFFINE], [0, 0x1000], [some, None]), (0x11010, 0x15000));
    // None of them happens, or only what is affine.
    assert_eq!(placed([0, 0], [0, 0], [None, None]), (0x10000, 0x10040));
    assert_eq!(placed([0, AFFINE], [0, 0x1000], [None, None]), (0x11010, 0x11010 + 400));
    // Nearly all of it; more than there is; it is stored to.
    assert_eq!(placed([0, 0], [0, 0], [Some((0x10000, 0x1e004)), None]), whole);
    assert_eq!(placed([0, 0], [0, 0], [Some((0x10000, 0x1e000)), None]), (0x10000, 0x1e000));
    assert_eq!(placed([0, 0], [0, 0], [Some((0x1f000, 0x20004)), None]), whole);
    assert_eq!(placed([0, 0], [0, 0], [Some((0xf000, 0x10004)), None]), whole);
    assert_eq!(placed([0, STORE], [0, 0], [some, some]), whole);
}

#[test]
fn what_is_reached_has_to_lie_in_its_own_array() {
    let sites = [site(0, 4, 0), site(1, 4, 0), site(1, 4, 0)];
    let info = info(&sites, 2, 1);
    let region = |lo, size| Region { lo, size, ..Region::default() };
    let placement = Placement {
        regions: vec![region(100, 100), region(300, 100)],
        anchors: vec![100, 300],
        ..Placement::default()
    };
    let holds = |first, second| placement.holds(&info, &[Some(first), None, Some(second)]);
    assert!(holds((100, 200), (300, 400)) && holds((150, 151), (399, 400)));
    assert!(!holds((99, 200), (300, 400)) && !holds((100, 200), (300, 401)));
    assert!(!holds((100, 201), (300, 400)) && !holds((100, 200), (100, 200)));
    assert!(
        !Placement { anchors: vec![100, 0], ..placement.clone() }
            .holds(&info, &[None, Some((300, 301)), None])
    );
}

#[test]
fn arrays_that_are_left_out_have_no_place() {
    const NOWHERE: u64 = 1 << 63;
    const ALWAYS: u32 = PG_SITE_UNCONDITIONAL;
    let is_left_out = |pointer: u64, flags: u32| {
        let sites = [site(0, 4, AFFINE | STORE | ALWAYS), site(1, 4, flags)];
        let mut accesses = [access(4, 0, 4), access(4, 0, 4)];
        let p = placed(&sites, &mut [base(0x5010), base(pointer)], &mut accesses, &[(0x5000, 0x1000)])?;
        assert_eq!(p.region_of_base(0), Some(0));
        assert_eq!(p.leaves_out, p.regions.len() == 1);
        // Accesses through it are always checked.
        assert!(p.regions.len() == 2 || p.region_of_base(1).is_none() && (p.bounded | p.aligned) & 0b10 == 0);
        Ok::<_, String>(p.regions.len() == 1)
    };
    for nowhere in [0, 16, NOWHERE, NOWHERE + 16] {
        assert_eq!(is_left_out(nowhere, AFFINE), Ok(true));
        assert_eq!(is_left_out(nowhere, AFFINE | STORE), Ok(true));
        // Of which no range is known, either.
        assert_eq!(is_left_out(nowhere, 0), Ok(true));
    }
    assert_eq!(is_left_out(0x9000, AFFINE), Ok(false));
    // What every iteration accesses has to be somewhere.
    assert!(is_left_out(NOWHERE, AFFINE | ALWAYS).is_err());
    let mut named = [Base { object_hi: 16, ..base(0) }];
    assert!(placed(&[site(0, 4, AFFINE)], &mut named, &mut [access(4, 0, 4)], &[]).is_err());
}

#[test]
fn windows_are_placed_where_they_say_more_than_extents() {
    const WINDOW: u32 = PG_SITE_HAS_WINDOW | PG_SITE_WHOLE_STEPS;
    // Where nothing is recorded it has to be there.
    let memory = vec![1u8; 0x8000];
    let there = (memory.as_ptr() as u64).next_multiple_of(0x1000);
    let at = there + 0x10;
    let one = |flags, access, known: &[(u64, u64)]| {
        let p = placed(&[site(0, 4, flags)], &mut [base(at)], &mut [access], known)?;
        Ok::<_, String>((p.regions[0].lo, p.regions[0].size, p.bounded))
    };
    let window = access(0, 0, 64);
    // Inside of the array, and where nobody knows how large that is.
    assert_eq!(one(WINDOW, window, &[(there, 0x50)]), Ok((at, 64, 1)));
    assert_eq!(one(WINDOW, window, &[(there + 0x1000, 0x50)]), Ok((at, 64, 1)));
    // Not inside: accesses are checked.
    assert_eq!(one(WINDOW, window, &[(there, 0x4f)]), Ok((there, 0x4f, 0)));
    assert_eq!(one(WINDOW, access(0, -17, 4), &[(there, 0x50)]), Ok((there, 0x50, 0)));
    // Strides count: 100 iterations.
    assert_eq!(one(WINDOW, access(4, 0, 8), &[]), Ok((at, 404, 1)));
    // An array of the program's own name, and accesses that may lie across words.
    let mut named = [Base { object_lo: at, object_hi: at + 16, ..base(at) }];
    let p = placed(&[site(0, 4, WINDOW)], &mut named, &mut [window], &[]).unwrap();
    assert_eq!((p.regions[0].size, p.bounded), (16, 0));
    assert_eq!(one(PG_SITE_HAS_WINDOW, window, &[]), Ok((at, 64, 0)));
    assert_eq!(one(WINDOW, access(0, 2, 64), &[]), Ok((at + 2, 62, 0)));
    // Nobody knows: what lies around is placed.
    let around = |p: Result<(u64, u64, u64), String>| {
        p.is_ok_and(|(lo, size, bounded)| lo <= at && at + 0x3000 <= lo + size && bounded == 0)
    };
    assert!(around(one(WINDOW, Access::default(), &[])) && around(one(WINDOW, access(0, 8, 8), &[])));
    assert!(one(WINDOW | STORE, Access::default(), &[]).is_err());
    // It isn't there: loads may come to what is, as far as that is; stores have no place.
    let edge = |flags, reach: Access| {
        let none = std::ptr::null_mut();
        let how = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: fresh memory, of ours alone.
        unsafe {
            let pages = libc::mmap(none, 0x3000, libc::PROT_READ | libc::PROT_WRITE, how, -1, 0);
            let start = pages as u64;
            ((start + 0x1000) as *mut u8).write(1);
            for page in [0, 0x2000] {
                assert_eq!(libc::mprotect((start + page) as *mut _, 0x1000, libc::PROT_NONE), 0);
            }
            let p = placed(&[site(0, 4, flags)], &mut [base(start + 0x1000)], &mut [reach], &[]).unwrap();
            libc::munmap(pages, 0x3000);
            (p.regions[0].lo.wrapping_sub(start) as i64, p.regions[0].size, p.bounded)
        }
    };
    assert_eq!(edge(WINDOW, access(0, 0, 4096)), (0x1000, 4096, 1));
    assert_eq!(edge(WINDOW, access(0, -4, 64)), (0x1000, 4096, 0));
    assert_eq!(edge(WINDOW, access(0, 64, 4100)), (0x1000, 4096, 0));
    assert_eq!(edge(WINDOW | STORE, access(0, -4, 64)), (0xffc, 68, 1));
    // A long one isn't asked about.
    assert_eq!(edge(WINDOW, access(0, 0, 1 << 18)), (0x1000, 1 << 18, 1));
    // Beside an access of which only a run can tell.
    let both = [site(0, 4, WINDOW), site(0, 4, 0)];
    let mut accesses = [window, Access::default()];
    let p = placed(&both, &mut [base(at)], &mut accesses, &[(there, 0x60)]).unwrap();
    assert_eq!((p.regions[0].lo, p.regions[0].size, p.bounded), (there, 0x60, 0));
    let p = placed(&both[..1], &mut [base(at)], &mut accesses[..1], &[]).unwrap();
    assert!(!p.recorded_store);
}

#[test]
fn pointers_in_memory_are_followed() {
    let rows = [0x70000u64, 0, 0x90008, 12];
    let start = rows.as_ptr() as u64;
    let sites = [site(0, 8, PG_SITE_LOADS_POINTER | AFFINE), site(1, 8, STORE)];
    let mut bases = [base(start), Base { dynamic: 1, ..base(0) }];
    let mut accesses = [access(0, 0, 32), Access::default()];
    let known = [(0x70000, 64), (0x80000, 64), (0x90000, 64)];
    let p = placed(&sites, &mut bases, &mut accesses, &known).unwrap();
    let mut expected = vec![(0x70000, 64), (0x90000, 64), (start, 32)];
    expected.sort_unstable();
    assert_eq!(p.regions.iter().map(|r| (r.lo, r.size)).collect::<Vec<_>>(), expected);
    // A store without a base may go anywhere.
    assert!(p.written.iter().all(|w| *w) && p.recorded_store);
    assert_eq!(p.anchors[1], 0);
}

#[test]
fn pinned_bytes_have_cells() {
    let sites = [site(0, 4, STORE | AFFINE)];
    let p = placed(&sites, &mut [base(0x1000)], &mut [access(4, 0, 4)], &[]).unwrap();
    let pin = |address, width| Pin { address, width, kept: 0 };
    assert_eq!(
        p.pinned_cells(&[pin(0x1008, 8), pin(0xffe, 4), pin(0x2000, 8), pin(u64::MAX - 1, 8)]),
        [(2, 4), (0, 1)]
    );
}

#[test]
fn rows_go_where_neighbours_load_the_same() {
    let (row, plane) = (800i64, 80_000i64);
    let at =
        |offset: i64| Access { stride: [plane, row, 8, 0], lo: offset, hi: offset + 8, ..Access::default() };
    let loads = |offsets: &[i64], tile| {
        let accesses: Vec<Access> = offsets.iter().map(|offset| at(*offset)).collect();
        let sites: Vec<Site> = offsets.iter().map(|_| site(0, 8, AFFINE)).collect();
        across(&info(&sites, 1, 3), tile, &accesses)
    };
    let inside = Some((2, 1));
    assert_eq!(loads(&[0, -8, 8, -row, row, -plane, plane], inside), Some(0));
    assert_eq!(loads(&[0, -8, 8, -row, row, -plane, plane], Some((2, 0))), Some(1));
    assert_eq!(loads(&[0, -row, row], inside), None);
    assert_eq!(loads(&[0, 3 * plane], inside), Some(0));
    // Too far apart, between the planes, too many to look at, and no tile.
    assert_eq!(loads(&[0, 4 * plane], inside), None);
    assert_eq!(loads(&[0, plane + 8], inside), None);
    assert_eq!(loads(&(0..40).map(|n| n * plane).collect::<Vec<_>>(), inside), None);
    assert_eq!(loads(&[0, plane], None), None);
    // Stores have nothing in common, nor have loads of other bases, or such as move otherwise.
    let both = |first: Site, second: Site, other: Access| {
        across(&info(&[first, second], 2, 3), inside, &[at(0), other])
    };
    assert_eq!(both(site(0, 8, AFFINE), site(0, 8, AFFINE), at(plane)), Some(0));
    assert_eq!(both(site(0, 8, AFFINE), site(0, 8, AFFINE | STORE), at(plane)), None);
    assert_eq!(both(site(0, 8, AFFINE), site(1, 8, AFFINE), at(plane)), None);
    let moved = Access { stride: [plane, row, -8, 0], ..at(plane) };
    assert_eq!(both(site(0, 8, AFFINE), site(0, 8, AFFINE), moved), None);
    // What doesn't move from plane to plane is loaded by all.
    let still = Access { stride: [0, row, 8, 0], ..at(0) };
    assert_eq!(across(&info(&[site(0, 8, AFFINE)], 1, 3), inside, &[still]), Some(0));
    // Of four dimensions nobody knows which.
    assert_eq!(across(&info(&[site(0, 8, AFFINE)], 1, 4), inside, &[still]), None);
}
