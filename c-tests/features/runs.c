/* Rows whose turns each store to the next place: their notes are made ahead of them, by whole words. Places have two cells each, because narrower
 * numbers are stored, too; rows have no turn, one, about as many as a warp has lanes, or many, and begin anywhere in a word. On `clean` there
 * are places between them, on `waw` rows overlap by one place, on `one` two of them do.
 *
 * test size: 403
 * bitmaps
 * expect rows: runs on clean
 * expect rows: conflicts on waw one
 * expect tails: runs on clean
 * expect tails: conflicts on waw one */
#include "../support/inputs.h"

COMPUTE static void rows(int n, const int *begin, const int *end, const int *column, const double *x, const double *y, double *value,
                         int *length)
{
  for (int i = 0; i < n; i++) { /* loop rows */
    double scaled = 1.5 * x[i];
    length[i] = end[i] - begin[i];
    for (int k = begin[i]; k < end[i]; k++)
      value[k] += scaled * y[column[k]];
  }
}

/* Places of one cell. */
COMPUTE static void tails(int n, const int *begin, const int *end, const int *column, const float *y, float *value)
{
  for (int i = 0; i < n; i++) /* loop tails */
    for (int k = begin[i]; k < end[i]; k++)
      value[k] += y[column[k]] * 0.5f;
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "waw", "one", NULL};
  struct check check = check_open(argc, argv, 4003, inputs);
  size_t n = check.size, most;
  int *begin = check_alloc(&check, n, sizeof *begin), *end = check_alloc(&check, n, sizeof *end);
  int *length = check_alloc(&check, n, sizeof *length);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    size_t places = 0, meets = check_below(&check, n / 2) + n / 4;
    for (size_t i = 0; i < n; i++) {
      static const size_t lengths[] = {0, 1, 3, 31, 32, 33, 64, 200};
      begin[i] = (int)places;
      places += lengths[check_below(&check, 8)];
      end[i] = (int)places;
      if (places > (size_t)begin[i]) {
        if (check_is(&check, "waw") || (check_is(&check, "one") && i >= meets && places > 1)) {
          places--;
          meets = n;
        }
      }
      /* Places that nobody stores to. */
      if (check_is(&check, "clean"))
        places += 5 * check_below(&check, 3);
    }
    most = places + 1;
    int *column = check_alloc(&check, most, sizeof *column);
    double *value = check_alloc(&check, most, sizeof *value), *x = check_alloc(&check, n, sizeof *x);
    double *y = check_alloc(&check, n, sizeof *y);
    float *narrow = check_alloc(&check, most, sizeof *narrow), *factor = check_alloc(&check, n, sizeof *factor);
    for (size_t k = 0; k < most; k++)
      column[k] = (int)check_below(&check, n);
    fill_double(&check, value, most);
    fill_double(&check, x, n);
    fill_double(&check, y, n);
    fill_float(&check, narrow, most);
    fill_float(&check, factor, n);
    check_start(&check);
    rows((int)n, begin, end, column, x, y, value, length);
    tails((int)n, begin, end, column, factor, narrow);
    check_stop(&check);
    check_array(&check, "value", value, most, sizeof *value);
    check_array(&check, "length", length, n, sizeof *length);
    check_array(&check, "narrow", narrow, most, sizeof *narrow);
    free(factor);
    free(narrow);
    free(y);
    free(x);
    free(value);
    free(column);
  }
  free(length);
  free(end);
  free(begin);
  return check_close(&check);
}
