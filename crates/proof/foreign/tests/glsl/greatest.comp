#version 450
#extension GL_EXT_shader_atomic_float2 : require
// The least and the greatest of floats, by atomic operations.

layout(local_size_x = 4) in;
layout(std430, binding = 0) buffer Data { float data[]; };
layout(std430, binding = 1) buffer Found { float least, greatest; };

void main()
{
    atomicMin(least, data[gl_GlobalInvocationID.x]);
    atomicMax(greatest, data[gl_GlobalInvocationID.x]);
}
