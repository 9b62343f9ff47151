/* A loop over integers that is distributed raises no floating-point exception, whatever is computed about it meanwhile. */
#include <stdio.h>
#include <xmmintrin.h>

enum { N = 20000 };
static int a[N], b[N + 1], c[N];

__attribute__((noinline)) static void parts(int n)
{
  for (int i = 1; i < n; i++) { /* entered */
    c[i] = b[i - 1] * 3;
    b[i] = a[i] + 1;
  }
}

static void (*volatile call)(int) = parts;

int main(void)
{
  unsigned sum = 0;
  for (int i = 0; i < N; i++)
    a[i] = i;
  _mm_setcsr(_mm_getcsr() & ~0x3fu);
  for (int k = 0; k < 20; k++)
    call(N - k);
  printf("%x\n", _mm_getcsr() & 0x3f);
  for (int i = 0; i < N; i++)
    sum = sum * 31 + (unsigned)c[i];
  printf("%u\n", sum);
  return 0;
}
