/* A conversion to _Bool gives 0 or 1, whatever comes in: it keeps no number. */
#include <stdbool.h>
#include <stdio.h>

static int a[40000];

__attribute__((noinline)) static void as_offset(int n, int flags)
{
  for (int i = 0; i < n; i++) {
    bool b = flags;
    a[i + b] = a[i] * 3 + 1;
  }
}
__attribute__((noinline)) static void as_subscript(void)
{
  for (unsigned char j = 0; j < 200; j++)
    a[(bool)j] = j;
}
__attribute__((noinline)) static int as_step(int n, int flags)
{
  int k = 0;
  for (int i = 0; i < n; i++) {
    a[k] = i + 1;
    k += (bool)flags;
  }
  return k;
}

int main(void)
{
  unsigned h = 0;
  as_offset(150, 200);
  as_subscript();
  printf("%d\n", as_step(8000, 4));
  for (int i = 0; i < 40000; i++)
    h = h * 31 + (unsigned)a[i];
  printf("%x\n", h);
  return 0;
}
