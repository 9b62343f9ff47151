/* ISO C leaves names as `read`, `access` and `mmap` to the program. What the runtime needs of the system it doesn't ask the program for.
 * flags: -std=c11 -fno-builtin */
#include <stdio.h>

enum { COUNT = 60000 };
static double a[COUNT], b[COUNT];
static long asked;

/* As programs call what reads the next number. */
int read(void)
{
  asked++;
  return 7;
}

double access(long row, long column)
{
  asked++;
  return a[row * 100 + column];
}

#define OWN(name) \
  int name(int x, int y) \
  { \
    asked++; \
    return x * 100 + y; \
  }
OWN(close)
OWN(getpid)
OWN(mmap)
OWN(munmap)
OWN(mprotect)
OWN(madvise)
OWN(open64)
OWN(prctl)
OWN(getrlimit)
OWN(readlink)
OWN(syscall)
OWN(sysconf)
OWN(pause)

static void scale(long n, double *to, const double *from, double by)
{
  for (long i = 0; i < n; i++)
    to[i] = to[i] * by + from[i];
}

int main(void)
{
  for (int i = 0; i < COUNT; i++)
    a[i] = (i * 31 % 1009) / 7.0;
  for (int round = 0; round < 12; round++)
    scale(COUNT, b, a, 0.5 + round % 2);
  printf("%ld\n", asked);
  printf("%.17g %.17g %d %d %ld\n", b[COUNT / 3], access(3, 4), read(), close(3, mmap(4, 5)), asked);
  return 0;
}
