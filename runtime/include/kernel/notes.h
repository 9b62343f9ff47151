/* Loads of inner loops that a bitmap notes, where turns are run some at once: their notes come together, behind all of these turns' loads, because a
 * note by itself takes a branch, which no later load passes. Other notes are in bitmaps.h. */

#ifdef __PG_RANGES
/* A range takes no branch. */
#define __PG_NOTES_LOADS(base) 0
#else
#define __PG_NOTES_LOADS(base)                                                                                         \
  (__PG_METHOD == PG_LOG_BITMAP && __PG_SPREAD == 1 &&                                                                 \
   (__PG_HOW(base) & (__PG_HAS_LOG | __PG_IS_CONSTANT | __PG_HAS_NO_STORES | __PG_IS_COVERED)) == __PG_HAS_LOG)
#endif
/* Most notes of turns that are run at once, which registers hold, and most turns: with eight or sixteen, sor took a tenth longer. */
constexpr int __pg_most_noted = 8, __pg_most_turns_noted = 4;
/* Turns that are run at once where each has so many such loads; 0: each is noted by itself. */
constexpr int __pg_turns_noted_at_once(int loads)
{
  int turns = __pg_most_turns_noted;
  while (turns > 1 && turns * loads > __pg_most_noted)
    turns /= 2;
  return loads == 0 || turns == 1 ? 0 : turns;
}
/* The notes of one load, for each iteration of a group: the words, their bits, and what was found there. */
template <int Turns, int Rows, int Columns> struct __pg_notes {
  static constexpr int turns = Turns, columns = Columns, members = Rows * Columns, slots = Turns == 0 ? 1 : Turns;
  __pg_u32 words[slots][members], bits[slots][members], found[slots][members];
  /* Of turns that don't come to the load nothing is noted. */
  __device__ __forceinline__ void begin()
  {
    if constexpr (Turns != 0)
#pragma unroll
      for (int turn = 0; turn < slots; turn++)
#pragma unroll
        for (int i = 0; i < members; i++)
          words[turn][i] = bits[turn][i] = found[turn][i] = 0;
  }
  __device__ __forceinline__ void note(const __pg_ctx &c, const __pg_view &v, int how, __pg_u64 address, __pg_u32 width, int turn, int member)
  {
    __pg_u32 word;
    const __pg_u32 its_bits = __pg_bits_of(c.launch, &v, address, width, &word);
    /* What must not happen leads anywhere: nothing is noted then, in a word that is there. */
    const int may = __pg_is_there(&c, &v, how, address, width);
    words[turn][member] = may ? word : 0;
    bits[turn][member] = may ? its_bits : 0;
    found[turn][member] = c.launch->rd[words[turn][member]];
  }
  __device__ __forceinline__ void end(const __pg_ctx &c)
  {
    if constexpr (Turns != 0) {
      __pg_u32 missing = 0;
#pragma unroll
      for (int turn = 0; turn < slots; turn++)
#pragma unroll
        for (int i = 0; i < members; i++)
          missing |= bits[turn][i] & ~found[turn][i];
      if (missing != 0)
#pragma unroll
        for (int turn = 0; turn < slots; turn++)
#pragma unroll
          for (int i = 0; i < members; i++)
            if ((bits[turn][i] & ~found[turn][i]) != 0)
              __pg_set_read(c.launch->rd, words[turn][i], bits[turn][i]);
    }
  }
};
/* `loads`: how many such loads the loop's turns have; `together`: whether it is run for the whole group. */
#define __PG_NOTED(name, base, together, loads)                                                                        \
  __pg_notes<__PG_NOTES_LOADS(base) ? __pg_turns_noted_at_once(((together) ? __pg_rows * __pg_columns : 1) * (loads)) : 0, \
             (together) ? __pg_rows : 1, (together) ? __pg_columns : 1>                                                \
    name;
#define __PG_NOTING(together, loads, calls)                                                                            \
  constexpr int __pg_turns_noted = __pg_turns_noted_at_once(((together) ? __pg_rows * __pg_columns : 1) * (loads));    \
  constexpr bool __pg_are_noted_alone = (loads) != 0 && __pg_turns_noted == 0;                                         \
  auto __pg_all_noted = [&](auto __pg_do) { calls };
/* `alone`: the load in a turn that is run by itself. */
template <class Type, class Notes, class Alone>
__device__ __forceinline__ Type __pg_load_noted(__pg_ctx &c, const __pg_view &v, int how, __pg_u64 address, Notes &notes, int turn, int y, int x,
                                                Alone alone)
{
  if constexpr (Notes::turns != 0)
    if (turn >= 0) {
      const Type value = __PG_LOAD(Type, __pg_place_of(&c, &v, v.dev, how, address, (__pg_u32)sizeof(Type)), how);
      notes.note(c, v, how, address, (__pg_u32)sizeof(Type), turn, Notes::members == 1 ? 0 : y * Notes::columns + x);
      return value;
    }
  return alone(address);
}
#define __PG_LDN(how, t, base, logged, name, address)                                                                  \
  __pg_load_noted<__pg_##t>(__pg_c, __pg_b##base, __PG_HOW(base), address, name, __pg_number, __pg_y, __pg_x,          \
                            [&](__pg_u64 __pg_a) -> __pg_##t { return how(t, base, logged, __pg_a); })
