//! The marks of all threads put together, page by page: whether iterations of different threads meet, what is stored, what fed the slice.

use super::known::joined;
use super::marker::Plane;
use super::*;

/// What all marks together say.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Marked {
    /// The memory that fed the slice, as ranges of addresses in their order; without [`Known::fed`].
    pub(super) fed: Vec<(u64, u64)>,
    /// The memory that is stored to; `None` where that isn't known to the byte, or is in too many pieces.
    pub(super) stored: Option<Vec<(u64, u64)>>,
    /// Whether all that was shown lies in its array; where nobody has asked, it isn't known to.
    pub(super) are_inside: bool,
    /// If so: for each site what it has come to, as [`Reached`] has it.
    pub(super) reached: Vec<(u64, u64)>,
}

/// The marks of all threads for one page of memory, put together; a word for each 64 cells.
pub(super) struct Together {
    pub(super) number: u64,
    pub(super) shift: u32,
    pub(super) stored: Vec<u64>,
    pub(super) loaded: Vec<u64>,
    pub(super) fed: Vec<u64>,
    pub(super) changed: Vec<u64>,
}

impl Together {
    pub(super) fn new(shift: u32) -> Result<Together, Obstacle> {
        let words = || safe_copy::buffer(1 << (PAGE_SHIFT - shift - 6)).map_err(|_| Obstacle::Memory);
        Ok(Together {
            number: 0,
            shift,
            stored: words()?,
            loaded: words()?,
            fed: words()?,
            changed: words()?,
        })
    }

    /// The marks of a page.
    pub(super) fn put(&mut self, pages: &[&Page]) -> Result<(), Obstacle> {
        for words in [&mut self.stored, &mut self.loaded, &mut self.fed, &mut self.changed] {
            words.fill(0);
        }
        let mut met = 0;
        for page in pages {
            self.number = page.number;
            let add = |to: &mut [u64], plane: Plane| {
                let from = &page.planes[plane as usize];
                let twice = to.iter().zip(from).fold(0, |twice, (a, b)| twice | a & b);
                to.iter_mut().zip(from).for_each(|(to, from)| *to |= from);
                twice
            };
            met |= add(&mut self.stored, Plane::Stored);
            add(&mut self.loaded, Plane::Loaded);
            add(&mut self.fed, Plane::Fed);
            add(&mut self.changed, Plane::Updated);
        }
        // So far only updates are changes.
        for ((stored, loaded), updated) in self.stored.iter().zip(&self.loaded).zip(&self.changed) {
            met |= stored & (loaded | updated) | updated & loaded;
        }
        if met != 0 {
            return Err(Obstacle::Meet);
        }
        for page in pages {
            let others = &page.planes[Plane::Other as usize];
            self.changed.iter_mut().zip(others).for_each(|(to, from)| *to |= from);
        }
        self.changed.iter_mut().zip(&self.stored).for_each(|(to, from)| *to |= from);
        match self.changed.iter().zip(&self.fed).any(|(changed, fed)| changed & fed != 0) {
            true => Err(Obstacle::FeedsItself),
            false => Ok(()),
        }
    }

    /// Whether a cell is marked there that has a byte of one of these ranges, which are in their order.
    pub(super) fn marked(&self, words: &[u64], ranges: &[(u64, u64)]) -> bool {
        let page = (self.number << PAGE_SHIFT, (self.number + 1) << PAGE_SHIFT);
        let first = ranges.partition_point(|range| range.1 <= page.0);
        ranges[first..].iter().take_while(|range| range.0 < page.1).any(|range| {
            let cell = |address: u64| ((address - page.0) >> self.shift) as usize;
            let (from, to) = (cell(range.0.max(page.0)), cell(range.1.min(page.1) - 1));
            (from >> 6..=to >> 6).any(|index| {
                let mut word = words[index];
                if index == from >> 6 {
                    word &= u64::MAX << (from & 63);
                }
                if index == to >> 6 {
                    word &= u64::MAX >> (63 - (to & 63));
                }
                word != 0
            })
        })
    }

    /// Whether known accesses have nothing to do with what is marked.
    pub(super) fn leaves_alone(&self, known: &Known) -> bool {
        let read = !known.loaded.is_empty() || !known.fed.is_empty();
        let hit = !known.stored.is_empty()
            && [&self.changed, &self.loaded, &self.fed].iter().any(|words| self.marked(words, &known.stored))
            || read && (self.marked(&self.changed, &known.loaded) || self.marked(&self.changed, &known.fed));
        !hit
    }

