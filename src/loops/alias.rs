//! Type-based aliasing: may a store through an expression of one type change an object that is read as another? C says no
//! for most pairs (C17 6.5 paragraph 7), and compilers rely on it unless `-fno-strict-aliasing` is given.
//!
//! Not here: where accesses lead (`loops::access`) and whether they meet (`analysis`).

use crate::c::hir::*;

/// Types that may be read through each other fall into one class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Class {
    /// Character types may be used for anything, and so may what goes through a union.
    Any,
    Integer(u8),
    Float(FloatKind),
    /// All pointers: compilers keep some of them apart, which is more than is needed here.
    Pointer,
}

/// The class of a scalar place.
fn class(unit: &TranslationUnit, place: &Place) -> Class {
    // What has bit-fields, or lies between members, is of no type of the program's.
    let is_nameless = matches!(place.kind, PlaceKind::Field { field: NO_FIELD, .. });
    if is_nameless || is_of_union(unit, place) {
        return Class::Any;
    }
    match unit.types.kind(place.ty.ty) {
        TypeKind::Int(kind) | TypeKind::Enum(kind) => match kind {
            IntKind::Char | IntKind::SChar | IntKind::UChar => Class::Any,
            IntKind::Bool => Class::Integer(0),
            IntKind::Short | IntKind::UShort => Class::Integer(1),
            IntKind::Int | IntKind::UInt => Class::Integer(2),
            IntKind::Long | IntKind::ULong => Class::Integer(3),
            IntKind::LongLong | IntKind::ULongLong => Class::Integer(4),
            IntKind::Int128 | IntKind::UInt128 => Class::Integer(5),
        },
        TypeKind::Float(kind) => Class::Float(*kind),
        TypeKind::Pointer(_) => Class::Pointer,
        _ => Class::Any,
    }
}

/// Whether a place is part of a union that the expression names, as a member, or an element of a member that is an array.
fn is_of_union(unit: &TranslationUnit, place: &Place) -> bool {
    match &place.kind {
        PlaceKind::Field { base, record, .. } => {
            unit.types.record(*record).is_union || is_of_union(unit, base)
        }
        PlaceKind::Deref(pointer) => leads_into_union(unit, pointer),
        PlaceKind::Var(_) | PlaceKind::Opaque(_) => false,
    }
}

/// The same for what an address is made of.
fn leads_into_union(unit: &TranslationUnit, pointer: &Expr) -> bool {
    match &pointer.kind {
        ExprKind::AddressOf(place) => is_of_union(unit, place),
        ExprKind::PtrAdd { pointer, .. } | ExprKind::Cast(pointer) => leads_into_union(unit, pointer),
        _ => false,
    }
}

/// Whether a store to `stored` may change what a load of `read` gives, as far as their types tell. `strict`: whether types
/// tell anything.
pub fn may_change(unit: &TranslationUnit, strict: bool, stored: &Place, read: &Place) -> bool {
    if !strict || unit.has_may_alias {
        return true;
    }
    let (a, b) = (class(unit, stored), class(unit, read));
    a == b || a == Class::Any || b == Class::Any
}
