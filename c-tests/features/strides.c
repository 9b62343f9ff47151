/* Loops whose step is no constant: up and down, with and without a sign, narrow, wide, beside other variables; steps that are
 * 0, negative, or lead past the end of the type; limits that are quotients.
 *
 * test size: 3000
 * expect up: runs on clean
 * expect upto: runs on clean
 * expect down: runs on clean
 * expect wide: runs on clean
 * expect mixed: runs on clean
 * expect two: runs on clean
 * expect sieve: runs on clean
 * expect quotient: runs on clean
 * expect narrow: runs on clean
 * expect in_place: runs on clean */
#include "../support/inputs.h"

COMPUTE static long up(int first, int n, int step, const int *in, int *out)
{
  int i, last = 0;
  for (i = first; i < n; i += step) { /* loop up */
    out[i] = in[i] + i;
    last = i;
  }
  return last + 3L * i;
}

COMPUTE static int upto(int n, int by, const int *in, int *out)
{
  int i;
  for (i = 1; i <= n; i += 2 * by + 1) /* loop upto */
    out[i - 1] = in[i - 1] * 5;
  return i;
}

COMPUTE static long down(int n, long step, const int *in, int *out)
{
  long total = 0;
  for (long i = n - 1; i >= 0; i -= step) { /* loop down */
    out[i] += in[i];
    total += i;
  }
  return total;
}

COMPUTE static unsigned long wide(size_t n, size_t step, const int *in, int *out)
{
  size_t i;
  for (i = 0; i < n; i += step) /* loop wide */
    out[i] = in[i] - 1;
  return i;
}

/* Compared in another type than it counts in. */
COMPUTE static unsigned mixed(size_t n, short step, const int *in, int *out)
{
  unsigned i;
  for (i = 2; i < n; i += (unsigned)step) /* loop mixed */
    out[i] ^= in[i];
  return i;
}

COMPUTE static long two(int n, int step, int other, const int *in, int *out)
{
  int i, j;
  for (i = 0, j = 5; i < n; i += step, j += other) /* loop two */
    out[i] = in[i] + j;
  return i + 3L * j;
}

COMPUTE static void sieve(int n, unsigned char *composite)
{
  for (int p = 2; p * p <= n; p++)
    if (!composite[p])
      for (int m = p * p; m <= n; m += p) /* loop sieve */
        composite[m] = 1;
}

COMPUTE static void quotient(int n, int by, int *out)
{
  for (int i = 0; i < n / by; i++) /* loop quotient */
    out[i] -= i;
}

COMPUTE static int narrow(short n, unsigned char step, const int *in, int *out)
{
  short i;
  for (i = 0; i < n; i += step) /* loop narrow */
    out[i] = in[i] * 2;
  return i;
}

/* The distance is the step, or not. */
COMPUTE static void in_place(int n, int step, int distance, int *out)
{
  for (int i = 0; i < n - 40; i += step) /* loop in_place */
    out[i] = out[i + distance] + 1;
}

/* Steps that aren't fit to count with: the loop may still end. */
COMPUTE static long odd(int n, int zero, unsigned huge, int *out)
{
  int turns = 0, changed = 3;
  for (int i = 0; i < n; i += zero) {
    out[i] += 1;
    if (++turns > 4)
      n = 0;
  }
  for (unsigned i = 10; i > 3; i += huge) {
    out[i] += 2;
    turns++;
  }
  for (int i = 0; i < 100; i += changed) {
    out[i] += 3;
    changed++;
  }
  for (int i = 0; i != 12; i += changed % 4 + 3)
    out[i] += 5, turns++;
  return turns + changed;
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "raw", NULL};
  struct check check = check_open(argc, argv, 1u << 20, inputs);
  int n = (int)check.size, overlap = check_is(&check, "raw");
  size_t size = (size_t)n;
  enum { FUNCTIONS = 10 };
  int *in = check_alloc(&check, size, sizeof *in), *out = check_alloc(&check, FUNCTIONS * size, sizeof *out);
  unsigned char *composite = check_alloc(&check, size, 1);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    for (size_t i = 0; i < size; i++)
      in[i] = (int)check_below(&check, 1000);
    for (size_t i = 0; i < FUNCTIONS * size; i++)
      out[i] = (int)(i % 17);
    for (size_t i = 0; i < size; i++)
      composite[i] = 0;
    check_start(&check);
    long after = up(3, n, 2 + overlap, overlap ? out + 2 : in, out);
    after += upto(n, 1, in, out + size);
    after += down(n, 3, in, out + 2 * size);
    after += (long)wide(size, 5, in, out + 3 * size);
    after += mixed(size, 4, in, out + 4 * size);
    after += two(n, 2, -3, in, out + 5 * size);
    sieve(n - 1, composite);
    quotient(n, 2, out + 6 * size);
    after += narrow((short)(n < 30000 ? n : 30000), 2, in, out + 7 * size);
    in_place(n, 4, overlap ? 4 : 3, out + 8 * size);
    after += odd(n, 0, (unsigned)-1, out + 9 * size);
    after += up(5, n, n, in, out) + up(n, n, 1, in, out) + up(n + 1, n, 7, in, out);
    after += upto(0, 3, in, out) + (long)wide(0, 3, in, out) + mixed(1, 1, in, out);
    check_stop(&check);
    printf("after: %ld\n", after);
    check_array(&check, "out", out, FUNCTIONS * size, sizeof *out);
    check_array(&check, "composite", composite, size, 1);
  }
  free(in);
  free(out);
  free(composite);
  return check_close(&check);
}
