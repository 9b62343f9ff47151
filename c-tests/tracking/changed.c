/* A scatter whose indices the runtime may watch instead of comparing them (`memory::tracking`), changed between entries in every way that memory can be: each
 * has to be noticed. Prints what came of each entry. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <linux/userfaultfd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COUNT = 1 << 17, PAGE = 4096, IN_PAGE = PAGE / sizeof(int64_t), WAYS = 15, ENTRIES = 8 };

__attribute__((noinline)) static void scatter(int n, const int64_t *place, const double *x, double *y)
{
  for (int i = 0; i < n; i++)
    y[place[i]] = y[place[i]] * 0.5 + x[i];
}

static int userfault = -1;
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

/* A ring of io_uring in memory of ours that has no descriptor, and keeps the page in the middle where it is: what it stores there no page table knows of.
 * Headers may be older than the system. */
struct submission {
  uint8_t operation, flags;
  uint16_t priority;
  int32_t file;
  uint64_t offset, address;
  uint32_t length, how;
  uint64_t user;
  uint16_t buffer, rest[11];
};
struct parameters {
  uint32_t submissions, completions, flags, thread[2], features, workers, rest[3];
  uint32_t of_submissions[8];
  uint64_t submissions_at;
  uint32_t of_completions[8];
  uint64_t completions_at;
};
enum { NO_MMAP = 1 << 14, NO_DESCRIPTOR = 1 << 15, NO_ARRAY = 1 << 16, READ_FIXED = 4 };
static char *ring_memory;
static long ring = -1;
static uint32_t *ring_tail;

static void pin(int64_t *at)
{
  struct iovec pinned = {at, PAGE};
  ring_memory = map(NULL, 16 * PAGE);
  struct parameters parameters = {0};
  parameters.flags = NO_MMAP | NO_DESCRIPTOR | NO_ARRAY;
  parameters.submissions_at = (uintptr_t)ring_memory;
  parameters.completions_at = (uintptr_t)ring_memory + PAGE;
  ring = syscall(SYS_io_uring_setup, 4, &parameters);
  if (ring < 0)
    return;
  ring_tail = (uint32_t *)(ring_memory + PAGE + parameters.of_submissions[1]);
  if (syscall(SYS_io_uring_register, ring, 1u << 31, &pinned, 1))
    ring = -1;
}

/* Another way, where there is no such ring. */
static void store_pinned(int64_t *at)
{
  FILE *file = tmpfile();
  if (ring < 0 || file == NULL || fwrite(page, PAGE, 1, file) != 1 || fflush(file)) {
    memcpy(at, page, PAGE);
    return;
  }
  struct submission read = {0};
  read.operation = READ_FIXED;
  read.file = fileno(file);
  read.address = (uintptr_t)at;
  read.length = PAGE;
  memcpy(ring_memory + (*ring_tail % 4) * sizeof read, &read, sizeof read);
  __atomic_store_n(ring_tail, *ring_tail + 1, __ATOMIC_RELEASE);
  if (syscall(SYS_io_uring_enter, ring, 1, 1, 1 | 1 << 4, NULL, 0) != 1)
    exit(2);
  fclose(file);
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
  case 12: { /* The same where the program may only read. */
    int memory = open("/proc/self/mem", O_RDWR);
    if (mprotect(at, PAGE, PROT_READ) || memory < 0 || pwrite(memory, page, PAGE, (off_t)(uintptr_t)at) != PAGE)
      exit(2);
    close(memory);
    if (mprotect(at, PAGE, PROT_READ | PROT_WRITE))
      exit(2);
    break;
  }
  case 13: { /* Something else there, which the program protects itself. */
    struct uffdio_api api = {0xaa, 1 << 13 | 1 << 15, 0};
    struct uffdio_register all = {{(uintptr_t)place, COUNT * sizeof *place}, 2, 0};
    struct uffdio_writeprotect protect = {all.range, 1};
    int own = (int)syscall(SYS_userfaultfd, O_CLOEXEC | 1);
    int64_t *kept = malloc(COUNT * sizeof *place);
    memcpy(kept, place, COUNT * sizeof *place);
    map(place, COUNT * sizeof *place);
    memcpy(place, kept, COUNT * sizeof *place);
    free(kept);
    memcpy(at, page, PAGE);
    if (own >= 0 && !ioctl(own, UFFDIO_API, &api) && !ioctl(own, UFFDIO_REGISTER, &all))
      ioctl(own, UFFDIO_WRITEPROTECT, &protect);
    userfault = own;
    break;
  }
  case 14:
    store_pinned(at);
    break;
  }
}

/* Whether the array is watched: what the system says of its mapping. */
static int is_watched(void)
{
  char line[512];
  int is_there = 0, watched = 0;
  FILE *file = fopen("/proc/self/smaps", "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    unsigned long from, to;
    if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
      is_there = from <= (uintptr_t)place && (uintptr_t)place < to;
    else if (is_there && strncmp(line, "VmFlags:", 8) == 0)
      watched = strstr(line, " uw") != NULL;
  }
  if (file != NULL)
    fclose(file);
  return watched;
}

int main(void)
{
  double *x = malloc(COUNT * sizeof *x), *y = calloc(COUNT, sizeof *y);
  int watched = 0;
  if (x == NULL || y == NULL)
    return 2;
  for (int i = 0; i < COUNT; i++)
    x[i] = i % 1000;
  for (int way = 0; way < WAYS; way++) {
    /* An array of its own for each, and nothing that was there before: a page that is known to change is compared in any case. */
    place = map(NULL, COUNT * sizeof *place);
    for (int i = 0; i < COUNT; i++)
      saved[i] = (int64_t)(((unsigned)i * 2654435761u + (unsigned)way) % COUNT);
    memcpy(place, saved, sizeof saved);
    if (way == 14)
      pin(place + COUNT / 2);
    for (int entry = 0; entry < ENTRIES; entry++) {
      if (entry == ENTRIES - 1) {
        watched += is_watched();
        change(way);
      }
      scatter(COUNT, place, x, y);
      uint64_t hash = 1469598103934665603u;
      for (int i = 0; i < COUNT; i++) {
        uint64_t bits;
        memcpy(&bits, y + i, sizeof bits);
        hash = (hash ^ bits) * 1099511628211u;
      }
      printf("%d %d %016llx\n", way, entry, (unsigned long long)hash);
    }
    if (userfault >= 0)
      close(userfault);
    userfault = -1;
  }
  fprintf(stderr, "watched: %d of %d\n", watched, WAYS);
  return 0;
}
