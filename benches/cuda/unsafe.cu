// The chapter's applications in plain, unsafe CUDA: what an expert writes in an afternoon, with no check of anything.
//
// They are the upper bound that Paragon's kernels are measured against. Built with -fmad=false, because Paragon's results
// have the bits of the sequential program and a fused multiply-add has other bits. Data are random; only times matter
// here. Prints one JSON line per application: medians in milliseconds of the kernels again and again (resident), once behind copies of all arrays (fresh), each
// by itself behind copies of its own arrays, as Paragon's entries are (behind), each by itself with cold caches (cold) and again and again (again), and of transfers in through
// pinned memory, kernels, and transfers out (end_to_end). And what part of the device they use, so that nobody is
// measured against a weak kernel: the bytes that a kernel has to move, each once, against a copy on the device
// (copy_share; above 1 where caches hold them), and its floating-point operations against the peak without fused
// multiply-adds (peak_share).
//
//   nvcc -O3 -arch=sm_90 -fmad=false -o unsafe benches/cuda/unsafe.cu
//   ./unsafe [--side N] [application ...]      N: of the grids of 2-D stencils, 4096 by default
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>
#include <cuda_runtime.h>

#define CHECK(call)                                                                             \
  do {                                                                                          \
    cudaError_t e = (call);                                                                     \
    if (e != cudaSuccess) {                                                                     \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(e));                \
      exit(1);                                                                                  \
    }                                                                                           \
  } while (0)

// One array in pinned host memory and on the device.
template <typename T> struct Array {
  size_t n;
  T *host, *device;
  explicit Array(size_t n) : n(n)
  {
    CHECK(cudaMallocHost(&host, n * sizeof(T)));
    CHECK(cudaMalloc(&device, n * sizeof(T)));
  }
  ~Array()
  {
    cudaFreeHost(host);
    cudaFree(device);
  }
  Array(const Array &) = delete;
  void in() { CHECK(cudaMemcpyAsync(device, host, n * sizeof(T), cudaMemcpyHostToDevice)); }
  void out() { CHECK(cudaMemcpyAsync(host, device, n * sizeof(T), cudaMemcpyDeviceToHost)); }
};

static unsigned long long state = 88172645463325252ull;
static unsigned long long next_random()
{
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}
template <typename T> static void randomise(Array<T> &a)
{
  for (size_t i = 0; i < a.n; i++)
    a.host[i] = (T)(next_random() >> 40) / (T)16777216;
  a.in();
}
static void permute(Array<int> &p)
{
  for (size_t i = 0; i < p.n; i++)
    p.host[i] = (int)i;
  for (size_t i = p.n - 1; i > 0; i--)
    std::swap(p.host[i], p.host[next_random() % (i + 1)]);
  p.in();
}

