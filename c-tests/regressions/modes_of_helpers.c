/* Threads that were started while the program flushed denormal numbers to zero don't go on doing so when it has stopped. */
#include <stdio.h>
#include <stdlib.h>
#include <xmmintrin.h>

enum { N = 200000 };

__attribute__((noinline)) static void plain(double *p, const double *q, int n)
{
  for (int i = 0; i < n; i++) { /* entered */
    double t = q[i];
    for (int k = 0; k < 20; k++)
      t = t * 0.5 + 1;
    p[i] = t;
  }
}
__attribute__((noinline)) static void scattered(double *p, const double *q, const int *x, int n)
{
  for (int i = 0; i < n; i++) { /* entered */
    double t = q[i];
    for (int k = 0; k < 20; k++)
      t = t * 0.5 + 1e-310;
    p[x[i]] = t * 1e-3;
  }
}

int main(void)
{
  unsigned before = _mm_getcsr();
  double *a = calloc(N, sizeof *a), *b = calloc(N, sizeof *b), sum = 0;
  int *x = malloc(N * sizeof *x), zeros = 0;
  _mm_setcsr(before | 0x8040);
  for (int k = 0; k < 5; k++)
    plain(a, b, N);
  _mm_setcsr(before);
  for (int i = 0; i < N; i++) {
    b[i] = i * 1e-308 / N;
    x[i] = (int)(i * 7LL % N);
  }
  scattered(a, b, x, N);
  for (int i = 0; i < N; i++) {
    zeros += a[i] == 0;
    sum += a[i];
  }
  printf("%d %g\n", zeros, sum * 1e300);
  free(a);
  free(b);
  free(x);
  return 0;
}
