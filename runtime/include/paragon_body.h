/* What a lowered loop body stands on: the instrumentation behind the macros that generated text uses.
 *
 * The same text of a body is compiled three times: DIRECT (C, host addresses, no checks: the worker, and threads that
 * run a proven loop in place), DEVICE in C (the threads device: translated addresses, range checks, logs), DEVICE in
 * CUDA (the same through NVRTC). So what runs where no GPU is are the very bodies and logs that the GPU runs.
 * paragon_rt.h comes before this file. Nothing here includes anything. It is valid C89 with GNU extensions and CUDA
 * C++.
 *
 * The logs (the chapter, section 4.4.3). A cell stands for 2^log_shift bytes of one array. No method asks for
 * the thread, only for the source iteration, so merging iterations into one thread hides nothing. Where they keep it:
 *   wr[cell]  iteration+1 of a writer; 0: nobody.
 *   rd[cell]  iteration+1 of the only reader, PG_MANY: several or unknown; 0: nobody.
 * Atomic method: compare-and-swap on wr; whoever finds another iteration there has found a write-write conflict at
 *   once. Readers enter themselves in the same way. No false conflict: an iteration may read and write its own
 *   elements as it likes.
 * Reduction method: plain stores. An iteration that does not find itself in wr enters itself and counts; the sum of
 *   the counts exceeds the number of written cells exactly if two iterations wrote one cell: each writer of a cell
 *   counts at least once, and a single writer counts exactly once, because nobody overwrites its entry. Readers store
 *   PG_MANY unless they find themselves in wr: an element that its writer read before writing it counts as a conflict
 *   unless the compiler has seen that the store covers the load (then the load is not logged).
 * Bitmaps: a bit of wr is set by whoever writes the cell, one of rd by whoever reads it, and bits that are written are counted. Whoever
 *   sets a bit doesn't look at what was there, because to wait for the answer costs more than the bit: two writers of a cell show in the
 *   end, when fewer bits are set than were counted. Two writers, and a writer and a reader, are a conflict, though it were the same
 *   iteration. So they are for loops whose iterations don't meet themselves; where they do, there is a conflict that is none, never
 *   one that is missed.
 * Stamps: wr holds the last writer of a cell, the first one, and the last reader. Loads find what was there before the loop, from a
 *   copy, or what their own iteration has stored, which shows in wr. So an earlier reader is no conflict (an anti dependence), nor are two
 *   writers (an output dependence), whose last one stands: where a cell has several, all iterations are run once more, alike, and only
 *   the last writer of a cell stores (`settles`). A conflict is a reader behind the first writer; and the first writer as a reader, if there
 *   is another writer, because it may have read what that one has stored. By induction over the iterations no other one can have
 *   found what it wouldn't find in the source order.
 * A guess: stamps take operations in one piece, of each writer. A run that guesses that each cell has one writer (`guess`) does without: an
 *   iteration that stores puts its number into wr and counts, as the reduction method does. More counted stores than written cells refute
 *   the guess: each writer of a cell counts at least once, because it passes over a store only where it finds its own number, which
 *   nobody else puts there. (An only writer that looks counts once. One that doesn't look counts each of its stores to the cell; if there
 *   are several, the guess is refuted without need.) Then the run is made once more, with stamps proper. That finds what the first one
 *   found: what was in memory before the loop is still in the copy, from which the arrays are made again; logs and results begin anew; and
 *   nothing has left the device. Whatever else a refuted run has found, or has come to, doesn't count.
 *   Loads that are noted find the copy's value and enter themselves as the cell's last reader, or, where they find their own number in wr,
 *   what their own iteration has stored, without a note. Loads that their iteration's store covers aren't noted, and find what is in
 *   memory: where the guess holds nobody else stores there. Where somebody does, they may find his value, and whatever follows from it;
 *   but their own store comes all the same, to the same address, because whatever that is loaded from is found unchanged (or is covered
 *   itself, by another store), so that cell has two writers, and counts tell.
 *   If the guess holds, a conflict is a reader behind the writer. Without one, by induction over the iterations: those in front of an
 *   iteration have stored what they do in the source order; if one of them is the writer of a cell that this one loads, this one is a noted reader
 *   behind it; if none is, the copy or its own store has what it would find.
 *   Where nobody asks for numbers, neither loads nor stores that look, bits are enough for the guess (cmt.rs).
 * The check (after all iterations): a cell with a writer and a reader that is not that writer is a conflict; of stamps as above.
 * Ownership is entered before the value is stored. Without a log method, a store only sets its bits of wr, so that the commit copies
 * exactly what was written. */
#ifndef PARAGON_BODY_H
#define PARAGON_BODY_H

#ifdef __CUDACC_RTC__
#define __PG_FN static __device__ __forceinline__
#define __PG_SHARED_FN __PG_FN
#define __PG_ALIAS
#define __PG_EXACT
#define __pg_cas(p, old, new) atomicCAS((__pg_u32 *)(p), (old), (new))
#define __pg_fetch_or(p, v) atomicOr((__pg_u32 *)(p), (v))
#define __pg_fetch_add64(p, v) atomicAdd((__pg_u64 *)(p), (__pg_u64)(v))
#define __pg_raise(p, v) (void)atomicMax((__pg_u32 *)(p), (v))
/* The same for two numbers side by side: in one operation where nothing stands there yet, as in most cells. */
static __device__ __forceinline__ void __pg_raise_both(__pg_u32 *p, __pg_u32 a, __pg_u32 b)
{
  const __pg_u64 old = atomicCAS((__pg_u64 *)p, (__pg_u64)0, (__pg_u64)b << 32 | a);
  if (old == 0)
    return;
  if ((__pg_u32)old < a)
    (void)atomicMax(p, a);
  if ((__pg_u32)(old >> 32) < b)
    (void)atomicMax(p + 1, b);
}
#define __pg_peek(p) (*(volatile __pg_u32 *)(p))
#define __pg_poke(p, v) (*(volatile __pg_u32 *)(p) = (v))
/* Two side by side: the second one above the first one. */
#define __pg_peek_both(p) (*(volatile __pg_u64 *)(p))
/* Nobody waits for it. */
#define __pg_put(p, v) (*(p) = (v))
#else
#define __PG_FN static __inline__ __attribute__((__always_inline__, __unused__))
/* What every access does is compiled once: a unit with many loops would take the compiler many times longer. */
#define __PG_SHARED_FN static __attribute__((__noinline__, __unused__))
#define __PG_ALIAS __attribute__((__may_alias__))
/* Floating-point operations of such functions are those that stand there, in their order, as they are on every device, and
 * of all numbers: infinities, NaNs and zeros of either sign. */
