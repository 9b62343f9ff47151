//! The body of a loop as text that is C89 (with GNU extensions) and CUDA C++ at once, with memory accesses and everything that
//! devices answer differently behind macros (`paragon_body.h`, `paragon_kernel.h` and [`MACROS_DIRECT`], [`MACROS_DEVICE`]). For inspections, what
//! the address slice needs of the same text, as C that stores nothing ([`MACROS_INSPECT`]).
//!
//! Conversions are explicit in the typed tree, so each expression prints by itself. Signed arithmetic goes through unsigned
//! types; but on the program's own memory, where nothing is computed that the program wouldn't, subscripts are in `int` where they
//! are so in the program (`__PG_INDEX`): then the compiler knows as much of addresses as in the user's loop, and makes vectors of
//! the same loops. Side effects inside expressions become statements of their own, in order; where C's sequencing would need more
//! than that (side effects under a condition), the loop is left alone.

mod ahead;
pub mod inner;
mod lending;
mod polynomial;

use self::ahead::{Ahead, FirstLoads};
use self::lending::{Lending, Seeing};
use self::polynomial::Polynomial;
use super::group::{self, Group, Moving, Stride};
use super::types::{self, Scalar, scalar};
use crate::c::constant::fold;
use crate::c::hir::*;
use crate::loops::access::exact_function;
use crate::loops::plan::*;
use crate::loops::private;
use crate::loops::scalars::is_scalar;
use crate::loops::updates;
use std::collections::{BTreeMap, BTreeSet};

/// Macros for the program's own memory.
pub const MACROS_DIRECT: &str = "\
#define __PG_LD(t, b, l, a) __pg_get_##t(a)
#define __PG_LDS(t, b, l, a) __pg_get_##t((a) + __pg_s##b)
#define __PG_ST(t, b, a, v) __pg_set_##t(a, v)
#define __PG_LDP(t, b, l, a) __pg_get_##t((a) + __pg_s##b)
#define __PG_STP(t, b, a, v) __pg_set_##t((a) + __pg_s##b, v)
#define __PG_UP(t, b, op, a, v) __pg_set_##t(a, __PG_##op(__pg_get_##t(a), v))
#define __PG_LDX(t, l, a) __pg_get_##t(a)
#define __PG_STX(t, a, v) __pg_set_##t(a, v)
#define __PG_UPX(t, op, a, v) __pg_set_##t(a, __PG_##op(__pg_get_##t(a), v))
#define __PG_OWN_LD(t, array, size, at) __pg_get_##t((const char *)(array) + (at))
#define __PG_OWN_ST(t, array, size, at, v) __pg_set_##t((char *)(array) + (at), v)
#define __PG_DIV(t, a, b) ((a) / (b))
#define __PG_REM(t, a, b) ((a) % (b))
#define __PG_TO(t, type, x) ((type)(x))
#define __PG_SQRT(t, f, x) __builtin_##f(x)
#define __PG_CALL(f) __builtin_##f
#define __PG_INDEX int
#define __PG_POLL_AROUND() 0
#define __PG_UNCOUNTED(how) for (;;)
#define __PG_UNCOUNTED_END
#define __PG_ARE_FEW(turns) 0
#define __PG_TURNS(kept, cond, type, unsigned_type, value, limit) while (cond)
#define __PG_TURNS_END(kept, cond, type, unsigned_type, value, limit, logs, stages, ...)
";

/// For C, which runs iterations one by one and makes the address of each access: what `paragon_kernel.h` has for kernels.
pub const MACROS_ONE_BY_ONE: &str = "\
#define __PG_FEW(notes)
#define __PG_NOT_UNROLLED
#define __PG_EACH
#define __PG_MEMBERS
#define __PG_WALK(name, t, b, together, s0, s1, s2, s3, turn)
#define __PG_SET(name, b, from, type, variable, a)
#define __PG_WALKING(calls)
#define __PG_LDW(how, t, b, l, name, a) how(t, b, l, a)
#define __PG_SHARING(may, holds, kept)
#define __PG_SHARE(name, type, variable)
#define __PG_ALL_SHARED(calls)
#define __PG_ORIGIN(name, b, memory, first)
#define __PG_LDO(how, t, b, l, name, rest, a) how(t, b, l, a)
#define __PG_STO(t, b, name, rest, a, v) __PG_ST(t, b, a, v)
#define __PG_NOTE(t, b, name, rest)
#define __PG_STN __PG_STO
#define __PG_LENDING(count, kept)
#define __PG_HOLDING_NOTHING(type)
#define __PG_HOLDING(type, variable, t, base, logged, stride, is_loaded, address)
#define __PG_HELD(text) (text)
#define __PG_HOLD(value, store) store
#define __PG_PLACE_POINTER(base, pointer)
#define __PG_LEND(name, before, type, parameters, arguments, members, ahead, text)
#define __PG_ALL_LENT(calls)
#define __PG_LENT(name, text) (text)
#define __PG_GATHERING(count)
#define __PG_GATHER(name, type, kind, variable, members, loads, text)
#define __PG_ALL_GATHERED(calls)
#define __PG_GATHERED(name, text) (text)
#define __PG_IS_KEPT(base) 0
";

/// Macros for a device's memory.
pub const MACROS_DEVICE: &str = "\
#define __PG_LD(t, b, l, a) __pg_ld_##t(&__pg_c, &__pg_b##b, l, __PG_HOW(b), a)
#define __PG_LDS(t, b, l, a) __pg_lds_##t(&__pg_c, &__pg_b##b, l, __PG_HOW(b), a)
#define __PG_ST(t, b, a, v) __PG_LEAD __pg_st_##t(&__pg_c, &__pg_b##b, __PG_HOW(b), a, v)
#define __PG_LDP __PG_LD
#define __PG_STP __PG_ST
#define __PG_UP(t, b, op, a, v) __PG_LEAD __pg_update(&__pg_c, &__pg_b##b, a, sizeof(__pg_##t), PG_##op, v)
#define __PG_LDX(t, l, a) __pg_ldx_##t(&__pg_c, l, a)
#define __PG_STX(t, a, v) __PG_LEAD __pg_stx_##t(&__pg_c, a, v)
#define __PG_UPX(t, op, a, v) __PG_LEAD __pg_update_anywhere(&__pg_c, a, sizeof(__pg_##t), PG_##op, v)
#define __PG_OWN_LD(t, array, size, at) __pg_own_ld_##t(&__pg_c, array, size, at)
#define __PG_OWN_ST(t, array, size, at, v) __pg_own_st_##t(&__pg_c, array, size, at, v)
#define __PG_DIV(t, a, b) __pg_div_##t(&__pg_c, a, b)
#define __PG_REM(t, a, b) __pg_rem_##t(&__pg_c, a, b)
#define __PG_TO(t, type, x) ((type)__pg_f2##t(&__pg_c, x))
#define __PG_SQRT(t, f, x) __pg_sqrt_##t(&__pg_c, x)
#define __PG_INDEX unsigned int
#define __PG_POLL_AROUND() __pg_poll_around(&__pg_c)
";

/// What [`MACROS_DEVICE`] leaves open, for CUDA; the rest is in `paragon_kernel.h`.
pub const MACROS_CUDA: &str = "\
#define __PG_CALL(f) f
";

