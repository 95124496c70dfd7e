// A sum within a warp, without memory; then the lanes that are odd are counted.

template <bool synchronizes>
__device__ void sum(const int *in, int *out)
{
    __shared__ int last[8];
    int lane = threadIdx.x, value = in[lane];
    for (int half = 4; half > 0; half /= 2)
        value += __shfl_down_sync(0xff, value, half, 8);
    int total = __shfl_sync(0xff, value, 0);
    unsigned int odd = __ballot_sync(0xff, in[lane] % 2);
    int most = __reduce_max_sync(0xff, in[lane]);
    last[lane] = total;
    if (synchronizes)
        __syncwarp();
    else
        total += __shfl_xor_sync(0xff, 0, 1);
    if (lane == 0) {
        out[0] = last[7];
        out[1] = odd;
        out[2] = most;
    }
}

extern "C" __global__ void right(const int *in, int *out) { sum<true>(in, out); }

// A shuffle brings all lanes to one place, and orders none of their memory.
extern "C" __global__ void unordered(const int *in, int *out) { sum<false>(in, out); }