#define __PG_EXACT                                                                                                     \
  __attribute__((__optimize__("no-fast-math", "no-unsafe-math-optimizations", "no-associative-math",                   \
                              "no-reciprocal-math", "no-finite-math-only", "signed-zeros", "fp-contract=off")))
__PG_FN __pg_u32 __pg_cas(__pg_u32 *p, __pg_u32 old, __pg_u32 new_value)
{
  __atomic_compare_exchange_n(p, &old, new_value, 0, 0, 0);
  return old;
}
#define __pg_fetch_or(p, v) __atomic_fetch_or((p), (v), 0)
#define __pg_fetch_add64(p, v) __atomic_fetch_add((p), (__pg_u64)(v), 0)
__PG_FN void __pg_raise(__pg_u32 *p, __pg_u32 v)
{
  __pg_u32 old = __atomic_load_n(p, 0);
  while (old < v && !__atomic_compare_exchange_n(p, &old, v, 0, 0, 0))
    ;
}
__PG_FN void __pg_raise_both(__pg_u32 *p, __pg_u32 a, __pg_u32 b)
{
  __pg_raise(p, a);
  __pg_raise(p + 1, b);
}
#define __pg_peek(p) __atomic_load_n((p), 0)
#define __pg_poke(p, v) __atomic_store_n((p), (v), 0)
#define __pg_peek_both(p) ((__pg_u64)__pg_peek((p) + 1) << 32 | __pg_peek(p))
#define __pg_put(p, v) __pg_poke(p, v)
#endif

#ifndef __CUDACC_RTC__
/* Where the program keeps scalars unaligned, it says so in types that are not known here; a C compiler that takes them for aligned may
 * count on it. */
#undef __PG_ALIAS
#define __PG_ALIAS __attribute__((__may_alias__, __aligned__(1)))
#endif
typedef signed char __PG_ALIAS __pg_i8;
typedef unsigned char __PG_ALIAS __pg_u8;
typedef signed short __PG_ALIAS __pg_i16;
typedef unsigned short __PG_ALIAS __pg_u16;
typedef signed int __PG_ALIAS __pg_i32;
typedef unsigned int __PG_ALIAS __pg_w32;   /* __pg_u32 as memory is accessed */
__extension__ typedef signed long long __PG_ALIAS __pg_m64;
__extension__ typedef unsigned long long __PG_ALIAS __pg_w64;
typedef float __PG_ALIAS __pg_f32;
typedef double __PG_ALIAS __pg_f64;

/* A scalar in memory, by its address. Macros, because compilers take their time over functions that they then inline. */
#define __pg_get_i8(a) (*(const __pg_i8 *)(a))
#define __pg_set_i8(a, v) (*(__pg_i8 *)(a) = (v))
#define __pg_get_u8(a) (*(const __pg_u8 *)(a))
#define __pg_set_u8(a, v) (*(__pg_u8 *)(a) = (v))
#define __pg_get_i16(a) (*(const __pg_i16 *)(a))
#define __pg_set_i16(a, v) (*(__pg_i16 *)(a) = (v))
#define __pg_get_u16(a) (*(const __pg_u16 *)(a))
#define __pg_set_u16(a, v) (*(__pg_u16 *)(a) = (v))
#define __pg_get_i32(a) (*(const __pg_i32 *)(a))
#define __pg_set_i32(a, v) (*(__pg_i32 *)(a) = (v))
#define __pg_get_u32(a) (*(const __pg_w32 *)(a))
#define __pg_set_u32(a, v) (*(__pg_w32 *)(a) = (v))
#define __pg_get_i64(a) (*(const __pg_m64 *)(a))
#define __pg_set_i64(a, v) (*(__pg_m64 *)(a) = (v))
#define __pg_get_u64(a) (*(const __pg_w64 *)(a))
#define __pg_set_u64(a, v) (*(__pg_w64 *)(a) = (v))
#define __pg_get_f32(a) (*(const __pg_f32 *)(a))
#define __pg_set_f32(a, v) (*(__pg_f32 *)(a) = (v))
#define __pg_get_f64(a) (*(const __pg_f64 *)(a))
#define __pg_set_f64(a, v) (*(__pg_f64 *)(a) = (v))

/* Operations of updates, on unsigned numbers. */
#define __PG_ADD(x, y) ((x) + (y))
#define __PG_MUL(x, y) ((x) * (y))
#define __PG_AND(x, y) ((x) & (y))
#define __PG_OR(x, y) ((x) | (y))
#define __PG_XOR(x, y) ((x) ^ (y))

/* A unit without functions for the threads device needs no more than this. */
#ifndef __PG_DIRECT_ONLY

/* Run-time compiled kernels know their log method and its cells. */
#ifdef __PG_METHOD
#define __PG_LOG_METHOD(l) __PG_METHOD
#ifndef __PG_GUESSED
#define __PG_GUESSED PG_GUESS_NONE
#endif
#define __PG_GUESS(l) __PG_GUESSED
#define __PG_SHIFT(l) __PG_LOG_SHIFT
#else
#define __PG_LOG_METHOD(l) ((l)->log_method)
#define __PG_GUESS(l) ((l)->guess)
#define __PG_SHIFT(l) ((l)->log_shift)
#endif

/* Whether this thread is the one whose stores and failures count, of those that run an iteration together. */
#ifdef __PG_SPREAD
#define __PG_LEADS (__PG_SPREAD == 1 || threadIdx.x % __PG_SPREAD == 0)
#else
#define __PG_LEADS 1
#endif

/* Memory of the device, where a program's memory is: a pointer in kernels, because their compiler then knows that it is no
 * thread's own. */
#ifdef __CUDACC_RTC__
typedef char *__pg_memory;
#define __PG_AT(memory, offset) ((memory) + (offset))
/* The same as a number, for accesses that need no check: what is the same in all turns NVRTC then adds up before them, and one instruction
 * makes an address of an index. Only where lanes run iterations together: elsewhere loads come later by it (sor takes 7% longer), and where
 * iterations are in groups, it knows better what pointers have in common. */
#if __PG_ROWS * __PG_COLUMNS == 1 && defined(__PG_SPREAD) && __PG_SPREAD > 1
#define __PG_AT_ONCE(memory, offset) ((char *)__cvta_global_to_generic(__cvta_generic_to_global(memory) + (offset)))
#else
#define __PG_AT_ONCE __PG_AT
#endif
#else
typedef __pg_u64 __pg_memory;
#define __PG_AT(memory, offset) ((char *)(__pg_address)((memory) + (offset)))
#define __PG_AT_ONCE __PG_AT
#endif

