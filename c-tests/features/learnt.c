/* Loops that are entered again and again: what an inspection has found, or what logs have shown, holds as long as what
 * decides the addresses does, and no longer. Where it is taken for more than that, chains are torn apart: the results show.
 *
 * test size: 6007
 * expect chain: runs on clean
 * expect two_steps: runs on clean
 * expect decided: runs on clean
 * expect masked: runs on clean
 * expect beside: runs on clean
 * expect apart: runs on clean
 * expect own: runs on clean
 * expect windows: runs on clean
 * expect longer: runs on clean
 * expect limited: runs on clean
 * expect tiny: runs in place on clean */
#include "../support/inputs.h"

/* Each store needs the one before at the same place. */
COMPUTE static void chain(int n, const int *index, const double *a, double *out)
{
  for (int i = 0; i < n; i++) /* loop chain */
    out[index[i]] = out[index[i]] * 0.5 + a[i];
}

/* Where the second step leads, the first one decides. */
COMPUTE static void two_steps(int n, const int *first, const int *second, const double *a, double *out)
{
  for (int i = 0; i < n; i++) /* loop two_steps */
    out[second[first[i]]] = out[second[first[i]]] * 0.5 + a[i];
}

/* A value decides whether there is a store at all. */
COMPUTE static void decided(int n, const int *index, const float *limit, const double *a, double *out)
{
  for (int i = 0; i < n; i++) /* loop decided */
    if (limit[i] > 0.5f)
      out[index[i]] = out[index[i]] * 0.5 + a[i];
}

/* So does a number. */
COMPUTE static void masked(int n, int mask, const int *index, const double *a, double *out)
{
  for (int i = 0; i < n; i++) /* loop masked */
    out[index[i] & mask] = out[index[i] & mask] * 0.5 + a[i];
}

/* The loop stores itself what decides. */
COMPUTE static void own(int n, const int *index, int *place, const double *a, double *out)
{
  for (int i = 0; i < n; i++) { /* loop own */
    place[i] = index[i];
    out[place[i]] = out[place[i]] * 0.5 + a[i];
  }
}

/* Bounds come out of memory, and so does a number that isn't an array's. */
COMPUTE static void windows(int n, const int *begin, const int *shift, const double *a, double *out)
{
  for (int i = 0; i < n; i++) /* loop windows */
    for (int j = begin[i]; j < begin[i + 1]; j++)
      out[j + *shift * (i & 1)] = out[j + *shift * (i & 1)] * 0.5 + a[i];
}

/* More iterations, of which the last ones come to where the first ones were. */
COMPUTE static void longer(int n, const int *index, const double *a, double *out)
{
  for (int i = 0; i < n; i++) /* loop longer */
    out[index[i]] = out[index[i]] * 0.5 + a[i];
}

/* The bound is the same number, but where it stands now the loop stores to. */
COMPUTE static void limited(const int *limit, const int *index, int *out)
{
  for (int i = 0; i < *limit; i++) /* loop limited */
    out[index[i]] = i;
}

/* Whether a number that is nearly zero is one depends on the processor's mode. */
COMPUTE static void tiny(int n, const int *index, const float *small, const double *a, double *out)
{
  for (int i = 0; i < n; i++) /* loop tiny */
    if (small[i] > 0.0f)
      out[index[i]] = out[index[i]] * 0.5 + a[i];
}

static void flush_tiny(int on)
{
#if defined(__x86_64__)
  const unsigned mode = __builtin_ia32_stmxcsr(), flags = 0x8040u;
  __builtin_ia32_ldmxcsr(on ? mode | flags : mode & ~flags);
#else
  (void)on;
#endif
}

/* What stores elsewhere each time has no part in it: where the arrays are known to be different, nobody asks. */
enum { MOST = 1 << 13 };
static double table[6][MOST], spread[MOST], source[MOST];
static int spot[MOST];

COMPUTE static void beside(int row, int n)
{
  for (int i = 0; i < n; i++) { /* loop beside */
    table[row][i] = source[i];
    spread[spot[i]] = spread[spot[i]] * 0.5 + source[i];
  }
}

/* The same in rows of a matrix that nobody loads: what an earlier entry has stored is in the middle of what a later one may. */
enum { ROWS = 30, COLUMNS = 1000 };
static double wide[4 * ROWS][COLUMNS];
static int spots[ROWS][100];

COMPUTE static void apart(int first, int second)
{
  for (int i = 0; i < ROWS; i++) /* loop apart */
    for (int j = 0; j < 100; j++) {
      wide[i + first][j] = source[j] + i;
      wide[i + second][500 + j] = source[j] - i;
      spread[spots[i][j]] = spread[spots[i][j]] * 0.5 + source[j];
    }
}

