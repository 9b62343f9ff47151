/* What the loops of faults.c compute. Every access is volatile, so they run as they stand whoever compiles them. */
#include "faults.h"

/* An array's element, accessed as it stands here. */
#define AT(array, number) (*(volatile __typeof__(*(array)) *)&(array)[number])

#define FIND_CELL(i)                                                                                                   \
  volatile int cell = AT(where, i).start;                                                                              \
  for (int turn = 0; turn < AT(where, i).turns; turn++)                                                                \
  cell = NEXT_CELL(cell)

void reference_index_store_through_repaired(int n, const struct repair *where, const int *good, int *index,
                                            const uint32_t *in, uint32_t *out)
{
  for (volatile int i = 0; i < n; i++) {
    FIND_CELL(i);
    AT(index, cell) = AT(good, i);
    AT(out, AT(index, i)) = AT(in, i);
  }
}

void reference_index_load_through_repaired(int n, const struct repair *where, const int *good, int *index,
                                           const uint32_t *in, uint32_t *out)
{
  for (volatile int i = 0; i < n; i++) {
    FIND_CELL(i);
    AT(index, cell) = AT(good, i);
    AT(out, i) = AT(in, AT(index, i));
  }
}

void reference_long_index_store_repaired(int n, const struct repair *where, const int64_t *good, int64_t *index,
                                         const uint32_t *in, uint32_t *out)
{
  for (volatile int i = 0; i < n; i++) {
    FIND_CELL(i);
    AT(index, cell) = AT(good, i);
    AT(out, AT(index, i)) = AT(in, i);
  }
}

void reference_long_index_load_repaired(int n, const struct repair *where, const int64_t *good, int64_t *index,
                                        const uint32_t *in, uint32_t *out)
{
  for (volatile int i = 0; i < n; i++) {
    FIND_CELL(i);
    AT(index, cell) = AT(good, i);
    AT(out, i) = AT(in, AT(index, i));
  }
}

void reference_byte_offset_store_repaired(int n, const struct repair *where, const int *good, int *offset,
                                          const uint32_t *in, unsigned char *out)
{
  for (volatile int i = 0; i < n; i++) {
    FIND_CELL(i);
    AT(offset, cell) = AT(good, i);
    *(volatile uint32_t *)(void *)(out + AT(offset, i)) = AT(in, i);
  }
}

void reference_byte_offset_load_repaired(int n, const struct repair *where, const int *good, int *offset,
                                         const unsigned char *in, uint32_t *out)
{
  for (volatile int i = 0; i < n; i++) {
    FIND_CELL(i);
    AT(offset, cell) = AT(good, i);
    AT(out, i) = *(const volatile uint32_t *)(const void *)(in + AT(offset, i));
  }
}

void reference_index_arithmetic_repaired(int n, const struct repair *where, const int *good, int *index,
                                         const uint32_t *in, uint32_t *out)
{
  for (volatile int i = 0; i < n; i++) {
    FIND_CELL(i);
    AT(index, cell) = AT(good, i);
    AT(out, AT(index, i) * 3 + 1) = AT(in, i);
  }
}

void reference_index_update_repaired(int n, const struct repair *where, const int *good, int *index, const uint32_t *in,
                                     uint32_t *out)
{
  for (volatile int i = 0; i < n; i++) {
    FIND_CELL(i);
    AT(index, cell) = AT(good, i);
    volatile int place = AT(index, i);
    AT(out, place) = AT(out, place) + AT(in, i);
  }
}

void reference_row_store_repaired(int n, const struct repair *where, const int *good, int *row, const uint32_t *in,
                                  uint32_t *out)
{
  for (volatile int i = 0; i < n; i++) {
    FIND_CELL(i);
    AT(row, cell) = AT(good, i);
    for (volatile int j = 0; j < ROW; j++)
      AT(out, AT(row, i) * ROW + j) = AT(in, i) + (uint32_t)j;
  }
}

void reference_row_length_repaired(int n, const struct repair *where, const int *good, int *length, const uint32_t *in,
                                   uint32_t *out)
{
  for (volatile int i = 0; i < n; i++) {
    FIND_CELL(i);
    AT(length, cell) = AT(good, i);
    volatile int turns = AT(length, i);
    for (volatile int j = 0; j < turns; j++)
      AT(out, i * ROW + j) = AT(in, i) + (uint32_t)j;
  }
}

void reference_record_store_repaired(int n, const struct repair *where, const int *good, int *index, const double *in,
                                     struct record *out)
{
  for (volatile int i = 0; i < n; i++) {
    FIND_CELL(i);
    AT(index, cell) = AT(good, i);
    volatile struct record *to = &out[AT(index, i)];
    to->wide = AT(in, i);
    to->last = (unsigned char)i;
  }
}

