/* Tables of pointers: matrices whose rows were allocated one by one, images, structs that pointers in an array lead to, tables of tables, tables in structs.
 * All rows are apart but for `shared`, where some slots hold the same pointer, `touching`, where rows have one element in common with the next, and
 * `inside`, where the loop stores to the table itself, or its own bounds lie in a row. With `backwards` rows are in the other order, with `packed` they have no gap, with `absent` nothing is behind some slots, and nobody follows these.
 *
 * test size: 37
 * expect product: runs on clean backwards packed
 * expect sweep: runs on clean backwards packed
 * expect picture: runs on clean backwards
 * expect forces: runs on clean backwards
 * expect counts: runs on clean backwards packed
 * expect cube: runs on clean
 * expect layers: runs on clean
 * expect column: runs on clean backwards packed
 * expect grown: runs on clean
 * expect some: runs on clean absent */
#include "../support/inputs.h"

struct body {
  double place[3], mass, force[3];
};

struct size {
  int rows, columns;
};

struct layer {
  int width;
  float *weights, *out;
};

struct matrix {
  size_t rows, columns;
  double **row;
};

COMPUTE static void multiply(struct matrix *c, const struct matrix *a, const struct matrix *b)
{
  for (size_t i = 0; i < a->rows; i++) /* loop product */
    for (size_t j = 0; j < b->columns; j++) {
      c->row[i][j] = 0;
      for (size_t k = 0; k < a->columns; k++)
        c->row[i][j] += a->row[i][k] * b->row[k][j];
    }
}

/* Pointers to rows in variables; the neighbours' rows are only loaded from. */
COMPUTE static void sweep(int n, int m, double **to, double **from)
{
  for (int i = 1; i < n - 1; i++) { /* loop sweep */
    double *row = to[i];
    const double *own = from[i], *above = from[i - 1], *below = from[i + 1];
    for (int j = 1; j < m - 1; j++)
      row[j] = 0.25 * (own[j - 1] + own[j + 1] + above[j] + below[j]);
  }
}

/* Bytes may be anything, the pointers too. */
COMPUTE static void blur(int height, int width, unsigned char **in, unsigned char **out)
{
  for (int y = 1; y < height - 1; y++) /* loop picture */
    for (int x = 1; x < width - 1; x++) {
      int sum = 0;
      for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
          sum += in[y + dy][x + dx];
      out[y][x] = (unsigned char)(sum / 9);
    }
}

COMPUTE static void attract(int n, struct body **b)
{
  for (int i = 0; i < n; i++) { /* loop forces */
    double force[3] = {0, 0, 0};
    for (int j = 0; j < n; j++) {
      double d[3] = {b[j]->place[0] - b[i]->place[0], b[j]->place[1] - b[i]->place[1], b[j]->place[2] - b[i]->place[2]};
      double weight = b[j]->mass / (d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 0.5);
      for (int k = 0; k < 3; k++)
        force[k] += weight * d[k];
    }
    b[i]->force[0] = force[0];
    b[i]->force[1] = force[1];
    b[i]->force[2] = force[2];
  }
}

/* Integers, whose updates would commute where rows meet. */
COMPUTE static void count(unsigned n, unsigned m, int **to, int **from)
{
  for (unsigned i = 0; i < n; i++) /* loop counts */
    for (unsigned j = 0; j < m; j++)
      to[i][j] += from[i][j] * 3 + 1;
}

COMPUTE static void diffuse(int n, float ***to, float ***from)
{
  for (int i = 1; i < n - 1; i++) /* loop cube */
    for (int j = 1; j < n - 1; j++)
      for (int k = 1; k < n - 1; k++)
        to[i][j][k] = from[i - 1][j][k] + from[i + 1][j][k] + from[i][j - 1][k] + from[i][j + 1][k] + from[i][j][k - 1] -
                      from[i][j][k + 1];
}

COMPUTE static void infer(int n, int m, struct layer *l, const float *in)
{
  for (int i = 0; i < n; i++) /* loop layers */
    for (int j = 0; j < m; j++)
      l[i].out[j] = l[i].weights[j] * in[j] + 1;
}

