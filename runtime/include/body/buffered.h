/* Stamps whose values stand beside them: stores are held back in the log until the loop is over, and the array stays what it was before.
 * Kernels only, compiled with __PG_BUFFERED, the words of a cell's entry; logs.h has the other stamps, and says what a conflict is.
 *
 * An entry has one or two pairs of words, one for each four bytes of the cell: the value, and above it, as one number of 64 bits with it, the
 * stamp of the store. Where loads are noted the complement of the first writer's number and the last reader's number come behind them, as one
 * more pair. An entry's pairs lie together, in one sector of memory, or, with __PG_BUFFERED_APART, for all cells the first ones, then the
 * second ones from rd on, where neighbours access neighbours: then fewer sectors have to do with an operation of a warp.
 *
 * With __PG_BUFFERED_GROUPED neighbouring cells have one first writer and one last reader in common, behind all pairs. Each cell's number of an
 * iteration is greater there by as much as the cell lies in front of the group's last one, so that iterations that go along with cells have the same
 * number in all of them. What is greater by the same for a cell's writers and its readers compares as before; the common first writer is the
 * cell's one or comes before it, the common last reader is the cell's one or comes behind it: so whatever conflict a cell's own
 * numbers show, these show, too. What they show besides is none: then all is run once more, with numbers for each cell.
 *
 * A stamp is the iteration's number and, below it in `store_bits` bits, which of the iteration's stores it is. So no two stores have the
 * same one, a greater one comes later in the source order, and who raises the pair in one operation has stored, unless what comes later
 * has: nobody waits for that operation. An iteration with more stores than have numbers fails as one that refutes a guess does, and all is
 * run once more, with stamps that are settled by another run.
 * A load finds what its own iteration has stored, which shows in the stamp, byte by byte, and otherwise what is in the array; then it is noted,
 * if it has to be. As long as its iteration has stored nothing, it needn't look. What another iteration has put in the place of what its own
 * has stored it misses; then that one is a second writer, and it is the cell's first one or behind it: a conflict, as the check finds it,
 * if the load is noted. One that isn't noted meets no other iteration's store.
 *
 * With __PG_BACKWARDS cells have many writers as a rule, and nobody notes loads. The last iterations of a launch come first, and who stores looks first at the stamp of the cell's first pair: if that is
 * greater than its own, it does nothing. Nothing is missed: stamps only grow while the loop runs, so what is seen, however old, is what stands there or less, and a greater one stands there in the end,
 * too. Whoever has raised the first pair raises the second one with the same stamp and marks the chunk, before the kernel ends, because each store takes whole cells. So raising either would change
 * nothing; and what an iteration finds of its own is what it would find if it had raised in vain. Stores are counted whether they are made or not. Nobody relies on the order in which iterations come: where it
 * is another one, more stores are made.
 *
 * In the end the check stores what entries hold (device/cuda/buffered.rs), unless something has failed. */
#ifdef __PG_BUFFERED
/* Pairs of an entry. */
#define __PG_PAIRS (__PG_LOG_SHIFT < 3 ? 1 : 2)
#define __PG_NOTES_BUFFERED (__PG_BUFFERED > 2 * __PG_PAIRS)
/* Cells that have their first writer and their last reader in common, and what counts as near elsewhere: a power of two. */
#ifdef __PG_BUFFERED_GROUPED
#define __PG_CELLS_OF_GROUP __PG_BUFFERED_GROUPED
#define __PG_LOG2_OF_GROUP (__PG_CELLS_OF_GROUP == 8 ? 3 : __PG_CELLS_OF_GROUP == 16 ? 4 : 5)
#else
#define __PG_CELLS_OF_GROUP 8
#endif
/* The bits of so many bytes. */
#define __PG_BITS_OF(bytes) (~(__pg_u64)0 >> (64 - 8 * (bytes)))

