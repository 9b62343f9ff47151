/* One planted conflict per loop: does it always come out as if the loop had run in order?
 *
 *   planted [--runs N] [--kind waw|raw|war|mixed-width] [--loop indirect|pointer|rows|updates] [--seed S]
 *
 * Each run makes fresh inputs in which exactly one pair of iterations touches the same memory: both write it (waw), the
 * later one reads what the earlier one writes (raw), the earlier one reads what the later one writes (war), or one writes
 * a byte of a word that the other one writes (mixed-width). Where the pair lies and how far apart its iterations are is
 * random; half of the distances are 1, 31, 32 or 33, next to the width of a warp. Of rows, whose iterations have inner loops of
 * their own, one turn of one of them reads what the other one's turns store, or both store to one place. Of updates, which meet each other
 * elsewhere, one meets a store or an update of another kind (waw), a load, or an update of one byte. The loop's result is compared with that of
 * reference.c. Prints one line; the exit status is 1 if any run went wrong.
 *
 * To see each loop's conflict detected, count the records of the functions indirect_*, pointer_*, rows_* and updates_* in PARAGON_TRACE. */
#include "planted.h"
#include "../support/inputs.h"

enum { MOST = 1500, MOST_TURNS = 150 };

COMPUTE void indirect_write_write(int n, const int *to, const uint32_t *in, uint32_t *out)
{
  for (int i = 0; i < n; i++)
    out[to[i]] = in[i];
}

COMPUTE void indirect_read_write(int n, const int *to, const int *from, const uint32_t *in, uint32_t *out)
{
  for (int i = 0; i < n; i++)
    out[to[i]] = out[from[i]] * 3 + in[i];
}

COMPUTE void indirect_mixed_width(int n, const int *word, const int *byte, const uint32_t *in, unsigned char *out)
{
  for (int i = 0; i < n; i++) {
    *(uint32_t *)(void *)(out + word[i]) = in[i];
    out[byte[i]] = (unsigned char)(in[i] >> 24);
  }
}

COMPUTE void pointer_write_write(int n, const uint32_t *in, uint32_t *first, uint32_t *second)
{
  for (int i = 0; i < n; i++) {
    *(first + i) = in[i];
    *(second + i) = ~in[i];
  }
}

COMPUTE void pointer_read_write(int n, const uint32_t *in, const uint32_t *from, uint32_t *to)
{
  for (int i = 0; i < n; i++)
    *(to + i) = *(from + i) * 3 + in[i];
}

COMPUTE void pointer_mixed_width(int n, const uint32_t *in, uint32_t *words, unsigned char *bytes)
{
  for (int i = 0; i < n; i++) {
    *(words + i) = in[i];
    *(bytes + i) = (unsigned char)(in[i] >> 24);
  }
}

COMPUTE void rows_read_write(int n, const int *order, const int *begin, const int *column, const uint32_t *weight, uint32_t *x)
{
  for (int p = 0; p < n; p++) {
    int i = order[p];
    for (int k = begin[p]; k < begin[p + 1]; k++)
      x[i] = x[i] * 3 - weight[k] * x[column[k]];
  }
}

/* What turns read lies side by side. */
COMPUTE void rows_side_by_side(int n, const int *order, const int *begin, const int *end, const uint32_t *weight, uint32_t *x)
{
  for (int p = 0; p < n; p++) {
    int i = order[p];
    for (int k = begin[p]; k < end[p]; k++)
      x[i] = x[i] * 3 - weight[k] * x[k];
  }
}

COMPUTE void rows_mixed_width(int n, const int *order, const int *begin, const int *column, const uint32_t *weight,
                              const unsigned char *bytes, uint32_t *x)
{
  for (int p = 0; p < n; p++) {
    int i = order[p];
    for (int k = begin[p]; k < begin[p + 1]; k++)
      x[i] = x[i] * 3 - weight[k] * bytes[column[k]];
  }
}

/* What turns read is wider than what rows store. */
COMPUTE void rows_wide(int n, const int *order, const int *begin, const int *column, const uint32_t *weight, const uint32_t *words,
                       unsigned char *x)
{
  for (int p = 0; p < n; p++) {
    int i = order[p];
    for (int k = begin[p]; k < begin[p + 1]; k++)
      x[i] = (unsigned char)(x[i] * 3 - weight[k] * words[column[k]]);
  }
}

COMPUTE void updates_write(int n, const int *to, const int *from, const uint32_t *in, uint32_t *out)
{
  for (int i = 0; i < n; i++) {
    out[from[i]] += in[i];
    out[to[i]] = ~in[i];
  }
}

