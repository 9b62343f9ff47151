/* One planted fault per run: does what only speculation does ever hurt?
 *
 *   faults [--runs N] [--kind KIND] [--seed S] [--only R] [--fresh] [--list]
 *
 * In these loops an iteration repairs what a later one uses: an index that leads out of its array, a pointer to nowhere, a
 * divisor that is zero, a list without an end. The program never comes to the bad value; iterations that run in another order,
 * on what was there before the loop, do. Each run makes fresh inputs, with a fault in every other run. Which iterations repair,
 * how far before the use (half of the distances are 1, 31, 32 or 33, next to the width of a warp), how wild the value is,
 * whether it was there before the loop or a still earlier iteration stores it, and whether the arrays end where their
 * allocations end, is random. All memory, with what lies around the arrays, is compared with what the same loop in reference.c
 * makes of it at the same addresses; so are the loop's result, the signal that ended it with its address, and `errno`; and it
 * may raise no floating-point exception flag that the reference doesn't raise.
 *
 * The kinds crash-* are loops that the program itself comes to grief in: then the same signal is due, at the same iteration.
 * Each of these runs has a process of its own, because a handler that leaves a loop leaves it in the middle of the runtime; in
 * that process the loop runs once more on inputs without a fault. All but crash-division are left out (0 runs) where loops may
 * run in place, because there the fault is another thread's, and other iterations have stored already. They want -O2: vectors,
 * which -O3 makes of them, load and store several elements at once, whoever runs them.
 *
 * Prints one line per kind; the exit status is 1 if any run went wrong. Run R of a kind depends on the kind and the seed only,
 * and --only repeats it alone; --fresh gives every run a process of its own, so that nothing that the runtime has learnt keeps
 * loops from running elsewhere. A program that has to be stopped, because a loop doesn't end, says which run was under way.
 *
 * The loops are functions named like their kinds: count their records in PARAGON_TRACE. (A loop that ended by a signal has
 * none.) */
#define _GNU_SOURCE /* memfd_create */
#include "faults.h"
#include "../support/inputs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 1500, GUARD = 48, MOST_BLOCKS = 64, PAGE = 4096, MISSING_PAGES = 16 };

/* ---- the loops under test */

#define FIND_CELL(i)                                                                                                   \
  int cell = where[i].start, turns_left = where[i].turns;                                                              \
  while (turns_left-- > 0)                                                                                             \
  cell = NEXT_CELL(cell)

COMPUTE void index_store_through_repaired(int n, const struct repair *where, const int *good, int *index,
                                          const uint32_t *in, uint32_t *out)
{
  for (int i = 0; i < n; i++) {
    FIND_CELL(i);
    index[cell] = good[i];
    out[index[i]] = in[i];
  }
}

COMPUTE void index_load_through_repaired(int n, const struct repair *where, const int *good, int *index,
                                         const uint32_t *in, uint32_t *out)
{
  for (int i = 0; i < n; i++) {
    FIND_CELL(i);
    index[cell] = good[i];
    out[i] = in[index[i]];
  }
}

COMPUTE void long_index_store_repaired(int n, const struct repair *where, const int64_t *good, int64_t *index,
                                       const uint32_t *in, uint32_t *out)
{
  for (int i = 0; i < n; i++) {
    FIND_CELL(i);
    index[cell] = good[i];
    out[index[i]] = in[i];
  }
}

COMPUTE void long_index_load_repaired(int n, const struct repair *where, const int64_t *good, int64_t *index,
                                      const uint32_t *in, uint32_t *out)
{
  for (int i = 0; i < n; i++) {
    FIND_CELL(i);
    index[cell] = good[i];
    out[i] = in[index[i]];
  }
}

COMPUTE void byte_offset_store_repaired(int n, const struct repair *where, const int *good, int *offset,
                                        const uint32_t *in, unsigned char *out)
{
  for (int i = 0; i < n; i++) {
    FIND_CELL(i);
    offset[cell] = good[i];
    *(uint32_t *)(void *)(out + offset[i]) = in[i];
  }
}

COMPUTE void byte_offset_load_repaired(int n, const struct repair *where, const int *good, int *offset,
                                       const unsigned char *in, uint32_t *out)
{
  for (int i = 0; i < n; i++) {
    FIND_CELL(i);
    offset[cell] = good[i];
    out[i] = *(const uint32_t *)(const void *)(in + offset[i]);
  }
}

COMPUTE void index_arithmetic_repaired(int n, const struct repair *where, const int *good, int *index,
                                       const uint32_t *in, uint32_t *out)
{
  for (int i = 0; i < n; i++) {
    FIND_CELL(i);
    index[cell] = good[i];
    out[index[i] * 3 + 1] = in[i];
  }
}

COMPUTE void index_update_repaired(int n, const struct repair *where, const int *good, int *index, const uint32_t *in,
                                   uint32_t *out)
{
  for (int i = 0; i < n; i++) {
    FIND_CELL(i);
    index[cell] = good[i];
    out[index[i]] += in[i];
  }
}

COMPUTE void row_store_repaired(int n, const struct repair *where, const int *good, int *row, const uint32_t *in,
                                uint32_t *out)
{
  for (int i = 0; i < n; i++) {
    FIND_CELL(i);
    row[cell] = good[i];
    for (int j = 0; j < ROW; j++)
      out[row[i] * ROW + j] = in[i] + (uint32_t)j;
  }
}

COMPUTE void row_length_repaired(int n, const struct repair *where, const int *good, int *length, const uint32_t *in,
                                 uint32_t *out)
{
  for (int i = 0; i < n; i++) {
    FIND_CELL(i);
    length[cell] = good[i];
    int turns = length[i];
    for (int j = 0; j < turns; j++)
      out[i * ROW + j] = in[i] + (uint32_t)j;
  }
}

COMPUTE void record_store_repaired(int n, const struct repair *where, const int *good, int *index, const double *in,
                                   struct record *out)
{
  for (int i = 0; i < n; i++) {
    FIND_CELL(i);
    index[cell] = good[i];
    struct record *to = &out[index[i]];
    to->wide = in[i];
    to->last = (unsigned char)i;
  }
}

COMPUTE uint64_t index_sum_repaired(int n, const struct repair *where, const int *good, int *index, const uint32_t *in)
{
  uint64_t sum = 0;
  for (int i = 0; i < n; i++) {
    FIND_CELL(i);
    index[cell] = good[i];
    sum += in[index[i]];
  }
  return sum;
}

COMPUTE void sentinel_repaired(int n, const struct repair *where, const int *begin, unsigned char *text, uint32_t *out)
{
  for (int i = 0; i < n; i++) {
    FIND_CELL(i);
    text[cell] = 0;
    int k = begin[i];
    while (text[k] != 0)
      k++;
    out[i] = (uint32_t)(k - begin[i]);
  }
}

COMPUTE void pointer_store_repaired(int n, const struct repair *where, uint32_t *const *good, uint32_t **pointers,
                                    const uint32_t *in)
{
  for (int i = 0; i < n; i++) {
    FIND_CELL(i);
    pointers[cell] = good[i];
    *pointers[i] = in[i];
  }
}

COMPUTE void pointer_load_repaired(int n, const struct repair *where, uint32_t *const *good, uint32_t **pointers,
                                   uint32_t *out)
{
  for (int i = 0; i < n; i++) {
    FIND_CELL(i);
    pointers[cell] = good[i];
    out[i] = *pointers[i];
  }
}

COMPUTE void list_walk_repaired(int n, const struct repair *where, struct node *const *good, struct node *nodes,
                                struct node *const *heads, uint32_t *out)
{
  for (int i = 0; i < n; i++) {
    FIND_CELL(i);
    nodes[cell].next = good[i];
    uint32_t sum = 0;
    for (struct node *p = heads[i]; p != NULL; p = p->next)
      sum = sum * 3 + p->value;
    out[i] = sum;
  }
}

COMPUTE void division_int_repaired(int n, const struct repair *where, const int *good, int *divisor, const int *in,
                                   int *out)
{
  for (int i = 0; i < n; i++) {
    FIND_CELL(i);
    divisor[cell] = good[i];
    out[i] = in[i] / divisor[i];
  }
}

COMPUTE void remainder_int_repaired(int n, const struct repair *where, const int *good, int *divisor, const int *in,
                                    int *out)
{
  for (int i = 0; i < n; i++) {
    FIND_CELL(i);
    divisor[cell] = good[i];
    out[i] = in[i] % divisor[i];
  }
}

COMPUTE void division_unsigned_repaired(int n, const struct repair *where, const uint32_t *good, uint32_t *divisor,
                                        const uint32_t *in, uint32_t *out)
{
  for (int i = 0; i < n; i++) {
    FIND_CELL(i);
    divisor[cell] = good[i];
    out[i] = in[i] / divisor[i] + in[i] % divisor[i];
  }
}

COMPUTE void division_long_repaired(int n, const struct repair *where, const int64_t *good, int64_t *divisor,
                                    const int64_t *in, int64_t *out)
{
  for (int i = 0; i < n; i++) {
    FIND_CELL(i);
    divisor[cell] = good[i];
    out[i] = in[i] / divisor[i];
  }
}

COMPUTE void remainder_long_repaired(int n, const struct repair *where, const int64_t *good, int64_t *divisor,
                                     const int64_t *in, int64_t *out)
{
  for (int i = 0; i < n; i++) {
    FIND_CELL(i);
    divisor[cell] = good[i];
    out[i] = in[i] % divisor[i];
  }
}

COMPUTE void shift_repaired(int n, const struct repair *where, const int *good, int *count, const uint32_t *in,
                            uint32_t *out, int64_t *wide)
{
  for (int i = 0; i < n; i++) {
    FIND_CELL(i);
    count[cell] = good[i];
    out[i] = in[i] << count[i] ^ in[i] >> count[i];
    wide[i] = (int64_t)in[i] << count[i] ^ (int)in[i] >> count[i];
  }
}

