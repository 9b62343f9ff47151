//! What gcc's builtin functions take and give. Only types stand here; what they compute is for the consumers of the
//! typed tree, who know them by name.

use super::super::hir::{FloatKind, IntKind};

/// What a builtin gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Result {
    Void,
    Int(IntKind),
    Float(FloatKind),
    VoidPointer,
    CharPointer,
    /// What the first argument points to.
    Pointee,
}

/// What a builtin takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Param {
    Int(IntKind),
    Float(FloatKind),
    /// Passed as it is.
    Any,
}

/// Types of a builtin.
#[derive(Clone, Debug)]
pub(super) struct Signature {
    pub result: Result,
    pub params: Vec<Param>,
    pub variadic: bool,
}

fn fixed(result: Result, params: &[Param]) -> Option<Signature> {
    Some(Signature { result, params: params.to_vec(), variadic: false })
}

fn variadic(result: Result, params: &[Param]) -> Option<Signature> {
    Some(Signature { result, params: params.to_vec(), variadic: true })
}

const ONE_FLOAT: &[&str] = &[
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "cbrt",
    "ceil",
    "cos",
    "cosh",
    "erf",
    "erfc",
    "exp",
    "exp10",
    "exp2",
    "expm1",
    "fabs",
    "floor",
    "gamma",
    "j0",
    "j1",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "logb",
    "nearbyint",
    "pow10",
    "rint",
    "round",
    "roundeven",
    "significand",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "tgamma",
    "trunc",
    "y0",
    "y1",
];
const TWO_FLOATS: &[&str] = &[
    "atan2",
    "copysign",
    "drem",
    "fdim",
    "fmax",
    "fmin",
    "fmod",
    "hypot",
    "nextafter",
    "pow",
    "remainder",
    "scalb",
];

/// The signature of a builtin, its name with the prefix.
pub(super) fn signature(name: &str) -> Option<Signature> {
    if name.starts_with("__sync_") {
        return synchronising(name);
    }
    if name.starts_with("__atomic_") {
        return atomic(name);
    }
    let name = name.strip_prefix("__builtin_")?;
    mathematical(name).or_else(|| numerical(name)).or_else(|| others(name))
}

/// Functions on floating numbers, with the suffixes of their types.
fn mathematical(name: &str) -> Option<Signature> {
    let float_of = |base: &str| match name.strip_prefix(base)? {
        "" => Some(FloatKind::Double),
        "f" => Some(FloatKind::Float),
        "l" => Some(FloatKind::LongDouble),
        _ => None,
    };
    // The longest base that fits: `erff` is the float one of `erf`, `erfc` a function of its own.
    let among = |list: &[&str]| list.iter().find_map(|base| float_of(base));
    if ONE_FLOAT.contains(&name) || TWO_FLOATS.contains(&name) {
        let double = Param::Float(FloatKind::Double);
        let count = if ONE_FLOAT.contains(&name) { 1 } else { 2 };
        return fixed(Result::Float(FloatKind::Double), &[double, double][..count]);
    }
    if let Some(kind) = among(ONE_FLOAT) {
        return fixed(Result::Float(kind), &[Param::Float(kind)]);
    }
    if let Some(kind) = among(TWO_FLOATS) {
        return fixed(Result::Float(kind), &[Param::Float(kind); 2]);
    }
    if let Some(kind) = float_of("fma") {
        return fixed(Result::Float(kind), &[Param::Float(kind); 3]);
    }
    for (base, second) in [
        ("ldexp", IntKind::Int),
        ("scalbn", IntKind::Int),
        ("scalbln", IntKind::Long),
        ("powi", IntKind::Int),
    ] {
        if let Some(kind) = float_of(base) {
            return fixed(Result::Float(kind), &[Param::Float(kind), Param::Int(second)]);
        }
    }
    for (base, result) in [
        ("ilogb", IntKind::Int),
        ("lceil", IntKind::Long),
        ("lfloor", IntKind::Long),
        ("lrint", IntKind::Long),
        ("lround", IntKind::Long),
        ("llrint", IntKind::LongLong),
        ("llround", IntKind::LongLong),
    ] {
        if let Some(kind) = float_of(base) {
            return fixed(Result::Int(result), &[Param::Float(kind)]);
        }
    }
    for base in ["inf", "huge_val"] {
        if let Some(kind) = float_of(base) {
            return fixed(Result::Float(kind), &[]);
        }
    }
    for base in ["nan", "nans"] {
        if let Some(kind) = float_of(base) {
            return fixed(Result::Float(kind), &[Param::Any]);
        }
    }
    for base in ["frexp", "modf"] {
        if let Some(kind) = float_of(base) {
            return fixed(Result::Float(kind), &[Param::Float(kind), Param::Any]);
        }
    }
    if let Some(kind) = float_of("sincos") {
        return fixed(Result::Void, &[Param::Float(kind), Param::Any, Param::Any]);
    }
    let quad = FloatKind::Float128;
    match name {
        "inff128" | "huge_valf128" => fixed(Result::Float(quad), &[]),
        "nanf128" | "nansf128" => fixed(Result::Float(quad), &[Param::Any]),
        "fabsf128" => fixed(Result::Float(quad), &[Param::Float(quad)]),
        "copysignf128" => fixed(Result::Float(quad), &[Param::Float(quad); 2]),
        _ => None,
    }
}

