/* Between loops that devices can carry out come some that they can't, on the same arrays: they call the C library, depend on the iteration before, leave
 * early, or go on for as long as the data says. */
#include "coherence.h"

enum { COUNT = 60000, STEPS = 25 };

SHARED void chain(long n, double *a)
{
  for (long i = 1; i < n; i++)
    a[i] = a[i] * 0.5 + a[i - 1] * 0.25;
}

SHARED long first_above(long n, const double *a, double least)
{
  for (long i = 0; i < n; i++)
    if (a[i] > least)
      return i;
  return -1;
}

SHARED long lengths(long n, char *const *texts)
{
  long all = 0;
  for (long i = 0; i < n; i++)
    all += (long)strlen(texts[i]);
  return all;
}

SHARED long walk(const uint32_t *a, long n)
{
  long at = 0, steps = 0;
  while (steps < 50 && a[at] % 7 != 3) {
    at = a[at] % (uint32_t)n;
    steps++;
  }
  return at * 100 + steps;
}

int main(void)
{
  double *now = malloc(COUNT * sizeof *now), *next = malloc(COUNT * sizeof *next);
  uint32_t *counts = calloc(COUNT, sizeof *counts);
  char *text = malloc(300000), *texts[50];
  begin(COUNT, now, 1);
  begin(COUNT, next, 2);
  for (int k = 0; k < 50; k++)
    texts[k] = text + 5000 * k;
  for (long t = 0; t < STEPS; t++) {
    smooth(COUNT, next, now);
    letters(300000, text, t);
    advance(COUNT, counts, (uint32_t)t);
    switch (t % 5) {
    case 0:
      chain(COUNT, next);
      break;
    case 1:
      printf("%ld: %ld\n", t, first_above(COUNT, next, 60 + (double)t));
      break;
    case 2:
      for (int k = 0; k < 50; k++)
        texts[k][t * 100 + k] = 0;
      printf("%ld: %ld\n", t, lengths(50, texts));
      break;
    case 3:
      printf("%ld: %ld\n", t, walk(counts, COUNT));
      break;
    default:
      for (long i = 0; i < COUNT; i += 10000)
        printf("%.17g%c", next[i], i < COUNT - 10000 ? ' ' : '\n');
    }
    double *other = now;
    now = next;
    next = other;
  }
  show("now", STEPS, now, COUNT * sizeof *now);
  show("next", STEPS, next, COUNT * sizeof *next);
  show("counts", STEPS, counts, COUNT * sizeof *counts);
  show("text", STEPS, text, 300000);
  return 0;
}
