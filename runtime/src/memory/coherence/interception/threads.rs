//! The threads of the program's whose faults and system calls are noticed: its first one, which is armed, and those that are begun while it is. Nothing is kept away for threads that
//! were there before ([`super::super::alone`]), and no loop is served while there is a second one: whoever enters a loop brings everything home first
//! ([`have_company`]). So all that can happen while there are several is that memory comes home, for one of them, and ends the interception for all.
//!
//! **Beginning.** The kernel dispatches system calls for the thread that asks for it, so a new one asks before it comes to the program's code: the call that begins it is
//! made by [`gate::begin`], which has it come here first ([`on_begin`]).
//!
//! **Stopping.** What comes home is not to be seen half. So whoever changes what the program may do with its memory, or ends the interception, has all others stopped meanwhile: those that run
//! code of the program's get a signal and wait in its handler, those that are in a handler of ours, most of them in a system call that is made there, wait where it
//! ends ([`stop`]). Code of the runtime's isn't stopped but waited for: it may have locks that whoever stops it needs. Then nobody is between a fault, or a call that is dispatched, and the handler
//! for it, either, so that handlers can be put back as they were. One thread at a time does any of that ([`hold`]); it needs nothing that a thread which has been stopped anywhere may
//! have: no lock, no memory of the program's allocator.
//!
//! The signal ([`SIGNAL`]) isn't `SIGSYS`: one that waits would make the system forget a call that is dispatched. A system call that is interrupted by it is made again; one that only waits some time
//! waits longer then, by what had passed.
//!
//! **The end.** Whoever ends the interception releases the others ([`release`]). Nobody stays in a handler of ours then, where a handler of the program's, or its cancellation, would find
//! frames that aren't its own: a thread that waits in a call goes back to where the program makes it, and makes it by itself. None of them runs any code of the program's before all have come so far
//! ([`wait_for_others`], [`let_go`]).

use super::super::arenas;
use super::{BLOCKS, GUARD, PASSES, SELECTOR, STACK, calls, gate, kernel};
use crate::errno;
use crate::floating_point;
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, AtomicU32, AtomicU64, Ordering};

/// So many threads at most, the first one with them.
const MOST: usize = 32;

/// What stops a thread. Nothing comes of it by default, wherever it comes from. Programs that handle it have nothing kept away, and threads that begin where it was blocked before aren't intercepted.
pub const SIGNAL: i32 = libc::SIGURG;

/// There is no such thread.
const NONE: u8 = 0;
/// It has been begun, and runs no code of the program's yet.
const BEGINS: u8 = 1;
/// It runs.
const IS_THERE: u8 = 2;
/// It makes its last call.
const LEAVES: u8 = 3;

/// It waits in a call of the program's.
pub const WAITS: u8 = 1;
/// The same, for what is left of a call of which a part is done.
pub const WAITS_AGAIN: u8 = 2;

/// A thread whose faults and calls are noticed.
#[repr(C)]
pub struct Thread {
    /// First, because code that isn't Rust's looks for it here.
    beginning: UnsafeCell<gate::Beginning>,
    state: AtomicU8,
    id: AtomicI32,
    /// What the kernel looks at when it makes a system call: nothing of its own, which might be gone before its last one.
    selector: AtomicU8,
    /// Whether it is in a handler of ours, or waits for its turn.
    is_inside: AtomicBool,
    /// Whether the interception has ended, which it has to see to for itself.
    is_released: AtomicBool,
    /// Whether it is the one that has ended it, and has to wait for the others.
    has_ended: AtomicBool,
    /// Whether it was sent the signal that stops it and hasn't got it yet; and how often it has got it.
    is_told: AtomicBool,
    got: AtomicU64,
    /// Whether it is about to make a call that it may wait in, or waits ([`gate::wait`]).
    waits: AtomicU8,
    /// Where its stack is while it waits for its turn in code of the runtime; 0: it doesn't.
    stands_at: AtomicU64,
    /// Of the signals that have handlers of ours, those that it takes for blocked: they never are, but for those that have been put off.
    blocked: AtomicU64,
    /// Signals that wait until it leaves code of the runtime.
    put_off: AtomicU64,
    own: UnsafeCell<Own>,
}

