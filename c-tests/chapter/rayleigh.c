/* Rayleigh quotient iteration (the chapter's figure 4.13): an eigenvalue of a sparse symmetric matrix, its linear systems
 * solved by BiCGSTAB. The loop that computes A - mu*I finds the diagonal through an index array, so a compiler can't know
 * that it is parallel. `waw` makes every twentieth of its iterations write where another one does, as in the chapter's
 * case study; the matrix is another one then, and so is the answer. `call` has a conflict in every twentieth call of the loop only, the third one
 * first: two of its iterations, which stand in the index array for the time of that call.
 *
 * test size: 1003
 * expect shift: runs on clean
 * expect product: runs on clean
 * expect shift: conflicts on waw one every call
 * order does not show on waw one every call */
#include "../support/inputs.h"
#include <math.h>

typedef struct {
  size_t rows, stored;
  unsigned *start; /* rows + 1 */
  unsigned *column;
  double *value;
  unsigned *diagonal; /* where each row's diagonal element is */
} matrix;

/* y = A x */
COMPUTE static void product(const matrix *a, const double *x, double *y)
{
  const unsigned *start = a->start, *column = a->column;
  const double *value = a->value;
  for (size_t i = 0; i < a->rows; i++) { /* loop product */
    double sum = 0.0;
    for (unsigned k = start[i]; k < start[i + 1]; k++)
      sum += value[k] * x[column[k]];
    y[i] = sum;
  }
}

/* shifted = A - mu I */
COMPUTE static void shift(const matrix *a, double mu, matrix *shifted)
{
  const unsigned *diagonal = a->diagonal;
  double *value = shifted->value;
  for (size_t k = 0; k < a->stored; k++) /* loop copy */
    value[k] = a->value[k];
  for (size_t i = 0; i < a->rows; i++) /* loop shift */
    value[diagonal[i]] = value[diagonal[i]] - mu;
}

COMPUTE static double dot(size_t n, const double *x, const double *y)
{
  double sum = 0.0;
  for (size_t i = 0; i < n; i++)
    sum += x[i] * y[i];
  return sum;
}

static double norm(size_t n, const double *x)
{
  return sqrt(dot(n, x, x));
}

/* z = x + a y; z may be x or y */
COMPUTE static void add_scaled(size_t n, const double *x, double a, const double *y, double *z)
{
  for (size_t i = 0; i < n; i++) /* loop add */
    z[i] = x[i] + a * y[i];
}

COMPUTE static void divide(size_t n, const double *x, double by, double *z)
{
  for (size_t i = 0; i < n; i++) /* loop divide */
    z[i] = x[i] / by;
}

/* Solves A y = b by BiCGSTAB. `work` are six vectors. Returns the number of iterations. */
static int solve(const matrix *a, const double *b, double *y, double **work, double tolerance, int most)
{
  size_t n = a->rows;
  double *r = work[0], *shadow = work[1], *p = work[2], *v = work[3], *s = work[4], *t = work[5];
  double goal = tolerance * norm(n, b);
  memset(y, 0, n * sizeof *y);
  memcpy(r, b, n * sizeof *r);
  memcpy(shadow, b, n * sizeof *shadow);
  memset(p, 0, n * sizeof *p);
  memset(v, 0, n * sizeof *v);
  double rho = 1.0, alpha = 1.0, omega = 1.0;
  for (int iteration = 1; iteration <= most; iteration++) {
    double next = dot(n, shadow, r);
    if (next == 0.0)
      return iteration;
    double beta = next / rho * (alpha / omega);
    rho = next;
    add_scaled(n, p, -omega, v, p);
    add_scaled(n, r, beta, p, p);
    product(a, p, v);
    double projection = dot(n, shadow, v);
    if (projection == 0.0)
      return iteration;
    alpha = rho / projection;
    add_scaled(n, r, -alpha, v, s);
    product(a, s, t);
    double length = dot(n, t, t);
    if (length == 0.0)
      return iteration;
    omega = dot(n, t, s) / length;
    add_scaled(n, y, alpha, p, y);
    add_scaled(n, y, omega, s, y);
    add_scaled(n, s, -omega, t, r);
    if (omega == 0.0 || norm(n, r) <= goal)
      return iteration;
  }
  return most;
}

