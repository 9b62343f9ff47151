//! The kernel that looks at logs after a loop: what was written, and what was met. What loops note is in `body/logs.h`; the threads device has
//! the same in Rust.

use super::kernels::Loaded;
use super::launches::Ending;
use super::{AT_FLAGS, BLOCK, Cuda, buffered, filled, seams};
use crate::abi;
use crate::device::{DeviceError, Guess, Launch, LogMethod, Specialisation, words_of_bitmap};
use std::ffi::CStr;

/// Words of a log, or stamps, that a thread of the check has under way.
const CHECKED_AT_ONCE: u64 = 8;
/// Launches of whose bits a thread of their check has four words under way.
const LAUNCHES_AT_ONCE: u64 = 4;
/// A bitmap of so few words has a thread for each: what its check takes are latencies, not loads.
const FEW_WORDS: u64 = 1 << 13;

/// The kernel that looks at logs after a loop is made ready while that is still under way, where a log is short: to launch it behind the loop's end takes
/// as long as to look. So each of its threads waits first, until all that the loop has stored is there.
pub(super) const AWAIT_SOURCE: &str = r#"
#ifndef __PG_AWAIT_LAUNCH
#if __CUDA_ARCH__ >= 900
#define __PG_AWAIT_LAUNCH asm volatile("griddepcontrol.wait;" ::: "memory");
#else
#define __PG_AWAIT_LAUNCH
#endif
#endif
"#;
/// The first architecture that does so.
const EARLY_FROM: i32 = 9;
/// A log is short where it has so many words, or stamps: its check takes about as long as one that looks at nothing, and isn't timed by itself.
const SHORT: u64 = 1 << 17;

/// The kernel that looks at logs after a loop.
fn check_source() -> String {
    let (totals, apart) = (abi::PG_TOTALS, abi::PG_TOTALS_APART);
    let stamp = LogMethod::Stamp as u32;
    let (last, first, reader) = (abi::PG_STAMP_LAST, abi::PG_STAMP_FIRST, abi::PG_STAMP_READER);
    let (stamps, with_readers) = (abi::PG_STAMP_WORDS, abi::PG_STAMP_WORDS_READ);
    let (guess, guess_reader) = (abi::PG_GUESS_WORDS_READ, abi::PG_GUESS_READER);
    format!(
        "#define AT_ONCE {CHECKED_AT_ONCE}\n#define PG_TOTALS {totals}\n#define PG_TOTALS_APART {apart}\n\
         #define PG_LOG_STAMP {stamp}\n#define PG_STAMP_LAST {last}\n#define PG_STAMP_FIRST {first}\n\
         #define PG_STAMP_READER {reader}\n#define PG_STAMP_WORDS {stamps}\n\
         #define PG_STAMP_WORDS_READ {with_readers}\n#define PG_GUESS_WORDS_READ {guess}\n\
         #define PG_GUESS_READER {guess_reader}\n{AWAIT_SOURCE}{SUMS_SOURCE}{CHECK_SOURCE}"
    )
}

/// The same where logs are bitmaps: by itself, because its text is a tenth as long, and loading that took as long as all else where a log is short.
fn bitmap_check_source() -> String {
    let (totals, apart) = (abi::PG_TOTALS, abi::PG_TOTALS_APART);
    format!(
        "#define AT_ONCE {CHECKED_AT_ONCE}\n#define PG_TOTALS {totals}\n#define PG_TOTALS_APART {apart}\n\
         #define BLOCK {BLOCK}\n{AWAIT_SOURCE}{BITMAP_CHECK_SOURCE}"
    )
}

/// What all threads of such a kernel have counted, added to the launch's counters.
pub(super) const SUMS_SOURCE: &str = r#"
static __device__ void __pg_add_up(unsigned long long total, unsigned long long written, unsigned long long met,
                                   unsigned long long *counts)
{
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

const CHECK_SOURCE: &str = r#"
extern "C" __global__ void __pg_check(const unsigned *wr, const unsigned *rd, unsigned *bits, unsigned long long words,
                                      unsigned *flags, const unsigned long long *totals, unsigned long long *counts,
                                      int method, unsigned stamp_words)
{
  unsigned long long total = 0, written = 0, met = 0;
  const unsigned lane = threadIdx.x % 32;
  __PG_AWAIT_LAUNCH
  if (*(volatile unsigned *)flags != 0)
    return;
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
      } else if (w != 0) {
        written++;
        if (r != 0 && r != w) {
          met++;
          flags[1] = w - 1;
        }
      }
    }
  }
  __pg_add_up(total, written, met, counts);
}
"#;

