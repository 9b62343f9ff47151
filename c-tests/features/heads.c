/* Loops that count without being plain for statements: while and do loops, pointers that are compared with an end, variables
 * set before the loop or several in the first clause, tests that count themselves. All have to leave every variable as the
 * loop would. And ones that only look like it.
 *
 * test size: 3001
 * expect down: runs on clean
 * expect down_signed: runs on clean
 * expect before_test: runs on clean
 * expect upto: runs on clean
 * expect at_end: runs on clean
 * expect at_end_moved: runs on clean
 * expect after_test: runs on clean
 * expect ends: runs on clean
 * expect backwards: runs on clean
 * expect structs: runs on clean
 * expect second: runs on clean
 * expect together: runs on clean
 * expect open: runs on clean
 * expect in_body: runs on clean
 * expect narrow_count: runs on clean
 * expect sum: runs on clean
 * expect own_bytes: runs on clean
 * expect long_way: runs on clean
 * expect from_memory: runs on clean
 * expect beside: runs on clean
 * expect shift: conflicts on raw */
#include "../support/inputs.h"

struct point {
  int x, y, z;
};

COMPUTE static unsigned long downs(size_t n, int m, const float *in, float *out)
{
  const float *from = in;
  float *to = out;
  size_t left = n;
  while (left--) /* loop down */
    *to++ = *from++ * 2.0f;
  int rest = m;
  while (rest-- > 0) /* loop down_signed */
    out[rest] += (float)rest;
  int index = m;
  while (--index >= 0) /* loop before_test */
    out[index] -= 0.5f;
  return (unsigned long)left * 3 + (unsigned long)rest * 5 + (unsigned long)index * 7 + (unsigned long)(to - out) * 11 +
         (unsigned long)(from - in) * 13;
}

COMPUTE static long ups(int n, const float *in, float *out)
{
  int i = 0;
  while (i < n) { /* loop upto */
    out[i] = in[i] + 1.0f;
    i += 1;
  }
  int j = 0;
  do { /* loop at_end */
    out[j] *= 3.0f;
  } while (++j < n);
  int k = n;
  do { /* loop at_end_moved */
    k--;
    out[k] -= in[k];
  } while (k != 0);
  int l = n - 1;
  do /* loop after_test */
    out[l] += 0.25f;
  while (l-- > 0);
  return i + 3L * j + 5L * k + 7L * l;
}

COMPUTE static long pointers(size_t n, const float *in, float *out, struct point *points)
{
  const float *from;
  float *to = out, *const end = out + n;
  for (from = in; to < end; to++, from++) /* loop ends */
    *to = *from - 1.0f;
  float *back = out + n;
  while (back != out) { /* loop backwards */
    back = back - 1;
    *back *= 0.5f;
  }
  int number = 0;
  for (struct point *p = points, *last = points + n; p != last; ++p) { /* loop structs */
    p->y = p->x + number;
    number += 2;
  }
  long twos = 0;
  for (struct point *p = points; p < points + n; p += 2) { /* loop second */
    p->z = p->y;
    twos += p->x;
  }
  return (from - in) + 3 * (to - out) + 5 * (back - out) + number + twos;
}

COMPUTE static long several(int n, const float *in, float *out)
{
  int i, j, last;
  long sum;
  for (i = 0, j = 2 * n - 2; i < n; i++, j -= 2) /* loop together */
    out[i] = in[j / 2] + (float)j;
  for (; i > 5; i--) /* loop open */
    out[i - 1] += 1.5f;
  for (last = n, sum = 0; last > 0;) { /* loop in_body */
    --last;
    out[last] *= 1.25f;
    sum += last;
  }
  return i + 3L * j + 5L * last + sum;
}

COMPUTE static long types(int n, unsigned char few, unsigned *out)
{
  unsigned char count = few;
  unsigned at = 0;
  while (count--) { /* loop narrow_count */
    out[at] = count;
    at++;
  }
  long total;
  int i;
  for (i = 0, total = 7; i < n; i++) /* loop sum */
    total += (long)(out[i] & 15u);
  unsigned char *byte = (unsigned char *)out, *stop = (unsigned char *)(out + n);
  while (byte < stop) { /* loop own_bytes */
    *byte = (unsigned char)(*byte + 1);
    byte += sizeof *out;
  }
  unsigned left = (unsigned)n;
  while (left >= 3) { /* loop long_way */
    left -= 3;
    out[left] ^= left;
  }
  return count + 3L * at + total + (byte - stop) + left;
}

