/* Arrays from outside of a loop that each iteration only uses as room of its own. Threads have copies of them, and the last
 * iteration leaves in the array what the program would. Among them are near misses, which must stay as they are. On `overlap`
 * pointers lead into these arrays, by one element at the end; on `longer` more is read than is written; on `empty` the loops that
 * write have no turn.
 *
 * test size: 67
 * expect transform: runs in place on clean longer
 * expect transform: stays on overlap empty
 * expect ranges: runs in place on clean
 * expect ranges: stays on longer overlap empty
 * expect recurrence: runs in place on clean longer overlap
 * expect backwards: runs in place on clean longer overlap
 * expect cell: runs in place on clean longer overlap
 * expect element: runs in place on clean
 * expect element: stays on longer empty
 * expect both: runs in place on clean longer
 * expect both: stays on overlap
 * expect bounded: runs in place on clean longer
 * expect bounded: stays on overlap
 * expect bytes: runs in place on clean longer
 * expect bytes: stays on overlap
 * expect constant: runs in place on clean longer overlap empty
 * expect conditional: stays on clean
 * expect beyond: stays on clean
 * expect before: stays on clean
 * expect accumulates: stays on clean
 * expect growing: stays on clean
 * expect other: stays on clean */
#include "../support/inputs.h"

enum { WIDTH = 48 };

/* A batch of products of a matrix with vectors, each in the vector's place. */
COMPUTE static void transform(double (*a)[2][WIDTH], double (*c)[WIDTH], double *sum, int n, int m)
{
  for (int r = 0; r < n; r++) /* loop transform */
    for (int q = 0; q < 2; q++) {
      for (int p = 0; p < m; p++) {
        sum[p] = 0.0;
        for (int s = 0; s < m; s++)
          sum[p] += a[r][q][s] * c[s][p];
      }
      for (int p = 0; p < m; p++)
        a[r][q][p] = sum[p];
    }
}

/* That no more is read than is written, the entry sees. */
COMPUTE static void ranges(double (*a)[WIDTH], double *t, double *sums, int n, int written, int read)
{
  for (int i = 0; i < n; i++) { /* loop ranges */
    double sum = 0;
    for (int j = 0; j < written; j++)
      t[j] = a[i][j] * 0.5;
    for (int j = 0; j < read; j++)
      sum = sum * 0.75 + t[j];
    sums[i] = sum;
  }
}

/* What the first turn reads nobody writes. */
COMPUTE static void recurrence(double *t, double (*to)[WIDTH], double (*from)[WIDTH], int n)
{
  for (int i = 0; i < n; i++) { /* loop recurrence */
    for (int j = 2; j < WIDTH; j++) {
      t[j] = 1.0 - t[j - 1] * 0.5 + t[j - 2];
      to[i][j] = t[j] + from[i][j];
    }
    to[i][0] = t[0] + t[1];
  }
}

COMPUTE static void backwards(float *t, float (*to)[WIDTH], int n)
{
  for (int i = n - 1; i >= 0; i--) { /* loop backwards */
    for (int j = WIDTH - 2; j >= 0; j--) {
      t[j] = t[j + 1] * 0.5f + (float)i;
      to[i][j] += t[j];
    }
    to[i][WIDTH - 1] = t[0];
  }
}

COMPUTE static void cell(double *t, double (*a)[WIDTH], double (*b)[WIDTH], int k, int n)
{
  for (int j = 0; j < n; j++) { /* loop cell */
    t[k] = a[j][k] - t[k - 1];
    a[j][k] = t[k] + b[j][k];
  }
}

/* One element, perhaps none that was written. */
COMPUTE static void element(double *t, double (*a)[WIDTH], double *out, int n, int m, int k)
{
  for (int i = 0; i < n; i++) { /* loop element */
    for (int j = 0; j < m; j++)
      t[j] = a[i][j] + 1.0;
    out[i] = t[k] * 2.0;
  }
}

/* Two arrays at once, a sum of integers and the last value of a variable. */
static long room[WIDTH];

COMPUTE static long both(int *t, int (*a)[WIDTH], int n, int m, int *last)
{
  long sum = 0;
  int late = 0;
  for (int i = 0; i < n; i++) { /* loop both */
    for (int j = 0; j < m; j++) {
      t[j] = a[i][j] * 3;
      if (a[i][j] & 1)
        t[j] = a[i][j] - i;
      room[j] = t[j] * 5L;
    }
    for (int j = 0; j < m; j++) {
      sum += t[j];
      a[i][j] = (int)(room[m - 1 - j] >> 3) ^ t[j];
    }
    late = i ^ t[0];
  }
  *last = late;
  return sum;
}

