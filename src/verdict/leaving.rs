//! What it takes to find out when a loop is left early ([`crate::loops::leaving`]) before any of its iterations runs: the part of the body that decides, and
//! pairs of accesses that have to be apart, because the loop would otherwise have stored to what it then decides by.

use super::attempt::unresolved_reason;
use crate::analysis::dependence::Range;
use crate::analysis::pairs::{self, Steps};
use crate::analysis::slice::{self, Given};
use crate::c::hir::*;
use crate::loops::access::{Accesses, SiteForm};
use crate::loops::nest;
use crate::loops::options::AnalysisOptions;
use crate::loops::plan::*;
use crate::loops::reason::{Kind, Reason};
use std::collections::{BTreeMap, BTreeSet};

/// A search, and what has to be apart for it.
pub(super) type Search = (Inspection, Vec<Pair>);

/// What is asked about a loop.
#[allow(missing_docs)]
pub(super) struct Asked<'a> {
    pub unit: &'a TranslationUnit,
    pub options: &'a AnalysisOptions,
    pub accesses: &'a Accesses<'a>,
    pub roles: &'a BTreeMap<VarId, ScalarRole>,
    pub dims: &'a [Range],
    pub steps: &'a Steps,
}

/// The line in which a loop is left first.
pub(super) fn line_of(body: &Stmt) -> u32 {
    let mut line = None;
    nest::statements(body, &mut |s| {
        if let StmtKind::Leave(what) = &s.kind {
            line.get_or_insert(what.span.line);
        }
    });
    line.unwrap_or(0)
}

/// How a loop's early end can be found out; `None`: it has none. An error says why it can't.
pub(super) fn search(asked: &Asked, body: &Stmt, given: &Given) -> Result<Option<Search>, Reason> {
    let Asked { unit, options, accesses, roles, .. } = *asked;
    let Some(slice) = slice::ways_out(unit, body, given) else { return Ok(None) };
    let line = line_of(body);
    let refused =
        |why: &str| Reason::new(Kind::EarlyExit, format!("it may be left early in line {line}, which {why}"));
    // Computed apart from the rest of the loop, in the compiler's own way where it has one.
    let is_free =
        slice.computes_floats && (options.reassociate || options.contraction || options.approximates);
    if slice.is_refused || is_free || accesses.free_calls {
        return Err(refused("is decided by what can't be computed twice"));
    }
    let is_combined = |v: &VarId| {
        roles.get(v).is_some_and(|role| role.is_result() && !matches!(role, ScalarRole::Private { .. }))
    };
    if let Some(v) = slice.variables.iter().find(|v| is_combined(v)) {
        let name = &unit.var(*v).name;
        return Err(refused(&format!(
            "is decided by {name}, which all iterations before that have a part in"
        )));
    }
    // Where an accumulation begins anew is part of its result.
    if roles.values().any(|role| matches!(role, ScalarRole::Accumulation { .. })) {
        return Err(refused("would show in a sum whose order is free"));
    }
    let mut apart = Vec::new();
    for place in &slice.feeding {
        let load = accesses.site_of.get(place).and_then(|sites| sites.0);
        let Some(load) = load.filter(|id| is_placed(accesses, *id)) else {
            return Err(refused("is decided by memory whose place follows from other memory"));
        };
        for (number, site) in accesses.sites.iter().enumerate().filter(|(_, site)| site.is_store) {
            let pair = Pair {
                a: SiteId(number as u32),
                b: load,
                check: Check::Predicate,
                is_anti: false,
                is_apart: true,
            };
            match meet(asked, site, &pair) {
                Meet::Never | Meet::InOneIteration => {}
                Meet::Perhaps if is_placed(accesses, pair.a) => apart.push(pair),
                _ => {
                    let unresolved = unresolved_reason(accesses, &pair);
                    let text = format!(
                        "it may be left early in line {line}, which is decided by what it stores itself: {}",
                        unresolved.text
                    );
                    return Err(Reason { kind: Kind::EarlyExit, text, ..unresolved });
                }
            }
        }
    }
    Ok(Some((slice, apart)))
}