const BITMAP_CHECK_SOURCE: &str = r#"
static __device__ unsigned long long __pg_sum_of_warp(unsigned number)
{
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(0xffffffffu, number & 0xffff) + ((unsigned long long)__reduce_add_sync(0xffffffffu, number >> 16) << 16);
#else
  unsigned long long sum = number;
  for (int distance = 16; distance != 0; distance /= 2)
    sum += __shfl_down_sync(0xffffffffu, sum, distance);
  return sum;
#endif
}
extern "C" __global__ void __pg_check(const unsigned *wr, const unsigned *rd, unsigned long long words, const unsigned *flags,
                                      const unsigned long long *totals, unsigned long long *counts, int has_range)
{
  __shared__ unsigned long long sums[3][BLOCK / 32];
  static_assert(PG_TOTALS == BLOCK, "a thread for each place");
  __PG_AWAIT_LAUNCH
  const unsigned failed = *(const volatile unsigned *)flags;
  unsigned long long total = blockIdx.x == 0 ? totals[threadIdx.x * PG_TOTALS_APART] : 0;
  /* Where readers are no bits: from the first cell that any of them has taken to the last. Each place has a part of what tells. */
  unsigned long long least = 0, most = 0;
  if (has_range) {
    const unsigned long long both = totals[threadIdx.x * PG_TOTALS_APART + 1];
    __shared__ unsigned first, behind;
    if (threadIdx.x == 0)
      first = behind = 0;
    __syncthreads();
    unsigned of_warp = (unsigned)both, behind_warp = (unsigned)(both >> 32);
#if __CUDA_ARCH__ >= 800
    of_warp = __reduce_max_sync(0xffffffffu, of_warp);
    behind_warp = __reduce_max_sync(0xffffffffu, behind_warp);
    if (threadIdx.x % 32 == 0)
#endif
    {
      atomicMax(&first, of_warp);
      atomicMax(&behind, behind_warp);
    }
    __syncthreads();
    least = ~first;
    most = behind;
  }
  unsigned written = 0, met = 0;
  const unsigned long long step = (unsigned long long)gridDim.x * BLOCK;
#pragma unroll 1
  for (unsigned long long begin = (unsigned long long)blockIdx.x * BLOCK + threadIdx.x; begin < words; begin += step * AT_ONCE) {
    unsigned all_w[AT_ONCE], all_r[AT_ONCE];
#pragma unroll
    for (int number = 0; number < AT_ONCE; number++) {
      const unsigned long long word = begin + number * step;
      all_w[number] = word < words ? wr[word] : 0;
      all_r[number] = word < words && !has_range && rd != nullptr ? rd[word] : 0;
    }
#pragma unroll
    for (int number = 0; number < AT_ONCE; number++) {
      const unsigned long long from = 32 * (begin + number * step);
      const unsigned w = all_w[number], below = least <= from ? 0 : least >= from + 32 ? 32 : (unsigned)(least - from);
      const unsigned end = most <= from ? 0 : most >= from + 32 ? 32 : (unsigned)(most - from);
      const unsigned r = all_r[number] | (end == 32 ? ~0u : (1u << end) - 1) & ~(below == 32 ? ~0u : (1u << below) - 1);
      written += __popc(w);
      met += __popc(w & r);
    }
  }
#pragma unroll 1
  for (int distance = 16; distance != 0; distance /= 2)
    total += __shfl_down_sync(0xffffffffu, total, distance);
  const unsigned long long its_written = __pg_sum_of_warp(written), its_met = __pg_sum_of_warp(met);
  if (threadIdx.x % 32 == 0) {
    sums[0][threadIdx.x / 32] = total;
    sums[1][threadIdx.x / 32] = its_written;
    sums[2][threadIdx.x / 32] = its_met;
  }
  __syncthreads();
  if (threadIdx.x >= 3 || failed != 0)
    return;
  unsigned long long sum = 0;
#pragma unroll
  for (int warp = 0; warp < BLOCK / 32; warp++)
    sum += sums[threadIdx.x][warp];
  if (sum != 0)
    atomicAdd(&counts[threadIdx.x], sum);
}
"#;

/// The same where each of several launches has bits of its own, one bitmap behind the other: what was written by any of them stands in the first one in the end. Two
/// stores of different launches to a cell are two cells here, so that sums of all of them tell what each one's would.
fn launches_check_source() -> String {
    let (totals, apart) = (abi::PG_TOTALS, abi::PG_TOTALS_APART);
    format!(
        "#define AT_ONCE {LAUNCHES_AT_ONCE}\n#define PG_TOTALS {totals}\n#define PG_TOTALS_APART {apart}\n\
         {AWAIT_SOURCE}{SUMS_SOURCE}{LAUNCHES_CHECK_SOURCE}"
    )
}

