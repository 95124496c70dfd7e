#version 450
#extension GL_EXT_shared_memory_block : require
layout(local_size_x = 4) in;
layout(std430, binding = 0) buffer Out { uint y[]; };
// All blocks of shared memory begin at the same address.
shared First { uint u[4]; } first;
shared Second { uint skipped; uint w[4]; } second;
void main() {
    uint l = gl_LocalInvocationIndex;
    first.u[l] = 1;
    barrier();
    if (l < 3)
        second.w[l] = 2 + l;
    barrier();
    y[l] = first.u[l];
}
