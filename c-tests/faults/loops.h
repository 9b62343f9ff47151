/* The loops under test, in which an iteration repairs what a later one uses. What they start with is in kinds.h; the same loops in a form
 * that no optimiser touches are in reference.c. */

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
