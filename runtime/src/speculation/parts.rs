//! Results that are computed in parts: floating-point sums and products, whose order is part of the result, and extremes
//! with what goes with them (an index), where it matters which of several equal values came first.
//!
//! The iteration space is cut in the same way whoever runs it: into blocks of dimension 0, and each block into lanes, the
//! iterations of the innermost dimension modulo their number. How many blocks there are depends on nothing but trip counts.
//! Lanes are what makes this fast: they are the vectors of a core and neighbouring threads of a GPU. Each lane accumulates
//! in source order, a block's lanes are combined in pairs, blocks from the first to the last, and what the variable held
//! before the loop comes first. So a sum has the same bits on every device and with any number of threads.
//!
//! Extremes are exact in any order if it is known which iteration set them. On the calling thread they are variables like
//! any other, because it runs all iterations in source order.

use super::commit::{combine, identity, narrow};
use crate::abi::*;

/// Most blocks: with all their lanes enough threads for a GPU.
const MAX_BLOCKS: u64 = 256;

/// Estimated operations that are worth a block of their own: putting its lanes together takes 0.2 microseconds, in which some loops do 20,000.
const WORTH: u64 = 500_000;

/// Iterations of dimension 0 in each block: by the trip counts and by what the compiler says that an iteration does.
pub fn block(info: &Info, trip: &[i64; PG_MAX_DIMS]) -> i64 {
    let inner = trip[1..].iter().fold(1u64, |n, trip| n.saturating_mul(trip.unsigned_abs()));
    let worth = WORTH.div_ceil(info.work.saturating_mul(inner).max(1));
    let length = (trip[0].max(1) as u64).div_ceil(MAX_BLOCKS).max(worth);
    // In one dimension the lanes are dimension 0's, and each block begins with the first one, or all of it is within them.
    let length = match (info.n_dims <= 1, length < PG_LANES) {
        (true, true) => length.next_power_of_two(),
        (true, false) => length.next_multiple_of(PG_LANES),
        _ => length,
    };
    length as i64
}

/// Blocks that a loop has.
pub fn blocks(info: &Info, trip: &[i64; PG_MAX_DIMS]) -> i64 {
    (trip[0].max(0) as u64).div_ceil(block(info, trip) as u64) as i64
}

/// Whether any result is computed in parts.
pub fn has_parts(info: &Info) -> bool {
    info.results().iter().any(|r| r.is_accumulated() || r.op == PG_EXTREME)
}

/// Whether the order of the iterations is part of a result: then blocks are kept to, whoever runs the loop.
pub fn is_ordered(info: &Info) -> bool {
    info.results().iter().any(ResultInfo::is_accumulated)
}

/// Parts of a launch; 0 where no result is computed in parts.
pub fn count(info: &Info, trip: &[i64; PG_MAX_DIMS]) -> u64 {
    if has_parts(info) { blocks(info, trip) as u64 * PG_LANES } else { 0 }
}

/// What a launch's results start from: those of the launch, then those of each part.
pub fn launch_results(info: &Info, trip: &[i64; PG_MAX_DIMS]) -> Vec<Value> {
    let own: Vec<Value> = info.results().iter().map(identity).collect();
    let parts = count(info, trip) as usize;
    own.iter().copied().cycle().take(own.len() * (1 + parts)).collect()
}

/// The results of a loop while the calling thread (or one that runs a block of it) carries out iterations.
#[derive(Clone, Debug)]
pub struct Running {
    /// The results, then the lanes of each accumulated one.
    state: Vec<Value>,
    n_results: usize,
}

impl Running {
    /// From these values on.
    pub fn new(info: &Info, results: &[Value]) -> Running {
        let mut state = results.to_vec();
        for result in info.results().iter().filter(|r| r.is_accumulated()) {
            state.extend([identity(result); PG_LANES as usize]);
        }
        Running { state, n_results: results.len() }
    }

    /// The results so far; of accumulated ones up to the last block that is complete.
    pub fn results(&self) -> &[Value] {
        &self.state[..self.n_results]
    }

    /// Runs iterations `[begin, end)` of dimension 0 on the program's memory in source order. The order of accumulation is
    /// kept if every call goes on where the one before ended, the first at the beginning of a block.
    ///
    /// # Safety
    /// `entry` was filled in by generated code for `info`, is alive, and its memory is the caller's to change.
    pub unsafe fn run(&mut self, info: &Info, entry: &Entry, begin: i64, end: i64) {
        if self.state.len() == self.n_results {
            // SAFETY: promised by the caller.
            unsafe { (info.direct)(entry, self.state.as_mut_ptr(), begin, end) };
            return;
        }
        let block = block(info, &entry.trip);
        let mut at = begin;
        while at < end {
            let boundary = (at / block + 1).saturating_mul(block).min(entry.trip[0]);
            let stop = boundary.min(end);
            // SAFETY: promised by the caller; there are as many values as the loop's results and lanes.
            unsafe { (info.direct)(entry, self.state.as_mut_ptr(), at, stop) };
            if stop == boundary {
                self.end_block(info);
            }
            at = stop;
        }
    }

