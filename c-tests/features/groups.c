/* Loops whose iterations a thread of a GPU runs several of together: nests and lines, with inner loops that all iterations have
 * in common, with inner loops of each iteration's own, with both; sizes that no group divides.
 *
 * test size: 1003
 * expect product: runs on clean
 * expect transposed: runs on clean
 * expect convolution: runs on clean
 * expect triangle: runs on clean
 * expect mixed: runs on clean
 * expect columns: runs on clean
 * expect line: runs on clean
 * expect conditional: runs on clean
 * expect narrow: runs on clean
 * expect three: runs on clean
 * expect backward: runs on clean
 * expect stored: runs on clean
 * expect wide: runs on clean
 * expect twice: runs on clean
 * expect empty: runs on clean
 * expect skipping: runs on clean
 * expect old: runs on clean
 * expect shared_variable: runs on clean
 * expect downwards: runs on clean
 * expect every_other: runs on clean
 * expect line_steps: runs on clean
 * expect limits: runs on clean
 * expect side_by_side: runs on clean */
#include "../support/inputs.h"

COMPUTE static void product(int n, int m, int depth, const double *a, const double *b, double *c)
{
  for (int i = 0; i < n; i++) /* loop product */
    for (int j = 0; j < m; j++) {
      double sum = 0.0;
      for (int k = 0; k < depth; k++)
        sum += a[i * depth + k] * b[k * m + j];
      c[i * m + j] = sum;
    }
}

/* Neighbours along the outer loop lie side by side. */
COMPUTE static void transposed(long n, long m, long depth, const float *a, const float *b, float *c)
{
  for (long i = 0; i < n; i++) /* loop transposed */
    for (long j = 0; j < m; j++) {
      float sum = c[j * n + i];
      for (long k = 0; k < depth; k++)
        sum -= a[k * n + i] * b[j * depth + k];
      c[j * n + i] = sum;
    }
}

/* Two common loops, one in the other, and values that live across them. */
COMPUTE static void convolution(int n, int m, const float *in, const float *weights, float *out)
{
  for (int i = 2; i < n - 2; i++) /* loop convolution */
    for (int j = 2; j < m - 2; j++) {
      float sum = 0.0f, most = in[i * m + j];
      for (int y = -2; y <= 2; y++)
        for (int x = 0; x < 5; x++) {
          float value = in[(i + y) * m + j + x - 2];
          if (value > most)
            most = value;
          sum += weights[(y + 2) * 5 + x] * value;
        }
      out[i * m + j] = sum + most;
    }
}

/* How long the inner loop is depends on the iteration. */
COMPUTE static void triangle(int n, int m, const double *a, double *out)
{
  for (int i = 0; i < n; i++) /* loop triangle */
    for (int j = 0; j < m; j++) {
      double sum = 1.0;
      for (int k = 0; k < (i + j) % 37; k++)
        sum = sum * 0.5 + a[i * 40 + k];
      out[i * m + j] = sum;
    }
}

COMPUTE static void mixed(int n, int m, const int *a, const int *b, int *out)
{
  for (int i = 0; i < n; i++) /* loop mixed */
    for (int j = 0; j < m; j++) {
      int best = -1, sum = 0;
      for (int k = 0; k < 21; k++) {
        int value = a[i * 21 + k] ^ b[k * m + j];
        for (int bit = 0; bit < (value & 7); bit++)
          sum += value >> bit & 1;
        if (best < value)
          best = value;
      }
      for (int k = 0; k < 9; k++)
        sum += b[k * m + j];
      out[i * m + j] = sum + best;
    }
}

COMPUTE static void columns(int n, int m, const float *a, const float *x, float *y)
{
  for (int i = 0; i < n; i++) { /* loop columns */
    float sum = 0.0f;
    for (int j = 0; j < m; j++)
      sum += a[j * n + i] * x[j];
    y[i] = sum;
  }
}

COMPUTE static void line(int n, const float *a, const float *b, float *c)
{
  for (int i = 1; i < n - 1; i++) { /* loop line */
    float left = a[i - 1], right = a[i + 1];
    c[i] = b[i] + 0.5f * (left + right);
  }
}

COMPUTE static void conditional(int n, int m, const int *a, const int *on, int *out)
{
  for (int i = 0; i < n; i++) /* loop conditional */
    for (int j = 0; j < m; j++) {
      int sum = 0;
      for (int k = 0; k < 17; k++) {
        if (on[k] > 0)
          sum += a[i * 20 + k];
        else if (on[k] < 0 && a[i * 20 + k + 1] > 5)
          sum -= on[k] < -10 ? a[i * 20 + k + 2] : a[i * 20 + k + 3];
      }
      out[i * m + j] = sum * j;
    }
}

COMPUTE static void narrow(unsigned n, unsigned m, const signed char *a, const unsigned short *b, unsigned char *out)
{
  for (unsigned i = 0; i < n; i++) /* loop narrow */
    for (unsigned j = 0; j < m; j++) {
      unsigned char sum = 7;
      for (unsigned k = 0; k < 33u; k++)
        sum += a[i * 33 + k] * b[k * m + j];
      out[i * m + j] = sum;
    }
}