/* The array that a base's accesses belong to. */
struct __pg_view {
  __pg_u64 lo, size;
  __pg_memory dev;
  __pg_u64 log;
  __pg_memory snapshot;
  __pg_memory before;
};

/* One thread's state while it runs iterations. */
struct __pg_ctx {
  const struct __pg_launch *launch;
  __pg_u32 iteration;  /* + 1 */
  __pg_u32 fail;       /* PG_FAIL_* of this thread */
  __pg_u64 writes;     /* of this thread. Reduction method: distinct (iteration, cell); bitmaps, and stamps as the launch says: cells, each time */
  __pg_u32 ticks;
  __pg_u32 left;       /* it has left an inner loop before its end: what it computes from then on is nothing */
  __pg_u64 marked;     /* where its iteration has set bits of writers last, and how many bytes */
#ifdef __PG_GATHERS
  /* Of stores to members of one element: bits that are still to be set, and their word. */
  __pg_u32 gathered, word;
#endif
#ifdef __CUDACC_RTC__
  /* Of loads that a bitmap notes, the last one's: bits, their word, and what was found there. */
  __pg_u32 noted, noted_word, found;
#endif
};

#ifdef __PG_GATHERS
#define __PG_GATHER_NOTHING(c) (c).gathered = (c).word = 0;
#else
#define __PG_GATHER_NOTHING(c)
#endif
#ifdef __CUDACC_RTC__
#define __PG_NOTE_NOTHING(c)                                                                                           \
  __PG_GATHER_NOTHING(c)                                                                                               \
  (c).noted = (c).noted_word = (c).found = 0;
#else
#define __PG_NOTE_NOTHING(c) __PG_GATHER_NOTHING(c)
#endif

/* The chapter's Find_Array (figure 4.7a), by bisection: the table is sorted. No array: size 0, so that every access
 * through it fails its range check. */
__PG_SHARED_FN void __pg_find_array(const struct __pg_launch *l, __pg_u64 address, struct __pg_view *v)
{
  __pg_u32 a = 0, b = l->n_regions;
  v->lo = v->size = 0;
  v->dev = v->snapshot = v->before = (__pg_memory)0;
  v->log = ~(__pg_u64)0;
  while (a < b) {
    __pg_u32 m = a + (b - a) / 2;
    if (l->regions[m].lo <= address)
      a = m + 1;
    else
      b = m;
  }
  if (a != 0 && address - l->regions[a - 1].lo < l->regions[a - 1].size) {
    v->lo = l->regions[a - 1].lo;
    v->size = l->regions[a - 1].size;
    v->dev = (__pg_memory)l->regions[a - 1].dev;
    v->log = l->regions[a - 1].log;
    v->snapshot = (__pg_memory)l->regions[a - 1].snapshot;
    v->before = (__pg_memory)l->regions[a - 1].before;
  }
}

__PG_FN struct __pg_view __pg_base_view(const struct __pg_launch *l, __pg_u32 base)
{
  struct __pg_view v;
  __pg_find_array(l, l->anchors[base], &v);
  return v;
}

/* What a kernel is compiled for; the C text is compiled once, for everything.
 *   __PG_NARROW     iterations are counted in 32 bits
 *   __PG_BOUNDED    a bit for each of the first 64 bases: its accesses have been shown to stay in its array, aligned
 *   __PG_INSIDE     the same, of accesses that need not be affine: an earlier run of the same addresses has seen where they lie
 *   __PG_CONSTANT   a bit for those of both to whose array nothing stores
 *   __PG_ORDERED    the launch has an order of iterations
 *   __PG_TILE_X     each iteration has a thread: this dimension goes with x, __PG_TILE_Y with y, the others with blocks in z
 *   __PG_FAR_TABLES the tables don't fit into the kernel's parameters
 * A kernel has its values and its arrays at hand (struct __pg_tables of the text: values, views, divisors). */
#ifdef __CUDACC_RTC__
#define __PG_TABLES , const struct __pg_tables *__pg_t
#define __PG_VALUES __pg_t->values
#define __PG_VIEW(base) __pg_t->views[base]
#define __PG_HOW(base)                                                                                                 \
  ((base) >= 64 ? 0                                                                                                    \
                : (int)(__PG_BOUNDED >> ((base) & 63) & 1) | (int)(__PG_CONSTANT >> ((base) & 63) & 1) << 1 |          \
                    (int)(__PG_INSIDE >> ((base) & 63) & 1) << 3 |                                                     \
                    (int)(__PG_KEPT >> ((base) & 63) & 1) << 4 | (int)(~__PG_KEPT >> ((base) & 63) & 1) << 5)
/* `others`: dimensions that are neither; blocks along z count their places. */
#define __PG_TILE(dim, k, others)                                                                                      \
  if ((dim) == __PG_TILE_X)                                                                                            \
    k = blockIdx.x * ((__pg_count)blockDim.x * __PG_COLUMNS) + threadIdx.x;                                            \
  else if ((dim) == __PG_TILE_Y)                                                                                       \
    k = ((blockIdx.y + __pg_l->first_row) * (__pg_count)blockDim.y + threadIdx.y) * __PG_ROWS;                     \
  else if ((others) == 1)                                                                                              \
    k = __pg_q;                                                                                                        \
  else {                                                                                                               \
    const __pg_count __pg_around = __PG_QUOTIENT(dim, __pg_q);                                                         \
    k = __pg_q - __pg_around * (__pg_count)__pg_l->trip[dim];                                                          \
    __pg_q = __pg_around;                                                                                              \
  }
#define __PG_LOAD(type, p, how)                                                                                        \
  ((how) & (__PG_IS_CONSTANT | __PG_HAS_NO_STORES) ? __ldg((const type *)(p)) : *(const type *)(p))
#ifdef __PG_ORDERED
#define __PG_ITERATION(j) ((__pg_count)__pg_l->order[j])
#else
#define __PG_ITERATION(j) (j)
#endif
#else
#define __PG_TABLES
#define __PG_VALUES __pg_l->values
#define __PG_VIEW(base) __pg_base_view(__pg_l, base)
#define __PG_HOW(base) 0
#define __PG_LOAD(type, p, how) (*(const type *)(p))
#define __PG_ITERATION(j) (__pg_l->order ? __pg_l->order[j] : (j))
#endif
#define __PG_IS_BOUNDED 1
/* Nothing stores to such an array: its loads can meet nothing. */
#define __PG_IS_CONSTANT 2
/* An access without a base, whose array may turn out to be none. */
#define __PG_IS_DYNAMIC 4
#define __PG_IS_INSIDE 8
/* Nothing stores to its array, shown to stay there or not: it has no log. */
#define __PG_HAS_NO_STORES 16
/* Where there is a log: its array, if it has one, is a part of that. */
#define __PG_HAS_LOG 32
/* Whether a log notes a load: 1 where it takes part in an unresolved pair, 2 where only stamps need to know it, unless they guess. */
#define __PG_ARE_STAMPS(l) (__PG_LOG_METHOD(l) == PG_LOG_STAMP && __PG_GUESS(l) == PG_GUESS_NONE)
#define __PG_IS_NOTED(c, v, logged, how)                                                                               \
  ((logged) && !((how) & (__PG_IS_CONSTANT | __PG_HAS_NO_STORES)) &&                                                   \
   (__PG_ARE_STAMPS((c)->launch) || (__PG_LOG_METHOD((c)->launch) >= PG_LOG_ATOMIC && (logged) == 1)))

