/* Handlers of fork that the program has registered before anything of ours is there: they allocate, and run loops, while allocators are locked for the child. */
#include "coherence.h"
#include <pthread.h>

enum { COUNT = 40 * 1024, MORE = 200000 };

static double *now, *next;

static void around(void)
{
  char *more = malloc(MORE);
  ensure(more != NULL, "malloc");
  letters(MORE, more, 3);
  if (now != NULL) {
    smooth(COUNT, next, now);
    smooth(COUNT, now, next);
  }
  free(more);
}

__attribute__((constructor(101))) static void early(void)
{
  ensure(pthread_atfork(around, around, around) == 0, "pthread_atfork");
}

int main(void)
{
  now = malloc(COUNT * sizeof *now), next = malloc(COUNT * sizeof *next);
  begin(COUNT, now, 1);
  begin(COUNT, next, 2);
  for (volatile int i = 0; i < 3; i++) {
    for (volatile int t = 0; t < 4; t++) {
      smooth(COUNT, next, now);
      smooth(COUNT, now, next);
    }
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
      smooth(COUNT, next, now);
      printf("child %d: %.17g\n", i, next[777]);
      fflush(stdout);
      _exit(i);
    }
    show_end("child", child);
  }
  show("now", 3, now, COUNT * sizeof *now);
  return 0;
}
