//! Copies between the program's memory and a GPU's, through pinned memory of ours.
//!
//! What a GPU fetches by itself from pageable memory comes at a seventh of the bus's speed, and to pin the program's memory isn't ours to
//! do: it may be unmapped at any time. So a ring of pinned slots lies between: several threads fill or empty slots, the calling
//! thread, which alone knows the driver, queues the GPU's copies of them, in order. A copy in returns when all has been queued, one out when all is
//! there. `docs/measurements/2026-11-24-transfers.md` has what sizes and numbers of threads are worth.
//!
//! What this is not: it neither knows what a copy is for nor decides what has to be copied (`speculation::cmt`).

use crate::device::pool::Pool;
use crate::device::{DeviceError, DevicePtr};
use crate::memory::safe_copy;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Slots of the ring: those that threads are at, and as many that wait for the GPU.
pub const SLOTS: usize = 16;
/// Most bytes of a slot ...
pub const SLOT: usize = 2 << 20;
/// ... and fewest that are worth another thread's while.
const LEAST: usize = 256 << 10;
/// Pieces that lie no farther apart on the GPU are copied together, with what lies between them, which then has no particular value. Whoever
/// allocates leaves more than this between what two allocations are used for.
pub const GAP: u64 = 255;

/// What carries slots to the GPU and back: one stream.
pub trait Link {
    /// Queues the copy of `bytes` bytes between a slot's memory and the GPU's, behind all that was queued before.
    fn queue(&mut self, slot: usize, device: DevicePtr, bytes: usize, way: Way) -> Result<(), DeviceError>;
    /// Whether what was last queued for a slot is done; so is one for which nothing was.
    fn is_done(&mut self, slot: usize) -> Result<bool, DeviceError>;
}

/// Where a copy goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Way {
    In,
    Out,
}

/// One copy: so many bytes of this process's memory, and their place on the GPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Piece {
    host: u64,
    device: u64,
    bytes: u64,
}

/// A slot's worth of copies: `bytes` bytes of the GPU's memory from `device` on, in which these parts lie.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Chunk {
    device: u64,
    bytes: usize,
    parts: Range<usize>,
}

/// A part of a piece, `at` bytes behind the beginning of its chunk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Part {
    host: u64,
    at: usize,
    bytes: usize,
}

/// Cuts pieces into chunks of at most `most` bytes, in their order.
fn cut(pieces: &[Piece], most: usize) -> (Vec<Chunk>, Vec<Part>) {
    let (mut chunks, mut parts): (Vec<Chunk>, Vec<Part>) = (Vec::new(), Vec::new());
    for piece in pieces {
        let mut done = 0;
        while done < piece.bytes {
            let (host, device) = (piece.host + done, piece.device + done);
            let follows = |chunk: &&mut Chunk| {
                let end = chunk.device + chunk.bytes as u64;
                let room = most as u64 - chunk.bytes as u64;
                device >= end && device - end <= GAP && device - end < room
            };
            let at = match chunks.last_mut().filter(follows) {
                Some(chunk) => (device - chunk.device) as usize,
                None => {
                    chunks.push(Chunk { device, bytes: 0, parts: parts.len()..parts.len() });
                    0
                }
            };
            let chunk = chunks.last_mut().expect("there is one");
            let bytes = ((most - at) as u64).min(piece.bytes - done) as usize;
            chunk.bytes = at + bytes;
            parts.push(Part { host, at, bytes });
            chunk.parts.end = parts.len();
            done += bytes as u64;
        }
    }
    (chunks, parts)
}

/// The ring; see the module.
pub struct Staging<L> {
    link: L,
    memory: Memory,
    /// Bytes of a slot.
    slot: usize,
    pool: Pool,
    /// How many threads fill and empty slots.
    threads: usize,
    /// Chunks that were ever queued, and of those the ones that are known to be done, which come first. A chunk's slot is its number modulo
    /// [`SLOTS`].
    queued: u64,
    passed: u64,
}

/// The slots' memory, which threads share: each uses another slot.
#[derive(Clone, Copy)]
struct Memory(*mut u8);
// SAFETY: see the type.
unsafe impl Sync for Memory {}
// SAFETY: see the type.
unsafe impl Send for Memory {}

/// Says that all is lost where its thread panics, so that nobody waits for what will not come.
struct Alarm<'a>(&'a AtomicBool);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::SeqCst);
        }
    }
}

