/* Sums and products of floating-point numbers whose order the user gives free. Compiled with -fparagon-reassoc or -ffast-math
 * the results differ from cc's, but they are the same whoever runs the loops: in any setting, on any device, with any number
 * of threads.
 *
 * test size: 70001
 * expect sum: runs on clean
 * expect product: runs on clean
 * expect conditional: runs on clean
 * expect chain: runs on clean
 * expect dot: runs on clean
 * expect nest: runs on clean
 * expect deep: runs on clean
 * expect heavy: runs on clean
 * expect several: runs on clean
 * expect kept: runs on clean
 * expect pointer: runs on clean
 * expect down: runs on clean
 * expect mapped: runs on clean
 * expect logged: runs on clean */
#include "../support/inputs.h"

struct results {
  double sum, product, conditional, chain, nest, deep, heavy, down, pointer, mapped, logged, first, second, greatest;
  float dot, single;
  unsigned count;
  int at;
};

double kept_sum;

COMPUTE static void plain(int n, const double *a, const float *f, struct results *r)
{
  double sum = 1.0, product = 1.0, conditional = -0.0, chain = 0.0, down = 1e10;
  float dot = 0.0f;
  for (int i = 0; i < n; i++) /* loop sum */
    sum += a[i];
  for (int i = 0; i < n; i++) /* loop product */
    product *= 1.0 + a[i] * 1e-5;
  for (int i = 0; i < n; i++) { /* loop conditional */
    if (a[i] > 0.0)
      conditional += a[i];
  }
  for (int i = 0; i < n; i++) /* loop chain */
    chain = a[i] > 0.5 ? chain + a[i] - f[i] : chain;
  for (int i = 0; i < n; i++) /* loop dot */
    dot += f[i] * f[n - 1 - i];
  for (int i = n - 1; i >= 0; i -= 3) /* loop down */
    down -= a[i];
  r->sum = sum;
  r->product = product;
  r->conditional = conditional;
  r->chain = chain;
  r->dot = dot;
  r->down = down;
}

COMPUTE static void nests(int rows, int columns, const double *a, struct results *r)
{
  double nest = 0.0, deep = 0.0, heavy = 0.0;
  for (int i = 0; i < rows; i++) /* loop nest */
    for (int j = 0; j < columns; j++)
      nest += a[i * columns + j];
  for (int i = 0; i < rows; i++) /* loop deep */
    for (int j = 0; j < columns / 10; j++)
      for (int k = 0; k < 10; k++)
        deep += a[(i * (columns / 10) + j) * 10 + k] * (i + j + k);
  for (int i = 0; i < rows; i++) { /* loop heavy */
    double square = 0.0;
    for (int j = 0; j < columns; j++)
      square += a[i * columns + j] * a[i * columns + j];
    heavy += square / (i + 1);
  }
  r->nest = nest;
  r->deep = deep;
  r->heavy = heavy;
}

COMPUTE static void mixed(int n, const double *a, const float *f, double *out, const int *index, struct results *r)
{
  double first = 0.0, second = 1.0, greatest = -1e300, pointer = 0.0, mapped = 0.0, logged = 0.0;
  float single = 0.0f;
  unsigned count = 0;
  int at = -1;
  for (int i = 0; i < n; i++) { /* loop several */
    first += a[i];
    if (f[i] > 0.0f) {
      second *= 1.0 - f[i] * 1e-6;
      count++;
    }
    single -= f[i];
    out[i] = a[i] * 2.0;
    if (a[i] > greatest) {
      greatest = a[i];
      at = i;
    }
  }
  for (int i = 0; i < n; i++) /* loop kept */
    kept_sum += a[i];
  const double *p = a;
  while (p < a + n) /* loop pointer */
    pointer += *p++;
  for (int i = 0; i < n; i++) /* loop mapped */
    mapped += a[index[i]];
  for (int i = 0; i < n; i++) { /* loop logged */
    out[index[i]] += a[i];
    logged += a[i] * a[i];
  }
  r->first = first;
  r->second = second;
  r->single = single;
  r->count = count;
  r->greatest = greatest;
  r->at = at;
  r->pointer = pointer;
  r->mapped = mapped;
  r->logged = logged;
}

/* Whether a sum is what it should be, but for rounding. */
CHECK_UTILITY void check_near(const char *name, double sum, long double right, int n)
{
  long double distance = sum > right ? sum - right : right - sum;
  printf("%s %s\n", name, distance < n * 1e-15L ? "is right" : "is WRONG");
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "zeros", "infinite", "nan", "waw", NULL};
  struct check check = check_open(argc, argv, 1u << 20, inputs);
  size_t n = check.size;
  double *a = check_alloc(&check, n, sizeof *a), *out = check_alloc(&check, n, sizeof *out);
  float *f = check_alloc(&check, n, sizeof *f);
  int *index = check_alloc(&check, n, sizeof *index);

  for (int r = 0; r < check.repeat; r++) {
    struct results results;
    memset(&results, 0, sizeof results);
    check_begin(&check);
    fill_double(&check, a, n);
    fill_float(&check, f, n);
    scatter_indices(&check, index, n);
    for (size_t i = 0; i < n; i++) {
      if (check_is(&check, "zeros"))
        a[i] = f[i] = -0.0;
      else if (check_is(&check, "infinite") && i % 10007 == 5000)
        a[i] = 1e308;
      else if (check_is(&check, "nan") && i == n / 2)
        a[i] = f[i] = 0.0 / (a[i] - a[i]);
    }
    kept_sum = 0.25;
    check_start(&check);
    plain((int)n, a, f, &results);
    nests((int)n / 250, 250, a, &results);
    nests(3, (int)n / 3, a, &results);
    mixed((int)n, a, f, out, index, &results);
    for (int length = 1; length < 600; length += 37)
      plain(length, a, f, &results);
    check_stop(&check);
    if (check_is(&check, "clean")) {
      long double sum = 1.0L, kept = 0.25L, nest = 0.0L;
      for (size_t i = 0; i < n; i++) {
        sum += i < 593 ? a[i] : 0.0L;
        nest += i < n / 3 * 3 ? a[i] : 0.0L;
        kept += a[i];
      }
      check_near("sum", results.sum, sum, 593);
      check_near("nest", results.nest, nest, (int)n);
      check_near("kept", kept_sum, kept, (int)n);
      check_near("pointer", results.pointer, kept - 0.25L, (int)n);
      check_near("mapped", results.mapped, kept - 0.25L, (int)n);
    }
    check_array(&check, "results", &results, 1, sizeof results);
    check_array(&check, "kept", &kept_sum, 1, sizeof kept_sum);
    check_array(&check, "out", out, n, sizeof *out);
  }
  free(a);
  free(out);
  free(f);
  free(index);
  return check_close(&check);
}
