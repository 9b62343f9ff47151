//! Objects of the file's own that nothing changes: what is loaded of them is a constant, to the C compiler too.
//!
//! `static int extent[3] = {12, 12, 12};` is as good as a macro where nobody stores to it and nobody has its address, and so is what is `const`. With their values, trip counts are known and strides are numbers;
//! and a loop that never has more than a dozen iterations gets no guard, which the compiler would have to ask at run time what it knew without. Only integers, at offsets that are constant.
//!
//! That nobody changes an object is counted: each place where the text has its name is its one declaration, or a load of it or of a part of it in a function that was lowered. Whatever else there is, `sizeof` too, is one too many.

use super::nest::{self, Change};
use crate::c::constant::{self, Value};
use crate::c::hir::*;
use std::collections::{BTreeMap, BTreeSet};

/// Puts numbers in the place of loads of what nothing changes.
pub fn put_values(unit: &mut TranslationUnit) {
    let mut loads: BTreeMap<VarId, BTreeSet<u32>> = BTreeMap::new();
    for function in &unit.functions {
        nest::all_expressions(&function.body, &mut |e| {
            if let ExprKind::Load(place) = &e.kind
                && let Some((v, at)) = named(place)
            {
                loads.entry(v).or_default().insert(at);
            }
        });
    }
    let is_fixed = |v: &VarId| {
        let often = loads.get(v).map_or(0, BTreeSet::len);
        is_const(&unit.types, unit.var(*v).ty)
            || unit.mentions.get(v).is_some_and(|all| *all == often as u32 + 1)
    };
    let fixed: BTreeMap<VarId, &Init> =
        unit.initial.iter().filter(|(v, _)| is_fixed(v)).map(|(v, init)| (*v, init)).collect();
    if !loads.keys().any(|v| fixed.contains_key(v)) {
        return;
    }
    let mut bodies: Vec<Stmt> = unit.functions.iter().map(|function| function.body.clone()).collect();
    for body in &mut bodies {
        nest::change_statement(
            body,
            &mut Put { types: &unit.types, variables: &unit.variables, fixed: &fixed },
        );
    }
    for (function, body) in unit.functions.iter_mut().zip(bodies) {
        function.body = body;
    }
}

/// Whether nothing may store to an object, or to any part of it.
fn is_const(types: &Types, ty: QualType) -> bool {
    match types.kind(ty.ty) {
        _ if ty.quals.is_volatile => false,
        _ if ty.quals.is_const => true,
        TypeKind::Array(element, _) => is_const(types, *element),
        _ => false,
    }
}

/// The variable that a place is in, if its own name says so, and where that stands.
fn named(place: &Place) -> Option<(VarId, u32)> {
    match &place.kind {
        PlaceKind::Var(v) => Some((*v, place.span.start)),
        PlaceKind::Field { base, .. } => named(base),
        PlaceKind::Deref(address) => named_by(address),
        PlaceKind::Opaque(_) => None,
    }
}

fn named_by(address: &Expr) -> Option<(VarId, u32)> {
    match &address.kind {
        ExprKind::AddressOf(place) => named(place),
        ExprKind::PtrAdd { pointer, .. } => named_by(pointer),
        _ => None,
    }
}

struct Put<'a> {
    types: &'a Types,
    variables: &'a [Variable],
    fixed: &'a BTreeMap<VarId, &'a Init>,
}

impl Change for Put<'_> {
    fn expression(&mut self, e: &mut Expr) -> bool {
        if let ExprKind::Load(place) = &e.kind
            && let Some(value) = self.value(place)
        {
            e.kind = ExprKind::Int(value);
        }
        true
    }
}

