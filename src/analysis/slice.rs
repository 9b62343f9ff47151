//! The address slice of a loop: the part of its body that decides which memory the accesses of unresolved pairs touch, and
//! nothing else. What is left of a body when everything outside of the slice is taken away can be executed without any store
//! to the program's memory: an inspector (J. Saltz et al., "Run-time parallelization and scheduling of loops", IEEE
//! Transactions on Computers 40(5), 1991), which the runtime then watches touching addresses.
//!
//! The slice is closed backwards over variables and conditions, without regard to order: an assignment to a variable that
//! the slice needs is in the slice wherever it stands. Whether the values that it loads are those that the loop itself would
//! load (no store of the loop has changed them before) is not decided here: the runtime sees it when it inspects. For that
//! the slice has the stores that may, also those that no other iteration meets; and those that may change what the loop's
//! bounds or bases were read from.

use crate::c::hir::*;
use crate::loops::leaving;
use crate::loops::libm;
use crate::loops::nest;
use crate::loops::plan::{Inspection, Pair, Site, SiteId};
use crate::loops::private;
use crate::loops::scalars::is_scalar;
use std::collections::{BTreeMap, BTreeSet};

/// What the slice of a body is made from; see the plan, where each of these comes to.
#[allow(missing_docs)]
pub struct Given<'a> {
    /// The pairs whose accesses' addresses are wanted.
    pub pairs: &'a [Pair],
    /// Further stores whose addresses are.
    pub watched: &'a BTreeSet<SiteId>,
    pub sites: &'a [Site],
    pub site_of: &'a BTreeMap<PlaceId, (Option<SiteId>, Option<SiteId>)>,
    pub invariant_places: &'a BTreeMap<PlaceId, usize>,
    pub private: &'a private::Objects,
}

/// The slice of `body` for the accesses of pairs and for stores that are watched.
pub fn find(unit: &TranslationUnit, body: &Stmt, given: &Given) -> Inspection {
    let Given { pairs, watched, sites, site_of, invariant_places, private } = *given;
    let meeting: BTreeSet<SiteId> = pairs.iter().flat_map(|pair| [pair.a, pair.b]).collect();
    let meets =
        |site: &Option<SiteId>| site.is_some_and(|site| meeting.contains(&site) || watched.contains(&site));
    let touched =
        site_of.iter().filter(|(_, (load, store))| meets(load) || meets(store)).map(|(place, _)| *place);
    let mut slice = Slice {
        unit,
        invariant_places,
        private,
        ways_out: false,
        touched: touched.collect(),
        found: Inspection {
            changing: watched.difference(&meeting).copied().collect(),
            meeting,
            ..Inspection::default()
        },
    };
    loop {
        let before = slice.size();
        slice.close(body, true);
        slice.add_changing(sites, site_of);
        if slice.size() == before {
            break;
        }
    }
    nest::statements(body, &mut |s| {
        if let StmtKind::Loop(l) = &s.kind
            && !slice.has_part_in(s)
        {
            slice.found.left_out.insert(l.id);
        }
    });
    slice.found
}

/// What decides all addresses that aren't affine, and whether there are such accesses at all: runs that agree in it touch the same memory. `None`: all are
/// affine.
pub fn deciding(unit: &TranslationUnit, body: &Stmt, given: &Given) -> Option<Inspection> {
    let Given { sites, site_of, invariant_places, private, .. } = *given;
    let is_unknown = |site: &Option<SiteId>| site.is_some_and(|site| sites[site.0 as usize].affine.is_none());
    let touched = site_of.iter().filter(|(_, (load, store))| is_unknown(load) || is_unknown(store));
    let touched: BTreeSet<PlaceId> = touched.map(|(place, _)| *place).collect();
    if touched.is_empty() {
        return None;
    }
    let mut whole =
        Slice { unit, invariant_places, private, ways_out: false, touched, found: Inspection::default() };
    loop {
        let before = whole.size();
        whole.close(body, true);
        if whole.size() == before {
            break;
        }
    }
    Some(whole.found)
}

