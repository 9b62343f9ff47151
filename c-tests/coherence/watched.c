/* What loops store is in a file, too, which a child looks at all the time. There it only grows, or somebody has stored there what is old. */
#include "coherence.h"

SHARED void note(long n, double *own, long *noted, long step)
{
  for (long i = 0; i < n; i++) {
    own[i] = (double)(step + i);
    noted[i] = step;
  }
}

static int watch(int file, size_t bytes, int end)
{
  const volatile long *noted = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, 0);
  char none;
  ensure(noted != MAP_FAILED && fcntl(end, F_SETFL, O_NONBLOCK) == 0, "watching");
  for (long most = 0;;) {
    for (int look = 0; look < 1000; look++) {
      const long now = noted[100];
      if (now < most) {
        printf("went back from %ld to %ld\n", most, now);
        return 1;
      }
      most = now;
    }
    if (read(end, &none, 1) == 0)
      return 0;
  }
}

int main(void)
{
  const long n = 20000;
  char name[] = "watchedXXXXXX";
  double *own = map(2 * n * sizeof *own);
  int file = mkstemp(name), ends[2];
  ensure(file >= 0 && unlink(name) == 0 && ftruncate(file, n * 8) == 0 && pipe(ends) == 0, "file");
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[1]);
    exit(watch(file, n * 8, ends[0]));
  }
  long *noted = mmap(NULL, n * 8, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ensure(child > 0 && noted != MAP_FAILED, "child");
  for (long step = 1; step < 40; step++) {
    note(n, own, noted, step);
    note(n, own + n, noted, step);
    if (step % 10 == 0)
      printf("%ld\n", step);
  }
  show("own", 0, own, 2 * n * sizeof *own);
  close(ends[1]);
  show_end("child", child);
  return 0;
}
