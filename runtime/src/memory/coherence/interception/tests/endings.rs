//! Signals do what they would have done, and the process ends as it would have.

use super::*;
use std::time::Duration;

#[test]
fn crashes_end_it() {
    // SAFETY: meant to fault.
    child(|| unsafe {
        let _ = Fake::all_away();
        std::ptr::read_volatile(std::hint::black_box(8usize) as *const u8);
    })
    .ends_by(libc::SIGSEGV);
    // SAFETY: as above: code can't be stored to.
    child(|| unsafe {
        let _ = Fake::all_away();
        std::ptr::write_volatile(crashes_end_it as *const () as *mut u8, 1);
    })
    .ends_by(libc::SIGSEGV);
    // SAFETY: as above: no address of the processor's.
    child(|| unsafe {
        let _ = Fake::all_away();
        std::ptr::read_volatile(std::hint::black_box(1usize << 63) as *const u8);
    })
    .ends_by(libc::SIGSEGV);
    // SAFETY: as above: data isn't code.
    child(|| unsafe {
        let fake = Fake::all_away();
        let function: extern "C" fn() = std::mem::transmute(fake.start);
        function();
    })
    .ends_by(libc::SIGSEGV);
    // SAFETY: as above.
    child(|| unsafe {
        let _ = Fake::all_away();
        std::arch::asm!("int3");
    })
    .ends_by(libc::SIGTRAP);
    child(|| {
        let _ = Fake::all_away();
        std::process::abort();
    })
    .ends_by(libc::SIGABRT);
}

