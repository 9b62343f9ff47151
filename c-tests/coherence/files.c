/* Arrays go to files and through a pipe by system calls, and come back into the same and other arrays: whole, in parts, at places, past the end. */
#include "coherence.h"

enum { COUNT = 90000, STEPS = 20, BYTES = COUNT * sizeof(double) };

int main(void)
{
  double *now = malloc(BYTES), *next = malloc(BYTES);
  int file = open("values", O_RDWR | O_CREAT | O_TRUNC, 0600), ends[2];
  ensure(file >= 0 && pipe(ends) == 0, "files");
  begin(COUNT, now, 4);
  begin(COUNT, next, 5);
  for (long t = 0; t < STEPS; t++) {
    smooth(COUNT, next, now);
    size_t offset = (size_t)t * 30011 + 5;
    switch (t % 6) {
    case 0:
      printf("%zd\n", write(file, next, BYTES));
      break;
    case 1:
      printf("%zd\n", pwrite(file, (char *)next + offset, 10007, (off_t)offset));
      break;
    case 2:
      printf("%zd\n", pread(file, (char *)next + offset, 12345, (off_t)(offset * 3 / 2)));
      break;
    case 3:
      printf("%zd\n", write(ends[1], (char *)next + offset, 8192));
      printf("%zd\n", read(ends[0], (char *)now + 64, 8000));
      printf("%zd\n", read(ends[0], (char *)next + offset + 300, 8000));
      break;
    case 4:
      printf("%ld\n", (long)lseek(file, (off_t)BYTES - 5000, SEEK_SET));
      printf("%zd\n", read(file, next, BYTES / 2)); /* less than that is left */
      break;
    default:
      printf("%zd\n", read(file, next, 100)); /* nothing is left */
      printf("%zd\n", copy_file_range(file, &(off_t){64}, file, &(off_t){BYTES}, 4096, 0));
    }
    double *other = now;
    now = next;
    next = other;
  }
  show("now", STEPS, now, BYTES);
  show("before", STEPS, next, BYTES);
  printf("%zd\n", pread(file, now, BYTES, 0));
  show("file", STEPS, now, BYTES);
  return 0;
}
