/* Small arrays and structs that stand at the top of a function, as old programs have them, and that a loop only uses as room for each iteration: with constants for subscripts, in structs, in
 * two dimensions, read behind the loop or not, set up in front of it, under conditions, and in several loops.
 *
 * test size: 1999
 * loads its own
 * expect distances: runs on clean
 * expect butterflies: runs on clean
 * expect turned: runs on clean
 * expect conditional: runs on clean
 * expect last: runs on clean
 * expect second: runs on clean
 * expect counted: runs on clean
 * expect copied: runs on clean
 * expect carried: runs on clean
 * expect kept: stays on clean */
#include "../support/inputs.h"

#include <math.h>

struct complex {
  float r, i;
};

struct box {
  double low[3], high[3];
  int hits;
};

COMPUTE static void distances(int n, const double (*x)[3], double *out)
{
  double d[3], r2;
  int i, j;
  for (i = 0; i < n; i++) { /* loop distances */
    r2 = 0;
    for (j = 0; j < 8; j++) {
      d[0] = x[i][0] - x[j][0];
      d[1] = x[i][1] - x[j][1];
      d[2] = x[i][2] - x[j][2];
      r2 += d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    }
    out[i] = sqrt(r2);
  }
}

COMPUTE static void butterflies(struct complex *f, int m, const struct complex *tw, int inverse)
{
  struct complex scratch[6], *tw1 = (struct complex *)tw;
  int k = m;
  do { /* loop butterflies */
    scratch[0].r = f[m].r * tw1->r - f[m].i * tw1->i;
    scratch[0].i = f[m].r * tw1->i + f[m].i * tw1->r;
    scratch[3] = scratch[0];
    scratch[5].r = f->r - scratch[3].r;
    scratch[5].i = f->i - scratch[3].i;
    f->r += scratch[0].r;
    f->i += scratch[0].i;
    if (inverse) {
      f[m].r = scratch[5].r - scratch[0].i;
      f[m].i = scratch[5].i + scratch[0].r;
    } else {
      f[m].r = scratch[5].r + scratch[0].i;
      f[m].i = scratch[5].i - scratch[0].r;
    }
    tw1++;
    ++f;
  } while (--k);
}

COMPUTE static void turned(int n, const double (*x)[3], double *out)
{
  double m[2][2] = {{0, 0}, {0, 0}}, v[2];
  for (int i = 0; i < n; i++) { /* loop turned */
    m[0][0] = x[i][0];
    m[0][1] = -x[i][1];
    m[1][0] = x[i][1];
    m[1][1] = x[i][0];
    *v = m[0][0] * x[i][2] + m[0][1];
    v[1] = m[1][0] * x[i][2] + m[1][1];
    out[i] = v[0] - v[1];
  }
}

COMPUTE static void conditional(int n, const double *a, double *out)
{
  double t[2];
  for (int i = 0; i < n; i++) { /* loop conditional */
    if (a[i] > 0.25) {
      t[0] = a[i] * 3;
      t[1] = t[0] - 1;
      out[i] = t[1] * t[0];
    }
  }
}

/* All of it is read behind the loop, by a subscript that varies. */
COMPUTE static double last(int n, const double *a, double *out)
{
  double t[3] = {1, 2, 3}, sum = 0;
  for (int i = 0; i < n; i++) { /* loop last */
    t[0] = a[i];
    t[1 << 1] = t[0] * 0.5;
    out[i] = t[sizeof(int) / 2] + t[1 > 0 ? 1 : 0];
  }
  for (int k = 0; k < 3; k++)
    sum += t[k] * (k + 1);
  return sum;
}

/* The second loop has the same room for something else, and its condition has nothing to do with the first one's. */
COMPUTE static int twice(int n, const int *a, int *b, long *out)
{
  int t[2] = {0, 3}, k;
  for (k = 0; k < n; k++) {
    t[0] = a[k] * 5;
    if (t[0] > 9)
      t[1] = t[0] & 7;
    else
      t[1] = 3;
    b[k] = t[1];
  }
  for (k = 0; k < n; k++) { /* loop second */
    if (a[k] & 1) {
      t[0] = b[k] + k;
      out[k] = t[0] * 3L;
    }
  }
  return t[1];
}

