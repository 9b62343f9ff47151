//! Who may store to memory without any page table's knowledge: devices, and the system for rings, to pages that were pinned before they were protected. A page that
//! is pinned afterwards is written then, to a scan. Nobody tells which pages are pinned, so what could have done it is looked for: whether the system counts any as
//! pinned (rings and networks are counted, whoever has the descriptor; drivers of GPUs aren't), descriptors that are nothing known, and libraries for networks and
//! accelerators. Where there is any, nothing is watched.
//!
//! Reads that are under way past all caches pin pages, too, until they end. Whoever has them end while a loop reads the same bytes has a race of his own, so that
//! such descriptors needn't be found at all costs.

use super::Range;
use super::descriptors::Descriptors;
use std::collections::BTreeMap;
use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// What descriptors may lead to that are no files, as the process's list of them tells.
const HARMLESS: [&str; 5] = [
    "pipe:",
    "anon_inode:[eventpoll]",
    "anon_inode:[eventfd]",
    "anon_inode:[timerfd]",
    "anon_inode:[signalfd]",
];
/// The driver of GPUs, and what of it lets disks store to memory.
const OF_DRIVER: &str = "/dev/nvidia";
const OF_DISKS: &str = "/dev/nvidia-fs";

/// Libraries that pin memory, by how their names begin.
const PINNING: [&str; 18] = [
    "libcudart",
    "libnccl",
    "libamdhip",
    "libhsa-",
    "libOpenCL",
    "libze_",
    "libibverbs",
    "librdmacm",
    "libmpi",
    "libucp",
    "libuct",
    "libfabric",
    "libpsm",
    "libportals",
    "librte_",
    "libxdp",
    "libaio",
    "liburing",
];

/// What the driver's library is called.
const DRIVER: &[u8] = b"libcuda";

/// Libraries that call functions whose names come from anywhere: interpreters' and compilers'.
const CALLING: [&str; 7] =
    ["libffi", "_ctypes", "libluajit", "libjvm", "libjulia", "libcoreclr", "libmonosgen"];

/// Libraries that come with the driver, which load kernels for us.
const OURS: [&str; 3] = ["libcuda.", "libnvidia", "libnvrtc"];

/// Whether nobody but the runtime has the GPU's driver.
static DRIVER_IS_OURS: AtomicBool = AtomicBool::new(false);

/// The driver is about to be loaded; by us alone, as far as can be seen.
pub fn driver_is_loaded(is_first: bool) {
    DRIVER_IS_OURS.store(is_first, Ordering::Relaxed);
}

/// Whether the driver is loaded, by us alone.
pub fn driver_is_ours() -> bool {
    DRIVER_IS_OURS.load(Ordering::Relaxed)
}

/// Whether there is somebody who may. `own`: what the runtime has open itself.
pub fn is_possible(own: Option<&Descriptors>) -> bool {
    if is_pinned() {
        return true;
    }
    let own = own.map(|own| own.protection);
    let Ok(list) = std::fs::read_dir("/proc/self/fd") else { return true };
    let mut has_driver = false;
    for entry in list {
        let Ok(entry) = entry else { return true };
        let Some(number) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else {
            return true;
        };
        if Some(number) == own {
            continue;
        }
        let target = match std::fs::read_link(entry.path()) {
            Ok(target) => target,
            // It may have been the list's own.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(_) => return true,
        };
        let Some(target) = target.to_str() else { return true };
        has_driver |= target.starts_with(OF_DRIVER);
        // Unless somebody has closed it meanwhile.
        if !is_harmless(number, target) && entry.path().symlink_metadata().is_ok() {
            return true;
        }
    }
    let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else { return true };
    has_driver && !driver_is_ours() || maps.lines().any(|line| pins(line, has_driver))
}

/// Whether what a line of the process's list of mappings tells of may pin memory.
fn pins(line: &str, has_driver: bool) -> bool {
    let Some((access, path)) = path_of(line) else { return false };
    let name = path.rsplit('/').next().unwrap_or(path);
    let begins = |names: &[&str]| names.iter().any(|begin| name.starts_with(begin));
    // The runtime itself names it, too.
    let is_code = access.contains('x') && path.starts_with('/') && !holds(line, pins as *const () as u64);
    begins(&PINNING)
        || path.contains("[aio]")
        || path.contains("[io_uring]")
        || has_driver && is_code && !begins(&OURS) && (begins(&CALLING) || names_driver(path))
}

/// Whether an address lies in what a line of the list tells of.
fn holds(line: &str, address: u64) -> bool {
    let bounds = line.split_once(' ').and_then(|(bounds, _)| bounds.split_once('-'));
    bounds.is_some_and(|(lo, hi)| {
        let [lo, hi] = [lo, hi].map(|bound| u64::from_str_radix(bound, 16).unwrap_or(0));
        (lo..hi).contains(&address)
    })
}

