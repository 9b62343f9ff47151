/* Inner loops whose turns gather: what they load lies where something else says that they load. Some turns' loads are made before these turns,
 * and the first ones of the next turns, too. Loops have no turn, fewer than are made at once, as many, some more, and so many that they ask in
 * between whether to go on. Some may not be made before: what a turn makes decides where the next one loads, a turn may not need it, or turns store.
 *
 * test size: 97
 * expect columns: runs on clean
 * expect ordered: runs on clean
 * expect levels: runs on clean
 * expect several: runs on clean
 * expect chosen: runs on clean
 * expect chained: runs on clean
 * expect narrow: runs on clean
 * expect twice: runs on clean
 * expect storing: runs on clean */
#include "../support/inputs.h"

enum { MOST = 4096 + 13, PLACES = 16384 };

COMPUTE static void columns(int n, int turns, const double *a, const int *column, const double *x, double *y)
{
  for (int i = 0; i < n; i++) { /* loop columns */
    double sum = i;
    for (int k = 0; k < turns; k++)
      sum = sum * 0.5 - a[k * n + i] * x[column[k * n + i]];
    y[i] = sum;
  }
}

/* Nothing that a turn loads is affine in the iterations: nothing walks. */
COMPUTE static void ordered(int n, int turns, const int *order, const double *a, const int *column, const double *x, double *y)
{
  for (int p = 0; p < n; p++) { /* loop ordered */
    int i = order[p];
    double sum = p;
    for (int k = 0; k < turns; k++)
      sum = sum * 0.5 - a[k * n + i] * x[column[k * n + i]];
    y[p] = sum;
  }
}

/* What says where says where. The loop begins anywhere. */
COMPUTE static void levels(int n, long first, long turns, const int *column, const double *x, double *y)
{
  for (int i = 0; i < n; i++) { /* loop levels */
    double sum = 0.0;
    for (long k = first; k < turns; k++)
      sum = sum * 0.75 + x[column[column[k * n + i] & 1023] + k % 5];
    y[i] = sum;
  }
}

/* Several in a turn, one of which the turn loads twice; beside what is loaded side by side. */
COMPUTE static void several(int n, unsigned turns, const float *a, const int *column, const double *x, double *y)
{
  for (int i = 0; i < n; i++) { /* loop several */
    double sum = 1.0;
    for (unsigned k = 0; k < turns; k++) {
      int at = column[k];
      sum += x[column[k * n + i]] * a[k];
      sum = sum * 0.5 + x[at] - x[column[k * n + i] + 1] * x[i];
    }
    y[i] = sum;
  }
}

/* A turn may not need it. */
COMPUTE static void chosen(int n, int turns, const double *a, const int *column, const double *x, double *y)
{
  for (int i = 0; i < n; i++) { /* loop chosen */
    double sum = i;
    for (int k = 0; k < turns; k++) {
      if (a[k * n + i] < 0.5)
        sum = sum * 0.5 - x[column[k * n + i]];
      sum += a[k] < 0.25 ? x[column[k]] : 1.0;
    }
    y[i] = sum;
  }
}

/* Where the next turn loads follows from this one. */
COMPUTE static void chained(int n, int turns, const int *column, const double *x, double *y)
{
  for (int i = 0; i < n; i++) { /* loop chained */
    double sum = i;
    int at = i;
    for (int k = 0; k < turns; k++) {
      at = column[at];
      sum = sum * 0.5 - x[column[at + k]];
    }
    y[i] = sum;
  }
}

/* Known to stay in a window, so that iterations may be in groups. */
COMPUTE static void narrow(int n, int turns, const unsigned char *kind, const double *x, double *y)
{
  for (int i = 0; i < n; i++) { /* loop narrow */
    double sum = i;
    for (int k = 0; k < turns; k++)
      sum = sum * 0.5 - x[kind[k * n + i]];
    y[i] = sum;
  }
}

/* Such a loop in another one. */
COMPUTE static void twice(int n, int rows, int turns, const double *a, const int *column, const double *x, double *y)
{
  for (int i = 0; i < n; i++) { /* loop twice */
    double sum = i;
    for (int r = 0; r < rows; r++)
      for (int k = r; k < turns; k++)
        sum = sum * 0.5 - a[k] * x[column[k * n + i] + r];
    y[i] = sum;
  }
}

/* Turns store what later ones gather. */
COMPUTE static void storing(int n, int turns, const int *column, double *own)
{
  for (int i = 0; i < n; i++) { /* loop storing */
    double *mine = own + (size_t)i * MOST;
    for (int k = 0; k + 1 < turns; k++)
      mine[k + 1] = mine[column[k] % (k + 1)] * 0.5 + 1.0;
  }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", NULL};
  static const int turns[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 37, 4095, 4096, MOST};
  struct check check = check_open(argc, argv, 97, inputs);
  size_t n = check.size, all = n * MOST + PLACES;
  double *a = check_alloc(&check, n * MOST, sizeof *a), *x = check_alloc(&check, PLACES + 16, sizeof *x);
  double *y = check_alloc(&check, n + PLACES, sizeof *y), *own = check_alloc(&check, all, sizeof *own);
  float *factor = check_alloc(&check, all, sizeof *factor);
  int *column = check_alloc(&check, all, sizeof *column), *order = check_alloc(&check, PLACES, sizeof *order);
  unsigned char *kind = check_alloc(&check, all, sizeof *kind);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_double(&check, a, n * MOST);
    fill_double(&check, x, PLACES + 16);
    fill_double(&check, own, all);
    for (size_t i = 0; i < all; i++) {
      column[i] = (int)check_below(&check, PLACES);
      kind[i] = (unsigned char)column[i];
      factor[i] = (float)a[i % (n * MOST)];
    }
    for (size_t i = 0; i < n; i++)
      order[i] = (int)(i * 7 % n);
    check_start(&check);
    for (size_t t = 0; t < sizeof turns / sizeof *turns; t++) {
      columns((int)n, turns[t], a, column, x, y);
      check_array(&check, "columns", y, n, sizeof *y);
      ordered((int)n, turns[t], order, a, column, x, y);
      check_array(&check, "ordered", y, n, sizeof *y);
      levels((int)n, turns[t] / 3, turns[t], column, x, y);
      check_array(&check, "levels", y, n, sizeof *y);
      several((int)n, (unsigned)turns[t], factor, column, x, y);
      check_array(&check, "several", y, n, sizeof *y);
      chosen((int)n, turns[t], a, column, x, y);
      check_array(&check, "chosen", y, n, sizeof *y);
      chained((int)n, turns[t], column, x, y);
      check_array(&check, "chained", y, n, sizeof *y);
      narrow((int)n, turns[t], kind, x, y);
      check_array(&check, "narrow", y, n, sizeof *y);
      twice((int)n, 3, turns[t], a, column, x, y);
      check_array(&check, "twice", y, n, sizeof *y);
      storing((int)n, turns[t], column, own);
      check_array(&check, "storing", own, n * MOST, sizeof *own);
    }
    check_stop(&check);
  }
  free(kind);
  free(order);
  free(column);
  free(factor);
  free(own);
  free(y);
  free(x);
  free(a);
  return check_close(&check);
}
