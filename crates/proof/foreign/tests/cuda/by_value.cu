// Structs as arguments.

struct Range {
    const float *from;
    int length;
    float factor;
};

struct Nested {
    char kind;
    Range range;
    float3 offset;
};

extern "C" __global__ void scale(Range range, float *out)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < range.length)
        out[at] = range.factor * range.from[at];
}

extern "C" __global__ void nested(Nested all, float *out)
{
    int at = threadIdx.x;
    if (at < all.range.length)
        out[at] = all.kind * all.range.from[at] + all.offset.z;
}
