/* Handlers of timers leave the loop for good, in the middle: what the loop has stored is what its first iterations store, and
 * later entries are served as ever. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

enum { N = 1 << 21, TURNS = 60 };
static int a[N];
static sigjmp_buf before;
static volatile sig_atomic_t armed;

static void leave(int signal_number)
{
  (void)signal_number;
  if (armed) {
    armed = 0;
    siglongjmp(before, 1);
  }
}

__attribute__((noinline)) static void count(int n, int times)
{
  for (int i = 0; i < n; i++) { /* entered */
    int value = a[i];
    for (int k = 0; k < times; k++)
      value = value * 5 + k;
    a[i] = value;
  }
}

int main(void)
{
  static int expected[N];
  int wrong = 0;
  struct sigaction action = {.sa_handler = leave};
  struct itimerval timer = {{0, 0}, {0, 0}};
  sigaction(SIGALRM, &action, NULL);
  sigaction(SIGPROF, &action, NULL);
  for (volatile int turn = 0; turn < TURNS; turn++) {
    timer.it_value.tv_usec = 200 + turn * 173;
    if (sigsetjmp(before, 1) == 0) {
      armed = 1;
      setitimer(turn % 3 == 0 ? ITIMER_PROF : ITIMER_REAL, &timer, NULL);
      count(N, 7);
      armed = 0;
    }
    /* Nothing runs at the same time here. */
    volatile int done = 1;
    for (volatile int i = 0; i < N; i++) {
      int next = expected[i];
      for (volatile int k = 0; k < 7; k++)
        next = (int)((unsigned)next * 5u + (unsigned)k);
      if (a[i] == next && done) {
        expected[i] = next;
      } else {
        done = 0;
        wrong += a[i] != expected[i];
      }
    }
  }
  printf("%d elements that the first iterations don't explain\n", wrong);
  return 0;
}
