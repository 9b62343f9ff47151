/* How accesses of inner loops move through memory, and the values that they bring for turns which are run at once. What a block stages of
 * a walk is here too, as it follows from the same strides; when it does so is in stages.h, when turns are run in turns.h. */

/* A stride that only the launch knows. */
constexpr __pg_i64 __pg_unknown = (__pg_i64)1 << 62;
constexpr __pg_i64 __pg_along(int dim, __pg_i64 s0, __pg_i64 s1, __pg_i64 s2, __pg_i64 s3, __pg_i64 times)
{
  const __pg_i64 s = dim == 0 ? s0 : dim == 1 ? s1 : dim == 2 ? s2 : dim == 3 ? s3 : 0;
  return s == __pg_unknown ? s : s * times;
}

/* How far apart such a stride leads; what only the launch knows may lead anywhere. */
constexpr __pg_i64 __pg_distance(__pg_i64 stride) { return stride < 0 ? -stride : stride; }

/* Values that a thread loads at once, before it uses them. */
constexpr int __pg_most_loaded =
#ifdef __PG_DEEP
  64;
#else
  32;
#endif
/* Bytes of them for which a thread has registers twice. */
constexpr int __pg_most_doubled = 256;
/* So many of them are worth as much text as the accesses of a turn that a log notes which knows iterations: there it is the log that takes time,
 * and 32 turns of it at once were compiled for a second. */
#define __PG_LOGGING                                                                                                   \
  (__PG_METHOD == PG_LOG_ATOMIC || __PG_METHOD == PG_LOG_REDUCTION || __PG_METHOD == PG_LOG_STAMP ? __pg_most_loaded / 4 : 0)
/* Most turns of a stage. */
constexpr int __pg_most_staged = 16;
/* Turns that are run at once where each has so many such loads. */
constexpr int __pg_at_once(int loads)
{
  int turns = loads == 0 ? 4 : 32;
  while (turns > 1 && turns * loads > __pg_most_loaded)
    turns /= 2;
  return turns;
}

/* The same of turns that `logs` says to do what is logged. What rows lend each other leaves a few turns: a bitmap's notes are worth no more text
 * than once there. Nor are those of logs that know iterations, where no load would be under way ahead of them: five copies of a turn were
 * half of what such kernels took to compile. */
constexpr int __pg_turns_at_once(int loads, bool logs, bool lends)
{
  return logs && (__PG_METHOD == PG_LOG_BITMAP ? lends : __PG_LOGGING != 0 && loads == 0) ? 1
                                                                                          : __pg_at_once(loads + (logs ? __PG_LOGGING : 0));
}

/* How one access of an inner loop moves, for each iteration of a group. Strides in bytes: from row to row, column to column, turn to
 * turn. Loaded: whether its loads come before the turns, once where it doesn't move; else they are made in them. */
template <class Type, int Rows, int Columns, bool Loaded, __pg_i64 RowStride, __pg_i64 ColumnStride, __pg_i64 TurnStride,
          bool IsEdge>
struct __pg_walk {
  /* What differs by a known stride needs no pointer of its own, what is the same no load. */
  static constexpr int pointer_rows = RowStride == __pg_unknown && !IsEdge ? Rows : 1;
  static constexpr int pointer_columns = ColumnStride == __pg_unknown && !IsEdge ? Columns : 1;
  static constexpr int value_rows = RowStride == 0 ? 1 : Rows, value_columns = ColumnStride == 0 ? 1 : Columns;
  static constexpr bool stays = Loaded && TurnStride == 0, is_ahead = Loaded && !stays;
  static constexpr int loads = is_ahead ? value_rows * value_columns : 0;
  static constexpr int bytes_ahead = loads * (int)sizeof(Type);
  static constexpr int most_turns = is_ahead ? __pg_at_once(loads) : 1;

  /* What a block may stage of it: places, of all of the block's rows or of all of its columns, that differ in a turn. */
  static constexpr bool by_row = RowStride != 0, by_column = ColumnStride != 0;
  static constexpr bool is_staged = Loaded && !(by_row && by_column);
  static constexpr int places = by_row ? __pg_high * Rows : by_column ? __PG_WIDTH * Columns : 1;
  static constexpr __pg_i64 place_stride =
    by_row ? RowStride : ColumnStride == __pg_unknown ? __pg_unknown : ColumnStride / __PG_WIDTH;
  /* Neighbours load what lies nearer to each other: turns or places. Where it is turns, there is room between these, so that they are
   * stored to banks of their own. */
  static constexpr bool along_turns = places == 1 || __pg_distance(TurnStride) < __pg_distance(place_stride);
  static constexpr int places_of_turn = places + (along_turns ? 16 / (int)sizeof(Type) : 0);
  static constexpr int bytes_of_turn = is_staged ? places_of_turn * (int)sizeof(Type) : 0;

