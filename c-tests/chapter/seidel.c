/* Nine-point sweep from an input to an output array through pointers. Given the same array for both it is the
 * Gauss-Seidel method, in which every iteration depends on the ones before it.
 *
 * test size: 67
 * expect rows: runs on clean
 * expect rows: conflicts on waw raw one every */
#include "../support/inputs.h"

typedef double real;

COMPUTE static void seidel(int n, real *in, real *out, int pitch)
{
  for (int i = 1; i < n - 1; i++) /* loop rows */
    for (int j = 1; j < n - 1; j++)
      *(out + i * pitch + j) = (*(in + (i - 1) * n + (j - 1)) + *(in + (i - 1) * n + j) + *(in + (i - 1) * n + (j + 1)) +
                                *(in + i * n + (j - 1)) + *(in + i * n + j) + *(in + i * n + (j + 1)) +
                                *(in + (i + 1) * n + (j - 1)) + *(in + (i + 1) * n + j) +
                                *(in + (i + 1) * n + (j + 1))) /
                               9.0;
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "waw", "raw", "one", "every", NULL};
  struct check check = check_open(argc, argv, 4096, inputs);
  size_t n = check.size, elements = n * n;
  real *block = check_alloc(&check, 3 * elements, sizeof *block);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_double(&check, block, 3 * elements);
    real *in = block + elements, *out = block + 2 * elements;
    int pitch = (int)n;
    if (check_is(&check, "waw"))
      pitch = (int)n - 3;
    else if (check_is(&check, "raw"))
      out = in + (n / 2) * n; /* the lower half of the input is what the upper half of the output becomes */
    else if (check_is(&check, "one")) {
      ptrdiff_t last_read = (ptrdiff_t)(elements - 1), first_written = (ptrdiff_t)(n + 1);
      out = check.seed % 2 != 0 ? in + (last_read - first_written) : in - (last_read - first_written);
    } else if (check_is(&check, "every"))
      out = in;
    check_start(&check);
    seidel((int)n, in, out, pitch);
    check_stop(&check);
    check_array(&check, "in and out", block, 3 * elements, sizeof *block);
  }
  free(block);
  return check_close(&check);
}
