/* The program's handler of faults leaves the loop for good, and goes on with what the loop has stored until then (not forced: a loop
 * that has to run elsewhere stores in any order). */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>

enum { PAGE = 4096, PAGES = 2048, N = PAGE * PAGES / 8, TURNS = 12 };
static double sums[N], first[N], second[N];
static sigjmp_buf before;

static void leave(int signal_number)
{
  (void)signal_number;
  siglongjmp(before, 1);
}

__attribute__((noinline)) static void add(int n, const double *a)
{
  for (int i = 0; i < n; i++) /* entered */
    sums[i] += a[i];
}

/* Two loops in one. */
__attribute__((noinline)) static void pass(int n, const double *a, double mark)
{
  for (int i = 1; i < n; i++) { /* entered */
    first[i] = a[i] + mark;
    second[i] = first[i - 1] * 2;
  }
}

int main(void)
{
  volatile int left = 0, wrong = 0;
  char *pages = mmap(NULL, (size_t)PAGE * PAGES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  double *a = (double *)pages;
  for (volatile int i = 0; i < N; i++)
    a[i] = 1.0;
  signal(SIGSEGV, leave);
  for (volatile int turn = 0; turn < TURNS; turn++) {
    size_t missing = (size_t)PAGE * (size_t)(100 + 150 * turn);
    mprotect(pages + missing, PAGE, PROT_NONE);
    if (sigsetjmp(before, 1) == 0)
      add(N, a);
    else
      left++;
    if (sigsetjmp(before, 1) == 0)
      pass(N, a, turn + 1);
    else
      left++;
    for (volatile int i = 1; i < N; i++)
      wrong += (first[i] == turn + 2) != (i < (int)(missing / 8));
    mprotect(pages + missing, PAGE, PROT_READ | PROT_WRITE);
  }
  for (volatile int i = 0; i < N; i++) {
    volatile int times = 0;
    for (volatile int turn = 0; turn < TURNS; turn++)
      times += i < PAGE / 8 * (100 + 150 * turn);
    wrong += sums[i] != times;
  }
  printf("left %d times, %d wrong\n", left, wrong);
  return 0;
}
