//! Places that a loop reads before it runs, or keeps in variables while it does: which of its stores may change them. What an entry looks at
//! where that isn't known is in the plan.

use crate::analysis::dependence::Range;
use crate::analysis::pairs::{self, Steps};
use crate::c::hir::*;
use crate::loops::access::{Accesses, describe};
use crate::loops::alias;
use crate::loops::nest;
use crate::loops::options::AnalysisOptions;
use crate::loops::plan::*;
use crate::loops::reason::{AccessNote, Advice, Kind, Reason};
use std::collections::BTreeSet;

/// The stores that may change a pinned word.
#[derive(Default)]
pub(super) struct Changing {
    /// What is to be said of the first, or of the first unplaced one.
    pub(super) first: Option<Reason>,
    /// Those of whose addresses nothing is known before they are computed.
    pub(super) unplaced: BTreeSet<SiteId>,
}

/// Finds the stores that may change a pinned word.
pub(super) fn mark_pins(
    unit: &TranslationUnit,
    options: &AnalysisOptions,
    accesses: &mut Accesses,
) -> Changing {
    let mut first: Option<Reason> = None;
    let mut unplaced = BTreeSet::new();
    let mut read_places = BTreeSet::new();
    for index in 0..accesses.sites.len() {
        let (site, form) = (&accesses.sites[index], &accesses.forms[index]);
        if !site.is_store {
            continue;
        }
        // What else may be a place that is kept, `keep` has looked at.
        let hits = accesses.pinned.iter().filter(|pin| !pin.is_kept).filter_map(|pin| {
            let ExprKind::AddressOf(read) = &pin.address.kind else { return Some(None) };
            let distinct = match (&accesses.bases[site.base.0 as usize], nest::root_variable(read)) {
                (Base::Object { var, size }, Some(root)) => {
                    root != *var && *size != 0 && !unit.var(root).is_extern && !unit.var(*var).is_extern
                }
                _ => false,
            };
            let may = !distinct && alias::may_change(unit, options.strict_aliasing, &form.place, read);
            may.then_some(Some(read))
        });
        let hits: Vec<Option<&Place>> = hits.collect();
        let Some(read) = hits.first() else { continue };
        read_places.extend(hits.iter().map(|read| read.map(|read| describe(unit, read))));
        let is_unknown =
            site.affine.is_none() || matches!(accesses.bases[site.base.0 as usize], Base::Dynamic);
        if first.is_none() || is_unknown && unplaced.is_empty() {
            let what = read.map_or("a value".to_string(), |read| describe(unit, read));
            let (text, line) = (&form.text, site.span.line);
            let text = format!(
                "the store to {text} in line {line} may change {what}, on which the loop's bounds or addresses depend"
            );
            let read = read.map(|read| AccessNote { text: what, is_store: false, span: read.span });
            let notes = [access_note(accesses, index)].into_iter().chain(read);
            first = Some(Reason::new(Kind::BoundsMayChange, text).about(notes));
        }
        if is_unknown {
            unplaced.insert(SiteId(index as u32));
        }
        accesses.sites[index].may_change_pin = true;
    }
    // Where there are several, one copy is not enough.
    if let (Some(reason), [Some(only)]) = (&mut first, &read_places.iter().collect::<Vec<_>>()[..]) {
        reason.advice.push(Advice::CopyToLocal(only.clone()));
    }
    Changing { first, unplaced }
}

/// Sees to it that nothing else in the loop touches the places that it keeps in variables: at compile time, or by
/// addresses at entry (then the second answer says so).
pub(super) fn keep(
    unit: &TranslationUnit,
    options: &AnalysisOptions,
    accesses: &mut Accesses,
    cells: &[&Cell],
    dims: &[Range],
    steps: &Steps,
) -> Result<(Vec<Kept>, Option<Reason>), Reason> {
    let mut kept: Vec<Kept> = Vec::new();
    let mut found = Vec::new();
    let mut safe = true;
    let n_bases = accesses.bases.len();
    let types_apart = |a: &Place, b: &Place| !alias::may_change(unit, options.strict_aliasing, a, b);
    let objects_apart = |a: &Place, b: &Place| {
        let objects = nest::root_variable(a).zip(nest::root_variable(b));
        objects.is_some_and(|(a, b)| a != b && !unit.var(a).is_extern && !unit.var(b).is_extern)
    };
    for cell in cells {
        let name = describe(unit, &cell.place);
        let Some((base, offset, pin)) = accesses.keep(&cell.place)? else {
            let text = format!("{name} carries a value from one iteration to the next");
            return Err(Reason::new(Kind::CarriedScalar, text));
        };
        let width = accesses.pinned[pin].width;
        // The entry looks at all of these in any case.
        for pinned in accesses.pinned.iter().filter(|pinned| !pinned.is_kept) {
            safe &= matches!(
                &pinned.address.kind,
                ExprKind::AddressOf(other) if objects_apart(&cell.place, other) || types_apart(&cell.place, other)
            );
        }
        for ((other_base, other_offset, other_width), other) in found.iter().zip(&kept) {
            safe &= objects_apart(&cell.place, &other.place)
                || *other_base == base
                    && pairs::never_meet(dims, (&offset, width, &[]), (other_offset, *other_width, &[]));
        }
        for index in 0..accesses.sites.len() {
            let (site, form) = (&accesses.sites[index], &accesses.forms[index]);
            let other = &accesses.bases[site.base.0 as usize];
            let own = &accesses.bases[base.0 as usize];
            if pairs::distinct(unit, own, other) || objects_apart(&cell.place, &form.place) {
                continue;
            }
            let inner = pairs::inner(form, steps);
            if site.base == base
                && form.offset.as_ref().is_some_and(|at| {
                    pairs::never_meet(dims, (&offset, width, &[]), (at, site.width, &inner))
                })
            {
                continue;
            }
            // Where types tell them apart, the entry looks all the same if it can: that costs nothing. With a window it could cost the
            // entry, because that may turn out to be unknown, or wide. Of two stores types tell nothing: allocated memory becomes what is
            // stored there last, and the place is stored behind all of them.
            let types_apart = !site.is_store && types_apart(&cell.place, &form.place);
            let is_dynamic = matches!(other, Base::Dynamic);
            if types_apart && (site.affine.is_none() || is_dynamic) {
                continue;
            }
            // A window is compared with the place at entry like an affine access.
            if site.affine.is_none() && site.window.is_none() || is_dynamic {
                let (text, line) = (&form.text, site.span.line);
                let text = format!(
                    "{name} carries a value from one iteration to the next, and {text} in line {line} may be it"
                );
                return Err(Reason::new(Kind::UnresolvedPair, text).about([access_note(accesses, index)]));
            }
            accesses.sites[index].may_touch_kept = true;
            safe &= types_apart;
        }
        found.push((base, offset, width));
        kept.push(Kept { var: cell.var, pin, place: cell.place.clone() });
    }
    // No access of the loop goes through a base of theirs alone.
    accesses.bases.truncate(n_bases);
    let reason = kept.first().filter(|_| !safe).map(|kept| {
        let text = format!("nothing else may be the same memory as {}", describe(unit, &kept.place));
        Reason::new(Kind::UnresolvedPair, text)
    });
    Ok((kept, reason))
}

pub(super) fn access_note(accesses: &Accesses, site: usize) -> AccessNote {
    let (site, form) = (&accesses.sites[site], &accesses.forms[site]);
    AccessNote { text: form.text.clone(), is_store: site.is_store, span: site.span }
}
