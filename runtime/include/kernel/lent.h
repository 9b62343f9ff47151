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
#ifndef __PG_ANYTHING
/* A number that nobody will use. */
#define __PG_ANYTHING(number) asm volatile("" : "=l"(number))
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
  /* Turns and places in two: what depends on the part alone, which the compiler knows, and the lane's own. */
  static __device__ __forceinline__ int first_turn(int part) { return part >> parts << lanes; }
  static __device__ __forceinline__ int own_turn(int lane) { return lane & ((1 << lanes) - 1); }
  static __device__ __forceinline__ int first_place(int part) { return place(row(part, 0)) + first_turn(part); }
  static __device__ __forceinline__ int own_place(int lane) { return place(lane >> lanes) + own_turn(lane); }
};
/* So many parts have their loads under way together; with fewer, a processor holds more warps. Where lanes share an iteration, there are
 * no registers left for what bits take besides, and to keep it elsewhere costs L1 what the turns gather. A range takes two. */
#ifdef __PG_RANGES
constexpr int __pg_parts_at_once = __pg_parts;
#else
constexpr int __pg_parts_at_once = __PG_SPREAD > 1 && __PG_METHOD == PG_LOG_BITMAP ? 1 : __pg_parts;
#endif
/* Turns whose values are fetched together; logs leave fewer registers for them. */
constexpr int __pg_lent_at_once = __PG_METHOD == PG_LOG_NONE ? 16 : 8;
/* So many turns of one lane are worth a batch. */
constexpr int __pg_least_lent = 4;

/* Whether lanes keep what they have asked each other, as long as rows have their slots; then what turns load first is loaded for the next
 * batch while this one's turns are taken. Not where parts are made one after the other. */
constexpr bool __pg_keeps_asked = __pg_parts_at_once >= __pg_parts;

/* Rows that a lane's parts are of; those of the same row follow each other so far apart. */
constexpr int __pg_rows_asked = __pg_keeps_asked ? 1 << __pg_slots::parts : __pg_parts_at_once;
constexpr int __pg_row_asked(int part) { return part % __pg_rows_asked; }
/* What isn't due isn't loaded, which takes no branches where loads are single instructions. Where they are noted by bits, the first turn of some row is
 * made instead: all loads are to be under way together. A range takes no branches. */
#ifdef __PG_RANGES
constexpr bool __pg_has_range = true;
#else
constexpr bool __pg_has_range = false;
#endif
constexpr bool __pg_loads_due_only = __PG_METHOD == PG_LOG_NONE || __pg_has_range;

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
  __device__ __forceinline__ __pg_asked further(int turns) const { return {(First)((__pg_u64)first + turns), rest}; }
};
/* What another lane knows, and what this one does: for that nobody need be asked. */
struct __pg_own_lane {};
template <class Value> __device__ __forceinline__ Value __pg_of_lane(Value value, int lane) { return __shfl_sync(~0u, value, lane); }
template <class Value> __device__ __forceinline__ Value __pg_of_lane(Value value, __pg_own_lane) { return value; }
template <class... Values> __device__ __forceinline__ __pg_asked<Values...> __pg_ask(Values... values)
{
  return __pg_asked<Values...>::of(values...);
}

