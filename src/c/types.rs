//! Types of C on 64-bit x86 Linux: conversions between arithmetic types, and the layout of records.
//!
//! Layout follows the System V ABI. Records with attributes or pragmas that change their layout are not laid out here: they
//! stay incomplete, so that whoever needs a member of one refuses.

use super::hir::*;

/// An unqualified type.
pub fn plain(ty: TypeId) -> QualType {
    QualType { ty, quals: Quals::default() }
}

/// Conversion rank (C11 6.3.1.1).
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

/// Integer promotion; `bits` is the width of a bit-field.
pub fn promote(kind: IntKind, bits: Option<u32>) -> IntKind {
    if let Some(width) = bits {
        return match kind {
            _ if width < 32 => IntKind::Int,
            IntKind::UInt => IntKind::UInt,
            _ if width == 32 && kind.signed() => IntKind::Int,
            _ if width == 32 => IntKind::UInt,
            other => other,
        };
    }
    if rank(kind) < rank(IntKind::Int) { IntKind::Int } else { kind }
}

fn unsigned(kind: IntKind) -> IntKind {
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

/// The common type of two promoted integer types (C11 6.3.1.8).
pub fn common_integer(a: IntKind, b: IntKind) -> IntKind {
    if a == b {
        return a;
    }
    let (low, high) = if rank(a) <= rank(b) { (a, b) } else { (b, a) };
    if low.signed() == high.signed() || !high.signed() {
        // Of equal rank the unsigned one wins.
        return if rank(a) == rank(b) { if a.signed() { b } else { a } } else { high };
    }
    if high.size() > low.size() { high } else { unsigned(high) }
}

/// `value` wrapped into the type.
pub fn wrap(value: i128, kind: IntKind) -> i128 {
    use IntKind::*;
    match kind {
        Bool => i128::from(value != 0),
        Char | SChar => value as i8 as i128,
        UChar => value as u8 as i128,
        Short => value as i16 as i128,
        UShort => value as u16 as i128,
        Int => value as i32 as i128,
        UInt => value as u32 as i128,
        Long | LongLong => value as i64 as i128,
        ULong | ULongLong => value as u64 as i128,
        Int128 | UInt128 => value,
    }
}

/// A member before layout.
pub struct Member {
    /// Its name.
    pub name: Option<String>,
    /// Its type.
    pub ty: QualType,
    /// Declared width of a bit-field.
    pub bits: Option<u64>,
}

/// Size, alignment and fields of a record; `None` where a member's layout is unknown.
pub fn layout(types: &Types, is_union: bool, members: Vec<Member>) -> Option<(Vec<Field>, u64, u64)> {
    let mut fields = Vec::new();
    // All positions in bits.
    let (mut end, mut size, mut align) = (0u64, 0u64, 1u64);
    let count = members.len();
    for (number, member) in members.into_iter().enumerate() {
        let member_align = types.align_of(member.ty.ty)?;
        let flexible = matches!(types.kind(member.ty.ty), TypeKind::Array(_, ArrayLen::Unknown));
        let member_size = match types.size_of(member.ty.ty) {
            Some(size) => size,
            None if flexible && number + 1 == count => 0,
            None => return None,
        };
        if is_union {
            end = 0;
        }
        let (offset, bits) = match member.bits {
            None => {
                let at = end.div_ceil(8).next_multiple_of(member_align);
                end = (at + member_size) * 8;
                align = align.max(member_align);
                (at, None)
            }
            Some(0) => {
                end = end.next_multiple_of(member_align * 8);
                continue;
            }
            Some(width) => {
                let unit = member_size * 8;
                if width > unit {
                    return None;
                }
                // A bit-field never crosses a boundary of its declared type.
                if end / unit != (end + width - 1) / unit {
                    end = end.next_multiple_of(unit);
                }
                let at = end / unit * member_size;
                let first = end % unit;
                end += width;
                if member.name.is_some() {
                    align = align.max(member_align);
                }
                (at, Some((first as u32, width as u32)))
            }
        };
        size = size.max(end.div_ceil(8));
        if member.bits.is_none() || member.name.is_some() {
            fields.push(Field { name: member.name, ty: member.ty, offset, bits });
        }
    }
    Some((fields, size.next_multiple_of(align), align))
}

/// A member found by name, through anonymous members: the way to it, from the outermost.
pub fn find_member(types: &Types, record: RecordId, name: &str) -> Option<Vec<(RecordId, u32)>> {
    let fields = types.record(record).fields.as_ref()?;
    for (number, field) in fields.iter().enumerate() {
        match &field.name {
            Some(n) if n == name => return Some(vec![(record, number as u32)]),
            Some(_) => {}
            None => {
                if let TypeKind::Record(inner) = types.kind(field.ty.ty)
                    && let Some(mut rest) = find_member(types, *inner, name)
                {
                    rest.insert(0, (record, number as u32));
                    return Some(rest);
                }
            }
        }
    }
    None
}