  const char *pointers[pointer_rows][pointer_columns];
  __pg_i64 stride;
  /* At an edge all members have one pointer, and know how many more rows and columns there are. */
  __pg_u64 origin;
  __pg_i64 by_member_row, by_member_column;
  int more_rows, more_columns;
  Type ahead[most_turns][value_rows][value_columns], now[most_turns][value_rows][value_columns];
  /* Where this thread's part of a stage comes from, where the stage is, the strides between places and between turns, and what is on its
   * way. */
  const char *source;
  Type *stage;
  __pg_i64 by_place, by_turn;
  Type fetched[(places * __pg_most_staged + __PG_BLOCK - 1) / __PG_BLOCK];

  __device__ __forceinline__ __pg_i64 by() const { return TurnStride == __pg_unknown ? stride : TurnStride; }

  /* `address`: that of the access, by the inner loop's variable; `variable`: what that begins with. */
  template <class Variable, class Address>
  __device__ __forceinline__ void set(int y, int x, __pg_last<IsEdge> last, const char *memory, __pg_u64 lo, Variable variable,
                                      Address address)
  {
    const __pg_u64 first = address(variable);
    if constexpr (IsEdge) {
      if (x + y == 0) {
        origin = first;
        more_rows = last.row - (int)threadIdx.y * Rows, more_columns = last.column - (int)threadIdx.x;
        more_rows = more_rows < 0 ? 0 : more_rows, more_columns = more_columns < 0 ? 0 : more_columns;
        by_member_row = RowStride == __pg_unknown ? 0 : RowStride;
        by_member_column = ColumnStride == __pg_unknown ? 0 : ColumnStride / __PG_WIDTH;
      }
      if (RowStride == __pg_unknown && y == 1 && x == 0)
        by_member_row = (__pg_i64)(first - origin);
      if (ColumnStride == __pg_unknown && y == 0 && x == 1 && more_columns != 0)
        by_member_column = (__pg_i64)(first - origin) / (more_columns < __PG_WIDTH ? more_columns : __PG_WIDTH);
    }
    if ((pointer_rows == Rows || y == 0) && (pointer_columns == Columns || x == 0))
      pointers[pointer_rows == 1 ? 0 : y][pointer_columns == 1 ? 0 : x] = memory + (first - lo);
    if (TurnStride == __pg_unknown && (Rows == 1 || y == 0) && (Columns == 1 || x == 0))
      stride = (__pg_i64)(address((Variable)((__pg_u64)variable + 1)) - first);
  }
  __device__ __forceinline__ const char *at(int y, int x, int turn) const
  {
    if constexpr (IsEdge) {
      const int row = y < more_rows ? y : more_rows, column = x * __PG_WIDTH < more_columns ? x * __PG_WIDTH : more_columns;
      return pointers[0][0] + ((by_row ? row * by_member_row : 0) + (by_column ? column * by_member_column : 0)) + turn * by();
    }
    const __pg_i64 row = Rows == 1 || RowStride == __pg_unknown ? 0 : y * RowStride;
    const __pg_i64 column = Columns == 1 || ColumnStride == __pg_unknown ? 0 : x * ColumnStride;
    return pointers[pointer_rows == 1 ? 0 : y][pointer_columns == 1 ? 0 : x] + (row + column) + turn * by();
  }
  /* Loads what a turn needs, one of those that are run at once, `first` turns on. */
  __device__ __forceinline__ void load(int first, int turn)
  {
#pragma unroll
    for (int y = 0; y < value_rows; y++)
#pragma unroll
      for (int x = 0; x < value_columns; x++)
        ahead[turn][y][x] = __ldg((const Type *)at(y, x, first + turn));
  }
  __device__ __forceinline__ void take_over(int turn)
  {
#pragma unroll
    for (int y = 0; y < value_rows; y++)
#pragma unroll
      for (int x = 0; x < value_columns; x++)
        now[turn][y][x] = ahead[turn][y][x];
  }
  __device__ __forceinline__ void load_what_stays()
  {
    if constexpr (stays) {
      load(0, 0);
      take_over(0);
    }
  }
  __device__ __forceinline__ void load_ahead(int first, int turn)
  {
    if constexpr (is_ahead)
      load(first, turn);
  }
  __device__ __forceinline__ void take_over_ahead(int turn)
  {
    if constexpr (is_ahead)
      take_over(turn);
  }
  __device__ __forceinline__ void move_ahead(int turns)
  {
    if constexpr (is_ahead)
      move(turns);
  }
  __device__ __forceinline__ void move_others(int turns)
  {
    if constexpr (!is_ahead)
      move(turns);
  }
  __device__ __forceinline__ void move(int turns)
  {
#pragma unroll
    for (int y = 0; y < pointer_rows; y++)
#pragma unroll
      for (int x = 0; x < pointer_columns; x++)
        pointers[y][x] += turns * by();
  }

