/* Cells whose writers are iterations side by side, on both sides of the ends of rows of 32 too (`threes`, `fives`; `many` have whole rows between them), so that a
 * row's last store may be left to the next one; of `clean` each has one. In the middle of the others is, at the end of a row: a whole element and a half of it (`wide`);
 * a row between the two writers that stores elsewhere (`further`), or nothing (`empty`); somebody else who loads what both store to (`read`), or the only one (`lone`); a
 * writer in the next row that loads it first (`taken`), or one in the row before (`given`); a next row whose first one loads what its second one stores to (`behind`).
 *
 * The GPU that is none is told to keep lanes together for that: otherwise it takes them apart now and then, and some of them miss what others have put away. (Of
 * `two` it takes those apart that have stored nothing to the first array. Where loads are noted nobody tries it on `many`.)
 *
 * `own` and `beside` load what their own iteration has stored, or has not, to an array that no other one comes to: nobody notes that.
 *
 * test size: 1601
 * expect floats: is left to the next row on clean threes fives wide
 * expect doubles: is left to the next row on clean threes fives many wide read lone taken given
 * expect two: is left to the next row on clean
 * expect some: is left to the next row on clean threes fives many wide
 * expect widths: is left to the next row on clean threes
 * expect floats: stamps on many further
 * expect doubles: stamps on further behind
 * expect two: stamps on threes fives many wide further
 * expect some: stamps on further empty
 * expect widths: stamps on fives many further wide
 * expect floats: conflicts on read lone taken given behind
 * expect two: conflicts on read lone taken given behind
 * expect own: stamps on threes fives many wide further
 * expect beside: stamps on threes fives many wide further
 * expect widths: conflicts on read lone taken given behind */
#include "../support/inputs.h"

COMPUTE static void floats(float *a, const int *to, const int *from, const float *in, int n)
{
  for (int i = 0; i < n; i++) /* loop floats */
    a[to[i]] = a[from[i]] * 0.5f + in[i];
}

COMPUTE static void doubles(double *a, const int *to, const float *in, int n)
{
  for (int i = 0; i < n; i++) /* loop doubles */
    a[to[i]] = in[i] * 2.0 + 1.0;
}

/* Two stores of an iteration. */
COMPUTE static void two(short *a, uint32_t *b, const int *to, const int *from, const uint32_t *in, int n)
{
  for (int i = 0; i < n; i++) { /* loop two */
    uint32_t loaded = b[from[i]];
    a[to[i]] = (short)(loaded ^ in[i]);
    b[to[i]] = loaded * 3 + in[i];
  }
}

/* Some store nothing, at the ends of rows, or throughout. */
COMPUTE static void some(uint32_t *a, const int *to, const float *stores, const uint32_t *in, int n)
{
  for (int i = 0; i < n; i++) /* loop some */
    if (stores[i] < 0.5f)
      a[to[i]] = in[i] * 3 + 1;
}

/* Whole elements, and halves of them. */
union halves {
  uint64_t whole;
  uint32_t half[2];
};
COMPUTE static void widths(union halves *a, const int *to, const int *from, const uint32_t *in, int n)
{
  for (int i = 0; i < n; i++) { /* loop widths */
    uint64_t loaded = a[from[i]].whole;
    if (in[i] % 3 == 0)
      a[to[i]].whole = loaded * 3 + in[i];
    else
      a[to[i]].half[in[i] % 3 - 1] = (uint32_t)loaded + in[i];
  }
}

/* Arrays that are known to be apart. */
enum { MOST = 200000 };
static float common[2 * MOST + 16], mine[MOST], sums[MOST];
COMPUTE static void own(const int *to, const float *stores, const float *in, int n)
{
  for (int i = 0; i < n; i++) { /* loop own */
    common[to[i]] = in[i];
    if (stores[i] > 0.5f)
      mine[i] = in[i] * 2.0f;
    sums[i] = mine[i] + 1.0f;
  }
}