COMPUTE void conversion_repaired(int n, const struct repair *where, const double *good, double *x, int *out,
                                 uint32_t *natural, int64_t *wide)
{
  for (int i = 0; i < n; i++) {
    FIND_CELL(i);
    x[cell] = good[i];
    out[i] = (int)x[i];
    natural[i] = (uint32_t)x[i];
    wide[i] = (int64_t)x[i];
  }
}

COMPUTE void conversion_index_repaired(int n, const struct repair *where, const float *good, float *x,
                                       const uint32_t *in, uint32_t *out)
{
  for (int i = 0; i < n; i++) {
    FIND_CELL(i);
    x[cell] = good[i];
    out[(int)x[i]] = in[i];
  }
}

COMPUTE void nan_repaired(int n, const struct repair *where, const double *good, double *divisor, const double *in,
                          double *out, float *narrow)
{
  for (int i = 0; i < n; i++) {
    FIND_CELL(i);
    divisor[cell] = good[i];
    double quotient = in[i] / divisor[i];
    out[i] = quotient;
    narrow[i] = (float)quotient;
  }
}

/* In chains and lists the repair may still come while another thread goes round and round; what is kept in a
 * variable stays. */
COMPUTE void endless_chain_repaired(int n, const struct repair *where, const int *good, int *next, const int *start,
                                    uint32_t *out)
{
  for (int i = 0; i < n; i++) {
    FIND_CELL(i);
    next[cell] = good[i];
    int k = start[i];
    while (next[k] != -1)
      k = next[k];
    out[i] = (uint32_t)k;
  }
}

COMPUTE void endless_step_repaired(int n, const struct repair *where, const int *good, int *step, const int *limit,
                                   uint32_t *out)
{
  for (int i = 0; i < n; i++) {
    FIND_CELL(i);
    step[cell] = good[i];
    uint32_t sum = 0;
    int by = step[i];
    for (int j = 0; j != limit[i]; j += by)
      sum = sum * 3 + (uint32_t)j;
    out[i] = sum;
  }
}

/* The numbers below 1024 in an order of which every one is a part: a number that is none of them is never met. */
COMPUTE void endless_condition_repaired(int n, const struct repair *where, const int *good, int *stop, uint32_t *out)
{
  for (int i = 0; i < n; i++) {
    FIND_CELL(i);
    stop[cell] = good[i];
    int k = i & 1023, last = stop[i];
    uint32_t turns = 0;
    do {
      k = (k * 5 + 3) & 1023;
      turns++;
    } while (k != last);
    out[i] = turns;
  }
}

COMPUTE void endless_count_repaired(int n, const struct repair *where, const int64_t *good, int64_t *count,
                                    uint32_t *out)
{
  for (int i = 0; i < n; i++) {
    FIND_CELL(i);
    count[cell] = good[i];
    uint32_t sum = 0;
    int64_t turns = count[i];
    for (int64_t j = 0; j < turns; j++)
      sum = sum * 31 + (uint32_t)j;
    out[i] = sum;
  }
}

COMPUTE void endless_store_repaired(int n, const struct repair *where, const int *good, int *next, const int *start,
                                    uint32_t *visited)
{
  for (int i = 0; i < n; i++) {
    FIND_CELL(i);
    next[cell] = good[i];
    int k = start[i];
    while (next[k] != -1) {
      visited[k] = visited[k] + (uint32_t)i;
      k = next[k];
    }
  }
}

/* Loops in the endless one that end, after no turn or after many. */
COMPUTE void endless_around_repaired(int n, const struct repair *where, const int *good, int *next, const int *start,
                                     const int *turns, uint32_t *out)
{
  for (int i = 0; i < n; i++) {
    FIND_CELL(i);
    next[cell] = good[i];
    uint32_t sum = 0;
    int k = start[i];
    while (next[k] != -1) {
      for (int j = 0; j < turns[k]; j++)
        sum = sum * 3 + (uint32_t)j;
      k = next[k];
    }
    out[i] = sum + (uint32_t)k;
  }
}

COMPUTE void endless_list_repaired(int n, const struct repair *where, struct node *const *good, struct node *nodes,
                                   struct node *const *heads)
{
  for (int i = 0; i < n; i++) {
    FIND_CELL(i);
    nodes[cell].next = good[i];
    for (struct node *p = heads[i]; p != NULL; p = p->next)
      p->visits = p->visits * 3 + p->value;
  }
}

COMPUTE void own_array_store_repaired(int n, const struct repair *where, const int *good, int *index,
                                      const uint32_t *in, uint32_t *out)
{
  for (int i = 0; i < n; i++) {
    uint32_t own[OWN], sum = 0;
    FIND_CELL(i);
    index[cell] = good[i];
    for (int k = 0; k < OWN; k++)
      own[k] = in[i] + (uint32_t)k;
    own[index[i]] = 7;
    for (int k = 0; k < OWN; k++)
      sum = sum * 31 + own[k];
    out[i] = sum;
  }
}

COMPUTE void own_array_load_repaired(int n, const struct repair *where, const int *good, int *index, const uint32_t *in,
                                     uint32_t *out)
{
  for (int i = 0; i < n; i++) {
    uint32_t own[OWN];
    FIND_CELL(i);
    index[cell] = good[i];
    for (int k = 0; k < OWN; k++)
      own[k] = in[i] * (uint32_t)k;
    out[i] = own[index[i]];
  }
}

COMPUTE void guard_store_repaired(int n, const struct repair *where, const int *good, int *allowed, const int *index,
                                  const uint32_t *in, uint32_t *out)
{
  for (int i = 0; i < n; i++) {
    FIND_CELL(i);
    allowed[cell] = good[i];
    if (allowed[i] != 0)
      out[index[i]] = in[i];
  }
}

/* Speculation may find another divisor where it divides than where it looked. */
COMPUTE void guard_division_repaired(int n, const struct repair *where, const int *good, int *divisor, const int *in,
                                     int *out)
{
  for (int i = 0; i < n; i++) {
    FIND_CELL(i);
    divisor[cell] = good[i];
    if (divisor[i] != 0)
      out[i] = in[i] / divisor[i];
  }
}

COMPUTE void guard_pointer_repaired(int n, const struct repair *where, uint32_t *const *good, uint32_t **pointers,
                                    const uint32_t *in)
{
  for (int i = 0; i < n; i++) {
    FIND_CELL(i);
    pointers[cell] = good[i];
    if (pointers[i] != NULL)
      *pointers[i] = in[i];
  }
}

COMPUTE void break_inner_repaired(int n, const struct repair *where, const uint32_t *good, uint32_t *stop,
                                  const int *place, const uint32_t *in, uint32_t *out)
{
  for (int i = 0; i < n; i++) {
    FIND_CELL(i);
    stop[cell] = good[i];
    for (int j = 0; j < ROW; j++) {
      if (in[i * ROW + j] == stop[i])
        break;
      out[place[i * ROW + j]] = in[i * ROW + j];
    }
  }
}

COMPUTE void stop_flag_repaired(int n, const struct repair *where, uint32_t *stop, const int *index, const uint32_t *in,
                                uint32_t *out)
{
  for (int i = 0; i < n; i++) {
    if (stop[0] == 0)
      out[index[i]] = in[i];
    FIND_CELL(i);
    stop[cell] = 1;
  }
}

COMPUTE void crash_division(int n, const struct repair *where, const int *good, int *divisor, const int *in, int *out)
{
  for (int i = 0; i < n; i++) {
    FIND_CELL(i);
    divisor[cell] = good[i];
    out[i] = in[i] / divisor[i];
  }
}

COMPUTE void crash_store(int n, const struct repair *where, const int64_t *good, int64_t *index, const uint32_t *in,
                         uint32_t *out)
{
  for (int i = 0; i < n; i++) {
    FIND_CELL(i);
    index[cell] = good[i];
    out[index[i]] = in[i];
  }
}

COMPUTE void crash_load(int n, const struct repair *where, const int64_t *good, int64_t *index, const uint32_t *in,
                        uint32_t *out)
{
  for (int i = 0; i < n; i++) {
    FIND_CELL(i);
    index[cell] = good[i];
    out[i] = in[index[i]];
  }
}

COMPUTE void crash_pointer(int n, const struct repair *where, uint32_t *const *good, uint32_t **pointers,
                           const uint32_t *in)
{
  for (int i = 0; i < n; i++) {
    FIND_CELL(i);
    pointers[cell] = good[i];
    *pointers[i] = in[i];
  }
}

COMPUTE void crash_end(int n, const uint32_t *in, uint32_t *out)
{
  for (int i = 0; i < n; i++)
    out[i] = in[i] * 3;
}

COMPUTE void crash_read_only(int n, const uint32_t *in, uint32_t *out)
{
  for (int i = 0; i < n; i++)
    out[i] = out[i] * 3 + in[i];
}

/* ---- a run */

/* Memory that is compared. */
struct block {
  unsigned char *start;
  size_t bytes;
  bool is_allocated;
};

/* Everything that a run needs. Which of the arrays there are depends on its kind. */
struct run {
  struct check *check;
  bool is_faulty;
  struct block blocks[MOST_BLOCKS];
  size_t block_count;
  int n;
  /* Iterations of which the first repairs what the second one uses. */
  struct couple couples[MOST];
  int couple_count;
  /* Iterations that store what later ones use. */
  size_t important[2 * MOST];
  size_t important_count;
  /* The array that they are about, where the whole of its elements is repaired. */
  void *repaired, *repairs;
  size_t repaired_size;
  /* The program comes to grief in the second one: on what was there, or on what the first one stores. */
  bool has_fatal, is_stored;
  struct couple fatal;
  struct repair *where;
  int *good, *cells, *start, *numbers, *results;
  int64_t *long_good, *long_cells, *long_numbers, *long_results;
  uint32_t *unsigned_good, *unsigned_cells, *in, *out;
  unsigned char *bytes;
  uint32_t **pointer_good, **pointers;
  struct node *nodes, **node_good, **heads;
  struct record *records;
  double *real_good, *real_cells, *real_in, *real_out;
  float *float_good, *float_cells, *float_out;
};

