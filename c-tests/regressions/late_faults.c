/* The loop comes to memory that isn't there: what it has stored until then is there, and nothing else. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { N = 4096 };
static int a[N], h[N];

static void fault(int signal_number)
{
  int stored = 0, counted = 0;
  (void)signal_number;
  for (int i = 0; i < N; i++) {
    stored += a[i] != 0;
    counted += h[i];
  }
  printf("%d stored, %d counted\n", stored, counted);
  fflush(stdout);
  _exit(1);
}

__attribute__((noinline)) static void scatter(int n, const int *index)
{
  for (int i = 0; i < n; i++) {
    a[index[i]] = i + 1;
    h[index[i] / 2]++;
  }
}

int main(void)
{
  char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  int *index = (int *)pages;
  signal(SIGSEGV, fault);
  mprotect(pages + 4096, 4096, PROT_NONE);
  for (int i = 0; i < 1024; i++)
    index[i] = i * 3;
  scatter(1000, index);
  scatter(2000, index);
  return 0;
}
