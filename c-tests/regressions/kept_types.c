/* Allocated memory becomes what is stored there last: a place that is kept in a variable is stored again behind the loop, over
 * what the loop has stored there as another type meanwhile. Types don't tell two stores apart. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 400 };
static int a[N], at[N];

__attribute__((noinline)) static void sum(int n, int *s, float *f, const int *index, const int *x)
{
  int i;
  for (i = 0; i < n; i++) {
    if (i < 200)
      *s += x[i];
    else
      f[index[i]] = i;
  }
}

__attribute__((noinline)) static void extreme(int n, float *s, int *f, const int *index, const int *x)
{
  int i;
  for (i = 0; i < n; i++) {
    if (x[i] < 0)
      f[index[i]] = i;
    else if (*s < x[i])
      *s = x[i];
  }
}

int main(void)
{
  void *memory = malloc(8 * N);
  int i, *whole = memory;
  float *broken = memory;
  if (!memory)
    return 1;
  for (i = 0; i < N; i++)
    a[i] = i % 7 + 1, at[i] = (i * 3 + 300) % N;
  memset(memory, 0, 8 * N);
  *whole = 5;
  sum(N, whole, broken, at, a);
  printf("%g %g %g\n", broken[0], broken[1], broken[3]);
  for (i = 0; i < N; i++)
    a[i] = i < 200 ? i % 7 + 1 : -1;
  memset(memory, 0, 8 * N);
  *broken = 3;
  extreme(N, broken, whole, at, a);
  printf("%d %d %d\n", whole[0], whole[1], whole[3]);
  free(memory);
  return 0;
}
