/* What `#pragma paragon` says of loops: an assertion is checked, so a wrong one changes no result; what is unchecked is true here.
 *
 * test size: 2000
 * expect rows: runs on clean
 * expect rows: conflicts on waw raw
 * expect once: runs on clean
 * expect once: conflicts on waw
 * expect shifted: runs on clean
 * expect shifted: conflicts on raw
 * expect outer: runs on clean
 * expect summed: runs on clean waw raw
 * expect unchecked: runs on clean waw raw
 * expect made: runs on clean waw raw
 * expect beside: runs on clean waw raw */
#include "../support/inputs.h"

#define INDEPENDENT _Pragma("paragon independent")
#define PRAGMA(words) _Pragma(#words)
#define UNCHECKED PRAGMA(paragon independent unchecked)

static void add_row(double *y, const int *columns, const double *x, int first, int last)
{
  for (int k = first; k < last; k++)
    y[columns[k]] += x[k];
}

/* A guess that would not be made: the called function has a loop of its own, which is tried instead. */
COMPUTE static void rows(double *y, const int *columns, const double *x, int n, int width)
{
#pragma paragon independent
  for (int i = 0; i < n; i++) /* loop rows */
    add_row(y, columns, x, i * width, (i + 1) * width);
}

/* One place that is stored to under a condition: certainly the same in every iteration that comes there. */
COMPUTE static void once(int *place, const int *flags, int n)
{
  INDEPENDENT
  for (int i = 0; i < n; i++) /* loop once */
    if (flags[i])
      *place = i;
}

COMPUTE static void shifted(double *a, int n, const int *to)
{
  int i;
  if (n > 0)
    PRAGMA(paragon independent)
    for (i = 0; i < n; i++) /* loop shifted */
      a[to[i]] = a[i] + 1;
}

/* It is the outer loop that is independent; its inner iterations all store to one element. */
COMPUTE static void outer(double *y, const int *to, const double *x, int n, int width)
{
#pragma paragon independent
  for (int i = 0; i < n; i++) /* loop outer */
    for (int j = 0; j < width; j++)
      y[to[i]] = y[to[i]] * 0.5 + x[i * width + j];
}

/* The same unchecked: what is said of the outer loop is not said of the inner one. */
COMPUTE static void summed(double *y, const int *to, const double *x, int n, int width)
{
#pragma paragon independent unchecked
  for (int i = 0; i < n; i++) /* loop summed */
    for (int j = 0; j < width; j++)
      y[to[i]] = y[to[i]] * 0.25 + x[i * width + j];
}

COMPUTE static void unchecked(double *y, const int *to, const double *x, int n)
{
#pragma paragon independent unchecked
  for (int i = 0; i < n; i++) /* loop unchecked */
    y[to[i]] = x[i] + 2 * y[to[i]];
}

COMPUTE static void made(double *y, const int *to, const double *x, int n)
{
  UNCHECKED for (int i = 0; i < n; i++) /* loop made */
    y[to[i]] = x[i] - y[to[i]];
}

/* What stays as it stands can't be part of anything else, and what it stands beside can run. */
COMPUTE static void forbidden(double *y, int n, int width)
{
  for (int i = 0; i < n; i++)
#pragma paragon forbid
    for (int j = 0; j < width; j++)
      y[i * width + j] += 1;
  for (int i = 0; i < n; i++) /* loop beside */
    y[i] *= 2;
}

/* gcc's own pragmas have to be followed by the loop itself; the others of the file still run. */
COMPUTE static void bound(double *y, const double *x, int n)
{
#pragma GCC ivdep
  for (int i = 0; i < n; i++)
    y[i] += x[i];
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "waw", "raw", NULL};
  struct check check = check_open(argc, argv, 1u << 18, inputs);
  int n = (int)check.size, width = 8;
  double *x = check_alloc(&check, (size_t)n * (size_t)width, sizeof *x);
  double *y = check_alloc(&check, (size_t)n * (size_t)width, sizeof *y);
  double *z = check_alloc(&check, 2 * (size_t)n, sizeof *z);
  int *columns = check_alloc(&check, (size_t)n * (size_t)width, sizeof *columns);
  int *flags = check_alloc(&check, (size_t)n, sizeof *flags);
  int *to = check_alloc(&check, (size_t)n, sizeof *to);
  int *place = check_alloc(&check, 1, sizeof *place);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_double(&check, x, (size_t)n * (size_t)width);
    fill_double(&check, y, (size_t)n * (size_t)width);
    fill_double(&check, z, 2 * (size_t)n);
    permute(&check, columns, (size_t)n * (size_t)width);
    memset(flags, 0, (size_t)n * sizeof *flags);
    *place = -1;
    flags[n / 3] = 1;
    if (check_is(&check, "waw"))
      flags[n / 2] = 1;
    if (!check_is(&check, "clean"))
      columns[7 * width] = columns[0];
    check_start(&check);
    rows(y, columns, x, n, width);
    once(place, flags, n);
    for (int i = 0; i < n; i++)
      to[i] = n + i;
    if (check_is(&check, "raw"))
      to[n / 4] = n / 2;
    shifted(z, n, to);
    permute(&check, to, (size_t)n);
    outer(z, to, x, n, width);
    summed(z, to, x, n, width);
    unchecked(z, to, x, n);
    made(z, to, x, n);
    forbidden(y, n, width);
    bound(z, x, n);
    check_stop(&check);
    check_array(&check, "y", y, (size_t)n * (size_t)width, sizeof *y);
    check_array(&check, "z", z, 2 * (size_t)n, sizeof *z);
    check_array(&check, "place", place, 1, sizeof *place);
  }
  return check_close(&check);
}
