//! Making a device's result visible: exactly the elements that the loop stored, and the scalars that it gives back.
//!
//! Only the calling thread does this, standing inside the loop's entry, after the device has passed its check and the
//! worker has stopped. An element that no iteration stored is never touched, because another thread of the program may be
//! using it.

use super::written::{Ranges, Written};
use crate::abi::*;
use crate::device::DeviceError;
use crate::device::pool::Pool;
use crate::memory::buffer::Buffer;
use crate::memory::writable;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What the loop wrote, in a buffer of ours, and where it belongs.
#[derive(Debug, Default)]
pub struct Pieces {
    data: Buffer,
    /// Of each region, in their order.
    written: Vec<Written>,
    fetches: Vec<Fetch>,
}

/// What a buffer is filled with: `length` bytes of a region, which belong at `address`, at `offset`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fetch {
    /// Its number.
    pub region: usize,
    /// In the program's memory.
    pub address: u64,
    offset: usize,
    length: usize,
    /// The number of what was written there.
    written: usize,
}

/// What is written is fetched by such blocks of addresses: to queue another copy takes as long.
const NEAR: u64 = 64 << 10;

impl Pieces {
    /// Room for what was written of each region, regions in their order, to be filled with what [`Pieces::fetches`] says before
    /// anything is stored. No memory is an error.
    pub fn new(written: Vec<(usize, Written)>) -> Result<Pieces, DeviceError> {
        let mut fetches: Vec<Fetch> = Vec::new();
        for (number, (region, written)) in written.iter().enumerate() {
            let (mut at, end) = written.hull();
            while let Some(address) = written.first(at, end) {
                at = (address / NEAR + 1) * NEAR;
                while written.first(at, end.min(at + NEAR)).is_some() {
                    at += NEAR;
                }
                let before = fetches.last().map_or(0, |last| last.offset + last.length);
                // As it lies within a line of the cache, which is how it is copied fastest.
                let offset = before.next_multiple_of(64) + (address % 64) as usize;
                let length = (at.min(end) - address) as usize;
                fetches.push(Fetch { region: *region, address, offset, length, written: number });
            }
        }
        let bytes = fetches.last().map_or(0, |last| last.offset + last.length);
        let data = if bytes == 0 { Buffer::default() } else { Buffer::new(bytes as u64)? };
        let written = written.into_iter().map(|(_, written)| written).collect();
        Ok(Pieces { data, written, fetches })
    }

    /// What they are to be filled with.
    pub fn fetches(&self) -> &[Fetch] {
        &self.fetches
    }

    /// Where each of these goes.
    pub fn buffers(&mut self) -> Vec<&mut [u8]> {
        let (mut rest, mut at) = (&mut self.data[..], 0);
        let mut buffers = Vec::new();
        for Fetch { offset, length, .. } in &self.fetches {
            let (buffer, behind) = rest[offset - at..].split_at_mut(*length);
            buffers.push(buffer);
            (rest, at) = (behind, offset + length);
        }
        buffers
    }

    /// What was written, as ranges of addresses in their order; `None` if they are more than `most`.
    pub fn ranges(&self, most: usize) -> Option<Ranges> {
        let mut all = Ranges::new();
        for written in &self.written {
            let (lo, hi) = written.hull();
            for range in written.ranges(lo, hi) {
                if all.len() == most {
                    return None;
                }
                all.push(range);
            }
        }
        Some(all)
    }

    /// Whether the program may store to all of it: otherwise the loop as it stood would have ended in the middle.
    pub fn is_writable(&self, pool: &Pool, threads: usize) -> bool {
        writable::is_writable(pool, threads, self.written.iter().flat_map(Written::by_pages))
    }

