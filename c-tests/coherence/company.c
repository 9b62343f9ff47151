/* Threads that begin while results are elsewhere, and what they do: some at once with others' elements, some with memory that the first thread has allocated, some that wait in a call, or on
 * their feet, while the first one enters loops or does what only it can; threads of threads, with the smallest stacks, detached ones; what they leave for their ends. */
#include "coherence.h"
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <sys/resource.h>

enum { COUNT = 60000, STEPS = 34, AT_ONCE = 3 };

static double *now, *next;
static uint32_t *counts;

static pthread_t begun(void *(*work)(void *), void *argument)
{
  pthread_t thread;
  ensure((errno = pthread_create(&thread, NULL, work, argument)) == 0, "pthread_create");
  return thread;
}

static void *done(void *(*work)(void *), void *argument)
{
  void *result;
  pthread_join(begun(work, argument), &result);
  return result;
}

/* Each some elements, which share pages with the others'. */
static double sums[AT_ONCE];

static void *interleaved(void *number)
{
  long first = (long)number;
  double sum = 0;
  for (long i = first; i < COUNT; i += AT_ONCE) {
    sum = sum * 0.5 + next[i];
    if (i % 7 == first)
      next[i] = sum, counts[i] += (uint32_t)first;
  }
  sums[first] = sum;
  return NULL;
}

/* All of them the same pages, at once. */
static void *same(void *number)
{
  double sum = 0;
  for (long i = 0; i < COUNT; i += 100)
    sum = sum * 0.5 + next[i];
  sums[(long)number] = sum;
  return NULL;
}

static void at_once(void *(*work)(void *))
{
  pthread_t threads[AT_ONCE];
  for (long k = 0; k < AT_ONCE; k++)
    threads[k] = begun(work, (void *)k);
  for (long k = 0; k < AT_ONCE; k++)
    pthread_join(threads[k], NULL);
  for (long k = 0; k < AT_ONCE; k++)
    printf("%ld: %.17g\n", k, sums[k]);
}

/* What the first thread has allocated, and a loop stored to, is resized, freed, and handed out again. */
static void *allocates(void *array)
{
  uint32_t *longer = realloc(array, 3 * COUNT * sizeof *longer);
  ensure(longer != NULL, "realloc");
  longer[2 * COUNT] = longer[COUNT / 3];
  void *pieces[20];
  for (int k = 0; k < 20; k++)
    pieces[k] = memset(malloc((size_t)(1000 << k % 8)), k, (size_t)(1000 << k % 8));
  for (int k = 0; k < 20; k++)
    free(pieces[k]);
  return longer;
}

static void *allocates_small(void *pieces)
{
  /* What lay behind an array, in the same pages: the allocator's own words are there. */
  for (int k = 0; k < 40; k++)
    free(((void **)pieces)[k]);
  for (int k = 0; k < 40; k++)
    ((void **)pieces)[k] = memset(malloc(40000), k, 40000);
  return NULL;
}

static int ends[2];
static atomic_int has_begun, goes_on;

static void begin_waiting(void)
{
  has_begun = goes_on = 0;
  ensure(pipe(ends) == 0, "pipe");
}

static void let_go(pthread_t thread)
{
  goes_on = 1;
  ensure(write(ends[1], "\2", 1) == 1, "write");
  pthread_join(thread, NULL);
  close(ends[0]);
  close(ends[1]);
}

static void *in_a_call(void *place)
{
  char byte = 0;
  counts[3] += 1;
  has_begun = 1;
  if (read(ends[0], &byte, 1) != 1)
    printf("read: %s\n", strerror(errno));
  *(double *)place += byte;
  return NULL;
}

static void *on_its_feet(void *place)
{
  counts[4] += 1;
  has_begun = 1;
  while (!goes_on)
    ;
  *(double *)place += 3;
  return NULL;
}

static void *asks(void *place)
{
  counts[5] += 1;
  printf("priority %d\n", getpriority(PRIO_PROCESS, 0));
  *(double *)place += 5;
  return NULL;
}

static void *of_thread(void *place)
{
  *(double *)place += 7;
  return NULL;
}

