/* Nests in which the outer loop depends on itself and the inner one does not, time loops, imperfect nests, inner loops
 * without iterations, and everything in one function.
 *
 * test size: 1003 */
#include "../support/inputs.h"

COMPUTE static void heat(int steps, int n, double *a, double *b)
{
  for (int t = 0; t < steps; t++) { /* loop time */
    for (int i = 1; i < n - 1; i++) /* loop heat */
      b[i] = 0.25 * a[i - 1] + 0.5 * a[i] + 0.25 * a[i + 1];
    for (int i = 1; i < n - 1; i++) /* loop back */
      a[i] = b[i];
  }
}

COMPUTE static void levels(int count, const int *level, const int *order, const int *needs, double *x)
{
  for (int l = 0; l < count; l++) /* loop levels */
    for (int p = level[l]; p < level[l + 1]; p++) /* loop members */
      x[order[p]] = x[order[p]] + 0.5 * x[needs[order[p]]];
}

COMPUTE static void imperfect(int n, int m, const double *in, double *out, double *sums)
{
  for (int i = 0; i < n; i++) { /* loop imperfect */
    double sum = 0.0;
    sums[i] = 1.0;
    for (int j = 0; j < m; j++)
      sum += in[i * m + j];
    for (int j = 0; j < i % 3; j++)
      out[i * m + j] = sum;
    for (int j = 5; j < 5; j++)
      out[0] = -1.0;
    sums[i] += sum;
  }
}

/* The same induction variable twice, and a bound that the outer loop moves. */
COMPUTE static int moving(int n, int *a)
{
  int i, end = n, total = 0;
  for (int turn = 0; turn < 4; turn++) {
    for (i = turn; i < end; i += 4)
      a[i] += turn;
    end -= i % 3;
    for (i = 0; i < end; i++)
      total += a[i];
  }
  return total + i;
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "raw", NULL};
  struct check check = check_open(argc, argv, 1u << 18, inputs);
  int n = (int)check.size;
  enum { LEVELS = 5, M = 6 };
  double *a = check_alloc(&check, 2 * check.size, sizeof *a), *x = check_alloc(&check, check.size, sizeof *x);
  double *table = check_alloc(&check, (2 * M + 1) * check.size, sizeof *table);
  int *order = check_alloc(&check, check.size, sizeof *order), *needs = check_alloc(&check, check.size, sizeof *needs);
  int level[LEVELS + 1];

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_double(&check, a, 2 * check.size);
    fill_double(&check, x, check.size);
    fill_double(&check, table, (2 * M + 1) * check.size);
    permute(&check, order, check.size);
    for (int l = 0; l <= LEVELS; l++)
      level[l] = n * l / LEVELS;
    for (int l = 0; l < LEVELS; l++)
      for (int p = level[l]; p < level[l + 1]; p++)
        needs[order[p]] = l == 0 ? order[p] : order[check_below(&check, (size_t)level[l])];
    if (check_is(&check, "raw"))
      needs[order[n - 1]] = order[n - 2];
    check_start(&check);
    heat(10, n, a, check_is(&check, "raw") ? a + 3 : a + n);
    levels(LEVELS, level, order, needs, x);
    imperfect(n, M, table, check_is(&check, "raw") ? table + M : table + M * n, table + 2 * M * n);
    int total = moving(n, needs);
    check_stop(&check);
    printf("total %d\n", total);
    check_array(&check, "a", a, 2 * check.size, sizeof *a);
    check_array(&check, "x", x, check.size, sizeof *x);
    check_array(&check, "table", table, (2 * M + 1) * check.size, sizeof *table);
    check_array(&check, "needs", needs, check.size, sizeof *needs);
  }
  free(a);
  free(x);
  free(table);
  free(order);
  free(needs);
  return check_close(&check);
}
