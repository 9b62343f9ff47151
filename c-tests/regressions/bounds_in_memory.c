/* Loops whose bounds are in memory, some of it where nobody may look unless the loop does. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

enum which { FIRST, SECOND };
struct sizes {
  int n;
  struct {
    long deep;
    union {
      int in_union;
      float other;
    };
  };
  unsigned narrow : 13;
  int lengths[300];
  double *begin, *end;
  struct sizes *next;
};

__attribute__((noinline)) static void by_value(double *restrict x, struct sizes s)
{
  for (int i = 0; i < s.n; i++) /* entered */
    x[i] = x[i] * 2 + 1;
}
__attribute__((noinline)) static void members(double *restrict x, struct sizes *s)
{
  for (int i = 0; i < s->deep; i++) /* entered */
    x[i] = x[i] * 2 + 1;
  for (int i = 0; i < s->in_union; i++) /* entered */
    x[i] = x[i] * 2 - 1;
  for (unsigned i = 0; i < s->narrow; i++)
    x[i] = x[i] * 0.5 - 1;
  for (int i = s->next->n - 1; i >= s->lengths[SECOND]; i--) /* entered */
    x[i] = x[i] * 0.25 + 1;
}
/* The index wraps as the program says; beyond that nothing is mapped. */
__attribute__((noinline)) static void wrapped(double *restrict x, const int *lengths, unsigned char at, unsigned long back)
{
  for (int i = 0; i < lengths[(unsigned char)(at + 200)]; i++) /* entered */
    x[i] = x[i] + 3;
  for (int i = 0; i < lengths[back + 7]; i++) /* entered */
    x[i] = x[i] + 5;
  for (int i = 0; i < (lengths + 10)[-(long)at / 64]; i++) /* entered */
    x[i] = x[i] + 7;
}
__attribute__((noinline)) static void pointers(struct sizes **s)
{
  for (double *p = (*s)->begin; p < (*s)->end; p++) /* entered */
    *p = *p * 3;
}
__attribute__((noinline)) static void first_clause(double *restrict x, struct sizes *s)
{
  struct sizes *p;
  int i;
  for (i = 0, p = s->next; i < p->n; i++) /* entered */
    x[i] = x[i] - 11;
}
__attribute__((noinline)) static void rows(double *restrict out, const int *restrict begin, const double *restrict x, int n)
{
  for (int r = 0; r < n; r++) { /* entered */
    double most = 0;
    for (int k = begin[r]; k < begin[r + 1]; k++)
      most = x[k] > most ? x[k] : most;
    out[r] = most;
  }
}
__attribute__((noinline)) static void if_there(double *restrict x, struct sizes *s)
{
  for (int i = 0; i < (s ? s->n : 0); i++)
    x[i] = x[i] * 1.5;
}
/* The inner loops are never come to, nor what bounds them. */
__attribute__((noinline)) static void nests(double *restrict x, struct sizes *s, int rows, unsigned length)
{
  for (unsigned j = 0; j < length; j++)
    for (int i = 0; i < s->n; i++)
      x[i * 64 + j] = x[i * 64 + j] * 2;
  for (int j = -1; j < length; j++)
    for (int i = 0; i < s->n; i++)
      x[i * 64 + j] = x[i * 64 + j] * 2;
  for (int i = 0; i < rows; i++)
    if (x[i] < 0)
      for (int j = 0; j < s->n; j++)
        x[j] = x[j] * 2;
}
/* From one end of the numbers to the other, and by a product that wraps. */
__attribute__((noinline)) static long far_apart(double *x, const long *ends)
{
  long turns = 0;
  for (long i = ends[0]; i < ends[1]; i += 1L << 58) {
    x[turns & 63] += 1;
    turns++;
  }
  for (unsigned long i = 0; i < (unsigned long)ends[2] * (unsigned long)ends[3]; i++)
    x[i] = x[i] - 2;
  return turns;
}

int main(void)
{
  enum { LENGTH = 20000 };
  double *x = malloc(sizeof *x * LENGTH), *out = calloc(LENGTH, sizeof *out), sum = 0;
  for (int i = 0; i < LENGTH; i++)
    x[i] = i % 1013;
  static struct sizes s, next;
  s = (struct sizes){.n = 19000, .narrow = 8000, .begin = x + 5, .end = x + 15000, .next = &next};
  s.deep = 18000;
  s.in_union = 17000;
  next.n = 16000;
  for (int i = 0; i < 300; i++)
    s.lengths[i] = 10000 + i;
  s.lengths[SECOND] = 40;
  by_value(x, s);
  members(x, &s);
  int *lengths = malloc(sizeof *lengths * 70);
  for (int i = 0; i < 70; i++)
    lengths[i] = 9000 + 10 * i;
  wrapped(x, lengths, 100, -3ul);
  struct sizes *p = &s;
  pointers(&p);
  first_clause(x, &s);
  int *begin = malloc(sizeof *begin * 2001);
  for (int r = 0; r <= 2000; r++)
    begin[r] = r * 9 + r % 3;
  rows(out, begin, x, 2000);
  if_there(x, NULL);
  nests(x, NULL, 3000, 0);
  long turns = far_apart(x, (const long[]){LONG_MIN, LONG_MAX - (1L << 58), LONG_MIN + 5000, 2});
  for (int i = 0; i < LENGTH; i++)
    sum = sum * 0.999 + x[i] + out[i];
  printf("%.17g %ld\n", sum, turns);
  return 0;
}
