//! What made it lie once (`docs/measurements/2026-11-25-tracking-attacked.md`).

use super::ring::Ring;
use super::*;
use std::sync::atomic::AtomicU64;

/// A file of eights.
fn eights() -> i32 {
    // SAFETY: a file of the test's.
    unsafe {
        let file = libc::open(path("/tmp").as_ptr(), libc::O_TMPFILE | libc::O_RDWR, 0o600);
        assert!(file >= 0);
        assert_eq!(libc::write(file, [8u8; 8192].as_ptr().cast(), 8192), 8192);
        file
    }
}

/// Another userfaultfd, with its own ways.
fn another() -> Descriptors {
    Descriptors::open().expect("there is one already")
}

#[test]
fn somebody_elses_registration_is_none() {
    alone("attacks::somebody_elses_registration_is_none", || {
        let Some((own, watch)) = watched() else { return };
        // The program maps something else there, and protects it itself.
        let anew = map(own.0, Own::bytes(), libc::MAP_PRIVATE);
        // SAFETY: as much as was mapped.
        unsafe { anew.cast::<u8>().write_bytes(1, Own::bytes()) };
        let theirs = another();
        theirs.register(own.range()).unwrap();
        theirs.protect(own.range(), true).unwrap();
        assert_eq!(watch.changed(), None);
        // Nor does asking make it ours.
        drop(theirs);
        assert_eq!(watch.changed(), None);
    });
}

#[test]
fn who_protects_all_memory_anew_ends_it() {
    alone("attacks::who_protects_all_memory_anew_ends_it", || {
        let Some((own, watch)) = watched() else { return };
        own.store(3);
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let theirs = another();
        for line in maps.lines().filter(|line| line.contains(" rw-p ")) {
            let (lo, hi) = line.split_once(' ').unwrap().0.split_once('-').unwrap();
            let hex = |text| u64::from_str_radix(text, 16).unwrap();
            let _ = theirs.protect((hex(lo), hex(hi)), true);
        }
        assert_eq!(watch.changed(), None);
        drop(theirs);
        assert_eq!(watch.changed(), None);
    });
}

#[test]
fn pinned_memory_shows_where_no_descriptor_does() {
    alone("attacks::pinned_memory_shows_where_no_descriptor_does", || {
        let Some((own, watch)) = watched() else { return };
        let (Some(ring), file) = (Ring::new(), eights()) else {
            eprintln!("SKIPPED: no rings without descriptors");
            return;
        };
        // Pinned while it is watched: that is a store.
        assert!(ring.pin((own.0, own.0 + page())));
        assert_eq!(watch.changed(), Some(own.pages(0, 1)));
        // And afterwards none is seen.
        let second = Watch::begin(&[own.range()]);
        assert!(ring.read(file, (own.0, own.0 + 8), true));
        // SAFETY: memory of the test's.
        assert_eq!(unsafe { own.page(0).cast::<u8>().read_volatile() }, 8);
        let knows = second.as_ref().is_none_or(|second| second.changed() != Some(Vec::new()));
        assert!(knows, "pinned pages were stored to");
        assert!(second.is_none());
        assert!(ring.unpin());
        drop(ring);
        assert!(Watch::begin(&[own.range()]).is_some());
    });
}

#[test]
fn other_lists_of_descriptors_pin_too() {
    alone("attacks::other_lists_of_descriptors_pin_too", || {
        let Some((own, _)) = watched() else { return };
        let mut begins = false;
        let (pinned, asked) = (std::sync::Barrier::new(2), std::sync::Barrier::new(2));
        std::thread::scope(|threads| {
            threads.spawn(|| {
                // SAFETY: concerns this thread only.
                unsafe { assert_eq!(libc::unshare(libc::CLONE_FILES), 0) };
                let ring = Ring::new();
                let pins = ring.as_ref().is_some_and(|ring| ring.pin(own.range()));
                pinned.wait();
                asked.wait();
                assert!(!pins || ring.unwrap().unpin());
            });
            pinned.wait();
            begins = Watch::begin(&[own.range()]).is_some();
            asked.wait();
        });
        assert!(!begins);
    });
}

/// Pages that are pinned right before they are protected, while it is looked whether there are any.
#[test]
fn who_pins_at_the_same_time_is_seen() {
    alone("attacks::who_pins_at_the_same_time_is_seen", || {
        let Some((own, _)) = watched() else { return };
        let Some(ring) = Ring::new() else { return };
        drop(ring);
        // Odd: pinned.
        let (state, ends) = (AtomicU64::new(0), AtomicBool::new(false));
        let mut begun = 0;
        std::thread::scope(|threads| {
            threads.spawn(|| {
                let ring = Ring::new().unwrap();
                while !ends.load(Ordering::SeqCst) {
                    assert!(ring.pin((own.0, own.0 + page())));
                    state.fetch_add(1, Ordering::SeqCst);
                    for _ in 0..100 {
                        std::thread::yield_now();
                    }
                    state.fetch_add(1, Ordering::SeqCst);
                    assert!(ring.unpin());
                    std::thread::sleep(std::time::Duration::from_micros(50));
                }
            });
            for _ in 0..3000 {
                let Some(watch) = Watch::begin(&[own.range()]) else { continue };
                let before = state.load(Ordering::SeqCst);
                let changed = watch.changed();
                if before % 2 == 1 && state.load(Ordering::SeqCst) == before && changed == Some(Vec::new()) {
                    ends.store(true, Ordering::SeqCst);
                    panic!("pinned, protected and not told, after {begun}");
                }
                begun += 1;
            }
            ends.store(true, Ordering::SeqCst);
        });
        eprintln!("{begun} watches began");
    });
}