/// Classification of floating numbers, and integer arithmetic.
fn numerical(name: &str) -> Option<Signature> {
    use IntKind::*;
    let int = Result::Int(Int);
    let count = |base: &str| match name.strip_prefix(base)? {
        "" => Some(UInt),
        "l" => Some(ULong),
        "ll" => Some(ULongLong),
        _ => None,
    };
    match name {
        "isnan" | "isinf" | "isinf_sign" | "isfinite" | "finite" | "isnormal" | "signbit" | "issignaling" => {
            return fixed(int, &[Param::Any]);
        }
        "isnanf" | "isinff" | "finitef" | "signbitf" => return fixed(int, &[Param::Float(FloatKind::Float)]),
        "isnanl" | "isinfl" | "finitel" | "signbitl" => {
            return fixed(int, &[Param::Float(FloatKind::LongDouble)]);
        }
        "isgreater" | "isgreaterequal" | "isless" | "islessequal" | "islessgreater" | "isunordered"
        | "iseqsig" => {
            return fixed(int, &[Param::Any; 2]);
        }
        "fpclassify" => return fixed(int, &[Param::Any; 6]),
        "abs" => return fixed(int, &[Param::Int(Int)]),
        "labs" | "imaxabs" => return fixed(Result::Int(Long), &[Param::Int(Long)]),
        "llabs" => return fixed(Result::Int(LongLong), &[Param::Int(LongLong)]),
        "bswap16" => return fixed(Result::Int(UShort), &[Param::Int(UShort)]),
        "bswap32" => return fixed(Result::Int(UInt), &[Param::Int(UInt)]),
        "bswap64" => return fixed(Result::Int(ULong), &[Param::Int(ULong)]),
        "add_overflow" | "sub_overflow" | "mul_overflow" | "add_overflow_p" | "sub_overflow_p"
        | "mul_overflow_p" => return fixed(Result::Int(Bool), &[Param::Any; 3]),
        _ => {}
    }
    for operation in ["add", "sub", "mul"] {
        let kind = match name.strip_suffix("_overflow").and_then(|n| n.split_once(operation)) {
            Some(("s", "")) => Int,
            Some(("s", "l")) => Long,
            Some(("s", "ll")) => LongLong,
            Some(("u", "")) => UInt,
            Some(("u", "l")) => ULong,
            Some(("u", "ll")) => ULongLong,
            _ => continue,
        };
        return fixed(Result::Int(Bool), &[Param::Int(kind), Param::Int(kind), Param::Any]);
    }
    for base in ["popcount", "clz", "ctz", "parity"] {
        if let Some(kind) = count(base) {
            return fixed(int, &[Param::Int(kind)]);
        }
    }
    for base in ["ffs", "clrsb"] {
        let kind = match count(base) {
            Some(UInt) => Int,
            Some(ULong) => Long,
            Some(_) => LongLong,
            None => continue,
        };
        return fixed(int, &[Param::Int(kind)]);
    }
    None
}

