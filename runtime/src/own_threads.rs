//! Threads of the runtime's own: how they begin. The program's signals aren't theirs, nor its floating-point environment, and a thread that finds no memory to begin with
//! waits for it. The C library gives a thread its variables when it first asks for one of them, and ends the whole process where it can't; so nothing here asks before there
//! is memory, and threads are begun by the C library's own call, behind which nothing else of ours, or of Rust's, comes first.

use crate::floating_point;
use crate::last_thread::{self, Ours};
use crate::memory::coherence::arenas;
use crate::memory::{limits, programs_allocator};
use std::ffi::{CStr, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// What threads of ours are called.
pub const NAMES: [&CStr; 6] = [HELPER, FOR_THREADS, FOR_CUDA, FOR_KERNELS, WATCH, LAST];
/// One that loops are split over.
pub const HELPER: &CStr = c"paragon";
/// The one that drives the device made of threads.
pub const FOR_THREADS: &CStr = c"paragon-cmt";
/// The one that drives a GPU.
pub const FOR_CUDA: &CStr = c"paragon-cuda";
/// Those that compile a GPU's kernels before they are needed.
pub const FOR_KERNELS: &CStr = c"paragon-kernels";
/// The one that tells jobs when their time is up.
pub const WATCH: &CStr = c"paragon-watch";
/// The one that ends the process when the program has no thread any more.
pub const LAST: &CStr = c"paragon-last";

/// Bytes of a thread's stack, which are taken when they are touched: what the C library puts there for itself, and the program's variables of threads, comes on top.
const STACK: usize = 2 << 20;
/// What a thread sees that it can have before it asks for its variables: several times what they take, with what the C library notes of them.
const TO_BEGIN: usize = 8 << 10;
/// How long it waits before it looks again.
const PAUSE: Duration = Duration::from_millis(10);

/// See [`least_stack`].
type LeastStack = unsafe extern "C" fn(*const libc::pthread_attr_t) -> usize;

struct Beginning {
    name: &'static CStr,
    work: Box<dyn FnOnce() + Send>,
}

/// Starts a thread, called by one of [`NAMES`], that does `work` and ends; nobody waits for it. False: there is none to be had, and the work is gone. It blocks all signals
/// but those of faults, and has the default floating-point environment.
pub fn start(name: &'static CStr, work: impl FnOnce() + Send + 'static) -> bool {
    !limits::are_set()
        && programs_allocator::bears_threads()
        && has_stand_in()
        && begin_thread(name, Box::new(work))
}

/// Whether there is somebody without whom the process might never end. Another attempt may succeed where one has failed.
fn has_stand_in() -> bool {
    static IS_THERE: Mutex<bool> = Mutex::new(false);
    let mut is_there = IS_THERE.lock().unwrap_or_else(PoisonError::into_inner);
    *is_there = *is_there || begin_thread(LAST, Box::new(last_thread::stand_in));
    *is_there
}

/// Threads that are begun but don't have their names yet.
static NAMELESS: AtomicUsize = AtomicUsize::new(0);

/// Waits until all threads of ours that were begun have their names, at most so long: until then they are called as the program is, and taken for its own.
pub fn wait_for_names(at_most: Duration) {
    let started = Instant::now();
    while NAMELESS.load(Ordering::Acquire) != 0 && started.elapsed() < at_most {
        std::thread::yield_now();
    }
}

fn begin_thread(name: &'static CStr, work: Box<dyn FnOnce() + Send>) -> bool {
    let beginning = Box::into_raw(Box::new(Beginning { name, work }));
    let _blocked = BlockSignals::new();
    // SAFETY: attributes that are set up before and gone behind it; what the thread is given is its own from then on.
    unsafe {
        let mut attributes: libc::pthread_attr_t = std::mem::zeroed();
        let mut thread: libc::pthread_t = 0;
        let mut failed = libc::pthread_attr_init(&raw mut attributes);
        if failed == 0 {
            libc::pthread_attr_setstacksize(&raw mut attributes, STACK + least_stack(&raw const attributes));
            libc::pthread_attr_setdetachstate(&raw mut attributes, libc::PTHREAD_CREATE_DETACHED);
            NAMELESS.fetch_add(1, Ordering::Relaxed);
            failed = libc::pthread_create(&raw mut thread, &raw const attributes, begin, beginning.cast());
            if failed != 0 {
                NAMELESS.fetch_sub(1, Ordering::Relaxed);
            }
            libc::pthread_attr_destroy(&raw mut attributes);
        }
        if failed != 0 {
            drop(Box::from_raw(beginning));
        }
        failed == 0
    }
}

/// What a stack has to have before anything of it is left: the C library takes the variables that each thread has of its own from there, however many the program has.
fn least_stack(attributes: *const libc::pthread_attr_t) -> usize {
    // SAFETY: attributes that have been set up.
    least_stack_function().map_or(0, |least| unsafe { least(attributes) })
}

/// Who knows it. `None`: another C library, that has them elsewhere.
fn least_stack_function() -> Option<LeastStack> {
    static FUNCTION: OnceLock<Option<LeastStack>> = OnceLock::new();
    *FUNCTION.get_or_init(|| {
        // SAFETY: a name; that is what it is where there is one.
        unsafe {
            let found = libc::dlsym(libc::RTLD_DEFAULT, c"__pthread_get_minstack".as_ptr());
            (!found.is_null()).then(|| std::mem::transmute::<*mut c_void, LeastStack>(found))
        }
    })
}

/// Asks the loader for all that threads begin with. Its functions forget what a call of the program's has failed for (`dlerror`), so that is done where an object is given the runtime, whose
/// own calls of them have made it forget already.
pub fn look_ahead() {
    least_stack_function();
    programs_allocator::bears_threads();
    programs_allocator::is_of_c_library();
}

/// What a thread begins with.
extern "C" fn begin(beginning: *mut c_void) -> *mut c_void {
    wait_for_memory();
    // SAFETY: `start` has made it for this thread alone.
    let Beginning { name, work } = *unsafe { Box::from_raw(beginning.cast::<Beginning>()) };
    // SAFETY: the calling thread, and a name of less than sixteen bytes.
    unsafe { libc::pthread_setname_np(libc::pthread_self(), name.as_ptr()) };
    NAMELESS.fetch_sub(1, Ordering::Release);
    floating_point::begin_thread();
    let _ours = Ours::begin();
    // Who waits for the work finds out by what it has left behind.
    let _ = catch_unwind(AssertUnwindSafe(work));
    std::ptr::null_mut()
}

/// Returns once the C library has memory for the calling thread. What it has given back last it finds again.
fn wait_for_memory() {
    loop {
        // SAFETY: plain allocation, given back; only what stands in front of it was looked at. The compiler may not take it for needless.
        let is_there = unsafe {
            let memory = std::hint::black_box(libc::malloc(TO_BEGIN));
            if !memory.is_null() {
                arenas::note_first(memory.cast());
            }
            libc::free(memory);
            !memory.is_null()
        };
        if is_there {
            return;
        }
        // SAFETY: no preconditions; `std::thread::sleep` might ask for the thread's variables.
        unsafe { libc::usleep(PAUSE.as_micros() as u32) };
    }
}

/// Blocks all signals in the calling thread while it lives; threads started meanwhile keep them blocked.
pub struct BlockSignals(libc::sigset_t);

impl BlockSignals {
    /// Blocks them.
    #[allow(clippy::new_without_default)]
    pub fn new() -> BlockSignals {
        // SAFETY: plain signal-mask calls on local variables.
        unsafe {
            let mut all: libc::sigset_t = std::mem::zeroed();
            let mut old: libc::sigset_t = std::mem::zeroed();
            libc::sigfillset(&raw mut all);
            // A fault is the thread's own. The program's handler may mend it; blocked, it would end the process.
            for fault in
                [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP, libc::SIGSYS]
            {
                libc::sigdelset(&raw mut all, fault);
            }
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut old);
            BlockSignals(old)
        }
    }
}

impl Drop for BlockSignals {
    fn drop(&mut self) {
        // SAFETY: restores the mask that `new` saved.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, std::ptr::null_mut()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn a_thread_has_its_name_and_none_of_the_signals() {
        let (sender, said) = channel();
        assert!(start(WATCH, move || {
            let name = std::fs::read_to_string("/proc/thread-self/comm").unwrap();
            // SAFETY: only asks, into a local variable.
            let blocks = unsafe {
                let mut blocked: libc::sigset_t = std::mem::zeroed();
                libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), &raw mut blocked);
                [libc::SIGTERM, libc::SIGSEGV].map(|signal| libc::sigismember(&raw const blocked, signal))
            };
            sender.send((name, blocks)).unwrap();
        }));
        assert_eq!(said.recv().unwrap(), ("paragon-watch\n".into(), [1, 0]));
    }
}
