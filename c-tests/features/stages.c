/* Products whose operands the threads of a GPU's block stage in memory that they share: in every direction in which they may lie, of every
 * width, with what is the same for rows, columns or all; and loops beside them that can't be staged, or not to their end. Blocks are whole in the
 * middle, and not at the edges; stages don't divide the turns.
 *
 * test size: 301
 * expect rows_by_columns: runs on clean
 * expect rows_by_rows: runs on clean
 * expect columns_by_columns: runs on clean
 * expect columns_by_rows: runs on clean
 * expect weighted: runs on clean
 * expect bytes: runs on clean
 * expect backward: runs on clean
 * expect spread: runs on clean
 * expect rows_only: runs on clean
 * expect columns_only: runs on clean
 * expect own: runs on clean
 * expect few_turns: runs on clean
 * expect after_another: runs on clean
 * expect beside_own: runs on clean
 * expect inside: runs on clean
 * expect conditional: runs on clean
 * expect accumulated: runs on clean
 * expect many_turns: runs on clean
 * expect layers: runs on clean
 * expect divided: runs on clean
 * expect many_operands: runs on clean */
#include "../support/inputs.h"

COMPUTE static void rows_by_columns(int n, int m, int depth, const float *a, int lda, const float *b, int ldb, float *c, int ldc)
{
  for (int i = 0; i < n; i++) /* loop rows_by_columns */
    for (int j = 0; j < m; j++) {
      float sum = 0.0f;
      for (int k = 0; k < depth; k++)
        sum += a[i * lda + k] * b[k * ldb + j];
      c[i * ldc + j] = sum;
    }
}

COMPUTE static void rows_by_rows(int n, int m, int depth, const double *a, const double *b, double *c)
{
  for (int i = 0; i < n; i++) /* loop rows_by_rows */
    for (int j = 0; j < m; j++) {
      double sum = 1.0;
      for (int k = 0; k < depth; k++)
        sum -= a[i * depth + k] * b[j * depth + k];
      c[i * m + j] = sum;
    }
}

COMPUTE static void columns_by_columns(int n, int m, int depth, const unsigned *a, const unsigned *b, unsigned *c)
{
  for (int i = 0; i < n; i++) /* loop columns_by_columns */
    for (int j = 0; j < m; j++) {
      unsigned sum = 0;
      for (int k = 0; k < depth; k++)
        sum += a[k * n + i] * b[k * m + j];
      c[i * m + j] = sum;
    }
}

COMPUTE static void columns_by_rows(long n, long m, long depth, const long *a, const long *b, long *c)
{
  for (long i = 0; i < n; i++) /* loop columns_by_rows */
    for (long j = 0; j < m; j++) {
      long sum = i - j;
      for (long k = 0; k < depth; k++)
        sum ^= a[k * n + i] + b[j * depth + k];
      c[i * m + j] = sum;
    }
}

/* What is the same for all, and numbers of other widths. */
COMPUTE static void weighted(int n, int m, int depth, const float *a, const double *b, const float *weights, double *c)
{
  for (int i = 0; i < n; i++) /* loop weighted */
    for (int j = 0; j < m; j++) {
      double sum = 0.0;
      for (int k = 0; k < depth; k++)
        sum += a[i * depth + k] * b[k * m + j] * weights[2 * k];
      c[i * m + j] = sum;
    }
}

COMPUTE static void bytes(unsigned n, unsigned m, unsigned depth, const unsigned char *a, const short *b, unsigned *c)
{
  for (unsigned i = 0; i < n; i++) /* loop bytes */
    for (unsigned j = 0; j < m; j++) {
      unsigned sum = 0;
      for (unsigned k = 0; k < depth; k++)
        sum += a[i * depth + k] * b[k * m + j];
      c[i * m + j] = sum;
    }
}

/* Turns, rows and columns go down. */
COMPUTE static void backward(int n, int m, int depth, const float *a, const float *b, float *c)
{
  for (int i = n - 1; i >= 0; i--) /* loop backward */
    for (int j = m - 1; j >= 0; j--) {
      float sum = 0.0f;
      for (int k = 3; k < depth; k++)
        sum += a[i * depth + depth - 1 - k] * b[(depth - 1 - k) * m + j];
      c[i * m + j] = sum;
    }
}

