/* Calls of libm whose bits the user gives free, which all of -ffast-math does: they run on threads in place. gcc computes vectors of
 * them (libmvec), some units in the last place apart from the functions themselves, and always of the same iterations: so results
 * are the same in any setting and with any number of threads. A sum and an extreme of them (`total`, `greatest`)
 * stay as they are, and what would have
 * to run level by level (`mirrored`).
 *
 * test size: 20011
 * expect sines: runs on clean
 * expect known: runs on clean
 * expect powers: runs on clean
 * expect conditional: runs on clean
 * expect nest: runs on clean
 * expect scattered: runs on clean */
#include "../support/inputs.h"
#include <errno.h>
#include <math.h>

COMPUTE static void plain(int n, float *a, const float *b, const float *c, double *x, const double *y, double p)
{
  for (int i = 0; i < n; i++) /* loop sines */
    a[i] = sinf(b[i]) + cosf(c[i]);
  for (int i = 0; i < n; i++) /* loop known */
    x[i] = sin(p) + exp(i * 1e-4);
  for (int i = 0; i < n; i++) /* loop powers */
    x[i] = pow(y[i], p) / (log(y[i] + 1.0) + 1.0);
}

COMPUTE static double others(int n, double *x, const double *y, double *z, const int *index)
{
  double greatest = 0.0, total = 0.0;
  for (int i = 0; i < n; i++) { /* loop conditional */
    if (y[i] > 0.5)
      x[i] = log(y[i]);
  }
  for (int i = 0; i < n; i++) { /* loop greatest */
    double value = tanh(y[i]);
    if (value > greatest)
      greatest = value;
  }
  for (int i = 0; i < n; i++) /* loop scattered */
    z[index[i]] = exp2(y[i]);
  for (int i = 0; i < n; i++) /* loop mirrored */
    z[index[i]] = cos(z[index[n - 1 - i]]);
  for (int i = 0; i < n; i++) /* loop total */
    total += sin(y[i]);
  return greatest + total;
}

COMPUTE static void nest(int rows, int columns, double *x, const double *y)
{
  for (int i = 0; i < rows; i++) /* loop nest */
    for (int j = 0; j < columns; j++)
      x[i * columns + j] = atan(y[i * columns + j]);
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "waw", NULL};
  struct check check = check_open(argc, argv, 1u << 20, inputs);
  size_t n = check.size;
  float *a = check_alloc(&check, n, sizeof *a), *b = check_alloc(&check, n, sizeof *b), *c = check_alloc(&check, n, sizeof *c);
  double *x = check_alloc(&check, n, sizeof *x), *y = check_alloc(&check, n, sizeof *y), *z = check_alloc(&check, n, sizeof *z);
  double *w = check_alloc(&check, n, sizeof *w);
  int *index = check_alloc(&check, n, sizeof *index);

  for (int r = 0; r < check.repeat; r++) {
    double result, power;
    int is_right = 1;
    check_begin(&check);
    fill_float(&check, b, n);
    fill_float(&check, c, n);
    fill_double(&check, y, n);
    scatter_indices(&check, index, n);
    memset(w, 0, n * sizeof *w);
    power = 1.25 + check_real(&check);
    for (size_t i = 0; i < n; i++) {
      y[i] = y[i] * 0.5 + 0.5;
      b[i] *= 100.0f;
    }
    /* No call fails. */
    errno = EXDEV;
    check_start(&check);
    plain((int)n, a, b, c, x, y, power);
    result = others((int)n, x, y, z, index);
    nest((int)n / 101, 101, w, y);
    for (int length = 1; length < 200; length += 37)
      plain(length, a, b, c, x, y, power);
    check_stop(&check);
    printf("errno %s\n", errno == EXDEV ? "is right" : "is WRONG");
    for (size_t i = 0; i < n; i++) {
      is_right &= fabsl(a[i] - (sinl(b[i]) + cosl(c[i]))) < 1e-6L;
      if (i < n / 101 * 101)
        is_right &= fabsl(w[i] - atanl(y[i])) < 1e-15L;
      if (y[i] > 0.5 && i >= 186)
        is_right &= fabsl(x[i] - logl(y[i])) < 1e-15L;
    }
    printf("values %s\n", is_right ? "are right" : "are WRONG");
    check_array(&check, "result", &result, 1, sizeof result);
    check_array(&check, "a", a, n, sizeof *a);
    check_array(&check, "x", x, n, sizeof *x);
    check_array(&check, "z", z, n, sizeof *z);
    check_array(&check, "w", w, n, sizeof *w);
  }
  free(a);
  free(b);
  free(c);
  free(x);
  free(y);
  free(z);
  free(w);
  free(index);
  return check_close(&check);
}
