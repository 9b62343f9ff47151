/* The same memory at two addresses and in two processes: mappings of one file, private ones of it, and the file itself by system calls; and the program's own memory as files
 * and calls of the system show it. */
#include "coherence.h"
#include <sys/uio.h>

enum { COUNT = 60 * 1024, STEPS = 15, BYTES = COUNT * sizeof(uint32_t) };

int main(void)
{
  int file = open("values", O_RDWR | O_CREAT | O_TRUNC, 0600), own = open("/proc/self/mem", O_RDWR);
  ensure(file >= 0 && own >= 0 && ftruncate(file, BYTES) == 0, "files");
  uint32_t *one = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  uint32_t *two = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  uint32_t *private = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
  ensure(one != MAP_FAILED && two != MAP_FAILED && private != MAP_FAILED, "mmap");
  uint32_t *a = map(BYTES), *b = map(BYTES);
  for (long t = 0; t < STEPS; t++) {
    advance(COUNT, one, (uint32_t)t);
    advance(COUNT, a, (uint32_t)t);
    show("two", t, two, BYTES);
    two[t * 1000] = 5;
    advance(COUNT / 2, two, 1);
    printf("%ld: %u %u\n", t, one[t * 1000], private[t * 1025]);
    ssize_t moved = -9;
    struct iovec to = {b + t * 900, 9000}, from = {a + t * 1000, 9000};
    switch (t % 5) {
    case 0:
      moved = pread(file, b, BYTES, 0);
      break;
    case 1:
      moved = pwrite(file, a, 20000, t * 4096);
      private[t * 2048] = one[t * 1024]; /* that page is its own from here on */
      break;
    case 2:
      moved = pread(own, b + t * 2000, 10000, (off_t)(uintptr_t)(a + 3000));
      break;
    case 3:
      moved = pwrite(own, b + t * 1000, 10000, (off_t)(uintptr_t)(a + 3000 + t));
      break;
    default:
      moved = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
    }
    printf("%ld: %zd\n", t, moved);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
      advance(COUNT, one, 7);
      a[5] = 5;
      _exit(one[5] % 100);
    }
    show_end("child", child);
    printf("%ld: %u %u %u\n", t, one[5], two[6], a[5]);
  }
  show("one", STEPS, one, BYTES);
  show("private", STEPS, private, BYTES);
  show("a", STEPS, a, BYTES);
  show("b", STEPS, b, BYTES);
  return 0;
}
