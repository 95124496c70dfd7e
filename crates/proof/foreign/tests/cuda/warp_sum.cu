// The last steps of a sum, within one warp, through shared memory.

template <bool synchronizes>
__device__ void sum(const int *in, int *out)
{
    __shared__ int tile[8];
    int lane = threadIdx.x;
    tile[lane] = in[lane];
    __syncwarp();
    for (int half = 4; half > 0; half /= 2) {
        int other = lane < half ? tile[lane + half] : 0;
        if (synchronizes)
            __syncwarp();
        tile[lane] += other;
        if (synchronizes)
            __syncwarp();
    }
    if (lane == 0)
        out[0] = tile[0];
}

extern "C" __global__ void right(const int *in, int *out) { sum<true>(in, out); }

// As it was written when the threads of a warp ran in step.
extern "C" __global__ void in_step(const int *in, int *out) { sum<false>(in, out); }
