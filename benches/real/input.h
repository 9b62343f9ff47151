/* What the drivers of real programs here have in common: input that resembles what people and programs write, the same in every run, and a
 * checksum of what comes out.
 *
 * A real program's loops do what their data asks for: matches are as long as the text's repetitions, words as frequent as words are. Random
 * bytes have neither, and one sentence over and over has too much of both. So there are a vocabulary whose words are as frequent as their
 * rank says, prose, log lines, records, C-like lines and a table of numbers in turn, and passages that stood there before. */
#ifndef REAL_INPUT_H
#define REAL_INPUT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REAL_WORDS = 4096, REAL_WORD_LENGTH = 16 };

struct real_source {
  uint64_t state;
  char (*words)[REAL_WORD_LENGTH];
};

/* A number below the limit. */
static uint32_t real_number(struct real_source *source, uint32_t limit)
{
  source->state = source->state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)((source->state >> 32) * limit >> 32);
}

/* A word: one of rank 2n half as often as one of rank n. */
static const char *real_word(struct real_source *source)
{
  uint32_t power = 1u << real_number(source, 12);
  return source->words[power + real_number(source, power)];
}

/* Memory, or the end. */
static void *real_memory(size_t bytes)
{
  void *memory = malloc(bytes);
  if (!memory) {
    fprintf(stderr, "no memory\n");
    exit(2);
  }
  return memory;
}

static struct real_source real_begin(uint64_t seed)
{
  static const char *const syllables[] = {"con", "ta", "re", "mi", "lo", "ver", "ing", "ed", "er", "a", "the", "o", "pre", "st", "un", "di",
                                          "al", "en", "tion", "per", "s", "ma", "le", "ro", "ex", "ni", "ca", "tu", "be", "sh", "and", "if"};
  struct real_source source = {seed, real_memory(sizeof(char[REAL_WORDS][REAL_WORD_LENGTH]))};
  for (int i = 0; i < REAL_WORDS; i++) {
    source.words[i][0] = 0;
    /* Frequent words are short. */
    int most = i < 32 ? 1 : i < 512 ? 2 : 3;
    for (int n = 0; n < most; n++)
      strcat(source.words[i], syllables[real_number(&source, 32)]);
  }
  return source;
}

static void real_end(struct real_source *source) { free(source->words); }

/* Puts a line, or an entry of a table, to `to`, which has 1,024 bytes; how many bytes it is. What is drawn is drawn in front of the call that
 * writes it, because the order of a call's arguments is the compiler's affair. */
static size_t real_line(struct real_source *source, int kind, unsigned number, char *to)
{
  size_t length = 0;
  const char *word[5];
  for (int i = 0; i < 5; i++)
    word[i] = real_word(source);
  unsigned large = real_number(source, 1000), small = real_number(source, 100), rare = real_number(source, 20);
  switch (kind) {
  case 0:
    for (unsigned words = 4 + small % 16; words > 0; words--) {
      const char *next = real_word(source);
      length += (size_t)sprintf(to + length, "%s%s", next, words == 1 ? ". " : real_number(source, 9) ? " " : ", ");
    }
    to[0] = (char)(to[0] - 'a' + 'A');
    if (rare < 4)
      to[length++] = '\n';
    return length;
  case 1:
    length = (size_t)sprintf(to, "2026-%02u-%02u %02u:", 1 + number / 900 % 12, 1 + number / 70 % 28, number / 60 % 24);
    length += (size_t)sprintf(to + length, "%02u:%02u.%03u ", number % 60, number * 7 % 60, large);
    return length + (size_t)sprintf(to + length, "%s [%s] %s: %s took %u ms\n", rare ? "INFO " : "ERROR", word[0], word[1], word[2], small * 3);
  case 2:
    length = (size_t)sprintf(to, "{\"id\": %u, \"name\": \"%s %s\", \"kind\": \"%s\", ", number, word[0], word[1], source->words[64 + large % 8]);
    return length + (size_t)sprintf(to + length, "\"price\": %u.%02u, \"tags\": [\"%s\", \"%s\"]},\n", large / 2, small, source->words[100 + rare], word[2]);
  case 3:
    length = (size_t)sprintf(to, "%*sif (%s->%s[i] %s %u)\n", 2 * (int)(number % 4), "", word[0], word[1], large % 2 ? "<" : "==", small % 64);
    return length + (size_t)sprintf(to + length, "%*s%s(%s, %s + %u);\n", 2 * (int)(number % 4) + 2, "", word[2], word[0], word[1], rare);
  default:
    for (uint32_t column = 0; column < 8; column++) {
      uint32_t value = number * (column + 1) * 3 + real_number(source, column < 6 ? 4 : 4096);
      memcpy(to + length, &value, sizeof value);
      length += sizeof value;
    }
    return length;
  }
}

/* So many bytes of it, with bytes that are no text only where `binary` says so. */
static unsigned char *real_input(uint64_t seed, size_t bytes, int binary)
{
  struct real_source source = real_begin(seed);
  char *text = real_memory(bytes + 1024);
  size_t length = 0;
  unsigned number = 0;
  while (length < bytes) {
    int kind = (int)real_number(&source, binary ? 5 : 4);
    for (uint32_t lines = 10 + real_number(&source, 100); lines > 0 && length < bytes; lines--, number++) {
      if (length > 4096 && !real_number(&source, 12)) {
        /* What stood there before, near or far. */
        size_t far = real_number(&source, 4) ? 2000 : length < (1u << 20) ? length - 600 : 1u << 20;
        size_t begin = length - 512 - real_number(&source, (uint32_t)far), passage = 20 + real_number(&source, 300);
        memcpy(text + length, text + begin, passage);
        length += passage;
        continue;
      }
      length += real_line(&source, kind, number, text + length);
    }
  }
  real_end(&source);
  text[bytes] = 0;
  return (unsigned char *)text;
}

/* Of bytes, into a sum of what came before. */
static uint64_t real_checksum(uint64_t sum, const void *memory, size_t bytes)
{
  const unsigned char *byte = memory;
  for (size_t i = 0; i < bytes; i++)
    sum = (sum ^ byte[i]) * 1099511628211u;
  return sum;
}

/* Ends the program with a message if something isn't as it must be. */
static void real_expect(int holds, const char *what)
{
  if (!holds) {
    printf("failed: %s\n", what);
    exit(1);
  }
}

#endif
