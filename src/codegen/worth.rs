//! Which code is worth generating for a loop that has a plan, and from how many iterations on it may be entered.
//!
//! Everything here is an estimate that costs or saves time, at run time and at every compilation. Whether a loop may run
//! elsewhere is not decided here.

use super::types::limits;
use crate::c::constant;
use crate::c::hir::*;
use crate::loops::blocks;
use crate::loops::nest;
use crate::loops::options::CodegenOptions;
use crate::loops::plan::{Base, Bound, Check, LoopPlan, LoopReport, Verdict};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Operations below which entering is never worth it.
const ENTRY: u64 = 200_000;

/// Iterations that each inner dimension of a nest is taken for.
pub const INNER: u64 = 64;

/// Operations for each memory access from which on speculation on threads may pay. Measured with 1 and 2 threads
/// (`docs/measurements/2026-11-21-any-c.md`): copying, translating and logging an access costs 5 to 8 ns of one core, of
/// which the copies (1 to 3 ns) don't get less with more threads, while the loops themselves take 0.3 to 2 ns per access
/// with fewer operations than this.
const CHECKED: u64 = 64;

/// From how many iterations of the outermost loop on it may be entered.
pub fn threshold(plan: &LoopPlan, options: &CodegenOptions) -> i64 {
    match options.threshold {
        Some(asked) => i64::try_from(asked).unwrap_or(i64::MAX).max(1),
        None => {
            let per_trip = plan.work.saturating_mul(if plan.dims.len() > 1 { INNER } else { 1 });
            (ENTRY / per_trip.max(1)).clamp(16, 1 << 20) as i64
        }
    }
}

/// How many iterations the outermost loop has at most, where its text says so: by constant ends, because its variable is
/// narrow, or because every iteration moves on in an array of known size.
pub fn most_iterations(unit: &TranslationUnit, plan: &LoopPlan) -> Option<i128> {
    let dim = &plan.dims[0];
    let (step, distance) = (i128::from(dim.step.unsigned_abs()), i128::from(dim.distance.unsigned_abs()));
    let end = |e: &Expr| match constant::evaluate(&unit.types, e) {
        Some(constant::Value::Int(value)) => Some(value),
        _ => None,
    };
    let between = match (end(&dim.first), end(&dim.limit)) {
        (Some(first), Some(limit)) => Some((limit - first).abs()),
        _ => None,
    };
    let of_type = dim.iv_kind.map(|kind| {
        let (low, high) = limits(kind);
        i128::from(high) - i128::from(low)
    });
    let of_arrays = plan.sites.iter().filter(|site| site.unconditional).filter_map(|site| {
        match (&plan.bases[site.base.0 as usize], site.affine.as_ref()?.strides.first()?) {
            (Base::Object { size, .. }, Bound::Const(stride)) if *size != 0 && *stride != 0 => {
                Some(i128::from(*size) / i128::from(stride.unsigned_abs()) / distance.max(1))
            }
            _ => None,
        }
    });
    let most = between.into_iter().chain(of_type).map(|most| most / step.max(1)).chain(of_arrays).min();
    most.map(|most| most + 1)
}

/// Whether a loop's text says that it is too short to be entered.
pub fn is_never_long_enough(unit: &TranslationUnit, plan: &LoopPlan, options: &CodegenOptions) -> bool {
    most_iterations(unit, plan).is_some_and(|most| most < i128::from(threshold(plan, options)))
}

/// Whether a function for the threads device, which works on copies and checks every access, may pay. What is proven runs
/// in place instead, and a GPU's kernel is text that costs nothing here.
pub fn checked_threads(report: &LoopReport, plan: &LoopPlan, options: &CodegenOptions) -> bool {
    let in_place = report.verdict == Verdict::Parallel && !plan.may_trap && plan.updates.is_empty();
    // Copies for each thread are made in place only.
    if !plan.privatization.bases.is_empty() {
        return false;
    }
    options.doubt
        || !plan.free_calls
            && (options.checked_threads
                || plan.asserted
                || !in_place && plan.work >= CHECKED.saturating_mul(plan.touches))
}

/// Whether an inspection may pay: where the loop does more with what it loads than to find addresses. It is one more function
/// for the compiler, and integers in nests are in every file that works on text or pixels.
pub fn inspecting(unit: &TranslationUnit, the_loop: &LoopStmt, options: &CodegenOptions) -> bool {
    let mut computes_floats = false;
    nest::all_expressions(&the_loop.body, &mut |e| {
        computes_floats |= unit.types.as_float(e.ty.ty).is_some();
    });
    options.threshold.is_some() || options.doubt || computes_floats
}

