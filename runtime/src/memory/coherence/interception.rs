//! Memory of the program's that is kept away from it, page by page, while what belongs there is elsewhere: everything that the program does with it is noticed before it
//! happens. Loads and stores fault, and a handler of `SIGSEGV` has a [`Keeper`] bring home what they want. System calls would only fail (`EFAULT`), so the kernel
//! is told to send `SIGSYS` for each that the program's thread makes (`PR_SET_SYSCALL_USER_DISPATCH`, Linux 5.11); the handler has the keeper bring home what the call
//! reads or writes, and makes it itself ([`calls`]). A call that nothing is known about is made by the program, after all memory has come home, all handlers are as they
//! were, and nothing is dispatched any more.
//!
//! That is done only where the thread is all there is of the program ([`super::alone`]): no second thread, no handler of signals, no debugger. All that could change it is
//! a system call that nothing is known about here (`clone`, `sigaction`, `sigaltstack`, `fork`, `execve`, `kill`), and so ends the interception first; threads that are
//! begun meanwhile are intercepted as well ([`threads`]). The [`SIGNALS`] that have handlers of ours are never blocked while its code runs: that they are, where the program has blocked them, is only what it is told.
//!
//! **The selector** is a byte for the thread alone that the kernel reads at each system call. It stands at [`BLOCKS`] while code of the program runs, and at [`PASSES`] while the
//! runtime's does: [`enter_runtime`] and [`leave_runtime`] set it, whether anything is armed or not, and it doesn't remember where it stood. So wherever the
//! runtime runs code of the program's, which may leave it by `longjmp`, it has to be left meanwhile ([`Inside::outside`]).
//!
//! **Handlers** interrupt the program anywhere, inside `malloc` too. They leave `errno` as it was; registers, flags and floating-point state come back with the kernel's
//! frame. They run on a stack of ours: the program's may end right there, or be kept away itself. They block nothing, so that signals with no handler do to a system call made
//! in one what they would have done to the program's: end it, stop it, interrupt it. A call that the kernel restarts is restarted in the handler.
//!
//! **Faults that aren't the keeper's**, and what of [`SIGNALS`] somebody sent, find everything home and as it was; the instruction faults again, or the signal is
//! sent again, and the process ends as it would have.
//!
//! # What may be seen nevertheless
//! - The contents of pages that are kept away: in a core dump after a signal that isn't handled here (`SIGQUIT`, `SIGFPE`, `SIGILL`, `SIGBUS`, `SIGTRAP`, and what others send;
//!   `abort` and whatever the program sends to itself comes after everything is home); by a debugger that attaches later; by another process (`process_vm_readv`,
//!   `/proc/PID/mem`).
//! - By other processes: that pages have no access, and mappings are split (`/proc/PID/maps`), three handlers of signals (`/proc/PID/status`), signals where system
//!   calls are traced. The process itself opens such files after everything is home; what it has open from before forbids arming.
//! - The time that it takes, and two megabytes of address space for stacks of ours.
//! - Filters of system calls see the instruction here, not the program's. One that kills for `prctl` or `sigaltstack` kills.
//! - A process that shares the memory without being a thread (see [`super::alone`]) would die of its faults.

pub mod calls;
pub mod gate;
#[cfg(test)]
mod tests;
pub mod threads;

use super::alone::{self, Refusal};
use crate::errno;
use calls::Course;
use gate::Action;
use std::cell::{Cell, UnsafeCell};
use std::marker::PhantomData;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering, compiler_fence};
use threads::{Held, Stopped, Thread};

