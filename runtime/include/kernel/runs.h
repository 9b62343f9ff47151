/* Stores to places side by side whose number is known before the first of them: a bitmap has whole words of them, set ahead of them, instead of a
 * note of each. */

/* Notes that `count` places are stored to, from `from` on; several lanes, 2^`wide` with numbers from 0 on, share the words. Not 0: that was so, and
 * the stores need no notes. Whoever doesn't come to all of these stores has given up, so that nothing of the launch counts. */
__device__ __forceinline__ int __pg_note_run(__pg_ctx &c, const __pg_view &v, int how, __pg_u64 from, __pg_u64 count, __pg_u32 width,
                                             __pg_u32 lane, int wide)
{
  if (__PG_METHOD != PG_LOG_BITMAP && __PG_METHOD != PG_LOG_MARK)
    return 0;
  if (count == 0)
    return 1;
  const __pg_u64 last = from + (count - 1) * width;
  /* Where the stores would stray, they find that themselves. */
  if (last < from || __PG_HAS_NO_LOG(&v, how) || !__pg_is_there(&c, &v, how, from, width) || !__pg_is_there(&c, &v, how, last, width))
    return 0;
  const __pg_u64 cells = count * __PG_CELLS(c.launch, width), begin = __pg_bit_of(c.launch, &v, from), end = begin + cells;
  const __pg_u32 first_word = (__pg_u32)(begin >> 5), last_word = (__pg_u32)((end - 1) >> 5);
#pragma unroll 1
  for (__pg_u32 word = first_word + lane; word <= last_word; word += 1u << wide) {
    const __pg_u32 low = word == first_word ? ~0u << (begin & 31) : ~0u, high = word == last_word ? ~0u >> (~(end - 1) & 31) : ~0u;
    (void)atomicOr(&c.launch->wr[word], low & high);
  }
  if (__PG_METHOD == PG_LOG_BITMAP && lane == 0)
    c.writes += cells;
  return 1;
}
