//! What system calls and the C library do with memory that is kept away.

use super::*;
use crate::memory::coherence::interception::calls::found_no_room;
use std::ffi::{c_char, c_int, c_void};

const AT: usize = 3 * PAGE as usize - 100;

fn bytes(at: usize, count: usize) -> Vec<u8> {
    (at..at + count).map(expected).collect()
}

/// A file with nothing in it that nobody else sees.
fn file() -> c_int {
    // SAFETY: a name.
    let file = unsafe { libc::memfd_create(c"test".as_ptr(), 0) };
    assert!(file >= 0);
    file
}

fn content(file: c_int) -> Vec<u8> {
    let mut read = vec![0; 1 << 20];
    // SAFETY: as long as it says.
    let length = unsafe { libc::pread(file, read.as_mut_ptr().cast(), read.len(), 0) };
    read.truncate(usize::try_from(length).unwrap());
    read
}

/// Puts a string to a page's end, over its edge, and has it kept.
fn text(fake: &'static Fake, text: &str) -> *mut c_char {
    let at = 5 * PAGE as usize - 4;
    for (offset, byte) in text.bytes().chain([0]).enumerate() {
        fake.byte(at + offset).store(byte, Ordering::Relaxed);
    }
    fake.keep_all();
    fake.pointer(at)
}

#[test]
fn the_kernel_reads_what_belongs_there() {
    let file = file();
    // SAFETY: of the mapping.
    child(|| unsafe {
        let fake = Fake::all_away();
        assert_eq!(libc::write(file, fake.pointer(AT), 1000), 1000);
        assert_eq!(libc::pwrite(file, fake.pointer(AT), 5000, 1000), 5000);
        // Pages that are only read stay the same elsewhere.
        assert_eq!((fake.state(2), fake.state(4), fake.state(5)), (SAME, SAME, AWAY));
        let vectors = fake.pointer::<libc::iovec>(9 * PAGE as usize - 24);
        for entry in 0..3 {
            let at = AT + 2000 * entry;
            let entry_bytes = libc::iovec { iov_base: fake.pointer(at), iov_len: 2000 };
            vectors.add(entry).write_unaligned(entry_bytes);
        }
        fake.keep_all();
        assert_eq!(libc::pwritev(file, vectors, 3, 6000), 6000);
        assert!((2..=4).all(|page| fake.state(page) == SAME) && fake.state(5) == AWAY);
        is_still_armed();
    })
    .succeeds();
    let written = [bytes(AT, 1000), bytes(AT, 5000), bytes(AT, 6000)].concat();
    assert!(content(file) == written);
}

#[test]
fn the_kernel_writes_where_it_is_wanted() {
    let file = file();
    let put: Vec<u8> = (0..20000u32).map(|byte| (byte % 253) as u8).collect();
    // SAFETY: as long as it says.
    unsafe { libc::pwrite(file, put.as_ptr().cast(), put.len(), 0) };
    // SAFETY: of the mapping.
    child(|| unsafe {
        let fake = Fake::all_away();
        assert_eq!(libc::pread(file, fake.pointer(AT), 5000, 70), 5000);
        // Fewer than are asked for: what is behind them is as it was.
        assert_eq!(libc::pread(file, fake.pointer(8 * PAGE as usize), 9000, 19000), 1000);
        let vectors =
            [7000usize, 17000].map(|at| libc::iovec { iov_base: fake.pointer(at + 30000), iov_len: 3 });
        assert_eq!(libc::preadv(file, vectors.as_ptr(), 2, 5), 6);
        is_still_armed();
        for at in 0..BYTES {
            let byte = fake.byte(at).load(Ordering::Relaxed);
            let wanted = match at {
                AT.. if at < AT + 5000 => put[at - AT + 70],
                32768.. if at < 33768 => put[at - 32768 + 19000],
                37000..37003 => put[at - 37000 + 5],
                47000..47003 => put[at - 47000 + 8],
                _ => expected(at),
            };
            assert_eq!(byte, wanted, "{at}");
        }
        is_still_armed();
        let (status, clock) = (fake.pointer::<libc::stat>(AT), fake.pointer::<libc::timespec>(AT + 8000));
        fake.keep_all();
        assert_eq!(libc::fstat(file, status.cast()), 0);
        assert_eq!(status.cast::<u8>().add(48).cast::<i64>().read_unaligned(), 20000);
        assert_eq!(libc::syscall(libc::SYS_clock_gettime, libc::CLOCK_REALTIME, clock), 0);
        let seconds = clock.cast::<i64>().read_unaligned();
        assert!((seconds - libc::time(std::ptr::null_mut())).abs() < 100);
        // By the kernel's page of functions, without a call.
        fake.keep_all();
        assert_eq!(libc::clock_gettime(libc::CLOCK_REALTIME, clock), 0);
        assert!((seconds - clock.cast::<i64>().read_unaligned()).abs() < 100);
        let ends = fake.pointer::<c_int>(AT);
        assert_eq!(libc::pipe(ends), 0);
        fake.keep_all();
        let ends = [ends.read_unaligned(), ends.add(1).read_unaligned()];
        assert_eq!(libc::write(ends[1], c"pipe".as_ptr().cast(), 4), 4);
        let mut polled = libc::pollfd { fd: ends[0], events: libc::POLLIN, revents: 0 };
        let poll = fake.pointer::<libc::pollfd>(8);
        poll.write(polled);
        fake.keep_all();
        assert_eq!(libc::poll(poll, 1, 1000), 1);
        polled = poll.read();
        assert_eq!(polled.revents, libc::POLLIN);
        fake.keep_all();
        assert_eq!(libc::ioctl(ends[0], libc::FIONREAD, fake.pointer::<c_int>(AT)), 0);
        assert_eq!(fake.pointer::<c_int>(AT).read_unaligned(), 4);
        let name = fake.pointer::<libc::utsname>(AT);
        assert_eq!(libc::uname(name), 0);
        is_still_armed();
    })
    .succeeds();
}

