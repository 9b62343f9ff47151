/* Children by fork: they read and write their copies, enter loops of their own, have children; the parent goes on meanwhile and afterwards, and sees none
 * of it. */
#include "coherence.h"

enum { COUNT = 60000, STEPS = 8 };

static double *now, *next;
static uint32_t fixed[30000];

static void steps(long n)
{
  for (long t = 0; t < n; t++) {
    smooth(COUNT, next, now);
    advance(30000, fixed, (uint32_t)t);
    double *other = now;
    now = next;
    next = other;
  }
}

static void report(const char *who, long t)
{
  show(who, t, now, COUNT * sizeof *now);
  show(who, t, next, COUNT * sizeof *next);
  show(who, t, fixed, sizeof fixed);
  fflush(stdout);
}

int main(void)
{
  now = malloc(COUNT * sizeof *now), next = malloc(COUNT * sizeof *next);
  begin(COUNT, now, 1);
  begin(COUNT, next, 2);
  for (long t = 0; t < STEPS; t++) {
    int ends[2];
    char byte = 0;
    ensure(pipe(ends) == 0, "pipe");
    steps(2);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
      close(ends[1]);
      if (t % 2 == 0)
        ensure(read(ends[0], &byte, 1) == 1, "read"); /* the parent is further by then */
      printf("child %ld: %.17g %u\n", t, now[t * 100], fixed[t]);
      now[t * 1000] = -5;
      memset(fixed + 1000, 0, 50000);
      if (t % 3 != 2)
        steps(3);
      if (t % 4 == 1) {
        fflush(stdout);
        pid_t grandchild = fork();
        if (grandchild == 0) {
          steps(1);
          next[0] = 8;
          report("grandchild", t);
          _exit(4);
        }
        show_end("grandchild", grandchild);
        fixed[7] += 7;
      }
      report("child", t);
      _exit((int)t);
    }
    if (t % 2 == 0) {
      steps(1);
      now[7] = 7;
      ensure(write(ends[1], now + 7, 1) == 1, "write");
    } else
      now[8] = 8;
    show_end("child", child);
    close(ends[0]);
    close(ends[1]);
    if (t % 3 == 0)
      report("parent", t);
  }
  report("parent", STEPS);
  return 0;
}
