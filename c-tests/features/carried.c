/* Scalars that an iteration takes over from the one before, and that can be computed anew: values loaded, indices, two of
 * them in a chain, over every kind of counter; and those that can't.
 *
 * test size: 20000
 * expect deltas: runs on clean
 * expect back: runs on clean
 * expect wide: runs on clean
 * expect ring: runs on clean
 * expect chain: runs on clean
 * expect through: runs on clean
 * expect last_values: runs on clean
 * expect unsigned_steps: runs on clean
 * expect set_first: runs on clean
 * expect structs: runs on clean
 * expect handed_on: runs on clean */
#include "../support/inputs.h"

COMPUTE static int deltas(int n, const int *in, int *out)
{
  int last = 0;
  for (int i = 0; i < n; i++) { /* loop deltas */
    out[i] = in[i] - last;
    last = in[i];
  }
  return last;
}

COMPUTE static float back(int n, const float *in, float *out)
{
  float next = 0.5f;
  for (int i = n - 1; i >= 0; i -= 2) { /* loop back */
    out[i] = in[i] * next;
    next = in[i] + 1.0f;
  }
  return next;
}

/* Counted without a sign; nothing is done below the first one. */
COMPUTE static double wide(size_t n, const double *in, double *out)
{
  double last = in[0];
  for (size_t i = 0; i < n; i++) { /* loop wide */
    out[i] = in[i] + last;
    last = in[i];
  }
  for (unsigned i = 3; i < n; i += 3) { /* loop unsigned_steps */
    out[i] = in[i] - last;
    last = in[i] * 2.0;
  }
  return last;
}

/* The element before, around the end, as an index. */
COMPUTE static int ring(int n, const float *in, float *out)
{
  int before = n - 1, before_that = n - 2;
  for (int i = 0; i < n; i++) { /* loop ring */
    out[i] = (in[i] + in[before] + in[before_that]) * 0.25f;
    before_that = before;
    before = i;
  }
  return before + 3 * before_that;
}

COMPUTE static double chain(int n, const float *in, float *out)
{
  float x = in[n - 1], y = in[n - 2], z = 7.0f;
  for (int i = 0; i < n; i++) { /* loop chain */
    out[i] = (in[i] + x) - (y + z);
    z = y;
    y = x;
    x = in[i];
  }
  return (double)x + 3.0 * (double)y + 5.0 * (double)z;
}

/* By way of a variable of its own. */
COMPUTE static void through(int n, const int *in, const int *by, int *out)
{
  int last = 1, product;
  for (int i = 0; i < n; i++) { /* loop through */
    product = in[i] * by[i];
    out[i] = product + last;
    last = product ^ i;
  }
}

struct sample {
  int value;
  short weight;
};

COMPUTE static int structs(int n, const struct sample *in, int *out)
{
  int last = -1, weight = 0;
  for (int i = 1; i <= n; i++) { /* loop structs */
    out[i - 1] = in[i - 1].value * weight - last;
    last = in[i - 1].value;
    weight = in[i - 1].weight;
  }
  return last + weight;
}

COMPUTE static int last_values(int n, const int *in, int *out)
{
  int i, last = 4, kept = 0;
  for (i = 0; i < n; i++) { /* loop last_values */
    kept = last;
    out[i] += kept;
    last = in[i];
  }
  return kept + 3 * last + i;
}

COMPUTE static void set_first(int n, const int *in, int *out)
{
  int i, last;
  for (i = 0, last = n; i < n; i++) { /* loop set_first */
    out[i] = last;
    last = in[i] + n;
  }
}

/* What was loaded may be overwritten at once: the value itself has to be handed on, also where a strip of iterations ends. */
COMPUTE static void handed_on(int n, const int *index, const int *in, int *out)
{
  int last = 9;
  for (int i = 0; i < n; i++) { /* loop handed_on */
    int mine = last;
    last = in[i];
    out[index[i]] = mine + i;
  }
}

