//! What a kernel has at hand: values, arrays of bases, and numbers to divide by trip counts with; `struct __pg_tables` of a
//! loop's text. It is a parameter of the kernel, which costs next to nothing to read, unless it is too large for that.

use crate::abi::{
    Info, PG_LOOP_DYNAMIC, PG_LOOP_UPDATES, PG_MAX_DIMS, PG_NO_LOG, PG_SITE_SNAPSHOT, RawLaunch, Region,
};
use crate::device::collected::Rooms;
use crate::device::{Launch, LogMethod, Specialisation};

/// The driver's own parameters, in front of a kernel's, on compute capability 9.0; and what a processor waits for at once. What kernels have at hand that are given
/// all of it begins with such a piece (`apart` of `struct __pg_launch`).
const DRIVERS_OWN: usize = 0x210;
const PIECE: usize = 64;
const _: () = assert!((DRIVERS_OWN + size_of::<RawLaunch>()).is_multiple_of(PIECE));

/// What fits beside `struct __pg_launch` into the 4096 bytes that every driver takes.
pub const MOST_IN_PARAMETERS: usize = 3584;

/// How much of its launch and tables a kernel is given, from their beginnings on. Parameters take time in front of the kernel's first instruction: 0.4 microseconds for 136 bytes less
/// where it is rows' (docs/measurements/2026-11-30-in-place.md).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Given {
    /// The head of the launch, and how far arrays have moved, and values.
    Moves = 1,
    /// The space of the launch as well, and where arrays lie.
    Locations,
    /// Numbers to divide by trip counts with as well.
    Divisors,
    /// And sizes of arrays.
    Sizes,
    /// All of it.
    All,
    /// All of it, and the tables are not parameters.
    Far,
}

impl Given {
    /// What a loop's kernel may ask for.
    pub fn of(info: &Info, kernel: &Specialisation) -> Given {
        /// What comes to arrays by other ways than a base, or has more than arrays.
        const MORE: u32 = PG_LOOP_UPDATES | PG_LOOP_DYNAMIC;
        if bytes(info) > MOST_IN_PARAMETERS {
            return Given::Far;
        }
        let has_snapshots = info.sites().iter().any(|site| site.has(PG_SITE_SNAPSHOT));
        let is_plain = kernel.method == LogMethod::None && kernel.collects == 0 && info.n_results == 0;
        // There are no more bases than bits, or the tables would be too large.
        let all = u64::MAX.checked_shr(64 - info.n_bases.min(64)).unwrap_or(0);
        let is_known = all & !(kernel.bounded | kernel.inside) == 0;
        match is_plain && !has_snapshots && !info.has(MORE) {
            false => Given::All,
            true if !is_known => Given::Sizes,
            true if info.n_dims > 1 => Given::Divisors,
            // What else goes by how far arrays have moved loads more slowly by it (ger: each turn's load behind the turn before it).
            true if kernel.lends && kernel.spread > 1 && kernel.group == (1, 1) && kernel.tile.is_none() => {
                Given::Moves
            }
            true => Given::Locations,
        }
    }
}

/// Size of a loop's tables. There is one value and one view at least: C++ has no arrays without elements.
pub fn bytes(info: &Info) -> usize {
    8 * info.n_values.max(1) as usize
        + (size_of::<Region>() + 8) * info.n_bases.max(1) as usize
        + 2 * 4 * PG_MAX_DIMS
        + if info.has(PG_LOOP_UPDATES) { BYTES_OF_SLOTS * info.n_bases.max(1) as usize } else { 0 }
}

/// Of `struct __pg_collection`.
const BYTES_OF_SLOTS: usize = 16;

/// The tables of a launch. `nowhere`: memory of the GPU's that is there, for bases which have no array.
pub fn words(launch: &Launch<'_>, nowhere: u64, rooms: &Rooms) -> Vec<u64> {
    let none = [Region::default()];
    let of_bases: Vec<Region> =
        launch.anchors.iter().map(|anchor| region(launch.regions, *anchor, nowhere)).collect();
    let views = if of_bases.is_empty() { &none[..] } else { &of_bases };
    let mut words: Vec<u64> = views.iter().map(|view| view.dev.wrapping_sub(view.lo)).collect();
    words.extend(launch.values.iter().map(|value| value.0));
    if launch.values.is_empty() {
        words.push(0);
    }
    words.extend(views.iter().flat_map(|view| [view.lo, view.dev]));
    let divisors = launch.trip.map(|trip| u32::try_from(trip).map_or((0, 0), divisor));
    let pairs = |pick: fn((u32, u32)) -> u32| {
        divisors.chunks(2).map(move |two| u64::from(pick(two[0])) | u64::from(pick(two[1])) << 32)
    };
    words.extend(pairs(|(multiplier, _)| multiplier));
    words.extend(pairs(|(_, shift)| shift));
    words.extend(views.iter().map(|view| view.size));
    words.extend(views.iter().map(|view| view.log));
    words.extend(views.iter().flat_map(|view| [view.snapshot, view.before]));
    if launch.info.has(PG_LOOP_UPDATES) {
        for slots in &rooms.slots {
            words
                .extend([u64::from(slots.first) | u64::from(slots.bytes) << 32, u64::from(slots.hands_over)]);
        }
        if rooms.slots.is_empty() {
            words.extend([0; BYTES_OF_SLOTS / 8]);
        }
    }
    words
}

