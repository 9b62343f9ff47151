/* Inner loops whose number of turns each iteration finds in memory: the lanes of a warp may run an iteration together, each making
 * what another turn needs. Rows have no turn, one, about as many as a warp has lanes, or thousands; what turns make of each other, and
 * what they must not make before they come to it, shows in the results.
 *
 * test size: 203
 * expect product: runs on clean
 * expect preset: runs on clean
 * expect eliminate: runs on clean
 * expect shrink: runs on clean
 * expect hash: runs on clean
 * expect divide: runs on clean
 * expect twice: runs on clean
 * expect steps: runs on clean
 * expect update: runs on clean
 * expect points: runs on clean
 * expect fields: runs on clean
 * expect prefix: runs on clean
 * expect mask: runs on clean
 * expect outer: runs on clean
 * expect some: runs on clean
 * expect last: runs on clean
 * expect below: runs on clean */
#include "../support/inputs.h"

COMPUTE static void product(int n, const int *begin, const int *column, const double *value, const double *x, double *y)
{
  for (int i = 0; i < n; i++) { /* loop product */
    double sum = 0.0;
    for (int k = begin[i]; k < begin[i + 1]; k++)
      sum += value[k] * x[column[k]];
    y[i] = sum;
  }
}

/* What an iteration stores in front of its turns they load, if `column` is its own. */
COMPUTE static void preset(int n, const int *begin, const int *column, const double *value, double *x)
{
  for (int i = 0; i < n; i++) { /* loop preset */
    double sum = 0.0;
    x[i] = x[i] * 0.5 + 0.25;
    for (int k = begin[i]; k < begin[i + 1]; k++)
      sum += value[k] * x[column[k]];
    x[i] = sum;
  }
}

/* Each turn stores what a later turn of the same row may load. */
COMPUTE static void eliminate(int n, const int *order, const int *begin, const int *column, const double *value, double *x)
{
  for (int p = 0; p < n; p++) { /* loop eliminate */
    int i = order[p];
    for (int k = begin[i]; k < begin[i + 1]; k++)
      x[i] = x[i] - value[k] * x[column[k]];
  }
}

/* What says how many turns there are is stored by them. */
COMPUTE static void shrink(int n, int *length, const int *by, int *turns)
{
  for (int i = 0; i < n; i++) { /* loop shrink */
    int done = 0;
    for (int k = 0; k < length[i]; k++) {
      length[i] -= by[k & 63];
      done++;
    }
    turns[i] = done;
  }
}

COMPUTE static void hash(size_t n, const size_t *start, const char *text, const short *weight, unsigned *hashes, int *found)
{
  for (size_t i = 0; i < n; i++) { /* loop hash */
    unsigned hash = 5381;
    int seen = 0;
    for (size_t k = start[i]; k < start[i + 1]; k++) {
      char c = text[k];
      if (c == 'x')
        seen += weight[k & 255];
      hash = hash * 31 + (unsigned char)c + (unsigned)weight[hash & 255];
    }
    hashes[i] = hash;
    found[i] = seen;
  }
}

/* Divisors are zero where nobody divides. */
COMPUTE static void divide(int n, const int *begin, const unsigned char *is_there, const int *divisor, const int *a, long *out)
{
  for (int i = 0; i < n; i++) { /* loop divide */
    long sum = 0;
    for (int k = begin[i]; k < begin[i + 1]; k++) {
      if (is_there[k])
        sum = (sum & 0xffffff) * 3 + a[k] / divisor[k];
      sum ^= is_there[k] && a[k] % divisor[k] > 2;
      sum += a[k] > 50 ? divisor[k] : 7;
    }
    out[i] = sum;
  }
}

COMPUTE static void twice(int n, const int *begin, const float *a, const float *b, float *out)
{
  for (int i = 0; i < n; i++) { /* loop twice */
    float most = 1e-3f, sum = 0.0f;
    for (int k = begin[i]; k < begin[i + 1]; k++)
      most = a[k] > most ? a[k] : most;
    for (int k = begin[i]; k < begin[i + 1]; k++)
      sum += a[k] / most * b[k] - b[begin[i]];
    out[2 * i] = most;
    out[2 * i + 1] = sum;
  }
}

/* A turn's address follows from the turn before. */
COMPUTE static void steps(int n, const int *begin, const int *next, const int *add, int *out)
{
  for (int i = 0; i < n; i++) { /* loop steps */
    int at = i, sum = 0;
    for (int k = begin[i]; k < begin[i + 1]; k++) {
      at = next[(at + add[k]) & 1023];
      sum = (sum & 0xffffff) * 5 + at;
    }
    out[i] = sum;
  }
}

