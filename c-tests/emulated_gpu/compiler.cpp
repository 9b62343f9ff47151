// NVIDIA's run-time compiler, as far as the runtime knows it, that makes shared objects for driver.cpp with the C++ compiler that the
// environment names (EMULATED_CXX). It is built as libnvrtc.so.13. EMULATED_FOLDER is where the objects go: their names are the machine
// code that it gives, so they have to stay there. EMULATED_MUTATION, where it is set, is what sed does to each kernel's text first: so kernels
// can be broken without anything being built anew (scripts/mutation-hunt).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <chrono>
#include <string>

// CUDA C++ as C++. Nothing of C++'s library: its headers took three quarters of a kernel's compilation. As in CUDA, a float chooses
// libm's function for floats.
static const char *const LANGUAGE = R"(
#include <stddef.h>
#define __EMULATED_OF_ONE(name) extern "C" { double name(double); float name##f(float); } inline float name(float x) { return name##f(x); }
#define __EMULATED_OF_TWO(name) extern "C" { double name(double, double); float name##f(float, float); } \
  inline float name(float x, float y) { return name##f(x, y); }
__EMULATED_OF_ONE(sqrt) __EMULATED_OF_ONE(fabs) __EMULATED_OF_ONE(floor) __EMULATED_OF_ONE(ceil) __EMULATED_OF_ONE(trunc)
__EMULATED_OF_ONE(round) __EMULATED_OF_ONE(rint) __EMULATED_OF_ONE(nearbyint) __EMULATED_OF_ONE(cbrt) __EMULATED_OF_ONE(exp)
__EMULATED_OF_ONE(exp2) __EMULATED_OF_ONE(expm1) __EMULATED_OF_ONE(log) __EMULATED_OF_ONE(log2) __EMULATED_OF_ONE(log10)
__EMULATED_OF_ONE(log1p) __EMULATED_OF_ONE(sin) __EMULATED_OF_ONE(cos) __EMULATED_OF_ONE(tan) __EMULATED_OF_ONE(asin)
__EMULATED_OF_ONE(acos) __EMULATED_OF_ONE(atan) __EMULATED_OF_ONE(sinh) __EMULATED_OF_ONE(cosh) __EMULATED_OF_ONE(tanh)
__EMULATED_OF_ONE(asinh) __EMULATED_OF_ONE(acosh) __EMULATED_OF_ONE(atanh) __EMULATED_OF_ONE(erf) __EMULATED_OF_ONE(erfc)
__EMULATED_OF_ONE(tgamma) __EMULATED_OF_ONE(lgamma) __EMULATED_OF_TWO(copysign) __EMULATED_OF_TWO(pow) __EMULATED_OF_TWO(atan2)
__EMULATED_OF_TWO(fmod) __EMULATED_OF_TWO(hypot) __EMULATED_OF_TWO(fmin) __EMULATED_OF_TWO(fmax) __EMULATED_OF_TWO(fdim)
__EMULATED_OF_TWO(remainder)
#define __CUDACC_RTC__ 1
#define __CUDA_ARCH__ 900
#define __global__
#define __device__
#define __forceinline__ inline
#define __shared__ static
#define __align__(n) __attribute__((aligned(n)))
#define __grid_constant__
#define __launch_bounds__(...)
struct __emulated_dimensions { unsigned x, y, z; };
extern "C" { __emulated_dimensions threadIdx, blockIdx, blockDim, gridDim; }
template <class T> static inline T __ldg(const T *p) { return *p; }
#define __PG_ONCE_64(p) (*(const __pg_u64 *)(p))
#define __PG_ONCE_32(p) (*(const __pg_u32 *)(p))
extern "C" { unsigned *__emulated_room; }
/* What a kernel must not ask for: no number that would do. */
#define __PG_NOT_GIVEN(number) (number) = 0x7777777777777777;
#define __PG_ROOM_OF_SLOTS __emulated_room
#define __PG_AS_IT_IS(number)
#define __PG_AS_IT_IS_32(number)
#define __PG_WIDEN(least, most, number, is_due) \
  if (is_due) { (least) = (number) < (least) ? (number) : (least); (most) = (number) > (most) ? (number) : (most); }
#define __PG_ANYTHING(number) (number) = 0
static inline size_t __cvta_generic_to_global(const void *p) { return (size_t)p; }
static inline void *__cvta_global_to_generic(size_t p) { return (void *)p; }
/* What warps.h answers. Its numbers are those of enum Question. */
extern "C" { unsigned long long (*__emulated_ask)(int question, unsigned asked, unsigned long long value, int from); }
template <class T> static inline T __emulated_shuffle(int question, unsigned asked, T value, int from)
{
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, &value, sizeof value);
  bits = __emulated_ask(question, asked, bits, from);
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}
template <class T> static inline T __shfl_sync(unsigned asked, T value, int from) { return __emulated_shuffle(2, asked, value, from); }
template <class T> static inline T __shfl_down_sync(unsigned asked, T value, int by) { return __emulated_shuffle(3, asked, value, by); }
static inline unsigned __ballot_sync(unsigned asked, bool holds) { return (unsigned)__emulated_ask(4, asked, holds, 0); }
static inline int __any_sync(unsigned asked, bool holds) { return __ballot_sync(asked, holds) != 0; }
static inline void __syncthreads() { __emulated_ask(8, 0, 0, 0); }
static inline int __syncthreads_or(int holds) { return (int)__emulated_ask(9, 0, holds != 0, 0); }
static inline void __syncwarp(unsigned asked = ~0u) { __emulated_ask(1, asked, 0, 0); }
static inline unsigned __activemask() { return (unsigned)__emulated_ask(0, 0, 0, 0); }
static inline unsigned __match_any_sync(unsigned asked, unsigned long long value) { return (unsigned)__emulated_ask(5, asked, value, 0); }
static inline unsigned __match_all_sync(unsigned asked, unsigned long long value, int *same)
{
  *same = (unsigned)__emulated_ask(5, asked, value, 0) == asked;
  return *same ? asked : 0;
}
static inline unsigned __reduce_or_sync(unsigned asked, unsigned value) { return (unsigned)__emulated_ask(6, asked, value, 0); }
static inline unsigned __reduce_add_sync(unsigned asked, unsigned value) { return (unsigned)__emulated_ask(7, asked, value, 0); }
static inline unsigned __reduce_max_sync(unsigned asked, unsigned value) { return (unsigned)__emulated_ask(10, asked, value, 0); }
static inline unsigned __reduce_and_sync(unsigned asked, unsigned value) { return ~__reduce_or_sync(asked, ~value); }
static inline unsigned __reduce_xor_sync(unsigned asked, unsigned value) { return (unsigned)__emulated_ask(11, asked, value, 0); }
#define __PG_AWAIT_LAUNCH __emulated_ask(12, 0, 0, 0);
static inline int __clz(unsigned value) { return value == 0 ? 32 : __builtin_clz(value); }
static inline int __popc(unsigned value) { return __builtin_popcount(value); }
static inline int __ffs(unsigned value) { return __builtin_ffs(value); }
static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
template <class T> static inline T atomicCAS(T *p, T old, T value)
{
  T seen = *p;
  if (seen == old)
    *p = value;
  return seen;
}
template <class T> static inline T atomicOr(T *p, T value) { T seen = *p; *p |= value; return seen; }
template <class T> static inline T atomicAdd(T *p, T value) { T seen = *p; *p += value; return seen; }
template <class T> static inline T atomicMax(T *p, T value) { T seen = *p; *p = seen < value ? value : seen; return seen; }
template <class T> static inline T atomicMin(T *p, T value) { T seen = *p; *p = seen < value ? seen : value; return seen; }
template <class T> static inline T atomicAnd(T *p, T value) { T seen = *p; *p &= value; return seen; }
template <class T> static inline T atomicXor(T *p, T value) { T seen = *p; *p ^= value; return seen; }
static inline unsigned atomicCAS(unsigned *p, int old, unsigned value) { return atomicCAS(p, (unsigned)old, value); }
struct uint2 { unsigned x, y; };
struct uint4 { unsigned x, y, z, w; };
#line 1 "loop.cu"
)";

