/* The dependence oracle: executes a loop with a shadow of its memory and says whether its iterations depend on each other.
 *
 * One text of a loop is compiled twice. Without SHADOW the macros below are nothing, and it is the loop that the compiler
 * judges. With SHADOW every access of the arenas is noted with its iteration: a byte that two iterations touch, one of
 * them writing, is a dependence that the loop carries (flow, anti or output: a parallel loop has none of them). Anti dependences,
 * where the load comes in an earlier iteration than the store, are told apart: loads from a snapshot don't care. So is what an
 * iteration finds that another one has left: where there is nothing of that, iterations may each have memory of their own. And
 * so is what keeps the last of several stores from being all that matters (as stamps take it): a load of what an earlier
 * iteration has stored, or of what its own has and another one stores again.
 *
 * A nest is watched at four levels at once: iterations of the outer loop, of the inner loop at each of its entries, of the
 * nest merged into one space, and of the inner loop over all its entries, which is what the nest has outermost when its loops are
 * interchanged. What stands in a loop's condition belongs to the iteration that it decides on.
 *
 * Updates (`+=` and the like) by one operation of one width commute: whether iterations meet in them only is told apart.
 *
 *   R(x) reads x, W(x) is assigned to, U(x, operation) is updated; C(x) is read in the (outer) condition, D(x) in the inner one.
 *   OUTER and INNER stand where the bodies begin; BEGIN_INNER and END_INNER around the inner loop. */
#ifndef PARAGON_SHADOW_H
#define PARAGON_SHADOW_H

/* Three from the heap; the others are the objects `table` (of int) and `counts` (of unsigned). */
enum { ARENAS = 5, ARENA_BYTES = 1 << 16 };
extern unsigned char *arena[ARENAS];

#ifndef SHADOW

#define R(x) (x)
#define W(x) (x)
#define U(x, operation) (x)
#define C(x) (x)
#define D(x) (x)
#define OUTER
#define INNER
#define BEGIN_INNER
#define END_INNER

#else

enum { LEVEL_OUTER, LEVEL_INNER, LEVEL_MERGED, LEVEL_SWAPPED, LEVELS };
enum { READS = 1, WRITES = 2, UPDATES = 4 /* and what they have to have in common, above */ };
#define SHADOW_MANY 0xffffffffu
#define SHADOW_MIXED 0xffffffffu

static struct {
  unsigned writer[ARENAS][ARENA_BYTES]; /* the iteration that wrote a byte, 0: none */
  unsigned reader[ARENAS][ARENA_BYTES]; /* the one that read it; SHADOW_MANY: several */
  unsigned updater[ARENAS][ARENA_BYTES]; /* the same for updates */
  unsigned update[ARENAS][ARENA_BYTES];  /* and how; SHADOW_MIXED: in several ways */
  unsigned last[ARENAS][ARENA_BYTES];    /* the last iteration that changed a byte */
  unsigned first[ARENAS][ARENA_BYTES];   /* and the first one */
  unsigned own[ARENAS][ARENA_BYTES];     /* the iteration that found there what it had stored itself */
  unsigned iteration;
  int meet;     /* whether iterations touch a common byte, one of them changing it */
  int conflict; /* whether they do otherwise than by updates that commute */
  int flow;     /* and otherwise than in anti dependences */
  int carried;  /* whether an iteration finds what another one has left */
  int stale;    /* whether more than the last of several stores matters */
} shadow[LEVELS];
/* Whether the loop is a nest: then its inner iterations make up the merged space. */
static int nested;
/* Entries of the inner loop, and those of them that carried no dependence, none but anti dependences, nothing
 * from one iteration to another, or where no more than the last of several stores mattered. */
static unsigned long inner_entries, inner_clean, inner_no_flow, inner_not_carried, inner_not_stale;
/* Iterations of the inner loop at its last entry. */
static unsigned inner_iterations;

static void shadow_forget(int level)
{
  memset(&shadow[level], 0, sizeof shadow[level]);
}

