/* Iterations that store to one cell a long way apart, so that launches which follow each other need not know who it was. A cell is stored to in each of eight turns (`turns`; on `sixteenths`
 * of a turn each iteration stores to a cell that sixteen others of its turn store to, side by side), or in each second one, while what the other half of the turns has stored is loaded (`flows`).
 * On `closer` turns are shorter by one from the second time on, and on `longer` they are longer. On `writers`, `readers` and `behind` one iteration in the middle stores to the cell of another one of its turn, loads
 * what an earlier one of it has stored, or what a later one will store. On `nans` one in the middle has a result that a GPU leaves to the host.
 *
 * test size: 3200
 * expect floats: is launched on turns flows
 * expect floats: stamps on closer longer writers
 * expect floats: conflicts on readers behind
 * expect doubles: is launched on turns sixteenths flows
 * expect doubles: stamps on closer longer writers readers behind
 * expect bytes: is launched on turns flows
 * expect bytes: stamps on closer longer writers
 * expect bytes: conflicts on readers behind
 * expect some: is launched on turns flows
 * expect some: stamps on closer longer writers
 * expect some: conflicts on readers behind
 * expect nested: is launched on turns flows
 * expect nested: stamps on closer longer writers
 * expect nested: conflicts on readers behind
 * expect widths: is launched on turns flows
 * expect widths: stamps on closer longer writers
 * expect widths: conflicts on readers behind */
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

/* Some of which store nothing. */
COMPUTE static uint32_t some(uint32_t *a, const int *to, const int *from, const uint32_t *in, int n)
{
  uint32_t sum = 0;
  for (int i = 0; i < n; i++) { /* loop some */
    uint32_t loaded = a[from[i]];
    sum += loaded;
    if (in[i] % 16 != 0)
      a[to[i]] = loaded * 3 + 1;
  }
  return sum;
}

/* Two loops that are one. */
COMPUTE static void nested(uint32_t *a, const int *to, const int *from, const uint32_t *in, int turns, int each)
{
  for (int turn = 0; turn < turns; turn++) /* loop nested */
    for (int i = 0; i < each; i++)
      a[to[turn * each + i]] = a[from[turn * each + i]] * 5 + in[turn * each + i];
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

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"turns", "sixteenths", "flows", "closer", "longer", "writers", "readers", "behind", "nans", NULL};
  struct check check = check_open(argc, argv, 200000, inputs);
  size_t n = check.size / 16 * 16, cells = 2 * n + 16;
  int size = (int)n;
  float *in = check_alloc(&check, n, sizeof *in), *a = check_alloc(&check, cells, sizeof *a);
  double *b = check_alloc(&check, cells, sizeof *b);
  uint32_t *words = check_alloc(&check, n, sizeof *words), *g = check_alloc(&check, cells, sizeof *g), *m = check_alloc(&check, cells, sizeof *m);
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
      m[i] = (uint32_t)check_random(&check);
      h[i].whole = check_random(&check);
    }
    fill_float(&check, in, n);
    fill_float(&check, a, cells);
    fill_double(&check, b, cells);
    size_t each = n / 8;
    if (r != 0 && check_is(&check, "closer"))
      each--;
    if (r != 0 && check_is(&check, "longer"))
      each += 9;
    for (size_t i = 0; i < n; i++) {
      size_t place = i % each;
      to[i] = (int)place;
      from[i] = (int)(n + i);
      if (check_is(&check, "sixteenths"))
        to[i] = (int)(place / 16);
      if (check_is(&check, "flows")) {
        to[i] = (int)(i / each % 2 * each + place);
        from[i] = (int)((i / each + 1) % 2 * each + place * 7 % each);
      }
    }
    /* Of the middle one of all launches, not the first of its iterations. */
    size_t who = n / 2 + each / 2 + check_below(&check, each / 4), other = who - 2 - check_below(&check, each / 4);
    if (check_is(&check, "writers"))
      to[who] = to[other];
    if (check_is(&check, "readers"))
      from[who] = to[other];
    if (check_is(&check, "behind"))
      from[other] = to[who];
    if (check_is(&check, "nans"))
      in[who] = 1.0f / 0.0f - 1.0f / 0.0f;
    words[who] = words[other] = 3;
    check_start(&check);
    floats(a, to, from, in, size);
    doubles(b, to, in, size);
    bytes(e, to, from, words, size);
    uint32_t sum = some(g, to, from, words, size);
    nested(m, to, from, words, 8, size / 8);
    widths(h, to, from, words, size);
    check_stop(&check);
    check_array(&check, "a", a, cells, sizeof *a);
    check_array(&check, "b", b, cells, sizeof *b);
    check_array(&check, "e", e, cells, sizeof *e);
    check_array(&check, "g", g, cells, sizeof *g);
    check_array(&check, "m", m, cells, sizeof *m);
    check_array(&check, "h", h, cells, sizeof *h);
    check_array(&check, "sum", &sum, 1, sizeof sum);
  }
  free(in);
  free(a);
  free(b);
  free(e);
  free(g);
  free(m);
  free(h);
  free(words);
  free(to);
  free(from);
  return check_close(&check);
}