// A kernel by its parameters' addresses: they are copied when it is launched.
static const char *const ENTRY = R"(
template <class... A> struct __emulated_parameters {
  explicit __emulated_parameters(void **) {}
  template <class Kernel, class... Before> void run(Kernel kernel, const Before &...before) const { kernel(before...); }
  static void *operator new(size_t bytes) { return __builtin_malloc(bytes); }
  static void operator delete(void *room) { __builtin_free(room); }
};
template <class First, class... Rest> struct __emulated_parameters<First, Rest...> {
  First first;
  __emulated_parameters<Rest...> rest;
  explicit __emulated_parameters(void **parameters) : first(*(First *)parameters[0]), rest(parameters + 1) {}
  template <class Kernel, class... Before> void run(Kernel kernel, const Before &...before) const { rest.run(kernel, before..., first); }
  static void *operator new(size_t bytes) { return __builtin_malloc(bytes); }
  static void operator delete(void *room) { __builtin_free(room); }
};
template <class... A> __emulated_parameters<A...> __emulated_held_by(void (*)(A...));
extern "C" {
typedef decltype(__emulated_held_by(__EMULATED_KERNEL)) __emulated_held;
void *__emulated_hold(void **parameters) { return new __emulated_held(parameters); }
void __emulated_run(void *held) { ((const __emulated_held *)held)->run(__EMULATED_KERNEL); }
void __emulated_drop(void *held) { delete (__emulated_held *)held; }
}
)";