#if defined(__CUDACC_RTC__) && defined(__PG_NARROW)
typedef __pg_u32 __pg_count, __pg_cell;
/* Division by a trip count, by multiplication: exact for what is below 2^31 (Granlund and Montgomery, 1994). */
#define __PG_QUOTIENT(dim, k) ((__umulhi((k), __pg_t->multiplier[dim]) + (k)) >> __pg_t->shift[dim])
#else
typedef __pg_u64 __pg_count, __pg_cell;
#define __PG_QUOTIENT(dim, k) ((k) / __pg_l->trip[dim])
#endif

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
/* Lanes with a word in common set its bits together. A compiler may let lanes come here together that set bits of different loads. */
__PG_FN void __pg_set_read(__pg_u32 *log, __pg_u32 word, __pg_u32 bits)
{
  const __pg_u32 peers = __match_any_sync(__activemask(), word);
  if ((peers & (peers - 1)) != 0) {
    bits = __reduce_or_sync(peers, bits);
    if ((int)(threadIdx.x & 31) != __ffs(peers) - 1)
      return;
  }
  (void)atomicOr(&log[word], bits);
}
/* To wait for what is there would take as long as the load itself: so it is looked at when the next note comes. Not where lanes share an iteration, who
 * have no registers left; what is kept in memory instead takes longer. */
__PG_FN void __pg_end_note(struct __pg_ctx *c)
{
  if ((c->noted & ~c->found) != 0)
    __pg_set_read(c->launch->rd, c->noted_word, c->noted);
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
  __pg_end_note(c);
  c->noted = bits;
  c->noted_word = word;
  c->found = log[word];
#endif
}
#endif

__PG_SHARED_FN void __pg_log_read(struct __pg_ctx *c, const struct __pg_view *v, __pg_u64 address, __pg_u32 width)
{
  const struct __pg_launch *l = c->launch;
  __pg_u64 cell, end;
  if (v->log == ~(__pg_u64)0)
    return;
  if (__PG_LOG_METHOD(l) == PG_LOG_BITMAP) {
    __pg_u32 word, bits = __pg_bits_of(l, v, address, width, &word);
    if ((__pg_peek(&l->rd[word]) & bits) != bits)
      __pg_set_bits(l->rd, 1, word, bits);
    return;
  }
  cell = __pg_cell_of(l, v, address);
  end = cell + __PG_CELLS(l, width);
  for (; cell != end; cell++) {
    if (__PG_LOG_METHOD(l) == PG_LOG_STAMP) {
      const int is_guess = __PG_GUESS(l) != PG_GUESS_NONE;
      __pg_u32 *stamps = &l->wr[l->stamp_words * cell], *reader = stamps + (is_guess ? PG_GUESS_READER : PG_STAMP_READER);
      /* Nobody said that this loop's loads are noted; the next word would be another cell's. */
      if (l->stamp_words == PG_STAMP_WORDS) {
        c->fail |= PG_FAIL_RAW;
        return;
      }
      if (is_guess && __pg_peek(stamps) == c->iteration)
        continue;
      if (__pg_peek(reader) < c->iteration)
        __pg_raise(reader, c->iteration);
    } else if (__PG_LOG_METHOD(l) == PG_LOG_ATOMIC) {
      __pg_u32 seen = __pg_peek(&l->rd[cell]);
      if (seen == 0)
        seen = __pg_cas(&l->rd[cell], 0, c->iteration);
      if (seen != 0 && seen != c->iteration && seen != PG_MANY)
        __pg_poke(&l->rd[cell], PG_MANY);
    } else if (__pg_peek(&l->wr[cell]) != c->iteration) {
      __pg_poke(&l->rd[cell], PG_MANY);
    }
  }
}

__PG_SHARED_FN void __pg_log_write(struct __pg_ctx *c, const struct __pg_view *v, int how, __pg_u64 address, __pg_u32 width)
{
  const struct __pg_launch *l = c->launch;
  __pg_u64 cell, end;
  if (__PG_HAS_NO_LOG(v, how))
    return;
  if (__PG_LOG_METHOD(l) == PG_LOG_BITMAP) {
    const __pg_u32 cells = width >> __PG_SHIFT(l);
    if (__pg_is_marked(c, address, width))
      return;
    __pg_set_written(c, v, address, width);
    c->writes += cells == 0 ? 1 : cells;
    return;
  }
  cell = __pg_cell_of(l, v, address);
  end = cell + __PG_CELLS(l, width);
  for (; cell != end; cell++) {
    if (__PG_LOG_METHOD(l) == PG_LOG_STAMP) {
      __pg_u32 *stamps = &l->wr[l->stamp_words * cell];
      if (__PG_GUESS(l) != PG_GUESS_NONE) {
        if (__PG_GUESS(l) == PG_GUESS_LOOKING && __pg_peek(stamps) == c->iteration)
          continue;
        __pg_put(stamps, c->iteration);
        c->writes++;
      } else if (l->stamp_words == PG_STAMP_WORDS) {
        /* Nobody asks who was first, only whether cells have several writers. */
        __pg_raise(stamps, c->iteration);
        c->writes++;
      } else {
        __pg_raise_both(stamps, c->iteration, ~c->iteration);
      }
    } else if (__PG_LOG_METHOD(l) == PG_LOG_ATOMIC) {
      __pg_u32 seen = __pg_peek(&l->wr[cell]);
      if (seen == 0)
        seen = __pg_cas(&l->wr[cell], 0, c->iteration);
      if (seen != 0 && seen != c->iteration) {
        c->fail |= PG_FAIL_WAW;
        __pg_poke(&l->flags[1], c->iteration - 1);
      }
    } else if (__pg_peek(&l->wr[cell]) != c->iteration) {
      __pg_poke(&l->wr[cell], c->iteration);
      c->writes++;
    }
  }
}

