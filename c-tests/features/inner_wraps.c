/* Loops inside the body whose variables wrap around on their way to the limit, or step over it: their subscripts are not
 * where first value and limit say. Rows then meet. And ones that stay on their way.
 *
 * test size: 6001
 * expect straight: runs on clean */
#include "../support/inputs.h"

COMPUTE static void around(int n, int *a, unsigned *p)
{
  for (int i = 0; i < n; i++) { /* loop around */
    a[i] = i;
    for (unsigned short j = 65000; j != 5; j++)
      p[i * 4 + j] = p[i * 4 + j] * 3 + (unsigned)i + j;
  }
}

COMPUTE static void over(int n, int *a, unsigned *p)
{
  for (int i = 0; i < n; i++) { /* loop over */
    a[i] = i;
    for (unsigned char j = 0; j != 10; j += 3)
      p[i * 16 + j] = p[i * 16 + j] * 3 + (unsigned)i + j;
  }
}

COMPUTE static void beyond(int n, int *a, unsigned *p)
{
  for (int i = 0; i < n; i++) { /* loop beyond */
    int turns = 0;
    a[i] = i;
    for (unsigned char j = 100; j < 254; j += 100) {
      p[i * 156 + j] = p[i * 156 + j] * 3 + (unsigned)i + j;
      if (++turns == 5)
        break;
    }
  }
}

COMPUTE static void straight(int n, unsigned m, int *a, unsigned *p)
{
  for (int i = 0; i < n; i++) { /* loop straight */
    a[i] = i;
    for (unsigned j = 0; j < m; j++)
      p[i * 16 + (int)j] = p[i * 16 + (int)j] * 3 + (unsigned)i;
    for (unsigned char j = 8; j > 0; j--)
      p[i * 16 + j] ^= 5;
    for (unsigned char j = 0; j != 9; j++)
      p[i * 16 + j] ^= 6;
    for (unsigned short j = 0; j <= 9; j += 2)
      p[i * 16 + j] ^= 9;
  }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", NULL};
  struct check check = check_open(argc, argv, 1u << 16, inputs);
  int n = (int)check.size;
  size_t size = 160 * (size_t)n + 65536;
  int *a = check_alloc(&check, (size_t)n, sizeof *a);
  unsigned *p = check_alloc(&check, size, sizeof *p);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    for (size_t i = 0; i < size; i++)
      p[i] = (unsigned)i % 7;
    check_start(&check);
    around(n / 2, a, p);
    over(n / 2, a, p);
    beyond(n / 2, a, p);
    straight(n, 10, a, p);
    straight(n, 0, a, p);
    straight(n, 17, a, p);
    check_stop(&check);
    check_array(&check, "a", a, (size_t)n, sizeof *a);
    check_array(&check, "p", p, size, sizeof *p);
  }
  free(a);
  free(p);
  return check_close(&check);
}