/// The same for the threads device.
pub const MACROS_THREADS: &str = "\
#define __PG_CALL(f) __builtin_##f
#define __PG_LEAD
#define __PG_UNCOUNTED(how) for (;;) { if (__pg_poll(&__pg_c)) break;
#define __PG_UNCOUNTED_END }
#define __PG_ARE_FEW(turns) 0
#define __PG_TURNS(kept, cond, type, unsigned_type, value, limit) while (cond) { \\
const type __pg_turns = !(kept) ? (type)((value) + 1) : \\
(unsigned_type)(limit) - (unsigned_type)(value) > 4096u ? (type)((value) + 4096) : (type)(limit); \\
for (; (type)(value) < __pg_turns; )
#define __PG_TURNS_END(kept, cond, type, unsigned_type, value, limit, logs, stages, ...) \\
if ((kept) ? (cond) && __pg_poll_now(&__pg_c) : __pg_poll(&__pg_c)) break; }
";

/// Macros for inspections. A load that has no part in the slice is 0, so a divisor may be; what the program itself would trap
/// on, it does when it comes there.
pub const MACROS_INSPECT: &str = "\
#define __PG_SHOWN(s) ((s) > 63 || !(__pg_known >> ((s) & 63) & 1))
#define __PG_WINDOW(s) __pg_w[(s) > 63 ? 0 : (s)]
#define __PG_TOUCH(s, how, a) if (__PG_SHOWN(s)) { const __pg_u64 __pg_at = (a); if (__pg_at - __PG_WINDOW(s).first >= __PG_WINDOW(s).length || (s) > 63) { \
if (__pg_s->touch(__pg_s, s, __pg_at, how)) return; \
if ((s) <= 63) { __PG_WINDOW(s).first = __pg_s->first; __PG_WINDOW(s).length = __pg_s->length; } } }
#define __PG_LOOK(t, s, how, a) __extension__ ({ const __pg_u64 __pg_a = (a); __PG_TOUCH(s, how, __pg_a) __pg_get_##t(__pg_a); })
#define __PG_PASS(t, s, how, a) __extension__ ({ __PG_TOUCH(s, how, a) (t)0; })
#define __PG_BY_MINUS_1(x, y) ((__typeof__(x))-1 < 1 && (y) == (__typeof__(x))-1)
#define __PG_DIV(t, a, b) __extension__ ({ __typeof__(a) __pg_x = (a), __pg_y = (b); \\
__pg_y == 0 ? 0 : __PG_BY_MINUS_1(__pg_x, __pg_y) ? (__typeof__(a))(0u - (__pg_u64)__pg_x) : __pg_x / __pg_y; })
#define __PG_REM(t, a, b) __extension__ ({ __typeof__(a) __pg_x = (a), __pg_y = (b); \\
__pg_y == 0 || __PG_BY_MINUS_1(__pg_x, __pg_y) ? 0 : __pg_x % __pg_y; })
#define __PG_TO(t, type, x) ((type)(x))
#define __PG_SQRT(t, f, x) __builtin_##f(x)
#define __PG_CALL(f) __builtin_##f
#define __PG_POLL_AROUND() (!(++__pg_turns & 0xffff) && __pg_s->poll(__pg_s) && (__pg_turns--, 1))
";

/// Takes the macros of inspections back.
pub const MACROS_INSPECT_END: &str = "\
#undef __PG_SHOWN
#undef __PG_WINDOW
#undef __PG_TOUCH
#undef __PG_LOOK
#undef __PG_PASS
#undef __PG_BY_MINUS_1
#undef __PG_DIV
#undef __PG_REM
#undef __PG_TO
#undef __PG_SQRT
#undef __PG_CALL
#undef __PG_POLL_AROUND
";

/// Takes the macros back.
pub const MACROS_END: &str = "\
#undef __PG_LD
#undef __PG_LDS
#undef __PG_ST
#undef __PG_LDP
#undef __PG_STP
#undef __PG_UP
#undef __PG_LDX
#undef __PG_STX
#undef __PG_UPX
#undef __PG_OWN_LD
#undef __PG_OWN_ST
#undef __PG_DIV
#undef __PG_REM
#undef __PG_TO
#undef __PG_SQRT
#undef __PG_CALL
#undef __PG_INDEX
#undef __PG_POLL_AROUND
#undef __PG_LEAD
#undef __PG_FEW
#undef __PG_UNCOUNTED
#undef __PG_UNCOUNTED_END
#undef __PG_ARE_FEW
#undef __PG_NOT_UNROLLED
#undef __PG_TURNS
#undef __PG_TURNS_END
#undef __PG_EACH
#undef __PG_MEMBERS
#undef __PG_WALK
#undef __PG_SET
#undef __PG_WALKING
#undef __PG_LDW
#undef __PG_SHARING
#undef __PG_SHARE
#undef __PG_ALL_SHARED
#undef __PG_ORIGIN
#undef __PG_LDO
#undef __PG_STO
#undef __PG_NOTE
#undef __PG_STN
#undef __PG_LENDING
#undef __PG_HOLDING_NOTHING
#undef __PG_HOLDING
#undef __PG_HELD
#undef __PG_HOLD
#undef __PG_LEND
#undef __PG_PLACE_POINTER
#undef __PG_ALL_LENT
#undef __PG_LENT
#undef __PG_GATHERING
#undef __PG_GATHER
#undef __PG_ALL_GATHERED
#undef __PG_GATHERED
#undef __PG_IS_KEPT
";

