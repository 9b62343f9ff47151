/* The loops of faults.c, and the same ones in a form that no optimiser touches (reference.c). */
#ifndef FAULTS_H
#define FAULTS_H

#include <stdint.h>

struct node {
  struct node *next;
  uint32_t value, visits;
};

struct record {
  int16_t narrow;
  double wide;
  unsigned char last;
};

/* Where an iteration finds the number of the cell that it repairs: so many turns of FIND_CELL behind a number. */
struct repair {
  int start, turns;
};

/* Meanwhile other threads come to iterations that use the cell. Cells have numbers below CELLS. */
#define NEXT_CELL(cell) (((cell) * 5 + 3) & (CELLS - 1))
enum { CELLS = 1 << 14 };

/* What lies in a row of some arrays, and in an array of an iteration's own. */
enum { ROW = 8, OWN = 16 };

/* A loop under test, and what it is compared with. */
#define LOOP(result, name, ...)                                                                                        \
  result name(__VA_ARGS__);                                                                                            \
  result reference_##name(__VA_ARGS__)

/* In all of them an iteration assigns good[i] to a cell of the array that a later iteration uses.
 * Indices that lead out of an array. */
LOOP(void, index_store_through_repaired, int n, const struct repair *where, const int *good, int *index,
     const uint32_t *in, uint32_t *out);
LOOP(void, index_load_through_repaired, int n, const struct repair *where, const int *good, int *index,
     const uint32_t *in, uint32_t *out);
LOOP(void, long_index_store_repaired, int n, const struct repair *where, const int64_t *good, int64_t *index,
     const uint32_t *in, uint32_t *out);
LOOP(void, long_index_load_repaired, int n, const struct repair *where, const int64_t *good, int64_t *index,
     const uint32_t *in, uint32_t *out);
LOOP(void, byte_offset_store_repaired, int n, const struct repair *where, const int *good, int *offset,
     const uint32_t *in, unsigned char *out);
LOOP(void, byte_offset_load_repaired, int n, const struct repair *where, const int *good, int *offset,
     const unsigned char *in, uint32_t *out);
LOOP(void, index_arithmetic_repaired, int n, const struct repair *where, const int *good, int *index,
     const uint32_t *in, uint32_t *out);
LOOP(void, index_update_repaired, int n, const struct repair *where, const int *good, int *index, const uint32_t *in,
     uint32_t *out);
LOOP(void, row_store_repaired, int n, const struct repair *where, const int *good, int *row, const uint32_t *in,
     uint32_t *out);
LOOP(void, row_length_repaired, int n, const struct repair *where, const int *good, int *length, const uint32_t *in,
     uint32_t *out);
LOOP(void, record_store_repaired, int n, const struct repair *where, const int *good, int *index, const double *in,
     struct record *out);
LOOP(uint64_t, index_sum_repaired, int n, const struct repair *where, const int *good, int *index, const uint32_t *in);
LOOP(void, sentinel_repaired, int n, const struct repair *where, const int *begin, unsigned char *text, uint32_t *out);
/* Pointers. */
LOOP(void, pointer_store_repaired, int n, const struct repair *where, uint32_t *const *good, uint32_t **pointers,
     const uint32_t *in);
LOOP(void, pointer_load_repaired, int n, const struct repair *where, uint32_t *const *good, uint32_t **pointers,
     uint32_t *out);
LOOP(void, list_walk_repaired, int n, const struct repair *where, struct node *const *good, struct node *nodes,
     struct node *const *heads, uint32_t *out);
/* Numbers that the processor has no result for. */
LOOP(void, division_int_repaired, int n, const struct repair *where, const int *good, int *divisor, const int *in,
     int *out);
LOOP(void, remainder_int_repaired, int n, const struct repair *where, const int *good, int *divisor, const int *in,
     int *out);
LOOP(void, division_unsigned_repaired, int n, const struct repair *where, const uint32_t *good, uint32_t *divisor,
     const uint32_t *in, uint32_t *out);