__PG_SHARED_FN void __pg_mark_write(struct __pg_ctx *c, const struct __pg_view *v, int how, __pg_u64 address, __pg_u32 width)
{
  if (!__PG_HAS_NO_LOG(v, how) && !__pg_is_marked(c, address, width))
    __pg_set_written(c, v, address, width);
}

/* What an access under stamps finds in memory, or changes there: cell by cell, as far as the iteration is the last writer. `from` and `to`
 * are where the access begins. */
__PG_FN void __pg_copy_own(struct __pg_ctx *c, const struct __pg_view *v, __pg_u64 address, __pg_u32 width, const char *from, char *to)
{
  const struct __pg_launch *l = c->launch;
  const __pg_u32 size = 1u << __PG_SHIFT(l);
  __pg_u64 cell = __pg_cell_of(l, v, address);
  __pg_u32 at, byte;
  for (at = 0; at < width; at += size, cell++)
    if (__pg_peek(&l->wr[l->stamp_words * cell + PG_STAMP_LAST]) == c->iteration)
      for (byte = at; byte < at + size && byte < width; byte++)
        to[byte] = from[byte];
}
/* Where there is a guess, of a load of one cell: whether it finds what its own iteration has stored. Otherwise it is noted. Writer and reader
 * come with one load. */
__PG_FN int __pg_finds_own(struct __pg_ctx *c, const struct __pg_view *v, __pg_u64 address)
{
  const struct __pg_launch *l = c->launch;
  __pg_u32 *stamps = &l->wr[l->stamp_words * __pg_cell_of(l, v, address)];
  __pg_u64 both;
  if (l->stamp_words == PG_STAMP_WORDS) {
    c->fail |= PG_FAIL_RAW;
    return 0;
  }
  both = __pg_peek_both(stamps);
  if ((__pg_u32)both == c->iteration)
    return 1;
  if ((__pg_u32)(both >> 32) < c->iteration)
    __pg_raise(stamps + PG_GUESS_READER, c->iteration);
  return 0;
}
#define __PG_IS_ONE_CELL(l, width) ((width) >> __PG_SHIFT(l) <= 1)
#define __PG_IS_LAST_WRITER(c, v, address)                                                                             \
  (__pg_peek(&(c)->launch->wr[(c)->launch->stamp_words * __pg_cell_of((c)->launch, v, address) + PG_STAMP_LAST]) ==      \
   (c)->iteration)

/* Whether to give up, now. Not 0: leave; and the loops around have to be left, too, so whoever asks next by ticks is answered at once. */
__PG_SHARED_FN int __pg_poll_now(struct __pg_ctx *c)
{
  if (!c->left && c->fail == 0 && __pg_peek(c->launch->stop) != 0)
    c->fail |= PG_FAIL_STOPPED;
  if (!c->left && c->fail == 0 && __pg_peek(&c->launch->flags[0]) == 0)
    return 0;
  c->left = 1;
  c->ticks |= 1023u;
  return 1;
}

/* Innermost loops call this at each turn, or now and then: speculation may have made them endless. Not 0: leave. */
__PG_SHARED_FN int __pg_poll(struct __pg_ctx *c)
{
  return (++c->ticks & 1023u) == 0 && __pg_poll_now(c);
}

/* The same for loops around others, which may have many turns before they ask. */
__PG_SHARED_FN int __pg_poll_around(struct __pg_ctx *c)
{
  return (++c->ticks & 15u) == 0 && __pg_poll_now(c);
}

/* Before an iteration. Not 0: do no more. */
__PG_SHARED_FN int __pg_begin_iteration(struct __pg_ctx *c, __pg_u64 k)
{
  c->iteration = (__pg_u32)k + 1;
  if (__PG_MARKS_REPEATS)
    c->marked = 0;
  if (c->fail != 0 || (c->left && __PG_LEADS))
    return 1;
  c->left = 0;
  /* Where nothing is logged, others hardly ever give up: to look each time would cost more than it saves. So it would where logs
   * are cheap. */
  if ((__PG_LOG_METHOD(c->launch) == PG_LOG_ATOMIC || __PG_LOG_METHOD(c->launch) == PG_LOG_REDUCTION) &&
      __pg_peek(&c->launch->flags[0]) != 0)
    return 1;
  return (++c->ticks & 63u) == 0 && __pg_poll_now(c);
}

/* After a thread's last iteration. */
__PG_SHARED_FN void __pg_end_thread(struct __pg_ctx *c)
{
#ifdef __PG_GATHERS
  if (c->gathered != 0)
    __pg_set_bits(c->launch->wr, 0, c->word, c->gathered);
#endif
#if defined(__CUDACC_RTC__) && __PG_SPREAD == 1
  if (__PG_METHOD == PG_LOG_BITMAP)
    __pg_end_note(c);
#endif
  if (c->fail != 0 && __PG_LEADS)
    __pg_fetch_or(&c->launch->flags[0], c->fail);
  if (c->writes != 0) {
#if defined(__CUDACC_RTC__) && __CUDA_ARCH__ >= 800
    const __pg_u32 lanes = __activemask(), place = (blockIdx.x + 31 * blockIdx.y + blockIdx.z) % PG_TOTALS;
    __pg_u64 writes = c->writes;
    /* In 32 bits for all lanes at once, where they can't overflow. */
    if (!__any_sync(lanes, writes >> 27 != 0)) {
      writes = __reduce_add_sync(lanes, (__pg_u32)writes);
      if ((int)(threadIdx.x & 31) != __ffs(lanes) - 1)
        return;
    }
    __pg_fetch_add64(&c->launch->total[place * PG_TOTALS_APART], writes);
#else
    __pg_fetch_add64(&c->launch->total[0], c->writes);
#endif
  }
}

/* A thread may have left its loops by __pg_poll because another one failed; then flags[0] is set already. */

#ifdef __CUDACC_RTC__
/* x86 makes NaNs with another sign and payload: such a result is the host's to compute. */
#define __PG_IS_FOREIGN_NAN(x) ((x) != (x))
#else
#define __PG_IS_FOREIGN_NAN(x) 0
#endif

/* Memory orders are written as numbers (0 relaxed, 2 acquire, 3 release): where preprocessed text is compiled, gcc's predefined
 * macros are not there. */

/* Typed accesses. `logged`: 1 where the load takes part in an unresolved pair, 2 where its iteration also stores to its address, so that
 * only stamps need to know it. Stores are logged always: the commit
 * needs them, and the counts of the reduction method are only right if every mark in wr was counted. */
