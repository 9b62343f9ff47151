/* Time of each of a few kernels over arrays in structs: name, repetition, ms. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
typedef struct { size_t rows, cols; double *v; } matrix;
typedef struct { double *x, *y, *z, *vx, *vy, *vz; int n; } particles;
typedef struct { int w, h, stride; uint8_t *data; } image;
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1e3 + t.tv_nsec / 1e6; }
__attribute__((noinline)) void product(matrix *c, const matrix *a, const matrix *b)
{
  for (size_t i = 0; i < a->rows; i++)
    for (size_t j = 0; j < b->cols; j++) {
      double s = 0;
      for (size_t k = 0; k < a->cols; k++)
        s += a->v[i * a->cols + k] * b->v[k * b->cols + j];
      c->v[i * c->cols + j] = s;
    }
}
__attribute__((noinline)) void forces(particles *p, double dt)
{
  int n = p->n;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double dx = p->x[j] - p->x[i], dy = p->y[j] - p->y[i], dz = p->z[j] - p->z[i];
      double r2 = dx * dx + dy * dy + dz * dz + 0.01, f = dt / (r2 * sqrt(r2));
      p->vx[i] += f * dx; p->vy[i] += f * dy; p->vz[i] += f * dz;
    }
}
__attribute__((noinline)) void blur(const image *s, image *d)
{
  for (int y = 2; y < s->h - 2; y++)
    for (int x = 2; x < s->w - 2; x++) {
      int sum = 0;
      for (int dy = -2; dy <= 2; dy++)
        for (int dx = -2; dx <= 2; dx++)
          sum += s->data[(y + dy) * s->stride + x + dx];
      d->data[y * d->stride + x] = sum / 25;
    }
}
static uint64_t hash(const void *p, size_t n) { uint64_t h = 1, w; for (size_t i = 0; i + 8 <= n; i += 8) { memcpy(&w, (const char *)p + i, 8); h = h * 31 + w; } return h; }
int main(int argc, char **argv)
{
  const char *which = argv[1];
  size_t n = atoi(argv[2]); int reps = atoi(argv[3]);
  (void)argc;
  matrix a = {n, n, malloc(n * n * 8)}, b = {n, n, malloc(n * n * 8)}, c = {n, n, malloc(n * n * 8)};
  particles p = {malloc(8 * n), malloc(8 * n), malloc(8 * n), malloc(8 * n), malloc(8 * n), malloc(8 * n), (int)n};
  image s = {(int)n, (int)n, (int)n, malloc(n * n)}, d = {(int)n, (int)n, (int)n, malloc(n * n)};
  for (size_t i = 0; i < n * n; i++) { a.v[i] = i % 17 * 0.5; b.v[i] = i % 13 * 0.25; c.v[i] = 0; s.data[i] = i * 7 % 251; d.data[i] = 0; }
  for (size_t i = 0; i < n; i++) { p.x[i] = i % 101; p.y[i] = i % 103; p.z[i] = i % 107; p.vx[i] = p.vy[i] = p.vz[i] = 0; }
  for (int r = 0; r < reps; r++) {
    double t = now();
    uint64_t h = 0;
    if (!strcmp(which, "product")) { product(&c, &a, &b); double e = now(); h = hash(c.v, n * n * 8); a.v[r] += h % 3; t = e - t; }
    else if (!strcmp(which, "forces")) { forces(&p, 1e-3); double e = now(); h = hash(p.vx, 8 * n); p.x[r] += h % 3; t = e - t; }
    else { blur(&s, &d); double e = now(); h = hash(d.data, n * n); s.data[r] += h % 3; t = e - t; }
    printf("%s %zu %d %.3f %llx\n", which, n, r, t, (unsigned long long)h);
  }
  return 0;
}
