//! The kernel that looks at logs which hold values (`body/buffered.h`): what was met, and of each cell what its last writer has stored.

use super::logs::{AWAIT_SOURCE, SUMS_SOURCE};
use crate::abi::{self, PG_NO_LOG, Region};
use crate::device::{CELLS_OF_GROUP, LOG2_OF_CHUNK};

/// Entries that a thread has under way.
pub(super) const STORED_AT_ONCE: u64 = 4;

/// The kernel.
pub(super) fn source() -> String {
    let (totals, apart) = (abi::PG_TOTALS, abi::PG_TOTALS_APART);
    format!(
        "#define AT_ONCE {STORED_AT_ONCE}\n#define GROUP {CELLS_OF_GROUP}\n#define CHUNK (1u << {LOG2_OF_CHUNK})\n\
         #define PG_TOTALS {totals}\n#define PG_TOTALS_APART {apart}\n{AWAIT_SOURCE}{SUMS_SOURCE}{ARRAYS_SOURCE}{STORING_SOURCE}"
    )
}

/// Finds the array of cells. Arrays begin with a word of bits, so all cells of a warp lie in one of them. `arrays`: first cell, and where that lies.
pub(super) const ARRAYS_SOURCE: &str = r#"
/* The array of a warp's cells, from `word` on, and where its first cell would lie if that were cell 0. */
struct __pg_array {
  unsigned long long begin = 1, end = 0;
  char *cells = nullptr;
  __device__ void find(unsigned long long word, const unsigned long long *arrays, unsigned n_arrays, unsigned shift)
  {
    if (begin <= word && word < end)
      return;
    unsigned low = 0, high = n_arrays;
    while (high - low > 1) {
      const unsigned middle = low + (high - low) / 2;
      if (arrays[2 * middle] <= word)
        low = middle;
      else
        high = middle;
    }
    begin = arrays[2 * low];
    end = high < n_arrays ? arrays[2 * high] : ~0ull;
    cells = (char *)arrays[2 * low + 1] - (begin << shift);
  }
};
"#;

const STORING_SOURCE: &str = r#"
/* What an entry's pairs hold, to where it belongs. */
template <int Pairs> static __device__ void __pg_store_value(char *place, unsigned shift, unsigned low, unsigned high)
{
  if (Pairs == 2)
    *(uint2 *)place = {low, high};
  else if (shift == 2)
    *(unsigned *)place = low;
  else if (shift == 1)
    *(unsigned short *)place = (unsigned short)low;
  else
    *(unsigned char *)place = (unsigned char)low;
}

