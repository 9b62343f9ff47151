/* One planted fault per run: does what only speculation does ever hurt?
 *
 *   faults [--runs N] [--kind KIND] [--seed S] [--only R] [--fresh] [--list]
 *
 * In these loops an iteration repairs what a later one uses: an index that leads out of its array, a pointer to nowhere, a
 * divisor that is zero, a list without an end. The program never comes to the bad value; iterations that run in another order,
 * on what was there before the loop, do. Each run makes fresh inputs, with a fault in every other run. Which iterations repair,
 * how far before the use (half of the distances are 1, 31, 32 or 33, next to the width of a warp), how wild the value is,
 * whether it was there before the loop or a still earlier iteration stores it, and whether the arrays end where their
 * allocations end, is random. All memory, with what lies around the arrays, is compared with what the same loop in reference.c
 * makes of it at the same addresses; so are the loop's result, the signal that ended it with its address, and `errno`; and it
 * may raise no floating-point exception flag that the reference doesn't raise.
 *
 * The kinds crash-* are loops that the program itself comes to grief in: then the same signal is due, at the same iteration.
 * Each of these runs has a process of its own, because a handler that leaves a loop leaves it in the middle of the runtime; in
 * that process the loop runs once more on inputs without a fault. All but crash-division are left out (0 runs) where loops may
 * run in place, because there the fault is another thread's, and other iterations have stored already. They want -O2: vectors,
 * which -O3 makes of them, load and store several elements at once, whoever runs them.
 *
 * Prints one line per kind; the exit status is 1 if any run went wrong. Run R of a kind depends on the kind and the seed only,
 * and --only repeats it alone; --fresh gives every run a process of its own, so that nothing that the runtime has learnt keeps
 * loops from running elsewhere. A program that has to be stopped, because a loop doesn't end, says which run was under way.
 *
 * The loops are functions named like their kinds: count their records in PARAGON_TRACE. (A loop that ended by a signal has
 * none.) */
#define _GNU_SOURCE /* memfd_create */
#include "faults.h"
#include "../support/inputs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 1500, GUARD = 48, MOST_BLOCKS = 64, PAGE = 4096, MISSING_PAGES = 16 };

#include "loops.h"
#include "run.h"
#include "kinds.h"
#include "crashes.h"

/* ---- kinds */

struct kind {
  const char *name;
  void (*prepare)(struct run *);
  uint64_t (*call)(struct run *, bool is_reference);
  /* Whether the program itself comes to grief. */
  enum { NEVER, IN_ITS_ORDER, ANYWHERE } crashes;
};

