/* Arrays of which the first loop that comes to them stores only some: what lies between is the program's, and stays what it was wherever the array is meanwhile. */
#include "coherence.h"

enum { ROWS = 200, COLUMNS = 300, COUNT = 60000, STEPS = 6 };

/* The inside of a matrix. */
SHARED void inside(long rows, long columns, double (*to)[COLUMNS], double first)
{
  for (long i = 1; i < rows - 1; i++)
    for (long j = 1; j < columns - 1; j++)
      to[i][j] = first + (double)(i * 3 + j % 41);
}

/* Pairs out of each three. */
SHARED void pairs(long n, float *to, float first)
{
  for (long i = 0; i < n; i++)
    for (long j = 0; j < 2; j++)
      to[i * 3 + j] = first + (float)(i % 1000) * 2 + (float)j;
}

/* From the end to the beginning, all but the ends. */
SHARED void backwards(long n, double *to, double first)
{
  for (long i = n - 2; i > 0; i--)
    to[i] = first - (double)(i % 89);
}

/* By the host, whatever a compiler makes of loops. */
static void fill(void *memory, size_t bytes, unsigned seed)
{
  unsigned char *at = memory;
  for (size_t i = 0; i < bytes; i++)
    at[i] = (unsigned char)((seed = seed * 1664525u + 1013904223u) >> 27);
}

int main(void)
{
  double(*matrix)[COLUMNS] = malloc(ROWS * sizeof *matrix), *line = malloc(COUNT * sizeof *line);
  float *triples = malloc(3 * COUNT * sizeof *triples);
  for (long t = 0; t < STEPS; t++) {
    fill(matrix, ROWS * sizeof *matrix, (unsigned)t);
    fill(line, COUNT * sizeof *line, (unsigned)t + 100);
    fill(triples, 3 * COUNT * sizeof *triples, (unsigned)t + 200);
    for (long again = 0; again <= t; again++) {
      inside(ROWS, COLUMNS, matrix, (double)(t + again));
      backwards(COUNT, line, (double)(t - again));
      pairs(COUNT, triples, (float)(t * again));
    }
    printf("%g %g\n", matrix[3][0], (double)matrix[ROWS - 1][COLUMNS / 2]);
    show("matrix", t, matrix, ROWS * sizeof *matrix);
    show("line", t, line, COUNT * sizeof *line);
    show("triples", t, triples, 3 * COUNT * sizeof *triples);
  }
  return 0;
}
