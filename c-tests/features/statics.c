/* Objects of the file's own in loops through pointers: scalars and arrays whose address nobody takes, stored in front of a loop, in it and behind it, by the same function and by others; that are only stored to, only
 * loaded, or changed by nobody; members of structs; and ones whose address somebody has.
 *
 * test size: 347
 * expect scaled: runs on clean
 * expect kept: runs in place on clean
 * expect translated: runs on clean
 * expect spread: runs on clean
 * expect noted: runs on clean
 * expect looked_up: runs on clean
 * expect moved: stays on clean
 * expect total: runs on clean
 * expect changed: stays on clean
 * expect known: runs on clean
 * expect marked: runs on clean
 * expect named: runs on clean */
#include "../support/inputs.h"

enum { WIDTH = 29, MOST = 4096 };

static double factor, last;
static int length;
static unsigned char codes[256];
static float grid[MOST][WIDTH];
static int seen[MOST];
static int extent[3] = {WIDTH, 5, 7};
static const int shift = 3;
static short primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};
static struct {
  char name[3];
  int steps;
  double weights[2][WIDTH], *rest;
} state;
static long total;
static double shared[MOST];
static _Bool flags[MOST];
enum colour { RED, GREEN, BLUE };
static enum colour colours[MOST];
static double *rows[MOST];

static double *lend(void)
{
  return shared;
}

__attribute__((noinline)) static void set_factor(double value)
{
  factor = value;
}

__attribute__((noinline)) static double get_factor(void)
{
  return factor;
}

/* What it multiplies by is stored right in front of the loop, and after it. */
COMPUTE static double scaled(int n, double *to, const double *from, double by)
{
  factor = by * 2;
  length = n;
  for (int i = 0; i < length; i++) /* loop scaled */
    to[i] = from[i] * factor;
  double was = factor;
  factor = -1;
  length = 0;
  return was;
}

COMPUTE static void kept(int n, double *to, const double *from)
{
  for (int i = 0; i < n; i++) { /* loop kept */
    last = from[i];
    to[i] = last * 3 + to[i];
  }
}

COMPUTE static void translated(int n, unsigned char *to, const unsigned char *from, int by)
{
  for (int i = 0; i < 256; i++)
    codes[i] = (unsigned char)(i * by);
  codes[from[0]] = 77;
  for (int i = 0; i < n; i++) /* loop translated */
    to[i] = codes[from[i]];
  codes[1] = 0;
}

/* Elements that are known before the loop are others behind it. */
COMPUTE static float spread(int n, const float *from)
{
  grid[1][2] = 5;
  grid[n - 1][WIDTH - 1] = 6;
  for (int i = 0; i < n; i++) /* loop spread */
    for (int j = 0; j < WIDTH; j++)
      grid[i][j] = from[i * WIDTH + j] + i;
  return grid[1][2] + grid[n - 1][WIDTH - 1] * 3;
}

/* Nobody loads them. */
COMPUTE static void noted(int n, const int *order, int *to)
{
  for (int i = 0; i < n; i++) { /* loop noted */
    seen[i] = order[i];
    to[i] = order[i] / 2;
  }
}

/* Nobody changes them. */
COMPUTE static void looked_up(int n, int *to, const int *from)
{
  for (int i = 0; i < n; i++) /* loop looked_up */
    to[i] = (from[i] >> shift) + primes[from[i] & 7] + extent[1] * extent[i % 3];
}

COMPUTE static double moved(int n, double *to)
{
  state.steps = n;
  state.weights[1][3] = 2.5;
  for (int i = 0; i < state.steps; i++) { /* loop moved */
    to[i] += state.weights[1][i % WIDTH] + state.rest[i];
    state.name[0] = 'a';
  }
  return state.weights[1][3] + state.name[0];
}

COMPUTE static long sum_of(int n, const int *a)
{
  total = 1000;
  for (int i = 0; i < n; i++) /* loop total */
    total += a[i];
  return total;
}

