//! Variables whose address only functions have that are copied to where they are called, or that move bytes (`memcpy(&bits, &number, sizeof bits)`): where nothing is
//! left of their addresses they are variables like any other.
//!
//! What counts as an address is what the text says ([`TranslationUnit::addresses`]). Some expressions the typed tree doesn't have; a variable whose address is taken in
//! one of these is left alone.

use super::libm;
use super::nest;
use super::options::AnalysisOptions;
use crate::c::hir::*;
use std::collections::{BTreeMap, BTreeSet};

/// The variables whose addresses the tree has all.
pub struct Seen(BTreeSet<VarId>);

impl Seen {
    /// Before anything is changed.
    pub fn of(unit: &TranslationUnit) -> Seen {
        let mut found: BTreeMap<VarId, BTreeSet<u32>> = BTreeMap::new();
        for function in &unit.functions {
            addresses(&function.body, &mut |v, span| {
                found.entry(v).or_default().insert(span.start);
            });
        }
        let is_local = |v: VarId| matches!(unit.var(v).storage, Storage::Local | Storage::Param);
        let all = unit.addresses.iter().filter(|(v, taken)| {
            is_local(**v) && !unit.unseen.contains(v) && found.get(v).is_some_and(|found| found == *taken)
        });
        Seen(all.map(|(v, _)| *v).collect())
    }

    /// Forgets of variables that their address was taken where nothing is left of that.
    pub fn settle(&mut self, unit: &mut TranslationUnit) {
        let mut left = BTreeSet::new();
        for function in &unit.functions {
            addresses(&function.body, &mut |v, _| left.extend([v]));
        }
        for v in self.0.iter().filter(|v| !left.contains(v)) {
            unit.variables[v.0 as usize].address_taken = false;
        }
    }
}

/// Calls `visit` for each variable whose address stands below a statement, or that of a part of it.
fn addresses(body: &Stmt, visit: &mut dyn FnMut(VarId, Span)) {
    nest::all_expressions(body, &mut |e| {
        if let ExprKind::AddressOf(place) = &e.kind
            && let Some(v) = nest::root_variable(place)
        {
            visit(v, e.span);
        }
    });
}

/// Replaces calls of `memcpy` that copy a number or pointer to another one of the same size.
pub fn copy_bytes(unit: &mut TranslationUnit, options: &AnalysisOptions) {
    nest::replace_everywhere(unit, &|unit, e| copied(unit, options, e).is_some(), &mut |unit, e| {
        let (to, from) = copied(unit, options, e)?;
        Some(StmtKind::Block(by_union(unit, to, from, e.span)))
    });
}

/// What a call copies as a whole, and where to.
fn copied(unit: &TranslationUnit, options: &AnalysisOptions, e: &Expr) -> Option<(Place, Place)> {
    let mut call = e;
    while let ExprKind::Cast(inner) = &call.kind {
        call = inner;
    }
    let ExprKind::Call { callee, args } = &call.kind else { return None };
    let [to, from, size] = args.as_slice() else { return None };
    let size = crate::c::constant::fold(&unit.types, size)?;
    if !libm::is_library(unit, options, callee, "memcpy") {
        return None;
    }
    let place = |e: &Expr| {
        let mut e = e;
        while let ExprKind::Cast(inner) = &e.kind {
            e = inner;
        }
        let ExprKind::AddressOf(place) = &e.kind else { return None };
        let is_number = match unit.types.kind(place.ty.ty) {
            TypeKind::Int(kind) => kind.size() <= 8 && *kind != IntKind::Bool,
            TypeKind::Float(kind) => matches!(kind, FloatKind::Float | FloatKind::Double),
            _ => false,
        };
        let is_plain = !place.ty.quals.is_volatile && !place.ty.quals.is_atomic;
        let is_variable = matches!(place.kind, PlaceKind::Var(_));
        let fits = is_number && is_plain && is_variable;
        (fits && unit.types.size_of(place.ty.ty).map(i128::from) == Some(size)).then(|| place.clone())
    };
    Some((place(to)?, place(from)?))
}

/// Statements that store what is in one place in another one, as the same bytes.
fn by_union(unit: &mut TranslationUnit, to: Place, from: Place, span: Span) -> Vec<Stmt> {
    let (mut ty_to, mut ty_from) = (to.ty, from.ty);
    (ty_to.quals, ty_from.quals) = (Quals::default(), Quals::default());
    let size = unit.types.size_of(ty_to.ty).unwrap_or(0);
    let field = |ty| Field { name: None, ty, offset: 0, bits: None };
    let record = unit.types.add_record(Record {
        tag: None,
        alias: None,
        is_union: true,
        fields: Some(vec![field(ty_to), field(ty_from)]),
        size,
        align: size,
    });
    let ty = QualType { ty: unit.types.intern(TypeKind::Record(record)), quals: Quals::default() };
    let var = unit.new_variable("the bytes that are copied", ty, span);
    let mut place = |kind: PlaceKind, ty: QualType| unit.new_place(kind, ty, span);
    let mut member = |field: u32, member: QualType| {
        let base = Box::new(place(PlaceKind::Var(var), ty));
        place(PlaceKind::Field { base, record, field, offset: 0, bits: None }, member)
    };
    let (bytes, whole) = (member(1, ty_from), member(0, ty_to));
    let load = |place: Place, ty: QualType| Box::new(Expr { kind: ExprKind::Load(place), ty, span });
    let assign = |to: Place, value: Box<Expr>, ty: QualType| {
        let kind = ExprKind::Assign(to, value);
        Stmt { kind: StmtKind::Expr(Expr { kind, ty, span }), span }
    };
    vec![
        Stmt { kind: StmtKind::Declare { var, init: None }, span },
        assign(bytes, load(from, ty_from), ty_from),
        assign(to, load(whole, ty_to), ty_to),
    ]
}

