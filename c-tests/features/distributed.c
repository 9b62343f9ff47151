/* Loops that carry a dependence as they stand, and are parallel once their statements are loops of their own: sums whose
 * iterations belong to different loops, values that a statement has from an earlier iteration of another one, in both orders.
 * Those that must not be split: statements that need each other, a scalar that goes from one to the other, places that
 * meet within an inner loop. On input "alias" arrays that only the entry can tell apart overlap, on "same" they are one.
 *
 * test size: 203
 * expect both: runs on clean
 * expect mixed: runs on clean
 * expect forward: runs on clean
 * expect backward: runs on clean
 * expect three: runs on clean
 * expect conditional: runs on clean
 * expect scratch: runs on clean
 * expect triangle: runs on clean
 * expect bounds: runs on clean
 * expect afterwards: runs on clean
 * expect down: runs on clean
 * expect roots: runs on clean
 * expect known: runs on clean alias same */
#include "../support/inputs.h"
#include <math.h>

enum { M = 256 };
static double g_d[M][M], g_e[M][M], g_x[M], g_y[M];
/* The second one is a bound. */
static int g_words[M];

COMPUTE static void both(int n, int m, const double *a, const double *x, double *y, double *t)
{
  int i, j;
  for (i = 0; i < n; i++) { /* loop both */
    t[i] = 0.0;
    for (j = 0; j < m; j++)
      t[i] = t[i] + a[i * m + j] * x[j];
    for (j = 0; j < m; j++)
      y[j] = y[j] + a[i * m + j] * t[i];
  }
}

/* In one inner loop: where s and q are the same array, each element sees the statements in turns. */
COMPUTE static void mixed(int n, int m, const double *a, const double *p, const double *r, double *s, double *q)
{
  for (int i = 0; i < n; i++) { /* loop mixed */
    q[i] = 0.0;
    for (int j = 0; j < m; j++) {
      s[j] = s[j] + r[i] * a[i * m + j];
      q[i] = q[i] + a[i * m + j] * p[j];
    }
  }
}

COMPUTE static void forward(double *a, double *b, const double *c, long n)
{
  for (long i = 3; i < n; i++) { /* loop forward */
    b[i] = c[i] * 2.0;
    a[i] = b[i - 3] + b[i] * b[i - 1];
  }
}

/* The second statement has to run first: what the first one loads it has stored in the iteration before. */
COMPUTE static void backward(float *a, float *b, const float *c, unsigned n)
{
  for (unsigned i = 1; i < n; i++) { /* loop backward */
    a[i] = b[i - 1] + c[i];
    b[i] = c[i] * c[i - 1] + 1.0f;
  }
}

COMPUTE static void three(double *a, double *b, double *c, const double *d, int n)
{
  for (int i = 1; i < n - 1; i++) { /* loop three */
    a[i] = d[i] + 1.0;
    b[i] = a[i - 1] * d[i];
    c[i] = b[i - 1] - a[i];
  }
}

COMPUTE static void conditional(int *a, int *b, const int *flags, int n)
{
  for (int i = 2; i < n; i++) { /* loop conditional */
    if (flags[i] & 1)
      a[i] = b[i - 2] + flags[i];
    else
      a[i] = -b[i - 1];
    b[i] = flags[i] ^ i;
  }
}

/* Scalars and arrays of each iteration stay with their statements. */
COMPUTE static void scratch(double *a, double *b, const double *c, int n)
{
  for (int i = 1; i < n; i++) { /* loop scratch */
    double pair[2], t = c[i] * 0.5;
    pair[0] = t;
    pair[1] = t - 1.0;
    b[i] = pair[0] * pair[1];
    double u = b[i - 1];
    a[i] = u * u;
  }
}

COMPUTE static void triangle(void)
{
  for (int i = 0; i < M; i++) { /* loop triangle */
    for (int j = 0; j < M; j++)
      g_e[i][j] = g_d[i][j] * 0.5;
    for (int k = 0; k < M; k++)
      g_y[k] += g_e[i][k] * g_x[i];
  }
}