/// The region that an address lies in; one without room where there is none, so that every access fails its check. Loads happen all the
/// same, anywhere in its memory.
fn region(regions: &[Region], address: u64, nowhere: u64) -> Region {
    let after = regions.partition_point(|region| region.lo <= address);
    let found = after.checked_sub(1).map(|index| regions[index]);
    found.filter(|region| address - region.lo < region.size).unwrap_or(Region {
        log: PG_NO_LOG,
        dev: nowhere,
        snapshot: nowhere,
        before: nowhere,
        ..Region::default()
    })
}

/// Multiplier and shift for division by `by` (1 to 2^31) of numbers below 2^31: `(high(n * multiplier) + n) >> shift`.
///
/// T. Granlund, P. L. Montgomery: Division by Invariant Integers using Multiplication. PLDI 1994, section 4.
fn divisor(by: u32) -> (u32, u32) {
    if by == 0 || by > 1 << 31 {
        return (0, 0);
    }
    let shift = 32 - (by - 1).leading_zeros();
    let multiplier = ((1u64 << 32) * ((1u64 << shift) - u64::from(by)) / u64::from(by) + 1) as u32;
    (multiplier, shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_call_what_is_given_the_same() {
        let named = [
            ("MOVES", Given::Moves),
            ("LOCATIONS", Given::Locations),
            ("DIVISORS", Given::Divisors),
            ("SIZES", Given::Sizes),
            ("ALL", Given::All),
        ];
        for (name, given) in named {
            let line = format!("#define PG_GIVEN_{name} {}", given as u32);
            assert!(crate::texts::BODY.contains(&line), "{line}");
        }
    }

    /// What isn't given is nothing that the kernel asks for: logs, results, arrays without a base, sizes of arrays that are checked, trip counts to divide by.
    #[test]
    fn kernels_are_given_what_they_ask_for() {
        let site = |flags| [crate::abi::Site { base: 0, width: 4, flags, line: 1, slot: 0 }];
        let (plain, snapshot) = (site(0), site(PG_SITE_SNAPSHOT));
        let info =
            |n_dims| Info { n_bases: 2, n_dims, n_sites: 1, sites: plain.as_ptr(), ..crate::abi::nothing() };
        let none = Specialisation::none(LogMethod::None);
        let known = Specialisation { bounded: 1, inside: 2, ..none };
        assert_eq!(Given::of(&info(1), &known), Given::Locations);
        let lends = Specialisation { lends: true, spread: 4, ..known };
        assert_eq!(Given::of(&info(1), &lends), Given::Moves);
        assert_eq!(Given::of(&info(1), &Specialisation { spread: 1, ..lends }), Given::Locations);
        assert_eq!(Given::of(&info(2), &lends), Given::Divisors);
        assert_eq!(Given::of(&info(1), &Specialisation { group: (1, 4), ..lends }), Given::Locations);
        assert_eq!(Given::of(&info(1), &Specialisation { tile: Some((0, 1)), ..lends }), Given::Locations);
        assert_eq!(Given::of(&info(2), &known), Given::Divisors);
        assert_eq!(Given::of(&info(1), &Specialisation { inside: 0, ..known }), Given::Sizes);
        assert_eq!(Given::of(&Info { n_bases: 60, ..info(1) }, &known), Given::Sizes);
        let all = Specialisation { bounded: u64::MAX, ..none };
        assert_eq!(Given::of(&Info { n_bases: 60, ..info(1) }, &all), Given::Locations);
        assert_eq!(Given::of(&Info { n_bases: 64, ..info(1) }, &all), Given::Far);
        for method in [LogMethod::Mark, LogMethod::Bitmap, LogMethod::Stamp, LogMethod::Atomic] {
            assert_eq!(Given::of(&info(1), &Specialisation { method, ..known }), Given::All);
        }
        let asks = [
            Info { n_results: 1, ..info(1) },
            Info { flags: PG_LOOP_UPDATES, ..info(1) },
            Info { flags: PG_LOOP_DYNAMIC, ..info(1) },
            Info { sites: snapshot.as_ptr(), ..info(1) },
        ];
        asks.iter().for_each(|info| assert_eq!(Given::of(info, &known), Given::All));
    }

    #[test]
    fn division_is_exact() {
        let most = (1u32 << 31) - 1;
        let near = |n: u32| (n.saturating_sub(2)..=n.saturating_add(2)).collect::<Vec<_>>();
        let divisors = (0..31).flat_map(|bit| near(1 << bit)).chain([3_000_017, 999_999_937, most, 1 << 31]);
        for by in divisors.filter(|by| (1..=1 << 31).contains(by)) {
            let (multiplier, shift) = divisor(by);
            let quotients = [1u64, 2, 3, 1000, u64::from(most / by), u64::from(most / by / 2)];
            let edges =
                quotients.map(|q| q * u64::from(by)).into_iter().flat_map(|n| n.saturating_sub(2)..n + 2);
            for n in edges.chain([0, u64::from(most)]).filter(|n| *n <= u64::from(most)).map(|n| n as u32) {
                let high = ((u64::from(n) * u64::from(multiplier)) >> 32) as u32;
                assert_eq!((high + n) >> shift, n / by, "{n} / {by}");
            }
        }
    }
}
