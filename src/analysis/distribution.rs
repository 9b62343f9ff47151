//! Loop distribution: which statements of a loop's body can become loops of their own, run one after the other.
//!
//! `for i { S(i); T(i) }` becomes `for i { S(i) } for i { T(i) }`. Each of the new loops may then be parallel, or become so by an
//! interchange, where the loop as it stands is not: in `for i { t[i] = ...; for j { y[j] += a[i][j] * t[i] } }` the sums keep the
//! iterations of `i` apart, but not those of `j`. Source: Allen and Kennedy, Optimizing Compilers for Modern Architectures,
//! section 2.4, with statements of inner loops distributed at the same time: an inner `for` loop is taken apart, too, and its
//! head goes with each of its parts.
//!
//! Why the result is the same, bit for bit. Every instance of a statement is executed as before, in the same order as the others of
//! its own part. Two instances of different parts that touch a common byte, one of them storing, keep their order: where one
//! statement's instance may come before another one's, the part of the first comes first ([`find`]); where both may come before
//! the other, they stay in one part. So every load gets what it got. What only addresses at entry can tell (two pointers) is
//! left to pairs that are to be proven before anything runs. Scalars that are assigned, and what iterations have for themselves,
//! never cross from one part to another.
//!
//! Not here: whether the parts are better than the loop as it stands, and what has to be true of them (`verdict`).

use super::dependence::{self, Access, Range};
use super::pairs::{self, Steps};
use crate::c::hir::*;
use crate::loops::access::Accesses;
use crate::loops::counted::counted;
use crate::loops::nest;
use crate::loops::plan::{Base, Check, Pair, SiteId};
use std::collections::{BTreeMap, BTreeSet};

/// Statements that a body may have to be looked at.
const MOST_STATEMENTS: usize = 24;

/// A statement that stays whole.
struct Leaf<'a> {
    statement: &'a Stmt,
    /// The inner loops around it, outermost first; their heads go with it.
    around: Vec<LoopId>,
}

/// The body of a loop, taken apart.
pub struct Statements<'a> {
    whole: &'a LoopStmt,
    leaves: Vec<Leaf<'a>>,
    /// The inner loops that are taken apart.
    open: BTreeSet<LoopId>,
    /// Statements that have to stay together because of the variables in them.
    together: Vec<(usize, usize)>,
    /// What is loaded in the heads of these loops.
    in_heads: BTreeSet<PlaceId>,
}

/// A way to distribute a loop.
pub struct Distribution<'a> {
    statements: Statements<'a>,
    /// The statements of each part, in an order in which the parts may run.
    pub groups: Vec<BTreeSet<usize>>,
    /// Whether one statement has to come before another one.
    first: Vec<Vec<bool>>,
    /// What addresses at entry have to show, with the statements that it is about.
    conditions: Vec<(usize, usize, Pair)>,
}

/// Takes a loop's body apart. `None`: there is nothing to distribute, or something that can't be.
pub fn take_apart<'a>(unit: &TranslationUnit, whole: &'a LoopStmt) -> Option<Statements<'a>> {
    let has_wish = |l: &LoopStmt| unit.wish(l).is_some();
    if whole.keyword != LoopKeyword::For || whole.is_copy || has_wish(whole) || jumps(&whole.body) {
        return None;
    }
    let mut statements = Statements {
        whole,
        leaves: Vec::new(),
        open: BTreeSet::new(),
        together: Vec::new(),
        in_heads: BTreeSet::new(),
    };
    // By the variable that counts a loop which is taken apart: these loops.
    let mut counting: BTreeMap<VarId, BTreeSet<LoopId>> = BTreeMap::new();
    let mut heads: Vec<(&LoopStmt, Vec<LoopId>)> = Vec::new();
    let mut pending: Vec<(&Stmt, Vec<LoopId>)> = vec![(&whole.body, Vec::new())];
    while let Some((statement, around)) = pending.pop() {
        match &statement.kind {
            StmtKind::Block(list) => pending.extend(list.iter().rev().map(|s| (s, around.clone()))),
            StmtKind::Empty => {}
            // What it declares may give names in other statements another meaning.
            StmtKind::Declaration => return None,
            StmtKind::Loop(l) if has_wish(l) => return None,
            StmtKind::Loop(l) if let Some(iv) = opens(unit, l) => {
                statements.open.insert(l.id);
                counting.entry(iv).or_default().insert(l.id);
                heads.push((l, around.clone()));
                pending.push((&l.body, around.into_iter().chain([l.id]).collect()));
            }
            _ => statements.leaves.push(Leaf { statement, around }),
        }
    }
    if !(2..=MOST_STATEMENTS).contains(&statements.leaves.len()) {
        return None;
    }
    statements.bind(&counting, &heads)?;
    Some(statements)
}

