//! Rules about types that need no syntax: integer promotion, the usual arithmetic conversions, and where the x86-64
//! System V ABI (as gcc follows it) puts the members of a record.
//!
//! Not here: reading declarations (`c::lower`), and the types themselves ([`super::hir::Types`]).

use super::hir::{FloatKind, IntKind, QualType, Quals, TypeId};

/// A type without qualifiers.
pub fn plain(ty: TypeId) -> QualType {
    QualType { ty, quals: Quals::default() }
}

/// The type that an integer is promoted to before arithmetic.
pub fn promoted(kind: IntKind) -> IntKind {
    use IntKind::*;
    match kind {
        Bool | Char | SChar | UChar | Short | UShort => Int,
        other => other,
    }
}

/// Conversion rank: of two types the higher one wins.
fn rank(kind: IntKind) -> u32 {
    use IntKind::*;
    match kind {
        Bool => 0,
        Char | SChar | UChar => 1,
        Short | UShort => 2,
        Int | UInt => 3,
        Long | ULong => 4,
        LongLong | ULongLong => 5,
        Int128 | UInt128 => 6,
    }
}

/// The unsigned type of the same rank.
pub fn unsigned(kind: IntKind) -> IntKind {
    use IntKind::*;
    match kind {
        Char | SChar => UChar,
        Short => UShort,
        Int => UInt,
        Long => ULong,
        LongLong => ULongLong,
        Int128 => UInt128,
        other => other,
    }
}

/// The type in which two integers are combined.
pub fn common_integer(left: IntKind, right: IntKind) -> IntKind {
    let (left, right) = (promoted(left), promoted(right));
    if left.signed() == right.signed() {
        return if rank(left) >= rank(right) { left } else { right };
    }
    let (signed, unsigned_side) = if left.signed() { (left, right) } else { (right, left) };
    if rank(unsigned_side) >= rank(signed) {
        unsigned_side
    } else if signed.size() > unsigned_side.size() {
        signed
    } else {
        unsigned(signed)
    }
}

/// The type in which two floating numbers are combined.
pub fn common_float(left: FloatKind, right: FloatKind) -> FloatKind {
    let order = |kind| match kind {
        FloatKind::Float => 0,
        FloatKind::Double => 1,
        FloatKind::LongDouble => 2,
        FloatKind::Float128 => 3,
    };
    if order(left) >= order(right) { left } else { right }
}

/// The integer type of an enumeration whose values lie between `low` and `high`; `None` if none holds them all.
pub fn enumeration(low: i128, high: i128, short: bool) -> Option<IntKind> {
    use IntKind::*;
    let fits = |bytes: u32, signed: bool| {
        let bits = bytes * 8;
        if signed {
            low >= -(1i128 << (bits - 1)) && high < (1i128 << (bits - 1))
        } else {
            low >= 0 && high < (1i128 << bits)
        }
    };
    let signed = low < 0;
    let all = if signed { [SChar, Short, Int, Long] } else { [UChar, UShort, UInt, ULong] };
    let from = if short { 0 } else { 2 };
    all[from..].iter().copied().find(|kind| fits(kind.size() as u32, signed))
}

/// What layout has to know of one member.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    /// Size in bytes; 0 for a flexible array.
    pub size: u64,
    /// Alignment of its type in bytes, with what a typedef says.
    pub align: u64,
    /// Alignment that the declaration itself asks for.
    pub aligned: Option<u64>,
    /// Whether the declaration itself is packed.
    pub packed: bool,
    /// Width of a bit-field, and whether it has a name.
    pub bits: Option<(u64, bool)>,
}

/// What layout has to know of the record as a whole.
#[derive(Clone, Copy, Default, Debug)]
pub struct RecordShape {
    /// Whether it is a union.
    pub is_union: bool,
    /// The attribute `packed`.
    pub packed: bool,
    /// What `#pragma pack` says.
    pub pack: Option<u64>,
    /// Alignment that an attribute asks for.
    pub aligned: Option<u64>,
}

