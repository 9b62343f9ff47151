//! Members of structs, and elements of arrays, that are variables like any other (`struct input in; for (i = 0; i < in.n; i++) in.sum += in.scale * b[i]`; `double d[3]; for (...)
//! { d[0] = x[i] - x[j]; ... }`): a loop is given their values, and gives back those that it assigns.
//!
//! Given the struct's address instead, the function that the loop stands in would have to keep the struct in memory, everywhere: compilers take structs
//! apart, and keep their members in registers, as long as nobody has their address (scalar replacement of aggregates).
//!
//! [`find`] makes such loops with a variable for each member, which is called as the member is. What follows goes by these loops (`verdict`); the user's
//! text has the members. Only objects that nothing but their names leads to are taken, and only for loops that do nothing with them as a whole, and that have constants for subscripts.
//! Bit-fields are variables where the loop only reads them: a variable would keep more bits of what it is assigned than they do.

use super::nest;
use super::scalars;
use crate::c::constant;
use crate::c::hir::*;
use std::collections::{BTreeMap, BTreeSet};

/// Loops that use more members than this of one object are given its address.
const MOST: usize = 16;
/// The same of an object that stands nowhere else: nothing of it is handed over.
const MOST_OF_OWN: usize = 64;

/// A member of a struct, or an element of an array: how many bits into it.
type Member = (VarId, u64);

/// Makes the loops that have variables in place of members.
pub fn find(unit: &mut TranslationUnit) {
    let mut variables: BTreeMap<Member, VarId> = BTreeMap::new();
    for number in 0..unit.functions.len() {
        let function = &unit.functions[number];
        let objects = objects(unit, function);
        if objects.is_empty() {
            continue;
        }
        let everywhere = mentions(function);
        let mut replaced = Vec::new();
        for found in nest::loops(function) {
            let members = members(unit, found.the_loop, &objects, &everywhere);
            if !members.is_empty() {
                replaced.push((found.the_loop.clone(), members));
            }
        }
        if replaced.is_empty() {
            continue;
        }
        let (mut body, mut whole) = (function.body.clone(), objects);
        nest::all_expressions(&body, &mut |e| {
            let accessed = nest::accessed_place(e).filter(|(place, ..)| offset(unit, place).is_none());
            if let Some(v) = accessed.and_then(|(place, ..)| object_of(place)) {
                whole.remove(&v);
            }
        });
        let (function, mut only_members) = (function.var, BTreeMap::new());
        for (mut l, members) in replaced {
            let mut own = BTreeMap::new();
            for (member, place) in members {
                let variable = *variables.entry(member).or_insert_with(|| {
                    let span = unit.var(member.0).span;
                    unit.new_variable(&name(unit, &place), place.ty, span)
                });
                own.insert(member, variable);
                if whole.contains(&member.0) && !is_bit_field(&place) {
                    only_members.insert(member, variable);
                } else {
                    unit.members.insert(variable, member.0);
                }
            }
            nest::change_loop(&mut l, &mut Variables { types: &unit.types, members: &own });
            unit.by_members.insert(l.id, l);
        }
        if !only_members.is_empty() {
            let mut variables = Variables { types: &unit.types, members: &only_members };
            nest::change_statement(&mut body, &mut variables);
            unit.bodies_by_members.insert(function, body);
        }
    }
}

/// How often something of each object stands in a function. What it begins with is handed over to it, too.
fn mentions(function: &Function) -> Mentions {
    let mut mentions = Mentions::new();
    nest::all_expressions(&function.body, &mut |e| mention(e, &mut mentions));
    function.params.iter().for_each(|v| *mentions.entry(*v).or_default() += 1);
    nest::statements(&function.body, &mut |s| {
        if let StmtKind::Declare { var, init: Some(_) } = &s.kind {
            *mentions.entry(*var).or_default() += 1;
        }
    });
    mentions
}

