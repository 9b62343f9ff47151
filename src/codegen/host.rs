//! Host code of one loop: static facts, the worker, the threads kernel, the CUDA text, and the guard that stands at the
//! loop. How an entry is made at run time is in `codegen::recipe`, what is worth generating at all in `codegen::worth`.

use super::body::macros::{
    MACROS_DEVICE, MACROS_DIRECT, MACROS_END, MACROS_INSPECT, MACROS_INSPECT_END, MACROS_ONE_BY_ONE,
    MACROS_THREADS,
};
use super::body::{self, Purpose, variable};
use super::group::Group;
use super::once;
use super::stub::escape;
use super::types::{self, Scalar, integer, literal, scalar};
use super::worth;
use crate::c::hir::*;
use crate::loops::nest;
use crate::loops::options::CodegenOptions;
use crate::loops::plan::*;
use crate::loops::private;
use crate::loops::scalars::is_scalar;
use std::collections::BTreeSet;
use std::fmt::Write;

mod kernel;

use kernel::Flavour;

/// Generated text of one loop.
pub struct LoopCode {
    /// For the start of the unit.
    pub helpers: String,
    /// For the loop.
    pub guard: String,
    /// The device texts.
    pub kernels: Vec<String>,
    /// Whether the helpers have a function for the threads device.
    pub checked: bool,
}

type Printed<T> = Result<T, String>;

/// A scalar that comes back.
pub(super) struct ResultSlot {
    /// Its name in generated text.
    pub name: String,
    /// The program's variable that gets it; `None`: nothing of the program's.
    pub var: Option<VarId>,
    /// The place in memory that gets it, by its number in [`LoopPlan::kept`].
    pub kept: Option<usize>,
    pub kind: Scalar,
    pub gives: Gives,
}

/// What a result is of a loop's iterations.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Gives {
    Last,
    Reduction(ReductionOp),
    Accumulation(ReductionOp),
    /// With so many results behind it that go with it.
    Extreme(Taking, usize),
    /// The iteration that set the extreme in front of it.
    Setter,
    Companion,
    /// 1 if what an iteration hands to the next is in the results already: on the calling thread, which runs all of them. 0
    /// (what results start from elsewhere) where a thread begins in the middle.
    GoesOn,
}

impl Gives {
    /// Whether each part of the iterations has one of its own.
    fn is_in_parts(self) -> bool {
        !matches!(self, Gives::Last | Gives::Reduction(_) | Gives::GoesOn)
    }
    /// Fields of `struct __pg_result` besides the type: operation, how, with.
    fn facts(self) -> [String; 3] {
        let plain = |op: &str| [op.to_string(), "0".into(), "0".into()];
        match self {
            Gives::Last | Gives::GoesOn => plain("PG_LAST"),
            Gives::Reduction(op) | Gives::Accumulation(op) => plain(types::operation(op)),
            Gives::Extreme(taking, with) => ["PG_EXTREME".into(), types::taking(taking), with.to_string()],
            Gives::Setter | Gives::Companion => plain("PG_FOLLOWS"),
        }
    }
}

/// All results of a plan: an extreme is followed by what goes with it.
fn results_of(unit: &TranslationUnit, plan: &LoopPlan) -> Printed<Vec<ResultSlot>> {
    let mut results = Vec::new();
    for (var, role) in &plan.scalars {
        let slot = |var: VarId, gives: Gives| -> Printed<ResultSlot> {
            let kind = scalar(&unit.types, unit.var(var).ty.ty)?;
            let kept = plan.kept.iter().position(|kept| kept.var == var);
            Ok(ResultSlot { name: variable(var), var: kept.is_none().then_some(var), kept, kind, gives })
        };
        match role {
            ScalarRole::Reduction { op, .. } => results.push(slot(*var, Gives::Reduction(*op))?),
            ScalarRole::Accumulation { op } => results.push(slot(*var, Gives::Accumulation(*op))?),
            ScalarRole::Private { last_value: true } => results.push(slot(*var, Gives::Last)?),
            ScalarRole::Extreme { taking } => {
                let own = ScalarRole::Companion { of: *var };
                let companions: Vec<VarId> =
                    plan.scalars.iter().filter(|(_, role)| **role == own).map(|(v, _)| *v).collect();
                results.push(slot(*var, Gives::Extreme(*taking, 1 + companions.len()))?);
                results.push(ResultSlot {
                    name: body::taken_by(*var),
                    var: None,
                    kept: None,
                    kind: Scalar::Int(IntKind::ULongLong),
                    gives: Gives::Setter,
                });
                for companion in companions {
                    results.push(slot(companion, Gives::Companion)?);
                }
            }
            _ => {}
        }
    }
    if !plan.prelude.variables.is_empty() {
        let kind = Scalar::Int(IntKind::ULongLong);
        results.push(ResultSlot { name: GOES_ON.into(), var: None, kept: None, kind, gives: Gives::GoesOn });
    }
    Ok(results)
}

