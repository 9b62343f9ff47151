//! Each way to change a page is noticed, whoever does it. Where the system can't watch, that is said, and nothing is tested.

mod attacks;
mod ring;
mod ways;

use super::*;
use std::sync::Once;

const PAGES: u64 = 64;

/// New memory at an address, instead of memory of the test's; 0: anywhere.
fn map(address: u64, bytes: usize, kind: i32) -> *mut libc::c_void {
    let kind = kind | libc::MAP_ANONYMOUS | if address != 0 { libc::MAP_FIXED } else { 0 };
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: see above.
    let start = unsafe { libc::mmap(address as *mut libc::c_void, bytes, access, kind, -1, 0) };
    assert_ne!(start, libc::MAP_FAILED);
    start
}

/// Memory of our own.
struct Own(u64);

impl Own {
    fn new() -> Own {
        let start = map(0, Own::bytes(), libc::MAP_PRIVATE);
        // SAFETY: as much as was mapped.
        unsafe { start.cast::<u8>().write_bytes(1, Own::bytes()) };
        Own(start as u64)
    }
    /// Its pages moved to those of `to`.
    fn move_to(&self, to: &Own, from: u64, pages: u64, at: u64) {
        let (bytes, both) = ((pages * page()) as usize, libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED);
        // SAFETY: memory of the test's, which is moved over other memory of its own.
        let moved = unsafe { libc::mremap(self.page(from), bytes, bytes, both, to.page(at)) };
        assert_eq!(moved, to.page(at));
    }
    /// Some of its pages given back.
    fn give_back(&self, from: u64, to: u64) {
        // SAFETY: memory of the test's.
        assert_eq!(unsafe { libc::munmap(self.page(from), ((to - from) * page()) as usize) }, 0);
    }
    fn bytes() -> usize {
        (PAGES * page()) as usize
    }
    fn range(&self) -> Range {
        (self.0, self.0 + Own::bytes() as u64)
    }
    fn page(&self, number: u64) -> *mut libc::c_void {
        (self.0 + number * page()) as *mut libc::c_void
    }
    fn store(&self, number: u64) {
        // SAFETY: memory of the test's.
        unsafe { self.page(number).cast::<u8>().add(5).write_volatile(7) };
    }
    fn pages(&self, from: u64, to: u64) -> Vec<Range> {
        vec![(self.0 + from * page(), self.0 + to * page())]
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        // SAFETY: memory of the test's.
        unsafe { libc::munmap(self.page(0), Own::bytes()) };
    }
}

fn watched() -> Option<(Own, Watch)> {
    static SAID: Once = Once::new();
    allow(true);
    if !is_available() {
        SAID.call_once(|| eprintln!("SKIPPED: this system can't watch memory"));
        return None;
    }
    let own = Own::new();
    let watch = Watch::begin(&[own.range()]).expect("private anonymous memory");
    assert_eq!(watch.changed(), Some(Vec::new()));
    Some((own, watch))
}

fn path(name: &str) -> std::ffi::CString {
    std::ffi::CString::new(name).unwrap()
}

#[test]
fn stores_are_noticed() {
    let Some((own, watch)) = watched() else { return };
    own.store(3);
    assert_eq!(watch.changed(), Some(own.pages(3, 4)));
    // They stay what they are.
    own.store(4);
    assert_eq!(watch.changed(), Some(own.pages(3, 5)));
    std::thread::scope(|threads| {
        threads.spawn(|| own.store(9));
    });
    assert_eq!(watch.changed(), Some([own.pages(3, 5), own.pages(9, 10)].concat()));
}

