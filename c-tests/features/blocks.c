/* memcpy and memset in loops: rows of matrices, structs, numbers out of bytes, arrays of an iteration's own, with sizes that are constants, computed, in memory, or none, and types that the bytes
 * have nothing to do with.
 *
 * test size: 347
 * expect rows: runs on clean
 * expect product: runs on clean
 * expect modes: runs on clean
 * expect structs: runs on clean
 * expect pairs: runs on clean
 * expect swapped: runs on clean
 * expect lines: runs on clean
 * expect filled: runs on clean
 * expect ones: runs on clean
 * expect table: runs on clean
 * expect lengths: runs on clean
 * expect image: runs on clean
 * expect other: runs on clean
 * expect shifted: stays on clean
 * expect moved: stays on clean */
#include "../support/inputs.h"

struct point {
  double x, y;
  int tag;
  unsigned char flags[3];
};

struct image {
  int width, height;
  unsigned char *data;
};

enum { WIDTH = 37 };

COMPUTE static void rows(int n, int m, double *to, const double *from)
{
  for (int i = 0; i < n; i++) /* loop rows */
    memcpy(to + i * m, from + (n - 1 - i) * m, m * sizeof *to);
}

COMPUTE static void product(int n, double *c, const double *a, const double *b)
{
  for (int i = 0; i < n; i++) { /* loop product */
    memset(c + i * n, 0, n * sizeof(double));
    for (int k = 0; k < n; k++)
      for (int j = 0; j < n; j++)
        c[i * n + j] += a[i * n + k] * b[k * n + j];
  }
}

COMPUTE static void modes(int n, int m, int *out, const unsigned char *a)
{
  for (int i = 0; i < n; i++) { /* loop modes */
    int count[64], best = 0, last[4];
    memset(count, 0, sizeof count);
    memset(last, 0xff, sizeof last);
    for (int j = 0; j < m; j++) {
      count[a[i * m + j] & 63]++;
      last[a[i * m + j] & 3] = j;
    }
    for (int j = 1; j < 64; j++)
      best = count[j] > count[best] ? j : best;
    out[i] = best * 100 + last[0] + last[3];
  }
}

COMPUTE static void structs(int n, struct point *to, const struct point *from, const int *order)
{
  for (int i = 0; i < n; i++) { /* loop structs */
    if (order[i] % 3 == 0)
      memset(&to[i], 0, sizeof *to);
    else
      memcpy(&to[i], from + order[i], sizeof(struct point));
    to[i].tag++;
    memset(to[i].flags, i, sizeof to[i].flags);
  }
}

/* A struct without bytes between its members, which are variables. */
struct pair {
  double low, high;
  long tag;
};

COMPUTE static void pairs(int n, struct pair *to, const struct pair *from)
{
  for (int i = 0; i < n; i++) { /* loop pairs */
    struct pair one, two;
    memcpy(&one, &from[i], sizeof one);
    memcpy(&two, &one, sizeof(struct pair));
    one.low += two.high * 0.5;
    two.tag ^= i;
    if (one.tag & 1)
      memcpy(&one, &two, sizeof two);
    memcpy(to + i, &one, sizeof *to);
  }
}

/* Where the copied struct comes from, the one that it goes to says. */
struct node {
  const struct node *next;
  long value;
};

COMPUTE static void followed(int n, const struct node *nodes, long *out)
{
  struct node node;
  for (int i = 0; i < n; i++) { /* loop followed */
    memcpy(&node, &nodes[i], sizeof node);
    memcpy(&node, node.next, sizeof node);
    out[i] = node.value * 3 + node.next->value;
  }
}

static uint32_t read32(const void *p)
{
  uint32_t x;
  memcpy(&x, p, sizeof x);
  return x;
}

static void write32(void *p, uint32_t x)
{
  memcpy(p, &x, sizeof(x));
}

COMPUTE static void swapped(int n, unsigned char *to, const unsigned char *from)
{
  for (int i = 0; i < n; i++) /* loop swapped */
    write32(to + 4 * i, __builtin_bswap32(read32(from + 4 * i)) ^ read32(from + 4 * i + 4));
}

