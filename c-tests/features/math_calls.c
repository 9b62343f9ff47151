/* Calls of libm that only the host's own library answers with the program's bits: they run on threads, in place and on copies.
 * After a loop errno is what its last failing call in source order has left: none (`clean`), one in the middle of the loop
 * (`domain`), several of two kinds in all orders (`mixed`). `own`: a function of the program's that is called like one of
 * libm's. `folded` and `squares`: what the compiler may know, which stays as it is.
 *
 * test size: 2003
 * expect sines: runs on clean
 * expect logs: runs on clean
 * expect powers: runs on clean
 * expect scattered: runs on clean
 * expect levels: levels on clean
 * expect mirrored: levels on clean
 * expect helper: runs on clean
 * expect nest: runs on clean
 * expect last: runs on clean
 * expect own: runs on clean */
#include "../support/inputs.h"
#include <errno.h>
#include <math.h>

/* Not libm's: this file has it. */
float tanhf(float x)
{
  return x * 0.5f + 1.0f;
}

COMPUTE static void sines(float *a, const float *b, const float *c, int n)
{
  for (int i = 0; i < n; i++) /* loop sines */
    a[i] = sinf(b[i]) + cosf(c[i]);
}

COMPUTE static void logs(double *restrict a, const double *restrict b, int n)
{
  for (int i = 0; i < n; i++) { /* loop logs */
    double x = log(b[i]);
    a[i] = x + exp(b[i] * 300.0) * 1e-200;
  }
}

COMPUTE static void powers(double *restrict a, const double *restrict b, const double *restrict c, int n)
{
  for (int i = 0; i < n; i++) /* loop powers */
    a[i] = pow(b[i], 2.5) + pow(fabs(c[i]), b[i]) + pow(c[i], 2.0) + atan2(b[i], c[i]);
}

/* Nothing is known of the indices: checked. */
COMPUTE static void scattered(double *a, const double *b, const int *index, int n)
{
  for (int i = 0; i < n; i++) /* loop scattered */
    a[index[i]] = log1p(b[i]) * hypot(b[i], a[index[i]]);
}

COMPUTE static void levels(double *a, const double *b, const int *left, int n)
{
  for (int i = 0; i < n; i++) /* loop levels */
    a[i] = a[left[i]] * 0.25 + log(b[i]);
}

/* What is loaded for a call is what another iteration stores. */
COMPUTE static void mirrored(double *a, const double *b, const int *index, int n)
{
  for (int i = 0; i < n; i++) /* loop mirrored */
    a[index[i]] = cos(a[index[n - 1 - i]]) + b[i];
}

static double weight(double x)
{
  double y = tgamma(x) * 0.125;
  return y > 1e3 ? 1e3 : y;
}

COMPUTE static void helper(double *restrict a, const double *restrict b, int n)
{
  for (int i = 0; i < n; i++) /* loop helper */
    a[i] = 1.0 + weight(b[i]);
}

COMPUTE static void nest(double *restrict a, const double *restrict b, int n, int m)
{
  for (int i = 0; i < n; i++) /* loop nest */
    for (int j = 0; j < m; j++)
      a[i * m + j] = log10(b[i * m + j]) + cbrt(b[i * m + j]);
}

COMPUTE static double last(const double *b, int n)
{
  double x = 0.0;
  double best = 0.0;
  for (int i = 0; i < n; i++) { /* loop last */
    x = acos(b[i]);
    if (x > best)
      best = x;
  }
  return x + best;
}

COMPUTE static void own(float *a, const float *b, int n)
{
  for (int i = 0; i < n; i++) /* loop own */
    a[i] = tanhf(b[i]);
}

COMPUTE static void folded(double *a, int n)
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < 3; j++)
      a[i * 3 + j] = sin((double)j * 0.7);
}

COMPUTE static void squares(double *restrict a, const double *restrict b, int n)
{
  double two = 2.0;
  for (int i = 0; i < n; i++)
    a[i] = pow(b[i], two);
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "domain", "mixed", NULL};
  struct check check = check_open(argc, argv, 100000, inputs);
  size_t n = check.size - check.size % 3;
  int count = (int)n;
  double *a = check_alloc(&check, n, sizeof *a), *b = check_alloc(&check, n, sizeof *b);
  double *c = check_alloc(&check, n, sizeof *c);
  float *f = check_alloc(&check, n, sizeof *f), *g = check_alloc(&check, n, sizeof *g);
  float *h = check_alloc(&check, n, sizeof *h);
  int *index = check_alloc(&check, n, sizeof *index), *left = check_alloc(&check, n, sizeof *left);
  int errors[16];

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    for (size_t i = 0; i < n; i++) {
      b[i] = check_real(&check) * 0.75 + 0.125;
      c[i] = check_real(&check) + 1.0;
      f[i] = (float)b[i] * 20.0f;
      g[i] = (float)c[i];
      h[i] = 0.0f;
      a[i] = c[i];
      left[i] = (int)(i < n / 2 ? i : i - n / 2);
    }
    permute(&check, index, n);
    if (check_is(&check, "domain"))
      b[n / 2 + 7] = -3.0, f[n / 2 + 7] = INFINITY;
    if (check_is(&check, "mixed"))
      for (int k = 0; k < 40; k++) {
        size_t at = check_below(&check, n);
        b[at] = k % 3 == 0 ? -2.0 : k % 3 == 1 ? 0.0 : 400.0;
        f[at] = k % 2 == 0 ? INFINITY : 1.0f;
      }
    int next = 0;
#define SHOW(call, what, array, size)                                                                                  \
  errno = next;                                                                                                        \
  check_start(&check);                                                                                                 \
  call;                                                                                                                \
  errors[next++] = errno;                                                                                              \
  check_stop(&check);                                                                                                  \
  check_array(&check, what, array, n, size)
    SHOW(sines(h, f, g, count), "sines", h, sizeof *h);
    SHOW(logs(a, b, count), "logs", a, sizeof *a);
    SHOW(powers(a, b, c, count), "powers", a, sizeof *a);
    SHOW(scattered(a, b, index, count), "scattered", a, sizeof *a);
    SHOW(levels(a, b, left, count), "levels", a, sizeof *a);
    SHOW(mirrored(a, b, index, count), "mirrored", a, sizeof *a);
    SHOW(helper(a, b, count), "helper", a, sizeof *a);
    SHOW(nest(a, b, count / 3, 3), "nest", a, sizeof *a);
    SHOW(*a = last(b, count), "last", a, sizeof *a);
    SHOW(own(h, g, count), "own", h, sizeof *h);
    SHOW(folded(a, count / 3), "folded", a, sizeof *a);
    SHOW(squares(a, b, count), "squares", a, sizeof *a);
    check_array(&check, "errors", errors, (size_t)next, sizeof *errors);
  }
  free(a);
  free(b);
  free(c);
  free(f);
  free(g);
  free(h);
  free(index);
  free(left);
  return check_close(&check);
}
