//! Array privatization: arrays that are declared outside of a loop, and that each iteration only uses as room of its own
//! (`for i { for j t[j] = ...; for j ... = t[j]; }`). Each thread then works on a copy of what the loop touches of them, and the
//! last iteration on the array itself, so that it holds what the program would have left there. The calling thread, which runs
//! iterations in source order, needs no copy.
//!
//! [`find`] shows that such copies can't be told from the array. For a base all of whose accesses stay where they are in all
//! iterations, and for one of its stores, the *window*: what that store covers by counting an inner loop up or down, element by
//! element.
//! - Nothing else of the base is stored to, and the store happens in every iteration: no condition around it, no jump in the
//!   loop, and every loop around it has a turn, with bounds that are the same for all iterations. So all iterations store to the
//!   same bytes, and what an iteration leaves there depends on none before it. That the loops have a turn is asked at entry.
//! - What a load finds has been stored by its own iteration, or nobody stores to it while the loop runs. Which it is follows from
//!   where load and store stand: [`Judge::is_covered`] has the cases.
//! - Everything else that the loop touches lies outside: other objects, or addresses that the entry compares
//!   ([`Privatization::separate`]). The window is in the way of nothing that the loop relies on either: that is asked of its stores
//!   like of all others (`verdict::mark_pins`).
//!
//! The order of a thread's iterations is that of the source, and no arithmetic changes. Bytes of a copy that no iteration stores to
//! are those of the array. Source: Tu and Padua, Automatic Array Privatization (1993); reads that lead out of the window are not
//! in theirs.
//!
//! Not here: arrays that a body declares (`loops::private`), and whether a loop would do without (`verdict`).

use super::access::Accesses;
use super::counted::counted;
use super::linear::{self, as_constant};
use super::nest;
use super::plan::*;
use super::reason::Reason;
use crate::analysis::pairs::distinct;
use crate::c::hir::*;
use std::collections::{BTreeMap, BTreeSet};

/// Finds the bases that can be privatized, notes them in `accesses` with what their windows take for granted, and gives back what
/// the plan has to know. An error where there are none.
pub fn find(unit: &TranslationUnit, accesses: &mut Accesses, body: &Stmt) -> Result<Privatization, Reason> {
    let refused = || Reason::from("no array of it can be privatized");
    let mut order = Order::default();
    order.statement(unit, body);
    if order.is_refused || accesses.has_continue || accesses.has_ways_out {
        return Err(refused());
    }
    let mut found = Privatization::default();
    for number in 0..accesses.bases.len() {
        let base = BaseId(number as u32);
        let judge = Judge { unit, accesses, order: &order, base };
        if let Some((separate, mut assumptions)) = judge.judge() {
            found.bases.insert(base);
            found.separate.extend(separate);
            accesses.assumptions.append(&mut assumptions);
        }
    }
    // Both of two such bases list the pairs between them.
    found.separate = found.separate.iter().map(|(a, b)| (*a.min(b), *a.max(b))).collect();
    if found.bases.is_empty() {
        return Err(refused());
    }
    accesses.privatized.clone_from(&found.bases);
    accesses.forget_private_tables();
    Ok(found)
}

/// Whether a plan with privatized bases gives what the loop as it stands gives, on threads in place.
pub fn keeps_results(plan: &LoopPlan) -> bool {
    // What is computed anew would load what the iteration before has left.
    plan.prelude.statements.is_empty()
        && plan.prelude.variables.is_empty()
        && plan.updates.is_empty()
        && plan.inspection.is_none()
        && plan.interchange.is_none()
        && !plan.needs_snapshot()
        && !plan.asserted
        // Such loops never run in place.
        && !plan.may_trap
}

/// What surrounds an access in the body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Around {
    Loop(LoopId),
    /// Something that need not be executed: the number of an arm.
    Condition(u32),
}

