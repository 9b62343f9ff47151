/* Iterations that meet the cells of an array in their order, so that stamps may know neighbouring cells by one first writer and one last reader: all the way (`clean`),
 * several side by side in one cell (`pairs`), several times over and not from a group's first cell on (`turns`), but for a few (`strays`), or backwards, each behind
 * one that has loaded what it stores (`backwards`). On `near`, `border` and `far` one iteration in all loads what an earlier one has stored: as one of
 * a warp, behind a warp's or a block's border, a long way behind, or (`within`) from the group of cells that all iterations beside it load from, each its own.
 * `shuffled` is `pairs` at first, and has its cells in no order from the second time on.
 *
 * test size: 3001
 * expect floats: runs on clean
 * expect floats: stamps on pairs turns strays shuffled backwards
 * expect floats: conflicts on near border far within
 * expect doubles: runs on clean
 * expect doubles: stamps on pairs turns strays shuffled backwards
 * expect doubles: conflicts on near border far within
 * expect bytes: runs on clean
 * expect bytes: stamps on pairs turns strays shuffled backwards
 * expect bytes: conflicts on near border far within
 * expect updates: conflicts on pairs turns strays shuffled
 * expect two: runs on clean
 * expect two: stamps on pairs turns strays shuffled backwards
 * expect two: conflicts on near border far within
 * expect some: runs on clean
 * expect some: stamps on pairs turns strays shuffled backwards
 * expect some: conflicts on near border far within
 * expect widths: runs on clean
 * expect widths: stamps on pairs turns strays shuffled backwards
 * expect widths: conflicts on near border far within
 * expect several: stamps on backwards
 * expect several: conflicts on near border far within */
#include "../support/inputs.h"

COMPUTE static void floats(float *a, const int *to, const int *from, const float *in, int n)
{
  for (int i = 0; i < n; i++) /* loop floats */
    a[to[i]] = a[from[i]] * 0.5f + in[i];
}

COMPUTE static void doubles(double *a, const int *to, const int *from, const float *in, int n)
{
  for (int i = 0; i < n; i++) /* loop doubles */
    a[to[i]] = a[from[i]] * 0.5 + in[i];
}

COMPUTE static void bytes(unsigned char *a, const int *to, const int *from, const uint32_t *in, int n)
{
  for (int i = 0; i < n; i++) /* loop bytes */
    a[to[i]] = (unsigned char)(a[from[i]] * 5 + in[i]);
}

/* What is loaded is what the iteration stores. */
COMPUTE static void updates(double *a, const int *to, const float *in, int n)
{
  for (int i = 0; i < n; i++) { /* loop updates */
    double before = a[to[i]];
    a[to[i]] = before * before - in[i];
  }
}

/* Two stores, the second of which may take the place of the first one, and of what is loaded in between. */
COMPUTE static void several(float *a, const int *to, const int *from, const float *in, int n)
{
  for (int i = 0; i < n; i++) { /* loop several */
    a[to[i]] = in[i] * 3.0f;
    float loaded = a[from[i]] + a[to[i]];
    if (in[i] < 0.5f)
      a[to[i]] = loaded;
  }
}

/* Loads that are noted one behind the other. */
COMPUTE static void two(float *a, const int *to, const int *from, int n)
{
  for (int i = 0; i < n; i++) /* loop two */
    a[to[i]] = a[from[i]] * 0.5f + a[i + n];
}

/* Iterations that load, and some of which store nothing. */
COMPUTE static uint32_t some(uint32_t *a, const int *to, const int *from, const float *in, int n)
{
  uint32_t sum = 0;
  for (int i = 0; i < n; i++) { /* loop some */
    uint32_t loaded = a[from[i]];
    sum += loaded;
    if (in[i] < 0.5f)
      a[to[i]] = loaded * 3 + 1;
  }
  return sum;
}

