//! Making a device's result visible: exactly the elements that the loop stored, and the scalars that it gives back.
//!
//! Only the calling thread does this, standing inside the loop's entry, after the device has passed its check and the
//! worker has stopped. An element that no iteration stored is never touched, because another thread of the program may be
//! using it.

use super::predicate::Footprint;
use crate::abi::*;
use crate::device::pool::Pool;
use crate::device::{CELLS_OF_WORD, DeviceError};
use crate::memory::buffer::Buffer;
use crate::memory::placement::Placement;
use crate::memory::writable;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What the loop wrote, in a buffer of ours, and where it belongs.
#[derive(Debug, Default)]
pub struct Pieces {
    data: Buffer,
    /// In the order of their addresses.
    parts: Vec<Part>,
}

/// `data[offset..offset + length]` belongs at `address`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Part {
    address: u64,
    offset: usize,
    length: usize,
}

/// Ranges of addresses that don't overlap, none of them empty, in their order.
pub type Ranges = Vec<(u64, u64)>;

/// What a buffer is filled with: `length` bytes of a region, which belong at `address`, at `offset`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fetch {
    /// Its number.
    pub region: usize,
    /// In the program's memory.
    pub address: u64,
    offset: usize,
    length: usize,
}

/// Ranges with less than this between them are fetched together: to queue another copy takes as long.
const NEAR: u64 = 64 << 10;

/// Rows of equal length, all of whose bytes are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rows {
    /// Where each begins.
    pub starts: Vec<u64>,
    /// Bytes.
    pub length: u64,
}

/// Rows shorter than this, in bytes, are better told by a write log ...
const SHORTEST_ROW: i128 = 64;
/// ... and so are more than this.
const MOST_ROWS: usize = 1 << 16;

/// The rows that the loop's stores write completely, if that is true of every store; those of one store lie within the hull
/// of its base, so within one region. `inspected`: what an inspection of this entry has seen stored (`inspector::Memo::stored`).
/// `None`: the write log is needed to know what was written.
///
/// # Safety
/// `entry` was filled in by generated code for `info` and is alive.
pub unsafe fn written_rows(
    info: &Info,
    entry: &Entry,
    inspected: Option<&[(u64, u64)]>,
) -> Option<Vec<Rows>> {
    // SAFETY: promised by the caller.
    let (bases, accesses) = unsafe { (entry.bases(info), entry.accesses(info)) };
    let mut all: Vec<Rows> = Vec::new();
    for (number, site) in info.sites().iter().enumerate().filter(|(_, s)| s.has(PG_SITE_STORE)) {
        if inspected.is_some() && site.has(PG_SITE_INSPECTED) {
            continue;
        }
        let base = bases.get(site.base as usize)?;
        let whole = PG_SITE_HAS_AFFINE | PG_SITE_UNCONDITIONAL | PG_SITE_EXACT;
        if site.flags & whole != whole || base.dynamic != 0 {
            return None;
        }
        let (starts, length) =
            Footprint::new(base, &accesses[number]).rows(&entry.trip, SHORTEST_ROW, MOST_ROWS)?;
        let starts: Option<Vec<u64>> = starts.into_iter().map(|start| u64::try_from(start).ok()).collect();
        let rows = Rows { starts: starts?, length: u64::try_from(length).ok()? };
        if !all.contains(&rows) {
            all.push(rows);
        }
    }
    let mut by_length: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for (lo, hi) in inspected.into_iter().flatten() {
        by_length.entry(hi - lo).or_default().push(*lo);
    }
    all.extend(by_length.into_iter().map(|(length, starts)| Rows { starts, length }));
    Some(all)
}

/// What rows cover of each region that they lie in, by its number; `None` if some row lies in none.
pub fn covered(rows: &[Rows], placement: &Placement) -> Option<Vec<(usize, Ranges)>> {
    let mut by_region: BTreeMap<usize, Ranges> = BTreeMap::new();
    for Rows { starts, length } in rows {
        for &start in starts {
            let end = start.checked_add(*length)?;
            let mut from = start;
            // What an inspection has seen stored goes on where one array ends and the next begins.
            while from < end {
                let index = placement.region_of(from)?;
                let region = &placement.regions[index];
                let to = end.min(region.lo + region.size);
                by_region.entry(index).or_default().push((from, to));
                from = to;
            }
        }
    }
    let merged = |mut ranges: Ranges| {
        ranges.sort_unstable();
        let mut parts: Ranges = Vec::new();
        for (lo, hi) in ranges {
            match parts.last_mut() {
                Some(last) if lo <= last.1 => last.1 = last.1.max(hi),
                _ => parts.push((lo, hi)),
            }
        }
        parts
    };
    Some(by_region.into_iter().map(|(index, ranges)| (index, merged(ranges))).collect())
}

