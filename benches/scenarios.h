/* Put in front of one of the chapter's applications by `-include`, in the place of repetitions.h: its computation becomes the second of three loops, as in
 * the chapter's figure 4.8. Loop1 makes the values that the computation begins with, Loop3 makes something of the values that it leaves; both go over all of the
 * program's arrays of floating values, and not over its indices. In scenario
 *
 *   a  both are sequential                 c  Loop1 is sequential, Loop3 is do-all
 *   b  both are do-all                     d  Loop1 is do-all, Loop3 is sequential
 *
 * A sequential one is a recurrence, each of whose values needs the one before. Whatever Loop1's form, it makes the values that the application's input has: so there
 * is no copy behind the program's back between repetitions, and results are the same in all of them.
 *
 * BENCH_SCENARIOS are the letters to go through, each for --repeat repetitions; BENCH_SECONDS and BENCH_LEAST count for each letter by itself. Printed are, beside the lines of
 * repetitions.h:
 *
 *   repetition_ms T            the chapter's tau: from the end of Loop1 to the start of Loop3
 *   neighbours_ms LETTER A B   what Loop1 and Loop3 took
 *   after LETTER HASH          of all values, Loop2's and Loop3's, behind a letter's first repetition and its last one */
#ifndef BENCH_SCENARIOS_H
#define BENCH_SCENARIOS_H

#include "repetitions.h"

/* Memory that repetitions.h neither keeps nor puts back. */
#undef check_alloc

/* An array of values: as Loop2 finds and leaves them, as the input has them, and what Loop3 makes of them. */
struct scenario_values {
  void *values, *input, *made;
  size_t count;
  bool is_double;
};

static struct {
  struct scenario_values arrays[16];
  int n_arrays, each, least;
  const char *letter;
  double first_ms;
} scenarios;

/* Values that nobody knows when this is compiled: the product is no copy, the recurrence none. */
static volatile double scenario_same = 1.0, scenario_nothing = 0.0, scenario_half = 0.5;

COMPUTE static void scenario_scale_floats(size_t n, const float *from, float factor, float *to)
{
  for (size_t i = 0; i < n; i++)
    to[i] = from[i] * factor;
}

COMPUTE static void scenario_scale_doubles(size_t n, const double *from, double factor, double *to)
{
  for (size_t i = 0; i < n; i++)
    to[i] = from[i] * factor;
}

COMPUTE static void scenario_filter_floats(size_t n, const float *from, float decay, float *to)
{
  to[0] = from[0];
  for (size_t i = 1; i < n; i++)
    to[i] = from[i] + decay * to[i - 1];
}

COMPUTE static void scenario_filter_doubles(size_t n, const double *from, double decay, double *to)
{
  to[0] = from[0];
  for (size_t i = 1; i < n; i++)
    to[i] = from[i] + decay * to[i - 1];
}

CHECK_UTILITY void scenario_loop(const struct scenario_values *array, bool is_parallel, double with, const void *from, void *to)
{
  if (array->is_double)
    (is_parallel ? scenario_scale_doubles : scenario_filter_doubles)(array->count, from, with, to);
  else
    (is_parallel ? scenario_scale_floats : scenario_filter_floats)(array->count, from, (float)with, to);
}

/* Loop1. */
CHECK_UTILITY void scenario_before(void)
{
  bool is_parallel = strchr("bd", *scenarios.letter) != NULL;
  for (int i = 0; i < scenarios.n_arrays; i++) {
    const struct scenario_values *array = &scenarios.arrays[i];
    scenario_loop(array, is_parallel, is_parallel ? scenario_same : scenario_nothing, array->input, array->values);
  }
}

/* Loop3. */
CHECK_UTILITY void scenario_behind(void)
{
  bool is_parallel = strchr("bc", *scenarios.letter) != NULL;
  for (int i = 0; i < scenarios.n_arrays; i++)
    scenario_loop(&scenarios.arrays[i], is_parallel, scenario_half, scenarios.arrays[i].values, scenarios.arrays[i].made);
}

CHECK_UTILITY uint64_t scenario_hash(uint64_t hash, const void *memory, size_t bytes)
{
  const unsigned char *p = memory;
  uint64_t lanes[4] = {hash, 2, 3, 4}, words[4];
  for (; bytes >= sizeof words; p += sizeof words, bytes -= sizeof words) {
    memcpy(words, p, sizeof words);
    for (int lane = 0; lane < 4; lane++)
      lanes[lane] = (lanes[lane] ^ words[lane]) * UINT64_C(0x9e3779b97f4a7c15), lanes[lane] ^= lanes[lane] >> 29;
  }
  return check_hash(p, bytes) ^ check_hash(lanes, sizeof lanes);
}

