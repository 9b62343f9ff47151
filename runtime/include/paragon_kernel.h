/* What kernels have besides paragon_body.h: several iterations in one thread, and inner loops whose loads are under way together.
 * CUDA C++; the threads device does without.
 *
 * A thread runs a group of __pg_rows by __pg_columns iterations together, statement by statement, where the text allows it
 * (codegen::group): what they all load is loaded once, and more loads are under way. Its variables are members of arrays then; a
 * statement names one iteration's by reference.
 *
 * A walk is how an access of an inner loop moves through memory: pointers that are made before the loop and moved by strides,
 * instead of addresses that are made of subscripts at each turn. It stands for accesses that are affine and shown to stay in their
 * array (__PG_HOW), whose addresses are therefore what the strides say. Turns are run some at once, all their loads first
 * (T. C. Mowry: Tolerating Latency Through Software-Controlled Data Prefetching. Stanford University, 1994). */
#ifndef PARAGON_KERNEL_H
#define PARAGON_KERNEL_H

/* What a kernel is compiled for, besides what paragon_body.h says:
 *   __PG_ROWS, __PG_COLUMNS  iterations of a group, along y and x of a tile; in a line there are columns only
 *   __PG_WIDTH               iterations along x from a column to the next
 *   __PG_BLOCK               most threads of a block
 *   __PG_RESIDENT            so many blocks are to fit into a processor; without it, as many as the compiler thinks best
 *   __PG_KEPT                bases whose array nothing stores to, a bit for each of the first 64
 *   __PG_REPEATS             inner loops store to one place again and again
 *   __PG_DEEP                few threads: each is to have as many loads under way as it can
 *   __PG_SPREAD              threads, side by side, that an iteration has */
#ifdef __PG_RESIDENT
#define __PG_BOUNDS __launch_bounds__(__PG_BLOCK, __PG_RESIDENT)
#else
#define __PG_BOUNDS __launch_bounds__(__PG_BLOCK)
#endif
template <int Rows, int Columns, bool IsEdge = false> struct __pg_shape {
  static constexpr int rows = Rows, columns = Columns;
  static constexpr bool is_edge = IsEdge;
};

/* The dimensions that rows and columns go along. */
#ifdef __PG_TILE_X
#define __PG_ALONG_X __PG_TILE_X
#define __PG_ALONG_Y __PG_TILE_Y
#else
#define __PG_ALONG_X 0
#define __PG_ALONG_Y PG_MAX_DIMS
#endif
#define __PG_OF_GROUP(dim, first)                                                                                      \
  ((first) + ((dim) == __PG_ALONG_X ? __pg_x * __PG_WIDTH : (dim) == __PG_ALONG_Y ? __pg_y : 0))

/* A launch's time is counted from here on: much may have to be made ready in front of it. */
#define __PG_SAY_BEGUN                                                                                                 \
  if ((blockIdx.x | blockIdx.y | blockIdx.z | threadIdx.x | threadIdx.y) == 0)                                         \
    *__pg_l.begun = 1;

/* Where a thread of a line begins, before which place its launch ends, and how far apart the thread's own places are. */
#define __PG_STEP (gridDim.x * ((__pg_count)blockDim.x * __PG_COLUMNS) / __PG_SPREAD)
#define __PG_FIRST                                                                                                     \
  ((__pg_count)__pg_l.first + (blockIdx.x * ((__pg_count)blockDim.x * __PG_COLUMNS) + threadIdx.x) / __PG_SPREAD)
/* Of several lanes that run an iteration one leads. The others help with what lanes lend each other: what they store themselves, and
 * what they find wrong, counts for nothing, since they may load what the one that leads has stored already. */
#define __PG_LEAD if ((__pg_number == __pg_side_by_side || __PG_LEADS) && __PG_IS_THERE)
/* Turns that are run at once have their number among those. Others: turns that are taken alone, and text outside of turns; turns that use
 * what was lent; turns that lanes take side by side, whosever they are; the same where what they store is held. */
constexpr int __pg_number = -1, __pg_with_lent = -2, __pg_side_by_side = -3, __pg_side_by_side_held = -4;
/* Whether the text stands for the thread's own iterations: their origins and walks are nobody else's, whose turn lanes take side by side. */
#define __PG_IS_OWN_TURN (__pg_number > __pg_side_by_side)
#define __PG_END ((__pg_count)__pg_l.end)

/* Whether a group has all its iterations, by how many there are from its first one on along a dimension. */
#define __PG_HAS_ALL(dim, left)                                                                                        \
  (__PG_ROWS * __PG_COLUMNS == 1 ||                                                                                    \
   ((dim) == __PG_ALONG_X ? (left) > (__PG_COLUMNS - 1) * __PG_WIDTH : (dim) == __PG_ALONG_Y ? (left) > __PG_ROWS - 1 : 1))
/* Affine accesses that are found from an origin: a pointer to the place of one of them in the group's first iteration. It stands for
 * accesses whose addresses are what their strides say, as walks do; `rest`: how far from it. Not where iterations share operands of inner loops,
 * whose kernels have no registers left. */