/* Nothing lies side by side, and rows are not all there. */
COMPUTE static void spread(int n, int m, int depth, int step, const unsigned *a, const unsigned *b, unsigned *c)
{
  for (int i = 0; i < n; i += 2) /* loop spread */
    for (int j = 0; j < m; j++) {
      unsigned sum = 0;
      for (int k = 0; k < depth; k++)
        sum += a[(i * depth + k) * step] * b[(k * m + j) * 3];
      c[i * m + j] = sum;
    }
}

COMPUTE static void rows_only(int n, int m, int depth, const float *a, float *c)
{
  for (int i = 0; i < n; i++) /* loop rows_only */
    for (int j = 0; j < m; j++) {
      float sum = 0.0f;
      for (int k = 0; k < depth; k++)
        sum += a[i * depth + k] * (float)(j ^ k);
      c[i * m + j] = sum;
    }
}

COMPUTE static void columns_only(int n, int m, int depth, const float *b, float *c)
{
  for (int i = 0; i < n; i++) /* loop columns_only */
    for (int j = 0; j < m; j++) {
      float sum = 0.0f;
      for (int k = 0; k < depth; k++)
        sum += b[k * m + j] * (float)(i ^ k);
      c[i * m + j] = sum;
    }
}

/* One operand belongs to a single iteration. */
COMPUTE static void own(int n, int m, int depth, const unsigned *a, const unsigned *b, const unsigned *d, unsigned *c)
{
  for (int i = 0; i < n; i++) /* loop own */
    for (int j = 0; j < m; j++) {
      unsigned sum = 0;
      for (int k = 0; k < depth; k++)
        sum += a[i * depth + k] * b[k * m + j] - d[i * m + j + k];
      c[i * m + j] = sum;
    }
}

COMPUTE static void few_turns(int n, int m, int depth, const unsigned *a, const unsigned *b, unsigned *c)
{
  for (int i = 0; i < n; i++) /* loop few_turns */
    for (int j = 0; j < m; j++) {
      unsigned sum = 1;
      for (int k = 0; k < depth; k++)
        sum += a[i * depth + k] * b[k * m + j];
      c[i * m + j] = sum;
    }
}

/* What the first loop leaves is the second one's limit. */
COMPUTE static void after_another(int n, int m, int depth, const unsigned *a, const unsigned *b, unsigned *c)
{
  for (int i = 0; i < n; i++) /* loop after_another */
    for (int j = 0; j < m; j++) {
      unsigned sum = 0;
      int k, l;
      for (k = 0; k < depth; k++)
        sum += a[i * depth + k] * b[k * m + j];
      for (l = 0; l < k; l++)
        sum ^= a[i * depth + l] + b[l * m + j];
      c[i * m + j] = sum;
    }
}

/* Threads come to the second loop at different times. */
COMPUTE static void beside_own(int n, int m, int depth, const unsigned *a, const unsigned *b, unsigned *c)
{
  for (int i = 0; i < n; i++) /* loop beside_own */
    for (int j = 0; j < m; j++) {
      unsigned sum = 0;
      int k, l;
      for (l = 0; l < (i * j) % 50; l++)
        sum += b[l * m + j];
      for (k = 0; k < depth; k++)
        sum += a[i * depth + k] * b[k * m + j];
      for (l = j % 7; l < i; l++)
        sum += b[l];
      c[i * m + j] = sum;
    }
}

COMPUTE static void inside(int n, int m, int depth, int times, const unsigned *a, const unsigned *b, unsigned *c)
{
  for (int i = 0; i < n; i++) /* loop inside */
    for (int j = 0; j < m; j++) {
      unsigned sum = 0;
      for (int l = 0; l < times; l++)
        for (int k = l; k < depth; k++)
          sum += a[i * depth + k] * b[k * m + j] + l;
      c[i * m + j] = sum;
    }
}

COMPUTE static void conditional(int n, int m, int depth, const unsigned *a, const unsigned *b, const unsigned *d, unsigned *c)
{
  for (int i = 0; i < n; i++) /* loop conditional */
    for (int j = 0; j < m; j++) {
      unsigned most = 0;
      for (int k = 0; k < depth; k++) {
        unsigned value = a[i * depth + k] - b[k * m + j];
        if (value > most)
          most = value + d[k];
      }
      c[i * m + j] = most;
    }
}

