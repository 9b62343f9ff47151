//! Memory of the program's that is kept away from it, page by page, while what belongs there is elsewhere: everything that the program does with it is noticed before it
//! happens. Loads and stores fault, and a handler of `SIGSEGV` has a [`Keeper`] bring home what they want. System calls would only fail (`EFAULT`), so the kernel
//! is told to send `SIGSYS` for each that the program's thread makes (`PR_SET_SYSCALL_USER_DISPATCH`, Linux 5.11); the handler has the keeper bring home what the call
//! reads or writes, and makes it itself ([`calls`]). A call that nothing is known about is made by the program, after all memory has come home, all handlers are as they
//! were, and nothing is dispatched any more.
//!
//! That is done only where the thread is all there is of the program ([`super::alone`]): no second thread, no handler of signals, no debugger. All that could change it is
//! a system call that nothing is known about here (`clone`, `sigaction`, `sigaltstack`, `fork`, `execve`, `kill`), or blocks the signals of faults, and so ends the interception first.
//!
//! **The selector** is a byte of the thread's own that the kernel reads at each system call. It stands at [`BLOCKS`] while code of the program runs, and at [`PASSES`] while the
//! runtime's does: [`enter_runtime`] and [`leave_runtime`] set it, whether anything is armed or not, and it doesn't remember where it stood. So wherever the
//! runtime runs code of the program's, which may leave it by `longjmp`, it has to be left meanwhile ([`Inside::outside`]).
//!
//! **Handlers** interrupt the program anywhere, inside `malloc` too. They leave `errno` as it was; registers, flags and floating-point state come back with the kernel's
//! frame. They run on a stack of ours: the program's may end right there, or be kept away itself. They block nothing, so that signals with no handler do to a system call made
//! in one what they would have done to the program's: end it, stop it, interrupt it. A call that the kernel restarts is restarted in the handler.
//!
//! **Faults that aren't the keeper's**, and `SIGSEGV` or `SIGSYS` that somebody sent, find everything home and as it was; the instruction faults again, or the signal is
//! sent again, and the process ends as it would have.
//!
//! # What may be seen nevertheless
//! - The contents of pages that are kept away: in a core dump after a signal that isn't handled here (`SIGQUIT`, `SIGFPE`, `SIGILL`, `SIGBUS`, `SIGTRAP`, and what others send;
//!   `abort` and whatever the program sends to itself comes after everything is home); by a debugger that attaches later; by another process (`process_vm_readv`,
//!   `/proc/PID/mem`).
//! - By other processes: that pages have no access, and mappings are split (`/proc/PID/maps`), two handlers of signals (`/proc/PID/status`), signals where system
//!   calls are traced. The process itself opens such files after everything is home; what it has open from before forbids arming.
//! - The time that it takes, and two megabytes of address space for stacks of ours.
//! - Filters of system calls see the instruction here, not the program's. One that kills for `prctl` or `sigaltstack` kills.
//! - A process that shares the memory without being a thread (see [`super::alone`]) would die of its faults.

pub mod calls;
pub mod gate;
#[cfg(test)]
mod tests;

use super::alone::{self, Refusal};
use crate::errno;
use calls::Course;
use gate::Action;
use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering, compiler_fence};

/// Who keeps memory of the program's away from it. All of it is called in a handler of a signal on the program's thread, which may have been interrupted anywhere (inside
/// `malloc` too): it must not allocate, nor take locks that the program or another function of the runtime on the same thread may hold. System calls pass meanwhile.
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
    /// Whether what is mapped at `lo..hi` has to stay as long as anything is kept away, for that reason or another one.
    fn needs(&self, lo: u64, hi: u64) -> bool;
    /// Everything comes back, because something happens that nobody can foresee.
    fn bring_home(&self);
}

/// Where the selector stands: the kernel's numbers.
const PASSES: u8 = 0;
const BLOCKS: u8 = 1;

thread_local! {
    static SELECTOR: AtomicU8 = const { AtomicU8::new(BLOCKS) };
}