/* A block takes a chunk of cells at a time, and passes over those that nobody has stored to. */
template <int Words, int Pairs, bool Apart>
static __device__ void __pg_store_entries(const unsigned *log, const unsigned char *marks, unsigned *bits,
                                          unsigned long long cells, unsigned *flags, unsigned long long *counts,
                                          const unsigned long long *arrays, unsigned n_arrays, unsigned shift,
                                          unsigned store_bits, unsigned long long total)
{
  unsigned long long written = 0, met = 0;
  const unsigned lane = threadIdx.x % 32;
  __pg_array array;
  for (unsigned long long chunk = blockIdx.x * (unsigned long long)CHUNK; chunk < cells; chunk += gridDim.x * (unsigned long long)CHUNK) {
    const unsigned long long end = cells - chunk < CHUNK ? cells : chunk + CHUNK;
    if (marks[chunk / CHUNK] == 0) {
      if (bits != nullptr)
        for (unsigned long long word = chunk / 32 + threadIdx.x; 32 * word < end; word += blockDim.x)
          bits[word] = 0;
      continue;
    }
    for (unsigned long long begin = chunk + (threadIdx.x - lane) * AT_ONCE; begin < end; begin += blockDim.x * AT_ONCE) {
      unsigned entries[AT_ONCE][Words];
#pragma unroll
      for (int number = 0; number < AT_ONCE; number++) {
        const unsigned long long cell = begin + 32 * number + lane;
#pragma unroll
        for (int word = 0; word < Words; word += 2) {
          uint2 two = {0, 0};
          if (cell < cells)
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
        array.find(word, arrays, n_arrays, shift);
        if (entry[1] != 0) {
          const unsigned last = entry[1] >> store_bits;
          __pg_store_value<Pairs>(array.cells + ((word + lane) << shift), shift, entry[0], entry[2 % Words]);
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
  }
  __pg_add_up(total, written, met, counts);
}

/* The same where cells have their first writer and their last reader by groups. Each lane has a group; the warp takes what the log has of them side
 * by side, of several at a time, and passes over those that nobody has stored to. The cells of the others, which follow each other, it takes together.
 * There are fewer than 2^28. */
template <int Pairs>
static __device__ void __pg_store_groups(const unsigned *log, unsigned *bits, unsigned cells, unsigned *flags,
                                         unsigned long long *counts, const unsigned long long *arrays, unsigned n_arrays,
                                         unsigned shift, unsigned store_bits, unsigned long long total)
{
  constexpr unsigned groups_at_once = 32 / GROUP;
  const uint2 *const pairs = (const uint2 *)log, *const groups = pairs + Pairs * (unsigned long long)cells;
  const unsigned lane = threadIdx.x % 32, n_groups = (cells + GROUP - 1) / GROUP, step = gridDim.x * blockDim.x * AT_ONCE;
  unsigned written = 0, met = 0;
  __pg_array array;
  for (unsigned first_group = (blockIdx.x * blockDim.x + threadIdx.x - lane) * AT_ONCE; first_group < n_groups; first_group += step) {
    uint2 ahead[AT_ONCE];
    bool is_any = false;
#pragma unroll
    for (unsigned turn = 0; turn < AT_ONCE; turn++) {
      const unsigned group = first_group + 32 * turn + lane;
      ahead[turn] = group < n_groups ? groups[group] : uint2{0, 0};
      is_any |= ahead[turn].x != 0;
    }
    unsigned begin = first_group * GROUP;
    if (!__any_sync(0xffffffffu, is_any)) {
      if (bits != nullptr)
        for (unsigned word = lane; word < GROUP * AT_ONCE && begin + 32 * word < cells; word += 32)
          bits[begin / 32 + word] = 0;
      continue;
    }
#pragma unroll 1
    for (unsigned turn = 0; turn < AT_ONCE; turn++, begin += 32 * GROUP) {
      const uint2 own = ahead[0];
      const unsigned stored = __ballot_sync(0xffffffffu, own.x != 0);
      unsigned own_bits = 0;
#pragma unroll
      for (unsigned other = 1; other < AT_ONCE; other++)
        ahead[other - 1] = ahead[other];
#pragma unroll 1
      for (unsigned first_word = 0; stored != 0 && first_word < GROUP; first_word += AT_ONCE) {
        uint2 entries[AT_ONCE][Pairs];
#pragma unroll
        for (unsigned number = 0; number < AT_ONCE; number++) {
          const unsigned word = first_word + number, cell = begin + 32 * word + lane;
          const bool is_stored = stored >> (groups_at_once * word + lane / GROUP) & 1;
#pragma unroll
          for (int pair = 0; pair < Pairs; pair++)
            entries[number][pair] = is_stored && cell < cells ? pairs[pair * (unsigned long long)cells + cell] : uint2{0, 0};
        }
#pragma unroll
        for (unsigned number = 0; number < AT_ONCE; number++) {
          const uint2 *const entry = entries[number];
          const unsigned word = first_word + number, found = __ballot_sync(0xffffffffu, entry[0].y != 0);
          if (found == 0)
            continue;
          const int leader = groups_at_once * word + lane / GROUP;
          const unsigned first = ~__shfl_sync(0xffffffffu, own.x, leader), reader = __shfl_sync(0xffffffffu, own.y, leader);
          own_bits = lane == word ? found : own_bits;
          array.find(begin + 32 * word, arrays, n_arrays, shift);
          if (entry[0].y != 0) {
            const unsigned last = (entry[0].y >> store_bits) + (GROUP - 1 - lane % GROUP);
            const unsigned long long cell = begin + 32 * word + lane;
            __pg_store_value<Pairs>(array.cells + (cell << shift), shift, entry[0].x, entry[Pairs - 1].x);
            /* What is left are stores to cells that have others, too. */
            total--;
            written += first != last;
            if (reader > first || (reader == first && first != last)) {
              met++;
              flags[1] = reader - 1;
            }
          }
        }
      }
      if (bits != nullptr && lane < GROUP && begin + 32 * lane < cells)
        bits[begin / 32 + lane] = own_bits;
    }
  }
  __pg_add_up(total, written, met, counts);
}

extern "C" __global__ void __pg_store(const unsigned *log, const unsigned char *marks, unsigned *bits, unsigned long long cells,
                                      unsigned *flags, const unsigned long long *totals, unsigned long long *counts,
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
#define STORE(...) __pg_store_entries<__VA_ARGS__>(log, marks, bits, cells, flags, counts, arrays, n_arrays, shift, store_bits, total)
#define STORE_GROUPS(...) \
  __pg_store_groups<__VA_ARGS__>(log, bits, (unsigned)cells, flags, counts, arrays, n_arrays, shift, store_bits, total)
  if (shift == 3 && grouped)
    STORE_GROUPS(2);
  else if (grouped)
    STORE_GROUPS(1);
  else if (shift == 3 && words == 8)
    STORE(8, 2, false);
  else if (shift == 3 && words == 6)
    STORE(6, 2, true);
  else if (shift == 3 && apart)
    STORE(4, 2, true);
  else if (shift == 3)
    STORE(4, 2, false);
  else if (words == 4 && apart)
    STORE(4, 1, true);
  else if (words == 4)
    STORE(4, 1, false);
  else
    STORE(2, 1, false);
}
"#;

/// The arrays that have a log, in the order of their cells: for each its first cell, and where that lies.
pub(super) fn arrays(regions: &[Region]) -> impl Iterator<Item = u64> {
    regions
        .iter()
        .filter(|region| region.log != PG_NO_LOG)
        .flat_map(|region| [region.log, region.dev.wrapping_sub(region.lo % 64)])
}
