/* Short loops through pointers that use variables of the file's own: a factor, a value that each iteration leaves there, a table. Nobody takes their addresses, so that no pointer leads to them, which the loops are
 * vectorised by. */
#include <stdio.h>
#include <stdlib.h>

enum { LENGTH = 1000, TURNS = 150000 };

static int length = LENGTH;
static double factor = 0.5, last, table[LENGTH];

__attribute__((noinline)) static void scaled(double *to)
{
  for (int i = 0; i < length; i++)
    to[i] *= factor;
}

__attribute__((noinline)) static void added(double *to)
{
  for (int i = 0; i < length; i++)
    to[i] += table[i];
}

__attribute__((noinline)) static void kept(double *to)
{
  for (int i = 0; i < length; i++) {
    last = to[i];
    to[i] = last * factor + 1;
  }
}

int main(int argc, char **argv)
{
  double *values = malloc(LENGTH * sizeof *values), sum = 0;
  if (values == NULL)
    return 1;
  for (int i = 0; i < LENGTH; i++)
    values[i] = i, table[i] = i * 0.25;
  for (int turn = 0; turn < TURNS; turn++) {
    scaled(values);
    added(values);
    kept(values);
    factor = argc > 1 ? atof(argv[1]) : 0.5;
    length = LENGTH - (turn & 1);
  }
  for (int i = 0; i < LENGTH; i++)
    sum += values[i];
  printf("%.17g %.17g\n", sum, last);
  free(values);
  return 0;
}
