/* Nests of which a thread of a GPU runs several iterations together, with accesses that are found from one place: planes, steps and
 * directions, named arrays, fields, windows; conditions that all iterations decide alike, first, last and not at all; divisions by
 * numbers that may be zero where nobody divides by them.
 *
 * test size: 140
 * expect planes: runs on clean
 * expect named: runs on clean
 * expect backward: runs on clean
 * expect fields: runs on clean
 * expect window: runs on clean
 * expect either: runs on clean
 * expect both: runs on clean
 * expect guarded: runs on clean
 * expect parts: runs on clean
 * expect lines: runs on clean */
#include "../support/inputs.h"

enum { ROWS = 300, COLUMNS = 130 };

typedef struct {
  short low;
  signed char kind;
  double value;
} cell;

static float table[ROWS][COLUMNS], result[ROWS][COLUMNS];

COMPUTE static void planes(int n, int m, int depth, const double *from, double *to)
{
  for (int i = 1; i < depth - 1; i++) /* loop planes */
    for (int j = 1; j < n - 1; j++)
      for (int k = 1; k < m - 1; k++) {
        const double *p = from + ((size_t)i * (size_t)n + (size_t)j) * (size_t)m + k;
        to[((size_t)i * (size_t)n + (size_t)j) * (size_t)m + (size_t)k] =
          *p + 0.125 * (p[-1] + p[1] + p[-m] + p[m] + p[-(ptrdiff_t)n * m] + p[(ptrdiff_t)n * m]);
      }
}

COMPUTE static void named(int rows, int columns)
{
  for (int i = 1; i < rows - 1; i += 2) /* loop named */
    for (int j = columns - 2; j > 0; j -= 3)
      result[i][j] = table[i - 1][j] + 2.0f * table[i][j + 1] - table[i + 1][j - 1];
}

COMPUTE static void backward(long n, long m, const int *a, int *b)
{
  for (long i = n - 1; i >= 0; i--) /* loop backward */
    for (long j = m - 1; j >= 0; j--)
      b[i * m + j] = a[(n - 1 - i) * m + j] + 3 * a[i * m + (m - 1 - j)];
}

COMPUTE static void fields(unsigned n, unsigned m, const cell *in, cell *out)
{
  for (unsigned i = 0; i < n; i++) /* loop fields */
    for (unsigned j = 0; j < m; j++) {
      out[i * m + j].low = (short)(in[i * m + j].low - in[i * m + j].kind);
      out[i * m + j].kind = (signed char)(in[i * m + j].kind ^ 5);
      out[i * m + j].value = in[i * m + j].value * in[i * m + j].low;
    }
}

/* Another pitch, other first rows and columns. */
COMPUTE static void window(int n, int m, int top, int left, int pitch, const double *in, double *out)
{
  for (int i = 0; i < n; i++) /* loop window */
    for (int j = 0; j < m; j++)
      out[i * m + j] = in[(i + top) * pitch + (j + left)] - in[(top - 1) * pitch + left + j] * in[(i + top) * pitch];
}

COMPUTE static void either(int n, int m, int all, const int *in, int *out)
{
  for (int i = 0; i < n; i++) /* loop either */
    for (int j = 0; j < m; j++)
      if (all > 2 || in[i * m + j] % 3 == 0)
        out[i * m + j] = in[i * m + j] + i;
      else if (in[j] > 100)
        out[i * m + j] = -j;
}

COMPUTE static void both(int n, int m, int first, int second, const int *in, int *out)
{
  for (int i = 0; i < n; i++) /* loop both */
    for (int j = 0; j < m; j++) {
      if (first && second > 3 && (in[i * m + j] & 1))
        out[i * m + j] += in[i * m + j];
      if ((in[i * m + j] & 2) && first)
        out[i * m + j] ^= j;
    }
}

/* Nobody divides by a zero. */
COMPUTE static void guarded(int n, int m, int by, const int *divisors, const int *in, int *out)
{
  for (int i = 0; i < n; i++) /* loop guarded */
    for (int j = 0; j < m; j++) {
      if (by != 0 && in[i * m + j] / by > 7)
        out[i * m + j] = 1;
      if (divisors[i] != 0 && in[i * m + j] % divisors[i] == 1)
        out[i * m + j] += 2;
    }
}

