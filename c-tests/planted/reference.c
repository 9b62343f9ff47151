/* What the loops of planted.c compute. Every access is volatile, so they run as they stand whoever compiles them. */
#include "planted.h"

void reference_indirect_write_write(int n, const int *to, const uint32_t *in, uint32_t *out)
{
  const volatile int *t = to;
  const volatile uint32_t *x = in;
  volatile uint32_t *o = out;
  for (volatile int i = 0; i < n; i++)
    o[t[i]] = x[i];
}

void reference_indirect_read_write(int n, const int *to, const int *from, const uint32_t *in, uint32_t *out)
{
  const volatile int *t = to, *f = from;
  const volatile uint32_t *x = in;
  volatile uint32_t *o = out;
  for (volatile int i = 0; i < n; i++)
    o[t[i]] = o[f[i]] * 3 + x[i];
}

void reference_indirect_mixed_width(int n, const int *word, const int *byte, const uint32_t *in, unsigned char *out)
{
  const volatile int *w = word, *b = byte;
  const volatile uint32_t *x = in;
  for (volatile int i = 0; i < n; i++) {
    *(volatile uint32_t *)(void *)(out + w[i]) = x[i];
    *(volatile unsigned char *)(out + b[i]) = (unsigned char)(x[i] >> 24);
  }
}

void reference_rows_read_write(int n, const int *order, const int *begin, const int *column, const uint32_t *weight, uint32_t *x)
{
  const volatile int *o = order, *b = begin, *c = column;
  const volatile uint32_t *w = weight;
  volatile uint32_t *y = x;
  for (volatile int p = 0; p < n; p++)
    for (volatile int k = b[p]; k < b[p + 1]; k++)
      y[o[p]] = y[o[p]] * 3 - w[k] * y[c[k]];
}

void reference_rows_side_by_side(int n, const int *order, const int *begin, const int *end, const uint32_t *weight, uint32_t *x)
{
  const volatile int *o = order, *b = begin, *e = end;
  const volatile uint32_t *w = weight;
  volatile uint32_t *y = x;
  for (volatile int p = 0; p < n; p++)
    for (volatile int k = b[p]; k < e[p]; k++)
      y[o[p]] = y[o[p]] * 3 - w[k] * y[k];
}

void reference_rows_wide(int n, const int *order, const int *begin, const int *column, const uint32_t *weight, const uint32_t *words,
                         unsigned char *x)
{
  const volatile int *o = order, *b = begin, *c = column;
  const volatile uint32_t *w = weight, *z = words;
  volatile unsigned char *y = x;
  for (volatile int p = 0; p < n; p++)
    for (volatile int k = b[p]; k < b[p + 1]; k++)
      y[o[p]] = (unsigned char)(y[o[p]] * 3 - w[k] * z[c[k]]);
}

void reference_rows_mixed_width(int n, const int *order, const int *begin, const int *column, const uint32_t *weight,
                                const unsigned char *bytes, uint32_t *x)
{
  const volatile int *o = order, *b = begin, *c = column;
  const volatile uint32_t *w = weight;
  const volatile unsigned char *z = bytes;
  volatile uint32_t *y = x;
  for (volatile int p = 0; p < n; p++)
    for (volatile int k = b[p]; k < b[p + 1]; k++)
      y[o[p]] = y[o[p]] * 3 - w[k] * z[c[k]];
}

void reference_pointer_write_write(int n, const uint32_t *in, uint32_t *first, uint32_t *second)
{
  const volatile uint32_t *x = in;
  volatile uint32_t *p = first, *q = second;
  for (volatile int i = 0; i < n; i++) {
    *(p + i) = x[i];
    *(q + i) = ~x[i];
  }
}

void reference_pointer_read_write(int n, const uint32_t *in, const uint32_t *from, uint32_t *to)
{
  const volatile uint32_t *x = in, *f = from;
  volatile uint32_t *t = to;
  for (volatile int i = 0; i < n; i++)
    *(t + i) = *(f + i) * 3 + x[i];
}

void reference_pointer_mixed_width(int n, const uint32_t *in, uint32_t *words, unsigned char *bytes)
{
  const volatile uint32_t *x = in;
  volatile uint32_t *w = words;
  volatile unsigned char *b = bytes;
  for (volatile int i = 0; i < n; i++) {
    *(w + i) = x[i];
    *(b + i) = (unsigned char)(x[i] >> 24);
  }
}

void reference_updates_write(int n, const int *to, const int *from, const uint32_t *in, uint32_t *out)
{
  const volatile int *t = to, *f = from;
  const volatile uint32_t *x = in;
  volatile uint32_t *o = out;
  for (volatile int i = 0; i < n; i++) {
    o[f[i]] = o[f[i]] + x[i];
    o[t[i]] = ~x[i];
  }
}

void reference_updates_of_two_kinds(int n, const int *to, const int *from, const uint32_t *in, uint32_t *out)
{
  const volatile int *t = to, *f = from;
  const volatile uint32_t *x = in;
  volatile uint32_t *o = out;
  for (volatile int i = 0; i < n; i++) {
    o[f[i]] = o[f[i]] + x[i];
    o[t[i]] = o[t[i]] ^ x[i];
  }
}

void reference_updates_read(int n, const int *to, const int *from, const uint32_t *in, uint32_t *out, uint32_t *seen)
{
  const volatile int *t = to, *f = from;
  const volatile uint32_t *x = in;
  volatile uint32_t *o = out;
  volatile uint32_t *s = seen;
  for (volatile int i = 0; i < n; i++) {
    o[f[i]] = o[f[i]] + x[i];
    s[i] = o[t[i]];
  }
}

void reference_updates_mixed_width(int n, const int *word, const int *byte, const uint32_t *in, uint32_t *out, unsigned char *bytes)
{
  const volatile int *w = word, *b = byte;
  const volatile uint32_t *x = in;
  volatile uint32_t *o = out;
  volatile unsigned char *y = bytes;
  for (volatile int i = 0; i < n; i++) {
    o[w[i]] = o[w[i]] + x[i];
    y[b[i]] = (unsigned char)(y[b[i]] ^ x[i] >> 24);
  }
}