/* The bound lies in memory that the stores might reach. */
COMPUTE static void bounds(int *a, int *b, const int *c)
{
  for (int i = 1; i < g_words[1]; i++) { /* loop bounds */
    a[i] = b[i - 1] + c[i];
    b[i] = c[i] * 3;
  }
}

COMPUTE static int afterwards(double *a, double *b, const double *c, int n)
{
  int i, k = 7;
  for (i = 1; i < n; i += 2) { /* loop afterwards */
    a[i] = b[i - 1] + c[i];
    b[i + 1] = c[i - 1];
  }
  return i + k;
}

COMPUTE static void down(short *a, short *b, const short *c, int n)
{
  for (int i = n - 2; i >= 0; i--) { /* loop down */
    a[i] = (short)(b[i + 1] + c[i]);
    b[i] = (short)(c[i] * 5);
  }
}

COMPUTE static void roots(double *a, double *b, const double *c, int n)
{
  for (int i = 1; i < n; i++) { /* loop roots */
    a[i] = b[i - 1] * 0.25;
    b[i] = sin(c[i]) + c[i - 1];
  }
}

COMPUTE static void known(void)
{
  for (int i = 1; i < M; i++) { /* loop known */
    g_x[i] = g_d[3][i - 1] * 2.0;
    g_d[3][i] = g_d[4][i] + 1.0;
  }
}

/* Each statement needs the other one's value of the iteration before. */
COMPUTE static void cycle(double *a, double *b, int n)
{
  for (int i = 1; i < n; i++) {
    a[i] = b[i - 1] * 0.5;
    b[i] = a[i - 1] + 0.25;
  }
}

/* A variable that goes from one statement to the other. */
COMPUTE static void crossing(double *a, double *b, const double *c, int n)
{
  double t;
  for (int i = 1; i < n; i++) {
    t = c[i] * 2.0;
    a[i] = b[i - 1] + t;
    b[i] = t - c[i];
  }
}

/* The inner loop's variable is used behind it. */
COMPUTE static void leftover(double *a, double *b, const double *c, int n, int m)
{
  int j;
  for (int i = 1; i < n; i++) {
    for (j = 0; j < m && j < 5; j++)
      b[i] = c[i] + j;
    a[i] = b[i - 1] + j;
  }
}

/* Where the statements of an inner loop meet in one iteration of the outer one. */
COMPUTE static void turns(int n, int m, double *y, double *t)
{
  for (int i = 0; i < n; i++)
    for (int j = 1; j < m; j++) {
      t[j] = y[j - 1] * 0.5;
      y[j] = y[j] + t[j];
    }
}

