/* The Mandelbrot set as numbers of iterations: pixels take from one to the most iterations there may be.
 *
 * test size: 67 */
#include "../../c-tests/support/inputs.h"

typedef struct {
  double left, top, step;
} view;

COMPUTE static void mandelbrot(int width, int height, view v, int most, int *iterations)
{
  for (int py = 0; py < height; py++) /* loop rows */
    for (int px = 0; px < width; px++) {
      double cx = v.left + px * v.step, cy = v.top - py * v.step;
      double x = 0.0, y = 0.0;
      int k = 0;
      while (k < most && x * x + y * y <= 4.0) {
        double next = x * x - y * y + cx;
        y = 2.0 * x * y + cy;
        x = next;
        k++;
      }
      iterations[py * width + px] = k;
    }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", NULL};
  struct check check = check_open(argc, argv, 2048, inputs);
  size_t n = check.size, pixels = n * n;
  int *iterations = check_alloc(&check, pixels, sizeof *iterations);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    check_start(&check);
    mandelbrot((int)n, (int)n, (view){-2.0, 1.25, 2.5 / (double)n}, 256, iterations);
    check_stop(&check);
    check_array(&check, "iterations", iterations, pixels, sizeof *iterations);
  }
  free(iterations);
  return check_close(&check);
}
