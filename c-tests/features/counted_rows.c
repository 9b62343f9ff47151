/* Rows of different lengths, which come in the order of these where only their turns were counted (`rows`); rows of segments, whose heads are innermost loops but
 * whose outer loop ends by what these set (`segments`): to count them alone would never end. All segments have an odd number of turns, or on `even` an even one.
 *
 * bitmaps
 * test size: 1500
 * expect rows: is sorted on clean even */
#include "../support/inputs.h"

enum { SEGMENTS = 5 };

COMPUTE static void rows(double *x, const int *begin, const int *column, const double *value, int n)
{
  for (int i = 0; i < n; i++) { /* loop rows */
    double sum = 0;
    for (int k = begin[i]; k < begin[i + 1]; k++)
      sum += value[k] * x[column[k]];
    x[i] = sum;
  }
}

COMPUTE static void segments(double *x, const int *begin, const int *of, const int *segment, const int *column, const double *value, int n)
{
  for (int i = 0; i < n; i++) { /* loop segments */
    double sum = 0;
    int at = begin[i];
    while (at < begin[i + 1]) {
      int s = of[at];
      for (int k = segment[s]; k < segment[s + 1]; k++) {
        sum += value[k] * x[column[k]];
        at++;
      }
    }
    x[i] = sum;
  }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "even", NULL};
  struct check check = check_open(argc, argv, 100000, inputs);
  size_t n = check.size, turns = check_is(&check, "even") ? 8 : 7, all = n * SEGMENTS * turns;
  double *x = check_alloc(&check, 2 * n, sizeof *x), *y = check_alloc(&check, 2 * n, sizeof *y), *value = check_alloc(&check, all, sizeof *value);
  int *begin = check_alloc(&check, n + 1, sizeof *begin), *whole = check_alloc(&check, n + 1, sizeof *whole);
  int *segment = check_alloc(&check, n * SEGMENTS + 1, sizeof *segment);
  int *of = check_alloc(&check, all, sizeof *of), *column = check_alloc(&check, all, sizeof *column);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_double(&check, x, 2 * n);
    fill_double(&check, y, 2 * n);
    fill_double(&check, value, all);
    for (size_t i = 0, at = 0; i <= n; i++) {
      begin[i] = (int)at;
      whole[i] = (int)(i * SEGMENTS * turns);
      /* One of 16 is long. */
      at += i % 16 == 5 ? SEGMENTS * turns : i % 7;
    }
    for (size_t s = 0; s <= n * SEGMENTS; s++)
      segment[s] = (int)(s * turns);
    for (size_t k = 0; k < all; k++) {
      of[k] = (int)(k / turns);
      column[k] = (int)(n + check_below(&check, n));
    }
    check_start(&check);
    rows(x, begin, column, value, (int)n);
    segments(y, whole, of, segment, column, value, (int)n);
    check_stop(&check);
    check_array(&check, "x", x, 2 * n, sizeof *x);
    check_array(&check, "y", y, 2 * n, sizeof *y);
  }
  free(x);
  free(y);
  free(value);
  free(begin);
  free(whole);
  free(segment);
  free(of);
  free(column);
  return check_close(&check);
}
