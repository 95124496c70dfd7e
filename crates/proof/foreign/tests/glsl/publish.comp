// A workgroup publishes a word to another one: the fences are missing.
#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) coherent buffer Data { uint data; };
layout(set = 0, binding = 1) coherent buffer Flag { uint flag; };
layout(set = 0, binding = 2) buffer Result { uint result; };

void main()
{
    if (gl_WorkGroupID.x == 0) {
        data = 42;
        atomicExchange(flag, 1);
    } else if (atomicOr(flag, 0) == 1) {
        result = data;
    }
}
