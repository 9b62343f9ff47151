//! The CUDA device: one NVIDIA GPU through the driver's own interface, kernels compiled at run time.
//!
//! The driver is loaded when the device is opened, so one binary serves machines with and without a GPU. Every call's
//! status is looked at; a status after which the driver says that the process's context is gone makes the device lost for good.
//! Device addresses are never dereferenced here. Kernels check every address that a program computes before they use it, because
//! an illegal one would lose the GPU for the process; but for those that an inspection or a checked run has seen to lie inside (`speculation::inspector::seen`).

mod blank;
mod buffered;
mod cache;
mod chain;
mod chosen;
mod filled;
mod grids;
mod kernels;
mod launches;
mod link;
mod logs;
mod machine_code;
mod needed;
pub mod nvrtc;
mod orders;
mod outline;
mod pace;
mod seams;
pub mod staging;
mod tables;
mod zeros;

use super::{Device, DeviceError, DevicePtr, LARGE, Launch, Outcome, SMALLER, Specialisation, collected};
use crate::abi::{self, Info, Region};
use crate::device::pool::Pool;
use crate::memory::placement::TILE_HEIGHT;
use crate::memory::{programs_allocator, tracking};
use crate::speculation::inspector::turns::Order;
use blank::Blank;
use chain::Chain;
pub use chosen::Gpu;
use cudarc::driver::sys;
use kernels::Loaded;
use link::Link;
use orders::Orders;
pub use outline::Outline;
use pace::Pace;
use staging::{SLOT, SLOTS, Staging};
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::atomic::AtomicU32;
pub use tables::Given;

/// Most threads of a block; the chapter's choice too.
pub const BLOCK: u32 = 256;
/// The same where rows of few lanes come in the order of their lengths.
pub const BLOCK_OF_SORTED: u32 = 64;
/// Threads of a block along x of a tile.
pub const TILE_WIDTH: u32 = BLOCK / TILE_HEIGHT;
/// Threads that one processor holds; some architectures hold three quarters of it.
const THREADS_OF_PROCESSOR: u64 = 2048;
/// Bytes of the pinned buffer for a launch's tables.
const TABLES: usize = 1 << 18;
/// Most threads that copy between the program's memory and what is pinned: more are not faster.
const MOST_COPYING: usize = 8;
/// Copies may stay on it that take one byte in so many of its memory: the program may want the rest for itself, and other processes.
const RESIDENT: u64 = 4;
/// Freed memory that is kept for the next entry.
const KEPT: u64 = 4 << 30;
/// Bytes from which on a copy takes the GPU longer than the host takes to launch a kernel.
const MUCH: u64 = 1 << 20;

/// What a launch's buffer begins with, in words of 64 bits: what the check counts (`logs`) (writes that were counted while the loop ran,
/// cells written, or of stamps with a first writer those with several, cells in conflict), the flags, the stop word.
const COUNTERS: usize = 5;
const AT_FLAGS: usize = 3;
const AT_STOP: usize = 4;

/// A status as an error.
fn check(status: sys::CUresult, what: &str, bytes: u64) -> Result<(), DeviceError> {
    match status as u32 {
        0 => Ok(()),
        2 => Err(DeviceError::OutOfMemory(bytes)),
        code @ (200..=299 | 300..=399 | 1 | 500 | 701) => {
            Err(DeviceError::Kernel(format!("{what}: error {code}")))
        }
        code => Err(DeviceError::Lost(format!("{what}: error {code}"))),
    }
}

/// One GPU.
struct Cuda {
    stream: sys::CUstream,
    events: [sys::CUevent; 3],
    outline: Outline,
    /// Bytes of its memory.
    memory: u64,
    /// How much of it kernels have been told that their blocks have, by their function.
    rooms: HashMap<usize, u32>,
    kernels: HashMap<(usize, Specialisation), Loaded>,
    /// What isn't asked of the compiler again: why each of these kernels is not run (`zeros.rs`).
    refused: HashMap<(usize, Specialisation), String>,
    paces: HashMap<(usize, Specialisation), Pace>,
    check_kernel: Option<Loaded>,
    /// The same for bitmaps.
    bitmap_check_kernel: Option<Loaded>,
    /// The same for the bitmaps of several launches.
    launches_check_kernel: Option<Loaded>,
    /// The kernel that enters what bitmaps have from the entry.
    filling_kernel: Option<Loaded>,
    /// The same where entries of the log hold values.
    storing_kernel: Option<Loaded>,
    /// The kernel that looks at what rows have left to each other.
    seams_kernel: Option<Loaded>,
    staging: Staging<Link>,
    /// Pinned memory for tables, so that a launch need not wait until what was staged has been copied.
    tables: *mut u8,
    /// Carries the stop word to kernels that are under way on the other one.
    control: sys::CUstream,
    /// Where the kernels of a chain say that they have begun, in mapped host memory, and its device address.
    begun: (*mut u32, u64),
    /// Pinned memory: the stop word that is being carried.
    told: *mut u32,
    /// Some memory of the GPU's, for loads that must not happen where they were to.
    nowhere: u64,
    /// What a launch without tables has in the GPU's memory.
    blank: Blank,
    /// Loops that are under way and that nobody has waited for.
    chain: Option<Chain>,
    /// Orders of iterations that stay in the GPU's memory.
    orders: Orders,
    /// Much has been queued to be copied in that nobody has waited for.
    copies_much: bool,
    sizes: HashMap<u64, u64>,
    kept: Vec<(u64, u64)>,
}

