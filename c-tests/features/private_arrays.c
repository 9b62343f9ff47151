/* Arrays and structs that a loop's body declares: each iteration has its own. With initialisers of all kinds, filled by loops,
 * element by element and on several paths, in inner loops, in functions that are called, and unions.
 * `wild`: indices that only an order of iterations that the program doesn't have takes out of range. `partly` is read before it
 * is written, and `pointers` are followed, so these stay as they are.
 *
 * test size: 1003
 * expect filled: runs on clean
 * expect braces: runs on clean
 * expect counts: runs on clean
 * expect structs: runs on clean
 * expect paths: runs on clean
 * expect inner: runs on clean
 * expect called: runs on clean
 * expect matrix: runs on clean
 * expect punned: runs on clean
 * expect gathered: runs on clean
 * expect summed: runs on clean */
#include "../support/inputs.h"

struct vector {
  double x, y, z;
};

struct cell {
  char kind;
  struct vector at;
  int history[4];
};

COMPUTE static void filled(const double *a, double *b, int n)
{
  for (int i = 0; i < n; i++) { /* loop filled */
    double tmp[3];
    for (int k = 0; k < 3; k++)
      tmp[k] = a[i] * (double)(k + 1);
    b[i] = tmp[0] - tmp[1] * tmp[2];
  }
}

COMPUTE static void braces(const double *a, double *b, int n)
{
  for (int i = 0; i < n; i++) { /* loop braces */
    double whole[3] = {a[i], 2.0, a[i] * a[i]}, part[5] = {a[i]}, none[2] = {0};
    float weights[2][2] = {{0.25f, (float)a[i]}, {1}};
    int k = i % 3;
    none[i & 1] = 0.5;
    b[i] = whole[k] + part[k + 1] + part[0] + none[0] + (double)weights[i & 1][1] - (double)weights[1][0];
  }
}

COMPUTE static void counts(const unsigned char *text, int n, int width, unsigned *most)
{
  for (int i = 0; i < n; i++) { /* loop counts */
    int count[16] = {0};
    unsigned best = 0;
    for (int k = 0; k < width; k++)
      count[text[i + k] & 15]++;
    for (int k = 0; k < 16; k++)
      if (count[k] > count[best])
        best = (unsigned)k;
    most[i] = best * 100 + (unsigned)count[best];
  }
}

COMPUTE static void structs(const double *a, double *b, int n)
{
  for (int i = 0; i < n; i++) { /* loop structs */
    struct vector v = {a[i], -a[i], 1.0}, w;
    struct cell d = {(char)(i & 7), {a[i], 0.5, 0}, {3, i}};
    w.x = v.y;
    w.y = v.z;
    w.z = v.x + (double)d.history[1] + d.at.z;
    d.history[i & 3] += d.kind;
    b[i] = w.x * w.y - w.z + (double)(d.history[0] + d.history[2]);
  }
}

COMPUTE static void paths(const double *a, double *b, int n)
{
  for (int i = 0; i < n; i++) { /* loop paths */
    struct vector v;
    double tmp[4];
    v.z = 0.25;
    if (a[i] > 0.0) {
      v.x = a[i];
      v.y = 1.0;
    } else {
      v.y = a[i];
      v.x = 2.0;
    }
    tmp[0] = v.x;
    tmp[1] = v.y * tmp[0];
    for (int k = 2; k < 4; k++) {
      tmp[k] = tmp[k - 1] + tmp[k - 2];
      if (tmp[k] > 1e3)
        continue;
      tmp[k] += v.z;
    }
    b[i] = tmp[3] > 0.0 ? tmp[3] : tmp[2];
  }
}

COMPUTE static void inner(const double *a, double *b, int n, int m)
{
  for (int i = 0; i < n; i++) { /* loop inner */
    double sum = 0.0;
    for (int j = 0; j < m; j++) {
      double last[2] = {a[i + j]};
      last[1] = last[0] * last[0];
      sum = sum * 0.5 + last[j & 1];
    }
    b[i] = sum;
  }
}

static double dot(const double *a, const double *b)
{
  double products[3], sum = 0.0;
  for (int k = 0; k < 3; k++)
    products[k] = a[k] * b[k];
  for (int k = 0; k < 3; k++)
    sum += products[k];
  return sum;
}

static void halve(double *x)
{
  *x *= 0.5;
}

COMPUTE static void called(const double *a, double *b, int n)
{
  for (int i = 0; i < n; i++) { /* loop called */
    double own[3] = {1.0, a[i], 2.0}, one = a[i];
    double d = dot(own, own);
    halve(&one);
    b[i] = d + one;
  }
}

