/* A signal's handler leaves a loop by siglongjmp. After that, the thread can be cancelled as before. (not forced: the loop is entered
 * again and again) */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { N = 1 << 20 };
static sigjmp_buf env;
static double *v, *out;
static volatile int left;

static void on_signal(int signal)
{
  (void)signal;
  siglongjmp(env, 1);
}
__attribute__((noinline)) static void average(const double *p, double *q, int n)
{
  for (int i = 0; i < n; i++)
    q[i] = p[i] * 1.5 + q[i] * 0.5;
}
static void *work(void *nothing)
{
  if (!sigsetjmp(env, 1))
    for (;;)
      average(v, out, N);
  left = 1;
  for (;;)
    pause();
  return nothing;
}

int main(void)
{
  v = malloc(N * sizeof *v);
  out = calloc(N, sizeof *out);
  for (int i = 0; i < N; i++)
    v[i] = i;
  struct sigaction action = {.sa_handler = on_signal};
  sigaction(SIGUSR1, &action, NULL);
  pthread_t thread;
  pthread_create(&thread, NULL, work, NULL);
  usleep(200000);
  pthread_kill(thread, SIGUSR1);
  while (!left)
    usleep(1000);
  pthread_cancel(thread);
  /* A thread that can't be cancelled is waited for for ever. */
  alarm(20);
  void *result;
  pthread_join(thread, &result);
  puts(result == PTHREAD_CANCELED ? "cancelled" : "ended");
  return 0;
}
