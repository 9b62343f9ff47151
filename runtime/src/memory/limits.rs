//! How much memory copies may take, so that speculation never drives a program into the out-of-memory killer, and whether the program has a bound of its own.

use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

/// Below this nobody asks: asking costs some microseconds.
const SMALL: u64 = 64 << 20;

/// So long an answer is good for, less what has been taken since: a loop that is entered again and again would wait for each of them as long as for a kernel.
const RECENT: Duration = Duration::from_millis(2);

/// Whether buffers of `bytes` in all leave the system at least as much again.
pub fn fits(bytes: u64) -> bool {
    static ANSWER: Mutex<Option<(Instant, u64)>> = Mutex::new(None);
    if bytes <= SMALL {
        return true;
    }
    // Who waits for nobody isn't in anybody's way.
    let mut kept = ANSWER.try_lock();
    let recent = kept.as_ref().ok().and_then(|answer| **answer).filter(|(since, _)| since.elapsed() < RECENT);
    let (since, free) = match recent.filter(|(_, free)| bytes <= free / 2) {
        Some(recent) => recent,
        None => match available() {
            Some(free) => (Instant::now(), free),
            None => return true,
        },
    };
    let may = bytes <= free / 2;
    if let Ok(answer) = &mut kept {
        **answer = Some((since, if may { free - bytes } else { free }));
    }
    may
}

/// Whether the process may have no more than so much address space, or data (`ulimit -v`, `ulimit -d`). What copies, threads with their stacks and a GPU's driver take of that, the
/// program lacks: it would be told that there is no memory where `cc`'s has enough.
pub fn are_set() -> bool {
    [libc::RLIMIT_AS, libc::RLIMIT_DATA].into_iter().any(|what| {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: only asks, into a local variable.
        unsafe { libc::getrlimit(what, &raw mut limit) != 0 || limit.rlim_cur != libc::RLIM_INFINITY }
    })
}

/// How many bytes of buffers may be kept while nobody uses them: a small part of what there is, asked for once.
pub fn to_keep() -> u64 {
    static TO_KEEP: OnceLock<u64> = OnceLock::new();
    *TO_KEEP.get_or_init(|| {
        // SAFETY: no preconditions.
        let (pages, size) =
            unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
        let system = u64::try_from(pages).unwrap_or(0).saturating_mul(u64::try_from(size).unwrap_or(0));
        let all = group("memory.max").map_or(system, |group| group.min(system));
        (all / 32).clamp(64 << 20, 2 << 30)
    })
}

/// How many bytes may be remembered of what was in the program's memory: no more than half of what the program has there itself, and a small part of what there is.
pub fn to_remember() -> u64 {
    const LEAST: u64 = 16 << 20;
    // What is remembered is a part of it.
    (resident() / 3).clamp(LEAST, to_keep())
}

/// Bytes that the process has in memory.
fn resident() -> u64 {
    let pages = || -> Option<u64> {
        std::fs::read_to_string("/proc/self/statm").ok()?.split_ascii_whitespace().nth(1)?.parse().ok()
    };
    // SAFETY: no preconditions.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    pages().unwrap_or(0).saturating_mul(u64::try_from(size).unwrap_or(0))
}

/// A number of our control group's, if it has one.
fn group(name: &str) -> Option<u64> {
    std::fs::read_to_string(format!("/sys/fs/cgroup/{name}")).ok()?.trim().parse().ok()
}

/// Free memory of the system and of our control group, whichever is less.
fn available() -> Option<u64> {
    let meminfo = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = meminfo.lines().find_map(|l| l.strip_prefix("MemAvailable:"))?;
    let system = line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()? << 10;
    let group = group("memory.max").zip(group("memory.current")).map(|(max, now)| max.saturating_sub(now));
    Some(group.map_or(system, |g| g.min(system)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absurd_sizes_do_not_fit() {
        assert!(fits(1 << 20));
        assert!(!fits(1 << 60));
        assert!((64 << 20..=2 << 30).contains(&to_keep()));
        assert!((16 << 20..=to_keep()).contains(&to_remember()));
    }

    #[test]
    fn what_may_be_remembered_grows_with_the_process() {
        // Tests beside this one take and free memory, too.
        const BYTES: u64 = 200 << 20;
        let memory = std::hint::black_box(vec![1u8; BYTES as usize]);
        assert!(resident() >= BYTES && to_remember() >= BYTES / 4, "{}", memory.len());
    }
}