struct view {
  int *data;
  long size;
};

/* What the first clause declares has no name in front of the loop. */
COMPUTE static void members(const struct view *v)
{
  for (int *p = v->data, *end = p + v->size; p < end; p++) /* loop from_memory */
    *p ^= 5;
}

static int table[16];

/* An array that only the first clause names. */
COMPUTE static long named(int n, unsigned *out)
{
  int i, *kept;
  for (i = 0, kept = table + 3; i < n; i++) /* loop beside */
    out[i] += 7;
  return kept - table;
}

/* Each iteration reads what the one before it wrote, where `in` is `out`. */
COMPUTE static void shifts(size_t n, const float *in, float *out)
{
  while (n--) { /* loop shift */
    out++;
    *out = *in + 1.0f;
    in++;
  }
}

/* The limit moves, the variable moves twice or not always, the test doesn't end where counting does. */
COMPUTE static long others(int n, float *out)
{
  int i = 0, end = n, twice = 0, seldom = 0, skipping = 0, odd = 1;
  while (i < end) {
    out[i] = (float)end;
    i++;
    if (i % 3 == 0)
      end--;
  }
  while (twice < n) {
    twice++;
    out[twice - 1] += 1.0f;
    twice++;
  }
  while (seldom < n) {
    if (out[seldom] < 1e30f)
      seldom++;
  }
  while (skipping < n) {
    if (skipping++ % 4 == 0)
      continue;
    out[skipping - 1] *= 2.0f;
  }
  while (odd != n + 1 - n % 2)
    odd += 2;
  unsigned none = 0, short_way = 5;
  while (none-- > 0)
    out[none] = 0.0f;
  do
    out[short_way] = 9.0f;
  while (--short_way > 5);
  for (int a = 0, b = n; a < b; a++, b--)
    out[a] += (float)b;
  return i + 3L * end + 5L * twice + 7L * seldom + 11L * skipping + 13L * odd + none + short_way;
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "raw", NULL};
  struct check check = check_open(argc, argv, 1u << 20, inputs);
  int n = (int)check.size, overlap = check_is(&check, "raw");
  float *in = check_alloc(&check, (size_t)n + 1, sizeof *in);
  float *out = check_alloc(&check, 6 * (size_t)n + 1, sizeof *out);
  unsigned *numbers = check_alloc(&check, (size_t)n, sizeof *numbers);
  struct point *points = check_alloc(&check, (size_t)n, sizeof *points);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_float(&check, in, (size_t)n + 1);
    fill_float(&check, out, 6 * (size_t)n + 1);
    for (int i = 0; i < n; i++) {
      numbers[i] = (unsigned)check_below(&check, 1000);
      points[i] = (struct point){(int)check_below(&check, 1000), 0, 0};
    }
    check_start(&check);
    unsigned long down = downs((size_t)n, n - 3, in, out);
    long up = ups(n, in, out + n);
    long walked = pointers((size_t)n, in, out + 2 * n, points);
    long many = several(n, in, out + 3 * n);
    long typed = types(n, 200, numbers);
    members(&(struct view){(int *)numbers, n});
    typed += named(n, numbers);
    shifts((size_t)n, overlap ? out + 4 * n : in, out + 4 * n);
    long other = others(n, out + 5 * n);
    check_stop(&check);
    printf("after: %lu %ld %ld %ld %ld %ld\n", down, up, walked, many, typed, other);
    check_array(&check, "out", out, 6 * (size_t)n + 1, sizeof *out);
    check_array(&check, "numbers", numbers, (size_t)n, sizeof *numbers);
    check_array(&check, "points", points, 3 * (size_t)n, sizeof(int));
  }
  free(in);
  free(out);
  free(numbers);
  free(points);
  return check_close(&check);
}
