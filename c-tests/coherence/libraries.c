/* A library that is opened in the middle of the run: it reads and writes the program's arrays, enters loops on them, gives arrays of its own, and is closed again. */
#include "coherence.h"
#include <dlfcn.h>

enum { COUNT = 60000, STEPS = 12 };

int main(void)
{
  double *now = malloc(COUNT * sizeof *now), *next = malloc(COUNT * sizeof *next), *theirs = NULL;
  char *name = malloc(200000);
  void *library = NULL;
  double (*visit)(long, long, double *, double *) = NULL;
  double *(*lend)(long) = NULL;
  begin(COUNT, now, 1);
  begin(COUNT, next, 2);
  for (long t = 0; t < STEPS; t++) {
    smooth(COUNT, next, now);
    letters(200000, name, t);
    if (t == 3 || t == 9) {
      strcpy(name + 40000, "libraries.library.so");
      library = dlopen(name + 40000, RTLD_NOW);
      if (library == NULL) {
        puts(dlerror());
        return 1;
      }
      visit = (double (*)(long, long, double *, double *))dlsym(library, "visit");
      lend = (double *(*)(long))dlsym(library, "lend");
    }
    if (library != NULL) {
      printf("%ld: %.17g\n", t, visit(t, COUNT, next, now));
      theirs = lend(COUNT);
      smooth(COUNT, theirs, next);
      theirs[t] = next[t];
      smooth(COUNT, next, theirs);
    }
    if (t == 6) {
      show("theirs", t, theirs, COUNT * sizeof *theirs);
      dlclose(library);
      library = NULL;
    }
    show("name", t, name + 50000, 1000);
    double *other = now;
    now = next;
    next = other;
  }
  show("now", STEPS, now, COUNT * sizeof *now);
  show("next", STEPS, next, COUNT * sizeof *next);
  return 0;
}
