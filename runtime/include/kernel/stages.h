/* The threads of a tile's block load together what turns of their inner loops have in common, and run these turns. How a walk takes part
 * is in walks.h; blocks without tiles have no stages. */

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
