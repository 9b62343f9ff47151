/* The program may have only so much memory, from some moment on, and takes all of it: what the runtime had, or begins with, may not end it, nor be what the program lacks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { COUNT = 50000, ROUNDS = 12 };

static double a[COUNT], b[COUNT];
static int where[COUNT];

static void scale(long n, double *to, const double *from, double by)
{
  for (long i = 0; i < n; i++)
    to[i] = from[i] * by + 1.5;
}

static void scatter(long n, double *to, const double *from, const int *at)
{
  for (long i = 0; i < n; i++)
    to[at[i]] = from[i] - 0.25;
}

static double largest(long n, const double *of)
{
  double most = of[0];
  for (long i = 1; i < n; i++)
    if (of[i] > most)
      most = of[i];
  return most;
}

static void rounds(const char *when)
{
  for (int round = 0; round < ROUNDS; round++) {
    scale(COUNT, b, a, 0.5 + round);
    scatter(COUNT, a, b, where);
  }
  printf("%s: %.17g %.17g\n", when, largest(COUNT, a), a[COUNT / 3]);
  for (int i = 0; i < COUNT; i++)
    a[i] = (i * 31 % 1009) / 7.0;
}

/* Pages of the process's address space. */
static long pages(void)
{
  long pages = 0;
  FILE *sizes = fopen("/proc/self/statm", "r");
  if (!sizes || fscanf(sizes, "%ld", &pages) != 1)
    exit(2);
  fclose(sizes);
  return pages;
}

/* What the process has of its address space, and some more. A thread that begins meanwhile reserves 64 MiB for its allocations, so that the process would have far more
   than it may: it is looked at again behind the limit. */
static void limit(long more)
{
  struct rlimit now;
  getrlimit(RLIMIT_AS, &now);
  for (long before = -1, after = pages(); after != before;) {
    before = after;
    now.rlim_cur = before * 4096 + more;
    if (setrlimit(RLIMIT_AS, &now))
      exit(3);
    after = pages();
  }
}

struct block {
  struct block *next;
};

/* Takes all there is, down to the smallest piece. */
static struct block *take_all(void)
{
  struct block *all = NULL;
  for (size_t bytes = 1 << 20; bytes >= 16; bytes /= 4)
    for (struct block *one; (one = malloc(bytes)); all = one)
      one->next = all;
  return all;
}

int main(void)
{
  setvbuf(stdout, NULL, _IOLBF, 0);
  for (int i = 0; i < COUNT; i++) {
    a[i] = (i * 31 % 1009) / 7.0;
    where[i] = (i * 7919) % COUNT;
  }
  scale(COUNT, b, a, 2);
  printf("%.17g\n", largest(COUNT, b));
  limit(1 << 20);
  rounds("little is left");
  struct block *all = take_all();
  rounds("nothing is left");
  while (all) {
    struct block *next = all->next;
    free(all);
    all = next;
  }
  rounds("some is back");
  double *mine = malloc(200000);
  printf("%d\n", mine != NULL);
  free(mine);
  return 0;
}
