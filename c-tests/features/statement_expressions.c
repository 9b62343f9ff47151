/* Macros as GNU C writes them: minima, maxima and exchanges in statement expressions, also in heads of loops and within each other, assertions, and calls that only happen where something is
 * wrong. With `never` nothing is wrong anywhere; with `first`, `early`, `middle` and `last` something is in one iteration.
 *
 * test size: 1999
 * loads its own
 * expect clamped: runs on never first early middle last
 * expect exchanged: runs on never first early middle last
 * expect wrapped: runs on never first early middle last
 * expect smooth: runs on never first early middle last
 * expect ends: runs on never first early middle last
 * expect squares: runs on never first early middle last
 * expect owners: runs on never first early middle last
 * expect pushed: runs on never first early middle last
 * expect asserted: runs on never first early middle last
 * expect reported: runs on never early middle last
 * expect counted: runs on never early middle last
 * expect called: runs on never early middle last
 * expect checked: runs on never early middle last
 * expect given_up: runs on never early middle last */
#include "../support/inputs.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>

#define MIN(a, b) \
  __extension__({ \
    __typeof__(a) _a = (a); \
    __typeof__(b) _b = (b); \
    _a < _b ? _a : _b; \
  })
#define MAX(a, b) \
  __extension__({ \
    __typeof__(a) _a = (a); \
    __typeof__(b) _b = (b); \
    _a > _b ? _a : _b; \
  })
/* The addresses are compared so that the compiler complains of different types. */
#define KMIN(x, y) \
  __extension__({ \
    __typeof__(x) _x = (x); \
    __typeof__(y) _y = (y); \
    (void)(&_x == &_y); \
    _x < _y ? _x : _y; \
  })
#define EXCHANGE(a, b) \
  __extension__({ \
    __typeof__(a) _t = (a); \
    (a) = (b); \
    (b) = _t; \
  })
#define EXCHANGE_IN_TURN(type, a, b) \
  do { \
    type _t = (a); \
    (a) = (b); \
    (b) = _t; \
  } while (0)
#define SQUARE(x) \
  __extension__({ \
    double _s = (x); \
    _s *= _s; \
    _s; \
  })
#define OWNER(pointer, type, member) \
  __extension__({ \
    const __typeof__(((type *)0)->member) *_p = (pointer); \
    (type *)((char *)_p - offsetof(type, member)); \
  })
#define OR_RETURN(value, bad) \
  __extension__({ \
    int _v = (value); \
    if (_v == (bad)) \
      return -1 - i; \
    _v; \
  })

struct item {
  int key;
  double value;
};

static int messages;
static void (*handler)(int where);

static void complain(int where)
{
  messages = messages * 31 + where;
}

/* Like printf, a function that nobody looks into. */
COMPUTE static void report(const char *what, ...)
{
  va_list arguments;
  va_start(arguments, what);
  messages = messages * 37 + va_arg(arguments, int) + what[0];
  va_end(arguments);
}

COMPUTE static void clamped(int n, const double *a, double *out)
{
  for (int i = 0; i < n; i++) /* loop clamped */
    out[i] = MIN(MAX(a[i] - 100, 0.0), 99.5) + KMIN(a[i], 7.0);
}

COMPUTE static void exchanged(int n, double *a, double *b)
{
  for (int i = 0; i < n; i++) { /* loop exchanged */
    if (a[i] > b[i])
      EXCHANGE(a[i], b[i]);
  }
}

COMPUTE static void wrapped(int n, int *a, int *b)
{
  for (int i = 0; i < n; i++) { /* loop wrapped */
    if (a[i] % 3 == 0)
      EXCHANGE_IN_TURN(int, a[i], b[i]);
    else
      a[i]++;
  }
}

COMPUTE static void smooth(int n, const int *a, long *out)
{
  for (int i = 0; i < n; i++) { /* loop smooth */
    long sum = 0;
    for (int j = MAX(0, i - 2); j < MIN(n, i + 3); j++)
      sum += a[j];
    out[i] = sum;
  }
}

COMPUTE static void ends(int n, int from, const int *limits, const double *a, double *out)
{
  for (int i = MAX(from, 3); i < KMIN(limits[1], n); i++) /* loop ends */
    out[i] = a[i] * 0.5;
}

COMPUTE static void squares(int n, const double *a, double *out)
{
  for (int i = 0; i < n; i++) /* loop squares */
    out[i] = SQUARE(a[i]) - SQUARE(a[i] - 1) > 50 && MAX(a[i], 3.0) > 5 ? SQUARE(a[i] + 1) : MIN(a[i], 60.0);
}

COMPUTE static void owners(int n, struct item *t, double *out)
{
  for (int i = 0; i < n; i++) { /* loop owners */
    const double *value = &t[i].value;
    out[i] = OWNER(value, struct item, value)->key * 0.5;
  }
}

/* The sum goes on while what it adds walks. */
COMPUTE static long pushed(int n, const int *a)
{
  long sum = 0;
  const int *p = a;
  for (int i = 0; i < n; i++) /* loop pushed */
    sum += __extension__({
      int k = *p++;
      k = MAX(k, 100);
      k - 1;
    });
  return sum;
}

static inline double root(double x)
{
  assert(x >= -1000);
  return sqrt(MAX(x, 0.0));
}

COMPUTE static void asserted(int n, const double *a, double *out)
{
  for (int i = 0; i < n; i++) { /* loop asserted */
    assert(a[i] < 1e6);
    a[i] < 1e7 ? (void)0 : abort();
    out[i] = root(a[i]) + root(a[i] - 2);
  }
}

COMPUTE static void reported(int n, const double *a, double *out)
{
  for (int i = 0; i < n; i++) { /* loop reported */
    if (a[i] < 0)
      report("negative", i);
    out[i] = sqrt(MAX(a[i], 0.0));
  }
}