#[test]
fn what_the_system_stores_is_noticed() {
    let Some((own, watch)) = watched() else { return };
    let (mut expected, mut at) = (Vec::new(), 0);
    let mut noticed = |pages: u64, what: &str| {
        expected.extend(own.pages(at, at + pages));
        assert_eq!(watch.changed(), Some(merged(expected.iter().copied())), "{what}");
        at += pages + 1;
        at
    };
    // SAFETY: memory of the test's, and files that it opens.
    unsafe {
        let zero = libc::open(path("/dev/zero").as_ptr(), libc::O_RDONLY);
        let two = 2 * page() as usize;
        assert_eq!(libc::read(zero, own.page(0), two), two as isize);
        let at = noticed(2, "read");
        let mut ends = [0; 2];
        assert_eq!(libc::pipe(ends.as_mut_ptr()), 0);
        assert_eq!(libc::write(ends[1], c"hello".as_ptr().cast(), 5), 5);
        let part = libc::iovec { iov_base: own.page(at), iov_len: 5 };
        assert_eq!(libc::readv(ends[0], &part, 1), 5);
        let at = noticed(1, "readv");
        let from = libc::iovec { iov_base: c"abc".as_ptr() as *mut _, iov_len: 3 };
        let to = libc::iovec { iov_base: own.page(at), iov_len: 3 };
        assert_eq!(libc::process_vm_writev(libc::getpid(), &from, 1, &to, 1, 0), 3);
        let at = noticed(1, "process_vm_writev");
        let memory = libc::open(path("/proc/self/mem").as_ptr(), libc::O_RDWR);
        assert_eq!(libc::pwrite(memory, c"x".as_ptr().cast(), 1, own.page(at) as i64), 1);
        let at = noticed(1, "/proc/self/mem");
        // Nothing else has changed.
        let mut there = 0u8;
        assert_eq!(libc::pread(memory, (&raw mut there).cast(), 1, own.page(at) as i64), 1);
        assert_eq!(there, 1);
        [zero, memory, ends[0], ends[1]].iter().for_each(|file| {
            libc::close(*file);
        });
    }
    noticed(0, "nothing");
}

#[test]
fn memory_that_is_dropped_or_replaced_is_noticed() {
    alone("memory_that_is_dropped_or_replaced_is_noticed", || {
        let Some((own, watch)) = watched() else { return };
        // SAFETY: memory of the test's.
        unsafe {
            assert_eq!(libc::madvise(own.page(1), 3 * page() as usize, libc::MADV_DONTNEED), 0);
            assert_eq!(watch.changed(), Some(own.pages(1, 4)));
            // Still there.
            assert_eq!(libc::mprotect(own.page(8), 4 * page() as usize, libc::PROT_READ), 0);
            assert_eq!(
                libc::mprotect(own.page(8), 4 * page() as usize, libc::PROT_READ | libc::PROT_WRITE),
                0
            );
            assert_eq!(watch.changed(), Some(own.pages(1, 4)));
            // Nothing there.
            own.give_back(20, 22);
            assert_eq!(watch.changed(), Some([own.pages(1, 4), own.pages(20, 22)].concat()));
            // Something else.
            map(own.page(20) as u64, 2 * page() as usize, libc::MAP_PRIVATE);
            assert_eq!(watch.changed(), None);
        }
    });
}

#[test]
fn large_holes_are_noticed() {
    alone("large_holes_are_noticed", || {
        let Some((_, _)) = watched() else { return };
        const HUGE: usize = 2 << 20;
        for huge in [false, true] {
            // SAFETY: memory of the test's.
            unsafe {
                let all = map(0, 6 * HUGE, libc::MAP_PRIVATE);
                let start = (all as usize).next_multiple_of(HUGE) as u64;
                let at = |n: u64| (start + n * HUGE as u64) as *mut libc::c_void;
                if huge {
                    libc::madvise(at(0), 5 * HUGE, libc::MADV_HUGEPAGE);
                }
                at(0).cast::<u8>().write_bytes(1, 5 * HUGE);
                let watch = Watch::begin(&[(start, start + 5 * HUGE as u64)]).unwrap();
                assert_eq!(watch.changed(), Some(Vec::new()));
                libc::madvise(at(1), HUGE, libc::MADV_DONTNEED);
                assert_eq!(watch.changed(), Some(vec![(at(1) as u64, at(2) as u64)]));
                libc::munmap(at(3), HUGE);
                assert_eq!(
                    watch.changed(),
                    Some(vec![(at(1) as u64, at(2) as u64), (at(3) as u64, at(4) as u64)])
                );
                libc::munmap(all, 6 * HUGE);
            }
        }
    });
}

#[test]
fn memory_that_moves_is_noticed() {
    alone("memory_that_moves_is_noticed", || {
        let Some((own, watch)) = watched() else { return };
        let elsewhere = Own::new();
        own.move_to(&elsewhere, 0, PAGES, 0);
        assert!(watch.changed().is_none_or(|changed| changed == vec![own.range()]));
        elsewhere.store(2);
        // And back: it isn't known what has happened there.
        elsewhere.move_to(&own, 0, PAGES, 0);
        assert_eq!(watch.changed(), None);
        std::mem::forget(elsewhere);
        let Some((own, watch)) = watched() else { return };
        let Some((other, others)) = watched() else { return };
        // Watched memory over watched memory.
        other.move_to(&own, 0, 4, 8);
        assert_eq!(watch.changed(), None);
        assert_eq!(others.changed(), Some(other.pages(0, 4)));
    });
}

