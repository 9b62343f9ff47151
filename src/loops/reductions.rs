//! Which variables a loop only combines with values by one operation, or only replaces by what compares with them in one
//! way: reductions and extremes, in the forms that programs write them in.
//!
//! Both are recognised by accounting: every occurrence of the variable in the body belongs to an update of a known form, so
//! nothing else reads or assigns it. Not here: whether the order of the updates may change (`loops::scalars` asks what the
//! type and the user allow).

use super::nest;
use super::plan::{ReductionOp, Relation, Taking};
use super::scalars::{is_scalar, same, same_place};
use crate::c::hir::*;
use std::collections::BTreeSet;

/// Whether every occurrence of `v` in `body` belongs to an update by one operation that is associative and commutative.
pub fn reduction(unit: &TranslationUnit, body: &Stmt, v: VarId) -> Option<ReductionOp> {
    let mut found: Option<ReductionOp> = None;
    let (mut accounted, mut agree) = (0, true);
    let mut note = |op: ReductionOp, occurrences: usize| {
        accounted += occurrences;
        agree &= *found.get_or_insert(op) == op;
    };
    nest::statements(body, &mut |s| {
        if let Some(taken) = taken(unit, s, v).filter(|taken| taken.companions.is_empty()) {
            let least = matches!(taken.taking.relation, Relation::Lt | Relation::Le);
            note(if least { ReductionOp::Min } else { ReductionOp::Max }, taken.occurrences);
        } else if let StmtKind::Expr(e) = &s.kind
            && let Some(op) = update(unit, e, v)
        {
            note(op, occurrences_in(e, v));
        }
    });
    let mut occurrences = 0;
    nest::all_expressions(body, &mut |e| occurrences += usize::from(occurs_at(e, v)));
    found.filter(|_| agree && occurrences == accounted)
}

/// An extreme, and what is assigned where it is.
pub struct Extreme {
    /// When it takes a new value.
    pub taking: Taking,
    /// Variables that are assigned in the same places and nowhere else, and that the loop doesn't read.
    pub companions: BTreeSet<VarId>,
}

/// Whether every occurrence of `v` in `body` belongs to a replacement by a value that compares with it in one way.
pub fn extreme(unit: &TranslationUnit, body: &Stmt, v: VarId) -> Option<Extreme> {
    let mut found: Option<Extreme> = None;
    let (mut accounted, mut agree, mut places) = (0, true, 0);
    nest::statements(body, &mut |s| {
        let Some(taken) = taken(unit, s, v) else { return };
        accounted += taken.occurrences;
        places += 1;
        match &found {
            None => found = Some(Extreme { taking: taken.taking, companions: taken.companions }),
            Some(known) => agree &= known.taking == taken.taking && known.companions == taken.companions,
        }
    });
    let found = found.filter(|_| agree)?;
    let (mut occurrences, mut others) = (0, 0);
    nest::all_expressions(body, &mut |e| {
        occurrences += usize::from(occurs_at(e, v));
        others += found.companions.iter().filter(|c| occurs_at(e, **c)).count();
    });
    (occurrences == accounted && others == places * found.companions.len()).then_some(found)
}

/// Whether an expression itself, not one inside of it, reads or assigns `v`.
fn occurs_at(e: &Expr, v: VarId) -> bool {
    nest::accessed_place(e).is_some_and(|(p, ..)| is(p, v))
}

fn occurrences_in(e: &Expr, v: VarId) -> usize {
    let mut found = 0;
    nest::expressions(e, &mut |e| found += usize::from(occurs_at(e, v)));
    found
}

fn mentions(e: &Expr, v: VarId) -> bool {
    occurrences_in(e, v) != 0
}

fn is(place: &Place, v: VarId) -> bool {
    matches!(place.kind, PlaceKind::Var(x) if x == v)
}

fn is_load(e: &Expr, v: VarId) -> bool {
    matches!(&e.kind, ExprKind::Load(place) if is(place, v))
}

