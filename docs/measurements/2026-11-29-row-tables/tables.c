#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <math.h>
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1e3 + t.tv_nsec / 1e6; }
#define N __attribute__((noinline))
N void product(int n, double **c, double **a, double **b) { for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { double s = 0; for (int k = 0; k < n; k++) s += a[i][k] * b[k][j]; c[i][j] = s; } }
N void stencil(int n, double **u, double **v) { for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++) v[i][j] = 0.25 * (u[i-1][j] + u[i+1][j] + u[i][j-1] + u[i][j+1]); }
struct body { double x, y, z, m, ax, ay, az; };
N void nbody(int n, struct body **p) { for (int i = 0; i < n; i++) { double ax = 0, ay = 0, az = 0; for (int j = 0; j < n; j++) { double dx = p[j]->x - p[i]->x, dy = p[j]->y - p[i]->y, dz = p[j]->z - p[i]->z; double r = dx*dx+dy*dy+dz*dz + 0.01; double w = p[j]->m / (r * sqrt(r)); ax += w*dx; ay += w*dy; az += w*dz; } p[i]->ax = ax; p[i]->ay = ay; p[i]->az = az; } }
N void blur(int h, int w, unsigned char **in, unsigned char **out) { for (int y = 2; y < h - 2; y++) for (int x = 2; x < w - 2; x++) { int s = 0; for (int dy = -2; dy <= 2; dy++) for (int dx = -2; dx <= 2; dx++) s += in[y+dy][x+dx]; out[y][x] = s / 25; } }
N void floyd(int n, int **d) { for (int k = 0; k < n; k++) for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) if (d[i][k] + d[k][j] < d[i][j]) d[i][j] = d[i][k] + d[k][j]; }
N void lu(int n, double **a) { for (int k = 0; k < n - 1; k++) for (int i = k + 1; i < n; i++) { a[i][k] /= a[k][k]; for (int j = k + 1; j < n; j++) a[i][j] -= a[i][k] * a[k][j]; } }
N void heat3(int n, double ***u, double ***v) { for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++) for (int k = 1; k < n - 1; k++) v[i][j][k] = u[i][j][k] + 0.1 * (u[i-1][j][k] + u[i+1][j][k] + u[i][j-1][k] + u[i][j+1][k] + u[i][j][k-1] + u[i][j][k+1] - 6 * u[i][j][k]); }
static double **mk(int n) { double **r = malloc(n * sizeof *r); for (int i = 0; i < n; i++) { r[i] = malloc(n * 8); for (int j = 0; j < n; j++) r[i][j] = (i * 7 + j * j) % 13 + (i == j) * 50; } return r; }
static int **mki(int n) { int **r = malloc(n * sizeof *r); for (int i = 0; i < n; i++) { r[i] = malloc(n * 4); for (int j = 0; j < n; j++) r[i][j] = (i * 7 + j * j) % 113; } return r; }
static unsigned char **mkc(int n) { unsigned char **r = malloc(n * sizeof *r); for (int i = 0; i < n; i++) { r[i] = malloc(n); for (int j = 0; j < n; j++) r[i][j] = i * 7 + j * j; } return r; }
static unsigned long s; static void h(const void *p, long n) { const unsigned char *c = p; for (long i = 0; i < n; i += 7) s = s * 31 + c[i]; }
#define RUN(name, reps, call, hash) if (!only || strstr(only, name)) { double best = 1e9; for (int r = 0; r < reps; r++) { double t = now(); call; t = now() - t; if (t < best) best = t; } s = 0; hash; printf("%-10s %9.2f %lx\n", name, best, s); fflush(stdout); }
#define H(m, n, w) for (int i_ = 0; i_ < (n); i_++) h(m[i_], (n) * (w))
int main(int c, char **v) { const char *only = c > 1 ? v[1] : 0; int f = c > 2 ? atoi(v[2]) : 1;
  { int n = 800; double **a = mk(n), **b = mk(n), **d = mk(n); RUN("product", 8 * f, product(n, d, a, b), H(d, n, 8)) }
  { int n = 4000; double **a = mk(n), **b = mk(n); RUN("stencil", 20 * f, (stencil(n, a, b), stencil(n, b, a)), H(a, n, 8)) }
  { int n = 4096; struct body **p = malloc(n * 8); for (int i = 0; i < n; i++) { p[i] = malloc(sizeof **p); *p[i] = (struct body){i % 7, i % 11, i % 13, 1 + i % 3, 0, 0, 0}; } RUN("nbody", 20 * f, nbody(n, p), for (int i = 0; i < n; i++) h(p[i], sizeof **p)) }
  { int n = 3000; unsigned char **a = mkc(n), **b = mkc(n); RUN("blur", 10 * f, blur(n, n, a, b), H(b, n, 1)) }
  { int n = 600; int **d = mki(n); RUN("floyd", 2, floyd(n, d), H(d, n, 4)) }
  { int n = 1200; double **a = mk(n); RUN("lu", 1, lu(n, a), H(a, n, 8)) }
  { int n = 160; double ***a = malloc(n * 8), ***b = malloc(n * 8); for (int i = 0; i < n; i++) a[i] = mk(n), b[i] = mk(n); RUN("heat3", 20 * f, (heat3(n, a, b), heat3(n, b, a)), for (int i = 0; i < n; i++) { H(b[i], n, 8); }) }
}
