/* Sums of rows of an array that come to where the loop itself stores: from below, to the end of it and beyond, and from the other side downwards. Inspections look at the ends of such rows. */
#include <stdio.h>
#include <string.h>

enum { ROWS = 3000, LENGTH = 300, STORED = 5000, COUNT = STORED + ROWS + 3 * LENGTH };

static double values[COUNT];
static int start[ROWS + 1], end[ROWS + 1];

static void fill(int first, int step, int length)
{
  for (int i = 0; i < COUNT; i++)
    values[i] = (double)((unsigned)i * 2654435761u % 1000) / 7;
  for (int i = 0; i < ROWS; i++) {
    start[i] = first + i * step;
    end[i] = start[i] + length;
  }
}

static void upwards(int n, double *to, const double *from)
{
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int k = start[i]; k < end[i]; k++)
      sum += from[k];
    to[i] = sum / 1000;
  }
}

static void downwards(int n, double *to, const double *from)
{
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int k = start[i]; k < end[i]; k++)
      sum += from[COUNT - 1 - k] * 0.5;
    to[i] = sum / 1000;
  }
}

static void apart(int n, double *to, const double *from, const int *at)
{
  for (int i = 0; i < n; i++) { /* entered */
    double sum = 0;
    for (int k = start[i]; k < end[i]; k++)
      sum += from[at[k]] * from[k];
    to[i] = sum / 1000;
  }
}

static void print(const char *name)
{
  unsigned long long hash = 0, bits;
  for (int i = 0; i < COUNT; i++) {
    memcpy(&bits, &values[i], sizeof bits);
    hash = hash * 31 + bits;
  }
  printf("%s %llu\n", name, hash);
}

int main(void)
{
  static int at[COUNT];
  static double other[ROWS];
  for (int i = 0; i < COUNT; i++)
    at[i] = (int)((unsigned)i * 40503u % (STORED - 1));
  /* The last rows end in it. */
  fill(0, 2, LENGTH);
  upwards(ROWS, values + STORED, values);
  print("upwards");
  /* All are around a single element of it, which the first one stores. */
  fill(STORED - 200, 0, LENGTH);
  upwards(ROWS / 100, values + STORED, values);
  print("around");
  /* A few rows end in it, and none begins there. */
  fill(0, 1, LENGTH);
  for (int i = 50; i < ROWS; i += 97) {
    start[i] = STORED - 50;
    end[i] = STORED + 1000;
  }
  upwards(ROWS, values + STORED, values);
  print("few");
  fill(0, 1, LENGTH);
  downwards(ROWS, values + STORED, values);
  print("downwards");
  fill(0, 1, LENGTH);
  apart(ROWS, other, values, at);
  for (int i = 0; i < ROWS; i++)
    values[i] += other[i];
  print("apart");
  /* One row alone comes to what the last one stores. */
  fill(0, 1, LENGTH);
  at[700] = STORED + ROWS - 1;
  apart(ROWS, values + STORED, values, at);
  print("gathered");
  return 0;
}
