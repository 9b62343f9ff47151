/* Values of structs as a whole: copies, initial values, compound literals, functions that take and give them; with bytes between members, unions, arrays and
 * structs among the members; where the copy changes where it comes from; and what can't be copied by members. */
/* flags: -Wl,--no-as-needed -lm */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 6000 };
typedef struct {
  float x, y, z;
} vector;
struct padded {
  char tag;
  double value;
  short more;
  int last[3];
};
struct plain {
  char tag;
  double value;
  short more;
};
struct mixed {
  union {
    float single[4];
    struct {
      int i, j;
    };
    double twice;
  };
  struct padded inner;
  vector corner[2];
  unsigned char *where;
};
struct node {
  struct node *next;
  int value;
  double weight;
};
struct bits {
  unsigned low : 5, high : 9;
  int rest;
};
union number {
  double real;
  unsigned long whole;
};
static vector a[COUNT], b[COUNT], c[COUNT];
static struct padded p[COUNT], q[COUNT];
static struct plain e[COUNT], f[COUNT];
static struct mixed m[COUNT], n[COUNT];
static struct node nodes[COUNT], heads[COUNT];
static struct bits s[COUNT], t[COUNT];
static union number u[COUNT], v[COUNT];
static int order[COUNT];
static unsigned long hash = 7;

static void see(const void *from, size_t bytes)
{
  const unsigned char *at = from;
  for (size_t k = 0; k < bytes; k++)
    hash = (hash ^ at[k]) * 1099511628211u;
}

static void told(const char *name)
{
  see(a, sizeof a);
  see(p, sizeof p);
  see(e, sizeof e);
  see(f, sizeof f);
  see(m, sizeof m);
  see(s, sizeof s);
  see(u, sizeof u);
  for (int i = 0; i < COUNT; i++) {
    long where = heads[i].next == NULL ? -1 : heads[i].next - nodes;
    see(&where, sizeof where);
    see(&heads[i].value, sizeof heads[i].value);
  }
  printf("%s %lx\n", name, hash);
}

static void fresh(void)
{
  unsigned state = 12345;
  unsigned char *bytes[] = {(void *)p, (void *)q, (void *)e, (void *)f, (void *)m, (void *)n, (void *)s, (void *)t};
  size_t sizes[] = {sizeof p, sizeof q, sizeof e, sizeof f, sizeof m, sizeof n, sizeof s, sizeof t};
  for (int k = 0; k < 8; k++)
    for (size_t i = 0; i < sizes[k]; i++)
      bytes[k][i] = (state = state * 1664525u + 1013904223u) >> 24 & 0x3f;
  for (int i = 0; i < COUNT; i++) {
    a[i] = (vector){i, i * 0.5f, -i};
    b[i] = (vector){.z = i % 77, .x = 3, .y = i % 13};
    c[i].x = c[i].y = c[i].z = i % 31;
    u[i].real = i;
    v[i].whole = i * 77ul;
    order[i] = (int)((unsigned)i * 7919u % COUNT);
    nodes[i].next = &nodes[(i * 31 + 7) % COUNT];
    nodes[i].value = i;
    nodes[i].weight = i * 0.25;
  }
  for (int i = 0; i < COUNT; i++)
    heads[i] = nodes[(i + 1) % COUNT];
}

static vector add(vector one, vector other)
{
  vector sum = {one.x + other.x, one.y + other.y, one.z + other.z};
  return sum;
}
static vector scaled(vector one, float by)
{
  one.x *= by;
  one.y *= by;
  one.z *= by;
  return one;
}
static float dot(vector one, vector other) { return one.x * other.x + one.y * other.y + one.z * other.z; }
static vector cross(vector one, vector other)
{
  return (vector){one.y * other.z - one.z * other.y, one.z * other.x - one.x * other.z, one.x * other.y - one.y * other.x};
}
static vector unit(vector one)
{
  float length = dot(one, one);
  if (length == 0)
    return (vector){0};
  return scaled(one, 1 / sqrtf(length));
}
static struct padded made(char tag, int from)
{
  struct padded one = {.tag = tag, .last = {from, from + 1, [2] = from * 2}};
  one.value = from * 0.5;
  one.more = 3;
  return one;
}

