/* The ways in which a loop comes to an address that nobody asks about for conflicts. Its first entry checks none, because an inspection has seen all of them. In
 * each entry one leads out of its array, into one that lies behind it, or, on `below`, in front of it; on `at_first` it is the first turn's, on `at_last` the last
 * one's.
 *
 * test size: 1001
 * expect branch: runs unchecked at first on clean
 * expect shortcut: runs unchecked at first on clean
 * expect chosen: runs unchecked at first on clean
 * expect inner: runs unchecked at first on clean
 * expect left: runs unchecked at first on clean
 * expect skipped: runs unchecked at first on clean
 * expect members: runs unchecked at first on clean
 * expect bytes: runs unchecked at first on clean
 * expect pointed: runs unchecked at first on clean
 * expect narrow: runs unchecked at first on clean */
#include "../support/inputs.h"

#include <limits.h>

/* `KINDS` numbers are in the low digits of an index, 1 << DIGITS. */
enum { LENGTH = 9, ENTRIES = 3, DIGITS = 6, KINDS = 64 };

struct halves {
  unsigned short lower, upper;
};

/* In a branch. */
COMPUTE static void branch(int first, int n, const int *begin, const int *both, const unsigned *factor, unsigned *x)
{
  for (int i = first; i < n; i++) { /* loop branch */
    unsigned sum = 0;
    for (int k = begin[i]; k < begin[i + 1]; k++) {
      const int it = both[k], high = it >> DIGITS;
      if (it & 1)
        sum += factor[high];
      sum += 3 * x[it & (KINDS - 1)];
    }
    x[i] = sum;
  }
}

/* Behind ||. */
COMPUTE static void shortcut(int first, int n, const int *begin, const int *both, const unsigned *factor, unsigned *x)
{
  for (int i = first; i < n; i++) { /* loop shortcut */
    unsigned sum = 0;
    for (int k = begin[i]; k < begin[i + 1]; k++) {
      const int it = both[k], high = it >> DIGITS;
      if ((it & 1) == 0 || factor[high] > UINT_MAX / 2)
        sum++;
      sum += 3 * x[it & (KINDS - 1)];
    }
    x[i] = sum;
  }
}

/* In an arm, a different one in each. */
COMPUTE static void chosen(int first, int n, const int *begin, const int *both, const unsigned *factor, unsigned *x)
{
  for (int i = first; i < n; i++) { /* loop chosen */
    unsigned sum = 0;
    for (int k = begin[i]; k < begin[i + 1]; k++) {
      const int it = both[k], high = it >> DIGITS;
      sum += it & 1 ? factor[high] : factor[high + 1] + 5;
      sum += 3 * x[it & (KINDS - 1)];
    }
    x[i] = sum;
  }
}

/* In a loop that nobody asks about, with as many turns as memory says. */
COMPUTE static void inner(int first, int n, const int *begin, const int *both, const unsigned *factor, unsigned *x)
{
  for (int i = first; i < n; i++) { /* loop inner */
    unsigned sum = 0;
    for (int k = begin[i]; k < begin[i + 1]; k++) {
      const int it = both[k], high = it >> DIGITS;
      for (int m = 0; m <= (it & 3); m++)
        sum += factor[high + m];
      sum += 3 * x[it & (KINDS - 1)];
    }
    x[i] = sum;
  }
}

/* In a loop that is left. */
COMPUTE static void left(int first, int n, const int *begin, const int *both, const unsigned *factor, unsigned *x)
{
  for (int i = first; i < n; i++) { /* loop left */
    unsigned sum = 0;
    for (int k = begin[i]; k < begin[i + 1]; k++) {
      const int it = both[k], high = it >> DIGITS;
      for (int m = 0;; m++) {
        if (m > (it & 3))
          break;
        sum += factor[high + m] * 5;
      }
      sum += 3 * x[it & (KINDS - 1)];
    }
    x[i] = sum;
  }
}

/* Behind continue. */
COMPUTE static void skipped(int first, int n, const int *begin, const int *both, const unsigned *factor, unsigned *x)
{
  for (int i = first; i < n; i++) { /* loop skipped */
    unsigned sum = 0;
    for (int k = begin[i]; k < begin[i + 1]; k++) {
      const int it = both[k], high = it >> DIGITS;
      if ((it & 1) == 0)
        continue;
      sum += factor[high];
      sum += 3 * x[it & (KINDS - 1)];
    }
    x[i] = sum;
  }
}