#ifdef __PG_RESIDENT
#define __PG_HAS_ORIGIN(base) 0
#else
#define __PG_HAS_ORIGIN(base) ((__PG_HOW(base) & __PG_IS_BOUNDED) != 0)
#endif
#define __PG_ORIGIN(name, base, memory, first) const char *const name = __pg_b##base.memory + ((first) - __pg_b##base.lo);
#define __PG_LDO(how, t, base, logged, name, rest, address)                                                            \
  (__PG_IS_OWN_TURN && __PG_HAS_ORIGIN(base) && (__PG_METHOD < PG_LOG_ATOMIC || (__PG_HOW(base) & __PG_IS_CONSTANT))   \
     ? (__pg_##t)__PG_LOAD(__pg_##t, (name) + (rest), __PG_HOW(base))                                                  \
     : how(t, base, logged, address))
#define __PG_STO(t, base, name, rest, address, value)                                                                  \
  {                                                                                                                    \
    if (__PG_IS_OWN_TURN && __PG_HAS_ORIGIN(base) && __PG_METHOD == PG_LOG_NONE) {                                     \
      __PG_LEAD __pg_set_##t##_at(&__pg_c, const_cast<char *>((name) + (rest)), value);                                \
    } else {                                                                                                           \
      __PG_ST(t, base, address, value);                                                                                \
    }                                                                                                                  \
  }
/* A store that a bitmap notes ahead of what computes the value: who is noted doesn't matter there, only how often, and nobody waits for the
 * bits then. */
#define __PG_IS_NOTED_AHEAD(base) (__PG_HAS_ORIGIN(base) && __PG_METHOD == PG_LOG_BITMAP)
#define __PG_NOTE(t, base, name, rest)                                                                                 \
  if (__PG_IS_NOTED_AHEAD(base)) {                                                                                     \
    __PG_LEAD __pg_log_write(&__pg_c, &__pg_b##base, __PG_HOW(base),                                                   \
                             __pg_b##base.lo + (__pg_u64)((name) + (rest) - __pg_b##base.dev), sizeof(__pg_##t));      \
  }
#define __PG_STN(t, base, name, rest, address, value)                                                                  \
  {                                                                                                                    \
    if (__PG_IS_NOTED_AHEAD(base)) {                                                                                   \
      __PG_LEAD __pg_set_##t##_at(&__pg_c, const_cast<char *>((name) + (rest)), value);                                \
    } else {                                                                                                           \
      __PG_STO(t, base, name, rest, address, value);                                                                   \
    }                                                                                                                  \
  }
/* Those of a group that hasn't, one by one: to have the compiler repeat their text would only make kernels longer. */
#define __PG_NOT_UNROLLED _Pragma("unroll 1")

/* Where iterations end in the middle of a block, groups with inner loops in common are whole all the same: members beyond the end do what
 * the last ones before it do, but store nothing, and what they find wrong counts for nothing. So all threads of a block run such loops
 * together, and none runs its members one by one. Such a block is run in parts, of groups of half as many rows and columns, as far as there
 * is something to do in them: `__pg_part` is where a part begins. Rows and columns of a part's last iterations: */
struct __pg_corner {
  __pg_count row, column;
};
template <bool IsEdge> struct __pg_last {
  int row = 0, column = 0;
  __device__ __forceinline__ __pg_last(const __pg_launch *, __pg_corner) {}
  __device__ __forceinline__ bool holds(int, int) const { return true; }
};
#define __PG_IS_THERE                                                                                                  \
  (__pg_last_of_part.holds((int)threadIdx.y * __pg_rows + __pg_y, (int)threadIdx.x + __PG_WIDTH * __pg_x))
#ifdef __PG_TILE_X
#define __PG_HIGH (__PG_BLOCK / __PG_WIDTH)
#define __PG_FIRST_ROW ((blockIdx.y + __pg_l->first_row) * (__pg_count)(__PG_HIGH * __PG_ROWS))
#define __PG_FIRST_COLUMN (blockIdx.x * (__pg_count)(__PG_WIDTH * __PG_COLUMNS))
template <> struct __pg_last<true> {
  int row, column;
  static __device__ __forceinline__ int before(__pg_count first, __pg_u64 trip)
  {
    constexpr int most = __PG_WIDTH * __PG_COLUMNS + __PG_HIGH * __PG_ROWS;
    return (trip - first < most ? (int)(trip - first) : most) - 1;
  }
  __device__ __forceinline__ __pg_last(const __pg_launch *__pg_l, __pg_corner part)
    : row(before(part.row, __pg_l->trip[__PG_TILE_Y])), column(before(part.column, __pg_l->trip[__PG_TILE_X]))
  {
  }
  __device__ __forceinline__ bool holds(int its_row, int its_column) const { return its_row <= row && its_column <= column; }
};
#define __PG_JOIN(a, b) a##b
#define __PG_PLACE(dim) __PG_JOIN(__pg_k, dim)
#define __PG_GROUPS_OF_BLOCK                                                                                           \
  if (__PG_FIRST_ROW + __PG_HIGH * __PG_ROWS <= __pg_l->trip[__PG_TILE_Y] &&                                           \
      __PG_FIRST_COLUMN + __PG_WIDTH * __PG_COLUMNS <= __pg_l->trip[__PG_TILE_X])                                      \
    __pg_together(__pg_shape<__PG_ROWS, __PG_COLUMNS>());                                                              \
  else {                                                                                                               \
    constexpr int rows = (__PG_ROWS + 1) / 2, columns = (__PG_COLUMNS + 1) / 2;                                        \
    _Pragma("unroll 1") for (int part = 0; part < __PG_ROWS / rows * (__PG_COLUMNS / columns); part++)                 \
    {                                                                                                                  \
      __pg_part.row = __PG_FIRST_ROW + part / (__PG_COLUMNS / columns) * (__PG_HIGH * rows);                           \
      __pg_part.column = __PG_FIRST_COLUMN + part % (__PG_COLUMNS / columns) * (__PG_WIDTH * columns);                 \
      if (__pg_part.row < __pg_l->trip[__PG_TILE_Y] && __pg_part.column < __pg_l->trip[__PG_TILE_X]) {                 \
        __PG_PLACE(__PG_TILE_Y) = __pg_part.row + threadIdx.y * rows;                                                  \
        __PG_PLACE(__PG_TILE_X) = __pg_part.column + threadIdx.x;                                                      \
        __pg_together(__pg_shape<rows, columns, true>());                                                              \
      }                                                                                                                \
    }                                                                                                                  \
  }
#endif
template <bool IsEdge> __device__ __forceinline__ __pg_count __pg_before_end(__pg_count k, __pg_u64 trip)
{
  return IsEdge && k >= trip ? (__pg_count)trip - 1 : k;
}
#define __PG_OF_WHOLE_GROUP(dim, first) __pg_before_end<__pg_is_edge>(__PG_OF_GROUP(dim, first), __pg_l->trip[dim])
/* What a member does that isn't there: it repeats an iteration after that has stored what it stores, and may come to anything. So it counts
 * as one that has left: what it would touch by addresses that nobody checks it doesn't touch, and it leaves loops of its own when it
 * asks; what it finds wrong is forgotten. Nor do lanes lend each other anything at an edge, since they would store and fail for others. */
template <bool IsEdge> struct __pg_guard {
  __device__ __forceinline__ __pg_guard(__pg_ctx &, bool) {}
};
template <> struct __pg_guard<true> {
  __pg_ctx &c;
  const __pg_u32 fail, left;
  const bool counts;
  __device__ __forceinline__ __pg_guard(__pg_ctx &c, bool counts) : c(c), fail(c.fail), left(c.left), counts(counts)
  {
    if (!counts)
      c.left = 1;
  }
  __device__ __forceinline__ ~__pg_guard()
  {
    if (!counts) {
      c.fail = fail;
      c.left = left;
    }
  }
};
#define __PG_IN_GROUP                                                                                                  \
  constexpr int __pg_rows = decltype(__pg_size)::rows, __pg_columns = decltype(__pg_size)::columns;                    \
  constexpr bool __pg_is_edge = decltype(__pg_size)::is_edge;                                                          \
  const __pg_last<__pg_is_edge> __pg_last_of_part(__pg_l, __pg_part);
#define __PG_GUARD const __pg_guard<__pg_is_edge> __pg_guards(__pg_c, __PG_IS_THERE);

/* A stride that only the launch knows. */
constexpr __pg_i64 __pg_unknown = (__pg_i64)1 << 62;
constexpr __pg_i64 __pg_along(int dim, __pg_i64 s0, __pg_i64 s1, __pg_i64 s2, __pg_i64 s3, __pg_i64 times)
{
  const __pg_i64 s = dim == 0 ? s0 : dim == 1 ? s1 : dim == 2 ? s2 : dim == 3 ? s3 : 0;
  return s == __pg_unknown ? s : s * times;
}

/* How far apart such a stride leads; what only the launch knows may lead anywhere. */
constexpr __pg_i64 __pg_distance(__pg_i64 stride) { return stride < 0 ? -stride : stride; }
/* Threads of a tile's block along y. */
constexpr int __pg_high = __PG_BLOCK / __PG_WIDTH;
__device__ __forceinline__ int __pg_thread() { return threadIdx.x + blockDim.x * threadIdx.y; }

/* Logs that don't know iterations by the thread. */
constexpr bool __pg_may_help = __PG_METHOD == PG_LOG_NONE || __PG_METHOD == PG_LOG_MARK || __PG_METHOD == PG_LOG_BITMAP;
/* A warp makes turns ready in batches of so many parts. The room that they take is L1's, where what turns gather lies: no more of it than
 * hides latencies. */
constexpr int __pg_parts = __PG_SPREAD < 16 ? 8 : 4;
/* Turns of an iteration that are made ready at once. */
constexpr int __pg_batch = __pg_parts * __PG_SPREAD;
/* Iterations of a warp: their lanes follow each other. Masks of a row's lanes are made by shifts. */
static_assert(__PG_SPREAD < 32, "a row has a warp for itself");
constexpr int __pg_rows_of_warp = 32 / __PG_SPREAD;
/* Places in the room between a row and the next: some more, so that lanes find their own in banks of their own, several places of four or
 * eight bytes at once if need be. */
constexpr int __pg_row_of_room = __pg_batch + (__PG_SPREAD == 1 ? 1 : 4);
/* Memory in which the threads of a block stage what they have in common. */
constexpr int __pg_bytes_of_room = __PG_BLOCK * 144;
__device__ __forceinline__ char *__pg_room()
{
  __shared__ __align__(16) char room[__pg_bytes_of_room];
  return room;
}

/* Values that a thread loads at once, before it uses them. */
constexpr int __pg_most_loaded =
#ifdef __PG_DEEP
  64;
#else
  32;
#endif
/* Bytes of them for which a thread has registers twice. */
constexpr int __pg_most_doubled = 256;
/* So many of them are worth as much text as the accesses of a turn that a log notes which knows iterations: there it is the log that takes time,
 * and 32 turns of it at once were compiled for a second. */
#define __PG_LOGGING                                                                                                   \
  (__PG_METHOD == PG_LOG_ATOMIC || __PG_METHOD == PG_LOG_REDUCTION || __PG_METHOD == PG_LOG_STAMP ? __pg_most_loaded / 4 : 0)
/* Most turns of a stage. */
constexpr int __pg_most_staged = 16;
/* Turns that are run at once where each has so many such loads. */
constexpr int __pg_at_once(int loads)
{
  int turns = loads == 0 ? 4 : 32;
  while (turns > 1 && turns * loads > __pg_most_loaded)
    turns /= 2;
  return turns;
}

/* How one access of an inner loop moves, for each iteration of a group. Strides in bytes: from row to row, column to column, turn to
 * turn. Loaded: whether its loads come before the turns, once where it doesn't move; else they are made in them. */
template <class Type, int Rows, int Columns, bool Loaded, __pg_i64 RowStride, __pg_i64 ColumnStride, __pg_i64 TurnStride,
          bool IsEdge>
struct __pg_walk {
  /* What differs by a known stride needs no pointer of its own, what is the same no load. */
  static constexpr int pointer_rows = RowStride == __pg_unknown && !IsEdge ? Rows : 1;
  static constexpr int pointer_columns = ColumnStride == __pg_unknown && !IsEdge ? Columns : 1;
  static constexpr int value_rows = RowStride == 0 ? 1 : Rows, value_columns = ColumnStride == 0 ? 1 : Columns;
  static constexpr bool stays = Loaded && TurnStride == 0, is_ahead = Loaded && !stays;
  static constexpr int loads = is_ahead ? value_rows * value_columns : 0;
  static constexpr int bytes_ahead = loads * (int)sizeof(Type);
  static constexpr int most_turns = is_ahead ? __pg_at_once(loads) : 1;

  /* What a block may stage of it: places, of all of the block's rows or of all of its columns, that differ in a turn. */
  static constexpr bool by_row = RowStride != 0, by_column = ColumnStride != 0;
  static constexpr bool is_staged = Loaded && !(by_row && by_column);
  static constexpr int places = by_row ? __pg_high * Rows : by_column ? __PG_WIDTH * Columns : 1;
  static constexpr __pg_i64 place_stride =
    by_row ? RowStride : ColumnStride == __pg_unknown ? __pg_unknown : ColumnStride / __PG_WIDTH;
  /* Neighbours load what lies nearer to each other: turns or places. Where it is turns, there is room between these, so that they are
   * stored to banks of their own. */
  static constexpr bool along_turns = places == 1 || __pg_distance(TurnStride) < __pg_distance(place_stride);
  static constexpr int places_of_turn = places + (along_turns ? 16 / (int)sizeof(Type) : 0);
  static constexpr int bytes_of_turn = is_staged ? places_of_turn * (int)sizeof(Type) : 0;

  const char *pointers[pointer_rows][pointer_columns];
  __pg_i64 stride;
  /* At an edge all members have one pointer, and know how many more rows and columns there are. */
  __pg_u64 origin;
  __pg_i64 by_member_row, by_member_column;
  int more_rows, more_columns;
  Type ahead[most_turns][value_rows][value_columns], now[most_turns][value_rows][value_columns];
  /* Where this thread's part of a stage comes from, where the stage is, the strides between places and between turns, and what is on its
   * way. */
  const char *source;
  Type *stage;
  __pg_i64 by_place, by_turn;
  Type fetched[(places * __pg_most_staged + __PG_BLOCK - 1) / __PG_BLOCK];

  __device__ __forceinline__ __pg_i64 by() const { return TurnStride == __pg_unknown ? stride : TurnStride; }

  /* `address`: that of the access, by the inner loop's variable; `variable`: what that begins with. */
  template <class Variable, class Address>
  __device__ __forceinline__ void set(int y, int x, __pg_last<IsEdge> last, const char *memory, __pg_u64 lo, Variable variable,
                                      Address address)
  {
    const __pg_u64 first = address(variable);
    if constexpr (IsEdge) {
      if (x + y == 0) {
        origin = first;
        more_rows = last.row - (int)threadIdx.y * Rows, more_columns = last.column - (int)threadIdx.x;
        more_rows = more_rows < 0 ? 0 : more_rows, more_columns = more_columns < 0 ? 0 : more_columns;
        by_member_row = RowStride == __pg_unknown ? 0 : RowStride;
        by_member_column = ColumnStride == __pg_unknown ? 0 : ColumnStride / __PG_WIDTH;
      }
      if (RowStride == __pg_unknown && y == 1 && x == 0)
        by_member_row = (__pg_i64)(first - origin);
      if (ColumnStride == __pg_unknown && y == 0 && x == 1 && more_columns != 0)
        by_member_column = (__pg_i64)(first - origin) / (more_columns < __PG_WIDTH ? more_columns : __PG_WIDTH);
    }
    if ((pointer_rows == Rows || y == 0) && (pointer_columns == Columns || x == 0))
      pointers[pointer_rows == 1 ? 0 : y][pointer_columns == 1 ? 0 : x] = memory + (first - lo);
    if (TurnStride == __pg_unknown && (Rows == 1 || y == 0) && (Columns == 1 || x == 0))
      stride = (__pg_i64)(address((Variable)((__pg_u64)variable + 1)) - first);
  }
  __device__ __forceinline__ const char *at(int y, int x, int turn) const
  {
    if constexpr (IsEdge) {
      const int row = y < more_rows ? y : more_rows, column = x * __PG_WIDTH < more_columns ? x * __PG_WIDTH : more_columns;
      return pointers[0][0] + ((by_row ? row * by_member_row : 0) + (by_column ? column * by_member_column : 0)) + turn * by();
    }
    const __pg_i64 row = Rows == 1 || RowStride == __pg_unknown ? 0 : y * RowStride;
    const __pg_i64 column = Columns == 1 || ColumnStride == __pg_unknown ? 0 : x * ColumnStride;
    return pointers[pointer_rows == 1 ? 0 : y][pointer_columns == 1 ? 0 : x] + (row + column) + turn * by();
  }
  /* Loads what a turn needs, one of those that are run at once, `first` turns on. */
  __device__ __forceinline__ void load(int first, int turn)
  {
#pragma unroll
    for (int y = 0; y < value_rows; y++)
#pragma unroll
      for (int x = 0; x < value_columns; x++)
        ahead[turn][y][x] = __ldg((const Type *)at(y, x, first + turn));
  }
  __device__ __forceinline__ void take_over(int turn)
  {
#pragma unroll
    for (int y = 0; y < value_rows; y++)
#pragma unroll
      for (int x = 0; x < value_columns; x++)
        now[turn][y][x] = ahead[turn][y][x];
  }
  __device__ __forceinline__ void load_what_stays()
  {
    if constexpr (stays) {
      load(0, 0);
      take_over(0);
    }
  }
  __device__ __forceinline__ void load_ahead(int first, int turn)
  {
    if constexpr (is_ahead)
      load(first, turn);
  }
  __device__ __forceinline__ void take_over_ahead(int turn)
  {
    if constexpr (is_ahead)
      take_over(turn);
  }
  __device__ __forceinline__ void move_ahead(int turns)
  {
    if constexpr (is_ahead)
      move(turns);
  }
  __device__ __forceinline__ void move_others(int turns)
  {
    if constexpr (!is_ahead)
      move(turns);
  }
  __device__ __forceinline__ void move(int turns)
  {
#pragma unroll
    for (int y = 0; y < pointer_rows; y++)
#pragma unroll
      for (int x = 0; x < pointer_columns; x++)
        pointers[y][x] += turns * by();
  }

  /* What the block's threads have to agree on: where the first place is, the next place, and how far it is to the next turn. */
  __device__ __forceinline__ void tell(__pg_u64 *told) const
  {
    if constexpr (is_staged) {
      const int x = threadIdx.x, y = threadIdx.y;
      if (x + y == 0) {
        told[0] = (__pg_u64)at(0, 0, 0);
        told[1] = (__pg_u64)by();
      }
      if (by_row && x == 0 && y == (Rows == 1))
        told[2] = (__pg_u64)at(Rows == 1 ? 0 : 1, 0, 0);
      if (by_column && x == 1 && y == 0)
        told[2] = (__pg_u64)at(0, 0, 0);
    }
  }
  static __device__ __forceinline__ __pg_i64 place_distance(const __pg_u64 *told)
  {
    if (places == 1 || place_stride != __pg_unknown)
      return places == 1 ? 0 : place_stride;
    return (__pg_i64)(told[2] - told[0]);
  }
  /* Whether all that this thread would load is where the others expect it. */
  __device__ __forceinline__ bool agrees(const __pg_u64 *told, __pg_last<IsEdge> last) const
  {
    bool all = true;
    if constexpr (is_staged) {
      const char *const first = (const char *)told[0];
      const __pg_i64 by_place = place_distance(told);
      all = (__pg_i64)told[1] == by();
#pragma unroll
      for (int y = 0; y < Rows; y++)
#pragma unroll
        for (int x = 0; x < Columns; x++)
          all &= at(y, x, 0) == first + there(place(y, x), last) * by_place;
    }
    return all;
  }
  /* The place that one of this thread's iterations loads from. */
  __device__ __forceinline__ int place(int y, int x) const
  {
    return by_row ? threadIdx.y * Rows + y : by_column ? threadIdx.x + __PG_WIDTH * x : 0;
  }
  /* Loops of each iteration's own know nothing of others. */
  template <class Last> static __device__ __forceinline__ __pg_last<IsEdge> last_of(const Last &last)
  {
    if constexpr (IsEdge)
      return last;
    else
      return __pg_last<false>(nullptr, __pg_corner{});
  }
  /* The one that stands for it where that is beyond the end. */
  static __device__ __forceinline__ int there(int place, __pg_last<IsEdge> last)
  {
    const int most = by_row ? last.row : by_column ? last.column : 0;
    return IsEdge && place > most ? most : place;
  }
  /* Which of the values of a stage a thread fetches, `parts` of a block's threads on. */
  template <int Turns> static constexpr int parts = (places * Turns + __PG_BLOCK - 1) / __PG_BLOCK;
  template <int Turns> static __device__ __forceinline__ int fetched_place(int value)
  {
    return along_turns ? value / Turns : value % places;
  }
  template <int Turns> static __device__ __forceinline__ int fetched_turn(int value)
  {
    return along_turns ? value % Turns : value / places;
  }
  template <int Turns> __device__ __forceinline__ char *begin_stages(const __pg_u64 *told, char *room)
  {
    if constexpr (is_staged) {
      by_place = place_distance(told);
      by_turn = TurnStride == __pg_unknown ? (__pg_i64)told[1] : TurnStride;
      source = (const char *)told[0] + fetched_turn<Turns>(__pg_thread()) * by_turn;
      if constexpr (!IsEdge)
        source += fetched_place<Turns>(__pg_thread()) * by_place;
      stage = (Type *)room;
    }
    return room + (Turns * bytes_of_turn + 15) / 16 * 16;
  }
  template <int Turns> __device__ __forceinline__ void fetch(__pg_last<IsEdge> last)
  {
    if constexpr (is_staged) {
#pragma unroll
      for (int part = 0; part < parts<Turns>; part++)
        if (places * Turns % __PG_BLOCK == 0 || __pg_thread() + part * __PG_BLOCK < places * Turns) {
          int place = fetched_place<Turns>(part * __PG_BLOCK);
          if constexpr (IsEdge)
            place = there(place + fetched_place<Turns>(__pg_thread()), last);
          fetched[part] =
            __ldg((const Type *)(source + place * by_place + fetched_turn<Turns>(part * __PG_BLOCK) * by_turn));
        }
      source += Turns * by_turn;
    }
  }
  template <int Turns> __device__ __forceinline__ void put()
  {
    if constexpr (is_staged) {
      const int place = fetched_place<Turns>(__pg_thread()), turn = fetched_turn<Turns>(__pg_thread());
      Type *const to = stage + turn * places_of_turn + place;
#pragma unroll
      for (int part = 0; part < parts<Turns>; part++)
        if (places * Turns % __PG_BLOCK == 0 || __pg_thread() + part * __PG_BLOCK < places * Turns)
          to[fetched_turn<Turns>(part * __PG_BLOCK) * places_of_turn + fetched_place<Turns>(part * __PG_BLOCK)] =
            fetched[part];
    }
  }
  /* What is staged for a turn, which uses it next. */
  __device__ __forceinline__ void take(int turn)
  {
    if constexpr (is_staged) {
      const Type *const from = stage + turn * places_of_turn + place(0, 0);
#pragma unroll
      for (int y = 0; y < value_rows; y++)
#pragma unroll
        for (int x = 0; x < value_columns; x++)
          now[0][y][x] = from[by_row ? y : by_column ? x * __PG_WIDTH : 0];
    }
  }
  /* Behind the last stage: what need not be kept in registers meanwhile is made anew. */
  __device__ __forceinline__ void end_stages(const __pg_u64 *told, __pg_i64 turns, __pg_last<IsEdge> last)
  {
    if constexpr (is_staged) {
      if (TurnStride == __pg_unknown)
        stride = (__pg_i64)told[1];
      const char *const first = (const char *)told[0] + turns * by();
#pragma unroll
      for (int y = 0; y < pointer_rows; y++)
#pragma unroll
        for (int x = 0; x < pointer_columns; x++)
          pointers[y][x] = first + there(place(y, x), last) * place_distance(told);
    }
  }
  /* In a turn: its number among those that are run at once; negative where it is run alone. */
  __device__ __forceinline__ Type value(int turn, int y, int x, int how) const
  {
    if constexpr (Loaded) {
      if (turn >= 0)
        return now[stays ? 0 : turn][value_rows == 1 ? 0 : y][value_columns == 1 ? 0 : x];
    }
    return __PG_LOAD(Type, at(y, x, turn < 0 ? 0 : turn), how);
  }
};

#define __PG_ALONE                                                                                                     \
  constexpr int __pg_rows = 1, __pg_columns = 1, __pg_y = 0, __pg_x = 0;                                               \
  constexpr bool __pg_is_edge = false;                                                                                 \
  const __pg_last<false> __pg_last_of_part(__pg_l, __pg_corner{});
#define __PG_EACH                                                                                                      \
  _Pragma("unroll") for (int __pg_y = 0; __pg_y < __pg_rows; __pg_y++)                                                 \
    _Pragma("unroll") for (int __pg_x = 0; __pg_x < __pg_columns; __pg_x++)
#define __PG_DECLARE_MEMBERS(type, name) type name##_of[__pg_rows][__pg_columns] = {};
#define __PG_MEMBER(type, name) type &name = name##_of[__pg_y][__pg_x];

/* `together`: whether the inner loop is run for the whole group. */
#define __PG_WALKS(base)                                                                                               \
  ((__PG_HOW(base) & __PG_IS_BOUNDED) && (__PG_METHOD < PG_LOG_ATOMIC || (__PG_HOW(base) & __PG_IS_CONSTANT)))
#define __PG_WALK(name, t, base, together, s0, s1, s2, s3, turn)                                                       \
  __pg_walk<__pg_##t, (together) ? __pg_rows : 1, (together) ? __pg_columns : 1,                                       \
            (__PG_HOW(base) & (__PG_IS_BOUNDED | __PG_IS_CONSTANT)) == (__PG_IS_BOUNDED | __PG_IS_CONSTANT), __pg_along(__PG_ALONG_Y, s0, s1, s2, s3, 1), \
            __pg_along(__PG_ALONG_X, s0, s1, s2, s3, __PG_WIDTH), turn, (together) && __pg_is_edge>                    \
    name;
#define __PG_SET(name, base, from, type, variable, address)                                                            \
  if (__PG_WALKS(base))                                                                                                \
    name.set(__pg_y, __pg_x, decltype(name)::last_of(__pg_last_of_part), __pg_b##base.from, __pg_b##base.lo, variable,                                             \
             [&](const type variable) -> __pg_u64 { return address; });
#define __PG_WALKING(calls)                                                                                            \
  auto __pg_all = [&](auto __pg_do) { calls };
#define __PG_LDW(how, t, base, logged, name, address)                                                                  \
  (__PG_WALKS(base) && __PG_IS_OWN_TURN ? name.value(__pg_number, __pg_y, __pg_x, __PG_HOW(base))                     \
                                                        : how(t, base, logged, address))

/* Loops of few turns, as many as the text says: they don't ask whether to go on. `notes`: whether they load what is logged. A bitmap that notes
 * loads takes so much text for each that unrolled loops of them were compiled for seconds. */
#define __PG_FEW(notes)                                                                                                \
  constexpr int __pg_few = __PG_METHOD == PG_LOG_BITMAP && (notes) ? 1 : 1024;                                         \
  _Pragma("unroll __pg_few")
/* Innermost loops that end when a condition says so. They ask after some turns, which makes a loop of its own of those. What ends them leaves
 * that loop like its last turn does: the compiler isn't to know that the outer one ends, too, or it would have the lanes that leave both
 * say so at each turn, which costs an instruction. */
#define __PG_UNCOUNTED(how)                                                                                            \
  for (;;) {                                                                                                           \
    int __pg_asked;                                                                                                    \
    _Pragma(how) for (__pg_asked = 0; __pg_asked < 1024; __pg_asked++)
#define __PG_UNCOUNTED_END                                                                                             \
  asm volatile("" : "+r"(__pg_asked));                                                                                 \
  if (__pg_asked < 1024 || __pg_poll_now(&__pg_c))                                                                     \
    break;                                                                                                             \
  }

/* A short loop that has no more turns than so many need not ask: it is over before anybody misses an answer. `turns`: how many numbers that
 * are known before it leave, in an unsigned type. */
#define __PG_ARE_FEW(turns) ((turns) <= 4096u)

#define __PG_IS_KEPT(base) ((base) < 64 && (__PG_KEPT >> ((base) & 63) & 1))

/* The threads of a tile's block *stage* what the turns of inner loops have in common: they load the
 * operands of some turns side by side into memory that they share, and then run these. Each walk depends on
 * rows only, on columns only, or on neither, and nothing stores to its array. Threads have to come to such a loop together, as
 * often as each other, and leave it together or not at all. `stages`: whether it stands in no other one, and does nothing but load through
 * walks and compute. */
#ifdef __PG_TILE_X
constexpr bool __pg_has_tiles = true;
#else
constexpr bool __pg_has_tiles = false;
#endif
/* What walks of one loop need together. */
template <class... Walks> struct __pg_walks {
  static constexpr int loads = (0 + ... + Walks::loads), number = sizeof...(Walks);
  static constexpr int bytes_of_turn = (0 + ... + Walks::bytes_of_turn), bytes_ahead = (0 + ... + Walks::bytes_ahead);
  static constexpr bool are_shared =
    (false || ... || (Walks::places > 1)) && (true && ... && Walks::is_staged);
};
/* What the first threads tell the others is kept in front of the stages: three words for each of MOST_WALKS walks (codegen::group), one
 * for the number of turns. */
constexpr int __pg_bytes_told = 208;
/* Turns of a stage. Several of them have to fit into the room; none where that are too few. */
constexpr int __pg_turns_of_stage(int bytes_of_turn, int walks)
{
  int turns = __pg_most_staged;
  while (turns > 2 && turns * bytes_of_turn + 16 * walks > __pg_bytes_of_room - __pg_bytes_told)
    turns /= 2;
  return turns > 2 ? turns : 0;
}
/* Runs the turns of whole stages, as far as threads agree. `moved`: by how many turns. Not 0: leave the loop. */
template <int Turns, bool IsEdge, class All, class Turn>
__device__ __forceinline__ int __pg_in_stages(__pg_ctx &c, __pg_u64 left, __pg_last<IsEdge> last, All &all, Turn turn)
{
  char *const room = __pg_room();
  /* Who has left an earlier loop before its end answers that now, too. The others may be at work in the room up to here. */
  if (__syncthreads_or(left < Turns || __pg_poll_now(&c)))
    return 0;
  __pg_u64 *const told = (__pg_u64 *)room;
  if (__pg_thread() == 0)
    told[0] = left;
  int at = 1;
  all([&](auto &walk) {
    walk.tell(told + at);
    at += 3;
  });
  __syncthreads();
  bool agree = told[0] == left;
  at = 1;
  all([&](auto &walk) {
    agree &= walk.agrees(told + at, last);
    at += 3;
  });
  if (__syncthreads_or(!agree))
    return 0;
  const __pg_u32 stages = (left > 1u << 30 ? 1u << 30 : (__pg_u32)left) / Turns;
  char *from = room + __pg_bytes_told;
  at = 1;
  all([&](auto &walk) {
    from = walk.template begin_stages<Turns>(told + at, from);
    at += 3;
  });
#pragma unroll 1
  for (__pg_u32 stage = 0; stage < stages; stage++) {
    all([&](auto &walk) { walk.template fetch<Turns>(last); });
    /* All have run the turns before. */
    if (stage % (4096 / Turns) != 4096 / Turns - 1)
      __syncthreads();
    else if (__syncthreads_or(__pg_poll_now(&c))) {
      c.left = 1;
      return 1;
    }
    all([&](auto &walk) { walk.template put<Turns>(); });
    __syncthreads();
#pragma unroll
    for (int number = 0; number < Turns; number++) {
      all([&](auto &walk) { walk.take(number); });
      turn(0);
    }
  }
  at = 1;
  all([&](auto &walk) {
    walk.end_stages(told + at, (__pg_i64)stages * Turns, last);
    at += 3;
  });
  /* What comes next may need the room. */
  __syncthreads();
  return 0;
}

/* `kept`: whether the limit is the same before and in the loop. */
#define __PG_TURNS(kept, cond, type, unsigned_type, value, limit)                                                      \
  {                                                                                                                    \
    auto __pg_turn = [&](int __pg_number)
#define __PG_TURNS_END(kept, cond, type, unsigned_type, value, limit, logs, stages, ...)                                 \
  ;                                                                                                                    \
  using __pg_of_loop = __pg_walks<__VA_ARGS__>;                                                                        \
  /* What rows lend each other leaves a few turns: their notes are worth no more text than once. */                   \
  constexpr int __pg_turns = __pg_lends && __PG_METHOD == PG_LOG_BITMAP && (logs)                                      \
                               ? 1                                                                                     \
                             : __pg_gathers                                                                            \
                               ? __pg_turns_gathering(__pg_of_loop::loads)                                             \
                               : __pg_at_once(__pg_of_loop::loads + ((logs) ? __PG_LOGGING : 0));                      \
  constexpr int __pg_staged = __pg_turns_of_stage(__pg_of_loop::bytes_of_turn, __pg_of_loop::number);                                    \
  constexpr bool __pg_stages = __pg_has_tiles && (stages) && (kept) && __pg_may_help && __pg_of_loop::are_shared &&    \
                               __pg_staged != 0 && __PG_ROWS * __PG_COLUMNS > 1;                                       \
  if constexpr (__pg_stages) {                                                                                         \
    const __pg_u64 __pg_left = (cond) ? (unsigned_type)(limit) - (unsigned_type)(value) : 0;                           \
    bool __pg_is_over = __pg_in_stages<__pg_staged>(__pg_c, __pg_left, __pg_last_of_part, __pg_all, __pg_turn);        \
    /* What is left are a few turns, as a rule. */                                                                     \
    for (__pg_u32 __pg_asked = 1; !__pg_is_over && (cond); __pg_asked++) {                                             \
      __pg_turn(-1);                                                                                                   \
      __pg_all([&](auto &__pg_w) { __pg_w.move(1); });                                                                 \
      __pg_is_over = __pg_asked % 4096 == 0 && __pg_poll_now(&__pg_c);                                                 \
    }                                                                                                                  \
  }                                                                                                                    \
  if constexpr (__pg_shares && (kept))                                                                                 \
    __pg_turns_side_by_side<__pg_shares_held, unsigned_type>(                                                          \
      __pg_c, [&]() -> unsigned_type { return (cond) ? (unsigned_type)(limit) - (unsigned_type)(value) : 0; },         \
      [&](unsigned_type __pg_q) { return __pg_held_at((type)((unsigned_type)(value) + __pg_q)); }, __pg_held, value,   \
      __pg_all_shared, __pg_turn, [&] { return __pg_poll_now(&__pg_c); });                                             \
  else if constexpr (__pg_lends && (kept))                                                                                  \
    __pg_turns_of_a_warp(                                                                                              \
      __pg_c, [&]() -> unsigned_type { return (cond) ? (unsigned_type)(limit) - (unsigned_type)(value) : 0; }, __pg_held,       \
      [&](int __pg_q) { return __pg_held_at((type)((unsigned_type)(value) + __pg_q)); }, __pg_all_lent,                \
      [&](int __pg_number) {                                                                                           \
        __pg_turn(__pg_number);                                                                                        \
        __pg_all([&](auto &__pg_w) { __pg_w.move(1); });                                                               \
      },                                                                                                               \
      [&] { return __pg_poll_now(&__pg_c); });                                                                         \
  if constexpr (!(kept)) {                                                                                             \
    while ((cond) && !__pg_poll(&__pg_c)) {                                                                            \
      __pg_turn(-1);                                                                                                   \
      __pg_all([&](auto &__pg_w) { __pg_w.move(1); });                                                                 \
    }                                                                                                                  \
  } else                                                                                                               \
  while (!__pg_stages && (cond)) {                                                                                     \
    const unsigned_type __pg_left = (unsigned_type)(limit) - (unsigned_type)(value);                                   \
    __pg_u32 __pg_times = (__pg_left > 4096u ? 4096u : (__pg_u32)__pg_left) / __pg_turns;                              \
    if constexpr (__pg_gathers && __pg_of_loop::number == 0) {                                                         \
      if (__pg_times == 0) {                                                                                           \
        __PG_GATHER_LAST(__pg_turns, __pg_left)                                                                        \
        break;                                                                                                         \
      }                                                                                                                \
    }                                                                                                                  \
    if (__pg_turns > 1 && __pg_times == 0) {                                                                           \
      do {                                                                                                             \
        __pg_turn(-1);                                                                                                 \
        __pg_all([&](auto &__pg_w) { __pg_w.move(1); });                                                               \
      } while (cond);                                                                                                  \
      break;                                                                                                           \
    }                                                                                                                  \
    __PG_TIMES(__pg_turns, __pg_times)                                                                                 \
    if ((cond) && __pg_poll_now(&__pg_c))                                                                              \
      break;                                                                                                           \
  }                                                                                                                    \
  }

#ifndef __PG_ONCE_64
__device__ __forceinline__ __pg_u64 __PG_ONCE_64(const char *place)
{
  __pg_u64 bits;
  asm("ld.global.nc.L1::no_allocate.b64 %0, [%1];" : "=l"(bits) : "l"(__cvta_generic_to_global(place)));
  return bits;
}
__device__ __forceinline__ __pg_u32 __PG_ONCE_32(const char *place)
{
  __pg_u32 bits;
  asm("ld.global.nc.L1::no_allocate.b32 %0, [%1];" : "=r"(bits) : "l"(__cvta_generic_to_global(place)));
  return bits;
}
#endif

/* What the lanes of a warp lend each other, where each runs an iteration of its own and their inner loops go through memory of their
 * own: rows of a sparse matrix, say. By themselves, lanes would load from as many places as there are lanes, at each turn. So some
 * lanes make together what the next turns of one lane need, side by side, as far as it follows from nothing that turns make; the
 * turns themselves stay with the lane, in their order. Atomic and reduction logs know iterations by the thread, so it is not for them. */
/* As many values as shared memory gives at once. */
template <class Type> struct alignas(16) __pg_pack {
  static constexpr int size = __PG_SPREAD > 1 && (sizeof(Type) == 4 || sizeof(Type) == 8) ? 16 / sizeof(Type) : 1;
  Type of[16 / sizeof(Type)];
};
/* Room for some bytes of each turn. */
template <int Bytes> __device__ __forceinline__ char *__pg_room_of_lent()
{
  /* There is more of it than there may be twice. */
  if constexpr (__PG_SPREAD == 1)
    return __pg_room();
  constexpr int bytes = __PG_BLOCK / 32 * __pg_rows_of_warp * __pg_row_of_room * Bytes;
  __shared__ __pg_pack<__pg_u64> room[(bytes + 15) / 16];
  return (char *)room;
}

constexpr int __pg_lanes_of_row = __pg_batch < 32 ? __pg_batch : 32;
constexpr int __pg_log2(int n) { return n < 2 ? 0 : 1 + __pg_log2(n / 2); }
/* Where the turns of a batch are made: neighbours make neighbouring turns, a part the next turns of some rows. Rows that are done keep their
 * parts: to hand these over to others costs more registers than it saves batches. */
struct __pg_slots {
  static constexpr int lanes = __pg_log2(__pg_lanes_of_row), parts = __pg_log2(__pg_rows_of_warp) - (5 - lanes);
  static __device__ __forceinline__ int row(int part, int lane)
  {
    return ((part & ((1 << parts) - 1)) << (5 - lanes)) + (lane >> lanes);
  }
  static __device__ __forceinline__ int turn(int part, int lane) { return (part >> parts << lanes) + (lane & ((1 << lanes) - 1)); }
  static __device__ __forceinline__ int leader(int part, int lane) { return row(part, lane) * __PG_SPREAD; }
  /* Where a row begins in the room. */
  static __device__ __forceinline__ int place(int row) { return row * __pg_row_of_room; }
};
/* So many parts have their loads under way together; with fewer, a processor holds more warps. Where lanes share an iteration, there are
 * no registers left for what a log takes besides, and to keep it elsewhere costs L1 what the turns gather. */
constexpr int __pg_parts_at_once = __PG_SPREAD > 1 && __PG_METHOD == PG_LOG_BITMAP ? 1 : __pg_parts;
/* Turns whose values are fetched together. */
constexpr int __pg_lent_at_once = 8;
/* So many turns of one lane are worth a batch. */
constexpr int __pg_least_lent = 4;

/* Whether lanes keep what they have asked each other, as long as rows have their slots; then what turns load first is loaded for the next
 * batch while this one's turns are taken. Not where parts are made one after the other. */
constexpr bool __pg_keeps_asked = __pg_parts_at_once >= __pg_parts;

/* What a lane knows of some parts: how many turns a part's row has from the lane's turn on. */
struct __pg_asked_of_lane {
  /* What has gone wrong. Only what a turn needs, and that it may have, counts. */
  __pg_u32 fail[__pg_parts_at_once];
  int left[__pg_parts_at_once];
  __device__ __forceinline__ bool is_due(int part, int done) const { return left[part] > done; }
};
/* Variables of another lane, from the inner loop's own on. */
template <class... Values> struct __pg_asked {
  static __device__ __forceinline__ __pg_asked of() { return {}; }
  template <class Of, class... Before> __device__ __forceinline__ auto call(const Of &of, Before... before) const
  {
    return of(before...);
  }
};
template <class First, class... Rest> struct __pg_asked<First, Rest...> {
  First first;
  __pg_asked<Rest...> rest;
  static __device__ __forceinline__ __pg_asked of(First first, Rest... rest) { return {first, __pg_asked<Rest...>::of(rest...)}; }
  template <class Of, class... Before> __device__ __forceinline__ auto call(const Of &of, Before... before) const
  {
    return rest.call(of, before..., first);
  }
  /* Some turns on. */
  __device__ __forceinline__ __pg_asked further(int turns) const { return {(First)((__pg_u64)first + turns), rest}; }
};
template <class... Values> __device__ __forceinline__ __pg_asked<Values...> __pg_ask(Values... values)
{
  return __pg_asked<Values...>::of(values...);
}

/* Values of the turns of all lanes, one for each turn. `Room`: bytes that all values of a turn take. */
template <class Type, int Room> struct __pg_handed_over {
  Type *room, now, made[__pg_parts_at_once], next[__pg_lent_at_once];

  /* `before`: bytes that other values take of a turn. */
  __device__ __forceinline__ void take_room(int before)
  {
    constexpr int of_warp = __pg_rows_of_warp * __pg_row_of_room;
    room = (Type *)(__pg_room_of_lent<Room>() + before * of_warp * (__PG_BLOCK / 32)) + __pg_thread() / 32 * of_warp;
  }
  /* What some turns have, from one on. */
  template <int Turns> __device__ __forceinline__ void fetch(int place, int turn)
  {
    constexpr int size = Turns % __pg_pack<Type>::size == 0 ? __pg_pack<Type>::size : 1;
#pragma unroll
    for (int i = 0; i < Turns; i += size) {
      if constexpr (size == 1)
        next[i] = at(place, turn + i);
      else {
        const __pg_pack<Type> some = *(const __pg_pack<Type> *)&at(place, turn + i);
#pragma unroll
        for (int number = 0; number < size; number++)
          next[i + number] = some.of[number];
      }
    }
  }
  /* `place`: where the row begins. */
  __device__ __forceinline__ Type &at(int place, int turn) { return room[place + turn]; }
  __device__ __forceinline__ void put(int part, int place) { room[place] = made[part]; }
};

/* An address that begins with a pointer which is the same for all lanes: what that and the array's place in the GPU's memory come to (`first`)
 * is added up once, not for each load. */
struct __pg_address_by_pointer {
  __pg_u64 pointer, first, further;
  __device__ __forceinline__ operator __pg_u64() const { return pointer + further; }
};
template <class Number> __device__ __forceinline__ __pg_address_by_pointer operator+(__pg_address_by_pointer a, Number by)
{
  return {a.pointer, a.first, a.further + (__pg_u64)by};
}
#ifndef __PG_AS_IT_IS
/* The compiler isn't to take it apart again. */
#define __PG_AS_IT_IS(number) asm("" : "+l"(number));
#endif
#define __PG_PLACE_POINTER(base, pointer)                                                                              \
  __pg_u64 __pg_first_of_##base##pointer = __cvta_generic_to_global(__pg_b##base.dev) - __pg_b##base.lo + (pointer);   \
  __PG_AS_IT_IS(__pg_first_of_##base##pointer)
#define __PG_POINTER(base, pointer) (__pg_address_by_pointer{(pointer), __pg_first_of_##base##pointer, 0})
__device__ __forceinline__ char *__pg_near(const __pg_view &v, __pg_u64 address) { return __PG_AT_ONCE(v.dev, address - v.lo); }
__device__ __forceinline__ char *__pg_near(const __pg_view &, __pg_address_by_pointer address)
{
  return (char *)__cvta_global_to_generic(address.first + address.further);
}
/* Loads what is known to be there. `load`: as it is loaded where that isn't known, or somebody asks for a note. While lanes make what others
 * need, none of them has left. */
template <class Type, class Address, class Load>
__device__ __forceinline__ Type __pg_load_lent(const __pg_view &v, int how, Address address, Load load)
{
  const bool is_known = (how & (__PG_IS_BOUNDED | __PG_IS_INSIDE)) && (__PG_METHOD < PG_LOG_ATOMIC || (how & __PG_IS_CONSTANT));
  if (!is_known)
    return load(address);
  return __PG_LOAD(Type, __pg_near(v, address), how);
}
/* The same of what nobody loads again: it doesn't take the place of what turns gather in L1. */
template <class Type, class Address, class Load>
__device__ __forceinline__ Type __pg_load_once(const __pg_view &v, int how, Address address, Load load)
{
  constexpr bool is_known = __PG_SPREAD >= 4 && sizeof(Type) >= 4;
  if (!is_known || !(how & __PG_IS_CONSTANT) || !(how & (__PG_IS_BOUNDED | __PG_IS_INSIDE)))
    return __pg_load_lent<Type>(v, how, address, load);
  union {
    __pg_u64 wide;
    __pg_u32 narrow;
    Type value;
  } loaded;
  const char *place = __pg_near(v, address);
  if constexpr (sizeof(Type) == 8)
    loaded.wide = __PG_ONCE_64(place);
  else
    loaded.narrow = __PG_ONCE_32(place);
  return loaded.value;
}
/* A value that lanes lend each other. `ask` asks a lane for what its value follows from, `load` makes of that the loads that come first, `rest`
 * of both the value. */
template <class Type, int Room, class Ahead, class Ask, class Load, class Rest> struct __pg_lent : __pg_handed_over<Type, Room> {
  using Asked = decltype(((Ask *)0)->operator()(0));
  Ask ask;
  Load load;
  Rest rest;
  Asked asked[__pg_parts_at_once];
  Ahead ahead[__pg_parts_at_once];
  __device__ __forceinline__ __pg_lent(Ask ask, Load load, Rest rest) : ask(ask), load(load), rest(rest) {}
  /* `turn`: how many turns on from where that lane is now. */
  __device__ __forceinline__ void know(int part, int whose, int turn) { asked[part] = ask(whose).further(turn); }
  /* `done`: turns of the row since then. */
  __device__ __forceinline__ void begin(int part, int done) { ahead[part] = asked[part].further(done).call(load); }
  __device__ __forceinline__ void make(int part, int done)
  {
    this->made[part] = asked[part].further(done).call([&](auto... values) { return rest(values..., ahead[part]); });
  }
  __device__ __forceinline__ void use(int number) { this->now = this->next[number]; }
};

template <bool Holds, class Type, class Other> struct __pg_one_of {
  using type = Type;
};
template <class Type, class Other> struct __pg_one_of<false, Type, Other> {
  using type = Other;
};
/* The one place that turns store to is held meanwhile: in a register where all turns have the same (Stride 0), else with what lanes
 * lend each other. What turns load besides, before them, must not be what is held: the first turn that would load that isn't made
 * ready, nor are those behind it. */
template <class Type, int Room, int Stride, bool IsLoaded, class Load, class Store> struct __pg_holding : __pg_handed_over<Type, Room> {
  static constexpr bool moves = Stride != 0, may_meet = true;
  static constexpr __pg_i64 stride = Stride;
  Load load;
  Store store;
  /* Of one place the lower half is enough to tell it from others: what is taken for it and isn't only costs time. */
  using Told = typename __pg_one_of<Stride != 0, __pg_u64, __pg_u32>::type;
  __pg_u64 first; /* the first turn's place: this lane's, and those of rows that are made ready */
  Told asked[__pg_parts_at_once];
  /* Whether loads of a part have met what is held: those that come first, and the rest. */
  bool has_met_ahead[__pg_parts_at_once], has_met[__pg_parts_at_once];
  bool is_ahead;
  bool is_held = false; /* where all turns have the same: whether it is in the register */
  int part, turn;

  __device__ __forceinline__ __pg_holding(Load load, Store store) : load(load), store(store) {}
  __device__ __forceinline__ void take_room()
  {
    if constexpr (moves)
      __pg_handed_over<Type, Room>::take_room(0);
  }
  /* Of turns that are due: how many can be made ready, by their places. None, if addresses wrap around on the way. */
  template <class At> __device__ __forceinline__ int begin(At at, int due)
  {
    first = at(0);
    return !moves || (due != 0 && at(due - 1) - first == (__pg_u64)((__pg_i64)Stride * (due - 1))) ? due : 0;
  }
  __device__ __forceinline__ __pg_u64 place(__pg_u64 from, __pg_u64 turn) const { return from + turn * Stride; }
  __device__ __forceinline__ void know(int part, int whose) { asked[part] = __shfl_sync(~0u, (Told)first, whose); }
  /* The part that loads are made for, and which turn of its row that is: whether one meets what turns up to that one store to is to be
   * seen. */
  __device__ __forceinline__ void turn_to(int next, int its_turn, bool ahead)
  {
    part = next;
    turn = its_turn;
    is_ahead = ahead;
    (ahead ? has_met_ahead : has_met)[next] = ahead ? false : has_met_ahead[next];
  }
  __device__ __forceinline__ void make(int part, int turn)
  {
    if constexpr (moves && IsLoaded)
      this->made[part] = load(place(asked[part], turn));
  }
  __device__ __forceinline__ void put(int part, int place)
  {
    if constexpr (moves && IsLoaded)
      __pg_handed_over<Type, Room>::put(part, place);
  }
  __device__ __forceinline__ void note(bool meets)
  {
    if (is_ahead)
      has_met_ahead[part] |= meets;
    else
      has_met[part] |= meets;
  }
  __device__ __forceinline__ void see(__pg_u64 address, __pg_u64 size)
  {
    const __pg_u64 from = asked[part];
    if constexpr (!moves) {
      note((__pg_u32)address - (__pg_u32)from + (__pg_u32)(size - 1) < (__pg_u32)(sizeof(Type) + size - 1));
      return;
    }
    bool meets = address + size > from && address < place(from, turn) + sizeof(Type);
    /* Between the places may lie others: fields of the same structs. */
    if constexpr (Stride > (int)sizeof(Type))
      if (meets && size <= Stride) {
        const __pg_u64 within = (address + Stride - from) % Stride;
        meets = within < sizeof(Type) || within + size > Stride;
      }
    note(meets);
  }
  /* How many turns of this lane come before the first one whose loads have met what is held. `is_due`: of the parts, from `first` on. */
  template <class IsDue>
  __device__ __forceinline__ int before_met(IsDue is_due, int first, int lane, int due) const
  {
    bool some = false;
#pragma unroll
    for (int part = 0; part < __pg_parts_at_once; part++)
      some |= is_due(part) && has_met[part];
    if (__any_sync(~0u, some)) {
#pragma unroll
      for (int part = 0; part < __pg_parts_at_once; part++) {
        const __pg_u32 met = __ballot_sync(~0u, is_due(part) && has_met[part]);
        /* The lane that has made the first of this row's turns in the part, if it is one of the part's rows. */
        constexpr int lanes = __pg_lanes_of_row;
        const int own = lane / __PG_SPREAD, at = own % (32 / lanes) * lanes;
        const bool is_here = __pg_slots::row(first + part, at) == own;
        const __pg_u32 of_row = met >> at & (~0u >> (32 - lanes));
        const int turns = __pg_slots::turn(first + part, at) + __ffs(of_row) - 1;
        due = is_here && of_row != 0 && turns < due ? turns : due;
      }
    }
    return due;
  }
  __device__ __forceinline__ Type begin_alone(__pg_u64 address)
  {
    if constexpr (IsLoaded)
      return load(address);
    return (Type)0;
  }
  __device__ __forceinline__ void begin_turns(int due)
  {
    if constexpr (!moves)
      if (due != 0 && !is_held) {
        this->now = IsLoaded ? load(first) : (Type)0;
        is_held = IsLoaded;
      }
  }
  /* What nobody has loaded is only stored behind a turn: the first one may load what is there by itself, and isn't made ready then. */
  __device__ __forceinline__ void are_ready(int turns)
  {
    if constexpr (!moves && !IsLoaded)
      is_held |= turns != 0;
  }
  /* Stores what is in the register: it isn't held any more. */
  __device__ __forceinline__ void give_back()
  {
    if constexpr (!moves) {
      if (is_held && __PG_LEADS)
        store(first, this->now);
      is_held = false;
    }
  }
  __device__ __forceinline__ void begin_turn(int place, int turn)
  {
    if constexpr (moves && IsLoaded)
      this->now = this->at(place, turn);
  }
  __device__ __forceinline__ void end_turn(int place, int turn)
  {
    if constexpr (moves) {
      /* All lanes of the row have read it by then. */
      if constexpr (IsLoaded && __PG_SPREAD > 1)
        __syncwarp(((1u << __PG_SPREAD) - 1) << __pg_thread() % 32 / __PG_SPREAD * __PG_SPREAD);
      if (__PG_LEADS)
        this->at(place, turn) = this->now;
    }
  }
  __device__ __forceinline__ void end_turns(int lane, int due)
  {
    if constexpr (moves) {
      __syncwarp();
#pragma unroll __pg_parts_at_once
      for (int part = 0; part < __pg_parts; part++) {
        const int leader = __pg_slots::leader(part, lane), turn = __pg_slots::turn(part, lane);
        const int there = __shfl_sync(~0u, due, leader);
        const __pg_u64 from = __shfl_sync(~0u, first, leader);
        if (turn < there)
          store(place(from, turn), this->at(__pg_slots::place(__pg_slots::row(part, lane)), turn));
      }
      __syncwarp();
    }
  }
};
/* Where turns store nothing. */
struct __pg_holding_nothing {
  static constexpr bool moves = false, may_meet = false;
  static constexpr __pg_i64 stride = 0;
  int now;
  __device__ __forceinline__ int begin_alone(__pg_u64) { return 0; }
  __device__ __forceinline__ __pg_u64 place(__pg_u64 from, __pg_u64) const { return from; }
  __device__ __forceinline__ void store(__pg_u64, int) {}
  __device__ __forceinline__ void take_room() {}
  template <class At> __device__ __forceinline__ int begin(At, int due) { return due; }
  __device__ __forceinline__ void know(int, int) {}
  __device__ __forceinline__ void turn_to(int, int, bool) {}
  __device__ __forceinline__ void make(int, int) {}
  __device__ __forceinline__ void put(int, int) {}
  template <class IsDue> __device__ __forceinline__ int before_met(IsDue, int, int, int due) const { return due; }
  __device__ __forceinline__ void begin_turns(int) {}
  __device__ __forceinline__ void are_ready(int) {}
  __device__ __forceinline__ void begin_turn(int, int) {}
  __device__ __forceinline__ void end_turn(int, int) {}
  __device__ __forceinline__ void end_turns(int, int) {}
  __device__ __forceinline__ void give_back() {}
};

/* What a lane that helps comes to in iterations it may have come to by what it loaded too late: only the one that leads tells that. What
 * it makes for others counts. */
__device__ __forceinline__ void __pg_forget_own(__pg_ctx &c)
{
  if (!__PG_LEADS)
    c.fail = 0;
}
__device__ __forceinline__ void __pg_tell(__pg_ctx &c)
{
  if (!__PG_LEADS && c.fail != 0)
    __pg_fetch_or(&c.launch->flags[0], c.fail);
}

/* Runs turns of a warp's inner loops as long as one of the lanes has some of them.
 * `left`: how many turns a lane has; `at`: the place that it stores to, some turns on; `turn`: one turn; `stops`: whether to leave. */
template <class Left, class Held, class At, class AllLent, class Turn, class Stops>
__device__ __forceinline__ void __pg_turns_of_a_warp(__pg_ctx &c, Left left, Held &held, At at, AllLent all_lent, Turn turn,
                                                     Stops stops)
{
  if (__activemask() != ~0u)
    return;
  constexpr bool keeps = __pg_keeps_asked && !Held::moves;
  constexpr int most = 1 << 30;
  const int lane = __pg_thread() % 32;
  __pg_asked_of_lane parts;
  __pg_u32 rows = 0; /* of which lanes know what they have asked; 0: of none */
  int done = 0;      /* turns of each row since lanes have asked */
  __pg_u32 fail = 0; /* what has gone wrong in what is made for others */
  held.take_room();
  /* What rows some turns on from here are to have made, which is how many turns this lane has there. Who has nothing to make makes what
   * somebody else does: without branches all loads are under way together. */
  const auto know = [&](int first, int there, int further) {
#pragma unroll
    for (int part = 0; part < __pg_parts_at_once; part++) {
      const int leader = __pg_slots::leader(first + part, lane), turn = __pg_slots::turn(first + part, lane);
      parts.left[part] = __shfl_sync(~0u, there, leader) - turn;
      const bool is_due = parts.left[part] > 0;
      const int whose = is_due ? leader : __ffs(rows) - 1;
      held.know(part, whose);
      all_lent([&](auto &lent) { lent.know(part, whose, (is_due ? turn : 0) + further); });
    }
    done = 0;
  };
  const auto its_turn = [&](int first, int part) { return parts.is_due(part, done) ? __pg_slots::turn(first + part, lane) : 0; };
  /* What parts load first. */
  const auto begin = [&](int first) {
    const __pg_u32 before = c.fail;
#pragma unroll
    for (int part = 0; part < __pg_parts_at_once; part++) {
      held.turn_to(part, its_turn(first, part), true);
      c.fail = 0;
      all_lent([&](auto &lent) { lent.begin(part, parts.is_due(part, done) ? done : 0); });
      parts.fail[part] = c.fail;
    }
    c.fail = before;
  };
  /* The rest, and which of this lane's turns are ready by that. */
  const auto make = [&](int first, int due) {
    const __pg_u32 before = c.fail;
#pragma unroll
    for (int part = 0; part < __pg_parts_at_once; part++) {
      held.turn_to(part, its_turn(first, part), false);
      c.fail = 0;
      held.make(part, its_turn(first, part));
      all_lent([&](auto &lent) { lent.make(part, parts.is_due(part, done) ? done : 0); });
      parts.fail[part] |= c.fail;
    }
    c.fail = before;
#pragma unroll
    for (int part = 0; part < __pg_parts_at_once; part++) {
      const int place = __pg_slots::place(__pg_slots::row(first + part, lane)) + __pg_slots::turn(first + part, lane);
      held.put(part, place);
      all_lent([&](auto &lent) { lent.put(part, place); });
    }
    const auto is_due = [&](int part) { return parts.is_due(part, done); };
    const int ready = held.before_met(is_due, first, lane, due);
    /* What is due is ready, where nothing has met. */
    const bool all_ready = !Held::may_meet || !__any_sync(~0u, __PG_LEADS && ready != due);
#pragma unroll
    for (int part = 0; part < __pg_parts_at_once; part++)
      if (is_due(part) && all_ready)
        fail |= parts.fail[part];
    if (!all_ready)
#pragma unroll
      for (int part = 0; part < __pg_parts_at_once; part++)
        if (__pg_slots::turn(first + part, lane) < __shfl_sync(~0u, ready, __pg_slots::leader(first + part, lane)))
          fail |= parts.fail[part];
    return ready;
  };
  for (__pg_u32 times = 1;; times++) {
    /* What an iteration knows that has left another loop leads anywhere, so nobody makes anything for it; but its lane does for others. */
    __pg_u32 has_left = c.left;
    const auto all = has_left ? 0 : left();
    const __pg_u32 some = __ballot_sync(~0u, all != 0 && __PG_LEADS);
    /* Only who leads knows how many there are. */
    if (!__any_sync(~0u, __PG_LEADS && all >= __pg_least_lent))
      break;
    const bool asks = rows == 0;
    if (asks)
      rows = some;
    constexpr int batch = __pg_batch;
    const int place = __pg_slots::place(lane / __PG_SPREAD), due = held.begin(at, all < batch ? (int)all : batch);
    if (Held::moves && !__any_sync(~0u, __PG_LEADS && due != 0))
      break;
    held.begin_turns(due);
    /* What a lane has stored in front of the loop another one may load for it; and the turns before have been taken. */
    __syncwarp();
    int ready = due;
    c.left = 0;
    if constexpr (keeps) {
      if (asks) {
        know(0, all < most ? (int)all : most, 0);
        begin(0);
      }
      ready = make(0, ready);
      /* The next batch's. */
      if (__any_sync(~0u, __PG_LEADS && all >= batch + __pg_least_lent)) {
        const __pg_u32 next = __ballot_sync(~0u, all > batch && __PG_LEADS);
        done += batch;
        if (next != rows) {
          rows = next;
          know(0, all <= batch ? 0 : all - batch < most ? (int)(all - batch) : most, batch);
        }
        begin(0);
      }
    } else {
#pragma unroll 1
      for (int first = 0; first < __pg_parts; first += __pg_parts_at_once) {
        know(first, due, 0);
        begin(first);
        ready = make(first, ready);
      }
      rows = 0;
    }
    __syncwarp();
    /* Lanes that help come to as many turns as the one that leads, whatever they have loaded. */
    ready = __PG_SPREAD == 1 ? ready : __shfl_sync(~0u, ready, lane / __PG_SPREAD * __PG_SPREAD);
    held.are_ready(ready);
    c.left = has_left;
    int number = 0;
    auto take = [&](auto many) {
      constexpr int turns = decltype(many)::columns;
      all_lent([&](auto &lent) { lent.template fetch<turns>(place, number); });
#pragma unroll
      for (int i = 0; i < turns; i++, number++) {
        all_lent([&](auto &lent) { lent.use(i); });
        held.begin_turn(place, number);
        turn(__pg_with_lent);
        held.end_turn(place, number);
      }
    };
#pragma unroll 1
    while (number + __pg_lent_at_once <= ready)
      take(__pg_shape<1, __pg_lent_at_once>());
#pragma unroll 1
    while (number < ready)
      take(__pg_shape<1, 1>());
    if constexpr (Held::moves) {
      const __pg_u32 before = c.fail;
      has_left = c.left;
      c.fail = c.left = 0;
      held.end_turns(lane, ready);
      fail |= c.fail;
      c.fail = before;
      c.left = has_left;
    }
    /* Rows go on together: where one has fewer turns ready than are due, all has to be asked again. */
    if (times % 512 == 0 || (Held::may_meet && __any_sync(~0u, __PG_LEADS && ready != due)))
      rows = 0;
    /* Turns that load what is held for them. */
    if (Held::may_meet && ready == 0 && all != 0) {
      held.give_back();
      turn(-1);
    }
    __pg_forget_own(c);
    if (__any_sync(~0u, times % 512 == 0 && stops()))
      break;
    /* Each loads what the turn before has stored: to make more of them ready is in vain. */
    if (Held::may_meet && !__any_sync(~0u, ready > 1))
      break;
  }
  held.give_back();
  __pg_forget_own(c);
  c.fail |= fail;
  __pg_tell(c);
}

/* Turns of a lane whose loads are under way together; with more, a processor holds fewer warps. */
constexpr int __pg_side_at_once = 2;
/* A variable that turns need, of the row's own lane: others have it for as long as they take turns of that row. */
template <class Type> struct __pg_share {
  Type &now, own;
  __device__ __forceinline__ __pg_share(Type &variable) : now(variable), own(variable) {}
  __device__ __forceinline__ void keep() { own = now; }
  __device__ __forceinline__ void take(int from) { now = __shfl_sync(~0u, own, from); }
  __device__ __forceinline__ void give_back() { now = own; }
};
/* Turns that carry nothing on: each stores to a place of its own and loads nothing else that anybody stores to. All lanes of a warp take
 * them together, neighbours neighbouring ones, row by row; or those of several rows, where rows are shorter than a warp. What they come to
 * in them counts, whosever turns they are.
 * `left`: how many turns a lane has; `at`: the place that it stores to, some turns on; `turn`: one turn. */
template <bool Holds, class Count, class Left, class At, class Held, class Variable, class AllShared, class Turn, class Stops>
__device__ __forceinline__ void __pg_turns_side_by_side(__pg_ctx &c, Left left, At at, Held &held, Variable &value, AllShared all_shared,
                                                        Turn turn, Stops stops)
{
  if (__activemask() != ~0u)
    return;
  const int lane = __pg_thread() % 32;
  /* What an iteration knows that has left another loop leads anywhere, so nobody takes turns of it; but its lane does of others. */
  __pg_u32 has_left = c.left;
  const Count own = has_left ? 0 : left();
  /* None, if addresses wrap around on the way, or the lanes' numbers would. */
  const bool is_straight = own != 0 && own < ~(Count)0 - 64 && at(own - 1) - at(0) == (__pg_u64)held.stride * (__pg_u64)(own - 1);
  const Count due = __shfl_sync(~0u, is_straight ? own : (Count)0, lane / __PG_SPREAD * __PG_SPREAD);
  /* log2 of the lanes that a row has. */
  int wide = 5;
  while (wide > 1 && !__any_sync(~0u, due > (Count)1 << (wide - 1)))
    wide--;
  if (wide == 1)
    return;
  /* What a lane has stored in front of the loop another one may load. */
  __syncwarp();
  __pg_forget_own(c);
  __pg_share<Variable> first(value);
  all_shared([&](auto &shared) { shared.keep(); });
  __pg_u32 has_stopped = 0;
#pragma unroll 1
  for (int row = 0; row < __pg_rows_of_warp; row += 32 >> wide) {
    const int whose = row + (lane >> wide);
    const int from = whose < __pg_rows_of_warp ? whose * __PG_SPREAD : 0;
    const Count some = __shfl_sync(~0u, due, from), there = whose < __pg_rows_of_warp && !has_stopped ? some : 0;
    first.take(from);
    all_shared([&](auto &shared) { shared.take(from); });
    c.left = 0;
    const Variable begin = value;
    const __pg_u64 place = at(0);
    Count number = lane & ((1 << wide) - 1);
    /* So many turns of a lane, all their loads before all their stores. */
    auto take = [&](auto many) {
      constexpr int turns = decltype(many)::columns;
      if constexpr (Holds) {
        decltype(held.now) values[turns];
#pragma unroll
        for (int i = 0; i < turns; i++)
          values[i] = held.begin_alone(held.place(place, number + (i << wide)));
#pragma unroll
        for (int i = 0; i < turns; i++) {
          held.now = values[i];
          value = (Variable)((Count)begin + number + (i << wide));
          turn(__pg_side_by_side_held);
          values[i] = held.now;
        }
#pragma unroll
        for (int i = 0; i < turns; i++)
          held.store(held.place(place, number + (i << wide)), values[i]);
      } else {
        value = (Variable)((Count)begin + number);
        turn(__pg_side_by_side);
      }
      number += turns << wide;
    };
    constexpr int at_once = Holds ? __pg_side_at_once : 1;
    const Count last = there - there % ((Count)at_once << wide);
    for (__pg_u32 times = 1; number < last; times++) {
      take(__pg_shape<1, at_once>());
      if ((times & 1023) == 0 && stops())
        break;
    }
    for (__pg_u32 times = 1; number < there; times++) {
      take(__pg_shape<1, 1>());
      if ((times & 1023) == 0 && stops())
        break;
    }
    has_stopped |= c.left;
    __syncwarp();
  }
  /* Who has stopped has left turns of any row behind. */
  c.left = has_left | __any_sync(~0u, has_stopped != 0);
  all_shared([&](auto &shared) { shared.give_back(); });
  value = (Variable)((Count)first.own + (due != 0 ? own : (Count)0));
  __pg_tell(c);
  /* What others have stored the row's own lane may load. */
  __syncwarp();
}

/* `kept`: whether what turns load besides what they store stays as it is. */
#define __PG_SHARING(may, holds, kept) constexpr bool __pg_shares = may && __pg_may_help && (kept) && !__pg_is_edge && !__PG_MARKS_REPEATS, __pg_shares_held = holds;
#define __PG_SHARE(name, type, variable) __pg_share<type> name(variable);
#define __PG_ALL_SHARED(calls)                                                                                         \
  auto __pg_all_shared = [&](auto __pg_do) { calls };

/* `kept`: whether what turns load by themselves stays as it is, where they store. */
#define __PG_LENDING(count, kept) constexpr bool __pg_lends = count != 0 && __pg_may_help && (kept) && !__pg_is_edge && !__pg_shares;
#define __PG_HOLDING_NOTHING(type)                                                                                     \
  __pg_holding_nothing __pg_held;                                                                                      \
  const auto __pg_held_at = [](const type) -> __pg_u64 { return 0; };
#define __PG_HOLDING(type, variable, t, base, logged, stride, is_loaded, address)                                      \
  const auto __pg_held_at = [&](const type variable) -> __pg_u64 { return address; };                                  \
  const auto __pg_load_held = [&](__pg_u64 __pg_a) -> __pg_##t { return __PG_LD(t, base, logged, __pg_a); };           \
  const auto __pg_store_held = [&](__pg_u64 __pg_a, __pg_##t __pg_value) {                          \
    if (__PG_IS_THERE)                                                                                                 \
      __pg_st_##t(&__pg_c, &__pg_b##base, __PG_HOW(base), __pg_a, __pg_value);                                         \
  };                                                                                                                   \
  __pg_holding<__pg_##t, __pg_room_of_turn, stride, is_loaded, decltype(__pg_load_held), decltype(__pg_store_held)> __pg_held( \
    __pg_load_held, __pg_store_held);
#define __PG_IS_HELD (__pg_number == __pg_with_lent || __pg_number == __pg_side_by_side_held)
#define __PG_HELD(text) (__PG_IS_HELD ? __pg_held.now : (text))
#define __PG_HOLD(value, store)                                                                                        \
  if (__PG_IS_HELD)                                                                                   \
    __pg_held.now = value;                                                                                             \
  else                                                                                                                 \
    store
/* A load that is made before turns that store. */
#define __PG_SEEN(how, t, b, l, a)                                                                                     \
  [&](auto __pg_a) -> __pg_##t {                                                                                       \
    if constexpr (!__PG_IS_KEPT(b))                                                                                    \
      __pg_held.see(__pg_a, sizeof(__pg_##t));                                                                         \
    return how(t, b, l, __pg_a);                                                                                       \
  }(a)
/* Loads of what neighbouring turns load side by side: once each. */
#define __PG_LD_ONCE(t, b, l, a)                                                                                       \
  __pg_load_once<__pg_##t>(__pg_b##b, __PG_HOW(b), a, [&](__pg_u64 __pg_a) -> __pg_##t { return __PG_LD(t, b, l, __pg_a); })
#define __PG_LD_LENT(t, b, l, a)                                                                                       \
  __pg_load_lent<__pg_##t>(__pg_b##b, __PG_HOW(b), a, [&](__pg_u64 __pg_a) -> __pg_##t { return __PG_LD(t, b, l, __pg_a); })
#define __pg_of(variable) __shfl_sync(~0u, variable, __pg_from)
#define __PG_BARE(...) __VA_ARGS__
#define __PG_AND_THEN(parameters, last) (__PG_BARE parameters, last)
#define __PG_LEND(name, before, type, parameters, arguments, members, loads, text)                                     \
  struct name##_ahead {                                                                                                \
    __PG_BARE members                                                                                                  \
  };                                                                                                                   \
  const auto name##_ask = [&](int __pg_from) { return __pg_ask arguments; };                                           \
  const auto name##_load = [&] parameters -> name##_ahead { return {__PG_BARE loads}; };                               \
  const auto name##_rest = [&] __PG_AND_THEN(parameters, const name##_ahead &__pg_ahead) -> type { return text; };          \
  __pg_lent<type, __pg_room_of_turn, name##_ahead, decltype(name##_ask), decltype(name##_load), decltype(name##_rest)> name( \
    name##_ask, name##_load, name##_rest);                                                                             \
  if constexpr (__pg_lends)                                                                                            \
    name.take_room(before);
#define __PG_ALL_LENT(calls)                                                                                           \
  auto __pg_all_lent = [&](auto __pg_do) { calls };
#define __PG_LENT(name, text) (__pg_number == __pg_with_lent ? name.now : (text))

/* What turns gather is made before them, where they store nothing and iterations are run one by one: of some turns, first all that follows from
 * nothing but their number, then the rest; and what comes first of the next turns before these are taken. With the turns as they stand
 * the compiler would have some of these loads wait for others. Not where loads are noted. */
constexpr int __pg_gathered_at_once = 4;
constexpr int __pg_turns_gathering(int loads)
{
  return loads == 0 || __pg_at_once(loads) > __pg_gathered_at_once ? __pg_gathered_at_once : __pg_at_once(loads);
}
#define __PG_GATHERING(count)                                                                                          \
  constexpr bool __pg_gathers = count != 0 && __PG_METHOD < PG_LOG_ATOMIC && __pg_rows * __pg_columns == 1;
/* `load` makes for a turn, by the inner loop's variable, the loads that come first, `rest` of both the value. */
template <class Type, class First, class Variable, class Load, class Rest> struct __pg_gathered {
  const Variable &variable;
  Load load;
  Rest rest;
  First first[__pg_gathered_at_once];
  Type now[__pg_gathered_at_once];
  __device__ __forceinline__ __pg_gathered(const Variable &variable, Load load, Rest rest)
    : variable(variable), load(load), rest(rest)
  {
  }
  __device__ __forceinline__ Variable at(int turn) const { return (Variable)((__pg_u64)variable + turn); }
  /* For some turns from that one on, `further` turns from here; where there are fewer than these, for the last of them once more. */
  template <int Turns> __device__ __forceinline__ void begin(int further, int there = Turns)
  {
#pragma unroll
    for (int turn = 0; turn < Turns; turn++)
      first[turn] = load(at(further + (turn < there ? turn : there - 1)));
  }
  template <int Turns> __device__ __forceinline__ void make(int there = Turns)
  {
#pragma unroll
    for (int turn = 0; turn < Turns; turn++)
      now[turn] = rest(at(turn < there ? turn : there - 1), first[turn]);
  }
};
#define __PG_GATHER(name, type, kind, variable, members, loads, text)                                                  \
  struct name##_first {                                                                                                \
    __PG_BARE members                                                                                                  \
  };                                                                                                                   \
  const auto name##_load = [&](const kind variable##_then) -> name##_first {                                           \
    constexpr int __pg_y = 0, __pg_x = 0;                                                                              \
    __PG_MEMBERS const kind variable = variable##_then;                                                                \
    return {__PG_BARE loads};                                                                                          \
  };                                                                                                                   \
  const auto name##_rest = [&](const kind variable##_then, const name##_first &__pg_first) -> type {                   \
    constexpr int __pg_y = 0, __pg_x = 0;                                                                              \
    __PG_MEMBERS const kind variable = variable##_then;                                                                \
    return text;                                                                                                       \
  };                                                                                                                   \
  __pg_gathered<type, name##_first, kind, decltype(name##_load), decltype(name##_rest)> name(variable, name##_load, name##_rest);
