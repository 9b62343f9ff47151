/* A jump over a declaration, behind which the variable is assigned again: it belongs to the iteration, and to nobody else. */
#include <stdio.h>

static int a[2000], b[2000], c[2000];

__attribute__((noinline)) static void skips(int n)
{
  for (int i = 0; i < n; i++) {
    if (a[i] & 1)
      goto skip;
    int t = 5;
    b[i] = t;
  skip:
    t = a[i] * 3;
    c[i] = t;
  }
}

int main(void)
{
  unsigned sum = 0;
  for (int i = 0; i < 2000; i++)
    a[i] = i * 7 % 13;
  skips(2000);
  for (int i = 0; i < 2000; i++)
    sum = sum * 31 + (unsigned)(b[i] * 100 + c[i]);
  printf("%u\n", sum);
  return 0;
}
