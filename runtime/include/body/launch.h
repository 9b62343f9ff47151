/* What a body knows of the launch that it is run in: how that logs, where arrays lie, and what a thread keeps while it runs iterations.
 * What a kernel is compiled for, and the C text asks the launch, is told apart here, so that the parts behind need not. What logs do
 * with an access is in logs.h. */

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

/* How much of its launch and of what it has at hand (struct __pg_tables of its text) a kernel is given: parameters are time before it begins. */
#define PG_GIVEN_MOVES 1     /* how far arrays have moved, values, and the head of the launch: rows whose lanes lend, one by one along one dimension; nothing is logged
                                or checked, and there is no result */
#define PG_GIVEN_LOCATIONS 2 /* where arrays lie, and the launch's space: other iterations along one dimension */
#define PG_GIVEN_DIVISORS 3  /* several dimensions */
#define PG_GIVEN_SIZES 4     /* something is checked */
#define PG_GIVEN_ALL 5
#ifndef __PG_GIVEN
#define __PG_GIVEN PG_GIVEN_ALL
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
#define __PG_MOVES_AT_ONCE
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

/* A view as kernels are given it: what every access needs, of all bases side by side, what checks need, what logs need, and the rest. A launch begins with
 * waiting for the parameters that it reads first, a few words of memory at a time. So how far an array is from where the program has it, which is all that accesses
 * without a check need where lanes run iterations together, stands beside the values by itself. */
struct __pg_location {
  __pg_u64 lo;
  __pg_memory dev;
};
#if __PG_GIVEN == PG_GIVEN_MOVES
/* Where nobody asks where an array lies, only how far accesses to it have moved, it lies anywhere that can be loaded from, so far from where the program has it. */
#define __PG_LOCATION_OF(base) ((__pg_u64)__pg_l->flags - __pg_t->moved[base])
#define __PG_PLACE_OF(base) ((__pg_memory)__pg_l->flags)
#else
#define __PG_LOCATION_OF(base) __pg_t->locations[base].lo
#define __PG_PLACE_OF(base) __pg_t->locations[base].dev
#endif
#ifdef __PG_MOVES_AT_ONCE
/* The compiler is to know that it is no thread's own memory, and to add up what leads there. */
#define __PG_MEMORY_OF(base) (char *)__cvta_global_to_generic(__PG_LOCATION_OF(base) + __pg_t->moved[base])
#else
#define __PG_MEMORY_OF(base) __PG_PLACE_OF(base)
#endif
struct __pg_copies {
  __pg_memory snapshot, before;
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
#if defined(__PG_BUFFERED) || defined(__PG_SEAMS)
  __pg_u32 stored;     /* how many stores its iteration has made that are held back, or that may be put away */
#endif
#ifdef __PG_BUFFERED_GROUPED
  __pg_u32 due;        /* a cell that its iteration has loaded from, which is still to be noted: see buffered.h */
  __pg_u32 far;        /* of this thread: cells that it has met away from its neighbour's */
#endif
#ifdef __CUDACC_RTC__
#ifdef __PG_RANGES
  /* The first cell that a noted load has taken, and the last; the first one is behind it where there was none: see the guess of bitmaps. */
  __pg_u32 least, most;
#elif __PG_SPREAD == 1
  /* Of loads that a bitmap notes, the last one's: bits, their word, and what was found there. */
  __pg_u32 noted, noted_word, found;
#endif
#endif
};

