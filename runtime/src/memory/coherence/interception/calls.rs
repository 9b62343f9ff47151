//! System calls by number: what of the program's memory each of them reads or writes. Only what its arguments tell wholly is here; whatever else there is, and all that
//! changes threads, signals or mappings, is for the program to make by itself, with all of its memory at home ([`Course::StepsAside`]).
//!
//! A range may be told too long, never too short: all that happens is that more comes home. None is read here, so that a pointer that leads nowhere is the kernel's to
//! refuse; vectors of ranges are fetched by the kernel.

use super::{Keeper, SIGNALS, gate};
use std::sync::atomic::{AtomicU64, Ordering};

/// What happens about a system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Course {
    /// It is made; what it needs has come home.
    IsMade,
    /// The same, and what it has opened may be a window on memory.
    Opens,
    /// It is about the mask of signals: see [`mask`].
    Masks,
    /// It may begin a thread: see [`super::threads`].
    Begins,
    /// It ends a thread.
    Ends,
    /// The program makes it, and nothing is kept away any more.
    StepsAside,
}

/// How many bytes.
#[derive(Clone, Copy)]
enum Size {
    /// So many.
    Fixed(u64),
    /// As an argument says.
    Count(usize),
    /// As many times so many as an argument says.
    Each(usize, u64),
    /// A bit for each of as many as an argument says, in words.
    Bits(usize),
}

/// What a system call does with memory that an argument leads to.
#[derive(Clone, Copy)]
enum Use {
    Reads(usize, Size),
    Writes(usize, Size),
    /// It reads a string.
    Text(usize),
}

/// The kernel moves no more than this at once.
const MOST: u64 = 0x7fff_f000;
/// Nor does it read longer strings.
const TEXT: u64 = 4096;
/// What threads tell the kernel to look at is no longer.
const NOTED: u64 = 4096;
/// This processor's pages.
pub const PAGE: u64 = 4096;

const STAT: Size = Size::Fixed(144);
const STATX: Size = Size::Fixed(256);
const STATFS: Size = Size::Fixed(120);
const TIME: Size = Size::Fixed(16);
const USAGE: Size = Size::Fixed(144);
const ADDRESS: Size = Size::Fixed(128);
const INTERVAL: Size = Size::Fixed(32);
const OFFSET: Size = Size::Fixed(8);
const WORD: Size = Size::Fixed(4);
const MASK: Size = Size::Fixed(8);