uint64_t reference_index_sum_repaired(int n, const struct repair *where, const int *good, int *index,
                                      const uint32_t *in)
{
  volatile uint64_t sum = 0;
  for (volatile int i = 0; i < n; i++) {
    FIND_CELL(i);
    AT(index, cell) = AT(good, i);
    sum = sum + AT(in, AT(index, i));
  }
  return sum;
}

void reference_sentinel_repaired(int n, const struct repair *where, const int *begin, unsigned char *text,
                                 uint32_t *out)
{
  for (volatile int i = 0; i < n; i++) {
    FIND_CELL(i);
    AT(text, cell) = 0;
    volatile int k = AT(begin, i);
    while (AT(text, k) != 0)
      k++;
    AT(out, i) = (uint32_t)(k - AT(begin, i));
  }
}

void reference_pointer_store_repaired(int n, const struct repair *where, uint32_t *const *good, uint32_t **pointers,
                                      const uint32_t *in)
{
  for (volatile int i = 0; i < n; i++) {
    FIND_CELL(i);
    AT(pointers, cell) = AT(good, i);
    AT(AT(pointers, i), 0) = AT(in, i);
  }
}

void reference_pointer_load_repaired(int n, const struct repair *where, uint32_t *const *good, uint32_t **pointers,
                                     uint32_t *out)
{
  for (volatile int i = 0; i < n; i++) {
    FIND_CELL(i);
    AT(pointers, cell) = AT(good, i);
    AT(out, i) = AT(AT(pointers, i), 0);
  }
}

void reference_list_walk_repaired(int n, const struct repair *where, struct node *const *good, struct node *nodes,
                                  struct node *const *heads, uint32_t *out)
{
  for (volatile int i = 0; i < n; i++) {
    FIND_CELL(i);
    *(struct node *volatile *)&nodes[cell].next = AT(good, i);
    volatile uint32_t sum = 0;
    for (volatile struct node *p = AT(heads, i); p != 0; p = p->next)
      sum = sum * 3 + p->value;
    AT(out, i) = sum;
  }
}

void reference_division_int_repaired(int n, const struct repair *where, const int *good, int *divisor, const int *in,
                                     int *out)
{
  for (volatile int i = 0; i < n; i++) {
    FIND_CELL(i);
    AT(divisor, cell) = AT(good, i);
    AT(out, i) = AT(in, i) / AT(divisor, i);
  }
}

void reference_remainder_int_repaired(int n, const struct repair *where, const int *good, int *divisor, const int *in,
                                      int *out)
{
  for (volatile int i = 0; i < n; i++) {
    FIND_CELL(i);
    AT(divisor, cell) = AT(good, i);
    AT(out, i) = AT(in, i) % AT(divisor, i);
  }
}

void reference_division_unsigned_repaired(int n, const struct repair *where, const uint32_t *good, uint32_t *divisor,
                                          const uint32_t *in, uint32_t *out)
{
  for (volatile int i = 0; i < n; i++) {
    FIND_CELL(i);
    AT(divisor, cell) = AT(good, i);
    AT(out, i) = AT(in, i) / AT(divisor, i) + AT(in, i) % AT(divisor, i);
  }
}

void reference_division_long_repaired(int n, const struct repair *where, const int64_t *good, int64_t *divisor,
                                      const int64_t *in, int64_t *out)
{
  for (volatile int i = 0; i < n; i++) {
    FIND_CELL(i);
    AT(divisor, cell) = AT(good, i);
    AT(out, i) = AT(in, i) / AT(divisor, i);
  }
}

void reference_remainder_long_repaired(int n, const struct repair *where, const int64_t *good, int64_t *divisor,
                                       const int64_t *in, int64_t *out)
{
  for (volatile int i = 0; i < n; i++) {
    FIND_CELL(i);
    AT(divisor, cell) = AT(good, i);
    AT(out, i) = AT(in, i) % AT(divisor, i);
  }
}

void reference_shift_repaired(int n, const struct repair *where, const int *good, int *count, const uint32_t *in,
                              uint32_t *out, int64_t *wide)
{
  for (volatile int i = 0; i < n; i++) {
    FIND_CELL(i);
    AT(count, cell) = AT(good, i);
    AT(out, i) = AT(in, i) << AT(count, i) ^ AT(in, i) >> AT(count, i);
    AT(wide, i) = (int64_t)AT(in, i) << AT(count, i) ^ (int)AT(in, i) >> AT(count, i);
  }
}

void reference_conversion_repaired(int n, const struct repair *where, const double *good, double *x, int *out,
                                   uint32_t *natural, int64_t *wide)
{
  for (volatile int i = 0; i < n; i++) {
    FIND_CELL(i);
    AT(x, cell) = AT(good, i);
    AT(out, i) = (int)AT(x, i);
    AT(natural, i) = (uint32_t)AT(x, i);
    AT(wide, i) = (int64_t)AT(x, i);
  }
}

