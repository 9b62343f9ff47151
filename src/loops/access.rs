//! Every load and store of memory in a loop's body: where it starts ([`Base`]), and its byte offset as a linear form where
//! that is possible.
//!
//! Integer semantics are C's: signed arithmetic may be taken not to wrap (unless `-fwrapv`); unsigned and narrower
//! arithmetic is linear only if its value fits the type, which becomes an [`Assumption`] that is checked at entry.

mod calls;
mod contraction;
mod facts;
mod inner_loops;
mod movement;
mod numbers;
mod places;
mod ranges;
mod rows;
mod secondary;
mod windows;
mod wording;

use super::carried::Prelude;
use super::counted::{Control, Counted, Stride};
use super::inline;
use super::leaving;
use super::libm;
use super::linear::{self, Linear, constant};
use super::nest;
use super::options::AnalysisOptions;
use super::plan::*;
use super::private;
use super::reason::{Advice, Kind, Reason};
use super::scalars::{is_scalar, same, same_place};
use crate::c::hir::*;
use calls::{LIBM_WORK, may_be_unrolled};
use contraction::{Products, is_product, products};
use facts::Known;
use std::collections::{BTreeMap, BTreeSet};

pub use calls::{EXACT_FUNCTIONS, exact_function, is_integer_function};
pub use contraction::{contraction, contraction_around, contraction_behind, sum_anywhere};
pub use wording::describe;

/// A loop around an access: its head and the range of its induction variable's distance from the first value.
#[derive(Clone, Debug)]
struct Level {
    id: LoopId,
    iv: VarId,
    first: Linear,
    /// Lowest and highest distance, linear in the levels further out; `None` if not known.
    range: Option<(Linear, Linear)>,
}

impl Level {
    /// Two ends, over all iterations of some levels, of which inner ones come first.
    fn over<'l>(levels: impl Iterator<Item = &'l Level>, ends: (Linear, Linear)) -> Option<(Linear, Linear)> {
        let (mut lo, mut hi) = ends;
        for level in levels {
            if !lo.terms.contains_key(&level.id) && !hi.terms.contains_key(&level.id) {
                continue;
            }
            let (from, to) = level.range.as_ref()?;
            lo = lo.without(level.id, from, to)?.0;
            hi = hi.without(level.id, from, to)?.1;
        }
        Some((lo, hi))
    }
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
    /// The same as a linear form (for pointers: from a base, perhaps with a form), where the value has variables in it that the loop
    /// assigns.
    form: Option<(Option<BaseId>, Option<Linear>)>,
    /// Of a pointer into a row: what loads it, and how far it leads from there.
    row: Option<(SiteId, Linear)>,
    /// What the form is only true under.
    assumptions: Vec<Assumption>,
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
    /// What is known of values that aren't linear.
    values: facts::Values,
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
    pub early: BTreeSet<usize>,
    /// Whether there may be any.
    reads_early: bool,
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
    pub may_trap: bool,
    /// See [`LoopPlan`].
    pub work: u64,
    /// Memory accesses among them.
    pub touches: u64,
    /// See [`LoopPlan`].
    pub has_long_loops: bool,
    /// Whether `continue` or `break` stands anywhere in the loop.
    pub has_continue: bool,
    /// Whether the loop may be left early. No iteration that runs elsewhere is, but the first one may be before it reads what others do.
    pub has_ways_out: bool,
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
    products: Products,
    /// Loads of the very place that their own assignment then stores to (`x[index[i]] = x[index[i]] - v`), with that place.
    pub updated: BTreeMap<PlaceId, PlaceId>,
    /// A place whose value goes to memory as it is, and leads nowhere on its way.
    copied: Option<PlaceId>,
    /// See [`Privatization::bases`].
    pub privatized: BTreeSet<BaseId>,
    /// See [`LoopPlan`]; until pairs have been resolved, all that there are.
    pub updates: BTreeMap<PlaceId, Update>,
}

type Refused = Reason;

