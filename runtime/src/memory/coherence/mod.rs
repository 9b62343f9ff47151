//! Coherence between the program's memory and a device's: what loops store stays on the device until the program wants it, and what they load is copied there once.
//!
//! Each page of an array that a device has a place for is the program's, both's, or the device's ([`places`]). A page of both may be loaded from, one of the device's
//! may not be touched: the program's access faults, and the page comes back before the instruction is tried again. The kernel would answer system calls on such memory with
//! an error, so each is looked at first ([`interception`]). Nothing is guessed: what can't be seen coming brings everything home.
//!
//! Only one thread of the program may be there where something is to stay, the main one, with no signal handlers and nobody who watches over it ([`interception::arm`] says what else). So whatever
//! is in this module is done by that thread: inside of a loop's entry, or in a signal handler that has interrupted the program outside of one. Threads that begin later come here in such handlers, one at a
//! time and with all others stopped, or to bring everything home ([`make_way`]). Nothing here locks anything.
//!
//! What the device has may be the only copy. A loop that fails there leaves it as it was: where it has stored to what it loads, from a copy made before; where it has only
//! stored, the calling thread stores to the same places again, all of them. Where a device is lost, the loops that have stored what only it had are run again on the program's memory
//! ([`journal`]). Where that can't be, because it would have taken too much memory to note, there is nobody to ask, and the process ends ([`lost`]).

pub mod again;
pub mod alone;
pub mod arenas;
pub mod chunks;
pub mod interception;
pub mod journal;
pub mod mailbox;
pub mod places;

use crate::abi::{Entry, Info};
use crate::device::DevicePtr;
use crate::memory::tracking::{Range, merged, without};
use crate::memory::{mappings, own, safe_copy};
use crate::speculation::cmt::Kind;
use again::Again;
use journal::{Done, Step};
use places::{Access, Hands, PAGE, Place, Places};
use std::cell::UnsafeCell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

/// Smaller arrays are copied each time.
pub const LEAST: u64 = 1 << 16;
/// So many times as long as what a loop uses may the rest of its array be: a place has room for both.
const MOST_SPARE: u64 = 4;

/// An array of a job's that is to be on the device when the job begins, and to stay.
#[derive(Debug)]
pub struct Tenant {
    /// Its number among the places; `None`: it is new.
    place: Option<usize>,
    /// Where it is on the device: memory, and where `span.0` lies; `None`: it is to be had.
    pub found: Option<(DevicePtr, u64)>,
    /// What it has room for.
    pub span: Range,
    /// Whether that is whole pages in which nothing else lies.
    is_apart: bool,
    /// The job's regions that lie in it, by number.
    pub regions: Vec<usize>,
    /// What the device has to be given first, in order and apart, because the loop loads it, or may leave some of it as it is.
    pub missing: Vec<Range>,
    /// What the loop both loads and stores to, in order and apart: of that the device has to have a copy, in case that the loop fails.
    pub in_place: Vec<Range>,
    /// What has to come back behind the loop where that has stored to it, in order and apart.
    pub outside: Vec<Range>,
    /// What of [`Tenant::missing`] lies in pages that stay the program's.
    pub edges: Vec<Range>,
    /// What the loop stores to without having loaded it, as far as somebody asks for it.
    covered: Vec<Range>,
    /// What the loop uses, what of it may be kept from the program behind it, and whether the loop stores to it.
    uses: Vec<(Range, Range, bool)>,
}

/// What a loop uses of an array.
#[derive(Clone, Copy, Debug)]
pub struct Use {
    /// The number of the job's region.
    pub region: usize,
    /// All of it.
    pub range: Range,
    /// What the program itself would touch, from its first to its last byte: so it belongs to one object of the program's, and nothing of anybody else's lies there.
    pub sure: Range,
    /// Whether it is stored to.
    pub stored: bool,
    /// Whether it is loaded from.
    pub loaded: bool,
}

