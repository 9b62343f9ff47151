//! Literals and constant expressions: from the spelling of a constant to its value and type, and the value of a typed
//! expression that has one at compile time.
//!
//! Folding works on the typed tree, so that C's conversions are already explicit. It gives a value only where C defines
//! one: overflow of a signed type, division by zero and shifts by too much have none. Not here: what must be constant
//! where, which the readers of declarations and statements know.

use super::hir::{BinOp, Expr, ExprKind, FloatKind, IntKind, Place, PlaceKind, Types, UnOp};

/// A value known at compile time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Value {
    /// An integer, or an address that is a number.
    Int(i128),
    /// A `float` or `double`, exactly.
    Float(f64),
}

/// Brings `value` into the range of `kind`. Values of the unsigned 128-bit type above `i128::MAX` have no
/// representation here.
pub fn wrap(value: i128, kind: IntKind) -> Option<i128> {
    if kind == IntKind::Bool {
        return Some(i128::from(value != 0));
    }
    let bits = kind.size() * 8;
    if bits == 128 {
        return (kind.signed() || value >= 0).then_some(value);
    }
    let low = value & ((1i128 << bits) - 1);
    Some(if kind.signed() && low >> (bits - 1) == 1 { low - (1i128 << bits) } else { low })
}

/// Whether a number's spelling is that of a floating constant.
pub fn is_floating(spelling: &str) -> bool {
    match spelling.get(..2) {
        Some("0x" | "0X") => spelling.contains(['.', 'p', 'P']),
        _ => spelling.contains(['.', 'e', 'E']),
    }
}

/// Value and type of an integer constant. `None`: not one, or beyond 64 bits.
pub fn integer(spelling: &str) -> Option<(i128, IntKind)> {
    use IntKind::*;
    let body = spelling.trim_end_matches(['u', 'U', 'l', 'L']);
    let suffix = spelling[body.len()..].to_ascii_lowercase();
    let (digits, radix) = match body.get(..2) {
        Some("0x" | "0X") => (&body[2..], 16),
        Some("0b" | "0B") => (&body[2..], 2),
        _ if body.len() > 1 && body.starts_with('0') => (&body[1..], 8),
        _ => (body, 10),
    };
    if digits.starts_with(['+', '-']) {
        return None;
    }
    let value = i128::from(u64::from_str_radix(digits, radix).ok()?);
    let candidates: &[IntKind] = match (suffix.as_str(), radix) {
        ("", 10) => &[Int, Long],
        ("", _) => &[Int, UInt, Long, ULong],
        ("u", _) => &[UInt, ULong],
        ("l", 10) => &[Long],
        ("l", _) => &[Long, ULong],
        ("ul" | "lu", _) => &[ULong],
        ("ll", 10) => &[LongLong],
        ("ll", _) => &[LongLong, ULongLong],
        ("ull" | "llu", _) => &[ULongLong],
        _ => return None,
    };
    candidates.iter().copied().find(|&kind| wrap(value, kind) == Some(value)).map(|kind| (value, kind))
}

/// Text and type of a floating constant: decimal text that reads back as exactly the value in its type; of the types
/// wider than `double` the user's own digits. `None`: imaginary, decimal, of an unknown type, or not finite.
pub fn floating(spelling: &str) -> Option<(String, FloatKind)> {
    let hexadecimal = matches!(spelling.get(..2), Some("0x" | "0X"));
    if hexadecimal && !spelling.contains(['p', 'P']) {
        return None;
    }
    // In `0x1.fp3f` only what follows the exponent is a suffix.
    let tail = if hexadecimal { spelling.rfind(['p', 'P'])? } else { 0 };
    let end = spelling[tail..]
        .rfind(|c: char| c.is_ascii_digit() || c == '.')
        .map_or(tail, |found| tail + found + 1);
    let (body, suffix) = spelling.split_at(end);
    let (body, suffix) = match suffix.to_ascii_lowercase().as_str() {
        "" => (body, FloatKind::Double),
        "f" => (body, FloatKind::Float),
        "l" => (body, FloatKind::LongDouble),
        "q" => (body, FloatKind::Float128),
        _ => return None,
    };
    // `1e` has no value, `1.f64` ends in digits that belong to a suffix.
    let legal = if hexadecimal { parse_hexadecimal(body).is_some() } else { body.parse::<f64>().is_ok() };
    match suffix {
        _ if !legal => None,
        FloatKind::Float | FloatKind::Double => {
            let value = floating_value(body, suffix).filter(|value| value.is_finite())?;
            Some((format!("{value:e}"), suffix))
        }
        FloatKind::LongDouble | FloatKind::Float128 => Some((body.to_owned(), suffix)),
    }
}