/// What a call uses, where its number tells. `None`: it doesn't.
fn uses(number: i64) -> Option<&'static [Use]> {
    use Size::{Bits, Count, Each, Fixed};
    use Use::{Reads, Text, Writes};
    Some(match number {
        // Files.
        libc::SYS_read | libc::SYS_pread64 | libc::SYS_getdents64 => &[Writes(1, Count(2))],
        libc::SYS_write | libc::SYS_pwrite64 => &[Reads(1, Count(2))],
        libc::SYS_lseek
        | libc::SYS_close
        | libc::SYS_dup
        | libc::SYS_dup2
        | libc::SYS_dup3
        | libc::SYS_fsync
        | libc::SYS_fdatasync
        | libc::SYS_sync
        | libc::SYS_ftruncate
        | libc::SYS_fallocate
        | libc::SYS_fadvise64
        | libc::SYS_readahead
        | libc::SYS_flock
        | libc::SYS_fchmod
        | libc::SYS_fchown
        | libc::SYS_fchdir
        | libc::SYS_umask => &[],
        libc::SYS_sendfile => &[Writes(2, OFFSET)],
        libc::SYS_pipe | libc::SYS_pipe2 => &[Writes(0, Fixed(8))],
        libc::SYS_fstat => &[Writes(1, STAT)],
        libc::SYS_stat | libc::SYS_lstat => &[Text(0), Writes(1, STAT)],
        libc::SYS_newfstatat => &[Text(1), Writes(2, STAT)],
        libc::SYS_statx => &[Text(1), Writes(4, STATX)],
        libc::SYS_statfs => &[Text(0), Writes(1, STATFS)],
        libc::SYS_fstatfs => &[Writes(1, STATFS)],
        libc::SYS_open
        | libc::SYS_creat
        | libc::SYS_access
        | libc::SYS_unlink
        | libc::SYS_rmdir
        | libc::SYS_mkdir
        | libc::SYS_chdir
        | libc::SYS_chmod
        | libc::SYS_truncate => &[Text(0)],
        libc::SYS_openat
        | libc::SYS_faccessat
        | libc::SYS_faccessat2
        | libc::SYS_unlinkat
        | libc::SYS_mkdirat
        | libc::SYS_fchmodat => &[Text(1)],
        libc::SYS_rename | libc::SYS_link | libc::SYS_symlink => &[Text(0), Text(1)],
        libc::SYS_renameat | libc::SYS_renameat2 | libc::SYS_linkat => &[Text(1), Text(3)],
        libc::SYS_symlinkat => &[Text(0), Text(2)],
        libc::SYS_readlink => &[Text(0), Writes(1, Count(2))],
        libc::SYS_readlinkat => &[Text(1), Writes(2, Count(3))],
        libc::SYS_utimensat => &[Text(1), Reads(2, INTERVAL)],
        libc::SYS_getcwd => &[Writes(0, Count(1))],
        // Waiting.
        libc::SYS_poll => &[Writes(0, Each(1, 8))],
        libc::SYS_select => &[Writes(1, Bits(0)), Writes(2, Bits(0)), Writes(3, Bits(0)), Writes(4, TIME)],
        libc::SYS_epoll_create | libc::SYS_epoll_create1 | libc::SYS_eventfd | libc::SYS_eventfd2 => &[],
        libc::SYS_epoll_ctl => &[Reads(3, Fixed(12))],
        libc::SYS_epoll_wait => &[Writes(1, Each(2, 12))],
        libc::SYS_wait4 => &[Writes(1, WORD), Writes(3, USAGE)],
        libc::SYS_nanosleep => &[Reads(0, TIME), Writes(1, TIME)],
        libc::SYS_clock_nanosleep => &[Reads(2, TIME), Writes(3, TIME)],
        libc::SYS_sched_yield | libc::SYS_alarm => &[],
        // Connections.
        libc::SYS_socket | libc::SYS_listen | libc::SYS_shutdown => &[],
        libc::SYS_connect | libc::SYS_bind => &[Reads(1, Count(2))],
        libc::SYS_sendto => &[Reads(1, Count(2)), Reads(4, Count(5))],
        libc::SYS_recvfrom => &[Writes(1, Count(2)), Writes(4, ADDRESS), Writes(5, WORD)],
        // Time.
        libc::SYS_clock_gettime | libc::SYS_clock_getres => &[Writes(1, TIME)],
        libc::SYS_gettimeofday => &[Writes(0, TIME), Writes(1, Fixed(8))],
        libc::SYS_time => &[Writes(0, Fixed(8))],
        libc::SYS_times => &[Writes(0, Fixed(32))],
        libc::SYS_getitimer => &[Writes(1, INTERVAL)],
        libc::SYS_setitimer => &[Reads(1, INTERVAL), Writes(2, INTERVAL)],
        // The process and the machine.
        libc::SYS_getpid
        | libc::SYS_gettid
        | libc::SYS_getppid
        | libc::SYS_getuid
        | libc::SYS_geteuid
        | libc::SYS_getgid
        | libc::SYS_getegid
        | libc::SYS_getpgid
        | libc::SYS_getpgrp
        | libc::SYS_getsid
        | libc::SYS_getpriority => &[],
        libc::SYS_uname => &[Writes(0, Fixed(390))],
        libc::SYS_sysinfo => &[Writes(0, Fixed(112))],
        libc::SYS_getrusage => &[Writes(1, USAGE)],
        libc::SYS_getrlimit => &[Writes(1, TIME)],
        libc::SYS_getrandom => &[Writes(0, Count(1))],
        libc::SYS_sched_getaffinity => &[Writes(2, Count(1))],
        libc::SYS_getcpu => &[Writes(0, WORD), Writes(1, WORD)],
        libc::SYS_rt_sigprocmask => &[Reads(1, MASK), Writes(2, MASK)],
        // Memory goes with the process.
        libc::SYS_exit_group => &[],
        _ => return None,
    })
}

