/* Small systems of equations in a small grid, as solvers in alternating directions have them: nests of a few iterations with many accesses each, whose rows share two scalars and are entered for
 * every line of the grid, some tens of thousands of times. To prove that their iterations are independent takes longer than they do. */
#include <stdio.h>

enum { GRID = 12, PARTS = 5, TURNS = 12000 };

static double values[GRID][GRID][GRID][PARTS], left[GRID][GRID][GRID][PARTS][PARTS], right[GRID][GRID][GRID][PARTS][PARTS];
static double inverse, square;
static int extent[3] = {GRID, GRID, GRID};

#define ROW(m)                                                                      \
  left[i][j][k][m][0] = values[i][j][k][0] * square + m;                            \
  left[i][j][k][m][1] = values[i][j][k][1] * square - m;                            \
  left[i][j][k][m][2] = values[i][j][k][2] * square + m * 0.5;                      \
  left[i][j][k][m][3] = values[i][j][k][3] * square - m * 0.5;                      \
  left[i][j][k][m][4] = values[i][j][k][4] * square;                                \
  right[i][j][k][m][0] = values[i][j][k][m] * inverse + 1.0;                        \
  right[i][j][k][m][1] = values[i][j][k][m] * inverse + 2.0;                        \
  right[i][j][k][m][2] = values[i][j][k][m] * inverse + 3.0;                        \
  right[i][j][k][m][3] = values[i][j][k][m] * inverse + 4.0;                        \
  right[i][j][k][m][4] = values[i][j][k][m] * inverse + 5.0
#define APPLY(m)                                                                    \
  values[i][j][k][m] += 1e-9 * (inverse * left[i - 1][j][k][m][0] - square * right[i + 1][j][k][0][m]); \
  values[i][j][k][m] += 1e-9 * (inverse * left[i - 1][j][k][m][1] - square * right[i + 1][j][k][1][m]); \
  values[i][j][k][m] += 1e-9 * (inverse * left[i - 1][j][k][m][2] - square * right[i + 1][j][k][2][m]); \
  values[i][j][k][m] += 1e-9 * (inverse * left[i - 1][j][k][m][3] - square * right[i + 1][j][k][3][m]); \
  values[i][j][k][m] += 1e-9 * (inverse * left[i - 1][j][k][m][4] - square * right[i + 1][j][k][4][m])

__attribute__((noinline)) static void sweep(void)
{
  int i, j, k;
  for (j = 1; j < extent[1] - 1; j++)
    for (k = 1; k < extent[2] - 1; k++) {
      for (i = 0; i < extent[0]; i++) {
        inverse = 1.0 / values[i][j][k][0];
        square = inverse * inverse;
        ROW(0);
        ROW(1);
        ROW(2);
        ROW(3);
        ROW(4);
      }
      for (i = 1; i < extent[0] - 1; i++) {
        inverse = 0.5;
        square = 0.25;
        APPLY(0);
        APPLY(1);
        APPLY(2);
        APPLY(3);
        APPLY(4);
      }
    }
}

int main(void)
{
  double sum = 0;
  for (int i = 0; i < GRID; i++)
    for (int j = 0; j < GRID; j++)
      for (int k = 0; k < GRID; k++)
        for (int m = 0; m < PARTS; m++)
          values[i][j][k][m] = 1 + i * 0.1 + j * 0.2 + k * 0.01 + m;
  for (int turn = 0; turn < TURNS; turn++)
    sweep();
  for (int i = 0; i < GRID; i++)
    for (int j = 0; j < GRID; j++)
      for (int k = 0; k < GRID; k++)
        for (int m = 0; m < PARTS; m++)
          sum += values[i][j][k][m];
  printf("%.17g\n", sum);
  return 0;
}
