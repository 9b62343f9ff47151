/* Steps that a device can't finish: a NaN is about to be stored, or there are divisions by zero that the source guards. So the calling thread has to take
 * what devices have stored before, in the middle of the run, and devices what it has stored. */
#include "coherence.h"

enum { COUNT = 90000, STEPS = 30 };

SHARED void relative(long n, double *to, const double *from)
{
  for (long i = 0; i < n; i++)
    to[i] = from[i] / (to[i] - 1) + 0.5;
}

SHARED void divided(long n, int32_t *to, const int32_t *by)
{
  for (long i = 0; i < n; i++)
    to[i] = by[i] != 0 ? 1000000 / by[i] + to[i] : -1;
}

int main(void)
{
  double *now = malloc(COUNT * sizeof *now), *next = malloc(COUNT * sizeof *next);
  int32_t *to = calloc(COUNT, sizeof *to), *by = malloc(COUNT * sizeof *by);
  begin(COUNT, now, 2);
  begin(COUNT, next, 3);
  for (long i = 0; i < COUNT; i++)
    by[i] = (int32_t)(i % 11 - 3);
  for (long t = 0; t < STEPS; t++) {
    smooth(COUNT, next, now);
    if (t % 6 == 4) {
      /* Nothing by nothing, somewhere. */
      next[t * 1500] = 1;
      now[t * 1500] = 0;
    }
    relative(COUNT, next, now);
    if (t % 6 == 4) {
      printf("%ld: %d\n", t, next[t * 1500] != next[t * 1500]);
      next[t * 1500] = 2; /* the sign of a NaN isn't anybody's */
    }
    divided(COUNT, to, by);
    advance(COUNT / 2, (uint32_t *)by, (uint32_t)t);
    if (t % 5 == 2)
      memset(by + t * 2000, 0, 7000);
    smooth(COUNT, now, next);
  }
  show("now", STEPS, now, COUNT * sizeof *now);
  show("next", STEPS, next, COUNT * sizeof *next);
  show("to", STEPS, to, COUNT * sizeof *to);
  show("by", STEPS, by, COUNT * sizeof *by);
  return 0;
}
