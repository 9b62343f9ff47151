/* Inner loops of a few iterations, each of which is to have as many loads under way as it can: what the next turns load comes before they begin,
 * what all turns load once. They have no turn, one, about as many as are run at once, some more, and so many that they ask in
 * between whether to go on.
 *
 * test size: 203
 * few threads
 * expect forces: runs on clean
 * expect tables: runs on clean
 * expect backwards: runs on clean
 * expect same: runs on clean */
#include "../support/inputs.h"

enum { MOST = 4096 + 4096 + 37 };

COMPUTE static void forces(int n, int turns, const double *at, const double *mass, double *force)
{
  for (int i = 0; i < n; i++) { /* loop forces */
    double sum = 0.0;
    for (int j = 0; j < turns; j++) {
      double distance = at[2 * j] - at[i];
      sum += mass[j] / (distance * distance + 0.5);
    }
    force[i] = sum;
  }
}

/* An inner loop that is entered several times. */
COMPUTE static void tables(int n, int rows, int turns, const float *table, const float *factor, float *y)
{
  for (int i = 0; i < n; i++) { /* loop tables */
    float sum = 0.0f;
    for (int k = 0; k < rows; k++)
      for (int j = 0; j < turns; j++)
        sum += table[k * turns + j] * factor[i] - sum * 0.25f;
    y[i] = sum;
  }
}

COMPUTE static void backwards(int n, int turns, const double *at, const float *factor, double *y)
{
  for (int i = 0; i < n; i++) { /* loop backwards */
    double last = 1.0;
    for (int j = 0; j < turns; j++)
      last = last * 0.5 + at[turns - 1 - j + i] * factor[j] - at[i];
    y[i] = last;
  }
}

/* Elsewhere in the array that is loaded from there are stores: nothing is loaded before its turn. */
COMPUTE static void same(int n, int turns, double *at)
{
  for (int i = 0; i < n; i++) { /* loop same */
    double last = 1.0;
    for (int j = 0; j < turns; j++)
      last = last * 0.5 + at[n + j];
    at[i] = last;
  }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", NULL};
  static const int turns[] = {0, 1, 7, 8, 15, 16, 17, 31, 32, 33, 65, 100, 4096, 4097, MOST};
  struct check check = check_open(argc, argv, 203, inputs);
  size_t n = check.size, all = 2 * MOST + n;
  double *at = check_alloc(&check, all, sizeof *at), *mass = check_alloc(&check, MOST, sizeof *mass);
  float *factor = check_alloc(&check, all, sizeof *factor);
  double *y = check_alloc(&check, n, sizeof *y);
  float *z = check_alloc(&check, n, sizeof *z);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_double(&check, at, all);
    fill_double(&check, mass, MOST);
    for (size_t i = 0; i < all; i++)
      factor[i] = (float)at[all - 1 - i];
    check_start(&check);
    for (size_t t = 0; t < sizeof turns / sizeof *turns; t++) {
      forces((int)n, turns[t], at, mass, y);
      check_array(&check, "forces", y, n, sizeof *y);
      tables((int)n, turns[t] < 200 ? 5 : 1, turns[t], factor, factor, z);
      check_array(&check, "tables", z, n, sizeof *z);
      backwards((int)n, turns[t], at, factor, y);
      check_array(&check, "backwards", y, n, sizeof *y);
      same((int)n, turns[t], at);
      check_array(&check, "at", at, all, sizeof *at);
    }
    check_stop(&check);
  }
  free(at);
  free(mass);
  free(factor);
  free(y);
  free(z);
  return check_close(&check);
}
