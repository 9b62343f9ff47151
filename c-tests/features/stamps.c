/* Loops whose iterations meet, and don't have to wait for each other all the same: several store to a place, of which the last one
 * counts (`outputs`), or a place is loaded before a later iteration stores to it (`antis`). On `flows` they load what an earlier
 * iteration has stored; on `clean` none meet.
 *
 * test size: 1501
 * expect last_writer: stamps on outputs
 * expect last_writer: runs on clean antis
 * expect twice: stamps on outputs
 * expect windows: stamps on outputs
 * expect counted: stamps on outputs
 * expect fields: stamps on outputs
 * expect widths: stamps on outputs
 * expect conditions: stamps on outputs
 * expect shifted: stamps on antis
 * expect shifted: conflicts on flows
 * expect own: runs on clean antis
 * expect own: conflicts on outputs
 * expect partly: conflicts on outputs
 * expect added: runs on clean antis
 * expect added: conflicts on outputs
 * expect first: stamps on outputs
 * expect beside: stamps on outputs
 * expect beside_aliases: stamps on outputs
 * expect aliases: runs on clean
 * expect aliases: conflicts on outputs
 * expect both: runs on clean
 * expect both: conflicts on antis outputs flows
 * expect again: stamps on antis outputs
 * expect again: runs on clean
 * expect singles: stamps on antis outputs
 * expect singles: runs on clean
 * expect rows: stamps on antis outputs
 * expect many: stamps on outputs
 * expect pointers: runs on clean
 * expect pointers: stamps on outputs
 * expect wide_pointers: runs on clean
 * expect wide_pointers: stamps on outputs
 * expect rows: conflicts on flows */
#include "../support/inputs.h"

COMPUTE static void last_writer(uint32_t *out, const int *to, const uint32_t *in, int n)
{
  for (int i = 0; i < n; i++) /* loop last_writer */
    out[to[i]] = in[i];
}

/* The last store of the last iteration. */
COMPUTE static void twice(uint64_t *out, const int *to, const uint32_t *in, int n)
{
  for (int i = 0; i < n; i++) { /* loop twice */
    out[to[i]] = in[i];
    if (in[i] & 1)
      out[to[i]] = ~(uint64_t)in[i];
  }
}

enum { LENGTH = 6 };

COMPUTE static void windows(float *out, const int *to, const float *in, int n)
{
  for (int i = 0; i < n; i++) /* loop windows */
    for (int j = 0; j < LENGTH; j++)
      out[to[i] + j] = in[i] * (float)(j + 1);
}

/* What is counted besides is counted once. */
COMPUTE static uint64_t counted(int *out, const int *to, const uint32_t *in, int n, uint32_t *last)
{
  uint64_t sum = 0;
  uint32_t seen = 0;
  for (int i = 0; i < n; i++) { /* loop counted */
    out[to[i]] = i;
    sum += in[i];
    seen = in[i];
  }
  *last = seen;
  return sum;
}

struct record {
  char kind;
  short length;
  double weight;
};

COMPUTE static void fields(struct record *out, const int *to, const int *also, const uint32_t *in, int n)
{
  for (int i = 0; i < n; i++) { /* loop fields */
    out[to[i]].length = (short)in[i];
    out[also[i]].weight = (double)in[i] * 0.5;
    out[to[i]].kind = (char)(in[i] >> 7);
  }
}

/* Words and single bytes of them. */
COMPUTE static void widths(unsigned char *out, const int *word, const int *byte, const uint32_t *in, int n)
{
  for (int i = 0; i < n; i++) { /* loop widths */
    *(uint32_t *)(void *)(out + 4 * word[i]) = in[i];
    out[byte[i]] = (unsigned char)(in[i] >> 24);
  }
}

COMPUTE static void conditions(double *out, const int *to, const double *in, int n)
{
  for (int i = 0; i < n; i++) /* loop conditions */
    if (in[i] > 0.0)
      out[to[i]] = in[i] * in[i];
}

/* On `antis` each loads what later iterations store. */
COMPUTE static void shifted(double *a, const int *to, const int *from, const double *in, int n)
{
  for (int i = 0; i < n; i++) /* loop shifted */
    a[to[i]] = a[from[i]] * 0.5 + in[i];
}