/// The local variable of [`Gives::GoesOn`].
const GOES_ON: &str = "__pg_goes_on";

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
    if worth::most_iterations(unit, plan).is_some_and(|most| most < i128::from(threshold)) {
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
        LoopCode { helpers: String::new(), guard: String::new(), kernels: Vec::new(), checked: false };
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
    let checked = worth::checked_threads(report, plan, options);
    let strip = body::print_strip(unit, plan, &innermost.body, &emitter.strip_head())?;
    let direct = match &strip {
        Some(strip) => emitter.direct_in_strips(strip),
        None => emitter.direct(&body),
    };
    let mut helpers = format!("{MACROS_DIRECT}{MACROS_ONE_BY_ONE}{direct}{MACROS_END}");
    if checked {
        let device = emitter.device(&body, Flavour::Threads);
        let _ = write!(helpers, "{MACROS_DEVICE}{MACROS_THREADS}{MACROS_ONE_BY_ONE}{device}{MACROS_END}");
    }
    let device = emitter.device(&body, Flavour::Cuda);
    let inspection = plan.inspection.as_ref().filter(|_| worth::inspecting(unit, the_loop, options));
    if let Some(inspection) = inspection {
        let slice = body::print(unit, plan, &innermost.body, Purpose::Inspection(inspection))?;
        let _ =
            write!(helpers, "{MACROS_INSPECT}{}{MACROS_INSPECT_END}", emitter.inspect(inspection, &slice));
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

/// What a loop has been generated, besides the worker.
#[derive(Clone, Copy)]
struct Functions<'a> {
    device: &'a str,
    /// What iterations have in common where a thread of the GPU runs several together.
    group: Option<&'a Group>,
    /// Whether some inner loop is run some turns at once.
    has_turns: bool,
    /// Whether the text asks which arrays nothing stores to.
    asks_kept: bool,
    /// Whether several lanes may run an iteration together, of which one stores.
    may_spread: bool,
    /// Whether they take turns of some inner loop side by side.
    shares: bool,
    /// Whether an iteration stores to a location once at most, as far as the text tells.
    stores: once::Stores,
    /// Whether it stores to several members of an element.
    stores_members: bool,
    /// Whether there is a function for the threads device.
    checked: bool,
    inspection: Option<&'a Inspection>,
    /// What decides all addresses that aren't affine.
    deciding: Option<&'a Inspection>,
}

/// Whether all that an iteration leaves behind is in what it stores: then it makes no difference how many lanes run it.
fn may_spread(plan: &LoopPlan) -> bool {
    let goes_on = !plan.prelude.variables.is_empty() || !plan.prelude.statements.is_empty();
    !goes_on && plan.parts.is_empty() && !plan.scalars.values().any(ScalarRole::is_result)
}

/// Whether the guard, which stands in front of the loop, can name the objects that the loop names: a declaration in the loop
/// (of a static array, or `extern`) may be what makes the name mean them.
fn names_mean_the_same(
    unit: &TranslationUnit,
    the_loop: &LoopStmt,
    objects: &BTreeSet<VarId>,
) -> Printed<()> {
    let whole = the_loop.keyword_span.start..the_loop.body.span.end;
    let mut declares = objects.iter().any(|v| whole.contains(&unit.var(*v).span.start));
    nest::statements(&the_loop.body, &mut |s| {
        declares |=
            !objects.is_empty() && matches!(s.kind, StmtKind::Declaration) && whole.contains(&s.span.start);
    });
    if declares { Err("a declaration in it may give names another meaning".into()) } else { Ok(()) }
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
        for head in [&the_loop.step, &the_loop.cond].into_iter().flatten() {
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
            let _ = writeln!(text, "const {} __pg_i{number} = {value};", kind.name());
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

    /// The loop that is outermost in an interchanged nest, over the iterations that are asked for.
    fn strip_head(&self) -> String {
        let (first, next) = (self.induction(0, "__pg_begin"), self.next_induction(0));
        format!("{first}for (__pg_k0 = __pg_begin; __pg_k0 < __pg_end; __pg_k0++{next}) {{\n")
    }

    /// The worker of an interchanged nest. It keeps the order of the source within the iterations that are asked for: rows of
    /// arrays are as near as they are there.
    fn direct_in_strips(&self, strip: &body::Body) -> String {
        let mut text = self.direct_head();
        text.push_str(&self.prologue("__pg_e->values"));
        text.push_str("__pg_i64 __pg_k0 = 0;\n");
        text.push_str(&self.locals(strip, &|r, slot| Some(Self::unpack(r.kind, &format!("__pg_r[{slot}]")))));
        text.push_str("(void)__pg_r;\n");
        text.push_str(&strip.text);
        for (slot, r) in self.results.iter().enumerate() {
            let _ = writeln!(text, "{}", Self::pack(r.kind, &format!("__pg_r[{slot}]"), &r.name));
        }
        text.push_str("}\n");
        text
    }

    fn direct_head(&self) -> String {
        format!(
            "static __attribute__((__unused__)) {}void __pg_direct_{}(const struct __pg_entry *__pg_e, __pg_value *__pg_r, \
             __pg_i64 __pg_begin, __pg_i64 __pg_end)\n{{\n",
            self.exact(),
            self.n
        )
    }

    /// The worker: source order on host memory.
    fn direct(&self, body: &body::Body) -> String {
        let mut text = self.direct_head();
        text.push_str(&self.prologue("__pg_e->values"));
        // Where a snapshot or a thread's own copy lies, as seen from the array; at the array itself where iterations run in source
        // order.
        let from_snapshot: BTreeSet<BaseId> =
            self.plan.sites.iter().filter(|site| site.may_use_snapshot).map(|site| site.base).collect();
        for base in from_snapshot.union(&self.plan.privatization.bases) {
            let _ = writeln!(text, "const __pg_u64 __pg_s{0} = __pg_e->bases[{0}].snapshot;", base.0);
        }
        let innermost = self.plan.dims.len() - 1;
        for dim in 0..=innermost {
            let _ = writeln!(text, "__pg_i64 __pg_k{dim} = 0;");
            if dim > 0 {
                let _ = writeln!(text, "const __pg_i64 __pg_n{dim} = __pg_e->trip[{dim}];");
            }
        }
        text.push_str(&self.locals(body, &|r, slot| Some(Self::unpack(r.kind, &format!("__pg_r[{slot}]")))));
        text.push_str(&self.lanes_in());
        text.push_str("(void)__pg_r;\n");
        // The body moves them on, iteration by iteration, or what stands for the head does. Then the compiler sees what it
        // would have seen in the loop, and has no more to do than there.
        text.push_str(&self.secondary("__pg_begin", |_| true));
        // From there on each iteration leaves to the next what it needs. Only a loop that is proven begins in the middle: where
        // it isn't, memory may have changed since the iteration before, and that has left the value.
        if !body.prelude.is_empty() {
            let first = self.induction(0, "__pg_begin");
            let begins = format!("if (!{GOES_ON} && __pg_begin < __pg_end)");
            let _ = writeln!(text, "{begins} {{\n{first}{}}}", body.prelude);
        }
        for dim in 0..=innermost {
            let (first, end) = match dim {
                0 => ("__pg_begin".to_string(), "__pg_end".to_string()),
                _ => ("0".to_string(), format!("__pg_n{dim}")),
            };
            let k = format!("__pg_k{dim}");
            text.push_str(&self.induction(dim, &first));
            let next = format!("{k}++{}", self.next_induction(dim));
            if dim == innermost && self.accumulated().next().is_some() {
                // By the lanes of each group of iterations: the compiler can compute several at once.
                let _ = writeln!(
                    text,
                    "for ({k} = {first}; {k} < {end};) {{\n\
                     __pg_i64 __pg_lane = {k} % PG_LANES, __pg_stop = {k} - __pg_lane + PG_LANES;\n\
                     if (__pg_stop > {end}) __pg_stop = {end};\n\
                     for (; {k} < __pg_stop; {next}, __pg_lane++) {{"
                );
                for r in self.accumulated() {
                    let _ = writeln!(text, "{} = {}_in[__pg_lane];", r.name, r.name);
                }
            } else {
                let _ = writeln!(text, "for ({k} = {first}; {k} < {end}; {next}) {{");
            }
        }
        if self.results.iter().any(|r| r.gives == Gives::Setter) {
            text.push_str("__pg_now = (__pg_u64)__pg_k0 + 1;\n");
        }
        text.push_str(&body.text);
        if self.accumulated().next().is_some() {
            for r in self.accumulated() {
                let _ = writeln!(text, "{}_in[__pg_lane] = {};", r.name, r.name);
            }
            if innermost > 0 {
                text.push_str("}\n");
            }
        }
        text.push_str(&"}\n".repeat(innermost));
        for (number, (v, step)) in self.secondary.iter().enumerate() {
            if self.moved_by_head.contains(v) {
                let step = match step {
                    Bound::Const(step) => literal(*step),
                    _ => format!("__pg_step{number}"),
                };
                let (name, kind) = (variable(*v), self.kind_of(*v).name());
                let _ = writeln!(text, "{name} = ({kind})((__pg_u64){name} + (__pg_u64){step});");
            }
        }
        if innermost == 0 && self.accumulated().next().is_some() {
            text.push_str("}\n");
        }
        text.push_str("}\n");
        for (slot, r) in self.results.iter().enumerate() {
            if !matches!(r.gives, Gives::Accumulation(_)) {
                let _ = writeln!(text, "{}", Self::pack(r.kind, &format!("__pg_r[{slot}]"), &r.name));
            }
        }
        text.push_str(&self.lanes_out());
        text.push_str("}\n");
        text
    }

    /// A variable of the function's own for each lane: the compiler knows that no address of the program's leads there.
    fn lanes_in(&self) -> String {
        let mut text = String::new();
        for r in self.accumulated() {
            let _ = writeln!(text, "{} {}_in[PG_LANES];", r.kind.name(), r.name);
        }
        self.for_lanes(&mut text, &|r, slot| {
            format!("{}_in[__pg_lane] = {};", r.name, Self::unpack(r.kind, slot))
        });
        text
    }

    fn lanes_out(&self) -> String {
        let mut text = String::new();
        self.for_lanes(&mut text, &|r, slot| Self::pack(r.kind, slot, &format!("{}_in[__pg_lane]", r.name)));
        text
    }

    fn for_lanes(&self, text: &mut String, each: &dyn Fn(&ResultSlot, &str) -> String) {
        if self.accumulated().next().is_none() {
            return;
        }
        text.push_str("{\n__pg_i64 __pg_lane;\nfor (__pg_lane = 0; __pg_lane < PG_LANES; __pg_lane++) {\n");
        for (number, r) in self.accumulated().enumerate() {
            let slot = format!("__pg_r[{} + {number} * PG_LANES + __pg_lane]", self.results.len());
            let _ = writeln!(text, "{}", each(r, &slot));
        }
        text.push_str("}\n}\n");
    }

    /// The iterations that an inspection makes of a dimension: some of the outermost, all of the others.
    fn span_of(dim: usize) -> (&'static str, String) {
        if dim == 0 { ("__pg_begin", "__pg_end".into()) } else { ("0", format!("__pg_e->trip[{dim}]")) }
    }

    /// The address slice, in source order.
    fn inspect(&self, inspection: &Inspection, slice: &body::Body) -> String {
        let feeds = |site: &Site| !site.is_store && inspection.feeding.contains(&site.place);
        let meets = |id: SiteId| inspection.meeting.contains(&id) || inspection.changing.contains(&id);
        let shown = (0..64).zip(&self.plan.sites).filter(|(n, site)| meets(SiteId(*n)) || feeds(site));
        let shown = shown.map(|(number, _)| number);
        let mut text = format!(
            "static __attribute__((__unused__)) void __pg_inspect_{}(const struct __pg_entry *__pg_e, \
             struct __pg_inspector *__pg_s, __pg_i64 __pg_begin, __pg_i64 __pg_end)\n{{\n\
             const __pg_u64 __pg_known = __pg_s->known;\n__pg_u32 __pg_turns = 0;\n\
             struct {{ __pg_u64 first, length; }} __pg_w[{}] = {{{{0, 0}}}};\n(void)__pg_known;\n(void)__pg_turns;\n",
            self.n,
            self.plan.sites.len().clamp(1, 64)
        );
        text.push_str(&self.prologue("__pg_e->values"));
        for dim in 0..self.plan.dims.len() {
            let (_, end) = Self::span_of(dim);
            let _ = writeln!(text, "const __pg_i64 __pg_n{dim} = {end};\n__pg_i64 __pg_k{dim};");
        }
        text.push_str(&self.locals(slice, &|_, _| None));
        for dim in 0..self.plan.dims.len() {
            let (begin, _) = Self::span_of(dim);
            let _ =
                writeln!(text, "for (__pg_k{dim} = {begin}; __pg_k{dim} < __pg_n{dim}; __pg_k{dim}++) {{");
        }
        text.push_str("if (__pg_s->next(__pg_s)) return;\n");
        for site in shown {
            let _ = writeln!(text, "if (!(__pg_s->lasting >> {site} & 1)) __pg_w[{site}].length = 0;");
        }
        for dim in 0..self.plan.dims.len() {
            text.push_str(&self.induction(dim, &format!("__pg_k{dim}")));
        }
        text.push_str(&self.secondary("__pg_k0", |_| true));
        text.push_str(&slice.text);
        text.push_str(&"}\n".repeat(self.plan.dims.len()));
        text.push_str("}\n");
        text
    }

    /// The slots of the values that an inspection's outcome depends on, or the addresses.
    fn keys(&self, inspection: &Inspection) -> Vec<usize> {
        let (n_live_ins, n_invariants) = (self.plan.live_ins.len(), self.invariant_kinds.len());
        let objects = n_live_ins + n_invariants;
        let live_ins =
            (0..n_live_ins).filter(|slot| inspection.variables.contains(&self.plan.live_ins[*slot]));
        let invariants = inspection.invariants.iter().map(|number| n_live_ins + number);
        let addresses_and_starts = objects..self.first_slot(self.plan.dims.len());
        let secondary = (0..self.secondary.len())
            .filter(|number| inspection.variables.contains(&self.secondary[*number].0))
            .flat_map(|number| [self.secondary_slot(number), self.secondary_slot(number) + 1]);
        live_ins.chain(invariants).chain(addresses_and_starts).chain(secondary).collect()
    }

    /// Static tables, the CUDA text, the loop's writable word. Of a loop that is distributed nothing runs but its parts.
    fn facts(
        &self,
        report: &LoopReport,
        functions: Option<Functions>,
        threshold: i64,
        out: &mut String,
    ) -> String {
        let (n, plan) = (&self.n, self.plan);
        let mut on_threads = "0".to_string();
        if functions.is_some_and(|own| own.checked) {
            let exact = self.exact();
            on_threads = format!("__pg_device_{n}");
            let _ = writeln!(
                out,
                "static __attribute__((__unused__)) {exact}void __pg_device_{n}(const struct __pg_launch *__pg_l, __pg_u64 __pg_begin, \
             __pg_u64 __pg_end)\n{{\n  __pg_run_{n}(__pg_l, __pg_begin, __pg_end, 1);\n}}"
            );
        }
        let cuda = functions.map(|own| self.cuda(own.device)).unwrap_or_default();
        let _ = writeln!(out, "static const char *const __pg_cuda_{n}[] = {{");
        let mut piece = String::new();
        for line in cuda.lines() {
            piece.push_str(line);
            piece.push('\n');
            if piece.len() > 1500 {
                let _ = writeln!(out, "\"{}\",", escape(&piece));
                piece.clear();
            }
        }
        let _ = writeln!(out, "\"{}\", 0}};", escape(&piece));
        let mut sites = String::new();
        let (inspection, deciding) = functions.map_or((None, None), |own| (own.inspection, own.deciding));
        let followed = inspection.or(deciding);
        for (number, site) in plan.sites.iter().enumerate() {
            let id = SiteId(number as u32);
            let mut flags = vec!["0"];
            let mut add = |on: bool, flag: &'static str| {
                if on {
                    flags.push(flag);
                }
            };
            add(site.is_store, "PG_SITE_STORE");
            add(site.logged, "PG_SITE_LOGGED");
            add(site.covered && !site.logged, "PG_SITE_COVERED");
            add(site.unconditional, "PG_SITE_UNCONDITIONAL");
            add(site.affine.as_ref().is_some_and(|a| a.exact), "PG_SITE_EXACT");
            add(site.loads_pointer, "PG_SITE_LOADS_POINTER");
            add(site.affine.is_some(), "PG_SITE_HAS_AFFINE");
            let window = site.window.as_ref().filter(|_| site.affine.is_none()).map(|window| &window.affine);
            add(window.is_some(), "PG_SITE_HAS_WINDOW");
            add(site.affine.as_ref().or(window).is_some_and(|a| a.whole_steps), "PG_SITE_WHOLE_STEPS");
            add(site.may_change_pin, "PG_SITE_MAY_CHANGE_PIN");
            add(site.may_touch_kept, "PG_SITE_MAY_TOUCH_KEPT");
            add(site.may_use_snapshot, "PG_SITE_SNAPSHOT");
            add(plan.privatization.bases.contains(&site.base), "PG_SITE_PRIVATE");
            let is_shown = |slice: &Inspection| slice.meeting.contains(&id) || slice.changing.contains(&id);
            add(inspection.is_some_and(is_shown), "PG_SITE_INSPECTED");
            let feeds = |slice: &Inspection| !site.is_store && slice.feeding.contains(&site.place);
            add(followed.is_some_and(feeds), "PG_SITE_FEEDS");
            let _ = write!(
                sites,
                "{{{}, {}, {}, {}}}, ",
                site.base.0,
                site.width,
                flags.join(" | "),
                site.span.line
            );
        }
        if !plan.sites.is_empty() {
            let _ = writeln!(out, "static const struct __pg_site __pg_sites_{n}[] = {{{sites}}};");
        }
        let separate = &plan.privatization.separate;
        let n_pairs = plan.pairs.len() + separate.len();
        if n_pairs != 0 {
            let mut pairs: String = plan
                .pairs
                .iter()
                .map(|p| {
                    let check = if p.check == Check::Logs { "PG_CHECK_LOGS" } else { "PG_CHECK_PREDICATE" };
                    let anti = if p.is_anti { " | PG_PAIR_ANTI" } else { "" };
                    let apart = if p.is_apart { " | PG_PAIR_APART" } else { "" };
                    format!("{{{}, {}, {check}{anti}{apart}}}, ", p.a.0, p.b.0)
                })
                .collect();
            for (a, b) in separate {
                let _ = write!(pairs, "{{{}, {}, PG_CHECK_PREDICATE | PG_PAIR_APART}}, ", a.0, b.0);
            }
            let _ = writeln!(out, "static const struct __pg_pair __pg_pairs_{n}[] = {{{pairs}}};");
        }
        if !self.results.is_empty() {
            let results: String = self
                .results
                .iter()
                .map(|r| {
                    let [op, how, with] = r.gives.facts();
                    format!("{{{op}, {}, {how}, {with}}}, ", r.kind.abi_type())
                })
                .collect();
            let _ = writeln!(out, "static const struct __pg_result __pg_results_{n}[] = {{{results}}};");
        }
        let table =
            |empty: bool, name: &str| if empty { "0".to_string() } else { format!("__pg_{name}_{n}") };
        let (verdict, check) = match (report.verdict, report.check) {
            (Verdict::Parallel, _) => ("PG_PARALLEL", "PG_CHECK_NONE"),
            (_, Check::Inspector) => ("PG_POSSIBLY_PARALLEL", "PG_CHECK_INSPECTOR"),
            (_, Check::Logs) => ("PG_POSSIBLY_PARALLEL", "PG_CHECK_LOGS"),
            _ => ("PG_POSSIBLY_PARALLEL", "PG_CHECK_PREDICATE"),
        };
        let inspect = if inspection.is_some() { format!("__pg_inspect_{n}") } else { "0".to_string() };
        let keys = match followed {
            Some(followed) => format!("__pg_keys_{n}, {}", self.keys(followed).len()),
            None => "0, 0".to_string(),
        };
        let mut flags = vec!["0"];
        if !plan.updates.is_empty() {
            flags.push("PG_LOOP_UPDATES");
        }
        if plan.may_abort {
            flags.push("PG_LOOP_MAY_ABORT");
        }
        if !plan.privatization.bases.is_empty() {
            flags.push("PG_LOOP_PRIVATIZED");
        } else if plan.cuda_exact {
            flags.push("PG_LOOP_CUDA_EXACT");
        }
        if plan.free_calls {
            flags.push("PG_LOOP_FREE_CALLS");
        }
        if plan.bases.iter().any(|b| matches!(b, Base::Dynamic)) {
            flags.push("PG_LOOP_DYNAMIC");
        }
        if plan.interchange.is_some() {
            flags.push("PG_LOOP_REORDERED");
        }
        if self.is_part {
            flags.push("PG_LOOP_PART");
        }
        if functions.is_some_and(|own| own.has_turns) {
            flags.push("PG_LOOP_TURNS");
        }
        if functions.is_some_and(|own| own.asks_kept) {
            flags.push("PG_LOOP_KEPT");
        }
        if functions.is_some_and(|own| own.may_spread) {
            flags.push("PG_LOOP_SPREADS");
        }
        if functions.is_some_and(|own| own.may_spread && own.shares) {
            flags.push("PG_LOOP_SIDE_BY_SIDE");
        }
        if deciding.is_some() {
            flags.push("PG_LOOP_SLICE_DECIDES");
        }
        if functions.is_some_and(|own| own.stores != once::Stores::Often) {
            flags.push("PG_LOOP_STORES_ONCE");
        }
        if functions.is_some_and(|own| own.stores_members) {
            flags.push("PG_LOOP_MEMBERS");
        }
        if functions.is_some_and(|own| own.stores == once::Stores::Repeated) {
            flags.push("PG_LOOP_REPEATS");
        }
        if let Some(group) = functions.and_then(|own| own.group) {
            flags.push("PG_LOOP_GROUPS");
            if !group.loops.is_empty() {
                flags.push("PG_LOOP_COMMON_LOOPS");
            }
            if group.is_small {
                flags.push("PG_LOOP_SMALL");
            }
            if group.is_long {
                flags.push("PG_LOOP_LONG");
            }
            if group.is_direct {
                flags.push("PG_LOOP_DIRECT");
            }
        }
        if self.doubt {
            flags.push("PG_LOOP_DOUBTED");
        }
        let _ = writeln!(
            out,
            "static const struct __pg_info __pg_info_{n} = {{PG_ABI_VERSION, {verdict}, {check}, {}, \"{}\", \"{}\", {}, {}, {}, \
             {}, {}, {}, {}, {}, {}u, {}, {}, {}, __pg_cuda_{n}, __pg_direct_{n}, {on_threads}, &__pg_recipe_{n}, {inspect}, {keys}}};",
            flags.join(" | "),
            escape(&report.file),
            escape(&report.function),
            report.line,
            plan.dims.len(),
            self.n_values(),
            self.results.len(),
            plan.bases.len(),
            plan.sites.len(),
            n_pairs,
            plan.pinned.len(),
            plan.work,
            table(plan.sites.is_empty(), "sites"),
            table(n_pairs == 0, "pairs"),
            table(self.results.is_empty(), "results"),
        );
        let _ = writeln!(
            out,
            "static struct __pg_loop __pg_loop_{n} = {{{}, &__pg_info_{n}, 0}};",
            literal(threshold)
        );
        cuda
    }

    /// The settings of the first clause that matter: other variables are assigned in every iteration.
    pub fn needed_starts(&self) -> impl Iterator<Item = &Start> {
        self.plan.starts.iter().filter(|start| {
            let needed = |role: &ScalarRole| role.goes_on() || matches!(role, ScalarRole::Secondary { .. });
            self.plan.scalars.get(&start.var).is_some_and(needed)
                || self.plan.prelude.variables.contains(&start.var)
        })
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
            let name = &self.unit.var(*v).name;
            out.push((
                "__pg_u64".into(),
                format!("__pg_o{}", v.0),
                format!("(__pg_u64)(__pg_address)&{name}"),
            ));
        }
        out
    }

    /// How far a loop's variable goes, where that can be written in front of the loop.
    fn span(unit: &TranslationUnit, first: &Expr, limit: &Expr, step: i64) -> Option<String> {
        let (first, limit) = site_text(unit, first).zip(site_text(unit, limit))?;
        let (a, b) = if step > 0 { (limit, first) } else { (first, limit) };
        Some(format!("((__pg_i64)({a}) - (__pg_i64)({b}))"))
    }

    /// What stands in front of the loop. The user's macros are alive there, so whatever is ours has a reserved name.
    fn guard(&self, the_loop: &LoopStmt, threshold: i64) -> Printed<String> {
        let (n, plan, unit) = (&self.n, self.plan, self.unit);
        let dim = &plan.dims[0];
        let trip = match (Self::span(unit, &dim.first, &dim.limit, dim.step), dim.step.unsigned_abs()) {
            (Some(span), 1) => span,
            (Some(span), step) => format!("({span} / {step})"),
            (None, _) => literal(i64::MAX - 1),
        };
        // Where a loop that it was brought over has no iteration, its bounds may have no value.
        let mut comes_there = String::new();
        for over in plan.interchange.iter().flat_map(|interchange| &interchange.over) {
            let least = if matches!(over.relation, Relation::Le | Relation::Ge) { 0 } else { 1 };
            if let Some(span) = Self::span(unit, &over.first, &over.limit, over.step) {
                let _ = write!(comes_there, "{span} >= {least} && ");
            }
        }
        let arguments: String =
            self.parameters().into_iter().map(|(_, _, argument)| format!(", {argument}")).collect();
        let mut back = String::new();
        for (v, role) in &plan.scalars {
            if let ScalarRole::Induction { dim, live_out: true } = role {
                let kind = Scalar::Int(plan.dims[*dim].iv_kind.unwrap_or(IntKind::Long));
                let value = Self::unpack(kind, &format!("__pg_r[{}]", self.first_slot(*dim)));
                let _ = write!(back, " {} = {value};", unit.var(*v).name);
            }
        }
        let results =
            self.results.iter().enumerate().filter_map(|(slot, r)| Some((r.var?, self.n_values() + slot)));
        let moved = self.secondary.iter().enumerate().map(|(n, (v, _))| (*v, self.secondary_slot(n)));
        let has_name = |v: VarId| !plan.starts.iter().any(|start| start.var == v && start.declared);
        for (v, slot) in results.chain(moved).filter(|(v, _)| has_name(*v)) {
            let name = &unit.var(v).name;
            let value = Self::unpack(self.kind_of(v), &format!("__pg_r[{slot}]"));
            let _ = match self.kind_of(v) {
                Scalar::Address => {
                    write!(back, " {name} = (__typeof__({name}))(__pg_address){value};")
                }
                _ => write!(back, " {name} = {value};"),
            };
        }
        let mut asserts = String::new();
        for check in self.layout_checks(the_loop) {
            let _ = write!(asserts, " _Static_assert({check}, \"layout\");");
        }
        Ok(format!(
            "if ({comes_there}__builtin_expect({trip} >= {}, 0) && {trip} >= __pg_loop_{n}.__pg_threshold && __extension__ ({{{asserts} \
             __pg_value __pg_r[{}]; __pg_u32 __pg_done = __pg_try_{n}(__pg_r{arguments}); if (__pg_done) {{{back} }} __pg_done; }})) {{ }} else",
            literal(threshold.min(1 << 20)),
            self.n_numbers().max(1),
        ))
    }

    /// Conditions that the compiler checks: what generated text takes for granted of the user's types.
    fn layout_checks(&self, the_loop: &LoopStmt) -> BTreeSet<String> {
        let (unit, plan) = (self.unit, self.plan);
        let mut checks = BTreeSet::new();
        for base in &plan.bases {
            match base {
                Base::Object { var, size } if *size != 0 => {
                    checks.insert(format!("sizeof({}) == {size}", unit.var(*var).name));
                }
                // What the first clause declares has no name yet.
                Base::Pointer { var }
                    if !plan.starts.iter().any(|start| start.var == *var && start.declared) =>
                {
                    let target = unit.types.pointee(unit.var(*var).ty.ty);
                    if let Some(size) = target.and_then(|t| unit.types.size_of(t.ty)) {
                        checks.insert(format!("sizeof(*{}) == {size}", unit.var(*var).name));
                    }
                }
                _ => {}
            }
        }
        let mut fields = |p: &Place| {
            let mut place = p;
            while let PlaceKind::Field { base, record, field, offset, bits: None } = &place.kind {
                let record = unit.types.record(*record);
                let name = record.fields.as_ref().and_then(|f| f.get(*field as usize)?.name.clone());
                if let (Some(tag), Some(name)) = (record.tag.as_ref().or(record.alias.as_ref()), name) {
                    checks.insert(format!("__builtin_offsetof({tag}, {name}) == {offset}"));
                    checks.insert(format!("sizeof({tag}) == {}", record.size));
                }
                place = base;
            }
        };
        let whole = the_loop.body.span;
        nest::all_expressions(&the_loop.body, &mut |e| {
            // What stands elsewhere, in a function that is called, may use tags that have no meaning here.
            if let Some((p, ..)) = nest::accessed_place(e)
                && (whole.start..whole.end).contains(&p.span.start)
                && private::object(&unit.types, &plan.private, p).is_none()
            {
                fields(p);
            }
        });
        checks
    }
}

