//! All pairs of accesses of a loop with a store among them: independent, certainly dependent, or unresolved with the check
//! that can resolve them at run time; and the loads that find what they need in a snapshot of the memory before the loop, so that
//! anti dependences don't count.

use super::dependence::{self, Access, Dependence, Range};
use crate::c::hir::*;
use crate::loops::access::{Accesses, SiteForm};
use crate::loops::linear::{self, Linear};
use crate::loops::plan::*;
use crate::loops::scalars::same_place;
use std::collections::{BTreeMap, BTreeSet};

/// What became of all pairs.
pub enum Pairs {
    /// Two sites that meet in different iterations, in any run.
    Dependent(usize, usize),
    /// What is left to check.
    Unresolved(Vec<Pair>),
}

/// Steps of all loops of the nest, for distances.
pub type Steps = std::collections::BTreeMap<LoopId, i64>;

/// The loops inside the dimensions that surround a site.
pub fn inner(form: &SiteForm, steps: &Steps) -> Vec<Range> {
    form.inner
        .iter()
        .map(|(id, range)| Range { id: *id, range: range.clone(), step: steps.get(id).copied().unwrap_or(1) })
        .collect()
}

/// Whether two accesses through one base (byte offset, width, loops inside the dimensions) touch no common byte in any two
/// different iterations, whatever is known at entry.
pub fn never_meet(dims: &[Range], a: (&Linear, u32, &[Range]), b: (&Linear, u32, &[Range])) -> bool {
    let [a, b] = [a, b].map(|(offset, width, inner)| Access { offset, width: i64::from(width), inner });
    dependence::test(dims, &a, &b) == Dependence::None
}

/// Whether two bases are different objects for certain.
pub fn distinct(unit: &TranslationUnit, a: &Base, b: &Base) -> bool {
    match (a, b) {
        (Base::Object { var: x, size: s }, Base::Object { var: y, size: t }) => {
            x != y && *s != 0 && *t != 0 && !unit.var(*x).is_extern && !unit.var(*y).is_extern
        }
        _ => false,
    }
}

/// Whether a base is an object that is defined as constant here: C lets nobody store to it.
pub fn is_constant(unit: &TranslationUnit, base: &Base) -> bool {
    let Base::Object { var, .. } = base else { return false };
    let variable = unit.var(*var);
    let mut ty = variable.ty;
    while let TypeKind::Array(element, _) = unit.types.kind(ty.ty) {
        ty = *element;
    }
    ty.quals.is_const && !ty.quals.is_volatile && !variable.is_extern
}

