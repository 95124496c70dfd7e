// What Wattle's kernels are measured beside on an NVIDIA GPU: CUDA C++, built by `gpu.sh` with the machine's nvcc.
//
// Each function does its work once and returns how long it took on the device, in seconds, by events around it; what
// cannot be had is negative. Buffers are kept between calls of one size. The context is the device's primary one, which
// Wattle uses too, so that both are measured in one process, in turns.

#include <cstddef>
#include <cstdint>
#include <cub/cub.cuh>
#include <cuda.h>
#include <cuda/atomic>
#include <cuda_runtime.h>
#include <dlfcn.h>

#include "kernels.cu"

namespace {

struct Buffers {
  float *x[3] = {}, *sum = nullptr;
  uint32_t *in = nullptr, *out = nullptr;
  void *scratch = nullptr;
  size_t scratch_bytes = 0;
};
Buffers buffers;
cudaEvent_t from, to;

// What went wrong last.
const char *error = nullptr;

bool good(cudaError_t result) {
  if (result != cudaSuccess) error = cudaGetErrorString(result);
  return result == cudaSuccess;
}

bool ready() {
  static bool made = good(cudaEventCreate(&from)) && good(cudaEventCreate(&to));
  return made;
}

template <typename T> bool have(T *&pointer, size_t n) {
  if (pointer) return true;
  return good(cudaMalloc(&pointer, n * sizeof(T))) && good(cudaMemset(pointer, 0, n * sizeof(T)));
}

template <typename Work> double timed(Work work) {
  if (!ready()) return -1;
  // Once before, so that the first event is reached while the device is busy, as in a row of such work.
  work();
  cudaEventRecord(from);
  work();
  cudaEventRecord(to);
  if (!good(cudaEventSynchronize(to)) || !good(cudaGetLastError())) return -1;
  float milliseconds = -1;
  cudaEventElapsedTime(&milliseconds, from, to);
  return milliseconds * 1e-3;
}

__global__ void triad_kernel(float *__restrict__ a, const float *__restrict__ b, const float *__restrict__ c,
                             float scalar, size_t n) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < n) a[i] = b[i] + scalar * c[i];
}

__global__ void empty_kernel(uint32_t *x, uint32_t n) {
  if (n == 0xffffffff) *x = 0;
}

template <int ORDER, cuda::thread_scope SCOPE> __device__ void fence() {
  if constexpr (ORDER == 1) cuda::atomic_thread_fence(cuda::memory_order_acquire, SCOPE);
  if constexpr (ORDER == 2) cuda::atomic_thread_fence(cuda::memory_order_release, SCOPE);
  if constexpr (ORDER == 3) cuda::atomic_thread_fence(cuda::memory_order_acq_rel, SCOPE);
  if constexpr (ORDER == 4) cuda::atomic_thread_fence(cuda::memory_order_seq_cst, SCOPE);
}

// The same loop as Wattle's: `WRITES` stores to words of the thread's own, and a fence.
template <int ORDER, cuda::thread_scope SCOPE, uint32_t WRITES>
__global__ void fence_kernel(uint32_t turns, uint32_t *data) {
  uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  for (uint32_t turn = 0; turn < turns; ++turn) {
    for (uint32_t write = 0; write + 1 <= WRITES; ++write) {
      // Not even without a fence shall the compiler keep only the last turn's.
      asm volatile("st.global.u32 [%0], %1;" ::"l"(data + thread + write * threads), "r"(turn) : "memory");
    }
    fence<ORDER, SCOPE>();
  }
}

using Fences = void (*)(uint32_t, uint32_t *);

template <uint32_t WRITES> Fences fences(int order, int scope) {
  using namespace cuda;
  static const Fences table[5][3] = {
      {fence_kernel<0, thread_scope_block, WRITES>, fence_kernel<0, thread_scope_block, WRITES>,
       fence_kernel<0, thread_scope_block, WRITES>},
      {fence_kernel<1, thread_scope_block, WRITES>, fence_kernel<1, thread_scope_device, WRITES>,
       fence_kernel<1, thread_scope_system, WRITES>},
      {fence_kernel<2, thread_scope_block, WRITES>, fence_kernel<2, thread_scope_device, WRITES>,
       fence_kernel<2, thread_scope_system, WRITES>},
      {fence_kernel<3, thread_scope_block, WRITES>, fence_kernel<3, thread_scope_device, WRITES>,
       fence_kernel<3, thread_scope_system, WRITES>},
      {fence_kernel<4, thread_scope_block, WRITES>, fence_kernel<4, thread_scope_device, WRITES>,
       fence_kernel<4, thread_scope_system, WRITES>},
  };
  return table[order][scope];
}

} // namespace