/// Who keeps memory of the program's away from it. All of it is called in a handler of a signal on a thread of the program's, which may have been interrupted anywhere (inside
/// `malloc` too): it must not allocate, nor take locks that the program or another function of the runtime on the same thread may hold. System calls pass meanwhile. One thread at a
/// time calls it, and where it changes anything no other runs code of the program's.
/// Nothing that has come home may be taken away again before the runtime is entered: an instruction may need two pages at once, and a system call any number.
pub trait Keeper: Sync {
    /// A load or store at `address` has faulted. True: it may be tried again; false: it is none of ours.
    fn fault(&self, address: u64, stores: bool) -> bool;
    /// The kernel is about to read (`stores` false) or write `lo..hi`, which may have any bounds, of the program's memory.
    fn touch(&self, lo: u64, hi: u64, stores: bool);
    /// Whether anything of `lo..hi` is kept away, from stores alone too.
    fn keeps(&self, lo: u64, hi: u64) -> bool;
    /// Whether any page is kept away, from stores alone too.
    fn keeps_any(&self) -> bool;
    /// Whether what is mapped at `lo..hi` has to stay as long as anything is kept away, for another reason than that.
    fn reaches(&self, lo: u64, hi: u64) -> bool;
    /// The same for any reason.
    fn needs(&self, lo: u64, hi: u64) -> bool {
        self.keeps(lo, hi) || self.reaches(lo, hi)
    }
    /// Everything comes back, because something happens that nobody can foresee.
    fn bring_home(&self);
}

/// Those that there are handlers of ours for, so that they are never blocked: of faults, of system calls, and [`threads::SIGNAL`].
pub const SIGNALS: [i32; 3] = [libc::SIGSEGV, libc::SIGSYS, threads::SIGNAL];

/// Where the selector stands: the kernel's numbers.
const PASSES: u8 = 0;
const BLOCKS: u8 = 1;

thread_local! {
    /// That of the calling thread; null: its calls have never been dispatched.
    static SELECTOR: Cell<*const AtomicU8> = const { Cell::new(std::ptr::null()) };
}

fn select(value: u8) {
    // SAFETY: a place that stays; as soon as another thread has it this one is gone.
    if let Some(selector) = unsafe { SELECTOR.get().as_ref() } {
        selector.store(value, Ordering::Relaxed);
    }
}

/// Code of the runtime runs on the calling thread from now on: its system calls pass.
pub fn enter_runtime() {
    select(PASSES);
    compiler_fence(Ordering::SeqCst);
}

/// Code of the program runs on it.
pub fn leave_runtime() {
    compiler_fence(Ordering::SeqCst);
    select(BLOCKS);
    threads::let_come();
}

/// While it lives, code of the runtime runs on the calling thread.
pub struct Inside {
    /// Whether it is the first on its thread.
    is_first: bool,
    of_thread: PhantomData<*mut ()>,
}

thread_local! {
    /// Where the stack was when the runtime was entered; 0: it isn't.
    static STANDS_AT: AtomicU64 = const { AtomicU64::new(0) };
}

/// Frames of the runtime's reach so far down from where it was entered at most, and so far up.
const BELOW: u64 = 2 << 20;
const ABOVE: u64 = 16 << 10;

/// Whether code of the runtime runs on the calling thread and has, or may have, frames in some memory, which it looks at before the caller returns. Those that wait for a
/// handler, or for [`aside`], find it as it was.
pub fn stands_on((lo, hi): (u64, u64)) -> bool {
    let at = STANDS_AT.with(|at| at.load(Ordering::Relaxed));
    at != 0 && !is_aside() && lo < at.saturating_add(ABOVE) && at.saturating_sub(BELOW) < hi
        || threads::wait_on((lo, hi), (BELOW, ABOVE))
}

/// Whether the caller's frames are on a stack of ours.
fn is_aside() -> bool {
    let here = 0u8;
    let here = std::ptr::from_ref(std::hint::black_box(&here)) as usize;
    let is_of_first = |start: &usize| *start != 0 && (*start..start + 2 * (STACK + GUARD)).contains(&here);
    STACKS.get().is_some_and(is_of_first) || threads::handle_at(here)
}

/// Does something on a stack of ours where something is armed; one thread at a time. So any memory of the program's may hold anything meanwhile, its stack's too, if it is as it was at the end.
pub fn aside(work: &mut dyn FnMut()) {
    extern "C" fn call(work: u64) {
        // SAFETY: from below, where it is alive.
        unsafe { (*(work as *mut &mut dyn FnMut()))() }
    }
    let start = STACKS.get().copied().unwrap_or(0);
    if start == 0 || !is_armed() || is_aside() {
        return work();
    }
    let mut work = work;
    // SAFETY: the second of them, on which nobody is: only the thread that is armed comes here.
    unsafe { gate::on((start + 2 * (STACK + GUARD)) as u64, call, &raw mut work as u64) }
}