/* Each turn stores to a place of its own, which another turn of the row may load. */
COMPUTE static void update(int n, const int *begin, const int *column, const double *x, const double *y, double *value)
{
  for (int i = 0; i < n; i++) { /* loop update */
    double scaled = 0.25 * x[i];
    for (int k = begin[i]; k < begin[i + 1]; k++)
      value[k] = value[k] * 0.5 + scaled * y[column[k]];
  }
}

/* Places that lie near each other, but not side by side; the value goes from turn to turn. */
typedef struct {
  float x, y, z;
} point;
COMPUTE static void points(int n, const int *begin, const float *weight, point *p, float *last)
{
  for (int i = 0; i < n; i++) { /* loop points */
    float sum = 0.0f;
    for (int k = begin[i]; k < begin[i + 1]; k++) {
      p[k].y = p[k].y * 0.5f + weight[k];
      sum = sum * 0.25f + p[k].y;
    }
    last[i] = sum;
  }
}

/* Between the places that turns store to lie others, which they load, of their own turn and of others. */
COMPUTE static void fields(int n, const int *begin, const int *partner, point *p)
{
  for (int i = 0; i < n; i++) /* loop fields */
    for (int k = begin[i]; k < begin[i + 1]; k++)
      p[k].y = p[k].y * 0.5f + p[k].x * 0.001f - p[partner[k]].z;
}

/* What is loaded is wider than what is stored. To the reduction log what an iteration loads before it stores it is a conflict, so nothing is
 * expected of this loop and the next. */
typedef union {
  struct {
    int x, y;
  } one;
  long both;
} couple_of_ints;
COMPUTE static void both(int n, const int *begin, const int *partner, couple_of_ints *p)
{
  for (int i = 0; i < n; i++) /* loop both */
    for (int k = begin[i]; k < begin[i + 1]; k++)
      p[k].one.y = (int)((unsigned long)p[partner[k]].both >> 34) + p[k].one.x;
}

/* Each turn loads what the next one stores to, or what the one before has stored. */
COMPUTE static void forwards(int n, const int *begin, const double *x, double *value)
{
  for (int i = 0; i < n; i++) /* loop forwards */
    for (int k = begin[i]; k < begin[i + 1] - 1; k++)
      value[k] = value[k + 1] * 0.5 + x[i];
}
COMPUTE static void prefix(int n, const int *begin, const float *in, float *out)
{
  for (int i = 0; i < n; i++) /* loop prefix */
    for (int k = begin[i] + 1; k < begin[i + 1]; k++)
      out[k] = out[k - 1] * 0.5f + in[k];
}

/* Turns that store and load nothing there. */
COMPUTE static void mask(int n, const int *begin, const unsigned char *in, unsigned char *out)
{
  for (int i = 0; i < n; i++) { /* loop mask */
    unsigned char last = (unsigned char)i;
    for (int k = begin[i]; k < begin[i + 1]; k++) {
      last = (unsigned char)(in[k] ^ last << 1);
      out[k] = last;
    }
  }
}

/* Turns that carry nothing on: lanes take them side by side. What is stored there the row's own turns load. */
COMPUTE static void outer(int n, const int *begin, const int *column, const double *x, const double *y, double *value, double *sums)
{
  for (int i = 0; i < n; i++) { /* loop outer */
    const double by = 0.5 + x[i];
    double sum = 0.0;
    for (int k = begin[i]; k < begin[i + 1]; k++)
      value[k] = value[k] * 0.25 + by * y[column[k]];
    for (int k = begin[i]; k < begin[i + 1]; k++)
      sum = sum * 0.5 + value[k];
    sums[i] = sum;
  }
}
/* The same where only some store, and twice, and rows are short. Divisors are zero where nobody divides. */
COMPUTE static void some(int n, const int *few, const unsigned char *is_there, const int *divisor, const int *a, int *out)
{
  for (int i = 0; i < n; i++) { /* loop some */
    const int own = a[few[i]];
    for (int k = few[i]; k < few[i + 1]; k++) {
      const int by = a[k] * 7 + own;
      if (is_there[k]) {
        out[k] = by / divisor[k];
        out[k] += i;
      }
    }
  }
}

/* Steps that use the variable after they have moved it. */
COMPUTE static void behind(int n, const int *begin, const int *a, int *out)
{
  for (int i = 0; i < n; i++) { /* loop behind */
    int sum = 0;
    for (int k = begin[i]; k < begin[i + 1] - 1; k++, sum = (sum & 0xffffff) * 3 + a[k])
      ;
    out[i] = sum;
  }
}
enum { WIDTH = 16 };
COMPUTE static void into_next(int n, double *a, double *out)
{
  for (int i = 0; i < n; i++) { /* loop into_next */
    double t = a[i * WIDTH];
    for (int k = 0; k < WIDTH; k++, a[i * WIDTH + k] = t)
      t = t * 0.75 + 1;
    out[i] = t;
  }
}