/* What decides: as it was, or so that all iterations, or some, come to a few places. */
static void decide(int n, const int *permutation, int changed, int some, int *index, float *limit, int *shift)
{
  for (int i = 0; i < n; i++) {
    int hit = changed && (!some || i % 97 == 5);
    index[i] = hit ? permutation[i] % 7 : permutation[i];
    limit[i] = hit || i % 3 == 0 ? 0.75f : 0.25f;
  }
  *shift = changed ? 2 : 2 * n;
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "changed", "some", "back", NULL};
  struct check check = check_open(argc, argv, 20000, inputs);
  int n = (int)check.size;
  int *permutation = check_alloc(&check, check.size, sizeof *permutation);
  int *index = check_alloc(&check, check.size, sizeof *index);
  int *second = check_alloc(&check, check.size, sizeof *second);
  int *place = check_alloc(&check, check.size, sizeof *place);
  int *begin = check_alloc(&check, check.size + 1, sizeof *begin);
  int *shift = check_alloc(&check, check.size, sizeof *shift);
  float *limit = check_alloc(&check, check.size, sizeof *limit);
  double *a = check_alloc(&check, check.size, sizeof *a);
  double *out = check_alloc(&check, 5 * check.size, sizeof *out);
  int *halves = check_alloc(&check, check.size, sizeof *halves), *bound = check_alloc(&check, 16384, sizeof *bound);
  int *numbers = check_alloc(&check, check.size, sizeof *numbers);
  float *small = check_alloc(&check, check.size, sizeof *small);
  double *more = check_alloc(&check, 2 * check.size, sizeof *more);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_double(&check, a, check.size);
    fill_double(&check, out, 5 * check.size);
    permute(&check, permutation, check.size);
    permute(&check, second, check.size);
    for (int i = 0; i <= n; i++)
      begin[i] = 2 * i;
    fill_double(&check, more, 2 * check.size);
    for (int i = 0; i < n; i++) {
      halves[i] = permutation[i < n / 2 ? i : i - n / 2];
      small[i] = i % 3 == 0 ? 1.0f : 1e-40f;
    }
    memcpy(source, a, sizeof *a * (size_t)(n < MOST ? n : MOST));
    memset(table, 0, sizeof table);
    memset(spread, 0, sizeof spread);
    memset(wide, 0, sizeof wide);
    check_start(&check);
    for (int entry = 0; entry < 6; entry++) {
      int changed = !check_is(&check, "clean") && (entry == 3 || (entry > 3 && !check_is(&check, "back")));
      decide(n, permutation, changed, check_is(&check, "some"), index, limit, shift);
      chain(n, index, a, out);
      two_steps(n, index, second, a, out);
      decided(n, index, limit, a, out);
      windows(n, begin, shift, a, out);
      masked(n, changed ? 63 : 0xffff, second, a, out);
      for (int i = 0; i < n && i < MOST; i++)
        spot[i] = (changed ? second[i] % 7 : i) % MOST;
      beside(entry, n < MOST ? n : MOST);
      for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < 100; j++)
          spots[i][j] = (changed ? i * j : i * 100 + j) % MOST;
      apart(entry < 2 ? ROWS : 2 * ROWS, 0);
      for (int j = 0; j < COLUMNS; j++)
        wide[ROWS + entry][j] += entry;
      own(n, index, place, a, out + 4 * n);
      longer(changed ? n : n / 2, halves, a, more);
      bound[0] = n;
      for (int i = 0; i < n; i++)
        numbers[i] = n;
      limited(changed ? numbers + permutation[n / 2] : bound, permutation, numbers);
      check_array(&check, "numbers", numbers, check.size, sizeof *numbers);
      /* Where it counts, two out of three come to what others come to, too. */
      for (int i = 0; i < n; i++)
        place[i] = i % 3 == 0 ? permutation[i] : permutation[i - i % 3];
      flush_tiny(!changed);
      tiny(n, place, small, a, more + n);
      flush_tiny(0);
    }
    check_stop(&check);
    check_array(&check, "out", out, 5 * check.size, sizeof *out);
    check_array(&check, "more", more, 2 * check.size, sizeof *more);
    check_array(&check, "place", place, check.size, sizeof *place);
    check_array(&check, "table", table, 6 * MOST, sizeof **table);
    check_array(&check, "spread", spread, MOST, sizeof *spread);
    check_array(&check, "wide", wide, (size_t)4 * ROWS * COLUMNS, sizeof **wide);
  }
  free(permutation);
  free(index);
  free(second);
  free(place);
  free(begin);
  free(shift);
  free(limit);
  free(a);
  free(out);
  free(halves);
  free(bound);
  free(numbers);
  free(small);
  free(more);
  return check_close(&check);
}
