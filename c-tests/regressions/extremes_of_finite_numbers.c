/* Where the compiler may take it that there are no NaNs, parts of an extreme that begin with one are never taken.
 * flags: -ffinite-math-only -fno-signed-zeros */
#include <stdio.h>

static double a[3000];

static __attribute__((noinline)) double greatest(double m, int n)
{
  for (int i = 0; i < n; i++) /* entered */
    m = m > a[i] ? m : a[i];
  return m;
}

static __attribute__((noinline)) int where_least(float m, int n)
{
  int at = -1;
  for (int i = 0; i < n; i++) { /* entered */
    if (!((float)a[i] >= m)) {
      m = (float)a[i];
      at = i;
    }
  }
  return at;
}

static __attribute__((noinline)) void keep(double *m, int n)
{
  for (int i = 0; i < n; i++) /* entered */
    *m = *m < a[i] ? *m : a[i];
}

int main(void)
{
  double least = 9;
  for (int i = 0; i < 3000; i++)
    a[i] = (i * 7919 % 3001) * 0.5 - 700;
  keep(&least, 3000);
  printf("%g %d %g\n", greatest(-3, 3000), where_least(1e30f, 3000), least);
  return 0;
}
