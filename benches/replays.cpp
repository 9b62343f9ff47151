// NVIDIA's driver, for programs whose kernels come in several variants (variants.h, benches/without.cpp): whenever the program launches such a kernel, all
// variants are run and timed first, in turn, each on the same memory as the program's launch has. So they differ in nothing but what was changed in
// them: not in the process, in where its memory lies, in how warm the GPU is, or in what its caches hold. Then the program gets what it asked for, and the
// time that passed meanwhile is taken off what it reads from its events.
//
// It is built as libcuda.so, found by LD_LIBRARY_PATH, and hands everything to the real one (BENCH_CUDA, a path). BENCH_ROUNDS says how often each
// variant runs for each launch (a kernel's first eight; then twice). Of a loop's kernel that has no variants, BENCH_COLD says how often it runs with cold
// caches: behind a copy of other memory that is larger than they are; and BENCH_AGAIN how often it runs again and again, one launch behind the other on
// what the one before has left, as hand-written kernels do in their benchmarks (worth something where nothing is logged: a log would have to be cleared
// in between). BENCH_REPLAYS names a file, which gets a line for each launch of the program's:
//
//   {"kernel": ADDRESS, "blocks": N, "first": PLACE, "ms": {"NAME": [T, ...], ...}}
//
// with as many times of each variant, those at the same place of the same round; or of "cold" and "again". The first place is what the launch begins with
// (struct __pg_launch): not 0 where others of the same entry came before.
//
// BENCH_IN_PLACE has kernels that are written by hand run in the program's place: in its process and on its memory, with cold caches, in turn with its own. It is a file with machine code
// and, for each kernel, behind a space, what its times are called, `=`, and with colons between them its function, its threads, how many arrays the program's kernel has, and arguments. Threads are N for each iteration; or N@A, as
// many for each of argument A, and square@A, one for each element of a matrix of so many rows and columns: where the program's launches count in tiles. Arguments are an array's and a value's number (BASE/VALUE: a pointer), or
// a letter and a value's: V itself, F and E what it comes to behind the launch's first place and its end; or Z: none. The last kernel leaves the same bytes as a launch of the program's, or none is
// timed there: then the numbers are wrong. With BENCH_LOGGED the program's leaves a log besides: all bytes that the last kernel changes are the same.
//
// Another one, of "unchecked" and "checked", for each check that is made ready while the kernel in front of it is under way: it has no time of its own.
//
// Memory that the program has taken from the driver is copied before, and put back in front of each run: behind these copies, the GPU's
// caches hold what was copied last, as they do behind an entry's own copies. A function that the runtime comes to call and that isn't here makes it
// say so at once (tests/bench.rs runs it). No product of Paragon knows of this file.
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include "variants.h"

static size_t number(const char *variable, size_t otherwise)
{
  const char *value = getenv(variable);
  return value != nullptr ? strtoull(value, nullptr, 10) : otherwise;
}

static void *optional(const char *name)
{
  static void *library = dlopen(getenv("BENCH_CUDA") != nullptr ? getenv("BENCH_CUDA") : "", RTLD_NOW);
  return library == nullptr ? nullptr : dlsym(library, name);
}
static void *real(const char *name)
{
  void *function = optional(name);
  if (function == nullptr) {
    fprintf(stderr, "BENCH_CUDA leads to no driver (%s)\n", name);
    exit(2);
  }
  return function;
}
// A function of the driver that is called from here.
#define CALL(name, types, ...) (((int (*) types)real(#name))(__VA_ARGS__))