/// Where an access stands.
#[derive(Clone, Debug)]
struct Position {
    /// The number of its full expression in the order of the text. In one turn of all loops that surround two accesses, the one
    /// with the lower number is executed first.
    moment: u32,
    around: Vec<Around>,
    /// Whether it belongs to a loop's test or step.
    in_head: bool,
}

/// The order of a body's accesses.
#[derive(Default)]
struct Order {
    positions: BTreeMap<PlaceId, Position>,
    /// The loops that count one by one or in larger steps to an end that is known when they begin, by step.
    counting: BTreeMap<LoopId, i64>,
    loops: BTreeSet<LoopId>,
    moment: u32,
    conditions: u32,
    around: Vec<Around>,
    in_head: bool,
    is_refused: bool,
}

impl Order {
    fn statement(&mut self, unit: &TranslationUnit, s: &Stmt) {
        match &s.kind {
            StmtKind::Empty | StmtKind::Declaration => {}
            StmtKind::Expr(e) => self.full_expression(e),
            StmtKind::Declare { init, .. } => match init {
                None => {}
                Some(Init::Scalar(e)) => self.full_expression(e),
                Some(Init::Members(list)) => list.iter().for_each(|(_, e)| self.full_expression(e)),
                Some(Init::Aggregate) => self.is_refused = true,
            },
            StmtKind::Block(list) => list.iter().for_each(|s| self.statement(unit, s)),
            StmtKind::If { cond, then, otherwise } => {
                self.full_expression(cond);
                self.conditionally(|order| order.statement(unit, then));
                if let Some(otherwise) = otherwise {
                    self.conditionally(|order| order.statement(unit, otherwise));
                }
            }
            StmtKind::Loop(l) => self.inner_loop(unit, l),
            _ => self.is_refused = true,
        }
    }

    fn inner_loop(&mut self, unit: &TranslationUnit, l: &LoopStmt) {
        self.is_refused |= !self.loops.insert(l.id);
        if let Some(step) = counting_step(unit, l) {
            self.counting.insert(l.id, step);
        }
        l.init.iter().for_each(|s| self.statement(unit, s));
        self.around.push(Around::Loop(l.id));
        self.in_head = true;
        l.cond.iter().chain(&l.step).for_each(|e| self.full_expression(e));
        self.in_head = false;
        self.statement(unit, &l.body);
        self.around.pop();
    }

    fn conditionally(&mut self, work: impl FnOnce(&mut Self)) {
        self.conditions += 1;
        self.around.push(Around::Condition(self.conditions));
        work(self);
        self.around.pop();
    }

    fn full_expression(&mut self, e: &Expr) {
        self.moment += 1;
        self.expression(e);
    }

    fn expression(&mut self, e: &Expr) {
        if let Some((place, ..)) = nest::accessed_place(e) {
            let position =
                Position { moment: self.moment, around: self.around.clone(), in_head: self.in_head };
            self.is_refused |= self.positions.insert(place.id, position).is_some();
        }
        match &e.kind {
            ExprKind::LogicalAnd(a, b) | ExprKind::LogicalOr(a, b) => {
                self.expression(a);
                self.conditionally(|order| order.expression(b));
            }
            ExprKind::Conditional(c, a, b) => {
                self.expression(c);
                self.conditionally(|order| order.expression(a));
                self.conditionally(|order| order.expression(b));
            }
            ExprKind::Load(place) | ExprKind::AddressOf(place) | ExprKind::IncDec { place, .. } => {
                self.place(place);
            }
            ExprKind::Assign(place, value)
            | ExprKind::AssignOp { place, value, .. }
            | ExprKind::PtrAssign { place, index: value, .. } => {
                self.place(place);
                self.expression(value);
            }
            ExprKind::Unary(_, a) | ExprKind::Cast(a) => self.expression(a),
            ExprKind::Binary(_, a, b)
            | ExprKind::Comma(a, b)
            | ExprKind::PtrAdd { pointer: a, index: b, .. }
            | ExprKind::PtrDiff { left: a, right: b, .. } => {
                self.expression(a);
                self.expression(b);
            }
            ExprKind::Call { callee, args } => {
                self.is_refused |= matches!(callee, Callee::Pointer(_));
                args.iter().for_each(|e| self.expression(e));
            }
            ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Str(_) | ExprKind::Function(_) => {}
            ExprKind::Opaque(_) => self.is_refused = true,
        }
    }

