/* The program blocks signals, all of them at times, those of faults and of system calls too, and uses the arrays meanwhile; it asks for masks and handlers, which are
 * its own; children inherit its mask. */
#include "coherence.h"
#include <setjmp.h>

enum { COUNT = 60000, STEPS = 24 };

static sigjmp_buf place;

static void tell_mask(const char *when)
{
  sigset_t mask;
  sigprocmask(SIG_BLOCK, NULL, &mask);
  printf("%s:", when);
  for (int signal = 1; signal < 32; signal++)
    if (sigismember(&mask, signal))
      printf(" %d", signal);
  putchar('\n');
}

static void tell_handlers(void)
{
  for (int signal = 1; signal < 32; signal++) {
    struct sigaction action;
    if (sigaction(signal, NULL, &action) == 0 && action.sa_handler != SIG_DFL)
      printf("%d: %s\n", signal, action.sa_handler == SIG_IGN ? "ignored" : "handled");
  }
}

/* As a child that executes something has them. */
static void tell_of_child(void)
{
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    /* The first 28: the C library has two for itself. */
    execlp("sed", "sed", "-n", "s/^\\(Sig[BIC]..:\\).*\\(.......\\)$/\\1 \\2/p", "/proc/self/status", NULL);
    _exit(9);
  }
  show_end("child", child);
}

SHARED void forth_and_back(double *now, const double *next)
{
  if (sigsetjmp(place, 1) != 0)
    return;
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, SIGUSR2);
  sigprocmask(SIG_BLOCK, &one, NULL);
  smooth(COUNT, now, next);
  siglongjmp(place, 1);
}

int main(void)
{
  double *now = malloc(COUNT * sizeof *now), *next = malloc(COUNT * sizeof *next);
  sigset_t *sets = malloc(1000 * sizeof *sets), all;
  sigfillset(&all);
  begin(COUNT, now, 1);
  begin(COUNT, next, 2);
  for (long t = 0; t < STEPS; t++) {
    smooth(COUNT, next, now);
    letters(1000 * sizeof *sets, (char *)sets, t);
    switch (t % 8) {
    case 0:
      sigprocmask(SIG_BLOCK, &all, &sets[10]); /* the old one goes into an array */
      printf("%.17g\n", next[t * 900]);
      next[t * 901] = 4;
      tell_mask("all");
      smooth(COUNT, now, next);
      now[t * 100] = next[t * 200] + now[5];
      sigprocmask(SIG_SETMASK, &sets[10], NULL);
      tell_mask("none");
      break;
    case 1:
      sigemptyset(&sets[20]);
      sigaddset(&sets[20], SIGSEGV);
      sigaddset(&sets[20], SIGUSR1);
      sigprocmask(SIG_BLOCK, &sets[20], NULL);
      next[t * 300] += next[t * 400];
      raise(SIGUSR1);
      sigpending(&sets[30]);
      printf("%d %d\n", sigismember(&sets[30], SIGUSR1), sigismember(&sets[30], SIGSEGV));
      printf("%d\n", sigwaitinfo(&sets[20], NULL));
      break;
    case 2:
      tell_mask("before");
      tell_of_child();
      break;
    case 3:
      sigprocmask(SIG_SETMASK, &all, NULL);
      tell_of_child();
      smooth(COUNT, now, next);
      show("blocked", t, now, COUNT * sizeof *now);
      sigemptyset(&all);
      sigprocmask(SIG_SETMASK, &all, NULL);
      sigfillset(&all);
      break;
    case 4:
      tell_handlers();
      signal(SIGCHLD, t % 4 == 0 ? SIG_IGN : SIG_DFL);
      break;
    case 5:
      /* None of faults among them. */
      sigemptyset(&sets[60]);
      sigaddset(&sets[60], SIGUSR2);
      sigaddset(&sets[60], SIGALRM);
      sigprocmask(SIG_BLOCK, &sets[60], &sets[70]);
      tell_mask("two");
      next[t * 500] -= next[t * 600];
      smooth(COUNT, now, next);
      sigprocmask(SIG_SETMASK, &sets[70], &sets[80]);
      printf("%d %d\n", sigismember(&sets[80], SIGALRM), sigismember(&sets[80], SIGUSR1));
      tell_mask("none");
      break;
    case 6:
      /* With the mask, forth and back. */
      forth_and_back(now, next);
      tell_mask("back");
      break;
    default:
      signal(SIGCHLD, SIG_DFL);
      sigprocmask(SIG_BLOCK, NULL, &sets[40]);
      printf("%d\n", sigisemptyset(&sets[40]));
    }
    show("sets", t, sets + 50, 900 * sizeof *sets);
    double *other = now;
    now = next;
    next = other;
  }
  show("now", STEPS, now, COUNT * sizeof *now);
  show("next", STEPS, next, COUNT * sizeof *next);
  return 0;
}
