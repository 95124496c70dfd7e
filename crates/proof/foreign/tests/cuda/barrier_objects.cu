// Blocks that wait by barrier objects (cuda::barrier), and a grid that waits for itself in several rounds.
#include <cooperative_groups.h>
#include <cuda/barrier>
using barrier = cuda::barrier<cuda::thread_scope_block>;

extern "C" __global__ void exchange(const int *in, int *out)
{
    __shared__ int tile[64];
    __shared__ barrier all;
    if (threadIdx.x == 0) init(&all, blockDim.x);
    __syncthreads();
    tile[threadIdx.x] = in[threadIdx.x];
    barrier::arrival_token token = all.arrive();
    int own = 100 * in[threadIdx.x];
    all.wait(std::move(token));
    out[threadIdx.x] = own + tile[blockDim.x - 1 - threadIdx.x];
}

// The mistake: nobody waits for the phase.
extern "C" __global__ void exchange_at_once(const int *in, int *out)
{
    __shared__ int tile[64];
    __shared__ barrier all;
    if (threadIdx.x == 0) init(&all, blockDim.x);
    __syncthreads();
    tile[threadIdx.x] = in[threadIdx.x];
    (void)all.arrive();
    out[threadIdx.x] = 100 * in[threadIdx.x] + tile[blockDim.x - 1 - threadIdx.x];
}

// The mistake: other threads use the object before it is one.
extern "C" __global__ void exchange_too_early(const int *in, int *out)
{
    __shared__ int tile[64];
    __shared__ barrier all;
    if (threadIdx.x == 0) init(&all, blockDim.x);
    tile[threadIdx.x] = in[threadIdx.x];
    all.arrive_and_wait();
    out[threadIdx.x] = 100 * in[threadIdx.x] + tile[blockDim.x - 1 - threadIdx.x];
}

// Arrivals and waits of a block whose object counts `count` threads.
extern "C" __global__ void counts(int count, int *out)
{
    __shared__ barrier all;
    if (threadIdx.x == 0) init(&all, count);
    __syncthreads();
    all.arrive_and_wait();
    out[threadIdx.x] = 1;
}

// One half of the block fills two buffers in turn, the other half empties them: what is ready to be filled, and what is filled,
// is told by two objects each (CUDA C++ Programming Guide, "Warp Specialization").
template <bool Asks>
__device__ void pass_on(int rounds, const int *in, int *out)
{
    __shared__ int buffer[2][32];
    __shared__ barrier ready[2], filled[2];
    unsigned half = blockDim.x / 2, lane = threadIdx.x % half;
    if (threadIdx.x < 2) init(&ready[threadIdx.x], blockDim.x), init(&filled[threadIdx.x], blockDim.x);
    __syncthreads();
    if (threadIdx.x < half) {
        for (int i = 0; i < rounds; i++) {
            if (Asks) ready[i % 2].arrive_and_wait();
            buffer[i % 2][lane] = in[i * half + lane];
            (void)filled[i % 2].arrive();
        }
    } else {
        if (Asks) (void)ready[0].arrive(), (void)ready[1].arrive();
        for (int i = 0; i < rounds; i++) {
            filled[i % 2].arrive_and_wait();
            out[i * half + lane] = buffer[i % 2][half - 1 - lane];
            if (Asks && i + 2 < rounds) (void)ready[i % 2].arrive();
        }
    }
}

extern "C" __global__ void pass(int rounds, const int *in, int *out) { pass_on<true>(rounds, in, out); }

// The mistake: a buffer is filled anew while others may still empty it.
extern "C" __global__ void pass_unasked(int rounds, const int *in, int *out) { pass_on<false>(rounds, in, out); }

// A tile that is copied asynchronously: the phase is over when all threads have come and all copies are complete.
enum Then { Wait, Look, Synchronize };
template <Then Does>
__device__ void copy_tile(const int *in, int *out)
{
    __shared__ int tile[64];
    __shared__ barrier all;
    if (threadIdx.x == 0) init(&all, blockDim.x);
    __syncthreads();
    cuda::memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], sizeof(int), all);
    barrier::arrival_token token = all.arrive();
    int own = Does == Look ? tile[threadIdx.x] : 0;
    if (Does == Synchronize) __syncthreads();
    else all.wait(std::move(token));
    out[threadIdx.x] = own + tile[blockDim.x - 1 - threadIdx.x];
}

