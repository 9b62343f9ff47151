/* Nested conditions, dangling else, loops without braces inside if, conditional stores, short-circuit operators, commas.
 *
 * test size: 3001
 * expect nested: runs on clean
 * expect stored: runs on clean */
#include "../support/inputs.h"

COMPUTE static void nested(int n, const double *in, double *out)
{
  for (int i = 0; i < n; i++) /* loop nested */
    if (in[i] > 0.0)
      if (in[i] > 0.5)
        out[i] = in[i] * 2.0;
      else
        out[i] = in[i] * 3.0;
    else if (in[i] < -0.9)
      out[i] = -1.0;
    else {
      double square = in[i] * in[i];
      out[i] = square < 0.01 ? 0.0 : square > 0.25 ? 1.0 : square;
    }
}

COMPUTE static void sometimes(int n, int upwards, int really, const double *in, double *out)
{
  if (really)
    if (upwards)
      for (int i = 0; i < n; i++) /* loop ascending */
        out[i] += in[i];
    else
      for (int i = n - 1; i >= 0; i--) /* loop descending */
        out[i] -= in[i];
  else
    for (int i = 0; i < n; ++i) /* loop unreal */
      out[i] = 0.0;
}

/* Only some iterations store; the others must leave what was there. */
COMPUTE static void stored(int n, const double *in, double *out)
{
  for (int i = 0; i < n; i++) { /* loop stored */
    if (in[i] > 0.0 && out[i] < 0.5)
      out[i] = in[i];
    if (in[i] < -0.5 || (in[i] < 0.0 && out[i] > 0.75))
      out[i] = 7.0;
  }
}

COMPUTE static void guarded(int n, const int *index, const double *in, double *out)
{
  for (int i = 0; i < n; i++) /* loop guarded */
    if (index[i] >= 0 && in[index[i]] != 0.0)
      out[i] = 1.0 / in[index[i]];
}

COMPUTE static void commas(int n, const double *in, double *out)
{
  int i, j;
  for (i = 0, j = n - 1; i < j; i++, j--)
    out[i] = in[j], out[j] = in[i];
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "raw", NULL};
  struct check check = check_open(argc, argv, 1u << 20, inputs);
  int n = (int)check.size;
  double *block = check_alloc(&check, 6 * check.size, sizeof *block);
  int *index = check_alloc(&check, check.size, sizeof *index);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_double(&check, block, 6 * check.size);
    for (int i = 0; i < n; i++)
      index[i] = check_below(&check, 10) == 0 ? -1 : (int)check_below(&check, check.size);
    double *in = block, *out = check_is(&check, "raw") ? in + 1 : in + n;
    check_start(&check);
    nested(n, in, out);
    sometimes(n, 1, 1, in, out + n);
    sometimes(n, 0, 1, in, out + n);
    sometimes(n / 2, 0, 0, in, out + n);
    stored(n, in, out + 2 * n);
    guarded(n, index, in, out + 3 * n);
    commas(n, in, out + 4 * n);
    check_stop(&check);
    check_array(&check, "block", block, 6 * check.size, sizeof *block);
  }
  free(block);
  free(index);
  return check_close(&check);
}