/// What decides whether an iteration leaves the loop, where it may ([`crate::loops::leaving`]). Whether the values that it loads are those that the
/// loop itself would load is not decided here.
pub fn ways_out(unit: &TranslationUnit, body: &Stmt, given: &Given) -> Option<Inspection> {
    let Given { invariant_places, private, .. } = *given;
    if !leaving::has_ways_out(body) {
        return None;
    }
    let found = Inspection { ways_out: true, ..Inspection::default() };
    let touched = BTreeSet::new();
    let mut slice = Slice { unit, invariant_places, private, ways_out: true, touched, found };
    loop {
        let before = slice.size();
        slice.close(body, true);
        if slice.size() == before {
            break;
        }
    }
    nest::statements(body, &mut |s| {
        if let StmtKind::Loop(l) = &s.kind
            && !slice.has_part_in(s)
        {
            slice.found.left_out.insert(l.id);
        }
    });
    Some(slice.found)
}

/// Has a slice that decides all addresses (`whole` is what [`deciding`] found) show those, too, that nobody asks about for conflicts. They follow
/// from what is in it already, so it has to compute nothing more than the addresses themselves.
pub fn show_all(
    unit: &TranslationUnit,
    body: &Stmt,
    given: &Given,
    whole: &Inspection,
    slice: &mut Inspection,
) {
    let Given { sites, site_of, invariant_places, private, .. } = *given;
    let shown = |site: &Option<SiteId>| {
        site.is_some_and(|site| slice.meeting.contains(&site) || slice.changing.contains(&site))
    };
    let mut only_seen = BTreeSet::new();
    let mut are_whole = true;
    for (place, (load, store)) in site_of {
        let mut unknown = [load, store]
            .into_iter()
            .flatten()
            .map(|id| &sites[id.0 as usize])
            .filter(|s| s.affine.is_none());
        let Some(site) = unknown.next() else { continue };
        are_whole &= site.whole_elements;
        if !shown(load) && !shown(store) && !slice.feeding.contains(place) {
            only_seen.insert(*place);
        }
    }
    slice.shows_all = are_whole && !whole.may_differ;
    if !slice.shows_all || only_seen.is_empty() {
        return;
    }
    let touched =
        site_of.iter().filter(|(_, (load, store))| shown(load) || shown(store)).map(|(place, _)| *place);
    let touched = touched.chain(only_seen.iter().copied()).collect();
    let showing =
        Slice { unit, invariant_places, private, ways_out: false, touched, found: std::mem::take(slice) };
    let mut left_out = BTreeSet::new();
    nest::statements(body, &mut |s| {
        if let StmtKind::Loop(l) = &s.kind
            && !showing.has_part_in(s)
        {
            left_out.insert(l.id);
        }
    });
    *slice = Inspection { left_out, only_seen, ..showing.found };
}

/// Whether all addresses that aren't affine follow from what a slice's do: then what it has been shown to touch says where all accesses
/// of the loop lie.
pub fn decides_all(whole: Option<&Inspection>, slice: &Inspection) -> bool {
    whole.is_none_or(|whole| {
        !whole.is_refused
            && whole.feeding.is_subset(&slice.feeding)
            && whole.variables.is_subset(&slice.variables)
            && whole.invariants.is_subset(&slice.invariants)
    })
}

struct Slice<'a> {
    unit: &'a TranslationUnit,
    invariant_places: &'a BTreeMap<PlaceId, usize>,
    private: &'a private::Objects,
    /// Whether it is wanted when the loop is left.
    ways_out: bool,
    /// The places whose addresses are wanted.
    touched: BTreeSet<PlaceId>,
    found: Inspection,
}

