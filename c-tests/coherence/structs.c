/* An array of structs: loops store to some of the fields, the program to others of the same structs between the steps, and to whole ones. */
#include "coherence.h"

enum { COUNT = 30000, STEPS = 30 };

struct particle {
  double place, speed;
  int32_t kind;
  char name[5];
  unsigned char touched;
};

SHARED void move(long n, struct particle *p, double step)
{
  for (long i = 0; i < n; i++)
    p[i].place = p[i].place + p[i].speed * step;
}

SHARED void slow(long n, struct particle *p)
{
  for (long i = 0; i < n; i++) {
    p[i].speed *= 0.75;
    p[i].touched = (unsigned char)(p[i].touched + p[i].kind);
  }
}

int main(void)
{
  struct particle *p = malloc(COUNT * sizeof *p), one = {1, 2, 3, "four", 5};
  memset(p, 0, COUNT * sizeof *p);
  for (long i = 0; i < COUNT; i++)
    p[i].place = (double)i, p[i].speed = (double)(i % 13), p[i].kind = (int32_t)(i % 5);
  for (long t = 0; t < STEPS; t++) {
    move(COUNT, p, 0.5);
    p[t * 900].kind = (int32_t)t;
    if (t % 2 == 0)
      slow(COUNT, p);
    snprintf(p[t * 700 + 1].name, sizeof p->name, "%ld", t);
    if (t % 3 == 1)
      p[t * 500 + 2] = one;
    if (t % 3 == 2)
      one = p[t * 300 + 3];
    p[COUNT - 1].touched++;
    printf("%ld: %.17g %d %.5s %u\n", t, one.place, one.kind, one.name, p[t].touched);
  }
  for (long i = 0; i < COUNT; i += 997)
    printf("%.17g %.17g %d %.5s %u\n", p[i].place, p[i].speed, p[i].kind, p[i].name, p[i].touched);
  show("all", STEPS, p, COUNT * sizeof *p);
  return 0;
}
