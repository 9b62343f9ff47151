/* Rank-1 update of a sparse matrix in compressed rows: A += alpha * x * y', on A's pattern.
 *
 * test size: 1003
 * expect rows: runs on clean
 * expect rows: conflicts on waw raw one every */
#include "../support/inputs.h"

COMPUTE static void ger(const int rows, const int *begin, const int *end, const int *column, double alpha, const double *x,
                        const double *y, double *value)
{
  for (int i = 0; i < rows; i++) { /* loop rows */
    double scaled = alpha * x[i];
    for (int k = begin[i]; k < end[i]; k++)
      value[k] += scaled * y[column[k]];
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
    double *x = check_alloc(&check, n, sizeof *x), *own = check_alloc(&check, n, sizeof *own);
    fill_double(&check, x, n);
    fill_double(&check, own, n);
    const double *y = own;
    if (check_is(&check, "raw"))
      y = m.value + m.begin[n / 2]; /* rows update what other rows multiply by */
    if (check_is(&check, "one")) {
      /* The first of the two updates cancels a large value, so the order shows in the rounding. */
      int shared = m.begin[couple.second];
      x[couple.first] *= 0x1p40;
      m.value[shared] = -1.5 * x[couple.first] * y[m.column[shared]];
    }
    check_start(&check);
    ger((int)n, m.begin, m.end, m.column, 1.5, x, y, m.value);
    check_stop(&check);
    check_array(&check, "value", m.value, m.stored, sizeof *m.value);
    free(own);
    free(x);
    free_csr(&m);
  }
  return check_close(&check);
}
