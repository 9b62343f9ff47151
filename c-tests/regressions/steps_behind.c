/* Inner loops whose step uses their variable after it has moved it: it isn't what it is in the body. */
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 40000, WIDTH = 64 };

/* The last turn stores what the next row begins with. */
__attribute__((noinline)) static void into_next(double *a, double *out)
{
  for (long i = 0; i < ROWS; i++) {
    double t = a[i * WIDTH];
    for (int k = 0; k < WIDTH; k++, a[i * WIDTH + k] = t)
      t = t + 1;
    out[i] = t;
  }
}

/* The same by other heads, which were right. */
__attribute__((noinline)) static void without_first(double *a, double *out)
{
  for (long i = 0; i < ROWS; i++) {
    double t = a[i * WIDTH];
    int k = 0;
    for (; k < WIDTH; k++, a[i * WIDTH + k] = t)
      t = t + 1;
    out[i] = t;
  }
}
__attribute__((noinline)) static void by_copy(double *a, double *out)
{
  for (long i = 0; i < ROWS; i++) {
    double t = a[i * WIDTH];
    int at;
    for (int k = 0; k < WIDTH; k++, at = k, a[i * WIDTH + at] = t)
      t = t + 1;
    out[i] = t;
  }
}

__attribute__((noinline)) static void behind(const int *a, int *out)
{
  for (long i = 0; i < ROWS; i++) { /* entered */
    int sum = 0;
    for (int k = 0; k < WIDTH; k++, sum = (sum & 0xffffff) * 3 + a[i * WIDTH + k])
      ;
    out[i] = sum;
  }
}

/* In front of the move it is what it is in the body. */
__attribute__((noinline)) static void before(const int *a, int *out)
{
  for (long i = 0; i < ROWS; i++) { /* entered */
    int sum = 0;
    for (int k = 0; k < WIDTH; sum = (sum & 0xffffff) * 3 + a[i * WIDTH + k], k++)
      ;
    out[i] = sum;
  }
}

/* What a row has set for itself is what it loads, but for the first one: that is the row's before it. */
__attribute__((noinline)) static void own(int *scratch, const int *a, int *out)
{
  for (long i = 0; i < ROWS; i++) {
    int sum = scratch[0];
    for (int k = 0; k < WIDTH - 1; k++, scratch[k] = a[i * WIDTH + k])
      sum += k;
    for (int k = 0; k < WIDTH; k++)
      sum = (sum & 0xffffff) * 5 + scratch[k];
    scratch[0] = sum & 7;
    out[i] = sum;
  }
}

int main(void)
{
  double *a = calloc((ROWS + 1) * WIDTH, sizeof *a), *out = calloc(ROWS, sizeof *out);
  int *b = calloc((ROWS + 1) * WIDTH, sizeof *b), *sums = calloc(ROWS, sizeof *sums), *scratch = calloc(WIDTH, sizeof *scratch);
  for (long i = 0; i < (ROWS + 1) * WIDTH; i++) {
    a[i] = (double)(i % 1001) / 8;
    b[i] = (int)(i * 7 % 1009);
  }
  into_next(a, out);
  without_first(a, out);
  by_copy(a, out);
  double all = 0;
  for (long i = 0; i < ROWS; i++)
    all += out[i] * (double)(i % 10);
  printf("%.17g\n", all);
  for (int round = 0; round < 3; round++) {
    unsigned hash = 0;
    round == 0 ? behind(b, sums) : round == 1 ? before(b, sums) : own(scratch, b, sums);
    for (long i = 0; i < ROWS; i++)
      hash = hash * 31 + (unsigned)sums[i];
    printf("%u\n", hash);
  }
  return 0;
}