#ifdef __PG_GATHERS
#define __PG_GATHER_NOTHING(c) (c).gathered = (c).word = 0;
#else
#define __PG_GATHER_NOTHING(c)
#endif
#ifdef __PG_RANGES
#define __PG_NO_NOTES(c) (c).least = ~0u, (c).most = 0;
#elif defined(__CUDACC_RTC__) && __PG_SPREAD == 1
#define __PG_NO_NOTES(c) (c).noted = (c).noted_word = (c).found = 0;
#else
#define __PG_NO_NOTES(c)
#endif
#ifdef __PG_BUFFERED_GROUPED
#define __PG_NOTHING_IS_DUE(c) (c).due = ~0u, (c).far = 0;
#else
#define __PG_NOTHING_IS_DUE(c)
#endif
#define __PG_NOTE_NOTHING(c)                                                                                           \
  __PG_NOTHING_IS_DUE(c)                                                                                               \
  __PG_GATHER_NOTHING(c)                                                                                               \
  __PG_NO_NOTES(c)

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
 *   __PG_INSIDE     the same, of accesses that need not be affine: an inspection or an earlier run has seen where they lie
 *   __PG_CONSTANT   a bit for those of both to whose array nothing stores
 *   __PG_FILLED     a bit for each of the first 64 bases: a bitmap has the bits of all stores through it from the entry
 *   __PG_COVERED    the same: no bitmap notes loads through it, which find what their own iteration is to store
 *   __PG_UPDATED_ALONE  a bit for each base to whose array nothing but updates of one kind and width is made
 *   __PG_NAMELESS   logs hold nothing but marks of such updates: nobody asks for iterations
 *   __PG_ORDERED    the launch has an order of iterations
 *   __PG_BACKWARDS  the last iterations of a launch come first
 *   __PG_BUFFERED   stamps hold values back in the log: words of a cell's entry
 *   __PG_JOINED     lanes side by side that store to one place leave it to the last of them
 *   __PG_SEAMS      the last one puts its store away, as the next warp may store to the same place: for so many stores of an iteration
 *   __PG_TILE_X     each iteration has a thread: this dimension goes with x, __PG_TILE_Y with y, the others with blocks in z
 *   __PG_ACROSS     of these others, the one that the rows of a group go along
 *   __PG_FAR_TABLES the tables don't fit into the kernel's parameters
 *   __PG_GIVEN      how much of what it has at hand it is given (above)
 * A kernel has its values and its arrays at hand (struct __pg_tables of the text: how far arrays have moved, values, locations, divisors, sizes, logs, copies). */
#if defined(__CUDACC_RTC__) && !defined(__PG_UPDATED_ALONE)
#define __PG_UPDATED_ALONE 0ull
#endif
#ifdef __CUDACC_RTC__
#define __PG_TABLES , const struct __pg_tables *__pg_t
#define __PG_VALUES __pg_t->values
#if __PG_GIVEN > PG_GIVEN_SIZES
#define __PG_VIEW_OF_TABLES(base)                                                                                      \
  {__PG_LOCATION_OF(base),     __pg_t->sizes[base],            __PG_MEMORY_OF(base),                                   \
   __pg_t->logs[base],         __pg_t->copies[base].snapshot, __pg_t->copies[base].before}
#else
/* An array whose size nobody is given has none: whoever asked all the same would find every access outside. */
#define __PG_VIEW_OF_TABLES(base) {__PG_LOCATION_OF(base), __PG_SIZE_GIVEN(base), __PG_MEMORY_OF(base), ~(__pg_u64)0, 0, 0}
#endif
#if __PG_GIVEN > PG_GIVEN_DIVISORS
#define __PG_SIZE_GIVEN(base) __pg_t->sizes[base]
#else
#define __PG_SIZE_GIVEN(base) 0
#endif
#define __PG_VIEW(base) __PG_VIEW_OF_TABLES(base)
#define __PG_HOW(base)                                                                                                 \
  ((base) >= 64 ? 0                                                                                                    \
                : (int)(__PG_BOUNDED >> ((base) & 63) & 1) | (int)(__PG_CONSTANT >> ((base) & 63) & 1) << 1 |          \
                    (int)(__PG_INSIDE >> ((base) & 63) & 1) << 3 |                                                     \
                    (int)(__PG_KEPT >> ((base) & 63) & 1) << 4 | (int)(~__PG_KEPT >> ((base) & 63) & 1) << 5 |         \
                    (int)(__PG_FILLED >> ((base) & 63) & 1) << 6 | (int)(__PG_COVERED >> ((base) & 63) & 1) << 7 |     \
                    (int)(__PG_UPDATED_ALONE >> ((base) & 63) & 1) << 8)