/* Where sums stand in memory meanwhile. */
COMPUTE static void accumulated(int n, int m, int depth, const double *a, const double *b, double *c)
{
  for (int i = 0; i < n; i++) /* loop accumulated */
    for (int j = 0; j < m; j++)
      for (int k = 0; k < depth; k++)
        c[i * m + j] += a[i * depth + k] * b[k * m + j];
}

/* So many that threads ask in between whether to go on. */
COMPUTE static void many_turns(int n, int m, int depth, const unsigned *a, const unsigned *b, unsigned *c)
{
  for (int i = 0; i < n; i++) /* loop many_turns */
    for (int j = 0; j < m; j++) {
      unsigned sum = 0;
      for (int k = 0; k < depth; k++) {
        unsigned x = a[i * 7 + k] + 3, y = b[k * 2 + j] - 5;
        sum += x * y + (x ^ y) - (x & y) + (sum >> 3) + x * x - y * y + (x | y) * 3 - (y << 1) + (x << 2) + (sum ^ x) - (sum & y);
      }
      c[i * m + j] = sum;
    }
}

COMPUTE static void layers(int times, int n, int m, int depth, const float *a, const float *b, float *c)
{
  for (int t = 0; t < times; t++) /* loop layers */
    for (int i = 0; i < n; i++)
      for (int j = 0; j < m; j++) {
        float sum = 0.0f;
        for (int k = 0; k < depth; k++)
          sum += a[(t * n + i) * depth + k] * b[(t * depth + k) * m + j];
        c[(t * n + i) * m + j] = sum;
      }
}

/* Who comes too late finds a divisor of zero: threads beyond the end, which do what others do. */
COMPUTE static void divided(int n, int m, int depth, const unsigned *a, const unsigned *b, unsigned *c)
{
  for (int i = 0; i < n; i++) /* loop divided */
    for (int j = 0; j < m; j++) {
      unsigned sum = 0;
      for (int k = 0; k < depth; k++)
        sum += a[i * depth + k] * b[k * m + j];
      c[i * m + j] = (sum & 7) / c[i * m + j];
    }
}

/* Arrays that are stored to, though by nobody else. */
COMPUTE static void own_result(int n, int m, int depth, const unsigned *a, const unsigned *b, unsigned *c)
{
  for (int i = 0; i < n; i++) /* loop own_result */
    for (int j = 0; j < m; j++) {
      unsigned sum = 0;
      for (int k = 0; k < depth; k++)
        sum += a[i * depth + k] * b[k * m + j] - (c[i * m + j] ^ sum);
      c[i * m + j] = sum;
    }
}
COMPUTE static void own_rows(int n, int m, int depth, const unsigned *a, const unsigned *b, unsigned *c)
{
  for (int i = 0; i < n; i++) /* loop own_rows */
    for (int j = 0; j < m; j++) {
      unsigned sum = 0;
      for (int k = 0; k < depth; k++)
        sum += a[i * depth + k] * b[k * m + j] - c[(i * m + j) * depth + k];
      c[(i * m + j) * depth] = sum;
    }
}

