/* A stack of the program's own, made where arrays were that are elsewhere now: its frames go down over their pages, a little further each time, and loops that are entered on it run as
 * they stand, since the runtime stands on threads' own stacks only. */
#include "coherence.h"
#include <ucontext.h>
enum { STACK = 4 << 20, COUNT = 60000, HALF = STACK / 2 };
static ucontext_t outside, inside;
static double other[COUNT];
static volatile long rounds;
/* Two arrays, the second of which ends where the stack does. */
SHARED uint64_t leave(char *stack, long t)
{
  double *now = (double *)(stack + HALF), *next = (double *)(stack + STACK) - COUNT;
  begin(COUNT, now, (double)t);
  begin(COUNT, next, 1);
  smooth(COUNT, next, now);
  smooth(COUNT, now, next);
  smooth(COUNT, next, now);
  smooth(COUNT, now, next);
  return t % 3 == 0 ? (uint64_t)now[100] : 0;
}
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
static char *stack;
/* A child, which has all that was left, and the end of the process: both bring home everything, with no more stack than the program has made. */
static void fork_there(void)
{
  int status = 0;
  pid_t child = fork();
  if (child == 0)
    _exit((int)(hash(stack + HALF, COUNT * sizeof(double)) & 127));
  waitpid(child, &status, 0);
  printf("child %d\n", status);
}
static void body(void)
{
  printf("%ld %llu\n", rounds, (unsigned long long)down((int)(5 * rounds), rounds));
  if (rounds % 7 == 0)
    fork_there();
  if (rounds == 60) {
    show("at the end", rounds, stack + HALF, COUNT * sizeof(double));
    exit(0);
  }
}
static void on_own_stack(char *low, size_t bytes)
{
  getcontext(&inside);
  inside.uc_stack.ss_sp = low;
  inside.uc_stack.ss_size = bytes;
  inside.uc_link = &outside;
  makecontext(&inside, body, 0);
  swapcontext(&outside, &inside);
}
int main(void)
{
  stack = malloc(STACK);
  for (rounds = 0; rounds < 60; rounds++) {
    printf("%ld %llu\n", rounds, (unsigned long long)leave(stack, rounds));
    on_own_stack(stack, STACK);
    show("left", rounds, stack + HALF, COUNT * sizeof(double));
  }
  show("other", 0, other, sizeof other);
  leave(stack, rounds);
  on_own_stack(stack, STACK);
  return 1;
}