static size_t below(struct run *r, size_t n)
{
  return check_below(r->check, n);
}

static uint32_t random_word(struct run *r)
{
  return (uint32_t)check_random(r->check);
}

static void fill(struct run *r, void *memory, size_t bytes)
{
  unsigned char *to = memory;
  for (size_t at = 0; at < bytes; at += 8) {
    uint64_t word = check_random(r->check);
    memcpy(to + at, &word, bytes - at < 8 ? bytes - at : 8);
  }
}

static unsigned char *new_block(struct run *r, size_t bytes)
{
  if (r->block_count == MOST_BLOCKS)
    check_die(r->check, "too many blocks", "");
  unsigned char *start = malloc(bytes);
  if (start == NULL)
    check_die(r->check, "out of memory", "");
  r->blocks[r->block_count++] = (struct block){start, bytes, true};
  fill(r, start, bytes);
  return start;
}

/* An array of random bytes. Its allocation ends where it ends, or not; in front of it lies another one that nobody
 * touches. */
static void *array(struct run *r, size_t count, size_t size)
{
  static const size_t most_margins[] = {0, 4, 256};
  size_t margin = 16 * below(r, most_margins[below(r, 3)] + 1);
  new_block(r, GUARD);
  return new_block(r, margin + count * size + margin) + margin;
}

static int pick_distance(struct run *r, int most)
{
  static const int special[] = {1, 31, 32, 33};
  int distance = special[below(r, 4)];
  return below(r, 2) == 0 && distance <= most ? distance : 1 + (int)below(r, (size_t)most);
}

/* How many iterations there are, and which of them repair what for which: one, some, or all at one distance. Of the
 * last it is most likely that speculation comes too early, and the more the longer the loop is. */
static void pick_couples(struct run *r)
{
  int distance = pick_distance(r, MOST - 1);
  int n = r->n = below(r, 2) == 0 ? MOST : distance + 1 + (int)below(r, (size_t)(MOST - distance));
  r->couple_count = 0;
  if (!r->is_faulty)
    return;
  size_t shape = below(r, 4);
  if (shape < 2) {
    for (int late = distance; late < n; late++)
      r->couples[r->couple_count++] = (struct couple){(size_t)(late - distance), (size_t)late};
    return;
  }
  int count = shape == 2 ? 1 : 2 + (int)below(r, 32);
  for (int k = 0; k < count; k++) {
    /* The last iteration is one that accesses behind the end of an array come from. */
    int late = below(r, 4) == 0 ? n - 1 : distance + (int)below(r, (size_t)(n - distance));
    struct couple couple = {(size_t)(late - distance), (size_t)late};
    bool is_new = true;
    for (int other = 0; other < r->couple_count; other++)
      is_new = is_new && r->couples[other].first != couple.first && r->couples[other].second != couple.second;
    if (is_new)
      r->couples[r->couple_count++] = couple;
    distance = pick_distance(r, n - 1);
  }
}

static void store_in(struct run *r, size_t iteration, int cell)
{
  r->where[iteration].start = cell;
  r->important[r->important_count++] = iteration;
}

/* Distributes what is repaired where. The cells that iteration i uses are row i of `cells`, in rows of `width`, and
 * `column` is the one that is repaired; behind the rows there is a cell for each iteration that nobody uses. `good`
 * gets what stands in the cells now: whoever calls this spoils those of the couples afterwards. */
static void plan_repairs(struct run *r, void *cells, void *good, size_t size, int width, int column)
{
  r->where = array(r, (size_t)r->n, sizeof *r->where);
  r->repaired = cells;
  r->repairs = good;
  r->repaired_size = size;
  int *order = check_alloc(r->check, (size_t)r->n, sizeof *order);
  permute(r->check, order, (size_t)r->n);
  for (int i = 0; i < r->n; i++) {
    r->where[i] = (struct repair){width * r->n + order[i], 0};
    if (good != NULL) {
      size_t like = (size_t)width * below(r, (size_t)r->n) + (size_t)column;
      memcpy((char *)good + (size_t)i * size, (const char *)cells + like * size, size);
    }
  }
  for (int k = 0; k < r->couple_count; k++) {
    size_t early = r->couples[k].first, cell = (size_t)width * r->couples[k].second + (size_t)column;
    store_in(r, early, (int)cell);
    if (good != NULL)
      memcpy((char *)good + early * size, (const char *)cells + cell * size, size);
  }
  free(order);
}

/* The cell that a couple is about. */
static size_t spoiled(const struct run *r, int couple)
{
  return (size_t)r->where[r->couples[couple].first].start;
}

/* Lets iterations before those that repair store the bad value, which may not be there before. If both are done in
 * the wrong order, it stays. */
static void spoil_late(struct run *r)
{
  bool is_taken[MOST] = {false};
  if (r->repairs == NULL)
    return;
  for (int k = 0; k < r->couple_count; k++)
    is_taken[r->couples[k].first] = true;
  if (r->has_fatal)
    is_taken[r->fatal.first] = true;
  for (int k = 0; k < r->couple_count; k++) {
    size_t early = r->couples[k].first, earlier = early - 1 - below(r, early < 40 ? early + 1 : 40);
    if (earlier >= early || is_taken[earlier])
      continue;
    is_taken[earlier] = true;
    store_in(r, earlier, r->where[early].start);
    char *cell = (char *)r->repaired + spoiled(r, k) * r->repaired_size, *repairs = r->repairs;
    memcpy(repairs + earlier * r->repaired_size, cell, r->repaired_size);
    if (below(r, 2) == 0)
      memcpy(cell, repairs + early * r->repaired_size, r->repaired_size);
  }
}

/* Lets some iterations come late: the cells that they store to take them long to find. */
static void slow_down(struct run *r)
{
  for (size_t count = 1 + below(r, 3); r->important_count != 0 && count != 0; count--) {
    struct repair *slow = &r->where[r->important[below(r, r->important_count)]];
    if (slow->turns != 0)
      continue;
    slow->turns = (4096 + (int)below(r, 4096)) << below(r, 5);
    /* Backwards: 5 times 52429 is 1, modulo a power of two up to 2^18. */
    for (int turn = 0; turn < slow->turns; turn++)
      slow->start = (slow->start - 3) * 52429 & (CELLS - 1);
  }
}

/* An index that an array of so many elements of some bytes doesn't have; now and then one that it has. */
static int64_t wild_index(struct run *r, const void *from, int64_t size, size_t bytes, bool is_long)
{
  switch (below(r, is_long ? 16 : 11)) {
  case 0: return -1;
  case 1: return size;
  case 2: return size + (int64_t)below(r, 32);
  case 3: return -1 - (int64_t)below(r, 32);
  case 4: return INT_MIN;
  case 5: return INT_MAX;
  case 6: return (int)random_word(r);
  case 7: return (int64_t)below(r, (size_t)size);
  case 8: return INT_MIN / (int64_t)bytes;
  case 9: return INT_MAX / (int64_t)bytes + 1;
  case 11: return INT64_C(1) << 40;
  case 12: return -(INT64_C(1) << 40);
  case 13: return (int64_t)check_random(r->check);
  /* So far that the offset in bytes wraps around to the array itself. */
  case 14: return (INT64_MIN / (int64_t)bytes) * 2 + (int64_t)below(r, (size_t)size);
  case 15: return below(r, 2) == 0 ? INT64_MAX : INT64_MIN;
  default: {
    /* Into some other array, or what lies around it. */
    const struct block *other = &r->blocks[below(r, r->block_count)];
    int64_t away = ((intptr_t)other->start - (intptr_t)from) / (int64_t)bytes;
    away += (int64_t)below(r, other->bytes / bytes + 1);
    return !is_long && (away < INT_MIN || away > INT_MAX) ? size : away;
  }
  }
}

/* A pointer that nothing may be accessed through. */
static void *wild_pointer(struct run *r, void *right)
{
  const struct block *other = &r->blocks[below(r, r->block_count)];
  uintptr_t address = (uintptr_t)right;
  switch (below(r, 10)) {
  case 0: address = 0; break;
  case 1: address = 1 + below(r, PAGE); break;
  case 2: address = UINTPTR_MAX - below(r, 64); break;
  case 3: address = (uintptr_t)0xdeadbeefdeadbeef; break;
  case 4: address += 1 + below(r, 3); break;
  case 5: address = (uintptr_t)check_random(r->check); break;
  case 6: address = (uintptr_t)other->start + other->bytes; break;
  case 7: address = (uintptr_t)other->start - 4; break;
  case 8: address = (uintptr_t)other->start; break;
  default: address = (uintptr_t)&wild_pointer; break;
  }
  return (void *)address;
}

/* ---- what each kind of loop starts with */

/* The calls are the same for loop and reference. */
#define EITHER(name) (is_reference ? reference_##name : name)

static void prepare_index(struct run *r, int64_t size, size_t bytes, const void *target, int scale)
{
  r->cells = array(r, 2 * (size_t)r->n, sizeof *r->cells);
  r->good = array(r, (size_t)r->n, sizeof *r->good);
  permute(r->check, r->cells, (size_t)r->n);
  for (int i = 0; i < r->n; i++)
    r->cells[i] *= scale;
  plan_repairs(r, r->cells, r->good, sizeof *r->cells, 1, 0);
  for (int k = 0; k < r->couple_count; k++)
    r->cells[spoiled(r, k)] = (int)wild_index(r, target, size, bytes, false);
}

static void prepare_words(struct run *r, size_t in, size_t out)
{
  r->in = in != 0 ? array(r, in, sizeof *r->in) : NULL;
  r->out = array(r, out, sizeof *r->out);
}

static void prepare_index_store(struct run *r)
{
  prepare_words(r, (size_t)r->n, (size_t)r->n);
  prepare_index(r, r->n, sizeof *r->out, r->out, 1);
}

static void prepare_index_load(struct run *r)
{
  prepare_words(r, (size_t)r->n, (size_t)r->n);
  prepare_index(r, r->n, sizeof *r->in, r->in, 1);
}

