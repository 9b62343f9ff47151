//! Loop interchange: the perfect nests that come about when an inner loop of a perfect nest is brought outermost.
//!
//! `for i { for j { body } }` whose outer loop carries a dependence (`c[j] += a[i][j] * x[i]`) is run as `for j { for i { body } }`
//! if different iterations of *that* outer loop are independent. The others keep their order among each other. Source: direction
//! vectors as in Allen and Kennedy, Optimizing Compilers for Modern Architectures, section 5.2; here no vectors are needed,
//! because of what is asked of the loop that comes outermost.
//!
//! Why the result is the same, bit for bit. Take two executions of the body that touch a common byte, one of them storing. If they
//! belong to different values of `j`, the loop is not independent, and is refused. If they belong to the same one, they keep
//! their order, because the loops around and inside keep theirs. So every location sees its operations in source order, and
//! every load gets what it got; no arithmetic is reordered, and no licence is needed. That holds for any order that keeps the
//! order within each `j`: also for the source order cut into strips of `j`, which is how the calling thread and threads in
//! place run it, because memory is laid out for it.
//!
//! What that rests on, and where it is seen to:
//! - Independence of different iterations of the new outermost loop, over whole ranges of the others: `verdict` judges the new
//!   nest as any other. It must be *proven*, at compile time or by the numbers of an entry ([`keeps_results`] and
//!   `PG_LOOP_REORDERED`): where it doesn't hold, the calling thread's order would be wrong, so such a loop is never run as a
//!   guess, and never logged in order to find out.
//! - The nest is rectangular: no loop of it has a bound that mentions what the nest assigns. Bounds that are read from memory are
//!   pinned or take part in the judgement like any other access; first values are scalars and constants.
//! - All loops that are moved over have an iteration: otherwise the program would neither evaluate the moved loop's bounds nor set
//!   its variable. The entry asks their first tests in the order of the source ([`MovedOver::test`]).
//! - The iteration that comes last is the same one in every order of a rectangular nest, so last values are those of the source.
//! - Integer reductions are exact in any order. Everything else that goes from one iteration to the next (floating-point sums,
//!   extremes, secondary induction variables, carried values) depends on the order, and is refused by [`keeps_results`].
//! - No loads are made from snapshots: that a load comes first is said of the new order. And nothing is called that sets `errno`.
//! - Nothing leaves or enters the nest, and no loop of it carries a pragma: `independent` is about a loop as it stands.
//!
//! Not here: whether an interchanged nest is better than the loop as it stands (`verdict`).

use super::counted::{Counted, counted, mentions, substitute};
use super::nest;
use super::plan::{Interchange, LoopPlan, MovedOver, ScalarRole, Start};
use super::scalars::is_scalar;
use crate::c::hir::*;
use std::collections::BTreeSet;

/// Loops of a nest that are looked at: each is one more nest to judge.
const DEEPEST: usize = 4;

/// A nest in another order.
pub struct Interchanged {
    /// The nest. Its loops have the identities and positions of those that stand there in the source, and the heads of others.
    pub nest: LoopStmt,
    /// What running it needs.
    pub needs: Interchange,
}

/// The nests that come about when one of the inner loops of a perfect nest is brought outermost.
pub fn orders(unit: &TranslationUnit, whole: &LoopStmt) -> Vec<Interchanged> {
    let moving = assigned_in(whole);
    let mut loops: Vec<&LoopStmt> = Vec::new();
    let mut over: Vec<MovedOver> = Vec::new();
    let mut next = Some(whole);
    while let Some(l) = next
        && loops.len() < DEEPEST
        && let Some(head) = movable(unit, l, &moving)
        && let Some(own) = moved_over(l, &head)
    {
        loops.push(l);
        over.push(own);
        next = nest::perfect(&l.body);
    }
    let interchanged = |at: usize| Interchanged {
        nest: outermost(&loops, at),
        needs: Interchange {
            over: over[..at].to_vec(),
            innermost_over: loops[at].id,
            line: loops[at].keyword_span.line,
        },
    };
    (1..loops.len()).map(interchanged).collect()
}

