/* Inner loops whose limit is another thing inside than before, or that they only come to if nothing leaves them earlier. */
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 40, LENGTH = 10000 };

__attribute__((noinline)) static void grows(const double *a, double *out, int length)
{
  for (long r = 0; r < ROWS; r++) { /* entered */
    int n = length;
    double s = 0;
    for (int i = 0, m = n; i < m; i++) {
      n++;
      s += a[r * length + i];
    }
    out[r] = s + n;
  }
}

__attribute__((noinline)) static void shrinks(const double *a, double *out, int length)
{
  for (long r = 0; r < ROWS; r++) { /* entered */
    int n = length;
    double s = 0;
    for (int i = 0, m = n; i < m; i++) {
      n--;
      s += a[r * length + i];
    }
    out[r] = s + n;
  }
}

/* The limit, -1, is never met: something negative is. The first load behind x[n] is what y begins with. */
__attribute__((noinline)) static void left(const int *x, int *y, int n, int stop)
{
  for (int i = 0; i < n; i++) {
    int s = 0;
    for (int j = 0; j != stop; j++) {
      if (x[j] < 0)
        break;
      s += x[j];
    }
    y[i] = s + x[i];
  }
}

int main(void)
{
  double *a = malloc(sizeof *a * ROWS * LENGTH), out[2 * ROWS], sum = 0;
  for (int k = 0; k < ROWS * LENGTH; k++)
    a[k] = k % 1013;
  grows(a, out, LENGTH);
  shrinks(a, out + ROWS, 8192);
  for (int r = 0; r < 2 * ROWS; r++)
    sum = sum * 1.5 + out[r];
  enum { N = 3000 };
  static int x[2 * N + 1];
  for (int k = 0; k < 2 * N; k++)
    x[k] = k % 7;
  x[2 * N] = -1;
  left(x, x + N, N, -1);
  unsigned check = 0;
  for (int k = 0; k < 2 * N; k++)
    check = check * 31 + (unsigned)x[k];
  printf("%.17g %u\n", sum, check);
  free(a);
  return 0;
}