/// Whether a conversion to the type of `e` keeps all bits that `v` has: to an integer type that is no narrower, or a floating
/// type that has all of its values. `_Bool` keeps only whether there is a bit.
fn keeps_bits(unit: &TranslationUnit, e: &Expr, v: VarId) -> bool {
    let own = unit.var(v).ty.ty;
    match (unit.types.as_int(e.ty.ty), unit.types.as_int(own)) {
        (Some(to), Some(own)) => to != IntKind::Bool && to.size() >= own.size(),
        _ => keeps_values(&unit.types, own, e.ty.ty),
    }
}

/// The operation by which an expression statement updates `v`, if it does nothing else with it.
fn update(unit: &TranslationUnit, e: &Expr, v: VarId) -> Option<ReductionOp> {
    match &e.kind {
        ExprKind::IncDec { place, .. } if is(place, v) => Some(ReductionOp::Add),
        // An integer combined with a floating value is rounded each time: no reordering.
        ExprKind::AssignOp { op, place, value, compute } if is(place, v) && !mentions(value, v) => {
            let alike = unit.types.as_int(compute.ty).is_some() == unit.types.as_int(place.ty.ty).is_some();
            operation(*op).filter(|_| alike)
        }
        ExprKind::Assign(place, value) if is(place, v) => chain(unit, value, v)?,
        _ => None,
    }
}

fn operation(op: BinOp) -> Option<ReductionOp> {
    match op {
        BinOp::Add | BinOp::Sub => Some(ReductionOp::Add),
        BinOp::Mul => Some(ReductionOp::Mul),
        BinOp::And => Some(ReductionOp::And),
        BinOp::Or => Some(ReductionOp::Or),
        BinOp::Xor => Some(ReductionOp::Xor),
        _ => None,
    }
}

/// Whether `e` is `v` combined with values by one operation: `v + x + y`, `c ? v + x : v`. `Some(None)`: it is `v` itself.
#[allow(clippy::option_option)]
fn chain(unit: &TranslationUnit, e: &Expr, v: VarId) -> Option<Option<ReductionOp>> {
    match &e.kind {
        ExprKind::Load(place) => is(place, v).then_some(None),
        // The last conversion is that of the assignment, which gives what the variable can hold.
        ExprKind::Cast(inner) if keeps_bits(unit, e, v) => chain(unit, inner, v),
        ExprKind::Binary(op, a, b) => {
            let (own, other) = if mentions(a, v) { (a, b) } else { (b, a) };
            if mentions(other, v) || std::ptr::eq(own, b) && *op == BinOp::Sub {
                return None;
            }
            let here = operation(*op)?;
            let inner = chain(unit, own, v)?;
            (inner.unwrap_or(here) == here).then_some(Some(here))
        }
        ExprKind::Conditional(c, a, b) if !mentions(c, v) => match (chain(unit, a, v)?, chain(unit, b, v)?) {
            (None, op) | (op, None) => Some(op),
            (x, y) => (x == y).then_some(x),
        },
        _ => None,
    }
}

/// A place where an extreme takes a new value.
struct Taken {
    taking: Taking,
    companions: BTreeSet<VarId>,
    /// Of the extreme.
    occurrences: usize,
    /// Whether memory is loaded that the program may not be let to: only where the value compares with what the extreme is so far.
    guards: bool,
}

/// Whether the value of the extreme `v` so far keeps the program from loading from somewhere. Who starts in the middle doesn't know that
/// value, and loads more.
pub fn guards_loads(unit: &TranslationUnit, body: &Stmt, v: VarId) -> bool {
    let mut guards = false;
    nest::statements(body, &mut |s| guards |= taken(unit, s, v).is_some_and(|taken| taken.guards));
    guards
}

