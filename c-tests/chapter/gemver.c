/* The BLAS-2.5 operation gemver on a sparse matrix: A += u1*v1' + u2*v2' on A's pattern, then x += beta*A'*y, then
 * w += alpha*A*x. Three pairs of loops. The transposed product walks along columns through a list of their elements;
 * the last product takes the rows in an order of its own, as formats that sort rows by length do.
 *
 * test size: 503
 * expect update: runs on clean
 * expect transposed: runs on clean
 * expect product: runs on clean
 * expect update: conflicts on waw raw one every
 * expect transposed: conflicts on raw
 * expect product: conflicts on waw every */
#include "../support/inputs.h"

struct columns {
  int *start;   /* column j has the list elements start[j] .. start[j+1]-1 */
  int *element; /* where they are in the matrix */
  int *row;
};

/* Lists the elements of each column. Rows that overlap contribute an element once each. */
static struct columns list_columns(struct check *c, const struct csr *m)
{
  struct columns t;
  size_t n = (size_t)m->rows, total = 0;
  t.start = check_alloc(c, n + 2, sizeof *t.start);
  for (size_t i = 0; i < n; i++)
    for (int k = m->begin[i]; k < m->end[i]; k++, total++)
      t.start[m->column[k] + 2]++;
  for (size_t j = 2; j < n + 2; j++)
    t.start[j] += t.start[j - 1];
  t.element = check_alloc(c, total, sizeof *t.element);
  t.row = check_alloc(c, total, sizeof *t.row);
  for (size_t i = 0; i < n; i++)
    for (int k = m->begin[i]; k < m->end[i]; k++) {
      int place = t.start[m->column[k] + 1]++;
      t.element[place] = k;
      t.row[place] = (int)i;
    }
  return t;
}

COMPUTE static void gemver(const struct csr *a, const struct columns *t, const int *order, double alpha, double beta,
                           const double *u1, const double *v1, const double *u2, const double *v2, const double *y,
                           double *x, double *w)
{
  const int n = a->rows;
  const int *begin = a->begin, *end = a->end, *column = a->column;
  double *value = a->value;
  for (int i = 0; i < n; i++) /* loop update */
    for (int k = begin[i]; k < end[i]; k++)
      value[k] = value[k] + u1[i] * v1[column[k]] + u2[i] * v2[column[k]];

  const int *start = t->start, *element = t->element, *row = t->row;
  for (int j = 0; j < n; j++) { /* loop transposed */
    double sum = x[j];
    for (int k = start[j]; k < start[j + 1]; k++)
      sum += beta * value[element[k]] * y[row[k]];
    x[j] = sum;
  }

  for (int p = 0; p < n; p++) { /* loop product */
    const int i = order[p];
    double sum = 0.0;
    for (int k = begin[i]; k < end[i]; k++)
      sum += value[k] * x[column[k]];
    w[i] += alpha * sum + p;
  }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "waw", "raw", "one", "every", NULL};
  struct check check = check_open(argc, argv, 65536, inputs);
  size_t n = check.size;

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    struct csr m = random_csr(&check, (int)n);
    struct couple couple = overlap_rows(&check, &m);
    struct columns t = list_columns(&check, &m);
    int *order = check_alloc(&check, n, sizeof *order);
    if (check_is(&check, "one"))
      permute(&check, order, n);
    else
      scatter_indices(&check, order, n);
    double *vectors = check_alloc(&check, 7 * n, sizeof *vectors);
    fill_double(&check, vectors, 7 * n);
    double *u1 = vectors, *v1 = u1 + n, *u2 = v1 + n, *v2 = u2 + n, *y = v2 + n, *x = y + n, *w = x + n;
    if (check_is(&check, "raw")) {
      v1 = m.value; /* the update reads elements that it changes */
      y = x;        /* the transposed product reads elements that it changes */
    }
    if (check_is(&check, "one")) {
      /* The first of the two updates cancels a large value, so the order shows in the rounding. */
      int shared = m.begin[couple.second];
      u1[couple.first] *= 0x1p40;
      m.value[shared] = -u1[couple.first] * v1[m.column[shared]];
    }
    check_start(&check);
    gemver(&m, &t, order, 1.5, 1.25, u1, v1, u2, v2, y, x, w);
    check_stop(&check);
    check_array(&check, "value", m.value, m.stored, sizeof *m.value);
    check_array(&check, "vectors", vectors, 7 * n, sizeof *vectors);
    free(vectors);
    free(order);
    free(t.start);
    free(t.element);
    free(t.row);
    free_csr(&m);
  }
  return check_close(&check);
}
