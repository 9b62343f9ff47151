//! The kernel that looks at logs which hold values (`body/buffered.h`): what was met, and of each cell what its last writer has stored.

use super::logs::{AWAIT_SOURCE, SUMS_SOURCE};
use crate::abi::{self, PG_NO_LOG, Region};
use crate::device::CELLS_OF_GROUP;

/// Entries that a thread has under way.
pub(super) const STORED_AT_ONCE: u64 = 4;

/// The kernel.
pub(super) fn source() -> String {
    let (totals, apart) = (abi::PG_TOTALS, abi::PG_TOTALS_APART);
    format!(
        "#define AT_ONCE {STORED_AT_ONCE}\n#define GROUP {CELLS_OF_GROUP}\n#define PG_TOTALS {totals}\n#define PG_TOTALS_APART {apart}\n{AWAIT_SOURCE}{SUMS_SOURCE}{STORING_SOURCE}"
    )
}

/// Arrays begin with a word of bits, so all cells of a warp lie in one of them. `arrays`: first cell, and where that lies.
const STORING_SOURCE: &str = r#"
template <int Words, int Pairs, bool Apart, bool Grouped>
static __device__ void __pg_store_entries(const unsigned *log, unsigned *bits, unsigned long long cells, unsigned *flags,
                                          unsigned long long *counts, const unsigned long long *arrays, unsigned n_arrays,
                                          unsigned shift, unsigned store_bits, unsigned long long total)
{
  unsigned long long written = 0, met = 0;
  const unsigned lane = threadIdx.x % 32;
  for (unsigned long long begin = (blockIdx.x * (unsigned long long)blockDim.x + (threadIdx.x - lane)) * AT_ONCE; begin < cells;
       begin += gridDim.x * (unsigned long long)blockDim.x * AT_ONCE) {
    unsigned entries[AT_ONCE][Words];
    /* Whether anything is stored in its group. */
    bool is_stored[AT_ONCE];
#pragma unroll
    for (int number = 0; number < AT_ONCE; number++) {
      const unsigned long long cell = begin + 32 * number + lane;
      is_stored[number] = cell < cells;
      if (Grouped) {
        uint2 two = {0, 0};
        if (cell < cells)
          two = ((const uint2 *)log)[Pairs * cells + cell / GROUP];
        entries[number][2 * Pairs] = two.x;
        entries[number][2 * Pairs + 1] = two.y;
        is_stored[number] = two.x != 0;
      }
    }
#pragma unroll
    for (int number = 0; number < AT_ONCE; number++) {
      const unsigned long long cell = begin + 32 * number + lane;
#pragma unroll
      for (int word = 0; word < (Grouped ? 2 * Pairs : Words); word += 2) {
        uint2 two = {0, 0};
        if (is_stored[number])
          two = ((const uint2 *)log)[Apart ? word / 2 * cells + cell : cell * (Words / 2) + word / 2];
        entries[number][word] = two.x;
        entries[number][word + 1] = two.y;
      }
    }
#pragma unroll
    for (int number = 0; number < AT_ONCE; number++) {
      const unsigned *const entry = entries[number];
      const unsigned long long word = begin + 32 * number;
      const unsigned found = __ballot_sync(0xffffffffu, entry[1] != 0);
      if (bits != nullptr && word < cells && lane == 0)
        bits[word / 32] = found;
      if (found == 0)
        continue;
      unsigned low = 0, high = n_arrays;
      while (high - low > 1) {
        const unsigned middle = low + (high - low) / 2;
        if (arrays[2 * middle] <= word)
          low = middle;
        else
          high = middle;
      }
      if (entry[1] != 0) {
        char *const place = (char *)arrays[2 * low + 1] + ((word + lane - arrays[2 * low]) << shift);
        const unsigned last = (entry[1] >> store_bits) + (Grouped ? GROUP - 1 - (unsigned)((word + lane) % GROUP) : 0);
        if (Pairs == 2)
          *(uint2 *)place = {entry[0], entry[2]};
        else if (shift == 2)
          *(unsigned *)place = entry[0];
        else if (shift == 1)
          *(unsigned short *)place = (unsigned short)entry[0];
        else
          *(unsigned char *)place = (unsigned char)entry[0];
        if (Words > 2 * Pairs) {
          const unsigned first = ~entry[2 * Pairs], reader = entry[2 * Pairs + 1];
          written += first != last;
          if (reader > first || (reader == first && first != last)) {
            met++;
            flags[1] = reader - 1;
          }
        } else
          written++;
      }
    }
  }
  __pg_add_up(total, written, met, counts);
}

extern "C" __global__ void __pg_store(const unsigned *log, unsigned *bits, unsigned long long cells, unsigned *flags,
                                      const unsigned long long *totals, unsigned long long *counts,
                                      const unsigned long long *arrays, unsigned n_arrays, unsigned shift, unsigned words,
                                      unsigned store_bits, int apart, int grouped)
{
  unsigned long long total = 0;
  __PG_AWAIT_LAUNCH
  if (*(volatile unsigned *)flags != 0)
    return;
  if (blockIdx.x == 0)
    for (unsigned place = threadIdx.x; place < PG_TOTALS; place += blockDim.x)
      total += totals[place * PG_TOTALS_APART];
#define STORE(...) __pg_store_entries<__VA_ARGS__>(log, bits, cells, flags, counts, arrays, n_arrays, shift, store_bits, total)
  if (shift == 3 && grouped)
    STORE(6, 2, true, true);
  else if (grouped)
    STORE(4, 1, true, true);
  else if (shift == 3 && words == 8)
    STORE(8, 2, false, false);
  else if (shift == 3 && words == 6)
    STORE(6, 2, true, false);
  else if (shift == 3 && apart)
    STORE(4, 2, true, false);
  else if (shift == 3)
    STORE(4, 2, false, false);
  else if (words == 4 && apart)
    STORE(4, 1, true, false);
  else if (words == 4)
    STORE(4, 1, false, false);
  else
    STORE(2, 1, false, false);
}
"#;

/// The arrays that have a log, in the order of their cells: for each its first cell, and where that lies.
pub(super) fn arrays(regions: &[Region]) -> impl Iterator<Item = u64> {
    regions
        .iter()
        .filter(|region| region.log != PG_NO_LOG)
        .flat_map(|region| [region.log, region.dev.wrapping_sub(region.lo % 64)])
}
