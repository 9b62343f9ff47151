//! Tables of pointers at an entry: what predicates can tell of accesses behind pointers that elements of another array hold, as `a[i][j]` of
//! `double **a`, `p[i]->x` of `struct body **p` and `u[i][j][k]` of `double ***u` ([`Site::slot`]).
//!
//! Such an access has two addresses: that of the *slot*, which holds the pointer to its row, and its offset in the row. Both are affine. If the rows
//! are *apart*, which means that what is accessed behind one slot has nothing in common with what is behind any other, two accesses touch a common
//! byte only where their slots are the same and their offsets meet. So the table is taken for one array whose rows are a pitch apart that is longer
//! than any of them, and [`predicate::judge`] is asked about that. Whether it is right doesn't depend on the pitch, only how much it shows.
//!
//! Whether rows are apart is seen by reading all slots, and looking at the hulls of what is accessed behind them in the order of their addresses: n log n for n rows. Two may
//! only overlap where the loop loads from both. What else the loop accesses counts as one more row. Nothing may be stored to the tables themselves, not even in the iteration
//! that then follows the pointer: then all slots hold throughout the loop what they hold at entry, since the first store that changes one would be made through slots that are as they were.
//!
//! Of tables whose rows are tables, the inner ones have to be apart although they are only loaded: else one slot would be two rows.

use super::predicate::{Answer, Footprint, gcd, judge};
use crate::abi::{Access, Base, Info, PG_MAX_DIMS, PG_SITE_STORE, PG_SITE_WHOLE_ELEMENTS, Site};
use crate::memory::safe_copy;

/// Bytes of a slot.
const SLOT: i128 = 8;
/// So few rows are looked at in any case.
const FEW: u64 = 256;
/// More than this are never looked at.
const MOST: u64 = 1 << 20;
/// Farthest that a row may reach.
const LONGEST: i128 = 1 << 36;
/// Strides from here on could leave 128 bits when they are multiplied by trip counts, and places when they are multiplied by another pitch.
const FASTEST: i128 = 1 << 62;
const FARTHEST: i128 = 1 << 90;

/// Rows that lie so near each other are one array for whoever copies them: what lies between them is mostly the allocator's.
const NEAR: u64 = 256;

/// What is known of the rows of one entry: that they are apart.
pub struct Rows {
    /// Of each site, where it is in a row.
    places: Vec<Option<Place>>,
    trip: [i64; PG_MAX_DIMS],
    reaches: Vec<Reach>,
}

/// Memory that is accessed in rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reach {
    /// Its first byte.
    pub lo: u64,
    /// What follows its last one.
    pub hi: u64,
    /// Whether some of it may be stored to.
    pub is_stored: bool,
}

/// Where a site's accesses are.
enum Place {
    /// There are none: some loop around it has no turn.
    Nowhere,
    /// In a row.
    At(Box<Position>),
}

/// Where in rows accesses are.
struct Position {
    /// How many pointers they are behind.
    depth: u32,
    /// The site of the slot.
    slot: u32,
    /// As if each table were one array.
    whole: Footprint,
    /// Where the slots are, in the same way.
    slots: Footprint,
    /// From where the rows begin.
    offsets: Footprint,
}

/// The entry's part in the question.
pub struct Accesses<'a> {
    /// The loop.
    pub info: &'a Info,
    /// Of each site.
    pub accesses: &'a [Access],
    /// Of each site where it is known without its table.
    pub prints: &'a [Option<Footprint>],
    /// Trip counts.
    pub trip: &'a [i64; PG_MAX_DIMS],
    /// Memory that has to stay as it is.
    pub pinned: &'a [(i128, i128)],
}

impl Rows {
    /// Reads the tables, if they have no more than so many rows, or few. `None`: rows aren't apart, or that can't be told.
    pub fn read(of: &Accesses<'_>, most: u64) -> Option<Rows> {
        let tree = Tree::new(of)?;
        let places = tree.places(of)?;
        let mut ranges = tree.ranges(of, most.clamp(FEW, MOST))?;
        are_apart(&mut ranges).then(|| Rows { places, trip: *of.trip, reaches: reaches(&ranges) })
    }

    /// Where all rows are, in order; neighbours together.
    pub fn reaches(self) -> Vec<Reach> {
        self.reaches
    }

    /// Asks for two accesses, of which one is in a row and the other, if it isn't, is in memory that was looked at.
    pub fn judge(&self, a: u32, b: u32) -> Answer {
        match (self.place(a), self.place(b)) {
            (None, None) => Answer::Unknown,
            (Some(Place::At(a)), Some(Place::At(b))) if a.depth == b.depth => self.judge_positions(a, b),
            // One is in no row, in none of the same table, or nowhere.
            _ => Answer::Independent,
        }
    }

