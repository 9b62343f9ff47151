/* Householder reflection of a vector by a sparse one: x -= tau * (v . x) * v. The first loop is a reduction; the second
 * one scatters like saxpy's.
 *
 * test size: 5003
 * expect reflect: runs on clean
 * expect reflect: conflicts on waw raw one every
 * order does not show on one */
#include "../support/inputs.h"

COMPUTE static void house(size_t n, double tau, const double *v, const unsigned *index, double *x)
{
  double dot = 0.0;
  for (size_t i = 0; i < n; i++)
    dot += v[i] * x[index[i]];
  double scale = tau * dot;
  for (size_t i = 0; i < n; i++) /* loop reflect */
    x[index[i]] = x[index[i]] - scale * v[i];
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "waw", "raw", "one", "every", NULL};
  struct check check = check_open(argc, argv, 32u << 20, inputs);
  size_t n = check.size;
  double *own = check_alloc(&check, n, sizeof *own);
  double *x = check_alloc(&check, n, sizeof *x);
  unsigned *index = check_alloc(&check, n, sizeof *index);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_double(&check, own, n);
    fill_double(&check, x, n);
    struct couple couple = scatter_indices(&check, (int *)index, n);
    double *v = own;
    if (check_is(&check, "raw")) {
      v = x;
    } else if (check_is(&check, "one")) {
      /* The one that is larger by far comes first, so that the order shows in the rounding. */
      own[couple.first] *= 0x1p40;
      x[index[couple.first]] = 1.0 / 3.0;
    }
    check_start(&check);
    house(n, 2.0, v, index, x);
    check_stop(&check);
    check_array(&check, "x", x, n, sizeof *x);
    check_array(&check, "v", v, n, sizeof *v);
  }
  free(index);
  free(x);
  free(own);
  return check_close(&check);
}
