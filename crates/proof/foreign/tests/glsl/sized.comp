#version 450
// The host chooses the size of a workgroup, and a number.

layout(local_size_x_id = 0, local_size_y_id = 1) in;
layout(constant_id = 7) const uint factor = 3;
layout(std430, binding = 0) buffer Data { uint data[]; };
shared uint part[gl_WorkGroupSize.x * gl_WorkGroupSize.y];

void main()
{
    uint lane = gl_LocalInvocationIndex, last = gl_WorkGroupSize.x * gl_WorkGroupSize.y - 1;
    part[lane] = data[lane] * factor;
    barrier();
    data[lane] = part[last - lane];
}
