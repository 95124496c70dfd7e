// A workgroup turns its words round in a buffer, and its barrier orders shared memory alone.
#version 450
layout(local_size_x = 2) in;
layout(set = 0, binding = 0) coherent buffer Words { uint words[]; };
layout(set = 0, binding = 1) buffer Turned { uint turned[]; };

void main()
{
    uint at = gl_LocalInvocationID.x;
    words[at] = at;
    barrier();
    turned[at] = words[1 - at];
}
