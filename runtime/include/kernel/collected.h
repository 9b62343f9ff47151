/* Updates that the threads of a block *collect*: each array to which nothing but updates of one kind is made (updates.h) has slots in memory that
 * the block's threads share, one for each element, which begin with what the operation leaves as it is. An update goes to its slot, and
 * what slots have come to is handed over to the array in the end, once for each block. That is what the updates come to in any order: the
 * operation commutes, in numbers of the element's width. Nothing else looks at the array meanwhile, or a log would tell (`device/collected.rs`
 * says which arrays may have slots).
 *
 * What the launch knows:
 *   __PG_COLLECTS   a bit for each of the first 64 bases whose updates are collected
 *   __PG_COLLECTS_PART  those whose array has more elements than slots; what is behind them is updated where it is
 *   __PG_COLLECTS_TELL  those whose slots tell by their values whether they were updated: small numbers are added, so few that no slot
 *                   comes back to zero, nor to more than its 32 bits hold
 * A slot has 32 bits, whatever is narrower, or 64 in two words that lie apart, so that neighbours find theirs in different banks. Whether a slot
 * was updated at all is asked, too, because only what was written is committed: it was if it holds anything else than at first, or if its
 * bit is set, which whoever brings it back to that sets. */
#ifndef __PG_COLLECTS
#define __PG_COLLECTS 0ull
#define __PG_COLLECTS_PART 0ull
#define __PG_COLLECTS_TELL 0ull
#endif
/* Of a base, and where it has slots; `struct __pg_tables` has one for each. */
struct __pg_collection {
  __pg_u32 first;  /* its first word in the room */
  __pg_u32 bytes;  /* of the array, from its beginning on, that have slots */
  __pg_u32 hands_over;  /* of the bases of an array one hands over */
  __pg_u32 unused;
};
#ifndef __PG_ROOM_OF_SLOTS
extern __shared__ __align__(16) __pg_u32 __pg_room_of_slots[];
#else
#define __pg_room_of_slots __PG_ROOM_OF_SLOTS
#endif
/* Products of 64 bits are left: no operation in one piece is as wide as words that lie apart. */
template <int Op, class T> constexpr bool __pg_collects(int base)
{
  return base < 64 && (__PG_COLLECTS >> (base & 63) & 1) != 0 && !(Op == PG_MUL && sizeof(T) == 8);
}
constexpr bool __pg_collects_all(int base) { return (__PG_COLLECTS_PART >> (base & 63) & 1) == 0; }
constexpr bool __pg_slots_tell(int base) { return (__PG_COLLECTS_TELL >> (base & 63) & 1) != 0; }

/* Waits for the block's other threads, where they have slots in common. */
#define __PG_ALL_HAVE_BEGUN                                                                                            \
  if (__PG_COLLECTS != 0)                                                                                              \
    __syncthreads();
#define __PG_ALL_HAVE_COLLECTED __PG_ALL_HAVE_BEGUN

template <int Op> __device__ __forceinline__ constexpr __pg_u32 __pg_neutral()
{
  return Op == PG_MUL ? 1u : Op == PG_AND ? ~0u : 0u;
}
/* The slots of a base. */
template <class T, int Base> struct __pg_slots_of {
  static constexpr bool tell = __pg_slots_tell(Base), are_wide = sizeof(T) == 8 && !tell;
  __pg_u32 *cells, *bits;
  __pg_u32 count;
  template <class Tables> __device__ __forceinline__ __pg_slots_of(const Tables *t)
  {
    count = t->slots[Base].bytes / (__pg_u32)sizeof(T);
    cells = __pg_room_of_slots + t->slots[Base].first;
    bits = cells + (are_wide ? 2 : 1) * count;
  }
};

template <int Op, class T, int Base, class Tables> __device__ __forceinline__ void __pg_begin_collecting(const Tables *t)
{
  if constexpr (__pg_collects<Op, T>(Base)) {
    if (!t->slots[Base].hands_over)
      return;
    const __pg_slots_of<T, Base> slots(t);
    const __pg_u32 threads = blockDim.x * blockDim.y;
    for (__pg_u32 i = __pg_thread(); i < slots.count; i += threads) {
      slots.cells[i] = __pg_neutral<Op>();
      if (slots.are_wide)
        slots.cells[slots.count + i] = Op == PG_AND ? ~0u : 0u;
    }
    for (__pg_u32 i = __pg_thread(); !slots.tell && i < (slots.count + 31) / 32; i += threads)
      slots.bits[i] = 0;
  }
}

