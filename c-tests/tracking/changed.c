/* A scatter whose indices the runtime may watch instead of comparing them (`memory::tracking`), changed between entries in every way that memory can be: each
 * has to be noticed. Prints what came of each entry. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COUNT = 1 << 17, PAGE = 4096, IN_PAGE = PAGE / sizeof(int64_t), WAYS = 12, ENTRIES = 8 };

__attribute__((noinline)) static void scatter(int n, const int64_t *place, const double *x, double *y)
{
  for (int i = 0; i < n; i++)
    y[place[i]] = y[place[i]] * 0.5 + x[i];
}

static int64_t *place, saved[COUNT], page[IN_PAGE];

static void *elsewhere(void *at)
{
  memcpy(at, page, PAGE);
  return NULL;
}

static void *map(void *at, size_t bytes)
{
  void *memory =
    mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | (at != NULL ? MAP_FIXED : 0), -1, 0);
  if (memory == MAP_FAILED)
    exit(2);
  return memory;
}

/* A page in the middle is turned round, in one way or the other. */
static void change(int way)
{
  int64_t *at = place + COUNT / 2;
  for (int i = 0; i < IN_PAGE; i++)
    page[i] = saved[COUNT / 2 + IN_PAGE - 1 - i];
  switch (way) {
  case 0:
    memcpy(at, page, PAGE);
    break;
  case 1: {
    int ends[2];
    if (pipe(ends) || write(ends[1], page, PAGE) != PAGE || read(ends[0], at, PAGE) != PAGE)
      exit(2);
    close(ends[0]);
    close(ends[1]);
    break;
  }
  case 2: {
    pthread_t thread;
    if (pthread_create(&thread, NULL, elsewhere, at) || pthread_join(thread, NULL))
      exit(2);
    break;
  }
  case 3: { /* Away, changed there, and back. */
    size_t bytes = COUNT * sizeof *place;
    char *other = map(NULL, bytes);
    if (mremap(place, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, other) != other)
      exit(2);
    memcpy(other + ((char *)at - (char *)place), page, PAGE);
    if (mremap(other, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, place) != place)
      exit(2);
    break;
  }
  case 4: /* Dropped: zeros, and something else then. */
    if (madvise(at, PAGE, MADV_DONTNEED))
      exit(2);
    break;
  case 5:
    if (madvise(at, PAGE, MADV_DONTNEED))
      exit(2);
    memcpy(at, page, PAGE);
    break;
  case 6:
    munmap(at, PAGE);
    map(at, PAGE);
    memcpy(at, page, PAGE);
    break;
  case 7: { /* Another page is moved there. */
    char *other = map(NULL, PAGE);
    memcpy(other, page, PAGE);
    if (mremap(other, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, at) != (void *)at)
      exit(2);
    break;
  }
  case 8: { /* What a child stores changes nothing; what is stored while there is one does. */
    int ends[2];
    char byte;
    if (pipe(ends))
      exit(2);
    pid_t child = fork();
    if (child == 0) {
      memset(at, 0, PAGE);
      close(ends[1]);
      _exit(read(ends[0], &byte, 1) != 0);
    }
    memcpy(at, page, PAGE);
    close(ends[0]);
    close(ends[1]);
    waitpid(child, NULL, 0);
    break;
  }
  case 9: {
    struct iovec from = {page, PAGE}, to = {at, PAGE};
    if (process_vm_writev(getpid(), &from, 1, &to, 1, 0) != PAGE)
      exit(2);
    break;
  }
  case 10:
    if (mprotect(at, PAGE, PROT_READ) || mprotect(at, PAGE, PROT_READ | PROT_WRITE))
      exit(2);
    at[7] = page[7], at[IN_PAGE - 8] = page[IN_PAGE - 8];
    break;
  case 11: { /* Through a file of the process's memory. */
    int memory = open("/proc/self/mem", O_RDWR);
    if (memory < 0 || pwrite(memory, page, PAGE, (off_t)(uintptr_t)at) != PAGE)
      exit(2);
    close(memory);
    break;
  }
  }
}

int main(void)
{
  double *x = malloc(COUNT * sizeof *x), *y = calloc(COUNT, sizeof *y);
  place = map(NULL, COUNT * sizeof *place);
  if (x == NULL || y == NULL)
    return 2;
  for (int i = 0; i < COUNT; i++) {
    saved[i] = (int64_t)((unsigned)i * 2654435761u % COUNT);
    x[i] = i % 1000;
  }
  memcpy(place, saved, sizeof saved);
  for (int way = 0; way < WAYS; way++) {
    /* No more than that: what changes much isn't watched. */
    memcpy(place + COUNT / 2, saved + COUNT / 2, PAGE);
    for (int entry = 0; entry < ENTRIES; entry++) {
      if (entry == ENTRIES - 1)
        change(way);
      scatter(COUNT, place, x, y);
      uint64_t hash = 1469598103934665603u;
      for (int i = 0; i < COUNT; i++) {
        uint64_t bits;
        memcpy(&bits, y + i, sizeof bits);
        hash = (hash ^ bits) * 1099511628211u;
      }
      printf("%d %d %016llx\n", way, entry, (unsigned long long)hash);
    }
  }
  return 0;
}