/* Cells of which an iteration stores two, or one of them. */
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

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "pairs", "turns", "strays", "shuffled", "backwards", "near", "border", "far", "within", NULL};
  struct check check = check_open(argc, argv, 200000, inputs);
  size_t n = check.size, cells = 2 * n + 16;
  int size = (int)n;
  float *in = check_alloc(&check, n, sizeof *in), *a = check_alloc(&check, cells, sizeof *a), *c = check_alloc(&check, cells, sizeof *c);
  double *b = check_alloc(&check, cells, sizeof *b), *d = check_alloc(&check, cells, sizeof *d);
  float *f = check_alloc(&check, cells, sizeof *f);
  uint32_t *words = check_alloc(&check, n, sizeof *words), *g = check_alloc(&check, cells, sizeof *g);
  union halves *h = check_alloc(&check, cells, sizeof *h);
  unsigned char *e = check_alloc(&check, cells, sizeof *e);
  int *to = check_alloc(&check, n, sizeof *to), *from = check_alloc(&check, n, sizeof *from);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    for (size_t i = 0; i < n; i++)
      words[i] = (uint32_t)check_random(&check);
    for (size_t i = 0; i < cells; i++) {
      e[i] = (unsigned char)check_below(&check, 256);
      g[i] = (uint32_t)check_random(&check);
      h[i].whole = check_random(&check);
    }
    fill_float(&check, in, n);
    fill_float(&check, a, cells);
    fill_float(&check, c, cells);
    fill_float(&check, f, cells);
    fill_double(&check, b, cells);
    fill_double(&check, d, cells);
    for (size_t i = 0; i < n; i++) {
      size_t place = i;
      if (check_is(&check, "pairs") || (check_is(&check, "shuffled") && r == 0))
        place = i / 2;
      if (check_is(&check, "shuffled") && r != 0)
        place = check_below(&check, n / 2);
      if (check_is(&check, "turns"))
        place = i % (n / 8) + 5;
      if (check_is(&check, "strays") && i % 97 == 50)
        place = i + 3;
      if (check_is(&check, "backwards"))
        place = n - 1 - i;
      to[i] = (int)place;
      /* What nobody stores to, or who comes behind. */
      from[i] = (int)(check_is(&check, "backwards") ? (i + 1 < n ? place - 1 : place) : check_is(&check, "within") ? place : n + place + 8);
    }
    /* Any of them, and who is as near to it as one of the same warp is, behind its border, or anywhere. */
    size_t reader = n / 2 + check_below(&check, n / 4), apart = 1 + check_below(&check, 7);
    if (check_is(&check, "border"))
      reader = reader / 256 * 256, apart = 1 + check_below(&check, 3);
    if (check_is(&check, "far"))
      apart = n / 4;
    if (check_is(&check, "within"))
      reader = reader / 8 * 8 + 4, apart = 1;
    if (check_is(&check, "within") || check_is(&check, "near") || check_is(&check, "border") || check_is(&check, "far"))
      from[reader] = to[reader - apart], in[reader] = 0.75f, in[reader - apart] = 0.25f;
    check_start(&check);
    floats(a, to, from, in, size);
    doubles(b, to, from, in, size);
    bytes(e, to, from, words, size);
    updates(d, to, in, size);
    several(c, to, from, in, size);
    two(f, to, from, size);
    uint32_t sum = some(g, to, from, in, size);
    widths(h, to, from, words, size);
    check_stop(&check);
    check_array(&check, "a", a, cells, sizeof *a);
    check_array(&check, "b", b, cells, sizeof *b);
    check_array(&check, "c", c, cells, sizeof *c);
    check_array(&check, "d", d, cells, sizeof *d);
    check_array(&check, "e", e, cells, sizeof *e);
    check_array(&check, "f", f, cells, sizeof *f);
    check_array(&check, "g", g, cells, sizeof *g);
    check_array(&check, "h", h, cells, sizeof *h);
    check_array(&check, "sum", &sum, 1, sizeof sum);
  }
  free(in);
  free(a);
  free(b);
  free(c);
  free(d);
  free(e);
  free(f);
  free(g);
  free(h);
  free(words);
  free(to);
  free(from);
  return check_close(&check);
}
