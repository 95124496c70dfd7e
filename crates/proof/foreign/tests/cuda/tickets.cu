// What an atomic addition returns is a ticket: the place to write to, or the next piece of work. Compiled as the kernels of
// barrier_objects.cu are.

// A stream compaction: each thread that keeps its element gets the next place.
extern "C" __global__ void keep(const int* in, int* out, int* count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (in[i] > 0) out[atomicAdd(count, 1)] = in[i];
}

// The same, with the count read and written apart: two threads get one place.
extern "C" __global__ void keep_racing(const int* in, int* out, int* count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (in[i] > 0) {
    int place = *count;
    *count = place + 1;
    out[place] = in[i];
  }
}

// The same, where an element takes two places of which it has asked for one.
extern "C" __global__ void keep_pairs(const int* in, int* out, int* count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (in[i] > 0) {
    int place = atomicAdd(count, 1);
    out[place] = in[i];
    out[place + 1] = -in[i];
  }
}

// The scatter of a counting sort: each key has its own counter.
extern "C" __global__ void scatter(const int* keys, int* next, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[atomicAdd(&next[keys[i]], 1)] = i;
}

// Threads share work: each takes the next piece until there are no more.
extern "C" __global__ void share(const int* in, int* out, int* next, int* sum, int pieces) {
  for (int i = atomicAdd(next, 1); i < pieces; i = atomicAdd(next, 1)) {
    out[i] = 2 * in[i];
    atomicAdd(sum, in[i]);
  }
}

// Whoever has a piece looks at the one before it, which another thread may be writing.
extern "C" __global__ void share_neighbours(int* out, int* next, int pieces) {
  for (int i = atomicAdd(next, 1); i < pieces; i = atomicAdd(next, 1)) {
    out[i] = i == 0 ? 1 : out[i - 1] + 1;
  }
}

// Blocks share work: one thread of a block takes the next tile for all.
extern "C" __global__ void tiles(const int* in, int* out, int* next, int count) {
  __shared__ int tile;
  for (;;) {
    if (threadIdx.x == 0) tile = atomicAdd(next, 1);
    __syncthreads();
    if (tile >= count) break;
    int i = tile * blockDim.x + threadIdx.x;
    out[i] = 2 * in[i];
    __syncthreads();
  }
}

// The same without the second barrier: the next tile is written while some threads read this one.
extern "C" __global__ void tiles_early(const int* in, int* out, int* next, int count) {
  __shared__ int tile;
  for (;;) {
    if (threadIdx.x == 0) tile = atomicAdd(next, 1);
    __syncthreads();
    if (tile >= count) break;
    int i = tile * blockDim.x + threadIdx.x;
    out[i] = 2 * in[i];
  }
}

// Each block collects what its threads keep, in a place of its own, and counts it behind a barrier.
extern "C" __global__ void collect(const int* in, int* out, int* count) {
  __shared__ int places;
  if (threadIdx.x == 0) places = 0;
  __syncthreads();
  int first = blockIdx.x * blockDim.x;
  int x = in[first + threadIdx.x];
  if (x > 0) out[first + atomicAdd(&places, 1)] = x;
  __syncthreads();
  if (threadIdx.x == 0) count[blockIdx.x] = places;
}

// Threads share work, and each adds up the pieces that it had.
extern "C" __global__ void share_sums(const float* in, float* sums, float* total, int* next, int pieces) {
  float sum = 0;
  for (int i = atomicAdd(next, 1); i < pieces; i = atomicAdd(next, 1)) sum += in[i];
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
  atomicAdd(total, sum);
}

// Blocks reserve places for all that their threads keep.
extern "C" __global__ void reserve(const int* in, int* out, int* count) {
  __shared__ int places[64];
  __shared__ int begin;
  int x = in[blockIdx.x * blockDim.x + threadIdx.x];
  places[threadIdx.x] = x > 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    int sum = 0;
    for (int t = 0; t < blockDim.x; t++) {
      int kept = places[t];
      places[t] = sum;
      sum += kept;
    }
    begin = atomicAdd(count, sum);
  }
  __syncthreads();
  if (x > 0) out[begin + places[threadIdx.x]] = x;
}

// The same, without a place for the last one that each block keeps.
extern "C" __global__ void reserve_too_few(const int* in, int* out, int* count) {
  __shared__ int places[64];
  __shared__ int begin;
  int x = in[blockIdx.x * blockDim.x + threadIdx.x];
  places[threadIdx.x] = x > 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    int sum = 0;
    for (int t = 0; t < blockDim.x; t++) {
      int kept = places[t];
      places[t] = sum;
      sum += kept;
    }
    begin = atomicAdd(count, sum - 1);
  }
  __syncthreads();
  if (x > 0) out[begin + places[threadIdx.x]] = x;
}
