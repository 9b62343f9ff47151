/* Rows of which a bitmap guesses first that nothing is stored between the first place that they load and the last. On `least` one row loads the
 * last place that another one stores to, which is the first one that is loaded; on `last` the other way round: so each end of what is loaded
 * has to be in it. On `between` rows store between what they load and meet nothing all the same: what the
 * first run has stored has to be undone then, because each row changes what was there.
 *
 * test size: 611
 * bitmaps
 * expect rows: runs on clean between
 * expect rows: conflicts on least last
 * expect narrow: runs on clean between
 * expect narrow: conflicts on least last */
#include "../support/inputs.h"

COMPUTE static void rows(int n, const int *order, const int *begin, const int *column, const double *a, double *x)
{
  for (int p = 0; p < n; p++) { /* loop rows */
    int i = order[p];
    double sum = 0.0;
    for (int k = begin[p]; k < begin[p + 1]; k++)
      sum += a[k] * x[column[k]];
    x[i] = x[i] * 0.5 + sum;
  }
}

/* Numbers as wide as subscripts. */
COMPUTE static void narrow(int n, const int *order, const int *begin, const int *column, const unsigned *a, unsigned *x)
{
  for (int p = 0; p < n; p++) { /* loop narrow */
    int i = order[p];
    unsigned sum = 0;
    for (int k = begin[p]; k < begin[p + 1]; k++)
      sum += a[k] * x[column[k]];
    x[i] = x[i] * 3 + sum;
  }
}

enum { MOST = 12 };

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "between", "least", "last", NULL};
  struct check check = check_open(argc, argv, 4003, inputs);
  size_t n = check.size, places = 3 * n, most = MOST * n;
  int *order = check_alloc(&check, n, sizeof *order), *begin = check_alloc(&check, n + 1, sizeof *begin);
  int *column = check_alloc(&check, most, sizeof *column);
  double *a = check_alloc(&check, most, sizeof *a), *x = check_alloc(&check, places, sizeof *x);
  unsigned *b = check_alloc(&check, most, sizeof *b), *y = check_alloc(&check, places, sizeof *y);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    bool between = check_is(&check, "between"), least = check_is(&check, "least"), last = check_is(&check, "last");
    permute(&check, order, n);
    begin[0] = 0;
    for (size_t p = 0; p < n; p++)
      begin[p + 1] = begin[p] + 1 + (int)check_below(&check, MOST);
    for (size_t k = 0; k < most; k++) {
      int place = (int)check_below(&check, n);
      column[k] = between ? 2 * place + 1 : last ? place : 2 * (int)n + place;
      b[k] = (unsigned)check_random(&check);
    }
    for (size_t p = 0; p < n; p++)
      order[p] = between ? 2 * order[p] : (int)n + order[p];
    /* One row early, one late. */
    size_t early = check_below(&check, n / 4), late = n / 2 + check_below(&check, n / 4);
    if (least || last) {
      int met = (int)n + (last ? 0 : (int)n - 1);
      for (size_t p = 0; p < n; p++)
        if (order[p] == met)
          order[p] = order[early];
      order[early] = met;
      column[begin[late]] = met;
    }
    fill_double(&check, a, most);
    fill_double(&check, x, places);
    for (size_t k = 0; k < places; k++)
      y[k] = (unsigned)check_random(&check);
    check_start(&check);
    rows((int)n, order, begin, column, a, x);
    narrow((int)n, order, begin, column, b, y);
    check_stop(&check);
    check_array(&check, "x", x, places, sizeof *x);
    check_array(&check, "y", y, places, sizeof *y);
  }
  free(y);
  free(b);
  free(x);
  free(a);
  free(column);
  free(begin);
  free(order);
  return check_close(&check);
}
