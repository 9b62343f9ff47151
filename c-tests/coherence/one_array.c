/* Two arrays side by side in one block of malloc's, with a page in common, that one loop uses in different ways: one of them is short, or is loaded from as well, or has
 * gaps between its rows. */
#include "coherence.h"

enum { COUNT = 60000, ROWS = 410, WIDE = 64, USED = 50 };

/* A short one in front of a long one. */
SHARED void both(long n, char *a, double *b, long t)
{
  for (long i = 0; i < n; i++) {
    a[i] = (char)(i * 7 + t);
    b[i] = (double)(i + t) * 0.5;
  }
}

/* The long one is only loaded from. */
SHARED void beside(long n, char *a, const double *b, double *to, long t)
{
  for (long i = 0; i < n; i++) {
    a[i] = (char)(i * 5 + t);
    to[i] = b[i] + 1;
  }
}

/* Rows with gaps, in place, in front of what is stored as a whole. */
SHARED void rows(long n, uint32_t *a, uint32_t *b, uint32_t step)
{
  for (long i = 0; i < n; i++)
    for (long j = 0; j < USED; j++) {
      a[i * WIDE + j] = a[i * WIDE + j] * 2 + step;
      b[i * USED + j] = step + (uint32_t)(i * j);
    }
}

int main(void)
{
  size_t bytes = 9 * COUNT + 400, of_rows = 4 * ROWS * (WIDE + USED) + 100;
  char *block = malloc(bytes), *other = malloc(bytes), *matrix = malloc(of_rows);
  double *to = malloc(COUNT * sizeof *to);
  /* What malloc notes is on another page: so the first and the last page of each of the two come back. */
  char *aligned = aligned_alloc(4096, bytes / 4096 * 4096 + 4096);
  memset(block, 1, bytes);
  memset(other, 1, bytes);
  memset(matrix, 1, of_rows);
  memset(aligned, 1, bytes);
  both(COUNT, block, (double *)(block + COUNT), 1);
  show("block", 0, block, bytes);
  both(COUNT, aligned, (double *)(aligned + COUNT), 2);
  show("aligned", 0, aligned, bytes);
  beside(COUNT, other, (double *)(other + COUNT), to, 3);
  flip((long)bytes, other);
  show("other", 0, other, bytes);
  show("to", 0, to, COUNT * sizeof *to);
  for (uint32_t t = 0; t < 5; t++) {
    rows(ROWS, (uint32_t *)matrix, (uint32_t *)(matrix + 4 * ROWS * WIDE), t);
    show("matrix", t, matrix, of_rows);
    flip((long)of_rows, matrix);
  }
  show("matrix", 5, matrix, of_rows);
  return 0;
}
