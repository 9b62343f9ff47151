//! Products that the C compiler may fuse with sums, where it may contract: what it does isn't known, so such loops stay with it.

use super::*;
use crate::loops::alias;

/// What holds a product: the compiler sees through stores and loads as it does through assignments of variables.
#[derive(Default)]
pub(super) struct Products {
    pub(super) variables: BTreeSet<VarId>,
    /// Memory that products are stored to, and after how many of the body's expressions they are.
    places: Vec<(Place, usize)>,
    /// Before how many of them each load stands.
    loads: BTreeMap<PlaceId, usize>,
    has_loops: bool,
    strict_aliasing: bool,
}

impl Products {
    /// Whether what is loaded from a place may be one of them.
    pub(super) fn may_lie_in(&self, unit: &TranslationUnit, place: &Place) -> bool {
        if let Some(v) = is_scalar(unit, place) {
            return self.variables.contains(&v);
        }
        variable_of(unit, place).is_some_and(|v| self.variables.contains(&v))
            || self.places.iter().any(|(stored, at)| {
                // What an earlier turn of a loop inside has stored is only known to be the same memory where it is found in the same
                // way; and an earlier iteration of ours has stored nothing that this one loads.
                let is_later = self.loads.get(&place.id).is_none_or(|load| load >= at);
                (is_later || self.has_loops)
                    && may_be_found_alike(unit, stored, place, is_later)
                    && alias::may_change(unit, self.strict_aliasing, stored, place)
                    && !are_other_members(stored, place)
            })
    }
}

/// What an address begins with.
enum Start {
    Array(VarId),
    Pointer(VarId),
}

fn start(place: &Place) -> Option<Start> {
    fn of_pointer(e: &Expr) -> Option<Start> {
        match &e.kind {
            ExprKind::PtrAdd { pointer, .. } | ExprKind::Cast(pointer) => of_pointer(pointer),
            ExprKind::AddressOf(place) => start(place),
            ExprKind::Load(Place { kind: PlaceKind::Var(v), .. }) => Some(Start::Pointer(*v)),
            _ => None,
        }
    }
    match &place.kind {
        PlaceKind::Var(v) => Some(Start::Array(*v)),
        PlaceKind::Field { base, .. } => start(base),
        PlaceKind::Deref(pointer) => of_pointer(pointer),
        PlaceKind::Opaque(_) => None,
    }
}

/// Whether the compiler may know that two places are one. Two parameters may be one pointer to whom has the callers, but only behind a
/// store it would take a load for what was stored.
fn may_be_found_alike(unit: &TranslationUnit, stored: &Place, load: &Place, is_later: bool) -> bool {
    let is_parameter = |v: VarId| unit.var(v).storage == Storage::Param;
    match (start(stored), start(load)) {
        (Some(Start::Array(a)), Some(Start::Array(b))) => a == b,
        (Some(Start::Pointer(a)), Some(Start::Pointer(b))) if is_parameter(a) && is_parameter(b) => {
            a == b || is_later
        }
        _ => true,
    }
}

/// Whether two places are different members of one kind of struct: then they are different memory of each such struct.
fn are_other_members(a: &Place, b: &Place) -> bool {
    match (&a.kind, &b.kind) {
        (PlaceKind::Field { record, offset, .. }, PlaceKind::Field { record: other, offset: at, .. }) => {
            record == other && offset != at
        }
        _ => false,
    }
}

impl Accesses<'_> {
    /// Whether a scalar may hold a product that the compiler could fuse with a sum: behind the loop, too, where it moves what only the last
    /// iteration needs to compute.
    pub fn holds_product(&self, v: VarId) -> bool {
        self.products.variables.contains(&v)
    }

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