#[test]
fn what_is_lost_is_not_found_again() {
    alone("what_is_lost_is_not_found_again", || {
        let Some((own, first)) = watched() else { return };
        let elsewhere = Own::new();
        own.move_to(&elsewhere, 0, PAGES, 0);
        elsewhere.store(2);
        elsewhere.move_to(&own, 0, PAGES, 0);
        std::mem::forget(elsewhere);
        let second = Watch::begin(&[own.range()]).unwrap();
        assert_eq!((first.changed(), second.changed()), (None, Some(Vec::new())));
        // Of a part of it somebody else knows.
        let third = Watch::begin(&own.pages(0, 8)).unwrap();
        own.give_back(4, 6);
        map(own.page(4) as u64, 2 * page() as usize, libc::MAP_PRIVATE);
        let fourth = Watch::begin(&own.pages(0, 16)).unwrap();
        assert_eq!((second.changed(), third.changed(), fourth.changed()), (None, None, Some(Vec::new())));
    });
}

#[test]
fn children_change_nothing() {
    let Some((own, watch)) = watched() else { return };
    // SAFETY: the child only stores, asks and ends.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            own.store(1);
            // It is asked about this process's memory, which isn't watched.
            let knows = TRACKER.try_lock().is_ok_and(|tracker| {
                let own = tracker.as_ref().and_then(|tracker| tracker.descriptors.as_ref()?.as_ref());
                own.is_some_and(Descriptors::are_ours)
            });
            libc::_exit(i32::from(knows));
        }
        let mut status = -1;
        assert_eq!(libc::waitpid(child, &raw mut status, 0), child);
        assert_eq!(status, 0);
    }
    assert_eq!(watch.changed(), Some(Vec::new()));
    own.store(1);
    assert_eq!(watch.changed(), Some(own.pages(1, 2)));
}

#[test]
fn several_may_watch_the_same() {
    let Some((own, first)) = watched() else { return };
    own.store(5);
    let second = Watch::begin(&[own.range()]).unwrap();
    assert_eq!(first.changed(), Some(own.pages(5, 6)));
    assert_eq!(second.changed(), Some(Vec::new()));
    own.store(6);
    assert_eq!(first.changed(), Some(own.pages(5, 7)));
    assert_eq!(second.changed(), Some(own.pages(6, 7)));
    drop(first);
    own.store(8);
    assert_eq!(second.changed(), Some([own.pages(6, 7), own.pages(8, 9)].concat()));
    // A part of it, of which something is let go with whom it isn't shared.
    let third = Watch::begin(&[(own.0 + 3, own.0 + page() + 3)]).unwrap();
    drop(second);
    own.store(1);
    assert_eq!(third.changed(), Some(own.pages(1, 2)));
}

#[test]
fn shared_memory_and_files_are_not_watched() {
    let Some((own, _)) = watched() else { return };
    let shared = map(0, Own::bytes(), libc::MAP_SHARED) as u64;
    assert!(Watch::begin(&[(shared, shared + page())]).is_none());
    assert!(Watch::begin(&[(shared, shared + page()), own.range()]).is_none());
    // SAFETY: mapped just now.
    unsafe { libc::munmap(shared as *mut libc::c_void, Own::bytes()) };
    assert!(Watch::begin(&[]).is_none());
}

#[test]
fn ranges_are_sets() {
    let all = [(0, 10), (20, 30), (40, 50)];
    assert_eq!(without(&all, &[(5, 25), (45, 60)]), [(0, 5), (25, 30), (40, 45)]);
    assert_eq!(without(&all, &[(2, 3), (4, 5)]), [(0, 2), (3, 4), (5, 10), (20, 30), (40, 50)]);
    assert_eq!(without(&all, &[(0, 100)]), []);
    assert_eq!(without(&all, &[]), all);
    assert_eq!(common(&all, &[(5, 25), (45, 60)]), [(5, 10), (20, 25), (45, 50)]);
    assert_eq!(merged([(4, 6), (0, 4), (5, 9), (3, 3), (12, 13)].into_iter()), [(0, 9), (12, 13)]);
}

