/* Updates that a GPU's blocks collect (collected.c) in arrays that lie in each other or are too large, beside other accesses, in nests and inner
 * loops, and of places that are nowhere.
 *
 * test size: 3001
 * expect colours: runs on clean few flat
 * expect beside: runs on clean few flat
 * expect views: runs on clean few flat
 * expect parts: runs on clean few flat
 * expect rows: runs on clean few flat
 * expect plane: runs on clean few flat
 * expect members: runs on clean few flat
 * expect negative: runs on clean few flat */
#include "../support/tables.h"

struct member {
  unsigned short first;
  unsigned count;
};

COMPUTE static void colours(int n, const unsigned char *pixel, unsigned *red, unsigned *green, unsigned *blue)
{
  for (int i = 0; i < n; i++) { /* loop colours */
    red[pixel[3 * i]]++;
    green[pixel[3 * i + 1]]++;
    blue[pixel[3 * i + 2]] += 100;
  }
}

COMPUTE static void beside(int n, const int *index, const unsigned *value, unsigned *count, unsigned *out)
{
  for (int i = 0; i < n; i++) { /* loop beside */
    out[i] = value[i] * 3;
    if (value[i] % 3 == 0)
      count[index[i]] += value[i] % 7;
    else if (value[i] % 5 == 0)
      count[index[i] / 2]--;
  }
}

/* Two of one array. */
COMPUTE static void views(int n, const int *index, unsigned *count, unsigned *same)
{
  for (int i = 0; i < n; i++) { /* loop views */
    count[index[i]] += 3;
    same[index[i] / 2]++;
  }
}

/* More than a block has room for: most of it, and by far. */
COMPUTE static void parts(int n, const int *index, unsigned *most, unsigned *few)
{
  for (int i = 0; i < n; i++) { /* loop parts */
    most[index[i] * 23] += 2;
    few[index[i] * 71] ^= (unsigned)i;
  }
}

/* Iterations that go through memory of their own. */
COMPUTE static void rows(int n, int width, const unsigned char *pixel, unsigned *count)
{
  for (int i = 0; i < n; i++) { /* loop rows */
    int most = i % width;
    for (int j = 0; j < most; j++)
      count[pixel[i * width + j]]++;
  }
}

COMPUTE static void plane(int height, int width, const unsigned char *pixel, unsigned *count)
{
  for (int i = 0; i < height; i++) /* loop plane */
    for (int j = 0; j < width; j++)
      count[pixel[i * width + j]]++;
}

COMPUTE static void members(int n, const int *index, struct member *table)
{
  for (int i = 0; i < n; i++) /* loop members */
    table[index[i]].count += 5;
}

COMPUTE static void negative(int n, const int *index, unsigned *middle)
{
  for (int i = 0; i < n; i++) /* loop negative */
    middle[-index[i]] |= 1u << (i % 32);
}

/* Whoever runs ahead finds places that are nowhere: nothing may be collected of them. */
COMPUTE static void ahead(int n, const int *index, int *place, unsigned *count)
{
  for (int i = 0; i < n; i++) { /* loop ahead */
    count[place[i]]++;
    if (i + 1 < n)
      place[i + 1] = index[i + 1];
  }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "few", "flat", NULL};
  struct check check = check_open(argc, argv, 100000, inputs);
  struct tables t = alloc_tables(&check);
  const size_t n = t.n;
  int *place = check_alloc(&check, n, sizeof *place);
  unsigned *most = check_alloc(&check, 23 * n, sizeof *most), *few = check_alloc(&check, 71 * n, sizeof *few);
  unsigned *colour = check_alloc(&check, 5 * 256, sizeof *colour);
  unsigned char *pixel = check_alloc(&check, 3 * n, sizeof *pixel);
  struct member *table = check_alloc(&check, n, sizeof *table);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_tables(&check, &t);
    for (size_t i = 0; i < n; i++)
      table[i] = (struct member){(unsigned short)i, (unsigned)i};
    for (size_t i = 0; i < 3 * n; i++)
      pixel[i] = (unsigned char)(check_is(&check, "flat") ? 9 : check_random(&check));
    memset(colour, 0, 5 * 256 * sizeof *colour);
    for (size_t i = 0; i < 23 * n; i++)
      most[i] = (unsigned)i;
    for (size_t i = 0; i < 71 * n; i++)
      few[i] = (unsigned)i;
    for (size_t i = 0; i < n; i++)
      place[i] = i == 0 ? t.index[0] : (int)(i % 2 == 0 ? n + 4 * i : 0u - 5 * i);
    const int count = (int)n, *index = t.index;
    const unsigned *values = (const unsigned *)t.value;
    check_start(&check);
    colours(count, pixel, colour, colour + 256, colour + 512);
    beside(count, index, values, t.u[5], t.u[6]);
    views(count, index, t.u[7], t.u[7] + n / 4);
    parts(count, index, most, few);
    rows(count / 40, 40, pixel, colour + 768);
    plane(count / 40, 40, pixel, colour + 1024);
    members(count, index, table);
    negative(count, index, t.u[9] + (n - 1));
    ahead(count, index, place, t.u[10]);
    check_stop(&check);
    check_array(&check, "colour", colour, 5 * 256, sizeof *colour);
    check_tables(&check, &t);
    check_array(&check, "most", most, 23 * n, sizeof *most);
    check_array(&check, "few", few, 71 * n, sizeof *few);
    check_array(&check, "table", table, n, sizeof *table);
  }
  free(place), free(table), free(pixel), free(colour), free(few), free(most);
  free_tables(&t);
  return check_close(&check);
}
