/* Inverse permutation of a vector: out[p[i]] = in[i].
 *
 * test size: 5003
 * expect shuffle: runs on clean
 * expect shuffle: conflicts on waw raw one every */
#include "../support/inputs.h"

typedef unsigned int index_t;

COMPUTE static void ipvec(index_t n, const index_t p[], const double in[], double out[])
{
  for (index_t i = 0; i < n; i++) /* loop shuffle */
    out[p[i]] = in[i];
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "waw", "raw", "one", "every", NULL};
  struct check check = check_open(argc, argv, 32u << 20, inputs);
  size_t n = check.size;
  double *block = check_alloc(&check, 2 * n, sizeof *block);
  index_t *p = check_alloc(&check, n, sizeof *p);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_double(&check, block, 2 * n);
    scatter_indices(&check, (int *)p, n);
    double *in = block, *out = block + n;
    if (check_is(&check, "raw"))
      out = in; /* a shuffle in place */
    check_start(&check);
    ipvec((index_t)n, p, in, out);
    check_stop(&check);
    check_array(&check, "in and out", block, 2 * n, sizeof *block);
    check_array(&check, "p", p, n, sizeof *p);
  }
  free(p);
  free(block);
  return check_close(&check);
}