/* Several members at once, by the address of the first of them. */
COMPUTE static void together(int n, size_t size, int *out)
{
  for (int i = 0; i < n; i++) {
    struct point point = {i, i, i, {1, 2, 3}}, other = point, third = point;
    memset(&point.y, 0, sizeof point - sizeof point.x);
    memset(&other.x, 0, 2 * sizeof other.x);
    memset(third.flags, 0, size);
    out[i] = point.tag + point.flags[1] + (int)point.x + (int)other.y + other.tag * 3 + third.flags[i % 3];
  }
}

/* Where no number lies at a multiple of its size: no device has an answer to that. */
COMPUTE static void askew(int n, unsigned char *to, const unsigned char *from)
{
  for (int i = 0; i < n; i++)
    write32(to + 4 * i + 1, read32(from + 4 * i + 3) + (uint32_t)i);
}

/* A size in memory that the loop may change, as far as anybody knows, and the name of the builtin. */
COMPUTE static void lines(size_t n, const size_t *length, char *to, const char *from)
{
  for (size_t i = 0; i < n; i++) /* loop lines */
    __builtin_memcpy(to + i * WIDTH, from + i * WIDTH, length[0]);
}

COMPUTE static void filled(int n, int m, char *to, const signed char *with)
{
  for (int i = 0; i < n; i++) { /* loop filled */
    memset(to + i * m, with[i], m);
    memset(to + i * m + m / 2, i, m / 4u);
  }
}

COMPUTE static void ones(int n, int m, short *to)
{
  for (int i = 0; i < n; i++) { /* loop ones */
    memset(to + (long)i * m, 0xff, (size_t)m << 1);
    memset(&to[(long)i * m + 1], -1, (size_t)(m - m));
  }
}

COMPUTE static void table(int n, int m, float *const *to, float *const *from)
{
  for (int i = 0; i < n; i++) /* loop table */
    memcpy(to[i], from[n - 1 - i], m * sizeof **to);
}

COMPUTE static void lengths(int n, const int *begin, int *to, const int *from)
{
  for (int i = 0; i < n; i++) /* loop lengths */
    memcpy(&to[begin[i]], &from[begin[i]], (begin[i + 1] - begin[i]) * sizeof(int));
}

COMPUTE static void image(struct image *to, const struct image *from, int by)
{
  for (int y = 0; y < to->height - by; y++) /* loop image */
    memcpy(to->data + y * to->width, from->data + (y + by) * from->width, to->width);
}

/* What is copied as integers is read as floating-point numbers in the same loop. */
COMPUTE static void other(int n, void *room, const unsigned long *bits, double *out)
{
  for (int i = 0; i < n; i++) { /* loop other */
    memcpy((unsigned long *)room + 2 * i, bits + i, sizeof *bits);
    out[i] = ((double *)room)[2 * i] * 2;
    memset((float *)room + 4 * i + 2, 0, 8);
  }
}

/* Each row is what the one before has become. */
COMPUTE static void shifted(int n, int m, int *a)
{
  for (int i = 1; i < n; i++) { /* loop shifted */
    memcpy(a + i * m, a + (i - 1) * m, m * sizeof *a);
    a[i * m] += i;
  }
}

