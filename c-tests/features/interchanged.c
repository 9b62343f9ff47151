/* Perfect nests whose outer loop carries a dependence, and whose inner loop doesn't: run with that one outermost. Those that
 * must not be: bounds that follow the outer loop, iterations of the inner one that meet, values that go from one iteration to
 * the next, early exits. Loops that turn out to be empty, and variables that are used afterwards. On input "alias" arrays
 * overlap, so that what would have to be proven doesn't hold.
 *
 * test size: 203
 * expect transposed: runs on clean
 * expect strided: runs on clean
 * expect middle: runs on clean
 * expect reversed: runs on clean
 * expect counts: runs on clean
 * expect counts2: runs on clean
 * expect afterwards: runs on clean
 * expect inside: runs on clean
 * expect local: runs on clean
 * expect skips: runs on clean
 * expect bounds: runs on clean
 * expect behind: runs on clean
 * expect last: runs on clean */
#include "../support/inputs.h"

enum { M = 300 };
static float s_a[2 * M], s_b[4 * M], s_c[2 * M];
static double g_d[M][M], g_e[M][M], g_f[M][M];

COMPUTE static void transposed(int n, int m, double *y, const double *a, const double *x)
{
  for (int i = 0; i < n; i++) /* loop transposed */
    for (int j = 0; j < m; j++)
      y[j] += a[i * m + j] * x[i];
}

COMPUTE static void strided(void)
{
  int m = M;
  for (int j = 0; j < m; j++) /* loop strided */
    for (int i = 0; i < m; i++)
      s_a[i] += s_b[i + m - j - 1] * s_c[j];
}

COMPUTE static void middle(int n, double alpha)
{
  int i, j, k;
  for (k = 0; k < n; k++) /* loop middle */
    for (i = 0; i < n; i++)
      for (j = 0; j < n; j++)
        g_d[i][j] += alpha * g_e[i][k] * g_f[k][j];
}

COMPUTE static void reversed(long n, long m, float *y, const float *x)
{
  for (long i = n; i > 0; i--) /* loop reversed */
    for (long j = m - 1; j >= 0; j -= 3)
      y[j] = y[j] * 0.5f + x[i + j];
}

/* Integers, with a sum of all iterations beside them, and one in memory. */
COMPUTE static unsigned counts(int n, int m, unsigned *h, const unsigned *v, unsigned *all)
{
  unsigned sum = 0;
  for (int i = 0; i < n; i++) /* loop counts */
    for (int j = 0; j < m; j++) {
      h[j] = (h[j] << 1 ^ v[i]) + (unsigned)j;
      sum += h[j];
    }
  for (int i = 0; i < n; i++) /* loop counts2 */
    for (int j = 0; j < m; j++) {
      h[j] = (h[j] << 1 ^ v[i]) + (unsigned)j;
      *all += h[j];
    }
  return sum;
}

/* The innermost of three, whose variables are its own. */
COMPUTE static void local(int n, int k, int m, unsigned *y, const unsigned *x)
{
  for (int a = 0; a < n; a++) /* loop local */
    for (int b = 0; b < k; b++)
      for (int c = 0; c < m; c++)
        y[c] = y[c] * 3 + x[a + b];
}

/* What variables hold afterwards, also where one of the loops is empty. */
COMPUTE static int afterwards(int n, int m, double *y, const double *x)
{
  int i = -7, j = -9;
  for (i = 0; i < n; i++) /* loop afterwards */
    for (j = 2; j < m; j += 2)
      y[j] += x[i] * y[j];
  return i * 1000 + j;
}

COMPUTE static int three(int n, int k, int m, unsigned *y, const unsigned *x)
{
  int a = -1, b = -2, c = -3;
  for (a = 0; a < n; a++)
    for (b = 0; b < k; b++) /* loop inside */
      for (c = 0; c < m; c++)
        y[c] = y[c] * 3 + x[a + b];
  return a * 10000 + b * 100 + c;
}

COMPUTE static void skips(int n, int m, double *y, const double *x)
{
  for (int i = 0; i < n; i++) /* loop skips */
    for (int j = 0; j < m; j++) {
      if (x[i + j] < 0.25)
        continue;
      y[j] = y[j] * 0.75 + x[i];
      if (x[i] > 0.75)
        continue;
      y[j] += 1.0;
    }
}

