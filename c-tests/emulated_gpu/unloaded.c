/* A library that is unloaded right after the calling thread has won a race in it, while the loser's kernel is still being compiled:
   tests/unloaded.rs. Built twice: with -DPLUG as the library. */
#ifdef PLUG

/* Where it stores depends on what it may store itself, so that it is logged. */
void work(unsigned *restrict y, const unsigned *restrict x, unsigned *restrict at, unsigned flips, long n)
{
  for (long i = 0; i < n; i++) {
    unsigned s = x[i];
    for (int j = 0; j < 1000; j++)
      s = s * 1664525u + (x[i] ^ (unsigned)j);
    y[at[i]] = s;
    at[i] ^= flips;
  }
}

#else
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { N = 40000 };

/* argv: the library, and, where there is a race, files: that the compiler has begun with the loop's kernel, that it is at work, and that
   it need not wait any longer. */
int main(int argc, char **argv)
{
  unsigned *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y), *at = malloc(N * sizeof *at), sum = 0;
  for (int i = 0; i < N; i++) {
    x[i] = (unsigned)i * 2654435761u;
    at[i] = (unsigned)(N - 1 - i);
  }
  for (int times = argc > 2 ? 2 : 1; times > 0; times--) {
    void *plug = dlopen(argv[1], RTLD_NOW);
    if (!plug)
      return 2;
    void (*work)(unsigned *, const unsigned *, unsigned *, unsigned, long);
    *(void **)&work = dlsym(plug, "work");
    work(y, x, at, 0, N);
    for (int k = 0; argc > 2 && times == 2 && access(argv[2], F_OK) != 0; k++) {
      if (k == 2000)
        return 3;
      usleep(1000);
      work(y, x, at, 0, N);
    }
    Dl_info where;
    if (!dladdr(*(void **)&work, &where))
      return 5;
    dlclose(plug);
    if (argc > 2 && times == 2) {
      if (dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD))
        return 4;
      /* Nothing else comes to lie there, which could be read in its place. */
      for (long page = 0; page < 16; page++)
        mmap((char *)where.dli_fbase + page * 4096, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
      close(open(argv[4], O_CREAT | O_WRONLY, 0600));
      /* Whoever waited for the compiler goes on then. */
      for (int quiet = 0; quiet < 500; quiet++, usleep(1000))
        if (access(argv[3], F_OK) == 0)
          quiet = 0;
    }
  }
  for (int i = 0; i < N; i++)
    sum = sum * 31 + y[i];
  printf("%u\n", sum);
  return 0;
}
#endif
