/* Forward elimination in compressed sparse rows (the chapter's figure 4.1b). The rows before `first` are done already.
 *
 * test size: 3001
 * expect rows: runs on clean
 * expect rows: conflicts on raw one every
 * expect rows: levels on laplacian */
#include "../support/inputs.h"

COMPUTE static void forward(int first, int n, int *iaL, int *jaL, double *aL, double *x)
{
  int i, j;
  for (i = first; i < n; i++) /* loop rows */
    for (j = iaL[i]; j < iaL[i + 1] - 1; j++)
      x[i] = x[i] - aL[j] * x[jaL[j]];
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "raw", "one", "every", "laplacian", NULL};
  struct check check = check_open(argc, argv, 65536, inputs);
  int n = (int)check.size, first = n / 4;
  int per_row = n / 100 > 3 ? n / 100 : 3;
  size_t stored = check.size * (size_t)(per_row + 1);
  int *iaL = check_alloc(&check, check.size + 1, sizeof *iaL);
  int *jaL = check_alloc(&check, stored, sizeof *jaL);
  double *aL = check_alloc(&check, stored, sizeof *aL);
  double *x = check_alloc(&check, check.size, sizeof *x);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_double(&check, x, check.size);
    int next = 0;
    int side = 1; /* of the grid whose points a row of the discrete Laplace operator has as unknowns */
    while ((side + 1) * (side + 1) <= n)
      side++;
    for (int i = 0; i < n; i++) {
      iaL[i] = next;
      if (check_is(&check, "laplacian")) {
        /* Its lower triangle: the neighbours on the left and below. */
        if (i % side != 0) {
          jaL[next] = i - 1;
          aL[next++] = -0.25;
        }
        if (i >= side) {
          jaL[next] = i - side;
          aL[next++] = -0.25;
        }
        jaL[next] = i;
        aL[next++] = 1.0;
        continue;
      }
      int others = i < first ? 0 : 1 + (int)check_below(&check, (size_t)per_row);
      for (int k = 0; k < others; k++) {
        /* clean rows need only rows that are done */
        jaL[next] = (int)check_below(&check, (size_t)first);
        aL[next++] = check_real(&check) - 0.5;
      }
      jaL[next] = i;
      aL[next++] = 1.0;
    }
    iaL[n] = next;
    if (check_is(&check, "raw")) {
      for (int i = first + 1; i < n; i++)
        if (check_below(&check, 8) == 0)
          jaL[iaL[i]] = first + (int)check_below(&check, (size_t)(i - first));
    } else if (check_is(&check, "one")) {
      struct couple couple = pick_couple(&check, (size_t)(n - first));
      jaL[iaL[first + (int)couple.second]] = first + (int)couple.first;
    } else if (check_is(&check, "every")) {
      for (int i = first + 1; i < n; i++)
        jaL[iaL[i]] = i - 1;
    }
    check_start(&check);
    forward(first, n, iaL, jaL, aL, x);
    check_stop(&check);
    check_array(&check, "x", x, check.size, sizeof *x);
  }
  free(iaL);
  free(jaL);
  free(aL);
  free(x);
  return check_close(&check);
}
