//! How much memory copies may take, so that speculation never drives a program into the out-of-memory killer.

/// Below this nobody asks: asking costs some microseconds.
const SMALL: u64 = 64 << 20;

/// Whether buffers of `bytes` in all leave the system at least as much again.
pub fn fits(bytes: u64) -> bool {
    bytes <= SMALL || available().is_none_or(|free| bytes <= free / 2)
}

/// Free memory of the system and of our control group, whichever is less.
fn available() -> Option<u64> {
    let meminfo = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = meminfo.lines().find_map(|l| l.strip_prefix("MemAvailable:"))?;
    let system = line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()? << 10;
    let number = |name: &str| {
        std::fs::read_to_string(format!("/sys/fs/cgroup/{name}")).ok()?.trim().parse::<u64>().ok()
    };
    let group = number("memory.max").zip(number("memory.current")).map(|(max, now)| max.saturating_sub(now));
    Some(group.map_or(system, |g| g.min(system)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absurd_sizes_do_not_fit() {
        assert!(fits(1 << 20));
        assert!(!fits(1 << 60));
    }
}