/// What is only the thread's, or whose who begins it.
#[derive(Clone, Copy)]
struct Own {
    /// The stack for handlers that it had before.
    stack_before: libc::stack_t,
    /// What the outermost handler on it has interrupted, and the `errno` there.
    interrupted: *mut libc::ucontext_t,
    errno: i32,
    /// Where it has tried in vain to load or store, by which instruction, and what had come home by then.
    tried: (u64, i64, u64),
    /// The stack that its handlers run on, with a page in front that nobody may touch; 0: there is none yet.
    stack: usize,
    /// Of the program's floating-point environment, what threads begin with.
    mxcsr: u32,
    x87: u16,
    /// The mask of signals that it begins with, and those that it takes for blocked besides.
    mask: u64,
    blocked: u64,
}

// SAFETY: what isn't atomic is its thread's, and before it begins that of whoever begins it, one at a time.
unsafe impl Sync for Thread {}

static THREADS: [Thread; MOST] = [const { Thread::none() }; MOST];
/// How many there are besides the first one.
static COMPANY: AtomicU32 = AtomicU32::new(0);
/// Whether there have been any since the first one was armed.
static HAD_COMPANY: AtomicBool = AtomicBool::new(false);
/// How often something has come home.
static OPENED: AtomicU64 = AtomicU64::new(0);

impl Thread {
    const fn none() -> Thread {
        // SAFETY: numbers and addresses, of which zero is one.
        let own = unsafe { std::mem::zeroed() };
        Thread {
            beginning: UnsafeCell::new(gate::Beginning { call: on_begin, registers: [0; _] }),
            state: AtomicU8::new(NONE),
            id: AtomicI32::new(0),
            selector: AtomicU8::new(BLOCKS),
            is_inside: AtomicBool::new(false),
            is_released: AtomicBool::new(false),
            has_ended: AtomicBool::new(false),
            is_told: AtomicBool::new(false),
            got: AtomicU64::new(0),
            waits: AtomicU8::new(0),
            stands_at: AtomicU64::new(0),
            blocked: AtomicU64::new(0),
            put_off: AtomicU64::new(0),
            own: UnsafeCell::new(own),
        }
    }

    /// What the kernel looks at when it makes a system call.
    pub fn selector(&self) -> &AtomicU8 {
        &self.selector
    }

    /// Of the signals that have handlers of ours, those that the thread takes for blocked.
    pub fn blocked(&self) -> &AtomicU64 {
        &self.blocked
    }

    /// Whether it is the process's first.
    pub fn is_first(&self) -> bool {
        std::ptr::eq(self, &raw const THREADS[0])
    }

    /// How often it has got the signal that stops it.
    pub fn got(&self) -> u64 {
        self.got.load(Ordering::SeqCst)
    }

    /// It has got one more: a call that was interrupted by it wouldn't have been without us, whoever has sent it.
    pub fn note_got(&self) {
        self.got.fetch_add(1, Ordering::SeqCst);
    }

    /// [`WAITS`] or [`WAITS_AGAIN`] while it is about to wait in a call, or does: for [`gate::wait`].
    pub fn waits(&self) -> &AtomicU8 {
        &self.waits
    }

    /// In the handler of [`SIGNAL`], which may have interrupted the thread anywhere. A handler of ours sees for itself to it that it stops, and so does code of the runtime: the signal comes again until
    /// it has been left.
    pub fn is_told_to_stop(&self, interrupted: &mut libc::ucontext_t) {
        self.note_got();
        self.is_told.store(false, Ordering::SeqCst);
        if self.handles_at(interrupted.uc_mcontext.gregs[libc::REG_RSP as usize] as usize) {
            self.goes_back(interrupted);
        } else if self.selector.load(Ordering::Relaxed) == BLOCKS {
            let is_outermost = self.enter(interrupted);
            self.leave(is_outermost);
        }
    }

    /// In a handler that has interrupted another one of ours on the thread: if that waits in a call, or is about to, and the interception has ended, the thread goes back to where the program makes
    /// the call.
    pub fn goes_back(&self, interrupted: &libc::ucontext_t) {
        let registers = &interrupted.uc_mcontext.gregs;
        let (at, result) = (registers[libc::REG_RIP as usize], registers[libc::REG_RAX as usize]);
        // Where the call has been made its result is the program's, unless it is that of being interrupted.
        let is_made = at as u64 == gate::behind_wait() && result != -i64::from(libc::EINTR);
        if self.is_released() && self.waits.load(Ordering::SeqCst) == WAITS && !is_made {
            self.waits.store(0, Ordering::SeqCst);
            // SAFETY: the outermost handler's frame, on this stack; nobody has returned from it, and what lies between has nothing to undo but what is undone here.
            unsafe {
                let outermost = &mut *self.get_out();
                outermost.uc_mcontext.gregs[libc::REG_RIP as usize] -= kernel::INSTRUCTION;
                errno::set((*self.own.get()).errno);
                self.selector.store(BLOCKS, Ordering::Relaxed);
                self.is_inside.store(false, Ordering::SeqCst);
                gate::back_to(outermost);
            }
        }
    }

