// A workgroup turns its words round in a buffer that is not coherent.
#version 450
layout(local_size_x = 2) in;
layout(set = 0, binding = 0) buffer Words { uint words[]; };
layout(set = 0, binding = 1) buffer Turned { uint turned[]; };

void main()
{
    uint at = gl_LocalInvocationID.x;
    words[at] = at;
    memoryBarrierBuffer();
    barrier();
    memoryBarrierBuffer();
    turned[at] = words[1 - at];
}
