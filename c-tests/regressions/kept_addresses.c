/* A place that the loop accumulates in lies at an address that is read from memory, and the loop stores to that memory. */
#include <stdio.h>

static struct {
  int a[8];
  int k;
  int r[7];
} h;
static int sums[8], which, values[64];

__attribute__((noinline)) static void through_a_member(int n, int *q)
{
  for (int i = 0; i < n; i++) {
    h.a[h.k] += values[i];
    q[i] = i + 1;
  }
}

__attribute__((noinline)) static void through_a_variable(int n, int *q)
{
  for (int i = 0; i < n; i++) {
    q[i] = 1;
    sums[which] += values[i];
  }
}

int main(void)
{
  for (int i = 0; i < 64; i++)
    values[i] = i + 1;
  through_a_member(5, &h.k);
  printf("%d %d\n", h.a[0], h.a[1]);
  through_a_variable(1, &which);
  printf("%d %d\n", sums[0], sums[1]);
  through_a_variable(50, values + 10);
  printf("%d %d\n", sums[0], sums[1]);
  return 0;
}