/// Whether a device can tell where an access lies, from numbers at entry.
fn is_placed(accesses: &Accesses, id: SiteId) -> bool {
    let site = &accesses.sites[id.0 as usize];
    let base = &accesses.bases[site.base.0 as usize];
    (site.affine.is_some() || site.window.is_some())
        && !matches!(base, Base::Dynamic)
        && !accesses.privatized.contains(&site.base)
}

enum Meet {
    Never,
    /// When the load has been made.
    InOneIteration,
    Perhaps,
    Surely,
}

/// Whether a store meets a load in any iterations, the same one included.
fn meet(asked: &Asked, site: &Site, pair: &Pair) -> Meet {
    let Asked { unit, options, accesses, dims, steps, .. } = *asked;
    let (store, load) = (pair.a.0 as usize, pair.b.0 as usize);
    let base = |site: usize| &accesses.bases[accesses.sites[site].base.0 as usize];
    let forms = [store, load].map(|site| &accesses.forms[site]);
    let by_type =
        crate::loops::alias::may_change(unit, options.strict_aliasing, &forms[0].place, &forms[1].place);
    if pairs::distinct(unit, base(store), base(load)) || pairs::is_constant(unit, base(load)) || !by_type {
        return Meet::Never;
    }
    // Sites are numbered as they are executed. Where an iteration loads first, it may well store there: that others don't, is what the loop's own pairs are about.
    let turns = |form: &SiteForm| form.inner.iter().map(|(id, _)| *id).collect::<BTreeSet<_>>();
    let is_first = load < store && turns(forms[0]).is_disjoint(&turns(forms[1]));
    if is_first && is_placed(accesses, pair.a) {
        return Meet::InOneIteration;
    }
    let same_base = site.base == accesses.sites[load].base && !matches!(base(store), Base::Dynamic);
    let (Some(x), Some(y), true) = (&forms[0].offset, &forms[1].offset, same_base) else {
        return Meet::Perhaps;
    };
    let [inner_a, inner_b] = forms.map(|form| pairs::inner(form, steps));
    let widths = [site.width, accesses.sites[load].width];
    match x == y || !pairs::never_meet(dims, (x, widths[0], &inner_a), (y, widths[1], &inner_b)) {
        true => Meet::Surely,
        // In one iteration they still may.
        false => Meet::Perhaps,
    }
}

#[cfg(test)]
mod tests {
    use crate::compile::judged;
    use crate::loops::options::AnalysisOptions;
    use crate::loops::plan::*;

    const HEAD: &str =
        "struct item { int key, flag; double value; };\nvoid exit(int);\nint printf(const char *, ...);\n";

    fn plan(body: &str) -> Result<Box<LoopPlan>, String> {
        let text = format!(
            "{HEAD}static double table[1000]; static int marks[1000];\n\
             int f(int n, int x, const int *a, int *b, double *c, struct item *t, const unsigned char *s) {{\n\
             int i, j, sum = 0; {body}\nreturn sum + i; out: return -1; }}\n"
        );
        let options = AnalysisOptions { strict_aliasing: true, ..AnalysisOptions::default() };
        let (_, mut reports) = judged(&text, &options);
        let report = reports.remove(0);
        report.plan.ok_or(report.reason.text)
    }

    /// How many loads decide when a loop is left, and how many pairs have to be apart for that.
    fn search(body: &str) -> (usize, usize) {
        let plan = plan(body).unwrap_or_else(|why| panic!("{body}: {why}"));
        let search = plan.search.as_ref().unwrap_or_else(|| panic!("{body}: no search"));
        (search.feeding.len(), plan.pairs.iter().filter(|pair| pair.is_apart).count())
    }

