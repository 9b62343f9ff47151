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
    overlap_rows(&check, &m);
    double *x = check_alloc(&check, n, sizeof *x), *own = check_alloc(&check, n, sizeof *own);
    fill_double(&check, x, n);
    fill_double(&check, own, n);
    const double *y = own;
    if (check_is(&check, "raw"))
      y = m.value + m.begin[n / 2]; /* rows update what other rows multiply by */
    if (check_is(&check, "one")) {
      /* The shared element, made so that the order of the two updates shows in its rounding. */
      for (size_t i = 0; i + 1 < n; i++)
        for (size_t j = i + 1; j < n && m.begin[j] < m.end[i]; j++)
          if (m.begin[j] >= m.begin[i] && m.end[j] == m.end[i] && m.end[j] - m.begin[j] == 1)
            x[i] *= 0x1p40;
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
