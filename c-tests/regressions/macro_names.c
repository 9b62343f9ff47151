/* A called function's object has a name that is a macro where the call stands. */
#include <stdio.h>

static int table[1000], other[1000], b[1000];

static int get(int i)
{
  return table[i] * 2;
}

#define table other
__attribute__((noinline)) static void run(int n)
{
  for (int i = 0; i < n; i++)
    b[i] = get(i) + table[0];
}
#undef table

int main(void)
{
  unsigned long sum = 0;
  for (int i = 0; i < 1000; i++)
    table[i] = i * 5;
  run(1000);
  for (int i = 0; i < 1000; i++)
    sum = sum * 31 + (unsigned)b[i];
  printf("%lu\n", sum);
  return 0;
}