/// The value of a floating constant of type `kind`; `None` beyond `double`.
pub fn floating_value(spelling: &str, kind: FloatKind) -> Option<f64> {
    let hexadecimal = matches!(spelling.get(..2), Some("0x" | "0X"));
    match kind {
        FloatKind::Float if hexadecimal => {
            // Rounding twice could differ from rounding once.
            let exact = parse_hexadecimal(spelling)?;
            (f64::from(exact as f32) == exact).then_some(exact)
        }
        FloatKind::Double if hexadecimal => parse_hexadecimal(spelling),
        FloatKind::Float => spelling.parse::<f32>().ok().map(f64::from),
        FloatKind::Double => spelling.parse::<f64>().ok(),
        FloatKind::LongDouble | FloatKind::Float128 => None,
    }
}

/// A hexadecimal floating constant that a `double` holds exactly.
fn parse_hexadecimal(spelling: &str) -> Option<f64> {
    let (digits, exponent) = spelling.get(2..)?.split_once(['p', 'P'])?;
    let mut power: i32 = exponent.parse().ok()?;
    if power.abs() > 900 {
        return None;
    }
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut mantissa: u64 = 0;
    for digit in whole.chars().chain(fraction.chars()) {
        if mantissa >> 60 != 0 {
            return None;
        }
        mantissa = mantissa * 16 + u64::from(digit.to_digit(16)?);
    }
    if mantissa != 0 && 64 - mantissa.leading_zeros() - mantissa.trailing_zeros() > 53 {
        return None;
    }
    power = power.checked_sub(i32::try_from(fraction.len()).ok()?.checked_mul(4)?)?;
    Some(mantissa as f64 * 2f64.powi(power))
}

/// The prefix of a character constant or string literal and what stands between its quotes.
fn unquoted(spelling: &str, quote: char) -> Option<(&str, &str)> {
    let open = spelling.find(quote)?;
    let inner = spelling.get(open + 1..)?.strip_suffix(quote)?;
    Some((&spelling[..open], inner))
}

/// One unit of a literal: a code point of the text or the number that an escape gives.
enum Unit {
    Char(char),
    Number(u32),
}

fn units(text: &str) -> Option<Vec<Unit>> {
    let mut found = Vec::new();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '\\' {
            found.push(Unit::Char(c));
            continue;
        }
        let simple = |code: u32| Some(Unit::Number(code));
        let unit = match rest.next()? {
            'n' => simple(10),
            't' => simple(9),
            'r' => simple(13),
            'a' => simple(7),
            'b' => simple(8),
            'f' => simple(12),
            'v' => simple(11),
            'e' | 'E' => simple(27),
            c @ ('\\' | '\'' | '"' | '?') => Some(Unit::Char(c)),
            c @ '0'..='7' => {
                let mut code = c.to_digit(8)?;
                for _ in 0..2 {
                    if let Some(digit) = rest.peek().and_then(|c| c.to_digit(8)) {
                        code = code * 8 + digit;
                        rest.next();
                    }
                }
                simple(code)
            }
            'x' => {
                let mut code: u32 = 0;
                let mut any = false;
                while let Some(digit) = rest.peek().and_then(|c| c.to_digit(16)) {
                    code = code.checked_mul(16)? + digit;
                    rest.next();
                    any = true;
                }
                if any { simple(code) } else { None }
            }
            c @ ('u' | 'U') => {
                let mut code = 0;
                for _ in 0..if c == 'u' { 4 } else { 8 } {
                    code = code * 16 + rest.next()?.to_digit(16)?;
                }
                char::from_u32(code).map(Unit::Char)
            }
            _ => None,
        }?;
        found.push(unit);
    }
    Some(found)
}

/// The bytes that narrow text stands for.
fn narrow(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    for unit in units(text)? {
        match unit {
            Unit::Char(c) => bytes.extend(c.encode_utf8(&mut [0; 4]).as_bytes()),
            Unit::Number(code) => bytes.push(u8::try_from(code).ok()?),
        }
    }
    Some(bytes)
}

