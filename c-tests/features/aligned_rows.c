/* Rows long enough for lanes to make their turns in batches that begin where memory's lines do: the first batch of each has fewer turns, and slots
 * in front of them. Rows begin at any element. What a row stores to some load themselves (`own`), in their first turns or later, and what
 * they gather may lie elsewhere by how many turns they have done (`distances`).
 *
 * test size: 9001
 * expect narrow: runs on clean
 * expect mixed: runs on clean
 * expect distances: runs on clean */
#include "../support/inputs.h"

enum { ROWS = 240, LONGEST = 700, ENTRIES = 4, FAR = LONGEST / 4 };

COMPUTE static void own(int n, const int *begin, const int *column, const double *a, double *x)
{
  for (int i = 0; i < n; i++) /* loop own */
    for (int k = begin[i]; k < begin[i + 1]; k++)
      x[i] = x[i] - a[k] * x[column[k]];
}

/* Elements belong to one row, and to its neighbour. */
COMPUTE static void narrow(int n, const int *from, const int *to, const int *column, const float *a, const float *x, float *out)
{
  for (int i = 0; i < n; i++) { /* loop narrow */
    float sum = 0;
    for (int k = from[i]; k < to[i]; k++)
      sum += a[k] * x[column[k]];
    out[i] = sum;
  }
}

/* Arrays whose lines begin at different turns, and whose elements have different sizes. */
COMPUTE static void mixed(int n, const int *begin, const short *shift, const int *column, const double *a, const float *b, double *out)
{
  for (int i = 0; i < n; i++) { /* loop mixed */
    double sum = 0;
    for (int k = begin[i]; k < begin[i + 1]; k++)
      sum += a[k + 1] * b[column[k + 3] + shift[k]];
    out[i] = sum;
  }
}

/* In front of a row's first turn the subscript would be some 2^30. */
COMPUTE static void distances(int n, const int *begin, const int *column, const double *table, double *out)
{
  for (int i = 0; i < n; i++) { /* loop distances */
    const int first = begin[i];
    double sum = 0;
    for (int k = first; k < begin[i + 1]; k++)
      sum += (k - first) * table[((unsigned)(k - first) >> 2) + (unsigned)column[k]];
    out[i] = sum;
  }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "raw", "one", "every", "astray", NULL};
  struct check check = check_open(argc, argv, 100000, inputs);
  const int rows = check.size < ROWS ? (int)check.size : ROWS;
  const size_t most = (size_t)rows * LONGEST + 8;
  const int n = (int)check.size > 2 * rows ? (int)check.size : 2 * rows;
  int *begin = check_alloc(&check, (size_t)rows + 1, sizeof *begin), *column = check_alloc(&check, most, sizeof *column);
  int *from = check_alloc(&check, (size_t)rows, sizeof *from), *to = check_alloc(&check, (size_t)rows, sizeof *to);
  short *shift = check_alloc(&check, most, sizeof *shift);
  double *a = check_alloc(&check, most, sizeof *a), *x = check_alloc(&check, (size_t)n, sizeof *x);
  double *out = check_alloc(&check, (size_t)rows, sizeof *out), *table = check_alloc(&check, FAR + 8, sizeof *table);
  double *other = check_alloc(&check, (size_t)n, sizeof *other);
  float *b = check_alloc(&check, most, sizeof *b), *y = check_alloc(&check, (size_t)n + 8, sizeof *y);
  float *sums = check_alloc(&check, (size_t)rows, sizeof *sums);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_double(&check, a, most);
    fill_double(&check, x, (size_t)n);
    fill_double(&check, other, (size_t)n);
    fill_double(&check, table, FAR + 8);
    fill_float(&check, b, most);
    fill_float(&check, y, (size_t)n + 8);
    /* Most rows are long; a few have nothing, or about as much as a batch. */
    begin[0] = 1;
    for (int i = 0; i < rows; i++) {
      const int length = i % 11 == 7 ? (int)check_below(&check, 40) : 120 + (int)check_below(&check, LONGEST - 120);
      begin[i + 1] = begin[i] + length;
    }
    for (int i = 0; i < rows; i++) {
      from[i] = begin[i] > 5 ? begin[i] - 5 : begin[i];
      to[i] = begin[i + 1];
    }
    for (size_t k = 0; k < most; k++) {
      column[k] = rows + (int)check_below(&check, (size_t)(n - rows));
      shift[k] = (short)check_below(&check, 8);
    }
    /* Rows load what they store to: in one of the first turns, which share a line with the row before, or in any. */
    for (int i = 0; i < rows; i++) {
      const int length = begin[i + 1] - begin[i];
      if (length > 9 && (i % 3 != 1 || i % 9 == 4))
        column[begin[i] + (i % 3 != 1 ? 1 + i % 8 : 0)] = i;
      if (i % 5 == 0 && length != 0)
        column[begin[i] + (int)check_below(&check, (size_t)length)] = i;
    }
    if (check_is(&check, "raw")) {
      for (int i = 1; i < rows; i++)
        if (begin[i + 1] != begin[i])
          column[begin[i]] = i - 1;
    } else if (check_is(&check, "one")) {
      struct couple couple = pick_couple(&check, (size_t)rows / 11 * 7);
      int later = (int)couple.second;
      while (begin[later + 1] == begin[later])
        later++;
      column[begin[later]] = (int)couple.first;
    } else if (check_is(&check, "every")) {
      for (int i = 1; i < rows; i++)
        for (int k = begin[i]; k < begin[i + 1]; k++)
          column[k] = i - 1;
    }
    const int beyond = (int)(((intptr_t)other - (intptr_t)x) / (intptr_t)sizeof *x);
    check_start(&check);
    for (int entry = 0; entry < ENTRIES; entry++) {
      /* The first turn of a long row leads into another array. */
      const int place = begin[3 + 11 * entry], old = column[place];
      if (check_is(&check, "astray") && entry % 2 == 1)
        column[place] = beyond + entry;
      own(rows, begin, column, a, x);
      column[place] = old;
      check_array(&check, "x", x, (size_t)rows, sizeof *x);
      for (int k = 0; k < rows; k++)
        x[k] = (k % 17) / 16.0;
      narrow(rows, from, to, column, b, y, sums);
      check_array(&check, "sums", sums, (size_t)rows, sizeof *sums);
      mixed(rows, begin, shift, column, a, y, out);
      check_array(&check, "mixed", out, (size_t)rows, sizeof *out);
      for (size_t k = 0; k < most; k++)
        column[k] = (column[k] & 3) + n * (column[k] / n);
      distances(rows, begin, column, table, out);
      check_array(&check, "distances", out, (size_t)rows, sizeof *out);
      for (size_t k = 0; k < most; k++)
        column[k] += rows + (int)(k * 7 % (size_t)(n - rows - 4));
    }
    check_stop(&check);
  }
  free(begin);
  free(column);
  free(from);
  free(to);
  free(shift);
  free(a);
  free(x);
  free(out);
  free(table);
  free(other);
  free(b);
  free(y);
  free(sums);
  return check_close(&check);
}
