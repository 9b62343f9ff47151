/* A stack of the program's own, with arrays on it. When they are gone frames go down over their pages, a little further each time, and the runtime's own
 * frames lie there: whatever it is about, it stands on memory that may be elsewhere. */
#include "coherence.h"
#include <ucontext.h>
enum { STACK = 4 << 20, COUNT = 60000 };
static ucontext_t outside, inside;
SHARED uint64_t fixed(long t)
{
  double now[COUNT], next[COUNT];
  begin(COUNT, now, (double)t);
  begin(COUNT, next, 1);
  smooth(COUNT, next, now);
  smooth(COUNT, now, next);
  return (uint64_t)now[100] + (uint64_t)next[50000];
}
static double other[COUNT];
SHARED uint64_t down(int levels, long t)
{
  volatile char room[1600];
  room[levels] = 1;
  if (levels == 0) {
    begin(COUNT, other, (double)t);
    return (uint64_t)other[17];
  }
  return down(levels - 1, t) + (uint64_t)room[levels];
}
static void body(void)
{
  for (long t = 0; t < 100; t++) {
    printf("%ld %llu\n", t, (unsigned long long)fixed(t));
    printf("%ld %llu\n", t, (unsigned long long)down((int)(5 * t), t));
  }
}
int main(void)
{
  getcontext(&inside);
  inside.uc_stack.ss_sp = malloc(STACK);
  inside.uc_stack.ss_size = STACK;
  inside.uc_link = &outside;
  makecontext(&inside, body, 0);
  swapcontext(&outside, &inside);
  show("other", 0, other, sizeof other);
  return 0;
}