/* Along the columns: all rows in each iteration. */
COMPUTE static void scale(int n, int m, double **a, const double *by)
{
  for (int j = 0; j < m; j++) { /* loop column */
    double factor = by[j];
    for (int i = 0; i < n; i++)
      a[i][j] = a[i][j] * factor + a[i][j];
  }
}

/* Each iteration makes the slot that it then follows. */
COMPUTE static void build(int n, int m, double **table, double *pool)
{
  for (int i = 0; i < n; i++) { /* loop build */
    table[i] = pool + (size_t)i * (size_t)m;
    for (int j = 0; j < m; j++)
      table[i][j] += i;
  }
}

/* The same a table further down. */
COMPUTE static void plan(int n, int m, double ***table, double *pool)
{
  for (int i = 0; i < n; i++) { /* loop plan */
    table[i][0] = pool + (size_t)(i / 2) * (size_t)m;
    for (int j = 0; j < m; j++)
      table[i][0][j] = table[i][0][j] * 0.75 + i;
  }
}

/* How many rows and columns there are may be some of the numbers that it stores to. */
COMPUTE static void grow(const struct size *size, int **to)
{
  for (int i = 0; i < size->rows; i++) /* loop grown */
    for (int j = 0; j < size->columns; j++)
      to[i][j]--;
}

COMPUTE static void some(int n, int m, double **a, const int *wanted)
{
  for (int i = 0; i < n; i++) /* loop some */
    if (wanted[i])
      for (int j = 0; j < m; j++)
        a[i][j] = a[i][j] * 0.5 + j;
}

