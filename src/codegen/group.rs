//! Iterations that one thread of a GPU runs together, statement by statement, and how accesses move in inner loops.
//!
//! Iterations that may run in any order may also take turns. So a thread can run a *group* of neighbours: it makes loads that all
//! of them make once, and has more loads under way at a time (unroll-and-jam: D. Callahan, S. Carr, K. Kennedy: Improving Register
//! Allocation for Subscripted Variables. PLDI 1990). Inner loops whose bounds are the same for all iterations are run
//! for the whole group, their variables are the group's; every other variable is each iteration's own. Which bodies allow it is
//! found out here; how large a group is, the launch decides. What kernels do with it is in `kernel/groups.h`.

use super::body::inner;
use super::types;
use crate::c::constant::fold;
use crate::c::hir::*;
use crate::loops::counted::{Counted, counted};
use crate::loops::nest;
use crate::loops::plan::*;
use crate::loops::scalars::is_scalar;
use std::collections::BTreeSet;

/// A body with more expressions than this is not run in groups: its text would be too long, and its values too many.
const MOST_EXPRESSIONS: usize = 250;
/// Nor is one that comes to more than this once its loops of few turns are unrolled.
const MOST_UNROLLED: usize = 1600;
/// A body that comes to no more than this may be run in the largest groups, which have 64 iterations ...
const FEW_EXPRESSIONS: usize = 64;
/// ... and one that comes to more than this only in small ones: kernels with more text don't fit into a processor's cache of
/// instructions, and are compiled for seconds.
const MANY_EXPRESSIONS: usize = 256;
/// One that comes to no more than this is run for two iterations at a time where dimensions are merged, in which there are no groups.
const MOST_IN_PAIRS: usize = 128;
/// An inner loop with more accesses than this that could move by strides moves none of them: pointers need registers.
pub const MOST_WALKS: usize = 8;

/// What a group has in common.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// Inner loops that are run for the whole group.
    pub loops: BTreeSet<LoopId>,
    /// The variables of these loops.
    pub variables: BTreeSet<VarId>,
    /// Whether the body is short enough for the largest groups.
    pub is_small: bool,
    /// Whether it is so long that groups have to be small.
    pub is_long: bool,
    /// Whether it is short enough to stand there twice where nothing is in common.
    pub is_for_pairs: bool,
    /// Whether no address follows from what was loaded: then neighbours' accesses have something in common, whether or not their arrays are known
    /// to hold them.
    pub is_direct: bool,
}

/// What iterations of a body have in common; `None`: each is run by itself.
pub fn group(unit: &TranslationUnit, plan: &LoopPlan, body: &Stmt) -> Option<Group> {
    let has_results = plan.scalars.values().any(ScalarRole::is_result);
    let goes_on = has_results || !plan.prelude.variables.is_empty() || !plan.prelude.statements.is_empty();
    let elsewhere = !plan.parts.is_empty() || !plan.privatization.bases.is_empty();
    if goes_on || elsewhere || !plan.private.is_empty() {
        return None;
    }
    let (mut jumps, mut count) = (false, 0);
    nest::statements(body, &mut |s| {
        // Text with labels would not be repeated for each iteration.
        jumps |= matches!(
            s.kind,
            StmtKind::Continue | StmtKind::Goto(_) | StmtKind::Label { .. } | StmtKind::Return(_)
        );
    });
    nest::all_expressions(body, &mut |_| count += 1);
    let unrolled = inner::size(unit, body);
    if jumps || count > MOST_EXPRESSIONS || unrolled > MOST_UNROLLED {
        return None;
    }
    let mut candidates = Vec::new();
    top_loops(unit, body, &mut candidates);
    // What some loop needs may turn out to be an iteration's own; then it is not the group's either.
    let mut group = Group {
        is_small: unrolled <= FEW_EXPRESSIONS,
        is_long: unrolled > MANY_EXPRESSIONS,
        is_for_pairs: unrolled <= MOST_IN_PAIRS,
        is_direct: is_direct(unit, plan, body),
        ..Group::default()
    };
    group.variables.extend(candidates.iter().map(|(_, head)| head.iv));
    loop {
        // A loop that stands in one which isn't the group's is each iteration's own, and so is its variable.
        let mut inside = Vec::new();
        common_loops(body, &candidates, &group.variables, &mut inside);
        let heads = |v: VarId| candidates.iter().filter(move |(_, head)| head.iv == v);
        let common = |e: &Expr| is_common(unit, plan, e, &group.variables);
        let is_own = |v: VarId| {
            let set_in_heads: usize = heads(v).map(|(l, _)| assignments_in_head(l, v)).sum();
            assignments(body, v) != set_in_heads
                || heads(v)
                    .any(|(l, head)| !inside.contains(&l.id) || !common(&head.first) || !common(&head.limit))
        };
        let Some(own) = group.variables.iter().copied().find(|v| is_own(*v)) else {
            group.loops = inside.into_iter().collect();
            break;
        };
        group.variables.remove(&own);
    }
    // Loops that each iteration runs by itself take long: threads are for that.
    let mut has_loops = false;
    nest::statements(body, &mut |s| has_loops |= matches!(s.kind, StmtKind::Loop(_)));
    (!group.loops.is_empty() || !has_loops).then_some(group)
}

