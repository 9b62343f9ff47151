//! Whether the calling thread is all there is of the program: nobody else who could come across memory that is kept away, and no handler of signals that would see, or do,
//! something while it is. What can't be told counts as a reason against it.
//!
//! Not seen: a process that shares this one's memory without being a thread of it (`clone` with `CLONE_VM` alone, which no library does but until `execve`), and a
//! thread of the program's that calls itself by the name of one of ours.

use super::arenas;
use super::interception;
use super::interception::gate::{self, Action};
use crate::memory::{limits, programs_allocator, tracking};
use crate::own_threads::{self, NAMES};
use crate::signals::{OF_LIBRARY, SIGNALS};
use std::ffi::c_void;
use std::fs;
use std::os::fd::RawFd;
use std::time::Duration;

/// Why nothing can be kept away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Not on the process's main thread.
    #[error("the thread isn't the process's first")]
    Thread,
    /// There are others.
    #[error("the program has more than one thread")]
    Threads,
    /// Somebody handles a signal, or ignores one of those that faults raise.
    #[error("the program handles signals")]
    Handler,
    /// A signal waits that is needed: those that faults raise, for one.
    #[error("the program blocks signals that are needed")]
    Blocked,
    /// A debugger sees all signals.
    #[error("the process is traced")]
    Traced,
    /// System calls are filtered, not by what the whole system of processes is.
    #[error("system calls are filtered")]
    Filtered,
    /// Which memory may be touched depends on the thread's own key register.
    #[error("memory has protection keys")]
    Keys,
    /// Memory that has become the program's again may be more than it may have.
    #[error("the program's memory has a limit")]
    Limited,
    /// A descriptor, a ring or a pipe leads to memory past its protection, or may.
    #[error("memory is open to others by a descriptor")]
    Descriptor,
    /// What the program has freed may come to other threads.
    #[error("threads share the program's allocator")]
    Allocator,
    /// Nobody tells.
    #[error("the system doesn't tell what the process is")]
    Unknown,
    /// The kernel can't dispatch system calls, or may not.
    #[error("the system doesn't dispatch system calls")]
    Unsupported,
}

/// So long a thread of ours may take to have its name, where processors are busy.
const NAMES_AFTER: Duration = Duration::from_millis(10);
/// How the names of the GPU driver's own threads begin; its others are called like the thread that they come from.
const OF_DRIVER: &str = "cuda";
/// The file system of processes, as `fstatfs` names it.
const PROCESSES: i64 = 0x9fa0;

/// Looks for what [`check`] looks for in the files of libraries, which takes milliseconds: what they are is remembered. Any thread may do that beforehand.
pub fn look_ahead() {
    // What it says counts when it is asked.
    let _ = descriptors();
    programs_allocator::is_of_c_library();
}

/// Whether the calling thread is alone.
pub fn check() -> Result<(), Refusal> {
    // SAFETY: neither has preconditions.
    let is_first = unsafe { libc::syscall(libc::SYS_gettid) == i64::from(libc::getpid()) };
    if !is_first {
        return Err(Refusal::Thread);
    }
    signals()?;
    // What is kept away doesn't count as the program's data meanwhile, and has to come home whatever else the program has by then.
    if limits::are_set() {
        return Err(Refusal::Limited);
    }
    keys()?;
    status()?;
    threads()?;
    descriptors()
}

/// Whether no signal is handled, and faults are told.
fn signals() -> Result<(), Refusal> {
    for signal in 1..=SIGNALS {
        let handler = Action::of(signal).ok_or(Refusal::Unknown)?.handler;
        let is_none = match usize::try_from(handler).map_err(|_| Refusal::Unknown)? {
            libc::SIG_DFL => true,
            libc::SIG_IGN => !interception::SIGNALS.contains(&signal),
            handler => OF_LIBRARY.contains(&signal) && is_of_library(handler),
        };
        if !is_none {
            return Err(Refusal::Handler);
        }
    }
    let mut blocked = 0u64;
    // SAFETY: only asks, into a local variable.
    let failed = unsafe {
        gate::call(
            libc::SYS_rt_sigprocmask as u64,
            [libc::SIG_BLOCK as u64, 0, &raw mut blocked as u64, 8, 0, 0],
        )
    };
    // The runtime has blocked others itself. Whether the program has is looked at where a thread begins, which needs them.
    let of_faults = [libc::SIGSEGV, libc::SIGSYS];
    match failed == 0 && of_faults.iter().all(|signal| blocked >> (signal - 1) & 1 == 0) {
        true => Ok(()),
        false => Err(Refusal::Blocked),
    }
}

/// Whether an address lies in the library that threads are made by.
fn is_of_library(address: usize) -> bool {
    let base = |address: usize| {
        // SAFETY: `dladdr` takes any address, and fills in the structure where it finds something.
        unsafe {
            let mut found: libc::Dl_info = std::mem::zeroed();
            (libc::dladdr(address as *const c_void, &raw mut found) != 0).then_some(found.dli_fbase as usize)
        }
    };
    // SAFETY: a name.
    let maker = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"pthread_create".as_ptr()) } as usize;
    base(address).is_some_and(|object| maker != 0 && base(maker) == Some(object))
}

