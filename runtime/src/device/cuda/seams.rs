//! The kernel that looks, behind a loop whose stores are joined, at what rows of iterations have left to the next ones (`body/joined.h`): in front of the
//! check, because what nobody else has stored is stored here, with its bits.

use super::buffered::ARRAYS_SOURCE;
use super::launches::Ending;
use super::{AT_FLAGS, Cuda};
use crate::abi;
use crate::device::{DeviceError, Launch};

/// Seams that a thread has under way.
const AT_ONCE: u64 = 4;

/// The kernel.
pub(super) fn source() -> String {
    let (totals, apart) = (abi::PG_TOTALS, abi::PG_TOTALS_APART);
    format!(
        "#define AT_ONCE {AT_ONCE}\n#define PG_TOTALS {totals}\n#define PG_TOTALS_APART {apart}\n\
         {ARRAYS_SOURCE}{SEAMS_SOURCE}"
    )
}

/// The first seam lies right in front of the bits, at `wr`. Each store that was put away has been counted.
const SEAMS_SOURCE: &str = r#"
extern "C" __global__ void __pg_close(unsigned *wr, unsigned long long seams, const unsigned *flags, unsigned long long *totals,
                                      const unsigned long long *arrays, unsigned n_arrays, unsigned shift)
{
  unsigned dropped = 0;
  __pg_array array;
  if (*(const volatile unsigned *)flags != 0)
    return;
  const unsigned long long step = (unsigned long long)gridDim.x * blockDim.x;
  for (unsigned long long begin = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x; begin < seams; begin += step * AT_ONCE) {
    uint4 all[AT_ONCE];
#pragma unroll
    for (int number = 0; number < AT_ONCE; number++) {
      const unsigned long long seam = begin + number * step;
      all[number] = uint4{0, 0, 0, 0};
      if (seam < seams)
        all[number] = *((const uint4 *)wr - (seam + 1));
    }
#pragma unroll
    for (int number = 0; number < AT_ONCE; number++) {
      const uint4 seam = all[number];
      const unsigned cell = seam.x >> 4, width = seam.x & 15, cells = width >> shift;
      if (width == 0)
        continue;
      /* The next row has stored there, or left that to whom it knew to store there. */
      if (seam.x == seam.y) {
        dropped += cells;
        continue;
      }
      array.find(cell, arrays, n_arrays, shift);
      char *const place = array.cells + ((unsigned long long)cell << shift);
      if (width == 8)
        *(uint2 *)place = uint2{seam.z, seam.w};
      else if (width == 4)
        *(unsigned *)place = seam.z;
      else if (width == 2)
        *(unsigned short *)place = (unsigned short)seam.z;
      else
        *(unsigned char *)place = (unsigned char)seam.z;
      atomicOr(&wr[cell / 32], ((1u << cells) - 1) << cell % 32);
    }
  }
  for (int distance = 16; distance != 0; distance /= 2)
    dropped += __shfl_down_sync(0xffffffffu, dropped, distance);
  if (threadIdx.x % 32 == 0 && dropped != 0)
    atomicAdd(&totals[blockIdx.x % PG_TOTALS * PG_TOTALS_APART], 0ull - dropped);
}
"#;

impl Cuda {
    /// Starts it behind the launches, in front of the check.
    pub(super) fn close_seams(&self, launch: &Launch<'_>, ending: &Ending) -> Result<(), DeviceError> {
        let kernel =
            self.seams_kernel.ok_or_else(|| DeviceError::Kernel("nothing looks between its rows".into()))?;
        let (mut wr, mut seams, mut totals) = (launch.wr.0, launch.seams(), ending.totals);
        let mut flags = ending.packed.0 + AT_FLAGS as u64 * 8;
        let ((mut arrays, mut n_arrays), mut shift) = (ending.arrays, launch.log_shift);
        self.start(
            kernel,
            self.line_at_once(kernel.resident, seams.div_ceil(AT_ONCE)),
            &mut [
                (&raw mut wr).cast(),
                (&raw mut seams).cast(),
                (&raw mut flags).cast(),
                (&raw mut totals).cast(),
                (&raw mut arrays).cast(),
                (&raw mut n_arrays).cast(),
                (&raw mut shift).cast(),
            ],
        )
    }
}