/// Whether an object speaks of the driver, whether it is linked with it, loads it by name, or has a part in it that does (the library that kernels are launched by).
/// What can't be told counts.
fn names_driver(path: &str) -> bool {
    names(path, DRIVER)
}

/// Whether a file has these bytes in it; what can't be told counts.
fn names(path: &str, what: &'static [u8]) -> bool {
    static KNOWN: Mutex<BTreeMap<(String, &[u8]), bool>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    *known.entry((path.to_owned(), what)).or_insert_with(|| contains(path, what).unwrap_or(true))
}

/// Whether the program, or a library of its, may lend pages of its memory to the system, which goes on looking there (`vmsplice`).
pub fn may_lend_pages(maps: &str) -> bool {
    const LENDING: &[u8] = b"vmsplice";
    /// It is theirs to offer.
    const OFFERING: [&str; 2] = ["libc.", "libc-"];
    let own = pins as *const () as u64;
    maps.lines().any(|line| {
        let Some((access, path)) = path_of(line) else { return false };
        let name = path.rsplit('/').next().unwrap_or(path);
        let is_known = OFFERING.iter().chain(&OURS).any(|begin| name.starts_with(begin));
        let is_code = access.contains('x') && path.starts_with('/') && !holds(line, own);
        is_code && !is_known && names(path, LENDING)
    })
}

/// Whether a file has these bytes in it. `None`: it can't be read, or not soon.
fn contains(path: &str, what: &[u8]) -> Option<bool> {
    const PART: usize = 1 << 20;
    const MOST: u64 = 64 << 20;
    let mut file = std::fs::File::open(path).ok()?;
    if file.metadata().ok()?.len() > MOST {
        return None;
    }
    let (mut part, mut kept) = (vec![0u8; PART], 0);
    loop {
        let read = file.read(&mut part[kept..]).ok()?;
        if read == 0 {
            return Some(false);
        }
        let all = kept + read;
        // SAFETY: both are as long as it says.
        let found = unsafe { libc::memmem(part.as_ptr().cast(), all, what.as_ptr().cast(), what.len()) };
        if !found.is_null() {
            return Some(true);
        }
        // It may lie over the edge.
        kept = all.min(what.len() - 1);
        part.copy_within(all - kept..all, 0);
    }
}

fn is_harmless(number: i32, target: &str) -> bool {
    // SAFETY: no preconditions; what isn't open is an error.
    let flags = unsafe { libc::fcntl(number, libc::F_GETFL) };
    if flags >= 0 && flags & libc::O_DIRECT != 0 && !target.starts_with("pipe:") {
        return false;
    }
    if target.starts_with("socket:") {
        let (mut domain, mut length) = (0 as libc::c_int, size_of::<libc::c_int>() as libc::socklen_t);
        // SAFETY: a number and its size.
        let known = unsafe {
            libc::getsockopt(
                number,
                libc::SOL_SOCKET,
                libc::SO_DOMAIN,
                (&raw mut domain).cast(),
                &raw mut length,
            )
        };
        return known == 0
            && [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK].contains(&domain);
    }
    if !target.starts_with('/') {
        return HARMLESS.iter().any(|harmless| target.starts_with(harmless));
    }
    // Devices can have any name.
    // SAFETY: zeros are a value of it, and the call fills it in or fails.
    let status = unsafe {
        let mut status: libc::stat = std::mem::zeroed();
        (libc::fstat(number, &raw mut status) == 0).then_some(status)
    };
    status.is_some_and(|status| match status.st_mode & libc::S_IFMT {
        libc::S_IFREG | libc::S_IFDIR | libc::S_IFIFO | libc::S_IFLNK => true,
        libc::S_IFCHR if target.starts_with(OF_DRIVER) => !target.starts_with(OF_DISKS),
        libc::S_IFCHR => is_plain_device(libc::major(status.st_rdev), libc::minor(status.st_rdev)),
        _ => false,
    })
}

/// Devices that store only what a thread reads from them: null, zero, full, random; terminals.
fn is_plain_device(major: u32, minor: u32) -> bool {
    match major {
        1 => matches!(minor, 3 | 5 | 7 | 8 | 9),
        4 | 5 | 136..=143 => true,
        _ => false,
    }
}

/// Whether the system keeps pages where they are for somebody, whoever may have his descriptor (`io_uring`, networks' memory regions; drivers of GPUs
/// needn't tell). What can't be told counts.
fn is_pinned() -> bool {
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return true };
    let pinned = status.lines().find_map(|line| line.strip_prefix("VmPin:"));
    pinned.and_then(|amount| amount.split_whitespace().next()) != Some("0")
}

