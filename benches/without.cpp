// NVIDIA's run-time compiler that compiles each kernel several times, with parts of Paragon's checks left out, so that benches/bench.py can tell what
// each of them costs. It is built as libnvrtc.so.13, which PARAGON_NVRTC leads Paragon's runtime to, and hands everything to the real one
// (BENCH_NVRTC, a path). In the place of a kernel's machine code it gives that of all variants (variants.h); benches/replays.cpp, in the place of the
// driver, knows what to do with them. BENCH_VARIANTS says which, as NAME:WORDS;NAME:WORDS, where words have commas between them; the first one is
// the kernel as it is, and has none:
//
//   read-log     loads are not logged
//   write-log    stores are neither logged nor marked
//   range-check  no address is looked at before it is used
//   tables       arrays are not at hand as a kernel's parameters: each thread finds them by bisection, like the chapter's. Only in kernels with
//                logs: for others nobody makes the table, and what they found there would be no arrays
//   widest       it takes as many registers as that of the variants with this word that takes most, whether it uses them or not: so as many warps are under
//                way. With fewer, what they gather together fits into a cache that it doesn't fit into otherwise: a part that costs time would seem to save
// some
//
// What comes out of such kernels is worth nothing: it is only run on inputs without conflicts, whose addresses need no check, and put back. No product of
// Paragon knows of this file. Where a text is not as expected, compilation fails: then there is no measurement, rather than a wrong one.
#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <algorithm>
#include <string>
#include "variants.h"

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

// A variant that is wanted: what it is called, and what is changed for it.
struct Variant {
  std::string name, words;
  bool has(const char *word) const { return ("," + words + ",").find(std::string(",") + word + ",") != std::string::npos; }
};

static std::vector<Variant> wanted_variants()
{
  std::vector<Variant> wanted;
  const char *given = getenv("BENCH_VARIANTS");
  const std::string all = given != nullptr ? given : "";
  for (size_t at = 0; at < all.size();) {
    const size_t end = std::min(all.find(';', at), all.size()), colon = all.find(':', at);
    if (colon < end)
      wanted.push_back({all.substr(at, colon - at), all.substr(colon + 1, end - colon - 1)});
    at = end + 1;
  }
  return wanted;
}

// Lets a function of the text return at once. False: it is called, but there is no such function. A text has those that it needs.
static bool return_at_once(std::string &text, const char *function, const char *value)
{
  if (text.find(function) == std::string::npos)
    return true;
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

static bool add_tables(std::string &text)
{
  // Pointers that a kernel loads may lead anywhere, for all that its compiler knows; those among its parameters lead to the GPU's memory. (The emulated GPU,
  // which
  // has __PG_ONCE_64 as a macro, doesn't know what can be said of them.)
  return replace(text, "#define __PG_VIEW(base) __PG_VIEW_OF_TABLES(base)",
                 "#if __PG_METHOD >= 2 /* PG_LOG_ATOMIC */\n#define __PG_VIEW(base) __pg_table_view(__pg_l, base)\n"
                 "static __device__ __forceinline__ struct __pg_view __pg_table_view(const struct __pg_launch *l, __pg_u32 base)\n"
                 "{\n  const struct __pg_view v = __pg_base_view(l, base);\n#ifndef __PG_ONCE_64\n"
                 "  __builtin_assume(__isGlobal(v.dev));\n  __builtin_assume(__isGlobal(v.snapshot));\n  __builtin_assume(__isGlobal(v.before));\n"
                 "#endif\n  return v;\n}\n"
                 "#else\n#define __PG_VIEW(base) __PG_VIEW_OF_TABLES(base)\n#endif");
}

static bool change(std::string &text, const Variant &variant)
{
  bool ok = true;
  // Bitmaps note loads by themselves. Where stamps guess, a load looks whose value it finds as it enters itself.
  if (variant.has("read-log")) {
    for (const char *function : {"__pg_log_read", "__pg_note_read"})
      ok = return_at_once(text, function, "") && ok;
    ok = return_at_once(text, "__pg_finds_own", "0") && ok;
  }
  if (variant.has("write-log"))
    for (const char *function : {"__pg_log_write", "__pg_mark_write", "__pg_log_update"})
      ok = return_at_once(text, function, "") && ok;
  // Loads that nobody logs, or only a bitmap, ask without a branch.
  if (variant.has("range-check"))
    for (const char *function : {"__pg_may_access", "__pg_is_there"})
      ok = return_at_once(text, function, "1") && ok;
  if (variant.has("tables"))
    ok = add_tables(text) && ok;
  return ok;
}

// Where a cubin says how many registers its only kernel takes; 0 where it isn't known. In .nv.info attributes stand one behind the other: a byte that says
// how long
// it is (4: by the next two, else there is nothing behind), what it is (0x2f: of a kernel, the registers), two bytes, what it says.
static size_t place_of_registers(const std::string &cubin)
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
      if (cubin[at] == 4 && cubin[at + 1] == 0x2f && bytes == 8)
        return at + 8;
      at += 4 + (cubin[at] == 4 ? bytes : 0);
    }
  }
  return 0;
}

