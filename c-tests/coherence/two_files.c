/* A stencil in two dimensions whose step is in another translation unit. Pointers are swapped, and between the steps one value is read, a row and a
 * column of the boundary are written. */
#include "coherence.h"

enum { ROWS = 240, COLUMNS = 300, STEPS = 40 };

void step(long rows, long columns, double *to, const double *from);

int main(void)
{
  double *now = malloc(ROWS * COLUMNS * sizeof *now), *next = calloc(ROWS * COLUMNS, sizeof *next);
  begin(ROWS * COLUMNS, now, 3);
  for (long t = 0; t < STEPS; t++) {
    step(ROWS, COLUMNS, next, now);
    printf("%ld: %.17g\n", t, next[(t * 5 + 1) * COLUMNS + t * 3 + 2]);
    /* These run as they stand. */
    volatile double *edge = next;
    if (t % 3 != 0)
      for (long j = 0; j < COLUMNS; j++)
        edge[(ROWS - 1) * COLUMNS + j] += (double)(j * t % 7);
    if (t % 4 == 1)
      for (long i = 0; i < ROWS; i++)
        edge[i * COLUMNS] = (double)(t - i);
    double *other = now;
    now = next;
    next = other;
  }
  show("now", STEPS, now, ROWS * COLUMNS * sizeof *now);
  show("before", STEPS, next, ROWS * COLUMNS * sizeof *next);
  return 0;
}
