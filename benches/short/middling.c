/* Loops of some microseconds: too short to be worth a second thread, long enough to be looked at. */
#include <stdio.h>
#include <stdlib.h>

enum { N = 1 << 15 };

__attribute__((noinline)) static void smooth(int n, const float *a, float *b)
{
  for (int i = 1; i < n - 1; i++)
    b[i] = 0.25f * a[i - 1] + 0.5f * a[i] + 0.25f * a[i + 1];
}

__attribute__((noinline)) static void gather(int n, const int *index, const float *a, float *b)
{
  for (int i = 0; i < n; i++)
    b[index[i]] = a[i] * 0.5f + 1.0f;
}

int main(void)
{
  float *a = malloc(N * sizeof *a), *b = malloc(N * sizeof *b);
  int *index = malloc(N * sizeof *index);
  for (int i = 0; i < N; i++) {
    a[i] = b[i] = (float)(i % 1000);
    index[i] = (int)(i * 40503u % N);
  }
  for (int turn = 0; turn < 10000; turn++) {
    int n = 2000 + turn % 30000;
    smooth(n, a, b);
    gather(n, index, b, a);
  }
  printf("%.9g\n", (double)a[1234]);
  free(a);
  free(b);
  free(index);
  return 0;
}
