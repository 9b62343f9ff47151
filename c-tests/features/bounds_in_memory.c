/* Loop bounds, factors and base pointers that live in memory which the loop may store to. `raw` lets a store hit them:
 * the bound shrinks, the factor changes, the rows' lengths change, in the middle of the loop.
 *
 * test size: 1003 */
#include "../support/inputs.h"

enum { LIMIT = 40, SCALE = 77, SLOTS = 4096 };

int world[SLOTS];
static int plain_limit;
int *global_base;

struct table {
  int count;
  int *data;
  int *values;
};

COMPUTE static void to_global_limit(int *a)
{
  for (int i = 0; i < world[LIMIT]; i++) /* loop global */
    a[i] = i % 7 == 5 ? 100 : i + 3;
}

COMPUTE static void to_plain_limit(int *a)
{
  for (int i = 0; i < plain_limit; ++i) /* loop plain */
    a[i] -= i;
}

COMPUTE static void by_global_scale(int n, int *a)
{
  for (int i = 0; i < n; i++) /* loop scaled */
    a[i] = a[i] * world[SCALE] + i;
}

COMPUTE static void through_global_base(int n, const int *in)
{
  for (int i = 0; i < n; i++) /* loop base */
    global_base[i] = in[i] + 1;
}

COMPUTE static void through_struct(struct table *t)
{
  for (int i = 0; i < t->count; i++) /* loop struct */
    t->values[i] = (t->data[i] & 0xffff) * 2 + 50;
}

COMPUTE static void through_pointer(const int *count, int *a)
{
  for (int i = 0; i < *count; i++) /* loop pointed */
    a[i] = i + 40;
}

COMPUTE static void inner_bound(int n, int *lengths, int *a)
{
  for (int i = 0; i < n; i++) /* loop lengths */
    for (int j = 0; j < lengths[i]; j++)
      a[i * 8 + j] = i + j > 5 ? 5 : i + j;
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "raw", NULL};
  struct check check = check_open(argc, argv, 4000, inputs);
  if (check.size > 4000 || check.size < 200)
    check_die(&check, "the size must be from 200 to 4000", "");
  int n = (int)check.size;
  bool conflict = check_is(&check, "raw");
  int *a = check_alloc(&check, 16 * check.size, sizeof *a);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    for (int i = 0; i < 16 * n; i++)
      a[i] = (int)check_below(&check, 6);
    for (int i = 0; i < SLOTS; i++)
      world[i] = i % 10;
    world[LIMIT] = n;
    world[SCALE] = 3;
    plain_limit = n;
    check_start(&check);
    to_global_limit(conflict ? world : a); /* at i == LIMIT the limit becomes 100 */
    to_plain_limit(a);
    world[SCALE] = 3;
    by_global_scale(200, conflict ? world : a);
    global_base = a + n;
    through_global_base(n, conflict ? a + n - 1 : a);
    struct table t = {n, a, a + 2 * n};
    if (conflict)
      t.values = a + 1;
    through_struct(&t);
    world[LIMIT] = n;
    through_pointer(conflict ? &world[LIMIT] : &n, conflict ? world + 2 : a + 3 * n);
    inner_bound(n, conflict ? a + 4 * n + 5 : a + 15 * n, a + 4 * n);
    check_stop(&check);
    printf("limit %d, scale %d\n", world[LIMIT], world[SCALE]);
    check_array(&check, "a", a, 16 * check.size, sizeof *a);
    check_array(&check, "world", world, SLOTS, sizeof *world);
  }
  free(a);
  return check_close(&check);
}
