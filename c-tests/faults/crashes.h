/* Loops that the program comes to grief in: what they start with, and how they are called. What becomes of the program then is looked at in
 * faults.c. */

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
