/* Put in front of a program of ours by `-include` where the program is measured: its computation runs --repeat times on the
 * same input, and each time is printed as soon as it is known.
 *
 * c-tests/support/check.h makes the input anew for each repetition, which takes many times what a GPU takes to compute, and
 * hashes results byte by byte. Here the input is made once and kept; before each repetition what the computation has changed is
 * put back. Results are hashed once, in whole words. With --dump they are dumped as ever. This is no test of results: what a
 * program prints here is for benches/bench.py:
 *
 *   repetition_ms T        of a repetition, in milliseconds
 *   processor_ms T         what the calling thread was on a processor for meanwhile; only with BENCH_PROCESSOR in the environment
 *   delayed_ms T           what it would have run for, but another one had the processor; so, too
 *   memory_bytes N         what the program's arrays take together; only with BENCH_MEMORY
 *   bits NAME BYTES HASH   of an array after the last one
 *
 * In the environment: after BENCH_SECONDS no repetition begins any more, once BENCH_LEAST are done. With BENCH_TURN a program whose input
 * is complete prints `ready` and waits for a line before its computation starts for the first time; `done` comes behind the last repetition. So
 * several programs can make their inputs at the same time, and compute one after the other. Once there is a file of the name BENCH_ENOUGH no
 * repetition begins any more: whoever reads what is printed may have seen enough of them. */
#ifndef BENCH_REPETITIONS_H
#define BENCH_REPETITIONS_H

#include "../c-tests/support/check.h"

/* An array of the program, and what was in it when the computation began; no copy where the computation leaves it alone. */
struct bench_kept {
  unsigned char *memory, *copy;
  size_t bytes;
};

static struct {
  struct bench_kept arrays[64];
  int n_arrays, wanted, least, done;
  double opened, most_ms, processor, delayed;
} bench;

/* Milliseconds that this thread has been on a processor. */
CHECK_UTILITY double bench_processor(void)
{
  struct timespec spent;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return 1e3 * (double)spent.tv_sec + 1e-6 * (double)spent.tv_nsec;
}

/* Milliseconds that this thread has waited for a processor, as the kernel keeps account of it; 0 if it doesn't, or nobody asks. */
CHECK_UTILITY double bench_delayed(void)
{
  unsigned long long ran, delayed = 0;
  FILE *account = getenv("BENCH_PROCESSOR") != NULL ? fopen("/proc/thread-self/schedstat", "r") : NULL;
  if (account == NULL)
    return 0;
  int n = fscanf(account, "%llu %llu", &ran, &delayed);
  fclose(account);
  return n == 2 ? 1e-6 * (double)delayed : 0;
}

CHECK_UTILITY struct check bench_open(int argc, char **argv, size_t default_size, const char *const *inputs)
{
  const char *seconds = getenv("BENCH_SECONDS"), *least = getenv("BENCH_LEAST");
  struct check c = check_open(argc, argv, default_size, inputs);
  bench.opened = check_now();
  bench.most_ms = seconds != NULL ? 1e3 * atof(seconds) : 1e9;
  bench.least = least != NULL ? atoi(least) : 3;
  bench.wanted = c.repeat;
  c.repeat = 1;
  return c;
}

CHECK_UTILITY void *bench_alloc(const struct check *c, size_t count, size_t size)
{
  struct bench_kept array = {check_alloc(c, count, size), NULL, count * size};
  if (bench.n_arrays == (int)(sizeof bench.arrays / sizeof *bench.arrays))
    check_die(c, "too many arrays to be measured", "");
  bench.arrays[bench.n_arrays++] = array;
  return array.memory;
}

CHECK_UTILITY void bench_free(void *memory)
{
  for (int i = 0; i < bench.n_arrays; i++)
    if (bench.arrays[i].memory == memory && memory != NULL) {
      free(bench.arrays[i].copy);
      bench.arrays[i] = bench.arrays[--bench.n_arrays];
      break;
    }
  free(memory);
}

