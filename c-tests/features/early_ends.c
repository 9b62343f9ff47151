/* Loops that are left before their count is up: by break, return and goto, with messages and what has to be cleared up, out of nests, by a second condition, by pointers that walk, with
 * sums and last values that the iteration which leaves goes on with. With `never` no loop is left, with `first` in the first iteration, with `early`, `middle` and `last` later; with `met`
 * loops store to what decides, behind it or in front of it, and with `ending` an array ends with a page, behind which nothing is, with what the loop looks for.
 *
 * test size: 1999
 * expect roots: runs on never early middle last
 * expect until: runs on never early middle last
 * expect rows: runs on never middle last
 * expect members: runs on never early middle last
 * expect sums: runs on never early middle last
 * expect lasts: runs on never early middle last
 * expect pairs: runs on never early middle last
 * expect walks: runs on never early middle last
 * expect place: runs on never early middle last met
 * expect shifted: runs on never */
#include "../support/inputs.h"

#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

struct item {
  int key, flag;
  double value;
};

struct table {
  int n;
  const double *weights;
  double *out;
};

static int messages;

static void complain(const char *what, int where)
{
  messages = messages * 31 + where + what[0];
}

COMPUTE static int find(int n, const int *a, int wanted)
{
  for (int i = 0; i < n; i++)
    if (a[i] == wanted)
      return i;
  return -1;
}

COMPUTE static int find_backwards(int n, const int *a, int wanted)
{
  int i;
  for (i = n - 1; i >= 0; i--)
    if (a[i] == wanted)
      break;
  return i;
}

COMPUTE static int roots(int n, const double *a, double *out)
{
  for (int i = 0; i < n; i++) { /* loop roots */
    if (a[i] < 0) {
      complain("negative", i);
      return i;
    }
    out[i] = a[i] * a[i] + 0.5;
  }
  return n;
}

COMPUTE static int until(int n, const int *a, int *b, int wanted)
{
  int i;
  for (i = 0; i < n && a[i] != wanted; i++) /* loop until */
    b[i] = a[i] * 2 + i;
  return i;
}

COMPUTE static int stored_before(int n, const int *a, int *b, int wanted)
{
  int i;
  for (i = 0; i < n; i++) {
    b[i] = a[i] ^ 5;
    if (a[i] == wanted)
      break;
  }
  return i;
}

COMPUTE static const char *walk(const char *p, const char *end, int wanted)
{
  while (p < end && *p != wanted)
    p++;
  return p;
}

COMPUTE static long count_down(long n, const unsigned char *p, int wanted)
{
  while (n-- > 0 && *p++ != wanted)
    ;
  return n;
}

COMPUTE static const unsigned char *declared(const unsigned char *s, long n, int wanted, long *sum)
{
  long all = 0;
  for (const unsigned char *p = s, *end = s + n; p < end; p++) { /* loop walks */
    if (*p == wanted) {
      *sum = -all;
      return p;
    }
    all += *p;
  }
  *sum = all;
  return NULL;
}

COMPUTE static int rows(int n, int m, const int *a, long *sums, int wanted)
{
  int i, j;
  for (i = 0; i < n; i++) { /* loop rows */
    long sum = 0;
    for (j = 0; j < m; j++) {
      if (a[i * m + j] == wanted)
        goto found;
      sum += a[i * m + j];
    }
    sums[i] = sum;
  }
  return -1;
found:
  return i * m + j;
}

COMPUTE static int places(int n, int m, const int *a, int wanted)
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      if (a[i * m + j] == wanted)
        return i * 1000 + j;
  return -1;
}

COMPUTE static int members(int n, struct item *t)
{
  int i;
  for (i = 0; i < n; i++) { /* loop members */
    if (t[i].flag)
      break;
    t[i].value *= 2;
    t[i].key += i;
  }
  return i;
}

COMPUTE static long sums(int n, const int *a, int most)
{
  long sum = 0;
  for (int i = 0; i < n; i++) { /* loop sums */
    if (a[i] > most)
      return -sum;
    sum += a[i] * 3;
  }
  return sum;
}

COMPUTE static int lasts(int n, const int *a, double *out)
{
  int last = 7;
  for (int i = 0; i < n; i++) { /* loop lasts */
    if (a[i] < 0)
      return last;
    last = a[i];
    out[i] = last * 0.5;
  }
  return last + 1;
}

COMPUTE static int pairs(int n, const int *a, const double *x, float *out)
{
  int i = 0, j = n;
  for (i = 0, j = n - 1; i < n; i++, j--) { /* loop pairs */
    if (a[i] < 0 || x[j] > 1e6)
      break;
    if (a[j] & 1)
      continue;
    out[i] = (float)(x[j] - x[i]);
  }
  return i * 10000 + j;
}

COMPUTE static int divided(int n, const int *a, const int *by, int *out)
{
  for (int i = 0; i < n; i++) {
    if (by[i] == 0)
      return i;
    out[i] = a[i] / by[i];
  }
  return n;
}

