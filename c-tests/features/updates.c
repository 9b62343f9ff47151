/* Histograms and their relatives: updates of memory that may meet in different iterations, and commute. With them, what
 * doesn't commute: stores, loads, updates of another kind.
 *
 * test size: 2003
 * expect count: runs on clean few
 * expect weigh: runs on clean few
 * expect mask: runs on clean few
 * expect narrow: runs on clean few
 * expect rows: runs on clean few
 * expect both: runs on clean
 * expect both: conflicts on few
 * expect kinds: runs on clean
 * expect kinds: conflicts on few
 * expect read: runs on clean
 * expect read: conflicts on few
 * expect set: runs on clean
 * expect set: conflicts on few */
#include "../support/inputs.h"

struct bin {
  unsigned count;
  unsigned short flags;
  signed char total;
  long weight;
};

static unsigned histogram[256];

COMPUTE static void count(size_t n, const unsigned char *data)
{
  for (size_t i = 0; i < n; i++) /* loop count */
    histogram[data[i]]++;
}

COMPUTE static void weigh(int n, const int *index, const int *value, struct bin *bins, int unwanted)
{
  for (int i = 0; i < n; i++) { /* loop weigh */
    if (value[i] == unwanted)
      continue;
    bins[index[i]].weight += value[i];
    bins[index[i]].count = bins[index[i]].count + 1;
    bins[index[i] / 2].weight -= 3;
  }
}

COMPUTE static void mask(int n, const int *index, const unsigned *value, struct bin *bins)
{
  for (int i = 0; i < n; i++) /* loop mask */
    bins[index[i]].flags |= (unsigned short)(1u << (value[i] % 16));
}

/* Bytes and halves next to each other, products that overflow. */
COMPUTE static void narrow(int n, const int *index, signed char *bytes, short *halves, unsigned short *products)
{
  for (int i = 0; i < n; i++) { /* loop narrow */
    bytes[index[i]] += 77;
    halves[index[i] / 3] ^= (short)(i * 31);
    products[index[i] / 2] *= 65535;
  }
}

/* Each update finds its array by itself. */
COMPUTE static void rows(int n, int **row, const int *index)
{
  for (int i = 0; i < n; i++) { /* loop rows */
    int *r = row[i % 8];
    r[index[i]] += i;
    --r[(index[i] * 5) % 64];
  }
}

COMPUTE static void both(int n, const int *index, unsigned *table)
{
  for (int i = 0; i < n; i++) { /* loop both */
    table[index[i]] += 5;
    table[index[i]] ^= 0x55u;
  }
}

/* Updates of two kinds, which on `few` come to the same places. */
COMPUTE static void kinds(int n, const int *index, const int *other, unsigned *table)
{
  for (int i = 0; i < n; i++) { /* loop kinds */
    table[index[i]] += 5;
    table[other[i]] ^= 0x55u;
  }
}

COMPUTE static void read(int n, const int *index, unsigned *table, unsigned *seen)
{
  for (int i = 0; i < n; i++) { /* loop read */
    table[index[i]] += 7;
    seen[i] = table[index[i]];
  }
}

COMPUTE static void set(int n, const int *index, unsigned *table)
{
  for (int i = 0; i < n; i++) { /* loop set */
    if (i % 3 == 0)
      table[index[i]] = 1;
    table[index[i]] += 9;
  }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "few", NULL};
  struct check check = check_open(argc, argv, 100000, inputs);
  int n = (int)check.size;
  unsigned char *data = check_alloc(&check, check.size, sizeof *data);
  int *index = check_alloc(&check, check.size, sizeof *index);
  int *value = check_alloc(&check, check.size, sizeof *value);
  struct bin *bins = check_alloc(&check, check.size, sizeof *bins);
  signed char *bytes = check_alloc(&check, check.size, sizeof *bytes);
  short *halves = check_alloc(&check, check.size, sizeof *halves);
  unsigned short *products = check_alloc(&check, check.size, sizeof *products);
  unsigned *table = check_alloc(&check, check.size, sizeof *table), *two = check_alloc(&check, 2 * check.size, sizeof *two);
  int *other = check_alloc(&check, check.size, sizeof *other);
  unsigned *seen = check_alloc(&check, check.size, sizeof *seen);
  int *cells = check_alloc(&check, 8 * check.size, sizeof *cells);
  int **row = check_alloc(&check, 8, sizeof *row);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    permute(&check, index, check.size);
    if (check_is(&check, "few"))
      for (int i = 0; i < n; i++)
        index[i] %= 11;
    for (int i = 0; i < n; i++) {
      data[i] = (unsigned char)(index[i] % 17);
      value[i] = (int)check_below(&check, 2000) - 1000;
      bytes[i] = (signed char)i;
      halves[i] = (short)i;
      products[i] = (unsigned short)(i | 1);
      table[i] = (unsigned)i;
      two[i] = two[check.size + (size_t)i] = (unsigned)i;
      other[i] = check_is(&check, "few") ? (int)check_below(&check, 11) : n + index[i];
    }
    for (int i = 0; i < 8; i++)
      row[i] = cells + (size_t)(i / 2) * check.size;
    memset(bins, 1, check.size * sizeof *bins);
    memset(histogram, 0, sizeof histogram);
    check_start(&check);
    count(check.size, data);
    weigh(n, index, value, bins, 12);
    mask(n, index, (const unsigned *)value, bins);
    narrow(n, index, bytes, halves, products);
    rows(n, row, index);
    both(n, index, table);
    kinds(n, index, other, two);
    read(n, index, table, seen);
    set(n, index, table);
    check_stop(&check);
    check_array(&check, "histogram", histogram, 256, sizeof *histogram);
    check_array(&check, "bins", bins, check.size, sizeof *bins);
    check_array(&check, "bytes", bytes, check.size, sizeof *bytes);
    check_array(&check, "halves", halves, check.size, sizeof *halves);
    check_array(&check, "products", products, check.size, sizeof *products);
    check_array(&check, "two", two, 2 * check.size, sizeof *two);
    check_array(&check, "table", table, check.size, sizeof *table);
    check_array(&check, "seen", seen, check.size, sizeof *seen);
    check_array(&check, "cells", cells, 8 * check.size, sizeof *cells);
  }
  free(data);
  free(index);
  free(value);
  free(bins);
  free(bytes);
  free(halves);
  free(products);
  free(table);
  free(two);
  free(other);
  free(seen);
  free(cells);
  free(row);
  return check_close(&check);
}