/// Whether a divisor may be a constant that compilers multiply by the inverse of: a power of two.
fn may_have_exact_inverse(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Float(text) => {
            let digits = text.trim_end_matches(['f', 'F', 'l', 'L']);
            digits.parse::<f64>().map_or(true, |value| value.to_bits() << 12 == 0)
        }
        ExprKind::Int(value) => value.unsigned_abs().is_power_of_two(),
        ExprKind::Cast(e) | ExprKind::Unary(_, e) => may_have_exact_inverse(e),
        ExprKind::Load(place) => place.ty.quals.is_const,
        _ => false,
    }
}

/// Whether an expression may be a floating-point product as the compiler sees it: it follows values through variables, memory,
/// negations and what is chosen by a condition.
pub(super) fn is_product(unit: &TranslationUnit, products: &Products, e: &Expr) -> bool {
    let inside = |e: &Expr| is_product(unit, products, e);
    unit.types.as_float(e.ty.ty).is_some()
        && match &e.kind {
            // A sum of something with itself is twice that.
            ExprKind::Binary(BinOp::Add, a, b) if same(a, b) => true,
            ExprKind::Binary(op, _, b) | ExprKind::AssignOp { op, value: b, .. } => {
                *op == BinOp::Mul || *op == BinOp::Div && may_have_exact_inverse(b)
            }
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
            ExprKind::Load(place) => products.may_lie_in(unit, place),
            _ => false,
        }
}

