/* Turns that carry nothing on, which the lanes of a warp take side by side, whosever they are. Where turns do, lanes only make them ready for
 * each other (warps.h). */

/* Turns of a lane whose loads are under way together; with more, a processor holds fewer warps. In order: three, all of whose loads are made to come first. Where
 * turns have a log, or load along rows besides (`walks`), registers aren't enough for that (`docs/measurements/2026-11-30-side-by-side.md`). */
constexpr int __pg_side_at_once = 2, __pg_side_in_order = 3;
constexpr int __pg_turns_of_side(int walks)
{
  return __PG_METHOD == PG_LOG_NONE && walks == 0 ? __pg_side_in_order : __pg_side_at_once;
}
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
template <bool Holds, int AtOnce, class Count, class Left, class At, class Held, class Variable, class AllShared, class Turn, class Stops>
__device__ __forceinline__ void __pg_turns_side_by_side(__pg_ctx &c, Left left, At at, Held &held, Variable &value, AllShared all_shared,
                                                        Turn turn, Stops stops)
{
  if (__activemask() != ~0u)
    return;
  const int lane = __pg_lane();
  /* What an iteration knows that has left another loop leads anywhere, so nobody takes turns of it; but its lane does of others. */
  __pg_u32 has_left = c.left;
  const Count own = has_left ? 0 : left();
  /* None, if addresses wrap around on the way, or the lanes' numbers would. */
  const bool is_straight = own != 0 && own < ~(Count)0 - (AtOnce << 5) && at(own - 1) - at(0) == (__pg_u64)held.stride * (__pg_u64)(own - 1);
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
    int is_noted = 0;
    if constexpr (Holds)
      is_noted = held.note_run(place, there, (__pg_u32)number, wide);
    constexpr int at_once = Holds ? AtOnce : 1;
    constexpr bool is_in_order = at_once == __pg_side_in_order;
    /* So many turns of a lane, all their loads before all their stores. Where not all of them are there, the first one is made in the place of those that
     * aren't, and nothing is stored for these. */
    auto take = [&](auto many) {
      constexpr int turns = decltype(many)::columns;
      constexpr bool are_there = !decltype(many)::is_edge;
      if constexpr (Holds) {
        auto is_there = [&](int i) { return are_there || i == 0 || number + ((Count)i << wide) < there; };
        auto its_number = [&](int i) { return is_there(i) ? number + ((Count)i << wide) : number; };
        decltype(held.now) values[turns];
#pragma unroll
        for (int i = 0; i < turns; i++)
          values[i] = held.begin_alone(held.place(place, its_number(i)));
#pragma unroll
        for (int i = 0; i < turns; i++) {
          held.now = values[i];
          value = (Variable)((Count)begin + its_number(i));
          turn(is_in_order ? __pg_side_by_side_in_order : __pg_side_by_side_held);
          values[i] = held.now;
        }
#pragma unroll
        for (int i = 0; i < turns; i++)
          if (!is_there(i))
            continue;
          else if (is_noted)
            held.store_noted(held.place(place, its_number(i)), values[i]);
          else
            held.store(held.place(place, its_number(i)), values[i]);
      } else {
        value = (Variable)((Count)begin + number);
        turn(__pg_side_by_side);
      }
      number += (Count)turns << wide;
    };
    const Count last = there - there % ((Count)at_once << wide);
    for (__pg_u32 times = 1; number < last; times++) {
      take(__pg_shape<1, at_once>());
      if ((times & 1023) == 0 && stops())
        break;
    }
    if constexpr (is_in_order) {
      if (number >= last && number < there)
        take(__pg_shape<1, at_once, true>());
    } else
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