static double median(std::vector<double> v)
{
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}
static double time_once(const std::function<void()> &work)
{
  static cudaEvent_t a, b;
  float ms;
  if (a == nullptr) {
    CHECK(cudaEventCreate(&a));
    CHECK(cudaEventCreate(&b));
  }
  CHECK(cudaEventRecord(a));
  work();
  CHECK(cudaEventRecord(b));
  CHECK(cudaEventSynchronize(b));
  CHECK(cudaGetLastError());
  CHECK(cudaEventElapsedTime(&ms, a, b));
  return ms;
}
static double time_of(const std::function<void()> &work, int runs)
{
  std::vector<double> times;
  work();
  for (int r = 0; r < runs; r++)
    times.push_back(time_once(work));
  return median(times);
}
// What kernels cannot do without: bytes to and from memory, operations on floats and on doubles.
struct Needs {
  double bytes, floats = 0, doubles = 0;
};
// Bytes per millisecond of a copy on the device, read and written.
static double copy_speed()
{
  static double speed;
  if (speed == 0) {
    const size_t bytes = (size_t)1 << 30;
    char *from, *to;
    CHECK(cudaMalloc(&from, bytes));
    CHECK(cudaMalloc(&to, bytes));
    CHECK(cudaMemset(from, 1, bytes));
    speed = 2.0 * bytes / time_of([&] { CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice)); }, 7);
    CHECK(cudaFree(from));
    CHECK(cudaFree(to));
  }
  return speed;
}
// Milliseconds that the operations take at one for each lane and clock: 128 lanes of a multiprocessor for floats, 64 for doubles
// (compute capability 9.0).
static double least_ms(const Needs &needs)
{
  int processors, kilohertz;
  CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
  CHECK(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, 0));
  return (needs.floats / 128 + needs.doubles / 64) / processors / kilohertz;
}
// What a program does before a loop: it goes through its arrays. Then the processor's caches hold these, and nothing of the driver, whose
// calls take two to three times as long; a GPU that has nothing to do meanwhile waits between the first event and the kernel.
static void use_host()
{
  static std::vector<char> from(64 << 20), to(64 << 20);
  memcpy(to.data(), from.data(), from.size());
}
// Copies, and something short for the GPU to run behind them: an event that is recorded right behind a copy comes four to five microseconds before the kernel that
// follows it, because another engine copies, which is no kernel's time.
__global__ void short_kernel() {}
static void copy_and_wake(const std::function<void()> &in)
{
  in();
  short_kernel<<<1, 32>>>();
}
// Once after copies, as a loop's entry runs it: the GPU's caches hold what was copied last, the host's what the program made.
static double fresh_time(const std::function<void()> &in, const std::function<void()> &kernels)
{
  std::vector<double> fresh;
  for (int r = 0; r < 5; r++) {
    CHECK(cudaDeviceSynchronize());
    use_host();
    copy_and_wake(in);
    fresh.push_back(time_once(kernels));
  }
  return median(fresh);
}
// Leaves the GPU's caches without anything of the application's, by the same calls as benches/replays.cpp does in front of Paragon's kernels: behind a copy of other memory
// that is larger than they are, and something short for the GPU to run. (Behind a kernel instead of the driver's own, launches take an eighth of a microsecond less.)
static void cool()
{
  const size_t half = (size_t)128 << 20;
  static char *memory;
  if (memory == nullptr)
    CHECK(cudaMalloc(&memory, 2 * half));
  CHECK(cudaMemcpyAsync(memory, memory + half, half, cudaMemcpyDeviceToDevice));
  CHECK(cudaMemsetAsync(memory, 0, 4));
}
// How the loops of an application run: one behind the other; each once, behind copies of its own arrays, as an entry of it by Paragon; each once, with cold caches; or
// each again and again, by itself.
static enum { TOGETHER, BEHIND_COPIES, COLD, AGAIN } loops_run = TOGETHER;
static int loops;
static double loops_ms;
// One loop of an application with several of them. `in`: the arrays that an entry of it copies.
template <class In, class Launch> static void loop(const In &in, const Launch &launch)
{
  loops++;
  if (loops_run == TOGETHER)
    launch();
  else if (loops_run == BEHIND_COPIES || loops_run == COLD) {
    CHECK(cudaDeviceSynchronize());
    use_host();
    if (loops_run == COLD)
      cool();
    else
      copy_and_wake(in);
    loops_ms += time_once(launch);
  } else {
    // Queued together, so that none of them waits for the host.
    const int runs = 8;
    static cudaEvent_t marks[runs + 2];
    std::vector<double> times;
    for (int r = 0; marks[runs + 1] == nullptr && r < runs + 2; r++)
      CHECK(cudaEventCreate(&marks[r]));
    CHECK(cudaDeviceSynchronize());
    for (int r = 0; r < runs + 1; r++) {
      CHECK(cudaEventRecord(marks[r]));
      launch();
    }
    CHECK(cudaEventRecord(marks[runs + 1]));
    CHECK(cudaEventSynchronize(marks[runs + 1]));
    for (int r = 1; r < runs + 1; r++) {
      float ms;
      CHECK(cudaEventElapsedTime(&ms, marks[r], marks[r + 1]));
      times.push_back(ms);
    }
    loops_ms += median(times);
  }
}
// Milliseconds of all loops, each run in this way. An application that has one is that.
static double time_of_loops(decltype(loops_run) how, const std::function<void()> &in, const std::function<void()> &kernels, int runs)
{
  std::vector<double> times;
  loops = 0;
  kernels();
  const bool has_several = loops != 0;
  for (int r = 0; r < runs; r++) {
    loops_run = how;
    loops_ms = 0;
    has_several ? kernels() : loop(in, kernels);
    loops_run = TOGETHER;
    times.push_back(loops_ms);
  }
  return median(times);
}
// `same_bits`: kernels whose results have the bits of the sequential program, where the others' have not. `entry_in`: the arrays that the entry of
// an application with one loop copies, if they aren't those that the computation needs.
static void report(const char *name, const std::string &size, const Needs &needs, const std::function<void()> &in,
                   const std::function<void()> &kernels, const std::function<void()> &out,
                   const std::function<void()> &same_bits = nullptr, const std::function<void()> &entry_in = nullptr)
{
  double resident = time_of(kernels, 7);
  double whole = time_of([&] { in(); kernels(); out(); }, 3);
  double fresh = fresh_time(in, kernels);
  const std::function<void()> &copies = entry_in ? entry_in : in;
  double behind = time_of_loops(BEHIND_COPIES, copies, kernels, 5), cold = time_of_loops(COLD, copies, kernels, 7);
  double again = time_of_loops(AGAIN, copies, kernels, 2);
  char same[300] = "";
  if (same_bits) {
    double same_resident = time_of(same_bits, 7), same_fresh = fresh_time(in, same_bits);
    snprintf(same, sizeof same, "\"same_bits_resident_ms\":%.4f,\"same_bits_fresh_ms\":%.4f,\"same_bits_behind_ms\":%.4f,\"same_bits_cold_ms\":%.4f,\"same_bits_again_ms\":%.4f,",
             same_resident, same_fresh, time_of_loops(BEHIND_COPIES, copies, same_bits, 5), time_of_loops(COLD, copies, same_bits, 7),
             time_of_loops(AGAIN, copies, same_bits, 2));
  }
  printf("{\"application\":\"%s\",\"size\":\"%s\",\"resident_ms\":%.4f,\"fresh_ms\":%.4f,\"behind_ms\":%.4f,\"cold_ms\":%.4f,\"again_ms\":%.4f,"
         "\"end_to_end_ms\":%.4f,%s\"copy_share\":%.3f,\"peak_share\":%.3f,\"copy_tb_s\":%.3f}\n",
         name, size.c_str(), resident, fresh, behind, cold, again, whole, same, needs.bytes / copy_speed() / resident,
         least_ms(needs) / resident, copy_speed() / 1e9);
  fflush(stdout);
}

static const int B = 256;
static unsigned blocks(size_t n) { return (unsigned)((n + B - 1) / B); }
static dim3 tile_grid(int n) { return dim3((n + 31) / 32, (n + 7) / 8); }
static const dim3 tile(32, 8);
#define AT(a, i, j) (a)[(size_t)(i) * n + (j)]