/* Updates a word of a slot; what it was. */
template <int Op> __device__ __forceinline__ __pg_u32 __pg_combine_word(__pg_u32 *word, __pg_u32 operand)
{
  if constexpr (Op == PG_ADD)
    return atomicAdd(word, operand);
  else if constexpr (Op == PG_AND)
    return atomicAnd(word, operand);
  else if constexpr (Op == PG_OR)
    return atomicOr(word, operand);
  else if constexpr (Op == PG_XOR)
    return atomicXor(word, operand);
  else {
    __pg_u32 old = *(volatile __pg_u32 *)word, seen;
    while ((seen = atomicCAS(word, old, old * operand)) != old)
      old = seen;
    return old;
  }
}

template <int Op, class T, int Base, class Tables>
__device__ __forceinline__ void __pg_collect_in(const Tables *t, __pg_u32 slot, __pg_u64 operand)
{
  const __pg_slots_of<T, Base> slots(t);
  __pg_u32 *const cell = slots.cells + slot;
  if constexpr (slots.tell) {
    /* Nobody waits for an answer, so lanes that meet cost nothing. */
    (void)atomicAdd(cell, (__pg_u32)operand);
    return;
  }
#if __CUDA_ARCH__ >= 800
  /* Where all lanes meet, as in a picture of one colour, one of them goes for all. */
  if (Op != PG_MUL && __activemask() == ~0u) {
    const __pg_u32 place = t->slots[Base].first + slot;
    if (__ballot_sync(~0u, place == __shfl_sync(~0u, place, 0)) == ~0u) {
      operand = __pg_combined(~0u, Op, (__pg_u32)sizeof(T), operand);
      if (threadIdx.x % 32 != 0)
        return;
    }
  }
#endif
  const __pg_u32 low = (__pg_u32)operand, high = (__pg_u32)(operand >> 32);
  bool is_back;
  if constexpr (sizeof(T) < 8) {
    const __pg_u32 old = __pg_combine_word<Op>(cell, low);
    is_back = (T)__pg_operate(Op, old, low) == (T)__pg_neutral<Op>();
  } else if constexpr (Op == PG_ADD) {
    /* Each word by itself: whoever makes the lower one overflow carries it over. The sum may be back where the lower word is; if it isn't, the bit
     * says what is so all the same. */
    const __pg_u32 old = atomicAdd(cell, low), sum = old + low, carried = high + (sum < old ? 1u : 0u);
    if (carried != 0)
      (void)atomicAdd(cell + slots.count, carried);
    is_back = sum == 0;
  } else {
    const __pg_u32 old = __pg_combine_word<Op>(cell, low);
    if (high != (Op == PG_AND ? ~0u : 0u))
      (void)__pg_combine_word<Op>(cell + slots.count, high);
    is_back = (__pg_u32)__pg_operate(Op, old, low) == __pg_neutral<Op>();
  }
  if (is_back && (*(volatile __pg_u32 *)&slots.bits[slot >> 5] >> (slot & 31) & 1) == 0)
    (void)atomicOr(&slots.bits[slot >> 5], 1u << (slot & 31));
}

/* An update of a body: collected, or made where it is. */
template <int Op, class T, int Base, class Tables>
__device__ __forceinline__ void __pg_collect(__pg_ctx &c, const __pg_view &v, const Tables *t, __pg_u64 address, __pg_u64 operand)
{
  constexpr __pg_u32 width = (__pg_u32)sizeof(T);
  constexpr int how = __PG_HOW(Base);
  if constexpr (__pg_collects<Op, T>(Base)) {
    const __pg_u64 offset = address - v.lo;
    if ((__pg_collects_all(Base) && (how & __PG_IS_BOUNDED)) ||
        (offset < t->slots[Base].bytes && ((__pg_u32)offset & (width - 1)) == 0)) {
      __pg_collect_in<Op, T, Base>(t, (__pg_u32)offset / width, operand);
      return;
    }
  }
  __pg_update(&c, &v, how, address, width, Op, operand);
}

