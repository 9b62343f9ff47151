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
 * In the end the check stores what entries hold (device/cuda/buffered.rs), unless something has failed. */
#ifdef __PG_BUFFERED
/* Pairs of an entry. */
#define __PG_PAIRS (__PG_LOG_SHIFT < 3 ? 1 : 2)
#define __PG_NOTES_BUFFERED (__PG_BUFFERED > 2 * __PG_PAIRS)
/* Cells that have their first writer and their last reader in common, and what counts as near elsewhere: a power of two. */
#ifdef __PG_BUFFERED_GROUPED
#define __PG_CELLS_OF_GROUP __PG_BUFFERED_GROUPED
#else
#define __PG_CELLS_OF_GROUP 8
#endif
/* The bits of so many bytes. */
#define __PG_BITS_OF(bytes) (~(__pg_u64)0 >> (64 - 8 * (bytes)))

__PG_FN __pg_u32 *__pg_pair_of(const struct __pg_ctx *c, __pg_u64 cell, int pair)
{
#ifdef __PG_BUFFERED_GROUPED
  if (pair == __PG_PAIRS)
    return &c->launch->wr[__PG_PAIRS * (c->launch->rd - c->launch->wr) + 2 * (cell / __PG_CELLS_OF_GROUP)];
#endif
#ifdef __PG_BUFFERED_APART
  return &c->launch->wr[pair * (c->launch->rd - c->launch->wr) + 2 * cell];
#else
  return &c->launch->wr[__PG_BUFFERED * cell + 2 * pair];
#endif
}
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

/* The number of this iteration as one that stores to a cell, or loads from it: 1 at least. */
__PG_FN __pg_u32 __pg_number_in(const struct __pg_ctx *c, __pg_u64 cell)
{
#ifdef __PG_BUFFERED_GROUPED
  return c->iteration + (__PG_CELLS_OF_GROUP - 1 - (__pg_u32)(cell % __PG_CELLS_OF_GROUP));
#else
  (void)cell;
  return c->iteration;
#endif
}

#if __CUDA_ARCH__ >= 800 && !defined(__PG_BUFFERED_GROUPED)
/* Whether the lane before has nothing near at the same time: then the order of iterations isn't that of places. Only the next log's form depends on it. */
__PG_FN int __pg_is_far(__pg_u64 cell)
{
  const __pg_u32 lanes = __activemask(), lane = threadIdx.x & 31, other = lane - 1;
  /* Who has no such neighbour asks itself. */
  const __pg_u32 its = __shfl_sync(lanes, (__pg_u32)cell, (int)(other < 32 && (lanes >> other & 1) ? other : lane));
  return (__pg_u32)cell - its + __PG_CELLS_OF_GROUP > 2 * __PG_CELLS_OF_GROUP;
}
#elif defined(__PG_BUFFERED_GROUPED)
#define __pg_is_far(cell) 0
#else
/* Nobody knows. */
#define __pg_is_far(cell) 1
#endif

#if defined(__PG_BUFFERED_GROUPED) && __CUDA_ARCH__ >= 800
/* Whether a neighbour raises the group's word at the same time to at least as much: the last one of a row of such lanes does it for all. Which of
 * the two words it is goes with the group's number: a compiler may let lanes come here together that load and that store. Counts whose neighbour
 * is farther away than in the next group: once the order of places isn't that of iterations any more, the next log is one by cells again. */
__PG_FN int __pg_is_raised_by(struct __pg_ctx *c, int apart, __pg_u64 cell, __pg_u32 number)
{
  /* There are fewer than 2^28 cells. */
  const __pg_u32 group = (__pg_u32)cell / __PG_CELLS_OF_GROUP << 1 | (apart > 0);
  const __pg_u32 lanes = __activemask(), lane = threadIdx.x & 31, other = lane + apart;
  const int has_other = other < 32 && (lanes >> other & 1);
  const int from = (int)(has_other ? other : lane);
  const __pg_u32 its_group = __shfl_sync(lanes, group, from), its_number = __shfl_sync(lanes, number, from);
  c->writes += its_group - group + 2 > 4;
  return has_other && its_group == group && its_number >= number;
}
/* Whether other lanes are here, too. */
__PG_FN int __pg_are_several(void)
{
  const __pg_u32 lanes = __activemask();
  return (lanes & (lanes - 1)) != 0;
}
#else
#define __pg_is_raised_by(c, apart, cell, number) 0
#define __pg_are_several() 0
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
    /* What many iterations load each would fight for. What is there may come from a cache that is behind: then it is raised in vain. Lanes that
     * raise words of several groups don't wait for what is there. */
    __pg_u32 *last_reader = __pg_last_reader_of(c, cell);
    const __pg_u32 number = __pg_number_in(c, cell);
    c->writes += __pg_is_far(cell);
    if (!__pg_is_raised_by(c, 1, cell, number) && (__pg_are_several() || *last_reader < number))
      __pg_raise(last_reader, number);
  }
}