impl Inside {
    /// From now on. The caller stands on its thread's own stack ([`crate::stacks`]), of which nothing is kept away: it grows.
    pub fn begin() -> Inside {
        enter_runtime();
        let here = 0u8;
        let here = std::ptr::from_ref(std::hint::black_box(&here)) as u64;
        let unset =
            |at: &AtomicU64| at.compare_exchange(0, here, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        Inside { is_first: STANDS_AT.with(unset), of_thread: PhantomData }
    }

    /// Does something of the program's, which may leave it for good.
    pub fn outside<T>(&self, work: impl FnOnce() -> T) -> T {
        leave_runtime();
        let result = work();
        enter_runtime();
        result
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        if self.is_first {
            STANDS_AT.with(|at| at.store(0, Ordering::Relaxed));
        }
        leave_runtime();
    }
}

/// What is armed, and what was there before.
struct Armed {
    keeper: &'static dyn Keeper,
    faults: Action,
    calls: Action,
    stops: Action,
}

struct Slot(UnsafeCell<Option<Armed>>);

// SAFETY: whoever looks into it holds [`threads::hold`], or is the only thread of the program's, whose handlers interrupt nothing that changes it: it is filled before they are there and
// emptied after.
unsafe impl Sync for Slot {}

static SLOT: Slot = Slot(UnsafeCell::new(None));
static ARMED: AtomicBool = AtomicBool::new(false);

/// Who keeps memory away. `None`: nobody does.
fn keeper(_: &Held) -> Option<&'static dyn Keeper> {
    // SAFETY: nobody else is at it.
    unsafe { (*SLOT.0.get()).as_ref() }.map(|armed| armed.keeper)
}

/// The kernel's numbers, which the C library's headers may be too old for.
mod kernel {
    pub const DISPATCH: u64 = 59;
    pub const OFF: u64 = 0;
    pub const ON: u64 = 1;
    /// `SIGSYS` for a call that is dispatched, and for one that a filter refuses.
    pub const DISPATCHED: i32 = 2;
    pub const FILTERED: i32 = 1;
    /// `SIGSEGV` for a page that is there but doesn't allow it.
    pub const NO_ACCESS: i32 = 2;
    /// A stack for handlers is none while one runs, so that another can be set. A handler in a handler goes on where the first is.
    pub const UNSET_IN_HANDLERS: i32 = i32::MIN;
    /// What the processor says about a fault: it was a store.
    pub const STORE: i64 = 2;
    /// System calls of 64 bits.
    pub const NATIVE: u32 = 0xc000_003e;
    /// All ways of making a system call have so many bytes.
    pub const INSTRUCTION: i64 = 2;

    /// The beginning of `siginfo_t` for `SIGSYS`.
    #[repr(C)]
    pub struct Dispatched {
        pub signal: i32,
        pub error: i32,
        pub code: i32,
        pub address: u64,
        pub number: i32,
        pub architecture: u32,
    }
}

/// System calls that were dispatched since somebody asked.
static CALLS: AtomicU64 = AtomicU64::new(0);
/// After so many the interception ends: the program does other things now, and each of its calls takes ten times as long as it would.
const MOST_CALLS: u64 = 2048;
/// The same after each so many, if nothing is kept away any more.
const CALLS_FOR_NOTHING: u64 = 64;
/// What each takes longer, in nanoseconds.
const CALL_NS: u64 = 3_000;

/// Nanoseconds that system calls have taken longer since this was asked last.
pub fn calling_ns() -> u64 {
    CALLS.swap(0, Ordering::Relaxed) * CALL_NS
}

/// Whether anything is.
pub fn is_armed() -> bool {
    ARMED.load(Ordering::Relaxed)
}

