/* Groups that reach beyond the last iteration: who of them is there, and what those do that aren't. How whole ones are run is in groups.h. */

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