/// The places, and whether somebody is at them.
struct Table {
    places: UnsafeCell<Places<Again>>,
    is_taken: AtomicBool,
    /// Bytes that have come back, and the nanoseconds that devices were waited for.
    fetched: AtomicU64,
    fetching_ns: AtomicU64,
    /// Loops that were run again.
    run_again: AtomicU64,
}

// SAFETY: `with` lets one in at a time.
unsafe impl Sync for Table {}

static TABLE: Table = Table {
    places: UnsafeCell::new(Places::new()),
    is_taken: AtomicBool::new(false),
    fetched: AtomicU64::new(0),
    fetching_ns: AtomicU64::new(0),
    run_again: AtomicU64::new(0),
};

/// Does something with the places. `None`: somebody is at it already, and has been interrupted.
fn with<T>(work: impl FnOnce(&mut Places<Again>) -> T) -> Option<T> {
    if TABLE.is_taken.swap(true, Ordering::Acquire) {
        return None;
    }
    // SAFETY: nobody else has it, as the flag says.
    let result = work(unsafe { &mut *TABLE.places.get() });
    TABLE.is_taken.store(false, Ordering::Release);
    Some(result)
}

/// Asks a device's thread, which answers behind all loops that were left to it: so that is time that they have taken.
fn timed<T>(ask: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let answer = ask();
    TABLE.fetching_ns.fetch_add(started.elapsed().as_nanos() as u64, Ordering::Relaxed);
    answer
}

/// Changes what the program may do with its memory, and asks devices.
struct OfSystem;

impl Hands<Again> for OfSystem {
    fn allow(&self, (lo, hi): Range, access: Access) -> bool {
        let access = match access {
            Access::Nothing => libc::PROT_NONE,
            Access::Load => libc::PROT_READ,
            Access::All => libc::PROT_READ | libc::PROT_WRITE,
        };
        // SAFETY: memory of the program's of which `is_keepable` has said that it may be loaded from and stored to, and that nobody has been able to change since.
        unsafe { libc::mprotect(lo as *mut libc::c_void, (hi - lo) as usize, access) == 0 }
    }

    fn fetch(&self, kind: Kind, from: DevicePtr, to: Range) -> bool {
        TABLE.fetched.fetch_add(to.1 - to.0, Ordering::Relaxed);
        timed(|| mailbox::fetch(kind, from, to))
    }

    fn answers(&self, kind: Kind, memory: DevicePtr) -> bool {
        let mut some = [0u8; 8];
        let at = some.as_mut_ptr() as u64;
        timed(|| mailbox::fetch(kind, memory, (at, at + some.len() as u64)))
    }

    fn load(&self, (lo, hi): Range) -> Option<Vec<u8>> {
        if !own::is_own() || interception::stands_on((lo, hi)) {
            return None;
        }
        let mut bytes = safe_copy::buffer(hi - lo).ok()?;
        // SAFETY: as many bytes.
        unsafe { safe_copy::read(lo, hi - lo, bytes.as_mut_ptr()) }.ok()?;
        Some(bytes)
    }

    fn store(&self, at: u64, bytes: &[u8]) -> bool {
        let range = (at, at + bytes.len() as u64);
        // Constants can't be stored to, and needn't be.
        if self.load(range).is_some_and(|now| now == bytes) {
            return true;
        }
        // SAFETY: memory of the program's that nobody looks at meanwhile: it is about to be what the program takes it for.
        !interception::stands_on(range) && unsafe { safe_copy::write(at, bytes) }
    }

    fn run_again(&self, kind: Kind, done: &Done<Again>) -> bool {
        TABLE.run_again.fetch_add(1, Ordering::Relaxed);
        timed(|| mailbox::run_again(kind, &done.again))
    }

    fn has_recovered(&self, kind: Kind) {
        if mailbox::has_failed(kind) {
            MAY_FOLLOW.store(false, Ordering::Relaxed);
        }
        mailbox::forgive(kind);
    }

