// A GPU that is none: what the runtime asks of CUDA's driver, carried out by the processor, one warp after the other (warps.h). So the
// very kernels that a GPU runs are tested where no GPU is, and everything around them: copies, tables, tiles, groups of iterations,
// lanes that exchange values.
//
// It is built as libcuda.so. Its machine code is the name of a shared object, which compiler.cpp makes. What a stream is asked to do,
// a thread of its own does later, in order, so whoever forgets to wait gets what was there before. What it does not do: blocks
// of a kernel at the same time (nothing of ours waits for another block). Every allocation ends where memory does that nobody may touch, and begins
// with bytes that are no zeros: reading what was never copied, or beyond the end, shows. EMULATED_HOOK, where it is set, is the address of a
// function of the program's own, which is called whenever somebody asks whether an event was reached: so what another thread of the
// program might do while a loop is copied happens at that very moment, every time.
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>
#include "warps.h"

struct Dimensions {
  unsigned x, y, z;
};
struct Kernel {
  // Its parameters, copied; one thread of it; and the end of the copy.
  void *(*hold)(void **parameters);
  void (*run)(void *held);
  void (*drop)(void *held);
  Dimensions *thread, *block, *block_size, *grid_size;
  // Where it finds the memory that a block's threads share, if launches say how large it is; and the most that they may ask for.
  void **room;
  int most_room = 48 << 10;
};
struct Thread {
  const Kernel &kernel;
  void *held;
};
enum { SUCCESS = 0, INVALID = 1, NO_MEMORY = 2, NOT_FOUND = 500, NOT_READY = 600, LAUNCH_FAILED = 719 };

static const size_t PAGE = 4096;
struct Room {
  void *start;
  size_t length;
};

static std::atomic<bool> is_dead{false};

// A stream, and the thread that works for it. None is ever taken down: the thread may be at work when the process ends.
struct Stream {
  std::mutex lock;
  std::condition_variable changed;
  std::deque<std::function<void()>> work;
  // A launch that another one may begin before: it is known with the next thing that the stream is asked.
  std::function<void()> last;
  bool at_work = false;

  Stream()
  {
    std::thread([this] { serve(); }).detach();
  }
  void serve()
  {
    std::unique_lock<std::mutex> guard(lock);
    for (;;) {
      changed.wait(guard, [this] { return !work.empty(); });
      std::function<void()> next = std::move(work.front());
      work.pop_front();
      at_work = true;
      guard.unlock();
      if (!is_dead)
        next();
      guard.lock();
      at_work = false;
      changed.notify_all();
    }
  }
  void pass()
  {
    if (last != nullptr)
      work.push_back(std::exchange(last, nullptr));
    changed.notify_all();
  }
  void add(std::function<void()> what)
  {
    std::lock_guard<std::mutex> guard(lock);
    pass();
    work.push_back(std::move(what));
  }
  void launch(std::function<void()> what, bool is_early)
  {
    std::lock_guard<std::mutex> guard(lock);
    if (is_early && last != nullptr) {
      work.push_back([before = std::exchange(last, nullptr), what] { Block::run_early(before, what); });
      changed.notify_all();
    } else {
      pass();
      last = std::move(what);
    }
  }
  bool is_idle()
  {
    std::lock_guard<std::mutex> guard(lock);
    pass();
    return work.empty() && !at_work;
  }
  void wait()
  {
    std::unique_lock<std::mutex> guard(lock);
    pass();
    changed.wait(guard, [this] { return work.empty() && !at_work; });
  }
};
static Stream &of(void *stream) { return *(Stream *)stream; }

// With EMULATED_OPENING it takes so many milliseconds to start, with EMULATED_CONTEXT so many more until there is a context; EMULATED_OPENED is a file that gets
// a line each time that it is started.
// With EMULATED_WORK, a file, it is noted there, with milliseconds in front, when there is a context, and when a kernel is loaded; the compiler notes there when
// it begins, and when it has ended.
// With EMULATED_MEMORY there is no more of it than so many bytes.
// With EMULATED_CALLS, a file, what streams are asked to do is noted there, in order: what an entry costs are such calls, most of all.
static void note(const char *call, size_t bytes = 0)
{
  static FILE *const file = getenv("EMULATED_CALLS") ? fopen(getenv("EMULATED_CALLS"), "a") : nullptr;
  if (file != nullptr) {
    fprintf(file, "%s %zu\n", call, bytes);
    fflush(file);
  }
}