/// Loops without nests and floating-point arithmetic that a file may have code for whatever its size.
const IN_ANY_CASE: usize = 6;

/// How many of the user's expressions there have to be for each of those loops beyond that. Measured
/// (`docs/measurements/2026-11-21-any-c.md`): gcc takes 55 to 80 ms for 1,000 expressions and 9 ms for the code of one such
/// loop, so that they take a tenth of a file's time.
const EXPRESSIONS: usize = 2000;

/// Which part of a file's expressions those loops have to be, if they are all it has: compiling a file anew because of the
/// first loop costs as much as five more.
const PART: usize = 25;

/// Expressions up to which a file is small, and that doesn't matter.
const SMALL: usize = 2000;

/// What a loop's function for entries, its tables and the guard take the compiler, in expressions of the user's. Measured, as what
/// follows is, in `docs/measurements/2026-11-28-compile-time.md`.
const AROUND: usize = 200;

/// How many times the expressions of a body an inspection takes.
const INSPECTED: usize = 4;

/// How many expressions may be compiled for a file's loops, for each of its own: code for all of them takes a file with nests as deep
/// as that of a fluid solver many times as long as the file itself, since each of a nest's loops has the body once more.
const SHARE: usize = 1;

/// The same where outermost loops come to more.
const SHARE_OF_OUTERMOST: usize = 3;

/// How many there may be in any file: half a second.
const ROOM: usize = 8000;

/// Tokens of a table of constants that take gcc as long as an expression. Measured (`docs/measurements/2026-11-27-tables.md`): it takes
/// 2 ms for 1,000 tokens.
const TOKENS: usize = 32;

/// Bytes that are copied at once by whoever expects to copy little: a word, or some vectors.
const A_FEW_BYTES: u64 = 64;

/// The plans that are left out because their code would take the compiler too long, with the reason: loops over integers without nests
/// beyond a small part of their file, and of all others those that come last when a file has had its share.
pub fn crowded_out(
    unit: &TranslationUnit,
    reports: &[LoopReport],
    options: &CodegenOptions,
) -> BTreeMap<LoopId, &'static str> {
    if options.threshold.is_some() || options.checked_threads || options.doubt {
        return BTreeMap::new();
    }
    let mut expressions = unit.in_tables / TOKENS;
    for function in &unit.functions {
        nest::all_expressions(&function.body, &mut |_| expressions += 1);
    }
    let mut left_out = copies_of_little(unit, reports);
    left_out.extend(crowded_out_simple(unit, reports, expressions, &left_out));
    let others = crowded_out_nests(unit, reports, options, expressions, &left_out);
    left_out.extend(others);
    left_out
}

/// Of the loops without nests and floating-point arithmetic: they are everywhere in programs that compute nothing for long (text,
/// tables, headers of files), and hardly one of them pays. Those that need the least checking and do the most in an iteration come
/// first.
fn crowded_out_simple(
    unit: &TranslationUnit,
    reports: &[LoopReport],
    expressions: usize,
    left_out: &BTreeMap<LoopId, &'static str>,
) -> BTreeMap<LoopId, &'static str> {
    let mut in_loops = 0;
    let mut sizes = BTreeMap::new();
    for function in &unit.functions {
        for found in nest::loops(function) {
            if let Some(size) = size_if_simple(unit, found.the_loop) {
                sizes.insert(found.the_loop.id, size);
            }
        }
    }
    let plans = reports.iter().filter_map(|report| Some((report.check.cost(), report.plan.as_deref()?)));
    let plans: Vec<_> = plans.filter(|(_, plan)| !left_out.contains_key(&plan.loop_id)).collect();
    let (mut simple, mut left_early) = (Vec::new(), Vec::new());
    for (cost, plan) in &plans {
        if let Some(size) = sizes.get(&plan.loop_id).filter(|_| !plan.asserted) {
            in_loops += size;
            // They are how programs look into short tables, at each character of a text: so often that a guard in front of them shows.
            match plan.search.is_some() && expressions > SMALL {
                true => left_early
                    .push((plan.loop_id, "it may be left early, and loops of its kind are seldom long")),
                false => simple.push((*cost, Reverse(plan.work), plan.loop_id)),
            }
        }
    }
    simple.sort();
    let all = simple.into_iter().map(|(.., id)| id);
    if all.len() + left_early.len() == plans.len() && in_loops * PART < expressions && expressions > SMALL {
        let all = all.chain(left_early.into_iter().map(|(id, _)| id));
        return all.map(|id| (id, "hardly a part of its file is loops")).collect();
    }
    let room = IN_ANY_CASE.max(expressions / EXPRESSIONS);
    all.skip(room)
        .map(|id| (id, "code for more loops of its kind would take the compiler too long"))
        .chain(left_early)
        .collect()
}

