/* A stencil in time, whose step is in another file, and what programs do between steps: they read an element, write the boundary's first row, hand the array to the system, to the
 * C library, to another thread. By default small, and all of it in turn; by `time_loop ROWS STEPS WHAT EVERY` so many rows and columns, and one of these behind each
 * step that EVERY divides (`none`: nothing). With a fifth argument it says on stderr how long the time loop took. */
#include "coherence.h"
#include <pthread.h>
#include <time.h>

void step(long n, float *to, const float *from);

/* What has been seen between steps. */
static uint64_t seen;

static void see(uint64_t what)
{
  seen = (seen ^ what) * 1099511628211u + (seen >> 31);
}

static uint32_t bits(float value)
{
  uint32_t word;
  memcpy(&word, &value, sizeof word);
  return word;
}

static int ascending(const void *one, const void *other)
{
  float a = *(const float *)one, b = *(const float *)other;
  return a < b ? -1 : a > b;
}

struct part {
  float *from;
  long count;
  uint64_t sum;
};

static void *add(void *argument)
{
  struct part *part = argument;
  uint64_t sum = 0;
  for (long i = 0; i < part->count; i++)
    sum = sum * 31 + bits(part->from[i]);
  part->from[part->count / 2] += 1;
  part->sum = sum;
  return NULL;
}

static void between(const char *what, long t, long n, float *now)
{
  if (strcmp(what, "element") == 0) {
    see(bits(now[(t * 7919 + 1) % (n * n)]));
  } else if (strcmp(what, "row") == 0) {
    for (long j = 0; j < n; j++)
      now[j] = now[j] * 0.5f + (float)(t + j % 7);
  } else if (strcmp(what, "write") == 0) {
    int file = open("values", O_RDWR | O_CREAT | O_TRUNC, 0600);
    ensure(file >= 0, "open");
    ensure(write(file, now, (size_t)(n * n) * sizeof *now) == n * n * (long)sizeof *now, "write");
    float there;
    ensure(pread(file, &there, sizeof there, (n * n / 2 + t) * (long)sizeof there) == sizeof there, "pread");
    see(bits(there));
    close(file);
  } else if (strcmp(what, "fwrite") == 0) {
    FILE *file = fopen("more", "w+");
    ensure(file != NULL, "fopen");
    see(fwrite(now + n, sizeof *now, (size_t)n * 20, file));
    rewind(file);
    /* Its own, back to where it was. */
    see(fread(now + n, sizeof *now, (size_t)n * 10, file));
    fclose(file);
  } else if (strcmp(what, "memcpy") == 0) {
    float *copy = malloc((size_t)n * 30 * sizeof *copy);
    memcpy(copy, now + n * (n - 30), (size_t)n * 30 * sizeof *copy);
    see(bits(copy[n * 7 + t % n]));
    memcpy(now + n, copy, (size_t)n * sizeof *copy);
    free(copy);
  } else if (strcmp(what, "qsort") == 0) {
    qsort(now + n * (t % n), (size_t)n, sizeof *now, ascending);
    see(bits(now[n * (t % n) + n / 3]));
  } else if (strcmp(what, "thread") == 0) {
    pthread_t thread;
    struct part part = { now + n * 3, n * 5, 0 };
    ensure(pthread_create(&thread, NULL, add, &part) == 0, "pthread_create");
    pthread_join(thread, NULL);
    see(part.sum);
  }
}

static void run(long n, long steps, const char *what, long every, int tells)
{
  float *now = malloc((size_t)(n * n) * sizeof *now), *next = malloc((size_t)(n * n) * sizeof *next);
  ensure(now && next, "malloc");
  for (long i = 0; i < n * n; i++) {
    now[i] = (float)(i % 1013) * 0.25f;
    next[i] = now[i];
  }
  struct timespec began, ended;
  clock_gettime(CLOCK_MONOTONIC, &began);
  for (long t = 1; t <= steps; t++) {
    step(n, next, now);
    float *other = now;
    now = next;
    next = other;
    if (t % every == 0)
      between(what, t, n, now);
  }
  clock_gettime(CLOCK_MONOTONIC, &ended);
  if (tells)
    fprintf(stderr, "%.3f s\n", (double)(ended.tv_sec - began.tv_sec) + (double)(ended.tv_nsec - began.tv_nsec) * 1e-9);
  printf("%s: %016llx\n", what, (unsigned long long)seen);
  show("now", steps, now, (size_t)(n * n) * sizeof *now);
  show("next", steps, next, (size_t)(n * n) * sizeof *next);
  free(now);
  free(next);
}

int main(int count, char **arguments)
{
  static const char *const all[] = { "none", "element", "row", "write", "fwrite", "memcpy", "qsort", "thread" };
  if (count >= 5) {
    run(atol(arguments[1]), atol(arguments[2]), arguments[3], atol(arguments[4]), count > 5);
    return 0;
  }
  for (unsigned number = 0; number < sizeof all / sizeof *all; number++)
    run(200, 14, all[number], 3, 0);
  return 0;
}
