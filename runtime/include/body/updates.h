/* Updates of memory that several iterations may make of one place: in one piece, and told apart from other stores in the log. Reductions
 * into a variable are none (results.h). */

/* Updates in one piece. In the write log stands PG_UPDATED instead of an iteration: updates of one kind don't conflict with
 * each other, but with everything else. */
__PG_SHARED_FN void __pg_log_update(struct __pg_ctx *c, const struct __pg_view *v, __pg_u64 address, __pg_u32 width, __pg_u32 mark)
{
  const struct __pg_launch *l = c->launch;
  __pg_u64 cell, end;
  if (v->log == ~(__pg_u64)0)
    return;
  cell = __pg_cell_of(l, v, address);
  end = cell + __PG_CELLS(l, width);
  for (; cell != end; cell++) {
    __pg_u32 seen = __pg_peek(&l->wr[cell]);
    if (seen == 0) {
      seen = __pg_cas(&l->wr[cell], 0, mark);
      if (seen == 0) {
        c->writes++;
        continue;
      }
    }
    if (seen != mark) {
      c->fail |= PG_FAIL_WAW;
      __pg_poke(&l->flags[1], c->iteration - 1);
    }
  }
}
__PG_FN __pg_u64 __pg_operate(int op, __pg_u64 x, __pg_u64 y)
{
  switch (op) {
  case PG_ADD: return x + y;
  case PG_MUL: return x * y;
  case PG_AND: return x & y;
  case PG_OR: return x | y;
  default: return x ^ y;
  }
}
#ifdef __CUDACC_RTC__
/* Adds to the numbers of `width` bytes, 1 or 2, that lie in a word, each for itself, without trying again: where many meet, each of them would as often
 * as there are others. What carries over from one number to the next is taken back by whoever has made it do so: the answer of each operation says
 * where. To take it back may make the next number borrow, or carry, which is taken back in turn. So all that somebody does comes to nothing at each
 * border, and each number to the sum of what was added to it, in whatever order. For a moment others may find a number that is one too large: so nobody may
 * load one of the word's numbers meanwhile, nor do anything to it but add. */
__PG_FN void __pg_add_to_numbers(__pg_u32 *word, __pg_u32 numbers, __pg_u32 width)
{
  const __pg_u32 bits = width * 8, count = 4 / width;
  __pg_u32 old = atomicAdd(word, numbers);
  /* Bits that came in from below. */
  const __pg_u32 carried = old ^ numbers ^ (old + numbers);
  int over[4] = {0, 0, 0, 0};
#pragma unroll
  for (__pg_u32 k = 1; k < count; k++)
    over[k] = (int)(carried >> k * bits & 1);
#pragma unroll
  for (__pg_u32 k = 1; k < count; k++) {
    if (over[k] == 0)
      continue;
    old = atomicAdd(word, (0u - (__pg_u32)over[k]) << k * bits);
#pragma unroll
    for (__pg_u32 next = k + 1; next < count; next++) {
      const __pg_u32 between = (next - k) * bits, below = old >> k * bits & ((1u << between) - 1);
      over[next] += ((int)below - over[k]) >> between;
    }
  }
}
#endif
/* `alone`: whether nothing but updates of this kind and width is made to the array. Otherwise neighbours that a narrow number shares its word with may be
 * loaded, stored or updated in another way at the same time, which is no conflict: it must never be seen that they lie in one word. */
