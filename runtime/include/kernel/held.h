/* The one place that turns store to, while lanes lend each other what these turns need. Values that nothing stores to are in lent.h. */

template <bool Holds, class Type, class Other> struct __pg_one_of {
  using type = Type;
};
template <class Type, class Other> struct __pg_one_of<false, Type, Other> {
  using type = Other;
};
/* The one place that turns store to is held meanwhile: in a register where all turns have the same (Stride 0), else with what lanes
 * lend each other. What turns load besides, before them, must not be what is held: the first turn that would load that isn't made
 * ready, nor are those behind it. */
template <class Type, int Room, int Stride, bool IsLoaded, bool Meets, class Load, class Store, class NoteRun, class StoreNoted>
struct __pg_holding : __pg_handed_over<Type, Room> {
  /* Turns of which none meets what is held are as many as are due, unless places may wrap around. */
  static constexpr bool moves = Stride != 0, may_meet = Meets || moves, looks = __pg_looks_at_ends && !moves;
  __pg_ends ends;
  static constexpr __pg_i64 stride = Stride;
  Load load;
  Store store;
  /* Of turns whose number is known: notes their places, if these lie side by side (runs.h), and then stores to one of them. */
  NoteRun note_run;
  StoreNoted store_noted;
  /* Of one place the lower half is enough to tell it from others: what is taken for it and isn't only costs time. */
  using Told = typename __pg_one_of<Stride != 0, __pg_u64, __pg_u32>::type;
  __pg_u64 first; /* the first turn's place: this lane's, and those of rows that are made ready */
  Told asked[__pg_rows_asked];
  /* Whether loads of a part have met what is held. */
  bool has_met[__pg_parts_at_once] = {};
  bool is_due = true; /* whether the part that loads are made for is */
  bool is_held = false; /* where all turns have the same: whether it is in the register */
  int part, turn;

