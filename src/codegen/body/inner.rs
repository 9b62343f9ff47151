//! Loops inside a body, as text. Kernels have to notice in time that nobody waits for them any more, in loops that speculation may
//! have made endless, too; but to ask at each turn costs as much as a short turn does. So loops come in four forms:
//! - of few turns, as many as the text says: they are unrolled and never ask;
//! - counted ones, whose number of turns is known before them ([`Turns`]): run some at once, they ask after some thousand;
//! - innermost ones that end when a condition says so: two loops in each other, of which the inner one is counted; in front of them one loop
//!   that never asks, for entries where a counter in their condition leaves them few turns;
//! - all others, which have loops inside that ask rarely, ask every few turns.

use super::{Printed, Printer, Purpose, Scalar, Walks, begin, close, variable};
use crate::c::constant::fold;
use crate::c::hir::*;
use crate::codegen::group::{Group, Moving, is_common};
use crate::codegen::types;
use crate::loops::counted;
use crate::loops::nest;
use crate::loops::plan::*;
use crate::loops::scalars::is_scalar;
use std::collections::{BTreeMap, BTreeSet};

/// Expressions that an unrolled loop may come to.
const MOST_UNROLLED: usize = 2500;
/// Turns that it may have.
const FEW_TURNS: i128 = 32;
/// Turns with no more expressions than this may be staged.
const LONGEST_STAGED: usize = 100;
/// Bodies with no more expressions than this are repeated where a loop isn't counted, so that its end is tested between turns that the
/// compiler sees together.
pub(super) const SHORT: usize = 60;

/// An inner loop that is run some turns at once.
pub(super) struct Turns {
    /// What stands in front of it.
    before: String,
    /// Whether the limit keeps its value, as text that compilers evaluate.
    kept: String,
    pub(super) iv: VarId,
    pub(super) cond: String,
    /// The type that it is compared in, and the unsigned one.
    pub(super) kind: &'static str,
    pub(super) unsigned: &'static str,
    pub(super) limit: String,
}

/// How many turns a loop has, if its head says it and they are few.
fn few_turns(unit: &TranslationUnit, l: &LoopStmt) -> Option<i128> {
    if l.keyword != LoopKeyword::For {
        return None;
    }
    let head = counted::counted(unit, l).ok()?;
    let plain = head.control.is_none() && head.by.is_none() && head.starts.is_empty() && head.step != 0;
    // In any other type its variable might wrap around and never get there, or be compared as another number.
    let is_kind = |ty: QualType| unit.types.as_int(ty.ty) == Some(head.kind);
    if !plain || head.kind.size() < 4 || !is_kind(unit.var(head.iv).ty) || !is_kind(head.limit.ty) {
        return None;
    }
    let (first, limit) = (fold(&unit.types, &head.first)?, fold(&unit.types, &head.limit)?);
    let step = i128::from(head.step);
    let (mut value, mut turns) = (first, 0);
    loop {
        let goes_on = match head.relation {
            Relation::Lt => value < limit,
            Relation::Le => value <= limit,
            Relation::Gt => value > limit,
            Relation::Ge => value >= limit,
            Relation::Ne => value != limit,
        };
        if !goes_on {
            return Some(turns).filter(|turns| *turns > 0);
        }
        value += step;
        turns += 1;
        let fits = match (head.kind.signed(), head.kind.size()) {
            (true, 4) => i32::try_from(value).is_ok(),
            (true, _) => i64::try_from(value).is_ok(),
            (false, 4) => u32::try_from(value).is_ok(),
            (false, _) => u64::try_from(value).is_ok(),
        };
        if turns > FEW_TURNS || !fits {
            return None;
        }
    }
}

/// How many expressions a loop of few turns comes to when it is unrolled, with all loops in it; `None`: it is not to be.
fn unrolled(unit: &TranslationUnit, l: &LoopStmt) -> Option<usize> {
    let turns = usize::try_from(few_turns(unit, l)?).ok()?;
    let mut expressions = sized(unit, &l.body, &|_| None)?;
    l.step.iter().for_each(|e| nest::expressions(e, &mut |_| expressions += 1));
    expressions.checked_mul(turns).filter(|all| *all <= MOST_UNROLLED)
}

