//! The program's signals, as far as loops that run elsewhere have to do with them. Threads of the runtime take none (`own_threads`).
//!
//! A handler may leave a loop for good, by `siglongjmp`. The runtime can't be left: it allocates memory, and others work for it, with
//! memory on the calling thread's stack. So in here, signals wait, as if they had come right after the loop; where that takes longer,
//! only those that the program has handlers for, and none where the calling thread runs the loop alone.
//!
//! Faults can't wait. A program that handles its own may go on after them, and find what its loop has stored until then; only the calling
//! thread alone stores that. So its loops stay where they are. Handlers of libraries don't count: what they do about crashes (MPI
//! libraries, language runtimes) ends the process.
//!
//! Nothing here changes a handler.

use crate::abi::Info;
use crate::memory::coherence::interception;
use std::ffi::c_int;

/// Those that a loop's own instructions raise.
const FAULTS: [i32; 3] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE];
/// Handlers of these run at once: the thread raises them itself, and none of the others.
const AT_ONCE: [i32; 6] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP, libc::SIGSYS];
/// Signals that the kernel knows.
pub const SIGNALS: i32 = 64;
/// Those of the C library, which it handles as soon as there are threads, ours among them.
pub const OF_LIBRARY: [i32; 2] = [32, 33];

/// A signal mask, a bit for each signal.
fn bits(mask: &libc::sigset_t) -> u64 {
    // SAFETY: Linux's 64 signals are the bits of its first eight bytes.
    unsafe { std::ptr::from_ref(mask).cast::<u64>().read_unaligned() }
}

/// The program's handler for a signal; `None`: the default, or it is ignored.
fn handler(signal: i32) -> Option<usize> {
    // SAFETY: only asks; a zeroed structure is one.
    let (failed, action) = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        (libc::sigaction(signal, std::ptr::null(), &raw mut action) != 0, action)
    };
    let handler = action.sa_sigaction;
    (!failed && handler != libc::SIG_DFL && handler != libc::SIG_IGN).then_some(handler)
}

/// A library whose handlers of faults call the program back.
const CALLS_BACK: &str = "libsigsegv";

/// Where the executable or library begins that an address lies in, 0: in none; and whether it is that library.
fn object_of(address: usize) -> (usize, bool) {
    // SAFETY: `dladdr` takes any address, and fills in the structure where it finds something.
    unsafe {
        let mut found: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(address as *const libc::c_void, &raw mut found) == 0 {
            return (0, false);
        }
        let name = match found.dli_fname.is_null() {
            true => c"",
            false => std::ffi::CStr::from_ptr(found.dli_fname),
        };
        (found.dli_fbase as usize, name.to_string_lossy().contains(CALLS_BACK))
    }
}

/// Whether the program handles faults of this loop itself: the executable does, or the object that the loop belongs to.
pub fn handles_faults(info: &Info) -> bool {
    let own = |handler: usize| {
        // SAFETY: only asks; where the executable begins to run.
        let executable = unsafe { libc::getauxval(libc::AT_ENTRY) } as usize;
        let (object, calls_back) = object_of(handler);
        object == 0
            || calls_back
            || [std::ptr::from_ref(info) as usize, executable].into_iter().any(|at| object == object_of(at).0)
    };
    FAULTS.into_iter().filter_map(handler).any(own)
}

unsafe extern "C" {
    /// Not in the `libc` crate. State 0 enables, 1 disables cancellation of the calling thread; type 0 lets it wait for calls
    /// that may be cancelled.
    fn pthread_setcancelstate(state: c_int, old: *mut c_int) -> c_int;
    fn pthread_setcanceltype(ty: c_int, old: *mut c_int) -> c_int;
}

/// While it lives, signals wait on the calling thread, and so does its cancellation, which would unwind through the runtime.
pub struct Deferred {
    /// The mask before.
    before: libc::sigset_t,
    /// Whether it could be cancelled before.
    cancellation: c_int,
}

impl Deferred {
    /// All signals wait that can.
    pub fn new() -> Deferred {
        // SAFETY: sets are local variables; what is blocked is undone when this is dropped.
        unsafe {
            let (mut waiting, mut before) = (std::mem::zeroed(), std::mem::zeroed());
            libc::sigfillset(&raw mut waiting);
            for signal in AT_ONCE {
                libc::sigdelset(&raw mut waiting, signal);
            }
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const waiting, &raw mut before);
            let mut cancellation = 0;
            pthread_setcancelstate(1, &raw mut cancellation);
            Deferred { before, cancellation }
        }
    }

    /// The signals that the program blocks itself, a bit for each.
    pub fn blocked_before(&self) -> u64 {
        bits(&self.before)
    }

    /// Does something of the program's that a handler may leave.
    pub fn lifted<T>(&self, work: impl FnOnce() -> T) -> T {
        // SAFETY: the mask and the state that `new` found; then those that were there before this. Cancellation waits for a call that
        // may be cancelled, which loops don't have.
        unsafe {
            let (mut waiting, mut ty, mut ignored) = (std::mem::zeroed(), 0, 0);
            pthread_setcanceltype(0, &raw mut ty);
            pthread_setcancelstate(self.cancellation, &raw mut ignored);
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.before, &raw mut waiting);
            let result = work();
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const waiting, std::ptr::null_mut());
            pthread_setcancelstate(1, &raw mut ignored);
            pthread_setcanceltype(ty, &raw mut ignored);
            result
        }
    }

    /// From now on only those wait that the program has handlers for: what ends the program need not wait for long.
    pub fn only_handled(&self) {
        // SAFETY: the set is a local variable.
        unsafe {
            let mut others: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&raw mut others);
            let is_ours =
                |signal: i32| bits(&self.before) >> (signal - 1) & 1 == 0 && !AT_ONCE.contains(&signal);
            // Where it is known that the program has none, and would be told of one, nobody need ask 64 times.
            let has_none = interception::is_armed();
            let is_handled = |signal: i32| match has_none {
                true => OF_LIBRARY.contains(&signal),
                false => handler(signal).is_some(),
            };
            for signal in (1..=SIGNALS).filter(|signal| is_ours(*signal) && !is_handled(*signal)) {
                libc::sigaddset(&raw mut others, signal);
            }
            libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const others, std::ptr::null_mut());
        }
    }
}

impl Default for Deferred {
    fn default() -> Deferred {
        Deferred::new()
    }
}

impl Drop for Deferred {
    fn drop(&mut self) {
        let mut ignored = 0;
        // SAFETY: what `new` found. The mask comes last: a handler that has waited may leave by `siglongjmp`.
        unsafe {
            pthread_setcancelstate(self.cancellation, &raw mut ignored);
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.before, std::ptr::null_mut());
        }
    }
}
