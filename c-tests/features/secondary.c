/* Variables that move beside the induction variable: counters, unsigned and narrow ones, several per loop, moved before and
 * after their use, backwards, by steps known only at run time; and ones that only look like it.
 *
 * test size: 3001
 * expect pack: runs on clean
 * expect before_and_after: runs on clean
 * expect blocks: runs on clean
 * expect narrow: runs on clean
 * expect pairs: runs on clean
 * expect either_way: runs on clean
 * expect table: runs on clean
 * expect chained: runs on clean
 * expect records: runs on clean
 * expect shift: conflicts on raw */
#include "../support/inputs.h"

/* Every second element, closed up. */
COMPUTE static int pack(int n, const float *in, float *out)
{
  int last = -1;
  for (int i = 0; i < n; i += 2) /* loop pack */
    out[++last] = in[i];
  return last;
}

COMPUTE static long before_and_after(int n, const float *in, float *out)
{
  unsigned at = 0;
  long height = 7;
  const float *next = in;
  for (int i = n - 1; i >= 0; i--) { /* loop before_and_after */
    float value = *next++;
    out[at] = value + (float)height;
    if (value > 0.5f)
      out[at] += *next;
    at += 2;
    out[at - 1] = (float)i;
    height -= 3;
  }
  return height + (long)at + (next - in);
}

/* A pointer that jumps a block at a time. */
COMPUTE static void blocks(int n, int width, float *p)
{
  for (int i = 0; i < n; i++) { /* loop blocks */
    for (int j = 0; j < width; j++)
      p[j] += (float)(i * j);
    p += width;
  }
}

/* The counter wraps around at 256, so elements are hit again: only run it where it doesn't. */
COMPUTE static int narrow(int n, float *out)
{
  unsigned char small = 0;
  short step = 0;
  for (int i = 0; i < n; i++, small++) { /* loop narrow */
    out[small] += 1.0f;
    step -= 2;
  }
  return small + step;
}

COMPUTE static void shift(int n, const float *in, float *out)
{
  for (int i = 0; i < n; i++) /* loop shift */
    *++out = *in++ + 1.0f;
}

/* Moved under a condition: no induction variable. */
COMPUTE static int filter(int n, const float *in, float *out)
{
  int found = 0;
  for (int i = 0; i < n; i++)
    if (in[i] > 0.5f)
      out[found++] = in[i];
  return found;
}

/* Moved twice, and by the step and the body. */
COMPUTE static int twice(int n, float *out)
{
  int at = 0;
  for (int i = 0; i < n; i++, at++)
    out[at++] = (float)i;
  return at;
}

COMPUTE static int pairs(int n, const float *in, float *out)
{
  int at = -1;
  for (int i = 0; i < n; i++) { /* loop pairs */
    at++;
    out[at] = in[i];
    ++at;
    out[at] = -in[i];
  }
  return at;
}

COMPUTE static unsigned either_way(int n, const float *in, float *out)
{
  unsigned at = 0;
  for (int i = 0; i < n; i++) /* loop either_way */
    if (in[i] > 0.0f) {
      out[at] = in[i];
      at += 2;
    } else {
      at++;
      out[at++] = 0.5f;
    }
  return at;
}

/* One element after the other, row by row; a gap behind each row. */
COMPUTE static long table(int rows, int columns, const float *in, float *out)
{
  long at = 0;
  for (int i = 0; i < rows; i++) { /* loop table */
    for (int j = 0; j < columns; j++)
      out[at++] = in[j] * (float)i;
    at += 3;
  }
  return at;
}

/* Through another variable. */
COMPUTE static int chained(int n, const float *in, float *out)
{
  int at = 0, next;
  for (int i = 0; i < n; i++) { /* loop chained */
    next = at + 1;
    out[at] = in[next];
    at = next + 1;
    out[next] = in[i];
  }
  return at;
}

COMPUTE static float *records(int n, const float *in, float *out)
{
  for (int i = 0; i < n; i++) { /* loop records */
    *out++ = in[i];
    *out++ = (float)i;
    out = out + 1;
  }
  return out;
}

/* Moved differently: by the ways, by the rounds, by what is loaded. */
COMPUTE static int uneven(int n, const float *in, float *out)
{
  int at = 0, rounds = 0, other = 0;
  for (int i = 0; i < n; i++) {
    if (in[i] > 0.0f)
      at += 2;
    else
      at++;
    out[at] = in[i];
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i % 3; j++)
      rounds++;
    out[rounds] += in[i];
  }
  for (int i = 0; i < n; i++) {
    int by = in[i] > 0.0f;
    other += by;
    out[other] -= 1.0f;
    other = other + by;
  }
  return at + 3 * rounds + 5 * other;
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "raw", NULL};
  struct check check = check_open(argc, argv, 1u << 20, inputs);
  int n = (int)check.size, overlap = check_is(&check, "raw");
  float *in = check_alloc(&check, (size_t)n + 1, sizeof *in);
  float *out = check_alloc(&check, 8 * (size_t)n, sizeof *out);
  float *more = check_alloc(&check, 16 * (size_t)n, sizeof *more);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_float(&check, in, (size_t)n + 1);
    fill_float(&check, out, 8 * (size_t)n);
    fill_float(&check, more, 16 * (size_t)n);
    check_start(&check);
    int last = pack(n, in, out);
    long after = before_and_after(n, in, out + n);
    blocks(n / 7, 7, out + 3 * n);
    int small = narrow(overlap ? n : n < 200 ? n : 200, out + 4 * n);
    shift(n - 1, overlap ? out + 5 * n : in, out + 5 * n);
    int found = filter(n, in, out + 6 * n);
    int moved = twice(n / 2, out + 7 * n);
    long at = pairs(n, in, more) + 3L * either_way(n, in, more + 2 * n) + 5L * table(n / 40, 37, in, more + 4 * n);
    at += chained(n / 2, in, more + 6 * n) + (records(n, in, more + 8 * n) - more);
    at += uneven(n, in, more + 12 * n);
    check_stop(&check);
    printf("after: %d %ld %d %d %d %ld\n", last, after, small, found, moved, at);
    check_array(&check, "out", out, 8 * (size_t)n, sizeof *out);
    check_array(&check, "more", more, 16 * (size_t)n, sizeof *more);
  }
  free(in);
  free(out);
  free(more);
  return check_close(&check);
}
