//! Constants: literals and the folding of integer constant expressions.
//!
//! Folding works on the typed tree, so promotions and conversions are already explicit. A value that C leaves undefined
//! (overflow of a signed operation, division by zero, a shift out of range) does not fold.

use super::hir::*;
use super::types::wrap;

/// The value of an integer constant expression.
pub fn fold(types: &Types, expr: &Expr) -> Option<i128> {
    let kind = types.as_int(expr.ty.ty);
    match &expr.kind {
        ExprKind::Int(v) => Some(*v),
        ExprKind::Cast(inner) => {
            let kind = kind?;
            if let (ExprKind::Float(text), None) = (&inner.kind, types.as_int(inner.ty.ty)) {
                let value: f64 = text.parse().ok()?;
                return (value.abs() < 9e18).then(|| wrap(value.trunc() as i128, kind));
            }
            types.as_int(inner.ty.ty)?;
            Some(wrap(fold(types, inner)?, kind))
        }
        ExprKind::Unary(op, inner) => {
            let v = fold(types, inner)?;
            match op {
                UnOp::Neg => exact(v.checked_neg()?, kind?),
                UnOp::BitNot => Some(wrap(!v, kind?)),
                UnOp::Not => Some(i128::from(v == 0)),
            }
        }
        ExprKind::Binary(op, left, right) => {
            let (a, b) = (fold(types, left)?, fold(types, right)?);
            let kind = kind?;
            let operand = types.as_int(left.ty.ty)?;
            match op {
                BinOp::Add => exact(a.checked_add(b)?, kind),
                BinOp::Sub => exact(a.checked_sub(b)?, kind),
                BinOp::Mul => exact(a.checked_mul(b)?, kind),
                BinOp::Div => exact(a.checked_div(b)?, kind),
                BinOp::Rem => exact(a.checked_rem(b)?, kind),
                BinOp::And => Some(a & b),
                BinOp::Or => Some(a | b),
                BinOp::Xor => Some(a ^ b),
                BinOp::Shl | BinOp::Shr => {
                    let count = u32::try_from(b).ok().filter(|c| u64::from(*c) < operand.size() * 8)?;
                    if *op == BinOp::Shr { Some(a >> count) } else { Some(wrap(a.checked_shl(count)?, kind)) }
                }
                BinOp::Lt => Some(i128::from(a < b)),
                BinOp::Le => Some(i128::from(a <= b)),
                BinOp::Gt => Some(i128::from(a > b)),
                BinOp::Ge => Some(i128::from(a >= b)),
                BinOp::Eq => Some(i128::from(a == b)),
                BinOp::Ne => Some(i128::from(a != b)),
            }
        }
        ExprKind::Conditional(c, a, b) => {
            if fold(types, c)? != 0 {
                fold(types, a)
            } else {
                fold(types, b)
            }
        }
        ExprKind::LogicalAnd(a, b) => match fold(types, a)? {
            0 => Some(0),
            _ => Some(i128::from(fold(types, b)? != 0)),
        },
        ExprKind::LogicalOr(a, b) => match fold(types, a)? {
            0 => Some(i128::from(fold(types, b)? != 0)),
            _ => Some(1),
        },
        _ => None,
    }
}

/// Unsigned results wrap; signed ones must fit.
fn exact(value: i128, kind: IntKind) -> Option<i128> {
    let wrapped = wrap(value, kind);
    (!kind.signed() || wrapped == value).then_some(wrapped)
}

/// What a number token says.
#[derive(Clone, PartialEq, Debug)]
pub enum Number {
    /// An integer with its type.
    Int(i128, IntKind),
    /// A floating constant: decimal spelling that parses to exactly the same value, and its type.
    Float(String, FloatKind),
}

