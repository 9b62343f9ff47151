/* Arrays of every kind of storage: global, static, on the stack, alloca, aligned, reallocated, constant, thread-local,
 * mapped, and pointers into the middle of them.
 *
 * test size: 2003
 * expect combine: runs on clean */
#include "../support/inputs.h"
#include <alloca.h>
#include <sys/mman.h>

enum { MOST = 4096 };

int global_array[MOST];
static int static_array[MOST];
static _Thread_local int thread_array[MOST];
static const int constant_array[8] = {3, 1, 4, 1, 5, 9, 2, 6};

COMPUTE static void combine(int n, int *to, const int *from)
{
  for (int i = 0; i < n; i++) /* loop combine */
    to[i] = to[i] * 3 + from[i];
}

COMPUTE static void with_constants(int n)
{
  for (int i = 0; i < n; i++) /* loop constants */
    static_array[i] += constant_array[i & 7] + global_array[i];
}

COMPUTE static void thread_local_loop(int n)
{
  for (int i = 0; i < n; i++) /* loop thread */
    thread_array[i] = i * 3 - global_array[i];
}

COMPUTE static int on_the_stack(int n)
{
  int local[MOST], sum = 0;
  int *borrowed = alloca((size_t)n * sizeof *borrowed);
  memset(borrowed, 0, (size_t)n * sizeof *borrowed);
  for (int i = 0; i < n; i++) /* loop stack */
    local[i] = global_array[n - 1 - i];
  for (int i = 0; i < n; i++) /* loop borrowed */
    borrowed[i] = local[i] - i;
  combine(n, local, borrowed);
  for (int i = 0; i < n; i++)
    sum += local[i];
  return sum;
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "raw", NULL};
  struct check check = check_open(argc, argv, MOST, inputs);
  if (check.size > MOST)
    check_die(&check, "the size must be at most 4096", "");
  int n = (int)check.size;
  size_t bytes = MOST * sizeof(int);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    int *grown = malloc(16 * sizeof *grown), *aligned = NULL;
    grown = realloc(grown, bytes);
    if (grown == NULL || posix_memalign((void **)&aligned, 256, bytes) != 0)
      check_die(&check, "out of memory", "");
    int *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED)
      check_die(&check, "no mapping", "");
    int *middle = (int *)check_alloc(&check, 3 * MOST, sizeof(int)) + MOST;
    for (int i = 0; i < MOST; i++) {
      global_array[i] = (int)check_below(&check, 1000);
      static_array[i] = i;
      thread_array[i] = 0;
      grown[i] = aligned[i] = (int)check_below(&check, 1000);
      mapped[i] = 7 * i;
    }
    check_start(&check);
    combine(n, global_array, static_array);
    combine(n, grown, global_array);
    combine(n, aligned, grown);
    combine(n, mapped, aligned);
    combine(n, middle, mapped);
    combine(n, middle - 1000, middle + (check_is(&check, "raw") ? -1001 : 1500));
    combine(n / 2, static_array, thread_array);
    with_constants(n);
    thread_local_loop(n);
    int sum = on_the_stack(n);
    check_stop(&check);
    printf("sum %d\n", sum);
    check_array(&check, "global", global_array, 1, bytes);
    check_array(&check, "static", static_array, 1, bytes);
    check_array(&check, "thread", thread_array, 1, bytes);
    check_array(&check, "grown", grown, 1, bytes);
    check_array(&check, "aligned", aligned, 1, bytes);
    check_array(&check, "mapped", mapped, 1, bytes);
    check_array(&check, "middle", middle - MOST, 1, 3 * bytes);
    free(grown);
    free(aligned);
    free(middle - MOST);
    munmap(mapped, bytes);
  }
  return check_close(&check);
}
