// Two halves of a kernel, between which the whole grid waits for itself: cooperative groups.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void right(const int *from, int *part, int *to)
{
    unsigned at = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    part[at] = 2 * from[at];
    cg::this_grid().sync();
    to[at] = part[all - 1 - at];
}

// The mistake: the block waits for itself alone.
extern "C" __global__ void of_the_block(const int *from, int *part, int *to)
{
    unsigned at = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    part[at] = 2 * from[at];
    cg::this_thread_block().sync();
    to[at] = part[all - 1 - at];
}
