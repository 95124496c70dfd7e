// Each thread of a warp takes a lock, and counts.

__device__ int lock = 0;

template <bool fences>
__device__ void count(int *counter)
{
    while (atomicCAS(&lock, 0, 1) != 0) {
    }
    if (fences)
        __threadfence();
    *counter += 1;
    if (fences)
        __threadfence();
    atomicExch(&lock, 0);
}

extern "C" __global__ void right(int *counter) { count<true>(counter); }

// As a textbook has it.
extern "C" __global__ void textbook(int *counter) { count<false>(counter); }