/// The printed body.
pub struct Body {
    /// Its statements.
    pub text: String,
    /// What comes in front of it: see [`LoopPlan::prelude`].
    pub prelude: String,
    /// Local variables of the body and temporaries: (type, name).
    pub locals: Vec<(&'static str, String)>,
    /// What a thread's iterations have in common, where it may run several together.
    pub group: Option<Group>,
    /// Whether some inner loop is run some turns at once.
    pub has_turns: bool,
    /// Whether the text asks which arrays nothing stores to.
    pub asks_kept: bool,
    /// Whether lanes lend each other what turns need, or take turns of each other.
    pub lends: bool,
    /// Whether they take turns of some loop side by side.
    pub shares: bool,
    /// Most bytes that lanes lend for a turn.
    pub room: u64,
}

/// Prints expressions and statements.
pub struct Printer<'a> {
    unit: &'a TranslationUnit,
    plan: &'a LoopPlan,
    locals: Vec<(&'static str, String)>,
    declared: BTreeSet<VarId>,
    temporaries: u32,
    labels: BTreeMap<LoopId, bool>,
    purpose: Purpose<'a>,
    /// A loop whose body stands in a further loop, and the head of that, brace included.
    strip: Option<(LoopId, &'a str)>,
    /// Whether what is printed is part of a subscript.
    in_subscript: bool,
    group: Option<Group>,
    /// Whether what is printed may be run for several iterations together.
    is_grouped: bool,
    /// Where accesses of a group are found from.
    origins: Vec<Origin>,
    /// The inner loop whose turns are printed, if it is one that is run some turns at once.
    walks: Option<Walks<'a>>,
    has_turns: bool,
    /// The same loop, where what its turns need can be made before them.
    lending: Option<Lending>,
    /// Whether what is printed is made before the turns.
    seeing: Option<Seeing>,
    /// The same loop, where what its turns gather can be made before them.
    ahead: Option<Ahead>,
    /// Whether that is printed.
    first_loads: Option<FirstLoads>,
    asks_kept: bool,
    lends: bool,
    shares: bool,
    room: u64,
    /// How many walks there are in all of the text.
    walk_count: u32,
    /// How many conditions stand around what is printed.
    conditions: u32,
    /// Whether what is printed is a statement of a group, which it makes one iteration after the other.
    in_group: bool,
    /// Whether the store that is printed has been noted already.
    is_noted: bool,
    /// Bases of the logged loads that were printed; `None` for those without a base.
    noted: BTreeSet<Option<u32>>,
    /// The same of all accesses that some log notes, stores among them; `None` for what may be no constant array's.
    logged: BTreeSet<Option<u32>>,
}

/// Accesses of an inner loop that move by strides: see `paragon_kernel.h`.
struct Walks<'a> {
    moving: Moving<'a>,
    /// Conditions around the loop; `None` where a turn may end early.
    conditions: Option<u32>,
    found: Vec<Walk>,
    /// Whether all accesses to memory are loads that walk.
    are_all: bool,
}

/// One of them; accesses with the same address share it.
struct Walk {
    name: String,
    /// Index of the base.
    base: u32,
    suffix: &'static str,
    /// The field of `struct __pg_view` that it goes through.
    memory: &'static str,
    address: String,
    /// In bytes: per iteration of each dimension, and per turn.
    strides: [Stride; MAX_DIMS],
    turn: Stride,
}

/// A place that accesses are found from: see [`Printer::by_origin`].
struct Origin {
    /// Index of the base.
    base: u32,
    /// The field of `struct __pg_view` that it goes through.
    memory: &'static str,
    /// Its address, as text.
    first: String,
    /// Its offset from the base where all dimensions are at their first iteration.
    at: Polynomial,
    /// In bytes per iteration of each dimension.
    strides: Vec<Polynomial>,
}

/// What the text is for, as far as memory is concerned.
#[derive(Clone, Copy)]
pub enum Purpose<'a> {
    /// Iterations: accesses are macros.
    Iterations,
    /// Expressions that are evaluated before the loop: memory is read directly.
    Entry,
    /// An inspection: accesses of the slice are shown to the runtime, nothing is stored.
    Inspection(&'a Inspection),
}

type Printed<T> = Result<T, String>;

/// The name of a variable's copy in generated text.
pub fn variable(v: VarId) -> String {
    format!("__pg_v{}", v.0)
}

/// The name of the number (+ 1) of the iteration that has set an extreme.
pub fn taken_by(v: VarId) -> String {
    format!("__pg_w{}", v.0)
}

/// Notes that this iteration has set an extreme, and whether by a NaN.
fn note_taken(v: VarId, taking: Taking) -> String {
    let (when, value) = (taken_by(v), variable(v));
    if taking.unordered {
        format!("{when} = __pg_now | ({when} & PG_TOOK_NAN) | ({value} != {value} ? PG_TOOK_NAN : 0);\n")
    } else {
        format!("{when} = __pg_now;\n")
    }
}

/// In an inspection, what stands for text that nothing follows from: what is loaded in it is shown all the same.
fn seen(text: &str) -> String {
    format!("(void)({text});\n")
}

/// The same where a value is asked for.
fn unknown(kind: Scalar, text: &str) -> String {
    format!("((void)({text}), ({})0)", kind.name())
}

/// Prints the body of the innermost merged dimension.
pub fn print(unit: &TranslationUnit, plan: &LoopPlan, body: &Stmt, purpose: Purpose) -> Printed<Body> {
    let mut printer = Printer::new(unit, plan, purpose);
    if matches!(purpose, Purpose::Iterations) {
        printer.group = group::group(unit, plan, body);
        printer.is_grouped = printer.group.is_some();
    }
    printed(printer, plan, body)
}

/// Prints the body of an interchanged nest with a strip of the outermost loop, whose head is given, inside the loops that it was
/// brought over: the order of the source.
pub fn print_strip(
    unit: &TranslationUnit,
    plan: &LoopPlan,
    body: &Stmt,
    head: &str,
) -> Printed<Option<Body>> {
    let Some(interchange) = plan.interchange.as_ref().filter(|_| plan.dims.len() == 1) else {
        return Ok(None);
    };
    let mut printer = Printer::new(unit, plan, Purpose::Iterations);
    printer.strip = Some((interchange.innermost_over, head));
    printed(printer, plan, body).map(Some)
}

fn printed(mut printer: Printer, plan: &LoopPlan, body: &Stmt) -> Printed<Body> {
    let mut out = String::new();
    let innermost = plan.dims[plan.dims.len() - 1].loop_id;
    let mut prelude = String::new();
    for s in &plan.prelude.statements {
        printer.statement(s, innermost, &mut prelude)?;
    }
    printer.labels.insert(innermost, false);
    match printer.group.take() {
        Some(group) => {
            let mut open = false;
            printer.together(body, &group, innermost, &mut open, &mut out)?;
            close(&mut open, &mut out);
            let origins = printer.origins.iter().enumerate();
            let origins: String = origins
                .map(|(number, Origin { base, memory, first, .. })| {
                    format!("__PG_ORIGIN(__pg_origin_{number}, {base}, {memory}, {first})\n")
                })
                .collect();
            out.insert_str(0, &origins);
            printer.group = Some(group);
        }
        None => printer.statement(body, innermost, &mut out)?,
    }
    if printer.labels.get(&innermost) == Some(&true) {
        out.push_str(&format!("__pg_continue_{}: ;\n", innermost.0));
    }
    if !plan.private.is_empty() && !matches!(printer.purpose, Purpose::Inspection(_)) {
        // In a block of its own, so that the compiler knows how long they live.
        let declare =
            |(v, size): (&VarId, &u64)| format!("__pg_u64 {}[{}];\n", variable(*v), size.div_ceil(8));
        out = format!("{{\n{}{out}}}\n", plan.private.iter().map(declare).collect::<String>());
    }
    Ok(Body {
        text: out,
        prelude,
        locals: printer.locals,
        group: printer.group,
        has_turns: printer.has_turns,
        asks_kept: printer.asks_kept,
        lends: printer.lends,
        shares: printer.shares,
        room: printer.room,
    })
}

/// Begins what each iteration of a group does by itself.
fn begin(open: &mut bool, out: &mut String) {
    if !std::mem::replace(open, true) {
        out.push_str("__PG_EACH { __PG_MEMBERS\n");
    }
}

/// Ends it.
fn close(open: &mut bool, out: &mut String) {
    if std::mem::take(open) {
        out.push_str("}\n");
    }
}

impl<'a> Printer<'a> {
    /// A printer.
    pub fn new(unit: &'a TranslationUnit, plan: &'a LoopPlan, purpose: Purpose<'a>) -> Printer<'a> {
        Printer {
            unit,
            plan,
            locals: Vec::new(),
            declared: BTreeSet::new(),
            temporaries: 0,
            labels: BTreeMap::new(),
            purpose,
            strip: None,
            in_subscript: false,
            group: None,
            is_grouped: false,
            origins: Vec::new(),
            walks: None,
            has_turns: false,
            lending: None,
            seeing: None,
            ahead: None,
            first_loads: None,
            asks_kept: false,
            lends: false,
            shares: false,
            room: 0,
            walk_count: 0,
            conditions: 0,
            in_group: false,
            is_noted: false,
            noted: BTreeSet::new(),
            logged: BTreeSet::new(),
        }
    }

    fn scalar(&self, ty: QualType) -> Printed<Scalar> {
        scalar(&self.unit.types, ty.ty)
    }

    fn declare(&mut self, v: VarId) -> Printed<()> {
        let outside = self.plan.scalars.contains_key(&v) || self.plan.live_ins.contains(&v);
        if !outside && self.declared.insert(v) {
            let name = self.scalar(self.unit.var(v).ty)?.name();
            self.locals.push((name, variable(v)));
        }
        Ok(())
    }

    fn temporary(&mut self, kind: Scalar) -> String {
        self.temporaries += 1;
        let name = format!("__pg_t{}", self.temporaries);
        self.locals.push((kind.name(), name.clone()));
        name
    }

    /// The address of a place in memory; of one in the iteration's own memory the offset.
    pub fn address(&mut self, place: &Place, out: &mut String) -> Printed<String> {
        match &place.kind {
            PlaceKind::Var(v) => {
                if is_scalar(self.unit, place).is_some() {
                    return Err("the address of a variable".into());
                }
                if self.plan.private.contains_key(v) {
                    return Ok("(__pg_u64)0".into());
                }
                Ok(format!("__pg_o{}", v.0))
            }
            PlaceKind::Deref(e) => self.value(e, out),
            PlaceKind::Field { base, offset, bits: None, .. } => {
                let base = self.address(base, out)?;
                Ok(if *offset == 0 { base } else { format!("({base} + {offset}u)") })
            }
            PlaceKind::Field { .. } => Err("a bit-field".into()),
            PlaceKind::Opaque(what) => Err((*what).into()),
        }
    }

    /// The object of the iteration's own that a place is part of.
    fn own(&self, place: &Place) -> Option<VarId> {
        private::object(&self.unit.types, &self.plan.private, place)
    }

    /// Its name and its size, as the macros take them.
    fn own_memory(&self, v: VarId) -> String {
        format!("{}, {}", variable(v), self.plan.private[&v])
    }

    /// Memory of the iteration's own gets its first values.
    fn own_values(&mut self, v: VarId, init: &Init, out: &mut String) -> Printed<()> {
        let one;
        let list: &[(u64, Expr)] = match init {
            Init::Scalar(value) => {
                one = [(0, value.clone())];
                &one
            }
            Init::Members(list) => list,
            Init::Aggregate => return Err("an aggregate".into()),
        };
        let mut covered = 0;
        let mut stores = String::new();
        for (at, value) in list {
            let text = self.value(value, &mut stores)?;
            if matches!(self.purpose, Purpose::Inspection(_)) {
                out.push_str(&std::mem::take(&mut stores));
                out.push_str(&seen(&text));
                continue;
            }
            let kind = self.scalar(value.ty)?;
            let memory = self.own_memory(v);
            stores.push_str(&format!("__PG_OWN_ST({}, {memory}, {at}u, {text});\n", kind.suffix()));
            covered += self.unit.types.size_of(value.ty.ty).unwrap_or(0);
        }
        if matches!(self.purpose, Purpose::Inspection(_)) {
            return Ok(());
        }
        if covered < self.plan.private[&v] {
            let (name, words) = (variable(v), self.plan.private[&v].div_ceil(8));
            let word = "__pg_word";
            out.push_str(&format!(
                "{{ int {word}; for ({word} = 0; {word} < {words}; {word}++) {name}[{word}] = 0; }}\n"
            ));
        }
        out.push_str(&stores);
        Ok(())
    }

    fn load(&mut self, place: &Place, out: &mut String) -> Printed<String> {
        if !matches!(self.purpose, Purpose::Entry)
            && let Some(index) = self.plan.invariant_places.get(&place.id)
        {
            return Ok(format!("__pg_i{index}"));
        }
        if let Some(v) = is_scalar(self.unit, place) {
            self.declare(v)?;
            return Ok(variable(v));
        }
        let address = self.address(place, out)?;
        self.load_at(place, &address)
    }

    fn load_at(&mut self, place: &Place, address: &str) -> Printed<String> {
        let kind = self.scalar(place.ty)?;
        if matches!(self.purpose, Purpose::Entry) {
            return Ok(format!("__pg_get_{}({address})", kind.suffix()));
        }
        if let Some(v) = self.own(place) {
            return Ok(match self.purpose {
                // No inspection needs what is there.
                Purpose::Inspection(_) => unknown(kind, address),
                _ => format!("__PG_OWN_LD({}, {}, {address})", kind.suffix(), self.own_memory(v)),
            });
        }
        let id = self.plan.site_of.get(&place.id).and_then(|s| s.0).ok_or("a load that was not analysed")?;
        let site = &self.plan.sites[id.0 as usize];
        let logged = if site.logged { 1 } else { 2 * i32::from(site.covered) };
        if let Purpose::Inspection(slice) = self.purpose {
            let (feeds, meets) = (slice.feeding.contains(&place.id), slice.meeting.contains(&id));
            let touch = format!("{}, {}, {address}", id.0, Self::how(site, feeds, meets));
            return Ok(match (feeds, meets) {
                (true, _) => format!("__PG_LOOK({}, {touch})", kind.suffix()),
                (false, true) => format!("__PG_PASS({}, {touch})", kind.name()),
                (false, false) => unknown(kind, address),
            });
        }
        let (suffix, base) = (kind.suffix(), site.base.0);
        let known = (!matches!(self.plan.bases[base as usize], Base::Dynamic)).then_some(base);
        let (from, memory) = match self.plan.privatization.bases.contains(&site.base) {
            _ if known.is_none() => ("LDX", None),
            true => ("LDP", None),
            false if site.may_use_snapshot => ("LDS", Some("snapshot")),
            false => ("LD", Some("dev")),
        };
        if site.logged {
            self.noted.insert(known);
        }
        if logged != 0 {
            self.logged.insert(known);
        }
        if let Some(seeing) = &mut self.seeing {
            return Ok(seeing.load((place, from), suffix, known, logged, address));
        }
        if let Some(first) = &mut self.first_loads {
            return Ok(first.load(from, suffix, known, logged, address));
        }
        let walk = memory.and_then(|memory| self.walk(place, site, memory, suffix, address));
        if walk.is_none() {
            self.note_other_access();
        }
        let text = match walk {
            Some(walk) => format!("__PG_LDW(__PG_{from}, {suffix}, {base}, {logged}, {walk}, {address})"),
            None if known.is_none() => format!("__PG_LDX({suffix}, {logged}, {address})"),
            None => match memory.and_then(|memory| self.by_origin(site, memory)) {
                Some(at) => format!("__PG_LDO(__PG_{from}, {suffix}, {base}, {logged}, {at}, {address})"),
                None => format!("__PG_{from}({suffix}, {base}, {logged}, {address})"),
            },
        };
        Ok(self.loaded(kind, known, (site.logged, from == "LD"), address, text))
    }

    /// What notes a group's store ahead of what computes its value, where its place follows from an origin alone: bits are set while loads are
    /// under way.
    fn note_of_store(&mut self, place: &Place) -> Option<String> {
        let kind = self.scalar(place.ty).ok().filter(|_| self.own(place).is_none())?;
        let id = self.plan.site_of.get(&place.id)?.1?;
        let site = &self.plan.sites[id.0 as usize];
        let base = site.base;
        let is_dynamic = matches!(self.plan.bases[base.0 as usize], Base::Dynamic);
        if is_dynamic || self.plan.privatization.bases.contains(&base) {
            return None;
        }
        let at = self.by_origin(site, "dev")?;
        Some(format!("__PG_NOTE({}, {}, {at})", kind.suffix(), base.0))
    }

    /// Where an access is found from an origin, and how far from it: the place of another access, or its own, of the group's first
    /// iteration. For accesses that are affine, in what may be run in groups: those that strides move alike share what makes their address.
    /// Of subscripts it is made anew each time, because for all that a compiler knows they might wrap around.
    fn by_origin(&mut self, site: &Site, memory: &'static str) -> Option<String> {
        let affine = site.affine.as_ref().filter(|affine| affine.exact && affine.whole_steps)?;
        if !self.is_grouped {
            return None;
        }
        let strides: Option<Vec<Polynomial>> = affine
            .strides
            .iter()
            .zip(&self.plan.dims)
            .map(|(stride, dim)| Polynomial::of(stride)?.times(dim.distance))
            .collect();
        let (strides, at) = (strides?, Polynomial::of(&affine.lo)?);
        let base = site.base.0;
        let pointer = match self.plan.bases[base as usize] {
            Base::Object { var, .. } => format!("__pg_o{}", var.0),
            Base::Pointer { var }
                if self.plan.live_ins.contains(&var) && !self.plan.scalars.contains_key(&var) =>
            {
                variable(var)
            }
            _ => return None,
        };
        let along = |how: &str| -> String {
            let moving = strides.iter().enumerate().filter(|(_, stride)| !stride.is_zero());
            moving
                .map(|(dim, stride)| format!(" + {} * {}", how.replace('#', &dim.to_string()), stride.text()))
                .collect()
        };
        let known = self
            .origins
            .iter()
            .position(|origin| origin.base == base && origin.memory == memory && origin.strides == strides);
        let number = known.unwrap_or_else(|| {
            let first = format!("{pointer} + {}{}", at.text(), along("(__pg_u64)__pg_first_k#"));
            self.origins.push(Origin { base, memory, first, at: at.clone(), strides: strides.clone() });
            self.origins.len() - 1
        });
        let away = at.minus(&self.origins[number].at)?;
        Some(format!("__pg_origin_{number}, {}{}", away.text(), along("(__pg_u64)__PG_OF_GROUP(#, 0)")))
    }

    /// The walk of a load in an inner loop, where it moves by strides.
    fn walk(
        &mut self,
        place: &Place,
        site: &Site,
        memory: &'static str,
        suffix: &'static str,
        address: &str,
    ) -> Option<String> {
        // Under a condition the first turn's address may be none that the program computes, and wrap around.
        let walks = self.walks.as_mut().filter(|walks| walks.conditions == Some(self.conditions))?;
        let affine = site.affine.as_ref().filter(|affine| affine.whole_steps)?;
        let turn = walks.moving.address(place)?;
        let same = |walk: &&mut Walk| {
            walk.address == address
                && walk.base == site.base.0
                && walk.suffix == suffix
                && walk.memory == memory
        };
        if let Some(walk) = walks.found.iter_mut().find(same) {
            return Some(walk.name.clone());
        }
        if walks.found.len() == group::MOST_WALKS {
            return None;
        }
        let mut strides = [Stride::Known(0); MAX_DIMS];
        for ((stride, bound), dim) in strides.iter_mut().zip(&affine.strides).zip(&self.plan.dims) {
            *stride = match bound {
                Bound::Const(bytes) => bytes.checked_mul(dim.distance).map_or(Stride::Same, Stride::Known),
                _ => Stride::Same,
            };
        }
        self.walk_count += 1;
        let name = format!("__pg_walk_{}", self.walk_count);
        let (base, address) = (site.base.0, address.to_owned());
        walks.found.push(Walk { name: name.clone(), base, suffix, memory, address, strides, turn });
        Some(name)
    }

    /// What stands in front of a loop with such accesses, and how many of them there are per turn.
    fn walks_text(walks: &Walks, kind: &str, iv: &str, together: bool) -> (String, String) {
        let (mut text, mut calls, mut types) = (String::new(), String::new(), Vec::new());
        for walk in &walks.found {
            let strides: Vec<String> = walk.strides.iter().map(|stride| stride.text()).collect();
            text.push_str(&format!(
                "__PG_WALK({}, {}, {}, {}, {}, {})\n",
                walk.name,
                walk.suffix,
                walk.base,
                u8::from(together),
                strides.join(", "),
                walk.turn.text(),
            ));
            calls.push_str(&format!("__pg_do({}); ", walk.name));
            types.push(format!("decltype({})", walk.name));
        }
        if !walks.found.is_empty() {
            text.push_str(if together { "__PG_EACH { __PG_MEMBERS\n" } else { "{\n" });
            for Walk { name, base, memory, address, .. } in &walks.found {
                text.push_str(&format!("__PG_SET({name}, {base}, {memory}, {kind}, {iv}, {address})\n"));
            }
            text.push_str("}\n");
        }
        text.push_str(&format!("__PG_WALKING({calls};)\n"));
        (text, types.join(", "))
    }

    fn store(&mut self, place: &Place, value: &str, out: &mut String) -> Printed<()> {
        if let Some(v) = is_scalar(self.unit, place) {
            self.declare(v)?;
            out.push_str(&format!("{} = {value};\n", variable(v)));
            if let Some(ScalarRole::Extreme { taking }) = self.plan.scalars.get(&v) {
                out.push_str(&note_taken(v, *taking));
            }
            return Ok(());
        }
        let address = self.address(place, out)?;
        self.store_at(place, &address, value, out)
    }

    /// Notes that a turn accesses memory in another way than by loads that walk.
    fn note_other_access(&mut self) {
        if let Some(walks) = &mut self.walks {
            walks.are_all = false;
        }
    }

    fn store_at(&mut self, place: &Place, address: &str, value: &str, out: &mut String) -> Printed<()> {
        self.note_other_access();
        let kind = self.scalar(place.ty)?;
        if let Some(v) = self.own(place) {
            let memory = self.own_memory(v);
            out.push_str(&match self.purpose {
                Purpose::Inspection(_) => seen(address),
                _ => format!("__PG_OWN_ST({}, {memory}, {address}, {value});\n", kind.suffix()),
            });
            return Ok(());
        }
        let id = self.plan.site_of.get(&place.id).and_then(|s| s.1).ok_or("a store that was not analysed")?;
        let site = &self.plan.sites[id.0 as usize];
        if let Purpose::Inspection(slice) = self.purpose {
            let meets = slice.meeting.contains(&id);
            if meets || slice.changing.contains(&id) {
                let how = Self::how(site, false, meets);
                out.push_str(&format!("__PG_TOUCH({}, {how}, {address})\n", id.0));
            } else {
                out.push_str(&seen(address));
            }
            return Ok(());
        }
        self.logged.insert(None);
        let text = match self.plan.bases[site.base.0 as usize] {
            Base::Dynamic => format!("__PG_STX({}, {address}, {value});", kind.suffix()),
            _ => {
                let own = self.plan.privatization.bases.contains(&site.base);
                let (suffix, base) = (kind.suffix(), site.base.0);
                match self.by_origin(site, "dev").filter(|_| !own) {
                    Some(at) => {
                        let how = if self.is_noted { "STN" } else { "STO" };
                        format!("__PG_{how}({suffix}, {base}, {at}, {address}, {value});")
                    }
                    None => format!(
                        "__PG_{}({suffix}, {base}, {address}, {value});",
                        if own { "STP" } else { "ST" }
                    ),
                }
            }
        };
        out.push_str(&self.stored(kind, address, value, text));
        out.push('\n');
        Ok(())
    }

    /// An update that may meet others: on devices it is made in one piece.
    fn update(&mut self, parts: &updates::Parts, out: &mut String) -> Printed<()> {
        self.note_other_access();
        let Scalar::Int(kind) = self.scalar(parts.place.ty)? else { return Err("an update".into()) };
        // Arithmetic modulo the width of the place, where a product of two narrow numbers can't overflow either.
        let wide = if kind.size() == 8 { "__pg_u64" } else { "unsigned int" };
        let operand = match parts.operand {
            updates::Operand::Constant(amount) => format!("({wide}){}", types::literal(amount)),
            updates::Operand::Value { value, negated } => {
                let text = self.value(value, out)?;
                format!("{}({wide})({text})", if negated { "0u - " } else { "" })
            }
        };
        let address = self.address(parts.place, out)?;
        let store = self.plan.site_of.get(&parts.place.id).and_then(|s| s.1);
        let id = store.ok_or("an update that was not analysed")?;
        let site = &self.plan.sites[id.0 as usize];
        if let Purpose::Inspection(slice) = self.purpose {
            out.push_str(&seen(&operand));
            if slice.meeting.contains(&id) || slice.changing.contains(&id) {
                let how = Self::how(site, false, slice.meeting.contains(&id));
                let kind = format!("PG_UPDATE_KIND({}, {})", types::operation(parts.op), site.width);
                out.push_str(&format!(
                    "__PG_TOUCH({}, {how} | PG_TOUCH_UPDATE | {kind} << PG_TOUCH_KIND, {address})\n",
                    id.0
                ));
            } else {
                out.push_str(&seen(&address));
            }
            return Ok(());
        }
        self.logged.insert(None);
        let suffix = format!("u{}", kind.size() * 8);
        let op = types::operation(parts.op).trim_start_matches("PG_");
        out.push_str(&match self.plan.bases[site.base.0 as usize] {
            Base::Dynamic => format!("__PG_UPX({suffix}, {op}, {address}, {operand});\n"),
            _ => format!("__PG_UP({suffix}, {}, {op}, {address}, {operand});\n", site.base.0),
        });
        Ok(())
    }

    /// `m = x < m ? x : m` of an extreme: place, condition, and the arm that is taken, behind it or behind its negation. It is
    /// printed so that only what is taken is assigned.
    #[allow(clippy::type_complexity)]
    fn kept_or_taken<'e>(&self, e: &'e Expr) -> Option<(&'e Place, &'e Expr, [Option<&'e Expr>; 2])> {
        let ExprKind::Assign(place, value) = &e.kind else { return None };
        let v = is_scalar(self.unit, place)
            .filter(|v| matches!(self.plan.scalars.get(v), Some(ScalarRole::Extreme { .. })))?;
        let mut value = &**value;
        while let ExprKind::Cast(inner) = &value.kind {
            value = inner;
        }
        let ExprKind::Conditional(c, a, b) = &value.kind else { return None };
        let is_kept = |mut arm: &Expr| {
            while let ExprKind::Cast(inner) = &arm.kind {
                arm = inner;
            }
            matches!(&arm.kind, ExprKind::Load(place) if is_scalar(self.unit, place) == Some(v))
        };
        Some((place, c, [(!is_kept(a)).then_some(a), (!is_kept(b)).then_some(b)]))
    }

    /// How an inspection is told of an access: `PG_TOUCH_*` and the width.
    fn how(site: &Site, feeds: bool, meets: bool) -> String {
        let flags = [(site.is_store, "PG_TOUCH_STORE"), (feeds, "PG_TOUCH_FEEDS"), (meets, "PG_TOUCH_MEETS")];
        let set: Vec<&str> = flags.iter().filter(|(on, _)| *on).map(|(_, name)| *name).collect();
        format!("{} | {} << PG_TOUCH_WIDTH", set.join(" | "), site.width)
    }

    fn has_side_effects(e: &Expr) -> bool {
        let mut found = false;
        crate::loops::nest::expressions(e, &mut |e| {
            found |= crate::loops::nest::accessed_place(e).is_some_and(|(_, _, writes)| writes);
        });
        found
    }

    fn pure(&mut self, e: &Expr) -> Printed<String> {
        if Self::has_side_effects(e) {
            return Err("a side effect under a condition".into());
        }
        let mut none = String::new();
        self.conditions += 1;
        let text = self.value(e, &mut none);
        self.conditions -= 1;
        let text = text?;
        if none.is_empty() { Ok(text) } else { Err("a side effect under a condition".into()) }
    }

    /// Two operands; where the second has side effects the first is saved before them.
    fn operands(&mut self, a: &Expr, b: &Expr, out: &mut String) -> Printed<(String, String)> {
        let mut left = self.value(a, out)?;
        if Self::has_side_effects(b) {
            let kind = self.scalar(a.ty)?;
            let saved = self.temporary(kind);
            out.push_str(&format!("{saved} = {left};\n"));
            left = saved;
        }
        Ok((left, self.value(b, out)?))
    }

    /// The value of an expression; its side effects go to `out` first.
    pub fn value(&mut self, e: &Expr, out: &mut String) -> Printed<String> {
        if let Some(lent) = self.lend(e)? {
            return Ok(lent);
        }
        if let Some(gathered) = self.look_ahead(e)? {
            return Ok(gathered);
        }
        match &e.kind {
            ExprKind::Int(v) => {
                let kind = self.scalar(e.ty)?;
                let bits = *v as i64;
                Ok(match kind {
                    Scalar::Int(k) if k.size() <= 4 && k.signed() && bits != i64::from(i32::MIN) => {
                        format!("({}){bits}", kind.name()).replace(")-", ")(-")
                            + if bits < 0 { ")" } else { "" }
                    }
                    Scalar::Int(k) if k.size() <= 4 && !k.signed() => {
                        format!("({})0x{:x}u", kind.name(), bits as u32)
                    }
                    _ => format!("(({}){})", kind.name(), types::literal(bits)),
                })
            }
            ExprKind::Float(text) => {
                let value: f64 = text.parse().map_err(|_| "a floating constant")?;
                match self.scalar(e.ty)? {
                    // Shortest decimal spelling that reads back as the same value.
                    Scalar::F32 => Ok(format!("{:e}f", value as f32)),
                    Scalar::F64 => Ok(format!("{value:e}")),
                    _ => Err("a floating constant of another type".into()),
                }
            }
            ExprKind::Load(p) => self.load(p, out),
            ExprKind::AddressOf(p) => self.address(p, out),
            ExprKind::Unary(op, a) => {
                let operand = self.value(a, out)?;
                let kind = self.scalar(e.ty)?;
                Ok(match (op, kind) {
                    (UnOp::Not, _) => format!("((int)!({operand}))"),
                    (UnOp::BitNot, _) => format!("(({})~({operand}))", kind.name()),
                    (UnOp::Neg, Scalar::Int(k)) => {
                        format!("(({})(0u - ({})({operand})))", kind.name(), types::unsigned(k))
                    }
                    (UnOp::Neg, _) => format!("(-({operand}))"),
                })
            }
            ExprKind::Binary(op, a, b) => {
                let (x, y) = self.operands(a, b, out)?;
                self.binary(*op, &x, &y, a.ty, e.ty, fold(&self.unit.types, b))
            }
            ExprKind::PtrAdd { pointer, index, stride } => {
                let outer = std::mem::replace(&mut self.in_subscript, true);
                let operands = self.operands(pointer, index, out);
                self.in_subscript = outer;
                let (p, i) = operands?;
                let p = if self.seeing.is_some() { self.pointer_of_all(pointer, p) } else { p };
                Ok(format!("({p} + (__pg_u64)(__pg_i64)({i}) * {stride}u)"))
            }
            ExprKind::PtrDiff { left, right, stride } => {
                let (a, b) = self.operands(left, right, out)?;
                Ok(format!("((__pg_i64)({a} - {b}) / (__pg_i64){stride})"))
            }
            ExprKind::Cast(inner) => {
                if matches!(self.unit.types.kind(e.ty.ty), TypeKind::Void) {
                    return self.value(inner, out);
                }
                let text = self.value(inner, out)?;
                let (from, to) = (self.scalar(inner.ty)?, self.scalar(e.ty)?);
                Ok(self.cast(&text, from, to))
            }
            ExprKind::Conditional(c, a, b) => {
                let c = self.value(c, out)?;
                let (a, b) = (self.pure(a)?, self.pure(b)?);
                let name = self.scalar(e.ty)?.name();
                Ok(format!("(({c}) ? ({name})({a}) : ({name})({b}))"))
            }
            ExprKind::LogicalAnd(a, b) => {
                let (a, b) = (self.value(a, out)?, self.pure(b)?);
                Ok(format!("((int)(({a}) && ({b})))"))
            }
            ExprKind::LogicalOr(a, b) => {
                let (a, b) = (self.value(a, out)?, self.pure(b)?);
                Ok(format!("((int)(({a}) || ({b})))"))
            }
            ExprKind::Comma(a, b) => {
                let first = self.value(a, out)?;
                if !Self::has_side_effects(a) {
                    out.push_str(&format!("(void)({first});\n"));
                }
                self.value(b, out)
            }
            ExprKind::Assign(place, value) => {
                let value = self.value(value, out)?;
                self.assigned(place, value, out)
            }
            ExprKind::AssignOp { op, place, value, compute } => {
                let operand = self.value(value, out)?;
                let (old, address) = self.load_to_change(place, out)?;
                let (kind, wide) = (self.scalar(place.ty)?, self.scalar(*compute)?);
                let old = self.cast(&old, kind, wide);
                let result =
                    self.binary(*op, &old, &operand, *compute, *compute, fold(&self.unit.types, value))?;
                let result = self.cast(&result, wide, kind);
                self.assigned_at(place, address.as_deref(), result, out)
            }
            ExprKind::PtrAssign { place, index, stride } => {
                let index = self.value(index, out)?;
                let (old, address) = self.load_to_change(place, out)?;
                let new = format!("({old} + (__pg_u64)(__pg_i64)({index}) * {stride}u)");
                self.assigned_at(place, address.as_deref(), new, out)
            }
            ExprKind::IncDec { place, amount, post } => {
                let kind = self.scalar(place.ty)?;
                let (loaded, address) = self.load_to_change(place, out)?;
                let old = self.temporary(kind);
                out.push_str(&format!("{old} = {loaded};\n"));
                let new = match kind {
                    Scalar::Int(IntKind::Bool) => return Err("an increment of a _Bool".into()),
                    Scalar::Int(k) => {
                        format!(
                            "(({})(({u}){old} + ({u}){}))",
                            kind.name(),
                            types::literal(*amount),
                            u = types::unsigned(k)
                        )
                    }
                    Scalar::Address => format!("({old} + (__pg_u64){})", types::literal(*amount)),
                    Scalar::F32 | Scalar::F64 => {
                        format!("({old} + ({}){})", kind.name(), types::literal(*amount))
                    }
                };
                let new = self.assigned_at(place, address.as_deref(), new, out)?;
                Ok(if *post { old } else { new })
            }
            ExprKind::Call { callee, args } => {
                let name = match callee {
                    Callee::Named(id) => self.unit.var(*id).name.as_str(),
                    Callee::Builtin(name) => name.as_str(),
                    Callee::Pointer(_) => return Err("a call through a pointer".into()),
                };
                let name = name.strip_prefix("__builtin_").unwrap_or(name).to_owned();
                let kind = self.scalar(e.ty)?;
                let mut texts = Vec::new();
                for argument in args {
                    if Self::has_side_effects(argument) && args.len() > 1 {
                        return Err("a side effect among arguments".into());
                    }
                    texts.push(self.value(argument, out)?);
                }
                if matches!(self.purpose, Purpose::Inspection(_)) && exact_function(&name).is_none() {
                    // No address follows from it.
                    return Ok(unknown(kind, &texts.join(", ")));
                }
                if name == "sqrt" || name == "sqrtf" {
                    return Ok(format!("__PG_SQRT({}, {name}, {})", kind.suffix(), texts.join(", ")));
                }
                Ok(format!("__PG_CALL({name})({})", texts.join(", ")))
            }
            ExprKind::Str(_) | ExprKind::Function(_) => {
                Err("an address of something that is no array".into())
            }
            ExprKind::Opaque(what) => Err((*what).into()),
        }
    }

    /// Stores a value and gives it back.
    fn assigned(&mut self, place: &Place, value: String, out: &mut String) -> Printed<String> {
        self.assigned_at(place, None, value, out)
    }

    /// The same for a place whose address is known already.
    fn assigned_at(
        &mut self,
        place: &Place,
        address: Option<&str>,
        value: String,
        out: &mut String,
    ) -> Printed<String> {
        if let Some(v) = is_scalar(self.unit, place) {
            self.store(place, &value, out)?;
            return Ok(variable(v));
        }
        let kind = self.scalar(place.ty)?;
        let saved = self.temporary(kind);
        let is_common = self.in_group && self.conditions == 0;
        let note = if is_common { self.note_of_store(place) } else { None };
        if let Some(note) = &note {
            out.push_str(&format!("{note}\n}}\n__PG_EACH {{ __PG_MEMBERS\n"));
        }
        out.push_str(&format!("{saved} = {value};\n"));
        // All iterations of a group load before the first of them stores: their compiler would not dare to.
        if is_common {
            out.push_str("}\n__PG_EACH { __PG_MEMBERS\n");
        }
        self.is_noted = note.is_some();
        let stored = match address {
            Some(address) => self.store_at(place, address, &saved, out),
            None => self.store(place, &saved, out),
        };
        self.is_noted = false;
        stored.map(|()| saved)
    }

    /// The old value of a place that is about to be changed, and the address if it is in memory: an address that has side
    /// effects is computed only once.
    fn load_to_change(&mut self, place: &Place, out: &mut String) -> Printed<(String, Option<String>)> {
        if is_scalar(self.unit, place).is_some() {
            return Ok((self.load(place, out)?, None));
        }
        let mut address = self.address(place, out)?;
        let mut changes = false;
        crate::loops::nest::place_expressions(place, &mut |e| {
            changes |= crate::loops::nest::accessed_place(e).is_some_and(|(_, _, writes)| writes);
        });
        if changes {
            let saved = self.temporary(Scalar::Address);
            out.push_str(&format!("{saved} = {address};\n"));
            address = saved;
        }
        Ok((self.load_at(place, &address)?, Some(address)))
    }

    fn cast(&self, text: &str, from: Scalar, to: Scalar) -> String {
        match (from, to) {
            _ if from == to => text.to_owned(),
            (_, Scalar::Int(IntKind::Bool)) => format!("((unsigned char)(({text}) != 0))"),
            (Scalar::F32 | Scalar::F64, Scalar::Int(kind)) => {
                // What x86 compilers do: narrow types by way of int, unsigned int by way of 64 bits.
                let via = match (kind.size(), kind.signed()) {
                    (1 | 2, _) | (4, true) => "i32",
                    (4, false) => "u32",
                    (_, true) => "i64",
                    (_, false) => "u64",
                };
                format!("__PG_TO({via}, {}, {text})", to.name())
            }
            _ => format!("(({})({text}))", to.name()),
        }
    }

    fn binary(
        &self,
        op: BinOp,
        x: &str,
        y: &str,
        operand: QualType,
        result: QualType,
        constant: Option<i128>,
    ) -> Printed<String> {
        let (kind, result) = (self.scalar(operand)?, self.scalar(result)?);
        let sign = op.c_name();
        let Scalar::Int(k) = kind else {
            return Ok(match op {
                BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge | BinOp::Eq | BinOp::Ne => {
                    format!("((int)(({x}) {sign} ({y})))")
                }
                _ => format!("(({x}) {sign} ({y}))"),
            });
        };
        Ok(match op {
            BinOp::Add | BinOp::Sub | BinOp::Mul
                if self.in_subscript && k == IntKind::Int && matches!(self.purpose, Purpose::Iterations) =>
            {
                format!("((int)((__PG_INDEX)({x}) {sign} (__PG_INDEX)({y})))")
            }
            BinOp::Add | BinOp::Sub | BinOp::Mul => {
                format!("(({})(({u})({x}) {sign} ({u})({y})))", result.name(), u = types::unsigned(k))
            }
            BinOp::And | BinOp::Or | BinOp::Xor => format!("(({})(({x}) {sign} ({y})))", result.name()),
            BinOp::Div | BinOp::Rem => {
                // Before the loop it is the program that would divide there.
                if matches!(self.purpose, Purpose::Entry) || constant.is_some_and(|c| c != 0 && c != -1) {
                    format!("(({})(({x}) {sign} ({y})))", result.name())
                } else {
                    let name = if op == BinOp::Div { "DIV" } else { "REM" };
                    format!("__PG_{name}({}, {x}, {y})", kind.suffix())
                }
            }
            BinOp::Shl | BinOp::Shr => {
                // As the hardware does it where C says nothing.
                let mask = if k.size() == 8 { 63 } else { 31 };
                let count = match constant {
                    Some(c) if (0..=mask).contains(&c) => format!("{c}"),
                    _ => format!("((int)({y}) & {mask})"),
                };
                if op == BinOp::Shl {
                    format!("(({})(({})({x}) << {count}))", result.name(), types::unsigned(k))
                } else {
                    format!("(({})(({x}) >> {count}))", result.name())
                }
            }
            _ => format!("((int)(({x}) {sign} ({y})))"),
        })
    }

    /// What is done where a condition holds, and where it doesn't.
    fn branches(
        &mut self,
        cond: &str,
        then: &Stmt,
        otherwise: Option<&Stmt>,
        current: LoopId,
        out: &mut String,
    ) -> Printed<()> {
        out.push_str(&format!("if ({cond}) {{\n"));
        self.conditions += 1;
        self.statement(then, current, out)?;
        if let Some(otherwise) = otherwise {
            out.push_str("} else {\n");
            self.statement(otherwise, current, out)?;
        }
        self.conditions -= 1;
        out.push_str("}\n");
        Ok(())
    }

    fn statement(&mut self, s: &Stmt, current: LoopId, out: &mut String) -> Printed<()> {
        match &s.kind {
            StmtKind::Empty | StmtKind::Declaration => {}
            StmtKind::Expr(e)
                if let Some(parts) = updates::parts(self.unit, e)
                    && self.plan.updates.contains_key(&parts.place.id) =>
            {
                self.update(&parts, out)?;
            }
            StmtKind::Expr(e) => {
                if let Some((place, c, arms)) = self.kept_or_taken(e) {
                    let c = self.value(c, out)?;
                    for (arm, sign) in arms.into_iter().zip(["", "!"]) {
                        let Some(value) = arm else { continue };
                        out.push_str(&format!("if ({sign}({c})) {{\n"));
                        self.conditions += 1;
                        let text = self.value(value, out);
                        self.conditions -= 1;
                        let text = text?;
                        let text = self.cast(&text, self.scalar(value.ty)?, self.scalar(place.ty)?);
                        self.store(place, &text, out)?;
                        out.push_str("}\n");
                    }
                    return Ok(());
                }
                let text = self.value(e, out)?;
                if !Self::has_side_effects(e) {
                    out.push_str(&format!("(void)({text});\n"));
                }
            }
            StmtKind::Declare { var, init } if self.plan.private.contains_key(var) => {
                if let Some(init) = init {
                    self.own_values(*var, init, out)?;
                }
            }
            StmtKind::Declare { var, init } => {
                self.declare(*var)?;
                match init {
                    Some(Init::Scalar(e)) => {
                        let text = self.value(e, out)?;
                        out.push_str(&format!("{} = {text};\n", variable(*var)));
                    }
                    Some(Init::Members(_) | Init::Aggregate) => return Err("an aggregate".into()),
                    None => {}
                }
            }
            StmtKind::Block(list) => list.iter().try_for_each(|s| self.statement(s, current, out))?,
            StmtKind::If { cond, then, otherwise } => {
                let cond = self.value(cond, out)?;
                self.branches(&cond, then, otherwise.as_deref(), current, out)?;
            }
            StmtKind::Loop(l) if matches!(self.purpose, Purpose::Inspection(s) if s.left_out.contains(&l.id)) =>
                {}
            StmtKind::Loop(l) => self.inner_loop(l, current, None, out)?,
            StmtKind::Continue => {
                self.labels.insert(current, true);
                out.push_str(&format!("goto __pg_continue_{};\n", current.0));
            }
            StmtKind::Break => out.push_str("break;\n"),
            _ => return Err("a statement that is not generated".into()),
        }
        Ok(())
    }
}
