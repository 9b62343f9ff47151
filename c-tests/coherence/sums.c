/* Loops that only read what others have stored: sums, extremes and counts in variables, which decide what the program does next. */
#include "coherence.h"

enum { COUNT = 200000, STEPS = 40 };

SHARED uint32_t total(long n, const uint32_t *a)
{
  uint32_t sum = 0;
  for (long i = 0; i < n; i++)
    sum += a[i];
  return sum;
}

SHARED uint32_t largest(long n, const uint32_t *a)
{
  uint32_t most = 0;
  for (long i = 0; i < n; i++)
    most = a[i] > most ? a[i] : most;
  return most;
}

SHARED long odd(long n, const uint32_t *a)
{
  long count = 0;
  for (long i = 0; i < n; i++)
    if (a[i] % 2 != 0)
      count++;
  return count;
}

int main(void)
{
  uint32_t *a = malloc(COUNT * sizeof *a), *b = malloc(COUNT * sizeof *b);
  memset(a, 1, COUNT * sizeof *a);
  memset(b, 2, COUNT * sizeof *b);
  for (long t = 0; t < STEPS; t++) {
    advance(COUNT, a, (uint32_t)t);
    uint32_t one = a[t * 1000];
    uint32_t sum = total(COUNT, a), most = largest(COUNT - t, a + t);
    if (sum % 3 == 0)
      advance(COUNT, b, most);
    else
      b[sum % COUNT] += most;
    if (odd(COUNT, b) % 2 == 0)
      a[most % COUNT] ^= total(1000, b + sum % 1000);
    printf("%ld: %u %u %u %ld\n", t, one, sum, most, odd(COUNT, b));
  }
  show("a", STEPS, a, COUNT * sizeof *a);
  show("b", STEPS, b, COUNT * sizeof *b);
  return 0;
}
