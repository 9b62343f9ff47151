/* Bit-fields: read, stored, counted in, copied with their structs; beside ordinary members, in unions, in variables of the iteration's own and of the function's.
 *
 * test size: 9001
 * expect classify: runs on clean
 * expect mark: runs on clean
 * expect levels: runs on clean
 * expect wide: runs on clean
 * expect counted: runs on clean
 * expect pixels: runs on clean
 * expect shuffle: runs on clean
 * expect parts: runs on clean
 * expect configured: runs on clean
 * expect owned: runs on clean
 * expect converted: runs on clean
 * expect assigned_on: runs on clean
 * expect braced: runs on clean
 * expect named: runs on clean
 * expect inside: runs on clean
 * expect pages: runs on clean
 * expect spans: runs on clean
 * expect mantissas: runs on clean
 * expect chain: stays on clean */
#include "../support/inputs.h"

enum color { RED, GREEN, BLUE, NONE };

typedef struct {
  unsigned kind : 3, live : 1, count : 12, id : 16;
  float weight;
} node;

typedef struct {
  char tag;
  _Bool seen : 1, done : 1;
  enum color color : 2;
  short level : 9;
  int left : 12, right : 20;
} mixed;

typedef struct {
  unsigned long long low : 20, middle : 32, high : 12;
} word;

typedef struct {
  unsigned short r : 5, g : 6, b : 5;
} pixel;

typedef union {
  unsigned raw;
  struct {
    unsigned low : 16, high : 16;
  } part;
} halves;

struct config {
  unsigned shift : 5, inverted : 1;
  int offset : 7;
};

COMPUTE static unsigned long classify(int n, const node *a, unsigned char *of)
{
  unsigned long sum = 0;
  for (int i = 0; i < n; i++) { /* loop classify */
    of[i] = a[i].live && a[i].kind > 2 ? a[i].kind : 7;
    sum += a[i].count * a[i].id;
  }
  return sum;
}

/* Its neighbours in the same bytes stay as they are. */
COMPUTE static void mark(int n, const int *index, node *a)
{
  for (int i = 0; i < n; i++) { /* loop mark */
    a[index[i]].live = i & 1;
    a[index[i]].kind += 5;
    a[index[i]].count--;
  }
}

COMPUTE static void levels(int n, mixed *a)
{
  for (mixed *p = a; p < a + n; p++) { /* loop levels */
    p->level -= p->left;
    p->left = p->right >> 3;
    p->right ^= p->level << 9;
    p->seen = p->level;
    p->color = p->seen ? BLUE : p->color;
    p->done |= p->tag > 3;
    p->tag++;
  }
}

COMPUTE static void wide(size_t n, word *a, const word *b)
{
  for (size_t i = 0; i < n; i++) { /* loop wide */
    a[i].low = b[i].middle + a[i].high;
    a[i].middle *= 3u;
    a[i].high++;
  }
}

/* A bit-field for a bound. */
COMPUTE static void counted(int n, const node *a, float *sum)
{
  for (int i = 0; i < n; i++) { /* loop counted */
    float s = 0;
    for (unsigned j = 0; j < a[i].kind; j++)
      s += a[i].weight * (float)j;
    sum[i] = s;
  }
}

COMPUTE static void pixels(int n, const pixel *from, pixel *to)
{
  for (int i = 0; i < n; i++) { /* loop pixels */
    pixel p = from[i];
    unsigned gray = (2u * p.r + p.g + 2u * p.b) / 6;
    p.r = gray;
    p.b = gray + 1;
    p.g -= gray;
    to[i] = p;
  }
}

COMPUTE static void shuffle(int n, const int *index, const node *from, node *to)
{
  for (int i = 0; i < n; i++) /* loop shuffle */
    to[i] = from[index[i]];
}

COMPUTE static void parts(int n, halves *a)
{
  for (int i = 0; i < n; i++) { /* loop parts */
    a[i].part.low ^= a[i].part.high;
    a[i].raw = a[i].raw << 1 | a[i].raw >> 31;
  }
}

/* What decides lies in a variable of the function's. */
COMPUTE static void configured(int n, struct config c, const int *a, int *b)
{
  c.shift &= 7;
  for (int i = 0; i < n; i++) /* loop configured */
    b[i] = ((c.inverted ? ~a[i] : a[i]) >> c.shift) + c.offset;
}

COMPUTE static void owned(int n, const int *a, unsigned *b)
{
  for (int i = 0; i < n; i++) { /* loop owned */
    pixel p;
    p.r = a[i];
    p.g = a[i] >> 5;
    p.b = p.r ^ p.g;
    b[i] = p.r * 3u + p.g * 5u + p.b;
  }
}

