/* Between the steps, values are read and written alone: in the middle of a page and beside it, on both sides of a page's end, across it, by
 * instructions that load and store at once, by bytes. */
#include "coherence.h"

enum { COUNT = 100000, STEPS = 36, IN_PAGE = 512, BYTES = 196 * 4096 };

int main(void)
{
  double *now = aligned_alloc(4096, BYTES), *next = aligned_alloc(4096, BYTES);
  uint32_t *counts = aligned_alloc(4096, 409600);
  begin(COUNT, now, 1);
  begin(COUNT, next, 2);
  memset(counts, 1, 409600);
  for (long t = 0; t < STEPS; t++) {
    smooth(COUNT, next, now);
    advance(COUNT, counts, (uint32_t)t);
    double *middle = next + (t * 5 + 3) * IN_PAGE + 200, across;
    char *end = (char *)(next + (t * 3 + 7) * IN_PAGE);
    switch (t % 9) {
    case 0:
      middle[0] += 5;
      break;
    case 1:
      printf("%.17g %.17g\n", middle[-1], middle[1]);
      middle[0] = middle[-1] - middle[1];
      break;
    case 2:
      ((double *)end)[-1] = -1;
      ((double *)end)[0] = ((double *)end)[-2];
      break;
    case 3:
      memcpy(&across, end - 3, sizeof across);
      printf("%a\n", across);
      across = (double)t;
      memcpy(end - 5, &across, sizeof across);
      break;
    case 4:
      end[-1] = 17;
      end[4095] ^= 1;
      break;
    case 5: {
      uint32_t added = __atomic_fetch_add(&counts[t * 2048], 3, __ATOMIC_SEQ_CST);
      uint32_t exchanged = __atomic_exchange_n(&counts[t * 2048 + 1], 77, __ATOMIC_SEQ_CST);
      printf("%u %u\n", added, exchanged);
      break;
    }
    case 6: {
      uint32_t expected = 1;
      int same = __atomic_compare_exchange_n(&counts[1025], &expected, 9, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
      printf("%d %u\n", same, expected);
      break;
    }
    case 7:
      counts[COUNT - 1]++;
      counts[0] -= counts[COUNT - 2];
      break;
    default:
      break;
    }
    double *other = now;
    now = next;
    next = other;
  }
  show("now", STEPS, now, COUNT * sizeof *now);
  show("before", STEPS, next, COUNT * sizeof *next);
  show("counts", STEPS, counts, 409600);
  return 0;
}