/// How many expressions a statement has when its loops of few turns are unrolled; `other`: how many another loop has.
fn sized(unit: &TranslationUnit, s: &Stmt, other: &dyn Fn(&LoopStmt) -> Option<usize>) -> Option<usize> {
    let counted = |e: &Expr| {
        let mut count = 0;
        nest::expressions(e, &mut |_| count += 1);
        count
    };
    match &s.kind {
        StmtKind::Loop(l) => unrolled(unit, l).or_else(|| other(l)),
        StmtKind::Block(list) => list.iter().map(|s| sized(unit, s, other)).sum(),
        StmtKind::If { cond, then, otherwise } => {
            let otherwise = otherwise.as_ref().map_or(Some(0), |s| sized(unit, s, other))?;
            Some(counted(cond) + sized(unit, then, other)? + otherwise)
        }
        _ => {
            let mut count = 0;
            nest::all_expressions(s, &mut |_| count += 1);
            Some(count)
        }
    }
}

/// How many expressions a statement comes to in kernels.
pub fn size(unit: &TranslationUnit, s: &Stmt) -> usize {
    let once = |l: &LoopStmt| {
        let mut count = 0;
        l.cond.iter().chain(&l.step).for_each(|e| nest::expressions(e, &mut |_| count += 1));
        Some(count + l.init.iter().map(|s| size(unit, s)).sum::<usize>() + size(unit, &l.body))
    };
    sized(unit, s, &once).unwrap_or(usize::MAX)
}

/// Whether kernels note accesses through some of these bases, as text: what nothing stores to isn't noted.
fn notes_some(bases: &BTreeSet<Option<u32>>) -> String {
    let notes = |base: &Option<u32>| match base {
        Some(base) => format!("!(__PG_HOW({base}) & (__PG_IS_CONSTANT | __PG_HAS_NO_STORES)) || "),
        None => "1 || ".into(),
    };
    bases.iter().map(notes).chain(["0".into()]).collect()
}

/// Whether there are loops in a statement that ask whether to go on.
fn has_asking_loops(unit: &TranslationUnit, s: &Stmt) -> bool {
    let mut found = false;
    nest::statements(s, &mut |s| {
        found |= matches!(&s.kind, StmtKind::Loop(l) if unrolled(unit, l).is_none());
    });
    found
}