#if __CUDA_ARCH__ >= 800
/* Whether a neighbour stores to the same place at the same time, too: the next one something later, the one before something earlier. Then that
 * one's value stands, or that one's number: so lanes don't fight for places that several of them store to. */
#if defined(__PG_BUFFERED_GROUPED)
#define __pg_place __pg_u32
#else
#define __pg_place __pg_u64
#endif
__PG_FN int __pg_is_joined(__pg_place place, __pg_u32 stamp, int apart)
{
  const __pg_u32 lanes = __activemask(), lane = threadIdx.x & 31, other = lane + apart;
  /* Who has no such neighbour asks itself. */
  const int from = (int)(other < 32 && (lanes >> other & 1) ? other : lane);
  const __pg_place its_place = __shfl_sync(lanes, place, from);
  const __pg_u32 its_stamp = __shfl_sync(lanes, stamp, from);
  return its_place == place && (apart > 0 ? its_stamp > stamp : its_stamp < stamp);
}
#else
#define __pg_is_joined(place, stamp, apart) 0
#endif

__PG_FN void __pg_hold_back(struct __pg_ctx *c, const struct __pg_view *v, __pg_u64 address, __pg_u32 width, __pg_u64 bits)
{
  const __pg_u32 stamp = c->iteration << c->launch->store_bits | c->stored, size = 1u << __PG_LOG_SHIFT;
  __pg_u64 cell = __pg_cell_of(c->launch, v, address);
#if defined(__PG_BUFFERED_GROUPED)
  /* There are fewer than 2^28 cells. */
  const __pg_u32 place = (__pg_u32)cell << 4 | (width & 15);
#else
  const __pg_u64 place = address << 4 | width;
#endif
  __pg_u32 at;
  int is_last, is_first;
  if (v->log == ~(__pg_u64)0) {
    c->fail |= PG_FAIL_NO_ARRAY;
    return;
  }
  if (c->stored >> c->launch->store_bits != 0) {
    c->fail |= PG_FAIL_WAW;
    return;
  }
  c->stored++;
  is_last = !__pg_is_joined(place, stamp, 1);
#ifdef __PG_BUFFERED_GROUPED
  is_first = 1;
#else
  is_first = __PG_NOTES_BUFFERED && !__pg_is_joined(place, stamp, -1);
#endif
  for (at = 0; at < width; at += size, cell++) {
    int pair;
    for (pair = 0; is_last && pair < __PG_PAIRS; pair++)
      (void)atomicMax((__pg_u64 *)__pg_pair_of(c, cell, pair), (__pg_u64)stamp << 32 | (bits >> 8 * at >> 32 * pair & 0xffffffffu));
    if (is_first) {
      const __pg_u32 number = ~__pg_number_in(c, cell);
      if (!__pg_is_raised_by(c, -1, cell, number))
        __pg_raise(__pg_first_writer_of(c, cell), number);
    }
    c->writes += __PG_NOTES_BUFFERED ? __pg_is_far(cell) : 1;
  }
}

/* A value as its bits. */
#define __PG_AS_BITS(type)                                                                                             \
  union {                                                                                                              \
    __pg_u64 bits;                                                                                                     \
    type value;                                                                                                        \
  }
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
#define __PG_STORE_BUFFERED(type, c, v, address, value_)                                                               \
  {                                                                                                                    \
    __PG_AS_BITS(type) stored;                                                                                         \
    stored.bits = 0;                                                                                                   \
    stored.value = value_;                                                                                             \
    __pg_hold_back(c, v, address, (__pg_u32)sizeof(type), stored.bits);                                                \
    return;                                                                                                            \
  }
#else
#define __PG_LOAD_BUFFERED(type, c, v, logged, how, address)
#define __PG_STORE_BUFFERED(type, c, v, address, value_)
#endif