/// Whether an expression loads memory, other than what the comparison loads that stands before it.
fn loads_more(unit: &TranslationUnit, e: &Expr, comparison: &Expr) -> bool {
    let mut known: Vec<&Place> = Vec::new();
    nest::expressions(comparison, &mut |e| known.extend(nest::accessed_place(e).map(|(place, ..)| place)));
    let mut more = false;
    nest::expressions(e, &mut |e| {
        if let Some((place, ..)) = nest::accessed_place(e) {
            more |= is_scalar(unit, place).is_none() && !known.iter().any(|known| same_place(known, place));
        }
    });
    more
}

/// `if (x < m) m = x;`, `if (c && !(m <= x)) { m = x; at = i; }`, `m = x < m ? x : m;`.
fn taken(unit: &TranslationUnit, s: &Stmt, v: VarId) -> Option<Taken> {
    match &s.kind {
        StmtKind::If { cond, then, otherwise: None } => {
            let mut value = None;
            let mut companions = BTreeSet::new();
            assignments(then, &mut |place, assigned| {
                if is(place, v) {
                    value.replace(assigned).is_none()
                } else if let PlaceKind::Var(companion) = place.kind {
                    super::scalars::is_scalar(unit, place).is_some() && companions.insert(companion)
                } else {
                    false
                }
            })?;
            let value = value?;
            let mut clean = true;
            for other in companions.iter().chain([&v]) {
                assignments(then, &mut |_, assigned| {
                    clean &= !mentions(assigned, *other);
                    true
                });
                clean &= *other == v || !mentions(cond, *other);
            }
            let Compared { taking, comparison, mut guards } =
                condition(unit, cond, value, v, false).filter(|_| clean)?;
            assignments(then, &mut |_, assigned| {
                guards |= loads_more(unit, assigned, comparison);
                true
            });
            Some(Taken { taking, companions, occurrences: 2, guards })
        }
        StmtKind::Expr(Expr { kind: ExprKind::Assign(place, value), .. }) if is(place, v) => {
            let mut value = &**value;
            // The conversion that the assignment makes: the arms may be wider by C's promotions.
            while let ExprKind::Cast(inner) = &value.kind {
                if !keeps_bits(unit, value, v) {
                    return None;
                }
                value = inner;
            }
            let ExprKind::Conditional(c, a, b) = &value.kind else { return None };
            let stays_first = is_load(widened(unit, a), v);
            let (other, own) = if stays_first { (b, a) } else { (a, b) };
            if !is_load(widened(unit, own), v) || mentions(other, v) {
                return None;
            }
            let Compared { taking, guards, .. } = condition(unit, c, other, v, stays_first)?;
            Some(Taken { taking, companions: BTreeSet::new(), occurrences: 3, guards })
        }
        _ => None,
    }
}

/// Calls `visit` for each assignment of a block that has nothing but assignments, until it says no. `None`: it has other
/// things, or `visit` said no.
fn assignments<'a>(s: &'a Stmt, visit: &mut dyn FnMut(&'a Place, &'a Expr) -> bool) -> Option<()> {
    fn in_expression<'a>(e: &'a Expr, visit: &mut dyn FnMut(&'a Place, &'a Expr) -> bool) -> Option<()> {
        match &e.kind {
            ExprKind::Comma(a, b) => in_expression(a, visit).and_then(|()| in_expression(b, visit)),
            ExprKind::Assign(place, value) => visit(place, value).then_some(()),
            _ => None,
        }
    }
    match &s.kind {
        StmtKind::Block(list) => list.iter().try_for_each(|s| assignments(s, visit)),
        StmtKind::Expr(e) => in_expression(e, visit),
        StmtKind::Empty => Some(()),
        _ => None,
    }
}

/// How a condition compares an extreme.
struct Compared<'a> {
    taking: Taking,
    /// The comparison.
    comparison: &'a Expr,
    /// See [`Taken::guards`].
    guards: bool,
}