/* Of a value that is assigned on each keeps what it has room for. */
COMPUTE static void assigned_on(int n, const int *x, mixed *a, word *w, int *y)
{
  for (int i = 0; i < n; i++) { /* loop assigned_on */
    y[i] = a[i].left = a[i].level = x[i] + 5;
    w[i].low = w[i].middle = a[i].done = i & 3;
    a[i].right = a[i].tag = a[i].tag * 3 + 1;
    w[i].high = w[i].low = w[i].low + 1;
    int t = i;
    a[i].left = a[i].level = t = t + 1;
    y[i] ^= t;
  }
}

/* What is converted isn't a bit-field any more, which would be promoted to int. */
COMPUTE static void converted(int n, const node *a, const word *w, unsigned long *u, int *y)
{
  for (int i = 0; i < n; i++) { /* loop converted */
    u[i] ^= (unsigned long)a[i].id << 40 | (unsigned long long)w[i].low * 123456u * 10000u;
    y[i] += (unsigned)a[i].kind - 5 > 10;
    y[i] -= a[i].kind - 5 > 10;
    y[i] ^= (int)sizeof((unsigned long)a[i].count + 0);
  }
}

/* Values in braces: of a variable, of what is stored; fields that get none are zero. */
COMPUTE static void braced(int n, const node *a, const pixel *from, pixel *to, int *y)
{
  for (int i = 0; i < n; i++) { /* loop braced */
    pixel p = {from[i].b, a[i].id - 5, .b = y[i]};
    const mixed m = {(char)y[i], a[i].live, a[i].count, a[i].kind & 3u, y[i], -a[i].kind, y[i] >> 3};
    y[i] ^= m.level + m.left * 3 - m.right + (m.seen ? 1 : m.done) + m.color + m.tag;
    p.g ^= p.r;
    to[i] = p;
  }
}

COMPUTE static void named(int n, const int *x, node *a, word *w, pixel *to)
{
  for (int i = 0; i < n; i++) { /* loop named */
    a[i] = (node){.id = x[i], .kind = a[i].kind + 1, .weight = a[i].weight * 2, .live = x[i] > 0};
    w[i] = (word){x[i], w[i].low, .high = ~w[i].middle};
    to[i] = (pixel){to[i].g, .b = to[i].b + (x[i] & 7)};
  }
}

struct group {
  pixel of[2];
  signed char rest : 4, : 2, last : 2;
  struct config how;
};

COMPUTE static void inside(int n, const int *x, unsigned *b)
{
  for (int i = 0; i < n; i++) { /* loop inside */
    struct group c = {{{x[i], 1, 2}, {3, .b = x[i] >> 4}}, x[i], 1, {.inverted = 1, x[i]}};
    b[i] += c.of[0].r + c.of[1].b * 5u + (unsigned)c.rest * 7u + (unsigned)c.last * 11u + (unsigned)c.how.offset + c.how.shift * 13u + c.of[0].b;
  }
}

/* Fields wider than int, which gcc computes with as many bits as they have. */
typedef struct {
  unsigned long long present : 1, frame : 43, flags : 20;
} entry;

COMPUTE static void pages(int n, const unsigned long *big, entry *e, unsigned *b)
{
  for (int i = 0; i < n; i++) { /* loop pages */
    unsigned long address = (unsigned long)e[i].frame << 12 | e[i].flags;
    e[i].frame += big[i] * 3 + b[i];
    e[i].frame <<= 1;
    e[i].present = (e[i].frame > 0x7fffffff) & (e[i].frame >> 7 != b[i]);
    e[i].frame -= address ^ 5ul;
    b[i] += (e[i].frame >> 33 == 17) + (unsigned)(e[i].frame >> 3);
    e[i].frame++;
    if (!e[i].frame)
      e[i] = (entry){1, address, .flags = b[i]};
  }
}

typedef struct {
  long from : 48, more : 16;
} span;

COMPUTE static void spans(int n, const int *x, const span *t, span *s, double *sum)
{
  for (int i = 0; i < n; i++) { /* loop spans */
    s[i].from -= x[i];
    s[i].from ^= (long)s[i].more << 40;
    s[i].more = s[i].from >> 20;
    sum[i] = s[i].from * 0.5 + (double)(s[i].from > t[i].from) + x[s[i].from & 7l];
    s[i].from >>= 3;
  }
}

typedef union {
  double value;
  struct {
    unsigned long mantissa : 52, exponent : 11, sign : 1;
  } part;
} number;

COMPUTE static void mantissas(int n, const number *v, unsigned long *big)
{
  for (int i = 0; i < n; i++) { /* loop mantissas */
    big[i] ^= v[i].part.exponent != 0 ? v[i].part.mantissa | 1ul << 52 : v[i].part.mantissa + 0ul;
    big[i] += v[i].part.sign;
  }
}