/* The bound lies in memory, perhaps in the very array. */
COMPUTE static void bounded(int *t, int (*a)[WIDTH], const int *bound, int n)
{
  for (int i = 0; i < n; i++) { /* loop bounded */
    for (int j = 0; j < *bound; j++)
      t[j] = 12 + (a[i][j] & 7);
    for (int j = 0; j < *bound; j++)
      a[i][j] += t[j] ^ 0x55;
  }
}

COMPUTE static void bytes(unsigned char *t, const unsigned char *from, unsigned char (*to)[WIDTH], size_t n, size_t m)
{
  for (size_t i = 0; i < n; i++) { /* loop bytes */
    for (size_t j = 0; j < m; j++)
      t[j] = (unsigned char)(from[j] + i);
    for (size_t j = 0; j < m; j++)
      to[i][j] = (unsigned char)(t[m - 1 - j] ^ t[j]);
  }
}

static double table[WIDTH];

COMPUTE static void constant(double (*a)[WIDTH], int n)
{
  for (int i = 0; i < n; i++) { /* loop constant */
    for (int j = 0; j < WIDTH; j++)
      table[j] = a[i][WIDTH - 1 - j];
    for (int j = 0; j < WIDTH; j++)
      a[i][j] = table[j] * 0.5 + table[0];
  }
}

/* Near misses. An element that is not written is what an earlier iteration has left. */
COMPUTE static void conditional(double *t, double (*a)[WIDTH], int n)
{
  for (int i = 0; i < n; i++) { /* loop conditional */
    for (int j = 0; j < WIDTH; j++)
      if (a[i][j] > a[i][WIDTH - 1 - j])
        t[j] = a[i][j];
    for (int j = 0; j < WIDTH; j++)
      a[i][j] = t[j] * 2.0;
  }
}

/* The element behind the window is written by every iteration, after all have read it. */
COMPUTE static void beyond(double *t, double (*a)[WIDTH], int n)
{
  for (int i = 0; i < n; i++) { /* loop beyond */
    for (int j = 0; j < WIDTH - 1; j++)
      t[j] = a[i][j];
    for (int j = 0; j < WIDTH; j++)
      a[i][j] = t[j] * 2.0;
    t[WIDTH - 1] = a[i][3];
  }
}

COMPUTE static void before(double *t, double (*a)[WIDTH], int n)
{
  for (int i = 0; i < n; i++) { /* loop before */
    for (int j = 0; j < WIDTH - 1; j++) {
      double next = t[j + 1];
      t[j] = a[i][j] * 0.5;
      a[i][j] = t[j] + next;
    }
    t[WIDTH - 1] = a[i][0];
  }
}

COMPUTE static void accumulates(double *t, double (*a)[WIDTH], int n)
{
  for (int i = 0; i < n; i++) { /* loop accumulates */
    for (int j = 0; j < WIDTH; j++)
      t[j] += a[i][j];
    for (int j = 0; j < WIDTH; j++)
      a[i][j] = t[j];
  }
}

COMPUTE static void growing(double *t, double (*a)[WIDTH], int n)
{
  for (int i = 0; i < n; i++) { /* loop growing */
    for (int j = 0; j < i % WIDTH; j++)
      t[j] = a[i][j];
    for (int j = 0; j < WIDTH; j++)
      a[i][j] = t[j];
  }
}