/* Turns store to one place and load nothing through what they store to; but the first one may load what is there. */
COMPUTE static void last(int n, const int *begin, const int *column, const double *value, const double *x, double *y)
{
  for (int i = 0; i < n; i++) { /* loop last */
    double sum = 0.0;
    for (int k = begin[i]; k < begin[i + 1]; k++) {
      sum = sum * 0.5 + value[k] * x[column[k]];
      y[i] = sum;
    }
  }
}

/* Pointers that are compared, where nothing is loaded through them. */
COMPUTE static void below(int n, const int *begin, const int *column, const double *value, const double *x, const double *limit, double *y)
{
  for (int i = 0; i < n; i++) { /* loop below */
    double sum = 0.0;
    for (int k = begin[i]; k < begin[i + 1]; k++)
      sum += value[k] * x[column[k]] * (double)(value + k < limit);
    y[i] = sum;
  }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "own", "raw", NULL};
  static const int lengths[] = {0, 1, 31, 32, 33, 64, 100};
  struct check check = check_open(argc, argv, 20000, inputs);
  int n = (int)check.size;
  int *begin = check_alloc(&check, n + 1, sizeof *begin), *order = check_alloc(&check, n, sizeof *order);
  size_t *start = check_alloc(&check, n + 1, sizeof *start);
  for (int i = 0; i <= n; i++) {
    begin[i] = i == 0 ? 0 : begin[i - 1] + (i == n / 2 ? 9001 : lengths[check_below(&check, 7)]);
    start[i] = (size_t)begin[i];
  }
  size_t m = begin[n];
  int *few = check_alloc(&check, n + 1, sizeof *few);
  for (int i = 0; i < n; i++)
    few[i + 1] = few[i] + (int)check_below(&check, 8);
  int *divided = check_alloc(&check, m, sizeof *divided);
  double *scaled = check_alloc(&check, m, sizeof *scaled), *sums = check_alloc(&check, n, sizeof *sums);
  int *column = check_alloc(&check, m, sizeof *column), *divisor = check_alloc(&check, m, sizeof *divisor);
  int *a = check_alloc(&check, m, sizeof *a), *by = check_alloc(&check, 64, sizeof *by);
  int *next = check_alloc(&check, 1024, sizeof *next), *length = check_alloc(&check, n, sizeof *length);
  int *turns = check_alloc(&check, n, sizeof *turns), *found = check_alloc(&check, n, sizeof *found);
  int *walked = check_alloc(&check, n, sizeof *walked);
  double *value = check_alloc(&check, m, sizeof *value), *x = check_alloc(&check, 2 * n, sizeof *x);
  double *y = check_alloc(&check, n, sizeof *y);
  float *u = check_alloc(&check, m, sizeof *u), *v = check_alloc(&check, m, sizeof *v);
  float *pairs = check_alloc(&check, 2 * n, sizeof *pairs);
  char *text = check_alloc(&check, m, sizeof *text);
  unsigned char *is_there = check_alloc(&check, m, sizeof *is_there);
  short *weight = check_alloc(&check, 256, sizeof *weight);
  unsigned *hashes = check_alloc(&check, n, sizeof *hashes);
  int *totals = check_alloc(&check, n, sizeof *totals);
  double *table = check_alloc(&check, (n + 1) * WIDTH, sizeof *table), *ends = check_alloc(&check, n, sizeof *ends);
  long *quotients = check_alloc(&check, n, sizeof *quotients);
  double *updated = check_alloc(&check, m, sizeof *updated), *other = check_alloc(&check, m, sizeof *other);
  int *partner = check_alloc(&check, m, sizeof *partner);
  point *cloud = check_alloc(&check, m, sizeof *cloud);
  couple_of_ints *couples = check_alloc(&check, m, sizeof *couples);
  float *lasts = check_alloc(&check, n, sizeof *lasts);
  double *lower = check_alloc(&check, n, sizeof *lower);
  unsigned char *masked = check_alloc(&check, m, sizeof *masked);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    permute(&check, order, n);
    permute(&check, next, 1024);
    fill_double(&check, value, m);
    fill_double(&check, x, 2 * n);
    fill_double(&check, table, (n + 1) * WIDTH);
    fill_double(&check, updated, m);
    fill_double(&check, other, m);
    fill_double(&check, scaled, m);
    for (size_t k = 0; k < m; k++) {
      couples[k].one.x = (int)check_below(&check, 1000);
      couples[k].one.y = (int)check_below(&check, 1000000);
    }
    for (size_t k = 0; k < m; k++)
      cloud[k] = (point){(float)k, (float)check_real(&check), -1.0f};
    fill_float(&check, u, m);
    fill_float(&check, v, m);
    for (int i = 0; i < n; i++) {
      length[i] = (int)check_below(&check, 90);
      for (int k = begin[i]; k < begin[i + 1]; k++) {
        /* Rows are as a rule not loaded by others; own elements are stored in between. */
        column[k] = n + (int)check_below(&check, n);
        if (check_is(&check, "own") && k % 5 == 1)
          column[k] = i;
        value[k] /= 1 + begin[i + 1] - begin[i];
        partner[k] = begin[i] + (int)check_below(&check, (size_t)(begin[i + 1] - begin[i]));
        is_there[k] = check_below(&check, 3) != 0;
        divisor[k] = is_there[k] ? (int)check_below(&check, 9) - 12 : 0;
        a[k] = (int)check_below(&check, 100) - 20;
        text[k] = "xyz\xe4"[check_below(&check, 4)];
      }
    }
    if (check_is(&check, "raw")) {
      struct couple couple = pick_couple(&check, n / 2 - 1);
      column[begin[n / 2] - 1] = order[couple.first];
      column[begin[n / 2] - 9001] = order[couple.second];
    }
    for (int i = 0; i < 64; i++)
      by[i] = check_below(&check, 4) == 0;
    for (int i = 0; i < 256; i++)
      weight[i] = (short)((int)check_below(&check, 1000) - 500);
    check_start(&check);
    /* Which way is faster is tried out. */
    for (int round = 0; round < 3; round++) {
      product(n, begin, column, value, x, y);
      preset(n, begin, column, value, x);
      eliminate(n, order, begin, column, value, x);
      shrink(n, length, by, turns);
      hash((size_t)n, start, text, weight, hashes, found);
      divide(n, begin, is_there, divisor, a, quotients);
      twice(n, begin, u, v, pairs);
      steps(n, begin, next, a, walked);
      behind(n, begin, a, totals);
      into_next(n, table, ends);
      update(n, begin, partner, x, check_is(&check, "own") ? updated : other, updated);
      points(n, begin, u, cloud, lasts);
      fields(n, begin, partner, cloud);
      both(n, begin, partner, couples);
      forwards(n, begin, x, updated);
      prefix(n, begin, v, u);
      mask(n, begin, is_there, masked);
      outer(n, begin, column, value, x, scaled, sums);
      some(n, few, is_there, divisor, a, divided);
      below(n, begin, column, value, x, value + m / 2, lower);
      last(n, begin, column, value, x, x);
    }
    check_stop(&check);
    check_array(&check, "x", x, 2 * n, sizeof *x);
    check_array(&check, "y", y, n, sizeof *y);
    check_array(&check, "lower", lower, n, sizeof *lower);
    check_array(&check, "length", length, n, sizeof *length);
    check_array(&check, "turns", turns, n, sizeof *turns);
    check_array(&check, "hashes", hashes, n, sizeof *hashes);
    check_array(&check, "found", found, n, sizeof *found);
    check_array(&check, "quotients", quotients, n, sizeof *quotients);
    check_array(&check, "pairs", pairs, 2 * n, sizeof *pairs);
    check_array(&check, "walked", walked, n, sizeof *walked);
    check_array(&check, "totals", totals, n, sizeof *totals);
    check_array(&check, "table", table, (n + 1) * WIDTH, sizeof *table);
    check_array(&check, "ends", ends, n, sizeof *ends);
    check_array(&check, "scaled", scaled, m, sizeof *scaled);
    check_array(&check, "sums", sums, n, sizeof *sums);
    check_array(&check, "divided", divided, m, sizeof *divided);
    check_array(&check, "updated", updated, m, sizeof *updated);
    check_array(&check, "cloud", cloud, m, sizeof *cloud);
    check_array(&check, "couples", couples, m, sizeof *couples);
    check_array(&check, "u", u, m, sizeof *u);
    check_array(&check, "lasts", lasts, n, sizeof *lasts);
    check_array(&check, "masked", masked, m, sizeof *masked);
  }
  free(begin), free(order), free(start), free(column), free(divisor), free(a), free(by), free(next), free(length);
  free(turns), free(found), free(walked), free(value), free(x), free(y), free(u), free(v), free(pairs), free(text);
  free(totals), free(table), free(ends), free(lower);
  free(few), free(divided), free(scaled), free(sums);
  free(updated), free(other), free(partner), free(cloud), free(couples), free(lasts), free(masked);
  free(is_there), free(weight), free(hashes), free(quotients);
  return check_close(&check);
}
