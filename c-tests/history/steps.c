// A loop that a GPU is better at than any processor, entered as often as is asked for, over as many elements: arithmetic and hardly any memory.
#include <stdio.h>
#include <stdlib.h>
static double x[1 << 20];
static void step(double *v, int n, double c)
{
  for (int i = 0; i < n; i++) {
    double s = v[i];
    for (int k = 0; k < 200; k++)
      s = s * s * 0.25 + c;
    v[i] = s;
  }
}
int main(int argc, char **argv)
{
  int entries = argc > 1 ? atoi(argv[1]) : 5;
  int n = argc > 2 ? atoi(argv[2]) : 1 << 17;
  for (int i = 0; i < n; i++)
    x[i] = i / (double)n;
  for (int e = 0; e < entries; e++)
    step(x, n, 0.1 + e * 0.001);
  double sum = 0;
  for (int i = 0; i < n; i++)
    sum += x[i];
  printf("%.17g\n", sum);
  return 0;
}