static void *begins_others(void *place)
{
  done(of_thread, place);
  int file = open("values", O_RDWR | O_CREAT | O_TRUNC, 0600);
  ensure(file >= 0 && write(file, next, COUNT * sizeof *next) == COUNT * sizeof *next, "write");
  ensure(pread(file, now + 100, 5000 * sizeof *now, 800) == 5000 * sizeof *now, "pread");
  close(file);
  return done(of_thread, (double *)place + 9000);
}

/* Behind all that the thread's own language has for its end. */
static pthread_key_t key;

static void at_end(void *place)
{
  *(double *)place += 11;
  free(malloc(100));
}

static void *leaves_something(void *place)
{
  pthread_setspecific(key, place);
  return NULL;
}

static void *forks(void *step)
{
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    show("child", (long)step, next, COUNT * sizeof *next);
    fflush(stdout);
    _exit(3);
  }
  show_end("child", child);
  return NULL;
}

static void clean_up(void *place)
{
  *(double *)place += 13;
}

static void *is_cancelled(void *place)
{
  pthread_cleanup_push(clean_up, place);
  has_begun = 1;
  for (;;)
    pause();
  pthread_cleanup_pop(0);
}

static void *blocks(void *place)
{
  sigset_t all, before, now_blocked;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  *(double *)place += 17;
  pthread_sigmask(SIG_SETMASK, &before, &now_blocked);
  printf("blocked: %d %d %d\n", sigismember(&now_blocked, SIGSEGV), sigismember(&now_blocked, SIGSYS), sigismember(&before, SIGSEGV));
  return NULL;
}

/* What another one allocates, and frees, while the first one comes for its pages. */
static atomic_int churns;

static void *churns_on(void *place)
{
  void *pieces[16] = { NULL };
  has_begun = 1;
  for (unsigned k = 0; churns; k++) {
    free(pieces[k % 16]);
    pieces[k % 16] = malloc(40 + k * 61 % 5000);
  }
  *(double *)place += counts[7];
  for (int k = 0; k < 16; k++)
    free(pieces[k]);
  return NULL;
}

/* A call that is left by a handler, which another thread has set meanwhile. */
static sigjmp_buf back;

static void leaves(int signal)
{
  siglongjmp(back, signal);
}

static void *sets_handler(void *place)
{
  *(double *)place += 23;
  signal(SIGALRM, leaves);
  return NULL;
}

static void leave_a_call(long at)
{
  begin_waiting();
  pthread_t thread = begun(on_its_feet, next + at);
  while (!has_begun)
    ;
  pthread_t other = begun(sets_handler, next + at + 3000);
  ualarm(50000, 50000);
  if (sigsetjmp(back, 1) == 0) {
    pthread_join(other, NULL);
    char byte;
    for (;;)
      (void)!read(ends[0], &byte, 1);
  }
  ualarm(0, 0);
  signal(SIGALRM, SIG_DFL);
  let_go(thread);
}

/* More than a pipe holds, while the interception of everybody's calls comes to its end: all of it is written. */
static int wide[2];

static void *writes(void *array)
{
  has_begun = 1;
  return (void *)write(wide[1], array, 40000 * sizeof(double));
}

static void write_much(void)
{
  size_t bytes = 40000 * sizeof(double), taken = 0;
  ensure(pipe(wide) == 0, "pipe");
  has_begun = 0;
  pthread_t thread = begun(writes, next);
  while (!has_begun)
    ;
  usleep(20000);
  done(asks, next + 50000);
  usleep(20000);
  char *room = malloc(bytes);
  while (taken < bytes) {
    ssize_t some = read(wide[0], room + taken, bytes - taken);
    ensure(some > 0, "read");
    taken += (size_t)some;
  }
  void *written;
  pthread_join(thread, &written);
  printf("written %ld, %d\n", (long)written, memcmp(room, next, bytes) == 0);
  free(room);
  close(wide[0]);
  close(wide[1]);
}

static sem_t is_over;

static void *posts(void *place)
{
  *(double *)place += 19;
  sem_post(&is_over);
  return NULL;
}

