//! What stands in front of the loop, in the user's text: whether to try it, with what, and what comes back into which variable. The user's
//! names and macros have their meaning there, and no others.

use super::{Emitter, Printed};
use crate::c::hir::*;
use crate::codegen::types::{Scalar, literal};
use crate::loops::nest;
use crate::loops::plan::*;
use crate::loops::private;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Whether the guard, which stands in front of the loop, can name the objects that the loop names: a declaration in the loop
/// (of a static array, or `extern`) may be what makes the name mean them.
pub(super) fn names_mean_the_same(
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

/// What stands in front of a loop.
#[derive(Default)]
pub struct Guard {
    /// Up to an `else`: the loop follows.
    pub text: String,
    /// Behind the `else`: see [`stays_untouched`].
    pub stays: Stays,
}

/// What tells whether a loop's copy runs.
#[derive(Default)]
pub struct Stays {
    /// It would have been asked, by the smallest count that asks.
    comes_there: String,
    /// It has been asked for this entry, if the runtime has not just decided otherwise for later ones.
    is_asked: String,
    /// What the runtime has said.
    said: String,
}

/// The condition for a loop's copy: the runtime has said that it stays, for this entry; or for another one, but no guard `inside` would ask. What bounds
/// those loops is compared as far as the outer loop is given it; it stands in front of the nest then, and has its value.
pub fn stays_untouched<'a>(
    unit: &TranslationUnit,
    outer: &LoopPlan,
    stays: &Stays,
    comparison: &str,
    inside: impl Iterator<Item = &'a LoopPlan>,
) -> String {
    let is_given = |e: &Expr| {
        let mut given = true;
        nest::expressions(e, &mut |e| {
            if let ExprKind::Load(p) = &e.kind {
                given &= nest::root_variable(p).is_some_and(|v| {
                    outer.live_ins.contains(&v) && !outer.starts.iter().any(|start| start.var == v)
                });
            }
        });
        given
    };
    let mut silent = Vec::new();
    for plan in inside {
        let Dim { first, limit, step, .. } = &plan.dims[0];
        if !is_given(first) || !is_given(limit) {
            continue;
        }
        if let Some(trip) = Trip::new(unit, first, limit, *step) {
            silent.push(trip.is_short(&plan.loop_id.0.to_string()));
        }
    }
    let Stays { comes_there, is_asked, said } = stays;
    let silent = match silent.is_empty() {
        true => String::new(),
        false => format!(" && ({is_asked} || ({}))", silent.join(" && ")),
    };
    format!("{comes_there} && {said} {comparison}{silent}")
}

/// The count from which a loop's guard asks. Volatile: the function moves it, though the compiler is told that it changes nothing. Because nothing is
/// known of it, either, whatever is loaded in front of the guard for what stands behind the loop is needed where nobody asks, too, and so isn't loaded
/// between the function and what says that memory has changed.
fn asks_from(n: &str) -> String {
    format!("*(volatile __pg_i64 *)&__pg_loop_{n}.__pg_threshold")
}

/// How many iterations a loop has, or more, as that can be written in front of it.
struct Trip {
    /// How far it goes, if it moves by something that is no constant; else how many iterations it has.
    span: String,
    /// What it moves by, where that is no constant.
    step: Option<String>,
}

impl Trip {
    fn new(unit: &TranslationUnit, first: &Expr, limit: &Expr, step: i64) -> Option<Trip> {
        if let Some((distance, size)) = steps_of(limit)
            && let Some((span, step)) = site_text(unit, distance).zip(site_text(unit, size))
        {
            return Some(Trip { span, step: Some(format!("(__pg_i64)({step})")) });
        }
        let span = Emitter::span(unit, first, limit, step)?;
        let span = match step.unsigned_abs() {
            1 => span,
            step => format!("({span} / {step})"),
        };
        Some(Trip { span, step: None })
    }

    /// Whether it has so many iterations, which are at least one. Without a division: most loops whose step varies are entered over and over,
    /// and nearly always short.
    fn is_at_least(&self, least: i64) -> String {
        let span = &self.span;
        match &self.step {
            None => format!("{span} >= {}", literal(least)),
            // Without a sign: a step may be so large that this wraps.
            Some(step) => {
                let least = literal(least - 1);
                format!("({step} > 0 && {span} >= (__pg_i64)((__pg_u64){least} * (__pg_u64){step}))")
            }
        }
    }

    /// Whether it has as many as the runtime asks for; behind [`Trip::is_at_least`].
    fn is_asked(&self, loop_number: &str) -> String {
        let (span, asks_from) = (&self.span, asks_from(loop_number));
        match &self.step {
            None => format!("{span} >= {asks_from}"),
            Some(step) => format!("{span} / {step} + 1 >= {asks_from}"),
        }
    }

    /// Whether it certainly has fewer than that.
    fn is_short(&self, loop_number: &str) -> String {
        let (span, asks_from) = (&self.span, asks_from(loop_number));
        match &self.step {
            None => format!("{span} < {asks_from}"),
            Some(_) => format!("{span} + 1 < {asks_from}"),
        }
    }
}

