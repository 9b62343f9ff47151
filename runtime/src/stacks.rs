//! The stack that the runtime is called on. A program may make stacks itself, as small as its own code needs (`makecontext`, `sigaltstack`, threads of 16 KiB), and have anything right
//! below them; the runtime takes some 20 KiB. So a loop is served only where the stack is the calling thread's own, as the system and the C library know it, and [`PG_STACK_ROOM`] is left
//! of it; elsewhere it runs as it stands. What has to be done in any case is done on a stack of ours ([`with_room`]).
//!
//! The stub in front of the runtime asks the same in C before it opens this library (`codegen::stub`).

use crate::abi::{PG_STACK_LIMITED, PG_STACK_ROOM, PG_STACK_UNLIMITED};
use crate::memory::coherence::interception::gate;
use std::cell::Cell;
use std::sync::OnceLock;

/// The lowest and the first address behind.
type Stack = (u64, u64);

thread_local! {
    /// The calling thread's stack, if it is known to be another one than the process's first: see [`of_thread`].
    static OWN: Cell<Option<Stack>> = const { Cell::new(None) };
}

/// The process's first stack. It grows: this is what it may come to by the limit that there was when this was asked first.
fn first() -> Stack {
    static FIRST: OnceLock<Stack> = OnceLock::new();
    *FIRST.get_or_init(|| {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: neither changes anything but the structure. What the vector points to are random bytes, above the first frame.
        let (top, failed) = unsafe {
            (libc::getauxval(libc::AT_RANDOM), libc::getrlimit(libc::RLIMIT_STACK, &raw mut limit) != 0)
        };
        let depth = match limit.rlim_cur {
            _ if failed => 0,
            libc::RLIM_INFINITY => PG_STACK_UNLIMITED,
            limit => limit.min(PG_STACK_LIMITED),
        };
        (top.saturating_sub(depth), top)
    })
}

/// Looks at the process's first stack, once: later there may be a filter that doesn't let that be asked.
pub fn look_ahead() {
    first();
}

/// The calling thread's stack, by the C library. `None`: it can't be asked here. An empty one: the thread has none but the process's first.
///
/// The library allocates memory for it, and so it isn't asked in a handler of a signal, which may have interrupted the allocator. `is_in_handler` tells by the signals that are blocked.
#[cold]
#[inline(never)]
fn of_thread(is_in_handler: impl FnOnce(u64) -> bool) -> Option<Stack> {
    let mut blocked = 0u64;
    // SAFETY: asks for the mask, of eight bytes, and for two numbers.
    let (failed, is_first) = unsafe {
        let mask = [libc::SIG_BLOCK as u64, 0, &raw mut blocked as u64, size_of::<u64>() as u64, 0, 0];
        let failed = gate::call(libc::SYS_rt_sigprocmask as u64, mask) != 0;
        (failed, gate::call(libc::SYS_gettid as u64, [0; 6]) == gate::call(libc::SYS_getpid as u64, [0; 6]))
    };
    if is_first {
        // For it the library reads in a file of the system's, with more frames than there may be room for.
        return Some((0, 0));
    }
    if failed || is_in_handler(blocked) {
        return None;
    }
    // SAFETY: of the calling thread; the attributes are undone after they were made.
    unsafe {
        let mut attributes: libc::pthread_attr_t = std::mem::zeroed();
        if libc::pthread_getattr_np(libc::pthread_self(), &raw mut attributes) != 0 {
            return Some((0, 0));
        }
        let (mut low, mut bytes) = (std::ptr::null_mut(), 0);
        let failed = libc::pthread_attr_getstack(&raw const attributes, &raw mut low, &raw mut bytes) != 0;
        libc::pthread_attr_destroy(&raw mut attributes);
        Some(if failed { (0, 0) } else { (low as u64, (low as u64).saturating_add(bytes as u64)) })
    }
}

/// Whether a stack has room below an address on it.
fn has_room_below(here: u64, (low, top): Stack) -> bool {
    here < top && here >= low.saturating_add(PG_STACK_ROOM)
}

/// Whether the caller stands on its thread's own stack, and the runtime has room on it. Takes little of the stack itself, and makes no system call that the kernel could dispatch.
/// `is_in_handler`: whether a thread that blocks these signals, a bit for each, may be in a handler of one; then threads are taken to have no room as long as nothing is known of theirs.
#[inline]
pub fn has_room(is_in_handler: impl FnOnce(u64) -> bool) -> bool {
    let mark = 0u8;
    let here = std::ptr::from_ref(std::hint::black_box(&mark)) as u64;
    has_room_below(here, first()) || own_has_room(here, is_in_handler)
}

#[inline(never)]
fn own_has_room(here: u64, is_in_handler: impl FnOnce(u64) -> bool) -> bool {
    let own = OWN.get().or_else(|| {
        let found = of_thread(is_in_handler);
        OWN.set(found);
        found
    });
    own.is_some_and(|own| has_room_below(here, own))
}

/// So much has a stack of ours.
const OWN_STACK: u64 = 1 << 20;
/// A page in front of it that nobody may touch.
const GUARD: u64 = 4096;

