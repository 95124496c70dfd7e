// Wattle's kernels as one would write them in CUDA C++: `cargo xtask sass` compares machine code, `gpu-bench` times. Each
// computes what Wattle's kernel of the same name does, in the same steps, for any size, with 32-bit indices. For the machine
// code they are compiled without contraction (`-fmad=false`), which Wattle never does either; a fused multiply-add is written
// where Wattle's kernel has one.

typedef unsigned int u32;

extern "C" __global__ void __launch_bounds__(1024)
triad(float scalar, const float *__restrict__ b, const float *__restrict__ c, float *__restrict__ a, u32 n) {
    for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        a[i] = b[i] + scalar * c[i];
    }
}

// The sum of the block's values, by shuffles within each warp.
static __device__ float block_sum(float *warps, float value) {
    for (u32 distance = 16; distance > 0; distance /= 2) {
        value += __shfl_down_sync(0xffffffff, value, distance);
    }
    u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (lane == 0) {
        warps[warp] = value;
    }
    __syncthreads();
    if (warp == 0) {
        value = lane < blockDim.x / 32 ? warps[lane] : 0.0f;
        for (u32 distance = 16; distance > 0; distance /= 2) {
            value += __shfl_down_sync(0xffffffff, value, distance);
        }
    }
    return value;
}

extern "C" __global__ void __launch_bounds__(256)
sum(const float *__restrict__ values, float *partials, u32 *counter, float *total, u32 n) {
    __shared__ float warps[32];
    __shared__ bool is_last;
    u32 thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    const float4 *quads = reinterpret_cast<const float4 *>(values);
    u32 steps = n / 4 / (4 * threads);
    float sums[4] = {};
    for (u32 step = 0; step < steps; ++step) {
        u32 at = step * 4 * threads + thread;
        float4 a = quads[at], b = quads[at + threads], c = quads[at + 2 * threads], d = quads[at + 3 * threads];
        sums[0] += (a.x + b.x) + (c.x + d.x);
        sums[1] += (a.y + b.y) + (c.y + d.y);
        sums[2] += (a.z + b.z) + (c.z + d.z);
        sums[3] += (a.w + b.w) + (c.w + d.w);
    }
    float share = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    for (u32 i = steps * threads * 16 + thread; i < n; i += threads) {
        share += values[i];
    }
    float partial = block_sum(warps, share);
    if (threadIdx.x == 0) {
        partials[blockIdx.x] = partial;
        __threadfence();
        is_last = atomicInc(counter, gridDim.x) + 1 == gridDim.x;
        __threadfence();
    }
    __syncthreads();
    if (is_last) {
        share = 0.0f;
        for (u32 block = threadIdx.x; block < gridDim.x; block += blockDim.x) {
            share += partials[block];
        }
        __syncthreads();
        partial = block_sum(warps, share);
        if (threadIdx.x == 0) {
            *total = partial;
            *counter = 0;
        }
    }
}

// Tiles of 32 by 32 in blocks of 32 by 8: each thread has four elements in flight.
extern "C" __global__ void __launch_bounds__(256)
transpose(const float *__restrict__ from, float *__restrict__ to, u32 rows, u32 columns, u32 tiles_y, u32 tiles_x) {
    __shared__ float tile[32][33];
    u32 x = threadIdx.x % 32, y = threadIdx.x / 32;
    for (u32 tile_y = blockIdx.y; tile_y < tiles_y; tile_y += gridDim.y) {
        for (u32 tile_x = blockIdx.x; tile_x < tiles_x; tile_x += gridDim.x) {
            u32 top = tile_y * 32, left = tile_x * 32;
#pragma unroll
            for (u32 part = 0; part < 32; part += 8) {
                if (top + y + part < rows && left + x < columns) {
                    tile[y + part][x] = from[(size_t)(top + y + part) * columns + left + x];
                }
            }
            __syncthreads();
#pragma unroll
            for (u32 part = 0; part < 32; part += 8) {
                if (left + y + part < columns && top + x < rows) {
                    to[(size_t)(left + y + part) * rows + top + x] = tile[x][y + part];
                }
            }
            __syncthreads();
        }
    }
}

