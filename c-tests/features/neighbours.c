/* Iterations side by side that store to one cell, of which the last one's value stands (`pairs`; `threes` across the borders of warps; on `narrower` the last one
 * stores less than the one before), or each of which loads what it stores to, and nobody else (`own`). On `met` the next one loads what the one before has
 * stored, on `one` a single one in all, on `near` a few load what the last one but one has stored, and no two store to one cell; on `before` it is the earlier one of two that
 * loads what both store to, and on `apart` two have one between them. On `again` a cell has two writers a long way apart, in all.
 *
 * The GPU that is none takes lanes apart now and then, so there neighbours meet, and what they do together shows on a GPU only.
 *
 * test size: 1601
 * expect floats: is joined on clean own
 * expect floats: stamps on pairs narrower threes apart again
 * expect floats: conflicts on met one near before
 * expect doubles: is joined on clean own near
 * expect doubles: stamps on pairs narrower threes apart again met one before
 * expect bytes: is joined on clean own
 * expect bytes: stamps on pairs narrower threes apart again
 * expect bytes: conflicts on met one near before
 * expect some: is joined on clean own
 * expect some: stamps on pairs narrower threes apart again
 * expect some: conflicts on met one near before
 * expect widths: is joined on clean own
 * expect widths: stamps on pairs narrower threes apart again
 * expect widths: conflicts on met one near before
 * expect added: conflicts on pairs narrower threes met one before apart again */
#include "../support/inputs.h"

COMPUTE static void floats(float *a, const int *to, const int *from, const float *in, int n)
{
  for (int i = 0; i < n; i++) /* loop floats */
    a[to[i]] = a[from[i]] * 0.5f + in[i];
}

/* Nothing is loaded that anybody stores to. */
COMPUTE static void doubles(double *a, const int *to, const float *in, int n)
{
  for (int i = 0; i < n; i++) /* loop doubles */
    a[to[i]] = in[i] * 2.0 + 1.0;
}

COMPUTE static void bytes(unsigned char *a, const int *to, const int *from, const uint32_t *in, int n)
{
  for (int i = 0; i < n; i++) /* loop bytes */
    a[to[i]] = (unsigned char)(a[from[i]] * 5 + in[i]);
}

/* Some of which store nothing, so that a neighbour is missing. */
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

/* What is loaded is what the iteration stores to, as the text tells. */
COMPUTE static void added(double *a, const int *to, const float *in, int n)
{
  for (int i = 0; i < n; i++) { /* loop added */
    double before = a[to[i]];
    a[to[i]] = before * before - in[i];
  }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "pairs", "narrower", "threes", "own", "met", "one", "near", "before", "apart", "again", NULL};
  struct check check = check_open(argc, argv, 200000, inputs);
  size_t n = check.size, cells = 2 * n + 16;
  int size = (int)n;
  float *in = check_alloc(&check, n, sizeof *in), *a = check_alloc(&check, cells, sizeof *a);
  double *b = check_alloc(&check, cells, sizeof *b), *d = check_alloc(&check, cells, sizeof *d);
  uint32_t *words = check_alloc(&check, n, sizeof *words), *g = check_alloc(&check, cells, sizeof *g);
  union halves *h = check_alloc(&check, cells, sizeof *h);
  unsigned char *e = check_alloc(&check, cells, sizeof *e);
  int *to = check_alloc(&check, n, sizeof *to), *from = check_alloc(&check, n, sizeof *from);

  for (int r = 0; r < check.repeat; r++) {
    int is_clean = check_is(&check, "clean"), is_own = check_is(&check, "own"), is_met = check_is(&check, "met");
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
    fill_double(&check, b, cells);
    fill_double(&check, d, cells);
    for (size_t i = 0; i < n; i++) {
      size_t place = is_clean || is_own || check_is(&check, "near") ? i : i / 2;
      if (check_is(&check, "threes"))
        place = i / 3;
      if (check_is(&check, "apart"))
        place = i / 4 * 2 + i % 2;
      if (check_is(&check, "narrower"))
        words[i] = 3 + (uint32_t)i % 2;
      to[i] = (int)place;
      from[i] = (int)(is_own || is_met ? place : n + i);
    }
    /* Of the pair in the middle, or further on, of a warp, who comes first and last. */
    size_t first = (n / 2 + check_below(&check, n / 4)) / 32 * 32 + 2 * check_below(&check, 16);
    if (check_is(&check, "one") || check_is(&check, "before")) {
      size_t who = first + check_is(&check, "one");
      from[who] = to[who];
      in[first] = in[first + 1] = 0.25f;
      words[first] = words[first + 1] = 3;
    }
    for (size_t who = n / 2 + 9; check_is(&check, "near") && who < n / 2 + 400; who += 98) {
      from[who] = to[who - 2];
      for (size_t i = who - 3; i <= who + 1; i++)
        in[i] = 0.25f, words[i] = 3;
    }
    if (check_is(&check, "again"))
      to[first] = to[first + 1] = to[1], in[0] = in[1] = in[first] = in[first + 1] = 0.25f, words[0] = words[1] = words[first] = words[first + 1] = 3;
    check_start(&check);
    floats(a, to, from, in, size);
    doubles(b, to, in, size);
    bytes(e, to, from, words, size);
    uint32_t sum = some(g, to, from, in, size);
    widths(h, to, from, words, size);
    added(d, to, in, size);
    check_stop(&check);
    check_array(&check, "a", a, cells, sizeof *a);
    check_array(&check, "b", b, cells, sizeof *b);
    check_array(&check, "d", d, cells, sizeof *d);
    check_array(&check, "e", e, cells, sizeof *e);
    check_array(&check, "g", g, cells, sizeof *g);
    check_array(&check, "h", h, cells, sizeof *h);
    check_array(&check, "sum", &sum, 1, sizeof sum);
  }
  free(in);
  free(a);
  free(b);
  free(d);
  free(e);
  free(g);
  free(h);
  free(words);
  free(to);
  free(from);
  return check_close(&check);
}
