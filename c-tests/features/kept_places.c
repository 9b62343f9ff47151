/* Reductions in memory, at addresses that the loop doesn't change: globals, struct members, array elements, through pointers,
 * locals whose address is taken, conditional ones, extremes with their place. Then the same where something else in the loop
 * is the same memory: an element that is read, one that is stored, the bound, the place itself under another name.
 *
 * test size: 3001
 * expect members: runs on clean
 * expect globals: runs on clean
 * expect element: runs on clean
 * expect own_array: runs on clean
 * expect matrix: runs on clean
 * expect record: runs on clean
 * expect rarely: runs on clean
 * expect two: runs on clean
 * expect address_taken: runs on clean
 * expect stores: runs on clean
 * expect bound: runs on clean
 * expect nest: runs on clean
 * expect pointer: runs on clean */
#include "../support/inputs.h"

struct inner {
  short narrow;
  unsigned char low;
};

struct record {
  int n;
  long sum;
  double worst;
  int worst_at;
  struct inner inner;
  unsigned bits;
  int data[8];
};

long total;
static unsigned product;
int matches;
static long *through;

COMPUTE static void members(struct record *r, int n, const int *a)
{
  for (int i = 0; i < n; i++) { /* loop members */
    r->sum += (long)a[i] * 3;
    r->inner.narrow -= a[i];
    r->inner.low ^= a[i];
    r->bits |= a[i] & 0xf0f;
    r->n++;
  }
}

COMPUTE static void globals(int n, const int *a)
{
  for (int i = 0; i < n; i++) { /* loop globals */
    total += a[i];
    product *= a[i] | 1;
    if (a[i] & 4)
      matches++;
  }
}

COMPUTE static void element(int *c, int n, const int *a)
{
  for (int i = 0; i < n; i++) /* loop element */
    c[0] += a[i];
}

COMPUTE static void own_array(int *c, int n)
{
  for (int i = 1; i < n; i++) /* loop own_array */
    c[0] += c[i];
}

COMPUTE static void matrix(long *m, int columns, int row, int column, int n, const int *a, const int *b)
{
  for (int k = 0; k < n; k++) /* loop matrix */
    m[row * columns + column] += (long)a[k] * b[k];
}

COMPUTE static void record(struct record *r, int n, const double *a)
{
  for (int i = 0; i < n; i++) { /* loop record */
    if (a[i] > r->worst) {
      r->worst = a[i];
      r->worst_at = i;
    }
  }
}

/* Nothing may be touched where the condition never holds: `r` leads nowhere then. */
COMPUTE static void rarely(struct record *r, int n, const int *a, int limit)
{
  for (int i = 0; i < n; i++) /* loop rarely */
    if (a[i] > limit) {
      r->sum += a[i];
      r->data[3] = r->data[3] < a[i] ? a[i] : r->data[3];
    }
}

COMPUTE static void two(int *p, int *q, int n, const int *a)
{
  for (int i = 0; i < n; i++) { /* loop two */
    *p += a[i];
    *q ^= a[i];
  }
}

COMPUTE static int address_taken(int n, const int *a)
{
  int sum = 7, *at = &sum;
  for (int i = 0; i < n; i++) /* loop address_taken */
    sum += a[i];
  return *at;
}

COMPUTE static void stores(int *p, int *b, int n, const int *a)
{
  for (int i = 0; i < n; i++) { /* loop stores */
    b[i] = a[i] * 2;
    *p += a[i];
  }
}

/* Where the place is the bound, each iteration moves it. */
COMPUTE static void bound(int *p, const int *n, const int *a)
{
  for (int i = 0; i < *n; i++) /* loop bound */
    *p += a[i] & 1;
}

COMPUTE static void nest(struct record *r, int rows, int columns, const int *a)
{
  for (int i = 0; i < rows; i++) /* loop nest */
    for (int j = 0; j < columns; j++)
      r->sum += a[i * columns + j];
}

COMPUTE static void pointer(int n, const int *a)
{
  for (int i = 0; i < n; i++) /* loop pointer */
    *through -= a[i];
}