LOOP(void, division_long_repaired, int n, const struct repair *where, const int64_t *good, int64_t *divisor,
     const int64_t *in, int64_t *out);
LOOP(void, remainder_long_repaired, int n, const struct repair *where, const int64_t *good, int64_t *divisor,
     const int64_t *in, int64_t *out);
LOOP(void, shift_repaired, int n, const struct repair *where, const int *good, int *count, const uint32_t *in,
     uint32_t *out, int64_t *wide);
LOOP(void, conversion_repaired, int n, const struct repair *where, const double *good, double *x, int *out,
     uint32_t *natural, int64_t *wide);
LOOP(void, conversion_index_repaired, int n, const struct repair *where, const float *good, float *x,
     const uint32_t *in, uint32_t *out);
LOOP(void, nan_repaired, int n, const struct repair *where, const double *good, double *divisor, const double *in,
     double *out, float *narrow);
/* Inner loops without an end, or with one that is far away. */
LOOP(void, endless_chain_repaired, int n, const struct repair *where, const int *good, int *next, const int *start,
     uint32_t *out);
LOOP(void, endless_around_repaired, int n, const struct repair *where, const int *good, int *next, const int *start,
     const int *turns, uint32_t *out);
LOOP(void, endless_step_repaired, int n, const struct repair *where, const int *good, int *step, const int *limit,
     uint32_t *out);
LOOP(void, endless_condition_repaired, int n, const struct repair *where, const int *good, int *stop, uint32_t *out);
LOOP(void, endless_count_repaired, int n, const struct repair *where, const int64_t *good, int64_t *count,
     uint32_t *out);
LOOP(void, endless_store_repaired, int n, const struct repair *where, const int *good, int *next, const int *start,
     uint32_t *visited);
LOOP(void, endless_list_repaired, int n, const struct repair *where, struct node *const *good, struct node *nodes,
     struct node *const *heads);
/* Arrays of an iteration's own. */
LOOP(void, own_array_store_repaired, int n, const struct repair *where, const int *good, int *index, const uint32_t *in,
     uint32_t *out);
LOOP(void, own_array_load_repaired, int n, const struct repair *where, const int *good, int *index, const uint32_t *in,
     uint32_t *out);
/* What is wild stays wild, but an earlier iteration sees to it that it isn't used. */
LOOP(void, guard_store_repaired, int n, const struct repair *where, const int *good, int *allowed, const int *index,
     const uint32_t *in, uint32_t *out);
LOOP(void, guard_division_repaired, int n, const struct repair *where, const int *good, int *divisor, const int *in,
     int *out);
LOOP(void, guard_pointer_repaired, int n, const struct repair *where, uint32_t *const *good, uint32_t **pointers,
     const uint32_t *in);
LOOP(void, break_inner_repaired, int n, const struct repair *where, const uint32_t *good, uint32_t *stop,
     const int *place, const uint32_t *in, uint32_t *out);
LOOP(void, stop_flag_repaired, int n, const struct repair *where, uint32_t *stop, const int *index, const uint32_t *in,
     uint32_t *out);
/* The program itself comes to what it can't do. */
LOOP(void, crash_division, int n, const struct repair *where, const int *good, int *divisor, const int *in, int *out);
LOOP(void, crash_store, int n, const struct repair *where, const int64_t *good, int64_t *index, const uint32_t *in,
     uint32_t *out);
LOOP(void, crash_load, int n, const struct repair *where, const int64_t *good, int64_t *index, const uint32_t *in,
     uint32_t *out);
LOOP(void, crash_pointer, int n, const struct repair *where, uint32_t *const *good, uint32_t **pointers,
     const uint32_t *in);
LOOP(void, crash_end, int n, const uint32_t *in, uint32_t *out);
LOOP(void, crash_read_only, int n, const uint32_t *in, uint32_t *out);

#endif