/// Whether something in a body leaves it, or goes on with the next iteration.
fn jumps(body: &Stmt) -> bool {
    fn of_the_loop(statement: &Stmt) -> bool {
        match &statement.kind {
            StmtKind::Continue | StmtKind::Break | StmtKind::Leave(_) => true,
            StmtKind::Block(list) => list.iter().any(of_the_loop),
            StmtKind::If { then, otherwise, .. } => {
                of_the_loop(then) || otherwise.as_deref().is_some_and(of_the_loop)
            }
            _ => false,
        }
    }
    nest::unsupported_control(body).is_some() || of_the_loop(body)
}

/// The variable of an inner loop that can be taken apart.
fn opens(unit: &TranslationUnit, l: &LoopStmt) -> Option<VarId> {
    let head = counted(unit, l).ok().filter(|head| l.keyword == LoopKeyword::For && head.may_merge())?;
    let plain = l.init.iter().all(|s| matches!(s.kind, StmtKind::Expr(_) | StmtKind::Declare { .. }));
    (plain && !jumps(&l.body)).then_some(head.iv)
}

/// The variables in an expression and in places in it, by name.
fn mentioned(e: &Expr, found: &mut BTreeSet<VarId>) {
    nest::expressions(e, &mut |e| {
        let place = match &e.kind {
            ExprKind::AddressOf(place) => Some(place),
            _ => nest::accessed_place(e).map(|(place, ..)| place),
        };
        found.extend(place.and_then(nest::root_variable));
    });
}

/// The variables that a statement mentions, and those among them that it assigns or declares.
fn variables(statement: &Stmt) -> (BTreeSet<VarId>, BTreeSet<VarId>) {
    let (mut all, mut assigned) = (BTreeSet::new(), BTreeSet::new());
    nest::all_expressions(statement, &mut |e| {
        if let Some((place, _, true)) = nest::accessed_place(e) {
            assigned.extend(nest::root_variable(place));
        }
    });
    nest::statements(statement, &mut |s| {
        nest::direct_expressions(s).into_iter().for_each(|e| mentioned(e, &mut all));
        if let StmtKind::Declare { var, .. } = s.kind {
            assigned.insert(var);
        }
    });
    all.extend(&assigned);
    (all, assigned)
}

impl<'a> Statements<'a> {
    /// Finds what has to stay together because of variables. `None`: all of it.
    fn bind(
        &mut self,
        counting: &BTreeMap<VarId, BTreeSet<LoopId>>,
        heads: &[(&LoopStmt, Vec<LoopId>)],
    ) -> Option<()> {
        let is_counted = |v: &VarId, around: &[LoopId]| {
            counting.get(v).is_none_or(|loops| around.iter().any(|id| loops.contains(id)))
        };
        let found: Vec<_> = self.leaves.iter().map(|leaf| variables(leaf.statement)).collect();
        let assigned: BTreeSet<VarId> = found.iter().flat_map(|(_, assigned)| assigned).copied().collect();
        let own = counted_by(self.whole);
        // A counter belongs to its loop: nobody else sees or sets it.
        if assigned.iter().any(|v| counting.contains_key(v) || own.contains(v))
            || counting.keys().any(|v| own.contains(v))
        {
            return None;
        }
        for (number, (all, _)) in found.iter().enumerate() {
            if !all.iter().all(|v| is_counted(v, &self.leaves[number].around)) {
                return None;
            }
            for v in all.intersection(&assigned) {
                let other = found.iter().position(|(all, _)| all.contains(v)).unwrap_or(number);
                self.together.push((other, number));
            }
        }
        for (l, around) in heads {
            let mut all = BTreeSet::new();
            let around: Vec<LoopId> = around.iter().copied().chain([l.id]).collect();
            for first in &l.init {
                nest::all_expressions(first, &mut |e| mentioned(e, &mut all));
            }
            l.cond.iter().chain(&l.step).for_each(|e| mentioned(e, &mut all));
            if all.iter().any(|v| assigned.contains(v) || !is_counted(v, &around)) {
                return None;
            }
            let mut note = |e: &Expr| {
                self.in_heads.extend(nest::accessed_place(e).map(|(place, ..)| place.id));
            };
            l.init.iter().for_each(|s| nest::all_expressions(s, &mut note));
            l.cond.iter().chain(&l.step).for_each(|e| nest::expressions(e, &mut note));
        }
        Some(())
    }