extern "C" {

// A copy from device to device of `n` floats.
double peer_copy(size_t n) {
  if (!have(buffers.x[0], n) || !have(buffers.x[1], n)) return -1;
  return timed([&] { cudaMemcpyAsync(buffers.x[0], buffers.x[1], n * sizeof(float), cudaMemcpyDeviceToDevice, 0); });
}

// `a = b + scalar * c` of `n` floats.
double peer_triad(size_t n) {
  if (!have(buffers.x[0], n) || !have(buffers.x[1], n) || !have(buffers.x[2], n)) return -1;
  const unsigned threads = 256, blocks = unsigned((n + threads - 1) / threads);
  return timed([&] { triad_kernel<<<blocks, threads>>>(buffers.x[0], buffers.x[1], buffers.x[2], 0.4f, n); });
}

// The sum of `n` floats by CUB.
double peer_sum(size_t n) {
  if (!have(buffers.x[0], n) || !have(buffers.sum, 1)) return -1;
  size_t bytes = 0;
  cub::DeviceReduce::Sum(nullptr, bytes, buffers.x[0], buffers.sum, n);
  if (bytes > buffers.scratch_bytes) {
    cudaFree(buffers.scratch);
    if (!good(cudaMalloc(&buffers.scratch, bytes))) return -1;
    buffers.scratch_bytes = bytes;
  }
  return timed([&] { cub::DeviceReduce::Sum(buffers.scratch, bytes, buffers.x[0], buffers.sum, n); });
}

// Running sums of `n` words by CUB.
double peer_scan(size_t n) {
  if (!have(buffers.in, n) || !have(buffers.out, n)) return -1;
  size_t bytes = 0;
  cub::DeviceScan::InclusiveSum(nullptr, bytes, buffers.in, buffers.out, n);
  if (bytes > buffers.scratch_bytes) {
    cudaFree(buffers.scratch);
    if (!good(cudaMalloc(&buffers.scratch, bytes))) return -1;
    buffers.scratch_bytes = bytes;
  }
  return timed([&] { cub::DeviceScan::InclusiveSum(buffers.scratch, bytes, buffers.in, buffers.out, n); });
}

// A matrix of `n` by `n` floats transposed.
double peer_transposition(size_t n) {
  if (!have(buffers.x[0], n * n) || !have(buffers.x[1], n * n)) return -1;
  const u32 side = u32(n), tiles = (side + 31) / 32;
  return timed([&] { transpose<<<dim3(tiles, tiles), 256>>>(buffers.x[0], buffers.x[1], side, side, tiles, tiles); });
}

// A step of the stencil on `n` by `n` floats.
double peer_stencil(size_t n) {
  if (!have(buffers.x[0], n * n) || !have(buffers.x[1], n * n)) return -1;
  const u32 side = u32(n), down = (side + 7) / 8, across = (side + 15) / 16;
  return timed([&] { stencil<<<dim3(across, down), 128>>>(buffers.x[0], buffers.x[1], side, side, down, across); });
}

// The product of two matrices of `n` by `n` floats.
double peer_product(size_t n) {
  if (!have(buffers.x[0], n * n) || !have(buffers.x[1], n * n) || !have(buffers.x[2], n * n)) return -1;
  const u32 side = u32(n), tiles = (side + 63) / 64;
  return timed([&] {
    product<<<tiles * tiles, 256>>>(buffers.x[0], buffers.x[1], buffers.x[2], side, side, side);
  });
}

__global__ void any_bytes(unsigned char *bytes, size_t n) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) {
    bytes[i] = (unsigned char)((u32)i * 2654435761u >> 24);
  }
}

// Counts of `n` bytes, each as often as any other, by so many blocks.
double peer_histogram(size_t n, u32 blocks) {
  const size_t words = (n + 3) / 4;
  const bool is_new = !buffers.in;
  if (!have(buffers.in, words) || !have(buffers.out, 256)) return -1;
  unsigned char *bytes = reinterpret_cast<unsigned char *>(buffers.in);
  if (is_new) any_bytes<<<blocks, 256>>>(bytes, n);
  return timed([&] { histogram<<<blocks, 256>>>(bytes, buffers.out, u32(n)); });
}

// `n` launches by cuLaunchKernel and nothing else but the wait at the end; the host takes the time.
int peer_launches(uint32_t n) {
  static CUfunction function = nullptr;
  static CUstream stream = nullptr;
  // From the driver itself, so that nothing has to be linked that a toolkit may not have.
  static void *const driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (!driver) return -1;
  static const auto launch = (decltype(&cuLaunchKernel))dlsym(driver, "cuLaunchKernel");
  static const auto wait = (decltype(&cuStreamSynchronize))dlsym(driver, "cuStreamSynchronize");
  if (!launch || !wait) return -1;
  if (!function) {
    cudaFunction_t found;
    cudaStream_t made;
    if (cudaGetFuncBySymbol(&found, (const void *)empty_kernel) != cudaSuccess) return -1;
    if (cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking) != cudaSuccess) return -1;
    function = (CUfunction)found;
    stream = (CUstream)made;
  }
  uint32_t *x = nullptr;
  uint32_t value = 0;
  void *parameters[] = {&x, &value};
  for (uint32_t i = 0; i < n; ++i)
    if (launch(function, 1, 1, 1, 32, 1, 1, 0, stream, parameters, nullptr) != CUDA_SUCCESS) return -1;
  return wait(stream) == CUDA_SUCCESS ? 0 : -1;
}

// Fences by libcu++. Orders: none, acquire, release, acq_rel, seq_cst; scopes: block, device, system; writes: 0, 4 or 32.
double peer_fences(int order, int scope, uint32_t writes, uint32_t blocks, uint32_t threads, uint32_t turns) {
  static uint32_t *data = nullptr;
  static size_t words = 0;
  const size_t wanted = size_t(blocks) * threads * 32;
  if (wanted > words) {
    cudaFree(data);
    if (!good(cudaMalloc(&data, wanted * sizeof(uint32_t)))) return -1;
    words = wanted;
  }
  Fences kernel = writes == 0 ? fences<0>(order, scope) : writes == 4 ? fences<4>(order, scope) : fences<32>(order, scope);
  return timed([&] { kernel<<<blocks, threads>>>(turns, data); });
}

// What went wrong since the last call, or null.
const char *peer_error() {
  const char *last = error;
  error = nullptr;
  return last;
}

// Frees the large buffers.
void peer_release() {
  for (float *&x : buffers.x) cudaFree(x), x = nullptr;
  cudaFree(buffers.in), buffers.in = nullptr;
  cudaFree(buffers.out), buffers.out = nullptr;
  cudaFree(buffers.scratch), buffers.scratch = nullptr, buffers.scratch_bytes = 0;
}

} // extern "C"
