/* Pages that a pipe has been lent: what is read from it later is what is in the memory then, not what was there when it was lent. */
#include "coherence.h"
#include <sys/uio.h>

enum { COUNT = 16 * 1024, STEPS = 12, BYTES = COUNT * sizeof(uint32_t) };

int main(void)
{
  uint32_t *a = map(BYTES), *b = map(BYTES);
  int ends[2];
  ensure(pipe(ends) == 0, "pipe");
  for (long t = 0; t < STEPS; t++) {
    advance(COUNT, a, (uint32_t)t);
    struct iovec lent = {a + t * 1024, 8192};
    printf("%zd\n", vmsplice(ends[1], &lent, 1, 0));
    advance(COUNT, a, 3);
    if (t % 3 == 1)
      a[t * 1024 + 5] = 9;
    if (t % 3 == 2)
      advance(COUNT, b, (uint32_t)t);
    printf("%zd\n", read(ends[0], b + t * 1000, 8192));
    show("b", t, b + t * 1000, 8192);
  }
  show("a", STEPS, a, BYTES);
  show("b", STEPS, b, BYTES);
  return 0;
}