fn slot_of(sequence: u64) -> usize {
    (sequence % SLOTS as u64) as usize
}

/// What the threads of one copy tell each other. Chunks are counted by `sequence` from the first of all copies on, and by `number` in
/// this one.
struct Shared<'a> {
    chunks: &'a [Chunk],
    parts: &'a [Part],
    instead: &'a [Piece],
    memory: Memory,
    slot: usize,
    first: u64,
    /// The next chunk that a thread will fill or empty.
    next: AtomicUsize,
    /// Chunks of which the GPU's copy is done, by sequence: all below.
    passed: AtomicU64,
    /// For each slot one more than the sequence of the chunk that it was last filled with, or emptied of.
    handled: [AtomicU64; SLOTS],
    is_over: AtomicBool,
    error: Mutex<Option<DeviceError>>,
}

impl Shared<'_> {
    fn sequence(&self, number: usize) -> u64 {
        self.first + number as u64
    }

    fn is_handled(&self, sequence: u64) -> bool {
        self.handled[slot_of(sequence)].load(Ordering::Acquire) == sequence + 1
    }

    fn fail(&self, error: DeviceError) {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        self.is_over.store(true, Ordering::SeqCst);
    }

    /// Fills or empties a chunk's slot.
    fn handle(&self, number: usize, way: Way) {
        let sequence = self.sequence(number);
        let chunk = &self.chunks[number];
        let slot = self.memory.0.wrapping_add(slot_of(sequence) * self.slot);
        for part in &self.parts[chunk.parts.clone()] {
            let place = slot.wrapping_add(part.at);
            match way {
                // SAFETY: the part lies within the slot, which belongs to this chunk now.
                Way::In => match unsafe { safe_copy::read(part.host, part.bytes as u64, place) } {
                    Ok(()) => {}
                    Err(error) => return self.fail(error),
                },
                // SAFETY: as above; the other side is a part of a buffer that the caller has given away for the time of the copy.
                Way::Out => unsafe { std::ptr::copy_nonoverlapping(place, part.host as *mut u8, part.bytes) },
            }
        }
        let end = chunk.device + chunk.bytes as u64;
        let first = self.instead.partition_point(|piece| piece.device + piece.bytes <= chunk.device);
        for piece in self.instead[first..].iter().take_while(|piece| piece.device < end) {
            let (from, to) = (piece.device.max(chunk.device), (piece.device + piece.bytes).min(end));
            let place = slot.wrapping_add((from - chunk.device) as usize);
            let source = (piece.host + (from - piece.device)) as *const u8;
            // SAFETY: the chunk's part of memory that the caller keeps for us, and that part of the slot.
            unsafe { std::ptr::copy_nonoverlapping(source, place, (to - from) as usize) };
        }
        self.handled[slot_of(sequence)].store(sequence + 1, Ordering::Release);
    }

    /// Whether a chunk's slot can be filled, or emptied.
    fn is_ready(&self, number: usize, way: Way) -> bool {
        let passed = self.passed.load(Ordering::Acquire);
        match way {
            Way::In => self.sequence(number) < passed + SLOTS as u64,
            Way::Out => self.sequence(number) < passed,
        }
    }

    /// What the helping threads do.
    fn help(&self, way: Way) {
        let _alarm = Alarm(&self.is_over);
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= self.chunks.len() {
                return;
            }
            while !self.is_ready(number, way) {
                if self.is_over.load(Ordering::Relaxed) {
                    return;
                }
                std::thread::yield_now();
            }
            if self.is_over.load(Ordering::Relaxed) {
                return;
            }
            self.handle(number, way);
        }
    }

    /// Handles the next chunk, where it is `number` and nobody else is about to.
    fn handle_alone(&self, number: usize, way: Way) -> bool {
        let is_next = number < self.chunks.len()
            && self.is_ready(number, way)
            && self.next.compare_exchange(number, number + 1, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if is_next {
            self.handle(number, way);
        }
        is_next
    }
}

impl<L: Link + Send> Staging<L> {
    /// A ring of [`SLOTS`] slots of `slot` bytes each in `memory`, which is pinned.
    ///
    /// # Safety
    /// The memory has room for them and lives as long as the process; nobody else uses it while a copy is under way.
    pub unsafe fn new(link: L, memory: *mut u8, slot: usize, pool: Pool, threads: usize) -> Staging<L> {
        Staging { link, memory: Memory(memory), slot, pool, threads, queued: 0, passed: 0 }
    }

