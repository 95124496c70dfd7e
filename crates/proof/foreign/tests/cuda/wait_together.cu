// Threads that wait together: a block whose first thread polls and tells the others, and the lanes of a warp that poll each for
// itself and vote, as a decoupled look-back does.

extern "C" __global__ void told(unsigned *flag, unsigned *data, unsigned *out)
{
    __shared__ unsigned ready;
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) {
            *data = 42;
            __threadfence();
            atomicExch(flag, 1);
        }
        return;
    }
    while (true) {
        if (threadIdx.x == 0) {
            ready = atomicAdd(flag, 0);
            __threadfence();
        }
        __syncthreads();
        if (ready)
            break;
        __syncthreads();
    }
    out[threadIdx.x] = *data;
}

// The second barrier is missing: the first thread tells anew while others still look.
extern "C" __global__ void told_too_early(unsigned *flag, unsigned *data, unsigned *out)
{
    __shared__ unsigned ready;
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) {
            *data = 42;
            __threadfence();
            atomicExch(flag, 1);
        }
        return;
    }
    while (true) {
        if (threadIdx.x == 0) {
            ready = atomicAdd(flag, 0);
            __threadfence();
        }
        __syncthreads();
        if (ready)
            break;
    }
    out[threadIdx.x] = *data;
}

// Block 0 publishes a value for each lane of block 1.
extern "C" __global__ void voted(unsigned *status, unsigned *out)
{
    unsigned lane = threadIdx.x;
    if (blockIdx.x == 0) {
        __threadfence();
        atomicExch(&status[lane], lane + 1);
        return;
    }
    unsigned seen = 0;
    while (__any_sync(0xffffffff, seen == 0))
        seen = atomicAdd(&status[lane], 0);
    __threadfence();
    unsigned sum = seen;
    for (unsigned step = 1; step < blockDim.x; step *= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, step);
    out[lane] = sum;
}

// A lane's value never comes.
extern "C" __global__ void voted_for_ever(unsigned *status, unsigned *out)
{
    unsigned lane = threadIdx.x;
    if (blockIdx.x == 0) {
        if (lane > 0)
            atomicExch(&status[lane], lane + 1);
        return;
    }
    unsigned seen;
    do {
        seen = atomicAdd(&status[lane], 0);
    } while (__any_sync(0xffffffff, seen == 0));
    out[lane] = seen;
}