impl<'a> Accesses<'a> {
    /// Collects the accesses of the nest with these merged dimensions, and of what comes in front of its iterations. With `reads_early`
    /// something may be read at entry that the loop may never read ([`LoopPlan::early`]).
    pub fn collect(
        unit: &'a TranslationUnit,
        options: &'a AnalysisOptions,
        heads: &[Counted],
        whole: &LoopStmt,
        prelude: &Prelude,
        body: &Stmt,
        reads_early: bool,
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
            if let StmtKind::Declare { var, init } = &s.kind {
                written.insert(*var);
                // Without an initial value there is nothing that it could stand for until it is assigned.
                *assignments.entry(*var).or_default() += usize::from(init.is_some());
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
            early: BTreeSet::new(),
            reads_early,
            invariant_places: BTreeMap::new(),
            pinned: Vec::new(),
            assumptions: Vec::new(),
            live_ins: BTreeSet::new(),
            may_abort: false,
            may_trap: false,
            work: 0,
            has_long_loops: false,
            touches: 0,
            has_continue,
            has_ways_out: leaving::has_ways_out(&whole.body),
            moved: BTreeMap::new(),
            converted: BTreeSet::new(),
            moving: BTreeMap::new(),
            values: facts::Values::default(),
            moved_inside: BTreeMap::new(),
            secondary: BTreeMap::new(),
            set_first: BTreeMap::new(),
            moved_by_test: None,
            updated: BTreeMap::new(),
            copied: None,
            updates: BTreeMap::new(),
            privatized: BTreeSet::new(),
            assigned: None,
            fusable: Vec::new(),
            products: if options.contraction {
                products(unit, whole, options.strict_aliasing)
            } else {
                Products::default()
            },
        };
        if options.contraction {
            // Memory of its own is a variable to the compiler like any other: what is stored there may be fused with what it is
            // loaded for.
            accesses.products.variables.extend(accesses.private.keys());
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
        accesses.values.in_prelude = true;
        prelude.statements.iter().try_for_each(|s| accesses.statement(s))?;
        accesses.values.in_prelude = false;
        accesses.values.known.clear();
        accesses.values.facts.clear();
        // All iterations but the first ones come there.
        accesses.sites.iter_mut().for_each(|site| site.unconditional = true);
        accesses.statement(body)?;
        accesses.forget_known_loads();
        accesses.calls_libm = !accesses.libm.is_empty();
        accesses.free_calls = accesses.calls_libm && options.approximates;
        let unrolled = heads.first().is_some_and(|head| may_be_unrolled(unit, head));
        accesses.check_libm(body, prelude, unrolled)?;
        match private::unwritten(unit, &accesses.private, body) {
            Some(why) => Err(why),
            None => Ok(accesses),
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
                if types.as_float(a.ty.ty).is_some() {
                    self.converted_to(e.ty);
                }
                self.expression(a)
            }
            ExprKind::Binary(op, a, b) => {
                if matches!(op, BinOp::Div | BinOp::Rem) && types.as_int(e.ty.ty).is_some() {
                    let divisor = crate::c::constant::fold(types, b);
                    let may_trap = !divisor.is_some_and(|d| d != 0 && d != -1);
                    self.may_abort |= may_trap;
                    self.may_trap |= may_trap;
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
            ExprKind::LogicalAnd(a, b) => {
                self.expression(a)?;
                self.operand(b, (a, true))
            }
            ExprKind::LogicalOr(a, b) => {
                self.expression(a)?;
                self.operand(b, (a, false))
            }
            ExprKind::Conditional(c, a, b) => {
                self.expression(c)?;
                self.operand(a, (c, true))?;
                self.operand(b, (c, false))
            }
            ExprKind::Assign(p, value) => {
                self.copied = match &value.kind {
                    ExprKind::Load(from) if is_scalar(self.unit, p).is_none() => Some(from.id),
                    _ => None,
                };
                self.in_value_of(p, |s| s.expression(value))?;
                self.write(p, false)?;
                self.note_update(p, value);
                self.define(p, Some(value));
                Ok(())
            }
            ExprKind::AssignOp { place, value, op, compute } => {
                if matches!(op, BinOp::Div | BinOp::Rem) && types.as_int(compute.ty).is_some() {
                    self.may_abort = true;
                    self.may_trap = true;
                }
                if types.as_float(compute.ty).is_some() {
                    self.converted_to(place.ty);
                }
                if self.options.contraction
                    && matches!(op, BinOp::Add | BinOp::Sub)
                    && types.as_float(compute.ty).is_some()
                    && (is_product(self.unit, &self.products, value)
                        || self.products.may_lie_in(self.unit, place))
                {
                    self.in_value_of(place, |s| s.may_fuse(line))?;
                }
                self.in_value_of(place, |s| s.expression(value))?;
                self.write(place, true)?;
                let updated = updated_value(place, *op, value, *compute);
                self.define_as(place, None, Some(&updated));
                Ok(())
            }
            ExprKind::PtrAssign { place, index, .. } => {
                self.expression(index)?;
                self.write(place, true)?;
                self.define(place, None);
                Ok(())
            }
            ExprKind::IncDec { place, .. } => {
                if self.options.contraction
                    && types.as_float(place.ty.ty).is_some()
                    && self.products.may_lie_in(self.unit, place)
                {
                    self.in_value_of(place, |s| s.may_fuse(line))?;
                }
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
                    && let Some(reason) = self.own_function(*id, args, e.span)
                {
                    return Err(reason);
                }
                let options = self.options;
                let asked = libm::called(self.unit, options, callee)
                    .filter(|_| !options.approximates || options.device_math);
                match libm::exact(self.unit, options, callee) {
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

    /// A floating-point number is converted to a type. Where it doesn't fit, devices have to answer as the host does; of threads it is the same instruction that answers, but
    /// for wide unsigned types, to which compilers convert one number otherwise than several at once.
    fn converted_to(&mut self, ty: QualType) {
        let Some(kind) = self.unit.types.as_int(ty.ty).filter(|kind| *kind != IntKind::Bool) else { return };
        self.may_abort = true;
        self.may_trap |= !kind.signed() && kind.size() >= 4;
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
        self.define_as(p, value, value);
    }

    /// The same where what it then holds is no value that it could stand for.
    fn define_as(&mut self, p: &Place, value: Option<&Expr>, holds: Option<&Expr>) {
        let Some(v) = is_scalar(self.unit, p) else { return };
        self.remember(v, holds);
        self.set_definition(v, value);
    }

    fn set_definition(&mut self, v: VarId, value: Option<&Expr>) {
        let unconditional = self.path.len() == self.inner.len();
        let is_only = self.assignments.get(&v).copied().unwrap_or(0) == 1;
        let Some(value) = value.filter(|_| unconditional && is_only) else {
            self.definitions.remove(&v);
            return;
        };
        // What the loop doesn't assign, and its own counters, mean the same wherever in the iteration the definition is used. Everything
        // else may be assigned meanwhile, or become the counter of another loop.
        let mut stays = true;
        nest::expressions(value, &mut |e| {
            if let Some((place, ..)) = nest::accessed_place(e) {
                stays &= nest::root_variable(place).is_none_or(|v| {
                    let is_counter = self.dims.iter().any(|level| level.iv == v);
                    (is_counter || !self.written.contains(&v)) && !self.secondary.contains_key(&v)
                });
            }
        });
        let (loops, assumed) = (self.inner.len(), self.assumptions.len());
        let is_pointer = self.unit.types.pointee(value.ty.ty).is_some();
        let form = match stays {
            true => None,
            false if is_pointer => self.pointer(value, 0).ok().map(|(base, form)| (Some(base), form)),
            false => self.linear(value, 0).map(|form| (None, Some(form))),
        };
        let row = if is_pointer { self.row_pointer(value, 0) } else { None };
        // They matter where the definition is used.
        let assumptions = self.assumptions.split_off(assumed);
        if matches!(form, Some((Some(_), None))) && !self.values.in_prelude {
            self.remember_address(v, value);
        }
        if stays || form.is_some() {
            self.definitions.insert(v, Definition { value: value.clone(), form, row, assumptions, loops });
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

    /// An operand that need not be evaluated: it is where a condition holds, or where it doesn't.
    fn operand(&mut self, e: &Expr, (cond, holds): (&Expr, bool)) -> Result<(), Refused> {
        let before = std::mem::replace(&mut self.in_operand, true);
        let branch = self.before_branch();
        self.learn(cond, holds);
        let result = self.conditionally(|s| s.expression(e));
        let at_end = self.leave_branch(&branch);
        if value_changes_something(e) {
            self.join(at_end);
        }
        self.in_operand = before;
        result
    }

    fn statement(&mut self, s: &Stmt) -> Result<(), Refused> {
        match &s.kind {
            StmtKind::Empty
            | StmtKind::Declaration
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Leave(_) => Ok(()),
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
                        self.remember(*var, Some(value));
                        self.set_definition(*var, Some(value));
                        Ok(())
                    }
                    Some(Init::Members(_) | Init::Aggregate) => {
                        Err(format!("it initialises an aggregate in line {}", s.span.line).into())
                    }
                    None => {
                        self.forget(*var);
                        Ok(())
                    }
                }
            }
            StmtKind::Block(list) => list.iter().try_for_each(|s| self.statement(s)),
            StmtKind::If { cond, then, otherwise } => {
                self.full_expression(cond)?;
                let (before, branch) = (self.moved.clone(), self.before_branch());
                self.learn(cond, true);
                self.conditionally(|a| a.statement(then))?;
                let after_then = std::mem::replace(&mut self.moved, before);
                let known = self.leave_branch(&branch);
                self.learn(cond, false);
                if let Some(otherwise) = otherwise {
                    self.conditionally(|a| a.statement(otherwise))?;
                }
                self.behind_branches(&branch, known, then, otherwise.as_deref());
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
}

fn value_changes_something(e: &Expr) -> bool {
    let mut found = false;
    nest::expressions(e, &mut |e| found |= nest::accessed_place(e).is_some_and(|(_, _, writes)| writes));
    found
}

/// What an assignment with an operation leaves in its place.
fn updated_value(place: &Place, op: BinOp, value: &Expr, compute: QualType) -> Expr {
    let (ty, span) = (QualType { ty: place.ty.ty, quals: Quals::default() }, place.span);
    let old = Expr { kind: ExprKind::Load(place.clone()), ty, span };
    let old = Expr { kind: ExprKind::Cast(Box::new(old)), ty: compute, span };
    let new = ExprKind::Binary(op, Box::new(old), Box::new(value.clone()));
    let new = Expr { kind: new, ty: compute, span };
    Expr { kind: ExprKind::Cast(Box::new(new)), ty, span }
}

/// The scalar that a place is, or the object that it is part of.
fn variable_of(unit: &TranslationUnit, place: &Place) -> Option<VarId> {
    is_scalar(unit, place).or_else(|| private::part(&unit.types, place).map(|part| part.var))
}
