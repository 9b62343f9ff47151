/* Unsigned arithmetic that wraps around, in indices, bounds and values.
 *
 * test size: 3001 */
#include "../support/inputs.h"

COMPUTE static void backwards(unsigned n, uint32_t *a)
{
  for (unsigned i = n; i-- > 0;)
    a[i] = i * 2654435761u;
  for (unsigned i = n - 1; i < n; i--) /* ends by wrapping below zero */
    a[i] ^= i << 7;
}

COMPUTE static void masked(uint32_t n, uint32_t mask, uint32_t offset, const uint32_t *in, uint32_t *out)
{
  for (uint32_t i = 0; i < n; i++) /* loop masked */
    out[(i + offset) & mask] = in[i] + i;
}

/* The index i - 3 wraps for the first iterations and comes back by the addition. */
COMPUTE static void around_zero(unsigned n, const uint32_t *in, uint32_t *out)
{
  for (unsigned i = 0; i < n; i++) { /* loop around */
    unsigned j = i - 3u;
    out[j + 3u] = in[i] - 1u;
  }
}

COMPUTE static void narrow(size_t n, const uint8_t *in, uint8_t *out, uint16_t *sums)
{
  for (size_t i = 0; i < n; i++) { /* loop narrow */
    uint8_t doubled = (uint8_t)(in[i] * 2u);
    out[i] = (uint8_t)(doubled - 200);
    sums[i] = (uint16_t)(sums[i] * in[i] * 257u);
  }
}

COMPUTE static void mixed_signs(unsigned n, int shift, const int *in, long *out)
{
  for (unsigned i = 0; i < n; i++) { /* loop mixed */
    out[i] = in[i] + shift < 0 ? (long)(in[i] - i) : (long)(in[i] * (unsigned long)i);
    if (-1 < in[i] / (int)(i + 1u))
      out[i] += 1;
  }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "every", NULL};
  struct check check = check_open(argc, argv, 1u << 20, inputs);
  size_t n = check.size, room = 1;
  while (room < n)
    room *= 2;
  uint32_t *a = check_alloc(&check, room, sizeof *a), *b = check_alloc(&check, room, sizeof *b);
  uint8_t *bytes = check_alloc(&check, 2 * n, sizeof *bytes);
  uint16_t *words = check_alloc(&check, n, sizeof *words);
  long *wide = check_alloc(&check, n, sizeof *wide);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    for (size_t i = 0; i < n; i++) {
      bytes[i] = (uint8_t)check_random(&check);
      words[i] = (uint16_t)check_random(&check);
    }
    check_start(&check);
    backwards((unsigned)n, a);
    backwards(0, a);
    masked((uint32_t)n, check_is(&check, "every") ? 7 : (uint32_t)room - 1, 0xfffffff0u, a, b);
    around_zero((unsigned)n, b, a);
    narrow(n, bytes, bytes + n, words);
    mixed_signs((unsigned)n, -5, (const int *)a, wide);
    check_stop(&check);
    check_array(&check, "a", a, room, sizeof *a);
    check_array(&check, "b", b, room, sizeof *b);
    check_array(&check, "bytes", bytes, 2 * n, sizeof *bytes);
    check_array(&check, "words", words, n, sizeof *words);
    check_array(&check, "wide", wide, n, sizeof *wide);
  }
  free(a);
  free(b);
  free(bytes);
  free(words);
  free(wide);
  return check_close(&check);
}
