/* Updates that a GPU's blocks collect in memory of their own, and hand over in the end: elements of each width, each operation, sums that come
 * back to where they were, and arrays at odd addresses. What lies beside them: collected_beside.c.
 *
 * test size: 3001
 * expect each: runs on clean few flat
 * expect narrow: runs on clean few flat
 * expect products: runs on clean few flat
 * expect wide: runs on clean few flat
 * expect odd: runs on clean few flat
 * expect back: runs on clean few flat */
#include "../support/inputs.h"

COMPUTE static void each(int n, const int *index, const unsigned *value, unsigned *sum, unsigned *all, unsigned *any, unsigned *odd)
{
  for (int i = 0; i < n; i++) { /* loop each */
    sum[index[i]] += value[i];
    all[index[i]] &= value[i] | 0xffu;
    any[index[i]] |= value[i] & 0xf0fu;
    odd[index[i]] ^= value[i];
  }
}

COMPUTE static void narrow(int n, const int *index, const unsigned *value, unsigned char *sum, signed char *all, unsigned short *any, short *odd)
{
  for (int i = 0; i < n; i++) { /* loop narrow */
    sum[index[i]] += 171;
    all[index[i]] &= (signed char)(value[i] | 0x55);
    any[index[i]] |= (unsigned short)(value[i] & 0x1111);
    odd[index[i]] ^= (short)value[i];
  }
}

COMPUTE static void products(int n, const int *index, const unsigned *value, unsigned char *a, unsigned short *b, unsigned *c, unsigned long *d)
{
  for (int i = 0; i < n; i++) { /* loop products */
    a[index[i]] *= (unsigned char)(value[i] | 1);
    b[index[i]] *= (unsigned short)(value[i] | 1);
    c[index[i]] *= value[i] | 1;
    d[index[i]] *= value[i] * 0x100000001ul | 1;
  }
}

/* Sums that carry over from one word to the next, and come back. */
COMPUTE static void wide(int n, const int *index, const unsigned *value, long *sum, unsigned long *all, unsigned long *any, unsigned long *odd,
                         unsigned long *count)
{
  for (int i = 0; i < n; i++) { /* loop wide */
    sum[index[i]] += (long)value[i] * 0x7fffffff1l - 0x123456789l;
    all[index[i]] &= value[i] * 0x1000000ul | 0xff;
    any[index[i]] |= (unsigned long)(value[i] & 3) << (i % 62);
    odd[index[i]] ^= (unsigned long)value[i] << 32;
    count[index[i]]++;
  }
}

/* What begins anywhere in a word. */
COMPUTE static void odd(int n, const int *index, unsigned char *bytes, unsigned short *halves)
{
  for (int i = 0; i < n; i++) { /* loop odd */
    bytes[index[i] % 97]++;
    halves[index[i] % 89] += 3;
  }
}

/* All that is done is undone, by the same iteration or by another one. */
COMPUTE static void back(int n, const int *index, const int *value, unsigned char *a, unsigned *b, unsigned long *c)
{
  for (int i = 0; i < n; i++) { /* loop back */
    a[index[i]] += 128;
    b[index[i]] ^= (unsigned)value[i / 2];
    c[index[i]] += (unsigned long)(value[i] - value[i]);
  }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "few", "flat", NULL};
  struct check check = check_open(argc, argv, 100000, inputs);
  size_t n = check.size;
  int *index = check_alloc(&check, n, sizeof *index), *value = check_alloc(&check, n, sizeof *value);
  unsigned *u[12];
  unsigned long *w[7];
  unsigned char *c[5];
  unsigned short *s[4];
  for (int k = 0; k < 12; k++)
    u[k] = check_alloc(&check, n, sizeof *u[k]);
  for (int k = 0; k < 7; k++)
    w[k] = check_alloc(&check, n, sizeof *w[k]);
  for (int k = 0; k < 5; k++)
    c[k] = check_alloc(&check, n + 16, sizeof *c[k]);
  for (int k = 0; k < 4; k++)
    s[k] = check_alloc(&check, n + 16, sizeof *s[k]);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    permute(&check, index, n);
    for (size_t i = 0; i < n; i++) {
      if (check_is(&check, "few"))
        index[i] %= 13;
      if (check_is(&check, "flat"))
        index[i] = 7;
      value[i] = (int)check_random(&check);
      for (int k = 0; k < 12; k++)
        u[k][i] = (unsigned)check_random(&check);
      for (int k = 0; k < 7; k++)
        w[k][i] = check_random(&check);
    }
    for (size_t i = 0; i < n + 16; i++) {
      for (int k = 0; k < 5; k++)
        c[k][i] = (unsigned char)check_random(&check);
      for (int k = 0; k < 4; k++)
        s[k][i] = (unsigned short)check_random(&check);
    }
    int count = (int)n;
    const unsigned *values = (const unsigned *)value;
    check_start(&check);
    each(count, index, values, u[0], u[1], u[2], u[3]);
    narrow(count, index, values, c[0], (signed char *)c[1], s[0], (short *)s[1]);
    products(count, index, values, c[2], s[2], u[4], w[0]);
    wide(count, index, values, (long *)w[1], w[2], w[3], w[4], w[5]);
    odd(count, index, c[3] + 7, s[3] + 3);
    back(count, index, value, c[4], u[8], w[6]);
    check_stop(&check);
    for (int k = 0; k < 12; k++)
      check_array(&check, "u", u[k], n, sizeof *u[k]);
    for (int k = 0; k < 7; k++)
      check_array(&check, "w", w[k], n, sizeof *w[k]);
    for (int k = 0; k < 5; k++)
      check_array(&check, "c", c[k], n + 16, sizeof *c[k]);
    for (int k = 0; k < 4; k++)
      check_array(&check, "s", s[k], n + 16, sizeof *s[k]);
  }
  free(value), free(index);
  for (int k = 0; k < 12; k++)
    free(u[k]);
  for (int k = 0; k < 7; k++)
    free(w[k]);
  for (int k = 0; k < 5; k++)
    free(c[k]);
  for (int k = 0; k < 4; k++)
    free(s[k]);
  return check_close(&check);
}
