// Launches of ordinary size, each in its right form and with a barrier or a fence left out.

template <bool waits>
__device__ void compact(const int *in, int *out, int *count, int length)
{
    __shared__ int before[2], base;
    int at = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    bool keep = at < length && in[at] > 0;
    unsigned kept = __ballot_sync(0xffffffffu, keep);
    if (lane == 0) before[warp] = __popc(kept);
    __syncthreads();
    if (threadIdx.x == 0) {
        int first = before[0];
        base = atomicAdd(count, first + before[1]);
        before[0] = 0;
        before[1] = first;
    }
    if (waits) __syncthreads();
    if (keep) out[base + before[warp] + __popc(kept & ((1u << lane) - 1))] = in[at];
}

extern "C" __global__ void compact_right(const int *in, int *out, int *count, int length)
{
    compact<true>(in, out, count, length);
}

extern "C" __global__ void compact_early(const int *in, int *out, int *count, int length)
{
    compact<false>(in, out, count, length);
}

template <bool waits>
__device__ void multiply(const float *a, const float *b, float *c, int n)
{
    __shared__ float left[16][16], right[16][16];
    int x = threadIdx.x % 16, y = threadIdx.x / 16, row = blockIdx.x * 16 + y;
    float sum = 0;
    for (int tile = 0; tile < n; tile += 16) {
        left[y][x] = a[row * n + tile + x];
        right[y][x] = b[(tile + y) * 16 + x];
        __syncthreads();
        for (int k = 0; k < 16; ++k) sum += left[y][k] * right[k][x];
        if (waits) __syncthreads();
    }
    c[row * 16 + x] = sum;
}

extern "C" __global__ void multiply_right(const float *a, const float *b, float *c, int n) { multiply<true>(a, b, c, n); }
extern "C" __global__ void multiply_early(const float *a, const float *b, float *c, int n) { multiply<false>(a, b, c, n); }

template <bool fenced>
__device__ void last_block(const unsigned *in, volatile unsigned *partial, unsigned *out, unsigned *tickets)
{
    __shared__ unsigned sums[32];
    __shared__ bool is_last;
    unsigned t = threadIdx.x;
    sums[t] = in[blockIdx.x * 32 + t];
    __syncthreads();
    for (unsigned half = 16; half > 0; half /= 2) {
        if (t < half) sums[t] += sums[t + half];
        __syncthreads();
    }
    if (t == 0) {
        partial[blockIdx.x] = sums[0];
        if (fenced) __threadfence();
        is_last = atomicInc(tickets, gridDim.x) == gridDim.x - 1;
        if (fenced) __threadfence();
    }
    __syncthreads();
    if (is_last && t == 0) {
        unsigned sum = 0;
        for (unsigned block = 0; block < gridDim.x; ++block) sum += partial[block];
        *out = sum;
    }
}

extern "C" __global__ void last_right(const unsigned *in, unsigned *partial, unsigned *out, unsigned *tickets)
{
    last_block<true>(in, partial, out, tickets);
}

extern "C" __global__ void last_unfenced(const unsigned *in, unsigned *partial, unsigned *out, unsigned *tickets)
{
    last_block<false>(in, partial, out, tickets);
}

extern "C" __global__ void turn_early(const unsigned *in, unsigned *out)
{
    __shared__ unsigned tile[64];
    unsigned t = threadIdx.x, at = blockIdx.x * 64 + t;
    tile[t] = in[at];
    out[at] = tile[63 - t] + 1;
}

// Sums of floats in whatever order the threads come.
extern "C" __global__ void sum_floats(const float *in, float *out)
{
    atomicAdd(out, in[blockIdx.x * blockDim.x + threadIdx.x]);
}

// Bins that are cleared, and counted in without a barrier between.
extern "C" __global__ void bins_early(const unsigned *in, unsigned *out)
{
    __shared__ unsigned bins[64];
    unsigned t = threadIdx.x;
    bins[t] = 0;
    atomicAdd(&bins[in[blockIdx.x * 64 + t]], 1);
    __syncthreads();
    atomicAdd(&out[t], bins[t]);
}

// Places from a counter, one more than there are.
extern "C" __global__ void places_beyond(unsigned *out, unsigned *count)
{
    out[atomicAdd(count, 1)] = 1;
}