/// How far a loop goes and by what it moves, where its turns are counted by a division (`loops::counted`).
fn steps_of(turns: &Expr) -> Option<(&Expr, &Expr)> {
    let ExprKind::Conditional(_, turns, otherwise) = &turns.kind else { return None };
    let ExprKind::Binary(BinOp::Add, whole, one) = &turns.kind else { return None };
    let ExprKind::Binary(BinOp::Div, distance, size) = &whole.kind else { return None };
    let is = |e: &Expr, value| matches!(e.kind, ExprKind::Int(v) if v == value);
    (is(otherwise, 0) && is(one, 1)).then_some((distance, size))
}

impl Emitter<'_> {
    /// How far a loop's variable goes, where that can be written in front of the loop.
    fn span(unit: &TranslationUnit, first: &Expr, limit: &Expr, step: i64) -> Option<String> {
        let (first, limit) = site_text(unit, first).zip(site_text(unit, limit))?;
        let (a, b) = if step > 0 { (limit, first) } else { (first, limit) };
        Some(format!("((__pg_i64)({a}) - (__pg_i64)({b}))"))
    }

    /// What stands in front of the loop. The user's macros are alive there, so whatever is ours has a reserved name.
    pub(super) fn guard(&self, the_loop: &LoopStmt, threshold: i64) -> Printed<Guard> {
        let (n, plan, unit) = (&self.n, self.plan, self.unit);
        let dim = &plan.dims[0];
        let trip = Trip::new(unit, &dim.first, &dim.limit, dim.step)
            .unwrap_or_else(|| Trip { span: literal(i64::MAX - 1), step: None });
        // Where a loop that it was brought over has no iteration, its bounds may have no value.
        let mut comes_there = String::new();
        for over in plan.interchange.iter().flat_map(|interchange| &interchange.over) {
            let least = if matches!(over.relation, Relation::Le | Relation::Ge) { 0 } else { 1 };
            if let Some(span) = Self::span(unit, &over.first, &over.limit, over.step) {
                let _ = write!(comes_there, "{span} >= {least} && ");
            }
        }
        let (mut arguments, mut changed) = (String::new(), String::new());
        let mut parameters = self.parameters();
        parameters.iter().for_each(|(.., argument)| {
            let _ = write!(arguments, ", {argument}");
        });
        let of_objects = parameters.split_off(parameters.len() - self.objects.len());
        let escapes =
            |argument: &str| format!(" __asm__ __volatile__(\"\" : : \"r\"({argument}) : \"memory\");");
        for (kind, _, argument) in &parameters {
            // An integer may be an address, too. Each with all memory: a compiler may take an address that an `asm` without memory is given for one that
            // nobody stores behind.
            if [Scalar::Address, Scalar::Int(IntKind::Long), Scalar::Int(IntKind::ULong)]
                .iter()
                .any(|wide| wide.name() == kind)
            {
                changed.push_str(&escapes(argument));
            }
        }
        for (v, (.., argument)) in self.objects.iter().zip(&of_objects) {
            changed.push_str(&match self.unit.var(*v) {
                local if local.storage == Storage::Local && leads_nowhere(unit, local.ty) => {
                    set_in_part(&local.name)
                }
                _ => escapes(argument),
            });
        }
        // What the function has been given, and whatever can be reached from there.
        changed.push_str(" __asm__ __volatile__(\"\" : \"+m\"(__pg_r) : : \"memory\");");
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
        let may_pay = trip.is_at_least(threshold.min(1 << 20));
        let is_asked = trip.is_asked(n);
        let text = format!(
            "if ({comes_there}__builtin_expect({may_pay}, 0) && {is_asked} && __extension__ ({{{asserts} \
             __pg_value __pg_r[{}]; __pg_u32 __pg_done = __pg_try_{n}(__pg_r{arguments}); if (__pg_done) {{{changed}{back} }} __pg_done; }})) {{ }} else",
            self.n_numbers().max(1),
        );
        let stays = Stays {
            comes_there: format!("{comes_there}{may_pay}"),
            is_asked,
            said: format!("*(volatile __pg_u32 *)&__pg_loop_{n}.__pg_stays"),
        };
        Ok(Guard { text, stays })
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

/// Whether no bytes of an object are an address: nothing else can be reached from it.
fn leads_nowhere(unit: &TranslationUnit, ty: QualType) -> bool {
    if ty.quals.is_const {
        return false;
    }
    match unit.types.kind(ty.ty) {
        TypeKind::Array(element, _) => leads_nowhere(unit, *element),
        TypeKind::Float(_) | TypeKind::Int(IntKind::Int | IntKind::UInt) => true,
        _ => false,
    }
}

/// Says that a variable may have changed, without saying that anybody keeps its address: what an `asm` is given counts as known to all from then on,
/// and in the whole function whatever is stored through a pointer could be stored there. A function for bytes is known to keep nothing; of how
/// many bytes the compiler doesn't know, it sets none.
fn set_in_part(name: &str) -> String {
    format!(
        " {{ __pg_address __pg_none; __asm__ __volatile__(\"\" : \"=r\"(__pg_none) : \"0\"((__pg_address)0)); \
         __builtin_memset((void *)(__pg_address)&{name}, 0, __pg_none); }}"
    )
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
        // Too many iterations, rather than a division at each entry, or a condition.
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