#define __PG_ALL_GATHERED(calls)                                                                                       \
  auto __pg_all_gathered = [&](auto __pg_do) { calls };
#define __PG_GATHERED(name, text) (__pg_gathers && __pg_number >= 0 ? name.now[__pg_number] : (text))
/* Before the first turns; before each of them are taken, `next` turns before the next ones; and all of the last ones, which are fewer. */
#define __PG_BEGIN_GATHERING(turns)                                                                                    \
  if constexpr (__pg_gathers)                                                                                          \
    __pg_all_gathered([&](auto &__pg_g) { __pg_g.template begin<turns>(0); });
#define __PG_GO_ON_GATHERING(turns, next)                                                                              \
  if constexpr (__pg_gathers) {                                                                                        \
    __pg_all_gathered([&](auto &__pg_g) { __pg_g.template make<turns>(); });                                           \
    const int __pg_further = next;                                                                                     \
    __pg_all_gathered([&](auto &__pg_g) { __pg_g.template begin<turns>(__pg_further); });                              \
  }
#define __PG_GATHER_LAST(turns, left)                                                                                  \
  const int __pg_there = (int)(left);                                                                                  \
  __pg_all_gathered([&](auto &__pg_g) { __pg_g.template begin<turns>(0, __pg_there); });                               \
  __pg_all_gathered([&](auto &__pg_g) { __pg_g.template make<turns>(__pg_there); });                                   \
  _Pragma("unroll") for (int __pg_number = 0; __pg_number < turns; __pg_number++)                                      \
    if (__pg_number < __pg_there)                                                                                      \
      __pg_turn(__pg_number);

