/* Attributes on another declaration change the code of a function, and so do pragmas that name it. */
#include <stdio.h>

static double x[1000], y[1000], out[1000];

static double kept(double a, double b) __attribute__((optimize("fast-math")));
static double kept(double a, double b)
{
  return (a + b) - a;
}

__attribute__((noinline, optimize("fast-math"))) static void whole(int n);
static void whole(int n)
{
  for (int i = 0; i < n; i++)
    out[i] += (x[i] + y[i]) - x[i];
}

#pragma weak replaced
int replaced(int i)
{
  return i + 1;
}

__attribute__((noinline)) static void run(int n)
{
  for (int i = 0; i < n; i++)
    out[i] = kept(x[i], y[i]) + replaced(i);
}

int main(void)
{
  int same = 0;
  for (int i = 0; i < 1000; i++) {
    x[i] = 1.0 / (i + 3);
    y[i] = 1e-12 / (i + 7);
  }
  run(1000);
  whole(1000);
  for (int i = 0; i < 1000; i++)
    same += out[i] == 2 * y[i] + i + 1;
  printf("%d %.17g\n", same, out[77]);
  return 0;
}
