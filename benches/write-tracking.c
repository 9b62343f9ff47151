/* What asynchronous write protection (userfaultfd, Linux 6.7) and PAGEMAP_SCAN see of a program's stores, and what they cost it:
 * what the runtime could find host writes by, between two loops on a device, without touching the program.
 *
 *   cc -O2 benches/write-tracking.c -o write-tracking && ./write-tracking
 *
 * "written": pages that the scan takes for written since they were armed, of 64. "checked": the same where every page has to be
 * registered still; -1: one isn't (EPERM). */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Headers may be older than the kernel. */
enum { WP_UNPOPULATED = 1 << 13, WP_ASYNC = 1 << 15, USER_MODE_ONLY = 1 };
enum { IS_WRITTEN = 1 << 1, SCAN_ARMS = 1 << 0, SCAN_CHECKS = 1 << 1 };
struct scanned_region {
  unsigned long long start, end, categories;
};
struct scan {
  unsigned long long size, flags, start, end, walk_end, vec, vec_len, max_pages;
  unsigned long long category_inverted, category_mask, category_anyof_mask, return_mask;
};
#define SCAN _IOWR('f', 16, struct scan)

enum { PAGE = 4096, PAGES = 64 };
static const size_t SIZE = (size_t)PAGE * PAGES, LARGE = 1ul << 30;
static int protection, pagemap;

static void arm(char *p, size_t bytes)
{
  struct uffdio_register all = { { (unsigned long)p, bytes }, UFFDIO_REGISTER_MODE_WP, 0 };
  struct uffdio_writeprotect protect = { { (unsigned long)p, bytes }, UFFDIO_WRITEPROTECT_MODE_WP };
  if (ioctl(protection, UFFDIO_REGISTER, &all) || ioctl(protection, UFFDIO_WRITEPROTECT, &protect))
    printf("not armed: %s\n", strerror(errno));
}

static long written(const char *p, size_t bytes, int flags)
{
  struct scanned_region regions[256];
  struct scan scan = { .size = sizeof scan, .flags = flags, .start = (unsigned long)p, .end = (unsigned long)p + bytes,
                       .vec = (unsigned long)regions, .vec_len = 256, .category_mask = IS_WRITTEN, .return_mask = IS_WRITTEN };
  long count = ioctl(pagemap, SCAN, &scan), pages = 0;
  if (count < 0)
    return -errno;
  for (long i = 0; i < count; i++)
    pages += (regions[i].end - regions[i].start) / PAGE;
  return pages;
}

static char *map(void *at, size_t bytes)
{
  char *p = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);
  if (p == MAP_FAILED)
    exit(1);
  return p;
}

static char *armed(void)
{
  char *p = map(0, SIZE);
  memset(p, 1, SIZE);
  arm(p, SIZE);
  return p;
}

static void show(const char *what, const char *p)
{
  printf("%-56s written %3ld, checked %3ld\n", what, written(p, SIZE, 0), written(p, SIZE, SCAN_CHECKS));
}

static double milliseconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1e3 + now.tv_nsec * 1e-6;
}

static void costs(int advice, const char *what)
{
  char *p = map(0, LARGE);
  double times[6];
  long pages;
  if (advice)
    madvise(p, LARGE, advice);
  memset(p, 1, LARGE);
  times[0] = milliseconds();
  arm(p, LARGE);
  times[1] = milliseconds();
  written(p, LARGE, SCAN_ARMS | SCAN_CHECKS);
  times[2] = milliseconds();
  memset(p, 2, LARGE);
  times[3] = milliseconds();
  memset(p, 3, LARGE);
  times[4] = milliseconds();
  pages = written(p, LARGE, SCAN_ARMS | SCAN_CHECKS);
  times[5] = milliseconds();
  printf("1 GiB, %s: armed in %.2f ms, scanned in %.2f ms; all of it stored to in %.0f ms, again in %.0f ms; "
         "scanned and armed again (%ld pages) in %.2f ms\n",
         what, times[1] - times[0], times[2] - times[1], times[3] - times[2], times[4] - times[3], pages, times[5] - times[4]);
  munmap(p, LARGE);
}

int main(void)
{
  struct uffdio_api api = { .api = UFFD_API, .features = WP_ASYNC | WP_UNPOPULATED };
  char *p, *q;
  int file, ends[2];
  protection = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | USER_MODE_ONLY);
  pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (protection < 0 || pagemap < 0 || ioctl(protection, UFFDIO_API, &api)) {
    printf("not available: %s\n", strerror(errno));
    return 1;
  }
  p = map(0, SIZE);
  memset(p, 1, SIZE);
  show("not armed", p);
  p = armed();
  show("armed", p);
  p[0] = 2, p[5 * PAGE] = 1;
  show("stores to two pages", p);
  p = armed();
  file = open("/dev/zero", O_RDONLY);
  if (read(file, p + 10 * PAGE, 2 * PAGE) == 2 * PAGE)
    show("read(2) into two", p);
  p = armed();
  if (!pipe(ends) && write(ends[1], "hello", 5) == 5) {
    struct iovec part = { p + 9 * PAGE, 5 };
    if (readv(ends[0], &part, 1) == 5)
      show("readv(2) into one", p);
  }
  p = armed();
  {
    struct iovec from = { "abc", 3 }, to = { p + 3 * PAGE, 3 };
    if (process_vm_writev(getpid(), &from, 1, &to, 1, 0) == 3)
      show("process_vm_writev into one", p);
  }
  p = armed();
  file = open("/proc/self/mem", O_RDWR);
  if (pwrite(file, "x", 1, (long)p) == 1)
    show("/proc/self/mem, one", p);
  p = armed();
  madvise(p, 3 * PAGE, MADV_DONTNEED);
  show("MADV_DONTNEED of three", p);
  p = armed();
  madvise(p, 3 * PAGE, MADV_FREE);
  show("MADV_FREE of three (they are still there)", p);
  p = map(0, SIZE);
  arm(p, SIZE);
  show("armed before it was ever touched", p);
  p[0] = p[PAGE] + 1;
  show("a store to one of them, a load from another", p);
  p = armed();
  munmap(p, 4 * PAGE);
  map(p, 4 * PAGE);
  show("four unmapped, and others mapped there", p);
  p = armed();
  q = mmap(0, SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  p = mremap(p, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, q);
  show("moved by mremap, there", p);
  p = armed();
  q = map(0, SIZE);
  memset(q, 7, SIZE);
  if (mremap(q, 4 * PAGE, 4 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, p) == p)
    show("four others moved into it by mremap", p);
  p = armed();
  if (!fork())
    p[0] = 9, _exit(0);
  wait(0);
  show("a child stores to its own", p);
  p = armed();
  if (!fork())
    sleep(1), _exit(0);
  p[0] = 3;
  show("a store to one while a child lives", p);
  wait(0);
  p = armed();
  mprotect(p, 4 * PAGE, PROT_READ);
  mprotect(p, 4 * PAGE, PROT_READ | PROT_WRITE);
  show("mprotect to and fro", p);
  file = memfd_create("shared", 0);
  if (ftruncate(file, SIZE))
    return 1;
  p = mmap(0, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  q = mmap(0, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  memset(p, 1, SIZE);
  arm(p, SIZE);
  q[PAGE] = 2;
  show("shared memory, a store through another mapping", p);
  costs(0, "small pages");
  costs(MADV_HUGEPAGE, "huge pages");
  return 0;
}
