//! A keeper that keeps pages elsewhere in the process, and what programs do with such pages, each in a child that has one thread.

mod calls;
mod company;
mod endings;
mod random;
mod refusals;

use super::calls::PAGE;
use super::*;
use crate::memory::coherence::arenas;
use crate::memory::tracking;
use std::sync::atomic::AtomicU64;

const PAGES: usize = 16;
const BYTES: usize = PAGES * PAGE as usize;

const HOME: u8 = 0;
/// Elsewhere it is the same.
const SAME: u8 = 1;
const AWAY: u8 = 2;

/// Keeps pages of one mapping.
struct Fake {
    start: u64,
    elsewhere: u64,
    pages: [AtomicU8; PAGES],
    faults: AtomicU64,
    touched: AtomicU64,
}

fn mapping() -> u64 {
    let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: new memory.
    unsafe { libc::mmap(std::ptr::null_mut(), BYTES, access, kind, -1, 0) as u64 }
}

impl Fake {
    fn new() -> &'static Fake {
        let fake = Fake {
            start: mapping(),
            elsewhere: mapping(),
            pages: Default::default(),
            faults: AtomicU64::new(0),
            touched: AtomicU64::new(0),
        };
        let fake: &'static Fake = Box::leak(Box::new(fake));
        for at in 0..BYTES {
            fake.byte(at).store(expected(at), Ordering::Relaxed);
        }
        fake
    }
    /// A byte of the memory, which may be away.
    fn byte(&self, at: usize) -> &AtomicU8 {
        // SAFETY: of the mapping.
        unsafe { AtomicU8::from_ptr((self.start as *mut u8).add(at)) }
    }
    fn pointer<T>(&self, at: usize) -> *mut T {
        (self.start + at as u64) as *mut T
    }
    fn of(&self, page: usize) -> [u64; 2] {
        [self.start, self.elsewhere].map(|start| start + page as u64 * PAGE)
    }
    fn protect(&self, page: usize, access: i32) {
        let [own, _] = self.of(page);
        // SAFETY: of the mapping.
        let failed = unsafe { libc::mprotect(own as *mut libc::c_void, PAGE as usize, access) };
        assert_eq!(failed, 0);
    }
    /// A loop has stored to a page elsewhere, where it stays.
    fn keep(&self, page: usize) {
        let [own, elsewhere] = self.of(page).map(|page| page as *mut u8);
        if self.pages[page].load(Ordering::Relaxed) == HOME {
            // SAFETY: both are there.
            unsafe {
                std::ptr::copy_nonoverlapping(own, elsewhere, PAGE as usize);
                std::ptr::write_bytes(own, 0x5a, PAGE as usize);
            }
            self.protect(page, libc::PROT_NONE);
            self.pages[page].store(AWAY, Ordering::Relaxed);
        }
    }
    fn bring(&self, page: usize, stores: bool) {
        let state = self.pages[page].load(Ordering::Relaxed);
        if state == HOME || state == SAME && !stores {
            return;
        }
        self.protect(page, libc::PROT_READ | libc::PROT_WRITE);
        let [own, elsewhere] = self.of(page).map(|page| page as *mut u8);
        if state == AWAY {
            // SAFETY: both are there.
            unsafe { std::ptr::copy_nonoverlapping(elsewhere, own, PAGE as usize) };
        }
        if !stores {
            self.protect(page, libc::PROT_READ);
        }
        self.pages[page].store(if stores { HOME } else { SAME }, Ordering::Relaxed);
    }
    fn pages(&self, lo: u64, hi: u64) -> std::ops::Range<usize> {
        let page = |at: u64| ((at.clamp(self.start, self.start + BYTES as u64) - self.start) / PAGE) as usize;
        if lo >= hi || hi <= self.start || lo >= self.start + BYTES as u64 {
            return 0..0;
        }
        page(lo)..page(hi - 1).min(PAGES - 1) + 1
    }
    fn state(&self, page: usize) -> u8 {
        self.pages[page].load(Ordering::Relaxed)
    }
    fn is_home(&self) -> bool {
        (0..PAGES).all(|page| self.state(page) == HOME)
    }
    /// All pages are away, and everything is armed.
    fn all_away() -> &'static Fake {
        let fake = Fake::new();
        fake.keep_all();
        fake
    }
    fn keep_all(&'static self) {
        let _inside = Inside::begin();
        arm(self).unwrap();
        (0..PAGES).for_each(|page| self.keep(page));
    }
}