static uint64_t call_index_store(struct run *r, bool is_reference)
{
  EITHER(index_store_through_repaired)(r->n, r->where, r->good, r->cells, r->in, r->out);
  return 0;
}

static uint64_t call_index_load(struct run *r, bool is_reference)
{
  EITHER(index_load_through_repaired)(r->n, r->where, r->good, r->cells, r->in, r->out);
  return 0;
}

static uint64_t call_index_update(struct run *r, bool is_reference)
{
  EITHER(index_update_repaired)(r->n, r->where, r->good, r->cells, r->in, r->out);
  return 0;
}

static uint64_t call_index_sum(struct run *r, bool is_reference)
{
  return EITHER(index_sum_repaired)(r->n, r->where, r->good, r->cells, r->in);
}

static void prepare_index_arithmetic(struct run *r)
{
  prepare_words(r, (size_t)r->n, 3 * (size_t)r->n);
  prepare_index(r, r->n, 3 * sizeof *r->out, r->out, 1);
}

static uint64_t call_index_arithmetic(struct run *r, bool is_reference)
{
  EITHER(index_arithmetic_repaired)(r->n, r->where, r->good, r->cells, r->in, r->out);
  return 0;
}

static void prepare_long_index(struct run *r, const void *target, size_t bytes)
{
  size_t n = (size_t)r->n;
  int *order = check_alloc(r->check, n, sizeof *order);
  permute(r->check, order, n);
  r->long_cells = array(r, 2 * n, sizeof *r->long_cells);
  r->long_good = array(r, n, sizeof *r->long_good);
  for (size_t i = 0; i < n; i++)
    r->long_cells[i] = order[i];
  free(order);
  plan_repairs(r, r->long_cells, r->long_good, sizeof *r->long_cells, 1, 0);
  for (int k = 0; k < r->couple_count; k++)
    r->long_cells[spoiled(r, k)] = wild_index(r, target, r->n, bytes, true);
}

static void prepare_long_index_store(struct run *r)
{
  prepare_words(r, (size_t)r->n, (size_t)r->n);
  prepare_long_index(r, r->out, sizeof *r->out);
}

static void prepare_long_index_load(struct run *r)
{
  prepare_words(r, (size_t)r->n, (size_t)r->n);
  prepare_long_index(r, r->in, sizeof *r->in);
}

static uint64_t call_long_index_store(struct run *r, bool is_reference)
{
  EITHER(long_index_store_repaired)(r->n, r->where, r->long_good, r->long_cells, r->in, r->out);
  return 0;
}

static uint64_t call_long_index_load(struct run *r, bool is_reference)
{
  EITHER(long_index_load_repaired)(r->n, r->where, r->long_good, r->long_cells, r->in, r->out);
  return 0;
}

/* Offsets in bytes of words: half of the bad ones lead to four bytes that are no word, in the array or over one of
 * its ends. */
static void prepare_byte_offset(struct run *r)
{
  int size = 4 * r->n;
  prepare_words(r, (size_t)r->n, (size_t)r->n);
  r->bytes = array(r, (size_t)size, 1);
  prepare_index(r, size, 1, r->bytes, 4);
  for (int k = 0; k < r->couple_count; k++) {
    int words[] = {-1, r->n - 1, (int)below(r, (size_t)r->n)};
    if (below(r, 2) == 0)
      r->cells[spoiled(r, k)] = 4 * words[below(r, 3)] + 1 + (int)below(r, 3);
  }
}

static uint64_t call_byte_offset_store(struct run *r, bool is_reference)
{
  EITHER(byte_offset_store_repaired)(r->n, r->where, r->good, r->cells, r->in, r->bytes);
  return 0;
}

static uint64_t call_byte_offset_load(struct run *r, bool is_reference)
{
  EITHER(byte_offset_load_repaired)(r->n, r->where, r->good, r->cells, r->bytes, r->out);
  return 0;
}

static void prepare_row_store(struct run *r)
{
  prepare_words(r, (size_t)r->n, ROW * (size_t)r->n);
  prepare_index(r, r->n, ROW * sizeof *r->out, r->out, 1);
}

static uint64_t call_row_store(struct run *r, bool is_reference)
{
  EITHER(row_store_repaired)(r->n, r->where, r->good, r->cells, r->in, r->out);
  return 0;
}

static void prepare_row_length(struct run *r)
{
  prepare_words(r, (size_t)r->n, ROW * (size_t)r->n);
  r->cells = array(r, 2 * (size_t)r->n, sizeof *r->cells);
  r->good = array(r, (size_t)r->n, sizeof *r->good);
  for (int i = 0; i < r->n; i++)
    r->cells[i] = (int)below(r, ROW + 1) - (int)below(r, 2);
  plan_repairs(r, r->cells, r->good, sizeof *r->cells, 1, 0);
  for (int k = 0; k < r->couple_count; k++) {
    int bad[] = {ROW + 1, 2 * ROW, ROW * r->n, INT_MAX, INT_MIN, (int)random_word(r)};
    r->cells[spoiled(r, k)] = bad[below(r, 6)];
  }
}

static uint64_t call_row_length(struct run *r, bool is_reference)
{
  EITHER(row_length_repaired)(r->n, r->where, r->good, r->cells, r->in, r->out);
  return 0;
}

static void prepare_reals(struct run *r)
{
  r->real_in = array(r, (size_t)r->n, sizeof *r->real_in);
  r->real_out = array(r, (size_t)r->n, sizeof *r->real_out);
  fill_double(r->check, r->real_in, (size_t)r->n);
}

static void prepare_record_store(struct run *r)
{
  prepare_reals(r);
  r->records = array(r, (size_t)r->n, sizeof *r->records);
  prepare_index(r, r->n, sizeof *r->records, r->records, 1);
}

static uint64_t call_record_store(struct run *r, bool is_reference)
{
  EITHER(record_store_repaired)(r->n, r->where, r->good, r->cells, r->real_in, r->records);
  return 0;
}

/* Words in rows, with a zero behind each. Where it is missing, the text goes on, if need be behind the array; so
 * what nobody uses stands in front. */
static void prepare_sentinel(struct run *r)
{
  int n = r->n, column = (int)below(r, ROW);
  prepare_words(r, 0, (size_t)n);
  r->start = array(r, (size_t)n, sizeof *r->start);
  r->bytes = array(r, ((size_t)ROW + 1) * (size_t)n, 1);
  for (int i = 0; i < (ROW + 1) * n; i++)
    r->bytes[i] |= 1;
  for (int i = 0; i < n; i++) {
    r->start[i] = n + i * ROW + (int)below(r, (size_t)column + 1);
    r->bytes[n + i * ROW + column] = 0;
  }
  plan_repairs(r, NULL, NULL, 1, ROW, column);
  for (int i = 0; i < n; i++)
    r->where[i].start += r->where[i].start < n * ROW ? n : -n * ROW;
  for (int k = 0; k < r->couple_count; k++)
    r->bytes[spoiled(r, k)] = '.';
}

static uint64_t call_sentinel(struct run *r, bool is_reference)
{
  EITHER(sentinel_repaired)(r->n, r->where, r->start, r->bytes, r->out);
  return 0;
}

/* Pointers to the elements of an array, or each to an allocation of its own. */
static void prepare_pointers(struct run *r)
{
  enum { SEPARATE = 8 };
  size_t n = (size_t)r->n, separate = below(r, 2) == 0 ? 0 : SEPARATE < n ? SEPARATE : n;
  int *order = check_alloc(r->check, n, sizeof *order);
  permute(r->check, order, n);
  prepare_words(r, n, n);
  uint32_t *targets = array(r, n, sizeof *targets);
  r->pointers = array(r, 2 * n, sizeof *r->pointers);
  r->pointer_good = array(r, n, sizeof *r->pointer_good);
  for (size_t i = 0; i < n; i++)
    r->pointers[i] = order[i] < (int)separate ? array(r, 1, sizeof *targets) : targets + order[i];
  free(order);
  memset(r->pointers + n, 0, n * sizeof *r->pointers);
  plan_repairs(r, r->pointers, r->pointer_good, sizeof *r->pointers, 1, 0);
}

static void prepare_pointer(struct run *r)
{
  prepare_pointers(r);
  for (int k = 0; k < r->couple_count; k++) {
    uint32_t **cell = &r->pointers[spoiled(r, k)];
    *cell = wild_pointer(r, *cell);
  }
}

static uint64_t call_pointer_store(struct run *r, bool is_reference)
{
  EITHER(pointer_store_repaired)(r->n, r->where, r->pointer_good, r->pointers, r->in);
  return 0;
}

static uint64_t call_pointer_load(struct run *r, bool is_reference)
{
  EITHER(pointer_load_repaired)(r->n, r->where, r->pointer_good, r->pointers, r->out);
  return 0;
}

enum { LENGTH = 4 };

/* A list of some nodes for each iteration, whose last one is repaired. */
static void prepare_lists(struct run *r)
{
  int n = r->n;
  prepare_words(r, 0, (size_t)n);
  r->nodes = array(r, ((size_t)LENGTH + 1) * (size_t)n, sizeof *r->nodes);
  r->heads = array(r, (size_t)n, sizeof(struct node *));
  r->node_good = array(r, (size_t)n, sizeof(struct node *));
  for (int i = 0; i < (LENGTH + 1) * n; i++)
    r->nodes[i].next = i % LENGTH == LENGTH - 1 || i >= LENGTH * n ? NULL : &r->nodes[i + 1];
  for (int i = 0; i < n; i++) {
    r->heads[i] = &r->nodes[i * LENGTH + (int)below(r, LENGTH)];
    r->node_good[i] = NULL;
  }
  plan_repairs(r, NULL, NULL, 0, LENGTH, LENGTH - 1);
}

static void prepare_list_walk(struct run *r)
{
  prepare_lists(r);
  for (int k = 0; k < r->couple_count; k++) {
    struct node *last = &r->nodes[spoiled(r, k)];
    do
      last->next = wild_pointer(r, last);
    while (last->next == NULL);
  }
}

