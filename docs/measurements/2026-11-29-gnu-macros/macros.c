/* Loops with macros of GNU C, assertions, messages and scratch arrays, nine entries each; the best time and a sum of the results. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#define MIN(a, b) ({ __typeof__(a) _a = (a); __typeof__(b) _b = (b); _a < _b ? _a : _b; })
#define MAX(a, b) ({ __typeof__(a) _a = (a); __typeof__(b) _b = (b); _a > _b ? _a : _b; })
#define EXCHANGE(a, b) ({ __typeof__(a) _t = (a); (a) = (b); (b) = _t; })

__attribute__((noinline)) static void roots(int n, const double *a, double *out)
{
  for (int i = 0; i < n; i++) {
    assert(a[i] >= 0);
    out[i] = sqrt(a[i]) / (1 + a[i]);
  }
}

__attribute__((noinline)) static void blur(int h, int w, const unsigned char *in, unsigned char *out)
{
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      int sum = 0;
      for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
          sum += in[MIN(MAX(y + dy, 0), h - 1) * w + MIN(MAX(x + dx, 0), w - 1)];
      out[y * w + x] = (unsigned char)(sum / 9);
    }
}

__attribute__((noinline)) static void ordered(int n, double *a, double *b)
{
  for (int i = 0; i < n; i++)
    if (a[i] > b[i])
      EXCHANGE(a[i], b[i]);
}

__attribute__((noinline)) static void forces(int n, const double (*x)[3], const double *m, double (*f)[3])
{
  double d[3], s[3], r2, w;
  int i, j;
  for (i = 0; i < n; i++) {
    s[0] = s[1] = s[2] = 0;
    for (j = 0; j < n; j++) {
      d[0] = x[j][0] - x[i][0];
      d[1] = x[j][1] - x[i][1];
      d[2] = x[j][2] - x[i][2];
      r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 1e-3;
      w = m[j] / (r2 * sqrt(r2));
      s[0] += w * d[0];
      s[1] += w * d[1];
      s[2] += w * d[2];
    }
    f[i][0] = s[0];
    f[i][1] = s[1];
    f[i][2] = s[2];
  }
}

__attribute__((noinline)) static int logged(int n, const double *a, double *out)
{
  int bad = 0;
  for (int i = 0; i < n; i++) {
    if (a[i] > 1e6) {
      fprintf(stderr, "element %d is too large\n", i);
      bad++;
    }
    out[i] = a[i] * a[i] - sqrt(a[i]);
  }
  return bad;
}

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

#define TIMED(name, call) \
  do { \
    double best = 1e9; \
    for (int r = 0; r < 9; r++) { \
      double t = now(); \
      call; \
      t = now() - t; \
      best = t < best ? t : best; \
    } \
    printf("%s %.2f\n", name, best); \
  } while (0)

int main(void)
{
  const int n = 1 << 24, side = 4096, bodies = 6000;
  double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b), sum = 0;
  unsigned char *p = malloc(n), *q = malloc(n);
  double(*x)[3] = malloc(bodies * sizeof *x), (*f)[3] = malloc(bodies * sizeof *f), *m = malloc(bodies * sizeof *m);
  for (int i = 0; i < n; i++) {
    a[i] = (i * 2654435761u >> 8) % 1000 * 0.5;
    p[i] = (unsigned char)(i * 2654435761u >> 20);
  }
  for (int i = 0; i < bodies; i++) {
    for (int k = 0; k < 3; k++)
      x[i][k] = (i * 2654435761u >> (8 + k)) % 1000 * 0.001;
    m[i] = 1 + i % 3;
  }
  TIMED("roots", roots(n, a, b));
  TIMED("blur", blur(side, side, p, q));
  TIMED("forces", forces(bodies, (const double(*)[3])x, m, f));
  TIMED("logged", logged(n, a, b));
  TIMED("ordered", ordered(n, a, b));
  for (int i = 0; i < n; i++)
    sum += a[i] - b[i] * 0.5 + q[i];
  for (int i = 0; i < bodies; i++)
    sum += f[i][0] - f[i][1] + f[i][2];
  fprintf(stderr, "sum %.17g\n", sum);
  return 0;
}