/// See [`Group::is_direct`]. What a condition depends on doesn't count: this decides what pays, not what is right.
fn is_direct(unit: &TranslationUnit, plan: &LoopPlan, body: &Stmt) -> bool {
    let mut loaded: BTreeSet<VarId> = BTreeSet::new();
    let follows = |e: &Expr, loaded: &BTreeSet<VarId>| {
        let mut found = false;
        nest::expressions(e, &mut |e| {
            if let ExprKind::Load(place) = &e.kind {
                found |= !plan.invariant_places.contains_key(&place.id)
                    && is_scalar(unit, place).is_none_or(|v| loaded.contains(&v));
            }
        });
        found
    };
    loop {
        let before = loaded.len();
        nest::all_expressions(body, &mut |e| {
            if let Some((place, _, true)) = nest::accessed_place(e)
                && let Some(v) = is_scalar(unit, place)
                && follows(e, &loaded)
            {
                loaded.insert(v);
            }
        });
        nest::statements(body, &mut |s| {
            if let StmtKind::Declare { var, init: Some(Init::Scalar(e)) } = &s.kind
                && follows(e, &loaded)
            {
                loaded.insert(*var);
            }
        });
        if loaded.len() == before {
            break;
        }
    }
    let mut is_direct = true;
    nest::all_expressions(body, &mut |e| {
        if let Some((place, ..)) = nest::accessed_place(e)
            && is_scalar(unit, place).is_none()
            && !plan.invariant_places.contains_key(&place.id)
        {
            nest::place_expressions(place, &mut |e| is_direct &= !follows(e, &loaded));
        }
    });
    is_direct
}

/// Counted loops that every iteration comes to: nothing around them but blocks and other such loops.
fn top_loops<'a>(unit: &TranslationUnit, s: &'a Stmt, out: &mut Vec<(&'a LoopStmt, Counted)>) {
    match &s.kind {
        StmtKind::Block(list) => list.iter().for_each(|s| top_loops(unit, s, out)),
        StmtKind::Loop(l) if l.keyword == LoopKeyword::For && !breaks(&l.body) => {
            if let Ok(head) = counted(unit, l)
                && head.may_merge()
                && head.by.is_none()
            {
                out.push((l, head));
                top_loops(unit, &l.body, out);
            }
        }
        _ => {}
    }
}

