/* Arrays and sizes in structs, behind pointers that only inner loops, or only some iterations, follow: matrices, particles, images, structs in structs.
 * With `inside` an image's own sizes lie in the middle of the pixels that the loop stores to: black ones, which end it there. With `missing` nothing is behind
 * some pointers, and nobody follows these.
 *
 * test size: 61
 * expect product: runs on clean missing
 * expect forces: runs on clean missing
 * expect blur: runs on clean missing
 * expect blur: stays on inside
 * expect pick: runs on clean
 * expect nested: runs on clean */
#include "../support/inputs.h"

struct matrix {
  size_t rows, columns;
  double *values;
};

struct particles {
  double *x, *y, *vx, *vy;
  int count;
};

struct image {
  int width, height, stride, channels; /* as many as leave no gap, whose bytes would be nobody's */
  uint8_t *pixels;
};

struct filter {
  const struct {
    const float *weights;
    int shift;
  } * table;
  const float *offsets;
};

COMPUTE static void multiply(struct matrix *c, const struct matrix *a, const struct matrix *b)
{
  for (size_t i = 0; i < a->rows; i++) /* loop product */
    for (size_t j = 0; j < b->columns; j++) {
      double sum = 0;
      for (size_t k = 0; k < a->columns; k++)
        sum += a->values[i * a->columns + k] * b->values[k * b->columns + j];
      c->values[i * c->columns + j] = sum;
    }
}

COMPUTE static void accelerate(struct particles *p, double step)
{
  int n = p->count;
  for (int i = 0; i < n; i++) /* loop forces */
    for (int j = 0; j < n; j++) {
      if (i == j)
        continue;
      double dx = p->x[j] - p->x[i], dy = p->y[j] - p->y[i];
      double weight = step / (dx * dx + dy * dy + 0.01);
      p->vx[i] += weight * dx;
      p->vy[i] += weight * dy;
    }
}

COMPUTE static void blur(const struct image *from, struct image *to)
{
  for (int y = 1; y < from->height - 1; y++) /* loop blur */
    for (int x = 1; x < from->width - 1; x++) {
      int sum = 0;
      for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
          sum += from->pixels[(y + dy) * from->stride + x + dx];
      to->pixels[y * to->stride + x] = (uint8_t)(sum / 9);
    }
}

/* What only some iterations follow may be nowhere. */
COMPUTE static void pick(int n, float *to, const float *from, const struct filter *f, float limit)
{
  for (int i = 0; i < n; i++) { /* loop pick */
    float value = from[i];
    if (value > limit)
      value += f->offsets[i];
    to[i] = value;
  }
}

COMPUTE static void nested(int n, int m, float *to, const struct filter *f)
{
  for (int i = 0; i < n; i++) { /* loop nested */
    float value = (float)i;
    for (int k = 0; k < m; k++)
      value = value * 0.5f + f->table->weights[i + k * f->table->shift];
    to[i] = value;
  }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "inside", "missing", NULL};
  struct check check = check_open(argc, argv, 400, inputs);
  size_t n = check.size, cells = n * n;
  bool missing = check_is(&check, "missing");
  struct matrix a = {n, n + 3, check_alloc(&check, cells + 3 * n, sizeof(double))};
  struct matrix b = {n + 3, n + 1, check_alloc(&check, (n + 3) * (n + 1), sizeof(double))};
  struct matrix c = {n, n + 2, check_alloc(&check, cells + 2 * n, sizeof(double))};
  struct particles p = {check_alloc(&check, n, sizeof(double)), check_alloc(&check, n, sizeof(double)),
                        check_alloc(&check, n, sizeof(double)), check_alloc(&check, n, sizeof(double)), (int)n};
  uint8_t *source = check_alloc(&check, 4 * cells, 1), *target = check_alloc(&check, 4 * cells + sizeof(struct image) + 16, 1);
  float *from = check_alloc(&check, cells, sizeof *from), *to = check_alloc(&check, cells, sizeof *to), *last = check_alloc(&check, cells, sizeof *last);
  float *weights = check_alloc(&check, 9 * cells, sizeof *weights);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_double(&check, a.values, cells + 3 * n);
    fill_double(&check, b.values, (n + 3) * (n + 1));
    memset(c.values, 0, (cells + 2 * n) * sizeof(double));
    for (size_t i = 0; i < n; i++) {
      p.x[i] = check_real(&check);
      p.y[i] = check_real(&check);
      p.vx[i] = p.vy[i] = 0;
    }
    for (size_t i = 0; i < 4 * cells; i++)
      source[i] = (uint8_t)check_random(&check), target[i] = (uint8_t)(i % 255 + 1);
    if (check_is(&check, "inside"))
      memset(source, 0, 4 * cells);
    fill_float(&check, from, cells);
    fill_float(&check, weights, 9 * cells);
    memset(to, 0, cells * sizeof *to);
    memset(last, 0, cells * sizeof *last);
    /* In the middle of what is stored to, where that is asked for. */
    struct image in = {(int)(2 * n), (int)(2 * n), (int)(2 * n), 1, source}, out = in;
    out.pixels = target;
    struct image *sizes = &in;
    if (check_is(&check, "inside")) {
      sizes = (struct image *)(target + (2 * cells) / 16 * 16);
      memcpy(sizes, &in, sizeof in);
    }
    struct filter filter = {(const void *)&(struct { const float *weights; int shift; }){weights, 3}, weights};
    struct filter none = {NULL, NULL};
    check_start(&check);
    multiply(&c, &a, &b);
    accelerate(&p, 0.001);
    blur(sizes, &out);
    pick((int)cells, to, from, missing ? NULL : &filter, missing ? 2.0f : 0.25f);
    nested((int)cells, missing ? 0 : 5, last, missing ? &none : &filter);
    check_stop(&check);
    sizes->pixels = NULL; /* an address is another one in each process */
    check_array(&check, "product", c.values, cells + 2 * n, sizeof(double));
    check_array(&check, "vx", p.vx, n, sizeof(double));
    check_array(&check, "vy", p.vy, n, sizeof(double));
    check_array(&check, "picture", target, 4 * cells, 1);
    check_array(&check, "picked", to, cells, sizeof *to);
    check_array(&check, "nested", last, cells, sizeof *last);
  }
  free(a.values);
  free(b.values);
  free(c.values);
  free(p.x);
  free(p.y);
  free(p.vx);
  free(p.vy);
  free(source);
  free(target);
  free(from);
  free(to);
  free(last);
  free(weights);
  return check_close(&check);
}