/// The same where the arguments have to be looked at. `None`: nothing is known.
fn uses_by_arguments(number: i64, arguments: &[u64; 6]) -> Option<&'static [Use]> {
    use Size::Fixed;
    use Use::{Reads, Writes};
    Some(match number {
        libc::SYS_ioctl => match arguments[1] as u32 as libc::Ioctl {
            libc::TCGETS => &[Writes(2, Fixed(60))],
            libc::TIOCGWINSZ => &[Writes(2, Fixed(8))],
            libc::FIONREAD => &[Writes(2, WORD)],
            libc::FIONBIO => &[Reads(2, WORD)],
            libc::FIOCLEX | libc::FIONCLEX => &[],
            _ => return None,
        },
        libc::SYS_fcntl => match arguments[1] as i32 {
            libc::F_DUPFD
            | libc::F_DUPFD_CLOEXEC
            | libc::F_GETFD
            | libc::F_SETFD
            | libc::F_GETFL
            | libc::F_SETFL
            | libc::F_GETPIPE_SZ
            | libc::F_SETPIPE_SZ => &[],
            libc::F_GETLK
            | libc::F_SETLK
            | libc::F_SETLKW
            | libc::F_OFD_GETLK
            | libc::F_OFD_SETLK
            | libc::F_OFD_SETLKW => &[Writes(2, Fixed(32))],
            _ => return None,
        },
        libc::SYS_futex => {
            match arguments[1] as i32 & !(libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME) {
                libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET => &[Reads(0, WORD), Reads(3, TIME)],
                libc::FUTEX_WAKE | libc::FUTEX_WAKE_BITSET => &[Reads(0, WORD)],
                _ => return None,
            }
        }
        libc::SYS_prctl if arguments[0] as i32 == libc::PR_SET_NAME => &[Reads(1, Fixed(16))],
        // A limit that changes may be one of what can come home.
        libc::SYS_prlimit64 if arguments[2] == 0 => &[Writes(3, TIME)],
        // With a signal mask they are more than they say.
        libc::SYS_ppoll if arguments[3] == 0 => &[Writes(0, Size::Each(1, 8)), Writes(2, TIME)],
        libc::SYS_epoll_pwait if arguments[4] == 0 => &[Writes(1, Size::Each(2, 12))],
        libc::SYS_pselect6 if arguments[5] == 0 => {
            &[Writes(1, Size::Bits(0)), Writes(2, Size::Bits(0)), Writes(3, Size::Bits(0)), Writes(4, TIME)]
        }
        _ => return None,
    })
}

/// Which memory a call changes the mappings of. `None`: it isn't a call of that kind, or not such a one.
fn remapped(number: i64, arguments: &[u64; 6]) -> Option<[(u64, u64); 2]> {
    let [first, second, third, fourth, fifth, _] = *arguments;
    let flags = fourth as i32;
    // The kernel rounds to whole pages.
    let range = |start: u64, bytes: u64| {
        (start & !(PAGE - 1), start.saturating_add(bytes).saturating_add(PAGE - 1) & !(PAGE - 1))
    };
    let nothing = (0, 0);
    let grows = (libc::PROT_GROWSDOWN | libc::PROT_GROWSUP) as u64;
    match number {
        // That is for the whole mapping.
        libc::SYS_mprotect if third & grows != 0 => Some([(0, u64::MAX), nothing]),
        libc::SYS_munmap | libc::SYS_mprotect | libc::SYS_madvise => Some([range(first, second), nothing]),
        libc::SYS_mmap if flags & libc::MAP_FIXED == 0 => Some([nothing; 2]),
        libc::SYS_mmap => Some([range(first, second), nothing]),
        libc::SYS_mremap if flags & libc::MREMAP_FIXED == 0 => Some([range(first, second), nothing]),
        libc::SYS_mremap => Some([range(first, second), range(fifth, third)]),
        libc::SYS_brk => {
            // SAFETY: only asks where the heap ends.
            let end = unsafe { gate::call(libc::SYS_brk as u64, [0; 6]) } as u64;
            Some([if first != 0 && first < end { range(first, end - first) } else { nothing }, nothing])
        }
        _ => None,
    }
}