static const struct kind kinds[] = {
    {"index-store-through-repaired", prepare_index_store, call_index_store, NEVER},
    {"index-load-through-repaired", prepare_index_load, call_index_load, NEVER},
    {"long-index-store-repaired", prepare_long_index_store, call_long_index_store, NEVER},
    {"long-index-load-repaired", prepare_long_index_load, call_long_index_load, NEVER},
    {"byte-offset-store-repaired", prepare_byte_offset, call_byte_offset_store, NEVER},
    {"byte-offset-load-repaired", prepare_byte_offset, call_byte_offset_load, NEVER},
    {"index-arithmetic-repaired", prepare_index_arithmetic, call_index_arithmetic, NEVER},
    {"index-update-repaired", prepare_index_store, call_index_update, NEVER},
    {"row-store-repaired", prepare_row_store, call_row_store, NEVER},
    {"row-length-repaired", prepare_row_length, call_row_length, NEVER},
    {"record-store-repaired", prepare_record_store, call_record_store, NEVER},
    {"index-sum-repaired", prepare_index_load, call_index_sum, NEVER},
    {"sentinel-repaired", prepare_sentinel, call_sentinel, NEVER},
    {"pointer-store-repaired", prepare_pointer, call_pointer_store, NEVER},
    {"pointer-load-repaired", prepare_pointer, call_pointer_load, NEVER},
    {"list-walk-repaired", prepare_list_walk, call_list_walk, NEVER},
    {"division-int-repaired", prepare_division_int, call_division_int, NEVER},
    {"remainder-int-repaired", prepare_division_int, call_remainder_int, NEVER},
    {"division-unsigned-repaired", prepare_division_unsigned, call_division_unsigned, NEVER},
    {"division-long-repaired", prepare_division_long, call_division_long, NEVER},
    {"remainder-long-repaired", prepare_division_long, call_remainder_long, NEVER},
    {"shift-repaired", prepare_shift, call_shift, NEVER},
    {"conversion-repaired", prepare_conversion, call_conversion, NEVER},
    {"conversion-index-repaired", prepare_conversion_index, call_conversion_index, NEVER},
    {"nan-repaired", prepare_nan, call_nan, NEVER},
    {"own-array-store-repaired", prepare_own_array, call_own_array_store, NEVER},
    {"own-array-load-repaired", prepare_own_array, call_own_array_load, NEVER},
    {"guard-store-repaired", prepare_guard_store, call_guard_store, NEVER},
    {"guard-division-repaired", prepare_guard_division, call_guard_division, NEVER},
    {"guard-pointer-repaired", prepare_guard_pointer, call_guard_pointer, NEVER},
    {"break-inner-repaired", prepare_break_inner, call_break_inner, NEVER},
    {"stop-flag-repaired", prepare_stop_flag, call_stop_flag, NEVER},
    {"crash-division", prepare_crash_division, call_crash_division, ANYWHERE},
    {"crash-store", prepare_crash_store, call_crash_store, IN_ITS_ORDER},
    {"crash-load", prepare_crash_load, call_crash_load, IN_ITS_ORDER},
    {"crash-pointer", prepare_crash_pointer, call_crash_pointer, IN_ITS_ORDER},
    {"crash-end", prepare_crash_end, call_crash_end, IN_ITS_ORDER},
    {"crash-read-only", prepare_crash_read_only, call_crash_read_only, IN_ITS_ORDER},
    {"endless-chain-repaired", prepare_chain, call_endless_chain, NEVER},
    {"endless-around-none-repaired", prepare_around_none, call_endless_around, NEVER},
    {"endless-around-many-repaired", prepare_around_many, call_endless_around, NEVER},
    {"endless-step-repaired", prepare_step, call_endless_step, NEVER},
    {"endless-condition-repaired", prepare_condition, call_endless_condition, NEVER},
    {"endless-count-repaired", prepare_count, call_endless_count, NEVER},
    {"endless-store-repaired", prepare_chain, call_endless_store, NEVER},
    {"endless-list-repaired", prepare_endless_list, call_endless_list, NEVER},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* ---- attempts */

static sigjmp_buf escape;
static volatile sig_atomic_t may_escape;
static void *volatile address_of_fault;
/* What is under way, for whoever has to stop the program. */
static const char *volatile kind_under_way = "";
static volatile uint64_t run_under_way;
static volatile pid_t child_under_way;

static void say(const char *kind, uint64_t run, const char *what)
{
  char text[200];
  int length = snprintf(text, sizeof text, "%s: run %" PRIu64 ": %s\n", kind, run, what);
  if (length > 0 && write(STDERR_FILENO, text, (size_t)length) < 0)
    _exit(2);
}

static void come_to_grief(int number, siginfo_t *fault, void *context)
{
  (void)context;
  if (syscall(SYS_gettid) != getpid()) {
    say(kind_under_way, run_under_way, "a fault on a thread that isn't the program's");
    _exit(1);
  }
  if (may_escape != 0) {
    /* Where a division stands in the program is no part of what it does. */
    address_of_fault = number == SIGSEGV || number == SIGBUS ? fault->si_addr : NULL;
    siglongjmp(escape, number);
  }
  signal(number, SIG_DFL);
}

static void be_stopped(int number)
{
  (void)number;
  say(kind_under_way, run_under_way, "stopped");
  if (child_under_way != 0)
    kill(child_under_way, SIGTERM);
  _exit(1);
}

static void catch_signals(void)
{
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL}, requests[] = {SIGTERM, SIGINT, SIGALRM};
  struct sigaction action = {.sa_sigaction = come_to_grief, .sa_flags = SA_SIGINFO};
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
    sigaction(faults[i], &action, NULL);
  action = (struct sigaction){.sa_handler = be_stopped};
  for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++)
    sigaction(requests[i], &action, NULL);
}

