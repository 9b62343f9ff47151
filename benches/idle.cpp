// A GPU that does nothing: NVIDIA's driver as far as Paragon's runtime knows it, for compiling kernels beforehand where no GPU is. Programs run, ask for their
// kernels as they would with a GPU, have them compiled by the real run-time compiler for the architecture below, and kept in Paragon's cache, which is then
// taken to the machine that has the GPU (benches/bench-prepare.py, benches/random.sh). A kernel that is missing there is compiled there.
//
// It is built as libcuda.so, found by LD_LIBRARY_PATH. Nothing is copied, and no kernel runs. What a launch says of itself is what IDLE_SAYS says:
// `done`, whatever its results are then: for programs whose entries don't depend on results. Or `conflict`: then each loop runs as it stood, and the
// program has its results. What decides which kernels are asked for, registers and shared memory, is read from the machine code; other numbers are an H100's.
#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <atomic>
#include <string>
#include "variants.h"

enum { SUCCESS = 0, INVALID = 1, NO_MEMORY = 2 };
static const int PROCESSORS = 132, SHARED = 233472, SHARED_OF_BLOCK = 232448, REGISTERS = 65536, THREADS = 2048;
static const uint64_t MEMORY = (uint64_t)80 << 30;
// Words of a launch's counters (COUNTERS of the runtime's device/cuda/mod.rs), the one with the flags, and the flag of a conflict (PG_FAIL_RAW).
static const int FLAGS_WORD = 3;
static const uint64_t CONFLICT = 2;

// Of a kernel: registers of a thread, bytes of its own memory, and of what its block shares.
struct Kernel {
  int registers = 32, own = 0, shared = 0;
};

// Machine code has attributes in .nv.info, one behind the other: a byte that says how long it is (4: by the next two bytes, else there is nothing behind),
// what it is, two bytes, what it says: of a function, and a number. Registers are 0x2f, bytes of memory 0x12.
static void read(const char *code, Kernel &kernel)
{
  Elf64_Ehdr head;
  memcpy(&head, code, sizeof head);
  const auto section = [&](unsigned number) {
    Elf64_Shdr found;
    memcpy(&found, code + head.e_shoff + number * sizeof found, sizeof found);
    return found;
  };
  const char *const names = code + section(head.e_shstrndx).sh_offset;
  for (unsigned number = 0; number < head.e_shnum; number++) {
    const Elf64_Shdr found = section(number);
    const char *const name = names + found.sh_name;
    if (strncmp(name, ".nv.shared.", 11) == 0 && strcmp(name, ".nv.shared.reserved.0") != 0)
      kernel.shared = (int)found.sh_size;
    if (strcmp(name, ".nv.info") != 0)
      continue;
    for (size_t at = found.sh_offset; at + 12 <= found.sh_offset + found.sh_size;) {
      unsigned short bytes;
      unsigned says[2];
      memcpy(&bytes, code + at + 2, 2);
      memcpy(says, code + at + 4, sizeof says);
      if (code[at] == 4 && code[at + 1] == 0x2f)
        kernel.registers = (int)says[1];
      if (code[at] == 4 && code[at + 1] == 0x12)
        kernel.own = (int)says[1];
      at += 4 + (code[at] == 4 ? bytes : 0);
    }
  }
}

// Whether a launch has yet to say how it has ended: with the next copy to the host.
static std::atomic<bool> has_launched;
// Addresses that nobody uses.
static std::atomic<uint64_t> next_address{(uint64_t)1 << 44};

extern "C" {
int cuInit(unsigned) { return SUCCESS; }
int cuDeviceGetCount(int *count)
{
  *count = 1;
  return SUCCESS;
}
int cuDeviceGet(int *device, int)
{
  *device = 0;
  return SUCCESS;
}
int cuDevicePrimaryCtxRetain(void **context, int)
{
  *context = &next_address;
  return SUCCESS;
}
int cuCtxSetCurrent(void *) { return SUCCESS; }
int cuDeviceGetAttribute(int *value, int attribute, int)
{
  switch (attribute) {
  case 16: *value = PROCESSORS; break;
  case 75: *value = 9; break; // compute capability
  case 76: *value = 0; break;
  case 81: *value = SHARED; break;
  case 97: *value = SHARED_OF_BLOCK; break;
  default: return INVALID;
  }
  return SUCCESS;
}
int cuDeviceTotalMem_v2(size_t *bytes, int)
{
  *bytes = MEMORY;
  return SUCCESS;
}
int cuStreamCreate(void **stream, unsigned)
{
  *stream = &next_address;
  return SUCCESS;
}
int cuStreamQuery(void *) { return SUCCESS; }
int cuStreamSynchronize(void *) { return SUCCESS; }
int cuEventCreate(void **event, unsigned)
{
  *event = &next_address;
  return SUCCESS;
}
int cuEventRecord(void *, void *) { return SUCCESS; }
int cuEventQuery(void *) { return SUCCESS; }
int cuEventElapsedTime_v2(float *milliseconds, void *, void *)
{
  *milliseconds = 0.1f;
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
  *address = next_address.fetch_add((bytes + 4095) / 4096 * 4096 + 4096);
  return SUCCESS;
}
int cuMemFree_v2(uint64_t) { return SUCCESS; }
int cuMemcpyHtoDAsync_v2(uint64_t, const void *, size_t, void *) { return SUCCESS; }
int cuMemcpyDtoHAsync_v2(void *to, uint64_t, size_t bytes, void *)
{
  static const bool conflicts = getenv("IDLE_SAYS") != nullptr && strcmp(getenv("IDLE_SAYS"), "conflict") == 0;
  if (has_launched.exchange(false) && bytes > FLAGS_WORD * sizeof(uint64_t)) {
    memset(to, 0, bytes);
    if (conflicts)
      memcpy((char *)to + FLAGS_WORD * sizeof(uint64_t), &CONFLICT, sizeof CONFLICT);
  }
  return SUCCESS;
}
int cuMemcpyDtoDAsync_v2(uint64_t, uint64_t, size_t, void *) { return SUCCESS; }
int cuMemsetD32Async(uint64_t, unsigned, size_t, void *) { return SUCCESS; }
int cuModuleLoadData(void **module, const void *image)
{
  Kernel *kernel = new Kernel;
  const Variants variants = unpacked(image);
  read(variants.empty() ? (const char *)image : variants[0].second.c_str(), *kernel);
  *module = kernel;
  return SUCCESS;
}
int cuModuleGetFunction(void **function, void *module, const char *)
{
  *function = module;
  return SUCCESS;
}
int cuFuncGetAttribute(int *value, int attribute, void *function)
{
  const Kernel &kernel = *(Kernel *)function;
  *value = attribute == 1 ? kernel.shared : attribute == 3 ? kernel.own : 0;
  return SUCCESS;
}
int cuFuncSetAttribute(void *, int, int) { return SUCCESS; }
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int threads, size_t)
{
  const Kernel &kernel = *(Kernel *)function;
  const int by_registers = REGISTERS / ((kernel.registers + 7) / 8 * 8) / threads, by_threads = THREADS / threads;
  const int by_room = kernel.shared == 0 ? by_threads : SHARED / (kernel.shared + 1024);
  *blocks = by_registers < by_threads ? by_registers : by_threads;
  *blocks = *blocks < by_room ? *blocks : by_room;
  return SUCCESS;
}
int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **)
{
  has_launched = true;
  return SUCCESS;
}
int cuLaunchKernelEx(const void *, void *, void **, void **) { return SUCCESS; }
}