__attribute__((noinline)) static void copied(int count, vector *to, const vector *from)
{
  for (int i = 0; i < count; i++) /* entered */
    to[i] = from[i];
}
__attribute__((noinline)) static void with_bytes_between(int count, struct padded *to, const struct padded *from)
{
  for (int i = 0; i < count; i++) /* entered */
    to[i] = from[count - 1 - i];
}
__attribute__((noinline)) static void with_all(int count, struct mixed *to, const struct mixed *from)
{
  for (int i = 0; i < count; i++) /* entered */
    to[i] = from[i];
}
__attribute__((noinline)) static void gathered(int count, vector *restrict to, const vector *restrict from, const int *restrict at)
{
  for (int i = 0; i < count; i++) /* entered */
    to[i] = from[at[i]];
}
__attribute__((noinline)) static void scattered(int count, vector *to, const vector *from, const int *at)
{
  for (int i = 0; i < count; i++) /* entered */
    to[at[i]] = from[i];
}
__attribute__((noinline)) static void swapped(int count, vector *one, vector *other)
{
  for (int i = 0; i < count; i++) { /* entered */
    vector before = one[i];
    one[i] = other[i];
    other[i] = before;
  }
}
__attribute__((noinline)) static void swapped_with_bytes_between(int count, struct padded *one, struct padded *other)
{
  for (int i = 0; i < count; i++) {
    struct padded before = one[i], after;
    after = i % 3 ? other[i] : before;
    one[i] = other[count - 1 - i];
    other[count - 1 - i] = before;
    if (i % 5 == 0)
      one[i] = after;
  }
}
__attribute__((noinline)) static void swapped_plain(int count, struct plain *one, struct plain *other)
{
  for (int i = 0; i < count; i++) { /* entered */
    struct plain before = one[i], after;
    after = i % 3 ? other[i] : before;
    one[i] = other[count - 1 - i];
    other[count - 1 - i] = before;
    if (i % 5 == 0)
      one[i] = after;
  }
}
/* What isn't mentioned is zero, also between members. */
__attribute__((noinline)) static void in_braces(int count, struct plain *to, struct plain *other)
{
  for (int i = 0; i < count; i++)
    to[i] = (struct plain){.value = i};
  for (int i = 0; i < count; i++)
    other[i] = i % 3 ? (struct plain){0} : to[i];
}
__attribute__((noinline)) static void the_same_for_all(int count, struct padded *to, int first)
{
  struct padded one;
  memset(&one, 0, sizeof one);
  one.value = first;
  for (int i = 0; i < count; i++) /* entered */
    to[i] = one;
}
__attribute__((noinline)) static void turned(int count, vector *to)
{
  for (int i = 0; i < count; i++) /* entered */
    to[i] = (vector){to[i].z, to[i].x, to[i].y};
}
__attribute__((noinline)) static void chosen(int count, vector *to, const vector *one, const vector *other)
{
  for (int i = 0; i < count; i++) { /* entered */
    vector last = one[i].x > 2.5f ? one[i] : other[i];
    to[i] = i % 3 ? last : (i & 1) ? other[count - 1 - i] : one[i];
  }
}
__attribute__((noinline)) static void computed(int count, vector *to, const vector *one, const vector *other)
{
  for (int i = 0; i < count; i++) /* entered */
    to[i] = add(scaled(cross(one[i], other[i]), 0.25f), add(unit(one[i]), (vector){1, i, 0.5f}));
}
__attribute__((noinline)) static void made_of_numbers(int count, struct padded *to)
{
  for (int i = 0; i < count; i++) {
    struct padded one = made((char)i, i * 3);
    to[i].tag = one.tag;
    to[i].value = one.value + one.last[2];
  }
  for (int i = 0; i < count; i++)
    to[i].last[1] = made(3, i).last[1];
}
/* What is copied says where it comes from. */
__attribute__((noinline)) static void followed(int count, struct node *to)
{
  for (int i = 0; i < count; i++)
    to[i] = *to[i].next;
}
__attribute__((noinline)) static void moved_up(int count, vector *to)
{
  for (int i = 1; i < count; i++)
    to[i] = to[i - 1];
}
__attribute__((noinline)) static void moved_down(int count, vector *to)
{
  for (int i = 1; i < count; i++) /* entered */
    to[i - 1] = to[i];
}
__attribute__((noinline)) static void of_bits(int count, struct bits *to, const struct bits *from)
{
  for (int i = 0; i < count; i++)
    to[i] = from[i];
}
__attribute__((noinline)) static void of_unions(int count, union number *to, const union number *from)
{
  for (int i = 0; i < count; i++) /* entered */
    to[i] = from[i];
}
__attribute__((noinline)) static vector carried(int count, const vector *from)
{
  vector sum = {0, 0, 0}, last = sum;
  for (int i = 0; i < count; i++) {
    sum = add(scaled(sum, 0.5f), from[i]);
    last = from[i];
  }
  return add(sum, last);
}
__attribute__((noinline)) static void stepped(int count, vector *to, const vector *from)
{
  for (int i = 0; i < count; i++)
    *to++ = *from++;
}
__attribute__((noinline)) static void in_part(int count, vector *to)
{
  vector half;
  half.z = 4;
  for (int i = 0; i < count; i++) {
    half.x = i;
    if (i % 2)
      half.y = i * 2;
    else
      half.y = 1;
    to[i] = half;
  }
}
__attribute__((noinline)) static void by_rows(int rows, int columns, vector to[][columns], vector from[][columns])
{
  for (int i = 0; i < rows; i++) /* entered */
    for (int j = 0; j < columns; j++)
      to[i][j] = scaled(from[i][columns - 1 - j], i);
}

int main(void)
{
  for (int turn = 0; turn < 3; turn++) {
    int count = COUNT - turn;
    fresh();
    copied(count, a, b);
    told("copied");
    copied(count - 9, a + turn, a);
    told("copied within");
    with_bytes_between(count, p, q);
    told("with bytes between");
    with_all(count, m, n);
    told("with all");
    gathered(count, a, b, order);
    told("gathered");
    scattered(count, a, c, order);
    told("scattered");
    swapped(count, a, c);
    told("swapped");
    swapped_with_bytes_between(count, p, q);
    told("swapped with bytes between");
    swapped_plain(count, e, f);
    told("swapped plain");
    in_braces(count / 2, e + turn, f);
    told("in braces");
    the_same_for_all(99, p + turn, turn);
    told("the same for all");
    turned(count, a);
    told("turned");
    chosen(count, a, b, c);
    told("chosen");
    computed(count, a, b, c);
    told("computed");
    made_of_numbers(count, p);
    told("made of numbers");
    followed(count, heads);
    told("followed");
    moved_up(20, a);
    told("moved up");
    moved_down(count, a);
    told("moved down");
    of_bits(count, s, t);
    told("of bits");
    of_unions(count, u, v);
    told("of unions");
    vector one = carried(count, b);
    printf("carried %a %a %a\n", one.x, one.y, one.z);
    stepped(count, a, c);
    told("stepped");
    in_part(count, a);
    told("in part");
    by_rows(60, 99, (void *)a, (void *)b);
    told("by rows");
  }
  return 0;
}
