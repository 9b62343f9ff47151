/* Runs the main functions of many test programs, one after the other, in one process: to open a GPU takes a quarter of a second, and one
 * process waits for the other, so a process for each of them would be all that a suite's time goes into (benches/gpu.sh).
 *
 *   together RUNS FOLDER
 *   together --list           its programs: "KIND NAME INPUT"
 *
 * RUNS has a line for each run, "KIND NAME SIZE INPUT"; those whose program isn't here are passed over. FOLDER gets, by the names that
 * end with KIND.NAME.INPUT, what a run printed (txt), what it dumped (bin), and its part of PARAGON_TRACE (trace). A run that has its
 * dump under that name has come to its end: until then it is called "part". Nobody goes on behind a run that ends the process: the caller
 * runs what is missing alone.
 *
 * together.h, which benches/prepare.sh writes, lists the main functions: RUN(kind, name, input) for a function run_KIND_NAME_INPUT. Each run
 * has an object of its own, so none finds what another one has left in the program's variables, or what has been learnt of its loops. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RUN(kind, name, input) int run_##kind##_##name##_##input(int count, char **arguments);
#include "together.h"
#undef RUN
static const struct {
  const char *kind, *name, *input;
  int (*run)(int count, char **arguments);
} programs[] = {
#define RUN(kind, name, input) {#kind, #name, #input, run_##kind##_##name##_##input},
#include "together.h"
#undef RUN
};

static void die(const char *what)
{
  perror(what);
  exit(3);
}

/* What the trace has got since the last time goes into a file of its own. */
static void cut_trace(const char *path)
{
  static off_t behind;
  const char *trace = getenv("PARAGON_TRACE");
  char buffer[1 << 16];
  ssize_t some;
  int from, to;
  if (trace == NULL || (from = open(trace, O_RDONLY)) < 0)
    return;
  if ((to = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666)) < 0)
    die(path);
  while ((some = pread(from, buffer, sizeof buffer, behind)) > 0) {
    if (write(to, buffer, (size_t)some) != some)
      die(path);
    behind += some;
  }
  close(from);
  close(to);
}

int main(int count, char **arguments)
{
  char kind[64], name[64], size[64], input[64], part[512], done[512], text[512], trace[512];
  const int said = dup(1), complained = dup(2);
  if (count == 2 && strcmp(arguments[1], "--list") == 0) {
    for (size_t k = 0; k < sizeof programs / sizeof *programs; k++)
      printf("%s %s %s\n", programs[k].kind, programs[k].name, programs[k].input);
    return 0;
  }
  FILE *runs = count == 3 ? fopen(arguments[1], "r") : NULL;
  if (runs == NULL)
    die("together RUNS FOLDER");
  while (fscanf(runs, "%63s %63s %63s %63s", kind, name, size, input) == 4)
    for (size_t k = 0; k < sizeof programs / sizeof *programs; k++) {
      char *own[] = {"program", "--size", size, "--input", input, "--dump", part, NULL};
      if (strcmp(kind, programs[k].kind) != 0 || strcmp(name, programs[k].name) != 0 || strcmp(input, programs[k].input) != 0)
        continue;
      snprintf(part, sizeof part, "%s/part.%s.%s.%s", arguments[2], kind, name, input);
      snprintf(done, sizeof done, "%s/bin.%s.%s.%s", arguments[2], kind, name, input);
      snprintf(text, sizeof text, "%s/txt.%s.%s.%s", arguments[2], kind, name, input);
      snprintf(trace, sizeof trace, "%s/trace.%s.%s.%s", arguments[2], kind, name, input);
      const int to = open(text, O_WRONLY | O_CREAT | O_TRUNC, 0666);
      if (to < 0 || dup2(to, 1) < 0 || dup2(to, 2) < 0)
        die(text);
      close(to);
      programs[k].run(7, own);
      fflush(stdout);
      dup2(said, 1);
      dup2(complained, 2);
      cut_trace(trace);
      if (rename(part, done) != 0)
        die(done);
    }
  return 0;
}
