/* Arrays with names: two- and three-dimensional, static, of chars and shorts, triangles, diagonals, variable length.
 *
 * test size: 61
 * expect transpose: runs on clean
 * expect cube: runs on clean */
#include "../support/inputs.h"

#define MOST 256

static double square[MOST][MOST], other[MOST][MOST];
static short cube[16][16][32];
char letters[MOST * MOST];

COMPUTE static void transpose(int n)
{
  int i, j;
  for (i = 0; i < n; i++) /* loop transpose */
    for (j = 0; j < n; j++)
      other[j][i] = square[i][j];
}

COMPUTE static void transpose_in_place(int n)
{
  for (int i = 0; i < n; i++) /* loop in_place */
    for (int j = i + 1; j < n; j++) {
      double t = square[i][j];
      square[i][j] = square[j][i];
      square[j][i] = t;
    }
}

COMPUTE static void triangle(int n)
{
  for (int i = 0; i < n; i++) /* loop triangle */
    for (int j = 0; j <= i; j++)
      other[i][j] += square[i][j] * (j + 1);
}

COMPUTE static void fill_cube(void)
{
  for (int i = 0; i < 16; i++) /* loop cube */
    for (int j = 0; j < 16; j++)
      for (int k = 0; k < 32; k++)
        cube[i][j][k] = (short)(i * 1000 + j * 100 + k);
}

COMPUTE static void letters_of(int n)
{
  for (int i = 0; i < n * n; i++) /* loop letters */
    letters[i] = (char)('a' + i % 26);
  for (int i = 1; i < n * n; i++) /* loop chain */
    letters[i] = (char)(letters[i] ^ (letters[i - 1] & 1));
}

COMPUTE static void wavefront(int n)
{
  for (int i = 1; i < n; i++) /* loop wave_rows */
    for (int j = 1; j < n; j++)
      other[i][j] = 0.5 * (other[i - 1][j] + other[i][j - 1]);
}

COMPUTE static void rows_by_pointer(int n, double (*m)[MOST], const double (*from)[MOST])
{
  for (int i = 0; i < n; i++) { /* loop pointer_rows */
    double *row = m[i];
    for (int j = 0; j < n; j++)
      row[j] = from[i][j] * 0.5;
  }
}

COMPUTE static void variable(size_t rows, size_t columns, int a[rows][columns], const int b[rows][columns])
{
  for (size_t i = 0; i < rows; i++) /* loop variable */
    for (size_t j = 0; j < columns; j++)
      a[i][j] = b[i][j] + (int)(i * columns + j);
}

/* A scratch array that every iteration fills anew. */
COMPUTE static void scratch(int n, const double *in, double *out)
{
  double window[4];
  for (int i = 0; i < n; i++) { /* loop scratch */
    for (int k = 0; k < 4; k++)
      window[k] = in[i] * (k + 1);
    out[i] = window[0] + window[1] * window[2] - window[3];
  }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "raw", NULL};
  struct check check = check_open(argc, argv, MOST, inputs);
  if (check.size > MOST)
    check_die(&check, "the size must be at most 256", "");
  int n = (int)check.size;
  int *a = check_alloc(&check, 2 * check.size * check.size, sizeof *a);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_double(&check, &square[0][0], MOST * MOST);
    fill_double(&check, &other[0][0], MOST * MOST);
    for (int i = 0; i < 2 * n * n; i++)
      a[i] = (int)check_below(&check, 100);
    check_start(&check);
    transpose(n);
    triangle(n);
    transpose_in_place(n);
    fill_cube();
    letters_of(n);
    rows_by_pointer(n - 1, check_is(&check, "raw") ? square + 1 : other, (const double(*)[MOST])square);
    wavefront(n);
    variable(check.size, check.size, (int(*)[check.size])(a + (check_is(&check, "raw") ? 1 : n * n)),
             (const int(*)[check.size])a);
    scratch(n, square[0], check_is(&check, "raw") ? square[0] + 1 : other[0]);
    check_stop(&check);
    check_array(&check, "square", square, 1, sizeof square);
    check_array(&check, "other", other, 1, sizeof other);
    check_array(&check, "cube", cube, 1, sizeof cube);
    check_array(&check, "letters", letters, 1, sizeof letters);
    check_array(&check, "a", a, 2 * check.size * check.size, sizeof *a);
  }
  free(a);
  return check_close(&check);
}
