/* Iterations with as many turns are run side by side. The lanes of a warp take the turns of all their rows together, so a warp is busy as long as its
 * longest row; where lengths are as chance has it, half of that is waiting. The iterations of a block go to its warps by their length.
 * Which of them a thread has says nothing where nobody knows iterations by their thread: any order is right. So what a length comes to costs time at
 * most, if it is wrong. */
constexpr bool __pg_sorts = __PG_SPREAD > 1 && __PG_METHOD == PG_LOG_NONE;

/* The place that a thread begins with instead of `mine`: those of a block among each other, most turns first. `turns_of`: how many turns the iteration at a
 * place has. All threads of the block have to come here. Where threads have several iterations, they keep them. */
template <class Turns>
__device__ __forceinline__ __pg_count __pg_by_turns(const __pg_launch &l, __pg_count mine, __pg_count end, __pg_count step, Turns turns_of)
{
  constexpr int most = __PG_BLOCK / __PG_SPREAD;
  constexpr __pg_u64 longest = 0xfffffffeu;
  __shared__ __pg_u32 turns[most];
  __shared__ unsigned short whose[most];
  const int rows = blockDim.x / __PG_SPREAD, row = threadIdx.x / __PG_SPREAD, lane = threadIdx.x % __PG_SPREAD;
  if (rows <= __pg_rows_of_warp || end - (__pg_count)l.first > step)
    return mine;
  if (lane == 0) {
    /* Places behind the launch's end come last. */
    __pg_u32 has = 0;
    if (mine < end) {
      const __pg_u64 all = turns_of(mine);
      has = 1 + (__pg_u32)(all < longest ? all : longest);
    }
    turns[row] = has;
  }
  __syncthreads();
  const __pg_u32 own = turns[row];
  int rank = 0;
  for (int other = lane; other < rows; other += __PG_SPREAD)
    rank += turns[other] > own || (turns[other] == own && other < row);
#pragma unroll
  for (int apart = 1; apart < __PG_SPREAD; apart *= 2)
    rank += __shfl_sync(~0u, rank, threadIdx.x % 32 ^ apart);
  if (lane == 0)
    whose[rank] = (unsigned short)row;
  __syncthreads();
  return mine - row + whose[row];
}
