#version 450
// A histogram in shared memory, which not all threads have seen cleared.
layout(local_size_x = 4) in;
layout(binding = 0) buffer Data { uint data[]; };
layout(binding = 1) buffer Counts { uint counts[2]; };
shared uint part[2];

void main()
{
    uint lane = gl_LocalInvocationIndex;
    if (lane < 2)
        part[lane] = 0;
    atomicAdd(part[data[lane] % 2], 1);
    barrier();
    if (lane < 2)
        counts[lane] = part[lane];
}
