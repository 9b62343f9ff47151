/* What the compiler may fuse: a product of the last iteration with a sum behind the loop, and an increment of memory that holds a product.
 * Built for processors that have fused operations, the program's bits are those of its own compiler.
 *
 * flags: -mfma */
#include <stdio.h>

enum { N = 100000 };
static double a[N], b[N], p[N];

__attribute__((noinline)) static double behind(int n, double k)
{
  double last = 0;
  for (int i = 0; i < n; i++) {
    p[i] = a[i] + 2;
    last = a[i] * b[i];
  }
  return last - k;
}
__attribute__((noinline)) static void less(int n, double *restrict to, const double *x, const double *y)
{
  for (int i = 0; i < n; i++) {
    to[i] = x[i] * y[i];
    to[i]--;
  }
}

int main(void)
{
  volatile double k;
  double sum = 0;
  if (!__builtin_cpu_supports("fma"))
    return puts("no fused operations") < 0;
  for (int i = 0; i < N; i++) {
    a[i] = 1.0 / (i + 3);
    b[i] = i + 2;
  }
  k = a[N - 1] * b[N - 1];
  printf("%a\n", behind(N, k));
  for (int i = 0; i < N; i++)
    b[i] = i + 3;
  less(N, p, a, b);
  for (int i = 0; i < N; i++)
    sum += p[i] * (i % 7 + 1);
  printf("%a\n", sum);
  return 0;
}