#[test]
fn strings_are_read_as_far_as_they_go() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file").to_str().unwrap().to_owned();
    std::os::unix::fs::symlink("where it leads", folder.path().join("link")).unwrap();
    // SAFETY: of the mapping.
    child(|| unsafe {
        let fake = Fake::new();
        let file = libc::open(text(fake, &path), libc::O_CREAT | libc::O_RDWR, 0o600);
        assert!(file >= 0);
        fake.keep_all();
        assert_eq!(libc::access(text(fake, &path), libc::R_OK), 0);
        let status = fake.pointer::<libc::stat>(AT);
        assert_eq!(libc::stat(text(fake, &path), status), 0);
        assert_eq!(libc::unlink(text(fake, &path)), 0);
        assert_eq!((libc::access(text(fake, &path), libc::R_OK), errno::get()), (-1, libc::ENOENT));
        let link = path.replace("/file", "/link");
        let to = fake.pointer::<c_char>(9 * PAGE as usize - 3);
        assert_eq!(libc::readlink(text(fake, &link), to, 100), 14);
        assert_eq!(std::slice::from_raw_parts(to.cast::<u8>(), 14), b"where it leads");
        is_still_armed();
    })
    .succeeds();
}

#[test]
fn bad_pointers_are_the_kernels_to_refuse() {
    let file = file();
    // SAFETY: of the mapping, or what the kernel refuses.
    child(|| unsafe {
        let fake = Fake::all_away();
        let bad = 0x1000usize;
        let fails = |result: isize| (result, errno::get()) == (-1, libc::EFAULT) && is_armed();
        assert!(fails(libc::write(file, bad as *const c_void, 10)));
        assert!(fails(libc::read(libc::open(c"/dev/zero".as_ptr(), 0), bad as *mut c_void, 10)));
        assert!(fails(libc::open(bad as *const c_char, 0) as isize));
        assert!(fails(libc::access(usize::MAX as *const c_char, 0) as isize));
        let vector = libc::iovec { iov_base: bad as *mut c_void, iov_len: 4 };
        assert!(fails(libc::writev(file, &raw const vector, 1)));
        assert!(fails(libc::syscall(libc::SYS_uname, bad) as isize));
        // The program's own length may be too long.
        assert_eq!(libc::write(-1, fake.pointer(AT), usize::MAX), -1);
        assert_eq!(errno::get(), libc::EBADF);
        assert!(is_armed());
        // A vector that isn't there can't be looked at: the program asks for itself.
        assert_eq!((libc::writev(file, bad as *const _, 2), errno::get()), (-1, libc::EFAULT));
        assert!(!is_armed() && fake.is_home());
    })
    .succeeds();
}