    /// Copies host memory in, each piece from an address of the program's to a place on the GPU. Host memory that isn't there is an error, not a
    /// fault. `instead`: memory of ours that places among them are given instead, in the order of the places.
    pub fn copy_in(
        &mut self,
        pieces: &[(u64, u64, DevicePtr)],
        instead: &[(u64, u64, DevicePtr)],
    ) -> Result<(), DeviceError> {
        let piece = |&(host, bytes, device): &(u64, u64, DevicePtr)| Piece { host, device: device.0, bytes };
        let instead: Vec<Piece> = instead.iter().map(piece).collect();
        self.copy(&pieces.iter().map(piece).collect::<Vec<_>>(), &instead, Way::In)
    }

    /// Copies the GPU's memory out into buffers of ours.
    pub fn copy_out(&mut self, pieces: &mut [(DevicePtr, &mut [u8])]) -> Result<(), DeviceError> {
        let piece = |(device, to): &mut (DevicePtr, &mut [u8])| Piece {
            host: to.as_mut_ptr() as u64,
            device: device.0,
            bytes: to.len() as u64,
        };
        self.copy(&pieces.iter_mut().map(piece).collect::<Vec<_>>(), &[], Way::Out)
    }

    fn copy(&mut self, pieces: &[Piece], instead: &[Piece], way: Way) -> Result<(), DeviceError> {
        let bytes: u64 = pieces.iter().map(|piece| piece.bytes).sum();
        if bytes == 0 {
            return Ok(());
        }
        // So many that every thread has some, and the first ones are under way soon.
        let share = (bytes / (2 * self.threads.max(1)) as u64).min(self.slot as u64) as usize;
        let most = share.next_multiple_of(64 << 10).clamp(LEAST.min(self.slot), self.slot);
        let (chunks, parts) = cut(pieces, most);
        let shared = Shared {
            chunks: &chunks,
            parts: &parts,
            instead,
            memory: self.memory,
            slot: self.slot,
            first: self.queued,
            next: AtomicUsize::new(0),
            passed: AtomicU64::new(self.passed),
            handled: Default::default(),
            is_over: AtomicBool::new(false),
            error: Mutex::new(None),
        };
        // What would fill one chunk is copied before anybody has been woken to help.
        let is_little = bytes <= most as u64;
        let helpers = if chunks.len() < 2 || is_little { 0 } else { self.threads.min(chunks.len()) };
        let (caller, pool) = (std::thread::current().id(), self.pool.clone());
        let ring = Mutex::new(self);
        pool.run(helpers + 1, &|| {
            if std::thread::current().id() != caller {
                return shared.help(way);
            }
            let _alarm = Alarm(&shared.is_over);
            let mut ring = ring.lock().unwrap_or_else(PoisonError::into_inner);
            let end = match way {
                Way::In => ring.lead_in(&shared),
                Way::Out => ring.lead_out(&shared),
            };
            if let Err(error) = end {
                shared.fail(error);
            }
        });
        shared.error.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }

    /// Queues one chunk.
    fn queue(&mut self, chunk: &Chunk, way: Way) -> Result<(), DeviceError> {
        self.link.queue(slot_of(self.queued), DevicePtr(chunk.device), chunk.bytes, way)?;
        self.queued += 1;
        Ok(())
    }

    /// Sees how far the GPU is.
    fn look(&mut self, shared: &Shared<'_>) -> Result<(), DeviceError> {
        while self.passed < self.queued && self.link.is_done(slot_of(self.passed))? {
            self.passed += 1;
        }
        shared.passed.store(self.passed, Ordering::Release);
        Ok(())
    }

    /// What the calling thread does of a copy in: it queues what is filled, and fills slots itself while nobody else does.
    fn lead_in(&mut self, shared: &Shared<'_>) -> Result<(), DeviceError> {
        let mut queued = 0;
        while let Some(chunk) = shared.chunks.get(queued) {
            if shared.is_over.load(Ordering::Relaxed) {
                return Ok(());
            }
            if shared.is_handled(shared.sequence(queued)) {
                self.queue(chunk, Way::In)?;
                queued += 1;
                continue;
            }
            self.look(shared)?;
            if !shared.handle_alone(queued, Way::In) {
                std::thread::yield_now();
            }
        }
        Ok(())
    }

