/* Arithmetic where machines differ or optimisers get bold: integer division and remainder, shifts, conversions between
 * integers and floating-point numbers, narrow types, signed char, bool, long double.
 *
 * test size: 3001
 * expect divisions: runs on clean */
#include "../support/inputs.h"

COMPUTE static void divisions(int n, const int *a, const int *b, int *quotient, int *remainder)
{
  for (int i = 0; i < n; i++) { /* loop divisions */
    quotient[i] = a[i] / b[i];
    remainder[i] = a[i] % b[i];
  }
}

COMPUTE static void shifts(int n, const int *a, long *out)
{
  for (int i = 0; i < n; i++) /* loop shifts */
    out[i] = (long)((unsigned long)a[i] << (i & 31)) ^ (a[i] >> (i % 32)) ^ (long)((unsigned)a[i] >> (i & 31));
}

COMPUTE static void conversions(int n, const float *f, const double *d, int *i32, unsigned char *u8, long long *i64, float *back)
{
  for (int i = 0; i < n; i++) { /* loop conversions */
    i32[i] = (int)f[i];
    u8[i] = (unsigned char)(d[i] * 0.5 + 100.0);
    i64[i] = (long long)(d[i] * 1e9);
    back[i] = (float)i64[i] + (float)u8[i] + (float)(unsigned)i32[i];
  }
}

COMPUTE static void characters(int n, const char *text, signed char *s, unsigned char *u, bool *is_letter, _Bool *odd)
{
  for (int i = 0; i < n; i++) { /* loop characters */
    s[i] = (signed char)(text[i] * 3);
    u[i] = (unsigned char)(text[i] + s[i]);
    is_letter[i] = (text[i] >= 'a' && text[i] <= 'z') || (text[i] >= 'A' && text[i] <= 'Z');
    odd[i] = text[i] & 1;
  }
}

COMPUTE static void promotions(int n, const short *a, const unsigned short *b, int *out, unsigned char *low)
{
  for (int i = 0; i < n; i++) { /* loop promotions */
    out[i] = (a[i] >> 2) * b[i] - (b[i] << 3);
    low[i] = (unsigned char)~a[i];
    low[i] >>= 1;
    out[i] += -low[i] + !a[i] + (a[i] < b[i]);
  }
}

COMPUTE static void wide(int n, const double *in, long double *out)
{
  for (int i = 0; i < n; i++)
    out[i] = in[i] / 3.0L;
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", NULL};
  struct check check = check_open(argc, argv, 1u << 18, inputs);
  size_t n = check.size;
  int *a = check_alloc(&check, 4 * n, sizeof *a);
  long *longs = check_alloc(&check, n, sizeof *longs);
  long long *wides = check_alloc(&check, n, sizeof *wides);
  float *f = check_alloc(&check, 2 * n, sizeof *f);
  double *d = check_alloc(&check, n, sizeof *d);
  long double *ld = check_alloc(&check, n, sizeof *ld);
  unsigned char *bytes = check_alloc(&check, 6 * n, 1);
  short *shorts = check_alloc(&check, 2 * n, sizeof *shorts);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    for (size_t i = 0; i < n; i++) {
      a[i] = (int)check_random(&check);
      a[n + i] = 1 + (int)check_below(&check, 1000);
      if (check_below(&check, 2) == 0)
        a[n + i] = -a[n + i];
      f[i] = (float)(check_real(&check) * 2e6 - 1e6);
      d[i] = check_real(&check) * 200.0 - 100.0;
      bytes[i] = (unsigned char)check_random(&check);
      shorts[i] = (short)check_random(&check);
      shorts[n + i] = (short)check_random(&check);
    }
    check_start(&check);
    divisions((int)n, a, a + n, a + 2 * n, a + 3 * n);
    shifts((int)n, a, longs);
    conversions((int)n, f, d, a + n, bytes + n, wides, f + n);
    characters((int)n, (char *)bytes, (signed char *)bytes + 2 * n, bytes + 3 * n, (bool *)bytes + 4 * n,
               (bool *)bytes + 5 * n);
    promotions((int)n, shorts, (unsigned short *)shorts + n, a + 2 * n, bytes + n);
    wide((int)n, d, ld);
    check_stop(&check);
    check_array(&check, "ints", a, 4 * n, sizeof *a);
    check_array(&check, "longs", longs, n, sizeof *longs);
    check_array(&check, "wides", wides, n, sizeof *wides);
    check_array(&check, "floats", f, 2 * n, sizeof *f);
    check_array(&check, "bytes", bytes, 6 * n, 1);
    double sum = 0.0; /* a long double has bytes that mean nothing */
    for (size_t i = 0; i < n; i++)
      sum += (double)ld[i];
    check_array(&check, "sum", &sum, 1, sizeof sum);
  }
  free(a);
  free(longs);
  free(wides);
  free(f);
  free(d);
  free(ld);
  free(bytes);
  free(shorts);
  return check_close(&check);
}