__PG_FN __pg_u32 *__pg_pair_of(const struct __pg_ctx *c, __pg_u64 cell, int pair)
{
#ifdef __PG_BUFFERED_GROUPED
  if (pair == __PG_PAIRS)
    return &c->launch->rd[(__PG_PAIRS - 1) * (c->launch->rd - c->launch->wr) + 2 * (cell / __PG_CELLS_OF_GROUP)];
#endif
#ifdef __PG_BUFFERED_APART
  return &c->launch->wr[pair * (c->launch->rd - c->launch->wr) + 2 * cell];
#else
  return &c->launch->wr[__PG_BUFFERED * cell + 2 * pair];
#endif
}
#ifndef __PG_BUFFERED_GROUPED
/* Says that somebody stores to a cell, in a byte for 2^__PG_LOG2_OF_CHUNK of them: so whoever looks at the log passes over the others. They lie behind all
 * entries. Most find it said, though maybe not at once: then it is said again. Who says it without looking has all others wait for that byte. */
__PG_FN void __pg_mark_chunk(const struct __pg_ctx *c, __pg_u64 cell)
{
#ifdef __PG_BUFFERED_APART
  unsigned char *mark = (unsigned char *)&c->launch->wr[__PG_BUFFERED / 2 * (c->launch->rd - c->launch->wr)];
#else
  unsigned char *mark = (unsigned char *)c->launch->rd;
#endif
  mark += cell >> __PG_LOG2_OF_CHUNK;
  if (*mark == 0)
    *mark = 1;
}
#endif
__PG_FN __pg_u32 *__pg_first_writer_of(const struct __pg_ctx *c, __pg_u64 cell) { return __pg_pair_of(c, cell, __PG_PAIRS); }
__PG_FN __pg_u32 *__pg_last_reader_of(const struct __pg_ctx *c, __pg_u64 cell) { return __pg_pair_of(c, cell, __PG_PAIRS) + 1; }

/* Of what lies at an address: bits that the iteration itself has stored there; `which` says which of them those are. */
__PG_FN __pg_u64 __pg_own_bits(struct __pg_ctx *c, const struct __pg_view *v, __pg_u64 address, __pg_u32 width, __pg_u64 *which)
{
  const __pg_u32 size = 1u << __PG_LOG_SHIFT;
  /* Loads that nobody notes may be narrower than a cell. */
  const __pg_u32 skipped = width < size ? 8 * (__pg_u32)(address & (size - 1)) : 0;
  __pg_u64 cell = __pg_cell_of(c->launch, v, address), bits = 0;
  __pg_u32 at;
  *which = 0;
  for (at = 0; at < width; at += size, cell++) {
    __pg_u64 value = 0, own = 0;
    int pair;
    for (pair = 0; pair < __PG_PAIRS; pair++) {
      const __pg_u64 both = __pg_peek_both(__pg_pair_of(c, cell, pair));
      if ((__pg_u32)(both >> 32) >> c->launch->store_bits == c->iteration) {
        value |= (both & 0xffffffffu) << 32 * pair;
        own |= (__pg_u64)0xffffffffu << 32 * pair;
      }
    }
    own = (own & __PG_BITS_OF(size)) >> skipped;
    bits |= (value >> skipped & own) << 8 * at;
    *which |= own << 8 * at;
  }
  *which &= __PG_BITS_OF(width);
  return bits & *which;
}

/* Whether a store can be held back: its array has cells, and the iteration a number for it, of which it has one less then. */
__PG_FN int __pg_takes_number(struct __pg_ctx *c, int has_cells)
{
  if (!has_cells) {
    c->fail |= PG_FAIL_NO_ARRAY;
    return 0;
  }
  if (c->stored >> c->launch->store_bits != 0) {
    c->fail |= PG_FAIL_WAW;
    return 0;
  }
  c->stored++;
  return 1;
}

#ifdef __PG_BUFFERED_GROUPED
/* The number of this iteration as one that stores to a cell, or loads from it: 1 at least. */
__PG_FN __pg_u32 __pg_number_in(const struct __pg_ctx *c, __pg_u32 cell)
{
  return c->iteration + (__PG_CELLS_OF_GROUP - 1 - cell % __PG_CELLS_OF_GROUP);
}
/* There are fewer than 2^32 bytes, too, and no number of a cell is that one. */
#define __PG_HAS_CELLS(v) ((__pg_u32)(v)->log != ~0u)
/* Cells of all arrays together are so few that 32 bits count an array's bytes. */
__PG_FN __pg_u32 __pg_cell_in(const struct __pg_ctx *c, const struct __pg_view *v, __pg_u64 address)
{
  (void)c;
  return (__pg_u32)v->log + ((__pg_u32)(address - (v->lo & ~(__pg_u64)63)) >> __PG_LOG_SHIFT);
}

