/* An extreme so far keeps the program from loading what isn't there. Who starts in the middle doesn't know it. */
#include <stdio.h>
#include <sys/mman.h>

static int key[8000], at[8000], a[100];

/* p has as many elements as m is at first. */
__attribute__((noinline)) static int first(int n, int valid, const int *p)
{
  int m = valid;
  for (int i = 0; i < n; i++)
    if (i < m && p[i] == -7)
      m = i;
  return m;
}
/* Only where the least key is found, `at` is a place. */
__attribute__((noinline)) static int companion(int n)
{
  int best = 1 << 30, found = -1;
  for (int i = 0; i < n; i++)
    if (key[i] < best) {
      best = key[i];
      found = a[at[i]];
    }
  return found;
}

int main(void)
{
  char *page = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(page + 4096, 4096, PROT_NONE);
  int *p = (int *)(void *)page;
  p[1000] = -7;
  printf("%d\n", first(1000000, 1024, p));
  for (int i = 0; i < 100; i++)
    a[i] = i;
  for (int i = 0; i < 8000; i++) {
    key[i] = 1000;
    at[i] = 1 << 29;
  }
  key[0] = 5;
  at[0] = 3;
  key[5000] = 2;
  at[5000] = 9;
  printf("%d\n", companion(8000));
  return 0;
}
