//! Large pieces of the runtime's own memory, each of which is mapped for itself. Some of those that were freed are kept for the next loop, which asks for as much as the one
//! before: what the system gives has to be cleared first, page by page, and that takes longer than what loops do with it.
//!
//! Nobody waits here. Whoever finds another thread at the table asks the system instead, and so do children after `fork` whose parent had a thread at it.

use std::cell::UnsafeCell;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};

/// From so many bytes on a piece is large.
pub const LEAST: usize = 256 << 10;
/// Larger pieces aren't kept, and no more than that of all together: as much as the C library's allocator does.
const LARGEST_KEPT: usize = 32 << 20;
/// See [`LARGEST_KEPT`].
const MOST_KEPT: usize = 64 << 20;
/// So many pieces are kept at most.
const PIECES: usize = 64;
/// What they are aligned to.
pub const ALIGNMENT: usize = 4096;

/// A piece that nobody uses: where it begins, and its bytes.
type Piece = (usize, usize);

/// Those that are kept, the oldest first.
struct Table {
    pieces: [Piece; PIECES],
    count: usize,
    bytes: usize,
}

impl Table {
    const fn new() -> Table {
        Table { pieces: [(0, 0); PIECES], count: 0, bytes: 0 }
    }

    fn remove(&mut self, number: usize) -> Piece {
        let piece = self.pieces[number];
        self.pieces.copy_within(number + 1..self.count, number);
        self.count -= 1;
        self.bytes -= piece.1;
        piece
    }

    /// The one of so many bytes that was kept last.
    fn take(&mut self, bytes: usize) -> Option<Piece> {
        let number = self.pieces[..self.count].iter().rposition(|piece| piece.1 == bytes)?;
        Some(self.remove(number))
    }

    fn has_room(&self, bytes: usize) -> bool {
        self.count < PIECES && self.bytes + bytes <= MOST_KEPT
    }

    /// The oldest, which isn't in the table any more, where one of so many bytes finds no room.
    fn make_room(&mut self, bytes: usize) -> Option<Piece> {
        (!self.has_room(bytes) && self.count != 0).then(|| self.remove(0))
    }

    /// Keeps one, if there is room.
    fn keep(&mut self, piece: Piece) -> bool {
        let has_room = piece.1 <= LARGEST_KEPT && self.has_room(piece.1);
        if has_room {
            self.pieces[self.count] = piece;
            self.count += 1;
            self.bytes += piece.1;
        }
        has_room
    }
}

struct Kept {
    is_taken: AtomicBool,
    table: UnsafeCell<Table>,
}

// SAFETY: `with` has one thread at a time in it.
unsafe impl Sync for Kept {}

static KEPT: Kept = Kept { is_taken: AtomicBool::new(false), table: UnsafeCell::new(Table::new()) };

/// Does something with the table. `None`: another thread is at it.
fn with<T>(work: impl FnOnce(&mut Table) -> T) -> Option<T> {
    if KEPT.is_taken.swap(true, Ordering::Acquire) {
        return None;
    }
    // SAFETY: nobody else has taken it, and nothing in `work` comes here.
    let result = work(unsafe { &mut *KEPT.table.get() });
    KEPT.is_taken.store(false, Ordering::Release);
    Some(result)
}

/// The bytes that a piece for so many has: a multiple of a page and, so that the next one like it fits, of an eighth of its power of two. `None`: no piece has so many.
fn rounded(bytes: usize) -> Option<usize> {
    let power = 1usize << bytes.checked_ilog2()?;
    bytes.checked_next_multiple_of((power / 8).max(ALIGNMENT))
}

fn map(bytes: usize) -> *mut u8 {
    let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: new memory, at an address that the system chooses.
    let start = unsafe { libc::mmap(null_mut(), bytes, access, kind, -1, 0) };
    if start == libc::MAP_FAILED { null_mut() } else { start.cast() }
}

fn unmap((start, bytes): Piece) {
    // SAFETY: a piece that nobody uses, as it was mapped.
    unsafe { libc::munmap(start as *mut libc::c_void, bytes) };
}

/// A piece, from [`LEAST`] bytes on; null where there is no memory.
pub fn take(bytes: usize, is_zeroed: bool) -> *mut u8 {
    let Some(bytes) = rounded(bytes) else { return null_mut() };
    if let Some((start, _)) = with(|table| table.take(bytes)).flatten() {
        let start = start as *mut u8;
        if is_zeroed {
            // SAFETY: a piece of so many bytes.
            unsafe { start.write_bytes(0, bytes) };
        }
        return start;
    }
    let new = map(bytes);
    if !new.is_null() {
        return new;
    }
    // What is kept may be what is missing.
    while let Some(piece) = with(|table| (table.count != 0).then(|| table.remove(0))).flatten() {
        unmap(piece);
    }
    map(bytes)
}

