/* Pieces of one block, of any length and anywhere, that loops read, write, and do both to, in an order nobody has chosen; pages have several of them. */
#include "coherence.h"
enum { BYTES = 6 << 20 };
SHARED uint64_t total(long n, const uint32_t *a) { uint64_t s = 0; for (long i = 0; i < n; i++) s += a[i]; return s; }
SHARED void mix(long n, uint32_t *a, const uint32_t *b, long apart)
{
  for (long i = 0; i < n; i++)
    a[i] = a[i] * 3 + b[i] + a[i + apart];
}
SHARED void some(long n, uint32_t *a) { for (long i = 0; i < n; i++) if (a[i] & 4) a[i] += 7; }
SHARED void strided(long n, uint32_t *a, long s) { for (long i = 0; i < n; i++) a[i * s] = (uint32_t)(i * 3); }
int main(void)
{
  char *block = malloc(BYTES);
  uint32_t seed = 12345;
  memset(block, 3, BYTES);
  for (long t = 0; t < 400; t++) {
    seed = seed * 1664525 + 1013904223;
    long at = (long)(seed >> 8) % (BYTES / 3) & ~3L;
    seed = seed * 1664525 + 1013904223;
    long n = 10 + (long)(seed >> 8) % 150000;
    seed = seed * 1664525 + 1013904223;
    long to = BYTES / 2 + ((long)(seed >> 8) % (BYTES / 3) & ~3L);
    if (to + 4 * n + 8 > BYTES) n = (BYTES - to) / 4 - 2;
    uint32_t *a = (uint32_t *)(block + at), *b = (uint32_t *)(block + to);
    switch (seed >> 4 & 7) {
    case 0: advance(n, a, (uint32_t)t); break;
    case 1: mix(n, b, a, 0); break;
    case 2: if (at + 8 * n + 4 < BYTES) mix(n / 2, a, b, n); break;
    case 3: letters(n, (char *)b, t); break;
    case 4: some(n, a); break;
    case 5: strided(n / 9 + 1, a, 9); break;
    case 6: printf("%ld %llu\n", t, (unsigned long long)total(n, b)); break;
    case 7: smooth(n / 2, (double *)((uintptr_t)a & ~7ul), (double *)((uintptr_t)b & ~7ul)); break;
    }
    if (t % 11 == 0) printf("%ld %u %u\n", t, a[n / 3], b[n - 1]);
    if (t % 37 == 0) memmove(a, b + 1, (size_t)n);
    if (t % 53 == 0) show("block", t, block, BYTES);
  }
  show("block", 0, block, BYTES);
  return 0;
}