/// Tests all pairs, and marks the sites that have to be logged when the loop is speculated. `asserted`: the programmer says that
/// iterations are independent, so that what depends on conditions is not taken for certain.
pub fn resolve(
    unit: &TranslationUnit,
    accesses: &mut Accesses,
    dims: &[Range],
    steps: &Steps,
    asserted: bool,
) -> Pairs {
    let mut unresolved = Vec::new();
    // The first pair that certainly meets, and only in anti dependences.
    let mut certain = None;
    drop_useless_updates(accesses);
    // By the places of their accesses: where they store to, and what they have to have in common to commute.
    let mut kinds = BTreeMap::new();
    for (store, update) in &accesses.updates {
        kinds.extend([*store, update.load].map(|place| (place, (*store, update.op))));
    }
    // What is loaded may be stored to by a pair that is not looked at here.
    let may_use_snapshots = !asserted && accesses.privatized.is_empty();
    let mut meeting = BTreeSet::new();
    for a in 0..accesses.sites.len() {
        if !accesses.sites[a].is_store {
            continue;
        }
        for b in 0..accesses.sites.len() {
            if accesses.sites[b].is_store && b < a {
                continue;
            }
            let (base_a, base_b) = (accesses.sites[a].base, accesses.sites[b].base);
            let bases = (&accesses.bases[base_a.0 as usize], &accesses.bases[base_b.0 as usize]);
            if distinct(unit, bases.0, bases.1) || is_constant(unit, bases.1) {
                continue;
            }
            // `loops::privatization` has seen to them.
            if [base_a, base_b].iter().any(|base| accesses.privatized.contains(base)) {
                continue;
            }
            let same_base = base_a == base_b && !matches!(bases.0, Base::Dynamic);
            let both = (&accesses.forms[a].offset, &accesses.forms[b].offset);
            let updates = (kinds.get(&accesses.sites[a].place), kinds.get(&accesses.sites[b].place));
            let mut is_anti = false;
            let check = match both {
                (Some(x), Some(y)) if same_base => {
                    let (inner_a, inner_b) =
                        (inner(&accesses.forms[a], steps), inner(&accesses.forms[b], steps));
                    let access = |offset, width, inner| Access { offset, width: i64::from(width), inner };
                    let (width_a, width_b) = (accesses.sites[a].width, accesses.sites[b].width);
                    let (x, y) = (access(x, width_a, &inner_a), access(y, width_b, &inner_b));
                    let answer = dependence::test(dims, &x, &y);
                    if answer == Dependence::None {
                        continue;
                    }
                    is_anti = may_use_snapshots
                        && !accesses.sites[b].is_store
                        && dependence::comes_first(dims, &y, &x);
                    if answer == Dependence::Certain && !conditional_only(accesses, a, b, asserted) {
                        if !is_anti {
                            return Pairs::Dependent(a, b);
                        }
                        certain.get_or_insert((a, b));
                    }
                    Check::Predicate
                }
                (Some(_), Some(_)) => Check::Predicate,
                // An entry may find them in rows that have nothing in common.
                _ if [a, b].iter().all(|site| is_in_own_row(accesses, *site)) => Check::Logs,
                _ => match updates {
                    (Some((x, p)), Some((y, q)))
                        if p == q && accesses.sites[a].width == accesses.sites[b].width =>
                    {
                        meeting.extend([*x, *y]);
                        continue;
                    }
                    _ => Check::Logs,
                },
            };
            unresolved.push(Pair {
                a: SiteId(a as u32),
                b: SiteId(b as u32),
                check,
                is_anti,
                is_apart: false,
            });
        }
    }
    // Who says that iterations are independent says that there are no anti dependences either.
    let settled = may_use_snapshots && find_snapshots(unit, accesses, dims, steps, &mut unresolved);
    if let Some((a, b)) = certain.filter(|_| !settled) {
        return Pairs::Dependent(a, b);
    }
    accesses.updates.retain(|place, _| meeting.contains(place));
    for pair in &unresolved {
        for site in [pair.a, pair.b] {
            accesses.sites[site.0 as usize].logged = true;
        }
    }
    // A load for which the same iteration's store to the same address stands.
    for load in 0..accesses.sites.len() {
        if accesses.sites[load].is_store || !accesses.sites[load].logged {
            continue;
        }
        let covered = (0..accesses.sites.len()).any(|store| {
            let (l, s) = (&accesses.sites[load], &accesses.sites[store]);
            if !s.is_store || !s.logged || l.base != s.base || l.width != s.width {
                return false;
            }
            if l.place == s.place || accesses.updated.get(&l.place) == Some(&s.place) {
                return true;
            }
            let (fl, fs) = (&accesses.forms[load], &accesses.forms[store]);
            let together =
                s.unconditional && fl.path.is_empty() || !accesses.has_continue && fl.path == fs.path;
            together && fl.offset.is_some() && fl.offset == fs.offset
        });
        if covered {
            let load = &mut accesses.sites[load];
            (load.logged, load.covered) = (false, true);
        }
    }
    Pairs::Unresolved(unresolved)
}

/// Whether an access is made to a row of a table whose slots iterations go through in a regular way.
fn is_in_own_row(accesses: &Accesses, site: usize) -> bool {
    let slot = accesses.sites[site].row.as_ref().map(|row| &accesses.sites[row.slot.0 as usize]);
    slot.is_some_and(|slot| slot.affine.is_some() || slot.row.is_some())
}

