// Threads that wait by objects of libcu++, whose waits poll, look at the time and sleep.
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/semaphore>

constexpr auto gpu = cuda::thread_scope_device;
__device__ cuda::binary_semaphore<gpu> door{1};
__device__ cuda::counting_semaphore<gpu, 4> items{0};
__device__ cuda::latch<gpu> gate{2};
__device__ cuda::barrier<gpu> both{2};

extern "C" __global__ void semaphore(int *sum)
{
    door.acquire();
    *sum += 1;
    door.release();
}

extern "C" __global__ void counting(int *data, int *out)
{
    if (blockIdx.x == 0) {
        data[0] = 1;
        items.release();
        data[1] = 2;
        items.release();
    } else {
        items.acquire();
        items.acquire();
        out[0] = data[0] + data[1];
    }
}

// The mistake: the second item may not be there.
extern "C" __global__ void counting_one(int *data, int *out)
{
    if (blockIdx.x == 0) {
        data[0] = 1;
        items.release();
        data[1] = 2;
        items.release();
    } else {
        items.acquire();
        out[0] = data[0] + data[1];
    }
}

extern "C" __global__ void latched(int *data, int *out)
{
    data[blockIdx.x] = blockIdx.x + 1;
    gate.arrive_and_wait();
    out[blockIdx.x] = data[1 - blockIdx.x];
}

extern "C" __global__ void met(int *data, int *out)
{
    data[blockIdx.x] = blockIdx.x + 1;
    both.arrive_and_wait();
    out[blockIdx.x] = data[1 - blockIdx.x];
}

__device__ void waits(int *flag, int *data, int *out, cuda::memory_order order)
{
    cuda::atomic_ref<int, gpu> ready(*flag);
    if (blockIdx.x == 0) {
        *data = 42;
        ready.store(1, cuda::memory_order_release);
        ready.notify_all();
    } else {
        ready.wait(0, order);
        out[0] = *data;
    }
}

extern "C" __global__ void flagged(int *flag, int *data, int *out) { waits(flag, data, out, cuda::memory_order_acquire); }

// The mistake: the wait orders nothing.
extern "C" __global__ void flagged_relaxed(int *flag, int *data, int *out)
{
    waits(flag, data, out, cuda::memory_order_relaxed);
}
