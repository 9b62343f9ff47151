/* Members of structs that nobody has the address of are variables of loops: read, combined, counted by, left behind; and structs that can't be taken apart. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 5000 };
enum shade { DIM = 3, BRIGHT = 7 };
struct input {
  int n;
  double scale;
  const int *order;
  struct {
    short first;
    unsigned char mask;
  } part;
  enum shade shade;
  struct {
    long hidden;
  };
  _Bool doubled;
};
struct sums {
  long sum;
  unsigned char narrow;
  int least, at, count, last;
  double *next;
};
static double a[COUNT], b[2 * COUNT];
static int order[COUNT];

__attribute__((noinline)) static void read_only(struct input in, double *to)
{
  for (int i = 0; i < in.n; i++) /* entered */
    to[i] = in.scale * in.order[i] + (in.part.first & in.part.mask) + in.shade + in.hidden + in.doubled;
}

__attribute__((noinline)) static struct sums combined(int n, const int *values, double *to)
{
  struct sums s = {1, 250, 1 << 30, -1, 0, 0, to};
  for (int i = 0; i < n; i++) { /* entered */
    s.sum += values[i];
    s.narrow += 3;
    if (values[i] < s.least) {
      s.least = values[i];
      s.at = i;
    }
    s.last = values[i] * 2;
    s.count++;
    *s.next++ = values[i];
  }
  return s;
}

/* The loop counts by a member, which is read behind it; with a first value from elsewhere. */
__attribute__((noinline)) static int counted_by(struct sums s, int n, double *to)
{
  for (s.at = s.count; s.at < n; s.at += 2) /* entered */
    to[s.at] = s.at + s.sum;
  return s.at * 10 + s.least;
}

/* Set where only some iterations come by, and where the loop is left: what was there stays otherwise. */
__attribute__((noinline)) static struct sums sometimes(int n, const int *values, int wanted)
{
  struct sums s;
  memset(&s, 0, sizeof s);
  struct sums t = s;
  for (int i = 0; i < n; i++) {
    b[i] = values[i];
    if (values[i] == wanted)
      t.at = i;
  }
  for (int i = 0; i < n; i++)
    if (values[i] == wanted) {
      t.least = i;
      break;
    }
  return t;
}

/* The whole struct is set in a loop around. */
__attribute__((noinline)) static long around(const struct input *from, int n, double *to)
{
  long all = 0;
  for (int k = 0; k < 4; k++) {
    struct input own = from[k & 1];
    struct sums s = {0};
    own.scale += k;
    for (int i = 0; i < n; i++) {
      to[i] = own.scale * i + own.n;
      s.sum += own.order[i];
    }
    own.n = (int)s.sum;
    struct input other = own;
    for (int i = 0; i < n; i++)
      to[i] -= other.n;
    all += s.sum * (k + 1) + other.n;
  }
  return all;
}

/* Loops may be led to these by other ways. */
__attribute__((noinline)) static double led_to(int n)
{
  struct input in = {n, 0.5, order, {1, 1}, DIM, {2}, 0};
  double *scale = &in.scale;
  struct {
    int values[4];
    int n;
  } list = {{1, 2, 3, 4}, n};
  double sum = 0;
  for (int i = 0; i < n; i++) {
    b[i] = in.scale * 2;
    if (i == 7)
      *scale = 3;
  }
  for (int i = 0; i < list.n; i++)
    b[i] += list.values[i & 3];
  for (int i = 0; i < n; i++)
    sum += b[i] * (i % 5);
  return sum;
}

/* A member leads to places that are kept in variables. */
struct kept {
  long total;
  int least;
};
struct leading {
  int n, other, val, row, column;
  struct kept *kept;
  double *to;
};
__attribute__((noinline)) static void behind(struct leading l, const int *values)
{
  for (int i = 0; i < l.n; i++) { /* entered */
    l.kept->total += values[i];
    if (values[i] < l.kept->least)
      l.kept->least = values[i];
  }
}

/* In front of the loop a member's name is a macro, in the loop it is none: with -g it stays as it stood. */
#define val other
__attribute__((noinline)) static void renamed(struct leading l, double *to, int n)
{
  for (int i = 0; i < n; i++) {
#undef val
    to[i] = l.val * 2.0 + l.other;
  }
}

/* A nest whose loops count by members. */
__attribute__((noinline)) static int nested(struct leading l, int n)
{
  for (l.row = 0; l.row < n; l.row++) /* entered */
    for (l.column = 0; l.column < 2; l.column++)
      l.to[l.row * 2 + l.column] = l.row - l.column;
  return l.row * 100 + l.column;
}

int main(int argc, char **argv)
{
  int n = argc > 1 ? atoi(argv[1]) : COUNT;
  struct input in[2] = {{n, 0.25, order, {0x1234, 0x35}, BRIGHT, {-9}, 1}, {n / 2, 4, order, {-1, 7}, DIM, {1}, 0}};
  for (int i = 0; i < COUNT; i++)
    order[i] = i * 7919 % COUNT + 1;
  for (int round = 0; round < 3; round++) {
    double sum = 0;
    read_only(in[round & 1], a);
    struct sums s = combined(n - round, order, b);
    printf("%ld %u %d %d %d %d %td\n", s.sum, s.narrow, s.least, s.at, s.count, s.last, s.next - b);
    s.count = round;
    printf("%d\n", counted_by(s, n, a));
    s = sometimes(n, order, 7920 - round);
    printf("%d %d %ld\n", s.at, s.least, around(in, n - 1, b + COUNT));
    for (int i = 0; i < COUNT; i++)
      sum += a[i] * (i % 3) + b[i + COUNT] * (i % 7);
    printf("%.17g %.17g\n", sum, led_to(n - 2));
    struct kept kept = {round, 1 << 30};
    struct leading l = {n, 11, 5, 0, 0, &kept, b};
    behind(l, order);
    renamed(l, a, n - round);
    printf("%ld %d %d %g %g\n", kept.total, kept.least, nested(l, n - 1), a[7], b[2 * n - 5]);
  }
  return 0;
}
