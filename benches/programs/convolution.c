/* Convolution of an 8-bit image with a filter of five by five integer weights. Beyond its edges the image goes on with the
 * pixels of the edge.
 *
 * test size: 67 */
#include "../../c-tests/support/inputs.h"

typedef unsigned char byte;

enum { RADIUS = 2, WIDTH = 2 * RADIUS + 1 };

static int clamp(int value, int low, int high)
{
  return value < low ? low : value > high ? high : value;
}

COMPUTE static void convolve(int width, int height, const byte *in, const int weight[WIDTH][WIDTH], int shift, byte *out)
{
  for (int y = 0; y < height; y++) /* loop rows */
    for (int x = 0; x < width; x++) {
      int sum = 0;
      for (int dy = -RADIUS; dy <= RADIUS; dy++) {
        const byte *row = in + (size_t)clamp(y + dy, 0, height - 1) * (size_t)width;
        for (int dx = -RADIUS; dx <= RADIUS; dx++)
          sum += weight[dy + RADIUS][dx + RADIUS] * row[clamp(x + dx, 0, width - 1)];
      }
      out[(size_t)y * (size_t)width + (size_t)x] = (byte)clamp(sum >> shift, 0, 255);
    }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", NULL};
  static const int gauss[WIDTH][WIDTH] = {
    {1, 4, 6, 4, 1}, {4, 16, 24, 16, 4}, {6, 24, 36, 24, 6}, {4, 16, 24, 16, 4}, {1, 4, 6, 4, 1},
  };
  struct check check = check_open(argc, argv, 2048, inputs);
  size_t n = check.size, pixels = n * n;
  byte *in = check_alloc(&check, pixels, 1), *out = check_alloc(&check, pixels, 1);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    for (size_t i = 0; i < pixels; i++)
      in[i] = (byte)(check_random(&check) >> 56);
    check_start(&check);
    convolve((int)n, (int)n, in, gauss, 8, out);
    check_stop(&check);
    check_array(&check, "out", out, pixels, 1);
  }
  free(out);
  free(in);
  return check_close(&check);
}