static void note_work(const char *what)
{
  if (const char *path = getenv("EMULATED_WORK"); path != nullptr && *path != 0)
    if (FILE *file = fopen(path, "a"); file != nullptr) {
      const std::chrono::duration<double, std::milli> now = std::chrono::steady_clock::now().time_since_epoch();
      fprintf(file, "%.1f %s\n", now.count(), what);
      fclose(file);
    }
}

// Kernels that have been compiled, by that file.
static int compiled()
{
  int count = 0;
  const char *path = getenv("EMULATED_WORK");
  if (FILE *file = path != nullptr ? fopen(path, "r") : nullptr; file != nullptr) {
    char line[64];
    while (fgets(line, sizeof line, file) != nullptr)
      count += strstr(line, "compiled") != nullptr;
    fclose(file);
  }
  return count;
}

// With EMULATED_DIES it does so many things that streams are asked for, and is dead from then on: nothing is done any more, and each call that has to do with
// a stream says that the context is gone, as a driver's does.
static bool dies()
{
  static const char *const after = getenv("EMULATED_DIES");
  static std::atomic<long> asked{0};
  if (after != nullptr && asked++ >= atol(after))
    is_dead = true;
  return is_dead;
}

// Events may be of any stream.
static std::mutex &events_lock = *new std::mutex;
static std::map<uint64_t, Room> &rooms = *new std::map<uint64_t, Room>;
static std::vector<Stream *> &streams = *new std::vector<Stream *>;

struct Event {
  // Records that the stream has not reached yet.
  int outstanding = 0;
  std::chrono::steady_clock::time_point reached;
};

