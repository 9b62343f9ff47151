/* One-dimensional Jacobi sweep through pointers.
 *
 * test size: 5003
 * expect sweep: runs on clean
 * expect sweep: conflicts on raw one every */
#include "../support/inputs.h"

COMPUTE static void jacobi1d(size_t n, const float *a, float *b)
{
  for (size_t i = 1; i < n - 1; i++) /* loop sweep */
    *(b + i) = 0.33333f * (*(a + i - 1) + *(a + i) + *(a + i + 1));
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "raw", "one", "every", NULL};
  struct check check = check_open(argc, argv, 16u << 20, inputs);
  size_t n = check.size;
  float *block = check_alloc(&check, 3 * n, sizeof *block);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_float(&check, block, 3 * n);
    float *a = block + n, *b = block + 2 * n;
    if (check_is(&check, "raw"))
      b = a + n / 3;
    else if (check_is(&check, "one"))
      b = check.seed % 2 != 0 ? a + (n - 2) : a - (n - 2); /* b[1] is a[n-1], or b[n-2] is a[0] */
    else if (check_is(&check, "every"))
      b = a;
    check_start(&check);
    jacobi1d(n, a, b);
    check_stop(&check);
    check_array(&check, "a and b", block, 3 * n, sizeof *block);
  }
  free(block);
  return check_close(&check);
}
