// Bins of a block in shared memory, then added to those of all.

template <bool waits>
__device__ void histogram(const unsigned char *in, unsigned int *bins, int length)
{
    __shared__ unsigned int own[4];
    if (threadIdx.x < 4)
        own[threadIdx.x] = 0;
    if (waits)
        __syncthreads();
    for (int at = blockIdx.x * blockDim.x + threadIdx.x; at < length; at += gridDim.x * blockDim.x)
        atomicAdd(&own[in[at] % 4], 1);
    __syncthreads();
    if (threadIdx.x < 4)
        atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

extern "C" __global__ void right(const unsigned char *in, unsigned int *bins, int length) { histogram<true>(in, bins, length); }

// Some threads count before the bins are cleared.
extern "C" __global__ void hasty(const unsigned char *in, unsigned int *bins, int length) { histogram<false>(in, bins, length); }
