//! Accesses behind pointers that elements of another array hold: `a[i][j]` of `double **a`, `p[i]->x` of `struct body **p`, `u[i][j][k]` of `double ***u`. Which element
//! it is, and how far behind its pointer the access lies, are two forms; what they are worth together, only an entry can see ([`Row`]).

use super::*;

/// Pointers that lead to pointers: no more than so many. What an entry reads grows with each.
const DEEPEST: usize = 3;

impl Accesses<'_> {
    /// The row that an access of a place without a base is made to, and where in it.
    pub(super) fn row(&mut self, place: &Place, width: u32) -> Option<Row> {
        let assumed = self.assumptions.len();
        let found = self.row_place(place, 0);
        let assumptions = self.assumptions.split_off(assumed);
        let (slot, offset) = found?;
        let holder = self.table(slot, 0)?;
        let is_known = holder.affine.is_some() || holder.window.is_some();
        let offset = self.window(&offset, width).filter(|_| is_known)?;
        for assumption in assumptions {
            if !self.assumptions.contains(&assumption) {
                self.assumptions.push(assumption);
            }
        }
        Some(Row { slot, offset })
    }

    /// The access of the table that all starts with, where that isn't too many tables away.
    fn table(&self, slot: SiteId, depth: usize) -> Option<&Site> {
        let site = &self.sites[slot.0 as usize];
        match &site.row {
            None => Some(site),
            Some(_) if depth + 1 == DEEPEST => None,
            Some(row) => self.table(row.slot, depth + 1),
        }
    }

    /// Forgets rows of tables that each thread has for itself: what the program has there at entry is nothing that the loop follows.
    pub fn forget_private_tables(&mut self) {
        let is_private = |site: &Site| {
            let row = site.row.as_ref();
            row.and_then(|row| self.table(row.slot, 0))
                .is_some_and(|table| self.privatized.contains(&table.base))
        };
        let private: Vec<bool> = self.sites.iter().map(is_private).collect();
        let private = self.sites.iter_mut().zip(private).filter(|(_, is_private)| *is_private);
        private.for_each(|(site, _)| site.row = None);
    }

    /// The load of the pointer behind which a place lies, and how far behind it.
    fn row_place(&mut self, place: &Place, depth: usize) -> Option<(SiteId, Linear)> {
        match &place.kind {
            PlaceKind::Deref(e) => self.row_pointer(e, depth + 1),
            PlaceKind::Field { base, offset, .. } => {
                let (slot, at) = self.row_place(base, depth + 1)?;
                Some((slot, at.plus(&Linear::number(constant(i64::try_from(*offset).ok()?)))?))
            }
            PlaceKind::Var(_) | PlaceKind::Opaque(_) => None,
        }
    }

    /// The same for a pointer's value.
    pub(super) fn row_pointer(&mut self, e: &Expr, depth: usize) -> Option<(SiteId, Linear)> {
        if depth > 24 || self.values.in_prelude {
            return None;
        }
        match &e.kind {
            ExprKind::PtrAdd { pointer, index, stride } => {
                let (slot, offset) = self.row_pointer(pointer, depth + 1)?;
                let index = self.subscript(index)?.times(&constant(i64::try_from(*stride).ok()?))?;
                Some((slot, offset.plus(&index)?))
            }
            ExprKind::Cast(inner) if self.unit.types.pointee(inner.ty.ty).is_some() => {
                self.row_pointer(inner, depth + 1)
            }
            ExprKind::AddressOf(place) => self.row_place(place, depth + 1),
            ExprKind::Load(place) => match is_scalar(self.unit, place) {
                Some(v) => {
                    let definition = self.definition(v).filter(|_| self.written.contains(&v))?;
                    self.assumptions.extend(definition.assumptions);
                    definition.row
                }
                None => {
                    let (load, _) = self.site_of.get(&place.id)?;
                    Some(((*load)?, Linear::number(constant(0))))
                }
            },
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::judged;

    const TYPES: &str = "struct body { double x, v; struct body *next; };\n";

    /// Of the sites of the loop in line 3 that are behind some pointer, by what they are called in the text: how many tables in front of them are known, or none.
    fn depths(parameters: &str, body: &str) -> Vec<(bool, Option<usize>)> {
        let plan = plan(parameters, body);
        let depth = |site: &Site| {
            let (mut site, mut depth) = (site, 0);
            while let Some(row) = &site.row {
                (site, depth) = (&plan.sites[row.slot.0 as usize], depth + 1);
            }
            (depth != 0).then_some(depth)
        };
        let is_dynamic = |site: &&Site| matches!(plan.bases[site.base.0 as usize], Base::Dynamic);
        plan.sites.iter().filter(is_dynamic).map(|site| (site.is_store, depth(site))).collect()
    }

    fn plan(parameters: &str, body: &str) -> LoopPlan {
        let text = format!(
            "{TYPES}void f(int n, int m, {parameters}) {{\nfor (int i = 0; i < n; i++) {{ {body} }} }}"
        );
        let options = AnalysisOptions { strict_aliasing: true, ..AnalysisOptions::default() };
        let (_, reports) = judged(&text, &options);
        let report = reports.iter().find(|report| report.line == 3).expect(&text);
        report.plan.as_deref().unwrap_or_else(|| panic!("{text}: {report:#?}")).clone()
    }

    #[test]
    fn rows_are_found_behind_slots() {
        for (parameters, body, wanted) in [
            (
                "double **a, double **b",
                "for (int j = 0; j < m; j++) a[i][j] = b[i + 1][j];",
                [(false, Some(1)), (true, Some(1))],
            ),
            ("struct body **p, struct body **q", "p[i]->x = q[i]->v;", [(false, Some(1)), (true, Some(1))]),
            (
                "double **a, double **b",
                "double *to = a[i] + 1; const double *from = b[i]; for (int j = 0; j < m; j++) to[j] = from[j];",
                [(false, Some(1)), (true, Some(1))],
            ),
            ("double **a, const int *b", "a[i][b[i]] = 0; a[b[i]][i] = 1;", [(true, None), (true, None)]),
            // It isn't said which pointer is followed.
            (
                "double **a, double **b",
                "double *to = a[i]; if (i & 1) to = b[i]; to[0] = 1; b[i][0] = 2;",
                [(true, None), (true, Some(1))],
            ),
            // The pointer has moved on since it was loaded.
            (
                "double **a, double **b",
                "double *to = a[i]; to++; to[0] = 1; b[i][0] = 2;",
                [(true, None), (true, Some(1))],
            ),
        ] {
            assert_eq!(depths(parameters, body), wanted, "{body}");
        }
        let cube =
            depths("float ***a", "for (int j = 0; j < m; j++) for (int k = 0; k < m; k++) a[i][j][k] = 1;");
        assert_eq!(cube, [(false, Some(1)), (true, Some(2))]);
        // As many tables as an entry reads.
        let deep = depths("int *****a", "for (int j = 0; j < m; j++) a[i][j][i][j][i] = 1;");
        assert_eq!(
            deep.iter().map(|(_, depth)| *depth).collect::<Vec<_>>(),
            [Some(1), Some(2), Some(3), None]
        );
    }

    #[test]
    fn counters_that_move_on_are_those_of_the_definition() {
        // The row is that of the turn in which it was looked up.
        let plan = plan(
            "double **a",
            "for (int j = 0; j < m; j++) { double *row = a[j]; for (int k = 0; k < 3; k++) row[i] = j; }",
        );
        let store = plan.sites.iter().find(|site| site.is_store).unwrap();
        let row = store.row.as_ref().expect("a row");
        let slots = &plan.sites[row.slot.0 as usize].affine.as_ref().unwrap().strides;
        assert_eq!((&row.offset.strides[0], &slots[0]), (&Bound::Const(8), &Bound::Const(0)));
    }

    #[test]
    fn pointers_are_kept_where_types_tell() {
        let keeps = |parameters: &str, body: &str| plan(parameters, body).keeps_pointers;
        assert!(keeps("double **a, double **b", "a[i][1] = b[i][2];"));
        assert!(keeps("int **a, struct body **b", "a[i][1] = b[i]->x;"));
        // What is stored may be a pointer, or lie where one does.
        assert!(!keeps("double **a, double *b", "a[i] = b + i * 4; a[i][1] = 2;"));
        assert!(!keeps("char **a, double **b", "a[i][1] = b[i][2];"));
        // The text takes for a pointer what is as wide.
        assert!(!keeps("double **a, const unsigned long *b", "a[i][1] = b[i];"));
        // Nobody follows one that is loaded.
        assert!(!keeps("double *a, double *b", "a[i] = b[i];"));
    }
}