/// Begins to intercept on the calling thread, which has entered the runtime. Nothing changes where something is armed already. Nobody calls it in a child after `fork`,
/// where the runtime serves no loop.
pub fn arm(keeper: &'static dyn Keeper) -> Result<(), Refusal> {
    if is_armed() {
        return Ok(());
    }
    alone::check()?;
    let start = stacks();
    if start == 0 {
        return Err(Refusal::Unknown);
    }
    let stack = stack_at(start);
    let [faults, calls, stops] = SIGNALS.map(Action::of);
    let (Some(faults), Some(calls), Some(stops)) = (faults, calls, stops) else {
        return Err(Refusal::Unknown);
    };
    // SAFETY: the thread is the process's first; the stack is memory of ours that stays, and so is the selector as long as the thread; the handlers bear what they interrupt.
    unsafe {
        let mut before: libc::stack_t = std::mem::zeroed();
        if libc::sigaltstack(&raw const stack, &raw mut before) != 0 {
            return Err(Refusal::Unknown);
        }
        *SLOT.0.get() = Some(Armed { keeper, faults, calls, stops });
        CALLS.store(0, Ordering::Relaxed);
        let first = threads::begin_first(start, before);
        ARMED.store(true, Ordering::SeqCst);
        let is_done = Action::ours(on_fault).set(libc::SIGSEGV)
            && Action::ours(on_call).set(libc::SIGSYS)
            && Action::ours(on_stop).set(threads::SIGNAL)
            && dispatch_on(first.selector());
        if !is_done {
            if let Some(held) = threads::hold() {
                undo(first, &threads::stop(&held));
            }
            first.leave_here();
            return Err(Refusal::Unsupported);
        }
    }
    Ok(())
}

/// Whether somebody has to bring everything home before the program's loops are looked at: another thread of the program's may be at it, or it takes signals for blocked that aren't.
pub fn is_in_the_way() -> bool {
    is_armed() && (threads::have_company() || threads::blocked_by_first() != 0)
}

/// Brings everything home by `work`, while no other thread runs code of the program's, on a stack of ours; then handlers and dispatch are as they were.
pub fn end_by(work: &mut dyn FnMut()) {
    let own = if is_armed() { threads::own() } else { None };
    // A handler of ours has interrupted whoever holds it, and is in nothing that comes here.
    let Some(held) = threads::hold_here(own) else { return };
    if !is_armed() {
        // Somebody else has ended it meanwhile, or nobody need.
        work();
        drop(held);
    } else {
        let stopped = threads::stop(&held);
        aside(work);
        if let Some(own) = own {
            // SAFETY: no other thread runs code of the program's.
            unsafe { undo(own, &stopped) };
        }
        drop(stopped);
        drop(held);
    }
    if let Some(own) = own.filter(|own| own.is_released()) {
        // SAFETY: no handler is under way on this thread.
        unsafe { own.leave_here() };
    }
}

/// # Safety
/// A selector that stays while it is on.
unsafe fn dispatch([on, begin, bytes, selector]: [u64; 4]) -> bool {
    // SAFETY: promised by the caller.
    unsafe { gate::call(libc::SYS_prctl as u64, [kernel::DISPATCH, on, begin, bytes, selector, 0]) == 0 }
}

/// The calling thread's calls are dispatched from now on.
///
/// # Safety
/// As for [`dispatch`].
unsafe fn dispatch_on(selector: &AtomicU8) -> bool {
    let (begin, bytes) = gate::bounds();
    // SAFETY: promised by the caller.
    unsafe { dispatch([kernel::ON, begin, bytes, std::ptr::from_ref(selector) as u64]) }
}

/// Puts everything back that is the process's, and releases all threads. What is each thread's it puts back itself, where its handler ends ([`Thread::leave`]) or, in none, by
/// [`Thread::leave_here`]: `own` has to, too.
///
/// # Safety
/// On the thread `own`, which holds [`threads::hold`]; nobody looks at what is armed afterwards.
unsafe fn undo(own: &Thread, stopped: &Stopped) {
    // SAFETY: promised by the caller; what was there before bore what it may interrupt.
    unsafe {
        let Some(armed) = (*SLOT.0.get()).take() else { return };
        threads::release(own, stopped);
        armed.faults.set(libc::SIGSEGV);
        armed.calls.set(libc::SIGSYS);
        armed.stops.set(threads::SIGNAL);
    }
    own.has_ended();
    ARMED.store(false, Ordering::SeqCst);
}

/// Everything comes home and is as it was, for all threads.
///
/// # Safety
/// On the thread `own`, in a handler that has interrupted it, or in none.
unsafe fn end_for_all(own: &Thread, held: &Held) {
    let stopped = threads::stop(held);
    if let Some(keeper) = keeper(held) {
        keeper.bring_home();
    }
    // SAFETY: promised by the caller.
    unsafe { undo(own, &stopped) };
}

/// So much stack do handlers have: keepers may want some of it.
const STACK: usize = 1 << 20;