/* What there is to see of a call besides memory. */
struct outcome {
  uint64_t result;
  int signal, error;
  void *address; /* that the signal is about */
  unsigned flags; /* of floating-point exceptions */
};

static unsigned take_flags(void)
{
#ifdef __SSE2__
  unsigned state = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(state & ~0x3fu);
  return state & 0x3f;
#else
  return 0;
#endif
}

static struct outcome attempt(const struct kind *kind, struct run *r, bool is_reference)
{
  static struct outcome outcome; /* in memory, so that what is in it outlasts a jump */
  outcome = (struct outcome){0};
  take_flags();
  errno = 0;
  int number = sigsetjmp(escape, 1);
  if (number == 0) {
    may_escape = 1;
    outcome.result = kind->call(r, is_reference);
    outcome.error = errno;
    outcome.flags = take_flags();
  }
  may_escape = 0;
  outcome.signal = number;
  outcome.address = number != 0 ? address_of_fault : NULL;
  return outcome;
}

static unsigned char *save(struct run *r, unsigned char *saved)
{
  size_t bytes = 0;
  for (size_t i = 0; i < r->block_count; i++)
    bytes += r->blocks[i].bytes;
  saved = realloc(saved, bytes);
  if (saved == NULL)
    check_die(r->check, "out of memory", "");
  unsigned char *to = saved;
  for (size_t i = 0; i < r->block_count; to += r->blocks[i++].bytes)
    memcpy(to, r->blocks[i].start, r->blocks[i].bytes);
  return saved;
}

static void restore(struct run *r, const unsigned char *saved)
{
  for (size_t i = 0; i < r->block_count; saved += r->blocks[i++].bytes)
    memcpy(r->blocks[i].start, saved, r->blocks[i].bytes);
}

static bool is_same(const struct run *r, const unsigned char *saved)
{
  bool same = true;
  for (size_t i = 0; i < r->block_count; saved += r->blocks[i++].bytes)
    same = same && memcmp(r->blocks[i].start, saved, r->blocks[i].bytes) == 0;
  return same;
}

struct counts {
  uint64_t runs, wrong, crashes;
};

static bool is_faulty(uint64_t number)
{
  return number % 2 == 1;
}

static void run_here(struct check *c, const struct kind *kind, uint64_t number, struct counts *counts)
{
  struct run *r = check_alloc(c, 1, sizeof *r);
  *r = (struct run){.check = c, .is_faulty = is_faulty(number)};
  c->state = check_hash(kind->name, strlen(kind->name)) ^ check_hash(&c->seed, sizeof c->seed) ^ number;
  kind_under_way = kind->name;
  run_under_way = number;
  pick_couples(r);
  kind->prepare(r);
  if (below(r, 3) == 0)
    spoil_late(r);
  slow_down(r);
  new_block(r, GUARD);

  unsigned char *before = save(r, NULL);
  struct outcome found = attempt(kind, r, false);
  unsigned char *after = save(r, NULL);
  restore(r, before);
  struct outcome expected = attempt(kind, r, true);

  const char *wrong = NULL;
  if (found.signal != expected.signal)
    wrong = found.signal != 0 ? "a signal that isn't due" : "a signal is missing";
  else if (!is_same(r, after))
    wrong = "wrong memory";
  else if (found.address != expected.address)
    wrong = "a fault at another address";
  else if (found.result != expected.result)
    wrong = "a wrong result";
  else if (found.error != expected.error)
    wrong = "a wrong errno";
  else if ((found.flags & ~expected.flags) != 0)
    wrong = "a floating-point exception flag that isn't due";
  else if ((expected.signal != 0) != (kind->crashes != NEVER && r->is_faulty))
    wrong = "the reference does what it shouldn't";
  if (wrong != NULL)
    say(kind->name, number, wrong);
  counts->runs++;
  counts->wrong += wrong != NULL;
  counts->crashes += found.signal != 0;

  free(before);
  free(after);
  while (r->block_count-- != 0)
    if (r->blocks[r->block_count].is_allocated)
      free(r->blocks[r->block_count].start);
  free(r);
}

