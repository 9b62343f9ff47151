/* Turns of inner loops that store to a place which is held meanwhile, or to places that move on, and load what turns before them have stored:
 * lanes that make turns ahead for each other must not have loaded it before. Iterations leave each other alone.
 *
 * test size: 203
 * expect fixed: runs unchecked at last on clean
 * expect moving: runs unchecked at last on clean
 * expect fields: runs unchecked at last on clean */
#include "../support/inputs.h"

enum { LENGTH = 41 };

/* The place that a row stores to is among those that it loads. */
COMPUTE static void fixed(int n, const int *begin, const int *column, const double *a, double *x)
{
  for (int i = 0; i < n; i++) /* loop fixed */
    for (int k = begin[i]; k < begin[i + 1]; k++)
      x[i] = x[i] * 0.5 - a[k] * x[column[k]];
}

COMPUTE static void moving(int n, const int *begin, const int *before, const double *a, double *value)
{
  for (int i = 0; i < n; i++) /* loop moving */
    for (int k = begin[i]; k < begin[i + 1]; k++)
      value[k] = value[k] * 0.25 + a[k] * value[before[k]];
}

/* Other fields lie between the places. */
struct part {
  double value, weight;
};

COMPUTE static void fields(int n, const int *begin, const int *before, const double *a, struct part *parts)
{
  for (int i = 0; i < n; i++) /* loop fields */
    for (int k = begin[i]; k < begin[i + 1]; k++)
      parts[k].value = parts[k].value * 0.25 + a[k] * parts[before[k]].value + parts[before[k]].weight;
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", NULL};
  struct check check = check_open(argc, argv, 20000, inputs);
  size_t n = check.size, all = n * LENGTH;
  int *begin = check_alloc(&check, n + 1, sizeof *begin);
  int *column = check_alloc(&check, all, sizeof *column), *before = check_alloc(&check, all, sizeof *before);
  double *a = check_alloc(&check, all, sizeof *a), *x = check_alloc(&check, 2 * n, sizeof *x);
  double *value = check_alloc(&check, all, sizeof *value);
  struct part *parts = check_alloc(&check, all, sizeof *parts);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_double(&check, a, all);
    fill_double(&check, x, 2 * n);
    fill_double(&check, value, all);
    fill_double(&check, &parts[0].value, 2 * all);
    for (size_t i = 0; i <= n; i++)
      begin[i] = (int)(i * LENGTH);
    for (size_t k = 0; k < all; k++) {
      const size_t row = k / LENGTH;
      /* Nobody stores to the second half. */
      column[k] = (int)(check_below(&check, 5) == 0 ? row : n + check_below(&check, n));
      before[k] = (int)(row * LENGTH + check_below(&check, LENGTH));
    }
    check_start(&check);
    for (int entry = 0; entry < 3; entry++) {
      fixed((int)n, begin, column, a, x);
      moving((int)n, begin, before, a, value);
      fields((int)n, begin, before, a, parts);
    }
    check_stop(&check);
    check_array(&check, "x", x, 2 * n, sizeof *x);
    check_array(&check, "value", value, all, sizeof *value);
    check_array(&check, "parts", parts, all, sizeof *parts);
  }
  free(begin);
  free(column);
  free(before);
  free(a);
  free(x);
  free(value);
  free(parts);
  return check_close(&check);
}
