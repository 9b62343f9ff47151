/* Loops whose short arrays lie where the caller stands, where a function stood that has returned, or where nobody may store: weights of a stencil, and what it counts. */
#include "coherence.h"

static const double weights[8] = {0.5, 0.25, 0.125, 1, 2, 3, 4, 5};

SHARED void weigh(long n, double *to, const double *from, const double *w)
{
  for (long i = 2; i < n - 2; i++)
    to[i] = (from[i - 2] + from[i + 2]) * w[0] + (from[i - 1] + from[i + 1]) * w[1] + from[i] * w[2];
}

/* What it stores is on the caller's stack, too. */
SHARED void fill(long n, double *to, const double *from, double *some)
{
  for (long i = 0; i < n; i++) {
    to[i * 100] = from[i * 100] * 0.25 + (double)i;
    some[i] = from[i * 100 + 1] * 0.5;
  }
}

SHARED void weigh_deeper(long n, double *to, const double *from, long step)
{
  double own[64][3];
  for (int i = 0; i < 64; i++)
    own[i][0] = own[i][1] = own[i][2] = 0.125 + (double)step * 1e-3 + i;
  weigh(n, to, from, own[step % 8]);
}

SHARED double fill_deeper(long n, double *to, const double *from)
{
  double some[500];
  fill(n / 100, to, from, some);
  return some[7] + some[n / 100 - 1];
}

int main(void)
{
  const long n = 50000;
  double *a = map(n * sizeof *a), *b = map(n * sizeof *b), w[3] = {0.1, 0.2, 0.4}, some[500], sum = 0;
  begin(n, a, 1);
  begin(n, b, 2);
  for (long step = 0; step < 40; step++) {
    switch (step % 5) {
      case 0: weigh(n, b, a, w); break;
      case 1: weigh_deeper(n, b, a, step); break;
      case 2: weigh(n, b, a, weights + step % 4); break;
      case 3: fill(n / 100, b, a, some); sum += some[3] + some[499]; break;
      default: sum += fill_deeper(n, b, a);
    }
    w[2] += 0.001;
    double *other = a;
    a = b;
    b = other;
    if (step % 13 == 12)
      printf("%ld %.17g %.17g\n", step, sum, w[2]);
  }
  show("a", 0, a, n * sizeof *a);
  show("b", 0, b, n * sizeof *b);
  show("some", 0, some, sizeof some);
  return 0;
}
