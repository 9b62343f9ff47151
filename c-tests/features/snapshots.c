/* Loops whose only dependences are anti dependences: an element is loaded before a later iteration stores to it. They are
 * parallel where loads find what was there before the loop. On `behind` the numbers of the entry turn some into flow dependences,
 * on `same` pointers meet within an iteration as well.
 *
 * test size: 1201
 * expect next: runs on clean behind
 * expect down: runs on clean behind
 * expect blocks: runs on clean behind
 * expect chain: runs on clean behind
 * expect added: runs on clean behind
 * expect bytes: runs on clean behind same
 * expect conditional: runs on clean behind same
 * expect below: runs on clean behind same
 * expect columns: runs on clean behind same
 * expect plane: runs on clean behind same
 * expect distance: runs on clean same
 * expect pointers: runs on clean
 * expect within: runs on clean behind */
#include "../support/inputs.h"

COMPUTE static void next(double *a, const double *b, int n)
{
  for (int i = 0; i < n - 1; i++) /* loop next */
    a[i] = a[i + 1] + b[i];
}

COMPUTE static void down(double *a, const double *b, int n)
{
  for (int i = n - 2; i >= 0; i--) /* loop down */
    a[i + 1] = a[i] * 0.5 + b[i];
}

COMPUTE static void blocks(float *a, int n)
{
  for (int i = 0; i < n - 5; i += 5) { /* loop blocks */
    a[i] = a[i + 1] * a[i];
    a[i + 1] = a[i + 2] * a[i + 1];
    a[i + 2] = a[i + 3] * a[i + 2];
    a[i + 3] = a[i + 4] * a[i + 3];
    a[i + 4] = a[i + 5] * a[i + 4];
  }
}

COMPUTE static void chain(double *a, double *b, const double *c, int n)
{
  for (int i = 0; i < n - 1; i++) { /* loop chain */
    a[i] = b[i] * c[i] + 0.25;
    b[i] = a[i] * a[i + 1] - b[i + 1];
  }
}

/* The sum reads the element itself, too. */
COMPUTE static void added(double *a, const double *b, long n)
{
  for (long i = 0; i < n - 1; i++) /* loop added */
    a[i] += a[i + 1] * b[i];
}

COMPUTE static void bytes(unsigned char *p, size_t n)
{
  unsigned char *end = p + n - 3;
  while (p < end) { /* loop bytes */
    *p = (unsigned char)(p[1] ^ p[3]);
    p++;
  }
}

COMPUTE static void conditional(int *a, const int *flags, int n)
{
  for (int i = 0; i < n - 2; i++) /* loop conditional */
    if (flags[i] & 1)
      a[i] = a[i + 2] - a[i + 1];
}

enum { WIDTH = 40 };

/* The product with a unit lower triangular matrix: rows below the own one have not been changed yet. */
COMPUTE static void below(double (*m)[WIDTH], const double *l, int n)
{
  for (int i = 0; i < n; i++) /* loop below */
    for (int j = 0; j < WIDTH; j++)
      for (int k = i + 1; k < n; k++)
        m[i][j] += l[k - i] * m[k][j];
}

/* The same for as many columns as the caller says: that they fit into a row is seen when it runs. */
COMPUTE static void some_columns(double (*m)[WIDTH], const double *l, int n, int columns)
{
  for (int i = 0; i < n; i++) /* loop columns */
    for (int j = 0; j < columns; j++) {
      for (int k = i + 1; k < n; k++)
        m[i][j] += l[k - i] * m[k][j];
      m[i][j] = 0.5 * m[i][j];
    }
}

COMPUTE static void plane(double (*m)[WIDTH], int n)
{
  for (int i = 0; i < n - 1; i++) /* loop plane */
    for (int j = 0; j < WIDTH - 1; j++)
      m[i][j] = 0.5 * m[i][j + 1] + m[i + 1][j];
}

COMPUTE static void distance(double *a, const double *b, int from, int to, int m)
{
  for (int i = from; i < to; i++) /* loop distance */
    a[i] = a[i + m] + b[i];
}

