/* Loops whose addresses are found out before they run: what is touched depends on memory, through index arrays, row pointers,
 * conditions and inner loops; and on memory that changes between two entries, or by the loop itself.
 *
 * test size: 801
 * expect scatter: runs on clean
 * expect scatter: conflicts on twice changed
 * expect rows: runs on clean
 * expect rows: conflicts on shared
 * expect compressed: runs on clean
 * expect compressed: conflicts on overlapping
 * expect own: runs on clean
 * expect own: conflicts on twice
 * expect alone: conflicts on twice
 * expect picked: runs on clean
 * expect picked: conflicts on twice
 * expect guarded: runs on clean
 * expect guarded: conflicts on twice
 * expect narrow: runs on clean
 * expect narrow: conflicts on twice */
#include "../support/inputs.h"

struct item {
  short kind;
  int place;
};

/* An index array, a value that decides whether there is a store, and arithmetic that has no part in it. */
COMPUTE static void scatter(int n, const int *index, const double *a, double *out, double factor)
{
  for (int i = 0; i < n; i++) { /* loop scatter */
    double value = a[i] * factor;
    for (int k = 0; k < 3; k++)
      value = value * 0.5 + a[i];
    out[index[i]] = value;
  }
}

/* Row pointers: two rows may be one. */
COMPUTE static void rows(int n, int m, double **row, const double *a)
{
  for (int i = 0; i < n; i++) { /* loop rows */
    double *r = row[i];
    for (int j = 0; j < m; j++)
      r[j] = r[j] * 0.5 + a[j];
  }
}

/* Segments of one array, as sparse matrices have them. */
COMPUTE static void compressed(int n, const int *begin, const int *end, const double *a, double *out)
{
  for (int i = 0; i < n; i++) /* loop compressed */
    for (int j = begin[i]; j < end[i]; j++)
      out[j] = out[j] + a[i];
}

/* What decides is stored by the same iteration: nobody knows before, and only logs can tell. */
COMPUTE static void own(int n, const int *index, int *place, double *out)
{
  for (int i = 0; i < n; i++) { /* loop own */
    place[i] = (index[i] * 7) % n;
    out[place[i]] = i;
  }
}

/* The same in arrays that nothing else can be: no other iteration meets the store that decides. */
enum { MOST = 1 << 16 };
static int spot[MOST];
static double kept[MOST];

COMPUTE static void alone(int n, int period)
{
  for (int i = 0; i < n; i++) { /* loop alone */
    spot[i] = (i * 7) % period;
    kept[spot[i]] = i;
  }
}

/* Whether there is a store, only memory knows. */
COMPUTE static void picked(int n, const struct item *items, double *out)
{
  for (int i = 0; i < n; i++) /* loop picked */
    if (items[i].kind > 0)
      out[items[i].place] = i;
}

/* What decides is stored by an earlier iteration. */
COMPUTE static void ahead(int n, int *index, double *out)
{
  for (int i = 0; i < n - 1; i++) {
    out[index[i]] = i;
    index[i + 1] = (index[i] + 1) % n;
  }
}

/* Structs, conditions, early exits of inner loops. */
COMPUTE static void guarded(int n, const struct item *items, const double *a, double *out)
{
  for (int i = 0; i < n; i++) { /* loop guarded */
    if (items[i].kind < 0)
      continue;
    int k = 0;
    while (k < 8) {
      if (items[i].kind == k)
        break;
      k++;
    }
    out[items[i].place] = a[i] + (k < 8 && items[i].kind != 3 ? out[items[i].place] : -1.0) + k;
  }
}

/* Bytes that are parts of words. */
COMPUTE static void narrow(int n, const int *index, unsigned char *bytes, unsigned *words)
{
  for (int i = 0; i < n; i++) { /* loop narrow */
    bytes[index[i]] = (unsigned char)i;
    words[i] = words[i] + 3u;
  }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "twice", "changed", "shared", "overlapping", NULL};
  struct check check = check_open(argc, argv, 4000, inputs);
  int n = (int)check.size, m = 40;
  int *index = check_alloc(&check, check.size, sizeof *index);
  int *place = check_alloc(&check, check.size, sizeof *place);
  int *begin = check_alloc(&check, check.size, sizeof *begin);
  int *end = check_alloc(&check, check.size, sizeof *end);
  struct item *items = check_alloc(&check, check.size, sizeof *items);
  double *a = check_alloc(&check, check.size, sizeof *a);
  double *out = check_alloc(&check, 4 * check.size, sizeof *out);
  double *matrix = check_alloc(&check, check.size * (size_t)m, sizeof *matrix);
  double **row = check_alloc(&check, check.size, sizeof *row);
  unsigned *words = check_alloc(&check, 3 * check.size, sizeof *words);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_double(&check, a, check.size);
    fill_double(&check, out, 4 * check.size);
    fill_double(&check, matrix, check.size * (size_t)m);
    permute(&check, index, check.size);
    permute(&check, place, check.size);
    memset(words, 1, 3 * check.size * sizeof *words);
    for (int i = 0; i < n; i++) {
      begin[i] = 4 * i;
      end[i] = 4 * i + 4;
      row[i] = matrix + (size_t)place[i] * (size_t)m;
      items[i] = (struct item){(short)((i * 5) % 11 - 2), place[i]};
    }
    if (check_is(&check, "twice")) {
      index[n - 1] = index[n / 2];
      items[n - 1] = (struct item){1, items[n / 2].place};
      items[n / 2].kind = 2;
      place[n - 1] = place[n / 2];
    }
    if (check_is(&check, "shared"))
      row[n / 3] = row[n - 2] + m / 2;
    if (check_is(&check, "overlapping"))
      end[n / 2] += 1;
    check_start(&check);
    scatter(n, index, a, out, 0.25);
    /* The same arrays and numbers again: only the content of the index array may have changed. */
    if (check_is(&check, "changed"))
      index[n / 4] = index[n - 1];
    scatter(n, index, a, out, 0.75);
    index[1] = index[1] + 0;
    scatter(n, index, a, out, 0.5);
    rows(n, m, row, a);
    rows(n, m, row, a);
    compressed(n, begin, end, a, out);
    guarded(n, items, a, out);
    narrow(n, index, (unsigned char *)(words + n), words + n / 2);
    narrow(n, index, (unsigned char *)(words + n), words + 2 * n);
    own(n, place, begin, out);
    for (int i = 0; i < MOST; i++)
      spot[i] = i;
    memset(kept, 0, sizeof kept);
    alone(n, check_is(&check, "twice") ? n / 2 : MOST);
    picked(n, items, out);
    ahead(n, index, out);
    check_stop(&check);
    check_array(&check, "out", out, 4 * check.size, sizeof *out);
    check_array(&check, "matrix", matrix, check.size * (size_t)m, sizeof *matrix);
    check_array(&check, "words", words, 3 * check.size, sizeof *words);
    check_array(&check, "kept", kept, MOST, sizeof *kept);
    check_array(&check, "index", index, check.size, sizeof *index);
  }
  free(index);
  free(place);
  free(begin);
  free(end);
  free(items);
  free(a);
  free(out);
  free(matrix);
  free(row);
  free(words);
  return check_close(&check);
}
