/* C leaves open whether the call or the store comes first; the result is that of cc all the same. */
#include <stdio.h>

static int a[1000], b[1000];

static int get(const int *p, int i)
{
  return p[i] * 2;
}

__attribute__((noinline)) static int assigned(int n)
{
  int t = 0;
  for (int i = 0; i < n; i++) {
    t = (a[i] = i * 3) + get(a, i);
    b[i] = t;
  }
  return t;
}

__attribute__((noinline)) static int counted(int n)
{
  int t = 0;
  for (int i = 0; i < n; i++) {
    t = a[i]++ * 3 + get(a, i);
    b[i] ^= t;
  }
  return t;
}

int main(void)
{
  unsigned long sum = 0;
  for (int i = 0; i < 1000; i++)
    a[i] = i + 7;
  printf("%d\n", assigned(1000));
  printf("%d\n", counted(1000));
  for (int i = 0; i < 1000; i++)
    sum = sum * 31 + (unsigned)b[i];
  printf("%lu\n", sum);
  return 0;
}
