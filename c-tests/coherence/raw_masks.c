/* Masks by the system call itself: sets that aren't there, that lie across two pages of an array or are the old one's place too, and what the C library would refuse. */
#include "coherence.h"
#include <sys/syscall.h>

enum { COUNT = 60000, STEPS = 18 };

static void tell(long how, const void *set, void *before, long bytes)
{
  uint64_t now = 0;
  errno = 0;
  long result = syscall(SYS_rt_sigprocmask, how, set, before, bytes);
  int error = errno;
  syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &now, 8L);
  printf("%ld %d, now %llx\n", result, error, (unsigned long long)now);
}

int main(void)
{
  double *now = malloc(COUNT * sizeof *now), *next = malloc(COUNT * sizeof *next);
  uint64_t *sets = malloc(COUNT * sizeof *sets), before = 7;
  const uint64_t one = 1ull << (SIGUSR1 - 1), none = 0;
  char *bytes = (char *)sets, *nowhere = (char *)8;
  begin(COUNT, now, 1);
  begin(COUNT, next, 2);
  for (long t = 0; t < STEPS; t++) {
    smooth(COUNT, next, now);
    smooth(COUNT, now, next);
    letters(COUNT * sizeof *sets, bytes, t);
    switch (t % 9) {
    case 0: tell(5, &one, &before, 8); break;
    case 1: tell(5, NULL, &before, 8); break;
    case 2: tell(SIG_BLOCK, &one, &before, 16); break;
    case 3: tell(SIG_BLOCK, nowhere, &before, 8); break;
    case 4: tell(SIG_BLOCK, &one, nowhere, 8); break; /* it fails, and the mask has changed */
    case 5:
      sets[500] = one;
      tell(0x100000000 | SIG_SETMASK, sets + 500, sets + 500, 8);
      break;
    case 6:
      memcpy(bytes + 4093, &one, 8);
      tell(SIG_BLOCK, bytes + 4093, bytes + 12285, 8);
      tell(SIG_UNBLOCK, bytes + 4093, bytes + 16373, 8);
      break;
    case 7: tell(SIG_BLOCK, &one, NULL, 8); raise(SIGUSR1); break;
    default: {
      /* What has waited is taken before it is let in. */
      sigset_t waiting;
      sigemptyset(&waiting);
      sigaddset(&waiting, SIGUSR1);
      printf("%d\n", sigtimedwait(&waiting, NULL, &(struct timespec){1, 0}));
    }
    }
    if (t % 9 == 8)
      tell(SIG_SETMASK, &none, &before, 8);
    show("sets", t, sets, COUNT * sizeof *sets);
    printf("%llx\n", (unsigned long long)before);
  }
  show("now", STEPS, now, COUNT * sizeof *now);
  /* One that waits, and ends the process when it is let in. */
  tell(SIG_BLOCK, &one, NULL, 8);
  raise(SIGUSR1);
  smooth(COUNT, next, now);
  next[3] += next[40000];
  show("next", STEPS, next, COUNT * sizeof *next);
  fflush(stdout);
  tell(SIG_SETMASK, &none, NULL, 8);
  fflush(stdout);
  return 0;
}
