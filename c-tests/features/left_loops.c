/* Inner loops compute an index that is wrong while they haven't ended. A device's iterations leave them in the middle when another one has
 * failed, here by a NaN, or when nobody waits for them any more: what stands behind the loop must then touch nothing, also where
 * earlier entries have shown that all addresses lie inside, so that nobody checks them.
 *
 * test size: 131
 * expect walked: runs on clean
 * expect counted: runs on clean
 * expect behind: runs on clean
 * expect aside: runs on clean
 * expect walked: runs unchecked at last on clean nan
 * expect counted: runs unchecked at last on clean nan
 * expect behind: runs unchecked at last on clean nan
 * expect aside: runs unchecked at last on clean nan */
#include "../support/inputs.h"

/* So many turns that loops ask on the way whether to go on: those that lanes don't take together do after 4,096. */
enum { FAR = 1000000000, TURNS = 5000 };

/* What is divided by is loaded whatever becomes of the quotient, since a zero would tell. */
COMPUTE static void walked(int n, const int *start, const int *next, const int *back, const int *divisor, const double *x, double *out)
{
  for (int i = 0; i < n; i++) { /* loop walked */
    int k = FAR, j = start[i];
    while (j != 0) {
      k -= back[j];
      j = next[j];
    }
    out[k + i] = x[i] * 2 + 1000 / divisor[k + i];
  }
}

/* The same with a number of turns that is known before them. */
COMPUTE static void counted(int n, const int *length, const int *back, const int *divisor, const double *x, double *out)
{
  for (int i = 0; i < n; i++) { /* loop counted */
    int k = FAR;
    for (int j = 0; j < length[i]; j++)
      k -= back[j + 1];
    out[k + i] = out[k + i] * 0.5 + x[i] + 1000 / divisor[k + i];
  }
}

/* What the loop has come to says where the next one begins, whose loads lanes make for each other. */
enum { LENGTH = 40 };

COMPUTE static void behind(int n, const int *start, const int *next, const int *back, const int *few, const double *x, const double *y, double *out)
{
  for (int i = 0; i < n; i++) { /* loop behind */
    int k = FAR, j = start[i];
    while (j != 0) {
      k -= back[j];
      j = next[j];
    }
    double sum = x[i];
    for (int m = 0; m < few[i]; m++)
      sum += y[k + i + m];
    out[i] = sum;
  }
}

/* The same of turns that lanes take side by side, whosever they are. */
COMPUTE static void aside(int n, const int *start, const int *next, const int *back, const int *few, const double *x, double *wide)
{
  for (int i = 0; i < n; i++) { /* loop aside */
    int k = FAR, j = start[i];
    while (j != 0) {
      k -= back[j];
      j = next[j];
    }
    for (int m = 0; m < few[i]; m++)
      wide[k + i * LENGTH + m] += x[i];
  }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "nan", NULL};
  struct check check = check_open(argc, argv, 20000, inputs);
  int n = (int)check.size, turns = TURNS;
  int *start = check_alloc(&check, check.size, sizeof *start);
  int *length = check_alloc(&check, check.size, sizeof *length);
  int *next = check_alloc(&check, TURNS + 1, sizeof *next);
  int *back = check_alloc(&check, TURNS + 1, sizeof *back);
  int *divisor = check_alloc(&check, check.size, sizeof *divisor);
  int *few = check_alloc(&check, check.size, sizeof *few);
  double *y = check_alloc(&check, check.size + LENGTH, sizeof *y);
  double *sums = check_alloc(&check, check.size, sizeof *sums), *wide = check_alloc(&check, LENGTH * check.size, sizeof *wide);
  double *x = check_alloc(&check, check.size, sizeof *x);
  double *out = check_alloc(&check, check.size, sizeof *out);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_double(&check, x, check.size);
    fill_double(&check, out, check.size);
    fill_double(&check, wide, LENGTH * check.size);
    fill_double(&check, y, check.size + LENGTH);
    /* A list whose last member leads back into the array: one iteration begins there, all others far before it. */
    for (int j = 1; j <= turns; j++) {
      next[j] = j == turns ? 0 : j + 1;
      back[j] = j == turns ? FAR : 0;
    }
    for (int i = 0; i < n; i++) {
      start[i] = i % 64 == 0 ? turns : 1 + i % 7;
      length[i] = turns;
      divisor[i] = 1 + i % 5;
      few[i] = LENGTH;
    }
    check_start(&check);
    for (int entry = 0; entry < 5; entry++) {
      /* In the middle: what lies near the ends of arrays may be remembered with the neighbouring one, and then all is looked at anew. */
      if (check_is(&check, "nan") && entry == 4)
        x[n / 128 * 64] = (x[1] - x[1]) / (x[1] - x[1]);
      walked(n, start, next, back, divisor, x, out);
      counted(n, length, back, divisor, x, out);
      behind(n, start, next, back, few, x, y, sums);
      aside(n, start, next, back, few, x, wide);
    }
    check_stop(&check);
    check_array(&check, "out", out, check.size, sizeof *out);
    check_array(&check, "sums", sums, check.size, sizeof *sums);
    check_array(&check, "wide", wide, LENGTH * check.size, sizeof *wide);
  }
  free(start);
  free(length);
  free(next);
  free(back);
  free(divisor);
  free(few);
  free(y);
  free(sums);
  free(wide);
  free(x);
  free(out);
  return check_close(&check);
}