  /* What the block's threads have to agree on: where the first place is, the next place, and how far it is to the next turn. */
  __device__ __forceinline__ void tell(__pg_u64 *told) const
  {
    if constexpr (is_staged) {
      const int x = threadIdx.x, y = threadIdx.y;
      if (x + y == 0) {
        told[0] = (__pg_u64)at(0, 0, 0);
        told[1] = (__pg_u64)by();
      }
      if (by_row && x == 0 && y == (Rows == 1))
        told[2] = (__pg_u64)at(Rows == 1 ? 0 : 1, 0, 0);
      if (by_column && x == 1 && y == 0)
        told[2] = (__pg_u64)at(0, 0, 0);
    }
  }
  static __device__ __forceinline__ __pg_i64 place_distance(const __pg_u64 *told)
  {
    if (places == 1 || place_stride != __pg_unknown)
      return places == 1 ? 0 : place_stride;
    return (__pg_i64)(told[2] - told[0]);
  }
  /* Whether all that this thread would load is where the others expect it. */
  __device__ __forceinline__ bool agrees(const __pg_u64 *told, __pg_last<IsEdge> last) const
  {
    bool all = true;
    if constexpr (is_staged) {
      const char *const first = (const char *)told[0];
      const __pg_i64 by_place = place_distance(told);
      all = (__pg_i64)told[1] == by();
#pragma unroll
      for (int y = 0; y < Rows; y++)
#pragma unroll
        for (int x = 0; x < Columns; x++)
          all &= at(y, x, 0) == first + there(place(y, x), last) * by_place;
    }
    return all;
  }
  /* The place that one of this thread's iterations loads from. */
  __device__ __forceinline__ int place(int y, int x) const
  {
    return by_row ? threadIdx.y * Rows + y : by_column ? threadIdx.x + __PG_WIDTH * x : 0;
  }
  /* Loops of each iteration's own know nothing of others. */
  template <class Last> static __device__ __forceinline__ __pg_last<IsEdge> last_of(const Last &last)
  {
    if constexpr (IsEdge)
      return last;
    else
      return __pg_last<false>(nullptr, __pg_corner{});
  }
  /* The one that stands for it where that is beyond the end. */
  static __device__ __forceinline__ int there(int place, __pg_last<IsEdge> last)
  {
    const int most = by_row ? last.row : by_column ? last.column : 0;
    return IsEdge && place > most ? most : place;
  }
  /* Which of the values of a stage a thread fetches, `parts` of a block's threads on. */
  template <int Turns> static constexpr int parts = (places * Turns + __PG_BLOCK - 1) / __PG_BLOCK;
  template <int Turns> static __device__ __forceinline__ int fetched_place(int value)
  {
    return along_turns ? value / Turns : value % places;
  }
  template <int Turns> static __device__ __forceinline__ int fetched_turn(int value)
  {
    return along_turns ? value % Turns : value / places;
  }
  template <int Turns> __device__ __forceinline__ char *begin_stages(const __pg_u64 *told, char *room)
  {
    if constexpr (is_staged) {
      by_place = place_distance(told);
      by_turn = TurnStride == __pg_unknown ? (__pg_i64)told[1] : TurnStride;
      source = (const char *)told[0] + fetched_turn<Turns>(__pg_thread()) * by_turn;
      if constexpr (!IsEdge)
        source += fetched_place<Turns>(__pg_thread()) * by_place;
      stage = (Type *)room;
    }
    return room + (Turns * bytes_of_turn + 15) / 16 * 16;
  }
  template <int Turns> __device__ __forceinline__ void fetch(__pg_last<IsEdge> last)
  {
    if constexpr (is_staged) {
#pragma unroll
      for (int part = 0; part < parts<Turns>; part++)
        if (places * Turns % __PG_BLOCK == 0 || __pg_thread() + part * __PG_BLOCK < places * Turns) {
          int place = fetched_place<Turns>(part * __PG_BLOCK);
          if constexpr (IsEdge)
            place = there(place + fetched_place<Turns>(__pg_thread()), last);
          fetched[part] =
            __ldg((const Type *)(source + place * by_place + fetched_turn<Turns>(part * __PG_BLOCK) * by_turn));
        }
      source += Turns * by_turn;
    }
  }
  template <int Turns> __device__ __forceinline__ void put()
  {
    if constexpr (is_staged) {
      const int place = fetched_place<Turns>(__pg_thread()), turn = fetched_turn<Turns>(__pg_thread());
      Type *const to = stage + turn * places_of_turn + place;
#pragma unroll
      for (int part = 0; part < parts<Turns>; part++)
        if (places * Turns % __PG_BLOCK == 0 || __pg_thread() + part * __PG_BLOCK < places * Turns)
          to[fetched_turn<Turns>(part * __PG_BLOCK) * places_of_turn + fetched_place<Turns>(part * __PG_BLOCK)] =
            fetched[part];
    }
  }
  /* What is staged for a turn, which uses it next. */
  __device__ __forceinline__ void take(int turn)
  {
    if constexpr (is_staged) {
      const Type *const from = stage + turn * places_of_turn + place(0, 0);
#pragma unroll
      for (int y = 0; y < value_rows; y++)
#pragma unroll
        for (int x = 0; x < value_columns; x++)
          now[0][y][x] = from[by_row ? y : by_column ? x * __PG_WIDTH : 0];
    }
  }
  /* Behind the last stage: what need not be kept in registers meanwhile is made anew. */
  __device__ __forceinline__ void end_stages(const __pg_u64 *told, __pg_i64 turns, __pg_last<IsEdge> last)
  {
    if constexpr (is_staged) {
      if (TurnStride == __pg_unknown)
        stride = (__pg_i64)told[1];
      const char *const first = (const char *)told[0] + turns * by();
#pragma unroll
      for (int y = 0; y < pointer_rows; y++)
#pragma unroll
        for (int x = 0; x < pointer_columns; x++)
          pointers[y][x] = first + there(place(y, x), last) * place_distance(told);
    }
  }
  /* In a turn: its number among those that are run at once; negative where it is run alone. */
  __device__ __forceinline__ Type value(int turn, int y, int x, int how) const
  {
    if constexpr (Loaded) {
      if (turn >= 0)
        return now[stays ? 0 : turn][value_rows == 1 ? 0 : y][value_columns == 1 ? 0 : x];
    }
    return __PG_LOAD(Type, at(y, x, turn < 0 ? 0 : turn), how);
  }
};

