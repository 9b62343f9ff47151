/* Loops of 0 to 100 iterations over integers and doubles, some of them in others. */
#include <stdio.h>
#include <string.h>

struct body {
  double place, speed;
  int kind;
};

__attribute__((noinline)) static int count(const struct body *bodies, int n, int kind)
{
  int found = 0;
  for (int i = 0; i < n; i++)
    found += bodies[i].kind == kind;
  return found;
}

__attribute__((noinline)) static void move(struct body *bodies, int n, double time)
{
  for (int i = 0; i < n; i++)
    bodies[i].place += bodies[i].speed * time;
}

__attribute__((noinline)) static double product(int rows, int columns, const double *matrix, const double *x, double *y)
{
  double sum = 0;
  for (int i = 0; i < rows; i++) {
    double row = 0;
    for (int j = 0; j < columns; j++)
      row += matrix[i * columns + j] * x[j];
    y[i] = row;
    sum += row;
  }
  return sum;
}

int main(void)
{
  static struct body bodies[100];
  static double matrix[100], x[100], y[100];
  double sum = 0;
  int found = 0;
  for (int i = 0; i < 100; i++) {
    bodies[i].speed = i * 0.25;
    bodies[i].kind = i % 7;
    matrix[i] = x[i] = 1.0 / (i + 1);
  }
  for (int call = 0; call < 1500000; call++) {
    int n = call % 101;
    found += count(bodies, n, call % 7);
    move(bodies, n, 1e-6);
    sum += product(call % 9, call % 12, matrix, x, y);
  }
  printf("%d %.17g %.17g\n", found, sum, bodies[99].place);
  return 0;
}
