//! What expressions are worth: numbers known at entry, and linear forms over the dimensions and the loops inside. What only holds where
//! the program's numbers fit their types becomes an assumption.

use super::*;

impl Accesses<'_> {
    /// Range of a dimension's distance from its first value.
    pub fn dimension_range(&self, id: LoopId) -> Option<(Linear, Linear)> {
        self.dims.iter().find(|l| l.id == id).and_then(|l| l.range.clone())
    }

    /// Checks that an expression of a loop's head reads only what stays the same, pins the memory it reads, and notes live-ins.
    pub(super) fn note_invariant(&mut self, e: &Expr) -> Result<(), Refused> {
        let mut problem: Option<Reason> = None;
        let changing = |text: &str| Reason::new(Kind::NotCounted, text);
        let mut pins = Vec::new();
        let mut live = Vec::new();
        nest::expressions(e, &mut |e| match &e.kind {
            ExprKind::Load(p) => match is_scalar(self.unit, p) {
                Some(v) if self.written.contains(&v) => {
                    let name = &self.unit.var(v).name;
                    problem = Some(changing(&format!("its bounds depend on {name}, which the loop changes")));
                }
                Some(v) => live.push(v),
                None => match nest::root_variable(p) {
                    Some(v) if self.written.contains(&v) => {
                        let name = &self.unit.var(v).name;
                        problem =
                            Some(changing(&format!("its bounds depend on {name}, which the loop changes")));
                    }
                    _ => pins.push(p.clone()),
                },
            },
            ExprKind::Call { .. } => problem = Some(changing("its bounds call a function")),
            ExprKind::Opaque(what) => problem = Some(changing(&format!("its bounds have {what}"))),
            ExprKind::AddressOf(_) | ExprKind::Str(_) | ExprKind::Function(_) => {}
            _ => {
                if nest::accessed_place(e).is_some_and(|(_, _, writes)| writes) {
                    problem = Some(changing("its bounds have side effects"));
                }
            }
        });
        if let Some(problem) = problem {
            return Err(problem);
        }
        self.live_ins.extend(live);
        for place in pins {
            self.pin(&place)?;
        }
        Ok(())
    }

    pub(super) fn pin(&mut self, place: &Place) -> Result<(), Refused> {
        self.supported(place)?;
        if self.unit.variables.iter().enumerate().any(|(i, v)| {
            v.storage == Storage::ThreadLocal && nest::root_variable(place) == Some(VarId(i as u32))
        }) {
            return Err(Reason::new(Kind::ThreadLocal, "it reads a thread-local variable")
                .settled_by([Advice::CopyToLocal(describe(self.unit, place))]));
        }
        let width = self.width(place)?;
        let ty = place.ty;
        let address = Expr { kind: ExprKind::AddressOf(place.clone()), ty, span: place.span };
        self.pinned.push(Pinned { address, width, is_kept: false });
        Ok(())
    }

    /// Base and byte offset of a place that the loop keeps in a variable, and its index among what is pinned. `None`: the
    /// same place isn't found in all iterations.
    pub fn keep(&mut self, place: &Place) -> Result<Option<(BaseId, Linear, usize)>, Refused> {
        let (base, offset) = self.location(place, 0)?;
        let fixed = offset.filter(|offset| offset.terms.is_empty());
        let Some(offset) = fixed.filter(|_| !matches!(self.bases[base.0 as usize], Base::Dynamic)) else {
            return Ok(None);
        };
        self.pin(place)?;
        let pin = self.pinned.len() - 1;
        self.pinned[pin].is_kept = true;
        Ok(Some((base, offset, pin)))
    }

    /// A number that is only known at entry, whatever computes it.
    pub(super) fn entry_number(&mut self, e: &Expr) -> Linear {
        Linear::number(self.value(e))
    }

    pub(super) fn value(&mut self, e: &Expr) -> Bound {
        let index = match self.invariants.iter().position(|known| same(known, e)) {
            Some(index) => index,
            None => {
                self.invariants.push(e.clone());
                self.invariants.len() - 1
            }
        };
        Bound::Value(index)
    }

    /// The linear form of an integer expression; `depth` guards against long chains of definitions.
    pub(super) fn linear(&mut self, e: &Expr, depth: usize) -> Option<Linear> {
        if depth > 24 {
            return None;
        }
        let kind = self.unit.types.as_int(e.ty.ty).filter(|k| k.size() <= 8)?;
        match &e.kind {
            ExprKind::Int(v) => Some(Linear::number(constant(i64::try_from(*v).ok()?))),
            ExprKind::Load(p) => {
                if let Some(v) = is_scalar(self.unit, p) {
                    if self.secondary.contains_key(&v) {
                        return self.secondary_number(e, kind);
                    }
                    if let Some(level) = self.inner.iter().chain(&self.dims).find(|l| l.iv == v) {
                        return Linear::induction(level.id, &level.first);
                    }
                    if !self.written.contains(&v) {
                        self.live_ins.insert(v);
                        return Some(self.entry_number(e));
                    }
                    let definition = self.definition(v)?;
                    self.assumptions.extend(definition.assumptions);
                    return match definition.form {
                        Some((_, form)) => form,
                        None => self.linear(&definition.value, depth + 1),
                    };
                }
                let value = self.invariant_load(p)?;
                Some(Linear::number(Bound::Value(value)))
            }
            ExprKind::IncDec { .. } => self.secondary_number(e, kind),
            ExprKind::Cast(inner) => {
                let from = self.unit.types.as_int(inner.ty.ty)?;
                // Whether it is zero: no linear form says that.
                if kind == IntKind::Bool && from != IntKind::Bool {
                    return self.is_entry_value(e).then(|| self.entry_number(e));
                }
                let form = self.linear(inner, depth + 1)?;
                let keeps = kind.size() > from.size() && (kind.signed() || !from.signed())
                    || kind.size() == from.size() && kind.signed() == from.signed();
                if !keeps {
                    // What is cut down to a byte is meant to wrap around.
                    if kind.size() < 2 && !form.terms.is_empty() {
                        return None;
                    }
                    self.assume(&form, kind)?;
                }
                Some(form)
            }
            ExprKind::Unary(UnOp::Neg, inner) => {
                let form = self.linear(inner, depth + 1)?.negated()?;
                self.fits(form, kind)
            }
            ExprKind::Binary(op @ (BinOp::Add | BinOp::Sub | BinOp::Mul), a, b) => {
                let (a, b) = (self.linear(a, depth + 1)?, self.linear(b, depth + 1)?);
                let form = match op {
                    BinOp::Add => a.plus(&b)?,
                    BinOp::Sub => a.plus(&b.negated()?)?,
                    _ => a.product(&b)?,
                };
                self.fits(form, kind)
            }
            ExprKind::Binary(BinOp::Shl, a, b) => {
                let a = self.linear(a, depth + 1)?;
                let count = crate::c::constant::fold(&self.unit.types, b).filter(|c| (0..31).contains(c))?;
                let form = a.times(&constant(1 << count))?;
                // Signed shifts that overflow have a meaning to gcc.
                self.assume(&form, kind)?;
                Some(form)
            }
            // Any other computation on values known at entry is one value known at entry.
            ExprKind::Binary(..) | ExprKind::Conditional(..) if self.is_entry_value(e) => {
                Some(self.entry_number(e))
            }
            _ => None,
        }
    }

    /// Whether an expression reads nothing but local scalars that the loop does not change, and can't trap.
    pub(super) fn is_entry_value(&mut self, e: &Expr) -> bool {
        let mut fine = true;
        let mut live = Vec::new();
        nest::expressions(e, &mut |e| match &e.kind {
            ExprKind::Load(p) => match is_scalar(self.unit, p) {
                Some(v) if !self.written.contains(&v) => live.push(v),
                _ => fine = false,
            },
            ExprKind::Int(_) | ExprKind::Cast(_) | ExprKind::Unary(..) | ExprKind::Conditional(..) => {}
            ExprKind::Binary(op, ..) => {
                fine &= !matches!(op, BinOp::Div | BinOp::Rem | BinOp::Shl | BinOp::Shr)
            }
            _ => fine = false,
        });
        if fine {
            self.live_ins.extend(live);
        }
        fine
    }

    pub(super) fn fits(&mut self, form: Linear, kind: IntKind) -> Option<Linear> {
        if !kind.signed() || self.options.wrapping {
            self.assume(&form, kind)?;
        }
        Some(form)
    }

    /// Notes that all values of the form must fit the type.
    pub(super) fn assume(&mut self, form: &Linear, kind: IntKind) -> Option<()> {
        let (lo, hi) = self.extremes(form)?;
        self.assumptions.push(Assumption { lo, hi, kind });
        Some(())
    }

    /// Lowest and highest value over all iterations of all levels.
    pub(super) fn extremes(&self, form: &Linear) -> Option<(Bound, Bound)> {
        let levels = self.inner.iter().rev().chain(self.dims.iter().rev());
        let (lo, hi) = Level::over(levels, (form.clone(), form.clone()))?;
        (lo.terms.is_empty() && hi.terms.is_empty()).then_some((lo.constant, hi.constant))
    }

    /// A place in memory whose value at entry stands for all iterations: a global that the loop does not assign by name, or
    /// memory at an address that does not change, read unconditionally, or early (see [`LoopPlan::early`]). It becomes an invariant and is pinned.
    pub(super) fn invariant_load(&mut self, place: &Place) -> Option<usize> {
        if self.own(place).is_some() {
            return None;
        }
        let root = nest::root_variable(place);
        if root.is_some_and(|v| self.written.contains(&v) || self.unit.var(v).storage == Storage::ThreadLocal)
        {
            return None;
        }
        // Memory behind a pointer, and what may not be there at all, is only sure to be there if the first iteration reads it anyway.
        let may_be_nowhere = root.is_none_or(|v| self.unit.replaceable.contains(&v));
        let may_be_skipped =
            !self.path.is_empty() || !self.inner.is_empty() || self.has_continue || self.has_ways_out;
        let is_early = may_be_nowhere && may_be_skipped;
        if is_early && !self.reads_early {
            return None;
        }
        let mut fine = self.supported(place).is_ok() && self.width(place).is_ok();
        let mut live = Vec::new();
        nest::place_expressions(place, &mut |e| match &e.kind {
            ExprKind::Load(p) => match is_scalar(self.unit, p) {
                Some(v) if !self.written.contains(&v) => live.push(v),
                Some(_) => fine = false,
                // What memory leads to is pinned like the rest. What an iteration has for itself isn't there at entry.
                None => {
                    fine &= self.own(p).is_none()
                        && nest::root_variable(p).is_none_or(|v| !self.written.contains(&v));
                }
            },
            ExprKind::Int(_) | ExprKind::AddressOf(_) | ExprKind::PtrAdd { .. } | ExprKind::Cast(_) => {}
            ExprKind::Binary(BinOp::Add | BinOp::Sub | BinOp::Mul, ..) | ExprKind::Unary(UnOp::Neg, _) => {}
            _ => fine = false,
        });
        if !fine {
            return None;
        }
        let mut pins = vec![place.clone()];
        nest::place_expressions(place, &mut |e| {
            if let ExprKind::Load(p) = &e.kind
                && is_scalar(self.unit, p).is_none()
            {
                pins.push(p.clone());
            }
        });
        self.live_ins.extend(live);
        let e = Expr {
            kind: ExprKind::Load(place.clone()),
            ty: QualType { ty: place.ty.ty, quals: Quals::default() },
            span: place.span,
        };
        let known = self.invariants.len();
        let Bound::Value(value) = self.value(&e) else { return None };
        match is_early {
            true if value == known => drop(self.early.insert(value)),
            true => {}
            false => drop(self.early.remove(&value)),
        }
        if self.invariant_places.insert(place.id, value).is_none() {
            for pin in pins {
                self.pin(&pin).ok()?;
            }
        }
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use crate::c::hir::ExprKind;
    use crate::compile::judged;
    use crate::loops::options::AnalysisOptions;
    use crate::loops::plan::{Check, LoopPlan, Pinned};
    use crate::loops::scalars::same_place;

    const TYPES: &str = "struct table { int n, m; double *x, *y; struct table *next; };\n";

    /// How the loop in line 3 is checked, and its plan.
    fn of_body(parameters: &str, text: &str) -> (Check, LoopPlan) {
        let text = format!("{TYPES}void f(int n, double *a, {parameters}) {{\n{text} }}");
        let (_, reports) = judged(&text, &AnalysisOptions::default());
        let report = reports.iter().find(|report| report.line == 3).expect(&text);
        (report.check, *report.plan.clone().unwrap_or_else(|| panic!("{text}: {:?}", report.reason)))
    }

    /// The same, and how many values are read early.
    fn early(parameters: &str, text: &str) -> (Check, usize) {
        let (check, plan) = of_body(parameters, text);
        (check, plan.early.len())
    }

    #[test]
    fn what_some_iterations_read_is_read_early() {
        let table = |text: &str| early("const struct table *t", text);
        for text in [
            "for (int i = 0; i < n; i++) for (int k = 0; k < n; k++) a[i] = a[i] * 0.5 + t->x[k];",
            "for (int i = 0; i < n; i++) if (i & 1) a[i] = t->x[i];",
            "for (int i = 0; i < n; i++) { if (i & 1) continue; a[i] = t->x[i]; }",
            "for (int i = 0; i < n; i++) { if (i == 7) return; a[i] = t->x[i]; }",
            "for (int i = 0; i < n; i++) a[i] = i & 1 ? t->x[i] : 0;",
            "for (int i = 0; i < n; i++) if (i & 1) a[i * 2] = a[t->n * 2 + 1];",
            "for (int i = 0; i < n; i++) if (i & 1) a[i] = (&t->x)[2 * n - 3][i];",
        ] {
            assert_eq!(table(text), (Check::Predicate, 1), "{text}");
        }
        let text =
            "for (int i = 0; i < n; i++) for (int k = 0; k < t->m; k++) a[i] = a[i] + t->x[i * t->m + k];";
        // How many turns there are, each iteration asks.
        assert_eq!(table(text), (Check::Predicate, 1));
    }

    #[test]
    fn what_the_first_iteration_reads_is_not_read_early() {
        for text in [
            "for (int i = 0; i < n; i++) a[i] = t->x[i];",
            "for (int i = 0; i < n; i++) { if (i & 1) a[i] += t->x[i]; a[i] += t->x[i]; }",
            "for (int i = 0; i < n; i++) a[i] = t->next->x[i];",
        ] {
            assert_eq!(early("const struct table *t", text), (Check::Predicate, 0), "{text}");
        }
    }

    #[test]
    fn what_nobody_checks_is_not_read_early() {
        let of = |pragma: &str| {
            let text = format!(
                "{TYPES}void f(int n, double *a, struct table *t, struct table *u) {{\n{pragma}\n\
                 for (int i = 0; i < n; i++) if (a[i] > 99) {{ u->n = i; a[i] = t->x[t->n]; }} }}"
            );
            let (_, reports) = judged(&text, &AnalysisOptions::default());
            let report = reports.iter().find(|report| report.line == 4).expect(&text);
            (report.check, report.plan.as_ref().is_some_and(|plan| plan.early.is_empty()))
        };
        // One iteration may store there, and read it afterwards.
        assert_eq!(of("#pragma paragon independent unchecked"), (Check::None, true));
    }

    #[test]
    fn what_an_iteration_has_for_itself_leads_nowhere_at_entry() {
        for body in [
            "int own[2]; own[0] = i & 1; own[1] = 0; a[i] = p[own[0]][i];",
            "int own[2]; own[0] = i & 1; own[1] = 0; if (i & 2) a[i] = p[own[0]][i];",
            "struct table own; own.n = i & 1; a[i] = p[own.n][i];",
        ] {
            let text = format!(
                "{TYPES}void f(int n, double *restrict a, double *const *p) {{\nfor (int i = 0; i < n; i++) {{ {body} }} }}"
            );
            let (_, reports) = judged(&text, &AnalysisOptions::default());
            let report = reports.iter().find(|report| report.line == 3).expect(body);
            let plan = report.plan.as_deref().expect(body);
            assert!(
                report.check.cost() > Check::Predicate.cost() && plan.pinned.is_empty(),
                "{body}: {plan:#?}"
            );
        }
    }

    #[test]
    fn what_meets_wherever_it_is_read_is_not_guessed_at() {
        let text = format!(
            "{TYPES}void f(int n, int i, const double *a, struct table *t) {{\n\
             for (int k = 0; k < n; k++) {{ if (k == i) continue; t->x[i] -= t->x[i] * a[k]; }} }}"
        );
        let (_, reports) = judged(&text, &AnalysisOptions::default());
        let [report] = &reports[..] else { panic!("{reports:#?}") };
        assert!(
            report.plan.is_none() && report.reason.text.contains("meet in different iterations"),
            "{report:#?}"
        );
    }

    #[test]
    fn what_is_read_early_is_pinned_and_no_access() {
        let (_, plan) =
            of_body("struct table *t", "for (int i = 0; i < n; i++) if (i & 1) a[i] = t->next->x[i];");
        // The member, and the pointer that leads to it.
        assert_eq!(plan.early.len(), 2);
        for value in &plan.early {
            let ExprKind::Load(place) = &plan.invariants[*value].kind else { panic!("{plan:#?}") };
            let is_it =
                |pin: &Pinned| matches!(&pin.address.kind, ExprKind::AddressOf(p) if same_place(p, place));
            assert!(plan.pinned.iter().any(is_it));
        }
        assert_eq!(plan.sites.len(), 2, "{:?}", plan.sites);
        for (place, (load, store)) in &plan.site_of {
            for site in [load, store].into_iter().flatten() {
                assert_eq!(plan.sites[site.0 as usize].place, *place);
            }
        }
        // Stores of which types tell nothing are compared with it at entry.
        let text = "for (int i = 0; i < n; i++) if (i & 1) c[i * t->m] = 1;";
        let (check, plan) = of_body("char *c, struct table *t", text);
        assert_eq!((check, plan.early.len()), (Check::Predicate, 1));
        assert!(plan.sites.iter().all(|site| site.may_change_pin == site.is_store));
    }
}