COMPUTE static void beside(const int *to, const int *from, const float *in, int n)
{
  for (int i = 0; i < n; i++) { /* loop beside */
    mine[i] = in[i] * 2.0f;
    common[to[i]] = mine[i] + common[from[i]];
  }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "threes", "fives",  "many", "wide",   "further",
                                       "empty", "read",   "lone", "taken", "given", "behind", NULL};
  struct check check = check_open(argc, argv, 200000, inputs);
  if (check.size > MOST)
    check_die(&check, "too large", "--size");
  size_t n = check.size, cells = 2 * n + 16;
  int size = (int)n;
  float *in = check_alloc(&check, n, sizeof *in), *stores = check_alloc(&check, n, sizeof *stores);
  float *a = check_alloc(&check, cells, sizeof *a);
  double *b = check_alloc(&check, cells, sizeof *b);
  short *s = check_alloc(&check, cells, sizeof *s);
  uint32_t *words = check_alloc(&check, n, sizeof *words), *g = check_alloc(&check, cells, sizeof *g);
  uint32_t *e = check_alloc(&check, cells, sizeof *e);
  union halves *h = check_alloc(&check, cells, sizeof *h);
  int *to = check_alloc(&check, n, sizeof *to), *from = check_alloc(&check, n, sizeof *from);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    for (size_t i = 0; i < n; i++)
      words[i] = (uint32_t)check_below(&check, 1 << 20) * 3;
    for (size_t i = 0; i < cells; i++) {
      s[i] = (short)check_below(&check, 65536);
      e[i] = (uint32_t)check_random(&check);
      g[i] = (uint32_t)check_random(&check);
      h[i].whole = check_random(&check);
    }
    fill_float(&check, in, n);
    fill_float(&check, a, cells);
    fill_double(&check, b, cells);
    size_t writers = check_is(&check, "threes") ? 3 : check_is(&check, "fives") ? 5 : check_is(&check, "many") || check_is(&check, "empty") ? 100 : 1;
    for (size_t i = 0; i < n; i++) {
      to[i] = (int)(i / writers);
      from[i] = (int)(n + i);
      /* A row's last ones, or its first ones, of two rows in five. */
      size_t row = i / 32, place = i % 32;
      stores[i] = (row % 5 == 0 && place > 29) || (row % 5 == 2 && place == 0) ? 1.0f : 0.0f;
    }
    /* The last one of a row, and the next row's first one. */
    size_t last = (n / 2 + check_below(&check, n / 4)) / 32 * 32 + 31, next = last + 1;
    for (size_t i = 31; i + 1 < n && check_is(&check, "wide"); i += 32) {
      to[i + 1] = to[i];
      words[i + i / 32 % 2] += 1;
    }
    if (check_is(&check, "further"))
      to[last] = to[next + 32];
    for (size_t i = next; i < next + 32 && check_is(&check, "empty"); i++)
      stores[i] = 1.0f;
    if (check_is(&check, "read") || check_is(&check, "taken") || check_is(&check, "given"))
      to[last] = to[next];
    if (check_is(&check, "behind"))
      to[last] = to[next + 1];
    if (check_is(&check, "read"))
      from[next + 100] = to[last];
    if (check_is(&check, "lone"))
      from[next + 50] = to[last];
    if (check_is(&check, "taken") || check_is(&check, "behind"))
      from[next] = to[last];
    if (check_is(&check, "given"))
      from[last] = to[last];
    stores[last] = stores[next + 32] = 0.0f;
    fill_float(&check, common, cells);
    fill_float(&check, mine, n);
    check_start(&check);
    floats(a, to, from, in, size);
    doubles(b, to, in, size);
    two(s, g, to, from, words, size);
    some(e, to, stores, words, size);
    widths(h, to, from, words, size);
    own(to, stores, in, size);
    beside(to, from, in, size);
    check_stop(&check);
    check_array(&check, "a", a, cells, sizeof *a);
    check_array(&check, "b", b, cells, sizeof *b);
    check_array(&check, "s", s, cells, sizeof *s);
    check_array(&check, "e", e, cells, sizeof *e);
    check_array(&check, "g", g, cells, sizeof *g);
    check_array(&check, "common", common, cells, sizeof *common);
    check_array(&check, "mine", mine, n, sizeof *mine);
    check_array(&check, "sums", sums, n, sizeof *sums);
    check_array(&check, "h", h, cells, sizeof *h);
  }
  free(in);
  free(stores);
  free(a);
  free(b);
  free(s);
  free(e);
  free(g);
  free(h);
  free(words);
  free(to);
  free(from);
  return check_close(&check);
}
