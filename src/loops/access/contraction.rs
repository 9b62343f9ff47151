//! Products that the C compiler may fuse with sums, where it may contract: what it does isn't known, so such loops stay with it.

use super::*;

impl Accesses<'_> {
    /// A product and a sum that the compiler may fuse. Which ones it does is not known, so bits that it gives can't be had
    /// elsewhere; except where the user has given the accumulation free that they end in.
    pub(super) fn may_fuse(&mut self, line: u32) -> Result<(), Refused> {
        match self.assigned {
            Some(v) if self.options.reassociate => {
                self.fusable.push((v, line));
                Ok(())
            }
            _ => Err(contraction(line)),
        }
    }
}

/// Whether an expression may be a floating-point product as the compiler sees it: it follows values through variables,
/// negations and what is chosen by a condition.
pub(super) fn is_product(unit: &TranslationUnit, products: &BTreeSet<VarId>, e: &Expr) -> bool {
    let inside = |e: &Expr| is_product(unit, products, e);
    unit.types.as_float(e.ty.ty).is_some()
        && match &e.kind {
            // A sum of something with itself is twice that.
            ExprKind::Binary(BinOp::Add, a, b) if same(a, b) => true,
            ExprKind::Binary(op, ..) | ExprKind::AssignOp { op, .. } => *op == BinOp::Mul,
            ExprKind::Unary(_, a) | ExprKind::Cast(a) | ExprKind::Assign(_, a) | ExprKind::Comma(_, a) => {
                inside(a)
            }
            ExprKind::Conditional(_, a, b) => inside(a) || inside(b),
            // Squares are products.
            ExprKind::Call { callee, .. } => {
                let name = match callee {
                    Callee::Named(v) => &unit.var(*v).name,
                    Callee::Builtin(name) => name,
                    Callee::Pointer(_) => return false,
                };
                name.contains("pow")
            }
            ExprKind::Load(place) => variable_of(unit, place).is_some_and(|v| products.contains(&v)),
            _ => false,
        }
}

/// The scalars that some assignment in a loop gives a product.
pub(super) fn products(unit: &TranslationUnit, whole: &LoopStmt) -> BTreeSet<VarId> {
    let mut found = BTreeSet::new();
    loop {
        let before = found.len();
        nest::statements(&whole.body, &mut |s| {
            if let StmtKind::Declare { var, init: Some(Init::Scalar(value)) } = &s.kind
                && is_product(unit, &found, value)
            {
                found.insert(*var);
            }
        });
        nest::all_expressions(&whole.body, &mut |e| {
            if let Some((place, _, true)) = nest::accessed_place(e)
                && is_product(unit, &found, e)
            {
                found.extend(is_scalar(unit, place));
            }
        });
        if found.len() == before {
            return found;
        }
    }
}

/// Why a product and a sum keep a loop where it is.
pub fn contraction(line: u32) -> Refused {
    let text =
        format!("the compiler may fuse the product and sum in line {line} (-ffp-contract=off forbids it)");
    Reason::new(Kind::FloatingPointContraction, text).settled_by([Advice::NoContraction])
}
