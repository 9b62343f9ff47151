/* Arrays of structs, structs of arrays, nested structs, unions, bit-fields, arrays in structs.
 *
 * test size: 2003
 * expect move: runs on clean
 * expect gather: runs on clean */
#include "../support/inputs.h"

typedef struct {
  double x, y;
} vector;

struct particle {
  vector position, velocity;
  float mass;
  char kind;
  short history[3];
};

struct fields {
  size_t count;
  double *energy;
  int *kind;
};

union word {
  float real;
  uint32_t bits;
};

struct packed_flags {
  unsigned low : 3, high : 5;
  int whole;
};

COMPUTE static void move(struct particle *p, int n, double dt)
{
  for (int i = 0; i < n; i++) { /* loop move */
    p[i].position.x += dt * p[i].velocity.x;
    p[i].position.y += dt * p[i].velocity.y;
    p[i].history[2] = p[i].history[1];
    p[i].history[1] = p[i].history[0];
    p[i].history[0] = (short)i;
  }
}

COMPUTE static void gather(const struct particle *p, struct fields *f)
{
  for (size_t i = 0; i < f->count; i++) { /* loop gather */
    const struct particle *q = &p[i];
    f->energy[i] = 0.5 * q->mass * (q->velocity.x * q->velocity.x + q->velocity.y * q->velocity.y);
    f->kind[i] = q->kind;
  }
}

COMPUTE static void copy_whole(const struct particle *from, struct particle *to, const int *index, int n)
{
  for (int i = 0; i < n; i++) /* loop copy */
    to[index[i]] = from[i];
}

COMPUTE static void reinterpret(union word *w, int n)
{
  for (int i = 0; i < n; i++) { /* loop unions */
    w[i].real = w[i].real * 1.5f;
    w[i].bits ^= 0x80000000u;
  }
}

COMPUTE static void fields_of_bits(struct packed_flags *f, int n)
{
  for (int i = 0; i < n; i++) {
    f[i].low = (unsigned)i;
    f[i].high = f[i].low + 9u;
    f[i].whole = f[i].high * 3;
  }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "waw", "every", NULL};
  struct check check = check_open(argc, argv, 1u << 18, inputs);
  size_t n = check.size;
  struct particle *p = check_alloc(&check, n, sizeof *p), *q = check_alloc(&check, n, sizeof *q);
  struct fields f = {n, check_alloc(&check, n, sizeof *f.energy), check_alloc(&check, n, sizeof *f.kind)};
  union word *w = check_alloc(&check, n, sizeof *w);
  struct packed_flags *flags = check_alloc(&check, n, sizeof *flags);
  int *index = check_alloc(&check, n, sizeof *index);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    memset(p, 0, n * sizeof *p);
    memset(q, 0, n * sizeof *q);
    for (size_t i = 0; i < n; i++) {
      p[i].velocity.x = check_real(&check);
      p[i].velocity.y = check_real(&check);
      p[i].mass = (float)check_real(&check);
      p[i].kind = (char)check_random(&check);
      w[i].real = (float)check_real(&check);
    }
    scatter_indices(&check, index, n);
    check_start(&check);
    move(p, (int)n, 0.125);
    gather(p, &f);
    copy_whole(p, q, index, (int)n);
    reinterpret(w, (int)n);
    fields_of_bits(flags, (int)n);
    check_stop(&check);
    check_array(&check, "particles", p, n, sizeof *p);
    check_array(&check, "copies", q, n, sizeof *q);
    check_array(&check, "energy", f.energy, n, sizeof *f.energy);
    check_array(&check, "kind", f.kind, n, sizeof *f.kind);
    check_array(&check, "words", w, n, sizeof *w);
    check_array(&check, "flags", flags, n, sizeof *flags);
  }
  free(p);
  free(q);
  free(f.energy);
  free(f.kind);
  free(w);
  free(flags);
  free(index);
  return check_close(&check);
}
