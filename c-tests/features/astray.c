/* Subscripts that lead from one array into another, which the program may get away with and a device, whose copies lie elsewhere, may not:
 * whoever comes upon one has to say so, the lane that runs the iteration or one that makes turns for it. On `astray` each entry has one
 * such subscript, each time in another place.
 *
 * test size: 9001
 * bitmaps
 * expect gathered: runs on clean
 * expect scattered: runs on clean
 * expect rows: runs on clean
 * expect ends: runs on clean
 * expect beyond: runs on clean
 * expect beyond: runs in place on astray
 * expect updated: runs on clean
 * expect late: runs on clean
 * expect led: runs on clean
 * expect distant: runs on clean
 * expect skewed: runs on clean
 * expect skewed: runs in place on astray */
#include "../support/inputs.h"

#include <sys/mman.h>

/* `MANY`: turns of a row after which lanes ask again how many there are. */
enum { LENGTH = 37, ROWS = 240, ENTRIES = 6, MANY = 1 << 15 };

COMPUTE static void gathered(int n, const int *from, const double *x, double *out)
{
  for (int i = 0; i < n; i++) /* loop gathered */
    out[i] = x[from[i]] * 2.0;
}

COMPUTE static void scattered(int n, const int *to, const double *x, double *out)
{
  for (int i = 0; i < n; i++) /* loop scattered */
    out[to[i]] = x[i] * 3.0;
}

/* Lanes make turns for each other. */
COMPUTE static void rows(int n, const int *begin, const int *column, const double *x, double *out)
{
  for (int i = 0; i < n; i++) { /* loop rows */
    double sum = 0;
    for (int k = begin[i]; k < begin[i + 1]; k++)
      sum += x[column[k]] * 0.5;
    out[i] = sum;
  }
}

/* What turns of a row load side by side is looked at where the row begins and ends. */
COMPUTE static void ends(int n, const int *from, const int *to, const double *x, double *out)
{
  for (int i = 0; i < n; i++) { /* loop ends */
    double sum = 0;
    for (int k = from[i]; k < to[i]; k++)
      sum += x[k] * 0.5;
    out[i] = sum;
  }
}

/* On `astray` one row goes on behind the end of its array. What is there isn't the same in all programs, so it doesn't count. */
COMPUTE static void beyond(int n, const int *from, const int *to, const unsigned *words, const unsigned *mask, unsigned *out)
{
  for (int i = 0; i < n; i++) { /* loop beyond */
    unsigned sum = 0;
    for (int k = from[i]; k < to[i]; k++)
      sum += words[k] * 5;
    out[i] = sum & mask[i];
  }
}

/* Or take them side by side. */
COMPUTE static void updated(int n, const int *begin, const int *column, const double *x, double *value)
{
  for (int i = 0; i < n; i++) /* loop updated */
    for (int k = begin[i]; k < begin[i + 1]; k++)
      value[k] += x[column[k]];
}

/* A lane that helps may load what the one that leads has stored already, and divides by zero then, which counts for nothing. */
COMPUTE static void late(int n, const int *begin, const int *column, const double *x, int *once, double *out)
{
  for (int i = 0; i < n; i++) { /* loop late */
    const int divisor = once[i];
    once[i] = 0;
    double sum = 1000 / divisor;
    for (int k = begin[i]; k < begin[i + 1]; k++)
      sum += x[column[k]] * 0.25;
    out[i] = sum;
  }
}

/* What leads to what turns load is in the array that rows store to: a number that is stored in front of it may lead anywhere until then. */
COMPUTE static void led(int n, const int *from, const int *to, int64_t *x)
{
  for (int i = 0; i < n; i++) /* loop led */
    for (int k = from[i]; k < to[i]; k++)
      x[i] += x[x[k]];
}

/* On `astray` a subscript is too large by 2^32, and what it leads to is there. Nothing that is loaded is stored to, so nothing is noted. */
static double nearby[ROWS];
COMPUTE static void distant(int n, const int *begin, const int64_t *place, double *out)
{
  for (int i = 0; i < n; i++) { /* loop distant */
    double sum = 0;
    for (int k = begin[i]; k < begin[i + 1]; k++)
      sum += nearby[place[k]] * 0.125;
    out[i] = sum;
  }
}

