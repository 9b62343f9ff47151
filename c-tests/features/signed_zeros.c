/* Zeros of either sign, where numbers are negated that a comparison, a choice or an integer has made, and where a choice is one between -1 and -0: NVIDIA's assembler
 * takes such a one for an integer, whose zero has no sign (device/cuda/zeros.rs). In an inner loop, too, and where what is stored is held back as bits: on `met`
 * two iterations store to a cell.
 *
 * test size: 997
 * expect negated: runs on clean met
 * expect doubles: runs on clean met
 * expect constants: runs on clean met
 * expect chosen: runs on clean met
 * expect folded: runs on clean met
 * expect first: runs on clean met
 * expect held: stamps on met
 * expect held: runs on clean */
#include "../support/inputs.h"

enum { FORMS = 8 };

COMPUTE static void negated(float (*o)[FORMS], const int *x, const float *f, int n)
{
  for (int i = 0; i < n; i++) { /* loop negated */
    o[i][0] = -(float)(x[i] > 9);
    o[i][1] = -((float)(long)(unsigned)(x[i] > 9 && i != x[0]));
    o[i][2] = -(x[i] > 9 ? 1.0f : 0.0f);
    o[i][3] = -(float)x[i];
    o[i][4] = -(x[i] > 9 ? f[i] : 0.0f);
    o[i][5] = -f[i] * (float)(x[i] & 1);
    o[i][6] = f[i] - -(float)!x[i];
    o[i][7] = -(float)((x[i] > 9) - (x[i] < 3));
  }
}

COMPUTE static void doubles(double (*o)[FORMS], const int *x, const float *f, int n)
{
  for (int i = 0; i < n; i++) { /* loop doubles */
    o[i][0] = -(double)(x[i] > 9);
    o[i][1] = -(x[i] > 9 ? 1.0 : 0.0);
    o[i][2] = x[i] > 9 ? -1.0 : -0.0;
    o[i][3] = -(double)x[i];
    o[i][4] = -(double)(float)(x[i] > 9);
    o[i][5] = -(x[i] > 9 ? f[i] : 0.0);
    o[i][6] = -1.0 * (x[i] > 9);
    o[i][7] = (float)-(double)(x[i] > 9);
  }
}

/* Constants that are negated stay constants, but for two. */
COMPUTE static void constants(float (*o)[FORMS], const int *x, const float *f, int n)
{
  for (int i = 0; i < n; i++) { /* loop constants */
    o[i][0] = -1.0f * (float)(x[i] > 9);
    o[i][1] = (float)(x[i] > 9) * -3.0f;
    o[i][2] = (float)x[i] * -1.0f;
    o[i][3] = (float)(x[i] > 9) / -1.0f;
    o[i][4] = -0.0f - (float)(x[i] > 9);
    o[i][5] = -(float)(x[i] > 9) + -0.0f;
    o[i][6] = f[i] * -0.0f;
    o[i][7] = f[i] + -1.0f;
  }
}

COMPUTE static void chosen(float (*o)[FORMS], const int *x, const float *f, int n)
{
  for (int i = 0; i < n; i++) { /* loop chosen */
    o[i][0] = x[i] > 9 ? -1.0f : -0.0f;
    o[i][1] = x[i] > 9 ? -0.0f : -1.0f;
    o[i][2] = x[i] > 9 ? 1.0f : -0.0f;
    o[i][3] = x[i] > 9 ? f[i] : -0.0f;
    float by_branch = -0.0f;
    if (x[i] == 7)
      by_branch = -1.0f;
    o[i][4] = by_branch;
    o[i][5] = f[i] < -1.0f ? -1.0f : f[i] > 1.0f ? 1.0f : f[i];
    o[i][6] = by_branch * (x[i] > 3 ? -1.0f : -0.0f);
    o[i][7] = -by_branch;
  }
}

/* What a compiler computes before the assembler sees it: there a loop may stay where it is. */
COMPUTE static void folded(float (*o)[FORMS], const int *x, const float *f, int n)
{
  for (int i = 0; i < n; i++) { /* loop folded */
    o[i][0] = (x[i] > 9 ? 2.0f : 0.0f) * -0.5f;
    o[i][1] = (float)(x[i] > 9) * (2.0f - 3.0f);
    o[i][2] = (x[i] > 9 ? 4.0f : 0.0f) / -4.0f;
    o[i][3] = f[i];
  }
}

/* What a variable has before the first iteration is negated in front of the loop. */
COMPUTE static void first(float *o, const float *f, float x, int n)
{
  int i;
  float last;
  for (i = 0, last = -x; i < n; i++) { /* loop first */
    o[i] = f[i] - last;
    last = f[i];
  }
}

COMPUTE static void held(float *o, const int *to, const int *x, int s, int n)
{
  for (int i = 0; i < n; i++) { /* loop held */
    o[to[i]] = (float)(x[i] - i);
    for (int j = 0; j < 2; j++)
      o[2 * n + 2 * i + j] = -((float)(long)((unsigned)(x[i] > 9 && j != s)));
  }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "met", NULL};
  struct check check = check_open(argc, argv, 200000, inputs);
  size_t n = check.size;
  int size = (int)n;
  float(*floats)[FORMS] = check_alloc(&check, n, sizeof *floats), *f = check_alloc(&check, n, sizeof *f);
  float(*more)[FORMS] = check_alloc(&check, n, sizeof *more), (*choices)[FORMS] = check_alloc(&check, n, sizeof *choices);
  float(*constant)[FORMS] = check_alloc(&check, n, sizeof *constant), *cells = check_alloc(&check, 4 * n + 4, sizeof *cells);
  float *moved = check_alloc(&check, n, sizeof *moved);
  double(*wide)[FORMS] = check_alloc(&check, n, sizeof *wide);
  int *x = check_alloc(&check, n, sizeof *x), *to = check_alloc(&check, n, sizeof *to);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    for (size_t i = 0; i < n; i++) {
      x[i] = (int)check_below(&check, 19) - 2;
      f[i] = (float)check_below(&check, 5) - 2.0f;
    }
    permute(&check, to, n);
    if (check_is(&check, "met"))
      to[n / 2] = to[n / 3];
    check_start(&check);
    negated(floats, x, f, size);
    doubles(wide, x, f, size);
    constants(constant, x, f, size);
    chosen(choices, x, f, size);
    folded(more, x, f, size);
    first(moved, f, 0.0f, size);
    held(cells, to, x, 0, size);
    check_stop(&check);
    check_array(&check, "floats", floats, n, sizeof *floats);
    check_array(&check, "wide", wide, n, sizeof *wide);
    check_array(&check, "constant", constant, n, sizeof *constant);
    check_array(&check, "choices", choices, n, sizeof *choices);
    check_array(&check, "more", more, n, sizeof *more);
    check_array(&check, "moved", moved, n, sizeof *moved);
    check_array(&check, "cells", cells, 4 * n + 4, sizeof *cells);
  }
  free(floats);
  free(f);
  free(more);
  free(choices);
  free(constant);
  free(cells);
  free(moved);
  free(wide);
  free(x);
  free(to);
  return check_close(&check);
}