void reference_conversion_index_repaired(int n, const struct repair *where, const float *good, float *x,
                                         const uint32_t *in, uint32_t *out)
{
  for (volatile int i = 0; i < n; i++) {
    FIND_CELL(i);
    AT(x, cell) = AT(good, i);
    AT(out, (int)AT(x, i)) = AT(in, i);
  }
}

void reference_nan_repaired(int n, const struct repair *where, const double *good, double *divisor, const double *in,
                            double *out, float *narrow)
{
  for (volatile int i = 0; i < n; i++) {
    FIND_CELL(i);
    AT(divisor, cell) = AT(good, i);
    volatile double quotient = AT(in, i) / AT(divisor, i);
    AT(out, i) = quotient;
    AT(narrow, i) = (float)quotient;
  }
}

void reference_endless_chain_repaired(int n, const struct repair *where, const int *good, int *next, const int *start,
                                      uint32_t *out)
{
  for (volatile int i = 0; i < n; i++) {
    FIND_CELL(i);
    AT(next, cell) = AT(good, i);
    volatile int k = AT(start, i);
    while (AT(next, k) != -1)
      k = AT(next, k);
    AT(out, i) = (uint32_t)k;
  }
}

void reference_endless_around_repaired(int n, const struct repair *where, const int *good, int *next, const int *start,
                                       const int *turns, uint32_t *out)
{
  for (volatile int i = 0; i < n; i++) {
    FIND_CELL(i);
    AT(next, cell) = AT(good, i);
    volatile uint32_t sum = 0;
    volatile int k = AT(start, i);
    while (AT(next, k) != -1) {
      for (volatile int j = 0; j < AT(turns, k); j++)
        sum = sum * 3 + (uint32_t)j;
      k = AT(next, k);
    }
    AT(out, i) = sum + (uint32_t)k;
  }
}

void reference_endless_step_repaired(int n, const struct repair *where, const int *good, int *step, const int *limit,
                                     uint32_t *out)
{
  for (volatile int i = 0; i < n; i++) {
    FIND_CELL(i);
    AT(step, cell) = AT(good, i);
    volatile uint32_t sum = 0;
    volatile int by = AT(step, i);
    for (volatile int j = 0; j != AT(limit, i); j += by)
      sum = sum * 3 + (uint32_t)j;
    AT(out, i) = sum;
  }
}

void reference_endless_condition_repaired(int n, const struct repair *where, const int *good, int *stop, uint32_t *out)
{
  for (volatile int i = 0; i < n; i++) {
    FIND_CELL(i);
    AT(stop, cell) = AT(good, i);
    volatile int k = i & 1023, last = AT(stop, i);
    volatile uint32_t turns = 0;
    do {
      k = (k * 5 + 3) & 1023;
      turns = turns + 1;
    } while (k != last);
    AT(out, i) = turns;
  }
}

void reference_endless_count_repaired(int n, const struct repair *where, const int64_t *good, int64_t *count,
                                      uint32_t *out)
{
  for (volatile int i = 0; i < n; i++) {
    FIND_CELL(i);
    AT(count, cell) = AT(good, i);
    volatile uint32_t sum = 0;
    volatile int64_t turns = AT(count, i);
    for (volatile int64_t j = 0; j < turns; j++)
      sum = sum * 31 + (uint32_t)j;
    AT(out, i) = sum;
  }
}

void reference_endless_store_repaired(int n, const struct repair *where, const int *good, int *next, const int *start,
                                      uint32_t *visited)
{
  for (volatile int i = 0; i < n; i++) {
    FIND_CELL(i);
    AT(next, cell) = AT(good, i);
    volatile int k = AT(start, i);
    while (AT(next, k) != -1) {
      AT(visited, k) = AT(visited, k) + (uint32_t)i;
      k = AT(next, k);
    }
  }
}

void reference_endless_list_repaired(int n, const struct repair *where, struct node *const *good, struct node *nodes,
                                     struct node *const *heads)
{
  for (volatile int i = 0; i < n; i++) {
    FIND_CELL(i);
    *(struct node *volatile *)&nodes[cell].next = AT(good, i);
    for (volatile struct node *p = AT(heads, i); p != 0; p = p->next)
      p->visits = p->visits * 3 + p->value;
  }
}