/* So many that stages have few turns, of widths that don't follow each other without gaps. */
COMPUTE static void many_operands(int n, int m, int depth, const unsigned char *u, const double *a, const unsigned char *v, const double *b,
                                  const double *c, double *d)
{
  for (int i = 0; i < n; i++) /* loop many_operands */
    for (int j = 0; j < m; j++) {
      double sum = 0;
      for (int k = 0; k < depth; k++)
        sum += u[k] * (a[i * depth + k] + b[k * m + j]) + v[k] * (c[k * m + j] - a[i * depth + k]);
      d[i * m + j] = sum;
    }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", NULL};
  struct check check = check_open(argc, argv, 301, inputs);
  /* Larger than a block of the largest groups in both directions, and no multiple of it. */
  int n = (int)(check.size / 4) + 2, m = (int)check.size, depth = 45;
  size_t most = (size_t)(n + 10) * (m + 50) * 3 + 12000;
  double *d = check_alloc(&check, 3 * most, sizeof *d);
  float *f = check_alloc(&check, 3 * most, sizeof *f);
  unsigned *w = check_alloc(&check, 4 * most, sizeof *w);
  long *l = check_alloc(&check, 3 * most, sizeof *l);
  short *s = check_alloc(&check, most, sizeof *s);
  unsigned char *u = check_alloc(&check, most, sizeof *u);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_float(&check, f, 3 * most);
    for (size_t i = 0; i < 4 * most; i++)
      w[i] = (unsigned)(check_random(&check) >> 40) % 1000;
    for (size_t i = 0; i < 3 * most; i++) {
      d[i] = f[i] - 0.5;
      l[i] = (long)(check_random(&check) >> 40);
    }
    for (size_t i = 0; i < most; i++) {
      s[i] = (short)check_random(&check);
      u[i] = (unsigned char)check_random(&check);
    }
    check_start(&check);
    rows_by_columns(n, m, depth, f + 1, depth + 3, f + most, m + 7, f + 2 * most, m + 1);
    backward(n, m, depth, f, f + most, f + 2 * most + 3);
    check_array(&check, "floats", f, 3 * most, sizeof *f);
    rows_only(n, m, depth, f, f + 2 * most);
    columns_only(n, m, depth, f, f + most);
    check_array(&check, "floats again", f, 3 * most, sizeof *f);
    layers(3, n, m, 19, f, f + most, f + 2 * most);
    check_array(&check, "layers", f, 3 * most, sizeof *f);
    rows_by_rows(n, m, depth, d, d + most, d + 2 * most);
    check_array(&check, "doubles", d, 3 * most, sizeof *d);
    weighted(n, m, depth, f, d, f + most, d + most);
    accumulated(n, m, depth, d, d + most, d + 2 * most);
    check_array(&check, "doubles again", d, 3 * most, sizeof *d);
    columns_by_rows(n, m, depth, l, l + most, l + 2 * most);
    check_array(&check, "longs", l, 3 * most, sizeof *l);
    columns_by_columns(n, m, depth, w, w + most, w + 2 * most);
    check_array(&check, "numbers", w, 4 * most, sizeof *w);
    bytes((unsigned)n, (unsigned)m, (unsigned)depth, u, s, w + most);
    check_array(&check, "bytes", w, 4 * most, sizeof *w);
    spread(n, m, 20, 4, w, w + most, w + 3 * most);
    own(n, m, depth, w, w + most, w + 2 * most, w + 3 * most + 5);
    check_array(&check, "spread", w, 4 * most, sizeof *w);
    few_turns(n, m, 15, w, w + most, w + 2 * most);
    after_another(n, m, depth, w, w + most, w + 3 * most);
    check_array(&check, "few turns", w, 4 * most, sizeof *w);
    beside_own(n, m, depth, w, w + most, w + 2 * most);
    inside(n, m, depth, 3, w, w + most, w + 3 * most);
    check_array(&check, "inside", w, 4 * most, sizeof *w);
    conditional(n, m, depth, w, w + most, w + 2 * most, w + 3 * most);
    check_array(&check, "conditional", w, 4 * most, sizeof *w);
    many_turns(34, 130, 4100 + 7, w, w + most, w + 2 * most);
    check_array(&check, "many turns", w, 4 * most, sizeof *w);
    for (size_t i = 0; i < most; i++)
      w[2 * most + i] |= 8;
    divided(n, m, depth, w, w + most, w + 2 * most);
    check_array(&check, "divided", w, 4 * most, sizeof *w);
    own_result(n, m, depth, w, w + most, w + 2 * most);
    own_rows(40, 140, 20, w, w + most, w + 2 * most);
    check_array(&check, "own", w, 4 * most, sizeof *w);
    /* There is nothing behind the operands' ends. */
    for (int turns = 15; turns <= depth; turns += 30) {
      few_turns(n, m, turns, w, w + 4 * most - turns * m, w + 2 * most);
      few_turns(n, m, turns, w + 4 * most - n * turns, w, w + 2 * most);
      check_array(&check, "ends", w, 4 * most, sizeof *w);
    }
    many_operands(n, m, depth, u, d, u + depth, d + most, d + most + 5, d + 2 * most);
    check_array(&check, "many operands", d, 3 * most, sizeof *d);
    check_stop(&check);
  }
  free(d);
  free(f);
  free(w);
  free(l);
  free(s);
  free(u);
  return check_close(&check);
}
