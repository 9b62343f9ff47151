//! Threads that begin while pages are kept away.

use super::*;
use std::sync::atomic::AtomicU32;

/// A thread as C programs begin them. Rust's set a stack for handlers first, which ends the interception.
struct Begun<'a, T> {
    thread: libc::pthread_t,
    result: Box<Option<T>>,
    of: PhantomData<&'a ()>,
}

fn begin<'a, T: Send, W: FnOnce() -> T + Send + 'a>(work: W) -> Begun<'a, T> {
    struct Work<W, T>(Option<W>, *mut Option<T>);
    extern "C" fn run<T, W: FnOnce() -> T>(work: *mut libc::c_void) -> *mut libc::c_void {
        // SAFETY: from below; the result stays until the thread is joined.
        unsafe {
            let mut work = Box::from_raw(work.cast::<Work<W, T>>());
            *work.1 = work.0.take().map(|work| work());
        }
        std::ptr::null_mut()
    }
    let mut result = Box::new(None);
    let work = Box::into_raw(Box::new(Work(Some(work), &raw mut *result)));
    let mut thread = 0;
    // SAFETY: the work lives at least as long as the thread, which is joined.
    let failed = unsafe { libc::pthread_create(&raw mut thread, std::ptr::null(), run::<T, W>, work.cast()) };
    assert_eq!(failed, 0);
    Begun { thread, result, of: PhantomData }
}

impl<T> Begun<'_, T> {
    fn join(mut self) -> T {
        // SAFETY: nobody else does.
        assert_eq!(unsafe { libc::pthread_join(self.thread, std::ptr::null_mut()) }, 0);
        self.result.take().unwrap()
    }
}