/// A page in front of each stack that nobody may touch.
const GUARD: usize = calls::PAGE as usize;
/// Where [`stacks`] are.
static STACKS: OnceLock<usize> = OnceLock::new();

/// The stack that handlers of the first thread run on and, behind it, that of [`aside`]. 0: there is no memory.
fn stacks() -> usize {
    *STACKS.get_or_init(|| new_stacks(2))
}

/// So many stacks, which stay, each with a page in front that nobody may touch. 0: there is no memory.
fn new_stacks(count: usize) -> usize {
    let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK;
    // SAFETY: new memory, that stays.
    unsafe {
        let start = libc::mmap(std::ptr::null_mut(), count * (STACK + GUARD), libc::PROT_NONE, kind, -1, 0);
        if start == libc::MAP_FAILED {
            return 0;
        }
        let is_opened = |number: usize| {
            let stack = start.byte_add(number * (STACK + GUARD) + GUARD);
            libc::mprotect(stack, STACK, libc::PROT_READ | libc::PROT_WRITE) == 0
        };
        if (0..count).all(is_opened) { start as usize } else { 0 }
    }
}

/// One of [`new_stacks`], for handlers.
fn stack_at(start: usize) -> libc::stack_t {
    let flags = kernel::UNSET_IN_HANDLERS;
    libc::stack_t { ss_sp: (start + GUARD) as *mut libc::c_void, ss_flags: flags, ss_size: STACK }
}

/// What handlers have in common. `work` is told the thread, and whether code of the program's was interrupted, or a call that the program waits in, where nothing of the keeper's or the runtime's
/// is under way.
///
/// # Safety
/// In a handler of this signal.
unsafe fn handle(
    signal: i32,
    info: &mut libc::siginfo_t,
    context: &mut libc::ucontext_t,
    work: impl FnOnce(&Thread, bool, &mut libc::siginfo_t, &mut libc::ucontext_t),
) {
    // SAFETY: promised by the caller.
    let Some(thread) = threads::own() else { return unsafe { elsewhere(signal, info) } };
    let is_outermost = thread.enter(context);
    let (selector, errno) = (thread.selector(), errno::get());
    // Code of the runtime may fault, too.
    let before = selector.swap(PASSES, Ordering::Relaxed);
    let is_programs = before == BLOCKS || thread.waits().load(Ordering::SeqCst) != 0;
    work(thread, is_programs, info, context);
    errno::set(errno);
    compiler_fence(Ordering::SeqCst);
    selector.store(before, Ordering::Relaxed);
    if !is_outermost {
        thread.goes_back(context);
    }
    thread.leave(is_outermost);
}

extern "C" fn on_fault(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::ucontext_t) {
    // SAFETY: the kernel passes both, in a handler.
    unsafe {
        handle(signal, &mut *info, &mut *context, |thread, is_programs, info, context| match info.si_code {
            ..=0 => sent(thread, is_programs, signal, info, context),
            _ => fault(thread, is_programs, signal, info, context),
        });
    }
}

/// `SIGSEGV` on a thread that is intercepted. `is_programs`: while code of the program's ran.
///
/// # Safety
/// In its handler.
unsafe fn fault(
    thread: &Thread,
    is_programs: bool,
    signal: i32,
    info: &mut libc::siginfo_t,
    context: &mut libc::ucontext_t,
) {
    let held = threads::hold();
    let keeper = held.as_ref().and_then(keeper);
    if held.is_some() && keeper.is_none() {
        // It has all come home before this one's turn, and handlers are as they were: tried again, it does what it would have done.
        return;
    }
    let stopped = held.as_ref().map(threads::stop);
    // SAFETY: the kernel says so for faults; else nobody looks at it.
    let address = unsafe { info.si_addr() } as u64;
    let registers = &context.uc_mcontext.gregs;
    let stores = registers[libc::REG_ERR as usize] & kernel::STORE != 0;
    if info.si_code == kernel::NO_ACCESS {
        if keeper.is_some_and(|keeper| keeper.fault(address, stores)) {
            return threads::note_opened();
        }
        if thread.may_try_again(address, registers[libc::REG_RIP as usize]) {
            return;
        }
    }
    // SAFETY: promised by the caller.
    unsafe { not_ours(thread, keeper.filter(|_| is_programs), stopped.as_ref(), signal, info, context) };
}

