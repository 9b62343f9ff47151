/* Turns of a warp's inner loops in batches: lanes make them ready for each other, and each takes its own. What is made ready is in lent.h
 * and held.h; turns that any lane may take are in side_by_side.h. */

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
  /* Whether the first turn and the last one find theirs in the arrays that all turns move through: then those between do, and nobody need look again. */
  __pg_u32 is_inside = 1;
#if __PG_SPREAD > 1
  {
    const __pg_u32 before = c.fail;
    const auto turns = left();
    c.fail = 0;
    c.probes = 1;
    held.know(0, lane);
    held.turn_to(0, 0, true);
    all_lent([&](auto &lent) { lent.probe(lane, turns); });
    is_inside = c.fail == 0;
    c.fail = before;
    c.probes = 0;
  }
#endif
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
    c.fail = 0;
#pragma unroll
    for (int part = 0; part < __pg_parts_at_once; part++) {
      held.turn_to(part, its_turn(first, part), true);
      all_lent([&](auto &lent) { lent.begin(part, parts.is_due(part, done) ? done : 0); });
    }
    parts.fail = c.fail;
    c.fail = before;
  };
  /* The rest, and which of this lane's turns are ready by that. */
  const auto make = [&](int first, int due) {
    const __pg_u32 before = c.fail;
    c.fail = 0;
#pragma unroll
    for (int part = 0; part < __pg_parts_at_once; part++) {
      held.turn_to(part, its_turn(first, part), false);
      held.make(part, its_turn(first, part));
      all_lent([&](auto &lent) { lent.make(part, parts.is_due(part, done) ? done : 0); });
    }
    parts.fail |= c.fail;
#pragma unroll
    for (int part = 0; part < __pg_parts_at_once; part++) {
      const int place = __pg_slots::place(__pg_slots::row(first + part, lane)) + __pg_slots::turn(first + part, lane);
      held.put(part, place);
      all_lent([&](auto &lent) { lent.put(part, place); });
    }
    c.fail = before;
    const auto is_due = [&](int part) { return parts.is_due(part, done); };
    const int ready = held.before_met(is_due, first, lane, due);
    return ready;
  };
  for (__pg_u32 times = 1;; times++) {
    /* What an iteration knows that has left another loop leads anywhere, so nobody makes anything for it; but its lane does for others. */
    __pg_u32 has_left = c.left;
    const auto all = has_left || !is_inside ? 0 : left();
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
    bool has_failed = false;
    c.left = 0;
    if constexpr (keeps) {
      if (asks) {
        know(0, all < most ? (int)all : most, 0);
        begin(0);
      }
      ready = make(0, ready);
      has_failed = __any_sync(~0u, parts.fail != 0);
      /* The next batch's. */
      if (!has_failed && __any_sync(~0u, __PG_LEADS && all >= batch + __pg_least_lent)) {
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
        has_failed |= __any_sync(~0u, parts.fail != 0);
      }
      rows = 0;
    }
    /* What goes wrong in a turn that is due each lane finds when it takes that alone. */
    if (has_failed) {
      c.left = has_left;
      break;
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

/* `kept`: whether what turns load by themselves stays as it is, where they store. */
#define __PG_LENDING(count, kept) constexpr bool __pg_lends = count != 0 && __pg_may_help && (kept) && !__pg_is_edge && !__pg_shares;
