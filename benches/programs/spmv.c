/* Sparse matrix times vector in compressed rows, as finite elements make them: some dozens of elements in a row, most of them
 * near the diagonal.
 *
 * test size: 2003 */
#include "../../c-tests/support/inputs.h"

typedef struct {
  int rows;
  int *start; /* rows + 1 */
  int *column;
  double *value;
} matrix;

COMPUTE static void product(const matrix *a, const double *x, double *y)
{
  const int *start = a->start, *column = a->column;
  const double *value = a->value;
  for (int i = 0; i < a->rows; i++) { /* loop rows */
    double sum = 0.0;
    for (int k = start[i]; k < start[i + 1]; k++)
      sum += value[k] * x[column[k]];
    y[i] = sum;
  }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", NULL};
  struct check check = check_open(argc, argv, 1u << 19, inputs);
  size_t n = check.size;
  enum { MOST = 40, BAND = 512 };
  matrix a = {.rows = (int)n};
  a.start = check_alloc(&check, n + 1, sizeof *a.start);
  a.column = check_alloc(&check, n * MOST, sizeof *a.column);
  a.value = check_alloc(&check, n * MOST, sizeof *a.value);
  double *x = check_alloc(&check, n, sizeof *x), *y = check_alloc(&check, n, sizeof *y);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_double(&check, x, n);
    int next = 0;
    for (size_t i = 0; i < n; i++) {
      a.start[i] = next;
      int count = 16 + (int)(check_random(&check) % (MOST - 16));
      for (int k = 0; k < count; k++, next++) {
        uint64_t random = check_random(&check);
        /* One in eight couples to anywhere. */
        a.column[next] = (int)(random % 8 == 0 ? (random >> 8) % n : (i + (random >> 8) % BAND) % n);
        a.value[next] = (double)(random >> 40) * 0x1p-24 - 0.5;
      }
    }
    a.start[n] = next;
    check_start(&check);
    product(&a, x, y);
    check_stop(&check);
    check_array(&check, "y", y, n, sizeof *y);
  }
  free(a.start);
  free(a.column);
  free(a.value);
  free(x);
  free(y);
  return check_close(&check);
}
