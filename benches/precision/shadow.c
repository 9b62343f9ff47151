/* What a loop's iterations do to each other, seen while they run: the oracle of benches/precision.py.
 *
 * A source whose loops are marked is compiled with `-O0 -fsanitize=thread`, which calls a function at each access of memory, and
 * linked with this file instead of the sanitizer's library. For each granule of memory and each loop that is running, the
 * last iteration that wrote it and the first that read it are kept. At the end there is one line for each loop: its number,
 * entries, most iterations, and whether there was a flow, an anti and an output dependence between iterations.
 *
 * Local variables whose address isn't taken are not seen (the sanitizer skips them): scalars are judged by hand. A granule has
 * four bytes, so narrower neighbours count as one. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { LOOPS = 2048, LEVELS = 8, CELLS = 1 << 20, GRANULE = 4 };
enum { FLOW = 1, ANTI = 2, OUTPUT = 4 };

struct seen {
  uint32_t entry; /* the loop entry that the rest belongs to */
  uint32_t writer, reader; /* iterations, from 1; 0: none */
};

static struct {
  uintptr_t granule;
  struct seen levels[LEVELS];
} cells[CELLS];

static struct {
  uint32_t entry, iteration;
  int number;
} stack[LEVELS];
static int depth;
static uint32_t entries;

static struct {
  unsigned long entries, most;
  int found;
} loops[LOOPS];

static void report(void)
{
  const char *path = getenv("PRECISION_ORACLE");
  FILE *out = path ? fopen(path, "w") : stderr;
  int i;
  for (i = 0; out && i < LOOPS; i++)
    if (loops[i].entries)
      fprintf(out, "%d %lu %lu %d %d %d\n", i, loops[i].entries, loops[i].most, !!(loops[i].found & FLOW),
              !!(loops[i].found & ANTI), !!(loops[i].found & OUTPUT));
}

/* Before a loop, which stands directly in the loop `parent` (-1: in none): others have been left by a jump. */
int precision_enter(int number, int parent)
{
  if (!entries)
    atexit(report);
  while (depth > 0 && stack[depth - 1].number != parent)
    depth--;
  if (depth == LEVELS)
    abort();
  stack[depth].entry = ++entries;
  stack[depth].iteration = 0;
  stack[depth].number = number;
  depth++;
  loops[number].entries++;
  return 0;
}

/* A loop's condition. What it reads belongs to the iteration that it decides on, which makes no difference to reads of
 * what no iteration writes. */
int precision_test(int number, int holds)
{
  while (depth > 0 && stack[depth - 1].number != number)
    depth--;
  if (!depth)
    abort();
  if (!holds)
    depth--;
  else if (++stack[depth - 1].iteration > loops[number].most)
    loops[number].most = stack[depth - 1].iteration;
  return holds;
}

static void touch(uintptr_t address, unsigned long size, int writes)
{
  uintptr_t granule = address / GRANULE, end = (address + size - 1) / GRANULE;
  if (!depth)
    return;
  for (; granule <= end; granule++) {
    unsigned long at = (granule * 0x9e3779b97f4a7c15u >> 40) % CELLS, tries = 0;
    int level;
    while (cells[at].granule != granule && cells[at].granule) {
      at = (at + 1) % CELLS;
      if (++tries == CELLS)
        abort();
    }
    cells[at].granule = granule;
    for (level = 0; level < depth; level++) {
      struct seen *seen = &cells[at].levels[level];
      uint32_t now = stack[level].iteration;
      int *found = &loops[stack[level].number].found;
      if (seen->entry != stack[level].entry) {
        seen->entry = stack[level].entry;
        seen->writer = seen->reader = 0;
      }
      if (writes) {
        if (seen->writer && seen->writer != now)
          *found |= OUTPUT;
        if (seen->reader && seen->reader != now)
          *found |= ANTI;
        seen->writer = now;
      } else {
        if (seen->writer && seen->writer != now)
          *found |= FLOW;
        if (!seen->reader && seen->writer != now)
          seen->reader = now;
      }
    }
  }
}

#define ACCESS(size)                                                       \
  void __tsan_read##size(void *p) { touch((uintptr_t)p, size, 0); }       \
  void __tsan_write##size(void *p) { touch((uintptr_t)p, size, 1); }      \
  void __tsan_unaligned_read##size(void *p) { touch((uintptr_t)p, size, 0); } \
  void __tsan_unaligned_write##size(void *p) { touch((uintptr_t)p, size, 1); }
ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)
void __tsan_read_range(void *p, unsigned long size) { touch((uintptr_t)p, size, 0); }
void __tsan_write_range(void *p, unsigned long size) { touch((uintptr_t)p, size, 1); }
void __tsan_init(void) {}
void __tsan_func_entry(void *p) { (void)p; }
void __tsan_func_exit(void) {}
