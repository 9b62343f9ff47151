/* Another thread of the program changes what decides a loop's addresses, between the moment when it is compared with what an earlier entry has
 * found and the one when it is copied to the GPU. The GPU must not see that: where earlier entries have shown that all addresses lie inside,
 * nobody checks them. The driver that is none calls `meddle` at such a moment (EMULATED_HOOK in driver.cpp). Prints the results, and on
 * standard error in how many entries it was called. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 3001, ENTRIES = 5, FAR = 500000000 };
static int *index_of, *original;
static volatile int armed, called;

static void meddle(void)
{
  if (!armed)
    return;
  armed = 0;
  called++;
  for (int i = 0; i < N; i++)
    index_of[i] = FAR + i;
}

__attribute__((noinline)) static void scatter(int n, const int *to, const double *x, double *out)
{
  for (int i = 0; i < n; i++)
    out[to[i]] = out[to[i]] * 0.5 + x[i];
}

int main(void)
{
  char address[32];
  double *x = malloc(N * sizeof *x), *out = malloc(N * sizeof *out);
  index_of = malloc(N * sizeof *index_of);
  original = malloc(N * sizeof *original);
  for (int i = 0; i < N; i++) {
    original[i] = (int)((int64_t)i * 1009 % N);
    x[i] = i * 0.25;
    out[i] = i;
  }
  snprintf(address, sizeof address, "%jx", (uintmax_t)(uintptr_t)meddle);
  setenv("EMULATED_HOOK", address, 1);
  for (int entry = 0; entry < ENTRIES; entry++) {
    memcpy(index_of, original, N * sizeof *index_of);
    armed = 1;
    scatter(N, index_of, x, out);
    armed = 0;
  }
  for (int i = 0; i < N; i++)
    printf("%a\n", out[i]);
  fprintf(stderr, "%d\n", called);
  return 0;
}
