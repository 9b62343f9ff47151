/* Values that the lanes of a warp make for each other's turns: where they are put, what they are made of, and how they are loaded. When
 * that is done is in warps.h; what turns store meanwhile in held.h. */

#ifndef __PG_ONCE_64
__device__ __forceinline__ __pg_u64 __PG_ONCE_64(const char *place)
{
  __pg_u64 bits;
  asm("ld.global.nc.L1::no_allocate.b64 %0, [%1];" : "=l"(bits) : "l"(__cvta_generic_to_global(place)));
  return bits;
}
__device__ __forceinline__ __pg_u32 __PG_ONCE_32(const char *place)
{
  __pg_u32 bits;
  asm("ld.global.nc.L1::no_allocate.b32 %0, [%1];" : "=r"(bits) : "l"(__cvta_generic_to_global(place)));
  return bits;
}
#endif

/* What the lanes of a warp lend each other, where each runs an iteration of its own and their inner loops go through memory of their
 * own: rows of a sparse matrix, say. By themselves, lanes would load from as many places as there are lanes, at each turn. So some
 * lanes make together what the next turns of one lane need, side by side, as far as it follows from nothing that turns make; the
 * turns themselves stay with the lane, in their order. Atomic and reduction logs know iterations by the thread, so it is not for them. */
/* As many values as shared memory gives at once. */
template <class Type> struct alignas(16) __pg_pack {
  static constexpr int size = __PG_SPREAD > 1 && (sizeof(Type) == 4 || sizeof(Type) == 8) ? 16 / sizeof(Type) : 1;
  Type of[16 / sizeof(Type)];
};
/* Room for some bytes of each turn. */
template <int Bytes> __device__ __forceinline__ char *__pg_room_of_lent()
{
  /* There is more of it than there may be twice. */
  if constexpr (__PG_SPREAD == 1)
    return __pg_room();
  constexpr int bytes = __PG_BLOCK / 32 * __pg_rows_of_warp * __pg_row_of_room * Bytes;
  __shared__ __pg_pack<__pg_u64> room[(bytes + 15) / 16];
  return (char *)room;
}

constexpr int __pg_lanes_of_row = __pg_batch < 32 ? __pg_batch : 32;
constexpr int __pg_log2(int n) { return n < 2 ? 0 : 1 + __pg_log2(n / 2); }
/* Where the turns of a batch are made: neighbours make neighbouring turns, a part the next turns of some rows. Rows that are done keep their
 * parts: to hand these over to others costs more registers than it saves batches. */
struct __pg_slots {
  static constexpr int lanes = __pg_log2(__pg_lanes_of_row), parts = __pg_log2(__pg_rows_of_warp) - (5 - lanes);
  static __device__ __forceinline__ int row(int part, int lane)
  {
    return ((part & ((1 << parts) - 1)) << (5 - lanes)) + (lane >> lanes);
  }
  static __device__ __forceinline__ int turn(int part, int lane) { return (part >> parts << lanes) + (lane & ((1 << lanes) - 1)); }
  static __device__ __forceinline__ int leader(int part, int lane) { return row(part, lane) * __PG_SPREAD; }
  /* Where a row begins in the room. */
  static __device__ __forceinline__ int place(int row) { return row * __pg_row_of_room; }
};
/* So many parts have their loads under way together; with fewer, a processor holds more warps. */
constexpr int __pg_parts_at_once = __pg_parts;
/* Turns whose values are fetched together. */
constexpr int __pg_lent_at_once = 8;
/* So many turns of one lane are worth a batch. */
constexpr int __pg_least_lent = 4;

/* Whether lanes keep what they have asked each other, as long as rows have their slots; then what turns load first is loaded for the next
 * batch while this one's turns are taken. Not where parts are made one after the other. */
constexpr bool __pg_keeps_asked = __pg_parts_at_once >= __pg_parts;

