/* A timer whose handler counts in the arrays that loops store to: while loops run in places that they leave alone, and while none does in others. */
#include "coherence.h"
#include <sys/time.h>

enum { COUNT = 80000, STEPS = 20, HOLE = 30000 };

static uint32_t *a;
static volatile sig_atomic_t ticks;
/* 1: no loop runs until the handler has been here; 2: it has. */
static volatile sig_atomic_t quiet;

static void tick(int signal)
{
  (void)signal;
  /* Only so often, so that it doesn't show how long the program takes. */
  if (ticks < 30) {
    a[HOLE] += 3;
    a[HOLE + 1] ^= a[HOLE];
    ticks = ticks + 1;
  }
  if (quiet == 1) {
    a[100] += 5;
    a[COUNT - 1] ^= a[HOLE - 1];
    quiet = 2;
  }
}

int main(void)
{
  a = calloc(COUNT, sizeof *a);
  for (long t = 0; t < STEPS; t++) {
    if (t == 5) {
      struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART};
      sigaction(SIGALRM, &action, NULL);
      setitimer(ITIMER_REAL, &(struct itimerval){{0, 300}, {0, 300}}, NULL);
    }
    advance(HOLE, a, (uint32_t)t);
    advance(COUNT - HOLE - 2, a + HOLE + 2, (uint32_t)t);
    if (t == 14) {
      quiet = 1;
      while (ticks < 30 || quiet != 2)
        usleep(500);
      setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
      signal(SIGALRM, SIG_DFL);
      printf("%u %u\n", a[HOLE], a[HOLE + 1]);
    }
    if (t < 4 || t > 14)
      printf("%ld: %u %u\n", t, a[HOLE - 1], a[HOLE + 2]);
  }
  show("a", STEPS, a, COUNT * sizeof *a);
  return 0;
}
