/* A signed shift that overflows has a meaning to gcc: it cuts off. */
#include <stdio.h>
#include <sys/mman.h>

static int cost[8000];

__attribute__((noinline)) static void shifted(int n, short *p)
{
  for (int i = 0; i < n; i++) {
    unsigned s = 0;
    for (int j = 0; j < cost[i]; j++)
      s += (unsigned)j ^ s * 3;
    p[i << 20] = (short)(i + (s == 12345));
  }
}

int main(void)
{
  char *room = mmap(0, 8L << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  short *p = (short *)(void *)(room + (4L << 30));
  cost[5] = cost[7] = 3000000;
  shifted(8000, p);
  printf("%d %d\n", p[5 << 20], p[7 << 20]);
  return 0;
}