/* `together`: whether the inner loop is run for the whole group. */
#define __PG_WALKS(base)                                                                                               \
  ((__PG_HOW(base) & __PG_IS_BOUNDED) && (__PG_METHOD < PG_LOG_ATOMIC || (__PG_HOW(base) & __PG_IS_CONSTANT)))
#define __PG_WALK(name, t, base, together, s0, s1, s2, s3, turn)                                                       \
  __pg_walk<__pg_##t, (together) ? __pg_rows : 1, (together) ? __pg_columns : 1,                                       \
            (__PG_HOW(base) & (__PG_IS_BOUNDED | __PG_IS_CONSTANT)) == (__PG_IS_BOUNDED | __PG_IS_CONSTANT), __pg_along(__PG_ALONG_Y, s0, s1, s2, s3, 1), \
            __pg_along(__PG_ALONG_X, s0, s1, s2, s3, __PG_WIDTH), turn, (together) && __pg_is_edge>                    \
    name;
#define __PG_SET(name, base, from, type, variable, address)                                                            \
  if (__PG_WALKS(base))                                                                                                \
    name.set(__pg_y, __pg_x, decltype(name)::last_of(__pg_last_of_part), __pg_b##base.from, __pg_b##base.lo, variable,                                             \
             [&](const type variable) -> __pg_u64 { return address; });
#define __PG_WALKING(calls)                                                                                            \
  auto __pg_all = [&](auto __pg_do) { calls };
#define __PG_LDW(how, t, base, logged, name, address)                                                                  \
  (__PG_WALKS(base) && __PG_IS_OWN_TURN ? name.value(__pg_number, __pg_y, __pg_x, __PG_HOW(base))                     \
                                                        : how(t, base, logged, address))
