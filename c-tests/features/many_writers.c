/* Cells that many iterations store to, of which the last one counts. Nobody loads what is stored, so all that stamps need is who came last: a GPU begins with the last iterations, and those
 * before find that they needn't store. A cell's writers are far apart (`turns`), here and there (`random`), or all iterations store to five cells (`five`). On `clusters` all of a cell's writers
 * but one are neighbours, who leave it to the last of them, so there are few; on `few` most cells have two, and on `changing` they have many at first, one each from the second time on:
 * then nothing begins with the last.
 *
 * test size: 3210
 * expect floats: runs backwards on turns random five
 * expect floats: stamps on clusters few
 * expect doubles: runs backwards on turns random five
 * expect doubles: stamps on clusters few
 * expect bytes: runs backwards on turns random five
 * expect branches: runs backwards on turns random five
 * expect nested: runs backwards on turns random five
 * expect widths: runs backwards on turns random five
 * expect again: stamps on turns random five few
 * expect sums: stamps on turns random five few */
#include "../support/inputs.h"

COMPUTE static void floats(float *a, const int *to, const float *in, int n)
{
  for (int i = 0; i < n; i++) /* loop floats */
    a[to[i]] = in[i] * 0.5f + 1;
}

/* Whose entries are two numbers. */
COMPUTE static void doubles(double *a, const int *to, const float *in, int n)
{
  for (int i = 0; i < n; i++) /* loop doubles */
    a[to[i]] = in[i] * 2.0 + 1.0;
}

COMPUTE static void bytes(unsigned char *a, const int *to, const uint32_t *in, int n)
{
  for (int i = 0; i < n; i++) /* loop bytes */
    a[to[i]] = (unsigned char)(in[i] * 5 + 1);
}

/* Some of which store nothing, and others to the next cell. */
COMPUTE static void branches(uint32_t *a, const int *to, const uint32_t *in, int n)
{
  for (int i = 0; i < n; i++) { /* loop branches */
    if (in[i] % 4 == 0)
      a[to[i] + 1] = in[i];
    else if (in[i] % 4 != 3)
      a[to[i]] = in[i] * 3 + 1;
  }
}

/* Two loops that are one. */
COMPUTE static void nested(uint32_t *a, const int *to, const uint32_t *in, int turns, int each)
{
  for (int turn = 0; turn < turns; turn++) /* loop nested */
    for (int i = 0; i < each; i++)
      a[to[turn * each + i]] = in[turn * each + i] * 7 + 1;
}

/* Whole elements, and halves of them: both cells of a whole one have the same writer, or two. */
union halves {
  uint64_t whole;
  uint32_t half[2];
};
COMPUTE static void widths(union halves *a, const int *to, const uint32_t *in, int n)
{
  for (int i = 0; i < n; i++) { /* loop widths */
    if (in[i] % 3 == 0)
      a[to[i]].whole = in[i] * 0x100000003ull;
    else
      a[to[i]].half[in[i] % 3 - 1] = in[i];
  }
}

/* The second store of an iteration stands, whoever else stores there before. */
COMPUTE static void again(uint32_t *a, const int *to, const int *then, const uint32_t *in, int n)
{
  for (int i = 0; i < n; i++) { /* loop again */
    a[to[i]] = in[i];
    a[then[i]] = in[i] * 3;
  }
}

/* Results are those of iterations in their order. */
COMPUTE static uint32_t sums(uint32_t *a, const int *to, const uint32_t *in, int n)
{
  uint32_t sum = 0;
  for (int i = 0; i < n; i++) { /* loop sums */
    sum += in[i];
    a[to[i]] = in[i] + 7;
  }
  return sum;
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"turns", "random", "clusters", "five", "few", "changing", NULL};
  struct check check = check_open(argc, argv, 200000, inputs);
  size_t n = check.size, cells = n + 16;
  int size = (int)n;
  float *in = check_alloc(&check, n, sizeof *in), *a = check_alloc(&check, cells, sizeof *a);
  double *b = check_alloc(&check, cells, sizeof *b);
  uint32_t *words = check_alloc(&check, n, sizeof *words), *g = check_alloc(&check, cells, sizeof *g), *m = check_alloc(&check, cells, sizeof *m);
  uint32_t *s = check_alloc(&check, cells, sizeof *s), *t = check_alloc(&check, cells, sizeof *t);
  union halves *h = check_alloc(&check, cells, sizeof *h);
  unsigned char *e = check_alloc(&check, cells, sizeof *e);
  int *to = check_alloc(&check, n, sizeof *to), *then = check_alloc(&check, n, sizeof *then);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    for (size_t i = 0; i < n; i++)
      words[i] = (uint32_t)check_random(&check);
    for (size_t i = 0; i < cells; i++) {
      e[i] = (unsigned char)check_below(&check, 256);
      g[i] = (uint32_t)check_random(&check);
      m[i] = (uint32_t)check_random(&check);
      s[i] = (uint32_t)check_random(&check);
      t[i] = (uint32_t)check_random(&check);
      h[i].whole = check_random(&check);
    }
    fill_float(&check, in, n);
    fill_float(&check, a, cells);
    fill_double(&check, b, cells);
    size_t some = n / 200 + 1;
    for (size_t i = 0; i < n; i++) {
      to[i] = (int)(i % some);
      if (check_is(&check, "random"))
        to[i] = (int)check_below(&check, some);
      /* The first iterations store to all of their cells once more, a long way off. */
      if (check_is(&check, "clusters"))
        to[i] = (int)(i < some ? i : i / 200);
      if (check_is(&check, "five"))
        to[i] = (int)check_below(&check, 5);
      if (check_is(&check, "few"))
        to[i] = (int)(i % (n / 2 + 1));
      if (check_is(&check, "changing") && r != 0)
        to[i] = (int)(n - 1 - i);
      then[i] = (int)((size_t)to[i] + check_below(&check, 2));
    }
    check_start(&check);
    floats(a, to, in, size);
    doubles(b, to, in, size);
    bytes(e, to, words, size);
    branches(g, to, words, size);
    nested(m, to, words, size / 100, 100);
    widths(h, to, words, size);
    again(t, to, then, words, size);
    uint32_t sum = sums(s, to, words, size);
    check_stop(&check);
    check_array(&check, "a", a, cells, sizeof *a);
    check_array(&check, "b", b, cells, sizeof *b);
    check_array(&check, "e", e, cells, sizeof *e);
    check_array(&check, "g", g, cells, sizeof *g);
    check_array(&check, "m", m, cells, sizeof *m);
    check_array(&check, "h", h, cells, sizeof *h);
    check_array(&check, "t", t, cells, sizeof *t);
    check_array(&check, "s", s, cells, sizeof *s);
    check_array(&check, "sum", &sum, 1, sizeof sum);
  }
  free(in);
  free(a);
  free(b);
  free(e);
  free(g);
  free(m);
  free(s);
  free(t);
  free(h);
  free(words);
  free(to);
  free(then);
  return check_close(&check);
}