    fn place(&mut self, place: &Place) {
        match &place.kind {
            PlaceKind::Var(_) => {}
            PlaceKind::Deref(e) => self.expression(e),
            PlaceKind::Field { base, .. } => self.place(base),
            PlaceKind::Opaque(_) => self.is_refused = true,
        }
    }
}

/// The step of a loop whose turns are exactly those that its range says: from the first value as far as the limit, as numbers.
fn counting_step(unit: &TranslationUnit, l: &LoopStmt) -> Option<i64> {
    if l.keyword != LoopKeyword::For {
        return None;
    }
    let head = counted(unit, l).ok().filter(|head| head.control.is_none() && head.may_merge())?;
    let own = unit.types.as_int(unit.var(head.iv).ty.ty)?;
    let as_numbers = own == head.kind && head.compares_numbers(unit);
    let ends = head.relation != Relation::Ne || head.step.abs() == 1;
    (as_numbers && ends).then_some(head.step)
}

/// What one base is judged by.
struct Judge<'a, 'u> {
    unit: &'a TranslationUnit,
    accesses: &'a Accesses<'u>,
    order: &'a Order,
    base: BaseId,
}

/// A store that covers its window in every iteration.
struct Cover {
    site: usize,
    lo: Bound,
    hi: Bound,
    /// The loop that it counts through the window by, and how many bytes a turn goes on; `None`: the window is one element.
    by: Option<(LoopId, i64)>,
}

fn minus(a: &Bound, b: &Bound) -> Option<Bound> {
    linear::add(a, &linear::neg(b)?)
}

/// Whether `a >= b` whatever is known at entry.
fn at_least(a: &Bound, b: &Bound) -> bool {
    minus(a, b).and_then(|d| as_constant(&d)).is_some_and(|d| d >= 0)
}

/// That a number isn't negative.
fn not_negative(number: Bound) -> Assumption {
    Assumption { lo: number.clone(), hi: number, kind: IntKind::ULongLong }
}

type Judged = (BTreeSet<(SiteId, SiteId)>, Vec<Assumption>);

impl Judge<'_, '_> {
    fn judge(&self) -> Option<Judged> {
        let sites = &self.accesses.sites;
        if matches!(self.accesses.bases[self.base.0 as usize], Base::Dynamic) {
            return None;
        }
        let own: Vec<usize> = (0..sites.len()).filter(|site| sites[*site].base == self.base).collect();
        let stores = || own.iter().copied().filter(|site| sites[*site].is_store);
        let loads = || own.iter().copied().filter(|site| !sites[*site].is_store);
        // What is stored only is no room that iterations use.
        if stores().next().is_none() || loads().next().is_none() {
            return None;
        }
        for site in &own {
            self.window(*site)?;
            if self.position(*site)?.in_head {
                return None;
            }
        }
        let mut assumptions = Vec::new();
        let covers: Vec<Cover> = stores().filter_map(|site| self.cover(site)).collect();
        let whole = covers.iter().find(|cover| {
            stores().all(|site| {
                self.window(site).is_some_and(|(lo, hi)| at_least(lo, &cover.lo) && at_least(&cover.hi, hi))
            })
        })?;
        for load in loads() {
            self.is_covered(load, &covers, whole, &mut assumptions).then_some(())?;
        }
        // Every loop around the stores that this rests on has a turn.
        let around: BTreeSet<LoopId> =
            covers.iter().flat_map(|cover| self.loops_around(cover.site)).collect();
        for cover in &covers {
            for (id, range) in &self.accesses.forms[cover.site].inner {
                let (from, to) = range.as_ref().filter(|_| around.contains(id))?;
                let turns = minus(&to.constant, &from.constant)?;
                match as_constant(&turns) {
                    Some(turns) if turns < 0 => return None,
                    Some(_) => {}
                    None => assumptions.push(not_negative(turns)),
                }
            }
        }
        Some((self.separate(&own)?, assumptions))
    }