/// Those of them that stand in nothing but loops of the group.
fn common_loops(
    s: &Stmt,
    candidates: &[(&LoopStmt, Counted)],
    variables: &BTreeSet<VarId>,
    out: &mut Vec<LoopId>,
) {
    match &s.kind {
        StmtKind::Block(list) => list.iter().for_each(|s| common_loops(s, candidates, variables, out)),
        StmtKind::Loop(l) => {
            let found = candidates.iter().find(|(candidate, _)| candidate.id == l.id);
            if found.is_some_and(|(_, head)| variables.contains(&head.iv)) {
                out.push(l.id);
                common_loops(&l.body, candidates, variables, out);
            }
        }
        _ => {}
    }
}

/// Whether a `break` leaves the loop whose body this is.
fn breaks(s: &Stmt) -> bool {
    match &s.kind {
        StmtKind::Break => true,
        StmtKind::Block(list) => list.iter().any(breaks),
        StmtKind::If { then, otherwise, .. } => breaks(then) || otherwise.as_deref().is_some_and(breaks),
        StmtKind::Label { body, .. } | StmtKind::Case { body, .. } => breaks(body),
        _ => false,
    }
}

/// How often a variable is assigned below a statement.
fn assignments(s: &Stmt, v: VarId) -> usize {
    let mut found = 0;
    nest::statements(s, &mut |s| {
        found += usize::from(matches!(&s.kind, StmtKind::Declare { var, init: Some(_) } if *var == v));
    });
    nest::all_expressions(s, &mut |e| found += usize::from(assigns(e, v)));
    found
}

/// How often a loop's head assigns it.
fn assignments_in_head(l: &LoopStmt, v: VarId) -> usize {
    let mut found = 0;
    l.cond.iter().chain(&l.step).for_each(|e| {
        nest::expressions(e, &mut |e| found += usize::from(assigns(e, v)));
    });
    found + l.init.iter().map(|s| assignments(s, v)).sum::<usize>()
}

fn assigns(e: &Expr, v: VarId) -> bool {
    nest::accessed_place(e).is_some_and(|(place, _, writes)| writes && nest::root_variable(place) == Some(v))
}

/// Whether an expression has one value for all iterations, wherever it stands in the body.
pub fn is_common(unit: &TranslationUnit, plan: &LoopPlan, e: &Expr, variables: &BTreeSet<VarId>) -> bool {
    let mut common = true;
    nest::expressions(e, &mut |e| match &e.kind {
        ExprKind::Load(place) => {
            common &= plan.invariant_places.contains_key(&place.id)
                || is_scalar(unit, place)
                    .is_some_and(|v| variables.contains(&v) || plan.live_ins.contains(&v));
        }
        ExprKind::Int(_) | ExprKind::Cast(_) | ExprKind::Unary(..) => {}
        ExprKind::Binary(op, ..) => common &= !matches!(op, BinOp::Div | BinOp::Rem),
        _ => common = false,
    });
    common
}

/// How far an address moves from one value of a variable to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stride {
    /// So many bytes.
    Known(i64),
    /// Always as far, but only the launch knows how far.
    Same,
}

impl Stride {
    fn add(self, other: Stride, sign: i64) -> Option<Stride> {
        match (self, other) {
            (Stride::Known(a), Stride::Known(b)) => a.checked_add(b.checked_mul(sign)?).map(Stride::Known),
            _ => Some(Stride::Same),
        }
    }
    fn times(self, factor: Option<i64>) -> Option<Stride> {
        match (self, factor) {
            (Stride::Known(0), _) => Some(self),
            (Stride::Known(a), Some(b)) => a.checked_mul(b).map(Stride::Known),
            _ => Some(Stride::Same),
        }
    }
    /// As `kernel/walks.h` takes it.
    pub fn text(self) -> String {
        match self {
            Stride::Known(bytes) => types::literal(bytes),
            Stride::Same => "__pg_unknown".into(),
        }
    }
}

