/* The loops of planted.c, and the same ones in a form that no optimiser touches (reference.c). */
#ifndef PLANTED_H
#define PLANTED_H

#include <stdint.h>

/* Through index arrays. */
void indirect_write_write(int n, const int *to, const uint32_t *in, uint32_t *out);
void indirect_read_write(int n, const int *to, const int *from, const uint32_t *in, uint32_t *out);
void indirect_mixed_width(int n, const int *word, const int *byte, const uint32_t *in, unsigned char *out);
/* Iterations with inner loops: each stores to its row's element of x, and loads others. */
void rows_read_write(int n, const int *order, const int *begin, const int *column, const uint32_t *weight, uint32_t *x);
void rows_side_by_side(int n, const int *order, const int *begin, const int *end, const uint32_t *weight, uint32_t *x);
void rows_wide(int n, const int *order, const int *begin, const int *column, const uint32_t *weight, const uint32_t *words,
               unsigned char *x);
void rows_mixed_width(int n, const int *order, const int *begin, const int *column, const uint32_t *weight,
                      const unsigned char *bytes, uint32_t *x);
/* Updates that meet each other. */
void updates_write(int n, const int *to, const int *from, const uint32_t *in, uint32_t *out);
void updates_of_two_kinds(int n, const int *to, const int *from, const uint32_t *in, uint32_t *out);
void updates_read(int n, const int *to, const int *from, const uint32_t *in, uint32_t *out, uint32_t *seen);
void updates_mixed_width(int n, const int *word, const int *byte, const uint32_t *in, uint32_t *out, unsigned char *bytes);
/* Through pointers that may overlap. */
void pointer_write_write(int n, const uint32_t *in, uint32_t *first, uint32_t *second);
void pointer_read_write(int n, const uint32_t *in, const uint32_t *from, uint32_t *to);
void pointer_mixed_width(int n, const uint32_t *in, uint32_t *words, unsigned char *bytes);

void reference_indirect_write_write(int n, const int *to, const uint32_t *in, uint32_t *out);
void reference_indirect_read_write(int n, const int *to, const int *from, const uint32_t *in, uint32_t *out);
void reference_indirect_mixed_width(int n, const int *word, const int *byte, const uint32_t *in, unsigned char *out);
void reference_rows_read_write(int n, const int *order, const int *begin, const int *column, const uint32_t *weight, uint32_t *x);
void reference_rows_side_by_side(int n, const int *order, const int *begin, const int *end, const uint32_t *weight, uint32_t *x);
void reference_rows_wide(int n, const int *order, const int *begin, const int *column, const uint32_t *weight, const uint32_t *words,
                         unsigned char *x);
void reference_rows_mixed_width(int n, const int *order, const int *begin, const int *column, const uint32_t *weight,
                                const unsigned char *bytes, uint32_t *x);
void reference_pointer_write_write(int n, const uint32_t *in, uint32_t *first, uint32_t *second);
void reference_pointer_read_write(int n, const uint32_t *in, const uint32_t *from, uint32_t *to);
void reference_pointer_mixed_width(int n, const uint32_t *in, uint32_t *words, unsigned char *bytes);
void reference_updates_write(int n, const int *to, const int *from, const uint32_t *in, uint32_t *out);
void reference_updates_of_two_kinds(int n, const int *to, const int *from, const uint32_t *in, uint32_t *out);
void reference_updates_read(int n, const int *to, const int *from, const uint32_t *in, uint32_t *out, uint32_t *seen);
void reference_updates_mixed_width(int n, const int *word, const int *byte, const uint32_t *in, uint32_t *out, unsigned char *bytes);

#endif