void reference_own_array_store_repaired(int n, const struct repair *where, const int *good, int *index,
                                        const uint32_t *in, uint32_t *out)
{
  for (volatile int i = 0; i < n; i++) {
    volatile uint32_t own[OWN], sum = 0;
    FIND_CELL(i);
    AT(index, cell) = AT(good, i);
    for (volatile int k = 0; k < OWN; k++)
      own[k] = AT(in, i) + (uint32_t)k;
    own[AT(index, i)] = 7;
    for (volatile int k = 0; k < OWN; k++)
      sum = sum * 31 + own[k];
    AT(out, i) = sum;
  }
}

void reference_own_array_load_repaired(int n, const struct repair *where, const int *good, int *index,
                                       const uint32_t *in, uint32_t *out)
{
  for (volatile int i = 0; i < n; i++) {
    volatile uint32_t own[OWN];
    FIND_CELL(i);
    AT(index, cell) = AT(good, i);
    for (volatile int k = 0; k < OWN; k++)
      own[k] = AT(in, i) * (uint32_t)k;
    AT(out, i) = own[AT(index, i)];
  }
}

void reference_guard_store_repaired(int n, const struct repair *where, const int *good, int *allowed, const int *index,
                                    const uint32_t *in, uint32_t *out)
{
  for (volatile int i = 0; i < n; i++) {
    FIND_CELL(i);
    AT(allowed, cell) = AT(good, i);
    if (AT(allowed, i) != 0)
      AT(out, AT(index, i)) = AT(in, i);
  }
}

void reference_guard_division_repaired(int n, const struct repair *where, const int *good, int *divisor, const int *in,
                                       int *out)
{
  for (volatile int i = 0; i < n; i++) {
    FIND_CELL(i);
    AT(divisor, cell) = AT(good, i);
    if (AT(divisor, i) != 0)
      AT(out, i) = AT(in, i) / AT(divisor, i);
  }
}

void reference_guard_pointer_repaired(int n, const struct repair *where, uint32_t *const *good, uint32_t **pointers,
                                      const uint32_t *in)
{
  for (volatile int i = 0; i < n; i++) {
    FIND_CELL(i);
    AT(pointers, cell) = AT(good, i);
    if (AT(pointers, i) != 0)
      AT(AT(pointers, i), 0) = AT(in, i);
  }
}

void reference_break_inner_repaired(int n, const struct repair *where, const uint32_t *good, uint32_t *stop,
                                    const int *place, const uint32_t *in, uint32_t *out)
{
  for (volatile int i = 0; i < n; i++) {
    FIND_CELL(i);
    AT(stop, cell) = AT(good, i);
    for (volatile int j = 0; j < ROW; j++) {
      if (AT(in, i * ROW + j) == AT(stop, i))
        break;
      AT(out, AT(place, i * ROW + j)) = AT(in, i * ROW + j);
    }
  }
}

void reference_stop_flag_repaired(int n, const struct repair *where, uint32_t *stop, const int *index,
                                  const uint32_t *in, uint32_t *out)
{
  for (volatile int i = 0; i < n; i++) {
    if (AT(stop, 0) == 0)
      AT(out, AT(index, i)) = AT(in, i);
    FIND_CELL(i);
    AT(stop, cell) = 1;
  }
}

void reference_crash_division(int n, const struct repair *where, const int *good, int *divisor, const int *in, int *out)
{
  for (volatile int i = 0; i < n; i++) {
    FIND_CELL(i);
    AT(divisor, cell) = AT(good, i);
    AT(out, i) = AT(in, i) / AT(divisor, i);
  }
}

void reference_crash_store(int n, const struct repair *where, const int64_t *good, int64_t *index, const uint32_t *in,
                           uint32_t *out)
{
  for (volatile int i = 0; i < n; i++) {
    FIND_CELL(i);
    AT(index, cell) = AT(good, i);
    AT(out, AT(index, i)) = AT(in, i);
  }
}

void reference_crash_load(int n, const struct repair *where, const int64_t *good, int64_t *index, const uint32_t *in,
                          uint32_t *out)
{
  for (volatile int i = 0; i < n; i++) {
    FIND_CELL(i);
    AT(index, cell) = AT(good, i);
    AT(out, i) = AT(in, AT(index, i));
  }
}

void reference_crash_pointer(int n, const struct repair *where, uint32_t *const *good, uint32_t **pointers,
                             const uint32_t *in)
{
  for (volatile int i = 0; i < n; i++) {
    FIND_CELL(i);
    AT(pointers, cell) = AT(good, i);
    AT(AT(pointers, i), 0) = AT(in, i);
  }
}

void reference_crash_end(int n, const uint32_t *in, uint32_t *out)
{
  for (volatile int i = 0; i < n; i++)
    AT(out, i) = AT(in, i) * 3;
}

void reference_crash_read_only(int n, const uint32_t *in, uint32_t *out)
{
  for (volatile int i = 0; i < n; i++)
    AT(out, i) = AT(out, i) * 3 + AT(in, i);
}
