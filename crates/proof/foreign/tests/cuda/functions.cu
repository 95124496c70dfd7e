// Functions that are called by their addresses: tables, virtual functions, parameters.
#include <new>

typedef int (*Operation)(int, int);
__device__ int sum(int a, int b) { return a + b; }
__device__ int greater(int a, int b) { return a > b ? a : b; }
__device__ int product(int a, int b) { return a * b; }

__device__ Operation operations[2] = {sum, greater};
__constant__ Operation fixed[2] = {greater, product};

extern "C" __global__ void tables(const int *in, int *out, int which)
{
    int i = threadIdx.x;
    out[i] = 100 * operations[which](in[i], 3) + fixed[which](in[i], 5);
}

template <class F> __device__ __noinline__ int applied(F function, int x) { return function(x, 2); }

extern "C" __global__ void passed(int *out, int adds)
{
    out[threadIdx.x] = applied(adds ? sum : greater, threadIdx.x);
}

struct Counter {
    __device__ virtual void count(int *at) const = 0;
};
struct Atomic : Counter {
    __device__ void count(int *at) const override { atomicAdd(at, 1); }
};
struct Plain : Counter {
    __device__ void count(int *at) const override { *at += 1; }
};

__device__ Counter *made;

// One thread makes an object, and all use it.
extern "C" __global__ void counts(Counter *room, int *out, int plain)
{
    if (threadIdx.x == 0)
        made = plain ? (Counter *)new (room) Plain : (Counter *)new (room) Atomic;
    __syncthreads();
    made->count(out);
}

// Nothing orders the object before its use.
extern "C" __global__ void hasty(Counter *room, int *out)
{
    if (threadIdx.x == 0)
        made = new (room) Atomic;
    made->count(out);
}
