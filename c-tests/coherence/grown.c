/* Allocations grow, shrink, move, are freed and made again, with other sizes at the same addresses; small ones share pages with the allocator's own
 * notes. */
#include "coherence.h"
#include <malloc.h>

enum { STEPS = 30 };

int main(void)
{
  long count = 60000;
  double *now = malloc((size_t)count * sizeof *now), *next = malloc((size_t)count * sizeof *next);
  uint32_t *small[12];
  for (int k = 0; k < 12; k++)
    small[k] = calloc(2000 + 300 * (size_t)k, sizeof **small);
  begin(count, now, 1);
  begin(count, next, 2);
  for (long t = 0; t < STEPS; t++) {
    smooth(count, next, now);
    for (int k = 0; k < 12; k++)
      advance(2000 + 300 * k, small[k], (uint32_t)(t + k));
    if (t % 3 == 1) {
      long more = count + 7000;
      next = realloc(next, (size_t)more * sizeof *next);
      now = realloc(now, (size_t)more * sizeof *now);
      for (long i = count; i < more; i++)
        next[i] = now[i] = (double)(i - t);
      count = more;
    }
    if (t % 7 == 5) {
      count -= 9000;
      next = realloc(next, (size_t)count * sizeof *next);
    }
    if (t % 5 == 2) {
      /* All of it is overwritten, perhaps in the same place. */
      free(now);
      now = malloc((size_t)count * sizeof *now);
      begin(count, now, (double)t);
      void *between = malloc(300000);
      memset(between, 0x55, 300000);
      free(between);
    }
    if (t % 4 == 3) {
      int k = (int)(t % 12);
      free(small[k]);
      small[k] = calloc(2000 + 300 * (size_t)k, sizeof **small);
      printf("%ld: %u\n", t, small[k][1999]);
      malloc_trim(0);
    }
    if (t % 6 == 0) {
      /* What has been freed is zeros again where calloc has it from the system. */
      uint32_t *again = calloc(200000, sizeof *again);
      show("zeros", t, again, 200000 * sizeof *again);
      advance(200000, again, (uint32_t)t);
      show("stored", t, again, 200000 * sizeof *again);
      free(again);
    }
    double *other = now;
    now = next;
    next = other;
    if (t % 7 == 5) /* both have as many again */
      next = realloc(next, (size_t)count * sizeof *next);
  }
  show("now", STEPS, now, (size_t)count * sizeof *now);
  show("before", STEPS, next, (size_t)count * sizeof *next);
  for (int k = 0; k < 12; k++) {
    show("small", k, small[k], (2000 + 300 * (size_t)k) * sizeof **small);
    free(small[k]);
  }
  return 0;
}