#[test]
fn errno_is_what_the_call_leaves() {
    // SAFETY: of the mapping.
    child(|| unsafe {
        let fake = Fake::all_away();
        errno::set(7);
        assert!(libc::getppid() > 0 && errno::get() == 7);
        let file = libc::open(c"/dev/null".as_ptr(), libc::O_WRONLY);
        assert_eq!(libc::write(file, fake.pointer(AT), 5000), 5000);
        assert_eq!(errno::get(), 7);
        assert_eq!((libc::write(-1, fake.pointer(0), 5), errno::get()), (-1, libc::EBADF));
        errno::set(7);
        assert_eq!(libc::kill(libc::getpid(), 0), 0);
        assert!(!is_armed() && errno::get() == 7);
    })
    .succeeds();
}

extern "C" fn order(left: *const c_void, right: *const c_void) -> c_int {
    // SAFETY: of the array that is sorted.
    unsafe { left.cast::<u32>().read().cmp(&right.cast::<u32>().read()) as c_int }
}

#[test]
fn the_c_library_works_on_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file").to_str().unwrap().to_owned();
    // SAFETY: of the mapping.
    child(|| unsafe {
        let fake = Fake::new();
        let stream = libc::fopen(text(fake, &path), c"w+".as_ptr());
        assert!(!stream.is_null());
        // Large ones go past the stream's buffer.
        assert_eq!(libc::fwrite(fake.pointer(AT), 1, 20, stream), 20);
        assert_eq!(libc::fwrite(fake.pointer(6 * PAGE as usize), 1, 30000, stream), 30000);
        let printed = libc::fprintf(stream, c"%.*s|%d".as_ptr(), 4, text(fake, "abcdef"), 17);
        assert_eq!(printed, 7);
        assert_eq!(libc::fflush(stream), 0);
        libc::rewind(stream);
        fake.keep_all();
        let to = fake.pointer::<u8>(PAGE as usize);
        assert_eq!(libc::fread(to.cast(), 1, 40000, stream), 30027);
        assert_eq!(std::slice::from_raw_parts(to, 20), bytes(AT, 20));
        assert_eq!(std::slice::from_raw_parts(to.add(30020), 7), b"abcd|17");
        libc::fclose(stream);
        // The stream's buffer itself.
        let stream = libc::fopen(text(fake, &path), c"w".as_ptr());
        libc::setvbuf(stream, fake.pointer(AT), libc::_IOFBF, 6000);
        for _ in 0..2000 {
            fake.keep_all();
            libc::fputs(c"0123456789".as_ptr(), stream);
        }
        libc::fclose(stream);
        is_still_armed();
        let inside = Inside::begin();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "0123456789".repeat(2000));
        fake.bring_home();
        for at in 0..BYTES / 4 {
            fake.pointer::<u32>(4 * at).write((at as u32).wrapping_mul(2654435761));
        }
        drop(inside);
        fake.keep_all();
        libc::qsort(fake.pointer(0), BYTES / 4, 4, Some(order));
        assert!(std::slice::from_raw_parts(fake.pointer::<u32>(0), BYTES / 4).is_sorted());
        fake.keep_all();
        libc::memcpy(fake.pointer(PAGE as usize + 3), fake.pointer(8 * PAGE as usize), 3 * PAGE as usize);
        let same =
            libc::memcmp(fake.pointer(PAGE as usize + 3), fake.pointer(8 * PAGE as usize), 3 * PAGE as usize);
        assert_eq!(same, 0);
        fake.keep_all();
        assert_eq!(libc::strlen(text(fake, "length")), 6);
        is_still_armed();
    })
    .succeeds();
}

