/* Rows of variable length: parameters, pointers, typedef names and casts, of two and three dimensions, of structs; lengths that change behind the array's declaration,
 * names that mean something else at the loop, and rows that overlap because loops run beyond their ends. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 150, ALL = 3 * SIDE * SIDE };
struct point {
  float x, y;
  int tag;
};
static double a[ALL], b[ALL];
static struct point points[SIDE * SIDE];
static unsigned long hash = 7;

static void see(const void *from, size_t bytes)
{
  const unsigned char *p = from;
  for (size_t k = 0; k < bytes; k++)
    hash = (hash ^ p[k]) * 1099511628211u;
}

static void fresh(void)
{
  for (int k = 0; k < ALL; k++) {
    a[k] = k % 1013 * 0.5;
    b[k] = k % 719 - 300;
  }
}

static void told(const char *name)
{
  see(a, sizeof a);
  see(points, sizeof points);
  printf("%s %lx\n", name, hash);
  fresh();
}

__attribute__((noinline)) static void stencil(int n, int m, double to[n][m], double from[n][m])
{
  for (int i = 1; i < n - 1; i++) /* entered */
    for (int j = 1; j < m - 1; j++)
      to[i][j] = 0.25 * (from[i - 1][j] + from[i + 1][j] + from[i][j - 1] + from[i][j + 1]);
}

__attribute__((noinline)) static void product(int n, double (*restrict c)[n], double (*restrict p)[n], double (*restrict q)[n])
{
  for (int i = 0; i < n; i++) /* entered */
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < n; k++)
        sum += p[i][k] * q[k][j];
      c[i][j] = sum;
    }
}

__attribute__((noinline)) static void cube(size_t n, unsigned m, short k, double to[n][m][k + 1])
{
  for (size_t i = 0; i < n; i++) /* entered */
    for (unsigned j = 0; j < m; j++)
      for (int l = k; l >= 0; l--)
        to[i][j][l] = to[i][j][l] * 2 + i + j * l;
}

__attribute__((noinline)) static void constant_rows_within(int n, int m, double to[n][3][m])
{
  for (int i = n - 1; i >= 0; i--) /* entered */
    for (int j = 0; j < m; j++)
      to[i][2][j] = to[i][0][j] + to[i][1][m - 1 - j];
}

__attribute__((noinline)) static void below_the_diagonal(int n, double to[][n])
{
  for (int i = 1; i < n; i++) /* entered */
    for (int j = 0; j < i; j++)
      to[i][j] = to[j][i] - i;
}

__attribute__((noinline)) static void by_typedef(int n, int m, void *memory)
{
  int length = m;
  length += 2;
  typedef double row[length];
  row *rows = memory;
  for (int i = 0; i < n; i++) /* entered */
    for (int j = 0; j < length; j++)
      *(*(rows + i) + j) = i - j;
}

__attribute__((noinline)) static void by_cast(int n, int m, double *memory)
{
  for (int i = 0; i < n; i++) /* entered */
    for (int j = 0; j < m; j++)
      ((double(*)[m])memory)[i][j] += i * j;
}

__attribute__((noinline)) static void of_structs(int n, int m, struct point to[n][m])
{
  for (int i = 0; i < n; i++) /* entered */
    for (int j = 0; j < m; j++) {
      to[i][j].x = to[i][j].y + i;
      to[i][j].tag = j;
    }
}

static double at(int m, double from[][m], int i, int j) { return from[i][j] + from[i + 1][j]; }
static void put(int m, double to[][m], int i, double value)
{
  to[i][m - 1] = value;
  to[i][0] = -value;
}

__attribute__((noinline)) static void by_functions(int n, int length, double to[][length], double from[][length])
{
  for (int i = 0; i < n - 1; i++) /* entered */
    put(length, to, i, at(length, from, i, i % 7));
}

__attribute__((noinline)) static double local(int n, int m)
{
  double t[n][m], sum = 0;
  for (int i = 0; i < n; i++) /* entered */
    for (int j = 0; j < m; j++)
      t[i][j] = i * 3 + j;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      sum = sum * 0.5 + t[i][j];
  return sum;
}