COMPUTE void updates_of_two_kinds(int n, const int *to, const int *from, const uint32_t *in, uint32_t *out)
{
  for (int i = 0; i < n; i++) {
    out[from[i]] += in[i];
    out[to[i]] ^= in[i];
  }
}

COMPUTE void updates_read(int n, const int *to, const int *from, const uint32_t *in, uint32_t *out, uint32_t *seen)
{
  for (int i = 0; i < n; i++) {
    out[from[i]] += in[i];
    seen[i] = out[to[i]];
  }
}

COMPUTE void updates_mixed_width(int n, const int *word, const int *byte, const uint32_t *in, uint32_t *out, unsigned char *bytes)
{
  for (int i = 0; i < n; i++) {
    out[word[i]] += in[i];
    bytes[byte[i]] ^= (unsigned char)(in[i] >> 24);
  }
}

/* Everything that a run needs: the memory that the loop changes, twice, and its other inputs. */
struct run {
  uint32_t memory[4 * MOST], expected[4 * MOST], in[MOST];
  int to[MOST], from[MOST];
  /* Of rows: arrays of their own, since lanes make turns for each other only where nothing stores to what says how many there are. */
  int *order, *start, *begin, *column;
  uint32_t *weight;
};

static int pick_distance(struct check *c)
{
  static const int special[] = {1, 31, 32, 33};
  return check_below(c, 2) == 0 ? special[check_below(c, 4)] : 1 + (int)check_below(c, MOST - 1);
}

static void run_indirect(struct check *c, struct run *r, const char *kind)
{
  int distance = pick_distance(c), n = distance + 1 + (int)check_below(c, (size_t)(MOST - distance));
  int early = (int)check_below(c, (size_t)(n - distance)), late = early + distance;
  permute(c, r->to, (size_t)n);
  permute(c, r->from, (size_t)n);
  if (strcmp(kind, "waw") == 0) {
    r->to[late] = r->to[early];
    indirect_write_write(n, r->to, r->in, r->memory);
    reference_indirect_write_write(n, r->to, r->in, r->expected);
  } else if (strcmp(kind, "mixed-width") == 0) {
    for (int i = 0; i < n; i++) {
      r->to[i] *= 4;
      r->from[i] += 4 * n;
    }
    bool word_first = check_below(c, 2) == 0;
    r->from[word_first ? late : early] = r->to[word_first ? early : late] + (int)check_below(c, 4);
    indirect_mixed_width(n, r->to, r->from, r->in, (unsigned char *)r->memory);
    reference_indirect_mixed_width(n, r->to, r->from, r->in, (unsigned char *)r->expected);
  } else {
    for (int i = 0; i < n; i++)
      r->from[i] += n;
    bool write_first = strcmp(kind, "raw") == 0;
    r->from[write_first ? late : early] = r->to[write_first ? early : late];
    indirect_read_write(n, r->to, r->from, r->in, r->memory);
    reference_indirect_read_write(n, r->to, r->from, r->in, r->expected);
  }
}

/* Arrays that overlap in one element: the first iteration meets the last one. */
static void run_pointer(struct check *c, struct run *r, const char *kind)
{
  int n = 1 + pick_distance(c);
  uint32_t *m = r->memory, *e = r->expected;
  if (strcmp(kind, "waw") == 0) {
    int second = check_below(c, 2) == 0 ? n - 1 : 0, first = n - 1 - second;
    pointer_write_write(n, r->in, m + first, m + second);
    reference_pointer_write_write(n, r->in, e + first, e + second);
  } else if (strcmp(kind, "mixed-width") == 0) {
    /* The first byte is the last one of the last word, or the last byte is the first one of the first word. */
    int bytes = check_below(c, 2) == 0 ? 4 * (MOST + n) - 1 : 4 * MOST - (n - 1);
    pointer_mixed_width(n, r->in, m + MOST, (unsigned char *)m + bytes);
    reference_pointer_mixed_width(n, r->in, e + MOST, (unsigned char *)e + bytes);
  } else {
    int to = strcmp(kind, "raw") == 0 ? n - 1 : 0, from = n - 1 - to;
    pointer_read_write(n, r->in, m + from, m + to);
    reference_pointer_read_write(n, r->in, e + from, e + to);
  }
}

