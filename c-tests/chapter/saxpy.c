/* A sparse vector added to a dense one: y[index[i]] += a * x[i].
 *
 * test size: 5003
 * expect scatter: runs on clean
 * expect scatter: conflicts on waw raw one every */
#include "../support/inputs.h"

COMPUTE static void saxpy(int n, float a, const float *x, const int *index, float *y)
{
  for (int i = 0; i < n; i++) /* loop scatter */
    y[index[i]] += a * x[i];
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "waw", "raw", "one", "every", NULL};
  struct check check = check_open(argc, argv, 32u << 20, inputs);
  size_t n = check.size;
  float *own = check_alloc(&check, n, sizeof *own);
  float *y = check_alloc(&check, n, sizeof *y);
  int *index = check_alloc(&check, n, sizeof *index);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_float(&check, own, n);
    fill_float(&check, y, n);
    struct couple couple = scatter_indices(&check, index, n);
    const float *x = own;
    if (check_is(&check, "raw")) {
      x = y; /* what one iteration adds is what another one has added to */
    } else if (check_is(&check, "one")) {
      /* Rounding tells the two orders apart: 1 + 2^24 is 2^24, and so is that plus one. */
      y[index[couple.first]] = 1.0f;
      own[couple.first] = 0x1p25f;
      own[couple.second] = 2.0f;
    }
    check_start(&check);
    saxpy((int)n, 0.5f, x, index, y);
    check_stop(&check);
    check_array(&check, "y", y, n, sizeof *y);
    check_array(&check, "x", x, n, sizeof *x);
    check_array(&check, "index", index, n, sizeof *index);
  }
  free(index);
  free(y);
  free(own);
  return check_close(&check);
}
