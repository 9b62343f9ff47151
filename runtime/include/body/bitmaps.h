/* Bits of writers and of readers: how they are found and set, by the lanes of a warp together where that is cheaper. What they mean, and
 * the other methods, are in logs.h. Stores that nobody logs set bits by the same means, for the commit. */

/* The log's cell that an address of an array lies in. */
#define __pg_cell_of(l, v, a) ((v)->log + (((a) - ((v)->lo & ~(__pg_u64)63)) >> __PG_SHIFT(l)))
/* The same of a bitmap, whose cells kernels count in 32 bits where there are fewer. What follows from the array alone is one number then. */
#define __pg_bit_of(l, v, a)                                                                                           \
  ((__pg_cell)((a) >> __PG_SHIFT(l)) + ((__pg_cell)(v)->log - (__pg_cell)(((v)->lo & ~(__pg_u64)63) >> __PG_SHIFT(l))))

/* How many cells an access takes. It is aligned by then, and each array's cells begin at a multiple of the widest access: so kernels know the
 * number, and their compiler makes one text of it instead of a loop of unknown length for each access. */
#define __PG_CELLS(l, width) ((width) >> __PG_SHIFT(l) == 0 ? 1 : (width) >> __PG_SHIFT(l))

/* The bits of an access in a bitmap, and the word that they lie in: one, because accesses are aligned and each array's cells begin with a
 * word. Bitmaps have fewer than 2^31 words. */
__PG_FN __pg_u32 __pg_bits_of(const struct __pg_launch *l, const struct __pg_view *v, __pg_u64 address, __pg_u32 width,
                              __pg_u32 *word)
{
  const __pg_cell cell = __pg_bit_of(l, v, address);
  *word = (__pg_u32)(cell >> 5);
  return ((1u << __PG_CELLS(l, width)) - 1) << ((__pg_u32)cell & 31);
}

/* Whether an access of a base has no log. The array of accesses that were shown to stay in it has one if they store to it. */
#define __PG_HAS_NO_LOG(v, how) (!((how) & __PG_IS_BOUNDED) && (v)->log == ~(__pg_u64)0)

/* Sets bits of a word. */
#if defined(__CUDACC_RTC__) && __CUDA_ARCH__ >= 800
__PG_FN void __pg_set_bits(__pg_u32 *log, __pg_u32 reads, __pg_u32 word, __pg_u32 bits)
{
  /* Where neighbours write to neighbours, lanes have words in common, and would fight for them: one of those with the same word sets the
   * bits of all. Where the first lane is alone with its word, so is everybody, more or less. Two words at most are the common case, and
   * take no lanes apart. */
  const __pg_u32 lanes = __activemask();
  const int lane = threadIdx.x & 31, low = __ffs(lanes) - 1, high = 31 - __clz(lanes);
  /* A compiler may let lanes come here together that set bits of different logs. Of bitmaps, logs have fewer than 2^31 words. */
  const __pg_u32 own = word << 1 | reads;
  const int is_low = own == __shfl_sync(lanes, own, low);
  const __pg_u32 with_low = __ballot_sync(lanes, is_low);
  if ((with_low & (with_low - 1)) != 0) {
    const __pg_u32 with_high = __ballot_sync(lanes, own == __shfl_sync(lanes, own, high));
    if ((with_low | with_high) == lanes) {
      const __pg_u32 at_low = __reduce_or_sync(lanes, is_low ? bits : 0), at_high = __reduce_or_sync(lanes, is_low ? 0 : bits);
      bits = lane == low ? at_low : at_high;
      if (lane != low && (lane != high || at_high == 0))
        return;
    } else {
      const __pg_u32 peers = __match_any_sync(lanes, own);
      bits = __reduce_or_sync(peers, bits);
      if (lane != __ffs(peers) - 1)
        return;
    }
  }
  (void)atomicOr(&log[word], bits);
}
#else
__PG_FN void __pg_set_bits(__pg_u32 *log, __pg_u32 reads, __pg_u32 word, __pg_u32 bits)
{
  (void)reads;
  (void)__pg_fetch_or(&log[word], bits);
}
#endif

/* Sets the bits of what a store writes. */
#if defined(__CUDACC_RTC__) && __CUDA_ARCH__ >= 800
/* Where all lanes of a warp write one cell each, side by side, the bits of all lie in one word or two: lanes need to know no more of each other.
 * Not 0: that was so. Nearly always it is, so it has a way of its own; and lanes that are known to be all there ask each other at half the price. */
__PG_FN int __pg_set_run(const struct __pg_launch *l, const struct __pg_view *v, __pg_u64 address)
{
  if (__activemask() == ~0u) {
    const __pg_u32 lane = threadIdx.x & 31;
    /* Where the run begins, for each lane. */
    const __pg_cell first = __pg_bit_of(l, v, address) - lane;
    int is_same;
    (void)__match_all_sync(~0u, first, &is_same);
    if (is_same) {
      const __pg_u32 low = ~0u << (first & 31), bits = lane == 0 ? low : ~low;
      if (lane < 2 && bits != 0)
        (void)atomicOr(&l->wr[(__pg_u32)(first >> 5) + lane], bits);
      return 1;
    }
  }
  return 0;
}
#else
#define __pg_set_run(l, v, address) 0
#endif
__PG_FN void __pg_set_written(struct __pg_ctx *c, const struct __pg_view *v, __pg_u64 address, __pg_u32 width)
{
  const struct __pg_launch *l = c->launch;
  __pg_u32 word, bits;
#ifdef __PG_GATHERS
  bits = __pg_bits_of(l, v, address, width, &word);
  if (c->gathered != 0 && word != c->word) {
    __pg_set_bits(l->wr, 0, c->word, c->gathered);
    c->gathered = 0;
  }
  c->word = word;
  c->gathered |= bits;
#else
  if (width >> __PG_SHIFT(l) <= 1 && __pg_set_run(l, v, address))
    return;
  bits = __pg_bits_of(l, v, address, width, &word);
  __pg_set_bits(l->wr, 0, word, bits);
#endif
}
/* Whether bits of writers have been set by this iteration just now: inner loops may store to one place again and again. Only where the text
 * says so (once.rs), since it costs a comparison for each store; then threads run one iteration at a time, and store for no other one. */