    /// In a handler, where the interception has ended: the thread has nothing more to do with it. What the outermost handler has interrupted; until that goes on, or somebody allows it, no signal
    /// arrives.
    ///
    /// # Safety
    /// In a handler on the thread.
    pub unsafe fn get_out(&self) -> *mut libc::ucontext_t {
        let has_ended = self.has_ended.swap(false, Ordering::SeqCst);
        // SAFETY: promised by the caller; the mask before comes back with what was interrupted.
        let outermost = unsafe {
            let outermost = (*self.own.get()).interrupted;
            if has_ended {
                // What ends the process by default may do so meanwhile: no code of the program's runs, which could have handlers.
                wait_for_others(self);
            }
            block(u64::MAX);
            wait_while(&STOPS);
            self.finish(outermost.as_mut());
            outermost
        };
        self.is_gone();
        if has_ended {
            let_go()
        } else {
            wait_while(&RELEASES)
        }
        outermost
    }

    /// Whether the program has blocked a signal, which isn't.
    pub fn takes_for_blocked(&self, signal: i32) -> bool {
        self.blocked.load(Ordering::Relaxed) >> (signal - 1) & 1 != 0
    }

    /// A signal that has come at the wrong time is blocked until [`let_come`].
    pub fn put_off(&self, signal: i32) {
        self.put_off.fetch_or(1 << (signal - 1), Ordering::SeqCst);
        IS_PUT_OFF.store(true, Ordering::SeqCst);
    }

    /// Whether the interception has ended while it waited to do something about it.
    pub fn is_released(&self) -> bool {
        self.is_released.load(Ordering::SeqCst)
    }

    fn is(&self, state: u8) -> bool {
        self.state.load(Ordering::SeqCst) == state
    }

    /// In a handler on the thread, first of all. True: it is the outermost one. See [`Thread::leave`].
    pub fn enter(&self, interrupted: *mut libc::ucontext_t) -> bool {
        let is_outermost = !self.is_inside.swap(true, Ordering::SeqCst);
        if is_outermost {
            // SAFETY: the thread's own.
            unsafe {
                ((*self.own.get()).interrupted, (*self.own.get()).errno) = (interrupted, errno::get());
            }
        }
        is_outermost
    }

    /// Last of all: waits while threads are stopped, and leaves the interception for good where it has ended.
    pub fn leave(&self, is_outermost: bool) {
        if !is_outermost {
            return;
        }
        loop {
            self.is_inside.store(false, Ordering::SeqCst);
            if STOPS.load(Ordering::SeqCst) == 0 {
                break;
            }
            self.is_inside.store(true, Ordering::SeqCst);
            // SAFETY: the mask before comes back when the handler returns.
            unsafe { block(u64::MAX) };
            wait_while(&STOPS);
        }
        if self.is_released() {
            // SAFETY: in the outermost handler on this thread, which is about to return.
            unsafe { self.get_out() };
        }
    }

    /// Whether an address is one of the stack that its handlers run on.
    fn handles_at(&self, address: usize) -> bool {
        // SAFETY: set before the thread begins.
        let start = unsafe { (*self.own.get()).stack };
        start != 0 && (start..start + GUARD + STACK).contains(&address)
    }

