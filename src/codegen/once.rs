//! Whether an iteration stores to a location twice, as far as the text tells. A bitmap takes that for two iterations that meet, but costs a fraction
//! of the logs that know iterations; so this only chooses between logs: what it overlooks is found as a conflict when the loop runs, and what
//! it suspects without need is logged by words.

use crate::c::hir::*;
use crate::codegen::group::{Moving, Stride};
use crate::loops::counted::counted;
use crate::loops::nest;
use crate::loops::plan::{Base, LoopPlan, Site};
use crate::loops::scalars::same_place;
use std::collections::{BTreeMap, BTreeSet};

/// What an iteration's stores have in common.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stores {
    /// They come to a location twice, for all that the text tells.
    Often,
    /// They don't.
    Once,
    /// Nor do they, but that inner loops store to one location again and again, which need be noted once.
    Repeated,
}

/// What a body's stores have in common: those to one array are to different members of one element, or in different branches; those in an
/// inner loop move on with each turn, or stay where they are.
pub fn stores(unit: &TranslationUnit, plan: &LoopPlan, body: &Stmt) -> Stores {
    let places = places(body);
    let mut branches = Vec::new();
    // For each place the loops around it.
    let mut around: BTreeMap<PlaceId, Vec<&LoopStmt>> = BTreeMap::new();
    nest::statements(body, &mut |s| match &s.kind {
        StmtKind::Loop(l) => {
            accessed(s).into_iter().for_each(|place| around.entry(place).or_default().push(l))
        }
        StmtKind::If { then, otherwise: Some(otherwise), .. } => {
            branches.push((accessed(then), accessed(otherwise)));
        }
        _ => {}
    });
    let stores: Vec<&Site> = plan.sites.iter().filter(|site| site.is_store).collect();
    let are_apart = |a: &Site, b: &Site| {
        let in_branches = |(then, otherwise): &(BTreeSet<_>, BTreeSet<_>)| {
            (then.contains(&a.place) && otherwise.contains(&b.place))
                || (then.contains(&b.place) && otherwise.contains(&a.place))
        };
        let are_members =
            || places.get(&a.place).zip(places.get(&b.place)).is_some_and(|(x, y)| members(x, a, y, b));
        a.base != b.base || branches.iter().any(in_branches) || are_members()
    };
    let in_loops = |site: &Site| {
        let Some(loops) = around.get(&site.place) else { return Stores::Once };
        let moves = |l: &&LoopStmt| {
            let iv = counted(unit, l).ok()?.iv;
            Moving::new(unit, plan, l, iv).address(places.get(&site.place)?)
        };
        match loops.iter().map(moves).collect::<Option<Vec<_>>>().as_deref() {
            Some([Stride::Known(bytes)]) if bytes.unsigned_abs() >= site.width.into() => Stores::Once,
            Some(all) if all.iter().all(|stride| *stride == Stride::Known(0)) => Stores::Repeated,
            _ => Stores::Often,
        }
    };
    let is_once = stores.iter().enumerate().all(|(number, a)| {
        let is_unknown = matches!(plan.bases[a.base.0 as usize], Base::Dynamic);
        !is_unknown && stores[..number].iter().all(|b| are_apart(a, b))
    });
    let kinds: Vec<Stores> = stores.iter().map(|site| in_loops(site)).collect();
    let in_loops = stores.iter().zip(&kinds).filter(|(site, _)| around.contains_key(&site.place));
    let moves = in_loops.clone().any(|(_, kind)| *kind == Stores::Once);
    let repeats = in_loops.clone().any(|(_, kind)| *kind == Stores::Repeated);
    // Lanes that store for each other what moves don't know what they have noted themselves.
    match (is_once && !kinds.contains(&Stores::Often), moves, repeats) {
        (false, ..) | (_, true, true) => Stores::Often,
        (true, _, false) => Stores::Once,
        (true, false, true) => Stores::Repeated,
    }
}

/// Whether some of the stores are to members of one element, so that what they write lies near each other.
pub fn stores_members(plan: &LoopPlan, body: &Stmt) -> bool {
    let places = places(body);
    let stores: Vec<&Site> = plan.sites.iter().filter(|site| site.is_store).collect();
    let are_members = |a: &Site, b: &Site| {
        let both = places.get(&a.place).zip(places.get(&b.place));
        a.base == b.base && both.is_some_and(|(x, y)| members(x, a, y, b))
    };
    stores.iter().enumerate().any(|(number, a)| stores[..number].iter().any(|b| are_members(a, b)))
}

/// The places that are accessed, by their numbers.
fn places(body: &Stmt) -> BTreeMap<PlaceId, &Place> {
    let mut places = BTreeMap::new();
    nest::all_expressions(body, &mut |e| {
        places.extend(nest::accessed_place(e).map(|(place, ..)| (place.id, place)));
    });
    places
}