/* The same rows of turns that read side by side: the first turn of the reader, or its last one, comes to what the writer stores. */
static void run_rows_side_by_side(struct check *c, struct run *r, int n, int reader, int writer, int above)
{
  int nearest = above == 0 ? n - 1 : 0;
  for (int p = 0; p < n; p++) {
    if (r->order[p] == nearest)
      r->order[p] = r->order[writer];
    int turns = r->begin[p + 1] - r->begin[p];
    if (turns > n)
      turns = n;
    r->start[p] = n + (int)check_below(c, (size_t)(n - turns + 1));
    r->begin[p] = r->start[p] + turns;
  }
  r->order[writer] = nearest;
  int turns = r->begin[reader] - r->start[reader];
  r->start[reader] = above == 0 ? nearest : above + 1 - turns;
  r->begin[reader] = r->start[reader] + turns;
  for (int p = 0; p < n; p++)
    r->order[p] += above;
  rows_side_by_side(n, r->order, r->start, r->begin, r->weight, r->memory);
  reference_rows_side_by_side(n, r->order, r->start, r->begin, r->weight, r->expected);
}

/* Rows of a few turns, some of many. They read what nobody stores, and one of them, in a turn of its own choice, what another one does. */
static void run_rows(struct check *c, struct run *r, const char *kind)
{
  int distance = pick_distance(c), n = distance + 1 + (int)check_below(c, (size_t)(MOST - distance));
  int early = (int)check_below(c, (size_t)(n - distance)), late = early + distance;
  bool are_bytes = strcmp(kind, "mixed-width") == 0;
  int width = are_bytes ? 4 : 1;
  permute(c, r->order, (size_t)n);
  r->begin[0] = 0;
  for (int p = 0; p < n; p++) {
    int turns = (int)check_below(c, check_below(c, 8) == 0 ? MOST_TURNS : 12);
    if ((p == early || p == late) && turns == 0)
      turns = 1;
    r->begin[p + 1] = r->begin[p] + turns;
  }
  for (int k = 0; k < r->begin[n]; k++) {
    r->column[k] = width * n + (int)check_below(c, (size_t)(width * n));
    r->weight[k] = (uint32_t)check_random(c);
  }
  for (int k = r->begin[n]; k < 4 * MOST; k++)
    r->weight[k] = (uint32_t)check_random(c);
  bool write_first = strcmp(kind, "raw") == 0 || (are_bytes && check_below(c, 2) == 0);
  int reader = write_first ? late : early, writer = late + early - reader;
  /* What is stored lies below all else that is read, or above it: nothing but the planted turn reads beyond that. */
  int above = check_below(c, 2) == 0 ? 2 * n : 0;
  if (strcmp(kind, "waw") != 0 && !are_bytes && check_below(c, 2) == 0) {
    run_rows_side_by_side(c, r, n, reader, writer, above);
    return;
  }
  int turn = r->begin[reader] + (int)check_below(c, (size_t)(r->begin[reader + 1] - r->begin[reader]));
  if (are_bytes && check_below(c, 2) == 0) {
    /* One byte of each word. */
    for (int k = 0; k < r->begin[n]; k++)
      r->column[k] = n + r->column[k] % n;
    r->column[turn] = r->order[writer] + above;
    for (int p = 0; p < n; p++)
      r->order[p] = 4 * (r->order[p] + above) + (int)check_below(c, 4);
    rows_wide(n, r->order, r->begin, r->column, r->weight, r->memory, (unsigned char *)r->memory);
    reference_rows_wide(n, r->order, r->begin, r->column, r->weight, r->expected, (unsigned char *)r->expected);
    return;
  }
  for (int p = 0; p < n; p++)
    r->order[p] += above;
  if (strcmp(kind, "waw") == 0)
    r->order[late] = r->order[early];
  else
    r->column[turn] = width * r->order[writer] + (are_bytes ? (int)check_below(c, 4) : 0);
  if (are_bytes) {
    rows_mixed_width(n, r->order, r->begin, r->column, r->weight, (unsigned char *)r->memory, r->memory);
    reference_rows_mixed_width(n, r->order, r->begin, r->column, r->weight, (unsigned char *)r->expected, r->expected);
  } else {
    rows_read_write(n, r->order, r->begin, r->column, r->weight, r->memory);
    reference_rows_read_write(n, r->order, r->begin, r->column, r->weight, r->expected);
  }
}

