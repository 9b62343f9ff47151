//! What stands in front of the loop, in the user's text: whether to try it, with what, and what comes back into which variable. The user's
//! names and macros have their meaning there, and no others.

use super::addresses::hidden;
use super::trip::{Site, Trip};
use super::{Emitter, Printed};
use crate::c::hir::*;
use crate::codegen::edits::GoesOn;
use crate::codegen::types::{Scalar, literal};
use crate::loops::nest;
use crate::loops::plan::*;
use crate::loops::private;
use std::collections::{BTreeMap, BTreeSet};
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
    /// Up to an `else`: the loop follows. Where the loop goes on behind it, up to that.
    pub text: String,
    /// How a loop that may be left early goes on.
    pub goes_on: Option<GoesOn>,
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
        // The outer loop may never come to where the inner one looks at memory.
        let site = Site::new(unit, false);
        if let Some(trip) = Trip::new(&site, first, limit, *step) {
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

impl Emitter<'_> {
    /// What stands in front of the loop. The user's macros are alive there, so whatever is ours has a reserved name.
    pub(super) fn guard(&self, the_loop: &LoopStmt, threshold: i64) -> Printed<Guard> {
        let (n, plan, unit) = (&self.n, self.plan, self.unit);
        let dim = &plan.dims[0];
        // Of a loop that was brought out of another one, or whose test comes last, the program may never look at what bounds it.
        let reads_memory = plan.interchange.is_none() && the_loop.keyword != LoopKeyword::Do;
        let site = Site::new(unit, reads_memory);
        let trip = Trip::new(&site, &dim.first, &dim.limit, dim.step).unwrap_or_else(Trip::unknown);
        // Where a loop that it was brought over has no iteration, its bounds may have no value.
        let mut comes_there = String::new();
        for over in plan.interchange.iter().flat_map(|interchange| &interchange.over) {
            let least = if matches!(over.relation, Relation::Le | Relation::Ge) { 0 } else { 1 };
            if let Some(span) = site.span(&over.first, &over.limit, over.step) {
                let _ = write!(comes_there, "{span} >= {least} && ");
            }
        }
        let mut changed = String::new();
        let mut parameters = self.parameters();
        let given_back = self.given_back();
        let room = (!given_back.is_empty()).then_some("__pg_r");
        let arguments = parameters.iter().map(|(.., argument)| argument.as_str());
        let arguments = room.into_iter().chain(arguments).collect::<Vec<_>>().join(", ");
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
        let (mut names, mut keeps) = (String::new(), String::new());
        for (v, (.., argument)) in self.objects.iter().zip(&of_objects) {
            if let Some(hidden) = hidden(unit, *v) {
                names.push_str(&hidden.declares);
                keeps.push_str(&hidden.keeps);
                continue;
            }
            changed.push_str(&match self.unit.var(*v) {
                local if local.storage == Storage::Local && leads_nowhere(unit, local.ty) => {
                    set_in_part(&local.name)
                }
                _ => escapes(argument),
            });
        }
        // What the function has been given, and whatever can be reached from there.
        changed.push_str(match room {
            Some(_) => " __asm__ __volatile__(\"\" : \"+m\"(__pg_r) : : \"memory\");",
            None => " __asm__ __volatile__(\"\" : : : \"memory\");",
        });
        let (mut back, mut begin) = (String::new(), String::new());
        for (number, (v, kind, _)) in given_back.iter().enumerate() {
            let name = &unit.var(*v).name;
            let mut value = Self::unpack(*kind, &format!("__pg_r[{number}]"));
            // The test in front of the next iteration moves it once more.
            if let Some((_, step)) =
                plan.moved_by_test.filter(|(moved, _)| plan.search.is_some() && moved == v)
            {
                value = format!("({})((__pg_u64){value} - (__pg_u64){})", kind.name(), literal(step));
            }
            let text = if self.is_declared_first(*v) { &mut begin } else { &mut back };
            let _ = match kind {
                Scalar::Address => {
                    write!(text, " {name} = (__typeof__({name}))(__pg_address){value};")
                }
                _ => write!(text, " {name} = {value};"),
            };
        }
        let mut room = match given_back.len() {
            0 => String::new(),
            count => format!("__pg_value __pg_r[{count}]; "),
        };
        let mut around = String::new();
        let declares =
            the_loop.init.iter().any(|s| matches!(s.kind, StmtKind::Declare { .. } | StmtKind::Declaration));
        let goes_on = plan.search.as_ref().map(|_| {
            // It is needed longer.
            around = std::mem::take(&mut room);
            if declares {
                around.push_str("int __pg_goes_on = 1; ");
            }
            GoesOn { declares, begin: begin.clone() }
        });
        let mut asserts = String::new();
        for check in self.layout_checks(the_loop) {
            let _ = write!(asserts, " _Static_assert({check}, \"layout\");");
        }
        let hides = match names.is_empty() {
            true => String::new(),
            // What is called reads such objects, which the compiler can't see.
            false => format!(
                "{names} __asm__ __volatile__(\"\" : : : \"memory\"); {{ __pg_address __pg_no; \
                 __asm__(\"\" : \"=r\"(__pg_no) : \"0\"((__pg_address)0)); if (__builtin_expect(__pg_no != 0, 0)) {{{keeps} }} }}"
            ),
        };
        let is_entered = match the_loop.keyword {
            LoopKeyword::Do => String::new(),
            _ if plan.interchange.is_some() => String::new(),
            _ => site.is_entered(dim).map_or(String::new(), |test| match site.goes_on(plan, the_loop) {
                Some(next) => format!("{test} && {next} && "),
                None => format!("{test} && "),
            }),
        };
        let may_pay = trip.is_at_least(threshold.min(1 << 20));
        let is_asked = trip.is_asked(n);
        let follows = if goes_on.is_some() { "" } else { " { } else" };
        let text = format!(
            "{around}if ({comes_there}{is_entered}__builtin_expect({may_pay}, 0) && {is_asked} && __extension__ ({{{asserts}{hides} \
             {room}__pg_u32 __pg_done = __pg_try_{n}({arguments}); if (__pg_done) {{{changed}{back} }} __pg_done; }})){follows}",
        );
        let stays = Stays {
            comes_there: format!("{comes_there}{may_pay}"),
            is_asked,
            said: format!("*(volatile __pg_u32 *)&__pg_loop_{n}.__pg_stays"),
        };
        Ok(Guard { text, goes_on, stays })
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
        // A name that several types have may mean another one at the loop.
        let mut named: BTreeMap<&str, usize> = BTreeMap::new();
        for id in unit.types.record_ids() {
            let record = unit.types.record(id);
            for name in record.tag.iter().chain(&record.alias) {
                *named.entry(name).or_default() += 1;
            }
        }
        let mut fields = |p: &Place| {
            let mut place = p;
            while let PlaceKind::Field { base, record, field, offset, bits: None } = &place.kind {
                let record = unit.types.record(*record);
                let name = record.fields.as_ref().and_then(|f| f.get(*field as usize)?.name.clone());
                if let Some(tag) = record.tag.as_ref().or(record.alias.as_ref())
                    && (name.is_some() || *field == NO_FIELD)
                    && named.get(tag.as_str()) == Some(&1)
                {
                    // Where bit-fields are, nothing says in C.
                    checks.extend(name.map(|name| format!("__builtin_offsetof({tag}, {name}) == {offset}")));
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
