/* The heat equation in a cube: some explicit steps, each of which sets every point from itself and its six neighbours. The two
 * arrays change places after each step.
 *
 * test size: 19 */
#include "../../c-tests/support/inputs.h"

enum { STEPS = 4 };

COMPUTE static void step(int n, const double *from, double *to, double speed)
{
  int i, j, k;
  for (i = 1; i < n - 1; i++) /* loop planes */
    for (j = 1; j < n - 1; j++)
      for (k = 1; k < n - 1; k++) {
        const double *p = from + ((size_t)i * n + j) * n + k;
        to[((size_t)i * n + j) * n + k] =
          *p + speed * (p[-1] + p[1] + p[-n] + p[n] + p[-(ptrdiff_t)n * n] + p[(ptrdiff_t)n * n] - 6.0 * *p);
      }
}

COMPUTE static void diffuse(int n, double *a, double *b, double speed)
{
  for (int s = 0; s < STEPS; s++) {
    step(n, a, b, speed);
    double *t = a;
    a = b;
    b = t;
  }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", NULL};
  struct check check = check_open(argc, argv, 256, inputs);
  size_t n = check.size, points = n * n * n;
  double *a = check_alloc(&check, points, sizeof *a), *b = check_alloc(&check, points, sizeof *b);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_double(&check, a, points);
    memcpy(b, a, points * sizeof *b);
    check_start(&check);
    diffuse((int)n, a, b, 0.125);
    check_stop(&check);
    check_array(&check, "a", a, points, sizeof *a);
    check_array(&check, "b", b, points, sizeof *b);
  }
  free(a);
  free(b);
  return check_close(&check);
}