COMPUTE static void triangle(int n, double *y, const double *x)
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++)
      y[j] += x[i] * y[j];
  for (int i = 0; i < n; i++)
    for (int j = i; j < n; j++)
      y[j] = y[j] * 0.5 + x[i];
}

/* The same with variables that a guard in front of the nest could name. */
COMPUTE static void triangle_outside(int n, double *y, const double *x)
{
  int i = 5, j = 3;
  for (i = 0; i < n; i++)
    for (j = i; j < n; j++)
      y[j] = y[j] * 0.5 + x[i];
  for (i = 0; i < n; i++)
    for (j = 0; j <= i; j++)
      y[j] = y[j] * 0.5 + x[i];
  y[0] += i;
}

COMPUTE static void leaves(int n, int m, double *y, const double *x)
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      if (x[i + j] > 0.99)
        break;
      y[j] = y[j] * 0.5 + x[i];
    }
}

/* Iterations of the inner loop meet, though only across the outer one. */
COMPUTE static void meeting(int n, int m, double *y, double *z, const double *x)
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      y[j] += y[j + 1] * x[i];
  for (int i = 0; i < n; i++)
    for (int j = 1; j < m; j++)
      y[j] = 0.5 * y[j - 1] + x[i];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      z[i + j] += z[j] * x[i];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      z[j + 40 - i % 2] += x[i];
}

/* Values that go from one iteration to the next, in the order of the program. */
COMPUTE static double carried(int n, int m, double *y, const double *x)
{
  double sum = 0.0, before = 1.0, most = -1.0;
  int k = 0, where = -1;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      y[j] += x[i] * 0.5;
      sum = sum * 0.5 + y[j];
    }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      y[j] += before;
      before = x[i] * 0.125;
    }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      y[j] = y[j] * 0.5 + x[k++ & 127];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      y[j] = y[j] * 0.5 + x[i];
      if (y[j] > most) {
        most = y[j];
        where = i * m + j;
      }
    }
  return sum + before + most + k + where;
}

static int sizes[600];

/* Bounds in memory, which stores could change where they overlap. */
COMPUTE static void bounds(int *y, const int *x)
{
  for (int i = 0; i < sizes[0]; i++) /* loop bounds */
    for (int j = 0; j < sizes[1]; j++)
      y[j] = (y[j] & 63) + (x[i] & 63);
}

struct shape {
  int rows, columns;
};

/* Bounds that must not even be looked at where there are no rows. */
COMPUTE static void behind(const struct shape *outer, const struct shape *inner, double *y, const double *x)
{
  for (int i = 0; i < outer->rows; i++) /* loop behind */
    for (int j = 0; j < inner->columns; j++)
      y[j] = y[j] * 0.5 + x[i];
}

/* Bounds that the nest itself changes. */
COMPUTE static void growing(int *limits, int n)
{
  for (int i = 0; i < limits[0]; i++)
    for (int j = 1; j < limits[1]; j++)
      limits[j] += i < n;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < limits[1]; j++)
      limits[j] += limits[j] < 60;
}