/* Elements of an array's word that a thread hands over together: those that are narrower than an operation in one piece. */
template <class T> constexpr __pg_u32 __pg_in_word = sizeof(T) < 4 ? 4 / (__pg_u32)sizeof(T) : 1;

/* What a slot has come to. 0: nobody has updated it. */
template <int Op, class T, int Base>
__device__ __forceinline__ int __pg_has_come_to(const __pg_slots_of<T, Base> &slots, __pg_u32 slot, __pg_u64 *value)
{
  *value = slots.cells[slot];
  if (slots.tell)
    return *value != 0;
  __pg_u64 neutral = (T)__pg_neutral<Op>();
  if (slots.are_wide) {
    *value |= (__pg_u64)slots.cells[slots.count + slot] << 32;
    neutral = Op == PG_AND ? ~(__pg_u64)0 : 0;
  }
  return (T)*value != (T)neutral || (slots.bits[slot >> 5] >> (slot & 31) & 1) != 0;
}

template <int Op, class T, int Base, class Tables> __device__ __forceinline__ void __pg_hand_over_to(__pg_ctx &c, const __pg_view &v, const Tables *t)
{
  constexpr __pg_u32 width = (__pg_u32)sizeof(T), together = __pg_in_word<T>;
  constexpr int how = __PG_HOW(Base);
  const __pg_slots_of<T, Base> slots(t);
  /* Words of the array, the first of which may begin in front of it. */
  const __pg_u32 before = together == 1 ? 0 : (__pg_u32)((__pg_u64)v.dev & 3) / width, words = (before + slots.count + together - 1) / together;
  const __pg_u32 threads = blockDim.x * blockDim.y, fail = c.fail;
  c.fail = 0;
  for (__pg_u32 word = __pg_thread(); word < words; word += threads) {
    __pg_u32 values = 0;
    bool some = false;
#pragma unroll
    for (__pg_u32 i = 0; i < together; i++) {
      const __pg_u32 slot = word * together + i - before;
      __pg_u64 value = __pg_neutral<Op>();
      const __pg_u64 address = v.lo + (__pg_u64)slot * width;
      const bool is_here = slot < slots.count && __pg_has_come_to<Op, T, Base>(slots, slot, &value) &&
                           __pg_log_updated(&c, &v, how, address, width, Op);
      if (together > 1)
        values |= (__pg_u32)(T)(is_here ? (T)value : (T)__pg_neutral<Op>()) << (i * width * 8);
      else if (is_here)
        __pg_update_in_one_piece(v.dev + (address - v.lo), width, Op, value, 1);
      some |= is_here;
    }
    if (together > 1 && some) {
      __pg_u32 *const place = (__pg_u32 *)(v.dev + ((__pg_i64)word * 4 - (__pg_i64)((__pg_u64)v.dev & 3)));
      if (Op == PG_AND)
        (void)atomicAnd(place, values);
      else if (Op == PG_OR)
        (void)atomicOr(place, values);
      else if (Op == PG_XOR)
        (void)atomicXor(place, values);
      else if (Op == PG_ADD)
        __pg_add_to_numbers(place, values, width);
      else {
        __pg_u32 old = *(volatile __pg_u32 *)place;
        for (;;) {
          __pg_u32 made = 0;
#pragma unroll
          for (__pg_u32 i = 0; i < together; i++) {
            const __pg_u32 shift = i * width * 8;
            made |= (__pg_u32)(T)__pg_operate(Op, old >> shift, values >> shift) << shift;
          }
          const __pg_u32 seen = atomicCAS(place, old, made);
          if (seen == old)
            break;
          old = seen;
        }
      }
    }
  }
  /* Whoever hands over, it counts. */
  if (c.fail != 0)
    __pg_fetch_or(&c.launch->flags[0], c.fail);
  c.fail |= fail;
}
template <int Op, class T, int Base, class Tables, class Context>
__device__ __forceinline__ void __pg_hand_over(const Tables *__pg_t, Context &c)
{
  if constexpr (__pg_collects<Op, T>(Base))
    if (__pg_t->slots[Base].hands_over) {
      const struct __pg_view view = __PG_VIEW_OF_TABLES(Base);
      __pg_hand_over_to<Op, T, Base>(c, view, __pg_t);
    }
}