extern "C" fn on_call(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::ucontext_t) {
    // SAFETY: the kernel passes both, in a handler.
    unsafe {
        handle(signal, &mut *info, &mut *context, |thread, is_programs, info, context| match info.si_code {
            kernel::DISPATCHED => answer(thread, &*std::ptr::from_mut(info).cast(), context),
            _ => sent(thread, is_programs, signal, info, context),
        });
    }
}

extern "C" fn on_stop(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::ucontext_t) {
    // SAFETY: the kernel passes both, in a handler.
    unsafe {
        match threads::own() {
            Some(thread) if threads::is_ours(thread, &*info) => thread.is_told_to_stop(&mut *context),
            // Nothing comes of it, unless the program blocks it: then it waits.
            Some(thread) if thread.takes_for_blocked(signal) => {
                handle(signal, &mut *info, &mut *context, |thread, is_programs, info, context| {
                    sent(thread, is_programs, signal, info, context);
                });
            }
            Some(thread) => thread.note_got(),
            None => {}
        }
    }
}

/// A signal that somebody has sent.
///
/// # Safety
/// In its handler.
unsafe fn sent(
    thread: &Thread,
    is_programs: bool,
    signal: i32,
    info: &mut libc::siginfo_t,
    context: &mut libc::ucontext_t,
) {
    if !is_programs && is_armed() && thread.takes_for_blocked(signal) {
        // It waits, as the program would have it, but code of the runtime, or the keeper's, is under way, which nobody may bring anything home from: it comes again when that has been left.
        thread.put_off(signal);
        // SAFETY: the kernel's set of signals begins with the word that it has of it; promised by the caller.
        unsafe {
            *(&raw mut context.uc_sigmask).cast::<u64>() |= 1 << (signal - 1);
            send_again(signal, info);
        }
        return;
    }
    let held = threads::hold();
    let keeper = held.as_ref().and_then(keeper);
    let stopped = held.as_ref().filter(|_| keeper.is_some()).map(threads::stop);
    // SAFETY: promised by the caller.
    unsafe { not_ours(thread, keeper.filter(|_| is_programs), stopped.as_ref(), signal, info, context) };
}

/// A keeper for whom all other threads are stopped where it changes anything.
struct Careful<'a> {
    keeper: &'a dyn Keeper,
    held: &'a Held,
}

impl Keeper for Careful<'_> {
    fn fault(&self, address: u64, stores: bool) -> bool {
        self.keeper.fault(address, stores)
    }
    fn touch(&self, lo: u64, hi: u64, stores: bool) {
        let _stopped = threads::stop(self.held);
        // A call may store there while it is waited for, and somebody else need what was there when a device is lost meanwhile.
        if stores && threads::have_company() && self.keeper.reaches(lo, hi) {
            self.keeper.bring_home();
        } else {
            self.keeper.touch(lo, hi, stores);
        }
        threads::note_opened();
    }
    fn keeps(&self, lo: u64, hi: u64) -> bool {
        self.keeper.keeps(lo, hi) || threads::have_company() && self.keeper.reaches(lo, hi)
    }
    fn keeps_any(&self) -> bool {
        self.keeper.keeps_any()
    }
    fn reaches(&self, lo: u64, hi: u64) -> bool {
        self.keeper.reaches(lo, hi)
    }
    fn bring_home(&self) {
        let _stopped = threads::stop(self.held);
        self.keeper.bring_home();
    }
}

