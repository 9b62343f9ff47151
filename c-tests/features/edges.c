/* Nests whose iterations end in the middle of a GPU's block: members of groups beyond the end repeat an iteration that has stored already what it
 * stores. They must store nothing themselves, fail for nobody, end, and take nothing with them that the members which are there need; nor may
 * lanes do anything for them, or they for others.
 *
 * test size: 70
 * expect moving: runs on clean
 * expect adding: runs on clean
 * expect doubled: runs on clean
 * expect divided: runs on clean
 * expect wide: runs on clean */
#include "../support/inputs.h"

enum { COLUMNS = 40, DEPTH = 20, MANY = 516, TAPS = 25 };

/* Behind a loop that all have in common, one of each iteration's own stores to places that move on. */
COMPUTE static void moving(int n, const double *a, const double *b, const double *v, double *c, double *o)
{
  for (int i = 0; i < n; i++) /* loop moving */
    for (int j = 0; j < COLUMNS; j++) {
      double s = 0;
      for (int k = 0; k < DEPTH; k++)
        s += a[i * DEPTH + k] * b[k * COLUMNS + j];
      for (int q = 0; q < j; q++)
        o[(i * COLUMNS + j) * COLUMNS + q] = s * v[q] + q;
      c[i * COLUMNS + j] = s;
    }
}

COMPUTE static void adding(int n, const double *a, const double *b, const double *v, double *c, double *o)
{
  for (int i = 0; i < n; i++) /* loop adding */
    for (int j = 0; j < COLUMNS; j++) {
      double s = 0;
      for (int k = 0; k < DEPTH; k++)
        s += a[i * DEPTH + k] * b[k * COLUMNS + j];
      for (int q = 0; q < j; q++)
        o[(i * COLUMNS + j) * COLUMNS + q] += s * v[q];
      c[i * COLUMNS + j] = s;
    }
}

/* Whoever comes a second time divides by zero, in front of a long loop of its own. */
COMPUTE static void emptied(int n, int most, const double *a, const double *b, int *z, double *c, unsigned *o)
{
  for (int i = 0; i < n; i++) /* loop emptied */
    for (int j = 0; j < COLUMNS; j++) {
      double s = 0;
      int y = z[i * COLUMNS + j], turns = 0, row = i < most ? i : most;
      unsigned x = (unsigned)(i * 7 + j), t;
      z[i * COLUMNS + j] = 0;
      t = (unsigned)(1000 / y);
      while (x != 1 && turns < 3000) {
        x = x & 1 ? x * 3 + 1 : x / 2;
        if (x == 0)
          break;
        turns++;
        if (x == 1)
          x = 5;
      }
      t += (unsigned)turns;
      for (int k = 0; k < DEPTH; k++)
        s += a[i * DEPTH + k] * b[k * COLUMNS + j];
      c[i * COLUMNS + j] = s + t;
      o[row * COLUMNS + j] += t;
    }
}

/* For whom it has no end. */
COMPUTE static void doubled(int n, const double *a, const double *b, int *z, double *c)
{
  for (int i = 0; i < n; i++) /* loop doubled */
    for (int j = 0; j < COLUMNS; j++) {
      double s = 0;
      int y = z[i * COLUMNS + j], turns = 0;
      z[i * COLUMNS + j] = 0;
      while (y < 1000) {
        y *= 2;
        turns++;
      }
      for (int k = 0; k < DEPTH; k++)
        s += a[i * DEPTH + k] * b[k * COLUMNS + j];
      c[i * COLUMNS + j] = s + turns;
    }
}

/* Who would divide by zero. */
COMPUTE static void divided(int n, const double *a, const double *b, int *z, double *c)
{
  for (int i = 0; i < n; i++) /* loop divided */
    for (int j = 0; j < COLUMNS; j++) {
      double s = 0;
      int y = z[i * COLUMNS + j];
      z[i * COLUMNS + j] = 0;
      for (int k = 0; k < DEPTH; k++)
        s += a[i * DEPTH + k] * b[k * COLUMNS + j];
      c[i * COLUMNS + j] = s + 1000 / y;
    }
}

/* A long body over long rows. */
COMPUTE static void wide(int n, const double *a, const double *b, double *c)
{
  for (int i = 0; i < n; i++) /* loop wide */
    for (int j = 0; j < MANY; j++) {
      double s = 0;
      for (int k = 0; k < TAPS; k++)
        s += a[i * MANY + k] * b[k * MANY + j] + a[i * MANY + k] * 0.5;
      c[i * MANY + j] = s;
    }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", NULL};
  struct check check = check_open(argc, argv, 300, inputs);
  int n = (int)check.size;
  size_t places = check.size * MANY + MANY * TAPS;
  double *a = check_alloc(&check, places, sizeof *a), *b = check_alloc(&check, places, sizeof *b);
  double *c = check_alloc(&check, places, sizeof *c), *v = check_alloc(&check, COLUMNS, sizeof *v);
  double *o = check_alloc(&check, check.size * COLUMNS * COLUMNS, sizeof *o);
  int *z = check_alloc(&check, check.size * COLUMNS, sizeof *z);
  unsigned *u = check_alloc(&check, check.size * COLUMNS, sizeof *u);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_double(&check, a, places);
    fill_double(&check, b, places);
    fill_double(&check, v, COLUMNS);
    memset(c, 0, places * sizeof *c);
    memset(o, 0, check.size * COLUMNS * COLUMNS * sizeof *o);
    memset(u, 0, check.size * COLUMNS * sizeof *u);
    check_start(&check);
    wide(n, a, b, c);
    /* From the second or third entry on nothing is checked where that can be known. */
    for (int entry = 0; entry < 4; entry++) {
      moving(n, a, b, v, c, o);
      adding(n, a, b, v, c + n * COLUMNS, o);
      for (int i = 0; i < n * COLUMNS; i++)
        z[i] = 1 + i % 9;
      emptied(n, n, a, b, z, c + 2 * n * COLUMNS, u);
      for (int i = 0; i < n * COLUMNS; i++)
        z[i] = 1 + i % 7;
      doubled(n, a, b, z, c + 3 * n * COLUMNS);
      for (int i = 0; i < n * COLUMNS; i++)
        z[i] = 1 + i % 5;
      divided(n, a, b, z, c + 4 * n * COLUMNS);
    }
    check_stop(&check);
    check_array(&check, "c", c, places, sizeof *c);
    check_array(&check, "o", o, check.size * COLUMNS * COLUMNS, sizeof *o);
    check_array(&check, "u", u, check.size * COLUMNS, sizeof *u);
  }
  free(a);
  free(b);
  free(c);
  free(v);
  free(o);
  free(z);
  free(u);
  return check_close(&check);
}
