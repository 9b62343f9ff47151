/* Stores whose places an entry knows, which a bitmap has from there: of the inside of a matrix, and of planes of one; beside stores that iterations note
 * themselves, of the same width and of a narrower one; in place, where loads find what their own iteration stores or, on `raw`, what the row before has;
 * and two of them, whose rows lie on each other on `waw`; and, where nothing can conflict, beside a store under a condition, whose cells have marks. Short rows are noted all the same, and stores under a condition. What isn't stored keeps what was there, though no loop reads it.
 * On `raw` iterations load what others store, on `waw` they store where others do, on `one` one of them does either.
 *
 * test size: 803
 * bitmaps
 * expect inside: runs on clean
 * expect inside: conflicts on raw one
 * expect planes: runs on clean
 * expect planes: conflicts on raw one
 * expect beside: runs on clean
 * expect beside: conflicts on waw one
 * expect narrow: runs on clean
 * expect narrow: conflicts on waw one
 * expect brief: runs on clean
 * expect brief: conflicts on raw one
 * expect own: conflicts on raw
 * expect pairs: runs on clean raw one
 * expect pairs: conflicts on waw
 * expect some: runs on clean
 * expect marked: runs on clean raw waw one */
#include "../support/inputs.h"

enum { WIDE = 71, BRIEF = 40, APART = 48 };

COMPUTE static void inside(int rows, const int *index, const double *from, double *to)
{
  for (int i = 1; i < rows - 1; i++) /* loop inside */
    for (int j = 1; j < WIDE - 1; j++)
      to[i * WIDE + j] = 0.5 * from[index[i * WIDE + j]];
}

COMPUTE static void planes(int deep, const int *index, const float *from, float *to)
{
  for (int k = 1; k < deep - 1; k++) /* loop planes */
    for (int i = 1; i < 4; i++)
      for (int j = 2; j < WIDE; j++)
        to[(k * 5 + i) * WIDE + j] = 0.5f * from[index[(k * 5 + i) * WIDE + j]];
}

COMPUTE static void beside(int n, const int *index, const double *a, double *to, double *other)
{
  for (int i = 0; i < n; i++) { /* loop beside */
    to[i] = a[i];
    other[index[i]] = -a[i];
  }
}

COMPUTE static void narrow(int n, const int *index, const double *a, int *to, signed char *other)
{
  for (int i = 0; i < n; i++) { /* loop narrow */
    to[i] = a[i] < 0.0 ? -i : i;
    other[index[i]] = (signed char)i;
  }
}

COMPUTE static void brief(int rows, const int *index, const double *from, double *to)
{
  for (int i = 0; i < rows; i++) /* loop brief */
    for (int j = 0; j < BRIEF; j++)
      to[i * APART + j] = 0.25 * from[index[i * APART + j]];
}

COMPUTE static void own(int rows, const double *from, double by, const double *a, double *to)
{
  for (int i = 0; i < rows; i++) /* loop own */
    for (int j = 0; j < WIDE - 1; j++)
      to[i * WIDE + j] = from[i * WIDE + j] + by * a[j];
}

COMPUTE static void pairs(int rows, const double *a, double *to, double *other)
{
  for (int i = 0; i < rows; i++) /* loop pairs */
    for (int j = 0; j < WIDE - 1; j++) {
      to[i * WIDE + j] = a[j];
      other[i * WIDE + j] = -a[j];
    }
}

COMPUTE static void some(int n, const double *a, double *to)
{
  for (int i = 0; i < n; i++) /* loop some */
    if (a[i] > 0.0)
      to[i] = -a[i];
}

/* Static arrays are different ones: nobody asks who meets whom, only what was stored. */
static double certain[2 * 4096], doubtful[2 * 4096];

