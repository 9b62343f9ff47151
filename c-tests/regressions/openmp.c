/* Pragmas of OpenMP stay where a file's loops get code, whatever is warned of. flags: -fopenmp */
#include <stdio.h>

enum { COUNT = 40000 };

static unsigned from[COUNT], to[COUNT];
static int number;
#pragma omp threadprivate(number)

static void scramble(int n)
{
  for (int i = 0; i < n; i++) {
    unsigned x = from[i];
    for (int k = 0; k < 50; k++)
      x = x * 1664525u + 1013904223u;
    to[i] = x;
  }
}

/* What is left out has company that isn't compiled:
#pragma omp parallel
#pragma omp threadprivate(number)
*/
int main(void)
{
  int threads = 0, own = 0;
#pragma omp parallel num_threads(3) reduction(+ : threads, own)
  {
    threads += 1;
    number++;
    own += number;
  }
  for (int i = 0; i < COUNT; i++)
    from[i] = (unsigned)i * 2654435761u;
  scramble(COUNT);
  unsigned hash = 0;
  for (int i = 0; i < COUNT; i++)
    hash = hash * 31 + to[i];
  printf("%d %d %u\n", threads, own, hash);
  return 0;
}
