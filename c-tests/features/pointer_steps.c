/* Pointers that move through arrays, end pointers, several pointers per loop, pointers kept in memory.
 *
 * test size: 3001
 * expect paired: runs on clean
 * expect strided: runs on clean */
#include "../support/inputs.h"

COMPUTE static void walk(const float *in, const float *end, float *out)
{
  while (in != end)
    *out++ = *in++ * 2.0f;
}

COMPUTE static void walk_for(const float *in, const float *end, float *out)
{
  for (const float *p = in; p < end; ++p, ++out)
    *out = *p + 1.0f;
}

COMPUTE static void paired(int n, const float *in, float *out)
{
  for (int i = 0; i < n; i++) /* loop paired */
    *out++ += *in++;
}

COMPUTE static void two_ends(float *low, float *high)
{
  while (low < high) {
    float t = *low;
    *low++ = *high;
    *high-- = t;
  }
}

COMPUTE static void strided(int n, float *a, int stride)
{
  float *p = a;
  for (int i = 0; i < n; i++, p += stride) /* loop strided */
    *p = -*p;
}

/* Addresses from memory. */
COMPUTE static void through_table(int n, float *const *where, const float *in)
{
  for (int i = 0; i < n; i++) /* loop table */
    *where[i] = in[i];
}

/* Addresses into memory. */
COMPUTE static void make_table(int n, const int *index, float *base, float **where)
{
  for (int i = 0; i < n; i++) /* loop addresses */
    where[i] = base + index[i];
}

COMPUTE static ptrdiff_t distances(int n, float *const *where, const float *base)
{
  ptrdiff_t sum = 0;
  for (int i = 0; i < n; i++) /* loop distances */
    sum += where[i] - base;
  return sum;
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "waw", "raw", "one", "every", NULL};
  struct check check = check_open(argc, argv, 1u << 20, inputs);
  size_t n = check.size;
  float *block = check_alloc(&check, 6 * n, sizeof *block);
  float **where = check_alloc(&check, n, sizeof *where);
  int *index = check_alloc(&check, n, sizeof *index);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_float(&check, block, 6 * n);
    scatter_indices(&check, index, n);
    float *in = block, *out = check_is(&check, "raw") ? in + 1 : in + n;
    check_start(&check);
    walk(in, in + n, out);
    walk_for(in, in + n, out + n);
    paired((int)n, in, out + 2 * n);
    two_ends(out + n, out + 2 * n - 1);
    strided((int)(n / 5), out + 3 * n, check_is(&check, "every") ? 0 : 5);
    make_table((int)n, index, block + 5 * n, where);
    through_table((int)n, where, in);
    ptrdiff_t sum = distances((int)n, where, block);
    check_stop(&check);
    printf("distances %td\n", sum);
    check_array(&check, "block", block, 6 * n, sizeof *block);
  }
  free(block);
  free(where);
  free(index);
  return check_close(&check);
}
