/* Two-dimensional Jacobi sweep through pointers: five points of a into one of b. The rows of b lie `pitch` elements
 * apart, so they may also overlap each other.
 *
 * test size: 67
 * expect rows: runs on clean
 * expect rows: conflicts on waw raw one every */
#include "../support/inputs.h"

COMPUTE static void jacobi2d(int n, const float *a, float *b, int pitch)
{
  int i, j;
  for (i = 1; i < n - 1; i++) /* loop rows */
    for (j = 1; j < n - 1; j++)
      *(b + i * pitch + j) = 0.2f * (*(a + i * n + j) + *(a + i * n + j - 1) + *(a + i * n + j + 1) +
                                     *(a + (i + 1) * n + j) + *(a + (i - 1) * n + j));
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "waw", "raw", "one", "every", NULL};
  struct check check = check_open(argc, argv, 4096, inputs);
  size_t n = check.size, elements = n * n;
  float *block = check_alloc(&check, 3 * elements, sizeof *block);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_float(&check, block, 3 * elements);
    float *a = block + elements, *b = block + 2 * elements;
    int pitch = (int)n;
    if (check_is(&check, "waw"))
      pitch = (int)n - 3; /* the last element of each row is the first one of the next */
    else if (check_is(&check, "raw"))
      b = a + n;
    else if (check_is(&check, "one")) {
      /* the first element written is the last one read, or the last one written the first one read */
      ptrdiff_t last_read = (ptrdiff_t)(elements - 2), first_written = (ptrdiff_t)(n + 1);
      b = check.seed % 2 != 0 ? a + (last_read - first_written) : a - (last_read - first_written);
    } else if (check_is(&check, "every"))
      pitch = 0; /* all rows are one */
    check_start(&check);
    jacobi2d((int)n, a, b, pitch);
    check_stop(&check);
    check_array(&check, "a and b", block, 3 * elements, sizeof *block);
  }
  free(block);
  return check_close(&check);
}
