/* The making of a four-dimensional lattice whose sites are spread over nodes (the chapter's figure 4.1a). Where a site
 * lies is a non-linear function of its coordinates; whether two sites lie in one place depends on how the lattice is
 * divided.
 *
 * test size: 11
 * expect t: runs on clean
 * expect t or z or y or x: conflicts on waw one every */
#include "../support/inputs.h"

#define XUP 0
#define YUP 1
#define ZUP 2
#define TUP 3

typedef struct {
  short x, y, z, t; /* coordinates */
  char parity;
  int index;
} site;

struct layout {
  int nx, ny, nz, nt;   /* the whole lattice */
  int squaresize[4];    /* what a node has of it */
  int nsquares[4];      /* nodes in each direction */
  int node, everything; /* which node this is; whether it takes the other nodes' sites too */
};

#define NODE_NUMBER(l, x, y, z, t)                                                        \
  ((x) / (l)->squaresize[XUP] +                                                           \
   (l)->nsquares[XUP] * ((y) / (l)->squaresize[YUP] +                                     \
                         (l)->nsquares[YUP] * ((z) / (l)->squaresize[ZUP] +               \
                                               (l)->nsquares[ZUP] * ((t) / (l)->squaresize[TUP]))))

COMPUTE static void make_lattice(const struct layout *l, site *lattice)
{
  const int nx = l->nx, ny = l->ny, nz = l->nz, nt = l->nt;
  const int sx = l->squaresize[XUP], sy = l->squaresize[YUP], sz = l->squaresize[ZUP], st = l->squaresize[TUP];
  const int mynode = l->node, everything = l->everything;
  int x, y, z, t;
  for (t = 0; t < nt; t++) /* loop t */
    for (z = 0; z < nz; z++) /* loop z */
      for (y = 0; y < ny; y++) /* loop y */
        for (x = 0; x < nx; x++) /* loop x */
          if (everything || NODE_NUMBER(l, x, y, z, t) == mynode) {
            int xr = x % sx;
            int yr = y % sy;
            int zr = z % sz;
            int tr = t % st;
            int i = xr + sx * (yr + sy * (zr + sz * tr));
            lattice[i].x = (short)x;
            lattice[i].y = (short)y;
            lattice[i].z = (short)z;
            lattice[i].t = (short)t;
            lattice[i].parity = (char)((t + z + y + x) % 2 == 0 ? 2 : 1);
            lattice[i].index = x + nx * (y + ny * (z + nz * t));
          }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "waw", "one", "every", NULL};
  struct check check = check_open(argc, argv, 64, inputs);
  int n = (int)check.size;
  size_t sites = check.size * check.size * check.size * check.size;
  site *lattice = check_alloc(&check, sites, sizeof *lattice);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    memset(lattice, 0, sites * sizeof *lattice);
    /* Two nodes in each direction; this one is picked by the seed. */
    struct layout l = {n, n, n, n, {(n + 1) / 2, (n + 1) / 2, (n + 1) / 2, (n + 1) / 2}, {2, 2, 2, 2}, 0, 0};
    l.node = (int)(check.seed % 16);
    if (check_is(&check, "waw")) {
      l.everything = 1; /* sites of all nodes, in the place of one node's */
    } else if (check_is(&check, "one")) {
      /* A line of n*n sites whose last one has the place of the first one. */
      l = (struct layout){n * n, 1, 1, 1, {n * n - 1, 1, 1, 1}, {2, 1, 1, 1}, 0, 1};
    } else if (check_is(&check, "every")) {
      l = (struct layout){n, n, n, n, {1, 1, 1, 1}, {n, n, n, n}, 0, 1};
    }
    check_start(&check);
    make_lattice(&l, lattice);
    check_stop(&check);
    check_array(&check, "lattice", lattice, sites, sizeof *lattice);
  }
  free(lattice);
  return check_close(&check);
}
