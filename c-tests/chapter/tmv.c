/* Transposed matrix times vector through pointers, with the BLAS's increments.
 *
 * test size: 83
 * expect columns: runs on clean
 * expect columns: conflicts on waw raw one every */
#include "../support/inputs.h"

COMPUTE static void tmv(int n, const float *a, const float *x, int incx, float *y, int incy)
{
  for (int j = 0; j < n; j++) { /* loop columns */
    float sum = 0;
    for (int i = 0; i < n; i++)
      sum += *(a + i * n + j) * *(x + i * incx);
    *(y + j * incy) = sum;
  }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "waw", "raw", "one", "every", NULL};
  struct check check = check_open(argc, argv, 4096, inputs);
  size_t n = check.size, elements = n * n, total = elements + 3 * n;
  float *block = check_alloc(&check, total, sizeof *block);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_float(&check, block, total);
    float *a = block + n, *x = a + elements, *y = x + n;
    int incy = 1;
    if (check_is(&check, "waw"))
      incy = 0;
    else if (check_is(&check, "raw"))
      y = x + n / 2; /* the head of y is the tail of x */
    else if (check_is(&check, "one"))
      y = check.seed % 2 != 0 ? a + (elements - 1) : a - (n - 1); /* y[0] is a[n-1][n-1], or y[n-1] is a[0][0] */
    else if (check_is(&check, "every"))
      y = x;
    if (check_is(&check, "one") && check.seed % 2 != 0)
      x = a + elements + n - 1; /* y reaches over where x was */
    check_start(&check);
    tmv((int)n, a, x, 1, y, incy);
    check_stop(&check);
    check_array(&check, "a, x and y", block, total, sizeof *block);
  }
  free(block);
  return check_close(&check);
}
