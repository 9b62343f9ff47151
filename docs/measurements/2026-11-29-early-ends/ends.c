#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
#include <time.h>
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1e3 + t.tv_nsec * 1e-6; }
struct record { int id, valid; double value, weight; };
#define FN __attribute__((noinline))
FN long find(long n, const int *a, int x) { for (long i = 0; i < n; i++) if (a[i] == x) return i; return -1; }
FN const char *scan(const char *p, const char *end, int c) { while (p < end && *p != c) p++; return p; }
FN long validate(long n, const struct record *r) { for (long i = 0; i < n; i++) { if (!r[i].valid) return i; if (r[i].value < 0 || r[i].weight != r[i].weight) return -i; } return n; }
FN int normalize(long n, const double *in, double *out) {
  for (long i = 0; i < n; i++) { if (in[i] < 0) { fprintf(stderr, "negative at %ld\n", i); exit(1); } out[i] = sqrt(in[i]) / (1 + in[i]); } return 0; }
FN int solve(long n, const double *a, const double *b, double *x) { for (long i = 0; i < n; i++) { if (a[i] == 0) return -1; double y = b[i] / a[i]; for (int k = 0; k < 30; k++) y = 0.5 * (y + (b[i] * b[i] + 1) / (fabs(y) + 1)); x[i] = y; } return 0; }
FN int rows(long n, long m, const float *a, float *s) { for (long i = 0; i < n; i++) { float t = 0; for (long j = 0; j < m; j++) { if (a[i*m+j] > 1e30f) return -1; t += a[i*m+j] * a[i*m+j]; } s[i] = t; } return 0; }
FN int symmetric(long n, const double *a) { for (long i = 0; i < n; i++) for (long j = 0; j < i; j++) if (a[i*n+j] != a[j*n+i]) return 0; return 1; }
FN long count_until(long n, const unsigned char *s) { long c = 0; for (long i = 0; i < n && s[i]; i++) c += s[i] == ' '; return c; }
FN int nothing_soon(long n, const int *a) { for (long i = 0; i < n; i++) if (a[i] & 1) return (int)i; return -1; }
#define TIME(name, e) do { double best = 1e9, first = 0; for (int rep = 0; rep < 9; rep++) { double t = now(); sink += (double)(e); t = now() - t; if (!rep) first = t; if (t < best) best = t; } printf("%-12s first %9.3f best %9.3f\n", name, first, best); } while (0)
int main(void) {
  double sink = 0; long n = 1 << 24;
  int *a = malloc(n * 4 * 4); char *s = malloc(n * 8); struct record *r = malloc(n / 2 * sizeof *r); double *x = malloc(n * 8), *y = malloc(n * 8), *z = malloc(n * 8); float *f = malloc(n * 4), *g = malloc(n * 4);
  for (long i = 0; i < 4 * n; i++) a[i] = (int)(i & 0xffff) * 2;
  memset(s, 'a', 8 * n); s[8 * n - 1] = 0; for (long i = 0; i < n; i++) { x[i] = i % 1000; y[i] = 1 + i % 7; f[i] = i % 100; if (i & 7) s[i * 8] = ' '; }
  for (long i = 0; i < n / 2; i++) r[i] = (struct record){(int)i, 1, i, 2.0 * i};
  long m = 4096; double *q = malloc(m * m * 8); for (long i = 0; i < m; i++) for (long j = 0; j < m; j++) q[i*m+j] = (double)(i + j);
  a[4 * n - 5] = -7;
  TIME("find", find(4 * n, a, -7)); TIME("scan", scan(s, s + 8 * n, 'x') - s); TIME("validate", validate(n / 2, r)); TIME("normalize", normalize(n, x, z));
  TIME("solve", solve(n / 8, y, x, z)); TIME("rows", rows(4096, 4096, f, g)); TIME("symmetric", symmetric(m, q)); TIME("count", count_until(8 * n, (unsigned char *)s));
  a[100] |= 1; double t = now(); for (int k = 0; k < 1000000; k++) sink += nothing_soon(4 * n - (k & 7), a); printf("%-12s %9.3f\n", "soon", now() - t);
  double h = sink; for (long i = 0; i < n; i++) h += z[i] + g[i % 4096]; printf("%.17g\n", h); return 0; }