/// The places that a statement accesses.
fn accessed(s: &Stmt) -> BTreeSet<PlaceId> {
    let mut found = BTreeSet::new();
    nest::all_expressions(s, &mut |e| {
        found.extend(nest::accessed_place(e).map(|(place, ..)| place.id));
    });
    found
}

/// Whether two places are members of what is written alike, and don't overlap.
fn members(x: &Place, a: &Site, y: &Place, b: &Site) -> bool {
    let ((x, from_x), (y, from_y)) = (whole(x), whole(y));
    let (end_x, end_y) = (from_x + u64::from(a.width), from_y + u64::from(b.width));
    same_place(x, y) && (end_x <= from_y || end_y <= from_x)
}

/// What a place is a member of, and how many bytes behind its beginning it lies.
fn whole(place: &Place) -> (&Place, u64) {
    match &place.kind {
        PlaceKind::Field { base, offset, .. } => {
            let (place, before) = whole(base);
            (place, before + offset)
        }
        _ => (place, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::judged;
    use crate::loops::options::AnalysisOptions;

    fn answers(body: &str) -> Stores {
        asked(body, stores)
    }

    fn asked<T>(body: &str, ask: impl Fn(&TranslationUnit, &LoopPlan, &Stmt) -> T) -> T {
        let text = format!(
            "struct s {{ short x, y; struct {{ char a, b; }} in; }};\n\
             void f(int n, struct s *p, int *q, const int *w, const int *c)\n{{\n\
             for (int i = 0; i < n; i++) {{ {body} }}\n}}\n"
        );
        let (unit, reports) = judged(&text, &AnalysisOptions::default());
        let plan = reports[0].plan.as_ref().unwrap_or_else(|| panic!("{body}: no plan"));
        ask(&unit, plan, &nest::loops(&unit.functions[0])[0].the_loop.body)
    }

    #[test]
    fn members_lie_side_by_side() {
        for body in ["p[w[i]].x = 1; p[w[i]].y = 2;", "if (c[i]) p[w[i]].x = 1; q[i] = 2; p[w[i]].in.b = 3;"]
        {
            assert!(asked(body, |_, plan, body| stores_members(plan, body)), "{body}");
        }
        for body in ["q[w[i]] = 1; q[i] = 2;", "p[w[i]].x = 1;", "p[w[i]].x = 1; p[i].y = 2;"] {
            assert!(!asked(body, |_, plan, body| stores_members(plan, body)), "{body}");
        }
    }

    #[test]
    fn members_branches_and_turns_are_apart() {
        for body in [
            "q[w[i]] = 1;",
            "p[w[i]].x = 1; p[w[i]].y = 2; p[w[i]].in.a = 3; p[w[i]].in.b = 4;",
            "if (c[i]) q[w[i]] = 1; else q[w[i]] = 2;",
            "if (c[i] > 2) q[w[i]] = 1; else if (c[i]) { q[w[i] + 1] = 2; p[w[i]].x = 1; }",
            "for (int k = c[i]; k < c[i + 1]; k++) q[k] += w[k];",
            "int at = w[i]; for (int k = 0; k < c[i]; k++) q[at + 3 * k] = k;",
        ] {
            assert_eq!(answers(body), Stores::Once, "{body}");
        }
        for body in [
            "int at = w[i]; for (int k = c[i]; k < c[i + 1]; k++) q[at] -= q[w[k]];",
            "struct s *at = p + w[i]; for (int k = 0; k < c[i]; k++) for (int j = 0; j < 9; j++) at->x += c[j];",
        ] {
            assert_eq!(answers(body), Stores::Repeated, "{body}");
        }
        for body in [
            "q[w[i]] = 1; q[w[i] + 1] = 2;",
            "p[w[i]].x = 1; p[w[i] + 1].y = 2;",
            "p[w[i]].x = 1; p[w[i]].x = 2;",
            "if (c[i]) q[w[i]] = 1; if (!c[i]) q[w[i]] = 2;",
            "if (c[i]) { q[w[i]] = 1; q[w[i + 1]] = 3; } else q[w[i]] = 2;",
            "for (int k = 0; k < c[i]; k++) q[w[k]] = 1;",
            "int at = w[i]; for (int k = 0; k < c[i]; k++) for (int j = 0; j < 9; j++) q[at + j] = 1;",
            "int at = w[i]; for (int k = 0; k < c[i]; k++) { q[at] += c[k]; p[at + k].x = 1; }",
            "for (int k = 0; k < c[i]; k++) *(short *)((char *)q + w[i] + k) = 1;",
        ] {
            assert_eq!(answers(body), Stores::Often, "{body}");
        }
    }
}
