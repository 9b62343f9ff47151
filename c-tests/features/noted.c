/* Loads that bitmaps note in turns which are run some at once: one in each turn, two, and some under conditions, which are noted by themselves; and
 * one in each iteration, which is the last one that its thread notes. On `raw` rows load what other rows store, in any of their turns, on `one`
 * one row in one of its first turns, on `last` in its last one, which none comes with.
 *
 * test size: 803
 * bitmaps
 * expect single: runs on clean
 * expect single: conflicts on raw one last
 * expect both: runs on clean
 * expect both: conflicts on raw one last
 * expect some: runs on clean
 * expect some: conflicts on raw one last
 * expect alone: runs on clean
 * expect alone: conflicts on raw one last
 * expect behind: runs on clean
 * expect behind: conflicts on raw one last */
#include "../support/inputs.h"

enum { WIDTH = 21 };

COMPUTE static void single(int n, int width, const int *order, const int *column, const double *a, double *x)
{
  for (int p = 0; p < n; p++) { /* loop single */
    int i = order[p];
    double sum = 0.0;
    for (int k = 0; k < width; k++)
      sum += a[k * n + i] * x[column[k * n + i]];
    x[i] = sum;
  }
}

COMPUTE static void both(int n, int width, const int *order, const int *column, const double *a, double *x, double *y)
{
  for (int p = 0; p < n; p++) { /* loop both */
    int i = order[p];
    double sum = 0.0;
    for (int k = 0; k < width; k++)
      sum += y[column[k * n + i]] * x[column[k * n + i]];
    x[i] = sum;
    y[i] = sum * a[i];
  }
}

COMPUTE static void some(int n, int width, const int *order, const int *column, const double *a, double *x)
{
  for (int p = 0; p < n; p++) { /* loop some */
    int i = order[p];
    double sum = 0.0;
    for (int k = 0; k < width; k++)
      if (a[k * n + i] > 0.25)
        sum += x[column[k * n + i]];
    x[i] = sum;
  }
}

COMPUTE static void alone(int n, const int *order, const int *column, const double *a, double *y)
{
  for (int p = 0; p < n; p++) /* loop alone */
    y[order[p]] = a[p] * y[column[p]];
}

/* What is stored behind a loop is noted ahead of it. */
COMPUTE static void behind(int n, int width, const int *column, const double *a, const double *from, double *to)
{
  for (int i = 0; i < n; i++) { /* loop behind */
    double sum = 0.0;
    for (int k = 0; k < width; k++)
      sum += a[k * n + i] * from[column[k * n + i]];
    to[i] = sum;
  }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "raw", "one", "last", NULL};
  struct check check = check_open(argc, argv, 4003, inputs);
  size_t n = check.size, all = 2 * n;
  int *order = check_alloc(&check, n, sizeof *order), *column = check_alloc(&check, all * WIDTH, sizeof *column);
  double *a = check_alloc(&check, all * WIDTH, sizeof *a);
  double *x = check_alloc(&check, all, sizeof *x), *y = check_alloc(&check, all, sizeof *y);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    permute(&check, order, n);
    fill_double(&check, a, all * WIDTH);
    fill_double(&check, x, all);
    fill_double(&check, y, all);
    /* Rows store to the first half and load from the second one. */
    for (size_t k = 0; k < all * WIDTH; k++)
      column[k] = (int)(n + check_below(&check, n));
    struct couple couple = pick_couple(&check, n);
    size_t turn = check_is(&check, "last") ? WIDTH - 1 : check_below(&check, 4);
    if (check_is(&check, "raw"))
      for (size_t p = 1; p < n; p++)
        column[(p % WIDTH) * n + (size_t)order[p]] = order[p - 1];
    if (check_is(&check, "one") || check_is(&check, "last"))
      column[turn * n + (size_t)order[couple.second]] = order[couple.first];
    for (size_t k = 0; k < WIDTH; k++)
      a[k * n + (size_t)order[couple.second]] = 0.5;
    check_start(&check);
    single((int)n, WIDTH, order, column, a, x);
    both((int)n, WIDTH, order, column, a, x, y);
    some((int)n, WIDTH, order, column, a, x);
    alone((int)n, order, column + turn * n, a, y);
    behind((int)n, WIDTH, column, a, x, x);
    check_stop(&check);
    check_array(&check, "x", x, all, sizeof *x);
    check_array(&check, "y", y, all, sizeof *y);
  }
  free(y);
  free(x);
  free(a);
  free(column);
  free(order);
  return check_close(&check);
}