#[test]
fn what_nothing_is_known_about_ends_it_first() {
    type Way = (&'static str, fn(&'static Fake) -> bool);
    // SAFETY: of the mapping, each in a child of its own.
    let ways: [Way; 21] = unsafe {
        [
            ("sigaction", |_| {
                let mut old: libc::sigaction = std::mem::zeroed();
                libc::sigaction(libc::SIGSEGV, std::ptr::null(), &raw mut old) == 0
                    && old.sa_sigaction == libc::SIG_DFL
            }),
            ("sigpending", |_| {
                let mut set = std::mem::zeroed();
                libc::sigpending(&raw mut set) == 0 && libc::sigismember(&raw const set, libc::SIGSYS) == 0
            }),
            ("sigaltstack", |_| {
                let mut old: libc::stack_t = std::mem::zeroed();
                libc::sigaltstack(std::ptr::null(), &raw mut old) == 0 && old.ss_size != STACK
            }),
            ("fork", |fake| {
                let child = libc::fork();
                if child == 0 {
                    libc::_exit(i32::from(fake.byte(AT).load(Ordering::Relaxed) == expected(AT)));
                }
                let mut status = 0;
                libc::waitpid(child, &raw mut status, 0) == child && libc::WEXITSTATUS(status) == 1
            }),
            ("a thread", |fake| {
                let byte = fake.byte(AT);
                std::thread::spawn(|| byte.load(Ordering::Relaxed) == expected(AT)).join().unwrap()
            }),
            ("system", |_| libc::system(c"exit 3".as_ptr()) == 3 << 8),
            ("execve", |_| {
                libc::execve(c"/nowhere".as_ptr(), std::ptr::null(), std::ptr::null()) == -1
                    && errno::get() == libc::ENOENT
            }),
            ("another program", |_| {
                std::process::Command::new("true").status().is_ok_and(|status| status.success())
            }),
            ("prctl", |_| libc::prctl(libc::PR_GET_DUMPABLE) >= 0),
            ("no call", |_| libc::syscall(1000) == -1 && errno::get() == libc::ENOSYS),
            ("a call of the other kind", |_| {
                libc::syscall(0x4000_0027) == -1 || errno::get() != libc::EFAULT
            }),
            ("kill", |_| libc::kill(libc::getpid(), 0) == 0),
            ("process_vm_readv", |fake| {
                let mut byte = 0u8;
                let to = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
                let from = libc::iovec { iov_base: fake.pointer(AT), iov_len: 1 };
                libc::process_vm_readv(libc::getpid(), &raw const to, 1, &raw const from, 1, 0) == 1
                    && byte == expected(AT)
            }),
            ("munmap", |fake| {
                libc::munmap(fake.pointer(4 * PAGE as usize), PAGE as usize) == 0 && {
                    // It isn't there, so that nobody looks.
                    libc::mmap(
                        fake.pointer(4 * PAGE as usize),
                        PAGE as usize,
                        libc::PROT_READ | libc::PROT_WRITE,
                        libc::MAP_FIXED | libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                        -1,
                        0,
                    ) == fake.pointer(4 * PAGE as usize)
                        && fake.byte(4 * PAGE as usize).load(Ordering::Relaxed) == 0
                }
            }),
            ("mmap over it", |fake| {
                let at = fake.pointer::<c_void>(4 * PAGE as usize);
                let kind = libc::MAP_FIXED | libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
                libc::mmap(at, PAGE as usize, libc::PROT_READ, kind, -1, 0) == at
                    && fake.byte(4 * PAGE as usize).load(Ordering::Relaxed) == 0
            }),
            ("mprotect", |fake| libc::mprotect(fake.pointer(4 * PAGE as usize), 10, libc::PROT_READ) == 0),
            ("madvise", |fake| {
                let at = 4 * PAGE as usize;
                libc::madvise(fake.pointer(at), 1, libc::MADV_DONTNEED) == 0
                    && fake.byte(at).load(Ordering::Relaxed) == 0
                    && fake.byte(at + PAGE as usize).load(Ordering::Relaxed) == expected(at + PAGE as usize)
            }),
            ("mremap", |fake| {
                let at = 4 * PAGE as usize;
                let new =
                    libc::mremap(fake.pointer(at), PAGE as usize, 2 * PAGE as usize, libc::MREMAP_MAYMOVE);
                new != libc::MAP_FAILED && new.cast::<u8>().read() == expected(at)
            }),
            ("the process's own files", |_| {
                let file = libc::open(c"/proc/self/status".as_ptr(), libc::O_RDONLY);
                let mut read = [0u8; 4096];
                let length = libc::read(file, read.as_mut_ptr().cast(), 4096);
                let text = String::from_utf8_lossy(&read[..length as usize]).into_owned();
                let caught = text.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
                u64::from_str_radix(caught.trim(), 16).unwrap() & (1 << 10 | 1 << 30) == 0
            }),
            ("the process's memory", |fake| {
                let file = libc::open(c"/proc/self/mem".as_ptr(), libc::O_RDONLY);
                let mut byte = 0u8;
                let at = fake.pointer::<u8>(AT) as i64;
                libc::pread(file, (&raw mut byte).cast(), 1, at) == 1 && byte == expected(AT)
            }),
            ("32 bits", |_| {
                let mut result = 20i64;
                std::arch::asm!("int 0x80", inout("rax") result, lateout("r8") _, lateout("r9") _, lateout("r10") _, lateout("r11") _);
                result == i64::from(std::process::id()) || result == -i64::from(libc::ENOSYS)
            }),
        ]
    };
    for (name, way) in ways {
        child(|| {
            let fake = Fake::all_away();
            assert!(way(fake), "{name}");
            assert!(!is_armed() && (0..PAGES).all(|page| fake.state(page) == HOME), "{name}");
            // SAFETY: of the mapping.
            if !["munmap", "mmap over it", "mprotect", "madvise", "mremap"].contains(&name) {
                assert!((0..BYTES).all(|at| fake.byte(at).load(Ordering::Relaxed) == expected(at)), "{name}");
            }
        })
        .succeeds();
    }
}

