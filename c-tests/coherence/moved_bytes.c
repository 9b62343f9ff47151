/* The C library's functions on memory, on parts of arrays between the steps: copies within an array, between two, fills, searches, comparisons. */
#include "coherence.h"

enum { COUNT = 70000, STEPS = 30, BYTES = COUNT * sizeof(double) };

int main(void)
{
  double *now = malloc(BYTES), *next = malloc(BYTES);
  char *text = malloc(400000);
  begin(COUNT, now, 7);
  begin(COUNT, next, 8);
  for (long t = 0; t < STEPS; t++) {
    smooth(COUNT, next, now);
    letters(400000 - 1, text, t);
    text[399999] = 0;
    char *to = (char *)next, *from = (char *)now;
    size_t offset = (size_t)t * 7001 + 3;
    switch (t % 10) {
    case 0:
      memcpy(to + offset, from + offset * 2, 5);
      break;
    case 1:
      memcpy(to + offset * 2, from + offset, 190001);
      break;
    case 2:
      memmove(to + offset, to + offset + 1000, 120000);
      break;
    case 3:
      memmove(to + offset + 4096, to + offset, 60000);
      break;
    case 4:
      memset(to + offset, 0x3f, 9000);
      break;
    case 5:
      memset(to + 8192, 0, 4096);
      break;
    case 6:
      printf("%d %d\n", memcmp(to, from, BYTES) != 0, memcmp(to + BYTES - 8, from + BYTES - 8, 8) != 0);
      break;
    case 7:
      printf("%zu %td %td\n", strlen(text + offset), (char *)memchr(text + offset, 'q', 100) - text,
             strrchr(text, 'x') - text);
      break;
    case 8:
      text[offset + 9000] = 0;
      printf("%zu %d\n", strlen(text + 11), strcmp(text, text + 1) < 0);
      strcpy(text + 200001, text + offset + 8500);
      strcat(text + 200001, "and");
      puts(text + 200001 + 480);
      break;
    default:
      printf("%td\n", (char *)memmem(text, 399999, text + 90000, 9) - text);
      bzero(text + 50000, 20000);
    }
    show("text", t, text + 40000, 40000);
    double *other = now;
    now = next;
    next = other;
  }
  show("now", STEPS, now, BYTES);
  show("before", STEPS, next, BYTES);
  show("text", STEPS, text, 400000);
  return 0;
}