static uint64_t call_list_walk(struct run *r, bool is_reference)
{
  EITHER(list_walk_repaired)(r->n, r->where, r->node_good, r->nodes, r->heads, r->out);
  return 0;
}

static void prepare_endless_list(struct run *r)
{
  prepare_lists(r);
  for (int k = 0; k < r->couple_count; k++) {
    struct node *last = &r->nodes[spoiled(r, k)];
    last->next = last - below(r, LENGTH);
  }
}

static uint64_t call_endless_list(struct run *r, bool is_reference)
{
  EITHER(endless_list_repaired)(r->n, r->where, r->node_good, r->nodes, r->heads);
  return 0;
}

/* A number of up to so many bits, which is neither 0 nor, if it is signed, -1. */
static int64_t random_divisor(struct run *r, unsigned bits)
{
  int64_t value = (int64_t)check_random(r->check) >> (64 - 2 - below(r, bits - 1));
  return value == 0 || value == -1 ? 3 : value;
}

static void prepare_division_int(struct run *r)
{
  size_t n = (size_t)r->n;
  r->numbers = array(r, n, sizeof *r->numbers);
  r->results = array(r, n, sizeof *r->results);
  r->cells = array(r, 2 * n, sizeof *r->cells);
  r->good = array(r, n, sizeof *r->good);
  for (size_t i = 0; i < n; i++)
    r->cells[i] = (int)random_divisor(r, 32);
  plan_repairs(r, r->cells, r->good, sizeof *r->cells, 1, 0);
  for (int k = 0; k < r->couple_count; k++) {
    bool overflows = below(r, 2) == 0;
    r->cells[spoiled(r, k)] = overflows ? -1 : 0;
    if (overflows)
      r->numbers[r->couples[k].second] = INT_MIN;
  }
}

static uint64_t call_division_int(struct run *r, bool is_reference)
{
  EITHER(division_int_repaired)(r->n, r->where, r->good, r->cells, r->numbers, r->results);
  return 0;
}

static uint64_t call_remainder_int(struct run *r, bool is_reference)
{
  EITHER(remainder_int_repaired)(r->n, r->where, r->good, r->cells, r->numbers, r->results);
  return 0;
}

static void prepare_division_unsigned(struct run *r)
{
  size_t n = (size_t)r->n;
  prepare_words(r, n, n);
  r->unsigned_cells = array(r, 2 * n, sizeof *r->unsigned_cells);
  r->unsigned_good = array(r, n, sizeof *r->unsigned_good);
  for (size_t i = 0; i < n; i++)
    r->unsigned_cells[i] = (uint32_t)random_divisor(r, 32);
  plan_repairs(r, r->unsigned_cells, r->unsigned_good, sizeof *r->unsigned_cells, 1, 0);
  for (int k = 0; k < r->couple_count; k++)
    r->unsigned_cells[spoiled(r, k)] = 0;
}

static uint64_t call_division_unsigned(struct run *r, bool is_reference)
{
  EITHER(division_unsigned_repaired)(r->n, r->where, r->unsigned_good, r->unsigned_cells, r->in, r->out);
  return 0;
}

static void prepare_division_long(struct run *r)
{
  size_t n = (size_t)r->n;
  r->long_numbers = array(r, n, sizeof *r->long_numbers);
  r->long_results = array(r, n, sizeof *r->long_results);
  r->long_cells = array(r, 2 * n, sizeof *r->long_cells);
  r->long_good = array(r, n, sizeof *r->long_good);
  for (size_t i = 0; i < n; i++)
    r->long_cells[i] = random_divisor(r, 64);
  plan_repairs(r, r->long_cells, r->long_good, sizeof *r->long_cells, 1, 0);
  for (int k = 0; k < r->couple_count; k++) {
    bool overflows = below(r, 2) == 0;
    r->long_cells[spoiled(r, k)] = overflows ? -1 : 0;
    if (overflows)
      r->long_numbers[r->couples[k].second] = INT64_MIN;
  }
}

static uint64_t call_division_long(struct run *r, bool is_reference)
{
  EITHER(division_long_repaired)(r->n, r->where, r->long_good, r->long_cells, r->long_numbers, r->long_results);
  return 0;
}

static uint64_t call_remainder_long(struct run *r, bool is_reference)
{
  EITHER(remainder_long_repaired)(r->n, r->where, r->long_good, r->long_cells, r->long_numbers, r->long_results);
  return 0;
}

static void prepare_shift(struct run *r)
{
  size_t n = (size_t)r->n;
  prepare_words(r, n, n);
  r->long_results = array(r, n, sizeof *r->long_results);
  r->cells = array(r, 2 * n, sizeof *r->cells);
  r->good = array(r, n, sizeof *r->good);
  for (size_t i = 0; i < n; i++)
    r->cells[i] = (int)below(r, 31);
  plan_repairs(r, r->cells, r->good, sizeof *r->cells, 1, 0);
  for (int k = 0; k < r->couple_count; k++) {
    const int bad[] = {32, 33, 63, 64, 255, -1, INT_MIN, INT_MAX, (int)random_word(r)};
    r->cells[spoiled(r, k)] = bad[below(r, 9)];
  }
}

static uint64_t call_shift(struct run *r, bool is_reference)
{
  EITHER(shift_repaired)(r->n, r->where, r->good, r->cells, r->in, r->out, r->long_results);
  return 0;
}

static double wild_real(struct run *r)
{
  static const double bad[] = {0x1p31, -0x1p31 - 1, 0x1p32, -1.0,     0x1p63,    -0x1.8p63,
                               0x1p64, 1e30,        -1e30,  INFINITY, -INFINITY, NAN};
  return bad[below(r, sizeof bad / sizeof bad[0])];
}

static void prepare_conversion(struct run *r)
{
  size_t n = (size_t)r->n;
  r->results = array(r, n, sizeof *r->results);
  r->out = array(r, n, sizeof *r->out);
  r->long_results = array(r, n, sizeof *r->long_results);
  r->real_cells = array(r, 2 * n, sizeof *r->real_cells);
  r->real_good = array(r, n, sizeof *r->real_good);
  for (size_t i = 0; i < n; i++)
    r->real_cells[i] = check_real(r->check) * 0x1p31;
  plan_repairs(r, r->real_cells, r->real_good, sizeof *r->real_cells, 1, 0);
  for (int k = 0; k < r->couple_count; k++)
    r->real_cells[spoiled(r, k)] = wild_real(r);
}

static uint64_t call_conversion(struct run *r, bool is_reference)
{
  EITHER(conversion_repaired)(r->n, r->where, r->real_good, r->real_cells, r->results, r->out, r->long_results);
  return 0;
}

static void prepare_conversion_index(struct run *r)
{
  size_t n = (size_t)r->n;
  int *order = check_alloc(r->check, n, sizeof *order);
  permute(r->check, order, n);
  prepare_words(r, n, n);
  r->float_cells = array(r, 2 * n, sizeof *r->float_cells);
  r->float_good = array(r, n, sizeof *r->float_good);
  for (size_t i = 0; i < n; i++)
    r->float_cells[i] = (float)order[i] + 0.25f;
  free(order);
  plan_repairs(r, r->float_cells, r->float_good, sizeof *r->float_cells, 1, 0);
  for (int k = 0; k < r->couple_count; k++)
    r->float_cells[spoiled(r, k)] = (float)wild_real(r);
}

static uint64_t call_conversion_index(struct run *r, bool is_reference)
{
  EITHER(conversion_index_repaired)(r->n, r->where, r->float_good, r->float_cells, r->in, r->out);
  return 0;
}

/* Zeros that are divided by zero as long as the divisors are those from before the loop. In some runs the program
 * itself makes NaNs, too. */
static void prepare_nan(struct run *r)
{
  size_t n = (size_t)r->n;
  prepare_reals(r);
  r->float_out = array(r, n, sizeof *r->float_out);
  r->real_cells = array(r, 2 * n, sizeof *r->real_cells);
  r->real_good = array(r, n, sizeof *r->real_good);
  for (size_t i = 0; i < n; i++)
    r->real_cells[i] = check_real(r->check) + 0.5;
  if (r->is_faulty && below(r, 4) == 0) {
    size_t i = below(r, n);
    r->real_cells[i] = r->real_in[i] = 0.0;
  }
  plan_repairs(r, r->real_cells, r->real_good, sizeof *r->real_cells, 1, 0);
  for (int k = 0; k < r->couple_count; k++) {
    r->real_cells[spoiled(r, k)] = below(r, 4) == 0 ? wild_real(r) : 0.0;
    r->real_in[r->couples[k].second] = 0.0;
  }
}

static uint64_t call_nan(struct run *r, bool is_reference)
{
  EITHER(nan_repaired)(r->n, r->where, r->real_good, r->real_cells, r->real_in, r->real_out, r->float_out);
  return 0;
}

/* A chain of some cells for each iteration; the last of them leads back until it is repaired. */
static void prepare_chain(struct run *r)
{
  int n = r->n;
  prepare_words(r, 0, LENGTH * (size_t)n);
  r->start = array(r, (size_t)n, sizeof *r->start);
  r->cells = array(r, ((size_t)LENGTH + 1) * (size_t)n, sizeof *r->cells);
  r->good = array(r, (size_t)n, sizeof *r->good);
  for (int i = 0; i < (LENGTH + 1) * n; i++)
    r->cells[i] = i % LENGTH == LENGTH - 1 || i >= LENGTH * n ? -1 : i + 1;
  for (int i = 0; i < n; i++)
    r->start[i] = i * LENGTH + (int)below(r, LENGTH);
  plan_repairs(r, r->cells, r->good, sizeof *r->cells, LENGTH, LENGTH - 1);
  for (int k = 0; k < r->couple_count; k++) {
    size_t cell = spoiled(r, k);
    r->cells[cell] = (int)(cell - below(r, LENGTH));
  }
}

