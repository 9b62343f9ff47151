/* Loops that a GPU enters for the first time: an inspection has seen all their addresses, also those that nobody asks about for conflicts, so nothing is
 * checked. On `astray` one of these leads from its array into another one, which the program may get away with, and a device not; in each
 * entry it is another one.
 *
 * test size: 3001
 * expect rows: runs unchecked at first on clean
 * expect halves: runs unchecked at first on clean
 * expect stores: runs unchecked at first on clean */
#include "../support/inputs.h"

/* `KINDS` numbers are in the low digits of an index, 1 << DIGITS. */
enum { LENGTH = 9, ENTRIES = 4, DIGITS = 6, KINDS = 64 };

/* Where a turn's factor lies follows from its number; whom it depends on is in memory. */
COMPUTE static void rows(int first, int n, const int *begin, const int *column, const unsigned *factor, unsigned *x)
{
  for (int i = first; i < n; i++) /* loop rows */
    for (int k = begin[i]; k < begin[i + 1]; k++)
      x[i] -= factor[k] * x[column[k]];
}

/* Two places in one index. */
COMPUTE static void halves(int first, int n, const int *begin, const int *both, const unsigned *factor, unsigned *x)
{
  for (int i = first; i < n; i++) { /* loop halves */
    unsigned sum = 0;
    for (int k = begin[i]; k < begin[i + 1]; k++) {
      const int high = both[k] >> DIGITS;
      sum += factor[high] * x[both[k] - (high << DIGITS)];
    }
    x[i] = sum;
  }
}

/* What is stored where depends on the index, too. */
COMPUTE static void stores(int n, const int *place, const unsigned *from, unsigned *to)
{
  for (int i = 0; i < n; i++) { /* loop stores */
    const int at = place[i];
    if (at >= 0)
      to[at] += from[at] * 3;
  }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "astray", NULL};
  struct check check = check_open(argc, argv, 100000, inputs);
  const size_t n = check.size < 2 * KINDS ? 2 * KINDS : check.size, all = n * LENGTH;
  int *begin = check_alloc(&check, n + 1, sizeof *begin), *column = check_alloc(&check, all, sizeof *column);
  int *both = check_alloc(&check, all, sizeof *both), *place = check_alloc(&check, n, sizeof *place);
  unsigned *factor = check_alloc(&check, 2 * all, sizeof *factor), *other = check_alloc(&check, 2 * all, sizeof *other);
  unsigned *x = check_alloc(&check, n, sizeof *x), *to = check_alloc(&check, n, sizeof *to);
  if (other < factor) {
    unsigned *lower = other;
    other = factor;
    factor = lower;
  }
  const int is_astray = check_is(&check, "astray");
  const int beyond = (int)(((intptr_t)other - (intptr_t)factor) / (intptr_t)sizeof *factor);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    for (size_t i = 0; i < n; i++) {
      x[i] = (unsigned)check_random(&check);
      to[i] = (unsigned)check_random(&check);
    }
    for (size_t k = 0; k < all; k++) {
      factor[k] = (unsigned)check_random(&check);
      other[k] = (unsigned)check_random(&check);
      column[k] = (int)check_below(&check, KINDS - ENTRIES);
      both[k] = column[k] + ((int)check_below(&check, n) << DIGITS);
    }
    for (size_t i = 0; i <= n; i++)
      begin[i] = (int)(i * LENGTH);
    permute(&check, place, n);
    for (size_t i = 0; i < n; i += 5)
      place[i] = -1;
    check_start(&check);
    for (int entry = 0; entry < ENTRIES; entry++) {
      const size_t turn = (size_t)(KINDS + 100 + 17 * entry) * LENGTH + (size_t)entry;
      const int old = both[turn];
      if (is_astray)
        both[turn] = (old & (KINDS - 1)) + (beyond + entry) * KINDS;
      rows(KINDS, (int)n, begin, column, factor, x);
      check_array(&check, "x", x, n, sizeof *x);
      halves(KINDS, (int)n, begin, both, factor, x);
      check_array(&check, "x", x, n, sizeof *x);
      stores((int)n, place, x, to);
      check_array(&check, "to", to, n, sizeof *to);
      both[turn] = old;
      /* New indices, so that they are inspected anew. */
      column[turn]++;
    }
    check_stop(&check);
  }
  return check_close(&check);
}
