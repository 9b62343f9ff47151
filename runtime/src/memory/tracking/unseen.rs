//! Who may store to memory without any page table's knowledge: devices, to pages that were pinned before they were protected. A page that is pinned
//! afterwards is written then, to a scan. Nobody tells which pages are pinned, so what could have done it is looked for: descriptors that are nothing
//! known, and libraries for networks and accelerators. Where there is any, nothing is watched.

use super::Range;
use super::descriptors::Descriptors;
use std::collections::BTreeMap;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// What descriptors may lead to, as the process's list of them tells.
const HARMLESS: [&str; 13] = [
    "pipe:",
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/tty",
    "/dev/pts/",
    "/dev/random",
    "/dev/urandom",
    "/dev/shm/",
    "anon_inode:[eventpoll]",
    "anon_inode:[eventfd]",
    "anon_inode:[timerfd]",
    "anon_inode:[signalfd]",
];
/// The driver of GPUs.
const OF_DRIVER: &str = "/dev/nvidia";

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

/// Libraries that come with the driver, and the runtime, which load kernels for us.
const OURS: [&str; 4] = ["libcuda.", "libnvidia", "libnvrtc", "libparagon_rt"];

/// Whether nobody but the runtime has the GPU's driver.
static DRIVER_IS_OURS: AtomicBool = AtomicBool::new(false);

/// The driver is about to be loaded; by us alone, as far as can be seen.
pub fn driver_is_loaded(is_first: bool) {
    DRIVER_IS_OURS.store(is_first, Ordering::Relaxed);
}

/// Whether there is somebody who may.
pub fn is_possible(own: &Descriptors) -> bool {
    let Ok(list) = std::fs::read_dir("/proc/self/fd") else { return true };
    let mut has_driver = false;
    for entry in list {
        let Ok(entry) = entry else { return true };
        let Some(number) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else {
            return true;
        };
        if number == own.protection {
            continue;
        }
        // It may have been the list's own.
        let Ok(target) = std::fs::read_link(entry.path()) else { continue };
        let Some(target) = target.to_str() else { return true };
        has_driver |= target.starts_with(OF_DRIVER);
        if !is_harmless(number, target) {
            return true;
        }
    }
    let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else { return true };
    let pins = |line: &str| {
        let Some((access, path)) = path_of(line) else { return false };
        let name = path.rsplit('/').next().unwrap_or(path);
        if has_driver
            && access.contains('x')
            && path.starts_with('/')
            && !OURS.iter().any(|own| name.starts_with(own))
            && has_kernels(path)
        {
            return true;
        }
        PINNING.iter().any(|library| name.starts_with(library))
            || path.contains("[aio]")
            || path.contains("[io_uring]")
    };
    has_driver && !DRIVER_IS_OURS.load(Ordering::Relaxed) || maps.lines().any(pins)
}

/// Whether an object has kernels of its own in it, so that it uses the driver. What can't be told counts.
fn has_kernels(path: &str) -> bool {
    static KNOWN: Mutex<BTreeMap<String, bool>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    *known
        .entry(path.to_owned())
        .or_insert_with(|| names_of_sections(path).is_none_or(|names| names.contains("nv_fatbin")))
}

/// The names of an object's sections, one after the other.
fn names_of_sections(path: &str) -> Option<String> {
    let file = std::fs::File::open(path).ok()?;
    let part = |at: u64, bytes: usize| {
        let mut part = vec![0; bytes];
        file.read_exact_at(&mut part, at).ok()?;
        Some(part)
    };
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |number, byte| number << 8 | u64::from(*byte));
    let head = part(0, 64)?;
    // 64 bits, least significant byte first.
    if head[..6] != *b"\x7fELF\x02\x01" {
        return None;
    }
    let (sections, size, of_names) = (number(&head[40..48]), number(&head[58..60]), number(&head[62..64]));
    let names = part(sections.checked_add(of_names * size)?, 64)?;
    let bytes = number(&names[32..40]);
    let names = part(number(&names[24..32]), usize::try_from(bytes).ok().filter(|bytes| *bytes < 1 << 20)?)?;
    Some(String::from_utf8_lossy(&names).into_owned())
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
    let is_file = target.starts_with('/') && (!target.starts_with("/dev/") || target.starts_with(OF_DRIVER));
    is_file || HARMLESS.iter().any(|harmless| target.starts_with(harmless))
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
    fn sections_have_names() {
        let own = std::env::current_exe().unwrap();
        let names = names_of_sections(own.to_str().unwrap()).unwrap();
        assert!(names.contains(".text") && names.contains(".dynsym"), "{names}");
        assert!(!has_kernels(own.to_str().unwrap()) && has_kernels("/dev/null"));
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
        let code = names_of_sections as *const () as u64 & !(page - 1);
        assert_eq!(private_mappings(&[(code, code + page)]), None);
        // SAFETY: as above.
        unsafe {
            libc::mprotect((private + page) as *mut libc::c_void, page as usize, libc::PROT_READ);
        }
        assert_eq!(private_mappings(&[(private, private + 4 * page)]), None);
    }
}