    fn lost(&self, why: &str) -> ! {
        lost(why)
    }
}

/// Whether jobs may be left to a device that nobody waits for. Once one has failed, the next ones are waited for: who fails again and again had better be known.
static MAY_FOLLOW: AtomicBool = AtomicBool::new(true);

/// Whether nobody need wait for a job: all that it uses is in its tenants and on the device already, none of its results is the program's behind it, and it can be run again. Behind one
/// that has failed nothing is run there, so it is waited for: then all that has been left there is computed once more, before there is more of it.
pub fn may_follow(kind: Kind, uses: &[Use], tenants: &[Tenant], step: Option<&Step<Again>>) -> bool {
    let is_there = |tenant: &Tenant| tenant.found.is_some() && tenant.missing.is_empty();
    let is_tenant = |one: &Use| tenants.iter().any(|tenant| tenant.regions.contains(&one.region));
    MAY_FOLLOW.load(Ordering::Relaxed)
        && !mailbox::has_failed(kind)
        && !tenants.is_empty()
        && step.is_some_and(|step| step.given.is_empty())
        && tenants.iter().all(is_there)
        && with(|places| {
            // That it has failed is found out later, and until then the journal must not end: so nothing may be refused behind it.
            let is_settled = |tenant: &Tenant| {
                let place = tenant.place.map(|place| places.get(place));
                let mut uses = tenant.uses.iter();
                place.is_some_and(|place| uses.all(|(range, _, stored)| place.is_settled(*range, *stored)))
            };
            places.journal().has_room_for_step() && tenants.iter().all(is_settled)
        })
        .unwrap_or(false)
        && uses.iter().all(is_tenant)
}

/// Ends the process: what only a device had can't be had any more, and a wrong result must not be.
pub fn lost(why: &str) -> ! {
    crate::trace::complain(&format!("paragon: results are lost: {why}"));
    // SAFETY: no preconditions.
    unsafe { libc::abort() }
}

/// What interrupts the program asks.
struct OfProgram;

impl interception::Keeper for OfProgram {
    fn fault(&self, address: u64, stores: bool) -> bool {
        with(|places| places.fault(&OfSystem, address, stores)).unwrap_or(false)
    }
    fn touch(&self, lo: u64, hi: u64, stores: bool) {
        with(|places| places.touch(&OfSystem, (lo, hi), stores));
    }
    fn keeps(&self, lo: u64, hi: u64) -> bool {
        with(|places| places.keep((lo, hi))).unwrap_or(false)
    }
    fn keeps_any(&self) -> bool {
        with(|places| places.keeps_any()).unwrap_or(true)
    }
    fn reaches(&self, lo: u64, hi: u64) -> bool {
        with(|places| places.journal().reaches((lo, hi))).unwrap_or(false)
    }
    fn bring_home(&self) {
        with(|places| places.bring_home(&OfSystem));
    }
}

/// Whether anything is, or has been, on a device that the next entry has to know of.
pub fn is_empty() -> bool {
    with(|places| places.is_empty()).unwrap_or(true)
}

/// Bytes that have come back since this was asked last.
pub fn fetched() -> u64 {
    TABLE.fetched.swap(0, Ordering::Relaxed)
}

/// Nanoseconds that devices were waited for since this was asked last, because something had to come back, or to be computed once more.
pub fn fetching_ns() -> u64 {
    TABLE.fetching_ns.swap(0, Ordering::Relaxed)
}

/// Loops that were run again since this was asked last, because their device was lost.
pub fn run_again() -> u64 {
    TABLE.run_again.swap(0, Ordering::Relaxed)
}

/// Everything is the program's again, and nothing is kept from it any more. What devices had of it is given back.
pub fn bring_home() {
    let mut swept = None;
    if interception::is_armed() || !is_empty() {
        // Loops that are run again may store to the stack that the caller stands on.
        interception::end_by(&mut || {
            swept = with(|places| {
                places.bring_home(&OfSystem);
                places.sweep()
            });
        });
    }
    give_back(swept.into_iter().flatten(), mailbox::free);
}

