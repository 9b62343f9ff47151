/* What the compiler knows it computes itself, and rounds correctly then; the library does not always.
   flags: -Wl,--no-as-needed -lm */
#include <math.h>
#include <stdio.h>
#include <string.h>

#define N 200

static double a[N], out[N], zeros[N];
static int k[N];
static unsigned char small[N];

static void show(const char *what, int n)
{
  unsigned long sum = 0;
  for (int i = 0; i < n; i++) {
    unsigned long bits;
    memcpy(&bits, &out[i], sizeof bits);
    sum = sum * 31 + bits;
  }
  printf("%s %lx\n", what, sum);
}

int main(void)
{
  static const double table[4] = {1.35, 1.65, 2.65, 3.15};
  double c = 1.35, few[4];
  int zero = 0, all = -1, width = 8;
  for (int i = 0; i < N; i++) {
    a[i] = i & 1 ? 1.35 : i * 0.37 + 0.1;
    k[i] = i;
    small[i] = (unsigned char)i;
  }
  for (int i = 0; i < N; i++) {
    out[i] = 0;
    if (a[i] == c)
      out[i] = cbrt(a[i]);
  }
  show("equal", N);
  for (int i = 0; i < N; i++)
    out[i] = a[i] != c ? 0 : cbrt(a[i]);
  show("not equal", N);
  for (int i = 0; i < N; i++)
    out[i] = cbrt(k[i] * zero + 1.35);
  show("product", N);
  for (int i = 0; i < N; i++)
    out[i] = cbrt((k[i] & zero) + 1.35);
  show("and", N);
  for (int i = 0; i < N; i++)
    out[i] = cbrt((k[i] | all) + 2.35);
  show("or", N);
  for (int i = 0; i < N; i++)
    out[i] = cbrt((small[i] >> width) + 1.35);
  show("shift", N);
  for (int i = 0; i < N; i++) {
    int x = k[i];
    x *= zero;
    out[i] = cbrt(x + 1.35);
  }
  show("assigned product", N);
  for (int i = 0; i < N; i++)
    out[i] = cbrt(zeros[i] + 1.35);
  show("never stored", N);
  for (int i = 0; i < 4; i++)
    out[i] = cbrt(table[i]);
  show("table", 4);
  few[0] = few[1] = few[2] = 1.35;
  few[3] = 3.15;
  for (int i = 0; i < 4; i++)
    out[i] = cbrt(few[i]);
  show("few", 4);
  return 0;
}