    #[test]
    fn what_decides_when_a_loop_is_left_is_found() {
        for (body, expected) in [
            ("for (i = 0; i < n; i++) if (a[i] == x) return i;", (1, 0)),
            ("for (i = 0; i < n; i++) if (i == x) break;", (0, 0)),
            ("for (i = 0; i < n && a[i]; i++) ;", (1, 0)),
            ("for (i = 0; i < n; i++) { if (a[i] < 0) { printf(\"no\"); exit(1); } c[i] = a[i]; }", (1, 0)),
            ("for (i = 0; i < n; i++) { if (a[i] < 0) goto out; b[i] = a[i]; }", (1, 0)),
            ("for (i = 0; i < n; i++) { b[i] = x; if (a[i] < 0) goto out; }", (1, 1)),
            ("for (i = 0; i < n; i++) { if (b[i] < 0) goto out; b[i] = -b[i]; }", (1, 0)),
            (
                "for (i = 0; i < n; i++) for (j = 0; j < 5; j++) { if (a[i * 5 + j] < 0) goto out; b[i * 5 + j] = 1; }",
                (1, 0),
            ),
            (
                "for (i = 0; i < n; i++) { for (j = 0; j < 5; j++) { if (a[i * 9 + j] < 0) goto out; b[i * 9 + j] = 1; } c[i] = 1; }",
                (1, 1),
            ),
            ("for (i = 0; i < n; i++) { if (marks[i] < 0) return i; table[i] = x; }", (1, 0)),
            ("for (i = 0; i < n; i++) { if (t[i].flag) break; t[i].value *= 2; }", (1, 0)),
            ("for (i = 0; i < n; i++) { if (t[i].flag) break; t[i].key = i; }", (1, 0)),
            ("for (i = 0; i < n; i++) { t[i].key = i; if (t[i].flag) break; }", (1, 1)),
            ("for (i = 0; i < n; i++) { int y = a[i] * 2; if (y > x) return y; sum += y; }", (1, 0)),
            ("for (i = 0; i < n; i++) for (j = 0; j < n; j++) if (a[i * n + j] == x) return j;", (1, 0)),
            (
                "for (i = 0; i < n; i++) { for (j = 0; j < n; j++) if (a[j] > a[i]) goto out; c[i] = 1; }",
                (2, 0),
            ),
            (
                "const unsigned char *p, *e = s + n; i = 0; for (p = s; p < e; p++) if (*p == x) break;",
                (1, 0),
            ),
            ("const unsigned char *p = s; i = 0; while (n-- && *p != x) p++;", (1, 0)),
        ] {
            assert_eq!(search(body), expected, "{body}");
        }
    }

    #[test]
    fn what_can_not_be_found_out_before_keeps_a_loop_sequential() {
        for (body, why) in [
            ("for (i = 0; i < n; i++) { sum += a[i]; if (sum > x) break; }", "carries a value"),
            ("for (i = 0; i < n; i++) { b[i] = a[i] * x; if (b[i] < 0) break; }", "stores itself"),
            ("for (i = 0; i < n; i++) if (a[a[i]] == x) return i;", "follows from other memory"),
            (
                "for (i = 1; i < n; i++) { if (b[i - 1] == x) return i; b[i] = 2; }",
                "meet in different iterations",
            ),
            (
                "sum = 5; for (i = 0; i < n; i++) { if (a[i] > 3) sum = i; if (a[i] < 0) return sum; c[i] = 1; }",
                "not every iteration",
            ),
        ] {
            let reason = plan(body).map(|_| ()).expect_err(body);
            assert!(reason.contains(why), "{body}: {reason}");
        }
    }

    #[test]
    fn what_the_iteration_that_leaves_needs_is_given_back() {
        let role = |body: &str, name: &str| {
            let text = format!(
                "{HEAD}int f(int n, const int *a, double *c) {{ int i, last = 0, sum = 0; {body} return 0; }}"
            );
            let (unit, reports) = judged(&text, &AnalysisOptions::default());
            let plan = reports[0].plan.clone().unwrap_or_else(|| panic!("{body}: {}", reports[0].reason));
            let (_, role) = plan.scalars.into_iter().find(|(v, _)| unit.var(*v).name == name).expect(body);
            role
        };
        let last = |needed| ScalarRole::Private { last_value: needed };
        let text = "for (i = 0; i < n; i++) { if (a[i] < 0) return last; last = a[i]; c[i] = last; }";
        assert_eq!(role(text, "last"), last(true));
        let text = "for (i = 0; i < n; i++) { if (a[i] < 0) return 1; last = a[i]; c[i] = last; }";
        assert_eq!(role(text, "last"), last(false));
        assert_eq!(role(text, "i"), ScalarRole::Induction { dim: 0, live_out: true });
    }
}