// Tiles of 8 by 16, each with a rim of its neighbours.
extern "C" __global__ void __launch_bounds__(128)
stencil(const float *__restrict__ from, float *__restrict__ to, u32 rows, u32 columns, u32 tiles_y, u32 tiles_x) {
    __shared__ float tile[10][18];
    u32 x = threadIdx.x % 16, y = threadIdx.x / 16;
    for (u32 tile_y = blockIdx.y; tile_y < tiles_y; tile_y += gridDim.y) {
        for (u32 tile_x = blockIdx.x; tile_x < tiles_x; tile_x += gridDim.x) {
            u32 top = tile_y * 8, left = tile_x * 16;
            for (u32 v = y; v < 10; v += 8) {
                for (u32 u = x; u < 18; u += 16) {
                    u32 row = min(max(top + v, 1u), rows) - 1, column = min(max(left + u, 1u), columns) - 1;
                    tile[v][u] = from[(size_t)row * columns + column];
                }
            }
            __syncthreads();
            if (top + y < rows && left + x < columns) {
                float here = tile[y + 1][x + 1];
                float around = tile[y][x + 1] + tile[y + 2][x + 1] + tile[y + 1][x] + tile[y + 1][x + 2];
                to[(size_t)(top + y) * columns + left + x] = here + 0.125f * (around - 4.0f * here);
            }
            __syncthreads();
        }
    }
}

extern "C" __global__ void __launch_bounds__(256)
histogram(const unsigned char *__restrict__ values, u32 *counts, u32 n) {
    __shared__ u32 bins[256];
    for (u32 bin = threadIdx.x; bin < 256; bin += blockDim.x) {
        bins[bin] = 0;
    }
    __syncthreads();
    for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd_block(&bins[values[i]], 1);
    }
    __syncthreads();
    for (u32 bin = threadIdx.x; bin < 256; bin += blockDim.x) {
        if (bins[bin] > 0) {
            atomicAdd(&counts[bin], bins[bin]);
        }
    }
}

static const u32 ITEMS = 23, TILE = 256 * ITEMS;

// The sum of the block's values up to this thread's, and that of all.
static __device__ uint2 running(u32 *warps, u32 value) {
    u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32, sum = value;
    for (u32 distance = 1; distance < 32; distance *= 2) {
        u32 other = __shfl_up_sync(0xffffffff, sum, distance);
        sum += lane >= distance ? other : 0;
    }
    if (lane == 31) {
        warps[warp] = sum;
    }
    __syncthreads();
    u32 before = 0, all = 0;
    for (u32 w = 0; w < blockDim.x / 32; ++w) {
        before += w < warp ? warps[w] : 0;
        all += warps[w];
    }
    __syncthreads();
    return make_uint2(before + sum, all);
}

