//! What the check of a loop whose stores are joined makes of what rows of iterations have put away (`body/joined.h`): it is stored, unless the next row's first
//! lane stores to the same place.

use super::buffered::ARRAYS_SOURCE;

/// Seams that a thread has under way.
pub(super) const SEAMS_AT_ONCE: u64 = 4;

/// In front of the check's own text.
pub(super) fn source() -> String {
    format!("#define SEAMS_AT_ONCE {SEAMS_AT_ONCE}\n{ARRAYS_SOURCE}{SEAMS_SOURCE}")
}

/// The first row's seams lie right in front of the bits, each other row's in front of the row's before. What is taken off comes back, as a number to be added.
const SEAMS_SOURCE: &str = r#"
struct __align__(16) __pg_seam {
  unsigned first, last, low, high;
};
static __device__ unsigned long long __pg_close_seams(const unsigned *wr, unsigned long long seams, unsigned of_row, const unsigned long long *arrays,
                                                      unsigned n_arrays, unsigned shift)
{
  const __pg_seam *const behind = (const __pg_seam *)wr - 1;
  const unsigned long long step = (unsigned long long)gridDim.x * blockDim.x;
  unsigned taken = 0;
  __pg_array array;
#pragma unroll 1
  for (unsigned long long begin = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x; begin < seams; begin += step * SEAMS_AT_ONCE) {
    __pg_seam all[SEAMS_AT_ONCE];
    unsigned next[SEAMS_AT_ONCE];
#pragma unroll
    for (int number = 0; number < SEAMS_AT_ONCE; number++) {
      const unsigned long long seam = begin + number * step;
      all[number] = {0, 0, 0, 0};
      next[number] = 0;
      if (seam < seams)
        all[number] = *(behind - seam);
      if (seam + of_row < seams)
        next[number] = (behind - (seam + of_row))->first;
    }
#pragma unroll
    for (int number = 0; number < SEAMS_AT_ONCE; number++) {
      const __pg_seam seam = all[number];
      const unsigned cell = seam.last >> 4, width = seam.last & 15;
      if (width == 0)
        continue;
      taken++;
      if (next[number] == seam.last) {
        taken += width >> shift;
        continue;
      }
      array.find(cell, arrays, n_arrays, shift);
      char *const place = array.cells + ((unsigned long long)cell << shift);
      if (width == 8)
        *(uint2 *)place = uint2{seam.low, seam.high};
      else if (width == 4)
        *(unsigned *)place = seam.low;
      else if (width == 2)
        *(unsigned short *)place = (unsigned short)seam.low;
      else
        *(unsigned char *)place = (unsigned char)seam.low;
    }
  }
  return 0ull - taken;
}
"#;
