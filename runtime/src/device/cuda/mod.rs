//! The CUDA device: one NVIDIA GPU through the driver's own interface, kernels compiled at run time.
//!
//! The driver is loaded when the device is opened, so one binary serves machines with and without a GPU. Every call's
//! status is looked at; a status after which the driver says that the process's context is gone makes the device lost for good.
//! Device addresses are never dereferenced here. Kernels check every address that a program computes before they use it, because
//! an illegal one would lose the GPU for the process; but for those that a checked run has seen to lie inside (`speculation::inspector::seen`).

mod blank;
mod cache;
pub mod nvrtc;
mod pace;
pub mod staging;
mod tables;

use super::{
    Device, DeviceError, DevicePtr, Guess, LARGE, Launch, LogMethod, Outcome, SMALLER, Specialisation,
    TIME_IS_UP,
};
use crate::abi::{self, Info, RawLaunch, Region, Value};
use crate::device::pool::Pool;
use crate::memory::placement::TILE_HEIGHT;
use crate::memory::tracking;
use crate::speculation::inspector::levels::Schedule;
use blank::Blank;
use cudarc::driver::sys;
use pace::Pace;
use staging::{SLOT, SLOTS, Staging, Way};
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Most threads of a block; the chapter's choice too.
pub const BLOCK: u32 = 256;
/// Threads of a block along x of a tile.
pub const TILE_WIDTH: u32 = BLOCK / TILE_HEIGHT;
/// The same where threads have several rows and one column each: longer pieces of fewer rows are under way then, which memory likes better
/// (`docs/measurements/2026-11-24-forms.md`).
const WIDE: u32 = 2 * TILE_WIDTH;
/// Threads that one processor holds; some architectures hold three quarters of it.
const THREADS_OF_PROCESSOR: u64 = 2048;
/// Bytes of the pinned buffer for a launch's tables.
const TABLES: usize = 1 << 18;
/// Most threads that copy between the program's memory and what is pinned: more are not faster.
const MOST_COPYING: usize = 8;
/// Freed memory that is kept for the next entry.
const KEPT: u64 = 4 << 30;
/// Bytes from which on a copy takes the GPU longer than the host takes to launch a kernel.
const MUCH: u64 = 1 << 20;
/// Most blocks of a grid along y, and along z.
const MOST_BLOCKS: u64 = 65535;

/// What a launch's buffer begins with, in words of 64 bits: what [`CHECK_SOURCE`] counts (writes that were counted while the loop ran,
/// cells written, or of stamps with a first writer those with several, cells in conflict), the flags, the stop word.
const COUNTERS: usize = 5;
const AT_FLAGS: usize = 3;
const AT_STOP: usize = 4;

/// Words of a log, or stamps, that a thread of the check has under way.
const CHECKED_AT_ONCE: u64 = 8;

/// The kernel that looks at logs after a loop.
fn check_source() -> String {
    let (totals, apart) = (abi::PG_TOTALS, abi::PG_TOTALS_APART);
    let (bitmap, stamp) = (LogMethod::Bitmap as u32, LogMethod::Stamp as u32);
    let (last, first, reader) = (abi::PG_STAMP_LAST, abi::PG_STAMP_FIRST, abi::PG_STAMP_READER);
    let (stamps, with_readers) = (abi::PG_STAMP_WORDS, abi::PG_STAMP_WORDS_READ);
    let (guess, guess_reader) = (abi::PG_GUESS_WORDS_READ, abi::PG_GUESS_READER);
    format!(
        "#define AT_ONCE {CHECKED_AT_ONCE}\n#define PG_TOTALS {totals}\n#define PG_TOTALS_APART {apart}\n#define PG_LOG_BITMAP {bitmap}\n\
         #define PG_LOG_STAMP {stamp}\n#define PG_STAMP_LAST {last}\n#define PG_STAMP_FIRST {first}\n\
         #define PG_STAMP_READER {reader}\n#define PG_STAMP_WORDS {stamps}\n\
         #define PG_STAMP_WORDS_READ {with_readers}\n#define PG_GUESS_WORDS_READ {guess}\n\
         #define PG_GUESS_READER {guess_reader}\n{CHECK_SOURCE}"
    )
}