impl Printer<'_> {
    /// Prints a loop of the body; `common`: the group that it is run for.
    pub(super) fn inner_loop(
        &mut self,
        l: &LoopStmt,
        around: LoopId,
        common: Option<&Group>,
        out: &mut String,
    ) -> Printed<()> {
        l.init.iter().try_for_each(|s| self.statement(s, around, out))?;
        self.labels.insert(l.id, false);
        let strip = self.strip.filter(|(id, _)| *id == l.id).map(|(_, head)| head);
        let for_kernels = matches!(self.purpose, Purpose::Iterations) && strip.is_none();
        if for_kernels && let Some(cond) = l.cond.as_ref().filter(|_| unrolled(self.unit, l).is_some()) {
            let mut effects = String::new();
            let cond = self.value(cond, &mut effects)?;
            if !effects.is_empty() {
                return Err("a condition of constants with effects".into());
            }
            let around = std::mem::take(&mut self.noted);
            let mut turns = String::new();
            self.turn(l, common, &mut turns)?;
            let notes = notes_some(&self.noted);
            self.noted.extend(around);
            out.push_str(&format!("{{ __PG_FEW({notes}) for (; {cond}; ) {{\n{turns}}}\n}}\n"));
            return Ok(());
        }
        self.block_call(l, out)?;
        if let Some(turns) = self.turns(l) {
            return self.in_turns(l, &turns, around, common, out);
        }
        // A loop around it may end by what it sets.
        let is_outermost = self.plan.dims.last().is_some_and(|dim| dim.loop_id == around);
        if matches!(self.purpose, Purpose::Inspection(_))
            && let Some((turns, _)) = self.head_of_turns(l)
        {
            let Turns { cond, unsigned, limit, iv, .. } = &turns;
            if is_outermost {
                let iv = variable(*iv);
                out.push_str(&format!(
                    "if (__pg_counts) {{\nif ({cond}) __pg_turns += (__pg_u32)(({unsigned})({limit}) - ({unsigned})({iv}));\n}} else\n"
                ));
            }
            if self.inspected_by_rows(l, &turns, out)? {
                return Ok(());
            }
        }
        let is_innermost = for_kernels && !has_asking_loops(self.unit, &l.body);
        if !is_innermost {
            out.push_str("for (;;) {\nif (__PG_POLL_AROUND()) break;\n");
            self.tested_turn(l, common, strip, out)?;
            out.push_str("}\n");
            return Ok(());
        }
        let mut count = 0;
        nest::all_expressions(&l.body, &mut |_| count += 1);
        let is_short = count <= SHORT;
        let left = if is_short { self.turns_left(l) } else { None };
        if let Some(left) = &left {
            out.push_str(&format!("if (__PG_ARE_FEW({left})) {{\n__PG_UNROLLED for (;;) {{\n"));
            self.tested_turn(l, common, None, out)?;
            out.push_str("}\n} else {\n");
        }
        let how = if is_short { "unroll 4" } else { "unroll 1" };
        out.push_str(&format!("__PG_UNCOUNTED(\"{how}\") {{\n"));
        self.tested_turn(l, common, None, out)?;
        out.push_str("}\n__PG_UNCOUNTED_END\n");
        out.push_str(left.map_or("", |_| "}\n"));
        Ok(())
    }

    /// One turn of a loop with its test. `strip`: the head of a loop around its body.
    fn tested_turn(
        &mut self,
        l: &LoopStmt,
        common: Option<&Group>,
        strip: Option<&str>,
        out: &mut String,
    ) -> Printed<()> {
        if l.keyword != LoopKeyword::Do {
            self.leave_unless(l, out)?;
        }
        out.push_str(strip.unwrap_or_default());
        self.body_of(l, common, out)?;
        out.push_str(strip.map_or("", |_| "}\n"));
        self.step_of(l, out)?;
        if l.keyword == LoopKeyword::Do {
            self.leave_unless(l, out)?;
        }
        Ok(())
    }

    /// Of a loop that ends by a condition of several parts: where one of them compares a counter, which every turn moves by one, with what
    /// the loop doesn't change, how many turns that leaves at most, as text. The text means nothing where it leaves none.
    fn turns_left(&mut self, l: &LoopStmt) -> Option<String> {
        let mut jumps = false;
        nest::statements(&l.body, &mut |s| {
            // Labels can't be printed twice; what comes behind a `continue` isn't done in every turn.
            jumps |= matches!(
                s.kind,
                StmtKind::Continue | StmtKind::Goto(_) | StmtKind::Label { .. } | StmtKind::Loop(_)
            );
        });
        if jumps || l.keyword == LoopKeyword::Do {
            return None;
        }
        let mut updates = Vec::new();
        nest::unconditional_updates(&l.body, &mut updates);
        l.step.iter().for_each(|e| nest::unconditional_parts(e, &mut updates));
        let mut assigned = BTreeMap::new();
        let mut note = |e: &Expr| {
            if let Some((place, _, true)) = nest::accessed_place(e)
                && let Some(v) = nest::root_variable(place)
            {
                *assigned.entry(v).or_insert(0) += 1;
            }
        };
        nest::turn_expressions(l, &mut note);
        nest::statements(&l.body, &mut |s| {
            if let StmtKind::Declare { var, .. } = &s.kind {
                *assigned.entry(*var).or_insert(0) += 1;
            }
        });
        let mut parts = vec![l.cond.as_ref()?];
        while let Some(part) = parts.pop() {
            let (op, a, b) = match &part.kind {
                ExprKind::LogicalAnd(a, b) => {
                    parts.extend([&**b, &**a]);
                    continue;
                }
                ExprKind::Binary(op @ (BinOp::Lt | BinOp::Gt), a, b) => (*op, &**a, &**b),
                _ => continue,
            };
            for (counter, limit, rises) in [(a, b, op == BinOp::Lt), (b, a, op == BinOp::Gt)] {
                let ExprKind::Load(place) = &counter.kind else { continue };
                let Some(v) = is_scalar(self.unit, place).filter(|v| assigned.get(v) == Some(&1)) else {
                    continue;
                };
                let kind = self.unit.types.as_int(self.unit.var(v).ty.ty).filter(|kind| kind.size() >= 4);
                let kind = kind.filter(|kind| self.unit.types.as_int(limit.ty.ty) == Some(*kind));
                let moves = |e: &&Expr| self.moves_by_one(e, v, rises);
                let (Some(kind), true) = (kind, updates.iter().any(moves)) else { continue };
                let mut is_kept = true;
                nest::expressions(limit, &mut |e| match &e.kind {
                    ExprKind::Load(place) => {
                        is_kept &= is_scalar(self.unit, place).is_some_and(|v| !assigned.contains_key(&v));
                    }
                    ExprKind::Int(_) | ExprKind::Cast(_) | ExprKind::Unary(..) => {}
                    ExprKind::Binary(op, ..) => is_kept &= !matches!(op, BinOp::Div | BinOp::Rem),
                    _ => is_kept = false,
                });
                if !is_kept {
                    continue;
                }
                let mut effects = String::new();
                let limit = self.value(limit, &mut effects).ok()?;
                let counter = self.value(counter, &mut effects).ok()?;
                if !effects.is_empty() {
                    return None;
                }
                let unsigned = types::unsigned(kind);
                let (high, low) = if rises { (limit, counter) } else { (counter, limit) };
                return Some(format!("({unsigned})({high}) - ({unsigned})({low})"));
            }
        }
        None
    }

    /// Whether an expression moves a variable up, or down, by one.
    fn moves_by_one(&self, e: &Expr, v: VarId, up: bool) -> bool {
        let by = if up { 1 } else { -1 };
        match &e.kind {
            ExprKind::IncDec { place, amount, .. } => is_scalar(self.unit, place) == Some(v) && *amount == by,
            ExprKind::AssignOp { op: op @ (BinOp::Add | BinOp::Sub), place, value, .. } => {
                let amount = fold(&self.unit.types, value);
                let amount = if *op == BinOp::Add { amount } else { amount.map(|amount| -amount) };
                is_scalar(self.unit, place) == Some(v) && amount == Some(by.into())
            }
            _ => false,
        }
    }

    /// Prints that a loop ends where its condition doesn't hold.
    fn leave_unless(&mut self, l: &LoopStmt, out: &mut String) -> Printed<()> {
        if let Some(cond) = &l.cond {
            let cond = self.value(cond, out)?;
            out.push_str(&format!("if (!({cond})) break;\n"));
        }
        Ok(())
    }

    /// An inner loop that ends after a number of turns which is known before it: scalars alone tell it, or memory that the loop doesn't
    /// store to. Devices run it some thousand turns at a time, as a loop that their compilers can count. `None`: any other loop.
    fn turns(&mut self, l: &LoopStmt) -> Option<Turns> {
        if !matches!(self.purpose, Purpose::Iterations)
            || self.strip.is_some_and(|(around, _)| around == l.id)
        {
            return None;
        }
        let (turns, in_memory) = self.head_of_turns(l)?;
        let Some(limit) = in_memory else { return Some(turns) };
        let kept = self.is_kept(&limit, l)?;
        self.walk_count += 1;
        let name = format!("__pg_limit_{}", self.walk_count);
        Some(Turns {
            before: format!("const {} {name} = {};\n", turns.kind, turns.limit),
            cond: match kept.as_str() {
                "1" => format!("({}) < {name}", variable(turns.iv)),
                kept => format!("(({kept}) ? ({}) < {name} : ({}))", variable(turns.iv), turns.cond),
            },
            limit: name,
            kept,
            ..turns
        })
    }

    /// What the head of an innermost loop says of its number of turns, as if the loop didn't change that; and the limit, where memory has a part in it.
    fn head_of_turns(&mut self, l: &LoopStmt) -> Option<(Turns, Option<Expr>)> {
        let head = counted::counted(self.unit, l).ok()?;
        let kind = |ty: QualType| self.unit.types.as_int(ty.ty);
        // Without other starts the limit means the same inside the loop as before it; and all is compared in one type.
        let alike = head.starts.is_empty()
            && kind(self.unit.var(head.iv).ty) == Some(head.kind)
            && kind(head.limit.ty) == Some(head.kind);
        let counts = head.control.is_none()
            && head.by.is_none()
            && head.step == 1
            && head.relation == Relation::Lt
            && head.kind.size() >= 4;
        let mut leaves = false;
        nest::statements(&l.body, &mut |s| {
            // What has loops inside asks at each turn: those that ask rarely are to be left soon.
            leaves |= matches!(
                s.kind,
                StmtKind::Break | StmtKind::Return(_) | StmtKind::Goto(_) | StmtKind::Loop(_)
            );
        });
        let (mut scalar_only, mut is_known) = (true, true);
        nest::expressions(&head.limit, &mut |e| match &e.kind {
            ExprKind::Load(place) => scalar_only &= is_scalar(self.unit, place).is_some(),
            ExprKind::Int(_) | ExprKind::Cast(_) | ExprKind::Unary(..) => {}
            ExprKind::AddressOf(_) | ExprKind::PtrAdd { .. } => scalar_only = false,
            ExprKind::Binary(op, ..) => is_known &= !matches!(op, BinOp::Div | BinOp::Rem),
            _ => is_known = false,
        });
        if !counts || !alike || leaves || !is_known || l.keyword != LoopKeyword::For {
            return None;
        }
        let mut effects = String::new();
        let cond = self.value(l.cond.as_ref()?, &mut effects).ok()?;
        let limit = self.value(&head.limit, &mut effects).ok()?;
        if !effects.is_empty() {
            return None;
        }
        let (kind, unsigned) = (Scalar::Int(head.kind).name(), types::unsigned(head.kind));
        let turns =
            Turns { before: String::new(), kept: "1".into(), iv: head.iv, cond, kind, unsigned, limit };
        Some((turns, (!scalar_only).then_some(head.limit)))
    }

    /// Prints such a loop, after its first clause; `common`: the group that it is run for.
    fn in_turns(
        &mut self,
        l: &LoopStmt,
        turns: &Turns,
        around: LoopId,
        common: Option<&Group>,
        out: &mut String,
    ) -> Printed<()> {
        let Turns { before: known, kept, iv, cond, kind, unsigned, limit } = turns;
        let mut jumps = false;
        nest::statements(&l.body, &mut |s| jumps |= matches!(s.kind, StmtKind::Continue));
        let walks = Walks {
            moving: Moving::new(self.unit, self.plan, l, *iv),
            conditions: (!jumps).then_some(self.conditions),
            found: Vec::new(),
            noted: Vec::new(),
            noted_once: None,
            are_all: true,
        };
        self.has_turns = true;
        // What a group has in common is shared among its iterations already.
        self.lending = match common.is_none() && !jumps {
            true => self.lending(l, &walks.moving, *iv),
            false => None,
        };
        self.ahead = match common.is_some() && !jumps {
            true => self.ahead(l, &walks.moving),
            false => None,
        };
        let outer = self.walks.replace(walks);
        let logged_around = std::mem::take(&mut self.logged);
        let mut body = String::new();
        let printed = self.turn(l, common, &mut body);
        let logged = notes_some(&self.logged);
        self.logged.extend(logged_around);
        let lending = self.lending.take();
        let ahead = self.ahead.take();
        let Some(walks) = std::mem::replace(&mut self.walks, outer) else {
            return Err("a loop in turns".into());
        };
        printed?;
        let iv = variable(*iv);
        let innermost = self.plan.dims[self.plan.dims.len() - 1].loop_id;
        // Many turns of a stage are printed one after the other: what each of them checks and notes would be compiled for minutes.
        let expressions = size(self.unit, &l.body);
        let is_short = walks.are_all && expressions <= LONGEST_STAGED;
        let stages = u8::from(common.is_some() && around == innermost && is_short);
        let (before, types) = Self::walks_text(&walks, kind, &iv, common.is_some());
        let mut lends = self.lending_text(lending.as_ref(), kind, &iv)?;
        lends.push_str(&Self::ahead_text(ahead.as_ref(), kind, &iv));
        let notes = Self::notes_text(&walks, common.is_some());
        out.push_str(&format!(
            "{{\n{known}{before}{notes}{lends}__PG_TURNS({kept}, {cond}, {kind}, {unsigned}, {iv}, {limit}) {{\n{body}}}\n\
             __PG_TURNS_END({kept}, {cond}, {kind}, {unsigned}, {iv}, {limit}, {logged}, {stages}, {types})\n}}\n"
        ));
        Ok(())
    }

    /// One turn of an inner loop, without its test: the body, and its step.
    pub(super) fn turn(&mut self, l: &LoopStmt, common: Option<&Group>, out: &mut String) -> Printed<()> {
        self.body_of(l, common, out)?;
        self.step_of(l, out)
    }

    fn body_of(&mut self, l: &LoopStmt, common: Option<&Group>, out: &mut String) -> Printed<()> {
        match common {
            Some(group) => {
                let mut open = false;
                self.together(&l.body, group, l.id, &mut open, out)?;
                close(&mut open, out);
            }
            None => self.statement(&l.body, l.id, out)?,
        }
        if self.labels.get(&l.id) == Some(&true) {
            out.push_str(&format!("__pg_continue_{}: ;\n", l.id.0));
        }
        Ok(())
    }

    fn step_of(&mut self, l: &LoopStmt, out: &mut String) -> Printed<()> {
        if let Some(step) = &l.step {
            self.value(step, out)?;
        }
        Ok(())
    }

    /// Computes a condition for each iteration of a group. What all of them decide alike is decided once: the compiler wouldn't see that it
    /// is, and keep apart what comes after it.
    fn condition(&mut self, cond: &Expr, holds: &str, group: &Group, out: &mut String) -> Printed<()> {
        let parts = match &cond.kind {
            ExprKind::LogicalAnd(a, b) => Some((a, b, true)),
            ExprKind::LogicalOr(a, b) => Some((a, b, false)),
            _ => None,
        };
        if let Some((first, rest, both)) = parts
            && is_common(self.unit, self.plan, first, &group.variables)
            && !Self::has_side_effects(rest)
        {
            let first = self.pure(first)?;
            out.push_str(&format!("if ({}({first})) {{\n", if both { "" } else { "!" }));
            self.conditions += 1;
            self.condition(rest, holds, group, out)?;
            self.conditions -= 1;
            let decided = u8::from(!both);
            out.push_str(&format!("}} else __PG_EACH {{ __PG_MEMBERS\n{holds} = {decided};\n}}\n"));
            return Ok(());
        }
        out.push_str("__PG_EACH { __PG_MEMBERS\n");
        let text = self.value(cond, out)?;
        out.push_str(&format!("{holds} = ({text}) != 0;\n}}\n"));
        Ok(())
    }

    /// What a group of iterations does: loops that it has in common, and between them what each iteration does by itself. `open`:
    /// whether the text is in the middle of the latter.
    pub(super) fn together(
        &mut self,
        s: &Stmt,
        group: &Group,
        current: LoopId,
        open: &mut bool,
        out: &mut String,
    ) -> Printed<()> {
        match &s.kind {
            StmtKind::Block(list) => {
                list.iter().try_for_each(|s| self.together(s, group, current, open, out))
            }
            StmtKind::Loop(l) if group.loops.contains(&l.id) => {
                close(open, out);
                self.inner_loop(l, current, Some(group), out)
            }
            StmtKind::Empty | StmtKind::Declaration => Ok(()),
            StmtKind::If { cond, then, otherwise } => {
                // All conditions come before what is done where they hold, which their compiler would take for something that may change
                // them: what they load and compute in common is so once.
                close(open, out);
                let holds = self.temporary(Scalar::Int(IntKind::Int));
                self.condition(cond, &holds, group, out)?;
                begin(open, out);
                self.branches(&holds, then, otherwise.as_deref(), current, out)
            }
            _ => {
                begin(open, out);
                self.in_group = matches!(s.kind, StmtKind::Expr(_));
                let printed = self.statement(s, current, out);
                self.in_group = false;
                printed
            }
        }
    }
}
