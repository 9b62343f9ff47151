/* NaNs, infinities, signed zeros and numbers too small to be normal, in float and double: their bits must be the same.
 *
 * test size: 2003 */
#include "../support/inputs.h"
#include <math.h>

COMPUTE static void combine_double(int n, const double *a, const double *b, double *out)
{
  for (int i = 0; i < n; i++) { /* loop doubles */
    out[4 * i] = a[i] + b[i];
    out[4 * i + 1] = a[i] * b[i];
    out[4 * i + 2] = a[i] / b[i];
    out[4 * i + 3] = a[i] - b[i];
  }
}

COMPUTE static void combine_float(int n, const float *a, const float *b, float *out)
{
  for (int i = 0; i < n; i++) { /* loop floats */
    float product = a[i] * b[i];
    out[2 * i] = product + a[i];
    out[2 * i + 1] = (float)((double)a[i] / (double)b[i]);
  }
}

COMPUTE static void functions(int n, const double *a, double *out)
{
  for (int i = 0; i < n; i++) /* loop functions */
    out[i] = sqrt(fabs(a[i])) + floor(a[i]) - ceil(a[i] * 0.5) + trunc(a[i]);
}

COMPUTE static void transcendental(int n, const double *a, double *out)
{
  for (int i = 0; i < n; i++) /* loop transcendental */
    out[i] = sin(a[i]) * exp(-fabs(a[i])) + pow(fabs(a[i]), 0.3);
}

COMPUTE static void comparisons(int n, const double *a, const double *b, int *out)
{
  for (int i = 0; i < n; i++) /* loop comparisons */
    out[i] = (a[i] < b[i]) | (a[i] <= b[i]) << 1 | (a[i] == b[i]) << 2 | (a[i] != b[i]) << 3 | (a[i] > b[i]) << 4 |
             !(a[i] >= b[i]) << 5 | (a[i] ? 64 : 0);
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", NULL};
  static const double specials[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 4.9e-324, -2.3e-310, 1.7e308, 1e-40, 3.4e38, 1.0, -3.5};
  enum { SPECIALS = sizeof specials / sizeof specials[0] };
  struct check check = check_open(argc, argv, 1u << 18, inputs);
  size_t n = check.size;
  double *a = check_alloc(&check, n, sizeof *a), *b = check_alloc(&check, n, sizeof *b);
  float *fa = check_alloc(&check, n, sizeof *fa), *fb = check_alloc(&check, n, sizeof *fb);
  double *out = check_alloc(&check, 4 * n, sizeof *out);
  float *fout = check_alloc(&check, 2 * n, sizeof *fout);
  int *flags = check_alloc(&check, n, sizeof *flags);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    for (size_t i = 0; i < n; i++) {
      a[i] = check_below(&check, 3) == 0 ? specials[check_below(&check, SPECIALS)] : check_real(&check) * 20.0 - 10.0;
      b[i] = check_below(&check, 3) == 0 ? specials[check_below(&check, SPECIALS)] : check_real(&check) * 1e-300;
      fa[i] = (float)a[i];
      fb[i] = (float)b[i];
    }
    check_start(&check);
    combine_double((int)n, a, b, out);
    combine_float((int)n, fa, fb, fout);
    comparisons((int)n, a, b, flags);
    check_array(&check, "doubles", out, 4 * n, sizeof *out);
    functions((int)n, a, out);
    transcendental((int)n, a, out + n);
    check_stop(&check);
    check_array(&check, "floats", fout, 2 * n, sizeof *fout);
    check_array(&check, "flags", flags, n, sizeof *flags);
    check_array(&check, "functions", out, 4 * n, sizeof *out);
  }
  free(a);
  free(b);
  free(fa);
  free(fb);
  free(out);
  free(fout);
  free(flags);
  return check_close(&check);
}
