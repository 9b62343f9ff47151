/* Minima and maxima of integers and floating-point numbers, with the place where they are: the first one or the last one,
 * strict or not, conditional, of computed values, in nests, written as macros; among equal numbers, zeros of either sign and
 * NaNs.
 *
 * test size: 4099
 * expect first: runs on clean equal zeros nan
 * expect last: runs on clean equal zeros nan
 * expect macro: runs on clean equal zeros
 * expect negated: runs on clean equal zeros
 * expect ints: runs on clean equal zeros nan
 * expect narrow: runs on clean equal zeros nan
 * expect computed: runs on clean equal zeros nan
 * expect nest: runs on clean equal zeros nan
 * expect rows: runs on clean equal zeros nan
 * expect unrolled: runs on clean equal zeros nan
 * expect beside: runs on clean equal zeros nan
 * expect never: runs on clean equal zeros nan */
#include "../support/inputs.h"
#include <math.h>

#define MAX(a, b) ((a) > (b) ? (a) : (b))

struct results {
  double first, last, computed, nested, unrolled, beside, never, negated;
  float macro, other_macro;
  int first_at, last_at, least, least_at, computed_at, row, column, unrolled_at, never_at;
  unsigned greatest;
  long greatest_at;
  short narrow, narrower;
  signed char tiny;
  double companion;
};

COMPUTE static void doubles(int n, const double *a, const double *b, struct results *r)
{
  double m = a[0], last = a[0], far = -1.0, negated = a[n - 1];
  int at = 0, last_at = -5, far_at = 0;
  for (int i = 1; i < n; i++) { /* loop first */
    if (a[i] > m) {
      m = a[i];
      at = i;
    }
  }
  for (int i = 0; i < n; i++) { /* loop last */
    if (last >= a[i]) {
      last_at = i;
      last = a[i];
    }
  }
  for (int i = 0; i < n; i++) { /* loop computed */
    double distance = fabs(a[i] - b[i]);
    if (i % 3 != 1 && distance > far) {
      far = distance;
      far_at = i;
    }
  }
  for (int i = 0; i < n; i++) { /* loop negated */
    if (!(negated <= a[i]))
      negated = a[i];
  }
  r->negated = negated;
  r->first = m;
  r->first_at = at;
  r->last = last;
  r->last_at = last_at;
  r->computed = far;
  r->computed_at = far_at;
}

COMPUTE static void macros(int n, const float *f, struct results *r)
{
  float m = f[0], other = f[0];
  for (int i = 0; i < n; i++) { /* loop macro */
    m = MAX(m, f[i]);
    other = MAX(f[i], other);
  }
  r->macro = m;
  r->other_macro = other;
}

COMPUTE static void integers(size_t n, const int *a, const short *s, struct results *r)
{
  int least = a[0], least_at = 0;
  unsigned greatest = 0;
  long greatest_at = -1;
  short narrow = s[0], narrower = s[0];
  signed char tiny = 127;
  for (size_t i = 0; i < n; i++) { /* loop ints */
    if (a[i] < least) {
      least = a[i];
      least_at = (int)i;
    }
    if ((unsigned)a[i] >= greatest)
      greatest = (unsigned)a[i], greatest_at = (long)i;
  }
  for (size_t i = 0; i < n; i++) { /* loop narrow */
    if (s[i] > narrow)
      narrow = s[i];
    narrower = s[i] < narrower ? s[i] : narrower;
    tiny = (signed char)s[i] < tiny ? (signed char)s[i] : tiny;
  }
  r->least = least;
  r->least_at = least_at;
  r->greatest = greatest;
  r->greatest_at = greatest_at;
  r->narrow = narrow;
  r->narrower = narrower;
  r->tiny = tiny;
}

COMPUTE static void nested(int rows, int columns, const double *a, struct results *r, double *of_rows)
{
  double m = -1e308;
  int row = -1, column = -1;
  for (int i = 0; i < rows; i++) /* loop nest */
    for (int j = 0; j < columns; j++)
      if (a[i * columns + j] > m) {
        m = a[i * columns + j];
        row = i;
        column = j;
      }
  for (int i = 0; i < rows; i++) { /* loop rows */
    double least = a[i * columns];
    for (int j = 1; j < columns; j++)
      if (a[i * columns + j] < least)
        least = a[i * columns + j];
    of_rows[i] = least;
  }
  r->nested = m;
  r->row = row;
  r->column = column;
}