    /// The thread itself: its calls aren't dispatched any more; its stack for handlers, and which signals wait, are what they would be. In a handler that comes about when it returns, and until
    /// then no signal arrives.
    ///
    /// # Safety
    /// What the outermost handler has interrupted, or, in none, nothing.
    unsafe fn finish(&self, interrupted: Option<&mut libc::ucontext_t>) {
        let blocked = self.blocked.swap(0, Ordering::Relaxed);
        // Those are among what the program has blocked.
        self.put_off.store(0, Ordering::SeqCst);
        // SAFETY: what was there before; the mask is the kernel's, whose first word it has.
        unsafe {
            super::dispatch([kernel::OFF, 0, 0, 0]);
            let before = (*self.own.get()).stack_before;
            match interrupted {
                Some(interrupted) => {
                    interrupted.uc_stack = before;
                    *(&raw mut interrupted.uc_sigmask).cast::<u64>() |= blocked;
                }
                None => {
                    gate::call(libc::SYS_sigaltstack as u64, [&raw const before as u64, 0, 0, 0, 0, 0]);
                    block(blocked);
                }
            }
        }
    }

    /// Nothing is left for whoever waits for it.
    fn is_gone(&self) {
        self.end(NONE);
        self.is_released.store(false, Ordering::SeqCst);
    }

    /// Leaves the interception, which has ended, in no handler.
    ///
    /// # Safety
    /// On the thread, in no handler.
    pub unsafe fn leave_here(&self) {
        let has_ended = self.has_ended.swap(false, Ordering::SeqCst);
        if has_ended {
            wait_for_others(self);
        }
        // SAFETY: promised by the caller.
        unsafe { self.finish(None) };
        self.is_gone();
        if has_ended { let_go() } else { wait_while(&RELEASES) }
    }

    /// It is the one that ends the interception, and sees to itself last.
    pub fn has_ended(&self) {
        self.has_ended.store(true, Ordering::SeqCst);
    }

    fn end(&self, state: u8) {
        self.state.store(state, Ordering::SeqCst);
        if !self.is_first() {
            COMPANY.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// It is about to make its last call, in a handler. [`Held`] by the caller.
    pub fn ends(&self) {
        self.end(LEAVES);
    }

    /// Whether a fault that nobody knows may be one of a page that another thread has had brought home meanwhile: then it won't happen again.
    pub fn may_try_again(&self, address: u64, instruction: i64) -> bool {
        let now = (address, instruction, OPENED.load(Ordering::Relaxed));
        // SAFETY: the thread's own, which asks.
        let before = unsafe { std::mem::replace(&mut (*self.own.get()).tried, now) };
        HAD_COMPANY.load(Ordering::Relaxed) && before != now
    }
}

/// Blocks signals besides those that are.
///
/// # Safety
/// The caller bears that.
unsafe fn block(signals: u64) {
    if signals != 0 {
        let mask = [libc::SIG_BLOCK as u64, &raw const signals as u64, 0, 8, 0, 0];
        // SAFETY: a local variable.
        unsafe { gate::call(libc::SYS_rt_sigprocmask as u64, mask) };
    }
}

/// Blocks these signals and no others.
///
/// # Safety
/// The caller bears that.
unsafe fn set_mask(signals: u64) {
    let mask = [libc::SIG_SETMASK as u64, &raw const signals as u64, 0, 8, 0, 0];
    // SAFETY: a local variable.
    unsafe { gate::call(libc::SYS_rt_sigprocmask as u64, mask) };
}

/// All but those that come where an instruction is.
const ALL_BUT_FAULTS: u64 = !(1 << (libc::SIGSEGV - 1) | 1 << (libc::SIGSYS - 1));

/// Whether any thread may have put off a signal.
static IS_PUT_OFF: AtomicBool = AtomicBool::new(false);

/// On a thread that has left code of the runtime: what was put off meanwhile comes now.
pub fn let_come() {
    if IS_PUT_OFF.load(Ordering::SeqCst)
        && let Some(thread) = own()
    {
        let signals = thread.put_off.swap(0, Ordering::SeqCst);
        let mask = [libc::SIG_UNBLOCK as u64, &raw const signals as u64, 0, 8, 0, 0];
        // SAFETY: a local variable; there are handlers of ours for these, and the program's code, which comes next, bears them.
        unsafe { gate::call(libc::SYS_rt_sigprocmask as u64, mask) };
    }
}

/// Something has come home.
pub fn note_opened() {
    OPENED.fetch_add(1, Ordering::Relaxed);
}

fn own_id() -> i32 {
    // SAFETY: no preconditions.
    unsafe { gate::call(libc::SYS_gettid as u64, [0; 6]) as i32 }
}

fn own_process() -> i32 {
    // SAFETY: no preconditions.
    unsafe { gate::call(libc::SYS_getpid as u64, [0; 6]) as i32 }
}

/// The calling thread. `None`: it is none of those.
pub fn own() -> Option<&'static Thread> {
    let id = own_id();
    let is_own = |thread: &&Thread| {
        (thread.is(IS_THERE) || thread.is(BEGINS)) && thread.id.load(Ordering::Relaxed) == id
    };
    THREADS.iter().find(is_own)
}

/// Whether the first thread isn't the only one that there is.
pub fn have_company() -> bool {
    COMPANY.load(Ordering::SeqCst) != 0
}

/// Of the signals that have handlers of ours, those that the first thread takes for blocked.
pub fn blocked_by_first() -> u64 {
    THREADS[0].blocked.load(Ordering::Relaxed)
}

/// The calling thread is the process's first, inside of the runtime, and armed from now on.
pub fn begin_first(stack: usize, before: libc::stack_t) -> &'static Thread {
    let first = &THREADS[0];
    // SAFETY: the calling thread's own.
    unsafe {
        let own = &mut *first.own.get();
        (own.stack, own.stack_before, own.tried) = (stack, before, (0, 0, 0));
    }
    first.begins(own_id());
    HAD_COMPANY.store(false, Ordering::Relaxed);
    first.state.store(IS_THERE, Ordering::SeqCst);
    first
}

