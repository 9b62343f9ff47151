//! Every load and store of memory in a loop's body: where it starts ([`Base`]), and its byte offset as a linear form where
//! that is possible.
//!
//! Integer semantics are C's: signed arithmetic may be taken not to wrap (unless `-fwrapv`); unsigned and narrower
//! arithmetic is linear only if its value fits the type, which becomes an [`Assumption`] that is checked at entry.

mod movement;

use super::carried::Prelude;
use super::counted::{Control, Counted, Stride};
use super::inline;
use super::libm;
use super::linear::{self, Linear, constant};
use super::nest;
use super::options::AnalysisOptions;
use super::plan::*;
use super::private;
use super::reason::{Advice, Kind, Reason};
use super::scalars::{is_scalar, same, same_place};
use crate::c::hir::*;
use std::collections::{BTreeMap, BTreeSet};

/// A loop around an access: its head and the range of its induction variable's distance from the first value.
#[derive(Clone, Debug)]
struct Level {
    id: LoopId,
    iv: VarId,
    first: Linear,
    /// Lowest and highest distance, linear in the levels further out; `None` if not known.
    range: Option<(Linear, Linear)>,
}

/// A site with what dependence tests need beyond the plan.
#[derive(Clone, Debug)]
pub struct SiteForm {
    /// The byte offset from the base before windows are formed.
    pub offset: Option<Linear>,
    /// Loops inside the merged dimensions that surround it: id and range of the distance.
    pub inner: Vec<(LoopId, Option<(Linear, Linear)>)>,
    /// Conditions and loops around it, by statement identity, outermost first.
    pub path: Vec<u32>,
    /// Compact source text, for reasons.
    pub text: String,
    /// The place itself.
    pub place: Place,
}

/// What a scalar stands for from its only assignment on.
#[derive(Clone, Debug)]
struct Definition {
    value: Expr,
    /// The same as a linear form (for pointers: from a base), where the value has secondary induction variables in it that
    /// move on.
    form: Option<(Option<BaseId>, Linear)>,
    /// Depth of inner loops around the assignment.
    loops: usize,
}

/// A call of a function of libm.
struct LibmCall {
    function: libm::Function,
    args: Vec<Expr>,
    line: u32,
    /// See [`SiteForm::path`].
    path: Vec<u32>,
}

/// What the walk collects.
pub struct Accesses<'a> {
    unit: &'a TranslationUnit,
    options: &'a AnalysisOptions,
    /// Dimensions' heads.
    dims: Vec<Level>,
    /// How far an iteration goes in each dimension, in the units of linear forms: see [`Dim::distance`].
    pub distances: BTreeMap<LoopId, i64>,
    inner: Vec<Level>,
    path: Vec<u32>,
    next_path: u32,
    /// Whether what is walked is an operand that need not be evaluated.
    in_operand: bool,
    written: BTreeSet<VarId>,
    /// Scalars with one unconditional assignment so far in scope: what they stand for.
    definitions: BTreeMap<VarId, Definition>,
    /// How far this iteration has moved secondary induction variables at the current point of the walk, where it has; `None`:
    /// not known.
    moved: BTreeMap<VarId, Option<Linear>>,
    /// Those that are moved by arithmetic of another type, so that they may wrap around though they are signed.
    converted: BTreeSet<VarId>,
    /// Those that the expression being walked moves, and how often: where in it, C doesn't say.
    moving: BTreeMap<VarId, usize>,
    /// What inner loops move: see [`movement::Movements`].
    moved_inside: BTreeMap<(LoopId, VarId), (Bound, Bound)>,
    assignments: BTreeMap<VarId, usize>,
    /// See [`LoopPlan`].
    pub private: private::Objects,
    /// Calls of functions that only the host's libm answers.
    libm: Vec<LibmCall>,
    /// Whether there are any.
    pub calls_libm: bool,
    /// Whether there are any whose bits the user has given free.
    pub free_calls: bool,
    /// Results, as in [`LoopPlan`].
    pub bases: Vec<Base>,
    /// See [`LoopPlan`].
    pub sites: Vec<Site>,
    /// One per site.
    pub forms: Vec<SiteForm>,
    /// See [`LoopPlan`].
    pub site_of: BTreeMap<PlaceId, (Option<SiteId>, Option<SiteId>)>,
    /// See [`LoopPlan`].
    pub invariants: Vec<Expr>,
    /// See [`LoopPlan`].
    pub invariant_places: BTreeMap<PlaceId, usize>,
    /// See [`LoopPlan`].
    pub pinned: Vec<Pinned>,
    /// See [`LoopPlan`].
    pub assumptions: Vec<Assumption>,
    /// See [`LoopPlan`].
    pub live_ins: BTreeSet<VarId>,
    /// See [`LoopPlan`].
    pub may_abort: bool,
    /// See [`LoopPlan`].
    pub work: u64,
    /// Memory accesses among them.
    pub touches: u64,
    /// Whether `continue` or `break` stands anywhere in the loop.
    pub has_continue: bool,
    /// See [`ScalarRole::Secondary`]: how far each iteration moves them.
    pub secondary: BTreeMap<VarId, Bound>,
    /// What those among them are set to by the first clause that a linear form may be made of.
    set_first: BTreeMap<VarId, Expr>,
    /// See [`LoopPlan`].
    pub moved_by_test: Option<(VarId, i64)>,
    /// The scalar whose new value is being walked.
    assigned: Option<VarId>,
    /// Scalars in whose values the compiler may fuse a product with a sum, and where: only an accumulation may be so.
    pub fusable: Vec<(VarId, u32)>,
    /// Scalars that hold a floating-point product somewhere in the loop, where the compiler may fuse these with sums.
    products: BTreeSet<VarId>,
    /// Loads of the very place that their own assignment then stores to (`x[index[i]] = x[index[i]] - v`), with that place.
    pub updated: BTreeMap<PlaceId, PlaceId>,
    /// See [`Privatization::bases`].
    pub privatized: BTreeSet<BaseId>,
    /// See [`LoopPlan`]; until pairs have been resolved, all that there are.
    pub updates: BTreeMap<PlaceId, Update>,
}

/// Functions of libm whose results IEEE 754 or their definition fixes.
const EXACT_FUNCTIONS: [&str; 6] = ["sqrt", "fabs", "floor", "ceil", "trunc", "copysign"];

/// Operations that a call of another function of libm is taken for.
const LIBM_WORK: u64 = 40;

/// Whether `name` computes the same bits everywhere, and whether it may set errno.
pub fn exact_function(name: &str) -> Option<bool> {
    let name = name.strip_prefix("__builtin_").unwrap_or(name);
    let stem = name.strip_suffix('f').filter(|s| EXACT_FUNCTIONS.contains(s)).unwrap_or(name);
    EXACT_FUNCTIONS.contains(&stem).then_some(stem == "sqrt")
}

type Refused = Reason;

