// Sums of numbers of 16 bits by atomic operations, two at a time and one by one.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void pairs(const __half2 *in, __half2 *out) { atomicAdd(out, in[threadIdx.x]); }

extern "C" __global__ void singles(const __half *in, __half *out) { atomicAdd(out, in[threadIdx.x]); }

extern "C" __global__ void brains(const __nv_bfloat162 *in, __nv_bfloat162 *out)
{
    atomicAdd(out, in[threadIdx.x]);
}

extern "C" __global__ void vectors(const float2 *in, float2 *out) { atomicAdd(out, in[threadIdx.x]); }

// A sum of pairs in shared memory first, and the barrier before it is published left out in the second form.
template <bool right> __device__ void shared_first(const __half2 *in, __half2 *out)
{
    __shared__ __half2 part;
    if (threadIdx.x == 0)
        part = __float2half2_rn(0.0f);
    __syncthreads();
    atomicAdd(&part, in[threadIdx.x]);
    if (right)
        __syncthreads();
    if (threadIdx.x == 0)
        *out = part;
}
extern "C" __global__ void right(const __half2 *in, __half2 *out) { shared_first<true>(in, out); }
extern "C" __global__ void hasty(const __half2 *in, __half2 *out) { shared_first<false>(in, out); }
