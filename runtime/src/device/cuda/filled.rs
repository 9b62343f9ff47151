//! The kernel that enters into a bitmap what the entry knows that a loop will store (`speculation::filled`).

use super::grids::Grid;
use super::{BLOCK, Cuda};
use crate::device::{DeviceError, DevicePtr, Launch};
use crate::speculation::filled::{CellRows, DIMS, Filled, MOST};

/// Words of a row that a thread enters, side by side.
const AT_ONCE: u64 = 4;

/// Rows as the kernel has them.
#[derive(Clone, Copy, Default)]
#[repr(C)]
struct RawRows {
    first: u64,
    length: u64,
    /// Threads of a row, and of all of them: numbers that a kernel divides by are short.
    threads_of_row: u32,
    threads: u32,
    counts: [u32; DIMS + 1],
    steps: [u64; DIMS],
}

/// The kernel. A word may be two rows' or another store's, so bits are added to it, but for words that have all of theirs by one row. Where the cells are
/// counted, those count that nobody has entered before.
pub(super) fn source() -> String {
    format!("#define AT_ONCE {AT_ONCE}\n#define DIMS {DIMS}\n#define MOST {MOST}\n{SOURCE}")
}

const SOURCE: &str = r#"
struct __pg_rows {
  unsigned long long first, length;
  unsigned threads_of_row, threads, counts[DIMS + 1];
  unsigned long long steps[DIMS];
};
struct __pg_all_rows {
  struct __pg_rows rows[MOST];
};
extern "C" __global__ void __pg_fill(unsigned *log, const __grid_constant__ struct __pg_all_rows all, unsigned long long *counts)
{
  unsigned written = 0;
  const struct __pg_rows &rows = all.rows[blockIdx.y];
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  if (thread < rows.threads) {
    unsigned row = thread / rows.threads_of_row;
    const unsigned part = thread - row * rows.threads_of_row;
    unsigned long long begin = rows.first;
#pragma unroll
    for (int dim = 0; dim < DIMS; dim++)
      if (rows.counts[dim] != 1) {
        const unsigned around = row / rows.counts[dim];
        begin += (row - around * rows.counts[dim]) * rows.steps[dim];
        row = around;
      }
    const unsigned long long end = begin + rows.length, first_word = begin / 32, last_word = (end - 1) / 32;
    unsigned bits[AT_ONCE], before[AT_ONCE];
    /* All of a thread's are under way together. */
#pragma unroll
    for (int number = 0; number < AT_ONCE; number++) {
      const unsigned long long word = first_word + (unsigned long long)part * AT_ONCE + number;
      const unsigned low = word == first_word ? ~0u << (begin & 31) : ~0u, high = word == last_word ? ~0u >> (~(end - 1) & 31) : ~0u;
      bits[number] = word > last_word ? 0 : low & high;
      before[number] = 0;
      if (counts != nullptr) {
        if (bits[number] != 0)
          before[number] = atomicOr(&log[word], bits[number]);
      } else if (bits[number] == ~0u)
        log[word] = ~0u;
      else if (bits[number] != 0)
        (void)atomicOr(&log[word], bits[number]);
    }
#pragma unroll
    for (int number = 0; number < AT_ONCE; number++)
      written += __popc(bits[number] & ~before[number]);
  }
  if (counts != nullptr) {
    __shared__ unsigned sum;
    if (threadIdx.x == 0)
      sum = 0;
    __syncthreads();
#if __CUDA_ARCH__ >= 800
    written = __reduce_add_sync(0xffffffffu, written);
#else
    for (int distance = 16; distance != 0; distance /= 2)
      written += __shfl_down_sync(0xffffffffu, written, distance);
#endif
    if (threadIdx.x % 32 == 0 && written != 0)
      (void)atomicAdd(&sum, written);
    __syncthreads();
    if (threadIdx.x == 0 && sum != 0)
      (void)atomicAdd(&counts[1], (unsigned long long)sum);
  }
}
"#;

/// What a kernel is told; `None`: there are too many of them.
fn raw(rows: &CellRows) -> Option<RawRows> {
    // The first word may have one cell of a row only.
    let words = (rows.length + 30) / 32 + 1;
    let threads_of_row = words.div_ceil(AT_ONCE);
    let mut counts = [1; DIMS + 1];
    for (count, (number, _)) in counts.iter_mut().zip(rows.dims) {
        *count = u32::try_from(number).ok()?;
    }
    let threads = threads_of_row.checked_mul(rows.count())?;
    Some(RawRows {
        first: rows.first,
        length: rows.length,
        threads_of_row: u32::try_from(threads_of_row).ok()?,
        threads: u32::try_from(threads).ok()?,
        counts,
        steps: rows.dims.map(|(_, step)| step),
    })
}

impl Cuda {
    /// Starts it behind the launches, in front of the check; or it is that, where nothing else is in the log: then it counts the cells, at `counts`.
    pub(super) fn fill_log(
        &self,
        launch: &Launch<'_>,
        filled: &Filled,
        counts: Option<DevicePtr>,
    ) -> Result<(), DeviceError> {
        let kernel =
            self.filling_kernel.ok_or_else(|| DeviceError::Kernel("nothing fills its log".into()))?;
        let mut all = [RawRows::default(); MOST];
        for (to, rows) in all.iter_mut().zip(&filled.rows) {
            *to = raw(rows).ok_or_else(|| DeviceError::Kernel("its log has too many rows".into()))?;
        }
        let most = all.iter().map(|rows| rows.threads).max().unwrap_or(0);
        let grid = Grid { blocks: (most.div_ceil(BLOCK), filled.rows.len() as u32, 1), block: (BLOCK, 1) };
        let (mut log, mut counts) = (launch.wr.0, counts.map_or(0, |counts| counts.0));
        self.start(
            kernel,
            grid,
            &mut [(&raw mut log).cast(), (&raw mut all).cast(), (&raw mut counts).cast()],
        )
    }
}