/// Loops that do nothing but copy a few bytes at a time by `memcpy`. Who has much to copy calls it once; this is how decompressors copy what is mostly over after one or two turns, wherever they do
/// so, and a guard in front of each of them shows (`docs/measurements/2026-11-29-inspections-in-time.md`).
fn copies_of_little(unit: &TranslationUnit, reports: &[LoopReport]) -> BTreeMap<LoopId, &'static str> {
    let mut found = BTreeMap::new();
    for function in &unit.functions {
        for looked_at in nest::loops(function) {
            let the_loop = looked_at.the_loop;
            let (mut copied, mut pointers) = (Some(0), 0);
            add_copied(unit, &the_loop.body, &mut copied);
            let mut count = |e: &Expr| pointers += usize::from(matches!(e.kind, ExprKind::PtrAssign { .. }));
            nest::all_expressions(&the_loop.body, &mut count);
            the_loop.step.iter().for_each(|step| nest::expressions(step, &mut count));
            // What is reached by a subscript is an array, of which all may be wanted.
            if pointers != 0 && copied.is_some_and(|bytes| (1..=A_FEW_BYTES).contains(&bytes)) {
                found.insert(the_loop.id, "it copies a few bytes at a time, which is seldom done for long");
            }
        }
    }
    let asserted = |id: &LoopId| {
        reports.iter().any(|r| r.plan.as_ref().is_some_and(|plan| plan.loop_id == *id && plan.asserted))
    };
    found.retain(|id, _| !asserted(id));
    found
}

/// Adds how many bytes a statement copies by `memcpy`; `None`: it does something else than that and moving variables on.
fn add_copied(unit: &TranslationUnit, statement: &Stmt, copied: &mut Option<u64>) {
    let is_variable = |place: &Place| matches!(place.kind, PlaceKind::Var(_));
    let bytes = match &statement.kind {
        StmtKind::Empty | StmtKind::Declaration => Some(0),
        StmtKind::Block(statements) => {
            statements.iter().for_each(|statement| add_copied(unit, statement, copied));
            return;
        }
        StmtKind::Loop(l) => blocks::block(l).filter(|block| block.from.is_some()).and_then(|block| {
            let Some(constant::Value::Int(count)) = constant::evaluate(&unit.types, block.count) else {
                return None;
            };
            u64::try_from(count).ok()?.checked_mul(unit.types.size_of(block.to.ty.ty)?)
        }),
        StmtKind::Expr(e) => match &e.kind {
            ExprKind::PtrAssign { place, index, .. } if is_variable(place) => {
                constant::evaluate(&unit.types, index).map(|_| 0)
            }
            ExprKind::Assign(to, value) => match (&to.kind, &value.kind) {
                (PlaceKind::Field { record, .. }, ExprKind::Load(_))
                    if unit.unions_of_one.values().any(|union| union == record) =>
                {
                    unit.types.size_of(to.ty.ty)
                }
                _ => None,
            },
            _ => None,
        },
        _ => None,
    };
    *copied = copied.zip(bytes).and_then(|(before, bytes)| before.checked_add(bytes));
}

