/* What collected.c and collected_beside.c update: an index and a value for each iteration, and tables of each width with anything in them. */
#ifndef TABLES_H
#define TABLES_H

#include "inputs.h"

enum { WORDS = 12, LONGS = 7, BYTES = 5, HALVES = 4, BEHIND = 16 };

struct tables {
  size_t n;
  int *index, *value;
  unsigned *u[WORDS];
  unsigned long *w[LONGS];
  /* These have so many elements more, to begin somewhere in a word. */
  unsigned char *c[BYTES];
  unsigned short *s[HALVES];
};

CHECK_UTILITY struct tables alloc_tables(struct check *check)
{
  struct tables t = {.n = check->size};
  t.index = check_alloc(check, t.n, sizeof *t.index);
  t.value = check_alloc(check, t.n, sizeof *t.value);
  for (int k = 0; k < WORDS; k++)
    t.u[k] = check_alloc(check, t.n, sizeof *t.u[k]);
  for (int k = 0; k < LONGS; k++)
    t.w[k] = check_alloc(check, t.n, sizeof *t.w[k]);
  for (int k = 0; k < BYTES; k++)
    t.c[k] = check_alloc(check, t.n + BEHIND, sizeof *t.c[k]);
  for (int k = 0; k < HALVES; k++)
    t.s[k] = check_alloc(check, t.n + BEHIND, sizeof *t.s[k]);
  return t;
}

/* Indices are a permutation, or on `few` and `flat` what their names say. */
CHECK_UTILITY void fill_tables(struct check *check, struct tables *t)
{
  permute(check, t->index, t->n);
  for (size_t i = 0; i < t->n; i++) {
    if (check_is(check, "few"))
      t->index[i] %= 13;
    if (check_is(check, "flat"))
      t->index[i] = 7;
    t->value[i] = (int)check_random(check);
    for (int k = 0; k < WORDS; k++)
      t->u[k][i] = (unsigned)check_random(check);
    for (int k = 0; k < LONGS; k++)
      t->w[k][i] = check_random(check);
  }
  for (size_t i = 0; i < t->n + BEHIND; i++) {
    for (int k = 0; k < BYTES; k++)
      t->c[k][i] = (unsigned char)check_random(check);
    for (int k = 0; k < HALVES; k++)
      t->s[k][i] = (unsigned short)check_random(check);
  }
}

CHECK_UTILITY void check_tables(struct check *check, const struct tables *t)
{
  for (int k = 0; k < WORDS; k++)
    check_array(check, "u", t->u[k], t->n, sizeof *t->u[k]);
  for (int k = 0; k < LONGS; k++)
    check_array(check, "w", t->w[k], t->n, sizeof *t->w[k]);
  for (int k = 0; k < BYTES; k++)
    check_array(check, "c", t->c[k], t->n + BEHIND, sizeof *t->c[k]);
  for (int k = 0; k < HALVES; k++)
    check_array(check, "s", t->s[k], t->n + BEHIND, sizeof *t->s[k]);
}

CHECK_UTILITY void free_tables(struct tables *t)
{
  free(t->value), free(t->index);
  for (int k = 0; k < WORDS; k++)
    free(t->u[k]);
  for (int k = 0; k < LONGS; k++)
    free(t->w[k]);
  for (int k = 0; k < BYTES; k++)
    free(t->c[k]);
  for (int k = 0; k < HALVES; k++)
    free(t->s[k]);
}

#endif
