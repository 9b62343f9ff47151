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
 * side. Between a row and the next one is a *seam* for each of an iteration's first __PG_SEAMS stores. The last one of the lanes that are here counts its store, but puts
 * it away in its row's seam: place, width and value. The first one says in the seam of the row before what it stores to. Behind all launches
 * a kernel looks at each seam (device/cuda/seams.rs). If both sides name the same place and width, it takes off what was counted: what was put away is left to the one that said
 * so. Otherwise it stores that, and sets its bits. Then the numbers are compared as above.
 *
 * Nothing is missed there either. It doesn't matter which lanes are here together, in which order warps run, or which of a row's first or last ones came to a seam:
 * - A store is left to somebody who makes one of the same place and width, in a later iteration: a row has no iterations but its own, and all those of the
 *   next one come later. That one counts, or leaves its own to a later one. So each chain still ends in a counted store, the last one of all.
 * - A seam holds one store. What another one of the row has overwritten was counted and is neither taken off nor sets a bit, and each
 *   other counted store has at most its bits: so more are counted than bits are set, whatever a seam holds then.
 * - Two counted stores of a cell are two, whether either of them was put away or not, so it doesn't matter in which order they were made.
 * - Who has passed over a note puts nothing away, and says nothing to the row before: so its store is left to nobody and none to it.
 * - A note that stands meets the bits of its cell: a cell that was stored to has a counted store in the end, which has set its bits, during the loop or behind it.
 * - Nobody loads what it has put away itself and still is in the seam: such a load is noted and stands, or it is one that nobody notes because no other iteration
 *   stores there; loops that have any of those, in an array that they store to, have no seams (speculation/cmt/attempt.rs).
 * What is guessed wrongly, that a row's lanes are all here, or that the next row stores there if a later iteration does, only leaves two counted stores, or one too many. */
#ifdef __PG_JOINED
/* What lanes tell each other of a store. Cells are fewer than 2^28, and a store takes a whole one at least. */
#define __PG_JOINED_KEY(cell, width) ((__pg_u32)(cell) << 4 | (width))
#define __PG_JOINED_TO_NOBODY (~0u)
#ifdef __PG_SEAMS
/* How many words in front of the writers' bits a row's seam for a store with this number begins. It has four: the key of what was put away, that of what the next row
 * stores, and the bits of the value. */
#define __PG_SEAM_BEHIND(row, number) (4 * ((__pg_u64)__PG_SEAMS * (row) + (number) + 1))

/* Of the lanes that are here, as a rule those of a row, the first one tells the row before what it stores to, and the last one puts its store away. Not 0:
 * it did. */
__PG_FN int __pg_puts_away(struct __pg_ctx *c, __pg_u32 lanes, __pg_u32 lane, __pg_u32 key, __pg_u32 width, __pg_u64 value)
{
  const __pg_u32 row = (c->iteration - 1) / __PG_ITERATIONS_OF_ROW, number = c->stored++;
  if (number >= __PG_SEAMS || key == __PG_JOINED_TO_NOBODY)
    return 0;
  if ((lanes & ((1u << lane) - 1)) == 0 && row != 0)
    (c->launch->wr - __PG_SEAM_BEHIND(row - 1, number))[1] = key;
  if (lanes >> lane == 1) {
    __pg_u32 *const seam = c->launch->wr - __PG_SEAM_BEHIND(row, number);
    seam[0] = key;
    *(__pg_u64 *)&seam[2] = value;
    c->writes += __PG_CELLS(c->launch, width);
    return 1;
  }
  return 0;
}
#endif

/* Whether a lane leaves its store to the next one, which stores to the same place now, and later in the source order, or puts it away; `lanes` are here. */
__PG_FN int __pg_leaves_to(struct __pg_ctx *c, __pg_u32 lanes, __pg_u32 key, __pg_u32 width, __pg_u64 value)
{
  const __pg_u32 lane = threadIdx.x & 31, its_key = __shfl_down_sync(lanes, key, 1);
  const __pg_u32 its_iteration = __shfl_down_sync(lanes, c->iteration, 1);
#ifdef __PG_SEAMS
  if (__pg_puts_away(c, lanes, lane, key, width, value))
    return 1;
#else
  (void)width, (void)value;
#endif
  return (lanes >> 1 >> lane & 1) && key != __PG_JOINED_TO_NOBODY && its_key == key && its_iteration > c->iteration;
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
#ifdef __PG_SEAMS
  /* Lanes that are known to be all there ask each other at half the price. */
  if (lanes == ~0u)
    return __pg_leaves_to(c, ~0u, key, width, value);
#endif
  return __pg_leaves_to(c, lanes, key, width, value);
}
/* Where iterations begin. To leave this to the next note, as other bitmaps do, takes a seventh longer. */
__PG_FN void __pg_end_its_notes(struct __pg_ctx *c)
{
  __pg_end_notes(c);
  c->noted = 0;
}
#define __PG_LEAVE_STORE(type, c, v, address, value_)                                                                  \
  {                                                                                                                    \
    __PG_AS_BITS(type) left;                                                                                           \
    left.bits = 0;                                                                                                     \
    left.value = value_;                                                                                               \
    if (__pg_leaves_store(c, v, address, (__pg_u32)sizeof(type), left.bits))                                           \
      return;                                                                                                          \
  }
#else
#define __PG_LEAVE_STORE(type, c, v, address, value_)
#endif