/// In a child that has one thread and pages that are away: threads of the program's.
fn with_threads(work: impl FnOnce(&'static Fake)) -> Child {
    child(|| {
        // What the C library does when the first thread begins, it has done.
        begin(|| ()).join();
        wait_until_alone();
        work(Fake::all_away());
    })
}

/// A thread that was joined may still be listed.
fn wait_until_alone() {
    while std::fs::read_dir("/proc/self/task").unwrap().count() > 1 {
        std::thread::yield_now();
    }
}

fn are_default() -> bool {
    let of = |signal: i32| Action::of(signal).unwrap().handler;
    [libc::SIGSEGV, libc::SIGSYS].map(of) == [0, 0]
}

fn is_right(fake: &Fake, at: usize) -> bool {
    fake.byte(at).load(Ordering::Relaxed) == expected(at)
}

#[test]
fn they_find_their_pages() {
    with_threads(|fake| {
        let reads = |from: usize| move || (from..BYTES).step_by(97).all(|at| is_right(fake, at));
        assert!(begin(reads(5)).join());
        assert!((0..PAGES).all(|page| fake.state(page) == SAME));
        is_still_armed();
        fake.byte(3 * PAGE as usize).store(77, Ordering::Relaxed);
        let stores = || begin(|| fake.byte(3).store(78, Ordering::Relaxed)).join();
        // One that has been begun by another one.
        begin(stores).join();
        assert_eq!((fake.state(0), fake.state(1), fake.state(3)), (HOME, SAME, HOME));
        assert_eq!(fake.byte(3).load(Ordering::Relaxed), 78);
        is_still_armed();
        assert!(!threads::have_company());
        for _ in 0..100 {
            fake.keep_all();
            is_still_armed();
            let both = [11, 13].map(|from| begin(reads(BYTES / 16 + from)));
            assert!(both.into_iter().all(|thread| thread.join()));
        }
        is_still_armed();
        let _inside = Inside::begin();
        fake.bring_home();
        disarm();
        assert!(are_default());
    })
    .succeeds();
}

/// What a page holds before it has come home nobody sees, and nobody takes a page for missing that another one has just had brought home.
#[test]
fn nobody_sees_half_a_page() {
    with_threads(|fake| {
        for round in 0..150usize {
            fake.keep_all();
            let ready = AtomicU32::new(0);
            {
                let all: Vec<_> = (0..3usize)
                    .map(|number| {
                        let ready = &ready;
                        begin(move || {
                            ready.fetch_add(1, Ordering::SeqCst);
                            while ready.load(Ordering::SeqCst) < 3 {
                                std::hint::spin_loop();
                            }
                            (0..PAGES).all(|page| {
                                // Two of them come to the same pages at the same time.
                                let page = (page * (number / 2 + 1) + round) % PAGES;
                                let last = (page + 1) * PAGE as usize - 1;
                                (0..40).all(|_| is_right(fake, last) && is_right(fake, last - 4095))
                            })
                        })
                    })
                    .collect();
                assert!(all.into_iter().all(|thread| thread.join()));
            }
        }
        is_still_armed();
    })
    .succeeds();
}

#[test]
fn their_calls_find_their_memory() {
    with_threads(|fake| {
        let is_done = begin(|| {
            let (mut ends, mut read) = ([0; 2], [0u8; 6000]);
            // SAFETY: of the mapping, and of the array.
            let moved = unsafe {
                libc::pipe(ends.as_mut_ptr());
                let written = libc::write(ends[1], fake.pointer(1000), 6000);
                (written, libc::read(ends[0], read.as_mut_ptr().cast(), 6000))
            };
            moved == (6000, 6000) && read.iter().enumerate().all(|(at, byte)| *byte == expected(1000 + at))
        });
        assert!(is_done.join());
        assert_eq!((fake.state(0), fake.state(1), fake.state(2)), (SAME, SAME, AWAY));
        is_still_armed();
    })
    .succeeds();
}

/// Those that run code of the program's, and those that wait in a call, go on with everything as if nothing had been intercepted; nobody is told that he was interrupted.
#[test]
fn what_one_does_ends_it_for_all() {
    let stack = || {
        // SAFETY: only asks.
        unsafe {
            let mut stack: libc::stack_t = std::mem::zeroed();
            libc::sigaltstack(std::ptr::null(), &raw mut stack);
            (stack.ss_sp as usize, stack.ss_flags, stack.ss_size)
        }
    };
    for round in 0..20 {
        with_threads(|fake| {
            let mut ends = [0; 2];
            // SAFETY: two numbers.
            unsafe { libc::pipe(ends.as_mut_ptr()) };
            let ended = &AtomicBool::new(false);
            let begun = &AtomicU32::new(0);
            {
                let waits = begin(move || {
                    let mut byte = 0u8;
                    begun.fetch_add(1, Ordering::SeqCst);
                    // SAFETY: a local variable.
                    let read = unsafe { libc::read(ends[0], (&raw mut byte).cast(), 1) };
                    (read, byte, stack().1)
                });
                let runs = begin(move || {
                    let mut turns = 0u64;
                    begun.fetch_add(1, Ordering::SeqCst);
                    while !ended.load(Ordering::SeqCst) {
                        turns += 1;
                    }
                    (turns != 0, stack().1)
                });
                let ends_it = begin(move || {
                    while begun.load(Ordering::SeqCst) < 2 {
                        std::hint::spin_loop();
                    }
                    let was_armed = is_armed();
                    // SAFETY: a signal that nobody gets.
                    let is_sent = unsafe { libc::kill(libc::getpid(), 0) } == 0;
                    let is_over = !is_armed() && fake.is_home();
                    (was_armed, is_sent, is_over, are_default(), stack().1)
                });
                assert_eq!(ends_it.join(), (true, true, true, true, libc::SS_DISABLE), "{round}");
                ended.store(true, Ordering::SeqCst);
                assert_eq!(runs.join(), (true, libc::SS_DISABLE));
                // SAFETY: one byte.
                unsafe { libc::write(ends[1], [7u8].as_ptr().cast(), 1) };
                assert_eq!(waits.join(), (1, 7, libc::SS_DISABLE));
            }
            assert!(!threads::have_company());
            // And again.
            wait_until_alone();
            fake.keep_all();
            let is_there = begin(|| is_right(fake, 4097)).join();
            assert!(is_there);
            is_still_armed();
        })
        .succeeds();
    }
}

/// A signal that stops a thread may come when it has just begun to wait in a call.
#[test]
fn nobody_is_told_that_he_was_interrupted() {
    with_threads(|fake| {
        let mut ends = [0; 2];
        // SAFETY: two numbers.
        unsafe { libc::pipe(ends.as_mut_ptr()) };
        let has_begun = &AtomicBool::new(false);
        let waits = begin(move || {
            let mut byte = 0u8;
            // Until then it has all signals blocked, and what is sent to it ends the interception.
            has_begun.store(true, Ordering::SeqCst);
            // SAFETY: a local variable.
            let read = unsafe { libc::read(ends[0], (&raw mut byte).cast(), 1) };
            (read, byte)
        });
        while !has_begun.load(Ordering::SeqCst) {
            std::hint::spin_loop();
        }
        for _ in 0..20 {
            let _inside = Inside::begin();
            threads::tell_others();
            // One that nothing would have come of, from somebody else.
            // SAFETY: a thread that is there.
            assert_eq!(unsafe { libc::pthread_kill(waits.thread, libc::SIGURG) }, 0);
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        // SAFETY: one byte.
        unsafe { libc::write(ends[1], [7u8].as_ptr().cast(), 1) };
        assert_eq!(waits.join(), (1, 7));
        assert!(is_right(fake, 3));
        is_still_armed();
    })
    .succeeds();
}

/// A signal that nothing would come of, sent to threads that have it blocked because they have only just begun: it ends the interception, and they go on.
#[test]
fn signals_come_to_threads_that_begin() {
    for _ in 0..20 {
        with_threads(|fake| {
            for _ in 0..20 {
                let thread = begin(|| is_right(fake, 5));
                // SAFETY: a thread that hasn't been joined.
                unsafe { gate_kill(thread.thread) };
                let other = begin(|| is_right(fake, 6000));
                assert!(thread.join() && other.join());
                wait_until_alone();
                fake.keep_all();
            }
        })
        .succeeds();
    }
}

/// Sends `SIGURG` to a thread, past the interception.
///
/// # Safety
/// It hasn't been joined.
unsafe fn gate_kill(thread: libc::pthread_t) {
    let _inside = Inside::begin();
    // SAFETY: promised by the caller.
    unsafe { libc::pthread_kill(thread, libc::SIGURG) };
}

/// Rounding and signals are what a thread has from the one that begins it.
#[test]
fn they_begin_with_what_they_would() {
    const UPWARDS: u32 = 0x5f80;
    let upwards = UPWARDS;
    with_threads(|fake| {
        let mask = || {
            let mut mask = 0u64;
            // SAFETY: only asks.
            unsafe { libc::syscall(libc::SYS_rt_sigprocmask, 0i64, 0i64, &raw mut mask, 8i64) };
            mask
        };
        let (usr, sys) = (1u64 << (libc::SIGUSR2 - 1), 1u64 << (libc::SIGSYS - 1));
        let set = usr | sys;
        // SAFETY: the child's own mask and registers.
        unsafe {
            libc::syscall(libc::SYS_rt_sigprocmask, 0i64, &raw const set, 0i64, 8i64);
            std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const upwards);
        }
        let found = begin(move || {
            let mut mxcsr = 0u32;
            // SAFETY: a local variable.
            unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut mxcsr) };
            let is_there = is_right(fake, 5);
            (mxcsr & !0x3f, mask() & set, is_there, is_armed())
        });
        assert_eq!(found.join(), (UPWARDS, set, true, true));
        is_still_armed();
        // SAFETY: only asks, and ends it.
        unsafe { libc::kill(libc::getpid(), 0) };
        let really = std::fs::read_to_string("/proc/self/status").unwrap();
        let blocked = really.lines().find_map(|line| line.strip_prefix("SigBlk:")).unwrap();
        assert_eq!(u64::from_str_radix(blocked.trim(), 16).unwrap() & set, set);
    })
    .succeeds();
}