/* With __PG_BUFFERED_ALONE it is guessed that no two lanes store to one cell, but for neighbours of which one stands for the other: then a store is enough,
 * for which nothing is loaded. Stores are counted. If there are as many as cells that have been stored to, each of these has been stored to by one lane, once; otherwise
 * all is run once more, with operations in one piece. */
#ifdef __PG_BUFFERED_ALONE
#define __pg_raise_pair(pair, number) (*(pair) = (number))
#else
#define __pg_raise_pair(pair, number) (void)atomicMax(pair, number)
#endif

/* What lanes tell each other of a cell that they access: below the cell the width of what stores there, or 0, who loads: a compiler may let lanes
 * come here together that load and that store. There are fewer than 2^28 cells. */
#define __PG_KEY(cell, width) ((__pg_u32)(cell) << 4 | (width))
#define __PG_CELL_OF_KEY(key) ((key) >> 4)
#define __PG_NO_KEY (~0u)

/* What a lane knows of the others that are here, and of the next one, which may run a later iteration. */
struct __pg_neighbour {
  __pg_u32 lanes;  /* all that are here; none where nobody asks, as on old GPUs */
  __pg_u32 own;    /* the lane's bit, ... */
  __pg_u32 is_next; /* ... not 0 if the next one is here */
  int behind;       /* by how many iterations that one comes behind this one; less than 0 where it comes before */
};
#if __CUDA_ARCH__ >= 800
#define __pg_lanes_here() __activemask()
#else
#define __pg_lanes_here() 1
#endif
/* `lanes`: that are here, and ask each other the same questions from now on: whoever has a loop around them asks anew which ones those are in each of its turns,
 * because a compiler may let lanes come here together from places of which one has more to ask. */
__PG_FN struct __pg_neighbour __pg_next_lane(const struct __pg_ctx *c, __pg_u32 lanes)
{
  struct __pg_neighbour next = {lanes, 1, 0, 0};
#if __CUDA_ARCH__ >= 800
  next.own = 1u << (threadIdx.x & 31);
  next.is_next = lanes >> 1 & next.own;
  /* There are fewer than 2^28 iterations. */
  next.behind = (int)(__shfl_down_sync(lanes, c->iteration, 1) - c->iteration);
#else
  (void)c;
#endif
  return next;
}
/* By how much its key is greater than this lane's. Counts what is farther away than that: once the order of places isn't that of iterations any
 * more, the next log is one by cells again. `along`: lanes whose next one does the same in the same group, and its number there is theirs or greater,
 * because its iteration comes by as much behind theirs as its cell does, at least. Then the greater of both numbers is that one's, the smaller one theirs. */
__PG_FN __pg_u32 __pg_to_next(struct __pg_ctx *c, const struct __pg_neighbour *next, __pg_u32 key, __pg_u32 *along)
{
#if __CUDA_ARCH__ >= 800
  const __pg_u32 its = __shfl_down_sync(next->lanes, key, 1), apart = its - key;
  const int is_near = ((its ^ key) & ~__PG_KEY(__PG_CELLS_OF_GROUP - 1, 0)) == 0;
  *along = __ballot_sync(next->lanes, is_near && (int)apart >> 4 <= next->behind) & next->lanes >> 1;
  if (next->is_next != 0 && apart + __PG_KEY(2 * __PG_CELLS_OF_GROUP, 0) > __PG_KEY(4 * __PG_CELLS_OF_GROUP, 0))
    c->far++;
  return apart;
#else
  (void)c, (void)next, (void)key;
  *along = 0;
  return 0;
#endif
}

/* Enters who loads, by its key, if it has one: of lanes that go along with each other the last one. Nobody looks at what is there before, unless
 * all lanes together have one group, which may be one that all iterations load from. What is there may come from a cache that is behind: then it is raised in vain. */