COMPUTE static void matrix(const double *a, double *b, int n)
{
  for (int i = 0; i < n; i++) { /* loop matrix */
    double m[3][3], p[3][3];
    for (int r = 0; r < 3; r++)
      for (int c = 0; c < 3; c++)
        m[r][c] = a[i] + (double)(r - c);
    for (int r = 0; r < 3; r++)
      for (int c = 0; c < 3; c++) {
        p[r][c] = 0.0;
        for (int k = 0; k < 3; k++)
          p[r][c] += m[r][k] * m[k][c];
      }
    b[i] = p[0][0] - p[1][2] + p[2][i % 3];
  }
}

COMPUTE static void pointers(const double *a, const double *c, double *b, int n)
{
  for (int i = 0; i < n; i++) {
    const double *rows[2] = {a, c};
    b[i] = rows[i & 1][i] + *(rows[0] + i);
  }
}

COMPUTE static void punned(const float *a, unsigned *b, int n)
{
  for (int i = 0; i < n; i++) { /* loop punned */
    union {
      float f;
      unsigned u;
    } bits;
    bits.f = a[i];
    b[i] = (bits.u >> 3) ^ bits.u;
  }
}

COMPUTE static void gathered(const double *a, const int *index, double *b, int n)
{
  for (int i = 0; i < n; i++) { /* loop gathered */
    double both[2] = {a[index[i]], a[i]};
    b[index[i]] = both[a[i] > 0.0] + both[0];
  }
}

/* In source order `mark` holds what is in range. */
COMPUTE static void wild(int *mark, const int *next, double *b, int n)
{
  for (int i = 0; i < n; i++) { /* loop wild */
    double table[4] = {1.0, 2.0, 3.0, 4.0};
    table[mark[i]] *= 0.5;
    b[i] = table[mark[i]];
    mark[next[i]] = next[i] & 3;
  }
}

COMPUTE static void partly(const double *a, double *b, int n)
{
  for (int i = 0; i < n; i++) {
    double last[2];
    if (i == 0)
      last[1] = a[0];
    last[0] = a[i];
    b[i] = last[0] + (a[i] > 2.0 ? last[1] : 0.0);
  }
}

COMPUTE static int summed(const int *a, int n)
{
  int sum = 0;
  for (int i = 0; i < n; i++) { /* loop summed */
    struct {
      int low, high;
    } pair = {a[i] & 255, a[i] >> 8};
    sum += pair.low * 3 - pair.high;
  }
  return sum;
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "wild", NULL};
  struct check check = check_open(argc, argv, 100000, inputs);
  size_t n = check.size;
  int count = (int)n;
  double *a = check_alloc(&check, n + 16, sizeof *a), *c = check_alloc(&check, n, sizeof *c);
  double *b = check_alloc(&check, n, sizeof *b);
  float *f = check_alloc(&check, n, sizeof *f);
  unsigned char *text = check_alloc(&check, n + 40, sizeof *text);
  unsigned *most = check_alloc(&check, n, sizeof *most);
  int *index = check_alloc(&check, n, sizeof *index), *mark = check_alloc(&check, n, sizeof *mark);
  int *next = check_alloc(&check, n, sizeof *next);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_double(&check, a, n + 16);
    fill_double(&check, c, n);
    fill_float(&check, f, n);
    permute(&check, index, n);
    for (size_t i = 0; i < n + 40; i++)
      text[i] = (unsigned char)check_below(&check, 256);
    for (size_t i = 0; i < n; i++) {
      mark[i] = (int)check_below(&check, 4);
      next[i] = (int)i;
      /* Every iteration mends the mark of the next one, which nobody may read before. */
      if (check_is(&check, "wild") && i != 0)
        mark[i] = 1 << 20, next[i - 1] = (int)i;
    }
#define SHOW(call, what, array, size)                                                                                  \
  check_start(&check);                                                                                                 \
  call;                                                                                                                \
  check_stop(&check);                                                                                                  \
  check_array(&check, what, array, n, size)
    SHOW(filled(a, b, count), "filled", b, sizeof *b);
    SHOW(braces(a, b, count), "braces", b, sizeof *b);
    SHOW(counts(text, count, 40, most), "counts", most, sizeof *most);
    SHOW(structs(a, b, count), "structs", b, sizeof *b);
    SHOW(paths(a, b, count), "paths", b, sizeof *b);
    SHOW(inner(a, b, count, 16), "inner", b, sizeof *b);
    SHOW(called(a, b, count), "called", b, sizeof *b);
    SHOW(matrix(a, b, count), "matrix", b, sizeof *b);
    SHOW(pointers(a, c, b, count), "pointers", b, sizeof *b);
    SHOW(punned(f, most, count), "punned", most, sizeof *most);
    SHOW(gathered(a, index, b, count), "gathered", b, sizeof *b);
    SHOW(wild(mark, next, b, count), "wild", b, sizeof *b);
    SHOW(partly(a, b, count), "partly", b, sizeof *b);
    SHOW(*index = summed(index, count), "summed", index, sizeof *index);
  }
  free(a);
  free(b);
  free(c);
  free(f);
  free(text);
  free(most);
  free(index);
  free(mark);
  free(next);
  return check_close(&check);
}