/// Whether a call asks for room for mappings, hasn't got any, and has left everything as it was: it may be made again. Others that say so have done a part, and somebody may have
/// mapped something since where that was, which they would meet.
pub fn found_no_room(number: u64, arguments: &[u64; 6], result: i64) -> bool {
    let [first, second, third, fourth, ..] = *arguments;
    let flags = fourth as i32;
    match i64::from(number as u32) {
        // It answers with the end that there is.
        libc::SYS_brk => first != 0 && (result as u64) < first,
        _ if result != -i64::from(libc::ENOMEM) => false,
        libc::SYS_munmap => true,
        libc::SYS_mmap => flags & (libc::MAP_FIXED | libc::MAP_FIXED_NOREPLACE) == 0,
        libc::SYS_mremap => flags & libc::MREMAP_FIXED == 0 && third > second,
        _ => false,
    }
}

/// Has everything come home that a call needs, and says what is to be done about it.
pub fn prepare(keeper: &dyn Keeper, number: u64, arguments: &[u64; 6]) -> Course {
    // The kernel looks at 32 bits of it.
    let number = i64::from(number as u32);
    if let Some(remapped) = remapped(number, arguments) {
        return match remapped.iter().any(|(lo, hi)| lo < hi && keeper.needs(*lo, *hi)) {
            true => Course::StepsAside,
            false => Course::IsMade,
        };
    }
    match number {
        // Without these nothing comes home any more.
        libc::SYS_close if may_be_of_driver(arguments[0]) => Course::StepsAside,
        libc::SYS_dup2 | libc::SYS_dup3 if may_be_of_driver(arguments[1]) => Course::StepsAside,
        libc::SYS_clone3 => Course::Begins,
        libc::SYS_exit => Course::Ends,
        // The kernel comes back to these whenever it likes.
        libc::SYS_rseq | libc::SYS_set_robust_list => {
            let noted = (arguments[0], arguments[0].saturating_add(NOTED));
            if keeper.needs(noted.0, noted.1) { Course::StepsAside } else { Course::IsMade }
        }
        libc::SYS_readv | libc::SYS_preadv | libc::SYS_preadv2 => vector(keeper, arguments, true),
        libc::SYS_writev | libc::SYS_pwritev | libc::SYS_pwritev2 => vector(keeper, arguments, false),
        _ => {
            let Some(uses) = uses(number).or_else(|| uses_by_arguments(number, arguments)) else {
                return Course::StepsAside;
            };
            for part in uses {
                bring(keeper, *part, arguments);
            }
            match number {
                libc::SYS_rt_sigprocmask => Course::Masks,
                libc::SYS_open | libc::SYS_openat | libc::SYS_creat => Course::Opens,
                _ => Course::IsMade,
            }
        }
    }
}

/// Whether a descriptor that is about to be closed may be one by which the GPU's driver reaches it, or waits for it: a device that isn't one of those that all programs
/// have, or nothing that has a name.
fn may_be_of_driver(descriptor: u64) -> bool {
    /// Memory (`/dev/null`), terminals.
    const PLAIN: [u32; 3] = [1, 4, 5];
    const PSEUDO_TERMINALS: std::ops::Range<u32> = 136..144;
    let Some(status) = status_of(descriptor) else { return false };
    let major = libc::major(status.st_rdev);
    match status.st_mode & libc::S_IFMT {
        libc::S_IFCHR => !PLAIN.contains(&major) && !PSEUDO_TERMINALS.contains(&major),
        0 => true,
        _ => false,
    }
}