__PG_FN void __pg_update_in_one_piece(char *p, __pg_u32 width, int op, __pg_u64 operand, int alone)
{
#ifdef __CUDACC_RTC__
  if (width == 8) {
    __pg_u64 *place = (__pg_u64 *)p, old, seen;
    /* Where many meet, to compare and swap takes each of them as many tries as there are others (results.h). */
    switch (op) {
    case PG_ADD: atomicAdd(place, operand); return;
    case PG_AND: atomicAnd(place, operand); return;
    case PG_OR: atomicOr(place, operand); return;
    case PG_XOR: atomicXor(place, operand); return;
    }
    old = *(volatile __pg_u64 *)place;
    while ((seen = atomicCAS(place, old, __pg_operate(op, old, operand))) != old)
      old = seen;
  } else {
    /* Narrower numbers are a part of an aligned word. The pointer is moved, not made: see range.h. */
    const __pg_u32 within = (__pg_u32)((__pg_u64)p & 3), shift = within * 8;
    __pg_u32 *word = (__pg_u32 *)(p - within), old, seen;
    const __pg_u32 mask = (width == 4 ? ~0u : (1u << width * 8) - 1) << shift;
    const __pg_u32 bits = (__pg_u32)operand << shift & mask;
    switch (op) {
    case PG_ADD:
      if (width != 4 && !alone)
        break;
      if (width != 4)
        __pg_add_to_numbers(word, bits, width);
      else
        atomicAdd(word, (__pg_u32)operand);
      return;
    case PG_AND: atomicAnd(word, bits | ~mask); return;
    case PG_OR: atomicOr(word, bits); return;
    case PG_XOR: atomicXor(word, bits); return;
    }
    old = *(volatile __pg_u32 *)word;
    for (;;) {
      __pg_u32 value = (__pg_u32)__pg_operate(op, (old & mask) >> shift, operand) << shift & mask;
      seen = atomicCAS(word, old, (old & ~mask) | value);
      if (seen == old)
        return;
      old = seen;
    }
  }
#else
  (void)alone;
#define __PG_UPDATE_IN_ONE_PIECE(type)                                                                                 \
  {                                                                                                                    \
    type old = __atomic_load_n((type *)p, 0);                                                                          \
    while (!__atomic_compare_exchange_n((type *)p, &old, (type)__pg_operate(op, old, operand), 0, 0, 0))               \
      ;                                                                                                                \
  }
  switch (width) {
  case 1: __PG_UPDATE_IN_ONE_PIECE(__pg_u8) break;
  case 2: __PG_UPDATE_IN_ONE_PIECE(__pg_u16) break;
  case 4: __PG_UPDATE_IN_ONE_PIECE(__pg_w32) break;
  default: __PG_UPDATE_IN_ONE_PIECE(__pg_w64) break;
  }
#endif
}
#ifdef __CUDACC_RTC__
/* The bits of places that updates change. All set the same ones, so they look first: what is there may come from a cache that is behind, then a
 * bit is set that was set before. Bitmaps count those that weren't, which is the answer of whoever sets them: so however many update a place, it
 * counts once, and what else is stored there shows, if nothing else can be. That is the launch's to know (`__PG_UPDATED_ALONE`). */