/// Takes a piece back.
///
/// # Safety
/// It came from [`take`] or [`resize`] for so many bytes, and nobody uses it any more.
pub unsafe fn give_back(pointer: *mut u8, bytes: usize) {
    let Some(bytes) = rounded(bytes) else { return };
    if bytes <= LARGEST_KEPT {
        while let Some(oldest) = with(|table| table.make_room(bytes)).flatten() {
            unmap(oldest);
        }
    }
    let piece = (pointer as usize, bytes);
    if with(|table| table.keep(piece)) != Some(true) {
        unmap(piece);
    }
}

/// Makes a piece for `from` bytes one for `to`, which are large, too. Null where there is no memory, and then it is as it was.
///
/// # Safety
/// As for [`give_back`], but that the piece is in use.
pub unsafe fn resize(pointer: *mut u8, from: usize, to: usize) -> *mut u8 {
    let (Some(from), Some(to)) = (rounded(from), rounded(to)) else { return null_mut() };
    if from == to {
        return pointer;
    }
    // SAFETY: promised by the caller.
    let moved = unsafe { libc::mremap(pointer.cast(), from, to, libc::MREMAP_MAYMOVE) };
    if moved == libc::MAP_FAILED { null_mut() } else { moved.cast() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keeps a piece as [`give_back`] does; what had to go for it. The table is everybody's, and tests run beside each other, so they have their own.
    fn keep(table: &mut Table, piece: Piece) -> Vec<usize> {
        let gone = std::iter::from_fn(|| table.make_room(piece.1)).map(|piece| piece.0).collect();
        assert!(table.keep(piece));
        gone
    }

    #[test]
    fn the_newest_are_kept() {
        let mut table = Table::new();
        assert_eq!(table.take(LEAST), None);
        for number in 1..=PIECES + 1 {
            let gone = if number > PIECES { vec![1] } else { vec![] };
            assert_eq!(keep(&mut table, (number, LEAST)), gone);
        }
        assert_eq!((table.count, table.bytes), (PIECES, PIECES * LEAST));
        assert_eq!(table.take(LEAST + ALIGNMENT), None);
        assert_eq!(table.take(LEAST), Some((PIECES + 1, LEAST)));
        assert_eq!(table.remove(0), (2, LEAST));
        assert_eq!((table.count, table.bytes), (PIECES - 2, (PIECES - 2) * LEAST));
    }

    #[test]
    fn no_more_than_its_share_is_kept() {
        let mut table = Table::new();
        assert!(!table.keep((1, LARGEST_KEPT + ALIGNMENT)));
        assert_eq!(keep(&mut table, (1, LEAST)), Vec::<usize>::new());
        assert_eq!(keep(&mut table, (2, LEAST)), Vec::<usize>::new());
        assert_eq!(keep(&mut table, (3, LARGEST_KEPT)), Vec::<usize>::new());
        assert!(!table.keep((4, LARGEST_KEPT)));
        assert_eq!(keep(&mut table, (4, LARGEST_KEPT)), [1, 2]);
        assert_eq!(table.bytes, MOST_KEPT);
    }

    #[test]
    fn pieces_of_a_kind_have_the_same_bytes() {
        for bytes in [LEAST, LEAST + 1, 300_000, 1 << 20, (1 << 20) + 1, (16 << 20) - 1, 100_000_007] {
            let all = rounded(bytes).unwrap();
            assert!(all >= bytes && all <= bytes + bytes / 8 + ALIGNMENT && all.is_multiple_of(ALIGNMENT));
            assert_eq!(rounded(all), Some(all), "{bytes}");
        }
        assert_eq!(rounded(usize::MAX), None);
        assert_eq!(rounded(0), None);
    }

    #[test]
    fn pieces_are_cleared_where_that_is_asked_for_and_keep_what_they_hold_when_they_grow() {
        for _ in 0..3 {
            let bytes = 3 << 20;
            let piece = take(bytes, true);
            // SAFETY: pieces of so many bytes, one after the other.
            unsafe {
                assert!((0..bytes).all(|at| piece.add(at).read() == 0));
                piece.write_bytes(7, bytes);
                let piece = resize(piece, bytes, 2 * bytes);
                assert!((0..bytes).all(|at| piece.add(at).read() == 7));
                let piece = resize(piece, 2 * bytes, bytes);
                assert!((0..bytes).all(|at| piece.add(at).read() == 7));
                give_back(piece, bytes);
            }
        }
        assert!(take(usize::MAX / 2, false).is_null());
    }
}
