/* Inner loops that store to one place again and again, which a bitmap marks once for each iteration, not for each turn. On `neighbours` two
 * iterations come to one place that are neighbours, so that a thread may run one right after the other. On `overlap` an iteration stores to a
 * place in two widths: to mark the narrow one says nothing of the wide one.
 *
 * test size: 1501
 * expect turns: runs on clean overlap
 * expect turns: stamps on neighbours
 * expect updates: runs on clean overlap
 * expect updates: conflicts on neighbours
 * expect widths: runs on clean overlap
 * expect widths: stamps on neighbours */
#include "../support/inputs.h"

COMPUTE static void turns(double *out, const int *to, const int *length, const double *in, int n)
{
  for (int i = 0; i < n; i++) { /* loop turns */
    const int place = to[i];
    for (int j = 0; j < length[i]; j++)
      out[place] = in[i] * (double)j;
  }
}

COMPUTE static void updates(double *out, const int *to, const int *length, const double *in, int n)
{
  for (int i = 0; i < n; i++) { /* loop updates */
    const int place = to[i];
    for (int j = 0; j < length[i]; j++)
      out[place] = out[place] * 0.5 + in[j];
  }
}

COMPUTE static void widths(unsigned char *narrow, uint32_t *wide, const int *to, const int *length, const uint32_t *in, int n)
{
  for (int i = 0; i < n; i++) { /* loop widths */
    const int place = to[i], end = length[i];
    const uint32_t first = in[i];
    for (int j = 0; j < end; j++) {
      narrow[4 * place] = (unsigned char)j;
      wide[place] = first + (uint32_t)j;
    }
  }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "neighbours", "overlap", NULL};
  struct check check = check_open(argc, argv, 100000, inputs);
  size_t n = check.size;
  double *in = check_alloc(&check, n, sizeof *in), *out = check_alloc(&check, n, sizeof *out);
  uint32_t *words = check_alloc(&check, n, sizeof *words), *wide = check_alloc(&check, n, sizeof *wide);
  unsigned char *bytes = check_alloc(&check, 4 * n, 1);
  int *to = check_alloc(&check, n, sizeof *to), *length = check_alloc(&check, n, sizeof *length);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_double(&check, in, n);
    fill_double(&check, out, n);
    permute(&check, to, n);
    for (size_t i = 0; i < n; i++) {
      length[i] = 2 + (int)check_below(&check, 5);
      words[i] = (uint32_t)check_random(&check);
      wide[i] = (uint32_t)check_random(&check);
    }
    if (check_is(&check, "neighbours"))
      to[7] = to[6];
    check_start(&check);
    turns(out, to, length, in, (int)n);
    updates(out, to, length, in, (int)n);
    widths(check_is(&check, "overlap") ? (unsigned char *)wide : bytes, wide, to, length, words, (int)n);
    check_stop(&check);
    check_array(&check, "out", out, n, sizeof *out);
    check_array(&check, "bytes", bytes, 4 * n, 1);
    check_array(&check, "wide", wide, n, sizeof *wide);
  }
  free(in);
  free(out);
  free(words);
  free(wide);
  free(bytes);
  free(to);
  free(length);
  return check_close(&check);
}
