// What compilers make of ordinary integer and floating-point code, checked by what it computes.
#include <cassert>
#include <cstdio>
#include <cuda_fp16.h>

// Rotations, bytes, bits and fields.
extern "C" __global__ void words(unsigned *out, unsigned a, unsigned b, unsigned by)
{
    out[0] = __funnelshift_l(a, b, by);
    out[1] = a << (by & 31) | a >> (-by & 31);
    out[2] = __byte_perm(a, b, 0x5410);
    out[3] = __dp4a(a, b, 1u);
    out[4] = __brev(a) + __popc(b) + __clz(a);
    asm("bfi.b32 %0, %1, %2, %3, 8;" : "=r"(out[5]) : "r"(a), "r"(b), "r"(by));
    asm("lop3.b32 %0, %1, %2, %3, 0xCA;" : "=r"(out[6]) : "r"(a), "r"(b), "r"(by));
    unsigned __int128 product = (unsigned __int128)(0x100000000ull * a + b) * (0x100000000ull * b + a);
    out[7] = product >> 64;
}

// Sums rounded down and up, and numbers of half precision two at a time.
extern "C" __global__ void floats(float *out, float a, float b)
{
    out[0] = __fadd_rd(a, b);
    out[1] = __fadd_ru(a, b);
    out[2] = __uint2float_rz(16777219u);
    __half2 halves = __hfma2(__floats2half2_rn(a, 2.0f), __float2half2_rn(3.0f), __float2half2_rn(0.5f));
    out[3] = __low2float(halves);
    out[4] = __high2float(__hmin2(halves, __float2half2_rn(4.0f)));
    out[5] = __heq2(halves, halves).x == __float2half(1.0f);
}

// A switch becomes an indexed branch.
extern "C" __global__ void switches(int *out, int which)
{
    switch (which) {
    case 0: out[0] = out[1] / 3; break;
    case 1: out[0] = out[2] * out[1]; break;
    case 2: out[0] = 7; __threadfence(); break;
    case 3: out[0] = out[1] ^ out[2]; break;
    case 4: atomicAdd(out, 40); break;
    case 5: out[0] = out[1] % 5; break;
    default: out[0] = -1;
    }
}

// How many threads of a block hold a true value, between two barriers' worth of order.
extern "C" __global__ void counts(const int *in, int *out)
{
    __shared__ int seen[64];
    seen[threadIdx.x] = in[threadIdx.x];
    int count = __syncthreads_count(in[threadIdx.x] > 2);
    out[threadIdx.x] = 100 * count + seen[blockDim.x - 1 - threadIdx.x];
    if (__syncthreads_and(count == 2) && !__syncthreads_or(count != 2))
        out[threadIdx.x] += 1000;
}

__device__ int first = 3;
__device__ int *pointer = &first;

// A variable that begins with another one's address.
extern "C" __global__ void pointers(int *out) { out[0] = *pointer + 1; }

// An assertion, behind what is printed.
extern "C" __global__ void asserts(int *out)
{
    printf("out is %d\n", out[0]);
    assert(out[0] == 3);
    out[0] = 4;
}

// A kernel that this checker does not know does not keep it from the others.
extern "C" __global__ void foreign(unsigned *out) { asm volatile("griddepcontrol.wait;"); out[0] = 1; }
