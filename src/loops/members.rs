//! Members of structs that are variables like any other (`struct input in; for (i = 0; i < in.n; i++) in.sum += in.scale * b[i]`): a loop is given their
//! values, and gives back those that it assigns.
//!
//! Given the struct's address instead, the function that the loop stands in would have to keep the struct in memory, everywhere: compilers take structs
//! apart, and keep their members in registers, as long as nobody has their address (scalar replacement of aggregates).
//!
//! [`find`] makes such loops with a variable for each member, which is called as the member is. What follows goes by these loops (`verdict`); the user's
//! text has the members. Only structs that nothing but their names leads to are taken, and only for loops that do nothing with them as a whole.

use super::access::describe;
use super::nest;
use crate::c::hir::*;
use std::collections::{BTreeMap, BTreeSet};

/// Loops that use more members than this of one struct are given its address.
const MOST: usize = 16;

/// A member of a struct: how many bytes into it.
type Member = (VarId, u64);

/// Makes the loops that have variables in place of members.
pub fn find(unit: &mut TranslationUnit) {
    let mut variables: BTreeMap<Member, VarId> = BTreeMap::new();
    let mut replaced = Vec::new();
    for function in &unit.functions {
        let structs = structs(unit, function);
        if structs.is_empty() {
            continue;
        }
        for found in nest::loops(function) {
            let members = members(unit, found.the_loop, &structs);
            if !members.is_empty() {
                replaced.push((found.the_loop.clone(), members));
            }
        }
    }
    for (mut l, members) in replaced {
        let mut own = BTreeMap::new();
        for (member, place) in members {
            let variable = variables.entry(member).or_insert_with(|| {
                let span = unit.var(member.0).span;
                unit.new_variable(&describe(unit, &place), place.ty, span)
            });
            unit.members.insert(*variable);
            own.insert(member, *variable);
        }
        nest::change_loop(&mut l, &mut Variables(&own));
        unit.by_members.insert(l.id, l);
    }
}

/// The structs of a function that nothing but their names leads to.
fn structs(unit: &TranslationUnit, function: &Function) -> BTreeSet<VarId> {
    let is_struct = |v: VarId| {
        let variable = unit.var(v);
        matches!(variable.storage, Storage::Local | Storage::Param)
            && !variable.address_taken
            && matches!(unit.types.kind(variable.ty.ty), TypeKind::Record(_))
    };
    let (mut found, mut led_to) = (BTreeSet::new(), BTreeSet::new());
    nest::all_expressions(&function.body, &mut |e| {
        let accessed = nest::accessed_place(e).and_then(|(place, ..)| nest::root_variable(place));
        found.extend(accessed.filter(|v| is_struct(*v)));
        // Arrays among the members decay to addresses.
        if let ExprKind::AddressOf(place) = &e.kind {
            led_to.extend(nest::root_variable(place));
        }
    });
    found.retain(|v| !led_to.contains(v));
    found
}

/// The members that a loop uses, each with a place where it does, of those structs with which it does nothing else.
fn members(unit: &TranslationUnit, l: &LoopStmt, structs: &BTreeSet<VarId>) -> BTreeMap<Member, Place> {
    let (mut used, mut others) = (BTreeMap::new(), BTreeSet::new());
    nest::loop_expressions(l, &mut |e| {
        let Some((place, ..)) = nest::accessed_place(e) else { return };
        let Some(v) = nest::root_variable(place).filter(|v| structs.contains(v)) else { return };
        match offset(unit, place) {
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
    used.retain(|(v, _), _| !others.contains(v) && counts[v] <= MOST);
    used
}

/// How many bytes into its struct a member lies that could be a variable. `None`: it couldn't, or it is no member.
fn offset(unit: &TranslationUnit, place: &Place) -> Option<u64> {
    let types = &unit.types;
    let is_value = match types.kind(place.ty.ty) {
        TypeKind::Int(kind) => kind.size() <= 8,
        TypeKind::Float(kind) => matches!(kind, FloatKind::Float | FloatKind::Double),
        TypeKind::Enum(_) | TypeKind::Pointer(_) => true,
        _ => false,
    };
    let (mut whole, mut offset) = (place, 0);
    while let PlaceKind::Field { base, record, offset: own, bits: None, .. } = &whole.kind {
        if types.record(*record).is_union || whole.ty.quals.is_volatile || whole.ty.quals.is_atomic {
            return None;
        }
        offset += own;
        whole = base;
    }
    let quals = whole.ty.quals;
    let is_member = matches!(whole.kind, PlaceKind::Var(_)) && !std::ptr::eq(whole, place);
    (is_value && is_member && !quals.is_volatile && !quals.is_atomic).then_some(offset)
}

/// Puts variables in the place of members.
struct Variables<'a>(&'a BTreeMap<Member, VarId>);

impl nest::Change for Variables<'_> {
    fn place(&mut self, p: &mut Place, accessed: bool) -> bool {
        let member = || {
            let mut offset = 0;
            let mut whole = &*p;
            while let PlaceKind::Field { base, offset: own, .. } = &whole.kind {
                offset += own;
                whole = base;
            }
            Some((nest::root_variable(whole)?, offset))
        };
        let Some(variable) = member().filter(|_| accessed).and_then(|member| self.0.get(&member)) else {
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
    fn structs_that_something_else_is_done_with_are_objects() {
        for body in [
            // Somebody has its address.
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
