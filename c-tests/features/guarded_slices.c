/* Loads that the least value so far guards. What a loop combines over its iterations has another value wherever a part of them begins, so no
 * inspection can tell whether such a load is made: each iteration here loads what the one before has stored.
 *
 * test size: 200000 */
#include "../support/inputs.h"

COMPUTE static int least(int n, int m, const int *t, int *p, const int *d, const int *w)
{
  for (int i = 0; i < n; i++) {
    if (t[i] < m && p[d[i]] >= 0)
      m = t[i];
    p[w[i]] = i;
  }
  return m;
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"chain", "clean", NULL};
  struct check check = check_open(argc, argv, 400000, inputs);
  int n = (int)check.size;
  int *t = check_alloc(&check, check.size, sizeof *t);
  int *d = check_alloc(&check, check.size, sizeof *d);
  int *w = check_alloc(&check, check.size, sizeof *w);
  int *p = check_alloc(&check, 2 * check.size, sizeof *p);
  int *found = check_alloc(&check, 6, sizeof *found);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    check_start(&check);
    for (int entry = 0; entry < 6; entry++) {
      for (int i = 0; i < n; i++) {
        t[i] = n - i;
        w[i] = n + i;
        d[i] = i != 0 && check_is(&check, "chain") ? n + i - 1 : i;
        p[i] = 1;
        p[n + i] = -1;
      }
      found[entry] = least(n, 1 << 30, t, p, d, w);
    }
    check_stop(&check);
    check_array(&check, "found", found, 6, sizeof *found);
    check_array(&check, "p", p, 2 * check.size, sizeof *p);
  }
  free(t);
  free(d);
  free(w);
  free(p);
  free(found);
  return check_close(&check);
}