/// Marks the loads that may be made from a snapshot, if that can be all that the loop needs. Says whether all pairs that are
/// joined by anti dependences are settled by that; where they aren't, they are pairs like others.
fn find_snapshots(
    unit: &TranslationUnit,
    accesses: &mut Accesses,
    dims: &[Range],
    steps: &Steps,
    pairs: &mut [Pair],
) -> bool {
    // Logs and inspections know nothing of snapshots.
    let others = pairs.iter().all(|pair| pair.check == Check::Predicate);
    let has_affine = |site: usize| {
        let base = accesses.sites[site].base.0 as usize;
        accesses.sites[site].affine.is_some() && !matches!(accesses.bases[base], Base::Dynamic)
    };
    let candidates: BTreeSet<usize> =
        pairs.iter().map(|pair| pair.b.0 as usize).filter(|b| !accesses.sites[*b].is_store).collect();
    // Who loads what the own iteration stores, whatever the numbers are, finds it there only.
    let has_own = |load: usize, store: usize| {
        let (l, s) = (&accesses.forms[load].offset, &accesses.forms[store].offset);
        accesses.sites[load].base == accesses.sites[store].base && l.is_some() && l == s
    };
    let finds_all = |load: &usize| {
        has_affine(*load)
            && (0..accesses.sites.len()).filter(|store| accesses.sites[*store].is_store).all(|store| {
                let base = |site: usize| &accesses.bases[accesses.sites[site].base.0 as usize];
                if distinct(unit, base(store), base(*load)) {
                    return true;
                }
                if has_own(*load, store) {
                    return false;
                }
                let in_pair = pairs.iter().any(|p| (p.a.0, p.b.0) == (store as u32, *load as u32));
                // What is in no pair may still be met in the same iteration.
                let ends = [*load, store].map(|site| inner(&accesses.forms[site], steps));
                let access = |site: usize, inner| {
                    let offset = accesses.forms[site].offset.as_ref()?;
                    Some(Access { offset, width: i64::from(accesses.sites[site].width), inner })
                };
                let both = access(*load, &ends[0]).zip(access(store, &ends[1]));
                has_affine(store)
                    && (in_pair
                        || both.is_some_and(|(load, store)| dependence::comes_first(dims, &load, &store)))
            })
    };
    let found: Vec<usize> = candidates.into_iter().filter(|load| others && finds_all(load)).collect();
    for load in &found {
        accesses.sites[*load].may_use_snapshot = true;
    }
    let mut settled = true;
    for pair in pairs.iter_mut().filter(|pair| pair.is_anti) {
        pair.is_anti = found.contains(&(pair.b.0 as usize));
        settled &= pair.is_anti;
    }
    settled
}

/// Forgets the updates of what the same iteration also accesses otherwise: where iterations meet there, they don't commute, and
/// where they don't, logs can tell apart whose plain accesses are whose.
fn drop_useless_updates(accesses: &mut Accesses) {
    let parts: BTreeSet<PlaceId> =
        accesses.updates.iter().flat_map(|(store, update)| [*store, update.load]).collect();
    let of_update = |site: &Site| parts.contains(&site.place);
    let sites = || accesses.sites.iter().zip(&accesses.forms);
    let op = |site: &Site| accesses.updates.iter().find(|(s, u)| **s == site.place || u.load == site.place);
    let useless: BTreeSet<PlaceId> = sites()
        .filter(|(site, _)| of_update(site))
        .filter(|(site, form)| {
            sites().any(|(other, its)| {
                let commutes = of_update(other) && op(other).map(|o| o.1.op) == op(site).map(|o| o.1.op);
                !commutes && same_place(&form.place, &its.place)
            })
        })
        .filter_map(|(site, _)| op(site).map(|(store, _)| *store))
        .collect();
    accesses.updates.retain(|store, _| !useless.contains(store));
}

/// Whether a certain dependence could still not happen because the accesses are conditional.
fn conditional_only(accesses: &Accesses, a: usize, b: usize, asserted: bool) -> bool {
    let always = accesses.sites[a].unconditional && accesses.sites[b].unconditional;
    let (a, b) = (&accesses.forms[a], &accesses.forms[b]);
    // One address in every iteration, by one statement: as soon as two iterations come there.
    let one_place =
        a.path == b.path && a.offset == b.offset && a.offset.as_ref().is_some_and(|o| o.terms.is_empty());
    !always && (asserted || !one_place)
}

/// Whether a store's address doesn't depend on a dimension although it isn't linear: then merging that dimension would
/// make the store meet itself in every iteration.
pub fn ignores_dimension(accesses: &Accesses, dim: LoopId) -> bool {
    accesses.sites.iter().zip(&accesses.forms).any(|(site, form)| {
        site.is_store
            && form
                .offset
                .as_ref()
                .is_some_and(|o| o.terms.get(&dim).is_none_or(|c| linear::as_constant(c) == Some(0)))
    })
}