/* Both sides may have bytes in common. */
COMPUTE static void moved(int n, int m, int *a)
{
  for (int i = 0; i < n; i++) /* loop moved */
    memmove(a + i * m + 1, a + i * m, (m - 1) * sizeof *a);
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", NULL};
  struct check check = check_open(argc, argv, 700, inputs);
  const int n = (int)check.size, m = WIDTH;
  const size_t all = check.size * check.size, some = check.size * WIDTH;
  double *a = check_alloc(&check, all, sizeof *a), *b = check_alloc(&check, all, sizeof *b), *c = check_alloc(&check, all, sizeof *c);
  double *d = check_alloc(&check, some, sizeof *d), *out = check_alloc(&check, check.size, sizeof *out);
  unsigned char *bytes = check_alloc(&check, some + 8, 1), *others = check_alloc(&check, some + 8, 1);
  char *text = check_alloc(&check, some, 1), *more = check_alloc(&check, some, 1);
  signed char *with = check_alloc(&check, check.size, 1);
  int *order = check_alloc(&check, check.size, sizeof *order), *counts = check_alloc(&check, check.size, sizeof *counts);
  int *begin = check_alloc(&check, check.size + 1, sizeof *begin), *numbers = check_alloc(&check, some, sizeof *numbers);
  int *copies = check_alloc(&check, some, sizeof *copies), *chain = check_alloc(&check, some, sizeof *chain);
  struct node *nodes = check_alloc(&check, check.size, sizeof *nodes);
  long *values = check_alloc(&check, check.size, sizeof *values);
  int *sums = check_alloc(&check, check.size, sizeof *sums);
  short *shorts = check_alloc(&check, some, sizeof *shorts);
  float *floats = check_alloc(&check, 2 * some, sizeof *floats), **from = check_alloc(&check, check.size, sizeof *from);
  float **to = check_alloc(&check, check.size, sizeof *to);
  struct point *points = check_alloc(&check, check.size, sizeof *points), *made = check_alloc(&check, check.size, sizeof *made);
  struct pair *some_pairs = check_alloc(&check, check.size, sizeof *some_pairs), *pairs_made = check_alloc(&check, check.size, sizeof *pairs_made);
  unsigned long *bits = check_alloc(&check, check.size, sizeof *bits);
  double *room = check_alloc(&check, 2 * check.size, sizeof *room);
  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_double(&check, a, all);
    fill_double(&check, b, all);
    fill_float(&check, floats, 2 * some);
    fill_double(&check, (double *)bits, check.size);
    for (size_t i = 0; i < some; i++) {
      bytes[i] = (unsigned char)check_below(&check, 256);
      more[i] = (char)check_below(&check, 100);
      numbers[i] = (int)check_below(&check, 1000);
      chain[i] = numbers[i];
      copies[i] = -1, text[i] = 1, others[i] = 2, shorts[i] = 3;
    }
    begin[0] = 0;
    for (int i = 0; i < n; i++) {
      order[i] = (int)check_below(&check, check.size);
      with[i] = (signed char)check_below(&check, 256);
      begin[i + 1] = begin[i] + (int)check_below(&check, WIDTH);
      from[i] = floats + (size_t)i * WIDTH, to[i] = floats + some + (size_t)i * WIDTH;
      points[i] = (struct point){i, i * 0.5, i, {1, 2, 3}};
      memset(&made[i], 5, sizeof made[i]);
      nodes[i] = (struct node){nodes + (i * 7 + 3) % n, i * 5};
      some_pairs[i] = (struct pair){i * 0.25, i, i % 7};
    }
    size_t length[2] = {WIDTH - 3, 0};
    struct image one = {WIDTH, n, bytes}, two = {WIDTH, n, others};
    check_start(&check);
    rows(n, m, d, a);
    product(n, c, a, b);
    modes(n, m, counts, bytes);
    structs(n, made, points, order);
    pairs(n, pairs_made, some_pairs);
    lines(check.size, length, text, more);
    table(n, m, to, from);
    lengths(n, begin, copies, numbers);
    image(&two, &one, 3);
    followed(n, nodes, values);
    together(n, length[1] + 2, sums);
    swapped(n, others, bytes);
    askew(n, others, bytes);
    other(n, room, bits, out);
    ones(n, m, shorts);
    shifted(n, m, chain);
    moved(n, m, numbers);
    filled(n, m, more, with);
    check_stop(&check);
    check_array(&check, "d", d, some, sizeof *d);
    check_array(&check, "c", c, all, sizeof *c);
    check_array(&check, "counts", counts, n, sizeof *counts);
    check_array(&check, "made", made, n, sizeof *made);
    check_array(&check, "pairs", pairs_made, n, sizeof *pairs_made);
    check_array(&check, "sums", sums, n, sizeof *sums);
    check_array(&check, "values", values, n, sizeof *values);
    check_array(&check, "text", text, some, 1);
    check_array(&check, "floats", floats, 2 * some, sizeof *floats);
    check_array(&check, "copies", copies, some, sizeof *copies);
    check_array(&check, "others", others, some, 1);
    check_array(&check, "room", room, 2 * check.size, sizeof *room);
    check_array(&check, "out", out, n, sizeof *out);
    check_array(&check, "shorts", shorts, some, sizeof *shorts);
    check_array(&check, "chain", chain, some, sizeof *chain);
    check_array(&check, "numbers", numbers, some, sizeof *numbers);
    check_array(&check, "more", more, some, 1);
  }
  free(a), free(b), free(c), free(d), free(out), free(bytes), free(others), free(text), free(more), free(with), free(order), free(counts);
  free(begin), free(numbers), free(copies), free(chain), free(shorts), free(floats), free(from), free(to), free(points), free(made), free(nodes), free(values), free(sums), free(some_pairs), free(pairs_made), free(bits), free(room);
  return check_close(&check);
}