    /// Adds the lanes to the results, and clears them.
    fn end_block(&mut self, info: &Info) {
        let (results, lanes) = self.state.split_at_mut(self.n_results);
        let accumulated = info.results().iter().zip(results).filter(|(info, _)| info.is_accumulated());
        for ((info, result), lanes) in accumulated.zip(lanes.chunks_exact_mut(PG_LANES as usize)) {
            *result = combine(info, *result, in_pairs(info, lanes));
            lanes.fill(identity(info));
        }
    }
}

/// The lanes of one block combined: the first half with the second, until one is left. Those without an iteration hold the
/// identity, which changes nothing.
fn in_pairs(info: &ResultInfo, lanes: &[Value]) -> Value {
    macro_rules! halved {
        ($number:expr, $bits:expr, $combine:expr) => {{
            let mut numbers: [_; PG_LANES as usize] = std::array::from_fn(|lane| $number(&lanes[lane]));
            let mut left = &mut numbers[..];
            while left.len() > 1 {
                let (lower, upper) = left.split_at_mut(left.len() / 2);
                lower.iter_mut().zip(upper).for_each($combine);
                left = lower;
            }
            Value($bits(left[0]))
        }};
    }
    let single = |v: &Value| f32::from_bits(v.0 as u32);
    let double = |v: &Value| f64::from_bits(v.0);
    match (info.ty == PG_F32, info.op == PG_MUL) {
        (true, true) => halved!(single, |n: f32| n.to_bits().into(), |(a, b)| *a *= *b),
        (true, false) => halved!(single, |n: f32| n.to_bits().into(), |(a, b)| *a += *b),
        (false, true) => halved!(double, f64::to_bits, |(a, b)| *a *= *b),
        (false, false) => halved!(double, f64::to_bits, |(a, b)| *a += *b),
    }
}

/// Whether an extreme takes `new` instead of `old`.
fn takes(info: &ResultInfo, new: Value, old: Value) -> bool {
    use std::cmp::Ordering::{Greater, Less};
    let order = match info.ty {
        PG_F32 => f32::from_bits(new.0 as u32).partial_cmp(&f32::from_bits(old.0 as u32)),
        PG_F64 => f64::from_bits(new.0).partial_cmp(&f64::from_bits(old.0)),
        PG_I8 | PG_I16 | PG_I32 | PG_I64 => {
            Some((narrow(new.0, info.ty) as i64).cmp(&(narrow(old.0, info.ty) as i64)))
        }
        _ => Some(narrow(new.0, info.ty).cmp(&narrow(old.0, info.ty))),
    };
    let Some(order) = order else { return info.how & PG_TAKE_UNORDERED != 0 };
    match info.how & !PG_TAKE_UNORDERED {
        PG_TAKE_LESS => order == Less,
        PG_TAKE_LESS_OR_EQUAL => order != Greater,
        PG_TAKE_GREATER => order == Greater,
        _ => order != Less,
    }
}

/// Goes on from `total` with the results of iterations that came after it: those of a block that was run from identities.
/// Last values are the later ones.
pub fn go_on(info: &Info, total: &mut [Value], block: &[Value]) {
    let mut number = 0;
    while let Some(result) = info.results().get(number) {
        let group = number..number + 1 + if result.op == PG_EXTREME { result.with as usize } else { 0 };
        if result.op == PG_EXTREME {
            let when = block[number + 1].0;
            // After a NaN that was taken it doesn't matter what came before.
            if when & PG_TOOK_NAN != 0 || when != 0 && takes(result, block[number], total[number]) {
                total[group.clone()].copy_from_slice(&block[group.clone()]);
            }
        } else {
            total[number] = combine(result, total[number], block[number]);
        }
        number = group.end;
    }
}