    fn position(&self, site: usize) -> Option<&Position> {
        self.order.positions.get(&self.accesses.sites[site].place)
    }

    fn loops_around(&self, site: usize) -> impl Iterator<Item = LoopId> {
        let around = self.position(site).map_or(&[][..], |position| &position.around);
        around.iter().filter_map(|around| match around {
            Around::Loop(id) => Some(*id),
            Around::Condition(_) => None,
        })
    }

    /// The bytes that a site stays in in every iteration, from the base; `None`: not the same in all of them.
    fn window(&self, site: usize) -> Option<(&Bound, &Bound)> {
        let affine = self.accesses.sites[site].affine.as_ref()?;
        let stays = affine.hull.is_none() && affine.strides.iter().all(|s| as_constant(s) == Some(0));
        (stays && self.accesses.forms[site].offset.is_some()).then_some((&affine.lo, &affine.hi))
    }

    /// The window of a store that covers it in every iteration, if all loops around it have a turn.
    fn cover(&self, site: usize) -> Option<Cover> {
        let (lo, hi) = self.window(site)?;
        let form = &self.accesses.forms[site];
        let around = &self.position(site)?.around;
        let loops: Vec<LoopId> = self.loops_around(site).collect();
        let inner: Vec<LoopId> = form.inner.iter().map(|(id, _)| *id).collect();
        if loops.len() != around.len() || loops != inner {
            return None;
        }
        let is_known = |(id, range): &(LoopId, Option<(linear::Linear, linear::Linear)>)| {
            let numbers = range.as_ref().is_some_and(|(a, b)| a.terms.is_empty() && b.terms.is_empty());
            numbers && self.order.counting.contains_key(id)
        };
        if !form.inner.iter().all(is_known) {
            return None;
        }
        let by = match form.offset.as_ref()?.terms.iter().collect::<Vec<_>>()[..] {
            [] => None,
            [(id, coefficient)] => {
                let step = *self.order.counting.get(id)?;
                let goes_on = as_constant(coefficient)?.checked_mul(step)?;
                // Elements side by side, and no turn that the range has and the loop hasn't.
                let is_dense = step.abs() == 1 && goes_on.abs() == i64::from(self.accesses.sites[site].width);
                (is_dense && loops.contains(id)).then_some(Some((*id, goes_on)))?
            }
            _ => return None,
        };
        Some(Cover { site, lo: lo.clone(), hi: hi.clone(), by })
    }

    /// Whether a load finds what its own iteration has stored, or what no iteration stores to: all of these are in the window
    /// `whole`.
    fn is_covered(
        &self,
        load: usize,
        covers: &[Cover],
        whole: &Cover,
        assumptions: &mut Vec<Assumption>,
    ) -> bool {
        let Some(((lo, hi), at)) = self.window(load).zip(self.position(load)) else { return false };
        // Outside of what is stored to.
        if at_least(lo, &whole.hi) || at_least(&whole.lo, hi) {
            return true;
        }
        if self.is_stored_in_turn(load, at) || covers.iter().any(|cover| self.follows(load, at, cover, whole))
        {
            return true;
        }
        // Loops that store to a window are over before the load, which stays in there.
        for cover in covers.iter().filter(|cover| self.is_over(cover, at)) {
            if at_least(lo, &cover.lo) && at_least(&cover.hi, hi) {
                return true;
            }
        }
        for cover in covers.iter().filter(|cover| self.is_over(cover, at)) {
            let within = [minus(lo, &cover.lo), minus(&cover.hi, hi)];
            if let [Some(before), Some(behind)] = within
                && [&before, &behind].iter().all(|d| as_constant(d).is_none_or(|d| d >= 0))
            {
                assumptions.extend([before, behind].map(not_negative));
                return true;
            }
        }
        false
    }

