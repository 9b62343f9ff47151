/* Vector addition through pointers that may overlap (the chapter's figure 4.1c).
 *
 * test size: 5003
 * expect add: runs on clean
 * expect add: conflicts on raw one every */
#include "../support/inputs.h"

COMPUTE static void VectorAdd(int n, float *c, float *a, float *b)
{
  for (int i = 0; i < n; i++) /* loop add */
    *(c + i) = *(a + i) + *(b + i);
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "raw", "one", "every", NULL};
  struct check check = check_open(argc, argv, 16u << 20, inputs);
  size_t n = check.size;
  float *block = check_alloc(&check, 3 * n, sizeof *block);
  float *b = check_alloc(&check, n, sizeof *b);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_float(&check, block, 3 * n);
    fill_float(&check, b, n);
    float *a = block + n, *c = block + 2 * n; /* side by side, nothing shared */
    if (check_is(&check, "raw"))
      c = a + n / 2; /* the first half of the sums is read by the second half of the loop */
    else if (check_is(&check, "one"))
      c = check.seed % 2 != 0 ? a + (n - 1) : a - (n - 1); /* only the ends meet */
    else if (check_is(&check, "every"))
      c = a + 1;
    check_start(&check);
    VectorAdd((int)n, c, a, b);
    check_stop(&check);
    check_array(&check, "a and c", block, 3 * n, sizeof *block);
  }
  free(b);
  free(block);
  return check_close(&check);
}