#define __PG_DEFINE_ACCESS(name, type, nan)                                                                            \
  __PG_SHARED_FN type __pg_ld_stamped_##name(struct __pg_ctx *c, const struct __pg_view *v, __pg_u64 address)          \
  {                                                                                                                    \
    const char *own = (const char *)__PG_TRANSLATED(v, address);                                                       \
    const char *before = (const char *)__PG_AT(v->before, address - v->lo);                                            \
    if (__PG_GUESS(c->launch) != PG_GUESS_NONE && __PG_IS_ONE_CELL(c->launch, (__pg_u32)sizeof(type)))                \
      return *(const type *)(__pg_finds_own(c, v, address) ? own : before);                                            \
    if (!c->launch->settles)                                                                                           \
      __pg_log_read(c, v, address, (__pg_u32)sizeof(type));                                                            \
    if (__PG_IS_ONE_CELL(c->launch, (__pg_u32)sizeof(type)))                                                           \
      return *(const type *)(__PG_IS_LAST_WRITER(c, v, address) ? own : before);                                       \
    else {                                                                                                             \
      type value = *(const type *)before;                                                                              \
      __pg_copy_own(c, v, address, (__pg_u32)sizeof(type), own, (char *)&value);                                       \
      return value;                                                                                                    \
    }                                                                                                                  \
  }                                                                                                                    \
  __PG_SHARED_FN void __pg_settle_##name(struct __pg_ctx *c, const struct __pg_view *v, __pg_u64 address, type value)   \
  {                                                                                                                    \
    char *place = (char *)__PG_TRANSLATED(v, address);                                                                 \
    if (!__PG_IS_ONE_CELL(c->launch, (__pg_u32)sizeof(type)))                                                          \
      __pg_copy_own(c, v, address, (__pg_u32)sizeof(type), (const char *)&value, place);                               \
    else if (__PG_IS_LAST_WRITER(c, v, address))                                                                       \
      *(type *)place = value;                                                                                          \
  }                                                                                                                    \
  __PG_SHARED_FN type __pg_ld_##name(struct __pg_ctx *c, const struct __pg_view *v, int logged, int how, __pg_u64 address) \
  {                                                                                                                    \
    if (!__PG_IS_NOTED(c, v, logged, how)) {                                                                           \
      __PG_LOAD_UNLOGGED(type, c, v, v->dev, how, address)                                                             \
    }                                                                                                                  \
    __PG_LOAD_NOTED(type, c, v, how, address)                                                                          \
    if (!__pg_may_access(c, v, how, address, (__pg_u32)sizeof(type)))                                                  \
      return (type)0;                                                                                                  \
    if (__PG_IS_NOTED(c, v, logged, how)) {                                                                            \
      if (__PG_LOG_METHOD(c->launch) != PG_LOG_STAMP)                                                                   \
        __pg_log_read(c, v, address, (__pg_u32)sizeof(type));                                                          \
      else if (v->before != v->dev)                                                                                    \
        return __pg_ld_stamped_##name(c, v, address);                                                                  \
    }                                                                                                                  \
    return __PG_LOAD(type, __PG_TRANSLATED_FOR(v, how, address), how);                                                 \
  }                                                                                                                    \
  /* What was there before the loop, where the launch has a snapshot of it; then nobody can change it. */              \
  __PG_SHARED_FN type __pg_lds_##name(struct __pg_ctx *c, const struct __pg_view *v, int logged, int how, __pg_u64 address) \
  {                                                                                                                    \
    if (__PG_LOG_METHOD(c->launch) < PG_LOG_ATOMIC) {                                                                   \
      __PG_LOAD_UNLOGGED(type, c, v, v->snapshot, how, address)                                                        \
    }                                                                                                                  \
    if (!__pg_may_access(c, v, how, address, (__pg_u32)sizeof(type)))                                                  \
      return (type)0;                                                                                                  \
    if (__PG_LOG_METHOD(c->launch) >= PG_LOG_ATOMIC && v->snapshot == v->dev)                                           \
      return __pg_ld_##name(c, v, logged, how, address);                                                               \
    return __PG_LOAD(type, __PG_AT(v->snapshot, address - v->lo), how);                                                \
  }                                                                                                                    \
  /* Where nothing is noted and nothing need be checked. */                                                             \
  __PG_SHARED_FN void __pg_set_##name##_at(struct __pg_ctx *c, char *place, type value)                                 \
  {                                                                                                                    \
    if (nan)                                                                                                           \
      c->fail |= PG_FAIL_NAN;                                                                                          \
    *(type *)place = value;                                                                                            \
  }                                                                                                                    \
  __PG_SHARED_FN void __pg_st_##name(struct __pg_ctx *c, const struct __pg_view *v, int how, __pg_u64 address, type value) \
  {                                                                                                                    \
    if (!__pg_may_access(c, v, how, address, (__pg_u32)sizeof(type)))                                                  \
      return;                                                                                                          \
    /* Then nothing of the run is kept; to store it all the same takes no branch. */                                   \
    if (nan)                                                                                                           \
      c->fail |= PG_FAIL_NAN;                                                                                          \
    if (__PG_LOG_METHOD(c->launch) == PG_LOG_STAMP && c->launch->settles) {                                             \
      __pg_settle_##name(c, v, address, value);                                                                        \
      return;                                                                                                          \
    }                                                                                                                  \
    if (__PG_LOG_METHOD(c->launch) >= PG_LOG_ATOMIC)                                                                   \
      __pg_log_write(c, v, how, address, (__pg_u32)sizeof(type));                                                      \
    else if (__PG_LOG_METHOD(c->launch) != PG_LOG_NONE)                                                                \
      __pg_mark_write(c, v, how, address, (__pg_u32)sizeof(type));                                                     \
    *(type *)__PG_TRANSLATED_FOR(v, how, address) = value;                                                             \
  }

__PG_DEFINE_ACCESS(i8, __pg_i8, 0)
__PG_DEFINE_ACCESS(u8, __pg_u8, 0)
__PG_DEFINE_ACCESS(i16, __pg_i16, 0)
__PG_DEFINE_ACCESS(u16, __pg_u16, 0)
__PG_DEFINE_ACCESS(i32, __pg_i32, 0)
__PG_DEFINE_ACCESS(u32, __pg_w32, 0)
__PG_DEFINE_ACCESS(i64, __pg_m64, 0)
__PG_DEFINE_ACCESS(u64, __pg_w64, 0)
__PG_DEFINE_ACCESS(f32, __pg_f32, __PG_IS_FOREIGN_NAN(value))
__PG_DEFINE_ACCESS(f64, __pg_f64, __PG_IS_FOREIGN_NAN(value))