/// The structs and arrays of a function that nothing but their names leads to.
fn objects(unit: &TranslationUnit, function: &Function) -> BTreeSet<VarId> {
    let mut hides = false;
    nest::statements(&function.body, &mut |s| hides |= scalars::hides(unit, s));
    let is_object = |v: VarId| {
        let variable = unit.var(v);
        matches!(variable.storage, Storage::Local | Storage::Param)
            && !variable.address_taken
            && matches!(
                unit.types.kind(variable.ty.ty),
                TypeKind::Record(_) | TypeKind::Array(_, ArrayLen::Known(_))
            )
            // Arrays decay to addresses, also where nobody sees it.
            && !(hides && has_array(&unit.types, variable.ty.ty))
    };
    let mut found = BTreeSet::new();
    // How often the address of an object, or of an array in it, stands somewhere, and how often in front of a subscript.
    let mut led_to: BTreeMap<VarId, i64> = BTreeMap::new();
    nest::all_expressions(&function.body, &mut |e| {
        let address = match &e.kind {
            ExprKind::AddressOf(place) => Some(place),
            _ => None,
        };
        if let Some(v) = address.and_then(object_of) {
            *led_to.entry(v).or_default() += 1;
        }
        let accessed = nest::accessed_place(e).map(|(place, ..)| place);
        found.extend(accessed.and_then(object_of).filter(|v| is_object(*v)));
        let mut part = accessed.or(address);
        while let Some(place) = part {
            if let Some((array, ..)) = subscripted(place)
                && let Some(v) = object_of(array)
            {
                *led_to.entry(v).or_default() -= 1;
            }
            part = match &place.kind {
                PlaceKind::Field { base, .. } => Some(base),
                _ => None,
            };
        }
    });
    found.retain(|v| led_to.get(v).is_none_or(|times| *times == 0));
    found
}

/// Whether there are arrays in an object.
fn has_array(types: &Types, ty: TypeId) -> bool {
    match types.kind(ty) {
        TypeKind::Array(..) => true,
        TypeKind::Record(record) => {
            types.record(*record).fields.iter().flatten().any(|field| has_array(types, field.ty.ty))
        }
        _ => false,
    }
}

/// The array that an element is of whose name, or whose object's, stands there; the subscript, and the size of elements.
fn subscripted(place: &Place) -> Option<(&Place, Option<&Expr>, u64)> {
    let PlaceKind::Deref(pointer) = &place.kind else { return None };
    match &pointer.kind {
        ExprKind::PtrAdd { pointer, index, stride } => match &pointer.kind {
            ExprKind::AddressOf(array) => Some((array, Some(index), *stride)),
            _ => None,
        },
        ExprKind::AddressOf(array) => Some((array, None, 0)),
        _ => None,
    }
}

/// The object that a member or an element is a part of, if that is a variable.
fn object_of(place: &Place) -> Option<VarId> {
    match &place.kind {
        PlaceKind::Var(v) => Some(*v),
        PlaceKind::Field { base, .. } => object_of(base),
        _ => object_of(subscripted(place)?.0),
    }
}

/// How often something of an object is read, written or has its address taken.
type Mentions = BTreeMap<VarId, usize>;

fn mention(e: &Expr, mentions: &mut Mentions) {
    let place = match &e.kind {
        ExprKind::AddressOf(place) => Some(place),
        _ => nest::accessed_place(e).map(|(place, ..)| place),
    };
    if let Some(v) = place.and_then(object_of) {
        *mentions.entry(v).or_default() += 1;
    }
}

/// The members that a loop uses, each with a place where it does, of those structs with which it does nothing else.
fn members(
    unit: &TranslationUnit,
    l: &LoopStmt,
    objects: &BTreeSet<VarId>,
    everywhere: &Mentions,
) -> BTreeMap<Member, Place> {
    let (mut used, mut others) = (BTreeMap::new(), BTreeSet::new());
    nest::loop_expressions(l, &mut |e| {
        let Some((place, _, is_set)) = nest::accessed_place(e) else { return };
        let Some(v) = object_of(place).filter(|v| objects.contains(v)) else { return };
        match offset(unit, place).filter(|_| !(is_set && is_bit_field(place))) {
            Some(offset) => {
                used.entry((v, offset)).or_insert_with(|| place.clone());
            }
            None => {
                others.insert(v);
            }
        }
    });
    let mut declared = |s: &Stmt| {
        if let StmtKind::Declare { var, .. } = &s.kind {
            others.insert(*var);
        }
    };
    nest::statements(&l.body, &mut declared);
    l.init.iter().for_each(|s| nest::statements(s, &mut declared));
    let mut counts: BTreeMap<VarId, usize> = BTreeMap::new();
    used.keys().for_each(|(v, _)| *counts.entry(*v).or_default() += 1);
    let mut mentions = Mentions::new();
    nest::loop_expressions(l, &mut |e| mention(e, &mut mentions));
    let most = |v: &VarId| if mentions.get(v) == everywhere.get(v) { MOST_OF_OWN } else { MOST };
    used.retain(|(v, _), _| !others.contains(v) && counts[v] <= most(v));
    used
}