COMPUTE static void several(int n, const double *a, const double *b, struct results *r, double *copy)
{
  double m = -1e308, beside = 1e308, never = INFINITY, with = 0;
  int at = -1, never_at = -7;
  for (int i = 0; i < n - 1; i += 2) { /* loop unrolled */
    if (a[i] > m) {
      m = a[i];
      at = i;
    }
    if (a[i + 1] > m) {
      m = a[i + 1];
      at = i + 1;
    }
  }
  for (int i = 0; i < n; i++) { /* loop beside */
    copy[i] = a[i] * 2.0 + b[i];
    if (copy[i] < beside) {
      beside = copy[i];
      with = b[i] + i;
    }
  }
  for (int i = 0; i < n; i++) { /* loop never */
    if (a[i] > never) {
      never = a[i];
      never_at = i;
    }
  }
  r->unrolled = m;
  r->unrolled_at = at;
  r->beside = beside;
  r->companion = with;
  r->never = never;
  r->never_at = never_at;
}

/* None of these is one: the second greatest, one that is read elsewhere, one whose place is read, two relations, a value that
 * is rounded when it is taken. */
COMPUTE static void chains(int n, const double *a, const int *k, double *out)
{
  double first = -1e308, second = -1e308, seen = -1e308, placed = -1e308, both = 0.0;
  float rounded = -1.0f;
  int at = 0, distance = 0;
  for (int i = 0; i < n; i++) { /* loop second */
    if (a[i] > first) {
      second = first;
      first = a[i];
    }
  }
  for (int i = 0; i < n; i++) { /* loop seen */
    if (a[i] > seen)
      seen = a[i];
    out[i] = seen;
  }
  for (int i = 0; i < n; i++) { /* loop placed */
    if (a[i] > placed) {
      placed = a[i];
      at = i;
    }
    distance += i - at;
  }
  for (int i = 0; i < n; i++) { /* loop both */
    if (a[i] > both)
      both = a[i];
    if (a[i] < both - 1.0)
      both = a[i];
  }
  for (int i = 0; i < n; i++) { /* loop rounded */
    if (a[i] > rounded)
      rounded = (float)a[i];
  }
  int wide = k[0];
  for (int i = 0; i < n; i++) { /* loop wide */
    if ((short)k[i] > wide)
      wide = k[i];
  }
  out[0] = second + distance + both + rounded + wide;
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "equal", "zeros", "nan", "nan_first", "nan_all", NULL};
  struct check check = check_open(argc, argv, 1u << 20, inputs);
  size_t n = check.size;
  int *k = check_alloc(&check, n, sizeof *k);
  short *s = check_alloc(&check, n, sizeof *s);
  float *f = check_alloc(&check, n, sizeof *f);
  double *a = check_alloc(&check, n, sizeof *a), *b = check_alloc(&check, n, sizeof *b), *out = check_alloc(&check, n, sizeof *out);
  double *of_rows = check_alloc(&check, n, sizeof *of_rows), *copy = check_alloc(&check, n, sizeof *copy);

  for (int r = 0; r < check.repeat; r++) {
    struct results results;
    memset(&results, 0, sizeof results);
    check_begin(&check);
    fill_double(&check, a, n);
    fill_double(&check, b, n);
    fill_float(&check, f, n);
    for (size_t i = 0; i < n; i++) {
      k[i] = (int)check_random(&check) >> 3;
      s[i] = (short)check_random(&check);
      if (check_is(&check, "equal")) {
        a[i] = b[i] = (double)check_below(&check, 4);
        f[i] = (float)a[i];
        k[i] = s[i] = (short)check_below(&check, 3);
      } else if (check_is(&check, "zeros")) {
        a[i] = check_below(&check, 2) ? 0.0 : -0.0;
        b[i] = check_below(&check, 2) ? 0.0 : -0.0;
        f[i] = check_below(&check, 2) ? 0.0f : -0.0f;
      } else if (check_is(&check, "nan_all") || (check_is(&check, "nan") && check_below(&check, 50) == 0)) {
        a[i] = check_below(&check, 2) ? (double)NAN : -(double)NAN;
        f[i] = (float)a[i];
      }
    }
    if (check_is(&check, "nan_first"))
      a[0] = b[0] = f[0] = NAN;
    memset(of_rows, 0, n * sizeof *of_rows);
    check_start(&check);
    doubles((int)n, a, b, &results);
    macros((int)n, f, &results);
    integers(n, k, s, &results);
    nested((int)n / 61, 61, a, &results, of_rows);
    several((int)n, a, b, &results, copy);
    chains((int)n, a, k, out);
    check_stop(&check);
    check_array(&check, "results", &results, 1, sizeof results);
    check_array(&check, "out", out, n, sizeof *out);
    check_array(&check, "of_rows", of_rows, n, sizeof *of_rows);
    check_array(&check, "copy", copy, n, sizeof *copy);
  }
  free(k);
  free(s);
  free(f);
  free(a);
  free(b);
  free(out);
  free(of_rows);
  free(copy);
  return check_close(&check);
}
