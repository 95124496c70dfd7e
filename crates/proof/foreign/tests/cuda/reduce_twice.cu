// Two sums over a block through the same shared memory.

template <bool waits>
__device__ void sums(const int *a, const int *b, int *out)
{
    extern __shared__ int tile[];
    int thread = threadIdx.x, at = blockIdx.x * blockDim.x + thread, results[2];
    for (int round = 0; round < 2; round++) {
        tile[thread] = round == 0 ? a[at] : b[at];
        __syncthreads();
        for (int half = blockDim.x / 2; half > 0; half /= 2) {
            if (thread < half)
                tile[thread] += tile[thread + half];
            __syncthreads();
        }
        results[round] = tile[0];
        if (waits)
            __syncthreads();
    }
    if (thread == 0)
        out[blockIdx.x] = results[0] * 1000 + results[1];
}

extern "C" __global__ void right(const int *a, const int *b, int *out) { sums<true>(a, b, out); }

// The second sum begins to overwrite the first one's result while others still read it.
extern "C" __global__ void hasty(const int *a, const int *b, int *out) { sums<false>(a, b, out); }
