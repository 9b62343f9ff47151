/* Loops whose iterations are independent by proof or by where their arrays lie, and whose addresses aren't affine all the same. What decides these
 * addresses changes between entries, in turn each part of it; where nothing of it has changed since an entry that was checked, a GPU doesn't check again.
 *
 * test size: 9001
 * expect gathered: unchecked on clean
 * expect named: unchecked on clean
 * expect clamped: unchecked on clean
 * expect edged: unchecked on clean
 * expect masked: unchecked on clean
 * expect rows: unchecked on clean
 * expect grown: unchecked on clean */
#include "../support/inputs.h"

enum { MOST = 40000 };
static double in[MOST], out[MOST];
static int places[MOST];

COMPUTE static void gathered(int n, const int *place, const double *x, double scale, double *y)
{
  for (int i = 0; i < n; i++) /* loop gathered */
    y[i] = scale * x[place[i]];
}

COMPUTE static void named(int n, int shift)
{
  for (int i = 0; i < n; i++) /* loop named */
    out[i] = in[places[i] + shift];
}

/* Nothing in memory decides. */
COMPUTE static void clamped(int n, int by, int most, const double *x, double *y)
{
  for (int i = 0; i < n; i++) { /* loop clamped */
    int k = i * by;
    y[i] = x[k > most ? most : k] + x[k < by ? 0 : k - by > most ? most : k - by];
  }
}

COMPUTE static void edged(int n, int most)
{
  for (int i = 0; i < n; i++) /* loop edged */
    out[i] = in[i > most ? most : i];
}

/* Places behind the mask may be anything. */
COMPUTE static void masked(int n, const int *mask, const int *place, const double *x, double *y)
{
  for (int i = 0; i < n; i++) /* loop masked */
    if (mask[i])
      y[i] = x[place[i]];
}

COMPUTE static void rows(int n, const int *start, const double *x, double *y)
{
  for (int i = 0; i < n; i++) { /* loop rows */
    double sum = 0;
    for (int k = start[i]; k < start[i + 1]; k++)
      sum += x[k];
    y[i] = sum;
  }
}

/* Of `x` only the first half is known to be there. */
COMPUTE static void grown(int n, const int *mask, const int *place, int shift, const double *x, double *y)
{
  for (int i = 0; i < n; i++) /* loop grown */
    if (mask[i])
      y[i] = x[place[i] + shift];
}

/* The same, and it stores to what decides. */
COMPUTE static void renamed(int n, const int *next, const double *x)
{
  for (int i = 0; i < n; i++) { /* loop renamed */
    places[i] = next[i];
    out[i] = x[places[i]];
  }
}

static void *(*volatile again)(void *, size_t) = realloc;

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", NULL};
  struct check check = check_open(argc, argv, 20000, inputs);
  int n = (int)check.size;
  size_t count = check.size;
  int *place = check_alloc(&check, 4 * count, sizeof *place), *mask = check_alloc(&check, 4 * count, sizeof *mask);
  int *start = check_alloc(&check, 4 * count, sizeof *start);
  double *x = check_alloc(&check, 4 * count, sizeof *x), *y = check_alloc(&check, 4 * count, sizeof *y);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_double(&check, x, 4 * count);
    for (int i = 0; i < n; i++) {
      in[i] = x[i];
      places[i] = place[i] = (int)((unsigned)i * 7919u % (unsigned)n);
      mask[i] = 1;
      start[i] = i * 3 + i % 2;
    }
    for (int i = n; i < MOST; i++)
      in[i] = i;
    start[n] = 3 * n;
    check_start(&check);
    /* Three entries with the same, and one with something else each time. */
    for (int round = 0; round < 24; round++) {
      int change = round % 4 == 3 ? 1 + round / 4 : 0;
      if (change == 1) {
        place[n / 2]++;
        places[n / 3]++;
        start[n / 2]++;
      } else if (change == 2) {
        place[n / 4] = 4 * n - 1;
        places[n / 4] = MOST - 8;
        start[n] = 4 * n - 1;
      } else if (change == 3) {
        mask[n / 5] = 0;
        place[n / 5] = 1 << 30;
      }
      int far = change == 3 ? n / 5 : n;
      gathered(far, place, x, round, y);
      check_array(&check, "gathered", y, count, sizeof *y);
      named(change == 4 ? n - 1 : n, change == 5 ? 3 : 0);
      check_array(&check, "named", out, count, sizeof *out);
      clamped(n, change == 5 ? 2 : 1, change == 4 ? n / 2 : n - 1, change == 6 ? x + 5 : x, y);
      check_array(&check, "clamped", y, count, sizeof *y);
      edged(change == 5 ? n - 2 : n, change == 4 ? n - 20 : n - 10);
      check_array(&check, "edged", out, count, sizeof *out);
      masked(n, mask, place, x, change == 6 ? y + n : y);
      check_array(&check, "masked", y, 2 * count, sizeof *y);
      if (change == 3)
        place[n / 5] = 0;
      rows(n, start, change == 6 ? x : x + 1, y);
      check_array(&check, "rows", y, count, sizeof *y);
    }
    /* Nobody sees that it grows, and it does so where it is: if not at once, then where one that moved has left room. */
    double *whole = NULL;
    void *holes[20];
    int filled = 0;
    for (int tries = 0; tries < 20; tries++) {
      free(whole);
      double *half = malloc(count * sizeof *half);
      const uintptr_t place_of_half = (uintptr_t)half;
      whole = half == NULL ? NULL : again(half, 2 * count * sizeof *half);
      if (whole == NULL)
        return 1;
      if ((uintptr_t)whole == place_of_half)
        break;
      /* The next one isn't to lie where this one could not grow. */
      holes[filled++] = malloc(count * sizeof *half);
    }
    memcpy(whole, x, 2 * count * sizeof *whole);
    for (int i = 0; i < n; i++) {
      place[i] = (int)((unsigned)i * 7919u % (unsigned)n);
      mask[i] = 1;
    }
    place[n / 2] = n + n / 2;
    for (int round = 0; round < 12; round++) {
      mask[n / 2] = round % 4 == 3;
      place[n / 3] = round == 6 ? n + 1 : 0;
      grown(n, mask, place, round == 9 ? n / 2 - 1 : 0, whole, y);
      check_array(&check, "grown", y, count, sizeof *y);
    }
    place[n / 2] = 0;
    for (int round = 0; round < 8; round++) {
      memset(places, 0, sizeof places);
      place[n / 3] = round % 4 == 3 ? n + 1 : 0;
      renamed(n, place, whole);
      check_array(&check, "renamed", out, count, sizeof *out);
    }
    free(whole);
    while (filled != 0)
      free(holes[--filled]);
    check_stop(&check);
  }
  free(place);
  free(mask);
  free(start);
  free(x);
  free(y);
  return check_close(&check);
}
