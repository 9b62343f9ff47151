// The lanes of a warp, each a thread of the processor: what they tell each other when they set bits of a log, or count what they have
// written, is tested without a GPU; and which accesses may happen, and where loads go that must not. (driver.cpp runs one lane after the other, so there each of them is alone.)
//
// Usage: lanes [ROUNDS]. Each round has lanes, words and bits of its own; says what was wrong and exits with 1.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <limits.h>
#include <linux/futex.h>
#include <math.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

static unsigned warp; // the lanes that are there
static unsigned said[32];
static int operations, swaps, sums;
static std::mutex lock;
struct Meeting {
  int arrived, turns;
};
static std::map<unsigned, Meeting> meetings; // by the lanes that meet

struct Index {
  unsigned x, y, z;
};
static thread_local Index threadIdx;
static Index blockIdx, blockDim = {32, 1, 1};

// Returns when the number isn't, or is no longer, what it was.
static void await_change(int *number, int was)
{
  while (__atomic_load_n(number, __ATOMIC_ACQUIRE) == was)
    syscall(SYS_futex, number, FUTEX_WAIT_PRIVATE, was, nullptr, nullptr, 0);
}

static void wake(int *number)
{
  syscall(SYS_futex, number, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

static void count(int *number)
{
  __atomic_add_fetch(number, 1, __ATOMIC_RELEASE);
  wake(number);
}

// Lanes sleep until their own meeting is over, and need nothing of each other's to wake up: with a condition variable for all, which each of them has to
// leave with the lock, that took nearly all of this program's time.
static void meet(unsigned lanes)
{
  std::unique_lock<std::mutex> guard(lock);
  Meeting &own = meetings[lanes];
  if (++own.arrived == __builtin_popcount(lanes)) {
    own.arrived = 0;
    guard.unlock();
    count(&own.turns);
  } else {
    const int turn = own.turns;
    guard.unlock();
    await_change(&own.turns, turn);
  }
}

// What lanes say, in each of those that want to hear each other.
template <class Work> static unsigned hear(unsigned lanes, unsigned own, Work work)
{
  unsigned result = 0;
  if ((lanes & ~warp) != 0 || (lanes >> (threadIdx.x & 31) & 1) == 0) {
    fprintf(stderr, "a lane asks others than there are, or not itself\n");
    _Exit(1);
  }
  said[threadIdx.x & 31] = own;
  meet(lanes);
  for (int lane = 0; lane < 32; lane++)
    if (lanes >> lane & 1)
      result = work(result, lane, said[lane]);
  meet(lanes);
  return result;
}

#define __CUDACC_RTC__ 1
#define __CUDA_ARCH__ 900
#define __device__
#define __forceinline__ inline
static inline unsigned __activemask() { return warp; }
static unsigned __ballot_sync(unsigned lanes, bool holds)
{
  return hear(lanes, holds, [](unsigned r, int lane, unsigned v) { return r | (v << lane); });
}
static int __any_sync(unsigned lanes, bool holds) { return __ballot_sync(lanes, holds) != 0; }
static unsigned __shfl_sync(unsigned lanes, unsigned value, int from)
{
  return hear(lanes, value, [=](unsigned r, int lane, unsigned v) { return lane == from ? v : r; });
}
// What lanes would say that aren't there: a GPU may answer that, or anything else. Two questions come one after the other.
static unsigned unsaid[2][32];
static thread_local int downs;
static unsigned __shfl_down_sync(unsigned lanes, unsigned value, int distance)
{
  const int from = (int)(threadIdx.x & 31) + distance, question = downs++ % 2;
  const unsigned heard = hear(lanes, value, [=](unsigned r, int lane, unsigned v) { return lane == from ? v : r; });
  return from > 31 ? value : lanes >> from & 1 ? heard : unsaid[question][from];
}
static unsigned __match_any_sync(unsigned lanes, unsigned value)
{
  return hear(lanes, value, [=](unsigned r, int lane, unsigned v) { return v == value ? r | (1u << lane) : r; });
}
static unsigned __match_any_sync(unsigned lanes, unsigned long long value)
{
  return __match_any_sync(lanes, (unsigned)value) & __match_any_sync(lanes, (unsigned)(value >> 32));
}
static unsigned __match_all_sync(unsigned lanes, unsigned long long value, int *same)
{
  const unsigned low = __match_any_sync(lanes, (unsigned)value), high = __match_any_sync(lanes, (unsigned)(value >> 32));
  *same = (low & high) == lanes;
  return *same ? lanes : 0;
}
static unsigned __reduce_or_sync(unsigned lanes, unsigned value)
{
  return hear(lanes, value, [](unsigned r, int, unsigned v) { return r | v; });
}
static unsigned __reduce_add_sync(unsigned lanes, unsigned value)
{
  return hear(lanes, value, [](unsigned r, int, unsigned v) { return r + v; });
}
static unsigned __reduce_and_sync(unsigned lanes, unsigned value) { return ~__reduce_or_sync(lanes, ~value); }
static unsigned __reduce_xor_sync(unsigned lanes, unsigned value)
{
  return hear(lanes, value, [](unsigned r, int, unsigned v) { return r ^ v; });
}
static unsigned __reduce_max_sync(unsigned lanes, unsigned value)
{
  return hear(lanes, value, [](unsigned r, int, unsigned v) { return r > v ? r : v; });
}
static inline int __popc(unsigned value) { return __builtin_popcount(value); }
static inline int __ffs(unsigned value) { return __builtin_ffs((int)value); }
static inline int __clz(unsigned value) { return value == 0 ? 32 : __builtin_clz(value); }
static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
template <class T> static inline T __ldg(const T *p) { return *p; }
template <class T> static inline T atomicOr(T *p, T value)
{
  __atomic_fetch_add(&operations, 1, __ATOMIC_RELAXED);
  return __atomic_fetch_or(p, value, __ATOMIC_RELAXED);
}
template <class T> static inline T atomicAdd(T *p, T value)
{
  __atomic_fetch_add(&sums, 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&operations, 1, __ATOMIC_RELAXED);
  return __atomic_fetch_add(p, value, __ATOMIC_RELAXED);
}
template <class T> static inline T atomicMax(T *p, T value)
{
  T seen = __atomic_load_n(p, __ATOMIC_RELAXED);
  while (seen < value && !__atomic_compare_exchange_n(p, &seen, value, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    ;
  return seen;
}
template <class T> static inline T atomicMin(T *p, T value)
{
  T seen = __atomic_load_n(p, __ATOMIC_RELAXED);
  while (value < seen && !__atomic_compare_exchange_n(p, &seen, value, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    ;
  return seen;
}
template <class T> static inline T atomicAnd(T *p, T value) { return __atomic_fetch_and(p, value, __ATOMIC_RELAXED); }
template <class T> static inline T atomicXor(T *p, T value) { return __atomic_fetch_xor(p, value, __ATOMIC_RELAXED); }
template <class T, class Old> static inline T atomicCAS(T *p, Old old, T value)
{
  __atomic_fetch_add(&swaps, 1, __ATOMIC_RELAXED);
  T seen = (T)old;
  __atomic_compare_exchange_n(p, &seen, value, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return seen;
}

static inline size_t __cvta_generic_to_global(const void *p) { return (size_t)p; }
static inline void *__cvta_global_to_generic(size_t p) { return (void *)p; }

#define __PG_METHOD 4
#define __PG_LOG_SHIFT 2
#define __PG_BOUNDED 0ull
#define __PG_CONSTANT 0ull
#define __PG_INSIDE 0ull
#define __PG_FILLED 0ull
#define __PG_COVERED 0ull
#define __PG_ROWS 1
#define __PG_COLUMNS 1
#define __PG_SPREAD 1
#define __PG_KEPT 0ull
// Of two bases both are collected; the slots of the second one tell by their values whether they were updated.
#define __PG_UPDATED_ALONE 3ull
#define __PG_COLLECTS 3ull
#define __PG_COLLECTS_PART 0ull
#define __PG_COLLECTS_TELL 2ull
static unsigned shared_room[256];
#define __PG_ROOM_OF_SLOTS shared_room
struct __pg_tables;
#ifdef __PG_JOINED
#define __PG_SEAMS 2
#define __PG_ITERATIONS_OF_ROW 32
#endif
#include "../../runtime/include/paragon_rt.h"
#include "../../runtime/include/paragon_body.h"
static unsigned __pg_thread() { return threadIdx.x; }
static void __syncthreads() {}
#include "../../runtime/include/kernel/subscripts.h"
#include "../../runtime/include/kernel/collected.h"

static std::mt19937 generator(17);
static unsigned below(unsigned n) { return generator() % n; }

// What the lanes that are there are to do, in the run with a number; how many of them haven't done it. Each lane is one thread for the whole program: threads
// that live for one run took half of its time.
static std::function<void(unsigned)> work_of_all;
static int run_of_lane[32], left;

static void serve(unsigned lane)
{
  for (int run = 0;; run++) {
    await_change(&run_of_lane[lane], run);
    // Of a block whose warps are rows.
    threadIdx = {lane, 3, 0};
    work_of_all(lane);
    if (__atomic_sub_fetch(&left, 1, __ATOMIC_ACQ_REL) == 0)
      wake(&left);
  }
}

// All lanes that are there do the work.
static void run(const std::function<void(unsigned)> &work)
{
  static bool is_started;
  if (!is_started)
    for (unsigned lane = 0; lane < 32; lane++)
      std::thread(serve, lane).detach();
  is_started = true;
  operations = swaps = sums = 0;
  work_of_all = work;
  left = __builtin_popcount(warp);
  for (unsigned lane = 0; lane < 32; lane++)
    if (warp >> lane & 1)
      count(&run_of_lane[lane]);
  for (int seen; (seen = __atomic_load_n(&left, __ATOMIC_ACQUIRE)) != 0;)
    await_change(&left, seen);
}

static bool bits_are_set(int round)
{
  enum { WORDS = 64 };
  static unsigned log[WORDS], expected[WORDS];
  unsigned word[32], bits[32], first = below(24), step = 1 + below(4);
  int kind = round % 6, distinct = 0;
  for (int i = 0; i < WORDS; i++)
    log[i] = expected[i] = below(2) ? generator() & generator() & generator() : 0;
  for (unsigned lane = 0; lane < 32; lane++) {
    // One word, two at a border, scattered, in groups, few at random, or everywhere but with the first lane alone.
    unsigned cell = first * 32 + below(32);
    switch (kind) {
    case 0: cell = first * 32 + lane; break;
    case 1: cell = first * 32 + 7 + lane; break;
    case 2: cell = below(WORDS * 32); break;
    case 3: cell = first * 32 + lane * step; break;
    case 4: cell = below(3) * 32 + below(32); break;
    case 5: cell = lane == (unsigned)__builtin_ctz(warp) ? WORDS * 32 - 1 : below(2) * 32 + lane; break;
    }
    word[lane] = cell / 32;
    bits[lane] = 1u << cell % 32;
  }
  std::vector<unsigned> seen;
  for (int lane = 0; lane < 32; lane++)
    if (warp >> lane & 1) {
      expected[word[lane]] |= bits[lane];
      bool is_new = true;
      for (unsigned other : seen)
        is_new &= other != word[lane];
      if (is_new)
        seen.push_back(word[lane]);
    }
  distinct = (int)seen.size();
  run([&](unsigned lane) {
    if (round % 12 < 6)
      __pg_set_bits(log, 0, word[lane], bits[lane]);
    else
      __pg_set_read(log, word[lane], bits[lane]);
  });
  for (int i = 0; i < WORDS; i++)
    if (log[i] != expected[i]) {
      fprintf(stderr, "round %d, lanes %08x: word %d is %08x instead of %08x\n", round, warp, i, log[i], expected[i]);
      return false;
    }
  // Neighbours work together, and nobody works twice.
  int most = kind < 2 ? distinct : __builtin_popcount(warp);
  if (operations > most)
    fprintf(stderr, "round %d, lanes %08x: %d operations for %d words\n", round, warp, operations, distinct);
  return operations <= most;
}

// What lanes store to, in order from anywhere on, or not quite; of one array, whose log begins somewhere.
static bool stores_are_noted(int round)
{
  enum { WORDS = 64, FIRST = 3 };
  static unsigned log[WORDS], expected[WORDS];
  static unsigned flags[2];
  const unsigned first = below(24 * 32), width = round % 5 == 4 ? 8 : 4, odd = round % 3 == 0 ? below(32) : 32;
  // Near the others, or in another word.
  const unsigned elsewhere = below(2) ? first + odd + 1 : first + odd + 32 * (1 + below(20));
  __pg_launch launch = {};
  launch.wr = log;
  launch.flags = flags;
  __pg_view view = {};
  view.lo = 0x10000 + 64 * below(9) + 4 * (width == 4) * below(16);
  view.size = 1 << 20;
  view.log = 32 * FIRST;
  for (int i = 0; i < WORDS; i++)
    log[i] = expected[i] = 0;
  __pg_u64 address[32];
  unsigned words = 0;
  // Another member of the element, stored to next: for all lanes in the same word, or for all in another one, so that they set bits together.
#ifdef __PG_GATHERS
  const unsigned next = 4 * 32 * below(3);
#else
  const unsigned next = 0;
#endif
  for (unsigned lane = 0; lane < 32; lane++) {
    const unsigned at = lane == odd ? elsewhere : first + lane;
    address[lane] = view.lo + (__pg_u64)width * (width == 8 ? at / 2 : at);
    const unsigned cell = view.log + (unsigned)(address[lane] - (view.lo & ~(__pg_u64)63)) / 4;
    if (warp >> lane & 1) {
      words += expected[cell / 32] == 0;
      expected[cell / 32] |= (width == 8 ? 3u : 1u) << cell % 32;
      expected[(cell + next / 4) / 32] |= 1u << (cell + next / 4) % 32;
    }
  }
  run([&](unsigned lane) {
    __pg_ctx c = {};
    c.launch = &launch;
    __PG_NOTE_NOTHING(c)
    __pg_log_write(&c, &view, 0, address[lane], width);
    if (next != 0)
      __pg_log_write(&c, &view, 0, address[lane] + next, 4);
    if (c.writes != width / 4 + (next != 0))
      _Exit(2);
    // What is still to be set.
    c.writes = 0;
    __pg_end_thread(&c);
  });
  for (int i = 0; i < WORDS; i++)
    if (log[i] != expected[i]) {
      fprintf(stderr, "round %d, lanes %08x: stores: word %d is %08x instead of %08x\n", round, warp, i, log[i], expected[i]);
      return false;
    }
#ifdef __PG_GATHERS
  // A first lane that is alone with its word takes all others for alone.
  const bool are_all = (view.log + (address[0] - (view.lo & ~(__pg_u64)63)) / 4) % 32 != 31;
#else
  const bool are_all = true;
#endif
  const bool is_run = warp == ~0u && odd == 32 && are_all && width == 4 && next == 0;
  if (is_run && operations > (int)words)
    fprintf(stderr, "round %d: %d operations for a run in %u words\n", round, operations, words);
  return !is_run || operations <= (int)words;
}

#ifdef __PG_JOINED
// Which lanes leave their store to the next one, or put it away, and what stands in the seams then: of few places, of two widths, of lanes that have a row's iterations in
// their order, or any, and may have loaded from there.
static bool stores_are_left(int round)
{
  enum { ROWS = 3, WORDS = 8, SEAM = 4, IN_FRONT = SEAM * __PG_SEAMS * ROWS };
  alignas(8) static unsigned memory[IN_FRONT + WORDS], expected[IN_FRONT + WORDS];
  __pg_launch launch = {};
  launch.wr = memory + IN_FRONT;
  __pg_view view = {};
  view.lo = 0x10000;
  view.size = 1 << 12;
  view.log = 32;
  __pg_u64 address[32], value[32];
  unsigned width[32], iteration[32], number[32], key[32], counted[32];
  bool passes[32], leaves[32], is_left[32];
  const bool is_row = below(2), is_one_width = below(2), are_numbers = below(3) == 0;
  const unsigned row = below(ROWS), first = below(4) * 8;
  for (unsigned lane = 0; lane < 32; lane++) {
    address[lane] = view.lo + first + 8 * (is_row && round % 3 ? lane / 3 : below(3));
    width[lane] = is_one_width || below(3) ? 4 : 8;
    iteration[lane] = is_row ? 32 * row + lane : below(32 * ROWS);
    number[lane] = are_numbers ? below(__PG_SEAMS + 1) : 0;
    value[lane] = (__pg_u64)generator() << 32 | generator();
    passes[lane] = below(6) == 0;
    key[lane] = (unsigned)(view.log + (address[lane] - view.lo) / 4) << 4 | width[lane];
    unsaid[0][lane] = passes[lane] ? ~0u : key[lane];
    unsaid[1][lane] = iteration[lane] + 1;
  }
  for (unsigned &word : memory)
    word = 0;
  run([&](unsigned lane) {
    __pg_ctx c = {};
    c.launch = &launch;
    __PG_NOTE_NOTHING(c)
    c.iteration = iteration[lane] + 1;
    c.stored = number[lane];
    if (passes[lane])
      c.noted = __pg_bits_of(&launch, &view, address[lane], width[lane], &c.noted_word);
    downs = 0;
    is_left[lane] = __pg_leaves_store(&c, &view, address[lane], width[lane], value[lane]);
    counted[lane] = (unsigned)c.writes;
  });
  const unsigned low = (unsigned)__builtin_ctz(warp), high = 31 - (unsigned)__builtin_clz(warp);
  for (unsigned &word : expected)
    word = 0;
  const auto seam = [&](unsigned lane, unsigned of_row) { return &expected[IN_FRONT - SEAM * (__PG_SEAMS * of_row + number[lane] + 1)]; };
  const auto has_seam = [&](unsigned lane) { return !passes[lane] && number[lane] < __PG_SEAMS; };
  if (has_seam(low) && iteration[low] >= 32)
    seam(low, iteration[low] / 32 - 1)[1] = key[low];
  if (has_seam(high)) {
    unsigned *const words = seam(high, iteration[high] / 32);
    words[0] = key[high];
    words[2] = (unsigned)value[high];
    words[3] = (unsigned)(value[high] >> 32);
  }
  for (unsigned lane = 0; lane < 32; lane++) {
    if (!(warp >> lane & 1))
      continue;
    const bool is_there = lane < 31 && (warp >> (lane + 1) & 1), is_away = lane == high && has_seam(lane);
    leaves[lane] = is_there && !passes[lane] && !passes[lane + 1] && key[lane] == key[lane + 1] && iteration[lane] < iteration[lane + 1];
    if (is_left[lane] != (leaves[lane] || is_away) || counted[lane] != (is_away ? width[lane] / 4 : 0)) {
      fprintf(stderr, "round %d, lanes %08x: lane %u %s, and counts %u\n", round, warp, lane, is_left[lane] ? "leaves its store" : "stores", counted[lane]);
      return false;
    }
  }
  const bool is_right = memcmp(memory, expected, sizeof memory) == 0;
  if (!is_right)
    fprintf(stderr, "round %d, lanes %08x: something else is in the seams\n", round, warp);
  return is_right;
}
#else
static bool stores_are_left(int) { return true; }
#endif

#ifdef __PG_RANGES
// What all lanes load, and other warps before them: the first cell and the one behind the last. Some load nothing.
static bool loads_are_noted(int round)
{
  enum { LOADS = 3 };
  static __pg_u64 totals[PG_TOTALS * PG_TOTALS_APART];
  unsigned *const range = (unsigned *)&totals[__PG_PLACE_OF_TOTAL * PG_TOTALS_APART + 1];
  __pg_launch launch = {};
  launch.total = totals;
  __pg_view view = {};
  view.lo = 0x10000 + 4 * below(16);
  view.size = 1 << 20;
  view.log = 32;
  unsigned least = below(2) ? ~0u : below(1 << 12), most = least == ~0u ? 0 : least + 1 + below(1 << 12);
  range[0] = ~least;
  range[1] = most;
  __pg_u64 address[LOADS][32];
  const unsigned idle = below(3) ? 0 : generator() & generator();
  for (auto &of_load : address)
    for (unsigned lane = 0; lane < 32; lane++) {
      const unsigned width = lane % 2 ? 8 : 4;
      of_load[lane] = (view.lo & ~(__pg_u64)7) + 8 + width * below(1 << 12);
      const unsigned cell = view.log + (unsigned)(of_load[lane] - (view.lo & ~(__pg_u64)63)) / 4;
      if ((warp & ~idle) >> lane & 1) {
        least = cell < least ? cell : least;
        most = cell + width / 4 > most ? cell + width / 4 : most;
      }
    }
  run([&](unsigned lane) {
    __pg_ctx c = {};
    c.launch = &launch;
    __PG_NOTE_NOTHING(c)
    for (auto &of_load : address)
      if (!(idle >> lane & 1))
        __pg_note_read(&c, &view, 0, of_load[lane], lane % 2 ? 8 : 4);
    __pg_end_thread(&c);
  });
  const bool is_right = range[0] == ~least && range[1] == most;
  if (!is_right)
    fprintf(stderr, "round %d, lanes %08x: loads from %u to %u instead of %u to %u\n", round, warp, ~range[0], range[1], least, most);
  return is_right;
}
// Which places subscripts of 32 bits lead to, from pointers in arrays, in front of them, behind them and far from them, and which cells those are.
static bool subscripts_are_places(int round)
{
  const __pg_i64 most = (__pg_i64)1 << 31;
  __pg_launch launch = {};
  __pg_ctx c = {};
  c.launch = &launch;
  __pg_view view = {};
  view.lo = ((__pg_u64)1 << 40) + below(80);
  view.size = below(3) ? below(1 << 12) : ((__pg_u64)1 << (32 + below(3))) - 16 + below(32);
  view.log = 32 * below(9);
  const __pg_i64 places = view.size / 4, step = 1 + below(3);
  const __pg_i64 from[] = {0, places, -1 - (__pg_i64)below(9), places + below(9), (__pg_i64)below(1 << 12), most, places - most, -most, 2 * most,
                           places + most, (__pg_i64)1 << 61, -((__pg_i64)1 << 61), (__pg_i64)generator() << 20};
  const __pg_i64 at = from[below(sizeof from / sizeof *from)] + (__pg_i64)below(5) - 2;
  const __pg_u64 pointer = ((view.lo + 3) & ~(__pg_u64)3) + 4 * (__pg_u64)at + (below(8) == 0 ? step : 0);
  __pg_near_pointer near(c, view, pointer);
  const __pg_i64 indices[] = {-at, places - at, 0, -most, most - 1, (int)generator(), (__pg_i64)below(1 << 12) - at};
  for (__pg_i64 index : indices)
    for (int beside = -3; beside <= 3; beside++) {
      const int subscript = (int)(__pg_u32)(__pg_u64)(index + beside);
      const __pg_u32 number = (__pg_u32)subscript + near.further;
      const __pg_u64 address = pointer + (__pg_u64)(__pg_i64)subscript * 4;
      const bool is_there = __pg_is_there(&c, &view, 0, address, 4);
      // So many that the last one has no number.
      const bool may_lack = near.count == ~0u && number == ~0u;
      if (!may_lack && (number < near.count) != is_there) {
        fprintf(stderr, "round %d: place %lld of %lld is taken for one that is %s\n", round, (long long)at + subscript, (long long)places,
                is_there ? "not there" : "there");
        return false;
      }
      if (is_there && near.first_cell + number != (__pg_u32)__pg_bit_of(&launch, &view, address)) {
        fprintf(stderr, "round %d: place %lld of %lld has another cell\n", round, (long long)at + subscript, (long long)places);
        return false;
      }
    }
  return true;
}
#else
static bool subscripts_are_places(int) { return true; }
// What a lane loads, some of them of words that have bits already; one of those is full. It is alone:
// who has something to set depends on what each has found, which these lanes can't ask.
static bool loads_are_noted(int round)
{
  const unsigned whole = warp;
  warp = 1u << below(32);
  enum { WORDS = 64, LOADS = 7 };
  static unsigned log[WORDS], expected[WORDS];
  const bool is_hot = round % 3 == 0;
  __pg_launch launch = {};
  launch.rd = log;
  __pg_view view = {};
  view.lo = 0x10000 + 4 * below(16);
  view.size = 4 * 32 * (WORDS - 3);
  view.log = 32;
  for (int i = 0; i < WORDS; i++)
    log[i] = expected[i] = i == 7 ? ~0u : below(3) == 0 ? generator() & generator() : 0;
  static __pg_u64 address[LOADS][32];
  for (auto &of_load : address)
    for (unsigned lane = 0; lane < 32; lane++) {
      of_load[lane] = view.lo + (is_hot ? 4 * (224 + below(16)) : 8 * below(32 * (WORDS - 3) / 2));
      // Beyond the end, in front of the beginning, or not aligned: then there is no load.
      if (below(9) == 0) {
        of_load[lane] = below(2) ? view.lo + view.size + ((__pg_u64)below(~0u) << below(30)) : view.lo - 4 + below(2) * 6;
        continue;
      }
      const unsigned cell = view.log + (unsigned)(of_load[lane] - (view.lo & ~(__pg_u64)63)) / 4;
      if (warp >> lane & 1)
        expected[cell / 32] |= 1u << cell % 32;
    }
  run([&](unsigned lane) {
    __pg_ctx c = {};
    c.launch = &launch;
    __PG_NOTE_NOTHING(c)
    for (auto &of_load : address)
      __pg_note_read(&c, &view, 0, of_load[lane], 4);
    __pg_end_thread(&c);
  });
  warp = whole;
  for (int i = 0; i < WORDS; i++)
    if (log[i] != expected[i]) {
      fprintf(stderr, "round %d: loads: word %d is %08x instead of %08x\n", round, i, log[i], expected[i]);
      return false;
    }
  return true;
}
#endif

static bool writes_are_counted(int round)
{
  static __pg_u64 totals[PG_TOTALS * PG_TOTALS_APART];
  static unsigned flags[2];
  __pg_u64 writes[32], sum = 0, found = 0;
  __pg_launch launch = {};
  launch.total = totals;
  launch.flags = flags;
  blockIdx = {below(1000), below(1000), below(3)};
  for (unsigned lane = 0; lane < 32; lane++) {
    writes[lane] = 1 + below(1000) + (round % 3 == 0 && below(4) == 0 ? (__pg_u64)below(1u << 30) << below(8) : 0);
    sum += warp >> lane & 1 ? writes[lane] : 0;
  }
  for (__pg_u64 &total : totals)
    total = 0;
  run([&](unsigned lane) {
    __pg_ctx c = {};
    c.launch = &launch;
    __PG_NOTE_NOTHING(c)
    c.writes = writes[lane];
    __pg_end_thread(&c);
  });
  for (int place = 0; place < PG_TOTALS; place++)
    found += totals[place * PG_TOTALS_APART];
  if (found != sum)
    fprintf(stderr, "round %d, lanes %08x: %llu writes instead of %llu\n", round, warp, found, sum);
  return found == sum;
}

// What lanes come to is combined at one place, where all of them and those of all other warps meet: so nobody may have to try again there.
static bool results_are_combined(int round)
{
  static const int operators[] = {PG_ADD, PG_MUL, PG_AND, PG_OR, PG_XOR, PG_MIN, PG_MAX};
  static const int types[] = {PG_I8, PG_U8, PG_I16, PG_U16, PG_I32, PG_U32, PG_I64, PG_U64};
  static __pg_value slot;
  const int op = operators[round % 7], type = types[round / 7 % 8];
  const bool is_signed = type == PG_I8 || type == PG_I16 || type == PG_I32 || type == PG_I64;
  const auto number = [=](__pg_u64 bits) { return __pg_extend(bits, type); };
  __pg_u64 parts[32], expected = number((__pg_u64)generator() << 32 | generator());
  slot.__pg_u = expected;
  for (unsigned lane = 0; lane < 32; lane++) {
    const __pg_u64 part = parts[lane] = number((__pg_u64)generator() << 32 | generator() | (op == PG_MUL));
    if (!(warp >> lane & 1))
      continue;
    const bool is_less = is_signed ? (__pg_i64)part < (__pg_i64)expected : part < expected;
    switch (op) {
    case PG_MIN: expected = is_less ? part : expected; break;
    case PG_MAX: expected = is_less ? expected : part; break;
    default: expected = number(__pg_operate(op, expected, part));
    }
  }
  run([&](unsigned lane) { __pg_combine(&slot, op, type, parts[lane]); });
  const bool is_right = number(slot.__pg_u) == expected;
  const int most = op != PG_MUL ? 0 : warp == ~0u ? 1 : 1024;
  if (!is_right || swaps > most)
    fprintf(stderr, "round %d, lanes %08x: operation %d of type %d: %llx instead of %llx, %d swaps\n", round, warp, op, type,
            (unsigned long long)number(slot.__pg_u), (unsigned long long)expected, swaps);
  return is_right && swaps <= most;
}

// Updates of one place, or of neighbours in one word, which nobody has to try again where there is an operation for it that touches nothing else. Where
// other things may be done to neighbours, none of the operations may touch them.
static bool updates_are_made(int round)
{
  static const int operators[] = {PG_ADD, PG_MUL, PG_AND, PG_OR, PG_XOR};
  alignas(8) static unsigned char memory[8];
  unsigned char expected[8];
  const int op = operators[round % 5];
  const unsigned width = 1u << round / 5 % 4;
  const int alone = round / 20 % 2;
  for (unsigned i = 0; i < sizeof memory; i++)
    memory[i] = expected[i] = (unsigned char)generator();
  __pg_u64 operands[32], places[32];
  for (unsigned lane = 0; lane < 32; lane++) {
    operands[lane] = (__pg_u64)generator() << 32 | generator();
    places[lane] = width * below(8 / width);
    if (!(warp >> lane & 1))
      continue;
    __pg_u64 value = 0;
    memcpy(&value, expected + places[lane], width);
    value = __pg_operate(op, value, operands[lane]);
    memcpy(expected + places[lane], &value, width);
  }
  run([&](unsigned lane) { __pg_update_in_one_piece((char *)memory + places[lane], width, op, operands[lane], alone); });
  const bool is_add_beside = op == PG_ADD && width < 4 && !alone, may_swap = op == PG_MUL || is_add_beside;
  const bool is_right = memcmp(memory, expected, sizeof memory) == 0 && (may_swap || swaps == 0) && (!is_add_beside || sums == 0);
  if (!is_right)
    fprintf(stderr, "round %d, lanes %08x: update %d of %u bytes, %d swaps\n", round, warp, op, width, swaps);
  return is_right;
}

// Updates that two blocks collect, one after the other, of an array that begins anywhere: what it comes to, which bits are set, and how many are counted.
struct Tables {
  __pg_location locations[2];
  __pg_u64 sizes[2], logs[2];
  __pg_copies copies[2];
  __pg_collection slots[2];
};
template <int Op, class T, int Base> static bool updates_are_collected(int round)
{
  enum { CELLS = 64 };
  alignas(128) static unsigned char memory[1024];
  static unsigned char expected[1024];
  static unsigned log[2 * CELLS], bits[2 * CELLS], flags[2];
  const unsigned all = warp, elements = 1 + below(40), first = below(4), shift = below(4);
  __pg_launch launch = {};
  launch.wr = log;
  launch.flags = flags;
  Tables tables = {};
  __pg_view view = {};
  view.lo = ((__pg_u64)1 << 20) + first * sizeof(T);
  view.size = elements * sizeof(T);
  view.dev = (char *)memory + 128 + shift * sizeof(T);
  view.log = 32;
  tables.locations[Base] = {view.lo, view.dev};
  tables.sizes[Base] = view.size;
  tables.logs[Base] = view.log;
  tables.copies[Base] = {view.snapshot, view.before};
  tables.slots[Base] = {below(3), (__pg_u32)view.size, 1, 0};
  for (unsigned i = 0; i < sizeof memory; i++)
    memory[i] = expected[i] = (unsigned char)generator();
  memset(log, 0, sizeof log);
  memset(bits, 0, sizeof bits);
  __pg_u64 writes = 0;
  __pg_ctx contexts[32] = {};
  for (__pg_ctx &c : contexts)
    c.launch = &launch;
  for (int block = 0; block < 2; block++) {
    for (unsigned &word : shared_room)
      word = generator();
    warp = 1;
    blockDim.x = 1;
    run([&](unsigned) { __pg_begin_collecting<Op, T, Base>(&tables); });
    warp = all;
    for (int time = 0; time < 6; time++) {
      __pg_u64 operands[32], places[32];
      const bool is_flat = below(3) == 0, is_idle = below(2) == 0;
      for (unsigned lane = 0; lane < 32; lane++) {
        // Small ones where slots tell; otherwise some that change nothing, and some that are taken back by the next lane's.
        operands[lane] = Base == 1 ? 1 + below(9) : is_idle ? Op == PG_MUL ? 1 : Op == PG_AND ? ~(__pg_u64)0 : 0
                         : lane % 2 == 1 && (Op == PG_ADD || Op == PG_XOR) ? Op == PG_ADD ? 0 - operands[lane - 1] : operands[lane - 1]
                                                                           : (__pg_u64)generator() << 32 | generator();
        places[lane] = lane % 2 == 1 ? places[lane - 1] : is_flat && lane > 0 ? places[0] : below(elements);
        if (!(all >> lane & 1))
          continue;
        const __pg_u64 at = places[lane] * sizeof(T);
        T value;
        memcpy(&value, expected + 128 + shift * sizeof(T) + at, sizeof(T));
        value = (T)__pg_operate(Op, value, operands[lane]);
        memcpy(expected + 128 + shift * sizeof(T) + at, &value, sizeof(T));
        for (unsigned cell = 0; cell < (sizeof(T) == 8 ? 2 : 1); cell++) {
          const unsigned number = 32 + (unsigned)(first * sizeof(T) + at) / 4 + cell;
          writes += !(bits[number / 32] >> number % 32 & 1);
          bits[number / 32] |= 1u << number % 32;
        }
      }
      run([&](unsigned lane) {
        __pg_collect<Op, T, Base>(contexts[lane], view, &tables, view.lo + places[lane] * sizeof(T), operands[lane]);
      });
    }
    warp = 1;
    run([&](unsigned) { __pg_hand_over<Op, T, Base>(&tables, contexts[0]); });
    warp = all;
    blockDim.x = 32;
  }
  __pg_u64 counted = 0;
  __pg_u32 failed = flags[0];
  for (const __pg_ctx &c : contexts) {
    counted += c.writes;
    failed |= c.fail;
  }
  const bool is_right = memcmp(memory, expected, sizeof memory) == 0 && memcmp(log, bits, sizeof log) == 0 && counted == writes && failed == 0;
  if (!is_right)
    fprintf(stderr, "round %d, lanes %08x: collected updates %d of %zu bytes, %u elements from %u on, base %d: %llu counted instead of %llu, %u\n", round, warp,
            Op, sizeof(T), elements, first, Base, (unsigned long long)counted, (unsigned long long)writes, failed);
  return is_right;
}
static bool all_updates_are_collected(int round)
{
  switch (round % 13) {
  case 0: return updates_are_collected<PG_ADD, __pg_u8, 0>(round);
  case 1: return updates_are_collected<PG_ADD, __pg_u16, 0>(round);
  case 2: return updates_are_collected<PG_ADD, __pg_u32, 0>(round);
  case 3: return updates_are_collected<PG_ADD, __pg_u64, 0>(round);
  case 4: return updates_are_collected<PG_ADD, __pg_u8, 1>(round);
  case 5: return updates_are_collected<PG_ADD, __pg_u64, 1>(round);
  case 6: return updates_are_collected<PG_XOR, __pg_u64, 0>(round);
  case 7: return updates_are_collected<PG_AND, __pg_u64, 0>(round);
  case 8: return updates_are_collected<PG_OR, __pg_u16, 0>(round);
  case 9: return updates_are_collected<PG_AND, __pg_u8, 0>(round);
  case 10: return updates_are_collected<PG_MUL, __pg_u16, 0>(round);
  case 11: return updates_are_collected<PG_MUL, __pg_u32, 0>(round);
  default: return updates_are_collected<PG_XOR, __pg_u8, 0>(round);
  }
}

// Where a load that takes no branch is made: in its place, or, where it must not happen, somewhere in the array's own memory, and then it is told.
// Arrays lie on a device as cmt::allocate lays them.
static bool loads_stay_inside(int round)
{
  alignas(128) static char memory[4096 + 64];
  const __pg_u64 lo = ((__pg_u64)1 << 20) + below(64), size = round % 5 == 0 ? below(16) : 1 + below(4000);
  struct __pg_view view = {};
  view.lo = lo;
  view.size = size;
  view.dev = memory + lo % 8;
  for (int time = 0; time < 400; time++) {
    const __pg_u32 width = 1u << below(4);
    const __pg_u64 edge = time % 2 == 0 ? lo : lo + size;
    const __pg_u64 address = time % 8 == 0 ? (__pg_u64)below(~0u) << below(33) : edge + below(40) - 20;
    struct __pg_ctx c = {};
    const char *place = __pg_place_of(&c, &view, view.dev, 0, address, width);
    const bool may = address >= lo && size >= width && address - lo <= size - width && address % width == 0;
    const bool is_there = place >= memory && place + width <= memory + size + 64 && (__pg_u64)place % width == 0;
    if (!is_there || may != (c.fail == 0) || (may && place != view.dev + (address - lo))) {
      fprintf(stderr, "round %d: %u bytes at %lld of %llu: %lld, failure %u\n", round, width, (long long)(address - lo),
              (unsigned long long)size, (long long)(place - view.dev), c.fail);
      return false;
    }
  }
  return true;
}

// Which accesses may happen, and which failure is told; of what iterations have for themselves, too, whose accesses are checked as they are made.
static bool accesses_are_checked(int round)
{
  struct __pg_view view = {};
  view.lo = ((__pg_u64)1 << 20) + 64 * below(3);
  view.size = round % 7 == 0 ? 0 : 8 + below(200);
  for (int time = 0; time < 400; time++) {
    const __pg_u32 width = 1u << below(4);
    const __pg_u64 address = (time % 2 == 0 ? view.lo : view.lo + view.size) + below(40) - 20;
    const bool is_inside = address >= view.lo && view.size >= width && address - view.lo <= view.size - width;
    const bool is_aligned = address % width == 0, may = is_inside && is_aligned;
    const __pg_u32 told = may ? 0 : view.size == 0 ? PG_FAIL_NO_ARRAY : !is_inside ? PG_FAIL_RANGE : PG_FAIL_MISALIGNED;
    struct __pg_ctx c = {};
    if (__pg_may_access(&c, &view, 0, address, width) != may || c.fail != told) {
      fprintf(stderr, "round %d: %u bytes at %lld of %llu: failure %u\n", round, width, (long long)(address - view.lo),
              (unsigned long long)view.size, c.fail);
      return false;
    }
    // What an earlier run has seen to lie inside happens unless the iteration has left a loop.
    for (int left = 0; left < 2; left++) {
      c.left = left;
      c.fail = 0;
      if (__pg_may_access(&c, &view, __PG_IS_INSIDE, address, width) != !left || c.fail != 0)
        return false;
    }
  }
  enum { WORDS = 5 };
  static __pg_u64 own[WORDS + 2];
  for (__pg_u64 at = 0; at < 8 * WORDS + 9; at++) {
    struct __pg_ctx c = {};
    for (__pg_u64 &word : own)
      word = 0x1111111111111111ull;
    __pg_own_st_u32(&c, own, 8 * WORDS, at, 0x22222222u);
    const bool may = at <= 8 * WORDS - 4;
    if ((c.fail == 0) != may || own[WORDS] != 0x1111111111111111ull) {
      fprintf(stderr, "own: a store at %llu of %d\n", (unsigned long long)at, 8 * WORDS);
      return false;
    }
    c.fail = 0;
    (void)__pg_own_ld_u32(&c, own, 8 * WORDS, at);
    if ((c.fail == 0) != may) {
      fprintf(stderr, "own: a load at %llu of %d\n", (unsigned long long)at, 8 * WORDS);
      return false;
    }
  }
  return true;
}

int main(int argc, char **argv)
{
  int rounds = argc > 1 ? atoi(argv[1]) : 600;
  for (int round = 0; round < rounds; round++) {
    // All of them, one, or some.
    warp = round % 4 == 0 ? ~0u : round % 4 == 1 ? 1u << below(32) : generator() | 1u << below(32);
    if (!bits_are_set(round) || !stores_are_noted(round) || !stores_are_left(round) || !loads_are_noted(round) || !subscripts_are_places(round) || !writes_are_counted(round) || !loads_stay_inside(round) ||
        !accesses_are_checked(round) || !results_are_combined(round) || !updates_are_made(round) || !all_updates_are_collected(round))
      return 1;
  }
  printf("%d rounds: all bits set, all writes counted, all loads inside\n", rounds);
  return 0;
}
