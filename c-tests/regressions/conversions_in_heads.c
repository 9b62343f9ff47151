/* Conditions and steps whose conversions change the variable's value: other trip counts than they seem to have. */
#include <stdio.h>

static int b[1000];

__attribute__((noinline)) static int by_unsigned(int first, long n)
{
  int count = 0;
  for (int i = first; (unsigned)i < n; i++) {
    b[i + 100] = i;
    count++;
  }
  return count;
}

__attribute__((noinline)) static int by_short(signed char first, int n)
{
  int count = 0;
  for (signed char i = first; (unsigned short)i < n; i++) {
    b[i + 100] = i * 2;
    count++;
  }
  return count;
}

__attribute__((noinline)) static int narrowed(int first, int n)
{
  int count = 0;
  for (int i = first; i < n; i = (unsigned char)(i + 1)) {
    b[i + 100] = i;
    count++;
  }
  return count;
}

int main(void)
{
  unsigned long sum = 0;
  printf("%d %d %d\n", by_unsigned(-50, 50), by_short(-50, 50), narrowed(-50, 50));
  printf("%d %d\n", by_unsigned(5, 500), by_short(2, 50));
  for (int i = 0; i < 1000; i++)
    sum = sum * 31 + (unsigned)b[i];
  printf("%lu\n", sum);
  return 0;
}