/* A member, of another type. */
COMPUTE static void members(int first, int n, const int *begin, const int *both, const unsigned *factor, unsigned *x)
{
  for (int i = first; i < n; i++) { /* loop members */
    unsigned sum = 0;
    for (int k = begin[i]; k < begin[i + 1]; k++) {
      const int it = both[k], high = it >> DIGITS;
      sum += ((const struct halves *)factor)[high].upper;
      sum += 3 * x[it & (KINDS - 1)];
    }
    x[i] = sum;
  }
}

/* A single byte. */
COMPUTE static void bytes(int first, int n, const int *begin, const int *both, const unsigned *factor, unsigned *x)
{
  for (int i = first; i < n; i++) { /* loop bytes */
    unsigned sum = 0;
    for (int k = begin[i]; k < begin[i + 1]; k++) {
      const int it = both[k], high = it >> DIGITS;
      sum += ((const unsigned char *)factor)[4 * high + 3];
      sum += 3 * x[it & (KINDS - 1)];
    }
    x[i] = sum;
  }
}

/* Through a pointer of the iteration's own. */
COMPUTE static void pointed(int first, int n, const int *begin, const int *both, const unsigned *factor, unsigned *x)
{
  for (int i = first; i < n; i++) { /* loop pointed */
    unsigned sum = 0;
    for (int k = begin[i]; k < begin[i + 1]; k++) {
      const int it = both[k], high = it >> DIGITS;
      const unsigned *at = factor + high;
      sum += at[0] - at[1];
      sum += 3 * x[it & (KINDS - 1)];
    }
    x[i] = sum;
  }
}

/* What a narrow type has cut off decides, too. */
COMPUTE static void narrow(int first, int n, const int *begin, const int *both, const unsigned *factor, unsigned *x)
{
  for (int i = first; i < n; i++) { /* loop narrow */
    unsigned sum = 0;
    for (int k = begin[i]; k < begin[i + 1]; k++) {
      const int it = both[k], high = it >> DIGITS;
      const signed char near = (signed char)it;
      sum += factor[high + (near >> 2)];
      sum += 3 * x[it & (KINDS - 1)];
    }
    x[i] = sum;
  }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "astray", "below", "at_first", "at_last", NULL};
  static void (*const ways[])(int, int, const int *, const int *, const unsigned *, unsigned *) = {
      branch, shortcut, chosen, inner, left, skipped, members, bytes, pointed, narrow};
  struct check check = check_open(argc, argv, 100000, inputs);
  const size_t n = check.size < 4 * KINDS ? 4 * KINDS : check.size, all = n * LENGTH;
  int *begin = check_alloc(&check, n + 1, sizeof *begin), *both = check_alloc(&check, all, sizeof *both);
  unsigned *factor = check_alloc(&check, 2 * all, sizeof *factor), *other = check_alloc(&check, 2 * all, sizeof *other);
  unsigned *x = check_alloc(&check, n, sizeof *x);
  if ((other < factor) != check_is(&check, "below")) {
    unsigned *first = other;
    other = factor;
    factor = first;
  }
  const int is_clean = check_is(&check, "clean");
  const int beyond = (int)(((intptr_t)other - (intptr_t)factor) / (intptr_t)sizeof *factor);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    for (size_t i = 0; i < n; i++)
      x[i] = (unsigned)check_random(&check);
    for (size_t k = 0; k < 2 * all; k++) {
      factor[k] = (unsigned)check_random(&check);
      other[k] = (unsigned)check_random(&check);
    }
    /* Far enough from both ends for all that comes to lie beside it. */
    for (size_t k = 0; k < all; k++)
      both[k] = (int)check_below(&check, KINDS) + (int)((check_below(&check, n) + KINDS) << DIGITS);
    for (size_t i = 0; i <= n; i++)
      begin[i] = (int)(i * LENGTH);
    check_start(&check);
    for (int entry = 0; entry < ENTRIES; entry++) {
      size_t turn = (size_t)(KINDS + 100 + 17 * entry) * LENGTH + (size_t)entry;
      if (check_is(&check, "at_first"))
        turn = (size_t)KINDS * LENGTH;
      if (check_is(&check, "at_last"))
        turn = all - 1;
      /* An odd number, which all of them come by; and another one each time, so that they are inspected anew. */
      const int old = both[turn];
      both[turn] = (old & (KINDS - 1) & ~7) + 2 * entry + 1;
      both[turn] += is_clean ? old & ~(KINDS - 1) : (beyond + KINDS + entry) * KINDS;
      for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        ways[k](KINDS, (int)n, begin, both, factor, x);
        check_array(&check, "x", x, n, sizeof *x);
      }
      both[turn] = old;
    }
    check_stop(&check);
  }
  return check_close(&check);
}