/* Values of the turns of all lanes, one for each turn. `Room`: bytes that all values of a turn take. */
template <class Type, int Room> struct __pg_handed_over {
  Type *room, *own, *here, now, made[__pg_parts_at_once], next[__pg_lent_at_once];

  /* `before`: bytes that other values take of a turn. */
  __device__ __forceinline__ void take_room(int before)
  {
    constexpr int of_warp = __pg_rows_of_warp * __pg_row_of_room;
    room = (Type *)(__pg_room_of_lent<Room>() + before * of_warp * (__PG_BLOCK / 32)) + __pg_warp() * of_warp;
    own = room + __pg_slots::own_place(__pg_lane());
  }
  __device__ __forceinline__ void go_to(int place) { here = room + place; }
  /* What the next turns have. */
  template <int Turns> __device__ __forceinline__ void fetch()
  {
    constexpr int size = Turns % __pg_pack<Type>::size == 0 ? __pg_pack<Type>::size : 1;
#pragma unroll
    for (int i = 0; i < Turns; i += size) {
      if constexpr (size == 1)
        next[i] = here[i];
      else {
        const __pg_pack<Type> some = *(const __pg_pack<Type> *)(here + i);
#pragma unroll
        for (int number = 0; number < size; number++)
          next[i + number] = some.of[number];
      }
    }
    here += Turns;
  }
  /* `place`: where the row begins. */
  __device__ __forceinline__ Type &at(int place, int turn) { return room[place + turn]; }
  /* `first`: of the parts that are at hand. */
  __device__ __forceinline__ void put(int first, int part) { own[__pg_slots::first_place(first + part)] = made[part]; }
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
#define __PG_PLACE_POINTER(base, pointer)                                                                              \
  __pg_u64 __pg_first_of_##base##pointer = __cvta_generic_to_global(__pg_b##base.dev) - __pg_b##base.lo + (pointer);   \
  __PG_AS_IT_IS(__pg_first_of_##base##pointer)                                                                         \
  __PG_NEAR_POINTER(base, pointer)
#define __PG_POINTER(base, pointer) (__pg_address_by_pointer{(pointer), __pg_first_of_##base##pointer, 0})
#ifdef __PG_RANGES
#define __PG_NEAR_POINTER(base, pointer) __pg_near_pointer __pg_near_of_##base##pointer(__pg_c, __pg_b##base, pointer);
template <class Index, __pg_u64 Step> struct __pg_address_by_index : __pg_address_by_pointer {
  Index index;
  __pg_near_pointer &near;
};
template <__pg_u64 Step, class Index>
__device__ __forceinline__ __pg_address_by_index<Index, Step> __pg_at_index(__pg_address_by_pointer pointer, __pg_near_pointer &near, Index index)
{
  return {{pointer.pointer, pointer.first, (__pg_u64)(__pg_i64)index * Step}, index, near};
}
/* Whether a load is of one cell, and by such a subscript. */
template <class Type, class Address> struct __pg_is_by_index {
  static constexpr bool value = false;
};
template <class Type, class Index, __pg_u64 Step> struct __pg_is_by_index<Type, __pg_address_by_index<Index, Step>> {
  static constexpr bool value = Step == sizeof(Type) && sizeof(Type) == (__pg_u64)1 << __PG_LOG_SHIFT && sizeof(Index) == 4 && (Index)-1 < (Index)0;
};
#define __PG_POINTER_AT(base, pointer, step, index)                                                                    \
  __pg_at_index<step>(__PG_POINTER(base, pointer), __pg_near_of_##base##pointer, index)
#else
#define __PG_NEAR_POINTER(base, pointer)
#define __PG_POINTER_AT(base, pointer, step, index) (__PG_POINTER(base, pointer) + (__pg_u64)(__pg_i64)(index) * step)
#endif
__device__ __forceinline__ char *__pg_near(const __pg_view &v, __pg_u64 address) { return __PG_AT_ONCE(v.dev, address - v.lo); }
__device__ __forceinline__ char *__pg_near(const __pg_view &, __pg_address_by_pointer address)
{
  return (char *)__cvta_global_to_generic(address.first + address.further);
}
/* Bytes that lie together in the caches, and come from memory together. */
constexpr int __pg_line = 128;
/* Turns of a row load side by side from where the first does to where the last does. So it is enough to look at these, before the turns, instead
 * of checking each load: each lane does for its own row. Not where the runtime knows that all of them are in their array. */
struct __pg_ends {
  /* Which turn's addresses are looked at: the first one's, the next one's, the last one's. */
  enum look { none, first, second, last, line } look = none;
  bool are_inside = true;
  int loads = 0;
  __pg_u64 turns = 0, from[4], step[4];
  int in_front = 0; /* turns that a line of memory has in front of the first one */
  __device__ __forceinline__ void look_at(enum look at)
  {
    look = at;
    loads = 0;
  }
  __device__ __forceinline__ void see(const __pg_ctx &c, const __pg_view &v, __pg_u64 address, int size)
  {
    if (look == line) {
      const int turns = (int)((__pg_u64)__pg_near(v, address) % __pg_line) / size;
      if (size >= 4 && turns > in_front)
        in_front = turns;
      return;
    }
    const int load = loads++;
    if (load >= 4) {
      are_inside = false;
      return;
    }
    if (look == first)
      from[load] = address;
    else if (look == second)
      step[load] = address - from[load];
    else
      are_inside &= address - from[load] == step[load] * (turns - 1) && step[load] % size == 0;
    if (look != second)
      are_inside &= __pg_is_there(&c, &v, 0, address, size);
  }
};
constexpr bool __pg_looks_at_ends = __pg_loads_due_only && __pg_keeps_asked;
/* Whether batches may begin where memory's lines do (warps.h). Not of rows with sixteen lanes: the longest of them are what all others wait for, and
 * it took them a tenth longer (docs/measurements/2026-11-25-row-order-2.md). */
constexpr bool __pg_may_align = __pg_loads_due_only && __pg_keeps_asked && __PG_SPREAD >= 4 && __PG_SPREAD < 16;
/* How far an address is from some place, so that what doesn't depend on the lane is one number. */
__device__ __forceinline__ __pg_u64 __pg_far_from(__pg_u64 place, __pg_u64 address) { return address - place; }
__device__ __forceinline__ __pg_u64 __pg_far_from(__pg_u64 place, __pg_address_by_pointer address)
{
  return address.pointer - place + address.further;
}
/* The places of an array that a load of this type may have: the first of them, and how many they are. */
template <class Type> struct __pg_places {
  static constexpr __pg_u64 size = sizeof(Type);
  static constexpr int shift = __pg_log2(sizeof(Type));
  __pg_u64 first, count;
  __device__ __forceinline__ __pg_places(const __pg_view &v)
  {
    const __pg_u64 end = (v.lo + v.size) & ~(size - 1);
    first = (v.lo + (size - 1)) & ~(size - 1);
    count = end > first ? (end - first) >> shift : 0;
  }
  /* The number of the place that an address is. One that is none of them, because it isn't aligned or lies outside, has a number that is too large, since
   * the bits that tell so come to be the highest. */
  template <class Address> __device__ __forceinline__ __pg_u64 number(Address address) const
  {
    const __pg_u64 far = __pg_far_from(first, address);
    return far >> shift | far << ((64 - shift) & 63);
  }
};
#ifdef __PG_RANGES
/* Whether a load was due that must not happen. */
__device__ __forceinline__ __pg_u32 __pg_has_strayed(const __pg_ctx &c) { return c.most == ~0u ? PG_FAIL_RANGE : 0; }
/* A load by a subscript of 32 bits, of one cell: the subscript is compared, and noted, as a number that is as far from a place's as all
 * others of the pointer (subscripts.h). */
template <class Type, class Address>
__device__ __forceinline__ Type __pg_load_by_index(__pg_ctx &c, const __pg_view &v, Address address, bool is_due)
{
  const __pg_u32 number = (__pg_u32)address.index + address.near.further;
  const bool is_there = number < address.near.count;
  const __pg_u32 noted = is_there ? number : ~0u;
  const char *place = __pg_near(v, address);
  union {
    __pg_u64 wide;
    Type value;
  } loaded;
  __PG_ANYTHING(loaded.wide);
  if (is_due && is_there)
    loaded.value = *(const Type *)place;
  __PG_WIDEN(address.near.least, address.near.most, noted, is_due)
  return loaded.value;
}
/* A load that a range notes, without a branch: what must not happen, or isn't due, isn't made. Places have numbers as in __pg_places, whose upper half is
 * compared by itself, with 0. Where such a load is due, the range is told so (__pg_has_strayed). */
template <class Type, class Address>
__device__ __forceinline__ Type __pg_load_in_range(__pg_ctx &c, const __pg_view &v, int how, Address address, bool is_due)
{
  if constexpr (__pg_is_by_index<Type, Address>::value)
    return __pg_load_by_index<Type>(c, v, address, is_due);
  constexpr int shift = __pg_log2(sizeof(Type));
  constexpr __pg_u64 size = sizeof(Type);
  constexpr __pg_u32 cells = __PG_CELLS(c.launch, size);
  /* The first of these places, and how many there are. An array whose cells have numbers of 32 bits has no more of them. */
  const __pg_u64 first = (v.lo + (size - 1)) & ~(size - 1), end = (v.lo + v.size) & ~(size - 1);
  __pg_u32 count = end > first ? (__pg_u32)((end - first) >> shift) : 0, first_cell = (__pg_u32)__pg_bit_of(c.launch, &v, first);
  __PG_AS_IT_IS_32(count)
  __PG_AS_IT_IS_32(first_cell)
  const __pg_u64 far = __pg_far_from(first, address);
  const __pg_u32 number = (__pg_u32)(far >> shift), rest = (__pg_u32)(far >> 32 >> shift | far << (32 - shift));
  const bool is_there = (how & (__PG_IS_BOUNDED | __PG_IS_INSIDE)) || (rest == 0 && number < count);
  __pg_u32 cell = is_there ? first_cell + number * cells : ~0u;
  __PG_AS_IT_IS_32(cell)
  const char *place = __pg_near(v, address);
  union {
    __pg_u64 wide;
    Type value;
  } loaded;
  __PG_ANYTHING(loaded.wide);
  if (is_due && is_there)
    loaded.value = *(const Type *)place;
  if (is_due)
    __pg_note_cells(&c, cell, cells == 1 || !is_there ? cell : cell + (cells - 1));
  return loaded.value;
}
#else
__device__ __forceinline__ __pg_u32 __pg_has_strayed(const __pg_ctx &) { return 0; }
#endif
/* Loads what is known to be there. `load`: as it is loaded where that isn't known, or somebody asks for a note; `is_noted`: whether somebody does. While
 * lanes make what others need, none of them has left. What isn't due comes to anything. */
template <class Type, class Address, class Load>
__device__ __forceinline__ Type __pg_load_lent(__pg_ctx &c, const __pg_view &v, int how, bool is_noted, Address address, bool is_due, Load load)
{
#ifdef __PG_RANGES
  if (is_noted)
    return __pg_load_in_range<Type>(c, v, how, address, is_due);
#endif
  const bool is_known = (how & (__PG_IS_BOUNDED | __PG_IS_INSIDE)) && (__PG_METHOD < PG_LOG_ATOMIC || (how & __PG_IS_CONSTANT));
  union {
    __pg_u64 wide;
    Type value;
  } loaded;
  __PG_ANYTHING(loaded.wide);
  const char *place = __pg_near(v, address);
  if (!is_known && __PG_METHOD == PG_LOG_NONE) {
    /* What must not happen isn't due either: that takes fewer instructions than a load from elsewhere. The reason is a number at once: of all parts there
     * would be more conditions than a lane can keep. */
    const __pg_places<Type> places(v);
    __pg_u32 strays = places.number(address) < places.count ? 0 : PG_FAIL_RANGE;
    __PG_AS_IT_IS_32(strays)
    if (is_due)
      c.fail |= strays;
    is_due &= strays == 0;
  } else if (!is_known) {
    if (is_due)
      loaded.value = load(address);
    return loaded.value;
  }
  if (is_due)
    loaded.value = __PG_LOAD(Type, place, how);
  return loaded.value;
}
/* The same of what nobody loads again: it doesn't take the place of what turns gather in L1. `IsOfRow`: whether ends tell where all are. */
template <class Type, bool IsOfRow, class Address, class Held, class Load>
__device__ __forceinline__ Type __pg_load_once(__pg_ctx &c, const __pg_view &v, int how, bool is_kept, bool is_noted, Address address,
                                               Held &held, Load load)
{
  const bool is_known = how & (__PG_IS_BOUNDED | __PG_IS_INSIDE);
  /* What somebody stores to has notes, which ends don't take. */
  const bool has_ends = IsOfRow && Held::looks && (__PG_METHOD == PG_LOG_NONE || is_kept);
  union {
    __pg_u64 wide;
    __pg_u32 narrow;
    Type value;
  } loaded;
  if (held.ends.look != __pg_ends::none) {
    if ((__pg_may_align && held.ends.look == __pg_ends::line) || (!is_known && has_ends))
      held.ends.see(c, v, address, sizeof(Type));
    loaded.wide = 0;
    return loaded.value;
  }
  const bool may_pass = __PG_SPREAD >= 4 && sizeof(Type) >= 4 && (is_known ? (how & __PG_IS_CONSTANT) != 0 : is_kept);
  if (is_known ? !may_pass : !has_ends)
    return __pg_load_lent<Type>(c, v, how, is_noted, address, held.is_due, load);
  const char *place = __pg_near(v, address);
  __PG_ANYTHING(loaded.wide);
  if (!may_pass) {
    if (held.is_due)
      loaded.value = __PG_LOAD(Type, place, how);
  } else if constexpr (sizeof(Type) == 8) {
    if (held.is_due)
      loaded.wide = __PG_ONCE_64(place);
  } else if (held.is_due)
    loaded.narrow = __PG_ONCE_32(place);
  return loaded.value;
}
/* A value that lanes lend each other. `ask` asks a lane for what its value follows from, `load` makes of that the loads that come first, `rest`
 * of both the value. */
template <class Type, int Room, class Ahead, class Ask, class Load, class Rest> struct __pg_lent : __pg_handed_over<Type, Room> {
  using Asked = decltype(((Ask *)0)->operator()(__pg_own_lane()));
  Ask ask;
  Load load;
  Rest rest;
  Asked asked[__pg_rows_asked];
  Ahead ahead[__pg_parts_at_once];
  __device__ __forceinline__ __pg_lent(Ask ask, Load load, Rest rest) : ask(ask), load(load), rest(rest) {}
  __device__ __forceinline__ void know(int row, int whose, int turn) { asked[row] = ask(whose).further(turn); }
  /* Looks at where a turn of the lane's own loads. */
  __device__ __forceinline__ void look(int turn) { ask(__pg_own_lane()).further(turn).call(load); }
  /* `turn`: of the part's row, since lanes have asked. */
  __device__ __forceinline__ void begin(int part, int turn)
  {
    ahead[part] = asked[__pg_row_asked(part)].further(turn).call(load);
  }
  __device__ __forceinline__ void make(int part, int turn)
  {
    this->made[part] =
      asked[__pg_row_asked(part)].further(turn).call([&](auto... values) { return rest(values..., ahead[part]); });
  }
  __device__ __forceinline__ void use(int number) { this->now = this->next[number]; }
};

/* What is loaded in another way than lanes know. */
#define __PG_IF_DUE(t, load) (__pg_held.is_due ? load : (__pg_##t)0)
/* Loads of what neighbouring turns load side by side: once each. */
#define __PG_LD_ONCE(t, b, l, a) __PG_LD_SIDE_BY_SIDE(false, t, b, l, a)
#define __PG_LD_ROW(t, b, l, a) __PG_LD_SIDE_BY_SIDE(true, t, b, l, a)
#define __PG_LD_SIDE_BY_SIDE(is_of_row, t, b, l, a)                                                                    \
  __pg_load_once<__pg_##t, is_of_row>(__pg_c, __pg_b##b, __PG_HOW(b), __PG_IS_KEPT(b), __PG_IS_IN_RANGE(t, b, l), a, __pg_held, \
                                      [&](__pg_u64 __pg_a) -> __pg_##t { return __PG_LD(t, b, l, __pg_a); })
#define __PG_LD_LENT(t, b, l, a)                                                                                       \
  __pg_load_lent<__pg_##t>(__pg_c, __pg_b##b, __PG_HOW(b), __PG_IS_IN_RANGE(t, b, l), a, __pg_held.is_due,                \
                           [&](__pg_u64 __pg_a) -> __pg_##t { return __PG_LD(t, b, l, __pg_a); })
/* Whether a range notes a load, of whole cells. */
#define __PG_IS_IN_RANGE(t, b, l)                                                                                      \
  (__pg_has_range && (l) == 1 && (__PG_HOW(b) & (__PG_HAS_LOG | __PG_IS_CONSTANT)) == __PG_HAS_LOG && sizeof(__pg_##t) >> __PG_LOG_SHIFT != 0)
#define __pg_of(variable) __pg_of_lane(variable, __pg_from)
#define __PG_BARE(...) __VA_ARGS__
#define __PG_AND_THEN(parameters, last) (__PG_BARE parameters, last)
#define __PG_LEND(name, before, type, parameters, arguments, members, loads, text)                                     \
  struct name##_ahead {                                                                                                \
    __PG_BARE members                                                                                                  \
  };                                                                                                                   \
  const auto name##_ask = [&](auto __pg_from) { return __pg_ask arguments; };                                           \
  const auto name##_load = [&] parameters -> name##_ahead { return {__PG_BARE loads}; };                               \
  const auto name##_rest = [&] __PG_AND_THEN(parameters, const name##_ahead &__pg_ahead) -> type { return text; };          \
  __pg_lent<type, __pg_room_of_turn, name##_ahead, decltype(name##_ask), decltype(name##_load), decltype(name##_rest)> name( \
    name##_ask, name##_load, name##_rest);                                                                             \
  if constexpr (__pg_lends)                                                                                            \
    name.take_room(before);
#define __PG_ALL_LENT(calls)                                                                                           \
  auto __pg_all_lent = [&](auto __pg_do) { calls };
#define __PG_LENT(name, text) (__pg_number == __pg_with_lent ? name.now : (text))
