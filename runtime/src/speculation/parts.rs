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

/// Estimated operations that are worth a block of their own: putting its lanes together takes a thousand.
const WORTH: u64 = 50_000;

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
            let mut numbers: Vec<_> = lanes.iter().map($number).collect();
            while numbers.len() > 1 {
                let upper = numbers.split_off(numbers.len() / 2);
                numbers.iter_mut().zip(upper).for_each($combine);
            }
            Value($bits(numbers[0]))
        }};
    }
    let single = |v: &Value| f32::from_bits(v.0 as u32);
    let double = |v: &Value| f64::from_bits(v.0);
    match (info.ty == PG_F32, info.op == PG_MUL) {
        (true, true) => halved!(single, |n: f32| n.to_bits().into(), |(a, b)| *a *= b),
        (true, false) => halved!(single, |n: f32| n.to_bits().into(), |(a, b)| *a += b),
        (false, true) => halved!(double, f64::to_bits, |(a, b)| *a *= b),
        (false, false) => halved!(double, f64::to_bits, |(a, b)| *a += b),
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