/// The variable that a pointer of this type leads to whose address is written out (`*&v`).
pub fn pointed(pointer: &Expr, ty: QualType) -> Option<Place> {
    let ExprKind::AddressOf(place) = &pointer.kind else { return None };
    (matches!(place.kind, PlaceKind::Var(_)) && place.ty.ty == ty.ty).then(|| place.clone())
}

/// Whether an expression is the address of a variable, which is not null.
pub fn is_address(e: &Expr) -> bool {
    matches!(&e.kind, ExprKind::AddressOf(Place { kind: PlaceKind::Var(_), .. }))
}

#[cfg(test)]
mod tests {
    use crate::compile::judged;
    use crate::loops::options::AnalysisOptions;
    use crate::loops::plan::Check;

    const FUNCTIONS: &str = "void *memcpy(void *, const void *, unsigned long); void see(int *); static int *kept;\n\
        static void parts(unsigned p, int *a, int *b) { if (a) *a = p >> 8; if (b != 0) *b = p & 255; }\n\
        static void early(unsigned p, int *a) { if (!a) return; *a = p; }\n\
        static void keeping(int *a) { *a = 1; kept = a; }\n\
        static int clamped(int x) { if (x < 0) return 0; if (x > 255) return 255; return x; }\n\
        static int chosen(int x) { switch (x) { case 0: return 5; case 1: x++; break; default: return -x; } return x; }\n\
        static float number(unsigned bits) { float f; memcpy(&f, &bits, sizeof f); return f; }\n\
        static const int table[4] = {1, 2, 3, 4}; static int filled[4];\n";

    /// What checks the one loop of `void f(int n, int *to, const unsigned *from, float *x)`, if it has a plan.
    fn check(body: &str) -> Option<Check> {
        let text =
            format!("{FUNCTIONS}void f(int n, int *to, const unsigned *from, float *x)\n{{ {body} }}\n");
        let (_, reports) = judged(&text, &AnalysisOptions::default());
        let mut of_loop = reports.iter().filter(|report| report.function == "f");
        let report = of_loop.next().unwrap_or_else(|| panic!("{body}"));
        report.plan.as_ref().map(|_| report.check)
    }

    #[test]
    fn functions_that_are_copied_leave_no_addresses() {
        for body in [
            "for (int i = 0; i < n; i++) { int a, b; parts(from[i], &a, &b); to[i] = a + b; }",
            "int a, b; for (int i = 0; i < n; i++) { parts(from[i], &a, &b); to[i] = a + b; } to[0] = a;",
            "for (int i = 0; i < n; i++) { int a; parts(from[i], &a, 0); early(from[i], 0); to[i] = a; }",
            "for (int i = 0; i < n; i++) { int a; early(from[i], &a); to[i] = a; }",
            "for (int i = 0; i < n; i++) { unsigned bits; float f = i; memcpy(&bits, &f, 4); to[i] = bits; }",
            "for (int i = 0; i < n; i++) x[i] = number(from[i]);",
            // Values of functions are forms, and what comes under a condition is a branch.
            "for (int i = 0; i < n; i++) to[i] = clamped(from[i]) + chosen(from[i]);",
            "for (int i = 0; i < n; i++) to[i] = from[i] > 3 ? clamped(i) : from[i] && chosen(i) == 2;",
            "for (int i = 0; i < n; i++) { int k; k = 2 * i; to[k] = from[k]; }",
            // Nobody stores to what is constant.
            "for (int i = 0; i < n; i++) to[i] = table[from[i] & 3];",
        ] {
            assert!(matches!(check(body), Some(Check::None | Check::Predicate)), "{body} {:?}", check(body));
        }
        assert_eq!(check("for (int i = 0; i < n; i++) to[i] = filled[from[i] & 3];"), Some(Check::Inspector));
    }

    #[test]
    fn addresses_that_somebody_has_stay() {
        for body in [
            "int a; for (int i = 0; i < n; i++) { keeping(&a); to[i] = a; }",
            "int a; see(&a); for (int i = 0; i < n; i++) { to[i] = a; early(from[i], &a); }",
            "int a; (void)({ kept = &a; }); for (int i = 0; i < n; i++) { to[i] = a; early(from[i], &a); }",
            "int a; asm(\"\" : : \"r\"(&a)); for (int i = 0; i < n; i++) { to[i] = a; early(from[i], &a); }",
            "for (int i = 0; i < n; i++) { float f = i; memcpy(to + i, &f, from[i]); }",
        ] {
            assert_eq!(check(body), None, "{body}");
        }
    }
}
