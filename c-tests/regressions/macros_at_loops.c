/* Macros with the names of anything that the text in front of a loop might be written with. */
#include <stdio.h>

struct pair {
  int first, second;
};

static float a[1000];
static double b[1000];
static struct pair pairs[1000];

#define i
#define u
#define d
#define f
#define threshold
#define info
#define state
#define first(x) x
#define sum(x) x

static __attribute__((noinline)) unsigned run(float *p, double *q, short n)
{
  unsigned sum = 0;
  double last = 0;
  float x = 0;
  short k;
  for (k = 0; k < n; k++) { /* entered */
    p[k] = k * 2.5f;
    x = p[k] + 1;
    last = q[k];
    q[k] += k;
    pairs[k].first = k;
    sum += k;
  }
  return sum + (unsigned)last + (unsigned)x + k;
}

int main(void)
{
  unsigned long total;
  total = run(a, b, 1000);
  for (short k = 0; k < 1000; k++)
    total = total * 31 + (unsigned)a[k] + (unsigned)b[k] + (unsigned)pairs[k].first;
  printf("%u\n", (unsigned)total);
  return 0;
}
