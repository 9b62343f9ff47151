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
  /* Batches begin where memory's lines do, so that each lane's loads are of as few of them as can be: a row's first one has fewer turns then, by
   * what a line has in front of the first of them. Where that may take a batch more, there are many. */
  constexpr bool aligns = keeps && __pg_may_align;
  constexpr int most = 1 << 30, batch = __pg_batch, worth_aligning = 256;
  static_assert(__pg_line / 4 <= batch || !aligns, "a first batch has turns");
  const int lane = __pg_lane(), place = __pg_slots::place(lane / __PG_SPREAD);
  int row_has[__pg_rows_asked];         /* turns that rows have, from where lanes have asked, and the slots in front of them */
  /* Parts in which something has gone wrong, a bit for each, and what, in any of them. Only what a turn needs, and that it may have, counts. */
  __pg_u32 failed = 0, why = 0;
  int done = 0;                         /* turns of each row since lanes have asked, or slots for them */
  int most_asked = 0;                   /* what the longest of these rows has */
  int in_front = 0;                     /* slots of a first batch in front of this lane's first turn */
  bool is_straight = false;             /* whether everything that is due is ready */
  __pg_u32 fail = 0;                    /* what has gone wrong in what is made for others */
  held.take_room();
  int row_in_front[__pg_rows_asked];    /* slots in front of rows' first turns */
  const auto of_leader = [&](int number) { return __PG_SPREAD == 1 ? number : __shfl_sync(~0u, number, lane / __PG_SPREAD * __PG_SPREAD); };
  /* Leaders with some turns, whose first ones are made where others have none. */
  const auto of_some = [&](auto all) { return __pg_loads_due_only ? 0u : __ballot_sync(~0u, all != 0 && __PG_LEADS); };
  const auto know = [&](int first, int there, __pg_u32 some) {
#pragma unroll
    for (int row = 0; row < __pg_rows_asked; row++) {
      const int leader = __pg_slots::leader(first + row, lane);
      row_has[row] = __shfl_sync(~0u, there, leader);
      const int whose = __pg_loads_due_only || row_has[row] > 0 ? leader : __ffs(some) - 1;
      held.know(row, whose);
      if constexpr (aligns) {
        row_in_front[row] = __shfl_sync(~0u, in_front, leader);
        row_has[row] += row_has[row] > 0 ? row_in_front[row] : 0;
      }
      all_lent([&](auto &lent) { lent.know(row, whose, aligns ? -row_in_front[row] : 0); });
      most_asked = row == 0 || row_has[row] > most_asked ? row_has[row] : most_asked;
    }
    done = 0;
  };
  const auto turn_of = [&](int first, int part) { return __pg_slots::first_turn(first + part) + done + __pg_slots::own_turn(lane); };
  const auto is_due = [&](int first, int part) { return row_has[__pg_row_asked(part)] > turn_of(first, part); };
  /* Does something for all parts that are due; or for all, the first turn of some row where nothing is due. */
  const auto each = [&](int first, auto what) {
    const __pg_u32 before = c.fail;
#pragma unroll
    for (int part = 0; part < __pg_parts_at_once; part++) {
      const int turn = turn_of(first, part);
      const bool due = is_due(first, part);
      held.turn_to(part, due ? turn : 0, due || !__pg_loads_due_only);
      c.fail = 0;
      what(part, due || __pg_loads_due_only ? turn : 0);
      failed |= c.fail != 0 ? 1u << part : 0;
      why |= c.fail;
    }
    c.fail = before;
  };
  /* In slots before the first turn the same is made as of that one: it is nobody's. */
  const auto at_least_first = [&](int part, int turn) {
    if constexpr (!aligns)
      return turn;
    const int its = row_in_front[__pg_row_asked(part)];
    return turn < its ? its : turn;
  };
  /* Nothing is known of the next batch's loads, whether there is one or not: so the compiler sees that nothing is carried on. */
  const auto forget = [&]() {
    held.forget_met();
    failed = why = 0;
  };
  /* What parts load first. */
  const auto begin = [&](int first, bool is_first) {
    each(first, [&](int part, int turn) {
      const int its = is_first ? at_least_first(part, turn) : turn;
      all_lent([&](auto &lent) { lent.begin(part, its); });
    });
  };
  /* The rest. */
  const auto make = [&](int first) {
    each(first, [&](int part, int turn) {
      held.make(part, turn);
      const int its = at_least_first(part, turn);
      all_lent([&](auto &lent) { lent.make(part, its); });
    });
#pragma unroll
    for (int part = 0; part < __pg_parts_at_once; part++) {
      held.put(first, part);
      all_lent([&](auto &lent) { lent.put(first, part); });
    }
  };
  /* Which of this lane's turns are ready by that. */
  const auto ready_of = [&](int first, int due) {
    if (!held.has_any_met()) {
      if (failed != 0) {
#pragma unroll
        for (int part = 0; part < __pg_parts_at_once; part++)
          if (is_due(first, part) && (failed >> part & 1))
            fail |= why;
      }
      return due;
    }
    is_straight = false;
    const int ready = held.before_met(first, lane, due, in_front), slots = ready != 0 ? ready + in_front : 0;
#pragma unroll
    for (int part = 0; part < __pg_parts_at_once; part++)
      if (__pg_slots::turn(first + part, lane) < __shfl_sync(~0u, slots, __pg_slots::leader(first + part, lane)) && (failed >> part & 1))
        fail |= why;
    /* Where rows go on together all lanes know what who leads has found. */
    return keeps ? of_leader(ready) : ready;
  };
  if constexpr (Held::looks) {
    const auto all = left();
    held.ends.turns = all < most ? all : most;
    /* Nobody looks at what lies behind so many. */
    held.ends.are_inside = all <= most;
    held.ends.look_at(__pg_ends::first);
    all_lent([&](auto &lent) { lent.look(0); });
    held.ends.look_at(__pg_ends::second);
    all_lent([&](auto &lent) { lent.look(1); });
    held.ends.look_at(__pg_ends::last);
    all_lent([&](auto &lent) { lent.look((int)held.ends.turns - 1); });
    held.ends.look_at(__pg_ends::none);
  }
  /* What is left of a row whose ends aren't inside each lane runs by itself. */
  const bool is_inside = !Held::looks || held.ends.are_inside;
  for (__pg_u32 times = 1;; times++) {
    /* What an iteration knows that has left another loop leads anywhere, so nobody makes anything for it; but its lane does for others. */
    __pg_u32 has_left = c.left;
    const auto all = !is_inside || has_left ? 0 : left();
    /* Only who leads knows how many there are. */
    if (!__any_sync(~0u, __PG_LEADS && all >= __pg_least_lent))
      break;
    if constexpr (aligns) {
      held.ends.in_front = 0;
      held.ends.look_at(__pg_ends::line);
      all_lent([&](auto &lent) { lent.look(0); });
      held.ends.look_at(__pg_ends::none);
      in_front = of_leader(all >= worth_aligning ? held.ends.in_front : 0);
    }
    const int first_room = batch - in_front;
    int due = held.begin(at, all < first_room ? (int)all : first_room);
    if (Held::moves && !__any_sync(~0u, __PG_LEADS && due != 0))
      break;
    /* What a lane has stored in front of the loop another one may load for it; and the turns before have been taken. */
    __syncwarp();
    /* Turns of this lane's row that are left, as who leads has counted them: lanes that help come to as many, whatever they have loaded. */
    int rest = all < most ? (int)all : most;
    c.left = 0;
    if constexpr (keeps) {
      know(0, rest, of_some(all));
      rest = of_leader(rest);
      forget();
      begin(0, true);
      /* Behind them, because what comes first of turns is waited for. */
      held.begin_turns(due);
    }
    int ready;
    bool has_some, goes_on; /* whether some row has turns behind these; whether these were as they were expected */
    do {
      if constexpr (keeps) {
        const int room = batch - in_front;
        due = rest < room ? rest : room;
        make(0);
        is_straight = true;
        ready = ready_of(0, due);
        rest -= due;
        forget();
        done += batch;
        /* What is left of a row that has had a batch is made ready however few turns it is: their loads come early then. */
        has_some = __pg_rows_asked == __pg_rows_of_warp ? most_asked > done : __any_sync(~0u, __PG_LEADS && rest > 0);
        /* The next batch's. */
        if (has_some)
          begin(0, false);
      } else {
        held.begin_turns(due);
        const __pg_u32 some = of_some(all);
        ready = due;
#pragma unroll 1
        for (int first = 0; first < __pg_parts; first += __pg_parts_at_once) {
          know(first, due, some);
          forget();
          begin(first, false);
          make(first);
          ready = ready_of(first, ready);
        }
        ready = of_leader(ready);
      }
      __syncwarp();
      held.are_ready(ready);
      c.left = has_left;
      int to_take = ready;
      all_lent([&](auto &lent) { lent.go_to(place + in_front); });
      auto take = [&](auto many) {
        constexpr int turns = decltype(many)::columns;
        const int number = ready - to_take;
        all_lent([&](auto &lent) { lent.template fetch<turns>(); });
        to_take -= turns;
#pragma unroll
        for (int i = 0; i < turns; i++) {
          all_lent([&](auto &lent) { lent.use(i); });
          held.begin_turn(place, number + i);
          turn(__pg_with_lent);
          held.end_turn(place, number + i);
        }
      };
      /* Several values at once are asked for from where they begin so. */
      if constexpr (aligns) {
        for (; in_front % 4 != 0 && to_take > 0; in_front++)
          take(__pg_shape<1, 1>());
        in_front = 0;
      }
#pragma unroll 1
      while (to_take >= __pg_lent_at_once)
        take(__pg_shape<1, __pg_lent_at_once>());
      if (to_take > 0) {
        if (__pg_lent_at_once > 8 && to_take >= 8)
          take(__pg_shape<1, 8>());
        if (to_take >= 4)
          take(__pg_shape<1, 4>());
#pragma unroll 1
        while (to_take > 0)
          take(__pg_shape<1, 1>());
      }
      if constexpr (Held::moves) {
        const __pg_u32 before = c.fail;
        has_left = c.left;
        c.fail = c.left = 0;
        held.end_turns(lane, ready);
        fail |= c.fail;
        c.fail = before;
        c.left = has_left;
      }
      __pg_forget_own(c);
      /* Rows go on together: where one has fewer turns ready than are due, all has to be asked again. */
      goes_on = keeps && is_straight && has_some && times % 512 != 0;
      if (goes_on) {
        times++;
        has_left = c.left;
        rest = has_left ? 0 : rest;
        c.left = 0;
        /* Turns have been taken before others are put there. */
        __syncwarp();
      }
    } while (goes_on);
    if (is_straight && times % 512 != 0)
      break;
    /* Turns that load what is held for them. */
    if (Held::may_meet && ready == 0 && (keeps ? due != 0 : all != 0)) {
      held.give_back();
      turn(-1);
      __pg_forget_own(c);
    }
    if (__any_sync(~0u, times % 512 == 0 && stops()))
      break;
    /* Each loads what the turn before has stored: to make more of them ready is in vain. */
    if (Held::may_meet && !__any_sync(~0u, ready > 1))
      break;
  }
  held.give_back();
  __pg_forget_own(c);
  c.fail |= fail | __pg_has_strayed(c);
  __pg_tell(c);
}

/* `kept`: whether what turns load by themselves stays as it is, where they store. */
#define __PG_LENDING(count, kept) constexpr bool __pg_lends = count != 0 && __pg_may_help && (kept) && !__pg_is_edge && !__pg_shares;
