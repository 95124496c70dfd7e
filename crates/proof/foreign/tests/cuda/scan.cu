// A scan in place, each thread adding what stands a distance before its own: Hillis and Steele's.

__shared__ int part[64];

// The read and the write of one statement: what a thread reads another one may have written in the same turn.
extern "C" __global__ void in_place(int *x)
{
    int t = threadIdx.x;
    part[t] = x[t];
    __syncthreads();
    for (int distance = 1; distance < blockDim.x; distance *= 2) {
        if (t >= distance)
            part[t] += part[t - distance];
        __syncthreads();
    }
    x[t] = part[t];
}

// The mean of both neighbours, in the place of the number between them.
extern "C" __global__ void smooth(int *x)
{
    int t = threadIdx.x;
    part[t + 1] = x[t];
    if (t == 0)
        part[0] = part[blockDim.x + 1] = 0;
    __syncthreads();
    part[t + 1] = (part[t] + part[t + 2]) / 2;
    __syncthreads();
    x[t] = part[t + 1];
}

// The greatest of some numbers, whose first reading is plain: threads leave the loop apart.
extern "C" __global__ void greatest(int *most, const int *x)
{
    int own = x[threadIdx.x];
    int old = *most;
    while (own > old) {
        int seen = atomicCAS(most, old, own);
        if (seen == old)
            break;
        old = seen;
    }
}

extern "C" __global__ void right(int *x)
{
    int t = threadIdx.x, sum = 0;
    part[t] = x[t];
    __syncthreads();
    for (int distance = 1; distance < blockDim.x; distance *= 2) {
        if (t >= distance)
            sum = part[t - distance];
        __syncthreads();
        if (t >= distance)
            part[t] += sum;
        __syncthreads();
    }
    x[t] = part[t];
}