/// Whether a call that was interrupted may be made again. Of one that closes a descriptor nobody knows whether it has.
pub fn may_be_made_again(number: u64) -> bool {
    i64::from(number as u32) != libc::SYS_close
}

/// What is left of a call that has moved so many bytes, and would have moved more if no signal had come: a call by number. `None`: nothing, or it wouldn't have waited for more.
pub fn left(number: u64, arguments: &[u64; 6], done: i64) -> Option<(u64, [u64; 6])> {
    let [first, second, third, fourth, ..] = *arguments;
    let done = u64::try_from(done).ok()?;
    let mut left = *arguments;
    let rest = |bytes: u64| bytes.min(MOST).checked_sub(done).filter(|rest| *rest != 0);
    let number = i64::from(number as u32);
    match number {
        libc::SYS_pwrite64 => (left[1], left[2], left[3]) = (second + done, rest(third)?, fourth + done),
        libc::SYS_write | libc::SYS_sendto => (left[1], left[2]) = (second + done, rest(third)?),
        libc::SYS_recvfrom if fourth as i32 & libc::MSG_WAITALL != 0 => {
            (left[1], left[2]) = (second + done, rest(third)?);
        }
        libc::SYS_read if is_of_memory(first) => (left[1], left[2]) = (second + done, rest(third)?),
        libc::SYS_getrandom => (left[0], left[1]) = (first + done, rest(second)?),
        libc::SYS_sendfile => left[3] = rest(fourth)?,
        // Range by range.
        libc::SYS_writev | libc::SYS_pwritev => {
            let mut before = 0u64;
            for entry in 0..third {
                let mut part = [0u64; 2];
                let bytes = size_of_val(&part) as u64;
                if !copy(second.wrapping_add(entry * bytes), part.as_mut_ptr() as u64, bytes) {
                    return None;
                }
                if done < before.saturating_add(part[1]) {
                    let (at, rest) = (part[0] + (done - before), before + part[1] - done);
                    return Some(match number {
                        libc::SYS_writev => (libc::SYS_write as u64, [first, at, rest, 0, 0, 0]),
                        _ => (libc::SYS_pwrite64 as u64, [first, at, rest, fourth + done, 0, 0]),
                    });
                }
                before += part[1];
            }
            return None;
        }
        _ => return None,
    }
    Some((number as u64, left))
}

/// Whether a descriptor is one of those devices that have as much as is asked for (`/dev/zero`).
fn is_of_memory(descriptor: u64) -> bool {
    const MEMORY: u32 = 1;
    status_of(descriptor).is_some_and(|status| {
        status.st_mode & libc::S_IFMT == libc::S_IFCHR && libc::major(status.st_rdev) == MEMORY
    })
}

/// What the kernel says of a descriptor. `None`: there is none.
fn status_of(descriptor: u64) -> Option<libc::stat> {
    // SAFETY: zeros are a value of it, and the kernel fills it in or fails.
    unsafe {
        let mut status: libc::stat = std::mem::zeroed();
        let arguments = [descriptor, &raw mut status as u64, 0, 0, 0, 0];
        (gate::call(libc::SYS_fstat as u64, arguments) == 0).then_some(status)
    }
}

fn bring(keeper: &dyn Keeper, part: Use, arguments: &[u64; 6]) {
    let bytes = |size| match size {
        Size::Fixed(bytes) => bytes,
        Size::Count(at) => arguments[at].min(MOST),
        Size::Each(at, each) => arguments[at].min(MOST).saturating_mul(each),
        Size::Bits(at) => u64::from(arguments[at] as u32).div_ceil(64) * 8,
    };
    match part {
        Use::Reads(at, size) => touch(keeper, arguments[at], bytes(size), false),
        Use::Writes(at, size) => touch(keeper, arguments[at], bytes(size), true),
        Use::Text(at) => touch(keeper, arguments[at], TEXT, false),
    }
}

