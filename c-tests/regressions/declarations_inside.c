/* A declaration in a loop may be what makes a name mean an object: the guard in front of the loop has other names. */
#include <stdio.h>
#include <string.h>

int from[4096], to[4096];
static int table[4] = {9, 9, 9, 9};

__attribute__((noinline)) static int reads_hidden(int n)
{
  int from[4096];
  memset(from, 0, sizeof from);
  from[0] = n;
  for (int i = 0; i < n; i++) {
    extern int from[4096];
    to[i] = from[i];
  }
  return from[0];
}

__attribute__((noinline)) static int stores_hidden(int n)
{
  int to[4096];
  memset(to, 0, sizeof to);
  int i = 0;
  while (i < n) {
    extern int to[4096];
    to[i + 1000] = i;
    i++;
  }
  return to[0] + to[1500];
}

__attribute__((noinline)) static void static_inside(int n)
{
  for (int i = 0; i < n; i++) {
    static const int table[4] = {1, 2, 3, 4};
    to[i + 2000] = table[i & 3];
  }
}

int main(void)
{
  for (int i = 0; i < 4096; i++)
    from[i] = i;
  int a = reads_hidden(1000), b = stores_hidden(1000);
  static_inside(1000);
  unsigned hash = (unsigned)table[1];
  for (int i = 0; i < 4096; i++)
    hash = hash * 31 + (unsigned)to[i];
  printf("%d %d %u\n", a, b, hash);
  return 0;
}