#[test]
fn masks_of_signals_change() {
    // SAFETY: of the mapping, and the child's own mask.
    child(|| unsafe {
        let fake = Fake::all_away();
        let bit = |signal: c_int| 1u64 << (signal - 1);
        let of = |how: c_int, set: u64, before: u64, bytes: u64| {
            let result = libc::syscall(libc::SYS_rt_sigprocmask, i64::from(how), set, before, bytes);
            if result == 0 { 0 } else { errno::get() }
        };
        let now = || {
            let mut mask = 0u64;
            assert_eq!(of(libc::SIG_BLOCK, 0, &raw mut mask as u64, 8), 0);
            mask
        };
        // Both sets are in memory that is kept away, over the edge of a page.
        let (set, before) = (fake.pointer::<u64>(5 * PAGE as usize - 4), fake.pointer::<u64>(AT));
        let first = now();
        let usual = bit(libc::SIGUSR1) | bit(libc::SIGTERM) | bit(libc::SIGKILL);
        set.write_unaligned(usual);
        fake.keep_all();
        assert_eq!(of(libc::SIG_BLOCK, set as u64, before as u64, 8), 0);
        assert_eq!(before.read_unaligned(), first);
        assert_eq!(now(), first | usual & !bit(libc::SIGKILL));
        let one = bit(libc::SIGTERM);
        assert_eq!(of(libc::SIG_UNBLOCK, &raw const one as u64, 0, 8), 0);
        assert_eq!(now(), first | bit(libc::SIGUSR1));
        assert_eq!(of(libc::SIG_SETMASK, &raw const one as u64, 0, 8), 0);
        assert_eq!(now(), one);
        is_still_armed();
        // By the same set before and after, and what is in it last is what was.
        let mut both = bit(libc::SIGUSR2);
        let at = &raw mut both as u64;
        assert_eq!(of(libc::SIG_SETMASK, at, at, 8), 0);
        assert_eq!((both, now()), (one, bit(libc::SIGUSR2)));
        is_still_armed();
        // What no mask is changed by asks whether there is memory: there is, also where it is kept away.
        fake.keep_all();
        assert_eq!(of(77, set as u64, 0, 8), libc::EINVAL);
        assert_eq!(of(77, 8, 0, 8), libc::EFAULT);
        assert_eq!((set.read_unaligned(), now()), (usual, bit(libc::SIGUSR2)));
        is_still_armed();
    })
    .succeeds();
    // What fails is the kernel's to refuse.
    type Case = (c_int, bool, bool, u64, u64, i32, bool);
    let cases: [Case; 3] = [
        (libc::SIG_SETMASK, true, false, 4, 2, libc::EINVAL, false),
        (libc::SIG_SETMASK, false, false, 8, 2, libc::EFAULT, false),
        (libc::SIG_SETMASK, true, true, 8, 2, libc::EFAULT, true),
    ];
    for (how, has_set, has_bad_before, bytes, wanted, expected_error, changes) in cases {
        // SAFETY: as above.
        child(|| unsafe {
            let fake = Fake::all_away();
            let nowhere = 8u64;
            let set = if has_set { &raw const wanted as u64 } else { nowhere };
            let before = if has_bad_before { nowhere } else { 0 };
            let result = libc::syscall(libc::SYS_rt_sigprocmask, i64::from(how), set, before, bytes);
            assert_eq!(if result == 0 { 0 } else { errno::get() }, expected_error);
            assert!(!is_armed() && (0..PAGES).all(|page| fake.state(page) == HOME));
            let mut mask = 0u64;
            libc::syscall(libc::SYS_rt_sigprocmask, 0i64, 0i64, &raw mut mask, 8i64);
            assert_eq!(mask & wanted != 0, changes);
        })
        .succeeds();
    }
}

