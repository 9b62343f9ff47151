/* Reductions: sums, products, minima, maxima and bit operations over integers, and floating-point ones, whose order
 * matters.
 *
 * test size: 5003
 * expect sums: runs on clean
 * expect extremes: runs on clean
 * expect bits: runs on clean
 * expect real_extremes: runs on clean
 * expect total: runs on clean */
#include "../support/inputs.h"

struct results {
  int sum, least, greatest, count;
  unsigned both, either, parity, product;
  long long wide;
  short narrow;
  float real_sum, real_least;
  double mixed, real_greatest;
  int argument;
};

COMPUTE static void sums(size_t n, const int *a, struct results *r)
{
  int sum = 17, count = 0;
  long long wide = -1;
  short narrow = 3;
  for (size_t i = 0; i < n; i++) { /* loop sums */
    sum += a[i];
    if (a[i] > 0)
      count++;
    wide -= (long long)a[i] * a[i];
    narrow = (short)(narrow + a[i]);
  }
  r->sum = sum;
  r->count = count;
  r->wide = wide;
  r->narrow = narrow;
}

COMPUTE static void extremes(int n, const int *a, struct results *r)
{
  int least = a[0], greatest = a[0];
  for (int i = 1; i < n; i++) { /* loop extremes */
    if (a[i] < least)
      least = a[i];
    greatest = a[i] > greatest ? a[i] : greatest;
  }
  r->least = least;
  r->greatest = greatest;
}

COMPUTE static void bits(int n, const unsigned *a, struct results *r)
{
  unsigned both = ~0u, either = 0, parity = 5, product = 1;
  for (int i = 0; i < n; i++) { /* loop bits */
    both &= a[i] | 0xffu;
    either |= a[i] & 0x10f0u;
    parity ^= a[i];
    product *= a[i] | 1u;
  }
  r->both = both;
  r->either = either;
  r->parity = parity;
  r->product = product;
}

COMPUTE static void reals(int n, const float *f, const double *d, struct results *r)
{
  float sum = 0.0f, least = f[0];
  double mixed = 1e10, greatest = d[0];
  int argument = 0;
  for (int i = 0; i < n; i++) { /* loop reals */
    sum += f[i];
    mixed += f[i] * d[i];
  }
  for (int i = 0; i < n; i++) { /* loop real_extremes */
    if (f[i] < least)
      least = f[i];
    if (d[i] > greatest) {
      greatest = d[i];
      argument = i;
    }
  }
  r->real_sum = sum;
  r->mixed = mixed;
  r->real_least = least;
  r->real_greatest = greatest;
  r->argument = argument;
}

/* A reduction in memory, and one that is stored as it goes: the second is a chain. */
COMPUTE static void in_memory(int n, const int *a, int *total, int *running)
{
  for (int i = 0; i < n; i++) /* loop total */
    *total += a[i];
  for (int i = 0; i < n; i++) { /* loop running */
    *running += a[i] & 15;
    running[i + 1] = *running;
  }
}

COMPUTE static void histogram(int n, const unsigned *a, int *bins)
{
  for (int i = 0; i < n; i++) /* loop histogram */
    bins[a[i] % 31]++;
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", NULL};
  struct check check = check_open(argc, argv, 1u << 20, inputs);
  size_t n = check.size;
  int *a = check_alloc(&check, n, sizeof *a), *running = check_alloc(&check, n + 1, sizeof *running), bins[31];
  float *f = check_alloc(&check, n, sizeof *f);
  double *d = check_alloc(&check, n, sizeof *d);

  for (int r = 0; r < check.repeat; r++) {
    struct results results;
    memset(&results, 0, sizeof results);
    memset(bins, 0, sizeof bins);
    check_begin(&check);
    for (size_t i = 0; i < n; i++)
      a[i] = (int)check_random(&check) >> 12;
    memset(running, 0, (n + 1) * sizeof *running);
    fill_float(&check, f, n);
    fill_double(&check, d, n);
    int total = -3;
    check_start(&check);
    sums(n, a, &results);
    extremes((int)n, a, &results);
    bits((int)n, (const unsigned *)a, &results);
    reals((int)n, f, d, &results);
    in_memory((int)n, a, &total, running);
    histogram((int)n, (const unsigned *)a, bins);
    check_stop(&check);
    printf("total %d\n", total);
    check_array(&check, "results", &results, 1, sizeof results);
    check_array(&check, "running", running, n + 1, sizeof *running);
    check_array(&check, "bins", bins, 31, sizeof *bins);
  }
  free(a);
  free(running);
  free(f);
  free(d);
  return check_close(&check);
}