/* In a process of its own, which says by its exit status whether all was right. */
static void run_apart(const struct check *c, const struct kind *kind, uint64_t number, struct counts *counts)
{
  extern char **environ;
  char seed[24], only[24];
  snprintf(seed, sizeof seed, "%" PRIu64, c->seed);
  snprintf(only, sizeof only, "%" PRIu64, number);
  char option[3][8] = {"--kind", "--seed", "--only"}, name[64], program[] = "faults";
  snprintf(name, sizeof name, "%s", kind->name);
  char *arguments[] = {program, option[0], name, option[1], seed, option[2], only, NULL};
  kind_under_way = kind->name;
  run_under_way = number;
  posix_spawn_file_actions_t actions;
  pid_t child;
  int status = 0;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  if (posix_spawn(&child, "/proc/self/exe", &actions, NULL, arguments, environ) != 0)
    check_die(c, "can't start a process", "");
  posix_spawn_file_actions_destroy(&actions);
  child_under_way = child;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  child_under_way = 0;
  bool is_right = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (WIFSIGNALED(status))
    say(kind->name, number, "the process was ended by a signal");
  counts->runs++;
  counts->wrong += !is_right;
  /* It would have said so if the signal were missing. */
  counts->crashes += WIFSIGNALED(status) || (is_right && kind->crashes != NEVER && is_faulty(number));
}

/* Whether a loop that the program comes to grief in stays in its order: not in place on threads. */
static bool is_in_order(void)
{
  const char *device = getenv("PARAGON_DEVICE"), *memory = getenv("PARAGON_MEMORY");
  bool is_elsewhere = device != NULL && (strcmp(device, "off") == 0 || strcmp(device, "cuda") == 0);
  return is_elsewhere || (memory != NULL && strcmp(memory, "separate") == 0);
}

int main(int argc, char **argv)
{
  struct check c = {.program = argv[0], .seed = 1};
  const struct kind *only_kind = NULL;
  const uint64_t all = UINT64_MAX;
  uint64_t runs = 1000, only = all;
  bool is_fresh = false;
  for (int i = 1; i < argc; i++) {
    const char *option = argv[i], *value = argv[i + 1]; /* argv ends with a null pointer */
    if (strcmp(option, "--list") == 0) {
      for (size_t k = 0; k < KINDS; k++)
        puts(kinds[k].name);
      return 0;
    }
    if (strcmp(option, "--fresh") == 0) {
      is_fresh = true;
      continue;
    }
    if (strcmp(option, "--runs") == 0) {
      runs = check_number(&c, option, value);
    } else if (strcmp(option, "--seed") == 0) {
      c.seed = check_number(&c, option, value);
    } else if (strcmp(option, "--only") == 0) {
      only = check_number(&c, option, value);
    } else if (strcmp(option, "--kind") == 0 && value != NULL) {
      for (size_t k = 0; k < KINDS; k++)
        if (strcmp(kinds[k].name, value) == 0)
          only_kind = &kinds[k];
      if (only_kind == NULL)
        check_die(&c, "no such kind", value);
    } else {
      check_die(&c, "unknown option", option);
    }
    i++;
  }

  catch_signals();
  map_missing_memory(&c);
  uint64_t wrong = 0;
  for (const struct kind *kind = kinds; kind < kinds + KINDS; kind++) {
    if (only_kind != NULL && kind != only_kind)
      continue;
    struct counts counts = {0, 0, 0};
    if (only != all) {
      run_here(&c, kind, only, &counts);
      if (kind->crashes != NEVER && is_faulty(only))
        run_here(&c, kind, only + 1, &counts);
    } else if (kind->crashes != IN_ITS_ORDER || is_in_order()) {
      for (uint64_t number = 0; number < runs; number++)
        if (is_fresh || (kind->crashes != NEVER && is_faulty(number)))
          run_apart(&c, kind, number, &counts);
        else
          run_here(&c, kind, number, &counts);
    }
    printf("%s: %" PRIu64 " runs, %" PRIu64 " wrong, %" PRIu64 " crashes\n", kind->name, counts.runs, counts.wrong,
           counts.crashes);
    fflush(stdout);
    wrong += counts.wrong;
  }
  return wrong != 0;
}
