/* What all of the loops need: how they are entered, arrays that the runtime knows of, and how a difference is told. The loops are in
 * kinds.h. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "paragon_rt.h"
#include "paragon_body.h"

enum { ADD = 1, SAXPY = 2, MIX = 3, PLANTED = 4, SUMS = 5, STENCIL = 6, SOME = 7, ROWS = 8, BOUND = 9, DIVIDE = 10,
       TWO = 11, TWICE = 12, GATHER = 13, SLOW = 14 };

static const struct __pg_api *api;
static int declined, entered;
static __pg_u64 seed = 88172645463325252ull;

static __pg_u64 random_number(void)
{
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return seed;
}

static void fail(const char *what)
{
  printf("WRONG %s\n", what);
  exit(1);
}

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define ADDRESS(p) ((__pg_u64)(p))

/* The parts of an info that most loops share. */
#define INFO(NAME, LINE, CHECK, FLAGS, DIMS, VALUES, NRESULTS, RESULTS, BASES, SITES, NPAIRS, PAIRS, PINS)                \
  static const struct __pg_info NAME##_info = { PG_ABI_VERSION, PG_POSSIBLY_PARALLEL, CHECK, FLAGS, "loops.c", #NAME,    \
    LINE, DIMS, VALUES, NRESULTS, BASES, COUNT(SITES), NPAIRS, PINS, 8, SITES, PAIRS, RESULTS, 0, NAME##_direct,         \
    NAME##_device, 0 };                                                                                                     \
  static struct __pg_loop NAME##_loop = { 1, &NAME##_info, 0 }

/* Runs a loop through the runtime; 0: it is to be run as it stood. */
static int enter(struct __pg_loop *loop, struct __pg_entry *entry)
{
  int done;
  errno = 77;
  done = api->enter(loop, entry);
  if (errno != 77)
    fail("errno");
  if (done)
    entered++;
  else
    declined++;
  return done;
}

/* An array that the runtime knows of. */
static void *array(size_t bytes)
{
  void *p = malloc(bytes);
  if (!p)
    exit(2);
  api->allocated(p, bytes);
  return p;
}

static void *copy_of(const void *p, size_t bytes)
{
  void *q = malloc(bytes);
  if (!q)
    exit(2);
  return memcpy(q, p, bytes);
}

static void give_back(void *p)
{
  api->freed(p);
  free(p);
}
