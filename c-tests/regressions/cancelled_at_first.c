/* A thread that has been told to end comes to the process's first loop before it comes to where threads end. (not forced: the loop is entered
 * only if it seems worth it) flags: -pthread */
#include <pthread.h>
#include <stdio.h>

enum { COUNT = 400000 };
static double x[COUNT], y[COUNT];
static volatile int told;

__attribute__((noinline)) static void loop(int n)
{
  for (int i = 0; i < n; i++)
    x[i] = x[i] * .5 + y[i] * y[i] / (x[i] + 3);
}

static void clean(void *nothing)
{
  (void)nothing;
  puts("cleaned up");
}

static void *work(void *nothing)
{
  (void)nothing;
  pthread_cleanup_push(clean, NULL);
  while (!told) {
  }
  loop(COUNT);
  x[0] = 3e6;
  pthread_testcancel();
  puts("not here");
  pthread_cleanup_pop(0);
  return NULL;
}

int main(void)
{
  pthread_t thread;
  void *result;
  if (pthread_create(&thread, NULL, work, NULL) != 0)
    return 1;
  pthread_cancel(thread);
  told = 1;
  pthread_join(thread, &result);
  printf("cancelled: %d %g\n", result == PTHREAD_CANCELED, x[0]);
  return 0;
}
