//! The body of a loop as text that is C89 (with GNU extensions) and CUDA C++ at once, with memory accesses and everything that
//! devices answer differently behind macros (`paragon_body.h`, `paragon_kernel.h` and [`macros`]). For inspections, what
//! the address slice needs of the same text, as C that stores nothing ([`macros::MACROS_INSPECT`]).
//!
//! Conversions are explicit in the typed tree, so each expression prints by itself. Signed arithmetic goes through unsigned
//! types; but on the program's own memory, where nothing is computed that the program wouldn't, subscripts are in `int` where they
//! are so in the program (`__PG_INDEX`): then the compiler knows as much of addresses as in the user's loop, and makes vectors of
//! the same loops. Side effects inside expressions become statements of their own, in order; where C's sequencing would need more
//! than that (side effects under a condition), the loop is left alone.

mod ahead;
pub mod blocks;
mod expressions;
pub mod inner;
mod lending;
pub mod macros;
mod memory;
mod origins;
mod polynomial;
mod rows;
mod statements;
mod walks;

use self::ahead::{Ahead, FirstLoads};
use self::lending::{Lending, Seeing};
use self::origins::Origin;
use self::walks::Walks;
use super::group::{self, Group};
use super::types::{Scalar, scalar};
use crate::c::hir::*;
use crate::loops::plan::*;
use std::collections::{BTreeMap, BTreeSet};

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
    /// Of an inspection: loads that are known to lie in their windows, so that they aren't shown.
    inside: BTreeSet<PlaceId>,
    /// Bases of the logged loads that were printed; `None` for those without a base.
    noted: BTreeSet<Option<u32>>,
    /// The same of all accesses that some log notes, stores among them; `None` for what may be no constant array's.
    logged: BTreeSet<Option<u32>>,
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

/// The name of what a loop doesn't change, by its number ([`LoopPlan::invariants`]): none that a type has, as `__pg_i8` would be.
pub fn invariant(number: usize) -> String {
    format!("__pg_same{number}")
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
            inside: BTreeSet::new(),
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
}