__global__ void fdtd_ey(int n, float *ey, const float *hz)
{
  int j = blockIdx.x * 32 + threadIdx.x, i = blockIdx.y * 8 + threadIdx.y;
  if (i >= 1 && i < n && j < n)
    AT(ey, i, j) = AT(ey, i, j) - 0.5f * (AT(hz, i, j) - AT(hz, i - 1, j));
}
__global__ void fdtd_ex(int n, float *ex, const float *hz)
{
  int j = blockIdx.x * 32 + threadIdx.x, i = blockIdx.y * 8 + threadIdx.y;
  if (i < n && j >= 1 && j < n)
    AT(ex, i, j) = AT(ex, i, j) - 0.5f * (AT(hz, i, j) - AT(hz, i, j - 1));
}
__global__ void fdtd_hz(int n, const float *ex, const float *ey, float *hz)
{
  int j = blockIdx.x * 32 + threadIdx.x, i = blockIdx.y * 8 + threadIdx.y;
  if (i < n - 1 && j < n - 1)
    AT(hz, i, j) = AT(hz, i, j) - 0.7f * (AT(ex, i, j + 1) - AT(ex, i, j) + AT(ey, i + 1, j) - AT(ey, i, j));
}
__global__ void jacobi1d(int n, const float *a, float *b)
{
  int i = blockIdx.x * B + threadIdx.x;
  if (i >= 1 && i < n - 1)
    b[i] = 0.33333f * (a[i - 1] + a[i] + a[i + 1]);
}
__global__ void jacobi2d(int n, const float *a, float *b)
{
  int j = blockIdx.x * 32 + threadIdx.x, i = blockIdx.y * 8 + threadIdx.y;
  if (i >= 1 && i < n - 1 && j >= 1 && j < n - 1)
    AT(b, i, j) = 0.2f * (AT(a, i, j) + AT(a, i, j - 1) + AT(a, i, j + 1) + AT(a, i + 1, j) + AT(a, i - 1, j));
}
__global__ void seidel(int n, const double *a, double *b)
{
  int j = blockIdx.x * 32 + threadIdx.x, i = blockIdx.y * 8 + threadIdx.y;
  if (i >= 1 && i < n - 1 && j >= 1 && j < n - 1)
    AT(b, i, j) = (AT(a, i - 1, j - 1) + AT(a, i - 1, j) + AT(a, i - 1, j + 1) + AT(a, i, j - 1) + AT(a, i, j) +
                   AT(a, i, j + 1) + AT(a, i + 1, j - 1) + AT(a, i + 1, j) + AT(a, i + 1, j + 1)) / 9.0;
}
// Operands of 64 by 128 elements in shared memory, 8 by 4 of them in each thread's registers, 16 products at a time. n is a
// multiple of 128.
__global__ void __launch_bounds__(256) gemm(int n, const float *a, const float *b, float *c)
{
  __shared__ float left[16][64 + 4], right[16][128];
  const int x = threadIdx.x, y = threadIdx.y, thread = y * 32 + x, first_row = blockIdx.y * 64, first_column = blockIdx.x * 128;
  float sum[8][4] = {};
  for (int k0 = 0; k0 < n; k0 += 16) {
#pragma unroll
    for (int part = 0; part < 4; part++) {
      int at = thread + 256 * part;
      left[at % 16][at / 16] = AT(a, first_row + at / 16, k0 + at % 16);
    }
#pragma unroll
    for (int part = 0; part < 8; part++) {
      int at = thread + 256 * part;
      right[at / 128][at % 128] = AT(b, k0 + at / 128, first_column + at % 128);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; k++) {
      float l[8], r[4];
#pragma unroll
      for (int i = 0; i < 8; i++)
        l[i] = left[k][y * 8 + i];
#pragma unroll
      for (int j = 0; j < 4; j++)
        r[j] = right[k][x + 32 * j];
#pragma unroll
      for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
          sum[i][j] += l[i] * r[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 8; i++)
#pragma unroll
    for (int j = 0; j < 4; j++)
      AT(c, first_row + y * 8 + i, first_column + x + 32 * j) = sum[i][j];
}
__global__ void tmv(int n, const float *a, const float *x, float *y)
{
  int j = blockIdx.x * B + threadIdx.x;
  float sum = 0;
  if (j >= n)
    return;
  for (int i = 0; i < n; i++)
    sum += AT(a, i, j) * x[i];
  y[j] = sum;
}
__global__ void saxpy(int n, float f, const int *index, const float *x, float *y)
{
  int i = blockIdx.x * B + threadIdx.x;
  if (i < n)
    y[index[i]] += f * x[i];
}
// The sum in front of this loop is left out: its order of additions is the program's.
__global__ void reflect(int n, double scale, const double *v, const int *index, double *x)
{
  int i = blockIdx.x * B + threadIdx.x;
  if (i < n)
    x[index[i]] -= scale * v[i];
}
__global__ void ipvec(int n, const int *p, const double *in, double *out)
{
  int i = blockIdx.x * B + threadIdx.x;
  if (i < n)
    out[p[i]] = in[i];
}
// One warp per row from here on.
__global__ void rank_one(int n, const int *begin, const int *end, const int *column, double f, const double *x, const double *y, double *a)
{
  int i = (blockIdx.x * B + threadIdx.x) / 32;
  if (i < n)
    for (int k = begin[i] + threadIdx.x % 32; k < end[i]; k += 32)
      a[k] += f * x[i] * y[column[k]];
}
__global__ void row_product(int n, const int *row, const int *column, const double *a, const double *x, double *y)
{
  int i = (blockIdx.x * B + threadIdx.x) / 32;
  double s = 0;
  if (i >= n)
    return;
  for (int k = row[i] + threadIdx.x % 32; k < row[i + 1]; k += 32)
    s += a[k] * x[column[k]];
  for (int d = 16; d != 0; d /= 2)
    s += __shfl_down_sync(~0u, s, d);
  if (threadIdx.x % 32 == 0)
    y[i] = s;
}
__global__ void rank_two(int n, const int *row, const int *column, const double *u1, const double *v1, const double *u2,
                         const double *v2, double *a)
{
  int i = (blockIdx.x * B + threadIdx.x) / 32;
  if (i < n)
    for (int k = row[i] + threadIdx.x % 32; k < row[i + 1]; k += 32)
      a[k] = a[k] + u1[i] * v1[column[k]] + u2[i] * v2[column[k]];
}
// By the lists of columns' elements.
__global__ void transposed_product(int n, const int *start, const int *element, const int *row, double beta, const double *a,
                                   const double *y, double *x)
{
  int j = (blockIdx.x * B + threadIdx.x) / 32;
  double s = 0;
  if (j >= n)
    return;
  for (int k = start[j] + threadIdx.x % 32; k < start[j + 1]; k += 32)
    s += beta * a[element[k]] * y[row[k]];
  for (int d = 16; d != 0; d /= 2)
    s += __shfl_down_sync(~0u, s, d);
  if (threadIdx.x % 32 == 0)
    x[j] += s;
}
__global__ void ordered_product(int n, const int *order, const int *row, const int *column, double alpha, const double *a,
                                const double *x, double *w)
{
  int p = (blockIdx.x * B + threadIdx.x) / 32;
  double s = 0;
  if (p >= n)
    return;
  int i = order[p];
  for (int k = row[i] + threadIdx.x % 32; k < row[i + 1]; k += 32)
    s += a[k] * x[column[k]];
  for (int d = 16; d != 0; d /= 2)
    s += __shfl_down_sync(~0u, s, d);
  if (threadIdx.x % 32 == 0)
    w[i] += alpha * s + p;
}
// A row's last element is the diagonal, which is one.
__global__ void eliminate(int first, int last, const int *rows, const int *row, const int *column, const float *a, float *x)
{
  int r = first + (blockIdx.x * B + threadIdx.x) / 32;
  float s = 0;
  if (r >= last)
    return;
  int i = rows[r];
  for (int k = row[i] + threadIdx.x % 32; k < row[i + 1] - 1; k += 32)
    s += a[k] * x[column[k]];
  for (int d = 16; d != 0; d /= 2)
    s += __shfl_down_sync(~0u, s, d);
  if (threadIdx.x % 32 == 0)
    x[i] -= s;
}
// A thread for each row: their elements lie one column of the format after the other.
__global__ void relax(int first, int last, int width, int n, const int *order, const int *column, const double *a,
                      const double *diagonal, const double *b, double omega, double *x)
{
  int p = first + blockIdx.x * B + threadIdx.x;
  if (p >= last)
    return;
  int i = order[p];
  double s = b[i];
  for (int k = 0; k < width; k++)
    s -= a[(size_t)k * n + i] * x[column[(size_t)k * n + i]];
  x[i] = x[i] + omega * (s / diagonal[i] - x[i]);
}

// Applications that benches/bench.py measures besides. Sizes are those of the programs.
__global__ void vector_add(int n, const float *a, const float *b, float *c)
{
  int i = blockIdx.x * B + threadIdx.x;
  if (i < n)
    c[i] = a[i] + b[i];
}
// Rows that need only rows before the first one. A row's last element is the diagonal, which is one.
__global__ void forward_rows(int first, int n, const int *row, const int *column, const double *a, double *x)
{
  int i = first + (blockIdx.x * B + threadIdx.x) / 32;
  double s = 0;
  if (i >= n)
    return;
  for (int k = row[i] + threadIdx.x % 32; k < row[i + 1] - 1; k += 32)
    s += a[k] * x[column[k]];
  for (int d = 16; d != 0; d /= 2)
    s += __shfl_down_sync(~0u, s, d);
  if (threadIdx.x % 32 == 0)
    x[i] -= s;
}
// Rows of sparse matrices in the order of the source: the lanes of a warp make products of R rows, each of its turn, and the first R lanes
// subtract them one after the other. What the next batch loads comes before this batch's sums. eliminate and forward_rows add in any order, so their
// results have other bits than the program's; this is the fastest of those tried that has the same
// (docs/measurements/2026-11-25-triangular.md, 2026-11-25-rows-2.md).
template <typename T> struct alignas(16) Pack {
  T of[16 / sizeof(T)];
};
__device__ __forceinline__ int once(const int *p)
{
  int value;
  asm("ld.global.nc.L1::no_allocate.b32 %0, [%1];" : "=r"(value) : "l"(p));
  return value;
}
__device__ __forceinline__ float once(const float *p)
{
  float value;
  asm("ld.global.nc.L1::no_allocate.f32 %0, [%1];" : "=f"(value) : "l"(p));
  return value;
}
__device__ __forceinline__ double once(const double *p)
{
  double value;
  asm("ld.global.nc.L1::no_allocate.f64 %0, [%1];" : "=d"(value) : "l"(p));
  return value;
}
template <typename T, int R>
__global__ void __launch_bounds__(B, 3)
  rows_in_order(int first, int last, const int *rows, const int *row, const int *column, const T *a, T *x)
{
  constexpr int parts = 8, turns = parts / R * 32, pack = 16 / sizeof(T), stride = turns + pack;
  __shared__ __align__(16) T room[B / 32][R * stride];
  const int lane = threadIdx.x % 32, begin = first + (blockIdx.x * (B / 32) + threadIdx.x / 32) * R;
  T *const products = room[threadIdx.x / 32], *const own = products + lane % R * stride;
  if (begin >= last)
    return;
  const bool leads = lane < R && begin + lane < last;
  const int i = leads ? rows != nullptr ? rows[begin + lane] : begin + lane : 0;
  const int from = leads ? row[i] : 0, to = leads ? row[i + 1] - 1 : 0;
  T sum = leads ? x[i] : (T)0;
  int left = to - from, next[R], end[R], columns[parts];
  T values[parts], gathered[parts];
#pragma unroll
  for (int r = 0; r < R; r++) {
    next[r] = __shfl_sync(~0u, from, r) + lane;
    end[r] = __shfl_sync(~0u, to, r);
  }
  auto load = [&]() {
#pragma unroll
    for (int p = 0; p < parts; p++) {
      const int k = next[p % R] + p / R * 32;
      if (k < end[p % R]) {
        columns[p] = once(column + k);
        values[p] = once(a + k);
      }
    }
  };
  load();
  while (__any_sync(~0u, left > 0)) {
#pragma unroll
    for (int p = 0; p < parts; p++)
      if (next[p % R] + p / R * 32 < end[p % R])
        gathered[p] = x[columns[p]];
#pragma unroll
    for (int p = 0; p < parts; p++)
      products[p % R * stride + p / R * 32 + lane] = values[p] * gathered[p];
#pragma unroll
    for (int r = 0; r < R; r++)
      next[r] += turns;
    load();
    __syncwarp();
    if (leads) {
      const int many = min(left, turns);
      int n = 0;
      for (; n + 16 <= many; n += 16) {
        Pack<T> some[16 / pack];
#pragma unroll
        for (int m = 0; m < 16 / pack; m++)
          some[m] = *(const Pack<T> *)(own + n + m * pack);
#pragma unroll
        for (int m = 0; m < 16; m++)
          sum = sum - some[m / pack].of[m % pack];
      }
      for (; n < many; n++)
        sum = sum - own[n];
    }
    left -= turns;
    __syncwarp();
  }
  if (leads)
    x[i] = sum;
}
// Tells the driver how much shared memory three of its blocks need: what is gathered lies in the rest, as L1.
template <typename T, int R> static void leave_room_for_gathers()
{
  int all;
  cudaFuncAttributes kernel;
  CHECK(cudaDeviceGetAttribute(&all, cudaDevAttrMaxSharedMemoryPerMultiprocessor, 0));
  CHECK(cudaFuncGetAttributes(&kernel, rows_in_order<T, R>));
  const int part = (int)((kernel.sharedSizeBytes + 1024) * 3 * 100 / all + 1);
  CHECK(cudaFuncSetAttribute(rows_in_order<T, R>, cudaFuncAttributePreferredSharedMemoryCarveout, part));
}
struct Site {
  short x, y, z, t;
  char parity;
  int index;
};
// The sites of one of sixteen nodes, two in each direction.
__global__ void make_lattice(int n, int node, Site *lattice)
{
  const int index = blockIdx.x * B + threadIdx.x, s = (n + 1) / 2;
  if (index >= n * n * n * n)
    return;
  const int x = index % n, y = index / n % n, z = index / (n * n) % n, t = index / (n * n * n);
  if (x / s + 2 * (y / s + 2 * (z / s + 2 * (t / s))) == node) {
    Site site = {(short)x, (short)y, (short)z, (short)t, (char)((t + z + y + x) % 2 == 0 ? 2 : 1), index};
    lattice[x % s + s * (y % s + s * (z % s + s * (t % s)))] = site;
  }
}
static const int BINS = 4096;
// Each block counts in its own shared memory.
__global__ void histogram(size_t n, const unsigned short *pixel, unsigned *count)
{
  __shared__ unsigned own[BINS];
  for (int bin = threadIdx.x; bin < BINS; bin += B)
    own[bin] = 0;
  __syncthreads();
  for (size_t i = blockIdx.x * (size_t)B + threadIdx.x; i < n; i += gridDim.x * (size_t)B)
    atomicAdd(&own[pixel[i] >> 4], 1u);
  __syncthreads();
  for (int bin = threadIdx.x; bin < BINS; bin += B)
    if (own[bin] != 0)
      atomicAdd(&count[bin], own[bin]);
}
__constant__ int filter[5][5] = {{1, 4, 6, 4, 1}, {4, 16, 24, 16, 4}, {6, 24, 36, 24, 6}, {4, 16, 24, 16, 4}, {1, 4, 6, 4, 1}};
__global__ void convolution(int n, const unsigned char *in, unsigned char *out)
{
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, sum = 0;
  if (x >= n || y >= n)
    return;
#pragma unroll
  for (int dy = -2; dy <= 2; dy++)
#pragma unroll
    for (int dx = -2; dx <= 2; dx++)
      sum += filter[dy + 2][dx + 2] * AT(in, min(max(y + dy, 0), n - 1), min(max(x + dx, 0), n - 1));
  AT(out, y, x) = (unsigned char)min(max(sum >> 8, 0), 255);
}
struct Vector {
  double x, y, z;
};
struct Body {
  Vector place, speed;
  double mass;
};
struct Source {
  double x, y, z, mass;
};
// Bodies pass through shared memory, a block's width of them at a time. n is a multiple of that.
__global__ void accelerations(int n, const Body *b, double softening, Vector *acceleration)
{
  __shared__ Source others[128];
  const int i = blockIdx.x * 128 + threadIdx.x;
  const Vector own = b[i].place;
  Vector sum = {0, 0, 0};
  for (int first = 0; first < n; first += 128) {
    const Body &other = b[first + threadIdx.x];
    others[threadIdx.x] = {other.place.x, other.place.y, other.place.z, other.mass};
    __syncthreads();
    for (int j = 0; j < 128; j++) {
      double dx = others[j].x - own.x, dy = others[j].y - own.y, dz = others[j].z - own.z;
      double square = dx * dx + dy * dy + dz * dz + softening;
      double force = others[j].mass / (square * sqrt(square));
      sum.x += force * dx;
      sum.y += force * dy;
      sum.z += force * dz;
    }
    __syncthreads();
  }
  acceleration[i] = sum;
}
__global__ void move_bodies(int n, Body *b, const Vector *acceleration, double step)
{
  int i = blockIdx.x * B + threadIdx.x;
  if (i >= n)
    return;
  b[i].speed.x += step * acceleration[i].x;
  b[i].speed.y += step * acceleration[i].y;
  b[i].speed.z += step * acceleration[i].z;
  b[i].place.x += step * b[i].speed.x;
  b[i].place.y += step * b[i].speed.y;
  b[i].place.z += step * b[i].speed.z;
}
__global__ void mandelbrot(int n, double left, double top, double step, int most, int *iterations)
{
  int px = blockIdx.x * 32 + threadIdx.x, py = blockIdx.y * 8 + threadIdx.y, k = 0;
  if (px >= n || py >= n)
    return;
  double cx = left + px * step, cy = top - py * step, x = 0, y = 0;
  while (k < most && x * x + y * y <= 4.0) {
    double next = x * x - y * y + cx;
    y = 2.0 * x * y + cy;
    x = next;
    k++;
  }
  AT(iterations, py, px) = k;
}
__global__ void heat(int n, const double *from, double *to, double speed)
{
  int k = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y * 8 + threadIdx.y, i = blockIdx.z;
  if (i < 1 || i >= n - 1 || j < 1 || j >= n - 1 || k < 1 || k >= n - 1)
    return;
  const double *p = from + ((size_t)i * n + j) * n + k;
  to[((size_t)i * n + j) * n + k] =
    *p + speed * (p[-1] + p[1] + p[-n] + p[n] + p[-(ptrdiff_t)n * n] + p[(ptrdiff_t)n * n] - 6.0 * *p);
}
// A thread for each element of a product.
__global__ void small_products(size_t n, const float *a, const float *b, float *c)
{
  size_t at = blockIdx.x * (size_t)B + threadIdx.x, first = at / 16 * 16;
  int row = at % 16 / 4, column = at % 4;
  float sum = 0;
  if (at >= 16 * n)
    return;
#pragma unroll
  for (int k = 0; k < 4; k++)
    sum += a[first + 4 * row + k] * b[first + 4 * k + column];
  c[at] = sum;
}
// One warp per read.
__global__ void search_reads(int n, const size_t *start, const char *text, const char *word, int length, int *found)
{
  int r = (blockIdx.x * B + threadIdx.x) / 32, count = 0;
  if (r >= n)
    return;
  for (size_t at = start[r] + threadIdx.x % 32; at + length <= start[r + 1]; at += 32) {
    int k = 0;
    while (k < length && text[at + k] == word[k])
      k++;
    count += k == length;
  }
  for (int d = 16; d != 0; d /= 2)
    count += __shfl_down_sync(~0u, count, d);
  if (threadIdx.x % 32 == 0)
    found[r] = count;
}

// A sparse matrix with as many elements in each row as `count` says for it, columns below `columns`, in rising order.
template <typename T> struct Sparse {
  Array<int> row, column;
  Array<T> value;
  template <typename Count>
  Sparse(int n, size_t most, Count count, int columns) : row(n + 1), column(most), value(most)
  {
    size_t next = 0;
    for (int i = 0; i < n; i++) {
      const int here = count(i), step = here == 0 ? 0 : columns / here;
      row.host[i] = (int)next;
      for (int k = 0; k < here; k++)
        column.host[next++] = k * step + (int)(next_random() % step);
    }
    row.host[n] = (int)next;
    column.n = value.n = next;
    row.in();
    column.in();
    randomise(value);
  }
  void in()
  {
    row.in();
    column.in();
    value.in();
  }
};
// From `least` to `most`.
static int between(int least, int most) { return least + (int)(next_random() % (most - least + 1)); }

int main(int argc, char **argv)
{
  int n = 4096, first = 1;
  if (argc > 2 && strcmp(argv[1], "--side") == 0) {
    n = atoi(argv[2]);
    first = 3;
  }
  auto wanted = [&](const char *name) {
    for (int i = first; i < argc; i++)
      if (strcmp(argv[i], name) == 0)
        return true;
    return argc == first;
  };
  const std::string side_by_side = std::to_string(n) + "x" + std::to_string(n);
  const int big = 32 << 20, rows = 65536, per_row = 655;
  const size_t square = (size_t)n * n;
  if (wanted("fdtd")) {
    Array<float> ex(square), ey(square), hz(square);
    randomise(ex), randomise(ey), randomise(hz);
    report("fdtd", side_by_side, {40.0 * square}, [&] { ex.in(), ey.in(), hz.in(); },
           [&] {
             loop([&] { ey.in(), hz.in(); }, [&] { fdtd_ey<<<tile_grid(n), tile>>>(n, ey.device, hz.device); });
             loop([&] { ex.in(), hz.in(); }, [&] { fdtd_ex<<<tile_grid(n), tile>>>(n, ex.device, hz.device); });
             loop([&] { ex.in(), ey.in(), hz.in(); }, [&] { fdtd_hz<<<tile_grid(n), tile>>>(n, ex.device, ey.device, hz.device); });
           },
           [&] { ex.out(), ey.out(), hz.out(); });
  }
  if (wanted("seidel")) {
    Array<double> a(square), b(square);
    randomise(a);
    report("seidel", side_by_side, {16.0 * square}, [&] { a.in(), b.in(); },
           [&] { seidel<<<tile_grid(n), tile>>>(n, a.device, b.device); },
           [&] { b.out(); });
  }
  if (wanted("jacobi2d")) {
    Array<float> a(square), b(square);
    randomise(a);
    report("jacobi2d", side_by_side, {8.0 * square}, [&] { a.in(), b.in(); },
           [&] { jacobi2d<<<tile_grid(n), tile>>>(n, a.device, b.device); }, [&] { b.out(); });
  }
  if (wanted("jacobi1d")) {
    const int m = 16 << 20;
    Array<float> a(m), b(m);
    randomise(a);
    report("jacobi1d", "16M", {8.0 * m}, [&] { a.in(), b.in(); }, [&] { jacobi1d<<<blocks(m), B>>>(m, a.device, b.device); },
           [&] { b.out(); });
  }
  if (wanted("gemm")) {
    Array<float> a(square), b(square), c(square);
    randomise(a), randomise(b);
    report("gemm", side_by_side, {12.0 * square, 2.0 * n * square}, [&] { a.in(), b.in(); },
           [&] { gemm<<<dim3(n / 128, n / 64), tile>>>(n, a.device, b.device, c.device); }, [&] { c.out(); });
  }
  if (wanted("tmv")) {
    Array<float> a(square), x(n), y(n);
    randomise(a), randomise(x);
    report("tmv", side_by_side, {4.0 * square + 8.0 * n}, [&] { a.in(), x.in(); },
           [&] { tmv<<<blocks(n), B>>>(n, a.device, x.device, y.device); }, [&] { y.out(); });
  }
  if (wanted("house") || wanted("ipvec")) {
    Array<double> x(big), y(big);
    Array<int> index(big);
    randomise(x), randomise(y), permute(index);
    auto in = [&] { x.in(), y.in(), index.in(); };
    if (wanted("house"))
      report("house", "32M", {28.0 * big}, in, [&] { reflect<<<blocks(big), B>>>(big, 2.0, x.device, index.device, y.device); },
             [&] { y.out(); });
    if (wanted("ipvec"))
      report("ipvec", "32M", {20.0 * big}, in, [&] { ipvec<<<blocks(big), B>>>(big, index.device, x.device, y.device); },
             [&] { y.out(); });
  }
  if (wanted("saxpy")) {
    Array<float> x(big), y(big);
    Array<int> index(big);
    randomise(x), randomise(y), permute(index);
    auto in = [&] { x.in(), y.in(), index.in(); };
    report("saxpy", "32M", {16.0 * big}, in, [&] { saxpy<<<blocks(big), B>>>(big, 2.0f, index.device, x.device, y.device); },
           [&] { y.out(); });
  }
  if (wanted("ger") || wanted("gemver")) {
    Sparse<double> a(rows, (size_t)rows * per_row * 3 / 2, [&](int) { return between(per_row / 2, per_row * 3 / 2); }, rows);
    Array<double> x(rows), y(rows), z(rows);
    randomise(x), randomise(y), randomise(z);
    const unsigned warps = blocks((size_t)rows * 32);
    auto in = [&] { a.in(), x.in(), y.in(), z.in(); };
    if (wanted("ger")) {
      Array<int> end(rows);
      memcpy(end.host, a.row.host + 1, rows * sizeof(int));
      auto its_in = [&] { in(), end.in(); };
      its_in();
      report("ger", "64kx64k 1%", {20.0 * a.column.n + 24.0 * rows}, its_in,
             [&] {
               rank_one<<<warps, B>>>(rows, a.row.device, end.device, a.column.device, 1.5, x.device, y.device, a.value.device);
             },
             [&] { a.value.out(); });
    }
    if (wanted("gemver")) {
      Array<double> u(rows), v(rows), w(rows);
      Array<int> order(rows), start(rows + 2), element(a.column.n), of(a.column.n);
      randomise(u), randomise(v), randomise(w), permute(order);
      memset(start.host, 0, (rows + 2) * sizeof(int));
      for (size_t k = 0; k < a.column.n; k++)
        start.host[a.column.host[k] + 2]++;
      for (int j = 2; j < rows + 2; j++)
        start.host[j] += start.host[j - 1];
      for (int i = 0; i < rows; i++)
        for (int k = a.row.host[i]; k < a.row.host[i + 1]; k++) {
          int place = start.host[a.column.host[k] + 1]++;
          element.host[place] = k;
          of.host[place] = i;
        }
      auto all_in = [&] { in(), u.in(), v.in(), w.in(), order.in(), start.in(), element.in(), of.in(); };
      all_in();
      report("gemver", "64kx64k 1%", {48.0 * a.column.n + 80.0 * rows}, all_in,
             [&] {
               loop([&] { a.in(), x.in(), y.in(), u.in(), v.in(); },
                    [&] {
                      rank_two<<<warps, B>>>(rows, a.row.device, a.column.device, x.device, y.device, u.device, v.device,
                                             a.value.device);
                    });
               loop([&] { start.in(), element.in(), of.in(), a.value.in(), x.in(), y.in(); },
                    [&] {
                      transposed_product<<<warps, B>>>(rows, start.device, element.device, of.device, 1.2, a.value.device,
                                                       y.device, x.device);
                    });
               loop([&] { a.in(), order.in(), x.in(), w.in(); },
                    [&] {
                      ordered_product<<<warps, B>>>(rows, order.device, a.row.device, a.column.device, 1.5, a.value.device,
                                                    x.device, w.device);
                    });
             },
             [&] { a.value.out(), x.out(), w.out(); });
    }
  }
  if (wanted("fwd")) {
    leave_room_for_gathers<float, 4>();
    // The rows of the first level have their diagonals only, those of others need rows of earlier levels.
    const int levels = 8, each = rows / levels;
    Sparse<float> a(rows, (size_t)rows * (per_row + 1), [&](int i) { return i < each ? 1 : 1 + between(1, per_row); }, each);
    for (int i = 0; i < rows; i++) {
      for (int k = a.row.host[i]; k < a.row.host[i + 1] - 1; k++)
        a.column.host[k] = (int)(next_random() % (i / each * each));
      a.column.host[a.row.host[i + 1] - 1] = i;
    }
    Array<float> x(rows);
    Array<int> order(rows);
    randomise(x), permute(order);
    std::stable_sort(order.host, order.host + rows, [&](int i, int j) { return i / each < j / each; });
    auto in = [&] { a.in(), x.in(), order.in(); };
    in();
    report("fwd", "64kx64k, 8 levels", {8.0 * a.column.n + 16.0 * rows}, in,
           [&] {
             for (int level = 0; level < levels; level++)
               loop(in, [&, level] {
                 eliminate<<<blocks((size_t)each * 32), B>>>(level * each, (level + 1) * each, order.device, a.row.device,
                                                             a.column.device, a.value.device, x.device);
               });
           },
           [&] { x.out(); },
           [&] {
             for (int level = 0; level < levels; level++)
               loop(in, [&, level] {
                 rows_in_order<float, 4><<<blocks((size_t)each * 8), B>>>(level * each, (level + 1) * each, order.device,
                                                                          a.row.device, a.column.device, a.value.device, x.device);
               });
           });
  }
  if (wanted("sor")) {
    const int colours = 4, each = rows / colours;
    Array<int> column((size_t)rows * per_row), order(rows);
    Array<double> a((size_t)rows * per_row), diagonal(rows), b(rows), x(rows);
    randomise(a), randomise(diagonal), randomise(b), randomise(x), permute(order);
    // Neighbours of a row have other colours.
    for (int p = 0; p < rows; p++)
      for (int k = 0; k < per_row; k++)
        column.host[(size_t)k * rows + order.host[p]] =
          order.host[(p / each * each + each + (int)(next_random() % (rows - each))) % rows];
    auto in = [&] { column.in(), order.in(), a.in(), diagonal.in(), b.in(), x.in(); };
    in();
    report("sor", "64kx64k 1%, 4 colours", {12.0 * a.n + 36.0 * rows}, in,
           [&] {
             for (int c = 0; c < colours; c++)
               loop(in, [&, c] {
                 relax<<<blocks(each), B>>>(c * each, (c + 1) * each, per_row, rows, order.device, column.device, a.device,
                                            diagonal.device, b.device, 1.25, x.device);
               });
           },
           [&] { x.out(); });
  }
  if (wanted("vector_add")) {
    const int m = 16 << 20;
    Array<float> a(m), b(m), c(m);
    randomise(a), randomise(b);
    report("vector_add", "16M", {12.0 * m}, [&] { a.in(), b.in(); },
           [&] { vector_add<<<blocks(m), B>>>(m, a.device, b.device, c.device); }, [&] { c.out(); });
  }
  if (wanted("csr_forward")) {
    const int start = rows / 4;
    leave_room_for_gathers<double, 8>();
    Sparse<double> a(rows, (size_t)rows * (per_row + 1), [&](int i) { return i < start ? 1 : 1 + between(1, per_row); }, start);
    Array<double> x(rows);
    randomise(x);
    for (int i = 0; i < rows; i++) {
      for (int k = a.row.host[i]; k < a.row.host[i + 1] - 1; k++)
        a.column.host[k] = (int)(next_random() % start);
      a.column.host[a.row.host[i + 1] - 1] = i;
    }
    a.in();
    report("csr_forward", "64kx64k 0.5%", {12.0 * a.column.n + 20.0 * rows}, [&] { a.in(), x.in(); },
           [&] {
             forward_rows<<<blocks((size_t)(rows - start) * 32), B>>>(start, rows, a.row.device, a.column.device,
                                                                      a.value.device, x.device);
           },
           [&] { x.out(); },
           [&] {
             rows_in_order<double, 8><<<blocks((size_t)(rows - start) * 4), B>>>(start, rows, nullptr, a.row.device, a.column.device,
                                                                                 a.value.device, x.device);
           });
  }
  if (wanted("lattice")) {
    const int side = 64;
    Array<Site> lattice((size_t)side * side * side * side);
    CHECK(cudaMemset(lattice.device, 0, lattice.n * sizeof(Site)));
    report("lattice", "64^4", {1.0 * lattice.n * sizeof(Site)}, [&] {},
           [&] { make_lattice<<<blocks(lattice.n), B>>>(side, 1, lattice.device); },
           [&] { lattice.out(); }, nullptr, [&] { lattice.in(); });
  }
  if (wanted("histogram")) {
    Array<unsigned short> pixel(square);
    Array<unsigned> count(BINS);
    for (size_t i = 0; i < pixel.n; i++) {
      unsigned long long r = next_random();
      pixel.host[i] = (unsigned short)((r & 0x3fff) + (r >> 14 & 0x3fff) + (r >> 28 & 0x3fff) + (r >> 42 & 0x3fff));
    }
    CHECK(cudaMemset(count.device, 0, BINS * sizeof(unsigned)));
    pixel.in();
    report("histogram", side_by_side, {2.0 * pixel.n}, [&] { pixel.in(), count.in(); },
           [&] { histogram<<<132 * 8, B>>>(pixel.n, pixel.device, count.device); }, [&] { count.out(); });
  }
  if (wanted("convolution")) {
    const int side = 2048;
    Array<unsigned char> in((size_t)side * side), out((size_t)side * side);
    for (size_t i = 0; i < in.n; i++)
      in.host[i] = (unsigned char)(next_random() >> 56);
    in.in();
    report("convolution", "2048x2048", {2.0 * side * side}, [&] { in.in(); },
           [&] { convolution<<<tile_grid(side), tile>>>(side, in.device, out.device); }, [&] { out.out(); });
  }
  if (wanted("nbody")) {
    const int bodies = 16384;
    Array<Body> b(bodies);
    Array<Vector> acceleration(bodies);
    for (int i = 0; i < bodies; i++) {
      double *number = &b.host[i].place.x;
      for (int k = 0; k < 7; k++)
        number[k] = (double)(next_random() >> 40) / 16777216.0;
    }
    b.in();
    report("nbody", "16384", {160.0 * bodies, 0, 20.0 * bodies * bodies}, [&] { b.in(); },
           [&] {
             auto both = [&] { b.in(), acceleration.in(); };
             loop(both, [&] { accelerations<<<bodies / 128, 128>>>(bodies, b.device, 1e-4, acceleration.device); });
             loop(both, [&] { move_bodies<<<blocks(bodies), B>>>(bodies, b.device, acceleration.device, 1e-9); });
           },
           [&] { b.out(), acceleration.out(); });
  }
  if (wanted("mandelbrot")) {
    const int side = 2048;
    Array<int> iterations((size_t)side * side);
    mandelbrot<<<tile_grid(side), tile>>>(side, -2.0, 1.25, 2.5 / side, 256, iterations.device);
    iterations.out();
    CHECK(cudaDeviceSynchronize());
    double turns = 0;
    for (size_t i = 0; i < iterations.n; i++)
      turns += iterations.host[i];
    report("mandelbrot", "2048x2048", {4.0 * side * side, 0, 8.0 * turns}, [&] {},
           [&] { mandelbrot<<<tile_grid(side), tile>>>(side, -2.0, 1.25, 2.5 / side, 256, iterations.device); },
           [&] { iterations.out(); }, nullptr, [&] { iterations.in(); });
  }
  if (wanted("spmv")) {
    const int m = 1 << 19, each = 28;
    Sparse<double> a(m, (size_t)m * each * 3 / 2, [&](int) { return between(16, 39); }, m);
    Array<double> x(m), y(m);
    randomise(x);
    for (int i = 0; i < m; i++)
      for (int k = a.row.host[i]; k < a.row.host[i + 1]; k++)
        a.column.host[k] = (int)(next_random() % 8 == 0 ? next_random() % m : (i + next_random() % 512) % m);
    a.in();
    report("spmv", "512k rows of 16 to 39", {12.0 * a.column.n + 20.0 * m}, [&] { a.in(), x.in(); },
           [&] {
             row_product<<<blocks((size_t)m * 32), B>>>(m, a.row.device, a.column.device, a.value.device, x.device, y.device);
           },
           [&] { y.out(); });
  }
  if (wanted("heat")) {
    const int side = 256;
    Array<double> a((size_t)side * side * side), b((size_t)side * side * side);
    randomise(a), randomise(b);
    const dim3 grid((side + 31) / 32, (side + 7) / 8, side);
    report("heat", "256^3, 4 steps", {4 * 16.0 * side * side * side}, [&] { a.in(), b.in(); },
           [&] {
             for (int s = 0; s < 4; s++)
               loop([&] { a.in(), b.in(); }, [&, s] {
                 heat<<<grid, tile>>>(side, s % 2 == 0 ? a.device : b.device, s % 2 == 0 ? b.device : a.device, 0.125);
               });
           },
           [&] { a.out(), b.out(); });
  }
  if (wanted("matrices")) {
    const size_t m = 1 << 21;
    Array<float> a(16 * m), b(16 * m), c(16 * m);
    randomise(a), randomise(b);
    report("matrices", "2M", {192.0 * m, 128.0 * m}, [&] { a.in(), b.in(); },
           [&] { small_products<<<blocks(16 * m), B>>>(m, a.device, b.device, c.device); }, [&] { c.out(); });
  }
  if (wanted("search")) {
    const int reads = 1 << 17;
    Array<size_t> start(reads + 1);
    size_t next = 0;
    for (int r = 0; r <= reads; r++) {
      start.host[r] = next;
      next += 150 + next_random() % 250;
    }
    Array<char> text(next), word(5);
    Array<int> found(reads);
    for (size_t i = 0; i < next; i++)
      text.host[i] = "ACGT"[next_random() >> 62];
    memcpy(word.host, "GATTA", 5);
    start.in(), text.in(), word.in();
    report("search", "128k reads", {1.0 * next + 12.0 * reads}, [&] { start.in(), text.in(), word.in(); },
           [&] {
             search_reads<<<blocks((size_t)reads * 32), B>>>(reads, start.device, text.device, word.device, 5, found.device);
           },
           [&] { found.out(); });
  }
  return 0;
}
