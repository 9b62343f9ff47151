//! The function that an inspection runs: what the addresses of iterations follow from, shown to the runtime, and what its outcome depends
//! on. What is in such a slice, [`crate::analysis::slice`] says.

use super::Emitter;
use crate::c::hir::*;
use crate::codegen::body;
use crate::loops::nest;
use crate::loops::plan::*;
use std::fmt::Write;

/// Accesses up to which each one's window is named.
const MAX_NAMED: usize = 16;

/// Whether some integer, or where a body goes, follows from a floating-point value.
fn integers_follow_from_floats(unit: &TranslationUnit, body: &Stmt) -> bool {
    let is_float = |ty: QualType| unit.types.as_float(ty.ty).is_some();
    let mut follow = false;
    nest::all_expressions(body, &mut |e| {
        follow |= match &e.kind {
            ExprKind::Conditional(condition, ..) => is_float(condition.ty),
            ExprKind::AssignOp { place, compute, .. } => is_float(*compute) && !is_float(place.ty),
            _ if is_float(e.ty) => false,
            ExprKind::Cast(inner) | ExprKind::Unary(_, inner) => is_float(inner.ty),
            ExprKind::Binary(_, a, b) | ExprKind::LogicalAnd(a, b) | ExprKind::LogicalOr(a, b) => {
                is_float(a.ty) || is_float(b.ty)
            }
            ExprKind::Call { args, .. } => args.iter().any(|argument| is_float(argument.ty)),
            ExprKind::Opaque(_) => true,
            _ => false,
        };
    });
    nest::statements(body, &mut |s| {
        follow |= match &s.kind {
            StmtKind::If { cond, .. } => is_float(cond.ty),
            StmtKind::Loop(l) => l.cond.as_ref().is_some_and(|cond| is_float(cond.ty)),
            _ => false,
        };
    });
    follow
}