    /// Whether the same turn of all loops around some store has stored to the very place: then the load is made under all
    /// conditions that the store is made under.
    fn is_stored_in_turn(&self, load: usize, at: &Position) -> bool {
        let (sites, forms) = (&self.accesses.sites, &self.accesses.forms);
        (0..sites.len()).any(|store| {
            sites[store].is_store
                && sites[store].base == self.base
                && sites[store].width == sites[load].width
                && forms[store].offset == forms[load].offset
                && self
                    .position(store)
                    .is_some_and(|stored| stored.moment < at.moment && at.around.starts_with(&stored.around))
        })
    }

    /// Whether a load is so many turns behind a store, in the loop that the store counts through its window by. What it finds in
    /// the first turns is outside of the window, which nobody else stores to.
    fn follows(&self, load: usize, at: &Position, cover: &Cover, whole: &Cover) -> bool {
        let Some((by, goes_on)) = cover.by else { return false };
        let (sites, forms) = (&self.accesses.sites, &self.accesses.forms);
        let (Some(stored), Some(loaded)) = (&forms[cover.site].offset, &forms[load].offset) else {
            return false;
        };
        let is_whole = (&cover.lo, &cover.hi) == (&whole.lo, &whole.hi);
        let alike = stored.terms == loaded.terms && sites[cover.site].width == sites[load].width;
        let behind = minus(&stored.constant, &loaded.constant).and_then(|d| as_constant(&d));
        let turns = behind.filter(|behind| behind % goes_on == 0).map(|behind| behind / goes_on);
        // Both are in one execution of that loop.
        let position = self.position(cover.site);
        let one_loop = position.is_some_and(|position| {
            let depth = position.around.iter().position(|around| *around == Around::Loop(by));
            depth.is_some_and(|depth| at.around.starts_with(&position.around[..=depth]))
        });
        is_whole && alike && one_loop && turns.is_some_and(|turns| turns >= 1)
    }

    /// Whether a store has covered its window when an access comes about: the loop that it counts by doesn't surround both.
    fn is_over(&self, cover: &Cover, at: &Position) -> bool {
        let Some(stored) = self.position(cover.site) else { return false };
        let common = stored.around.iter().zip(&at.around).take_while(|(a, b)| a == b).count();
        stored.moment < at.moment
            && cover.by.is_none_or(|(by, _)| !stored.around[..common].contains(&Around::Loop(by)))
    }

