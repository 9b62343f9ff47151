/* Two threads write interleaved elements of one array: one stores to odd elements, once each, while the other one is in a loop that stores to even ones. No
 * element is anybody's but one thread's, so C says what each of them is afterwards, wherever the loop has run and whatever was copied for it.
 *
 * usage: odd_and_even KIND TRIALS
 *
 * KIND is how the loop finds its elements: `logged` (by indices, so that they are known only when it runs) or `proven`. Trials take turns with arrays of bytes,
 * of which eight lie in a word that somebody might copy whole, of 32-bit numbers, of doubles and of structs, of whose bit-fields each thread has its own. After each trial every element is looked at. It ends
 * with a line, and with 1 where a store was lost. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of each kind of element; more than a page of the smallest. */
enum { PAIRS = 2500 };

/* Of 2 PAIRS elements each. */
static uint8_t *bytes;
static uint32_t *numbers;
static double *doubles;
/* The loop's and the other thread's in turn; C counts those behind one without a width as memory of their own. */
static struct fields {
  uint8_t low : 3, high : 5;
  uint8_t others;
  uint8_t more : 4, : 0, theirs : 4;
} *fields;
static uint32_t in[PAIRS];
static int to[PAIRS];

/* The trial that the other thread is to write in, the one that it has begun with, and the last one that it has written in; the one whose loop is over. */
static atomic_long asked, begun, written, over;
/* How many trials saw the other thread store before their loop was over, and after it had begun. */
static long met;
static atomic_long stored_meanwhile;

static uint32_t random_number(uint64_t *seed)
{
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*seed >> 33);
}

static uint32_t odd(long trial, long i) { return (uint32_t)(trial * 31 + i * 7 + 1); }
static uint32_t even(long trial, long i) { return in[i] * 5u + (uint32_t)trial; }

/* ---- the loops ---- */

static void logged_bytes(uint8_t *a, const int *where, const uint32_t *from, uint32_t t, int n)
{
  for (int i = 0; i < n; i++)
    a[where[i]] = (uint8_t)(from[i] * 5u + t);
}

static void logged_numbers(uint32_t *a, const int *where, const uint32_t *from, uint32_t t, int n)
{
  for (int i = 0; i < n; i++)
    a[where[i]] = from[i] * 5u + t;
}

static void logged_doubles(double *a, const int *where, const uint32_t *from, uint32_t t, int n)
{
  for (int i = 0; i < n; i++)
    a[where[i]] = from[i] * 5u + t;
}

static void proven_bytes(uint8_t *restrict a, const uint32_t *restrict from, uint32_t t, int n)
{
  for (int i = 0; i < n; i++)
    a[2 * i] = (uint8_t)(from[i] * 5u + t);
}

static void proven_numbers(uint32_t *restrict a, const uint32_t *restrict from, uint32_t t, int n)
{
  for (int i = 0; i < n; i++)
    a[2 * i] = from[i] * 5u + t;
}

static void proven_doubles(double *restrict a, const uint32_t *restrict from, uint32_t t, int n)
{
  for (int i = 0; i < n; i++)
    a[2 * i] = from[i] * 5u + t;
}

static void logged_fields(struct fields *a, const int *where, const uint32_t *from, uint32_t t, int n)
{
  for (int i = 0; i < n; i++) {
    struct fields *f = &a[where[i] / 2];
    f->low = from[i] * 5u + t;
    f->high = (from[i] * 5u + t) >> 3;
    f->more = (from[i] * 5u + t) >> 8;
  }
}

static void proven_fields(struct fields *restrict a, const uint32_t *restrict from, uint32_t t, int n)
{
  for (int i = 0; i < n; i++) {
    a[i].low = from[i] * 5u + t;
    a[i].high = (from[i] * 5u + t) >> 3;
    a[i].more = (from[i] * 5u + t) >> 8;
  }
}

/* ---- the other thread ---- */

static void *writer(void *unused)
{
  uint64_t seed = 7;
  long trials = *(const long *)unused;
  for (long trial = 1; trial <= trials; trial++) {
    /* How long it takes over its stores is another thing each time: they begin before the loop does or end after it, or lie within. */
    uint32_t pause = random_number(&seed) % 40;
    long meanwhile = 0;
    while (atomic_load(&asked) < trial)
      sched_yield();
    atomic_store(&begun, trial);
    for (long i = 0; i < PAIRS; i++) {
      switch (trial % 4) {
      case 0: bytes[2 * i + 1] = (uint8_t)odd(trial, i); break;
      case 1: numbers[2 * i + 1] = odd(trial, i); break;
      case 2: fields[i].others = (uint8_t)odd(trial, i), fields[i].theirs = odd(trial, i) >> 8; break;
      default: doubles[2 * i + 1] = odd(trial, i);
      }
      /* It goes on at once when the loop is over. */
      if (atomic_load_explicit(&over, memory_order_relaxed) < trial) {
        meanwhile++;
        for (uint32_t turn = 0; turn < pause; turn++)
          atomic_signal_fence(memory_order_seq_cst);
      }
    }
    atomic_fetch_add(&stored_meanwhile, meanwhile);
    atomic_store(&written, trial);
  }
  return 0;
}