/// A system call of the program's.
///
/// # Safety
/// In the handler that has interrupted it.
unsafe fn answer(thread: &Thread, told: &kernel::Dispatched, interrupted: &mut libc::ucontext_t) {
    let (Some(held), registers) = (threads::hold(), &mut interrupted.uc_mcontext.gregs) else { return };
    let at = |register: i32| register as usize;
    let Some(keeper) = keeper(&held) else {
        // It has all ended before this one's turn.
        registers[at(libc::REG_RIP)] -= kernel::INSTRUCTION;
        return;
    };
    let arguments = [libc::REG_RDI, libc::REG_RSI, libc::REG_RDX, libc::REG_R10, libc::REG_R8, libc::REG_R9]
        .map(|register| registers[at(register)] as u64);
    // The kernel has put it back where the program had it.
    let number = registers[at(libc::REG_RAX)] as u64;
    let count = CALLS.fetch_add(1, Ordering::Relaxed) + 1;
    let is_for_nothing = count.is_multiple_of(CALLS_FOR_NOTHING) && !keeper.keeps_any();
    let course = match told.architecture {
        _ if is_for_nothing || count >= MOST_CALLS => Course::StepsAside,
        kernel::NATIVE => calls::prepare(&Careful { keeper, held: &held }, number, &arguments),
        // Numbers and registers are others.
        _ => Course::StepsAside,
    };
    // SAFETY: the kernel's set of signals begins with the word that it has of it; the program's own call, with its own arguments.
    unsafe {
        let result = match course {
            Course::StepsAside => None,
            Course::Masks => {
                let mask = &mut *(&raw mut interrupted.uc_sigmask).cast::<u64>();
                calls::mask(&arguments, mask, thread.blocked())
            }
            // Frames of the runtime are in no handler, and it counts on being alone.
            Course::Begins if STANDS_AT.with(|at| at.load(Ordering::Relaxed)) == 0 => {
                threads::begin(thread, &arguments, interrupted, |lo, hi| keeper.needs(lo, hi))
            }
            Course::Begins => None,
            Course::Ends if thread.is_first() => None,
            Course::Ends => {
                thread.ends();
                drop(held);
                gate::call(number, arguments);
                return;
            }
            Course::IsMade | Course::Opens => {
                drop(held);
                return make(thread, course, number, &arguments, interrupted);
            }
        };
        match result {
            Some(result) => interrupted.uc_mcontext.gregs[at(libc::REG_RAX)] = result,
            None => step_aside(thread, &held, interrupted),
        }
    }
}

/// What a call gives that is made, and may be waited for. `None`: the interception has ended before any of it was done, and it is for the program to make it.
///
/// A signal of ours may interrupt it: then it is made again, or what is left of it. Where the interception has ended meanwhile and a part is done, the thread leaves the interception first.
///
/// # Safety
/// In the handler that has interrupted the program's own call, with its own arguments.
unsafe fn wait_for(thread: &Thread, number: u64, arguments: &[u64; 6]) -> Option<i64> {
    const INTERRUPTED: i64 = -(libc::EINTR as i64);
    let (mut done, mut left) = (0, (number, *arguments));
    let (mut is_gone, mut is_cut) = (false, false);
    // SAFETY: promised by the caller.
    unsafe {
        if !calls::may_be_made_again(number) {
            // It is over by then all the same.
            let result = gate::call(number, *arguments);
            return Some(if result == INTERRUPTED { 0 } else { result });
        }
        loop {
            let got = thread.got();
            let result = if is_gone {
                gate::call(left.0, left.1)
            } else {
                let waits = if done == 0 { threads::WAITS } else { threads::WAITS_AGAIN };
                thread.waits().store(waits, Ordering::SeqCst);
                // Behind that the signal finds it waiting.
                let result = match thread.is_released() {
                    false => gate::wait(left.0, left.1, thread.waits()),
                    true => INTERRUPTED,
                };
                thread.waits().store(0, Ordering::SeqCst);
                result
            };
            let is_ours = !is_gone && (got != thread.got() || thread.is_released());
            if result == INTERRUPTED && is_ours {
                if thread.is_released() && done == 0 {
                    return None;
                }
            } else if result < 0 {
                return Some(if done == 0 { result } else { done });
            } else {
                done += result;
                is_cut |= is_ours;
                match calls::left(number, arguments, done) {
                    Some(more) if result != 0 && is_cut => left = more,
                    _ => return Some(done),
                }
            }
            if !is_gone && thread.is_released() {
                let mask = *(&raw const (*thread.get_out()).uc_sigmask).cast::<u64>();
                let mask = [libc::SIG_SETMASK as u64, &raw const mask as u64, 0, 8, 0, 0];
                gate::call(libc::SYS_rt_sigprocmask as u64, mask);
                is_gone = true;
            }
        }
    }
}