/* The same where an access stands in a turn. */
#define __PG_HOW_NOW(base) (__PG_HOW(base) | (__pg_number == __pg_side_by_side_in_order ? __PG_COMES_FIRST : 0))
/* `others`: dimensions that are neither; blocks along z count their places, or, of one that a group's rows go along, groups. */
#define __PG_ROWS_ALONG(dim) ((dim) == __PG_ALONG_Y ? __PG_ROWS : 1)
#define __PG_TILE(dim, k, others)                                                                                      \
  if ((dim) == __PG_TILE_X)                                                                                            \
    k = blockIdx.x * ((__pg_count)blockDim.x * __PG_COLUMNS) + threadIdx.x;                                            \
  else if ((dim) == __PG_TILE_Y)                                                                                       \
    k = ((blockIdx.y + __pg_l->first_row) * (__pg_count)blockDim.y + threadIdx.y) * __PG_ROWS_ALONG(dim);          \
  else if ((others) == 1)                                                                                              \
    k = __pg_q * __PG_ROWS_ALONG(dim);                                                                                 \
  else {                                                                                                               \
    const __pg_count __pg_around = __PG_QUOTIENT(dim, __pg_q);                                                         \
    k = __pg_q - __pg_around * (__pg_count)__pg_l->trip[dim];                                                          \
    __pg_q = __pg_around;                                                                                              \
  }
#define __PG_LOAD(type, p, how)                                                                                        \
  (((how) & (__PG_IS_CONSTANT | __PG_HAS_NO_STORES)) && !((how) & __PG_COMES_FIRST) ? __ldg((const type *)(p)) : *(const type *)(p))
#ifdef __PG_ORDERED
#define __PG_ITERATION(j) ((__pg_count)__pg_l->order[j])
#elif defined(__PG_BACKWARDS)
#define __PG_ITERATION(j) __pg_backwards(j, (__pg_count)__pg_l->first, (__pg_count)__pg_l->end)
#else
#define __PG_ITERATION(j) (j)
#endif
#else
#define __PG_TABLES
#define __PG_VALUES __pg_l->values
#define __PG_VIEW(base) __pg_base_view(__pg_l, base)
#define __PG_HOW(base) 0
#define __PG_HOW_NOW(base) __PG_HOW(base)
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
/* Nothing but updates of one kind and width is made to its array, through any base. */
#define __PG_IS_UPDATED_ONLY 256
/* Where there is a log: its array, if it has one, is a part of that. */
#define __PG_HAS_LOG 32
/* A bitmap has the bits of all stores to it from the entry, and what they count. */
#define __PG_IS_FILLED 64
/* A load that no bitmap notes. */
#define __PG_IS_COVERED 128
/* A load that comes before the stores behind it, as ordinary ones do. From memory that nothing stores to the compiler loads later where that saves it
 * registers: of turns side by side, then, each one's value behind what the one before has come to. */
#define __PG_COMES_FIRST 512
/* Whether a log notes a load: 1 where it takes part in an unresolved pair, 2 where only stamps need to know it, unless they guess. */
#define __PG_ARE_STAMPS(l) (__PG_LOG_METHOD(l) == PG_LOG_STAMP && __PG_GUESS(l) == PG_GUESS_NONE)
#define __PG_IS_NOTED(c, v, logged, how)                                                                               \
  ((logged) && !((how) & (__PG_IS_CONSTANT | __PG_HAS_NO_STORES | __PG_IS_COVERED)) &&                                                   \
   (__PG_ARE_STAMPS((c)->launch) || (__PG_LOG_METHOD((c)->launch) >= PG_LOG_ATOMIC && (logged) == 1)))

#if defined(__CUDACC_RTC__) && defined(__PG_NARROW)
typedef __pg_u32 __pg_count, __pg_cell;
/* Division by a trip count, by multiplication: exact for what is below 2^31 (Granlund and Montgomery, 1994). */
#define __PG_QUOTIENT(dim, k) ((__umulhi((k), __pg_t->multiplier[dim]) + (k)) >> __pg_t->shift[dim])
#else
typedef __pg_u64 __pg_count, __pg_cell;
#define __PG_QUOTIENT(dim, k) ((k) / __pg_l->trip[dim])
#endif
#ifdef __PG_BACKWARDS
/* The last rows of a launch come first, each of so many iterations side by side as a warp has, in their order; what is no whole row comes where it would have. */
__PG_FN __pg_count __pg_backwards(__pg_count place, __pg_count first, __pg_count end)
{
  const __pg_count rows = (end - first) & ~(__pg_count)31, at = place - first;
  return at < rows ? first + (rows - 32 - (at & ~(__pg_count)31)) + (at & 31) : place;
}
#endif