/* A value of the last iteration. */
COMPUTE static unsigned last(int n, int m, unsigned *y, const unsigned *x)
{
  unsigned i, end = (unsigned)n;
  for (i = 3; i != end; i++) /* loop last */
    for (unsigned char j = 0; j < m; j++)
      y[j] = y[j] * 5 + x[i];
  return i;
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "alias", NULL};
  struct check check = check_open(argc, argv, 2000, inputs);
  bool alias = check_is(&check, "alias");
  int n = (int)check.size, m = 150;
  double *a = check_alloc(&check, (size_t)n * (size_t)m + 600, sizeof *a);
  double *x = check_alloc(&check, check.size + 600, sizeof *x), *y = check_alloc(&check, check.size + 600, sizeof *y);
  double *z = check_alloc(&check, check.size + 600, sizeof *z);
  float *single = check_alloc(&check, 2 * check.size + 600, sizeof *single);
  unsigned *v = check_alloc(&check, 2 * check.size + 600, sizeof *v), *h = check_alloc(&check, check.size + 600, sizeof *h);
  int *whole = check_alloc(&check, 2 * check.size + 600, sizeof *whole);
  int *limits = check_alloc(&check, 600, sizeof *limits);
  double results[16];
  struct shape shape = {n, m};

  for (int r = 0; r < check.repeat; r++) {
    size_t k = 0;
    unsigned all = 17;
    check_begin(&check);
    fill_double(&check, a, (size_t)n * (size_t)m + 600);
    fill_double(&check, x, check.size + 600);
    fill_double(&check, y, check.size + 600);
    fill_double(&check, z, check.size + 600);
    fill_float(&check, single, 2 * check.size + 600);
    fill_float(&check, s_a, 2 * M);
    fill_float(&check, s_b, 4 * M);
    fill_float(&check, s_c, 2 * M);
    fill_double(&check, &g_d[0][0], M * M);
    fill_double(&check, &g_e[0][0], M * M);
    fill_double(&check, &g_f[0][0], M * M);
    for (size_t t = 0; t < 2 * check.size + 600; t++) {
      v[t] = (unsigned)check_random(&check);
      whole[t] = (int)check_below(&check, 1000);
    }
    for (size_t t = 0; t < check.size + 600; t++)
      h[t] = (unsigned)check_random(&check);
    for (size_t t = 0; t < 600; t++)
      limits[t] = 20 + (int)t % 7;
    for (int t = 0; t < 600; t++)
      sizes[t] = m + t;
    check_start(&check);
    transposed(n, m, alias ? a + m - 1 : y, a, x);
    transposed(n, m, y, a, alias ? y + 7 : x);
    transposed(0, m, y, a, x);
    transposed(n, 0, y, a, x);
    transposed(1, m, y, a, x);
    strided();
    middle(n < M ? n : M, 0.25);
    reversed(n, m, single, alias ? single + 1 : single + n + 400);
    results[k++] = counts(n, m, h, alias ? h + 3 : v, &all);
    results[k++] = counts(n, m, v, v + n + 400, alias ? &v[5] : &all);
    results[k++] = afterwards(n, m, y, alias ? y + 1 : x);
    results[k++] = afterwards(0, m, y, x);
    results[k++] = afterwards(n, 2, y, x);
    results[k++] = three(9, 7, m, v, alias ? v + 3 : v + 500);
    results[k++] = three(9, 0, m, v, v + 300);
    results[k++] = three(0, 7, m, v, v + 300);
    results[k++] = three(9, 7, 0, v, v + 300);
    local(9, 7, m, v, v + 500);
    local(9, 0, m, v, v + 500);
    skips(n, m, y, alias ? y : x);
    triangle(m, y, alias ? y + 1 : x);
    triangle_outside(m, y, x);
    leaves(n, m, y, x);
    meeting(n / 2, m, y, z, x);
    results[k++] = carried(n, m, y, x);
    bounds(whole, whole + n + 400);
    bounds(alias ? sizes : whole, whole + n + 400);
    behind(&shape, &shape, y, alias ? y + 2 : x);
    shape.rows = 0;
    behind(&shape, NULL, y, x);
    shape.rows = n;
    growing(limits, 30);
    results[k++] = last(n, m, h, alias ? h + 1 : v);
    check_stop(&check);
    check_array(&check, "a", a, (size_t)n * (size_t)m + 600, sizeof *a);
    check_array(&check, "x", x, check.size + 600, sizeof *x);
    check_array(&check, "y", y, check.size + 600, sizeof *y);
    check_array(&check, "z", z, check.size + 600, sizeof *z);
    check_array(&check, "single", single, 2 * check.size + 600, sizeof *single);
    check_array(&check, "s_a", s_a, 2 * M, sizeof *s_a);
    check_array(&check, "g_d", g_d, M * M, sizeof **g_d);
    check_array(&check, "v", v, 2 * check.size + 600, sizeof *v);
    check_array(&check, "h", h, check.size + 600, sizeof *h);
    check_array(&check, "whole", whole, 2 * check.size + 600, sizeof *whole);
    check_array(&check, "limits", limits, 600, sizeof *limits);
    check_array(&check, "sizes", sizes, 600, sizeof *sizes);
    check_array(&check, "all", &all, 1, sizeof all);
    check_array(&check, "results", results, k, sizeof *results);
  }
  free(a), free(x), free(y), free(z), free(single), free(v), free(h), free(whole), free(limits);
  return check_close(&check);
}
