//! How types of the typed tree are written in generated text, which is C89 with GNU extensions and CUDA C++ at once.

use crate::c::hir::*;
use crate::loops::plan::{ReductionOp, Relation, Taking};

/// A scalar type as generated text knows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scalar {
    /// An integer of C.
    Int(IntKind),
    /// `float`.
    F32,
    /// `double`.
    F64,
    /// An address.
    Address,
}

/// The scalar that a type is, if generated text can handle it.
pub fn scalar(types: &Types, ty: TypeId) -> Result<Scalar, String> {
    match types.kind(ty) {
        TypeKind::Int(k) | TypeKind::Enum(k) if k.size() <= 8 => Ok(Scalar::Int(*k)),
        TypeKind::Float(FloatKind::Float) => Ok(Scalar::F32),
        TypeKind::Float(FloatKind::Double) => Ok(Scalar::F64),
        TypeKind::Pointer(_) => Ok(Scalar::Address),
        _ => Err("a value of a type that is not generated".into()),
    }
}

impl Scalar {
    /// The type's name in generated text.
    pub fn name(self) -> &'static str {
        match self {
            Scalar::Int(kind) => integer(kind),
            Scalar::F32 => "float",
            Scalar::F64 => "double",
            Scalar::Address => "__pg_u64",
        }
    }
    /// In bytes.
    pub fn size(self) -> u64 {
        match self {
            Scalar::Int(kind) => kind.size(),
            Scalar::F32 => 4,
            Scalar::F64 | Scalar::Address => 8,
        }
    }
    /// The suffix of access functions.
    pub fn suffix(self) -> &'static str {
        match self {
            Scalar::Int(kind) => match (kind.size(), kind.signed()) {
                (1, true) => "i8",
                (1, false) => "u8",
                (2, true) => "i16",
                (2, false) => "u16",
                (4, true) => "i32",
                (4, false) => "u32",
                (_, true) => "i64",
                (_, false) => "u64",
            },
            Scalar::F32 => "f32",
            Scalar::F64 => "f64",
            Scalar::Address => "u64",
        }
    }
    /// `PG_I8` ... of the C ABI.
    pub fn abi_type(self) -> String {
        format!("PG_{}", self.suffix().to_uppercase())
    }
}

/// An integer type's name in generated text.
pub fn integer(kind: IntKind) -> &'static str {
    match (kind.size(), kind.signed()) {
        (1, true) => "signed char",
        (1, false) => "unsigned char",
        (2, true) => "short",
        (2, false) => "unsigned short",
        (4, true) => "int",
        (4, false) => "unsigned int",
        (_, true) => "__pg_i64",
        (_, false) => "__pg_u64",
    }
}

/// The unsigned type of the same width.
pub fn unsigned(kind: IntKind) -> &'static str {
    match kind.size() {
        1 => "unsigned char",
        2 => "unsigned short",
        4 => "unsigned int",
        _ => "__pg_u64",
    }
}

/// Lowest and highest value, for checks of ranges in 64-bit signed arithmetic (unsigned 64-bit types count up to
/// 2^63 - 1 there).
pub fn limits(kind: IntKind) -> (i64, i64) {
    match (kind.size(), kind.signed()) {
        _ if kind == IntKind::Bool => (0, 1),
        (1, true) => (i8::MIN.into(), i8::MAX.into()),
        (1, false) => (0, u8::MAX.into()),
        (2, true) => (i16::MIN.into(), i16::MAX.into()),
        (2, false) => (0, u16::MAX.into()),
        (4, true) => (i32::MIN.into(), i32::MAX.into()),
        (4, false) => (0, u32::MAX.into()),
        (_, true) => (i64::MIN, i64::MAX),
        (_, false) => (0, i64::MAX),
    }
}

/// A 64-bit constant as C89 and C++ both read it.
pub fn literal(value: i64) -> String {
    match value {
        i64::MIN => "(-__extension__ 9223372036854775807LL - 1)".into(),
        _ => format!("(__extension__ {value}LL)"),
    }
}

/// `PG_TAKE_*` of the C ABI.
pub fn taking(taking: Taking) -> String {
    let relation = match taking.relation {
        Relation::Lt => "PG_TAKE_LESS",
        Relation::Le => "PG_TAKE_LESS_OR_EQUAL",
        Relation::Ge => "PG_TAKE_GREATER_OR_EQUAL",
        _ => "PG_TAKE_GREATER",
    };
    format!("{relation}{}", if taking.unordered { " | PG_TAKE_UNORDERED" } else { "" })
}

/// The identity of a reduction.
pub fn identity(op: ReductionOp, kind: IntKind) -> String {
    let name = integer(kind);
    let (lo, hi) = match (kind.size(), kind.signed()) {
        (8, false) => ("0".into(), "~(__pg_u64)0".to_string()),
        _ => {
            let (lo, hi) = limits(kind);
            (literal(lo), literal(hi))
        }
    };
    let value = match op {
        ReductionOp::Add | ReductionOp::Or | ReductionOp::Xor => "0".into(),
        ReductionOp::Mul => "1".into(),
        ReductionOp::And => "~(__pg_u64)0".into(),
        ReductionOp::Min => hi,
        ReductionOp::Max => lo,
    };
    format!("({name})({value})")
}

/// The operation's name in the C ABI.
pub fn operation(op: ReductionOp) -> &'static str {
    match op {
        ReductionOp::Add => "PG_ADD",
        ReductionOp::Mul => "PG_MUL",
        ReductionOp::And => "PG_AND",
        ReductionOp::Or => "PG_OR",
        ReductionOp::Xor => "PG_XOR",
        ReductionOp::Min => "PG_MIN",
        ReductionOp::Max => "PG_MAX",
    }
}
