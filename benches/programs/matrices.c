/* Products of many small matrices, as in the transformation of a scene's objects: structs of four by four numbers.
 *
 * test size: 1003 */
#include "../../c-tests/support/inputs.h"

typedef struct {
  float m[4][4];
} matrix;

COMPUTE static void products(size_t n, const matrix *a, const matrix *b, matrix *c)
{
  for (size_t i = 0; i < n; i++) /* loop matrices */
    for (int row = 0; row < 4; row++)
      for (int column = 0; column < 4; column++) {
        float sum = 0.0f;
        for (int k = 0; k < 4; k++)
          sum += a[i].m[row][k] * b[i].m[k][column];
        c[i].m[row][column] = sum;
      }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", NULL};
  struct check check = check_open(argc, argv, 1u << 21, inputs);
  size_t n = check.size;
  matrix *a = check_alloc(&check, n, sizeof *a), *b = check_alloc(&check, n, sizeof *b);
  matrix *c = check_alloc(&check, n, sizeof *c);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_float(&check, &a[0].m[0][0], 16 * n);
    fill_float(&check, &b[0].m[0][0], 16 * n);
    check_start(&check);
    products(n, a, b, c);
    check_stop(&check);
    check_array(&check, "c", c, n, sizeof *c);
  }
  free(c);
  free(b);
  free(a);
  return check_close(&check);
}
