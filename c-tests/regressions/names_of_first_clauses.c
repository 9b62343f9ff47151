/* Variables that a loop's first clause declares, with and without a value, hide others of the same name: what the guard in
 * front of the loop gives back must not go to those. Something unseen is evaluated after the loops. */
#include <stdio.h>

static int input[4096], output[4096], g = 77;

__attribute__((noinline)) static int hides_local(int n)
{
  int t = 77;
  for (int i = 0, t; i < n; i++) {
    t = input[i] * 3;
    output[i] = t;
  }
  int unseen[1] = {n};
  return t + unseen[0];
}

__attribute__((noinline)) static int hides_global(int n)
{
  for (int i = 0, g; i < n; i++) {
    g = input[i] * 3;
    output[i] += g;
  }
  int unseen[1] = {n};
  return g + unseen[0];
}

__attribute__((noinline)) static int inner(int n)
{
  int k = 5, t = 6;
  for (int i = 0, k; i < n / 8; i++)
    for (k = 0; k < 8; k++)
      output[8 * i + k] += k;
  for (int i = 0; i < n / 8; i++)
    for (int k = 0, t; k < 8; k++) {
      t = input[8 * i + k];
      output[8 * i + k] ^= t;
    }
  int unseen[1] = {n};
  return k + 10 * t + unseen[0];
}

__attribute__((noinline)) static int pointers(int n)
{
  int *p = input, sum = 3;
  for (int *p = output, *end = output + n, sum = 0; p < end; p++, sum += 2)
    *p += sum;
  int unseen[1] = {n};
  return (int)(p - input) + sum + unseen[0];
}

int main(void)
{
  for (int i = 0; i < 4096; i++)
    input[i] = i * 7 % 1000;
  unsigned hash = 1;
  int a = hides_local(1000), b = hides_global(1000), c = inner(1000), d = pointers(1000);
  for (int i = 0; i < 4096; i++)
    hash = hash * 31 + (unsigned)output[i];
  printf("%d %d %d %d %u\n", a, b, c, d, hash);
  return 0;
}