COMPUTE static void three(int n, int m, int l, const double *a, double *out)
{
  for (int i = 0; i < n; i++) /* loop three */
    for (int j = 0; j < m; j++)
      for (int k = 0; k < l; k++) {
        double sum = 0.0;
        for (int q = 0; q < 6; q++)
          sum += a[(i * 6 + q) * l + k] * (j + 1);
        out[(i * m + j) * l + k] = sum;
      }
}

COMPUTE static void backward(int n, int m, const float *a, float *out)
{
  for (int i = n - 1; i >= 0; i--) /* loop backward */
    for (int j = m - 1; j > 0; j -= 2) {
      float sum = 0.0f;
      for (int k = 0; k < 19; k++)
        sum = sum * 0.25f + a[(n - 1 - i) * m + (m - 1 - j) / 2 + k] - a[i * m + 40 - k];
      out[i * m + j] = sum;
    }
}

/* The common loop stores. */
COMPUTE static void stored(int n, int m, const float *a, float *out)
{
  for (int i = 0; i < n; i++) /* loop stored */
    for (int j = 0; j < m; j++) {
      float last = 0.0f;
      for (int k = 0; k < 3; k++) {
        last = 0.5f * last + a[j * 3 + k];
        out[(i * m + j) * 3 + k] = last + i;
      }
    }
}

COMPUTE static void wide(int n, int m, const long *a, const long *b, long *out)
{
  for (int i = 0; i < n; i++) /* loop wide */
    for (int j = 0; j < m; j++) {
      long sum = 0;
      for (size_t k = 0; k < 70; k++)
        sum += a[i * 70 + k] * b[j * 70 + k] + a[i * 70 + k] * a[i * 70 + k];
      out[(size_t)i * m + j] = sum;
    }
}

/* One variable for two loops, and what it is afterwards. */
COMPUTE static void twice(int n, int m, const int *a, int *out)
{
  for (int i = 0; i < n; i++) /* loop twice */
    for (int j = 0; j < m; j++) {
      int k, sum = 0;
      for (k = 0; k < 14; k++)
        sum += a[i * 14 + k];
      sum *= k;
      for (k = 3; k < 9; k++)
        sum ^= a[j * 14 + k];
      out[i * m + j] = sum + k;
    }
}

COMPUTE static void empty(int n, int m, int none, const int *a, int *out)
{
  for (int i = 0; i < n; i++) /* loop empty */
    for (int j = 0; j < m; j++) {
      int sum = i - j;
      for (int k = 5; k < none; k++)
        sum += a[k] / none;
      out[i * m + j] = sum;
    }
}

COMPUTE static void skipping(int n, int m, const int *a, int *out)
{
  for (int i = 0; i < n; i++) /* loop skipping */
    for (int j = 0; j < m; j++) {
      int sum = 0;
      for (int k = 0; k < 40; k++) {
        if (a[k] % 3 == 0)
          continue;
        sum += a[i * 40 + k] * j;
      }
      out[i * m + j] = sum;
    }
}

/* Loads of what later iterations overwrite. */
COMPUTE static void old(int n, float *a, const float *b)
{
  for (int i = 0; i < n; i++) { /* loop old */
    float sum = b[i];
    for (int k = 0; k < 12; k++)
      sum += a[i + k + 1];
    a[i] = sum * 0.125f;
  }
}

/* A variable that is a common loop's and is set in between as well. */
COMPUTE static void shared_variable(int n, int m, const int *a, int *out)
{
  for (int i = 0; i < n; i++) /* loop shared_variable */
    for (int j = 0; j < m; j++) {
      int k, sum = 0;
      for (k = 0; k < 8; k++)
        sum += a[i * 8 + k];
      k = a[j] & 3;
      out[i * m + j] = sum * k;
    }
}

/* Rows of known length, in other steps than by one; long enough that groups are whole. */
enum { WIDE = 600 };
COMPUTE static void downwards(int n, double (*a)[WIDE], double (*b)[WIDE], double (*c)[WIDE])
{
  for (int i = n - 1; i >= 0; i--) /* loop downwards */
    for (int j = 0; j < WIDE; j += 2) {
      double sum = 0.0;
      for (int k = 0; k < 64; k++)
        sum += a[i][k] * b[k][j];
      c[i][j] = sum;
    }
}

COMPUTE static void every_other(int n, double (*a)[WIDE], double (*b)[WIDE], double (*c)[WIDE])
{
  for (int i = 1; i < n; i += 3) /* loop every_other */
    for (int j = WIDE - 1; j >= 0; j--) {
      double sum = 0.0;
      for (int k = 0; k < 64; k++)
        sum -= a[i][63 - k] * b[k][j];
      c[i][j] = sum;
    }
}

COMPUTE static void line_steps(int n, double (*a)[64], const double *b, double *c)
{
  for (int i = n - 1; i > 0; i -= 2) { /* loop line_steps */
    double sum = 0.0;
    for (int k = 0; k < 64; k++)
      sum += a[i][k] * b[k + i];
    c[i] = sum;
  }
}

