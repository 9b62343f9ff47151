//! Making a device's result visible: exactly the elements that the loop stored, and the scalars that it gives back.
//!
//! Only the calling thread does this, standing inside the loop's entry, after the device has passed its check and the
//! worker has stopped. An element that no iteration stored is never touched, because another thread of the program may be
//! using it.

use super::predicate::Footprint;
use crate::abi::*;
use crate::memory::placement::Placement;

/// Bytes to be stored at host addresses.
#[derive(Debug, Default)]
pub struct Pieces {
    /// Host address and what to store there.
    pub pieces: Vec<(u64, Vec<u8>)>,
}

/// The ranges that the loop's stores write completely, if that is true of every store: sorted and merged. `None`: the
/// write log is needed to know what was written.
///
/// # Safety
/// `entry` was filled in by generated code for `info` and is alive.
pub unsafe fn dense_ranges(info: &Info, entry: &Entry) -> Option<Vec<(u64, u64)>> {
    // SAFETY: promised by the caller.
    let (bases, accesses) = unsafe { (entry.bases(info), entry.accesses(info)) };
    let mut ranges = Vec::new();
    for (number, site) in info.sites().iter().enumerate().filter(|(_, s)| s.has(PG_SITE_STORE)) {
        let base = bases.get(site.base as usize)?;
        let whole = PG_SITE_HAS_AFFINE | PG_SITE_UNCONDITIONAL | PG_SITE_EXACT;
        if site.flags & whole != whole || base.dynamic != 0 {
            return None;
        }
        let (lo, hi) = Footprint::new(base, &accesses[number]).dense(&entry.trip)?;
        ranges.push((u64::try_from(lo).ok()?, u64::try_from(hi).ok()?));
    }
    ranges.sort_unstable();
    let mut merged: Vec<(u64, u64)> = Vec::new();
    for (lo, hi) in ranges {
        match merged.last_mut() {
            Some(last) if lo <= last.1 => last.1 = last.1.max(hi),
            _ => merged.push((lo, hi)),
        }
    }
    Some(merged)
}

/// The written parts of one region, by its write log (one word for each cell, not 0 where written).
pub fn written_pieces(placement: &Placement, index: usize, log: &[u32], data: Vec<u8>, out: &mut Pieces) {
    let region = &placement.regions[index];
    let shift = placement.log_shift;
    let origin = region.lo & !63;
    let first_cell = (region.lo - origin) >> shift;
    let mut cell = first_cell as usize;
    let end = region.lo + region.size;
    while cell < log.len() {
        if log[cell] == 0 {
            cell += 1;
            continue;
        }
        let start = cell;
        while cell < log.len() && log[cell] != 0 {
            cell += 1;
        }
        let lo = (origin + ((start as u64) << shift)).max(region.lo);
        let hi = (origin + ((cell as u64) << shift)).min(end);
        if lo < hi {
            let bytes = data[(lo - region.lo) as usize..(hi - region.lo) as usize].to_vec();
            out.pieces.push((lo, bytes));
        }
    }
}

impl Pieces {
    /// Stores everything.
    ///
    /// # Safety
    /// Every piece was written by the loop whose entry the calling thread stands in, so the program may store there, and
    /// it has handed that memory to the loop.
    pub unsafe fn store(&self) {
        for (address, bytes) in &self.pieces {
            // SAFETY: promised by the caller.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), *address as *mut u8, bytes.len()) };
        }
    }
}

/// The identity of a reduction, which device partials start from.
pub fn identity(info: &ResultInfo) -> Value {
    let bits: u64 = match (info.op, info.ty) {
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
fn narrow(bits: u64, ty: u32) -> u64 {
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

/// Combines two values of a result; for last values the second stands.
pub fn combine(info: &ResultInfo, a: Value, b: Value) -> Value {
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
                let info = ResultInfo { op, ty };
                for bits in [0u64, 1, 77, u64::MAX, 1 << 31, 1 << 63, 127, 128, 255] {
                    let value = Value(narrow(bits, ty));
                    assert_eq!(combine(&info, identity(&info), value), value, "op {op} type {ty} {bits}");
                    assert_eq!(combine(&info, value, identity(&info)), value, "op {op} type {ty} {bits}");
                }
            }
        }
    }

    #[test]
    fn only_what_was_written_is_copied() {
        let mut placement = Placement { log_shift: 2, ..Placement::default() };
        placement.regions.push(Region { lo: 1000, size: 16, dev: 0, log: 0 });
        placement.written.push(true);
        // 1000 & !63 = 960: ten cells before the region begins.
        let mut log = vec![0u32; 15];
        log[11] = 5;
        log[13] = 7;
        let mut out = Pieces::default();
        written_pieces(&placement, 0, &log, (0..16).collect(), &mut out);
        assert_eq!(out.pieces, vec![(1004, vec![4, 5, 6, 7]), (1012, vec![12, 13, 14, 15])]);
    }
}
