/* Options that are taken back directly behind a function hold for that function. */
#include <limits.h>
#include <stdio.h>

static int a[600];
static double x[1000], y[1000];

#pragma GCC push_options
#pragma GCC optimize("wrapv")
__attribute__((noinline)) static void wraps(int n, int from)
{
  for (int i = 0; i < n; i++)
    a[from + i - INT_MIN >= 0 ? from + i - INT_MIN : 0] = i;
}
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("fma")
__attribute__((noinline)) static void fuses(int n, double b, double c)
{
  for (int i = 0; i < n; i++)
    y[i] = x[i] * b - c;
}
#pragma GCC pop_options
#pragma GCC optimize("wrapv")
__attribute__((noinline)) static int resets(int n, int from)
{
  int sum = 0;
  for (int i = 0; i < n; i++)
    sum += from + i - INT_MIN >= 0 ? a[i] : 1;
  return sum;
}
#pragma GCC reset_options

int main(void)
{
  wraps(500, INT_MAX - 20);
  for (int i = 0; i < 24; i++)
    printf("%d ", a[i]);
  printf("%d\n", resets(500, INT_MAX - 20));
  for (int i = 0; i < 1000; i++)
    x[i] = 1 + 0x1p-30;
  if (__builtin_cpu_supports("fma"))
    fuses(1000, 1 - 0x1p-29, 1 - 0x1p-30);
  printf("%a\n", y[7]);
  return 0;
}
