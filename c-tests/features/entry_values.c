/* What a loop's subscripts have from floating-point numbers, which the program computes in front of it: converted, negated, compared.
 *
 * test size: 1000
 * expect converted: runs on clean
 * expect compared: runs on clean */
#include "../support/inputs.h"

COMPUTE static void converted(float *a, const float *b, float x, int n)
{
  for (int i = 0; i < n; i++) /* loop converted */
    a[i + ((int)x & 1)] = b[i] * 2.0f;
}

COMPUTE static void compared(float *a, const float *b, float x, float y, int n)
{
  for (int i = 0; i < n; i++) /* loop compared */
    a[i + (x < -y ? 1 : 2)] = b[i] + 1.0f;
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", NULL};
  struct check check = check_open(argc, argv, 200000, inputs);
  size_t n = check.size;
  float *a = check_alloc(&check, n + 2, sizeof *a), *b = check_alloc(&check, n, sizeof *b), *c = check_alloc(&check, n + 2, sizeof *c);
  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_float(&check, b, n);
    float x = (float)check_below(&check, 9), y = (float)check_below(&check, 9) - 4.0f;
    check_start(&check);
    converted(a, b, x, (int)n);
    compared(c, b, x, y, (int)n);
    check_stop(&check);
    check_array(&check, "a", a, n + 2, sizeof *a);
    check_array(&check, "c", c, n + 2, sizeof *c);
  }
  free(a);
  free(b);
  free(c);
  return check_close(&check);
}
