/* Mappings that the program moves and grows as a whole, after parts of them have been elsewhere and others have come back: the system moves no range that it holds to be
 * several mappings. */
#include "coherence.h"
#include <sys/mman.h>

__attribute__((noinline)) static void fill(long n, double *a, long t)
{
  for (long i = 0; i < n; i++)
    a[i] = (double)(i % 97 + t);
}

int main(void)
{
  for (long round = 0; round < 3; round++) {
    long n = 51200 + 10240 * round; /* whole pages */
    size_t bytes = (size_t)n * sizeof(double);
    /* With nothing beside it that it could be joined with. */
    char *apart = mmap(NULL, bytes + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ensure(apart != MAP_FAILED, "mmap");
    double *a = (double *)(apart + 4096);
    ensure(mmap(a, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == a, "mmap, fixed");
    for (long t = 0; t < 3; t++) {
      fill(n, a, t);
      if (t == 1) /* far from each other */
        printf("%.17g %.17g\n", a[0], a[n - 10000]);
    }
    a = mremap(a, bytes, bytes + 40960, MREMAP_MAYMOVE);
    ensure(a != MAP_FAILED, "mremap");
    a[n + 5000] = 5;
    printf("%ld: %.17g %.17g %.17g\n", round, a[7], a[n - 1], a[n + 5000] + a[n + 5001]);
    for (long t = 0; t < 2; t++)
      fill(n + 5000, a, t);
    a = mremap(a, bytes + 40960, bytes, MREMAP_MAYMOVE);
    ensure(a != MAP_FAILED, "mremap, smaller");
    printf("%.17g\n", a[n / 2] + a[n - 1]);
    ensure(munmap(a, bytes) == 0, "munmap");
  }
  return 0;
}