impl Put<'_> {
    fn value(&self, place: &Place) -> Option<i128> {
        let (v, offset) = self.offset(place)?;
        let kind = match self.types.kind(place.ty.ty) {
            TypeKind::Int(kind) | TypeKind::Enum(kind) if !place.ty.quals.is_volatile => *kind,
            _ => return None,
        };
        let size = kind.size();
        if offset + size > self.types.size_of(self.variables[v.0 as usize].ty.ty)? {
            return None;
        }
        let same = |e: &Expr| match (constant::evaluate(self.types, e), self.types.as_int(e.ty.ty)) {
            (Some(Value::Int(value)), Some(of)) if of == kind => Some(value),
            _ => None,
        };
        match self.fixed.get(&v)? {
            Init::Scalar(e) if offset == 0 => same(e),
            Init::Members(all) => {
                let ends = |at: u64, e: &Expr| Some(at + self.types.size_of(e.ty.ty)?);
                let mut met = all
                    .iter()
                    .filter(|(at, e)| ends(*at, e).is_none_or(|end| *at < offset + size && offset < end));
                match (met.next(), met.next()) {
                    (None, _) => Some(0),
                    (Some((at, e)), None) if *at == offset => same(e),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// How far into which variable a place begins, within it.
    fn offset(&self, place: &Place) -> Option<(VarId, u64)> {
        let (v, offset) = match &place.kind {
            PlaceKind::Var(v) => (*v, 0),
            PlaceKind::Field { base, offset, bits: None, .. } => {
                let (v, begin) = self.offset(base)?;
                (v, begin + offset)
            }
            PlaceKind::Deref(address) => self.address(address)?,
            _ => return None,
        };
        Some((v, offset))
    }

    fn address(&self, address: &Expr) -> Option<(VarId, u64)> {
        match &address.kind {
            ExprKind::AddressOf(place) => self.offset(place),
            ExprKind::PtrAdd { pointer, index, stride } => {
                let (v, begin) = self.address(pointer)?;
                let Value::Int(index) = constant::evaluate(self.types, index)? else { return None };
                let offset = u64::try_from(i128::from(begin) + index * i128::from(*stride)).ok()?;
                Some((v, offset))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::loops::options::AnalysisOptions;
    use crate::loops::plan::Dim;

    /// The trip counts' limits of a text's loops, as numbers.
    fn limits(text: &str) -> Vec<Option<i128>> {
        let (unit, reports) = crate::compile::judged(text, &AnalysisOptions::default());
        let limit = |dim: &Dim| match crate::c::constant::evaluate(&unit.types, &dim.limit) {
            Some(crate::c::constant::Value::Int(value)) => Some(value),
            _ => None,
        };
        reports.iter().map(|report| report.plan.as_ref().and_then(|plan| limit(&plan.dims[0]))).collect()
    }

    fn limit(declared: &str, written: &str, more: &str) -> Option<i128> {
        let text = format!(
            "{declared} void f(double *a) {{ for (int i = 0; i < {written}; i++) a[i] = 1; }} {more}"
        );
        limits(&text)[0]
    }

    #[test]
    fn what_nothing_changes_is_a_number() {
        assert_eq!(limit("static int n = 3 * 7;", "n", ""), Some(21));
        assert_eq!(
            limit("static const unsigned char n = 300;", "n", "const void *g(void) { return &n; }"),
            Some(44)
        );
        assert_eq!(limit("static int n[2][3] = {{1, 2, 3}, {4, 5}};", "n[1][1]", ""), Some(5));
        assert_eq!(
            limit("static int n[2][3] = {{1, 2, 3}, {4, 5}};", "n[1][2]", "int g(int i) { return n[0][i]; }"),
            Some(0)
        );
        assert_eq!(limit("static struct { char c; long n[2]; } s = {.n = {8, 9}};", "s.n[1]", ""), Some(9));
        assert_eq!(limit("enum { WIDE = 6 }; static enum { A, B = WIDE } n = B;", "n", ""), Some(6));
    }

    #[test]
    fn what_may_change_is_none() {
        for (declared, written, more) in [
            ("int n = 3;", "n", ""),
            ("extern const int n;", "n", ""),
            ("static volatile int n = 3;", "n", ""),
            ("static const volatile int n = 3;", "n", ""),
            ("static int n = 3;", "n", "void g(void) { n++; }"),
            ("static int n = 3;", "n", "int *g(void) { return &n; }"),
            ("static int n = 3;", "n", "void g(void) { asm(\"incl %0\" : \"+m\"(n)); }"),
            ("static int n = 3;", "n", "asm(\"nop # n\");"),
            ("static int n = 3;", "n", "extern int m __attribute__((alias(\"n\")));"),
            ("static int n = 3;", "n", "int *p = &n;"),
            ("static int n[2] = {1, 2};", "n[1]", "int *p = n;"),
            ("static int n[2] = {1, 2};", "n[1]", "void h(int *); void g(void) { h(n); }"),
            ("static int n[2] = {1, 2};", "n[1]", "void g(int i) { n[i] = 3; }"),
            ("static int n[2] = {1, 2};", "n[1]", "void g(int i) { int *q[2] = {n, n + 1}; q[i][0] = 2; }"),
            ("static int n[2] = {1, 2};", "n[2]", ""),
            ("static struct { int a, n; } s = {1, 2};", "s.n", "void h(void *); void g(void) { h(&s.a); }"),
            ("static union { int n; float f; } s = {.f = 1};", "s.n", ""),
            ("static int n;", "n", ""),
        ] {
            assert_eq!(limit(declared, written, more), None, "{declared} {more}");
        }
    }
}