    /// The same of a copy out: it queues as far as there are empty slots.
    fn lead_out(&mut self, shared: &Shared<'_>) -> Result<(), DeviceError> {
        let (mut queued, mut emptied) = (0, 0);
        while emptied < shared.chunks.len() {
            if shared.is_over.load(Ordering::Relaxed) {
                // What has been queued goes to slots, not to the caller's buffers.
                return Ok(());
            }
            let mut has_done = false;
            // The GPU's copies are made in order, so a slot that an earlier copy in still is to be taken from has no need of waiting.
            while let Some(chunk) = shared.chunks.get(queued).filter(|_| queued < emptied + SLOTS) {
                self.queue(chunk, Way::Out)?;
                queued += 1;
                has_done = true;
            }
            while emptied < queued && shared.is_handled(shared.sequence(emptied)) {
                emptied += 1;
                has_done = true;
            }
            self.look(shared)?;
            if !has_done && !shared.handle_alone(shared.next.load(Ordering::Relaxed), Way::Out) {
                std::thread::yield_now();
            }
        }
        Ok(())
    }

    /// The ring's memory, for something else, up to the next copy: whoever asks has seen to it that the stream is idle.
    pub fn memory(&self) -> (*mut u8, usize) {
        (self.memory.0, SLOTS * self.slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    /// A GPU whose copies are made late: one at every third question.
    struct Late {
        memory: Memory,
        slot: usize,
        waiting: VecDeque<(usize, u64, usize, Way)>,
        asked: usize,
        /// Fails at this many copies from now.
        fails_in: usize,
    }

    impl Late {
        fn make_one(&mut self) {
            let Some((slot, device, bytes, way)) = self.waiting.pop_front() else { return };
            let slot = self.memory.0.wrapping_add(slot * self.slot);
            // SAFETY: slots of the test's own, and "the GPU's memory" is too.
            unsafe {
                match way {
                    Way::In => std::ptr::copy_nonoverlapping(slot, device as *mut u8, bytes),
                    Way::Out => std::ptr::copy_nonoverlapping(device as *const u8, slot, bytes),
                }
            }
        }
    }

    impl Link for Late {
        fn queue(
            &mut self,
            slot: usize,
            device: DevicePtr,
            bytes: usize,
            way: Way,
        ) -> Result<(), DeviceError> {
            self.fails_in = self.fails_in.checked_sub(1).ok_or(DeviceError::Lost("test".into()))?;
            assert!(bytes <= self.slot);
            self.waiting.push_back((slot, device.0, bytes, way));
            Ok(())
        }
        fn is_done(&mut self, slot: usize) -> Result<bool, DeviceError> {
            self.asked += 1;
            if self.asked.is_multiple_of(3) {
                self.make_one();
            }
            Ok(self.waiting.iter().all(|(waiting, ..)| *waiting != slot))
        }
    }

    fn ring(slot: usize, threads: usize) -> Staging<Late> {
        let memory = Memory(Vec::leak(vec![0u8; SLOTS * slot]).as_mut_ptr());
        let link = Late { memory, slot, waiting: VecDeque::new(), asked: 0, fails_in: usize::MAX };
        // SAFETY: as much memory as that, which is never given back.
        unsafe { Staging::new(link, memory.0, slot, Pool::default(), threads) }
    }

    #[test]
    fn pieces_are_cut_and_joined() {
        let piece = |host, device, bytes| Piece { host, device, bytes };
        let pieces = [
            piece(10, 1000, 50),
            // Near enough; then one that begins in the chunk and ends in others; then one that is far away, and one before it.
            piece(900, 1060, 30),
            piece(5000, 1100, 250),
            piece(1, 2000, 1),
            piece(7, 300, 0),
            piece(8, 300, 2),
        ];
        let (chunks, parts) = cut(&pieces, 128);
        let chunk = |device, bytes, parts| Chunk { device, bytes, parts };
        assert_eq!(
            chunks,
            [
                chunk(1000, 128, 0..3),
                chunk(1128, 128, 3..4),
                chunk(1256, 94, 4..5),
                chunk(2000, 1, 5..6),
                chunk(300, 2, 6..7),
            ]
        );
        let part = |host, at, bytes| Part { host, at, bytes };
        assert_eq!(
            parts,
            [
                part(10, 0, 50),
                part(900, 60, 30),
                part(5000, 100, 28),
                part(5028, 0, 128),
                part(5156, 0, 94),
                part(1, 0, 1),
                part(8, 0, 2)
            ]
        );
    }

    #[test]
    fn everything_arrives_in_both_directions() {
        for (slot, threads, sizes) in [
            (1 << 12, 3, &[1usize, 4096, 100_000, 17, 300_000][..]),
            (1 << 12, 0, &[70_000, 3]),
            (1 << 12, 1, &[200_000]),
            (1 << 16, 8, &[5_000_000, 1, 1, 1]),
            (64, 4, &[10_000]),
        ] {
            let mut ring = ring(slot, threads);
            for turn in 0..5u8 {
                let total: usize = sizes.iter().sum::<usize>() + 300 * sizes.len();
                let mut device = vec![0u8; total];
                let sources: Vec<Vec<u8>> = sizes
                    .iter()
                    .map(|size| {
                        (0..*size).map(|i| (i * 31 + i / 253 + size) as u8 ^ turn.wrapping_mul(77)).collect()
                    })
                    .collect();
                // Some near each other, some not.
                let mut places = Vec::new();
                let mut at = 0;
                for (number, source) in sources.iter().enumerate() {
                    places.push(DevicePtr(device.as_mut_ptr() as u64 + at as u64));
                    at += source.len() + if number % 2 == 0 { 7 } else { 300 };
                }
                let pieces: Vec<_> = sources
                    .iter()
                    .zip(&places)
                    .map(|(source, place)| (source.as_ptr() as u64, source.len() as u64, *place))
                    .collect();
                // Some of it from elsewhere, across the pieces' ends.
                let other: Vec<u8> = (0..total).map(|i| (i * 7 + i / 251) as u8).collect();
                let start = device.as_ptr() as u64;
                let (mut instead, mut expected) = (Vec::new(), sources.clone());
                let mut at = 3;
                while turn % 2 == 1 && at < total {
                    let bytes = (1 + at % 997).min(total - at);
                    instead.push((other[at..].as_ptr() as u64, bytes as u64, DevicePtr(start + at as u64)));
                    for (place, expected) in places.iter().zip(&mut expected) {
                        let first = (place.0 - start) as usize;
                        let hit = at.max(first)..(at + bytes).min(first + expected.len());
                        if !hit.is_empty() {
                            expected[hit.start - first..hit.end - first].copy_from_slice(&other[hit]);
                        }
                    }
                    at += bytes + at % 1409;
                }
                ring.copy_in(&pieces, &instead).unwrap();
                let mut back: Vec<Vec<u8>> = sources.iter().map(|source| vec![0; source.len()]).collect();
                let mut wanted: Vec<_> =
                    places.iter().copied().zip(back.iter_mut().map(|back| &mut back[..])).collect();
                ring.copy_out(&mut wanted).unwrap();
                assert!(back == expected, "{slot} {threads} {sizes:?} {turn}");
            }
        }
    }

    #[test]
    fn failures_are_told_and_forgotten() {
        let mut ring = ring(1 << 12, 4);
        let source = vec![5u8; 1 << 20];
        let mut device = vec![0u8; 1 << 20];
        let place = DevicePtr(device.as_mut_ptr() as u64);
        // Memory that isn't there: the zero page, behind something that is.
        let unmapped = [(source.as_ptr() as u64, 100_000, place), (64, 50_000, place)];
        assert!(matches!(ring.copy_in(&unmapped, &[]), Err(DeviceError::HostMemory(..))));
        ring.link.fails_in = 20;
        assert!(matches!(
            ring.copy_in(&[(source.as_ptr() as u64, 1 << 20, place)], &[]),
            Err(DeviceError::Lost(_))
        ));
        ring.link.fails_in = usize::MAX;
        ring.copy_in(&[(source.as_ptr() as u64, 1 << 20, place)], &[]).unwrap();
        let mut back = vec![0u8; 1 << 20];
        ring.link.fails_in = 30;
        assert!(matches!(ring.copy_out(&mut [(place, &mut back[..])]), Err(DeviceError::Lost(_))));
        ring.link.fails_in = usize::MAX;
        ring.copy_out(&mut [(place, &mut back[..])]).unwrap();
        assert!(back == source);
    }
}
