// A workgroup turns its words round in shared memory: the barrier is missing.
#version 450
layout(local_size_x = 2) in;
layout(set = 0, binding = 0) buffer Words { uint words[]; };
shared uint tile[2];

void main()
{
    uint at = gl_LocalInvocationID.x;
    tile[at] = words[at];
    words[at] = tile[1 - at];
}