/// The stride of addresses in an inner loop: over its variable, while what is in `assigned` changes in ways that nobody knows.
/// `None`: it may move in other ways, or something is loaded to make the address.
pub struct Moving<'a> {
    /// The unit.
    pub unit: &'a TranslationUnit,
    /// The plan.
    pub plan: &'a LoopPlan,
    /// The loop's variable.
    pub iv: VarId,
    /// What else the loop assigns.
    pub assigned: BTreeSet<VarId>,
}

impl<'a> Moving<'a> {
    /// For a loop of a body.
    pub fn new(unit: &'a TranslationUnit, plan: &'a LoopPlan, l: &LoopStmt, iv: VarId) -> Moving<'a> {
        let mut assigned = nest::set_in_turns(l);
        assigned.remove(&iv);
        Moving { unit, plan, iv, assigned }
    }

    /// Of a place's address.
    pub fn address(&self, place: &Place) -> Option<Stride> {
        match &place.kind {
            PlaceKind::Var(_) => Some(Stride::Known(0)),
            PlaceKind::Deref(e) => self.value(e),
            PlaceKind::Field { base, bits: None, .. } => self.address(base),
            _ => None,
        }
    }

    fn value(&self, e: &Expr) -> Option<Stride> {
        match &e.kind {
            ExprKind::Int(_) => Some(Stride::Known(0)),
            ExprKind::Load(place) if self.plan.invariant_places.contains_key(&place.id) => {
                Some(Stride::Known(0))
            }
            ExprKind::Load(place) => match is_scalar(self.unit, place)? {
                v if v == self.iv => Some(Stride::Known(1)),
                v if self.assigned.contains(&v) => None,
                _ => Some(Stride::Known(0)),
            },
            ExprKind::AddressOf(place) => self.address(place),
            // That nothing wraps around on the way is what the affine form stands for.
            ExprKind::Cast(inner) => {
                let width = |ty: QualType| match self.unit.types.pointee(ty.ty) {
                    Some(_) => Some(8),
                    None => self.unit.types.as_int(ty.ty).map(IntKind::size),
                };
                let narrowest = width(inner.ty)?.min(width(e.ty)?);
                self.value(inner).filter(|stride| *stride == Stride::Known(0) || narrowest >= 4)
            }
            ExprKind::PtrAdd { pointer, index, stride } => {
                let moved = self.value(index)?.times(Some(i64::try_from(*stride).ok()?))?;
                self.value(pointer)?.add(moved, 1)
            }
            ExprKind::Binary(op, a, b) => {
                let (x, y) = (self.value(a)?, self.value(b)?);
                let number = |e| fold(&self.unit.types, e).and_then(|v| i64::try_from(v).ok());
                match op {
                    BinOp::Add => x.add(y, 1),
                    BinOp::Sub => x.add(y, -1),
                    BinOp::Mul if y == Stride::Known(0) => x.times(number(b)),
                    BinOp::Mul if x == Stride::Known(0) => y.times(number(a)),
                    BinOp::Shl if y == Stride::Known(0) => {
                        x.times(number(b).filter(|by| (0..32).contains(by)).map(|by| 1 << by))
                    }
                    // Devices give up on divisors that the program may never come to.
                    BinOp::Div | BinOp::Rem => None,
                    _ => (x == Stride::Known(0) && y == Stride::Known(0)).then_some(x),
                }
            }
            ExprKind::Unary(_, a) => self.value(a).filter(|stride| *stride == Stride::Known(0)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::judged;
    use crate::loops::options::AnalysisOptions;

    /// Looks at the body of a nest of two dimensions.
    fn nest_with<T>(body: &str, look: impl FnOnce(&TranslationUnit, &LoopPlan, &Stmt) -> T) -> T {
        let text = format!(
            "void f(int n, int m, int d, unsigned u, double *restrict a, double *restrict b, double *restrict c, int *t)\n{{\n\
             int k, i, j;\nfor (i = 0; i < n; i++)\nfor (j = 0; j < m; j++) {{ {body} }}\n}}\n"
        );
        let options = AnalysisOptions { strict_aliasing: true, ..AnalysisOptions::default() };
        let (unit, mut reports) = judged(&text, &options);
        let plan = reports.swap_remove(0).plan.expect(body);
        assert_eq!(plan.dims.len(), 2, "{body}");
        let loops = nest::loops(&unit.functions[plan.function]);
        let innermost = loops.iter().find(|l| l.the_loop.id == plan.dims[1].loop_id).unwrap();
        look(&unit, &plan, &innermost.the_loop.body)
    }

    /// What its iterations have in common, as names: loops by their variables; and the strides of all loads in
    /// innermost loops, in the order of the text.
    fn look(body: &str) -> (Option<Vec<String>>, Vec<Option<Stride>>) {
        nest_with(body, |unit, plan, body| {
            let group = group(unit, plan, body);
            let mut strides = Vec::new();
            nest::statements(body, &mut |s| {
                if let StmtKind::Loop(l) = &s.kind
                    && let Ok(head) = counted(unit, l)
                {
                    let moving = Moving::new(unit, plan, l, head.iv);
                    nest::all_expressions(&l.body, &mut |e| {
                        if let ExprKind::Load(place) = &e.kind
                            && is_scalar(unit, place).is_none()
                        {
                            strides.push(moving.address(place));
                        }
                    });
                }
            });
            let names = |group: Group| {
                let mut names: Vec<String> =
                    group.variables.iter().map(|v| unit.var(*v).name.clone()).collect();
                names.push(group.loops.len().to_string());
                names
            };
            (group.map(names), strides)
        })
    }

    #[test]
    fn what_is_regular_and_how_long_it_is() {
        let facts = |body: &str| {
            nest_with(body, |unit, plan, body| {
                group(unit, plan, body).map(|group| (group.is_direct, group.is_small, group.is_long))
            })
        };
        // Clamped subscripts aren't affine, but follow from no load; conditions on what was loaded don't count.
        for body in [
            "c[i * m + j] = a[i * m + j];",
            "c[i * m + j] = a[(i < 3 ? 3 : i) * m + j];",
            "c[i * m + j] = a[i] > 0 ? b[j] : 1;",
        ] {
            assert_eq!(facts(body), Some((true, true, false)), "{body}");
        }
        for body in [
            "c[i * m + j] = a[t[j]];",
            "int at = t[i]; int next = at + 1; c[i * m + j] = a[next];",
            "k = t[j]; c[i * m + j] = a[k + i];",
        ] {
            assert_eq!(facts(body), Some((false, true, false)), "{body}");
        }
        // Loops of few turns count as long as they are unrolled; others once.
        let turns = |head: &str| {
            format!("double s = 0; for ({head}) s += a[i * m + k] * b[k * m + j]; c[i * m + j] = s;")
        };
        assert_eq!(facts(&turns("k = 0; k < d; k++")), Some((true, true, false)));
        assert_eq!(facts(&turns("k = 0; k < 25; k++")), Some((true, false, true)));
        let nested = "double s = 0; for (k = 0; k < 25; k++) for (int q = 0; q < 25; q++) s += a[i * m + k] * b[q * m + j]; c[i * m + j] = s;";
        assert_eq!(facts(nested), Some((true, false, true)));
    }

    fn common(body: &str) -> Option<String> {
        look(body).0.map(|names| names.join(" "))
    }

    #[test]
    fn loops_are_common_whose_bounds_are() {
        let loop_of = |head: &str| format!("double s = 0; for ({head}) s += a[k]; c[i * m + j] = s;");
        for (head, expected) in [
            ("k = 0; k < d; k++", Some("k 1")),
            ("k = 0; k < 5; k++", Some("k 1")),
            ("k = 3; k < d + 2 * n; k++", Some("k 1")),
            ("k = d; k > 0; k--", Some("k 1")),
            ("k = 0; k < d; k += 2", Some("k 1")),
            // Each iteration has its own bounds, and so a thread of its own.
            ("k = 0; k < i; k++", None),
            ("k = j; k < d; k++", None),
            ("k = 0; k < t[i]; k++", None),
            ("k = 0; k < d % 7; k++", None),
        ] {
            assert_eq!(common(&loop_of(head)).as_deref(), expected, "{head}");
        }
        let with = |inner: &str| format!("double s = 0; {inner} c[i * m + j] = s;");
        for (inner, expected) in [
            ("for (k = 0; k < d; k++) s += a[k]; for (k = 0; k < 9; k++) s += b[k];", Some("k 2")),
            ("for (k = 0; k < d; k++) s += a[k]; k = 3; s += k;", None),
            ("for (k = 0; k < d; k++) s += a[k]; for (k = 0; k < j; k++) s += b[k];", None),
            ("for (k = 0; k < d; k++) for (int l = 0; l < k; l++) s += a[k + l];", Some("k l 2")),
            ("for (k = 0; k < i; k++) for (int l = 0; l < d; l++) s += a[k + l];", None),
            ("for (k = 0; k < d; k++) for (int l = 0; l < j; l++) s += a[k + l];", Some("k 1")),
            ("for (k = 0; k < d; k++) { s += a[k]; if (s > 3) break; }", None),
            ("for (k = 0; k < d; k++) { s += a[k]; d; k; }", Some("k 1")),
            ("if (i > j) for (k = 0; k < d; k++) s += a[k];", None),
            (
                "for (k = 0; k < d; k++) { if (s > 3) for (int l = 0; l < d; l++) s += a[k + l]; }",
                Some("k 1"),
            ),
            // What is an iteration's own in one loop is no common limit of another.
            (
                "int l; for (l = 0; l < d; l++) s += a[l]; for (k = 0; k < i; k++) for (l = 0; l < d; l++) s += b[l]; \
                 for (int q = 0; q < l; q++) s += a[q];",
                None,
            ),
            ("int l; for (l = 0; l < d; l++) s += a[l]; for (k = 0; k < l; k++) s += b[k];", Some("k l 2")),
        ] {
            assert_eq!(common(&with(inner)).as_deref(), expected, "{inner}");
        }
    }

    #[test]
    fn some_bodies_run_by_themselves() {
        for body in [
            "double s = 0; for (k = 0; k < d; k++) { if (a[k] < 0) continue; s += a[k]; } c[i * m + j] = s;",
            "if (t[j]) continue; c[i * m + j] = 1;",
            "double row[2]; row[0] = a[j]; row[1] = b[j]; c[i * m + j] = row[j & 1];",
        ] {
            assert_eq!(common(body), None, "{body}");
        }
    }

    #[test]
    fn addresses_move_by_strides() {
        let strides = |load: &str| {
            look(&format!("double s = 0; for (k = 0; k < d; k++) s += {load}; c[i * m + j] = s;")).1
        };
        let known = |bytes| vec![Some(Stride::Known(bytes))];
        assert_eq!(strides("a[k]"), known(8));
        assert_eq!(strides("a[i * d + k]"), known(8));
        assert_eq!(strides("a[7 - 3 * k]"), known(-24));
        assert_eq!(strides("a[(k << 2) + j]"), known(32));
        assert_eq!(strides("t[(long)k * 2 + i]"), known(8));
        assert_eq!(strides("a[i]"), known(0));
        assert_eq!(strides("a[k * m + j]"), [Some(Stride::Same)]);
        assert_eq!(strides("a[(k + 1) * (d - 2)]"), [Some(Stride::Same)]);
        // Nobody knows where these go, and what they need may not be there before the loop.
        for load in
            ["a[t[k]]", "a[k * k]", "a[k & 7]", "a[k / 2]", "a[(char)k]", "a[k > 3 ? k : 0]", "a[j / d]"]
        {
            assert!(strides(load).contains(&None), "{load}");
        }
    }
}
