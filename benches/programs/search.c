/* How often a primer occurs in each of many reads of DNA, overlapping occurrences included.
 *
 * test size: 203 */
#include "../../c-tests/support/inputs.h"

COMPUTE static void search(int reads, const size_t *start, const char *text, const char *word, int length, int *found)
{
  for (int r = 0; r < reads; r++) { /* loop reads */
    int count = 0;
    for (size_t at = start[r]; at + length <= start[r + 1]; at++) {
      int k = 0;
      while (k < length && text[at + k] == word[k])
        k++;
      if (k == length)
        count++;
    }
    found[r] = count;
  }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", NULL};
  struct check check = check_open(argc, argv, 1u << 17, inputs);
  size_t n = check.size;
  enum { LEAST = 150, MOST = 400, LENGTH = 5 };
  size_t *start = check_alloc(&check, n + 1, sizeof *start);
  char *text = check_alloc(&check, n * MOST, 1);
  int *found = check_alloc(&check, n, sizeof *found);
  char *primer = check_alloc(&check, LENGTH, 1);
  memcpy(primer, "GATTA", LENGTH);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    size_t next = 0;
    for (size_t i = 0; i < n; i++) {
      start[i] = next;
      size_t length = LEAST + check_below(&check, MOST - LEAST);
      for (size_t k = 0; k < length; k++)
        text[next++] = "ACGT"[check_random(&check) >> 62];
    }
    start[n] = next;
    check_start(&check);
    search((int)n, start, text, primer, LENGTH, found);
    check_stop(&check);
    check_array(&check, "found", found, n, sizeof *found);
  }
  free(start);
  free(text);
  free(found);
  free(primer);
  return check_close(&check);
}
