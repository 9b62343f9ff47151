/* Tables of which nobody has recorded where they begin and end: literals, what the C library has allocated, what a program maps for itself. A device is given what lies
 * around their pointers, as far as memory is there, and but for what the loop stores to, which may lie beside them. On `far` some subscripts lead farther than that, on `raw` into what is stored.
 *
 * test size: 3001
 * expect literal: runs on clean
 * expect copied: runs on clean
 * expect edge: runs on clean
 * expect beside: runs on clean
 * expect shifted: runs on clean
 * expect words: runs on clean
 * expect wide: runs on clean
 * expect wide: runs in place on far
 * expect wide: stays on raw */
#include "../support/inputs.h"

#include <sys/mman.h>

/* `BEHIND`: elements from a table's pointer on that are more than lie around it. */
enum { PAGE = 4096, LETTERS = 26, FEW = 64, BEHIND = 40000 };

COMPUTE static void literal(int n, const int *at, const char *letters, char *out)
{
  for (int i = 0; i < n; i++) /* loop literal */
    out[i] = letters[at[i] % LETTERS] ^ (char)i;
}

COMPUTE static void copied(int n, const int *at, const char *word, char *out)
{
  for (int i = 0; i < n; i++) /* loop copied */
    out[i] = word[at[i] % LETTERS];
}

/* The last elements in front of memory that may not be read, and the first ones behind such memory. */
COMPUTE static void edge(int n, const int *at, const int *last, const int *first, int *out)
{
  for (int i = 0; i < n; i++) /* loop edge */
    out[i] = last[at[i] % FEW] - first[at[i] % FEW];
}

/* Between two tables lies what is stored. */
COMPUTE static void beside(int n, const int *at, const int *table, const int *other, int *out)
{
  for (int i = 0; i < n; i++) /* loop beside */
    out[i] = table[at[i] % FEW] * 3 + other[at[i] / FEW % FEW];
}

/* A table whose first element is number 1. */
COMPUTE static void shifted(int n, const int *at, const int *from_1, int *out)
{
  for (int i = 0; i < n; i++) /* loop shifted */
    out[i] = from_1[1 + at[i] % FEW];
}

/* How often a word begins in each line. */
COMPUTE static void words(int n, int width, const char *text, const char *word, int length, int *found)
{
  for (int i = 0; i < n; i++) { /* loop words */
    int count = 0;
    for (int k = 0; k + length <= width; k++) {
      int same = 0;
      while (same < length && text[i * width + k + same] == word[same])
        same++;
      count += same == length;
    }
    found[i] = count;
  }
}

COMPUTE static void wide(int n, const int *at, const int *table, int *out)
{
  for (int i = 0; i < n; i++) /* loop wide */
    out[i] = table[at[i]] + i;
}

static void *mapped(struct check *check, size_t bytes)
{
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    check_die(check, "no memory", "");
  return memory;
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "far", "raw", NULL};
  struct check check = check_open(argc, argv, 3001, inputs);
  int n = (int)check.size, width = 20;
  int *at = check_alloc(&check, check.size, sizeof *at);
  int *out = check_alloc(&check, check.size, sizeof *out);
  char *bytes = check_alloc(&check, check.size, 1);
  char *text = check_alloc(&check, check.size * (size_t)width, 1);
  char *word = strdup("abcdefghijklmnopqrstuvwxyz");
  /* A page, one that is shut, and another one. */
  char *edges = mapped(&check, 3 * PAGE);
  int *last = (int *)(void *)(edges + PAGE) - FEW, *first = (int *)(void *)(edges + 2 * PAGE);
  /* A table, what is stored, and another table. */
  int *pool = mapped(&check, (check.size + 2 * FEW) * sizeof *pool);
  int *table = mapped(&check, 2 * BEHIND * sizeof *table);
  if (word == NULL)
    check_die(&check, "no memory", "");

  for (int k = 0; k < FEW; k++) {
    last[k] = k * 7;
    first[k] = k * k;
  }
  for (int k = 0; k < 2 * BEHIND; k++)
    table[k] = k * 3;
  mprotect(edges + PAGE, PAGE, PROT_NONE);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    for (int i = 0; i < n; i++)
      at[i] = (int)check_below(&check, 1 << 13);
    for (int i = 0; i < n * width; i++)
      text[i] = (char)('a' + check_below(&check, 2));
    for (int k = 0; k < FEW; k++)
      pool[k] = pool[n + FEW + k] = (int)check_below(&check, 1000);
    literal(n, at, check_is(&check, "far") ? "Sphinx of black quartz, jud" : "the quick brown fox jumped ", bytes);
    check_array(&check, "literal", bytes, check.size, 1);
    copied(n, at, word, bytes);
    check_array(&check, "copied", bytes, check.size, 1);
    edge(n, at, last, first, out);
    check_array(&check, "edge", out, check.size, sizeof *out);
    beside(n, at, pool, pool + n + FEW, pool + FEW);
    check_array(&check, "beside", pool, check.size + 2 * FEW, sizeof *pool);
    shifted(n, at, last - 1, out);
    check_array(&check, "shifted", out, check.size, sizeof *out);
    words(n, width, text, word, 2, out);
    check_array(&check, "words", out, check.size, sizeof *out);
    if (check_is(&check, "far"))
      at[check_below(&check, check.size)] = BEHIND;
    /* Or each element follows from the one before it. */
    int *stored = check_is(&check, "raw") ? table + 1 : out;
    for (int i = 0; i < n && stored != out; i++)
      at[i] = i;
    wide(n, at, table, stored);
    check_array(&check, "wide", stored, check.size, sizeof *out);
  }
  free(at);
  free(out);
  free(bytes);
  free(text);
  free(word);
  munmap(edges, 3 * PAGE);
  munmap(pool, (check.size + 2 * FEW) * sizeof *pool);
  munmap(table, 2 * BEHIND * sizeof *table);
  return check_close(&check);
}
