/* Jumps across entries: out of functions that have entered loops, back to where arrays were other ones, and with what setjmp has kept in an array. */
#include "coherence.h"
#include <setjmp.h>

enum { COUNT = 60000, STEPS = 15 };

struct place {
  jmp_buf back;
  uint32_t beside[10000];
};
static struct place *places;
static double *now, *next;

static void inside(long t, int levels);
static void (*volatile further)(long, int) = inside;

static void inside(long t, int levels)
{
  uint32_t own[20000];
  memset(own, levels, sizeof own);
  advance(20000, own, (uint32_t)t);
  smooth(COUNT, next, now);
  if (levels > 0) {
    further(t, levels - 1);
    return;
  }
  now[levels] = (double)own[19999];
  smooth(COUNT, now, next);
  advance(10000, places[t].beside, own[5]);
  longjmp(places[t].back, (int)(own[5] % 1000) + 1);
}

int main(void)
{
  places = calloc(STEPS, sizeof *places);
  now = malloc(COUNT * sizeof *now), next = malloc(COUNT * sizeof *next);
  begin(COUNT, now, 1);
  begin(COUNT, next, 2);
  for (volatile long t = 0; t < STEPS; t++) {
    volatile int times = 0;
    int came = setjmp(places[t].back);
    advance(10000, places[t].beside, (uint32_t)came);
    if (++times < 4)
      inside(t, times);
    printf("%ld: %d %.17g %u\n", (long)t, came, now[t * 200], places[t].beside[9999]);
  }
  show("now", STEPS, now, COUNT * sizeof *now);
  show("next", STEPS, next, COUNT * sizeof *next);
  return 0;
}
