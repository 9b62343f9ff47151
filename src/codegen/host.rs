//! Host code of one loop: static facts, the worker, the threads kernel, the CUDA text, the try-function, and the guard
//! that stands at the loop.

use super::body::{self, MACROS_DEVICE, MACROS_DIRECT, MACROS_END, Printer, variable};
use super::stub::escape;
use super::types::{self, Scalar, integer, limits, literal, scalar};
use crate::c::constant;
use crate::c::hir::*;
use crate::loops::nest;
use crate::loops::options::CodegenOptions;
use crate::loops::plan::*;
use crate::loops::scalars::is_scalar;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Checked arithmetic for bounds.
pub const HELPERS: &str = r#"
__PG_FN __pg_i64 __pg_add(__pg_i64 __pg_a, __pg_i64 __pg_b, int *__pg_bad)
{
  __pg_i64 __pg_r;
  *__pg_bad |= __builtin_add_overflow(__pg_a, __pg_b, &__pg_r);
  return __pg_r;
}
__PG_FN __pg_i64 __pg_mul(__pg_i64 __pg_a, __pg_i64 __pg_b, int *__pg_bad)
{
  __pg_i64 __pg_r;
  *__pg_bad |= __builtin_mul_overflow(__pg_a, __pg_b, &__pg_r);
  return __pg_r;
}
__PG_FN __pg_i64 __pg_min(__pg_i64 __pg_a, __pg_i64 __pg_b)
{
  return __pg_a < __pg_b ? __pg_a : __pg_b;
}
__PG_FN __pg_i64 __pg_max(__pg_i64 __pg_a, __pg_i64 __pg_b)
{
  return __pg_a > __pg_b ? __pg_a : __pg_b;
}
/* Trip count of first, first + step, ... while REL limit; 0 or less: not to be entered. relation: 0 <, 1 <=, 2 >, 3 >=,
 * 4 !=. The value after the last iteration must lie in [low, high], so that the variable never wraps. */
__PG_SHARED_FN __pg_i64 __pg_trips(__pg_i64 __pg_first, __pg_i64 __pg_limit, __pg_i64 __pg_step, int __pg_relation,
                            __pg_i64 __pg_low, __pg_i64 __pg_high)
{
  __pg_i64 __pg_span, __pg_trip, __pg_end, __pg_size = __pg_step < 0 ? -__pg_step : __pg_step;
  int __pg_bad = 0;
  if (__pg_step > 0)
    __pg_bad = __builtin_sub_overflow(__pg_limit, __pg_first, &__pg_span);
  else
    __pg_bad = __builtin_sub_overflow(__pg_first, __pg_limit, &__pg_span);
  if (__pg_bad || __pg_span < 0)
    return 0;
  if (__pg_relation == 1 || __pg_relation == 3)
    __pg_trip = __pg_span / __pg_size + 1;
  else if (__pg_relation == 4)
    __pg_trip = __pg_span % __pg_size == 0 ? __pg_span / __pg_size : 0;
  else
    __pg_trip = __pg_span / __pg_size + (__pg_span % __pg_size != 0);
  __pg_end = __pg_add(__pg_first, __pg_mul(__pg_trip, __pg_step, &__pg_bad), &__pg_bad);
  return __pg_bad || __pg_end < __pg_low || __pg_end > __pg_high ? 0 : __pg_trip;
}
"#;

/// Operations below which entering is never worth it.
const WORTH: u64 = 200_000;

/// Generated text of one loop.
pub struct LoopCode {
    /// For the start of the unit.
    pub helpers: String,
    /// For the loop.
    pub guard: String,
    /// The device text.
    pub kernel: String,
}

type Printed<T> = Result<T, String>;

/// A scalar that comes back.
struct ResultSlot {
    var: VarId,
    kind: Scalar,
    op: Option<ReductionOp>,
}