impl<'a> Accesses<'a> {
    /// Collects the accesses of the nest with these merged dimensions, and of what comes in front of its iterations.
    pub fn collect(
        unit: &'a TranslationUnit,
        options: &'a AnalysisOptions,
        heads: &[Counted],
        whole: &LoopStmt,
        prelude: &Prelude,
        body: &Stmt,
    ) -> Result<Accesses<'a>, Refused> {
        let mut written = BTreeSet::new();
        let mut note = |e: &Expr| {
            let (place, _, writes) = nest::accessed_place(e)?;
            let v = nest::root_variable(place).filter(|_| writes)?;
            written.insert(v);
            Some(v)
        };
        // What the first clause sets is set before the loop.
        for first in &whole.init {
            nest::all_expressions(first, &mut |e| {
                note(e);
            });
        }
        let mut assignments: BTreeMap<VarId, usize> = BTreeMap::new();
        let mut count = |e: &Expr| {
            if let Some(v) = note(e) {
                *assignments.entry(v).or_default() += 1;
            }
        };
        nest::all_expressions(&whole.body, &mut count);
        for head in whole.cond.iter().chain(&whole.step) {
            nest::expressions(head, &mut count);
        }
        let mut has_continue = false;
        nest::statements(&whole.body, &mut |s| {
            if let StmtKind::Declare { var, .. } = s.kind {
                written.insert(var);
                *assignments.entry(var).or_default() += 1;
            }
            has_continue |= matches!(s.kind, StmtKind::Continue | StmtKind::Break);
        });
        for first in &whole.init {
            if let StmtKind::Declare { var, .. } = first.kind {
                written.insert(var);
            }
        }
        let mut accesses = Accesses {
            unit,
            options,
            dims: Vec::new(),
            distances: heads.iter().map(|h| (h.id, h.step)).collect(),
            inner: Vec::new(),
            path: Vec::new(),
            next_path: 0,
            in_operand: false,
            written,
            definitions: BTreeMap::new(),
            assignments,
            private: private::find(unit, body)?,
            libm: Vec::new(),
            calls_libm: false,
            free_calls: false,
            bases: Vec::new(),
            sites: Vec::new(),
            forms: Vec::new(),
            site_of: BTreeMap::new(),
            invariants: Vec::new(),
            invariant_places: BTreeMap::new(),
            pinned: Vec::new(),
            assumptions: Vec::new(),
            live_ins: BTreeSet::new(),
            may_abort: false,
            work: 0,
            touches: 0,
            has_continue,
            moved: BTreeMap::new(),
            converted: BTreeSet::new(),
            moving: BTreeMap::new(),
            moved_inside: BTreeMap::new(),
            secondary: BTreeMap::new(),
            set_first: BTreeMap::new(),
            moved_by_test: None,
            updated: BTreeMap::new(),
            updates: BTreeMap::new(),
            privatized: BTreeSet::new(),
            assigned: None,
            fusable: Vec::new(),
            products: if options.contraction { products(unit, whole) } else { BTreeSet::new() },
        };
        if options.contraction {
            // Memory of its own is a variable to the compiler like any other: what is stored there may be fused with what it is
            // loaded for.
            accesses.products.extend(accesses.private.keys());
        }
        for head in heads {
            // Bounds are read at entry by the program itself, so they may read memory, which is then pinned.
            let is_set = head.control.is_none_or(|own| head.starts.iter().any(|start| start.var == own.var));
            if is_set {
                accesses.note_invariant(&head.first)?;
            }
            accesses.note_invariant(&head.limit)?;
            for start in &head.starts {
                accesses.note_invariant(&start.value)?;
            }
            if let [head] = heads {
                accesses.find_secondary(head, whole, body)?;
            }
            let level = accesses.level(head)?;
            accesses.dims.push(level);
        }
        for (place, v) in &prelude.at_entry {
            let ty = QualType { ty: unit.var(*v).ty.ty, quals: Quals::default() };
            let span = whole.keyword_span;
            let kind = ExprKind::Load(accesses.variable(*v, span));
            let Bound::Value(value) = accesses.value(&Expr { kind, ty, span }) else { continue };
            accesses.invariant_places.insert(*place, value);
        }
        prelude.statements.iter().try_for_each(|s| accesses.statement(s))?;
        // All iterations but the first ones come there.
        accesses.sites.iter_mut().for_each(|site| site.unconditional = true);
        accesses.statement(body)?;
        accesses.calls_libm = !accesses.libm.is_empty();
        accesses.free_calls = accesses.calls_libm && options.approximates;
        let unrolled = heads.first().is_some_and(|head| may_be_unrolled(unit, head));
        accesses.check_libm(body, prelude, unrolled)?;
        match private::unwritten(unit, &accesses.private, body) {
            Some(why) => Err(why),
            None => Ok(accesses),
        }
    }

    /// Finds the scalars that every iteration moves by the same amount: one assignment in the whole loop, which nothing can
    /// skip or repeat. Everything else in the loop's step is refused.
    fn find_secondary(&mut self, head: &Counted, whole: &LoopStmt, body: &Stmt) -> Result<(), Refused> {
        // What is kept for a place in memory goes back there as a sum.
        let mut declared: BTreeSet<VarId> = self.unit.cells(whole.id).iter().map(|cell| cell.var).collect();
        nest::statements(body, &mut |s| {
            if let StmtKind::Declare { var, .. } = s.kind {
                declared.insert(var);
            }
        });
        if let Some(Control { var, before }) = head.control {
            // The head has been read: it moves by that much, once in each iteration.
            let step = match &head.by {
                Some(by) => self.stride(var, head, by)?,
                None => constant(head.step),
            };
            self.secondary.insert(var, step);
            if before {
                self.moved_by_test = Some((var, head.step));
            }
        }
        for start in &head.starts {
            let place = self.variable(start.var, start.value.span);
            if is_scalar(self.unit, &place).is_none()
                || place.ty.quals.is_volatile
                || place.ty.quals.is_atomic
            {
                return Err(format!("its first clause sets {}", self.unit.var(start.var).name).into());
            }
            if !self.assignments.contains_key(&start.var) {
                if self.unit.types.as_float(place.ty.ty).is_some() {
                    return Err(format!("its first clause sets {}", self.unit.var(start.var).name).into());
                }
                self.secondary.insert(start.var, constant(0));
            }
            let mut fixed = true;
            nest::expressions(&start.value, &mut |e| {
                if let ExprKind::Load(place) = &e.kind {
                    fixed &= is_scalar(self.unit, place).is_some_and(|v| !self.written.contains(&v));
                }
            });
            if fixed {
                self.set_first.insert(start.var, start.value.clone());
            }
        }
        let by_steps = self.moved_by_steps(&head.other_steps);
        let mut in_body = BTreeSet::new();
        nest::all_expressions(body, &mut |e| {
            if let Some((place, _, true)) = nest::accessed_place(e) {
                in_body.extend(is_scalar(self.unit, place));
            }
        });
        for step in &head.other_steps {
            let mut counts = false;
            let mut others = false;
            nest::expressions(step, &mut |e| {
                if let Some((place, _, true)) = nest::accessed_place(e) {
                    let moves = is_scalar(self.unit, place).is_some_and(|v| {
                        self.secondary.contains_key(&v)
                            || by_steps.contains_key(&v) && !declared.contains(&v) && !in_body.contains(&v)
                    });
                    counts |= moves;
                    others |= !moves;
                }
            });
            if !counts || others {
                let text = format!("its step does more than count in line {}", step.span.line);
                return Err(Reason::new(Kind::NotCounted, text));
            }
        }
        let movements = match self.has_continue {
            true => movement::Movements::default(),
            false => self.movements(body),
        };
        self.moved_inside = movements.inner;
        for (v, step) in by_steps.into_iter().chain(movements.body) {
            if v != head.iv && !declared.contains(&v) && !self.secondary.contains_key(&v) {
                self.secondary.insert(v, step);
            }
        }
        if head.control.is_some() {
            // Of a counter of ours everything else has to be a multiple; else it goes by 1, and its range is only known to
            // be within that of the variable that the test looks at.
            let size = head.step.abs();
            let fits = |step: &Bound| linear::as_constant(step).is_some_and(|step| step % size == 0);
            let distance = if self.secondary.values().all(fits) { size } else { 1 };
            self.distances.insert(head.id, distance);
        }
        Ok(())
    }

    fn variable(&self, v: VarId, span: Span) -> Place {
        Place { id: PlaceId(u32::MAX), kind: PlaceKind::Var(v), ty: self.unit.var(v).ty, span }
    }

    /// How far the control variable of a loop moves whose step is no constant. It must not wrap around.
    fn stride(&mut self, var: VarId, head: &Counted, by: &Stride) -> Result<Bound, Refused> {
        let unknown = || Refused::from("its step is no number that is known when it starts");
        let size = self.linear(&by.size, 0).filter(|form| form.terms.is_empty());
        let size = size.ok_or_else(unknown)?.constant;
        let step = if by.down { linear::neg(&size).ok_or_else(unknown)? } else { size };
        let start = head.starts.iter().find(|start| start.var == var).ok_or_else(unknown)?;
        let first = self.linear(&start.value, 0).unwrap_or_else(|| self.entry_number(&start.value));
        let turns = self.entry_number(&head.limit);
        let kind = self.unit.types.as_int(self.unit.var(var).ty.ty).ok_or_else(unknown)?;
        let end = turns.times(&step).and_then(|way| way.plus(&first)).ok_or_else(unknown)?;
        self.assume(&end, kind).ok_or_else(unknown)?;
        Ok(step)
    }

    /// A secondary induction variable as a linear form, without its value at entry, `moved` after its iteration's start.
    fn secondary_form(&mut self, v: VarId, moved: &Linear) -> Option<Linear> {
        let step = self.secondary.get(&v)?.clone();
        let dim = self.dims.first()?;
        let (id, one) = (dim.id, Linear::induction(dim.id, &Linear::number(constant(0)))?);
        let counter = self.distances.get(&id).copied()?;
        // The dimension's distance moves by `counter`, the variable by `step`.
        let form = match counter {
            1 | -1 => one.times(&linear::mul(&step, &constant(counter))?)?,
            _ => {
                let amount = linear::as_constant(&step).filter(|s| s % counter == 0)?;
                one.times(&constant(amount / counter))?
            }
        };
        form.plus(moved)
    }

    /// How far an iteration has moved a variable so far.
    fn moved_so_far(&self, v: VarId) -> Option<Linear> {
        self.moved.get(&v).cloned().unwrap_or_else(|| Some(Linear::number(constant(0))))
    }

    /// The secondary induction variable whose value `e` is, and how far its iteration has then moved it.
    fn secondary_value(&mut self, e: &Expr) -> Option<(VarId, Linear)> {
        let place = match &e.kind {
            ExprKind::Load(place) | ExprKind::IncDec { place, .. } | ExprKind::PtrAssign { place, .. } => {
                place
            }
            _ => return None,
        };
        let v = is_scalar(self.unit, place).filter(|v| self.secondary.contains_key(v))?;
        let moved = self.moved_so_far(v)?;
        let moving = self.moving.get(&v).copied().unwrap_or(0);
        match &e.kind {
            ExprKind::Load(_) => (moving == 0).then_some((v, moved)),
            ExprKind::IncDec { post: true, .. } if moving == 1 => Some((v, moved)),
            _ if moving == 1 => Some((v, moved.plus(&Linear::number(self.added(e, true)?))?)),
            _ => None,
        }
    }

    /// Walks an expression that is evaluated as a whole before anything that follows.
    fn full_expression(&mut self, e: &Expr) -> Result<(), Refused> {
        let mut updates = Vec::new();
        nest::expressions(e, &mut |e| {
            if let Some((place, _, true)) = nest::accessed_place(e)
                && let Some(v) = is_scalar(self.unit, place)
                && self.secondary.contains_key(&v)
            {
                updates.push((v, e));
            }
        });
        let mut moving = BTreeMap::new();
        for (v, _) in &updates {
            *moving.entry(*v).or_default() += 1;
        }
        // What is assigned is computed before anything moves.
        let mut moved = Vec::new();
        for (v, update) in &updates {
            let now = match &update.kind {
                _ if moving[v] > 1 => None,
                ExprKind::Assign(_, value) => self.moved_to(*v, value),
                _ => self.added(update, true).and_then(|by| self.moved_so_far(*v)?.plus(&Linear::number(by))),
            };
            moved.push((*v, now));
        }
        self.moving = moving;
        let result = self.expression(e);
        self.moving.clear();
        self.moved.extend(moved);
        result
    }

    /// How far a variable has been moved when it is assigned a value.
    fn moved_to(&mut self, v: VarId, value: &Expr) -> Option<Linear> {
        let place = self.variable(v, value.span);
        let ty = QualType { ty: place.ty.ty, quals: Quals::default() };
        let at_start = Expr { kind: ExprKind::Load(place), ty, span: value.span };
        let so_far = self.moved.remove(&v);
        let is_pointer = self.unit.types.pointee(ty.ty).is_some();
        let start = match is_pointer {
            true => self.pointer(&at_start, 0).ok().map(|(base, form)| (Some(base), form)),
            false => Some((None, self.linear(&at_start, 0))),
        };
        if let Some(so_far) = so_far {
            self.moved.insert(v, so_far);
        }
        let (base, start) = start?;
        let new = match is_pointer {
            true => self.pointer(value, 0).ok().filter(|(other, _)| Some(*other) == base)?.1,
            false => self.linear(value, 0),
        };
        let moved = new?.plus(&start?.negated()?)?;
        // An iteration like any other.
        let is_fixed = self.dims.iter().all(|dim| !moved.terms.contains_key(&dim.id));
        is_fixed.then_some(moved)
    }

    /// Where an inner loop begins: what it moves depends on its turn. Gives back how far everything is moved behind it.
    fn enter_turns(&mut self, l: &LoopStmt) -> Vec<(VarId, Option<Linear>)> {
        let mut assigned = BTreeSet::new();
        let mut note = |e: &Expr| {
            if let Some((place, _, true)) = nest::accessed_place(e) {
                assigned.extend(is_scalar(self.unit, place));
            }
        };
        nest::all_expressions(&l.body, &mut note);
        l.cond.iter().chain(&l.step).for_each(|e| nest::expressions(e, &mut note));
        let mut behind = Vec::new();
        for v in assigned.into_iter().filter(|v| self.secondary.contains_key(v)) {
            let so_far = self.moved_so_far(v);
            let known =
                self.moved_inside.get(&(l.id, v)).cloned().zip(so_far).and_then(|((by, all), so_far)| {
                    let turn = Linear::induction(l.id, &Linear::number(constant(0)))?.times(&by)?;
                    Some((so_far.plus(&turn)?, so_far.plus(&Linear::number(all))?))
                });
            let (inside, after) = known.unzip();
            self.moved.insert(v, inside);
            behind.push((v, after));
        }
        behind
    }

    /// Range of a dimension's distance from its first value.
    pub fn dimension_range(&self, id: LoopId) -> Option<(Linear, Linear)> {
        self.dims.iter().find(|l| l.id == id).and_then(|l| l.range.clone())
    }

    /// Checks that an expression of a loop's head reads only what stays the same, pins the memory it reads, and notes live-ins.
    fn note_invariant(&mut self, e: &Expr) -> Result<(), Refused> {
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

    fn pin(&mut self, place: &Place) -> Result<(), Refused> {
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

    fn supported(&self, place: &Place) -> Result<(), Refused> {
        let quals = place.ty.quals;
        if quals.is_volatile || quals.is_atomic {
            let text = format!("it accesses volatile or atomic memory in line {}", place.span.line);
            return Err(Reason::new(Kind::VolatileAccess, text));
        }
        match &place.kind {
            PlaceKind::Field { bits: Some(_), .. } => {
                let text = format!("it accesses a bit-field in line {}", place.span.line);
                Err(Reason::new(Kind::UnsupportedType, text).settled_by([Advice::WholeMember]))
            }
            PlaceKind::Opaque(what) => Err(format!("it has {what} in line {}", place.span.line).into()),
            _ => Ok(()),
        }
    }

    fn width(&self, place: &Place) -> Result<u32, Refused> {
        let types = &self.unit.types;
        let simple = match types.kind(place.ty.ty) {
            TypeKind::Int(k) | TypeKind::Enum(k) => k.size() <= 8,
            TypeKind::Float(k) => matches!(k, FloatKind::Float | FloatKind::Double),
            TypeKind::Pointer(_) => true,
            _ => false,
        };
        match types.size_of(place.ty.ty) {
            Some(size) if simple => Ok(size as u32),
            _ => {
                let text = format!(
                    "it copies a value that is no simple number or pointer in line {}",
                    place.span.line
                );
                let is_record = matches!(types.kind(place.ty.ty), TypeKind::Record(_));
                let members = is_record.then_some(Advice::MemberByMember);
                Err(Reason::new(Kind::UnsupportedType, text).settled_by(members))
            }
        }
    }

    fn level(&mut self, head: &Counted) -> Result<Level, Refused> {
        let first = self.linear(&head.first_inside, 0);
        let first = first.unwrap_or_else(|| self.entry_number(&head.first_inside));
        let mut limit = self.linear(&head.limit, 0);
        if limit.is_none() && head.control.is_some() {
            limit = Some(self.entry_number(&head.limit));
        }
        let mut level = Level { id: head.id, iv: head.iv, first: first.clone(), range: None };
        if let Some(limit) = limit {
            // Distance of the last value from the first, or 0 where the loop may not run at all.
            let inclusive = match head.relation {
                Relation::Le | Relation::Ge => 0,
                Relation::Lt => -1,
                Relation::Gt => 1,
                Relation::Ne => -head.step.signum(),
            };
            let distance = first
                .negated()
                .and_then(|f| limit.plus(&f))
                .and_then(|d| d.plus(&Linear::number(constant(inclusive))));
            // A counter of ours goes up, at most as fast.
            let counts_up = head.control.is_some() && head.step < 0;
            let distance = if counts_up { distance.and_then(|d| d.negated()) } else { distance };
            if let Some(distance) = distance {
                let zero = Linear::number(constant(0));
                let up = head.step > 0 || counts_up;
                let clamped = if distance.terms.is_empty() {
                    let c = distance.constant.clone();
                    Linear::number(if up { linear::max(constant(0), c) } else { linear::min(constant(0), c) })
                } else {
                    distance
                };
                level.range = Some(if up { (zero, clamped) } else { (clamped, zero) });
            }
        }
        Ok(level)
    }

    /// A number that is only known at entry, whatever computes it.
    fn entry_number(&mut self, e: &Expr) -> Linear {
        Linear::number(self.value(e))
    }

    fn value(&mut self, e: &Expr) -> Bound {
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
    fn linear(&mut self, e: &Expr, depth: usize) -> Option<Linear> {
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
                    return match definition.form {
                        Some((_, form)) => Some(form),
                        None => self.linear(&definition.value, depth + 1),
                    };
                }
                let value = self.invariant_load(p)?;
                Some(Linear::number(Bound::Value(value)))
            }
            ExprKind::IncDec { .. } => self.secondary_number(e, kind),
            ExprKind::Cast(inner) => {
                let from = self.unit.types.as_int(inner.ty.ty)?;
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
                self.fits(form, kind)
            }
            // Any other computation on values known at entry is one value known at entry.
            ExprKind::Binary(..) | ExprKind::Conditional(..) if self.is_entry_value(e) => {
                Some(self.entry_number(e))
            }
            _ => None,
        }
    }

    fn secondary_number(&mut self, e: &Expr, kind: IntKind) -> Option<Linear> {
        let (v, moved) = self.secondary_value(e)?;
        let form = self.secondary_form(v, &moved)?;
        let at_entry = match self.set_first.get(&v).cloned() {
            Some(value) => self.linear(&value, 1).and_then(|start| start.plus(&self.moved_by_test(v))),
            None => None,
        };
        let at_entry = match at_entry {
            Some(at_entry) => at_entry,
            None => {
                let place = nest::accessed_place(e)?.0.clone();
                self.entry_number(&Expr { kind: ExprKind::Load(place), ty: e.ty, span: e.span })
            }
        };
        let form = form.plus(&at_entry)?;
        let may_wrap = kind.size() < 4 || self.converted.contains(&v);
        if may_wrap { self.assume(&form, kind).map(|()| form) } else { self.fits(form, kind) }
    }

    /// What the test in front of the first iteration has added to a variable.
    fn moved_by_test(&self, v: VarId) -> Linear {
        let moved = self.moved_by_test.filter(|(moved, _)| *moved == v);
        Linear::number(constant(moved.map_or(0, |(_, by)| by)))
    }

    /// Whether an expression reads nothing but local scalars that the loop does not change, and can't trap.
    fn is_entry_value(&mut self, e: &Expr) -> bool {
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

    fn fits(&mut self, form: Linear, kind: IntKind) -> Option<Linear> {
        if !kind.signed() || self.options.wrapping {
            self.assume(&form, kind)?;
        }
        Some(form)
    }

    /// Notes that all values of the form must fit the type.
    fn assume(&mut self, form: &Linear, kind: IntKind) -> Option<()> {
        let (lo, hi) = self.extremes(form)?;
        self.assumptions.push(Assumption { lo, hi, kind });
        Some(())
    }

    /// Lowest and highest value over all iterations of all levels.
    fn extremes(&self, form: &Linear) -> Option<(Bound, Bound)> {
        let (mut lo, mut hi) = (form.clone(), form.clone());
        for level in self.inner.iter().rev().chain(self.dims.iter().rev()) {
            if !lo.terms.contains_key(&level.id) && !hi.terms.contains_key(&level.id) {
                continue;
            }
            let (from, to) = level.range.as_ref()?;
            lo = lo.without(level.id, from, to)?.0;
            hi = hi.without(level.id, from, to)?.1;
        }
        (lo.terms.is_empty() && hi.terms.is_empty()).then_some((lo.constant, hi.constant))
    }

    /// A place in memory whose value at entry stands for all iterations: a global that the loop does not assign by name, or
    /// memory at an address that does not change, read unconditionally. It becomes an invariant and is pinned.
    fn invariant_load(&mut self, place: &Place) -> Option<usize> {
        if self.own(place).is_some() {
            return None;
        }
        let root = nest::root_variable(place);
        if root.is_some_and(|v| self.written.contains(&v) || self.unit.var(v).storage == Storage::ThreadLocal)
        {
            return None;
        }
        // Memory behind a pointer may only be read early if the first iteration reads it anyway.
        if root.is_none() && (!self.path.is_empty() || !self.inner.is_empty() || self.has_continue) {
            return None;
        }
        let mut fine = self.supported(place).is_ok() && self.width(place).is_ok();
        let mut live = Vec::new();
        nest::place_expressions(place, &mut |e| match &e.kind {
            ExprKind::Load(p) => match is_scalar(self.unit, p) {
                Some(v) if !self.written.contains(&v) => live.push(v),
                Some(_) => fine = false,
                None => fine &= nest::root_variable(p).is_some_and(|v| !self.written.contains(&v)),
            },
            ExprKind::Int(_) | ExprKind::AddressOf(_) | ExprKind::PtrAdd { .. } | ExprKind::Cast(_) => {}
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
        let Bound::Value(value) = self.value(&e) else { return None };
        if self.invariant_places.insert(place.id, value).is_none() {
            for pin in pins {
                self.pin(&pin).ok()?;
            }
        }
        Some(value)
    }

    fn base(&mut self, base: Base) -> BaseId {
        let known = self.bases.iter().position(|b| match (b, &base) {
            (Base::Object { var: a, .. }, Base::Object { var: b, .. }) => a == b,
            (Base::Pointer { var: a }, Base::Pointer { var: b }) => a == b,
            (Base::Invariant { value: a }, Base::Invariant { value: b }) => a == b,
            (Base::Dynamic, Base::Dynamic) => true,
            _ => false,
        });
        BaseId(known.unwrap_or_else(|| {
            self.bases.push(base);
            self.bases.len() - 1
        }) as u32)
    }

    /// Base and byte offset of a pointer value.
    fn pointer(&mut self, e: &Expr, depth: usize) -> Result<(BaseId, Option<Linear>), Refused> {
        if depth > 24 {
            return Ok((self.base(Base::Dynamic), None));
        }
        if let Some((v, moved)) = self.secondary_value(e) {
            if let Some(value) = self.set_first.get(&v).cloned() {
                let bases = self.bases.len();
                let (base, start) = self.pointer(&value, depth + 1)?;
                let form = self.secondary_form(v, &moved);
                let offset =
                    start.zip(form).and_then(|(start, form)| start.plus(&form)?.plus(&self.moved_by_test(v)));
                if offset.is_some() {
                    return Ok((base, offset));
                }
                self.bases.truncate(bases);
            }
            self.live_ins.insert(v);
            return Ok((self.base(Base::Pointer { var: v }), self.secondary_form(v, &moved)));
        }
        match &e.kind {
            ExprKind::PtrAdd { pointer, index, stride } => {
                let (base, offset) = self.pointer(pointer, depth + 1)?;
                let stride = i64::try_from(*stride).map_err(|_| "an element too large")?;
                let index = self.linear(index, 0).and_then(|i| i.times(&constant(stride)));
                let offset = match (offset, index) {
                    (Some(a), Some(b)) => a.plus(&b),
                    _ => None,
                };
                Ok((base, offset))
            }
            ExprKind::Cast(inner) if self.unit.types.pointee(inner.ty.ty).is_some() => {
                self.pointer(inner, depth + 1)
            }
            ExprKind::AddressOf(place) => self.location(place, depth + 1),
            ExprKind::Load(place) => {
                if let Some(v) = is_scalar(self.unit, place) {
                    if !self.written.contains(&v) {
                        self.live_ins.insert(v);
                        return Ok((self.base(Base::Pointer { var: v }), Some(Linear::number(constant(0)))));
                    }
                    if let Some(definition) = self.definition(v) {
                        return match definition.form {
                            Some((Some(base), form)) => Ok((base, Some(form))),
                            _ => self.pointer(&definition.value, depth + 1),
                        };
                    }
                    return Ok((self.base(Base::Dynamic), None));
                }
                match self.invariant_load(place) {
                    Some(value) => {
                        Ok((self.base(Base::Invariant { value }), Some(Linear::number(constant(0)))))
                    }
                    None => Ok((self.base(Base::Dynamic), None)),
                }
            }
            _ => Ok((self.base(Base::Dynamic), None)),
        }
    }

    /// Base and byte offset of an object.
    fn location(&mut self, place: &Place, depth: usize) -> Result<(BaseId, Option<Linear>), Refused> {
        match &place.kind {
            PlaceKind::Var(v) if self.private.contains_key(v) => {
                Err(format!("it uses the address of its local variable {}", self.unit.var(*v).name).into())
            }
            PlaceKind::Var(v) => {
                if self.unit.var(*v).storage == Storage::ThreadLocal {
                    let name = &self.unit.var(*v).name;
                    let text = format!("it accesses the thread-local variable {name}");
                    return Err(Reason::new(Kind::ThreadLocal, text)
                        .settled_by([Advice::PointerBefore(name.clone())]));
                }
                let size = self.unit.types.size_of(self.unit.var(*v).ty.ty).unwrap_or(0);
                Ok((self.base(Base::Object { var: *v, size }), Some(Linear::number(constant(0)))))
            }
            PlaceKind::Deref(e) => self.pointer(e, depth + 1),
            PlaceKind::Field { base, offset, .. } => {
                let (base, at) = self.location(base, depth + 1)?;
                let offset = i64::try_from(*offset).map_err(|_| "an offset too large")?;
                Ok((base, at.and_then(|a| a.plus(&Linear::number(constant(offset))))))
            }
            PlaceKind::Opaque(what) => Err(format!("it has {what} in line {}", place.span.line).into()),
        }
    }

    /// Notes the loads in `value` of the place that it is assigned to. Nothing in the expression may have a side effect
    /// (functions that have any are refused elsewhere), so that both addresses are computed from the same values.
    fn note_update(&mut self, place: &Place, value: &Expr) {
        let mut pure = true;
        let mut loads = Vec::new();
        let mut look = |e: &Expr| {
            pure &= !nest::accessed_place(e).is_some_and(|(_, _, writes)| writes);
            if let ExprKind::Load(p) = &e.kind
                && same_place(p, place)
            {
                loads.push(p.id);
            }
        };
        nest::expressions(value, &mut look);
        nest::place_expressions(place, &mut look);
        if pure {
            self.updated.extend(loads.into_iter().map(|load| (load, place.id)));
        }
    }

    /// The object of the iteration's own that a place is part of.
    fn own(&self, place: &Place) -> Option<VarId> {
        private::object(&self.unit.types, &self.private, place)
    }

    /// An access of memory that each iteration has for itself.
    fn own_access(&mut self, place: &Place, reads: bool) -> Result<(), Refused> {
        self.supported(place)?;
        if reads && self.unit.types.pointee(place.ty.ty).is_some() {
            // What it leads to would be in no region that a device has.
            let text = format!(
                "it follows a pointer that a local array or struct holds, in line {}",
                place.span.line
            );
            return Err(Reason::new(Kind::UnsupportedType, text));
        }
        let width = u64::from(self.width(place)?);
        let Some(part) = private::part(&self.unit.types, place) else { return Ok(()) };
        let line = place.span.line;
        let mut outer = place;
        while let PlaceKind::Field { base, .. } = &outer.kind {
            self.supported(outer)?;
            if outer.ty.quals.is_volatile || base.ty.quals.is_volatile || base.ty.quals.is_atomic {
                let text = format!("it accesses volatile or atomic memory in line {line}");
                return Err(Reason::new(Kind::VolatileAccess, text));
            }
            outer = base;
        }
        // Elsewhere it could lie across words.
        let aligned = part.constant.is_some_and(|at| at.rem_euclid(width as i64) == 0)
            && part.indices.iter().all(|(_, stride)| stride % width == 0);
        if !aligned {
            let text = format!("it accesses a member of a packed structure in line {line}");
            return Err(Reason::new(Kind::UnsupportedType, text));
        }
        self.work += 2;
        part.indices.iter().try_for_each(|(index, _)| self.expression(index))
    }

    /// Notes an access of memory.
    fn access(&mut self, place: &Place, reads: bool, writes: bool) -> Result<(), Refused> {
        if self.own(place).is_some() {
            return self.own_access(place, reads);
        }
        self.supported(place)?;
        let width = self.width(place)?;
        // The pointers inside are loaded by themselves.
        self.place_operands(place)?;
        let (base, offset) = self.location(place, 0)?;
        self.work += 2;
        self.touches += u64::from(reads) + u64::from(writes);
        let mut ids = (None, None);
        for is_store in [false, true] {
            if !(if is_store { writes } else { reads }) {
                continue;
            }
            let id = SiteId(self.sites.len() as u32);
            let affine = offset.as_ref().and_then(|o| self.window(o, width));
            let offset = affine.as_ref().and(offset.clone());
            let loads_pointer = !is_store && self.unit.types.pointee(place.ty.ty).is_some();
            self.sites.push(Site {
                place: place.id,
                span: place.span,
                base,
                width,
                is_store,
                loads_pointer,
                unconditional: self.path.is_empty() && !self.has_continue,
                affine,
                may_change_pin: false,
                may_touch_kept: false,
                may_use_snapshot: false,
                logged: false,
            });
            let inner = self.inner.iter().map(|l| (l.id, l.range.clone())).collect();
            self.forms.push(SiteForm {
                offset,
                inner,
                path: self.path.clone(),
                text: describe(self.unit, place),
                place: place.clone(),
            });
            if is_store {
                ids.1 = Some(id);
            } else {
                ids.0 = Some(id);
            }
        }
        self.site_of.insert(place.id, ids);
        Ok(())
    }

    /// Strides over the dimensions, and the window that inner loops make.
    fn window(&self, offset: &Linear, width: u32) -> Option<Affine> {
        let (mut lo, mut hi) = (offset.clone(), offset.clone());
        for level in self.inner.iter().rev() {
            if !lo.terms.contains_key(&level.id) && !hi.terms.contains_key(&level.id) {
                continue;
            }
            let (from, to) = level.range.as_ref()?;
            lo = lo.without(level.id, from, to)?.0;
            hi = hi.without(level.id, from, to)?.1;
        }
        let whole = (lo.clone(), hi.clone());
        // Where an inner range depends on the dimensions, the two ends move differently: the window takes the extremes of
        // what is not common.
        let mut strides = Vec::new();
        for dim in &self.dims {
            let zero = constant(0);
            let own = offset.terms.get(&dim.id).cloned().unwrap_or(zero.clone());
            for end in [&mut lo, &mut hi] {
                let total = end.terms.remove(&dim.id).unwrap_or(zero.clone());
                let rest = linear::add(&total, &linear::neg(&own)?)?;
                if linear::as_constant(&rest) != Some(0) {
                    end.terms.insert(dim.id, rest);
                }
            }
            strides.push(own);
        }
        let is_skewed = !lo.terms.is_empty() || !hi.terms.is_empty();
        let (lo, hi) = self.over_dimensions((lo, hi), width)?;
        let hull = if is_skewed { self.over_dimensions(whole, width) } else { None };
        // On a device that gives up, an inner loop may end early: what it moves, other than its own variable, is then not where
        // it is said to be.
        let may_lag = self.moved_inside.keys().any(|(_, v)| self.secondary.contains_key(v));
        let whole_steps = !may_lag && offset.terms.values().all(|step| step.is_multiple(width.into()));
        Some(Affine { strides, lo, hi, hull, exact: self.inner.is_empty(), whole_steps })
    }

    /// What lies between two ends in all iterations: the lowest, and what is behind the highest access.
    fn over_dimensions(&self, (mut lo, mut hi): (Linear, Linear), width: u32) -> Option<(Bound, Bound)> {
        for dim in self.dims.iter().rev() {
            if lo.terms.contains_key(&dim.id) || hi.terms.contains_key(&dim.id) {
                let (from, to) = dim.range.as_ref()?;
                lo = lo.without(dim.id, from, to)?.0;
                hi = hi.without(dim.id, from, to)?.1;
            }
        }
        if !lo.terms.is_empty() || !hi.terms.is_empty() {
            return None;
        }
        Some((lo.constant, linear::add(&hi.constant, &constant(i64::from(width)))?))
    }

    fn place_operands(&mut self, place: &Place) -> Result<(), Refused> {
        match &place.kind {
            PlaceKind::Deref(e) => self.expression(e),
            PlaceKind::Field { base, .. } => self.place_operands(base),
            _ => Ok(()),
        }
    }

    fn expression(&mut self, e: &Expr) -> Result<(), Refused> {
        let line = e.span.line;
        let types = &self.unit.types;
        match types.kind(e.ty.ty) {
            TypeKind::Float(FloatKind::LongDouble | FloatKind::Float128) => {
                let text = format!("it computes in a type wider than double in line {line}");
                return Err(Reason::new(Kind::UnsupportedType, text));
            }
            TypeKind::Int(IntKind::Int128 | IntKind::UInt128) => {
                let text = format!("it computes in 128 bits in line {line}");
                return Err(Reason::new(Kind::UnsupportedType, text));
            }
            _ => {}
        }
        self.work += 1;
        match &e.kind {
            ExprKind::Int(_) | ExprKind::Float(_) => Ok(()),
            ExprKind::Str(_) => Err(format!("it uses a string in line {line}").into()),
            ExprKind::Function(_) => Err(format!("it uses the address of a function in line {line}").into()),
            ExprKind::Opaque(what) => Err(format!("it has {what} in line {line}").into()),
            ExprKind::Load(p) => self.read(p),
            ExprKind::AddressOf(p) => {
                if is_scalar(self.unit, p).is_some() {
                    return Err(format!("it takes the address of a variable in line {line}").into());
                }
                if let Some(v) = self.own(p) {
                    let name = &self.unit.var(v).name;
                    let text = format!("it uses the address of its local variable {name} in line {line}");
                    return Err(Reason::new(Kind::UnsupportedType, text));
                }
                self.place_operands(p)?;
                self.location(p, 0)?;
                Ok(())
            }
            ExprKind::Unary(_, a) => self.expression(a),
            ExprKind::Cast(a) => {
                self.may_abort |= types.as_int(e.ty.ty).is_some_and(|k| k != IntKind::Bool)
                    && types.as_float(a.ty.ty).is_some();
                self.expression(a)
            }
            ExprKind::Binary(op, a, b) => {
                if matches!(op, BinOp::Div | BinOp::Rem) && types.as_int(e.ty.ty).is_some() {
                    let divisor = crate::c::constant::fold(types, b);
                    self.may_abort |= !divisor.is_some_and(|d| d != 0 && d != -1);
                }
                if self.options.contraction
                    && matches!(op, BinOp::Add | BinOp::Sub)
                    && types.as_float(e.ty.ty).is_some()
                    && (is_product(self.unit, &self.products, a) || is_product(self.unit, &self.products, b))
                {
                    self.may_fuse(line)?;
                }
                self.expression(a)?;
                self.expression(b)
            }
            ExprKind::PtrAdd { pointer: a, index: b, .. } | ExprKind::PtrDiff { left: a, right: b, .. } => {
                self.expression(a)?;
                self.expression(b)
            }
            ExprKind::Comma(a, b) => {
                self.expression(a)?;
                self.expression(b)
            }
            ExprKind::LogicalAnd(a, b) | ExprKind::LogicalOr(a, b) => {
                self.expression(a)?;
                self.operand(b)
            }
            ExprKind::Conditional(c, a, b) => {
                self.expression(c)?;
                self.operand(a)?;
                self.operand(b)
            }
            ExprKind::Assign(p, value) => {
                self.in_value_of(p, |s| s.expression(value))?;
                self.write(p, false)?;
                self.note_update(p, value);
                self.define(p, Some(value));
                Ok(())
            }
            ExprKind::AssignOp { place, value, op, compute } => {
                if matches!(op, BinOp::Div | BinOp::Rem) && types.as_int(compute.ty).is_some() {
                    self.may_abort = true;
                }
                if types.as_float(compute.ty).is_some() && types.as_int(place.ty.ty).is_some() {
                    self.may_abort = true;
                }
                if self.options.contraction
                    && matches!(op, BinOp::Add | BinOp::Sub)
                    && types.as_float(compute.ty).is_some()
                    && (is_product(self.unit, &self.products, value)
                        || variable_of(self.unit, place).is_some_and(|v| self.products.contains(&v)))
                {
                    self.in_value_of(place, |s| s.may_fuse(line))?;
                }
                self.in_value_of(place, |s| s.expression(value))?;
                self.write(place, true)?;
                self.define(place, None);
                Ok(())
            }
            ExprKind::PtrAssign { place, index, .. } => {
                self.expression(index)?;
                self.write(place, true)?;
                self.define(place, None);
                Ok(())
            }
            ExprKind::IncDec { place, .. } => {
                self.write(place, true)?;
                self.define(place, None);
                Ok(())
            }
            ExprKind::Call { callee, args } => {
                let name = match callee {
                    Callee::Named(id) => self.unit.var(*id).name.clone(),
                    Callee::Builtin(name) => name.clone(),
                    Callee::Pointer(_) => {
                        let text = format!("it calls a function through a pointer in line {line}");
                        return Err(Reason::new(Kind::UnknownCall, text));
                    }
                };
                if let Callee::Named(id) = callee
                    && let Some(reason) = self.own_function(*id, args, line)
                {
                    return Err(reason);
                }
                let options = self.options;
                let asked = libm::called(self.unit, options, callee)
                    .filter(|_| !options.approximates || options.device_math);
                match exact_function(&name) {
                    Some(sets_errno) => self.may_abort |= sets_errno,
                    None if let Some(function) = asked => {
                        self.work += LIBM_WORK;
                        let path = self.path.clone();
                        self.libm.push(LibmCall { function, args: args.clone(), line, path });
                    }
                    None => {
                        let text = format!(
                            "it calls {name} in line {line}, whose effects or exact result are not known"
                        );
                        let is_theirs = matches!(callee, Callee::Named(id) if self.is_of_program(*id));
                        let advice = is_theirs.then_some(Advice::DefineHere(name));
                        return Err(Reason::new(Kind::UnknownCall, text).settled_by(advice));
                    }
                }
                args.iter().try_for_each(|a| self.expression(a))
            }
        }
    }

    /// Sees to it that all calls of libm are answered by the library, here and in the user's loop.
    fn check_libm(&self, body: &Stmt, prelude: &Prelude, unrolled: bool) -> Result<(), Refused> {
        if self.libm.is_empty() || self.free_calls {
            return Ok(());
        }
        let is_zero = |bound: &Bound| linear::as_constant(bound) == Some(0);
        let moves = |site: &&Site| {
            let stride = site.affine.as_ref().and_then(|affine| affine.strides.first());
            let is_table =
                |base: &Base| matches!(base, Base::Object { var, .. } if libm::is_table(self.unit, *var));
            !unrolled
                && !site.is_store
                && stride.is_some_and(|stride| !is_zero(stride))
                && !is_table(&self.bases[site.base.0 as usize])
        };
        let walking: BTreeSet<PlaceId> = self.sites.iter().filter(moves).map(|site| site.place).collect();
        let mut varying = libm::varying(self.unit, body, &walking);
        // The first iteration has them from before the loop.
        varying.retain(|v| !prelude.variables.contains(v));
        let walk = libm::Walk { unit: self.unit, walking: &walking, varying: &varying };
        let refused = |text: String| Err(Reason::new(Kind::UnknownCall, text));
        for LibmCall { function, args, line, .. } in &self.libm {
            if !walk.is_asked(*function, args) {
                let name = function.stem;
                return refused(format!(
                    "it calls {name} in line {line} with what the compiler may know: it doesn't always round as the library does"
                ));
            }
        }
        if let Some(line) = walk.told(body) {
            return refused(format!(
                "it calls functions of libm with what the compiler may know behind the comparison in line {line}"
            ));
        }
        let of = |stem: &'static str| self.libm.iter().filter(move |call| call.function.stem == stem);
        for (sine, cosine) in of("sin").flat_map(|sine| of("cos").map(move |cosine| (sine, cosine))) {
            let (a, b) = (&sine.args[0], &cosine.args[0]);
            // It does so here and there, where they stand side by side with one value.
            let as_one = same(a, b) && sine.path == cosine.path;
            if sine.function.kind == cosine.function.kind && !as_one && !self.are_apart(a, b) {
                let (line, other) = (sine.line, cosine.line);
                return refused(format!(
                    "it calls sin in line {line} and cos in line {other}, perhaps with one value: the compiler may ask \
                     for both at once"
                ));
            }
        }
        Ok(())
    }

    /// Whether two values are what different arrays hold that the loop doesn't store to, so that no compiler knows them for one.
    fn are_apart(&self, a: &Expr, b: &Expr) -> bool {
        let base = |mut e: &Expr| {
            while let ExprKind::Cast(inner) = &e.kind {
                e = inner;
            }
            let ExprKind::Load(place) = &e.kind else { return None };
            Some(self.sites[self.site_of.get(&place.id)?.0?.0 as usize].base)
        };
        let is_stored = |base: BaseId| self.sites.iter().any(|site| site.is_store && site.base == base);
        base(a).zip(base(b)).is_some_and(|(a, b)| a != b && !is_stored(a) && !is_stored(b))
    }

    /// Walks what a place is assigned.
    fn in_value_of(
        &mut self,
        place: &Place,
        work: impl FnOnce(&mut Self) -> Result<(), Refused>,
    ) -> Result<(), Refused> {
        let outer = std::mem::replace(&mut self.assigned, is_scalar(self.unit, place));
        let result = work(self);
        self.assigned = outer;
        result
    }

    /// A product and a sum that the compiler may fuse. Which ones it does is not known, so bits that it gives can't be had
    /// elsewhere; except where the user has given the accumulation free that they end in.
    fn may_fuse(&mut self, line: u32) -> Result<(), Refused> {
        match self.assigned {
            Some(v) if self.options.reassociate => {
                self.fusable.push((v, line));
                Ok(())
            }
            _ => Err(contraction(line)),
        }
    }

    /// Why a call of a function with a visible body is left, if it is one: `loops::inline` would have replaced it.
    fn own_function(&self, callee: VarId, args: &[Expr], line: u32) -> Option<Refused> {
        let variable = self.unit.var(callee);
        let function =
            self.unit.functions.iter().find(|f| f.var == callee).filter(|_| !variable.is_extern)?;
        let name = &variable.name;
        let (why, advice) = match inline::refusal(self.unit, function, self.options) {
            Some((why, advice)) => (why, advice),
            None => {
                let apart = self.in_operand
                    && !args.iter().any(inline::has_effects)
                    && inline::is_self_contained(self.unit, function);
                let advice = apart.then(|| Advice::CallApart(name.clone()));
                ("where or how it is called, its body can't stand for it", advice)
            }
        };
        let text = format!("it calls the program's own {name} in line {line}: {why}");
        Some(Reason::new(Kind::UnknownCall, text).settled_by(advice))
    }

    /// Whether a function that has no body here is the program's own, as far as its declaration tells.
    fn is_of_program(&self, callee: VarId) -> bool {
        let file = self.unit.files.get(self.unit.var(callee).span.file as usize);
        file.is_some_and(|file| !file.starts_with("/usr/") && !file.starts_with('<'))
    }

    fn read(&mut self, p: &Place) -> Result<(), Refused> {
        if let Some(v) = is_scalar(self.unit, p) {
            self.supported(p)?;
            if !self.written.contains(&v) {
                self.live_ins.insert(v);
            }
            return Ok(());
        }
        if self.invariant_places.contains_key(&p.id) {
            return self.place_operands(p);
        }
        self.access(p, true, false)
    }

    fn write(&mut self, p: &Place, reads: bool) -> Result<(), Refused> {
        if is_scalar(self.unit, p).is_some() {
            return self.supported(p);
        }
        self.access(p, reads, true)
    }

    /// What a scalar stands for at this point.
    fn definition(&self, v: VarId) -> Option<Definition> {
        self.definitions.get(&v).filter(|definition| definition.loops <= self.inner.len()).cloned()
    }

    /// Remembers what a scalar stands for, if this is its only assignment and nothing can skip it.
    fn define(&mut self, p: &Place, value: Option<&Expr>) {
        let Some(v) = is_scalar(self.unit, p) else { return };
        self.set_definition(v, value);
    }

    fn set_definition(&mut self, v: VarId, value: Option<&Expr>) {
        let unconditional = self.path.len() == self.inner.len();
        // Declared and assigned apart are two.
        let is_only = self.assignments.get(&v).copied().unwrap_or(0) == 1;
        let Some(value) = value.filter(|_| unconditional && is_only) else {
            self.definitions.remove(&v);
            return;
        };
        let mut stays = true;
        nest::expressions(value, &mut |e| {
            if let Some((place, ..)) = nest::accessed_place(e) {
                stays &= nest::root_variable(place).is_none_or(|v| !self.secondary.contains_key(&v));
            }
        });
        let loops = self.inner.len();
        // What moves later in the iteration would mean something else where the definition is used.
        let form = match stays {
            true => None,
            false if self.unit.types.pointee(value.ty.ty).is_some() => {
                self.pointer(value, 0).ok().and_then(|(base, form)| Some((Some(base), form?)))
            }
            false => self.linear(value, 0).map(|form| (None, form)),
        };
        if stays || form.is_some() {
            self.definitions.insert(v, Definition { value: value.clone(), form, loops });
        } else {
            self.definitions.remove(&v);
        }
    }

    fn conditionally(&mut self, work: impl FnOnce(&mut Self) -> Result<(), Refused>) -> Result<(), Refused> {
        self.next_path += 1;
        self.path.push(self.next_path);
        let result = work(self);
        self.path.pop();
        result
    }

    /// An operand that need not be evaluated.
    fn operand(&mut self, e: &Expr) -> Result<(), Refused> {
        let before = std::mem::replace(&mut self.in_operand, true);
        let result = self.conditionally(|s| s.expression(e));
        self.in_operand = before;
        result
    }

    fn statement(&mut self, s: &Stmt) -> Result<(), Refused> {
        match &s.kind {
            StmtKind::Empty | StmtKind::Declaration | StmtKind::Break | StmtKind::Continue => Ok(()),
            StmtKind::Expr(e) => self.full_expression(e),
            StmtKind::Declare { var, init } => {
                let variable = self.unit.var(*var);
                let place = Place {
                    id: PlaceId(u32::MAX),
                    kind: PlaceKind::Var(*var),
                    ty: variable.ty,
                    span: s.span,
                };
                if is_scalar(self.unit, &place).is_none() {
                    return self.declare_own(*var, init.as_ref(), s.span);
                }
                self.supported(&place)?;
                self.width(&place)?;
                match init {
                    Some(Init::Scalar(value)) => {
                        self.full_expression(value)?;
                        self.set_definition(*var, Some(value));
                        Ok(())
                    }
                    Some(Init::Members(_) | Init::Aggregate) => {
                        Err(format!("it initialises an aggregate in line {}", s.span.line).into())
                    }
                    None => Ok(()),
                }
            }
            StmtKind::Block(list) => list.iter().try_for_each(|s| self.statement(s)),
            StmtKind::If { cond, then, otherwise } => {
                self.full_expression(cond)?;
                let before = self.moved.clone();
                self.conditionally(|a| a.statement(then))?;
                let after_then = std::mem::replace(&mut self.moved, before);
                if let Some(otherwise) = otherwise {
                    self.conditionally(|a| a.statement(otherwise))?;
                }
                let otherwise = std::mem::replace(&mut self.moved, after_then);
                let moved: BTreeSet<VarId> = self.moved.keys().chain(otherwise.keys()).copied().collect();
                for v in moved {
                    let one = self.moved_so_far(v);
                    let other =
                        otherwise.get(&v).cloned().unwrap_or_else(|| Some(Linear::number(constant(0))));
                    self.moved.insert(v, one.filter(|one| Some(one) == other.as_ref()));
                }
                Ok(())
            }
            StmtKind::Loop(l) => self.inner_loop(l),
            _ => Err(format!("it has a statement in line {} that is not supported", s.span.line).into()),
        }
    }

    /// Memory of the iteration's own comes into being.
    fn declare_own(&mut self, v: VarId, init: Option<&Init>, span: Span) -> Result<(), Refused> {
        let unit = self.unit;
        let variable = unit.var(v);
        if !self.private.contains_key(&v) {
            let text = format!(
                "it has the local variable {} that is no simple number or pointer, or whose address is taken",
                variable.name
            );
            return Err(Reason::new(Kind::UnsupportedType, text));
        }
        let mut one = |ty: QualType, value: &Expr| {
            let place = Place { id: PlaceId(u32::MAX), kind: PlaceKind::Var(v), ty, span };
            self.width(&place)?;
            if value_changes_something(value) {
                return Err(format!("it initialises {} with side effects", variable.name).into());
            }
            self.work += 2;
            self.full_expression(value)
        };
        match init {
            None => Ok(()),
            Some(Init::Scalar(value)) => one(variable.ty, value),
            Some(Init::Members(list)) => list.iter().try_for_each(|(_, value)| one(value.ty, value)),
            Some(Init::Aggregate) => {
                let text =
                    format!("it initialises {} in line {} in an unusual way", variable.name, span.line);
                Err(text.into())
            }
        }
    }

    fn inner_loop(&mut self, l: &LoopStmt) -> Result<(), Refused> {
        l.init.iter().try_for_each(|s| self.statement(s))?;
        let before = (self.work, self.touches);
        let head = super::counted::counted(self.unit, l).ok();
        // The variable's definition by the first clause is no definition inside.
        if let Some(head) = &head {
            self.definitions.remove(&head.iv);
        }
        let level = match head {
            Some(head) => self.level_inside(&head),
            None => Level { id: l.id, iv: VarId(u32::MAX), first: Linear::number(constant(0)), range: None },
        };
        self.inner.push(level);
        self.next_path += 1;
        self.path.push(self.next_path);
        let behind = self.enter_turns(l);
        let result = (|| {
            if let Some(cond) = &l.cond {
                self.full_expression(cond)?;
            }
            self.statement(&l.body)?;
            match &l.step {
                Some(step) => self.full_expression(step),
                None => Ok(()),
            }
        })();
        self.moved.extend(behind);
        self.path.pop();
        self.inner.pop();
        let inside = self.inner.len();
        self.definitions.retain(|_, definition| definition.loops <= inside);
        let often = |before: u64, now: u64| before + (now - before).saturating_mul(32);
        (self.work, self.touches) = (often(before.0, self.work), often(before.1, self.touches));
        result
    }

    /// The level of a counted loop inside the body: its bounds may vary.
    fn level_inside(&mut self, head: &Counted) -> Level {
        if head.control.is_some() {
            // The program has no variable that is linear in it.
            return Level {
                id: head.id,
                iv: VarId(u32::MAX),
                first: Linear::number(constant(0)),
                range: None,
            };
        }
        let known = self.linear(&head.first, 0);
        match known {
            None => {
                // Its variable is then not linear in anything.
                Level { id: head.id, iv: VarId(u32::MAX), first: Linear::number(constant(0)), range: None }
            }
            Some(first) => {
                let mut level = Level { id: head.id, iv: head.iv, first: first.clone(), range: None };
                if let Some(limit) = self.linear(&head.limit, 0) {
                    let inclusive = match head.relation {
                        Relation::Le | Relation::Ge => 0,
                        Relation::Lt => -1,
                        Relation::Gt => 1,
                        Relation::Ne => -head.step.signum(),
                    };
                    let distance = first
                        .negated()
                        .and_then(|f| limit.plus(&f))
                        .and_then(|d| d.plus(&Linear::number(constant(inclusive))));
                    let zero = Linear::number(constant(0));
                    level.range = distance.map(|d| if head.step > 0 { (zero, d) } else { (d, zero) });
                    if self.stays_in_range(head, &first, &limit).is_none() {
                        level.iv = VarId(u32::MAX);
                        level.range = None;
                    }
                }
                level
            }
        }
    }

    /// Sees to it that the variable of a loop inside the body comes from its first value to its limit without wrapping
    /// around: other than for merged dimensions, no trip count is computed at entry.
    fn stays_in_range(&mut self, head: &Counted, first: &Linear, limit: &Linear) -> Option<()> {
        // Upwards there are no more turns than the numbers say.
        if !head.compares_numbers(self.unit) && head.step < 0 {
            return None;
        }
        // To start beyond the limit would have to overflow, unless something leaves the loop before.
        let is_equality = head.relation == Relation::Ne;
        if head.kind.size() >= 4 && head.kind.signed() && !self.options.wrapping && !is_equality {
            return Some(());
        }
        let distance = limit.plus(&first.negated()?)?;
        let (size, up) = (head.step.checked_abs()?, head.step > 0);
        if is_equality {
            // It must not start beyond its limit, nor step over it.
            let distance = if up { distance } else { distance.negated()? };
            return if size == 1 { self.assume(&distance, IntKind::ULongLong) } else { None };
        }
        // The value that ends it is at most a step beyond the last one.
        let beyond = size - i64::from(matches!(head.relation, Relation::Lt | Relation::Gt));
        let beyond = Linear::number(constant(if up { beyond } else { -beyond }));
        self.assume(&limit.plus(&beyond)?, head.kind)
    }
}

fn value_changes_something(e: &Expr) -> bool {
    let mut found = false;
    nest::expressions(e, &mut |e| found |= nest::accessed_place(e).is_some_and(|(_, _, writes)| writes));
    found
}

/// Whether an expression may be a floating-point product as the compiler sees it: it follows values through variables,
/// negations and what is chosen by a condition.
fn is_product(unit: &TranslationUnit, products: &BTreeSet<VarId>, e: &Expr) -> bool {
    let inside = |e: &Expr| is_product(unit, products, e);
    unit.types.as_float(e.ty.ty).is_some()
        && match &e.kind {
            ExprKind::Binary(op, ..) | ExprKind::AssignOp { op, .. } => *op == BinOp::Mul,
            ExprKind::Unary(_, a) | ExprKind::Cast(a) | ExprKind::Assign(_, a) | ExprKind::Comma(_, a) => {
                inside(a)
            }
            ExprKind::Conditional(_, a, b) => inside(a) || inside(b),
            // Squares are products.
            ExprKind::Call { callee, .. } => {
                let name = match callee {
                    Callee::Named(v) => &unit.var(*v).name,
                    Callee::Builtin(name) => name,
                    Callee::Pointer(_) => return false,
                };
                name.contains("pow")
            }
            ExprKind::Load(place) => variable_of(unit, place).is_some_and(|v| products.contains(&v)),
            _ => false,
        }
}

/// Whether a compiler may make straight code of a loop, and then know each element that was stored before it. gcc does so up to
/// 16 iterations.
fn may_be_unrolled(unit: &TranslationUnit, head: &Counted) -> bool {
    const SHORT: i128 = 32;
    let number = |e: &Expr| crate::c::constant::fold(&unit.types, e);
    let span = number(&head.first).zip(number(&head.limit)).map(|(first, limit)| (limit - first).abs());
    span.is_some_and(|span| span <= SHORT * i128::from(head.step).abs())
}

/// The scalar that a place is, or the object that it is part of.
fn variable_of(unit: &TranslationUnit, place: &Place) -> Option<VarId> {
    is_scalar(unit, place).or_else(|| private::part(&unit.types, place).map(|part| part.var))
}

/// The scalars that some assignment in a loop gives a product.
fn products(unit: &TranslationUnit, whole: &LoopStmt) -> BTreeSet<VarId> {
    let mut found = BTreeSet::new();
    loop {
        let before = found.len();
        nest::statements(&whole.body, &mut |s| {
            if let StmtKind::Declare { var, init: Some(Init::Scalar(value)) } = &s.kind
                && is_product(unit, &found, value)
            {
                found.insert(*var);
            }
        });
        nest::all_expressions(&whole.body, &mut |e| {
            if let Some((place, _, true)) = nest::accessed_place(e)
                && is_product(unit, &found, e)
            {
                found.extend(is_scalar(unit, place));
            }
        });
        if found.len() == before {
            return found;
        }
    }
}

/// Why a product and a sum keep a loop where it is.
pub fn contraction(line: u32) -> Refused {
    let text =
        format!("the compiler may fuse the product and sum in line {line} (-ffp-contract=off forbids it)");
    Reason::new(Kind::FloatingPointContraction, text).settled_by([Advice::NoContraction])
}

/// A place as a programmer would write it, roughly.
pub fn describe(unit: &TranslationUnit, place: &Place) -> String {
    fn expr(unit: &TranslationUnit, e: &Expr) -> String {
        match &e.kind {
            ExprKind::Int(v) => v.to_string(),
            ExprKind::Load(p) => describe(unit, p),
            ExprKind::AddressOf(p) => describe(unit, p),
            ExprKind::Cast(inner) => expr(unit, inner),
            ExprKind::PtrAdd { pointer, index, .. } => {
                format!("{} + {}", expr(unit, pointer), expr(unit, index))
            }
            ExprKind::Binary(op, a, b) => {
                let sign = match op {
                    BinOp::Add => "+",
                    BinOp::Sub => "-",
                    BinOp::Mul => "*",
                    BinOp::Rem => "%",
                    BinOp::Div => "/",
                    _ => "?",
                };
                format!("{}{sign}{}", expr(unit, a), expr(unit, b))
            }
            ExprKind::Unary(UnOp::Neg, a) => format!("-{}", expr(unit, a)),
            ExprKind::IncDec { place, amount, post } => {
                let (place, sign) = (describe(unit, place), if *amount > 0 { "++" } else { "--" });
                if *post { format!("{place}{sign}") } else { format!("{sign}{place}") }
            }
            _ => "...".into(),
        }
    }
    /// In front of a subscript or an arrow.
    fn operand(unit: &TranslationUnit, e: &Expr) -> String {
        let text = expr(unit, e);
        let mut inner = e;
        while let ExprKind::Cast(value) = &inner.kind {
            inner = value;
        }
        let is_name = matches!(inner.kind, ExprKind::Load(_) | ExprKind::AddressOf(_));
        if is_name && !text.starts_with('*') { text } else { format!("({text})") }
    }
    match &place.kind {
        PlaceKind::Var(v) => unit.var(*v).name.clone(),
        PlaceKind::Deref(e) => match &e.kind {
            ExprKind::PtrAdd { pointer, index, .. } => {
                format!("{}[{}]", operand(unit, pointer), expr(unit, index))
            }
            _ => format!("*{}", expr(unit, e)),
        },
        PlaceKind::Field { base, record, field, .. } => {
            let name =
                unit.types.record(*record).fields.as_ref().and_then(|f| f.get(*field as usize)?.name.clone());
            match (name, &base.kind) {
                (Some(name), PlaceKind::Deref(e)) if !matches!(e.kind, ExprKind::PtrAdd { .. }) => {
                    format!("{}->{name}", operand(unit, e))
                }
                (Some(name), _) => format!("{}.{name}", describe(unit, base)),
                (None, _) => describe(unit, base),
            }
        }
        PlaceKind::Opaque(what) => (*what).to_string(),
    }
}
