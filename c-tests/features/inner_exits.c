/* Inner loops that end early: what follows in their row must not happen, so the two loops are not one space of iterations.
 *
 * test size: 600
 * expect rows: runs on clean */
#include "../support/inputs.h"

COMPUTE static void rows(int n, const int *stop, int *p)
{
  for (int i = 0; i < n; i++) { /* loop rows */
    for (int j = 0; j < 16; j++) {
      if (j == stop[i])
        break;
      p[16 * i + j] = i - j;
    }
  }
}

COMPUTE static void doubly(int n, const int *stop, int *p)
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < 4; j++)
      for (int k = 0; k < 4; k++) {
        p[16 * i + 4 * j + k] += j;
        if (p[16 * i + 4 * j + k] % 3 == stop[i] % 3)
          break;
      }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", NULL};
  struct check check = check_open(argc, argv, 1u << 14, inputs);
  int n = (int)check.size;
  size_t size = 16 * (size_t)n;
  int *stop = check_alloc(&check, (size_t)n, sizeof *stop);
  int *p = check_alloc(&check, size, sizeof *p);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    for (size_t i = 0; i < size; i++)
      p[i] = (int)(i % 7);
    for (int i = 0; i < n; i++)
      stop[i] = (int)check_below(&check, 20);
    check_start(&check);
    rows(n, stop, p);
    doubly(n, stop, p);
    check_stop(&check);
    check_array(&check, "p", p, size, sizeof *p);
  }
  free(stop);
  free(p);
  return check_close(&check);
}