const CHECK_SOURCE: &str = r#"
extern "C" __global__ void __pg_check(const unsigned *wr, const unsigned *rd, unsigned *bits, unsigned long long words,
                                      unsigned *flags, const unsigned long long *totals, unsigned long long *counts,
                                      int method, unsigned stamp_words, int has_range)
{
  unsigned long long total = 0, written = 0, met = 0;
  const unsigned lane = threadIdx.x % 32;
  if (*(volatile unsigned *)flags != 0)
    return;
  /* Where readers are no bits: from the first cell that any of them has taken to the last. */
  const unsigned long long least = has_range ? ~rd[0] : 0, most = has_range ? rd[1] : 0;
  if (blockIdx.x == 0)
    for (unsigned place = threadIdx.x; place < PG_TOTALS; place += blockDim.x)
      total += totals[place * PG_TOTALS_APART];
  /* All lanes of a warp go on together: they make words of bits of what they find written. Several words of each are under way. */
  for (unsigned long long begin = (blockIdx.x * (unsigned long long)blockDim.x + (threadIdx.x - lane)) * AT_ONCE; begin < words;
       begin += gridDim.x * (unsigned long long)blockDim.x * AT_ONCE) {
    unsigned all_w[AT_ONCE], all_first[AT_ONCE], all_r[AT_ONCE];
#pragma unroll
    for (int number = 0; number < AT_ONCE; number++) {
      const unsigned long long word = begin + 32 * number + lane;
      unsigned w = 0, first = 0, r = 0;
      if (word >= words)
        ;
      else if (method == PG_LOG_STAMP) {
        if (stamp_words == PG_STAMP_WORDS_READ) {
          const uint4 stamps = ((const uint4 *)wr)[word];
          const unsigned all[PG_STAMP_WORDS_READ] = {stamps.x, stamps.y, stamps.z, stamps.w};
          w = all[PG_STAMP_LAST];
          first = ~all[PG_STAMP_FIRST];
          r = all[PG_STAMP_READER];
        } else if (stamp_words == PG_GUESS_WORDS_READ) {
          const uint2 stamps = ((const uint2 *)wr)[word];
          const unsigned all[PG_GUESS_WORDS_READ] = {stamps.x, stamps.y};
          first = w = all[PG_STAMP_LAST];
          r = all[PG_GUESS_READER];
        } else
          first = w = wr[word];
      } else {
        w = wr[word];
        if (has_range) {
          const unsigned long long from = 32 * word;
          const unsigned below = least <= from ? 0 : least >= from + 32 ? 32 : (unsigned)(least - from);
          const unsigned end = most <= from ? 0 : most >= from + 32 ? 32 : (unsigned)(most - from);
          r = (end == 32 ? ~0u : (1u << end) - 1) & ~(below == 32 ? ~0u : (1u << below) - 1);
        } else
          r = rd != nullptr ? rd[word] : 0;
      }
      all_w[number] = w;
      all_first[number] = first;
      all_r[number] = r;
    }
#pragma unroll
    for (int number = 0; number < AT_ONCE; number++) {
      const unsigned w = all_w[number], first = all_first[number], r = all_r[number];
      if (bits != nullptr && begin + 32 * number < words) {
        const unsigned found = __ballot_sync(0xffffffffu, w != 0);
        if (lane == 0)
          bits[begin / 32 + number] = found;
      }
      if (method == PG_LOG_STAMP) {
        if (w != 0) {
          /* Where the first writer is known unsettled, not written. */
          written += stamp_words != PG_STAMP_WORDS_READ || first != w;
          if (r > first || (r == first && first != w)) {
            met++;
            flags[1] = r - 1;
          }
        }
      } else if (method == PG_LOG_BITMAP) {
        written += __popc(w);
        met += __popc(w & r);
      } else if (w != 0) {
        written++;
        if (r != 0 && r != w) {
          met++;
          flags[1] = w - 1;
        }
      }
    }
  }
  for (int distance = 16; distance != 0; distance /= 2) {
    written += __shfl_down_sync(0xffffffffu, written, distance);
    met += __shfl_down_sync(0xffffffffu, met, distance);
    total += __shfl_down_sync(0xffffffffu, total, distance);
  }
  /* All blocks add to the same words: once each. */
  __shared__ unsigned long long sums[3];
  if (threadIdx.x == 0)
    sums[0] = sums[1] = sums[2] = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    atomicAdd(&sums[0], total);
    atomicAdd(&sums[1], written);
    atomicAdd(&sums[2], met);
  }
  __syncthreads();
  if (threadIdx.x == 0)
    for (int i = 0; i < 3; i++)
      if (sums[i] != 0)
        atomicAdd(&counts[i], sums[i]);
}
"#;

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

/// How often the blocks of a line fill the GPU: few threads with many iterations each leave processors idle in the end, and each thread
/// has something to prepare (`docs/measurements/2026-11-23-stencils-and-stamps.md`).
const ROUNDS: u64 = 32;
/// The same where each of them has a result to give.
const ROUNDS_OF_RESULTS: u64 = 4;

/// Bytes of a thread's own memory that still mean nothing: what is put away before its loops and taken back behind them.
const MOST_PUT_AWAY: i32 = 96;

/// One GPU.
struct Cuda {
    stream: sys::CUstream,
    events: [sys::CUevent; 3],
    architecture: String,
    processors: u32,
    /// Bytes of shared memory that all blocks of a processor can have together.
    shared: u32,
    kernels: HashMap<(usize, Specialisation), Loaded>,
    paces: HashMap<(usize, Specialisation), Pace>,
    check_kernel: Option<Loaded>,
    staging: Staging<Link>,
    /// Pinned memory for tables, so that a launch need not wait until what was staged has been copied.
    tables: *mut u8,
    /// Carries the stop word to kernels that are under way on the other one.
    control: sys::CUstream,
    /// Where kernels say that they have begun, in mapped host memory, and its device address.
    begun: (*mut u32, u64),
    /// Pinned memory: the stop word that is being carried.
    told: *mut u32,
    /// Some memory of the GPU's, for loads that must not happen where they were to.
    nowhere: u64,
    /// What a launch without tables has in the GPU's memory.
    blank: Blank,
    /// Much has been queued to be copied in that nobody has waited for.
    copies_much: bool,
    sizes: HashMap<u64, u64>,
    kept: Vec<(u64, u64)>,
}

