/* What the programs in this folder share: loops that are proven parallel as they stand, whose arrays may be left where the loops ran, and sums that
 * no byte that is lost or old leaves as they are. It is included first. */
#ifndef COHERENCE_H
#define COHERENCE_H
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define SHARED __attribute__((noinline, unused)) static

/* Each value from three of the other array; the ends stay. */
SHARED void smooth(long n, double *to, const double *from)
{
  for (long i = 1; i < n - 1; i++)
    to[i] = (from[i - 1] + from[i] * 2 + from[i + 1]) * 0.25 + 1;
}

/* Values from nothing. */
SHARED void begin(long n, double *a, double first)
{
  for (long i = 0; i < n; i++)
    a[i] = first + (double)(i % 97);
}

/* In place. */
SHARED void advance(long n, uint32_t *a, uint32_t step)
{
  for (long i = 0; i < n; i++)
    a[i] = a[i] * 2 + step + (uint32_t)i;
}

/* Text that says where each of its letters is, and in which step it was written. */
SHARED void letters(long n, char *text, long step)
{
  for (long i = 0; i < n; i++)
    text[i] = (char)('a' + (i * 7 + i / 26 + step) % 26);
}

/* Text in place. Twice is as before. */
SHARED void flip(long n, char *text)
{
  for (long i = 0; i < n; i++)
    text[i] = (char)(text[i] ^ 1);
}

/* A chain, which runs as it stands: what is in memory counts. */
SHARED uint64_t hash(const void *memory, size_t bytes)
{
  const unsigned char *at = memory;
  uint64_t h = 14695981039346656037u;
  for (size_t i = 0; i < bytes; i++)
    h = (h ^ at[i]) * 1099511628211u;
  return h;
}

SHARED void show(const char *what, long step, const void *memory, size_t bytes)
{
  printf("%s %ld: %016llx\n", what, step, (unsigned long long)hash(memory, bytes));
}

/* For what has nothing to do with loops, and must not fail. */
SHARED void ensure(int holds, const char *what)
{
  if (!holds) {
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(99);
  }
}

SHARED void *map(size_t bytes)
{
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ensure(memory != MAP_FAILED, "mmap");
  return memory;
}

/* How a child ended. */
SHARED void show_end(const char *what, pid_t child)
{
  int status;
  ensure(waitpid(child, &status, 0) == child, "waitpid");
  printf("%s: exit %d, signal %d\n", what, WIFEXITED(status) ? WEXITSTATUS(status) : -1,
         WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}
#endif