impl Emitter<'_> {
    /// The iterations that an inspection makes of a dimension: some of the outermost, all of the others.
    pub(super) fn span_of(dim: usize) -> (&'static str, String) {
        if dim == 0 { ("__pg_begin", "__pg_end".into()) } else { ("0", format!("__pg_e->trip[{dim}]")) }
    }

    /// The address slice, in source order.
    pub(super) fn inspect(&self, inspection: &Inspection, body: &Stmt, slice: &body::Body) -> String {
        // It calls the runtime at every access that is new, and takes as long whatever the compiler makes of it: a third of the compile time is
        // all that is to be had. But where integers follow from floating-point values, these have to be the loop's own, which the compiler may
        // contract and reorder if the user lets it.
        let level = if integers_follow_from_floats(self.unit, body) { "" } else { ", __optimize__(1)" };
        let feeds = |site: &Site| !site.is_store && inspection.feeding.contains(&site.place);
        let meets = |id: SiteId| inspection.meeting.contains(&id) || inspection.changing.contains(&id);
        let shown = (0..64).zip(&self.plan.sites).filter(|(n, site)| meets(SiteId(*n)) || feeds(site));
        let shown: Vec<usize> = shown.map(|(number, _)| number as usize).collect();
        let mut text = format!(
            "static __attribute__((__unused__{})) void __pg_inspect_{}(const struct __pg_entry *__pg_e, \
             struct __pg_inspector *__pg_s, __pg_i64 __pg_begin, __pg_i64 __pg_end)\n{{\n\
             const __pg_u64 __pg_known = __pg_s->known;\nconst __pg_u32 __pg_counts = __pg_s->counts;\n__pg_u32 __pg_turns = 0, __pg_polls = 0;\n\
             struct {{ __pg_u64 first, length; }} __pg_w[{}] = {{{{0, 0}}}};\n(void)__pg_known;\n(void)__pg_counts;\n(void)__pg_turns;\n(void)__pg_polls;\n",
            level,
            self.n,
            self.plan.sites.len().clamp(1, 64)
        );
        text.push_str(&self.prologue("__pg_e->values"));
        for dim in 0..self.plan.dims.len() {
            let (_, end) = Self::span_of(dim);
            let _ = writeln!(text, "const __pg_i64 __pg_n{dim} = {end};\n__pg_i64 __pg_k{dim};");
        }
        text.push_str(&self.locals(slice, &|_, _| None));
        for dim in 0..self.plan.dims.len() {
            let (begin, _) = Self::span_of(dim);
            let _ =
                writeln!(text, "for (__pg_k{dim} = {begin}; __pg_k{dim} < __pg_n{dim}; __pg_k{dim}++) {{");
        }
        // How many turns each iteration has, the runtime sees from what all have had so far.
        text.push_str("__pg_s->turns = __pg_turns;\nif (__pg_s->next(__pg_s)) return;\n");
        // Few of them may stay in registers, if they are named; many take the compiler longer than the inspection.
        if shown.len() <= MAX_NAMED {
            for site in shown {
                let _ = writeln!(text, "if (!(__pg_s->lasting >> {site} & 1)) __pg_w[{site}].length = 0;");
            }
        } else {
            let _ = writeln!(
                text,
                "for (__pg_u32 __pg_i = 0; __pg_i < {}; __pg_i++) if (!(__pg_s->lasting >> __pg_i & 1)) __pg_w[__pg_i].length = 0;",
                self.plan.sites.len().min(64)
            );
        }
        for dim in 0..self.plan.dims.len() {
            text.push_str(&self.induction(dim, &format!("__pg_k{dim}")));
        }
        text.push_str(&self.secondary("__pg_k0", |_| true));
        text.push_str(&slice.text);
        text.push_str(&"}\n".repeat(self.plan.dims.len()));
        text.push_str("__pg_s->turns = __pg_turns;\n}\n");
        text
    }

    /// The slots of the values that an inspection's outcome depends on, or the addresses.
    pub(super) fn keys(&self, inspection: &Inspection) -> Vec<usize> {
        let (n_live_ins, n_invariants) = (self.plan.live_ins.len(), self.invariant_kinds.len());
        let objects = n_live_ins + n_invariants;
        let live_ins =
            (0..n_live_ins).filter(|slot| inspection.variables.contains(&self.plan.live_ins[*slot]));
        let invariants = inspection.invariants.iter().map(|number| n_live_ins + number);
        let addresses_and_starts = objects..self.first_slot(self.plan.dims.len());
        let secondary = (0..self.secondary.len())
            .filter(|number| inspection.variables.contains(&self.secondary[*number].0))
            .flat_map(|number| [self.secondary_slot(number), self.secondary_slot(number) + 1]);
        live_ins.chain(invariants).chain(addresses_and_starts).chain(secondary).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::judged;
    use crate::loops::options::AnalysisOptions;

    #[test]
    fn what_floating_point_values_decide() {
        for (body, decide) in [
            ("a[i] = b[i] * 2;", false),
            ("a[t[i]] += b[i] + i * 0.5;", false),
            ("if (t[i] > 3) a[t[i]] = b[i];", false),
            ("a[(int)b[i]] = 1;", true),
            ("t[i] = b[i];", true),
            ("t[i] *= b[i];", true),
            ("if (b[i] > 0) a[i] = 1;", true),
            ("if (b[i]) a[i] = 1;", true),
            ("a[b[i] ? i : 0] = 1;", true),
            ("a[!b[i]] = 1;", true),
            ("a[b[i] && n] = 1;", true),
            ("for (int k = 0; b[k]; k++) a[k] = 1;", true),
        ] {
            let text = format!(
                "void f(int n, double *a, double *b, int *t) {{ for (int i = 0; i < n; i++) {{ {body} }} }}"
            );
            let (unit, _) = judged(&text, &AnalysisOptions::default());
            let loops = nest::loops(&unit.functions[0]);
            assert_eq!(integers_follow_from_floats(&unit, &loops[0].the_loop.body), decide, "{body}");
        }
    }
}
