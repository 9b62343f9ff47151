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
#include <elf.h>
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
  return ok;
}

static bool add_tables(std::string &text)
{
  // Pointers that a kernel loads may lead anywhere, for all that its compiler knows; those among its parameters lead to the GPU's memory. (The emulated GPU, which
  // has __PG_ONCE_64 as a macro, doesn't know what can be said of them.)
  return replace(text, "#define __PG_VIEW(base) __PG_VIEW_OF_TABLES(base)",
                 "#if __PG_METHOD >= 2 /* PG_LOG_ATOMIC */\n#define __PG_VIEW(base) __pg_table_view(__pg_l, base)\n"
                 "static __device__ __forceinline__ struct __pg_view __pg_table_view(const struct __pg_launch *l, __pg_u32 base)\n"
                 "{\n  const struct __pg_view v = __pg_base_view(l, base);\n#ifndef __PG_ONCE_64\n"
                 "  __builtin_assume(__isGlobal(v.dev));\n  __builtin_assume(__isGlobal(v.snapshot));\n  __builtin_assume(__isGlobal(v.before));\n"
                 "#endif\n  return v;\n}\n"
                 "#else\n#define __PG_VIEW(base) __PG_VIEW_OF_TABLES(base)\n#endif");
}

// Registers of the only kernel of a cubin; 0 where it isn't known. In .nv.info attributes stand one behind the other: a byte that says how long it is
// (4: by the next two, else there is nothing behind), what it is (0x2f: of a kernel, the registers), two bytes, what it says.
static unsigned registers_of(const std::string &cubin)
{
  Elf64_Ehdr head;
  if (cubin.size() < sizeof head || memcmp(cubin.data(), ELFMAG, SELFMAG) != 0)
    return 0;
  memcpy(&head, cubin.data(), sizeof head);
  const auto section = [&](unsigned number) {
    Elf64_Shdr found = {};
    if (head.e_shoff + (number + 1) * sizeof found <= cubin.size())
      memcpy(&found, &cubin[head.e_shoff + number * sizeof found], sizeof found);
    return found;
  };
  const Elf64_Shdr names = section(head.e_shstrndx);
  for (unsigned number = 0; number < head.e_shnum; number++) {
    const Elf64_Shdr found = section(number);
    const size_t name = names.sh_offset + found.sh_name, end = found.sh_offset + found.sh_size;
    if (name >= cubin.size() || strcmp(cubin.c_str() + name, ".nv.info") != 0 || end > cubin.size())
      continue;
    for (size_t at = found.sh_offset; at + 12 <= end;) {
      unsigned short bytes = 0;
      memcpy(&bytes, &cubin[at + 2], 2);
      unsigned says[2];
      memcpy(says, &cubin[at + 4], sizeof says);
      if (cubin[at] == 4 && cubin[at + 1] == 0x2f && bytes == 8)
        return says[1];
      at += 4 + (cubin[at] == 4 ? bytes : 0);
    }
  }
  return 0;
}

// A program: its text, what the real compiler was given, and whether a part was added to it.
struct _nvrtcProgram {
  std::string text, name;
  Program real;
  bool has_tables;
};

static int create(Program *program, const std::string &text, const char *name)
{
  return ::real<int (*)(Program *, const char *, const char *, int, const char *const *, const char *const *)>("nvrtcCreateProgram")(
    program, text.c_str(), name, 0, nullptr, nullptr);
}

// So that it holds no more registers than what is compared with it: with three more of them a processor holds three quarters of the warps, and what
// they gather together fits into a cache that it doesn't fit into otherwise. A part that costs time would seem to save some.
static void hold_registers(Program program, int count, const char *const *options)
{
  Program whole;
  if (create(&whole, program->text, program->name.c_str()) != 0)
    return;
  unsigned registers = 0;
  if (real<int (*)(Program, int, const char *const *)>("nvrtcCompileProgram")(whole, count, options) == 0) {
    size_t size = 0;
    real<int (*)(Program, size_t *)>("nvrtcGetCUBINSize")(whole, &size);
    std::string cubin(size, 0);
    if (size != 0 && real<int (*)(Program, char *)>("nvrtcGetCUBIN")(whole, &cubin[0]) == 0)
      registers = (registers_of(cubin) + 7) / 8 * 8;
  }
  real<int (*)(Program *)>("nvrtcDestroyProgram")(&whole);
  std::string text = program->text;
  // A processor has 65536 of them; blocks have 256 threads.
  const std::string bounds = "__launch_bounds__(__PG_BLOCK, " + std::to_string(registers == 0 ? 1 : 65536 / 256 / registers) + ")";
  if (registers == 0 || !add_tables(text) || !replace(text, "__launch_bounds__(__PG_BLOCK)", bounds.c_str()))
    return;
  Program held;
  if (create(&held, text, program->name.c_str()) != 0)
    return;
  real<int (*)(Program *)>("nvrtcDestroyProgram")(&program->real);
  program->real = held;
}

extern "C" {
int nvrtcVersion(int *major, int *minor)
{
  return real<int (*)(int *, int *)>("nvrtcVersion")(major, minor);
}
int nvrtcCreateProgram(Program *program, const char *source, const char *name, int, const char *const *, const char *const *)
{
  std::string text = source;
  // The kernel that checks the logs has none of this.
  const bool is_kernel = text.find("__pg_kernel(") != std::string::npos;
  bool ok = !is_kernel || change(text);
  const std::string without_tables = text;
  const bool has_tables = is_kernel && is_without("tables");
  ok = (!has_tables || add_tables(text)) && ok;
  if (!ok) {
    fprintf(stderr, "BENCH_WITHOUT: the kernel's text is not as expected\n");
    return 5; /* NVRTC_ERROR_INVALID_OPTION */
  }
  Program its;
  const int status = create(&its, text, name);
  if (status == 0)
    *program = new _nvrtcProgram{without_tables, name, its, has_tables};
  return status;
}
int nvrtcCompileProgram(Program program, int count, const char *const *options)
{
  if (program->has_tables)
    hold_registers(program, count, options);
  return real<int (*)(Program, int, const char *const *)>("nvrtcCompileProgram")(program->real, count, options);
}
int nvrtcGetCUBINSize(Program program, size_t *size)
{
  return real<int (*)(Program, size_t *)>("nvrtcGetCUBINSize")(program->real, size);
}
int nvrtcGetCUBIN(Program program, char *cubin)
{
  return real<int (*)(Program, char *)>("nvrtcGetCUBIN")(program->real, cubin);
}
int nvrtcGetProgramLogSize(Program program, size_t *size)
{
  return real<int (*)(Program, size_t *)>("nvrtcGetProgramLogSize")(program->real, size);
}
int nvrtcGetProgramLog(Program program, char *log)
{
  return real<int (*)(Program, char *)>("nvrtcGetProgramLog")(program->real, log);
}
int nvrtcDestroyProgram(Program *program)
{
  const int status = real<int (*)(Program *)>("nvrtcDestroyProgram")(&(*program)->real);
  delete *program;
  *program = nullptr;
  return status;
}
}