/// Whether a plan for an interchanged nest gives what the source order gives, given that it is only run where different
/// iterations are proven independent.
pub fn keeps_results(plan: &LoopPlan) -> bool {
    let is_free = |role: &ScalarRole| match role {
        ScalarRole::Induction { .. } | ScalarRole::Private { .. } | ScalarRole::Reduction { .. } => true,
        ScalarRole::Secondary { .. }
        | ScalarRole::Accumulation { .. }
        | ScalarRole::Extreme { .. }
        | ScalarRole::Companion { .. } => false,
    };
    plan.scalars.values().all(is_free)
        && plan.prelude.statements.is_empty()
        && plan.prelude.variables.is_empty()
        && plan.starts.is_empty()
        && plan.moved_by_test.is_none()
        // Iterations that meet in updates are not independent.
        && plan.updates.is_empty()
        && plan.inspection.is_none()
        && !plan.asserted
        // What was there before the loop is not what the source order finds.
        && !plan.needs_snapshot()
        // The last call that fails sets `errno`.
        && plan.cuda_exact
        // What traps would do so at another moment.
        && !plan.may_abort
}

/// Variables that a loop assigns or declares, its head included.
fn assigned_in(whole: &LoopStmt) -> BTreeSet<VarId> {
    let mut moving = BTreeSet::new();
    let mut expression = |e: &Expr| {
        if let Some((place, _, true)) = nest::accessed_place(e) {
            moving.extend(nest::root_variable(place));
        }
    };
    whole.cond.iter().chain(&whole.step).for_each(|e| nest::expressions(e, &mut expression));
    whole.init.iter().chain([&*whole.body]).for_each(|s| nest::all_expressions(s, &mut expression));
    let mut statement = |s: &Stmt| {
        if let StmtKind::Declare { var, .. } = s.kind {
            moving.insert(var);
        }
    };
    whole.init.iter().chain([&*whole.body]).for_each(|s| nest::statements(s, &mut statement));
    moving
}

/// The head of a loop that may change places with others of its nest, which assigns `moving`.
fn movable(unit: &TranslationUnit, l: &LoopStmt, moving: &BTreeSet<VarId>) -> Option<Counted> {
    if l.is_copy || l.keyword != LoopKeyword::For || unit.wish(l).is_some() {
        return None;
    }
    let [StmtKind::Expr(_) | StmtKind::Declare { .. }] =
        l.init.iter().map(|s| &s.kind).collect::<Vec<_>>()[..]
    else {
        return None;
    };
    let head = counted(unit, l).ok()?;
    // What leaves a loop alone would leave another one after the exchange.
    if !head.may_merge() || nest::unsupported_control(&l.body).is_some() {
        return None;
    }
    let mut from_memory = false;
    nest::expressions(&head.first, &mut |e| {
        from_memory |= matches!(&e.kind, ExprKind::Load(place) if is_scalar(unit, place).is_none());
    });
    let is_rectangular = !mentions(&head.first, moving) && !mentions(&head.limit, moving);
    (is_rectangular && !from_memory).then_some(head)
}

fn moved_over(l: &LoopStmt, head: &Counted) -> Option<MovedOver> {
    let start = Start { var: head.iv, value: head.first.clone(), declared: head.iv_local };
    Some(MovedOver {
        test: substitute(l.cond.as_ref()?, &[start]),
        first: head.first.clone(),
        limit: head.limit.clone(),
        step: head.step,
        relation: head.relation,
    })
}

/// The nest with the loop at `at` outermost.
fn outermost(loops: &[&LoopStmt], at: usize) -> LoopStmt {
    let with = |place: &LoopStmt, head: &LoopStmt, body: Box<Stmt>| LoopStmt {
        id: place.id,
        keyword: head.keyword,
        init: head.init.clone(),
        cond: head.cond.clone(),
        step: head.step.clone(),
        body,
        keyword_span: place.keyword_span,
        keyword_ordinal: place.keyword_ordinal,
        unbraced_body: place.unbraced_body,
        is_copy: place.is_copy,
        is_block: false,
        counter: head.counter,
    };
    let mut body = loops[at].body.clone();
    for place in (1..=at).rev() {
        let inner = with(loops[place], loops[place - 1], body);
        let span = loops[place - 1].body.span;
        body = Box::new(Stmt { kind: StmtKind::Loop(inner), span });
    }
    with(loops[0], loops[at], body)
}