/* The input is complete: now the computation starts. */
CHECK_UTILITY void bench_start(struct check *c)
{
  for (int i = 0; i < bench.n_arrays && bench.wanted > 1; i++) {
    struct bench_kept *a = &bench.arrays[i];
    if (bench.done == 0) {
      a->copy = malloc(a->bytes + 1);
      if (a->copy == NULL)
        check_die(c, "out of memory", "");
      memcpy(a->copy, a->memory, a->bytes);
    } else if (a->copy != NULL && bench.done == 1 && memcmp(a->copy, a->memory, a->bytes) == 0) {
      free(a->copy);
      a->copy = NULL;
    } else if (a->copy != NULL) {
      memcpy(a->memory, a->copy, a->bytes);
    }
  }
  if (bench.done == 0 && getenv("BENCH_MEMORY") != NULL) {
    size_t bytes = 0;
    for (int i = 0; i < bench.n_arrays; i++)
      bytes += bench.arrays[i].bytes;
    printf("memory_bytes %zu\n", bytes);
  }
  if (bench.done == 0 && getenv("BENCH_TURN") != NULL) {
    puts("ready");
    fflush(stdout);
    for (int byte = 0; byte != '\n' && byte != EOF;)
      byte = getchar();
    bench.opened = check_now();
  }
  bench.delayed = bench_delayed();
  bench.processor = bench_processor();
  check_start(c);
}

/* Another repetition is done. True: once more. */
CHECK_UTILITY bool bench_goes_on(void)
{
  bench.done++;
  const char *enough = getenv("BENCH_ENOUGH");
  bool again = bench.done < bench.wanted && (bench.done < bench.least || check_now() - bench.opened < bench.most_ms);
  FILE *seen = again && enough != NULL ? fopen(enough, "r") : NULL;
  if (seen != NULL)
    fclose(seen);
  return again && seen == NULL;
}

/* There is no repetition any more: the turn is over. */
CHECK_UTILITY void bench_end_turn(void)
{
  if (getenv("BENCH_TURN") != NULL)
    puts("done");
  fflush(stdout);
}

/* The computation is done. True: once more. */
CHECK_UTILITY bool bench_stop(struct check *c)
{
  double now = check_now(), processor = bench_processor() - bench.processor;
  double delayed = bench_delayed() - bench.delayed;
  check_stop(c);
  printf("repetition_ms %.4f\n", now - c->started);
  if (getenv("BENCH_PROCESSOR") != NULL)
    printf("processor_ms %.4f\ndelayed_ms %.4f\n", processor, delayed);
  fflush(stdout);
  bool again = bench_goes_on();
  if (!again)
    bench_end_turn();
  return again;
}

/* A function of its own: gcc 12's -floop-parallelize-all compiles it wrongly where it is inlined. */
CHECK_UTILITY __attribute__((noinline)) void bench_array(struct check *c, const char *name, const void *memory, size_t count, size_t size)
{
  const unsigned char *p = memory;
  size_t bytes = count * size, i = 0;
  uint64_t hash[4] = {1, 2, 3, 4}, word[4] = {0, 0, 0, 0};
  if (c->dump != NULL) {
    check_array(c, name, memory, count, size);
    return;
  }
  for (; i + sizeof word <= bytes; i += sizeof word) {
    memcpy(word, p + i, sizeof word);
    for (int lane = 0; lane < 4; lane++)
      hash[lane] = (hash[lane] ^ word[lane]) * UINT64_C(0x9e3779b97f4a7c15), hash[lane] ^= hash[lane] >> 29;
  }
  printf("bits %s %zu %016" PRIx64 "\n", name, bytes, check_hash(p + i, bytes - i) ^ check_hash(hash, sizeof hash));
}

#define check_open bench_open
#define check_alloc bench_alloc
#define check_start(c) bench_again: bench_start(c)
#define check_stop(c)                                                                                                  \
  do                                                                                                                   \
    if (bench_stop(c))                                                                                                 \
      goto bench_again;                                                                                                \
  while (0)
#define check_array bench_array
#define free bench_free

#endif