/// Code of the runtime's runs on the thread that waits for its turn and has, or may have, frames in some memory.
pub fn wait_on((lo, hi): (u64, u64), reach: (u64, u64)) -> bool {
    let stands = |thread: &Thread| thread.stands_at.load(Ordering::SeqCst);
    let is_hit = |at: u64| at != 0 && lo < at.saturating_add(reach.1) && at.saturating_sub(reach.0) < hi;
    THREADS.iter().any(|thread| is_hit(stands(thread)))
}

/// Whether an address lies on a stack that handlers of another thread than the first run on.
pub fn handle_at(address: usize) -> bool {
    THREADS[1..].iter().any(|thread| thread.handles_at(address))
}

// One at a time.

/// Who holds it, and whether somebody may sleep.
static LOCK: AtomicU32 = AtomicU32::new(0);
/// See [`LOCK`].
const WANTED: u32 = 1 << 31;

/// While it lives nobody else changes what the program may do with its memory.
pub struct Held(());

/// Waits until nobody else does. `None`: the calling thread does already, and has been interrupted.
pub fn hold() -> Option<Held> {
    let own = own_id() as u32;
    let mut wanted = own;
    loop {
        match LOCK.compare_exchange(0, wanted, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => return Some(Held(())),
            Err(now) if now & !WANTED == own => return None,
            Err(now) => {
                // Others may sleep as well, so whoever has slept leaves it so.
                wanted = own | WANTED;
                let is_noted = now & WANTED != 0
                    || LOCK.compare_exchange(now, now | WANTED, Ordering::Relaxed, Ordering::Relaxed).is_ok();
                if is_noted {
                    futex(&LOCK, libc::FUTEX_WAIT, now | WANTED);
                }
            }
        }
    }
}

/// The same in code of the runtime, outside of handlers. Until it is the thread's turn it counts as stopped.
pub fn hold_here(own: Option<&Thread>) -> Option<Held> {
    let here = 0u8;
    let here = std::ptr::from_ref(std::hint::black_box(&here)) as u64;
    if let Some(own) = own {
        own.stands_at.store(here, Ordering::SeqCst);
        own.is_inside.store(true, Ordering::SeqCst);
    }
    let held = hold();
    if let Some(own) = own {
        own.is_inside.store(false, Ordering::SeqCst);
        own.stands_at.store(0, Ordering::SeqCst);
    }
    held
}

impl Drop for Held {
    fn drop(&mut self) {
        if LOCK.swap(0, Ordering::Release) & WANTED != 0 {
            futex(&LOCK, libc::FUTEX_WAKE, 1);
        }
    }
}

fn futex(word: &AtomicU32, operation: i32, value: u32) {
    let operation = (operation | libc::FUTEX_PRIVATE_FLAG) as u64;
    // SAFETY: a word of ours; waiting ends when it has changed, or for no reason.
    unsafe {
        gate::call(libc::SYS_futex as u64, [word.as_ptr() as u64, operation, u64::from(value), 0, 0, 0])
    };
}

// Stopping.