/* What one loop leaves behind is how long another one is; in between it is each iteration's own. */
COMPUTE static void limits(int n, int m, int d, const int *a, const int *b, int *out)
{
  int k, l, q;
  for (int i = 0; i < n; i++) /* loop limits */
    for (int j = 0; j < m; j++) {
      int sum = 0;
      for (l = 0; l < d; l++)
        sum += a[l];
      for (k = 0; k < i % 3 + j; k++)
        for (l = 0; l < d; l++)
          sum ^= b[l] + k;
      for (q = 0; q < l; q++)
        sum += b[q] * j;
      out[i * m + j] = sum;
    }
}

/* Two arrays without a gap between them, as a rule, both stored to in an order that only an inspection knows. */
enum { SIDE = 1024 };
static int first[SIDE], second[SIDE];
COMPUTE static void side_by_side(const int *order, const int *values)
{
  for (int i = 0; i < SIDE; i++) { /* loop side_by_side */
    first[order[i]] = values[i];
    second[order[SIDE - 1 - i]] = -values[i];
  }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", NULL};
  struct check check = check_open(argc, argv, 1003, inputs);
  int n = (int)(check.size / 11), m = (int)(check.size / 3);
  size_t most = (size_t)(n + 70) * (m + 600) * 3;
  double *d = check_alloc(&check, 3 * most, sizeof *d);
  float *f = check_alloc(&check, 3 * most, sizeof *f);
  int *w = check_alloc(&check, 3 * most, sizeof *w);
  long *l = check_alloc(&check, 3 * most, sizeof *l);
  unsigned short *s = check_alloc(&check, most, sizeof *s);
  unsigned char *c = check_alloc(&check, 2 * most, sizeof *c);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_float(&check, f, 3 * most);
    for (size_t i = 0; i < 3 * most; i++) {
      d[i] = f[i] - 0.5;
      w[i] = (int)(check_random(&check) >> 40) % 1000 - 300;
      l[i] = (long)(check_random(&check) >> 40);
    }
    for (size_t i = 0; i < most; i++) {
      s[i] = (unsigned short)check_random(&check);
      c[i] = (unsigned char)check_random(&check);
    }
    check_start(&check);
    product(n, m, 75, d, d + most, d + 2 * most);
    check_array(&check, "doubles", d, 3 * most, sizeof *d);
    transposed(n, m, 50, f, f + most, f + 2 * most);
    convolution(n, m, f, f + most, f + 2 * most);
    check_array(&check, "floats", f, 3 * most, sizeof *f);
    triangle(n, m, d, d + most);
    three(5, 9, m, d + most, d + 2 * most);
    check_array(&check, "doubles again", d, 3 * most, sizeof *d);
    mixed(n, m, w, w + most, w + 2 * most);
    check_array(&check, "numbers", w, 3 * most, sizeof *w);
    conditional(n, m, w + most, w, w + 2 * most);
    check_array(&check, "conditional", w, 3 * most, sizeof *w);
    columns((int)check.size, 100, f, f + most, f + 2 * most);
    line((int)check.size, f, f + most, f + 2 * most + 2000);
    backward(n, m, f + most, f);
    stored(n, m, f + most, f + 2 * most);
    old((int)check.size, f, f + most);
    check_array(&check, "floats again", f, 3 * most, sizeof *f);
    narrow((unsigned)n, (unsigned)m, (signed char *)c, s, c + most);
    check_array(&check, "bytes", c, 2 * most, sizeof *c);
    wide(n, m, l, l + most, l + 2 * most);
    check_array(&check, "longs", l, 3 * most, sizeof *l);
    twice(n, m, w, w + 2 * most);
    check_array(&check, "twice", w, 3 * most, sizeof *w);
    empty(n, m, 0, w, w + most);
    skipping(n, m, w, w + 2 * most);
    check_array(&check, "numbers again", w, 3 * most, sizeof *w);
    shared_variable(n, m, w, w + 2 * most);
    check_array(&check, "shared variable", w, 3 * most, sizeof *w);
    downwards(n, (double (*)[WIDE])d, (double (*)[WIDE])(d + most), (double (*)[WIDE])(d + 2 * most));
    every_other(n, (double (*)[WIDE])d, (double (*)[WIDE])(d + most), (double (*)[WIDE])(d + 2 * most));
    line_steps(2 * (int)check.size, (double (*)[64])d, d + most, d + 2 * most);
    check_array(&check, "steps", d, 3 * most, sizeof *d);
    limits(n / 2, m, 31, w, w + most, w + 2 * most);
    check_array(&check, "limits", w, 3 * most, sizeof *w);
    for (int i = 0; i < SIDE; i++)
      w[i] = i * 7 % SIDE;
    side_by_side(w, w + most);
    check_array(&check, "first", first, SIDE, sizeof *first);
    check_array(&check, "second", second, SIDE, sizeof *second);
    check_stop(&check);
  }
  free(d);
  free(f);
  free(w);
  free(l);
  free(s);
  free(c);
  return check_close(&check);
}
