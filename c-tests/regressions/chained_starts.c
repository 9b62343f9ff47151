/* First clauses that set several variables at once (`i = j = 0`): each has what the one behind it has, in its own type. */
#include <stdio.h>

enum { COUNT = 5000 };

static int to[COUNT], from[2 * COUNT];

__attribute__((noinline)) static long both(int n, int *restrict a, const int *restrict b)
{
  int i, j;
  for (i = j = 0; i < n; ++i, j += 2) /* entered */
    a[i] = b[j] + 1;
  return i * 7L + j;
}

__attribute__((noinline)) static long narrowed(int n, int *restrict a, const int *restrict b, short s)
{
  long i;
  unsigned char j;
  int k;
  for (i = j = k = s; i < n; ++i) /* entered */
    a[i] = b[i] + k;
  return i * 100000 + j * 1000 + k;
}

__attribute__((noinline)) static long over(int n, int *restrict a, const int *restrict b, int from)
{
  int i = from, k = 5;
  for (i = k = i + 1; i < n; i++) /* of what it held before: left as it stands */
    a[i] = b[i] * k;
  return i * 10L + k;
}

static void print(const char *name, long result)
{
  unsigned hash = 0;
  for (int i = 0; i < COUNT; i++)
    hash = hash * 31 + (unsigned)to[i];
  printf("%s %ld %u\n", name, result, hash);
}

int main(void)
{
  for (int i = 0; i < 2 * COUNT; i++)
    from[i] = i * 7 % 97;
  print("both", both(COUNT, to, from));
  print("narrowed", narrowed(COUNT, to, from, 200));
  print("cut down", narrowed(COUNT, to, from, 300));
  print("over", over(COUNT, to, from, 7));
  return 0;
}