/* One place of `astray` lies between two elements: a processor loads it all the same, which a device doesn't do. */
COMPUTE static void skewed(int n, const int *begin, const int *offset, double *out)
{
  for (int i = 0; i < n; i++) { /* loop skewed */
    double sum = 0;
    for (int k = begin[i]; k < begin[i + 1]; k++)
      sum += *(const double *)((const char *)nearby + offset[k]) * 0.125;
    out[i] = sum;
  }
}

/* Memory so far behind an array; not there if something else is. */
static double *reserve_distant(void)
{
  const uintptr_t page = 4096, wanted = (uintptr_t)nearby + ((uintptr_t)sizeof *nearby << 32), begin = wanted & ~(page - 1);
  const size_t bytes = (wanted + sizeof nearby + page - 1 - begin) & ~(page - 1);
  void *memory = mmap((void *)begin, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  return memory == (void *)begin ? (double *)wanted : NULL;
}

/* Which row has this turn. */
static int row_of(const int *begin, size_t turn)
{
  int row = 0;
  while ((size_t)begin[row + 1] <= turn)
    row++;
  return row;
}

/* What `distant` makes of that row where the memory is there: what it is differs from process to process, results must not. */
static double as_if_distant(const int *begin, const int64_t *place, size_t turn)
{
  volatile double sum = 0;
  const int row = row_of(begin, turn);
  for (int k = begin[row]; k < begin[row + 1]; k++)
    sum += ((size_t)k == turn ? -nearby[place[k]] : nearby[place[k]]) * 0.125;
  return sum;
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "astray", NULL};
  struct check check = check_open(argc, argv, 100000, inputs);
  size_t n = check.size, all = ROWS * LENGTH;
  double *x = check_alloc(&check, n, sizeof *x), *other = check_alloc(&check, n, sizeof *other);
  double *out = check_alloc(&check, n, sizeof *out), *value = check_alloc(&check, all, sizeof *value);
  int *from = check_alloc(&check, n, sizeof *from), *to = check_alloc(&check, n, sizeof *to);
  int *begin = check_alloc(&check, n, sizeof *begin), *column = check_alloc(&check, 2 * all, sizeof *column);
  int *once = check_alloc(&check, n, sizeof *once);
  unsigned *sums = check_alloc(&check, ROWS, sizeof *sums), *mask = check_alloc(&check, ROWS, sizeof *mask);
  /* Whole pages, so that what lies behind is there. */
  const size_t all_words = (n + MANY + 4095) / 4096 * 4096;
  unsigned *words = check_alloc(&check, all_words, sizeof *words);
  int64_t *leads = check_alloc(&check, n, sizeof *leads), *behind = check_alloc(&check, n, sizeof *behind);
  if (behind < leads) {
    int64_t *lower = behind;
    behind = leads;
    leads = lower;
  }
  int64_t *wide = check_alloc(&check, all, sizeof *wide);
  double *const beyond_all = reserve_distant();
  const int is_astray = check_is(&check, "astray");
  /* From one array to the other, in elements. */
  const int beyond_x = (int)(((intptr_t)other - (intptr_t)x) / (intptr_t)sizeof *x);
  const int beyond_out = (int)(((intptr_t)other - (intptr_t)out) / (intptr_t)sizeof *out);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_double(&check, x, n);
    fill_double(&check, other, n);
    fill_double(&check, out, n);
    fill_double(&check, value, all);
    for (size_t k = 0; k < all_words; k++)
      words[k] = (unsigned)check_random(&check);
    for (int i = 0; i < ROWS; i++)
      mask[i] = ~0u;
    permute(&check, from, n);
    permute(&check, to, n);
    for (int i = 0; i <= ROWS; i++) {
      begin[i] = i * LENGTH;
      once[i] = 1 + i % 7;
    }
    for (size_t k = 0; k < all; k++)
      column[k] = (int)check_below(&check, n);
    check_start(&check);
    for (int entry = 0; entry < ENTRIES; entry++) {
      /* Another lane's turn each time. */
      const size_t place = n / 2 + 7 * (size_t)entry, turn = (size_t)(97 + entry) * LENGTH + 3 + 5 * (size_t)entry;
      const int old_column = column[turn];
      if (is_astray) {
        from[place] = beyond_x + entry;
        to[place] = beyond_out + entry;
        column[turn] = beyond_x + 5 * entry;
      }
      gathered((int)n, from, x, out);
      check_array(&check, "out", out, n, sizeof *out);
      scattered((int)n, to, x, out);
      rows(ROWS, begin, column, x, out);
      check_array(&check, "out", out, n, sizeof *out);
      /* Neighbouring rows overlap; one of them lies in the other array. */
      for (int i = 0; i < ROWS; i++) {
        from[i] = i * (LENGTH - 2);
        to[i] = from[i] + LENGTH - i % 5;
      }
      if (is_astray) {
        from[place % ROWS] = beyond_x + entry;
        to[place % ROWS] = beyond_x + entry + LENGTH;
      }
      ends(ROWS, from, to, x, out);
      check_array(&check, "out", out, n, sizeof *out);
      /* A long row every other time. */
      from[place % ROWS] = is_astray ? (int)all_words - LENGTH / 2 - (entry % 2 == 0 ? 0 : MANY) : 0;
      to[place % ROWS] = is_astray ? (int)all_words + LENGTH / 2 : LENGTH;
      mask[place % ROWS] = is_astray ? 0 : ~0u;
      beyond(ROWS, from, to, words, mask, sums);
      mask[place % ROWS] = ~0u;
      check_array(&check, "sums", sums, ROWS, sizeof *sums);
      permute(&check, from, n);
      permute(&check, to, n);
      updated(ROWS, begin, column, x, value);
      late(ROWS, begin, column, x, once, out);
      check_array(&check, "out", out, n, sizeof *out);
      check_array(&check, "other", other, n, sizeof *other);
      check_array(&check, "value", value, all, sizeof *value);
      for (size_t k = 0; k < n; k++) {
        leads[k] = ROWS + (int64_t)check_below(&check, n - ROWS);
        behind[k] = 1 + (int64_t)check_below(&check, n);
      }
      for (int i = 0; i < ROWS; i++) {
        from[i] = ROWS + i * (LENGTH - 2);
        to[i] = from[i] + LENGTH - i % 5;
      }
      if (is_astray && entry % 2 == 0) {
        /* One of a row's numbers leads into another array. */
        leads[from[place % ROWS] + 5] = ((intptr_t)behind - (intptr_t)leads) / (intptr_t)sizeof *leads + entry;
      } else if (is_astray) {
        /* A row reads what the one before it has made of a number that is too large by more than 2^32, by what the last element says. */
        const int early = 4 + 2 * entry, later = early + 1;
        const int64_t much = ((int64_t)entry << 32) + 51;
        from[early] = (int)n - 6;
        to[early] = (int)n - 1;
        from[later] = early;
        to[later] = later;
        leads[early] = ROWS + 5 + 5 * much;
        for (size_t k = n - 6; k < n - 1; k++)
          leads[k] = (int64_t)n - 1;
        leads[n - 1] = -much;
      }
      led(ROWS, from, to, leads);
      check_array(&check, "leads", leads, n, sizeof *leads);
      for (size_t k = 0; k < ROWS; k++) {
        nearby[k] = check_real(&check);
        if (beyond_all != NULL)
          beyond_all[k] = -nearby[k];
      }
      for (size_t k = 0; k < all; k++)
        wide[k] = (int64_t)check_below(&check, ROWS);
      if (is_astray && beyond_all != NULL)
        wide[turn] += (int64_t)1 << 32;
      distant(ROWS, begin, wide, out);
      if (is_astray && beyond_all == NULL)
        out[row_of(begin, turn)] = as_if_distant(begin, wide, turn);
      check_array(&check, "distant", out, n, sizeof *out);
      for (size_t k = 0; k < all; k++)
        column[k + all] = 8 * (int)check_below(&check, ROWS - 1) + (is_astray && k == turn ? 4 : 0);
      skewed(ROWS, begin, column + all, out);
      check_array(&check, "skewed", out, n, sizeof *out);
      permute(&check, from, n);
      permute(&check, to, n);
      column[turn] = old_column;
      for (int i = 0; i <= ROWS; i++)
        once[i] = 1 + i % 7;
    }
    check_stop(&check);
  }
  free(x);
  free(other);
  free(out);
  free(value);
  free(from);
  free(to);
  free(begin);
  free(column);
  free(once);
  free(sums);
  free(mask);
  free(words);
  free(leads);
  free(behind);
  free(wide);
  return check_close(&check);
}