  __device__ __forceinline__ __pg_holding(Load load, Store store, NoteRun note_run, StoreNoted store_noted)
    : load(load), store(store), note_run(note_run), store_noted(store_noted)
  {
  }
  __device__ __forceinline__ void take_room()
  {
    if constexpr (moves)
      __pg_handed_over<Type, Room>::take_room(0);
  }
  /* Of turns that are due: how many can be made ready, by their places. None, if addresses wrap around on the way. */
  template <class At> __device__ __forceinline__ int begin(At at, int due)
  {
    first = at(0);
    return !moves || (due != 0 && at(due - 1) - first == (__pg_u64)((__pg_i64)Stride * (due - 1))) ? due : 0;
  }
  __device__ __forceinline__ __pg_u64 place(__pg_u64 from, __pg_u64 turn) const { return from + turn * Stride; }
  __device__ __forceinline__ void know(int row, int whose) { asked[row] = __shfl_sync(~0u, (Told)first, whose); }
  /* Of the next batch's loads nothing is known. */
  __device__ __forceinline__ void forget_met()
  {
#pragma unroll
    for (int part = 0; part < __pg_parts_at_once; part++)
      has_met[part] = false;
  }
  /* The part that loads are made for, and which turn of its row that is: whether one meets what turns up to that one store to is to be
   * seen. */
  __device__ __forceinline__ void turn_to(int next, int its_turn, bool due)
  {
    part = next;
    turn = its_turn;
    is_due = due;
  }
  __device__ __forceinline__ void make(int part, int turn)
  {
    if constexpr (moves && IsLoaded)
      if (is_due)
        this->made[part] = load(place(asked[__pg_row_asked(part)], turn));
  }
  __device__ __forceinline__ void put(int first, int part)
  {
    if constexpr (moves && IsLoaded)
      __pg_handed_over<Type, Room>::put(first, part);
  }
  __device__ __forceinline__ void note(bool meets)
  {
    if (ends.look == __pg_ends::none)
      has_met[part] |= meets && is_due;
  }
  __device__ __forceinline__ void see(__pg_u64 address, __pg_u64 size)
  {
    const __pg_u64 from = asked[__pg_row_asked(part)];
    if constexpr (!moves) {
      note((__pg_u32)address - (__pg_u32)from + (__pg_u32)(size - 1) < (__pg_u32)(sizeof(Type) + size - 1));
      return;
    }
    bool meets = address + size > from && address < place(from, turn) + sizeof(Type);
    /* Between the places may lie others: fields of the same structs. */
    if constexpr (Stride > (int)sizeof(Type))
      if (meets && size <= Stride) {
        const __pg_u64 within = (address + Stride - from) % Stride;
        meets = within < sizeof(Type) || within + size > Stride;
      }
    note(meets);
  }
  __device__ __forceinline__ bool has_any_met() const
  {
    bool any = false;
#pragma unroll
    for (int part = 0; part < __pg_parts_at_once; part++)
      any |= has_met[part];
    return Meets && __any_sync(~0u, any);
  }
  /* How many turns of this lane come before the first one whose loads have met what is held. `first`: of the parts; `in_front`: slots in front
   * of the lane's first turn. */
  __device__ __forceinline__ int before_met(int first, int lane, int due, int in_front) const
  {
#pragma unroll
    for (int part = 0; part < __pg_parts_at_once; part++) {
      const __pg_u32 met = __ballot_sync(~0u, has_met[part]);
      /* The lane that has made the first of this row's turns in the part, if it is one of the part's rows. */
      constexpr int lanes = __pg_lanes_of_row;
      const int own = lane / __PG_SPREAD, at = own % (32 / lanes) * lanes;
      const bool is_here = __pg_slots::row(first + part, at) == own;
      const __pg_u32 of_row = met >> at & (~0u >> (32 - lanes));
      const int met_at = __pg_slots::turn(first + part, at) + __ffs(of_row) - 1 - in_front, turns = met_at < 0 ? 0 : met_at;
      due = is_here && of_row != 0 && turns < due ? turns : due;
    }
    return due;
  }
  __device__ __forceinline__ Type begin_alone(__pg_u64 address)
  {
    if constexpr (IsLoaded)
      return load(address);
    return (Type)0;
  }
  __device__ __forceinline__ void begin_turns(int due)
  {
    if constexpr (!moves)
      if (due != 0 && !is_held) {
        this->now = IsLoaded ? load(first) : (Type)0;
        is_held = IsLoaded;
      }
  }
  /* What nobody has loaded is only stored behind a turn: the first one may load what is there by itself, and isn't made ready then. */
  __device__ __forceinline__ void are_ready(int turns)
  {
    if constexpr (!moves && !IsLoaded)
      is_held |= turns != 0;
  }
  /* Stores what is in the register: it isn't held any more. */
  __device__ __forceinline__ void give_back()
  {
    if constexpr (!moves) {
      if (is_held && __PG_LEADS)
        store(first, this->now);
      is_held = false;
    }
  }
  __device__ __forceinline__ void begin_turn(int place, int turn)
  {
    if constexpr (moves && IsLoaded)
      this->now = this->at(place, turn);
  }
  __device__ __forceinline__ void end_turn(int place, int turn)
  {
    if constexpr (moves) {
      /* All lanes of the row have read it by then. */
      if constexpr (IsLoaded && __PG_SPREAD > 1)
        __syncwarp(((1u << __PG_SPREAD) - 1) << __pg_lane() / __PG_SPREAD * __PG_SPREAD);
      if (__PG_LEADS)
        this->at(place, turn) = this->now;
    }
  }
  __device__ __forceinline__ void end_turns(int lane, int due)
  {
    if constexpr (moves) {
      __syncwarp();
#pragma unroll __pg_parts_at_once
      for (int part = 0; part < __pg_parts; part++) {
        const int leader = __pg_slots::leader(part, lane), turn = __pg_slots::turn(part, lane);
        const int there = __shfl_sync(~0u, due, leader);
        const __pg_u64 from = __shfl_sync(~0u, first, leader);
        if (turn < there)
          store(place(from, turn), this->at(__pg_slots::place(__pg_slots::row(part, lane)), turn));
      }
      __syncwarp();
    }
  }
};
/* Where turns store nothing. */
struct __pg_holding_nothing {
  static constexpr bool moves = false, may_meet = false, looks = __pg_looks_at_ends;
  __pg_ends ends;
  static constexpr __pg_i64 stride = 0;
  bool is_due = true;
  int now;
  __device__ __forceinline__ int begin_alone(__pg_u64) { return 0; }
  __device__ __forceinline__ __pg_u64 place(__pg_u64 from, __pg_u64) const { return from; }
  __device__ __forceinline__ void store(__pg_u64, int) {}
  __device__ __forceinline__ void take_room() {}
  template <class At> __device__ __forceinline__ int begin(At, int due) { return due; }
  __device__ __forceinline__ void know(int, int) {}
  __device__ __forceinline__ void forget_met() {}
  __device__ __forceinline__ void turn_to(int, int, bool due) { is_due = due; }
  __device__ __forceinline__ void make(int, int) {}
  __device__ __forceinline__ void put(int, int) {}
  __device__ __forceinline__ bool has_any_met() const { return false; }
  __device__ __forceinline__ int before_met(int, int, int due, int) const { return due; }
  __device__ __forceinline__ void begin_turns(int) {}
  __device__ __forceinline__ void are_ready(int) {}
  __device__ __forceinline__ void begin_turn(int, int) {}
  __device__ __forceinline__ void end_turn(int, int) {}
  __device__ __forceinline__ void end_turns(int, int) {}
  __device__ __forceinline__ void give_back() {}
};