struct Emitter<'a> {
    unit: &'a TranslationUnit,
    plan: &'a LoopPlan,
    n: u32,
    results: Vec<ResultSlot>,
    /// Objects whose addresses are needed: those of bases, and of memory read at entry.
    objects: Vec<VarId>,
    /// Whether an invariant has a type; pointers and integers only.
    invariant_kinds: Vec<Scalar>,
    /// Secondary induction variables and how far each iteration moves them.
    secondary: Vec<(VarId, Bound)>,
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
    let mut innermost = the_loop;
    while innermost.id != plan.dims[plan.dims.len() - 1].loop_id {
        innermost = inner_loop(&innermost.body).ok_or("a nest that is not perfect")?;
    }
    let body = body::print(unit, plan, &innermost.body)?;
    let mut results = Vec::new();
    for (var, role) in &plan.scalars {
        let kind = scalar(&unit.types, unit.var(*var).ty.ty)?;
        match role {
            ScalarRole::Reduction { op, .. } => results.push(ResultSlot { var: *var, kind, op: Some(*op) }),
            ScalarRole::Private { last_value: true } => {
                results.push(ResultSlot { var: *var, kind, op: None })
            }
            _ => {}
        }
    }
    let secondary = plan.scalars.iter().filter_map(|(v, role)| match role {
        ScalarRole::Secondary { step } => Some((*v, step.clone())),
        _ => None,
    });
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
    nest::all_expressions(&innermost.body, &mut |e| {
        if let ExprKind::AddressOf(p) = &e.kind
            && let Some(v) = nest::root_variable(p)
        {
            objects.insert(v);
        }
    });
    let invariant_kinds =
        plan.invariants.iter().map(|e| scalar(&unit.types, e.ty.ty)).collect::<Printed<Vec<_>>>()?;
    let emitter = Emitter {
        unit,
        plan,
        n: plan.loop_id.0,
        results,
        objects: objects.into_iter().collect(),
        invariant_kinds,
        secondary: secondary.collect(),
        doubt: options.doubt,
    };
    let threshold = options.threshold.map_or_else(
        || {
            let per_trip = plan.work.saturating_mul(if plan.dims.len() > 1 { 64 } else { 1 });
            (WORTH / per_trip.max(1)).clamp(16, 1 << 20) as i64
        },
        |t| i64::try_from(t).unwrap_or(i64::MAX).max(1),
    );
    if emitter.most_iterations().is_some_and(|most| most < i128::from(threshold)) {
        return Err("it is never long enough to be entered".into());
    }
    let direct = emitter.direct(&body);
    let device = emitter.device(&body);
    let mut helpers = String::new();
    let _ = write!(helpers, "{MACROS_DIRECT}{direct}{MACROS_END}{MACROS_DEVICE}{device}{MACROS_END}");
    let kernel = emitter.facts(report, &device, threshold, &mut helpers);
    emitter.try_function(&mut helpers)?;
    let guard = emitter.guard(the_loop, threshold)?;
    Ok(LoopCode { helpers, guard, kernel })
}

fn inner_loop(body: &Stmt) -> Option<&LoopStmt> {
    match &body.kind {
        StmtKind::Loop(l) => Some(l),
        StmtKind::Block(list) => list.iter().find_map(inner_loop),
        _ => None,
    }
}

