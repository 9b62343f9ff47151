/* An element of an array that is a member of a union is part of the union: types don't keep it from another member's. */
#include <stdio.h>

static union {
  int n[2];
  double d[20000];
} u;
static int at[8000];

__attribute__((noinline)) static int limit(void)
{
  int i;
  for (i = 0; i < u.n[0]; i++)
    u.d[i] = 3.0;
  return i;
}
__attribute__((noinline)) static void sum(int n)
{
  for (int i = 0; i < n; i++) {
    u.n[1] += i;
    u.d[at[i]] = i + 1.5;
  }
}

int main(void)
{
  u.n[0] = 5000;
  printf("%d\n", limit());
  u.d[0] = 0;
  for (int i = 0; i < 8000; i++)
    at[i] = 7999 - i;
  sum(8000);
  printf("%d\n", u.n[1]);
  return 0;
}