/* What a lane knows of some parts: how many turns a part's row has from the lane's turn on. */
struct __pg_asked_of_lane {
  /* What has gone wrong in making them. */
  __pg_u32 fail;
  int left[__pg_parts_at_once];
  __device__ __forceinline__ bool is_due(int part, int done) const { return left[part] > done; }
};
/* Variables of another lane, from the inner loop's own on. */
template <class... Values> struct __pg_asked {
  static __device__ __forceinline__ __pg_asked of() { return {}; }
  template <class Of, class... Before> __device__ __forceinline__ auto call(const Of &of, Before... before) const
  {
    return of(before...);
  }
};
template <class First, class... Rest> struct __pg_asked<First, Rest...> {
  First first;
  __pg_asked<Rest...> rest;
  static __device__ __forceinline__ __pg_asked of(First first, Rest... rest) { return {first, __pg_asked<Rest...>::of(rest...)}; }
  template <class Of, class... Before> __device__ __forceinline__ auto call(const Of &of, Before... before) const
  {
    return rest.call(of, before..., first);
  }
  /* Some turns on. */
  __device__ __forceinline__ __pg_asked further(__pg_u64 turns) const { return {(First)((__pg_u64)first + turns), rest}; }
};
template <class... Values> __device__ __forceinline__ __pg_asked<Values...> __pg_ask(Values... values)
{
  return __pg_asked<Values...>::of(values...);
}

/* Values of the turns of all lanes, one for each turn. `Room`: bytes that all values of a turn take. */
template <class Type, int Room> struct __pg_handed_over {
  Type *room, now, made[__pg_parts_at_once], next[__pg_lent_at_once];

  /* `before`: bytes that other values take of a turn. */
  __device__ __forceinline__ void take_room(int before)
  {
    constexpr int of_warp = __pg_rows_of_warp * __pg_row_of_room;
    room = (Type *)(__pg_room_of_lent<Room>() + before * of_warp * (__PG_BLOCK / 32)) + __pg_thread() / 32 * of_warp;
  }
  /* What some turns have, from one on. */
  template <int Turns> __device__ __forceinline__ void fetch(int place, int turn)
  {
    constexpr int size = Turns % __pg_pack<Type>::size == 0 ? __pg_pack<Type>::size : 1;
#pragma unroll
    for (int i = 0; i < Turns; i += size) {
      if constexpr (size == 1)
        next[i] = at(place, turn + i);
      else {
        const __pg_pack<Type> some = *(const __pg_pack<Type> *)&at(place, turn + i);
#pragma unroll
        for (int number = 0; number < size; number++)
          next[i + number] = some.of[number];
      }
    }
  }
  /* `place`: where the row begins. */
  __device__ __forceinline__ Type &at(int place, int turn) { return room[place + turn]; }
  __device__ __forceinline__ void put(int part, int place) { room[place] = made[part]; }
};

/* An address that begins with a pointer which is the same for all lanes: what that and the array's place in the GPU's memory come to (`first`)
 * is added up once, not for each load. */
