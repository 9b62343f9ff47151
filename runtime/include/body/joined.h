/* Neighbours that store to one cell, under bitmaps whose stores are joined: kernels only, compiled with __PG_JOINED. What bits mean is in logs.h.
 *
 * It is guessed that iterations which store to one cell are run by lanes side by side at the same time, and that nobody loads what another one has stored. Of lanes
 * that store to the same place all but the last one store nothing, set no bit and count nothing, because what the last one stores stands. If as many stores
 * have been counted as bits are set, each cell has one counted store. Whoever has left its store to a neighbour, who may have left its own to the next,
 * comes before that one in the source order; so what stands there is right. Otherwise the run is made once more, under stamps.
 *
 * A load is noted when its iteration ends, or loads again, and not at all where its iteration has stored to the same cell by then: if that is the cell's only counted
 * store, and no other one was left to it, nobody else stores there, and what has been loaded is what was there. So who passes over a note leaves its store to
 * nobody, nor does anybody leave his to it. Loads that the text says to be covered by a store (`logged` 2) nobody notes: loops that have any have no joined
 * stores (speculation/cmt/attempt.rs).
 *
 * With __PG_SEAMS a cell's writers may lie on both sides of a row's end, too; a row are 32 iterations from a multiple of 32 on, as a rule those that a warp runs side by
 * side. For each of an iteration's first __PG_SEAMS stores a row has a *seam*. Of the lanes that are here the last one sets its bits and counts, one more than otherwise,
 * but puts its store away in its row's seam: place, width and value; and there it says what the first one stores to. Behind all launches the check looks at
 * each seam that has a store (device/cuda/seams.rs), and takes the one off. If the next row's first one stores to the same place with the same width, it takes off what was
 * counted, too: what was put away is *left* to that one. Otherwise it stores the value. Then the numbers are compared as above.
 *
 * Nothing is missed there either. It doesn't matter which lanes are here together, in which order warps run, or which of a row's first or last ones came to a seam last:
 * - A store is left to somebody who makes one of the same place and width, in a later iteration: what stands in a row's seam comes from iterations of that row (a first lane
 *   of another row is not told of), and all those of the next row come later. That one counts, or leaves its own to a later one, or puts it away, and either the check
 *   stores that or leaves it to a later one. So each chain still ends in a store that is made and counted, that of the last of all who belong to it, and has set all bits of those.
 * - A seam holds one store. One that another one has overwritten has counted one more, which nobody takes off. All others that are made, and that one, have set no more
 *   bits than they have counted. So there is more than bits are set, whatever has become of the seam.
 * - Otherwise what is left in the numbers are the stores that are made, and their bits; two of a cell are two, in whatever order they were made.
 * - Who has passed over a note puts nothing away, and is nobody's first one: its store is left to nobody, and none to it.
 * - A note that stands meets the bits of its cell, which whoever stores there or puts that away has set.
 * What may be guessed wrongly, that a row's lanes are all here, or that the next row stores to a cell if a later iteration does, leaves two stores of the cell, or one too many. */
#ifdef __PG_JOINED
/* What lanes tell each other of a store. Cells are fewer than 2^28, and a store takes a whole one at least. */
#define __PG_JOINED_KEY(cell, width) ((__pg_u32)(cell) << 4 | (width))
#define __PG_JOINED_TO_NOBODY (~0u)
#ifdef __PG_SEAMS
/* What a row says of a store with some number: what its first lane stores to, and what was put away of its last one. */
struct __pg_seam {
  __pg_u32 first, last;
  __pg_u64 value;
} __attribute__((aligned(16)));

/* Where that is: in front of the writers' bits, the first row's last. */
#define __PG_SEAM(c, row, number) ((struct __pg_seam *)(c)->launch->wr - ((__pg_u64)__PG_SEAMS * (row) + (number) + 1))

