// Threads take a lock in the order of their tickets.

__device__ unsigned int next = 0, serving = 0;

template <bool fences>
__device__ void count(int *counter)
{
    unsigned int ticket = atomicAdd(&next, 1);
    while (atomicAdd(&serving, 0) != ticket) {
    }
    if (fences)
        __threadfence();
    *counter += 1;
    if (fences)
        __threadfence();
    atomicAdd(&serving, 1);
}

extern "C" __global__ void right(int *counter) { count<true>(counter); }
extern "C" __global__ void unfenced(int *counter) { count<false>(counter); }
