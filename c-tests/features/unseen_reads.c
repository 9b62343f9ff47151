/* Scalars that loops leave behind, read only by what the typed tree has no expressions for: initialisers of aggregates,
 * compound literals, statement expressions, lengths of arrays. They are used after the loop all the same.
 *
 * test size: 3001
 * expect aggregate: runs on clean
 * expect before: runs on clean */
#include "../support/inputs.h"

struct pair {
  int first, second;
};

COMPUTE static int aggregate(int n, const int *in, int *out)
{
  int last = -5, i;
  for (i = 0; i < n; i++) { /* loop aggregate */
    last = in[i];
    out[i] = last + 1;
  }
  struct pair pair = {last, i};
  return pair.first + 3 * pair.second;
}

COMPUTE static int literal(int n, const int *in, int *out)
{
  int last = -5;
  for (int i = 0; i < n; i++) { /* loop literal */
    last = in[i];
    out[i] += last;
  }
  return ((struct pair){last, 2}).first;
}

COMPUTE static int statement(int n, const int *in, int *out)
{
  int last = -5;
  for (int i = 0; i < n; i++) { /* loop statement */
    last = in[i];
    out[i] ^= last;
  }
  return __extension__({
    int copy = last;
    copy + 1;
  });
}

COMPUTE static int length(int n, const int *in, int *out)
{
  int last = 5;
  for (int i = 0; i < n; i++) { /* loop length */
    last = in[i] & 31;
    out[i] -= last;
  }
  int array[last + 1];
  array[0] = last;
  return (int)sizeof array + array[0];
}

COMPUTE static int row(int n, const int *in, int *out)
{
  int last = 5;
  for (int i = 0; i < n; i++) { /* loop row */
    last = (in[i] & 31) | 1;
    out[i] += last;
  }
  const int(*rows)[last] = (const int(*)[last])in;
  return rows[1][0];
}

/* In front of the loop, but the next turn of the outer one comes after it. */
COMPUTE static int around(int n, const int *in, int *out)
{
  int last = -5, sum = 0;
  for (int turn = 0; turn < 3; turn++) {
    struct pair pair = {last, turn};
    sum += pair.first + pair.second;
    for (int i = 0; i < n; i++) { /* loop around */
      last = in[i] + turn;
      out[i] += last;
    }
  }
  return sum;
}

COMPUTE static int jumped(int n, const int *in, int *out)
{
  int last = -5, sum = 0, turn = 0;
again:;
  struct pair pair = {last, turn};
  sum += pair.first + pair.second;
  if (turn++ < 3) {
    for (int i = 0; i < n; i++) { /* loop jumped */
      last = in[i] - turn;
      out[i] += last;
    }
    goto again;
  }
  return sum;
}

/* Nothing comes back to this initialiser: that only some iterations assign the temporary does not matter. */
COMPUTE static int before(int n, const int *in, int *out)
{
  int temporary = 7;
  struct pair pair = {temporary, n};
  for (int i = 0; i < n; i++) /* loop before */
    if (in[i] & 1) {
      temporary = in[i] * 3;
      out[i] = temporary ^ pair.first;
    }
  return pair.second;
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", NULL};
  struct check check = check_open(argc, argv, 1u << 20, inputs);
  int n = (int)check.size;
  int *in = check_alloc(&check, (size_t)n, sizeof *in);
  int *out = check_alloc(&check, (size_t)n, sizeof *out);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    for (int i = 0; i < n; i++) {
      in[i] = i * 7 % 1009 + 3;
      out[i] = i;
    }
    check_start(&check);
    printf("%d %d %d", aggregate(n, in, out), literal(n, in, out), statement(n, in, out));
    printf(" %d %d %d", length(n, in, out), row(n, in, out), around(n, in, out));
    printf(" %d %d\n", jumped(n, in, out), before(n, in, out));
    check_stop(&check);
    check_array(&check, "out", out, (size_t)n, sizeof *out);
  }
  free(in);
  free(out);
  return check_close(&check);
}
