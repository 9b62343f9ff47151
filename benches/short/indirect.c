/* A scatter of a hundred elements, called a million times: never worth an inspection. */
#include <stdio.h>

__attribute__((noinline)) static void scatter(int n, const int *index, const float *x, float *y)
{
  for (int i = 0; i < n; i++)
    y[index[i]] += x[i];
}

int main(void)
{
  static int index[128];
  static float x[128], y[128];
  for (int i = 0; i < 128; i++) {
    index[i] = i * 37 % 128;
    x[i] = (float)i;
  }
  for (int call = 0; call < 3000000; call++)
    scatter(call & 127, index, x, y);
  printf("%.9g\n", (double)y[5]);
  return 0;
}
