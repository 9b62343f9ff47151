/* Other programs are started in each way there is, with arguments, environments and file names that lie in arrays; what they print comes in order, and what
 * they are given through a pipe is what loops have stored. */
#include "coherence.h"
#include <spawn.h>

enum { COUNT = 200000, STEPS = 10 };
extern char **environ;

int main(void)
{
  char *text = malloc(COUNT);
  char **words = malloc(COUNT);
  uint32_t *a = calloc(COUNT, sizeof *a);
  memset(words, 0, COUNT);
  for (volatile long t = 0; t < STEPS; t++) {
    letters(COUNT, text, t);
    advance(COUNT, a, (uint32_t)t);
    char *at = text + t * 8191 + 4000;
    strcpy(at, "/bin/echo");
    at[110] = 0;
    advance(COUNT / 8, (uint32_t *)words + COUNT / 8, (uint32_t)t); /* beside the pointers */
    words[0] = at, words[1] = at + 50, words[2] = NULL;
    fflush(stdout);
    pid_t child;
    switch (t % 5) {
    case 0:
      child = vfork();
      if (child == 0) {
        execv(at, words);
        _exit(9);
      }
      show_end("vfork", child);
      break;
    case 1:
      ensure((errno = posix_spawn(&child, at, NULL, NULL, words, environ)) == 0, "posix_spawn");
      show_end("posix_spawn", child);
      break;
    case 2: {
      char part[21] = "";
      memcpy(part, at + 200, 20);
      snprintf(at, 100, "echo \"%s\"; exit 3", part);
      int status = system(at);
      printf("system: %d\n", WEXITSTATUS(status));
      break;
    }
    case 3: {
      FILE *sums = popen("cksum", "w");
      ensure(sums != NULL, "popen");
      fwrite(a, sizeof *a, COUNT, sums);
      fwrite(text, 1, COUNT, sums);
      printf("pclose: %d\n", pclose(sums));
      snprintf(at, 100, "echo 17 words of %ld", t);
      FILE *lines = popen(at, "r");
      ensure(lines != NULL, "popen");
      printf("%d\n", fgets(text + 100, 4000, lines) != NULL);
      printf("pclose: %d %s", pclose(lines), text + 100);
      break;
    }
    default:
      /* The environment of a child lies there, too. */
      strcpy(at + 300, "NAMED=value that lies in an array");
      strcpy(at + 400, "PATH=/usr/bin:/bin");
      words[1000] = at + 300, words[1001] = at + 400, words[1002] = NULL;
      words[10] = strcpy(at + 450, "sh"), words[11] = strcpy(at + 460, "-c");
      words[12] = strcpy(at + 470, "echo $NAMED; kill -9 $$"), words[13] = NULL;
      child = fork();
      if (child == 0) {
        execve("/bin/sh", words + 10, words + 1000);
        _exit(9);
      }
      show_end("execve", child);
    }
    flip(COUNT, text);
    show("text", t, at, 1000);
    words[1000] = words[1001] = NULL;
  }
  show("text", STEPS, text, COUNT);
  show("a", STEPS, a, COUNT * sizeof *a);
  show("words", STEPS, (uint32_t *)words + COUNT / 8, COUNT / 2);
  return 0;
}
