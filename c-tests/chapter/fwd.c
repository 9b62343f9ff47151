/* Forward elimination with level scheduling. The rows of a sparse lower triangular matrix are sorted into levels so that
 * each row needs only rows of earlier levels. Only the loop over a level's rows can run in parallel, and only because
 * the levels are right.
 *
 * test size: 4003
 * expect rows: runs on clean
 * expect rows: conflicts on waw raw one every
 * order does not show on waw */
#include "../support/inputs.h"

enum { LEVELS = 8 };

COMPUTE static void eliminate(int first, int end, const int *order, const int *iaL, const int *jaL, const float *aL, float *x)
{
  for (int p = first; p < end; p++) { /* loop rows */
    int i = order[p];
    for (int j = iaL[i]; j < iaL[i + 1] - 1; j++)
      x[i] = x[i] - aL[j] * x[jaL[j]];
  }
}

COMPUTE static void forward(int levels, const int *level, const int *order, const int *iaL, const int *jaL, const float *aL,
                            float *x)
{
  for (int l = 0; l < levels; l++)
    eliminate(level[l], level[l + 1], order, iaL, jaL, aL, x);
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "waw", "raw", "one", "every", NULL};
  struct check check = check_open(argc, argv, 65536, inputs);
  int n = (int)check.size;
  int per_row = n / 100 > 3 ? n / 100 : 3;
  size_t stored = (size_t)n * (size_t)(per_row + 1);
  int *level = check_alloc(&check, LEVELS + 1, sizeof *level);
  int *order = check_alloc(&check, check.size, sizeof *order);
  int *iaL = check_alloc(&check, check.size + 1, sizeof *iaL);
  int *jaL = check_alloc(&check, stored, sizeof *jaL);
  float *aL = check_alloc(&check, stored, sizeof *aL);
  float *x = check_alloc(&check, check.size, sizeof *x);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_float(&check, x, check.size);
    for (int l = 0; l <= LEVELS; l++)
      level[l] = (int)((int64_t)n * l / LEVELS);
    /* Rows of a level are taken in any order. A row's last element is the diagonal, which is one. */
    int next = 0;
    for (int l = 0; l < LEVELS; l++) {
      int first = level[l], count = level[l + 1] - first;
      permute(&check, order + first, (size_t)count);
      for (int p = first; p < level[l + 1]; p++)
        order[p] += first;
      for (int i = first; i < level[l + 1]; i++) {
        iaL[i] = next;
        int others = l == 0 ? 0 : 1 + (int)check_below(&check, (size_t)per_row);
        for (int k = 0; k < others; k++) {
          jaL[next] = (int)check_below(&check, (size_t)first);
          aL[next++] = (float)(check_real(&check) - 0.5);
        }
        jaL[next] = i;
        aL[next++] = 1.0f;
      }
    }
    iaL[n] = next;

    /* The last level's rows get what the input asks for. */
    int first = level[LEVELS - 1], count = n - first;
    if (check_is(&check, "waw")) {
      for (int p = first; p < n; p++)
        if (check_below(&check, 8) == 0)
          order[p] = order[first + (int)check_below(&check, (size_t)count)];
    } else if (check_is(&check, "one")) {
      /* One row needs one that the same level has done before. */
      struct couple couple = pick_couple(&check, (size_t)count);
      int row = order[first + (int)couple.second];
      jaL[iaL[row]] = order[first + (int)couple.first];
    } else if (check_is(&check, "raw")) {
      for (int p = first + 1; p < n; p++)
        if (check_below(&check, 8) == 0)
          jaL[iaL[order[p]]] = order[first + (int)check_below(&check, (size_t)(p - first))];
    } else if (check_is(&check, "every")) {
      for (int p = first + 1; p < n; p++)
        jaL[iaL[order[p]]] = order[p - 1];
    }
    check_start(&check);
    forward(LEVELS, level, order, iaL, jaL, aL, x);
    check_stop(&check);
    check_array(&check, "x", x, check.size, sizeof *x);
  }
  free(level);
  free(order);
  free(iaL);
  free(jaL);
  free(aL);
  free(x);
  return check_close(&check);
}