/// The program is told that they are blocked, and they are as soon as nothing is kept away.
#[test]
fn signals_of_faults_are_blocked_behind_it() {
    // SAFETY: the child's own mask.
    child(|| unsafe {
        let fake = Fake::all_away();
        let bit = |signal: c_int| 1u64 << (signal - 1);
        let of = |how: c_int, set: u64| {
            let mut before = 0u64;
            let result = libc::syscall(
                libc::SYS_rt_sigprocmask,
                i64::from(how),
                &raw const set,
                &raw mut before,
                8i64,
            );
            assert_eq!(result, 0);
            before
        };
        let first = of(libc::SIG_BLOCK, bit(libc::SIGSEGV) | bit(libc::SIGSYS) | bit(libc::SIGUSR1));
        assert_eq!(fake.byte(9).load(Ordering::Relaxed), expected(9));
        let all = first | bit(libc::SIGSEGV) | bit(libc::SIGSYS) | bit(libc::SIGUSR1);
        assert_eq!(of(libc::SIG_UNBLOCK, bit(libc::SIGSEGV)), all);
        assert_eq!(of(libc::SIG_BLOCK, 0), all & !bit(libc::SIGSEGV));
        assert!(is_in_the_way());
        is_still_armed();
        let blocked = |field: &str| {
            let status = std::fs::read_to_string("/proc/self/status").unwrap();
            let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap();
            u64::from_str_radix(line.trim(), 16).unwrap()
        };
        assert_eq!(blocked("SigBlk:"), all & !bit(libc::SIGSEGV));
        assert!(!is_armed() && !is_in_the_way());
        // It waits.
        libc::kill(libc::getpid(), libc::SIGSYS);
        assert_eq!(blocked("ShdPnd:") & bit(libc::SIGSYS), bit(libc::SIGSYS));
        libc::sigaction(
            libc::SIGSYS,
            &libc::sigaction { sa_sigaction: libc::SIG_IGN, ..std::mem::zeroed() },
            std::ptr::null_mut(),
        );
        of(libc::SIG_SETMASK, first);
    })
    .succeeds();
    // Sent by somebody else, while the program takes it for blocked.
    // SAFETY: as above.
    child(|| unsafe {
        let fake = Fake::all_away();
        let set = 1u64 << (libc::SIGSYS - 1);
        libc::syscall(libc::SYS_rt_sigprocmask, libc::SIG_BLOCK as i64, &raw const set, 0i64, 8i64);
        is_still_armed();
        gate::call(libc::SYS_kill as u64, [std::process::id().into(), libc::SIGSYS as u64, 0, 0, 0, 0]);
        assert!(!is_armed() && fake.is_home());
        let mut waits = 0u64;
        libc::syscall(libc::SYS_rt_sigpending, &raw mut waits, 8i64);
        assert_eq!(waits & set, set);
    })
    .succeeds();
}

/// A signal that the program has blocked, and that comes while code of the runtime runs: nothing that is away is forgotten, and the signal waits.
#[test]
fn blocked_signals_wait_until_the_runtime_is_left() {
    for signal in SIGNALS {
        // SAFETY: the child's own mask and signals.
        child(|| unsafe {
            let fake = Fake::all_away();
            let set = 1u64 << (signal - 1);
            libc::syscall(libc::SYS_rt_sigprocmask, libc::SIG_BLOCK as i64, &raw const set, 0i64, 8i64);
            let inside = Inside::begin();
            libc::kill(libc::getpid(), signal);
            assert!(is_armed() && !fake.is_home());
            drop(inside);
            assert!(!is_armed() && fake.is_home());
            let mut waits = 0u64;
            libc::syscall(libc::SYS_rt_sigpending, &raw mut waits, 8i64);
            assert_eq!(waits & set, set);
            assert!((0..BYTES).all(|at| fake.byte(at).load(Ordering::Relaxed) == expected(at)));
        })
        .succeeds();
    }
}

#[test]
fn mappings_beside_it_may_change() {
    // SAFETY: of mappings of its own.
    child(|| unsafe {
        let fake = Fake::new();
        let other = mapping();
        fake.keep_all();
        let large = libc::malloc(1 << 24).cast::<u8>();
        large.write_bytes(1, 1 << 24);
        libc::free(large.cast());
        let heap = libc::sbrk(0);
        libc::brk(heap.byte_add(1 << 20));
        libc::brk(heap);
        assert_eq!(libc::mprotect(other as *mut c_void, BYTES, libc::PROT_READ), 0);
        let moved = libc::mremap(other as *mut c_void, BYTES, 2 * BYTES, libc::MREMAP_MAYMOVE);
        assert_ne!(moved, libc::MAP_FAILED);
        assert_eq!(libc::madvise(moved, BYTES, libc::MADV_DONTNEED), 0);
        assert_eq!(libc::munmap(moved, 2 * BYTES), 0);
        is_still_armed();
        assert!((0..PAGES).all(|page| fake.state(page) == AWAY));
    })
    .succeeds();
}

