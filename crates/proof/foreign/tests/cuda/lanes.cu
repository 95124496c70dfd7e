// What the lanes of a warp find out about each other.

// The lanes with one key add to its counter by one of them.
extern "C" __global__ void by_key(const int *keys, unsigned *counts, unsigned *seen)
{
    unsigned lane = threadIdx.x;
    unsigned same = __match_any_sync(0xffffffffu >> (32 - blockDim.x), keys[lane]);
    if (lane == __ffs(same) - 1)
        atomicAdd(&counts[keys[lane]], __popc(same));
    seen[lane] = same;
}

// Whether all lanes have one key, and one predicate.
extern "C" __global__ void agree(const long long *keys, unsigned *out)
{
    unsigned all = 0xffffffffu >> (32 - blockDim.x), lane = threadIdx.x;
    int one;
    unsigned mask = __match_all_sync(all, keys[lane], &one);
    out[lane] = mask * 4 + one * 2 + __uni_sync(all, keys[lane] > 4);
}

// Whoever is here takes places by one addition: the lowest lane that is together with it does that for all.
extern "C" __global__ void places(const int *in, unsigned *count, unsigned *at)
{
    unsigned lane = threadIdx.x;
    if (in[lane] == 0)
        return;
    unsigned active = __activemask();
    unsigned leader = __ffs(active) - 1, first;
    if (lane == leader)
        first = atomicAdd(count, __popc(active));
    first = __shfl_sync(active, first, leader);
    at[lane] = first + __popc(active & ((1u << lane) - 1));
}

// The mistake: the lanes that are together are taken for all that came through the branch, so that lane 0 counts for them.
extern "C" __global__ void for_all(const int *in, unsigned *count)
{
    unsigned lane = threadIdx.x;
    if (in[lane] == 0)
        return;
    unsigned active = __activemask();
    if (lane == 0)
        atomicAdd(count, __popc(active));
}

// In a loop a lane may be together with those of other turns.
extern "C" __global__ void turns(unsigned *count)
{
    for (unsigned turn = 0; turn <= threadIdx.x; turn++)
        if (threadIdx.x % 32 == __ffs(__activemask()) - 1)
            atomicAdd(count, 1);
}

// A sum over a block that may be smaller than a warp: lane 0 alone has all of it, and the others take what does not exist.
extern "C" __global__ void sum_down(const int *in, int *out)
{
    int sum = in[threadIdx.x];
    for (int step = 4; step; step /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, step);
    if (threadIdx.x == 0)
        *out = sum;
}

// Every lane uses what it takes.
extern "C" __global__ void take_down(const int *in, int *out)
{
    out[threadIdx.x] = __shfl_down_sync(0xffffffff, in[threadIdx.x], 4);
}
