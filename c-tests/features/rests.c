/* What is left of a row behind its last whole batch: none to three turns, as a rule, which are a batch, too. In these a row loads what it stores to
 * itself: by where it has come to (`beside`), which lanes load before they take the turns of the batch in front, or where that leads
 * (`gathered`). Rows leave each other alone: what two of them load lies far apart.
 *
 * test size: 83
 * loads its own
 * expect beside: runs on clean
 * expect narrow: runs on clean
 * expect gathered: runs on clean */
#include "../support/inputs.h"

/* Turns of whole batches, at most; of rows; and how far apart these lie. */
enum { BATCH = 32, LONGEST = 11 * BATCH, APART = LONGEST + 4 * BATCH };

COMPUTE static void beside(int n, const int *place, const int *begin, const int *end, const double *a, double *x)
{
  for (int i = 0; i < n; i++) { /* loop beside */
    const int own = place[i];
    for (int k = begin[i]; k < end[i]; k++)
      x[own] = x[own] * 0.5 + a[k] * x[k];
  }
}

COMPUTE static void narrow(int n, const int *place, const int *begin, const int *end, const float *a, float *x)
{
  for (int i = 0; i < n; i++) { /* loop narrow */
    const int own = place[i];
    for (int k = begin[i]; k < end[i]; k++)
      x[own] = x[own] * 0.5f + a[k] * x[k];
  }
}

COMPUTE static void gathered(int n, const int *place, const int *begin, const int *end, const int *column, const double *a, double *x)
{
  for (int i = 0; i < n; i++) { /* loop gathered */
    const int own = place[i];
    for (int k = begin[i]; k < end[i]; k++)
      x[own] = x[own] * 0.5 + a[k] * x[column[k]];
  }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "one", NULL};
  struct check check = check_open(argc, argv, 5000, inputs);
  const size_t n = check.size, all = n * APART;
  int *place = check_alloc(&check, n, sizeof *place), *begin = check_alloc(&check, n, sizeof *begin);
  int *end = check_alloc(&check, n, sizeof *end), *column = check_alloc(&check, all, sizeof *column);
  double *a = check_alloc(&check, all, sizeof *a), *x = check_alloc(&check, all, sizeof *x);
  float *b = check_alloc(&check, all, sizeof *b), *y = check_alloc(&check, all, sizeof *y);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_double(&check, a, all);
    fill_double(&check, x, all);
    fill_float(&check, b, all);
    fill_float(&check, y, all);
    for (size_t k = 0; k < all; k++)
      column[k] = (int)k;
    for (size_t i = 0; i < n; i++) {
      /* Long rows have fewer turns in their first batch, by where they begin: so they end anywhere. */
      const size_t whole = check_below(&check, 12) * BATCH, rest = check_below(&check, 5);
      const size_t turns = check_below(&check, 4) == 0 ? check_below(&check, LONGEST) : whole + rest;
      begin[i] = (int)(i * APART + BATCH + check_below(&check, BATCH));
      end[i] = begin[i] + (int)turns;
      /* Some rows don't load it at all. */
      place[i] = end[i] - 1 - (int)check_below(&check, 3);
      if (i % 7 == 3)
        place[i] = end[i] + 1;
      for (size_t turn = 0; turn < 3 && turn < turns; turn++)
        if (check_below(&check, 3) == 0)
          column[end[i] - 1 - (int)turn] = place[i];
    }
    if (check_is(&check, "one")) {
      const struct couple couple = pick_couple(&check, n);
      if (end[couple.second] != begin[couple.second])
        column[end[couple.second] - 1] = place[couple.first];
    }
    check_start(&check);
    for (int entry = 0; entry < 3; entry++) {
      beside((int)n, place, begin, end, a, x);
      narrow((int)n, place, begin, end, b, y);
      gathered((int)n, place, begin, end, column, a, x);
    }
    check_stop(&check);
    check_array(&check, "x", x, all, sizeof *x);
    check_array(&check, "y", y, all, sizeof *y);
  }
  free(place);
  free(begin);
  free(end);
  free(column);
  free(a);
  free(x);
  free(b);
  free(y);
  return check_close(&check);
}