/// The loop's results from those at its entry and a launch's: see [`launch_results`].
pub fn conclude(info: &Info, trip: &[i64; PG_MAX_DIMS], at_entry: &[Value], launch: &[Value]) -> Vec<Value> {
    let n = info.results().len();
    let mut total = at_entry.to_vec();
    for (number, result) in info.results().iter().enumerate() {
        if !result.is_accumulated() && !matches!(result.op, PG_EXTREME | PG_FOLLOWS) {
            total[number] = combine(result, total[number], launch[number]);
        }
    }
    if count(info, trip) == 0 {
        return total;
    }
    for lanes in launch[n..].chunks_exact(n * PG_LANES as usize) {
        for (number, result) in info.results().iter().enumerate() {
            let group = number..number + 1 + result.with as usize;
            if result.is_accumulated() {
                let column: Vec<Value> = lanes.iter().skip(number).step_by(n).copied().collect();
                total[number] = combine(result, total[number], in_pairs(result, &column));
            } else if result.op == PG_EXTREME {
                // Where a NaN was taken the launch has failed: only source order knows what follows from it.
                let mut set: Vec<&[Value]> =
                    lanes.chunks_exact(n).filter(|lane| lane[number + 1].0 != 0).collect();
                set.sort_by_key(|lane| lane[number + 1].0);
                for lane in set {
                    if takes(result, lane[number], total[number]) {
                        total[group.clone()].copy_from_slice(&lane[group.clone()]);
                    }
                }
            }
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FACTS: [ResultInfo; 3] = [
        ResultInfo { op: PG_ADD, ty: PG_F64, how: 0, with: 0 },
        ResultInfo { op: PG_EXTREME, ty: PG_F64, how: PG_TAKE_GREATER, with: 1 },
        ResultInfo { op: PG_FOLLOWS, ty: PG_U64, how: 0, with: 0 },
    ];

    thread_local! {
        /// What [`direct`] adds up and looks at.
        static NUMBERS: std::cell::RefCell<Vec<f64>> = const { std::cell::RefCell::new(Vec::new()) };
    }

    /// A sum and a maximum of [`NUMBERS`], as generated code has them.
    ///
    /// # Safety
    /// `results` has the three results and the lanes of the first.
    unsafe extern "C" fn direct(_: *const Entry, results: *mut Value, begin: i64, end: i64) {
        // SAFETY: promised by the caller.
        let state = unsafe { std::slice::from_raw_parts_mut(results, 3 + PG_LANES as usize) };
        NUMBERS.with_borrow(|numbers| {
            for k in begin..end {
                let (number, lane) = (numbers[k as usize], 3 + (k as u64 % PG_LANES) as usize);
                state[lane] = Value((f64::from_bits(state[lane].0) + number).to_bits());
                if number > f64::from_bits(state[1].0) {
                    (state[1], state[2]) = (Value(number.to_bits()), Value(k as u64 + 1));
                }
            }
        });
    }

    fn info(work: u64, n_dims: u32) -> Info {
        Info {
            abi: PG_ABI_VERSION,
            verdict: PG_PARALLEL,
            check: PG_CHECK_NONE,
            flags: 0,
            file: std::ptr::null(),
            function: std::ptr::null(),
            line: 0,
            n_dims,
            n_values: 0,
            n_results: FACTS.len() as u32,
            n_bases: 0,
            n_sites: 0,
            n_pairs: 0,
            n_pins: 0,
            work,
            sites: std::ptr::null(),
            pairs: std::ptr::null(),
            results: FACTS.as_ptr(),
            cuda_body: std::ptr::null(),
            direct,
            device: None,
            recipe: std::ptr::null(),
            inspect: None,
            keys: std::ptr::null(),
            n_keys: 0,
            search: None,
            searched: std::ptr::null(),
            n_searched: 0,
        }
    }

    fn entry(info: &Info, trip: i64) -> Entry {
        let none = std::ptr::null_mut();
        Entry {
            info,
            trip: [trip, 1, 1, 1],
            values: none,
            results: none,
            bases: std::ptr::null_mut(),
            accesses: std::ptr::null_mut(),
            pins: std::ptr::null_mut(),
        }
    }

    /// What a device makes of [`NUMBERS`]: each part by itself.
    fn launch(info: &Info, trip: &[i64; PG_MAX_DIMS]) -> Vec<Value> {
        let mut results = launch_results(info, trip);
        let block = block(info, trip);
        NUMBERS.with_borrow(|numbers| {
            for part in 0..count(info, trip) {
                let (first, lane) = ((part / PG_LANES) as i64 * block, (part % PG_LANES) as i64);
                let own = &mut results[3 * (1 + part as usize)..][..3];
                for k in (first + lane..(first + block).min(trip[0])).step_by(PG_LANES as usize) {
                    let number = numbers[k as usize];
                    own[0] = Value((f64::from_bits(own[0].0) + number).to_bits());
                    if number > f64::from_bits(own[1].0) {
                        (own[1], own[2]) = (Value(number.to_bits()), Value(k as u64 + 1));
                    }
                }
            }
        });
        results
    }

    proptest! {
        #[test]
        fn everybody_gives_the_same_bits(
            trip in 1i64..40_000, work in 1u64..2000, seed in any::<u64>(), strip in 1i64..5000, first in 0i64..40
        ) {
            let mut state = seed | 1;
            let mut next = || {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                state >> 40
            };
            let numbers: Vec<f64> = (0..trip).map(|_| match next() % 4 {
                0 => 0.0,
                1 => -0.0,
                _ => (next() % 1000) as f64 / 7.0 - 60.0,
            }).collect();
            let right: f64 = numbers.iter().sum();
            let greatest = numbers.iter().enumerate().fold((-1.0, 0), |m, (k, v)| if *v > m.0 { (*v, k + 1) } else { m });
            NUMBERS.set(numbers);
            let (info, at_entry) = (info(work, 1), [Value(1.5f64.to_bits()), Value((-1.0f64).to_bits()), Value(0)]);
            let entry = entry(&info, trip);
            // In strips, as the worker.
            let mut running = Running::new(&info, &at_entry);
            for begin in (0..trip).step_by(strip as usize) {
                // SAFETY: `direct` touches nothing of the entry.
                unsafe { running.run(&info, &entry, begin, trip.min(begin + strip)) };
            }
            let worker = running.results().to_vec();
            prop_assert!((f64::from_bits(worker[0].0) - right - 1.5).abs() < 1e-7);
            prop_assert_eq!(f64::from_bits(worker[1].0).to_bits(), greatest.0.to_bits());
            prop_assert_eq!(worker[2].0, greatest.1 as u64);
            // On a device, by lanes.
            prop_assert_eq!(&conclude(&info, &entry.trip, &at_entry, &launch(&info, &entry.trip)), &worker);
            // In place: some blocks by the calling thread, each other one for itself.
            let block = block(&info, &entry.trip);
            let sampled = (first * block).min(trip);
            let mut running = Running::new(&info, &at_entry);
            // SAFETY: as above.
            unsafe { running.run(&info, &entry, 0, sampled) };
            let mut total = running.results().to_vec();
            let identities: Vec<Value> = FACTS.iter().map(identity).collect();
            for begin in (sampled..trip).step_by(block as usize) {
                let mut running = Running::new(&info, &identities);
                // SAFETY: as above.
                unsafe { running.run(&info, &entry, begin, trip.min(begin + block)) };
                go_on(&info, &mut total, running.results());
            }
            prop_assert_eq!(&total, &worker);
        }
    }

    #[test]
    fn blocks_are_whole_groups_of_lanes_or_parts_of_one() {
        for work in [1, 5, 100, 3000, 60_000, u64::MAX] {
            let info = info(work, 1);
            for trip in [1, 2, 63, 64, 255, 256, 257, 4096, 65_535, 1 << 20, 123_456_789, i64::MAX] {
                let trip = [trip, 1, 1, 1];
                let length = block(&info, &trip) as u64;
                assert!(length.is_multiple_of(PG_LANES) || PG_LANES.is_multiple_of(length), "{length}");
                assert!(count(&info, &trip) <= 256 * PG_LANES);
                let covered = u128::from(count(&info, &trip) / PG_LANES) * u128::from(length);
                assert!(covered >= trip[0] as u128 && covered - u128::from(length) < trip[0] as u128);
            }
        }
    }

    #[test]
    fn a_nan_that_was_taken_forgets_what_came_before() {
        let facts = [
            ResultInfo { op: PG_EXTREME, ty: PG_F64, how: PG_TAKE_GREATER | PG_TAKE_UNORDERED, with: 1 },
            ResultInfo { op: PG_FOLLOWS, ty: PG_U64, how: 0, with: 0 },
        ];
        let info = Info { n_results: 2, results: facts.as_ptr(), ..info(1, 1) };
        let state = |number: f64, when: u64| [Value(number.to_bits()), Value(when)];
        let after = |mut total: [Value; 2], block: [Value; 2]| {
            go_on(&info, &mut total, &block);
            f64::from_bits(total[0].0)
        };
        assert_eq!(after(state(9.0, 0), state(4.0, 7)), 9.0);
        assert_eq!(after(state(9.0, 0), state(4.0, 7 | PG_TOOK_NAN)), 4.0);
        assert_eq!(after(state(f64::NAN, 0), state(4.0, 7)), 4.0);
        assert_eq!(after(state(9.0, 0), state(f64::NAN, 0)), 9.0);
    }
}