static uint64_t call_endless_chain(struct run *r, bool is_reference)
{
  EITHER(endless_chain_repaired)(r->n, r->where, r->good, r->cells, r->start, r->out);
  return 0;
}

static void prepare_around(struct run *r, int turns)
{
  prepare_chain(r);
  r->numbers = array(r, ((size_t)LENGTH + 1) * (size_t)r->n, sizeof *r->numbers);
  for (int i = 0; i < (LENGTH + 1) * r->n; i++)
    r->numbers[i] = turns;
}

static void prepare_around_none(struct run *r) { prepare_around(r, 0); }

static void prepare_around_many(struct run *r) { prepare_around(r, 1500); }

static uint64_t call_endless_around(struct run *r, bool is_reference)
{
  EITHER(endless_around_repaired)(r->n, r->where, r->good, r->cells, r->start, r->numbers, r->out);
  return 0;
}

static uint64_t call_endless_store(struct run *r, bool is_reference)
{
  EITHER(endless_store_repaired)(r->n, r->where, r->good, r->cells, r->start, r->out);
  return 0;
}

static void prepare_step(struct run *r)
{
  size_t n = (size_t)r->n;
  prepare_words(r, 0, n);
  r->numbers = array(r, n, sizeof *r->numbers);
  r->cells = array(r, 2 * n, sizeof *r->cells);
  r->good = array(r, n, sizeof *r->good);
  for (size_t i = 0; i < n; i++)
    r->cells[i] = 1 + (int)below(r, 5);
  plan_repairs(r, r->cells, r->good, sizeof *r->cells, 1, 0);
  for (size_t i = 0; i < n; i++)
    r->numbers[i] = r->cells[i] * (1 + (int)below(r, 20));
  for (int k = 0; k < r->couple_count; k++)
    r->cells[spoiled(r, k)] = below(r, 4) == 0 ? INT_MIN : 0;
}

static uint64_t call_endless_step(struct run *r, bool is_reference)
{
  EITHER(endless_step_repaired)(r->n, r->where, r->good, r->cells, r->numbers, r->out);
  return 0;
}

static void prepare_condition(struct run *r)
{
  size_t n = (size_t)r->n;
  prepare_words(r, 0, n);
  r->cells = array(r, 2 * n, sizeof *r->cells);
  r->good = array(r, n, sizeof *r->good);
  for (size_t i = 0; i < n; i++) {
    int k = (int)i & 1023;
    for (size_t turns = 1 + below(r, 20); turns != 0; turns--)
      k = (k * 5 + 3) & 1023;
    r->cells[i] = k;
  }
  plan_repairs(r, r->cells, r->good, sizeof *r->cells, 1, 0);
  for (int k = 0; k < r->couple_count; k++)
    r->cells[spoiled(r, k)] = below(r, 2) == 0 ? -1 : 1024;
}

static uint64_t call_endless_condition(struct run *r, bool is_reference)
{
  EITHER(endless_condition_repaired)(r->n, r->where, r->good, r->cells, r->out);
  return 0;
}

static void prepare_count(struct run *r)
{
  static const int64_t bad[] = {INT64_C(1) << 31, INT64_C(1) << 40, INT64_MAX};
  size_t n = (size_t)r->n;
  prepare_words(r, 0, n);
  r->long_cells = array(r, 2 * n, sizeof *r->long_cells);
  r->long_good = array(r, n, sizeof *r->long_good);
  for (size_t i = 0; i < n; i++)
    r->long_cells[i] = (int64_t)below(r, 20) - 2;
  plan_repairs(r, r->long_cells, r->long_good, sizeof *r->long_cells, 1, 0);
  for (int k = 0; k < r->couple_count; k++)
    r->long_cells[spoiled(r, k)] = bad[below(r, 3)];
}

static uint64_t call_endless_count(struct run *r, bool is_reference)
{
  EITHER(endless_count_repaired)(r->n, r->where, r->long_good, r->long_cells, r->out);
  return 0;
}

static void prepare_own_array(struct run *r)
{
  size_t n = (size_t)r->n;
  prepare_words(r, n, n);
  r->cells = array(r, 2 * n, sizeof *r->cells);
  r->good = array(r, n, sizeof *r->good);
  for (size_t i = 0; i < n; i++)
    r->cells[i] = (int)below(r, OWN);
  plan_repairs(r, r->cells, r->good, sizeof *r->cells, 1, 0);
  for (int k = 0; k < r->couple_count; k++)
    r->cells[spoiled(r, k)] = (int)wild_index(r, &r, OWN, sizeof *r->in, false);
}

static uint64_t call_own_array_store(struct run *r, bool is_reference)
{
  EITHER(own_array_store_repaired)(r->n, r->where, r->good, r->cells, r->in, r->out);
  return 0;
}

static uint64_t call_own_array_load(struct run *r, bool is_reference)
{
  EITHER(own_array_load_repaired)(r->n, r->where, r->good, r->cells, r->in, r->out);
  return 0;
}

static void prepare_guard_store(struct run *r)
{
  size_t n = (size_t)r->n;
  prepare_words(r, n, n);
  r->numbers = array(r, n, sizeof *r->numbers);
  r->cells = array(r, 2 * n, sizeof *r->cells);
  r->good = array(r, n, sizeof *r->good);
  permute(r->check, r->numbers, n);
  for (size_t i = 0; i < n; i++)
    r->cells[i] = 1;
  for (int k = 0; k < r->couple_count; k++)
    r->cells[r->couples[k].second] = 0;
  plan_repairs(r, r->cells, r->good, sizeof *r->cells, 1, 0);
  for (int k = 0; k < r->couple_count; k++) {
    r->cells[spoiled(r, k)] = 1;
    r->numbers[r->couples[k].second] = (int)wild_index(r, r->out, r->n, sizeof *r->out, false);
  }
}

static uint64_t call_guard_store(struct run *r, bool is_reference)
{
  EITHER(guard_store_repaired)(r->n, r->where, r->good, r->cells, r->numbers, r->in, r->out);
  return 0;
}

static void prepare_guard_division(struct run *r)
{
  size_t n = (size_t)r->n;
  r->numbers = array(r, n, sizeof *r->numbers);
  r->results = array(r, n, sizeof *r->results);
  r->cells = array(r, 2 * n, sizeof *r->cells);
  r->good = array(r, n, sizeof *r->good);
  for (size_t i = 0; i < n; i++)
    r->cells[i] = (int)random_divisor(r, 32);
  for (int k = 0; k < r->couple_count; k++)
    r->cells[r->couples[k].second] = 0;
  plan_repairs(r, r->cells, r->good, sizeof *r->cells, 1, 0);
  for (int k = 0; k < r->couple_count; k++)
    r->cells[spoiled(r, k)] = (int)random_divisor(r, 32);
}

static uint64_t call_guard_division(struct run *r, bool is_reference)
{
  EITHER(guard_division_repaired)(r->n, r->where, r->good, r->cells, r->numbers, r->results);
  return 0;
}

static void prepare_guard_pointer(struct run *r)
{
  prepare_pointers(r);
  for (int k = 0; k < r->couple_count; k++) {
    uint32_t **cell = &r->pointers[spoiled(r, k)];
    *cell = wild_pointer(r, *cell);
    r->pointer_good[r->couples[k].first] = NULL;
  }
}

static uint64_t call_guard_pointer(struct run *r, bool is_reference)
{
  EITHER(guard_pointer_repaired)(r->n, r->where, r->pointer_good, r->pointers, r->in);
  return 0;
}

/* Each row ends at an element that is told by its value; behind it, places are wild where that value is repaired. */
static void prepare_break_inner(struct run *r)
{
  size_t n = (size_t)r->n;
  prepare_words(r, ROW * n, ROW * n);
  r->numbers = array(r, ROW * n, sizeof *r->numbers);
  r->unsigned_cells = array(r, 2 * n, sizeof *r->unsigned_cells);
  r->unsigned_good = array(r, n, sizeof *r->unsigned_good);
  permute(r->check, r->numbers, ROW * n);
  for (size_t i = 0; i < n; i++)
    r->unsigned_cells[i] = r->in[ROW * i + below(r, ROW)];
  plan_repairs(r, r->unsigned_cells, r->unsigned_good, sizeof *r->unsigned_cells, 1, 0);
  for (int k = 0; k < r->couple_count; k++) {
    size_t late = r->couples[k].second, last = ROW;
    while (r->in[ROW * late + last - 1] != r->unsigned_cells[late])
      r->numbers[ROW * late + --last] = (int)wild_index(r, r->out, ROW * r->n, sizeof *r->out, false);
    r->unsigned_cells[spoiled(r, k)] = 0;
  }
}

static uint64_t call_break_inner(struct run *r, bool is_reference)
{
  EITHER(break_inner_repaired)(r->n, r->where, r->unsigned_good, r->unsigned_cells, r->numbers, r->in, r->out);
  return 0;
}

/* From the iteration on that sets the flag everything is wild. */
static void prepare_stop_flag(struct run *r)
{
  size_t n = (size_t)r->n;
  prepare_words(r, n, n);
  r->numbers = array(r, n, sizeof *r->numbers);
  r->unsigned_cells = array(r, 2 * n, sizeof *r->unsigned_cells);
  permute(r->check, r->numbers, n);
  r->unsigned_cells[0] = 0;
  bool is_stopped = r->couple_count != 0;
  size_t early = is_stopped ? r->couples[below(r, (size_t)r->couple_count)].first : 0;
  r->couple_count = 0;
  plan_repairs(r, NULL, NULL, 0, 1, 0);
  if (is_stopped) {
    store_in(r, early, 0);
    for (size_t i = early + 1; i < n; i++)
      r->numbers[i] = (int)wild_index(r, r->out, r->n, sizeof *r->out, false);
  }
}

static uint64_t call_stop_flag(struct run *r, bool is_reference)
{
  EITHER(stop_flag_repaired)(r->n, r->where, r->unsigned_cells, r->numbers, r->in, r->out);
  return 0;
}

