/* Loops that run not at all, once, downwards, in strides, and until they are equal to their limit.
 *
 * test size: 2003 */
#include "../support/inputs.h"

COMPUTE static void upwards(int from, int to, int step_by_three, int *a)
{
  for (int i = from; i < to; i++) /* loop up */
    a[i] = i * 3 + step_by_three;
  for (int i = from; i <= to - 1; i += 3) /* loop strides */
    a[i] += i;
}

COMPUTE static void downwards(int from, int to, int *a, const int *b)
{
  for (int i = from; i > to; i--) /* loop down */
    a[i] = b[i] - i;
  for (int i = from; i >= to + 1; i -= 7) /* loop down_strides */
    a[i] ^= b[i];
}

COMPUTE static void until_equal(long n, const int *in, int *out)
{
  for (long i = 0; i != n; ++i) /* loop until */
    out[i] = in[n - 1 - i];
  for (long i = n - 1; i != -1; --i) /* loop down_until */
    out[i] += (int)i;
}

/* The limit is reached from outside, and the limit's expression is not a variable. */
COMPUTE static void odd_limits(int n, short *s)
{
  for (int i = 1; 2 * n > i; i += 2) /* loop reversed_comparison */
    s[i / 2] = (short)(i * 5);
  for (unsigned char c = 250; c < 255; c++) /* loop character */
    s[c % 7] = c;
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", NULL};
  struct check check = check_open(argc, argv, 1u << 20, inputs);
  int n = (int)check.size;
  int *a = check_alloc(&check, check.size, sizeof *a), *b = check_alloc(&check, check.size, sizeof *b);
  short *s = check_alloc(&check, check.size, sizeof *s);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    for (int i = 0; i < n; i++)
      b[i] = (int)check_below(&check, 1000000);
    check_start(&check);
    upwards(0, n, 1, a);
    upwards(5, 5, 2, a);
    upwards(7, -3, 3, a);
    upwards(n - 1, n, 4, a);
    downwards(n - 1, -1, a, b);
    downwards(3, 3, a, b);
    downwards(-5, 3, a, b);
    until_equal(n, a, b);
    until_equal(0, a, b);
    until_equal(1, a, b);
    odd_limits(n, s);
    odd_limits(0, s);
    check_stop(&check);
    check_array(&check, "a", a, check.size, sizeof *a);
    check_array(&check, "b", b, check.size, sizeof *b);
    check_array(&check, "s", s, check.size, sizeof *s);
  }
  free(a);
  free(b);
  free(s);
  return check_close(&check);
}