/// What stands in a byte to begin with.
fn expected(at: usize) -> u8 {
    (at * 7 + at / 251) as u8
}

impl Keeper for Fake {
    fn fault(&self, address: u64, stores: bool) -> bool {
        self.faults.fetch_add(1, Ordering::Relaxed);
        let pages = self.pages(address, address.saturating_add(1));
        let Some(page) = pages.clone().next() else { return false };
        let state = self.state(page);
        if state == HOME || state == SAME && !stores {
            return false;
        }
        self.bring(page, stores);
        // Whoever serves it may have called anything.
        errno::set(99);
        true
    }
    fn touch(&self, lo: u64, hi: u64, stores: bool) {
        self.touched.fetch_add(1, Ordering::Relaxed);
        self.pages(lo, hi).for_each(|page| self.bring(page, stores));
        errno::set(98);
    }
    fn keeps(&self, lo: u64, hi: u64) -> bool {
        self.pages(lo, hi).any(|page| self.state(page) != HOME)
    }
    fn keeps_any(&self) -> bool {
        self.keeps(0, u64::MAX)
    }
    fn reaches(&self, _: u64, _: u64) -> bool {
        false
    }
    fn bring_home(&self) {
        (0..PAGES).for_each(|page| self.bring(page, true));
        errno::set(97);
    }
}

/// Handlers and dispatch are as they were.
fn disarm() {
    end_by(&mut || {});
}

/// What has become of a child that does this, whose signals are handled by nobody: what `waitpid` says.
fn child(work: impl FnOnce()) -> Child {
    // SAFETY: the child does what it is told and ends.
    unsafe {
        let held = tracking::hold();
        let child = libc::fork();
        drop(held);
        if child == 0 {
            for signal in 1..=31 {
                libc::signal(signal, libc::SIG_DFL);
            }
            let limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
            libc::setrlimit(libc::RLIMIT_CORE, &raw const limit);
            libc::alarm(60);
            arenas::forget();
            close_files_of_processes();
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
            // Nobody prints what the harness keeps.
            if let Err(panic) = &result {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("panic");
                libc::write(2, text.as_ptr().cast(), text.len());
            }
            libc::_exit(i32::from(result.is_err()));
        }
        assert!(child > 0);
        Child(child)
    }
}

/// In a child: closes what another test was just reading, in another thread of the parent's. A program with a file of processes open can't be armed.
///
/// # Safety
/// Nobody uses them.
unsafe fn close_files_of_processes() {
    // SAFETY: of any number it can be asked.
    let limit = unsafe { libc::sysconf(libc::_SC_OPEN_MAX) };
    for descriptor in 3..limit.clamp(3, 4096) as i32 {
        if alone::is_of_processes(descriptor) {
            // SAFETY: promised by the caller; where there is none, nothing happens.
            unsafe { libc::close(descriptor) };
        }
    }
}

struct Child(i32);

impl Child {
    fn status(self) -> i32 {
        let mut status = -1;
        // SAFETY: a child of ours.
        assert_eq!(unsafe { libc::waitpid(self.0, &raw mut status, 0) }, self.0);
        status
    }
    /// Nothing has failed in it.
    #[track_caller]
    fn succeeds(self) {
        let status = self.status();
        assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0, "{status:#x}");
    }
    /// A signal has ended it.
    #[track_caller]
    fn ends_by(self, signal: i32) {
        let status = self.status();
        assert!(libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == signal, "{status:#x}");
    }
}

/// Nothing has ended it.
#[track_caller]
fn is_still_armed() {
    assert!(is_armed());
}

#[test]
fn loads_and_stores_find_their_pages() {
    child(|| {
        let fake = Fake::all_away();
        errno::set(5);
        for page in 0..PAGES {
            let at = page * PAGE as usize + 17 * page;
            assert_eq!(fake.byte(at).load(Ordering::Relaxed), expected(at));
            assert_eq!(fake.state(page), SAME);
        }
        assert_eq!(fake.faults.load(Ordering::Relaxed), PAGES as u64);
        fake.byte(3).store(200, Ordering::Relaxed);
        assert_eq!((fake.state(0), fake.state(1)), (HOME, SAME));
        assert_eq!(fake.faults.load(Ordering::Relaxed), PAGES as u64 + 1);
        assert_eq!(errno::get(), 5);
        fake.keep_all();
        // Over the edge of two pages.
        let edge = fake.pointer::<u64>(3 * PAGE as usize - 4);
        // SAFETY: of the mapping.
        unsafe {
            let bytes: [u8; 8] = std::array::from_fn(|byte| expected(3 * PAGE as usize - 4 + byte));
            assert_eq!(edge.read_unaligned(), u64::from_le_bytes(bytes));
            edge.write_unaligned(1);
        }
        assert_eq!((fake.state(2), fake.state(3)), (HOME, HOME));
        is_still_armed();
        let _inside = Inside::begin();
        fake.bring_home();
        disarm();
        assert!(!is_armed() && fake.byte(3).load(Ordering::Relaxed) == 200);
    })
    .succeeds();
}