/// Memory, strings, control.
fn others(name: &str) -> Option<Signature> {
    use Param::Any;
    let size = Param::Int(IntKind::ULong);
    let int = Param::Int(IntKind::Int);
    match name {
        "unreachable" | "trap" | "abort" => fixed(Result::Void, &[]),
        "exit" | "_exit" => fixed(Result::Void, &[int]),
        "prefetch" | "va_start" => variadic(Result::Void, &[Any]),
        "va_end" => fixed(Result::Void, &[Any]),
        "va_copy" => fixed(Result::Void, &[Any, Any]),
        "va_arg_pack" | "va_arg_pack_len" => fixed(Result::Int(IntKind::Int), &[]),
        "expect" => fixed(Result::Int(IntKind::Long), &[Param::Int(IntKind::Long); 2]),
        "assume_aligned" => variadic(Result::VoidPointer, &[Any, size]),
        "object_size" | "dynamic_object_size" => fixed(Result::Int(IntKind::ULong), &[Any, int]),
        "return_address" | "frame_address" => fixed(Result::VoidPointer, &[Param::Int(IntKind::UInt)]),
        "extract_return_addr" => fixed(Result::VoidPointer, &[Any]),
        "alloca" | "malloc" => fixed(Result::VoidPointer, &[size]),
        "alloca_with_align" | "calloc" | "aligned_alloc" => fixed(Result::VoidPointer, &[size, size]),
        "realloc" => fixed(Result::VoidPointer, &[Any, size]),
        "free" | "clear_padding" => fixed(Result::Void, &[Any]),
        "memcpy" | "memmove" | "mempcpy" => fixed(Result::VoidPointer, &[Any, Any, size]),
        "memset" => fixed(Result::VoidPointer, &[Any, int, size]),
        "memchr" => fixed(Result::VoidPointer, &[Any, int, size]),
        "memcmp" | "strncmp" | "strncasecmp" => fixed(Result::Int(IntKind::Int), &[Any, Any, size]),
        "strcmp" | "strcasecmp" => fixed(Result::Int(IntKind::Int), &[Any, Any]),
        "strlen" => fixed(Result::Int(IntKind::ULong), &[Any]),
        "strnlen" => fixed(Result::Int(IntKind::ULong), &[Any, size]),
        "strcspn" | "strspn" => fixed(Result::Int(IntKind::ULong), &[Any, Any]),
        "strcpy" | "strcat" | "stpcpy" | "strstr" | "strpbrk" => fixed(Result::CharPointer, &[Any, Any]),
        "strncpy" | "strncat" | "stpncpy" => fixed(Result::CharPointer, &[Any, Any, size]),
        "strchr" | "strrchr" | "index" | "rindex" => fixed(Result::CharPointer, &[Any, int]),
        "printf" => variadic(Result::Int(IntKind::Int), &[Any]),
        "sprintf" | "fprintf" => variadic(Result::Int(IntKind::Int), &[Any, Any]),
        "snprintf" => variadic(Result::Int(IntKind::Int), &[Any, size, Any]),
        "putchar" => fixed(Result::Int(IntKind::Int), &[int]),
        "puts" => fixed(Result::Int(IntKind::Int), &[Any]),
        "cpu_init" => fixed(Result::Void, &[]),
        "cpu_supports" | "cpu_is" => fixed(Result::Int(IntKind::Int), &[Any]),
        "ia32_pause" | "ia32_mfence" | "ia32_sfence" | "ia32_lfence" => fixed(Result::Void, &[]),
        "ia32_rdtsc" => fixed(Result::Int(IntKind::ULongLong), &[]),
        // The checking forms that -D_FORTIFY_SOURCE uses.
        "___memcpy_chk" | "___memmove_chk" | "___mempcpy_chk" => {
            fixed(Result::VoidPointer, &[Any, Any, size, size])
        }
        "___memset_chk" => fixed(Result::VoidPointer, &[Any, int, size, size]),
        "___strcpy_chk" | "___strcat_chk" | "___stpcpy_chk" => fixed(Result::CharPointer, &[Any, Any, size]),
        "___strncpy_chk" | "___strncat_chk" | "___stpncpy_chk" => {
            fixed(Result::CharPointer, &[Any, Any, size, size])
        }
        "___sprintf_chk" => variadic(Result::Int(IntKind::Int), &[Any, int, size, Any]),
        "___snprintf_chk" => variadic(Result::Int(IntKind::Int), &[Any, size, int, size, Any]),
        "___vsprintf_chk" => fixed(Result::Int(IntKind::Int), &[Any, int, size, Any, Any]),
        "___vsnprintf_chk" => fixed(Result::Int(IntKind::Int), &[Any, size, int, size, Any, Any]),
        "___printf_chk" => variadic(Result::Int(IntKind::Int), &[int, Any]),
        "___fprintf_chk" => variadic(Result::Int(IntKind::Int), &[Any, int, Any]),
        _ => None,
    }
}