/// Access and path of a line of the process's list of mappings; no path is an empty one.
fn path_of(line: &str) -> Option<(&str, &str)> {
    let mut words = line.splitn(6, ' ');
    let access = words.nth(1)?;
    let path = words.nth(3).unwrap_or("");
    Some((access, path.trim_start()))
}

/// The mappings that pages lie in, whole ones, in their order, if all of them are private and of no file. `None`: some aren't, or aren't there.
pub fn private_mappings(pages: &[Range]) -> Option<Vec<Range>> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let mut all: Vec<Range> = Vec::new();
    let mut wanted = pages.iter().copied().peekable();
    for line in maps.lines() {
        let (lo, hi) = line.split_once(' ')?.0.split_once('-')?;
        let (lo, hi) = (u64::from_str_radix(lo, 16).ok()?, u64::from_str_radix(hi, 16).ok()?);
        let (access, path) = path_of(line)?;
        let is_anonymous = path.is_empty() || path == "[heap]" || path.starts_with("[anon:");
        while let Some((first, end)) = wanted.peek_mut() {
            if *first >= hi {
                break;
            }
            if *end <= lo {
                return None;
            }
            if *first < lo || !access.starts_with("rw") || !access.ends_with('p') || !is_anonymous {
                return None;
            }
            if all.last() != Some(&(lo, hi)) {
                all.push((lo, hi));
            }
            if *end > hi {
                *first = hi;
                break;
            }
            wanted.next();
        }
    }
    wanted.peek().is_none().then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_names_the_driver_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            path.to_str().unwrap().to_owned()
        };
        let mut large = vec![b'l'; 3 << 20];
        let without = file("without", &large);
        // Over the edge of what is read at once.
        for at in [0, (1 << 20) - 3, (1 << 20) - 6, (2 << 20) - 1, (3 << 20) - DRIVER.len()] {
            large[at..at + DRIVER.len()].copy_from_slice(DRIVER);
            assert!(names_driver(&file(&format!("with-{at}"), &large)), "{at}");
            large[at..at + DRIVER.len()].fill(b'l');
        }
        assert!(!names_driver(&without) && !names_driver(&file("empty", b"")));
        assert!(names_driver("/nowhere"));
        let long = file("long", b"");
        std::fs::File::options().write(true).open(&long).unwrap().set_len(100 << 20).unwrap();
        assert!(names_driver(&long));
        let mapped = |path: &str, access: &str| format!("7f00-7f01 {access} 00000000 fe:00 7 {path}");
        let with = file("libplugin.so", b"... libcuda.so.1 ...");
        let driver = file("libcuda.so.1", b"libcuda.so.1");
        let own = pins as *const () as u64;
        let ours = format!("{:x}-{:x} r-xp 00000000 fe:00 7 {with}", own - 1, own + 1);
        for (line, has_driver, may) in [
            (mapped(&with, "r-xp"), true, true),
            (mapped(&with, "r-xp"), false, false),
            (mapped(&with, "r--p"), true, false),
            (mapped(&without, "r-xp"), true, false),
            (mapped(&driver, "r-xp"), true, false),
            (ours, true, false),
            (mapped("/usr/lib/libffi.so.8", "r-xp"), true, true),
            (mapped("/usr/lib/libibverbs.so.1", "r--p"), false, true),
            (mapped("/[aio] (deleted)", "rw-s"), false, true),
        ] {
            assert_eq!(pins(&line, has_driver), may, "{line} {has_driver}");
        }
    }

    #[test]
    fn mappings_are_whole_private_and_of_no_file() {
        let page = super::super::page();
        // SAFETY: new memory.
        let map = |kind| unsafe {
            let access = libc::PROT_READ | libc::PROT_WRITE;
            libc::mmap(std::ptr::null_mut(), 4 * page as usize, access, kind | libc::MAP_ANONYMOUS, -1, 0)
                as u64
        };
        let (private, shared) = (map(libc::MAP_PRIVATE), map(libc::MAP_SHARED));
        let found = private_mappings(&[(private + page, private + 2 * page)]).unwrap();
        assert!(found.len() == 1 && found[0].0 <= private && found[0].1 >= private + 4 * page);
        assert_eq!(
            private_mappings(&[(private, private + page), (private + 2 * page, private + 3 * page)]),
            Some(found)
        );
        assert_eq!(private_mappings(&[(shared, shared + page)]), None);
        assert_eq!(private_mappings(&[(0x1000, 0x2000)]), None);
        let code = contains as *const () as u64 & !(page - 1);
        assert_eq!(private_mappings(&[(code, code + page)]), None);
        // SAFETY: as above.
        unsafe {
            libc::mprotect((private + page) as *mut libc::c_void, page as usize, libc::PROT_READ);
        }
        assert_eq!(private_mappings(&[(private, private + 4 * page)]), None);
    }
}