/* Stored to meanwhile, assigned under a condition, made of itself, changed twice. */
COMPUTE static long carried(int n, int m, const int *in, int *out)
{
  int last = 1, seldom = 2, grows = 3, twice = 4, a = 5, b = 6;
  for (int i = 0; i < n; i++) {
    out[i] += last;
    last = out[i];
  }
  for (int i = 0; i < n; i++) {
    out[i] += last;
    last = out[i + 1];
  }
  for (int i = 0; i < n; i++) {
    out[i] += seldom;
    if (in[i] & 1)
      seldom = in[i];
  }
  for (int i = 0; i < n; i++) {
    out[i] ^= grows;
    grows = grows * 3 + in[i];
  }
  for (int i = 0; i < n; i++) {
    out[i] -= twice;
    twice = in[i];
    twice += out[i];
  }
  for (int i = 0; i < n; i++) {
    out[i] += a;
    int t = a;
    a = b;
    b = t + in[i];
  }
  for (int i = 0; i < m; i++)
    for (int j = 0; j < 9; j++) {
      out[9 * i + j] -= last;
      last = in[9 * i + j];
    }
  for (int i = 0; i < n; i++) {
    out[i] ^= last;
    if (in[i] % 5 == 0)
      continue;
    last = in[i];
  }
  return last + 3L * seldom + 5L * grows + 7L * twice + 11L * a + 13L * b;
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "raw", NULL};
  struct check check = check_open(argc, argv, 1u << 20, inputs);
  int n = (int)check.size, overlap = check_is(&check, "raw");
  size_t size = (size_t)n;
  int *in = check_alloc(&check, size + 1, sizeof *in), *by = check_alloc(&check, size, sizeof *by);
  int *out = check_alloc(&check, 7 * size + 1, sizeof *out);
  float *floats = check_alloc(&check, size, sizeof *floats), *results = check_alloc(&check, 3 * size, sizeof *results);
  int *index = check_alloc(&check, size, sizeof *index), *there = check_alloc(&check, size, sizeof *there);
  double *doubles = check_alloc(&check, size, sizeof *doubles), *wides = check_alloc(&check, size, sizeof *wides);
  struct sample *samples = check_alloc(&check, size, sizeof *samples);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_float(&check, floats, size);
    fill_float(&check, results, 3 * size);
    fill_double(&check, doubles, size);
    fill_double(&check, wides, size);
    for (size_t i = 0; i < size; i++) {
      in[i] = (int)check_below(&check, 1000);
      by[i] = (int)check_below(&check, 1000);
      samples[i].value = (int)check_below(&check, 1000);
      samples[i].weight = (short)check_below(&check, 1000);
    }
    in[size] = 3;
    permute(&check, index, size);
    for (size_t i = 0; i < size; i++) {
      index[i] = overlap ? (int)i : index[i];
      there[i] = (int)(i * i % 101);
    }
    for (size_t i = 0; i <= 7 * size; i++)
      out[i] = (int)(i % 13);
    check_start(&check);
    long after = deltas(overlap ? n - 1 : n, overlap ? out + 1 : in, out);
    double sum = (double)back(n, floats, results) + wide(size, doubles, wides);
    after += ring(n, floats, results + size);
    sum += chain(n, floats, results + 2 * size);
    through(n, in, by, out + size);
    after += structs(n, samples, out + 2 * size);
    after += last_values(n, in, out + 3 * size);
    set_first(n, overlap ? out + 4 * size : in, out + 4 * size);
    after += carried(n, n / 9, in, out + 5 * size);
    handed_on(n, index, overlap ? there : in, there);
    check_stop(&check);
    printf("after: %ld %a\n", after, sum);
    check_array(&check, "out", out, 7 * size + 1, sizeof *out);
    check_array(&check, "there", there, size, sizeof *there);
    check_array(&check, "results", results, 3 * size, sizeof *results);
    check_array(&check, "wides", wides, size, sizeof *wides);
  }
  free(in);
  free(index);
  free(there);
  free(by);
  free(out);
  free(floats);
  free(results);
  free(doubles);
  free(wides);
  free(samples);
  return check_close(&check);
}
