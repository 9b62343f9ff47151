/* What an inspection needs no value of may have loads in it that other iterations store to: subscripts of arrays that nothing
 * else touches, first values and places of arrays that each iteration has for itself, operands of updates. */
#include <stdio.h>

enum { N = 4096 };
static int chain[N], counts[N], order[N], table[N];
static double result[N], values[N];

__attribute__((noinline)) static void subscripts(int n)
{
  for (int i = 0; i < n; i++) { /* entered */
    chain[order[i]] = (i * 7) % N;
    result[i] = values[chain[order[n - 1 - i]]];
  }
}

__attribute__((noinline)) static void updates(int n)
{
  for (int i = 0; i < n; i++) { /* entered */
    chain[order[i]] = (i * 5) % N;
    counts[chain[order[n - 1 - i]]] += 3;
  }
}

__attribute__((noinline)) static void own_values(int n)
{
  for (int i = 0; i < n; i++) { /* entered */
    int own[2] = {chain[order[n - 1 - i]], 1};
    chain[order[i]] = own[0] + own[i & 1];
  }
}

__attribute__((noinline)) static void own_places(int n)
{
  for (int i = 0; i < n; i++) { /* entered */
    int own[4] = {1, 2, 3, 4};
    own[chain[order[n - 1 - i]] & 3] = i;
    chain[order[i]] = own[1] + own[chain[order[(i + 5) % n]] & 3];
  }
}

__attribute__((noinline)) static void own_stores(int n)
{
  for (int i = 0; i < n; i++) { /* entered */
    int own[2] = {0};
    own[1] = chain[order[n - 1 - i]];
    chain[order[i]] = own[1] + 1;
  }
}

__attribute__((noinline)) static void elsewhere(int n)
{
  for (int i = 0; i < n; i++) { /* entered */
    table[i] = chain[order[n - 1 - i]];
    chain[order[i]] = i;
  }
}

int main(void)
{
  unsigned long hash = 1;
  for (int turn = 0; turn < 3; turn++) {
    for (volatile int i = 0; i < N; i++) {
      order[i] = (i * 1229 + turn) % N;
      chain[i] = (i * 3) % N;
      values[i] = i * 0.5;
    }
    subscripts(N);
    updates(N);
    own_values(N);
    own_places(N);
    own_stores(N);
    elsewhere(N);
    for (int i = 0; i < N; i++)
      hash = hash * 31 + (unsigned long)chain[i] + (unsigned long)counts[i] * 7 + (unsigned long)(result[i] * 2) + (unsigned long)table[i];
  }
  printf("%lu\n", hash);
  return 0;
}