/// Of all loops, by what their code takes the compiler: those come first that stand in no other loop that is known as well, whose code has theirs in it
/// and runs them, too; then those that need the least checking, and those that do the most in an iteration.
fn crowded_out_nests(
    unit: &TranslationUnit,
    reports: &[LoopReport],
    options: &CodegenOptions,
    expressions: usize,
    left_out: &BTreeMap<LoopId, &'static str>,
) -> BTreeMap<LoopId, &'static str> {
    let mut plans = BTreeMap::new();
    for report in reports {
        let Some(plan) = report.plan.as_deref() else { continue };
        let is_entered = !is_never_long_enough(unit, plan, options);
        if is_entered && !left_out.contains_key(&plan.loop_id) && !unit.functions[plan.function].is_unused {
            plans.insert(plan.loop_id, (report, plan));
        }
    }
    let mut in_order = Vec::new();
    for function in &unit.functions {
        for found in nest::loops(function) {
            let Some((report, plan)) = plans.get(&found.the_loop.id) else { continue };
            // A guess about the whole may turn out wrong each time, while loops inside are known to be parallel.
            let is_covered = |outer: &&LoopId| {
                plans.get(outer).is_some_and(|(around, _)| around.check.cost() <= report.check.cost())
            };
            let around = found.outer.iter().filter(is_covered).count();
            let rank = (!plan.asserted, around, report.check.cost(), Reverse(plan.work));
            in_order.push((
                rank,
                plan.loop_id,
                expressions_compiled(unit, report, plan, found.the_loop, options),
            ));
        }
    }
    in_order.sort();
    let room = [SHARE_OF_OUTERMOST, SHARE].map(|share| ROOM.max(expressions * share));
    let (mut used, mut crowded) = (0, BTreeMap::new());
    for ((not_asserted, around, ..), id, size) in in_order {
        if not_asserted && used + size > room[around.min(1)] {
            crowded
                .insert(id, "its file has code for so many loops that more would take the compiler too long");
        } else {
            used += size;
        }
    }
    crowded
}

/// What the code of a loop takes the compiler, in expressions of the user's.
fn expressions_compiled(
    unit: &TranslationUnit,
    report: &LoopReport,
    plan: &LoopPlan,
    the_loop: &LoopStmt,
    options: &CodegenOptions,
) -> usize {
    let mut body = 0;
    nest::all_expressions(&the_loop.body, &mut |_| body += 1);
    let checked = usize::from(checked_threads(report, plan, options));
    let inspected = usize::from(plan.inspection.is_some() && inspecting(unit, the_loop, options));
    AROUND + body * plan.parts.len().max(1) * (1 + checked + inspected * INSPECTED)
}

/// When a loop's copy runs.
pub struct Untouched {
    /// The comparison of what the runtime has said.
    pub said: &'static str,
    /// The loops inside.
    pub inner: Vec<LoopId>,
}

/// The loops that are copied as they stand, for entries that stay: those with guards inside, which the compiler can't see past, whose loops can do no better than
/// the whole. Where it isn't expected to pay to run the outermost loop elsewhere, it isn't for those. With the comparison of what the runtime has said: where a loop inside may
/// be proven at entry, the outermost one has to have been proven, or it may be what it isn't proven of that keeps it where it is. And with the loops inside: what the
/// runtime has said may be about another entry.
pub fn untouched(
    unit: &TranslationUnit,
    reports: &[LoopReport],
    options: &CodegenOptions,
) -> BTreeMap<LoopId, Untouched> {
    let mut found = BTreeMap::new();
    let with_plan = |id: LoopId| {
        reports.iter().find(|report| report.plan.as_ref().is_some_and(|plan| plan.loop_id == id))
    };
    for function in &unit.functions {
        let mut copied = 0..0;
        for outer in nest::loops(function) {
            let the_loop = outer.the_loop;
            let Some(report) = with_plan(the_loop.id) else { continue };
            let span = the_loop.keyword_span.start..the_loop.body.span.end;
            // Copies of copies would make each line of a deep nest as many as it is deep.
            if copied.contains(&span.start) {
                continue;
            }
            let mut can_stand_twice = !unit.allocations.iter().any(|call| span.contains(&call.span.start));
            let mut inner = Vec::new();
            nest::statements(&the_loop.body, &mut |statement| match &statement.kind {
                StmtKind::Label { .. } => can_stand_twice = false,
                StmtKind::Loop(inside) => inner.extend(with_plan(inside.id)),
                _ => {}
            });
            if can_stand_twice
                && !inner.is_empty()
                && inner.iter().all(|inner| does_no_better(inner, report, options))
            {
                let is_open = inner.iter().any(|inner| inner.check.cost() < Check::Inspector.cost());
                let inner = inner.iter().filter_map(|inner| Some(inner.plan.as_ref()?.loop_id)).collect();
                found.insert(the_loop.id, Untouched { said: if is_open { "== 1" } else { "!= 0" }, inner });
                copied = span;
            }
        }
    }
    found
}

