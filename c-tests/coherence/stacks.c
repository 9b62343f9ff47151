/* Arrays on the stack: of known and unknown length, and by alloca; they end with their function, and what comes next lies in their place, with frames
 * of other functions on the same pages. */
#include "coherence.h"
#include <alloca.h>

enum { COUNT = 40000, STEPS = 20 };

SHARED uint64_t fixed(long t)
{
  double now[COUNT], next[COUNT];
  begin(COUNT, now, (double)t);
  begin(COUNT, next, 1);
  for (long k = 0; k < 3; k++) {
    smooth(COUNT, next, now);
    smooth(COUNT, now, next);
    now[k * 500] += next[k * 511];
  }
  return hash(now, sizeof now);
}

SHARED uint64_t variable(long n, long t)
{
  uint32_t own[n], *more = alloca((size_t)n * sizeof *more);
  memset(own, 1, sizeof own);
  memset(more, 2, (size_t)n * sizeof *more);
  advance(n, own, (uint32_t)t);
  advance(n, more, own[n - 1]);
  advance(n, own, more[n / 2]);
  return own[1] ^ hash(more, 5000);
}

/* Nothing of it is used again: its results have no reader, and its place has other owners. */
SHARED void forgotten(long t)
{
  char text[150000];
  letters(sizeof text, text, t);
  printf("%.5s\n", text + t * 1000);
}

SHARED uint64_t deep(int levels, uint32_t *a, long n)
{
  volatile char room[3000];
  room[levels * 7] = (char)levels;
  if (levels == 0) {
    advance(n, a, 3);
    return a[n - 1];
  }
  uint64_t inside = deep(levels - 1, a, n);
  return inside * 31 + (unsigned char)room[levels * 7] + a[levels];
}

int main(void)
{
  uint32_t outer[COUNT];
  memset(outer, 9, sizeof outer);
  for (long t = 0; t < STEPS; t++) {
    advance(COUNT, outer, (uint32_t)t);
    printf("%ld: %016llx\n", t, (unsigned long long)fixed(t));
    printf("%ld: %016llx\n", t, (unsigned long long)variable(20000 + 1500 * t, t));
    forgotten(t);
    printf("%ld: %016llx\n", t, (unsigned long long)deep(60, outer, COUNT));
    printf("%ld: %u %u\n", t, outer[0], outer[t * 1024 + 1023]);
  }
  show("outer", STEPS, outer, sizeof outer);
  return 0;
}
