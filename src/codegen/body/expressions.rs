//! Expressions as text. Their side effects become statements in front of them; where C's sequencing needs more than that, they are not printed.

use super::{Printed, Printer, Purpose, Scalar, unknown};
use crate::c::constant::fold;
use crate::c::hir::*;
use crate::codegen::types;
use crate::loops::access::{exact_function, is_integer_function};

impl Printer<'_> {
    pub(super) fn has_side_effects(e: &Expr) -> bool {
        let mut found = false;
        crate::loops::nest::expressions(e, &mut |e| {
            found |= crate::loops::nest::accessed_place(e).is_some_and(|(_, _, writes)| writes);
        });
        found
    }

    pub(super) fn pure(&mut self, e: &Expr) -> Printed<String> {
        if Self::has_side_effects(e) {
            return Err("a side effect under a condition".into());
        }
        let mut none = String::new();
        self.conditions += 1;
        let text = self.value(e, &mut none);
        self.conditions -= 1;
        let text = text?;
        if none.is_empty() { Ok(text) } else { Err("a side effect under a condition".into()) }
    }

    /// Two operands; where the second has side effects the first is saved before them.
    fn operands(&mut self, a: &Expr, b: &Expr, out: &mut String) -> Printed<(String, String)> {
        let mut left = self.value(a, out)?;
        if Self::has_side_effects(b) {
            let kind = self.scalar(a.ty)?;
            let saved = self.temporary(kind);
            out.push_str(&format!("{saved} = {left};\n"));
            left = saved;
        }
        Ok((left, self.value(b, out)?))
    }

    /// The value of an expression; its side effects go to `out` first.
    pub fn value(&mut self, e: &Expr, out: &mut String) -> Printed<String> {
        if let Some(lent) = self.lend(e)? {
            return Ok(lent);
        }
        if let Some(gathered) = self.look_ahead(e)? {
            return Ok(gathered);
        }
        match &e.kind {
            ExprKind::Int(v) => {
                let kind = self.scalar(e.ty)?;
                let bits = *v as i64;
                Ok(match kind {
                    Scalar::Int(k) if k.size() <= 4 && k.signed() && bits != i64::from(i32::MIN) => {
                        format!("({}){bits}", kind.name()).replace(")-", ")(-")
                            + if bits < 0 { ")" } else { "" }
                    }
                    Scalar::Int(k) if k.size() <= 4 && !k.signed() => {
                        format!("({})0x{:x}u", kind.name(), bits as u32)
                    }
                    _ => format!("(({}){})", kind.name(), types::literal(bits)),
                })
            }
            ExprKind::Float(text) => {
                let value: f64 = text.parse().map_err(|_| "a floating constant")?;
                match self.scalar(e.ty)? {
                    // Shortest decimal spelling that reads back as the same value.
                    Scalar::F32 => Ok(format!("{:e}f", value as f32)),
                    Scalar::F64 => Ok(format!("{value:e}")),
                    _ => Err("a floating constant of another type".into()),
                }
            }
            ExprKind::Load(p) => self.load(p, out),
            ExprKind::AddressOf(p) => self.address(p, out),
            ExprKind::Unary(op, a) => {
                let operand = self.value(a, out)?;
                let kind = self.scalar(e.ty)?;
                Ok(match (op, kind) {
                    (UnOp::Not, _) => format!("((int)!({operand}))"),
                    (UnOp::BitNot, _) => format!("(({})~({operand}))", kind.name()),
                    (UnOp::Neg, Scalar::Int(k)) => {
                        format!("(({})(0u - ({})({operand})))", kind.name(), types::unsigned(k))
                    }
                    (UnOp::Neg, _) => self.negated(a, &operand, kind),
                })
            }
            ExprKind::Binary(op, a, b) => {
                let (x, y) = self.operands(a, b, out)?;
                self.binary(*op, &x, &y, a.ty, e.ty, fold(&self.unit.types, b))
            }
            ExprKind::PtrAdd { pointer, index, stride } => {
                let outer = std::mem::replace(&mut self.in_subscript, true);
                let operands = self.operands(pointer, index, out);
                self.in_subscript = outer;
                let (p, i) = operands?;
                let p = if self.seeing.is_some() { self.pointer_of_all(pointer, p) } else { p };
                Ok(format!("({p} + (__pg_u64)(__pg_i64)({i}) * {stride}u)"))
            }
            ExprKind::PtrDiff { left, right, stride } => {
                let (a, b) = self.operands(left, right, out)?;
                Ok(format!("((__pg_i64)({a} - {b}) / (__pg_i64){stride})"))
            }
            ExprKind::Cast(inner) => {
                if matches!(self.unit.types.kind(e.ty.ty), TypeKind::Void) {
                    return self.value(inner, out);
                }
                let text = self.value(inner, out)?;
                let (from, to) = (self.scalar(inner.ty)?, self.scalar(e.ty)?);
                Ok(self.cast(&text, from, to))
            }
            ExprKind::Conditional(c, a, b) => {
                let c = self.value(c, out)?;
                let (a, b) = (self.pure(a)?, self.pure(b)?);
                let name = self.scalar(e.ty)?.name();
                Ok(format!("(({c}) ? ({name})({a}) : ({name})({b}))"))
            }
            ExprKind::LogicalAnd(a, b) => {
                let (a, b) = (self.value(a, out)?, self.pure(b)?);
                Ok(format!("((int)(({a}) && ({b})))"))
            }
            ExprKind::LogicalOr(a, b) => {
                let (a, b) = (self.value(a, out)?, self.pure(b)?);
                Ok(format!("((int)(({a}) || ({b})))"))
            }
            ExprKind::Comma(a, b) => {
                let first = self.value(a, out)?;
                if !Self::has_side_effects(a) {
                    out.push_str(&format!("(void)({first});\n"));
                }
                self.value(b, out)
            }
            ExprKind::Assign(place, value) => {
                let value = self.value(value, out)?;
                self.assigned(place, value, out)
            }
            ExprKind::AssignOp { op, place, value, compute } => {
                let operand = self.value(value, out)?;
                let (old, address) = self.load_to_change(place, out)?;
                let (kind, wide) = (self.scalar(place.ty)?, self.scalar(*compute)?);
                let old = self.cast(&old, kind, wide);
                let result =
                    self.binary(*op, &old, &operand, *compute, *compute, fold(&self.unit.types, value))?;
                let result = self.cast(&result, wide, kind);
                self.assigned_at(place, address.as_deref(), result, out)
            }
            ExprKind::PtrAssign { place, index, stride } => {
                let index = self.value(index, out)?;
                let (old, address) = self.load_to_change(place, out)?;
                let new = format!("({old} + (__pg_u64)(__pg_i64)({index}) * {stride}u)");
                self.assigned_at(place, address.as_deref(), new, out)
            }
            ExprKind::IncDec { place, amount, post } => {
                let kind = self.scalar(place.ty)?;
                let (loaded, address) = self.load_to_change(place, out)?;
                let old = self.temporary(kind);
                out.push_str(&format!("{old} = {loaded};\n"));
                let new = match kind {
                    Scalar::Int(IntKind::Bool) => return Err("an increment of a _Bool".into()),
                    Scalar::Int(k) => {
                        format!(
                            "(({})(({u}){old} + ({u}){}))",
                            kind.name(),
                            types::literal(*amount),
                            u = types::unsigned(k)
                        )
                    }
                    Scalar::Address => format!("({old} + (__pg_u64){})", types::literal(*amount)),
                    Scalar::F32 | Scalar::F64 => {
                        format!("({old} + ({}){})", kind.name(), types::literal(*amount))
                    }
                };
                let new = self.assigned_at(place, address.as_deref(), new, out)?;
                Ok(if *post { old } else { new })
            }
            ExprKind::Call { callee, args } => {
                let name = match callee {
                    Callee::Named(id) => self.unit.var(*id).name.as_str(),
                    Callee::Builtin(name) => name.as_str(),
                    Callee::Pointer(_) => return Err("a call through a pointer".into()),
                };
                let (is_exact, is_of_integers) = (exact_function(name).is_some(), is_integer_function(name));
                let name = name.strip_prefix("__builtin_").unwrap_or(name).to_owned();
                let kind = self.scalar(e.ty)?;
                let mut texts = Vec::new();
                for argument in args {
                    if Self::has_side_effects(argument) && args.len() > 1 {
                        return Err("a side effect among arguments".into());
                    }
                    texts.push(self.value(argument, out)?);
                }
                if matches!(self.purpose, Purpose::Inspection(_)) && !is_exact {
                    // No address follows from it.
                    return Ok(unknown(kind, &texts.join(", ")));
                }
                if self.is_of_entry() {
                    return Ok(format!("__builtin_{name}({})", texts.join(", ")));
                }
                if is_of_integers {
                    return Ok(format!("__PG_INTEGER({name}, __pg_integer_{name})({})", texts.join(", ")));
                }
                if name == "sqrt" || name == "sqrtf" {
                    return Ok(format!("__PG_SQRT({}, {name}, {})", kind.suffix(), texts.join(", ")));
                }
                Ok(format!("__PG_CALL({name})({})", texts.join(", ")))
            }
            ExprKind::Str(_) | ExprKind::Function(_) => {
                Err("an address of something that is no array".into())
            }
            ExprKind::Opaque(what) => Err((*what).into()),
        }
    }

    pub(super) fn cast(&self, text: &str, from: Scalar, to: Scalar) -> String {
        match (from, to) {
            _ if from == to => text.to_owned(),
            (_, Scalar::Int(IntKind::Bool)) => format!("((unsigned char)(({text}) != 0))"),
            (Scalar::F32 | Scalar::F64, Scalar::Int(kind)) if !self.is_of_entry() => {
                // What x86 compilers do: narrow types by way of int, unsigned int by way of 64 bits.
                let via = match (kind.size(), kind.signed()) {
                    (1 | 2, _) | (4, true) => "i32",
                    (4, false) => "u32",
                    (_, true) => "i64",
                    (_, false) => "u64",
                };
                format!("__PG_TO({via}, {}, {text})", to.name())
            }
            _ => format!("(({})({text}))", to.name()),
        }
    }

    fn binary(
        &self,
        op: BinOp,
        x: &str,
        y: &str,
        operand: QualType,
        result: QualType,
        constant: Option<i128>,
    ) -> Printed<String> {
        let (kind, result) = (self.scalar(operand)?, self.scalar(result)?);
        let sign = op.c_name();
        let Scalar::Int(k) = kind else {
            return Ok(match op {
                BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge | BinOp::Eq | BinOp::Ne => {
                    format!("((int)(({x}) {sign} ({y})))")
                }
                _ => format!("(({x}) {sign} ({y}))"),
            });
        };
        Ok(match op {
            BinOp::Add | BinOp::Sub | BinOp::Mul
                if self.in_subscript && k == IntKind::Int && matches!(self.purpose, Purpose::Iterations) =>
            {
                format!("((int)((__PG_INDEX)({x}) {sign} (__PG_INDEX)({y})))")
            }
            BinOp::Add | BinOp::Sub | BinOp::Mul => {
                format!("(({})(({u})({x}) {sign} ({u})({y})))", result.name(), u = types::unsigned(k))
            }
            BinOp::And | BinOp::Or | BinOp::Xor => format!("(({})(({x}) {sign} ({y})))", result.name()),
            BinOp::Div | BinOp::Rem => {
                // Before the loop it is the program that would divide there.
                if matches!(self.purpose, Purpose::Entry) || constant.is_some_and(|c| c != 0 && c != -1) {
                    format!("(({})(({x}) {sign} ({y})))", result.name())
                } else {
                    let name = if op == BinOp::Div { "DIV" } else { "REM" };
                    format!("__PG_{name}({}, {x}, {y})", kind.suffix())
                }
            }
            BinOp::Shl | BinOp::Shr => {
                // As the hardware does it where C says nothing.
                let mask = if k.size() == 8 { 63 } else { 31 };
                let count = match constant {
                    Some(c) if (0..=mask).contains(&c) => format!("{c}"),
                    _ => format!("((int)({y}) & {mask})"),
                };
                if op == BinOp::Shl {
                    format!("(({})(({})({x}) << {count}))", result.name(), types::unsigned(k))
                } else {
                    format!("(({})(({x}) >> {count}))", result.name())
                }
            }
            _ => format!("((int)(({x}) {sign} ({y})))"),
        })
    }

    /// Whether it is the program that computes this, in front of the loop, where there are none of the macros.
    fn is_of_entry(&self) -> bool {
        matches!(self.purpose, Purpose::Entry)
    }

    /// A floating-point number with the other sign. Of a constant that is another one, but for 1 and 0: where a GPU's compiler knows that something is -1 or
    /// -0, it takes that zero for one without a sign (`__pg_neg_f32` in `body/arithmetic.h`).
    fn negated(&self, of: &Expr, text: &str, kind: Scalar) -> String {
        let constant = match (&of.kind, kind) {
            // As it is printed.
            (ExprKind::Float(value), Scalar::F32) => {
                value.parse::<f64>().ok().map(|value| f64::from(value as f32))
            }
            (ExprKind::Float(value), _) => value.parse::<f64>().ok(),
            _ => None,
        };
        match constant {
            Some(value) if value != 0.0 && value != 1.0 => format!("(-({text}))"),
            _ if self.is_of_entry() => format!("(-({text}))"),
            _ => format!("__PG_NEG({}, {text})", kind.suffix()),
        }
    }
}