    /// The pairs of sites that have to be different memory whatever the iterations are, one of the base and one of another.
    /// `None`: nobody could tell.
    fn separate(&self, own: &[usize]) -> Option<BTreeSet<(SiteId, SiteId)>> {
        let (sites, bases) = (&self.accesses.sites, &self.accesses.bases);
        let base = &bases[self.base.0 as usize];
        let mut found = BTreeSet::new();
        for (number, other) in sites.iter().enumerate().filter(|(_, other)| other.base != self.base) {
            let its = &bases[other.base.0 as usize];
            if distinct(self.unit, base, its) {
                continue;
            }
            if matches!(its, Base::Dynamic) || other.affine.is_none() {
                return None;
            }
            let meeting = own.iter().filter(|site| sites[**site].is_store || other.is_store);
            found.extend(meeting.map(|site| (SiteId(*site as u32), SiteId(number as u32))));
        }
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use crate::compile::judged;
    use crate::loops::options::AnalysisOptions;
    use crate::loops::plan::{LoopPlan, Verdict};

    /// The plan of the outermost loop, whose body is given; `None` where it has none.
    fn plan(body: &str) -> Option<Box<LoopPlan>> {
        let text = format!(
            "static double g[100], h[100]; extern double e[100];\n\
             void f(int n, int m, int k, unsigned u, double *t, double *x, double *y, int *c, double (*z)[64])\n{{\n\
             int j; double s;\nfor (int i = 0; i < n; i++) {{ {body} }}\n}}\n"
        );
        let options = AnalysisOptions { strict_aliasing: true, ..AnalysisOptions::default() };
        let (_, mut reports) = judged(&text, &options);
        let report = reports.swap_remove(0);
        assert_eq!(report.verdict == Verdict::Sequential, report.plan.is_none(), "{body}");
        report.plan
    }

    /// How many arrays of the loop are privatized.
    fn privatized(body: &str) -> usize {
        plan(body).map_or(0, |plan| plan.privatization.bases.len())
    }

    #[test]
    fn what_each_iteration_writes_before_it_reads_it() {
        for body in [
            // Loops that are over.
            "for (j = 0; j < m; j++) t[j] = z[i][j]; for (j = 0; j < m; j++) z[i][j] = t[j] * 2;",
            "for (j = 0; j < m; j++) t[j] = z[i][j]; for (j = 1; j < m; j++) z[i][j] = t[j] - t[j - 1];",
            "for (j = 0; j < m; j++) t[j] = z[i][j]; for (j = m - 1; j >= 0; j--) z[i][j] = t[j] * 2;",
            "for (j = m - 1; j >= 0; j--) t[j] = z[i][j]; for (j = 0; j < m; j++) z[i][j] = t[j] * 2;",
            "for (j = 0; j < m; j++) t[j] = z[i][j]; for (j = 0; j < m; j++) if (c[j]) z[i][j] = t[j];",
            "for (j = 0; j < 8; j++) t[j] = z[i][j]; z[i][0] = t[7] * t[0];",
            "for (j = 0; j < m; j++) g[j] = z[i][j]; for (j = 0; j < m; j++) z[i][j] = g[j] * 2;",
            "for (j = 0; j < m; j++) t[j] = z[i][j]; for (j = 0; j < 2 * m; j++) x[i * 64 + j] = ((float *)t)[j];",
            // Whether the range is as large, the entry asks.
            "for (j = 0; j < m; j++) t[j] = z[i][j]; for (j = 0; j < k; j++) z[i][j] = t[j] * 2;",
            "for (j = 0; j < m; j++) t[j] = z[i][j]; for (j = 0; j <= m; j += 2) z[i][j] = t[k];",
            "for (j = 0; j < u; j++) t[j] = z[i][j]; for (j = 0; j < u; j++) z[i][j] = t[j] * 2;",
            // The same turn.
            "for (j = 0; j < m; j++) { t[j] = 0; for (int l = 0; l < k; l++) t[j] += z[i][l]; } \
             for (j = 0; j < m; j++) z[i][j] = t[j];",
            "for (j = 0; j < m; j++) { t[j] = z[i][j]; if (c[j]) t[j] = 1; z[i][j] = t[j]; } x[i] = t[0];",
            "for (j = 0; j < m; j++) { t[0] = z[i][j]; z[i][j] = t[0] * t[0]; }",
            "t[k] = x[i]; x[i] = t[k] * 2;",
            // Earlier turns, and what nobody stores to.
            "for (j = 1; j < m; j++) { t[j] = 1 - t[j - 1]; z[i][j] = t[j]; }",
            "for (j = 3; j < m; j++) { t[j] = t[j - 2] + t[j - 3]; z[i][j] = t[j]; }",
            "for (j = m - 1; j >= 0; j--) { t[j] = t[j + 1] + z[i][j]; z[i][j] = t[j]; }",
            "t[k] = x[i] - t[k - 1]; x[i] = t[k];",
            "for (j = 1; j < m; j++) t[j] = z[i][j] + t[0]; for (j = 1; j < m; j++) z[i][j] = t[j] + t[m];",
            // A loop in between, and two at once.
            "for (int q = 0; q < k; q++) { for (j = 0; j < m; j++) t[j] = z[i][j]; \
             for (j = 0; j < m; j++) x[(i * 8 + q) * 64 + j] = t[j]; }",
            "for (j = 0; j < m; j++) { t[j] = z[i][j]; g[j] = -t[j]; } for (j = 0; j < m; j++) z[i][j] = t[j] * g[j];",
        ] {
            assert!(privatized(body) > 0, "{body}");
        }
    }

    #[test]
    fn what_an_iteration_may_read_of_another_one() {
        for body in [
            // Read before it is written.
            "for (j = 0; j < m; j++) z[i][j] = t[j]; for (j = 0; j < m; j++) t[j] = x[i];",
            "for (j = 0; j < m; j++) { z[i][j] = t[j]; t[j] = x[i]; }",
            "for (j = 0; j < m; j++) { t[j] = t[j] * 2 + x[i]; z[i][j] = t[j]; }",
            "t[0] += x[i]; z[i][0] = t[0];",
            "for (j = 0; j < m; j++) { t[j] = x[i]; z[i][j] = t[j + 1]; }",
            "for (j = m - 1; j >= 1; j--) { t[j] = 1 - t[j - 1]; z[i][j] = t[j]; }",
            "for (j = 1; j < m; j++) { z[i][j] = t[j - 1] + t[j]; t[j] = x[i]; }",
            // One element further than what is written.
            "for (j = 0; j < m; j++) t[j] = z[i][j]; for (j = 0; j <= m; j++) z[i][j] = t[j];",
            "for (j = 1; j < m; j++) t[j] = z[i][j]; for (j = 0; j < m; j++) z[i][j] = t[j];",
            "for (j = 0; j < 8; j++) t[j] = z[i][j]; z[i][0] = t[7] + ((double *)((char *)t + 4))[7];",
            "for (j = 0; j < 7; j++) t[j] = z[i][j]; for (j = 0; j < 8; j++) z[i][j] = t[j];",
            "for (j = 4; j < m; j++) t[j] = x[i]; for (j = 0; j < m; j++) z[i][j] = t[j];",
            // Not always written.
            "for (j = 0; j < m; j++) if (c[j]) t[j] = z[i][j]; for (j = 0; j < m; j++) z[i][j] = t[j];",
            "if (c[i]) for (j = 0; j < m; j++) t[j] = z[i][j]; for (j = 0; j < m; j++) z[i][j] = t[j];",
            "for (j = 0; j < m; j++) c[j] && (t[j] = z[i][j]); for (j = 0; j < m; j++) z[i][j] = t[j];",
            "for (j = 0; j < m; j++) { if (c[j]) break; t[j] = z[i][j]; } for (j = 0; j < m; j++) z[i][j] = t[j];",
            "for (j = 0; j < m; j++) { if (c[j]) continue; t[j] = z[i][j]; } for (j = 0; j < m; j++) z[i][j] = t[j];",
            "if (c[i]) continue; for (j = 0; j < m; j++) t[j] = z[i][j]; for (j = 0; j < m; j++) z[i][j] = t[j];",
            "if (c[i]) { t[k] = x[i]; x[i] = t[k] * 2; }",
            "for (j = 0; j < m; j++) { if (c[j]) { t[j] = x[i]; z[i][j] = t[j]; } }",
            "for (j = 0; j < 0; j++) t[j] = z[i][j]; for (j = 0; j < m; j++) z[i][j] = t[0];",
            "j = 0; while (j < m && z[i][j]) { t[j] = x[i]; j++; } for (j = 0; j < m; j++) z[i][j] = t[j];",
            "for (j = -1; j < u; j++) t[j] = z[i][j]; for (j = -1; j < u; j++) z[i][j] = t[j];",
            "for (j = 0; j < m; j += 2) t[j] = z[i][j]; for (j = 0; j < m; j++) z[i][j] = t[j];",
            "for (j = 0; j < m; j++) t[2 * j] = z[i][j]; for (j = 0; j < m; j++) z[i][j] = t[2 * j];",
            // A second place that only some iterations write, or that lies elsewhere.
            "for (j = 0; j < m; j++) t[j] = z[i][j]; for (j = 0; j < m; j++) z[i][j] = t[j]; if (c[i]) t[m] = 1;",
            "for (j = 0; j < m; j++) t[j] = z[i][j]; for (j = 0; j < m; j++) z[i][j] = t[j + 1]; t[m] = x[i];",
            // Windows that move.
            "for (j = 0; j < i; j++) t[j] = z[i][j]; for (j = 0; j < i; j++) z[i][j] = t[j];",
            "for (j = 0; j < m; j++) t[i + j] = z[i][j]; for (j = 0; j < m; j++) z[i][j] = t[i + j];",
            "for (j = 0; j < c[i]; j++) t[j] = z[i][j]; for (j = 0; j < c[i]; j++) z[i][j] = t[j];",
            "for (j = 0; j < m; j++) t[c[j]] = z[i][j]; for (j = 0; j < m; j++) z[i][j] = t[c[j]];",
            "double *p = c[i] ? t : x; for (j = 0; j < m; j++) p[j] = z[i][j]; for (j = 0; j < m; j++) z[i][j] = p[j];",
            // Nobody could tell whether these lie elsewhere.
            "for (j = 0; j < m; j++) t[j] = z[i][j]; for (j = 0; j < m; j++) x[c[j]] = t[j];",
            "for (j = 0; j < m; j++) t[j] = z[i][j] + x[c[j]]; for (j = 0; j < m; j++) z[i][j] = t[j];",
            "for (j = 0; j < m; j++) e[j] = z[i][j] + g[c[j]]; for (j = 0; j < m; j++) z[i][j] = e[j];",
            // What copies are no use for.
            "for (j = 0; j < m; j++) t[j] = z[i][j];",
            "for (j = 0; j < m; j++) { c[j] = i; x[i] = c[j] / m; }",
            "t[0] = s; s = x[i]; y[i] = t[0];",
            "for (j = 0; j < m; j++) *(volatile double *)(t + j) = 1; for (j = 0; j < m; j++) z[i][j] = t[j];",
        ] {
            assert_eq!(privatized(body), 0, "{body}");
        }
    }

    #[test]
    fn what_the_entry_is_asked() {
        // Windows and everything else lie apart, in pairs with a store.
        let of = |body: &str| plan(body).map_or(Default::default(), |plan| plan.privatization);
        let body = "for (j = 0; j < m; j++) t[j] = y[j]; for (j = 0; j < m; j++) x[i * 64 + j] = t[j];";
        assert_eq!(of(body).separate.len(), 3, "t's store with y and x, t's load with x");
        let body = "for (j = 0; j < m; j++) g[j] = h[j]; for (j = 0; j < m; j++) x[i * 64 + j] = g[j];";
        assert_eq!(of(body).separate.len(), 2, "h is another object");
        // A window with constant ends isn't empty; that of another one is asked for.
        let constant = "for (j = 0; j < 8; j++) g[j] = i; for (j = 0; j < 8; j++) z[i][j] = g[j];";
        let known = "for (j = 0; j < m; j++) g[j] = i; for (j = 0; j < m; j++) z[i][j] = g[j];";
        let count = |body: &str| plan(body).map_or(0, |plan| plan.assumptions.len());
        assert_eq!(count(constant), 0);
        assert_ne!(count(known), 0);
        // Nor may it hold what bounds are read from.
        let body = "for (j = 0; j < c[0]; j++) c[j] = i; for (j = 0; j < c[0]; j++) x[i] = c[j];";
        let asked =
            |plan: Box<LoopPlan>| plan.sites.iter().all(|s| !s.is_store || s.base.0 != 0 || s.may_change_pin);
        assert!(plan(body).is_none_or(asked));
    }

    #[test]
    fn what_needs_no_copies_has_none() {
        for body in ["x[i] = y[i];", "for (j = 0; j < m; j++) z[i][j] = y[j];"] {
            let plan = plan(body).unwrap();
            assert!(plan.privatization.bases.is_empty(), "{body}");
        }
    }
}