COMPUTE static void pointers(double *x, const double *y, int n)
{
  for (int i = 0; i < n; i++) /* loop pointers */
    x[i] = y[i] * 0.5 + 1.0;
}

/* What r stores to, q loads in a later iteration or an earlier one; what p stores to, perhaps in the same. */
COMPUTE static void within(double *p, double *r, const double *q, int n)
{
  for (int i = 0; i < n; i++) { /* loop within */
    p[i] = (double)i;
    r[i] = q[i] + 1.0;
  }
}

/* Never parallel: each element comes from the one before. */
COMPUTE static void flows(double *a, int n)
{
  for (int i = 1; i < n; i++)
    a[i] = a[i - 1] * 0.5 + a[i];
}

/* Nor this: the second store of an element has to come last. */
COMPUTE static void stores(double *a, int n)
{
  for (int i = 0; i < n - 1; i++) {
    a[i] = a[i + 1];
    a[i + 1] = 0.25;
  }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "behind", "same", NULL};
  struct check check = check_open(argc, argv, 100000, inputs);
  size_t n = check.size;
  int size = (int)n, few = size < 4000 ? size / 4 : 1000;
  double *a = check_alloc(&check, n, sizeof *a), *b = check_alloc(&check, n, sizeof *b);
  double *c = check_alloc(&check, n, sizeof *c), *own = check_alloc(&check, n, sizeof *own);
  double *l = check_alloc(&check, (size_t)few, sizeof *l);
  double(*m)[WIDTH] = check_alloc(&check, (size_t)few, sizeof *m);
  float *f = check_alloc(&check, n, sizeof *f);
  unsigned char *p = check_alloc(&check, n, sizeof *p);
  int *numbers = check_alloc(&check, n, sizeof *numbers), *flags = check_alloc(&check, n, sizeof *flags);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_double(&check, a, n);
    fill_double(&check, b, n);
    fill_double(&check, c, n);
    fill_double(&check, own, n);
    fill_double(&check, l, (size_t)few);
    fill_double(&check, &m[0][0], (size_t)few * WIDTH);
    fill_float(&check, f, n);
    for (size_t i = 0; i < n; i++) {
      p[i] = (unsigned char)check_below(&check, 256);
      numbers[i] = (int)check_below(&check, 1000);
      flags[i] = (int)check_below(&check, 4);
    }
    int behind = check_is(&check, "behind");
    double *other = check_is(&check, "same") ? a : b;
    check_start(&check);
    next(a, other, size);
    down(a, other, size);
    blocks(f, size);
    chain(a, other, c, size);
    added(a, other, size);
    bytes(p, n);
    conditional(numbers, flags, size);
    below(m, l, few);
    some_columns(m, l, few, check_is(&check, "same") ? WIDTH : WIDTH - 3);
    plane(m, few);
    distance(c, b, 3, size - 3, behind ? -3 : 3);
    pointers(behind ? c + 7 : c, behind || check_is(&check, "same") ? c : c + 7, size - 7);
    if (check_is(&check, "same"))
      within(c + 1, c, c + 1, size - 1);
    else
      within(own, a, a + 1, size - 1);
    flows(b, size);
    stores(b, size);
    check_stop(&check);
    check_array(&check, "a", a, n, sizeof *a);
    check_array(&check, "b", b, n, sizeof *b);
    check_array(&check, "c", c, n, sizeof *c);
    check_array(&check, "own", own, n, sizeof *own);
    check_array(&check, "m", m, (size_t)few, sizeof *m);
    check_array(&check, "f", f, n, sizeof *f);
    check_array(&check, "p", p, n, sizeof *p);
    check_array(&check, "numbers", numbers, n, sizeof *numbers);
  }
  free(a);
  free(b);
  free(c);
  free(own);
  free(l);
  free(m);
  free(f);
  free(p);
  free(numbers);
  free(flags);
  return check_close(&check);
}
