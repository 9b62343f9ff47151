/* Whether an access may happen, and where in the device's memory it is then: the chapter's Range_Check and its pointer translation.
 * Nothing is stored or logged here (accesses.h, logs.h). */

/* The chapter's Range_Check (figure 4.7b), at the access instead of at the end: an address that speculation made up
 * must never reach memory. 0: the access must not happen. `how`: __PG_HOW. */
__PG_FN int __pg_may_access(struct __pg_ctx *c, const struct __pg_view *v, int how, __pg_u64 address, __pg_u32 width)
{
  __pg_u64 offset = address - v->lo;
  if (how & __PG_IS_BOUNDED)
    return 1;
  if (how & __PG_IS_INSIDE)
    return !c->left;
  if (v->size < width || offset > v->size - width) {
    c->fail |= v->size == 0 ? PG_FAIL_NO_ARRAY : PG_FAIL_RANGE;
    return 0;
  }
  if ((address & (width - 1)) != 0) {
    c->fail |= PG_FAIL_MISALIGNED;
    return 0;
  }
  return 1;
}

#ifdef __CUDACC_RTC__
/* Whether an access may happen. */
__PG_FN int __pg_is_there(const struct __pg_ctx *c, const struct __pg_view *v, int how, __pg_u64 address, __pg_u32 width)
{
  if (how & __PG_IS_BOUNDED)
    return 1;
  if (how & __PG_IS_INSIDE)
    return !c->left;
  return v->size >= width && address - v->lo <= v->size - width && (address & (width - 1)) == 0;
}
/* The same for loads that nobody logs, or a bitmap, without a branch: where the access must not happen, some other place of the array's memory is loaded, and
 * what is there doesn't matter any more. Then loads pass each other, and those of one place are made once. Views of bases that have no array
 * lead to memory that is there, too (device/cuda/tables.rs). */
__PG_FN const char *__pg_place_of(struct __pg_ctx *c, const struct __pg_view *v, __pg_memory memory, int how, __pg_u64 address,
                                  __pg_u32 width)
{
  const __pg_u64 offset = address - v->lo;
  const int may = __pg_is_there(c, v, how, address, width);
  if (how & __PG_IS_BOUNDED)
    return __PG_AT_ONCE(memory, offset);
  if (how & __PG_IS_INSIDE)
#if defined(__PG_LENDS) && __PG_SPREAD > 1
    /* It is aligned; so nothing has to be kept at hand for the other case. Not where lanes take turns side by side: to NVRTC what a mask was put on
     * is no global memory any more, and its loads are generic (ger's inner loop had 14 such loads). */
    return (const char *)((__pg_u64)__PG_AT_ONCE(memory, c->left ? 0 : offset) & ~(__pg_u64)(width - 1));
#else
    return __PG_AT_ONCE(memory, c->left ? -((__pg_u64)memory & (width - 1)) : offset);
#endif
  /* Which of the reasons it is isn't worth a register in each load. How it is written decides what NVRTC makes of many of them: where several
   * iterations or turns are under way the second form took a tenth less time, elsewhere a tenth more. */
#if __PG_ROWS * __PG_COLUMNS == 1 && !defined(__PG_DEEP)
  if (!may)
    c->fail |= PG_FAIL_RANGE;
#else
  c->fail |= may ? 0u : (__pg_u32)PG_FAIL_RANGE;
#endif
  /* Pointers are moved, not made: the compiler is to know that they lead to no thread's own memory. */
  return memory + (may ? offset : -((__pg_u64)memory & (width - 1)));
}
#define __PG_LOAD_UNLOGGED(type, c, v, memory, how, address)                                                           \
  if (!((how) & __PG_IS_DYNAMIC))                                                                                      \
    return __PG_LOAD(type, __pg_place_of(c, v, memory, how, address, (__pg_u32)sizeof(type)), how);
#define __PG_LOAD_NOTED(type, c, v, how, address)                                                                      \
  if (__PG_METHOD == PG_LOG_BITMAP && ((how) & __PG_HAS_LOG)) {                                                        \
    const char *const place = __pg_place_of(c, v, (v)->dev, how, address, (__pg_u32)sizeof(type));                     \
    const type value = __PG_LOAD(type, place, how);                                                                    \
    __pg_note_read(c, v, how, address, (__pg_u32)sizeof(type));                                                        \
    return value;                                                                                                      \
  }
#else
#define __PG_LOAD_UNLOGGED(type, c, v, memory, how, address)
#define __PG_LOAD_NOTED(type, c, v, how, address)
#endif

/* The chapter's pointer translation. */
#define __PG_TRANSLATED(v, address) __PG_AT((v)->dev, (address) - (v)->lo)
#define __PG_TRANSLATED_FOR(v, how, address)                                                                           \
  ((how) & (__PG_IS_BOUNDED | __PG_IS_INSIDE) ? __PG_AT_ONCE((v)->dev, (address) - (v)->lo) : __PG_TRANSLATED(v, address))
