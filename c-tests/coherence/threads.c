/* Threads that read and write the arrays while no loop runs; that are there, waiting, while loops run; and whose stacks are parts of an array. In between, the
 * program has one thread again. */
#include "coherence.h"
#include <pthread.h>
#include <semaphore.h>

enum { COUNT = 60000, STEPS = 12, STACK = 1 << 18 };

static double *now, *next;
static uint32_t *counts;
static sem_t go, done;
static long turn;

static void *reads_and_writes(void *step)
{
  long t = (long)step;
  double sum = 0;
  for (long i = 0; i < COUNT; i += 511)
    sum = sum * 0.5 + next[i];
  next[t * 700] = sum;
  memset(counts + t * 1000, 1, 3000);
  return next + t * 700;
}

static void *enters_loops(void *step)
{
  smooth(COUNT, now, next);
  advance(COUNT, counts, (uint32_t)(long)step);
  return NULL;
}

/* One thing for each post of `go`. */
static void *waits(void *text)
{
  for (;;) {
    while (sem_wait(&go) != 0)
      ;
    if (turn < 0)
      return text;
    next[turn] += (double)counts[turn];
    counts[COUNT - 1 - turn] = (uint32_t)turn;
    sem_post(&done);
  }
}

int main(void)
{
  now = malloc(COUNT * sizeof *now), next = malloc(COUNT * sizeof *next);
  counts = calloc(COUNT, sizeof *counts);
  uint32_t *room = map(2 * STACK);
  pthread_t thread, waiting;
  begin(COUNT, now, 1);
  begin(COUNT, next, 2);
  sem_init(&go, 0, 0);
  sem_init(&done, 0, 0);
  for (long t = 0; t < STEPS; t++) {
    smooth(COUNT, next, now);
    advance(COUNT, counts, (uint32_t)t);
    advance(2 * STACK / sizeof *room, room, (uint32_t)t);
    if (t == 3)
      ensure((errno = pthread_create(&waiting, NULL, waits, now)) == 0, "pthread_create");
    if (t >= 3 && t < 8) {
      turn = t;
      sem_post(&go);
      while (sem_wait(&done) != 0)
        ;
    }
    if (t == 8) {
      turn = -1;
      sem_post(&go);
      void *text;
      pthread_join(waiting, &text);
      printf("waited: %d\n", text == now);
    }
    if (t % 4 != 2) {
      void *changed;
      pthread_create(&thread, NULL, t % 4 == 1 ? enters_loops : reads_and_writes, (void *)t);
      pthread_join(thread, &changed);
      if (changed != NULL)
        printf("%ld: %.17g\n", t, *(double *)changed);
    } else {
      /* A stack in what a loop has just stored to. */
      pthread_attr_t attributes;
      pthread_attr_init(&attributes);
      pthread_attr_setstack(&attributes, (char *)room + STACK, STACK);
      ensure((errno = pthread_create(&thread, &attributes, reads_and_writes, (void *)t)) == 0, "pthread_create");
      pthread_join(thread, NULL);
    }
    show("room", t, room, STACK);
  }
  show("now", STEPS, now, COUNT * sizeof *now);
  show("next", STEPS, next, COUNT * sizeof *next);
  show("counts", STEPS, counts, COUNT * sizeof *counts);
  return 0;
}