/* None of these may be kept: another type through a union, an address that moves, one that is read in between. */
union both {
  int whole;
  float real;
  short parts[2];
};

COMPUTE static void others(union both *u, int **moving, int *c, int n, const int *a, int *out)
{
  for (int i = 0; i < n; i++) { /* loop union */
    u->whole += a[i] & 15;
    u->parts[1] += 1;
  }
  for (int i = 0; i < n; i++) { /* loop moving */
    **moving += a[i];
    *moving = a[i] & 1 ? c : c + 1;
  }
  for (int i = 0; i < n; i++) { /* loop prefix */
    c[2] += a[i];
    out[i] = c[2];
  }
  for (int i = 0; i < n; i++) { /* loop last */
    c[3] = a[i];
    c[4] += c[3];
  }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "overlap", NULL};
  struct check check = check_open(argc, argv, 1u << 20, inputs);
  size_t n = check.size;
  int overlap = check_is(&check, "overlap");
  int *a = check_alloc(&check, n + 8, sizeof *a), *b = check_alloc(&check, n + 8, sizeof *b);
  int *out = check_alloc(&check, n, sizeof *out), *c = check_alloc(&check, 8, sizeof *c);
  double *d = check_alloc(&check, n, sizeof *d);

  for (int r = 0; r < check.repeat; r++) {
    struct record record_;
    union both u;
    long m[12] = {0}, sum = 1;
    int p = 5, q = 6, bound_ = (int)n / 2, *moving = c;
    memset(&record_, 0, sizeof record_);
    memset(&u, 0, sizeof u);
    memset(c, 0, 8 * sizeof *c);
    memset(out, 0, n * sizeof *out);
    total = -1, product = 3, matches = 0;
    through = &sum;
    check_begin(&check);
    fill_double(&check, d, n);
    for (size_t i = 0; i < n + 8; i++) {
      a[i] = (int)check_random(&check) >> 12;
      b[i] = (int)i;
    }
    check_start(&check);
    members(&record_, (int)n, a);
    globals((int)n, a);
    element(overlap ? a + n / 2 : b + n + 1, (int)n, a);
    element(overlap ? (int *)&total : b, 1, a);
    own_array(b, (int)n);
    matrix(m, 4, 2, 1, (int)n, a, b);
    record(&record_, (int)n, d);
    rarely(NULL, (int)n, a, 1 << 30);
    rarely(&record_, (int)n, a, 5);
    two(&p, overlap ? &p : &q, (int)n, a);
    stores(overlap ? b + n / 3 : &q, b, (int)n, a);
    stores(overlap ? a + n - 1 : &q, b, (int)n, a);
    stores(&q, overlap ? a + 1 : b, (int)n, a);
    bound(overlap ? &bound_ : &q, &bound_, a);
    nest(&record_, (int)n / 50, 50, a);
    if (overlap)
      through = (long *)(void *)(a + (((size_t)a & 7) != 0));
    pointer((int)n, a);
    through = (long *)(void *)&through;
    if (overlap)
      pointer(1, a + 5);
    others(&u, &moving, c, (int)n, a, out);
    q += address_taken((int)n, a);
    check_stop(&check);
    printf("%ld %u %d %d %d %ld %d\n", total, product, matches, p, q, sum, bound_);
    printf("%d %ld %g %d %d %d %u %d\n", record_.n, record_.sum, record_.worst, record_.worst_at, record_.inner.narrow,
           record_.inner.low, record_.bits, record_.data[3]);
    check_array(&check, "matrix", m, 12, sizeof *m);
    check_array(&check, "a", a, n + 8, sizeof *a);
    check_array(&check, "b", b, n + 8, sizeof *b);
    check_array(&check, "c", c, 8, sizeof *c);
    check_array(&check, "out", out, n, sizeof *out);
    check_array(&check, "union", &u, 1, sizeof u);
  }
  free(a);
  free(b);
  free(c);
  free(d);
  free(out);
  return check_close(&check);
}
