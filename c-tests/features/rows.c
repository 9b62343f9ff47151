/* Matrices as tables of row pointers. Rows may be one and the same (`every`), share an element (`one`) or overlap (`waw`).
 *
 * test size: 61
 * expect scale: runs on clean */
#include "../support/inputs.h"

COMPUTE static void scale(size_t n, double **a, double **b, double factor)
{
  for (size_t i = 0; i < n; i++) /* loop scale */
    for (size_t j = 0; j < n; j++)
      a[i][j] = b[i][j] * factor;
}

COMPUTE static void row_sums(int n, double **a, double *sums)
{
  for (int i = 0; i < n; i++) { /* loop sums */
    const double *row = a[i];
    double sum = 0.0;
    for (int j = 0; j < n; j++)
      sum += *row++;
    sums[i] = sum;
  }
}

COMPUTE static void swap_rows(size_t n, double **a)
{
  for (size_t i = 0; i < n / 2; i++) { /* loop swap */
    double *row = a[i];
    a[i] = a[n - 1 - i];
    a[n - 1 - i] = row;
  }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "waw", "raw", "one", "every", NULL};
  struct check check = check_open(argc, argv, 512, inputs);
  size_t n = check.size;
  double *cells = check_alloc(&check, 2 * n * n, sizeof *cells), *sums = check_alloc(&check, n, sizeof *sums);
  double **a = check_alloc(&check, n, sizeof *a), **b = check_alloc(&check, n, sizeof *b);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_double(&check, cells, 2 * n * n);
    for (size_t i = 0; i < n; i++) {
      a[i] = cells + i * n;
      b[i] = cells + n * n + i * n;
    }
    if (check_is(&check, "waw")) {
      for (size_t i = 1; i < n; i++)
        a[i] = a[i - 1] + n - 1;
    } else if (check_is(&check, "raw")) {
      for (size_t i = 0; i < n; i++)
        b[i] = a[(i + n - 1) % n];
    } else if (check_is(&check, "one")) {
      struct couple couple = pick_couple(&check, n);
      a[couple.second] = a[couple.first] + n - 1;
      /* The other rows move out of the way. */
      size_t place = (couple.first + 2) * n;
      for (size_t i = couple.first + 1; i < n; i++)
        if (i != couple.second) {
          a[i] = cells + place;
          place += n;
        }
    } else if (check_is(&check, "every")) {
      for (size_t i = 0; i < n; i++)
        a[i] = cells;
    }
    check_start(&check);
    scale(n, a, b, 1.5);
    row_sums((int)n, a, sums);
    swap_rows(n, a);
    check_stop(&check);
    check_array(&check, "cells", cells, 2 * n * n, sizeof *cells);
    check_array(&check, "sums", sums, n, sizeof *sums);
    ptrdiff_t *places = check_alloc(&check, n, sizeof *places);
    for (size_t i = 0; i < n; i++)
      places[i] = a[i] - cells;
    check_array(&check, "rows", places, n, sizeof *places);
    free(places);
  }
  free(cells);
  free(sums);
  free(a);
  free(b);
  return check_close(&check);
}
