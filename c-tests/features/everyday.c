/* Five loops as programs have them every day: over row pointers, over a struct of arrays that a pointer leads to, with walked
 * pointers, with a function of the same file, and a histogram.
 *
 * test size: 997
 * expect rows: runs on clean
 * expect fields: runs on clean
 * expect walk: runs on clean
 * expect helper: runs on clean
 * expect histogram: runs on clean */
#include "../support/inputs.h"

struct particles {
  size_t count;
  double *x, *v;
  float *mass;
};

COMPUTE static void rows(double **a, double **b, int n, int m)
{
  for (int i = 0; i < n; i++) /* loop rows */
    for (int j = 0; j < m; j++)
      a[i][j] = 0.5 * (a[i][j] + b[i][j]);
}

COMPUTE static void fields(struct particles *p, double step)
{
  for (size_t i = 0; i < p->count; i++) { /* loop fields */
    p->v[i] = p->v[i] - step * p->x[i] / (double)p->mass[i];
    p->x[i] = p->x[i] + step * p->v[i];
  }
}

COMPUTE static void walk(const float *from, float *to, int n)
{
  while (n-- > 0) { /* loop walk */
    *to++ = *from * 0.25f + from[1] * 0.75f;
    from += 2;
  }
}

static double clamped(double x, double low, double high)
{
  if (x < low)
    return low;
  return x > high ? high : x;
}

COMPUTE static void helper(double *x, int n)
{
  for (int i = 0; i < n; i++) /* loop helper */
    x[i] = clamped(x[i] * 3.0 - 1.0, 0.0, 1.0);
}

COMPUTE static void histogram(const unsigned char *pixels, size_t n, unsigned *counts)
{
  for (size_t i = 0; i < n; i++) /* loop histogram */
    counts[pixels[i]]++;
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", NULL};
  struct check check = check_open(argc, argv, 100000, inputs);
  size_t n = check.size, m = 64;
  double *elements = check_alloc(&check, 2 * n * m, sizeof *elements);
  double **a = check_alloc(&check, n, sizeof *a), **b = check_alloc(&check, n, sizeof *b);
  struct particles *p = check_alloc(&check, 1, sizeof *p);
  float *from = check_alloc(&check, 2 * n + 2, sizeof *from), *to = check_alloc(&check, n, sizeof *to);
  unsigned char *pixels = check_alloc(&check, n, sizeof *pixels);
  unsigned *counts = check_alloc(&check, 256, sizeof *counts);
  *p = (struct particles){n, check_alloc(&check, n, sizeof *p->x), check_alloc(&check, n, sizeof *p->v),
                          check_alloc(&check, n, sizeof *p->mass)};

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_double(&check, elements, 2 * n * m);
    fill_double(&check, p->x, n);
    fill_double(&check, p->v, n);
    fill_float(&check, p->mass, n);
    fill_float(&check, from, 2 * n + 2);
    for (size_t i = 0; i < n; i++) {
      a[i] = elements + 2 * i * m;
      b[i] = a[i] + m;
      pixels[i] = (unsigned char)check_below(&check, 256);
      p->mass[i] += 1.0f;
    }
    memset(counts, 0, 256 * sizeof *counts);
    check_start(&check);
    rows(a, b, (int)n, (int)m);
    fields(p, 0.01);
    walk(from, to, (int)n);
    helper(p->v, (int)n);
    histogram(pixels, n, counts);
    check_stop(&check);
    check_array(&check, "elements", elements, 2 * n * m, sizeof *elements);
    check_array(&check, "x", p->x, n, sizeof *p->x);
    check_array(&check, "v", p->v, n, sizeof *p->v);
    check_array(&check, "to", to, n, sizeof *to);
    check_array(&check, "counts", counts, 256, sizeof *counts);
  }
  free(p->x);
  free(p->v);
  free(p->mass);
  free(p);
  free(a);
  free(b);
  free(elements);
  free(from);
  free(to);
  free(pixels);
  free(counts);
  return check_close(&check);
}