const LAUNCHES_CHECK_SOURCE: &str = r#"
extern "C" __global__ void __pg_check(uint4 *wr, const uint4 *rd, unsigned long long fours, unsigned launches,
                                      const unsigned *flags, const unsigned long long *totals, unsigned long long *counts)
{
  unsigned long long total = 0, written = 0, met = 0;
  __PG_AWAIT_LAUNCH
  if (*(const volatile unsigned *)flags != 0)
    return;
  if (blockIdx.x == 0)
    for (unsigned place = threadIdx.x; place < PG_TOTALS; place += blockDim.x)
      total += totals[place * PG_TOTALS_APART];
  for (unsigned long long four = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x; four < fours;
       four += gridDim.x * (unsigned long long)blockDim.x) {
    uint4 any = {0, 0, 0, 0};
#pragma unroll 1
    for (unsigned launch = 0; launch < launches; launch += AT_ONCE) {
      uint4 all_w[AT_ONCE], all_r[AT_ONCE];
#pragma unroll
      for (unsigned number = 0; number < AT_ONCE; number++)
        all_w[number] = launch + number < launches ? wr[(launch + number) * fours + four] : uint4{0, 0, 0, 0};
      /* Where nobody has stored, nobody asks who has loaded. */
#pragma unroll
      for (unsigned number = 0; number < AT_ONCE; number++) {
        const uint4 w = all_w[number];
        const bool asks = rd != nullptr && (w.x | w.y | w.z | w.w) != 0;
        all_r[number] = asks ? rd[(launch + number) * fours + four] : uint4{0, 0, 0, 0};
      }
#pragma unroll
      for (unsigned number = 0; number < AT_ONCE; number++) {
        const uint4 w = all_w[number], r = all_r[number];
        any = {any.x | w.x, any.y | w.y, any.z | w.z, any.w | w.w};
        written += __popc(w.x) + __popc(w.y) + __popc(w.z) + __popc(w.w);
        met += __popc(w.x & r.x) + __popc(w.y & r.y) + __popc(w.z & r.z) + __popc(w.w & r.w);
      }
    }
    if (launches > 1 && (any.x | any.y | any.z | any.w) != 0)
      wr[four] = any;
  }
  __pg_add_up(total, written, met, counts);
}
"#;

/// The kernels that belong to no loop, and run beside those that do.
#[derive(Clone, Copy)]
pub(super) enum Beside {
    Filling,
    Seams,
    Storing,
    Check,
    BitmapCheck,
    LaunchesCheck,
}

impl Beside {
    pub(super) fn source(self) -> String {
        match self {
            Beside::Filling => filled::source(),
            Beside::Seams => seams::source(),
            Beside::Storing => buffered::source(),
            Beside::Check => check_source(),
            Beside::BitmapCheck => bitmap_check_source(),
            Beside::LaunchesCheck => launches_check_source(),
        }
    }

    fn name(self) -> &'static CStr {
        match self {
            Beside::Filling => c"__pg_fill",
            Beside::Seams => c"__pg_close",
            Beside::Storing => c"__pg_store",
            Beside::Check | Beside::BitmapCheck | Beside::LaunchesCheck => c"__pg_check",
        }
    }
}

/// Those that a loop's kernel needs.
pub(super) fn beside(kernel: Specialisation) -> [Option<Beside>; 3] {
    let looks = match (kernel.buffered != 0, kernel.method.detects()) {
        (true, _) => Some(Beside::Storing),
        (false, true) if kernel.method.is_bitmap() => Some(Beside::BitmapCheck),
        (false, true) => Some(Beside::Check),
        (false, false) => None,
    };
    let filling = (kernel.filled != 0).then_some(Beside::Filling);
    let seams = (kernel.seams != 0).then_some(Beside::Seams);
    [filling, seams, looks]
}

impl Cuda {
    /// Prepares what looks at the bits of several launches.
    pub(super) fn prepare_launches_check(&mut self) -> Result<(), DeviceError> {
        self.prepare_beside(Beside::LaunchesCheck)
    }

    /// Prepares what looks at the logs of a kernel.
    pub(super) fn prepare_check(&mut self, kernel: Specialisation) -> Result<(), DeviceError> {
        beside(kernel).into_iter().flatten().try_for_each(|beside| self.prepare_beside(beside))
    }

