/* Loops that nobody waits for, one of which fails: numbers grow until two infinities are subtracted, and what a device makes of that isn't what the processor does. All that was left
 * to the device behind it has to be done once more, and nothing else is left there, for nobody would run it. */
#include "coherence.h"

/* Larger each time. */
SHARED void grow(long n, double *to, const double *from)
{
  for (long i = 1; i < n - 1; i++)
    to[i] = (from[i - 1] + from[i] * 2 + from[i + 1]) * 3;
}

SHARED void scale(long n, double *all, double by)
{
  for (long i = 0; i < n; i++)
    all[i] = all[i] * by;
}

SHARED void subtract(long n, double *all, const double *others)
{
  for (long i = 0; i < n; i++)
    all[i] = all[i] - others[i];
}

int main(void)
{
  enum { COUNT = 20480, STEPS = 400 };
  double *now = aligned_alloc(4096, COUNT * sizeof *now), *next = aligned_alloc(4096, COUNT * sizeof *next);
  for (long i = 0; i < COUNT; i++)
    now[i] = next[i] = i % 97 * 1e40;
  for (int t = 0; t < STEPS; t++) {
    grow(COUNT, next, now);
    if (t % 7 == 3)
      subtract(COUNT, next, now);
    if (t % 50 == 40)
      scale(COUNT, next, 0.5);
    double *other = now;
    now = next;
    next = other;
    if (t == 20 || t == 390)
      printf("%d %g %llx\n", t, now[t], (unsigned long long)hash(now, COUNT * sizeof *now));
  }
  printf("%llx %llx\n", (unsigned long long)hash(now, COUNT * sizeof *now),
         (unsigned long long)hash(next, COUNT * sizeof *next));
  return 0;
}