/// Which cells of an array were written: a bit for each.
#[derive(Clone, Copy)]
pub struct Written<'a>(pub &'a [u32]);

impl Written<'_> {
    /// The first cell from this one on that was written, or was not; else one past the last cell.
    fn next(self, cell: usize, written: bool) -> usize {
        const CELLS: usize = CELLS_OF_WORD as usize;
        let Written(words) = self;
        let flipped = |word: u32| if written { word } else { !word };
        let (number, bit) = (cell / CELLS, cell % CELLS);
        let Some(first) = words.get(number) else { return words.len() * CELLS };
        let rest = flipped(*first) >> bit;
        if rest != 0 {
            return cell + rest.trailing_zeros() as usize;
        }
        let after = words[number + 1..].iter().position(|word| flipped(*word) != 0);
        after.map_or(words.len() * CELLS, |after| {
            let found = number + 1 + after;
            found * CELLS + flipped(words[found]).trailing_zeros() as usize
        })
    }
}

/// What was written of a region, by its write log from the cell of the region's origin on.
pub fn written(placement: &Placement, index: usize, log: Written<'_>) -> Ranges {
    let region = &placement.regions[index];
    let shift = placement.log_shift;
    let origin = region.lo & !63;
    let end = region.lo + region.size;
    let mut ranges = Vec::new();
    let mut cell = ((region.lo - origin) >> shift) as usize;
    loop {
        let start = log.next(cell, true);
        cell = log.next(start, false);
        if start == cell {
            return ranges;
        }
        let lo = (origin + ((start as u64) << shift)).max(region.lo);
        let hi = (origin + ((cell as u64) << shift)).min(end);
        if lo < hi {
            ranges.push((lo, hi));
        }
    }
}

impl Pieces {
    /// Room for what was written of each region, regions in their order, and what it has to be filled with ([`Pieces::buffers`]) before
    /// anything is stored. No memory is an error.
    pub fn new(written: &[(usize, Ranges)]) -> Result<(Pieces, Vec<Fetch>), DeviceError> {
        let mut fetches: Vec<Fetch> = Vec::new();
        let mut parts = Vec::new();
        for (region, ranges) in written {
            for &(lo, hi) in ranges {
                let last = fetches.last_mut().filter(|last| last.region == *region);
                match last.filter(|last| lo - (last.address + last.length as u64) < NEAR) {
                    Some(last) => last.length = (hi - last.address) as usize,
                    None => {
                        let end = fetches.last().map_or(0, |last| last.offset + last.length);
                        // As it lies within a line of the cache, which is how it is copied fastest.
                        let offset = end.next_multiple_of(64) + (lo % 64) as usize;
                        fetches.push(Fetch {
                            region: *region,
                            address: lo,
                            offset,
                            length: (hi - lo) as usize,
                        });
                    }
                }
                let within = fetches.last().expect("there is one");
                let offset = within.offset + (lo - within.address) as usize;
                parts.push(Part { address: lo, offset, length: (hi - lo) as usize });
            }
        }
        let bytes = fetches.last().map_or(0, |last| last.offset + last.length);
        let data = if bytes == 0 { Buffer::default() } else { Buffer::new(bytes as u64)? };
        Ok((Pieces { data, parts }, fetches))
    }

    /// Where each of the fetches that came with them goes.
    pub fn buffers(&mut self, fetches: &[Fetch]) -> Vec<&mut [u8]> {
        let (mut rest, mut at) = (&mut self.data[..], 0);
        let mut buffers = Vec::new();
        for Fetch { offset, length, .. } in fetches {
            let (buffer, behind) = rest[offset - at..].split_at_mut(*length);
            buffers.push(buffer);
            (rest, at) = (behind, offset + length);
        }
        buffers
    }

