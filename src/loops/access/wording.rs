//! How reasons name a place: compact source text.

use super::*;

/// A place as a programmer would write it, roughly.
pub fn describe(unit: &TranslationUnit, place: &Place) -> String {
    fn expr(unit: &TranslationUnit, e: &Expr) -> String {
        match &e.kind {
            ExprKind::Int(v) => v.to_string(),
            ExprKind::Load(p) => describe(unit, p),
            ExprKind::AddressOf(p) => describe(unit, p),
            ExprKind::Cast(inner) => expr(unit, inner),
            ExprKind::PtrAdd { pointer, index, .. } => {
                format!("{} + {}", expr(unit, pointer), expr(unit, written(unit, index)))
            }
            ExprKind::Binary(op, a, b) => {
                let sign = match op {
                    BinOp::Add => "+",
                    BinOp::Sub => "-",
                    BinOp::Mul => "*",
                    BinOp::Rem => "%",
                    BinOp::Div => "/",
                    _ => "?",
                };
                format!("{}{sign}{}", expr(unit, a), expr(unit, b))
            }
            ExprKind::Unary(UnOp::Neg, a) => format!("-{}", expr(unit, a)),
            ExprKind::IncDec { place, amount, post } => {
                let (place, sign) = (describe(unit, place), if *amount > 0 { "++" } else { "--" });
                if *post { format!("{place}{sign}") } else { format!("{sign}{place}") }
            }
            _ => "...".into(),
        }
    }
    /// An index as it is written: without the length of rows that it was multiplied by.
    fn written<'a>(unit: &TranslationUnit, index: &'a Expr) -> &'a Expr {
        let ExprKind::Binary(BinOp::Mul, own, count) = &index.kind else { return index };
        let mut is_length = false;
        nest::expressions(count, &mut |e| {
            is_length |= matches!(&e.kind, ExprKind::Load(p) if unit.lengths_read.contains_key(&p.id));
        });
        if is_length { own } else { index }
    }
    /// In front of a subscript or an arrow.
    fn operand(unit: &TranslationUnit, e: &Expr) -> String {
        let text = expr(unit, e);
        let mut inner = e;
        while let ExprKind::Cast(value) = &inner.kind {
            inner = value;
        }
        let is_name = matches!(inner.kind, ExprKind::Load(_) | ExprKind::AddressOf(_));
        if is_name && !text.starts_with('*') { text } else { format!("({text})") }
    }
    match &place.kind {
        PlaceKind::Var(v) => unit.var(*v).name.clone(),
        PlaceKind::Deref(e) => match &e.kind {
            ExprKind::PtrAdd { pointer, index, .. } => {
                format!("{}[{}]", operand(unit, pointer), expr(unit, written(unit, index)))
            }
            _ => format!("*{}", expr(unit, e)),
        },
        PlaceKind::Field { base, record, field, .. } => {
            let name =
                unit.types.record(*record).fields.as_ref().and_then(|f| f.get(*field as usize)?.name.clone());
            match (name, &base.kind) {
                (Some(name), PlaceKind::Deref(e)) if !matches!(e.kind, ExprKind::PtrAdd { .. }) => {
                    format!("{}->{name}", operand(unit, e))
                }
                (Some(name), _) => format!("{}.{name}", describe(unit, base)),
                (None, _) => describe(unit, base),
            }
        }
        PlaceKind::Opaque(what) => (*what).to_string(),
    }
}
