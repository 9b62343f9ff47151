/* Inputs that several programs share: filled arrays, permutations, duplicates in index arrays, overlapping arrays, and
 * random sparse matrices in compressed rows. */
#ifndef INPUTS_H
#define INPUTS_H

#include "check.h"

CHECK_UTILITY void fill_float(struct check *c, float *a, size_t n)
{
  for (size_t i = 0; i < n; i++)
    a[i] = (float)(check_real(c) * 2.0 - 1.0);
}

CHECK_UTILITY void fill_double(struct check *c, double *a, size_t n)
{
  for (size_t i = 0; i < n; i++)
    a[i] = check_real(c) * 2.0 - 1.0;
}

/* A random permutation of 0 .. n-1. */
CHECK_UTILITY void permute(struct check *c, int *p, size_t n)
{
  for (size_t i = 0; i < n; i++)
    p[i] = (int)i;
  for (size_t i = n - 1; i > 0; i--) {
    size_t j = check_below(c, i + 1);
    int t = p[i];
    p[i] = p[j];
    p[j] = t;
  }
}

/* Two different positions below n, the smaller one first. */
struct couple {
  size_t first, second;
};

CHECK_UTILITY struct couple pick_couple(struct check *c, size_t n)
{
  size_t first = check_below(c, n - 1);
  return (struct couple){first, first + 1 + check_below(c, n - 1 - first)};
}

/* A permutation with the duplicates that the input asks for: `waw` about one in eight, `one` exactly one couple of equal
 * entries, `every` each entry twice, in neighbouring places. Other inputs stay permutations. Returns the couple of `one`. */
CHECK_UTILITY struct couple scatter_indices(struct check *c, int *index, size_t n)
{
  struct couple couple = {0, 0};
  permute(c, index, n);
  if (check_is(c, "waw")) {
    for (size_t i = 0; i < n; i++)
      if (check_below(c, 8) == 0)
        index[i] = index[check_below(c, n)];
  } else if (check_is(c, "one")) {
    couple = pick_couple(c, n);
    index[couple.second] = index[couple.first];
  } else if (check_is(c, "every")) {
    for (size_t i = 1; i < n; i += 2)
      index[i] = index[i - 1];
    if (n % 2 != 0)
      index[n - 1] = index[n - 2];
  }
  return couple;
}

/* Compressed sparse rows. Row i has the elements begin[i] .. end[i]-1 of value and column. */
struct csr {
  int rows;
  int *begin, *end;
  int *column;
  double *value;
  size_t stored; /* elements that value and column have room for */
};

/* About one per cent of the columns in each row, at least two, in increasing order without duplicates. */
CHECK_UTILITY struct csr random_csr(struct check *c, int rows)
{
  struct csr m = {.rows = rows};
  int per_row = rows / 100 > 2 ? rows / 100 : 2;
  m.begin = check_alloc(c, (size_t)rows, sizeof *m.begin);
  m.end = check_alloc(c, (size_t)rows, sizeof *m.end);
  m.stored = (size_t)rows * (size_t)(per_row + per_row / 2 + 1);
  m.column = check_alloc(c, m.stored, sizeof *m.column);
  m.value = check_alloc(c, m.stored, sizeof *m.value);
  int next = 0;
  for (int i = 0; i < rows; i++) {
    int count = per_row - per_row / 2 + (int)check_below(c, (size_t)per_row + 1);
    int step = rows / count;
    m.begin[i] = next;
    for (int k = 0; k < count; k++) {
      m.column[next] = k * step + (int)check_below(c, (size_t)step);
      m.value[next] = check_real(c) * 2.0 - 1.0;
      next++;
    }
    m.end[i] = next;
  }
  return m;
}

/* Lets rows share elements of a matrix of random_csr as the input asks for. Returns the two rows of `one`. */
CHECK_UTILITY struct couple overlap_rows(struct check *c, struct csr *m)
{
  size_t n = (size_t)m->rows;
  struct couple couple = {0, 0};
  if (check_is(c, "waw")) {
    for (size_t i = 1; i < n; i++)
      if (check_below(c, 8) == 0)
        m->begin[i] = m->begin[i - 1];
  } else if (check_is(c, "one")) {
    /* The second row becomes the last element of the first one, so exactly one element has two rows. */
    couple = pick_couple(c, n);
    m->begin[couple.second] = m->end[couple.first] - 1;
    m->end[couple.second] = m->end[couple.first];
  } else if (check_is(c, "every")) {
    for (size_t i = 1; i < n; i += 2) {
      m->begin[i] = m->begin[i - 1];
      m->end[i] = m->end[i - 1];
    }
    m->begin[n - 1] = m->begin[n - 2];
    m->end[n - 1] = m->end[n - 2];
  }
  return couple;
}

CHECK_UTILITY void free_csr(struct csr *m)
{
  free(m->begin);
  free(m->end);
  free(m->column);
  free(m->value);
}

#endif