/// In a namespace of its own a child has its parent's number if that has one, too.
#[test]
fn a_child_with_its_parents_number_is_a_child() {
    alone("attacks::a_child_with_its_parents_number_is_a_child", || {
        // SAFETY: children that ask, and end.
        unsafe {
            let first = |work: &dyn Fn() -> i32| {
                if libc::unshare(libc::CLONE_NEWPID) != 0 {
                    return None;
                }
                let child = libc::fork();
                if child == 0 {
                    libc::_exit(work());
                }
                let mut status = -1;
                assert_eq!(libc::waitpid(child, &raw mut status, 0), child);
                Some(libc::WEXITSTATUS(status))
            };
            let answer = first(&|| {
                assert_eq!(libc::getpid(), 1);
                let Some((own, watch)) = watched() else { return 2 };
                first(&|| {
                    assert_eq!(libc::getpid(), 1);
                    own.store(1);
                    i32::from(watch.changed().is_some())
                })
                .unwrap_or(2)
            });
            match answer {
                None | Some(2) => eprintln!("SKIPPED: no namespaces, or nothing to watch"),
                answer => assert_eq!(answer, Some(0), "it took its parent's pages for its own"),
            }
        }
    });
}

#[test]
fn devices_are_known_by_what_they_are() {
    alone("attacks::devices_are_known_by_what_they_are", || {
        let Some((own, _)) = watched() else { return };
        let name = format!("/tmp/paragon-device-{}", std::process::id());
        // SAFETY: a device of the test's; the null device, by another name, and one that could do anything.
        unsafe {
            for (device, may) in [(libc::makedev(1, 3), true), (libc::makedev(10, 229), false)] {
                if libc::mknod(path(&name).as_ptr(), libc::S_IFCHR | 0o600, device) != 0 {
                    eprintln!("SKIPPED: no devices can be made");
                    return;
                }
                let file = libc::open(path(&name).as_ptr(), libc::O_RDWR);
                libc::unlink(path(&name).as_ptr());
                if file >= 0 {
                    assert_eq!(Watch::begin(&[own.range()]).is_some(), may, "{device}");
                    libc::close(file);
                }
            }
        }
    });
}

#[test]
fn what_cant_be_opened_leaves_nothing_open() {
    alone("attacks::what_cant_be_opened_leaves_nothing_open", || {
        // SAFETY: no pointers.
        let is_open = |file: &i32| unsafe { libc::fcntl(*file, libc::F_GETFD) } >= 0;
        let open = || (0..200).filter(is_open).count();
        let before = open();
        // There is room for one of the two.
        let limit = libc::rlimit { rlim_cur: 65, rlim_max: 65 };
        // SAFETY: a limit of this process.
        unsafe { assert_eq!(libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit), 0) };
        assert!(Descriptors::open().is_none());
        assert_eq!(open(), before);
    });
}

/// A device so deep in folders that the system doesn't tell where it is.
#[test]
fn devices_without_a_path_are_devices() {
    alone("attacks::devices_without_a_path_are_devices", || {
        let Some((own, _)) = watched() else { return };
        let name = format!("/tmp/paragon-deep-{}", std::process::id());
        let part = path(&"x".repeat(200));
        let made = |name: &std::ffi::CStr| {
            // SAFETY: folders and a device of the test's.
            unsafe { libc::mkdir(name.as_ptr(), 0o700) == 0 && libc::chdir(name.as_ptr()) == 0 }
        };
        assert!(made(&path(&name)) && (0..30).all(|_| made(&part)));
        // SAFETY: as above.
        let file = unsafe {
            libc::mknod(c"device".as_ptr(), libc::S_IFCHR | 0o600, libc::makedev(10, 229));
            libc::open(c"device".as_ptr(), libc::O_RDWR)
        };
        let begins = Watch::begin(&[own.range()]).is_some();
        // SAFETY: as above.
        unsafe {
            libc::unlink(c"device".as_ptr());
            for _ in 0..30 {
                libc::chdir(c"..".as_ptr());
                libc::rmdir(part.as_ptr());
            }
            libc::chdir(c"..".as_ptr());
            libc::rmdir(path(&name).as_ptr());
        }
        match file {
            -1 => eprintln!("SKIPPED: no devices can be made"),
            _ => assert!(!begins),
        }
    });
}
