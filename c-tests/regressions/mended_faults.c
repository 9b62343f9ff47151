/* A loop comes to memory that the program's handler of faults makes accessible: the threads of the runtime must not block that
 * signal. */
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>

enum { PAGE = 4096, PAGES = 1024, MISSING = 300, N = PAGE * PAGES / 8 };
static char *pages;
static double sums[N];

static void mend(int signal_number)
{
  (void)signal_number;
  mprotect(pages, (size_t)PAGE * PAGES, PROT_READ | PROT_WRITE);
}

__attribute__((noinline)) static void add(int n, const double *a)
{
  for (int i = 0; i < n; i++) /* entered */
    sums[i] += a[i];
}

int main(void)
{
  double hash = 0;
  pages = mmap(NULL, (size_t)PAGE * PAGES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  double *a = (double *)pages;
  for (volatile int i = 0; i < N; i++)
    a[i] = i * 0.5;
  signal(SIGSEGV, mend);
  for (int turn = 0; turn < 8; turn++) {
    mprotect(pages + (size_t)PAGE * MISSING, (size_t)PAGE * (PAGES - MISSING), PROT_NONE);
    add(N, a);
  }
  for (int i = 0; i < N; i++)
    hash = hash * 0.999 + sums[i];
  printf("%.17g\n", hash);
  return 0;
}