    /// What was written, as ranges of addresses in their order; `None` if they are more than `most`.
    pub fn ranges(&self, most: usize) -> Option<Ranges> {
        (self.parts.len() <= most).then(|| self.parts.iter().map(Part::range).collect())
    }

    /// Whether the program may store to all of it: otherwise the loop as it stood would have ended in the middle.
    pub fn is_writable(&self, pool: &Pool, threads: usize) -> bool {
        writable::is_writable(pool, threads, self.parts.iter().map(Part::range))
    }

    /// Stores everything, much of it with the help of `threads` threads.
    ///
    /// # Safety
    /// Every part was written by the loop whose entry the calling thread stands in, so the program may store there, and
    /// it has handed that memory to the loop.
    pub unsafe fn store(&self, pool: &Pool, threads: usize) {
        /// Bytes that one thread stores in a turn.
        const SHARE: usize = 1 << 20;
        // Each share is a list of parts with about that many bytes in all.
        let mut shares: Vec<Vec<Part>> = vec![Vec::new()];
        let mut room = SHARE;
        for part in &self.parts {
            let mut rest = *part;
            while rest.length != 0 {
                if room == 0 {
                    shares.push(Vec::new());
                    room = SHARE;
                }
                let length = rest.length.min(room);
                shares.last_mut().expect("there is one").push(Part { length, ..rest });
                room -= length;
                rest = Part {
                    address: rest.address + length as u64,
                    offset: rest.offset + length,
                    length: rest.length - length,
                };
            }
        }
        let next = AtomicUsize::new(0);
        let copy = || {
            while let Some(share) = shares.get(next.fetch_add(1, Ordering::Relaxed)) {
                for part in share {
                    let source = &self.data[part.offset..part.offset + part.length];
                    // SAFETY: promised by the caller; parts are disjoint.
                    unsafe {
                        std::ptr::copy_nonoverlapping(source.as_ptr(), part.address as *mut u8, part.length)
                    };
                }
            }
        };
        pool.run(if shares.len() > 4 { threads } else { 1 }, &copy);
    }
}

impl Part {
    fn range(&self) -> (u64, u64) {
        (self.address, self.address + self.length as u64)
    }
}

/// The identity of a reduction, which device partials start from. An extreme starts with what any value is taken instead of,
/// or what is not worth taking.
pub fn identity(info: &ResultInfo) -> Value {
    let op = match (info.op, info.how & !PG_TAKE_UNORDERED) {
        (PG_EXTREME, PG_TAKE_LESS | PG_TAKE_LESS_OR_EQUAL) => PG_MIN,
        (PG_EXTREME, _) => PG_MAX,
        (op, _) => op,
    };
    if matches!(info.ty, PG_F32 | PG_F64) {
        let number = match op {
            PG_MIN | PG_MAX if info.how & PG_TAKE_UNORDERED != 0 => f64::NAN,
            PG_ADD => -0.0,
            PG_MUL => 1.0,
            PG_MIN => f64::INFINITY,
            PG_MAX => f64::NEG_INFINITY,
            _ => 0.0,
        };
        return Value(if info.ty == PG_F32 {
            u64::from((number as f32).to_bits())
        } else {
            number.to_bits()
        });
    }
    let bits: u64 = match (op, info.ty) {
        (PG_MUL, _) => 1,
        (PG_AND, _) => u64::MAX,
        (PG_MIN, PG_I8) => i8::MAX as u64,
        (PG_MIN, PG_U8) => u8::MAX as u64,
        (PG_MIN, PG_I16) => i16::MAX as u64,
        (PG_MIN, PG_U16) => u16::MAX as u64,
        (PG_MIN, PG_I32) => i32::MAX as u64,
        (PG_MIN, PG_U32) => u32::MAX as u64,
        (PG_MIN, PG_I64) => i64::MAX as u64,
        (PG_MIN, _) => u64::MAX,
        (PG_MAX, PG_I8) => i8::MIN as i64 as u64,
        (PG_MAX, PG_I16) => i16::MIN as i64 as u64,
        (PG_MAX, PG_I32) => i32::MIN as i64 as u64,
        (PG_MAX, PG_I64) => i64::MIN as u64,
        _ => 0,
    };
    Value(narrow(bits, info.ty))
}

