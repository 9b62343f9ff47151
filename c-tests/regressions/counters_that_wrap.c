/* Signed counters that are moved by arithmetic of another type: converting back wraps around, which is no overflow. The array
 * has room for every int, of which these loops touch both ends; an element that
 * the first one loads has been stored by the iteration before, at the other end of what it seems to store. */
#include <limits.h>
#include <stdio.h>
#include <sys/mman.h>

static unsigned char *all;

__attribute__((noinline)) static int added(unsigned char *middle, const unsigned char *from, int count, int n)
{
  for (int i = 0; i < n; i++) {
    middle[count] = (unsigned char)(from[i] + i);
    count += 1u;
  }
  return count;
}

__attribute__((noinline)) static int through_another(unsigned char *middle, int count, int n)
{
  unsigned next;
  for (int i = 0; i < n; i++) {
    next = count + 1u;
    middle[count] = (unsigned char)(i * 3);
    count = (int)next;
  }
  return count;
}

__attribute__((noinline)) static int narrowed(unsigned char *middle, int count, int n)
{
  for (int i = 0; i < n; i++) {
    middle[count] = (unsigned char)(i * 5);
    count = (int)(count + 2L);
  }
  return count;
}

/* The same loops where nothing wraps. */
__attribute__((noinline)) static int without(int *to, int count, int n)
{
  unsigned next;
  for (int i = 0; i < n; i++) { /* entered */
    next = count + 1u;
    to[count] = i;
    to[next] = i * 7;
    count = (int)(next + 1u);
  }
  return count;
}

static unsigned long long sum;

static void look(const unsigned char *memory, long long room)
{
  for (long long k = 0; k < 4000000; k++)
    sum = sum * 31 + memory[k] + 7 * memory[room - 1 - k];
}

int main(void)
{
  static int small[20000];
  long long room = 1LL << 32;
  all = mmap(NULL, (size_t)room + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED)
    return 1;
  all += 4096;
  unsigned char *middle = all + (room >> 1);
  int ends[4];
  ends[0] = added(middle, all - 3002, INT_MAX - 3000, 3000000);
  look(all, room);
  ends[1] = through_another(middle, INT_MAX - 30000, 40000);
  look(all, room);
  ends[2] = narrowed(middle, INT_MAX - 61000, 40000);
  look(all, room);
  ends[3] = without(small, 5, 9000);
  for (int k = 0; k < 20000; k++)
    sum = sum * 31 + (unsigned)small[k];
  printf("%llu %d %d %d %d\n", sum, ends[0], ends[1], ends[2], ends[3]);
  return 0;
}