/// Code of the runtime runs on the calling thread from now on: its system calls pass.
pub fn enter_runtime() {
    SELECTOR.with(|selector| selector.store(PASSES, Ordering::Relaxed));
    compiler_fence(Ordering::SeqCst);
}

/// Code of the program runs on it.
pub fn leave_runtime() {
    compiler_fence(Ordering::SeqCst);
    SELECTOR.with(|selector| selector.store(BLOCKS, Ordering::Relaxed));
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
}

/// Whether the caller's frames are on a stack of ours.
fn is_aside() -> bool {
    let here = 0u8;
    let here = std::ptr::from_ref(std::hint::black_box(&here)) as usize;
    STACKS.get().is_some_and(|start| *start != 0 && (*start..start + 2 * (STACK + GUARD)).contains(&here))
}

/// Does something on a stack of ours where something is armed. So any memory of the program's may hold anything meanwhile, its stack's too, if it is as it was at the end.
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

/// What tells the calling thread from others.
fn own_selector() -> usize {
    SELECTOR.with(|selector| std::ptr::from_ref(selector) as usize)
}

/// What is armed, and what was there before.
struct Armed {
    keeper: &'static dyn Keeper,
    selector: *const AtomicU8,
    faults: Action,
    calls: Action,
    stack: libc::stack_t,
}

struct Slot(UnsafeCell<Option<Armed>>);

// SAFETY: only the process's first thread looks into it, and its handlers interrupt nothing that changes it: it is filled before they are there and emptied after.
unsafe impl Sync for Slot {}

static SLOT: Slot = Slot(UnsafeCell::new(None));
static ARMED: AtomicBool = AtomicBool::new(false);
/// [`own_selector`] of the thread that was armed last.
static OWNER: AtomicUsize = AtomicUsize::new(0);

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
    let stack = stack().ok_or(Refusal::Unknown)?;
    let [faults, calls] = [libc::SIGSEGV, libc::SIGSYS].map(Action::of);
    let (Some(faults), Some(calls)) = (faults, calls) else { return Err(Refusal::Unknown) };
    let selector = SELECTOR.with(std::ptr::from_ref);
    // SAFETY: the thread is the process's first; the stack is memory of ours that stays, and so is the selector as long as the thread; the handlers bear what they interrupt.
    unsafe {
        let mut before: libc::stack_t = std::mem::zeroed();
        if libc::sigaltstack(&raw const stack, &raw mut before) != 0 {
            return Err(Refusal::Unknown);
        }
        *SLOT.0.get() = Some(Armed { keeper, selector, faults, calls, stack: before });
        CALLS.store(0, Ordering::Relaxed);
        OWNER.store(own_selector(), Ordering::Relaxed);
        ARMED.store(true, Ordering::SeqCst);
        let (begin, bytes) = gate::bounds();
        let is_done = Action::ours(on_fault).set(libc::SIGSEGV)
            && Action::ours(on_call).set(libc::SIGSYS)
            && dispatch([kernel::ON, begin, bytes, selector as u64]);
        if !is_done {
            undo(None);
            return Err(Refusal::Unsupported);
        }
    }
    Ok(())
}

/// Handlers and dispatch are as they were. On the thread that is armed, with everything at home.
pub fn disarm() {
    if is_armed() {
        // SAFETY: no handler is under way: it would be this thread's.
        unsafe { undo(None) };
    }
}

/// # Safety
/// A selector that stays while it is on.
unsafe fn dispatch([on, begin, bytes, selector]: [u64; 4]) -> bool {
    // SAFETY: promised by the caller.
    unsafe { gate::call(libc::SYS_prctl as u64, [kernel::DISPATCH, on, begin, bytes, selector, 0]) == 0 }
}

