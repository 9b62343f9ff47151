//! Host code of one loop: what all of it needs of the loop's names and values, and how its parts come together. The worker, the tables, the guard,
//! inspections and kernels are in modules of their own. How an entry is made at run time is in `codegen::recipe`, what is worth generating at
//! all in `codegen::worth`.

use super::body::macros::{
    ACCESSES_DIRECT, ACCESSES_TYPED, MACROS_DEVICE, MACROS_DIRECT, MACROS_END, MACROS_INSPECT,
    MACROS_INSPECT_END, MACROS_ONE_BY_ONE, MACROS_SEARCH, MACROS_SEARCH_END, MACROS_THREADS,
    TRAPS_END_SEARCH, TRAPS_SAY_NOTHING,
};
use super::body::{self, Purpose, invariant, variable};
use super::once;
use super::types::{Scalar, integer, literal, scalar};
use super::worth;
use crate::c::hir::*;
use crate::loops::nest;
use crate::loops::options::CodegenOptions;
use crate::loops::plan::*;
use crate::loops::scalars::is_scalar;
use std::collections::BTreeSet;
use std::fmt::Write;

mod addresses;
mod direct;
mod facts;
mod guard;
mod inspect;
mod kernel;
mod results;
mod search;
mod trip;

use facts::Functions;
use guard::names_mean_the_same;
pub use guard::{Guard, stays_untouched};
use kernel::Flavour;
use results::results_of;
pub(super) use results::{Gives, ResultSlot};

/// Generated text of one loop.
pub struct LoopCode {
    /// For the start of the unit.
    pub helpers: String,
    /// For the loop.
    pub guard: Guard,
    /// The device texts.
    pub kernels: Vec<String>,
    /// Whether the helpers have a function for the threads device.
    pub checked: bool,
}

type Printed<T> = Result<T, String>;

pub(super) struct Emitter<'a> {
    pub unit: &'a TranslationUnit,
    pub plan: &'a LoopPlan,
    /// What the loop's names end with.
    pub n: String,
    pub results: Vec<ResultSlot>,
    /// Objects whose addresses are needed: those of bases, and of memory read at entry.
    pub objects: Vec<VarId>,
    /// Whether an invariant has a type; pointers and integers only.
    pub invariant_kinds: Vec<Scalar>,
    /// Secondary induction variables and how far each iteration moves them.
    pub secondary: Vec<(VarId, Bound)>,
    /// Those among them that the loop's head moves, so that the body alone leaves them behind.
    moved_by_head: BTreeSet<VarId>,
    /// Whether it is a part of a distributed loop.
    is_part: bool,
    /// `-fparagon-doubt`.
    doubt: bool,
}

/// Generates everything for one plan.
pub fn loop_code(
    unit: &TranslationUnit,
    report: &LoopReport,
    plan: &LoopPlan,
    the_loop: &LoopStmt,
    options: &CodegenOptions,
) -> Printed<LoopCode> {
    let threshold = worth::threshold(plan, options);
    if worth::is_never_long_enough(unit, plan, options) {
        return Err("it is never long enough to be entered".into());
    }
    if plan.parts.is_empty() {
        let Piece { emitter, mut helpers, kernel, checked } =
            piece(unit, report, plan, the_loop, options, None, threshold)?;
        emitter.try_function(&mut helpers)?;
        let guard = emitter.guard(the_loop, threshold)?;
        return Ok(LoopCode { helpers, guard, kernels: vec![kernel], checked });
    }
    let mut code =
        LoopCode { helpers: String::new(), guard: Guard::default(), kernels: Vec::new(), checked: false };
    let mut parts = Vec::new();
    for (number, part) in plan.parts.iter().enumerate() {
        let report = LoopReport { verdict: part.verdict, check: part.check, ..report.clone() };
        // Who enters the whole enters all parts.
        let piece = piece(unit, &report, &part.plan, the_loop, options, Some(number), 1)?;
        code.helpers.push_str(&piece.helpers);
        code.kernels.push(piece.kernel);
        code.checked |= piece.checked;
        parts.push(piece.emitter);
    }
    let whole = Emitter::new(unit, plan, the_loop, &the_loop.body, options, None)?;
    let _ = writeln!(code.helpers, "{}}}", whole.direct_head());
    code.helpers.push_str(&whole.recipe()?);
    whole.facts(report, None, threshold, &mut code.helpers);
    whole.try_parts(&parts, &mut code.helpers)?;
    code.guard = whole.guard(the_loop, threshold)?;
    Ok(code)
}

