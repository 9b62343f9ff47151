/* Inner loops as generated text has them: when they ask whether to go on, and in which of the ways their turns are run: in stages, lent,
 * side by side, or some at once with their loads first. The ways themselves are in the parts before. */

/* Loops of few turns, as many as the text says: they don't ask whether to go on. `notes`: whether they load what is logged. A log that notes
 * loads takes so much text for each that unrolled loops of them were compiled for seconds. */
constexpr int __pg_unrolled(bool notes) { return __PG_METHOD >= PG_LOG_ATOMIC && notes ? 1 : 1024; }
#define __PG_FEW(notes)                                                                                                \
  constexpr int __pg_few = __pg_unrolled(notes);                                                                       \
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

/* `kept`: whether the limit is the same before and in the loop. */
#define __PG_TURNS(kept, cond, type, unsigned_type, value, limit)                                                      \
  {                                                                                                                    \
    auto __pg_turn = [&](int __pg_number)
#define __PG_TURNS_END(kept, cond, type, unsigned_type, value, limit, logs, stages, ...)                                 \
  ;                                                                                                                    \
  using __pg_of_loop = __pg_walks<__VA_ARGS__>;                                                                        \
  constexpr int __pg_turns = __pg_gathers && __pg_turns_noted == 0 ? __pg_turns_gathering(__pg_of_loop::loads)         \
                             : __pg_turns_noted != 0 && !(__pg_lends && (logs))                                        \
                               ? __pg_turns_noted                                                                      \
                               : __pg_turns_at_once(__pg_of_loop::loads, (logs), __pg_lends);                          \
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
    __pg_turns_side_by_side<__pg_shares_held, __pg_turns_of_side(__pg_of_loop::number), unsigned_type>(                 \
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
      __pg_all_noted([&](auto &__pg_n) { __pg_n.begin(); });                                                           \
      _Pragma("unroll") for (int __pg_number = 0; __pg_number < turns; __pg_number++)                                  \
      {                                                                                                                \
        __pg_turn(__pg_number);                                                                                        \
        __pg_all([&](auto &__pg_w) {                                                                                   \
          __pg_w.load_ahead(0, __pg_number);                                                                           \
          __pg_w.take_over_ahead(__pg_number);                                                                         \
        });                                                                                                            \
      }                                                                                                                \
      __pg_all_noted([&](auto &__pg_n) { __pg_n.end(__pg_c); });                                                       \
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
      __pg_all_noted([&](auto &__pg_n) { __pg_n.begin(); });                                                           \
      _Pragma("unroll") for (int __pg_number = 0; __pg_number < turns; __pg_number++) __pg_turn(__pg_number);          \
      __pg_all_noted([&](auto &__pg_n) { __pg_n.end(__pg_c); });                                                       \
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
    __pg_all_noted([&](auto &__pg_n) { __pg_n.begin(); });                                                             \
    _Pragma("unroll") for (int __pg_number = 0; __pg_number < turns; __pg_number++) __pg_turn(__pg_number);            \
    __pg_all_noted([&](auto &__pg_n) { __pg_n.end(__pg_c); });                                                         \
    __pg_all([&](auto &__pg_w) { __pg_w.move(turns); });                                                               \
  }                                                                                                                    \
  while (--times)                                                                                                      \
    ;
#endif