/* The same for accesses without a loop-invariant base: each finds its array by itself. */
#define __PG_DEFINE_DYNAMIC_ACCESS(name, type)                                                                         \
  __PG_SHARED_FN type __pg_ldx_##name(struct __pg_ctx *c, int logged, __pg_u64 address)                                \
  {                                                                                                                    \
    struct __pg_view v;                                                                                                \
    __pg_find_array(c->launch, address, &v);                                                                           \
    return __pg_ld_##name(c, &v, logged, __PG_IS_DYNAMIC, address);                                                    \
  }                                                                                                                    \
  __PG_SHARED_FN void __pg_stx_##name(struct __pg_ctx *c, __pg_u64 address, type value)                                \
  {                                                                                                                    \
    struct __pg_view v;                                                                                                \
    __pg_find_array(c->launch, address, &v);                                                                           \
    __pg_st_##name(c, &v, __PG_IS_DYNAMIC, address, value);                                                            \
  }
__PG_DEFINE_DYNAMIC_ACCESS(i8, __pg_i8)
__PG_DEFINE_DYNAMIC_ACCESS(u8, __pg_u8)
__PG_DEFINE_DYNAMIC_ACCESS(i16, __pg_i16)
__PG_DEFINE_DYNAMIC_ACCESS(u16, __pg_u16)
__PG_DEFINE_DYNAMIC_ACCESS(i32, __pg_i32)
__PG_DEFINE_DYNAMIC_ACCESS(u32, __pg_w32)
__PG_DEFINE_DYNAMIC_ACCESS(i64, __pg_m64)
__PG_DEFINE_DYNAMIC_ACCESS(u64, __pg_w64)
__PG_DEFINE_DYNAMIC_ACCESS(f32, __pg_f32)
__PG_DEFINE_DYNAMIC_ACCESS(f64, __pg_f64)

/* Memory that an iteration has for itself, as an offset into it: what speculation has made up must not lead beyond it. */
#define __PG_DEFINE_OWN_ACCESS(name, type, nan)                                                                        \
  __PG_FN type __pg_own_ld_##name(struct __pg_ctx *c, const __pg_u64 *array, __pg_u64 size, __pg_u64 at)               \
  {                                                                                                                    \
    if (at > size - sizeof(type)) {                                                                                    \
      c->fail |= PG_FAIL_RANGE;                                                                                        \
      return (type)0;                                                                                                  \
    }                                                                                                                  \
    return *(const type *)((const char *)array + at);                                                                  \
  }                                                                                                                    \
  __PG_FN void __pg_own_st_##name(struct __pg_ctx *c, __pg_u64 *array, __pg_u64 size, __pg_u64 at, type value)         \
  {                                                                                                                    \
    if (at > size - sizeof(type))                                                                                      \
      c->fail |= PG_FAIL_RANGE;                                                                                        \
    else {                                                                                                             \
      /* Another member of a union may read its bits. */                                                               \
      if (nan)                                                                                                         \
        c->fail |= PG_FAIL_NAN;                                                                                        \
      *(type *)((char *)array + at) = value;                                                                           \
    }                                                                                                                  \
  }