/* Updates meet in few places, beside which the others lie. */
static void run_updates(struct check *c, struct run *r, const char *kind)
{
  int distance = pick_distance(c), n = distance + 1 + (int)check_below(c, (size_t)(MOST - distance));
  int early = (int)check_below(c, (size_t)(n - distance)), late = early + distance;
  int places = 1 + (int)check_below(c, check_below(c, 2) == 0 ? 4 : (size_t)n);
  bool is_first = strcmp(kind, "raw") == 0 || (strcmp(kind, "war") != 0 && check_below(c, 2) == 0);
  int updater = is_first ? early : late, other = late + early - updater;
  /* The place that is met is nobody else's. */
  permute(c, r->to, (size_t)n);
  for (int i = 0; i < n; i++) {
    r->to[i] += MOST;
    r->from[i] = (int)check_below(c, (size_t)places);
  }
  r->from[updater] = r->to[other];
  if (strcmp(kind, "mixed-width") == 0) {
    for (int i = 0; i < n; i++)
      r->to[i] = 4 * r->to[i] + (int)check_below(c, 4);
    updates_mixed_width(n, r->from, r->to, r->in, r->memory, (unsigned char *)r->memory);
    reference_updates_mixed_width(n, r->from, r->to, r->in, r->expected, (unsigned char *)r->expected);
  } else if (strcmp(kind, "waw") != 0) {
    updates_read(n, r->to, r->from, r->in, r->memory, r->memory + 3 * MOST);
    reference_updates_read(n, r->to, r->from, r->in, r->expected, r->expected + 3 * MOST);
  } else if (check_below(c, 2) == 0) {
    updates_write(n, r->to, r->from, r->in, r->memory);
    reference_updates_write(n, r->to, r->from, r->in, r->expected);
  } else {
    updates_of_two_kinds(n, r->to, r->from, r->in, r->memory);
    reference_updates_of_two_kinds(n, r->to, r->from, r->in, r->expected);
  }
}

int main(int argc, char **argv)
{
  static const char *const kinds[] = {"waw", "raw", "war", "mixed-width"};
  struct check c = {.program = argv[0], .seed = 1};
  const char *kind = kinds[0], *form = "indirect";
  uint64_t runs = 1000;
  for (int i = 1; i < argc; i += 2) {
    const char *option = argv[i], *value = argv[i + 1]; /* argv ends with a null pointer */
    if (strcmp(option, "--runs") == 0)
      runs = check_number(&c, option, value);
    else if (strcmp(option, "--seed") == 0)
      c.seed = check_number(&c, option, value);
    else if (strcmp(option, "--kind") == 0 && value != NULL)
      kind = value;
    else if (strcmp(option, "--loop") == 0 && value != NULL)
      form = value;
    else
      check_die(&c, "unknown option", option);
  }
  bool known = false;
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
    known = known || strcmp(kinds[i], kind) == 0;
  if (!known)
    check_die(&c, "no such kind", kind);
  bool indirect = strcmp(form, "indirect") == 0, rows = strcmp(form, "rows") == 0;
  bool updates = strcmp(form, "updates") == 0;
  if (!indirect && !rows && !updates && strcmp(form, "pointer") != 0)
    check_die(&c, "no such loop", form);

  check_begin(&c);
  struct run *r = check_alloc(&c, 1, sizeof *r);
  /* Smaller ones have no known extent. */
  const size_t room = MOST * MOST_TURNS;
  r->order = check_alloc(&c, room, sizeof *r->order);
  r->start = check_alloc(&c, room, sizeof *r->start);
  r->begin = check_alloc(&c, room, sizeof *r->begin);
  r->column = check_alloc(&c, room, sizeof *r->column);
  r->weight = check_alloc(&c, room, sizeof *r->weight);
  uint64_t wrong = 0;
  for (uint64_t i = 0; i < runs; i++) {
    for (size_t k = 0; k < 4 * MOST; k++)
      r->memory[k] = (uint32_t)check_random(&c);
    memcpy(r->expected, r->memory, sizeof r->memory);
    for (size_t k = 0; k < MOST; k++)
      r->in[k] = (uint32_t)check_random(&c);
    if (indirect)
      run_indirect(&c, r, kind);
    else if (rows)
      run_rows(&c, r, kind);
    else if (updates)
      run_updates(&c, r, kind);
    else
      run_pointer(&c, r, kind);
    if (memcmp(r->memory, r->expected, sizeof r->memory) != 0)
      wrong++;
  }
  printf("%s %s: %" PRIu64 " runs, %" PRIu64 " wrong\n", form, kind, runs, wrong);
  free(r->order);
  free(r->start);
  free(r->begin);
  free(r->column);
  free(r->weight);
  free(r);
  return wrong != 0;
}
