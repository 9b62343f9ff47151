/* Loops that a device gives up in the middle: a value that is no number is stored, of which a GPU has other bits. */
#include "coherence.h"
enum { COUNT = 70000, STEPS = 20 };
SHARED void both(long n, double *a, double *only, double x)
{
  for (long i = 0; i < n; i++) {
    a[i] = a[i] * x + 1;
    only[i] = a[i] - x;
  }
}
SHARED void divide(long n, int *q, const int *a, int by)
{
  for (long i = 0; i < n; i++)
    q[i] = a[i] / (by + (int)(i & 1));
}
int main(void)
{
  double *a = malloc(COUNT * sizeof *a), *only = malloc(COUNT * sizeof *only);
  int *q = malloc(COUNT * sizeof *q), *p = malloc(COUNT * sizeof *p);
  begin(COUNT, a, 1); begin(COUNT, only, 3);
  advance(COUNT, (uint32_t *)p, 1);
  for (long t = 0; t < STEPS; t++) {
    double x = 0.5;
    if (t % 5 == 2) a[t * 3000 + 5] = 1.0 / 0.0;
    if (t % 5 == 3) x = 0;
    both(COUNT, a, only, x);
    advance(COUNT, (uint32_t *)p, (uint32_t)t);
    divide(COUNT, q, p, 3 + (int)t);
    if (t % 7 == 6) printf("%ld %a %a %d\n", t, only[COUNT - 1], a[t * 100], q[t * 900]);
    if (t % 5 == 4) { begin(COUNT, a, (double)t); show("only", t, only, COUNT * sizeof *only); }
  }
  show("a", 0, a, COUNT * sizeof *a); show("only", 0, only, COUNT * sizeof *only); show("q", 0, q, COUNT * sizeof *q);
  fflush(stdout);
  divide(COUNT, q, p, 0);
  return q[0];
}
