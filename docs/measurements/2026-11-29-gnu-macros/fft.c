#include "kiss_fft.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1e3 + t.tv_nsec * 1e-6; }
int main(int argc, char **argv)
{
  int sizes[] = {1 << 20, 1 << 22, 3 * 3 * 3 * 3 * 3 * 3 * 3 * 3 * 3 * 9, 5 * 5 * 5 * 5 * 5 * 5 * 5 * 5, 1 << 10};
  for (int k = 0; k < 5; k++) {
    int n = sizes[k], rounds = n < 5000 ? 2000 : 5;
    kiss_fft_cfg c = kiss_fft_alloc(n, 0, 0, 0), d = kiss_fft_alloc(n, 1, 0, 0);
    kiss_fft_cpx *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y);
    for (int i = 0; i < n; i++) { x[i].r = (i * 2654435761u >> 8) % 1000 * 0.001f; x[i].i = i % 7; }
    double t = now(), best = 1e9;
    for (int r = 0; r < rounds; r++) { double u = now(); kiss_fft(c, x, y); kiss_fft(d, y, x); u = now() - u; if (u < best) best = u; for (int i = 0; i < n; i++) x[i].r /= n, x[i].i /= n; }
    unsigned h = 7;
    for (int i = 0; i < n; i++) h = h * 31 + ((unsigned *)x)[2 * i] + 5 * ((unsigned *)x)[2 * i + 1];
    fprintf(stderr, "%d %u\n", n, h);
    printf("fft %d best %.2f all %.1f\n", n, best, now() - t);
    free(x), free(y), free(c), free(d);
  }
}
