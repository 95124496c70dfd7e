// The numbers that are not zero, packed together in any order.

template <bool atomic>
__device__ void compact(const int *in, int *out, int *count, int length)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < length && in[at] != 0) {
        int place = atomic ? atomicAdd(count, 1) : (*count)++;
        out[place] = in[at];
    }
}

extern "C" __global__ void right(const int *in, int *out, int *count, int length) { compact<true>(in, out, count, length); }
extern "C" __global__ void racy(const int *in, int *out, int *count, int length) { compact<false>(in, out, count, length); }