/// Before a thread of the program's comes to a loop: nothing stays away where another one may be at it.
pub fn make_way() {
    if interception::is_in_the_way() {
        bring_home();
    }
}

/// Gives memory of devices back; what their threads have no room for now, the next time.
fn give_back(memory: impl Iterator<Item = (Kind, DevicePtr)>, give: impl Fn(Kind, DevicePtr) -> bool) {
    static LEFT: Mutex<Vec<(Kind, DevicePtr)>> = Mutex::new(Vec::new());
    // In a child after `fork` another thread may have it for good.
    if let Ok(mut left) = LEFT.try_lock() {
        left.extend(memory);
        left.retain(|(kind, memory)| !give(*kind, *memory));
    }
}

/// Makes room in the table for what was brought home by an interruption.
fn tidy() {
    if !interception::is_armed() && !is_empty() {
        bring_home();
    }
}

/// Where a job's arrays are to be: those on the device that stay there. `None`: nothing of the job's can stay, and all is the program's.
/// `widest`: bytes of the widest element that the loop accesses, a power of two. `stored`: what the loop certainly stores to of some ranges.
pub fn lay_out(
    kind: Kind,
    uses: &[Use],
    widest: u64,
    extent: impl Fn(u64) -> Option<Range>,
    stored: impl Fn(&[Range]) -> Vec<Range>,
) -> Option<Vec<Tenant>> {
    if !is_possible() {
        return None;
    }
    tidy();
    let mut tenants = find(kind, uses, widest, &extent, &stored);
    if tenants.is_none() && !is_empty() {
        // Something overlaps: again, from nothing.
        bring_home();
        tenants = find(kind, uses, widest, &extent, &stored);
    }
    let tenants = tenants.filter(|tenants| !tenants.is_empty())?;
    if !interception::is_armed() && interception::arm(&OfProgram).is_err() {
        bring_home();
        return None;
    }
    Some(tenants)
}

/// Whether a loop whose elements have up to so many bytes finds them aligned in an array that is on this device: whoever had it brought there may have narrower ones.
fn serves(place: &Place, kind: Kind, widest: u64) -> bool {
    place.kind == kind && place.at.wrapping_sub(place.span.0).is_multiple_of(widest)
}