__PG_FN void __pg_note_updated(struct __pg_ctx *c, __pg_u32 word, __pg_u32 bits)
{
  __pg_u32 *const log = c->launch->wr;
  if ((bits & ~log[word]) == 0)
    return;
#if __CUDA_ARCH__ >= 800
  const __pg_u32 peers = __match_any_sync(__activemask(), word);
  bits = __reduce_or_sync(peers, bits);
  if ((int)(threadIdx.x & 31) != __ffs(peers) - 1)
    return;
#endif
  const __pg_u32 old = atomicOr(&log[word], bits);
  if (__PG_METHOD == PG_LOG_BITMAP)
    c->writes += __popc(bits & ~old);
}
#endif
#ifdef __CUDACC_RTC__
/* What the operands of lanes come to together; of products nobody asks. */
__PG_FN __pg_u64 __pg_combined(__pg_u32 lanes, int op, __pg_u32 width, __pg_u64 operand)
{
#if __CUDA_ARCH__ >= 800
  const __pg_u32 low = (__pg_u32)operand, high = (__pg_u32)(operand >> 32);
  if (op == PG_ADD && width < 8)
    return __reduce_add_sync(lanes, low);
  if (op == PG_ADD) {
    /* In pieces whose sums can't overflow. */
    return (__pg_u64)__reduce_add_sync(lanes, low & 0xffff) + ((__pg_u64)__reduce_add_sync(lanes, low >> 16) << 16) +
           ((__pg_u64)__reduce_add_sync(lanes, high & 0xffff) << 32) + ((__pg_u64)__reduce_add_sync(lanes, high >> 16) << 48);
  }
  const int wide = width == 8;
  if (op == PG_AND)
    return __reduce_and_sync(lanes, low) | (wide ? (__pg_u64)__reduce_and_sync(lanes, high) << 32 : 0);
  if (op == PG_OR)
    return __reduce_or_sync(lanes, low) | (wide ? (__pg_u64)__reduce_or_sync(lanes, high) << 32 : 0);
  return __reduce_xor_sync(lanes, low) | (wide ? (__pg_u64)__reduce_xor_sync(lanes, high) << 32 : 0);
#else
  return operand;
#endif
}
#endif
/* Notes an update, however many have been made of the place. 0: it must not happen. `how`: see __PG_HOW. */
__PG_FN int __pg_log_updated(struct __pg_ctx *c, const struct __pg_view *v, int how, __pg_u64 address, __pg_u32 width, int op)
{
  const struct __pg_launch *l = c->launch;
  if (__PG_LOG_METHOD(l) == PG_LOG_STAMP || (__PG_LOG_METHOD(l) == PG_LOG_BITMAP && !((how) & __PG_IS_UPDATED_ONLY))) {
    /* Stamps don't say what kind of update it was, nor do bits where there may be several: such loops have other logs. */
    c->fail |= PG_FAIL_WAW;
    return 0;
  }
  if (__PG_LOG_METHOD(l) == PG_LOG_ATOMIC || __PG_LOG_METHOD(l) == PG_LOG_REDUCTION)
    __pg_log_update(c, v, address, width, PG_UPDATED((__pg_u32)op, width));
#ifdef __CUDACC_RTC__
  else if (__PG_LOG_METHOD(l) != PG_LOG_NONE && !__PG_HAS_NO_LOG(v, how)) {
    __pg_u32 word;
    const __pg_u32 bits = __pg_bits_of(l, v, address, width, &word);
    __pg_note_updated(c, word, bits);
  }
#else
  else if (__PG_LOG_METHOD(l) != PG_LOG_NONE)
    __pg_mark_write(c, v, how, address, width);
#endif
  return 1;
}
__PG_SHARED_FN void __pg_update(struct __pg_ctx *c, const struct __pg_view *v, int how, __pg_u64 address, __pg_u32 width, int op,
                                __pg_u64 operand)
{
  if (!__pg_may_access(c, v, how, address, width))
    return;
#if defined(__CUDACC_RTC__) && __CUDA_ARCH__ >= 800
  /* Lanes that meet would be held up by each other, in front of all others: one of them goes for all. */
  if (op != PG_MUL) {
    /* To find all that meet takes longer than the operations, where none do: so the first lane is asked whether it is alone. */
    const __pg_u32 lanes = __activemask(), with_first = __ballot_sync(lanes, address == __shfl_sync(lanes, address, __ffs(lanes) - 1));
    const __pg_u32 peers = (with_first & (with_first - 1)) != 0 ? __match_any_sync(lanes, address) : 0;
    if ((peers & (peers - 1)) != 0) {
      operand = __pg_combined(peers, op, width, operand);
      if ((int)(threadIdx.x & 31) != __ffs(peers) - 1)
        return;
    }
  }
#endif
  if (__pg_log_updated(c, v, how, address, width, op))
    __pg_update_in_one_piece((char *)__PG_TRANSLATED(v, address), width, op, operand, (how & __PG_IS_UPDATED_ONLY) != 0);
}
__PG_SHARED_FN void __pg_update_anywhere(struct __pg_ctx *c, __pg_u64 address, __pg_u32 width, int op, __pg_u64 operand)
{
  struct __pg_view v;
  __pg_find_array(c->launch, address, &v);
  __pg_update(c, &v, 0, address, width, op, operand);
}
