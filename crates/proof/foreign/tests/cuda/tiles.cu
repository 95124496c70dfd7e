// A loop over tiles in two buffers: the next tile is loaded while this one is read.

template <bool waits>
__device__ void sum(const float *in, float *out, int tiles)
{
    __shared__ float buffers[2][64];
    int thread = threadIdx.x;
    const float *own = in + blockIdx.x * tiles * blockDim.x;
    buffers[0][thread] = own[thread];
    float total = 0.0f;
    for (int tile = 0; tile < tiles; tile++) {
        __syncthreads();
        total += buffers[tile % 2][blockDim.x - 1 - thread];
        if (!waits)
            buffers[tile % 2][thread] = 0.0f;
        if (tile + 1 < tiles)
            buffers[(tile + 1) % 2][thread] = own[(tile + 1) * blockDim.x + thread];
    }
    out[blockIdx.x * blockDim.x + thread] = total;
}

extern "C" __global__ void right(const float *in, float *out, int tiles) { sum<true>(in, out, tiles); }

// The tile is cleared while others still read it.
extern "C" __global__ void clearing(const float *in, float *out, int tiles) { sum<false>(in, out, tiles); }
