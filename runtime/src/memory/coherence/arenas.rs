//! Whether what the program has freed may come to a thread that isn't its own. Pages may be kept away when the array they belong to is freed, and the allocator hands them out
//! again; the program's thread faults on them and has them brought home, but no thread of ours, or of the GPU driver's, can wait for that. The C library's allocator has an arena
//! for each thread, and the program's first thread has the first one for itself as long as there are enough of them. Of other allocators nothing is known.

use crate::memory::{programs_allocator, safe_copy};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// What the C library notes in front of a piece has this bit where it is of another arena than the first.
const OF_OTHER_ARENA: u64 = 4;
/// So many arenas does it have for each processor, where nobody has said anything else.
const FOR_EACH_PROCESSOR: usize = 8;
/// Who may have said something: a number, and a list of settings with their names.
const LIMITED_BY: &str = "MALLOC_ARENA_MAX";
/// See [`LIMITED_BY`].
const SETTINGS: &str = "GLIBC_TUNABLES";
/// How settings of arenas are called there, and one that changes how large they are.
const OF_ARENAS: [&[u8]; 2] = [b"malloc.arena", b"malloc.hugetlb"];
/// So many threads of ours and of the driver's may begin later.
const LATER: usize = 4;

/// Whether a thread of ours has been given something of the first arena.
static IS_SHARED: AtomicBool = AtomicBool::new(false);

/// A thread of ours has been given its first piece, of a few kilobytes.
pub fn note_first(piece: *const u8) {
    if !is_of_other_arena(piece) {
        IS_SHARED.store(true, Ordering::Relaxed);
    }
}

fn is_of_other_arena(piece: *const u8) -> bool {
    word((piece as u64).wrapping_sub(8)).is_some_and(|noted| noted & OF_OTHER_ARENA != 0)
}

/// Arenas of threads consist of pieces of so many bytes, which begin at multiples of that, with the address of what is noted of the arena.
const HEAP: u64 = 64 << 20;
/// What is noted of an arena stands right behind the head of its first piece, which has some words. A library may lie there as well, and begin a page with any address of its own.
const HEAD: u64 = 256;

/// Whether an address lies in an arena that isn't the first one. Where its thread has ended, another one may have it, one of ours too.
pub fn is_inside(address: u64) -> bool {
    let first_word = |address: u64| word(address & !(HEAP - 1));
    // What is noted lies in the first of its pieces, which so begins with the same.
    first_word(address)
        .is_some_and(|arena| arena >= HEAP && arena & (HEAP - 1) <= HEAD && first_word(arena) == Some(arena))
}

/// What memory holds. `None`: it isn't there.
fn word(address: u64) -> Option<u64> {
    let mut word = 0u64;
    // SAFETY: as many bytes.
    unsafe { safe_copy::read(address, size_of_val(&word) as u64, (&raw mut word).cast()) }.ok()?;
    Some(word)
}

/// Nothing is known of any thread: for children of tests, which have begun any number of them.
#[cfg(test)]
pub fn forget() {
    IS_SHARED.store(false, Ordering::Relaxed);
}

/// So many threads the program may have besides its first one.
static ROOM: AtomicUsize = AtomicUsize::new(0);

/// Whether none of a process's threads, so many with the first, can be given what the first one has freed.
pub fn are_apart(threads: usize) -> bool {
    let room = most().and_then(|most| most.checked_sub(threads + LATER));
    ROOM.store(room.unwrap_or(0), Ordering::Relaxed);
    !IS_SHARED.load(Ordering::Relaxed) && programs_allocator::is_of_c_library() && room.is_some()
}

/// The same where the program has so many threads besides its first one, as far as was known when [`are_apart`] was asked last.
pub fn stay_apart_from(others: usize) -> bool {
    others <= ROOM.load(Ordering::Relaxed)
}

/// So many threads have arenas of their own. `None`: nobody knows.
fn most() -> Option<usize> {
    if std::env::var_os(SETTINGS).is_some_and(|settings| has_arenas(&settings)) {
        return None;
    }
    match std::env::var(LIMITED_BY) {
        Ok(number) => number.parse().ok(),
        Err(std::env::VarError::NotPresent) => Some(FOR_EACH_PROCESSOR * processors()),
        Err(_) => None,
    }
}

fn has_arenas(settings: &OsStr) -> bool {
    let has = |name: &[u8]| settings.as_bytes().windows(name.len()).any(|part| part == name);
    OF_ARENAS.into_iter().any(has)
}

/// Those that the process may use: no more than the C library counts.
fn processors() -> usize {
    // SAFETY: a set of processors, filled in by the call.
    let count = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        match libc::sched_getaffinity(0, size_of_val(&set), &raw mut set) {
            0 => libc::CPU_COUNT(&set),
            _ => 1,
        }
    };
    usize::try_from(count).unwrap_or(1).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_arenas_are_seen() {
        assert!(has_arenas(OsStr::new("glibc.malloc.check=1:glibc.malloc.arena_max=2")));
        assert!(has_arenas(OsStr::new("glibc.malloc.hugetlb=2")));
        assert!(!has_arenas(OsStr::new("glibc.malloc.tcache_count=2")));
        assert!(processors() >= 1);
    }

    #[test]
    fn the_first_arena_is_told_from_others() {
        let [first, other] = [[0u64, 0x2011, 0, 0], [0u64, 0x2015, 0, 0]];
        assert!(!is_of_other_arena(first[2..].as_ptr().cast()));
        assert!(is_of_other_arena(other[2..].as_ptr().cast()));
        assert!(!is_of_other_arena(std::ptr::null()));
    }

    /// What threads have allocated, and what is too large for that, and what isn't there.
    #[test]
    fn arenas_of_threads_are_known() {
        // SAFETY: plain allocations, given back.
        unsafe {
            let of_thread = |bytes: usize| {
                std::thread::spawn(move || libc::malloc(bytes) as usize).join().unwrap() as *mut libc::c_void
            };
            let (small, large) = (of_thread(100_000), of_thread(64 << 20));
            let is_of_thread = is_of_other_arena(small.cast());
            assert_eq!(is_inside(small as u64), is_of_thread);
            assert_eq!(is_inside(small as u64 + 99_000), is_of_thread);
            assert!(!is_inside(large as u64) && !is_inside(large as u64 + (40 << 20)));
            libc::free(small);
            libc::free(large);
        }
        assert!(!is_inside(8) && !is_inside(u64::MAX));
    }

    /// A page of a library's that begins with an address further behind is no arena.
    #[test]
    fn addresses_at_the_same_places_are_no_arenas() {
        // SAFETY: new memory, of which one word is stored to; given back.
        unsafe {
            let (access, kind) = (
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            );
            let memory = libc::mmap(std::ptr::null_mut(), 2 * HEAP as usize, access, kind, -1, 0);
            assert_ne!(memory, libc::MAP_FAILED);
            let begin = (memory as u64).next_multiple_of(HEAP);
            for (behind, is_arena) in [(0x20, true), (0x30, true), (0xacf0, false)] {
                *(begin as *mut u64) = begin + behind;
                assert_eq!(is_inside(begin + 0x12_6000), is_arena, "{behind:#x}");
            }
            libc::munmap(memory, 2 * HEAP as usize);
        }
    }
}
