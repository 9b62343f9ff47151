//! Where nothing is armed.

use super::*;
use crate::memory::coherence::arenas;

fn refused() -> Option<Refusal> {
    let _inside = Inside::begin();
    let refused = arm(Fake::new()).err();
    if refused.is_none() {
        disarm();
    }
    refused
}

/// Threads that may be given what the program has freed.
#[test]
fn shared_allocators_are() {
    child(|| {
        arenas::note_first([0u64, 0x2011, 0, 0][2..].as_ptr().cast());
        assert_eq!(refused(), Some(Refusal::Allocator));
        arenas::forget();
        assert_eq!(refused(), None);
        for (name, setting) in [("MALLOC_ARENA_MAX", "2"), ("GLIBC_TUNABLES", "glibc.malloc.arena_test=1")] {
            // SAFETY: in a child, of one thread.
            unsafe { std::env::set_var(name, setting) };
            assert_eq!(refused(), Some(Refusal::Allocator), "{name}");
            // SAFETY: as above.
            unsafe { std::env::remove_var(name) };
        }
    })
    .succeeds();
}

extern "C" fn handler(_: i32) {}

/// A thread that lives as long as the other end does.
fn beside(name: Option<&str>) -> (std::sync::mpsc::Sender<()>, std::thread::JoinHandle<()>) {
    let (sender, receiver) = std::sync::mpsc::channel::<()>();
    let (begun, begins) = std::sync::mpsc::channel::<()>();
    let builder = std::thread::Builder::new();
    let builder = name.map_or(std::thread::Builder::new(), |name| builder.name(name.into()));
    let thread = builder.spawn(move || {
        begun.send(()).unwrap();
        let _ = receiver.recv();
    });
    begins.recv().unwrap();
    (sender, thread.unwrap())
}

#[test]
fn a_program_with_nothing_special_is_not_refused() {
    child(|| assert_eq!(refused(), None)).succeeds();
    // SAFETY: in a child of its own.
    child(|| unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_IGN);
        assert_eq!(refused(), None);
    })
    .succeeds();
}

/// What comes home may be more than the program may have by then.
#[test]
fn limits_are() {
    child(|| {
        let limit = libc::rlimit { rlim_cur: 1 << 40, rlim_max: libc::RLIM_INFINITY };
        // SAFETY: in a child of its own.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_DATA, &raw const limit) }, 0);
        assert_eq!(refused(), Some(Refusal::Limited));
    })
    .succeeds();
}

#[test]
fn handlers_are() {
    for signal in [libc::SIGUSR1, libc::SIGSEGV, libc::SIGSYS, libc::SIGCHLD, 31, 40, 64] {
        child(|| {
            // SAFETY: a function that does nothing.
            unsafe { libc::signal(signal, handler as *const () as libc::sighandler_t) };
            assert_eq!(refused(), Some(Refusal::Handler));
        })
        .succeeds();
    }
    for signal in [libc::SIGSEGV, libc::SIGSYS] {
        child(|| {
            // SAFETY: no handler.
            unsafe { libc::signal(signal, libc::SIG_IGN) };
            assert_eq!(refused(), Some(Refusal::Handler));
        })
        .succeeds();
    }
    // The C library's own signals, by somebody else.
    for signal in [32, 33] {
        child(|| {
            let action = Action { handler: handler as *const () as u64, ..Action::ours(on_fault) };
            // SAFETY: nobody sends it.
            assert!(unsafe { action.set(signal) });
            assert_eq!(refused(), Some(Refusal::Handler));
        })
        .succeeds();
    }
}

#[test]
fn blocked_faults_are() {
    for (signal, refusal) in [
        (libc::SIGSEGV, Some(Refusal::Blocked)),
        (libc::SIGSYS, Some(Refusal::Blocked)),
        (libc::SIGUSR1, None),
    ] {
        child(|| {
            // SAFETY: in a child of its own.
            unsafe {
                let mut set = std::mem::zeroed();
                libc::sigemptyset(&raw mut set);
                libc::sigaddset(&raw mut set, signal);
                libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
            }
            assert_eq!(refused(), refusal);
        })
        .succeeds();
    }
}

