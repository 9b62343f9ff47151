//! Memory for when there is none. A program may run out of memory, be told so, and go on; Rust's collections would end its process instead. So what they ask for in small pieces
//! when nobody else has any comes from a piece that the library brings along, and from then on nothing is begun any more that would ask for more: no loop is entered, no
//! allocation recorded. What is large is asked for in ways that may fail, as everywhere.

use dlmalloc::{Allocator, Dlmalloc};
use std::alloc::Layout;
use std::cell::UnsafeCell;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes of it, which take no memory until they are touched.
const BYTES: usize = 512 << 10;
/// What is larger isn't given.
const LARGEST: usize = 64 << 10;

#[repr(align(4096))]
struct Space(UnsafeCell<[u8; BYTES]>);

// SAFETY: only the allocator in `RESERVE` touches it, and hands it out in pieces.
unsafe impl Sync for Space {}

static SPACE: Space = Space(UnsafeCell::new([0; BYTES]));
static IS_IN_USE: AtomicBool = AtomicBool::new(false);

fn start() -> *mut u8 {
    SPACE.0.get().cast()
}

/// Gives all of the space to who asks first.
struct Given(AtomicBool);

/// The region isn't the system's to be given back to it, as `dlmalloc` says that.
const EXTERNAL: u32 = 1;

// SAFETY: the region is given once, and is static.
unsafe impl Allocator for Given {
    fn alloc(&self, bytes: usize) -> (*mut u8, usize, u32) {
        match bytes <= BYTES && !self.0.swap(true, Ordering::Relaxed) {
            true => (start(), BYTES, EXTERNAL),
            false => (null_mut(), 0, 0),
        }
    }
    fn remap(&self, _: *mut u8, _: usize, _: usize, _: bool) -> *mut u8 {
        null_mut()
    }
    fn free_part(&self, _: *mut u8, _: usize, _: usize) -> bool {
        false
    }
    fn free(&self, _: *mut u8, _: usize) -> bool {
        false
    }
    fn can_release_part(&self, _: u32) -> bool {
        false
    }
    fn allocates_zeros(&self) -> bool {
        true
    }
    fn page_size(&self) -> usize {
        4096
    }
}

struct Reserve {
    is_taken: AtomicBool,
    pieces: UnsafeCell<Dlmalloc<Given>>,
}

// SAFETY: `with` has one thread at a time in it.
unsafe impl Sync for Reserve {}

static RESERVE: Reserve = Reserve {
    is_taken: AtomicBool::new(false),
    pieces: UnsafeCell::new(Dlmalloc::new_with_allocator(Given(AtomicBool::new(false)))),
};

/// So often somebody looks whether the one who has it is done, which takes microseconds. Then there is no such thread any more: this is a child after `fork`.
const LOOKS: u32 = 1 << 18;

/// Does something with the pieces. `None`: whoever has them isn't there to let go of them.
fn with<T>(work: impl FnOnce(&mut Dlmalloc<Given>) -> T) -> Option<T> {
    let mut looks = 0;
    while RESERVE.is_taken.swap(true, Ordering::Acquire) {
        looks += 1;
        if looks == LOOKS {
            return None;
        }
        std::thread::yield_now();
    }
    // SAFETY: nobody else has taken it, and nothing in `work` waits or asks for memory elsewhere.
    let result = work(unsafe { &mut *RESERVE.pieces.get() });
    RESERVE.is_taken.store(false, Ordering::Release);
    Some(result)
}

/// Whether somebody had to take from it: the process has no memory, or had none.
pub fn is_in_use() -> bool {
    IS_IN_USE.load(Ordering::Relaxed)
}

/// Whether a piece is of it.
pub fn has(pointer: *const u8) -> bool {
    (pointer as usize).wrapping_sub(start() as usize) < BYTES
}

/// A piece; null where it is too large, or nothing is left.
pub fn take(layout: Layout) -> *mut u8 {
    if layout.size() > LARGEST {
        return null_mut();
    }
    IS_IN_USE.store(true, Ordering::Relaxed);
    // SAFETY: sizes and alignments of layouts are what it asks for.
    with(|pieces| unsafe { pieces.malloc(layout.size(), layout.align()) }).unwrap_or(null_mut())
}

/// Takes a piece back; in a child of a process that was just at it, nobody does, and it is lost.
///
/// # Safety
/// It came from [`take`] by this layout, and nobody uses it any more.
pub unsafe fn give_back(pointer: *mut u8, layout: Layout) {
    // SAFETY: promised by the caller.
    let _ = with(|pieces| unsafe { pieces.free(pointer, layout.size(), layout.align()) });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_apart_and_come_back() {
        let small = Layout::from_size_align(1000, 64).unwrap();
        for _ in 0..3 {
            let mut all = Vec::new();
            loop {
                let piece = take(small);
                if piece.is_null() {
                    break;
                }
                assert!(has(piece) && (piece as usize).is_multiple_of(64));
                // SAFETY: so many bytes are ours.
                unsafe { piece.write_bytes(all.len() as u8, small.size()) };
                all.push(piece);
            }
            assert!(all.len() * small.size() > BYTES / 4 * 3, "{}", all.len());
            for (number, piece) in all.iter().enumerate() {
                // SAFETY: written above.
                let bytes = unsafe { std::slice::from_raw_parts(*piece, small.size()) };
                assert!(bytes.iter().all(|byte| *byte == number as u8));
            }
            // SAFETY: each once.
            all.into_iter().for_each(|piece| unsafe { give_back(piece, small) });
        }
        // As a child finds it that was made while another thread was at it.
        let piece = take(small);
        RESERVE.is_taken.store(true, Ordering::Relaxed);
        // SAFETY: taken above.
        unsafe { give_back(piece, small) };
        assert!(take(small).is_null());
        RESERVE.is_taken.store(false, Ordering::Relaxed);
        assert!(!take(small).is_null());
        assert!(take(Layout::from_size_align(LARGEST + 1, 8).unwrap()).is_null());
        assert!(!has(std::ptr::null()) && !has((&raw const small).cast()));
    }
}
