/* What one run needs: memory that is compared, random numbers, and which iterations repair what for which. What a kind of loop does with it
 * is in kinds.h. */

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
