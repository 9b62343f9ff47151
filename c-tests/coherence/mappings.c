/* The program's own mappings: after loops have stored to them, they are unmapped and mapped again, moved, grown, made read-only, dropped by advice,
 * mapped over. */
#include "coherence.h"

enum { COUNT = 120 * 1024, STEPS = 33, BYTES = COUNT * sizeof(uint32_t), PAGE = 4096 };

int main(void)
{
  uint32_t *a = map(BYTES), *b = map(BYTES);
  unsigned char there[BYTES / PAGE];
  char *bytes;
  ssize_t result;
  int zeros = open("/dev/zero", O_RDONLY), ends[2];
  ensure(zeros >= 0 && pipe(ends) == 0, "files");
  for (long t = 0; t < STEPS; t++) {
    advance(COUNT, a, (uint32_t)t);
    advance(COUNT, b, (uint32_t)t * 3);
    size_t offset = (size_t)(t + 3) * PAGE;
    bytes = (char *)a;
    switch (t % 11) {
    case 0:
      printf("%d\n", madvise(bytes + offset, 9 * PAGE, MADV_DONTNEED));
      break;
    case 1:
      printf("%d\n", mprotect(bytes + offset, 5 * PAGE, PROT_READ));
      printf("%u\n", a[offset / sizeof *a + 5000]);
      result = read(zeros, bytes + offset, 10);
      printf("%zd %d\n", result, errno);
      printf("%d\n", mprotect(bytes + offset, 5 * PAGE, PROT_READ | PROT_WRITE));
      break;
    case 2:
      printf("%d\n", munmap(bytes + offset, 4 * PAGE));
      printf("%d\n", mmap(bytes + offset, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                          0) == bytes + offset);
      break;
    case 3: {
      /* Whoever splits a mapping in two can no longer move it. */
      uint32_t *moved = mremap(b, BYTES, BYTES * 2, MREMAP_MAYMOVE);
      ensure(moved != MAP_FAILED, "mremap");
      advance(COUNT * 2, moved, 5);
      show("moved", t, moved, BYTES * 2);
      b = mremap(moved, BYTES * 2, BYTES, MREMAP_MAYMOVE);
      break;
    }
    case 4:
      /* One array's pages take the place of another one's. */
      printf("%d\n", mremap(b, BYTES, BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, a) == a);
      b = map(BYTES);
      advance(COUNT, b, 1);
      break;
    case 5:
      printf("%d\n", munmap(a, BYTES));
      a = map(BYTES);
      break;
    case 6:
      printf("%d\n", mprotect(bytes, BYTES, PROT_NONE));
      result = write(ends[1], bytes, 5);
      printf("%zd %d\n", result, errno);
      printf("%d\n", mprotect(bytes, BYTES, PROT_READ | PROT_WRITE));
      break;
    case 7:
      memset(there, 0, sizeof there);
      printf("%d\n", mincore(a, BYTES, there));
      show("there", t, there, sizeof there);
      break;
    case 8:
      printf("%d %d\n", mlock(bytes + offset, PAGE), munlock(bytes + offset, PAGE));
      printf("%d\n", msync(a, BYTES, MS_SYNC));
      break;
    case 9:
      /* From a file, privately, over a part. */
      {
        int file = open("part", O_RDWR | O_CREAT | O_TRUNC, 0600);
        ensure(file >= 0 && write(file, b, 4 * PAGE) == 4 * PAGE, "part");
        printf("%d\n", mmap(bytes + offset, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, file, 0) ==
                         bytes + offset);
        close(file);
      }
      break;
    default:
      printf("%d\n", mprotect(bytes + offset, PAGE, PROT_READ));
      advance(100, a, 7);
      show("a", t, bytes + offset, PAGE);
      printf("%d\n", mprotect(bytes + offset, PAGE, PROT_READ | PROT_WRITE));
    }
  }
  show("a", STEPS, a, BYTES);
  show("b", STEPS, b, BYTES);
  return 0;
}
