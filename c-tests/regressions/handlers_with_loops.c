/* A signal's handler has a loop of its own, and interrupts the allocator. (not forced: the handler's loop never runs elsewhere) */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

enum { N = 65536 };
static int counts[N], in[N];
static volatile sig_atomic_t ticks;

static void on_alarm(int signal)
{
  (void)signal;
  for (int i = 0; i < N; i++)
    counts[i] = in[i] * 3 + 1;
  ticks++;
}

int main(void)
{
  void *p[64] = {0};
  unsigned x = 1, sum = 0;
  for (int i = 0; i < N; i++)
    in[i] = i;
  struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, NULL);
  struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, NULL);
  while (ticks < 1000) {
    x = x * 1103515245u + 12345u;
    free(p[x >> 26]);
    p[x >> 26] = malloc(2000 + (x >> 16) % 200000);
  }
  setitimer(ITIMER_REAL, &never, NULL);
  for (int i = 0; i < N; i++)
    sum = sum * 31 + (unsigned)counts[i];
  printf("%u\n", sum);
  return 0;
}
