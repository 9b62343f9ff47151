/* Small functions in loops: that return early, have a switch, give results through pointers, look at bits through unions or memcpy, are called under conditions; tables that are constant;
 * functions of integers. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 5000 };
static int a[COUNT], b[COUNT], c[COUNT];
static unsigned words[COUNT];
static unsigned long long wide[COUNT];
static float singles[COUNT];
static double doubles[COUNT];
static unsigned long hash = 7;
static int *kept;

static void see(const void *from, size_t bytes)
{
  const unsigned char *at = from;
  for (size_t k = 0; k < bytes; k++)
    hash = (hash ^ at[k]) * 1099511628211u;
}
static void told(const char *name)
{
  see(a, sizeof a);
  see(b, sizeof b);
  see(c, sizeof c);
  see(singles, sizeof singles);
  printf("%s %lx\n", name, hash);
}

static int32_t saturated(int32_t value, uint32_t bits)
{
  if (bits >= 1 && bits <= 32) {
    const int32_t max = (int32_t)((1u << (bits - 1)) - 1), min = -1 - max;
    if (value > max)
      return max;
    else if (value < min)
      return min;
  }
  return value;
}
static int chosen(int kind, int x)
{
  switch (kind & 7) {
  case 0:
    return x;
  case 1:
    x += 3;
  case 2:
    x *= 2;
    break;
  case 3: {
    int y = x ^ 5;
    if (y & 1)
      return y;
    break;
  }
  case 4:
  case 5:
    return -x;
  default:
    x--;
  }
  return x + 100;
}
static void parts(unsigned pixel, int *red, int *green, int *blue)
{
  if (red)
    *red = pixel >> 24;
  if (green != NULL)
    *green = pixel >> 16 & 255;
  if (!blue)
    return;
  *blue = pixel >> 8 & 255;
}
static void keeping(int *p)
{
  *p += 1;
  kept = p;
}
static float number(uint32_t bits)
{
  union {
    uint32_t bits;
    float number;
  } both;
  both.bits = bits;
  return both.number;
}
static uint32_t bits_of(float number)
{
  uint32_t bits;
  memcpy(&bits, &number, sizeof bits);
  return bits;
}
static const int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
static int looked_up(int k) { return table[k & 7]; }
static int until(const int *list, int count, int x)
{
  int k;
  for (k = 0; k < count; k++)
    if (list[k] == x)
      break;
  return k;
}

__attribute__((noinline)) static void early(int n, int *to, const int *from)
{
  for (int i = 0; i < n; i++) /* entered */
    to[i] = saturated(from[i] * 77, 12) + saturated(from[i], i & 63);
}
__attribute__((noinline)) static void switched(int n, int *to, const int *from)
{
  for (int i = 0; i < n; i++) /* entered */
    to[i] = chosen(from[i], i) - chosen(i, from[i]);
}
__attribute__((noinline)) static void by_pointers(int n, int *to, const unsigned *from)
{
  for (int i = 0; i < n; i++) { /* entered */
    int red, green, blue = 7;
    parts(from[i], &red, &green, i & 1 ? NULL : NULL);
    parts(from[i] * 3, NULL, 0, &blue);
    to[i] = red + green * 3 + blue * 5;
  }
}
__attribute__((noinline)) static int by_pointers_outside(int n, int *to, const unsigned *from)
{
  int red = 1, green = 2, blue = 3;
  for (int i = 0; i < n; i++) { /* entered */
    parts(from[i], &red, &green, &blue);
    to[i] = red - green + blue;
  }
  return red * 1000000 + green * 1000 + blue;
}
/* Somebody has the address. */
__attribute__((noinline)) static int by_kept(int n, int *to)
{
  int count = 0;
  for (int i = 0; i < n; i++) {
    keeping(&count);
    to[i] = count + *kept;
    *kept += 2;
  }
  return count;
}
__attribute__((noinline)) static void by_bits(int n, float *to, const unsigned *from)
{
  for (int i = 0; i < n; i++) /* entered */
    to[i] = number((from[i] & 0x7fffff) | 0x3f800000) * 2 + (bits_of(i * 0.25f) >> 20);
}
__attribute__((noinline)) static void under_conditions(int n, int *to, const int *from)
{
  for (int i = 0; i < n; i++) /* entered */
    to[i] = from[i] > 0 ? saturated(from[i], 9) : from[i] < -50 && saturated(from[i], 6) == -32 ? chosen(i, 3) : i;
}
__attribute__((noinline)) static void with_or(int n, int *to, const int *from)
{
  for (int i = 0; i < n; i++) /* entered */
    if ((from[i] & 1) || chosen(from[i], i) % 3 == 0)
      to[i] = looked_up(from[i]) + 1;
}
__attribute__((noinline)) static void of_integers(int n, int *to, const int *from, const unsigned long long *wide)
{
  for (int i = 0; i < n; i++) /* entered */
    to[i] = abs(from[i]) + (int)(labs(from[i] * 3l) + llabs(-from[i])) + __builtin_popcount(from[i]) + __builtin_popcountll(wide[i]) +
            __builtin_clz(from[i] | 1) * 3 + __builtin_ctzll(wide[i] | 1ull << 40) * 5 + __builtin_clzl(wide[i] >> 7 | 1) * 7 +
            __builtin_ffs(from[i]) + __builtin_ffsll(wide[i] << 13) * 11 + __builtin_parity(from[i]) + __builtin_parityll(wide[i]) +
            (int)(__builtin_bswap32(from[i]) >> 7) + __builtin_bswap16(from[i]) + (int)(__builtin_bswap64(wide[i]) >> 11);
}
__attribute__((noinline)) static void of_kinds(int n, int *to, const double *from, const float *singles)
{
  for (int i = 0; i < n; i++) /* entered */
    to[i] = isnan(from[i]) + 2 * isfinite(from[i]) + 4 * isinf(from[i]) + 16 * isnan(singles[i]) + 32 * isfinite(singles[i]) + 64 * isinf(singles[i]);
}
__attribute__((noinline)) static void with_a_loop(int n, int *to, const int *from)
{
  for (int i = 0; i < n; i++) /* entered */
    to[i] = until(table, 8, from[i] & 7);
}

