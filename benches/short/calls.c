/* A short loop, called ten million times: what its guard costs. */
#include <stdio.h>

__attribute__((noinline)) static void axpy(int n, double a, const double *x, double *y)
{
  for (int i = 0; i < n; i++)
    y[i] += a * x[i];
}

int main(void)
{
  static double x[16], y[16];
  for (int i = 0; i < 16; i++)
    x[i] = i;
  for (int call = 0; call < 10000000; call++)
    axpy(call & 15, 1e-3, x, y);
  printf("%.17g\n", y[7] + y[14]);
  return 0;
}