impl Emitter<'_> {
    fn kind_of(&self, v: VarId) -> Scalar {
        scalar(&self.unit.types, self.unit.var(v).ty.ty).unwrap_or(Scalar::Address)
    }

    /// How many iterations the outermost loop has at most, where its text says so: by constant ends, because its
    /// variable is narrow, or because every iteration moves on in an array of known size.
    fn most_iterations(&self) -> Option<i128> {
        let dim = &self.plan.dims[0];
        let step = i128::from(dim.step.unsigned_abs().max(1));
        let end = |e: &Expr| match constant::evaluate(&self.unit.types, e) {
            Some(constant::Value::Int(value)) => Some(value),
            _ => None,
        };
        let between = match (end(&dim.first), end(&dim.limit)) {
            (Some(first), Some(limit)) => Some((limit - first).abs()),
            _ => None,
        };
        let of_type = dim.iv_kind.map(|kind| {
            let (low, high) = limits(kind);
            i128::from(high) - i128::from(low)
        });
        let of_arrays = self.plan.sites.iter().filter(|site| site.unconditional).filter_map(|site| {
            match (&self.plan.bases[site.base.0 as usize], site.affine.as_ref()?.strides.first()?) {
                (Base::Object { size, .. }, Bound::Const(stride)) if *size != 0 && *stride != 0 => {
                    Some(i128::from(*size) / i128::from(stride.unsigned_abs()))
                }
                _ => None,
            }
        });
        let most = between.into_iter().chain(of_type).chain(of_arrays).min();
        most.map(|distance| distance / step + 1)
    }

    /// Field of a value union for a scalar.
    fn unpack(kind: Scalar, slot: &str) -> String {
        match kind {
            Scalar::F32 => format!("{slot}.f"),
            Scalar::F64 => format!("{slot}.d"),
            other => format!("({}){slot}.u", other.name()),
        }
    }

    /// Assignment of a scalar into a value union; integers are extended by their type.
    fn pack(kind: Scalar, slot: &str, value: &str) -> String {
        match kind {
            Scalar::F32 => format!("{slot}.u = 0; {slot}.f = {value};"),
            Scalar::F64 => format!("{slot}.d = {value};"),
            Scalar::Int(k) if k.signed() => format!("{slot}.i = (__pg_i64)({value});"),
            _ => format!("{slot}.u = (__pg_u64)({value});"),
        }
    }

    /// Live-ins and invariants as constants of the enclosing function; `source` is the array of values.
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
            let _ = writeln!(text, "const __pg_u64 __pg_o{} = {source}[{}].u;", v.0, after + number);
        }
        text
    }

    fn locals(&self, body: &body::Body, initial: &dyn Fn(&ResultSlot, usize) -> Option<String>) -> String {
        let mut text = String::new();
        for (ty, name) in &body.locals {
            let _ = writeln!(text, "{ty} {name} = 0;");
        }
        for (v, role) in &self.plan.scalars {
            let name = self.kind_of(*v).name();
            match role {
                ScalarRole::Induction { .. }
                | ScalarRole::Secondary { .. }
                | ScalarRole::Private { last_value: false } => {
                    let _ = writeln!(text, "{name} {} = 0;", variable(*v));
                }
                _ => {
                    let slot = self.results.iter().position(|r| r.var == *v);
                    let value = slot.and_then(|s| initial(&self.results[s], s)).unwrap_or_else(|| "0".into());
                    let _ = writeln!(text, "{name} {} = {value};", variable(*v));
                }
            }
        }
        text
    }

    /// `iv = first + k * step`, in the variable's type. The first values are value slots behind everything else.
    fn induction(&self, dim: usize, k: &str, source: &str) -> String {
        let d = &self.plan.dims[dim];
        let kind = d.iv_kind.unwrap_or(IntKind::Long);
        format!(
            "{} = ({})({source}[{}].i + (__pg_i64)({k}) * {});\n",
            variable(d.iv),
            integer(kind),
            self.first_slot(dim),
            literal(d.step)
        )
    }

    fn first_slot(&self, dim: usize) -> usize {
        self.plan.live_ins.len() + self.invariant_kinds.len() + self.objects.len() + dim
    }

    /// Secondary induction variables where iteration `k` starts, like [`Self::induction`]. Each has two value slots:
    /// its value at entry and its step.
    fn secondary(&self, k: &str, source: &str) -> String {
        let mut text = String::new();
        for (number, (v, _)) in self.secondary.iter().enumerate() {
            let slot = self.secondary_slot(number);
            let _ = writeln!(
                text,
                "{} = ({})({source}[{slot}].u + (__pg_u64)({k}) * {source}[{}].u);",
                variable(*v),
                self.kind_of(*v).name(),
                slot + 1
            );
        }
        text
    }

    fn secondary_slot(&self, number: usize) -> usize {
        self.first_slot(self.plan.dims.len()) + 2 * number
    }

    fn n_values(&self) -> usize {
        self.secondary_slot(self.secondary.len())
    }

    /// The worker: source order on host memory, in strips.
    fn direct(&self, body: &body::Body) -> String {
        let mut text = format!(
            "static __attribute__((__unused__)) __pg_i64 __pg_direct_{}(const struct __pg_entry *__pg_e, __pg_value *__pg_r, \
             __pg_i64 __pg_begin, __pg_i64 __pg_end, const volatile __pg_u32 *__pg_stop)\n{{\n",
            self.n
        );
        let strip = (20_000
            / self.plan.work.saturating_mul(if self.plan.dims.len() > 1 { 64 } else { 1 }).max(1))
        .max(1);
        text.push_str(&self.prologue("__pg_e->values"));
        for dim in 0..self.plan.dims.len() {
            let _ = writeln!(text, "__pg_i64 __pg_k{dim} = 0;");
            if dim > 0 {
                let _ = writeln!(text, "const __pg_i64 __pg_n{dim} = __pg_e->trip[{dim}];");
            }
        }
        text.push_str(&self.locals(body, &|r, slot| Some(Self::unpack(r.kind, &format!("__pg_r[{slot}]")))));
        let _ = writeln!(text, "__pg_i64 __pg_strip;\n(void)__pg_r;");
        text.push_str("while (__pg_begin < __pg_end) {\n");
        let _ = writeln!(
            text,
            "__pg_strip = __pg_end - __pg_begin > {strip} ? __pg_begin + {strip} : __pg_end;\n\
             for (__pg_k0 = __pg_begin; __pg_k0 < __pg_strip; __pg_k0++) {{"
        );
        text.push_str(&self.induction(0, "__pg_k0", "__pg_e->values"));
        text.push_str(&self.secondary("__pg_k0", "__pg_e->values"));
        for dim in 1..self.plan.dims.len() {
            let _ = writeln!(text, "for (__pg_k{dim} = 0; __pg_k{dim} < __pg_n{dim}; __pg_k{dim}++) {{");
            text.push_str(&self.induction(dim, &format!("__pg_k{dim}"), "__pg_e->values"));
        }
        text.push_str(&body.text);
        text.push_str(&"}\n".repeat(self.plan.dims.len()));
        text.push_str(
            "__pg_begin = __pg_strip;\nif (__pg_stop && __atomic_load_n(__pg_stop, 0)) break;\n}\n",
        );
        for (slot, r) in self.results.iter().enumerate() {
            let _ = writeln!(text, "{}", Self::pack(r.kind, &format!("__pg_r[{slot}]"), &variable(r.var)));
        }
        text.push_str("return __pg_end - __pg_begin;\n}\n");
        text
    }

    /// The device's loop over merged iterations: `step` apart, so that the GPU strides by its grid.
    fn device(&self, body: &body::Body) -> String {
        let mut text = format!(
            "__PG_FN void __pg_run_{}(const struct __pg_launch *__pg_l, __pg_u64 __pg_begin, __pg_u64 __pg_end, \
             __pg_u64 __pg_step)\n{{\nstruct __pg_ctx __pg_c;\n",
            self.n
        );
        for (number, base) in self.plan.bases.iter().enumerate() {
            if !matches!(base, Base::Dynamic) {
                let _ = writeln!(
                    text,
                    "const struct __pg_view __pg_b{number} = __pg_base_view(__pg_l, {number});"
                );
            }
        }
        text.push_str(&self.prologue("__pg_l->values"));
        for dim in 0..self.plan.dims.len() {
            let _ = writeln!(text, "__pg_u64 __pg_k{dim} = 0;");
        }
        text.push_str(&self.locals(body, &|r, _| match (r.op, r.kind) {
            (Some(op), Scalar::Int(kind)) => Some(types::identity(op, kind)),
            _ => None,
        }));
        text.push_str(
            "__pg_u64 __pg_k, __pg_q;\n__pg_c.launch = __pg_l;\n__pg_c.iteration = 0;\n__pg_c.fail = 0;\n\
             __pg_c.writes = 0;\n__pg_c.ticks = 0;\n\
             for (__pg_k = __pg_begin; __pg_k < __pg_end; __pg_k += __pg_step) {\n\
             if (__pg_begin_iteration(&__pg_c, __pg_k)) break;\n__pg_q = __pg_k;\n",
        );
        for dim in (1..self.plan.dims.len()).rev() {
            let _ =
                writeln!(text, "__pg_k{dim} = __pg_q % __pg_l->trip[{dim}];\n__pg_q /= __pg_l->trip[{dim}];");
        }
        text.push_str("__pg_k0 = __pg_q;\n");
        for dim in 0..self.plan.dims.len() {
            text.push_str(&self.induction(dim, &format!("__pg_k{dim}"), "__pg_l->values"));
        }
        text.push_str(&self.secondary("__pg_k0", "__pg_l->values"));
        text.push_str(&body.text);
        if self.results.iter().any(|r| r.op.is_none()) {
            text.push_str("if (__pg_k == __pg_l->n - 1) {\n");
            for (slot, r) in self.results.iter().enumerate().filter(|(_, r)| r.op.is_none()) {
                let _ = writeln!(
                    text,
                    "{}",
                    Self::pack(r.kind, &format!("__pg_l->results[{slot}]"), &variable(r.var))
                );
            }
            text.push_str("}\n");
        }
        text.push_str("}\n");
        for (slot, r) in self.results.iter().enumerate() {
            if let (Some(op), Scalar::Int(kind)) = (r.op, r.kind) {
                let bits = if kind.signed() { "(__pg_u64)(__pg_i64)" } else { "(__pg_u64)" };
                let _ = writeln!(
                    text,
                    "__pg_combine(&__pg_l->results[{slot}], {}, {}, {bits}{});",
                    types::operation(op),
                    r.kind.abi_type(),
                    variable(r.var)
                );
            }
        }
        text.push_str("__pg_end_thread(&__pg_c);\n}\n");
        text
    }

    /// Static tables, the CUDA text, the loop's writable word.
    fn facts(&self, report: &LoopReport, device: &str, threshold: i64, out: &mut String) -> String {
        let (n, plan) = (self.n, self.plan);
        let _ = writeln!(
            out,
            "static __attribute__((__unused__)) void __pg_device_{n}(const struct __pg_launch *__pg_l, __pg_u64 __pg_begin, \
             __pg_u64 __pg_end)\n{{\n  __pg_run_{n}(__pg_l, __pg_begin, __pg_end, 1);\n}}"
        );
        let kernel = format!(
            "extern \"C\" __global__ void __pg_kernel(const struct __pg_launch __pg_l)\n{{\n  \
             __pg_run_{n}(&__pg_l, blockIdx.x * (__pg_u64)blockDim.x + threadIdx.x, __pg_l.n, \
             gridDim.x * (__pg_u64)blockDim.x);\n}}\n"
        );
        let cuda = format!("{MACROS_DEVICE}{device}{kernel}");
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
        for site in &plan.sites {
            let mut flags = vec!["0"];
            let mut add = |on: bool, flag: &'static str| {
                if on {
                    flags.push(flag);
                }
            };
            add(site.is_store, "PG_SITE_STORE");
            add(site.logged, "PG_SITE_LOGGED");
            add(site.unconditional, "PG_SITE_UNCONDITIONAL");
            add(site.affine.as_ref().is_some_and(|a| a.exact), "PG_SITE_EXACT");
            add(site.loads_pointer, "PG_SITE_LOADS_POINTER");
            add(site.affine.is_some(), "PG_SITE_HAS_AFFINE");
            add(site.may_change_pin, "PG_SITE_MAY_CHANGE_PIN");
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
        if !plan.pairs.is_empty() {
            let pairs: String = plan
                .pairs
                .iter()
                .map(|p| {
                    let check = if p.check == Check::Logs { "PG_CHECK_LOGS" } else { "PG_CHECK_PREDICATE" };
                    format!("{{{}, {}, {check}}}, ", p.a.0, p.b.0)
                })
                .collect();
            let _ = writeln!(out, "static const struct __pg_pair __pg_pairs_{n}[] = {{{pairs}}};");
        }
        if !self.results.is_empty() {
            let results: String = self
                .results
                .iter()
                .map(|r| format!("{{{}, {}}}, ", r.op.map_or("PG_LAST", types::operation), r.kind.abi_type()))
                .collect();
            let _ = writeln!(out, "static const struct __pg_result __pg_results_{n}[] = {{{results}}};");
        }
        let table =
            |empty: bool, name: &str| if empty { "0".to_string() } else { format!("__pg_{name}_{n}") };
        let (verdict, check) = match (report.verdict, report.check) {
            (Verdict::Parallel, _) => ("PG_PARALLEL", "PG_CHECK_NONE"),
            (_, Check::Logs) => ("PG_POSSIBLY_PARALLEL", "PG_CHECK_LOGS"),
            _ => ("PG_POSSIBLY_PARALLEL", "PG_CHECK_PREDICATE"),
        };
        let mut flags = vec!["0"];
        if plan.may_abort {
            flags.push("PG_LOOP_MAY_ABORT");
        }
        if plan.cuda_exact {
            flags.push("PG_LOOP_CUDA_EXACT");
        }
        if plan.bases.iter().any(|b| matches!(b, Base::Dynamic)) {
            flags.push("PG_LOOP_DYNAMIC");
        }
        if self.doubt {
            flags.push("PG_LOOP_DOUBTED");
        }
        let _ = writeln!(
            out,
            "static const struct __pg_info __pg_info_{n} = {{PG_ABI_VERSION, {verdict}, {check}, {}, \"{}\", \"{}\", {}, {}, {}, \
             {}, {}, {}, {}, {}, {}u, {}, {}, {}, __pg_cuda_{n}, __pg_direct_{n}, __pg_device_{n}}};",
            flags.join(" | "),
            escape(&report.file),
            escape(&report.function),
            report.line,
            plan.dims.len(),
            self.n_values(),
            self.results.len(),
            plan.bases.len(),
            plan.sites.len(),
            plan.pairs.len(),
            plan.pinned.len(),
            plan.work,
            table(plan.sites.is_empty(), "sites"),
            table(plan.pairs.is_empty(), "pairs"),
            table(self.results.is_empty(), "results"),
        );
        let _ = writeln!(
            out,
            "static struct __pg_loop __pg_loop_{n} = {{{}, &__pg_info_{n}, 0}};",
            literal(threshold)
        );
        cuda
    }

    fn parameters(&self) -> Vec<(String, String, String)> {
        // (type, name in generated text, argument at the loop)
        let mut out = Vec::new();
        let reductions = self.results.iter().filter(|r| r.op.is_some()).map(|r| &r.var);
        let secondary = self.secondary.iter().map(|(v, _)| v);
        for v in self.plan.live_ins.iter().chain(reductions).chain(secondary) {
            let kind = self.kind_of(*v);
            let name = &self.unit.var(*v).name;
            let argument = match kind {
                Scalar::Address => format!("(__pg_u64)(unsigned long)({name})"),
                _ => name.clone(),
            };
            out.push((kind.name().to_owned(), variable(*v), argument));
        }
        for v in &self.objects {
            let name = &self.unit.var(*v).name;
            out.push((
                "__pg_u64".into(),
                format!("__pg_o{}", v.0),
                format!("(__pg_u64)(unsigned long)&{name}"),
            ));
        }
        out
    }

    /// The function that the guard calls. It is rarely entered, but not marked cold: where a trip count is constant the
    /// compiler would take the whole caller for cold, and optimise it for size.
    fn try_function(&self, out: &mut String) -> Printed<()> {
        let (n, plan, unit) = (self.n, self.plan, self.unit);
        let _ = write!(out, "struct __pg_out_{n} {{ int entered;");
        for (number, dim) in plan.dims.iter().enumerate() {
            let kind = dim.iv_kind.unwrap_or(IntKind::Long);
            let _ = write!(out, " {} k{number};", integer(kind));
        }
        for (number, r) in self.results.iter().enumerate() {
            let _ = write!(out, " {} v{number};", r.kind.name());
        }
        for (number, (v, _)) in self.secondary.iter().enumerate() {
            let _ = write!(out, " {} s{number};", self.kind_of(*v).name());
        }
        let _ = writeln!(out, " }};");
        let parameters: Vec<String> =
            self.parameters().iter().map(|(t, name, _)| format!("{t} {name}")).collect();
        let list: String = parameters.iter().map(|parameter| format!(", {parameter}")).collect();
        let _ = writeln!(
            out,
            "static __attribute__((__noinline__)) int __pg_try_{n}(struct __pg_out_{n} *__pg_back{list})\n{{\n\
             struct __pg_out_{n} __pg_result;\nstruct __pg_entry __pg_e;\nconst struct __pg_api *__pg_api;\nint __pg_bad = 0;\n\
             __pg_value __pg_values[{}];\n__pg_value __pg_results[{}];\nstruct __pg_base __pg_bases[{}];\n\
             struct __pg_access __pg_accesses[{}];\nstruct __pg_pin __pg_pins[{}];",
            self.n_values().max(1),
            self.results.len().max(1),
            plan.bases.len().max(1),
            plan.sites.len().max(1),
            plan.pinned.len().max(1)
        );
        let _ = writeln!(
            out,
            "__builtin_memset(&__pg_result, 0, sizeof __pg_result);\n__builtin_memset(&__pg_e, 0, sizeof __pg_e);\n\
             __builtin_memset(__pg_bases, 0, sizeof __pg_bases);\n\
             __pg_api = __pg_entrance(&__pg_loop_{n});\nif (!__pg_api) return 0;",
        );
        let mut printer = Printer::new(unit, plan, true);
        let mut effects = String::new();
        for (number, dim) in plan.dims.iter().enumerate() {
            let kind = dim.iv_kind.ok_or("a pointer induction variable")?;
            let compare = unit.types.as_int(dim.limit.ty.ty).ok_or("a limit that is no integer")?;
            let first = printer.value(&dim.first, &mut effects)?;
            let limit = printer.value(&dim.limit, &mut effects)?;
            let (mut low, high) = limits(kind);
            let _ = writeln!(out, "{{\nconst {} __pg_f = {first};", integer(kind));
            let _ = writeln!(out, "const {} __pg_m = {limit};", integer(compare));
            if !compare.signed() {
                // Compared as unsigned: the variable may never be negative.
                low = low.max(0);
                let _ = writeln!(out, "if (__pg_f < 0 && (__pg_i64)__pg_f < 0) return 0;");
            }
            for (name, k) in [("__pg_f", kind), ("__pg_m", compare)] {
                if k.size() == 8 && !k.signed() {
                    let _ = writeln!(out, "if ({name} > (__pg_u64){}) return 0;", literal(i64::MAX));
                }
            }
            let relation = match dim.relation {
                Relation::Lt => 0,
                Relation::Le => 1,
                Relation::Gt => 2,
                Relation::Ge => 3,
                Relation::Ne => 4,
            };
            let _ = writeln!(
                out,
                "__pg_e.trip[{number}] = __pg_trips((__pg_i64)__pg_f, (__pg_i64)__pg_m, {}, {relation}, {}, {});\n\
                 if (__pg_e.trip[{number}] <= 0) return 0;\n\
                 __pg_values[{}].i = (__pg_i64)__pg_f;\n\
                 __pg_result.k{number} = ({})((__pg_i64)__pg_f + __pg_e.trip[{number}] * {});\n}}",
                literal(dim.step),
                literal(low),
                literal(high),
                self.first_slot(number),
                integer(kind),
                literal(dim.step)
            );
        }
        for dim in plan.dims.len()..MAX_DIMS {
            let _ = writeln!(out, "__pg_e.trip[{dim}] = 1;");
        }
        out.push_str("{\n");
        let mut numbers = String::new();
        for (number, (e, kind)) in plan.invariants.iter().zip(&self.invariant_kinds).enumerate() {
            let value = printer.value(e, &mut effects)?;
            let _ = writeln!(out, "const {} __pg_i{number} = {value};", kind.name());
            if let Scalar::Int(k) = kind {
                let _ = writeln!(numbers, "const __pg_i64 __pg_w{number} = (__pg_i64)__pg_i{number};");
                if k.size() == 8 && !k.signed() {
                    let _ =
                        writeln!(numbers, "__pg_bad |= __pg_i{number} > (__pg_u64){};", literal(i64::MAX));
                }
            }
        }
        // Declarations first, as C89 has it; the checks among them become statements of an inner block.
        let (declarations, checks): (Vec<&str>, Vec<&str>) =
            numbers.lines().partition(|l| l.starts_with("const"));
        let _ = writeln!(out, "{}\n{}", declarations.join("\n"), checks.join("\n"));
        if !effects.is_empty() {
            return Err("a side effect in a bound".into());
        }
        for (slot, v) in plan.live_ins.iter().enumerate() {
            let _ = writeln!(
                out,
                "{}",
                Self::pack(self.kind_of(*v), &format!("__pg_values[{slot}]"), &variable(*v))
            );
        }
        let first = plan.live_ins.len();
        for (number, kind) in self.invariant_kinds.iter().enumerate() {
            let slot = format!("__pg_values[{}]", first + number);
            let _ = writeln!(out, "{}", Self::pack(*kind, &slot, &format!("__pg_i{number}")));
        }
        for (number, v) in self.objects.iter().enumerate() {
            let slot = first + self.invariant_kinds.len() + number;
            let _ = writeln!(out, "__pg_values[{slot}].u = __pg_o{};", v.0);
        }
        for (number, (v, step)) in self.secondary.iter().enumerate() {
            let slot = self.secondary_slot(number);
            let kind = self.kind_of(*v);
            let start = Self::pack(kind, &format!("__pg_values[{slot}]"), &variable(*v));
            let _ = writeln!(
                out,
                "{start}\n__pg_values[{next}].i = {};\n\
                 __pg_result.s{number} = ({})(__pg_values[{slot}].u + (__pg_u64)__pg_e.trip[0] * __pg_values[{next}].u);",
                bound(step),
                kind.name(),
                next = slot + 1
            );
        }
        for (slot, r) in self.results.iter().enumerate() {
            let value = if r.op.is_some() { variable(r.var) } else { "0".into() };
            let _ = writeln!(out, "{}", Self::pack(r.kind, &format!("__pg_results[{slot}]"), &value));
        }
        for assumption in &plan.assumptions {
            let (lo, hi) = limits(assumption.kind);
            let _ = writeln!(
                out,
                "__pg_bad |= {} < {} || {} > {};",
                bound(&assumption.lo),
                literal(lo),
                bound(&assumption.hi),
                literal(hi)
            );
        }
        for (number, base) in plan.bases.iter().enumerate() {
            let at = format!("__pg_bases[{number}]");
            let _ = match base {
                Base::Object { var, size } => writeln!(
                    out,
                    "{at}.pointer = {at}.object_lo = __pg_o{v};\n{at}.object_hi = __pg_o{v} + {size}u;",
                    v = var.0
                ),
                Base::Pointer { var } => writeln!(out, "{at}.pointer = {};", variable(*var)),
                Base::Invariant { value } => writeln!(out, "{at}.pointer = __pg_i{value};"),
                Base::Dynamic => writeln!(out, "{at}.dynamic = 1;"),
            };
        }
        self.accesses(out);
        for (number, pin) in plan.pinned.iter().enumerate() {
            let address = printer.value(&pin.address, &mut effects)?;
            let _ = writeln!(
                out,
                "__pg_pins[{number}].address = {address};\n__pg_pins[{number}].width = {};",
                pin.width
            );
        }
        let _ = writeln!(
            out,
            "__pg_e.info = &__pg_info_{n};\n__pg_e.values = __pg_values;\n__pg_e.results = __pg_results;\n\
             __pg_e.bases = __pg_bases;\n__pg_e.accesses = __pg_accesses;\n__pg_e.pins = __pg_pins;\n\
             if (__pg_bad) return 0;\n\
             __pg_result.entered = __pg_api->enter(&__pg_loop_{n}, &__pg_e);\n}}"
        );
        for (slot, r) in self.results.iter().enumerate() {
            let value = Self::unpack(r.kind, &format!("__pg_results[{slot}]"));
            let _ = writeln!(out, "__pg_result.v{slot} = {value};");
        }
        out.push_str("*__pg_back = __pg_result;\nreturn __pg_result.entered;\n}\n");
        Ok(())
    }

    /// Where the sites' accesses go: a table of what is known, and assignments of the rest.
    fn accesses(&self, out: &mut String) {
        let mut rows = String::new();
        let mut assignments = String::new();
        for (number, site) in self.plan.sites.iter().enumerate() {
            let mut field = |name: &str, value: &Bound| match value {
                Bound::Const(known) => literal(*known),
                other => {
                    let _ = writeln!(assignments, "__pg_accesses[{number}].{name} = {};", bound(other));
                    "0".to_string()
                }
            };
            let Some(affine) = &site.affine else {
                rows.push_str("{{0}, 0, 0}, ");
                continue;
            };
            let mut strides = vec!["0".to_string(); MAX_DIMS];
            for (dim, stride) in affine.strides.iter().enumerate() {
                let step = Bound::Const(self.plan.dims[dim].step);
                let stride = match (stride, &step) {
                    (Bound::Const(a), Bound::Const(b)) => a.checked_mul(*b).map(Bound::Const),
                    _ => None,
                }
                .unwrap_or_else(|| Bound::Mul(Box::new(stride.clone()), Box::new(step)));
                strides[dim] = field(&format!("stride[{dim}]"), &stride);
            }
            let (lo, hi) = (field("lo", &affine.lo), field("hi", &affine.hi));
            let _ = write!(rows, "{{{{{}}}, {lo}, {hi}}}, ", strides.join(", "));
        }
        if rows.is_empty() {
            return;
        }
        let _ = write!(
            out,
            "{{\nstatic const struct __pg_access __pg_known[] = {{{rows}}};\n\
             __builtin_memcpy(__pg_accesses, __pg_known, sizeof __pg_known);\n}}\n{assignments}"
        );
    }

    /// What stands in front of the loop.
    fn guard(&self, the_loop: &LoopStmt, threshold: i64) -> Printed<String> {
        let (n, plan, unit) = (self.n, self.plan, self.unit);
        let dim = &plan.dims[0];
        let trip = match (site_text(unit, &dim.first), site_text(unit, &dim.limit)) {
            (Some(first), Some(limit)) => {
                let (a, b) = if dim.step > 0 { (limit, first) } else { (first, limit) };
                let span = format!("((__pg_i64)({a}) - (__pg_i64)({b}))");
                match dim.step.unsigned_abs() {
                    1 => span,
                    step => format!("({span} / {step})"),
                }
            }
            _ => literal(i64::MAX - 1),
        };
        let arguments: String =
            self.parameters().into_iter().map(|(_, _, argument)| format!(", {argument}")).collect();
        let mut back = String::new();
        for (v, role) in &plan.scalars {
            if let ScalarRole::Induction { dim, live_out: true } = role {
                let _ = write!(back, " {} = __pg_r.k{dim};", unit.var(*v).name);
            }
        }
        let results = self.results.iter().enumerate().map(|(slot, r)| (r.var, format!("__pg_r.v{slot}")));
        let moved =
            self.secondary.iter().enumerate().map(|(number, (v, _))| (*v, format!("__pg_r.s{number}")));
        for (v, value) in results.chain(moved) {
            let name = &unit.var(v).name;
            let _ = match self.kind_of(v) {
                Scalar::Address => {
                    write!(back, " {name} = (__typeof__({name}))(unsigned long){value};")
                }
                _ => write!(back, " {name} = {value};"),
            };
        }
        let mut asserts = String::new();
        for check in self.layout_checks(the_loop) {
            let _ = write!(asserts, " _Static_assert({check}, \"layout\");");
        }
        Ok(format!(
            "if (__builtin_expect({trip} >= {}, 0) && {trip} >= __pg_loop_{n}.threshold && __extension__ ({{{asserts} \
             struct __pg_out_{n} __pg_r; int __pg_done = __pg_try_{n}(&__pg_r{}); if (__pg_done) {{{back} }} __pg_done; }})) {{ }} else",
            literal(threshold.min(1 << 20)),
            arguments,
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
                Base::Pointer { var } => {
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
                if let (Some(tag), Some(name)) = (&record.tag, name) {
                    checks.insert(format!("__builtin_offsetof({tag}, {name}) == {offset}"));
                    checks.insert(format!("sizeof({tag}) == {}", record.size));
                }
                place = base;
            }
        };
        nest::all_expressions(&the_loop.body, &mut |e| {
            if let Some((p, ..)) = nest::accessed_place(e) {
                fields(p);
            }
        });
        checks
    }
}