    /// Stores everything, much of it with the help of `threads` threads.
    ///
    /// # Safety
    /// All of it was written by the loop whose entry the calling thread stands in, so the program may store there, and
    /// it has handed that memory to the loop.
    pub unsafe fn store(&self, pool: &Pool, threads: usize) {
        /// Bytes that one thread goes through in a turn.
        const SHARE: usize = 1 << 20;
        let shares: Vec<(&Fetch, usize)> = self
            .fetches
            .iter()
            .flat_map(|fetch| (0..fetch.length).step_by(SHARE).map(move |from| (fetch, from)))
            .collect();
        let next = AtomicUsize::new(0);
        let copy = || {
            while let Some((fetch, from)) = shares.get(next.fetch_add(1, Ordering::Relaxed)) {
                let (lo, hi) =
                    (fetch.address + *from as u64, fetch.address + fetch.length.min(from + SHARE) as u64);
                for (lo, hi) in self.written[fetch.written].ranges(lo, hi) {
                    let offset = fetch.offset + (lo - fetch.address) as usize;
                    let source = &self.data[offset..offset + (hi - lo) as usize];
                    // SAFETY: promised by the caller; ranges are disjoint.
                    unsafe {
                        std::ptr::copy_nonoverlapping(source.as_ptr(), lo as *mut u8, source.len());
                    }
                }
            }
        };
        pool.run(if shares.len() > 4 { threads } else { 1 }, &copy);
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
    fn what_is_near_is_fetched_together() {
        let at = 10 * NEAR;
        let first =
            vec![(at + 1000, at + 1004), (at + 1012, at + NEAR + 3), (at + 4 * NEAR - 1, at + 4 * NEAR)];
        let second = vec![(at + 4 * NEAR + 22, at + 4 * NEAR + 25)];
        let ranges = vec![(0, Written::Ranges(first.clone())), (3, Written::Ranges(second.clone()))];
        let mut pieces = Pieces::new(ranges).unwrap();
        let fetch =
            |region, address, offset, length, written| Fetch { region, address, offset, length, written };
        let behind = (1000 % 64 + 2 * NEAR as usize - 1000).next_multiple_of(64);
        assert_eq!(
            pieces.fetches(),
            [
                fetch(0, at + 1000, 1000 % 64, 2 * NEAR as usize - 1000, 0),
                fetch(0, at + 4 * NEAR - 1, behind + 63, 1, 0),
                fetch(3, at + 4 * NEAR + 22, behind + 64 + 22, 3, 1),
            ]
        );
        let lengths: Vec<usize> = pieces.buffers().iter().map(|buffer| buffer.len()).collect();
        assert_eq!(lengths, [2 * NEAR as usize - 1000, 1, 3]);
        assert_eq!(pieces.ranges(4), Some([first, second].concat()));
        assert_eq!(pieces.ranges(3), None);
        let nothing = Pieces::new(vec![(2, Written::Ranges(vec![]))]).unwrap();
        assert!(nothing.fetches().is_empty() && nothing.ranges(0).is_some_and(|ranges| ranges.is_empty()));
        assert!(nothing.is_writable(&Pool::default(), 1));
    }

    #[test]
    fn all_parts_are_stored_and_nothing_else() {
        let length = 9_300_001usize;
        let mut target = vec![0u8; length];
        let at = target.as_mut_ptr() as u64;
        let value = |address: u64| (address - at).wrapping_mul(7) as u8 | 1;
        // Dense, with holes, and with holes that are wider than what is fetched together.
        let dense = vec![(at + 1, at + 5_000_001)];
        let sparse: Ranges =
            (0..4000u64).map(|n| at + 5_000_010 + n * 1000).map(|lo| (lo, lo + 1 + lo % 700)).collect();
        let few = vec![(at + 9_100_000, at + 9_100_003), (at + 9_290_000, at + 9_290_001)];
        let all: Vec<Ranges> = vec![dense, sparse, few];
        let written =
            all.iter().cloned().enumerate().map(|(region, ranges)| (region, Written::Ranges(ranges)));
        let mut pieces = Pieces::new(written.collect()).unwrap();
        let fetches = pieces.fetches().to_vec();
        for (fetch, buffer) in fetches.iter().zip(pieces.buffers()) {
            for (byte, address) in buffer.iter_mut().zip(fetch.address..) {
                *byte = value(address);
            }
        }
        assert!(pieces.is_writable(&Pool::default(), 2));
        // SAFETY: the target has room for all of it.
        unsafe { pieces.store(&Pool::default(), 3) };
        let mut expected = vec![0u8; length];
        for (lo, hi) in all.into_iter().flatten() {
            (lo..hi).for_each(|address| expected[(address - at) as usize] = value(address));
        }
        assert!(target == expected);
    }
}
