// Functions that the compiler leaves as functions: they are called, with values, structs and memory of the thread.

struct Record {
    int values[6];
};

__device__ __noinline__ int take(int *counter, int step) {
    return atomicAdd(counter, step);
}

__device__ __noinline__ void bump(int *cell) {
    *cell += 1;
}

// The record is passed by value, and indexed by what is not known before.
__device__ __noinline__ int nth(Record record, int n) {
    record.values[n & 3] += 10;
    return record.values[(n + 1) & 3] + record.values[n & 3];
}

__device__ __noinline__ int twice(int *counter, int step) {
    if (step < 0) return -1;
    int first = take(counter, step);
    return first + take(counter, step);
}

extern "C" __global__ void counts(int *counter, int *seen) {
    seen[threadIdx.x] = twice(counter, 1);
    twice(counter, -1);
}

extern "C" __global__ void races(int *counter, int *seen) {
    bump(counter);
    seen[threadIdx.x] = 0;
}

extern "C" __global__ void records(int *counter, int *seen) {
    Record record;
    for (int i = 0; i < 6; i++) record.values[i] = i;
    seen[threadIdx.x] = nth(record, threadIdx.x);
    if (threadIdx.x == 0) *counter = 4;
}