COMPUTE static int counted(int n, const double *a, double *out)
{
  int bad = 0;
  for (int i = 0; i < n; i++) { /* loop counted */
    if (a[i] < 0) {
      report("skipped", i);
      bad++;
      out[i] = -1;
      continue;
    }
    out[i] = a[i] * 3;
  }
  return bad;
}

COMPUTE static void called(int n, const int *a, long *out)
{
  for (int i = 0; i < n; i++) { /* loop called */
    if (a[i] == -5 && handler)
      handler(i);
    else
      out[i] = a[i] * 3L;
  }
}

COMPUTE static int checked(int n, const int *a, long *out)
{
  long last = 0;
  for (int i = 0; i < n; i++) { /* loop checked */
    last = OR_RETURN(a[i], -5);
    out[i] = last * last;
  }
  return (int)last;
}

/* A turn that a statement expression leaves, and effects where only an address is wanted. */
COMPUTE static int wrapped_turns(int n, const int *a, int *out)
{
  int found = 0;
  for (int i = 0; i < n; i++) { /* loop turns */
    int v = a[i];
    do {
      __extension__({
        if (v % 5 == 0)
          continue;
        1;
      });
      v = v * 2;
    } while (0);
    out[i] = v + 1;
  }
  for (int i = 0; i < n; i++) {
    (void)&(struct item){found++, 3};
    out[i] += __extension__({
      struct item *unused = &(struct item){found++, 3};
      (void)unused;
      i & 1;
    });
  }
  return found;
}

/* Labels of one name, one within the other. */
COMPUTE static int within(int n, const int *a, long *out)
{
  int i;
  {
    __label__ over;
    for (i = 0; i < n; i++) {
      if (a[i] < 0)
        goto over;
      {
        __label__ over;
        if (a[i] > 500)
          goto over;
        out[i] += 1;
      over:;
      }
      out[i] += 2;
    }
  over:;
  }
  return i;
}

/* What is called may change what decides later on. */
static int limit;

static void lower(int i)
{
  limit = i % 7 + 3;
}

static void (*lowerer)(int i);

COMPUTE static int given_up(int n, const int *a, int *out)
{
  int i, most = 0;
  for (i = 0; i < n; i++) { /* loop given_up */
    if (a[i] < limit - 890)
      lowerer(a[i] + i);
    out[i] = a[i] & 15;
    most = MAX(most, a[i]);
  }
  return most + i;
}

static int where(const struct check *check, int n)
{
  const char *const names[] = {"first", "early", "middle", "last"};
  const int places[] = {0, 11, n / 2, n - 1};
  for (int k = 0; k < 4; k++)
    if (check_is(check, names[k]))
      return places[k];
  return -1;
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"never", "first", "early", "middle", "last", NULL};
  struct check check = check_open(argc, argv, 1u << 20, inputs);
  const int n = (int)check.size, at = where(&check, n);
  int *a = check_alloc(&check, check.size, sizeof *a), *b = check_alloc(&check, check.size, sizeof *b);
  double *x = check_alloc(&check, check.size, sizeof *x), *y = check_alloc(&check, check.size, sizeof *y);
  double *out[8];
  long *s[3];
  for (int k = 0; k < 8; k++)
    out[k] = check_alloc(&check, check.size, sizeof *out[k]);
  for (int k = 0; k < 3; k++)
    s[k] = check_alloc(&check, check.size, sizeof *s[k]);
  struct item *t = check_alloc(&check, check.size, sizeof *t);
  long results[16] = {0};

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    for (int i = 0; i < n; i++) {
      a[i] = (int)check_below(&check, 900) + 2;
      b[i] = (int)check_below(&check, 900) + 2;
      x[i] = (double)check_below(&check, 300);
      y[i] = (double)check_below(&check, 300);
      t[i] = (struct item){i, i * 0.5};
      for (int k = 0; k < 8; k++)
        out[k][i] = 0;
      for (int k = 0; k < 3; k++)
        s[k][i] = 0;
    }
    if (at >= 0)
      a[at] = -5, x[at] = -1;
    messages = 1;
    limit = 880;
    handler = complain;
    lowerer = lower;
    int limits[2] = {0, n - n / 9};
    check_start(&check);
    int k = 0;
    reported(n, x, out[0]);
    results[k++] = counted(n, x, out[1]);
    called(n, a, s[0]);
    results[k++] = checked(n, a, s[1]);
    results[k++] = given_up(n, a, b);
    results[k++] = wrapped_turns(n, a, b);
    results[k++] = within(n, a, s[2]);
    results[k++] = limit;
    asserted(n, x, out[2]);
    clamped(n, x, out[3]);
    squares(n, x, out[4]);
    smooth(n, a, s[2]);
    ends(n, -4, limits, x, out[5]);
    owners(n, t, out[6]);
    results[k++] = pushed(n, a);
    exchanged(n, x, y);
    wrapped(n, a, b);
    results[k++] = messages;
    check_stop(&check);
    check_array(&check, "results", results, 16, sizeof *results);
    check_array(&check, "a", a, n, sizeof *a);
    check_array(&check, "b", b, n, sizeof *b);
    check_array(&check, "x", x, n, sizeof *x);
    check_array(&check, "y", y, n, sizeof *y);
    for (int j = 0; j < 8; j++)
      check_array(&check, "out", out[j], n, sizeof *out[j]);
    for (int j = 0; j < 3; j++)
      check_array(&check, "s", s[j], n, sizeof *s[j]);
  }
  for (int k = 0; k < 8; k++)
    free(out[k]);
  for (int k = 0; k < 3; k++)
    free(s[k]);
  free(a), free(b), free(x), free(y), free(t);
  return check_close(&check);
}
