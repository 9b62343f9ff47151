//! Copies of arrays that stay on a device from one entry to the next, of any loop, as long as the program stores little to them: then only the pages
//! are copied that may have changed (`memory::tracking` tells which). What the loop stores to isn't kept here; nor is anything where memory can't be watched.
//!
//! Why such a copy is what a new one would be. Its pages are watched since before it was made. A page that isn't told as changed holds what it held
//! when it was copied. All others are copied anew, in each entry, because they stay unwatched.
//!
//! Runs that rely on a finding take what decides their addresses from what was remembered with it ([`Basis::remembered`]), so that no thread of the
//! program can change it between the comparison and the copy. That holds here, too: a page that hasn't changed since it was copied held the same when
//! it was compared, which was in between. Where it wasn't, because another thread's entry has had the array copied meanwhile, all that the finding
//! remembers is copied anew. What was copied from a finding's memory, in place of the program's, is right for that finding
//! only; when another one comes, or none, it is copied anew.
//!
//! Memory that the program may not read any more (`mprotect`) has not changed, but a program that loads from it faults, and may see to it then that
//! something else is there. So that is asked, too.
//!
//! An array is kept once it has been copied as a whole so many times that the program has lost more by that than it can lose by its pages being
//! watched (the first store to each takes longer). Where most of it is stored to all the same, twice as many copies have to come next time.

use super::placement::Placement;
use super::tracking::{self, Range, Watch, common, merged, without};
use crate::abi::Region;
use crate::device::{Device, DeviceError, DevicePtr};
use crate::speculation::inspector::seen::{Basis, Identity};
use std::collections::HashMap;
use std::time::Instant;

#[cfg(test)]
mod tests;

/// Smaller arrays aren't worth a watch.
const LEAST: u64 = 1 << 20;
/// So many whole copies have to come first: to watch 64 MiB, and the first store to each of their pages, take ten times as long as to copy them
/// (`docs/measurements/2026-11-25-tracking.md`).
const PATIENCE: u32 = 10;
/// No array has to wait for more than this many.
const MOST_PATIENCE: u32 = 1 << 12;
/// Arrays whose copies are counted.
const MOST_MET: usize = 1 << 12;
/// Copies that stay, whatever room there is: to begin to watch one all are looked at that have pages in common with it, as the parts of one array have
/// that loops with other bounds each time are about.
const MOST: usize = 64;
/// What is copied anew is at least so far apart on the device, so that nothing between it is taken along ([`Device::copy_in`]).
const APART: u64 = 4096;

/// An array as a device has it: where it begins, its bytes, and how far its copy begins behind a boundary of the device's memory.
type Key = (u64, u64, u64);

/// What stays on one device.
#[derive(Default)]
pub struct Residency {
    residents: Vec<Resident>,
    met: HashMap<Key, Met>,
    /// Jobs, counted.
    now: u64,
    /// Bytes that the present one has, and in how many copies.
    lent: (u64, usize),
}

/// How often an array was copied as a whole.
struct Met {
    times: u32,
    patience: u32,
}

impl Default for Met {
    fn default() -> Met {
        Met { times: 0, patience: PATIENCE }
    }
}

/// A copy that stays.
struct Resident {
    key: Key,
    pointer: DevicePtr,
    watch: Watch,
    /// When it was watched.
    since: Instant,
    /// What was copied from a finding's memory instead of the program's, and which finding's.
    given: Vec<Range>,
    giver: Option<Identity>,
    /// The last job that it was lent to.
    used: u64,
}

/// A copy for one job.
pub struct Lent {
    /// Which of the job's regions it is.
    pub region: usize,
    /// The parts of the program's memory that have to be copied, in their order and apart.
    pub anew: Vec<Range>,
    resident: Resident,
}

impl Residency {
    /// Gives those regions of a job a place, unless they have one, that have a copy, or are to have one that stays; `within` is what it is for `cmt::allocate`. They are
    /// the job's alone until they are kept or freed.
    pub fn lend(
        &mut self,
        device: &mut dyn Device,
        placement: &Placement,
        regions: &mut [Region],
        within: impl Fn(u64) -> u64,
        basis: Option<&Basis>,
        remembered: &[(u64, u64, u64)],
    ) -> Vec<Lent> {
        let mut lent = Vec::new();
        if !tracking::is_allowed() || device.room_for_residents() == 0 {
            return lent;
        }
        self.now += 1;
        self.lent = (0, 0);
        for (index, region) in regions.iter_mut().enumerate() {
            let has_place = region.dev != 0;
            if has_place || region.size < LEAST || placement.written[index] || !placement.read[index] {
                continue;
            }
            let key = (region.lo, region.size, within(region.lo));
            let found = match self.residents.iter().position(|resident| resident.key == key) {
                Some(found) => self.again(device, found, basis, remembered),
                None => self.first(device, key),
            };
            let Some((resident, anew)) = found else { continue };
            region.dev = resident.pointer.0;
            self.lent = (self.lent.0 + region.size, self.lent.1 + 1);
            lent.push(Lent { region: index, anew, resident });
        }
        lent
    }