/// Whether no memory has a protection key: handlers begin with all keys shut but the first, so that system calls made there would see other memory than the
/// program's. The kernel gives the lowest key that is free, so somebody who gets the first has no predecessor.
fn keys() -> Result<(), Refusal> {
    const ACCESS_DISABLED: u64 = 1;
    // SAFETY: a key that nothing is protected by, and that is given back. It allows no access, as keys do that nobody has.
    unsafe {
        match gate::call(libc::SYS_pkey_alloc as u64, [0, ACCESS_DISABLED, 0, 0, 0, 0]) {
            // There are none at all, or the kernel doesn't know of any. With all of them taken it says the same.
            failed if failed < 0 => match has_keys() {
                true => Err(Refusal::Keys),
                false => Ok(()),
            },
            key => {
                gate::call(libc::SYS_pkey_free as u64, [key as u64, 0, 0, 0, 0, 0]);
                if key == 1 { Ok(()) } else { Err(Refusal::Keys) }
            }
        }
    }
}

/// Whether the processor has protection keys that the kernel uses.
fn has_keys() -> bool {
    const USED: u32 = 1 << 4;
    std::arch::x86_64::__get_cpuid_max(0).0 >= 7 && std::arch::x86_64::__cpuid_count(7, 0).ecx & USED != 0
}

/// Whether nobody traces the process, or filters its system calls. Containers do that for all that runs in them: what the first process has as well isn't the program's.
fn status() -> Result<(), Refusal> {
    let own = fs::read_to_string("/proc/self/status").map_err(|_| Refusal::Unknown)?;
    if field(&own, "TracerPid:").ok_or(Refusal::Unknown)? != 0 {
        return Err(Refusal::Traced);
    }
    // Kernels without filters don't speak of them.
    let mode = field(&own, "Seccomp:").unwrap_or(0);
    if mode == 0 {
        return Ok(());
    }
    let filters = |status: &str| field(status, "Seccomp_filters:");
    let first = fs::read_to_string("/proc/1/status").map_err(|_| Refusal::Filtered)?;
    match filters(&own).is_some()
        && field(&first, "Seccomp:") == Some(mode)
        && filters(&first) == filters(&own)
    {
        true => Ok(()),
        false => Err(Refusal::Filtered),
    }
}

/// A number in what the system says about a process.
fn field(status: &str, name: &str) -> Option<u64> {
    status.lines().find_map(|line| line.strip_prefix(name))?.trim().parse().ok()
}

/// Whether all other threads are ours or the GPU driver's, and have memory of their own.
fn threads() -> Result<(), Refusal> {
    let count = count_of_ours()?;
    if arenas::are_apart(count) { Ok(()) } else { Err(Refusal::Allocator) }
}

/// Whether no thread but the calling one is the program's, as far as can be told.
pub fn is_only_thread() -> bool {
    // SAFETY: neither has preconditions.
    let is_first = unsafe { libc::syscall(libc::SYS_gettid) == i64::from(libc::getpid()) };
    is_first && count_of_ours().is_ok()
}

/// How many threads there are, where all but the first are ours or the GPU driver's.
fn count_of_ours() -> Result<usize, Refusal> {
    own_threads::wait_for_names(NAMES_AFTER);
    let unknown = |_| Refusal::Unknown;
    let own = fs::read_link("/proc/self").map_err(unknown)?;
    let driver_is_ours = tracking::driver_is_ours();
    let is_ours = |name: &str| NAMES.iter().any(|ours| ours.to_bytes() == name.as_bytes());
    let is_known = |name: &str| is_ours(name) || driver_is_ours && name.starts_with(OF_DRIVER);
    let (mut is_there, mut count) = (false, 0);
    for thread in fs::read_dir("/proc/self/task").map_err(unknown)? {
        let thread = thread.map_err(unknown)?;
        let name = match fs::read_to_string(thread.path().join("comm")) {
            Ok(name) => name,
            // It has ended.
            Err(error) if matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ESRCH)) => continue,
            Err(_) => return Err(Refusal::Unknown),
        };
        let is_own = own.as_os_str() == thread.file_name();
        is_there |= is_own;
        count += 1;
        // Threads that the program starts are called as it is, to begin with.
        if is_known(name.trim_end_matches('\n')) == is_own {
            return Err(Refusal::Threads);
        }
    }
    if is_there { Ok(count) } else { Err(Refusal::Unknown) }
}

/// Whether no descriptor leads to memory past its protection: files of processes (`/proc/self/mem`); rings, transfers that are under way, devices and networks, which are served
/// when somebody else likes, and so may store to a page beside what a loop uses while the page is elsewhere.
fn descriptors() -> Result<(), Refusal> {
    let unknown = |_| Refusal::Unknown;
    for entry in fs::read_dir("/proc/self/fd").map_err(unknown)? {
        let entry = entry.map_err(unknown)?;
        let number = entry.file_name().to_str().and_then(|name| name.parse().ok()).ok_or(Refusal::Unknown)?;
        let target = match fs::read_link(entry.path()) {
            Ok(target) => target,
            // It was the list's own.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(_) => return Err(Refusal::Unknown),
        };
        let target = target.to_str().ok_or(Refusal::Descriptor)?;
        // The page map, which has no contents of pages, is ours.
        if is_of_processes(number) && !target.ends_with("/pagemap") && !target.ends_with("/fd") {
            return Err(Refusal::Descriptor);
        }
    }
    let maps = fs::read_to_string("/proc/self/maps").map_err(unknown)?;
    match tracking::may_be_pinned() || tracking::may_lend_pages(&maps) {
        true => Err(Refusal::Descriptor),
        false => Ok(()),
    }
}

/// Whether a descriptor is one of a file of processes.
pub fn is_of_processes(descriptor: RawFd) -> bool {
    let mut status = [0u64; 15];
    // SAFETY: as many bytes as the kernel fills in.
    let failed = unsafe {
        gate::call(libc::SYS_fstatfs as u64, [descriptor as u64, status.as_mut_ptr() as u64, 0, 0, 0, 0])
    };
    failed != 0 || status[0] as i64 == PROCESSES
}