extern "C" {
int cuInit(unsigned)
{
  if (const char *path = getenv("EMULATED_OPENED"); path != nullptr && *path != 0)
    if (FILE *file = fopen(path, "a"); file != nullptr) {
      fputs("opened\n", file);
      fclose(file);
    }
  if (const char *milliseconds = getenv("EMULATED_OPENING"); milliseconds != nullptr)
    std::this_thread::sleep_for(std::chrono::milliseconds(atoi(milliseconds)));
  return SUCCESS;
}
// How many there are (EMULATED_DEVICES; one), all the same; which one is asked for is told in a file (EMULATED_CHOSEN).
int cuDeviceGetCount(int *count)
{
  const char *devices = getenv("EMULATED_DEVICES");
  *count = devices != nullptr ? atoi(devices) : 1;
  return SUCCESS;
}
int cuDeviceGet(int *device, int number)
{
  if (const char *path = getenv("EMULATED_CHOSEN"); path != nullptr && *path != 0)
    if (FILE *file = fopen(path, "a"); file != nullptr) {
      fprintf(file, "%d\n", number);
      fclose(file);
    }
  *device = 0;
  return SUCCESS;
}
int cuDevicePrimaryCtxRetain(void **context, int)
{
  if (const char *milliseconds = getenv("EMULATED_CONTEXT"); milliseconds != nullptr) {
    const char *kernels = getenv("EMULATED_AWAITS");
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(atoi(milliseconds));
    while (std::chrono::steady_clock::now() < until && (kernels == nullptr || compiled() < atoi(kernels)))
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  note_work("context");
  *context = &rooms;
  return SUCCESS;
}
int cuCtxSetCurrent(void *) { return SUCCESS; }
int cuDeviceGetAttribute(int *value, int attribute, int)
{
  switch (attribute) {
  case 16: *value = 2; break; // processors
  case 75: *value = 9; break; // compute capability
  case 76: *value = 0; break;
  case 81: *value = 233472; break; // bytes of shared memory
  case 97: *value = 232448; break; // of a block that asks for it
  default: return INVALID;
  }
  return SUCCESS;
}
int cuDeviceTotalMem_v2(size_t *bytes, int)
{
  *bytes = (size_t)1 << 30;
  return SUCCESS;
}
int cuStreamCreate(void **created, unsigned)
{
  streams.push_back(new Stream);
  *created = streams.back();
  return SUCCESS;
}
int cuStreamQuery(void *stream) { return is_dead ? LAUNCH_FAILED : of(stream).is_idle() ? SUCCESS : NOT_READY; }
int cuStreamSynchronize(void *stream)
{
  of(stream).wait();
  return is_dead ? LAUNCH_FAILED : SUCCESS;
}
int cuEventCreate(Event **event, unsigned)
{
  *event = new Event;
  return SUCCESS;
}
int cuEventRecord(Event *event, void *stream)
{
  note("cuEventRecord");
  if (dies())
    return LAUNCH_FAILED;
  {
    std::lock_guard<std::mutex> guard(events_lock);
    event->outstanding++;
  }
  of(stream).add([event] {
    std::lock_guard<std::mutex> guard(events_lock);
    event->outstanding--;
    event->reached = std::chrono::steady_clock::now();
  });
  return SUCCESS;
}
int cuEventQuery(Event *event)
{
  if (const char *address = getenv("EMULATED_HOOK"))
    ((void (*)())strtoull(address, nullptr, 16))();
  if (is_dead)
    return LAUNCH_FAILED;
  std::lock_guard<std::mutex> guard(events_lock);
  return event->outstanding == 0 ? SUCCESS : NOT_READY;
}
int cuEventElapsedTime_v2(float *milliseconds, Event *from, Event *to)
{
  std::lock_guard<std::mutex> guard(events_lock);
  if (from->outstanding != 0 || to->outstanding != 0)
    return NOT_READY;
  *milliseconds = std::chrono::duration<float, std::milli>(to->reached - from->reached).count();
  return SUCCESS;
}
int cuMemHostAlloc(void **pointer, size_t bytes, unsigned)
{
  *pointer = calloc(1, bytes);
  return *pointer != nullptr ? SUCCESS : NO_MEMORY;
}
int cuMemHostGetDevicePointer_v2(uint64_t *address, void *pointer, unsigned)
{
  *address = (uint64_t)pointer;
  return SUCCESS;
}
int cuMemAlloc_v2(uint64_t *address, size_t bytes)
{
  if (is_dead)
    return LAUNCH_FAILED;
  if (const char *most = getenv("EMULATED_MEMORY")) {
    size_t taken = 0;
    for (const auto &[_, room] : rooms)
      taken += room.length;
    if (taken + bytes > strtoull(most, nullptr, 10))
      return NO_MEMORY;
  }
  size_t length = (bytes + PAGE - 1) / PAGE * PAGE + 2 * PAGE;
  char *start = (char *)mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED)
    return NO_MEMORY;
  mprotect(start, PAGE, PROT_NONE);
  mprotect(start + length - PAGE, PAGE, PROT_NONE);
  // Allocations are multiples of 256 bytes.
  char *memory = start + length - PAGE - bytes;
  memset(memory, 0xa5, bytes);
  *address = (uint64_t)memory;
  rooms[*address] = {start, length};
  return SUCCESS;
}
int cuMemFree_v2(uint64_t address)
{
  if (is_dead)
    return LAUNCH_FAILED;
  for (Stream *stream : streams)
    stream->wait();
  auto found = rooms.find(address);
  if (found == rooms.end())
    return INVALID;
  munmap(found->second.start, found->second.length);
  rooms.erase(found);
  return SUCCESS;
}
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream)
{
  note("cuMemcpyHtoDAsync_v2", bytes);
  if (dies())
    return LAUNCH_FAILED;
  of(stream).add([=] { memcpy((void *)to, from, bytes); });
  return SUCCESS;
}
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream)
{
  note("cuMemcpyDtoHAsync_v2", bytes);
  if (dies())
    return LAUNCH_FAILED;
  of(stream).add([=] { memcpy(to, (void *)from, bytes); });
  return SUCCESS;
}
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream)
{
  note("cuMemcpyDtoDAsync_v2", bytes);
  if (dies())
    return LAUNCH_FAILED;
  of(stream).add([=] { memmove((void *)to, (void *)from, bytes); });
  return SUCCESS;
}
int cuMemsetD32Async(uint64_t to, unsigned word, size_t count, void *stream)
{
  note("cuMemsetD32Async", 4 * count);
  if (dies())
    return LAUNCH_FAILED;
  of(stream).add([=] {
    for (size_t i = 0; i < count; i++)
      ((unsigned *)to)[i] = word;
  });
  return SUCCESS;
}
int cuModuleLoadData(void **module, const void *image)
{
  note_work("loaded");
  *module = dlopen((const char *)image, RTLD_NOW | RTLD_LOCAL);
  return *module != nullptr ? SUCCESS : NOT_FOUND;
}
int cuModuleGetFunction(void **function, void *module, const char *)
{
  auto symbol = [&](const char *what) { return dlsym(module, what); };
  auto dimensions = [&](const char *what) { return (Dimensions *)symbol(what); };
  Kernel kernel = {(void *(*)(void **))symbol("__emulated_hold"), (void (*)(void *))symbol("__emulated_run"),
                   (void (*)(void *))symbol("__emulated_drop"),   dimensions("threadIdx"), dimensions("blockIdx"),
                   dimensions("blockDim"), dimensions("gridDim"), (void **)symbol("__emulated_room")};
  auto ask = (uint64_t (**)(int, unsigned, unsigned long long, int))symbol("__emulated_ask");
  if (kernel.run == nullptr || kernel.grid_size == nullptr || ask == nullptr)
    return NOT_FOUND;
  *ask = [](int question, unsigned asked, unsigned long long value, int from) {
    return Block::ask(question, asked, value, from, __builtin_return_address(0));
  };
  *function = new Kernel(kernel);
  return SUCCESS;
}
int cuFuncGetAttribute(int *value, int, void *)
{
  *value = 0;
  return SUCCESS;
}
int cuFuncSetAttribute(void *function, int attribute, int value)
{
  if (attribute == 8) {
    if (value > 232448)
      return INVALID;
    ((Kernel *)function)->most_room = value;
  }
  return SUCCESS;
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *, int, size_t)
{
  *blocks = 1;
  return SUCCESS;
}
static int launch(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned x, unsigned y, unsigned z,
                  unsigned shared, void *stream, void **parameters, bool is_early)
{
  note(is_early ? "cuLaunchKernelEx" : "cuLaunchKernel");
  if (dies())
    return LAUNCH_FAILED;
  const Kernel &kernel = *(Kernel *)function;
  if (x * y * z > 1024 || grid_y > 65535 || grid_z > 65535 || grid_x == 0 || grid_y == 0 || grid_z == 0 ||
      shared > (unsigned)kernel.most_room || shared % 4 != 0)
    return INVALID;
  void *held = kernel.hold(parameters);
  of(stream).launch([=] {
    *kernel.grid_size = {grid_x, grid_y, grid_z};
    *kernel.block_size = {x, y, z};
    Dimensions &block = *kernel.block;
    static thread_local Block &others = *new Block, &early = *new Block;
    Block &threads = is_early ? early : others;
    Thread thread = {kernel, held};
    auto enter = [](void *thread, unsigned number) {
      const Kernel &kernel = ((Thread *)thread)->kernel;
      const Dimensions &size = *kernel.block_size;
      *kernel.thread = {number % size.x, number / size.x % size.y, number / size.x / size.y};
    };
    auto work = [](void *thread) { ((Thread *)thread)->kernel.run(((Thread *)thread)->held); };
    // It ends where memory does that nobody may touch, and each block finds there what was in it before.
    const size_t length = ((size_t)shared + PAGE - 1) / PAGE * PAGE + PAGE;
    char *room = nullptr;
    if (shared != 0) {
      room = (char *)mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      mprotect(room + length - PAGE, PAGE, PROT_NONE);
      *kernel.room = room + length - PAGE - shared;
      memset(*kernel.room, 0xa5, shared);
    }
    for (block.z = 0; block.z < grid_z; block.z++)
      for (block.y = 0; block.y < grid_y; block.y++)
        for (block.x = 0; block.x < grid_x; block.x++)
          threads.run(x * y * z, enter, work, &thread);
    if (room != nullptr)
      munmap(room, length);
    kernel.drop(held);
  }, is_early);
  return SUCCESS;
}
int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned x, unsigned y, unsigned z,
                   unsigned shared, void *stream, void **parameters, void **)
{
  return launch(function, grid_x, grid_y, grid_z, x, y, z, shared, stream, parameters, false);
}
struct Attribute {
  int id;
  char unused[4];
  union {
    char room[64];
    int is_early;
  } value;
};
struct Configuration {
  unsigned grid_x, grid_y, grid_z, x, y, z, shared;
  void *stream;
  Attribute *attributes;
  unsigned count;
};
// With the one attribute that the runtime knows: it may begin before the launch in front of it is over.
int cuLaunchKernelEx(const Configuration *how, void *function, void **parameters, void **)
{
  if (how->count != 1 || how->attributes->id != 6)
    return INVALID;
  const Configuration &c = *how;
  return launch(function, c.grid_x, c.grid_y, c.grid_z, c.x, c.y, c.z, c.shared, c.stream, parameters, c.attributes->value.is_early != 0);
}
}