/* One field's neighbour is the next iteration's. */
COMPUTE static void chain(int n, node *a)
{
  for (int i = 1; i < n; i++) /* loop chain */
    a[i].count = a[i - 1].count + a[i].kind;
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", NULL};
  struct check check = check_open(argc, argv, 100000, inputs);
  int n = (int)check.size;
  node *a = check_alloc(&check, check.size, sizeof *a), *b = check_alloc(&check, check.size, sizeof *b);
  mixed *m = check_alloc(&check, check.size, sizeof *m);
  word *w = check_alloc(&check, check.size, sizeof *w), *v = check_alloc(&check, check.size, sizeof *v);
  pixel *p = check_alloc(&check, check.size, sizeof *p), *q = check_alloc(&check, check.size, sizeof *q);
  halves *h = check_alloc(&check, check.size, sizeof *h);
  int *index = check_alloc(&check, check.size, sizeof *index), *x = check_alloc(&check, check.size, sizeof *x), *y = check_alloc(&check, check.size, sizeof *y);
  unsigned char *of = check_alloc(&check, check.size, 1);
  float *sum = check_alloc(&check, check.size, sizeof *sum);
  unsigned long *big = check_alloc(&check, check.size, sizeof *big);
  entry *e = check_alloc(&check, check.size, sizeof *e);
  span *s = check_alloc(&check, check.size, sizeof *s);
  span *t = check_alloc(&check, check.size, sizeof *t);
  double *d = check_alloc(&check, check.size, sizeof *d);
  unsigned *u = check_alloc(&check, check.size, sizeof *u);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    memset(a, 0, check.size * sizeof *a);
    memset(m, 0, check.size * sizeof *m);
    for (int i = 0; i < n; i++) {
      unsigned k = (unsigned)check_below(&check, 1u << 30);
      a[i].kind = k, a[i].live = k >> 3, a[i].count = k >> 4, a[i].id = k >> 7;
      a[i].weight = (float)(k & 255) * 0.25f;
      b[i] = a[i];
      m[i].tag = (char)(k & 7), m[i].seen = k >> 3 & 1, m[i].done = k >> 4 & 1, m[i].color = (enum color)(k >> 5 & 3);
      m[i].level = (short)(k >> 7), m[i].left = (int)(k >> 5), m[i].right = (int)(k >> 8);
      w[i].low = k, w[i].middle = k * 7ull, w[i].high = k >> 9;
      v[i] = w[n - 1 < i + 1 ? 0 : i];
      p[i].r = k, p[i].g = k >> 5, p[i].b = k >> 11;
      q[i] = p[i];
      h[i].raw = k * 5u;
      index[i] = i;
      x[i] = (int)k - (1 << 29);
      y[i] = 0;
      big[i] = k * 77ul;
      e[i] = (entry){k, k * 12345ull, k};
      s[i].from = x[i] * 54321l, s[i].more = x[i];
      t[i] = s[i / 2];
      d[i] = 0;
    }
    for (int i = n - 1; i > 0; i--) {
      int j = (int)check_below(&check, (size_t)i), k = index[i];
      index[i] = index[j], index[j] = k;
    }
    struct config c = {.shift = 11, .inverted = 1, .offset = -9};
    check_start(&check);
    unsigned long all = classify(n, a, of);
    mark(n - 2, index, a);
    levels(n - 1, m);
    wide(check.size - 3, w, v);
    counted(n, a, sum);
    pixels(n, p, q);
    shuffle(n, index, a, b);
    parts(n, h);
    configured(n, c, x, y);
    owned(n, x, u);
    assigned_on(n / 2, x, m, w, y);
    converted(n, a, w, big, y);
    braced(n, a, p, q, y);
    named(n, x, a, w, q);
    inside(n, x, u);
    pages(n, big, e, u);
    spans(n, x, t, s, d);
    mantissas(n - 1, (number *)d, big);
    chain(n, a);
    check_stop(&check);
    check_array(&check, "all", &all, 1, sizeof all);
    check_array(&check, "a", a, check.size, sizeof *a);
    check_array(&check, "b", b, check.size, sizeof *b);
    check_array(&check, "m", m, check.size, sizeof *m);
    check_array(&check, "w", w, check.size, sizeof *w);
    check_array(&check, "q", q, check.size, sizeof *q);
    check_array(&check, "h", h, check.size, sizeof *h);
    check_array(&check, "of", of, check.size, 1);
    check_array(&check, "sum", sum, check.size, sizeof *sum);
    check_array(&check, "y", y, check.size, sizeof *y);
    check_array(&check, "big", big, check.size, sizeof *big);
    check_array(&check, "e", e, check.size, sizeof *e);
    check_array(&check, "s", s, check.size, sizeof *s);
    check_array(&check, "d", d, check.size, sizeof *d);
    check_array(&check, "u", u, check.size, sizeof *u);
  }
  free(a);
  free(b);
  free(m);
  free(w);
  free(v);
  free(p);
  free(q);
  free(h);
  free(index);
  free(x);
  free(y);
  free(of);
  free(sum);
  free(big);
  free(e);
  free(s);
  free(t);
  free(d);
  free(u);
  return check_close(&check);
}
