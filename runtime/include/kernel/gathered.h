/* What turns gather is made before them, where they store nothing and iterations are run one by one: of some turns, first all that follows from
 * nothing but their number, then what is loaded from where that says; and what comes first of the next turns before these are taken. With the turns as
 * they stand the compiler would have some of these loads wait for others. Under a log only where it is a bitmap, whose notes of what is gathered come
 * behind all of these loads (notes.h), and ahead of what is computed of them: else the compiler would compute one turn's value before it loads the next
 * one's. Not where what comes first is noted, whose notes of the next turns would come in between. */
constexpr int __pg_gathered_at_once = 4;
constexpr int __pg_turns_gathering(int loads)
{
  return loads == 0 || __pg_at_once(loads) > __pg_gathered_at_once ? __pg_gathered_at_once : __pg_at_once(loads);
}
/* `notes`: loads that come first and are noted. */
#define __PG_GATHERING(count, notes)                                                                                   \
  constexpr bool __pg_gathers = count != 0 && __pg_rows * __pg_columns == 1 &&                                         \
                                (__PG_METHOD < PG_LOG_ATOMIC ||                                                        \
                                 (__PG_METHOD == PG_LOG_BITMAP && __PG_SPREAD == 1 && (notes) == 0 && !__pg_are_noted_alone));
/* By the inner loop's variable `load` makes the loads of a turn that come first, `follow` those that follow from them, `rest` of both the value. */
template <class First, class Then, class Variable, class Load, class Follow, class Rest> struct __pg_gathered {
  const Variable &variable;
  Load load;
  Follow follow;
  Rest rest;
  /* Of the next turns, and of these ones. */
  First next[__pg_gathered_at_once], first[__pg_gathered_at_once];
  Then then[__pg_gathered_at_once];
  __device__ __forceinline__ __pg_gathered(const Variable &variable, Load load, Follow follow, Rest rest)
    : variable(variable), load(load), follow(follow), rest(rest)
  {
  }
  __device__ __forceinline__ Variable at(int turn) const { return (Variable)((__pg_u64)variable + turn); }
  /* For some turns from that one on, `further` turns from here; where there are fewer than these, for the last of them once more. */
  template <int Turns> __device__ __forceinline__ void begin(int further, int there = Turns)
  {
#pragma unroll
    for (int turn = 0; turn < Turns; turn++)
      next[turn] = load(at(further + (turn < there ? turn : there - 1)));
  }
  template <int Turns> __device__ __forceinline__ void make(int there = Turns)
  {
#pragma unroll
    for (int turn = 0; turn < Turns; turn++) {
      first[turn] = next[turn];
      then[turn] = follow(at(turn < there ? turn : there - 1), first[turn], turn);
    }
  }
  /* In a turn. */
  __device__ __forceinline__ auto value(int turn) const { return rest(variable, first[turn], then[turn], turn); }
};
#define __PG_GATHER(name, type, kind, variable, members, loads, then_members, then_loads, text)                        \
  struct name##_first {                                                                                                \
    __PG_BARE members                                                                                                  \
  };                                                                                                                   \
  struct name##_then {                                                                                                 \
    __PG_BARE then_members                                                                                             \
  };                                                                                                                   \
  const auto name##_load = [&](const kind variable##_then) -> name##_first {                                           \
    constexpr int __pg_y = 0, __pg_x = 0;                                                                              \
    __PG_MEMBERS const kind variable = variable##_then;                                                                \
    return {__PG_BARE loads};                                                                                          \
  };                                                                                                                   \
  const auto name##_follow = [&](const kind variable##_then, const name##_first &__pg_first, const int __pg_number) -> name##_then { \
    constexpr int __pg_y = 0, __pg_x = 0;                                                                              \
    __PG_MEMBERS const kind variable = variable##_then;                                                                \
    return {__PG_BARE then_loads};                                                                                     \
  };                                                                                                                   \
  const auto name##_rest = [&](const kind variable##_then, const name##_first &__pg_first, const name##_then &__pg_then, \
                               const int __pg_number) -> type {                                                        \
    constexpr int __pg_y = 0, __pg_x = 0;                                                                              \
    __PG_MEMBERS const kind variable = variable##_then;                                                                \
    return text;                                                                                                       \
  };                                                                                                                   \
  __pg_gathered<name##_first, name##_then, kind, decltype(name##_load), decltype(name##_follow), decltype(name##_rest)> \
    name(variable, name##_load, name##_follow, name##_rest);
#define __PG_ALL_GATHERED(calls)                                                                                       \
  auto __pg_all_gathered = [&](auto __pg_do) { calls };
#define __PG_GATHERED(name, text) (__pg_gathers && __pg_number >= 0 ? name.value(__pg_number) : (text))
/* Before the first turns; before each of them are taken, `next` turns before the next ones; and all of the last ones, which are fewer. */
#define __PG_BEGIN_GATHERING(turns)                                                                                    \
  if constexpr (__pg_gathers)                                                                                          \
    __pg_all_gathered([&](auto &__pg_g) { __pg_g.template begin<turns>(0); });
#define __PG_GO_ON_GATHERING(turns, next)                                                                              \
  if constexpr (__pg_gathers) {                                                                                        \
    __pg_all_noted([&](auto &__pg_n) { __pg_n.begin(); });                                                             \
    __pg_all_gathered([&](auto &__pg_g) { __pg_g.template make<turns>(); });                                           \
    const int __pg_further = next;                                                                                     \
    __pg_all_gathered([&](auto &__pg_g) { __pg_g.template begin<turns>(__pg_further); });                              \
    __pg_all_noted([&](auto &__pg_n) { __pg_n.end(__pg_c); });                                                         \
  }
#define __PG_GATHER_LAST(turns, left)                                                                                  \
  const int __pg_there = (int)(left);                                                                                  \
  __pg_all_gathered([&](auto &__pg_g) { __pg_g.template begin<turns>(0, __pg_there); });                               \
  __pg_all_noted([&](auto &__pg_n) { __pg_n.begin(); });                                                               \
  __pg_all_gathered([&](auto &__pg_g) { __pg_g.template make<turns>(__pg_there); });                                   \
  __pg_all_noted([&](auto &__pg_n) { __pg_n.end(__pg_c); });                                                           \
  __pg_all_noted([&](auto &__pg_n) { __pg_n.begin(); });                                                               \
  _Pragma("unroll") for (int __pg_number = 0; __pg_number < turns; __pg_number++)                                      \
    if (__pg_number < __pg_there)                                                                                      \
      __pg_turn(__pg_number);                                                                                          \
  __pg_all_noted([&](auto &__pg_n) { __pg_n.end(__pg_c); });