COMPUTE static long counted(int n, const int *a, struct box *result)
{
  struct box box = {{0, 0, 0}, {0, 0, 0}, 0};
  long found[2] = {0, 5};
  for (int i = 0; i < n; i++) { /* loop counted */
    found[0] += a[i] > 0;
    found[1] = a[i] > found[1] ? a[i] : found[1];
    box.hits += a[i] & 1;
  }
  *result = box;
  return found[0] * 1000 + found[1];
}

COMPUTE static void copied(int n, const struct box *boxes, double *out)
{
  struct box box;
  for (int i = 0; i < n; i++) { /* loop copied */
    box.low[0] = boxes[i].low[0] - 1;
    box.high[2] = boxes[i].high[1] + box.low[0];
    box.hits = boxes[i].hits;
    out[i] = box.high[2] * box.hits;
  }
}

/* What an iteration finds is what the one before has left. */
COMPUTE static void carried(int n, const double *a, double *out)
{
  double t[2] = {1, 1};
  for (int i = 0; i < n; i++) { /* loop carried */
    out[i] = t[0];
    t[0] = a[i] - t[1];
    t[1] = a[i];
  }
}

COMPUTE static double kept(int n, const double *a, double *out)
{
  double t[2] = {1, 1};
  for (int i = 0; i < n; i++) { /* loop kept */
    if (a[i] > 0.5)
      t[1] = a[i];
    out[i] = a[i] * 2;
  }
  return t[1];
}

/* Somebody else knows where it is. */
COMPUTE static double seen(int n, const double *a, double *out)
{
  double t[2] = {1, 1}, *p[2] = {t, t + 1}, sum = 0;
  for (int i = 0; i < n; i++) {
    t[1] = a[i];
    out[i] = *p[1] * 2;
    *p[0] = t[1] + 1;
    sum = t[0];
  }
  return sum;
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", NULL};
  struct check check = check_open(argc, argv, 1u << 18, inputs);
  const int n = (int)check.size;
  double(*x)[3] = check_alloc(&check, check.size, sizeof *x), *y = check_alloc(&check, check.size, sizeof *y);
  double *out[8];
  for (int k = 0; k < 8; k++)
    out[k] = check_alloc(&check, check.size, sizeof *out[k]);
  struct complex *f = check_alloc(&check, 2 * check.size, sizeof *f), *w = check_alloc(&check, check.size, sizeof *w);
  struct box *boxes = check_alloc(&check, check.size, sizeof *boxes);
  int *a = check_alloc(&check, check.size, sizeof *a), *b = check_alloc(&check, check.size, sizeof *b);
  long *s = check_alloc(&check, check.size, sizeof *s);
  double results[6] = {0};
  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_double(&check, &x[0][0], 3 * check.size);
    fill_double(&check, y, check.size);
    fill_float(&check, &f[0].r, 4 * check.size);
    fill_float(&check, &w[0].r, 2 * check.size);
    for (int i = 0; i < n; i++) {
      a[i] = (int)check_below(&check, 90) - 40;
      b[i] = 0, s[i] = 0;
      boxes[i] = (struct box){{i, 1, 2}, {3, i * 0.5, 4}, i % 5};
      for (int k = 0; k < 8; k++)
        out[k][i] = 0;
    }
    struct box result;
    check_start(&check);
    distances(n, (const double(*)[3])x, out[0]);
    butterflies(f, n, w, 0);
    butterflies(f, n, w, 1);
    turned(n, (const double(*)[3])x, out[1]);
    conditional(n, y, out[2]);
    results[0] = last(n, y, out[3]);
    results[1] = twice(n, a, b, s);
    results[2] = (double)counted(n, a, &result);
    copied(n, boxes, out[4]);
    carried(n, y, out[5]);
    results[3] = kept(n, y, out[6]);
    results[4] = seen(n, y, out[7]);
    results[5] = result.hits;
    check_stop(&check);
    check_array(&check, "results", results, 6, sizeof *results);
    check_array(&check, "b", b, n, sizeof *b);
    check_array(&check, "s", s, n, sizeof *s);
    check_array(&check, "f", f, 2 * check.size, sizeof *f);
    for (int k = 0; k < 8; k++)
      check_array(&check, "out", out[k], n, sizeof *out[k]);
  }
  for (int k = 0; k < 8; k++)
    free(out[k]);
  free(x), free(y), free(f), free(w), free(boxes), free(a), free(b), free(s);
  return check_close(&check);
}