extern "C" __global__ void copied(const int *in, int *out) { copy_tile<Wait>(in, out); }

// The mistakes: a thread looks at what it has copied itself before the phase is over; the block waits for its threads alone.
extern "C" __global__ void copied_own(const int *in, int *out) { copy_tile<Look>(in, out); }
extern "C" __global__ void copied_unwaited(const int *in, int *out) { copy_tile<Synchronize>(in, out); }

// The mistakes: what is copied changes before the phase is over; the copy may begin before the object is one.
extern "C" __global__ void copied_changing(int *in, int *out)
{
    __shared__ int tile[64];
    __shared__ barrier all;
    if (threadIdx.x == 0) init(&all, blockDim.x);
    __syncthreads();
    cuda::memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], sizeof(int), all);
    barrier::arrival_token token = all.arrive();
    in[threadIdx.x] = 0;
    all.wait(std::move(token));
    out[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

extern "C" __global__ void copied_too_early(const int *in, int *out)
{
    __shared__ int tile[64];
    __shared__ barrier all;
    if (threadIdx.x == 0) init(&all, blockDim.x);
    cuda::memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], sizeof(int), all);
    __syncthreads();
    all.arrive_and_wait();
    out[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

// A grid that waits for itself by a counter, as before cooperative groups.
template <bool Fences>
__device__ void count_sweeps(unsigned *count, int *from, int *to, int rounds)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    for (int round = 1; round <= rounds; round++) {
        to[i] = from[i == 0 ? n - 1 : i - 1] + from[i + 1 == n ? 0 : i + 1];
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            atomicAdd(count, 1);
            while (*(volatile unsigned *)count < round * gridDim.x) {}
            if (Fences) __threadfence();
        }
        __syncthreads();
        int *other = from;
        from = to;
        to = other;
    }
}

extern "C" __global__ void counted_sweeps(unsigned *count, int *from, int *to, int rounds)
{
    count_sweeps<true>(count, from, to, rounds);
}

// The mistake: nothing acquires.
extern "C" __global__ void counted_sweeps_released(unsigned *count, int *from, int *to, int rounds)
{
    count_sweeps<false>(count, from, to, rounds);
}

// Sums of neighbours, from one buffer into the other.
extern "C" __global__ void sweeps(int *from, int *to, int rounds)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    for (int round = 0; round < rounds; round++) {
        to[i] = from[i == 0 ? n - 1 : i - 1] + from[i + 1 == n ? 0 : i + 1];
        cooperative_groups::this_grid().sync();
        int *other = from;
        from = to;
        to = other;
    }
}

// The mistake: there is one buffer.
extern "C" __global__ void sweeps_in_place(int *at, int rounds)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    for (int round = 0; round < rounds; round++) {
        at[i] = at[i == 0 ? n - 1 : i - 1] + at[i + 1 == n ? 0 : i + 1];
        cooperative_groups::this_grid().sync();
    }
}

// Goes on until no thread of the grid has changed anything: `changed` has two flags, of which one is set back while the other is in
// use.
template <bool SetsBackLate>
__device__ void settle(int *at, int *changed)
{
    auto grid = cooperative_groups::this_grid();
    unsigned i = grid.thread_rank();
    for (int round = 0;; round++) {
        if (at[i] > 0) {
            at[i]--;
            atomicExch(&changed[round & 1], 1);
        }
        if (!SetsBackLate && i == 0) changed[(round + 1) & 1] = 0;
        grid.sync();
        bool again = *(volatile int *)&changed[round & 1];
        if (SetsBackLate && i == 0) changed[round & 1] = 0;
        if (!again) break;
        grid.sync();
    }
}

extern "C" __global__ void settles(int *at, int *changed)
{
    settle<false>(at, changed);
}

// The mistake: the flag is set back while others may still look at it.
extern "C" __global__ void settles_early(int *at, int *changed)
{
    settle<true>(at, changed);
}
