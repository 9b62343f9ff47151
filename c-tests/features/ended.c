/* A line whose last group of iterations lacks its last one: what that one would store lies in the array, because iterations load beyond their end,
 * and marks would tell that it was stored.
 *
 * test size: 1003
 * expect ended: runs on clean */
#include "../support/inputs.h"

COMPUTE static void ended(int n, int more, const double *x, int *out)
{
  for (int i = 0; i < n; i++) /* loop ended */
    if (x[i] != 0.125)
      out[i] = out[i + more] * 3 + i;
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", NULL};
  struct check check = check_open(argc, argv, 200683, inputs);
  size_t n = check.size;
  double *x = check_alloc(&check, n + 1, sizeof *x);
  int *out = check_alloc(&check, 3 * n, sizeof *out);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_double(&check, x, n + 1);
    for (size_t i = 0; i < 3 * n; i++)
      out[i] = (int)check_below(&check, 1000);
    check_start(&check);
    ended((int)n, (int)n + 7, x, out);
    check_stop(&check);
    check_array(&check, "out", out, 3 * n, sizeof *out);
  }
  free(out);
  free(x);
  return check_close(&check);
}