/* A table of rows in one piece of memory, in which they lie so many elements apart. */
static void lay(void **table, size_t n, void *memory, size_t apart, size_t width, bool backwards)
{
  for (size_t i = 0; i < n; i++)
    table[i] = (char *)memory + (backwards ? n - 1 - i : i) * apart * width;
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "shared", "touching", "inside", "backwards", "packed", "absent", NULL};
  struct check check = check_open(argc, argv, 120, inputs);
  size_t n = check.size, m = n + 3, room = m + 2, cells = n * room;
  bool backwards = check_is(&check, "backwards"), shared = check_is(&check, "shared"), absent = check_is(&check, "absent");
  size_t apart = check_is(&check, "touching") ? m - 1 : check_is(&check, "packed") ? m : room;
  double *memory[3], **table[3], **rows = check_alloc(&check, n, sizeof *rows);
  for (int t = 0; t < 3; t++)
    memory[t] = check_alloc(&check, cells, sizeof(double)), table[t] = check_alloc(&check, n, sizeof(double *));
  unsigned char *pixels[2], **lines[2];
  int *numbers[2], **counts[2];
  float *planes[2], ***cube[2], **pencils[2];
  for (int t = 0; t < 2; t++) {
    pixels[t] = check_alloc(&check, cells, 1), lines[t] = check_alloc(&check, n, sizeof *lines[t]);
    numbers[t] = check_alloc(&check, cells, sizeof(int)), counts[t] = check_alloc(&check, n, sizeof *counts[t]);
    planes[t] = check_alloc(&check, n * n * n, sizeof(float)), cube[t] = check_alloc(&check, n, sizeof *cube[t]);
    pencils[t] = check_alloc(&check, n * n, sizeof *pencils[t]);
  }
  struct body *bodies = check_alloc(&check, n, sizeof *bodies), **order = check_alloc(&check, n, sizeof *order);
  struct layer *layers = check_alloc(&check, n, sizeof *layers);
  float *weights = check_alloc(&check, 2 * cells, sizeof *weights), *in = check_alloc(&check, m, sizeof *in);
  int *wanted = check_alloc(&check, n, sizeof *wanted);
  double ***plans = check_alloc(&check, n, sizeof *plans), **planned = check_alloc(&check, n, sizeof *planned);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    for (int t = 0; t < 3; t++) {
      fill_double(&check, memory[t], cells);
      lay((void **)table[t], n, memory[t], apart, sizeof(double), backwards);
    }
    for (int t = 0; t < 2; t++) {
      for (size_t i = 0; i < cells; i++)
        pixels[t][i] = (unsigned char)check_random(&check), numbers[t][i] = (int)check_below(&check, 100);
      fill_float(&check, planes[t], n * n * n);
      lay((void **)lines[t], n, pixels[t], apart, 1, backwards);
      lay((void **)counts[t], n, numbers[t], apart, sizeof(int), backwards);
      lay((void **)pencils[t], n * n, planes[t], n, sizeof(float), backwards);
      lay((void **)cube[t], n, pencils[t], n, sizeof(float *), false);
    }
    lay((void **)order, n, bodies, 1, sizeof *bodies, backwards);
    fill_float(&check, weights, 2 * cells);
    fill_float(&check, in, m);
    for (size_t i = 0; i < n; i++) {
      bodies[i] = (struct body){{check_real(&check), check_real(&check), check_real(&check)}, check_real(&check), {0, 0, 0}};
      layers[i] = (struct layer){(int)m, weights + i * room, weights + cells + i * room};
      wanted[i] = check_below(&check, 3) != 0;
    }
    if (shared) {
      table[0][n / 2] = table[0][n / 3], table[2][1] = table[0][n - 1], table[1][n / 2] = table[2][n / 2 + 1];
      lines[1][n / 2] = lines[0][n / 2 - 1], counts[0][n / 4] = counts[0][n / 5], counts[1][2] = counts[0][n / 2];
      order[n / 3] = order[n / 2], layers[n / 2].out = layers[n / 2 + 1].weights;
      cube[0][n / 2] = cube[0][n / 2 + 1], cube[1][n / 4][n / 2] = cube[0][n / 3][n / 3];
    }
    for (size_t i = 0; i < n; i++)
      planned[i] = memory[2] + i * room, plans[i] = planned + i;
    struct size own = {(int)n, (int)m}, *size = &own;
    if (check_is(&check, "inside"))
      size = (struct size *)(counts[1][n / 2] + 4), *size = own;
    check_start(&check);
    struct matrix c = {n, m, table[0]}, a = {n, n, table[1]}, b = {n, m, table[2]};
    multiply(&c, &a, &b);
    sweep((int)n, (int)m, table[1], table[0]);
    blur((int)n, (int)m, lines[0], lines[1]);
    attract((int)n, order);
    count((unsigned)n, (unsigned)m, counts[0], counts[1]);
    diffuse((int)n, cube[0], cube[1]);
    infer((int)n, (int)m, layers, in);
    scale((int)n, (int)m, table[2], memory[0]);
    memcpy(rows, table[0], n * sizeof *rows);
    for (size_t i = 0; absent && i < n; i++)
      rows[i] = wanted[i] ? rows[i] : NULL;
    some((int)n, (int)m, rows, wanted);
    if (check_is(&check, "inside"))
      build((int)n, (int)m, rows, memory[2]), plan((int)n, (int)m, plans, memory[1]);
    grow(size, counts[1]);
    check_stop(&check);
    check_array(&check, "product", memory[0], cells, sizeof(double));
    check_array(&check, "sweep", memory[1], cells, sizeof(double));
    check_array(&check, "column", memory[2], cells, sizeof(double));
    check_array(&check, "picture", pixels[1], cells, 1);
    check_array(&check, "forces", bodies, n, sizeof *bodies);
    check_array(&check, "counts", numbers[0], cells, sizeof(int));
    check_array(&check, "grown", numbers[1], cells, sizeof(int));
    check_array(&check, "cube", planes[0], n * n * n, sizeof(float));
    check_array(&check, "layers", weights, 2 * cells, sizeof *weights);
  }
  for (int t = 0; t < 3; t++)
    free(memory[t]), free(table[t]);
  for (int t = 0; t < 2; t++)
    free(pixels[t]), free(lines[t]), free(numbers[t]), free(counts[t]), free(planes[t]), free(cube[t]), free(pencils[t]);
  free(rows);
  free(bodies);
  free(order);
  free(layers);
  free(weights);
  free(in);
  free(wanted);
  free(plans);
  free(planned);
  return check_close(&check);
}
