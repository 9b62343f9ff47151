/* Arrays are sorted and searched between the steps, by the C library, which calls the program back, and an order is left by a jump in the middle. */
#include "coherence.h"
#include <setjmp.h>

enum { COUNT = 90000, STEPS = 8 };

static long comparisons;
static jmp_buf away;

static int compare(const void *a, const void *b)
{
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  if (comparisons > 0 && --comparisons == 0)
    longjmp(away, 1);
  return x < y ? -1 : x > y;
}

int main(void)
{
  uint32_t *a = malloc(COUNT * sizeof *a);
  memset(a, 5, COUNT * sizeof *a);
  for (volatile long t = 0; t < STEPS; t++) {
    advance(COUNT, a, (uint32_t)t * 40503);
    comparisons = 0;
    qsort(a + t * 5000, 30000, sizeof *a, compare);
    advance(COUNT, a + 0, 1);
    qsort(a + t * 5000, 20000, sizeof *a, compare);
    uint32_t *found = bsearch(a + t * 5000 + 77, a + t * 5000, 20000, sizeof *a, compare);
    printf("%ld: %d\n", (long)t, found != NULL && *found == a[t * 5000 + 77]);
    show("a", t, a, COUNT * sizeof *a);
    /* In place, in groups of 64: nothing that sorting allocates is lost. */
    comparisons = 100;
    if (setjmp(away) == 0)
      qsort(a + 60000, 64, sizeof *a, compare);
    else
      puts("away");
  }
  show("a", STEPS, a, 60000 * sizeof *a);
  return 0;
}
