#include "../../../c-tests/coherence/coherence.h"
#include <math.h>
#include <sys/uio.h>
static uint64_t state;
static unsigned below(unsigned n) { state = state * 6364136223846793005u + 1442695040888963407u; return (unsigned)(state >> 33) % n; }
static const float table[16] = {1, -0.5f, 0.25f, 3, 1e30f, -1e-30f, 7, 0.1f, 9, 2, 1, 5, 0.3f, 8, 4, 6};
static float fixed[60000], given[3000] = {1, 2, 3};
static float tiny[64];
SHARED void f_copy(long n, float *to, const float *from, float v) { for (long i = 0; i < n; i++) to[i] = from[i] * 0.5f + v; }
SHARED void f_set(long n, float *to, float v) { for (long i = 0; i < n; i++) to[i] = v + (float)(i % 31); }
SHARED void f_place(long n, float *a, float v) { for (long i = 0; i < n; i++) a[i] = a[i] * 0.75f + v; }
SHARED void f_gap(long n, float *a, float v) { for (long i = 0; i < n; i++) a[3 * i] = v - (float)i; }
SHARED void f_gap_place(long n, float *a, const float *b) { for (long i = 0; i < n; i++) a[2 * i] = a[2 * i] + b[2 * i + 1]; }
SHARED void f_table(long n, float *a, const float *b, const float *t) { for (long i = 0; i < n; i++) a[i] = b[i] * t[1] + t[3]; }
SHARED void f_if(long n, float *a, const float *b) { for (long i = 0; i < n; i++) if (b[i] > 1) a[i] = b[i] - 1; }
SHARED void f_pair(long n, float *a, float *small, const float *b, long m) { for (long i = 0; i < m; i++) { for (long k = 0; k < n / m; k++) a[i * (n / m) + k] = b[i * (n / m) + k] * 0.5f; small[i] = b[i * (n / m)] + 1; } }
SHARED long f_count(long n, float *a, const float *b) { long c = 0; for (long i = 0; i < n; i++) { a[i] = b[i] + 1; c += b[i] > 2; } return c; }
SHARED void f_nan(long n, float *a, const float *b) { for (long i = 0; i < n; i++) a[i] = sqrtf(b[i] - 3); }
SHARED void f_fix(long n, float *a) { for (long i = 0; i < n; i++) a[i] = a[i] != a[i] ? 0.5f : a[i]; }
SHARED void f_byte(long n, char *a, const char *b, char c) { for (long i = 0; i < n; i++) a[i] = (char)(b[i] * 3 + c); }
#define N 60000
#define A 6
static float *arrays[A]; static int how[A]; static long sizes[A];
static void take(int k)
{
  sizes[k] = 20000 + below(40000);
  how[k] = below(4);
  switch (how[k]) {
  case 0: arrays[k] = malloc(sizes[k] * 4); break;
  case 1: arrays[k] = mmap(NULL, sizes[k] * 4 + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); break;
  case 2: arrays[k] = aligned_alloc(4096, (sizes[k] * 4 + 4095) & ~4095l); break;
  case 3: arrays[k] = calloc(sizes[k], 4); break;
  }
  memset(arrays[k], 0, sizes[k] * 4);
}
static void drop(int k) { if (how[k] == 1) munmap(arrays[k], sizes[k] * 4 + 4096); else free(arrays[k]); }
int main(int argc, char **argv)
{
  state = strtoul(argc > 1 ? argv[1] : getenv("SEED") ? getenv("SEED") : "1", NULL, 10) * 0x9e3779b97f4a7c15u + 1;
  long sum = 0; float small[64] = {0}; int nul = open("/dev/null", O_WRONLY); int zero = open("/dev/zero", O_RDONLY);
  for (int k = 0; k < A; k++) take(k);
  const int quiet = below(3);
  for (int s = 0; s < 120; s++) {
    int x = below(A + 1), y = below(A + 1);
    float *a = x == A ? fixed : arrays[x], *b = y == A ? fixed : arrays[y];
    long na = x == A ? N : sizes[x], nb = y == A ? N : sizes[y], n = na < nb ? na : nb;
    if (below(3) == 0) { long cut = below(2000); a += cut; b += x == y ? cut : below(cut + 1); n -= cut; }
    if (below(4) == 0) n -= below(n / 2);
    float v = (float)below(8);
    switch (below(14 + (quiet ? 2 : 12))) {
    case 0: f_copy(n, a, b, v); break;
    case 1: f_set(n, a, v); break;
    case 2: f_place(n, a, v); break;
    case 3: f_gap(n / 3, a, v); break;
    case 4: f_gap_place(n / 2, a, b); break;
    case 5: f_table(n, a, b, table + below(12)); break;
    case 6: if (x != y) f_if(n, a, b); break;
    case 7: { float t[8]; for (int i = 0; i < 8; i++) t[i] = v + i; f_table(n, a, b, t); break; }
    case 8: if (x != y) f_pair(n - n % 40, a, below(2) ? small : tiny, b, 40); break;
    case 9: if (x != y) sum += f_count(n, a, b); break;
    case 10: if (x != y) f_nan(n, a, b); break;
    case 11: f_fix(n, a); break;
    case 12: if (x != y) f_byte(n * 4 - 5, (char *)a + 1, (char *)b + 2, (char)v); break;
    case 13: f_table(n, a, b, given + below(2900)); break;
    case 14: given[below(3000)] = v; small[below(64)] += v; break;
    case 15: a[below(n)] = v; break;
    case 16: printf("%d %.9g\n", s, a[below(n)]); break;
    case 17: { long p = below(n - 100); for (int i = 0; i < 100; i++) a[p + i] += b[i]; break; }
    case 18: ensure(write(nul, a, n * 4) == n * 4, "write"); break;
    case 19: { long p = below(n - 5000); ensure(read(zero, a + p, 5000 * 4) == 20000, "read"); break; }
    case 20: if (x != A) { drop(x); take(x); } break;
    case 21: if (x != A && how[x] == 1) { madvise(arrays[x], 40960, MADV_DONTNEED); } break;
    case 22: show("a", s, a, n * 4); break;
    case 23: memcpy(a, b, n); break;
    case 24: { char *m = malloc(300000); m[5] = 1; memset(m, 1, 1000); free(m); break; }
    case 25: { struct iovec v2[2] = {{a, 5000}, {b, 6000}}; ensure(writev(nul, v2, 2) == 11000, "writev"); break; }
    }
  }
  for (int k = 0; k < A; k++) show("end", k, arrays[k], sizes[k] * 4);
  show("fixed", 0, fixed, sizeof fixed); show("small", 0, small, sizeof small); show("tiny", 0, tiny, sizeof tiny); printf("%ld\n", sum);
  return 0;
}