CHECK_UTILITY void scenario_print_hash(void)
{
  uint64_t hash = 1;
  for (int i = 0; i < scenarios.n_arrays; i++) {
    const struct scenario_values *array = &scenarios.arrays[i];
    size_t bytes = array->count * (array->is_double ? sizeof(double) : sizeof(float));
    hash = scenario_hash(scenario_hash(hash, array->values, bytes), array->made, bytes);
  }
  printf("after %c %016" PRIx64 "\n", *scenarios.letter, hash);
}

CHECK_UTILITY struct check scenario_open(int argc, char **argv, size_t default_size, const char *const *inputs)
{
  struct check c = bench_open(argc, argv, default_size, inputs);
  const char *letters = getenv("BENCH_SCENARIOS");
  scenarios.letter = letters != NULL ? letters : "abcd";
  if (*scenarios.letter == '\0' || strspn(scenarios.letter, "abcd") != strlen(scenarios.letter))
    check_die(&c, "no such scenario", scenarios.letter);
  scenarios.each = bench.wanted;
  scenarios.least = bench.least;
  return c;
}

/* `kind`: whether elements are floats (1), doubles (2) or something else. */
CHECK_UTILITY void *scenario_alloc(const struct check *c, size_t count, size_t size, int kind)
{
  if (kind == 0 || count == 0)
    return bench_alloc(c, count, size);
  if (scenarios.n_arrays == (int)(sizeof scenarios.arrays / sizeof *scenarios.arrays))
    check_die(c, "too many arrays", "");
  struct scenario_values array = {check_alloc(c, count, size), NULL, NULL, count, kind == 2};
  scenarios.arrays[scenarios.n_arrays++] = array;
  return array.values;
}

/* The input is complete: Loop1 makes it once more, and then the computation starts. */
CHECK_UTILITY void scenario_start(struct check *c)
{
  for (int i = 0; i < scenarios.n_arrays && bench.done == 0; i++) {
    struct scenario_values *array = &scenarios.arrays[i];
    size_t size = array->is_double ? sizeof(double) : sizeof(float);
    array->input = check_alloc(c, array->count, size);
    array->made = check_alloc(c, array->count, size);
    memcpy(array->input, array->values, array->count * size);
  }
  bench_start(c);
  double start = check_now();
  scenario_before();
  c->started = check_now();
  scenarios.first_ms = c->started - start;
}

/* The computation is done. True: once more. */
CHECK_UTILITY bool scenario_stop(struct check *c)
{
  double stop = check_now();
  scenario_behind();
  double end = check_now();
  bool is_first = bench.done + scenarios.each == bench.wanted, again = bench_goes_on();
  printf("repetition_ms %.4f\nneighbours_ms %c %.4f %.4f\n", stop - c->started, *scenarios.letter, scenarios.first_ms, end - stop);
  if (is_first || !again)
    scenario_print_hash();
  fflush(stdout);
  if (!again && scenarios.letter[1] != '\0') {
    again = true;
    scenarios.letter++;
    bench.wanted = bench.done + scenarios.each;
    bench.least = bench.done + scenarios.least;
    bench.opened = check_now();
  }
  if (!again)
    bench_end_turn();
  return again;
}

/* Byte by byte only where somebody asks for all bytes: hashes are printed behind each scenario. */
CHECK_UTILITY void scenario_array(struct check *c, const char *name, const void *memory, size_t count, size_t size)
{
  if (c->dump != NULL)
    bench_array(c, name, memory, count, size);
}

/* What an array's elements are follows from the size that is asked for, `sizeof *array`, by its operand's type. */
#define SCENARIO_OPERAND_sizeof
#define SCENARIO_KIND(size) _Generic(&(SCENARIO_OPERAND_##size), float *: 1, double *: 2, default: 0)

#undef check_open
#undef check_start
#undef check_stop
#undef check_array
#define check_open scenario_open
#define check_alloc(c, count, size) scenario_alloc(c, count, size, SCENARIO_KIND(size))
#define check_start(c) bench_again: scenario_start(c)
#define check_stop(c)                                                                                                  \
  do                                                                                                                   \
    if (scenario_stop(c))                                                                                              \
      goto bench_again;                                                                                                \
  while (0)
#define check_array scenario_array

#endif