/// What is generated of a loop wherever it is entered from.
struct Piece<'a> {
    emitter: Emitter<'a>,
    helpers: String,
    kernel: String,
    checked: bool,
}

fn piece<'a>(
    unit: &'a TranslationUnit,
    report: &LoopReport,
    plan: &'a LoopPlan,
    the_loop: &LoopStmt,
    options: &CodegenOptions,
    part: Option<usize>,
    threshold: i64,
) -> Printed<Piece<'a>> {
    // What is printed is the loop with variables for the places that it keeps; what stands in the user's text is `the_loop`.
    let mut innermost = plan.held.as_deref().unwrap_or(the_loop);
    while innermost.id != plan.dims[plan.dims.len() - 1].loop_id {
        innermost = inner_loop(&innermost.body).ok_or("a nest that is not perfect")?;
    }
    let body = body::print(unit, plan, &innermost.body, Purpose::Iterations)?;
    let emitter = Emitter::new(unit, plan, the_loop, &innermost.body, options, part)?;
    // Of a loop that is only searched no iteration runs anywhere.
    let runs = plan.search.is_none() || plan.keeps_something();
    let checked = runs && worth::checked_threads(report, plan, options);
    let strip = body::print_strip(unit, plan, &innermost.body, &emitter.strip_head())?;
    let direct = match &strip {
        _ if !runs => format!(
            "{}(void)__pg_e;\n(void)__pg_r;\n(void)__pg_begin;\n(void)__pg_end;\n}}\n",
            emitter.direct_head()
        ),
        Some(strip) => emitter.direct_in_strips(strip),
        None => {
            let count = format!("__pg_n{}", plan.dims.len() - 1);
            let block = body::blocks::dimension(unit, plan, innermost, &count)?;
            emitter.direct(&body, block.as_deref())
        }
    };
    let accesses = if plan.keeps_pointers { ACCESSES_TYPED } else { ACCESSES_DIRECT };
    let mut helpers = format!("{accesses}{MACROS_DIRECT}{MACROS_ONE_BY_ONE}{direct}{MACROS_END}");
    if checked {
        let device = emitter.device(&body, Flavour::Threads);
        let _ = write!(helpers, "{MACROS_DEVICE}{MACROS_THREADS}{MACROS_ONE_BY_ONE}{device}{MACROS_END}");
    }
    let device = if runs { emitter.device(&body, Flavour::Cuda) } else { String::new() };
    let inspection = plan.inspection.as_ref().filter(|_| worth::inspecting(unit, the_loop, options));
    if let Some(inspection) = inspection {
        let slice = body::print(unit, plan, &innermost.body, Purpose::Inspection(inspection))?;
        let _ = write!(
            helpers,
            "{MACROS_INSPECT}{}{MACROS_INSPECT_END}",
            emitter.inspect(inspection, &innermost.body, &slice)
        );
    }
    if let Some(search) = &plan.search {
        let slice = body::print(unit, plan, &innermost.body, Purpose::Inspection(search))?;
        let traps = if search.may_trap { TRAPS_END_SEARCH } else { TRAPS_SAY_NOTHING };
        let _ = write!(helpers, "{traps}{MACROS_SEARCH}{}{MACROS_SEARCH_END}", emitter.search(&slice));
        let sites: String = emitter.searched(search).iter().map(|site| format!("{site}, ")).collect();
        if !sites.is_empty() {
            let _ = writeln!(helpers, "static const __pg_u32 __pg_searched_{}[] = {{{sites}}};", emitter.n);
        }
    }
    // Only a GPU asks for it.
    let deciding = match &plan.inspection {
        Some(inspection) => Some(inspection).filter(|slice| slice.decides_all),
        None => plan.deciding.as_ref(),
    };
    let deciding = deciding.filter(|_| plan.cuda_exact && plan.privatization.bases.is_empty());
    if let Some(followed) = inspection.or(deciding) {
        let keys: String = emitter.keys(followed).iter().map(|slot| format!("{slot}, ")).collect();
        let keys = if keys.is_empty() { "0" } else { &keys };
        let _ = writeln!(helpers, "static const __pg_u32 __pg_keys_{}[] = {{{keys}}};", emitter.n);
    }
    let recipe = emitter.recipe()?;
    helpers.push_str(&recipe);
    let own = Functions {
        device: &device,
        group: body.group.as_ref(),
        has_turns: body.has_turns,
        asks_kept: body.asks_kept,
        may_spread: body.lends && may_spread(plan),
        shares: body.shares,
        stores: once::stores(unit, plan, &innermost.body),
        stores_members: once::stores_members(plan, &innermost.body),
        checked,
        inspection,
        deciding,
    };
    let kernel = emitter.facts(report, Some(own), threshold, &mut helpers);
    Ok(Piece { emitter, helpers, kernel, checked })
}

