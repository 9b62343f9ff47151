/* Loops that call functions of the same file: ones that only compute, ones with early returns, locals and loops of their own,
 * ones that store, calls within calls; and names that mean something else where the call stands.
 *
 * test size: 2001
 * expect compute: runs on clean
 * expect nested: runs on clean
 * expect early: runs on clean
 * expect store: runs on clean
 * expect rows: runs on clean
 * expect global: runs on clean
 * expect through: conflicts on raw */
#include "../support/inputs.h"

static float scale = 1.5f;

static inline float square(float x)
{
  return x * x;
}

static float blend(const float *at, float weight)
{
  float here = at[0];
  float there = at[1];
  here *= weight;
  there *= 1.0f - weight;
  return here + there;
}

static int sign(float x)
{
  if (x > 0.6f)
    return 1;
  if (x < 0.3f) {
    if (x < 0.1f)
      return -2;
    else
      return -1;
  }
  return 0;
}

static void put(float *to, int i, float value)
{
  to[i] = value;
  if (value > 1.0f)
    to[i] = value - 1.0f;
}

static float row_sum(const float *row, int n)
{
  float sum = 0;
  for (int j = 0; j < n; j++)
    sum += row[j];
  return sum;
}

static float scaled(float x)
{
  return x * scale;
}

static short narrow(short x, unsigned char y)
{
  return x + y;
}

COMPUTE static void compute(int n, const float *in, float *out)
{
  for (int i = 0; i < n; i++) /* loop compute */
    out[i] = square(in[i]) + square(in[i] + 1.0f) * (float)narrow(i, i * 3);
}

COMPUTE static void nested(int n, const float *in, float *out)
{
  for (int i = 0; i < n - 1; i++) { /* loop nested */
    float x = square(blend(in + i, square(0.5f)));
    out[i] = x > 0.2f ? x : -x;
  }
}

COMPUTE static int early(int n, const float *in, float *out)
{
  int sum = 0;
  for (int i = 0; i < n; i++) { /* loop early */
    if (sign(in[i]) > 0)
      out[i] = 3.0f;
    else
      out[i] = (float)sign(in[i] - 0.1f);
    sum += sign(in[i]);
  }
  return sum;
}

COMPUTE static void store(int n, const float *in, float *out)
{
  for (int i = 0; i < n; i++) /* loop store */
    put(out, i, square(in[i]));
}

COMPUTE static void rows(int n, int m, const float *in, float *out)
{
  for (int i = 0; i < n; i++) /* loop rows */
    out[i] = row_sum(&in[i * m], m);
}

COMPUTE static void global(int n, const float *in, float *out)
{
  for (int i = 0; i < n; i++) /* loop global */
    out[i] = scaled(in[i]);
}

/* The caller's own `scale` is another one. */
COMPUTE static float hidden(int n, const float *in, float *out)
{
  float scale = 100.0f;
  for (int i = 0; i < n; i++)
    out[i] = scaled(in[i]) + scale;
  return scale;
}

COMPUTE static void through(int n, const float *in, float *out)
{
  for (int i = 0; i < n; i++) /* loop through */
    put(out, i + 1, square(in[i]));
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "raw", NULL};
  struct check check = check_open(argc, argv, 1u << 18, inputs);
  int n = (int)check.size, overlap = check_is(&check, "raw");
  float *in = check_alloc(&check, (size_t)n + 2, sizeof *in);
  float *out = check_alloc(&check, 8 * (size_t)n, sizeof *out);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_float(&check, in, (size_t)n + 2);
    fill_float(&check, out, 8 * (size_t)n);
    check_start(&check);
    compute(n, in, out);
    nested(n, in, out + n);
    int sum = early(n, in, out + 2 * n);
    store(n, in, out + 3 * n);
    rows(n / 10, 10, in, out + 4 * n);
    global(n, in, out + 5 * n);
    float last = hidden(n, in, out + 6 * n);
    through(n - 1, overlap ? out + 7 * n : in, out + 7 * n);
    check_stop(&check);
    printf("sum: %d %g\n", sum, last);
    check_array(&check, "out", out, 8 * (size_t)n, sizeof *out);
  }
  free(in);
  free(out);
  return check_close(&check);
}
