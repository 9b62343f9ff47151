/* Square roots, which may set errno, and conversions of floating-point numbers run on threads in place; what a program finds in errno and in the exception flags afterwards is what the
 * loop in its order leaves there. flags: -Wl,--no-as-needed -lm */
#include <errno.h>
#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 20000 };
static double a[COUNT], b[COUNT];
static float c[COUNT];
static unsigned char bytes[COUNT];
static int ints[COUNT];
static unsigned long hash = 7;

static void told(const char *name)
{
  int error = errno, flags = fetestexcept(FE_INVALID | FE_DIVBYZERO);
  for (int i = 0; i < COUNT; i++) {
    hash = (hash ^ bytes[i]) * 1099511628211u ^ (unsigned)ints[i];
    hash = (hash ^ (unsigned long)(a[i] == a[i] ? a[i] * 16 : -5)) * 1099511628211u;
  }
  printf("%s %lx errno %d flags %d\n", name, hash, error, flags);
  errno = 0;
  feclearexcept(FE_ALL_EXCEPT);
}

__attribute__((noinline)) static void roots(int n, double *to, const double *from)
{
  for (int i = 0; i < n; i++) /* entered */
    to[i] = sqrt(from[i]) + 1;
}
__attribute__((noinline)) static void narrowed(int n, unsigned char *to, const float *from)
{
  for (int i = 0; i < n; i++) /* entered */
    to[i] = (unsigned char)(from[i] * 255.0f + 0.5f);
}
__attribute__((noinline)) static void rounded(int n, int *to, const double *from)
{
  for (int i = 0; i < n; i++) /* entered */
    to[i] = (int)(from[i] * 3) + (short)from[i];
}
__attribute__((noinline)) static void distances(int n, double *to, const double *from)
{
  for (int i = 0; i < n; i++) { /* entered */
    double sum = 0;
    for (int j = 0; j < 20; j++) {
      double d = from[i] - from[(i + j * 7) % COUNT];
      sum += 1 / sqrt(d * d + 0.01);
    }
    to[i] = sum;
  }
}
__attribute__((noinline)) static void divided(int n, int *to, const int *from)
{
  for (int i = 0; i < n; i++)
    to[i] = 1000000 / (from[i] | 1);
}

int main(void)
{
  for (int turn = 0; turn < 4; turn++) {
    for (int i = 0; i < COUNT; i++) {
      b[i] = i * 0.37 + turn;
      c[i] = i % 256 / 256.0f;
    }
    errno = 0;
    feclearexcept(FE_ALL_EXCEPT);
    roots(COUNT, a, b);
    told("roots");
    b[turn * 5003 + 17] = -4;
    roots(COUNT, a, b);
    told("of a negative number");
    narrowed(COUNT, bytes, c);
    told("narrowed");
    rounded(COUNT, ints, b);
    told("rounded");
    distances(COUNT, a, b);
    told("distances");
    divided(COUNT, ints, ints);
    told("divided");
  }
  return 0;
}