    fn place(&self, site: u32) -> Option<&Place> {
        self.places.get(site as usize)?.as_ref()
    }

    /// What meets has everything in common: the slot, the offset, and what the table looks like as one array.
    fn judge_positions(&self, a: &Position, b: &Position) -> Answer {
        let are_independent = |a: &Footprint, b: &Footprint| judge(a, b, &self.trip) == Answer::Independent;
        let by_slots = match (self.place(a.slot), self.place(b.slot)) {
            (Some(Place::At(a)), Some(Place::At(b))) => self.judge_positions(a, b) == Answer::Independent,
            _ => are_independent(&a.slots, &b.slots),
        };
        match by_slots || are_independent(&a.offsets, &b.offsets) || are_independent(&a.whole, &b.whole) {
            true => Answer::Independent,
            false => Answer::Unknown,
        }
    }
}

/// Rows that are behind slots in one range: of a table in memory, or of each row of another node.
#[derive(Clone, Copy)]
struct Node {
    parent: Option<usize>,
    /// The first slot, and the last one: addresses, or offsets in the parent's rows.
    slots: (i128, i128),
    /// From one slot to the next.
    step: i128,
    /// From where to where accesses are, behind each slot.
    reach: (i128, i128),
    depth: u32,
    /// Where in it the loop stores.
    stored: Option<(i128, i128)>,
    /// Where in it the slots of further rows are.
    table: Option<(i128, i128)>,
}

impl Node {
    /// Whether a slot in it may be stored to, as far as its own offsets tell.
    fn may_change(&self) -> bool {
        self.stored.zip(self.table).is_some_and(|(stored, table)| stored.0 < table.1 && table.0 < stored.1)
    }

    fn count(&self) -> i128 {
        (self.slots.1 - self.slots.0) / self.step + 1
    }
}