/// See [`lay_out`]. `None`: what is there is in the way.
fn find(
    kind: Kind,
    uses: &[Use],
    widest: u64,
    extent: &impl Fn(u64) -> Option<Range>,
    stored: &impl Fn(&[Range]) -> Vec<Range>,
) -> Option<Vec<Tenant>> {
    with(|places| {
        let mut tenants: Vec<Tenant> = Vec::new();
        // What is too short to be there for its own sake may lie in the array of another one, of which the device then has to have that, too.
        let is_short = |one: &&Use| one.sure.1 - one.sure.0 < LEAST;
        for one in uses.iter().filter(|one| !is_short(one)).chain(uses.iter().filter(is_short)) {
            let whole = one.range;
            let place = places.of(whole).ok()?;
            if place.is_some_and(|place| !serves(places.get(place), kind, widest)) {
                return None;
            }
            let new = tenants.iter().position(|tenant| {
                tenant.place.is_none() && tenant.span.0 < whole.1 && whole.0 < tenant.span.1
            });
            let index = match (place, new) {
                (Some(place), _) => match tenants.iter().position(|tenant| tenant.place == Some(place)) {
                    Some(index) => index,
                    None => {
                        let Place { memory, at, span, is_apart, .. } = places.get(place);
                        tenants.push(Tenant::new(Some(place), Some((*memory, *at)), *span, *is_apart));
                        tenants.len() - 1
                    }
                },
                (None, Some(index)) => {
                    // The array is longer than it was taken for.
                    let Tenant { span, is_apart, .. } = &mut tenants[index];
                    *is_apart &= span.0 <= whole.0 && whole.1 <= span.1;
                    *span = (span.0.min(whole.0), span.1.max(whole.1));
                    index
                }
                (None, None) if is_short(&one) || !is_keepable(one.sure) => continue,
                (None, None) => {
                    let is_free = |span: &Range| {
                        let apart = |tenant: &Tenant| tenant.span.1 <= span.0 || span.1 <= tenant.span.0;
                        places.of(*span) == Ok(None) && tenants.iter().all(apart)
                    };
                    let spare = MOST_SPARE * (whole.1 - whole.0);
                    let of = extent(one.range.0)
                        .filter(|(lo, hi)| *lo <= whole.0 && whole.1 <= *hi && hi - lo <= spare)
                        .filter(is_free);
                    let pages =
                        of.and_then(chunks::pages_of).filter(is_free).filter(|pages| is_keepable(*pages));
                    let span = pages.or(of).unwrap_or(whole);
                    tenants.push(Tenant::new(None, None, span, pages.is_some()));
                    tenants.len() - 1
                }
            };
            tenants[index].take(*one, place.map(|place| places.get(place)), stored);
        }
        // What has grown may have come upon others.
        let apart = |a: usize, b: usize| {
            tenants[a].span.1 <= tenants[b].span.0 || tenants[b].span.1 <= tenants[a].span.0
        };
        let are_apart = (0..tenants.len()).all(|a| (0..a).all(|b| apart(a, b)));
        let are_new =
            tenants.iter().all(|tenant| tenant.place.is_some() || places.of(tenant.span) == Ok(None));
        (are_apart && are_new).then_some(tenants)
    })
    .flatten()
}

impl Tenant {
    /// With nothing in it yet.
    pub(crate) fn new(
        place: Option<usize>,
        found: Option<(DevicePtr, u64)>,
        span: Range,
        is_apart: bool,
    ) -> Tenant {
        Tenant {
            place,
            found,
            span,
            is_apart,
            regions: Vec::new(),
            missing: Vec::new(),
            in_place: Vec::new(),
            outside: Vec::new(),
            edges: Vec::new(),
            covered: Vec::new(),
            uses: Vec::new(),
        }
    }

    /// One more thing that the loop uses of it.
    fn take(&mut self, one: Use, place: Option<&Place>, stored: &impl Fn(&[Range]) -> Vec<Range>) {
        /// More pieces than this take longer to copy than all of it.
        const MOST: usize = 64;
        self.regions.push(one.region);
        // Pages that belong to nothing else are as good as what of them is used.
        let widened = |(lo, hi): Range| match self.is_apart && lo < hi {
            true => (lo & !(PAGE - 1), hi.next_multiple_of(PAGE)),
            false => (lo, hi),
        };
        let one = Use { range: widened(one.range), sure: widened(one.sure), ..one };
        let known = place.map_or((0, 0), |place| place.known);
        let may = without(&[one.sure], &[known]).into_iter().all(is_keepable);
        let sure = if may { one.sure } else { (one.sure.0, one.sure.0) };
        let new;
        let place = match place {
            Some(place) => place,
            None => {
                new = Place::new(Kind::Threads, DevicePtr(0), 0, one.range);
                &new
            }
        };
        let mut missing: Vec<Range> = place.missing(one.range).collect();
        if one.stored && !one.loaded && !missing.is_empty() {
            // What it stores to before anybody loads it need not be there: the device has all of it behind the loop, too.
            let left = without(&missing, &stored(&missing));
            missing = if left.len() <= MOST { left } else { missing };
        }
        // What another region has had widened may overlap this one, and they come in any order.
        let join = |all: &mut Vec<Range>, more: Vec<Range>| *all = merged(all.drain(..).chain(more));
        join(&mut self.edges, place.left_outside(one.range, sure));
        join(&mut self.missing, missing);
        if place.has_unread() && one.stored && !one.loaded {
            join(&mut self.covered, stored(&[one.range]));
        }
        if one.stored {
            join(&mut self.outside, place.left_outside(one.range, sure));
        }
        if one.stored && one.loaded {
            join(&mut self.in_place, vec![one.range]);
        }
        self.uses.push((one.range, sure, one.stored));
    }
}