/* Each row is the next one's beginning. */
__attribute__((noinline)) static void overlapping(int n, int m, int width, double to[][m])
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < width; j++)
      to[i][j] = to[i][j] * 0.5 + i;
}

__attribute__((noinline)) static void changed(int n, int m, double to[][m])
{
  m -= 3;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      to[i][j] = i * j + m;
}

__attribute__((noinline)) static void changed_by_loop(int n, int m, double to[][m])
{
  for (int i = 0; i < n; i++) {
    to[i][0] = m;
    m++;
  }
}

__attribute__((noinline)) static void changed_elsewhere(int n, int m, double to[][m])
{
  int *p = &m;
  *p = 9;
  for (int i = 0; i < n; i++)
    to[i][1] = m;
}

__attribute__((noinline)) static void hidden(int n, int m, double to[][m])
{
  int m_before = m;
  {
    int m = 2;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < m_before; j++)
        to[i][j] = m;
  }
}

__attribute__((noinline)) static void declared_again(int rounds, double *memory)
{
  int m = 10;
  for (int k = 0; k < rounds; k++) {
    m += k;
    double(*rows)[m] = (double(*)[m])memory;
    for (int i = 0; i < 100; i++) /* entered */
      for (int j = 0; j < m; j++)
        rows[i][j] += k + j;
  }
}

__attribute__((noinline)) static void either(int which, int n, int m, double first[][m], double second[][m])
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      (which ? first : second)[i][j] = i + j;
}

__attribute__((noinline)) static void steps(int n, int m, double (*row)[m])
{
  for (int i = 0; i < n; i++, row++)
    for (int j = 0; j < m; j++)
      (*row)[j] = i - j;
  row -= 2;
  for (int j = 0; j < m; j++)
    row[0][j] += j;
}

struct both {
  double one, other;
};
static struct both pairs[200];
/* What stands in braces is read with the length that rows had, too. */
__attribute__((noinline)) static void in_braces(int n, int m, double from[][m])
{
  m++;
  for (int i = 0; i < n; i++)
    pairs[i] = (struct both){from[i][1], m};
}

static void old_style();

int main(void)
{
  fresh();
  for (int k = 0; k < SIDE * SIDE; k++)
    points[k] = (struct point){k, k * 2, k * 3};
  for (int turn = 0; turn < 3; turn++) {
    stencil(SIDE, SIDE - turn, (void *)a, (void *)b);
    told("stencil");
    stencil(SIDE, SIDE - turn, (void *)a, (void *)(a + turn));
    told("stencil in itself");
    product(60 + turn, (void *)a, (void *)b, (void *)(b + 10000));
    told("product");
    cube(30, 20 + turn, 40, (void *)a);
    told("cube");
    constant_rows_within(100, 50 - turn, (void *)a);
    told("constant rows within");
    below_the_diagonal(SIDE - turn, (void *)a);
    told("below the diagonal");
    by_typedef(SIDE, 100 + turn, a);
    told("by typedef");
    by_cast(SIDE, 100 + turn, a);
    told("by cast");
    of_structs(SIDE, SIDE - turn, (void *)points);
    told("of structs");
    by_functions(SIDE, 90 + turn, (void *)a, (void *)b);
    told("by functions");
    printf("local %.17g\n", local(100 + turn, 90));
    overlapping(200, 50, 50 + 20 * turn, (void *)a);
    told("overlapping");
    changed(100, 60 + turn, (void *)a);
    told("changed");
    changed_by_loop(100, 60 + turn, (void *)a);
    told("changed by the loop");
    changed_elsewhere(100, 60 + turn, (void *)a);
    told("changed elsewhere");
    hidden(100, 60 + turn, (void *)a);
    told("hidden");
    declared_again(12, a);
    told("declared again");
    either(turn & 1, 100, 70, (void *)a, (void *)b);
    told("either");
    steps(100, 70 + turn, (void *)a);
    told("steps");
    in_braces(100, 70 + turn, (void *)a);
    see(pairs, sizeof pairs);
    told("in braces");
    old_style(100, (void *)a, 70 + turn);
    told("old style");
  }
  return 0;
}

static void old_style(n, to, m)
int n, m;
double to[][m];
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      to[i][j] = i * 2 + j;
}
