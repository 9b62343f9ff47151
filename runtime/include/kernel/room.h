/* The threads of a block and the lanes of a warp among each other: how many there are of what, and the shared memory that they stage or
 * lend through. What they put there is for stages.h and lent.h to say. */

/* Threads of a tile's block along y. */
constexpr int __pg_high = __PG_BLOCK / __PG_WIDTH;
/* Threads of a line's block may be fewer than it is compiled for, and those of rows in tiles may be launched side by side in twice the width (`Tiles` of grids.rs). */
__device__ __forceinline__ int __pg_thread()
{
  constexpr bool may_be_wide = __PG_ROWS > 1 && __PG_COLUMNS == 1;
  return __pg_high == 1 ? threadIdx.x : threadIdx.x + (may_be_wide ? blockDim.x : __PG_WIDTH) * threadIdx.y;
}
/* What is divided has no sign, so that it takes one instruction. */
__device__ __forceinline__ int __pg_lane() { return (__pg_u32)__pg_thread() % 32; }
__device__ __forceinline__ int __pg_warp() { return (__pg_u32)__pg_thread() / 32; }

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