/// Reads a preprocessing number (C11 6.4.4).
pub fn number(text: &str) -> Result<Number, String> {
    let lower = text.to_ascii_lowercase();
    let bad = || format!("number {text}");
    let hex = lower.starts_with("0x");
    let is_float = if hex {
        lower.contains('p') || lower.contains('.')
    } else {
        lower.contains(['.', 'e']) && !lower.starts_with("0b")
    };
    if is_float {
        let (digits, kind) = match lower.as_bytes().last() {
            Some(b'f') if !hex || lower.contains('p') => (&lower[..lower.len() - 1], FloatKind::Float),
            Some(b'l') => (&lower[..lower.len() - 1], FloatKind::LongDouble),
            _ => (&lower[..], FloatKind::Double),
        };
        let value: f64 =
            if hex { hex_float(digits).ok_or_else(bad)? } else { digits.parse().map_err(|_| bad())? };
        let value = match kind {
            // Parsed as float directly: rounding twice could differ.
            FloatKind::Float if !hex => f64::from(digits.parse::<f32>().map_err(|_| bad())?),
            FloatKind::Float => f64::from(value as f32),
            _ => value,
        };
        if !value.is_finite() {
            return Err(bad());
        }
        return Ok(Number::Float(format!("{value:e}"), kind));
    }
    let digits_end = lower.find(['u', 'l', 'i', 'z', 'w']).unwrap_or(lower.len());
    let (digits, suffix) = lower.split_at(digits_end);
    let (value, decimal) = if let Some(d) = digits.strip_prefix("0x") {
        (u64::from_str_radix(d, 16).map_err(|_| bad())?, false)
    } else if let Some(d) = digits.strip_prefix("0b") {
        (u64::from_str_radix(d, 2).map_err(|_| bad())?, false)
    } else if digits.len() > 1 && digits.starts_with('0') {
        (u64::from_str_radix(&digits[1..], 8).map_err(|_| bad())?, false)
    } else {
        (digits.parse().map_err(|_| bad())?, true)
    };
    use IntKind::*;
    let candidates: &[IntKind] = match suffix {
        "" if decimal => &[Int, Long],
        "" => &[Int, UInt, Long, ULong],
        "u" => &[UInt, ULong],
        "l" if decimal => &[Long],
        "l" => &[Long, ULong],
        "ul" | "lu" => &[ULong],
        "ll" if decimal => &[LongLong],
        "ll" => &[LongLong, ULongLong],
        "ull" | "llu" => &[ULongLong],
        _ => return Err(bad()),
    };
    let value = i128::from(value);
    candidates.iter().find(|k| wrap(value, **k) == value).map(|k| Number::Int(value, *k)).ok_or_else(bad)
}

fn hex_float(text: &str) -> Option<f64> {
    let body = text.strip_prefix("0x")?;
    let (mantissa, exponent) = body.split_once('p').unwrap_or((body, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    // More digits than a 64-bit mantissa would have to be rounded: such constants are refused.
    let value = if digits.is_empty() { return None } else { u64::from_str_radix(&digits, 16).ok()? };
    if value >= 1 << 53 {
        return None;
    }
    let exponent = exponent.parse::<i32>().ok()?.checked_sub(4 * fraction.len() as i32)?;
    let result = value as f64 * 2f64.powi(exponent);
    (result != 0.0 || value == 0).then_some(result)
}

/// The value of a character constant's token, as `int`.
pub fn character(text: &str) -> Result<i128, String> {
    let body =
        text.strip_prefix('\'').and_then(|t| t.strip_suffix('\'')).ok_or("a wide character constant")?;
    let bytes = unescape(body.as_bytes()).ok_or_else(|| format!("character constant {text}"))?;
    match bytes[..] {
        [one] => Ok(i128::from(one as i8)),
        _ => Err("a character constant of several characters".into()),
    }
}

/// The bytes of a string or character body.
pub fn unescape(body: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < body.len() {
        if body[at] != b'\\' {
            out.push(body[at]);
            at += 1;
            continue;
        }
        at += 1;
        let c = *body.get(at)?;
        at += 1;
        out.push(match c {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'a' => 7,
            b'b' => 8,
            b'f' => 12,
            b'v' => 11,
            b'e' | b'E' => 27,
            b'\\' | b'\'' | b'"' | b'?' => c,
            b'x' => {
                let end = (at..body.len()).find(|&i| !body[i].is_ascii_hexdigit()).unwrap_or(body.len());
                let text = std::str::from_utf8(&body[at..end]).ok()?;
                at = end;
                u8::try_from(u32::from_str_radix(text, 16).ok()?).ok()?
            }
            b'0'..=b'7' => {
                let end = (at..body.len().min(at + 2)).find(|&i| !(b'0'..=b'7').contains(&body[i]));
                let end = end.unwrap_or(body.len().min(at + 2));
                let text = std::str::from_utf8(&body[at - 1..end]).ok()?;
                at = end;
                u8::try_from(u32::from_str_radix(text, 8).ok()?).ok()?
            }
            _ => return None,
        });
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_c_types() {
        assert_eq!(number("42"), Ok(Number::Int(42, IntKind::Int)));
        assert_eq!(number("2147483648"), Ok(Number::Int(2147483648, IntKind::Long)));
        assert_eq!(number("0x80000000"), Ok(Number::Int(2147483648, IntKind::UInt)));
        assert_eq!(number("017"), Ok(Number::Int(15, IntKind::Int)));
        assert_eq!(number("1UL"), Ok(Number::Int(1, IntKind::ULong)));
        assert_eq!(number("0.1f"), Ok(Number::Float(format!("{:e}", f64::from(0.1f32)), FloatKind::Float)));
        assert_eq!(number("0x1p-3"), Ok(Number::Float("1.25e-1".into(), FloatKind::Double)));
        assert_eq!(number("1e3"), Ok(Number::Float("1e3".into(), FloatKind::Double)));
        assert!(number("12abc").is_err());
        assert_eq!(character("'\\n'"), Ok(10));
        assert_eq!(character("'\\xff'"), Ok(-1));
        assert_eq!(character("'\\101'"), Ok(65));
    }
}
