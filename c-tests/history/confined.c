// A program that gives up the right to open files after its first loop, as those do that read what strangers send. Here it is told of each file that is
// opened or asked for all the same; the kernel would end it.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
static double x[1 << 20];
static void step(double *v, int n, double c)
{
  for (int i = 0; i < n; i++) {
    double s = v[i];
    for (int k = 0; k < 200; k++)
      s = s * s * 0.25 + c;
    v[i] = s;
  }
}
static volatile sig_atomic_t asked;
static void told(int number, siginfo_t *info, void *context)
{
  ucontext_t *at = context;
  const char *path = (const char *)at->uc_mcontext.gregs[REG_RSI];
  (void)number;
  (void)info;
  if (strstr(path, "paragon") || strstr(path, "/exe"))
    asked++;
  at->uc_mcontext.gregs[REG_RAX] = -EACCES;
}
#define TRAPPED(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP)
static void confine(void)
{
  struct sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      TRAPPED(SYS_openat),
      TRAPPED(SYS_readlinkat),
      TRAPPED(SYS_mkdirat),
      TRAPPED(SYS_renameat),
      // These have the path in front.
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_readlink, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog filter = {sizeof rules / sizeof *rules, rules};
  struct sigaction action = {0};
  action.sa_sigaction = told;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSYS, &action, NULL);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
    puts("not confined");
}
int main(int argc, char **argv)
{
  int entries = argc > 1 ? atoi(argv[1]) : 5;
  int n = argc > 2 ? atoi(argv[2]) : 1 << 17;
  for (int i = 0; i < n; i++)
    x[i] = i / (double)n;
  for (int e = 0; e < entries; e++) {
    step(x, n, 0.1 + e * 0.001);
    // argv[3]: after so many entries.
    if (argc > 3 && e == atoi(argv[3]))
      confine();
  }
  double sum = 0;
  for (int i = 0; i < n; i++)
    sum += x[i];
  printf("%.17g %d\n", sum, (int)asked);
  return 0;
}