// Lets some kernels take as many registers as that of them that takes most.
static void widen(const std::vector<std::string *> &cubins)
{
  unsigned most = 0;
  for (const std::string *cubin : cubins)
    if (const size_t place = place_of_registers(*cubin); place != 0) {
      unsigned registers;
      memcpy(&registers, &(*cubin)[place], sizeof registers);
      most = std::max(most, registers);
    }
  for (std::string *cubin : cubins)
    if (const size_t place = place_of_registers(*cubin); place != 0)
      memcpy(&(*cubin)[place], &most, sizeof most);
}

// A program: its text, and the machine code of what became of it.
struct _nvrtcProgram {
  std::string text, name, image, log;
  bool is_kernel;
};

// Compiles a text; the log where that fails.
static int compile(const std::string &text, const std::string &name, int count, const char *const *options, std::string &code, std::string &log)
{
  Program program;
  int status = real<int (*)(Program *, const char *, const char *, int, const char *const *, const char *const *)>("nvrtcCreateProgram")(
    &program, text.c_str(), name.c_str(), 0, nullptr, nullptr);
  if (status != 0)
    return status;
  status = real<int (*)(Program, int, const char *const *)>("nvrtcCompileProgram")(program, count, options);
  size_t size = 0;
  real<int (*)(Program, size_t *)>("nvrtcGetProgramLogSize")(program, &size);
  log.assign(size, 0);
  if (size != 0)
    real<int (*)(Program, char *)>("nvrtcGetProgramLog")(program, &log[0]);
  size = 0;
  if (status == 0)
    status = real<int (*)(Program, size_t *)>("nvrtcGetCUBINSize")(program, &size);
  code.assign(size, 0);
  if (status == 0)
    status = real<int (*)(Program, char *)>("nvrtcGetCUBIN")(program, &code[0]);
  real<int (*)(Program *)>("nvrtcDestroyProgram")(&program);
  return status;
}

extern "C" {
int nvrtcVersion(int *major, int *minor)
{
  return real<int (*)(int *, int *)>("nvrtcVersion")(major, minor);
}
int nvrtcCreateProgram(Program *program, const char *source, const char *name, int, const char *const *, const char *const *)
{
  // The kernels that look at logs, or fill them, have none of this.
  const std::string text = source;
  const bool is_kernel = text.find("__pg_kernel(") != std::string::npos;
  *program = new _nvrtcProgram{text, name, "", "", is_kernel};
  return 0;
}
int nvrtcCompileProgram(Program program, int count, const char *const *options)
{
  const std::vector<Variant> wanted = program->is_kernel ? wanted_variants() : std::vector<Variant>();
  if (wanted.empty())
    return compile(program->text, program->name, count, options, program->image, program->log);
  Variants variants;
  std::string first;
  for (const Variant &variant : wanted) {
    std::string text = program->text, code;
    if (!change(text, variant)) {
      program->log = "BENCH_VARIANTS: the kernel's text is not as expected (" + variant.name + ")";
      fprintf(stderr, "%s\n", program->log.c_str());
      return 6; /* NVRTC_ERROR_COMPILATION */
    }
    // What has the same text is compiled once.
    const bool is_known = text == program->text && !variants.empty();
    const int status = is_known ? 0 : compile(text, program->name, count, options, code, program->log);
    if (status != 0)
      return status;
    if (variants.empty())
      first = code;
    else if (is_known)
      code = first;
    variants.emplace_back(variant.name, code);
  }
  std::vector<std::string *> widest;
  for (size_t which = 0; which < wanted.size(); which++)
    if (wanted[which].has("widest"))
      widest.push_back(&variants[which].second);
  widen(widest);
  program->image = packed(variants);
  return 0;
}
int nvrtcGetCUBINSize(Program program, size_t *size)
{
  *size = program->image.size();
  return 0;
}
int nvrtcGetCUBIN(Program program, char *cubin)
{
  memcpy(cubin, program->image.data(), program->image.size());
  return 0;
}
// The runtime looks for what the assembler gets wrong there, which isn't what is measured here.
int nvrtcGetPTXSize(Program, size_t *size)
{
  *size = 1;
  return 0;
}
int nvrtcGetPTX(Program, char *text)
{
  *text = 0;
  return 0;
}
int nvrtcGetProgramLogSize(Program program, size_t *size)
{
  *size = program->log.size() + 1;
  return 0;
}
int nvrtcGetProgramLog(Program program, char *log)
{
  memcpy(log, program->log.c_str(), program->log.size() + 1);
  return 0;
}
int nvrtcDestroyProgram(Program *program)
{
  delete *program;
  *program = nullptr;
  return 0;
}
}