static void with(const char *what, void *(*work)(void *), long at)
{
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  if (strcmp(what, "small") == 0)
    pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
  else
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  ensure((errno = pthread_create(&thread, &attributes, work, next + at)) == 0, "pthread_create");
  if (strcmp(what, "small") == 0)
    pthread_join(thread, NULL);
  else
    while (sem_wait(&is_over) != 0)
      ;
  pthread_attr_destroy(&attributes);
}

static void between(long t)
{
  long at = t * 1700;
  switch (t % 17) {
  case 0: at_once(interleaved); break;
  case 1: at_once(same); break;
  case 2: {
    uint32_t *other = malloc(COUNT * sizeof *other);
    ensure(other != NULL, "malloc");
    memset(other, 0, COUNT * sizeof *other);
    advance(COUNT, other, (uint32_t)t);
    advance(COUNT, other, (uint32_t)t);
    other = done(allocates, other);
    show("other", t, other, (2 * COUNT + 1) * sizeof *other / 3);
    free(other);
    break;
  }
  case 3: {
    void *pieces[40];
    for (int k = 0; k < 40; k++)
      pieces[k] = malloc(40000);
    uint32_t *other = calloc(25000, sizeof *other);
    ensure(other != NULL, "calloc");
    advance(25000, other, (uint32_t)t);
    advance(25000, other, (uint32_t)t);
    done(allocates_small, pieces);
    show("small", t, other, 100000);
    free(other);
    for (int k = 0; k < 40; k++)
      free(pieces[k]);
    break;
  }
  case 4: case 5: {
    begin_waiting();
    pthread_t thread = begun(t % 2 ? in_a_call : on_its_feet, next + at);
    while (!has_begun)
      ;
    /* One of them enters a loop while the other one is there. */
    if (t > 17)
      smooth(COUNT, now, next);
    now[at] += next[at + 900];
    done(asks, next + at + 5000);
    let_go(thread);
    break;
  }
  case 6: printf("%d\n", done(begins_others, next + at) == NULL); break;
  case 7: done(leaves_something, next + at); break;
  case 8: done(forks, (void *)t); break;
  case 9: {
    has_begun = 0;
    pthread_t thread = begun(is_cancelled, next + at);
    while (!has_begun)
      ;
    pthread_cancel(thread);
    void *end;
    pthread_join(thread, &end);
    printf("cancelled: %d\n", end == PTHREAD_CANCELED);
    break;
  }
  case 10: done(blocks, next + at); break;
  case 11: with("small", of_thread, at); break;
  case 12: {
    has_begun = 0;
    churns = 1;
    pthread_t thread = begun(churns_on, next + at);
    while (!has_begun)
      ;
    double sum = 0;
    for (long i = 0; i < COUNT; i += 300)
      sum = sum * 0.5 + now[i];
    if (t > 17)
      smooth(COUNT, now, next);
    churns = 0;
    pthread_join(thread, NULL);
    printf("sum %.17g\n", sum);
    break;
  }
  case 13: leave_a_call(at); break;
  case 14: write_much(); break;
  /* Signals that nothing comes of, from nobody in particular. */
  case 15: {
    pid_t self = getpid();
    fflush(stdout);
    pid_t child = vfork();
    if (child == 0) {
      for (int k = 0; k < 20; k++)
        kill(self, SIGURG);
      _exit(0);
    }
    show_end("child", child);
    break;
  }
  default: with("detached", posts, at);
  }
}

int main(void)
{
  now = malloc(COUNT * sizeof *now), next = malloc(COUNT * sizeof *next);
  counts = calloc(COUNT, sizeof *counts);
  ensure(now && next && counts, "malloc");
  begin(COUNT, now, 1);
  begin(COUNT, next, 2);
  sem_init(&is_over, 0, 0);
  pthread_key_create(&key, at_end);
  for (long t = 0; t < STEPS; t++) {
    smooth(COUNT, next, now);
    advance(COUNT, counts, (uint32_t)t);
    smooth(COUNT, now, next);
    between(t);
    printf("%ld: %.17g\n", t, next[t * 1700]);
  }
  show("now", STEPS, now, COUNT * sizeof *now);
  show("next", STEPS, next, COUNT * sizeof *next);
  show("counts", STEPS, counts, COUNT * sizeof *counts);
  return 0;
}