/* A symmetric matrix whose diagonal grows along the rows, coupled weakly: to the next row, and at random. */
static matrix make_matrix(struct check *c)
{
  matrix a = {.rows = c->size};
  size_t n = a.rows;
  unsigned *far = check_alloc(c, n, sizeof *far); /* a partner of each row, the same seen from both */
  for (size_t i = 0; i < n; i++)
    far[i] = (unsigned)i;
  for (size_t i = 0; i < n / 2; i++) {
    size_t other = n / 2 + check_below(c, n - n / 2);
    if (far[other] == other && other > i + 1) {
      far[i] = (unsigned)other;
      far[other] = (unsigned)i;
    }
  }
  a.start = check_alloc(c, n + 1, sizeof *a.start);
  a.column = check_alloc(c, 4 * n, sizeof *a.column);
  a.value = check_alloc(c, 4 * n, sizeof *a.value);
  a.diagonal = check_alloc(c, n, sizeof *a.diagonal);
  size_t next = 0;
  for (size_t i = 0; i < n; i++) {
    a.start[i] = (unsigned)next;
    size_t columns[4], count = 0;
    if (far[i] < i)
      columns[count++] = far[i];
    if (i > 0)
      columns[count++] = i - 1;
    columns[count++] = i;
    if (i + 1 < n)
      columns[count++] = i + 1;
    if (far[i] > i && count < 4)
      columns[count++] = far[i];
    for (size_t k = 0; k < count; k++, next++) {
      a.column[next] = (unsigned)columns[k];
      if (columns[k] == i) {
        a.diagonal[i] = (unsigned)next;
        a.value[next] = 2.0 + 8.0 * (double)i / (double)n + (i == n / 3 ? 16.0 : 0.0);
      } else {
        a.value[next] = columns[k] + 1 == i || i + 1 == columns[k] ? -0.25 : 0.125;
      }
    }
  }
  a.start[n] = (unsigned)next;
  a.stored = next;
  free(far);
  return a;
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "waw", "one", "every", "call", NULL};
  struct check check = check_open(argc, argv, 1u << 20, inputs);
  size_t n = check.size;
  enum { VECTORS = 8 };
  double **vectors = check_alloc(&check, VECTORS, sizeof *vectors);
  for (int i = 0; i < VECTORS; i++)
    vectors[i] = check_alloc(&check, n, sizeof **vectors);
  /* Calls of `shift`, of all repetitions. */
  int calls = 0;

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    matrix a = make_matrix(&check), shifted = a;
    shifted.value = check_alloc(&check, a.stored, sizeof *shifted.value);
    if (check_is(&check, "waw")) {
      for (size_t i = 20; i < n; i += 20)
        a.diagonal[i] = a.diagonal[i - 1];
    } else if (check_is(&check, "one")) {
      struct couple couple = pick_couple(&check, n);
      a.diagonal[couple.second] = a.diagonal[couple.first];
    } else if (check_is(&check, "every")) {
      for (size_t i = 1; i < n; i += 2)
        a.diagonal[i] = a.diagonal[i - 1];
      a.diagonal[n - 1] = a.diagonal[n - 2];
    }
    struct couple met = {0, 0};
    if (check_is(&check, "call"))
      met = pick_couple(&check, n);
    double *x = vectors[0], *y = vectors[1], **work = vectors + 2;
    for (size_t i = 0; i < n; i++)
      x[i] = (i == n / 3 ? 2.0 : 0.0) + 0.1 * (check_real(&check) - 0.5) / sqrt((double)n);

    check_start(&check);
    double mu = 17.5, error = 1.0;
    int iterations = 0, inner = 0;
    divide(n, x, norm(n, x), x);
    while (error > 1e-9 && iterations < 12) {
      unsigned own = a.diagonal[met.second];
      if (check_is(&check, "call") && calls++ % 20 == 2)
        a.diagonal[met.second] = a.diagonal[met.first];
      shift(&a, mu, &shifted);
      a.diagonal[met.second] = own;
      inner += solve(&shifted, x, y, work, 1e-10, 60);
      double lambda = dot(n, y, x);
      mu = mu + 1.0 / lambda;
      double length = norm(n, y);
      add_scaled(n, y, -lambda, x, work[0]);
      error = norm(n, work[0]) / length;
      divide(n, y, length, x);
      iterations++;
    }
    /* How far A x is from mu x. */
    product(&a, x, work[0]);
    add_scaled(n, work[0], -mu, x, work[0]);
    double residual = norm(n, work[0]);
    check_stop(&check);

    printf("eigenvalue %.15g\niterations %d (%d of BiCGSTAB)\nresidual %.3g\n", mu, iterations, inner, residual);
    check_array(&check, "x", x, n, sizeof *x);
    check_array(&check, "y", y, n, sizeof *y);
    check_array(&check, "A - mu*I", shifted.value, a.stored, sizeof *shifted.value);
    free(shifted.value);
    free(a.start);
    free(a.column);
    free(a.value);
    free(a.diagonal);
  }
  for (int i = 0; i < VECTORS; i++)
    free(vectors[i]);
  free(vectors);
  return check_close(&check);
}
