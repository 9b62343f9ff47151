//! How much memory copies may take, so that speculation never drives a program into the out-of-memory killer, and whether the program has a bound of its own.

use std::sync::OnceLock;

/// Below this nobody asks: asking costs some microseconds.
const SMALL: u64 = 64 << 20;

/// Whether buffers of `bytes` in all leave the system at least as much again.
pub fn fits(bytes: u64) -> bool {
    bytes <= SMALL || available().is_none_or(|free| bytes <= free / 2)
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
    }
}
