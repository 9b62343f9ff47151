//! Whether an iteration stores to a location twice, as far as the text tells. A bitmap takes that for two iterations that meet, but costs a fraction
//! of the logs that know iterations; so this only chooses between logs: what it overlooks is found as a conflict when the loop runs, and what
//! it suspects without need is logged by words.

use crate::c::hir::*;
use crate::loops::nest;
use crate::loops::plan::{Base, LoopPlan, Site};
use crate::loops::scalars::same_place;
use std::collections::{BTreeMap, BTreeSet};

/// Whether no store stands in an inner loop, and those to one array are to different members of one element, or in different
/// branches.
pub fn stores_once(plan: &LoopPlan, body: &Stmt) -> bool {
    let mut places: BTreeMap<PlaceId, &Place> = BTreeMap::new();
    let mut repeated = BTreeSet::new();
    let mut branches = Vec::new();
    nest::all_expressions(body, &mut |e| {
        places.extend(nest::accessed_place(e).map(|(place, ..)| (place.id, place)));
    });
    nest::statements(body, &mut |s| match &s.kind {
        StmtKind::Loop(_) => repeated.extend(accessed(s)),
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
    stores.iter().enumerate().all(|(number, a)| {
        let is_unknown = matches!(plan.bases[a.base.0 as usize], Base::Dynamic);
        !is_unknown && !repeated.contains(&a.place) && stores[..number].iter().all(|b| are_apart(a, b))
    })
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
    use crate::c::dialect::Dialect;
    use crate::compile::STAGES;
    use crate::loops::options::AnalysisOptions;

    fn answers(body: &str) -> bool {
        let text = format!(
            "struct s {{ short x, y; struct {{ char a, b; }} in; }};\n\
             void f(int n, struct s *p, int *q, const int *w, const int *c)\n{{\n\
             for (int i = 0; i < n; i++) {{ {body} }}\n}}\n"
        );
        let stages = STAGES.unwrap();
        let options = AnalysisOptions::default();
        let mut unit = (stages.lower)(&text, &Dialect::default()).unwrap();
        (stages.normalize)(&mut unit, &options);
        let reports = (stages.classify)(&unit, &options);
        let plan = reports[0].plan.as_ref().unwrap_or_else(|| panic!("{body}: no plan"));
        stores_once(plan, &nest::loops(&unit.functions[0])[0].the_loop.body)
    }

    #[test]
    fn members_and_branches_are_apart() {
        for body in [
            "q[w[i]] = 1;",
            "p[w[i]].x = 1; p[w[i]].y = 2; p[w[i]].in.a = 3; p[w[i]].in.b = 4;",
            "if (c[i]) q[w[i]] = 1; else q[w[i]] = 2;",
            "if (c[i] > 2) q[w[i]] = 1; else if (c[i]) { q[w[i] + 1] = 2; p[w[i]].x = 1; }",
        ] {
            assert!(answers(body), "{body}");
        }
        for body in [
            "q[w[i]] = 1; q[w[i] + 1] = 2;",
            "p[w[i]].x = 1; p[w[i] + 1].y = 2;",
            "p[w[i]].x = 1; p[w[i]].x = 2;",
            "if (c[i]) q[w[i]] = 1; if (!c[i]) q[w[i]] = 2;",
            "if (c[i]) { q[w[i]] = 1; q[w[i + 1]] = 3; } else q[w[i]] = 2;",
            "for (int k = 0; k < c[i]; k++) q[w[k]] = 1;",
        ] {
            assert!(!answers(body), "{body}");
        }
    }
}