/* ---- loops that the program comes to grief in */

/* Memory that isn't there: pages that nobody may access, and pages of a file that is shorter. And some pages that
 * are there, between such pages and pages that may only be read. */
static unsigned char *missing, *behind_file, *island;
static const size_t missing_bytes = (size_t)PAGE * MISSING_PAGES, island_bytes = (size_t)PAGE * 4;

static unsigned char *map(const struct check *c, size_t bytes, int protection, int flags, int file)
{
  unsigned char *pages = mmap(NULL, bytes, protection, flags, file, 0);
  if (pages == MAP_FAILED)
    check_die(c, "can't map memory", "");
  return pages;
}

static void map_missing_memory(const struct check *c)
{
  int file = memfd_create("empty", 0);
  if (file < 0)
    check_die(c, "can't create a file", "");
  behind_file = map(c, missing_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file);
  close(file);
  missing = map(c, 2 * missing_bytes + island_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  island = missing + missing_bytes;
  if (mprotect(island, island_bytes, PROT_READ | PROT_WRITE) != 0)
    check_die(c, "can't protect memory", "");
}

/* What is behind the island: something to read, or nothing. */
static void set_behind_island(const struct check *c, int protection)
{
  if (mprotect(island + island_bytes, missing_bytes, protection) != 0)
    check_die(c, "can't protect memory", "");
}

/* Takes one of the couples for the fault, before the others are distributed. */
static void pick_fatal(struct run *r)
{
  r->has_fatal = r->couple_count != 0;
  r->is_stored = below(r, 2) == 0;
  if (r->has_fatal) {
    size_t chosen = below(r, (size_t)r->couple_count);
    r->fatal = r->couples[chosen];
    r->couples[chosen] = r->couples[--r->couple_count];
  }
}

/* Puts what is fatal where its iteration finds it. */
static void plant_fatal(struct run *r, void *cells, void *good, size_t size, const void *fatal)
{
  if (!r->has_fatal)
    return;
  if (r->is_stored) {
    store_in(r, r->fatal.first, (int)r->fatal.second);
    memcpy((char *)good + r->fatal.first * size, fatal, size);
  } else {
    memcpy((char *)cells + r->fatal.second * size, fatal, size);
  }
}

static uint32_t *word_that_is_missing(struct run *r)
{
  return (uint32_t *)(void *)(below(r, 4) == 0 ? behind_file : missing) + below(r, missing_bytes / sizeof(uint32_t));
}

static void prepare_crash_division(struct run *r)
{
  pick_fatal(r);
  prepare_division_int(r);
  int divisor = below(r, 2) == 0 ? -1 : 0;
  if (r->has_fatal && divisor == -1)
    r->numbers[r->fatal.second] = INT_MIN;
  plant_fatal(r, r->cells, r->good, sizeof divisor, &divisor);
}

static uint64_t call_crash_division(struct run *r, bool is_reference)
{
  EITHER(crash_division)(r->n, r->where, r->good, r->cells, r->numbers, r->results);
  return 0;
}

static void plant_fatal_index(struct run *r, const uint32_t *from)
{
  int64_t index = ((intptr_t)word_that_is_missing(r) - (intptr_t)from) / (int64_t)sizeof *from;
  if (below(r, 4) == 0)
    index = INT64_C(1) << 60;
  plant_fatal(r, r->long_cells, r->long_good, sizeof index, &index);
}

static void prepare_crash_store(struct run *r)
{
  pick_fatal(r);
  prepare_long_index_store(r);
  plant_fatal_index(r, r->out);
}

static uint64_t call_crash_store(struct run *r, bool is_reference)
{
  EITHER(crash_store)(r->n, r->where, r->long_good, r->long_cells, r->in, r->out);
  return 0;
}

static void prepare_crash_load(struct run *r)
{
  pick_fatal(r);
  prepare_long_index_load(r);
  plant_fatal_index(r, r->in);
}

static uint64_t call_crash_load(struct run *r, bool is_reference)
{
  EITHER(crash_load)(r->n, r->where, r->long_good, r->long_cells, r->in, r->out);
  return 0;
}

static void prepare_crash_pointer(struct run *r)
{
  pick_fatal(r);
  prepare_pointer(r);
  uint32_t *fatal = below(r, 2) == 0 ? word_that_is_missing(r) : NULL;
  plant_fatal(r, r->pointers, r->pointer_good, sizeof fatal, &fatal);
}

static uint64_t call_crash_pointer(struct run *r, bool is_reference)
{
  EITHER(crash_pointer)(r->n, r->where, r->pointer_good, r->pointers, r->in);
  return 0;
}

/* An array that ends where memory ends, before the loop does. */
static uint32_t *array_at_end(struct run *r, int protection)
{
  pick_fatal(r);
  set_behind_island(r->check, protection);
  r->blocks[r->block_count++] = (struct block){island, island_bytes, false};
  fill(r, island, island_bytes);
  return (uint32_t *)(void *)(island + island_bytes) - (r->has_fatal ? r->fatal.second : (size_t)r->n);
}

static void prepare_crash_end(struct run *r)
{
  uint32_t *at_end = array_at_end(r, PROT_NONE);
  uint32_t *other = array(r, (size_t)r->n, sizeof *other);
  bool is_load = below(r, 2) == 0;
  r->in = is_load ? at_end : other;
  r->out = is_load ? other : at_end;
}

static void prepare_crash_read_only(struct run *r)
{
  r->out = array_at_end(r, PROT_READ);
  r->in = array(r, (size_t)r->n, sizeof *r->in);
}

static uint64_t call_crash_read_only(struct run *r, bool is_reference)
{
  EITHER(crash_read_only)(r->n, r->in, r->out);
  return 0;
}

static uint64_t call_crash_end(struct run *r, bool is_reference)
{
  EITHER(crash_end)(r->n, r->in, r->out);
  return 0;
}

/* ---- kinds */

struct kind {
  const char *name;
  void (*prepare)(struct run *);
  uint64_t (*call)(struct run *, bool is_reference);
  /* Whether the program itself comes to grief. */
  enum { NEVER, IN_ITS_ORDER, ANYWHERE } crashes;
};

static const struct kind kinds[] = {
    {"index-store-through-repaired", prepare_index_store, call_index_store, NEVER},
    {"index-load-through-repaired", prepare_index_load, call_index_load, NEVER},
    {"long-index-store-repaired", prepare_long_index_store, call_long_index_store, NEVER},
    {"long-index-load-repaired", prepare_long_index_load, call_long_index_load, NEVER},
    {"byte-offset-store-repaired", prepare_byte_offset, call_byte_offset_store, NEVER},
    {"byte-offset-load-repaired", prepare_byte_offset, call_byte_offset_load, NEVER},
    {"index-arithmetic-repaired", prepare_index_arithmetic, call_index_arithmetic, NEVER},
    {"index-update-repaired", prepare_index_store, call_index_update, NEVER},
    {"row-store-repaired", prepare_row_store, call_row_store, NEVER},
    {"row-length-repaired", prepare_row_length, call_row_length, NEVER},
    {"record-store-repaired", prepare_record_store, call_record_store, NEVER},
    {"index-sum-repaired", prepare_index_load, call_index_sum, NEVER},
    {"sentinel-repaired", prepare_sentinel, call_sentinel, NEVER},
    {"pointer-store-repaired", prepare_pointer, call_pointer_store, NEVER},
    {"pointer-load-repaired", prepare_pointer, call_pointer_load, NEVER},
    {"list-walk-repaired", prepare_list_walk, call_list_walk, NEVER},
    {"division-int-repaired", prepare_division_int, call_division_int, NEVER},
    {"remainder-int-repaired", prepare_division_int, call_remainder_int, NEVER},
    {"division-unsigned-repaired", prepare_division_unsigned, call_division_unsigned, NEVER},
    {"division-long-repaired", prepare_division_long, call_division_long, NEVER},
    {"remainder-long-repaired", prepare_division_long, call_remainder_long, NEVER},
    {"shift-repaired", prepare_shift, call_shift, NEVER},
    {"conversion-repaired", prepare_conversion, call_conversion, NEVER},
    {"conversion-index-repaired", prepare_conversion_index, call_conversion_index, NEVER},
    {"nan-repaired", prepare_nan, call_nan, NEVER},
    {"own-array-store-repaired", prepare_own_array, call_own_array_store, NEVER},
    {"own-array-load-repaired", prepare_own_array, call_own_array_load, NEVER},
    {"guard-store-repaired", prepare_guard_store, call_guard_store, NEVER},
    {"guard-division-repaired", prepare_guard_division, call_guard_division, NEVER},
    {"guard-pointer-repaired", prepare_guard_pointer, call_guard_pointer, NEVER},
    {"break-inner-repaired", prepare_break_inner, call_break_inner, NEVER},
    {"stop-flag-repaired", prepare_stop_flag, call_stop_flag, NEVER},
    {"crash-division", prepare_crash_division, call_crash_division, ANYWHERE},
    {"crash-store", prepare_crash_store, call_crash_store, IN_ITS_ORDER},
    {"crash-load", prepare_crash_load, call_crash_load, IN_ITS_ORDER},
    {"crash-pointer", prepare_crash_pointer, call_crash_pointer, IN_ITS_ORDER},
    {"crash-end", prepare_crash_end, call_crash_end, IN_ITS_ORDER},
    {"crash-read-only", prepare_crash_read_only, call_crash_read_only, IN_ITS_ORDER},
    {"endless-chain-repaired", prepare_chain, call_endless_chain, NEVER},
    {"endless-around-none-repaired", prepare_around_none, call_endless_around, NEVER},
    {"endless-around-many-repaired", prepare_around_many, call_endless_around, NEVER},
    {"endless-step-repaired", prepare_step, call_endless_step, NEVER},
    {"endless-condition-repaired", prepare_condition, call_endless_condition, NEVER},
    {"endless-count-repaired", prepare_count, call_endless_count, NEVER},
    {"endless-store-repaired", prepare_chain, call_endless_store, NEVER},
    {"endless-list-repaired", prepare_endless_list, call_endless_list, NEVER},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* ---- attempts */

static sigjmp_buf escape;
static volatile sig_atomic_t may_escape;
static void *volatile address_of_fault;
/* What is under way, for whoever has to stop the program. */
static const char *volatile kind_under_way = "";
static volatile uint64_t run_under_way;
static volatile pid_t child_under_way;

static void say(const char *kind, uint64_t run, const char *what)
{
  char text[200];
  int length = snprintf(text, sizeof text, "%s: run %" PRIu64 ": %s\n", kind, run, what);
  if (length > 0 && write(STDERR_FILENO, text, (size_t)length) < 0)
    _exit(2);
}

static void come_to_grief(int number, siginfo_t *fault, void *context)
{
  (void)context;
  if (syscall(SYS_gettid) != getpid()) {
    say(kind_under_way, run_under_way, "a fault on a thread that isn't the program's");
    _exit(1);
  }
  if (may_escape != 0) {
    /* Where a division stands in the program is no part of what it does. */
    address_of_fault = number == SIGSEGV || number == SIGBUS ? fault->si_addr : NULL;
    siglongjmp(escape, number);
  }
  signal(number, SIG_DFL);
}

static void be_stopped(int number)
{
  (void)number;
  say(kind_under_way, run_under_way, "stopped");
  if (child_under_way != 0)
    kill(child_under_way, SIGTERM);
  _exit(1);
}

static void catch_signals(void)
{
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL}, requests[] = {SIGTERM, SIGINT, SIGALRM};
  struct sigaction action = {.sa_sigaction = come_to_grief, .sa_flags = SA_SIGINFO};
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
    sigaction(faults[i], &action, NULL);
  action = (struct sigaction){.sa_handler = be_stopped};
  for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++)
    sigaction(requests[i], &action, NULL);
}