    /// The loop with some of its statements.
    fn with(&self, keep: &BTreeSet<usize>) -> LoopStmt {
        let mut number = 0;
        let body = self.restricted(&self.whole.body, keep, &mut number);
        let empty = || Stmt { kind: StmtKind::Empty, span: self.whole.body.span };
        LoopStmt { body: Box::new(body.unwrap_or_else(empty)), ..self.whole.clone() }
    }

    fn restricted(&self, statement: &Stmt, keep: &BTreeSet<usize>, number: &mut usize) -> Option<Stmt> {
        let kind = match &statement.kind {
            StmtKind::Block(list) => {
                let kept: Vec<Stmt> = list.iter().filter_map(|s| self.restricted(s, keep, number)).collect();
                (!kept.is_empty()).then_some(StmtKind::Block(kept))?
            }
            StmtKind::Empty => return None,
            StmtKind::Loop(l) if self.open.contains(&l.id) => {
                let body = Box::new(self.restricted(&l.body, keep, number)?);
                StmtKind::Loop(LoopStmt { body, ..l.clone() })
            }
            _ => {
                *number += 1;
                return keep.contains(&(*number - 1)).then(|| statement.clone());
            }
        };
        Some(Stmt { kind, span: statement.span })
    }
}

/// The variables that a loop's own head sets.
fn counted_by(l: &LoopStmt) -> BTreeSet<VarId> {
    let mut found = BTreeSet::new();
    l.init.iter().for_each(|s| found.extend(variables(s).1));
    l.step.iter().chain(&l.cond).for_each(|e| {
        nest::expressions(e, &mut |e| {
            if let Some((place, _, true)) = nest::accessed_place(e) {
                found.extend(nest::root_variable(place));
            }
        });
    });
    found
}

/// Which statements may become loops of their own, given all accesses of the loop. `None`: all have to stay together.
pub fn find<'a>(
    unit: &TranslationUnit,
    accesses: &Accesses,
    dims: &[Range],
    steps: &Steps,
    statements: Statements<'a>,
) -> Option<Distribution<'a>> {
    let mut owner: BTreeMap<PlaceId, usize> = BTreeMap::new();
    for (number, leaf) in statements.leaves.iter().enumerate() {
        nest::all_expressions(leaf.statement, &mut |e| {
            owner.extend(nest::accessed_place(e).map(|(place, ..)| (place.id, number)));
        });
    }
    let sites = &accesses.sites;
    // A head that loads memory belongs to several parts.
    let of_site: Vec<usize> =
        sites.iter().map(|site| owner.get(&site.place).copied()).collect::<Option<_>>()?;
    if sites.iter().any(|site| statements.in_heads.contains(&site.place)) {
        return None;
    }
    let n = statements.leaves.len();
    let mut first = vec![vec![false; n]; n];
    for &(u, v) in &statements.together {
        (first[u][v], first[v][u]) = (true, true);
    }
    let mut conditions = Vec::new();
    for a in 0..sites.len() {
        for b in 0..a {
            if !sites[a].is_store && !sites[b].is_store || of_site[a] == of_site[b] {
                continue;
            }
            // In the order of the text.
            let (a, b) = if of_site[a] < of_site[b] { (a, b) } else { (b, a) };
            let (u, v) = (of_site[a], of_site[b]);
            let base = |site: usize| &accesses.bases[sites[site].base.0 as usize];
            if first[u][v] && first[v][u] || pairs::distinct(unit, base(a), base(b)) {
                continue;
            }
            // In a loop that is taken apart, instances of the one come before and after instances of the other.
            let around = |leaf: usize| statements.leaves[leaf].around.first();
            let mixed = around(u).is_some() && around(u) == around(v);
            let inner = [a, b].map(|site| pairs::inner(&accesses.forms[site], steps));
            let access = |site: usize, inner| {
                let offset = accesses.forms[site].offset.as_ref()?;
                Some(Access { offset, width: i64::from(sites[site].width), inner })
            };
            let is_dynamic = |site: usize| matches!(base(site), Base::Dynamic);
            let is_placed = |site: usize| sites[site].affine.is_some() && !is_dynamic(site);
            if sites[a].base == sites[b].base
                && !is_dynamic(a)
                && let Some((x, y)) = access(a, &inner[0]).zip(access(b, &inner[1]))
            {
                // The first one's iteration at the second one's or before it, and after it.
                let forward = !dependence::comes_first(dims, &y, &x);
                let backward = dependence::may_come_before(dims, &y, &x);
                let together = mixed && (forward || backward);
                first[u][v] |= forward || together;
                first[v][u] |= backward || together;
            } else if is_placed(a) && is_placed(b) {
                let (a, b) = (SiteId(a as u32), SiteId(b as u32));
                let pair = Pair { a, b, check: Check::Predicate, is_anti: false, is_apart: mixed };
                conditions.push((u, v, pair));
            } else {
                (first[u][v], first[v][u]) = (true, true);
            }
        }
    }
    let groups = in_order(&mut first);
    (groups.len() > 1).then_some(Distribution { statements, groups, first, conditions })
}