/// Puts everything back. In a handler there is no stack for handlers: it comes back with what the handler has interrupted.
///
/// # Safety
/// On the thread that is armed; nobody looks at what is armed afterwards.
unsafe fn undo(interrupted: Option<&mut libc::ucontext_t>) {
    // SAFETY: promised by the caller; what was there before bore what it may interrupt.
    unsafe {
        let Some(armed) = (*SLOT.0.get()).take() else { return };
        dispatch([kernel::OFF, 0, 0, 0]);
        armed.faults.set(libc::SIGSEGV);
        armed.calls.set(libc::SIGSYS);
        match interrupted {
            Some(interrupted) => interrupted.uc_stack = armed.stack,
            None => {
                let stack = &raw const armed.stack as u64;
                gate::call(libc::SYS_sigaltstack as u64, [stack, 0, 0, 0, 0, 0]);
            }
        }
    }
    ARMED.store(false, Ordering::SeqCst);
}

/// So much stack do handlers have: keepers may want some of it.
const STACK: usize = 1 << 20;

/// A page in front of each stack that nobody may touch.
const GUARD: usize = calls::PAGE as usize;
/// Where [`stacks`] are.
static STACKS: OnceLock<usize> = OnceLock::new();

/// The stack that handlers run on and, behind it, that of [`aside`]. 0: there is no memory.
fn stacks() -> usize {
    *STACKS.get_or_init(|| {
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK;
        // SAFETY: new memory, that stays.
        unsafe {
            let start = libc::mmap(std::ptr::null_mut(), 2 * (STACK + GUARD), libc::PROT_NONE, kind, -1, 0);
            if start == libc::MAP_FAILED {
                return 0;
            }
            let is_opened = |number: usize| {
                let stack = start.byte_add(number * (STACK + GUARD) + GUARD);
                libc::mprotect(stack, STACK, libc::PROT_READ | libc::PROT_WRITE) == 0
            };
            if is_opened(0) && is_opened(1) { start as usize } else { 0 }
        }
    })
}

/// The first of [`stacks`]. `None`: there is no memory.
fn stack() -> Option<libc::stack_t> {
    let start = stacks();
    let flags = kernel::UNSET_IN_HANDLERS;
    (start != 0).then_some(libc::stack_t {
        ss_sp: (start + GUARD) as *mut libc::c_void,
        ss_flags: flags,
        ss_size: STACK,
    })
}

/// Whether the calling thread is the one that may be armed: the process's first.
fn is_first() -> bool {
    // SAFETY: neither has preconditions.
    unsafe { gate::call(libc::SYS_gettid as u64, [0; 6]) == gate::call(libc::SYS_getpid as u64, [0; 6]) }
}

extern "C" fn on_fault(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::ucontext_t) {
    // SAFETY: the kernel passes both; on the first thread, nobody else looks at what is armed.
    unsafe {
        let armed = if is_first() { (*SLOT.0.get()).as_ref() } else { None };
        let Some(armed) = armed else { return elsewhere(signal, &mut *info) };
        let (selector, errno) = (&*armed.selector, errno::get());
        // Code of the runtime may fault, too.
        let before = selector.swap(PASSES, Ordering::Relaxed);
        let stores = (*context).uc_mcontext.gregs[libc::REG_ERR as usize] & kernel::STORE != 0;
        if (*info).si_code != kernel::NO_ACCESS || !armed.keeper.fault((*info).si_addr() as u64, stores) {
            let keeper = (before == BLOCKS).then_some(armed.keeper);
            not_ours(keeper, signal, &mut *info, &mut *context);
        }
        errno::set(errno);
        compiler_fence(Ordering::SeqCst);
        selector.store(before, Ordering::Relaxed);
    }
}

extern "C" fn on_call(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::ucontext_t) {
    // SAFETY: as above.
    unsafe {
        let armed = if is_first_by(&*info) { (*SLOT.0.get()).as_ref() } else { None };
        let Some(armed) = armed else { return elsewhere(signal, &mut *info) };
        let (selector, errno) = (&*armed.selector, errno::get());
        let before = selector.swap(PASSES, Ordering::Relaxed);
        match (*info).si_code {
            kernel::DISPATCHED => answer(armed.keeper, &*info.cast(), &mut *context),
            _ => {
                let keeper = (before == BLOCKS).then_some(armed.keeper);
                not_ours(keeper, signal, &mut *info, &mut *context);
            }
        }
        errno::set(errno);
        compiler_fence(Ordering::SeqCst);
        selector.store(before, Ordering::Relaxed);
    }
}

