/* Loops that come out of macros, several loops on one line, loops in inline functions, statement expressions, typeof.
 *
 * test size: 2003 */
#include "../support/inputs.h"
#include <sys/param.h>

#define FOR_EACH(i, n) for (size_t i = 0; i < (n); i++)
#define FILL(array, n, value)       \
  do {                              \
    for (size_t k = 0; k < (n); k++) \
      (array)[k] = (value);         \
  } while (0)
#define SWAP(a, b)          \
  do {                      \
    __typeof__(a) t_ = (a); \
    (a) = (b);              \
    (b) = t_;               \
  } while (0)

static inline int clamp(int v, int low, int high)
{
  return MAX(low, MIN(v, high));
}

extern inline __attribute__((gnu_inline)) void only_inline(int *a, size_t n);
extern inline __attribute__((gnu_inline)) void only_inline(int *a, size_t n)
{
  for (size_t i = 0; i < n; i++)
    a[i] += 1;
}
void outside(int *a, size_t n);
inline void outside(int *a, size_t n)
{
  FOR_EACH(i, n)
  a[i] -= 2;
}
extern void outside(int *a, size_t n);

static inline void negate(int *restrict a, const int *restrict b, size_t n)
{
  FOR_EACH(i, n) /* loop negate */
  a[i] = -b[i];
}

COMPUTE static void on_one_line(size_t n, int *a, int *b)
{
  { for (size_t i = 0; i < n; i++) a[i] += 3; } { for (size_t i = 0; i < n; i++) b[i] *= 5; }
  FILL(a, n / 2, 9); FILL(b, n / 3, 4);
}

COMPUTE static void calls(size_t n, const int *in, int *out)
{
  FOR_EACH(i, n) /* loop calls */
  out[i] = clamp(in[i], -100, 100) + abs(in[i]) % 7;
}

COMPUTE static void gnu(size_t n, int *a, int *b)
{
  FOR_EACH(i, n) /* loop gnu */
  {
    SWAP(a[i], b[i]);
    a[i] += ({ int twice = b[i] * 2; twice > 50 ? 50 : twice; });
    b[i] = a[i] ?: 7;
  }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "raw", NULL};
  struct check check = check_open(argc, argv, 1u << 20, inputs);
  size_t n = check.size;
  int *block = check_alloc(&check, 3 * n, sizeof *block);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    FOR_EACH(i, 3 * n)
    block[i] = (int)check_below(&check, 1000) - 500;
    int *a = block, *b = check_is(&check, "raw") ? a + 1 : a + n, *c = block + 2 * n - 1;
    check_start(&check);
    if (!check_is(&check, "raw"))
      negate(a, b, n);
    on_one_line(n, a, b);
    calls(n, a, b);
    gnu(n, b, c + 1);
    only_inline(a, n);
    outside(b, n);
    check_stop(&check);
    check_array(&check, "block", block, 3 * n, sizeof *block);
  }
  free(block);
  return check_close(&check);
}