/// `__sync_...`: values are taken as they are.
fn synchronising(name: &str) -> Option<Signature> {
    let result = match name.strip_prefix("__sync_")? {
        "synchronize" => return variadic(Result::Void, &[]),
        "lock_release" => Result::Void,
        "bool_compare_and_swap" => Result::Int(IntKind::Bool),
        "val_compare_and_swap" | "lock_test_and_set" => Result::Pointee,
        other if other.starts_with("fetch_and_") || other.ends_with("_and_fetch") => Result::Pointee,
        _ => return None,
    };
    variadic(result, &[Param::Any])
}

/// `__atomic_...`: values are taken as they are.
fn atomic(name: &str) -> Option<Signature> {
    let result = match name.strip_prefix("__atomic_")? {
        "thread_fence" | "signal_fence" => return fixed(Result::Void, &[Param::Int(IntKind::Int)]),
        "load" | "store" | "store_n" | "exchange" | "clear" => Result::Void,
        "load_n" | "exchange_n" => Result::Pointee,
        "compare_exchange" | "compare_exchange_n" | "test_and_set" => Result::Int(IntKind::Bool),
        "always_lock_free" | "is_lock_free" => Result::Int(IntKind::Bool),
        other if other.starts_with("fetch_") || other.ends_with("_fetch") => Result::Pointee,
        _ => return None,
    };
    variadic(result, &[Param::Any])
}

/// Whether gcc knows the type of a library function without a declaration, and it isn't `int f()`.
pub(super) fn is_known_to_compiler(name: &str) -> bool {
    let prefixed = format!("__builtin_{name}");
    let more = [
        "strdup",
        "strndup",
        "fputs",
        "fputc",
        "fwrite",
        "putc",
        "scanf",
        "sscanf",
        "fscanf",
        "vprintf",
        "vfprintf",
        "vsprintf",
        "vsnprintf",
        "vscanf",
        "vfscanf",
        "vsscanf",
        "posix_memalign",
        "isalnum",
        "isalpha",
        "isdigit",
        "isspace",
        "toupper",
        "tolower",
        "cabs",
        "creal",
        "cimag",
        "conj",
        "cexp",
        "csqrt",
        "jn",
        "yn",
        "nexttoward",
        "remquo",
        "fork",
        "execv",
        "execl",
        "bcopy",
        "bzero",
        "bcmp",
    ];
    signature(&prefixed).is_some() || more.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_suffixes() {
        let result = |name: &str| signature(name).map(|s| (s.result, s.params.len()));
        assert_eq!(result("__builtin_sqrt"), Some((Result::Float(FloatKind::Double), 1)));
        assert_eq!(result("__builtin_sqrtf"), Some((Result::Float(FloatKind::Float), 1)));
        assert_eq!(result("__builtin_erfc"), Some((Result::Float(FloatKind::Double), 1)));
        assert_eq!(result("__builtin_erff"), Some((Result::Float(FloatKind::Float), 1)));
        assert_eq!(result("__builtin_powl"), Some((Result::Float(FloatKind::LongDouble), 2)));
        assert_eq!(result("__builtin_fmaf"), Some((Result::Float(FloatKind::Float), 3)));
        assert_eq!(result("__builtin_clzll"), Some((Result::Int(IntKind::Int), 1)));
        assert_eq!(result("__builtin_umull_overflow"), Some((Result::Int(IntKind::Bool), 3)));
        assert_eq!(result("__sync_fetch_and_add"), Some((Result::Pointee, 1)));
        assert!(result("__builtin_ia32_addps").is_none());
    }
}