/* Quotients and rests of either sign. */
COMPUTE static void parts(int n, int m, int wide, int high, long far, unsigned many, const int *in, int *out)
{
  for (int i = 0; i < n; i++) /* loop parts */
    for (int j = 0; j < m; j++) {
      int a = in[i * m + j] - 5000;
      long b = (long)a * 1234567;
      unsigned c = (unsigned)a;
      out[i * m + j] = a / wide + 3 * (a % wide) - 5 * (a / high) + 7 * (a % high) + (int)(b / far) - (int)(b % far) +
                       (int)(c / many) + (int)(c % many) + (i / (wide + 20)) + (j % (wide + 20));
    }
}

COMPUTE static void lines(int n, const float *a, const float *b, float *c)
{
  for (int i = 3; i < n - 3; i++) /* loop lines */
    c[i] = a[i - 3] + a[i + 3] * b[i] - a[2 * (i / 2)];
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", NULL};
  struct check check = check_open(argc, argv, 300, inputs);
  size_t n = check.size, m = n + 30, depth = 80, cells = n * m;
  double *from = check_alloc(&check, cells * depth, sizeof *from), *to = check_alloc(&check, cells * depth, sizeof *to);
  int *a = check_alloc(&check, cells, sizeof *a), *b = check_alloc(&check, cells, sizeof *b);
  int *c = check_alloc(&check, cells, sizeof *c), *divisors = check_alloc(&check, n, sizeof *divisors);
  cell *in = check_alloc(&check, cells, sizeof *in), *out = check_alloc(&check, cells, sizeof *out);
  float *x = check_alloc(&check, cells, sizeof *x), *y = check_alloc(&check, cells, sizeof *y);
  float *z = check_alloc(&check, cells, sizeof *z);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_double(&check, from, cells * depth);
    fill_double(&check, to, cells * depth);
    memset(in, 0, cells * sizeof *in);
    memset(out, 0, cells * sizeof *out);
    for (size_t i = 0; i < cells; i++) {
      a[i] = (int)check_below(&check, 10000);
      b[i] = c[i] = (int)i;
      in[i].low = (short)check_below(&check, 1000);
      in[i].kind = (signed char)check_below(&check, 100);
      in[i].value = check_real(&check);
      x[i] = (float)check_real(&check);
      y[i] = (float)check_real(&check);
      z[i] = 0.0f;
    }
    for (size_t i = 0; i < n; i++)
      divisors[i] = (int)check_below(&check, 3);
    for (int i = 0; i < ROWS; i++)
      for (int j = 0; j < COLUMNS; j++) {
        table[i][j] = (float)check_real(&check);
        result[i][j] = 0.0f;
      }
    check_start(&check);
    planes((int)n, (int)m, (int)depth, from, to);
    named(ROWS, COLUMNS);
    backward((long)n, (long)m, a, b);
    fields((unsigned)n, (unsigned)m, in, out);
    window((int)n - 9, (int)m - 11, 4, 5, (int)m, from, to);
    either((int)n, (int)m, 1, a, b);
    either((int)n, (int)m, 3, a, c);
    both((int)n, (int)m, 1, 4, a, b);
    both((int)n, (int)m, 0, 4, a, c);
    guarded((int)n, (int)m, 0, divisors, a, b);
    guarded((int)n, (int)m, 9, divisors, a, c);
    parts((int)n, (int)m, -7, 13, 9999991, 77, a, c);
    lines((int)cells, x, y, z);
    check_stop(&check);
    check_array(&check, "to", to, cells * depth, sizeof *to);
    check_array(&check, "result", &result[0][0], ROWS * COLUMNS, sizeof(float));
    check_array(&check, "b", b, cells, sizeof *b);
    check_array(&check, "c", c, cells, sizeof *c);
    check_array(&check, "out", out, cells, sizeof *out);
    check_array(&check, "z", z, cells, sizeof *z);
  }
  free(from);
  free(to);
  free(a);
  free(b);
  free(c);
  free(divisors);
  free(in);
  free(out);
  free(x);
  free(y);
  free(z);
  return check_close(&check);
}
