//! The C library ends a process with its last thread, as `exit(0)` does: a program's `main` may end by `pthread_exit`, and the threads that it has started go on. Ours, which never end by
//! themselves, would keep such a process for good, and signals would not end it, because they block them. So one of them looks from time to time whether the process's first
//! thread is dead, and all others are ours.
//!
//! Who is whose is known by number, not by name: threads of the program's inherit its name, which may be one of ours. Only those of the GPU's driver are known by what they are
//! called, and by the signals that they have inherited from the thread that opened it; where the program uses the driver itself, they are its own, and keep the process with `cc`, too.

use crate::memory::tracking;
use crate::own_threads::FOR_CUDA;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How often it looks. It takes some microseconds as long as the first thread lives.
const PAUSE: Duration = Duration::from_millis(50);
/// One look in so many lists all threads, though they are as many as they were.
const SELDOM: u32 = 400;
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
    let mut looked = Looked::default();
    let code = loop {
        std::thread::sleep(PAUSE);
        if let Some(code) = looked.end() {
            break code;
        }
    };
    // SAFETY: a set of ours, and what the C library does behind the last thread. Handlers at exit find no signals blocked, as nearly all programs' last threads leave them.
    unsafe {
        if code != 0 {
            // It has ended by the system call itself, which the C library knows nothing of.
            libc::_exit(code >> 8 & 0xff);
        }
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
        libc::exit(0);
    }
}

/// How many threads there were, and of ours, when it was seen that the program has some.
#[derive(Default)]
struct Looked {
    last: Option<(u64, usize)>,
    looks: u32,
}

impl Looked {
    /// What the first thread has ended with, once the program has no thread any more. The program may close any descriptor and count on the next one being the lowest that is free, so none is
    /// opened as long as the first thread lives, nor, but for once in a while, as long as there are as many others as there were.
    fn end(&mut self) -> Option<i32> {
        let first: u64 = fs::read_link("/proc/self").ok()?.to_str()?.parse().ok()?;
        if !has_ended(first) {
            return None;
        }
        let found = (fs::metadata("/proc/self/task").ok()?.nlink(), own().len());
        self.looks += 1;
        if self.last == Some(found) && !self.looks.is_multiple_of(SELDOM) {
            return None;
        }
        self.last = Some(found);
        let code = code_of_dead(&fs::read_to_string(format!("/proc/self/task/{first}/stat")).ok()?)?;
        // One list shows all there are: a thread that isn't in it yet was begun by one that is. Whoever ends meanwhile is none of ours, so it is looked again.
        threads()?.into_iter().all(|thread| thread == first || is_ours(thread)).then_some(code)
    }
}

/// Whether a thread has ended that others have outlived: it has no memory any more, which is where the program's file is known from.
fn has_ended(thread: u64) -> bool {
    let of_thread = format!("/proc/self/task/{thread}");
    let file = fs::read_link(format!("{of_thread}/exe"));
    file.is_err_and(|error| error.kind() == ErrorKind::NotFound) && fs::metadata(of_thread).is_ok()
}

fn threads() -> Option<Vec<u64>> {
    let all = fs::read_dir("/proc/self/task").ok()?;
    all.map(|thread| thread.ok()?.file_name().to_str()?.parse().ok()).collect()
}

/// What a thread has ended with that others have outlived, by what the system says of it. `None`: it has not.
fn code_of_dead(stat: &str) -> Option<i32> {
    // Its name is in parentheses, and may have some. What comes behind are fields 3 to 52.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let is_dead = fields.next().is_some_and(|state| state == "Z" || state == "X");
    is_dead.then(|| fields.nth(48).and_then(|code| code.parse().ok()).unwrap_or(0))
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
        let numbers = |last: &str| format!("{}{last}", "1 ".repeat(48));
        for (stat, code) in [
            (format!("17 (a program) S {}", numbers("0")), None),
            (format!("17 (a) Z) R {}", numbers("768")), None),
            (format!("17 (a program) Z {}\n", numbers("0")), Some(0)),
            (format!("17 (a) S) Z {}\n", numbers("768")), Some(768)),
            ("17 (a program) Z 1 17".into(), Some(0)),
            (String::new(), None),
        ] {
            assert_eq!(code_of_dead(&stat), code, "{stat}");
        }
        assert!(Looked::default().end().is_none());
        // Of itself a thread is there, and none that never was has ended.
        assert!(!of_thread("anything", has_ended) && !has_ended(u64::MAX));
    }
}