__PG_DEFINE_OWN_ACCESS(i8, __pg_i8, 0)
__PG_DEFINE_OWN_ACCESS(u8, __pg_u8, 0)
__PG_DEFINE_OWN_ACCESS(i16, __pg_i16, 0)
__PG_DEFINE_OWN_ACCESS(u16, __pg_u16, 0)
__PG_DEFINE_OWN_ACCESS(i32, __pg_i32, 0)
__PG_DEFINE_OWN_ACCESS(u32, __pg_w32, 0)
__PG_DEFINE_OWN_ACCESS(i64, __pg_m64, 0)
__PG_DEFINE_OWN_ACCESS(u64, __pg_w64, 0)
__PG_DEFINE_OWN_ACCESS(f32, __pg_f32, __PG_IS_FOREIGN_NAN(value))
__PG_DEFINE_OWN_ACCESS(f64, __pg_f64, __PG_IS_FOREIGN_NAN(value))

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
__PG_SHARED_FN void __pg_update(struct __pg_ctx *c, const struct __pg_view *v, __pg_u64 address, __pg_u32 width, int op,
                                __pg_u64 operand)
{
  char *p = __PG_TRANSLATED(v, address);
  if (!__pg_may_access(c, v, 0, address, width))
    return;
  if (__PG_LOG_METHOD(c->launch) >= PG_LOG_BITMAP) {
    /* Bits and stamps don't say what kind of update it was: such loops have other logs. */
    c->fail |= PG_FAIL_WAW;
    return;
  }
  if (__PG_LOG_METHOD(c->launch) >= PG_LOG_ATOMIC)
    __pg_log_update(c, v, address, width, PG_UPDATED((__pg_u32)op, width));
  else if (__PG_LOG_METHOD(c->launch) != PG_LOG_NONE)
    __pg_mark_write(c, v, 0, address, width);
#ifdef __CUDACC_RTC__
  if (width == 8) {
    __pg_u64 *place = (__pg_u64 *)p, old = *(volatile __pg_u64 *)place, seen;
    if (op == PG_ADD) {
      atomicAdd(place, operand);
      return;
    }
    while ((seen = atomicCAS(place, old, __pg_operate(op, old, operand))) != old)
      old = seen;
  } else {
    /* Narrower numbers are a part of an aligned word. */
    __pg_u32 *word = (__pg_u32 *)((__pg_u64)p & ~(__pg_u64)3), shift = (__pg_u32)((__pg_u64)p & 3) * 8, old = *(volatile __pg_u32 *)word, seen;
    __pg_u32 mask = (width == 4 ? ~0u : (1u << width * 8) - 1) << shift;
    if (op == PG_ADD && width == 4) {
      atomicAdd(word, (__pg_u32)operand);
      return;
    }
    for (;;) {
      __pg_u32 value = (__pg_u32)__pg_operate(op, (old & mask) >> shift, operand) << shift & mask;
      seen = atomicCAS(word, old, (old & ~mask) | value);
      if (seen == old)
        return;
      old = seen;
    }
  }
#else
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
__PG_SHARED_FN void __pg_update_anywhere(struct __pg_ctx *c, __pg_u64 address, __pg_u32 width, int op, __pg_u64 operand)
{
  struct __pg_view v;
  __pg_find_array(c->launch, address, &v);
  __pg_update(c, &v, address, width, op, operand);
}

/* Combines a thread's part of a reduction into the launch's result. Values are sign- or zero-extended to 64 bits by
 * their type, so that one comparison serves all of one signedness. */
__PG_FN __pg_u64 __pg_extend(__pg_u64 bits, int type)
{
  switch (type) {
  case PG_I8: return (__pg_u64)(__pg_i64)(signed char)bits;
  case PG_U8: return (unsigned char)bits;
  case PG_I16: return (__pg_u64)(__pg_i64)(short)bits;
  case PG_U16: return (unsigned short)bits;
  case PG_I32: return (__pg_u64)(__pg_i64)(int)bits;
  case PG_U32: return (unsigned int)bits;
  default: return bits;
  }
}
__PG_SHARED_FN void __pg_combine(__pg_value *slot, int op, int type, __pg_u64 part)
{
  __pg_u64 old = *(volatile __pg_u64 *)&slot->__pg_u, seen;
  int is_signed = type == PG_I8 || type == PG_I16 || type == PG_I32 || type == PG_I64;
  for (;;) {
    __pg_u64 value = old;
    int less = is_signed ? (__pg_i64)part < (__pg_i64)old : part < old;
    switch (op) {
    case PG_ADD: value = old + part; break;
    case PG_MUL: value = old * part; break;
    case PG_AND: value = old & part; break;
    case PG_OR: value = old | part; break;
    case PG_XOR: value = old ^ part; break;
    case PG_MIN: value = less ? part : old; break;
    case PG_MAX: value = less ? old : part; break;
    }
    value = __pg_extend(value, type);
#ifdef __CUDACC_RTC__
    seen = atomicCAS(&slot->__pg_u, old, value);
    if (seen == old)
      return;
    old = seen;
#else
    seen = old;
    if (__atomic_compare_exchange_n(&slot->__pg_u, &seen, value, 0, 0, 0))
      return;
    old = seen;
#endif
  }
}

/* Division and remainder that the hardware answers differently: x86 traps on zero and on MIN / -1. Then the result doesn't matter any more. On
 * a GPU that takes no branch, and what is divided by depends on the divisor alone: so divisions by the same number have in common what
 * follows from it. Signed ones are made of unsigned ones, because what C++ doesn't define a compiler takes for impossible. */
#ifdef __CUDACC_RTC__
#define __PG_DEFINE_DIVISION(name, type, unsigned_type, is_signed, is_bad)                                             \
  __PG_FN void __pg_divide_##name(struct __pg_ctx *c, type a, type b, unsigned_type *quotient, unsigned_type *rest)     \
  {                                                                                                                    \
    const unsigned_type x = (is_signed) && a < 0 ? 0u - (unsigned_type)a : (unsigned_type)a;                           \
    const unsigned_type y = b == 0 ? 1u : (is_signed) && b < 0 ? 0u - (unsigned_type)b : (unsigned_type)b;             \
    c->fail |= (is_bad) ? (__pg_u32)PG_FAIL_ARITHMETIC : 0u;                                                           \
    *quotient = x / y;                                                                                                 \
    *rest = x - *quotient * y;                                                                                         \
  }                                                                                                                    \
  __PG_FN type __pg_div_##name(struct __pg_ctx *c, type a, type b)                                                     \
  {                                                                                                                    \
    unsigned_type quotient, rest;                                                                                      \
    __pg_divide_##name(c, a, b, &quotient, &rest);                                                                     \
    return (type)((is_signed) && (a < 0) != (b < 0) ? 0u - quotient : quotient);                                       \
  }                                                                                                                    \
  __PG_FN type __pg_rem_##name(struct __pg_ctx *c, type a, type b)                                                     \
  {                                                                                                                    \
    unsigned_type quotient, rest;                                                                                      \
    __pg_divide_##name(c, a, b, &quotient, &rest);                                                                     \
    return (type)((is_signed) && a < 0 ? 0u - rest : rest);                                                            \
  }
#else
#define __PG_DEFINE_DIVISION(name, type, unsigned_type, is_signed, is_bad)                                             \
  __PG_FN type __pg_div_##name(struct __pg_ctx *c, type a, type b)                                                     \
  {                                                                                                                    \
    if (is_bad) {                                                                                                      \
      c->fail |= PG_FAIL_ARITHMETIC;                                                                                   \
      return 0;                                                                                                        \
    }                                                                                                                  \
    return a / b;                                                                                                      \
  }                                                                                                                    \
  __PG_FN type __pg_rem_##name(struct __pg_ctx *c, type a, type b)                                                     \
  {                                                                                                                    \
    if (is_bad) {                                                                                                      \
      c->fail |= PG_FAIL_ARITHMETIC;                                                                                   \
      return 0;                                                                                                        \
    }                                                                                                                  \
    return a % b;                                                                                                      \
  }
#endif
__PG_DEFINE_DIVISION(i32, int, __pg_u32, 1, b == 0 || (b == -1 && a == -2147483647 - 1))
__PG_DEFINE_DIVISION(u32, unsigned int, __pg_u32, 0, b == 0)
__PG_DEFINE_DIVISION(i64, __pg_i64, __pg_u64, 1, b == 0 || (b == -1 && (__pg_u64)a == (__pg_u64)1 << 63))
__PG_DEFINE_DIVISION(u64, __pg_u64, __pg_u64, 0, b == 0)

/* Conversions from floating to integer types whose result is out of range (or of a NaN) differ between devices. The
 * limits are exact in double; a float is converted to double first, which loses nothing. */
#define __PG_DEFINE_CONVERSION(name, type, low, high)                                                                  \
  __PG_FN type __pg_f2##name(struct __pg_ctx *c, double x)                                                             \
  {                                                                                                                    \
    if (!(x > (low) && x < (high))) {                                                                                  \
      c->fail |= PG_FAIL_ARITHMETIC;                                                                                   \
      return 0;                                                                                                        \
    }                                                                                                                  \
    return (type)x;                                                                                                    \
  }
__PG_DEFINE_CONVERSION(i32, int, -2147483649.0, 2147483648.0)
__PG_DEFINE_CONVERSION(u32, unsigned int, -1.0, 4294967296.0)
__PG_DEFINE_CONVERSION(i64, __pg_i64, -9223372036854777856.0, 9223372036854775808.0)
__PG_DEFINE_CONVERSION(u64, __pg_u64, -1.0, 18446744073709551616.0)

/* sqrt of a negative number sets errno on the host. */
__PG_FN double __pg_sqrt_f64(struct __pg_ctx *c, double x)
{
  if (x < 0)
    c->fail |= PG_FAIL_ARITHMETIC;
#ifdef __CUDACC_RTC__
  return sqrt(x);
#else
  return __builtin_sqrt(x);
#endif
}
__PG_FN float __pg_sqrt_f32(struct __pg_ctx *c, float x)
{
  if (x < 0)
    c->fail |= PG_FAIL_ARITHMETIC;
#ifdef __CUDACC_RTC__
  return sqrtf(x);
#else
  return __builtin_sqrtf(x);
#endif
}

#endif /* __PG_DIRECT_ONLY */
#endif
