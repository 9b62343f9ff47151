/* Loops that nobody waits for, and one that divides by what has become zero: what stands behind it doesn't happen. */
#include "coherence.h"

SHARED void divide(long n, int *all, const int *by)
{
  for (long i = 0; i < n; i++)
    all[i] = all[i] / by[i] + 1000;
}

SHARED void lessen(long n, int *all)
{
  for (long i = 0; i < n; i++)
    all[i] = all[i] - 1;
}

int main(void)
{
  enum { COUNT = 20480, STEPS = 40, ZERO = 30 };
  int *all = aligned_alloc(4096, COUNT * sizeof *all), *by = aligned_alloc(4096, COUNT * sizeof *by);
  for (long i = 0; i < COUNT; i++) {
    all[i] = (int)(i % 1000);
    by[i] = ZERO + (int)(i % 17);
  }
  for (int t = 0; t < STEPS; t++) {
    printf("step %d\n", t);
    fflush(stdout);
    divide(COUNT, all, by);
    lessen(COUNT, by);
  }
  printf("%llx\n", (unsigned long long)hash(all, COUNT * sizeof *all));
  return 0;
}
