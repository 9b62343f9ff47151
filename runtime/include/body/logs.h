/* The logs (the chapter, section 4.4.3): what loads and stores note in each of the methods, and why none of them misses a conflict. How
 * bits are set is in bitmaps.h; what is found in the end devices look at: that isn't here.
 *
 * A cell stands for 2^log_shift bytes of one array. No method asks for the thread, only for the source iteration, so merging
 * iterations into one thread hides nothing. Where they keep it:
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
 *   the last writer of a cell stores (`settles`); kernels hold values back instead, as a rule (buffered.h). A conflict is a reader
 *   behind the first writer; and the first writer as a reader, if there is another writer, because it may have read what that one has
 *   stored. By induction over the iterations no other one can have found what it wouldn't find in the source order.
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
 * A guess of bitmaps: nothing is stored between the first cell that a noted load takes and the last (__PG_RANGES). Then readers have no bits: each thread keeps
 *   the two cells, and the launch those of all. What is stored between them refutes the guess, and the run is made once more, with bits, from
 *   a copy of the array. The range holds all cells that are read, and more, so it finds every conflict that bits find.
 * The check (after all iterations): a cell with a writer and a reader that is not that writer is a conflict; of stamps as above.
 * Ownership is entered before the value is stored. Without a log method, a store only sets its bits of wr, so that the commit copies
 * exactly what was written. */

__PG_SHARED_FN void __pg_log_read(struct __pg_ctx *c, const struct __pg_view *v, __pg_u64 address, __pg_u32 width)
{
  const struct __pg_launch *l = c->launch;
  __pg_u64 cell, end;
  if (v->log == ~(__pg_u64)0)
    return;
#ifdef __PG_RANGES
  if (__PG_LOG_METHOD(l) == PG_LOG_BITMAP) {
    __pg_note_read(c, v, 0, address, width);
    return;
  }
#endif
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
  if (__PG_HAS_NO_LOG(v, how) || ((how) & __PG_IS_FILLED))
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
  if (!__PG_HAS_NO_LOG(v, how) && !((how) & __PG_IS_FILLED) && !__pg_is_marked(c, address, width))
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
