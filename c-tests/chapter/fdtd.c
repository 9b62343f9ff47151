/* Finite differences in the time domain: one step of a two-dimensional electromagnetic field. Three pairs of loops, in
 * which each component of the field is moved by the slope of the others. Rows lie `pitch` elements apart.
 *
 * test size: 67
 * expect ey: runs on clean
 * expect ex: runs on clean
 * expect hz: runs on clean
 * expect ey: conflicts on waw raw every
 * expect ex: conflicts on waw every
 * expect hz: conflicts on waw raw every
 * expect ey or ex: conflicts on one
 * order does not show on waw */
#include "../support/inputs.h"

COMPUTE static void fdtd_step(int n, int pitch, float *ex, float *ey, float *hz)
{
  int i, j;
  for (i = 1; i < n; i++) /* loop ey */
    for (j = 0; j < n; j++)
      *(ey + i * pitch + j) = *(ey + i * pitch + j) - 0.5f * (*(hz + i * pitch + j) - *(hz + (i - 1) * pitch + j));
  for (i = 0; i < n; i++) /* loop ex */
    for (j = 1; j < n; j++)
      *(ex + i * pitch + j) = *(ex + i * pitch + j) - 0.5f * (*(hz + i * pitch + j) - *(hz + i * pitch + j - 1));
  for (i = 0; i < n - 1; i++) /* loop hz */
    for (j = 0; j < n - 1; j++)
      *(hz + i * pitch + j) = *(hz + i * pitch + j) - 0.7f * (*(ex + i * pitch + j + 1) - *(ex + i * pitch + j) +
                                                              *(ey + (i + 1) * pitch + j) - *(ey + i * pitch + j));
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "waw", "raw", "one", "every", NULL};
  struct check check = check_open(argc, argv, 4096, inputs);
  size_t n = check.size, elements = n * n;
  float *block = check_alloc(&check, 3 * elements, sizeof *block);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    fill_float(&check, block, 3 * elements);
    float *hz = block, *ey = block + elements, *ex = block + 2 * elements;
    int pitch = (int)n;
    if (check_is(&check, "waw"))
      pitch = (int)n - 2; /* the ends of a row are the start of the next one */
    else if (check_is(&check, "raw"))
      ey = hz;
    else if (check_is(&check, "one")) {
      /* hz[n-1][n-1], which one iteration reads, is ey[1][0] or ex[0][1], which another one moves */
      if (check.seed % 2 != 0) {
        ey = hz + (elements - 1 - n);
      } else {
        ex = hz + (elements - 2);
        ey = block + 2 * elements;
      }
    } else if (check_is(&check, "every"))
      ex = ey = hz;
    check_start(&check);
    fdtd_step((int)n, pitch, ex, ey, hz);
    check_stop(&check);
    check_array(&check, "fields", block, 3 * elements, sizeof *block);
  }
  free(block);
  return check_close(&check);
}
