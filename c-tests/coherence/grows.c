/* Mappings that grow by themselves when what lies in front of them is touched, as stacks do, and arrays of threads that have ended, whose arenas other threads are given. */
#include "coherence.h"
#include <pthread.h>

enum { COUNT = 64 * 1024, SMALL = 14000, STEPS = 12, THREADS = 8 };

static double *now[THREADS], *next[THREADS];
static pthread_barrier_t all;

static void *load(void *number)
{
  long t = *(int *)number;
  now[t] = malloc(SMALL * sizeof(double)), next[t] = malloc(SMALL * sizeof(double));
  /* Each has an arena of its own. */
  pthread_barrier_wait(&all);
  return NULL;
}

static void of_threads(void)
{
  pthread_t threads[THREADS];
  int numbers[THREADS];
  pthread_barrier_init(&all, NULL, THREADS);
  for (int t = 0; t < THREADS; t++)
    numbers[t] = t, ensure(pthread_create(&threads[t], NULL, load, &numbers[t]) == 0, "pthread_create");
  for (int t = 0; t < THREADS; t++)
    pthread_join(threads[t], NULL);
  uint32_t *more = malloc(COUNT * sizeof *more);
  for (int t = 0; t < THREADS; t++) {
    begin(SMALL, now[t], t);
    begin(SMALL, next[t], 2);
    for (int i = 0; i < STEPS; i++) {
      smooth(SMALL, next[t], now[t]);
      smooth(SMALL, now[t], next[t]);
    }
    if (t % 2)
      printf("%d: %.17g\n", t, now[t][5000]);
    free(now[t]), free(next[t]);
    advance(COUNT, more, (uint32_t)t);
    flip(COUNT, (char *)more);
  }
  show("more", THREADS, more, COUNT * sizeof *more);
}

int main(void)
{
  /* Far from everything that the system places by itself, so that there is room in front of it. */
  void *far = (void *)0x100000000000;
  double *grows = mmap(far, COUNT * sizeof *grows, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN | MAP_FIXED_NOREPLACE, -1, 0);
  ensure(grows == far, "mmap");
  for (int i = 0; i < STEPS; i++) {
    begin(COUNT, grows, i);
    ((volatile char *)grows)[-100 - 4096 * i] = 5;
    printf("%d %.17g %d\n", i, grows[100], ((volatile char *)grows)[-100 - 4096 * i]);
  }
  of_threads();
  return 0;
}
