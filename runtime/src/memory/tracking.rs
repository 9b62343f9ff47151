//! Which pages of the program's memory may have changed since somebody has looked: asynchronous write protection by userfaultfd, and
//! `PAGEMAP_SCAN` (Linux 6.7). The program's stores go on as ever, the first one to each watched page takes longer; no signal is sent, no system call of the
//! program fails for it.
//!
//! Nothing is concluded from silence. What is asked for are the pages that are *there, still protected, in memory that is still registered, by us*; all others
//! may have changed: stored to, dropped, unmapped, mapped anew, moved. A registration that is lost ends the watch, as does a descriptor that isn't ours any more
//! (programs close all of theirs), a child after `fork`, whose memory isn't this one's ([`crate::process`]), and somebody who protects all memory anew.
//!
//! Only private anonymous memory is watched, in whole mappings, so that none is split by it. What is stored by devices (pages that were pinned
//! before they were protected) is not seen by anybody: [`unseen`] says where that may be; it is asked before and after pages are protected, because pages may be
//! pinned while it looks. What has tried to make it lie, and what may still: `docs/measurements/2026-11-25-tracking-attacked.md`.
//!
//! Several may watch the same pages. Whoever begins doesn't take from others what they would have learnt: pages that are protected anew are
//! told to them first ([`Watched::suspect`]). Pages that have been written stay what they are until somebody begins anew.

mod descriptors;
#[cfg(test)]
mod tests;
mod unseen;

use descriptors::Descriptors;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
pub use unseen::{driver_is_loaded, driver_is_ours, may_lend_pages};

/// A range of addresses: first byte, and one past the last.
pub type Range = (u64, u64);

/// More separate ranges than this are not watched, neither are pages that change in more pieces.
const MOST_PIECES: usize = 256;

/// What is watched, by number.
#[derive(Default)]
struct Tracker {
    /// `None`: not tried yet; then whether the system can do it.
    descriptors: Option<Option<Descriptors>>,
    watched: HashMap<u64, Watched>,
    next: u64,
}

/// What somebody watches.
struct Watched {
    /// Whole pages, in their order and apart.
    pages: Vec<Range>,
    /// Pages that may have changed, and were protected anew for somebody else.
    suspect: Vec<Range>,
}

static TRACKER: Mutex<Option<Tracker>> = Mutex::new(None);

/// Whether anything is watched at all.
static ALLOWED: AtomicBool = AtomicBool::new(false);

/// Lets memory be watched from now on, or not.
pub fn allow(allowed: bool) {
    ALLOWED.store(allowed, Ordering::Relaxed);
}

/// Whether it may be.
pub fn is_allowed() -> bool {
    ALLOWED.load(Ordering::Relaxed)
}

fn tracker() -> MutexGuard<'static, Option<Tracker>> {
    TRACKER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether somebody may store to memory of the program's past what its pages allow ([`unseen`]).
pub fn may_be_pinned() -> bool {
    let tracker = tracker();
    let own = tracker.as_ref().and_then(|tracker| tracker.descriptors.as_ref()?.as_ref());
    unseen::is_possible(own)
}

/// Nobody else is at what is watched while this lives: for tests that fork, whose children would never get it.
#[cfg(test)]
pub fn hold() -> impl Sized {
    tracker()
}

/// Memory that is watched while this lives.
#[derive(Debug)]
pub struct Watch(u64);

impl Watch {
    /// From now on stores to these ranges (in their order) are noticed; what is there may be looked at after this. `None`: they can't be.
    pub fn begin(ranges: &[Range]) -> Option<Watch> {
        if !is_allowed() {
            return None;
        }
        let pages = merged(ranges.iter().map(|(lo, hi)| (lo & !(page() - 1), hi.next_multiple_of(page()))));
        if pages.is_empty() || pages.len() > MOST_PIECES {
            return None;
        }
        let mut tracker = tracker();
        let Tracker { descriptors, watched, next } = tracker.get_or_insert_default();
        let own = descriptors.get_or_insert_with(Descriptors::open).as_ref().filter(|own| own.are_ours())?;
        if unseen::is_possible(Some(own)) {
            return None;
        }
        let mappings = unseen::private_mappings(&pages)?;
        // Who has lost memory must not find it again because it is registered anew.
        watched.retain(|_, other| {
            common(&pages, &other.pages).is_empty()
                || other.pages.iter().all(|range| own.clean(*range).is_some())
        });
        mappings.iter().try_for_each(|mapping| own.register(*mapping))?;
        // Nobody has mapped something else there in the meantime; what is mapped later isn't registered.
        unseen::private_mappings(&pages)?;
        let watched_already = merged(watched.values().flat_map(|other| other.pages.iter().copied()));
        for range in &pages {
            let stays = common(&own.clean(*range)?, &watched_already);
            let anew = without(&[*range], &stays);
            if anew.len() > MOST_PIECES {
                return None;
            }
            for other in watched.values_mut() {
                let told = common(&anew, &other.pages);
                other.suspect = merged(other.suspect.iter().copied().chain(told));
            }
            anew.iter().try_for_each(|range| own.protect(*range, true))?;
        }
        // What was pinned meanwhile may have been before it was protected.
        if unseen::is_possible(Some(own)) || !own.are_alone() {
            release(own, &pages, watched);
            return None;
        }
        *next += 1;
        watched.insert(*next, Watched { pages, suspect: Vec::new() });
        Some(Watch(*next))
    }