#[test]
fn threads_are_but_for_ours() {
    for (name, refusal) in [
        (None, Some(Refusal::Threads)),
        (Some("worker"), Some(Refusal::Threads)),
        (Some("paragon-x"), Some(Refusal::Threads)),
        // Nobody has loaded the driver.
        (Some("cuda-EvtHandlr"), Some(Refusal::Threads)),
        (Some("paragon"), None),
        (Some("paragon-cmt"), None),
        (Some("paragon-cuda"), None),
        (Some("paragon-watch"), None),
    ] {
        child(|| {
            let (end, thread) = beside(name);
            assert_eq!(refused(), refusal, "{name:?}");
            drop(end);
            thread.join().unwrap();
        })
        .succeeds();
    }
    child(|| {
        crate::memory::tracking::driver_is_loaded(true);
        let (_end, _thread) = beside(Some("cuda-EvtHandlr"));
        assert_eq!(refused(), None);
        crate::memory::tracking::driver_is_loaded(false);
        assert_eq!(refused(), Some(Refusal::Threads));
    })
    .succeeds();
    child(|| assert_eq!(std::thread::spawn(refused).join().unwrap(), Some(Refusal::Thread))).succeeds();
    // Its threads would be called like ours.
    // SAFETY: a name.
    child(|| unsafe {
        libc::prctl(libc::PR_SET_NAME, c"paragon".as_ptr());
        assert_eq!(refused(), Some(Refusal::Threads));
    })
    .succeeds();
}

#[test]
fn tracers_filters_and_keys_are() {
    // SAFETY: each in a child of its own.
    child(|| unsafe {
        libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0);
        assert_eq!(refused(), Some(Refusal::Traced));
    })
    .succeeds();
    // SAFETY: as above; the filter allows everything.
    child(|| unsafe {
        let mut allow = libc::sock_filter { code: 6, jt: 0, jf: 0, k: 0x7fff_0000 };
        let program = libc::sock_fprog { len: 1, filter: &raw mut allow };
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        assert_eq!(libc::prctl(libc::PR_SET_SECCOMP, 2, &raw const program), 0);
        assert_eq!(refused(), Some(Refusal::Filtered));
    })
    .succeeds();
    // SAFETY: as above.
    child(|| unsafe {
        let key = libc::syscall(libc::SYS_pkey_alloc, 0, 0);
        let refusal = refused();
        assert_eq!(refusal, (key >= 0).then_some(Refusal::Keys));
        libc::syscall(libc::SYS_pkey_free, key);
        assert_eq!(refused(), None);
    })
    .succeeds();
}

/// What another test has open when a child begins isn't the child's.
#[test]
fn what_is_open_elsewhere_is_not() {
    let elsewhere = std::fs::File::open("/proc/self/maps").unwrap();
    child(|| assert_eq!(refused(), None)).succeeds();
    drop(elsewhere);
}

#[test]
fn descriptors_to_memory_are() {
    for path in ["/proc/self/mem", "/proc/self/maps", "/proc/1/stat"] {
        child(|| {
            let file = std::fs::File::open(path).unwrap();
            assert_eq!(refused(), Some(Refusal::Descriptor), "{path}");
            drop(file);
            assert_eq!(refused(), None);
        })
        .succeeds();
    }
    child(|| {
        let _file = std::fs::File::open("/proc/self/pagemap").unwrap();
        assert_eq!(refused(), None);
    })
    .succeeds();
    // SAFETY: as above; the structure is larger than the kernel's.
    child(|| unsafe {
        let mut parameters = [0u32; 64];
        let ring = libc::syscall(libc::SYS_io_uring_setup, 4, parameters.as_mut_ptr());
        if ring >= 0 {
            assert_eq!(refused(), Some(Refusal::Descriptor));
        }
    })
    .succeeds();
}

/// What is read past all caches arrives when it likes, beside what loops use too.
#[test]
fn transfers_that_nobody_waits_for_are() {
    // SAFETY: in a child; the structure is the kernel's own word.
    child(|| unsafe {
        let mut context = 0u64;
        if libc::syscall(libc::SYS_io_setup, 4, &raw mut context) == 0 {
            assert_eq!(refused(), Some(Refusal::Descriptor));
            libc::syscall(libc::SYS_io_destroy, context);
        }
        assert_eq!(refused(), None);
    })
    .succeeds();
}

/// Where a loop is entered the runtime has signals wait, which says nothing about the program.
#[test]
fn what_the_runtime_blocks_itself_is_no_obstacle() {
    child(|| {
        let _inside = Inside::begin();
        let _signals = crate::signals::Deferred::new();
        assert_eq!(alone::check(), Ok(()));
    })
    .succeeds();
}
