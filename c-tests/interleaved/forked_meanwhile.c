/* Children by fork at any moment: by another thread while a loop runs, and by the same one between two entries of a loop. A child has none of the runtime's threads; it
 * runs loops of its own all the same, on arrays that nobody was at work on, and gives what they give. The parent's loops go on as if nothing had been.
 *
 * usage: forked_meanwhile CHILDREN */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COUNT = 60000, CHILDS = 9000 };

static uint32_t numbers[COUNT], wanted[COUNT], childs[CHILDS], childs_wanted[CHILDS];
static int to[COUNT];
static atomic_int forks_left;
static atomic_long entries;

/* Known only when it runs: no place twice. */
static void scatter(uint32_t *a, const int *where, uint32_t t, int n)
{
  for (int i = 0; i < n; i++)
    a[where[i]] = a[where[i]] * 3u + t + (uint32_t)i;
}

static void advance(uint32_t *a, uint32_t t, int n)
{
  for (int i = 0; i < n; i++)
    a[i] = a[i] * 5u + t;
}

/* The same, one after the other, whoever compiles it. */
static void plain(uint32_t *a, const int *where, uint32_t t, int n)
{
  volatile int i;
  for (i = 0; i < n; i++)
    a[where[i]] = a[where[i]] * 3u + t + (uint32_t)i;
  for (i = 0; i < n; i++)
    a[i] = a[i] * 5u + t;
}

/* What a child does, and how it ends. */
static void child(uint32_t t)
{
  for (int turn = 0; turn < 3; turn++) {
    scatter(childs, to, t, CHILDS);
    advance(childs, t, CHILDS);
    plain(childs_wanted, to, t, CHILDS);
  }
  _exit(memcmp(childs, childs_wanted, sizeof childs) == 0 ? 5 : 6);
}

static void have_a_child(uint32_t t)
{
  int status;
  pid_t pid = fork();
  if (pid == 0)
    child(t);
  if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 5) {
    printf("child %u: %d, status %x\n", t, (int)pid, pid < 0 ? 0 : (unsigned)status);
    fflush(stdout);
    _exit(1);
  }
}

static void *forker(void *unused)
{
  while (atomic_load(&forks_left) > 0) {
    /* At another moment of the loop each time. */
    usleep((unsigned)(atomic_load(&forks_left) * 37 % 900));
    have_a_child((uint32_t)atomic_fetch_sub(&forks_left, 1));
  }
  return unused;
}

int main(int argc, char **argv)
{
  pthread_t other;
  int children = argc > 1 ? atoi(argv[1]) : 0;
  /* A permutation of any beginning of it that is a multiple of 3000. */
  for (int i = 0; i < COUNT; i++)
    to[i] = i / 3000 * 3000 + i % 3000 * 7 % 3000;
  atomic_store(&forks_left, children);
  if (children < 1 || pthread_create(&other, 0, forker, 0))
    return 2;
  for (uint32_t t = 0; atomic_load(&forks_left) > 0 || t < 20; t++) {
    scatter(numbers, to, t, COUNT);
    advance(numbers, t, COUNT);
    plain(wanted, to, t, COUNT);
    if (memcmp(numbers, wanted, sizeof numbers) != 0) {
      printf("step %u: other numbers\n", t);
      return 1;
    }
    if (t % 16 == 5)
      have_a_child(t);
    atomic_fetch_add(&entries, 2);
  }
  pthread_join(other, 0);
  /* And once more, when there was no fork for a while. */
  scatter(numbers, to, 1, COUNT);
  advance(numbers, 1, COUNT);
  plain(wanted, to, 1, COUNT);
  puts(memcmp(numbers, wanted, sizeof numbers) == 0 ? "right" : "other numbers at the end");
  return 0;
}
