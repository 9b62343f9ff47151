/* The same loop on other parts of an array in each entry: parts that grow, shrink, move on, lie side by side within a page, and are read by the other one's
 * next entry. */
#include "coherence.h"

enum { COUNT = 150000, STEPS = 60 };

int main(void)
{
  double *now = malloc(COUNT * sizeof *now), *next = malloc(COUNT * sizeof *next);
  uint32_t *counts = calloc(COUNT, sizeof *counts);
  begin(COUNT, now, 1);
  begin(COUNT, next, 2);
  for (long t = 0; t < STEPS; t++) {
    long first = t * 977, n = COUNT - 2 * first;
    smooth(n, next + first, now + first);                                         /* shrinks on both sides */
    smooth(1000 + t * 2000, now + (t % 3), next + (t % 3));                       /* grows */
    advance(5000 + t * 11, counts + t * 2000, (uint32_t)t);                       /* moves on, over half of what was before */
    advance(100, counts + 500 * t, 1);                                            /* within a page */
    advance(100, counts + 500 * t + 100, 2);                                      /* beside it */
    if (t % 4 == 0)
      smooth(20000, next + 40000, next + 80000 + t);                              /* from a part of the array to another one */
    if (t % 10 == 3)
      printf("%ld: %.17g %.17g %u\n", t, next[first], next[first - 1], counts[t * 2000 + 5000 + t * 11]);
    if (t % 10 == 7)
      counts[500 * t + 99] = 3, now[first] = 1, next[first + n - 1] = 2;
  }
  show("now", STEPS, now, COUNT * sizeof *now);
  show("next", STEPS, next, COUNT * sizeof *next);
  show("counts", STEPS, counts, COUNT * sizeof *counts);
  return 0;
}