/* Of the lanes that are here, as a rule those of a row, the last one puts its store away, and says for the first one what that stores to. Not 0: it did. */
__PG_FN int __pg_puts_away(struct __pg_ctx *c, __pg_u32 lanes, __pg_u32 lane, __pg_u32 key, __pg_u64 value)
{
  const __pg_u32 row = (c->iteration - 1) / __PG_ITERATIONS_OF_ROW, number = c->stored++;
  const int low = __ffs(lanes) - 1;
  const __pg_u32 its_key = __shfl_sync(lanes, key, low), its_row = __shfl_sync(lanes, row, low);
  const __pg_u32 first = its_row == row ? its_key : __PG_JOINED_TO_NOBODY;
  if (lanes >> lane != 1 || number >= __PG_SEAMS)
    return 0;
  /* All of it in one piece, where nothing is put away, too. */
  *__PG_SEAM(c, row, number) = {first, key == __PG_JOINED_TO_NOBODY ? 0 : key, value};
  c->writes += key != __PG_JOINED_TO_NOBODY;
  return key != __PG_JOINED_TO_NOBODY;
}
#endif

/* What becomes of a store. */
enum { __PG_IS_MADE, __PG_IS_LEFT, __PG_IS_PUT_AWAY };
/* Whether a lane leaves its store to the next one, which stores to the same place now, and later in the source order; `lanes` are here. */
__PG_FN int __pg_leaves_to(struct __pg_ctx *c, __pg_u32 lanes, __pg_u32 key, __pg_u64 value)
{
  const __pg_u32 lane = threadIdx.x & 31, its_key = __shfl_down_sync(lanes, key, 1);
  const __pg_u32 its_iteration = __shfl_down_sync(lanes, c->iteration, 1);
#ifdef __PG_SEAMS
  if (__pg_puts_away(c, lanes, lane, key, value))
    return __PG_IS_PUT_AWAY;
#else
  (void)value;
#endif
  return (lanes >> 1 >> lane & 1) && key != __PG_JOINED_TO_NOBODY && its_key == key && its_iteration > c->iteration ? __PG_IS_LEFT
                                                                                                                   : __PG_IS_MADE;
}
__PG_FN int __pg_leaves_store(struct __pg_ctx *c, const struct __pg_view *v, __pg_u64 address, __pg_u32 width, __pg_u64 value)
{
  const __pg_u32 lanes = __activemask();
  __pg_u32 key = __PG_JOINED_TO_NOBODY;
  if (v->log != ~(__pg_u64)0) {
    __pg_u32 word;
    const __pg_u32 bits = __pg_bits_of(c->launch, v, address, width, &word);
    if (word == c->noted_word && (c->noted & bits) != 0)
      c->noted &= ~bits;
    else
      key = __PG_JOINED_KEY(__pg_bit_of(c->launch, v, address), width);
  }
  /* Lanes that are known to be all there ask each other at half the price. */
  return lanes == ~0u ? __pg_leaves_to(c, ~0u, key, value) : __pg_leaves_to(c, lanes, key, value);
}
/* Where iterations begin. To leave this to the next note, as other bitmaps do, takes a seventh longer. */
__PG_FN void __pg_end_its_notes(struct __pg_ctx *c)
{
  __pg_end_notes(c);
  c->noted = 0;
}
#define __PG_LEAVE_STORE(type, c, v, address, value_)                                                                  \
  int is_stored;                                                                                                       \
  {                                                                                                                    \
    __PG_AS_BITS(type) left;                                                                                           \
    int became;                                                                                                        \
    left.bits = 0;                                                                                                     \
    left.value = value_;                                                                                               \
    became = __pg_leaves_store(c, v, address, (__pg_u32)sizeof(type), left.bits);                                      \
    if (became == __PG_IS_LEFT)                                                                                        \
      return;                                                                                                          \
    is_stored = became == __PG_IS_MADE;                                                                                \
  }
#define __PG_IS_STORED is_stored
#else
#define __PG_LEAVE_STORE(type, c, v, address, value_)
#define __PG_IS_STORED 1
#endif
