/* What the compiler may fuse across a loop that it moves, deletes or makes a call of memset, and what it sees as products that doesn't
 * look like one.
 *
 * flags: -mfma */
#include <math.h>
#include <stdio.h>

enum { N = 100000 };
static float x[N], y[N];
static double u[N], v[N];

__attribute__((noipa)) static double deleted(int n, double a, double b, double c)
{
  double product = a * b;
  int k = 0;
  for (int i = 0; i < n; i++)
    k += i;
  return product - c;
}
__attribute__((noipa)) static double cleared(double a, double b, double c)
{
  double product = a * b;
  for (int i = 0; i < N; i++)
    x[i] = 0;
  return product - c;
}
__attribute__((noipa)) static void hoisted(double a, double b, double c)
{
  double product = a * b;
  for (int i = 0; i < N; i++)
    y[i] = x[i] * (product - c);
}
__attribute__((noipa)) static void square(int n, double c)
{
  for (int i = 0; i < n; i++)
    v[i] = fabs(u[i] * u[i]) + c;
}
__attribute__((noipa)) static void quotient(int n, double c)
{
  double four = 4;
  for (int i = 0; i < n; i++)
    v[i] = u[i] / four + c;
}

int main(void)
{
  volatile double a = 1 + 0x1p-30, b = 1 - 0x1p-29, c = 1 - 0x1p-30;
  if (!__builtin_cpu_supports("fma"))
    return puts("no fused operations") < 0;
  printf("%a %a\n", deleted(10, a, b, c), cleared(a, b, c));
  for (int i = 0; i < N; i++)
    x[i] = i, u[i] = 1 + 0x1p-30 * i;
  hoisted(a, b, c);
  square(N, -1);
  printf("%a %a %a\n", y[3], y[999], v[7]);
  for (int i = 0; i < N; i++)
    u[i] = (i & 3) * 0x1p-1074;
  quotient(N, 0x1p-1074);
  printf("%a\n", v[2]);
  return 0;
}