    fn prepare_beside(&mut self, beside: Beside) -> Result<(), DeviceError> {
        if self.beside(beside).is_none() {
            let recipe = self.outline.recipe_of(beside.source());
            let loaded = self.function(&recipe, beside.name(), BLOCK)?;
            *self.beside(beside) = Some(loaded);
        }
        Ok(())
    }

    fn beside(&mut self, beside: Beside) -> &mut Option<Loaded> {
        match beside {
            Beside::Filling => &mut self.filling_kernel,
            Beside::Seams => &mut self.seams_kernel,
            Beside::Storing => &mut self.storing_kernel,
            Beside::Check => &mut self.check_kernel,
            Beside::BitmapCheck => &mut self.bitmap_check_kernel,
            Beside::LaunchesCheck => &mut self.launches_check_kernel,
        }
    }

    /// Whether the host looks at a launch's logs by itself: at few bits, which it wants anyway, and nothing else. To launch a kernel for them
    /// would take the GPU longer.
    pub(super) fn looks_itself(&self, launch: &Launch<'_>) -> bool {
        launch.kernel.guess == Guess::Range
            && launch.method().is_bitmap()
            && launch.log_words <= FEW_WORDS
            && launch.filled().is_none()
    }

    /// What the kernel would have counted: the writes that were counted, the cells written, and those of them that were loaded. `places`: of
    /// [`PG_TOTALS`](abi::PG_TOTALS).
    pub(super) fn found(places: &[u64], bits: &[u32]) -> [u64; 3] {
        let places = || places.chunks_exact(abi::PG_TOTALS_APART);
        let total = places().fold(0u64, |sum, place| sum.wrapping_add(place[0]));
        let first = places().map(|place| !(place[1] as u32)).min().map_or(0, u64::from);
        let behind = places().map(|place| (place[1] >> 32) as u32).max().map_or(0, u64::from);
        let (mut written, mut met) = (0, 0);
        for (word, bits) in bits.iter().enumerate() {
            let from = 32 * word as u64;
            // The bits from a cell on.
            let on = |cell: u64| match cell.saturating_sub(from) {
                skipped @ 0..32 => u32::MAX << skipped,
                _ => 0,
            };
            written += u64::from(bits.count_ones());
            met += u64::from((bits & on(first) & !on(behind)).count_ones());
        }
        [total, written, met]
    }

    /// Whether it is made ready while a launch is under way.
    pub(super) fn checks_early(&self, launch: &Launch<'_>) -> bool {
        launch.log_words <= SHORT && self.outline.generation >= EARLY_FROM && launch.kernel.seams == 0
    }