/// When `v` takes `value` if it does so where the condition holds (`negated`: where it doesn't). Other parts of a
/// conjunction only say whether it is looked at at all.
fn condition<'a>(
    unit: &TranslationUnit,
    c: &'a Expr,
    value: &Expr,
    v: VarId,
    negated: bool,
) -> Option<Compared<'a>> {
    match &c.kind {
        ExprKind::LogicalAnd(a, b) if !negated => {
            let is_first = mentions(a, v);
            let (own, other) = if is_first { (a, b) } else { (b, a) };
            let mut compared = condition(unit, own, value, v, negated)?;
            // What stands behind the comparison is not evaluated where that fails.
            let mut changes = false;
            nest::expressions(other, &mut |e| {
                changes |= nest::accessed_place(e).is_some_and(|(.., writes)| writes)
                    || matches!(e.kind, ExprKind::Call { .. });
            });
            compared.guards |= is_first && loads_more(unit, other, compared.comparison);
            (!(mentions(other, v) || is_first && changes)).then_some(compared)
        }
        ExprKind::Unary(UnOp::Not, inner) => condition(unit, inner, value, v, !negated),
        ExprKind::Binary(op, a, b) => {
            let (a, b) = (widened(unit, a), widened(unit, b));
            let left = is_load(a, v);
            let compared = if left { b } else { a };
            let value = widened(unit, value);
            // What is assigned must be what was compared, in a type that the variable has all values of.
            let whole = keeps_values(&unit.types, value.ty.ty, unit.var(v).ty.ty);
            if !(left || is_load(b, v)) || mentions(compared, v) || !same(compared, value) || !whole {
                return None;
            }
            let relation = Relation::of_order(*op, left)?;
            let opposite = match relation {
                Relation::Lt => Relation::Ge,
                Relation::Le => Relation::Gt,
                Relation::Gt => Relation::Le,
                _ => Relation::Lt,
            };
            let unordered = negated && unit.types.as_float(value.ty.ty).is_some();
            let taking = Taking { relation: if negated { opposite } else { relation }, unordered };
            Some(Compared { taking, comparison: c, guards: false })
        }
        _ => None,
    }
}

/// What is left of an expression without conversions that keep its value, so that comparisons come out alike before and
/// after them.
fn widened<'a>(unit: &TranslationUnit, e: &'a Expr) -> &'a Expr {
    match &e.kind {
        ExprKind::Cast(inner) if keeps_values(&unit.types, inner.ty.ty, e.ty.ty) => widened(unit, inner),
        _ => e,
    }
}

/// Whether a conversion from one type to another keeps every value: both integers or both floating.
fn keeps_values(types: &Types, from: TypeId, to: TypeId) -> bool {
    match (types.as_int(from), types.as_int(to)) {
        (Some(from), Some(to)) => {
            (to != IntKind::Bool || from == to)
                && (to.size() > from.size() && (to.signed() || !from.signed())
                    || to.size() == from.size() && to.signed() == from.signed())
        }
        _ => matches!(
            (types.as_float(from), types.as_float(to)),
            (Some(FloatKind::Float), Some(FloatKind::Float | FloatKind::Double))
                | (Some(FloatKind::Double), Some(FloatKind::Double))
        ),
    }
}

#[cfg(test)]
mod tests {
    use crate::compile::judged;
    use crate::loops::options::AnalysisOptions;
    use crate::loops::plan::Verdict;

    /// Whether the loop with this body may run elsewhere. It counts `i` up to `n`; there are arrays of all types.
    fn runs(body: &str, options: &AnalysisOptions) -> bool {
        let text = format!(
            "struct s {{ int n; double worst; long sum; }};\nlong total;\n\
             void f(int n, const double *a, const float *f, const int *k, const short *h, struct s *p, double *out)\n{{\n\
             double m = 0, t = 0; float g = 0; int at = 0, least = 0; short small = 0; unsigned bits = 0; long sum = 0;\n\
             for (int i = 0; i < n; i++) {{ {body} }}\n\
             out[0] = m + t + g; out[1] = at + least + small + bits + sum;\n}}\n"
        );
        let (_, reports) = judged(&text, options);
        assert_eq!(reports.len(), 1, "{body}");
        reports[0].verdict != Verdict::Sequential
    }

