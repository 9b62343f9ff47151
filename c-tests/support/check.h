/* What every test program shares: its command line, random numbers for its inputs, and the dump of its results.
 *
 *   program [--size N] [--input NAME] [--dump FILE] [--repeat R] [--seed S] [--time] [--list]
 *
 * A program names its inputs; `clean` comes first and is the default, the others make loops conflict. It fills its
 * arrays, calls its compute functions between check_start and check_stop, and hands every array that they touch to
 * check_array, which prints a hash and appends the bytes to FILE. Two builds of a program agree if what they print and
 * what they dump agree byte for byte. With --repeat all of this happens R times; --time adds the best time of the
 * compute part.
 *
 * Comments tell the test harness what to expect of a program:
 *   "test size: N"                     the size that tests use
 *   "expect LOOP: runs on INPUTS"      on these inputs an entry of the loop is carried out by the device
 *   "expect LOOP: runs in place on INPUTS" the same, and only where threads may work on the program's own memory without logs
 *   "expect LOOP: runs unchecked at last on INPUTS" its last entry comes to a GPU that checks no more what earlier ones have shown
 *   "expect LOOP: runs unchecked at first on INPUTS" the same of its first entry, and what its inspection has shown
 *   "expect LOOP: unchecked on INPUTS" a GPU carries out an entry and checks no address that an earlier one has seen
 *   "expect LOOP: stays on INPUTS"     no entry of the loop is carried out by a device
 *   "expect LOOP: conflicts on INPUTS" on these inputs its logs find a conflict
 *   "expect LOOP: stamps on INPUTS"    logs find a conflict there, except stamps: by those the loop is carried out by the device
 *   "expect LOOP: is joined on INPUTS" the same, and what lanes of a GPU side by side store to one place is left to the last of them, where that is guessed
 *   "expect LOOP: is sorted on INPUTS" it runs, and under bitmaps a GPU runs it in the order of how many turns iterations have
 *   "expect LOOP: is launched on INPUTS" the same as for stamps, where several launches have logs of their own and that is guessed: none of them finds a conflict
 *   "expect LOOP: is left to the next row on INPUTS" the same, across the ends of rows too
 *   "loads its own"                    iterations load what they store afterwards, by other accesses: to the chapter's reduction method that is a conflict
 *   "order does not show on INPUTS"    the loops run backwards give the same result in spite of the conflict, because the
 *                                      iterations that meet commute; only updates that get lost would show
 * LOOP is the name in a comment "loop NAME" on the line where the loop starts; "A or B" asks it of one of them. */
#ifndef CHECK_H
#define CHECK_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Compute functions take pointers that the compiler knows nothing about, as in a program of several files. */
#define COMPUTE __attribute__((noinline))
#define CHECK_UTILITY __attribute__((unused)) static

struct check {
  const char *program;
  const char *input;
  size_t size;
  int repeat;
  bool timed;
  uint64_t seed;
  uint64_t state; /* of the random numbers */
  FILE *dump;
  double started, best; /* milliseconds; best < 0: nothing timed yet */
};

CHECK_UTILITY void check_die(const struct check *c, const char *what, const char *detail)
{
  fprintf(stderr, "%s: %s%s%s\n", c->program, what, detail[0] != '\0' ? ": " : "", detail);
  exit(2);
}

CHECK_UTILITY uint64_t check_number(const struct check *c, const char *option, const char *text)
{
  char *end = NULL;
  uint64_t value = text != NULL ? strtoull(text, &end, 10) : 0;
  if (text == NULL || end == text || *end != '\0')
    check_die(c, "not a number", option);
  return value;
}

/* Reads the command line. `inputs` ends with a null pointer and starts with the default. */
CHECK_UTILITY struct check check_open(int argc, char **argv, size_t default_size, const char *const *inputs)
{
  struct check c = {.program = argv[0], .input = inputs[0], .size = default_size, .repeat = 1, .seed = 1, .best = -1.0};
  for (int i = 1; i < argc; i++) {
    const char *option = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
    if (strcmp(option, "--list") == 0) {
      while (*inputs != NULL)
        puts(*inputs++);
      exit(0);
    }
    if (strcmp(option, "--time") == 0) {
      c.timed = true;
      continue;
    }
    if (strcmp(option, "--size") == 0) {
      c.size = check_number(&c, option, value);
    } else if (strcmp(option, "--repeat") == 0) {
      c.repeat = (int)check_number(&c, option, value);
    } else if (strcmp(option, "--seed") == 0) {
      c.seed = check_number(&c, option, value);
    } else if (strcmp(option, "--input") == 0 && value != NULL) {
      const char *const *known = inputs;
      while (*known != NULL && strcmp(*known, value) != 0)
        known++;
      if (*known == NULL)
        check_die(&c, "no such input", value);
      c.input = value;
    } else if (strcmp(option, "--dump") == 0 && value != NULL) {
      c.dump = fopen(value, "wb");
      if (c.dump == NULL)
        check_die(&c, "can't write", value);
    } else {
      check_die(&c, "unknown option", option);
    }
    i++;
  }
  if (c.size < 8)
    check_die(&c, "the size must be at least 8", "");
  return c;
}

CHECK_UTILITY bool check_is(const struct check *c, const char *input)
{
  return strcmp(c->input, input) == 0;
}

/* Random numbers (splitmix64): the same for every run with the same seed. */
CHECK_UTILITY uint64_t check_random(struct check *c)
{
  uint64_t z = (c->state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

CHECK_UTILITY size_t check_below(struct check *c, size_t n)
{
  return (size_t)(check_random(c) % n);
}

/* In [0, 1). */
CHECK_UTILITY double check_real(struct check *c)
{
  return (double)(check_random(c) >> 11) * 0x1p-53;
}

/* Memory that is zero, so that what isn't assigned is the same in every run. */
CHECK_UTILITY void *check_alloc(const struct check *c, size_t count, size_t size)
{
  void *memory = calloc(count != 0 ? count : 1, size);
  if (memory == NULL)
    check_die(c, "out of memory", "");
  return memory;
}

CHECK_UTILITY double check_now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* Each repetition starts with the same random numbers. */
CHECK_UTILITY void check_begin(struct check *c)
{
  c->state = c->seed;
}

CHECK_UTILITY void check_start(struct check *c)
{
  c->started = check_now();
}

CHECK_UTILITY void check_stop(struct check *c)
{
  double elapsed = check_now() - c->started;
  if (c->best < 0.0 || elapsed < c->best)
    c->best = elapsed;
}

/* FNV-1a over bytes. */
CHECK_UTILITY uint64_t check_hash(const void *memory, size_t bytes)
{
  const unsigned char *p = memory;
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < bytes; i++)
    hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
  return hash;
}

/* An array that the program computed with. */
CHECK_UTILITY void check_array(struct check *c, const char *name, const void *memory, size_t count, size_t size)
{
  size_t bytes = count * size;
  printf("%s %zu %016" PRIx64 "\n", name, bytes, check_hash(memory, bytes));
  if (c->dump != NULL && fwrite(memory, 1, bytes, c->dump) != bytes)
    check_die(c, "can't write the dump", name);
}

/* The end of the program; what it returns is main's value. */
CHECK_UTILITY int check_close(struct check *c)
{
  if (c->dump != NULL && fclose(c->dump) != 0)
    check_die(c, "can't write the dump", "");
  if (c->timed)
    printf("time_ms %.4f\n", c->best);
  return 0;
}

#endif