    /// A copy that is there, and what has to be copied to it. `None`: it isn't worth being one any more.
    fn again(
        &mut self,
        device: &mut dyn Device,
        found: usize,
        basis: Option<&Basis>,
        remembered: &[(u64, u64, u64)],
    ) -> Option<(Resident, Vec<Range>)> {
        let mut resident = self.residents.swap_remove(found);
        let (lo, size, _) = resident.key;
        let whole = [(lo, lo + size)];
        let changed = resident.watch.changed().map(|changed| common(&changed, &whole));
        let bytes = |ranges: &[Range]| ranges.iter().map(|(lo, hi)| hi - lo).sum::<u64>();
        let is_worth = |changed: &Vec<Range>| bytes(changed) <= size / 2 && tracking::is_readable(whole[0]);
        let Some(changed) = changed.filter(is_worth) else {
            device.free(resident.pointer);
            self.wait(resident.key, 1);
            return None;
        };
        let is_its_own = basis.map(Basis::identity) == resident.giver;
        let others = if is_its_own { Vec::new() } else { std::mem::take(&mut resident.given) };
        let is_late = !is_its_own && basis.is_some_and(|basis| basis.since <= resident.since);
        let all = if is_late {
            Basis::pieces(remembered, lo, size).map(|(at, bytes, _)| (at, at + bytes)).collect()
        } else {
            Vec::new()
        };
        resident.used = self.now;
        Some((resident, near(changed.into_iter().chain(others).chain(all))))
    }

    /// A place for a copy that is to stay, if it has been copied often enough.
    fn first(&mut self, device: &mut dyn Device, key: Key) -> Option<(Resident, Vec<Range>)> {
        let (lo, size, _) = key;
        if self.met.len() >= MOST_MET && !self.met.contains_key(&key) {
            self.met.clear();
        }
        let met = self.met.entry(key).or_default();
        met.times += 1;
        if met.times <= met.patience {
            return None;
        }
        let room = device.room_for_residents();
        let is_full = |own: &Residency| own.bytes() + size > room || own.lent.1 + own.residents.len() >= MOST;
        while is_full(self) && self.give_up_oldest(device) {}
        if is_full(self) {
            return None;
        }
        let Ok(pointer) = allocate(device, self, size + 64) else {
            self.wait(key, 0);
            return None;
        };
        let Some(watch) = Watch::begin(&[(lo, lo + size)]) else {
            device.free(pointer);
            // It may be possible later: what pins memory can go.
            self.wait(key, 0);
            return None;
        };
        let (since, given) = (Instant::now(), Vec::new());
        let resident = Resident { key, pointer, watch, since, given, giver: None, used: self.now };
        Some((resident, vec![(lo, lo + size)]))
    }

    /// Keeps what was lent, once all of [`Lent::anew`] has been copied, what is `remembered` from the finding that the job relies on.
    pub fn keep(&mut self, lent: Vec<Lent>, basis: Option<&Basis>, remembered: &[(u64, u64, u64)]) {
        self.lent = (0, 0);
        if lent.is_empty() {
            return;
        }
        let given: Vec<Range> = remembered.iter().map(|(first, end, _)| (*first, *end)).collect();
        for Lent { anew, mut resident, .. } in lent {
            let now = common(&anew, &given);
            resident.given = merged(without(&resident.given, &anew).into_iter().chain(now));
            resident.giver = basis.map(Basis::identity).filter(|_| !resident.given.is_empty());
            self.residents.push(resident);
        }
    }

    /// What was lent can't be kept, because it wasn't copied: its memory on the device, to be freed. Who watches in vain waits longer next time.
    pub fn give_up(&mut self, lent: Vec<Lent>) -> Vec<DevicePtr> {
        self.lent = (0, 0);
        let pointers = lent.into_iter().map(|Lent { resident, .. }| {
            self.wait(resident.key, 0);
            resident.pointer
        });
        pointers.collect()
    }

    /// An array has to be copied twice as often as before until it stays; `times` of these copies are made.
    fn wait(&mut self, key: Key, times: u32) {
        let met = self.met.entry(key).or_default();
        *met = Met { times, patience: (2 * met.patience).min(MOST_PATIENCE) };
    }

    /// Frees the copy that has not been used for longest; false where there is none, or all are the present job's.
    fn give_up_oldest(&mut self, device: &mut dyn Device) -> bool {
        let idle = self.residents.iter().enumerate().filter(|(_, resident)| resident.used != self.now);
        let Some(oldest) = idle.min_by_key(|(_, resident)| resident.used).map(|(index, _)| index) else {
            return false;
        };
        let resident = self.residents.swap_remove(oldest);
        self.met.remove(&resident.key);
        device.free(resident.pointer);
        true
    }

    /// Bytes of all copies.
    fn bytes(&self) -> u64 {
        self.lent.0 + self.residents.iter().map(|resident| resident.key.1).sum::<u64>()
    }
}

/// Memory of a device; where it has too little, copies that nobody uses now make room.
pub fn allocate(
    device: &mut dyn Device,
    residency: &mut Residency,
    bytes: u64,
) -> Result<DevicePtr, DeviceError> {
    loop {
        match device.allocate(bytes) {
            Err(DeviceError::OutOfMemory(_)) if residency.give_up_oldest(device) => {}
            other => return other,
        }
    }
}

/// The same ranges, with what lies between those that are near each other.
fn near(ranges: impl Iterator<Item = Range>) -> Vec<Range> {
    let mut all: Vec<Range> = Vec::new();
    for (lo, hi) in merged(ranges) {
        match all.last_mut() {
            Some(last) if lo - last.1 < APART => last.1 = hi,
            _ => all.push((lo, hi)),
        }
    }
    all
}