/* `ahead`: levels (bits) whose next iteration this belongs to. */
static void *shadow_access(const void *pointer, unsigned long size, int how, int ahead)
{
  int which, level;
  unsigned long byte;
  for (which = 0; which < ARENAS; which++) {
    unsigned long offset = (unsigned long)pointer - (unsigned long)arena[which];
    if (offset >= ARENA_BYTES)
      continue;
    for (level = 0; level < LEVELS; level++) {
      unsigned now = shadow[level].iteration + (ahead >> level & 1);
      for (byte = offset; byte < offset + size; byte++) {
        unsigned *writer = &shadow[level].writer[which][byte], *reader = &shadow[level].reader[which][byte];
        unsigned *updater = &shadow[level].updater[which][byte], *update = &shadow[level].update[which][byte];
        int others_wrote = *writer && *writer != now, others_read = *reader && *reader != now;
        int others_updated = *updater && *updater != now;
        unsigned *last = &shadow[level].last[which][byte], *first = &shadow[level].first[which][byte];
        unsigned *own = &shadow[level].own[which][byte];
        if (how != WRITES)
          shadow[level].carried |= *last && *last != now;
        if (how != READS)
          *last = now;
        if (how != WRITES) {
          shadow[level].stale |= *first && *first != now;
          if (*first == now)
            *own = now;
        }
        if (how != READS) {
          shadow[level].stale |= *own && *own != now;
          if (!*first)
            *first = now;
        }
        if (how >= UPDATES) {
          unsigned way = (unsigned)how * 8 + (unsigned)(byte - offset);
          int flow = others_wrote || (others_updated && *update != way);
          shadow[level].flow |= flow;
          shadow[level].conflict |= flow || others_read;
          shadow[level].meet |= others_updated;
          *update = *update && *update != way ? SHADOW_MIXED : way;
          *updater = others_updated ? SHADOW_MANY : now;
          continue;
        }
        shadow[level].flow |= others_wrote || others_updated;
        shadow[level].conflict |= others_wrote || others_updated || ((how & WRITES) && others_read);
        if (how & WRITES)
          *writer = now;
        if (how & READS)
          *reader = others_read ? SHADOW_MANY : now;
      }
    }
  }
  return (void *)pointer;
}

#define SHADOW_PLACE(x, how, ahead) (*(__typeof__(&(x)))shadow_access(&(x), sizeof(x), how, ahead))
#define R(x) SHADOW_PLACE(x, READS, 0)
#define W(x) SHADOW_PLACE(x, WRITES, 0)
#define U(x, operation) SHADOW_PLACE(x, (int)(UPDATES + 16 * operation + sizeof(x)), 0)
#define C(x) SHADOW_PLACE(x, READS, 1 << LEVEL_OUTER | 1 << LEVEL_MERGED)
#define D(x) SHADOW_PLACE(x, READS, 1 << LEVEL_INNER | 1 << LEVEL_MERGED | 1 << LEVEL_SWAPPED)
#define OUTER (void)(shadow[LEVEL_OUTER].iteration++, shadow[LEVEL_MERGED].iteration += !nested);
#define INNER (void)(shadow[LEVEL_INNER].iteration++, shadow[LEVEL_MERGED].iteration++, shadow[LEVEL_SWAPPED].iteration++);
#define BEGIN_INNER shadow_forget(LEVEL_INNER);
/* What stands outside of the inner loop is nobody's: 0. */
#define END_INNER                                                                                                      \
  (void)(inner_entries++, inner_clean += !shadow[LEVEL_INNER].conflict,                                                \
         inner_no_flow += !shadow[LEVEL_INNER].flow, inner_not_carried += !shadow[LEVEL_INNER].carried,                \
         inner_not_stale += !shadow[LEVEL_INNER].stale,                                                                \
         inner_iterations = shadow[LEVEL_SWAPPED].iteration, shadow[LEVEL_SWAPPED].iteration = 0);

#endif
#endif
