/* The program's environment points into arrays that loops store to, and strings of it are changed between the steps; arguments and what hasn't been touched are as they
 * were. */
#include "coherence.h"

enum { COUNT = 150000, STEPS = 16 };
extern char **environ;

int main(int argc, char **argv)
{
  char *text = malloc(COUNT), **own = malloc(COUNT), **before = environ;
  size_t count = 0;
  while (environ[count] != NULL)
    count++;
  uint64_t arguments = hash(argv[0], strlen(argv[0]));
  for (long t = 0; t < STEPS; t++) {
    letters(COUNT, (char *)own, t);
    letters(COUNT, text, t);
    char *at = text + 4000 + t * 5001;
    snprintf(at, 100, "STEP=number %ld", t);
    switch (t % 4) {
    case 0:
      putenv(at);
      at[12] = '#';
      printf("%s\n", getenv("STEP"));
      fflush(stdout);
      printf("%d\n", system("echo $STEP"));
      break;
    case 1:
      setenv("OTHER", at, 1);
      printf("%s\n", getenv("OTHER"));
      break;
    case 2:
      /* All of it: the list too. */
      own[3] = at, own[4] = strcpy(at + 200, "PATH=/usr/bin:/bin"), own[5] = NULL;
      environ = own + 3;
      fflush(stdout);
      printf("%d\n", system("echo $STEP $OTHER"));
      printf("%s\n", getenv("STEP"));
      environ = before;
      break;
    default:
      unsetenv("STEP");
      printf("%d\n", getenv("STEP") == NULL);
    }
    unsetenv("STEP");
    before = environ;
    own[3] = own[4] = NULL; /* addresses differ from run to run */
    flip(COUNT, text);
    flip(COUNT, (char *)own);
    show("text", t, at - 1000, 1300);
    show("own", t, own, COUNT);
  }
  unsetenv("OTHER");
  size_t left = 0;
  while (environ[left] != NULL)
    left++;
  printf("%d %d %d\n", argc, left == count, arguments == hash(argv[0], strlen(argv[0])));
  show("text", STEPS, text, COUNT);
  return 0;
}
