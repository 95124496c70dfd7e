// A sum over all blocks: the block that finishes last adds the parts of all of them.

__device__ unsigned int finished = 0;

template <bool acquires>
__device__ void sum(const float *in, volatile float *parts, float *out)
{
    __shared__ float tile[2];
    __shared__ bool is_last;
    tile[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = tile[0] + tile[1];
        __threadfence();
        is_last = atomicInc(&finished, gridDim.x) == gridDim.x - 1;
        if (acquires)
            __threadfence();
    }
    __syncthreads();
    if (is_last && threadIdx.x == 0) {
        float total = 0.0f;
        for (unsigned int block = 0; block < gridDim.x; block++)
            total += parts[block];
        out[0] = total;
    }
}

extern "C" __global__ void right(const float *in, volatile float *parts, float *out) { sum<true>(in, parts, out); }

// As published: the fence behind the counter is missing.
extern "C" __global__ void published(const float *in, volatile float *parts, float *out) { sum<false>(in, parts, out); }