COMPUTE static void marked(int n, const double *a)
{
  for (int i = 0; i < n; i++) { /* loop marked */
    certain[i + 5] = -a[i];
    if (a[i] > 0.0)
      doubtful[i + 3] = a[i];
  }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "raw", "waw", "one", NULL};
  struct check check = check_open(argc, argv, 4003, inputs);
  size_t n = check.size, rows = n / WIDE + 3, all = 5 * WIDE * rows > 4 * n ? 5 * WIDE * rows : 4 * n;
  int *index = check_alloc(&check, all, sizeof *index), *permuted = check_alloc(&check, n, sizeof *permuted);
  double *a = check_alloc(&check, n, sizeof *a);
  double *x = check_alloc(&check, 2 * all, sizeof *x), *y = check_alloc(&check, 2 * all, sizeof *y), *z = check_alloc(&check, 2 * all, sizeof *z);
  float *f = check_alloc(&check, 2 * all, sizeof *f);
  int *numbers = check_alloc(&check, 2 * n, sizeof *numbers);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_double(&check, a, n);
    fill_double(&check, x, 2 * all);
    fill_double(&check, y, 2 * all);
    fill_double(&check, z, 2 * all);
    fill_float(&check, f, 2 * all);
    for (size_t i = 0; i < 2 * n; i++)
      numbers[i] = (int)i;
    /* What is loaded lies behind all that is stored. */
    for (size_t i = 0; i < all; i++)
      index[i] = (int)(all + check_below(&check, all));
    permute(&check, permuted, n);
    struct couple couple = pick_couple(&check, n);
    /* A place inside of the matrix and of the planes, which the loops come to later than to its neighbour, and which two threads have. */
    size_t late = WIDE + 3 + check_below(&check, WIDE - 5), early = late - 1;
    if (check_is(&check, "raw"))
      for (size_t i = 1; i < all; i++)
        index[i] = (int)(i - 1);
    if (check_is(&check, "one"))
      index[5 * WIDE + late] = (int)(5 * WIDE + early), index[late] = (int)early;
    check_start(&check);
    inside((int)rows, index, x, x);
    planes((int)rows, index, f, f);
    check_stop(&check);
    check_array(&check, "x", x, 2 * all, sizeof *x);
    check_array(&check, "f", f, 2 * all, sizeof *f);
    if (check_is(&check, "waw"))
      for (size_t i = 0; i < n; i++)
        permuted[i] = permuted[i] / 2 - (int)(n / 2);
    if (check_is(&check, "one"))
      permuted[couple.second] = -1;
    check_start(&check);
    beside((int)n, permuted, a, z, z + n);
    narrow((int)n, permuted, a, numbers, (signed char *)(numbers + n));
    check_stop(&check);
    /* In rows of their own. */
    size_t briefly = n / BRIEF + 1, first = APART * (couple.first / BRIEF) + couple.first % BRIEF;
    for (size_t i = 0; i < briefly * APART; i++)
      index[i] = (int)(all + check_below(&check, all));
    if (check_is(&check, "raw"))
      for (size_t i = 1; i < briefly * APART; i++)
        index[i] = (int)(i - 1);
    if (check_is(&check, "one"))
      index[APART * (couple.second / BRIEF) + couple.second % BRIEF] = (int)first;
    check_start(&check);
    brief((int)briefly, index, x, x);
    own((int)rows, check_is(&check, "raw") ? y : y + WIDE, 0.5, a, y + WIDE);
    pairs((int)rows, a, z, check_is(&check, "waw") ? z + 3 * WIDE + 7 : z + all);
    some((int)n, a, y + all);
    check_stop(&check);
    for (size_t i = 0; i < 2 * 4096; i++)
      certain[i] = doubtful[i] = (double)i;
    marked((int)(n < 4096 ? n : 4096), a);
    check_array(&check, "certain", certain, 2 * 4096, sizeof *certain);
    check_array(&check, "doubtful", doubtful, 2 * 4096, sizeof *doubtful);
    check_array(&check, "brief", x, 2 * all, sizeof *x);
    check_array(&check, "y", y, 2 * all, sizeof *y);
    check_array(&check, "z", z, 2 * all, sizeof *z);
    check_array(&check, "numbers", numbers, 2 * n, sizeof *numbers);
  }
  free(numbers);
  free(f);
  free(z);
  free(y);
  free(x);
  free(a);
  free(permuted);
  free(index);
  return check_close(&check);
}