__PG_FN void __pg_enter_reader(struct __pg_ctx *c, const struct __pg_neighbour *next, __pg_u32 key)
{
  __pg_u32 along, raising;
  (void)__pg_to_next(c, next, key, &along);
  raising = next->lanes & ~along;
  if (key != __PG_NO_KEY && (raising & next->own) != 0) {
    const __pg_u32 cell = __PG_CELL_OF_KEY(key), number = __pg_number_in(c, cell);
    __pg_u32 *last_reader = __pg_last_reader_of(c, cell);
    if ((raising & (raising - 1)) != 0 || *last_reader < number)
      __pg_raise(last_reader, number);
  }
}
/* A load is noted together with what comes behind it: so that loads between aren't made later, behind branches. Until then its iteration goes on. */
__PG_FN void __pg_note_due(struct __pg_ctx *c)
{
  if (c->due != __PG_NO_KEY) {
    const struct __pg_neighbour next = __pg_next_lane(c, __pg_lanes_here());
    __pg_enter_reader(c, &next, c->due);
    c->due = __PG_NO_KEY;
  }
}
/* Notes a load of an array that has a log. */
__PG_FN void __pg_note_grouped(struct __pg_ctx *c, const struct __pg_view *v, __pg_u64 address, __pg_u32 width, int is_due)
{
  const __pg_u32 cell = __pg_cell_in(c, v, address), count = __PG_CELLS(c->launch, width);
  __pg_u32 at;
  __pg_note_due(c);
  for (at = 0; at + 1 < count; at++) {
    c->due = is_due ? __PG_KEY(cell + at, 0) : __PG_NO_KEY;
    __pg_note_due(c);
  }
  c->due = is_due ? __PG_KEY(cell + at, 0) : __PG_NO_KEY;
}

__PG_FN void __pg_hold_back(struct __pg_ctx *c, const struct __pg_view *v, __pg_u64 address, __pg_u32 width, __pg_u64 bits)
{
  const __pg_u32 stamp = c->iteration << c->launch->store_bits | c->stored, size = 1u << __PG_LOG_SHIFT;
  const __pg_u32 due = c->due;
  struct __pg_neighbour next;
  __pg_u32 cell = __pg_cell_in(c, v, address), at, apart, along;
  int is_last, pair;
  c->due = __PG_NO_KEY;
  if (!__pg_takes_number(c, __PG_HAS_CELLS(v)))
    return;
  next = __pg_next_lane(c, __pg_lanes_here());
  __pg_enter_reader(c, &next, due);
  for (at = 0; at < width; at += size, cell++) {
    if (at != 0)
      next = __pg_next_lane(c, __pg_lanes_here());
    apart = __pg_to_next(c, &next, __PG_KEY(cell, width), &along);
    /* What a later iteration stores at the same place stands. */
    is_last = next.is_next == 0 || apart != 0 || next.behind <= 0;
    if (is_last) {
      for (pair = 0; pair < __PG_PAIRS; pair++)
        __pg_raise_pair((__pg_u64 *)__pg_pair_of(c, cell, pair), (__pg_u64)stamp << 32 | (bits >> 8 * at >> 32 * pair & 0xffffffffu));
      c->writes++;
    }
    /* The first writer is entered by the first of lanes that go along with each other. */
    if ((along << 1 & next.own) == 0)
      __pg_raise(__pg_first_writer_of(c, cell), ~__pg_number_in(c, cell));
  }
}
#else
#if __CUDA_ARCH__ >= 800
/* Whether the lane before has nothing near at the same time: then the order of iterations isn't that of places. Only the next log's form depends on it. */
__PG_FN int __pg_is_far(__pg_u64 cell)
{
  const __pg_u32 lanes = __activemask(), lane = threadIdx.x & 31, other = lane - 1;
  /* Who has no such neighbour asks itself. */
  const __pg_u32 its = __shfl_sync(lanes, (__pg_u32)cell, (int)(other < 32 && (lanes >> other & 1) ? other : lane));
  return (__pg_u32)cell - its + __PG_CELLS_OF_GROUP > 2 * __PG_CELLS_OF_GROUP;
}
#else
/* Nobody knows. */
#define __pg_is_far(cell) 1
#endif

