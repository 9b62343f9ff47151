/* What runs when main has returned reads what loops have stored last, enters loops again, and prints through buffers that lie in arrays. */
#include "coherence.h"

enum { COUNT = 60000, STEPS = 10, BUFFER = 8192 };

static double now[COUNT], next[COUNT];
static char text[200000];

static void last(void)
{
  puts("last");
  show("now", STEPS, now, sizeof now);
  show("text", STEPS, text + 3 * BUFFER, sizeof text - 3 * BUFFER);
}

static void first(void)
{
  printf("first: %.17g\n", now[COUNT / 2]);
  now[100] = 3;
  smooth(COUNT, next, now);
  smooth(COUNT, now, next);
}

__attribute__((destructor)) static void behind(void)
{
  smooth(COUNT, next, now);
  show("behind", STEPS, next, sizeof next);
}

int main(void)
{
  letters(sizeof text, text, 1);
  setvbuf(stdout, text + BUFFER + 7, _IOFBF, BUFFER);
  atexit(last);
  atexit(first);
  begin(COUNT, now, 1);
  for (long t = 0; t < STEPS; t++) {
    smooth(COUNT, next, now);
    smooth(COUNT, now, next);
    letters(BUFFER, text, t);
    letters((long)sizeof text - 3 * BUFFER, text + 3 * BUFFER, t);
    printf("%ld: %.10s\n", t, text + 3 * BUFFER);
  }
  return 3;
}