/// Whether threads that leave handlers of ours wait.
static STOPS: AtomicU32 = AtomicU32::new(0);
/// What a signal of ours says that it is (`si_code`).
const OURS: i32 = -0x5047;
/// Looks so often whether a thread has stopped before it sleeps a little each time.
const LOOKS: u32 = 2000;
/// So long, in nanoseconds.
const PAUSE: i64 = 20_000;

/// Waits until something is so.
fn wait_until(is_so: impl Fn() -> bool) {
    let mut looks = 0;
    while !is_so() {
        looks += 1;
        if looks < LOOKS { std::hint::spin_loop() } else { pause() }
    }
}

fn pause() {
    let time = libc::timespec { tv_sec: 0, tv_nsec: PAUSE };
    // SAFETY: a local variable.
    unsafe { gate::call(libc::SYS_nanosleep as u64, [&raw const time as u64, 0, 0, 0, 0, 0]) };
}

/// While it lives, no other thread runs code of the program's.
pub struct Stopped(bool);

/// Stops all others. What they do in calls that they wait for goes on.
pub fn stop(_: &Held) -> Stopped {
    if !have_company() {
        return Stopped(false);
    }
    STOPS.store(1, Ordering::SeqCst);
    let own = own_id();
    for thread in THREADS.iter().filter(|thread| thread.is(IS_THERE) && !thread.is_released()) {
        let id = thread.id.load(Ordering::Relaxed);
        let is_in = || !thread.is(IS_THERE) || thread.is_inside.load(Ordering::SeqCst);
        while id != own && !is_in() {
            if tell(thread, id) == -i64::from(libc::ESRCH) {
                // It has ended without saying so.
                thread.end(NONE);
            }
            wait_until(|| is_in() || !thread.is_told.load(Ordering::SeqCst));
            if !is_in() {
                pause();
            }
        }
    }
    Stopped(true)
}

fn wait_while(flag: &AtomicU32) {
    while flag.load(Ordering::SeqCst) != 0 {
        futex(flag, libc::FUTEX_WAIT, 1);
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        if self.0 {
            STOPS.store(0, Ordering::SeqCst);
            futex(&STOPS, libc::FUTEX_WAKE, i32::MAX as u32);
        }
    }
}

/// Whether threads that have left the interception wait for others that haven't.
static RELEASES: AtomicU32 = AtomicU32::new(0);

/// The interception ends: all see to that for themselves, before they run any more code of the program's. Nobody waits in a call any more.
pub fn release(own: &Thread, _: &Stopped) {
    RELEASES.store(1, Ordering::SeqCst);
    for thread in THREADS.iter().filter(|thread| thread.is(IS_THERE) || thread.is(BEGINS)) {
        thread.is_released.store(true, Ordering::SeqCst);
        // Whoever begins to wait behind this sees that it needn't.
        let is_over = || !thread.is(IS_THERE) || thread.waits.load(Ordering::SeqCst) == 0;
        while !std::ptr::eq(thread, own) && !is_over() {
            tell(thread, thread.id.load(Ordering::Relaxed));
            wait_until(|| is_over() || !thread.is_told.load(Ordering::SeqCst));
        }
    }
}

/// Behind [`release`], with nobody stopped: waits until all others have left.
fn wait_for_others(own: &Thread) {
    for thread in THREADS.iter().filter(|thread| !std::ptr::eq(*thread, own)) {
        wait_until(|| !thread.is_released());
    }
}

/// All have, the one who has ended it as the last one.
fn let_go() {
    RELEASES.store(0, Ordering::SeqCst);
    futex(&RELEASES, libc::FUTEX_WAKE, i32::MAX as u32);
}

/// Sends a thread its signal. Errors are negative numbers.
fn tell(thread: &Thread, id: i32) -> i64 {
    thread.is_told.store(true, Ordering::SeqCst);
    let result = send(thread, id);
    if result < 0 {
        thread.is_told.store(false, Ordering::SeqCst);
    }
    result
}

/// Sends all but the calling thread their signals, wherever they are. For tests.
#[cfg(test)]
pub fn tell_others() {
    let own = own_id();
    for thread in THREADS.iter().filter(|thread| thread.is(IS_THERE)) {
        let id = thread.id.load(Ordering::Relaxed);
        assert!(id == own || tell(thread, id) == 0);
    }
}