struct __pg_address_by_pointer {
  __pg_u64 pointer, first, further;
  __device__ __forceinline__ operator __pg_u64() const { return pointer + further; }
};
template <class Number> __device__ __forceinline__ __pg_address_by_pointer operator+(__pg_address_by_pointer a, Number by)
{
  return {a.pointer, a.first, a.further + (__pg_u64)by};
}
#ifndef __PG_AS_IT_IS
/* The compiler isn't to take it apart again. */
#define __PG_AS_IT_IS(number) asm("" : "+l"(number));
#endif
#define __PG_PLACE_POINTER(base, pointer)                                                                              \
  __pg_u64 __pg_first_of_##base##pointer = __cvta_generic_to_global(__pg_b##base.dev) - __pg_b##base.lo + (pointer);   \
  __PG_AS_IT_IS(__pg_first_of_##base##pointer)
#define __PG_POINTER(base, pointer) (__pg_address_by_pointer{(pointer), __pg_first_of_##base##pointer, 0})
__device__ __forceinline__ char *__pg_near(const __pg_view &v, __pg_u64 address) { return __PG_AT_ONCE(v.dev, address - v.lo); }
__device__ __forceinline__ char *__pg_near(const __pg_view &, __pg_address_by_pointer address)
{
  return (char *)__cvta_global_to_generic(address.first + address.further);
}
/* Where it must not be loaded, the beginning of the array's memory is, or what is aligned in front of it. */
__device__ __forceinline__ const char *__pg_near_if(bool may, const __pg_view &v, __pg_u64 address, __pg_u64 width)
{
  return __PG_AT_ONCE(v.dev, may ? address - v.lo : -((__pg_u64)v.dev & (width - 1)));
}
__device__ __forceinline__ const char *__pg_near_if(bool may, const __pg_view &v, __pg_address_by_pointer address, __pg_u64 width)
{
  const __pg_u64 nowhere = v.lo - address.pointer - ((__pg_u64)v.dev & (width - 1));
  return (const char *)__cvta_global_to_generic(address.first + (may ? address.further : nowhere));
}
/* Lanes that share an iteration load for each other without branches, whether anybody knows that it is there or not, so that the loads of all
 * parts are under way together. */
constexpr bool __pg_never_branches = __PG_SPREAD > 1;
/* Whether it is there: what has gone wrong, `c` is told. */
template <class Type> __device__ __forceinline__ bool __pg_may_load(__pg_ctx &c, const __pg_view &v, int how, __pg_u64 address)
{
  if (how & (__PG_IS_BOUNDED | __PG_IS_INSIDE))
    return true;
  /* In one comparison: what else is asked is the same for all turns. */
  const __pg_u64 whole = v.size < sizeof(Type) ? 0 : v.size - sizeof(Type) + 1;
  const __pg_u64 room = (address & (sizeof(Type) - 1)) == 0 ? whole : 0;
  const bool may = address - v.lo < room;
  c.fail |= may ? 0u : (__pg_u32)PG_FAIL_RANGE;
  return may;
}
/* Loads what a turn needs. `load`: as it is loaded where there are branches. While lanes make what others need, none of them has left. */
template <class Type, class Address, class Load>
__device__ __forceinline__ Type __pg_load_lent(__pg_ctx &c, const __pg_view &v, int how, int logged, Address address, Load load)
{
  const bool is_there = how & (__PG_IS_BOUNDED | __PG_IS_INSIDE);
  /* Of a base beyond those that masks have a bit for, nobody knows whether it has a log. */
  const bool is_noted = __PG_IS_NOTED(&c, &v, logged, how);
  if (is_there ? is_noted && __PG_SPREAD == 1 : !__pg_never_branches || (is_noted && !(how & __PG_HAS_LOG)))
    return load(address);
  const bool may = __pg_may_load<Type>(c, v, how, address);
  const Type value = __PG_LOAD(Type, is_there ? __pg_near(v, address) : __pg_near_if(may, v, address, sizeof(Type)), how);
  if (is_noted)
    __pg_note_read(&c, &v, how, address, sizeof(Type));
  return value;
}
template <class Type> __device__ __forceinline__ Type __pg_load_past_l1(const char *place)
{
  union {
    __pg_u64 wide;
    __pg_u32 narrow;
    Type value;
  } loaded;
  if constexpr (sizeof(Type) == 8)
    loaded.wide = __PG_ONCE_64(place);
  else
    loaded.narrow = __PG_ONCE_32(place);
  return loaded.value;
}
/* The same of what nobody loads again: it doesn't take the place of what turns gather in L1. `is_seen`: whether it has been seen that it is there. */
template <class Type, class Address, class Load>
__device__ __forceinline__ Type __pg_load_once(__pg_ctx &c, const __pg_view &v, int how, int logged, Address address, Load load,
                                               bool is_seen = false)
{
  const bool is_there = is_seen || (how & (__PG_IS_BOUNDED | __PG_IS_INSIDE));
  constexpr bool may_pass = __PG_SPREAD >= 4 && sizeof(Type) >= 4;
  if (!may_pass || !(how & (__PG_IS_CONSTANT | __PG_HAS_NO_STORES)) || (!is_there && !__pg_never_branches))
    return __pg_load_lent<Type>(c, v, how, logged, address, load);
  if (is_there)
    return __pg_load_past_l1<Type>(__pg_near(v, address));
  const bool may = __pg_may_load<Type>(c, v, how, address);
  return __pg_load_past_l1<Type>(__pg_near_if(may, v, address, sizeof(Type)));
}
/* The same where turns load one element after the other: if the first and the last lie in their array, so do all. Rows of which that isn't so no lane
 * makes ready for another one. */
template <class Type, class Address, class Load>
__device__ __forceinline__ Type __pg_load_row(__pg_ctx &c, const __pg_view &v, int how, int logged, Address address, Load load)
{
#if __PG_SPREAD > 1
  if (c.probes) {
    (void)__pg_may_load<Type>(c, v, how, address);
    return (Type)0;
  }
  return __pg_load_once<Type>(c, v, how, logged, address, load, true);
#else
  return __pg_load_once<Type>(c, v, how, logged, address, load);
#endif
}
/* A value that lanes lend each other. `ask` asks a lane for what its value follows from, `load` makes of that the loads that come first, `rest`
 * of both the value. */
template <class Type, int Room, class Ahead, class Ask, class Load, class Rest> struct __pg_lent : __pg_handed_over<Type, Room> {
  using Asked = decltype(((Ask *)0)->operator()(0));
  Ask ask;
  Load load;
  Rest rest;
  Asked asked[__pg_parts_at_once];
  Ahead ahead[__pg_parts_at_once];
  __device__ __forceinline__ __pg_lent(Ask ask, Load load, Rest rest) : ask(ask), load(load), rest(rest) {}
  /* `turn`: how many turns on from where that lane is now. */
  __device__ __forceinline__ void know(int part, int whose, int turn) { asked[part] = ask(whose).further(turn); }
  /* `done`: turns of the row since then. */
  __device__ __forceinline__ void begin(int part, int done) { ahead[part] = asked[part].further(done).call(load); }
  __device__ __forceinline__ void make(int part, int done)
  {
    this->made[part] = asked[part].further(done).call([&](auto... values) { return rest(values..., ahead[part]); });
  }
  /* What the first and the last of a lane's own turns load first, for what goes wrong. */
  __device__ __forceinline__ void probe(int lane, __pg_u64 turns)
  {
    const Asked own = ask(lane);
    if (turns != 0) {
      (void)own.call(load);
      (void)own.further(turns - 1).call(load);
    }
  }
  __device__ __forceinline__ void use(int number) { this->now = this->next[number]; }
};

/* Loads of what neighbouring turns load side by side: once each. */
#define __PG_LD_ONCE(t, b, l, a)                                                                                       \
  __pg_load_once<__pg_##t>(__pg_c, __pg_b##b, __PG_HOW(b), l, a, [&](__pg_u64 __pg_a) -> __pg_##t { return __PG_LD(t, b, l, __pg_a); })
/* Those whose subscript is the inner loop's variable alone. */
#define __PG_LD_ROW(t, b, l, a)                                                                                        \
  __pg_load_row<__pg_##t>(__pg_c, __pg_b##b, __PG_HOW(b), l, a, [&](__pg_u64 __pg_a) -> __pg_##t { return __PG_LD(t, b, l, __pg_a); })
#define __PG_LD_LENT(t, b, l, a)                                                                                       \
  __pg_load_lent<__pg_##t>(__pg_c, __pg_b##b, __PG_HOW(b), l, a, [&](__pg_u64 __pg_a) -> __pg_##t { return __PG_LD(t, b, l, __pg_a); })
#define __pg_of(variable) __shfl_sync(~0u, variable, __pg_from)
#define __PG_BARE(...) __VA_ARGS__
#define __PG_AND_THEN(parameters, last) (__PG_BARE parameters, last)
#define __PG_LEND(name, before, type, parameters, arguments, members, loads, text)                                     \
  struct name##_ahead {                                                                                                \
    __PG_BARE members                                                                                                  \
  };                                                                                                                   \
  const auto name##_ask = [&](int __pg_from) { return __pg_ask arguments; };                                           \
  const auto name##_load = [&] parameters -> name##_ahead { return {__PG_BARE loads}; };                               \
  const auto name##_rest = [&] __PG_AND_THEN(parameters, const name##_ahead &__pg_ahead) -> type { return text; };          \
  __pg_lent<type, __pg_room_of_turn, name##_ahead, decltype(name##_ask), decltype(name##_load), decltype(name##_rest)> name( \
    name##_ask, name##_load, name##_rest);                                                                             \
  if constexpr (__pg_lends)                                                                                            \
    name.take_room(before);
#define __PG_ALL_LENT(calls)                                                                                           \
  auto __pg_all_lent = [&](auto __pg_do) { calls };
#define __PG_LENT(name, text) (__pg_number == __pg_with_lent ? name.now : (text))