#define __PG_HOLDING_NOTHING(type)                                                                                     \
  __pg_holding_nothing __pg_held;                                                                                      \
  const auto __pg_held_at = [](const type) -> __pg_u64 { return 0; };
#define __PG_HOLDING(type, variable, t, base, logged, stride, is_loaded, meets, address)                               \
  const auto __pg_held_at = [&](const type variable) -> __pg_u64 { return address; };                                  \
  const auto __pg_load_held = [&](__pg_u64 __pg_a) -> __pg_##t { return __PG_LD(t, base, logged, __pg_a); };           \
  const auto __pg_store_held = [&](__pg_u64 __pg_a, __pg_##t __pg_value) {                          \
    if (__PG_IS_THERE)                                                                                                 \
      __pg_st_##t(&__pg_c, &__pg_b##base, __PG_HOW(base), __pg_a, __pg_value);                                         \
  };                                                                                                                   \
  const auto __pg_note_held = [&](__pg_u64 __pg_a, __pg_u64 __pg_count, __pg_u32 __pg_lane, int __pg_wide) -> int {    \
    return stride == (int)sizeof(__pg_##t) && !__pg_is_edge &&                                                         \
           __pg_note_run(__pg_c, __pg_b##base, __PG_HOW(base), __pg_a, __pg_count, (__pg_u32)sizeof(__pg_##t), __pg_lane, __pg_wide); \
  };                                                                                                                   \
  const auto __pg_store_noted = [&](__pg_u64 __pg_a, __pg_##t __pg_value) {                                            \
    if (__pg_may_access(&__pg_c, &__pg_b##base, __PG_HOW(base), __pg_a, (__pg_u32)sizeof(__pg_##t)))                   \
      __pg_set_##t##_at(&__pg_c, __PG_TRANSLATED_FOR(&__pg_b##base, __PG_HOW(base), __pg_a), __pg_value);              \
  };                                                                                                                   \
  __pg_holding<__pg_##t, __pg_room_of_turn, stride, is_loaded, (meets), decltype(__pg_load_held), decltype(__pg_store_held),    \
               decltype(__pg_note_held), decltype(__pg_store_noted)>                                                   \
    __pg_held(__pg_load_held, __pg_store_held, __pg_note_held, __pg_store_noted);
#define __PG_IS_HELD                                                                                                   \
  (__pg_number == __pg_with_lent || __pg_number == __pg_side_by_side_held || __pg_number == __pg_side_by_side_in_order)
#define __PG_HELD(text) (__PG_IS_HELD ? __pg_held.now : (text))
#define __PG_HOLD(value, store)                                                                                        \
  if (__PG_IS_HELD)                                                                                   \
    __pg_held.now = value;                                                                                             \
  else                                                                                                                 \
    store
/* A load that is made before turns that store. What a range notes need not be seen: what is held is stored in the end, so the range has a cell in it
 * that is stored to, and nothing of the run counts. */
#define __PG_SEES(t, b, l) (!__PG_IS_KEPT(b) && !__PG_IS_IN_RANGE(t, b, l))
#define __PG_SEEN(how, t, b, l, a)                                                                                     \
  [&](auto __pg_a) -> __pg_##t {                                                                                       \
    if constexpr (__PG_SEES(t, b, l))                                                                                  \
      __pg_held.see(__pg_a, sizeof(__pg_##t));                                                                         \
    return how(t, b, l, __pg_a);                                                                                       \
  }(a)
