/* Attributes on another declaration change how a function's code is generated. */
#include <stdio.h>

static double x[1000], y[1000], called[1000], own[1000];

static double difference(double a, double b) __attribute__((optimize("fast-math")));
static double difference(double a, double b)
{
  return (a + b) - a;
}

__attribute__((noinline, optimize("fast-math"))) static void whole(int n);
static void whole(int n)
{
  for (int i = 0; i < n; i++)
    own[i] = (x[i] + y[i]) - x[i];
}

__attribute__((noinline)) static void run(int n)
{
  for (int i = 0; i < n; i++)
    called[i] = difference(x[i], y[i]);
}

int main(void)
{
  int exact[2] = {0, 0};
  for (int i = 0; i < 1000; i++) {
    x[i] = 1.0 / (i + 3);
    y[i] = 1e-12 / (i + 7);
  }
  run(1000);
  whole(1000);
  for (int i = 0; i < 1000; i++) {
    exact[0] += called[i] == y[i];
    exact[1] += own[i] == y[i];
  }
  printf("%d %d\n", exact[0], exact[1]);
  return 0;
}