COMPUTE static void skips(double *a, double *b, const double *c, int n)
{
  for (int i = 1; i < n; i++) {
    if (c[i] > 0.5)
      continue;
    a[i] = b[i - 1];
    b[i] = c[i];
  }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "alias", "same", NULL};
  struct check check = check_open(argc, argv, 1000, inputs);
  size_t n = check.size;
  int size = (int)n, m = size / 2 + 3;
  double *a = check_alloc(&check, n * n, sizeof *a), *b = check_alloc(&check, n, sizeof *b);
  double *c = check_alloc(&check, n, sizeof *c), *d = check_alloc(&check, 2 * n, sizeof *d);
  double *x = check_alloc(&check, n, sizeof *x), *y = check_alloc(&check, 2 * n, sizeof *y);
  float *f = check_alloc(&check, n, sizeof *f), *g = check_alloc(&check, n, sizeof *g);
  float *h = check_alloc(&check, n, sizeof *h);
  int *p = check_alloc(&check, n + 1, sizeof *p), *q = check_alloc(&check, n + 1, sizeof *q);
  int *flags = check_alloc(&check, n, sizeof *flags);
  short *s = check_alloc(&check, n, sizeof *s), *t = check_alloc(&check, n, sizeof *t);
  short *u = check_alloc(&check, n, sizeof *u);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_double(&check, a, n * n);
    fill_double(&check, b, n);
    fill_double(&check, c, n);
    fill_double(&check, d, 2 * n);
    fill_double(&check, x, n);
    fill_double(&check, y, 2 * n);
    fill_float(&check, f, n);
    fill_float(&check, g, n);
    fill_float(&check, h, n);
    fill_double(&check, &g_d[0][0], M * M);
    fill_double(&check, g_x, M);
    fill_double(&check, g_y, M);
    for (size_t i = 0; i < n; i++) {
      p[i] = (int)check_below(&check, 1000);
      q[i] = (int)check_below(&check, 1000);
      flags[i] = (int)check_below(&check, 16);
      s[i] = (short)check_below(&check, 1000);
      t[i] = (short)check_below(&check, 1000);
      u[i] = (short)check_below(&check, 1000);
    }
    int alias = check_is(&check, "alias"), same = check_is(&check, "same");
    q[0] = 5;
    g_words[1] = M - 1 < size ? M - 1 : size;
    check_start(&check);
    both(size, m, a, x, alias ? d + size - 1 : same ? d : y, d);
    both(size, m, a, alias ? d + 1 : x, y, d);
    both(3, m, a, x, y, d);
    both(size, 0, a, x, y, d);
    mixed(size, m, a, x, c, alias ? d + 5 : same ? d : y, d);
    mixed(size, m, a, x, alias ? y : c, y, d);
    forward(alias ? b + 1 : same ? b : d, b, c, size - 1);
    backward(alias ? f + 2 : same ? g : h, g, f, (unsigned)size - 2);
    three(alias ? b : d, b, same ? d : c, x, size);
    conditional(p, alias ? p + 1 : same ? p : q, flags, size - 1);
    scratch(d, alias ? d + 1 : b, same ? d : c, size);
    triangle();
    bounds(p, q, alias ? q : flags);
    bounds(alias ? g_words : p, same ? g_words : q, flags);
    d[0] += afterwards(d, alias ? d : b, same ? d : c, size - 1);
    down(s, alias ? s + 1 : same ? s : t, u, size - 1);
    roots(d, alias ? d + 1 : b, same ? d : x, size);
    known();
    cycle(b, c, size);
    crossing(b, c, x, size);
    leftover(b, c, x, size, 9);
    turns(size, m, y, d);
    skips(b, c, x, size);
    check_stop(&check);
    check_array(&check, "b", b, n, sizeof *b);
    check_array(&check, "c", c, n, sizeof *c);
    check_array(&check, "d", d, 2 * n, sizeof *d);
    check_array(&check, "y", y, 2 * n, sizeof *y);
    check_array(&check, "f", f, n, sizeof *f);
    check_array(&check, "g", g, n, sizeof *g);
    check_array(&check, "h", h, n, sizeof *h);
    check_array(&check, "p", p, n, sizeof *p);
    check_array(&check, "q", q, n, sizeof *q);
    check_array(&check, "s", s, n, sizeof *s);
    check_array(&check, "t", t, n, sizeof *t);
    check_array(&check, "g_d", g_d, M * M, sizeof **g_d);
    check_array(&check, "g_e", g_e, M * M, sizeof **g_e);
    check_array(&check, "g_words", g_words, M, sizeof *g_words);
    check_array(&check, "g_x", g_x, M, sizeof *g_x);
    check_array(&check, "g_y", g_y, M, sizeof *g_y);
  }
  free(a);
  free(b);
  free(c);
  free(d);
  free(x);
  free(y);
  free(f);
  free(g);
  free(h);
  free(p);
  free(q);
  free(flags);
  free(s);
  free(t);
  free(u);
  return check_close(&check);
}
