// The loops of `src/kernels.rs` in CUDA C++, around its own fences and atomics: what Wattle's are measured beside on
// an NVIDIA GPU. `loops.ptx` is made of it, so that no machine needs nvcc to measure:
//
//   nvcc -ptx -O3 -std=c++17 -arch=compute_75 -o - loops.cu | sed 's/^\.version .*/.version 7.8/' > loops.ptx
//
// (nvcc 13.5; the version is lowered to one that older drivers know, which has all of these instructions.)

#include <cstdint>
#include <cuda/atomic>

struct Loop {
  uint32_t turns, in_shared, in_data, work, slots, step, pitch, zero, goal, patience;
};

constexpr uint32_t LINE = 32;

template <typename Operation>
__device__ void loop(Loop l, uint32_t *data, uint32_t *words, uint32_t *arrived, uint32_t *ticks, Operation operation) {
  extern __shared__ uint32_t local[];
  using Word = cuda::atomic_ref<uint32_t, cuda::thread_scope_block>;
  using Arrivals = cuda::atomic_ref<uint32_t, cuda::thread_scope_device>;
  uint32_t lane = threadIdx.x, thread = blockIdx.x * blockDim.x + lane;
  uint32_t base = blockIdx.x * l.slots, first = thread * LINE, at = first;
  uint32_t found = Word(words[at]).load(cuda::memory_order_relaxed);
  if (l.patience > 0) {
    if (lane == 0) {
      Arrivals arrivals(*arrived);
      arrivals.fetch_add(1, cuda::memory_order_relaxed);
      for (uint32_t waited = 0; waited < l.patience && arrivals.load(cuda::memory_order_relaxed) < l.goal;) waited++;
    }
    __syncthreads();
  }
  uint32_t began = (uint32_t)clock64();
  uint32_t slot = 0, busy = thread + 1;
#pragma unroll 1
  for (uint32_t turn = 0; turn < l.turns; turn++) {
#pragma unroll 1
    for (uint32_t write = 0; write < l.in_shared; write++) local[write * l.pitch + lane] = turn;
#pragma unroll 1
    for (uint32_t write = 0; write < l.in_data; write++) {
      slot = (slot + l.step) & (l.slots - 1);
      Word(data[(base + slot) * l.pitch + lane]).store(turn, cuda::memory_order_relaxed);
    }
    at = first + (found & l.zero);
    operation(words, at, found, turn);
#pragma unroll 1
    for (uint32_t work = 0; work < l.work; work++) {
      for (int i = 0; i < 3; i++) {
        busy ^= busy << 13;
        busy ^= busy >> 17;
        busy ^= busy << 5;
      }
    }
  }
  ticks[thread] = (uint32_t)clock64() - began;
  Word(words[first]).store(found + ((at + busy) & l.zero), cuda::memory_order_relaxed);
}

#define LOOP(NAME, ...)                                                                                               \
  extern "C" __global__ void NAME(uint32_t turns, uint32_t in_shared, uint32_t in_data, uint32_t work, uint32_t slots, \
                                  uint32_t step, uint32_t pitch, uint32_t zero, uint32_t goal, uint32_t patience,      \
                                  uint32_t *data, uint32_t *words, uint32_t *arrived, uint32_t *ticks) {               \
    Loop l{turns, in_shared, in_data, work, slots, step, pitch, zero, goal, patience};                                 \
    loop(l, data, words, arrived, ticks,                                                                               \
         [](uint32_t *words, uint32_t at, uint32_t &found, uint32_t turn) { __VA_ARGS__; });                           \
  }

LOOP(nothing, )
LOOP(chain, found = at)

LOOP(threadfence_block, __threadfence_block())
LOOP(threadfence_device, __threadfence())
LOOP(threadfence_system, __threadfence_system())

#define FENCE(ORDER, SCOPE) \
  LOOP(fence_##ORDER##_##SCOPE, cuda::atomic_thread_fence(cuda::memory_order_##ORDER, cuda::thread_scope_##SCOPE))
#define FENCES(ORDER) FENCE(ORDER, block) FENCE(ORDER, device) FENCE(ORDER, system)
FENCES(acquire)
FENCES(release)
FENCES(acq_rel)
FENCES(seq_cst)

#define WORD cuda::atomic_ref<uint32_t, cuda::thread_scope_device>(words[at])
#define LOAD(ORDER) LOOP(load_##ORDER, found = WORD.load(cuda::memory_order_##ORDER))
#define STORE(ORDER) LOOP(store_##ORDER, WORD.store(turn, cuda::memory_order_##ORDER))
#define EXCHANGE(ORDER) LOOP(exchange_##ORDER, found = WORD.exchange(turn, cuda::memory_order_##ORDER))
#define ADD(ORDER) LOOP(fetch_add_##ORDER, found = WORD.fetch_add(turn, cuda::memory_order_##ORDER))
// Each expects what the one before left, so that all succeed.
#define COMPARE_EXCHANGE(ORDER)                                                                                    \
  LOOP(compare_exchange_##ORDER, uint32_t expected = found;                                                        \
       WORD.compare_exchange_strong(expected, found + 1, cuda::memory_order_##ORDER); found = expected + 1)
#define UPDATES(UPDATE) UPDATE(relaxed) UPDATE(acquire) UPDATE(release) UPDATE(acq_rel) UPDATE(seq_cst)
LOAD(relaxed)
LOAD(acquire)
LOAD(seq_cst)
STORE(relaxed)
STORE(release)
STORE(seq_cst)
UPDATES(EXCHANGE)
UPDATES(COMPARE_EXCHANGE)
UPDATES(ADD)