    #[test]
    fn what_is_a_reduction_and_what_only_looks_like_one() {
        let options = AnalysisOptions { strict_aliasing: true, ..AnalysisOptions::default() };
        for body in [
            "sum = sum + k[i] - h[i];",
            "sum = k[i] + (sum + 1);",
            "sum = k[i] > 3 ? sum + k[i] : sum;",
            "sum = k[i] > 3 ? sum : sum - h[i];",
            "small += h[i];",
            "small = h[i] > small ? h[i] : small;",
            "if (h[i] > small) small = h[i];",
            "if (a[i] > m) m = a[i];",
            "if (a[i] > m) { m = a[i]; at = i; }",
            "if (k[i] > 0 && !(a[i] <= m)) at = k[i], m = a[i];",
            "m = m > a[i] ? m : a[i];",
            "if (f[i] > m) m = f[i];",
            "p->sum += k[i];",
            "if (k[i]) total ^= k[i];",
            "if (a[i] > p->worst) { p->worst = a[i]; p->n = i; }",
        ] {
            assert!(runs(body, &options), "{body}");
        }
        for body in [
            "sum = k[i] - sum;",
            "sum = k[i] > sum ? sum + k[i] : sum;",
            "sum = sum + sum;",
            "bits = (unsigned char)(bits + k[i]);",
            "sum = k[i] > 3 ? sum + k[i] : sum ^ k[i];",
            "sum += k[i]; sum *= 3;",
            "if (k[i] > small) small = k[i];",
            "if (a[i] > g) g = a[i];",
            "if (a[i] > m) { t = m; m = a[i]; }",
            "if (a[i] > m) { m = a[i]; at = i; } least += at;",
            "if (a[i] > m) { m = a[i]; at = i; } if (f[i] > m) m = f[i];",
            "if (a[i] > m) m = a[i]; if (a[i] >= m) m = a[i];",
            "if (a[i] > m) m = a[i + 1];",
            "if (a[i] > m) { m = a[i]; at++; }",
            "p->sum += k[i]; out[i] = p->sum;",
            "**(int **)out += k[i];",
        ] {
            assert!(!runs(body, &options), "{body}");
        }
    }

    #[test]
    fn floating_sums_need_a_licence_and_may_stand_unfused_with_it() {
        let strict = AnalysisOptions::default();
        let fused = AnalysisOptions { contraction: true, ..AnalysisOptions::default() };
        let free = AnalysisOptions { reassociate: true, ..fused.clone() };
        let answers = |body: &str| [&strict, &fused, &free].map(|options| runs(body, options));
        assert_eq!(answers("m += a[i];"), [false, false, true]);
        assert_eq!(answers("m += a[i] * f[i];"), [false, false, true]);
        assert_eq!(answers("p->worst -= a[i] * f[i];"), [false, false, true]);
        assert_eq!(answers("double v = a[i] * f[i]; m += v;"), [false, false, true]);
        assert_eq!(answers("double v = a[i] * f[i] + 1; out[i] = v; m += v;"), [false, false, false]);
        assert_eq!(answers("out[i] = a[i] * f[i] + 1;"), [true, false, false]);
        assert_eq!(answers("double v = a[i] * f[i]; out[i] = v + 1;"), [true, false, false]);
        assert_eq!(answers("double v = a[i]; v *= f[i]; v -= 2; out[i] = v;"), [true, false, false]);
        assert_eq!(answers("out[i] = -(a[i] * f[i]) + 1;"), [true, false, false]);
        // A sum is enough: what else the compiler fuses it with depends on the text around.
        assert_eq!(answers("double v = a[i] + f[i]; out[i] = v * 2;"), [true, false, true]);
        assert_eq!(answers("m = a[i] > 1 ? m * a[i] : m;"), [false, false, true]);
    }
}
