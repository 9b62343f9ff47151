/* A weak object that nobody defines has no memory: it may only be read where the program asks for its address first. */
#include <stdio.h>

extern int shift __attribute__((weak));
extern struct {
  int most, where;
} stats __attribute__((weak));
extern int table[] __attribute__((weak));

enum { COUNT = 9000 };
static int a[COUNT], b[COUNT];

static void subscript(int n)
{
  for (int i = 0; i < n; i++)
    a[i] += &shift ? b[i + shift] : b[i] + 1;
}

static void bound(int n)
{
  for (int i = 0; i < n; i++) {
    if (&stats)
      for (int j = 0; j < stats.most; j++)
        a[i] += j;
    a[i] += 2;
  }
}

static void target(int n)
{
  for (int i = 0; i < n; i++)
    if (&stats)
      a[i + stats.where] = b[i];
    else
      a[i] ^= 5;
}

static int extreme(int n)
{
  int found = 0;
  for (int i = 0; i < n; i++)
    if (&stats && b[i] > stats.most) {
      stats.most = b[i];
      stats.where = i;
      found++;
    }
  return found;
}

static void element(int n)
{
  for (int i = 0; i < n; i++)
    if (table) {
      if (b[i] > table[3])
        table[3] = b[i];
      a[i] += b[table[2]];
    }
}

int main(void)
{
  for (int i = 0; i < COUNT; i++)
    b[i] = i * 7 % 1013;
  unsigned sum = 0;
  for (int round = 0; round < 3; round++) {
    subscript(8000);
    bound(8000);
    target(8000);
    element(8000);
    sum = sum * 31 + (unsigned)extreme(8000);
  }
  for (int i = 0; i < COUNT; i++)
    sum = sum * 31 + (unsigned)a[i];
  printf("%u\n", sum);
  return 0;
}