/// Runs a test alone, in a process of its own; its name below this module's and what it does. What tests map meanwhile must not lie where others have unmapped
/// something to put it back there, and their descriptors are seen by all.
fn alone(name: &str, test: impl FnOnce()) {
    const WHO: &str = "PARAGON_TEST_ALONE";
    if std::env::var_os(WHO).is_some() {
        return test();
    }
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.env(WHO, "1").args(["--exact", &format!("memory::tracking::tests::{name}"), "--nocapture"]);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    said.lines().filter(|line| line.contains("SKIPPED")).for_each(|line| eprintln!("{line}"));
}

#[test]
fn descriptors_that_are_closed_end_it() {
    alone("descriptors_that_are_closed_end_it", || {
        let Some((own, watch)) = watched() else { return };
        // SAFETY: nobody else has files here that are needed; numbers from three on are all closed, and given to something else.
        unsafe {
            for file in 3..1000 {
                libc::close(file);
            }
            let zero = libc::open(path("/dev/zero").as_ptr(), libc::O_RDONLY);
            for file in 3..1000 {
                if file != zero {
                    libc::dup2(zero, file);
                }
            }
        }
        own.store(2);
        assert_eq!(watch.changed(), None);
        assert!(Watch::begin(&[own.range()]).is_none());
        drop(watch);
        // What was opened meanwhile isn't closed.
        // SAFETY: no preconditions.
        assert!((3..1000).all(|file| unsafe { libc::fcntl(file, libc::F_GETFD) } >= 0));
    });
}

#[test]
fn who_may_have_pinned_memory_is_seen() {
    alone("who_may_have_pinned_memory_is_seen", || {
        let Some((own, _)) = watched() else { return };
        let begins = || Watch::begin(&[own.range()]).is_some();
        assert!(begins());
        // What this system doesn't give can't pin anything.
        let pins = |file: i32| {
            if file >= 0 {
                assert!(!begins());
                // SAFETY: a file of the test's.
                unsafe { libc::close(file) };
            }
            assert!(begins());
        };
        // SAFETY: files of the test's, and no pointers but to a structure of zeros that is as long as the largest of them.
        unsafe {
            let mut parameters = [0u64; 32];
            pins(libc::syscall(libc::SYS_io_uring_setup, 4, parameters.as_mut_ptr()) as i32);
            pins(libc::socket(libc::AF_PACKET, libc::SOCK_RAW, 0));
            pins(libc::open(path("/tmp").as_ptr(), libc::O_TMPFILE | libc::O_RDWR | libc::O_DIRECT, 0o600));
            let mut context = 0u64;
            if libc::syscall(libc::SYS_io_setup, 4, &raw mut context) == 0 {
                assert!(!begins());
                libc::syscall(libc::SYS_io_destroy, context);
            }
            assert!(begins());
        }
        allow(false);
        assert!(!begins());
    });
}

/// What it costs: `cargo test --release -- --ignored --nocapture what_watching_costs`
#[test]
#[ignore = "it measures"]
fn what_watching_costs() {
    use crate::device::pool::Pool;
    use crate::memory::safe_copy;
    use std::time::Instant;
    allow(true);
    let pool = Pool::default();
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get()).min(16);
    eprintln!("available: {}, {threads} threads; microseconds, best of 9", is_available());
    for shift in [16, 18, 20, 22, 24, 26, 28] {
        let bytes = 1usize << shift;
        let mut memory = vec![1u8; bytes + 8192];
        let copy = memory[4096..4096 + bytes].to_vec();
        let range = (memory.as_ptr() as u64 + 4096, memory.as_ptr() as u64 + 4096 + bytes as u64);
        let time = |what: &mut dyn FnMut()| {
            let once = |what: &mut dyn FnMut()| {
                let started = Instant::now();
                what();
                started.elapsed().as_nanos() as f64 / 1e3
            };
            (0..9).map(|_| once(what)).fold(f64::MAX, f64::min)
        };
        let compared = time(&mut || assert!(safe_copy::equals(&pool, threads, range.0, &copy)));
        let begun = time(&mut || drop(Watch::begin(&[range])));
        let watch = Watch::begin(&[range]);
        let asked = time(&mut || assert!(watch.as_ref().is_none_or(|watch| watch.changed().is_some())));
        let mut at = 0;
        let stored = time(&mut || {
            for _ in 0..8 {
                memory[4096 + at % bytes] = 1;
                at += 4096;
            }
        });
        eprintln!(
            "{:>8} KiB: compared {compared:9.1}, begun {begun:9.1}, asked {asked:8.1}, eight first stores {stored:6.1}",
            bytes >> 10
        );
    }
}
