/* A time loop whose steps take long from the middle on, and all of a sudden: what was known of their time says nothing any more. */
#include <stdio.h>
enum { COUNT = 8192, STEPS = 24 };
static double a[COUNT] __attribute__((aligned(4096))), b[COUNT] __attribute__((aligned(4096)));
void step(double *restrict to, const double *restrict from, long count, long turns);
int main(void)
{
  double sum = 0;
  for (long i = 0; i < COUNT; i++)
    a[i] = b[i] = (double)(i % 100);
  for (long t = 0; t < STEPS; t++) {
    long turns = t < STEPS / 2 ? 0 : 10000;
    step(b, a, COUNT, turns);
    step(a, b, COUNT, turns);
  }
  for (long i = 0; i < COUNT; i++)
    sum += a[i];
  printf("%.17g\n", sum);
  return 0;
}
