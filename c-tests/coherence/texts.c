/* Strings that lie in arrays: printed in each step, taken apart, read into, scanned, printed into. */
#include "coherence.h"

enum { COUNT = 400000, STEPS = 24 };

int main(void)
{
  char *text = malloc(COUNT), *other = malloc(COUNT);
  double *values = malloc(COUNT / 8 * sizeof *values);
  FILE *file = fopen("lines", "w+");
  ensure(file != NULL, "fopen");
  for (long t = 0; t < STEPS; t++) {
    letters(COUNT, text, t);
    letters(COUNT, other, t + 5);
    begin(COUNT / 8, values, (double)t);
    printf("%ld: %c %.13s %g %.17g\n", t, text[t * 4096], other + t * 4095, values[t], values[COUNT / 8 - 1]);
    char *at = text + t * 9000 + 1;
    switch (t % 6) {
    case 0:
      at[50] = 0;
      fprintf(file, "%s\n%s and\n", at, at + 20);
      break;
    case 1:
      at[300] = 0;
      for (char *rest, *word = strtok_r(at, "aeiou", &rest); word != NULL; word = strtok_r(NULL, "aeiou", &rest))
        printf("%s ", word);
      putchar('\n');
      break;
    case 2:
      printf("%d\n", snprintf(at, 100, "%ld %.4s %.3f", t, other + 100, values[7]));
      printf("%.60s\n", at);
      break;
    case 3: {
      long number;
      char word[20];
      sprintf(at, "%ld %s", t * 1000, "words that follow");
      int found = sscanf(at, "%ld %19s", &number, word);
      printf("%d %ld %s\n", found, number, word);
      at[3] = 0;
      printf("%ld\n", strtol(at, NULL, 10));
      break;
    }
    case 4: {
      /* A line into a buffer that the C library may move: it is an allocation of its own. */
      char *line = malloc(200000);
      size_t room = 200000;
      letters(200000, line, t);
      rewind(file);
      ssize_t length = getline(&line, &room, file);
      printf("%zd %s", length, line);
      letters((long)room, line, t + 1);
      length = getline(&line, &room, file);
      printf("%zd %s", length, line);
      show("line", t, line + 100, 190000);
      free(line);
      fseek(file, 0, SEEK_END);
      break;
    }
    default:
      rewind(file);
      printf("%d\n", fgets(at, 5000, file) != NULL);
      fseek(file, 0, SEEK_END);
    }
    flip(COUNT, text);
    show("text", t, at - 1, 6000);
  }
  show("text", STEPS, text, COUNT);
  show("other", STEPS, other, COUNT);
  show("values", STEPS, values, COUNT / 8 * sizeof *values);
  return 0;
}
