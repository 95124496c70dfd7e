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

// One buffer, which is loaded anew while others still read it.
extern "C" __global__ void one_buffer(const float *in, float *out, int tiles)
{
    __shared__ float buffer[64];
    int thread = threadIdx.x;
    float total = 0.0f;
    for (int tile = 0; tile < tiles; tile++) {
        buffer[thread] = in[tile * blockDim.x + thread];
        __syncthreads();
        for (int other = 0; other < blockDim.x; other++)
            total += buffer[other];
    }
    out[thread] = total;
}

// A tree of sums without a barrier between its steps.
extern "C" __global__ void tree(const float *in, float *out)
{
    __shared__ float sums[64];
    int thread = threadIdx.x;
    sums[thread] = in[thread];
    __syncthreads();
    for (int step = blockDim.x / 2; step > 0; step /= 2) {
        if (thread < step)
            sums[thread] += sums[thread + step];
    }
    if (thread == 0)
        *out = sums[0];
}

// A scan whose steps begin before the one before has been written.
extern "C" __global__ void steps(const float *in, float *out)
{
    __shared__ float sums[64];
    int thread = threadIdx.x;
    sums[thread] = in[thread];
    __syncthreads();
    for (int step = 1; step < blockDim.x; step *= 2) {
        float left = thread >= step ? sums[thread - step] : 0.0f;
        __syncthreads();
        sums[thread] += left;
    }
    out[thread] = sums[thread];
}