int main(void)
{
  for (int turn = 0; turn < 3; turn++) {
    unsigned long long state = 99 + turn;
    for (int i = 0; i < COUNT; i++) {
      state = state * 6364136223846793005ull + 1442695040888963407ull;
      b[i] = (int)(state >> 40) % 300 - 150;
      words[i] = state >> 31;
      wide[i] = state ^ state >> 17;
      c[i] = a[i] = 0;
      doubles[i] = i % 7 == 0 ? NAN : i % 7 == 1 ? INFINITY : i % 7 == 2 ? -INFINITY : i % 7 == 3 ? 1e308 : i % 7 == 4 ? 4e-320 : i % 7 == 5 ? 0.0 : -1;
      singles[i] = i % 5 == 0 ? NAN : i % 5 == 1 ? -INFINITY : i % 5 == 2 ? 3e38f : -0.0f;
    }
    int n = COUNT - turn;
    of_kinds(n, a, doubles, singles);
    told("kinds");
    early(n, a, b);
    told("early");
    switched(n, c, b);
    told("switched");
    by_pointers(n, a, words);
    told("by pointers");
    printf("%d\n", by_pointers_outside(n, a, words));
    told("by pointers outside");
    printf("%d\n", by_kept(n, a));
    told("by kept");
    by_bits(n, singles, words);
    told("by bits");
    under_conditions(n, a, b);
    told("under conditions");
    with_or(n, a, b);
    told("with or");
    of_integers(n, c, b, wide);
    told("of integers");
    with_a_loop(n, a, b);
    told("with a loop");
  }
  return 0;
}
