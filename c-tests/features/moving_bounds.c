/* Loops whose bound or base lies in memory that the loop itself changes through an index: a bucket that grows while it is
 * read, a work list that its own elements extend, a length that an element's store shortens, a base that is moved.
 *
 * test size: 2003
 * expect shorten: runs on clean
 * expect move: runs on clean */
#include "../support/inputs.h"

enum { BUCKETS = 64 };

/* The elements behind the start of the first bucket grow with the loop. */
COMPUTE static int synthesise(int n, int *start, const unsigned char *key, unsigned *slot)
{
  int seen = 0;
  for (int j = 0; j < start[0]; j++) {
    unsigned k = slot[j] + 1u;
    if (k < (unsigned)n && key[k] < BUCKETS)
      slot[start[key[k]]++] = k;
    seen++;
  }
  return seen;
}

COMPUTE static int shorten(int *length, const int *index, int *value)
{
  int i;
  for (i = 0; i < *length; i++) /* loop shorten */
    value[index[i]] = i;
  return i;
}

struct list {
  int count;
  int *item;
};

COMPUTE static void extend(struct list *list, const int *next)
{
  for (int i = 0; i < list->count; i++) {
    int follower = next[list->item[i]];
    if (follower >= 0)
      list->item[list->count++] = follower;
  }
}

COMPUTE static void move_base(int n, int **rows, const int *index, int **where)
{
  for (int i = 0; i < n; i++) { /* loop move */
    rows[0][i] = i;
    where[index[i]] = rows[1] + i;
  }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "raw", NULL};
  struct check check = check_open(argc, argv, 1u << 20, inputs);
  int n = (int)check.size, moves = check_is(&check, "raw");
  size_t size = (size_t)n;
  unsigned char *key = check_alloc(&check, size, sizeof *key);
  unsigned *slot = check_alloc(&check, 4 * size, sizeof *slot);
  int *value = check_alloc(&check, 4 * size, sizeof *value);
  int *index = check_alloc(&check, size, sizeof *index);
  int *next = check_alloc(&check, size, sizeof *next);
  int **rows = check_alloc(&check, size + 2, sizeof *rows);

  for (int r = 0; r < check.repeat; r++) {
    int start[BUCKETS];
    check_begin(&check);
    for (int i = 0; i < n; i++) {
      key[i] = (unsigned char)(moves ? check_below(&check, BUCKETS) : 1 + check_below(&check, BUCKETS - 1));
      value[i] = (int)check_below(&check, 1000);
      next[i] = moves && i % 3 == 0 && i + 1 < n ? i + 1 : -1;
    }
    for (size_t i = 0; i < 4 * size; i++)
      slot[i] = (unsigned)(i % size);
    for (int b = 0; b < BUCKETS; b++)
      start[b] = b == 0 ? n / 4 : n + b * (2 * n / BUCKETS);
    permute(&check, index, size);
    check_start(&check);
    int seen = synthesise(n, start, key, slot);
    value[3 * n] = n;
    index[n / 2] = moves ? 3 * n : index[n / 2];
    int reached = shorten(&value[3 * n], index, value);
    index[n / 2] = 0;
    struct list list = {n / 2, value + n};
    for (int i = 0; i < n / 2; i++)
      list.item[i] = (i * 7) % n;
    extend(&list, next);
    rows[0] = value + 2 * n;
    rows[1] = value + 2 * n + n / 2;
    for (int i = 0; i < n; i++)
      index[i] = moves && i == n / 3 ? 0 : i % (n / 2) + 2;
    move_base(n / 3 + n / 6, rows, index, rows);
    check_stop(&check);
    printf("seen %d, reached %d, listed %d, moved %td\n", seen, reached, list.count, rows[0] - value);
    check_array(&check, "slot", slot, 4 * size, sizeof *slot);
    check_array(&check, "value", value, 4 * size, sizeof *value);
  }
  free(key);
  free(slot);
  free(value);
  free(index);
  free(next);
  free(rows);
  return check_close(&check);
}
