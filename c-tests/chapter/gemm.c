/* Matrix product through pointers: a plain triple loop with a local sum. Rows lie lda, ldb and ldc elements apart, as in
 * the BLAS. With `one`, one element of c is an element of a or b.
 *
 * test size: 67
 * expect rows: runs on clean
 * expect rows: conflicts on waw raw one every */
#include "../support/inputs.h"

COMPUTE static void gemm(int m, int n, int depth, const float *a, int lda, const float *b, int ldb, float *c, int ldc)
{
  for (int i = 0; i < m; i++) /* loop rows */
    for (int j = 0; j < n; j++) {
      float sum = 0.0f;
      for (int k = 0; k < depth; k++)
        sum += *(a + i * lda + k) * *(b + k * ldb + j);
      *(c + i * ldc + j) = sum;
    }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "waw", "raw", "one", "every", NULL};
  struct check check = check_open(argc, argv, 4096, inputs);
  size_t n = check.size, elements = n * n;
  float *block = check_alloc(&check, 4 * elements, sizeof *block);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_float(&check, block, 4 * elements);
    float *a = block + elements, *b = block + 3 * elements, *c = block + 2 * elements;
    int size = (int)n, ldc = size;
    if (check_is(&check, "waw"))
      ldc = size - 1;
    else if (check_is(&check, "raw"))
      c = a + n; /* a row of c is the next row of a */
    else if (check_is(&check, "one"))
      c = check.seed % 2 != 0 ? a + (elements - 1) : b - (elements - 1);
    else if (check_is(&check, "every"))
      ldc = 0;
    check_start(&check);
    gemm(size, size, size, a, size, b, size, c, ldc);
    check_stop(&check);
    check_array(&check, "a, b and c", block, 4 * elements, sizeof *block);
  }
  free(block);
  return check_close(&check);
}
