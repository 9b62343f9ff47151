/* What turns gather is made before them, where they store nothing and iterations are run one by one: of some turns, first all that follows from
 * nothing but their number, then the rest; and what comes first of the next turns before these are taken. With the turns as they stand
 * the compiler would have some of these loads wait for others. Not where loads are noted. */
constexpr int __pg_gathered_at_once = 4;
constexpr int __pg_turns_gathering(int loads)
{
  return loads == 0 || __pg_at_once(loads) > __pg_gathered_at_once ? __pg_gathered_at_once : __pg_at_once(loads);
}
#define __PG_GATHERING(count)                                                                                          \
  constexpr bool __pg_gathers = count != 0 && __PG_METHOD < PG_LOG_ATOMIC && __pg_rows * __pg_columns == 1;
/* `load` makes for a turn, by the inner loop's variable, the loads that come first, `rest` of both the value. */
template <class Type, class First, class Variable, class Load, class Rest> struct __pg_gathered {
  const Variable &variable;
  Load load;
  Rest rest;
  First first[__pg_gathered_at_once];
  Type now[__pg_gathered_at_once];
  __device__ __forceinline__ __pg_gathered(const Variable &variable, Load load, Rest rest)
    : variable(variable), load(load), rest(rest)
  {
  }
  __device__ __forceinline__ Variable at(int turn) const { return (Variable)((__pg_u64)variable + turn); }
  /* For some turns from that one on, `further` turns from here; where there are fewer than these, for the last of them once more. */
  template <int Turns> __device__ __forceinline__ void begin(int further, int there = Turns)
  {
#pragma unroll
    for (int turn = 0; turn < Turns; turn++)
      first[turn] = load(at(further + (turn < there ? turn : there - 1)));
  }
  template <int Turns> __device__ __forceinline__ void make(int there = Turns)
  {
#pragma unroll
    for (int turn = 0; turn < Turns; turn++)
      now[turn] = rest(at(turn < there ? turn : there - 1), first[turn]);
  }
};
#define __PG_GATHER(name, type, kind, variable, members, loads, text)                                                  \
  struct name##_first {                                                                                                \
    __PG_BARE members                                                                                                  \
  };                                                                                                                   \
  const auto name##_load = [&](const kind variable##_then) -> name##_first {                                           \
    constexpr int __pg_y = 0, __pg_x = 0;                                                                              \
    __PG_MEMBERS const kind variable = variable##_then;                                                                \
    return {__PG_BARE loads};                                                                                          \
  };                                                                                                                   \
  const auto name##_rest = [&](const kind variable##_then, const name##_first &__pg_first) -> type {                   \
    constexpr int __pg_y = 0, __pg_x = 0;                                                                              \
    __PG_MEMBERS const kind variable = variable##_then;                                                                \
    return text;                                                                                                       \
  };                                                                                                                   \
  __pg_gathered<type, name##_first, kind, decltype(name##_load), decltype(name##_rest)> name(variable, name##_load, name##_rest);
#define __PG_ALL_GATHERED(calls)                                                                                       \
  auto __pg_all_gathered = [&](auto __pg_do) { calls };
#define __PG_GATHERED(name, text) (__pg_gathers && __pg_number >= 0 ? name.now[__pg_number] : (text))
/* Before the first turns; before each of them are taken, `next` turns before the next ones; and all of the last ones, which are fewer. */
#define __PG_BEGIN_GATHERING(turns)                                                                                    \
  if constexpr (__pg_gathers)                                                                                          \
    __pg_all_gathered([&](auto &__pg_g) { __pg_g.template begin<turns>(0); });
#define __PG_GO_ON_GATHERING(turns, next)                                                                              \
  if constexpr (__pg_gathers) {                                                                                        \
    __pg_all_gathered([&](auto &__pg_g) { __pg_g.template make<turns>(); });                                           \
    const int __pg_further = next;                                                                                     \
    __pg_all_gathered([&](auto &__pg_g) { __pg_g.template begin<turns>(__pg_further); });                              \
  }
#define __PG_GATHER_LAST(turns, left)                                                                                  \
  const int __pg_there = (int)(left);                                                                                  \
  __pg_all_gathered([&](auto &__pg_g) { __pg_g.template begin<turns>(0, __pg_there); });                               \
  __pg_all_gathered([&](auto &__pg_g) { __pg_g.template make<turns>(__pg_there); });                                   \
  _Pragma("unroll") for (int __pg_number = 0; __pg_number < turns; __pg_number++)                                      \
    if (__pg_number < __pg_there)                                                                                      \
      __pg_turn(__pg_number);