// SAFETY: handles of the driver and pinned memory belong to no thread; the device is used by one thread at a time.
unsafe impl Send for Cuda {}

/// Opens the first GPU; the pool's threads help to copy.
pub fn open(pool: Pool) -> Result<Box<dyn Device>, DeviceError> {
    // SAFETY: a name that ends with a zero; nothing is loaded that wasn't, and what was stays.
    let known = unsafe { libc::dlopen(c"libcuda.so.1".as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
    tracking::driver_is_loaded(known.is_null());
    // SAFETY: loads and unloads libraries by name.
    if !unsafe { sys::is_culib_present() } {
        return Err(DeviceError::Lost("no CUDA driver".into()));
    }
    // SAFETY: driver calls with pointers to local variables, in the order that the driver's documentation asks for.
    unsafe {
        check(sys::cuInit(0), "cuInit", 0)?;
        let mut device = 0;
        check(sys::cuDeviceGet(&mut device, 0), "cuDeviceGet", 0)?;
        let mut context = std::ptr::null_mut();
        check(sys::cuDevicePrimaryCtxRetain(&mut context, device), "cuDevicePrimaryCtxRetain", 0)?;
        check(sys::cuCtxSetCurrent(context), "cuCtxSetCurrent", 0)?;
        let attribute = |which| {
            let mut value = 0;
            check(sys::cuDeviceGetAttribute(&mut value, which, device), "cuDeviceGetAttribute", 0)
                .map(|()| value)
        };
        use sys::CUdevice_attribute_enum as A;
        let major = attribute(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
        let minor = attribute(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
        let processors = attribute(A::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
        let shared = attribute(A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)?;
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
            architecture: format!("sm_{major}{minor}"),
            processors: processors as u32,
            shared: shared as u32,
            kernels: HashMap::new(),
            paces: HashMap::new(),
            check_kernel: None,
            // SAFETY: so much has been pinned, and is never given back.
            staging: Staging::new(link, slots, SLOT, pool, threads),
            tables: pinned(TABLES)?,
            control: stream()?,
            begun: (words.cast(), words_on_device),
            told: words.add(64).cast(),
            nowhere,
            blank: Blank::new()?,
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

    fn function(
        &mut self,
        source: &str,
        name: &std::ffi::CStr,
        options: &[String],
    ) -> Result<Loaded, DeviceError> {
        let nvrtc = nvrtc::get().map_err(DeviceError::Kernel)?;
        let version = format!("{:?} {}", nvrtc.version, env!("CARGO_PKG_VERSION"));
        let joined = options.join(" ");
        let key: [&[u8]; 3] = [source.as_bytes(), joined.as_bytes(), version.as_bytes()];
        let cached = cache::load(&key);
        let cubin = match &cached {
            Some(cubin) => cubin.clone(),
            None => nvrtc.compile(source, options).map_err(DeviceError::Kernel)?,
        };
        // SAFETY: driver calls with pointers to local variables; the image outlives the call that reads it.
        unsafe {
            let mut module = std::ptr::null_mut();
            check(sys::cuModuleLoadData(&mut module, cubin.as_ptr().cast()), "cuModuleLoadData", 0)?;
            let mut function = std::ptr::null_mut();
            check(sys::cuModuleGetFunction(&mut function, module, name.as_ptr()), "cuModuleGetFunction", 0)?;
            if cached.is_none() {
                cache::store(&key, &cubin);
            }
            let mut resident = 0;
            check(
                sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut resident, function, BLOCK as i32, 0),
                "occupancy",
                0,
            )?;
            let mut local = 0;
            let which = sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES;
            check(sys::cuFuncGetAttribute(&mut local, which, function), "cuFuncGetAttribute", 0)?;
            let mut shared = 0;
            let which = sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES;
            check(sys::cuFuncGetAttribute(&mut shared, which, function), "cuFuncGetAttribute", 0)?;
            if shared > 0 {
                let part = part_for_shared(shared as u32, resident.max(1) as u32, self.shared);
                let which =
                    sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT;
                check(sys::cuFuncSetAttribute(function, which, part as i32), "cuFuncSetAttribute", 0)?;
            }
            Ok(Loaded { function, resident: resident.max(1) as u32, spills: local > MOST_PUT_AWAY })
        }
    }

    fn kernel(
        &mut self,
        info: &Info,
        loop_key: usize,
        kernel: Specialisation,
    ) -> Result<Loaded, DeviceError> {
        let key = (loop_key, kernel);
        if let Some(function) = self.kernels.get(&key) {
            return Ok(*function);
        }
        let far = tables::bytes(info) > tables::MOST_IN_PARAMETERS;
        let options = nvrtc::options(&self.architecture, kernel, far);
        let source = nvrtc::kernel_source(&info.cuda_text());
        let function = self.function(&source, c"__pg_kernel", &options)?;
        self.kernels.insert(key, function);
        Ok(function)
    }

    /// How a kernel without tiles covers `work` threads' iterations or parts, `columns` of them in each thread at a time.
    /// `gives`: whether each thread has a result to give in the end, all at one place.
    fn line(&self, resident: u32, work: u64, columns: u8, gives: bool) -> Grid {
        if columns > 1 {
            let blocks = work.div_ceil(u64::from(BLOCK) * u64::from(columns)).max(1);
            return Grid { blocks: (blocks as u32, 1, 1), block: (BLOCK, 1) };
        }
        // Where there is too little work for every processor, smaller blocks spread it further.
        let fills = |block: u32| work.div_ceil(u64::from(block)) >= 2 * u64::from(self.processors);
        let block = [BLOCK, BLOCK / 2, BLOCK / 4].into_iter().find(|block| fills(*block)).unwrap_or(32);
        let useful = work.div_ceil(u64::from(block)).max(1);
        let room = u64::from(self.processors) * u64::from(resident.max(1)) * u64::from(BLOCK / block);
        let most = room * if gives { ROUNDS_OF_RESULTS } else { ROUNDS };
        Grid { blocks: (useful.min(most) as u32, 1, 1), block: (block, 1) }
    }

    /// The same for a kernel whose blocks have something to do in the end: no more of them than there is room for.
    fn line_at_once(&self, resident: u32, work: u64) -> Grid {
        let room = u64::from(self.processors) * u64::from(resident.max(1));
        Grid { blocks: (work.div_ceil(u64::from(BLOCK)).clamp(1, room) as u32, 1, 1), block: (BLOCK, 1) }
    }

    fn start(&self, kernel: Loaded, grid: Grid, parameters: &mut [*mut c_void]) -> Result<(), DeviceError> {
        // SAFETY: a driver call; the parameters lead to values of the kernel's parameter types.
        unsafe {
            check(
                sys::cuLaunchKernel(
                    kernel.function,
                    grid.blocks.0,
                    grid.blocks.1,
                    grid.blocks.2,
                    grid.block.0,
                    grid.block.1,
                    1,
                    0,
                    self.stream,
                    parameters.as_mut_ptr(),
                    std::ptr::null_mut(),
                ),
                "cuLaunchKernel",
                0,
            )
        }
    }
}

/// Bytes of an allocation that so many are wanted of: so much more that pieces in two allocations are never near enough to be copied as
/// one, which the driver would refuse.
fn room(bytes: u64) -> u64 {
    (bytes + staging::GAP + 1).next_multiple_of(256)
}

/// The way of pinned slots to the GPU and back; an event for each slot.
struct Link {
    stream: sys::CUstream,
    memory: *mut u8,
    events: Vec<sys::CUevent>,
}

// SAFETY: as for `Cuda`, whose part it is.
unsafe impl Send for Link {}

impl staging::Link for Link {
    fn queue(&mut self, slot: usize, device: DevicePtr, bytes: usize, way: Way) -> Result<(), DeviceError> {
        let memory = self.memory.wrapping_add(slot * SLOT).cast::<c_void>();
        // SAFETY: a slot of ours and memory of the GPU's that the caller has allocated; nobody touches either before the event.
        unsafe {
            let status = match way {
                Way::In => sys::cuMemcpyHtoDAsync_v2(device.0, memory, bytes, self.stream),
                Way::Out => sys::cuMemcpyDtoHAsync_v2(memory, device.0, bytes, self.stream),
            };
            check(status, "copying", bytes as u64)?;
            // Nobody would know when the slot is free again.
            let lost = |error| DeviceError::Lost(format!("a copy under way: {error}"));
            check(sys::cuEventRecord(self.events[slot], self.stream), "cuEventRecord", 0).map_err(lost)
        }
    }

    fn is_done(&mut self, slot: usize) -> Result<bool, DeviceError> {
        // SAFETY: the event is ours; before its first record it counts as complete.
        match unsafe { sys::cuEventQuery(self.events[slot]) } as u32 {
            0 => Ok(true),
            600 => Ok(false),
            code => Err(DeviceError::Lost(format!("copying: error {code}"))),
        }
    }
}

/// A kernel.
#[derive(Clone, Copy)]
struct Loaded {
    function: sys::CUfunction,
    /// How many of its blocks one processor holds.
    resident: u32,
    /// Whether it keeps more than a few values in memory that it has no registers for.
    spills: bool,
}

/// The part of a processor's memory for blocks and caches, in hundredths of what blocks can have of it, that so many of a kernel's blocks
/// need. By itself the driver may give them more, and what is gathered then has less room in L1: twice the time for rows of sparse matrices.
fn part_for_shared(of_block: u32, blocks: u32, all: u32) -> u32 {
    /// What the driver itself takes of each block's.
    const RESERVED: u32 = 1024;
    let needed = u64::from(of_block + RESERVED) * u64::from(blocks) * 100;
    needed.div_ceil(u64::from(all.max(1))).min(100) as u32
}

/// Blocks of a launch in three directions, and threads of a block in two.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Grid {
    blocks: (u32, u32, u32),
    block: (u32, u32),
}

/// The blocks of tiles: a thread for each group of iterations; see [`Specialisation::tile`]. Rows are blocks along y, layers those
/// along z.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Tiles {
    /// Threads of a block along x.
    width: u32,
    columns: u64,
    rows: u64,
    layers: u64,
}

impl Tiles {
    /// `shares`: see [`Specialisation::shares`]; the threads of such blocks work together, and count on where each of them is.
    fn new(
        trip: &[u64; abi::PG_MAX_DIMS],
        (x, y): (u8, u8),
        (rows, columns): (u8, u8),
        shares: bool,
    ) -> Tiles {
        let (x, y) = (usize::from(x), usize::from(y));
        let others = (0..trip.len()).filter(|dim| ![x, y].contains(dim)).map(|dim| trip[dim]);
        let covered = |width: u32| trip[x].next_multiple_of(u64::from(width));
        // Not where many of its threads would have nothing to do.
        let is_long = trip[x] > 2 * u64::from(WIDE) && covered(WIDE) - covered(TILE_WIDTH) <= trip[x] / 16;
        let is_wide = rows > 1 && columns == 1 && is_long && !shares;
        let width = if is_wide { WIDE } else { TILE_WIDTH };
        Tiles {
            width,
            columns: trip[x].div_ceil(u64::from(width) * u64::from(columns)),
            rows: trip[y].div_ceil(u64::from(BLOCK / width) * u64::from(rows)),
            layers: others.product(),
        }
    }

    /// The next launch, from row `at` of all layers' rows on, of at most so many rows: rows of one layer, or whole layers. The grid, where
    /// it begins (row and layer), and how many rows it does.
    fn next(&self, at: u64, most: u64) -> (Grid, (u32, u32), u64) {
        let (row, layer) = (at % self.rows, at / self.rows);
        let (rows, layers) = match row == 0 && most >= self.rows && self.rows <= MOST_BLOCKS {
            true => (self.rows, (most / self.rows).min(self.layers - layer).min(MOST_BLOCKS)),
            false => (most.min(self.rows - row).min(MOST_BLOCKS), 1),
        };
        let blocks = (self.columns as u32, rows as u32, layers as u32);
        (Grid { blocks, block: (self.width, BLOCK / self.width) }, (row as u32, layer as u32), rows * layers)
    }
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

    fn threads(&self) -> u64 {
        u64::from(self.processors) * THREADS_OF_PROCESSOR
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
        if kernel.method.detects() && self.check_kernel.is_none() {
            let options = nvrtc::options(&self.architecture, Specialisation::none(LogMethod::None), false);
            let source = check_source();
            self.check_kernel = Some(self.function(&source, c"__pg_check", &options)?);
        }
        Ok(kernel)
    }

    fn run(&mut self, launch: &mut Launch<'_>) -> Result<Outcome, DeviceError> {
        let function = self.kernel(launch.info, launch.loop_key, launch.kernel)?;
        // One packed buffer: counters and flags first, then results, then tables.
        let n_results = launch.results.len();
        let mut words: Vec<u64> = vec![0; COUNTERS];
        words.extend(launch.results.iter().map(|v| v.0));
        let at_tables = words.len();
        words.extend(tables::words(launch, self.nowhere));
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
        let at_totals = words.len();
        if launch.method().detects() {
            words.resize(at_totals + abi::PG_TOTALS * abi::PG_TOTALS_APART, 0);
        }
        // Otherwise all that it reads are its parameters. While the GPU copies there is time for tables.
        let needs_tables = self.copies_much
            || launch.method().detects()
            || n_results != 0
            || launch.info.has(abi::PG_LOOP_DYNAMIC)
            || tables::bytes(launch.info) > tables::MOST_IN_PARAMETERS;
        let packed = if needs_tables { self.allocate(words.len() as u64 * 8)? } else { self.blank.start() };
        let parts = [at_tables, at_values, at_bases, at_anchors, at_regions, at_totals, n_results];
        let result = match self.hand_over(launch.schedule) {
            Ok(order) => {
                let result = self.run_packed(launch, function, packed, &words, parts, order);
                if result.is_err() {
                    // What is still under way uses buffers that the next job is given.
                    let _ = self.wait();
                    // SAFETY: the stream is ours.
                    unsafe { sys::cuStreamSynchronize(self.control) };
                }
                order.into_iter().for_each(|order| self.free(order));
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

impl Cuda {
    /// The order of iterations, in memory of the GPU.
    fn hand_over(&mut self, schedule: Option<&Schedule>) -> Result<Option<DevicePtr>, DeviceError> {
        let Some(schedule) = schedule else { return Ok(None) };
        let bytes = schedule.order.len() as u64 * 4;
        let order = self.allocate(bytes)?;
        match self.copy_in(&[(schedule.order.as_ptr() as u64, bytes, order)], &[]) {
            Ok(()) => Ok(Some(order)),
            Err(error) => {
                self.free(order);
                Err(error)
            }
        }
    }

    fn run_packed(
        &mut self,
        launch: &mut Launch<'_>,
        kernel: Loaded,
        packed: DevicePtr,
        words: &[u64],
        [at_tables, at_values, at_bases, at_anchors, at_regions, at_totals, n_results]: [usize; 7],
        order: Option<DevicePtr>,
    ) -> Result<Outcome, DeviceError> {
        let bytes = words.len() * 8;
        let (whole, room) = self.staging.memory();
        if bytes > room {
            return Err(DeviceError::Kernel("too many tables".into()));
        }
        let is_blank = packed == self.blank.start();
        let no_tables = self.blank.tables();
        let at_word = |word: usize| packed.0 + word as u64 * 8;
        let at_table = |word: usize| if is_blank { no_tables } else { at_word(word) };
        let raw = RawLaunch {
            n: launch.n,
            trip: launch.trip,
            regions: at_table(at_regions),
            anchors: at_table(at_anchors),
            bases: at_table(at_bases),
            values: at_table(at_values),
            results: at_table(COUNTERS),
            flags: at_word(AT_FLAGS),
            stop: at_word(AT_STOP),
            begun: self.begun.1,
            wr: launch.wr.0,
            rd: launch.rd.0,
            total: at_table(at_totals),
            n_regions: if is_blank { 0 } else { launch.regions.len() as u32 },
            n_bases: launch.bases.len() as u32,
            log_shift: launch.log_shift,
            log_method: launch.method() as u32,
            order: order.map_or(0, |order| order.0),
            block: launch.block,
            first: 0,
            end: 0,
            first_row: 0,
            first_layer: 0,
            settles: launch.settles.into(),
            stamp_words: launch.stamp_words,
            guess: launch.kernel.guess as u32,
            unused: 0,
        };
        // To launch a kernel takes the host 20 to 30 microseconds after it has copied much. They pass while the GPU still copies.
        let tables = match bytes <= TABLES {
            true => self.tables,
            false => {
                self.wait()?;
                whole
            }
        };
        if is_blank {
            self.blank.clear(self.stream)?;
        } else {
            // SAFETY: the buffer is ours and idle, because every launch is waited for.
            let status = unsafe {
                std::ptr::copy_nonoverlapping(words.as_ptr().cast::<u8>(), tables, bytes);
                sys::cuMemcpyHtoDAsync_v2(packed.0, tables.cast(), bytes, self.stream)
            };
            check(status, "copying tables", 0)?;
        }
        let tiles = launch
            .kernel
            .tile
            .map(|tile| Tiles::new(&launch.trip, tile, launch.kernel.group, launch.kernel.shares));
        // How many of the places that are counted below the GPU has threads for at once.
        let threads = f64::from(self.processors * kernel.resident * BLOCK);
        let wave = match &tiles {
            Some(tiles) => threads / (tiles.columns * u64::from(BLOCK)) as f64,
            None => threads * f64::from(launch.kernel.group.1) / f64::from(launch.kernel.spread),
        };
        let which = (launch.loop_key, launch.kernel);
        let mut pace = self.paces.get(&which).copied().unwrap_or_default();
        let back = (COUNTERS + n_results) * 8;
        let totals = at_word(at_totals);
        let mut ending = Ending { packed, totals, tables, back, told: false, execute_ns: 0.0, check_ns: 0.0 };
        let mut is_over = false;
        for (first, count) in launch.portions() {
            let places = tiles.map_or(count, |tiles| tiles.rows * tiles.layers);
            let mut at = 0;
            while at < places && !is_over {
                let most = pace.next(places - at, wave);
                if most == 0 {
                    is_over = !self.await_launches(launch, &mut pace, &mut ending, false)?;
                    continue;
                }
                if pace.is_waited_for() {
                    // SAFETY: the event is ours, and so are the words, which no kernel is using now.
                    unsafe {
                        std::ptr::write_volatile(self.begun.0, 0);
                        if std::mem::take(&mut ending.told) {
                            check(sys::cuMemsetD32Async(raw.stop, 0, 1, self.stream), "filling", 0)?;
                        }
                        check(sys::cuEventRecord(self.events[0], self.stream), "cuEventRecord", 0)?;
                    }
                }
                let order = if raw.order == 0 { 0 } else { raw.order + first as u64 * 4 };
                let (grid, (first_row, first_layer), done) = match &tiles {
                    Some(tiles) => tiles.next(at, most),
                    None => {
                        let threads = most * u64::from(launch.kernel.spread);
                        let gives = launch.info.n_results != 0;
                        (self.line(kernel.resident, threads, launch.kernel.group.1, gives), (0, 0), most)
                    }
                };
                let mut argument =
                    RawLaunch { order, first: at, end: at + done, first_row, first_layer, ..raw };
                let mut far_tables = at_word(at_tables);
                let second: *mut c_void = match tables::bytes(launch.info) > tables::MOST_IN_PARAMETERS {
                    true => (&raw mut far_tables).cast(),
                    false => words[at_tables..].as_ptr().cast_mut().cast(),
                };
                self.start(kernel, grid, &mut [(&raw mut argument).cast(), second])?;
                pace.launched(done, wave);
                at += done;
            }
        }
        if !is_over {
            let checks = launch.method().detects() && !launch.settles;
            self.await_launches(launch, &mut pace, &mut ending, checks)?;
        }
        self.paces.insert(which, pace);
        let mut counters = [0u64; COUNTERS];
        let mut outcome = Outcome::default();
        // SAFETY: the copy is complete; the buffer holds so many words.
        unsafe {
            std::ptr::copy_nonoverlapping(tables.cast::<u64>(), counters.as_mut_ptr(), COUNTERS);
            for (number, value) in launch.results.iter_mut().enumerate() {
                *value = Value(*tables.cast::<u64>().add(COUNTERS + number));
            }
        }
        if is_blank {
            self.blank.ended(&counters, ending.told);
        }
        outcome.execute_ns = ending.execute_ns as u64;
        outcome.check_ns = ending.check_ns as u64;
        let [total, written, met, flags, _] = counters;
        outcome.fail = flags as u32;
        if is_over && outcome.fail == 0 {
            // Told to stop between two launches.
            outcome.fail = abi::PG_FAIL_STOPPED;
        }
        outcome.iteration = (flags >> 32) as u32;
        outcome.conflicts = met + u64::from(outcome.fail & (abi::PG_FAIL_WAW | abi::PG_FAIL_RAW) != 0);
        if outcome.fail == 0 && met != 0 {
            outcome.fail |= abi::PG_FAIL_RAW;
        }
        outcome.unsettled = launch.unsettled(total, written);
        if outcome.fail & !abi::PG_FAIL_RAW == 0 && launch.counts() && total != written {
            outcome.fail |= abi::PG_FAIL_WAW;
            outcome.conflicts += 1;
        }
        Ok(outcome)
    }

    /// Waits for all launches since the last wait, and for the check of the logs where they were the last ones. The stop word is handed
    /// on meanwhile, and becomes set when they take too long. False: what is left need not be launched.
    fn await_launches(
        &mut self,
        launch: &Launch<'_>,
        pace: &mut Pace,
        ending: &mut Ending,
        checks: bool,
    ) -> Result<bool, DeviceError> {
        // SAFETY: the event is ours.
        check(unsafe { sys::cuEventRecord(self.events[1], self.stream) }, "cuEventRecord", 0)?;
        if checks && self.check_kernel.is_none() {
            return Err(DeviceError::Kernel("nothing checks its logs".into()));
        }
        let check_kernel = self.check_kernel.filter(|_| checks);
        if let Some(check_kernel) = check_kernel {
            let (mut wr, mut rd, mut words) = (launch.wr.0, launch.rd.0, launch.log_words);
            let (mut method, mut written) = (launch.method() as i32, launch.written.0);
            let mut stamp_words = launch.stamp_words;
            let mut has_range = i32::from(launch.kernel.guess == Guess::Range);
            let mut totals = ending.totals;
            let (mut flags, mut counts) = (ending.packed.0 + AT_FLAGS as u64 * 8, ending.packed.0);
            self.start(
                check_kernel,
                self.line_at_once(check_kernel.resident, words.div_ceil(CHECKED_AT_ONCE)),
                &mut [
                    (&raw mut wr).cast(),
                    (&raw mut rd).cast(),
                    (&raw mut written).cast(),
                    (&raw mut words).cast(),
                    (&raw mut flags).cast(),
                    (&raw mut totals).cast(),
                    (&raw mut counts).cast(),
                    (&raw mut method).cast(),
                    (&raw mut stamp_words).cast(),
                    (&raw mut has_range).cast(),
                ],
            )?;
            // SAFETY: the event is ours.
            check(unsafe { sys::cuEventRecord(self.events[2], self.stream) }, "cuEventRecord", 0)?;
        }
        // SAFETY: the buffer holds the counters and results, and its tables have been copied when this copy begins.
        unsafe {
            check(
                sys::cuMemcpyDtoHAsync_v2(ending.tables.cast(), ending.packed.0, ending.back, self.stream),
                "copying results",
                0,
            )?;
        }
        let mut begun: Option<Instant> = None;
        // SAFETY: the stream is ours.
        let state = || unsafe { sys::cuStreamQuery(self.stream) } as u32;
        loop {
            match state() {
                600 => {}
                0 => break,
                _ => {
                    self.wait()?;
                    return Err(DeviceError::Lost("the GPU's stream failed".into()));
                }
            }
            match begun {
                // It may have ended while this thread was waiting for a processor.
                Some(begun) if begun.elapsed() > launch.limit && state() == 600 => {
                    let _ = launch.stop.compare_exchange(0, TIME_IS_UP, Ordering::SeqCst, Ordering::SeqCst);
                }
                Some(_) => {}
                // What is done before is not the launch's time: copies that were queued, code and memory that the driver makes ready.
                None => {
                    // SAFETY: ours, in mapped memory.
                    let has_begun = unsafe { std::ptr::read_volatile(self.begun.0) } != 0;
                    begun = has_begun.then(Instant::now);
                }
            }
            let stop = launch.stop.load(Ordering::Relaxed);
            // Before it has begun, its tables would be copied over the word.
            if stop != 0 && begun.is_some() && !ending.told {
                ending.told = true;
                let to = ending.packed.0 + AT_STOP as u64 * 8;
                // SAFETY: pinned memory of ours, which no copy is reading, and a word of the buffer.
                unsafe {
                    self.told.write_volatile(stop);
                    check(sys::cuMemcpyHtoDAsync_v2(to, self.told.cast(), 4, self.control), "stopping", 0)?;
                }
            }
            std::thread::yield_now();
        }
        self.copies_much = false;
        if ending.told {
            // SAFETY: the stream is ours.
            check(unsafe { sys::cuStreamSynchronize(self.control) }, "stopping", 0)?;
        }
        let (mut execute, mut checking, mut flags) = (0f32, 0f32, 0u64);
        // SAFETY: the events are ours and complete; so is the copy.
        unsafe {
            check(
                sys::cuEventElapsedTime_v2(&mut execute, self.events[0], self.events[1]),
                "cuEventElapsedTime",
                0,
            )?;
            if check_kernel.is_some() {
                let (from, to) = (self.events[1], self.events[2]);
                check(sys::cuEventElapsedTime_v2(&mut checking, from, to), "cuEventElapsedTime", 0)?;
            }
            std::ptr::copy_nonoverlapping(ending.tables.cast::<u64>().add(AT_FLAGS), &mut flags, 1);
        }
        let execute = f64::from(execute) * 1e6;
        ending.execute_ns += execute;
        ending.check_ns += f64::from(checking) * 1e6;
        if flags as u32 == 0 {
            // Whether it was late or not: nobody has given up.
            let _ = launch.stop.compare_exchange(TIME_IS_UP, 0, Ordering::SeqCst, Ordering::SeqCst);
        }
        match flags as u32 {
            0 => pace.waited(execute),
            // It says nothing of their speed.
            _ => pace.stopped(),
        }
        Ok(launch.stop.load(Ordering::Relaxed) == 0 && flags as u32 == 0)
    }
}

/// What launches leave behind: where it is on the GPU and where it is copied to, so many bytes, and the nanoseconds that they and
/// their check took.
struct Ending {
    packed: DevicePtr,
    totals: u64,
    tables: *mut u8,
    back: usize,
    /// Whether the kernels' stop word has been set.
    told: bool,
    execute_ns: f64,
    check_ns: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_cover_all_iterations() {
        let shape = |trip: [u64; 4], group| {
            let tiles = Tiles::new(&trip, (1, 0), group, false);
            let (grid, ..) = tiles.next(0, u64::MAX);
            (grid.block, tiles.columns, tiles.rows, tiles.layers)
        };
        assert_eq!(shape([1000, 1000, 1, 1], (4, 1)), ((64, 4), 16, 63, 1));
        assert_eq!(shape([1000, 1000, 7, 3], (2, 1)), ((64, 4), 16, 125, 21));
        assert_eq!(shape([1000, 190, 1, 1], (4, 1)), ((64, 4), 3, 63, 1));
        // An eighth of its threads would have nothing to do; rows of two blocks are no long pieces.
        assert_eq!(shape([1000, 200, 1, 1], (4, 1)), ((32, 8), 7, 32, 1));
        assert_eq!(shape([1000, 64, 1, 1], (4, 1)), ((32, 8), 2, 32, 1));
        assert_eq!(shape([1000, 1000, 1, 1], (1, 1)), ((32, 8), 32, 125, 1));
        assert_eq!(shape([1000, 1000, 1, 1], (4, 4)), ((32, 8), 8, 32, 1));
        assert_eq!(Tiles::new(&[1000, 1000, 1, 1], (1, 0), (4, 1), true).width, TILE_WIDTH);
    }

    #[test]
    fn allocations_are_farther_apart_than_what_is_copied_as_one() {
        for bytes in 1..2000 {
            assert!(room(bytes) - bytes > staging::GAP && room(bytes).is_multiple_of(256), "{bytes}");
        }
    }

    #[test]
    fn shared_memory_is_as_much_as_blocks_need() {
        assert_eq!(part_for_shared(10240, 5, 233_472), 25);
        assert_eq!(part_for_shared(1, 1, 233_472), 1);
        assert_eq!(part_for_shared(49152, 8, 233_472), 100);
    }
}
