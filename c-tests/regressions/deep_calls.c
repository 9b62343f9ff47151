/* A function with loops that calls itself as deep as the stack lasts: what stands in front of loops takes little of its frame. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { DEPTH = 20000 };
static int a[4000];
__attribute__((noinline)) static int deep(int depth, int n, double *p, double *q)
{
  int most = depth;
  if (depth == 0)
    return 0;
  for (int i = 0; i < n; i++)
    p[i] = q[i] * depth + p[i];
  for (int i = 0; i < n; i++)
    a[i] += depth;
  for (int i = 0; i < n; i++)
    if (a[i] > most)
      most = a[i];
  return most + deep(depth - 1, n, p, q) + (int)p[0];
}

int main(int argc, char **argv)
{
  static double p[16], q[16];
  struct rlimit limit;
  int n = argc + 2;
  /* Of the programs that are started from here on: this one again. */
  if (argc == 1) {
    char command[4096];
    getrlimit(RLIMIT_STACK, &limit);
    limit.rlim_cur = 96 * DEPTH;
    if (setrlimit(RLIMIT_STACK, &limit) != 0)
      return 1;
    snprintf(command, sizeof command, "PARAGON_DEVICE=off '%s' again", argv[0]);
    return system(command) != 0;
  }
  printf("%d\n", deep(DEPTH, n, p, q));
  return 0;
}