/// Whether a `SIGSYS` has come to the first thread: only its calls are dispatched.
fn is_first_by(info: &libc::siginfo_t) -> bool {
    info.si_code == kernel::DISPATCHED || is_first()
}

/// A system call of the program's.
///
/// # Safety
/// In the handler that has interrupted it.
unsafe fn answer(keeper: &dyn Keeper, told: &kernel::Dispatched, interrupted: &mut libc::ucontext_t) {
    let registers = &mut interrupted.uc_mcontext.gregs;
    let at = |register: i32| register as usize;
    let arguments = [libc::REG_RDI, libc::REG_RSI, libc::REG_RDX, libc::REG_R10, libc::REG_R8, libc::REG_R9]
        .map(|register| registers[at(register)] as u64);
    // The kernel has put it back where the program had it.
    let number = registers[at(libc::REG_RAX)] as u64;
    let count = CALLS.fetch_add(1, Ordering::Relaxed) + 1;
    let is_for_nothing = count.is_multiple_of(CALLS_FOR_NOTHING) && !keeper.keeps_any();
    let course = match told.architecture {
        _ if is_for_nothing || count >= MOST_CALLS => Course::StepsAside,
        kernel::NATIVE => calls::prepare(keeper, number, &arguments),
        // Numbers and registers are others.
        _ => Course::StepsAside,
    };
    // SAFETY: the kernel's set of signals begins with the word that it has of it.
    let mask = unsafe { &mut *(&raw mut interrupted.uc_sigmask).cast::<u64>() };
    let masked = if course == Course::Masks { calls::mask(&arguments, mask) } else { None };
    let is_left = course == Course::StepsAside || course == Course::Masks && masked.is_none();
    // SAFETY: the program's own call, with its own arguments.
    unsafe {
        if let Some(result) = masked {
            registers[at(libc::REG_RAX)] = result;
            return;
        }
        if !is_left {
            let result = gate::call(number, arguments);
            if calls::found_no_room(number, &arguments, result) {
                // Its memory is in more pieces than it would be otherwise, of which the system bears so many.
                return step_aside(keeper, interrupted);
            }
            registers[at(libc::REG_RAX)] = result;
            let is_window = course == Course::Opens && result >= 0 && alone::is_of_processes(result as i32);
            if is_window {
                keeper.bring_home();
                undo(Some(interrupted));
            }
            return;
        }
        step_aside(keeper, interrupted);
    }
}

/// The program makes its call by itself, with everything as if nothing had been intercepted.
///
/// # Safety
/// In the handler that has interrupted it.
unsafe fn step_aside(keeper: &dyn Keeper, interrupted: &mut libc::ucontext_t) {
    interrupted.uc_mcontext.gregs[libc::REG_RIP as usize] -= kernel::INSTRUCTION;
    keeper.bring_home();
    // SAFETY: promised by the caller.
    unsafe { undo(Some(interrupted)) };
}

/// A signal that has to do what it would have done without us. Without a keeper: it has come while code of the runtime ran, which the keeper's own may be; it ends the
/// process in any case.
///
/// # Safety
/// In the handler of this signal.
unsafe fn not_ours(
    keeper: Option<&dyn Keeper>,
    signal: i32,
    info: &mut libc::siginfo_t,
    interrupted: &mut libc::ucontext_t,
) {
    if let Some(keeper) = keeper {
        keeper.bring_home();
    }
    // SAFETY: promised by the caller.
    unsafe {
        undo(Some(interrupted));
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
    // SAFETY: by default nothing is interrupted; else promised by the caller.
    unsafe {
        Action::DEFAULT.set(signal);
        if info.si_code <= 0 {
            send_again(signal, info);
        }
    }
}