/* An iteration loads what it has stored itself; what another one has stored there it must not find. */
COMPUTE static void own(double *a, double *b, const int *to, const double *in, int n)
{
  for (int i = 0; i < n; i++) { /* loop own */
    a[to[i]] = in[i] * 2.0;
    b[i] = a[to[i]] + 1.0;
  }
}

/* Some bytes of a word from this iteration, the others from before the loop. */
COMPUTE static void partly(unsigned char *a, uint32_t *b, const int *to, const uint32_t *in, int n)
{
  for (int i = 0; i < n; i++) { /* loop partly */
    a[4 * to[i] + 1] = (unsigned char)in[i];
    b[i] = *(uint32_t *)(void *)(a + 4 * to[i]);
    a[4 * to[i] + 2] = (unsigned char)(b[i] >> 8);
  }
}

/* Floating-point sums: each needs the one before. */
COMPUTE static void added(double *a, const int *to, const double *in, int n)
{
  for (int i = 0; i < n; i++) /* loop added */
    a[to[i]] += in[i];
}

/* The last iteration that stores stores first: others have to come before it all the same. */
COMPUTE static void first(int *a, const int *to, int n)
{
  for (int i = n - 1; i >= 0; i--) /* loop first */
    a[to[i]] = i * 3;
}

/* What iterations have for themselves is loaded and stored without a log, and must be as it was when the loop is run once more. */
enum { MOST = 200000 };
static double kept[MOST], table[MOST];

COMPUTE static void beside(const int *to, const double *in, int n)
{
  for (int i = 0; i < n; i++) { /* loop beside */
    kept[i] = kept[i] * 0.5 + in[i];
    table[to[i]] = kept[i];
  }
}

/* A store through another pointer to the same place, which nobody expects: an only writer of it all the same. */
COMPUTE static void aliases(double *out, double *also, const int *to, const double *in, int n)
{
  for (int i = 0; i < n; i++) { /* loop aliases */
    out[to[i]] += in[i];
    also[to[i]] = in[i] * 0.5;
  }
}

/* The same beside what is loaded and stored without a log: that two stores have come to a place refutes a guess, and then all is run once more,
 * though no place has several writers, so that nothing else would make what was changed as it was. */
static float kept_also[MOST];

COMPUTE static void beside_aliases(double *out, double *also, const int *to, const double *in, int n)
{
  for (int i = 0; i < n; i++) { /* loop beside_aliases */
    const float old = kept_also[i];
    if (in[i] > -0.5)
      kept_also[i] = old * 0.5f + 1.0f;
    out[to[i]] = in[i] + (double)old;
    also[to[i]] = in[i] * 0.25;
  }
}

/* A store covers the load, but that of another iteration may come in between: on `flows` of a later one, which stamps can't tell from an earlier
 * one, as on `antis`. */
COMPUTE static void both(double *a, const int *to, const int *also, const double *in, int n)
{
  for (int i = 0; i < n; i++) { /* loop both */
    a[to[i]] += in[i];
    a[also[i]] = in[i] * 0.25;
  }
}

/* Stored twice, loaded in between: an only writer of its places all the same. */
COMPUTE static void again(double *a, double *b, const int *to, const int *from, const double *in, int n)
{
  for (int i = 0; i < n; i++) { /* loop again */
    a[to[i]] = in[i] * 3.0;
    b[i] = a[from[i]];
    a[to[i]] = b[i] * 0.5 + in[i];
  }
}

/* The same of numbers as wide as subscripts, which have one cell each. */
COMPUTE static void singles(float *a, float *b, const int *to, const int *from, const float *in, int n)
{
  for (int i = 0; i < n; i++) { /* loop singles */
    a[to[i]] = in[i] * 3.0f;
    b[i] = a[from[i]];
    a[to[i]] = b[i] * 0.5f + in[i];
  }
}

/* Rows through pointers that are found in memory. */
COMPUTE static void rows(double **to, double **from, int n, int length)
{
  for (int i = 0; i < n; i++) /* loop rows */
    for (int j = 0; j < length; j++)
      to[i][j] = from[i][j] * 0.25 + (double)i;
}

/* One iteration stores more often than stores of an iteration have numbers beside that of the iteration. */
COMPUTE static void many(short *out, const int *to, const int *times, const uint32_t *in, int n)
{
  for (int i = 0; i < n; i++) /* loop many */
    for (int j = 0; j < times[i]; j++)
      out[to[i]] = (short)(in[i] + (uint32_t)j);
}

