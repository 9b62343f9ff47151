/* What each kind of loop starts with, and how it is called. Loops that the program itself comes to grief in are in crashes.h. */

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
