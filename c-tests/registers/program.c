/* Functions with a loop, and as many values in registers around it as there are registers: numbers, floating-point numbers of all widths, and vectors. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 40, TIMES = 50 };
#define KEPT __attribute__((noinline, noclone))

KEPT static uint64_t numbers(const uint64_t *a, long n, uint64_t p, uint64_t q, uint64_t r, uint64_t s)
{
  uint64_t t = p * q, u = q ^ r, v = r + s, w = s * 3 + p, x = t - v, y = u * w, z = 0;
  for (long i = 0; i < n; i++)
    z += a[i] * (uint64_t)i;
  return ((p ^ t) + (q ^ u)) * ((r ^ v) + (s ^ w)) - (x ^ z) * y + (uint64_t)n;
}

/* The same where the loop changes memory, and is entered again and again. */
KEPT static uint64_t again(uint64_t *restrict to, const uint64_t *restrict from, long n, uint64_t p, uint64_t q)
{
  uint64_t sum = p, other = q;
  for (long k = 1; k < n; k++) {
    uint64_t before = sum * other;
    for (long i = 0; i < k; i++)
      to[i] = from[i] + p;
    sum += to[k / 2] ^ before;
    other -= (uint64_t)k * before;
  }
  return sum ^ other;
}

/* A loop without a call in front, in a function that calls nothing. */
KEPT static int narrow(const signed char *a, int n, short p, unsigned char q)
{
  int sum = p;
  for (int i = 0; i < n; i++)
    sum += a[i] * q;
  return sum;
}

KEPT static double floating(const double *a, int n, double p, float q, double r)
{
  double s = p * r, t = p - q, u = r / (p + 3), v = p + r * q, w = s * t - 1, sum = 0;
  float x = q * 2, y = q - (float)p;
  for (int i = 0; i < n; i++)
    sum += a[i] * p;
  return sum + s / t + u * v - w + x * y + p - q * r;
}

KEPT static long double wide(const int *a, int n, long double p)
{
  long double q = p * 3, r = p / 7;
  long sum = 0;
  for (int i = 0; i < n; i++)
    sum += a[i];
  return q - r + (long double)sum * p;
}

typedef uint32_t vector __attribute__((vector_size(64), aligned(4)));
/* Whether there are registers as wide as that, the processor that is compiled for decides. */
KEPT static void vectors(vector *v, const int *a, int n)
{
  vector p = v[0] * 3, q = v[1] + p, r = v[2] ^ q, s = v[0] < r, t = p * r, u = q - t;
  uint32_t sum = 0;
  for (int i = 0; i < n; i++)
    sum += (uint32_t)a[i];
  v[0] = (p ^ q) + sum;
  v[1] = (s & t) - u;
  v[2] = r * (u | 1);
}

struct pair {
  long first, second;
};

/* A value that comes back in memory, and a loop that gives one. */
KEPT static struct pair found(const int *a, int n, int wanted, struct pair p)
{
  int at = 0;
  while (at < n && a[at] != wanted)
    at++;
  return (struct pair){p.first * at, p.second - at};
}

int main(void)
{
  static uint64_t a[COUNT], b[COUNT];
  static signed char narrows[COUNT];
  static double doubles[COUNT];
  static int ints[COUNT];
  static vector v[3];
  uint64_t state = 12345;
  for (int turn = 0; turn < TIMES; turn++) {
    for (int i = 0; i < COUNT; i++) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      a[i] = state;
      narrows[i] = (signed char)(state >> 50);
      doubles[i] = (double)(state >> 40) / 1000;
      ints[i] = (int)(state >> 55);
    }
    for (int i = 0; i < 3; i++)
      v[i] = v[i] + (uint32_t)(state >> i) - (vector){1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    printf("%llx %llx", (unsigned long long)numbers(a, COUNT, state, state >> 3, a[1], a[2]), (unsigned long long)again(b, a, COUNT, a[3], a[4]));
    printf(" %d %.17g", narrow(narrows, COUNT, (short)state, (unsigned char)(state >> 9)), floating(doubles, COUNT, doubles[1], (float)doubles[2], doubles[3]));
    printf(" %.20Lg", wide(ints, COUNT, (long double)doubles[4]));
    vectors(v, ints, COUNT);
    for (int i = 0; i < 3; i++)
      printf(" %x %x", v[i][0], v[i][15]);
    struct pair p = found(ints, COUNT, ints[turn % COUNT], (struct pair){turn, 5});
    printf(" %ld %ld\n", p.first, p.second);
  }
  return 0;
}
