//! What need not be shown access by access: what all iterations together touch through affine accesses, and loads that may be taken for
//! some cells more.

use super::*;

/// What need not be looked at access by access. By default, all of it is.
#[derive(Clone, Default, Debug, PartialEq, Eq)]
pub(super) struct Known {
    /// Affine accesses, of which it is known what all iterations together touch: a bit for each site.
    pub(super) sites: u64,
    /// Sites that are only shown to see where they lie, where nobody asks for that.
    pub(super) unseen: u64,
    /// Loads that need not be told from those of their neighbours.
    pub(super) lasting: u64,
    /// Where nothing that is shown stores anything: the memory that known accesses store to, from the first byte to the last. Loads
    /// that lie elsewhere need no marks.
    pub(super) only_stored: Option<(u64, u64)>,
    /// What they store to, every byte of it, and what they load from, perhaps.
    pub(super) stored: Vec<(u64, u64)>,
    pub(super) loaded: Vec<(u64, u64)>,
    /// What they load and the slice uses.
    pub(super) fed: Vec<(u64, u64)>,
}

pub(super) fn meet(a: (u64, u64), b: (u64, u64)) -> bool {
    a.0 < b.1 && b.0 < a.1
}

impl Known {
    /// Those of an entry; `open` are the pairs of sites that predicates have left open.
    ///
    /// # Safety
    /// `entry` was filled in by generated code for `info`, and is alive.
    pub(super) unsafe fn of(info: &Info, entry: &Entry, open: &[(u32, u32)]) -> Known {
        // Whether a store is an update isn't a fact of its site.
        if info.has(PG_LOOP_UPDATES) {
            return Known::default();
        }
        // SAFETY: promised by the caller.
        let (bases, accesses) = unsafe { (entry.bases(info), entry.accesses(info)) };
        let reach = |(number, site): (usize, &Site)| {
            let base = bases.get(site.base as usize)?;
            let shown = site.has(PG_SITE_INSPECTED) || site.has(PG_SITE_FEEDS);
            if !shown || !site.has(PG_SITE_HAS_AFFINE) || site.has(PG_SITE_PRIVATE) || base.dynamic != 0 {
                return None;
            }
            let print = Footprint::new(base, accesses.get(number)?);
            let (lo, hi) = if site.has(PG_SITE_STORE) {
                if !site.has(PG_SITE_UNCONDITIONAL) || !site.has(PG_SITE_EXACT) {
                    return None;
                }
                print.rows(&entry.trip, 1, 1)?.only()?
            } else {
                print.total(&entry.trip)
            };
            Some((u64::try_from(lo).ok()?, u64::try_from(hi).ok().filter(|hi| *hi >> ADDRESS_BITS == 0)?))
        };
        let mut reaches: Vec<Option<(u64, u64)>> =
            info.sites().iter().enumerate().take(u64::BITS as usize).map(reach).collect();
        let is = |number: usize, flag: u32| info.sites().get(number).is_some_and(|site| site.has(flag));
        let feeding = (0..reaches.len()).filter(|n| is(*n, PG_SITE_FEEDS)).flat_map(|load| {
            (0..reaches.len()).filter(|n| is(*n, PG_SITE_STORE)).map(move |store| (store, load))
        });
        // What may meet, or change what the slice loads, is shown: all iterations together say too little.
        let pairs: Vec<(usize, usize)> =
            open.iter().map(|(a, b)| (*a as usize, *b as usize)).chain(feeding).collect();
        for (a, b) in pairs {
            let of = |number: usize| reaches.get(number).copied().flatten();
            if of(a).zip(of(b)).is_some_and(|(a, b)| meet(a, b)) {
                (reaches[a], reaches[b]) = (None, None);
            }
        }
        let mut known = Known::default();
        for (number, reach) in reaches.into_iter().enumerate() {
            let Some(reach) = reach else { continue };
            known.sites |= 1 << number;
            match (is(number, PG_SITE_STORE), is(number, PG_SITE_FEEDS)) {
                (true, _) => known.stored.push(reach),
                (_, true) => known.fed.push(reach),
                _ => known.loaded.push(reach),
            }
        }
        for ranges in [&mut known.stored, &mut known.loaded, &mut known.fed] {
            *ranges = joined(std::mem::take(ranges));
        }
        let shown_stores = || {
            let sites = info.sites().iter().enumerate();
            sites.filter(|(number, site)| {
                site.has(PG_SITE_STORE)
                    && site.has(PG_SITE_INSPECTED)
                    && (*number >= 64 || known.sites >> number & 1 == 0)
            })
        };
        for (number, site) in info.sites().iter().enumerate().take(u64::BITS as usize) {
            let meets_own = shown_stores().any(|(_, store)| store.base == site.base);
            known.lasting |= u64::from(!site.has(PG_SITE_STORE) && !meets_own) << number;
        }
        if shown_stores().next().is_none() {
            let stored = known.stored.first().zip(known.stored.last()).map_or((0, 0), |(a, b)| (a.0, b.1));
            known.only_stored = Some(stored);
        }
        known
    }
}

/// Ranges in their order, those that touch joined.
pub(super) fn joined(mut ranges: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    ranges.sort_unstable();
    ranges.dedup_by(|next, last| {
        let touches = next.0 <= last.1;
        if touches {
            last.1 = last.1.max(next.1);
        }
        touches
    });
    ranges
}