struct Program {
  std::string source, object, log;
};

static void note_work(const char *what)
{
  if (const char *path = getenv("EMULATED_WORK"); path != nullptr && *path != 0)
    if (FILE *file = fopen(path, "a"); file != nullptr) {
      const std::chrono::duration<double, std::milli> now = std::chrono::steady_clock::now().time_since_epoch();
      fprintf(file, "%.1f %s\n", now.count(), what);
      fclose(file);
    }
}

extern "C" {
int nvrtcVersion(int *major, int *minor)
{
  *major = 13;
  *minor = 0;
  return 0;
}
int nvrtcCreateProgram(Program **program, const char *source, const char *, int, const char *const *, const char *const *)
{
  *program = new Program{source, "", ""};
  return 0;
}
int nvrtcCompileProgram(Program *program, int count, const char *const *options)
{
  const char *compiler = getenv("EMULATED_CXX"), *folder = getenv("EMULATED_FOLDER");
  if (compiler == nullptr || folder == nullptr) {
    program->log = "EMULATED_CXX and EMULATED_FOLDER say nothing";
    return 5;
  }
  std::string name = std::string(folder) + "/kernel.XXXXXX";
  int file = mkstemp(&name[0]);
  if (file < 0)
    return 5;
  close(file);
  note_work("compiles");
  std::string source = name + ".cpp";
  const char *kernel = "__pg_kernel";
  for (const char *other : {"__pg_check", "__pg_store", "__pg_fill", "__pg_close"})
    if (program->source.find(std::string("__global__ void ") + other + "(") != std::string::npos)
      kernel = other;
  if (FILE *out = fopen(source.c_str(), "w")) {
    // What blocks share would else be one for all kernels of a process, as large as the first of them has it.
    fprintf(out,
            "%s#pragma GCC visibility push(hidden)\n%s\n#pragma GCC visibility pop\n#define __EMULATED_KERNEL %s\n%s",
            LANGUAGE, program->source.c_str(), kernel, ENTRY);
    fclose(out);
  }
  std::string command;
  if (const char *mutation = getenv("EMULATED_MUTATION"); mutation != nullptr && *mutation != 0)
    command = "sed -E -i -e \"$EMULATED_MUTATION\" '" + source + "' && ";
  command += std::string(compiler) + " -std=c++17 -O1 -w -fno-strict-aliasing -fwrapv -ffp-contract=off -fno-exceptions -fPIC -shared";
  for (int i = 0; i < count; i++)
    if (strncmp(options[i], "-D", 2) == 0)
      command += std::string(" '") + options[i] + "'";
  command += " -o '" + name + ".so' '" + source + "' -nodefaultlibs -Wl,-z,defs -lm -lc -lgcc 2>'" + name + ".log'";
  // The program's own libraries are not the compiler's.
  int status = system(("unset LD_LIBRARY_PATH LD_PRELOAD; " + command).c_str());
  if (FILE *log = fopen((name + ".log").c_str(), "r")) {
    char line[512];
    while (program->log.size() < 4000 && fgets(line, sizeof line, log) != nullptr)
      program->log += line;
    fclose(log);
  }
  program->object = name + ".so";
  note_work("compiled");
  return status == 0 ? 0 : 6;
}
int nvrtcGetCUBINSize(Program *program, size_t *size)
{
  *size = program->object.size() + 1;
  return 0;
}
int nvrtcGetCUBIN(Program *program, char *image)
{
  memcpy(image, program->object.c_str(), program->object.size() + 1);
  return 0;
}
// No assembler comes behind it that could get anything wrong.
int nvrtcGetPTXSize(Program *, size_t *size)
{
  *size = 1;
  return 0;
}
int nvrtcGetPTX(Program *, char *text)
{
  *text = 0;
  return 0;
}
int nvrtcGetProgramLogSize(Program *program, size_t *size)
{
  *size = program->log.size() + 1;
  return 0;
}
int nvrtcGetProgramLog(Program *program, char *log)
{
  memcpy(log, program->log.c_str(), program->log.size() + 1);
  return 0;
}
int nvrtcDestroyProgram(Program **program)
{
  delete *program;
  *program = nullptr;
  return 0;
}
}
