//! Rows of variable length, once more (`c::lower::rows`): the typed tree finds them by the variables that their length consisted of where the type was written.
//! If one of these is assigned further down, or somebody has its address, it may have another value where a row is found. Then the row is one that nobody understands,
//! as it is where the tree doesn't have the length.
//!
//! What is assigned further up is fine, in whatever loop both stand: to get there again the program has to come by the place where the type is written, too. C
//! forbids jumps past it.

use super::nest;
use crate::c::hir::*;
use std::collections::BTreeSet;

/// Takes back what lengths can't be relied on for.
pub fn check(unit: &mut TranslationUnit) {
    if unit.lengths_read.is_empty() {
        return;
    }
    let mut functions = std::mem::take(&mut unit.functions);
    for function in &mut functions {
        let mut doubtful = Doubtful(BTreeSet::new());
        nest::all_expressions(&function.body, &mut |e| {
            if let ExprKind::Load(Place { kind: PlaceKind::Var(v), id, .. }) = &e.kind
                && let Some(length) = unit.lengths_read.get(id)
            {
                let computed_at = unit.lengths[length.0 as usize].computed_at;
                let is_assigned = unit.last_assigned.get(v).is_some_and(|last| *last >= computed_at);
                if is_assigned || unit.var(*v).address_taken {
                    doubtful.0.insert(*id);
                }
            }
        });
        if !doubtful.0.is_empty() {
            nest::change_statement(&mut function.body, &mut doubtful);
        }
    }
    unit.functions = functions;
}

/// Loads of variables that may not have a length's value any more.
struct Doubtful(BTreeSet<PlaceId>);

impl nest::Change for Doubtful {
    fn expression(&mut self, e: &mut Expr) -> bool {
        let (ExprKind::PtrAdd { index, .. } | ExprKind::PtrAssign { index, .. }) = &e.kind else {
            return true;
        };
        // Rows within an index are changed with it: more is given up than has to be.
        let mut found = false;
        nest::expressions(index, &mut |e| {
            found |= matches!(&e.kind, ExprKind::Load(place) if self.0.contains(&place.id));
        });
        if found {
            e.kind = ExprKind::Opaque("a row whose length is of variables that may have changed since");
        }
        !found
    }
}

#[cfg(test)]
mod tests {
    use crate::compile::judged;
    use crate::loops::options::AnalysisOptions;

    /// Whether the loops of a text, outermost and in its order, have plans.
    fn planned(text: &str) -> Vec<bool> {
        let (_, reports) = judged(text, &AnalysisOptions::default());
        reports.iter().map(|report| report.plan.is_some()).collect()
    }

    #[test]
    fn rows_are_found_by_their_lengths() {
        for text in [
            "void f(int n, int m, double a[n][m], double b[n][m]) { for (int i = 0; i < n; i++) a[i][1] = b[i][0]; }",
            "void f(int n, int m, double a[][m + 1]) { for (int i = 0; i < n; i++) a[i][m] = i; }",
            "void f(int n, unsigned m, double a[][2][m]) { for (int i = 0; i < n; i++) a[i][1][0] = i; }",
            "void f(int n, int m, int k, double a[][m][k]) { for (int i = 0; i < n; i++) a[i][0][k - 1] = i; }",
            "void f(int n, const int m, double (*restrict a)[m]) { for (int i = 0; i < n; i++) (*(a + i))[0] = i; }",
            "void f(int n, int m, double *p) { double (*a)[m] = (double (*)[m])p; for (int i = 0; i < n; i++) a[i][0] = i; }",
            // What comes before doesn't matter, nor who declares it.
            "void f(int n, double *p) { int m; m = n * 2; m++; typedef double row[m]; row *a = (row *)p; for (int i = 0; i < n; i++) a[i][0] = i; }",
            "void g(int, int m, double [][m]); void g(int n, int m, double a[*][m]); void g(int n, int l, double a[][l])\n\
             { for (int i = 0; i < n; i++) a[i][0] = i; }",
        ] {
            assert_eq!(planned(text), [true], "{text}");
        }
    }

    #[test]
    fn lengths_that_may_have_changed_are_none() {
        for body in [
            "m = 3; for (int i = 0; i < n; i++) a[i][0] = i;",
            "for (int i = 0; i < n; i++) a[i][0] = i; m++;",
            "see(&m); for (int i = 0; i < n; i++) a[i][0] = i;",
            "for (int i = 0; i < n; i++) { a[i][0] = i; --m; }",
            "(void)({ m = 7; }); for (int i = 0; i < n; i++) a[i][0] = i;",
            "asm(\"\" : \"+r\"(m)); for (int i = 0; i < n; i++) a[i][0] = i;",
            "_Complex double z = m++; (void)z; for (int i = 0; i < n; i++) a[i][0] = i;",
            "m++; for (int i = 0; i < n; i++) p[i] = (struct pair){a[i][0], 1};",
            // Names that mean something else where the row is found.
            "{ int m = 3; for (int i = 0; i < n; i++) a[i][0] = m; }",
            "{ enum { m = 3 }; for (int i = 0; i < n; i++) a[i][0] = m; }",
            // Of others.
            "extern int k; double (*b)[k] = (void *)a; for (int i = 0; i < n; i++) b[i][0] = i;",
            "int k = m; double (*b)[k] = (void *)a; k = 2; for (int i = 0; i < n; i++) b[i][0] = i;",
        ] {
            let text = format!(
                "struct pair {{ double x, y; }}; void see(int *); void f(int n, int m, double a[][m], struct pair *p) {{ {body} }}"
            );
            assert_eq!(planned(&text), [false], "{text}");
        }
    }
}