/// Makes a call for which all is prepared.
///
/// # Safety
/// As for [`answer`].
unsafe fn make(
    thread: &Thread,
    course: Course,
    number: u64,
    arguments: &[u64; 6],
    interrupted: &mut libc::ucontext_t,
) {
    // SAFETY: promised by the caller.
    let Some(result) = (unsafe { wait_for(thread, number, arguments) }) else {
        interrupted.uc_mcontext.gregs[libc::REG_RIP as usize] -= kernel::INSTRUCTION;
        return;
    };
    // Its memory is in more pieces than it would be otherwise, of which the system bears so many.
    let has_no_room = calls::found_no_room(number, arguments, result);
    let is_window = course == Course::Opens && result >= 0 && alone::is_of_processes(result as i32);
    if !has_no_room {
        interrupted.uc_mcontext.gregs[libc::REG_RAX as usize] = result;
    }
    if (has_no_room || is_window)
        && let Some(held) = threads::hold()
    {
        // SAFETY: promised by the caller.
        unsafe {
            match has_no_room {
                true => step_aside(thread, &held, interrupted),
                false if keeper(&held).is_some() => end_for_all(thread, &held),
                false => {}
            }
        }
    }
}

/// The program makes its call by itself, with everything as if nothing had been intercepted.
///
/// # Safety
/// In the handler that has interrupted it.
unsafe fn step_aside(thread: &Thread, held: &Held, interrupted: &mut libc::ucontext_t) {
    interrupted.uc_mcontext.gregs[libc::REG_RIP as usize] -= kernel::INSTRUCTION;
    if keeper(held).is_some() {
        // SAFETY: promised by the caller.
        unsafe { end_for_all(thread, held) };
    }
}

/// A signal that has to do what it would have done without us. Without a keeper: it has come while code of the runtime ran, which the keeper's own may be; it ends the
/// process in any case.
///
/// # Safety
/// In the handler of this signal.
unsafe fn not_ours(
    thread: &Thread,
    keeper: Option<&dyn Keeper>,
    stopped: Option<&Stopped>,
    signal: i32,
    info: &mut libc::siginfo_t,
    interrupted: &mut libc::ucontext_t,
) {
    if let Some(keeper) = keeper {
        keeper.bring_home();
    }
    // SAFETY: promised by the caller.
    unsafe {
        if let Some(stopped) = stopped {
            undo(thread, stopped);
        } else if is_armed() && signal != threads::SIGNAL {
            // A fault of ours, where this thread is at it already.
            Action::DEFAULT.set(signal);
        }
        // What the thread takes for blocked waits; the program's own mask says so when the outermost handler returns.
        *(&raw mut interrupted.uc_sigmask).cast::<u64>() |= thread.blocked().load(Ordering::Relaxed);
        match info.si_code {
            // Made again, it is refused again.
            kernel::FILTERED if signal == libc::SIGSYS => {
                interrupted.uc_mcontext.gregs[libc::REG_RIP as usize] -= kernel::INSTRUCTION;
            }
            ..=0 => send_again(signal, info),
            _ => {}
        }
    }
}

/// Sends a signal, as it came, to the calling thread; it arrives when the handler has returned.
///
/// # Safety
/// In its handler.
unsafe fn send_again(signal: i32, info: &mut libc::siginfo_t) {
    let set = 1u64 << (signal - 1);
    // SAFETY: promised by the caller: the mask before comes back with what was interrupted.
    unsafe {
        let mask = [libc::SIG_BLOCK as u64, &raw const set as u64, 0, 8, 0, 0];
        gate::call(libc::SYS_rt_sigprocmask as u64, mask);
        let [process, thread] =
            [libc::SYS_getpid, libc::SYS_gettid].map(|ask| gate::call(ask as u64, [0; 6]));
        let signal = [process as u64, thread as u64, signal as u64, std::ptr::from_mut(info) as u64, 0, 0];
        gate::call(libc::SYS_rt_tgsigqueueinfo as u64, signal);
    }
}

/// A signal that another thread has got, ours or the GPU driver's: it does what it does by default, which is to end the process.
///
/// # Safety
/// In its handler.
unsafe fn elsewhere(signal: i32, info: &mut libc::siginfo_t) {
    if signal == threads::SIGNAL {
        return;
    }
    // SAFETY: by default nothing is interrupted; else promised by the caller.
    unsafe {
        Action::DEFAULT.set(signal);
        if info.si_code <= 0 {
            send_again(signal, info);
        }
    }
}