// What is handed over as it is, whatever its arguments are.
#define HAND_OVER(name)                                                                                                \
  extern "C" __attribute__((visibility("hidden"))) void *real_##name;                                           \
  void *real_##name = real(#name);                                                                                     \
  asm(".globl " #name "\n.type " #name ", @function\n" #name ": jmp *real_" #name "(%rip)\n")
HAND_OVER(cuInit);
HAND_OVER(cuDeviceGet);
HAND_OVER(cuDeviceGetCount);
HAND_OVER(cuDevicePrimaryCtxRetain);
HAND_OVER(cuCtxSetCurrent);
HAND_OVER(cuDeviceGetAttribute);
HAND_OVER(cuDeviceTotalMem_v2);
HAND_OVER(cuStreamCreate);
HAND_OVER(cuStreamQuery);
HAND_OVER(cuStreamSynchronize);
HAND_OVER(cuEventCreate);
HAND_OVER(cuEventQuery);
HAND_OVER(cuMemHostAlloc);
HAND_OVER(cuMemHostGetDevicePointer_v2);
HAND_OVER(cuMemcpyHtoDAsync_v2);
HAND_OVER(cuMemcpyDtoHAsync_v2);
HAND_OVER(cuMemcpyDtoDAsync_v2);
HAND_OVER(cuMemsetD32Async);
HAND_OVER(cuFuncGetAttribute);
HAND_OVER(cuOccupancyMaxActiveBlocksPerMultiprocessor);

// The kernel's names and its functions; and of the memory that the program has, how large it is and where its copy lies.
struct Kernel {
  std::vector<std::string> names;
  std::vector<void *> functions;
  size_t launches = 0;
  // Whether what is written by hand leaves the same bytes, by the launch's blocks and its first place.
  std::map<std::pair<uint64_t, uint64_t>, bool> same;
};
struct Room {
  size_t bytes;
  uint64_t copy;
};
// Bytes that are copied in front of a run at least, so that the GPU is never done before the next launch is there. (The emulated GPU needs none.)
static const size_t LEAST_COPIED = number("BENCH_LEAST_COPIED", 256 << 20);

// After so many launches of a kernel there are fewer rounds for each.
static const size_t MANY = 8, FEW_ROUNDS = 2;

static std::mutex lock;
static std::map<void *, std::vector<std::pair<std::string, void *>>> modules;
static std::map<void *, Kernel> kernels;
static std::map<uint64_t, Room> rooms;
static uint64_t padding;
// Milliseconds that replays have taken so far; and what they were when an event was recorded last.
static double replayed;
static std::map<void *, double> replayed_before;

static void copy(uint64_t to, uint64_t from, size_t bytes, void *stream)
{
  CALL(cuMemcpyDtoDAsync_v2, (uint64_t, uint64_t, size_t, void *), to, from, bytes, stream);
}

// False: there is no memory left for it.
static bool keep_memory(void *stream)
{
  if (padding == 0 && LEAST_COPIED != 0 && CALL(cuMemAlloc_v2, (uint64_t *, size_t), &padding, LEAST_COPIED) != 0)
    return false;
  for (auto &[memory, room] : rooms) {
    if (room.copy == 0 && CALL(cuMemAlloc_v2, (uint64_t *, size_t), &room.copy, room.bytes) != 0)
      return false;
    copy(room.copy, memory, room.bytes, stream);
  }
  return true;
}

static void put_memory_back(void *stream, bool pads)
{
  size_t bytes = 0;
  for (const auto &[_, room] : rooms)
    bytes += room.bytes;
  if (pads && bytes < LEAST_COPIED)
    copy(padding, padding + LEAST_COPIED / 2, std::min(LEAST_COPIED - bytes, LEAST_COPIED / 2), stream);
  for (const auto &[memory, room] : rooms)
    copy(memory, room.copy, room.bytes, stream);
}

// Leaves the GPU's caches without anything of the program's: by the same calls as benches/cuda/unsafe.cu does in front of hand-written kernels, something short for the GPU to
// run behind the copy, which another engine makes, included.
static void cool(void *stream)
{
  if (LEAST_COPIED == 0)
    return;
  copy(padding, padding + LEAST_COPIED / 2, LEAST_COPIED / 2, stream);
  CALL(cuMemsetD32Async, (uint64_t, unsigned, size_t, void *), padding, 0, 1, stream);
}

using Times = std::vector<std::vector<float>>;
static void report(void *function, uint64_t blocks, uint64_t first, const std::vector<std::string> &names, const Times &ms)
{
  FILE *file = ms.empty() || getenv("BENCH_REPLAYS") == nullptr ? nullptr : fopen(getenv("BENCH_REPLAYS"), "a");
  if (file == nullptr)
    return;
  fprintf(file, "{\"kernel\":\"%p\",\"blocks\":%llu,\"first\":%llu,\"ms\":{", function, (unsigned long long)blocks,
          (unsigned long long)first);
  for (size_t which = 0; which < ms.size(); which++) {
    fprintf(file, "%s\"%s\":[", which == 0 ? "" : ",", names[which].c_str());
    for (size_t round = 0; round < ms[which].size(); round++)
      fprintf(file, "%s%.6f", round == 0 ? "" : ",", ms[which][round]);
    fprintf(file, "]");
  }
  fprintf(file, "}}\n");
  fclose(file);
}

// Runs and times what a launch could be, in so many rounds behind some that don't count; `run` is told which of them. Memory is what it was when it was
// kept, in front
// of each or only of the first one, and afterwards. None: the GPU has failed.
enum class Each { BEHIND_COPIES, WITH_COLD_CACHES, BEHIND_THE_OTHER };
template <class Run> static Times replay(size_t count, size_t rounds, size_t ignored, Each each, void *stream, const Run &run)
{
  const bool is_each_alike = each != Each::BEHIND_THE_OTHER;
  static std::vector<void *> events;
  while (events.size() < 2 * count * (rounds + ignored)) {
    events.push_back(nullptr);
    CALL(cuEventCreate, (void **, unsigned), &events.back(), 0);
  }
  const auto of = [&](size_t round, size_t which) { return &events[2 * (round * count + which)]; };
  // Again and again one event is the end of a launch and the beginning of the next, as where hand-written kernels run so: an event takes the GPU about a
  // microsecond.
  const auto ends = [&](size_t round, size_t which) { return is_each_alike || round + 1 == rounds + ignored ? of(round, which)[1] : of(round + 1, which)[0]; };
  for (size_t round = 0; round < rounds + ignored; round++)
    for (size_t turn = 0; turn < count; turn++) {
      // Each has each of the others in front of it.
      const size_t which = round % 2 == 0 ? (turn + round / 2) % count : (2 * count - 1 - turn - round / 2 % count) % count;
      if (is_each_alike || round + turn == 0)
        put_memory_back(stream, each != Each::WITH_COLD_CACHES);
      if (each == Each::WITH_COLD_CACHES)
        cool(stream);
      CALL(cuEventRecord, (void *, void *), of(round, which)[0], stream);
      run(which);
      if (is_each_alike || round + 1 == rounds + ignored)
        CALL(cuEventRecord, (void *, void *), of(round, which)[1], stream);
    }
  put_memory_back(stream, false);
  if (const int status = CALL(cuStreamSynchronize, (void *), stream); status != 0) {
    fprintf(stderr, "replays: error %d\n", status);
    return {};
  }
  Times ms(count);
  for (size_t which = 0; which < count; which++)
    for (size_t round = ignored; round < rounds + ignored; round++) {
      ms[which].push_back(0);
      CALL(cuEventElapsedTime_v2, (float *, void *, void *), &ms[which].back(), of(round, which)[0], ends(round, which));
    }
  return ms;
}

// Takes the time of what is done meanwhile off what events say.
struct Aside {
  const std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();
  ~Aside() { replayed += std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count(); }
};

// A launch, with copies of its arguments: they are known by the driver from 12.4 on (the emulated GPU doesn't know them).
struct Launched {
  void *function;
  std::function<int(void **)> start;
  std::vector<std::string> arguments;
  void run()
  {
    std::vector<void *> parameters;
    for (std::string &argument : arguments)
      parameters.push_back(&argument[0]);
    start(parameters.data());
  }
};
static std::vector<std::string> arguments_of(void *function, void **parameters)
{
  typedef int (*Ask)(void *, size_t, size_t *, size_t *);
  static const Ask ask = (Ask)optional("cuFuncGetParamInfo");
  std::vector<std::string> arguments;
  size_t offset, size;
  while (ask != nullptr && ask(function, arguments.size(), &offset, &size) == 0)
    arguments.emplace_back((const char *)parameters[arguments.size()], size);
  return arguments;
}
// The loop's kernel that was launched last, if its memory was kept in front of it and nothing was launched since.
static Launched last;

// A kernel that is written by hand.
struct ByHand {
  std::string name;
  void *function;
  // For each iteration, or for each of what the argument `counted` says, if that isn't negative; 0: for each element of a matrix of this size.
  unsigned threads;
  int counted;
  unsigned bases;
  std::vector<std::string> arguments;
  // Whether a kernel of the program's has so many arrays and values at hand.
  bool is_for(void *of_program) const
  {
    typedef int (*Ask)(void *, size_t, size_t *, size_t *);
    const Ask ask = (Ask)optional("cuFuncGetParamInfo");
    size_t words = bases, offset, size;
    for (const std::string &argument : arguments) {
      const char *const value = argument.find('/') != std::string::npos ? strchr(argument.c_str(), '/') + 1 : argument.c_str() + 1;
      words = std::max<size_t>(words, bases + 1 + (*value != 0 ? atoi(value) : 0));
    }
    return ask != nullptr && ask(of_program, 1, &offset, &size) == 0 && size >= words * sizeof(uint64_t);
  }
  // Launches it for the iterations of the program's launch.
  void run(void **program, void *stream) const
  {
    const uint64_t *const launch = (const uint64_t *)program[0], *const moved = (const uint64_t *)program[1], *const values = moved + bases;
    std::vector<uint64_t> words;
    for (const std::string &argument : arguments) {
      unsigned array = 0, value = 0;
      if (sscanf(argument.c_str(), "%u/%u", &array, &value) == 2)
        words.push_back(moved[array] + values[value]);
      else if (argument == "Z")
        words.push_back(0);
      else
        words.push_back((argument[0] == 'V' ? 0 : launch[argument[0] == 'E']) + values[atoi(argument.c_str() + 1)]);
    }
    std::vector<void *> parameters;
    for (uint64_t &word : words)
      parameters.push_back(&word);
    // Blocks as benches/cuda/unsafe.cu has them.
    const unsigned block = 256, width = 32, height = 8;
    const uint64_t count = counted < 0 ? launch[1] - launch[0] : words.at((size_t)counted);
    const auto blocks = [](uint64_t threads, unsigned block) { return (unsigned)((threads + block - 1) / block); };
    const bool square = threads == 0;
    CALL(cuLaunchKernel, (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **), function,
         square ? blocks(count, width) : blocks(count * threads, block), square ? blocks(count, height) : 1, 1, square ? width : block,
         square ? height : 1, 1, 0, stream, parameters.data(), nullptr);
  }
};
static std::vector<std::string> parts_of(const std::string &text, char between)
{
  std::vector<std::string> parts(1);
  for (const char c : text)
    if (c == between)
      parts.emplace_back();
    else
      parts.back().push_back(c);
  return parts;
}
static std::vector<ByHand> read_by_hand()
{
  std::vector<ByHand> all;
  const std::vector<std::string> words = parts_of(getenv("BENCH_IN_PLACE") != nullptr ? getenv("BENCH_IN_PLACE") : "", ' ');
  FILE *const file = fopen(words[0].c_str(), "rb");
  if (file == nullptr)
    return all;
  std::string code;
  for (int c; (c = fgetc(file)) != EOF;)
    code.push_back((char)c);
  fclose(file);
  void *module;
  if (CALL(cuModuleLoadData, (void **, const void *), &module, code.data()) != 0) {
    fprintf(stderr, "replays: no machine code in %s\n", words[0].c_str());
    return all;
  }
  for (size_t which = 1; which < words.size(); which++) {
    const size_t behind_name = words[which].find('=');
    const std::vector<std::string> parts = parts_of(words[which].substr(behind_name + 1), ':');
    ByHand kernel = {words[which].substr(0, behind_name), nullptr, 0, -1, 0, {}};
    if (parts.size() != 4 || CALL(cuModuleGetFunction, (void **, void *, const char *), &kernel.function, module, parts[0].c_str()) != 0) {
      fprintf(stderr, "replays: no kernel by hand: %s\n", words[which].c_str());
      return {};
    }
    kernel.threads = (unsigned)atoi(parts[1].c_str());
    if (const size_t at = parts[1].find('@'); at != std::string::npos)
      kernel.counted = atoi(parts[1].c_str() + at + 1);
    kernel.bases = (unsigned)atoi(parts[2].c_str());
    kernel.arguments = parts_of(parts[3], ',');
    // As benches/cuda/unsafe.cu does: shared memory for three blocks, the rest for what is gathered.
    int shared = 0, all_shared = 1;
    CALL(cuFuncGetAttribute, (int *, int, void *), &shared, 1, kernel.function);
    CALL(cuDeviceGetAttribute, (int *, int, int), &all_shared, 81, 0);
    if (shared != 0)
      CALL(cuFuncSetAttribute, (void *, int, int), kernel.function, 9, (shared + 1024) * 3 * 100 / all_shared + 1);
    all.push_back(kernel);
  }
  return all;
}
static std::vector<ByHand> &by_hand()
{
  static std::vector<ByHand> all = read_by_hand();
  return all;
}
// What the program's memory holds, in a buffer that stays: fresh memory costs the host more than the copy.
static void hold(std::string &bytes, void *stream)
{
  size_t size = 0;
  for (const auto &[memory, room] : rooms)
    size += room.bytes;
  bytes.resize(size);
  size = 0;
  for (const auto &[memory, room] : rooms) {
    CALL(cuMemcpyDtoHAsync_v2, (void *, uint64_t, size_t, void *), &bytes[size], memory, room.bytes, stream);
    size += room.bytes;
  }
  CALL(cuStreamSynchronize, (void *), stream);
}
template <class Run> static void left_by(std::string &bytes, void *stream, const Run &run)
{
  put_memory_back(stream, false);
  run();
  hold(bytes, stream);
  put_memory_back(stream, false);
}
// Whether a kernel that is written by hand leaves what the program's does, but for its log.
template <class Own, class Other> static bool leave_the_same(void *stream, const Own &own, const Other &other)
{
  static std::string before, by_own, by_other;
  left_by(by_own, stream, own);
  left_by(by_other, stream, other);
  if (getenv("BENCH_LOGGED") == nullptr)
    return by_own == by_other;
  hold(before, stream);
  // Logs are many times as large as what they log: whole pages are equal. (All of them are where there is nothing to change, as in fwd's first level: that a
  // kernel does anything is seen without a log, where the bytes are the same altogether.)
  const size_t page = 4096;
  for (size_t at = 0; at < before.size(); at += page) {
    const size_t end = std::min(before.size(), at + page);
    if (memcmp(&by_other[at], &before[at], end - at) == 0)
      continue;
    for (size_t i = at; i < end; i++)
      if (by_other[i] != before[i] && by_other[i] != by_own[i])
        return false;
  }
  return true;
}

// In front of a loop's kernel: all of its variants, or it with cold caches, and again and again.
template <class Start>
static void before_launch(void *function, uint64_t blocks, Kernel &kernel, void *stream, void **parameters, const Start &start)
{
  static const size_t all_rounds = number("BENCH_ROUNDS", 0), cold = number("BENCH_COLD", 0), again = number("BENCH_AGAIN", 0);
  const bool has_variants = kernel.functions.size() > 1;
  if ((has_variants ? all_rounds : cold + again) == 0)
    return;
  const size_t rounds = kernel.launches++ < MANY ? all_rounds : std::min(all_rounds, FEW_ROUNDS);
  CALL(cuStreamSynchronize, (void *), stream);
  const Aside aside;
  if (!keep_memory(stream)) {
    fprintf(stderr, "replays: no memory for copies\n");
    return;
  }
  // What a function takes the first time that it is launched is no part of it.
  const size_t ignored = has_variants && kernel.launches > 1 ? 0 : 1;
  const auto run = [&](size_t which) { start(kernel.functions[which], parameters); };
  uint64_t first;
  memcpy(&first, parameters[0], sizeof first);
  if (!has_variants) {
    std::vector<std::string> names;
    Times ms;
    const auto add = [&](const char *name, size_t rounds, Each each) {
      const Times its = rounds == 0 ? Times() : replay(1, rounds, ignored, each, stream, run);
      if (!its.empty()) {
        names.push_back(name);
        ms.push_back(its[0]);
      }
    };
    add("cold", cold, Each::WITH_COLD_CACHES);
    if (cold != 0 && !by_hand().empty() && by_hand()[0].is_for(function)) {
      const auto run_one = [&](size_t which) { which == 0 ? run(0) : by_hand()[which - 1].run(parameters, stream); };
      const size_t last_one = by_hand().size();
      // To see it takes as long as hundreds of runs: once for each of the launches that an entry has.
      const auto [known, is_new] = kernel.same.try_emplace({blocks, first}, false);
      if (is_new)
        known->second = leave_the_same(stream, [&] { run_one(0); }, [&] { run_one(last_one); });
      if (!known->second) {
        // Or this is a part of the iterations, and a kernel that knows all of them only.
        fprintf(stderr, "replays: %s leaves other bytes than the program's kernel\n", by_hand().back().name.c_str());
      } else {
        const Times its = replay(last_one + 1, cold, ignored, Each::WITH_COLD_CACHES, stream, run_one);
        for (size_t which = 0; which < its.size(); which++) {
          names.push_back(which == 0 ? "in_place" : by_hand()[which - 1].name);
          ms.push_back(its[which]);
        }
      }
    }
    add("again", again, Each::BEHIND_THE_OTHER);
    report(function, blocks, first, names, ms);
  } else
    report(function, blocks, first, kernel.names, replay(kernel.names.size(), rounds, ignored, Each::BEHIND_COPIES, stream, run));
  if (has_variants || cold != 0)
    last = {function, [=](void **parameters) { return start(function, parameters); }, arguments_of(function, parameters)};
}
// In front of what is made ready while a loop's kernel is under way, the check of a short log: the kernel without and with it. Then the kernel once more.
template <class Start> static void before_early_launch(void *function, void *stream, const Start &start)
{
  if (last.arguments.empty())
    return;
  const Aside aside;
  CALL(cuStreamSynchronize, (void *), stream);
  const Kernel &kernel = kernels[last.function];
  const bool has_variants = kernel.functions.size() > 1;
  const size_t rounds = !has_variants ? number("BENCH_COLD", 0) : kernel.launches > MANY ? FEW_ROUNDS : number("BENCH_ROUNDS", 0);
  const Each each = has_variants ? Each::BEHIND_COPIES : Each::WITH_COLD_CACHES;
  const Times ms = replay(2, rounds, 1, each, stream, [&](size_t which) {
    last.run();
    if (which == 1)
      start();
  });
  report(function, 0, 0, {"unchecked", "checked"}, ms);
  last.run();
}

extern "C" {
int cuModuleLoadData(void **module, const void *image)
{
  const Variants variants = unpacked(image);
  if (variants.empty())
    return CALL(cuModuleLoadData, (void **, const void *), module, image);
  std::vector<std::pair<std::string, void *>> loaded;
  for (const auto &[name, code] : variants) {
    loaded.emplace_back(name, nullptr);
    if (const int status = CALL(cuModuleLoadData, (void **, const void *), &loaded.back().second, code.c_str()); status != 0)
      return status;
  }
  std::lock_guard<std::mutex> guard(lock);
  *module = loaded[0].second;
  modules[*module] = loaded;
  return 0;
}
int cuModuleGetFunction(void **function, void *module, const char *name)
{
  std::lock_guard<std::mutex> guard(lock);
  const auto found = modules.find(module);
  if (found == modules.end()) {
    const int status = CALL(cuModuleGetFunction, (void **, void *, const char *), function, module, name);
    if (status == 0 && strcmp(name, "__pg_kernel") == 0)
      kernels[*function] = {{"itself"}, {*function}, 0, {}};
    return status;
  }
  Kernel kernel = {};
  for (const auto &[variant, its_module] : found->second) {
    kernel.names.push_back(variant);
    kernel.functions.push_back(nullptr);
    if (const int status = CALL(cuModuleGetFunction, (void **, void *, const char *), &kernel.functions.back(), its_module, name); status != 0)
      return status;
  }
  *function = kernel.functions[0];
  kernels[*function] = kernel;
  return 0;
}
int cuFuncSetAttribute(void *function, int attribute, int value)
{
  std::lock_guard<std::mutex> guard(lock);
  const auto found = kernels.find(function);
  for (size_t which = 1; found != kernels.end() && which < found->second.functions.size(); which++)
    CALL(cuFuncSetAttribute, (void *, int, int), found->second.functions[which], attribute, value);
  return CALL(cuFuncSetAttribute, (void *, int, int), function, attribute, value);
}
int cuMemAlloc_v2(uint64_t *memory, size_t bytes)
{
  std::lock_guard<std::mutex> guard(lock);
  const int status = CALL(cuMemAlloc_v2, (uint64_t *, size_t), memory, bytes);
  if (status == 0)
    rooms[*memory] = {bytes, 0};
  return status;
}
int cuMemFree_v2(uint64_t memory)
{
  std::lock_guard<std::mutex> guard(lock);
  if (rooms[memory].copy != 0)
    CALL(cuMemFree_v2, (uint64_t), rooms[memory].copy);
  rooms.erase(memory);
  return CALL(cuMemFree_v2, (uint64_t), memory);
}
int cuEventRecord(void *event, void *stream)
{
  std::lock_guard<std::mutex> guard(lock);
  replayed_before[event] = replayed;
  return CALL(cuEventRecord, (void *, void *), event, stream);
}
int cuEventElapsedTime_v2(float *ms, void *from, void *to)
{
  std::lock_guard<std::mutex> guard(lock);
  const int status = CALL(cuEventElapsedTime_v2, (float *, void *, void *), ms, from, to);
  *ms = std::max(0.0f, *ms - (float)(replayed_before[to] - replayed_before[from]));
  return status;
}
int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned x, unsigned y, unsigned z, unsigned shared,
                   void *stream, void **parameters, void **)
{
  std::lock_guard<std::mutex> guard(lock);
  const auto start = [=](void *which, void **parameters) {
    return CALL(cuLaunchKernel,
                (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **), which, grid_x,
                grid_y, grid_z, x, y, z, shared, stream, parameters, nullptr);
  };
  last.arguments.clear();
  if (const auto found = kernels.find(function); found != kernels.end())
    before_launch(function, (uint64_t)grid_x * grid_y * grid_z, found->second, stream, parameters, start);
  return start(function, parameters);
}
// As the driver has it: dimensions and shared memory, the stream, and more.
struct Configuration {
  unsigned dimensions[7];
  void *stream;
};
int cuLaunchKernelEx(const Configuration *how, void *function, void **parameters, void **)
{
  std::lock_guard<std::mutex> guard(lock);
  const auto start = [&] { return CALL(cuLaunchKernelEx, (const Configuration *, void *, void **, void **), how, function, parameters, nullptr); };
  before_early_launch(function, how->stream, start);
  last.arguments.clear();
  return start();
}
}
