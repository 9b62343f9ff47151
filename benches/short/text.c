/* Text: bytes, tables, early exits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((noinline)) static unsigned hash(const char *word, size_t length)
{
  unsigned h = 2166136261u;
  for (size_t i = 0; i < length; i++)
    h = (h ^ (unsigned char)word[i]) * 16777619u;
  return h;
}

__attribute__((noinline)) static void upper(char *to, const char *from, size_t length)
{
  for (size_t i = 0; i < length; i++)
    to[i] = from[i] >= 'a' && from[i] <= 'z' ? (char)(from[i] - 32) : from[i];
}

__attribute__((noinline)) static long find(const char *text, size_t length, char wanted)
{
  for (size_t i = 0; i < length; i++)
    if (text[i] == wanted)
      return (long)i;
  return -1;
}

int main(void)
{
  enum { LENGTH = 1 << 16 };
  char *text = malloc(LENGTH), *other = malloc(LENGTH);
  unsigned long sum = 0;
  for (int i = 0; i < LENGTH; i++)
    text[i] = (char)('a' + i * 7 % 23);
  for (int turn = 0; turn < 3000; turn++) {
    size_t begin = 0;
    while (begin < LENGTH - 64) {
      size_t length = 5 + (begin + (size_t)turn) % 57;
      sum += hash(text + begin, length) & 255;
      begin += length;
    }
    upper(other, text, LENGTH - (size_t)turn);
    sum += (unsigned long)find(other, LENGTH, (char)('A' + turn % 26));
  }
  printf("%lu\n", sum);
  free(text);
  free(other);
  return 0;
}
