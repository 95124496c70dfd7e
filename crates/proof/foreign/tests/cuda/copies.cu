// Tiles that are copied to shared memory while the ones before are read, and what comes too early.
#include <cuda_pipeline.h>

// The next tile is on its way while this one is read.
extern "C" __global__ void right(const float4 *in, float4 *out, int tiles)
{
    __shared__ float4 buffers[2][64];
    int thread = threadIdx.x, threads = blockDim.x;
    __pipeline_memcpy_async(&buffers[0][thread], &in[thread], 16);
    __pipeline_commit();
    float4 total = {0, 0, 0, 0};
    for (int tile = 0; tile < tiles; tile++) {
        if (tile + 1 < tiles)
            __pipeline_memcpy_async(&buffers[(tile + 1) % 2][thread], &in[(tile + 1) * threads + thread], 16);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        float4 found = buffers[tile % 2][threads - 1 - thread];
        total.x += found.x;
        total.w += found.w;
        __syncthreads();
    }
    out[blockIdx.x * threads + thread] = total;
}

// The thread reads what it has not waited for.
extern "C" __global__ void early(const int *in, int *out)
{
    __shared__ int tile[64];
    int thread = threadIdx.x;
    __pipeline_memcpy_async(&tile[thread], &in[thread], 4);
    __pipeline_commit();
    out[thread] = tile[thread];
    __pipeline_wait_prior(0);
}

// Each thread has waited for its own copies, and not for the other's.
extern "C" __global__ void unsynchronized(const int *in, int *out)
{
    __shared__ int tile[64];
    int thread = threadIdx.x;
    __pipeline_memcpy_async(&tile[thread], &in[thread], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[thread] = tile[blockDim.x - 1 - thread];
}

// The barrier stands before the wait, so that it orders no copy.
extern "C" __global__ void hasty(const int *in, int *out)
{
    __shared__ int tile[64];
    int thread = threadIdx.x;
    __pipeline_memcpy_async(&tile[thread], &in[thread], 4);
    __pipeline_commit();
    __syncthreads();
    out[thread] = tile[blockDim.x - 1 - thread];
    __syncthreads();
    __pipeline_wait_prior(0);
}

// The source changes on the way.
extern "C" __global__ void changed(int *in, int *out)
{
    __shared__ int tile[64];
    int thread = threadIdx.x;
    __pipeline_memcpy_async(&tile[thread], &in[thread], 4);
    __pipeline_commit();
    __syncthreads();
    in[blockDim.x - 1 - thread] = 7;
    __syncthreads();
    __pipeline_wait_prior(0);
    out[thread] = tile[thread];
}

// The last threads read nothing of the source, and find zeros.
extern "C" __global__ void filled(const int *in, int *out, int length)
{
    __shared__ int tile[64];
    int thread = threadIdx.x;
    __pipeline_memcpy_async(&tile[thread], &in[thread < length ? thread : 0], 4, thread < length ? 0 : 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[thread] = tile[thread] + 1;
}