/* Side by side: each place has two writers, and what is loaded comes later. */
COMPUTE static void pointers(float *a, const float *b, float *c, const float *in, int n)
{
  for (int i = 0; i < n; i++) { /* loop pointers */
    a[i] = b[i] * 0.5f + in[i];
    c[i] = in[i] * 0.25f;
  }
}

COMPUTE static void wide_pointers(double *a, const double *b, double *c, const double *in, int n)
{
  for (int i = 0; i < n; i++) { /* loop wide_pointers */
    a[i] = b[i] * 0.5 + in[i];
    c[i] = in[i] * 0.25;
  }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "outputs", "antis", "flows", NULL};
  struct check check = check_open(argc, argv, 200000, inputs);
  size_t n = check.size;
  int size = (int)n, few = size / 16 + 2;
  uint32_t *in = check_alloc(&check, n, sizeof *in), *words = check_alloc(&check, 2 * n, sizeof *words);
  uint32_t *seen = check_alloc(&check, n, sizeof *seen);
  uint64_t *longs = check_alloc(&check, n, sizeof *longs);
  int *none = check_alloc(&check, n, sizeof *none);
  double *a = check_alloc(&check, n, sizeof *a), *b = check_alloc(&check, n, sizeof *b), *c = check_alloc(&check, n, sizeof *c);
  double *d = check_alloc(&check, n, sizeof *d), *e = check_alloc(&check, n + 1, sizeof *e);
  float *f = check_alloc(&check, n * LENGTH, sizeof *f), *g = check_alloc(&check, n, sizeof *g);
  float *h = check_alloc(&check, n, sizeof *h);
  int *to = check_alloc(&check, n, sizeof *to), *from = check_alloc(&check, n, sizeof *from);
  int *wide = check_alloc(&check, n, sizeof *wide), *bytes = check_alloc(&check, n, sizeof *bytes);
  int *numbers = check_alloc(&check, n, sizeof *numbers);
  struct record *records = check_alloc(&check, n, sizeof *records);
  /* The more iterations, the fewer numbers are left for the stores of each. */
  size_t lots = n < 1 << 17 ? 1 << 17 : n;
  short *shorts = check_alloc(&check, lots, sizeof *shorts);
  uint32_t *values = check_alloc(&check, lots, sizeof *values);
  int *times = check_alloc(&check, lots, sizeof *times), *pairs = check_alloc(&check, lots, sizeof *pairs);
  double(*m)[LENGTH] = check_alloc(&check, (size_t)few + 1, sizeof *m);
  double **to_rows = check_alloc(&check, (size_t)few, sizeof *to_rows), **from_rows = check_alloc(&check, (size_t)few, sizeof *from_rows);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    bool outputs = check_is(&check, "outputs"), antis = check_is(&check, "antis"), flows = check_is(&check, "flows");
    for (size_t i = 0; i < n; i++) {
      in[i] = (uint32_t)check_random(&check);
      longs[i] = check_random(&check);
      words[i] = (uint32_t)check_random(&check);
      words[n + i] = (uint32_t)check_random(&check);
      numbers[i] = (int)check_below(&check, 1000);
      /* Field by field: padding stays what it is. */
      records[i].kind = (char)check_below(&check, 100);
      records[i].length = (short)check_below(&check, 1000);
      records[i].weight = check_real(&check);
      seen[i] = (uint32_t)check_random(&check);
    }
    fill_double(&check, a, n);
    fill_double(&check, b, n);
    fill_double(&check, c, n);
    fill_double(&check, d, n);
    fill_double(&check, e, n + 1);
    fill_double(&check, kept, MOST);
    fill_float(&check, kept_also, MOST);
    fill_float(&check, f, n * LENGTH);
    fill_float(&check, g, n);
    permute(&check, to, n);
    permute(&check, bytes, n);
    for (size_t i = 0; i < n; i++) {
      /* Some places very often, others rarely. */
      if (outputs)
        to[i] = (int)(check_below(&check, 3) == 0 ? check_below(&check, n) : check_below(&check, 1 + n / 64));
      wide[i] = outputs ? to[i] : LENGTH * to[i];
      bytes[i] = outputs ? (int)check_below(&check, 4 * n) : (int)(4 * n) + bytes[i];
    }
    /* Everybody loads what is stored later, or before. */
    for (size_t i = 0; i < n; i++)
      from[i] = antis ? to[i + 1 < n ? i + check_below(&check, n - i) : i] : flows && i != 0 ? to[check_below(&check, i)] : to[i];
    /* What nobody stores to. */
    for (size_t i = 0; i < n; i++)
      none[i] = outputs ? (int)n : from[i];
    for (size_t i = 0; i < (size_t)few; i++) {
      size_t own_row = outputs ? i / 3 : antis || flows ? i : i / 2 * 2;
      size_t other = outputs ? (size_t)few : antis ? i + 1 : flows && i != 0 ? i - 1 : i | 1;
      to_rows[i] = m[own_row];
      from_rows[i] = m[other > (size_t)few ? (size_t)few : other];
    }
    for (size_t i = 0; i < lots; i++) {
      shorts[i] = (short)check_below(&check, 1000);
      values[i] = (uint32_t)check_random(&check);
      /* Who stores so often is not the last one that stores to its place. */
      pairs[i] = (int)(outputs ? i / 2 : lots - 1 - i);
      times[i] = i == lots / 8 * 4 ? 50000 : i % 64 < 2;
    }
    fill_double(&check, &m[0][0], ((size_t)few + 1) * LENGTH);
    uint32_t last = 0;
    check_start(&check);
    last_writer(words, to, in, size);
    twice(longs, to, in, size);
    windows(f, wide, g, outputs ? size - LENGTH : size);
    longs[0] += counted(numbers, to, in, size, &last);
    longs[1] += last;
    fields(records, to, to, in, size);
    widths((unsigned char *)words, to, bytes, in, size);
    conditions(c, to, b, size);
    shifted(a, to, from, b, size);
    check_stop(&check);
    check_array(&check, "words", words, 2 * n, sizeof *words);
    check_array(&check, "longs", longs, n, sizeof *longs);
    check_array(&check, "a", a, n, sizeof *a);
    check_array(&check, "numbers", numbers, n, sizeof *numbers);
    check_start(&check);
    own(a, b, to, c, size);
    partly((unsigned char *)words, seen, to, in, size);
    added(c, to, b, size);
    first(numbers, to, size);
    if (size <= MOST) {
      beside(to, b, size);
      beside_aliases(e, e, to, b, size);
    }
    aliases(e, e, to, b, size);
    both(c, to, from, b, size);
    again(e, d, to, none, c, size);
    singles(f, h, to, none, g, size);
    rows(to_rows, from_rows, few, LENGTH);
    pointers(h, outputs ? h + 2 : g, outputs ? h + 1 : f, f + n, size - 2);
    wide_pointers(c, outputs ? c + 2 : d, outputs ? c + 1 : e, b, size - 2);
    many(shorts, pairs, times, values, (int)lots);
    check_stop(&check);
    check_array(&check, "seen", seen, n, sizeof *seen);
    check_array(&check, "words", words, 2 * n, sizeof *words);
    check_array(&check, "a", a, n, sizeof *a);
    check_array(&check, "b", b, n, sizeof *b);
    check_array(&check, "c", c, n, sizeof *c);
    check_array(&check, "kept", kept, MOST, sizeof *kept);
    check_array(&check, "kept_also", kept_also, MOST, sizeof *kept_also);
    check_array(&check, "table", table, MOST, sizeof *table);
    check_array(&check, "d", d, n, sizeof *d);
    check_array(&check, "e", e, n + 1, sizeof *e);
    check_array(&check, "f", f, n * LENGTH, sizeof *f);
    check_array(&check, "h", h, n, sizeof *h);
    check_array(&check, "numbers", numbers, n, sizeof *numbers);
    check_array(&check, "records", records, n, sizeof *records);
    check_array(&check, "shorts", shorts, lots, sizeof *shorts);
    check_array(&check, "m", m, (size_t)few + 1, sizeof *m);
  }
  free(in);
  free(words);
  free(longs);
  free(seen);
  free(a);
  free(b);
  free(c);
  free(d);
  free(e);
  free(none);
  free(f);
  free(h);
  free(g);
  free(to);
  free(from);
  free(wide);
  free(bytes);
  free(numbers);
  free(records);
  free(m);
  free(shorts);
  free(times);
  free(pairs);
  free(values);
  free(to_rows);
  free(from_rows);
  return check_close(&check);
}
