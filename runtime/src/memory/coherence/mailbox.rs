//! What the calling thread asks of the thread that drives a device: to bring bytes back, or to run loops again that a device has run which is lost. It is one request at a time, which is
//! waited for. It may be made in a signal handler, so
//! nothing is allocated and no lock is taken that the interrupted program could hold: the request lies in a static place, and the driving thread is woken by a bell
//! that was made before.

use super::again::Again;
use crate::device::pool::may_stay_awake;
use crate::device::{Device, DevicePtr};
use crate::memory::tracking::Range;
use crate::speculation::cmt::Kind;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// What a driving thread is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Letter {
    /// A request lies there: for bytes.
    Fetch,
    /// A request lies there: for a loop.
    Again,
    /// Memory that nobody needs any more.
    Free(DevicePtr),
}

/// Has a driving thread come by; false: it is gone. It must not allocate for requests.
type Bell = Box<dyn Fn(Letter) -> bool + Send + Sync>;

static BELLS: [OnceLock<Bell>; 2] = [const { OnceLock::new() }; 2];

const NOTHING: u32 = 0;
const ASKED: u32 = 1;
const DONE: u32 = 2;
const FAILED: u32 = 3;

struct Request {
    state: AtomicU32,
    from: AtomicU64,
    lo: AtomicU64,
    hi: AtomicU64,
}

static REQUEST: Request = Request {
    state: AtomicU32::new(NOTHING),
    from: AtomicU64::new(0),
    lo: AtomicU64::new(0),
    hi: AtomicU64::new(0),
};

/// Looks at the request so often before it sleeps: a page comes back within some microseconds.
const LOOKS: u32 = 20_000;

fn futex(operation: libc::c_int, value: u32) {
    // SAFETY: a word of ours; waiting ends when it has changed, or for no reason.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            REQUEST.state.as_ptr(),
            operation | libc::FUTEX_PRIVATE_FLAG,
            value,
            std::ptr::null::<libc::timespec>(),
        );
    }
}

/// Whether a job has failed that nobody waits for, by device.
static HAS_FAILED: [AtomicBool; 2] = [const { AtomicBool::new(false) }; 2];

/// Whether one has, so that what the device has is not what the program takes it for.
pub fn has_failed(kind: Kind) -> bool {
    HAS_FAILED[kind as usize].load(Ordering::Acquire)
}

/// On the driving thread: one has. Nothing is fetched from now on.
pub fn fail(kind: Kind) {
    HAS_FAILED[kind as usize].store(true, Ordering::Release);
}

/// Nothing of what the device had is wanted any more, and the driving thread has come to the end of what it had to do.
pub fn forgive(kind: Kind) {
    HAS_FAILED[kind as usize].store(false, Ordering::Release);
}

/// The driving thread of a device comes when this is called.
pub fn serve_by(kind: Kind, bell: Bell) {
    let _ = BELLS[kind as usize].set(bell);
    // Handlers find it settled.
    may_stay_awake();
}

/// Has bytes copied from a device into the program's memory, which may be stored to. False: that can't be done.
pub fn fetch(kind: Kind, from: DevicePtr, to: Range) -> bool {
    ask(kind, Letter::Fetch, from.0, to)
}

/// Has a loop run again, on the program's memory, by a thread with a stack of its own. False: that can't be done.
pub fn run_again(kind: Kind, again: &Again) -> bool {
    ask(kind, Letter::Again, std::ptr::from_ref(again) as u64, (0, 0))
}

fn ask(kind: Kind, letter: Letter, from: u64, (lo, hi): Range) -> bool {
    let Some(bell) = BELLS[kind as usize].get() else { return false };
    REQUEST.from.store(from, Ordering::Relaxed);
    REQUEST.lo.store(lo, Ordering::Relaxed);
    REQUEST.hi.store(hi, Ordering::Relaxed);
    REQUEST.state.store(ASKED, Ordering::Release);
    if !bell(letter) {
        return false;
    }
    let mut looks = if may_stay_awake() { 0 } else { LOOKS };
    loop {
        match REQUEST.state.load(Ordering::Acquire) {
            ASKED if looks < LOOKS => {
                looks += 1;
                std::hint::spin_loop();
            }
            ASKED => futex(libc::FUTEX_WAIT, ASKED),
            state => return state == DONE,
        }
    }
}

/// Gives a device's memory back, some time. False: its thread has no room for the letter.
pub fn free(kind: Kind, memory: DevicePtr) -> bool {
    BELLS[kind as usize].get().is_none_or(|bell| bell(Letter::Free(memory)))
}

/// On the driving thread, which has panicked: nobody waits for what will not come.
pub fn give_up() {
    if REQUEST.state.load(Ordering::Acquire) == ASKED {
        REQUEST.state.store(FAILED, Ordering::Release);
        futex(libc::FUTEX_WAKE, 1);
    }
}

/// On the driving thread: does what a letter asks for. Without a device everything fails.
pub fn answer(device: Option<&mut dyn Device>, kind: Kind, letter: Letter) {
    match letter {
        Letter::Free(memory) => {
            if let Some(device) = device {
                device.free(memory);
            }
        }
        Letter::Fetch => serve(|from, (lo, hi)| {
            let device = device.filter(|_| !has_failed(kind));
            device.is_some_and(|device| {
                // SAFETY: whoever asks has made this memory ready to be stored to, and waits.
                let to = unsafe { std::slice::from_raw_parts_mut(lo as *mut u8, (hi - lo) as usize) };
                device.copy_out(&mut [(DevicePtr(from), to)]).is_ok()
            })
        }),
        Letter::Again => serve(|from, _| {
            // SAFETY: whoever asks has it, has seen to the memory that it uses, and waits.
            unsafe { (*(from as *const Again)).run() };
            true
        }),
    }
}

/// Does what the request asks for.
fn serve(work: impl FnOnce(u64, Range) -> bool) {
    if REQUEST.state.load(Ordering::Acquire) != ASKED {
        return;
    }
    let (lo, hi) = (REQUEST.lo.load(Ordering::Relaxed), REQUEST.hi.load(Ordering::Relaxed));
    let is_done = work(REQUEST.from.load(Ordering::Relaxed), (lo, hi));
    REQUEST.state.store(if is_done { DONE } else { FAILED }, Ordering::Release);
    futex(libc::FUTEX_WAKE, 1);
}
