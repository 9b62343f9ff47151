/* Ends of processes, right behind loops: what has been written and what other processes share is there, what is in buffers isn't, and the parent is told the same. At
 * last the program itself loads from address 0. */
#include "coherence.h"
#include <sys/resource.h>

enum { COUNT = 60000, WAYS = 10 };

static volatile double *volatile nowhere;

int main(void)
{
  double *now = malloc(COUNT * sizeof *now), *next = malloc(COUNT * sizeof *next), *gone = map(COUNT * sizeof *gone);
  uint32_t *shared = mmap(NULL, COUNT * sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ensure(shared != MAP_FAILED, "mmap");
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  begin(COUNT, now, 1);
  begin(COUNT, next, 2);
  for (long way = 0; way < WAYS; way++) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
      for (long t = 0; t < 4; t++) {
        smooth(COUNT, next, now);
        smooth(COUNT, now, next);
        smooth(COUNT, gone, now);
        advance(COUNT, shared, (uint32_t)(t + way));
      }
      printf("this is lost, but for exit");
      switch (way) {
      case 0:
        if (write(1, "written\n", 8) == 8 && write(1, &"0123456789abcdef"[(unsigned char)now[50] % 16], 1) == 1)
          _exit(5);
        break;
      case 1:
        abort();
      case 2:
        raise(SIGKILL);
        break;
      case 3:
        now[1] = *nowhere;
        break;
      case 4:
        munmap(gone, COUNT * sizeof *gone);
        gone[5000] = 1;
        break;
      case 5:
        mprotect(gone, COUNT * sizeof *gone, PROT_READ);
        now[2] = gone[6000];
        gone[6000] = 2;
        break;
      case 6:
        *(volatile char *)"a literal" = 'b';
        break;
      case 7:
        __builtin_trap();
      case 8: {
        /* Behind the end of a file. */
        int file = open("short", O_RDWR | O_CREAT | O_TRUNC, 0600);
        char *mapped = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        mapped[5000] = 1;
        break;
      }
      default:
        exit(6);
      }
      _exit(98);
    }
    show_end("child", child);
    show("shared", way, shared, COUNT * sizeof *shared);
  }
  smooth(COUNT, next, now);
  show("next", WAYS, next, COUNT * sizeof *next);
  advance(COUNT, shared, 1);
  fflush(stdout);
  next[0] = *nowhere;
  puts("not here");
  return 0;
}