#if !defined(__CUDACC_RTC__) || defined(__PG_REPEATS)
#define __PG_MARKS_REPEATS 1
#else
#define __PG_MARKS_REPEATS 0
#endif
__PG_FN int __pg_is_marked(struct __pg_ctx *c, __pg_u64 address, __pg_u32 width)
{
  const __pg_u64 place = address << 4 | width;
  if (!__PG_MARKS_REPEATS)
    return 0;
  if (c->marked == place)
    return 1;
  c->marked = place;
  return 0;
}

/* Notes that somebody reads. What many iterations read, each would fight for, so bits are only set where they are not. What is there may come
 * from a cache that is behind: then a bit is set that was set before. */
#ifdef __CUDACC_RTC__
/* Lanes with a word in common set its bits together, but on old GPUs. A compiler may let lanes come here together that set bits of different loads. */
__PG_FN void __pg_set_read(__pg_u32 *log, __pg_u32 word, __pg_u32 bits)
{
#if __CUDA_ARCH__ >= 800
  const __pg_u32 peers = __match_any_sync(__activemask(), word);
  if ((peers & (peers - 1)) != 0) {
    bits = __reduce_or_sync(peers, bits);
    if ((int)(threadIdx.x & 31) != __ffs(peers) - 1)
      return;
  }
#endif
  (void)atomicOr(&log[word], bits);
}
/* Where a block's threads count, and leave their range: one of PG_TOTALS places. */
#if __CUDA_ARCH__ >= 800
#define __PG_PLACE_OF_TOTAL ((blockIdx.x + 31 * blockIdx.y + blockIdx.z) % PG_TOTALS)
#else
#define __PG_PLACE_OF_TOTAL 0
#endif
#ifdef __PG_RANGES
__PG_FN void __pg_note_cells(struct __pg_ctx *c, __pg_u32 first, __pg_u32 last)
{
  c->least = first < c->least ? first : c->least;
  c->most = last > c->most ? last : c->most;
}
/* What lies outside of the array leads anywhere, and makes the range no smaller. */
__PG_FN void __pg_note_read(struct __pg_ctx *c, const struct __pg_view *v, int how, __pg_u64 address, __pg_u32 width)
{
  (void)how;
  const __pg_u32 cell = (__pg_u32)__pg_bit_of(c->launch, v, address);
  const __pg_u32 last = cell + (__PG_CELLS(c->launch, width) - 1);
  /* No cell has the last number. */
  if (last != ~0u)
    __pg_note_cells(c, cell, last);
}
__PG_FN void __pg_end_notes(struct __pg_ctx *c)
{
  /* Of the first one the complement, and of the last one the next, so that all begin with zeros. Nobody looks at what is there: blocks have many places. */
  __pg_u32 *const range = (__pg_u32 *)&c->launch->total[__PG_PLACE_OF_TOTAL * PG_TOTALS_APART + 1];
  __pg_u32 least = ~c->least, most = c->most < c->least ? 0 : c->most == ~0u ? ~0u : c->most + 1;
#if __CUDA_ARCH__ >= 800
  const __pg_u32 lanes = __activemask();
  least = __reduce_max_sync(lanes, least);
  most = __reduce_max_sync(lanes, most);
  if ((int)(threadIdx.x & 31) != __ffs(lanes) - 1)
    return;
#endif
  if (most == 0)
    return;
  __pg_raise(&range[0], least);
  __pg_raise(&range[1], most);
}
#else
/* To wait for what is there would take as long as the load itself: so it is looked at when the next note comes. Not where lanes share an iteration, who
 * have no registers left; what is kept in memory instead takes longer. */
__PG_FN void __pg_end_notes(struct __pg_ctx *c)
{
#if __PG_SPREAD == 1
  if ((c->noted & ~c->found) != 0)
    __pg_set_read(c->launch->rd, c->noted_word, c->noted);
#endif
}
__PG_FN void __pg_note_read(struct __pg_ctx *c, const struct __pg_view *v, int how, __pg_u64 address, __pg_u32 width)
{
  __pg_u32 word, bits = __pg_bits_of(c->launch, v, address, width, &word);
  __pg_u32 *const log = c->launch->rd;
  /* What must not happen leads anywhere: nothing is noted then, in a word that is there. */
  const int may = __pg_is_there(c, v, how, address, width);
  word = may ? word : 0;
  bits = may ? bits : 0;
#if __PG_SPREAD > 1
  if ((bits & ~log[word]) != 0)
    __pg_set_read(log, word, bits);
#else
  __pg_end_notes(c);
  c->noted = bits;
  c->noted_word = word;
  c->found = log[word];
#endif
}
#endif
#endif
