/* Limits become small while loops run: of open files, of data, of the address space, of the stack, of files' sizes; and all files but the first three are closed, whoever
 * has opened them. No trace: the file that it goes to is closed, too. */
#include "coherence.h"
#include <sys/resource.h>

enum { COUNT = 60000, STEPS = 24 };

static void limit(int what, rlim_t most)
{
  struct rlimit now;
  getrlimit(what, &now);
  now.rlim_cur = most;
  printf("limit: %d\n", setrlimit(what, &now));
}

int main(void)
{
  double *now = malloc(COUNT * sizeof *now), *next = malloc(COUNT * sizeof *next);
  uint32_t *a = calloc(COUNT, sizeof *a);
  begin(COUNT, now, 1);
  begin(COUNT, next, 2);
  for (long t = 0; t < STEPS; t++) {
    smooth(COUNT, next, now);
    advance(COUNT, a, (uint32_t)t);
    if (t == 4)
      limit(RLIMIT_NOFILE, 8);
    if (t == 8) {
      for (int file = 3; file < 1024; file++)
        close(file);
      /* Whoever closes the files that others have opened gets their numbers. */
      int file = open("values", O_RDWR | O_CREAT | O_TRUNC, 0600);
      printf("%d\n", file);
      printf("%zd\n", write(file, now, COUNT * sizeof *now));
    }
    if (t == 9)
      printf("%zd\n", pread(3, next, 100000, 5000));
    if (t == 11)
      limit(RLIMIT_DATA, 1 << 18);
    if (t == 12) {
      limit(RLIMIT_STACK, 1 << 18);
      limit(RLIMIT_NPROC, 1);
    }
    if (t == 14) {
      limit(RLIMIT_FSIZE, COUNT * sizeof *now + 1000);
      printf("%zd\n", pwrite(3, next, 5000, COUNT * sizeof *now));
      printf("%ld\n", (long)lseek(3, 0, SEEK_END));
    }
    if (t == 16) {
      limit(RLIMIT_AS, 1 << 20);
      printf("%d\n", malloc(64 << 20) == NULL);
    }
    printf("%ld: %.17g %u\n", t, next[t * 1000], a[t * 1001]);
    a[t * 1002] = 1;
    double *other = now;
    now = next;
    next = other;
  }
  show("now", STEPS, now, COUNT * sizeof *now);
  show("next", STEPS, next, COUNT * sizeof *next);
  show("a", STEPS, a, COUNT * sizeof *a);
  return 0;
}