impl Slice<'_> {
    fn size(&self) -> usize {
        let found = &self.found;
        found.feeding.len() + found.variables.len() + found.invariants.len() + found.changing.len()
    }

    /// Takes in the stores that may change what a load of the slice loads in the same iteration. Where they might meet it
    /// in another one, they are in a pair.
    fn add_changing(
        &mut self,
        sites: &[Site],
        site_of: &BTreeMap<PlaceId, (Option<SiteId>, Option<SiteId>)>,
    ) {
        let bases: BTreeSet<_> = self
            .found
            .feeding
            .iter()
            .filter_map(|place| site_of.get(place)?.0)
            .map(|load| sites[load.0 as usize].base)
            .collect();
        for (number, site) in sites.iter().enumerate() {
            let id = SiteId(number as u32);
            if site.is_store && bases.contains(&site.base) && !self.found.meeting.contains(&id) {
                self.found.changing.insert(id);
                self.touched.insert(site.place);
            }
        }
    }

    /// Takes in all that the value of an expression is made of.
    fn need(&mut self, e: &Expr) {
        nest::expressions(e, &mut |e| {
            self.found.computes_floats |= matches!(e.kind, ExprKind::Binary(..) | ExprKind::Call { .. })
                && self.unit.types.as_float(e.ty.ty).is_some();
            let may_trap = matches!(&e.kind, ExprKind::Binary(BinOp::Div | BinOp::Rem, _, divisor)
                if !matches!(divisor.kind, ExprKind::Int(number) if number != 0 && number != -1));
            self.found.may_trap |= may_trap && self.unit.types.as_int(e.ty.ty).is_some();
            self.found.may_differ |= match &e.kind {
                _ if may_trap => true,
                ExprKind::Call { .. } => true,
                _ => self.unit.types.as_float(e.ty.ty).is_some(),
            };
            // What an inspection calls would leave its traces twice: in errno, say.
            self.found.is_refused |= libm::is_call(self.unit, e);
            let Some((place, true, _)) = nest::accessed_place(e) else { return };
            if private::object(&self.unit.types, self.private, place).is_some() {
                self.found.is_refused = true;
            } else if let Some(v) = is_scalar(self.unit, place) {
                self.found.variables.insert(v);
            } else if let Some(number) = self.invariant_places.get(&place.id) {
                self.found.invariants.insert(*number);
            } else {
                self.found.feeding.insert(place.id);
            }
        });
    }

    /// Whether evaluating an expression does something that belongs to the slice.
    fn acts(&self, e: &Expr) -> bool {
        let mut found = false;
        nest::expressions(e, &mut |e| {
            let Some((place, _, writes)) = nest::accessed_place(e) else { return };
            found |= self.touched.contains(&place.id) || self.found.feeding.contains(&place.id);
            found |= writes && is_scalar(self.unit, place).is_some_and(|v| self.found.variables.contains(&v));
        });
        found
    }

    /// Whether a statement has a part in the slice, ways to leave a loop aside.
    fn has_part_in(&self, s: &Stmt) -> bool {
        let mut found = false;
        nest::statements(s, &mut |s| {
            found |= nest::direct_expressions(s).into_iter().any(|e| self.acts(e));
            found |= self.ways_out && matches!(s.kind, StmtKind::Leave(_));
            found |= matches!(&s.kind, StmtKind::Declare { var, .. } if self.found.variables.contains(var));
        });
        found
    }

    /// One round of the closure over a statement; `inside`: the loop around it has a part in the slice.
    fn close(&mut self, s: &Stmt, inside: bool) {
        match &s.kind {
            StmtKind::Block(list) => list.iter().for_each(|s| self.close(s, inside)),
            StmtKind::Expr(e) => self.close_expression(e),
            StmtKind::Declare { var, init: Some(Init::Scalar(e)) } => {
                if self.found.variables.contains(var) {
                    self.need(e);
                }
                self.close_expression(e);
            }
            StmtKind::Declare { init: Some(Init::Members(list)), .. } => {
                list.iter().for_each(|(_, e)| self.close_expression(e));
            }
            StmtKind::If { cond, then, otherwise } => {
                let arms = || std::iter::once(then).chain(otherwise);
                if arms().any(|arm| self.has_part_in(arm) || inside && jumps(arm)) {
                    self.need(cond);
                }
                self.close_expression(cond);
                arms().for_each(|arm| self.close(arm, inside));
            }
            StmtKind::Loop(l) => {
                let inside = self.has_part_in(s);
                if let Some(cond) = &l.cond {
                    if inside {
                        self.need(cond);
                    }
                    self.close_expression(cond);
                }
                l.init.iter().for_each(|s| self.close(s, inside));
                self.close(&l.body, inside);
                if let Some(step) = &l.step {
                    self.close_expression(step);
                }
            }
            _ => {}
        }
    }

    /// The same over an expression.
    fn close_expression(&mut self, e: &Expr) {
        nest::expressions(e, &mut |e| {
            match &e.kind {
                ExprKind::Conditional(cond, a, b) if self.acts(a) || self.acts(b) => self.need(cond),
                ExprKind::LogicalAnd(cond, b) | ExprKind::LogicalOr(cond, b) if self.acts(b) => {
                    self.need(cond)
                }
                _ => {}
            }
            let Some((place, _, writes)) = nest::accessed_place(e) else { return };
            match is_scalar(self.unit, place) {
                Some(v) if writes && self.found.variables.contains(&v) => match &e.kind {
                    ExprKind::AssignOp { op: BinOp::Div | BinOp::Rem, value, .. } => {
                        (self.found.may_differ, self.found.may_trap) = (true, true);
                        self.need(value);
                    }
                    ExprKind::Assign(_, value)
                    | ExprKind::AssignOp { value, .. }
                    | ExprKind::PtrAssign { index: value, .. } => self.need(value),
                    _ => {}
                },
                Some(_) => {}
                None if self.touched.contains(&place.id) || self.found.feeding.contains(&place.id) => {
                    self.need_address(place);
                }
                None => {}
            }
        });
    }

    fn need_address(&mut self, place: &Place) {
        match &place.kind {
            PlaceKind::Deref(pointer) => self.need(pointer),
            PlaceKind::Field { base, .. } => self.need_address(base),
            _ => {}
        }
    }
}

