/* Loops on stacks that the program has made itself, with its data right below them: what the runtime needs of the stack it takes nowhere but on threads' own. flags: -pthread */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum { ELEMENTS = 1 << 16, STACK = 5 << 10, BELOW = 64 << 10, ROUNDS = 12 };

struct fiber {
  char below[BELOW];
  char stack[STACK];
};

static float a[ELEMENTS], b[ELEMENTS];
static __thread ucontext_t owner, inside;
static __thread void (*task)(void);
static float *volatile kept;

static void scale(void)
{
  for (int round = 0; round < ROUNDS; round++) /* entered */
    for (int i = 0; i < ELEMENTS; i++)
      a[i] = a[i] * 0.5f + b[i] + i;
}

/* Memory that is recorded, and given back. */
static void hold(void)
{
  kept = malloc(sizeof(float) * ELEMENTS);
  for (int i = 0; i < ELEMENTS; i++)
    kept[i] = i * 3;
  for (int i = 0; i < ELEMENTS; i++)
    a[i] += kept[i];
  free(kept);
}

static void spawn(void)
{
  scale();
  pid_t child = fork();
  if (child == 0)
    _exit(a[77] > 100);
  int status = 0;
  waitpid(child, &status, 0);
  a[78] += status;
}

static void leave(void)
{
  scale();
  exit(0);
}

static void run(void)
{
  task();
}

static void enter(struct fiber *fiber, void (*work)(void))
{
  task = work;
  getcontext(&inside);
  inside.uc_stack.ss_sp = fiber->stack;
  inside.uc_stack.ss_size = sizeof fiber->stack;
  inside.uc_link = &owner;
  makecontext(&inside, run, 0);
  swapcontext(&owner, &inside);
}

/* Does something on a stack of its own, and says how many bytes below it have changed. */
static int on_small_stack(struct fiber *fiber, void (*work)(void))
{
  memset(fiber->below, 'x', sizeof fiber->below);
  enter(fiber, work);
  int changed = 0;
  for (int i = 0; i < BELOW; i++)
    changed += fiber->below[i] != 'x';
  return changed;
}

static void print(const char *when, int changed)
{
  printf("%s: %d bytes changed, %g %g\n", when, changed, a[77], a[78]);
}

static void *in_thread(void *unused)
{
  (void)unused;
  static struct fiber fiber;
  int before = on_small_stack(&fiber, scale);
  scale();
  int after = on_small_stack(&fiber, scale);
  print("in a thread", before + after);
  return NULL;
}

static void thread(size_t stack)
{
  pthread_attr_t attributes;
  pthread_t number;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack);
  if (pthread_create(&number, &attributes, in_thread, NULL) == 0)
    pthread_join(number, NULL);
  pthread_attr_destroy(&attributes);
}

int main(void)
{
  static struct fiber fiber;
  for (int i = 0; i < ELEMENTS; i++)
    b[i] = i % 7;
  /* Before there is a runtime, by a loop and by an allocation. */
  print("first", on_small_stack(&fiber, scale));
  print("first", on_small_stack(&fiber, hold));
  scale();
  hold();
  print("then", on_small_stack(&fiber, scale));
  print("then", on_small_stack(&fiber, hold));
  print("fork", on_small_stack(&fiber, spawn));
  thread(1 << 20);
  thread(32 << 10);
  scale();
  /* The last one ends the process, with nothing below that it could change. */
  char *memory = mmap(NULL, sizeof fiber, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  struct fiber *last = (struct fiber *)memory;
  mprotect(memory, sizeof last->below, PROT_NONE);
  enter(last, leave);
  return 1;
}