/// From the beginning of the first to the end of the last.
fn both(a: Option<(i128, i128)>, b: Option<(i128, i128)>) -> Option<(i128, i128)> {
    match (a, b) {
        (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
        _ => a.or(b),
    }
}

/// All rows, and which accesses are made to them.
struct Tree {
    nodes: Vec<Node>,
    /// Of each site in a row: its node, its slots as the slot's own site has them (addresses, or offsets), and its offsets.
    sites: Vec<Option<Option<InRow>>>,
}

#[derive(Clone, Copy)]
struct InRow {
    node: usize,
    slot: u32,
    offsets: Footprint,
}

impl Tree {
    fn new(of: &Accesses<'_>) -> Option<Tree> {
        let mut tree = Tree { nodes: Vec::new(), sites: vec![None; of.info.sites().len()] };
        for (number, site) in of.info.sites().iter().enumerate() {
            let Some(slot) = site.slot() else { continue };
            tree.sites[number] = Some(tree.add(of, number, site, slot)?);
        }
        Some(tree)
    }

    /// The inner `None`: there are no accesses. The outer one: nobody knows.
    fn add(&mut self, of: &Accesses<'_>, number: usize, site: &Site, slot: u32) -> Option<Option<InRow>> {
        let offsets = Footprint::new(&Base::default(), of.accesses.get(number)?);
        let (parent, slots) = match self.sites.get(slot as usize)? {
            None => (None, of.prints.get(slot as usize).copied().flatten()?),
            Some(None) => return Some(None),
            Some(Some(holder)) => (Some(holder.node), holder.offsets),
        };
        let (all, reach) = (slots.total(of.trip), offsets.total(of.trip));
        if all.0 >= all.1 || reach.0 >= reach.1 || slots.lo >= slots.hi || offsets.lo >= offsets.hi {
            return Some(None);
        }
        let moving = || (0..PG_MAX_DIMS).filter(|dim| of.trip[*dim] > 1);
        let strides = || moving().map(|dim| slots.stride[dim]);
        // Those of an inner loop are only known by the first and the last.
        let table = of.info.sites().get(slot as usize)?;
        let are_whole = table.has(PG_SITE_WHOLE_ELEMENTS) && i128::from(table.width) == SLOT;
        let are_slots = are_whole
            && [all.0, all.1, slots.lo, slots.hi].iter().all(|at| at % SLOT == 0)
            && strides().all(|stride| stride % SLOT == 0);
        let is_bounded = reach.0 > -LONGEST && reach.1 < LONGEST && slots.hi - slots.lo < LONGEST;
        if !are_slots || !is_bounded {
            return None;
        }
        // One slot of each iteration is met in steps; of an inner loop's all between the first and the last may be.
        let step = match slots.hull.is_none() && slots.hi - slots.lo == SLOT {
            true => strides().fold(0, gcd),
            false => SLOT,
        };
        let step = if step == 0 { SLOT } else { step };
        let depth = parent.map_or(1, |parent| self.nodes[parent].depth + 1);
        let stored = site.has(PG_SITE_STORE).then_some(reach);
        let node = Node { parent, slots: (all.0, all.1 - SLOT), step, reach, depth, stored, table: None };
        if let Some(parent) = parent {
            let known = &mut self.nodes[parent].table;
            *known = both(*known, Some(all));
        }
        Some(Some(InRow { node: self.join(node), slot, offsets }))
    }

    /// Rows of one table that several accesses are made to are looked at once.
    fn join(&mut self, node: Node) -> usize {
        let is_same = |known: &Node| {
            known.parent == node.parent
                && known.step == node.step
                && (known.slots.0 - node.slots.0) % node.step == 0
                && known.slots.0 <= node.slots.1 + node.step
                && node.slots.0 <= known.slots.1 + node.step
        };
        let Some(number) = self.nodes.iter().position(is_same) else {
            self.nodes.push(node);
            return self.nodes.len() - 1;
        };
        let known = &mut self.nodes[number];
        known.slots = (known.slots.0.min(node.slots.0), known.slots.1.max(node.slots.1));
        known.reach = (known.reach.0.min(node.reach.0), known.reach.1.max(node.reach.1));
        known.stored = both(known.stored, node.stored);
        number
    }

    /// Where all accesses in rows are, as if each table were one array.
    fn places(&self, of: &Accesses<'_>) -> Option<Vec<Option<Place>>> {
        let deepest = self.nodes.iter().map(|node| node.depth).max().unwrap_or(0);
        let pitch = |depth: u32| {
            let reaches = self.nodes.iter().filter(|node| node.depth == depth).map(|node| node.reach);
            let (lo, hi) = reaches.fold((0, SLOT), |all, one| (all.0.min(one.0), all.1.max(one.1)));
            ((hi - lo) as u128).next_power_of_two() as i128
        };
        let pitches: Vec<i128> = (0..=deepest).map(pitch).collect();
        let mut places: Vec<Option<Place>> = Vec::new();
        for site in &self.sites {
            let Some(Some(InRow { node, slot, offsets })) = site else {
                places.push(site.map(|_| Place::Nowhere));
                continue;
            };
            let slots = match &places[*slot as usize] {
                None => of.prints[*slot as usize]?,
                Some(Place::At(position)) => position.whole,
                Some(Place::Nowhere) => return None,
            };
            let depth = self.nodes[*node].depth;
            let pitch = pitches[depth as usize];
            // From the first byte of the first slot's row to where the last one's accesses end.
            let ends = |slots: (i128, i128), reach: (i128, i128)| {
                (slots.0 / SLOT * pitch + reach.0, (slots.1 - SLOT) / SLOT * pitch + reach.1)
            };
            let (lo, hi) = ends((slots.lo, slots.hi), (offsets.lo, offsets.hi));
            let mut stride = [0; PG_MAX_DIMS];
            for (dim, stride) in stride.iter_mut().enumerate().filter(|(dim, _)| of.trip[*dim] > 1) {
                *stride = slots.stride[dim] / SLOT * pitch + offsets.stride[dim];
                if stride.abs() >= FASTEST {
                    return None;
                }
            }
            let hull = ends(slots.total(of.trip), offsets.total(of.trip));
            if [lo, hi, hull.0, hull.1].iter().any(|at| at.abs() >= FARTHEST) {
                return None;
            }
            let hull = Some(hull);
            let whole = Footprint { lo, hi, stride, hull };
            let position = Position { depth, slot: *slot, whole, slots, offsets: *offsets };
            places.push(Some(Place::At(Box::new(position))));
        }
        Some(places)
    }

    /// What is behind each slot, and all else that is accessed. `None`: nobody knows, there are more than so many, or some row's own slots may be stored to.
    fn ranges(&self, of: &Accesses<'_>, most: u64) -> Option<Vec<Range>> {
        if self.nodes.iter().any(Node::may_change) {
            return None;
        }
        let mut counts: Vec<i128> = Vec::new();
        let (mut rows, mut words) = (0, 0);
        for node in &self.nodes {
            let above = node.parent.map_or(1, |parent| counts[parent]);
            let count = above.checked_mul(node.count())?;
            rows += count;
            words += above.checked_mul(node.count() * (node.step / SLOT))?;
            if rows > i128::from(most) || words > i128::from(most) * 8 {
                return None;
            }
            counts.push(count);
        }
        let mut ranges = Vec::new();
        ranges.try_reserve_exact(rows as usize + 2 * of.info.sites().len() + of.pinned.len()).ok()?;
        // What the slots of each node hold.
        let mut held: Vec<Vec<u64>> = Vec::new();
        for node in &self.nodes {
            let mut own = Vec::new();
            let holders: &[u64] = match node.parent {
                Some(parent) => held.get(parent)?,
                None => &[0],
            };
            let first_of = |holder: u64| i128::from(holder) + node.slots.0;
            let table = |holder: &u64| {
                let lo = u64::try_from(first_of(*holder)).ok()?;
                Some((lo, u64::try_from(i128::from(*holder) + node.slots.1 + SLOT).ok()?))
            };
            let tables = holders.iter().map(table).collect::<Option<Vec<(u64, u64)>>>()?;
            let read = safe_copy::words_of(&tables).ok()?;
            let (apart, count) = ((node.step / SLOT) as usize, node.count() as usize);
            let length = (count - 1) * apart + 1;
            let (begin, end) = (node.reach.0 as i64, node.reach.1 as i64);
            let (is_stored, is_table) = (node.stored.is_some(), node.table.is_some());
            for ((lo, _), table) in tables.iter().zip(read.chunks_exact(length)) {
                let mut tag = lo | u64::from(node.depth);
                for pointer in table.iter().step_by(apart) {
                    // A slot without a row: whoever follows it faults.
                    if *pointer != 0 {
                        let (lo, hi) = (pointer.checked_add_signed(begin)?, pointer.checked_add_signed(end)?);
                        ranges.push(Range { lo, hi, tag, is_stored, is_table });
                    }
                    tag += node.step as u64;
                }
                if is_table {
                    own.extend(table.iter().step_by(apart).filter(|pointer| **pointer != 0));
                }
            }
            // Slots of different rows are told apart by their addresses.
            if own.iter().any(|pointer| pointer % SLOT as u64 != 0) {
                return None;
            }
            held.push(own);
        }
        let mut also = |(lo, hi): (i128, i128), is_stored, is_table| {
            if lo < hi {
                let (lo, hi) = (u64::try_from(lo).ok()?, u64::try_from(hi).ok()?);
                ranges.push(Range { lo, hi, tag: NO_ROW, is_stored, is_table });
            }
            Some(())
        };
        let sites = of.info.sites();
        for (site, print) in sites.iter().zip(of.prints) {
            if let Some(print) = print {
                also(print.total(of.trip), site.has(PG_SITE_STORE), false)?;
            }
        }
        for slot in sites.iter().filter_map(Site::slot) {
            if let Some(print) = of.prints.get(slot as usize).copied().flatten() {
                also(print.total(of.trip), false, true)?;
            }
        }
        of.pinned.iter().try_for_each(|pinned| also(*pinned, false, false))?;
        Some(ranges)
    }
}

/// What is accessed behind one slot, or without one.
#[derive(Clone, Copy, Debug)]
struct Range {
    lo: u64,
    hi: u64,
    /// The slot, which is at a multiple of eight, and how many pointers it is behind.
    tag: u64,
    is_stored: bool,
    is_table: bool,
}

/// The tag of what is in no row.
const NO_ROW: u64 = 0;
/// That of several together, which is nobody's.
const SEVERAL: u64 = u64::MAX;

/// The rows among sorted ranges.
fn reaches(ranges: &[Range]) -> Vec<Reach> {
    let mut reaches: Vec<Reach> = Vec::new();
    for Range { lo, hi, is_stored, .. } in ranges.iter().filter(|range| range.tag != NO_ROW) {
        match reaches.last_mut().filter(|last| *lo <= last.hi.saturating_add(NEAR)) {
            Some(last) => {
                last.hi = last.hi.max(*hi);
                last.is_stored |= is_stored;
            }
            None => reaches.push(Reach { lo: *lo, hi: *hi, is_stored: *is_stored }),
        }
    }
    reaches
}

/// Whether ranges of different tags overlap only where both are loaded, and no table is stored to. Sorts them.
fn are_apart(ranges: &mut [Range]) -> bool {
    // Tables are mostly in the order of their rows.
    ranges.sort_by_key(|range| range.lo);
    let Some((first, others)) = ranges.split_first() else { return true };
    // All that overlaps so far, taken as one.
    let mut run = *first;
    for next in others {
        if next.lo >= run.hi {
            run = *next;
            continue;
        }
        let is_same = next.tag == run.tag;
        let needs_own = |range: &Range| range.is_stored || range.is_table;
        if run.is_table && next.is_stored || run.is_stored && next.is_table {
            return false;
        }
        if !is_same && (needs_own(&run) || needs_own(next)) {
            return false;
        }
        run = Range {
            lo: run.lo,
            hi: run.hi.max(next.hi),
            tag: if is_same { run.tag } else { SEVERAL },
            is_stored: run.is_stored || next.is_stored,
            is_table: run.is_table || next.is_table,
        };
    }
    true
}

#[cfg(test)]
mod tests;