fn send(thread: &Thread, id: i32) -> i64 {
    /// The beginning of `siginfo_t` for a signal that a process sends.
    #[repr(C)]
    struct Sent {
        signal: i32,
        error: i32,
        code: i32,
        padding: i32,
        process: i32,
        user: u32,
        value: u64,
        rest: [u64; 12],
    }
    let process = own_process();
    let value = std::ptr::from_ref(thread) as u64;
    let sent =
        Sent { signal: SIGNAL, error: 0, code: OURS, padding: 0, process, user: 0, value, rest: [0; 12] };
    let [process, id, signal] = [process, id, SIGNAL].map(|number| number as u64);
    // SAFETY: a signal for which there is a handler as long as the thread is one of these.
    unsafe {
        gate::call(libc::SYS_rt_tgsigqueueinfo as u64, [process, id, signal, &raw const sent as u64, 0, 0])
    }
}

/// Whether a signal is ours. Where too many wait, the system forgets what it says; and it forgets ours where another one waits already.
pub fn is_ours(thread: &Thread, info: &libc::siginfo_t) -> bool {
    // SAFETY: a process has sent it, with a value, if it says so.
    let value = || unsafe { info.si_value() }.sival_ptr as u64;
    info.si_code == OURS && value() == std::ptr::from_ref(thread) as u64
        || thread.is_told.load(Ordering::SeqCst)
}

// Beginning.

/// What the kernel is told about a thread that is to be begun.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Wanted {
    flags: u64,
    descriptor: u64,
    id_for_it: u64,
    id_for_parent: u64,
    exit_signal: u64,
    stack: u64,
    stack_bytes: u64,
    variables: u64,
    /// Process numbers that it is to have, and control groups.
    more: [u64; 3],
}

/// How the C library begins threads.
const FLAGS: u64 = (libc::CLONE_VM
    | libc::CLONE_FS
    | libc::CLONE_FILES
    | libc::CLONE_SIGHAND
    | libc::CLONE_THREAD
    | libc::CLONE_SYSVSEM
    | libc::CLONE_SETTLS
    | libc::CLONE_PARENT_SETTID
    | libc::CLONE_CHILD_CLEARTID) as u64;

/// What the C library notes of a thread, which lies behind the stack and the variables of threads, is no longer.
const NOTED: u64 = 4096;

/// What the call gives that begins a thread. `None`: nothing has happened, and it is for the program to make it, because the thread would be of another kind, or there is no room for it.
/// `needs`: whether some memory must not be the kernel's, nor a stack. [`Held`] by the caller.
///
/// # Safety
/// The program's own call, in a handler on the thread that makes it.
pub unsafe fn begin(
    by: &Thread,
    arguments: &[u64; 6],
    interrupted: &libc::ucontext_t,
    needs: impl Fn(u64, u64) -> bool,
) -> Option<i64> {
    let [told, bytes, ..] = *arguments;
    let mut wanted = Wanted::default();
    // SAFETY: the kernel's set of signals begins with the word that it has of it.
    let blocked = unsafe { *(&raw const interrupted.uc_sigmask).cast::<u64>() };
    if blocked >> (SIGNAL - 1) & 1 != 0 {
        return None;
    }
    if bytes > size_of::<Wanted>() as u64
        || needs(told, told.checked_add(bytes)?)
        || !calls::copy(told, &raw mut wanted as u64, bytes)
    {
        return None;
    }
    let Wanted { flags, id_for_it, id_for_parent, exit_signal, stack, stack_bytes, variables, more, .. } =
        wanted;
    let top = stack.checked_add(stack_bytes)?;
    let end = variables.checked_add(NOTED)?;
    let is_on_it = |id: u64| stack <= id && id < end;
    let is_plain = flags == FLAGS
        && exit_signal == 0
        && more == [0; 3]
        && top <= variables
        && is_on_it(id_for_it)
        && is_on_it(id_for_parent);
    if !is_plain || needs(stack, end) {
        return None;
    }
    if !arenas::stay_apart_from(COMPANY.load(Ordering::SeqCst) as usize + 1) {
        return None;
    }
    let free = THREADS[1..].iter().find(|thread| thread.is_free())?;
    free.begins(0);
    free.blocked.store(by.blocked.load(Ordering::Relaxed), Ordering::Relaxed);
    // SAFETY: nobody else has it; the kernel has filled in what was interrupted.
    unsafe {
        let own = &mut *free.own.get();
        (own.tried, own.interrupted) = ((0, 0, 0), std::ptr::null_mut());
        (own.mask, own.blocked) = (blocked, free.blocked.load(Ordering::Relaxed));
        own.stack_before = std::mem::zeroed();
        own.stack_before.ss_flags = libc::SS_DISABLE;
        if own.stack == 0 {
            own.stack = super::new_stacks(1);
        }
        let state = interrupted.uc_mcontext.fpregs.as_ref();
        (own.mxcsr, own.x87) = state.map(|state| (state.mxcsr, state.cwd))?;
        if own.stack == 0 {
            return None;
        }
        (*free.beginning.get()).registers =
            gate::BEGINS_WITH.map(|register| interrupted.uc_mcontext.gregs[register as usize] as u64);
    }
    free.state.store(BEGINS, Ordering::SeqCst);
    COMPANY.fetch_add(1, Ordering::SeqCst);
    HAD_COMPANY.store(true, Ordering::SeqCst);
    // SAFETY: the program's own call, for a thread that has what it begins with. What comes to that before it is there waits; the handler goes on with the mask that it had.
    let result = unsafe {
        set_mask(ALL_BUT_FAULTS);
        let result = gate::begin((&raw const wanted).cast(), bytes, free.beginning.get());
        set_mask(blocked);
        result
    };
    if result < 0 {
        free.end(NONE);
    }
    Some(result)
}