/* Another function changes it meanwhile. */
COMPUTE static double changed(int n, double *to)
{
  double sum = 0;
  for (int turn = 1; turn < 4; turn++) {
    set_factor(turn);
    for (int i = 0; i < n; i++) { /* loop changed */
      to[i] = to[i] * 0.5 + factor;
      last = to[i];
    }
    sum += get_factor() + last;
    factor += 1;
    sum += get_factor();
  }
  return sum;
}

/* Somebody has its address. */
COMPUTE static double known(int n, double *to)
{
  shared[3] = 8;
  for (int i = 0; i < n; i++) /* loop known */
    to[i] = shared[i] + i;
  to[3] += 1;
  return shared[3];
}

COMPUTE static void marked(int n, const int *order)
{
  for (int i = 0; i < n; i++) { /* loop marked */
    flags[i] = order[i] & 4;
    colours[i] = (enum colour)(order[i] % 3);
  }
}

COMPUTE static void named(int n, double *room)
{
  for (int i = 0; i < n; i++) { /* loop named */
    rows[i] = room + i;
    room[n + i] = i;
  }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", NULL};
  struct check check = check_open(argc, argv, 3000, inputs);
  const int n = (int)(check.size < MOST ? check.size : MOST);
  double *a = check_alloc(&check, n, sizeof *a), *b = check_alloc(&check, n, sizeof *b), *c = check_alloc(&check, n, sizeof *c);
  double *room = check_alloc(&check, 2 * (size_t)n, sizeof *room);
  unsigned char *bytes = check_alloc(&check, n, 1), *others = check_alloc(&check, n, 1);
  float *floats = check_alloc(&check, (size_t)n * WIDTH, sizeof *floats);
  int *order = check_alloc(&check, n, sizeof *order), *halves = check_alloc(&check, n, sizeof *halves), *found = check_alloc(&check, n, sizeof *found);
  double values[8];
  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_double(&check, a, n);
    fill_double(&check, b, n);
    fill_double(&check, c, n);
    fill_double(&check, shared, n);
    fill_float(&check, floats, (size_t)n * WIDTH);
    permute(&check, order, n);
    for (int i = 0; i < n; i++)
      bytes[i] = (unsigned char)check_below(&check, 256);
    for (int i = 0; i < WIDTH; i++)
      state.weights[0][i] = i, state.weights[1][i] = i * 0.5;
    state.rest = c;
    last = total = 0;
    check_start(&check);
    values[0] = scaled(n, a, b, 1.5);
    kept(n, a, b);
    values[1] = last;
    translated(n, others, bytes, 3);
    translated(n, bytes, others, 7);
    values[2] = spread(n, floats);
    noted(n, order, halves);
    looked_up(n, found, order);
    values[3] = moved(n, b);
    values[4] = (double)sum_of(n, order);
    values[5] = changed(n, a);
    values[6] = known(n, lend() == shared ? c : a);
    marked(n, order);
    named(n, room);
    values[7] = last + factor + (double)total;
    check_stop(&check);
    int right = 0;
    for (int i = 0; i < n; i++)
      right += rows[i] == room + i;
    check_array(&check, "right", &right, 1, sizeof right);
    check_array(&check, "values", values, 8, sizeof *values);
    check_array(&check, "a", a, n, sizeof *a);
    check_array(&check, "b", b, n, sizeof *b);
    check_array(&check, "c", c, n, sizeof *c);
    check_array(&check, "room", room + n, n, sizeof *room);
    check_array(&check, "bytes", bytes, n, 1);
    check_array(&check, "others", others, n, 1);
    check_array(&check, "halves", halves, n, sizeof *halves);
    check_array(&check, "found", found, n, sizeof *found);
    check_array(&check, "grid", grid, (size_t)n * WIDTH, sizeof **grid);
    check_array(&check, "flags", flags, n, sizeof *flags);
    check_array(&check, "colours", colours, n, sizeof *colours);
    check_array(&check, "codes", codes, 256, 1);
  }
  free(a), free(b), free(c), free(room), free(bytes), free(others), free(floats), free(order), free(halves), free(found);
  return check_close(&check);
}
