/* Variables of threads that take more than a stack of the runtime's threads has for itself: these have them, too. */
#include "coherence.h"

enum { COUNT = 90000, STEPS = 10 };

static _Thread_local volatile char own[4 << 20];

int main(void)
{
  double *now = malloc(COUNT * sizeof *now), *next = malloc(COUNT * sizeof *next);
  begin(COUNT, now, 1);
  begin(COUNT, next, 2);
  for (long t = 0; t < STEPS; t++) {
    smooth(COUNT, next, now);
    own[t << 18] = (char)next[t * 1000];
    smooth(COUNT, now, next);
    printf("%ld: %d\n", t, own[t << 18]);
  }
  show("now", STEPS, now, COUNT * sizeof *now);
  show("next", STEPS, next, COUNT * sizeof *next);
  return 0;
}
