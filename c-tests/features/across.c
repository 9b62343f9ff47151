/* Nests of three dimensions whose neighbours load the same across a tile of two of them: on a GPU the rows of a thread's group go along the third.
 * Numbers of planes that groups divide and don't, fewer than a group has, and dimensions in another order.
 *
 * test size: 43
 * expect seven: runs on clean
 * expect turned: runs on clean
 * expect flat: runs on clean
 * expect apart: runs on clean */
#include "../support/inputs.h"

enum { MOST = 48 };

COMPUTE static void seven(int planes, int n, int m, const double *a, double *b)
{
  for (int i = 1; i < planes - 1; i++) /* loop seven */
    for (int j = 1; j < n - 1; j++)
      for (int k = 1; k < m - 1; k++) {
        const double *p = a + ((size_t)i * n + j) * m + k;
        b[((size_t)i * n + j) * m + k] = p[0] + 0.125 * (p[-1] + p[1] + p[-m] + p[m] + p[-n * m] + p[n * m] - 6.0 * p[0]);
      }
}

/* Neighbours of the outermost loop lie side by side. */
COMPUTE static void turned(int planes, int n, int m, const float *a, float *b)
{
  for (int k = 0; k < m; k++) /* loop turned */
    for (int i = 2; i < planes - 1; i++)
      for (int j = 0; j < n; j++)
        b[(i * n + j) * m + k] = a[((i - 2) * n + j) * m + k] - a[((i + 1) * n + j) * m + k] * a[j * m + k];
}

/* Only within the tile: rows go along y. */
COMPUTE static void flat(int planes, int n, int m, const double *a, double *b)
{
  for (int i = 0; i < planes; i++) /* loop flat */
    for (int j = 1; j < n - 1; j++)
      for (int k = 0; k < m; k++)
        b[(i * n + j) * m + k] = a[(i * n + j - 1) * m + k] + a[(i * n + j + 1) * m + k] * a[(i * n + j) * m + k];
}

/* A thousand planes on, as it were. */
COMPUTE static void apart(int planes, int n, int m, const double *a, double *b)
{
  for (int i = 0; i < planes - 9; i++) /* loop apart */
    for (int j = 0; j < n; j++)
      for (int k = 0; k < m; k++)
        b[(i * n + j) * m + k] = a[(i * n + j) * m + k] + a[((i + 9) * n + j) * m + k];
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", NULL};
  static const int planes[] = {3, 4, 5, 6, 7, 10, 14, 17, MOST};
  struct check check = check_open(argc, argv, 43, inputs);
  size_t n = check.size, m = 2 * n + 5, all = MOST * n * m;
  double *a = check_alloc(&check, all, sizeof *a), *b = check_alloc(&check, all, sizeof *b);
  float *c = check_alloc(&check, all, sizeof *c), *d = check_alloc(&check, all, sizeof *d);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_double(&check, a, all);
    fill_double(&check, b, all);
    fill_float(&check, c, all);
    fill_float(&check, d, all);
    check_start(&check);
    for (size_t p = 0; p < sizeof planes / sizeof *planes; p++) {
      seven(planes[p], (int)n, (int)m, a, b);
      turned(planes[p], (int)n, (int)m, c, d);
      check_array(&check, "d", d, all, sizeof *d);
      flat(planes[p], (int)n, (int)m, b, a);
      check_array(&check, "a", a, all, sizeof *a);
      apart(planes[p] + (planes[p] < MOST ? 9 : 0), (int)n, (int)m, a, b);
      check_array(&check, "b", b, all, sizeof *b);
    }
    check_stop(&check);
  }
  free(d);
  free(c);
  free(b);
  free(a);
  return check_close(&check);
}
