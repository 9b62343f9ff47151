//! Memory of the runtime's own. What is large is mapped, and kept for the next loop ([`large`]): the C library's allocator would keep many times as much of it, in arenas for each
//! thread, and would from then on map less of what the program asks for. Where arrays may stay on a device (`memory::coherence`), nothing comes from the C library: what the program
//! has freed may still be kept from it, and the library's allocator would hand it out to the runtime, whose threads can't wait for it to come back. Everywhere else that serves the
//! runtime, too. Where neither has any, there is a [`reserve`].

mod large;

use super::reserve;
use crate::errno;
use dlmalloc::GlobalDlmalloc;
use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::CStr;
use std::sync::atomic::{AtomicU8, Ordering};

/// The runtime's allocator.
pub struct Memory;

const UNDECIDED: u8 = 0;
const OF_LIBRARY: u8 = 1;
const OWN: u8 = 2;

/// Whose memory it is: decided at the first allocation, and for good, because who has given it takes it back.
static WHOSE: AtomicU8 = AtomicU8::new(UNDECIDED);

/// What asks for it, as [`Config::staying`](crate::config::Config::staying) does; where it says nothing that is known, a GPU does.
const ASKED_BY: &CStr = c"PARAGON_STAYING";
/// What whoever uses NVIDIA's driver opens.
const OF_DRIVER: &CStr = c"/dev/nvidiactl";

unsafe extern "C" {
    /// Not in the `libc` crate. Nothing for programs with raised privileges.
    fn secure_getenv(name: *const libc::c_char) -> *const libc::c_char;
}

#[cold]
fn decide() -> u8 {
    // The caller may be about to look at it.
    let errno = errno::get();
    // SAFETY: names that end with a zero, as what is found does. It neither allocates nor changes anything.
    let is_asked = unsafe {
        let value = secure_getenv(ASKED_BY.as_ptr());
        let value = if value.is_null() { c"" } else { CStr::from_ptr(value) };
        let has_gpu = || libc::access(OF_DRIVER.as_ptr(), libc::R_OK | libc::W_OK) == 0;
        value == c"on" || value != c"off" && has_gpu()
    };
    errno::set(errno);
    let whose = if is_asked { OWN } else { OF_LIBRARY };
    // Two threads may decide at once, and find the same.
    match WHOSE.compare_exchange(UNDECIDED, whose, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => whose,
        Err(decided) => decided,
    }
}

fn whose() -> u8 {
    match WHOSE.load(Ordering::Relaxed) {
        UNDECIDED => decide(),
        whose => whose,
    }
}

/// Whether it is its own.
pub fn is_own() -> bool {
    whose() == OWN
}

/// Whether a piece is the business of [`large`].
fn is_large(layout: Layout) -> bool {
    layout.size() >= large::LEAST && layout.align() <= large::ALIGNMENT
}

/// Lets children after `fork` allocate: they have none of our threads, one of which may be about to.
pub fn bear_children() {
    if is_own() {
        // SAFETY: what it registers it registers once.
        unsafe { dlmalloc::enable_alloc_after_fork() };
    }
}

/// From whoever has to give it.
///
/// # Safety
/// The layout has bytes.
unsafe fn give(layout: Layout, is_zeroed: bool) -> *mut u8 {
    // SAFETY: promised by the caller.
    let pointer = unsafe {
        match (is_own(), is_zeroed) {
            (_, _) if is_large(layout) => large::take(layout.size(), is_zeroed),
            (true, false) => GlobalDlmalloc.alloc(layout),
            (true, true) => GlobalDlmalloc.alloc_zeroed(layout),
            (false, false) => System.alloc(layout),
            (false, true) => System.alloc_zeroed(layout),
        }
    };
    if !pointer.is_null() {
        return pointer;
    }
    let pointer = reserve::take(layout);
    if is_zeroed && !pointer.is_null() {
        // SAFETY: a piece of that size.
        unsafe { pointer.write_bytes(0, layout.size()) };
    }
    pointer
}

// SAFETY: each of the four keeps the promises; who gives memory takes it back, since nobody decides twice, and pieces of the reserve are known by their addresses.
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: promised by the caller, here and below.
        unsafe { give(layout, false) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        unsafe { give(layout, true) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe {
            match (reserve::has(pointer), is_own()) {
                (true, _) => reserve::give_back(pointer, layout),
                (false, _) if is_large(layout) => large::give_back(pointer, layout.size()),
                (false, true) => GlobalDlmalloc.dealloc(pointer, layout),
                (false, false) => System.dealloc(pointer, layout),
            }
        }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: as above.
        unsafe {
            let wanted = Layout::from_size_align_unchecked(bytes, layout.align());
            let moved = match (reserve::has(pointer), is_own()) {
                (true, _) => std::ptr::null_mut(),
                (false, _) if is_large(layout) && is_large(wanted) => {
                    large::resize(pointer, layout.size(), bytes)
                }
                (false, _) if is_large(layout) != is_large(wanted) => std::ptr::null_mut(),
                (false, true) => GlobalDlmalloc.realloc(pointer, layout, bytes),
                (false, false) => System.realloc(pointer, layout, bytes),
            };
            if !moved.is_null() {
                return moved;
            }
            // To or from the reserve, or what is large.
            let moved = give(wanted, false);
            if !moved.is_null() {
                moved.copy_from_nonoverlapping(pointer, bytes.min(layout.size()));
                self.dealloc(pointer, layout);
            }
            moved
        }
    }
}