__PG_FN void __pg_note_buffered(struct __pg_ctx *c, const struct __pg_view *v, __pg_u64 address, __pg_u32 width)
{
  __pg_u64 cell = __pg_cell_of(c->launch, v, address), end = cell + __PG_CELLS(c->launch, width);
  /* Nobody said that this loop's loads are noted. */
  if (!__PG_NOTES_BUFFERED) {
    c->fail |= PG_FAIL_RAW;
    return;
  }
  for (; cell != end; cell++) {
    /* What many iterations load each would fight for. What is there may come from a cache that is behind: then it is raised in vain. */
    __pg_u32 *last_reader = __pg_last_reader_of(c, cell);
    c->writes += __pg_is_far(cell);
    if (*last_reader < c->iteration)
      __pg_raise(last_reader, c->iteration);
  }
}

#if __CUDA_ARCH__ >= 800
/* Whether a neighbour stores to the same place at the same time, too: the next one something later, the one before something earlier. Then that
 * one's value stands, or that one's number: so lanes don't fight for places that several of them store to. */
__PG_FN int __pg_is_joined(__pg_u64 place, __pg_u32 stamp, int apart)
{
  const __pg_u32 lanes = __activemask(), lane = threadIdx.x & 31, other = lane + apart;
  /* Who has no such neighbour asks itself. */
  const int from = (int)(other < 32 && (lanes >> other & 1) ? other : lane);
  const __pg_u64 its_place = __shfl_sync(lanes, place, from);
  const __pg_u32 its_stamp = __shfl_sync(lanes, stamp, from);
  return its_place == place && (apart > 0 ? its_stamp > stamp : its_stamp < stamp);
}
#else
#define __pg_is_joined(place, stamp, apart) 0
#endif

#ifdef __PG_BACKWARDS
/* Whether what comes later has stored to a cell, by its first pair, of which a cache may have an older state. */
#define __pg_is_stored_later(pair, stamp) ((pair)[1] > (stamp))
#else
#define __pg_is_stored_later(pair, stamp) 0
#endif
__PG_FN void __pg_hold_back(struct __pg_ctx *c, const struct __pg_view *v, __pg_u64 address, __pg_u32 width, __pg_u64 bits)
{
  const __pg_u32 stamp = c->iteration << c->launch->store_bits | c->stored, size = 1u << __PG_LOG_SHIFT;
  __pg_u64 cell = __pg_cell_of(c->launch, v, address);
  const __pg_u64 place = address << 4 | width;
  __pg_u32 at;
  int is_last, is_first;
  if (!__pg_takes_number(c, v->log != ~(__pg_u64)0))
    return;
  is_last = !__pg_is_joined(place, stamp, 1);
  is_first = __PG_NOTES_BUFFERED && !__pg_is_joined(place, stamp, -1);
  for (at = 0; at < width; at += size, cell++) {
    int pair;
    if (is_last && !__pg_is_stored_later(__pg_pair_of(c, cell, 0), stamp)) {
      for (pair = 0; pair < __PG_PAIRS; pair++)
        (void)atomicMax((__pg_u64 *)__pg_pair_of(c, cell, pair), (__pg_u64)stamp << 32 | (bits >> 8 * at >> 32 * pair & 0xffffffffu));
      __pg_mark_chunk(c, cell);
    }
    if (is_first)
      __pg_raise(__pg_first_writer_of(c, cell), ~c->iteration);
    /* What is left to a neighbour isn't counted: only writers that aren't neighbours are worth a look at the cell. */
    c->writes += __PG_NOTES_BUFFERED ? __pg_is_far(cell) : is_last;
  }
}
#endif

