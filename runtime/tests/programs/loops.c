/* Loops as generated code would hand them to the runtime, written by hand from paragon_rt.h and paragon_body.h.
 *
 * usage: loops LIBRARY SCENARIO [COUNT [SEED]]
 *
 * Each scenario runs its loop through the runtime's `enter` on one copy of its data and in plain C on another, and
 * compares all of the memory and all scalars, byte by byte. Exit status 0: equal. The number of entries that the runtime
 * declined is printed; what it decided and found is in its trace, told apart by the line numbers of support.h. */

#include "support.h"
#include "kinds.h"

/* ---- situations in which loops run as they stood, or must not be disturbed ---- */

static void *other_thread(void *unused)
{
  for (int i = 0; i < 20; i++)
    add(20000, 0), sums(20000), twice(20000);
  return unused;
}

static void in_handler(int signal)
{
  int before = declined;
  (void)signal;
  twice(1000);
  if (declined != before + 1)
    fail("entered in a signal handler");
}

static void situations(void)
{
  static float numbers[3][3000];
  pthread_t threads[3];
  int status, before, flags;
  pid_t child;
  /* floating-point flags: an exact loop leaves none, an inexact one leaves its own */
  feclearexcept(FE_ALL_EXCEPT);
  twice(100000);
  if (fetestexcept(FE_ALL_EXCEPT) != 0)
    fail("flags of the runtime's own arithmetic");
  for (int i = 0; i < 3000; i++)
    numbers[0][i] = 1e9f + i, numbers[1][i] = 0.001f * i;
  feclearexcept(FE_ALL_EXCEPT);
  run_add(numbers[2], numbers[0], numbers[1], 3000);
  flags = fetestexcept(FE_ALL_EXCEPT);
  if (flags != FE_INEXACT)
    fail("flags of the loop");
  /* another rounding */
  before = declined;
  fesetround(FE_UPWARD);
  twice(100000);
  fesetround(FE_TONEAREST);
  if (declined != before + 1)
    fail("entered with another rounding");
  /* a signal handler */
  signal(SIGUSR1, in_handler);
  raise(SIGUSR1);
  /* several threads at once */
  for (int i = 0; i < 3; i++)
    if (pthread_create(&threads[i], 0, other_thread, 0))
      exit(2);
  for (int i = 0; i < 3; i++)
    pthread_join(threads[i], 0);
  /* a forked child */
  child = fork();
  if (child == 0) {
    before = declined;
    twice(100000), saxpy(1000, 0, 0);
    _exit(declined == before + 2 ? 0 : 3);
  }
  if (waitpid(child, &status, 0) != child || status != 0)
    fail("the child of a fork");
  /* the parent goes on as before; where nothing is asked for, a loop that doesn't pay isn't entered anyway */
  before = entered;
  twice(100000);
  if (entered != before + 1 && getenv("PARAGON_RACE") && !strcmp(getenv("PARAGON_RACE"), "device"))
    fail("not entered after a fork");
}

/* The middle of what the loop spans is not mapped, and no iteration goes there. */
static void hole(void)
{
  size_t page = sysconf(_SC_PAGESIZE);
  char *p = mmap(0, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  struct __pg_base bases[2] = { { ADDRESS(p), 0, 0, 0 }, { ADDRESS(p + page), 0, 0, 0 } };
  struct __pg_access accesses[2] = { { { 2 * page, 1 }, 0, 1 }, { { 2 * page, 1 }, 0, 1 } };
  struct __pg_entry entry = { &some_info, { 1, page, 1, 1 }, 0, 0, bases, accesses, 0 };
  if (p == MAP_FAILED)
    exit(2);
  munmap(p + page, page);
  (void)bases;
  entry.trip[0] = page;
  entry.trip[1] = 1;
  accesses[0].stride[0] = accesses[1].stride[0] = 1;
  accesses[0].stride[1] = accesses[1].stride[1] = 0;
  /* a: the first page as source, b: the third; the hull of a is made to span the hole */
  bases[0].pointer = ADDRESS(p + 2 * page);
  bases[1].pointer = ADDRESS(p);
  accesses[1].hi = page + 1;
  memset(p, 7, page);
  if (!enter(&some_loop, &entry))
    some_direct(&entry, 0, 0, page);
  for (size_t i = 0; i < page; i++)
    if (p[2 * page + i] != 7)
      fail("hole");
}

int main(int argc, char **argv)
{
  const char *what = argc > 2 ? argv[2] : "";
  int count = argc > 3 ? atoi(argv[3]) : 1;
  void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : 0;
  __pg_attach_fn attach = library ? (__pg_attach_fn)dlsym(library, PG_ATTACH_SYMBOL) : 0;
  if (!attach) {
    fprintf(stderr, "no runtime: %s\n", dlerror());
    return 2;
  }
  if (attach(PG_ABI_VERSION + 1, 0))
    fail("another ABI is served");
  if (argc > 4)
    seed ^= (__pg_u64)atoll(argv[4]) * 0x9e3779b97f4a7c15ull;
  api = attach(PG_ABI_VERSION, 0);
  if (!api) {
    puts("switched off");
    return 0;
  }
  for (int i = 0; i < count; i++) {
    if (!strcmp(what, "all")) {
      add(5000, 0), add(5000, 1), add(5000, 31), add(5000, -1);
      saxpy(5000, 0, 0), saxpy(5000, 1, 0), saxpy(5000, 0, 10000);
      mix(5000, 0), mix(5000, 1), sums(70001), stencil(50, 70), some(10007);
      rows(30, 50, 0, 0), rows(30, 50, 1, 0), rows(30, 50, 0, 1);
      bound(3000, 0), bound(3000, 1), divide(5000, 0), divide(5000, 1);
      two(1001), twice(5000), gather(5000, 0), gather(5000, 1), hole();
    } else if (!strcmp(what, "large"))
      add(3 << 20, 0), twice(3 << 20), saxpy(1 << 20, 0, 0), sums(3 << 20), some(5 << 20), two(1 << 20);
    else if (!strcmp(what, "planted"))
      mix(200 + random_number() % 2000, 1);
    else if (!strcmp(what, "patient"))
      mix(4000, 1), usleep(50000);
    else if (!strcmp(what, "clean"))
      mix(200 + random_number() % 2000, 0);
    else if (!strcmp(what, "slow"))
      slow(4 << 20);
    else if (!strcmp(what, "situations"))
      situations();
    else
      return 2;
  }
  printf("entered %d declined %d\n", entered, declined);
  return 0;
}