/// An expression of a loop's head in the user's own words, for the cheap guard; the loop itself evaluates it first thing.
fn site_text(unit: &TranslationUnit, e: &Expr) -> Option<String> {
    Some(match &e.kind {
        ExprKind::Int(v) => format!("{}", i64::try_from(*v).ok().filter(|v| v.abs() < 1 << 31)?),
        ExprKind::Load(p) if unit.types.pointee(e.ty.ty).is_some() => {
            format!("(__pg_i64)(__pg_address)({})", place_text(unit, p)?)
        }
        ExprKind::Load(p) => place_text(unit, p)?,
        ExprKind::Cast(inner) => {
            let is_number = |ty| unit.types.as_int(ty).is_some() || unit.types.pointee(ty).is_some();
            if !is_number(e.ty.ty) || !is_number(inner.ty.ty) {
                return None;
            }
            site_text(unit, inner)?
        }
        ExprKind::PtrAdd { pointer, index, stride } => {
            let (pointer, index) = (site_text(unit, pointer)?, site_text(unit, index)?);
            format!("((__pg_i64)({pointer}) + (__pg_i64)({index}) * {stride})")
        }
        ExprKind::Binary(op @ (BinOp::Add | BinOp::Sub | BinOp::Mul), a, b) => {
            let sign = match op {
                BinOp::Add => '+',
                BinOp::Sub => '-',
                _ => '*',
            };
            // Wide enough that nothing wraps that would not wrap in the loop.
            format!("((__pg_i64)({}) {sign} (__pg_i64)({}))", site_text(unit, a)?, site_text(unit, b)?)
        }
        // Turns of a loop whose step is no constant (`loops::counted`): too many, rather than a division at each entry.
        ExprKind::Binary(BinOp::Div, a, _) => site_text(unit, a)?,
        ExprKind::Conditional(_, turns, otherwise) if matches!(otherwise.kind, ExprKind::Int(0)) => {
            site_text(unit, turns)?
        }
        _ => return None,
    })
}

fn place_text(unit: &TranslationUnit, p: &Place) -> Option<String> {
    match &p.kind {
        PlaceKind::Var(v) => Some(unit.var(*v).name.clone()),
        _ => None,
    }
}
