/* Nests with so short inner loops that a GPU runs them as one line of iterations, of which each of its threads has several.
 *
 * test size: 9001
 * expect products: runs on clean
 * expect turned: runs on clean */
#include "../support/inputs.h"

typedef struct {
  double m[3][3];
} matrix;

typedef struct {
  float x[5];
  int number;
} point;

COMPUTE static void products(size_t n, const matrix *a, const matrix *b, matrix *c)
{
  for (size_t i = 0; i < n; i++) /* loop products */
    for (int row = 0; row < 3; row++)
      for (int column = 0; column < 3; column++) {
        double sum = 0.0;
        for (int k = 0; k < 3; k++)
          sum += a[i].m[row][k] * b[i].m[k][column];
        c[i].m[row][column] = sum;
      }
}

COMPUTE static void turned(int n, const point *p, point *q)
{
  for (int i = 0; i < n; i++) /* loop turned */
    for (unsigned j = 0; j < 5; j++)
      q[i].x[4 - j] = p[i].x[j] - (float)p[i].number;
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", NULL};
  struct check check = check_open(argc, argv, 100000, inputs);
  size_t n = check.size;
  matrix *a = check_alloc(&check, n, sizeof *a), *b = check_alloc(&check, n, sizeof *b), *c = check_alloc(&check, n, sizeof *c);
  point *p = check_alloc(&check, n, sizeof *p), *q = check_alloc(&check, n, sizeof *q);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    for (size_t i = 0; i < n; i++) {
      fill_double(&check, &a[i].m[0][0], 9);
      fill_double(&check, &b[i].m[0][0], 9);
      fill_float(&check, p[i].x, 5);
      p[i].number = (int)check_below(&check, 1000);
      q[i] = p[i];
    }
    check_start(&check);
    products(n, a, b, c);
    /* What lies behind the last iteration stays as it is. */
    turned((int)n - 3, p, q);
    check_stop(&check);
    check_array(&check, "c", c, 9 * n, sizeof(double));
    check_array(&check, "q", q, n, sizeof *q);
  }
  free(a);
  free(b);
  free(c);
  free(p);
  free(q);
  return check_close(&check);
}
