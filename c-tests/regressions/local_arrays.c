#include <stdio.h>
#include <stdlib.h>
/* Local arrays that loops store to, and others that they reach through an array of pointers, read behind them. */
double work(int n, double **restrict rows, double *restrict out) {
  double a[512];
  int counts[512];
  float f[512];
  double *ways[2];
  double x[512], y[512];
  for (int i = 0; i < 512; i++) { a[i] = i; counts[i] = i; f[i] = 1; x[i] = 1; y[i] = 2; }
  ways[0] = x;
  ways[1] = y;
  for (int i = 0; i < n; i++) /* entered */ { a[i] = a[i] * 2 + out[i]; counts[i] += i; f[i] = counts[i]; }
  for (int i = 0; i < n; i++) /* entered */ { ways[i & 1][i] = i + a[i]; }
  double s = 0;
  for (int i = 0; i < 512; i++) s += a[i] + counts[i] * 3 + f[i] + x[i] * 5 + y[i] * 7;
  return s + rows[0][0];
}
int main(void) {
  double out[512], r[4] = {4}; double *rows[1] = {r};
  for (int i = 0; i < 512; i++) out[i] = i * 0.5;
  printf("%.17g\n", work(512, rows, out));
  return 0;
}
