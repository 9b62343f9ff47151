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
#include "../support/tables.h"

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
  struct tables t = alloc_tables(&check);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_tables(&check, &t);
    const int count = (int)t.n, *index = t.index;
    const unsigned *values = (const unsigned *)t.value;
    check_start(&check);
    each(count, index, values, t.u[0], t.u[1], t.u[2], t.u[3]);
    narrow(count, index, values, t.c[0], (signed char *)t.c[1], t.s[0], (short *)t.s[1]);
    products(count, index, values, t.c[2], t.s[2], t.u[4], t.w[0]);
    wide(count, index, values, (long *)t.w[1], t.w[2], t.w[3], t.w[4], t.w[5]);
    odd(count, index, t.c[3] + 7, t.s[3] + 3);
    back(count, index, t.value, t.c[4], t.u[8], t.w[6]);
    check_stop(&check);
    check_tables(&check, &t);
  }
  free_tables(&t);
  return check_close(&check);
}