fn is_bit_field(place: &Place) -> bool {
    matches!(place.kind, PlaceKind::Field { bits: Some(_), .. })
}

/// How many bits into its object a member lies that could be a variable. `None`: it couldn't, or it is no member.
fn offset(unit: &TranslationUnit, place: &Place) -> Option<u64> {
    let is_value = match unit.types.kind(place.ty.ty) {
        TypeKind::Int(kind) => kind.size() <= 8,
        TypeKind::Float(kind) => matches!(kind, FloatKind::Float | FloatKind::Double),
        TypeKind::Enum(_) | TypeKind::Pointer(_) => true,
        _ => false,
    };
    let is_member = !matches!(place.kind, PlaceKind::Var(_));
    if is_value && is_member { within(&unit.types, place) } else { None }
}

/// How many bits into the variable that it is a part of a place is, where that is known and nothing else may be there.
fn within(types: &Types, place: &Place) -> Option<u64> {
    if place.ty.quals.is_volatile || place.ty.quals.is_atomic {
        return None;
    }
    match &place.kind {
        PlaceKind::Var(_) => Some(0),
        // What has no name may be a part of what has one.
        PlaceKind::Field { field: NO_FIELD, .. } => None,
        PlaceKind::Field { base, record, offset, bits, .. } if !types.record(*record).is_union => {
            let first = bits.map_or(0, |(first, _)| u64::from(first));
            Some(within(types, base)? + offset * 8 + first)
        }
        _ => {
            let (array, index, stride) = subscripted(place)?;
            let TypeKind::Array(_, ArrayLen::Known(length)) = types.kind(array.ty.ty) else { return None };
            let index = match index {
                Some(index) => constant::fold(types, index)?,
                None => 0,
            };
            let index = u64::try_from(index).ok().filter(|index| index < length)?;
            Some(within(types, array)? + index * stride * 8)
        }
    }
}

/// What a member is called in the user's text, with numbers for subscripts.
fn name(unit: &TranslationUnit, place: &Place) -> String {
    match &place.kind {
        PlaceKind::Var(v) => unit.var(*v).name.clone(),
        PlaceKind::Field { base, record, field, .. } => {
            let fields = unit.types.record(*record).fields.as_ref();
            let own = fields.and_then(|fields| fields.get(*field as usize)?.name.as_ref());
            let whole = name(unit, base);
            own.map_or(whole.clone(), |own| format!("{whole}.{own}"))
        }
        _ => subscripted(place).map_or_else(String::new, |(array, index, _)| {
            let index = index.map_or(Some(0), |index| constant::fold(&unit.types, index)).unwrap_or(0);
            format!("{}[{index}]", name(unit, array))
        }),
    }
}

/// Puts variables in the place of members.
struct Variables<'a> {
    types: &'a Types,
    members: &'a BTreeMap<Member, VarId>,
}

impl nest::Change for Variables<'_> {
    fn place(&mut self, p: &mut Place, accessed: bool) -> bool {
        let member = || Some((object_of(p)?, within(self.types, p)?));
        let Some(variable) = member().filter(|_| accessed).and_then(|member| self.members.get(&member))
        else {
            return true;
        };
        p.kind = PlaceKind::Var(*variable);
        false
    }
}

#[cfg(test)]
mod tests {
    use crate::compile::judged;
    use crate::loops::options::AnalysisOptions;
    use crate::loops::plan::{Base, LoopPlan, ReductionOp, ScalarRole};