/// Groups of numbers that have to come before each other, each before those that it has to come before; the least numbers first.
/// What follows from several of the requirements is added to them.
fn in_order(first: &mut [Vec<bool>]) -> Vec<BTreeSet<usize>> {
    let n = first.len();
    for via in 0..n {
        for u in 0..n {
            for v in 0..n {
                first[u][v] |= first[u][via] && first[via][v];
            }
        }
    }
    let mut left: BTreeSet<usize> = (0..n).collect();
    let mut groups = Vec::new();
    while !left.is_empty() {
        let group = |u: usize| -> BTreeSet<usize> {
            left.iter().copied().filter(|&v| v == u || first[u][v] && first[v][u]).collect()
        };
        let is_next = |u: usize| left.iter().all(|&v| !first[v][u] || first[u][v]);
        let Some(next) = left.iter().copied().find(|&u| is_next(u)).map(group) else { break };
        left.retain(|u| !next.contains(u));
        groups.push(next);
    }
    groups
}

impl Distribution<'_> {
    /// The loop with some of its statements.
    pub fn part(&self, statements: &BTreeSet<usize>) -> LoopStmt {
        self.statements.with(statements)
    }

    /// Whether some statement of the one group has to come before one of the other.
    pub fn comes_before(&self, a: &BTreeSet<usize>, b: &BTreeSet<usize>) -> bool {
        a.iter().any(|u| b.iter().any(|v| self.first[*u][*v]))
    }

    /// What addresses at entry have to show, if these are the parts.
    pub fn conditions(&self, parts: &[BTreeSet<usize>]) -> Vec<Pair> {
        let part_of = |leaf: usize| parts.iter().position(|part| part.contains(&leaf));
        let across = self.conditions.iter().filter(|(u, v, _)| part_of(*u) != part_of(*v));
        // Within one iteration they may only meet where they keep their order.
        let is_apart = |u, v, pair: &Pair| pair.is_apart || part_of(u) > part_of(v);
        across.map(|(u, v, pair)| Pair { is_apart: is_apart(*u, *v, pair), ..pair.clone() }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ordered(n: usize, edges: &[(usize, usize)]) -> Vec<Vec<usize>> {
        let mut first = vec![vec![false; n]; n];
        edges.iter().for_each(|&(u, v)| first[u][v] = true);
        in_order(&mut first).into_iter().map(|group| group.into_iter().collect()).collect()
    }

    #[test]
    fn groups_come_in_an_order_that_keeps_all_dependences() {
        assert_eq!(ordered(3, &[]), [[0], [1], [2]]);
        assert_eq!(ordered(3, &[(2, 0)]), [[1], [2], [0]]);
        assert_eq!(ordered(3, &[(0, 1), (1, 0), (1, 2)]), [vec![0, 1], vec![2]]);
        assert_eq!(ordered(4, &[(0, 1), (1, 2), (2, 0), (3, 1)]), [vec![3], vec![0, 1, 2]]);
        assert_eq!(ordered(2, &[(0, 1), (1, 0)]), [[0, 1]]);
    }
}