/// Whether there is no way for a loop that isn't open to one around it as well, at no higher a price.
fn does_no_better(inner: &LoopReport, outer: &LoopReport, options: &CodegenOptions) -> bool {
    let (Some(inside), Some(around)) = (&inner.plan, &outer.plan) else { return false };
    let is_in_place = |plan: &LoopPlan| !plan.may_trap && plan.updates.is_empty();
    inner.check.cost() >= outer.check.cost()
        && around.parts.is_empty()
        && around.privatization.bases.is_empty()
        && !inside.asserted
        && !inside.is_ordered()
        && (around.cuda_exact || !inside.cuda_exact)
        && (is_in_place(around) || !is_in_place(inside))
        && (!around.free_calls || inside.free_calls)
        && (around.inspection.is_some() || inside.inspection.is_none())
        && (checked_threads(outer, around, options) || !checked_threads(inner, inside, options))
}

/// The number of expressions in a loop, if it has no loop in it and computes no floating-point value.
fn size_if_simple(unit: &TranslationUnit, the_loop: &LoopStmt) -> Option<usize> {
    let (mut simple, mut size) = (true, 0);
    nest::statements(&the_loop.body, &mut |s| simple &= !matches!(s.kind, StmtKind::Loop(_)));
    nest::all_expressions(&the_loop.body, &mut |e| {
        simple &= unit.types.as_float(e.ty.ty).is_none();
        size += 1;
    });
    simple.then_some(size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::judged;
    use crate::loops::options::AnalysisOptions;

    /// The lines of the loops that are copied, with what is asked.
    fn copied(text: &str) -> Vec<(usize, &'static str)> {
        let (unit, reports) = judged(text, &AnalysisOptions::default());
        let options = CodegenOptions::default();
        let found = untouched(&unit, &reports, &options);
        let when = |report: &LoopReport| Some(found.get(&report.plan.as_ref()?.loop_id)?.said);
        reports.iter().filter_map(|report| Some((report.line as usize, when(report)?))).collect()
    }

    #[test]
    fn nests_whose_loops_can_do_no_better_are_copied() {
        let nest = "void f(int n, double (*restrict a)[99], double (*restrict b)[99]) {\n\
                    for (int i = 0; i < n; i++)\n\
                    for (int j = 0; j < 99; j++)\n\
                    for (int k = 0; k < 9; k++)\n\
                    a[i][j] += b[i][k]; }";
        assert_eq!(copied(nest), [(2, "== 1")]);
        // There is no guard inside.
        assert_eq!(copied("void f(int n, double *a) {\nfor (int i = 0; i < n; i++) a[i] = i; }"), []);
        // What stays a chain outside may be parallel inside.
        let chain = "void f(int n, int *d, double (*a)[99]) {\n\
                     for (int i = 1; i < n; i++)\n\
                     for (int j = 0; j < 99; j++)\n\
                     a[d[i]][j] = a[i - 1][j] * 2; }";
        assert_eq!(copied(chain), []);
        // A label may stand once.
        let label = nest.replace("a[i][j] +=", "{ if (n < 0) goto next; next: ; } a[i][j] +=");
        assert_eq!(copied(&label), []);
    }

    #[test]
    fn the_outermost_loops_come_first_where_a_file_has_many() {
        let nest = |number: usize| {
            let sum = "+ b[i][j][k] * c[k]".repeat(12);
            format!(
                "void f{number}(int n, int m, int l, double (*restrict a)[99][99], double (*restrict b)[99][99], double *restrict c) {{\n\
                 for (int i = 0; i < n; i++)\nfor (int j = 0; j < m; j++)\nfor (int k = 0; k < l; k++)\n\
                 a[i][j][k] = c[j] {sum}; }}\n"
            )
        };
        let lines_left_out = |nests: usize, options: &CodegenOptions| {
            let text: String = (0..nests).map(nest).collect();
            let (unit, reports) = judged(&text, &AnalysisOptions::default());
            let with_plans = reports.iter().filter(|report| report.plan.is_some()).count();
            assert_eq!(with_plans, 3 * nests);
            let left_out = crowded_out(&unit, &reports, options);
            let is_out = |report: &&LoopReport| left_out.contains_key(&report.plan.as_ref().unwrap().loop_id);
            // In which line of its nest each of them stands.
            reports.iter().filter(is_out).map(|report| (report.line - 1) % 5).collect::<Vec<_>>()
        };
        let options = CodegenOptions::default();
        assert!(lines_left_out(4, &options).is_empty());
        let many = lines_left_out(60, &options);
        assert!(many.len() > 60 && many.iter().all(|line| *line > 1), "{many:?}");
        let forced = CodegenOptions { threshold: Some(1), ..CodegenOptions::default() };
        assert!(lines_left_out(60, &forced).is_empty());
    }

    #[test]
    fn short_searches_of_large_files_get_no_code() {
        let left_out = |others: usize| {
            let find = "int find(int n, const int *a, int x) {\nfor (int i = 0; i < n; i++) if (a[i] == x) return i;\nreturn -1; }\n";
            let check = "int check(int n, const double *a) {\nfor (int i = 0; i < n; i++) if (a[i] < 0) return i;\nreturn -1; }\n";
            let other = |number: usize| {
                format!("int other{number}(int x) {{ return {} x; }}\n", "x * 3 + 1 -".repeat(20))
            };
            let text = format!("{find}{check}{}", (0..others).map(other).collect::<String>());
            let (unit, reports) = judged(&text, &AnalysisOptions::default());
            let left_out = crowded_out(&unit, &reports, &CodegenOptions::default());
            reports
                .iter()
                .map(|report| left_out.contains_key(&report.plan.as_ref().unwrap().loop_id))
                .collect::<Vec<_>>()
        };
        assert_eq!(left_out(1), [false, false]);
        // What is compared there are floating-point numbers, as in programs that compute.
        assert_eq!(left_out(60), [true, false]);
    }

    #[test]
    fn copies_of_a_few_bytes_get_no_code() {
        let head = "typedef unsigned long size_t; void *memcpy(void *, const void *, size_t);\n";
        let left_out = |parameters: &str, the_loop: &str, options: &CodegenOptions| {
            let (unit, reports) =
                judged(&format!("{head}void f({parameters})\n{{ {the_loop} }}"), &AnalysisOptions::default());
            let id = reports[0].plan.as_ref().expect(the_loop).loop_id;
            crowded_out(&unit, &reports, options).get(&id).copied()
        };
        let is_left_out = |parameters: &str, the_loop: &str| {
            left_out(parameters, the_loop, &CodegenOptions::default()).is_some()
        };
        let pointers = "char *to, const char *from, char *end";
        for copies in [
            "memcpy(to, from, 8);",
            "memcpy(to, from, 32);",
            "memcpy(to, from, 16); memcpy(to + 16, from + 16, 16);",
        ] {
            let the_loop = format!("do {{ {copies} to += 32; from += 32; }} while (to < end);");
            assert!(is_left_out(pointers, &the_loop), "{the_loop}");
            assert_eq!(
                left_out(
                    pointers,
                    &the_loop,
                    &CodegenOptions { threshold: Some(1), ..CodegenOptions::default() }
                ),
                None
            );
        }
        // So much at a time, as much as there is, what is more than a copy, and copies of elements, which are how arrays are copied.
        for other in [
            "memcpy(to, from, 128); to += 128; from += 128;",
            "*to++ = *from++;",
            "memcpy(to, from, 8); to[7] += 1; to += 8; from += 8;",
        ] {
            assert!(!is_left_out(pointers, &format!("do {{ {other} }} while (to < end);")), "{other}");
        }
        let elements = "for (int i = 0; i < n; i++) memcpy(&to[i], &from[i], 8);";
        assert!(!is_left_out("double *to, const double *from, int n", elements));
        let asserted = "\n#pragma paragon independent unchecked\ndo { memcpy(to, from, 8); to += 8; from += 8; } while (to < end);";
        assert!(!is_left_out(pointers, asserted));
        let rows = "for (int i = 0; i < n; i++) memcpy(to + i * m, from + i * m, m * sizeof *to);";
        assert!(!is_left_out("double *to, const double *from, int n, int m", rows));
    }

    #[test]
    fn a_guess_around_covers_nothing() {
        let work = "+ b[i][k] * c[k]".repeat(12);
        let nest = |number: usize| {
            format!(
                "void f{number}(int n, int m, int *t, double *restrict a, double (*restrict b)[99], double *restrict c) {{\n\
                 for (int i = 0; i < n; i++)\nfor (int k = 0; k < m; k++)\na[t[i] + k] = c[k] {work}; }}\n"
            )
        };
        let text: String = (0..90).map(nest).collect();
        let (unit, reports) = judged(&text, &AnalysisOptions::default());
        assert_eq!((reports[0].check, reports[1].check), (Check::Inspector, Check::Predicate));
        let left_out = crowded_out(&unit, &reports, &CodegenOptions::default());
        let is_out = |report: &&LoopReport| left_out.contains_key(&report.plan.as_ref().unwrap().loop_id);
        let lines: Vec<u32> = reports.iter().filter(is_out).map(|report| (report.line - 1) % 4).collect();
        assert!(!lines.is_empty() && lines.iter().all(|line| *line == 1), "{lines:?}");
    }
}
