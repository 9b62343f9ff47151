/* What a scalar is assigned is computed when it is assigned: from then on, the counter that it was computed from may count another loop,
 * and the value of the iteration before be replaced. */
#include <stdio.h>

static int a[1300000], b[640000], rows[500][64], room[64], cost[20000];

/* The counter after its loop; then it counts the next one. */
__attribute__((noinline)) static void number(int n)
{
  int j, t;
  for (int i = 1; i < n; i++) {
    for (j = 0; j < 64; j++)
      b[64 * i + j] = i;
    t = j;
    for (j = 0; j < 64; j++)
      a[128 * i + t + j] = a[128 * i - 1] + 1;
  }
}
__attribute__((noinline)) static void pointer(int n)
{
  int j, *p;
  for (int i = 1; i < n; i++) {
    for (j = 0; j < 64; j++)
      b[64 * i + j] = i;
    p = a + 128 * i + j;
    for (j = 0; j < 64; j++)
      p[j] = a[128 * i - 1] + 2;
  }
}
/* What each iteration has for itself, only if t were j. */
__attribute__((noinline)) static void first_clause(int n, int m)
{
  for (int i = 0; i < n; i++) {
    for (int j = 0, t = j; j < m; j++) {
      room[t] = rows[i][j];
      rows[i][j] = room[j] + 1;
    }
    for (int j = 0; j < m; j++)
      room[j] = rows[i][j] * 2;
  }
}
/* A limit that was computed from the counter. */
__attribute__((noinline)) static void limit(int n)
{
  int j, k, e;
  for (int i = 1; i < n; i++)
    for (j = 0, e = j + 2; j < e; j++)
      for (k = 0; k < e; k++)
        a[8 * i + 4 * j + k] = a[8 * i - 3] + 1;
}
/* t is made of what u was; in the first iteration that is another place. */
__attribute__((noinline)) static void before(int n, int u)
{
  int t;
  for (int i = 0; i < n; i++) {
    unsigned s = 0;
    for (int j = 0; j < cost[i]; j++)
      s += (unsigned)j ^ s * 3;
    t = u + 1;
    u = i * 3;
    a[t] = i + 1 + (s == 12345);
  }
}

static unsigned hash(const int *from, int n)
{
  unsigned h = 0;
  for (int i = 0; i < n; i++)
    h = h * 31 + (unsigned)from[i];
  return h;
}

int main(void)
{
  number(10000);
  printf("%d %x\n", a[128 * 9999 + 127], hash(a, 1300000));
  pointer(10000);
  printf("%d %x\n", a[128 * 9999 + 127], hash(a, 1300000));
  for (int i = 0; i < 500; i++)
    for (int j = 0; j < 64; j++)
      rows[i][j] = i * 64 + j;
  first_clause(500, 64);
  printf("%x\n", hash(&rows[0][0], 500 * 64));
  limit(9000);
  printf("%x\n", hash(a, 80000));
  cost[0] = 3000000;
  before(20000, 3 * 15000);
  printf("%d\n", a[45001]);
  return 0;
}
