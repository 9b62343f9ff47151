/* Which iterations a thread of a launch has, and how those of its group are run together, statement by statement. Groups that reach beyond
 * the last iteration are in edges.h. */

/* What a kernel is compiled for, besides what body/launch.h says:
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
#ifdef __PG_ACROSS
#define __PG_ALONG_Y __PG_ACROSS
#else
#define __PG_ALONG_Y __PG_TILE_Y
#endif
#else
#define __PG_ALONG_X 0
#define __PG_ALONG_Y PG_MAX_DIMS
#endif
#define __PG_OF_GROUP(dim, first)                                                                                      \
  ((first) + ((dim) == __PG_ALONG_X ? __pg_x * __PG_WIDTH : (dim) == __PG_ALONG_Y ? __pg_y : 0))

/* The time of a chain's launch is counted from here on, and of others from the event in front of them: much may have to be made ready in front of it. */
#ifdef __PG_TILE_X
#define __PG_IS_FIRST_THREAD ((blockIdx.x | blockIdx.y | blockIdx.z | threadIdx.x | threadIdx.y) == 0)
#else
#define __PG_IS_FIRST_THREAD ((blockIdx.x | threadIdx.x) == 0)
#endif
#define __PG_SAY_BEGUN                                                                                                 \
  if (__PG_IS_FIRST_THREAD && __pg_l.begun != 0)                                                                       \
    *__pg_l.begun = 1;

/* Where a thread of a line begins, before which place its launch ends, and how far apart the thread's own places are. */
#define __PG_STEP (gridDim.x * ((__pg_count)blockDim.x * __PG_COLUMNS) / __PG_SPREAD)
#define __PG_FIRST                                                                                                     \
  ((__pg_count)__pg_l.first + (blockIdx.x * ((__pg_count)blockDim.x * __PG_COLUMNS) + threadIdx.x) / __PG_SPREAD)
/* Of several lanes that run an iteration one leads. The others help with what lanes lend each other: what they store themselves, and
 * what they find wrong, counts for nothing, since they may load what the one that leads has stored already. */
#define __PG_LEAD if ((__pg_number == __pg_side_by_side || __PG_LEADS) && __PG_IS_THERE)
/* Turns that are run at once have their number among those. Others: turns that are taken alone, and text outside of turns; turns that use
 * what was lent; turns that lanes take side by side, whosever they are; the same where what they store is held; and where all their loads come first besides. */
constexpr int __pg_number = -1, __pg_with_lent = -2, __pg_side_by_side = -3, __pg_side_by_side_held = -4, __pg_side_by_side_in_order = -5;
/* Whether the text stands for the thread's own iterations: their origins and walks are nobody else's, whose turn lanes take side by side. */
#define __PG_IS_OWN_TURN (__pg_number > __pg_side_by_side)
#define __PG_END ((__pg_count)__pg_l.end)

/* Whether a group has all its iterations, by how many there are from its first one on along a dimension. */
#define __PG_HAS_ALL(dim, left)                                                                                        \
  (__PG_ROWS * __PG_COLUMNS == 1 ||                                                                                    \
   ((dim) == __PG_ALONG_X ? (left) > (__PG_COLUMNS - 1) * __PG_WIDTH : (dim) == __PG_ALONG_Y ? (left) > __PG_ROWS - 1 : 1))

/* Where dimensions are merged, a thread's iterations have nothing in common, so there are no groups. But of short bodies two stand one behind the other, so that
 * twice as many loads are under way; whoever asks for an iteration's number would have the first one's. */
#if defined(__PG_ORDERED) || defined(__PG_BACKWARDS)
constexpr bool __pg_in_pairs = false;
#else
constexpr bool __pg_in_pairs = __PG_METHOD == PG_LOG_NONE && __PG_ROWS * __PG_COLUMNS == 1 && __PG_SPREAD == 1;
#endif
#define __PG_PAIRS(j, end, step)                                                                                       \
  if constexpr (__pg_in_pairs)                                                                                         \
    for (const __pg_count __pg_last = (end) > (step) ? (end) - (step) : 0; (j) < __pg_last; (j) += 2 * (step))
#define __PG_EACH_OF_PAIR _Pragma("unroll") for (int __pg_x = 0; __pg_x < 2; __pg_x++)
#define __PG_OF_PAIR(j, step) ((j) + __pg_x * (step))

/* Those of a group that hasn't, one by one: to have the compiler repeat their text would only make kernels longer. */
#define __PG_NOT_UNROLLED _Pragma("unroll 1")
/* Of a short loop that never asks: with a jump for each turn mandelbrot took two percent longer. */
#define __PG_UNROLLED _Pragma("unroll 4")

#define __PG_ALONE                                                                                                     \
  constexpr int __pg_rows = 1, __pg_columns = 1, __pg_y = 0, __pg_x = 0;                                               \
  constexpr bool __pg_is_edge = false;                                                                                 \
  const __pg_last<false> __pg_last_of_part(__pg_l, __pg_corner{});
#define __PG_EACH                                                                                                      \
  _Pragma("unroll") for (int __pg_y = 0; __pg_y < __pg_rows; __pg_y++)                                                 \
    _Pragma("unroll") for (int __pg_x = 0; __pg_x < __pg_columns; __pg_x++)
#define __PG_DECLARE_MEMBERS(type, name) type name##_of[__pg_rows][__pg_columns] = {};
#define __PG_MEMBER(type, name) type &name = name##_of[__pg_y][__pg_x];
