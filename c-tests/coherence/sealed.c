/* An array whose mapping is sealed (mseal, Linux 6.10): what may be done with it can't be changed any more, and nothing in /proc/self/maps says so. Once before its first loop, and
 * once behind some. */
#include "coherence.h"
#include <sys/syscall.h>

enum { COUNT = 128 * 1024 };

/* Older headers have no name for it. */
static int sealed(void *memory, size_t bytes)
{
  return (int)syscall(462, memory, bytes, 0ul);
}

int main(void)
{
  uint32_t *first = map(COUNT * sizeof *first), *later = map(COUNT * sizeof *later);
  /* An older kernel has none, with any compiler. */
  printf("%d\n", sealed(first, COUNT * sizeof *first));
  for (long t = 0; t < 6; t++) {
    advance(COUNT, first, (uint32_t)t);
    advance(COUNT, later, (uint32_t)t * 3);
    if (t == 2)
      printf("%d\n", sealed(later, COUNT * sizeof *later));
    printf("%u %u\n", first[777 * t], later[999 * t]);
  }
  show("first", 6, first, COUNT * sizeof *first);
  show("later", 6, later, COUNT * sizeof *later);
  return 0;
}