#[test]
fn registers_flags_and_the_red_zone_are_kept() {
    child(|| {
        let fake = Fake::all_away();
        let number = libc::SYS_getppid as u64;
        let (result, kept, direction): (u64, u64, u64);
        // SAFETY: a system call without effects, below the stack pointer what belongs to this code by then.
        unsafe {
            std::arch::asm!(
                "sub rsp, 1024",
                "mov qword ptr [rsp - 8], 77",
                "mov qword ptr [rsp - 128], 78",
                "mov r8, 8", "mov r9, 9", "mov r10, 10", "mov r12, 12", "mov r13, 13", "mov r14, 14", "mov r15, 15",
                "movq xmm9, r13",
                "std",
                "syscall",
                "pushfq",
                "pop rdx",
                "cld",
                "movq rcx, xmm9",
                "add rcx, r8", "add rcx, r9", "add rcx, r10", "add rcx, r12", "add rcx, r13", "add rcx, r14", "add rcx, r15",
                "add rcx, [rsp - 128]",
                "add rsp, 1024",
                inout("rax") number => result,
                out("rcx") kept,
                out("rdx") direction,
                out("r8") _, out("r9") _, out("r10") _, out("r11") _, out("r12") _, out("r13") _, out("r14") _, out("r15") _,
                out("xmm9") _,
            );
        }
        assert_eq!(kept, 13 + 8 + 9 + 10 + 12 + 13 + 14 + 15 + 78);
        assert!(direction & 1 << 10 != 0);
        // SAFETY: no preconditions.
        assert_eq!(result, unsafe { libc::getppid() } as u64);
        is_still_armed();
        let _ = fake;
    })
    .succeeds();
}

#[test]
fn the_programs_stack_may_be_away_or_end() {
    child(|| {
        let fake = Fake::all_away();
        let end = fake.start + 8 * PAGE;
        let result: u64;
        // SAFETY: another stack for a while.
        unsafe {
            std::arch::asm!(
                "mov r12, rsp",
                "mov rsp, {end}",
                "push {end}",
                "mov rsp, {low}",
                "push {end}",
                "mov rax, {number}",
                "syscall",
                "pop rcx",
                "mov rsp, r12",
                end = in(reg) end,
                // The first page's first bytes: nothing is below them.
                low = in(reg) fake.start + 8,
                number = const libc::SYS_getppid,
                out("rax") result, out("rcx") _, out("r11") _, out("r12") _,
            );
        }
        // SAFETY: no preconditions.
        assert_eq!(result, unsafe { libc::getppid() } as u64);
        is_still_armed();
        assert_eq!((fake.state(0), fake.state(7), fake.state(6)), (HOME, HOME, AWAY));
        // SAFETY: of the mapping.
        unsafe {
            assert_eq!(fake.pointer::<u64>(8 * PAGE as usize - 8).read(), end);
        }
    })
    .succeeds();
}

#[test]
fn the_oldest_calls_find_it_too() {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    if !maps.contains("[vsyscall]") {
        return;
    }
    child(|| {
        let fake = Fake::all_away();
        // SAFETY: where the kernel has had `time` since ever.
        let seconds = unsafe {
            let time: extern "C" fn(*mut i64) -> i64 = std::mem::transmute(0xffff_ffff_ff60_0400usize);
            time(fake.pointer(AT + 4))
        };
        // SAFETY: of the mapping.
        assert_eq!(unsafe { fake.pointer::<i64>(AT + 4).read_unaligned() }, seconds);
        assert!(!is_armed() && fake.is_home());
    })
    .succeeds();
}