    /// What is marked, as ranges of addresses in their order.
    pub(super) fn ranges(&self, words: &[u64]) -> Vec<(u64, u64)> {
        let mut out: Vec<(u64, u64)> = Vec::new();
        let mut begin = None;
        let address = |cell: usize| (self.number << PAGE_SHIFT) + ((cell as u64) << self.shift);
        for (index, word) in words.iter().enumerate() {
            let mut bit = 0;
            while bit < 64 {
                let rest = if begin.is_some() { !(word >> bit) } else { word >> bit };
                // Where the word ends, shifted bits are zero, so the complement has ones there.
                let skip = rest.trailing_zeros().min(64 - bit);
                bit += skip;
                if bit == 64 {
                    break;
                }
                let cell = index * 64 + bit as usize;
                match begin.take() {
                    Some(first) => out.push((address(first), address(cell))),
                    None => begin = Some(cell),
                }
            }
        }
        out.extend(begin.map(|first| (address(first), address(words.len() * 64))));
        out
    }
}

/// Puts the marks of all threads together.
pub(super) fn together(
    markers: &[Marker<'_>],
    shared: &Shared<'_>,
    known: &Known,
    (pool, threads): Helpers<'_>,
) -> Result<Marked, Obstacle> {
    let kinds: Vec<u32> = markers.iter().map(|marker| marker.kind).filter(|kind| *kind != 0).collect();
    if kinds.iter().any(|kind| *kind != kinds[0]) {
        return Err(Obstacle::Meet);
    }
    let mut pages: Vec<&Page> = markers.iter().flat_map(|marker| &marker.pages).collect();
    pages.sort_unstable_by_key(|page| page.number);
    let same: Vec<&[&Page]> = pages.chunk_by(|a, b| a.number == b.number).collect();
    const PORTION: usize = 16;
    type Ranges = Vec<(u64, u64)>;
    type Found = Vec<(usize, Ranges, Ranges)>;
    let (taken, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let found: Mutex<Result<Found, Obstacle>> = Mutex::new(Ok(Vec::new()));
    let work = || {
        let mut words = Together::new(shared.shift);
        while !failed.load(Ordering::Relaxed) {
            let first = taken.fetch_add(PORTION, Ordering::Relaxed);
            let Some(part) = same.get(first..).filter(|rest| !rest.is_empty()) else { return };
            for (index, pages) in part.iter().take(PORTION).enumerate() {
                let result = words.as_mut().map_err(|obstacle| *obstacle).and_then(|words| {
                    words.put(pages)?;
                    match words.leaves_alone(known) {
                        true => Ok((first + index, words.ranges(&words.changed), words.ranges(&words.fed))),
                        false => Err(Obstacle::Meet),
                    }
                });
                let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                match (result, found.as_mut()) {
                    (Ok(result), Ok(list)) => list.push(result),
                    (Err(obstacle), _) => {
                        *found = Err(obstacle);
                        failed.store(true, Ordering::Relaxed);
                    }
                    (Ok(_), Err(_)) => {}
                }
            }
        }
    };
    pool.run(if same.len() <= PORTION { 1 } else { threads }, &work);
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner)?;
    found.sort_unstable_by_key(|(index, ..)| *index);
    let is_ragged = markers.iter().any(|marker| marker.ragged);
    let pieces = found.iter().map(|(_, stored, _)| stored.len()).sum::<usize>();
    let stored = (!is_ragged && pieces <= 2 * MOST_PIECES).then(|| {
        joined(found.iter().flat_map(|(_, stored, _)| stored).chain(&known.stored).copied().collect())
    });
    let fed = joined(found.iter().flat_map(|(.., fed)| fed).copied().collect());
    let are_inside = markers.iter().all(|marker| !marker.arrays.is_empty());
    let mut reached = vec![NOWHERE; shared.arrays.len()];
    for marker in markers {
        for (all, its) in reached.iter_mut().zip(&marker.reaches) {
            *all = (all.0.min(its.0), all.1.max(its.1));
        }
    }
    Ok(Marked { fed, stored: stored.filter(|stored| stored.len() <= MOST_PIECES), are_inside, reached })
}
