//! Ways in which memory changes, one after the other, each with the pages that it is to be noticed by. What this system can't do is said, and not tested.

#![allow(
    clippy::undocumented_unsafe_blocks,
    clippy::missing_safety_doc,
    reason = "all of it concerns memory, files, threads and children of the test's own"
)]

use super::ring::Ring;
use super::*;

/// What one way does to a page.
type Way = (&'static str, fn(&Own, u64) -> Option<()>);

fn close(ends: [i32; 2]) {
    for end in ends {
        unsafe { libc::close(end) };
    }
}

fn happened(result: i64) -> Option<()> {
    (result >= 0).then_some(())
}

/// Children share nothing that they don't ask for.
unsafe fn child(work: impl FnOnce()) -> libc::pid_t {
    unsafe {
        let child = libc::fork();
        if child == 0 {
            work();
            libc::_exit(0);
        }
        child
    }
}

unsafe fn ended(child: libc::pid_t) -> Option<()> {
    let mut status = -1;
    unsafe { assert_eq!(libc::waitpid(child, &raw mut status, 0), child) };
    (status == 0).then_some(())
}

/// A process that has the same memory, until it ends.
unsafe fn shares_memory(
    work: extern "C" fn(*mut libc::c_void) -> libc::c_int,
    argument: *mut libc::c_void,
) -> Option<()> {
    let stack = Own::new();
    unsafe {
        let child = libc::clone(work, stack.page(PAGES - 1), libc::CLONE_VM | libc::SIGCHLD, argument);
        assert!(child > 0);
        ended(child)
    }
}

fn protected(own: &Own, page_number: u64, access: i32) {
    unsafe { assert_eq!(libc::mprotect(own.page(page_number), page() as usize, access), 0) };
}

/// A ring is there before, or after, but not while watching begins: then nothing would be watched.
fn read_by_ring(own: &Own, at: u64, is_pinned: bool) -> Option<()> {
    let ring = Ring::new()?;
    let range = (own.page(at) as u64, own.page(at + 1) as u64);
    unsafe {
        let zero = libc::open(path("/dev/zero").as_ptr(), libc::O_RDONLY);
        assert!(!is_pinned || ring.pin(range));
        assert!(ring.read(zero, range, is_pinned));
        libc::close(zero);
    }
    assert!(!is_pinned || ring.unpin());
    Some(())
}

const STORE: [Way; 21] = [
    ("/proc/self/mem, where the program may only read", |own, at| {
        protected(own, at, libc::PROT_READ);
        let memory = unsafe { libc::open(path("/proc/self/mem").as_ptr(), libc::O_RDWR) };
        let written = unsafe { libc::pwrite(memory, c"x".as_ptr().cast(), 1, own.page(at) as i64) };
        unsafe { libc::close(memory) };
        protected(own, at, libc::PROT_READ | libc::PROT_WRITE);
        happened(written as i64)
    }),
    ("another process writes", |own, at| unsafe {
        let (parent, to) = (libc::getpid(), own.page(at));
        libc::prctl(libc::PR_SET_PTRACER, libc::PR_SET_PTRACER_ANY, 0, 0, 0);
        ended(child(|| {
            let from = libc::iovec { iov_base: c"abc".as_ptr() as *mut _, iov_len: 3 };
            let to = libc::iovec { iov_base: to, iov_len: 3 };
            if libc::process_vm_writev(parent, &from, 1, &to, 1, 0) != 3 {
                libc::_exit(1);
            }
        }))
    }),
    ("a debugger writes", |own, at| unsafe {
        let (thread, to) = (libc::syscall(libc::SYS_gettid) as i32, own.page(at));
        ended(child(|| {
            let mut status = 0;
            if libc::ptrace(libc::PTRACE_ATTACH, thread, 0, 0) != 0
                || libc::waitpid(thread, &raw mut status, libc::__WALL) != thread
                || libc::ptrace(libc::PTRACE_POKEDATA, thread, to, 5) != 0
                || libc::ptrace(libc::PTRACE_DETACH, thread, 0, 0) != 0
            {
                libc::_exit(1);
            }
        }))
    }),
    ("a store while a child has the same pages", |own, at| unsafe {
        let mut ends = [0; 2];
        assert_eq!(libc::pipe(ends.as_mut_ptr()), 0);
        let sleeper = child(|| {
            libc::close(ends[1]);
            libc::read(ends[0], (&raw mut ends[1]).cast(), 1);
        });
        own.store(at);
        libc::close(ends[0]);
        libc::close(ends[1]);
        ended(sleeper)
    }),
    ("a child that shares memory", |own, at| unsafe {
        extern "C" fn work(to: *mut libc::c_void) -> libc::c_int {
            unsafe { to.cast::<u8>().write_volatile(9) };
            0
        }
        shares_memory(work, own.page(at))
    }),
    ("read by a ring", |own, at| read_by_ring(own, at, false)),
    ("read by a ring, into what it has pinned", |own, at| read_by_ring(own, at, true)),
    ("read past all caches", |own, at| unsafe {
        let flags = libc::O_TMPFILE | libc::O_RDWR | libc::O_DIRECT;
        let file = libc::open(path("/tmp").as_ptr(), flags, 0o600);
        let from = Own::new();
        let bytes = page() as usize;
        let read = file >= 0
            && libc::pwrite(file, from.page(0), bytes, 0) == bytes as isize
            && libc::pread(file, own.page(at), bytes, 0) == bytes as isize;
        libc::close(file);
        read.then_some(())
    }),
    ("received", |own, at| unsafe {
        let mut ends = [0; 2];
        assert_eq!(libc::socketpair(libc::AF_UNIX, libc::SOCK_DGRAM, 0, ends.as_mut_ptr()), 0);
        assert_eq!(libc::send(ends[0], c"abc".as_ptr().cast(), 3, 0), 3);
        let received = libc::recv(ends[1], own.page(at), 3, 0);
        close(ends);
        happened(received as i64)
    }),
    ("a pipe's pages", |own, at| unsafe {
        let mut ends = [0; 2];
        assert_eq!(libc::pipe(ends.as_mut_ptr()), 0);
        assert_eq!(libc::write(ends[1], c"abc".as_ptr().cast(), 3), 3);
        let to = libc::iovec { iov_base: own.page(at), iov_len: 3 };
        let read = libc::vmsplice(ends[0], &to, 1, 0);
        close(ends);
        happened(read as i64)
    }),
    ("numbers by chance", |own, at| unsafe { happened(libc::getrandom(own.page(at), 8, 0) as i64) }),
    ("a futex's word", |own, at| unsafe {
        let (word, add) = (own.page(at), 0x1000_0000 | 1 << 12);
        happened(libc::syscall(libc::SYS_futex, word.byte_add(64), 5, 0, 0, word, add))
    }),
    ("a thread's number, cleared at its end", |own, at| unsafe {
        let to = own.page(at) as u64;
        let mut thread = 0;
        extern "C" fn work(to: *mut libc::c_void) -> *mut libc::c_void {
            unsafe { libc::syscall(libc::SYS_set_tid_address, to) };
            unsafe { libc::syscall(libc::SYS_exit, 0) };
            std::ptr::null_mut()
        }
        assert_eq!(libc::pthread_create(&raw mut thread, std::ptr::null(), work, to as *mut _), 0);
        // It can't be joined: nobody tells the C library.
        while (to as *const u32).read_volatile() != 0 {
            std::thread::yield_now();
        }
        Some(())
    }),
    ("a lock whose owner has died", |own, at| unsafe {
        #[repr(C)]
        struct List(u64, i64, u64);
        let to = own.page(at) as u64;
        let mut inner = None;
        ended_thread(|| {
            // The list's only entry lies in the page, its lock 16 bytes further.
            static mut HEAD: List = List(0, 0, 0);
            let head = &raw mut HEAD;
            *head = List(to, 16, 0);
            (to as *mut u64).write_volatile(head as u64);
            ((to + 16) as *mut u32).write_volatile(libc::syscall(libc::SYS_gettid) as u32);
            inner = Watch::begin(&[own.range()]);
            libc::syscall(libc::SYS_set_robust_list, head, size_of::<List>());
        });
        // The system tells that a thread has ended before it looks at its list.
        let word = (to + 16) as *const u32;
        while word.read_volatile() & 1 << 30 == 0 {
            std::thread::yield_now();
        }
        assert_eq!(inner?.changed(), Some(own.pages(at, at + 1)));
        Some(())
    }),
    ("a signal's frame", |own, at| unsafe {
        extern "C" fn handler(_: libc::c_int) {}
        let stack = own.page(at - 7);
        let (from, to) = (stack as u64, own.page(at) as u64 + page());
        std::thread::scope(|threads| {
            let raised = threads.spawn(move || {
                let stack =
                    libc::stack_t { ss_sp: from as *mut _, ss_flags: 0, ss_size: (to - from) as usize };
                let mut before: libc::stack_t = std::mem::zeroed();
                assert_eq!(libc::sigaltstack(&raw const stack, &raw mut before), 0);
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = handler as *const () as usize;
                action.sa_flags = libc::SA_ONSTACK;
                libc::sigaction(libc::SIGURG, &raw const action, std::ptr::null_mut());
                libc::raise(libc::SIGURG);
                libc::sigaltstack(&raw const before, std::ptr::null_mut());
            });
            raised.join().unwrap();
        });
        Some(())
    }),
    ("where the processor says which it is", |own, at| unsafe {
        extern "C" fn work(to: *mut libc::c_void) -> libc::c_int {
            unsafe {
                let registered = libc::syscall(libc::SYS_rseq, to, 32, 0, 0x5305_3053) == 0;
                libc::sched_yield();
                libc::c_int::from(!registered || libc::syscall(libc::SYS_rseq, to, 32, 1, 0x5305_3053) != 0)
            }
        }
        shares_memory(work, own.page(at))
    }),
    ("the time", |own, at| unsafe { happened(libc::syscall(libc::SYS_clock_gettime, 1, own.page(at))) }),
    ("dropped lazily, and stored to", |own, at| unsafe {
        libc::madvise(own.page(at), page() as usize, libc::MADV_FREE);
        own.store(at);
        Some(())
    }),
    ("made to be there", |own, at| unsafe {
        happened(i64::from(libc::madvise(own.page(at), page() as usize, libc::MADV_POPULATE_WRITE)))
    }),
    ("guarded, and not any more", |own, at| unsafe {
        happened(i64::from(libc::madvise(own.page(at), page() as usize, 102)))?;
        happened(i64::from(libc::madvise(own.page(at), page() as usize, 103)))
    }),
    ("moved away, the place stays", |own, at| unsafe {
        let flags = libc::MREMAP_MAYMOVE | 4;
        let anywhere = std::ptr::null_mut::<libc::c_void>();
        let moved = libc::mremap(own.page(at), page() as usize, page() as usize, flags, anywhere);
        if moved == libc::MAP_FAILED {
            return None;
        }
        libc::munmap(moved, page() as usize);
        own.store(at);
        Some(())
    }),
];

/// A thread that isn't the C library's when it ends.
unsafe fn ended_thread(work: impl FnOnce() + Send) {
    std::thread::scope(|threads| {
        threads.spawn(work).join().unwrap();
    });
}

#[test]
fn each_way_is_noticed() {
    alone("ways::each_way_is_noticed", || {
        for (what, way) in STORE {
            let Some((own, watch)) = watched() else { return };
            let at = 40;
            match way(&own, at) {
                None => eprintln!("SKIPPED: {what}"),
                Some(()) => {
                    let changed = watch.changed();
                    let is_seen = changed
                        .as_ref()
                        .is_none_or(|changed| !common(changed, &own.pages(at, at + 1)).is_empty());
                    assert!(is_seen, "{what}: {changed:x?} of {:x?}", own.range());
                    // One page, or those of a signal's stack.
                    let bytes = changed.iter().flatten().map(|(lo, hi)| hi - lo).sum::<u64>();
                    assert!(bytes <= 8 * page(), "{what}: {changed:x?}");
                }
            }
        }
    });
}

/// What changes nothing isn't taken for a change, so that watching goes on.
#[test]
fn what_changes_nothing_is_nothing() {
    alone("ways::what_changes_nothing_is_nothing", || {
        let Some((own, watch)) = watched() else { return };
        unsafe {
            let bytes = page() as usize;
            assert_eq!(ended(child(|| own.store(1))), Some(()));
            libc::madvise(own.page(2), bytes, libc::MADV_FREE);
            libc::madvise(own.page(3), bytes, libc::MADV_COLD);
            libc::madvise(own.page(4), bytes, libc::MADV_PAGEOUT);
            libc::madvise(own.page(0), Own::bytes(), libc::MADV_HUGEPAGE);
            libc::madvise(own.page(0), Own::bytes(), 25);
            libc::madvise(own.page(5), bytes, libc::MADV_WILLNEED);
            let mut there = [0u8; 64];
            libc::mincore(own.page(0), Own::bytes(), there.as_mut_ptr());
            let mut ends = [0; 2];
            assert_eq!(libc::pipe(ends.as_mut_ptr()), 0);
            assert_eq!(libc::write(ends[1], own.page(7), bytes), bytes as isize);
            close(ends);
        }
        assert_eq!(
            watch.changed().map(|all| all.iter().map(|(lo, _)| (lo - own.0) / page()).collect()),
            Some(Vec::new())
        );
        (0..PAGES).for_each(|at| own.store(at));
        assert_eq!(watch.changed(), Some(vec![own.range()]));
    });
}

/// Huge pages: protected as one, split by a store, moved as one, made anew.
#[test]
fn huge_pages_are_noticed() {
    alone("ways::huge_pages_are_noticed", || {
        let Some((_, _)) = watched() else { return };
        const HUGE: u64 = 2 << 20;
        unsafe {
            let new = |bytes: u64| {
                let (access, kind) =
                    (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
                let all = libc::mmap(std::ptr::null_mut(), (bytes + HUGE) as usize, access, kind, -1, 0);
                let start = (all as u64).next_multiple_of(HUGE);
                libc::madvise(start as *mut _, bytes as usize, libc::MADV_HUGEPAGE);
                start
            };
            let fill = |start: u64| (start as *mut u8).write_bytes(1, 4 * HUGE as usize);
            let (start, elsewhere) = (new(4 * HUGE), new(4 * HUGE));
            fill(start);
            let all = (start, start + 4 * HUGE);
            let watch = Watch::begin(&[all]).unwrap();
            let at = start + HUGE + 5 * page();
            (at as *mut u8).write_volatile(2);
            assert_eq!(watch.changed(), Some(vec![(at, at + page())]));
            // Made one again, or not: what has been stored to stays.
            libc::madvise(start as *mut _, 4 * HUGE as usize, 25);
            let changed = watch.changed().unwrap();
            assert!(!common(&changed, &[(at, at + page())]).is_empty(), "{changed:x?}");
            drop(watch);
            // Once nothing is protected it may be.
            libc::madvise(start as *mut _, 4 * HUGE as usize, 25);
            let watch = Watch::begin(&[all]).unwrap();
            // Away and back, with a store there.
            let both = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
            let bytes = 4 * HUGE as usize;
            assert_ne!(libc::mremap(start as *mut _, bytes, bytes, both, elsewhere), libc::MAP_FAILED);
            ((elsewhere + 3 * HUGE) as *mut u8).write_volatile(3);
            assert_ne!(libc::mremap(elsewhere as *mut _, bytes, bytes, both, start), libc::MAP_FAILED);
            assert_eq!(watch.changed(), None);
            // Registered anew by somebody else, who watches a part: the others' pages are nobody's.
            let part = Watch::begin(&[(start, start + page())]).unwrap();
            assert_eq!(part.changed(), Some(Vec::new()));
            let changed = watch.changed();
            assert!(changed.is_none_or(|changed| changed == vec![all]));
        }
    });
}

/// Zeros that nobody has stored, read before or not.
#[test]
fn pages_that_were_never_there_are_watched() {
    alone("ways::pages_that_were_never_there_are_watched", || {
        let Some((_, _)) = watched() else { return };
        let own = Own::new();
        unsafe {
            libc::madvise(own.page(0), Own::bytes(), libc::MADV_DONTNEED);
            own.page(1).cast::<u8>().read_volatile();
            let watch = Watch::begin(&[own.range()]).unwrap();
            own.page(2).cast::<u8>().read_volatile();
            own.page(1).cast::<u8>().read_volatile();
            assert_eq!(watch.changed(), Some(Vec::new()));
            own.store(1);
            own.store(2);
            own.store(3);
            assert_eq!(watch.changed(), Some(own.pages(1, 4)));
            libc::madvise(own.page(5), page() as usize, libc::MADV_DONTNEED);
            assert_eq!(watch.changed(), Some([own.pages(1, 4), own.pages(5, 6)].concat()));
        }
    });
}

/// The program's heap, which grows, shrinks, and grows again.
#[test]
fn a_heap_that_shrinks_is_noticed() {
    alone("ways::a_heap_that_shrinks_is_noticed", || {
        let Some((_, _)) = watched() else { return };
        unsafe {
            let end = (libc::sbrk(0) as u64).next_multiple_of(page());
            let bytes = 16 * page();
            assert_eq!(libc::brk((end + bytes) as *mut _), 0);
            (end as *mut u8).write_bytes(1, bytes as usize);
            let watch = Watch::begin(&[(end, end + bytes)]).unwrap();
            // Whatever comes behind it is another matter.
            assert_eq!(libc::brk((end + 2 * bytes) as *mut _), 0);
            ((end + bytes) as *mut u8).write_bytes(1, bytes as usize);
            assert_eq!(watch.changed(), Some(Vec::new()));
            assert_eq!(libc::brk((end + bytes / 2) as *mut _), 0);
            assert_eq!(libc::brk((end + bytes) as *mut _), 0);
            let changed = watch.changed();
            let lost = (end + bytes / 2, end + bytes);
            assert!(changed.is_none_or(|changed| changed == vec![lost]));
        }
    });
}

/// Threads store all the time while watching begins, ends and is asked about: whoever has seen a page unchanged finds it so.
#[test]
fn nothing_is_missed_while_threads_store() {
    use std::sync::atomic::AtomicU64;
    alone("ways::nothing_is_missed_while_threads_store", || {
        let Some((own, _)) = watched() else { return };
        let ends = AtomicBool::new(false);
        let word = |at: u64| unsafe { AtomicU64::from_ptr(own.page(at).cast()) };
        std::thread::scope(|threads| {
            for thread in 0..2 {
                let (ends, word) = (&ends, &word);
                threads.spawn(move || {
                    let mut at = thread;
                    while !ends.load(Ordering::Relaxed) {
                        at = (at * 5 + 7) % PAGES;
                        word(at).fetch_add(1, Ordering::SeqCst);
                        for _ in 0..at * 20 {
                            std::hint::spin_loop();
                        }
                    }
                });
            }
            for round in 0..2000u64 {
                let first = Watch::begin(&[own.range()]).unwrap();
                let seen: Vec<u64> = (0..PAGES).map(|at| word(at).load(Ordering::SeqCst)).collect();
                let second = (round % 3 == 0).then(|| Watch::begin(&own.pages(8, 40)).unwrap());
                drop((round % 2 == 0).then_some(second));
                let now: Vec<u64> = (0..PAGES).map(|at| word(at).load(Ordering::SeqCst)).collect();
                let changed = first.changed().unwrap();
                for at in 0..PAGES as usize {
                    let is_told = !common(&changed, &own.pages(at as u64, at as u64 + 1)).is_empty();
                    if seen[at] != now[at] && !is_told {
                        ends.store(true, Ordering::Relaxed);
                        panic!("page {at} in round {round}");
                    }
                }
            }
            ends.store(true, Ordering::Relaxed);
        });
    });
}

/// The same while pages are dropped, unmapped, moved away and back, replaced, and made read-only, and children come and go.
#[test]
fn nothing_is_missed_while_memory_is_remapped() {
    alone("ways::nothing_is_missed_while_memory_is_remapped", || {
        let Some((own, _)) = watched() else { return };
        let elsewhere = Own::new();
        let ends = AtomicBool::new(false);
        let bytes = page() as usize;
        // What is there, if anything is.
        let word = |at: u64| unsafe {
            let mut word = 0u64;
            let to = libc::iovec { iov_base: (&raw mut word).cast(), iov_len: 8 };
            let from = libc::iovec { iov_base: own.page(at), iov_len: 8 };
            (libc::process_vm_readv(libc::getpid(), &to, 1, &from, 1, 0) == 8).then_some(word)
        };
        let (mut asked, mut known) = (0, 0);
        std::thread::scope(|threads| {
            threads.spawn(|| unsafe {
                let (mut chance, mut count) = (7u64, 0u64);
                let both = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
                let (access, kind) = (
                    libc::PROT_READ | libc::PROT_WRITE,
                    libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED,
                );
                while !ends.load(Ordering::Relaxed) {
                    chance = chance.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    let (at, pages) = (chance >> 33 & 31, 1 + (chance >> 40 & 3));
                    let (from, there, length) = (own.page(at), elsewhere.page(at), bytes * pages as usize);
                    let mut store = |to: *mut libc::c_void| {
                        count += 1;
                        for page_number in 0..pages {
                            to.byte_add(page_number as usize * bytes).cast::<u64>().write_volatile(count);
                        }
                    };
                    match chance >> 50 & 7 {
                        0 => store(from),
                        1 => {
                            libc::madvise(from, length, libc::MADV_DONTNEED);
                            store(from);
                        }
                        2 => {
                            // Not where they are of several mappings.
                            if libc::mremap(from, length, length, both, there) == there {
                                store(there);
                                assert_eq!(libc::mremap(there, length, length, both, from), from);
                            } else {
                                libc::mmap(from, length, access, kind, -1, 0);
                                store(from);
                            }
                        }
                        3 => {
                            libc::munmap(from, length);
                            libc::mmap(from, length, access, kind, -1, 0);
                            store(from);
                        }
                        4 => {
                            assert_ne!(libc::mmap(there, length, access, kind, -1, 0), libc::MAP_FAILED);
                            store(there);
                            assert_eq!(libc::mremap(there, length, length, both, from), from);
                        }
                        5 => {
                            libc::mprotect(from, length, libc::PROT_READ);
                            libc::mprotect(from, length, libc::PROT_READ | libc::PROT_WRITE);
                            store(from);
                        }
                        6 if chance >> 60 == 0 => {
                            let sleeper = child(|| ());
                            store(from);
                            ended(sleeper);
                        }
                        _ => {
                            libc::madvise(from, length, libc::MADV_FREE);
                            store(from);
                        }
                    }
                    std::thread::sleep(std::time::Duration::from_micros(chance >> 55 & 63));
                }
            });
            for round in 0..1500u64 {
                let Some(watch) = Watch::begin(&[own.range()]) else { continue };
                let before: Vec<Option<u64>> = (0..PAGES).map(word).collect();
                std::thread::sleep(std::time::Duration::from_micros(round % 300));
                let second = (round % 3 == 0).then(|| Watch::begin(&own.pages(0, 9)));
                let now: Vec<Option<u64>> = (0..PAGES).map(word).collect();
                let changed = watch.changed();
                drop(second);
                asked += 1;
                let Some(changed) = changed else { continue };
                known += 1;
                for at in 0..PAGES as usize {
                    let is_told = !common(&changed, &own.pages(at as u64, at as u64 + 1)).is_empty();
                    if before[at] != now[at] && !is_told {
                        ends.store(true, Ordering::Relaxed);
                        panic!("page {at} in round {round}: {:?}, then {:?}", before[at], now[at]);
                    }
                }
            }
            ends.store(true, Ordering::Relaxed);
        });
        assert!(known > 20, "{known} of {asked}");
    });
}