    /// Starts it behind a launch, for so many of its [bitmaps](Launch::bitmaps): where it is made [ready early](Cuda::checks_early), nothing may be queued in between.
    pub(super) fn start_check(
        &self,
        launch: &Launch<'_>,
        ending: &Ending,
        bitmaps: u64,
    ) -> Result<(), DeviceError> {
        if launch.kernel.seams != 0 {
            self.close_seams(launch, ending)?;
        }
        let start = if self.checks_early(launch) { Cuda::start_early } else { Cuda::start };
        let (mut wr, mut rd, mut words) = (launch.wr.0, launch.rd.0, launch.log_words);
        let (mut written, mut totals) = (launch.written.0, ending.totals);
        let (mut flags, mut counts) = (ending.packed.0 + AT_FLAGS as u64 * 8, ending.packed.0);
        let nobody = || DeviceError::Kernel("nothing checks its logs".into());
        if launch.kernel.buffered != 0 {
            let kernel = self.storing_kernel.ok_or_else(nobody)?;
            let (mut arrays, mut n_arrays) = ending.arrays;
            let (mut shift, mut of_entry) = (launch.log_shift, u32::from(launch.kernel.buffered));
            let (mut store_bits, mut apart) = (launch.store_bits(), i32::from(launch.kernel.apart));
            let mut grouped = i32::from(launch.kernel.grouped);
            // Behind all entries.
            let mut marks = wr + 4 * u64::from(of_entry) * words;
            return start(
                self,
                kernel,
                self.line_at_once(kernel.resident, words.div_ceil(buffered::STORED_AT_ONCE)),
                &mut [
                    (&raw mut wr).cast(),
                    (&raw mut marks).cast(),
                    (&raw mut written).cast(),
                    (&raw mut words).cast(),
                    (&raw mut flags).cast(),
                    (&raw mut totals).cast(),
                    (&raw mut counts).cast(),
                    (&raw mut arrays).cast(),
                    (&raw mut n_arrays).cast(),
                    (&raw mut shift).cast(),
                    (&raw mut of_entry).cast(),
                    (&raw mut store_bits).cast(),
                    (&raw mut apart).cast(),
                    (&raw mut grouped).cast(),
                ],
            );
        }
        if launch.portion != 0 {
            let kernel = self.launches_check_kernel.ok_or_else(nobody)?;
            let (mut fours, mut launches) = (words_of_bitmap(words) / 4, bitmaps as u32);
            return start(
                self,
                kernel,
                self.line_at_once(kernel.resident, fours),
                &mut [
                    (&raw mut wr).cast(),
                    (&raw mut rd).cast(),
                    (&raw mut fours).cast(),
                    (&raw mut launches).cast(),
                    (&raw mut flags).cast(),
                    (&raw mut totals).cast(),
                    (&raw mut counts).cast(),
                ],
            );
        }
        if launch.method().is_bitmap() {
            let kernel = self.bitmap_check_kernel.ok_or_else(nobody)?;
            let mut has_range = i32::from(launch.kernel.guess == Guess::Range);
            let at_once = if words <= FEW_WORDS { 1 } else { CHECKED_AT_ONCE };
            return start(
                self,
                kernel,
                self.line_at_once(kernel.resident, words.div_ceil(at_once)),
                &mut [
                    (&raw mut wr).cast(),
                    (&raw mut rd).cast(),
                    (&raw mut words).cast(),
                    (&raw mut flags).cast(),
                    (&raw mut totals).cast(),
                    (&raw mut counts).cast(),
                    (&raw mut has_range).cast(),
                ],
            );
        }
        let kernel = self.check_kernel.ok_or_else(nobody)?;
        let (mut method, mut stamp_words) = (launch.method() as i32, launch.stamp_words);
        start(
            self,
            kernel,
            self.line_at_once(kernel.resident, words.div_ceil(CHECKED_AT_ONCE)),
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
            ],
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::cuda::nvrtc;
    use abi::{PG_TOTALS, PG_TOTALS_APART};

    /// A place, what has been counted there, and the first and the last cell of its range.
    type Left = (usize, u64, Option<(u32, u32)>);

    /// What threads leave.
    fn places(all: &[Left]) -> Vec<u64> {
        let mut places = vec![0; PG_TOTALS * PG_TOTALS_APART];
        for &(place, writes, range) in all {
            places[place * PG_TOTALS_APART] = writes;
            if let Some((first, last)) = range {
                places[place * PG_TOTALS_APART + 1] = u64::from(!first) | u64::from(last + 1) << 32;
            }
        }
        places
    }

    #[test]
    fn a_range_is_that_of_all_places_and_has_its_first_cell_and_its_last() {
        let counted = [(0, 5, None), (7, 3, Some((40, 66))), (255, 1, Some((38, 50)))];
        let written = |cells: &[u32]| {
            let mut bits = vec![0u32; 4];
            cells.iter().for_each(|cell| bits[*cell as usize / 32] |= 1 << (cell % 32));
            Cuda::found(&places(&counted), &bits)
        };
        assert_eq!(written(&[0, 31, 32, 37, 67, 95, 96, 127]), [9, 8, 0]);
        for cell in 38..=66 {
            assert_eq!(written(&[cell]), [9, 1, 1], "{cell}");
        }
        assert_eq!(written(&(0..128).collect::<Vec<_>>()), [9, 128, 29]);
    }

    #[test]
    fn borders_of_words_are_no_borders_of_ranges() {
        let found = |first, last| Cuda::found(&places(&[(3, 0, Some((first, last)))]), &[u32::MAX; 3])[2];
        for first in 0..96 {
            for last in first..96 {
                assert_eq!(found(first, last), u64::from(last - first + 1), "{first} {last}");
            }
        }
        assert_eq!(Cuda::found(&places(&[]), &[u32::MAX; 3]), [0, 96, 0]);
    }

    /// The oldest ones that this compiler knows; others have more instructions. Where there is no compiler, nothing is asked.
    #[test]
    fn kernels_of_logs_are_for_old_gpus_too() {
        let Ok(compiler) = nvrtc::get() else { return };
        let options =
            nvrtc::options("sm_75", Specialisation::none(LogMethod::None), crate::device::cuda::Given::All);
        let sources = [
            filled::source(),
            buffered::source(),
            seams::source(),
            check_source(),
            bitmap_check_source(),
            launches_check_source(),
        ];
        for source in sources {
            compiler.compile(&source, &options).unwrap_or_else(|said| panic!("{said}\n{source}"));
        }
    }
}