    /// The plan of the first loop in the last function.
    fn plan(text: &str) -> (Vec<String>, Vec<String>) {
        let (unit, reports) = judged(text, &AnalysisOptions::default());
        let mut plans = reports.iter().rev().filter_map(|report| report.plan.as_deref());
        let plan: &LoopPlan = plans.next().unwrap_or_else(|| panic!("{text}\n{reports:#?}"));
        let mut given: Vec<String> = plan.live_ins.iter().map(|v| unit.var(*v).name.clone()).collect();
        given.sort_unstable();
        let objects = plan.bases.iter().filter_map(|base| match base {
            Base::Object { var, .. } => Some(unit.var(*var).name.clone()),
            _ => None,
        });
        (given, objects.collect())
    }

    const TYPES: &str = "struct part { short first, second; }; enum shade { DIM, BRIGHT };\n\
        struct all { int n; double scale; double *to; struct part part; enum shade shade;\n\
          struct { int hidden; }; union { int number; float real; }; double numbers[2]; volatile int moving;\n\
          char c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11; };\n\
        void see(struct all *); struct all some(void);\n";

    /// In `void f(struct all in, double *a, int n)`.
    fn members(body: &str) -> (Vec<String>, Vec<String>) {
        plan(&format!("{TYPES}void f(struct all in, double *a, int n)\n{{ {body} }}\n"))
    }

    #[test]
    fn members_that_are_read_are_variables() {
        let (given, objects) = members("for (int i = 0; i < in.n; i++) a[i] = in.scale * i;");
        assert_eq!((&given[..], objects.len()), (&["a", "in.n", "in.scale"].map(String::from)[..], 0));
        let (given, objects) =
            members("for (int i = 0; i < n; i++) in.to[i] = in.part.second + in.hidden + in.shade;");
        let wanted = ["in.hidden", "in.part.second", "in.shade", "in.to", "n"].map(String::from);
        assert_eq!((&given[..], objects.len()), (&wanted[..], 0));
        // Of a variable, too, which may be set in front of the loop, behind it, and in loops around it.
        let (given, objects) = members(
            "struct all own = some(); own.scale += 2; for (int k = 0; k < 9; k++) { own.n = k; in = own; see(0);\n\
             for (int i = 0; i < n; i++) a[i] = own.scale * own.n; } own = in;",
        );
        assert_eq!((&given[..], objects.len()), (&["a", "n", "own.n", "own.scale"].map(String::from)[..], 0));
    }

    #[test]
    fn members_that_are_assigned_come_back() {
        let text = format!(
            "{TYPES}struct sums {{ long sum; int least, count, last; double *next; }};\n\
             struct sums f(const int *a, int n, double *to)\n{{ struct sums s = {{0, 99, 0, 0, to}};\n\
             for (int i = 0; i < n; i++) {{ s.sum += a[i]; s.count++; if (a[i] < s.least) s.least = a[i]; s.last = a[i]; *s.next++ = 1; }}\n\
             return s; }}"
        );
        let (unit, reports) = judged(&text, &AnalysisOptions::default());
        let plan = reports[0].plan.as_deref().unwrap_or_else(|| panic!("{reports:#?}"));
        let role = |name: &str| {
            let found = plan.scalars.iter().find(|(v, _)| unit.var(**v).name == name);
            found.map(|(_, role)| role).unwrap_or_else(|| panic!("{name}: {:#?}", plan.scalars))
        };
        assert!(matches!(role("s.sum"), ScalarRole::Reduction { op: ReductionOp::Add, .. }));
        assert!(role("s.least").is_result());
        // Nobody reads it by its name behind the loop.
        assert!(matches!(role("s.last"), ScalarRole::Private { last_value: true }));
        assert!(matches!(role("s.count"), ScalarRole::Secondary { .. }));
        assert!(matches!(role("s.next"), ScalarRole::Secondary { .. }));
        assert!(plan.bases.iter().all(|base| matches!(base, Base::Pointer { .. })));
    }