/// The scalars and the memory that some assignment in a loop gives a product.
pub(super) fn products(unit: &TranslationUnit, whole: &LoopStmt, strict_aliasing: bool) -> Products {
    let mut found = Products { strict_aliasing, ..Products::default() };
    nest::statements(&whole.body, &mut |s| found.has_loops |= matches!(s.kind, StmtKind::Loop(_)));
    let mut count = 0;
    let mut ends = BTreeMap::new();
    nest::all_expressions(&whole.body, &mut |e| {
        if let Some((place, reads, writes)) = nest::accessed_place(e) {
            if reads {
                found.loads.insert(place.id, count);
            }
            if writes {
                let mut inside = 0;
                nest::expressions(e, &mut |_| inside += 1);
                ends.insert(place.id, count + inside);
            }
        }
        count += 1;
    });
    loop {
        let before = (found.variables.len(), found.places.len());
        nest::statements(&whole.body, &mut |s| {
            if let StmtKind::Declare { var, init: Some(Init::Scalar(value)) } = &s.kind
                && is_product(unit, &found, value)
            {
                found.variables.insert(*var);
            }
        });
        nest::all_expressions(&whole.body, &mut |e| {
            if let Some((place, _, true)) = nest::accessed_place(e)
                && is_product(unit, &found, e)
            {
                match is_scalar(unit, place) {
                    Some(v) => _ = found.variables.insert(v),
                    None if !found.places.iter().any(|(known, _)| known.id == place.id) => {
                        found.places.push((place.clone(), ends[&place.id]));
                    }
                    None => {}
                }
            }
        });
        if (found.variables.len(), found.places.len()) == before {
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

/// That a product's value is used behind the loop.
pub fn contraction_behind(name: &str) -> Refused {
    let text = format!(
        "the compiler may fuse the product in {name} with a sum behind the loop (-ffp-contract=off forbids it)"
    );
    Reason::new(Kind::FloatingPointContraction, text).settled_by([Advice::NoContraction])
}

/// The line of a floating-point sum, anywhere in the unit, that a compiler which contracts might fuse with a product. It does so within a
/// stretch of text without branches, after it has moved, unrolled, deleted and inlined: which products and sums meet there depends on the
/// text around loops, too, and a guard in front of a loop is text. So where there is a sum, no loop is touched. What could not be lowered
/// counts as one.
pub fn sum_anywhere(unit: &TranslationUnit) -> Option<u32> {
    let mut first = unit.refused.first().map(|refused| refused.span.line);
    let is_float = |ty: QualType| unit.types.as_float(ty.ty).is_some();
    for function in &unit.functions {
        nest::all_expressions(&function.body, &mut |e| {
            let sums = match &e.kind {
                ExprKind::Binary(BinOp::Add | BinOp::Sub, ..) => is_float(e.ty),
                ExprKind::AssignOp { op: BinOp::Add | BinOp::Sub, compute, .. } => is_float(*compute),
                ExprKind::IncDec { place, .. } => is_float(place.ty),
                _ => false,
            };
            if sums {
                first = first.or(Some(e.span.line));
            }
        });
    }
    first
}

/// That a sum may be fused with a product that nobody knows.
pub fn contraction_around(line: u32) -> Refused {
    let text = format!(
        "the compiler may fuse products with the sum in line {line}, and which ones depends on all text around (-ffp-contract=off forbids it)"
    );
    Reason::new(Kind::FloatingPointContraction, text).settled_by([Advice::NoContraction])
}

#[cfg(test)]
mod tests {
    use crate::compile::judged;
    use crate::loops::options::AnalysisOptions;
    use crate::loops::plan::Verdict;

    /// Whether a loop with this body may run elsewhere although its compiler fuses; `last` is used behind it.
    fn runs(body: &str, reassociate: bool) -> bool {
        let text = format!(
            "struct complex {{ double re, im; }} z[9];\ndouble one[9], two[9], sums[9];\nfloat narrow[9];\n\
             double f(int n, const double *a, const double *b, double *p)\n{{\ndouble last = 0;\n\
             for (int i = 0; i < n; i++) {{ {body} }}\nreturn last + 1;\n}}\n"
        );
        let options = AnalysisOptions {
            contraction: true,
            strict_aliasing: true,
            reassociate,
            ..AnalysisOptions::default()
        };
        let (_, reports) = judged(&text, &options);
        reports[0].verdict != Verdict::Sequential
    }

    #[test]
    fn products_are_followed_through_memory() {
        for body in [
            "one[i] = a[i] / 4 + b[i];",
            "one[i] = b[i] - a[i] / -0.5;",
            "z[i].re = a[i] * b[i]; z[i].re += 1;",
            "one[i] = a[i]; one[i] *= b[i]; one[i] += 1;",
            "one[i] = a[i] * b[i]; sums[i] = one[i] - b[i];",
            "p[i] = a[i] * b[i]; sums[i] = b[i] - p[i];",
            "p[i] = a[i] * b[i]; one[i] = p[i]; sums[i] = b[i] - one[i];",
            "p[i] = a[i] * b[i]; sums[i] = a[i] - 1;",
            "p[i] = a[i] * b[i]; p[i]--;",
            "double v = a[i] * b[i]; ++v; p[i] = v;",
            "p[i] = a[i] + 2; last = a[i] * b[i];",
            "p[i] = a[i] + 2; last = -(a[i] * b[i]);",
            "double v = a[i] * b[i]; p[i] = 2; last = v;",
            "double sum = 0; for (int j = 0; j < 9; j++) { z[i].re += 1; z[i].re *= b[j]; }",
        ] {
            assert!(!runs(body, false), "{body}");
        }
        for body in [
            "one[i] = a[i] * b[i]; sums[i] = two[i] + 1;",
            "z[i].re = a[i] * b[i]; z[i].im += 1;",
            "narrow[i] = (float)b[i] * 3; sums[i] = two[i] + 1;",
            "p[i] = (a[i] + b[i]) * 2;",
            "double v = a[i]; p[i] = (v + 1) * 2;",
            "p[i] = (p[i] + 1) * 2;",
            "p[i] = a[i] / 3 + 1;",
            "p[i] = a[i]; p[i]++;",
            "one[i] = a[i] * b[i]; last = two[i] + 2;",
            "double v = 0; for (int j = 0; j < 9; j++) v += a[j]; p[i] = v * 2;",
        ] {
            // Without the licence, the sum behind the loop is enough to leave it alone.
            assert!(runs(body, true), "{body}");
            assert!(!runs(body, false), "{body}");
        }
    }
}