/// Whether a statement may leave the innermost loop around it, or its iteration.
fn jumps(s: &Stmt) -> bool {
    match &s.kind {
        StmtKind::Break | StmtKind::Continue => true,
        StmtKind::Block(list) => list.iter().any(jumps),
        StmtKind::If { then, otherwise, .. } => {
            jumps(then) || otherwise.as_ref().is_some_and(|otherwise| jumps(otherwise))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::compile::judged;
    use crate::loops::options::AnalysisOptions;
    use crate::loops::plan::LoopPlan;

    /// The plan of the first loop.
    fn plan(loops: &str) -> Box<LoopPlan> {
        let text = format!(
            "static double table[1000], out[1000], sink[1000]; static int w[1000], v[1000];\n\
             void f(int n, double *p, double *q, const int *c, const int *d, int k, int most)\n{{\n{loops}\n}}\n"
        );
        let (_, mut reports) = judged(&text, &AnalysisOptions::default());
        reports.swap_remove(0).plan.unwrap_or_else(|| panic!("{loops}: no plan"))
    }

    /// Whether the slice of the first loop decides all its addresses.
    fn decides_all(loops: &str) -> bool {
        plan(loops).inspection.unwrap_or_else(|| panic!("{loops}: no inspection")).decides_all
    }

    #[test]
    fn addresses_that_nobody_asks_for_may_follow_from_something_else() {
        for body in [
            "out[w[i]] += table[i];",
            "p[c[i]] += q[d[i]];",
            "if (c[i] > 2) p[d[i] + k] += q[i];",
            "for (int j = c[i]; j < c[i + 1]; j++) p[i] -= q[j] * p[d[j]];",
        ] {
            assert!(decides_all(&format!("for (int i = 0; i < n; i++) {{ {body} }}")), "{body}");
        }
        for body in [
            // Different arrays, as the compiler sees, so nobody asks where the load is made; what decides that is no part of the slice.
            "out[w[i]] += table[v[i]];",
            "if (v[i]) sink[i] = table[w[i]]; out[w[i]] += 1;",
            // It would follow from the same, but loads that are written twice are not known to be one.
            "out[w[i]] += table[w[i]];",
        ] {
            assert!(!decides_all(&format!("for (int i = 0; i < n; i++) {{ {body} }}")), "{body}");
        }
    }

    /// Whether an inspection of the first loop can show all its addresses, and how many of them nobody asks about for conflicts.
    fn shows_all(loops: &str) -> (bool, usize) {
        let inspection = plan(loops).inspection.unwrap_or_else(|| panic!("{loops}: no inspection"));
        (inspection.shows_all, inspection.only_seen.len())
    }

    #[test]
    fn inspections_show_what_nobody_asks_about() {
        let each = |body: &str| shows_all(&format!("for (int i = 0; i < n; i++) {{ {body} }}"));
        assert_eq!(each("out[w[i]] += table[i];"), (true, 0));
        assert_eq!(each("p[c[i]] += q[i];"), (true, 0));
        assert_eq!(each("for (int j = c[i]; j < c[i + 1]; j++) p[i] -= q[j] * p[d[j]];"), (true, 0));
        assert_eq!(each("for (int j = w[i]; j < w[i + 1]; j++) out[i] -= table[j] * out[v[j]];"), (true, 1));
        assert_eq!(each("int at = w[i]; if (at > 3) out[at] += table[at + 1] + sink[at];"), (true, 2));
        // Loops that only these stand in are looked at, too.
        let inside = "int j, at = w[i]; for (j = 0; j < at; j++) sink[i] += table[j * at]; \
                      for (j = 0; j < at; j++) out[at + j] += 1;";
        let inspection = plan(&format!("for (int i = 0; i < n; i++) {{ {inside} }}")).inspection.unwrap();
        assert!(inspection.shows_all && inspection.left_out.is_empty() && inspection.only_seen.len() == 1);
        // What a device may compute otherwise where it gives up.
        assert_eq!(each("int at = w[i] / v[i]; out[at] += table[at + 1];"), (false, 0));
        assert_eq!(each("int at = w[i] % k; out[at] += table[at + 1];"), (false, 0));
        assert_eq!(each("int at = w[i]; at /= k; out[at] += table[at + 1];"), (false, 0));
        assert_eq!(each("int at = w[i] % 12; out[at] += table[at + 1];"), (true, 1));
        assert_eq!(each("int at = (int)sink[i]; out[at] += table[at + 1];"), (false, 0));
        assert_eq!(each("if (sink[i] > 2) out[w[i]] += 1;"), (false, 0));
        // What may lie between two elements.
        assert!(!each("out[w[i]] += *(double *)((char *)table + w[i]);").0);
        // What doesn't follow from the same.
        assert_eq!(each("out[w[i]] += table[v[i]];"), (false, 0));
    }

    /// What decides the addresses of the first loop, where nobody inspects it: how many loads, values from outside and invariants.
    fn deciding(loops: &str) -> Option<(usize, usize, usize)> {
        let plan = plan(loops);
        assert!(plan.inspection.is_none(), "{loops}");
        let slice = plan.deciding.as_ref()?;
        let outside = slice.variables.iter().filter(|v| plan.live_ins.contains(v)).count();
        Some((slice.feeding.len(), outside, slice.invariants.len()))
    }

    #[test]
    fn what_decides_addresses_is_known_without_an_inspection() {
        let each = |body: &str| deciding(&format!("for (int i = 0; i < n; i++) {{ {body} }}"));
        assert_eq!(each("sink[i] = table[i + k];"), None);
        assert_eq!(each("sink[i] = table[w[i] + k];"), Some((1, 1, 0)));
        assert_eq!(each("sink[i] = table[i > most ? most : i];"), Some((0, 1, 0)));
        assert_eq!(each("sink[i] = table[i * i % 7];"), Some((0, 0, 0)));
        assert_eq!(each("if (v[i]) sink[i] = table[w[i]];"), Some((2, 0, 0)));
        assert_eq!(each("if (v[i]) sink[i] = 1; out[i] = table[w[i]];"), Some((1, 0, 0)));
        assert_eq!(each("for (int j = v[i]; j < v[i + 1]; j++) sink[i] += table[j];"), Some((2, 0, 0)));
        // What an iteration has for itself isn't followed.
        assert_eq!(each("int own[2]; own[0] = w[i]; own[1] = i; sink[i] = table[own[i & 1]];"), None);
        // Each thread of a device has another minimum so far.
        let least = "if (table[w[i]] < least) { least = table[w[i]]; }";
        assert_eq!(
            deciding(&format!("double least = k; for (int i = 0; i < n; i++) {{ {least} }} out[0] = least;")),
            None
        );
    }
}
