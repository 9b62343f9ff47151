/* What iterations load later ones store to, and what they make of that would be a NaN, which a GPU leaves to the host: so whoever loads in place may find no conflict at all. On
 * `later` it is what later iterations store, which threads of a GPU run before the earlier ones that load it; stamps take that for an anti dependence.
 *
 * test size: 9001
 * expect followed: runs on clean
 * expect followed: stamps on later */
#include "../support/inputs.h"

COMPUTE static uint32_t followed(float *a, const int *to, const int *from, const float *in, float *out, int n)
{
  uint32_t sum = 0;
  for (int i = 0; i < n; i++) { /* loop followed */
    float loaded = a[from[i]];
    a[to[i]] = in[i];
    out[i] = loaded - loaded;
    sum += (uint32_t)to[i];
  }
  return sum;
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "later", NULL};
  struct check check = check_open(argc, argv, 200000, inputs);
  size_t n = check.size;
  float *a = check_alloc(&check, 2 * n, sizeof *a), *in = check_alloc(&check, n, sizeof *in), *out = check_alloc(&check, n, sizeof *out);
  int *to = check_alloc(&check, n, sizeof *to), *from = check_alloc(&check, n, sizeof *from);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_float(&check, a, 2 * n);
    for (size_t i = 0; i < n; i++) {
      to[i] = (int)i;
      from[i] = (int)(check_is(&check, "later") && i < n / 2 ? n / 2 + i * 7919 % (n / 2) : n + i);
      in[i] = 1.0f / 0.0f;
    }
    check_start(&check);
    uint32_t sum = followed(a, to, from, in, out, (int)n);
    check_stop(&check);
    check_array(&check, "a", a, 2 * n, sizeof *a);
    check_array(&check, "out", out, n, sizeof *out);
    check_array(&check, "sum", &sum, 1, sizeof sum);
  }
  free(a);
  free(in);
  free(out);
  free(to);
  free(from);
  return check_close(&check);
}