/* A load where stores are held back: of an array that the loop stores to, unless nobody asks for it and its iteration has stored nothing so far. */
#define __PG_LOAD_BUFFERED(type, c, v, logged, how, address)                                                           \
  if (!((how) & (__PG_IS_CONSTANT | __PG_HAS_NO_STORES)) && ((logged) || (c)->stored != 0)) {                          \
    __PG_AS_BITS(type) loaded;                                                                                         \
    __pg_u64 own = 0, which = 0;                                                                                       \
    if (!__pg_may_access(c, v, how, address, (__pg_u32)sizeof(type)))                                                  \
      return (type)0;                                                                                                  \
    loaded.bits = 0;                                                                                                   \
    loaded.value = *(const type *)__PG_TRANSLATED_FOR(v, how, address);                                                \
    if ((v)->log == ~(__pg_u64)0)                                                                                      \
      return loaded.value;                                                                                             \
    if ((c)->stored != 0)                                                                                              \
      own = __pg_own_bits(c, v, address, (__pg_u32)sizeof(type), &which);                                              \
    if ((logged) && which != __PG_BITS_OF(sizeof(type)))                                                               \
      __pg_note_buffered(c, v, address, (__pg_u32)sizeof(type));                                                       \
    loaded.bits = (loaded.bits & ~which) | own;                                                                        \
    return loaded.value;                                                                                               \
  }
#ifdef __PG_BUFFERED_GROUPED
#undef __PG_LOAD_BUFFERED
/* The same without a branch, where it needn't find its array first. */
#define __PG_LOAD_BUFFERED(type, c, v, logged, how, address)                                                           \
  if (!((how) & (__PG_IS_CONSTANT | __PG_HAS_NO_STORES)) && ((logged) || (c)->stored != 0)) {                          \
    __PG_AS_BITS(type) loaded;                                                                                         \
    __pg_u64 own = 0, which = 0;                                                                                       \
    int has_log;                                                                                                       \
    loaded.bits = 0;                                                                                                   \
    if ((how) & __PG_IS_DYNAMIC) {                                                                                     \
      if (!__pg_may_access(c, v, how, address, (__pg_u32)sizeof(type)))                                                \
        return (type)0;                                                                                                \
      loaded.value = *(const type *)__PG_TRANSLATED_FOR(v, how, address);                                              \
      has_log = __PG_HAS_CELLS(v);                                                                                       \
    } else {                                                                                                           \
      loaded.value = *(const type *)__pg_place_of(c, v, (v)->dev, how, address, (__pg_u32)sizeof(type));               \
      has_log = __PG_HAS_CELLS(v) && __pg_is_there(c, v, how, address, (__pg_u32)sizeof(type));                        \
    }                                                                                                                  \
    if ((c)->stored != 0 && has_log)                                                                                   \
      own = __pg_own_bits(c, v, address, (__pg_u32)sizeof(type), &which);                                              \
    if (logged)                                                                                                        \
      __pg_note_grouped(c, v, address, (__pg_u32)sizeof(type), has_log && which != __PG_BITS_OF(sizeof(type)));        \
    loaded.bits = (loaded.bits & ~which) | own;                                                                        \
    return loaded.value;                                                                                               \
  }
#endif
#define __PG_STORE_BUFFERED(type, c, v, address, value_)                                                               \
  {                                                                                                                    \
    __PG_AS_BITS(type) stored;                                                                                         \
    stored.bits = 0;                                                                                                   \
    stored.value = value_;                                                                                             \
    __pg_hold_back(c, v, address, (__pg_u32)sizeof(type), stored.bits);                                                \
    return;                                                                                                            \
  }
#ifdef __PG_BUFFERED_GROUPED
/* Nothing of a run that has failed is kept, nor what it has noted. Which of the reasons it is isn't worth a register. */
#define __PG_CHECK_STORE(c, v, how, address, width)                                                                    \
  if (!((how) & __PG_IS_DYNAMIC) && !__pg_is_there(c, v, how, address, width)) {                                       \
    c->fail |= (how) & __PG_IS_INSIDE ? 0 : PG_FAIL_RANGE;                                                             \
    c->due = __PG_NO_KEY;                                                                                              \
    return;                                                                                                            \
  }
#endif
#else
#define __PG_LOAD_BUFFERED(type, c, v, logged, how, address)
#define __PG_STORE_BUFFERED(type, c, v, address, value_)
#endif
#ifndef __PG_CHECK_STORE
#define __PG_CHECK_STORE(c, v, how, address, width)
#endif
