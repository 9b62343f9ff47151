/* A program without threads has an allocator that knows of none: no thread of the runtime's may come to it, and so there is none. Its functions have other names here than for the linker, as if they stood in
 * another file: files that define `malloc` are left as they stand. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <unistd.h>

void *own_malloc(size_t bytes) __asm__("malloc");
void own_free(void *pointer) __asm__("free");
void *own_calloc(size_t count, size_t bytes) __asm__("calloc");
void *own_realloc(void *old, size_t bytes) __asm__("realloc");

static char heap[1 << 26] __attribute__((aligned(16)));
static size_t used;
struct block {
  size_t class;
  struct block *next;
};
static struct block *lists[64];
static volatile int at_work;

static void *take(size_t bytes)
{
  size_t class = 0;
  /* Two threads at once are seen, however seldom they would spoil a list. */
  if (at_work++)
    __builtin_trap();
  while (((size_t)32 << class) < bytes + sizeof(struct block))
    class ++;
  struct block *block = lists[class];
  if (block) {
    lists[class] = block->next;
  } else if (used + ((size_t)32 << class) <= sizeof heap) {
    block = (struct block *)(heap + used);
    used += (size_t)32 << class;
    block->class = class;
  }
  at_work--;
  return block ? block + 1 : NULL;
}

void *own_malloc(size_t bytes)
{
  return take(bytes);
}

void own_free(void *pointer)
{
  if (!pointer)
    return;
  struct block *block = (struct block *)pointer - 1;
  if (at_work++)
    __builtin_trap();
  block->next = lists[block->class];
  lists[block->class] = block;
  at_work--;
}

void *own_calloc(size_t count, size_t bytes)
{
  char *pointer = take(count * bytes);
  for (size_t i = 0; pointer && i < count * bytes; i++)
    ((volatile char *)pointer)[i] = 0;
  return pointer;
}

void *own_realloc(void *old, size_t bytes)
{
  void *pointer = take(bytes);
  if (old && pointer) {
    size_t had = ((size_t)32 << ((struct block *)old - 1)->class) - sizeof(struct block);
    memcpy(pointer, old, had < bytes ? had : bytes);
    free(old);
  }
  return pointer;
}

static void relax(long n, double *to, const double *from)
{
  for (long i = 0; i < n; i++)
    to[i] = to[i] * 0.99 + from[i] / (1 + to[i]);
}

/* How many threads the process has. */
static int threads(void)
{
  static char status[4096];
  int file = open("/proc/self/status", O_RDONLY);
  ssize_t length = read(file, status, sizeof status - 1);
  close(file);
  status[length < 0 ? 0 : length] = 0;
  const char *line = strstr(status, "Threads:");
  return line ? atoi(line + strlen("Threads:")) : 0;
}

struct node {
  struct node *next;
  int value;
};

int main(void)
{
  enum { COUNT = 100000 };
  double *a = malloc(COUNT * sizeof *a), *b = malloc(COUNT * sizeof *b);
  for (int i = 0; i < COUNT; i++) {
    a[i] = i * 0.5;
    b[i] = 1;
  }
  long sum = 0;
  for (int round = 0; round < 60; round++) {
    relax(COUNT, b, a);
    struct node *list = NULL;
    for (int i = 0; i < 5000; i++) {
      struct node *node = malloc(sizeof *node + (size_t)(i % 100));
      node->next = list;
      node->value = i;
      list = node;
    }
    while (list) {
      struct node *node = list;
      list = list->next;
      sum += node->value;
      free(node);
    }
  }
  printf("%.17g %ld %d\n", b[COUNT / 3], sum, threads());
  return 0;
}
