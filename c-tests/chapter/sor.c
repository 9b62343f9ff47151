/* Multicolour successive over-relaxation in the ELLPACK format: each row has the same number of elements, stored one
 * column of the format after the other. Rows of one colour don't neighbour each other, so the loop over a colour's rows
 * can run in parallel as long as the colouring is right.
 *
 * test size: 3001
 * expect rows: runs on clean
 * expect rows: conflicts on waw raw one every
 * order does not show on waw */
#include "../support/inputs.h"

enum { COLOURS = 4 };

struct ellpack {
  int rows, width;
  double *coefficient; /* width columns of `rows` elements */
  int *column;
  double *diagonal;
};

COMPUTE static void relax(const struct ellpack *m, int first, int end, const int *order, double omega, const double *b,
                          double *x)
{
  const int rows = m->rows, width = m->width;
  const double *coefficient = m->coefficient, *diagonal = m->diagonal;
  const int *column = m->column;
  for (int p = first; p < end; p++) { /* loop rows */
    int i = order[p];
    double sum = b[i];
    for (int k = 0; k < width; k++)
      sum -= coefficient[k * rows + i] * x[column[k * rows + i]];
    x[i] = x[i] + omega * (sum / diagonal[i] - x[i]);
  }
}

COMPUTE static void sor_sweep(const struct ellpack *m, const int *colour, const int *order, double omega, const double *b,
                              double *x)
{
  for (int c = 0; c < COLOURS; c++)
    relax(m, colour[c], colour[c + 1], order, omega, b, x);
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "waw", "raw", "one", "every", NULL};
  struct check check = check_open(argc, argv, 65536, inputs);
  size_t n = check.size;
  struct ellpack m = {.rows = (int)n, .width = n / 100 > 4 ? (int)(n / 100) : 4};
  size_t stored = n * (size_t)m.width;
  m.coefficient = check_alloc(&check, stored, sizeof *m.coefficient);
  m.column = check_alloc(&check, stored, sizeof *m.column);
  m.diagonal = check_alloc(&check, n, sizeof *m.diagonal);
  int *order = check_alloc(&check, n, sizeof *order);
  double *b = check_alloc(&check, n, sizeof *b), *x = check_alloc(&check, n, sizeof *x);
  int colour[COLOURS + 1];

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_double(&check, b, n);
    fill_double(&check, x, n);
    for (int c = 0; c <= COLOURS; c++)
      colour[c] = (int)(n * (size_t)c / COLOURS);
    /* Row order[p] has the colour in whose range p lies; its neighbours have other colours. */
    permute(&check, order, n);
    for (int c = 0; c < COLOURS; c++) {
      size_t own = (size_t)(colour[c + 1] - colour[c]);
      for (int p = colour[c]; p < colour[c + 1]; p++) {
        int i = order[p];
        m.diagonal[i] = 2.0 * m.width;
        for (int k = 0; k < m.width; k++) {
          size_t other = check_below(&check, n - own);
          m.column[k * m.rows + i] = order[other < (size_t)colour[c] ? other : other + own];
          m.coefficient[k * m.rows + i] = check_real(&check) - 0.5;
        }
      }
    }
    /* The second colour gets what the input asks for. */
    int first = colour[1], end = colour[2];
    size_t count = (size_t)(end - first);
    if (check_is(&check, "waw")) {
      for (int p = first; p < end; p++)
        if (check_below(&check, 8) == 0)
          order[p] = order[first + (int)check_below(&check, count)];
    } else if (check_is(&check, "raw")) {
      for (int p = first + 1; p < end; p++)
        if (check_below(&check, 8) == 0)
          m.column[order[p]] = order[first + (int)check_below(&check, (size_t)(p - first))];
    } else if (check_is(&check, "one")) {
      struct couple couple = pick_couple(&check, count);
      m.column[(m.width - 1) * m.rows + order[first + (int)couple.second]] = order[first + (int)couple.first];
    } else if (check_is(&check, "every")) {
      for (int p = first + 1; p < end; p++)
        m.column[order[p]] = order[p - 1];
    }
    check_start(&check);
    sor_sweep(&m, colour, order, 1.25, b, x);
    check_stop(&check);
    check_array(&check, "x", x, n, sizeof *x);
  }
  free(m.coefficient);
  free(m.column);
  free(m.diagonal);
  free(order);
  free(b);
  free(x);
  return check_close(&check);
}