/// Does something that has to be done wherever the caller stands: on a stack of ours where the caller's has no room, or may have none. Where there is no memory for one it is done here.
pub fn with_room(work: &mut dyn FnMut()) {
    extern "C" fn call(work: u64) {
        // SAFETY: from below, where it is alive.
        unsafe { (*(work as *mut &mut dyn FnMut()))() }
    }
    if has_room(|_| true) {
        return work();
    }
    let mut work = work;
    let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: new memory, which is nobody else's until it is given back, and whose first page is kept away; the function is called while what it is given lives.
    unsafe {
        let wanted = [0, OWN_STACK + GUARD, access as u64, kind as u64, u64::MAX, 0];
        let start = gate::call(libc::SYS_mmap as u64, wanted);
        let Ok(start) = u64::try_from(start) else { return work() };
        gate::call(libc::SYS_mprotect as u64, [start, GUARD, libc::PROT_NONE as u64, 0, 0, 0]);
        gate::on(start + GUARD + OWN_STACK, call, &raw mut work as u64);
        gate::call(libc::SYS_munmap as u64, [start, OWN_STACK + GUARD, 0, 0, 0, 0]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::c_void;

    /// What a test does on a stack that it has made.
    struct Task {
        work: fn() -> bool,
        result: bool,
    }

    extern "C" fn run(task: u64) {
        // SAFETY: from `elsewhere`, where it is alive.
        let task = unsafe { &mut *(task as *mut Task) };
        task.result = (task.work)();
    }

    /// Does something on a stack that is nobody's own.
    fn elsewhere(work: fn() -> bool) -> bool {
        let mut memory = vec![0u128; 1 << 16];
        let mut task = Task { work, result: false };
        // SAFETY: the memory is used by nobody else meanwhile.
        unsafe { gate::on(memory.as_mut_ptr_range().end as u64, run, &raw mut task as u64) };
        task.result
    }

    fn never(_: u64) -> bool {
        false
    }

    /// What the test does in a thread with a stack of so many bytes. Of its own making, because the C library may give a larger one that it has left.
    fn in_thread(bytes: usize, work: fn() -> bool) -> bool {
        extern "C" fn begin(task: *mut c_void) -> *mut c_void {
            run(task as u64);
            task
        }
        let mut memory = vec![0u128; bytes / size_of::<u128>()];
        let mut task = Task { work, result: false };
        // SAFETY: the memory and the task live until the thread has ended.
        unsafe {
            let (mut attributes, mut thread): (libc::pthread_attr_t, _) = (std::mem::zeroed(), 0);
            assert_eq!(libc::pthread_attr_init(&raw mut attributes), 0);
            let stack = memory.as_mut_ptr().cast();
            assert_eq!(libc::pthread_attr_setstack(&raw mut attributes, stack, bytes), 0);
            let task = (&raw mut task).cast();
            assert_eq!(libc::pthread_create(&raw mut thread, &raw const attributes, begin, task), 0);
            assert_eq!(libc::pthread_join(thread, std::ptr::null_mut()), 0);
            libc::pthread_attr_destroy(&raw mut attributes);
        }
        task.result
    }

    #[test]
    fn a_thread_has_room_on_its_own_stack_only() {
        assert!(in_thread(1 << 20, || has_room(never) && has_room(|_| true)));
        assert!(in_thread(1 << 20, || !elsewhere(|| has_room(never)) && has_room(never)));
        // Asked on the other stack first.
        assert!(in_thread(1 << 20, || !elsewhere(|| has_room(never))));
        assert!(!in_thread(48 << 10, || has_room(never)));
    }

    #[test]
    fn a_thread_in_a_handler_is_not_asked() {
        assert!(in_thread(1 << 20, || !has_room(|_| true) && has_room(never)));
    }

    #[test]
    fn near_its_end_a_stack_has_no_room() {
        #[inline(never)]
        fn deep(bytes: u64) -> bool {
            let frame = [0u8; 4096];
            let has_room = if bytes > 4096 { deep(bytes - 4096) } else { has_room(never) };
            std::hint::black_box(&frame);
            has_room
        }
        assert!(in_thread(1 << 20, || deep(600 << 10)));
        assert!(!in_thread(1 << 20, || deep(980 << 10)));
    }

    #[test]
    fn the_first_stack_is_where_the_system_says_it_is() {
        let (low, top) = first();
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let line = maps.lines().find(|line| line.ends_with("[stack]")).unwrap();
        let (start, end) = line.split_once(' ').unwrap().0.split_once('-').unwrap();
        let [start, end] = [start, end].map(|number| u64::from_str_radix(number, 16).unwrap());
        assert!(low <= start && start < top && top < end, "{low:x} {top:x} {line}");
        assert!(has_room_below(top - 4096, (low, top)) && !has_room_below(top, (low, top)));
        assert!(!has_room_below(low + 1, (low, top)));
    }

    #[test]
    fn what_has_to_be_done_is_done_on_a_stack_with_room() {
        fn stands() -> u64 {
            let mark = 0u8;
            std::ptr::from_ref(std::hint::black_box(&mark)) as u64
        }
        assert!(in_thread(48 << 10, || {
            let mut there = 0;
            // More than the thread has.
            with_room(&mut || {
                let frame = [0u8; 200 << 10];
                std::hint::black_box(&frame);
                there = stands();
            });
            there.abs_diff(stands()) > 200 << 10
        }));
        assert!(in_thread(1 << 20, || {
            let mut there = 0;
            has_room(never);
            with_room(&mut || there = stands());
            there.abs_diff(stands()) < 64 << 10
        }));
    }
}
