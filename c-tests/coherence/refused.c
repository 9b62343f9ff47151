/* System calls that fail, on good and on bad pointers, and those that do a part: the error is the system's, and nothing but a failing call changes errno. */
#include "coherence.h"

enum { COUNT = 64 * 1024, STEPS = 26, BYTES = COUNT * sizeof(uint32_t), PAGE = 4096 };

static char *volatile nowhere;

int main(void)
{
  /* Behind the array nothing is mapped. */
  uint32_t *a = map(BYTES + PAGE);
  munmap((char *)a + BYTES, PAGE);
  char *end = (char *)a + BYTES;
  int file = open("file", O_RDWR | O_CREAT | O_TRUNC, 0600), unwritable = open("file", O_RDONLY), ends[2];
  ensure(file >= 0 && unwritable >= 0 && pipe2(ends, O_NONBLOCK) == 0, "files");
  for (long t = 0; t < STEPS; t++) {
    errno = 77;
    advance(COUNT, a, (uint32_t)t);
    volatile uint32_t seen = a[t * 1000];
    a[t * 1500] = seen;
    int before = errno;
    ssize_t result = -9;
    switch (t % 13) {
    case 0:
      result = write(file, nowhere, 10);
      break;
    case 1:
      result = write(file, nowhere + 8, 10);
      break;
    case 2:
      result = write(-1, a, 10);
      break;
    case 3:
      result = write(unwritable, a + 100, 10);
      break;
    case 4:
      result = read(ends[0], a + 5000, 10);
      break;
    case 5:
      result = write(ends[1], end - 1000, 2000); /* it begins well */
      if (result > 0)
        read(ends[0], a, (size_t)result);
      break;
    case 6:
      result = pwrite(file, end - 100, 5000, 0);
      break;
    case 7:
      result = pread(file, end - 50, 60, 0);
      break;
    case 8:
      strcpy((char *)(a + 900), "no such file");
      result = open((char *)(a + 900), O_RDONLY);
      break;
    case 9:
      memset(end - 30, 'x', 30); /* a name without an end */
      result = open(end - 30, O_RDONLY);
      break;
    case 10:
      result = getcwd((char *)a + 8192, 1) == NULL;
      break;
    case 11:
      mprotect(a + 8192, PAGE, PROT_READ);
      result = read(file, a + 8192, 10);
      mprotect(a + 8192, PAGE, PROT_READ | PROT_WRITE);
      break;
    default:
      result = madvise(end, PAGE, MADV_DONTNEED);
    }
    int after = errno;
    printf("%ld: %d %zd %d\n", t, before, result, after);
    show("a", t, end - 3000, 3000);
  }
  show("a", STEPS, a, BYTES);
  return 0;
}