/* What there is to see of a call besides memory. */
struct outcome {
  uint64_t result;
  int signal, error;
  void *address; /* that the signal is about */
  unsigned flags; /* of floating-point exceptions */
};

static unsigned take_flags(void)
{
#ifdef __SSE2__
  unsigned state = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(state & ~0x3fu);
  return state & 0x3f;
#else
  return 0;
#endif
}

static struct outcome attempt(const struct kind *kind, struct run *r, bool is_reference)
{
  static struct outcome outcome; /* in memory, so that what is in it outlasts a jump */
  outcome = (struct outcome){0};
  take_flags();
  errno = 0;
  int number = sigsetjmp(escape, 1);
  if (number == 0) {
    may_escape = 1;
    outcome.result = kind->call(r, is_reference);
    outcome.error = errno;
    outcome.flags = take_flags();
  }
  may_escape = 0;
  outcome.signal = number;
  outcome.address = number != 0 ? address_of_fault : NULL;
  return outcome;
}

static unsigned char *save(struct run *r, unsigned char *saved)
{
  size_t bytes = 0;
  for (size_t i = 0; i < r->block_count; i++)
    bytes += r->blocks[i].bytes;
  saved = realloc(saved, bytes);
  if (saved == NULL)
    check_die(r->check, "out of memory", "");
  unsigned char *to = saved;
  for (size_t i = 0; i < r->block_count; to += r->blocks[i++].bytes)
    memcpy(to, r->blocks[i].start, r->blocks[i].bytes);
  return saved;
}

static void restore(struct run *r, const unsigned char *saved)
{
  for (size_t i = 0; i < r->block_count; saved += r->blocks[i++].bytes)
    memcpy(r->blocks[i].start, saved, r->blocks[i].bytes);
}

static bool is_same(const struct run *r, const unsigned char *saved)
{
  bool same = true;
  for (size_t i = 0; i < r->block_count; saved += r->blocks[i++].bytes)
    same = same && memcmp(r->blocks[i].start, saved, r->blocks[i].bytes) == 0;
  return same;
}

struct counts {
  uint64_t runs, wrong, crashes;
};

static bool is_faulty(uint64_t number)
{
  return number % 2 == 1;
}

static void run_here(struct check *c, const struct kind *kind, uint64_t number, struct counts *counts)
{
  struct run *r = check_alloc(c, 1, sizeof *r);
  *r = (struct run){.check = c, .is_faulty = is_faulty(number)};
  c->state = check_hash(kind->name, strlen(kind->name)) ^ check_hash(&c->seed, sizeof c->seed) ^ number;
  kind_under_way = kind->name;
  run_under_way = number;
  pick_couples(r);
  kind->prepare(r);
  if (below(r, 3) == 0)
    spoil_late(r);
  slow_down(r);
  new_block(r, GUARD);

  unsigned char *before = save(r, NULL);
  struct outcome found = attempt(kind, r, false);
  unsigned char *after = save(r, NULL);
  restore(r, before);
  struct outcome expected = attempt(kind, r, true);

  const char *wrong = NULL;
  if (found.signal != expected.signal)
    wrong = found.signal != 0 ? "a signal that isn't due" : "a signal is missing";
  else if (!is_same(r, after))
    wrong = "wrong memory";
  else if (found.address != expected.address)
    wrong = "a fault at another address";
  else if (found.result != expected.result)
    wrong = "a wrong result";
  else if (found.error != expected.error)
    wrong = "a wrong errno";
  else if ((found.flags & ~expected.flags) != 0)
    wrong = "a floating-point exception flag that isn't due";
  else if ((expected.signal != 0) != (kind->crashes != NEVER && r->is_faulty))
    wrong = "the reference does what it shouldn't";
  if (wrong != NULL)
    say(kind->name, number, wrong);
  counts->runs++;
  counts->wrong += wrong != NULL;
  counts->crashes += found.signal != 0;

  free(before);
  free(after);
  while (r->block_count-- != 0)
    if (r->blocks[r->block_count].is_allocated)
      free(r->blocks[r->block_count].start);
  free(r);
}

/* In a process of its own, which says by its exit status whether all was right. */
static void run_apart(const struct check *c, const struct kind *kind, uint64_t number, struct counts *counts)
{
  extern char **environ;
  char seed[24], only[24];
  snprintf(seed, sizeof seed, "%" PRIu64, c->seed);
  snprintf(only, sizeof only, "%" PRIu64, number);
  char option[3][8] = {"--kind", "--seed", "--only"}, name[64], program[] = "faults";
  snprintf(name, sizeof name, "%s", kind->name);
  char *arguments[] = {program, option[0], name, option[1], seed, option[2], only, NULL};
  kind_under_way = kind->name;
  run_under_way = number;
  posix_spawn_file_actions_t actions;
  pid_t child;
  int status = 0;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  if (posix_spawn(&child, "/proc/self/exe", &actions, NULL, arguments, environ) != 0)
    check_die(c, "can't start a process", "");
  posix_spawn_file_actions_destroy(&actions);
  child_under_way = child;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  child_under_way = 0;
  bool is_right = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (WIFSIGNALED(status))
    say(kind->name, number, "the process was ended by a signal");
  counts->runs++;
  counts->wrong += !is_right;
  /* It would have said so if the signal were missing. */
  counts->crashes += WIFSIGNALED(status) || (is_right && kind->crashes != NEVER && is_faulty(number));
}

/* Whether a loop that the program comes to grief in stays in its order: not in place on threads. */
static bool is_in_order(void)
{
  const char *device = getenv("PARAGON_DEVICE"), *memory = getenv("PARAGON_MEMORY");
  bool is_elsewhere = device != NULL && (strcmp(device, "off") == 0 || strcmp(device, "cuda") == 0);
  return is_elsewhere || (memory != NULL && strcmp(memory, "separate") == 0);
}

int main(int argc, char **argv)
{
  struct check c = {.program = argv[0], .seed = 1};
  const struct kind *only_kind = NULL;
  const uint64_t all = UINT64_MAX;
  uint64_t runs = 1000, only = all;
  bool is_fresh = false;
  for (int i = 1; i < argc; i++) {
    const char *option = argv[i], *value = argv[i + 1]; /* argv ends with a null pointer */
    if (strcmp(option, "--list") == 0) {
      for (size_t k = 0; k < KINDS; k++)
        puts(kinds[k].name);
      return 0;
    }
    if (strcmp(option, "--fresh") == 0) {
      is_fresh = true;
      continue;
    }
    if (strcmp(option, "--runs") == 0) {
      runs = check_number(&c, option, value);
    } else if (strcmp(option, "--seed") == 0) {
      c.seed = check_number(&c, option, value);
    } else if (strcmp(option, "--only") == 0) {
      only = check_number(&c, option, value);
    } else if (strcmp(option, "--kind") == 0 && value != NULL) {
      for (size_t k = 0; k < KINDS; k++)
        if (strcmp(kinds[k].name, value) == 0)
          only_kind = &kinds[k];
      if (only_kind == NULL)
        check_die(&c, "no such kind", value);
    } else {
      check_die(&c, "unknown option", option);
    }
    i++;
  }

  catch_signals();
  map_missing_memory(&c);
  uint64_t wrong = 0;
  for (const struct kind *kind = kinds; kind < kinds + KINDS; kind++) {
    if (only_kind != NULL && kind != only_kind)
      continue;
    struct counts counts = {0, 0, 0};
    if (only != all) {
      run_here(&c, kind, only, &counts);
      if (kind->crashes != NEVER && is_faulty(only))
        run_here(&c, kind, only + 1, &counts);
    } else if (kind->crashes != IN_ITS_ORDER || is_in_order()) {
      for (uint64_t number = 0; number < runs; number++)
        if (is_fresh || (kind->crashes != NEVER && is_faulty(number)))
          run_apart(&c, kind, number, &counts);
        else
          run_here(&c, kind, number, &counts);
    }
    printf("%s: %" PRIu64 " runs, %" PRIu64 " wrong, %" PRIu64 " crashes\n", kind->name, counts.runs, counts.wrong,
           counts.crashes);
    fflush(stdout);
    wrong += counts.wrong;
  }
  return wrong != 0;
}