/// Whether all that an iteration leaves behind is in what it stores: then it makes no difference how many lanes run it.
fn may_spread(plan: &LoopPlan) -> bool {
    let goes_on = !plan.prelude.variables.is_empty() || !plan.prelude.statements.is_empty();
    !goes_on && plan.parts.is_empty() && !plan.scalars.values().any(ScalarRole::is_result)
}

fn inner_loop(body: &Stmt) -> Option<&LoopStmt> {
    match &body.kind {
        StmtKind::Loop(l) => Some(l),
        StmtKind::Block(list) => list.iter().find_map(inner_loop),
        _ => None,
    }
}

impl<'a> Emitter<'a> {
    /// For a plan of the loop in the user's text; `body` is what the innermost of its dimensions runs, `part` the number of the
    /// part that it is of a distributed loop.
    fn new(
        unit: &'a TranslationUnit,
        plan: &'a LoopPlan,
        the_loop: &LoopStmt,
        body: &Stmt,
        options: &CodegenOptions,
        part: Option<usize>,
    ) -> Printed<Emitter<'a>> {
        let results = results_of(unit, plan)?;
        let secondary = plan.scalars.iter().filter_map(|(v, role)| match role {
            ScalarRole::Secondary { step } => Some((*v, step.clone())),
            _ => None,
        });
        let mut moved_by_head = BTreeSet::new();
        // Conditions that stand beside the one that counts belong to the body.
        let head = plan.held.as_deref().filter(|_| plan.search.is_some()).unwrap_or(the_loop);
        for head in [&head.step, &head.cond].into_iter().flatten() {
            nest::expressions(head, &mut |e| {
                if let Some((place, _, true)) = nest::accessed_place(e) {
                    moved_by_head.extend(nest::root_variable(place));
                }
            });
        }
        let mut objects = BTreeSet::new();
        for base in &plan.bases {
            if let Base::Object { var, .. } = base {
                objects.insert(*var);
            }
        }
        let mut at_entry: Vec<&Expr> =
            plan.invariants.iter().chain(plan.pinned.iter().map(|p| &p.address)).collect();
        for dim in &plan.dims {
            at_entry.extend([&dim.first, &dim.limit]);
        }
        at_entry.extend(plan.starts.iter().map(|start| &start.value));
        let over = plan.interchange.iter().flat_map(|interchange| &interchange.over);
        at_entry.extend(over.map(|over| &over.test));
        for e in at_entry {
            nest::expressions(e, &mut |e| {
                if let ExprKind::Load(p) | ExprKind::AddressOf(p) = &e.kind
                    && is_scalar(unit, p).is_none()
                    && let Some(v) = nest::root_variable(p)
                {
                    objects.insert(v);
                }
            });
        }
        // Addresses in the body that no site has (an address that is only computed).
        nest::all_expressions(body, &mut |e| {
            if let ExprKind::AddressOf(p) = &e.kind
                && let Some(v) = nest::root_variable(p)
                && !plan.private.contains_key(&v)
            {
                objects.insert(v);
            }
        });
        names_mean_the_same(unit, the_loop, &objects)?;
        let invariant_kinds =
            plan.invariants.iter().map(|e| scalar(&unit.types, e.ty.ty)).collect::<Printed<Vec<_>>>()?;
        Ok(Emitter {
            unit,
            plan,
            n: part.map_or_else(|| plan.loop_id.0.to_string(), |part| format!("{}_{part}", plan.loop_id.0)),
            results,
            objects: objects.into_iter().collect(),
            invariant_kinds,
            secondary: secondary.collect(),
            moved_by_head,
            is_part: part.is_some(),
            doubt: options.doubt,
        })
    }

    pub fn kind_of(&self, v: VarId) -> Scalar {
        scalar(&self.unit.types, self.unit.var(v).ty.ty).unwrap_or(Scalar::Address)
    }

    /// Field of a value union for a scalar.
    pub fn unpack(kind: Scalar, slot: &str) -> String {
        match kind {
            Scalar::F32 => format!("{slot}.__pg_f"),
            Scalar::F64 => format!("{slot}.__pg_d"),
            other => format!("({}){slot}.__pg_u", other.name()),
        }
    }

    /// Assignment of a scalar into a value union; integers are extended by their type.
    pub fn pack(kind: Scalar, slot: &str, value: &str) -> String {
        match kind {
            Scalar::F32 => format!("{slot}.__pg_u = 0; {slot}.__pg_f = {value};"),
            Scalar::F64 => format!("{slot}.__pg_d = {value};"),
            Scalar::Int(k) if k.signed() => format!("{slot}.__pg_i = (__pg_i64)({value});"),
            _ => format!("{slot}.__pg_u = (__pg_u64)({value});"),
        }
    }

    /// [`Self::pack`] of an integer.
    pub fn pack_integer(kind: IntKind, slot: &str, value: &str) -> String {
        Self::pack(Scalar::Int(kind), slot, value)
    }

    /// Live-ins, invariants and where induction variables start, as constants of the enclosing function; a compiler could
    /// not know that no store changes them where they lie. `source` is the array of values.
    fn prologue(&self, source: &str) -> String {
        let mut text = String::new();
        for (slot, v) in self.plan.live_ins.iter().enumerate() {
            let kind = self.kind_of(*v);
            let value = Self::unpack(kind, &format!("{source}[{slot}]"));
            let _ = writeln!(text, "const {} {} = {value};", kind.name(), variable(*v));
        }
        let first = self.plan.live_ins.len();
        for (number, kind) in self.invariant_kinds.iter().enumerate() {
            let value = Self::unpack(*kind, &format!("{source}[{}]", first + number));
            let _ = writeln!(text, "const {} {} = {value};", kind.name(), invariant(number));
        }
        let after = first + self.invariant_kinds.len();
        for (number, v) in self.objects.iter().enumerate() {
            let _ = writeln!(text, "const __pg_u64 __pg_o{} = {source}[{}].__pg_u;", v.0, after + number);
        }
        for dim in 0..self.plan.dims.len() {
            let _ =
                writeln!(text, "const __pg_i64 __pg_first{dim} = {source}[{}].__pg_i;", self.first_slot(dim));
        }
        for number in 0..self.secondary.len() {
            let slot = self.secondary_slot(number);
            let _ = writeln!(text, "const __pg_u64 __pg_start{number} = {source}[{slot}].__pg_u;");
            let _ = writeln!(text, "const __pg_u64 __pg_step{number} = {source}[{}].__pg_u;", slot + 1);
        }
        text
    }

    fn locals(&self, body: &body::Body, initial: &dyn Fn(&ResultSlot, usize) -> Option<String>) -> String {
        let mut text = String::new();
        for (ty, name) in &body.locals {
            let _ = writeln!(text, "{ty} {name} = 0;");
        }
        for (ty, name) in self.scalars_of_iterations() {
            let _ = writeln!(text, "{ty} {name} = 0;");
        }
        for (slot, r) in self.results.iter().enumerate() {
            let value = initial(r, slot).unwrap_or_else(|| "0".into());
            let _ = writeln!(text, "{} {} = {value};", r.kind.name(), r.name);
        }
        if self.results.iter().any(|r| r.gives == Gives::Setter) {
            text.push_str("__pg_u64 __pg_now = 0;\n");
        }
        text
    }

    /// Variables of the loop whose values are each iteration's own: type and name.
    fn scalars_of_iterations(&self) -> Vec<(String, String)> {
        let is_own = |role: &ScalarRole| match role {
            ScalarRole::Induction { dim, .. } => !self.plan.dims[*dim].is_counter,
            ScalarRole::Secondary { .. } | ScalarRole::Private { last_value: false } => true,
            _ => false,
        };
        let own = self.plan.scalars.iter().filter(|(_, role)| is_own(role));
        own.map(|(v, _)| (self.kind_of(*v).name().to_owned(), variable(*v))).collect()
    }

    /// Accumulated results, in their order.
    fn accumulated(&self) -> impl Iterator<Item = &ResultSlot> {
        self.results.iter().filter(|r| matches!(r.gives, Gives::Accumulation(_)))
    }

    /// What functions are marked with that keep to an order of floating-point operations, whatever the user's flags allow, and in
    /// which numbers may be what the user's never are: an extreme's parts begin with an infinity or a NaN.
    fn exact(&self) -> &'static str {
        let in_parts = |r: &ResultSlot| r.gives.is_in_parts() && matches!(r.kind, Scalar::F32 | Scalar::F64);
        if self.results.iter().any(in_parts) || self.plan.interchange.is_some() { "__PG_EXACT " } else { "" }
    }

    /// `iv = first + k * step`, in the variable's type.
    fn induction(&self, dim: usize, k: &str) -> String {
        let d = &self.plan.dims[dim];
        if d.is_counter {
            return String::new();
        }
        let kind = d.iv_kind.unwrap_or(IntKind::Long);
        format!(
            "{} = ({})(__pg_first{dim} + (__pg_i64)({k}) * {});\n",
            variable(d.iv),
            integer(kind),
            literal(d.step)
        )
    }

    /// How an induction variable goes from one iteration to the next in its own type: then the compiler knows as much of the
    /// addresses as it does in the user's loop. It never wraps around; see `struct __pg_dim`.
    fn next_induction(&self, dim: usize) -> String {
        let d = &self.plan.dims[dim];
        let kind = d.iv_kind.unwrap_or(IntKind::Long);
        match d.is_counter {
            true => String::new(),
            false => format!(", {} += ({})({})", variable(d.iv), integer(kind), literal(d.step)),
        }
    }

    pub fn first_slot(&self, dim: usize) -> usize {
        self.plan.live_ins.len() + self.invariant_kinds.len() + self.objects.len() + dim
    }

    /// Those secondary induction variables where iteration `k` starts, like [`Self::induction`].
    fn secondary(&self, k: &str, which: impl Fn(&VarId) -> bool) -> String {
        let mut text = String::new();
        for (number, (v, _)) in self.secondary.iter().enumerate().filter(|(_, (v, _))| which(v)) {
            let _ = writeln!(
                text,
                "{} = ({})(__pg_start{number} + (__pg_u64)({k}) * __pg_step{number});",
                variable(*v),
                self.kind_of(*v).name(),
            );
        }
        text
    }

    /// Each has two value slots: its value at entry and its step.
    pub fn secondary_slot(&self, number: usize) -> usize {
        self.first_slot(self.plan.dims.len()) + 2 * number
    }

    pub fn n_values(&self) -> usize {
        self.secondary_slot(self.secondary.len())
    }

    /// All that the loop hands over: see `struct __pg_recipe`.
    pub fn n_numbers(&self) -> usize {
        self.n_values() + self.results.len() + self.plan.dims.len() + self.plan.pinned.len()
    }

    /// The settings of the first clause that matter: other variables are assigned in every iteration.
    pub fn needed_starts(&self) -> impl Iterator<Item = &Start> {
        self.plan.starts.iter().filter(|start| {
            let needed = |role: &ScalarRole| role.goes_on() || matches!(role, ScalarRole::Secondary { .. });
            self.plan.scalars.get(&start.var).is_some_and(needed)
                || self.plan.prelude.variables.contains(&start.var)
        })
    }

    /// Whether the loop's first clause declares a variable, so that it has no name outside of the loop.
    pub fn is_declared_first(&self, v: VarId) -> bool {
        self.plan.starts.iter().any(|start| start.var == v && start.declared)
            || self.plan.dims.iter().any(|dim| dim.iv == v && dim.iv_local)
    }

    /// The variables that have their values of the loop afterwards: how they are handed over, and in which of the numbers.
    pub fn given_back(&self) -> Vec<(VarId, Scalar, usize)> {
        let plan = self.plan;
        let inductions = plan.scalars.iter().filter_map(|(v, role)| match role {
            ScalarRole::Induction { dim, live_out: true } if !plan.dims[*dim].is_counter => {
                let kind = Scalar::Int(plan.dims[*dim].iv_kind.unwrap_or(IntKind::Long));
                Some((*v, kind, self.first_slot(*dim)))
            }
            _ => None,
        });
        let results = self.results.iter().enumerate();
        let results = results.filter_map(|(slot, r)| Some((r.var?, self.n_values() + slot)));
        let moved = self.secondary.iter().enumerate().map(|(n, (v, _))| (*v, self.secondary_slot(n)));
        let has_name = |v: VarId| plan.search.is_some() || !self.is_declared_first(v);
        let others = results.chain(moved).filter(|(v, _)| has_name(*v));
        inductions.chain(others.map(|(v, slot)| (v, self.kind_of(v), slot))).collect()
    }

    /// What the function behind the guard is given: type, name there, and argument.
    pub fn parameters(&self) -> Vec<(String, String, String)> {
        // (type, name in generated text, argument at the loop)
        let mut out = Vec::new();
        let reductions =
            self.results.iter().filter(|r| r.gives != Gives::Last).filter_map(|r| r.var.as_ref());
        let secondary = self.secondary.iter().map(|(v, _)| v);
        let carried = &self.plan.prelude.variables;
        for v in self.plan.live_ins.iter().chain(reductions).chain(secondary).chain(carried) {
            if self.plan.starts.iter().any(|start| start.var == *v) {
                continue;
            }
            let kind = self.kind_of(*v);
            let name = &self.unit.var(*v).name;
            let argument = match kind {
                Scalar::Address => format!("(__pg_u64)(__pg_address)({name})"),
                _ => name.clone(),
            };
            out.push((kind.name().to_owned(), variable(*v), argument));
        }
        for v in &self.objects {
            out.push(("__pg_u64".into(), format!("__pg_o{}", v.0), self.address_of(*v)));
        }
        out
    }
}