COMPUTE static int weighed(const struct table *t, const int *a)
{
  for (int i = 0; i < t->n; i++) {
    if (a[i] < 0 || !t->weights)
      return i;
    t->out[i] = t->weights[i] * a[i];
  }
  return t->n;
}

COMPUTE static int in_place(int n, double *x)
{
  for (int i = 0; i < n; i++) { /* loop place */
    if (x[i] < 0)
      return i;
    x[i] = x[i] * 0.5 - 1e9;
  }
  return n;
}

COMPUTE static int shifted(int n, int *a)
{
  int i;
  for (i = 0; i < n - 1; i++) { /* loop shifted */
    if (a[i + 1] < 0)
      break;
    a[i] = -a[i + 1];
  }
  return i;
}

COMPUTE static int squares(int n, const int *a, double *out)
{
  int i;
  for (i = 0; i < n; i++) {
    double x = a[i] * 0.25, y = 1;
    for (int k = 0; k < 20; k++)
      y = 0.5 * (y + x / y);
    if (y * y > 400)
      break;
    out[i] = y;
  }
  return i;
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
  static const char *const inputs[] = {"never", "first", "early", "middle", "last", "met", "ending", NULL};
  struct check check = check_open(argc, argv, 1u << 20, inputs);
  const int n = (int)check.size, m = 37, at = where(&check, n);
  int *a = check_alloc(&check, check.size + 4, sizeof *a), *b = check_alloc(&check, check.size + 4, sizeof *b);
  int *by = check_alloc(&check, check.size, sizeof *by);
  double *x = check_alloc(&check, check.size, sizeof *x), *y = check_alloc(&check, check.size, sizeof *y);
  double *z = check_alloc(&check, check.size, sizeof *z);
  float *f = check_alloc(&check, check.size, sizeof *f);
  long *s = check_alloc(&check, check.size, sizeof *s);
  struct item *t = check_alloc(&check, check.size, sizeof *t);
  const size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (check.size + page - 1) / page;
  unsigned char *mapped = mmap(NULL, (pages + 16) * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED || mprotect(mapped + pages * page, 16 * page, PROT_NONE) != 0)
    return 2;
  unsigned char *c = mapped + pages * page - check.size;
  long results[32] = {0};

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    for (int i = 0; i < n; i++) {
      a[i] = b[i] = (int)check_below(&check, 900) + 2;
      by[i] = (int)check_below(&check, 13) + 1;
      x[i] = (double)check_below(&check, 300);
      c[i] = (unsigned char)(check_below(&check, 200) + 1);
      t[i] = (struct item){i, 0, i * 0.5};
      y[i] = z[i] = f[i] = s[i] = 0;
    }
    if (at >= 0)
      a[at] = -5, by[at] = 0, x[at] = -1, c[at] = 255, t[at].flag = 1;
    if (check_is(&check, "ending"))
      c[n - 1] = 255;
    int *to = check_is(&check, "met") ? a : b;
    struct table table = {n, at == 0 ? NULL : x, z};
    messages = 1;
    check_start(&check);
    int k = 0;
    results[k++] = find(n, a, -5);
    results[k++] = find_backwards(n, a, -5);
    results[k++] = roots(n, x, y);
    results[k++] = until(n, a, to, -5);
    results[k++] = stored_before(n, a, to, 5);
    results[k++] = walk((char *)c, (char *)c + n, (char)255) - (char *)c;
    /* How many there may be is more than there are: what is looked for comes before that. */
    const long more = at >= 0 || check_is(&check, "ending") ? n + 8 * (long)page : n;
    results[k++] = count_down(more, c, 255);
    const unsigned char *found = declared(c, more, 255, &results[k++]);
    results[k++] = found ? found - c : -1;
    results[k++] = rows(n / m, m, a, s, -5);
    results[k++] = places(n / m, m, a, -5);
    results[k++] = members(n, t);
    results[k++] = sums(n, a, 5000);
    results[k++] = sums(n, a, 880);
    results[k++] = lasts(n, a, y);
    results[k++] = pairs(n, a, x, f);
    results[k++] = divided(n, a, by, to);
    results[k++] = weighed(&table, a);
    results[k++] = squares(n, a, z);
    results[k++] = in_place(n, x);
    results[k++] = shifted(n, b);
    results[k++] = messages;
    check_stop(&check);
    check_array(&check, "results", results, 32, sizeof *results);
    check_array(&check, "a", a, n, sizeof *a);
    check_array(&check, "b", b, n, sizeof *b);
    check_array(&check, "x", x, n, sizeof *x);
    check_array(&check, "y", y, n, sizeof *y);
    check_array(&check, "z", z, n, sizeof *z);
    check_array(&check, "f", f, n, sizeof *f);
    check_array(&check, "s", s, n, sizeof *s);
    check_array(&check, "t", t, n, sizeof *t);
  }
  munmap(mapped, (pages + 16) * page);
  free(a), free(b), free(by), free(x), free(y), free(z), free(f), free(s), free(t);
  return check_close(&check);
}
