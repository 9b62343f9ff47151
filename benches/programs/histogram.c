/* Histogram of a grey-scale image with 16 bits per pixel. Which bin a pixel counts in is what the image says, so any two
 * iterations may meet; they only add to integers, though.
 *
 * test size: 131 */
#include "../../c-tests/support/inputs.h"

enum { SHIFT = 4, BINS = 1 << (16 - SHIFT) };

typedef struct {
  int width, height;
  uint16_t *pixel;
} image;

COMPUTE static void histogram(const image *im, unsigned *count)
{
  const size_t pixels = (size_t)im->width * (size_t)im->height;
  const uint16_t *pixel = im->pixel;
  for (size_t i = 0; i < pixels; i++) /* loop pixels */
    count[pixel[i] >> SHIFT]++;
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "flat", NULL};
  struct check check = check_open(argc, argv, 4096, inputs);
  size_t n = check.size, pixels = n * n;
  image im = {(int)n, (int)n, check_alloc(&check, pixels, sizeof *im.pixel)};
  unsigned *count = check_alloc(&check, BINS, sizeof *count);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    /* About normally distributed; `flat` has all pixels in one bin. */
    for (size_t i = 0; i < pixels; i++) {
      uint64_t random = check_random(&check);
      unsigned sum = (unsigned)(random & 0x3fff) + (unsigned)(random >> 14 & 0x3fff) + (unsigned)(random >> 28 & 0x3fff) +
                     (unsigned)(random >> 42 & 0x3fff);
      im.pixel[i] = (uint16_t)(check_is(&check, "flat") ? 1000 : sum);
    }
    memset(count, 0, BINS * sizeof *count);
    check_start(&check);
    histogram(&im, count);
    check_stop(&check);
    check_array(&check, "count", count, BINS, sizeof *count);
  }
  free(count);
  free(im.pixel);
  return check_close(&check);
}