/// `bits` as the type holds them: sign- or zero-extended to 64 bits.
pub fn narrow(bits: u64, ty: u32) -> u64 {
    match ty {
        PG_I8 => bits as i8 as i64 as u64,
        PG_U8 => bits as u8 as u64,
        PG_I16 => bits as i16 as i64 as u64,
        PG_U16 => bits as u16 as u64,
        PG_I32 => bits as i32 as i64 as u64,
        PG_U32 | PG_F32 => bits as u32 as u64,
        _ => bits,
    }
}

/// Combines two floating-point values, each exactly as the loop's own operation would.
fn combine_floating(op: u32, ty: u32, a: Value, b: Value) -> Value {
    macro_rules! combined {
        ($float:ty, $bits:ty) => {{
            let (x, y) = (<$float>::from_bits(a.0 as $bits), <$float>::from_bits(b.0 as $bits));
            let result = match op {
                PG_ADD => x + y,
                PG_MUL => x * y,
                _ => y,
            };
            Value(u64::from(result.to_bits()))
        }};
    }
    if ty == PG_F32 { combined!(f32, u32) } else { combined!(f64, u64) }
}

/// Combines two values of a result; for last values the second stands.
pub fn combine(info: &ResultInfo, a: Value, b: Value) -> Value {
    if info.op != PG_LAST && matches!(info.ty, PG_F32 | PG_F64) {
        return combine_floating(info.op, info.ty, a, b);
    }
    let (x, y) = (narrow(a.0, info.ty), narrow(b.0, info.ty));
    let signed = matches!(info.ty, PG_I8 | PG_I16 | PG_I32 | PG_I64);
    let less = if signed { (x as i64) < (y as i64) } else { x < y };
    let bits = match info.op {
        PG_ADD => x.wrapping_add(y),
        PG_MUL => x.wrapping_mul(y),
        PG_AND => x & y,
        PG_OR => x | y,
        PG_XOR => x ^ y,
        PG_MIN => {
            if less {
                x
            } else {
                y
            }
        }
        PG_MAX => {
            if less {
                y
            } else {
                x
            }
        }
        _ => return b,
    };
    Value(narrow(bits, info.ty))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_are_identities() {
        for ty in [PG_I8, PG_U8, PG_I16, PG_U16, PG_I32, PG_U32, PG_I64, PG_U64] {
            for op in [PG_ADD, PG_MUL, PG_AND, PG_OR, PG_XOR, PG_MIN, PG_MAX] {
                let info = ResultInfo { op, ty, how: 0, with: 0 };
                for bits in [0u64, 1, 77, u64::MAX, 1 << 31, 1 << 63, 127, 128, 255] {
                    let value = Value(narrow(bits, ty));
                    assert_eq!(combine(&info, identity(&info), value), value, "op {op} type {ty} {bits}");
                    assert_eq!(combine(&info, value, identity(&info)), value, "op {op} type {ty} {bits}");
                }
            }
        }
    }

    #[test]
    fn floating_identities_are_identities() {
        for (ty, values) in [
            (PG_F64, [0.0f64, -0.0, 1.5, -2e300, f64::INFINITY].map(f64::to_bits)),
            (PG_F32, [0.0f32, -0.0, 1.5, -2e30, f32::INFINITY].map(|v| u64::from(v.to_bits()))),
        ] {
            for op in [PG_ADD, PG_MUL] {
                let info = ResultInfo { op, ty, how: 0, with: 0 };
                for bits in values {
                    assert_eq!(combine(&info, identity(&info), Value(bits)).0, bits, "op {op} type {ty}");
                    assert_eq!(combine(&info, Value(bits), identity(&info)).0, bits, "op {op} type {ty}");
                }
            }
        }
    }

    #[test]
    fn only_what_was_written_is_told() {
        let mut placement = Placement { log_shift: 2, ..Placement::default() };
        placement.regions.push(Region { lo: 1000, size: 16, ..Region::default() });
        placement.written.push(true);
        // 1000 & !63 = 960: ten cells before the region begins.
        let bits = [1 << 3 | 1 << 11 | 1 << 13];
        assert_eq!(written(&placement, 0, Written(&bits)), vec![(1004, 1008), (1012, 1016)]);
    }

    #[test]
    fn what_is_near_is_fetched_together() {
        let far = 1000 + NEAR;
        let ranges =
            [(0, vec![(1000, 1004), (1012, 1020), (far + 20, far + 21)]), (3, vec![(far + 22, far + 25)])];
        let (mut pieces, fetches) = Pieces::new(&ranges).unwrap();
        let fetch = |region, address, offset, length| Fetch { region, address, offset, length };
        assert_eq!(
            fetches,
            [
                fetch(0, 1000, 1000 % 64, 20),
                fetch(0, far + 20, 64 + 1020 % 64, 1),
                fetch(3, far + 22, 128 + 1022 % 64, 3)
            ]
        );
        let lengths: Vec<usize> = pieces.buffers(&fetches).iter().map(|buffer| buffer.len()).collect();
        assert_eq!(lengths, [20, 1, 3]);
        assert_eq!(pieces.ranges(4).unwrap(), ranges.iter().flat_map(|(_, r)| r.clone()).collect::<Vec<_>>());
        assert_eq!(pieces.ranges(3), None);
        let (nothing, fetches) = Pieces::new(&[(2, vec![])]).unwrap();
        assert!(fetches.is_empty() && nothing.ranges(0).is_some_and(|ranges| ranges.is_empty()));
    }

    #[test]
    fn runs_of_bits_are_those_of_words() {
        for seed in 0..200u64 {
            let random = |n: u64| (seed * 977 + n).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29) >> 60;
            let words: Vec<u32> = (0..96).map(|n| u32::from(random(n / (1 + seed % 40)) < 8)).collect();
            let bits: Vec<u32> = words
                .chunks(32)
                .map(|chunk| chunk.iter().rev().fold(0, |word, written| word << 1 | written))
                .collect();
            for cell in 0..=96 {
                for written in [false, true] {
                    let rest = words.get(cell..).unwrap_or_default();
                    let wanted = rest.iter().position(|word| (*word != 0) == written).unwrap_or(rest.len());
                    assert_eq!(Written(&bits).next(cell, written), cell + wanted, "{seed} {cell}");
                }
            }
        }
    }

    #[test]
    fn ranges_end_where_arrays_do() {
        let mut placement = Placement::default();
        for (lo, size) in [(1000, 16), (1016, 8), (2000, 100)] {
            placement.regions.push(Region { lo, size, ..Region::default() });
        }
        let rows = |starts: &[u64], length| [Rows { starts: starts.to_vec(), length }];
        let ranges = |starts: &[u64], length| -> Option<Ranges> {
            Some(
                covered(&rows(starts, length), &placement)?
                    .into_iter()
                    .flat_map(|(_, parts)| parts)
                    .collect(),
            )
        };
        assert_eq!(ranges(&[1004], 16), Some(vec![(1004, 1016), (1016, 1020)]));
        assert_eq!(ranges(&[1004, 2000], 8), Some(vec![(1004, 1012), (2000, 2008)]));
        assert_eq!(ranges(&[1000, 1008], 8), Some(vec![(1000, 1016)]));
        // Behind the last array, and in none.
        assert_eq!(ranges(&[1020], 8), None);
        assert_eq!(ranges(&[900], 8), None);
    }

    #[test]
    fn all_parts_are_stored_and_nothing_else() {
        let data: Vec<u8> = (0..9_000_001usize).map(|i| (i * 7) as u8).collect();
        let mut target = vec![0u8; data.len() + 300_000];
        let at = target.as_mut_ptr() as u64;
        let split = 5_000_000;
        let written =
            [(0, vec![(at + 1, at + 1 + split)]), (1, vec![(at + 7 + split, at + 100_000 + 9_000_001)])];
        let (mut pieces, fetches) = Pieces::new(&written).unwrap();
        for (fetch, buffer) in fetches.clone().iter().zip(pieces.buffers(&fetches)) {
            let from = (fetch.address - at) as usize % data.len();
            let length = buffer.len().min(data.len() - from);
            buffer[..length].copy_from_slice(&data[from..from + length]);
            buffer[length..].fill(1);
        }
        // SAFETY: the target has room for all of it.
        unsafe { pieces.store(&Pool::default(), 3) };
        let split = split as usize;
        assert_eq!(target[1..=split], data[1..=split]);
        assert_eq!(target[split + 7..data.len()], data[split + 7..]);
        assert!(target[data.len()..100_000 + 9_000_001].iter().all(|byte| *byte == 1));
        assert!(target[split + 1..split + 7].iter().chain(&target[9_100_001..]).all(|byte| *byte == 0));
    }
}
