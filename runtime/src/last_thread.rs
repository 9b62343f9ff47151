//! The C library ends a process with its last thread, as `exit(0)` does: a program's `main` may end by `pthread_exit`, and the threads that it has started go on. Ours, which never end by
//! themselves, would keep such a process for good, and signals would not end it, because they block them. So one of them looks from time to time whether the process's first
//! thread is dead, and all others are ours.
//!
//! Who is whose is known by number, not by name: threads of the program's inherit its name, which may be one of ours. Only those of the GPU's driver are known by what they are
//! called, and by the signals that they have inherited from the thread that opened it; where the program uses the driver itself, they are its own, and keep the process with `cc`, too.

use crate::memory::tracking;
use crate::own_threads::FOR_CUDA;
use std::fs;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How often it looks. It takes some ten microseconds as long as the first thread lives.
const PAUSE: Duration = Duration::from_millis(50);
/// How the names of the driver's own threads begin.
const OF_DRIVER: &str = "cuda";
/// Signals that threads of the program's hardly block all at once: `SIGHUP`, `SIGINT`, `SIGUSR1`, `SIGALRM`, `SIGTERM`.
const BLOCKED: u64 = 1 << (libc::SIGHUP - 1)
    | 1 << (libc::SIGINT - 1)
    | 1 << (libc::SIGUSR1 - 1)
    | 1 << (libc::SIGALRM - 1)
    | 1 << (libc::SIGTERM - 1);

/// Our threads, by the numbers that the system's files have for them.
static OWN: Mutex<Vec<u64>> = Mutex::new(Vec::new());

fn own() -> std::sync::MutexGuard<'static, Vec<u64>> {
    OWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// While it lives the calling thread is one of ours.
pub struct Ours(Option<u64>);

impl Ours {
    /// From now on. Where the system doesn't tell its number it counts as the program's.
    pub fn begin() -> Ours {
        let number = fs::read_link("/proc/thread-self").ok();
        let number = number.and_then(|path| path.file_name()?.to_str()?.parse().ok());
        own().extend(number);
        Ours(number)
    }
}

impl Drop for Ours {
    fn drop(&mut self) {
        own().retain(|number| Some(*number) != self.0);
    }
}

/// Ends the process as its last thread would have ended it, once there is none but ours. On a thread of ours that does nothing else.
pub fn stand_in() {
    while !is_over() {
        std::thread::sleep(PAUSE);
    }
    // SAFETY: a set of ours, and what the C library does behind the last thread. Handlers at exit find no signals blocked, as nearly all programs' last threads leave them.
    unsafe {
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
        libc::exit(0);
    }
}

/// Whether the program has no thread any more.
fn is_over() -> bool {
    let Some(first) = fs::read_link("/proc/self").ok().and_then(|path| path.to_str()?.parse::<u64>().ok())
    else {
        return false;
    };
    let is_dead =
        fs::read_to_string(format!("/proc/self/task/{first}/stat")).is_ok_and(|stat| is_dead(&stat));
    // One list shows all there are: a thread that isn't in it yet was begun by one that is. Whoever ends meanwhile is none of ours, so it is looked again.
    is_dead && threads().is_some_and(|all| all.into_iter().all(|thread| thread == first || is_ours(thread)))
}

fn threads() -> Option<Vec<u64>> {
    let all = fs::read_dir("/proc/self/task").ok()?;
    all.map(|thread| thread.ok()?.file_name().to_str()?.parse().ok()).collect()
}

/// Whether that is what the system says of a thread that has ended, and that others have outlived.
fn is_dead(stat: &str) -> bool {
    // Its name is in parentheses, and may have some.
    stat.rsplit_once(')').is_some_and(|(_, rest)| matches!(rest.trim_start().chars().next(), Some('Z' | 'X')))
}

fn is_ours(thread: u64) -> bool {
    own().contains(&thread) || tracking::driver_is_ours() && is_of_driver(thread)
}

fn is_of_driver(thread: u64) -> bool {
    let status = fs::read_to_string(format!("/proc/self/task/{thread}/status")).unwrap_or_default();
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let is_called_so = field("Name:")
        .is_some_and(|name| name.starts_with(OF_DRIVER) || name.as_bytes() == FOR_CUDA.to_bytes());
    let blocked = field("SigBlk:").and_then(|blocked| u64::from_str_radix(blocked, 16).ok());
    is_called_so && blocked.is_some_and(|blocked| blocked & BLOCKED == BLOCKED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::own_threads::BlockSignals;
    use std::sync::mpsc::channel;

    /// What is said of a thread by one that is called so, while it lives.
    fn of_thread<T: Send + 'static>(name: &str, work: impl FnOnce(u64) -> T + Send + 'static) -> T {
        let thread = std::thread::Builder::new().name(name.into()).spawn(move || {
            let path = fs::read_link("/proc/thread-self").unwrap();
            work(path.file_name().unwrap().to_str().unwrap().parse().unwrap())
        });
        thread.unwrap().join().unwrap()
    }

    #[test]
    fn threads_are_ours_by_number_and_as_long_as_they_say_so() {
        for name in ["paragon", "anything"] {
            assert_eq!(
                of_thread(name, |own| {
                    let before = is_ours(own);
                    let ours = Ours::begin();
                    let meanwhile = is_ours(own);
                    drop(ours);
                    [before, meanwhile, is_ours(own)]
                }),
                [false, true, false]
            );
        }
        let (sender, seen) = channel();
        assert!(crate::own_threads::start(crate::own_threads::HELPER, move || {
            let path = fs::read_link("/proc/thread-self").unwrap();
            sender.send(is_ours(path.file_name().unwrap().to_str().unwrap().parse().unwrap())).unwrap();
        }));
        assert!(seen.recv().unwrap());
    }

    #[test]
    fn the_drivers_are_known_by_name_and_signals() {
        for (name, blocks, is_its) in [
            ("cuda-EvtHandlr", true, true),
            ("paragon-cuda", true, true),
            ("cuda-EvtHandlr", false, false),
            ("program", true, false),
        ] {
            let found = of_thread(name, move |own| {
                let _blocked = blocks.then(BlockSignals::new);
                is_of_driver(own)
            });
            assert_eq!(found, is_its, "{name} {blocks}");
        }
    }

    #[test]
    fn the_first_thread_is_dead_or_alive() {
        for (stat, dead) in [
            ("17 (a program) S 1 17", false),
            ("17 (a) Z) R 1 17", false),
            ("17 (a program) Z 1 17", true),
            ("17 (a) S) Z 1 17", true),
            ("", false),
        ] {
            assert_eq!(is_dead(stat), dead, "{stat}");
        }
        assert!(!is_over());
    }
}
