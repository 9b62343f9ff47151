// NVIDIA's run-time compiler with parts of Paragon's checks left out of the kernels, so that benches/bench.py can tell what each of
// them costs. It is built as libnvrtc.so.13, which PARAGON_NVRTC leads Paragon's runtime to, and hands everything to the real one
// (BENCH_NVRTC, a path) but the texts of kernels, which it changes before. BENCH_WITHOUT says how, by words between commas:
//
//   read-log     loads are not logged
//   write-log    stores are neither logged nor marked
//   range-check  no address is looked at before it is used
//   tables       arrays are not at hand as a kernel's parameters: each thread finds them by bisection, like the chapter's. Only in kernels with
//                logs: for others nobody makes the table, and what they found there would be no arrays
//
// What comes out of such kernels is worth nothing: bench.py lets the worker's result stand always (PARAGON_RACE=worker), and only uses
// inputs without conflicts, whose addresses need no check. No product of Paragon knows of this file. Where a text is not as
// expected, compilation fails: then there is no measurement, rather than a wrong one.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <string>

typedef struct _nvrtcProgram *Program;

// A function of the real compiler.
template <class Function> static Function real(const char *name)
{
  static void *library = dlopen(getenv("BENCH_NVRTC") != nullptr ? getenv("BENCH_NVRTC") : "", RTLD_NOW);
  Function function = library == nullptr ? nullptr : (Function)dlsym(library, name);
  if (function == nullptr) {
    fprintf(stderr, "BENCH_NVRTC leads to no run-time compiler (%s)\n", name);
    exit(2);
  }
  return function;
}

static bool is_without(const char *part)
{
  const char *parts = getenv("BENCH_WITHOUT");
  return parts != nullptr && (std::string(",") + parts + ",").find(std::string(",") + part + ",") != std::string::npos;
}

// Lets a function of the text return at once. False: there is no such function.
static bool return_at_once(std::string &text, const char *function, const char *value)
{
  size_t definition = text.find(std::string(function) + "(struct __pg_ctx");
  if (definition == std::string::npos)
    definition = text.find(std::string(function) + "(const struct __pg_ctx");
  size_t body = definition == std::string::npos ? definition : text.find('{', definition);
  if (body == std::string::npos)
    return false;
  text.insert(body + 1, std::string(" if (1) return ") + value + ";");
  return true;
}

static bool replace(std::string &text, const char *from, const char *to)
{
  size_t at = text.find(from);
  if (at == std::string::npos)
    return false;
  text.replace(at, strlen(from), to);
  return true;
}

static bool change(std::string &text)
{
  bool ok = true;
  // Bitmaps note loads by themselves. Where stamps guess, a load looks whose value it finds as it enters itself.
  if (is_without("read-log")) {
    for (const char *function : {"__pg_log_read", "__pg_note_read"})
      ok = return_at_once(text, function, "") && ok;
    ok = return_at_once(text, "__pg_finds_own", "0") && ok;
  }
  if (is_without("write-log"))
    for (const char *function : {"__pg_log_write", "__pg_mark_write", "__pg_log_update"})
      ok = return_at_once(text, function, "") && ok;
  // Loads that nobody logs, or only a bitmap, ask without a branch.
  if (is_without("range-check"))
    for (const char *function : {"__pg_may_access", "__pg_is_there"})
      ok = return_at_once(text, function, "1") && ok;
  if (is_without("tables"))
    ok = replace(text, "#define __PG_VIEW(base) __pg_t->views[base]",
                 "#if __PG_METHOD >= 2 /* PG_LOG_ATOMIC */\n#define __PG_VIEW(base) __pg_base_view(__pg_l, base)\n"
                 "#else\n#define __PG_VIEW(base) __pg_t->views[base]\n#endif") &&
         ok;
  return ok;
}

extern "C" {
int nvrtcVersion(int *major, int *minor)
{
  return real<int (*)(int *, int *)>("nvrtcVersion")(major, minor);
}
int nvrtcCreateProgram(Program *program, const char *source, const char *name, int count, const char *const *headers,
                       const char *const *names)
{
  std::string text = source;
  // The kernel that checks the logs has none of this.
  if (text.find("__pg_kernel(") != std::string::npos && !change(text)) {
    fprintf(stderr, "BENCH_WITHOUT: the kernel's text is not as expected\n");
    return 5; /* NVRTC_ERROR_INVALID_OPTION */
  }
  return real<int (*)(Program *, const char *, const char *, int, const char *const *, const char *const *)>("nvrtcCreateProgram")(
    program, text.c_str(), name, count, headers, names);
}
int nvrtcCompileProgram(Program program, int count, const char *const *options)
{
  return real<int (*)(Program, int, const char *const *)>("nvrtcCompileProgram")(program, count, options);
}
int nvrtcGetCUBINSize(Program program, size_t *size)
{
  return real<int (*)(Program, size_t *)>("nvrtcGetCUBINSize")(program, size);
}
int nvrtcGetCUBIN(Program program, char *cubin)
{
  return real<int (*)(Program, char *)>("nvrtcGetCUBIN")(program, cubin);
}
int nvrtcGetProgramLogSize(Program program, size_t *size)
{
  return real<int (*)(Program, size_t *)>("nvrtcGetProgramLogSize")(program, size);
}
int nvrtcGetProgramLog(Program program, char *log)
{
  return real<int (*)(Program, char *)>("nvrtcGetProgramLog")(program, log);
}
int nvrtcDestroyProgram(Program *program)
{
  return real<int (*)(Program *)>("nvrtcDestroyProgram")(program);
}
}
