/* Loads by subscripts of a pointer that a range notes, while lanes lend each other what turns need: which of them are places of the
 * pointer's array, and what becomes of their notes. How the loads are made is in lent.h. */

#ifndef __PG_AS_IT_IS
/* The compiler isn't to take it apart again. */
#define __PG_AS_IT_IS(number) asm("" : "+l"(number));
#define __PG_AS_IT_IS_32(number) asm("" : "+r"(number));
/* Two instructions under a condition: the compiler would make four comparisons and selections of them. */
#define __PG_WIDEN(least, most, number, is_due)                                                                        \
  asm("{.reg .pred p;\n setp.ne.u32 p, %3, 0;\n @p min.u32 %0, %0, %2;\n @p max.u32 %1, %1, %2;\n}"                    \
      : "+r"(least), "+r"(most)                                                                                        \
      : "r"(number), "r"((__pg_u32)(is_due)));
#endif
#ifdef __PG_RANGES
/* What loads by subscripts of a pointer note, as long as lanes lend each other what a loop's turns need: numbers of places, which are made cells in the end.
 * Subscripts of 32 bits, with their signs, lead to 2^32 places around the pointer, each of which has another number: so one comparison
 * tells whether it is one of the array's. */
struct __pg_near_pointer {
  __pg_ctx &c;
  /* What makes a subscript a number; how many numbers are places of the array; the first one's cell. */
  __pg_u32 further, count, first_cell;
  __pg_u32 least = ~0u, most = 0;
  __device__ __forceinline__ __pg_near_pointer(__pg_ctx &c, const __pg_view &v, __pg_u64 pointer) : c(c)
  {
    constexpr __pg_u64 size = (__pg_u64)1 << __PG_LOG_SHIFT;
    constexpr __pg_i64 most_below = (__pg_i64)1 << 31;
    const __pg_u64 first = (v.lo + (size - 1)) & ~(size - 1), end = (v.lo + v.size) & ~(size - 1);
    const __pg_i64 places = end > first ? (__pg_i64)((end - first) >> __PG_LOG_SHIFT) : 0;
    const __pg_i64 at = (__pg_i64)(pointer - first) >> __PG_LOG_SHIFT;
    /* Of the places those that subscripts lead to. */
    const __pg_i64 from = at > most_below ? at - most_below : 0;
    const __pg_i64 to = at < places - most_below ? at + most_below : places;
    const __pg_u64 reached = ((pointer - first) & (size - 1)) == 0 && to > from ? (__pg_u64)(to - from) : 0;
    further = (__pg_u32)(at - from);
    count = reached < ~0u ? (__pg_u32)reached : ~0u;
    first_cell = (__pg_u32)__pg_bit_of(c.launch, &v, first) + (__pg_u32)from;
    __PG_AS_IT_IS_32(further)
    __PG_AS_IT_IS_32(count)
    __PG_AS_IT_IS_32(first_cell)
  }
  __device__ __forceinline__ ~__pg_near_pointer()
  {
    if (most == ~0u) {
      c.most = ~0u;
      c.fail |= PG_FAIL_RANGE;
      if (!__PG_LEADS)
        __pg_fetch_or(&c.launch->flags[0], c.fail);
    } else if (least <= most) {
      const __pg_u32 first = least + first_cell, last = most + first_cell;
      c.least = first < c.least ? first : c.least;
      c.most = last > c.most ? last : c.most;
    }
  }
};
#endif