fn touch(keeper: &dyn Keeper, lo: u64, bytes: u64, stores: bool) {
    let hi = lo.saturating_add(bytes);
    if lo < hi && keeper.keeps(lo, hi) {
        keeper.touch(lo, hi, stores);
    }
}

/// Copies so many bytes of this process from one address to another. False: one of them can't be loaded from, or stored to.
pub fn copy(from: u64, to: u64, bytes: u64) -> bool {
    let [from, to] = [[from, bytes], [to, bytes]];
    // SAFETY: the caller's own memory, or the program's own call's; where that is none, nothing happens.
    unsafe {
        let process = gate::call(libc::SYS_getpid as u64, [0; 6]) as u64;
        let ranges = [process, to.as_ptr() as u64, 1, from.as_ptr() as u64, 1, 0];
        gate::call(libc::SYS_process_vm_readv as u64, ranges) == bytes as i64
    }
}

/// What `rt_sigprocmask` with these arguments does to a mask of signals, which comes back when a handler returns: so there it is changed, and not the handler's own. Those that have
/// handlers of ours are never blocked in it; those that the program takes for blocked are in `blocked`. What the call reads and writes is at home. What the call gives; `None`: nothing has happened,
/// and it is for the program to make it, because it fails. Those that change nothing, whatever is there, ask whether it is: loops do (`__pg_is_there`).
pub fn mask(arguments: &[u64; 6], mask: &mut u64, blocked: &AtomicU64) -> Option<i64> {
    const BYTES: u64 = 8;
    let bit = |signal: i32| 1u64 << (signal - 1);
    let [how, set, before, bytes, ..] = *arguments;
    let mut wanted = 0u64;
    if bytes != BYTES {
        return None;
    }
    let is_asked =
        set != 0 && ![libc::SIG_BLOCK, libc::SIG_UNBLOCK, libc::SIG_SETMASK].contains(&(how as i32));
    if set != 0 && !copy(set, &raw mut wanted as u64, BYTES) {
        return is_asked.then_some(-i64::from(libc::EFAULT));
    }
    let now = *mask | blocked.load(Ordering::Relaxed);
    let new = match how as i32 {
        _ if set == 0 => now,
        libc::SIG_BLOCK => now | wanted,
        libc::SIG_UNBLOCK => now & !wanted,
        libc::SIG_SETMASK => wanted,
        _ => return Some(-i64::from(libc::EINVAL)),
    };
    let new = new & !(bit(libc::SIGKILL) | bit(libc::SIGSTOP));
    if before != 0 && !copy(&raw const now as u64, before, BYTES) {
        return None;
    }
    let handled = SIGNALS.into_iter().map(bit).fold(0, |all, one| all | one);
    *mask = new & !handled;
    blocked.store(new & handled, Ordering::Relaxed);
    Some(0)
}

/// Calls with a vector of ranges: arguments 1 and 2.
fn vector(keeper: &dyn Keeper, arguments: &[u64; 6], stores: bool) -> Course {
    const AT_ONCE: usize = 32;
    /// The kernel refuses more.
    const ENTRIES: u64 = 1024;
    const ENTRY: u64 = size_of::<libc::iovec>() as u64;
    let (start, entries) = (arguments[1], arguments[2]);
    if entries > ENTRIES {
        return Course::IsMade;
    }
    touch(keeper, start, entries * ENTRY, false);
    let mut done = 0;
    while done < entries {
        let mut part = [[0u64; 2]; AT_ONCE];
        let bytes = (entries - done).min(AT_ONCE as u64) * ENTRY;
        if !copy(start.wrapping_add(done * ENTRY), part.as_mut_ptr() as u64, bytes) {
            return Course::StepsAside;
        }
        for [lo, bytes] in &part[..(bytes / ENTRY) as usize] {
            touch(keeper, *lo, (*bytes).min(MOST), stores);
        }
        done += AT_ONCE as u64;
    }
    Course::IsMade
}
