/* Handlers that appear in the middle of the run and disappear again: they read and write arrays, raised by the program itself, on the stack and on another stack
 * that is a part of an array; they return or jump. */
#include "coherence.h"
#include <setjmp.h>

enum { COUNT = 60000, STEPS = 16, STACK = 1 << 17 };

static double *now, *next;
static uint32_t *room;
static sigjmp_buf back;
static volatile long t;
static volatile double *volatile nowhere;

static void handle(int signal)
{
  next[t * 1000] = now[t * 999] + signal;
  room[t * 300] += 5;
}

static void leave(int signal)
{
  next[t * 1000 + 1] = signal;
  siglongjmp(back, 7);
}

static void tell(int signal, siginfo_t *about, void *context)
{
  (void)context;
  room[10 + t] = (uint32_t)(signal * 1000 + about->si_value.sival_int);
}

int main(void)
{
  now = malloc(COUNT * sizeof *now), next = malloc(COUNT * sizeof *next);
  room = map(2 * STACK);
  begin(COUNT, now, 1);
  begin(COUNT, next, 2);
  for (t = 0; t < STEPS; t++) {
    smooth(COUNT, next, now);
    advance(STACK / sizeof *room, room, (uint32_t)t);
    struct sigaction action = {.sa_flags = 0}, old;
    switch (t % 8) {
    case 1:
      signal(SIGUSR1, handle);
      raise(SIGUSR1);
      break;
    case 2:
      raise(SIGUSR1);
      signal(SIGUSR1, SIG_DFL);
      break;
    case 3:
      signal(SIGUSR2, leave);
      if (sigsetjmp(back, 1) == 0)
        raise(SIGUSR2);
      printf("%ld: %.17g\n", (long)t, next[t * 1000 + 1]);
      signal(SIGUSR2, SIG_IGN);
      break;
    case 4:
      raise(SIGUSR2);
      advance(STACK / sizeof *room, room + STACK / sizeof *room, (uint32_t)t);
      sigaltstack(&(stack_t){.ss_sp = (char *)room + STACK, .ss_size = STACK}, NULL);
      action.sa_handler = handle;
      action.sa_flags = SA_ONSTACK;
      sigaction(SIGTERM, &action, &old);
      kill(getpid(), SIGTERM);
      sigaction(SIGTERM, &old, NULL);
      sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
      break;
    case 5:
      action.sa_sigaction = tell;
      action.sa_flags = SA_SIGINFO;
      sigaction(SIGRTMIN, &action, &old);
      sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = (int)now[2]});
      sigaction(SIGRTMIN, &old, NULL);
      break;
    case 6:
      /* Of faults: nothing of ours is behind them. */
      signal(SIGSEGV, leave);
      if (sigsetjmp(back, 1) == 0) {
        now[5] = *nowhere;
        puts("not here");
      }
      printf("%ld: %.17g\n", (long)t, next[t * 1000 + 1]);
      signal(SIGSEGV, SIG_DFL);
      break;
    default:
      break;
    }
    printf("%ld: %.17g %u\n", (long)t, next[t * 1000], room[t * 300]);
    double *other = now;
    now = next;
    next = other;
  }
  show("now", STEPS, now, COUNT * sizeof *now);
  show("next", STEPS, next, COUNT * sizeof *next);
  show("room", STEPS, room, STACK);
  return 0;
}
