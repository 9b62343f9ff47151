/* Whether a number is greater than zero depends on how denormal numbers are treated, which may change between two entries. */
#include <stdio.h>
#include <xmmintrin.h>

enum { N = 20000 };
static int index_if[N], index_else[N];
static double a[N], gate[N];

__attribute__((noinline)) static void pick(int n)
{
  for (int i = 0; i < n; i++) {
    int k = index_else[i];
    if (gate[i] > 0.0)
      k = index_if[i];
    a[k] = a[k] * 1.0001 + i;
  }
}

int main(void)
{
  for (int i = 0; i < N; i++) {
    index_if[i] = i;
    gate[i] = 1e-310;
    a[i] = 1;
  }
  for (int k = 0; k < 6; k++) {
    if (k > 2)
      _mm_setcsr(_mm_getcsr() | 0x8040);
    pick(N);
    _mm_setcsr(_mm_getcsr() & ~0x8040u);
    double sum = 0;
    for (int i = 0; i < N; i++)
      sum += a[i] * i;
    printf("%a %a\n", sum, a[0]);
  }
  return 0;
}