    #[test]
    fn elements_with_constant_subscripts_are_variables() {
        let role = |text: &str, name: &str| {
            let text = format!("{TYPES}double f(struct all in, double *a, int n, int k)\n{{ {text} }}\n");
            let (unit, reports) = judged(&text, &AnalysisOptions::default());
            let plan = reports[0].plan.clone().unwrap_or_else(|| panic!("{text}: {}", reports[0].reason));
            assert!(plan.bases.iter().all(|base| matches!(base, Base::Pointer { .. })), "{text}");
            let found = plan.scalars.iter().find(|(v, _)| unit.var(**v).name == name);
            found.map(|(_, role)| role.clone()).unwrap_or_else(|| panic!("{name}: {:#?}", plan.scalars))
        };
        let own = ScalarRole::Private { last_value: false };
        let text = "double d[3]; for (int i = 0; i < n; i++) { d[0] = a[i]; d[1] = d[0] * 2; d[2] = d[1] - d[0]; a[i] = d[2]; }";
        assert_eq!(role(&format!("{text} return 0;"), "d[1]"), own);
        assert_eq!(role(&format!("{text} d[0] = 1; return n;"), "d[2]"), own);
        let last = ScalarRole::Private { last_value: true };
        assert_eq!(role(&format!("{text} return d[k];"), "d[1]"), last);
        assert_eq!(role(&format!("{text} return d[1];"), "d[1]"), last);
        assert_eq!(role(&format!("{text} return d[2];"), "d[1]"), own);
        let text = "struct part p[2][3]; for (int i = 0; i < n; i++) { p[1][2].first = i & 7; *p[0] = p[1][2]; a[i] = p[0]->first; }";
        assert_eq!(role(&format!("{text} return 0;"), "p[1][2].first"), own);
        let text = "for (int i = 0; i < n; i++) { if (a[i] > 1) { in.numbers[0] = a[i]; a[i] = in.numbers[0] * 2; } } return 0;";
        assert_eq!(role(text, "in.numbers[0]"), own);
        // Guards are written with these names.
        let text = "double d[3]; for (int i = 0; i < n; i++) { d[1 << 1] = a[i]; d[2 > 1 ? 1 : 0] = a[i]; a[i] = d[2] * d[1]; } return d[2] + d[1];";
        assert_eq!((role(text, "d[2]"), role(text, "d[1]")), (last.clone(), last));
        let text =
            "int h[2] = {0, 0}; for (int i = 0; i < n; i++) { h[0] += a[i] > 1; h[1]++; } return h[k];";
        assert!(matches!(role(text, "h[0]"), ScalarRole::Reduction { .. }));
    }

    #[test]
    fn structs_that_something_else_is_done_with_are_objects() {
        for body in [
            // Somebody has its address.
            "for (int i = 0; i < n; i++) a[i] = in.numbers[0] + in.numbers[i & 1];",
            "(void)__extension__ ({ for (;;) break; see((void *)in.numbers); 1; }); for (int i = 0; i < n; i++) a[i] = in.numbers[0];",
            "double *list[] = { in.numbers, a }; for (int i = 0; i < n; i++) a[i] = in.numbers[0]; see((void *)list);",
            "for (int i = 0; i < n; i++) a[i] = in.numbers[1] + ((float *)in.numbers)[2];",
            "see(&in); for (int i = 0; i < n; i++) a[i] = in.scale;",
            "for (int i = 0; i < n; i++) a[i] = in.scale; { double *p = &in.scale; *p = 2; }",
            "double *p = in.numbers; for (int i = 0; i < n; i++) a[i] = in.scale; *p = 3;",
            "for (int i = 0; i < n; i++) a[i] = in.scale * in.numbers[i & 1];",
            "(void)__extension__ ({ see(&in); 1; }); for (int i = 0; i < n; i++) a[i] = in.scale;",
            // What could not be a variable of its own.
            "for (int i = 0; i < n; i++) a[i] = in.scale + in.real;",
            "for (int i = 0; i < n; i++) a[i] = in.c1 + in.c2 + in.c3 + in.c4 + in.c5 + in.c6 + in.c7 + in.c8 + in.c9 +\
             in.n + in.shade + in.hidden + in.part.first + in.part.second + in.to[i] + in.c10 + in.c11;",
        ] {
            let (given, objects) = members(body);
            assert!(
                !given.iter().any(|name| name.contains('.')) && objects == ["in"],
                "{body} {given:?} {objects:?}"
            );
        }
        // Those of others are in memory, which a loop may store to.
        let text = format!(
            "{TYPES}static struct all of_all; void f(double *a, int n, struct all *p)\n\
            {{ for (int i = 0; i < n; i++) a[i] = of_all.scale + p->scale; }}"
        );
        assert!(!plan(&text).0.iter().any(|name| name.contains('.')));
    }
}