#define __PG_LOAD_AHEAD(first, turns)                                                                                  \
  _Pragma("unroll") for (int __pg_number = 0; __pg_number < turns; __pg_number++)                                      \
    __pg_all([&](auto &__pg_w) { __pg_w.load_ahead(first, __pg_number); });
#define __PG_TAKE_OVER(turns)                                                                                          \
  _Pragma("unroll") for (int __pg_number = 0; __pg_number < turns; __pg_number++)                                      \
    __pg_all([&](auto &__pg_w) { __pg_w.take_over_ahead(__pg_number); });
/* Where few threads run, what the next turns need is loaded before these turns. So much that there are no registers for both is loaded as soon as
 * the values of each of these turns have been used, into the same registers; behind the last turns the same values once more, rather than to
 * ask each time. */
#ifdef __PG_DEEP
#define __PG_TIMES(turns, times)                                                                                       \
  __pg_all([&](auto &__pg_w) { __pg_w.load_what_stays(); });                                                           \
  __PG_BEGIN_GATHERING(turns)                                                                                          \
  __PG_LOAD_AHEAD(0, turns)                                                                                            \
  if constexpr (turns * __pg_of_loop::bytes_ahead > __pg_most_doubled) {                                               \
    __PG_TAKE_OVER(turns)                                                                                              \
    _Pragma("unroll 1") do                                                                                             \
    {                                                                                                                  \
      const int __pg_next = times > 1 ? turns : 0;                                                                     \
      __pg_all([&](auto &__pg_w) { __pg_w.move_ahead(__pg_next); });                                                   \
      __PG_GO_ON_GATHERING(turns, __pg_next)                                                                           \
      _Pragma("unroll") for (int __pg_number = 0; __pg_number < turns; __pg_number++)                                  \
      {                                                                                                                \
        __pg_turn(__pg_number);                                                                                        \
        __pg_all([&](auto &__pg_w) {                                                                                   \
          __pg_w.load_ahead(0, __pg_number);                                                                           \
          __pg_w.take_over_ahead(__pg_number);                                                                         \
        });                                                                                                            \
      }                                                                                                                \
      __pg_all([&](auto &__pg_w) { __pg_w.move_others(turns); });                                                      \
    }                                                                                                                  \
    while (--times)                                                                                                    \
      ;                                                                                                                \
    __pg_all([&](auto &__pg_w) { __pg_w.move_ahead(turns); });                                                         \
  } else                                                                                                               \
    _Pragma("unroll 1") do                                                                                             \
    {                                                                                                                  \
      __PG_TAKE_OVER(turns)                                                                                            \
      if (times > 1)                                                                                                   \
        __PG_LOAD_AHEAD(turns, turns)                                                                                  \
      __PG_GO_ON_GATHERING(turns, times > 1 ? turns : 0)                                                               \
      _Pragma("unroll") for (int __pg_number = 0; __pg_number < turns; __pg_number++) __pg_turn(__pg_number);          \
      __pg_all([&](auto &__pg_w) { __pg_w.move(turns); });                                                             \
    }                                                                                                                  \
    while (--times)                                                                                                    \
      ;
#else
#define __PG_TIMES(turns, times)                                                                                       \
  __pg_all([&](auto &__pg_w) { __pg_w.load_what_stays(); });                                                           \
  __PG_BEGIN_GATHERING(turns)                                                                                          \
  _Pragma("unroll 1") do                                                                                               \
  {                                                                                                                    \
    __PG_LOAD_AHEAD(0, turns)                                                                                          \
    __PG_GO_ON_GATHERING(turns, times > 1 ? turns : 0)                                                                 \
    __PG_TAKE_OVER(turns)                                                                                              \
    _Pragma("unroll") for (int __pg_number = 0; __pg_number < turns; __pg_number++) __pg_turn(__pg_number);            \
    __pg_all([&](auto &__pg_w) { __pg_w.move(turns); });                                                               \
  }                                                                                                                    \
  while (--times)                                                                                                      \
    ;
#endif

#endif