#[test]
fn everything_is_home_when_it_crashes() {
    let seen = mapping_shared();
    child(|| {
        static SEEN: AtomicU64 = AtomicU64::new(0);
        struct Tells(&'static Fake);
        impl Keeper for Tells {
            fn fault(&self, address: u64, stores: bool) -> bool {
                self.0.fault(address, stores)
            }
            fn touch(&self, lo: u64, hi: u64, stores: bool) {
                self.0.touch(lo, hi, stores);
            }
            fn keeps(&self, lo: u64, hi: u64) -> bool {
                self.0.keeps(lo, hi)
            }
            fn keeps_any(&self) -> bool {
                true
            }
            fn reaches(&self, _: u64, _: u64) -> bool {
                false
            }
            fn bring_home(&self) {
                self.0.bring_home();
                // SAFETY: a mapping that stays.
                unsafe { AtomicU64::from_ptr(SEEN.load(Ordering::Relaxed) as *mut u64) }
                    .fetch_add(1, Ordering::Relaxed);
            }
        }
        SEEN.store(seen, Ordering::Relaxed);
        let inside = Inside::begin();
        let fake = Fake::new();
        arm(Box::leak(Box::new(Tells(fake)))).unwrap();
        (0..PAGES).for_each(|page| fake.keep(page));
        drop(inside);
        // SAFETY: meant to fault.
        unsafe { std::ptr::read_volatile(std::hint::black_box(8usize) as *const u8) };
    })
    .ends_by(libc::SIGSEGV);
    // SAFETY: as above.
    assert_eq!(unsafe { (seen as *const u64).read() }, 1);
}

/// Memory that children share.
fn mapping_shared() -> u64 {
    let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
    // SAFETY: new memory.
    unsafe { libc::mmap(std::ptr::null_mut(), PAGE as usize, access, kind, -1, 0) as u64 }
}

#[test]
fn a_full_stack_ends_it() {
    #[allow(unconditional_recursion)]
    fn deeper(depth: u64) -> u64 {
        let here = std::hint::black_box([depth; 64]);
        deeper(depth + 1) + here[depth as usize % 64]
    }
    child(|| {
        let _ = Fake::all_away();
        std::hint::black_box(deeper(0));
    })
    .ends_by(libc::SIGSEGV);
}

#[test]
fn what_is_sent_arrives() {
    // SAFETY: to itself.
    child(|| unsafe {
        let _ = Fake::all_away();
        libc::raise(libc::SIGSEGV);
    })
    .ends_by(libc::SIGSEGV);
    for signal in
        [libc::SIGSEGV, libc::SIGSYS, libc::SIGBUS, libc::SIGINT, libc::SIGTERM, libc::SIGKILL, libc::SIGFPE]
    {
        // While it computes, while it waits in a system call, and while the runtime works.
        for way in 0..3 {
            let begun = mapping_shared();
            let child = child(|| {
                let fake = Fake::all_away();
                let mut ends = [0; 2];
                // SAFETY: a mapping that stays; a pipe that nobody reads.
                unsafe {
                    libc::pipe(ends.as_mut_ptr());
                    libc::fcntl(ends[1], libc::F_SETPIPE_SZ, 4096);
                    (begun as *mut u64).write_volatile(1);
                    match way {
                        0 => while (begun as *const u64).read_volatile() == 1 {},
                        1 => {
                            libc::write(ends[1], fake.pointer(0), BYTES);
                        }
                        _ => {
                            let _inside = Inside::begin();
                            libc::write(ends[1], [1u8; 8192].as_ptr().cast(), 8192);
                        }
                    }
                }
            });
            // SAFETY: a mapping that stays; a child of ours.
            unsafe {
                while (begun as *const u64).read_volatile() == 0 {
                    std::thread::yield_now();
                }
                std::thread::sleep(Duration::from_millis(20));
                libc::kill(child.0, signal);
            }
            child.ends_by(signal);
        }
    }
}

#[test]
fn what_is_stopped_goes_on() {
    let child = child(|| {
        let fake = Fake::all_away();
        let time = fake.pointer::<libc::timespec>(4096 - 8);
        // SAFETY: of the mapping.
        unsafe {
            time.write_unaligned(libc::timespec { tv_sec: 0, tv_nsec: 300_000_000 });
            fake.keep_all();
            let start = std::time::Instant::now();
            assert_eq!(libc::syscall(libc::SYS_nanosleep, time, 0), 0);
            assert!(start.elapsed() >= Duration::from_millis(300));
            is_still_armed();
            assert_eq!(time.cast::<[u64; 2]>().read_unaligned(), [0, 300_000_000]);
        }
    });
    for signal in [libc::SIGSTOP, libc::SIGCONT, libc::SIGSTOP, libc::SIGCONT] {
        std::thread::sleep(Duration::from_millis(50));
        // SAFETY: a child of ours.
        unsafe { libc::kill(child.0, signal) };
    }
    child.succeeds();
}

#[test]
fn a_pipe_that_nobody_reads_ends_it() {
    // SAFETY: of the mapping.
    let write = |fake: &Fake| unsafe {
        let mut ends = [0; 2];
        libc::pipe(ends.as_mut_ptr());
        libc::close(ends[0]);
        libc::write(ends[1], fake.pointer(100), 10)
    };
    child(|| {
        write(Fake::all_away());
    })
    .ends_by(libc::SIGPIPE);
    child(|| {
        // SAFETY: no handler.
        unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
        assert_eq!((write(Fake::all_away()), errno::get()), (-1, libc::EPIPE));
        is_still_armed();
    })
    .succeeds();
}

#[test]
fn it_ends_by_itself() {
    for (way, status) in [(0, 7), (1, 8), (2, 9)] {
        let child = child(|| {
            let _ = Fake::all_away();
            // SAFETY: ends the process.
            unsafe {
                match way {
                    0 => libc::_exit(7),
                    1 => libc::syscall(libc::SYS_exit, 8),
                    _ => libc::syscall(libc::SYS_exit_group, 9),
                }
            };
        });
        assert_eq!(child.status(), status << 8);
    }
}

#[test]
fn longjmp_leaves_nothing_behind() {
    // A way out of the program's code while the runtime waits for it: the selector stands where the program's is.
    child(|| {
        let fake = Fake::all_away();
        let inside = Inside::begin();
        let left = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            inside.outside(|| std::panic::resume_unwind(Box::new(())))
        }));
        assert!(left.is_err());
        std::mem::forget(inside);
        // SAFETY: asks for nothing.
        unsafe { libc::kill(libc::getpid(), 0) };
        assert!(!is_armed() && fake.is_home());
    })
    .succeeds();
}