// SAFETY: handles of the driver and pinned memory belong to no thread; the device is used by one thread at a time.
unsafe impl Send for Cuda {}

/// Opens a GPU; the pool's threads help to copy. `is_known` is told what it is like as soon as the driver says so, which takes a half of the time.
pub fn open(pool: Pool, gpu: Gpu, is_known: impl FnOnce(&Outline)) -> Result<Box<dyn Device>, DeviceError> {
    // SAFETY: a name that ends with a zero; nothing is loaded that wasn't, and what was stays.
    let known = unsafe { libc::dlopen(c"libcuda.so.1".as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
    tracking::driver_is_loaded(known.is_null());
    // What asks for it below finds what is there.
    // SAFETY: as above, but that it is loaded; its initialisers have no preconditions.
    unsafe {
        libc::dlopen(c"libcuda.so.1".as_ptr(), libc::RTLD_NOW | programs_allocator::apart_from_program())
    };
    // SAFETY: loads and unloads libraries by name.
    if !unsafe { sys::is_culib_present() } {
        return Err(DeviceError::Lost("no CUDA driver".into()));
    }
    // SAFETY: driver calls with pointers to local variables, in the order that the driver's documentation asks for.
    unsafe {
        check(sys::cuInit(0), "cuInit", 0)?;
        let mut device = 0;
        let count = || {
            let mut count = 0;
            check(sys::cuDeviceGetCount(&mut count), "cuDeviceGetCount", 0)?;
            Ok(count as u32)
        };
        check(sys::cuDeviceGet(&mut device, gpu.number(count)? as i32), "cuDeviceGet", 0)?;
        let outline = Outline::of(device)?;
        is_known(&outline);
        let mut context = std::ptr::null_mut();
        check(sys::cuDevicePrimaryCtxRetain(&mut context, device), "cuDevicePrimaryCtxRetain", 0)?;
        check(sys::cuCtxSetCurrent(context), "cuCtxSetCurrent", 0)?;
        let mut memory = 0;
        check(sys::cuDeviceTotalMem_v2(&mut memory, device), "cuDeviceTotalMem", 0)?;
        let stream = || {
            let mut stream = std::ptr::null_mut();
            check(sys::cuStreamCreate(&mut stream, 1), "cuStreamCreate", 0).map(|()| stream)
        };
        let event = || {
            let mut event = std::ptr::null_mut();
            check(sys::cuEventCreate(&mut event, 0), "cuEventCreate", 0).map(|()| event)
        };
        let pinned = |bytes: usize| {
            let mut pointer: *mut c_void = std::ptr::null_mut();
            // Portable and mapped.
            check(sys::cuMemHostAlloc(&mut pointer, bytes, 1 | 2), "cuMemHostAlloc", bytes as u64)
                .map(|()| pointer.cast::<u8>())
        };
        // A cache line each.
        let words = pinned(128)?;
        let mut words_on_device = 0;
        check(
            sys::cuMemHostGetDevicePointer_v2(&mut words_on_device, words.cast(), 0),
            "cuMemHostGetDevicePointer",
            0,
        )?;
        let mut nowhere = 0;
        check(sys::cuMemAlloc_v2(&mut nowhere, 256), "cuMemAlloc", 256)?;
        let main = stream()?;
        let mut events = Vec::new();
        for _ in 0..SLOTS {
            events.push(event()?);
        }
        let link = Link { stream: main, memory: pinned(SLOTS * SLOT)?, events };
        let threads = std::thread::available_parallelism().map_or(1, |n| n.get()).min(MOST_COPYING);
        let slots = link.memory;
        Ok(Box::new(Cuda {
            stream: main,
            events: [event()?, event()?, event()?],
            outline,
            memory: memory as u64,
            rooms: HashMap::new(),
            kernels: HashMap::new(),
            refused: HashMap::new(),
            paces: HashMap::new(),
            check_kernel: None,
            bitmap_check_kernel: None,
            launches_check_kernel: None,
            filling_kernel: None,
            storing_kernel: None,
            seams_kernel: None,
            // SAFETY: so much has been pinned, and is never given back.
            staging: Staging::new(link, slots, SLOT, pool, threads),
            tables: pinned(TABLES)?,
            control: stream()?,
            begun: (words.cast(), words_on_device),
            told: words.add(64).cast(),
            nowhere,
            blank: Blank::new()?,
            chain: None,
            orders: Orders::default(),
            copies_much: false,
            sizes: HashMap::new(),
            kept: Vec::new(),
        }))
    }
}

impl Cuda {
    fn wait(&self) -> Result<(), DeviceError> {
        // SAFETY: the stream is ours.
        check(unsafe { sys::cuStreamSynchronize(self.stream) }, "waiting for the GPU", 0)
    }

    /// Behind an error: waits for what is still under way, which uses buffers that the next job is given.
    fn abandon(&self) {
        let _ = self.wait();
        // SAFETY: the stream is ours.
        unsafe { sys::cuStreamSynchronize(self.control) };
    }
}

/// The rooms of a launch's blocks, as [`rooms`](collected::rooms) shared them out when its kernel was chosen: what that found no room for changes nothing
/// for the others.
fn rooms_of(launch: &Launch<'_>, of_block: u32) -> collected::Rooms {
    let taken = if launch.info.has(abi::PG_LOOP_TURNS) { collected::OF_TURNS } else { 0 };
    let room = u64::from(of_block).saturating_sub(taken);
    collected::rooms(launch.info, launch.regions, launch.anchors, launch.kernel.collects, room, launch.n)
}

/// Bytes of an allocation that so many are wanted of: so much more that pieces in two allocations are never near enough to be copied as
/// one, which the driver would refuse.
fn room(bytes: u64) -> u64 {
    (bytes + staging::GAP + 1).next_multiple_of(256)
}

impl Device for Cuda {
    fn name(&self) -> &'static str {
        "cuda"
    }

    fn allocate(&mut self, bytes: u64) -> Result<DevicePtr, DeviceError> {
        let size = room(bytes);
        if let Some(found) = self.kept.iter().position(|(_, s)| *s >= size && *s <= size * 2) {
            let (pointer, size) = self.kept.swap_remove(found);
            self.sizes.insert(pointer, size);
            return Ok(DevicePtr(pointer));
        }
        let mut pointer = 0;
        // SAFETY: a pointer to a local variable.
        let mut status = unsafe { sys::cuMemAlloc_v2(&mut pointer, size as usize) };
        if status as u32 == 2 && !self.kept.is_empty() {
            for (old, _) in std::mem::take(&mut self.kept) {
                // SAFETY: allocated here and not in use.
                unsafe { sys::cuMemFree_v2(old) };
            }
            // SAFETY: as above.
            status = unsafe { sys::cuMemAlloc_v2(&mut pointer, size as usize) };
        }
        check(status, "cuMemAlloc", size)?;
        self.sizes.insert(pointer, size);
        Ok(DevicePtr(pointer))
    }

    fn room_for_residents(&self) -> u64 {
        self.memory / RESIDENT
    }

    fn threads(&self) -> u64 {
        self.outline.threads()
    }

    fn room_of_block(&self) -> u64 {
        self.outline.room_of_block()
    }

    fn free(&mut self, pointer: DevicePtr) {
        let Some(size) = self.sizes.remove(&pointer.0) else { return };
        let kept: u64 = self.kept.iter().map(|(_, s)| s).sum();
        if kept + size <= KEPT {
            self.kept.push((pointer.0, size));
        } else {
            // SAFETY: allocated here and not in use.
            unsafe { sys::cuMemFree_v2(pointer.0) };
        }
    }

    fn copy_in(
        &mut self,
        pieces: &[(u64, u64, DevicePtr)],
        instead: &[(u64, u64, DevicePtr)],
    ) -> Result<(), DeviceError> {
        self.copies_much |= pieces.iter().map(|(_, bytes, _)| bytes).sum::<u64>() > MUCH;
        self.staging.copy_in(pieces, instead)
    }

    fn copy_out(&mut self, pieces: &mut [(DevicePtr, &mut [u8])]) -> Result<(), DeviceError> {
        self.staging.copy_out(pieces)
    }

    fn duplicate(&mut self, from: DevicePtr, to: DevicePtr, bytes: u64) -> Result<(), DeviceError> {
        // SAFETY: both ranges are ours.
        let status = unsafe { sys::cuMemcpyDtoDAsync_v2(to.0, from.0, bytes as usize, self.stream) };
        check(status, "copying on the GPU", 0)
    }

    fn fill(&mut self, to: DevicePtr, word: u32, bytes: u64) -> Result<(), DeviceError> {
        // SAFETY: the range is ours.
        check(unsafe { sys::cuMemsetD32Async(to.0, word, (bytes / 4) as usize, self.stream) }, "filling", 0)
    }

    fn prepare(
        &mut self,
        info: &Info,
        loop_key: usize,
        kernel: Specialisation,
    ) -> Result<Specialisation, DeviceError> {
        let loaded = self.kernel(info, loop_key, kernel)?;
        if loaded.spills
            && let Some(at) = LARGE.iter().position(|group| *group == kernel.group)
        {
            let group = LARGE.get(at + 1).copied().unwrap_or(SMALLER);
            return self.prepare(info, loop_key, Specialisation { group, ..kernel });
        }
        if loaded.spills && kernel.full {
            return self.prepare(info, loop_key, Specialisation { full: false, ..kernel });
        }
        self.prepare_check(kernel)?;
        Ok(kernel)
    }

    fn keep_order(&mut self, order: &Order) -> Result<(), DeviceError> {
        self.kept_order(order.number, &order.as_level().order).map(|_| ())
    }

    fn run_behind(&mut self, launch: &Launch<'_>) -> Result<bool, DeviceError> {
        // Behind copies that nobody has waited for, kernels have tables.
        if self.copies_much || !chain::is_plain(launch) {
            return Ok(false);
        }
        let mut function = self.kernel(launch.info, launch.loop_key, launch.kernel)?;
        let rooms = rooms_of(launch, self.outline.shared_of_block);
        self.make_room(&mut function, rooms.bytes)?;
        self.launch_behind(launch, function, &rooms)
    }

    fn settle(&mut self, stop: &AtomicU32) -> Result<bool, DeviceError> {
        self.await_chain(stop)
    }

    fn run(&mut self, launch: &mut Launch<'_>) -> Result<Outcome, DeviceError> {
        if !self.await_chain(launch.stop)? {
            return Err(chain::broken());
        }
        let mut function = self.kernel(launch.info, launch.loop_key, launch.kernel)?;
        let rooms = rooms_of(launch, self.outline.shared_of_block);
        self.make_room(&mut function, rooms.bytes)?;
        if launch.portion != 0 {
            self.prepare_launches_check()?;
        }
        // One packed buffer: counters and flags first, then results, then tables.
        let n_results = launch.results.len();
        let mut words: Vec<u64> = vec![0; COUNTERS];
        words.extend(launch.results.iter().map(|v| v.0));
        let at_tables = words.len();
        words.extend(tables::words(launch, self.nowhere, &rooms));
        let at_values = words.len();
        words.extend(launch.values.iter().map(|v| v.0));
        let at_bases = words.len();
        words.extend(launch.bases);
        let at_anchors = words.len();
        words.extend(launch.anchors);
        let at_regions = words.len();
        for Region { lo, size, dev, log, snapshot, before } in launch.regions {
            words.extend([lo, size, dev, log, snapshot, before]);
        }
        // Each of their places lies in one sector of memory.
        words.resize(words.len().next_multiple_of(abi::PG_TOTALS_APART), 0);
        let at_totals = words.len();
        if launch.method().detects() && !launch.is_all_filled() {
            words.resize(at_totals + abi::PG_TOTALS * abi::PG_TOTALS_APART, 0);
        }
        let at_arrays = words.len();
        if launch.kernel.buffered != 0 || launch.kernel.seams != 0 {
            words.extend(buffered::arrays(launch.regions));
        }
        // Otherwise all that it reads are its parameters. While the GPU copies there is time for tables.
        let needs_tables = self.copies_much
            || launch.method().detects() && !launch.is_all_filled()
            || n_results != 0
            || launch.info.has(abi::PG_LOOP_DYNAMIC)
            || tables::bytes(launch.info) > tables::MOST_IN_PARAMETERS;
        let packed = if needs_tables { self.allocate(words.len() as u64 * 8)? } else { self.blank.start() };
        let parts = [at_tables, at_values, at_bases, at_anchors, at_regions, at_totals, at_arrays, n_results];
        let result = match self.hand_over(launch) {
            Ok(order) => {
                let place = order.map(|(place, _)| place);
                let result = self.run_packed(launch, function, packed, &words, parts, place);
                if result.is_err() {
                    self.abandon();
                }
                order.into_iter().filter(|(_, stays)| !stays).for_each(|(place, _)| self.free(place));
                result
            }
            Err(error) => Err(error),
        };
        if needs_tables {
            self.free(packed);
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allocations_are_farther_apart_than_what_is_copied_as_one() {
        for bytes in 1..2000 {
            assert!(room(bytes) - bytes > staging::GAP && room(bytes).is_multiple_of(256), "{bytes}");
        }
    }
}