#[test]
fn what_may_be_the_drivers_is_closed_when_everything_is_home() {
    type Close = fn(c_int) -> c_int;
    // SAFETY: descriptors of the child's own.
    let ways: [Close; 3] = unsafe {
        [
            |file| libc::close(file),
            |file| libc::dup2(1, file),
            |file| libc::syscall(libc::SYS_close_range, file, file, 0) as c_int,
        ]
    };
    for (number, close) in ways.into_iter().enumerate() {
        // SAFETY: as above.
        child(|| unsafe {
            let file = libc::eventfd(0, 0);
            let fake = Fake::all_away();
            assert!(close(file) >= 0);
            assert!(!is_armed() && fake.state(3) == HOME);
        })
        .succeeds();
        // What anybody has is closed as ever.
        if number < 2 {
            // SAFETY: as above.
            child(|| unsafe {
                let file = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR);
                let fake = Fake::all_away();
                assert!(close(file) >= 0);
                assert!(fake.state(3) == AWAY);
                is_still_armed();
            })
            .succeeds();
        }
    }
}

/// Each call takes ten times as long as it would: programs that go on to make many are left alone.
#[test]
fn many_calls_end_it() {
    /// A call of the program's. Whether it has ended the interception.
    fn ends() -> bool {
        // SAFETY: no preconditions.
        unsafe { libc::syscall(libc::SYS_getppid) };
        !is_armed()
    }
    let calls_until_it_ends = || (1..=2 * MOST_CALLS).find(|_| ends()).unwrap();
    child(|| {
        let fake = Fake::all_away();
        assert_eq!(calls_until_it_ends(), MOST_CALLS);
        assert!(fake.is_home());
        // Anew, from the first on.
        let fake = Fake::all_away();
        assert!((1..MOST_CALLS / 2).all(|_| !ends()));
        assert_eq!(calling_ns(), (MOST_CALLS / 2 - 1) * CALL_NS);
        assert_eq!(calls_until_it_ends(), MOST_CALLS);
        assert!(fake.is_home());
    })
    .succeeds();
    // Where everything is home nothing is lost.
    child(|| {
        let fake = Fake::all_away();
        for page in 0..PAGES {
            fake.byte(page * PAGE as usize).store(1, Ordering::Relaxed);
        }
        assert_eq!(calls_until_it_ends(), CALLS_FOR_NOTHING);
    })
    .succeeds();
}

/// The system bears so many pieces of memory, of which some are there only because something is kept away.
#[test]
fn mappings_that_find_no_room_are_made_without_it() {
    const TOO_LARGE: usize = 1 << 46;
    // SAFETY: a new mapping, which can't be had.
    child(|| unsafe {
        let fake = Fake::all_away();
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let map = |bytes| libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_READ, kind, -1, 0);
        assert_eq!(libc::munmap(map(PAGE as usize), PAGE as usize), 0);
        is_still_armed();
        assert_eq!(map(2 * TOO_LARGE), libc::MAP_FAILED);
        assert_eq!(errno::get(), libc::ENOMEM);
        assert!(!is_armed() && fake.is_home());
    })
    .succeeds();
    // What goes on behind a hole has done its part.
    // SAFETY: of a mapping of its own.
    child(|| unsafe {
        let holes = mapping();
        assert_eq!(libc::munmap((holes + PAGE) as *mut c_void, PAGE as usize), 0);
        Fake::all_away();
        assert_eq!(libc::madvise(holes as *mut c_void, 3 * PAGE as usize, libc::MADV_DONTNEED), -1);
        assert_eq!(errno::get(), libc::ENOMEM);
        is_still_armed();
    })
    .succeeds();
    let none = -i64::from(libc::ENOMEM);
    let found = |number: i64, arguments: [u64; 6], result| found_no_room(number as u64, &arguments, result);
    let fixed = libc::MAP_FIXED as u64;
    assert!(found(libc::SYS_mmap, [0, PAGE, 0, 0, 0, 0], none));
    assert!(!found(libc::SYS_mmap, [PAGE, PAGE, 0, fixed, 0, 0], none));
    assert!(found(libc::SYS_mremap, [PAGE, PAGE, 2 * PAGE, 0, 0, 0], none));
    assert!(!found(libc::SYS_mremap, [PAGE, 2 * PAGE, PAGE, 0, 0, 0], none));
    assert!(!found(libc::SYS_mprotect, [PAGE, PAGE, 0, 0, 0, 0], none));
    assert!(found(libc::SYS_brk, [4 * PAGE, 0, 0, 0, 0, 0], PAGE as i64));
    assert!(!found(libc::SYS_brk, [4 * PAGE, 0, 0, 0, 0, 0], 4 * PAGE as i64));
    assert!(!found(libc::SYS_brk, [0; 6], PAGE as i64));
}