/// A fault that is none of the keeper's ends the process, on any thread.
#[test]
fn faults_of_their_own_end_the_process() {
    with_threads(|_| {
        let faults = || {
            let nowhere = std::hint::black_box(8 as *const u8);
            // SAFETY: it faults.
            unsafe { nowhere.read_volatile() }
        };
        begin(faults).join();
    })
    .ends_by(libc::SIGSEGV);
    with_threads(|fake| {
        // A page that the program may not touch, which nobody keeps.
        let page = mapping();
        // SAFETY: of the mapping.
        unsafe { libc::mprotect(page as *mut _, PAGE as usize, libc::PROT_NONE) };
        let faults = move || {
            // SAFETY: it faults.
            is_right(fake, 3) && unsafe { (page as *const u8).read_volatile() } == 0
        };
        begin(faults).join();
    })
    .ends_by(libc::SIGSEGV);
}

/// Many that begin and end, load, store, ask the system and begin others, until one does what nobody knows.
#[test]
fn any_number_of_them() {
    for seed in 0..12u64 {
        with_threads(|fake| {
            let part = BYTES / 4;
            {
                let all: Vec<_> = (0..4u64)
                    .map(|number| {
                        begin(move || {
                            let mut state = seed * 4 + number + 1;
                            let mut next = move || {
                                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                                (state >> 33) as usize
                            };
                            for turn in 0..200 {
                                // Its own: neighbours share pages.
                                let at = next() % (part - 8) * 4 + number as usize;
                                match next() % 8 {
                                    0..3 => fake.byte(at).store(turn as u8, Ordering::Relaxed),
                                    3 => drop(std::fs::metadata("/")),
                                    4 => begin(|| fake.byte(at).store(1, Ordering::Relaxed)).join(),
                                    5 if turn > 150 => {
                                        // SAFETY: only asks.
                                        unsafe { libc::kill(libc::getpid(), 0) };
                                    }
                                    _ => {
                                        fake.byte(at).load(Ordering::Relaxed);
                                    }
                                }
                                let seen = next() % BYTES;
                                fake.byte(seen).load(Ordering::Relaxed);
                                fake.byte(at).store(200, Ordering::Relaxed);
                                assert_eq!(fake.byte(at).load(Ordering::Relaxed), 200);
                                fake.byte(at).store(expected(at), Ordering::Relaxed);
                            }
                        })
                    })
                    .collect();
                all.into_iter().for_each(|thread| thread.join());
            }
            assert!((0..BYTES).all(|at| is_right(fake, at)));
        })
        .succeeds();
    }
}