    /// Where memory may have changed since it is watched, in whole pages, in their order; nothing else has. `None`: that isn't known any more.
    pub fn changed(&self) -> Option<Vec<Range>> {
        let mut tracker = tracker();
        let Tracker { descriptors, watched, .. } = tracker.as_mut()?;
        let own = descriptors.as_ref()?.as_ref().filter(|own| own.are_ours())?;
        let Watched { pages, suspect } = watched.get(&self.0)?;
        let mut changed = suspect.clone();
        for range in pages {
            changed.extend(without(&[*range], &own.clean(*range)?));
        }
        own.are_alone().then_some(())?;
        Some(merged(changed.into_iter()))
    }

    /// Bytes of the pages that are watched.
    pub fn bytes(&self) -> u64 {
        let tracker = tracker();
        let watched = tracker.as_ref().and_then(|tracker| tracker.watched.get(&self.0));
        watched.map_or(0, |watched| watched.pages.iter().map(|(lo, hi)| hi - lo).sum())
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let mut tracker = tracker();
        let Some(Tracker { descriptors: Some(Some(own)), watched, .. }) = tracker.as_mut() else { return };
        let Some(Watched { pages, .. }) = watched.remove(&self.0) else { return };
        if !own.are_ours() {
            return;
        }
        release(own, &pages, watched);
    }
}

/// Pages that nobody watches any more needn't be protected: the program's stores needn't take longer.
fn release(own: &Descriptors, pages: &[Range], watched: &HashMap<u64, Watched>) {
    let others: Vec<Range> = merged(watched.values().flat_map(|other| other.pages.iter().copied()));
    without(pages, &others).into_iter().for_each(|range| {
        let _ = own.protect(range, false);
    });
}

/// Whether the system can do it at all, for this process.
#[cfg(test)]
fn is_available() -> bool {
    tracker().get_or_insert_default().descriptors.get_or_insert_with(Descriptors::open).is_some()
}

/// Whether the program may read all of it.
pub fn is_readable(range: Range) -> bool {
    descriptors::is_readable(range)
}

fn page() -> u64 {
    // SAFETY: no preconditions.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as u64 }
}

/// The same addresses in their order, neighbours as one.
pub fn merged(ranges: impl Iterator<Item = Range>) -> Vec<Range> {
    let mut ranges: Vec<Range> = ranges.filter(|(lo, hi)| lo < hi).collect();
    ranges.sort_unstable();
    let mut all: Vec<Range> = Vec::new();
    for (lo, hi) in ranges {
        match all.last_mut() {
            Some(last) if lo <= last.1 => last.1 = last.1.max(hi),
            _ => all.push((lo, hi)),
        }
    }
    all
}

/// What is in the first, and not in the second; both in their order and apart.
pub fn without(all: &[Range], gone: &[Range]) -> Vec<Range> {
    let (mut left, mut gone) = (Vec::new(), gone.iter().peekable());
    for (lo, hi) in all {
        let mut at = *lo;
        while let Some((first, end)) = gone.peek() {
            if *first >= *hi {
                break;
            }
            if at < *first {
                left.push((at, *first));
            }
            at = at.max(*end);
            if *end > *hi {
                break;
            }
            gone.next();
        }
        if at < *hi {
            left.push((at, *hi));
        }
    }
    left
}

/// What is in both, of which each is in its order and apart.
pub fn common(a: &[Range], b: &[Range]) -> Vec<Range> {
    let (mut parts, mut at) = (Vec::new(), (0, 0));
    while let (Some((lo, hi)), Some((first, end))) = (a.get(at.0), b.get(at.1)) {
        if lo.max(first) < hi.min(end) {
            parts.push((*lo.max(first), *hi.min(end)));
        }
        if hi < end { at.0 += 1 } else { at.1 += 1 }
    }
    parts
}