/* What one store writes is all that is read, but another one writes elsewhere, sometimes. */
COMPUTE static void other(double *t, double (*a)[WIDTH], int n)
{
  for (int i = 0; i < n; i++) { /* loop other */
    for (int j = 0; j < WIDTH - 1; j++)
      t[j] = a[i][j];
    for (int j = 0; j < WIDTH - 1; j++)
      a[i][j] = t[j] * 0.5;
    if (a[i][0] > 0.5)
      t[WIDTH - 1] = a[i][1];
    a[i][WIDTH - 1] = t[WIDTH - 1];
  }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "overlap", "longer", "empty", NULL};
  struct check check = check_open(argc, argv, 20000, inputs);
  size_t n = check.size;
  int size = (int)n;
  /* Behind each row of rows there is room for one element more. */
  double(*a)[WIDTH] = check_alloc(&check, n + 2, sizeof *a), (*b)[WIDTH] = check_alloc(&check, n + 2, sizeof *b);
  double(*planes)[2][WIDTH] = check_alloc(&check, n + 2, sizeof *planes);
  double(*c)[WIDTH] = check_alloc(&check, WIDTH, sizeof *c);
  double *t = check_alloc(&check, 4 * WIDTH, sizeof *t), *out = check_alloc(&check, n, sizeof *out);
  float(*f)[WIDTH] = check_alloc(&check, n, sizeof *f), *g = check_alloc(&check, WIDTH, sizeof *g);
  int(*numbers)[WIDTH] = check_alloc(&check, n + 2, sizeof *numbers), *own = check_alloc(&check, WIDTH, sizeof *own);
  int *space = check_alloc(&check, WIDTH, sizeof *space);
  unsigned char(*p)[WIDTH] = check_alloc(&check, n, sizeof *p), *q = check_alloc(&check, 4 * WIDTH, sizeof *q);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_double(&check, &a[0][0], (n + 2) * WIDTH);
    fill_double(&check, &b[0][0], (n + 2) * WIDTH);
    fill_double(&check, &planes[0][0][0], (n + 2) * 2 * WIDTH);
    fill_double(&check, &c[0][0], WIDTH * WIDTH);
    fill_double(&check, t, 4 * WIDTH);
    fill_float(&check, &f[0][0], n * WIDTH);
    fill_float(&check, g, WIDTH);
    for (size_t i = 0; i < n; i++)
      for (size_t j = 0; j < WIDTH; j++) {
        numbers[i][j] = (int)check_below(&check, 1000);
        p[i][j] = (unsigned char)check_below(&check, 256);
      }
    for (size_t j = 0; j < 4 * WIDTH; j++)
      q[j] = (unsigned char)check_below(&check, 256);
    for (size_t j = 0; j < WIDTH; j++)
      own[j] = space[j] = 20;
    int overlap = check_is(&check, "overlap"), empty = check_is(&check, "empty");
    int written = empty ? 0 : WIDTH, read = check_is(&check, "longer") ? WIDTH + 1 : WIDTH;
    int *bound = overlap ? space + 5 : space, last = 0;
    check_start(&check);
    /* The last element of the one is the first of the other. */
    transform(planes, c, overlap ? &planes[n - 1][1][WIDTH - 1] : t, size, written);
    ranges(a, overlap ? &a[n - 1][WIDTH - 1] : t, out, size, written, read);
    recurrence(t, a, b, size);
    backwards(g, f, size);
    cell(t, a, b, 7, size);
    element(t, a, out, size, written, read == WIDTH ? 5 : WIDTH);
    long sum = both(overlap ? &numbers[n - 1][WIDTH - 1] : own, numbers, size, WIDTH, &last);
    bounded(space + 1, numbers, bound, size);
    bytes(q, overlap ? q + WIDTH - 1 : q + WIDTH, p, n, WIDTH);
    constant(a, size);
    conditional(t, a, size);
    beyond(t, a, size);
    before(t + WIDTH, a, size);
    accumulates(t, b, size);
    growing(t, b, size);
    other(t, a, size);
    check_stop(&check);
    check_array(&check, "planes", planes, n + 2, sizeof *planes);
    check_array(&check, "a", a, n + 2, sizeof *a);
    check_array(&check, "b", b, n, sizeof *b);
    check_array(&check, "t", t, 4 * WIDTH, sizeof *t);
    check_array(&check, "out", out, n, sizeof *out);
    check_array(&check, "f", f, n, sizeof *f);
    check_array(&check, "g", g, WIDTH, sizeof *g);
    check_array(&check, "numbers", numbers, n + 2, sizeof *numbers);
    check_array(&check, "own", own, WIDTH, sizeof *own);
    check_array(&check, "room", room, WIDTH, sizeof *room);
    check_array(&check, "space", space, WIDTH, sizeof *space);
    check_array(&check, "p", p, n, sizeof *p);
    check_array(&check, "q", q, 4 * WIDTH, sizeof *q);
    check_array(&check, "table", table, WIDTH, sizeof *table);
    check_array(&check, "sum", &sum, 1, sizeof sum);
    check_array(&check, "last", &last, 1, sizeof last);
  }
  free(a);
  free(b);
  free(planes);
  free(c);
  free(t);
  free(out);
  free(f);
  free(g);
  free(numbers);
  free(own);
  free(space);
  free(p);
  free(q);
  return check_close(&check);
}
