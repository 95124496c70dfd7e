// A scan over blocks of one thread each: a block waits for the sum in front of it, and passes its own on.

template <bool fences>
__device__ void scan(const int *in, int *sums, int *state, int *out)
{
    int block = blockIdx.x, before = 0;
    if (block > 0) {
        while (atomicAdd(&state[block - 1], 0) == 0) {
        }
        if (fences)
            __threadfence();
        before = sums[block - 1];
    }
    int sum = before + in[block];
    out[block] = sum;
    sums[block] = sum;
    if (fences)
        __threadfence();
    atomicExch(&state[block], 1);
}

extern "C" __global__ void right(const int *in, int *sums, int *state, int *out) { scan<true>(in, sums, state, out); }
extern "C" __global__ void unfenced(const int *in, int *sums, int *state, int *out) { scan<false>(in, sums, state, out); }