/// What it would take to run a loop again whose arrays stay. `None`: too much, or it can't be had.
///
/// # Safety
/// The entry was filled in by generated code for `info`, and is alive.
pub unsafe fn step(info: &Info, entry: &Entry, uses: &[Use], tenants: &[Tenant]) -> Option<Step<Again>> {
    /// Most bytes that a loop is given.
    const MOST_GIVEN: u64 = 1 << 20;
    if tenants.is_empty() || !own::is_own() {
        return None;
    }
    let of = |is_one: fn(&Use) -> bool| uses.iter().filter(|one| is_one(one)).map(|one| one.range).collect();
    // SAFETY: promised by the caller.
    let again = unsafe { Again::of(info, entry) };
    let code = again.code();
    let done = Done { again, loads: of(|one| one.loaded), stores: of(|one| one.stored), code };
    let is_tenant = |one: &&Use| tenants.iter().any(|tenant| tenant.regions.contains(&one.region));
    let elsewhere = uses.iter().filter(|one| one.loaded && !is_tenant(one)).map(|one| one.range);
    let given = merged(tenants.iter().flat_map(|tenant| tenant.edges.iter().copied()).chain(elsewhere));
    if given.iter().map(|(lo, hi)| hi - lo).sum::<u64>() > MOST_GIVEN {
        return None;
    }
    // Who runs it again stores to all that it is given, and to all that it stores to.
    let kept: Vec<Range> = tenants.iter().flat_map(|tenant| tenant.uses.iter().map(|one| one.1)).collect();
    let changed = without(&merged(given.iter().chain(&done.stores).copied()), &merged(kept.into_iter()));
    let unknown = with(|places| places.journal().unreached(&changed))?;
    if !unknown.into_iter().all(mappings::is_private) {
        return None;
    }
    let copy = |(lo, hi): Range| {
        let mut bytes = safe_copy::buffer(hi - lo).ok()?;
        // SAFETY: as many bytes.
        unsafe { safe_copy::read(lo, hi - lo, bytes.as_mut_ptr()) }.ok()?;
        Some((lo, bytes))
    };
    let given = given.into_iter().map(copy).collect::<Option<Vec<_>>>()?;
    with(|places| Step { done: places.journal().shared(done), given })
}

/// The device has run a job, whose result stands: what tenants have stays, where the report says. `step` is what it would take to run it again.
pub fn settle(kind: Kind, tenants: &[Tenant], found: &[(DevicePtr, u64)], step: Option<Step<Again>>) {
    with(|places| {
        if tenants.is_empty() {
            return;
        }
        places.note(step);
        for (tenant, (memory, at)) in tenants.iter().zip(found) {
            let number = tenant.place.unwrap_or_else(|| {
                let mut new = Place::new(kind, *memory, *at, tenant.span);
                new.is_apart = tenant.is_apart;
                tenant
                    .uses
                    .iter()
                    .filter(|(_, sure, _)| sure.0 < sure.1)
                    .for_each(|(_, sure, _)| touch(sure.0));
                places.enter(new)
            });
            for (range, sure, stored) in tenant.uses.iter().copied() {
                if sure.0 < sure.1 {
                    let known = &mut places.get_mut(number).known;
                    let joins = known.0 < known.1 && sure.0 <= known.1 && known.0 <= sure.1;
                    *known = if joins { (known.0.min(sure.0), known.1.max(sure.1)) } else { sure };
                }
                places.settle(&OfSystem, number, range, sure, stored);
            }
            places.settled(number, &tenant.missing, &tenant.covered);
        }
    });
    if with(|places| places.journal().is_long()) == Some(true) {
        interception::aside(&mut || {
            with(|places| places.shorten(&OfSystem));
        });
    }
}