// A tile for each block: status, aggregate and prefix of the tiles before it are looked back at by the first warp.
extern "C" __global__ void __launch_bounds__(256)
scan(const u32 *__restrict__ input, u32 *out, volatile unsigned long long *status, u32 n) {
    __shared__ __align__(16) u32 tile[TILE];
    __shared__ u32 warps[8];
    __shared__ u32 prefix;
    u32 thread = threadIdx.x, threads = blockDim.x, block = blockIdx.x, begin = block * TILE;
    if (n - begin >= TILE) {
        for (u32 quad = thread; quad < TILE / 4; quad += threads) {
            reinterpret_cast<uint4 *>(tile)[quad] = reinterpret_cast<const uint4 *>(input + begin)[quad];
        }
    } else {
        for (u32 t = thread; t < TILE; t += threads) {
            tile[t] = begin + t < n ? input[begin + t] : 0;
        }
    }
    __syncthreads();
    u32 sum = 0, first = thread * (TILE / threads), end = first + TILE / threads;
    for (u32 t = first; t < end; ++t) {
        sum += tile[t];
        tile[t] = sum;
    }
    uint2 sums = running(warps, sum);
    if (thread < 32) {
        if (thread == 0) {
            status[block] = 1ull << 32 | sums.y;
        }
        u32 before = 0;
        for (u32 last = block; last > 0;) {
            unsigned long long word = 2ull << 32;
            if (thread < last) {
                do {
                    word = status[last - 1 - thread];
                } while (word >> 32 == 0);
            }
            u32 complete = __ballot_sync(0xffffffff, word >> 32 == 2);
            u32 part = thread <= __ffs(complete) - 1u ? (u32)word : 0;
            before += __reduce_add_sync(0xffffffff, part);
            last = complete || last <= 32 ? 0 : last - 32;
        }
        if (thread == 0) {
            status[block] = 2ull << 32 | (before + sums.y);
            prefix = before;
        }
    }
    __syncthreads();
    u32 before = prefix + sums.x - sum;
    for (u32 t = first; t < end; ++t) {
        tile[t] += before;
    }
    __syncthreads();
    if (n - begin >= TILE) {
        for (u32 quad = thread; quad < TILE / 4; quad += threads) {
            reinterpret_cast<uint4 *>(out + begin)[quad] = reinterpret_cast<uint4 *>(tile)[quad];
        }
    } else {
        for (u32 t = thread; t < TILE; t += threads) {
            if (begin + t < n) {
                out[begin + t] = tile[t];
            }
        }
    }
}

// Blocks of 64 by 64 with 256 threads; each has a square of 4 by 4 in registers.
extern "C" __global__ void __launch_bounds__(256)
product(const float *__restrict__ left, const float *__restrict__ right, float *out, u32 rows, u32 depth, u32 columns) {
    __shared__ __align__(16) float left_tile[16][64];
    __shared__ __align__(16) float right_tile[16][64];
    u32 tiles = (columns + 63) / 64, top = blockIdx.x / tiles * 64, across = blockIdx.x % tiles * 64;
    u32 thread = threadIdx.x, y = thread / 16 * 4, x = thread % 16 * 4;
    float sums[4][4] = {};
    for (u32 first = 0; first < depth; first += 16) {
#pragma unroll
        for (u32 number = 0; number < 4; ++number) {
            u32 at = number * 256 + thread, row = at / 16, k = at % 16;
            bool inside = top + row < rows && first + k < depth;
            left_tile[k][row] = inside ? left[(size_t)(top + row) * depth + first + k] : 0.0f;
        }
#pragma unroll
        for (u32 number = 0; number < 4; ++number) {
            u32 at = number * 256 + thread, k = at / 64, column = at % 64;
            bool inside = first + k < depth && across + column < columns;
            right_tile[k][column] = inside ? right[(size_t)(first + k) * columns + across + column] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (u32 k = 0; k < 16; ++k) {
            float4 down = *reinterpret_cast<float4 *>(&left_tile[k][y]);
            float4 along = *reinterpret_cast<float4 *>(&right_tile[k][x]);
            float a[4] = {down.x, down.y, down.z, down.w}, b[4] = {along.x, along.y, along.z, along.w};
#pragma unroll
            for (u32 row = 0; row < 4; ++row) {
#pragma unroll
                for (u32 column = 0; column < 4; ++column) {
                    sums[row][column] = __fmaf_rn(a[row], b[column], sums[row][column]);
                }
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (u32 row = 0; row < 4; ++row) {
#pragma unroll
        for (u32 column = 0; column < 4; ++column) {
            if (top + y + row < rows && across + x + column < columns) {
                out[(size_t)(top + y + row) * columns + across + x + column] = sums[row][column];
            }
        }
    }
}
