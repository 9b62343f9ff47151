/* A GPU that is lost while a program runs: put in front of the driver's library by LD_LIBRARY_PATH, as `libcuda.so`, it passes everything on. The launch whose number LOST_AT
 * says is preceded by a kernel that traps, behind which the driver refuses all that has to do with the process's context. With LOST_LAUNCHES it writes into that file how many
 * launches there were, at the end.
 *
 * It knows nothing of the driver's header, so that it is built where there is none. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

typedef int (*launch_function)(void *function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *stream, void **, void **);
typedef int (*launch_ex_function)(const void *config, void *function, void **, void **);

static const char TRAP[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry lose() { trap; }\n";

static atomic_long launches;

static void *real(const char *name)
{
  static void *library;
  if (library == NULL)
    library = dlopen("libcuda.so.1", RTLD_LAZY);
  void *found = library != NULL ? dlsym(library, name) : NULL;
  if (found == NULL)
    abort();
  return found;
}

static void lose(void *stream)
{
  void *module, *function;
  int (*load)(void **, const void *) = (int (*)(void **, const void *))real("cuModuleLoadData");
  int (*get)(void **, void *, const char *) = (int (*)(void **, void *, const char *))real("cuModuleGetFunction");
  if (load(&module, TRAP) != 0 || get(&function, module, "lose") != 0)
    abort();
  ((launch_function)real("cuLaunchKernel"))(function, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL);
}

static void count(void *stream)
{
  const char *at = getenv("LOST_AT");
  if (atomic_fetch_add(&launches, 1) + 1 == (at != NULL ? atol(at) : -1))
    lose(stream);
}

int cuLaunchKernel(void *function, unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *stream, void **parameters, void **extra)
{
  count(stream);
  return ((launch_function)real("cuLaunchKernel"))(function, x, y, z, bx, by, bz, shared, stream, parameters, extra);
}

int cuLaunchKernelEx(const void *config, void *function, void **parameters, void **extra)
{
  /* The stream stands behind seven numbers, aligned. */
  count(((void *const *)config)[4]);
  return ((launch_ex_function)real("cuLaunchKernelEx"))(config, function, parameters, extra);
}

__attribute__((destructor)) static void tell(void)
{
  const char *name = getenv("LOST_LAUNCHES");
  FILE *file = name != NULL ? fopen(name, "w") : NULL;
  if (file != NULL) {
    fprintf(file, "%ld\n", (long)launches);
    fclose(file);
  }
}