/// Where one member is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Location {
    /// Byte offset; for a bit-field, of its storage unit.
    pub offset: u64,
    /// First bit within the unit and width.
    pub bits: Option<(u32, u32)>,
}

/// Where everything is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layout {
    /// One for each member, in order.
    pub members: Vec<Location>,
    /// Size in bytes.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u64,
}

/// Lays out a record. The error says what isn't supported.
pub fn lay_out(members: &[Member], shape: RecordShape) -> Result<Layout, &'static str> {
    const TOO_LARGE: &str = "a record too large to lay out";
    let mut align = shape.aligned.unwrap_or(1).max(1);
    // The position of the next member and the largest end so far, in bits.
    let (mut at, mut end) = (0u64, 0u64);
    let mut locations = Vec::with_capacity(members.len());
    for member in members {
        let packed = shape.packed || member.packed;
        let limit = |wanted: u64| shape.pack.map_or(wanted, |pack| wanted.min(pack));
        if shape.is_union {
            at = 0;
        }
        let bits = match member.bits {
            Some((_, _)) if member.aligned.is_some() => return Err("an aligned bit-field"),
            Some((0, _)) => {
                at = round_up(at, member.align * 8).ok_or(TOO_LARGE)?;
                locations.push(Location { offset: at / 8, bits: Some((0, 0)) });
                continue;
            }
            Some((width, named)) => {
                let unit = member.align * 8;
                let spans_too_much = (at % unit + width).div_ceil(unit) > member.size * 8 / unit;
                if !packed && shape.pack.is_none() && spans_too_much {
                    at = round_up(at, unit).ok_or(TOO_LARGE)?;
                }
                if named {
                    align = align.max(if shape.pack.is_some() {
                        limit(member.align)
                    } else if packed {
                        1
                    } else {
                        member.align
                    });
                }
                let storage = member.size.max(1) * 8;
                locations.push(Location {
                    offset: at / storage * member.size,
                    bits: Some(((at % storage) as u32, width as u32)),
                });
                width
            }
            None => {
                let natural = if packed { 1 } else { member.align };
                let own = limit(natural.max(member.aligned.unwrap_or(1)));
                align = align.max(own);
                at = round_up(at, own * 8).ok_or(TOO_LARGE)?;
                locations.push(Location { offset: at / 8, bits: None });
                member.size.checked_mul(8).ok_or(TOO_LARGE)?
            }
        };
        at = at.checked_add(bits).ok_or(TOO_LARGE)?;
        end = end.max(at);
    }
    // A zero-width bit-field at the end moves the end too.
    if !shape.is_union {
        end = end.max(at);
    }
    let size = round_up(end.div_ceil(8), align).ok_or(TOO_LARGE)?;
    Ok(Layout { members: locations, size, align })
}

/// The next multiple of `unit`.
fn round_up(value: u64, unit: u64) -> Option<u64> {
    value.checked_next_multiple_of(unit.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_conversions() {
        use IntKind::*;
        assert_eq!(common_integer(Char, UShort), Int);
        assert_eq!(common_integer(Int, UInt), UInt);
        assert_eq!(common_integer(UInt, Long), Long);
        assert_eq!(common_integer(ULong, LongLong), ULongLong);
        assert_eq!(common_integer(Long, LongLong), LongLong);
        assert_eq!(common_integer(Int128, ULongLong), Int128);
        assert_eq!(common_float(FloatKind::Float, FloatKind::Double), FloatKind::Double);
    }

    #[test]
    fn enumerations() {
        assert_eq!(enumeration(0, 3, false), Some(IntKind::UInt));
        assert_eq!(enumeration(-1, 3, false), Some(IntKind::Int));
        assert_eq!(enumeration(0, 1 << 33, false), Some(IntKind::ULong));
        assert_eq!(enumeration(0, 3, true), Some(IntKind::UChar));
        assert_eq!(enumeration(-1, u64::MAX as i128, false), None);
    }
}