/// A bound in overflow-checked arithmetic over `__pg_w` numbers.
fn bound(b: &Bound) -> String {
    match b {
        Bound::Const(v) => literal(*v),
        Bound::Value(i) => format!("__pg_w{i}"),
        Bound::Add(a, b) => format!("__pg_add({}, {}, &__pg_bad)", bound(a), bound(b)),
        Bound::Mul(a, b) => format!("__pg_mul({}, {}, &__pg_bad)", bound(a), bound(b)),
        Bound::Min(a, b) => format!("__pg_min({}, {})", bound(a), bound(b)),
        Bound::Max(a, b) => format!("__pg_max({}, {})", bound(a), bound(b)),
    }
}

/// An expression of a loop's head in the user's own words, for the cheap guard; the loop itself evaluates it first thing.
fn site_text(unit: &TranslationUnit, e: &Expr) -> Option<String> {
    Some(match &e.kind {
        ExprKind::Int(v) => format!("{}", i64::try_from(*v).ok().filter(|v| v.abs() < 1 << 31)?),
        ExprKind::Load(p) => place_text(unit, p)?,
        ExprKind::Cast(inner) => {
            unit.types.as_int(e.ty.ty)?;
            unit.types.as_int(inner.ty.ty)?;
            site_text(unit, inner)?
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
        _ => return None,
    })
}

fn place_text(unit: &TranslationUnit, p: &Place) -> Option<String> {
    match &p.kind {
        PlaceKind::Var(v) => Some(unit.var(*v).name.clone()),
        _ => None,
    }
}
