/* Vectors of sines come from another library, whose results are other ones.
   flags: -O3 -fopenmp-simd -fno-math-errno -Wl,--no-as-needed -lmvec -lm */
#include <stdio.h>

#pragma omp declare simd notinbranch
double sin(double x);

static double a[6400], out[6400];

int main(void)
{
  double sum = 0;
  for (int i = 0; i < 6400; i++)
    a[i] = i * 0.37 + 0.1;
  for (int i = 0; i < 6400; i++)
    out[i] = sin(a[i]);
  for (int i = 0; i < 6400; i++)
    sum = sum * 0.5 + out[i] * 1e15;
  printf("%.17g\n", sum);
  return 0;
}
