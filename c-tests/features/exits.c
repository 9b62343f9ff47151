/* Ways out of a loop and around parts of it: break, return, goto, continue, switch.
 *
 * test size: 3001 */
#include "../support/inputs.h"

COMPUTE static int find(const int *a, int n, int wanted)
{
  for (int i = 0; i < n; i++)
    if (a[i] == wanted)
      return i;
  return -1;
}

COMPUTE static int mark_until_negative(int *a, int n)
{
  int i;
  for (i = 0; i < n; i++) {
    if (a[i] < 0)
      break;
    a[i] += 1000000;
  }
  return i;
}

COMPUTE static void skip_some(int n, const int *in, int *out)
{
  for (int i = 0; i < n; i++) { /* loop skip */
    if (in[i] % 3 == 0)
      continue;
    out[i] = in[i];
    if (in[i] % 5 == 0)
      continue;
    out[i] = -in[i];
  }
}

COMPUTE static int jump_out(int n, int m, const int *a)
{
  int steps = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      steps++;
      if (a[i * m + j] > 999990)
        goto found;
    }
  return -steps;
found:
  return steps;
}

COMPUTE static void jump_inside(int n, const int *in, int *out)
{
  for (int i = 0; i < n; i++) { /* loop jump */
    if (in[i] < 500000)
      goto small;
    out[i] = 2;
    goto next;
  small:
    out[i] = 1;
  next:;
  }
}

COMPUTE static void by_kind(int n, const int *in, int *out)
{
  for (int i = 0; i < n; i++) { /* loop kinds */
    switch (in[i] & 7) {
    case 0:
      out[i] = 10;
      break;
    case 1:
    case 2:
      out[i] = 20;
      /* fall through */
    case 3:
      out[i] += 1;
      break;
    case 4:
      continue;
    default:
      out[i] = -in[i];
    }
    out[i] *= 2;
  }
}

/* The inner loop is left early; the outer one is counted. */
COMPUTE static void first_multiple(int n, const int *in, int *out)
{
  for (int i = 0; i < n; i++) { /* loop multiples */
    int d;
    for (d = 2; d < 50; d++)
      if (in[i] % d == 0)
        break;
    out[i] = d;
  }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "raw", NULL};
  struct check check = check_open(argc, argv, 1u << 20, inputs);
  int n = (int)check.size;
  int *block = check_alloc(&check, 5 * check.size, sizeof *block);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    for (int i = 0; i < 5 * n; i++)
      block[i] = (int)check_below(&check, 1000000);
    block[n / 2] = -7;
    int *in = block, *out = check_is(&check, "raw") ? block + 1 : block + n;
    check_start(&check);
    int found = find(in, n, in[n - 3]), none = find(in, n, -1);
    int marked = mark_until_negative(in, n);
    skip_some(n, in, out);
    int steps = jump_out(n / 50, 50, block + 3 * n);
    jump_inside(n, in, out + n);
    by_kind(n, in, out + 2 * n);
    first_multiple(n, in, out + 3 * n - 1);
    check_stop(&check);
    printf("found %d, none %d, marked %d, steps %d\n", found, none, marked, steps);
    check_array(&check, "block", block, 5 * check.size, sizeof *block);
  }
  free(block);
  return check_close(&check);
}