static int check(long trial)
{
  for (long i = 0; i < PAIRS; i++) {
    uint32_t a, b, wanted = even(trial, i), others = odd(trial, i);
    switch (trial % 4) {
    case 0:
      a = bytes[2 * i], b = bytes[2 * i + 1];
      wanted = (uint8_t)wanted, others = (uint8_t)others;
      break;
    case 1: a = numbers[2 * i], b = numbers[2 * i + 1]; break;
    case 2:
      a = fields[i].low | (uint32_t)fields[i].high << 3 | (uint32_t)fields[i].more << 8;
      b = fields[i].others | (uint32_t)fields[i].theirs << 8;
      wanted &= 0xfff, others &= 0xfff;
      break;
    default: a = (uint32_t)doubles[2 * i], b = (uint32_t)doubles[2 * i + 1];
    }
    if (a != wanted || b != others) {
      printf("trial %ld, pair %ld: %u and %u, not %u and %u\n", trial, i, a, b, wanted, others);
      return 0;
    }
  }
  return 1;
}

int main(int argc, char **argv)
{
  int is_logged = argc > 1 && strcmp(argv[1], "logged") == 0;
  long trials = argc > 2 ? atol(argv[2]) : 0;
  pthread_t other;
  uint64_t seed = 3;
  if (trials < 1)
    return 2;
  for (int i = 0; i < PAIRS; i++)
    in[i] = random_number(&seed), to[i] = 2 * i;
  /* In no order. */
  for (int i = PAIRS - 1; i > 0; i--) {
    int j = (int)(random_number(&seed) % (uint32_t)(i + 1)), k = to[i];
    to[i] = to[j], to[j] = k;
  }
  /* What goes to element 2 i is the same either way. */
  uint32_t *from = malloc(sizeof in);
  bytes = malloc(2 * PAIRS), numbers = malloc(2 * PAIRS * sizeof *numbers), doubles = malloc(2 * PAIRS * sizeof *doubles), fields = calloc(PAIRS, sizeof *fields);
  if (from == 0 || bytes == 0 || numbers == 0 || doubles == 0 || fields == 0 || pthread_create(&other, 0, writer, &trials))
    return 2;
  for (int i = 0; i < PAIRS; i++)
    from[i] = is_logged ? in[to[i] / 2] : in[i];
  for (long trial = 1; trial <= trials; trial++) {
    uint32_t t = (uint32_t)trial;
    long before = atomic_load(&stored_meanwhile);
    if (is_logged) {
      /* Another order each time, so that what was found before says nothing. */
      int i = (int)(random_number(&seed) % PAIRS), j = (int)(random_number(&seed) % PAIRS), k = to[i];
      uint32_t value = from[i];
      to[i] = to[j], to[j] = k, from[i] = from[j], from[j] = value;
    }
    atomic_store(&asked, trial);
    while (atomic_load(&begun) < trial)
      sched_yield();
    switch (trial % 4) {
    case 0: is_logged ? logged_bytes(bytes, to, from, t, PAIRS) : proven_bytes(bytes, from, t, PAIRS); break;
    case 1: is_logged ? logged_numbers(numbers, to, from, t, PAIRS) : proven_numbers(numbers, from, t, PAIRS); break;
    case 2: is_logged ? logged_fields(fields, to, from, t, PAIRS) : proven_fields(fields, from, t, PAIRS); break;
    default: is_logged ? logged_doubles(doubles, to, from, t, PAIRS) : proven_doubles(doubles, from, t, PAIRS);
    }
    atomic_store(&over, trial);
    while (atomic_load(&written) < trial)
      sched_yield();
    if (!check(trial))
      return 1;
    met += atomic_load(&stored_meanwhile) != before;
  }
  pthread_join(other, 0);
  printf("%ld trials, no store lost\n", trials);
  fprintf(stderr, "in %ld the other thread stored meanwhile, %ld times in all\n", met, atomic_load(&stored_meanwhile));
  return 0;
}
