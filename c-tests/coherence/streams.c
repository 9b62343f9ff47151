/* Streams: small and huge pieces of arrays are written and read, and pieces of an array are the streams' own buffers. */
#include "coherence.h"

enum { COUNT = 80000, STEPS = 18, BUFFER = 3 * 4096 };

int main(void)
{
  uint32_t *a = malloc(COUNT * sizeof *a);
  char *text = malloc(COUNT);
  FILE *values = fopen("values", "w+"), *lines = fopen("lines", "w+");
  ensure(values != NULL && lines != NULL, "fopen");
  /* The buffers are in the middle of arrays that loops have stored to; loops go on beside them. */
  memset(a, 3, COUNT * sizeof *a);
  advance(COUNT, a, 9);
  letters(COUNT, text, 9);
  setvbuf(values, (char *)a + 100004, _IOFBF, BUFFER);
  setvbuf(lines, text + 30001, _IOLBF, 5000);
  for (long t = 0; t < STEPS; t++) {
    advance(100004 / sizeof *a, a, (uint32_t)t);
    letters(30001, text, t);
    fprintf(lines, "%ld %u %.40s\n", t, a[t * 100], text + t * 1000);
    fwrite(a + t, sizeof *a, 3, values);
    if (t % 5 == 2)
      fwrite(a, sizeof *a, 100004 / sizeof *a, values);
    if (t % 7 == 3) {
      fflush(values);
      rewind(values);
      printf("%zu\n", fread(a + 5000, sizeof *a, 10, values));
      printf("%zu\n", fread(a + 6000, sizeof *a, 19000, values));
      fseek(values, 0, SEEK_END);
    }
    a[t * 50] = (uint32_t)getpagesize();
    fputc('0' + (int)(t % 10), lines);
    fputc('\n', lines);
  }
  fclose(values);
  rewind(lines);
  char line[100];
  while (fgets(line, sizeof line, lines) != NULL)
    fputs(line, stdout);
  fclose(lines);
  /* Standard output's buffer is a part of an array, too, from here on until the end. */
  fflush(stdout);
  static char all[1 << 19];
  letters(sizeof all, all, 1);
  setvbuf(stdout, all + 70000, _IOFBF, 1 << 14);
  for (long t = 0; t < STEPS; t++) {
    letters(70000, all, t);
    letters((long)sizeof all - 70000 - (1 << 14), all + 70000 + (1 << 14), t);
    printf("%ld %.60s\n", t, all + 2000 * t);
    show("all", t, all, 70000);
  }
  show("a", STEPS, a, 100004);
  show("text", STEPS, text, 30001);
  return 0;
}