/// Value and type of a character constant.
pub fn character(spelling: &str, unsigned_char: bool) -> Option<(i128, IntKind)> {
    let (prefix, inner) = unquoted(spelling, '\'')?;
    match prefix {
        "" => {
            let bytes = narrow(inner)?;
            match bytes.as_slice() {
                [] => None,
                [one] if unsigned_char => Some((i128::from(*one), IntKind::Int)),
                [one] => Some((i128::from(*one as i8), IntKind::Int)),
                // gcc's order of several characters in one constant.
                many if many.len() <= 4 => {
                    let value = many.iter().fold(0i128, |value, byte| value << 8 | i128::from(*byte));
                    Some((wrap(value, IntKind::Int)?, IntKind::Int))
                }
                _ => None,
            }
        }
        "L" | "u" | "U" => {
            let kind = match prefix {
                "L" => IntKind::Int,
                "u" => IntKind::UShort,
                _ => IntKind::UInt,
            };
            match units(inner)?.as_slice() {
                [Unit::Char(c)] => Some((wrap(i128::from(*c as u32), kind)?, kind)),
                [Unit::Number(code)] => Some((wrap(i128::from(*code), kind)?, kind)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// A string literal, neighbours joined.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Text {
    /// The bytes without the terminator; `None` for wide text.
    pub bytes: Option<Vec<u8>>,
    /// The element type; `Char` for plain text.
    pub element: IntKind,
    /// The number of elements, the terminator included.
    pub length: u64,
}

/// Neighbouring string literals as one.
pub fn string<'a>(spellings: impl Iterator<Item = &'a str> + Clone) -> Option<Text> {
    let mut element = None;
    for spelling in spellings.clone() {
        let kind = match unquoted(spelling, '"')?.0 {
            "" => continue,
            "u8" => IntKind::Char,
            "L" => IntKind::Int,
            "u" => IntKind::UShort,
            "U" => IntKind::UInt,
            _ => return None,
        };
        if element.is_some_and(|other| other != kind) {
            return None;
        }
        element = Some(kind);
    }
    let element = element.unwrap_or(IntKind::Char);
    let mut bytes = Vec::new();
    let mut length = 1u64;
    for spelling in spellings {
        let inner = unquoted(spelling, '"')?.1;
        if element == IntKind::Char {
            bytes.extend(narrow(inner)?);
        } else {
            for unit in units(inner)? {
                length += match unit {
                    Unit::Char(c) if element == IntKind::UShort => c.len_utf16() as u64,
                    _ => 1,
                };
            }
        }
    }
    length += bytes.len() as u64;
    Some(Text { bytes: (element == IntKind::Char).then_some(bytes), element, length })
}

/// The value of `expr` if it is known at compile time.
pub fn evaluate(types: &Types, expr: &Expr) -> Option<Value> {
    match &expr.kind {
        ExprKind::Int(value) => Some(Value::Int(*value)),
        ExprKind::Float(spelling) => floating_value(spelling, types.as_float(expr.ty.ty)?).map(Value::Float),
        ExprKind::Cast(inner) => convert(types, evaluate(types, inner)?, expr),
        ExprKind::Unary(op, inner) => unary(types, *op, evaluate(types, inner)?, expr),
        ExprKind::Binary(op, left, right) => {
            let (a, b) = (evaluate(types, left)?, evaluate(types, right)?);
            match (a, b) {
                (Value::Int(a), Value::Int(b)) => {
                    let result = match types.as_int(left.ty.ty) {
                        Some(kind) => integers(*op, a, b, kind)?,
                        // Addresses are only compared.
                        None => compare(*op, a.cmp(&b))?,
                    };
                    Some(Value::Int(result))
                }
                (Value::Float(a), Value::Float(b)) => floats(types, *op, a, b, expr),
                _ => None,
            }
        }
        ExprKind::LogicalAnd(left, right) => {
            if !truth(evaluate(types, left)?) {
                return Some(Value::Int(0));
            }
            Some(Value::Int(i128::from(truth(evaluate(types, right)?))))
        }
        ExprKind::LogicalOr(left, right) => {
            if truth(evaluate(types, left)?) {
                return Some(Value::Int(1));
            }
            Some(Value::Int(i128::from(truth(evaluate(types, right)?))))
        }
        ExprKind::Conditional(condition, then, otherwise) => {
            evaluate(types, if truth(evaluate(types, condition)?) { then } else { otherwise })
        }
        ExprKind::AddressOf(place) => address(types, place).map(Value::Int),
        ExprKind::PtrAdd { pointer, index, stride } => {
            let (Value::Int(pointer), Value::Int(index)) =
                (evaluate(types, pointer)?, evaluate(types, index)?)
            else {
                return None;
            };
            wrap(pointer.checked_add(index.checked_mul(i128::from(*stride))?)?, IntKind::ULong)
                .map(Value::Int)
        }
        ExprKind::PtrDiff { left, right, stride } => {
            let (Value::Int(left), Value::Int(right)) = (evaluate(types, left)?, evaluate(types, right)?)
            else {
                return None;
            };
            (left - right).checked_div(i128::from(*stride)).map(Value::Int)
        }
        _ => None,
    }
}

/// The value of an integer expression that is known at compile time.
pub fn fold(types: &Types, expr: &Expr) -> Option<i128> {
    types.as_int(expr.ty.ty)?;
    match evaluate(types, expr)? {
        Value::Int(value) => Some(value),
        Value::Float(_) => None,
    }
}

/// The address of a place that stands at a number, as in the classic `offsetof`.
fn address(types: &Types, place: &Place) -> Option<i128> {
    match &place.kind {
        PlaceKind::Deref(pointer) => match evaluate(types, pointer)? {
            Value::Int(value) => Some(value),
            Value::Float(_) => None,
        },
        PlaceKind::Field { base, offset, .. } => address(types, base)?.checked_add(i128::from(*offset)),
        PlaceKind::Var(_) | PlaceKind::Opaque(_) => None,
    }
}

fn truth(value: Value) -> bool {
    match value {
        Value::Int(value) => value != 0,
        Value::Float(value) => value != 0.0,
    }
}

fn convert(types: &Types, value: Value, to: &Expr) -> Option<Value> {
    if let Some(kind) = types.as_int(to.ty.ty) {
        return Some(Value::Int(match value {
            Value::Int(value) => wrap(value, kind)?,
            Value::Float(value) if kind == IntKind::Bool => i128::from(value != 0.0),
            Value::Float(value) => {
                let whole = value.trunc();
                // Out of range is undefined.
                if whole.is_nan() || whole.abs() >= 1.7e38 {
                    return None;
                }
                let whole = whole as i128;
                wrap(whole, kind).filter(|wrapped| *wrapped == whole)?
            }
        }));
    }
    if let Some(kind) = types.as_float(to.ty.ty) {
        return match (value, kind) {
            (Value::Int(value), FloatKind::Double) => Some(Value::Float(value as f64)),
            (Value::Int(value), FloatKind::Float) => Some(Value::Float(f64::from(value as f32))),
            (Value::Float(value), FloatKind::Double) => Some(Value::Float(value)),
            (Value::Float(value), FloatKind::Float) => Some(Value::Float(f64::from(value as f32))),
            _ => None,
        };
    }
    match (types.pointee(to.ty.ty), value) {
        (Some(_), Value::Int(value)) => wrap(value, IntKind::ULong).map(Value::Int),
        _ => None,
    }
}

fn unary(types: &Types, op: UnOp, value: Value, expr: &Expr) -> Option<Value> {
    match (op, value) {
        (UnOp::Not, value) => Some(Value::Int(i128::from(!truth(value)))),
        (UnOp::Neg, Value::Float(value)) => Some(Value::Float(-value)),
        (UnOp::Neg, Value::Int(value)) => {
            let kind = types.as_int(expr.ty.ty)?;
            exact(value.checked_neg()?, kind).map(Value::Int)
        }
        (UnOp::BitNot, Value::Int(value)) => wrap(!value, types.as_int(expr.ty.ty)?).map(Value::Int),
        (UnOp::BitNot, Value::Float(_)) => None,
    }
}

/// `value` in `kind`: reduced for an unsigned type, nothing if a signed one overflows.
fn exact(value: i128, kind: IntKind) -> Option<i128> {
    let wrapped = wrap(value, kind)?;
    (!kind.signed() || wrapped == value).then_some(wrapped)
}

fn compare(op: BinOp, order: std::cmp::Ordering) -> Option<i128> {
    Some(i128::from(match op {
        BinOp::Lt => order.is_lt(),
        BinOp::Le => order.is_le(),
        BinOp::Gt => order.is_gt(),
        BinOp::Ge => order.is_ge(),
        BinOp::Eq => order.is_eq(),
        BinOp::Ne => order.is_ne(),
        _ => return None,
    }))
}

/// `a op b` for operands of type `kind` (shifts: the left one's type).
pub fn integers(op: BinOp, a: i128, b: i128, kind: IntKind) -> Option<i128> {
    let bits = i128::from(kind.size() * 8);
    let result = match op {
        BinOp::Add => a.checked_add(b)?,
        BinOp::Sub => a.checked_sub(b)?,
        BinOp::Mul => a.checked_mul(b)?,
        BinOp::Div => a.checked_div(b)?,
        BinOp::Rem => a.checked_rem(b).filter(|_| exact(a.wrapping_div(b), kind).is_some())?,
        BinOp::And => a & b,
        BinOp::Or => a | b,
        BinOp::Xor => a ^ b,
        BinOp::Shl if (0..bits).contains(&b) && bits <= 64 && a >= 0 => {
            // gcc lets ones move into and past the sign bit.
            return wrap(a << b, kind);
        }
        BinOp::Shl if (0..bits).contains(&b) && bits <= 64 => return wrap(a.checked_mul(1i128 << b)?, kind),
        BinOp::Shr if (0..bits).contains(&b) => a >> b,
        BinOp::Shl | BinOp::Shr => return None,
        _ => return compare(op, a.cmp(&b)),
    };
    exact(result, kind)
}

fn floats(types: &Types, op: BinOp, a: f64, b: f64, expr: &Expr) -> Option<Value> {
    let result = match op {
        BinOp::Add => a + b,
        BinOp::Sub => a - b,
        BinOp::Mul => a * b,
        BinOp::Div => a / b,
        BinOp::Ne if a.is_nan() || b.is_nan() => return Some(Value::Int(1)),
        _ => {
            return match a.partial_cmp(&b) {
                Some(order) => compare(op, order).map(Value::Int),
                None => Some(Value::Int(0)),
            };
        }
    };
    // One operation in double, rounded to float, is the operation in float.
    match types.as_float(expr.ty.ty)? {
        FloatKind::Float => Some(Value::Float(f64::from(result as f32))),
        FloatKind::Double => Some(Value::Float(result)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integer_constants() {
        use IntKind::*;
        for (spelling, value, kind) in [
            ("0", 0, Int),
            ("2147483647", 2147483647, Int),
            ("2147483648", 2147483648, Long),
            ("0x80000000", 0x80000000, UInt),
            ("0xffffffffffffffff", 0xffff_ffff_ffff_ffff, ULong),
            ("1u", 1, UInt),
            ("4294967296u", 4294967296, ULong),
            ("1ll", 1, LongLong),
            ("1ULL", 1, ULongLong),
            ("1lu", 1, ULong),
            ("017", 15, Int),
            ("0b101", 5, Int),
        ] {
            assert_eq!(integer(spelling), Some((value, kind)), "{spelling}");
        }
        for spelling in ["1i", "08", "18446744073709551616", "1lul", "0x"] {
            assert_eq!(integer(spelling), None, "{spelling}");
        }
    }

    #[test]
    fn floating_constants() {
        assert_eq!(floating("1.5f"), Some(("1.5e0".into(), FloatKind::Float)));
        assert_eq!(floating("1e-3"), Some(("1e-3".into(), FloatKind::Double)));
        assert_eq!(floating("1.L"), Some(("1.".into(), FloatKind::LongDouble)));
        assert_eq!(floating(".5"), Some(("5e-1".into(), FloatKind::Double)));
        assert_eq!(floating("0x1.fp3f"), Some(("1.55e1".into(), FloatKind::Float)));
        assert_eq!(floating("0x1.fp3"), Some(("1.55e1".into(), FloatKind::Double)));
        assert_eq!(floating("0.1f"), Some((format!("{:e}", f64::from(0.1f32)), FloatKind::Float)));
        assert_eq!(floating("1.0i"), None);
        assert_eq!(floating("1e999"), None);
        assert_eq!(floating("1.0f16"), None);
        assert_eq!(floating_value("0x1.8p1", FloatKind::Double), Some(3.0));
        assert_eq!(floating_value("0.1", FloatKind::Float), Some(f64::from(0.1f32)));
        assert!(is_floating("1e5") && is_floating("0x1p3") && !is_floating("0x1e5"));
    }

    #[test]
    fn characters_and_strings() {
        assert_eq!(character("'a'", false), Some((97, IntKind::Int)));
        assert_eq!(character("'\\377'", false), Some((-1, IntKind::Int)));
        assert_eq!(character("'\\xff'", true), Some((255, IntKind::Int)));
        assert_eq!(character("'ab'", false), Some((97 * 256 + 98, IntKind::Int)));
        assert_eq!(character("L'\\u00e9'", false), Some((0xe9, IntKind::Int)));
        let text = string(["\"a\\n\"", "\"\\101b\""].into_iter()).unwrap();
        assert_eq!((text.bytes.unwrap(), text.length), (b"a\nAb".to_vec(), 5));
        assert_eq!(string(["L\"ab\"", "\"c\""].into_iter()).unwrap().length, 4);
    }
}