impl Thread {
    /// It is another thread's from now on.
    fn begins(&self, id: i32) {
        for flag in [&self.is_released, &self.has_ended, &self.is_inside, &self.is_told] {
            flag.store(false, Ordering::SeqCst);
        }
        self.waits.store(0, Ordering::SeqCst);
        self.put_off.store(0, Ordering::SeqCst);
        self.stands_at.store(0, Ordering::SeqCst);
        self.id.store(id, Ordering::Relaxed);
        self.selector.store(PASSES, Ordering::Relaxed);
        if id != 0 {
            SELECTOR.set(&raw const self.selector);
        }
    }

    /// Whether another thread may have its place.
    fn is_free(&self) -> bool {
        let is_gone = || {
            let [process, id] = [own_process(), self.id.load(Ordering::Relaxed)].map(|number| number as u64);
            // SAFETY: sends nothing; only asks whether there is such a thread.
            let asked = unsafe { gate::call(libc::SYS_tgkill as u64, [process, id, 0, 0, 0, 0]) };
            asked == -i64::from(libc::ESRCH)
        };
        // Until it is gone, it is in the handler in which it makes its last call.
        self.is(NONE) || self.is(LEAVES) && is_gone()
    }

    /// On the new thread: its calls are dispatched from now on, and its handlers have a stack.
    fn is_intercepted(&self) -> bool {
        // SAFETY: the thread's own; memory that stays, and a variable that is there as long as the thread is.
        unsafe {
            let own = &mut *self.own.get();
            let stack = super::stack_at(own.stack);
            let is_done = libc::sigaltstack(&raw const stack, &raw mut own.stack_before) == 0;
            is_done && super::dispatch_on(self.selector())
        }
    }
}

/// A thread begins: what it was begun with, in place of the program's code.
extern "C" fn on_begin(beginning: *mut gate::Beginning) {
    // SAFETY: the first of its fields.
    let thread = unsafe { &*beginning.cast::<Thread>() };
    thread.id.store(own_id(), Ordering::Relaxed);
    SELECTOR.set(&raw const thread.selector);
    if let Some(held) = hold() {
        // SAFETY: no handler is under way on this thread; whoever has released it has put everything else back.
        unsafe {
            // A signal that was sent to it may have ended it all, and it has left then.
            let is_wanted = thread.is(BEGINS) && !thread.is_released();
            if is_wanted && thread.is_intercepted() {
                thread.state.store(IS_THERE, Ordering::SeqCst);
            } else if is_wanted {
                super::end_for_all(thread, &held);
            }
        }
        drop(held);
        if thread.is_released() {
            // SAFETY: as above.
            unsafe { thread.leave_here() };
        }
    }
    super::leave_runtime();
    // SAFETY: the thread's own; its mask.
    unsafe {
        let Own { mxcsr, x87, mask, blocked, .. } = *thread.own.get();
        floating_point::begin_with(mxcsr, x87);
        let is_gone = !thread.is(IS_THERE);
        set_mask(if is_gone { mask | blocked } else { mask });
    }
}
