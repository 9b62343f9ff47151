/* Gravitation between all bodies of a cluster: for each of them the sum over all others, in their order, in double precision.
 * Each acceleration belongs to one iteration.
 *
 * test size: 211 */
#include "../../c-tests/support/inputs.h"
#include <math.h>

typedef struct {
  double x, y, z;
} vector;

typedef struct {
  vector place, speed;
  double mass;
} body;

COMPUTE static void accelerations(int n, const body *b, double softening, vector *acceleration)
{
  for (int i = 0; i < n; i++) { /* loop bodies */
    vector sum = {0.0, 0.0, 0.0};
    for (int j = 0; j < n; j++) {
      double dx = b[j].place.x - b[i].place.x;
      double dy = b[j].place.y - b[i].place.y;
      double dz = b[j].place.z - b[i].place.z;
      double square = dx * dx + dy * dy + dz * dz + softening;
      double force = b[j].mass / (square * sqrt(square));
      sum.x += force * dx;
      sum.y += force * dy;
      sum.z += force * dz;
    }
    acceleration[i].x = sum.x;
    acceleration[i].y = sum.y;
    acceleration[i].z = sum.z;
  }
}

COMPUTE static void move(int n, body *b, const vector *acceleration, double step)
{
  for (int i = 0; i < n; i++) { /* loop move */
    b[i].speed.x += step * acceleration[i].x;
    b[i].speed.y += step * acceleration[i].y;
    b[i].speed.z += step * acceleration[i].z;
    b[i].place.x += step * b[i].speed.x;
    b[i].place.y += step * b[i].speed.y;
    b[i].place.z += step * b[i].speed.z;
  }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", NULL};
  struct check check = check_open(argc, argv, 16384, inputs);
  size_t n = check.size;
  body *b = check_alloc(&check, n, sizeof *b);
  vector *acceleration = check_alloc(&check, n, sizeof *acceleration);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    for (size_t i = 0; i < n; i++) {
      b[i].place = (vector){check_real(&check) - 0.5, check_real(&check) - 0.5, check_real(&check) - 0.5};
      b[i].speed = (vector){0.0, 0.0, 0.0};
      b[i].mass = (0.5 + check_real(&check)) / (double)n;
    }
    check_start(&check);
    accelerations((int)n, b, 1e-4, acceleration);
    move((int)n, b, acceleration, 1e-3);
    check_stop(&check);
    check_array(&check, "bodies", b, n, sizeof *b);
    check_array(&check, "accelerations", acceleration, n, sizeof *acceleration);
  }
  free(acceleration);
  free(b);
  return check_close(&check);
}