#[test]
fn everything_is_as_it_was_after_disarming() {
    let found = || {
        // SAFETY: only asks.
        let stack = unsafe {
            let mut stack: libc::stack_t = std::mem::zeroed();
            libc::sigaltstack(std::ptr::null(), &raw mut stack);
            (stack.ss_sp, stack.ss_flags, stack.ss_size)
        };
        ((1..=64).map(Action::of).collect::<Vec<_>>(), stack)
    };
    child(|| {
        let before = found();
        let fake = Fake::all_away();
        // SAFETY: as above.
        let inside = Inside::begin();
        let armed = found();
        assert!(armed.0 != before.0 && armed.1 != before.1);
        fake.bring_home();
        disarm();
        assert!(found() == before);
        drop(inside);
        // Now the program does it, by asking.
        for _ in 0..3 {
            fake.keep_all();
            assert!(found() == before && !is_armed() && fake.is_home());
        }
        let other: [u8; 65536] = [1; 65536];
        let stack = libc::stack_t { ss_sp: other.as_ptr() as *mut _, ss_flags: 0, ss_size: 65536 };
        // SAFETY: nobody uses it.
        unsafe { libc::sigaltstack(&raw const stack, std::ptr::null_mut()) };
        let before = found();
        fake.keep_all();
        assert!(found() == before && !is_armed());
    })
    .succeeds();
}

#[test]
fn the_runtimes_own_calls_pass() {
    child(|| {
        let fake = Fake::all_away();
        let inside = Inside::begin();
        assert!(Action::of(libc::SIGSEGV).is_some_and(|action| action.handler != 0));
        // The gate's always do; the C library's while the selector says so.
        let asks = || {
            let mut action = Action::DEFAULT;
            // SAFETY: only asks.
            unsafe { libc::syscall(libc::SYS_rt_sigaction, libc::SIGSEGV, 0, &raw mut action, 8) };
            action.handler != 0
        };
        assert!(asks() && is_armed() && fake.touched.load(Ordering::Relaxed) == 0);
        assert!(!inside.outside(asks));
        assert!(!is_armed() && fake.is_home());
        drop(inside);
        fake.keep_all();
        assert!(is_armed() && !asks() && !is_armed());
    })
    .succeeds();
}

#[test]
#[ignore = "prints times"]
fn what_it_costs() {
    child(|| {
        let fake = Fake::new();
        let time = |what: &str, times: u32, work: &mut dyn FnMut()| {
            let start = std::time::Instant::now();
            (0..times).for_each(|_| work());
            eprintln!("{what}: {:.3} us", start.elapsed().as_secs_f64() * 1e6 / f64::from(times));
        };
        let ask = || {
            // SAFETY: only asks.
            unsafe { libc::syscall(libc::SYS_getppid) };
        };
        time("a call, nothing armed", 100_000, &mut || ask());
        time("entering and leaving", 10_000_000, &mut || drop(Inside::begin()));
        let inside = Inside::begin();
        time("arming and disarming", 1000, &mut || {
            arm(fake).unwrap();
            disarm();
        });
        time("looking whether it may be armed", 1000, &mut || alone::check().unwrap());
        arm(fake).unwrap();
        time("a call of the runtime's", 100_000, &mut || ask());
        drop(inside);
        time("a call of the program's", 100_000, &mut || ask());
        time("a page kept and loaded from", 10_000, &mut || {
            let inside = Inside::begin();
            fake.bring(0, true);
            fake.keep(0);
            drop(inside);
            fake.byte(0).load(Ordering::Relaxed);
        });
        time("the same without a fault", 10_000, &mut || {
            let _inside = Inside::begin();
            fake.bring(0, true);
            fake.keep(0);
            fake.bring(0, false);
        });
        time("a call that ends it, and arming", 1000, &mut || {
            fake.keep_all();
            // SAFETY: no effect.
            unsafe { libc::syscall(libc::SYS_kill, libc::getpid(), 0) };
            assert!(!is_armed());
        });
    })
    .succeeds();
}