/// Sees to it that there is a page at an address, which may be stored to. Where a mapping has none when access to a part of it changes, its parts have pages of their own later, and the
/// system never joins them again, so that the program could not move the mapping as a whole (`mremap`).
fn touch(address: u64) {
    let byte = address as *mut u8;
    // SAFETY: memory of the program's, whose only thread is here. It holds what it held.
    unsafe { byte.write_volatile(byte.read_volatile()) };
}

/// Whether all of a range is private memory of the program's, that belongs to no file, may be loaded from and stored to, and isn't a stack, nor grows like one, nor is of an
/// allocator's for threads; and whether what may be done with it can be changed, which the program may have seen to that it can't (`mseal`).
fn is_keepable(range: Range) -> bool {
    let is_plain = |access: &str, file: &str, name: &str| {
        let is_plain = name.is_empty() || name == "[heap]" || name.starts_with("[anon:");
        access == "rw-p" && file == "0" && is_plain
    };
    let pages = (range.0 & !(PAGE - 1), range.1.next_multiple_of(PAGE));
    // It may already be done with it what is asked for.
    mappings::are_all(range, is_plain)
        && !arenas::is_inside(range.0)
        && OfSystem.allow(pages, Access::All)
        && !grows(pages.0)
}

/// Whether a mapping grows by itself in front of its first page, as long as that may be stored to. The page may be, and still may afterwards.
fn grows(page: u64) -> bool {
    let access = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_GROWSDOWN;
    // SAFETY: what may be done with it is what could be done; of any other mapping the system asks that it isn't called so.
    unsafe { libc::mprotect(page as *mut libc::c_void, PAGE as usize, access) == 0 }
}

/// Whether anything may be kept from the program at present, as far as can be told without an array.
pub fn is_allowed() -> bool {
    is_possible() && (interception::is_armed() || alone::check().is_ok())
}

/// Whether the system's pages are those that are counted here.
pub fn is_possible() -> bool {
    // SAFETY: no preconditions.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as u64 == PAGE }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Before everything comes home the device is asked whether it is there, and it answers behind its loops.
    #[test]
    fn whoever_waits_for_a_device_knows_how_long() {
        fetching_ns();
        assert!(!OfSystem.answers(Kind::Cuda, DevicePtr(0)));
        assert_ne!(fetching_ns(), 0);
    }

    /// What was brought there for elements of four bytes lies in the way of those of eight that would be misaligned.
    #[test]
    fn wider_elements_are_not_taken_from_where_they_are_misaligned() {
        let span = (0x10000, 0x20000);
        let at = |at: u64| Place::new(Kind::Cuda, DevicePtr(1 << 20), at, span);
        let place = at((1 << 20) + 124);
        assert!(serves(&place, Kind::Cuda, 4) && serves(&place, Kind::Cuda, 1));
        assert!(!serves(&place, Kind::Cuda, 8) && !serves(&place, Kind::Threads, 4));
        assert!(serves(&at((1 << 20) + 120), Kind::Cuda, 8));
    }

    /// More arrays than a device's thread has room for letters.
    #[test]
    fn what_was_not_given_back_is_given_back_later() {
        let given = std::cell::RefCell::new(Vec::new());
        let give = |room: usize| {
            let given = &given;
            move |kind: Kind, memory: DevicePtr| {
                let has_room = given.borrow().len() < room;
                if has_room {
                    given.borrow_mut().push((kind, memory));
                }
                has_room
            }
        };
        let all = [1, 2, 3].map(|number| (Kind::Cuda, DevicePtr(number)));
        give_back(all.into_iter(), give(1));
        assert_eq!(*given.borrow(), all[..1]);
        give_back(std::iter::empty(), give(3));
        assert_eq!(*given.borrow(), all);
    }
}
